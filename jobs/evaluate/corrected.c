/* The figures are those of simulated times, with corrected ones in their place. Figures of rows
 * that a correction was learned from flatter it, so their number stands beside, and what was found
 * by cross-validation. */
#include "jobs/evaluate/corrected.h"

#include "formats/json.h"
#include "jobs/calibrate/learn.h"

#include <math.h>
#include <stdlib.h>

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

static enum status add(const struct corrected_rows *rows, const struct correcting *correcting,
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
    enum status status = add(&rows, correcting, correction, answer);
    free(rows.predictions);
    return status;
}
