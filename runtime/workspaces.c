#include "runtime/workspaces.h"

#include "kernels/matmul/host/sgemm.h"

#include <stdbool.h>
#include <stdlib.h>

void workspaces_open(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++) {
        all->list[i] = (struct workspace){.memory = NULL};
        atomic_flag_clear(&all->list[i].taken);
    }
}

void workspaces_close(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++)
        free(all->list[i].memory);
}

static bool holds(struct workspace *workspace, int64_t bytes)
{
    if (workspace->bytes >= bytes)
        return true;
    free(workspace->memory);
    workspace->memory = sgemm_workspace(bytes);
    workspace->bytes = workspace->memory ? bytes : 0;
    return workspace->memory != NULL;
}

static struct workspace *first_free(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++)
        if (!atomic_flag_test_and_set_explicit(&all->list[i].taken, memory_order_acquire))
            return &all->list[i];
    return NULL;
}

struct workspace *workspace_take(struct workspaces *all, int64_t bytes, struct workspace *own)
{
    struct workspace *workspace = first_free(all);
    if (!workspace) {
        workspace = own;
        own->memory = NULL;
        own->bytes = 0;
    }
    if (holds(workspace, bytes))
        return workspace;
    workspace_give_back(workspace, own);
    return NULL;
}

void workspace_give_back(struct workspace *workspace, const struct workspace *own)
{
    if (workspace == own)
        free(workspace->memory);
    else
        atomic_flag_clear_explicit(&workspace->taken, memory_order_release);
}
