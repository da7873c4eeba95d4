/* Sizes and rounds: a range is cut from a size, from the round of another loop or from any number,
 * which begins at 0; rounds are `by` long and the last one is what is left. */
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_eval.h"

#include <string.h>

enum status kernel_values_set(struct kernel_values *values, const struct kernel_text *kernel,
                              const struct hardware *hw, enum dtype dtype, const int64_t given[],
                              struct error *error)
{
    memset(values, 0, sizeof *values);
    values->kernel = kernel;
    values->hw = hw;
    values->dtype = dtype;
    values->result = dtype_result(dtype);
    for (int n = 0; n < kernel->size_count; n++) {
        int64_t pad = 1;
        if (kernel->sizes[n].pad)
            TRY(kernel_number(values, kernel->sizes[n].pad, &pad, error));
        if (pad < 1)
            return error_set(error, STATUS_INVALID,
                             "%d:%d: size %s has a pad of %lld, expected 1 "
                             "or more",
                             kernel->sizes[n].pad->at.line, kernel->sizes[n].pad->at.column,
                             kernel->sizes[n].name.text, (long long)pad);
        values->pads[n] = pad;
        int64_t least = kernel_may_be_0(&kernel->sizes[n]) ? 0 : 1;
        if (given[n] < least || given[n] > KERNEL_MAX_NUMBER - pad)
            return error_set(
                error, STATUS_INVALID,
                "size %s is %lld, expected %lld or more, and with its pad at most 2^62",
                kernel->sizes[n].name.text, (long long)given[n], (long long)least);
        values->given[n] = given[n];
        values->wholes[n] = round_up(given[n], pad);
        values->sizes[n] = (struct kernel_range){.length = values->wholes[n]};
    }
    return STATUS_OK;
}

enum status kernel_loop_range(const struct kernel_values *values, int loop,
                              struct kernel_range *range, struct error *error)
{
    const struct expression *in = values->kernel->loops[loop].in;
    *range = (struct kernel_range){.begin = 0};
    TRY(kernel_number(values, in, &range->length, error));
    while (in->op == EXPRESSION_IF) {
        int64_t is_first;
        TRY(kernel_number(values, in->args, &is_first, error));
        in = is_first ? in->args->next : in->args->next->next;
    }
    if (in->op == EXPRESSION_SIZE)
        range->begin = values->sizes[in->number].begin;
    else if (in->op == EXPRESSION_LOOP)
        range->begin = values->loops[in->number].begin;
    else if (in->op == EXPRESSION_LET && values->is_shared[in->number])
        range->begin = values->lets[in->number].begin;
    return STATUS_OK;
}

enum status kernel_loop_step(const struct kernel_values *values, int loop, int64_t *step,
                             struct error *error)
{
    const struct expression *by = values->kernel->loops[loop].by;
    TRY(kernel_number(values, by, step, error));
    if (*step > 0)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "%d:%d: loop '%s' by %lld, expected 1 or more",
                     by->at.line, by->at.column, values->kernel->loops[loop].name.text,
                     (long long)*step);
}

enum status kernel_loop_played(const struct kernel_values *values, int loop,
                               struct kernel_range *range, int64_t *step, struct error *error)
{
    TRY(kernel_loop_range(values, loop, range, error));
    TRY(kernel_loop_step(values, loop, step, error));
    if (!(values->dealt >> loop & 1) || range->length <= 0)
        return STATUS_OK;
    int64_t rounds = divide_up(divide_up(range->length, *step), values->dealers), length;
    if (!__builtin_mul_overflow(rounds, *step, &length) && length < range->length)
        range->length = length;
    return STATUS_OK;
}

enum status kernel_loop_count(const struct kernel_values *values, int loop, int64_t *count,
                              struct error *error)
{
    struct kernel_range range;
    int64_t step;
    TRY(kernel_loop_played(values, loop, &range, &step, error));
    *count = range.length > 0 ? divide_up(range.length, step) : 0;
    return STATUS_OK;
}

enum status kernel_loop_enter(struct kernel_values *values, int loop, int64_t round,
                              struct error *error)
{
    struct kernel_range range;
    int64_t step;
    TRY(kernel_loop_played(values, loop, &range, &step, error));
    int64_t done = round * step, rest = range.length - done;
    values->loops[loop] = (struct kernel_range){
        .begin = range.begin + done,
        .length = rest < step ? rest : step,
        .is_first = round == 0,
        .is_last = rest <= step,
    };
    return STATUS_OK;
}
