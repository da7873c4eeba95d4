/* Each product is a job of the main command by its options (jobs/network/network_tune.h), so the
 * store's rows are those of `tune` and `sweep`, and calls of one product share a row. */
#include "jobs/network/network_tune.h"

#include "jobs/tune/job_store.h"
#include "network/product.h"
#include "search/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct setting {
    const char *name;
    char text[72];
};

/* Shorter searches than this say nothing. */
#define LEAST_S 0.05

static bool cache_is_given(const struct network_tune *tune)
{
    for (int i = 0; i < tune->override_count; i++)
        if (strncmp(tune->overrides[i], HARDWARE_CACHE, strlen(HARDWARE_CACHE)) == 0)
            return true;
    return false;
}

static enum status set_chip(const struct network_tune *tune, struct job *job, struct error *error)
{
    TRY(job_set(job, "hw", tune->hw_name, error));
    if (tune->space)
        TRY(job_set(job, "space", tune->space, error));
    for (int i = 0; i < tune->override_count; i++)
        TRY(job_set(job, "set-hw", tune->overrides[i], error));
    return tune->hw->cache.behind >= 0 && !cache_is_given(tune)
               ? job_set(job, "cache", "cold", error)
               : STATUS_OK;
}

static enum status set_product(const struct product *p, struct job *job, struct error *error)
{
    static const char *const transposes[] = {"none", "a", "b", "both"};
    struct setting settings[] = {{"op", "matmul"}, {"shape", ""},     {"batch", ""},  {"dtype", ""},
                                 {"out-type", ""}, {"transpose", ""}, {"share-b", ""}};
    snprintf(settings[1].text, sizeof settings->text, "%lldx%lldx%lld", (long long)p->m,
             (long long)p->k, (long long)p->n);
    snprintf(settings[2].text, sizeof settings->text, "%lld", (long long)p->batch);
    strcpy(settings[3].text, dtype_name(p->type));
    strcpy(settings[4].text, p->result == p->type ? "same" : dtype_name(p->result));
    strcpy(settings[5].text, transposes[p->transpose_a + 2 * p->transpose_b]);
    strcpy(settings[6].text, p->share_b ? "yes" : "no");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TRY(job_set(job, settings[i].name, settings[i].text, error));
    return STATUS_OK;
}

static enum status keep(const struct network_tune *tune, const struct job *job,
                        const struct job_result *result, struct error *error)
{
    struct job_record record;
    bool worth;
    TRY(job_record(job, result, *tune->stop != 0, &worth, &record, error));
    if (!worth)
        return STATUS_OK;
    enum status status = job_record_put(tune->store, &record, false, error);
    if (status == STATUS_OK)
        status = store_commit(tune->store, error);
    job_record_clear(&record);
    return status;
}

static enum status find_tiling(const struct network_tune *tune, const struct job *job,
                               double *best_ns, struct network_tuned *tuned, struct error *error)
{
    struct job_result result;
    const struct job_run how = {.threads = tune->threads, .stop = tune->stop};
    bool found;
    TRY(job_recall(job, tune->store, &found, &result, error));
    if (!found) {
        TRY(job_run(job, &how, &result, error));
        enum status status = keep(tune, job, &result, error);
        if (status != STATUS_OK) {
            job_result_clear(&result);
            return status;
        }
    }
    if (result.search.count) {
        *best_ns = found_ns(&result.search.best[0]);
        tuned->found++;
        tuned->cut_off += !job_is_complete(job, &result, *tune->stop != 0);
    }
    job_result_clear(&result);
    return STATUS_OK;
}

/* A product that the chip has no tilings for is passed over, and says why. */
static enum status tune_product(const struct network_tune *tune, const struct product *product,
                                double left_s, double *best_ns, struct network_tuned *tuned,
                                struct error *error)
{
    struct job job;
    struct error why = {0};
    char seconds[32];
    job_init(&job);
    enum status status = set_chip(tune, &job, &why);
    if (status == STATUS_OK)
        status = set_product(product, &job, &why);
    snprintf(seconds, sizeof seconds, "%.3f", left_s);
    if (status == STATUS_OK && tune->time_limit_s > 0)
        status = job_set(&job, "time-limit", seconds, &why);
    if (status == STATUS_OK)
        status = job_open(&job, tune->chips, &why);
    if (status == STATUS_OK)
        memcpy(tuned->fingerprint, job.chip->fingerprint, sizeof tuned->fingerprint);
    if (status == STATUS_OK)
        status = find_tiling(tune, &job, best_ns, tuned, error);
    else if (status == STATUS_INVALID || status == STATUS_TOO_LARGE)
        status = STATUS_OK;
    else
        error_set(error, status, "%s", why.text);
    if (why.text[0] && !tuned->refused[0])
        snprintf(tuned->refused, sizeof tuned->refused, "%s", why.text);
    job_close(&job);
    return status;
}

enum status network_tune(const struct network_tune *tune, const struct network *network,
                         const int64_t *order, int64_t count, double *best_ns,
                         struct network_tuned *tuned, struct error *error)
{
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    *tuned = (struct network_tuned){0};
    for (int64_t i = 0; i < count; i++) {
        struct product product;
        double left_s = tune->time_limit_s > 0 ? tune->time_limit_s - seconds_since(&started) : 1;
        if (!call_product(&network->calls[order[i]], &product))
            continue;
        tuned->products++;
        if (left_s < LEAST_S || *tune->stop)
            tuned->left++;
        else
            TRY(tune_product(tune, &product, left_s, &best_ns[order[i]], tuned, error));
    }
    return STATUS_OK;
}
