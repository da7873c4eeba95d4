/* Internal to the thesis's space of MatMul: what its files share. matmul_thesis.c makes the space,
 * matmul_thesis_legal.c says what fits, matmul_thesis_summary.c counts the work,
 * matmul_thesis_program.c writes it. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_THESIS_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_THESIS_H

#include "kernels/matmul/matmul.h"

/* Which buffers are single, what stays in L1 and whether there are rows after the first decide
 * which instructions exclude each other: a layout of the summary for each. */
enum { THESIS_LAYOUTS = 2 * RESIDENT_KINDS * 2 };

/* What one split over some cores gives. */
struct thesis_share {
    struct matmul_slab slab; /* of the core with most work */
    int64_t cores;           /* the axis's value */
    int64_t *slices;         /* of the slab along the split, ascending, owned; NULL: no value */
};

struct thesis {
    struct matmul_machine machine;
    int cores;                /* up to so many */
    struct matmul_slab whole; /* the padded problem */
    int64_t *slices[3];       /* of it in each direction, ascending, owned */
    int slice_count[3];
    struct thesis_share *shares[SPLIT_KINDS]; /* [cores - 1], owned */
    struct work_layout layouts[THESIS_LAYOUTS];
};

static inline const struct thesis *thesis_of(const struct space *space)
{
    return space->detail;
}

/* One core's share. Numbers of cores that no axis has are taken as the nearest up to --cores. */
static inline const struct matmul_slab *thesis_slab(const struct space *space,
                                                    const struct tiling *tiling)
{
    const struct thesis *thesis = thesis_of(space);
    int64_t cores = tiling->value[THESIS_CORES];
    cores = cores < 1 ? 1 : cores < thesis->cores ? cores : thesis->cores;
    return &thesis->shares[tiling->value[THESIS_SPLIT]][cores - 1].slab;
}

static inline bool keeps_a(int64_t resident)
{
    return resident == RESIDENT_A || resident == RESIDENT_BOTH;
}

static inline bool keeps_b(int64_t resident)
{
    return resident == RESIDENT_B || resident == RESIDENT_BOTH;
}

extern const struct axis thesis_axes[THESIS_AXES];

/* matmul_legal.c: members of struct operator_space. */
bool thesis_possible(const struct space *space, const struct tiling *tiling, int fixed);
bool thesis_legal(const struct space *space, const struct tiling *tiling);
int thesis_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);

/* matmul_summary.c: fills thesis->layouts, which thesis_summarise refers to; needs the machine. */
void thesis_make_layouts(struct thesis *thesis);
void thesis_summarise(const struct space *space, const struct tiling *tiling, struct work *work);
void thesis_least(const struct space *space, const struct space_block *block, struct work *work);
double thesis_roofline_ns(const struct space *space);

#endif
