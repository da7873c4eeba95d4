/* What every pipe did when, for a page: the events of a trace, few enough to be drawn.
 *
 *   report_timeline_open(&gathered, &program, end_fs, events)    end_fs: of an earlier simulation
 *   simulate with &gathered.trace
 *   section = report_timeline_section(&gathered, &timeline, title)
 *   report_timeline_close(&gathered)
 *
 * Programs of up to `events` events show each by itself. Of longer ones the beginning does, and
 * after it short events of a pipe that follow each other are one block with the number of them and
 * the time in which the pipe worked. Only core 0 counts: cores in step do the same. */
#ifndef AUTOTUNE_RESULTS_REPORT_TIMELINE_H
#define AUTOTUNE_RESULTS_REPORT_TIMELINE_H

#include "core/program.h"
#include "core/timeline.h"

#include <jansson.h>

enum { REPORT_TIMELINE_EVENTS = 20000 };

/* One or more events of a pipe, one after the other. */
struct report_block {
    int64_t start_fs, end_fs, busy_fs;
    int64_t count;
    int32_t instruction; /* the first's */
};

struct report_lane {
    int64_t count;
    struct report_block *blocks;
    bool is_open; /* may the last block grow? */
};

struct report_timeline {
    struct trace trace;
    const struct program *program;
    int64_t end_fs;
    int64_t detail_fs; /* events that end by then are on their own … */
    int64_t merge_fs;  /* and so are events as long as this, and blocks once they are */
    int64_t seen;
    struct report_lane lanes[HARDWARE_MAX_PIPES];
    bool failed; /* out of memory */
};

void report_timeline_open(struct report_timeline *gathered, const struct program *program,
                          int64_t end_fs, int64_t events);
void report_timeline_close(struct report_timeline *gathered);

/* NULL when out of memory, also where that happened while gathering. */
json_t *report_timeline_section(const struct report_timeline *gathered,
                                const struct timeline *timeline, const char *title);

#endif
