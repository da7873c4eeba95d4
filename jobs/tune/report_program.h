/* What a page says of a program: what limits it, its roofline and its timeline; and of a search:
 * its maps over two axes of the tiling. */
#ifndef AUTOTUNE_JOBS_TUNE_REPORT_PROGRAM_H
#define AUTOTUNE_JOBS_TUNE_REPORT_PROGRAM_H

#include "core/diagnosis.h"
#include "core/operator.h"
#include "core/timeline.h"
#include "results/report.h"
#include "search/search.h"

/* The program of a tiling as a user gets it: what the search has simulated, without superfluous
 * synchronisation. Where dispatching an instruction takes time, the search itself simulates
 * programs without it (search/tiling_simulator.h). Elsewhere the program stays as it was searched
 * where taking it out takes time off, which is rare, or takes longer than `tidying` allows (NULL:
 * however long). STATUS_STOPPED once space->stop says so.
 *
 * Writes one part's program of one core to *program and closes it, as operator_space.generate does.
 * Not for the search: it takes ten to a hundred times as long. */
enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             const struct stop *tidying, struct program *program,
                             struct error *error);

/* Programs that play more instructions than this have no timeline: it is gathered from every one of
 * them. About a second. */
#define REPORT_MAX_EXECUTED 50000000LL

/* Adds the sections of a program that `cores` cores run in step and that took `played`; `title` is
 * what it is called, or NULL where it is the only one. One that deadlocks has no timeline, and a
 * line is in its place once `stop` (NULL: never) says so. */
enum status report_program(struct report *report, const struct program *program, int cores,
                           const struct stop *stop, const struct timeline *played,
                           const struct diagnosis_thresholds *thresholds, const char *title,
                           struct error *error);

/* The same of every program of a tiling, `tidying` as of generate_program; a line instead of what
 * space->stop cuts off; nothing on a processor. */
enum status report_tiling(struct report *report, const struct space *space,
                          const struct tiling *tiling, const struct stop *tidying,
                          struct error *error);

/* Adds the maps that can be made of the result, at most two; `axes` as of landscape_axes, or NULL.
 * None where the space has no two axes to choose, and a line instead of what space->stop cuts
 * off. */
enum status report_landscapes(struct report *report, const struct space *space,
                              const struct search_result *result, const char *axes, int threads,
                              struct error *error);

#endif
