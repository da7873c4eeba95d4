/* The page of --report around its data: made at build time from results/report/ and uPlot
 * (tools/report/report.cmake). Both are empty where pages were left out of the build. */
#ifndef AUTOTUNE_RESULTS_REPORT_PAGE_H
#define AUTOTUNE_RESULTS_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char report_before[], report_after[];
extern const size_t report_before_size, report_after_size;

#endif
