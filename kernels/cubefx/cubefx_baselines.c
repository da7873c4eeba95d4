/* Polynomials on the vector unit alone, for comparison with Cube-fx (Tang 2024, 4.1.1 and 4.4.2).
 *
 * All evaluate polynomials of `order` terms, powers 0 … order − 1, as Cube-fx does with that many
 * columns. A tile of inputs is loaded once for all functions; each function is computed on its own
 * and shares nothing with the others but the input. Loads and stores are double-buffered, so that
 * they overlap with computation. An operation of a vector with a scalar coefficient is written as
 * the one of two vectors: the descriptions have one price for both. */
#include "kernels/cubefx/cubefx.h"
#include "kernels/emit.h"

const char *const cubefx_baseline_names[CUBEFX_BASELINES] = {
    [CUBEFX_NAIVE_TAYLOR] = "naive", [CUBEFX_HORNER] = "horner", [CUBEFX_ESTRIN] = "estrin",
    [CUBEFX_MOTZKIN] = "motzkin",    [CUBEFX_CORDIC] = "cordic",
};

enum verb { MULTIPLY, ADD, SUBTRACT, DUPLICATE, COMPARE, SELECT, VERBS };

/* Arrays of a tile in UB: two of inputs, two of results, then what a method needs. */
enum { INPUT, RESULT = 2, TEMPORARY = 4 };

struct vector_machine {
    const struct hardware *hw;
    enum dtype type;
    int ub, load, store;    /* paths */
    int mte2, vector, mte3; /* pipes */
    int operation[VERBS];
};

struct baseline_emitter {
    struct emitter emit; /* first */
    const struct vector_machine *machine;
    enum cubefx_baseline baseline;
    int64_t order, functions, window;
    int64_t tile, elements; /* of UB's arrays, and of the tile at hand */
    int input_phase, result_phase;
    int arrays; /* behind which sums over windows stand */
};

static int64_t offset(const struct baseline_emitter *w, int array)
{
    return array * w->tile * dtype_bytes(w->machine->type);
}

enum { SCALAR = -1 };

/* Bytes of UB; a or b < 0: a scalar, or none. */
static void compute_at(struct baseline_emitter *w, enum verb verb, int64_t elements, int64_t target,
                       int64_t a, int64_t b)
{
    const struct vector_machine *m = w->machine;
    emit_vector(&w->emit, m->operation[verb], m->type, elements);
    if (a >= 0)
        emit_operand(&w->emit, OPERAND_SRC, m->ub, a);
    if (b >= 0)
        emit_operand(&w->emit, OPERAND_SRC2, m->ub, b);
    emit_operand(&w->emit, OPERAND_DST, m->ub, target);
}

/* target = a (verb) b, arrays of UB. */
static void compute(struct baseline_emitter *w, enum verb verb, int target, int a, int b)
{
    compute_at(w, verb, w->elements, offset(w, target), a < 0 ? SCALAR : offset(w, a),
               b < 0 ? SCALAR : offset(w, b));
}

/* A power, a term and a sum for each term after the constant; powers are not kept. */
static void naive(struct baseline_emitter *w, int x, int sum)
{
    int power = TEMPORARY, term = TEMPORARY + 1;
    compute(w, DUPLICATE, power, SCALAR, SCALAR);
    compute(w, DUPLICATE, sum, SCALAR, SCALAR);
    for (int64_t i = 1; i < w->order; i++) {
        compute(w, MULTIPLY, power, power, x);
        compute(w, MULTIPLY, term, power, SCALAR);
        compute(w, ADD, sum, sum, term);
    }
}

/* A multiplication and an addition for each term after the first. */
static void horner(struct baseline_emitter *w, int x, int sum)
{
    if (w->order == 1)
        compute(w, DUPLICATE, sum, SCALAR, SCALAR);
    for (int64_t i = 1; i < w->order; i++) {
        compute(w, MULTIPLY, sum, i == 1 ? x : sum, i == 1 ? SCALAR : x);
        compute(w, ADD, sum, sum, SCALAR);
    }
}

/* Levels above pairs: x^2, x^4, … are squared once for each. */
static int estrin_levels(int64_t order)
{
    int levels = 0;
    while (order > INT64_C(2) << levels)
        levels++;
    return levels;
}

/* Terms [first, first + 2·2^level) into `target`; arrays from `unused` on are free. */
static void estrin_part(struct baseline_emitter *w, int x, int powers, int target, int unused,
                        int64_t first, int level)
{
    if (level <= 0 && first + 1 == w->order) {
        compute(w, DUPLICATE, target, SCALAR, SCALAR);
        return;
    }
    if (level <= 0) {
        compute(w, MULTIPLY, target, x, SCALAR);
        compute(w, ADD, target, target, SCALAR);
        return;
    }
    int64_t half = INT64_C(1) << level;
    estrin_part(w, x, powers, target, unused, first, level - 1);
    if (first + half < w->order) {
        estrin_part(w, x, powers, unused, unused + 1, first + half, level - 1);
        compute(w, MULTIPLY, unused, unused, powers + level - 1);
        compute(w, ADD, target, target, unused);
    }
}

static void estrin(struct baseline_emitter *w, int x, int sum)
{
    int levels = estrin_levels(w->order), powers = TEMPORARY;
    for (int l = 0; l < levels; l++) {
        int base = l ? powers + l - 1 : x;
        compute(w, MULTIPLY, powers + l, base, base);
    }
    estrin_part(w, x, powers, sum, powers + levels, 0, levels);
}

/* A monic polynomial of degree 4 with preprocessed coefficients in two multiplications and five
 * additions: y = (x + a)·x + b, (y + x + c)·y + d. Sub-polynomials of four terms are made monic by
 * their neighbour's constant; the topmost needs its leading coefficient. They are combined after
 * Horner in x^4. */
static void motzkin_part(struct baseline_emitter *w, int x, int target)
{
    int y = TEMPORARY;
    compute(w, ADD, y, x, SCALAR);
    compute(w, MULTIPLY, y, y, x);
    compute(w, ADD, y, y, SCALAR);
    compute(w, ADD, target, y, x);
    compute(w, ADD, target, target, SCALAR);
    compute(w, MULTIPLY, target, target, y);
    compute(w, ADD, target, target, SCALAR);
}

static void motzkin(struct baseline_emitter *w, int x, int sum)
{
    int part = TEMPORARY + 1, fourth = TEMPORARY + 2;
    int64_t parts = (w->order + 3) / 4;
    if (parts > 1) {
        compute(w, MULTIPLY, fourth, x, x);
        compute(w, MULTIPLY, fourth, fourth, fourth);
    }
    motzkin_part(w, x, sum);
    compute(w, MULTIPLY, sum, sum, SCALAR);
    for (int64_t p = 1; p < parts; p++) {
        motzkin_part(w, x, part);
        compute(w, MULTIPLY, sum, sum, fourth);
        compute(w, ADD, sum, sum, part);
    }
}

/* Rotations of (cosine, sine) towards the angle. An iteration compares the angle left with 0,
 * selects ±2^-i, multiplies both coordinates with it (the shifts), adds and subtracts them, and
 * takes ±atan 2^-i, as a multiple of the selected value, from the angle. */
static void cordic(struct baseline_emitter *w, int x, int sine)
{
    int cosine = TEMPORARY, angle = TEMPORARY + 1, mask = TEMPORARY + 2, step = TEMPORARY + 3,
        product = TEMPORARY + 4, other = TEMPORARY + 5;
    compute(w, DUPLICATE, cosine, SCALAR, SCALAR);
    compute(w, DUPLICATE, sine, SCALAR, SCALAR);
    compute(w, ADD, angle, x, SCALAR);
    for (int64_t i = 0; i < w->order; i++) {
        compute(w, COMPARE, mask, angle, SCALAR);
        compute(w, SELECT, step, mask, SCALAR);
        compute(w, MULTIPLY, product, sine, step);
        compute(w, MULTIPLY, other, cosine, step);
        compute(w, SUBTRACT, cosine, cosine, product);
        compute(w, ADD, sine, sine, other);
        compute(w, MULTIPLY, product, step, SCALAR);
        compute(w, SUBTRACT, angle, angle, product);
    }
}

static void (*const methods[CUBEFX_BASELINES])(struct baseline_emitter *, int x, int result) = {
    [CUBEFX_NAIVE_TAYLOR] = naive, [CUBEFX_HORNER] = horner, [CUBEFX_ESTRIN] = estrin,
    [CUBEFX_MOTZKIN] = motzkin,    [CUBEFX_CORDIC] = cordic,
};

/* Arrays of UB that a method needs. */
static int arrays(const struct cubefx_share *share, enum cubefx_baseline baseline)
{
    const int temporaries[CUBEFX_BASELINES] = {
        [CUBEFX_NAIVE_TAYLOR] = 2,
        [CUBEFX_HORNER] = 0,
        [CUBEFX_ESTRIN] = 2 * estrin_levels(share->order),
        [CUBEFX_MOTZKIN] = 3,
        [CUBEFX_CORDIC] = 6,
    };
    return TEMPORARY + temporaries[baseline];
}

enum { ROW = 16 }; /* inputs that stand side by side */

/* Elements of zeros before and behind what is summed over windows. */
static int64_t rim(int64_t window)
{
    return window > 1 ? (window - 1) * ROW : 0;
}

int64_t cubefx_baseline_tile(const struct hardware *hw, enum dtype type,
                             const struct cubefx_share *share, enum cubefx_baseline baseline)
{
    int64_t repeat = hw->vector_repeat_bytes / dtype_bytes(type);
    int64_t inputs = round_up(share->inputs, repeat);
    int ub = hardware_buffer(hw, "ub", 2);
    int64_t bytes = ub >= 0 ? hw->buffers[ub].capacity_bytes : 0;
    if (bytes == 0)
        return inputs;
    bytes -= 2 * rim(share->window) * dtype_bytes(type);
    int64_t fits = bytes / (arrays(share, baseline) + (share->window > 1)) / dtype_bytes(type) /
                   repeat * repeat;
    return fits < inputs ? fits : inputs;
}

/* What the vector unit does from `source` on, stored; behind `compute` of a function. */
static void emit_store(struct baseline_emitter *w, int64_t source, int64_t elements)
{
    const struct vector_machine *m = w->machine;
    int p = w->result_phase;
    emit_set(&w->emit, m->vector, m->mte3, p);
    emit_wait(&w->emit, m->vector, m->mte3, p);
    emit_move(&w->emit, m->store, elements * dtype_bytes(m->type), m->type, m->type);
    emit_operand(&w->emit, OPERAND_SRC, m->ub, source);
    emit_set(&w->emit, m->mte3, m->vector, p);
    w->result_phase ^= 1;
}

/* One function of the tile at hand. */
static void emit_function(struct baseline_emitter *w)
{
    int p = w->result_phase;
    emit_wait(&w->emit, w->machine->mte3, w->machine->vector, p);
    methods[w->baseline](w, INPUT + w->input_phase, RESULT + p);
    emit_store(w, offset(w, RESULT + p), w->elements);
}

/* The last function with its sums over windows: between rims of zeros, sums of two rows, of two
 * such sums, …; what reaches beyond the tile is added to the windows of its neighbours. There is
 * one place for the sums, so the store before has to be over. */
static void emit_windows(struct baseline_emitter *w)
{
    const struct vector_machine *m = w->machine;
    int64_t row = (int64_t)ROW * dtype_bytes(m->type), bytes = w->elements * dtype_bytes(m->type);
    int64_t begin = offset(w, w->arrays), zeros = rim(w->window);
    int64_t inside = begin + zeros * dtype_bytes(m->type);
    int p = w->result_phase;
    emit_wait(&w->emit, m->mte3, m->vector, p);
    emit_wait(&w->emit, m->mte3, m->vector, p ^ 1);
    methods[w->baseline](w, INPUT + w->input_phase, RESULT + p);
    compute_at(w, DUPLICATE, zeros, begin, SCALAR, SCALAR);
    compute_at(w, DUPLICATE, zeros, inside + bytes, SCALAR, SCALAR);
    compute_at(w, ADD, w->elements, inside, offset(w, RESULT + p), SCALAR);
    for (int64_t rows = 1; rows < w->window; rows *= 2)
        compute_at(w, ADD, w->elements + 2 * zeros - (2 * rows - 1) * ROW, begin, begin,
                   begin + rows * row);
    emit_set(&w->emit, m->mte3, m->vector, p ^ 1);
    emit_store(w, begin, w->elements + zeros);
}

/* `count` bodies, as a loop over pairs where that is shorter: each changes a phase. */
static void repeat(struct baseline_emitter *w, const char *name, int64_t count,
                   void (*body)(struct baseline_emitter *))
{
    int64_t pairs = count / 2 > 1 ? count / 2 : 0;
    if (pairs) {
        emit_loop(&w->emit, name, pairs);
        body(w);
        body(w);
        emit_end(&w->emit);
    }
    for (int64_t i = 2 * pairs; i < count; i++)
        body(w);
}

static void emit_tile(struct baseline_emitter *w)
{
    const struct vector_machine *m = w->machine;
    int p = w->input_phase;
    emit_wait(&w->emit, m->vector, m->mte2, p);
    emit_move(&w->emit, m->load, w->elements * dtype_bytes(m->type), m->type, m->type);
    emit_operand(&w->emit, OPERAND_DST, m->ub, offset(w, INPUT + p));
    emit_set(&w->emit, m->mte2, m->vector, p);
    emit_wait(&w->emit, m->mte2, m->vector, p);
    repeat(w, "function", w->functions - (w->window > 1), emit_function);
    if (w->window > 1)
        emit_windows(w);
    emit_set(&w->emit, m->vector, m->mte2, p);
    w->input_phase ^= 1;
}

static void each_free_flag(struct baseline_emitter *w, void (*act)(struct emitter *, int, int, int))
{
    const struct vector_machine *m = w->machine;
    for (int p = 0; p < 2; p++) {
        act(&w->emit, m->vector, m->mte2, p);
        act(&w->emit, m->mte3, m->vector, p);
    }
}

static enum status find_vector_machine(const struct hardware *hw, enum dtype type,
                                       struct vector_machine *m, struct error *error)
{
    static const char *const names[VERBS] = {
        [MULTIPLY] = "vmul",    [ADD] = "vadd",       [SUBTRACT] = "vsub",
        [DUPLICATE] = "vecDup", [COMPARE] = "vecCmp", [SELECT] = "vecSel",
    };
    static const char who[] = "a polynomial by vectors";
    int gm;
    *m = (struct vector_machine){.hw = hw, .type = type};
    const struct chip_buffer buffers[] = {{"gm", &gm}, {"ub", &m->ub}, {NULL, NULL}};
    TRY(machine_buffers(hw, who, buffers, error));
    const struct chip_path paths[] = {
        {gm, m->ub, type, type, &m->load, NULL, &m->mte2},
        {m->ub, gm, type, type, &m->store, NULL, &m->mte3},
        {.path = NULL},
    };
    TRY(machine_paths(hw, who, paths, error));
    for (int i = 0; i < VERBS; i++)
        TRY(machine_operation(hw, who, names[i], &m->operation[i], error));
    m->vector = hw->prices[hw->operations[m->operation[MULTIPLY]].price].pipe;
    const int pipes[] = {m->mte2, m->vector, m->mte3};
    return machine_pipes_differ(hw, who, "load, compute and store", pipes, 3, error);
}

enum status cubefx_baseline_program(const struct hardware *hw, enum dtype type,
                                    const struct cubefx_share *share, int64_t tile,
                                    enum cubefx_baseline baseline, struct program *program,
                                    struct error *error)
{
    struct vector_machine machine;
    TRY(find_vector_machine(hw, type, &machine, error));
    struct tiles tiles = tiles_of(share->inputs, tile);
    int64_t ragged = tiles.last != tiles.slice;
    struct baseline_emitter w = {.emit = {.program = program, .error = error},
                                 .machine = &machine,
                                 .baseline = baseline,
                                 .order = share->order,
                                 .functions = share->functions,
                                 .window = share->window,
                                 .arrays = arrays(share, baseline),
                                 .tile = tile,
                                 .elements = tiles.slice};
    each_free_flag(&w, emit_set);
    repeat(&w, "tile", tiles.count - ragged, emit_tile);
    w.elements = tiles.last;
    if (ragged)
        emit_tile(&w);
    each_free_flag(&w, emit_wait);
    return emit_close(&w.emit);
}
