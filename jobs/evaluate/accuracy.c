/* How far predictions are from measurements: relative errors, bias, mean |ln| and Spearman's rank
 * correlation (1904), by GSL; and whether the tilings of one problem come in the right order. For
 * that, rows are sorted by problem, and the pairs within each are counted whose measured and
 * predicted differences have the same sign. */
#include "jobs/evaluate/evaluate.h"

#include "validate/model_quality.h"

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

/* The largest power of two, up to ROW_CLEAN_BYTES, that a pitch is a multiple of. */
static int64_t multiple_bytes(int64_t elements, enum dtype type)
{
    int64_t pitch_bytes = elements * dtype_bytes(type);
    int64_t multiple = 1;
    while (multiple < ROW_CLEAN_BYTES && pitch_bytes % (2 * multiple) == 0)
        multiple *= 2;
    return multiple;
}

int row_pitch_multiple_bytes(const struct bank_row *row)
{
    const struct {
        bool blocks;
        int64_t pitch;
        enum dtype type;
    } operands[] = {{row->nz_a, row->transpose_a ? row->m : row->k, row->type},
                    {row->nz_b, row->transpose_b ? row->k : row->n, row->type},
                    {row->nz_c, row->n, row->out_type}};
    int64_t least = 0;
    for (int i = 0; i < 3; i++) {
        int64_t multiple =
            operands[i].blocks ? 0 : multiple_bytes(operands[i].pitch, operands[i].type);
        if (multiple && (!least || multiple < least))
            least = multiple;
    }
    return (int)least;
}

bool row_is_clean(const struct bank_row *row)
{
    int multiple = row_pitch_multiple_bytes(row);
    return multiple == 0 || multiple == ROW_CLEAN_BYTES;
}

bool row_is_clean_ge_10us(const struct bank_row *row, const struct prediction *prediction)
{
    return row_is_ge_10us(row, prediction) && row_is_clean(row);
}

/* The times of the rows that have both and belong. */
static int take(const struct bank_row rows[], const struct prediction predictions[], size_t count,
                row_filter *belongs, double *predicted, double *measured)
{
    int taken = 0;
    for (size_t i = 0; i < count; i++) {
        bool both = rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0;
        if (!both || (belongs && !belongs(&rows[i], &predictions[i])))
            continue;
        predicted[taken] = predictions[i].predicted_ns;
        measured[taken++] = rows[i].measured_ns;
    }
    return taken;
}

enum status accuracy_of(const struct bank_row rows[], const struct prediction predictions[],
                        size_t count, row_filter *belongs, struct accuracy *accuracy,
                        struct error *error)
{
    struct model_quality quality;
    double bias = 0, logs = 0, *predicted = calloc(count + 1, 2 * sizeof *predicted);
    if (!predicted)
        return error_memory(error);
    double *measured = predicted + count;
    int taken = take(rows, predictions, count, belongs, predicted, measured);
    enum status status = model_errors(predicted, measured, taken, &quality, error);
    for (int i = 0; i < taken; i++) {
        bias += predicted[i] / measured[i] - 1;
        logs += fabs(log(predicted[i] / measured[i]));
    }
    *accuracy = (struct accuracy){.used = taken,
                                  .mape = quality.mean_error,
                                  .median_ape = quality.median_error,
                                  .bias = bias / taken, /* NaN of none */
                                  .mean_log = logs / taken,
                                  .spearman = quality.spearman};
    free(predicted);
    return status;
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
