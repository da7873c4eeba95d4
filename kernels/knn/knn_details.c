/* The two stages of a k-NN: what each costs, what limits it, how many loop steps are expected, and
 * what else there is (Tang 2024, 3.4 and 3.5).
 *
 * Among that is what tuning one stage alone would choose (Tang 2024, 3.5.2). Of each distance tile
 * the fastest selection under it is kept (a lead), and both questions are about leads alone. Tuning
 * the distances: leads in order of bound are tuned until a bound exceeds the fastest so far. Tuning
 * the selection: all that share the fastest one are tuned, and the fastest of these counts, in
 * favour of what is compared. */
#include "formats/json.h"
#include "kernels/details.h"
#include "kernels/knn/knn_costs.h"
#include "kernels/knn/selb.h"
#include "kernels/slices.h"

#include <stdlib.h>

/* ---- one stage tuned alone ------------------------------------------------------------------- */

enum { LEADS_AT_ONCE = 8 };

/* One distance tile that some tiling uses, and the fastest selection under it. */
struct lead {
    int64_t product, products; /* its number, and how often it is computed */
    int64_t selection_fs, index;
    bool any;
};

/* Keeps the fastest selection of the choice's distance tile. */
static bool keep_fastest_selection(void *context, const struct choice *choice)
{
    struct lead *lead = (struct lead *)context + choice->product;
    if (!lead->any || choice->selection_fs < lead->selection_fs)
        *lead = (struct lead){choice->product, choice->products, choice->selection_fs,
                              choice->index, true};
    return true;
}

static int64_t lead_distance_fs(const struct knn_costs *costs, const struct lead *lead)
{
    struct choice choice = {.product = lead->product, .products = lead->products};
    return choice_time_fs(costs, &choice);
}

static int64_t lead_time_fs(const struct knn_costs *costs, const struct lead *lead)
{
    struct choice choice = {
        .product = lead->product, .products = lead->products, .selection_fs = lead->selection_fs};
    return choice_time_fs(costs, &choice);
}

/* Leads with a sort key: the standard library's sort knows no context. */
struct keyed {
    int64_t key;
    struct lead lead;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->lead.product < b->lead.product ? -1 : a->lead.product > b->lead.product;
}

/* Tunes or bounds the distance tiles of some leads. */
static enum status improve_leads(struct knn_costs *costs, const struct keyed *leads, int64_t count,
                                 enum status (*act)(struct knn_costs *, const int64_t *, int64_t,
                                                    struct error *),
                                 struct error *error)
{
    int64_t *products = malloc(((size_t)count + 1) * sizeof *products);
    if (!products)
        return error_memory(error);
    for (int64_t i = 0; i < count; i++)
        products[i] = leads[i].lead.product;
    enum status status = act(costs, products, count, error);
    free(products);
    return status;
}

static void sort_by_distance(const struct knn_costs *costs, struct keyed *leads, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        leads[i].key = lead_distance_fs(costs, &leads[i].lead);
    qsort(leads, (size_t)count, sizeof *leads, by_key);
}

/* Better bounds for all that the one of lowest bound, tuned, does not rule out. */
static enum status sharpen_bounds(struct knn_costs *costs, struct keyed *leads, int64_t count,
                                  struct error *error)
{
    int64_t open = 1;
    sort_by_distance(costs, leads, count);
    enum status status = improve_leads(costs, leads, 1, knn_costs_tune, error);
    while (open < count && leads[open].key <= lead_distance_fs(costs, &leads[0].lead))
        open++;
    if (status == STATUS_OK)
        status = improve_leads(costs, leads, open, knn_costs_bound, error);
    sort_by_distance(costs, leads, count);
    return status;
}

static bool is_told_to_stop(const volatile sig_atomic_t *stop)
{
    return stop && *stop;
}

/* Tunes distance tiles in order of their bounds until none can be faster than the fastest; then, of
 * equal ones, takes that with the fastest selection. */
static enum status tune_distance_alone(struct knn_costs *costs, struct keyed *leads, int64_t count,
                                       const volatile sig_atomic_t *stop, struct lead *best,
                                       struct error *error)
{
    int64_t least = INT64_MAX, selection_fs = INT64_MAX;
    TRY(sharpen_bounds(costs, leads, count, error));
    *best = leads[0].lead;
    for (int64_t i = 0; i < count && leads[i].key <= least && !is_told_to_stop(stop);
         i += LEADS_AT_ONCE) {
        int64_t size = count - i < LEADS_AT_ONCE ? count - i : LEADS_AT_ONCE;
        TRY(improve_leads(costs, leads + i, size, knn_costs_tune, error));
        for (int64_t j = i; j < i + size; j++) {
            int64_t fs = lead_distance_fs(costs, &leads[j].lead);
            if (fs < least || (fs == least && leads[j].lead.selection_fs < selection_fs)) {
                least = fs;
                selection_fs = leads[j].lead.selection_fs;
                *best = leads[j].lead;
            }
        }
    }
    return STATUS_OK;
}

/* Tunes the distance tiles of all that have the fastest selection. */
static enum status tune_selection_alone(struct knn_costs *costs, struct keyed *leads, int64_t count,
                                        const volatile sig_atomic_t *stop, struct lead *best,
                                        struct error *error)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < count; i++)
        leads[i].key = leads[i].lead.selection_fs;
    qsort(leads, (size_t)count, sizeof *leads, by_key);
    *best = leads[0].lead;
    for (int64_t i = 0; i < count && leads[i].key == leads[0].key && !is_told_to_stop(stop); i++) {
        TRY(improve_leads(costs, leads + i, 1, knn_costs_tune, error));
        if (lead_time_fs(costs, &leads[i].lead) < least) {
            least = lead_time_fs(costs, &leads[i].lead);
            *best = leads[i].lead;
        }
    }
    return STATUS_OK;
}

static enum status find_stages(struct knn_costs *costs, struct lead *leads, struct keyed *keyed,
                               int64_t products, const volatile sig_atomic_t *stop,
                               struct knn_stages *stages, struct error *error)
{
    struct lead distance = {0}, selection = {0};
    int64_t count = 0;
    for (int m1 = 0; m1 < costs->m1_count; m1++)
        choices_visit(costs, m1, false, keep_fastest_selection, leads);
    for (int64_t p = 0; p < products; p++)
        if (leads[p].any)
            keyed[count++] = (struct keyed){0, leads[p]};
    if (count == 0)
        return STATUS_OK;
    enum status status = tune_distance_alone(costs, keyed, count, stop, &distance, error);
    if (status == STATUS_OK)
        status = tune_selection_alone(costs, keyed, count, stop, &selection, error);
    if (status != STATUS_OK || is_told_to_stop(stop))
        return status;
    stages->any = true;
    stages->distance_fs = lead_time_fs(costs, &distance);
    stages->selection_fs = lead_time_fs(costs, &selection);
    space_tiling(costs->space, distance.index, &stages->distance);
    space_tiling(costs->space, selection.index, &stages->selection);
    return STATUS_OK;
}

enum status knn_stages_find(const struct space *space, int cores, int threads,
                            const volatile sig_atomic_t *stop, struct knn_stages *stages,
                            struct error *error)
{
    struct knn_costs costs;
    struct recorder recorder = {.threads = threads};
    *stages = (struct knn_stages){0};
    const struct space_block *block = space->blocks;
    while (block->values[KNN_CORES][0] != cores)
        block++;
    knn_costs_open(&costs, space, block, &recorder);
    enum status status = knn_costs_profile(&costs, error);
    if (status == STATUS_OK) {
        int64_t products = (int64_t)costs.m1_count * costs.n1_count;
        struct lead *leads = calloc((size_t)products + 1, sizeof *leads);
        struct keyed *keyed = calloc((size_t)products + 1, sizeof *keyed);
        status = leads && keyed ? find_stages(&costs, leads, keyed, products, stop, stages, error)
                                : error_memory(error);
        free(leads);
        free(keyed);
    }
    knn_costs_close(&costs);
    return status;
}

/* ---- details --------------------------------------------------------------------------------- */

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
