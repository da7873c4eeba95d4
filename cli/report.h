/* --report OUT.html of commands that have it. */
#ifndef AUTOTUNE_CLI_REPORT_H
#define AUTOTUNE_CLI_REPORT_H

#include "results/report.h"

struct page {
    const char *output; /* NULL: none was asked for */
    char *command;      /* that makes it; owned */
};

/* Before any work is done: dies where pages are left out of the build. */
void page_check(const struct page *page);

/* A page with a title and no sections. */
void page_open(const struct page *page, const char *title, const char *lead, struct report *report);

/* Writes the page to its file, or dies; clears *report. */
void page_close(const struct page *page, struct report *report);

#endif
