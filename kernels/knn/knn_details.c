/* The two stages of a k-NN: what each costs, what limits it, how many loop steps are expected, and
 * what else there is (Tang 2024, 3.4 and 3.5). */
#include "formats/json.h"
#include "kernels/details.h"
#include "kernels/knn/knn_search.h"
#include "kernels/knn/knn_space.h"
#include "kernels/knn/knn_stages.h"
#include "kernels/knn/selb.h"
#include "kernels/slices.h"

/* A sum of programs, each as often as its part counts. */
static void add_simulated(struct simulated *sum, const struct simulated *part, double weight)
{
    sum->time_ns += weight * part->time_ns;
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        sum->busy_ns[p] += weight * part->busy_ns[p];
    for (int b = 0; b < HARDWARE_MAX_BUSES; b++)
        sum->bus_bytes[b] += weight * part->bus_bytes[b];
}

static enum status simulate_part(struct tiling_simulator *simulator, const struct space *space,
                                 const struct found *found, int part, struct simulated *simulated,
                                 struct error *error)
{
    program_reset(&simulator->program, space->hw);
    TRY(space->kind->generate(space, &found->tiling, part, &simulator->program, error));
    return simulate_program(simulator, space->kind->cores_used(space, &found->tiling, part),
                            simulated, error);
}

static json_t *stage_json(const struct hardware *hw, const char *name,
                          const struct simulated *stage, double tiles, double total_ns)
{
    struct limiter limiter = limiter_of(hw, stage->busy_ns, stage->bus_bytes);
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:s, s:f}", "stage", name, "tiles", tiles,
                     "tile_ns", stage->time_ns / tiles, "time_ns", stage->time_ns, "share",
                     stage->time_ns / total_ns, "bottleneck", limiter.name, "bottleneck_share",
                     limiter.busy_ns / stage->time_ns);
}

/* Simulates the three programs of the tiling once more, for what limits each stage. */
static enum status add_stages(struct tiling_simulator *simulator, const struct space *space,
                              const struct found *found, json_t *details, struct error *error)
{
    struct simulated distance, idle, step, stages[2] = {{.time_ns = 0}, {.time_ns = 0}};
    const double *weight = found->part_weight;
    TRY(simulate_part(simulator, space, found, KNN_PART_DISTANCE, &distance, error));
    TRY(simulate_part(simulator, space, found, KNN_PART_IDLE, &idle, error));
    TRY(simulate_part(simulator, space, found, KNN_PART_STEP, &step, error));
    add_simulated(&stages[0], &distance, weight[KNN_COST_DISTANCE]);
    add_simulated(&stages[1], &idle, weight[KNN_COST_IDLE] - weight[KNN_COST_STEP]);
    add_simulated(&stages[1], &step, weight[KNN_COST_STEP]);
    double total_ns = stages[0].time_ns + stages[1].time_ns;
    json_object_set_new(
        details, "stages",
        json_pack(
            "[o, o]",
            stage_json(space->hw, "distance", &stages[0], weight[KNN_COST_DISTANCE], total_ns),
            stage_json(space->hw, "selection", &stages[1], weight[KNN_COST_IDLE], total_ns)));
    return STATUS_OK;
}

static void add_costs(const struct found *found, json_t *details)
{
    json_object_set_new(
        details, "tile_costs",
        json_pack("{s:f, s:f, s:f}", "distance_ns",
                  (double)found->part_fs[KNN_COST_DISTANCE] / FS_PER_NS, "selection_idle_ns",
                  (double)found->part_fs[KNN_COST_IDLE] / FS_PER_NS, "selection_step_ns",
                  (double)found->part_fs[KNN_COST_STEP] / FS_PER_NS));
}

static enum status add_distance_tiling(const struct space *space, const struct found *found,
                                       json_t *details, struct error *error)
{
    struct space product;
    struct tiling own;
    TRY(knn_distance_open(space, &found->tiling, &product, &own, error));
    json_object_set_new(details, "distance_tiling",
                        tiling_json(product.axes, product.axis_count, &own));
    space_close(&product);
    return STATUS_OK;
}

/* Some tiles along n, the first and the last among them. */
static json_t *tiles_json(const struct knn_space *knn, const struct tiling *tiling, int64_t tiles)
{
    json_t *rows = json_array();
    for (int64_t t = 1, step = 1; t <= tiles; t += step) {
        double k = (double)knn->tile.k;
        json_array_append_new(rows, json_pack("{s:I, s:f, s:f}", "tile", (json_int_t)t,
                                              "row_updates", k / (double)t, "loop_steps",
                                              selb_steps(knn->tile.k, tiling->value[KNN_M2],
                                                         tiling->value[KNN_N2], (double)t)));
        step = t < 4 ? 1 : t;
        if (t < tiles && t + step > tiles)
            step = tiles - t;
    }
    return rows;
}

/* eq. 3.9 takes the updates of a row for the steps of the loop; the loop ends with the last of the
 * tile's rows. */
static void add_steps(const struct space *space, const struct found *found, json_t *details)
{
    const struct knn_space *knn = knn_space_of(space);
    const int64_t *v = found->tiling.value;
    int64_t tiles = divide_up(knn->columns, v[KNN_N1]) * divide_up(v[KNN_N1], v[KNN_N2]);
    double rows = found->part_weight[KNN_COST_IDLE] / (double)tiles;
    double mean = (double)knn->tile.k * harmonic_number(tiles);
    double most = selb_steps_sum(knn->tile.k, v[KNN_M2], v[KNN_N2], 1, tiles);
    double step_ns = rows * (double)found->part_fs[KNN_COST_STEP] / FS_PER_NS;
    double time_ns = found_ns(found);
    double counted = knn->steps == KNN_STEPS_MEAN ? mean : most;
    double mean_ns = time_ns + (mean - counted) * step_ns;
    double most_ns = time_ns + (most - counted) * step_ns;
    json_t *loop = json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "counted",
                             knn->steps == KNN_STEPS_MEAN ? "mean" : "max", "tiles_along_n",
                             (json_int_t)tiles, "steps_mean", mean, "steps_max", most,
                             "time_mean_ns", mean_ns, "time_max_ns", most_ns, "time_max_over_mean",
                             most_ns / mean_ns, "tiles", tiles_json(knn, &found->tiling, tiles));
    if (knn->tile.k > v[KNN_N2])
        json_object_set_new(
            loop, "note",
            json_string("k is more than a tile has columns: the first tiles' k/t is "
                        "more than they can do, and --steps max counts less"));
    json_object_set_new(details, "loop_steps", loop);
}

static json_t *compared(const struct space *space, const char *name, const struct tiling *tiling,
                        double time_ns, double best_ns)
{
    return json_pack("{s:s, s:o, s:f, s:f}", "instead", name, "tiling",
                     tiling_json(space->axes, space->axis_count, tiling), "time_ns", time_ns,
                     "slower", time_ns / best_ns);
}

static enum status compare_stages(const struct space *space, const struct found *found,
                                  const struct details_options *options, json_t *rows,
                                  struct error *error)
{
    struct knn_stages stages;
    double best_ns = found_ns(found);
    enum status status =
        knn_stages_find(space, found->cores_used, options->threads, options->stop, &stages, error);
    if (status != STATUS_OK || !stages.any)
        return status;
    json_array_append_new(rows, compared(space, "distance stage tuned alone", &stages.distance,
                                         (double)stages.distance_fs / FS_PER_NS, best_ns));
    json_array_append_new(rows, compared(space, "selection stage tuned alone", &stages.selection,
                                         (double)stages.selection_fs / FS_PER_NS, best_ns));
    return STATUS_OK;
}

/* The mean time of a selection tile by another algorithm, which has no early exit. */
static enum status bitonic_ns(struct tiling_simulator *simulator, const struct knn_space *knn,
                              int cores, const struct knn_tile *tile, int64_t tiles, double *ns,
                              struct error *error)
{
    (void)tiles;
    struct simulated simulated;
    program_reset(&simulator->program, knn->machine.hw);
    TRY(knn_bitonic_program(&knn->machine, tile, &simulator->program, error));
    TRY(simulate_program(simulator, cores, &simulated, error));
    *ns = simulated.time_ns;
    return STATUS_OK;
}

static enum status heap_with(struct tiling_simulator *simulator, const struct knn_space *knn,
                             int cores, const struct knn_tile *tile, int64_t rebuilds, double *ns,
                             struct error *error)
{
    struct simulated simulated;
    program_reset(&simulator->program, knn->machine.hw);
    TRY(knn_heap_program(&knn->machine, tile, rebuilds, &simulator->program, error));
    TRY(simulate_program(simulator, cores, &simulated, error));
    *ns = simulated.time_ns;
    return STATUS_OK;
}

/* A re-heap costs the same every time: a line through no column and all columns. */
static enum status heap_ns(struct tiling_simulator *simulator, const struct knn_space *knn,
                           int cores, const struct knn_tile *tile, int64_t tiles, double *ns,
                           struct error *error)
{
    double none, all, rebuilds = 0;
    TRY(heap_with(simulator, knn, cores, tile, 0, &none, error));
    TRY(heap_with(simulator, knn, cores, tile, tile->columns, &all, error));
    struct knn_tile whole = *tile;
    whole.columns = tiles * tile->columns;
    rebuilds = knn_heap_rebuilds(&whole, 0) / (double)tiles;
    *ns = none + (all - none) * rebuilds / (double)tile->columns;
    return STATUS_OK;
}

static enum status compare_baselines(struct tiling_simulator *simulator, const struct space *space,
                                     const struct found *found, json_t *rows, struct error *error)
{
    static const struct {
        const char *name;
        enum status (*tile_ns)(struct tiling_simulator *, const struct knn_space *, int,
                               const struct knn_tile *, int64_t, double *, struct error *);
    } baselines[] = {{"bitonic selection", bitonic_ns}, {"heap selection", heap_ns}};
    const struct knn_space *knn = knn_space_of(space);
    const int64_t *v = found->tiling.value;
    int64_t tiles = divide_up(knn->columns, v[KNN_N1]) * divide_up(v[KNN_N1], v[KNN_N2]);
    struct knn_tile tile = knn->tile;
    double best_ns = found_ns(found);
    double distance_ns = found->part_weight[KNN_COST_DISTANCE] *
                         (double)found->part_fs[KNN_COST_DISTANCE] / FS_PER_NS;
    tile.rows = v[KNN_M2];
    tile.columns = v[KNN_N2];
    for (size_t i = 0; i < sizeof baselines / sizeof *baselines; i++) {
        double ns;
        TRY(baselines[i].tile_ns(simulator, knn, found->cores_used, &tile, tiles, &ns, error));
        json_array_append_new(rows, compared(space, baselines[i].name, &found->tiling,
                                             distance_ns + found->part_weight[KNN_COST_IDLE] * ns,
                                             best_ns));
    }
    return STATUS_OK;
}

static enum status add_comparison(struct tiling_simulator *simulator, const struct space *space,
                                  const struct found *found, const struct details_options *options,
                                  json_t *details, struct error *error)
{
    json_t *rows = json_array();
    enum status status = compare_stages(space, found, options, rows, error);
    if (status == STATUS_OK)
        status = compare_baselines(simulator, space, found, rows, error);
    bool dropped = options->stop && *options->stop;
    json_object_set_new(details, "comparison", dropped ? json_null() : rows);
    if (dropped)
        json_decref(rows);
    return status;
}

enum status knn_details(const struct problem *problem, const struct space *space,
                        const struct search_result *result, const struct details_options *options,
                        json_t *details, struct error *error)
{
    (void)problem;
    const struct found *found = result->best;
    struct tiling_simulator simulator;
    if (result->count == 0)
        return STATUS_OK;
    enum status status = tiling_simulator_open(&simulator, error);
    if (status == STATUS_OK)
        status = add_stages(&simulator, space, found, details, error);
    if (status == STATUS_OK)
        status = add_distance_tiling(space, found, details, error);
    if (status == STATUS_OK) {
        add_costs(found, details);
        add_steps(space, found, details);
        if (options->compare)
            status = add_comparison(&simulator, space, found, options, details, error);
    }
    tiling_simulator_close(&simulator);
    return status;
}
