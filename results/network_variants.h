/* The step under other circumstances, as an answer: which of them no other beats, and what the
 * writers of results/network.h say of them. */
#ifndef AUTOTUNE_RESULTS_NETWORK_VARIANTS_H
#define AUTOTUNE_RESULTS_NETWORK_VARIANTS_H

#include "results/network.h"

#include <jansson.h>

/* Fills is_front of them all. */
void network_mark_front(struct network_variant *variants, int64_t count);

/* Of answers with variants: what stands in place of the lists of kinds and calls, the whole CSV,
 * and a member of the JSON. */
void network_put_variants(const struct network_answer *answer, FILE *out);
void network_put_variants_csv(const struct network_answer *answer, FILE *out);
json_t *network_variants_json(const struct network_answer *answer);

#endif
