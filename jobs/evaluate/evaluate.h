/* Measured kernels against the simulator: every row of a bank with the tiling it ran with.
 *
 *   bank_read(file, BANK_AUTO, …) collects rows          (formats/bank.h)
 *   evaluate_rows(rows, count, hw, threads, predictions, &error)
 *   accuracy_of(rows, predictions, count, NULL, &accuracy) */
#ifndef AUTOTUNE_JOBS_EVALUATE_EVALUATE_H
#define AUTOTUNE_JOBS_EVALUATE_EVALUATE_H

#include "core/correction.h"
#include "core/hardware.h"
#include "core/status.h"
#include "formats/bank_row.h"
#include "search/tiling_simulator.h"

#include <jansson.h>
#include <signal.h>

struct bank; /* jobs/evaluate/evaluation.h */

/* What the simulator says of one row. */
struct prediction {
    double predicted_ns; /* 0: not simulated, see `reason` */
    int cores_used;
    uint32_t problem; /* correction_problem of its sizes */
    double busy_ns[HARDWARE_MAX_PIPES];
    double bus_bytes[HARDWARE_MAX_BUSES]; /* moved by all working cores */
    double campaign_ns;                   /* on evaluate_more's chip, where more is asked for */
    struct corrected corrected;           /* with a correction */
    char reason[192];                     /* why the row is not counted; "" when it is */
};

/* Simulates rows[0 … count) on `hw`, on as many cores as each row's tiling uses (which may not be
 * more than hw->cores), with `threads` threads (>= 1); the predictions do not depend on their
 * number. A row that cannot be simulated gets a reason, which is no error. Rows without a measured
 * time are simulated too; rows with row->unfit are not. `stop` (or NULL) becomes non-zero to leave
 * the rest out, with a reason. STATUS_NO_MEMORY, and what the simulator cannot do. */
enum status evaluate_rows(const struct bank_row rows[], size_t count, const struct hardware *hw,
                          int threads, const volatile sig_atomic_t *stop,
                          struct prediction predictions[], struct error *error);

/* The same in parts: a row's problem, its space, which the caller closes, and the tiling that it
 * ran with; and what a tiling of the space takes. STATUS_INVALID says why a row cannot be played.
 */
enum status evaluate_open(const struct bank_row *row, const struct hardware *hw,
                          struct problem *problem, struct tiling *tiling, struct space *space,
                          struct error *error);
enum status evaluate_tiling(struct tiling_simulator *simulator, const struct space *space,
                            const struct tiling *tiling, struct prediction *prediction,
                            struct error *error);
/* The same, and what else is asked of every row that is simulated; each may be NULL. */
struct evaluate_more {
    const struct hardware *chip;         /* for the two others: as it was when rows were measured,
                                            on as many cores; NULL: hw */
    const struct correction *correction; /* fills prediction->corrected */
    struct features *features;           /* one a row */
};
enum status evaluate_rows_more(const struct bank_row rows[], size_t count,
                               const struct hardware *hw, int threads,
                               const volatile sig_atomic_t *stop, const struct evaluate_more *more,
                               struct prediction predictions[], struct error *error);

/* How far predictions are from measurements. Relative errors are of the measured time; fractions.
 * Of rows with both; all are NaN when there are none, spearman also for one row or for equal
 * times. */
struct accuracy {
    int64_t used;
    double mape, median_ape;
    double bias;     /* mean of predicted / measured − 1 */
    double mean_log; /* mean |ln(predicted / measured)| */
    double spearman; /* rank correlation; equal times share the mean of their ranks */
};

/* Of the rows that `belongs` says yes to; NULL: all. */
typedef bool row_filter(const struct bank_row *row, const struct prediction *prediction);
enum status accuracy_of(const struct bank_row rows[], const struct prediction predictions[],
                        size_t count, row_filter *belongs, struct accuracy *accuracy,
                        struct error *error);

/* Problems that the bank has more than once: of every two of their kernels with different measured
 * times, is the faster one predicted to be the faster? */
struct pairs {
    int64_t groups, pairs, right;
};
enum status pairs_of(const struct bank_row rows[], const struct prediction predictions[],
                     size_t count, struct pairs *pairs, struct error *error);

/* At least 10 µs; and of these the products with m, n, k >= 128 and batch_type 0 or 2. */
row_filter row_is_ge_10us, row_is_large_plain;

/* Banks record sizes padded to blocks, so that the true pitch of a matrix that lies row by row is
 * not known where the padded one is a multiple of few bytes only. The largest power of two, up to
 * ROW_CLEAN_BYTES, that the row pitches of all such operands are multiples of; 0: all lie in
 * blocks. Rows of 0 and of ROW_CLEAN_BYTES are clean. */
enum { ROW_CLEAN_BYTES = 256 };
int row_pitch_multiple_bytes(const struct bank_row *row);
bool row_is_clean(const struct bank_row *row);
row_filter row_is_clean_ge_10us;

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
