/* Internal to jobs/reproduce: the chapters that are of no operator. */
#ifndef AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H
#define AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H

#include "jobs/reproduce/reproduce.h"
#include "kernels/chapter.h"

extern const struct chapter simulator_chapter, quoted_chapter;

#endif
