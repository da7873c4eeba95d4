/* Writes the changes, for people and as JSON. Both forms are visitors of one store_diff. Times are
 * printed rounded, unless two different ones would look the same. */
#include "core/number.h"
#include "formats/json.h"
#include "formats/text.h"
#include "results/store_diff.h"
#include "results/store_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct writing {
    FILE *out;
    struct style style;
    json_t *list;
};

/* Old over new: above 1 is faster; 0 where one has no tiling. */
static double factor_of(const struct store_row *old, const struct store_row *new)
{
    return old && new && old->time_ns > 0 && new->time_ns > 0 ? old->time_ns / new->time_ns : 0;
}

static void put_time(double time_ns, bool exactly, FILE *out)
{
    char time[32], rounded[TEXT_SIZE];
    if (time_ns == 0)
        fputs("no legal tiling", out);
    else if (exactly)
        fprintf(out, "%s ns", number_text(time_ns, time));
    else
        fputs(text_time(time_ns, rounded), out);
}

/* "1.25 x faster", and where that says nothing "0.0012 % faster". */
static void put_factor(double factor, FILE *out)
{
    double more = factor > 1 ? factor : 1 / factor;
    const char *word = factor > 1 ? "faster" : "slower";
    if (more < 1.0001)
        fprintf(out, ", %.3g %% %s", 100 * (more - 1), word);
    else
        fprintf(out, ", %.6g x %s", more, word);
}

/* Rounded, unless both would look the same. */
static void put_times(const struct store_row *old, const struct store_row *new, FILE *out)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];
    bool alike = old->time_ns > 0 && new->time_ns > 0 &&
                 strcmp(text_time(old->time_ns, before), text_time(new->time_ns, after)) == 0;
    double factor = factor_of(old, new);
    fputs("         time      ", out);
    put_time(old->time_ns, alike && old->time_ns != new->time_ns, out);
    if (old->time_ns != new->time_ns) {
        fputs(" -> ", out);
        put_time(new->time_ns, alike, out);
    }
    if (factor > 0 && old->time_ns != new->time_ns)
        put_factor(factor, out);
    fputc('\n', out);
}

static void put_change(const char *title, const char *old, const char *new, FILE *out)
{
    if (strcmp(old, new) == 0)
        return;
    fprintf(out, "         %-9s ", title);
    store_put_text(*old ? old : "none", out);
    fputs(" -> ", out);
    store_put_text(*new ? new : "none", out);
    fputc('\n', out);
}

static const char *proof_of(const struct store_row *row)
{
    return row->optimal ? "optimal" : "cut off";
}

static void put_only(const struct store_row *row, FILE *out)
{
    fputs("         time      ", out);
    put_time(row->time_ns, false, out);
    fputc('\n', out);
    if (!*row->tiling)
        return;
    fputs("         tiling    ", out);
    store_put_text(row->tiling, out);
    fputc('\n', out);
}

static void put_both(const struct store_row *old, const struct store_row *new, FILE *out)
{
    char version[2][32];
    put_times(old, new, out);
    put_change("tiling", old->tiling, new->tiling, out);
    put_change("hardware", old->key.hardware, new->key.hardware, out);
    put_change("proof", proof_of(old), proof_of(new), out);
    snprintf(version[0], sizeof version[0], "%d", old->key.model_version);
    snprintf(version[1], sizeof version[1], "%d", new->key.model_version);
    put_change("model", version[0], version[1], out);
    if (old->time_ns == new->time_ns && strcmp(old->tiling, new->tiling) == 0 &&
        strcmp(old->answer, new->answer) != 0)
        fputs("         answer    differs in its details\n", out);
}

static enum status write_change(void *context, enum store_change change,
                                const struct store_row *old, const struct store_row *new,
                                struct error *error)
{
    struct writing *w = context;
    assert(old || new);
    const char *const colours[STORE_CHANGES] = {"",           w->style.good, w->style.warn,
                                                w->style.dim, w->style.good, w->style.warn};
    fprintf(w->out, "%s%-8s%s ", colours[change], store_change_name(change), w->style.end);
    store_put_key(new ? new : old, w->out);
    fputc('\n', w->out);
    if (old && new)
        put_both(old, new, w->out);
    else
        put_only(new ? new : old, w->out);
    return ferror(w->out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

/* As store_diff, with a visitor that *diff does not keep. */
static enum status visit_changes(struct store *old, struct store *new, struct store_diff *diff,
                                 store_diff_visit *visit, void *context, struct error *error)
{
    struct store_diff walk = {.filter = diff->filter, .visit = visit, .context = context};
    TRY(store_diff(old, new, &walk, error));
    memcpy(diff->count, walk.count, sizeof diff->count);
    return STATUS_OK;
}

/* The order of the summary. */
static const enum store_change summary[] = {STORE_BETTER, STORE_WORSE, STORE_OTHER,
                                            STORE_SAME,   STORE_ADDED, STORE_REMOVED};
enum { SUMMARY = sizeof summary / sizeof *summary };

enum status store_diff_table(struct store *old, struct store *new, struct store_diff *diff,
                             const struct style *style, FILE *out, struct error *error)
{
    struct writing writing = {.out = out, .style = *style};
    char count[TEXT_SIZE];
    enum status status = visit_changes(old, new, diff, write_change, &writing, error);
    for (int i = 0; i < SUMMARY && status == STATUS_OK; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", text_count(diff->count[summary[i]], count),
                store_change_name(summary[i]));
    fputc('\n', out);
    return status;
}

static void add_side(json_t *object, const char *name, const struct store_row *row)
{
    if (!row)
        json_object_set_new(object, name, json_null());
    else
        json_object_set_new(
            object, name,
            json_pack("{s:o, s:o, s:b, s:o, s:i}", "time_ns", json_number_above_0(row->time_ns),
                      "tiling", json_text(row->tiling), "optimal", row->optimal, "fingerprint",
                      json_text(row->key.hardware), "model_version", row->key.model_version));
}

static enum status add_change(void *context, enum store_change change, const struct store_row *old,
                              const struct store_row *new, struct error *error)
{
    static const char *const of_sides[] = {"time_ns",     "tiling",        "optimal", "limit_s",
                                           "fingerprint", "model_version", NULL};
    struct writing *w = context;
    json_t *object = store_row_json(new ? new : old);
    double factor = factor_of(old, new);
    for (int i = 0; of_sides[i]; i++)
        json_object_del(object, of_sides[i]);
    json_object_set_new(object, "change", json_string(store_change_name(change)));
    add_side(object, "old", old);
    add_side(object, "new", new);
    json_object_set_new(object, "factor", json_number_above_0(factor));
    return json_array_append_new(w->list, object) ? error_memory(error) : STATUS_OK;
}

enum status store_diff_json(struct store *old, struct store *new, struct store_diff *diff,
                            FILE *out, struct error *error)
{
    struct writing writing = {.list = json_array()};
    json_t *counts = json_object();
    enum status status = visit_changes(old, new, diff, add_change, &writing, error);
    for (int i = 0; i < SUMMARY; i++)
        json_object_set_new(counts, store_change_name(summary[i]),
                            json_integer(diff->count[summary[i]]));
    json_t *document =
        json_pack("{s:i, s:o, s:o}", "schema", 1, "changes", writing.list, "summary", counts);
    if (status == STATUS_OK)
        return json_write(document, out, error);
    json_decref(document);
    return status;
}
