/* Reads a bank and makes the answer of `autotune evaluate` of its rows and their predictions. Texts
 * of a row belong to the reader and are dropped; whoever keeps going gets bad records noted with
 * their reasons. Classes of rows are a table of conditions (a kind, a name, a function), and each
 * class gets the same figures as all rows together. Rows that could not be used are listed with
 * their reasons, and the worst of the others by factor.
 *
 * A correction's figures are those of simulated times, with corrected ones in their place. Figures
 * of rows that it was learned from flatter it, so their number stands beside, and what was found by
 * cross-validation. */
#include "jobs/evaluate/evaluation.h"

#include "core/array.h"
#include "formats/bank.h"
#include "formats/json.h"
#include "jobs/calibrate/learn.h"
#include "kernels/details.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a bank in memory */

static enum status keep_row(void *context, const struct bank_row *row, struct error *error)
{
    struct bank *bank = context;
    if (!array_room(&bank->rows, (int64_t)bank->count, sizeof *bank->rows))
        return error_memory(error);
    struct bank_row *added = &bank->rows[bank->count++];
    *added = *row;
    added->text = added->key = NULL;
    added->text_length = 0;
    return STATUS_OK;
}

static enum status keep_bad(void *context, int record, int line, const struct error *why)
{
    struct bank *bank = context;
    bool fits = array_room(&bank->bad, (int64_t)bank->bad_count, sizeof *bank->bad);
    char *text = fits ? strdup(why->text) : NULL;
    if (!text)
        return STATUS_NO_MEMORY;
    bank->bad[bank->bad_count++] = (struct bad_record){record, line, text};
    return STATUS_OK;
}

enum status bank_load(const char *file, int format, bool keep_going, struct bank *bank,
                      struct error *error)
{
    *bank = (struct bank){.file = file};
    struct bank_reader reader = {
        .row = keep_row, .bad = keep_going ? keep_bad : NULL, .context = bank};
    enum status status = bank_read(file, format, &reader, &bank->format, error);
    if (status == STATUS_NO_MEMORY)
        error_memory(error);
    if (status != STATUS_OK)
        bank_clear(bank);
    return status;
}

void bank_clear(struct bank *bank)
{
    for (size_t i = 0; i < bank->bad_count; i++)
        free(bank->bad[i].text);
    free(bank->bad);
    free(bank->rows);
    *bank = (struct bank){.file = bank->file};
}

int bank_row_name(const struct bank_row *row)
{
    bool lines = row->format == BANK_REPOSITORY || row->format == BANK_RUNTIME_KB;
    return lines ? row->line : row->record;
}

int bank_cores(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *mark = strstr(slash ? slash + 1 : file, "_AiCore");
    const char *start = mark;
    while (start && start > file && start[-1] >= '0' && start[-1] <= '9')
        start--;
    return start && start < mark && start > file && start[-1] == '_' && mark - start <= 4
               ? (int)strtol(start, NULL, 10)
               : 0;
}

struct evaluation {
    const struct bank *bank;
    const struct prediction *predictions;
    const struct hardware *hw;
    struct error *error;
};

/* ------------------------------------------------------------------ classes of rows */

#define BETWEEN(name, low_ns, high_ns)                                                             \
    static bool name(const struct bank_row *row, const struct prediction *p)                       \
    {                                                                                              \
        (void)p;                                                                                   \
        return row->measured_ns > 0 && row->measured_ns >= (low_ns) &&                             \
               row->measured_ns < (high_ns);                                                       \
    }
#define WHERE(name, condition)                                                                     \
    static bool name(const struct bank_row *row, const struct prediction *p)                       \
    {                                                                                              \
        (void)p;                                                                                   \
        return condition;                                                                          \
    }

BETWEEN(below_5us, 0, 5e3)
BETWEEN(from_5us, 5e3, 10e3)
BETWEEN(from_10us, 10e3, 100e3)
BETWEEN(from_100us, 100e3, INFINITY)
WHERE(transposes_none, !row->transpose_a && !row->transpose_b)
WHERE(transposes_a, row->transpose_a && !row->transpose_b)
WHERE(transposes_b, !row->transpose_a && row->transpose_b)
WHERE(transposes_both, row->transpose_a && row->transpose_b)
WHERE(batch_none, row->batch == 1)
WHERE(batch_separate, row->batch > 1 && row->batch_type != 2 && row->batch_type != 3)
WHERE(batch_shares_b, row->batch > 1 && row->batch_type == 2)
WHERE(batch_several, row->batch > 1 && row->batch_type == 3)
WHERE(batch_several_of_one, row->batch == 1 && row->batch_type == 3)
WHERE(nd_to_nd, !row->nz_a && !row->nz_b && !row->nz_c)
WHERE(nd_to_nz, !row->nz_a && !row->nz_b && row->nz_c)
WHERE(nz_to_nd, row->nz_a && row->nz_b && !row->nz_c)
WHERE(nz_to_nz, row->nz_a && row->nz_b && row->nz_c)
WHERE(mixed_layouts, row->nz_a != row->nz_b)
WHERE(with_bias, row->bias)
WHERE(to_f32, row->out_type == DTYPE_F32)
WHERE(clean_below_10us, row_is_clean(row) && row->measured_ns > 0 && !row_is_ge_10us(row, p))
WHERE(others_ge_10us, !row_is_clean(row) && row_is_ge_10us(row, p))
WHERE(of_128_bytes, row_pitch_multiple_bytes(row) == ROW_CLEAN_BYTES / 2)
WHERE(ambiguous, !row_is_clean(row) && row_pitch_multiple_bytes(row) < ROW_CLEAN_BYTES / 2)

const struct row_class row_classes[] = {
    {"size", "below 5 us", below_5us},
    {"size", "5 to 10 us", from_5us},
    {"size", "10 to 100 us", from_10us},
    {"size", "from 100 us", from_100us},
    {"transpose", "none", transposes_none},
    {"transpose", "a", transposes_a},
    {"transpose", "b", transposes_b},
    {"transpose", "both", transposes_both},
    {"batch", "one", batch_none},
    {"batch", "separate", batch_separate},
    {"batch", "shares b (2)", batch_shares_b},
    {"batch", "several at once (3)", batch_several},
    {"batch", "one, as several (3)", batch_several_of_one},
    {"layout", "nd to nd", nd_to_nd},
    {"layout", "nd to nz", nd_to_nz},
    {"layout", "nz to nd", nz_to_nd},
    {"layout", "nz to nz", nz_to_nz},
    {"layout", "a and b differ", mixed_layouts},
    {"result", "with bias", with_bias},
    {"result", "f32", to_f32},
    {"pitch", "clean, from 10 us", row_is_clean_ge_10us},
    {"pitch", "clean, below 10 us", clean_below_10us},
    {"pitch", "others, from 10 us", others_ge_10us},
    {"pitch", "of 128 bytes", of_128_bytes},
    {"pitch", "of 64 bytes or fewer", ambiguous},
    {NULL, NULL, NULL},
};

/* The mean and the median of |ln(predicted / measured)| below which no model comes, for kernels
 * that should take the same time differ by so much: told by the rows of the 910B2's repository. */
static const struct noise {
    row_filter *of;
    double mean_log, median_log;
} noises[] = {
    {row_is_clean_ge_10us, 0.045, 0.02},
    {clean_below_10us, 0.065, 0.035},
    {others_ge_10us, 0.135, 0.07},
};

static const char *class_of(const char *by, const struct bank_row *row, const struct prediction *p)
{
    for (size_t i = 0; row_classes[i].by; i++)
        if (strcmp(row_classes[i].by, by) == 0 && row_classes[i].belongs(row, p))
            return row_classes[i].name;
    return "";
}

/* ------------------------------------------------------------------ accuracies */

static void put_accuracy(json_t *object, const struct accuracy *a)
{
    json_object_set_new(object, "mape", json_number(a->mape));
    json_object_set_new(object, "median_ape", json_number(a->median_ape));
    json_object_set_new(object, "bias", json_number(a->bias));
    json_object_set_new(object, "mean_log_error", json_number(a->mean_log));
    json_object_set_new(object, "spearman", json_number(a->spearman));
}

static void put_noise(json_t *object, row_filter *belongs)
{
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
        if (noises[i].of == belongs) {
            json_object_set_new(object, "noise_mean_log_error", json_real(noises[i].mean_log));
            json_object_set_new(object, "noise_median_log_error", json_real(noises[i].median_log));
        }
}

static enum status add_accuracy(const struct evaluation *e, row_filter *belongs,
                                const char *count_key, json_t *object, int64_t *measured)
{
    struct accuracy accuracy;
    TRY(accuracy_of(e->bank->rows, e->predictions, e->bank->count, belongs, &accuracy, e->error));
    json_object_set_new(object, count_key, json_integer(accuracy.used));
    put_accuracy(object, &accuracy);
    put_noise(object, belongs);
    if (measured)
        *measured = accuracy.used;
    return STATUS_OK;
}

static enum status add_subset(const struct evaluation *e, const char *key, row_filter *belongs,
                              json_t *answer)
{
    json_t *subset = json_object();
    json_object_set_new(answer, key, subset);
    return add_accuracy(e, belongs, "used", subset, NULL);
}

/* Classes without rows are left out. */
static enum status add_classes(const struct evaluation *e, json_t *answer)
{
    enum status status = STATUS_OK;
    json_t *list = json_array();
    json_object_set_new(answer, "classes", list);
    for (size_t i = 0; row_classes[i].by && status == STATUS_OK; i++) {
        int64_t measured = 0;
        json_t *row =
            json_pack("{s:s, s:s}", "by", row_classes[i].by, "class", row_classes[i].name);
        status = add_accuracy(e, row_classes[i].belongs, "used", row, &measured);
        if (measured > 0)
            json_array_append(list, row);
        json_decref(row);
    }
    return status;
}

static enum status add_pairs(const struct evaluation *e, json_t *answer)
{
    struct pairs pairs;
    TRY(pairs_of(e->bank->rows, e->predictions, e->bank->count, &pairs, e->error));
    json_object_set_new(answer, "same_problem",
                        json_pack("{s:I, s:I, s:I}", "groups", (json_int_t)pairs.groups, "pairs",
                                  (json_int_t)pairs.pairs, "ordered_right",
                                  (json_int_t)pairs.right));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ rows */

json_t *bank_row_shape(const struct bank_row *row)
{
    return row->batch == 1
               ? json_sprintf("%lldx%lldx%lld", (long long)row->m, (long long)row->k,
                              (long long)row->n)
               : json_sprintf("%lldx%lldx%lld batch %lld", (long long)row->m, (long long)row->k,
                              (long long)row->n, (long long)row->batch);
}

/* null: nothing lies row by row. */
static json_t *pitch_json(const struct bank_row *row)
{
    int multiple = row_pitch_multiple_bytes(row);
    return multiple ? json_integer(multiple) : json_null();
}

static json_t *row_json(const struct evaluation *e, size_t i)
{
    const struct bank_row *row = &e->bank->rows[i];
    const struct prediction *p = &e->predictions[i];
    struct limiter limiter = limiter_of(e->hw, p->busy_ns, p->bus_bytes);
    bool measured = row->measured_ns > 0;
    return json_pack(
        "{s:i, s:o, s:s, s:s, s:s, s:o, s:i, s:o, s:f, s:o, s:s, s:f}", "row", bank_row_name(row),
        "shape", bank_row_shape(row), "transpose", class_of("transpose", row, p), "batch",
        class_of("batch", row, p), "layout", class_of("layout", row, p), "pitch_multiple_bytes",
        pitch_json(row), "cores", p->cores_used, "measured_ns",
        json_number_above_0(row->measured_ns), "predicted_ns", p->predicted_ns, "relative_error",
        json_number(measured ? p->predicted_ns / row->measured_ns - 1 : NAN), "bottleneck",
        limiter.name, "bottleneck_share", limiter.busy_ns / p->predicted_ns);
}

static json_t *pipes_json(const struct hardware *hw, const struct prediction *p)
{
    json_t *pipes = json_array();
    for (int i = 0; i < hw->pipe_count; i++)
        json_array_append_new(pipes,
                              json_pack("{s:s, s:f, s:f}", "name", hw->pipes[i].name, "busy_ns",
                                        p->busy_ns[i], "share", p->busy_ns[i] / p->predicted_ns));
    return pipes;
}

static void add_corrected(const struct corrected *c, json_t *row)
{
    if (c->corrected_ns > 0)
        json_object_update_new(row, json_pack("{s:f, s:[f, f], s:f, s:s}", "corrected_ns",
                                              c->corrected_ns, "interval_ns", c->low_ns, c->high_ns,
                                              "outside", c->outside, "outside_by", c->outside_by));
}

static json_t *rows_json(const struct evaluation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < e->bank->count; i++)
        if (e->predictions[i].predicted_ns > 0) {
            json_t *row = row_json(e, i);
            json_object_set_new(row, "pipes", pipes_json(e->hw, &e->predictions[i]));
            add_corrected(&e->predictions[i].corrected, row);
            json_array_append_new(list, row);
        }
    return list;
}

struct miss {
    double factor; /* larger over smaller time */
    size_t row;
};

static int compare_misses(const void *a, const void *b)
{
    const struct miss *x = a, *y = b;
    if (x->factor != y->factor)
        return x->factor > y->factor ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* By factor, not by percent: what is predicted too low cannot hide. */
static enum status add_worst(const struct evaluation *e, int worst, json_t *answer)
{
    struct miss *misses = malloc((e->bank->count + 1) * sizeof *misses);
    json_t *list = json_array();
    size_t count = 0;
    json_object_set_new(answer, "worst", list);
    if (!misses)
        return error_memory(e->error);
    for (size_t i = 0; i < e->bank->count; i++) {
        double measured = e->bank->rows[i].measured_ns, predicted = e->predictions[i].predicted_ns;
        if (measured > 0 && predicted > 0)
            misses[count++] = (struct miss){fmax(measured / predicted, predicted / measured), i};
    }
    qsort(misses, count, sizeof *misses, compare_misses);
    for (size_t i = 0; i < count && i < (size_t)worst; i++)
        json_array_append_new(list, row_json(e, misses[i].row));
    free(misses);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what is left out */

static void add_skipped(const struct evaluation *e, json_t *answer)
{
    const struct bank *bank = e->bank;
    bool lines = bank->format == BANK_REPOSITORY || bank->format == BANK_RUNTIME_KB;
    json_t *list = json_array();
    for (size_t i = 0; i < bank->count; i++)
        if (e->predictions[i].reason[0])
            json_array_append_new(list,
                                  json_pack("{s:i, s:o}", "row", bank_row_name(&bank->rows[i]),
                                            "reason", json_text(e->predictions[i].reason)));
    for (size_t i = 0; i < bank->bad_count; i++)
        json_array_append_new(list, json_pack("{s:i, s:o}", "row",
                                              lines ? bank->bad[i].line : bank->bad[i].record,
                                              "reason", json_text(bank->bad[i].text)));
    size_t kernels = bank->count + bank->bad_count, skipped = json_array_size(list);
    json_object_set_new(answer, "kernels", json_integer((json_int_t)kernels));
    json_object_set_new(answer, "used", json_integer((json_int_t)(kernels - skipped)));
    json_object_set_new(answer, "skipped", list);
}

/* ------------------------------------------------------------------ all of it */

static json_t *heading(const struct evaluation *e)
{
    return json_pack("{s:i, s:o, s:s, s:o, s:o, s:i, s:o, s:s}", "schema", 1, "file",
                     json_text(e->bank->file), "format", bank_format_names[e->bank->format],
                     "hardware", json_text(e->hw->name), "hardware_file", json_text(e->hw->file),
                     "cores", e->hw->cores, "hardware_changes", overrides_json(e->hw), "cache",
                     hardware_cache_word(e->hw));
}

enum status evaluation_make(const struct bank *bank, const struct prediction predictions[],
                            const struct hardware *hw, int worst, json_t **answer,
                            struct error *error)
{
    struct evaluation e = {bank, predictions, hw, error};
    *answer = heading(&e);
    if (!*answer)
        return error_memory(error);
    add_skipped(&e, *answer);
    enum status status = add_accuracy(&e, NULL, "measured", *answer, NULL);
    if (status == STATUS_OK)
        status = add_subset(&e, "ge_10us", row_is_ge_10us, *answer);
    if (status == STATUS_OK)
        status = add_subset(&e, "large_plain", row_is_large_plain, *answer);
    if (status == STATUS_OK)
        status = add_subset(&e, "clean", row_is_clean_ge_10us, *answer);
    if (status == STATUS_OK)
        status = add_classes(&e, *answer);
    if (status == STATUS_OK)
        status = add_pairs(&e, *answer);
    if (status == STATUS_OK)
        status = add_worst(&e, worst, *answer);
    if (status == STATUS_OK)
        json_object_set_new(*answer, "rows", rows_json(&e));
    if (status == STATUS_OK)
        return STATUS_OK;
    json_decref(*answer);
    *answer = NULL;
    return status;
}

/* ------------------------------------------------------------------ corrected times */

struct corrected_rows {
    const struct bank *bank;
    struct prediction *predictions; /* with the corrected time as the predicted one */
    struct error *error;
};

static enum status add_figures(const struct corrected_rows *rows, row_filter *belongs,
                               json_t *object)
{
    struct accuracy a;
    TRY(accuracy_of(rows->bank->rows, rows->predictions, rows->bank->count, belongs, &a,
                    rows->error));
    json_object_set_new(object, "used", json_integer(a.used));
    json_object_set_new(object, "mape", json_number(a.mape));
    json_object_set_new(object, "median_ape", json_number(a.median_ape));
    json_object_set_new(object, "spearman", json_number(a.spearman));
    return STATUS_OK;
}

static enum status add_all_figures(const struct corrected_rows *rows, json_t *object)
{
    static const struct {
        const char *key;
        row_filter *belongs;
    } classes[] = {{"ge_10us", row_is_ge_10us},
                   {"large_plain", row_is_large_plain},
                   {"clean", row_is_clean_ge_10us}};
    TRY(add_figures(rows, NULL, object));
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        json_t *one = json_object();
        json_object_set_new(object, classes[c].key, one);
        TRY(add_figures(rows, classes[c].belongs, one));
    }
    return STATUS_OK;
}

static void add_cover(const struct corrected_rows *rows, json_t *object)
{
    double held = 0, judged = 0;
    for (size_t i = 0; i < rows->bank->count; i++) {
        const struct corrected *c = &rows->predictions[i].corrected;
        double measured = rows->bank->rows[i].measured_ns;
        if (!(measured > 0 && c->corrected_ns > 0))
            continue;
        judged++;
        held += measured >= c->low_ns && measured <= c->high_ns;
    }
    json_object_set_new(object, "interval_covers", json_number(held / judged));
}

static json_t *correction_json(const struct corrected_rows *rows,
                               const struct correction *correction, const char *file)
{
    int64_t seen = 0, within = 0;
    json_t *json = learned_json(correction);
    for (size_t i = 0; i < rows->bank->count; i++) {
        const struct prediction *p = &rows->predictions[i];
        if (p->corrected.corrected_ns > 0) {
            seen += correction_has_seen(correction, p->problem);
            within += !(p->corrected.outside > 0);
        }
    }
    json_object_set_new(json, "file", json_text(file));
    json_object_set_new(json, "rows_learned_from", json_integer(seen));
    json_object_set_new(json, "rows_within_training", json_integer(within));
    return json;
}

static enum status add_correction(const struct corrected_rows *rows,
                                  const struct correcting *correcting,
                                  const struct correction *correction, json_t *answer)
{
    json_t *figures = json_object();
    json_object_set_new(answer, "corrected", figures);
    TRY(add_all_figures(rows, figures));
    add_cover(rows, figures);
    json_object_set_new(answer, "correction", correction_json(rows, correction, correcting->file));
    return STATUS_OK;
}

enum status evaluation_add_corrected(const struct bank *bank, const struct prediction predictions[],
                                     const struct correcting *correcting,
                                     const struct correction *correction, json_t *answer,
                                     struct error *error)
{
    if (!correction) {
        json_object_set_new(answer, "corrected", json_null());
        if (*correcting->file)
            json_object_set_new(answer, "correction",
                                json_pack("{s:o, s:s}", "file", json_text(correcting->file),
                                          "reason", correcting->reason));
        return STATUS_OK;
    }
    struct corrected_rows rows = {bank, calloc(bank->count + 1, sizeof *rows.predictions), error};
    if (!rows.predictions)
        return error_memory(error);
    for (size_t i = 0; i < bank->count; i++) {
        rows.predictions[i] = predictions[i];
        rows.predictions[i].predicted_ns = predictions[i].corrected.corrected_ns;
    }
    enum status status = add_correction(&rows, correcting, correction, answer);
    free(rows.predictions);
    return status;
}
