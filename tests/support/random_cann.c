/* Draws problems, chips and tilings of the space `cann`. Chips are one description with other
 * sizes, and features that are drawn one by one: a bias table, latencies, transposed prices,
 * narrow buses, a cache, prices of pieces. Tilings are drawn value by value, each within what
 * those before it leave, until one can run; large values come more often, as what stays in a
 * buffer is the hard part. */
#include "tests/support/random_cann.h"

#include "kernels/slices.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const machines[] = {
    "",
    "buffers.l1.capacity_bytes=65536",
    "buffers.l0a.capacity_bytes=8192 buffers.l0c.capacity_bytes=16384",
    "buffers.l0b.capacity_bytes=4096 paths.l1->l0b.bandwidth_gbps=20",
    "issue_ns=200 matrix.f16.gflops=300 buffers.ub.capacity_bytes=1024",
};
enum { MACHINES = sizeof machines / sizeof *machines };

static int64_t pick(gsl_rng *rng, int64_t most)
{
    return 1 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most > 1 ? most : 1));
}

static int add_path(struct hardware *hw, int source, int destination, int like)
{
    hw->paths[hw->path_count] = hw->paths[like];
    hw->paths[hw->path_count].source = (int8_t)source;
    hw->paths[hw->path_count].destination = (int8_t)destination;
    return hw->path_count++;
}

static void add_bias_table(struct hardware *hw)
{
    int l1 = hardware_buffer(hw, "l1", 2), l0a = hardware_buffer(hw, "l0a", 3);
    if (hardware_buffer(hw, "bt", 2) >= 0)
        return;
    strcpy(hw->buffers[hw->buffer_count].name, "bt");
    hw->buffers[hw->buffer_count].capacity_bytes = 1024;
    add_path(hw, l1, hw->buffer_count++, hardware_path(hw, l1, l0a));
}

/* Every path has a table of its own, in which each entry is another time. */
static void add_bursts(gsl_rng *rng, struct hardware *hw)
{
    for (int p = 0; p < hw->path_count; p++) {
        struct burst_table *table = &hw->burst_tables[p];
        *table = (struct burst_table){.row_count = (int)pick(rng, 5), .limit_count = 5};
        for (int r = 0; r < table->row_count; r++)
            table->align_bytes[r] = 16 << r;
        for (int c = 0; c < 5; c++)
            table->up_to_bytes[c] = 32 << c;
        for (int r = 0; r < table->row_count; r++)
            for (int c = 0; c <= 5; c++)
                table->fs[r][c] = pick(rng, 20) * FS_PER_NS / 2;
        hw->prices[hw->paths[p].price].burst_table = (int8_t)p;
        hw->prices[hw->paths[p].transposed_price].burst_table = (int8_t)p;
    }
    hw->burst_table_count = hw->path_count;
}

/* What transposes on the way is fed slower. */
static void add_transposed_prices(gsl_rng *rng, struct hardware *hw)
{
    for (int p = 0; p < hw->path_count; p++) {
        struct path *path = &hw->paths[p];
        struct price *price = &hw->prices[hw->price_count];
        if (path->bus >= 0 || pick(rng, 2) == 1)
            continue;
        *price = hw->prices[path->price];
        price->rate = rate_reduce(price->rate.fs * pick(rng, 5), price->rate.units);
        path->transposed_price = (int16_t)hw->price_count++;
    }
}

static void add_latencies(gsl_rng *rng, struct hardware *hw)
{
    for (int p = 0; p < hw->price_count; p++)
        hw->prices[p].latency_fs = pick(rng, 2) == 1 ? 0 : pick(rng, 300) * FS_PER_NS;
}

/* Few transfers fill the bus. */
static void narrow_buses(gsl_rng *rng, struct hardware *hw)
{
    for (int b = 0; b < hw->bus_count; b++) {
        struct bus *bus = &hw->buses[b];
        int64_t most = bus->total_bytes_per_s[0] * pick(rng, 3);
        for (int n = 0; n < bus->sharers; n++)
            if (bus->total_bytes_per_s[n] > most)
                bus->total_bytes_per_s[n] = most;
    }
}

/* Gives a path its own bus: as wide as the one it has, or half as wide. */
static void add_bus(gsl_rng *rng, struct hardware *hw, struct path *path)
{
    struct bus *bus = &hw->buses[hw->bus_count];
    int64_t part = pick(rng, 2);
    *bus = hw->buses[path->bus];
    strcpy(bus->name, "behind");
    for (int n = 0; n < bus->sharers; n++)
        bus->total_bytes_per_s[n] /= part;
    path->bus = hw->prices[path->price].bus = (int8_t)hw->bus_count++;
}

/* A path from behind the cache: nowhere faster than what hits (hardware/build.c). */
static void add_misses(gsl_rng *rng, struct hardware *hw, int behind)
{
    int gm = hardware_buffer(hw, "gm", 2), l1 = hardware_buffer(hw, "l1", 2);
    int hit = hardware_path(hw, gm, l1), miss = hardware_path(hw, behind, l1);
    if (miss < 0)
        miss = add_path(hw, behind, l1, hit);
    struct path *path = &hw->paths[miss];
    path->bus = hw->paths[hit].bus;
    path->price = path->transposed_price = (int16_t)hw->price_count++;
    struct price *price = &hw->prices[path->price];
    *price = hw->prices[hw->paths[hit].price];
    price->base_fs += (pick(rng, 4) - 1) * 100 * FS_PER_NS;
    price->latency_fs += (pick(rng, 4) - 1) * 100 * FS_PER_NS;
    price->rate = rate_reduce(price->rate.fs * pick(rng, 3), price->rate.units);
    if (pick(rng, 2) == 1)
        add_bus(rng, hw, path);
}

static void add_cache(gsl_rng *rng, struct hardware *hw)
{
    struct cache *cache = &hw->cache;
    if (cache->behind < 0 || cache->all_miss_bytes == 0) {
        strcpy(hw->buffers[hw->buffer_count].name, "hbm");
        hw->buffers[hw->buffer_count].capacity_bytes = 0;
        cache->buffer = (int8_t)hardware_buffer(hw, "gm", 2);
        cache->behind = (int8_t)hw->buffer_count++;
    }
    cache->all_hit_bytes = pick(rng, 4) == 1 ? 0 : pick(rng, 200) * 1000;
    cache->all_miss_bytes = cache->all_hit_bytes + (pick(rng, 3) - 1) * pick(rng, 1000) * 1000;
    cache->is_cold = pick(rng, 3) == 1;
    add_misses(rng, hw, cache->behind);
}

void random_cann_hardware(gsl_rng *rng, struct hardware *hw)
{
    machine_load_named(hw, SOURCE_DIR "/tests/support/split-chip.cfg",
                       machines[pick(rng, MACHINES) - 1]);
    hw->buffers[hardware_buffer(hw, "l0c", 3)].unit_flag = pick(rng, 2) == 1;
    if (pick(rng, 2) == 1)
        add_bias_table(hw);
    if (pick(rng, 2) == 1)
        add_latencies(rng, hw);
    if (pick(rng, 2) == 1)
        add_transposed_prices(rng, hw);
    if (pick(rng, 2) == 1)
        narrow_buses(rng, hw);
    if (pick(rng, 2) == 1)
        add_cache(rng, hw);
    if (pick(rng, 2) == 1)
        add_bursts(rng, hw);
}

void random_cann_space(gsl_rng *rng, const struct hardware *hw, int64_t most,
                       struct problem *problem, struct space *space)
{
    struct error error;
    int64_t mn = 1 + pick(rng, most);
    static const enum dtype types[] = {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_I8};
    *problem = (struct problem){.op = &matmul_operator,
                                .type = types[pick(rng, 4) - 1],
                                .size = {pick(rng, mn), pick(rng, most), pick(rng, mn), 1}};
    if (pick(rng, 2) == 1)
        problem->size[MATMUL_BATCH] = pick(rng, 13);
    for (int c = 0; c < MATMUL_CHOICES; c++)
        problem->choice[c] = (int)pick(rng, matmul_operator.choices[c].count) - 1;
    if (problem->type == DTYPE_I8 && problem->choice[MATMUL_OUT_TYPE] == CHOICE_SAME)
        problem->choice[MATMUL_OUT_TYPE] = CHOICE_ACCUMULATOR; /* no chip has the other */
    const struct operator_space *kind = pick(rng, 4) == 1 ? &matmul_tcube : &matmul_cann;
    int cores = (int)pick(rng, 6);
    if (problem->type == DTYPE_I8 && problem->choice[MATMUL_OUT_TYPE] == CHOICE_BF16 &&
        space_open(problem, kind, hw, cores, space, &error) != STATUS_OK)
        problem->choice[MATMUL_OUT_TYPE] = CHOICE_F16; /* shipped chips have not that one */
    else if (problem->type == DTYPE_I8 && problem->choice[MATMUL_OUT_TYPE] == CHOICE_BF16)
        return;
    cr_assert_eq(space_open(problem, kind, hw, cores, space, &error), STATUS_OK, "%s", error.text);
}

/* Any value up to `most`, the large ones more often than not. */
static int64_t pick_size(gsl_rng *rng, int64_t most)
{
    return pick(rng, 3) == 1 ? most : pick(rng, most);
}

void random_cann_values(gsl_rng *rng, const struct space *space, struct tiling *tiling)
{
    const struct cann *cann = cann_of(space);
    int64_t *v = tiling->value;
    int64_t m = cann->size[CANN_M] / 16, n = cann->size[CANN_N] / 16;
    int64_t block = cann->machine.block_k, k = cann->size[CANN_K];
    v[CANN_SPLIT_K] = pick(rng, 2) == 1 ? 1 : pick(rng, cann->cores);
    bool split = v[CANN_SPLIT_K] > 1 && pick(rng, 4) > 1; /* few blocks, or there are no cores */
    v[CANN_SINGLE_M] = split && pick(rng, 3) > 1 ? 16 * m : 16 * pick_size(rng, m);
    v[CANN_SINGLE_N] = split && pick(rng, 3) > 1 ? 16 * n : 16 * pick_size(rng, n);
    v[CANN_CORES] = pick(rng, cann->cores);
    if (split)
        v[CANN_CORES] = cann_parts(cann, v[CANN_SPLIT_K]) * cann->size[CANN_BATCH] *
                        divide_up(16 * m, v[CANN_SINGLE_M]) * divide_up(16 * n, v[CANN_SINGLE_N]);
    k = divide_up(k / block, cann_parts(cann, v[CANN_SPLIT_K])) * block;
    v[CANN_OUTER] = pick(rng, OUTER_KINDS) - 1;
    v[CANN_BASE_M] = 16 * pick(rng, v[CANN_SINGLE_M] / 16);
    v[CANN_BASE_N] = 16 * pick(rng, v[CANN_SINGLE_N] / 16);
    v[CANN_BASE_K] = block * pick(rng, k / block);
    v[CANN_L0B_HOLDS] = pick(rng, 3) == 1 ? HOLDS_SLAB : HOLDS_TILE;
    v[CANN_STEP_KA] = pick_size(rng, (k + v[CANN_BASE_K] - 1) / v[CANN_BASE_K]);
    v[CANN_STEP_KB] = pick_size(rng, (k + v[CANN_BASE_K] - 1) / v[CANN_BASE_K]);
    bool whole_a = v[CANN_STEP_KA] * v[CANN_BASE_K] >= k;
    bool whole_b = v[CANN_STEP_KB] * v[CANN_BASE_K] >= k;
    v[CANN_STEP_M] = whole_a ? pick_size(rng, (v[CANN_SINGLE_M] - 1) / v[CANN_BASE_M] + 1) : 1;
    v[CANN_STEP_N] = whole_b ? pick_size(rng, (v[CANN_SINGLE_N] - 1) / v[CANN_BASE_N] + 1) : 1;
    whole_a = whole_a && v[CANN_STEP_M] * v[CANN_BASE_M] >= v[CANN_SINGLE_M];
    whole_b = whole_b && v[CANN_STEP_N] * v[CANN_BASE_N] >= v[CANN_SINGLE_N];
    v[CANN_STEP_BATCH_A] = whole_a ? pick(rng, 4) : 1;
    v[CANN_STEP_BATCH_B] = whole_b ? pick(rng, 4) : 1;
    for (int a = CANN_L1A_BUFFERS; a < CANN_AXES; a++)
        v[a] = pick(rng, 2);
}

/* In the space or outside. */
static bool can_run(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    int count = cann_violations(space, tiling, list);
    for (int i = 0; i < count; i++)
        if (!list[i].outside)
            return false;
    return true;
}

bool random_cann_tiling(gsl_rng *rng, const struct space *space, struct tiling *tiling)
{
    for (int i = 0; i < 200; i++) {
        random_cann_values(rng, space, tiling);
        cann_agree(space, tiling);
        if (can_run(space, tiling))
            return true;
    }
    return false;
}

const char *random_cann_text(const struct problem *problem, const struct space *space,
                             const struct tiling *tiling)
{
    static char text[1000];
    size_t used = (size_t)snprintf(
        text, sizeof text, "%s %lldx%lldx%lld batch %lld cores %d:", dtype_name(problem->type),
        (long long)problem->size[0], (long long)problem->size[1], (long long)problem->size[2],
        (long long)problem->size[3], cann_of(space)->cores);
    for (int c = 0; c < MATMUL_CHOICES; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s",
                                 matmul_operator.choices[c].name,
                                 matmul_operator.choices[c].values[problem->choice[c]]);
    for (int a = 0; a < CANN_AXES; a++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%lld", cann_axes[a].name,
                                 (long long)tiling->value[a]);
    return text;
}
