#include "costmodel/bound.h"

#include <string.h>

/* A bound is rounded down by this much: a thousand times what doubles can err in these sums. */
#define ROUNDING (1 - 1e-9)

#define LATEST_FS 4.6e18

static double fs_per_byte(const struct hardware *hw, const struct price *price, int transfers)
{
    return 1e15 / (double)hardware_bus_share(hw, price, transfers);
}

void bound_prepare(struct bound_prices *prices, const struct hardware *hw, int cores)
{
    prices->hw = hw;
    prices->cores = cores;
    for (int p = 0; p < hw->price_count; p++) {
        const struct price *price = &hw->prices[p];
        prices->base_fs[p] = (double)price->base_fs;
        prices->fs_per_unit[p] = (double)price->rate.fs / (double)price->rate.units;
        if (price->bus < 0)
            continue;
        prices->fs_per_unit[p] = fs_per_byte(hw, price, cores);
        prices->shared_fs_per_unit[p] = fs_per_byte(hw, price, 2 * cores);
    }
    for (int b = 0; b < hw->bus_count; b++)
        prices->bus_fs_per_byte[b] =
            1e15 / (double)hw->buses[b].total_bytes_per_s[hw->buses[b].sharers - 1];
}

/* What the chains of one summary take, and the longest. */
struct chain_times {
    double fs[WORK_MAX_CHAINS];
    double longest_fs;
};

static void time_chains(const struct bound_prices *prices, const struct work *work,
                        struct chain_times *times)
{
    double fs[WORK_MAX_LINES];
    for (int l = 0; l < work->line_count; l++) {
        const struct work_line *line = &work->lines[l];
        fs[l] = line->instructions * prices->base_fs[line->price] +
                line->units * prices->fs_per_unit[line->price];
    }
    times->longest_fs = 0;
    for (int c = 0; c < work->chain_count; c++) {
        double sum = 0;
        for (uint32_t chain = work->chains[c]; chain; chain &= chain - 1)
            sum += fs[__builtin_ctz(chain)];
        times->fs[c] = sum;
        times->longest_fs = sum > times->longest_fs ? sum : times->longest_fs;
    }
}

/* One pipe's traffic on one bus. */
struct sharer {
    int pipe, price;
    double bytes; /* of one core */
    uint32_t lines;
};

/* The pipes that use a bus. `uniform` is false where one pipe's paths have different limits. */
static int find_sharers(const struct bound_prices *prices, const struct work *work, int bus,
                        struct sharer sharers[], bool *uniform)
{
    int count = 0;
    *uniform = true;
    for (int l = 0; l < work->total_count; l++) {
        const struct work_line *line = &work->lines[l];
        const struct price *price = &prices->hw->prices[line->price];
        int i = 0;
        if (price->bus != bus)
            continue;
        while (i < count && sharers[i].pipe != price->pipe)
            i++;
        if (i == count)
            sharers[count++] = (struct sharer){.pipe = price->pipe, .price = line->price};
        *uniform &= prices->hw->prices[sharers[i].price].rate.units == price->rate.units &&
                    prices->hw->prices[sharers[i].price].rate.fs == price->rate.fs;
        sharers[i].bytes += line->units;
        sharers[i].lines |= 1u << l;
    }
    return count;
}

/* `own`, one of two pipes, slowed by what the other moves beyond the pauses of own's chain. */
static double contended_fs(const struct bound_prices *prices, const struct work *work,
                           const struct chain_times *times, const struct sharer *own,
                           const struct sharer *other)
{
    double longest = 0;
    for (int c = 0; c < work->chain_count; c++)
        if ((work->chains[c] & own->lines) == own->lines && times->fs[c] > longest)
            longest = times->fs[c];
    double alone = prices->fs_per_unit[own->price], shared = prices->shared_fs_per_unit[own->price];
    double pauses_fs = longest - own->bytes * alone;
    double beside_fs =
        other->bytes - (pauses_fs > 0 ? pauses_fs : 0) / prices->fs_per_unit[other->price];
    if (beside_fs <= 0)
        return longest;
    /* For beside bytes of the other, both share; own loses the part of its rate that it misses. */
    return longest + beside_fs * prices->shared_fs_per_unit[other->price] * (1 - alone / shared);
}

static double bus_fs(const struct bound_prices *prices, const struct work *work,
                     const struct chain_times *times, int bus)
{
    struct sharer sharers[HARDWARE_MAX_PIPES];
    bool uniform;
    int count = find_sharers(prices, work, bus, sharers, &uniform);
    double bytes = 0, longest = 0;
    for (int i = 0; i < count; i++)
        bytes += sharers[i].bytes * prices->cores;
    for (int i = 0; i < 2 && count == 2 && uniform; i++) {
        double fs = contended_fs(prices, work, times, &sharers[i], &sharers[1 - i]);
        longest = fs > longest ? fs : longest;
    }
    return bytes * prices->bus_fs_per_byte[bus] > longest ? bytes * prices->bus_fs_per_byte[bus]
                                                          : longest;
}

int64_t bound_fs(const struct bound_prices *prices, const struct work *work)
{
    struct chain_times times;
    time_chains(prices, work, &times);
    double longest = times.longest_fs;
    for (int b = 0; b < prices->hw->bus_count; b++) {
        double fs = bus_fs(prices, work, &times, b);
        longest = fs > longest ? fs : longest;
    }
    longest = longest * ROUNDING + (double)prices->hw->launch_fs - 1;
    return longest > LATEST_FS ? (int64_t)LATEST_FS : longest > 0 ? (int64_t)longest : 0;
}

enum status work_of_program(const struct program *program, int cores, struct work *work,
                            struct error *error)
{
    const struct hardware *hw = program->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    enum status status = work_totals(program, totals, error);
    memset(work, 0, sizeof *work);
    work->cores = cores;
    for (int p = 0; status == STATUS_OK && p < hw->price_count; p++) {
        if (totals[p].instructions == 0)
            continue;
        if (work->line_count == WORK_MAX_LINES)
            return error_set(error, STATUS_TOO_LARGE, "more than %d kinds of instruction",
                             WORK_MAX_LINES);
        work->lines[work->line_count++] =
            (struct work_line){p, (double)totals[p].instructions, (double)totals[p].units};
    }
    work->total_count = work->line_count;
    for (int pipe = 0; pipe < hw->pipe_count; pipe++) {
        uint32_t chain = 0;
        for (int l = 0; l < work->line_count; l++)
            if (hw->prices[work->lines[l].price].pipe == pipe)
                chain |= 1u << l;
        if (chain)
            work->chains[work->chain_count++] = chain;
    }
    return status;
}
