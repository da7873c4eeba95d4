/* The procedures: each a row of probes[]. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_TABLES_H
#define AUTOTUNE_JOBS_PROBE_PROBE_TABLES_H

#include "jobs/probe/probe.h"

extern const struct probe probe_vector_mask, probe_vector_repeats;
extern const struct probe probe_matrix_block, probe_matrix_cycles, probe_matrix_narrow;
extern const struct probe probe_ub_width, probe_l1_width, probe_l0c_width, probe_strides;
extern const struct probe probe_gm_bursts, probe_working_set, probe_cores;
extern const struct probe probe_vector_load, probe_vector_density, probe_break_even;
extern const struct probe probe_matrix_load;

/* What they are on this computer (probe->here). */
extern const struct probe probe_here_vector_repeats, probe_here_matrix_cycles, probe_here_l1_width,
    probe_here_strides, probe_here_gm_bursts, probe_here_working_set, probe_here_cores,
    probe_here_break_even;

#endif
