/* The walk: cores one after the other, rounds in the order of the text, stages of a pipeline side
 * by side as the program has them (kernels/text/program/kernel_program.c): iteration n works in
 * each item on the round that its stage is behind. */
#include "kernels/text/run/kernel_run.h"

#include "kernels/limits.h"
#include "kernels/text/plan/kernel_shares.h"
#include "kernels/text/run/kernel_run_internal.h"
#include "kernels/text/space/kernel_space_internal.h"

#include "core/element.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)NUMBERS_MAX_TENSORS == (int)KERNEL_MAX_TENSORS &&
                   (int)NUMBERS_MAX_DIMS == (int)KERNEL_MAX_DIMS &&
                   (int)NUMBERS_NAME_SIZE == (int)KERNEL_MAX_NAME + 1,
               "numbers have room for a text's tensors");

static const int64_t most_elements = (int64_t)1 << 31;

/* ------------------------------------------------------------------ tensors */

static void find_roles(const struct kernel_text *kernel, struct numbers_run *run)
{
    for (int l = 0; l < kernel->line_count; l++) {
        const struct kernel_step *step = kernel->lines[l].step;
        if (!step || !step->source_count)
            continue;
        for (int s = 0; s < step->source_count; s++)
            if (step->from[s].tensor >= 0)
                run->tensors[step->from[s].tensor].is_loaded = true;
        if (step->to.tensor >= 0) {
            run->tensors[step->to.tensor].is_stored = true;
            run->tensors[step->to.tensor].is_added |= step->keys[STEP_ADD] != NULL;
        }
    }
}

static enum status open_run(const struct space *space, struct numbers_run *run, struct error *error)
{
    const struct kernel_space *ks = kernel_space_of(space);
    int64_t all = 0;
    struct kernel_values values = ks->base;
    memset(run, 0, sizeof *run);
    run->tensor_count = ks->kernel->tensor_count;
    for (int s = 0; s < ks->kernel->size_count; s++)
        values.sizes[s] = (struct kernel_range){.length = values.wholes[s] = ks->given[s]};
    for (int t = 0; t < run->tensor_count; t++) {
        const struct kernel_tensor *text = &ks->kernel->tensors[t];
        struct numbers_tensor *tensor = &run->tensors[t];
        const struct expression *dim = text->dims;
        snprintf(tensor->name, sizeof tensor->name, "%s", text->name.text);
        tensor->type = kernel_type(&values, text->type);
        tensor->dim_count = text->dim_count;
        tensor->count = 1;
        for (int d = 0; d < text->dim_count; d++, dim = dim->next) {
            TRY(kernel_number(&values, dim, &tensor->extent[d], error));
            if (tensor->extent[d] < 1)
                return plan_fail(error, dim->at, "%lld elements of tensor '%s', expected 1 or more",
                                 (long long)tensor->extent[d], tensor->name);
            tensor->count = product_of(tensor->count, tensor->extent[d]);
        }
        all = sum_of(all, tensor->count);
    }
    if (all > most_elements)
        return error_set(error, STATUS_TOO_LARGE, "%lld elements of tensors, at most %lld can run",
                         (long long)all, (long long)most_elements);
    find_roles(ks->kernel, run);
    return STATUS_OK;
}

static void close_run(struct numbers_run *run)
{
    for (int t = 0; t < run->tensor_count; t++) {
        free(run->tensors[t].left);
        run->tensors[t].left = NULL;
    }
}

static enum status begin_tensors(struct numbers_run *run, struct error *error)
{
    for (int t = 0; t < run->tensor_count; t++) {
        struct numbers_tensor *tensor = &run->tensors[t];
        if (!tensor->is_stored)
            continue;
        if (!tensor->left)
            tensor->left = malloc((size_t)tensor->count * sizeof *tensor->left);
        if (!tensor->left)
            return error_memory(error);
        for (int64_t i = 0; i < tensor->count; i++)
            tensor->left[i] = run_unwritten();
    }
    return STATUS_OK;
}

static void end_tensors(struct numbers_run *run)
{
    for (int t = 0; t < run->tensor_count; t++) {
        struct numbers_tensor *tensor = &run->tensors[t];
        tensor->missed = 0;
        for (int64_t i = 0; i < tensor->count && tensor->left; i++)
            if (run_is_unwritten(tensor->left[i])) {
                tensor->left[i] = tensor->given ? tensor->given[i] : 0;
                tensor->missed++;
            }
    }
}

/* ------------------------------------------------------------------ rounds */

static enum status play_loop(struct runner *r, int loop);

/* Rounds of a loop that are open at once. */
static int open_rounds(const struct runner *r, int loop)
{
    return r->plan.loops[loop].last_stage + 1;
}

static enum status enter(struct runner *r, int loop, int64_t round, bool is_new)
{
    TRY(plan_enter(&r->plan, r->env, loop, round, r->error));
    for (int t = 0; t < r->plan.kernel->tile_count; t++) {
        const struct plan_tile *tile = &r->plan.tiles[t];
        int64_t count = 1;
        if (!tile->is_there || tile->life != loop)
            continue;
        r->slots[t] = (int)(round % open_rounds(r, loop));
        if (!is_new)
            continue;
        for (int d = 0; d < tile->dim_count; d++)
            count = product_of(count, r->env->tiles[t].extent[d]);
        if (count > most_elements)
            return error_set(r->error, STATUS_TOO_LARGE, "%lld elements of tile '%s'",
                             (long long)count, r->plan.kernel->tiles[t].name.text);
        struct numbers *numbers = &r->tiles[t][r->slots[t]];
        TRY(run_room(numbers, count, r->error));
        for (int64_t i = 0; i < count; i++)
            numbers->values[i] = run_unwritten();
    }
    return STATUS_OK;
}

static enum status play_item(struct runner *r, const struct plan_item *item)
{
    return item->is_loop ? play_loop(r, item->number) : run_step(r, item->number);
}

static enum status play_loop(struct runner *r, int loop)
{
    const struct plan_loop *body = &r->plan.loops[loop];
    int64_t rounds;
    bool differs;
    TRY(plan_rounds(&r->plan, r->env, loop, &rounds, &differs, r->error));
    for (int64_t n = 0; n < rounds + body->last_stage; n++) {
        if (n < rounds)
            TRY(enter(r, loop, n, true));
        for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
            const struct plan_item *item = &r->plan.items[i];
            int64_t round = n - item->stage;
            if (round < 0 || round >= rounds)
                continue;
            if (body->last_stage)
                TRY(enter(r, loop, round, false));
            TRY(play_item(r, item));
        }
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ cores */

static enum status open_tiles(struct runner *r)
{
    for (int t = 0; t < r->plan.kernel->tile_count; t++) {
        if (!r->plan.tiles[t].is_there)
            continue;
        size_t rounds = (size_t)open_rounds(r, r->plan.tiles[t].life);
        r->tiles[t] = calloc(rounds, sizeof *r->tiles[t]);
        if (!r->tiles[t])
            return error_memory(r->error);
    }
    return STATUS_OK;
}

static void close_tiles(struct runner *r)
{
    for (int t = 0; t < KERNEL_MAX_TILES; t++) {
        if (!r->tiles[t])
            continue;
        for (int i = 0; i < open_rounds(r, r->plan.tiles[t].life); i++)
            free(r->tiles[t][i].values);
        free(r->tiles[t]);
        r->tiles[t] = NULL;
    }
}

static enum status play_plan(struct runner *r)
{
    for (int s = 0; s < r->plan.step_count; s++) {
        const char *text = r->plan.steps[s].kind == INSTRUCTION_VECTOR
                               ? r->plan.hw->operations[r->plan.steps[s].what].value
                               : "";
        if (*text)
            TRY(formula_parse(text, &r->formulas[r->plan.steps[s].what], r->error));
    }
    enum status status = open_tiles(r);
    if (status == STATUS_OK)
        status = play_loop(r, 0);
    close_tiles(r);
    return status;
}

/* Core `core` of a tiling whose values are those of the largest share. */
static enum status play_core(struct runner *r, const struct kernel_space *ks, int64_t cores,
                             int64_t core)
{
    bool any;
    struct kernel_values *values = &r->env->values;
    TRY(kernel_share_given(values, cores, core, ks->given, &any, r->error));
    if (!any)
        return STATUS_OK;
    r->run->cores++;
    TRY(kernel_plan_make(values, &r->plan, r->error));
    enum status status = play_plan(r);
    kernel_plan_clear(&r->plan);
    return status;
}

static enum status play(const struct space *space, const struct tiling *tiling,
                        struct numbers_run *run, struct error *error)
{
    const struct kernel_space *ks = kernel_space_of(space);
    int64_t cores = tiling->value[ks->kernel->axis_count];
    struct runner *r = calloc(1, sizeof *r);
    struct kernel_env *env = calloc(1, sizeof *env);
    enum status status = r && env ? begin_tensors(run, error) : error_memory(error);
    if (status == STATUS_OK && !space->kind->legal(space, tiling))
        status = error_set(error, STATUS_INVALID, "a tiling that is not legal");
    run->cores = run->steps = 0;
    for (int64_t core = 0; status == STATUS_OK && core < cores; core++) {
        *r = (struct runner){.env = env, .run = run, .error = error};
        env->values = ks->base;
        memcpy(env->values.axes, tiling->value,
               (size_t)ks->kernel->axis_count * sizeof *env->values.axes);
        status = play_core(r, ks, cores, core);
        for (int p = 0; p < PLAN_MAX_PARTS; p++)
            free(r->parts[p].values);
    }
    end_tensors(run);
    free(r);
    free(env);
    return status;
}

/* With memory for none nothing is random: what is given then is 0. */
static void draw(struct numbers_tensor *tensor, int64_t seed)
{
    bool is_real = element_is_floating(tensor->type);
    double least = is_real ? -1 : element_round(tensor->type, -8), most = is_real ? 1 : 8;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (rng)
        gsl_rng_set(rng, (unsigned long)seed);
    for (int64_t i = 0; i < tensor->count; i++) {
        double x = rng ? least + (most - least) * gsl_rng_uniform(rng) : 0;
        tensor->given[i] = element_round(tensor->type, is_real ? x : floor(x));
    }
    if (rng)
        gsl_rng_free(rng);
}

const struct numbers_runner kernel_numbers = {open_run, draw, play, close_run};
