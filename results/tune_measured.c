/* What ran on this machine, in the forms of an answer. */
#include "results/tune.h"

#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *one_json(const struct space *space, const struct host_candidate *candidate)
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
        json_array_append_new(list, one_json(space, &tune->items[i]));
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

/* ---- the table ---- */

enum { MAX_CELL = 24 };

static int64_t value_of(const struct host_tune *tune, int i, int axis)
{
    return tune->items[i].model.tiling.value[axis];
}

/* Axes on which all measured tilings agree are said once. */
static bool is_constant(const struct host_tune *tune, int axis)
{
    for (int i = 1; i < tune->count; i++)
        if (value_of(tune, i, axis) != value_of(tune, 0, axis))
            return false;
    return tune->count > 1;
}

static int width_of(const struct host_tune *tune, const struct axis *axes, int axis)
{
    char text[MAX_CELL];
    size_t width = strlen(axes[axis].name);
    for (int i = 0; i < tune->count; i++) {
        size_t length = strlen(axis_value_text(&axes[axis], value_of(tune, i, axis), text));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void put_constants(const struct tune_answer *a, FILE *out)
{
    char text[MAX_CELL];
    bool any = false;
    const struct host_tune *tune = &a->measured->tune;
    for (int i = 0; i < a->space->axis_count; i++) {
        const struct axis *axis = &a->space->axes[i];
        if (!is_constant(tune, i))
            continue;
        fprintf(out, "%s%s=%s", any ? "  " : "  all with      ", axis->name,
                axis_value_text(axis, value_of(tune, 0, i), text));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* Of the i-th; negative: their names. */
static void put_values(const struct tune_answer *a, int i, FILE *out)
{
    char text[MAX_CELL];
    const struct host_tune *tune = &a->measured->tune;
    const struct axis *axes = a->space->axes;
    for (int axis = 0; axis < a->space->axis_count; axis++)
        if (!is_constant(tune, axis))
            fprintf(out, " %*s", width_of(tune, axes, axis),
                    i < 0 ? axes[axis].name
                          : axis_value_text(&axes[axis], value_of(tune, i, axis), text));
    fputc('\n', out);
}

static void put_one(const struct tune_answer *a, int i, const struct style *style, FILE *out)
{
    char measured[TEXT_SIZE], predicted[TEXT_SIZE];
    const struct host_candidate *candidate = &a->measured->tune.items[i];
    const struct timing *timing = &candidate->measured.timing;
    double model_ns = found_ns(&candidate->model);
    fprintf(out, "  %s%9s  %6.2f %%  %9s %+7.1f %% %5lld  %8.1e%s%s", i == 0 ? style->bold : "",
            text_time(timing->median_ns, measured), 100 * timing->spread,
            text_time(model_ns, predicted), 100 * (model_ns / timing->median_ns - 1),
            (long long)candidate->rank, tune_max_error(candidate), timing->fell_out ? "*" : " ",
            i == 0 ? style->end : "");
    put_values(a, i, out);
}

static void put_list(const struct tune_answer *a, const struct style *style, FILE *out)
{
    bool fell_out = false;
    const struct host_tune *tune = &a->measured->tune;
    fprintf(out, "   measured    spread      model       off  rank max error ");
    put_values(a, -1, out);
    for (int i = 0; i < tune->measured; i++) {
        put_one(a, i, style, out);
        fell_out = fell_out || tune->items[i].measured.timing.fell_out;
    }
    if (fell_out)
        fprintf(out, "  * too slow to win: few samples\n");
}

static void put_quarantine(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char text[TILING_TEXT_SIZE];
    const struct host_tune *tune = &a->measured->tune;
    for (int i = 0; i < tune->count; i++) {
        const struct host_candidate *candidate = &tune->items[i];
        if (!candidate->measured.quarantine[0])
            continue;
        tiling_text(a->space->axes, a->space->axis_count, &candidate->model.tiling, text,
                    sizeof text);
        fprintf(out, "  %squarantine%s   %s\n", style->warn, style->end,
                candidate->measured.quarantine);
        fprintf(out, "               --set %s\n", text);
    }
}

static const char *text_known(double number, int digits, const char *unit, char text[TEXT_SIZE])
{
    if (!isfinite(number))
        return "unknown";
    snprintf(text, TEXT_SIZE, "%.*f%s", digits, number, unit);
    return text;
}

static void put_quality(const struct host_tune *tune, const struct style *style, FILE *out)
{
    char n[5][TEXT_SIZE];
    const struct model_quality *q = &tune->quality;
    fprintf(out, "  the model    error %s on average, %s at worst; rank correlation %s\n",
            text_known(100 * q->mean_error, 1, " %", n[0]),
            text_known(100 * q->worst_error, 1, " %", n[1]), text_known(q->spearman, 2, "", n[2]));
    fprintf(out,
            "               its first pick takes %s of the best time, the best of its first 3 %s\n",
            text_known(q->regret_first, 3, " x", n[3]), text_known(q->regret_top, 3, " x", n[4]));
    fprintf(out,
            "  %snoise%s        %.2f %% spread of a fixed piece of work, %.0f %% of its samples "
            "dropped%s\n",
            tune->noisy ? style->warn : "", tune->noisy ? style->end : "", 100 * tune->noise.spread,
            100 * tune->noise.dropped,
            tune->noisy ? ": noisy, small differences mean nothing" : "");
}

void measured_write_table(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (!a->measured)
        return;
    const struct host_tune *tune = &a->measured->tune;
    fprintf(out, "  measured     %d of %d %s on this machine in %.1f s", tune->measured,
            a->measured->asked,
            a->question->is_sample ? "tilings, a random sample and the model's first 3,"
                                   : "tilings",
            a->measured->seconds);
    if (tune->left_out)
        fprintf(out, "; the end came before %d", tune->left_out);
    fputs(a->measured_from_store ? "\n               from store: --fresh measures again\n" : "\n",
          out);
    put_constants(a, out);
    if (tune->measured)
        put_list(a, style, out);
    put_quarantine(a, style, out);
    put_quality(tune, style, out);
    fputc('\n', out);
}
