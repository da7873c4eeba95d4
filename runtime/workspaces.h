/* Memory that products pack their tiles into, shared by all shapes and threads: who needs some
 * takes the first free one, so that a single caller always gets the same, warm in its caches. Waits
 * for nobody; allocates only when the one taken is too small. */
#ifndef AUTOTUNE_RUNTIME_WORKSPACES_H
#define AUTOTUNE_RUNTIME_WORKSPACES_H

#include <stdatomic.h>
#include <stdint.h>

enum { WORKSPACES = 64 };

/* Beginning in a cache line of its own each. */
struct workspace {
    _Alignas(64) atomic_flag taken;
    float *memory;
    int64_t bytes;
};

struct workspaces {
    struct workspace list[WORKSPACES];
};

void workspaces_open(struct workspaces *all);
void workspaces_close(struct workspaces *all); /* when none is taken */

/* NULL without memory. To be given back by the same caller. With more than WORKSPACES callers at
 * once the rest get memory of their own, for this once: `own`. */
struct workspace *workspace_take(struct workspaces *all, int64_t bytes, struct workspace *own);
void workspace_give_back(struct workspace *workspace, const struct workspace *own);

#endif
