/* What else a machine does: from the system's counters, how many processors other work keeps busy
 * meanwhile, and what is taken away from this process.
 *
 *   load_read(NULL, &before); …; load_read(NULL, &after);
 *   load = load_between(&before, &after);
 *   if (load_disturbs(&load, threads)) … load_text(&load, text, size)
 *
 * Of the processors that the calling thread may run on. A counter that the system does not have
 * says nothing, as if nobody had been there. */
#ifndef AUTOTUNE_VALIDATE_MACHINE_LOAD_H
#define AUTOTUNE_VALIDATE_MACHINE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Where the counters are; NULL: /proc and /sys/fs/cgroup. */
struct load_source {
    const char *proc, *cgroup;
};

/* Sums since the system began, in seconds. */
struct load_reading {
    double at_s;
    double busy_s;      /* of the processors, with any work */
    double own_s;       /* of it, of this process and its children that have ended */
    double steal_s;     /* that the hypervisor gave to others */
    double waiting_s;   /* in which some task waited for a processor (PSI) */
    double throttled_s; /* for which a quota stopped the control group */
    int processors;     /* that are counted */
    bool all;           /* of the system */
    int running;        /* tasks, now, this one apart */
};

/* What went on between two readings. */
struct load {
    double others;    /* processors that other work kept busy */
    double steal;     /* processors that the hypervisor gave to others */
    double waiting;   /* share of the time in which tasks waited for a processor */
    double throttled; /* share of the time for which a quota stopped this process */
    int processors;
    int running;
};

void load_read(const struct load_source *source, struct load_reading *reading);
struct load load_between(const struct load_reading *before, const struct load_reading *after);

/* Would it show in times of work on so many threads? */
bool load_disturbs(const struct load *load, int threads);

/* In a line: "other work keeps 1.9 of 2 processors busy, …"; "" where there is nothing to say. */
void load_text(const struct load *load, char *text, size_t size);

#endif
