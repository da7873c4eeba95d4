/* Draws Tang 2024, Fig. 4.8 and 4.12: simulates what the figures have bars of, and takes the means
 * that the text prints. Baselines get one program for each vector unit, which play in step. */
#include "kernels/cubefx/cubefx_figure.h"
#include "kernels/cubefx/cubefx_merge.h"
#include "kernels/details.h"

enum { FUNCTIONS = CUBEFX_FIGURE_FUNCTIONS, SIZES = CUBEFX_FIGURE_SIZES };
enum { CORDIC_ITERATIONS = 4, MERGED_FUNCTIONS = 16 };

enum status cubefx_baseline_ns(struct reproduction *r, const struct hardware *hw, int vector_cores,
                               const struct cubefx_share *all, enum cubefx_baseline baseline,
                               double *ns, struct error *error)
{
    struct cubefx_share share = *all;
    struct simulated simulated;
    share.inputs = (all->inputs + vector_cores - 1) / vector_cores;
    if (baseline == CUBEFX_CORDIC)
        share.order = CORDIC_ITERATIONS;
    int64_t tile = cubefx_baseline_tile(hw, DTYPE_F16, &share, baseline);
    program_reset(&r->simulator.program, hw);
    TRY(cubefx_baseline_program(hw, DTYPE_F16, &share, tile, baseline, &r->simulator.program,
                                error));
    TRY(simulate_program(&r->simulator, vector_cores, &simulated, error));
    *ns = simulated.time_ns;
    return STATUS_OK;
}

enum status cubefx_figure_draw(struct reproduction *r, const struct cubefx_figure_asked *asked,
                               struct cubefx_figure *figure, struct error *error)
{
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++) {
            const struct cubefx_share share = {asked->inputs[s], CUBEFX_FIGURE_ORDER, j, 1};
            TRY(asked->cubefx_ns(asked->context, asked->inputs[s], CUBEFX_FIGURE_ORDER, j, 1,
                                 &figure->cubefx[s][j], error));
            for (int b = 0; b < CUBEFX_BASELINES; b++)
                TRY(cubefx_baseline_ns(r, asked->hw, asked->vector_cores, &share,
                                       (enum cubefx_baseline)b, &figure->baseline[s][j][b], error));
        }
    return STATUS_OK;
}

double cubefx_figure_over(const struct cubefx_figure *figure, enum cubefx_baseline baseline,
                          int first, int last)
{
    double sum = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = first; j <= last; j++)
            sum += figure->baseline[s][j][baseline] / figure->cubefx[s][j];
    return sum / SIZES / (last - first + 1);
}

double cubefx_figure_naive_over_horner(const struct cubefx_figure *figure)
{
    double sum = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++)
            sum +=
                figure->baseline[s][j][CUBEFX_NAIVE_TAYLOR] / figure->baseline[s][j][CUBEFX_HORNER];
    return sum / SIZES / FUNCTIONS;
}

double cubefx_figure_turning_point(const struct cubefx_figure *figure)
{
    int last_loss = 0;
    for (int s = 0; s < SIZES; s++)
        for (int j = 1; j <= FUNCTIONS; j++)
            for (int b = 0; b < CUBEFX_BASELINES; b++)
                if (figure->baseline[s][j][b] <= figure->cubefx[s][j] && j > last_loss)
                    last_loss = j;
    return last_loss + 1;
}

double cubefx_figure_step(const struct cubefx_figure *figure)
{
    double sum = 0;
    for (int s = 0; s < SIZES; s++)
        sum += figure->cubefx[s][FUNCTIONS] / figure->cubefx[s][FUNCTIONS - 1];
    return sum / SIZES;
}

/* Adds a case: times with the smallest optimal merge, with 1 and with 4. */
static enum status add_case(const struct cubefx_figure_asked *asked, int64_t order,
                            int64_t functions, struct cubefx_merged *merged, struct error *error)
{
    struct merge_problem integer_program = {16, order, functions, 0};
    struct merge_choice choice;
    double ns[3];
    TRY(merge_choose(&integer_program, &choice, error));
    const int64_t merges[] = {choice.merge, 1, 4};
    merge_choice_clear(&choice);
    for (int m = 0; m < 3; m++)
        TRY(asked->cubefx_ns(asked->context, asked->inputs[0], order, functions, merges[m], &ns[m],
                             error));
    merged->naive_mean += ns[1] / ns[0];
    merged->four_mean += ns[2] / ns[0];
    merged->naive_most = ns[1] / ns[0] > merged->naive_most ? ns[1] / ns[0] : merged->naive_most;
    return STATUS_OK;
}

enum status cubefx_figure_merged(const struct cubefx_figure_asked *asked, const int64_t orders[],
                                 int order_count, struct cubefx_merged *merged, struct error *error)
{
    *merged = (struct cubefx_merged){0};
    for (int o = 0; o < order_count; o++)
        for (int64_t j = 1; j <= MERGED_FUNCTIONS; j++)
            TRY(add_case(asked, orders[o], j, merged, error));
    merged->naive_mean /= (double)order_count * MERGED_FUNCTIONS;
    merged->four_mean /= (double)order_count * MERGED_FUNCTIONS;
    return STATUS_OK;
}
