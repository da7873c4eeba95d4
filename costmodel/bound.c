/* The terms of docs/bounds.md: chains are rows of a matrix of 0 and 1, so that all their times are
 * one small product; then each bus at its best, then each of two pipes that share a bus, slowed by
 * what the other moves beyond its pauses. All that depends on layout and cores alone is in the
 * plan; the sum is rounded down by far more than doubles err. */
#include "costmodel/bound.h"

#include <string.h>

/* A bound is rounded down by this much: a thousand times what doubles can err in these sums. */
#define ROUNDING (1 - 1e-9)

#define LATEST_FS 4.6e18

static double fs_per_byte(const struct hardware *hw, const struct price *price, int transfers)
{
    return 1e15 / (double)hardware_bus_share(hw, price, transfers);
}

/* How many transfers all cores' pipes of a kind make at once, for each pipe. */
static void count_transfers(const struct hardware *hw, const struct work_layout *layout, int cores,
                            int transfers[HARDWARE_MAX_PIPES])
{
    uint32_t pipes = 0;
    for (int l = 0; l < layout->total_count; l++)
        pipes |= 1u << hw->prices[layout->price[l]].pipe;
    for (int p = 0; p < hw->pipe_count; p++)
        transfers[p] = cores * hardware_in_step(hw, pipes, p);
}

static bool same_rate(const struct price *a, const struct price *b)
{
    return a->rate.fs == b->rate.fs && a->rate.units == b->rate.units;
}

/* One pipe's traffic on one bus. */
struct sharer {
    const struct price *price;
    uint64_t lines;
};

/* The pipes that use a bus, or 0 where one pipe's paths have different limits. */
static int find_sharers(const struct hardware *hw, const struct work_layout *layout, int bus,
                        struct sharer sharers[HARDWARE_MAX_PIPES])
{
    int count = 0;
    for (int l = 0; l < layout->total_count; l++) {
        const struct price *price = &hw->prices[layout->price[l]];
        int i = 0;
        if (price->bus != bus)
            continue;
        while (i < count && sharers[i].price->pipe != price->pipe)
            i++;
        if (i == count)
            sharers[count++] = (struct sharer){.price = price};
        if (!same_rate(sharers[i].price, price))
            return 0;
        sharers[i].lines |= UINT64_C(1) << l;
    }
    return count;
}

static void make_pair(struct bound_plan *plan, const struct hardware *hw, const int transfers[],
                      const struct work_layout *layout, const struct sharer *own,
                      const struct sharer *other)
{
    int others = transfers[other->price->pipe], all = transfers[own->price->pipe] + others;
    double alone = fs_per_byte(hw, own->price, transfers[own->price->pipe]),
           shared = fs_per_byte(hw, own->price, all);
    double other_alone = fs_per_byte(hw, other->price, others);
    double slowdown = fs_per_byte(hw, other->price, all) * (1 - alone / shared);
    struct bound_pair *pair = &plan->pairs[plan->pair_count++];
    *pair = (struct bound_pair){
        .lines = own->lines,
        .other_lines = other->lines,
        .alone = alone,
        .other_alone = other_alone,
        /* rates in whole bytes a second may differ by a little more than a factor of two */
        .slowdown = slowdown < other_alone ? slowdown : other_alone,
    };
    for (int c = 0; c < layout->chain_count; c++)
        if ((layout->chains[c] & own->lines) == own->lines)
            pair->chains |= 1u << c;
}

static void plan_line(struct bound_plan *plan, const struct hardware *hw, const int transfers[],
                      const struct work_layout *layout, int line)
{
    const struct price *price = &hw->prices[layout->price[line]];
    bool waits = layout->wait_lines >> line & 1, late = waits || layout->late_lines >> line & 1;
    plan->base_fs[line] =
        (waits ? 0 : (double)price->base_fs) + (late ? (double)price->latency_fs : 0);
    plan->fs_per_unit[line] = (double)price->rate.fs / (double)price->rate.units;
    for (int c = 0; c < layout->chain_count; c++)
        plan->member[line][c] = layout->chains[c] >> line & 1 ? 1 : 0;
    if (price->bus < 0)
        return;
    const struct bus *bus = &hw->buses[price->bus];
    plan->fs_per_unit[line] = fs_per_byte(hw, price, transfers[price->pipe]);
    plan->bus_fs_per_byte[line] =
        1e15 * transfers[price->pipe] / (double)bus->total_bytes_per_s[bus->sharers - 1];
    if (line < layout->total_count)
        plan->bus_lines[price->bus] |= UINT64_C(1) << line;
}

void bound_plan_make(struct bound_plan *plan, const struct hardware *hw, int cores,
                     const struct work_layout *layout)
{
    struct sharer sharers[HARDWARE_MAX_PIPES];
    int transfers[HARDWARE_MAX_PIPES];
    memset(plan, 0, sizeof *plan);
    count_transfers(hw, layout, cores, transfers);
    plan->line_count = layout->line_count;
    plan->few_chains = layout->chain_count <= WORK_MAX_CHAINS / 2;
    plan->launch_fs = (double)hardware_start_fs(hw, cores);
    for (int l = 0; l < layout->line_count; l++)
        plan_line(plan, hw, transfers, layout, l);
    plan->bus_count = hw->bus_count;
    for (int b = 0; b < hw->bus_count; b++) {
        memset(sharers, 0, sizeof sharers);
        if (find_sharers(hw, layout, b, sharers) != 2)
            continue;
        make_pair(plan, hw, transfers, layout, &sharers[0], &sharers[1]);
        make_pair(plan, hw, transfers, layout, &sharers[1], &sharers[0]);
    }
}

/* The chains' times: a small dense product, so that it runs in vector registers. */
static inline __attribute__((always_inline)) void
time_chains(const struct bound_plan *plan, const double fs[], double chains[], const int width)
{
    double sums[WORK_MAX_CHAINS] = {0};
    for (int l = 0; l < plan->line_count; l++)
        if (fs[l] != 0) /* of a prefix, few are known */
            for (int c = 0; c < width; c++)
                sums[c] += plan->member[l][c] * fs[l];
    for (int c = 0; c < width; c++)
        chains[c] = sums[c];
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double sum_units(const struct work *work, uint64_t lines)
{
    double sum = 0;
    for (; lines; lines &= lines - 1)
        sum += work->units[__builtin_ctzll(lines)];
    return sum;
}

/* A pipe, slowed by what the other moves beyond the pauses in the pipe's chain. */
static double contended_fs(const struct bound_pair *pair, const struct work *work,
                           const double chains[])
{
    double longest = 0;
    for (uint32_t c = pair->chains; c; c &= c - 1)
        longest = larger(longest, chains[__builtin_ctz(c)]);
    double pauses_fs = longest - sum_units(work, pair->lines) * pair->alone;
    double beside = sum_units(work, pair->other_lines) - larger(pauses_fs, 0) / pair->other_alone;
    return longest + larger(beside, 0) * pair->slowdown;
}

/* All bytes of all cores through each bus at its best, whatever the order. */
static double bus_fs(const struct bound_plan *plan, const struct work *work)
{
    double longest = 0;
    for (int b = 0; b < plan->bus_count; b++) {
        double sum = 0;
        for (uint64_t lines = plan->bus_lines[b]; lines; lines &= lines - 1) {
            int line = __builtin_ctzll(lines);
            sum += work->units[line] * plan->bus_fs_per_byte[line];
        }
        longest = larger(longest, sum);
    }
    return longest;
}

int64_t bound_fs(const struct bound_plan *plan, const struct work *work)
{
    double fs[WORK_MAX_LINES], chains[WORK_MAX_CHAINS], longest = bus_fs(plan, work);
    for (int l = 0; l < plan->line_count; l++)
        fs[l] = work->instructions[l] * plan->base_fs[l] + work->burst_fs[l] +
                work->units[l] * plan->fs_per_unit[l];
    int width = plan->few_chains ? WORK_MAX_CHAINS / 2 : WORK_MAX_CHAINS;
    if (plan->few_chains)
        time_chains(plan, fs, chains, WORK_MAX_CHAINS / 2);
    else
        time_chains(plan, fs, chains, WORK_MAX_CHAINS);
    for (int c = 0; c < width; c++)
        longest = larger(longest, chains[c]);
    for (int p = 0; p < plan->pair_count; p++)
        longest = larger(longest, contended_fs(&plan->pairs[p], work, chains));
    longest = longest * ROUNDING + plan->launch_fs - 1;
    return (int64_t)(longest > LATEST_FS ? LATEST_FS : larger(longest, 0));
}

static void add_pipe_chains(const struct hardware *hw, struct work_layout *layout)
{
    for (int pipe = 0; pipe < hw->pipe_count; pipe++) {
        uint64_t chain = 0;
        for (int l = 0; l < layout->line_count; l++)
            if (hw->prices[layout->price[l]].pipe == pipe)
                chain |= UINT64_C(1) << l;
        if (chain)
            layout->chains[layout->chain_count++] = chain;
    }
}

enum status work_of_program(const struct program *program, int cores, struct work *work,
                            struct work_layout *layout, struct error *error)
{
    struct work_total totals[HARDWARE_MAX_PRICES];
    enum status status = work_totals(program, totals, error);
    memset(work, 0, sizeof *work);
    memset(layout, 0, sizeof *layout);
    work->cores = cores;
    for (int p = 0; status == STATUS_OK && p < program->hw->price_count; p++) {
        int line = layout->line_count;
        if (totals[p].instructions == 0)
            continue;
        if (line == WORK_MAX_LINES)
            return error_set(error, STATUS_TOO_LARGE, "more than %d kinds of instruction",
                             WORK_MAX_LINES);
        layout->price[layout->line_count++] = p;
        work->instructions[line] = (double)totals[p].instructions;
        work->units[line] = (double)totals[p].paid_units;
        work->burst_fs[line] = (double)totals[p].burst_fs;
    }
    layout->total_count = layout->line_count;
    add_pipe_chains(program->hw, layout);
    return status;
}
