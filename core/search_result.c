/* Times and shares of a tiling that was simulated. */
#include "core/search_result.h"

#include "core/operator.h"

double found_launches(const struct space *space, const struct found *found)
{
    const struct operator_space *kind = space->kind;
    double launches = kind->costs ? 0 : 1;
    for (int i = 0; i < kind->costs; i++)
        launches += kind->launches >> i & 1 ? found->part_weight[i] : 0;
    return launches;
}

double found_launch_ns(const struct space *space, const struct found *found)
{
    return found_launches(space, found) * (double)hardware_start_fs(space->hw, found->cores_used) /
           FS_PER_NS;
}

struct share found_share(const struct hardware *hw, const struct found *found, int i)
{
    struct share share;
    if (i < hw->pipe_count) {
        share.name = hw->pipes[i].name;
        share.busy_ns = (double)found->timeline.busy_fs[i] / FS_PER_NS;
    } else {
        int b = i - hw->pipe_count;
        share.name = hw->buses[b].name;
        share.busy_ns = (double)found->bus_bytes[b] * 1e9 /
                        (double)hw->buses[b].total_bytes_per_s[hw->buses[b].sharers - 1];
    }
    share.share = share.busy_ns / found_ns(found);
    return share;
}

struct share found_bottleneck(const struct hardware *hw, const struct found *found)
{
    struct share most = found_share(hw, found, 0);
    for (int i = 1; i < hw->pipe_count + hw->bus_count; i++) {
        struct share share = found_share(hw, found, i);
        most = share.busy_ns > most.busy_ns ? share : most;
    }
    return most;
}
