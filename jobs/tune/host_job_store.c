/* What was measured, as a store keeps it: the members that an answer shows ("measured" and
 * "validation"), the number of each tiling, and the machine. */
#include "core/host.h"
#include "core/utf8.h"
#include "jobs/tune/host_job.h"
#include "jobs/tune/job_json.h"
#include "results/tune.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ writing */

static json_t *list_json(const struct space *space, const struct host_tune *tune)
{
    json_t *list = measured_json(space, tune);
    for (int i = 0; i < tune->count; i++)
        json_object_set_new(json_array_get(list, (size_t)i), "index",
                            json_integer(tune->items[i].model.index));
    return list;
}

static enum status encode(const struct job *job, const struct host_question *question,
                          const struct host_answer *answer, char **json, struct error *error)
{
    const struct host *host = job->hw->host;
    json_t *object = json_pack("{s:{s:o, s:s, s:i}, s:o, s:o}", "machine", "cpu",
                               json_text(host->cpu), "isa", host_isa_name(host->isa), "threads",
                               job->cores, "validation", validation_json(question, answer),
                               "measured", list_json(&job->space, &answer->tune));
    *json = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return *json ? STATUS_OK : error_memory(error);
}

enum status host_job_record(const struct job *job, const struct host_question *question,
                            const struct host_answer *answer, bool *worth,
                            struct job_record *record, struct error *error)
{
    const struct host_tune *tune = &answer->tune;
    bool none_legal = answer->asked == 0;
    *worth = none_legal || tune->measured > 0;
    if (!*worth)
        return STATUS_OK;
    job_record_open(job, record);
    host_job_key(job, question, &record->texts, &record->row.key);
    record->row.key.hardware = record->fingerprint;
    if (tune->measured)
        job_record_best(job, &tune->items[0].model.tiling, tune->items[0].measured.timing.median_ns,
                        record);
    record->row.optimal = none_legal;
    record->row.limit_s = none_legal ? 0 : question->time_limit_s;
    TRY(encode(job, question, answer, &record->answer, error));
    record->row.answer = record->answer;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ reading */

/* The tiling is the one that the number names, and legal. */
static bool get_tiling(const struct space *space, const json_t *object, struct host_candidate *item)
{
    struct tiling tiling;
    int64_t index;
    if (!job_get_integer(object, "index", 0, &index) || index >= space->candidates)
        return false;
    space_tiling(space, index, &tiling);
    json_t *named = tiling_json(space->axes, space->axis_count, &tiling);
    bool same = named && json_equal(named, json_object_get(object, "tiling"));
    json_decref(named);
    return same && space->kind->legal(space, &tiling) &&
           host_tune_model(space, index, item, NULL) == STATUS_OK;
}

/* A line that a terminal can show; "" where it is null. */
static bool get_reason(const json_t *object, char text[], size_t size)
{
    const json_t *member = json_object_get(object, "quarantined");
    const char *reason = json_string_value(member);
    text[0] = 0;
    if (json_is_null(member))
        return true;
    if (!reason || !*reason || strlen(reason) >= size)
        return false;
    if (!utf8_is_shown(reason))
        return false;
    strcpy(text, reason);
    return true;
}

static bool get_measured(const json_t *object, struct measured *m)
{
    struct timing *timing = &m->timing;
    return job_get_known(object, "time_ns", &timing->median_ns) &&
           job_get_known(object, "spread", &timing->spread) &&
           job_get_known(object, "max_error", &m->max_error) &&
           job_get_real(object, "allowed_error", &m->allowed_error) &&
           job_get_bool(object, "error_sampled", &m->sampled) &&
           job_get_bool(object, "fell_out", &timing->fell_out) &&
           job_get_count(object, "samples", INT32_MAX, &timing->samples) &&
           job_get_count(object, "dropped", INT32_MAX, &timing->dropped) &&
           get_reason(object, m->quarantine, sizeof m->quarantine) &&
           (timing->median_ns > 0) == !m->quarantine[0];
}

static bool get_item(const struct space *space, const json_t *object, struct host_candidate *item)
{
    double predicted_ns; /* the model says it again */
    return job_get_integer(object, "rank", 1, &item->rank) && item->rank <= space->candidates &&
           job_get_real(object, "predicted_ns", &predicted_ns) && predicted_ns > 0 &&
           get_tiling(space, object, item) && get_measured(object, &item->measured);
}

static bool get_validation(const json_t *object, struct host_answer *answer)
{
    struct host_tune *tune = &answer->tune;
    return job_get_count(object, "asked", HOST_TUNE_MOST + MODEL_QUALITY_TOP, &answer->asked) &&
           job_get_count(object, "left_out", answer->asked, &tune->left_out) &&
           job_get_real(object, "noise", &tune->noise.spread) &&
           job_get_real(object, "noise_dropped", &tune->noise.dropped) &&
           job_get_bool(object, "noisy", &tune->noisy) &&
           job_get_real(object, "seconds", &answer->seconds);
}

static bool get_items(const struct space *space, const json_t *list, struct host_tune *tune)
{
    for (; tune->count < (int)json_array_size(list); tune->count++)
        if (!get_item(space, json_array_get(list, (size_t)tune->count), &tune->items[tune->count]))
            return false;
    return true;
}

static enum status read_answer(const struct space *space, const json_t *object,
                               struct host_answer *answer, struct error *error)
{
    const json_t *list = json_object_get(object, "measured");
    bool whole = get_validation(json_object_get(object, "validation"), answer) &&
                 json_is_array(list) &&
                 json_array_size(list) == (size_t)(answer->asked - answer->tune.left_out);
    if (whole) {
        answer->tune.items = calloc(json_array_size(list) + 1, sizeof *answer->tune.items);
        if (!answer->tune.items)
            return error_memory(error);
    }
    if (!whole || !get_items(space, list, &answer->tune))
        return error_set(error, STATUS_INVALID, "what it has is no answer to this measurement");
    return host_tune_judge(&answer->tune, error);
}

enum status host_job_decode(const struct job *job, const char *json, struct host_answer *answer,
                            struct error *error)
{
    json_error_t where;
    json_t *object = json_loads(json, 0, &where);
    *answer = (struct host_answer){0};
    if (!object)
        return error_set(error, STATUS_INVALID, "its measurement is damaged: %s", where.text);
    enum status status = read_answer(&job->space, object, answer, error);
    json_decref(object);
    if (status != STATUS_OK)
        host_answer_clear(answer);
    return status;
}

enum status host_job_recall(const struct job *job, const struct host_question *question,
                            struct store *store, bool *found, struct host_answer *answer,
                            struct error *error)
{
    struct job_key_texts texts;
    struct store_key key;
    struct store_row row;
    *answer = (struct host_answer){0};
    host_job_key(job, question, &texts, &key);
    enum status status = store_get(store, &key, found, &row, error);
    if (status != STATUS_OK || !*found)
        return status;
    *found = job_is_answered(&row, question->time_limit_s);
    return *found ? host_job_decode(job, row.answer, answer, error) : STATUS_OK;
}
