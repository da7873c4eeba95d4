/* A page that shows an answer: one HTML file with charts and tables that needs nothing else.
 *
 *   struct report report = {.title = …, .sections = json_array()};
 *   json_t *facts = report_facts("Answer"); report_fact(facts, "time", "%s", …);
 *   report_add(&report, facts);                 results/report_*.h make the other sections
 *   report_write(&report, out, &error);
 *   report_clear(&report);
 *
 * Sections are JSON that results/report/sections.js draws, in their order. Texts in them may hold
 * anything: they never become markup. The same sections give the same bytes. */
#ifndef AUTOTUNE_RESULTS_REPORT_H
#define AUTOTUNE_RESULTS_REPORT_H

#include "core/status.h"

#include <jansson.h>
#include <stdio.h>

struct report {
    const char *title;   /* "matmul 512x512x512 on Ascend 310" */
    const char *lead;    /* the answer in a sentence */
    const char *command; /* that made it */
    const char *version; /* of the program */
    json_t *sections;    /* an array; owned */
};

/* STATUS_NO_MEMORY, STATUS_IO. */
enum status report_write(const struct report *report, FILE *out, struct error *error);
void report_clear(struct report *report);

/* Takes a section; NULL, for lack of memory, makes report_write fail. */
void report_add(struct report *report, json_t *section);

/* {"kind": …, "title": …, "note": …}; the note is a sentence below the title, or NULL. */
json_t *report_section(const char *kind, const char *title, const char *note);

/* Names with values. */
json_t *report_facts(const char *title);
void report_fact(json_t *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A table: columns first, then rows, whose values are appended one by one to what report_row
 * returns (json_array_append_new). Numbers of a column in "ns" are shown as times, of "share" in
 * percent; NULL: as they are. */
json_t *report_table(const char *title, const char *note);
void report_column(json_t *table, const char *name, const char *unit);
json_t *report_row(json_t *table);

#endif
