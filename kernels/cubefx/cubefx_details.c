/* Cube-fx: what the integer program of Tang 2024 chooses, whether the simulated pipeline agrees,
 * how accurate named functions are, and what vectors alone would take. */
#include "kernels/cubefx/cubefx_segments.h"

#include "formats/json.h"
#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/cubefx_accuracy.h"
#include "kernels/cubefx/cubefx_merge.h"
#include "kernels/cubefx/cubefx_requests.h"
#include "kernels/details.h"
#include "search/restrict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORDIC_ITERATIONS = 4 }; /* thesis, 4.4.2 */

/* The largest merge count is the edge of the matrix unit. */
static int64_t chip_edge(const struct space *space)
{
    const struct space_block *last = &space->blocks[space->block_count - 1];
    return last->values[CUBEFX_MERGE][last->count[CUBEFX_MERGE] - 1];
}

static json_t *program_json(const struct merge_choice *choice)
{
    json_t *optimal = json_array(), *merges = json_array();
    const struct merge_plan *best = &choice->plans[choice->merge - 1];
    for (int64_t i = 0; i < choice->optimal_count; i++)
        json_array_append_new(optimal, json_integer(choice->optimal[i]));
    for (int64_t t = 1; t <= choice->edge; t++) {
        const struct merge_plan *plan = &choice->plans[t - 1];
        json_array_append_new(merges, json_pack("{s:I, s:I, s:I, s:I}", "merge", (json_int_t)t,
                                                "steps", (json_int_t)plan->steps, "mac_count",
                                                (json_int_t)plan->mac_count, "transfer_elements",
                                                (json_int_t)plan->transfer_elements));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "merge", (json_int_t)choice->merge,
                     "mac_count", (json_int_t)best->mac_count, "transfer_elements",
                     (json_int_t)best->transfer_elements, "edge", (json_int_t)choice->edge, "cost",
                     best->cost, "optimal", optimal, "merges", merges);
}

static bool is_optimal(const struct merge_choice *choice, int64_t merge)
{
    for (int64_t i = 0; i < choice->optimal_count; i++)
        if (choice->optimal[i] == merge)
            return true;
    return false;
}

/* The best tiling with one merge count; cores_used is 0 when none is legal. */
static enum status best_with(const struct space *space, int64_t merge, int threads,
                             struct found *found, struct error *error)
{
    const struct tiling fixed = {{[CUBEFX_MERGE] = merge,
                                  [CUBEFX_TILE] = AXIS_FREE,
                                  [CUBEFX_SEGMENTS] = AXIS_FREE,
                                  [CUBEFX_CORES] = AXIS_FREE}};
    struct space part;
    struct search_result result = {0};
    struct search_options options = {.threads = threads, .top = 1};
    enum status status = space_restrict(space, &fixed, &part, error);
    if (status == STATUS_OK)
        status = search(&part, &options, &result, error);
    *found = status == STATUS_OK && result.count ? result.best[0] : (struct found){0};
    search_result_clear(&result);
    space_restrict_clear(&part);
    return status;
}

static struct limiter found_limiter(const struct hardware *hw, const struct found *found)
{
    double busy_ns[HARDWARE_MAX_PIPES], bus_bytes[HARDWARE_MAX_BUSES];
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        busy_ns[p] = (double)found->timeline.busy_fs[p] / FS_PER_NS;
    for (int b = 0; b < HARDWARE_MAX_BUSES; b++)
        bus_bytes[b] = (double)found->bus_bytes[b];
    return limiter_of(hw, busy_ns, bus_bytes);
}

/* The integer program counts matrix operations; what the pipeline waits for is something else. */
static void explain_choice(const struct hardware *hw, const struct merge_choice *choice,
                           int64_t best_merge, const struct found *best, const struct found *theirs,
                           char text[400])
{
    struct limiter ours = found_limiter(hw, best), its = found_limiter(hw, theirs);
    double best_ns = found_ns(best);
    double their_ns = found_ns(theirs);
    int matrix = hw->matrix_pipe;
    snprintf(text, 400,
             "matrix operations are %.0f %% of the time at merge %lld and %.0f %% at merge %lld "
             "(%lld and %lld a block of inputs): %s limits there (%.0f %%), %s here (%.0f %%), and "
             "the integer program counts neither",
             100 * (double)theirs->timeline.busy_fs[matrix] / FS_PER_NS / their_ns,
             (long long)choice->merge,
             100 * (double)best->timeline.busy_fs[matrix] / FS_PER_NS / best_ns,
             (long long)best_merge, (long long)choice->plans[choice->merge - 1].mac_count,
             (long long)choice->plans[best_merge - 1].mac_count, its.name,
             100 * its.busy_ns / their_ns, ours.name, 100 * ours.busy_ns / best_ns);
}

static enum status add_choice(const struct space *space, const struct found *best,
                              const struct merge_choice *choice, int threads, json_t *details,
                              struct error *error)
{
    struct found theirs;
    int64_t merge = best->tiling.value[CUBEFX_MERGE];
    char why[400] = "the best tiling's merge is optimal for the integer program";
    TRY(best_with(space, choice->merge, threads, &theirs, error));
    bool wins = theirs.cores_used && theirs.timeline.end_fs == best->timeline.end_fs;
    if (!theirs.cores_used)
        snprintf(why, sizeof why, "no tiling with merge %lld fits the buffers",
                 (long long)choice->merge);
    else if (wins && merge != choice->merge)
        snprintf(why, sizeof why, "equally fast");
    else if (!is_optimal(choice, merge))
        explain_choice(space->hw, choice, merge, best, &theirs, why);
    else if (!wins)
        snprintf(why, sizeof why,
                 "merge %lld is optimal for the integer program as well, which cannot tell them "
                 "apart",
                 (long long)merge);
    double best_ns = found_ns(best);
    json_t *row = json_pack("{s:I, s:I, s:b, s:f}", "merge", (json_int_t)merge, "integer_program",
                            (json_int_t)choice->merge, "agrees", wins || is_optimal(choice, merge),
                            "time_ns", best_ns);
    double their_ns = theirs.cores_used ? found_ns(&theirs) : (double)NAN;
    json_object_set_new(row, "integer_program_time_ns", json_number(their_ns));
    json_object_set_new(row, "slower", json_number(their_ns / best_ns));
    json_object_set_new(row, "why", json_string(why));
    json_object_set_new(details, "merge_choice", row);
    return STATUS_OK;
}

static enum status add_integer_program(const struct problem *problem, const struct space *space,
                                       const struct search_result *result,
                                       const struct cubefx_requests *requests, int threads,
                                       json_t *details, struct error *error)
{
    struct merge_choice choice;
    int64_t edge = chip_edge(space);
    struct merge_problem integer_program = {
        .edge = requests->mac ? requests->mac : edge,
        .order = problem->size[CUBEFX_ORDER],
        .functions = problem->size[CUBEFX_FUNCTIONS],
        .transfer_weight = requests->transfer_weight,
    };
    enum status status = merge_choose(&integer_program, &choice, error);
    if (status != STATUS_OK)
        return status;
    json_object_set_new(details, "integer_program", program_json(&choice));
    if (choice.edge != edge)
        json_object_set_new(details, "merge_choice", json_null());
    else if (result->count)
        status = add_choice(space, &result->best[0], &choice, threads, details, error);
    merge_choice_clear(&choice);
    return status;
}

static json_t *accuracy_json(const char *name, const struct cubefx_accuracy *accuracy, int terms)
{
    json_t *coefficients = json_array();
    for (int i = 0; i < terms; i++)
        json_array_append_new(coefficients, json_real(accuracy->coefficients[i]));
    json_t *row =
        json_pack("{s:s, s:I}", "function", name, "samples", (json_int_t)accuracy->samples);
    json_object_set_new(row, "max_error", json_number(accuracy->cubefx.max_absolute));
    json_object_set_new(row, "mean_error", json_number(accuracy->cubefx.mean_absolute));
    json_object_set_new(row, "max_relative_error", json_number(accuracy->cubefx.max_relative));
    json_object_set_new(row, "horner_max_error", json_number(accuracy->horner.max_absolute));
    json_object_set_new(row, "coefficients", coefficients);
    return row;
}

/* A polynomial with more coefficients than the kernel has columns would be another one. */
static enum status check_terms(const struct cubefx_requests *requests, int terms,
                               struct error *error)
{
    for (int f = 0; f < requests->function_count; f++)
        if (requests->functions[f].terms > terms)
            return error_set(error, STATUS_INVALID,
                             "--function %s: %d coefficients, expected at most --order %d",
                             requests->functions[f].name, requests->functions[f].terms, terms);
    return STATUS_OK;
}

/* Errors over [p − 1, p + 1] of polynomials with K terms, powers 0 … K − 1. */
static enum status add_functions(const struct problem *problem,
                                 const struct cubefx_requests *requests, json_t *details,
                                 struct error *error)
{
    struct cubefx_accuracy_summary report;
    int count = requests->function_count, terms = (int)problem->size[CUBEFX_ORDER];
    if (problem->size[CUBEFX_ORDER] > SERIES_MAX_TERMS)
        return error_set(error, STATUS_INVALID,
                         "--order %lld: named functions have at most %d terms",
                         (long long)problem->size[CUBEFX_ORDER], SERIES_MAX_TERMS);
    struct cubefx_accuracy *accuracies = calloc((size_t)count + 1, sizeof *accuracies);
    if (!accuracies)
        return error_memory(error);
    enum status status = check_terms(requests, terms, error);
    if (status == STATUS_OK)
        status = cubefx_accuracy(requests->functions, count, requests->expand_at, terms, accuracies,
                                 &report, error);
    if (status == STATUS_OK) {
        json_t *rows = json_array();
        for (int f = 0; f < count; f++)
            json_array_append_new(
                rows, accuracy_json(requests->functions[f].name, &accuracies[f], terms));
        json_object_set_new(details, "accuracy",
                            json_pack("{s:f, s:f, s:f, s:i, s:f, s:b, s:o}", "expanded_at",
                                      requests->expand_at, "from", requests->expand_at - 1, "to",
                                      requests->expand_at + 1, "terms", terms, "scale",
                                      report.scale, "scaled", report.scaled, "functions", rows));
    }
    free(accuracies);
    return status;
}

static enum status add_comparison(const struct problem *problem, const struct space *space,
                                  const struct found *best, json_t *details, struct error *error)
{
    int64_t square = chip_edge(space) * chip_edge(space);
    struct cubefx_share share = {.functions = problem->size[CUBEFX_FUNCTIONS]};
    double best_ns = found_ns(best);
    struct tiling_simulator simulator;
    json_t *rows = json_array();
    int cores_used;
    share.inputs = slab_of(problem->size[CUBEFX_N], best->cores_used, square, &cores_used);
    enum status status = tiling_simulator_open(&simulator, error);
    for (int b = 0; b < CUBEFX_BASELINES && status == STATUS_OK; b++) {
        struct simulated simulated;
        share.order = b == CUBEFX_CORDIC ? CORDIC_ITERATIONS : problem->size[CUBEFX_ORDER];
        int64_t tile =
            cubefx_baseline_tile(space->hw, problem->type, &share, (enum cubefx_baseline)b);
        program_reset(&simulator.program, space->hw);
        status = cubefx_baseline_program(space->hw, problem->type, &share, tile,
                                         (enum cubefx_baseline)b, &simulator.program, error);
        if (status == STATUS_OK)
            status = simulate_program(&simulator, best->cores_used, &simulated, error);
        if (status == STATUS_OK)
            json_array_append_new(
                rows,
                json_pack("{s:s, s:I, s:f, s:f, s:s}", "instead", cubefx_baseline_names[b], "tile",
                          (json_int_t)tile, "time_ns", simulated.time_ns, "slower",
                          simulated.time_ns / best_ns, "bottleneck",
                          limiter_of(space->hw, simulated.busy_ns, simulated.bus_bytes).name));
    }
    tiling_simulator_close(&simulator);
    json_object_set_new(details, "comparison", rows);
    return status;
}

/* M for every t, from 1 on, as one list. */
static void list_mac_counts(json_t *program)
{
    json_t *counts = json_array(), *row;
    size_t index;
    json_array_foreach(json_object_get(program, "merges"), index, row)
        json_array_append(counts, json_object_get(row, "mac_count"));
    json_object_del(program, "merges");
    json_object_set_new(program, "mac_count_of_merge_1, 2, ...", counts);
}

void cubefx_shorten(json_t *details)
{
    size_t index;
    json_t *row, *program = json_object_get(details, "integer_program");
    if (program)
        list_mac_counts(program);
    if (json_is_null(json_object_get(details, "merge_choice")))
        json_object_set_new(
            details, "merge_choice",
            json_string("left out: the integer program is for another edge than the "
                        "chip's matrix unit has"));
    json_array_foreach(json_object_get(json_object_get(details, "accuracy"), "functions"), index,
                       row) json_object_del(row, "coefficients");
}

enum status cubefx_details(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, json_t *details,
                           struct error *error)
{
    struct cubefx_requests requests;
    TRY(cubefx_requests_read(problem, &requests, error));
    TRY(add_integer_program(problem, space, result, &requests, options->threads, details, error));
    if (requests.function_count)
        TRY(add_functions(problem, &requests, details, error));
    if (options->compare && result->count)
        TRY(add_comparison(problem, space, &result->best[0], details, error));
    return STATUS_OK;
}
