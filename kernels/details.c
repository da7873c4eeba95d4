/* Three things that the details of several operators need: asking the space at hand, naming what
 * limits a program (its busiest pipe, or a bus whose bytes take longer at its full rate), and one
 * simulation of a program for its time, busy times and bytes. */
#include "kernels/details.h"

#include "core/work.h"
#include "costmodel/simulate.h"

enum status details_make(const struct problem *problem, const struct space *space,
                         const struct search_result *result, const struct details_options *options,
                         json_t **details, struct error *error)
{
    *details = NULL;
    if (!space->kind->details)
        return STATUS_OK;
    *details = json_object();
    enum status status = space->kind->details(problem, space, result, options, *details, error);
    if (status != STATUS_OK) {
        json_decref(*details);
        *details = NULL;
    }
    return status;
}

struct limiter limiter_of(const struct hardware *hw, const double busy_ns[HARDWARE_MAX_PIPES],
                          const double bus_bytes[HARDWARE_MAX_BUSES])
{
    struct limiter most = {hw->pipes[0].name, busy_ns[0]};
    for (int p = 1; p < hw->pipe_count; p++)
        if (busy_ns[p] > most.busy_ns)
            most = (struct limiter){hw->pipes[p].name, busy_ns[p]};
    for (int b = 0; b < hw->bus_count; b++) {
        const struct bus *bus = &hw->buses[b];
        double ns = bus_bytes[b] * 1e9 / (double)bus->total_bytes_per_s[bus->sharers - 1];
        if (ns > most.busy_ns)
            most = (struct limiter){bus->name, ns};
    }
    return most;
}

enum status simulate_program(struct tiling_simulator *simulator, int cores,
                             struct simulated *simulated, struct error *error)
{
    const struct hardware *hw = simulator->program.hw;
    struct simulate_options options = {.cores = cores};
    struct timeline timeline;
    struct work_total totals[HARDWARE_MAX_PRICES];
    *simulated = (struct simulated){0};
    TRY(tiling_simulator_tidy(simulator, NULL, error));
    TRY(simulate(simulator->model, &simulator->program, &options, &timeline, error));
    if (timeline.blocked >= 0)
        return error_set(error, STATUS_INVALID, "a generated program deadlocks");
    TRY(work_totals(&simulator->program, totals, error));
    simulated->time_ns = (double)timeline.end_fs / FS_PER_NS;
    for (int p = 0; p < hw->pipe_count; p++)
        simulated->busy_ns[p] = (double)timeline.busy_fs[p] / FS_PER_NS;
    uint32_t pipes = simulator->program.pipes;
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].bus >= 0)
            simulated->bus_bytes[hw->prices[p].bus] +=
                (double)totals[p].units * cores * hardware_in_step(hw, pipes, hw->prices[p].pipe);
    return STATUS_OK;
}
