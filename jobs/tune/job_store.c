/* Answers to JSON and back, and which of them a store keeps. An answer is kept as compact JSON:
 * integers as they are, reals with 17 digits, so that they come back the same. Nothing is taken on
 * trust when it is read: counts are in range, bounds are no more than times, lists have the chip's
 * length, and the tiling is the one that its index names, and legal. Of what was measured it has
 * the members that an answer shows ("measured" and "validation"), the number of each tiling, and
 * the machine. */
#include "jobs/tune/host_job.h"

#include "core/host.h"
#include "core/utf8.h"
#include "formats/json.h"
#include "results/tune.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ members */

/* Members of stored answers. What a file says is checked as any other input: a store may have been
 * written by anybody. Each is false where the member is something else. */

/* A whole number >= least. */
static bool get_integer(const json_t *object, const char *name, int64_t least, int64_t *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_integer_value(member);
    return json_is_integer(member) && *value >= least;
}

/* One from 0 to `most`. */
static bool get_count(const json_t *object, const char *name, int most, int *value)
{
    int64_t number;
    bool good = get_integer(object, name, 0, &number) && number <= most;
    *value = good ? (int)number : 0;
    return good;
}

/* A finite number >= 0; with null for what is not known, which is 0. */
static bool get_real(const json_t *object, const char *name, double *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_number_value(member);
    return json_is_number(member) && isfinite(*value) && *value >= 0;
}

static bool get_known(const json_t *object, const char *name, double *value)
{
    *value = 0;
    return json_is_null(json_object_get(object, name)) || get_real(object, name, value);
}

static bool get_bool(const json_t *object, const char *name, bool *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_is_true(member);
    return json_is_boolean(member);
}

/* ------------------------------------------------------------------ writing */

static json_t *integers_json(const int64_t values[], int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

/* Values behind the last that is not 0 are left out: spaces may keep some of their own there. */
static json_t *values_json(const struct tiling *tiling)
{
    int count = SPACE_MAX_AXES;
    while (count > 0 && tiling->value[count - 1] == 0)
        count--;
    return integers_json(tiling->value, count);
}

static json_t *parts_json(const struct found *found)
{
    json_t *parts = json_array();
    for (int i = 0; i < found->part_count; i++)
        json_array_append_new(
            parts, json_pack("[I, f]", (json_int_t)found->part_fs[i], found->part_weight[i]));
    return parts;
}

static json_t *found_json(const struct hardware *hw, const struct found *found)
{
    return json_pack("{s:I, s:o, s:i, s:I, s:I, s:o, s:o, s:o, s:o}", "index",
                     (json_int_t)found->index, "tiling", values_json(&found->tiling), "cores_used",
                     found->cores_used, "bound_fs", (json_int_t)found->bound_fs, "end_fs",
                     (json_int_t)found->timeline.end_fs, "busy_fs",
                     integers_json(found->timeline.busy_fs, hw->pipe_count), "active_fs",
                     integers_json(found->timeline.active_fs, hw->bus_count), "bus_bytes",
                     integers_json(found->bus_bytes, hw->bus_count), "parts", parts_json(found));
}

static json_t *within_json(const struct within *within)
{
    const int64_t counts[] = {within->surely, within->at_most};
    return integers_json(counts, 2);
}

static json_t *answer_json(const struct job *job, const struct job_result *result)
{
    const struct search_result *search = &result->search;
    json_t *best = json_array();
    for (int i = 0; i < search->count; i++)
        json_array_append_new(best, found_json(job->hw, &search->best[i]));
    json_t *answer = json_pack("{s:I, s:I}", "candidates", (json_int_t)search->candidates,
                               "simulated", (json_int_t)search->simulated);
    if (search->feasible >= 0)
        json_object_update_new(answer,
                               json_pack("{s:I, s:I}", "feasible", (json_int_t)search->feasible,
                                         "pruned", (json_int_t)search->pruned));
    if (search->unasked)
        json_object_set_new(answer, "feasible_at_least", json_true());
    const struct operator_rule *rules = job->space.kind->rules;
    for (int r = 0; rules && rules[r].key; r++)
        json_object_set_new(answer, rules[r].key, json_integer(search->pruned_by[r]));
    json_object_update_new(answer,
                           json_pack("{s:b, s:I, s:f, s:o, s:o, s:o}", "optimal", search->optimal,
                                     "lower_bound_fs", (json_int_t)search->lower_bound_fs, "gap",
                                     search->gap, "within_1_percent",
                                     within_json(&search->within_1_percent), "within_tolerance",
                                     within_json(&search->within_tolerance), "best", best));
    if (job_chooses(job) && search->count)
        json_object_set_new(
            answer, "robust",
            json_pack("{s:I, s:f, s:f, s:f, s:i, s:I, s:I, s:b, s:b, s:o}", "worst_fs",
                      (json_int_t)result->robust.worst_fs, "residual_factor",
                      result->robust.residual_factor, "corrected_ns", result->robust.corrected_ns,
                      "nominal_corrected_ns", result->robust.nominal_corrected_ns, "even",
                      result->robust.even, "weighed", (json_int_t)result->robust.weighed,
                      "nominal_worst_fs", (json_int_t)result->robust.nominal_worst_fs,
                      "nominal_optimal", result->robust.nominal_optimal, "complete",
                      result->robust.complete, "nominal_best",
                      found_json(job->hw, &result->robust.nominal_best)));
    return answer;
}

enum status job_encode(const struct job *job, const struct job_result *result, char **json,
                       struct error *error)
{
    json_t *answer = answer_json(job, result);
    *json = answer ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(answer);
    return *json ? STATUS_OK : error_memory(error);
}

/* ------------------------------------------------------------------ reading */

/* Exactly `count` integers >= 0. */
static bool get_integers(const json_t *object, const char *name, int count, int64_t values[])
{
    const json_t *list = json_object_get(object, name);
    if (!json_is_array(list) || json_array_size(list) != (size_t)count)
        return false;
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        values[i] = json_integer_value(value);
        if (!json_is_integer(value) || values[i] < 0)
            return false;
    }
    return true;
}

/* The values behind the axes, which a space with a search of its own has filled in. */
static bool is_own(const struct space *space, const struct tiling *tiling)
{
    if (space->kind->own_legal)
        return space->kind->own_legal(space, tiling);
    for (int a = space->axis_count; a < SPACE_MAX_AXES; a++)
        if (tiling->value[a])
            return false;
    return true;
}

/* The tiling is the one that the index names, and legal. */
static bool get_tiling(const struct space *space, const json_t *object, const struct found *found,
                       struct tiling *tiling)
{
    struct tiling named;
    int count = (int)json_array_size(json_object_get(object, "tiling"));
    memset(tiling, 0, sizeof *tiling);
    if (count > SPACE_MAX_AXES || found->index >= space->candidates ||
        !get_integers(object, "tiling", count, tiling->value))
        return false;
    space_tiling(space, found->index, &named);
    for (int a = 0; a < space->axis_count; a++)
        if (named.value[a] != tiling->value[a])
            return false;
    return space->kind->legal(space, tiling) && is_own(space, tiling);
}

static bool get_parts(const json_t *object, struct found *found)
{
    const json_t *parts = json_object_get(object, "parts");
    if (!json_is_array(parts) || json_array_size(parts) > SEARCH_MAX_PARTS)
        return false;
    found->part_count = (int)json_array_size(parts);
    for (int i = 0; i < found->part_count; i++) {
        const json_t *part = json_array_get(parts, (size_t)i);
        const json_t *fs = json_array_get(part, 0), *weight = json_array_get(part, 1);
        found->part_fs[i] = json_integer_value(fs);
        found->part_weight[i] = json_number_value(weight);
        if (!json_is_integer(fs) || !json_is_number(weight) || found->part_fs[i] < 0 ||
            !(found->part_weight[i] >= 0) || !isfinite(found->part_weight[i]))
            return false;
    }
    return true;
}

/* On how many cores a tiling runs: its program, or that of its programs which has the most. */
static int cores_of(const struct space *space, const struct tiling *tiling)
{
    int most = space->kind->cores_used(space, tiling, 0);
    for (int part = 1; !space->kind->ask && space->kind->parts[part]; part++) {
        int cores = space->kind->cores_used(space, tiling, part);
        most = cores > most ? cores : most;
    }
    return most;
}

static bool get_found(const struct job *job, const json_t *object, struct found *found)
{
    int64_t cores;
    memset(found, 0, sizeof *found);
    found->timeline.blocked = -1;
    if (!get_integer(object, "index", 0, &found->index) ||
        !get_integer(object, "cores_used", 1, &cores) || cores > job->cores ||
        !get_integer(object, "bound_fs", 0, &found->bound_fs) ||
        !get_integer(object, "end_fs", 1, &found->timeline.end_fs) ||
        !get_integers(object, "busy_fs", job->hw->pipe_count, found->timeline.busy_fs) ||
        !get_integers(object, "active_fs", job->hw->bus_count, found->timeline.active_fs) ||
        !get_integers(object, "bus_bytes", job->hw->bus_count, found->bus_bytes))
        return false;
    found->cores_used = (int)cores;
    return found->bound_fs <= found->timeline.end_fs && get_parts(object, found) &&
           found->part_count == job->space.kind->costs &&
           get_tiling(&job->space, object, found, &found->tiling) &&
           found->cores_used == cores_of(&job->space, &found->tiling);
}

static bool get_within(const json_t *answer, const char *name, struct within *within)
{
    int64_t counts[2];
    if (!get_integers(answer, name, 2, counts))
        return false;
    *within = (struct within){counts[0], counts[1]};
    return true;
}

static bool get_rules(const json_t *answer, const struct operator_rule *rules, int64_t counts[])
{
    for (int r = 0; rules && rules[r].key; r++)
        if (!get_integer(answer, rules[r].key, 0, &counts[r]))
            return false;
    return true;
}

/* Legal tilings that were counted; else search_count has still to do it. */
static bool get_legal(const json_t *answer, struct search_result *search)
{
    search->feasible = -1;
    search->unasked = json_is_true(json_object_get(answer, "feasible_at_least"));
    return !json_object_get(answer, "feasible") ||
           (get_integer(answer, "feasible", 0, &search->feasible) &&
            get_integer(answer, "pruned", 0, &search->pruned));
}

static bool get_counts(const json_t *answer, const struct operator_rule *rules,
                       struct search_result *search)
{
    const json_t *gap = json_object_get(answer, "gap");
    search->gap = json_number_value(gap);
    return json_is_number(gap) && isfinite(search->gap) &&
           get_integer(answer, "candidates", 0, &search->candidates) && get_legal(answer, search) &&
           get_integer(answer, "simulated", 0, &search->simulated) &&
           get_rules(answer, rules, search->pruned_by) &&
           get_integer(answer, "lower_bound_fs", 0, &search->lower_bound_fs) &&
           get_bool(answer, "optimal", &search->optimal) &&
           get_within(answer, "within_1_percent", &search->within_1_percent) &&
           get_within(answer, "within_tolerance", &search->within_tolerance);
}

static bool get_robust(const struct job *job, const json_t *answer, struct robust *robust)
{
    const json_t *object = json_object_get(answer, "robust");
    int64_t even;
    if (!get_real(object, "residual_factor", &robust->residual_factor) ||
        !get_real(object, "corrected_ns", &robust->corrected_ns) ||
        !get_real(object, "nominal_corrected_ns", &robust->nominal_corrected_ns) ||
        !((job->robust ? robust->residual_factor : robust->corrected_ns) > 0) ||
        !get_integer(object, "even", 0, &even) || even > job->space.kind->evens)
        return false;
    robust->even = (int)even;
    return get_integer(object, "worst_fs", job->robust, &robust->worst_fs) &&
           get_integer(object, "weighed", 1, &robust->weighed) &&
           get_integer(object, "nominal_worst_fs", job->robust, &robust->nominal_worst_fs) &&
           get_bool(object, "nominal_optimal", &robust->nominal_optimal) &&
           get_bool(object, "complete", &robust->complete) &&
           get_found(job, json_object_get(object, "nominal_best"), &robust->nominal_best);
}

static bool get_best(const struct job *job, const json_t *best, struct search_result *search)
{
    for (; search->count < (int)json_array_size(best); search->count++)
        if (!get_found(job, json_array_get(best, (size_t)search->count),
                       &search->best[search->count]))
            return false;
    return true;
}

static enum status read_answer(const struct job *job, const json_t *answer,
                               struct job_result *result, struct error *error)
{
    struct search_result *search = &result->search;
    const json_t *best = json_object_get(answer, "best");
    size_t count = json_array_size(best);
    bool whole = get_counts(answer, job->space.kind->rules, search) && json_is_array(best) &&
                 count <= (size_t)job->top &&
                 (!job_chooses(job) || count == 0 || get_robust(job, answer, &result->robust));
    if (whole) {
        search->best = calloc(count + 1, sizeof *search->best);
        if (!search->best)
            return error_memory(error);
    }
    if (whole && get_best(job, best, search))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "what it has is no answer to this question");
}

enum status job_decode(const struct job *job, const char *json, struct job_result *result,
                       struct error *error)
{
    json_error_t where;
    json_t *answer = json_loads(json, 0, &where);
    memset(result, 0, sizeof *result);
    if (!answer)
        return error_set(error, STATUS_INVALID, "its answer is damaged: %s", where.text);
    enum status status = read_answer(job, answer, result, error);
    json_decref(answer);
    if (status != STATUS_OK)
        job_result_clear(result);
    return status;
}

/* ------------------------------------------------------------------ rows of a store */

static void open_record(const struct job *job, struct job_record *record)
{
    memset(record, 0, sizeof *record);
    job_key(job, &record->texts, &record->row.key);
    strcpy(record->fingerprint, job->chip->fingerprint);
    record->row.key.hardware = record->fingerprint;
    job_hardware_name(job->hw, record->hardware_name, sizeof record->hardware_name);
    record->row.hardware_name = record->hardware_name;
    record->row.tiling = record->tiling;
}

static void record_best(const struct job *job, const struct tiling *tiling, double time_ns,
                        struct job_record *record)
{
    tiling_text(job->space.axes, job->space.axis_count, tiling, record->tiling,
                sizeof record->tiling);
    record->row.time_ns = time_ns;
}

enum status job_record(const struct job *job, const struct job_result *result, bool stopped,
                       bool *worth, struct job_record *record, struct error *error)
{
    const struct search_result *search = &result->search;
    bool complete = job_is_complete(job, result, stopped);
    *worth = complete || search->count > 0;
    if (!*worth)
        return STATUS_OK;
    open_record(job, record);
    if (search->count)
        record_best(job, &search->best[0].tiling, found_ns(&search->best[0]), record);
    record->row.optimal = complete;
    record->row.limit_s = complete || stopped ? 0 : job->time_limit_s;
    TRY(job_encode(job, result, &record->answer, error));
    record->row.answer = record->answer;
    return STATUS_OK;
}

void job_record_clear(struct job_record *record)
{
    free(record->answer);
    memset(record, 0, sizeof *record);
}

/* More than 0: a's limit allows more; 0 is none. */
static int compare_limits(const struct store_row *a, const struct store_row *b)
{
    double x = a->limit_s > 0 ? a->limit_s : INFINITY, y = b->limit_s > 0 ? b->limit_s : INFINITY;
    return (x > y) - (x < y);
}

/* Nothing is proven by measuring: more time counts, then the faster. Of equally fast ones always
 * the same, whichever was there first. */
static bool measures_more(const struct store_row *row, const struct store_row *kept)
{
    int order = compare_limits(row, kept);
    if (!order)
        order = (row->time_ns < kept->time_ns) - (row->time_ns > kept->time_ns);
    if (!order)
        order = strcmp(kept->tiling, row->tiling);
    if (!order)
        order = strcmp(kept->answer, row->answer);
    return order > 0;
}

/* A proof beats everything, then the longer limit, then the better time. */
bool job_row_says_more(const struct store_row *row, const struct store_row *kept)
{
    if (row->key.kind == STORE_MEASURED)
        return measures_more(row, kept);
    if (row->optimal || kept->optimal)
        return !kept->optimal;
    if (row->limit_s > kept->limit_s || row->limit_s < kept->limit_s)
        return row->limit_s > kept->limit_s;
    return row->time_ns > 0 && row->time_ns < kept->time_ns;
}

/* A proof is always worth writing: --fresh may mend what is there. What was measured anew counts,
 * unless it was given less time. */
static bool replaces(const struct store_row *row, const struct store_row *kept, bool fresh)
{
    if (fresh && row->key.kind == STORE_MEASURED)
        return compare_limits(row, kept) >= 0;
    return row->optimal || job_row_says_more(row, kept);
}

enum status job_record_put(struct store *store, const struct job_record *record, bool fresh,
                           struct error *error)
{
    struct store_row kept;
    bool found;
    enum status status = store_get(store, &record->row.key, &found, &kept, error);
    if (status != STATUS_OK || (found && !replaces(&record->row, &kept, fresh)))
        return status;
    return store_put(store, &record->row, error);
}

bool job_is_answered(const struct store_row *row, double time_limit_s)
{
    bool unlimited = row->key.kind == STORE_MEASURED && row->limit_s <= 0;
    return row->optimal || unlimited || (time_limit_s > 0 && row->limit_s >= time_limit_s);
}

enum status job_recall(const struct job *job, struct store *store, bool *found,
                       struct job_result *result, struct error *error)
{
    struct job_key_texts texts;
    struct store_key key;
    struct store_row row;
    job_key(job, &texts, &key);
    enum status status = store_get(store, &key, found, &row, error);
    if (status != STATUS_OK || !*found)
        return status;
    *found = job_is_answered(&row, job->time_limit_s);
    return *found ? job_decode(job, row.answer, result, error) : STATUS_OK;
}

/* ------------------------------------------------------------------ writing what was measured */

static json_t *measured_list_json(const struct space *space, const struct host_tune *tune)
{
    json_t *list = measured_json(space, tune);
    for (int i = 0; i < tune->count; i++)
        json_object_set_new(json_array_get(list, (size_t)i), "index",
                            json_integer(tune->items[i].model.index));
    return list;
}

static enum status encode_measured(const struct job *job, const struct host_question *question,
                                   const struct host_answer *answer, char **json,
                                   struct error *error)
{
    const struct host *host = job->hw->host;
    json_t *object = json_pack("{s:{s:o, s:s, s:i}, s:o, s:o}", "machine", "cpu",
                               json_text(host->cpu), "isa", host_isa_name(host->isa), "threads",
                               job->cores, "validation", validation_json(question, answer),
                               "measured", measured_list_json(&job->space, &answer->tune));
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
    open_record(job, record);
    host_job_key(job, question, &record->texts, &record->row.key);
    record->row.key.hardware = record->fingerprint;
    if (tune->measured)
        record_best(job, &tune->items[0].model.tiling, tune->items[0].measured.timing.median_ns,
                    record);
    record->row.optimal = none_legal;
    record->row.limit_s = none_legal ? 0 : question->time_limit_s;
    TRY(encode_measured(job, question, answer, &record->answer, error));
    record->row.answer = record->answer;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ reading what was measured */

/* The tiling is the one that the number names, and legal. */
static bool get_measured_tiling(const struct space *space, const json_t *object,
                                struct host_candidate *item)
{
    struct tiling tiling;
    int64_t index;
    if (!get_integer(object, "index", 0, &index) || index >= space->candidates)
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
    return get_known(object, "time_ns", &timing->median_ns) &&
           get_known(object, "spread", &timing->spread) &&
           get_known(object, "max_error", &m->max_error) &&
           get_real(object, "allowed_error", &m->allowed_error) &&
           get_bool(object, "error_sampled", &m->sampled) &&
           get_bool(object, "fell_out", &timing->fell_out) &&
           get_count(object, "samples", INT32_MAX, &timing->samples) &&
           get_count(object, "dropped", INT32_MAX, &timing->dropped) &&
           get_reason(object, m->quarantine, sizeof m->quarantine) &&
           (timing->median_ns > 0) == !m->quarantine[0];
}

static bool get_item(const struct space *space, const json_t *object, struct host_candidate *item)
{
    double predicted_ns; /* the model says it again */
    return get_integer(object, "rank", 1, &item->rank) && item->rank <= space->candidates &&
           get_real(object, "predicted_ns", &predicted_ns) && predicted_ns > 0 &&
           get_measured_tiling(space, object, item) && get_measured(object, &item->measured);
}

static bool get_validation(const json_t *object, struct host_answer *answer)
{
    struct host_tune *tune = &answer->tune;
    return get_count(object, "asked", HOST_TUNE_MOST + MODEL_QUALITY_TOP, &answer->asked) &&
           get_count(object, "left_out", answer->asked, &tune->left_out) &&
           get_real(object, "noise", &tune->noise.spread) &&
           get_real(object, "noise_dropped", &tune->noise.dropped) &&
           get_bool(object, "noisy", &tune->noisy) && get_real(object, "seconds", &answer->seconds);
}

static bool get_items(const struct space *space, const json_t *list, struct host_tune *tune)
{
    for (; tune->count < (int)json_array_size(list); tune->count++)
        if (!get_item(space, json_array_get(list, (size_t)tune->count), &tune->items[tune->count]))
            return false;
    return true;
}

static enum status read_measured_answer(const struct space *space, const json_t *object,
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
    enum status status = read_measured_answer(&job->space, object, answer, error);
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
