/* Answers of procedures as text, as JSON, as curves that `autotune calibrate --from` reads, and as
 * sections of a page. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_WRITE_H
#define AUTOTUNE_JOBS_PROBE_PROBE_WRITE_H

#include "formats/text.h"
#include "jobs/probe/probe.h"
#include "results/report.h"

#include <jansson.h>
#include <stdio.h>

/* What is concluded, and where `points` says so the points; each procedure begins with an empty
 * line. */
void probe_write_text(const struct probe_answer *answer, bool points, const struct style *style,
                      FILE *out);

/* A member of the answer's "procedures". */
json_t *probe_json(const struct probe_answer *answer);

/* The header of a file of curves, and the records of a procedure's whole programs; `chip` as
 * calibration_chip says it. */
void probe_write_curves_header(FILE *out);
void probe_write_curves(const struct probe_answer *answer, const char *chip, FILE *out);

/* A figure and what it concludes, or why there is none. */
void probe_report(struct report *report, const struct probe_answer *answer);

#endif
