/* A stand-in: products at the rate of the tiling's loop, every operand and result moved once. */
#include "kernels/matmul_host.h"

#include <stdio.h>

void matmul_host_ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    const struct matmul_host *host = matmul_host_of(space);
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    char name[HOST_NAME_SIZE];
    snprintf(name, sizeof name, "sgemm %s", kernel->name);
    double m = (double)host->m, k = (double)host->k, n = (double)host->n;
    double lanes = kernel->path == HOST_PATH_DOT ? 1 : host_lanes(host->host->isa);
    double tiles = m / kernel->rows * (n / (kernel->vectors * lanes)) / host->threads;
    *work = (struct host_work){
        .threads = host->threads, .parallel_regions = host->threads > 1, .phase_count = 1};
    work->phases[0] = (struct host_phase){
        .loop = host_loop(host->host, name), .calls = tiles, .steps = tiles * k};
    int level = host_level_of(host->host, sizeof(float) * (m * k + k * n + m * n), 1, 1);
    work->phases[0].read_bytes[level] = sizeof(float) * (m * k + k * n);
    work->phases[0].write_bytes[level] = sizeof(float) * m * n;
}
