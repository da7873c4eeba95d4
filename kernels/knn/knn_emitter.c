/* Writes what the k-NN programs have in common, on a chip that has what they need. Arrays get room
 * in UB one after the other, in whole blocks. Comparison and selection are either the chip's, or
 * bit operations (Tang 2024, Alg. 5): the sign of a difference, through OR, ReLU and a subtraction,
 * becomes a mask. */
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
void knn_compare_equal(struct knn_emitter *w, struct knn_span span, const struct region *a,
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
