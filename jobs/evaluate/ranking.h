/* Does the model tell good tilings from others, without new measurements? What a library's tuner
 * recorded is good: of all tilings that it could have chosen few should be predicted to be faster.
 *
 *   evaluate_rows(…) gives predictions          (jobs/evaluate/evaluate.h)
 *   ranking_draw(&bank, predictions, hw, &options, ranked, &error)
 *   ranking_make(&bank, predictions, ranked, &options, &answer, &error)
 *
 * Of every recorded problem of RANKING_LEAST_NS and more, RANKING_DRAWN other tilings are drawn
 * uniformly, without replacement, from its even tilings (kernels/operator_bank.h) that are legal
 * and use at least RANKING_CORES of the recorded one's cores; where there are fewer, all are
 * taken. */
#ifndef AUTOTUNE_JOBS_EVALUATE_RANKING_H
#define AUTOTUNE_JOBS_EVALUATE_RANKING_H

#include "jobs/evaluate/evaluation.h"

#define RANKING_LEAST_NS                                                                           \
    5e3 /* below, kernels repeat within 1.3 to 2, and their order is chance                        \
         */
#define RANKING_CORES 0.75
enum { RANKING_DRAWN = 150 };

/* What orders tilings: the simulated time, and beside it another one. */
enum ranking_score { RANKING_SIMULATED, RANKING_CORRECTED, RANKING_SCORES };

struct ranking_options {
    int threads; /* >= 1; each problem is one's */
    uint64_t seed;
    const volatile sig_atomic_t *stop;
    /* Called now and then by any thread, one at a time; NULL: none. */
    void (*progress)(void *context, int64_t done, int64_t total);
    void *context;
    /* A second time of a tiling, of its prediction, by any thread; NULL: there is none. */
    double (*corrected_ns)(const void *correction, const struct bank_row *row,
                           const struct space *space, const struct tiling *tiling,
                           const struct prediction *prediction);
    const void *correction;
};

/* A row against what was drawn of its problem. */
struct ranked {
    int64_t others;             /* that could be drawn */
    int drawn;                  /* 0: not compared */
    int faster[RANKING_SCORES]; /* of the drawn ones, predicted to be strictly faster */
    char reason[192];           /* why the row is not compared; "" when it is, or was too short */
};

/* Draws depend on the seed and the problem alone: they are the same for any number of threads.
 * STATUS_NO_MEMORY. */
enum status ranking_draw(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct ranking_options *options,
                         struct ranked ranked[], struct error *error);

/* Fills drawn[RANKING_DRAWN] from the even tilings of a row's opened problem, without the recorded
 * one. Returns how many there are; *others: how many there were to draw from. -1: out of memory. */
int ranking_draw_one(const struct space *space, const struct problem *problem,
                     const struct bank_row *row, const struct tiling *recorded, uint64_t seed,
                     struct tiling drawn[], int64_t *others, struct error *error);

/* Sets *answer to an object: the share of the drawn tilings that are predicted to be faster, and of
 * the problems whose recorded tiling is among the best 1 and 5 percent, over all and by class; the
 * rows that were left out, and each row. A tiling is among the best p percent of those drawn and
 * itself when fewer than p percent of them are faster. The caller owns it. */
enum status ranking_make(const struct bank *bank, const struct prediction predictions[],
                         const struct ranked ranked[], const struct ranking_options *options,
                         json_t **answer, struct error *error);

#endif
