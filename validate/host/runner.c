#include "validate/host/runner.h"

#include "validate/host/knn_run.h"
#include "validate/host/poly.h"
#include "validate/host/sgemm_run.h"

#include <stddef.h>

/* One row an operator, below its comment. */
const struct host_runner *const host_runners[] = {
    /* MatMul */
    &sgemm_runner,

    /* k-NN */
    &knn_runner,

    /* Cube-fx */
    &poly_runner,

    NULL,
};

const struct host_runner *host_runner_find(const struct operator* op)
{
    for (int i = 0; host_runners[i]; i++)
        if (host_runners[i]->op == op)
            return host_runners[i];
    return NULL;
}
