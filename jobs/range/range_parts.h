/* Internal to jobs/range: the steps of range_find in their order. */
#ifndef AUTOTUNE_JOBS_RANGE_RANGE_PARTS_H
#define AUTOTUNE_JOBS_RANGE_RANGE_PARTS_H

#include "jobs/range/range.h"

/* range_classes.c: which sizes are one problem, and their spaces. */
enum status range_make_classes(const struct range_question *question, struct range_answer *answer,
                               struct error *error);

/* range_seed.c: tilings of some classes, which the transfer has then, and of every class the
 * fastest of them. */
enum status range_seed(const struct range_question *question, const struct stop *stop,
                       struct range_answer *answer, struct error *error);

/* The same of one class's tiling, and of those alike that may be good for others. */
enum status range_add_tiling(struct range_answer *answer, int class, const struct tiling *tiling,
                             struct error *error);

/* Looks among the transfer's tilings for the fastest of each class. */
enum status range_find_best(struct range_answer *answer, int class, struct error *error);

/* range_cover.c: the parts, if what is known were the fastest; answer->without where there are
 * none. *asked is the regret that they keep to. */
enum status range_cover(const struct range_question *question, struct range_answer *answer,
                        double *asked, struct error *error);

/* range_climb.c: adds tilings that may serve longer parts. */
enum status range_climb(const struct range_question *question, double asked,
                        struct range_answer *answer, struct error *error);

/* range_prove.c: looks for tilings that are faster than any part's by more than that regret, in the
 * classes where it is not proven that there are none. *more: there are, and the transfer has them.
 */
enum status range_prove(const struct range_question *question, const struct stop *stop,
                        double asked, struct range_answer *answer, bool *more, struct error *error);

/* Branch and bound over some classes: none has a tiling faster than below_fs[class], or its fastest
 * is known then, and proven. 0: it is not asked for. STATUS_STOPPED: nothing is known. */
enum status range_search(const struct range_question *question, const struct stop *stop,
                         const int64_t below_fs[], struct range_answer *answer, int64_t *faster,
                         struct error *error);

#endif
