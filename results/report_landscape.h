/* The map of a search for a page (core/landscape.h). */
#ifndef AUTOTUNE_RESULTS_REPORT_LANDSCAPE_H
#define AUTOTUNE_RESULTS_REPORT_LANDSCAPE_H

#include "core/landscape.h"
#include "results/report.h"

void report_landscape(struct report *report, const struct landscape *landscape);

#endif
