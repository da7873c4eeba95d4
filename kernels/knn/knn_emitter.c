/* Writes what the k-NN programs have in common, on a chip that has what they need. Arrays get room
 * in UB one after the other, in whole blocks. Comparison and selection are either the chip's, or
 * bit operations (Tang 2024, Alg. 5): the sign of a difference, through OR, ReLU and a subtraction,
 * becomes a mask.
 *
 * Algorithm 4 of Tang 2024 as a program for one core. A reduction goes level by level, since one
 * repeat of the vector unit yields one value.
 *
 * UB holds the distances row by row, and K and I twice, in two banks: a step reads one bank and
 * leaves its results in the other. In the bitonic 1-selection every row but the first loses exactly
 * once and moves to the other bank then; the last winner follows. So no select overwrites what the
 * next one still reads, and nothing is copied.
 *
 * S blocks dispatch: what V reads from S needs no flag, what S reads from V does. A scalar
 * operation is charged for each test (branch) and each move or computation of one value (assign),
 * with its address. Indices count from the tile's first column. */
#include "kernels/knn/knn_emitter.h"

#include <string.h>

/* ---- what a chip must have ------------------------------------------------------------------- */

enum need {
    NEED_ALWAYS = 1,
    NEED_HARDWARE_COMPARE = 2,
    NEED_RELU_COMPARE = 4,
    NEED_VECTOR_INDEX = 8,
};

#define PLACE(member) offsetof(struct knn_machine, member)

static const struct {
    const char *name;
    size_t place;
    uint8_t class, result, need;
} operations[] = {
    {"reduceMin", PLACE(reduce_min), OPERATION_VECTOR, RESULT_ONE_PER_REPEAT, NEED_ALWAYS},
    {"reduceMax", PLACE(reduce_max), OPERATION_VECTOR, RESULT_ONE_PER_REPEAT, NEED_VECTOR_INDEX},
    {"vecDup", PLACE(duplicate), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_ALWAYS},
    {"vecCmp", PLACE(compare), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_HARDWARE_COMPARE},
    {"vecSel", PLACE(select), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_HARDWARE_COMPARE},
    {"relu", PLACE(relu), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vsub", PLACE(subtract), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vand", PLACE(and), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vor", PLACE(or), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vnot", PLACE(not ), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"branch", PLACE(branch), OPERATION_SCALAR, RESULT_ELEMENTS, NEED_ALWAYS},
    {"assign", PLACE(assign), OPERATION_SCALAR, RESULT_ELEMENTS, NEED_ALWAYS},
};

enum { OPERATIONS = sizeof operations / sizeof *operations, LEAST_REPEAT_BYTES = 32 };

static int operation_of(const struct knn_machine *machine, int i)
{
    return *(const int *)((const char *)machine + operations[i].place);
}

/* -1 where the chip has none that does what its name says. */
static int find_operation(const struct hardware *hw, int i)
{
    int found = hardware_operation(hw, operations[i].name, (int)strlen(operations[i].name));
    if (found < 0 || hw->operations[found].class != operations[i].class ||
        (hw->operations[found].result == RESULT_ONE_PER_REPEAT) !=
            (operations[i].result == RESULT_ONE_PER_REPEAT))
        return -1;
    return found;
}

static int pipe_of(const struct hardware *hw, int operation)
{
    return hw->prices[hw->operations[operation].price].pipe;
}

static enum status error_lacks(const struct knn_machine *machine, int i, struct error *error)
{
    return error_set(error, STATUS_INVALID,
                     "k-NN needs the operation '%s'; the description of %s has none",
                     operations[i].name, machine->hw->name);
}

static enum status find_operations(struct knn_machine *machine, struct error *error)
{
    for (int i = 0; i < OPERATIONS; i++) {
        *(int *)((char *)machine + operations[i].place) = find_operation(machine->hw, i);
        if (operation_of(machine, i) < 0 && operations[i].need == NEED_ALWAYS)
            return error_lacks(machine, i, error);
    }
    machine->vector = pipe_of(machine->hw, machine->reduce_min);
    machine->scalar = pipe_of(machine->hw, machine->branch);
    return STATUS_OK;
}

static enum status find_paths(const struct hardware *hw, struct knn_machine *m, struct error *error)
{
    int gm;
    const struct chip_buffer buffers[] = {{"gm", &gm}, {"ub", &m->ub}, {NULL, NULL}};
    TRY(machine_buffers(hw, "k-NN", buffers, error));
    const struct chip_path paths[] = {
        {gm, m->ub, DTYPE_F16, DTYPE_F16, &m->load, NULL, &m->mte2},
        {m->ub, gm, DTYPE_F16, DTYPE_F16, &m->store, NULL, &m->mte3},
        {.path = NULL},
    };
    return machine_paths(hw, "k-NN", paths, error);
}

/* The programs' flags hold for four pipes of which S alone blocks dispatch. */
static enum status check_pipes(const struct knn_machine *machine, struct error *error)
{
    const struct hardware *hw = machine->hw;
    uint32_t pipes =
        1u << machine->mte2 | 1u << machine->vector | 1u << machine->scalar | 1u << machine->mte3;
    if (__builtin_popcount(pipes) != 4)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs four pipes for gm->ub, vectors, scalars and ub->gm; on %s "
                         "some share one",
                         hw->name);
    for (int i = 0; i < OPERATIONS; i++) {
        int operation = operation_of(machine, i);
        int wanted = operations[i].class == OPERATION_SCALAR ? machine->scalar : machine->vector;
        if (operation >= 0 && pipe_of(hw, operation) != wanted)
            return error_set(error, STATUS_INVALID,
                             "k-NN needs its operations on one pipe; on %s '%s' runs on %s",
                             hw->name, operations[i].name, hw->pipes[pipe_of(hw, operation)].name);
    }
    if (!hw->pipes[machine->scalar].blocks_dispatch)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs a scalar pipe that blocks dispatch; %s's %s does not",
                         hw->name, hw->pipes[machine->scalar].name);
    return STATUS_OK;
}

enum status knn_machine_find(const struct hardware *hw, enum dtype type,
                             struct knn_machine *machine, struct error *error)
{
    *machine = (struct knn_machine){.hw = hw};
    if (type != DTYPE_F16)
        return error_set(error, STATUS_INVALID, "k-NN selects in f16, not in %s", dtype_name(type));
    if (hw->vector_repeat_bytes < LEAST_REPEAT_BYTES)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs vector repeats of %d bytes or more; %s has %d",
                         LEAST_REPEAT_BYTES, hw->name, hw->vector_repeat_bytes);
    TRY(find_paths(hw, machine, error));
    TRY(find_operations(machine, error));
    return check_pipes(machine, error);
}

/* Has the chip what this variant needs (vecCmp and vecSel, or Alg. 5's; reduceMax)? STATUS_INVALID
 * names the operation. */
static enum status check_variant(const struct knn_machine *machine, const struct knn_tile *tile,
                                 struct error *error)
{
    unsigned needs = NEED_ALWAYS;
    needs |= tile->compare == KNN_COMPARE_RELU ? NEED_RELU_COMPARE : NEED_HARDWARE_COMPARE;
    needs |= tile->index == KNN_INDEX_VECTOR ? NEED_VECTOR_INDEX : 0;
    for (int i = 0; i < OPERATIONS; i++)
        if ((operations[i].need & needs) && operation_of(machine, i) < 0)
            return error_lacks(machine, i, error);
    return STATUS_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

void knn_start(struct knn_emitter *w, const struct knn_machine *machine,
               const struct knn_tile *tile)
{
    *w = (struct knn_emitter){.machine = machine, .tile = tile};
    w->row_bytes = knn_row_bytes(tile->rows);
    w->lanes = w->row_bytes / KNN_ELEMENT_BYTES;
}

int64_t knn_reserve(struct knn_emitter *w, int64_t bytes)
{
    int64_t at = w->bytes;
    w->bytes = sum_of(at, knn_whole_blocks(bytes));
    return at;
}

void knn_reserve_scratch(struct knn_emitter *w, int64_t elements)
{
    int64_t bytes = product_of(elements, KNN_ELEMENT_BYTES);
    w->yes = knn_reserve(w, bytes);
    if (w->tile->compare == KNN_COMPARE_HARDWARE)
        return;
    w->no = knn_reserve(w, bytes);
    w->chosen = knn_reserve(w, bytes);
    w->other = knn_reserve(w, bytes);
    w->sign = knn_reserve(w, bytes);
    w->one = knn_reserve(w, bytes);
}

enum status knn_open(struct knn_emitter *w, struct program *program, struct error *error)
{
    const struct knn_tile *tile = w->tile;
    w->emit = (struct emitter){.program = program, .error = error};
    if (tile->rows < 1 || tile->columns < 1 || tile->k < 1)
        return error_set(error, STATUS_INVALID,
                         "a selection tile of %lld rows, %lld columns and k = %lld, expected 1 or "
                         "more of each",
                         (long long)tile->rows, (long long)tile->columns, (long long)tile->k);
    if (w->bytes == INT64_MAX)
        return error_set(error, STATUS_INVALID, "a selection tile of more than 2^63 bytes");
    return check_variant(w->machine, tile, error);
}

enum status knn_close(struct knn_emitter *w)
{
    return emit_close(&w->emit);
}

struct region knn_at(const struct knn_emitter *w, int64_t offset)
{
    return (struct region){.buffer = (int8_t)w->machine->ub, .offset_bytes = offset};
}

struct region knn_at_in_loop(const struct knn_emitter *w, int64_t offset, int64_t stride)
{
    struct region region = knn_at(w, offset);
    region.loop_stride_bytes[w->emit.depth - 1] = stride;
    return region;
}

static void add_operand(struct knn_emitter *w, enum operand_role role, struct knn_span span,
                        const struct region *place)
{
    if (!place)
        return;
    struct region region = *place;
    region.role = (uint8_t)role;
    region.rows = span.rows;
    region.row_stride_bytes = span.stride_bytes;
    emit_region(&w->emit, &region);
}

void knn_vector(struct knn_emitter *w, int operation, enum dtype type, struct knn_span span,
                const struct region *dst, const struct region *src, const struct region *src2)
{
    emit_vector(&w->emit, operation, type, span.elements);
    add_operand(w, OPERAND_DST, span, dst);
    add_operand(w, OPERAND_SRC, span, src);
    add_operand(w, OPERAND_SRC2, span, src2);
}

void knn_fill_constants(struct knn_emitter *w, int64_t elements)
{
    struct region sign = knn_at(w, w->sign), one = knn_at(w, w->one);
    struct knn_span span = {.elements = elements, .rows = 1};
    if (w->tile->compare == KNN_COMPARE_HARDWARE)
        return;
    knn_vector(w, w->machine->duplicate, DTYPE_U16, span, &sign, NULL, NULL);
    knn_vector(w, w->machine->duplicate, DTYPE_U16, span, &one, NULL, NULL);
}

/* Alg. 5, lines 3 to 6, from a difference to a mask in place: all ones where it is negative. Where
 * FP16 infinities could meet, their difference is no number: the selection stores the largest
 * finite value, 0x7bff, for +infinity. */
static void mask_of_sign(struct knn_emitter *w, struct knn_span span, const struct region *mask)
{
    const struct knn_machine *m = w->machine;
    struct region sign = knn_at(w, w->sign), one = knn_at(w, w->one);
    knn_vector(w, m->and, DTYPE_U16, span, mask, mask, &sign);
    knn_vector(w, m->or, DTYPE_U16, span, mask, mask, &one);
    knn_vector(w, m->relu, DTYPE_F16, span, mask, mask, NULL);
    knn_vector(w, m->subtract, DTYPE_I16, span, mask, mask, &one);
}

void knn_compare_less(struct knn_emitter *w, struct knn_span span, const struct region *a,
                      const struct region *b)
{
    const struct knn_machine *m = w->machine;
    struct region yes = knn_at(w, w->yes), no = knn_at(w, w->no);
    if (w->tile->compare == KNN_COMPARE_HARDWARE) {
        knn_vector(w, m->compare, DTYPE_F16, span, &yes, a, b);
        return;
    }
    knn_vector(w, m->subtract, DTYPE_F16, span, &yes, a, b);
    mask_of_sign(w, span, &yes);
    knn_vector(w, m->not, DTYPE_U16, span, &no, &yes, NULL);
}

/* (A - B) | (B - A) is negative where A and B differ (thesis, eq. 3.5, prints it the other way
 * round): equality is the complement. */
static void knn_compare_equal(struct knn_emitter *w, struct knn_span span, const struct region *a,
                              const struct region *b)
{
    const struct knn_machine *m = w->machine;
    struct region yes = knn_at(w, w->yes), no = knn_at(w, w->no);
    if (w->tile->compare == KNN_COMPARE_HARDWARE) {
        knn_vector(w, m->compare, DTYPE_F16, span, &yes, a, b);
        return;
    }
    knn_vector(w, m->subtract, DTYPE_F16, span, &no, a, b);
    knn_vector(w, m->subtract, DTYPE_F16, span, &yes, b, a);
    knn_vector(w, m->or, DTYPE_U16, span, &no, &no, &yes);
    mask_of_sign(w, span, &no);
    knn_vector(w, m->not, DTYPE_U16, span, &yes, &no, NULL);
}

void knn_select(struct knn_emitter *w, struct knn_span span, const struct region *dst,
                const struct region *x, const struct region *y)
{
    const struct knn_machine *m = w->machine;
    if (w->tile->compare == KNN_COMPARE_HARDWARE) {
        knn_vector(w, m->select, DTYPE_F16, span, dst, x, y);
        return;
    }
    struct region yes = knn_at(w, w->yes), no = knn_at(w, w->no);
    struct region chosen = knn_at(w, w->chosen), other = knn_at(w, w->other);
    knn_vector(w, m->and, DTYPE_U16, span, &chosen, x, &yes);
    knn_vector(w, m->and, DTYPE_U16, span, &other, y, &no);
    knn_vector(w, m->or, DTYPE_U16, span, dst, &chosen, &other);
}

void knn_sync(struct knn_emitter *w, int from, int to)
{
    emit_set(&w->emit, from, to, KNN_FLAG);
    emit_wait(&w->emit, from, to, KNN_FLAG);
}

static void emit_scalar(struct emitter *e, int operation, int64_t count)
{
    emit(e, &(struct instruction){
                .kind = INSTRUCTION_SCALAR, .what = (int16_t)operation, .count = count});
}

void knn_branch(struct knn_emitter *w)
{
    emit_scalar(&w->emit, w->machine->branch, 1);
}

static void add_access(struct knn_emitter *w, enum operand_role role, const struct region *place)
{
    if (!place)
        return;
    struct region region = *place;
    region.role = (uint8_t)role;
    emit_region(&w->emit, &region);
}

/* One operation of which each operand touches something within `bytes` (a computed address). */
static void emit_scalar_access(struct emitter *e, int operation, int64_t bytes)
{
    emit(e, &(struct instruction){.kind = INSTRUCTION_SCALAR,
                                  .what = (int16_t)operation,
                                  .count = 1,
                                  .operand_bytes = bytes});
}

void knn_assign(struct knn_emitter *w, int64_t reach_bytes, const struct region *src,
                const struct region *src2, const struct region *dst)
{
    emit_scalar_access(&w->emit, w->machine->assign, reach_bytes);
    add_access(w, OPERAND_DST, dst);
    add_access(w, OPERAND_SRC, src);
    add_access(w, OPERAND_SRC2, src2);
}

void knn_branch_on(struct knn_emitter *w, const struct region *src, const struct region *src2)
{
    knn_branch(w);
    add_access(w, OPERAND_SRC, src);
    add_access(w, OPERAND_SRC2, src2);
}

void knn_load(struct knn_emitter *w, int64_t bytes, const struct region *source, int64_t offset)
{
    const struct knn_machine *m = w->machine;
    struct region from = *source;
    from.buffer = m->hw->paths[m->load].source;
    from.role = OPERAND_SRC;
    emit_move(&w->emit, m->load, bytes, DTYPE_F16, DTYPE_F16);
    emit_operand(&w->emit, OPERAND_DST, m->ub, offset);
    emit_region(&w->emit, &from);
}

void knn_store(struct knn_emitter *w, int64_t bytes, int64_t offset, int64_t destination)
{
    const struct knn_machine *m = w->machine;
    emit_move(&w->emit, m->store, bytes, DTYPE_F16, DTYPE_F16);
    emit_operand(&w->emit, OPERAND_DST, m->hw->paths[m->store].destination, destination);
    emit_operand(&w->emit, OPERAND_SRC, m->ub, offset);
}

/* reduceMin over a vector, again and again until one value is left. Each level leaves a value for
 * each repeat and, on hardware with indices, its index inside the repeat beside it. */
enum { MAX_LEVELS = 20 };
struct levels {
    int count;
    int64_t elements[MAX_LEVELS]; /* that the level reads */
    int64_t at[MAX_LEVELS];       /* what it leaves: 4 bytes a repeat */
};

static void reserve_levels(struct knn_emitter *w, int64_t elements, struct levels *levels)
{
    int64_t per_repeat = w->machine->hw->vector_repeat_bytes / KNN_ELEMENT_BYTES;
    levels->count = 0;
    do {
        int64_t repeats = elements / per_repeat + (elements % per_repeat != 0);
        levels->elements[levels->count] = elements;
        levels->at[levels->count++] = knn_reserve(w, product_of(repeats, 2L * KNN_ELEMENT_BYTES));
        elements = repeats;
    } while (elements > 1 && levels->count < MAX_LEVELS);
}

static void reduce(struct knn_emitter *w, int operation, enum dtype type,
                   const struct levels *levels, const struct region *src)
{
    struct region from = *src;
    for (int level = 0; level < levels->count; level++) {
        struct region to = knn_at(w, levels->at[level]);
        struct knn_span span = {.elements = levels->elements[level], .rows = 1};
        knn_vector(w, operation, type, span, &to, &from, NULL);
        from = to;
    }
}

/* FP16 reads indices from 0x7c01 on as NaN (Alg. 6). */
struct selection {
    struct knn_emitter w; /* first */
    int64_t steps;
    int64_t pitch;                 /* bytes of a row of distances */
    int64_t distances, k[2], i[2]; /* banks */
    int64_t least, where;          /* res_min and idx_min, a value a lane */
    int64_t mask, ones;
    int64_t index_map, none, found; /* Alg. 6: 0 … n-1; 0xfc00; idxArray, before that vArray */
    int64_t compared;               /* elements of the longest comparison */
    struct levels row, lane;        /* reductions over a row, and over the mask */
};

static void plan_selection(struct selection *s, const struct knn_machine *machine,
                           const struct knn_tile *tile)
{
    struct knn_emitter *w = &s->w;
    knn_start(w, machine, tile);
    s->pitch = knn_row_bytes(tile->columns);
    s->distances = knn_reserve(w, product_of(tile->rows, s->pitch));
    for (int bank = 0; bank < (tile->k > 1 ? 2 : 1); bank++) {
        s->k[bank] = knn_reserve(w, product_of(tile->k, w->row_bytes));
        s->i[bank] = knn_reserve(w, product_of(tile->k, w->row_bytes));
    }
    s->least = knn_reserve(w, w->row_bytes);
    s->where = knn_reserve(w, w->row_bytes);
    s->mask = knn_reserve(w, w->row_bytes);
    s->ones = knn_reserve(w, w->row_bytes);
    s->compared = product_of(tile->k > 3 ? tile->k / 2 : 1, w->lanes);
    if (tile->index == KNN_INDEX_VECTOR) {
        s->index_map = knn_reserve(w, s->pitch);
        s->none = knn_reserve(w, s->pitch);
        s->found = knn_reserve(w, s->pitch);
        s->compared = tile->columns > s->compared ? tile->columns : s->compared;
    }
    knn_reserve_scratch(w, s->compared);
    reserve_levels(w, tile->columns, &s->row);
    reserve_levels(w, tile->rows, &s->lane);
}

static struct knn_span lanes_of(const struct selection *s)
{
    return (struct knn_span){.elements = s->w.lanes, .rows = 1};
}

static void load_tile(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    int64_t distances = w->tile->rows * s->pitch, results = w->tile->k * w->row_bytes;
    struct region source = {0};
    knn_load(w, distances, &source, s->distances);
    source.offset_bytes = distances;
    knn_load(w, results, &source, s->k[0]);
    source.offset_bytes += results;
    knn_load(w, results, &source, s->i[0]);
    source.offset_bytes += results;
    if (w->tile->index == KNN_INDEX_VECTOR)
        knn_load(w, s->pitch, &source, s->index_map);
}

static void write_constants(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    int duplicate = w->machine->duplicate;
    struct region mask = knn_at(w, s->mask), ones = knn_at(w, s->ones), none = knn_at(w, s->none);
    struct knn_span row = {.elements = w->tile->columns, .rows = 1};
    knn_vector(w, duplicate, DTYPE_F16, lanes_of(s), &mask, NULL, NULL);
    knn_vector(w, duplicate, DTYPE_F16, lanes_of(s), &ones, NULL, NULL);
    knn_fill_constants(w, s->compared);
    if (w->tile->index == KNN_INDEX_VECTOR)
        knn_vector(w, duplicate, DTYPE_U16, row, &none, NULL, NULL);
    knn_sync(w, w->machine->mte2, w->machine->vector);
    knn_sync(w, w->machine->vector, w->machine->scalar);
}

/* The tests of one row: is there another one, and is it masked? */
static void test_row(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    struct region mask = knn_at_in_loop(w, s->mask, KNN_ELEMENT_BYTES);
    knn_branch(w);
    knn_branch_on(w, &mask, NULL);
}

/* The hardware's index of a minimum: which repeat won the last reduction, which one inside it the
 * one before, and so on. */
static void combine_indices(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct levels *row = &s->row;
    for (int level = row->count - 1; level >= 0; level--) {
        bool last = level == row->count - 1;
        int64_t repeats = last ? 1 : row->elements[level + 1];
        struct region left = knn_at(w, row->at[level]);
        /* the index inside the winning repeat; beyond the last level at a computed address */
        knn_assign(w, 2L * KNN_ELEMENT_BYTES * repeats, &left, NULL, NULL);
        if (!last) /* index = index · 128 + what was read */
            knn_assign(w, 0, NULL, NULL, NULL);
    }
}

/* Alg. 6: the largest index of those whose value is the minimum. */
static void search_index(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct knn_span span = {.elements = w->tile->columns, .rows = 1};
    struct region found = knn_at(w, s->found), map = knn_at(w, s->index_map);
    struct region none = knn_at(w, s->none);
    struct region row = knn_at_in_loop(w, s->distances, s->pitch);
    knn_vector(w, m->duplicate, DTYPE_F16, span, &found, NULL, NULL);
    knn_compare_equal(w, span, &found, &row);
    knn_select(w, span, &found, &map, &none);
    reduce(w, m->reduce_max, DTYPE_F16, &s->row, &found);
    knn_sync(w, m->vector, m->scalar);
}

/* Alg. 4, lines 4 to 7, for one row. */
static void take_minimum(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct region row = knn_at_in_loop(w, s->distances, s->pitch);
    struct region least = knn_at_in_loop(w, s->least, KNN_ELEMENT_BYTES);
    struct region where = knn_at_in_loop(w, s->where, KNN_ELEMENT_BYTES);
    struct region result = knn_at(w, s->row.at[s->row.count - 1]);
    test_row(s);
    reduce(w, m->reduce_min, DTYPE_F16, &s->row, &row);
    knn_sync(w, m->vector, m->scalar);
    /* res_min[l] = the minimum, which vecDup takes from here as well */
    knn_assign(w, 0, &result, NULL, &least);
    if (w->tile->index == KNN_INDEX_VECTOR) {
        search_index(s);
        knn_assign(w, 0, &result, NULL, &where); /* idx_min[l] = what reduceMax found */
    } else {
        combine_indices(s);
        knn_assign(w, 0, NULL, NULL, &where); /* idx_min[l] = index */
    }
    /* D[l][index] = 0x7bff */
    knn_assign(w, w->tile->columns * KNN_ELEMENT_BYTES, NULL, NULL, &row);
}

/* Alg. 4, lines 3 to 11. */
static void test_step(struct selection *s, int bank)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct region least = knn_at(w, s->least), largest = knn_at(w, s->k[bank]);
    struct region mask = knn_at(w, s->mask), ones = knn_at(w, s->ones);
    struct region result = knn_at(w, s->lane.at[s->lane.count - 1]);
    emit_loop(&w->emit, "l", w->tile->rows);
    take_minimum(s);
    emit_end(&w->emit);
    knn_compare_less(w, lanes_of(s), &least, &largest);
    knn_select(w, lanes_of(s), &mask, &mask, &ones);
    reduce(w, m->reduce_min, DTYPE_F16, &s->lane, &mask);
    knn_sync(w, m->vector, m->scalar);
    knn_branch_on(w, &result, NULL);
}

/* One halving of the bitonic 1-selection: rows [0, pairs) against rows [half, half + pairs); the
 * larger goes on, the smaller one's place is final. */
static void keep_larger(struct selection *s, int bank, int64_t half, int64_t pairs)
{
    struct knn_emitter *w = &s->w;
    struct knn_span span = {.elements = pairs * w->lanes, .rows = 1};
    const int64_t *arrays[] = {s->k, s->i};
    int64_t below = half * w->row_bytes;
    int winners = half == 1 ? !bank : bank;
    struct region first = knn_at(w, s->k[bank]), second = knn_at(w, s->k[bank] + below);
    knn_compare_less(w, span, &first, &second);
    for (int a = 0; a < 2; a++) {
        struct region top = knn_at(w, arrays[a][bank]), low = knn_at(w, arrays[a][bank] + below);
        struct region loser = knn_at(w, arrays[a][!bank] + below);
        struct region winner = knn_at(w, arrays[a][winners]);
        knn_select(w, span, &loser, &top, &low);
        knn_select(w, span, &winner, &low, &top);
    }
}

/* Alg. 4, lines 13 to 15, and the test of the loop over steps. */
static void update(struct selection *s, int bank)
{
    struct knn_emitter *w = &s->w;
    struct region least = knn_at(w, s->least), largest = knn_at(w, s->k[bank]);
    struct region where = knn_at(w, s->where), index = knn_at(w, s->i[bank]);
    knn_select(w, lanes_of(s), &largest, &least, &largest);
    knn_select(w, lanes_of(s), &index, &where, &index);
    for (int64_t size = w->tile->k; size > 1; size -= size / 2)
        keep_larger(s, bank, size - size / 2, size / 2);
    knn_branch(w);
}

static void step(struct selection *s, int bank)
{
    test_step(s, bank);
    update(s, bank);
}

/* Steps in pairs, so that each begins in the first bank again. */
static void run_steps(struct selection *s)
{
    if (s->steps > 1) {
        emit_loop(&s->w.emit, "pair", s->steps / 2);
        step(s, 0);
        step(s, 1);
        emit_end(&s->w.emit);
    }
    if (s->steps % 2)
        step(s, 0);
}

/* With every row masked: the tests, and nothing else. */
static void run_masked(struct selection *s, int64_t count)
{
    if (count == 0)
        return;
    emit_loop(&s->w.emit, "masked", count);
    emit_loop(&s->w.emit, "l", s->w.tile->rows);
    test_row(s);
    emit_end(&s->w.emit);
    knn_branch(&s->w);
    emit_end(&s->w.emit);
}

/* S waits for V in every test, and what is dispatched after S waits for S: only an update that no
 * test follows needs a flag. */
static void store_results(struct selection *s, int bank, bool updated_last)
{
    struct knn_emitter *w = &s->w;
    int64_t distances = w->tile->rows * s->pitch, results = w->tile->k * w->row_bytes;
    if (updated_last)
        knn_sync(w, w->machine->vector, w->machine->mte3);
    knn_store(w, results, s->k[bank], distances);
    knn_store(w, results, s->i[bank], distances + results);
}

int64_t knn_selection_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct selection s = {.steps = 0};
    plan_selection(&s, machine, tile);
    return s.w.bytes;
}

static enum status check(const struct knn_tile *tile, int64_t steps, struct error *error)
{
    if (steps < 0 || steps > tile->k)
        return error_set(error, STATUS_INVALID, "%lld steps of a selection, expected 0 to k = %lld",
                         (long long)steps, (long long)tile->k);
    if (tile->index == KNN_INDEX_VECTOR && tile->columns > KNN_MAX_VECTOR_INDEX)
        return error_set(error, STATUS_INVALID,
                         "%lld columns, but vector instructions find at most %d indices in f16",
                         (long long)tile->columns, KNN_MAX_VECTOR_INDEX);
    return STATUS_OK;
}

enum status knn_selection_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                  int64_t steps, bool failing, struct program *program,
                                  struct error *error)
{
    struct selection s = {.steps = steps};
    plan_selection(&s, machine, tile);
    TRY(knn_open(&s.w, program, error));
    TRY(check(tile, steps, error));
    int bank = tile->k > 1 ? (int)(steps % 2) : 0;
    failing = failing && steps < tile->k;
    load_tile(&s);
    write_constants(&s);
    run_steps(&s);
    if (failing)
        test_step(&s, bank);
    if (tile->loop == KNN_LOOP_FULL) {
        if (failing)
            knn_branch(&s.w);
        run_masked(&s, tile->k - steps - failing);
    }
    store_results(&s, bank, steps > 0 && !failing);
    return knn_close(&s.w);
}
