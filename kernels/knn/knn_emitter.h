/* Internal to the k-NN generators: arrays in UB, vector compare and select with or without the
 * hardware's.
 *
 *   knn_start(&w, machine, tile); then knn_reserve, knn_reserve_scratch
 *   w.bytes is what they need: INT64_MAX when it does not fit in an int64
 *   knn_open(&w, program, error), write, knn_close(&w)
 *
 * Values and indices take 2 bytes. What runs along the rows of a tile runs over `lanes`, the rows
 * rounded up to whole blocks of 32 bytes, so that every array row is aligned. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_EMITTER_H
#define AUTOTUNE_KERNELS_KNN_KNN_EMITTER_H

#include "kernels/emit.h"
#include "kernels/knn/knn.h"
#include "kernels/limits.h"

enum { KNN_ELEMENT_BYTES = 2, KNN_BLOCK_BYTES = 32, KNN_FLAG = 0 };

struct knn_emitter {
    struct emitter emit; /* first */
    const struct knn_machine *machine;
    const struct knn_tile *tile;
    int64_t lanes, row_bytes; /* of an array with one value a lane */
    int64_t bytes;            /* of UB reserved so far */
    /* Offsets of scratch: where the comparison held and, for Alg. 5, where not; the two halves of
     * a select; the constants 0x8000 and 1. */
    int64_t yes, no, chosen, other, sign, one;
};

/* Elements of a vector instruction: `rows` equal parts, `stride_bytes` apart; 1: contiguous. */
struct knn_span {
    int64_t elements, rows, stride_bytes;
};

/* To whole blocks; INT64_MAX where that does not fit. */
static inline int64_t knn_whole_blocks(int64_t bytes)
{
    int64_t up = sum_of(bytes, KNN_BLOCK_BYTES - 1);
    return up == INT64_MAX ? up : up / KNN_BLOCK_BYTES * KNN_BLOCK_BYTES;
}

/* Bytes of so many values, in whole blocks. */
static inline int64_t knn_row_bytes(int64_t elements)
{
    return knn_whole_blocks(product_of(elements, KNN_ELEMENT_BYTES));
}

void knn_start(struct knn_emitter *w, const struct knn_machine *machine,
               const struct knn_tile *tile);

/* Each reserves UB and says where. */
int64_t knn_reserve(struct knn_emitter *w, int64_t bytes);
/* …for compares and selects that reach over `elements`. */
void knn_reserve_scratch(struct knn_emitter *w, int64_t elements);

/* STATUS_INVALID for a tile without rows, columns or k, for a chip that lacks what the tile's
 * variant needs, or for arrays beyond an int64. */
enum status knn_open(struct knn_emitter *w, struct program *program, struct error *error);
enum status knn_close(struct knn_emitter *w);

/* An operand in UB; the second moves by `stride` with the innermost open loop. */
struct region knn_at(const struct knn_emitter *w, int64_t offset);
struct region knn_at_in_loop(const struct knn_emitter *w, int64_t offset, int64_t stride);

/* A vector instruction; operands that it has not are NULL. */
void knn_vector(struct knn_emitter *w, int operation, enum dtype type, struct knn_span span,
                const struct region *dst, const struct region *src, const struct region *src2);

/* The constants of Alg. 5; to be called once before the first comparison. */
void knn_fill_constants(struct knn_emitter *w, int64_t elements);

/* Compare, then any number of selects: dst = x where the comparison held, y elsewhere. dst may be
 * x or y. */
void knn_compare_less(struct knn_emitter *w, struct knn_span span, const struct region *a,
                      const struct region *b);
void knn_compare_equal(struct knn_emitter *w, struct knn_span span, const struct region *a,
                       const struct region *b);
void knn_select(struct knn_emitter *w, struct knn_span span, const struct region *dst,
                const struct region *x, const struct region *y);

/* `to` goes on when `from` has come here. */
void knn_sync(struct knn_emitter *w, int from, int to);

/* One scalar move or computation of one value; operands that it has not are NULL. Each lies within
 * `reach_bytes` of its place (a computed address); 0: it is there. */
void knn_assign(struct knn_emitter *w, int64_t reach_bytes, const struct region *src,
                const struct region *src2, const struct region *dst);

/* A test of something in a register, or in UB. */
void knn_branch(struct knn_emitter *w);
void knn_branch_on(struct knn_emitter *w, const struct region *src, const struct region *src2);

/* Between global memory and UB. */
void knn_load(struct knn_emitter *w, int64_t bytes, const struct region *source, int64_t offset);
void knn_store(struct knn_emitter *w, int64_t bytes, int64_t offset, int64_t destination);

#endif
