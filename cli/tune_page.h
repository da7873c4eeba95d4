/* --report of the main job. */
#ifndef AUTOTUNE_CLI_TUNE_PAGE_H
#define AUTOTUNE_CLI_TUNE_PAGE_H

#include "cli/report_file.h"
#include "results/tune.h"

/* Writes the page of an answer, with maps of these axes (NULL: its own choice). */
void tune_page_write(const struct page *page, const struct common *common,
                     const struct tune_answer *answer, const char *landscape_axes);

#endif
