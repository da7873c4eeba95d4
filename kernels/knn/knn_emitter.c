/* Writes what the k-NN programs have in common. Arrays get room in UB one after the other, in
 * whole blocks. Comparison and selection are either the chip's, or bit operations (Tang 2024, Alg.
 * 5): the sign of a difference, through OR, ReLU and a subtraction, becomes a mask. A reduction
 * goes level by level, since one repeat of the vector unit yields one value. */
#include "kernels/knn/knn_emitter.h"

#include <string.h>

/* To whole blocks; INT64_MAX where that does not fit. */
static int64_t whole_blocks(int64_t bytes)
{
    int64_t up = sum_of(bytes, KNN_BLOCK_BYTES - 1);
    return up == INT64_MAX ? up : up / KNN_BLOCK_BYTES * KNN_BLOCK_BYTES;
}

int64_t knn_row_bytes(int64_t elements)
{
    return whole_blocks(product_of(elements, KNN_ELEMENT_BYTES));
}

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
    w->bytes = sum_of(at, whole_blocks(bytes));
    return at;
}

void knn_reserve_levels(struct knn_emitter *w, int64_t elements, struct knn_levels *levels)
{
    int64_t per_repeat = w->machine->hw->vector_repeat_bytes / KNN_ELEMENT_BYTES;
    levels->count = 0;
    do {
        int64_t repeats = elements / per_repeat + (elements % per_repeat != 0);
        levels->elements[levels->count] = elements;
        levels->at[levels->count++] = knn_reserve(w, product_of(repeats, 2L * KNN_ELEMENT_BYTES));
        elements = repeats;
    } while (elements > 1 && levels->count < KNN_MAX_LEVELS);
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
    return knn_machine_check(w->machine, tile, error);
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

void knn_reduce(struct knn_emitter *w, int operation, enum dtype type,
                const struct knn_levels *levels, const struct region *src)
{
    struct region from = *src;
    for (int level = 0; level < levels->count; level++) {
        struct region to = knn_at(w, levels->at[level]);
        struct knn_span span = {.elements = levels->elements[level], .rows = 1};
        knn_vector(w, operation, type, span, &to, &from, NULL);
        from = to;
    }
}

void knn_sync(struct knn_emitter *w, int from, int to)
{
    emit_set(&w->emit, from, to, KNN_FLAG);
    emit_wait(&w->emit, from, to, KNN_FLAG);
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
