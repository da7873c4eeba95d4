#include "jobs/probe/probe_tables.h"

#include <stddef.h>
#include <string.h>

const struct probe *const probes[] = {
    &probe_vector_mask,
    &probe_vector_repeats,
    &probe_matrix_block,
    &probe_matrix_cycles,
    &probe_matrix_narrow,
    &probe_ub_width,
    &probe_l1_width,
    &probe_l0c_width,
    &probe_strides,
    &probe_gm_bursts,
    &probe_working_set,
    &probe_cores,
    &probe_vector_load,
    &probe_vector_density,
    &probe_break_even,
    &probe_matrix_load,
    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (int p = 0; probes[p]; p++)
        if (strcmp(probes[p]->name, name) == 0)
            return probes[p];
    return NULL;
}
