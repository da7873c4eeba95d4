/* Internal to the space `cann` of MatMul: what its files share. matmul_cann.c makes the space,
 * matmul_cann_machine.c finds the places of the chip, matmul_cann_plan.c turns a tiling into the
 * nest of loops and the scopes of its operands, matmul_cann_legal.c says what fits and which
 * values say something new, matmul_cann_split.c how parts of k are added up, matmul_cann_even.c how
 * even a tiling is, matmul_cann_program.c writes the nest, matmul_cann_summary.c counts it.
 *
 * All sizes are in elements, m and n padded to the matrix unit's blocks, k likewise; in the
 * direction of the batch, in blocks of single_m × single_n. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_INTERNAL_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_INTERNAL_H

#include "kernels/matmul/matmul_cann.h"

/* ---- the chip ------------------------------------------------------------------------------ */

/* What adds up parts of k: the vector cores, out of a workspace in memory. */
struct cann_adder {
    bool exists;
    int ub, load, store, add, cast; /* buffer, paths, operations; cast: -1 where sums are results */
    int load_price, store_price, add_price, cast_price, part_price; /* part: of a part's store */
    int in, vector, out;                                            /* pipes */
};

/* Where the tiles live and what moves them; -1 for what a chip need not have. */
struct cann_machine {
    const struct hardware *hw;
    int gm, l1, l0a, l0b, l0c, bt;             /* buffers; bt: -1 without l1->bt */
    int load, miss, feed_a, feed_b, feed_bias; /* paths; miss: from behind the cache, or -1 */
    int store, store_behind; /* into the cached memory, and behind it: -1 without such a path */
    int load_price, miss_price, feed_a_price, feed_b_price, feed_bias_price, store_price,
        store_behind_price;
    int matrix_price;
    int mte2, mte1, matrix, fixp; /* the pipes of these paths and of mmad */
    int block_mn, block_k;        /* edges of the matrix unit's block, in elements */
    enum dtype type, accumulator, out;
    int type_bytes, accumulator_bytes, out_bytes;
    bool unit_flag;                /* of L0C */
    bool transpose_a, transpose_b; /* while they are fed to L0 */
    struct cann_adder adder;
};

/* STATUS_INVALID, naming what the chip lacks. */
enum status cann_machine_find(const struct hardware *hw, const struct problem *problem,
                              struct cann_machine *machine, struct error *error);

/* ---- the problem --------------------------------------------------------------------------- */

enum cann_direction { CANN_BATCH, CANN_M, CANN_N, CANN_K, CANN_DIRECTIONS };

/* How the numbers of one operand lie in global memory: `rows` of the direction `outer`, each
 * contiguous along `inner`; in units of unit elements of outer (16 where the layout has blocks).
 * A unit starts pitch_bytes after the one before it: without blocks nothing is padded there. */
struct cann_layout {
    enum cann_direction outer, inner;
    int unit;
    int64_t pitch_bytes;
};

/* CANN_PART: of C, the sum over a part of k, in the workspace as C is in memory. */
enum cann_operand { CANN_A, CANN_B, CANN_C, CANN_PART, CANN_OPERANDS };

struct cann {
    struct cann_machine machine;
    int cores;                     /* that may work */
    int most_parts;                /* of k, in this space */
    int64_t size[CANN_DIRECTIONS]; /* of the whole problem, padded; the batch as it is */
    struct cann_layout layout[CANN_OPERANDS];
    bool share_b;
    int bias_bytes, scale_bytes; /* an element of the rows that a tile of C needs; 0: not needed */
    double miss_share;           /* of the bytes of A and B that are behind the cache */
    bool tcube;                  /* only kernels that a TCubeTiling has words for */
    int64_t parts_tile[CANN_DIRECTIONS]; /* of these, L0 tiles where k is split; 0: any */
    bool few_batch_steps;       /* powers of two only: else there were 2^63 points and more */
    int64_t *values[CANN_AXES]; /* of each axis, ascending; owned */
    int count[CANN_AXES];
    struct work_layout *work_layouts; /* owned; matmul_cann_summary.c */
    struct cann_chunks
        *chunks; /* for each split and value of base_k; owned; matmul_cann_chunks.c */
    double
        *row_fs;   /* of pieces of rows, CANN_ROWS lengths each; owned; matmul_cann_least_loads.c */
    int64_t *sums; /* of base m and base n; owned; matmul_cann_count.c */
};

static inline const struct cann *cann_of(const struct space *space)
{
    return (const struct cann *)space->detail;
}

/* Bytes of all rows that a tile of C needs, an element of n. */
static inline int cann_row_bytes(const struct cann *cann)
{
    return cann->bias_bytes + cann->scale_bytes;
}

extern const struct axis cann_axes[CANN_AXES];

/* ---- a tiling as a nest of loops ----------------------------------------------------------- */

/* The loops, outermost first; each cuts the tile of its direction that it finds into tiles of its
 * slice and a rest. X is the direction of the outer loop of the L1 or L0 tiles, Y the other. The
 * loops of the slab stand by themselves: they bring B into L0B, in the body of the slab's scope. */
enum cann_level {
    LEVEL_BATCH_WIDE,   /* max(step_batch_a, step_batch_b) blocks */
    LEVEL_BATCH_NARROW, /* min(…) */
    LEVEL_BLOCK,        /* one block */
    LEVEL_X_L1,
    LEVEL_Y_L1,
    LEVEL_X_L0,
    LEVEL_TILE, /* Y by its base: the body is one tile of C */
    LEVEL_K_WIDE,
    LEVEL_K_NARROW,
    LEVEL_STEP, /* k by base_k: the body is one mmad */
    CANN_LEVELS,
    SLAB_N_L1 = CANN_LEVELS, /* n by step_n·base_n */
    SLAB_K_L1,               /* k by step_kb·base_k */
    SLAB_TILE,               /* n by base_n: the body is one move L1→L0B */
    CANN_ALL_LEVELS,
};

/* A scope is the body of a level's loop; outside all loops it is the whole program. */
enum { SCOPE_PROGRAM = -1 };

/* Live ranges: what stands in a buffer for a while. */
enum cann_live_range {
    LIVE_A_L1,
    LIVE_B_L1,
    LIVE_BIAS_L1, /* with the row of scales behind it */
    LIVE_A_L0,
    LIVE_B_L0,
    LIVE_BIAS_BT,
    LIVE_C,
    CANN_LIVE_RANGES,
};

struct cann_scope {
    bool used;
    int level;            /* enum cann_level, or SCOPE_PROGRAM */
    int copies;           /* buffers: 1 or 2 */
    int64_t bytes;        /* of one buffer, for the largest tile */
    int64_t offset_bytes; /* of the first one in its memory */
};

struct cann_plan {
    int cores;                       /* that work */
    int64_t parts;                   /* of k */
    int64_t extent[CANN_DIRECTIONS]; /* of one core: blocks, and the size of one */
    struct {
        enum cann_direction direction;
        int64_t slice;  /* at most `parent` */
        int64_t parent; /* the largest tile that the loop cuts */
    } level[CANN_ALL_LEVELS];
    struct cann_scope scope[CANN_LIVE_RANGES];
    bool slab, one_b; /* one_b: all blocks of a core have the same B */
    bool one_set; /* of AscendC's template: a part of A and one of B are a set, of which L1 holds
                     one. It is fed when both are there, and the next one is loaded when all of it
                     has been fed */
    int64_t chunks_a, chunks_b; /* along k, in L1 */
    double miss_share[2];       /* of the loads of A and of B: each byte misses when it is first
                                   touched, by any core */
    int64_t l1_bytes;           /* of all parts and copies */
};

/* Of A and B together. */
double cann_operand_bytes(const struct cann *cann);

/* What k is split into so many parts of at most, none empty, and the longest one's k. */
int64_t cann_parts(const struct cann *cann, int64_t split);
int64_t cann_part_k(const struct cann *cann, int64_t parts);

/* Blocks are m by n. Each loads its part of A or B, or each of `cores` does that has the same B for
 * all its blocks (0: it has not): the parts that there are over the parts that are loaded. */
double cann_touches(const struct cann *cann, int64_t m, int64_t n, bool is_a, int64_t cores);

/* For any tiling with values > 0; sizes too large for an int64 saturate. */
void cann_plan_make(const struct cann *cann, const struct tiling *tiling, struct cann_plan *plan);

/* How many bodies the loops of one direction in levels (outer, inner] have in all, when a tile of
 * `extent` enters the first of them. */
int64_t cann_bodies(const struct cann_plan *plan, enum cann_direction direction, int outer,
                    int inner, int64_t extent);

/* How often a live range begins in one body of `level` (SCOPE_PROGRAM: in all) where the tile has
 * these extents; 1 in the body that is its scope, 0 within that. */
int64_t cann_openings(const struct cann_plan *plan, enum cann_live_range range, int level,
                      const int64_t extent[CANN_DIRECTIONS]);

/* The pieces in which an operand's tile is moved from or to global memory. Rows or columns of
 * blocks that follow each other there are one piece where they begin at multiples of 64 bytes, and
 * so are rows of C that are shorter. */
int64_t cann_pieces(const struct cann *cann, enum cann_operand operand,
                    const int64_t extent[CANN_DIRECTIONS]);

/* The power of two, up to 512, that rows of an operand begin at multiples of; so do pieces of C.
 * Rows at most one block wide: at most CANN_NARROW. */
enum { CANN_NARROW = 16 };
int64_t cann_alignment(const struct cann *cann, enum cann_operand operand);

/* The same of the pieces of A or B that a tiling loads: its tiles may begin within a row. */
int64_t cann_load_alignment(const struct cann *cann, const struct cann_plan *plan,
                            enum cann_operand operand);

/* One load from global memory in up to two moves: what hits the cache, and what is behind it, in
 * whole grains of bytes. */
enum { CANN_MISS_GRAIN = 512 };
struct cann_load {
    int64_t hit_bytes, miss_bytes; /* 0: no such move */
    int64_t hit_pieces, miss_pieces;
};
struct cann_load cann_load_split(double miss_share, int64_t bytes, int64_t pieces);

/* May so many blocks of `whole` be loaded at once; the next such number, or 0. */
bool cann_is_batch_step(const struct cann *cann, int64_t whole, int64_t step);
int64_t cann_next_batch_step(const struct cann *cann, int64_t whole, int64_t step);

/* ---- members of struct operator_space ------------------------------------------------------- */

/* matmul_cann_legal.c */

/* Of a core with m by n L0 tiles, the order that stands for all that run the same loops: that of
 * outer = m where one of two runs once; the third is one of the others unless both the L1 tiles and
 * the L0 tiles of both directions are several. */
int64_t cann_agreed_order(const int64_t *v, int64_t m, int64_t n);

void cann_agree(const struct space *space, struct tiling *tiling);
bool cann_legal(const struct space *space, const struct tiling *tiling);
int cann_violations(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS]);

/* matmul_cann_split.c */

/* How the vector cores add up parts: each its share of C, in equal passes and a rest. Elements. */
struct cann_reduction {
    int64_t share, pass;
};
struct cann_reduction cann_reduction_of(const struct cann *cann, int64_t parts, int cores);

/* Finds what adds up parts; a chip need not have it. */
void cann_find_adder(struct cann *cann);

/* Only what the library's kernel for parts of k does (space tcube), and its L0 tiles: m and n in
 * elements, k in bytes. */
enum { CANN_LIBRARY_MN = 128, CANN_LIBRARY_K_BYTES = 256 };
void cann_take_library_parts(struct cann *cann);

/* May k be split so? `split` has no empty part. */
bool cann_is_split(const struct cann *cann, int64_t split);

/* May parts be cut into blocks of m by n, and a block or part of `size` into tiles of `base`? */
bool cann_is_parts_block(const struct cann *cann, int64_t parts, int64_t m, int64_t n);
bool cann_is_parts_tile(const struct cann *cann, int64_t parts, enum cann_direction direction,
                        int64_t size, int64_t base);

/* What tiles of `base` that cut `elements` take in buffers: a kernel with tiles of its own has
 * room for whole ones, however little there is to cut. */
int64_t cann_laid_out(const struct cann *cann, int64_t parts, enum cann_direction direction,
                      int64_t elements, int64_t base);

/* Of all parts together. */
int64_t cann_workspace_bytes(const struct cann *cann, int64_t parts);

/* What a block is stored as, and the price of that. */
enum cann_operand cann_stored(int64_t parts);
int cann_store_price(const struct cann *cann, int64_t parts);

/* matmul_cann_even.c */
enum { CANN_EVENS = 8 };
unsigned cann_even(const struct space *space, const struct tiling *tiling);

/* matmul_cann_details.c */
enum status cann_picture(const struct space *space, const struct tiling *tiling,
                         struct json_t *picture, struct error *error);
enum status cann_details(const struct problem *problem, const struct space *space,
                         const struct search_result *result, const struct details_options *options,
                         struct json_t *details, struct error *error);

/* matmul_cann_program.c */
enum status cann_generate(const struct space *space, const struct tiling *tiling, int part,
                          struct program *program, struct error *error);

#endif
