/* From a model's order of tilings to the one that is fastest on this machine.
 *
 *   search(space, …keep_scores…)                  all legal tilings with the model's times
 *   host_tune_pick or host_tune_sample            which of them to run
 *   host_tune_measure(…, &tune, &error)           runs them (validate/measure.h), sorts, judges
 *   host_tune_clear(&tune)
 *
 * What is picked depends on the space and the seed alone; what is measured varies. */
#ifndef AUTOTUNE_JOBS_TUNE_HOST_TUNE_H
#define AUTOTUNE_JOBS_TUNE_HOST_TUNE_H

#include "core/measured.h"
#include "search/search.h"
#include "validate/measure.h"
#include "validate/model_quality.h"
#include "validate/runner.h"

/* How many a tuning measures where nothing else is asked for, and for how long all together. */
enum { HOST_TUNE_COUNT = 8, HOST_TUNE_MOST = 10000 };
#define HOST_TUNE_BUDGET_S 8.0

/* The functions that measure; tests put others in their place. */
struct host_meter {
    enum status (*measure)(const struct host_runner *runner, const struct space *space,
                           const struct tiling *tilings, const double *predicted_ns, int count,
                           const struct measure_options *options, struct measured *results,
                           struct error *error);
    enum status (*noise)(struct timing_noise *noise, struct error *error);
};
extern const struct host_meter host_meter;

/* The positions in result->scores of `count` tilings worth measuring, ascending, and how many there
 * are: the model's first MODEL_QUALITY_TOP; then, in its order, those whose named values (kernel,
 * packing, order, …) no other has, since near-duplicates share the model's error; then those whose
 * numbers are apart; then any. With budget_s > 0 only as many as can be measured within it, by the
 * model, but at least the first ones. */
int host_tune_pick(const struct space *space, const struct search_result *result, int count,
                   double budget_s, int64_t positions[]);

/* The same of a sample: the model's first MODEL_QUALITY_TOP and `count` others, each equally
 * likely, by a seed. `positions` has room for count + MODEL_QUALITY_TOP. */
enum status host_tune_sample(const struct search_result *result, int count, uint64_t seed,
                             int64_t positions[], int *picked, struct error *error);

/* Runs what was picked. STATUS_INVALID when nothing can be run at all, with the reason. */
enum status host_tune_measure(const struct space *space, const struct search_result *result,
                              const int64_t positions[], int count, const struct host_meter *meter,
                              const struct host_runner *runner,
                              const struct measure_options *options, struct host_tune *tune,
                              struct error *error);
void host_tune_clear(struct host_tune *tune);

/* What the model says of the tiling with this index. */
enum status host_tune_model(const struct space *space, int64_t index, struct host_candidate *item,
                            struct error *error);

/* From the items' ranks and times the rest: how many were measured, the model's quality, the order
 * of the items. host_tune_measure has done it. */
enum status host_tune_judge(struct host_tune *tune, struct error *error);

#endif
