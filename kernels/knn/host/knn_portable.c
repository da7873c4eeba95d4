/* For processors of any kind: vectors of four floats, which the compiler writes with what there
 * is. */
#include "kernels/knn/host/knn_code.h"

#define LANES    4
#define KNN_CODE knn_code_portable

typedef float vec __attribute__((vector_size(16), aligned(4), may_alias));

static inline unsigned near_mask(vec distances, vec threshold)
{
    unsigned mask = 0;
    UNROLLED
    for (int i = 0; i < LANES; i++)
        mask |= (unsigned)!(distances[i] >= threshold[i]) << i;
    return mask;
}

#include "kernels/knn/host/knn_template.h"
