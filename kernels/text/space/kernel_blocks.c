/* The axes and blocks of a kernel's space. Slices of a divided size are slices of a core's share,
 * so that there is a block for each number of cores with shares of its own, and for each value of
 * the axes that decide what is divided or that other axes are cut from. On one core what only
 * `cores` asks has one value. */
#include "core/array.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_shares.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/space/kernel_space_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 1 << 14 };
#define MAX_CANDIDATES ((int64_t)1 << 60)

/* ------------------------------------------------------------------ who asks for an axis */

static unsigned asked_by_cores(const struct kernel_text *kernel)
{
    unsigned axes = 0;
    for (int c = 0; c < kernel->cores_count; c++)
        axes |= kernel_axes_of(kernel, kernel->cores[c].what) |
                kernel_axes_of(kernel, kernel->cores[c].shares);
    return axes;
}

static unsigned asked_by_axis(const struct kernel_text *kernel, int axis)
{
    unsigned axes = 0;
    if (kernel->axes[axis].cut != CUT_WORDS)
        for (const struct expression *e = kernel->axes[axis].values; e; e = e->next)
            axes |= kernel_axes_of(kernel, e);
    return axes;
}

static unsigned asked_by_axes(const struct kernel_text *kernel)
{
    unsigned axes = 0;
    for (int a = 0; a < kernel->axis_count; a++)
        axes |= asked_by_axis(kernel, a);
    return axes;
}

static unsigned of_list(const struct kernel_text *kernel, const struct expression *list)
{
    unsigned axes = 0;
    for (; list; list = list->next)
        axes |= kernel_axes_of(kernel, list);
    return axes;
}

static unsigned asked_by_part(const struct kernel_text *kernel, const struct kernel_part *part)
{
    unsigned axes = kernel_axes_of(kernel, part->value);
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        axes |= kernel_axes_of(kernel, pick->count) | kernel_axes_of(kernel, pick->from) |
                kernel_axes_of(kernel, pick->by);
    return axes;
}

static unsigned asked_by_step(const struct kernel_text *kernel, const struct kernel_step *step)
{
    unsigned axes = kernel_axes_of(kernel, step->condition);
    for (int k = 0; k < STEP_KEYS; k++)
        axes |= kernel_axes_of(kernel, step->keys[k]);
    for (int s = -1; step->source_count && s < step->source_count; s++)
        axes |= asked_by_part(kernel, s < 0 ? &step->to : &step->from[s]);
    return axes;
}

static unsigned asked_by_lines(const struct kernel_text *kernel)
{
    unsigned axes = 0;
    for (int l = 0; l < kernel->loop_count; l++)
        axes |= kernel_axes_of(kernel, kernel->loops[l].in) |
                kernel_axes_of(kernel, kernel->loops[l].by);
    for (int t = 0; t < kernel->tile_count; t++)
        axes |= of_list(kernel, kernel->tiles[t].dims) |
                kernel_axes_of(kernel, kernel->tiles[t].copies) |
                kernel_axes_of(kernel, kernel->tiles[t].life);
    for (int t = 0; t < kernel->tensor_count; t++)
        axes |= of_list(kernel, kernel->tensors[t].dims);
    for (int l = 0; l < kernel->line_count; l++) {
        axes |= kernel_axes_of(kernel, kernel->lines[l].stage);
        if (kernel->lines[l].kind == LINE_STEP)
            axes |= asked_by_step(kernel, kernel->lines[l].step);
    }
    for (int o = 0; o < kernel->order_count; o++)
        axes |= kernel_axes_of(kernel, kernel->orders[o].condition);
    for (int r = 0; r < kernel->require_count; r++)
        axes |= kernel_axes_of(kernel, kernel->requires[r].truth);
    return axes | asked_by_axes(kernel);
}

/* ------------------------------------------------------------------ making blocks */

struct blocks {
    struct space *space;
    struct kernel_space *ks;
    struct kernel_values values;
    unsigned of_cores, of_axes; /* axes that have one value in a block: asked by cores, by axes */
    unsigned only_cores;        /* that nobody but cores asks */
    unsigned later;             /* axes that are not at their first value */
    int64_t cores;
    struct error refused; /* what cores cannot share, "": they could */
    struct error *error;
};

/* A list that the space owns. */
static enum status keep_list(struct kernel_space *ks, int64_t *values, struct error *error)
{
    if (!array_room(&ks->lists, ks->list_count, sizeof *ks->lists)) {
        free(values);
        return error_memory(error);
    }
    ks->lists[ks->list_count++] = values;
    return STATUS_OK;
}

static enum status list_of_one(struct blocks *b, int64_t value, const int64_t **list)
{
    int64_t *values = malloc(sizeof *values);
    if (!values)
        return error_memory(b->error);
    *values = value;
    *list = values;
    return keep_list(b->ks, values, b->error);
}

/* What an axis has, or the one value that all tilings have. What is a multiple of something in the
 * text may be taken to be one. */
static enum status values_of(const struct blocks *b, int axis, struct kernel_list *list)
{
    int64_t fixed = b->space->fixed ? b->space->fixed->value[axis] : AXIS_FREE;
    if (fixed == AXIS_FREE)
        return kernel_axis_values(&b->values, axis, list, b->error);
    int64_t unit = plan_axis_unit(&b->values, axis);
    if (unit > 1 && fixed % unit)
        return error_set(b->error, STATUS_INVALID,
                         "%s=%lld, expected a multiple of %lld, which "
                         "the kernel relies on",
                         b->ks->kernel->axes[axis].name.text, (long long)fixed, (long long)unit);
    *list = (struct kernel_list){malloc(sizeof *list->values), 1};
    if (!list->values)
        return error_memory(b->error);
    *list->values = fixed;
    return STATUS_OK;
}

static void note_empty(struct blocks *b, int axis)
{
    snprintf(b->space->empty, sizeof b->space->empty, "axis '%.40s' has no value",
             b->ks->kernel->axes[axis].name.text);
}

static enum status add_block(struct blocks *b)
{
    const struct kernel_text *kernel = b->ks->kernel;
    struct space_block *block = space_add_block(b->space);
    int64_t product = 1;
    if (!block)
        return error_memory(b->error);
    if (b->space->block_count > MAX_BLOCKS)
        return error_set(b->error, STATUS_TOO_LARGE,
                         "more than %d combinations of axes that "
                         "others are cut from",
                         MAX_BLOCKS);
    for (int a = 0; a < kernel->axis_count; a++) {
        struct kernel_list list = {NULL, 1};
        if ((b->of_cores | b->of_axes) >> a & 1) {
            TRY(list_of_one(b, b->values.axes[a], &block->values[a]));
        } else {
            TRY(values_of(b, a, &list));
            block->values[a] = list.values;
            TRY(keep_list(b->ks, list.values, b->error));
        }
        if (list.count == 0) {
            note_empty(b, a);
            b->space->block_count--;
            return STATUS_OK;
        }
        block->count[a] = list.count;
        if (__builtin_mul_overflow(product, list.count, &product) || product > MAX_CANDIDATES)
            return error_set(b->error, STATUS_TOO_LARGE,
                             "kernel '%s' has more than 2^60 tilings, expected fewer",
                             kernel->name.text);
    }
    block->count[kernel->axis_count] = 1;
    TRY(list_of_one(b, b->cores, &block->values[kernel->axis_count]));
    b->ks->candidates += product;
    return b->ks->candidates <= MAX_CANDIDATES
               ? STATUS_OK
               : error_set(b->error, STATUS_TOO_LARGE,
                           "kernel '%s' has more than 2^60 tilings, expected fewer",
                           kernel->name.text);
}

static enum status fix_axes(struct blocks *b, unsigned axes, int axis,
                            enum status (*then)(struct blocks *));

static enum status fix_axis(struct blocks *b, unsigned axes, int axis,
                            enum status (*then)(struct blocks *))
{
    struct kernel_list list;
    enum status status = STATUS_OK;
    TRY(values_of(b, axis, &list));
    if (list.count == 0)
        note_empty(b, axis);
    for (int i = 0; i < list.count && status == STATUS_OK; i++) {
        b->values.axes[axis] = list.values[i];
        b->later = i ? b->later | 1U << axis : b->later & ~(1U << axis);
        status = fix_axes(b, axes, axis + 1, then);
    }
    free(list.values);
    return status;
}

/* Gives the axes of a set every value that they can have together. */
static enum status fix_axes(struct blocks *b, unsigned axes, int axis,
                            enum status (*then)(struct blocks *))
{
    while (axis < b->ks->kernel->axis_count && !(axes >> axis & 1))
        axis++;
    return axis < b->ks->kernel->axis_count ? fix_axis(b, axes, axis, then) : then(b);
}

/* What is divided is known: shares, and then the axes that are cut. */
static enum status share(struct blocks *b)
{
    const struct kernel_values whole = b->values;
    int most = b->ks->kernel->cores_count ? b->ks->cores : 1;
    const struct tiling *fixed = b->space->fixed;
    int64_t cores = fixed ? fixed->value[b->ks->kernel->axis_count] : AXIS_FREE;
    for (b->cores = b->later & b->only_cores ? 2 : 1; b->cores <= most; b->cores++) {
        int64_t used;
        if (cores != AXIS_FREE && cores != b->cores)
            continue;
        if (kernel_share(&b->values, b->cores, &used, &b->refused) == STATUS_OK && used == b->cores)
            TRY(fix_axes(b, b->of_axes & ~b->of_cores, 0, add_block));
        b->values = whole;
    }
    return STATUS_OK;
}

enum status kernel_make_blocks(struct space *space, struct kernel_space *ks, struct error *error)
{
    struct blocks b = {.space = space, .ks = ks, .values = ks->base, .error = error};
    b.of_cores = asked_by_cores(ks->kernel);
    b.of_axes = asked_by_axes(ks->kernel);
    ks->block_axes = b.of_cores | b.of_axes | 1U << ks->kernel->axis_count;
    for (int r = 0; r < ks->kernel->require_count; r++)
        ks->require_axes[r] = kernel_axes_of(ks->kernel, ks->kernel->requires[r].truth);
    b.only_cores = b.of_cores & ~asked_by_lines(ks->kernel);
    TRY(fix_axes(&b, b.of_cores, 0, share));
    return space->block_count || space->empty[0] || !b.refused.text[0]
               ? STATUS_OK
               : error_set(error, STATUS_INVALID, "%s", b.refused.text);
}

/* ------------------------------------------------------------------ axes */

/* As many as all have work. */
static int64_t usual_cores(const struct space *space, const struct tiling *tiling)
{
    const struct kernel_space *ks = kernel_space_of(space);
    struct tiling usual = *tiling;
    struct kernel_values values;
    int64_t *cores = &usual.value[ks->kernel->axis_count];
    for (*cores = ks->cores; *cores > 1; --*cores)
        if (kernel_set_tiling(ks, &usual, &values, NULL))
            break;
    return *cores;
}

enum status kernel_make_axes(struct space *space, struct kernel_space *ks, struct error *error)
{
    const struct kernel_text *kernel = ks->kernel;
    for (int a = 0; a < kernel->axis_count; a++) {
        struct axis *axis = &ks->axes[a];
        axis->name = kernel->axes[a].name.text;
        if (kernel->axes[a].cut >= CUT_SLICES)
            axis->unit = "elements";
        if (kernel->axes[a].cut != CUT_WORDS)
            continue;
        axis->name_count = kernel->axes[a].word_count;
        const char **names = calloc((size_t)axis->name_count, sizeof *names);
        ks->words[a] = names;
        if (!names)
            return error_memory(error);
        for (int w = 0; w < axis->name_count; w++)
            names[w] = kernel->axes[a].words[w];
        axis->value_names = names;
    }
    ks->axes[kernel->axis_count] =
        (struct axis){.name = "cores", .counts_cores = true, .usual = usual_cores};
    space->axis_count = kernel->axis_count + 1;
    space->axes = ks->axes;
    return STATUS_OK;
}
