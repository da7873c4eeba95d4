/* The thesis's Fig. 4.8 on any chip: times of Cube-fx and of what vectors alone do, order 16, by
 * the number of inputs and of functions, and what the thesis reads from it.
 *
 *   cubefx_figure_draw(r, &asked, &figure, &error);
 *   cubefx_figure_over(&figure, CUBEFX_HORNER, 9, 9)  … */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_FIGURE_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_FIGURE_H

#include "kernels/chapter.h"
#include "kernels/cubefx/cubefx.h"

enum { CUBEFX_FIGURE_ORDER = 16, CUBEFX_FIGURE_FUNCTIONS = 17, CUBEFX_FIGURE_SIZES = 2 };

/* Of a chip's one core, which has `vector_cores` vector units beside its matrix unit. */
struct cubefx_figure_asked {
    const struct hardware *hw;
    int vector_cores;
    int64_t inputs[CUBEFX_FIGURE_SIZES];
    /* The time of Cube-fx with so many merged matrices (kernels/cubefx/cubefx_merge.h). */
    enum status (*cubefx_ns)(void *context, int64_t inputs, int64_t order, int64_t functions,
                             int64_t merge, double *ns, struct error *error);
    void *context;
};

struct cubefx_figure {
    double cubefx[CUBEFX_FIGURE_SIZES][CUBEFX_FIGURE_FUNCTIONS + 1];
    double baseline[CUBEFX_FIGURE_SIZES][CUBEFX_FIGURE_FUNCTIONS + 1][CUBEFX_BASELINES];
};

enum status cubefx_figure_draw(struct reproduction *r, const struct cubefx_figure_asked *asked,
                               struct cubefx_figure *figure, struct error *error);

/* Mean over both sizes of a baseline's time over Cube-fx's, for functions first … last. */
double cubefx_figure_over(const struct cubefx_figure *figure, enum cubefx_baseline baseline,
                          int first, int last);
/* The same of naive Taylor's time over Horner's, of all functions. */
double cubefx_figure_naive_over_horner(const struct cubefx_figure *figure);
/* From how many functions on Cube-fx is faster than each baseline, at both sizes. */
double cubefx_figure_turning_point(const struct cubefx_figure *figure);
/* Its time of 17 functions over that of 16. */
double cubefx_figure_step(const struct cubefx_figure *figure);

/* Fig. 4.12: the naive mapping and merge 4 over the integer program's smallest optimal merge, for 1
 * to 16 functions of the first size's inputs. */
struct cubefx_merged {
    double naive_mean, naive_most, four_mean;
};
enum status cubefx_figure_merged(const struct cubefx_figure_asked *asked, const int64_t orders[],
                                 int order_count, struct cubefx_merged *merged,
                                 struct error *error);

/* A baseline's time on all of the core's vector units, which share the inputs; its last function is
 * summed over windows (struct cubefx_share). CORDIC has 4 iterations. */
enum status cubefx_baseline_ns(struct reproduction *r, const struct hardware *hw, int vector_cores,
                               const struct cubefx_share *all, enum cubefx_baseline baseline,
                               double *ns, struct error *error);

#endif
