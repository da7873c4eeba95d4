/* How far predictions are from measurements: relative errors, bias, mean |ln| and Spearman's rank
 * correlation (1904), by GSL; and whether the tilings of one problem come in the right order. For
 * that, rows are sorted by problem, and the pairs within each are counted whose measured and
 * predicted differences have the same sign. */
#include "jobs/evaluate/evaluate.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_LARGE_NS 10e3 /* below, launch conditions decide: kernels repeat within 1.3 to 2 */
enum { LEAST_PLAIN = 128 };

bool row_is_ge_10us(const struct bank_row *row, const struct prediction *prediction)
{
    (void)prediction;
    return row->measured_ns >= LEAST_LARGE_NS;
}

bool row_is_large_plain(const struct bank_row *row, const struct prediction *prediction)
{
    return row_is_ge_10us(row, prediction) && row->m >= LEAST_PLAIN && row->n >= LEAST_PLAIN &&
           row->k >= LEAST_PLAIN && (row->batch_type == 0 || row->batch_type == 2);
}

/* Space for `count` rows: both times, errors, and the ranks' work. */
struct sample {
    size_t count;
    double *measured, *predicted, *error, *work;
};

static bool sample_open(struct sample *s, size_t count)
{
    s->count = 0;
    s->measured = malloc((count + 1) * 5 * sizeof(double));
    s->predicted = s->measured + count;
    s->error = s->predicted + count;
    s->work = s->error + count;
    return s->measured != NULL;
}

static void sample_fill(struct sample *s, const struct bank_row rows[],
                        const struct prediction predictions[], size_t count, row_filter *belongs)
{
    for (size_t i = 0; i < count; i++) {
        bool both = rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0;
        if (!both || (belongs && !belongs(&rows[i], &predictions[i])))
            continue;
        s->measured[s->count] = rows[i].measured_ns;
        s->predicted[s->count++] = predictions[i].predicted_ns;
    }
}

static bool all_equal(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

enum status accuracy_of(const struct bank_row rows[], const struct prediction predictions[],
                        size_t count, row_filter *belongs, struct accuracy *accuracy,
                        struct error *error)
{
    struct sample s;
    double bias = 0, logs = 0;
    if (!sample_open(&s, count))
        return error_memory(error);
    sample_fill(&s, rows, predictions, count, belongs);
    for (size_t i = 0; i < s.count; i++) {
        double ratio = s.predicted[i] / s.measured[i];
        s.error[i] = fabs(ratio - 1);
        bias += ratio - 1;
        logs += fabs(log(ratio));
    }
    double n = (double)s.count;
    *accuracy = (struct accuracy){
        .used = (int64_t)s.count, .mape = NAN, .median_ape = NAN, .spearman = NAN};
    accuracy->bias = bias / n; /* NaN of none */
    accuracy->mean_log = logs / n;
    if (s.count > 0)
        accuracy->mape = gsl_stats_mean(s.error, 1, s.count);
    if (!all_equal(s.measured, s.count) && !all_equal(s.predicted, s.count))
        accuracy->spearman = gsl_stats_spearman(s.measured, 1, s.predicted, 1, s.count, s.work);
    if (s.count > 0)
        accuracy->median_ape = gsl_stats_median(s.error, 1, s.count); /* reorders */
    free(s.measured);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ order within a problem */

/* Equal for rows of one problem. What banks know of layouts differs between forms and is left
 * out. */
struct problem_key {
    int64_t sizes[4];
    int64_t kind[6];
};

struct keyed {
    struct problem_key key;
    size_t row;
};

static struct problem_key key_of(const struct bank_row *row)
{
    return (struct problem_key){
        {row->m, row->k, row->n, row->batch},
        {row->transpose_a, row->transpose_b, row->bias, row->type, row->out_type, row->batch_type}};
}

static int compare_keys(const struct problem_key *a, const struct problem_key *b)
{
    for (int i = 0; i < 4; i++)
        if (a->sizes[i] != b->sizes[i])
            return a->sizes[i] < b->sizes[i] ? -1 : 1;
    for (int i = 0; i < 6; i++)
        if (a->kind[i] != b->kind[i])
            return a->kind[i] < b->kind[i] ? -1 : 1;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void count_pairs(const struct bank_row rows[], const struct prediction predictions[],
                        const struct keyed *group, size_t count, struct pairs *pairs)
{
    pairs->groups += count > 1;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double measured = rows[group[i].row].measured_ns - rows[group[j].row].measured_ns;
            double predicted =
                predictions[group[i].row].predicted_ns - predictions[group[j].row].predicted_ns;
            pairs->pairs += measured != 0;
            pairs->right += measured * predicted > 0;
        }
}

enum status pairs_of(const struct bank_row rows[], const struct prediction predictions[],
                     size_t count, struct pairs *pairs, struct error *error)
{
    struct keyed *list = malloc((count + 1) * sizeof *list);
    size_t used = 0;
    *pairs = (struct pairs){0};
    if (!list)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        if (rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0)
            list[used++] = (struct keyed){key_of(&rows[i]), i};
    qsort(list, used, sizeof *list, compare);
    for (size_t first = 0, last; first < used; first = last) {
        for (last = first + 1; last < used; last++)
            if (compare_keys(&list[first].key, &list[last].key) != 0)
                break;
        count_pairs(rows, predictions, list + first, last - first, pairs);
    }
    free(list);
    return STATUS_OK;
}
