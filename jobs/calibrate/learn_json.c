/* What was learned, as two tables. */
#include "jobs/calibrate/learn.h"

#include "formats/json.h"

static json_t *figures_json(const struct trained_quality *q)
{
    static const char *const names[] = {"mean_relative_error", "median_relative_error", "spearman"};
    const struct {
        const char *name;
        const double *figures;
    } models[] = {{"simulated", q->simulated}, {"line", q->line}, {"corrected", q->corrected}};
    json_t *row = json_pack("{s:s, s:I}", "rows", q->rows, "used", (json_int_t)q->used);
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
            char key[64];
            snprintf(key, sizeof key, "%s_%s", models[m].name, names[f]);
            json_object_set_new(row, key, json_number(models[m].figures[f]));
        }
    json_object_set_new(row, "interval_covers_share", json_number(q->covers));
    return row;
}

json_t *learned_json(const struct correction *c)
{
    json_t *banks = json_array(), *qualities = json_array();
    for (int b = 0; b < c->bank_count; b++)
        json_array_append_new(
            banks, json_pack("{s:o, s:o, s:I}", "file", json_text(c->banks[b].file), "chip",
                             json_text(c->banks[b].chip), "rows", (json_int_t)c->banks[b].rows));
    for (int q = 0; q < c->quality_count; q++)
        json_array_append_new(qualities, figures_json(&c->qualities[q]));
    return json_pack("{s:o, s:o}", "learned_from", banks, "cross_validated", qualities);
}
