/* What to change in a program, and the time that it would really save.
 *
 * The strategies are those of Zhou et al. (2025), section 5: each fights one cause. Those that a
 * program can express are carried out on a copy, which analysis/advice/trial.h keeps only when it
 * is faster, safe, and computes the same; the others are named with the condition under which they
 * would help this program.
 *
 *   advise(&program, cores, NULL, &advices, &error);
 *   advices_clear(&advices);
 *
 * A new strategy is a function beside those that fight the same cause, its line below and its row
 * in advice_strategies[]. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ADVICE_H
#define AUTOTUNE_ANALYSIS_ADVICE_ADVICE_H

#include "analysis/advice/trial.h"
#include "core/diagnosis.h"

enum { ADVICE_MAX = 16, ADVICE_CONDITION_SIZE = 512 };

struct advice_strategy {
    const char *name;   /* Zhou et al.'s: "RUS" */
    const char *title;  /* what to do */
    enum verdict cause; /* that it fights */

    /* Makes the program that is on trial faster, if it can; NULL: a program cannot express it. */
    enum status (*apply)(struct trial *trial, struct error *error);

    /* When it helps, or why it does not here. */
    void (*condition)(struct trial *trial, char text[ADVICE_CONDITION_SIZE]);
};

/* Those that programs can express. */
enum status advice_rus(struct trial *trial, struct error *error); /* advice_parallel.c */
enum status advice_ais(struct trial *trial, struct error *error);
enum status advice_rsd(struct trial *trial, struct error *error);
enum status advice_pp(struct trial *trial, struct error *error);
enum status advice_mrt(struct trial *trial, struct error *error); /* advice_grow.c */
enum status advice_itg(struct trial *trial, struct error *error);
enum status advice_aip(struct trial *trial, struct error *error);

/* Ends with a name of NULL. */
extern const struct advice_strategy advice_strategies[];

/* By name, any case; NULL when there is none. */
const struct advice_strategy *advice_strategy(const char *name);

struct advice {
    const struct advice_strategy *strategy;
    bool applies;           /* the changed program is faster */
    int64_t time_fs;        /* of the changed program */
    int64_t tidied_fs;      /* that taking out what the change left superfluous has saved */
    struct program changed; /* owned; empty unless it applies; lines as in edit.h */
    char condition[ADVICE_CONDITION_SIZE];
};

struct advices {
    bool safe;     /* otherwise there is nothing below: the program has to be mended first */
    char why[256]; /* it is not */
    int64_t time_fs;
    struct diagnosis diagnosis;
    int count;
    struct advice items[ADVICE_MAX]; /* what applies by time saved, then the others; ties by name */
};

/* Tries every strategy on a closed program, or `only` one; those against the verdict and the others
 * alike, since what is hidden behind a bottleneck may be the next one. The caller owns *advices.
 * STATUS_TOO_LARGE beyond the limits of analysis/check/check.h, edit.h and trial.h. */
enum status advise(const struct program *program, int cores, const struct advice_strategy *only,
                   struct advices *advices, struct error *error);

void advices_clear(struct advices *advices);

enum {
    LOOK_MAX_LINES = 400, /* of a program; of a longer one only the best change is looked behind */
    LOOK_MAX_EXECUTED = 200000, /* of its instructions, loops unrolled: the same */
};

/* Looks one change further than the next, for the change that saves most by itself need not be the
 * one after which most is saved. Which piece of advice leaves least with the best that follows it,
 * the one that saves more alone where two leave as much: *first, its index, and what is advised
 * about its program: *behind, which the caller owns. The first piece of advice must apply. */
enum status look_ahead(const struct advices *advices, int cores, int *first, struct advices *behind,
                       struct error *error);

#endif
