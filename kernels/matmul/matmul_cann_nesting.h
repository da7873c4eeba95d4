/* Internal to the space `cann`: prefixes of its tilings. matmul_cann_begins.c says which there
 * are, matmul_cann_count.c how many tilings begin so, matmul_cann_least.c what all of these do at
 * least. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_NESTING_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_NESTING_H

#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_summary.h"

/* What a prefix says; sizes that are still open are 0. */
struct cann_facts {
    int64_t parts;        /* of k */
    int64_t m, n, k;      /* of a block */
    int64_t blocks;       /* of the core with most of them */
    int64_t batch_blocks; /* of them, that can be loaded at once */
    bool one_b;           /* all of them multiply with the same B */
    int64_t m_tiles, n_tiles, k_tiles;
    bool whole_a, whole_b; /* along k in L1 */
};

/* Capacities in elements of what they hold, once for all copies. */
struct cann_room {
    int64_t l0a, l0b, l0c, l1; /* l1: without rows of bias and scales */
};

/* The ways to cut k into chunks of a base_k: all steps less than the whole, ascending. */
struct cann_chunks {
    int count;
    int64_t *k;    /* of a chunk, in elements; owned */
    int *dividing; /* [i·(count + 1) + j]: of the first j ways, how many go with way i; owned */
    /* for each value of base_m and base_n: 1 + the pairs of parts that are both cut along k, with
     * any copies; 0 until somebody asks. Any thread may: all find the same. Owned */
    int64_t *cut_pairs;
};

/* What counting sums up once for each base m and base n: two sums, and for each operand one for
 * each size of a part that is whole along k, in rows of blocks. An entry is 1 + the sum, 0 until
 * somebody asks. Any thread may: all find the same. */
enum { CANN_MOST_WHOLE = 64, CANN_SUMS = 2 + 2 * CANN_MOST_WHOLE };

/* Lengths of rows in blocks of the matrix unit: 1 + what their pieces cost at least, by operand and
 * by whether all of it misses; likewise 0 until somebody asks. */
enum { CANN_ROWS = 16384 };

enum status cann_make_chunks(struct cann *cann, struct error *error);
void cann_free_chunks(struct cann *cann);

/* Blocks of single_m × single_n that the problem has in all, of each part of k. */
int64_t cann_all_blocks(const struct cann *cann, int64_t single_m, int64_t single_n);

struct cann_facts cann_facts_of(const struct cann *cann, const int64_t *value, int fixed);
struct cann_room cann_room_of(const struct cann *cann, int64_t base_n);

/* May a live range have two copies: is it filled more than once? */
static inline bool cann_a_l0_turns(const struct cann_facts *f, int64_t base_m, int64_t base_k)
{
    return base_k < f->k || base_m < f->m || f->blocks > 1;
}

static inline bool cann_b_l0_turns(const struct cann_facts *f, int64_t base_n, int64_t base_k,
                                   bool slab)
{
    bool again = f->blocks > 1 && !f->one_b;
    return again || (!slab && (base_k < f->k || base_n < f->n));
}

static inline bool cann_c_turns(const struct cann_facts *f)
{
    return f->blocks * f->m_tiles * f->n_tiles > 1;
}

/* More instructions than a program has with so many tiles of C and steps in each, whatever the rest
 * of its tiling: a body of a loop has at most 24, of the slab's loops 16. */
static inline double cann_instructions_at_most(double tiles, int64_t k_tiles, bool slab)
{
    double steps = tiles * (double)k_tiles;
    return 64 + 3 * 24 * steps + 7 * 24 * tiles + (slab ? 3 * 16 * steps : 0);
}

static inline bool cann_executable(const struct cann_facts *f, bool slab)
{
    double tiles = (double)f->blocks * (double)f->m_tiles * (double)f->n_tiles;
    return is_executable(cann_instructions_at_most(tiles, f->k_tiles, slab));
}

/* Members of struct operator_nesting. */
extern const int cann_lengths[];
enum prefix_verdict cann_begins(const struct space *space, const struct tiling *tiling, int fixed);
bool cann_alike(const struct space *space, const struct tiling *a, const struct tiling *b);
bool cann_same(const struct space *a, const struct space *b, const struct tiling *tiling);
int64_t cann_leaf_count(const struct space *space, const struct tiling *tiling, int fixed);
void cann_summarise_least(const struct space *space, const struct tiling *tiling, int fixed,
                          struct work *work);

/* Of struct operator_space. */
int64_t cann_size_class(const struct space *space, const struct problem *problem, int size,
                        int64_t value);

/* All values that tilings of the problem may have, ascending; owned by *cann. Where there would be
 * too many points, k is not split, and then blocks are loaded together in powers of two only. */
enum status cann_fill_values(struct cann *cann, struct error *error);
void cann_free_values(struct cann *cann);

/* Points of the space; INT64_MAX where they are more. */
int64_t cann_count_points(const struct cann *cann);

#endif
