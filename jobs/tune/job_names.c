/* What a job is called: its chip, and the key under which a store has its result. */
#include "core/version.h"
#include "jobs/correct/correct.h"
#include "jobs/tune/job.h"

#include <stdio.h>
#include <string.h>

void job_hardware_name(const struct hardware *hw, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", hw->name);
    if (hw->cache.is_cold)
        used += (size_t)snprintf(text + used, size - used, ", cold cache");
    for (size_t i = 0; i < hw->fact_count && used < size; i++)
        if (fact_is_override(&hw->facts[i]))
            used += (size_t)snprintf(text + used, size - used, ", %s=%s", hw->facts[i].key,
                                     hw->facts[i].value);
}

void job_key(const struct job *job, struct job_key_texts *texts, struct store_key *key)
{
    problem_shape(&job->problem, texts->shape, sizeof texts->shape);
    problem_options(&job->problem, texts->options, sizeof texts->options);
    int used =
        snprintf(texts->query, sizeof texts->query, "strategy=%s top=%d", job->strategy, job->top);
    if (job_chooses(job)) {
        char by[FINGERPRINT_SIZE] = "corrected";
        /* neither which numbers are uncertain nor what was learned is in the chip's fingerprint */
        if (job->robust)
            hardware_fingerprint(&job->corner.hw, by);
        used +=
            snprintf(texts->query + used, sizeof texts->query - (size_t)used, " chosen=%s%s%s", by,
                     job->correcting ? ":" : "", job->correcting ? job->correcting->content : "");
    }
    if (job->problem.op->fingerprint)
        snprintf(texts->query + used, sizeof texts->query - (size_t)used, " kernel=%s",
                 job->problem.op->fingerprint);
    *key = (struct store_key){
        .kind = STORE_SIMULATED,
        .op = job->problem.op->name,
        .shape = texts->shape,
        .options = texts->options,
        .dtype = dtype_name(job->problem.type),
        .space = job->space.kind->name,
        .query = texts->query,
        .hardware = job->chip->fingerprint,
        .cores = job->cores,
        .model_version = MODEL_VERSION,
    };
}
