/* The numbers of a description from the times of small programs (jobs/probe/subject.h), in parts:
 * what single instructions take (program_laws.c), and what is set by it (calibrate_programs.c).
 *
 *   program_laws_open(&laws, …); program_lots(&laws); program_laws(&laws) …
 * program_laws_close(&laws)
 */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PROGRAMS_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PROGRAMS_H

#include "formats/curves.h"
#include "jobs/calibrate/calibrate_parts.h"
#include "jobs/probe/subject.h"

/* start + latency + times · (each + units · per_unit) of one subject, alone on the chip. */
struct program_law {
    const struct curve *curve; /* NULL: the file has none */
    bool known;
    double latency_ns, each_ns, unit_ns;
    double median_error;
};

struct program_laws {
    struct calibration *calibration;
    const struct curves *curves;
    const char *file;
    struct error *error;
    struct subject_list list;
    struct program_law *laws; /* by subject */
    double launch_ns, launch_core_ns, dispatch_ns;
};

/* Lists the subjects of calibration->hw and their curves. Closed after a failure too. */
enum status program_laws_open(struct program_laws *laws);
void program_laws_close(struct program_laws *laws);

/* The first subject of a kind with a curve, or -1. */
int program_subject(const struct program_laws *laws, enum curve_kind kind);

/* The largest size of one dimension whose time is that of 1, all others being those of `base`; 0
 * where no longer time ends it. */
int64_t program_lot(const struct curve *curve, const int64_t base[CURVE_MAX_SIZES], int dimension);

/* Fits all laws, with the lots that calibration->hw has. */
enum status program_laws_fit(struct program_laws *laws);

/* ns a byte of a move on `cores` cores at once; NAN without points. */
double program_shared_ns(const struct curve *curve, int64_t cores);

/* The time that a law has for one program. */
double program_expected_ns(const struct program_laws *laws, int subject,
                           const struct instruction *in);

/* Sets a number to what a subject's curve says; 0 points of noise become 0. */
enum status program_set(struct program_laws *laws, int subject, const char *key, const char *unit,
                        double value);

/* Has a kind a law? */
bool program_has_law(enum curve_kind kind);

/* Sets the totals of all buses, and names what they leave open (program_buses.c). */
enum status program_buses(struct program_laws *laws);

/* Names all numbers that nothing was set for, and says of every curve how far off its programs are
 * on the description as it stands (program_judge.c). */
enum status program_unknowns(struct program_laws *laws);
enum status program_judge(struct program_laws *laws);

/* Says that a number could not be told, once. */
enum status program_unknown(struct program_laws *laws, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
