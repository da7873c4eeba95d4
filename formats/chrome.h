/* Chrome's trace event format, which Perfetto and chrome://tracing open: what all traces share.
 *
 *   chrome_open(&chrome, out)
 *   chrome_process(…); chrome_track(…) …
 *   chrome_span(…); chrome_integer(…) …; chrome_end(&chrome)     an event is one line
 *   chrome_close(&chrome, &error)
 *
 * Times are given in femtoseconds and written in microseconds, cut to picoseconds. Texts may be
 * anything. */
#ifndef AUTOTUNE_FORMATS_CHROME_H
#define AUTOTUNE_FORMATS_CHROME_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct chrome {
    FILE *out;
    bool any, any_argument; /* written before: a comma is due */
};

void chrome_open(struct chrome *chrome, FILE *out);
enum status chrome_close(struct chrome *chrome, struct error *error);

/* Names a process; names one of its tracks, shown in order of their numbers. */
void chrome_process(struct chrome *chrome, int process, const char *name);
void chrome_track(struct chrome *chrome, int process, int track, const char *name);

/* Begin an event, whose arguments follow until chrome_end: what lasts on a track; a moment; and a
 * counter, whose arguments are its values from now on. */
void chrome_span(struct chrome *chrome, int process, int track, const char *category,
                 const char *name, int64_t start_fs, int64_t duration_fs);
void chrome_moment(struct chrome *chrome, int process, const char *name, int64_t at_fs);
void chrome_counter(struct chrome *chrome, int process, const char *name, int64_t at_fs);
void chrome_end(struct chrome *chrome);

void chrome_text(struct chrome *chrome, const char *name, const char *text);
void chrome_integer(struct chrome *chrome, const char *name, int64_t value);
void chrome_us(struct chrome *chrome, const char *name, int64_t fs);

#endif
