/* How a product on a processor is cut: vectors, panels, and what each thread gets. */
#include "kernels/matmul/host/matmul_host.h"

int host_lanes(enum host_isa isa)
{
    static const int lanes[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = 4, [HOST_NEON] = 4, [HOST_AVX2] = 8, [HOST_AVX512] = 16};
    return lanes[isa];
}

struct host_pieces host_pieces(int64_t size, int64_t most)
{
    struct host_pieces pieces = {.count = size / most + (size % most > 0)};
    if (pieces.count) {
        pieces.least = size / pieces.count;
        pieces.larger = size % pieces.count;
    }
    return pieces;
}

struct host_share host_share(int64_t size, int64_t unit, int threads, int thread)
{
    int64_t units = size / unit + (size % unit > 0), least = units / threads;
    int64_t larger = units % threads;
    int64_t start = unit * (least * thread + (thread < larger ? thread : larger));
    int64_t end = start + unit * (least + (thread < larger));
    start = start < size ? start : size;
    end = end < size ? end : size;
    return (struct host_share){start, end - start};
}

int host_sharers(int64_t size, int64_t unit, int threads)
{
    int64_t units = size / unit + (size % unit > 0);
    return units < threads ? (int)units : threads;
}

int64_t matmul_host_unit(const struct matmul_host_kernel *kernel, enum host_isa isa, int64_t split)
{
    if (split == HOST_SPLIT_M)
        return kernel->rows;
    return kernel->path == HOST_PATH_DOT ? kernel->vectors
                                         : (int64_t)kernel->vectors * host_lanes(isa);
}
