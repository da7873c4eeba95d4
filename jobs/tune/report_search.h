/* What a page says of a search: its maps over two axes of the tiling. */
#ifndef AUTOTUNE_JOBS_TUNE_REPORT_SEARCH_H
#define AUTOTUNE_JOBS_TUNE_REPORT_SEARCH_H

#include "results/report.h"
#include "search/search.h"

/* Adds the maps that can be made of the result, at most two; `axes` as of landscape_axes, or NULL.
 * None where the space has no two axes to choose. */
enum status report_landscapes(struct report *report, const struct space *space,
                              const struct search_result *result, const char *axes, int threads,
                              struct error *error);

#endif
