/* Bodies are made once for each structure: tilings with the same choices have the same plan, and so
 * the same code. */
#include "kernels/text/limits/kernel_limits_code.h"

#include "core/array.h"
#include "core/text_stream.h"
#include "kernels/text/limits/kernel_code.h"
#include "kernels/text/plan/kernel_shares.h"

#include <stdlib.h>
#include <string.h>

void limits_code_clear(struct limits_code *code)
{
    for (int i = 0; i < code->count; i++) {
        free(code->bodies[i].text);
        free(code->bodies[i].key);
    }
    free(code->bodies);
    *code = (struct limits_code){0};
}

/* ------------------------------------------------------------------ the tiling */

static bool set_axis(const struct kernel_axis *axis, const struct table_value *value,
                     int64_t *number)
{
    *number = value->number;
    if (axis->cut != CUT_WORDS)
        return !value->word && *number >= -KERNEL_MAX_NUMBER && *number <= KERNEL_MAX_NUMBER;
    for (int word = 0; word < axis->word_count; word++)
        if (value->word && strcmp(axis->words[word], value->word) == 0) {
            *number = word;
            return true;
        }
    return false;
}

/* The values of an entry whose axes are the kernel's, then the cores. */
static bool set_tiling(const struct limits_asked *asked, struct kernel_values *values)
{
    const struct kernel_text *kernel = values->kernel;
    const struct table_value *given = asked->entry->value;
    int axes = kernel->axis_count;
    int64_t used;
    if (asked->part->axis_count != axes + 1 ||
        strcmp(asked->part->axis_names[axes], "cores") != 0 || given[axes].word)
        return false;
    for (int a = 0; a < axes; a++)
        if (strcmp(asked->part->axis_names[a], kernel->axes[a].name.text) != 0 ||
            !set_axis(&kernel->axes[a], &given[a], &values->axes[a]))
            return false;
    return given[axes].number >= 1 && given[axes].number <= asked->cores &&
           kernel_share(values, given[axes].number, &used, NULL) == STATUS_OK;
}

/* ------------------------------------------------------------------ a body */

/* One run; what it declares is what the last one used. */
static enum status write_once(struct code_writer *w, char **text, struct error *error)
{
    size_t length;
    w->uses = (struct code_uses){.visits = 0};
    memset(w->is_shared, 0, sizeof w->is_shared);
    w->out = text_stream_open(text, &length);
    if (!w->out)
        return error_memory(error);
    code_put_shares(w);
    code_put_room(w);
    if (fclose(w->out) == 0)
        return STATUS_OK;
    free(*text);
    *text = NULL;
    return error_memory(error);
}

/* Steps of which each tiling is asked (kernel_steps_fit.c). */
static void refuse_uncertain(struct code_writer *w)
{
    const struct kernel_plan *plan = &w->plan->plan;
    for (int s = 0; s < plan->step_count; s++)
        if (!plan->steps[s].is_certain)
            code_refuse(w, w->kernel->lines[plan->steps[s].line].at,
                        "whether it fits depends on the sizes");
}

static enum status write_body(struct code_writer *w, char **text, struct error *error)
{
    refuse_uncertain(w);
    do {
        free(*text);
        *text = NULL;
        w->declared = w->uses;
        TRY(write_once(w, text, error));
    } while (memcmp(&w->declared, &w->uses, sizeof w->uses) != 0);
    return STATUS_OK;
}

static enum status fill(const struct kernel_values *values, const struct kernel_posed *posed,
                        const struct limits_asked *asked, const struct space_plan *plan,
                        struct limits_body *body, struct error *error)
{
    struct code_writer *w = calloc(1, sizeof *w);
    if (!w)
        return error_memory(error);
    *w = (struct code_writer){.values = values,
                              .kernel = values->kernel,
                              .plan = plan,
                              .posed = posed,
                              .asked = asked,
                              .why = body->why};
    enum status status = write_body(w, &body->text, error);
    free(w);
    if (*body->why || status != STATUS_OK) {
        free(body->text);
        body->text = NULL;
    }
    return status;
}

static enum status make_body(const struct kernel_values *values, const struct kernel_posed *posed,
                             const struct limits_asked *asked, struct limits_body *body,
                             struct error *error)
{
    struct space_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_memory(error);
    enum status status = kernel_make_plan(values, plan, error);
    if (status == STATUS_OK && !plan->is_possible)
        snprintf(body->why, sizeof body->why, "%.190s", plan->reason);
    else if (status == STATUS_OK && plan->doubts.any)
        snprintf(body->why, sizeof body->why,
                 "what a tile or tensor holds is looked at element by element");
    else if (status == STATUS_OK)
        status = fill(values, posed, asked, plan, body, error);
    kernel_plan_free(plan);
    return status;
}

/* ------------------------------------------------------------------ by structure */

static int find(const struct limits_code *code, const struct plan_choices *choices, size_t bytes)
{
    for (int i = 0; i < code->count; i++)
        if (code->bodies[i].key_bytes == bytes &&
            memcmp(code->bodies[i].key, choices->values, bytes) == 0)
            return i + 1;
    return 0;
}

static enum status add(const struct kernel_values *values, const struct kernel_posed *posed,
                       const struct limits_asked *asked, const struct plan_choices *choices,
                       struct limits_code *code, struct error *error)
{
    size_t bytes = (size_t)choices->count * sizeof *choices->values;
    if (!array_room(&code->bodies, code->count, sizeof *code->bodies))
        return error_memory(error);
    struct limits_body *body = &code->bodies[code->count];
    *body = (struct limits_body){.key = malloc(bytes + 1), .key_bytes = bytes};
    if (!body->key)
        return error_memory(error);
    memcpy(body->key, choices->values, bytes);
    code->count++;
    return make_body(values, posed, asked, body, error);
}

static enum status find_or_add(const struct kernel_posed *posed, const struct limits_asked *asked,
                               struct kernel_values *values, struct limits_code *code, int *number,
                               struct error *error)
{
    struct plan_choices choices = {.count = 0};
    bool is_known =
        set_tiling(asked, values) && kernel_plan_choices(values, &choices, NULL) == STATUS_OK;
    if (!is_known) /* a structure of its own, of which nothing can be said: there are no such */
        choices = (struct plan_choices){.count = PLAN_MAX_CHOICES};
    size_t bytes = (size_t)choices.count * sizeof *choices.values;
    *number = find(code, &choices, bytes);
    if (*number)
        return STATUS_OK;
    *number = code->count + 1;
    if (is_known)
        return add(values, posed, asked, &choices, code, error);
    if (!array_room(&code->bodies, code->count, sizeof *code->bodies))
        return error_memory(error);
    code->bodies[code->count] = (struct limits_body){
        .key = calloc(1, bytes), .key_bytes = bytes, .why = "the text has no such tiling"};
    return code->bodies[code->count++].key ? STATUS_OK : error_memory(error);
}

enum status kernel_limits_code(const struct kernel_text *kernel, const struct kernel_posed *posed,
                               const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error)
{
    struct kernel_values *values = calloc(1, sizeof *values);
    if (!values)
        return error_memory(error);
    enum status status =
        kernel_values_set(values, kernel, asked->hw, posed->type, posed->given, error);
    values->result = posed->result;
    if (status == STATUS_OK)
        status = find_or_add(posed, asked, values, code, number, error);
    free(values);
    return status;
}
