#include "costmodel/bound.h"

#include <string.h>

enum { FRACTION_BITS = 16 };

__extension__ typedef unsigned __int128 wide;

#define LATEST_FS (INT64_C(1) << 62)

static uint64_t reciprocal(struct rate rate)
{
    wide fraction = ((wide)(uint64_t)rate.fs << FRACTION_BITS) / (uint64_t)rate.units;
    return fraction > UINT64_MAX ? UINT64_MAX : (uint64_t)fraction;
}

void bound_prepare(struct bound_prices *prices, const struct hardware *hw, int cores)
{
    prices->hw = hw;
    prices->cores = cores;
    for (int p = 0; p < hw->price_count; p++) {
        struct rate rate = hw->prices[p].rate;
        if (hw->prices[p].bus >= 0)
            rate = (struct rate){FS_PER_S, hardware_bus_share(hw, &hw->prices[p], cores)};
        prices->base_fs[p] = hw->prices[p].base_fs;
        prices->fs_per_unit[p] = reciprocal(rate);
    }
}

static int64_t line_fs(const struct bound_prices *prices, const struct work_line *line)
{
    wide fs = (wide)(uint64_t)line->units * prices->fs_per_unit[line->price] >> FRACTION_BITS;
    fs += (wide)(uint64_t)line->instructions * (uint64_t)prices->base_fs[line->price];
    return fs > LATEST_FS ? LATEST_FS : (int64_t)fs;
}

static int64_t chain_fs(uint32_t chain, const int64_t fs[WORK_MAX_LINES])
{
    int64_t sum = 0;
    for (; chain; chain &= chain - 1) {
        sum += fs[__builtin_ctz(chain)];
        if (sum > LATEST_FS)
            return LATEST_FS;
    }
    return sum;
}

/* The pipes of one bus, and per pipe its bytes and a price for its rates. */
struct sharers {
    int count;
    bool uniform; /* all paths of a pipe have the same limit */
    int pipe[HARDWARE_MAX_PIPES];
    int price[HARDWARE_MAX_PIPES];
    double bytes[HARDWARE_MAX_PIPES];
    uint32_t lines[HARDWARE_MAX_PIPES];
};

static void find_sharers(const struct hardware *hw, const struct work *work, int bus,
                         struct sharers *sharers)
{
    sharers->count = 0;
    sharers->uniform = true;
    for (int l = 0; l < work->total_count; l++) {
        const struct price *price = &hw->prices[work->lines[l].price];
        if (price->bus != bus || work->lines[l].units == 0)
            continue;
        int i = 0;
        while (i < sharers->count && sharers->pipe[i] != price->pipe)
            i++;
        if (i == sharers->count) {
            sharers->pipe[i] = price->pipe;
            sharers->price[i] = work->lines[l].price;
            sharers->bytes[i] = 0;
            sharers->lines[i] = 0;
            sharers->count++;
        }
        const struct rate *rate = &hw->prices[sharers->price[i]].rate;
        sharers->uniform &= rate->fs == price->rate.fs && rate->units == price->rate.units;
        sharers->bytes[i] += (double)work->lines[l].units;
        sharers->lines[i] |= 1u << l;
    }
}

/* The longest chain that contains all of a pipe's transfers. */
static int64_t longest_with(const struct work *work, uint32_t lines, const int64_t fs[])
{
    int64_t longest = 0;
    for (int c = 0; c < work->chain_count; c++)
        if ((work->chains[c] & lines) == lines) {
            int64_t sum = chain_fs(work->chains[c], fs);
            longest = sum > longest ? sum : longest;
        }
    return longest;
}

/* Pipe `p` of two, slowed by what the other moves beyond p's own pauses. */
static int64_t contended_fs(const struct bound_prices *prices, const struct work *work,
                            const struct sharers *sharers, int p, const int64_t fs[])
{
    const struct hardware *hw = prices->hw;
    const struct price *own = &hw->prices[sharers->price[p]];
    const struct price *other = &hw->prices[sharers->price[1 - p]];
    double alone = (double)hardware_bus_share(hw, own, prices->cores);
    double shared = (double)hardware_bus_share(hw, own, 2 * prices->cores);
    double other_alone = (double)hardware_bus_share(hw, other, prices->cores);
    double other_shared = (double)hardware_bus_share(hw, other, 2 * prices->cores);
    int64_t chain = longest_with(work, sharers->lines[p], fs);
    double pauses_s = (double)chain * 1e-15 - sharers->bytes[p] / alone;
    double beside = sharers->bytes[1 - p] - (pauses_s > 0 ? pauses_s : 0) * other_alone;
    if (beside <= 0)
        return chain;
    double slowed_fs = beside / other_shared * (1 - shared / alone) * 1e15;
    return chain + (int64_t)(slowed_fs * (1 - 1e-9)) - 1; /* no rounding error lifts the bound */
}

/* All bytes of all cores through the bus at its best, whatever the order. */
static int64_t bus_fs(const struct bound_prices *prices, const struct sharers *sharers, int bus)
{
    const struct bus *b = &prices->hw->buses[bus];
    double bytes = 0;
    for (int i = 0; i < sharers->count; i++)
        bytes += sharers->bytes[i] * prices->cores;
    double fs = bytes / (double)b->total_bytes_per_s[b->sharers - 1] * 1e15 * (1 - 1e-9);
    return fs > (double)LATEST_FS ? LATEST_FS : (int64_t)fs;
}

int64_t bound_fs(const struct bound_prices *prices, const struct work *work)
{
    int64_t fs[WORK_MAX_LINES], longest = 0;
    for (int l = 0; l < work->line_count; l++)
        fs[l] = line_fs(prices, &work->lines[l]);
    for (int c = 0; c < work->chain_count; c++) {
        int64_t sum = chain_fs(work->chains[c], fs);
        longest = sum > longest ? sum : longest;
    }
    for (int b = 0; b < prices->hw->bus_count; b++) {
        struct sharers sharers;
        find_sharers(prices->hw, work, b, &sharers);
        int64_t time = bus_fs(prices, &sharers, b);
        longest = time > longest ? time : longest;
        for (int p = 0; sharers.count == 2 && sharers.uniform && p < 2; p++) {
            time = contended_fs(prices, work, &sharers, p, fs);
            longest = time > longest ? time : longest;
        }
    }
    return longest + prices->hw->launch_fs < LATEST_FS ? longest + prices->hw->launch_fs
                                                       : LATEST_FS;
}

enum status work_of_program(const struct program *program, int cores, struct work *work,
                            struct error *error)
{
    const struct hardware *hw = program->hw;
    struct work_line totals[HARDWARE_MAX_PRICES];
    enum status status = work_totals(program, totals, error);
    memset(work, 0, sizeof *work);
    work->cores = cores;
    for (int p = 0; status == STATUS_OK && p < hw->price_count; p++) {
        if (totals[p].instructions == 0)
            continue;
        if (work->line_count == WORK_MAX_LINES)
            return error_set(error, STATUS_TOO_LARGE, "more than %d kinds of instruction",
                             WORK_MAX_LINES);
        work->lines[work->line_count++] = totals[p];
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
