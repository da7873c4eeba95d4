/* --report of the main job. */
#ifndef AUTOTUNE_CLI_TUNE_PAGE_H
#define AUTOTUNE_CLI_TUNE_PAGE_H

#include "cli/tune_answer.h"

/* Writes the page of an answer; `title` is the problem. */
void tune_page_write(const struct tune_report *from, const struct tune_answer *answer,
                     const char *title);

#endif
