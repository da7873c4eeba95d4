#include "core/work.h"

static bool add_product(int64_t *sum, int64_t count, int64_t value)
{
    int64_t product;
    return !__builtin_mul_overflow(count, value, &product) &&
           !__builtin_add_overflow(*sum, product, sum) && *sum < (INT64_C(1) << 62);
}

enum status work_totals(const struct program *program, struct work_total *totals,
                        struct error *error)
{
    int64_t times[PROGRAM_MAX_DEPTH + 1] = {1};
    int depth = 0;
    for (int p = 0; p < program->hw->price_count; p++)
        totals[p] = (struct work_total){0};
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        bool fits = true;
        if (in->kind == INSTRUCTION_LOOP) {
            times[depth + 1] = 0;
            fits = add_product(&times[depth + 1], times[depth], in->count);
            depth++;
            if (in->count == 0 || !fits) { /* a body that never runs, or an empty one */
                times[depth] = 0;
                fits = true;
            }
        } else if (in->kind == INSTRUCTION_END) {
            depth--;
        } else if (in->price >= 0) {
            fits = add_product(&totals[in->price].instructions, times[depth], 1) &&
                   add_product(&totals[in->price].units, times[depth], in->units) &&
                   (in->kind != INSTRUCTION_MOVE ||
                    add_product(&totals[in->price].burst_fs, times[depth], in->burst_fs));
        }
        if (!fits)
            return error_set(error, STATUS_TOO_LARGE,
                             "line %d: more than 2^62 units of work in one program", in->line);
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
    double times[PROGRAM_MAX_DEPTH + 1] = {1};
    int depth = 0;
    *counts = (struct operation_counts){0};
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            times[depth + 1] = times[depth] * (double)in->count;
            depth++;
        } else if (in->kind == INSTRUCTION_END) {
            depth--;
        } else {
            count_operations(program->hw, in, times[depth], counts);
        }
    }
}
