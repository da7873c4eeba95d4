/* Both jobs are made of the options of the one at hand: the product has another layout, the
 * conversion another kernel and shape. Which option and which kernel the operator says. A
 * conversion pays from the first number of calls on with which it and the faster calls take less
 * time together than the calls as they are. */
#include "jobs/tune/weights.h"

#include "formats/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ the jobs */

/* Of a conversion: what says how to search, and on what. */
static bool is_of_any_job(const char *name)
{
    static const char *const names[] = {"hw", "cores", "strategy", "threads", "time-limit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum status copy_options(const struct job *from, bool all, struct job *to,
                                struct error *error)
{
    job_init(to);
    to->kernels = from->kernels;
    for (int i = 0; i < from->option_count; i++)
        if (all || is_of_any_job(from->options[i].name))
            TRY(job_set(to, from->options[i].name, from->options[i].text, error));
    for (int i = 0; i < from->override_count; i++)
        TRY(job_set(to, "set-hw", from->overrides[i], error));
    return STATUS_OK;
}

static enum status open_blocks(const struct job *job, struct job *blocks, struct error *error)
{
    const struct operator_choice *layout =
        &job->problem.op->choices[job->problem.op->weights->choice];
    TRY(copy_options(job, true, blocks, error));
    TRY(job_set(blocks, layout->name, layout->values[1], error));
    blocks->corrected = job->corrected;
    TRY(job_open(blocks, job->chips, error));
    blocks->correcting = job->correcting;
    return STATUS_OK;
}

static enum status open_conversion(const struct job *job, const int64_t size[2],
                                   struct job *conversion, struct error *error)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%lldx%lld", (long long)size[0], (long long)size[1]);
    TRY(copy_options(job, false, conversion, error));
    TRY(job_set(conversion, "kernel", job->problem.op->weights->kernel, error));
    TRY(job_set(conversion, "shape", shape, error));
    TRY(job_set(conversion, "dtype", dtype_name(job->problem.type), error));
    return job_open(conversion, job->chips, error);
}

enum status weights_open(const struct job *job, struct weights *weights, bool *applies,
                         char why[WEIGHTS_WHY_SIZE], struct error *error)
{
    int64_t size[2];
    const struct operator_weights *of = job->problem.op->weights;
    *applies = false;
    *why = 0;
    job_init(&weights->blocks);
    job_init(&weights->conversion);
    if (!of || job->hw->host || job->problem.choice[of->choice] || !of->shape(&job->problem, size))
        return STATUS_OK;
    enum status status = open_blocks(job, &weights->blocks, error);
    if (status == STATUS_OK)
        status = open_conversion(job, size, &weights->conversion, error);
    *applies = status == STATUS_OK;
    if (status != STATUS_OK)
        weights_close(weights);
    if (status != STATUS_INVALID)
        return status;
    snprintf(why, WEIGHTS_WHY_SIZE, "%.*s", WEIGHTS_WHY_SIZE - 1, error->text);
    return STATUS_OK;
}

void weights_close(struct weights *weights)
{
    job_close(&weights->blocks);
    job_close(&weights->conversion);
}

/* ------------------------------------------------------------------ the answer */

json_t *weights_json(const struct weights *weights, int64_t calls, double now_ns,
                     const struct search_result *blocks, const struct search_result *conversion)
{
    if (!blocks->count || !conversion->count)
        return NULL;
    const struct space *product = &weights->blocks.space, *once = &weights->conversion.space;
    double time_ns = found_ns(&blocks->best[0]), once_ns = found_ns(&conversion->best[0]);
    double saved_ns = now_ns - time_ns, all_ns = once_ns + (double)calls * time_ns;
    return json_pack("{s:f, s:f, s:f, s:o, s:f, s:b, s:b, s:o, s:o}", "time_ns", time_ns,
                     "saved_ns", saved_ns, "conversion_ns", once_ns, "pays_from_call",
                     saved_ns > 0 ? json_integer((json_int_t)floor(once_ns / saved_ns) + 1)
                                  : json_null(),
                     "total_ns", all_ns, "pays", all_ns < (double)calls * now_ns, "proven",
                     blocks->optimal && conversion->optimal, "tiling",
                     tiling_json(product->axes, product->axis_count, &blocks->best[0].tiling),
                     "conversion_tiling",
                     tiling_json(once->axes, once->axis_count, &conversion->best[0].tiling));
}
