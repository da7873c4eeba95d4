/* Tang 2024, chapter 4: Cube-fx against what vectors alone do, and the merged mapping against the
 * naive one; one core, FP16, profiler times. */
#include "kernels/chapter.h"
#include "kernels/details.h"

#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/cubefx_figure.h"
#include "search/restrict.h"

enum {
    OVER_NAIVE,
    OVER_HORNER,
    OVER_ESTRIN,
    OVER_MOTZKIN,
    OVER_CORDIC,
    ONE_HORNER,
    ONE_ESTRIN,
    ONE_MOTZKIN,
    NINE_HORNER,
    NINE_ESTRIN,
    NINE_MOTZKIN,
    TURNING_POINT,
    STEP,
    VECTOR_SHARE,
    NAIVE_OVER_HORNER,
    MERGED_MEAN,
    MERGED_MOST,
    OVER_FOUR,
    ROWS,
};

#define SETTING "16384 and 32768 inputs, order 16"
#define FASTER                                                                                     \
    "our pipeline overlaps more than theirs: its store of padded results on MTE3 is all that is "  \
    "left of its time"

static const struct published rows[ROWS] = {
    [OVER_NAIVE] =
        {"T 4.4.2", "naive Taylor over Cube-fx, mean; " SETTING, "x", 2.73,
         "theirs is a mean over numbers of functions not given; ours over 1 ... 17; " FASTER},
    [OVER_HORNER] = {"T 4.4.2", "Horner over Cube-fx, mean", "x", 1.64, "as above"},
    [OVER_ESTRIN] =
        {"T 4.4.2", "Estrin over Cube-fx, mean", "x", 1.53,
         "as above; Estrin has one multiplication more a pair than Horner, and no "
         "parallelism to gain on one vector unit: theirs being faster is not explained"},
    [OVER_MOTZKIN] = {"T 4.4.2", "Motzkin over Cube-fx, mean", "x", 1.85, "as above"},
    [OVER_CORDIC] = {"T 4.4.2", "CORDIC (4 iterations) over Cube-fx, mean", "x", 6.06, "as above"},
    [ONE_HORNER] = {"T 4.4.2", "Horner over Cube-fx, one function", "x", 1 / 2.68, FASTER},
    [ONE_ESTRIN] = {"T 4.4.2", "Estrin over Cube-fx, one function", "x", 1 / 2.87, FASTER},
    [ONE_MOTZKIN] = {"T 4.4.2", "Motzkin over Cube-fx, one function", "x", 1 / 2.38, FASTER},
    [NINE_HORNER] = {"T 4.4.2", "Horner over Cube-fx, nine functions", "x", 2.48, FASTER},
    [NINE_ESTRIN] = {"T 4.4.2", "Estrin over Cube-fx, nine functions", "x", 2.48, FASTER},
    [NINE_MOTZKIN] = {"T 4.4.2", "Motzkin over Cube-fx, nine functions", "x", 2.80, FASTER},
    [TURNING_POINT] = {"T 4.4.2", "functions from which Cube-fx wins over all", "functions", 4,
                       FASTER},
    [STEP] = {"T 4.4.2", "Cube-fx with 17 functions over 16", "x", 1.79,
              "twice the results to drain and store; what does not double is the preparation"},
    [VECTOR_SHARE] = {"T 4.4.2", "share of the time in which the vector unit is busy", "%", 56.38,
                      "ours waits less"},
    [NAIVE_OVER_HORNER] = {"T 4.4.2", "naive Taylor over Horner (2.73 / 1.64)", "x", 2.73 / 1.64,
                           "three vector instructions a term against two"},
    [MERGED_MEAN] = {"T 4.4.3", "naive mapping over merged, mean; orders 2, 6, 12, 16384 inputs",
                     "x", 1.83,
                     "theirs is a mean over numbers of functions not given; ours over 1 ... 16"},
    [MERGED_MOST] = {"T 4.4.3", "naive mapping over merged, best case", "x", 3.39,
                     "the best case is one function of order 2, where results are padded most"},
    [OVER_FOUR] = {"T 4.4.3", "merge 4 over the optimal merge, mean", "x", 1.12,
                   "smallest optimal merge of the integer program"},
};

/* The best tile for one merge count with every step a segment of its own: the thesis's pipeline. */
static enum status pipeline(struct reproduction *r, int64_t inputs, int64_t order,
                            int64_t functions, int64_t merge, struct found *found,
                            struct error *error)
{
    struct problem problem = {
        .op = &cubefx_operator, .size = {inputs, order, functions}, .type = DTYPE_F16};
    struct tiling fixed = {{[CUBEFX_MERGE] = merge, [CUBEFX_TILE] = AXIS_FREE, [CUBEFX_CORES] = 1}};
    struct space space, part;
    struct search_result result = {0};
    struct search_options options = {.threads = r->threads, .top = 1};
    enum status status = space_open(&problem, &cubefx_segments, r->hw, 1, &space, error);
    if (status != STATUS_OK)
        return status;
    int64_t edge =
        space.blocks[0].values[CUBEFX_SEGMENTS][space.blocks[0].count[CUBEFX_SEGMENTS] - 1];
    fixed.value[CUBEFX_SEGMENTS] = (edge + merge - 1) / merge;
    status = space_restrict(&space, &fixed, &part, error);
    if (status == STATUS_OK)
        status = search(&part, &options, &result, error);
    if (status == STATUS_OK && result.count == 0)
        status = error_set(error, STATUS_INVALID, "no tile fits merge %lld", (long long)merge);
    if (status == STATUS_OK)
        *found = result.best[0];
    search_result_clear(&result);
    space_restrict_clear(&part);
    space_close(&space);
    return status;
}

/* struct cubefx_figure_asked's cubefx_ns. */
static enum status pipeline_ns(void *context, int64_t inputs, int64_t order, int64_t functions,
                               int64_t merge, double *ns, struct error *error)
{
    struct found found;
    TRY(pipeline(context, inputs, order, functions, merge, &found, error));
    *ns = found_ns(&found);
    return STATUS_OK;
}

static void fill_ratios(const struct cubefx_figure *figure, double *ours)
{
    static const struct {
        int row, first, last;
        enum cubefx_baseline baseline;
    } ratios[] = {
        {OVER_NAIVE, 1, CUBEFX_FIGURE_FUNCTIONS, CUBEFX_NAIVE_TAYLOR},
        {OVER_HORNER, 1, CUBEFX_FIGURE_FUNCTIONS, CUBEFX_HORNER},
        {OVER_ESTRIN, 1, CUBEFX_FIGURE_FUNCTIONS, CUBEFX_ESTRIN},
        {OVER_MOTZKIN, 1, CUBEFX_FIGURE_FUNCTIONS, CUBEFX_MOTZKIN},
        {OVER_CORDIC, 1, CUBEFX_FIGURE_FUNCTIONS, CUBEFX_CORDIC},
        {ONE_HORNER, 1, 1, CUBEFX_HORNER},
        {ONE_ESTRIN, 1, 1, CUBEFX_ESTRIN},
        {ONE_MOTZKIN, 1, 1, CUBEFX_MOTZKIN},
        {NINE_HORNER, 9, 9, CUBEFX_HORNER},
        {NINE_ESTRIN, 9, 9, CUBEFX_ESTRIN},
        {NINE_MOTZKIN, 9, 9, CUBEFX_MOTZKIN},
    };
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        ours[ratios[i].row] =
            cubefx_figure_over(figure, ratios[i].baseline, ratios[i].first, ratios[i].last);
    ours[TURNING_POINT] = cubefx_figure_turning_point(figure);
    ours[STEP] = cubefx_figure_step(figure);
    ours[NAIVE_OVER_HORNER] = cubefx_figure_naive_over_horner(figure);
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    static const int64_t orders[] = {2, 6, 12};
    const struct cubefx_figure_asked asked = {
        .hw = r->hw,
        .vector_cores = 1,
        .inputs = {16384, 32768},
        .cubefx_ns = pipeline_ns,
        .context = r,
    };
    struct cubefx_figure figure;
    struct cubefx_merged merged;
    struct found found;
    TRY(cubefx_figure_draw(r, &asked, &figure, error));
    TRY(pipeline(r, 16384, 16, 16, 1, &found, error));
    TRY(cubefx_figure_merged(&asked, orders, 3, &merged, error));
    fill_ratios(&figure, ours);
    ours[MERGED_MEAN] = merged.naive_mean;
    ours[MERGED_MOST] = merged.naive_most;
    ours[OVER_FOUR] = merged.four_mean;
    int vector = hardware_pipe(r->hw, "V", 1);
    if (vector >= 0)
        ours[VECTOR_SHARE] =
            100 * (double)found.timeline.busy_fs[vector] / (double)found.timeline.end_fs;
    return STATUS_OK;
}

const struct chapter cubefx_chapter = {rows, ROWS, compute};
