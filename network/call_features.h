/* What the trees of a learned correction ask of a call (core/correction.h): numbers by name, from
 * its shapes, layouts, types and blocks. */
#ifndef AUTOTUNE_NETWORK_CALL_FEATURES_H
#define AUTOTUNE_NETWORK_CALL_FEATURES_H

#include "core/correction.h"
#include "network/call_law.h"

/* `law_us` is the call's time by its law, `known` the law that it was found at. */
void call_features(const struct operator_call *call, const struct call_sizes *sizes,
                   const double terms[CALL_TERMS], double law_us, const struct trained_law *known,
                   struct features *features);

#endif
