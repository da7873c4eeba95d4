/* The values of axes. A size is cut in units of its pad: slices are kernels/slices.h's, divisors
 * those that leave no rest; an axis that cuts another one goes by the unit of that. */
#include "core/array.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_eval.h"

#include <stdlib.h>

struct cutting {
    const struct kernel_values *values;
    const struct kernel_axis *axis;
    int64_t numbers[2]; /* the cut's arguments */
    struct kernel_list *list;
    struct error *error;
};

static enum status fail_large(const struct cutting *cutting)
{
    return error_set(cutting->error, STATUS_TOO_LARGE, "%d:%d: axis '%s' has more than %d values",
                     cutting->axis->name.at.line, cutting->axis->name.at.column,
                     cutting->axis->name.text, KERNEL_MAX_VALUES);
}

static enum status fail_small(const struct cutting *cutting, int64_t number)
{
    return error_set(cutting->error, STATUS_INVALID,
                     "%d:%d: axis '%s' cuts %lld, expected 1 or more", cutting->axis->name.at.line,
                     cutting->axis->name.at.column, cutting->axis->name.text, (long long)number);
}

static enum status append(const struct cutting *cutting, int64_t value)
{
    struct kernel_list *list = cutting->list;
    if (list->count == KERNEL_MAX_VALUES)
        return fail_large(cutting);
    if (!array_room(&list->values, list->count, sizeof *list->values))
        return error_memory(cutting->error);
    list->values[list->count++] = value;
    return STATUS_OK;
}

/* What all that the expression can be are multiples of. */
static enum status find_unit(const struct cutting *cutting, const struct expression *e,
                             int64_t *unit)
{
    const struct kernel_text *kernel = cutting->values->kernel;
    while (e->op == EXPRESSION_AXIS && (kernel->axes[e->number].cut == CUT_SLICES ||
                                        kernel->axes[e->number].cut == CUT_DIVISORS))
        e = kernel->axes[e->number].values;
    *unit = e->op == EXPRESSION_SIZE ? cutting->values->pads[e->number] : 1;
    if (e->op != EXPRESSION_AXIS || kernel->axes[e->number].cut == CUT_LIST)
        return STATUS_OK;
    return kernel_number(cutting->values, kernel->axes[e->number].values, unit, cutting->error);
}

/* There are at most 2·√blocks slices (kernels/slices.h). */
static enum status cut_slices(const struct cutting *cutting)
{
    const int64_t most = (int64_t)(KERNEL_MAX_VALUES / 2) * (KERNEL_MAX_VALUES / 2);
    struct kernel_list *list = cutting->list;
    int64_t size = cutting->numbers[0], unit;
    TRY(find_unit(cutting, cutting->axis->values, &unit));
    if (size < 1 || unit < 1)
        return fail_small(cutting, size < 1 ? size : unit);
    if (divide_up(size, unit) > most)
        return fail_large(cutting);
    size = round_up(size, unit);
    list->values = slices_of(size, unit, &list->count);
    if (!list->values)
        return error_memory(cutting->error);
    int kept = 0;
    for (int v = 0; v < list->count; v++)
        if (cutting->axis->cut == CUT_SLICES || size % list->values[v] == 0)
            list->values[kept++] = list->values[v];
    list->count = kept;
    return STATUS_OK;
}

/* n, 2n, 3n … up(S, n) */
static enum status cut_multiples(const struct cutting *cutting)
{
    int64_t unit = cutting->numbers[0], size = cutting->numbers[1];
    if (unit < 1 || size < 1)
        return fail_small(cutting, unit < 1 ? unit : size);
    if ((size - 1) / unit >= KERNEL_MAX_VALUES)
        return fail_large(cutting);
    for (int64_t n = 1; n <= (size - 1) / unit + 1; n++)
        TRY(append(cutting, n * unit));
    return STATUS_OK;
}

/* a, 2a, 4a … at most b */
static enum status cut_powers(const struct cutting *cutting)
{
    if (cutting->numbers[0] < 1)
        return fail_small(cutting, cutting->numbers[0]);
    for (int64_t n = cutting->numbers[0]; n <= cutting->numbers[1]; n *= 2) {
        TRY(append(cutting, n));
        if (n > KERNEL_MAX_NUMBER / 2)
            break;
    }
    return STATUS_OK;
}

static enum status cut_words(const struct cutting *cutting)
{
    for (int word = 0; word < cutting->axis->word_count; word++)
        TRY(append(cutting, word));
    return STATUS_OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static enum status cut_list(const struct cutting *cutting)
{
    struct kernel_list *list = cutting->list;
    for (const struct expression *e = cutting->axis->values; e; e = e->next) {
        int64_t value;
        TRY(kernel_number(cutting->values, e, &value, cutting->error));
        TRY(append(cutting, value));
    }
    qsort(list->values, (size_t)list->count, sizeof *list->values, by_value);
    int kept = 1;
    for (int v = 1; v < list->count; v++)
        if (list->values[v] != list->values[kept - 1])
            list->values[kept++] = list->values[v];
    list->count = kept;
    return STATUS_OK;
}

static enum status (*const cuts[CUTS])(const struct cutting *cutting) = {
    [CUT_LIST] = cut_list,       [CUT_WORDS] = cut_words,   [CUT_SLICES] = cut_slices,
    [CUT_DIVISORS] = cut_slices, [CUT_POWERS] = cut_powers, [CUT_MULTIPLES] = cut_multiples,
};

static enum status find_values(struct cutting *cutting)
{
    int count = 0;
    if (cutting->axis->cut >= CUT_SLICES)
        for (const struct expression *e = cutting->axis->values; e; e = e->next)
            TRY(kernel_number(cutting->values, e, &cutting->numbers[count++], cutting->error));
    return cuts[cutting->axis->cut](cutting);
}

enum status kernel_axis_values(const struct kernel_values *values, int axis,
                               struct kernel_list *list, struct error *error)
{
    struct cutting cutting = {values, &values->kernel->axes[axis], {0, 0}, list, error};
    *list = (struct kernel_list){NULL, 0};
    enum status status = find_values(&cutting);
    if (status != STATUS_OK) {
        free(list->values);
        *list = (struct kernel_list){NULL, 0};
    }
    return status;
}
