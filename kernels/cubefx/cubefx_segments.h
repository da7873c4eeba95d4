/* Internal to the space of Cube-fx: what its files share. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_SEGMENTS_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_SEGMENTS_H

#include "kernels/cubefx/cubefx.h"

/* Largest edge of a matrix block. */
enum { CUBEFX_MAX_BLOCK = 64 };

/* Layouts of the summary: many groups, or one group in all, where nothing overlaps. */
enum { CUBEFX_PIPELINED, CUBEFX_SERIAL, CUBEFX_LAYOUTS };

/* What some cores have to do. */
struct cubefx_part {
    struct cubefx_share share; /* of the core with most work */
    int cores_used;
    int64_t cores;   /* the axis's value */
    int64_t *slices; /* values of tile, owned; NULL: no number of cores of its own */
    int slice_count;
};

struct cubefx_space {
    struct cubefx_machine machine;
    int64_t padded_inputs;                                    /* of all cores */
    int cores;                                                /* up to so many */
    int64_t numbers[CUBEFX_MAX_BLOCK];                        /* 1, 2, … s: values of merge */
    int64_t segments[CUBEFX_MAX_BLOCK + 1][CUBEFX_MAX_BLOCK]; /* of so many steps */
    struct cubefx_part *parts;                                /* [cores - 1], owned */
    struct work_layout layouts[CUBEFX_LAYOUTS];
};

static inline const struct cubefx_space *cubefx_of(const struct space *space)
{
    return space->detail;
}

/* What the cores of a tiling have to do. Numbers that the axis does not have are taken as the
 * nearest up to --cores. */
static inline const struct cubefx_part *cubefx_part_of(const struct space *space,
                                                       const struct tiling *tiling)
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    int64_t cores = tiling->value[CUBEFX_CORES];
    cores = cores < 1 ? 1 : cores < cubefx->cores ? cores : cubefx->cores;
    return &cubefx->parts[cores - 1];
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

/* cubefx_details.c: what an answer says beyond its best tiling; shortened by the plan of every
 * merge count, and coefficients. */
enum status cubefx_details(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, struct json_t *details,
                           struct error *error);
void cubefx_shorten(struct json_t *details);

#endif
