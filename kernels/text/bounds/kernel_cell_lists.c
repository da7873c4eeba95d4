/* What a step needs of a plan's cells, level by level, and their values. */
#include "kernels/text/bounds/kernel_cells.h"

#include <limits.h>
#include <string.h>

/* ------------------------------------------------------------------ lists */

/* Cells come after those that they are made of. */
static void mark(const struct kernel_cells *cells, bool needed[CELLS_MAX])
{
    for (int i = cells->count - 1; i >= 0; i--)
        for (int a = 0; needed[i] && a < cell_args(cells->cells[i].kind); a++)
            needed[cells->cells[i].args[a]] = true;
}

/* The level of the innermost loop on which a cell depends. */
static int level_of(const struct kernel_cells *cells, const struct cell_step *step, int cell)
{
    int level = step->depth;
    while (level > 0 &&
           !(cells->cells[cell].loops >> cells->plan->loops[step->loops[level - 1]].text_loop & 1))
        level--;
    return level;
}

static void need(const struct kernel_cells *cells, const struct cell_step *step,
                 bool needed[CELLS_MAX])
{
    memset(needed, 0, CELLS_MAX);
    for (int n = 0; n < CELL_NUMBERS; n++)
        if (step->numbers[n] >= 0)
            needed[step->numbers[n]] = true;
    if (step->condition >= 0)
        needed[step->condition] = true;
    for (int l = 0; l < step->depth; l++) {
        const struct cell_loop *loop = &cells->loops[step->loops[l]];
        needed[loop->rounds] = true;
    }
    mark(cells, needed);
}

/* What entering rounds of a loop needs if anything asks for them. */
static void need_rounds(const struct kernel_cells *cells, struct cell_step *step,
                        bool needed[CELLS_MAX])
{
    for (int l = step->depth - 1; l >= 0; l--) {
        const struct cell_loop *loop = &cells->loops[step->loops[l]];
        for (int f = 0; f < ROUND_FACTS; f++)
            if (loop->facts[f] >= 0 && needed[loop->facts[f]])
                needed[loop->full] = needed[loop->last] = true;
        if (loop->facts[ROUND_BEGIN] >= 0 && needed[loop->facts[ROUND_BEGIN]])
            needed[loop->begin] = needed[loop->by] = true;
        mark(cells, needed);
    }
}

bool cells_list(struct kernel_cells *cells, int number)
{
    struct cell_step *step = &cells->steps[number];
    bool needed[CELLS_MAX];
    need(cells, step, needed);
    need_rounds(cells, step, needed);
    for (int i = 0; i < cells->count; i++) {
        step->asks |= needed[i] ? cells->cells[i].loops : 0;
        step->begins |= needed[i] ? cells->cells[i].begins : 0;
        step->ends |= needed[i] ? cells->cells[i].ends : 0;
    }
    for (int level = 0; level <= step->depth; level++) {
        step->list[level] = cells->listed_count;
        for (int i = 0; i < cells->count; i++) {
            const struct cell *cell = &cells->cells[i];
            if (!needed[i] || !cell->loops || cell->kind == CELL_ROUND ||
                level_of(cells, step, i) != level)
                continue;
            if (cells->listed_count == CELLS_MAX_LISTED)
                return false;
            cells->listed[cells->listed_count++] = i;
        }
    }
    step->list[step->depth + 1] = cells->listed_count;
    return true;
}

/* ------------------------------------------------------------------ values */

static int64_t value_of(const struct cell *cell, const struct kernel_values *values,
                        const int64_t numbers[])
{
    struct error ignored;
    int64_t a = numbers[cell->args[0]], b = numbers[cell->args[1]], result = CELL_CANNOT_BE;
    switch (cell->kind) {
    case CELL_NUMBER:
        return cell->number;
    case CELL_GIVEN:
        return kernel_number(values, cell->given, &result, &ignored) == STATUS_OK ? result
                                                                                  : CELL_CANNOT_BE;
    case CELL_APPLY:
        if (a == CELL_CANNOT_BE || b == CELL_CANNOT_BE || !kernel_apply(cell->op, a, b, &result))
            return CELL_CANNOT_BE;
        return result;
    case CELL_CHOICE:
        return a == CELL_CANNOT_BE ? a : a ? b : numbers[cell->args[2]];
    case CELL_ROUND:
        break;
    }
    return CELL_CANNOT_BE;
}

void kernel_cells_give(const struct kernel_cells *cells, const struct kernel_values *values,
                       int64_t numbers[CELLS_MAX])
{
    for (int i = 0; i < cells->given_count; i++)
        numbers[cells->given[i]] = value_of(&cells->cells[cells->given[i]], values, numbers);
}

static void put(int cell, int64_t value, int64_t numbers[CELLS_MAX])
{
    if (cell >= 0)
        numbers[cell] = value;
}

void kernel_cells_enter(const struct kernel_cells *cells, int number, int level, int64_t round,
                        int64_t rounds, int64_t numbers[CELLS_MAX])
{
    const struct cell_step *step = &cells->steps[number];
    const struct cell_loop *loop = &cells->loops[step->loops[level - 1]];
    uint64_t bit = (uint64_t)1 << cells->plan->loops[step->loops[level - 1]].text_loop;
    if (!(step->asks & bit))
        return;
    put(loop->facts[ROUND_LENGTH], numbers[round == rounds - 1 ? loop->last : loop->full], numbers);
    if (step->begins & bit)
        put(loop->facts[ROUND_BEGIN], numbers[loop->begin] + round * numbers[loop->by], numbers);
    put(loop->facts[ROUND_FIRST], round == 0, numbers);
    put(loop->facts[ROUND_LAST], round == rounds - 1, numbers);
    for (int i = step->list[level]; i < step->list[level + 1]; i++) {
        int cell = cells->listed[i];
        numbers[cell] = value_of(&cells->cells[cell], NULL, numbers);
    }
}

/* ------------------------------------------------------------------ instructions */

/* -1: more than an instruction can have. */
static int32_t extent_of(int64_t number)
{
    return number > INT_MAX ? -1 : (int32_t)number;
}

bool kernel_cells_instruction(const struct kernel_cells *cells, int number,
                              const int64_t numbers[CELLS_MAX], struct instruction *in)
{
    const struct cell_step *step = &cells->steps[number];
    int64_t n[CELL_NUMBERS] = {0};
    for (int i = 0; i < CELL_NUMBERS && step->numbers[i] >= 0; i++) {
        n[i] = numbers[step->numbers[i]];
        if (n[i] < 0)
            return false;
    }
    if (in->kind == INSTRUCTION_MOVE) {
        in->bytes = n[0];
        in->bursts = n[1];
        in->align_bytes = n[2];
    } else if (in->kind == INSTRUCTION_MATRIX) {
        in->m = extent_of(n[0]);
        in->k = extent_of(n[1]);
        in->n = extent_of(n[2]);
        return in->m >= 0 && in->k >= 0 && in->n >= 0;
    } else if (in->kind == INSTRUCTION_VECTOR) {
        in->elements = n[0];
    } else {
        in->count = n[0];
    }
    return true;
}
