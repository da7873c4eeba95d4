/* What ran on this machine, in the forms of an answer. */
#include "results/tune.h"

#include <math.h>
#include <string.h>

const struct tune_measured *tune_measured_of(const struct tune_answer *answer,
                                             const struct tune_row *row)
{
    for (int i = 0; i < answer->measured_count; i++)
        if (memcmp(&answer->measured[i].row.tiling, &row->tiling,
                   (size_t)answer->axis_count * sizeof row->tiling.value[0]) == 0)
            return &answer->measured[i];
    return NULL;
}

/* ---- JSON ---- */

static json_t *number_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *one_json(const struct axis *axes, int axis_count, const struct tune_measured *m)
{
    bool known = m->measured_ns > 0;
    return json_pack("{s:o, s:o, s:f, s:o, s:o, s:o, s:b, s:i, s:i, s:b, s:I, s:o}", "tiling",
                     tiling_json(axes, axis_count, &m->row.tiling), "time_ns",
                     number_json(known ? m->measured_ns : NAN), "predicted_ns", m->row.time_ns,
                     "spread", number_json(known ? m->spread : NAN), "max_error",
                     number_json(m->max_error), "allowed_error", number_json(m->allowed_error),
                     "error_sampled", m->sampled, "samples", m->samples, "dropped", m->dropped,
                     "fell_out", m->fell_out, "rank", (json_int_t)m->rank, "quarantined",
                     m->quarantined ? json_text(m->quarantined) : json_null());
}

json_t *measured_json(const struct axis *axes, int axis_count, const struct tune_measured rows[],
                      int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, one_json(axes, axis_count, &rows[i]));
    return list;
}

json_t *validation_json(const struct tune_validation *v)
{
    json_t *json =
        json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:b, s:f}", "asked",
                  v->asked, "measured", v->measured, "left_out", v->left_out, "mean_error",
                  number_json(v->mean_error), "worst_error", number_json(v->worst_error), "bias",
                  number_json(v->bias), "spearman", number_json(v->spearman), "regret_first",
                  number_json(v->regret_first), "regret_top3", number_json(v->regret_top3), "noise",
                  v->noise, "noise_dropped", v->dropped, "noisy", v->noisy, "seconds", v->seconds);
    if (v->is_sample)
        json_object_set_new(json, "seed", json_integer((json_int_t)v->seed));
    return json;
}

/* ---- the table ---- */

enum { MAX_CELL = 24 };

/* Axes on which all measured tilings agree are said once. */
static bool is_constant(const struct tune_answer *a, int axis)
{
    for (int i = 1; i < a->measured_count; i++)
        if (a->measured[i].row.tiling.value[axis] != a->measured[0].row.tiling.value[axis])
            return false;
    return a->measured_count > 1;
}

static int width_of(const struct tune_answer *a, int axis)
{
    char text[MAX_CELL];
    size_t width = strlen(a->axes[axis].name);
    for (int i = 0; i < a->measured_count; i++) {
        size_t length =
            strlen(axis_value_text(&a->axes[axis], a->measured[i].row.tiling.value[axis], text));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void put_constants(const struct tune_answer *a, FILE *out)
{
    char text[MAX_CELL];
    bool any = false;
    for (int axis = 0; axis < a->axis_count; axis++) {
        if (!is_constant(a, axis))
            continue;
        fprintf(out, "%s%s=%s", any ? "  " : "  all with      ", a->axes[axis].name,
                axis_value_text(&a->axes[axis], a->measured[0].row.tiling.value[axis], text));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void put_values(const struct tune_answer *a, const struct tune_measured *m, FILE *out)
{
    char text[MAX_CELL];
    for (int axis = 0; axis < a->axis_count; axis++)
        if (!is_constant(a, axis))
            fprintf(out, " %*s", width_of(a, axis),
                    m ? axis_value_text(&a->axes[axis], m->row.tiling.value[axis], text)
                      : a->axes[axis].name);
    fputc('\n', out);
}

static void put_one(const struct tune_answer *a, const struct tune_measured *m, bool fastest,
                    const struct style *style, FILE *out)
{
    char measured[TEXT_SIZE], predicted[TEXT_SIZE];
    fprintf(out, "  %s%9s  %6.2f %%  %9s %+7.1f %% %5lld  %8.1e%s%s", fastest ? style->bold : "",
            text_time(m->measured_ns, measured), 100 * m->spread,
            text_time(m->row.time_ns, predicted), 100 * (m->row.time_ns / m->measured_ns - 1),
            (long long)m->rank, m->max_error, m->fell_out ? "*" : " ", fastest ? style->end : "");
    put_values(a, m, out);
}

static void put_list(const struct tune_answer *a, const struct style *style, FILE *out)
{
    bool fell_out = false;
    fprintf(out, "   measured    spread      model       off  rank max error ");
    put_values(a, NULL, out);
    for (int i = 0; i < a->measured_count && a->measured[i].measured_ns > 0; i++) {
        put_one(a, &a->measured[i], i == 0, style, out);
        fell_out = fell_out || a->measured[i].fell_out;
    }
    if (fell_out)
        fprintf(out, "  * too slow to win: few samples\n");
}

static void put_quarantine(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char text[512];
    for (int i = 0; i < a->measured_count; i++) {
        const struct tune_measured *m = &a->measured[i];
        if (!m->quarantined)
            continue;
        tiling_text(a->axes, a->axis_count, &m->row.tiling, text, sizeof text);
        fprintf(out, "  %squarantine%s   %s\n", style->warn, style->end, m->quarantined);
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

static void put_quality(const struct tune_validation *v, const struct style *style, FILE *out)
{
    char n[5][TEXT_SIZE];
    fprintf(out, "  the model    error %s on average, %s at worst; rank correlation %s\n",
            text_known(100 * v->mean_error, 1, " %", n[0]),
            text_known(100 * v->worst_error, 1, " %", n[1]), text_known(v->spearman, 2, "", n[2]));
    fprintf(out,
            "               its first pick takes %s of the best time, the best of its first 3 %s\n",
            text_known(v->regret_first, 3, " x", n[3]), text_known(v->regret_top3, 3, " x", n[4]));
    fprintf(out,
            "  %snoise%s        %.2f %% spread of a fixed piece of work, %.0f %% of its samples "
            "dropped%s\n",
            v->noisy ? style->warn : "", v->noisy ? style->end : "", 100 * v->noise,
            100 * v->dropped, v->noisy ? ": noisy, small differences mean nothing" : "");
}

void measured_write_table(const struct tune_answer *a, const struct style *style, FILE *out)
{
    const struct tune_validation *v = a->validation;
    if (!v)
        return;
    fprintf(out, "  measured     %d of %d %s on this machine in %.1f s", v->measured, v->asked,
            v->is_sample ? "tilings, a random sample and the model's first 3," : "tilings",
            v->seconds);
    if (v->left_out)
        fprintf(out, "; the end came before %d", v->left_out);
    fputs(v->from_store ? "\n               from store: --fresh measures again\n" : "\n", out);
    put_constants(a, out);
    if (v->measured)
        put_list(a, style, out);
    put_quarantine(a, style, out);
    put_quality(v, style, out);
    fputc('\n', out);
}
