/* Removes rows that answer nothing any more. First one walk collects the keys of what is to go and
 * counts it by kind and version, so that a dry run is the same without the second part: removing
 * in one transaction, then giving the room back to the system. */
#include "results/store_gc.h"
#include "core/version.h"
#include "formats/json.h"
#include "formats/text.h"

#include <string.h>

static bool is_waste(const struct store_gc *gc, const struct store_row *row)
{
    bool outdated = row->key.kind == STORE_SIMULATED && row->key.model_version != MODEL_VERSION;
    return outdated ||
           (!store_filter_is_empty(gc->filter) && store_filter_matches(gc->filter, row));
}

/* In order of kind and version; the last place takes all that finds none. */
static void count_waste(struct store_gc *gc, const struct store_key *key)
{
    int at = 0;
    while (at < gc->waste_count &&
           (gc->wastes[at].kind < key->kind || (gc->wastes[at].kind == key->kind &&
                                                gc->wastes[at].model_version < key->model_version)))
        at++;
    struct store_waste *waste = &gc->wastes[at];
    bool known = at < gc->waste_count && waste->kind == key->kind &&
                 waste->model_version == key->model_version;
    if (!known && gc->waste_count == STORE_MAX_WASTES) {
        gc->wastes[STORE_MAX_WASTES - 1].count++;
        return;
    }
    if (!known) {
        memmove(waste + 1, waste, (size_t)(gc->waste_count - at) * sizeof *waste);
        *waste = (struct store_waste){key->kind, key->model_version, 0};
        gc->waste_count++;
    }
    waste->count++;
}

static enum status take(void *context, const struct store_row *row, struct error *error)
{
    struct store_gc *gc = context;
    if (!is_waste(gc, row)) {
        gc->kept++;
        return STATUS_OK;
    }
    gc->removed++;
    count_waste(gc, &row->key);
    return store_rows_add(&gc->rows, row, STORE_NO_ANSWERS, error);
}

enum status store_gc_find(struct store *store, struct store_gc *gc, struct error *error)
{
    *gc = (struct store_gc){.filter = gc->filter};
    enum status status = store_each(store, take, gc, error);
    if (status != STATUS_OK)
        store_gc_clear(gc);
    return status;
}

enum status store_gc_remove(struct store *store, const struct store_gc *gc, struct error *error)
{
    for (size_t i = 0; i < gc->rows.count; i++)
        TRY(store_remove(store, &gc->rows.rows[i].key, error));
    TRY(store_commit(store, error));
    return store_compact(store, error);
}

void store_gc_clear(struct store_gc *gc)
{
    store_rows_clear(&gc->rows);
}

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

enum status store_gc_table(const struct store_gc *gc, const struct store_gc_counts *counts,
                           FILE *out, struct error *error)
{
    const char *verb = counts->dry_run ? "would remove" : "removed";
    char count[TEXT_SIZE], before[TEXT_SIZE], after[TEXT_SIZE];
    for (int i = 0; i < gc->waste_count; i++)
        fprintf(out, "%s %s %s result%s of model version %d\n", verb,
                text_count(gc->wastes[i].count, count), store_kind_name(gc->wastes[i].kind),
                gc->wastes[i].count == 1 ? "" : "s", gc->wastes[i].model_version);
    fprintf(out, "%s %s of %s results", verb, text_count(gc->removed, count),
            text_count(gc->removed + gc->kept, before));
    if (counts->dry_run)
        fprintf(out, "; the file has %s bytes\n", text_count(counts->bytes_before, before));
    else
        fprintf(out, "; the file had %s bytes and has %s\n",
                text_count(counts->bytes_before, before), text_count(counts->bytes_after, after));
    return written(out, error);
}

enum status store_gc_json(const struct store_gc *gc, const struct store_gc_counts *counts,
                          FILE *out, struct error *error)
{
    json_t *list = json_array();
    for (int i = 0; i < gc->waste_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:I}", "kind",
                                              store_kind_name(gc->wastes[i].kind), "model_version",
                                              gc->wastes[i].model_version, "results",
                                              (json_int_t)gc->wastes[i].count));
    json_t *document =
        json_pack("{s:i, s:b, s:I, s:I, s:o, s:I}", "schema", 1, "dry_run", counts->dry_run,
                  "removed", (json_int_t)gc->removed, "kept", (json_int_t)gc->kept, "by_version",
                  list, "bytes_before", (json_int_t)counts->bytes_before);
    if (!counts->dry_run)
        json_object_set_new(document, "bytes_after", json_integer(counts->bytes_after));
    return json_write(document, out, error);
}
