/* What a page says of a network's step: its totals, a treemap of its calls above the ranked table
 * of them, its kinds, and what is not covered. */
#ifndef AUTOTUNE_RESULTS_REPORT_NETWORK_H
#define AUTOTUNE_RESULTS_REPORT_NETWORK_H

#include "results/network.h"
#include "results/report.h"

enum status report_network(struct report *report, const struct network_answer *answer,
                           struct error *error);

/* The answer in a sentence. */
enum { NETWORK_LEAD_SIZE = 256 };
const char *network_lead(const struct network_answer *answer, char text[NETWORK_LEAD_SIZE]);

#endif
