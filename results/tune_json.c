/* The answer as one document, made of a part for each of its structs. What only processors, stores
 * or some operators have is added only then. */
#include "results/tune.h"

#include <math.h>

void tune_put_corrected(const struct corrected *c, json_t *found)
{
    if (c->corrected_ns > 0)
        json_object_update_new(found,
                               json_pack("{s:f, s:[f, f], s:f, s:s}", "corrected_ns",
                                         c->corrected_ns, "interval_ns", c->low_ns, c->high_ns,
                                         "outside", c->outside, "outside_by", c->outside_by));
}

json_t *tune_correction_json(const struct tune_correction *c)
{
    bool used = c->best.corrected_ns > 0;
    return json_pack("{s:o, s:b, s:o, s:o}", "file", json_text(c->file), "used", used,
                     used ? "about" : "reason", json_text(c->about), "covers",
                     json_number_above_0(c->covers));
}

static json_t *candidate_json(const struct space *space, const struct host_candidate *candidate)
{
    const struct measured *m = &candidate->measured;
    bool known = m->timing.median_ns > 0;
    return json_pack(
        "{s:o, s:o, s:f, s:o, s:o, s:o, s:b, s:i, s:i, s:b, s:I, s:o}", "tiling",
        tiling_json(space->axes, space->axis_count, &candidate->model.tiling), "time_ns",
        json_number_above_0(m->timing.median_ns), "predicted_ns", found_ns(&candidate->model),
        "spread", json_number(known ? m->timing.spread : NAN), "max_error",
        json_number(tune_max_error(candidate)), "allowed_error", json_number(m->allowed_error),
        "error_sampled", m->sampled, "samples", m->timing.samples, "dropped", m->timing.dropped,
        "fell_out", m->timing.fell_out, "rank", (json_int_t)candidate->rank, "quarantined",
        m->quarantine[0] ? json_text(m->quarantine) : json_null());
}

json_t *measured_json(const struct space *space, const struct host_tune *tune)
{
    json_t *list = json_array();
    for (int i = 0; i < tune->count; i++)
        json_array_append_new(list, candidate_json(space, &tune->items[i]));
    return list;
}

json_t *validation_json(const struct host_question *question, const struct host_answer *measured)
{
    const struct host_tune *tune = &measured->tune;
    const struct model_quality *q = &tune->quality;
    json_t *json = json_pack(
        "{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:b, s:f}", "asked",
        measured->asked, "measured", tune->measured, "left_out", tune->left_out, "mean_error",
        json_number(q->mean_error), "worst_error", json_number(q->worst_error), "bias",
        json_number(q->bias), "spearman", json_number(q->spearman), "regret_first",
        json_number(q->regret_first), "regret_top3", json_number(q->regret_top), "noise",
        tune->noise.spread, "noise_dropped", tune->noise.dropped, "noisy", tune->noisy, "seconds",
        measured->seconds);
    if (question->is_sample)
        json_object_set_new(json, "seed", json_integer((json_int_t)question->seed));
    return json;
}

json_t *tune_found_json(const struct tune_answer *answer, const struct found *found)
{
    const struct space *space = answer->space;
    const struct hardware *hw = space->hw;
    double time_ns = found_ns(found);
    json_t *shares[2] = {json_array(), json_array()}; /* of pipes, of buses */
    for (int i = 0; i < hw->pipe_count + hw->bus_count; i++) {
        struct share share = found_share(hw, found, i);
        json_array_append_new(shares[i >= hw->pipe_count],
                              json_pack("{s:s, s:f, s:f}", "name", share.name, "busy_ns",
                                        share.busy_ns, "share", share.share));
    }
    json_t *json =
        json_pack("{s:o, s:i, s:f, s:f, s:f, s:o, s:o, s:o, s:s}", "tiling",
                  tiling_json(space->axes, space->axis_count, &found->tiling), "cores_used",
                  found->cores_used, "time_ns", time_ns, "lower_bound_ns",
                  (double)found->bound_fs / FS_PER_NS, "roofline_ns", tune_roofline_ns(answer),
                  "gflops", json_number(tune_gflops(answer, time_ns)), "pipes", shares[0], "buses",
                  shares[1], "bottleneck", found_bottleneck(hw, found).name);
    if (!hw->host)
        json_object_set_new(json, "launch_ns", json_real(found_launch_ns(space, found)));
    return json;
}

/* Of a processor's tiling also what its clock says. */
static json_t *best_json(const struct tune_answer *answer)
{
    const struct found *found = tune_best(answer);
    json_t *best = found ? tune_found_json(answer, found) : json_null();
    if (found && answer->correction)
        tune_put_corrected(&answer->correction->best, best);
    if (!answer->space->hw->host || !found)
        return best;
    double ns = tune_measured_ns(tune_measured_of(answer, found));
    json_object_set_new(best, "measured_ns", json_number_above_0(ns));
    json_object_set_new(best, "measured_gflops",
                        json_number(ns > 0 ? tune_gflops(answer, ns) : NAN));
    return best;
}

static json_t *top_json(const struct tune_answer *answer, int i)
{
    json_t *json = tune_found_json(answer, &answer->search->best[i]);
    if (answer->correction && answer->correction->top)
        tune_put_corrected(&answer->correction->top[i], json);
    return json;
}

static void set_within(json_t *search, const char *name, const char *name_at_most,
                       const struct within *within)
{
    json_object_set_new(search, name, json_integer(within->surely));
    json_object_set_new(search, name_at_most, json_integer(within->at_most));
}

static json_t *search_json(const struct tune_answer *a)
{
    const struct search_result *s = a->search;
    json_t *search =
        json_pack("{s:I, s:I, s:I, s:I, s:b, s:f, s:f, s:f, s:i}", "candidates",
                  (json_int_t)s->candidates, "feasible", (json_int_t)s->feasible, "pruned",
                  (json_int_t)s->pruned, "simulated", (json_int_t)s->simulated, "optimal",
                  tune_is_optimal(a), "lower_bound_ns", (double)s->lower_bound_fs / FS_PER_NS,
                  "gap", tune_gap(a), "seconds", s->seconds, "threads", a->threads);
    if (s->unasked)
        json_object_set_new(search, "feasible_at_least", json_true());
    set_within(search, "within_1_percent", "within_1_percent_at_most", &s->within_1_percent);
    if (space_core_axis(a->space) >= 0) {
        json_t *counts = json_array();
        for (int64_t n = 0; (n = space_next_cores(a->space, n)) > 0;)
            json_array_append_new(counts, json_integer(n));
        json_object_set_new(search, "core_counts", counts);
    }
    double fit_error = fit_share(&a->space->hw->fit);
    if (fit_error > 0) {
        json_object_set_new(search, "fit_error", json_real(fit_error));
        set_within(search, "within_fit_error", "within_fit_error_at_most", &s->within_tolerance);
    }
    const struct operator_rule *rules = a->space->kind->rules;
    for (int i = 0; rules && rules[i].key; i++)
        json_object_set_new(search, rules[i].key, json_integer(s->pruned_by[i]));
    return search;
}

static json_t *choices_json(const struct problem *problem)
{
    json_t *choices = json_object();
    for (int i = 0; i < problem->op->choice_count; i++)
        json_object_set_new(choices, problem->op->choices[i].name,
                            json_string(problem_choice_name(problem, i)));
    return choices;
}

/* With a store also where the measurement is from. */
static json_t *measuring_json(const struct tune_answer *answer)
{
    if (!answer->measured)
        return json_null();
    json_t *json = validation_json(answer->question, answer->measured);
    if (answer->has_store)
        json_object_set_new(json, "from_store", json_boolean(answer->measured_from_store));
    return json;
}

/* What is asked for, and of what. */
json_t *tune_question_json(const struct tune_answer *answer)
{
    const struct problem *problem = answer->problem;
    const struct hardware *hw = answer->space->hw;
    json_t *shape = json_object();
    for (int i = 0; i < problem->op->size_count; i++)
        json_object_set_new(shape, problem->op->size_names[i], json_integer(problem->size[i]));
    return json_pack("{s:i, s:s, s:o, s:s, s:o, s:o, s:o, s:s, s:i, s:s}", "schema", 1, "op",
                     problem->op->name, "shape", shape, "dtype", dtype_name(problem->type),
                     "hardware", json_text(hw->name), "hardware_file", json_text(hw->file),
                     "hardware_changes", overrides_json(hw), "cache", hardware_cache_word(hw),
                     "cores", answer->cores, "space", answer->space->kind->name);
}

static json_t *illegal_json(const struct tune_answer *answer)
{
    struct tune_illegal illegal;
    json_t *reasons = json_array();
    tune_illegal(answer, &illegal);
    for (int r = 0; r < illegal.count; r++)
        json_array_append_new(reasons,
                              json_pack("{s:s, s:i, s:o}", "limit", illegal.reasons[r].limit,
                                        "tilings", illegal.reasons[r].tilings, "text",
                                        json_text(illegal.reasons[r].text)));
    return json_pack("{s:i, s:o}", "looked_at", illegal.looked_at, "reasons", reasons);
}

enum status tune_write_json(const struct tune_answer *answer, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    bool is_host = answer->space->hw->host;
    char text[TUNE_REASON_SIZE];
    const char *reason = tune_reason(answer, text);
    json_t *document = tune_question_json(answer), *top = json_array();
    for (int i = 0; i < answer->search->count; i++)
        json_array_append_new(top, top_json(answer, i));
    json_object_set_new(document, "search", search_json(answer));
    json_object_set_new(document, "best", best_json(answer));
    json_object_set_new(document, "top", top);
    if (is_host) {
        json_object_set_new(document, "measured",
                            answer->measured ? measured_json(answer->space, &answer->measured->tune)
                                             : json_array());
        json_object_set_new(document, "validation", measuring_json(answer));
    }
    if (answer->has_store)
        json_object_set_new(document, "from_store", json_boolean(answer->from_store));
    if (answer->problem->op->fingerprint)
        json_object_set_new(document, "kernel", json_string(answer->problem->op->fingerprint));
    if (!is_host && answer->problem->op->choice_count) /* of programs */
        json_object_set_new(document, "choices", choices_json(answer->problem));
    if (answer->correction)
        json_object_set_new(document, "correction", tune_correction_json(answer->correction));
    if (reason)
        json_object_set_new(document, "reason", json_text(reason));
    json_object_set_new(document, "illegal", illegal_json(answer));
    if (answer->details)
        json_object_update(document, answer->details);
    return json_write(document, out, error);
}
