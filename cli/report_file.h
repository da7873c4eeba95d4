/* --report OUT.html of commands that have it. */
#ifndef AUTOTUNE_CLI_REPORT_FILE_H
#define AUTOTUNE_CLI_REPORT_FILE_H

#include "cli/options.h"
#include "results/report.h"

/* What --help says of it. */
#define PAGE_HELP "write a page of charts and tables too, one file that any browser shows"

struct page {
    const char *output; /* NULL: none was asked for */
    char *command;      /* that makes it; owned */
};

/* Is a page asked for, by --report or as the answer by --format html? Before any work is done; dies
 * where pages are left out of the build. */
bool page_is_wanted(const struct page *page, const struct common *common);

/* A page with a title and no sections. */
void page_open(const struct page *page, const char *title, const char *lead, struct report *report);

/* Writes the page to its file, and as the answer where the format is html; clears *report. */
void page_close(const struct page *page, const struct common *common, struct report *report);

#endif
