/* Runs the chapters whose rows are wanted. */
#include "jobs/reproduce/reproduce_parts.h"

#include "formats/json.h"
#include "kernels/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ what can only be quoted */

/* Published numbers that nothing here can produce: errors against silicon, other vendors'
 * libraries, chips without a description. Quoted so that the list is whole. */
static const char silicon[] = "an error against silicon, which is not at hand";
static const char roofline[] = "measured on a chip that R does not describe; docs/case-studies.md "
                               "has utilisations beside ours";

static const struct published quoted_rows[] = {
    {"T 2.4.4", "speedup over CANN's MatMul", "x", 1.70, "CANN's times are not published"},
    {"T 2.4.3", "simulator's error on tuned MatMul, one core", "%", 5.06, silicon},
    {"T 2.4.3", "simulator's error on tuned MatMul, two cores", "%", 5.25, silicon},
    {"T 2.4.3", "of which V, one core", "%", 0.69, silicon},
    {"T 2.4.3", "of which V, two cores", "%", 0.51, silicon},
    {"T 2.4.3", "of which M, one core", "%", 1.17, silicon},
    {"T 2.4.3", "of which M, two cores", "%", 0.85, silicon},
    {"T 2.4.3", "of which MTE1, one core", "%", 9.78, silicon},
    {"T 2.4.3", "of which MTE1, two cores", "%", 9.46, silicon},
    {"T 2.4.3", "of which MTE2, one core", "%", 18.89, silicon},
    {"T 2.4.3", "of which MTE2, two cores", "%", 14.22, silicon},
    {"T 2.4.3", "of which MTE3, one core", "%", 23.72, silicon},
    {"T 2.4.3", "of which MTE3, two cores", "%", 33.72, silicon},
    {"T 2.4.1", "simulator's error on the sample kernels, one core", "%", 2.62, silicon},
    {"T 2.4.1", "simulator's error on the sample kernels, two cores", "%", 2.30, silicon},
    {"R 5", "Add_ReLU before over after", "x", 98.673 / 57.157, roofline},
    {"R 5", "Depthwise before over after", "x", 408.101 / 325.121, roofline},
    {"R 5", "AvgPool before over after", "x", 69.821 / 16.206, roofline},
};

/* `ours` stays unknown throughout. */
static enum status compute_nothing(struct reproduction *r, double *ours, struct error *error)
{
    (void)r;
    (void)ours;
    (void)error;
    return STATUS_OK;
}

static const struct chapter quoted_chapter = {quoted_rows, sizeof quoted_rows / sizeof *quoted_rows,
                                              compute_nothing};

static json_t *row_json(const struct published *row, double ours)
{
    json_t *json = json_pack("{s:s, s:s, s:s}", "source", row->source, "quantity", row->quantity,
                             "unit", row->unit);
    json_object_set_new(json, "paper", json_number(row->paper));
    json_object_set_new(json, "ours", json_number(ours));
    json_object_set_new(json, "ratio", json_number(row->paper != 0 ? ours / row->paper : NAN));
    json_object_set_new(json, "why", json_string(row->why));
    return json;
}

static bool is_wanted(const struct published *row, const char *source)
{
    return strncmp(row->source, source, strlen(source)) == 0;
}

/* A chapter none of whose rows is wanted costs nothing. */
static enum status add_chapter(struct reproduction *r, const struct chapter *chapter, json_t *rows,
                               struct error *error)
{
    int wanted = 0;
    for (int i = 0; i < chapter->count; i++)
        wanted += is_wanted(&chapter->rows[i], r->source);
    if (!wanted)
        return STATUS_OK;
    double *ours = malloc((size_t)chapter->count * sizeof *ours);
    if (!ours)
        return error_memory(error);
    for (int i = 0; i < chapter->count; i++)
        ours[i] = NAN;
    enum status status = chapter->compute(r, ours, error);
    for (int i = 0; i < chapter->count && status == STATUS_OK; i++)
        if (is_wanted(&chapter->rows[i], r->source))
            json_array_append_new(rows, row_json(&chapter->rows[i], ours[i]));
    free(ours);
    return status;
}

enum status reproduce(const struct hardware *hw, const char *source, int threads, json_t **rows,
                      struct error *error)
{
    struct reproduction r = {.hw = hw, .source = source, .threads = threads};
    enum status status = tiling_simulator_open(&r.simulator, error);
    *rows = json_array();
    if (status == STATUS_OK)
        status = add_chapter(&r, &simulator_chapter, *rows, error);
    for (int o = 0; operators[o]; o++)
        for (int c = 0; operators[o]->chapters && operators[o]->chapters[c]; c++)
            if (status == STATUS_OK)
                status = add_chapter(&r, operators[o]->chapters[c], *rows, error);
    const struct chapter *const last[] = {
        &apart_chapter,  &audio_chapter, &layers_chapter, &fft_chapter, &network_chapter,
        &quoted_chapter, NULL,
    };
    for (int c = 0; last[c] && status == STATUS_OK; c++)
        status = add_chapter(&r, last[c], *rows, error);
    tiling_simulator_close(&r.simulator);
    if (status == STATUS_OK && json_array_size(*rows) == 0)
        status =
            error_set(error, STATUS_INVALID,
                      "%s: expected the source of a row, or how it begins, such as T 4.4", source);
    if (status != STATUS_OK) {
        json_decref(*rows);
        *rows = NULL;
    }
    return status;
}
