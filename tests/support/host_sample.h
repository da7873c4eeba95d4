/* A processor with round numbers for tests that calculate by hand. */
#ifndef AUTOTUNE_TESTS_HOST_SAMPLE_H
#define AUTOTUNE_TESTS_HOST_SAMPLE_H

#include "core/host.h"

/* Four levels, L1 32 KiB, L2 1 MiB, L3 16 MiB, memory; loops "sgemm NAME", "pack NAME" as
 * host_sample.c lists them; eight threads. */
void host_sample(struct host *host);

#endif
