/* Tang 2024, chapter 4: Cube-fx against what vectors alone do, and the merged mapping against the
 * naive one; one core, FP16, profiler times. */
#include "kernels/chapter.h"
#include "kernels/details.h"

#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/cubefx_merge.h"
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

static enum status pipeline_ns(struct reproduction *r, int64_t inputs, int64_t order,
                               int64_t functions, int64_t merge, double *ns, struct error *error)
{
    struct found found;
    TRY(pipeline(r, inputs, order, functions, merge, &found, error));
    *ns = found_ns(&found);
    return STATUS_OK;
}

static enum status baseline_ns(struct reproduction *r, int64_t inputs, int64_t functions,
                               enum cubefx_baseline baseline, double *ns, struct error *error)
{
    struct cubefx_share share = {
        .inputs = inputs, .order = baseline == CUBEFX_CORDIC ? 4 : 16, .functions = functions};
    struct simulated simulated;
    int64_t tile = cubefx_baseline_tile(r->hw, DTYPE_F16, &share, baseline);
    program_reset(&r->simulator.program, r->hw);
    TRY(cubefx_baseline_program(r->hw, DTYPE_F16, &share, tile, baseline, &r->simulator.program,
                                error));
    TRY(simulate_program(&r->simulator, 1, &simulated, error));
    *ns = simulated.time_ns;
    return STATUS_OK;
}

enum { FUNCTIONS = 17, SIZES = 2 };

/* Times of the thesis's Fig. 4.8: pipeline and baselines by size and number of functions. */
struct figure {
    double pipeline[SIZES][FUNCTIONS + 1];
    double baseline[SIZES][FUNCTIONS + 1][CUBEFX_BASELINES];
};

static enum status draw(struct reproduction *r, struct figure *figure, struct error *error)
{
    static const int64_t inputs[SIZES] = {16384, 32768};
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++) {
            TRY(pipeline_ns(r, inputs[s], 16, j, 1, &figure->pipeline[s][j], error));
            for (int b = 0; b < CUBEFX_BASELINES; b++)
                TRY(baseline_ns(r, inputs[s], j, (enum cubefx_baseline)b,
                                &figure->baseline[s][j][b], error));
        }
    return STATUS_OK;
}

/* Mean over both sizes of a baseline's time over the pipeline's, for functions first … last. */
static double over(const struct figure *figure, enum cubefx_baseline baseline, int first, int last)
{
    double sum = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = first; j <= last; j++)
            sum += figure->baseline[s][j][baseline] / figure->pipeline[s][j];
    return sum / SIZES / (last - first + 1);
}

static double naive_over_horner(const struct figure *figure)
{
    double sum = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++)
            sum +=
                figure->baseline[s][j][CUBEFX_NAIVE_TAYLOR] / figure->baseline[s][j][CUBEFX_HORNER];
    return sum / SIZES / FUNCTIONS;
}

/* From how many functions on the pipeline is faster than each of them, at both sizes. */
static double turning_point(const struct figure *figure)
{
    int last_loss = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++)
            for (int b = 0; b < CUBEFX_BASELINES; b++)
                if (figure->baseline[s][j][b] <= figure->pipeline[s][j] && j > last_loss)
                    last_loss = j;
    return last_loss + 1;
}

/* Times of the mapping with the smallest optimal merge, with 1 and with 4. */
static enum status merged_case(struct reproduction *r, int64_t order, int64_t functions,
                               double *best, double *naive, double *four, struct error *error)
{
    struct merge_problem integer_program = {16, order, functions, 0};
    struct merge_choice choice;
    TRY(merge_choose(&integer_program, &choice, error));
    int64_t merge = choice.merge;
    merge_choice_clear(&choice);
    TRY(pipeline_ns(r, 16384, order, functions, merge, best, error));
    TRY(pipeline_ns(r, 16384, order, functions, 1, naive, error));
    return pipeline_ns(r, 16384, order, functions, 4, four, error);
}

/* Fig. 4.12: the smallest optimal merge of the integer program against 1 and against 4. */
static enum status merged(struct reproduction *r, double *ours, struct error *error)
{
    static const int64_t orders[] = {2, 6, 12};
    double sum = 0, most = 0, over_four = 0, best, naive, four;
    for (int o = 0; o < 3; o++)
        for (int64_t j = 1; j <= 16; j++) {
            TRY(merged_case(r, orders[o], j, &best, &naive, &four, error));
            sum += naive / best;
            over_four += four / best;
            most = naive / best > most ? naive / best : most;
        }
    ours[MERGED_MEAN] = sum / 48;
    ours[MERGED_MOST] = most;
    ours[OVER_FOUR] = over_four / 48;
    return STATUS_OK;
}

static void fill_ratios(const struct figure *figure, double *ours)
{
    static const struct {
        int row, first, last;
        enum cubefx_baseline baseline;
    } ratios[] = {
        {OVER_NAIVE, 1, FUNCTIONS, CUBEFX_NAIVE_TAYLOR},
        {OVER_HORNER, 1, FUNCTIONS, CUBEFX_HORNER},
        {OVER_ESTRIN, 1, FUNCTIONS, CUBEFX_ESTRIN},
        {OVER_MOTZKIN, 1, FUNCTIONS, CUBEFX_MOTZKIN},
        {OVER_CORDIC, 1, FUNCTIONS, CUBEFX_CORDIC},
        {ONE_HORNER, 1, 1, CUBEFX_HORNER},
        {ONE_ESTRIN, 1, 1, CUBEFX_ESTRIN},
        {ONE_MOTZKIN, 1, 1, CUBEFX_MOTZKIN},
        {NINE_HORNER, 9, 9, CUBEFX_HORNER},
        {NINE_ESTRIN, 9, 9, CUBEFX_ESTRIN},
        {NINE_MOTZKIN, 9, 9, CUBEFX_MOTZKIN},
    };
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        ours[ratios[i].row] = over(figure, ratios[i].baseline, ratios[i].first, ratios[i].last);
    ours[TURNING_POINT] = turning_point(figure);
    ours[STEP] = (figure->pipeline[0][17] / figure->pipeline[0][16] +
                  figure->pipeline[1][17] / figure->pipeline[1][16]) /
                 2;
    ours[NAIVE_OVER_HORNER] = naive_over_horner(figure);
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    struct figure figure;
    struct found found;
    TRY(draw(r, &figure, error));
    TRY(pipeline(r, 16384, 16, 16, 1, &found, error));
    TRY(merged(r, ours, error));
    fill_ratios(&figure, ours);
    int vector = hardware_pipe(r->hw, "V", 1);
    if (vector >= 0)
        ours[VECTOR_SHARE] =
            100 * (double)found.timeline.busy_fs[vector] / (double)found.timeline.end_fs;
    return STATUS_OK;
}

const struct chapter cubefx_chapter = {rows, ROWS, compute};
