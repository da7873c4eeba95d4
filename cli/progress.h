/* The line on standard error that says how far a command is: on a terminal only, first after 0.15
 * s, then ten times a second whatever the command does, and erased before anything else is written.
 *
 *   progress_open("check", quiet)       once the command knows its options (cli_parse)
 *   progress_tell(&now), …              as often as it likes; what is drawn is the latest
 *   progress_close()                    before the answer (cli_answer_close) or the end
 *
 * It says how long this takes so far, and how long it still will where that can be told. As there
 * is one terminal, there is one line in a process. */
#ifndef AUTOTUNE_CLI_PROGRESS_H
#define AUTOTUNE_CLI_PROGRESS_H

#include "jobs/sweep/sweep.h"
#include "search/search.h"

struct progress_now {
    const char *phase;               /* what is being done; copied. A new one is timed by itself */
    int64_t done, total;             /* 0: not known */
    int64_t paced;                   /* of `done`, since the phase began: for the pace */
    double share;                    /* of the work that is done; 0: not known */
    int64_t best_fs, lower_bound_fs; /* 0: none yet */
    const char *note;                /* or NULL; copied */
};

void progress_open(const char *what, bool quiet);
void progress_tell(const struct progress_now *now);
void progress_close(void);

/* From now on, with nothing to count. */
void progress_phase(const char *phase);

/* So much of it is done, in pieces that are alike. */
void progress_count(const char *phase, int64_t done, int64_t total);

/* A search_options.progress and a sweep_options.progress; no context is needed. */
void progress_search(void *context, const struct search_progress *now);
void progress_sweep(void *context, const struct sweep_progress *now);

/* How long work will still take, from how it went so far: right within a factor of three, or not
 * said. It starts as zero. */
enum { ETA_MARKS = 128 };

struct eta {
    double share, seconds; /* the latest */
    int steps;             /* that the share has grown by */
    int marks;
    double reached_s[ETA_MARKS + 1]; /* when so many parts of ETA_MARKS were done */
};

/* `share` of the work, 0 to 1, is done `seconds` after it began. */
void eta_note(struct eta *eta, double share, double seconds);

/* Seconds that were left at the latest note; negative while that cannot be told: before a tenth is
 * done, and while what was done so far says one thing in one way and another in another. */
double eta_left_s(const struct eta *eta);

#endif
