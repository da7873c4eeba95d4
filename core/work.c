/* Sums over what a program's instructions cost (core/program_brief.c), exact in 64 bits or refused;
 * only reports walk over the lines, and use doubles. */
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

static void count_operations(const struct hardware *hw, const struct instruction *in, double times,
                             struct operation_counts *counts)
{
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(hw, in->type);
        counts->matrix[in->type] +=
            2.0 * type->block_m * type->block_k * type->block_n * (double)in->units * times;
    } else if (in->kind == INSTRUCTION_VECTOR) {
        counts->vector[in->type] += (double)in->elements * times;
    } else if (in->kind == INSTRUCTION_SCALAR) {
        counts->scalar += (double)in->count * times;
    }
}

void work_operations(const struct program *program, struct operation_counts *counts)
{
    struct repetition repetition = {.times = {1}};
    *counts = (struct operation_counts){0};
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        count_operations(program->hw, in, (double)repetition_step(&repetition, in), counts);
    }
}
