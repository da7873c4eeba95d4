/* Sums over what a program's instructions cost (core/program.c), exact in 64 bits or refused. */
#include "core/work.h"

static bool add_product(int64_t *sum, int64_t count, int64_t value)
{
    int64_t product;
    return !__builtin_mul_overflow(count, value, &product) &&
           !__builtin_add_overflow(*sum, product, sum) && *sum < (INT64_C(1) << 62);
}

int64_t repetition_step(struct repetition *r, const struct instruction *in)
{
    if (in->kind == INSTRUCTION_END) {
        r->depth--;
        return 0;
    }
    if (in->kind != INSTRUCTION_LOOP)
        return r->times[r->depth];
    int64_t *inside = &r->times[r->depth + 1];
    if (__builtin_mul_overflow(r->times[r->depth], in->count, inside))
        *inside = 0;
    r->depth++;
    return 0;
}

enum status work_totals(const struct program *program, struct work_total *totals,
                        struct error *error)
{
    for (int p = 0; p < program->hw->price_count; p++)
        totals[p] = (struct work_total){0};
    for (int32_t c = 0; c < program->cost_count; c++) {
        const struct program_cost *cost = &program->costs[c];
        struct work_total *total = &totals[cost->price];
        if (!add_product(&total->instructions, cost->times, 1) ||
            !add_product(&total->units, cost->times, cost->units) ||
            !add_product(&total->paid_units, cost->times, cost->paid_units) ||
            !add_product(&total->burst_fs, cost->times, cost->burst_fs))
            return error_set(error, STATUS_TOO_LARGE,
                             "line %d: more than 2^62 units of work in one program",
                             program->items[cost->first].line);
    }
    return STATUS_OK;
}
