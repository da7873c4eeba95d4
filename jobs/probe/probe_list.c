#include "jobs/probe/probe_tables.h"

#include <stddef.h>
#include <string.h>

const struct probe *const probes[] = {
    &probe_vector_mask,
    &probe_vector_repeats,
    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (int p = 0; probes[p]; p++)
        if (strcmp(probes[p]->name, name) == 0)
            return probes[p];
    return NULL;
}
