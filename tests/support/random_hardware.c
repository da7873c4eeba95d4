/* Draws machines. Every number of a loaded description is drawn anew within the rules: totals of a
 * bus never fall with more sharers, and shares never rise. Half of the machines draw from a few
 * round values, for coincidences in time are what simulators get wrong. */
#include "tests/support/random_hardware.h"

#include <stdio.h>

struct maker {
    struct hardware *hw;
    const struct random_hardware *options;
    gsl_rng *rng;
    bool round;
};

static int below(struct maker *m, int limit)
{
    return (int)gsl_rng_uniform_int(m->rng, (unsigned long)limit);
}

/* 0 … 63 ns, or up to `most_fs`. */
static int64_t draw_time(struct maker *m, double most_fs)
{
    if (below(m, 8) == 0)
        return 0;
    return m->round ? below(m, 64) * FS_PER_NS : (int64_t)(gsl_rng_uniform(m->rng) * most_fs);
}

/* 1 … 128 GB/s in powers of two, or anything from 1 MB/s to 500 GB/s, mostly large. */
static int64_t draw_bytes_per_s(struct maker *m)
{
    if (m->round)
        return INT64_C(1000000000) << below(m, 8);
    double shape = gsl_rng_uniform(m->rng);
    return 1000000 + (int64_t)(5e11 * (below(m, 4) ? shape : shape * shape * shape * shape));
}

static struct rate draw_byte_rate(struct maker *m)
{
    return rate_reduce(FS_PER_S, draw_bytes_per_s(m));
}

static void draw_bus(struct maker *m, struct bus *bus, int number)
{
    snprintf(bus->name, sizeof bus->name, "bus%d", number);
    bus->sharers = 1 + below(m, 7);
    bus->total_bytes_per_s[0] = draw_bytes_per_s(m);
    for (int n = 2; n <= bus->sharers; n++) {
        int64_t fewer = bus->total_bytes_per_s[n - 2], most = fewer / (n - 1) * n;
        double part = below(m, 3) ? gsl_rng_uniform(m->rng) : below(m, 2);
        bus->total_bytes_per_s[n - 1] =
            most > fewer ? fewer + (int64_t)((double)(most - fewer) * part) : fewer;
    }
}

static void draw_buses(struct maker *m)
{
    m->hw->bus_count = m->options->two_bus_pipes ? 1 : 1 + below(m, 3);
    for (int b = 0; b < m->hw->bus_count; b++)
        draw_bus(m, &m->hw->buses[b], b);
}

static void set_path(struct maker *m, struct path *path, int pipe, int bus)
{
    path->pipe = (int8_t)pipe;
    path->bus = (int8_t)bus;
    for (int i = -1; i < path->cast_count; i++) {
        struct price *price = &m->hw->prices[i < 0 ? path->price : path->casts[i].price];
        *price = (struct price){.base_fs = m->hw->issue_fs,
                                .burst_table = -1,
                                .rate = draw_byte_rate(m),
                                .pipe = (int8_t)pipe,
                                .bus = (int8_t)bus};
    }
}

/* Any pipe but the one that blocks dispatch. */
static int draw_pipe(struct maker *m)
{
    int pipe = below(m, m->hw->pipe_count);
    while (m->hw->pipes[pipe].blocks_dispatch)
        pipe = below(m, m->hw->pipe_count);
    return pipe;
}

static void draw_paths(struct maker *m)
{
    int first = draw_pipe(m), second = draw_pipe(m);
    for (int i = 0; i < m->hw->path_count; i++) {
        struct path *path = &m->hw->paths[i];
        int pipe = below(m, 4) ? path->pipe : draw_pipe(m);
        int bus = path->bus >= 0 || below(m, 4) == 0 ? below(m, m->hw->bus_count) : -1;
        if (m->options->two_bus_pipes)
            bus = pipe == first || pipe == second ? (below(m, 4) ? 0 : -1) : -1;
        set_path(m, path, pipe, bus);
    }
}

static void draw_costs(struct maker *m)
{
    struct hardware *hw = m->hw;
    for (int i = 0; i < hw->matrix_type_count; i++) {
        struct price *price = &hw->prices[hw->matrix_types[i].price];
        price->base_fs = hw->issue_fs;
        price->rate = rate_reduce(1 + draw_time(m, 2e6), m->round ? 1 : 1 + below(m, 1000));
    }
    for (int i = 0; i < hw->operation_count; i++) {
        struct price *price = &hw->prices[hw->operations[i].price];
        bool scalar = hw->operations[i].class == OPERATION_SCALAR;
        price->base_fs = scalar ? 0 : draw_time(m, 1e8);
        price->rate = rate_reduce(draw_time(m, 5e7), m->round || scalar ? 1 : 1 + below(m, 1000));
    }
}

static void draw_move(struct maker *m, struct price *price)
{
    if (below(m, 2))
        price->base_fs = draw_time(m, 1e8);
    if (below(m, 3) == 0)
        price->lot = below(m, 2) ? 1 << below(m, 12) : 1 + below(m, 1000);
}

/* Times in any order: a longer piece may be cheaper than a short one. */
static void draw_bursts(struct maker *m, struct burst_table *table)
{
    *table = (struct burst_table){.row_count = 1 + below(m, HARDWARE_MAX_BURST_ROWS),
                                  .limit_count = 1 + below(m, HARDWARE_MAX_BURST_LIMITS)};
    for (int r = 0, align = 1; r < table->row_count; r++)
        table->align_bytes[r] = align = r ? align << (1 + below(m, 2)) : 1 << below(m, 6);
    for (int c = 0, limit = 0; c < table->limit_count; c++)
        table->up_to_bytes[c] = limit += 1 + below(m, 300);
    for (int r = 0; r < table->row_count; r++)
        for (int c = 0; c <= table->limit_count; c++)
            table->fs[r][c] = draw_time(m, 2e7);
}

/* A path's table is its casts' too. */
static void draw_table(struct maker *m, const struct path *path)
{
    struct hardware *hw = m->hw;
    int8_t table = (int8_t)(below(m, 4) ? hw->burst_table_count++ : -1);
    if (table >= 0)
        draw_bursts(m, &hw->burst_tables[table]);
    hw->prices[path->price].burst_table = table;
    for (int c = 0; c < path->cast_count; c++)
        hw->prices[path->casts[c].price].burst_table = table;
}

/* On two machines of three moves in pieces cost more, and half of what does not hold up dispatch
 * has a latency: with some, a set is far later than what follows it. */
static void draw_lateness(struct maker *m)
{
    struct hardware *hw = m->hw;
    if (m->options->prompt)
        return;
    hw->launch_core_fs = draw_time(m, 1e8);
    for (int i = 0; i < hw->matrix_type_count; i++)
        hw->matrix_types[i].row_blocks_at_once = below(m, 4);
    if (below(m, 3) == 0)
        return;
    hw->burst_table_count = 0;
    for (int i = 0; i < hw->path_count; i++) {
        draw_table(m, &hw->paths[i]);
        draw_move(m, &hw->prices[hw->paths[i].price]);
        for (int c = 0; c < hw->paths[i].cast_count; c++)
            draw_move(m, &hw->prices[hw->paths[i].casts[c].price]);
    }
    for (int i = 0; i < hw->price_count; i++)
        if (!hw->pipes[hw->prices[i].pipe].blocks_dispatch && below(m, 2))
            hw->prices[i].latency_fs = draw_time(m, 3e8) * (below(m, 4) ? 1 : 16);
}

/* One of three has pipes of two kinds of core: paths ask for no buffer here. */
static void draw_kinds(struct maker *m)
{
    struct hardware *hw = m->hw;
    int several = below(m, 3) == 0 ? 2 + below(m, 2) : 1;
    for (int p = 0; p < hw->pipe_count; p++)
        hw->pipes[p].per_core = (uint8_t)(below(m, 2) ? several : 1);
    hw->core_flags = below(m, 2) ? 8 + below(m, 8) : 0;
    hw->core_flag_fs = draw_time(m, 3e8);
}

void random_hardware(const struct hardware *base, const struct random_hardware *options,
                     gsl_rng *rng, struct hardware *hw)
{
    *hw = *base;
    hw->fact_count = 0;
    hw->facts = NULL;
    struct maker maker = {.hw = hw, .options = options, .rng = rng};
    maker.round = below(&maker, 2);
    hw->cores = 1 + below(&maker, 4);
    hw->launch_fs = draw_time(&maker, 3e9);
    hw->core_skew_fs = draw_time(&maker, 2e8);
    hw->issue_fs = draw_time(&maker, 1e8);
    hw->dispatch_fs = options->dispatch ? draw_time(&maker, 4e7) : 0;
    hw->flag_registers = 1 + below(&maker, 8);
    draw_buses(&maker);
    draw_paths(&maker);
    draw_costs(&maker);
    draw_lateness(&maker);
    if (!options->prompt)
        draw_kinds(&maker);
}
