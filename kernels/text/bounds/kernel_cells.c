/* Expressions become cells by one walk; equal cells are found again by looking through all. Then
 * each step's cells are gathered from what its instruction, its condition and the rounds around it
 * need. */
#include "kernels/text/bounds/kernel_cells.h"

#include "kernels/text/plan/kernel_structure.h"

#include <stdlib.h>
#include <string.h>

/* Where expressions mean something: `life` is the plan loop in whose rounds; loops inside stand for
 * all that their rounds make. */
struct cell_maker {
    const struct kernel_plan *plan;
    struct kernel_cells *cells;
    int life;
    bool is_full, is_real; /* too many cells; a real number that asks for rounds */
};

static int make(struct cell_maker *m, const struct expression *e);

/* ------------------------------------------------------------------ cells */

static bool is_same(const struct cell *a, const struct cell *b)
{
    return a->kind == b->kind && a->op == b->op && a->number == b->number && a->given == b->given &&
           memcmp(a->args, b->args, sizeof a->args) == 0;
}

static int add(struct cell_maker *m, struct cell cell)
{
    struct kernel_cells *cells = m->cells;
    int args = cell_args(cell.kind);
    for (int i = 0; i < cells->count; i++)
        if (is_same(&cells->cells[i], &cell))
            return i;
    if (cells->count == CELLS_MAX) {
        m->is_full = true;
        return 0;
    }
    for (int a = 0; a < args; a++) {
        cell.loops |= cells->cells[cell.args[a]].loops;
        cell.begins |= cells->cells[cell.args[a]].begins;
        cell.ends |= cells->cells[cell.args[a]].ends;
    }
    if (!cell.loops)
        cells->given[cells->given_count++] = cells->count;
    cells->cells[cells->count] = cell;
    return cells->count++;
}

static int number(struct cell_maker *m, int64_t value)
{
    return add(m, (struct cell){.kind = CELL_NUMBER, .number = value});
}

static int apply(struct cell_maker *m, enum expression_op op, int a, int b)
{
    return add(m, (struct cell){.kind = CELL_APPLY, .op = op, .args = {a, b}});
}

static int choose(struct cell_maker *m, int condition, int then, int otherwise)
{
    return add(m, (struct cell){.kind = CELL_CHOICE, .args = {condition, then, otherwise}});
}

/* ------------------------------------------------------------------ rounds */

static bool is_around(const struct cell_maker *m, int64_t text_loop)
{
    int loop = m->plan->plan_loop_of[text_loop];
    return loop >= 0 && plan_is_within(m->plan, m->life, loop);
}

static int round_fact(struct cell_maker *m, int64_t text_loop, enum cell_round fact)
{
    uint64_t bit = (uint64_t)1 << text_loop;
    int cell = add(m, (struct cell){.kind = CELL_ROUND,
                                    .number = text_loop * ROUND_FACTS + fact,
                                    .loops = bit,
                                    .begins = fact == ROUND_BEGIN ? bit : 0,
                                    .ends = fact >= ROUND_FIRST ? bit : 0});
    m->cells->loops[m->plan->plan_loop_of[text_loop]].facts[fact] = cell;
    return cell;
}

/* Where a range begins that loops cut: shares of sizes begin at 0, for every core. */
static int begin_of(struct cell_maker *m, const struct expression *in)
{
    if (in->op == EXPRESSION_IF)
        return choose(m, make(m, in->args), begin_of(m, in->args->next),
                      begin_of(m, in->args->next->next));
    if (in->op != EXPRESSION_LOOP)
        return number(m, 0);
    return is_around(m, in->number) ? round_fact(m, in->number, ROUND_BEGIN)
                                    : begin_of(m, m->plan->kernel->loops[in->number].in);
}

static int make_round(struct cell_maker *m, const struct expression *e)
{
    static const enum cell_round facts[EXPRESSION_OPS] = {[EXPRESSION_LOOP] = ROUND_LENGTH,
                                                          [EXPRESSION_BEGIN] = ROUND_BEGIN,
                                                          [EXPRESSION_FIRST] = ROUND_FIRST,
                                                          [EXPRESSION_LAST] = ROUND_LAST};
    const struct expression *in = m->plan->kernel->loops[e->number].in;
    if (is_around(m, e->number))
        return round_fact(m, e->number, facts[e->op]);
    return e->op == EXPRESSION_LOOP ? make(m, in) : begin_of(m, in);
}

/* ------------------------------------------------------------------ operations */

static int make_whole(struct cell_maker *m, const struct expression *e)
{
    int cell = make(m, e->args);
    if (!e->args->next)
        return apply(m, e->op, cell, number(m, 0));
    for (const struct expression *arg = e->args->next; arg; arg = arg->next)
        cell = apply(m, e->op, cell, make(m, arg));
    return cell;
}

static int make_comparison(struct cell_maker *m, const struct expression *e)
{
    int left = make(m, e->args), any = number(m, 0);
    if (e->op != EXPRESSION_IN)
        return apply(m, e->op, left, make(m, e->args->next));
    for (const struct expression *arg = e->args->next; arg; arg = arg->next)
        any = choose(m, apply(m, EXPRESSION_EQUAL, left, make(m, arg)), number(m, 1), any);
    return any;
}

static int make(struct cell_maker *m, const struct expression *e)
{
    m->is_real |= e->loops && e->kind == EXPRESSION_IS_REAL;
    if (e->op == EXPRESSION_NUMBER)
        return number(m, e->number);
    if (!e->loops || m->is_real || m->is_full)
        return add(m, (struct cell){.kind = CELL_GIVEN, .given = e});
    switch (e->op) {
    case EXPRESSION_LET:
        return make(m, m->plan->kernel->lets[e->number].value);
    case EXPRESSION_LOOP:
    case EXPRESSION_BEGIN:
    case EXPRESSION_FIRST:
    case EXPRESSION_LAST:
        return make_round(m, e);
    case EXPRESSION_NOT:
        return choose(m, make(m, e->args), number(m, 0), number(m, 1));
    case EXPRESSION_AND:
        return choose(m, make(m, e->args), make(m, e->args->next), number(m, 0));
    case EXPRESSION_OR:
        return choose(m, make(m, e->args), number(m, 1), make(m, e->args->next));
    case EXPRESSION_IF:
        return choose(m, make(m, e->args), make(m, e->args->next), make(m, e->args->next->next));
    default:
        return e->kind == EXPRESSION_IS_TRUTH ? make_comparison(m, e) : make_whole(m, e);
    }
}

/* ------------------------------------------------------------------ loops */

/* Of a range that cores deal out: what the first of them plays (kernel_loop_played). */
static int played(struct cell_maker *m, int range, int by)
{
    int rounds = apply(m, EXPRESSION_CDIV, apply(m, EXPRESSION_CDIV, range, by),
                       number(m, m->plan->dealers));
    return apply(m, EXPRESSION_MIN, range, apply(m, EXPRESSION_MULTIPLY, rounds, by));
}

static void make_loop(struct cell_maker *m, int loop)
{
    const struct kernel_loop *text = &m->plan->kernel->loops[m->plan->loops[loop].text_loop];
    struct cell_loop *cell = &m->cells->loops[loop];
    m->life = m->plan->loops[loop].around;
    int range = make(m, text->in);
    cell->by = make(m, text->by);
    if (m->plan->dealt >> m->plan->loops[loop].text_loop & 1)
        range = played(m, range, cell->by);
    cell->rounds = apply(m, EXPRESSION_CDIV, range, cell->by);
    cell->full = apply(m, EXPRESSION_MIN, range, cell->by);
    int all_but_one = apply(m, EXPRESSION_SUBTRACT, cell->rounds, number(m, 1));
    cell->last =
        apply(m, EXPRESSION_SUBTRACT, range, apply(m, EXPRESSION_MULTIPLY, all_but_one, cell->by));
    cell->begin = begin_of(m, text->in);
}

/* ------------------------------------------------------------------ steps */

/* What a part picks of a tile's dimension, and its room if that is all. */
static void part_dim(struct cell_maker *m, int step, const struct plan_part *part, int d,
                     int *extent, int *room)
{
    const struct plan_dim *dim = &part->dims[d];
    const struct expression *held = m->plan->tiles[part->tile].dims[d];
    m->life = m->plan->tiles[part->tile].life;
    int all_room = make(m, held);
    int all = held->op == EXPRESSION_UP ? make(m, held->args) : all_room;
    m->cells->shapes[part->tile] |= m->cells->cells[all].loops;
    m->life = m->plan->steps[step].around;
    if (dim->reach == REACH_ALL)
        *extent = all;
    else if (dim->reach == REACH_ROUND)
        *extent = round_fact(m, dim->loop, ROUND_LENGTH);
    else
        *extent = dim->reach == REACH_SOME ? make(m, dim->count) : number(m, 1);
    *room = all_room;
    if (*extent != all)
        *room = choose(m, apply(m, EXPRESSION_EQUAL, *extent, all), all_room, *extent);
}

/* The product of a part's dimensions from `first` up to `end`. */
static int part_product(struct cell_maker *m, int step, const struct plan_part *part, int first,
                        int end, bool with_room)
{
    int product = number(m, 1);
    for (int d = first; d < end; d++) {
        int extent, room, one = number(m, 1);
        part_dim(m, step, part, d, &extent, &room);
        int factor = with_room ? room : extent;
        product = product == one ? factor : apply(m, EXPRESSION_MULTIPLY, product, factor);
    }
    return product;
}

static int elements_of(struct cell_maker *m, int step, const struct plan_part *part)
{
    return part_product(m, step, part, 0, part->dim_count, false);
}

static int key_or(struct cell_maker *m, int step, enum kernel_key key, int otherwise)
{
    const struct expression *e = m->plan->steps[step].text->keys[key];
    m->life = m->plan->steps[step].around;
    return e ? make(m, e) : otherwise;
}

static bool is_outside(const struct kernel_plan *plan, const struct plan_part *part)
{
    return part->tile < 0 || plan->hw->buffers[plan->tiles[part->tile].buffer].capacity_bytes == 0;
}

/* Bytes of a share, and its pieces (plan_missed_bytes, take_share). */
static void share_numbers(struct cell_maker *m, int step, int numbers[CELL_NUMBERS])
{
    const struct plan_step *s = &m->plan->steps[step];
    int bytes = numbers[0], again = number(m, 1);
    for (int loop = s->around; loop > 0; loop = m->plan->loops[loop].around)
        if (plan_loads_again(m->plan, step, loop))
            again = apply(m, EXPRESSION_MULTIPLY, again, m->cells->loops[loop].rounds);
    m->life = s->around;
    for (int a = 0; a < s->alike_count; a++)
        again = apply(
            m, EXPRESSION_MULTIPLY, again,
            apply(m, EXPRESSION_CDIV, number(m, s->alike[a].whole), make(m, s->alike[a].name)));
    int parts = apply(m, EXPRESSION_MULTIPLY, bytes, number(m, s->missed_parts));
    int each = apply(m, EXPRESSION_MULTIPLY, again, number(m, (int64_t)MISS_PARTS * MISS_GRAIN));
    int missed = apply(m, EXPRESSION_MULTIPLY, apply(m, EXPRESSION_DIVIDE, parts, each),
                       number(m, MISS_GRAIN));
    if (s->missed_parts == MISS_PARTS)
        missed = choose(m, apply(m, EXPRESSION_EQUAL, again, number(m, 1)), bytes, missed);
    int share = s->share == SHARE_MISSES ? missed : apply(m, EXPRESSION_SUBTRACT, bytes, missed);
    m->cells->steps[step].all = bytes;
    numbers[0] = share;
    if (s->bursts)
        numbers[1] = apply(
            m, EXPRESSION_CDIV, share,
            apply(m, EXPRESSION_CDIV, bytes, apply(m, EXPRESSION_MAX, numbers[1], number(m, 1))));
}

/* Both parts hold equally many elements, and one of them is a tile's; both have room on the chip.
 */
static void move_numbers(struct cell_maker *m, int step, int numbers[CELL_NUMBERS])
{
    const struct plan_step *text = &m->plan->steps[step];
    const struct plan_part *part = &text->parts[text->parts[0].tile < 0];
    bool with_room = !is_outside(m->plan, &text->parts[0]) && !is_outside(m->plan, &text->parts[1]);
    int elements = part_product(m, step, part, 0, part->dim_count, with_room);
    if (with_room)
        elements = apply(m, EXPRESSION_MIN, elements,
                         part_product(m, step, part + 1, 0, part[1].dim_count, true));
    numbers[0] = apply(m, EXPRESSION_MULTIPLY, elements, number(m, dtype_bytes(text->type)));
    m->life = text->around;
    numbers[1] = text->bursts ? make(m, text->bursts) : number(m, 0);
    numbers[2] = text->align ? make(m, text->align) : number(m, 0);
    if (text->share)
        share_numbers(m, step, numbers);
}

static void matrix_numbers(struct cell_maker *m, int step, int numbers[CELL_NUMBERS])
{
    const struct plan_part *to = &m->plan->steps[step].parts[0], *left = to + 1;
    numbers[0] = part_product(m, step, to, 0, to->dim_count - 1, false);
    numbers[1] = part_product(m, step, left, left->dim_count - 1, left->dim_count, false);
    numbers[2] = part_product(m, step, to, to->dim_count - 1, to->dim_count, false);
}

static void vector_numbers(struct cell_maker *m, int step, int numbers[CELL_NUMBERS])
{
    const struct plan_step *text = &m->plan->steps[step];
    bool folds = m->plan->hw->operations[text->what].result == RESULT_ONE_PER_REPEAT;
    const struct plan_part *part = &text->parts[folds && text->parts[1].tile >= 0];
    if (text->text->keys[STEP_ELEMENTS])
        numbers[0] = key_or(m, step, STEP_ELEMENTS, CELL_NONE);
    else
        numbers[0] = elements_of(m, step, part);
}

static void scalar_numbers(struct cell_maker *m, int step, int numbers[CELL_NUMBERS])
{
    numbers[0] = key_or(m, step, STEP_COUNT, number(m, 1));
}

static void make_step(struct cell_maker *m, int number_of)
{
    static void (*const makes[])(struct cell_maker *, int, int[CELL_NUMBERS]) = {
        [INSTRUCTION_MOVE] = move_numbers,
        [INSTRUCTION_MATRIX] = matrix_numbers,
        [INSTRUCTION_VECTOR] = vector_numbers,
        [INSTRUCTION_SCALAR] = scalar_numbers,
    };
    const struct plan_step *text = &m->plan->steps[number_of];
    struct cell_step *step = &m->cells->steps[number_of];
    *step = (struct cell_step){.numbers = {CELL_NONE, CELL_NONE, CELL_NONE},
                               .condition = CELL_NONE,
                               .all = CELL_NONE,
                               .all_runs = CELL_NONE,
                               .depth = m->plan->loops[text->around].depth};
    for (int loop = text->around, l = step->depth; loop > 0; loop = m->plan->loops[loop].around)
        step->loops[--l] = loop;
    makes[text->kind](m, number_of, step->numbers);
    m->life = text->around;
    if (text->condition)
        step->condition = make(m, text->condition);
    if (text->share) { /* where it has something to load */
        step->all_runs = step->condition;
        int none = number(m, 0), any = apply(m, EXPRESSION_LESS, none, step->numbers[0]);
        step->condition = step->condition < 0 ? any : choose(m, step->condition, any, none);
    }
}

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
    const int others[] = {step->condition, step->all, step->all_runs};
    for (int i = 0; i < 3; i++)
        if (others[i] >= 0)
            needed[others[i]] = true;
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

/* Gathers what a step needs, level by level; false: too much. */
static bool list(struct kernel_cells *cells, int number)
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

/* ------------------------------------------------------------------ all of it */

static bool allocate(struct kernel_cells *cells)
{
    cells->cells = calloc(CELLS_MAX, sizeof *cells->cells);
    cells->listed = calloc(CELLS_MAX_LISTED, sizeof *cells->listed);
    cells->given = calloc(CELLS_MAX, sizeof *cells->given);
    return cells->cells && cells->listed && cells->given;
}

/* Most kernels need a small part of the room; where there is none for a smaller copy it stays. */
static void *shrink(void *items, int count, size_t size)
{
    void *smaller = realloc(items, (size_t)(count + 1) * size);
    if (!smaller)
        return items;
    return smaller;
}

void kernel_cells_clear(struct kernel_cells *cells)
{
    free(cells->cells);
    free(cells->listed);
    free(cells->given);
    memset(cells, 0, sizeof *cells);
}

static enum status make_all(struct cell_maker *m, struct error *error)
{
    for (int loop = 1; loop < m->plan->loop_count; loop++)
        make_loop(m, loop);
    for (int step = 0; step < m->plan->step_count; step++)
        make_step(m, step);
    if (m->is_real)
        return error_set(error, STATUS_INVALID,
                         "a real number that depends on rounds, expected a whole one");
    bool fits = !m->is_full;
    for (int step = 0; fits && step < m->plan->step_count; step++)
        fits = list(m->cells, step);
    return fits ? STATUS_OK
                : error_set(error, STATUS_TOO_LARGE, "more than %d numbers in a kernel", CELLS_MAX);
}

enum status kernel_cells_make(const struct kernel_plan *plan, struct kernel_cells *cells,
                              struct error *error)
{
    struct cell_maker maker = {.plan = plan, .cells = cells};
    memset(cells, 0, sizeof *cells);
    memset(cells->loops, CELL_NONE, sizeof cells->loops);
    cells->plan = plan;
    enum status status = allocate(cells) ? make_all(&maker, error) : error_memory(error);
    if (status != STATUS_OK) {
        kernel_cells_clear(cells);
        return status;
    }
    cells->cells = shrink(cells->cells, cells->count, sizeof *cells->cells);
    cells->listed = shrink(cells->listed, cells->listed_count, sizeof *cells->listed);
    cells->given = shrink(cells->given, cells->given_count, sizeof *cells->given);
    return STATUS_OK;
}
