/* The page of --report around its data: made at build time from results/report/ by
 * tools/report/embed. */
#ifndef AUTOTUNE_RESULTS_REPORT_PAGE_H
#define AUTOTUNE_RESULTS_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char report_before[], report_after[];
extern const size_t report_before_size, report_after_size;

#endif
