/* Calls are multiplied; the two searches about weights (jobs/tune/weights.h) are the main one's
 * anew, with its store and its time limit each. */
#include "cli/tune_calls.h"

#include "cli/signals.h"
#include "jobs/tune/weights.h"

static double best_ns(const struct tune_answer *answer, const struct found *best)
{
    double measured_ns = tune_measured_ns(tune_measured_of(answer, best));
    return measured_ns > 0 ? measured_ns : found_ns(best);
}

static json_t *compare(struct tune_find *find, const struct weights *weights, double now_ns)
{
    struct job_result blocks = {0}, conversion = {0};
    json_t *json = NULL;
    tune_find_other(find, &weights->blocks, &blocks);
    if (!*stop_asked())
        tune_find_other(find, &weights->conversion, &conversion);
    if (!*stop_asked())
        json = weights_json(weights, find->task->job.calls, now_ns, &blocks.search,
                            &conversion.search);
    job_result_clear(&blocks);
    job_result_clear(&conversion);
    return json;
}

void tune_calls_add(struct tune_find *find, struct tune_answer *answer)
{
    struct weights weights;
    struct error error;
    bool applies;
    char why[WEIGHTS_WHY_SIZE];
    const struct job *job = &find->task->job;
    const struct found *best = tune_best(answer);
    if (!best || !job_text(job, "count"))
        return;
    double now_ns = best_ns(answer, best);
    answer->details = answer->details ? answer->details : json_object();
    json_object_set_new(answer->details, "calls",
                        json_pack("{s:I, s:f}", "count", (json_int_t)job->calls, "total_ns",
                                  (double)job->calls * now_ns));
    cli_require(weights_open(job, &weights, &applies, why, &error), &error);
    if (*why && find->task->common.verbose)
        cli_note("weights in blocks: %s", why);
    if (!applies)
        return;
    json_t *json = *stop_asked() ? NULL : compare(find, &weights, now_ns);
    json_object_set_new(answer->details, "weights_in_blocks", json ? json : json_null());
    weights_close(&weights);
}
