/* What a step is as an instruction in the current rounds: how many bytes, blocks or elements. Both
 * parts of a move hold equally many elements; a move on the chip carries the room of what it
 * writes, as far as its source has as much. */
#include "kernels/limits.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"

#include <limits.h>

struct making {
    const struct kernel_plan *plan;
    const struct kernel_env *env;
    int number;
    const struct plan_step *step;
    struct instruction *in;
    struct error *error;
};

static struct kernel_place place_of(const struct making *m)
{
    return m->plan->kernel->lines[m->step->line].at;
}

static enum status part_of(const struct making *m, int part, struct part_numbers *numbers)
{
    return plan_part(m->plan, m->env, m->number, part, numbers, m->error);
}

static enum status number_of(const struct making *m, const struct expression *e, int64_t otherwise,
                             int64_t *number)
{
    *number = otherwise;
    return e ? kernel_number(&m->env->values, e, number, m->error) : STATUS_OK;
}

static enum status key_of(const struct making *m, enum kernel_key key, int64_t otherwise,
                          int64_t *number)
{
    return number_of(m, m->step->text->keys[key], otherwise, number);
}

static const char *name_of(const struct making *m, int part)
{
    const struct kernel_text *kernel = m->plan->kernel;
    int tile = m->step->parts[part].tile;
    return tile >= 0 ? kernel->tiles[tile].name.text
                     : kernel->tensors[m->step->parts[part].tensor].name.text;
}

static enum status fail_elements(const struct making *m, int part, int64_t from, int64_t to)
{
    return plan_fail(m->error, place_of(m),
                     "%lld elements of '%s' into %lld of '%s', expected equally many",
                     (long long)from, name_of(m, part), (long long)to, name_of(m, 0));
}

static bool is_outside(const struct making *m, int part)
{
    const struct hardware *hw = m->plan->hw;
    int tile = m->step->parts[part].tile;
    return tile < 0 || hw->buffers[m->plan->tiles[tile].buffer].capacity_bytes == 0;
}

/* A row has an element for each column of another part. */
static enum status check_row(const struct making *m, int part, int of)
{
    struct part_numbers row, columns;
    TRY(part_of(m, part, &row));
    TRY(part_of(m, of, &columns));
    int64_t count = columns.extent[m->step->parts[of].dim_count - 1];
    return row.elements == count
               ? STATUS_OK
               : plan_fail(m->error, place_of(m),
                           "%lld elements of '%s' for %lld columns of '%s', expected one for each",
                           (long long)row.elements, name_of(m, part), (long long)count,
                           name_of(m, of));
}

/* Where the n-th of a part's elements comes among as many as a move carries: with the room behind
 * each row, where the part has as much. */
static int64_t carried_place(const struct making *m, int part, const struct part_numbers *numbers,
                             int64_t carried, int64_t n)
{
    int64_t place = 0, rest = numbers->elements;
    if (numbers->room_elements != carried)
        return n;
    for (int d = 0; d < m->step->parts[part].dim_count; d++) {
        rest /= numbers->extent[d];
        place = place * numbers->room[d] + n / rest;
        n %= rest;
    }
    return place;
}

/* The first elements of rows, and so all, come in the same places of both parts; transposed, rows
 * of the one have the room of columns of the other. */
static bool carries_alike(const struct making *m, const struct part_numbers *to,
                          const struct part_numbers *from, int64_t carried)
{
    const struct part_numbers *parts[] = {to, from};
    int64_t columns = from->room[m->step->parts[1].dim_count - 1];
    int64_t rows = to->room[m->step->parts[0].dim_count - 1];
    if (m->step->text->keys[STEP_TRANSPOSE])
        return to->room_elements == carried && from->room_elements == carried &&
               carried / columns == rows;
    for (int p = 0; p < 2; p++) {
        int64_t step = to->elements;
        for (int d = 0; d < m->step->parts[p].dim_count; d++) {
            step /= parts[p]->extent[d];
            if (step < to->elements &&
                carried_place(m, 0, to, carried, step) != carried_place(m, 1, from, carried, step))
                return false;
        }
    }
    return true;
}

/* Of a load in two steps: its bytes, in pieces that are no longer. */
static enum status take_share(const struct making *m)
{
    int64_t missed, bytes = m->in->bytes,
                    piece = divide_up(bytes, m->in->bursts ? m->in->bursts : 1);
    if (m->step->share == SHARE_ALL)
        return STATUS_OK;
    TRY(plan_missed_bytes(m->plan, m->env, m->number, bytes, &missed, m->error));
    m->in->bytes = m->step->share == SHARE_MISSES ? missed : bytes - missed;
    if (m->in->bursts)
        m->in->bursts = divide_up(m->in->bytes, piece);
    return STATUS_OK;
}

static enum status make_move(const struct making *m)
{
    struct part_numbers to, from, row;
    int64_t unit, transpose;
    TRY(part_of(m, 0, &to));
    TRY(part_of(m, 1, &from));
    if (to.elements != from.elements)
        return fail_elements(m, 1, from.elements, to.elements);
    int64_t elements =
        to.room_elements < from.room_elements ? to.room_elements : from.room_elements;
    if (is_outside(m, 0) || is_outside(m, 1))
        elements = to.elements;
    if (elements > to.elements && !carries_alike(m, &to, &from, elements))
        return plan_fail(m->error, place_of(m),
                         "rows of '%s' and '%s' have room for different numbers of elements, which "
                         "a move carries, expected the same",
                         name_of(m, 0), name_of(m, 1));
    m->in->bytes = product_of(elements, dtype_bytes(m->step->type));
    if (m->step->part_count > 2) {
        TRY(check_row(m, 2, 1));
        TRY(part_of(m, 2, &row));
        m->in->row_bytes = product_of(row.elements, dtype_bytes(DTYPE_F32));
    }
    TRY(number_of(m, m->step->bursts, 0, &m->in->bursts));
    TRY(number_of(m, m->step->align, 0, &m->in->align_bytes));
    TRY(key_of(m, STEP_UNIT, 0, &unit));
    TRY(key_of(m, STEP_TRANSPOSE, 0, &transpose));
    m->in->unit = unit != 0;
    m->in->transpose = transpose != 0;
    if (m->in->bursts < 0 || m->in->bursts > m->in->bytes)
        return plan_fail(m->error, place_of(m),
                         "bursts=%lld of %lld bytes, expected 1 or more of "
                         "a byte or more",
                         (long long)m->in->bursts, (long long)m->in->bytes);
    TRY(take_share(m));
    if (m->in->align_bytes < 0 || (m->in->align_bytes & (m->in->align_bytes - 1)))
        return plan_fail(m->error, place_of(m), "align=%lld, expected a power of two",
                         (long long)m->in->align_bytes);
    return STATUS_OK;
}

/* Columns are the last dimension, rows all others together. */
static enum status make_matrix(const struct making *m)
{
    struct part_numbers to, left, right;
    int64_t unit;
    TRY(part_of(m, 0, &to));
    TRY(part_of(m, 1, &left));
    TRY(part_of(m, 2, &right));
    int64_t n = to.extent[m->step->parts[0].dim_count - 1], rows = to.elements / n;
    int64_t k = left.extent[m->step->parts[1].dim_count - 1];
    int64_t columns = right.extent[m->step->parts[2].dim_count - 1];
    if (left.elements / k != rows || columns != n || right.elements / columns != k)
        return plan_fail(m->error, place_of(m),
                         "%lldx%lld <- %lldx%lld, %lldx%lld, expected m×n <- m×k, k×n%s",
                         (long long)rows, (long long)n, (long long)(left.elements / k),
                         (long long)k, (long long)(right.elements / columns), (long long)columns,
                         right.elements / columns == rows && k == n && left.elements / k == columns
                             ? ": as they are with its sources in the other order"
                             : "");
    if (m->step->part_count > 3)
        TRY(check_row(m, 3, 0));
    if (rows > INT_MAX || k > INT_MAX || n > INT_MAX)
        return plan_fail(m->error, place_of(m), "a product of %lldx%lldx%lld, expected below 2^31",
                         (long long)rows, (long long)k, (long long)n);
    m->in->m = (int32_t)rows;
    m->in->k = (int32_t)k;
    m->in->n = (int32_t)n;
    TRY(key_of(m, STEP_UNIT, 0, &unit));
    m->in->unit = unit != 0;
    return STATUS_OK;
}

/* How many elements a source gives at least, and the destination takes. */
static enum status check_source(const struct making *m, int part, int64_t elements)
{
    struct part_numbers from;
    if (m->step->parts[part].value)
        return STATUS_OK;
    TRY(part_of(m, part, &from));
    if (plan_spreads(m->plan, m->number))
        return STATUS_OK;
    if (plan_pairs(m->plan, m->number)) {
        from.elements = product_of(from.elements, 2);
        return from.elements == elements ? STATUS_OK
                                         : fail_elements(m, part, from.elements, elements);
    }
    bool is_given = m->step->text->keys[STEP_ELEMENTS];
    return from.elements == elements || (is_given && from.elements > elements)
               ? STATUS_OK
               : fail_elements(m, part, from.elements, elements);
}

static enum status make_vector(const struct making *m)
{
    struct part_numbers to, first = {.elements = 0};
    bool folds = m->plan->hw->operations[m->step->what].result == RESULT_ONE_PER_REPEAT;
    TRY(part_of(m, 0, &to));
    if (folds && !m->step->parts[1].value)
        TRY(part_of(m, 1, &first));
    TRY(key_of(m, STEP_ELEMENTS, folds ? first.elements : to.elements, &m->in->elements));
    for (int p = 1; p < m->step->part_count; p++)
        TRY(check_source(m, p, m->in->elements));
    int lanes = m->plan->hw->vector_repeat_bytes / dtype_bytes(m->step->type);
    int64_t results = folds ? divide_up(m->in->elements, lanes) : m->in->elements;
    if (m->in->elements < 1 || results > to.elements)
        return plan_fail(m->error, place_of(m), "%lld results into %lld elements of '%s'",
                         (long long)results, (long long)to.elements, name_of(m, 0));
    return STATUS_OK;
}

static enum status make_scalar(const struct making *m)
{
    struct part_numbers part;
    for (int p = 0; p < m->step->part_count; p++) {
        TRY(part_of(m, p, &part));
        if (part.elements != 1)
            return plan_fail(m->error, place_of(m), "an operand of %lld elements, expected one",
                             (long long)part.elements);
    }
    TRY(key_of(m, STEP_COUNT, 1, &m->in->count));
    int tile = m->step->part_count ? m->step->parts[0].tile : -1;
    int bytes = tile >= 0 ? dtype_bytes(m->plan->tiles[tile].type) : 0;
    m->in->operand_bytes = m->in->count == 1 && bytes == 2 ? 0 : bytes; /* 2 are understood */
    return m->in->count >= 1 ? STATUS_OK
                             : plan_fail(m->error, place_of(m), "count=%lld, expected 1 or more",
                                         (long long)m->in->count);
}

static bool results_in(const struct kernel_plan *plan, int step, enum operation_result result)
{
    return plan->steps[step].kind == INSTRUCTION_VECTOR &&
           plan->hw->operations[plan->steps[step].what].result == result;
}

bool plan_spreads(const struct kernel_plan *plan, int step)
{
    return results_in(plan, step, RESULT_SPREAD);
}

bool plan_pairs(const struct kernel_plan *plan, int step)
{
    return results_in(plan, step, RESULT_PAIRS);
}

enum status plan_instruction(const struct kernel_plan *plan, const struct kernel_env *env,
                             int number, struct instruction *in, struct error *error)
{
    static enum status (*const makes[])(const struct making *) = {
        [INSTRUCTION_MOVE] = make_move,
        [INSTRUCTION_MATRIX] = make_matrix,
        [INSTRUCTION_VECTOR] = make_vector,
        [INSTRUCTION_SCALAR] = make_scalar,
    };
    const struct plan_step *step = &plan->steps[number];
    const struct making making = {plan, env, number, step, in, error};
    *in = (struct instruction){
        .kind = (uint8_t)step->kind,
        .pipe = (int8_t)step->pipe,
        .what = (int16_t)step->what,
        .type = (uint8_t)step->type,
        .to_type = (uint8_t)step->to_type,
    };
    return makes[step->kind](&making);
}
