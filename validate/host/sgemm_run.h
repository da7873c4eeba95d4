/* Row of host_runners[] of MatMul. */
#ifndef AUTOTUNE_VALIDATE_HOST_SGEMM_RUN_H
#define AUTOTUNE_VALIDATE_HOST_SGEMM_RUN_H

#include "validate/host/runner.h"

extern const struct host_runner sgemm_runner;

#endif
