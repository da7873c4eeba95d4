#include "results/tune.h"

static json_t *share_json(const char *name, double busy_ns, double time_ns)
{
    return json_pack("{s:s, s:f, s:f}", "name", name, "busy_ns", busy_ns, "share",
                     busy_ns / time_ns);
}

json_t *tune_row_json(const struct tune_answer *answer, const struct tune_row *row)
{
    const struct hardware *hw = answer->hw;
    json_t *pipes = json_array(), *buses = json_array();
    for (int p = 0; p < hw->pipe_count; p++)
        json_array_append_new(pipes, share_json(hw->pipes[p].name, row->busy_ns[p], row->time_ns));
    for (int b = 0; b < hw->bus_count; b++)
        json_array_append_new(buses, share_json(hw->buses[b].name, row->bus_ns[b], row->time_ns));
    json_t *json =
        json_pack("{s:o, s:i, s:f, s:f, s:f, s:f, s:o, s:o, s:s}", "tiling",
                  tiling_json(answer->axes, answer->axis_count, &row->tiling), "cores_used",
                  row->cores_used, "time_ns", row->time_ns, "lower_bound_ns", row->lower_bound_ns,
                  "roofline_ns", answer->roofline_ns, "gflops", row->operations / row->time_ns,
                  "pipes", pipes, "buses", buses, "bottleneck", tune_bottleneck(answer, row).name);
    if (!answer->on_processor)
        json_object_set_new(json, "launch_ns", json_real(row->launch_ns));
    return json;
}

/* Of a processor's tiling also what its clock says. */
static json_t *best_json(const struct tune_answer *answer)
{
    json_t *best = answer->best ? tune_row_json(answer, answer->best) : json_null();
    if (!answer->on_processor || !answer->best)
        return best;
    const struct tune_measured *measured = tune_measured_of(answer, answer->best);
    bool known = measured && measured->measured_ns > 0;
    json_object_set_new(best, "measured_ns",
                        known ? json_real(measured->measured_ns) : json_null());
    json_object_set_new(best, "measured_gflops",
                        known ? json_real(answer->best->operations / measured->measured_ns)
                              : json_null());
    return best;
}

static json_t *search_json(const struct tune_answer *a)
{
    json_t *search = json_pack(
        "{s:I, s:I, s:I, s:I, s:b, s:f, s:f, s:f, s:i, s:I, s:I}", "candidates",
        (json_int_t)a->candidates, "feasible", (json_int_t)a->feasible, "pruned",
        (json_int_t)a->pruned, "simulated", (json_int_t)a->simulated, "optimal", a->optimal,
        "lower_bound_ns", a->lower_bound_ns, "gap", a->gap, "seconds", a->seconds, "threads",
        a->threads, "within_1_percent", (json_int_t)a->within_1_percent, "within_1_percent_at_most",
        (json_int_t)a->within_1_percent_at_most);
    json_t *counts = a->core_counts ? json_array() : NULL;
    for (int i = 0; counts && i < a->core_count_count; i++)
        json_array_append_new(counts, json_integer(a->core_counts[i]));
    if (counts)
        json_object_set_new(search, "core_counts", counts);
    if (a->fit_error > 0) {
        json_object_set_new(search, "fit_error", json_real(a->fit_error));
        json_object_set_new(search, "within_fit_error", json_integer(a->within_fit_error));
        json_object_set_new(search, "within_fit_error_at_most",
                            json_integer(a->within_fit_error_at_most));
    }
    for (int i = 0; i < a->discarded_count; i++)
        json_object_set_new(search, a->discarded[i].name, json_integer(a->discarded[i].count));
    return search;
}

static json_t *choices_json(const struct tune_answer *answer)
{
    json_t *choices = json_object();
    for (int i = 0; i < answer->choice_count; i++)
        json_object_set_new(choices, answer->choice_names[i], json_string(answer->choices[i]));
    return choices;
}

/* With a store also where the measurement is from. */
static json_t *measuring_json(const struct tune_answer *answer)
{
    if (!answer->validation)
        return json_null();
    json_t *json = validation_json(answer->validation);
    if (answer->has_store)
        json_object_set_new(json, "from_store", json_boolean(answer->validation->from_store));
    return json;
}

enum status tune_write_json(const struct tune_answer *answer, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    json_t *shape = json_object(), *top = json_array();
    for (int i = 0; i < answer->size_count; i++)
        json_object_set_new(shape, answer->size_names[i], json_integer(answer->sizes[i]));
    for (int i = 0; i < answer->count; i++)
        json_array_append_new(top, tune_row_json(answer, &answer->rows[i]));
    json_t *document = json_pack(
        "{s:i, s:s, s:o, s:s, s:o, s:o, s:o, s:i, s:s, s:o, s:o, s:o}", "schema", 1, "op",
        answer->op, "shape", shape, "dtype", dtype_name(answer->type), "hardware",
        json_text(answer->hw->name), "hardware_file", json_text(answer->hw->file),
        "hardware_changes", overrides_json(answer->hw), "cores", answer->cores, "space",
        answer->space, "search", search_json(answer), "best", best_json(answer), "top", top);
    if (answer->on_processor) {
        json_object_set_new(document, "measured",
                            measured_json(answer->axes, answer->axis_count, answer->measured,
                                          answer->measured_count));
        json_object_set_new(document, "validation", measuring_json(answer));
    }
    if (answer->has_store)
        json_object_set_new(document, "from_store", json_boolean(answer->from_store));
    if (answer->choice_count)
        json_object_set_new(document, "choices", choices_json(answer));
    if (answer->reason)
        json_object_set_new(document, "reason", json_text(answer->reason));
    if (answer->details)
        json_object_update(document, answer->details);
    return json_write(document, out, error);
}
