/* What was learned, as two tables. */
#include "jobs/calibrate/learn.h"

#include "formats/json.h"

#include <math.h>

/* A line for each of the models that the class of rows is judged by; lines and laws may be missing.
 */
static void append_figures(const struct correction *c, const struct trained_quality *q,
                           json_t *table)
{
    const struct {
        const char *name;
        const double *figures;
        double covers;
    } models[] = {{c->law_count ? "law" : "simulated", q->simulated, NAN},
                  {"line", q->line, NAN},
                  {"corrected", q->corrected, q->covers}};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        if (c->law_count && isnan(models[m].figures[TRAINED_MEAN]))
            continue;
        json_array_append_new(
            table, json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o}", "rows", q->rows, "used",
                             (json_int_t)q->used, "times", models[m].name, "mean_relative_error",
                             json_number(models[m].figures[TRAINED_MEAN]), "median_relative_error",
                             json_number(models[m].figures[TRAINED_MEDIAN]), "spearman",
                             json_number(models[m].figures[TRAINED_SPEARMAN]),
                             "interval_covers_share", json_number(models[m].covers)));
    }
}

json_t *learned_json(const struct correction *c)
{
    json_t *banks = json_array(), *qualities = json_array();
    for (int b = 0; b < c->bank_count; b++)
        json_array_append_new(
            banks, json_pack("{s:o, s:o, s:I}", "file", json_text(c->banks[b].file), "chip",
                             json_text(c->banks[b].chip), "rows", (json_int_t)c->banks[b].rows));
    for (int q = 0; q < c->quality_count; q++)
        append_figures(c, &c->qualities[q], qualities);
    return json_pack("{s:f, s:o, s:o}", "clock_mhz", c->clock_mhz, "learned_from", banks,
                     "cross_validated", qualities);
}
