/* The procedures: each a row of probes[]. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_TABLES_H
#define AUTOTUNE_JOBS_PROBE_PROBE_TABLES_H

#include "jobs/probe/probe.h"

extern const struct probe probe_vector_mask, probe_vector_repeats;

#endif
