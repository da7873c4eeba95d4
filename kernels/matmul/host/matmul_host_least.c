/* A time that no tiling of an FP32 product beats. */
#include "kernels/matmul/host/matmul_host_reuse.h"

#include <math.h>

static double rate_of(const struct matmul_host *host, int loop, int rows, int vectors, int lanes)
{
    double step_ns = loop >= 0 ? host->host->loops[loop].step_ns : INFINITY;
    return step_ns > 0 ? (double)(rows * vectors * lanes) / step_ns : INFINITY;
}

/* Products a ns of the fastest loop, those of panels at the edges included. */
static double peak(const struct matmul_host *host)
{
    double most = 0;
    int lanes = host_lanes(host->host->isa);
    for (int v = 0; v < HOST_MOST_VECTORS; v++)
        for (int r = 0; r < HOST_MOST_ROWS; r++) {
            most = fmax(most, rate_of(host, host->loops.tile[v][r], r + 1, v + 1, lanes));
            if (host->n <= HOST_DOT_MOST_COLUMNS)
                most = fmax(most, rate_of(host, host->loops.dot[v][r], r + 1, v + 1, lanes));
        }
    return most;
}

/* Bytes that are read or written at least once, with so many others before they are again: with
 * more of them, more would come from further out. */
static double least_move_ns(const struct walk *w, double bytes, double all,
                            const double ns[HOST_MAX_LEVELS])
{
    double from[HOST_MAX_LEVELS] = {0}, sum = 0;
    walk_add(w, from, bytes, all, 1, 0);
    for (int l = 1; l < w->host->level_count; l++)
        sum += from[l] * ns[l];
    return sum;
}

/* One of `threads` threads, which computes at least `rows` by `columns` of C. */
static double least_part_ns(const struct matmul_host *host, int threads, double rows,
                            double columns, double most)
{
    struct walk w = {.host = host->host, .sharers = host->threads};
    double reads_ns[HOST_MAX_LEVELS], writes_ns[HOST_MAX_LEVELS], k = (double)host->k;
    double operands = FLOAT * k * (rows + columns), c = FLOAT * rows * columns, all = operands + c;
    host_least_read_ns(host->host, threads, reads_ns);
    host_least_write_ns(host->host, threads, writes_ns);
    double moves =
        least_move_ns(&w, operands, all, reads_ns) +
        fmin(least_move_ns(&w, c, all, writes_ns), c / host_stream_rate(w.host, threads));
    return fmax(rows * k * columns / most, moves);
}

double matmul_host_roofline_ns(const struct space *space)
{
    const struct matmul_host *host = matmul_host_of(space);
    double m = (double)host->m, n = (double)host->n, most = peak(host), ns = INFINITY;
    for (int threads = 1; threads <= host->threads; threads++) {
        ns = fmin(ns, least_part_ns(host, threads, m / threads, n, most));
        ns = fmin(ns, least_part_ns(host, threads, m, n / threads, most));
    }
    return ns;
}
