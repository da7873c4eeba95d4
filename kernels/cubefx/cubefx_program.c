/* Cube-fx as a program for one core (Tang 2024, Alg. 7, 4.2.3 and 4.3).
 *
 * A tile's logarithms go GM→UB→L1→L0A and stay there while its steps run. Each group of steps has
 * two stages. Stage 1: logarithms × Sequence Matrices, L0C→UB, exp, UB→L1. Stage 2: powers L1→L0A,
 * × coefficients, L0C→UB→GM. Stage 1 of a group stands before stage 2 of the group before it, also
 * from tile to tile, so that matrix unit, vector unit and moves work on different groups; what they
 * hand on has two places, which groups take in turn (the phase). L0A holds one group's powers: the
 * matrix unit is done with them long before the vector unit has the next. The next tile's
 * logarithms are computed after a tile's first group.
 *
 * Every place has two flags that go to and fro between the pipe that fills it and the pipe that
 * empties it ("full" and "free"); free flags are set once before everything and waited for once
 * after it, so that no register is ever set twice.
 *
 * Loops stay loops. Where a body changes the phase, the loop runs over pairs of bodies. */
#include "kernels/cubefx/cubefx.h"
#include "kernels/emit.h"

/* Registers; a phase is added to those of places that alternate. */
enum {
    FLAG_INPUT = 0,                     /* mte2 and vector; vector and mte3; mte3 and mte2 */
    FLAG_POWERS = 1,                    /* vector→mte3 and mte3, mte1: 1, 2 */
    FLAG_RESULTS = 3,                   /* vector→mte3: 3, 4 */
    FLAG_SEQUENCES = 0,                 /* mte2→mte1 */
    FLAG_COEFFICIENTS = 1,              /* mte2→mte1 */
    FLAG_FED_LN = 0,                    /* mte1 and matrix */
    FLAG_FED_POWERS = 1,                /* mte1 and matrix */
    FLAG_FED_SEQUENCES = 2,             /* mte1 and matrix: 2, 3 */
    FLAG_L0C_POWERS = 0,                /* matrix and vector: 0, 1 */
    FLAG_L0C_RESULTS = 2,               /* matrix and vector: 2, 3 */
    FLAG_UB_POWERS = FLAG_L0C_POWERS,   /* mte3→vector: 0, 1 */
    FLAG_UB_RESULTS = FLAG_L0C_RESULTS, /* mte3→vector: 2, 3 */
};

/* Where things begin, bytes; [phase] where they alternate. */
struct places {
    int64_t l1_coefficients, l1_ln, l1_powers[2]; /* Sequence Matrices at 0 */
    int64_t l0a_powers;                           /* logarithms at 0 */
    int64_t l0b_sequences[2];                     /* coefficients at 0 */
    int64_t l0c_powers[2], l0c_results[2];
    int64_t ub_powers[2], ub_results[2]; /* inputs at 0 */
};

/* A group of steps on its way. */
struct group {
    int64_t rows, steps;
    int phase;
    int64_t first_step;   /* of a tile … */
    int64_t steps_a_turn; /* … and how many further with each turn of the loop around it */
};

struct cubefx_emitter {
    struct emitter emit; /* first */
    const struct cubefx_machine *machine;
    struct cubefx_plan plan;
    struct places at;
    int phase;
    bool pending; /* a group has yet to go through stage 2 */
    struct group before;
    int64_t rows, next_rows; /* of the tile at hand, and of the one after it; 0: none */
};

static void move(struct cubefx_emitter *w, enum cubefx_move move, int64_t elements)
{
    const struct cubefx_machine *m = w->machine;
    bool drain = move == CUBEFX_DRAIN;
    emit_move(&w->emit, m->path[move], elements * (drain ? m->accumulator_bytes : m->type_bytes),
              drain ? m->accumulator : m->type, m->type);
}

static void from_to(struct cubefx_emitter *w, int source, int64_t from, int destination, int64_t to)
{
    emit_operand(&w->emit, OPERAND_SRC, source, from);
    emit_operand(&w->emit, OPERAND_DST, destination, to);
}

/* Inputs of one tile to logarithms in L1. */
static void load_inputs(struct cubefx_emitter *w, int64_t rows)
{
    const struct cubefx_machine *m = w->machine;
    emit_wait(&w->emit, m->mte3, m->mte2, FLAG_INPUT);
    move(w, CUBEFX_LOAD, rows * m->block);
    emit_operand(&w->emit, OPERAND_DST, m->ub, 0);
    emit_set(&w->emit, m->mte2, m->vector, FLAG_INPUT);
}

static void take_logarithms(struct cubefx_emitter *w, int64_t rows)
{
    const struct cubefx_machine *m = w->machine;
    emit_wait(&w->emit, m->mte2, m->vector, FLAG_INPUT);
    emit_vector(&w->emit, m->ln, m->type, rows * m->block);
    from_to(w, m->ub, 0, m->ub, 0);
    emit_set(&w->emit, m->vector, m->mte3, FLAG_INPUT);
    emit_wait(&w->emit, m->vector, m->mte3, FLAG_INPUT);
    emit_wait(&w->emit, m->mte1, m->mte3, FLAG_INPUT);
    move(w, CUBEFX_TO_L1, rows * m->block);
    from_to(w, m->ub, 0, m->l1, w->at.l1_ln);
    emit_set(&w->emit, m->mte3, m->mte2, FLAG_INPUT);
    emit_set(&w->emit, m->mte3, m->mte1, FLAG_INPUT);
}

static void feed_logarithms(struct cubefx_emitter *w)
{
    const struct cubefx_machine *m = w->machine;
    emit_wait(&w->emit, m->mte3, m->mte1, FLAG_INPUT);
    emit_wait(&w->emit, m->matrix, m->mte1, FLAG_FED_LN);
    move(w, CUBEFX_FEED_A, w->rows * m->block);
    from_to(w, m->l1, w->at.l1_ln, m->l0a, 0);
    emit_set(&w->emit, m->mte1, m->mte3, FLAG_INPUT);
    emit_set(&w->emit, m->mte1, m->matrix, FLAG_FED_LN);
}

/* An operand that moves on by `bytes` a step, in a group whose first step moves on by turns: loops
 * over groups are around those over steps. */
static void operand_of_steps(struct cubefx_emitter *w, enum operand_role role, int buffer,
                             int64_t offset, const struct group *group, int64_t bytes)
{
    int innermost = w->emit.depth - 1;
    struct region region = {.role = (uint8_t)role,
                            .buffer = (int8_t)buffer,
                            .offset_bytes = offset + group->first_step * bytes};
    if (group->steps_a_turn)
        region.loop_stride_bytes[innermost - (group->steps > 1)] = group->steps_a_turn * bytes;
    if (group->steps > 1)
        region.loop_stride_bytes[innermost] = bytes;
    emit_region(&w->emit, &region);
}

static void feed_sequences(struct cubefx_emitter *w, const struct group *group)
{
    const struct cubefx_machine *m = w->machine;
    struct group whole = *group;
    whole.steps = 1;
    emit_wait(&w->emit, m->matrix, m->mte1, FLAG_FED_SEQUENCES + group->phase);
    emit_move(&w->emit, m->path[CUBEFX_FEED_B], group->steps * w->plan.sequence_bytes, m->type,
              m->type);
    operand_of_steps(w, OPERAND_SRC, m->l1, 0, &whole, w->plan.sequence_bytes);
    emit_operand(&w->emit, OPERAND_DST, m->l0b, w->at.l0b_sequences[group->phase]);
    emit_set(&w->emit, m->mte1, m->matrix, FLAG_FED_SEQUENCES + group->phase);
}

/* Stage 1's products of a group. Sequence Matrices that are fed for the group stand from 0 on. */
static void multiply_sequences(struct cubefx_emitter *w, const struct group *group)
{
    const struct cubefx_machine *m = w->machine;
    bool stay = w->plan.sequences_stay, looped = group->steps > 1;
    struct group from_zero = {.steps = group->steps};
    if (looped)
        emit_loop(&w->emit, "step", group->steps);
    emit_matrix(&w->emit, m->type, group->rows, m->block, w->plan.powers, false);
    emit_operand(&w->emit, OPERAND_A, m->l0a, 0);
    operand_of_steps(w, OPERAND_B, m->l0b, w->at.l0b_sequences[stay ? 0 : group->phase],
                     stay ? group : &from_zero, w->plan.sequence_bytes);
    emit_operand_in_loop(&w->emit, OPERAND_DST, m->l0c, w->at.l0c_powers[group->phase],
                         looped ? group->rows * w->plan.powers * m->accumulator_bytes : 0);
    if (looped)
        emit_end(&w->emit);
}

static void drain(struct cubefx_emitter *w, int64_t elements, int reg, int64_t l0c, int64_t ub)
{
    const struct cubefx_machine *m = w->machine;
    emit_wait(&w->emit, m->matrix, m->vector, reg);
    emit_wait(&w->emit, m->mte3, m->vector, reg);
    move(w, CUBEFX_DRAIN, elements);
    from_to(w, m->l0c, l0c, m->ub, ub);
    emit_set(&w->emit, m->vector, m->matrix, reg);
}

/* Logarithms in L0A to powers in L1. `first` and `last` of a tile hold on to its logarithms. */
static void stage_1(struct cubefx_emitter *w, const struct group *group, bool first, bool last)
{
    const struct cubefx_machine *m = w->machine;
    int p = group->phase;
    int64_t elements = group->rows * group->steps * w->plan.powers;
    if (!w->plan.sequences_stay)
        feed_sequences(w, group);
    if (first)
        emit_wait(&w->emit, m->mte1, m->matrix, FLAG_FED_LN);
    if (!w->plan.sequences_stay)
        emit_wait(&w->emit, m->mte1, m->matrix, FLAG_FED_SEQUENCES + p);
    emit_wait(&w->emit, m->vector, m->matrix, FLAG_L0C_POWERS + p);
    multiply_sequences(w, group);
    emit_set(&w->emit, m->matrix, m->vector, FLAG_L0C_POWERS + p);
    if (!w->plan.sequences_stay)
        emit_set(&w->emit, m->matrix, m->mte1, FLAG_FED_SEQUENCES + p);
    if (last)
        emit_set(&w->emit, m->matrix, m->mte1, FLAG_FED_LN);
    drain(w, elements, FLAG_L0C_POWERS + p, w->at.l0c_powers[p], w->at.ub_powers[p]);
    emit_vector(&w->emit, m->exp, m->type, elements);
    from_to(w, m->ub, w->at.ub_powers[p], m->ub, w->at.ub_powers[p]);
    emit_set(&w->emit, m->vector, m->mte3, FLAG_POWERS + p);
    emit_wait(&w->emit, m->vector, m->mte3, FLAG_POWERS + p);
    emit_wait(&w->emit, m->mte1, m->mte3, FLAG_POWERS + p);
    move(w, CUBEFX_TO_L1, elements);
    from_to(w, m->ub, w->at.ub_powers[p], m->l1, w->at.l1_powers[p]);
    emit_set(&w->emit, m->mte3, m->vector, FLAG_UB_POWERS + p);
    emit_set(&w->emit, m->mte3, m->mte1, FLAG_POWERS + p);
}

static void multiply_coefficients(struct cubefx_emitter *w, const struct group *group)
{
    const struct cubefx_machine *m = w->machine;
    bool looped = group->steps > 1;
    if (looped)
        emit_loop(&w->emit, "step", group->steps);
    emit_matrix(&w->emit, m->type, group->rows, w->plan.powers, w->plan.outputs, false);
    emit_operand_in_loop(&w->emit, OPERAND_A, m->l0a, w->at.l0a_powers,
                         looped ? group->rows * w->plan.powers * m->type_bytes : 0);
    emit_operand(&w->emit, OPERAND_B, m->l0b, 0);
    emit_operand_in_loop(&w->emit, OPERAND_DST, m->l0c, w->at.l0c_results[group->phase],
                         looped ? group->rows * w->plan.outputs * m->accumulator_bytes : 0);
    if (looped)
        emit_end(&w->emit);
}

/* Powers in L1 to results in global memory. */
static void stage_2(struct cubefx_emitter *w, const struct group *group)
{
    const struct cubefx_machine *m = w->machine;
    int p = group->phase;
    int64_t places = group->rows * group->steps, results = places * w->plan.outputs;
    emit_wait(&w->emit, m->mte3, m->mte1, FLAG_POWERS + p);
    emit_wait(&w->emit, m->matrix, m->mte1, FLAG_FED_POWERS);
    move(w, CUBEFX_FEED_A, places * w->plan.powers);
    from_to(w, m->l1, w->at.l1_powers[p], m->l0a, w->at.l0a_powers);
    emit_set(&w->emit, m->mte1, m->mte3, FLAG_POWERS + p);
    emit_set(&w->emit, m->mte1, m->matrix, FLAG_FED_POWERS);
    emit_wait(&w->emit, m->mte1, m->matrix, FLAG_FED_POWERS);
    emit_wait(&w->emit, m->vector, m->matrix, FLAG_L0C_RESULTS + p);
    multiply_coefficients(w, group);
    emit_set(&w->emit, m->matrix, m->mte1, FLAG_FED_POWERS);
    emit_set(&w->emit, m->matrix, m->vector, FLAG_L0C_RESULTS + p);
    drain(w, results, FLAG_L0C_RESULTS + p, w->at.l0c_results[p], w->at.ub_results[p]);
    emit_set(&w->emit, m->vector, m->mte3, FLAG_RESULTS + p);
    emit_wait(&w->emit, m->vector, m->mte3, FLAG_RESULTS + p);
    move(w, CUBEFX_STORE, results);
    emit_operand(&w->emit, OPERAND_SRC, m->ub, w->at.ub_results[p]);
    emit_set(&w->emit, m->mte3, m->vector, FLAG_UB_RESULTS + p);
}

/* Stage 1 of group number `number` of a tile, and stage 2 of the one before it. */
static void emit_group(struct cubefx_emitter *w, int64_t number, int64_t steps,
                       int64_t groups_a_turn)
{
    struct group group = {.rows = w->rows,
                          .steps = steps,
                          .phase = w->phase,
                          .first_step = number * w->plan.groups.slice,
                          .steps_a_turn = groups_a_turn * w->plan.groups.slice};
    stage_1(w, &group, number == 0, number == w->plan.groups.count - 1);
    if (w->pending)
        stage_2(w, &w->before);
    w->pending = true;
    w->before = group;
    w->phase ^= 1;
}

static void emit_tile(struct cubefx_emitter *w)
{
    const struct tiles *groups = &w->plan.groups;
    int64_t middle = groups->count - 2, pairs = middle / 2 > 1 ? middle / 2 : 0, g = 1;
    feed_logarithms(w);
    emit_group(w, 0, groups->count == 1 ? groups->last : groups->slice, 0);
    if (w->next_rows) {
        load_inputs(w, w->next_rows);
        take_logarithms(w, w->next_rows);
    }
    if (pairs) {
        emit_loop(&w->emit, "group", pairs);
        emit_group(w, 1, groups->slice, 2);
        emit_group(w, 2, groups->slice, 2);
        emit_end(&w->emit);
        g += 2 * pairs;
    }
    for (; g < groups->count - 1; g++)
        emit_group(w, g, groups->slice, 0);
    if (groups->count > 1)
        emit_group(w, groups->count - 1, groups->last, 0);
}

/* All tiles but the first: it has no group before it. */
static void emit_tiles(struct cubefx_emitter *w)
{
    const struct tiles *tiles = &w->plan.tiles;
    int64_t pair = w->plan.groups.count % 2 ? 2 : 1, ragged = tiles->last != tiles->slice;
    int64_t alike = tiles->count - 2 - ragged; /* followed by a full tile */
    int64_t turns = alike / pair > 1 ? alike / pair : 0, done = 1;
    w->rows = w->next_rows = w->plan.rows;
    if (turns) {
        emit_loop(&w->emit, "tile", turns);
        for (int64_t u = 0; u < pair; u++)
            emit_tile(w);
        emit_end(&w->emit);
        done += turns * pair;
    }
    for (; done < tiles->count; done++) {
        int64_t left = tiles->count - 1 - done;
        w->rows = left ? w->plan.rows : w->plan.last_rows;
        w->next_rows = left > 1 ? w->plan.rows : left ? w->plan.last_rows : 0;
        emit_tile(w);
    }
}

/* Every "free" flag: set before everything, waited for after it. */
static void each_free_flag(struct cubefx_emitter *w, void (*act)(struct emitter *, int, int, int))
{
    const struct cubefx_machine *m = w->machine;
    act(&w->emit, m->mte3, m->mte2, FLAG_INPUT);
    act(&w->emit, m->mte1, m->mte3, FLAG_INPUT);
    act(&w->emit, m->matrix, m->mte1, FLAG_FED_LN);
    act(&w->emit, m->matrix, m->mte1, FLAG_FED_POWERS);
    for (int p = 0; p < w->plan.copies; p++) {
        act(&w->emit, m->mte1, m->mte3, FLAG_POWERS + p);
        act(&w->emit, m->vector, m->matrix, FLAG_L0C_POWERS + p);
        act(&w->emit, m->vector, m->matrix, FLAG_L0C_RESULTS + p);
        act(&w->emit, m->mte3, m->vector, FLAG_UB_POWERS + p);
        act(&w->emit, m->mte3, m->vector, FLAG_UB_RESULTS + p);
        if (!w->plan.sequences_stay)
            act(&w->emit, m->matrix, m->mte1, FLAG_FED_SEQUENCES + p);
    }
}

/* The constant matrices to L1, behind the first tile's inputs. */
static void load_constants(struct cubefx_emitter *w)
{
    const struct cubefx_machine *m = w->machine;
    const int64_t bytes[] = {w->plan.steps * w->plan.sequence_bytes, w->plan.coefficient_bytes};
    const int64_t places[] = {0, w->at.l1_coefficients};
    for (int i = 0; i < 2; i++) {
        emit_move(&w->emit, m->path[CUBEFX_LOAD_B], bytes[i], m->type, m->type);
        emit_operand(&w->emit, OPERAND_DST, m->l1, places[i]);
        emit_set(&w->emit, m->mte2, m->mte1, i == 0 ? FLAG_SEQUENCES : FLAG_COEFFICIENTS);
    }
}

/* Constant matrices to L0B, those of stage 1 where all of them stay there. */
static void feed_constants(struct cubefx_emitter *w)
{
    const struct cubefx_machine *m = w->machine;
    emit_wait(&w->emit, m->mte2, m->mte1, FLAG_SEQUENCES);
    if (w->plan.sequences_stay) {
        emit_move(&w->emit, m->path[CUBEFX_FEED_B], w->plan.steps * w->plan.sequence_bytes, m->type,
                  m->type);
        from_to(w, m->l1, 0, m->l0b, w->at.l0b_sequences[0]);
    }
    emit_wait(&w->emit, m->mte2, m->mte1, FLAG_COEFFICIENTS);
    emit_move(&w->emit, m->path[CUBEFX_FEED_B], w->plan.coefficient_bytes, m->type, m->type);
    from_to(w, m->l1, w->at.l1_coefficients, m->l0b, 0);
}

static void lay_out(struct cubefx_emitter *w)
{
    const struct cubefx_plan *plan = &w->plan;
    struct places *at = &w->at;
    int64_t type = w->machine->type_bytes, accumulator = w->machine->accumulator_bytes;
    int64_t first = plan->rows * plan->groups.slice;
    int64_t both = first + (plan->copies > 1 ? plan->second_rows * plan->second_steps : 0);
    at->l1_coefficients = plan->steps * plan->sequence_bytes;
    at->l1_ln = at->l1_coefficients + plan->coefficient_bytes;
    at->l0a_powers = plan->rows * w->machine->block * type;
    for (int p = 0; p < 2; p++) {
        int64_t rows = p * first;
        at->l1_powers[p] = at->l1_ln + at->l0a_powers + rows * plan->powers * type;
        at->l0b_sequences[p] =
            plan->coefficient_bytes + p * plan->groups.slice * plan->sequence_bytes;
        at->l0c_powers[p] = rows * plan->powers * accumulator;
        at->l0c_results[p] = (both * plan->powers + rows * plan->outputs) * accumulator;
        at->ub_powers[p] = at->l0a_powers + rows * plan->powers * type;
        at->ub_results[p] = at->l0a_powers + (both * plan->powers + rows * plan->outputs) * type;
    }
}

enum status cubefx_program(const struct cubefx_machine *machine, const struct cubefx_share *share,
                           const struct tiling *tiling, struct program *program,
                           struct error *error)
{
    struct cubefx_emitter w = {.machine = machine, .emit = {.program = program, .error = error}};
    cubefx_plan(machine, share, tiling, &w.plan);
    const struct tiles *tiles = &w.plan.tiles;
    lay_out(&w);
    each_free_flag(&w, emit_set);
    w.rows = w.plan.rows;
    w.next_rows = tiles->count > 2 ? w.plan.rows : tiles->count == 2 ? w.plan.last_rows : 0;
    load_inputs(&w, w.rows);
    load_constants(&w);
    take_logarithms(&w, w.rows);
    feed_constants(&w);
    emit_tile(&w);
    if (tiles->count > 1)
        emit_tiles(&w);
    stage_2(&w, &w.before);
    each_free_flag(&w, emit_wait);
    return emit_close(&w.emit);
}
