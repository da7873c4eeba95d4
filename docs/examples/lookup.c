/* A library's use of a table of tilings: docs/examples/tilings.h, which `autotune table` has
 * written, knows eight products; for others it gives the nearest one whose tiling they can have.
 *
 *   example_lookup [M K N]      explained in docs/store.md */
#include "docs/examples/tilings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_tiling(int64_t m, int64_t k, int64_t n)
{
    const struct autotune_matmul *exact = autotune_matmul_f16_find(m, k, n, 1);
    const struct autotune_matmul *entry = autotune_matmul_f16_lookup(m, k, n, 1);
    printf("%" PRId64 "x%" PRId64 "x%" PRId64 ": ", m, k, n);
    if (!entry) {
        puts("no product of the table has a tiling for it");
        return;
    }
    printf("slices of %" PRId64 "x%" PRId64 "x%" PRId64 ", %" PRId64 " buffers, resident %s",
           entry->tiling.m_slice, entry->tiling.k_slice, entry->tiling.n_slice,
           entry->tiling.buffers, entry->tiling.resident);
    if (exact)
        printf(", %.1f us %s\n", entry->time_ns / 1e3, AUTOTUNE_TABLE_KIND);
    else
        printf(", as for %" PRId64 "x%" PRId64 "x%" PRId64 "\n", entry->size[0], entry->size[1],
               entry->size[2]);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        print_tiling(strtoll(argv[1], NULL, 10), strtoll(argv[2], NULL, 10),
                     strtoll(argv[3], NULL, 10));
        return 0;
    }
    printf("for %s, %d cores\n", AUTOTUNE_TABLE_HARDWARE, AUTOTUNE_TABLE_CORES);
    print_tiling(512, 1024, 512);
    print_tiling(500, 1000, 500);
    print_tiling(3000, 3000, 5000);
    print_tiling(1000, 3000, 1000);
    return 0;
}
