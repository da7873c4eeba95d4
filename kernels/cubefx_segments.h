/* Internal to the space of Cube-fx: what its files share. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_SEGMENTS_H
#define AUTOTUNE_KERNELS_CUBEFX_SEGMENTS_H

#include "kernels/cubefx.h"

/* Largest edge of a matrix block: its ⌈s/merge⌉ have at most SPACE_MAX_BLOCKS different values. */
enum { CUBEFX_MAX_BLOCK = 64 };

/* Layouts of the summary: many groups, or one group in all, where nothing overlaps. */
enum { CUBEFX_PIPELINED, CUBEFX_SERIAL, CUBEFX_LAYOUTS };

struct cubefx_space {
    struct cubefx_machine machine;
    struct cubefx_share share; /* of the core with most work */
    int64_t padded_inputs;     /* of all cores */
    int cores, cores_used;
    int64_t numbers[CUBEFX_MAX_BLOCK];                    /* 1, 2, … s: values of merge */
    int64_t segments[SPACE_MAX_BLOCKS][CUBEFX_MAX_BLOCK]; /* of each block */
    int64_t *slices;                                      /* values of tile, owned */
    struct work_layout layouts[CUBEFX_LAYOUTS];
};

static inline const struct cubefx_space *cubefx_of(const struct space *space)
{
    return space->detail;
}

extern const struct axis cubefx_axes[CUBEFX_AXES];

/* cubefx_legal.c: members of struct operator_space. */
bool cubefx_possible(const struct space *space, const struct tiling *tiling, int fixed);
bool cubefx_legal(const struct space *space, const struct tiling *tiling);
int cubefx_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);

/* cubefx_summary.c: fills space->layouts, to which cubefx_summarise refers; needs the machine. */
void cubefx_make_layouts(struct cubefx_space *cubefx);
void cubefx_summarise(const struct space *space, const struct tiling *tiling, struct work *work);
double cubefx_roofline_ns(const struct space *space);

#endif
