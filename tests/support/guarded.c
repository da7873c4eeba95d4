#include "tests/support/guarded.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded guarded_new(size_t floats, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = floats * sizeof(float);
    size_t inside = bytes + (page - bytes % page) % page;
    struct guarded g = {.map_bytes = inside + 2 * page};
    char *map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, inside, PROT_READ | PROT_WRITE) != 0)
        abort();
    g.map = map;
    g.data = (float *)(void *)(map + page + (at_end ? inside - bytes : 0));
    return g;
}

void guarded_free(struct guarded *guarded)
{
    munmap(guarded->map, guarded->map_bytes);
}
