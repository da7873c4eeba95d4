#include "tests/support/host_sample.h"

#include <stdio.h>
#include <string.h>

static const struct host_level levels[] = {
    {.name = "L1", .capacity_bytes = 32 << 10, .threads = 1, .read_gbps = 200, .write_gbps = 100},
    {.name = "L2", .capacity_bytes = 1 << 20, .threads = 1, .read_gbps = 50, .write_gbps = 25},
    {.name = "L3", .capacity_bytes = 16 << 20, .threads = 8, .read_gbps = 20, .write_gbps = 10},
    {.name = "memory", .threads = 8, .read_gbps = 10, .write_gbps = 5, .stream_gbps = 8},
};

void host_sample(struct host *host)
{
    memset(host, 0, sizeof *host);
    (void)snprintf(host->cpu, sizeof host->cpu, "sample");
    host->isa = HOST_AVX2;
    host->threads = 8;
    host->level_count = 4;
    memcpy(host->levels, levels, sizeof levels);
    for (int n = 1; n <= 8; n++) /* memory carries 16 GB/s in all, the L3 is not measured */
        host->levels[3].shared_gbps[n - 1] = n == 1 ? 10 : 16;
    host->levels[3].shared_count = 8;
    host->parallel_ns = 1000;
    host->overlap.exposed[1] = 0.25;
    host->overlap.exposed[2] = 0.5;
    host->overlap.exposed[3] = 0.75;
    host->loop_count = 2;
    host->loops[0] = (struct host_loop){.name = "work", .step_ns = 2, .call_ns = 10};
    host->loops[1] = (struct host_loop){.name = "copy", .step_ns = 0.5, .call_ns = 4};
}
