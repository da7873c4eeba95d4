/* A walk over the plan counts how often each step runs and how long: of a loop's rounds the first,
 * the last and one in between stand for all, unless they are written out, for nothing else asks
 * which round it is. Times are those of instructions that run alone (instruction_alone_fs). */
#include "kernels/text/space/kernel_space.h"

#include "core/quantity.h"
#include "kernels/text/picture/kernel_picture_internal.h"
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

/* ------------------------------------------------------------------ what runs */

static void describe_step(const struct instruction *in, bool is_share, char work[WORK_SIZE])
{
    char number[TEXT_SIZE];
    if (in->kind == INSTRUCTION_MATRIX)
        snprintf(work, WORK_SIZE, "%dx%dx%d", in->m, in->k, in->n);
    else if (in->kind == INSTRUCTION_MOVE)
        snprintf(work, WORK_SIZE, "%s bytes", text_count(in->bytes, number));
    else if (in->kind == INSTRUCTION_VECTOR)
        snprintf(work, WORK_SIZE, "%s elements", text_count(in->elements, number));
    else
        snprintf(work, WORK_SIZE, "%s times", text_count(in->count, number));
    size_t used = strlen(work);
    if (in->kind == INSTRUCTION_MOVE && in->bursts > 1)
        used += (size_t)snprintf(work + used, WORK_SIZE - used, " in %s bursts",
                                 text_count(in->bursts, number));
    if (is_share)
        snprintf(work + used, WORK_SIZE - used, " that miss");
}

static enum status count_step(struct picture *p, int step, double times, struct error *error)
{
    struct line *line = &p->steps[step];
    struct instruction in = {0};
    bool runs;
    TRY(plan_runs(p->plan, &p->env, step, &runs, error));
    if (!runs)
        return STATUS_OK;
    TRY(plan_instruction(p->plan, &p->env, step, &in, error));
    if (p->plan->steps[step].share && in.bytes == 0)
        return STATUS_OK;
    program_reset(&p->program, p->space->hw);
    TRY(program_add(&p->program, &in, error));
    if (line->runs == 0)
        describe_step(&in, p->plan->steps[step].share == SHARE_MISSES, line->work);
    line->runs += times;
    line->fs += times * (double)instruction_alone_fs(p->space->hw, &p->program.items[0], p->cores);
    return STATUS_OK;
}

/* "all 512", "4 x 128", "3 x 128 + 100" */
static enum status describe_loop(const struct picture *p, int loop, int64_t rounds, bool differs,
                                 char work[WORK_SIZE], struct error *error)
{
    struct kernel_range range;
    char count[TEXT_SIZE], step[TEXT_SIZE], rest[TEXT_SIZE];
    TRY(kernel_loop_range(&p->env.values, p->plan->loops[loop].text_loop, &range, error));
    int64_t by = p->env.values.loops[p->plan->loops[loop].text_loop].length;
    if (rounds == 1)
        snprintf(work, WORK_SIZE, "all %s", text_count(range.length, step));
    else if (differs)
        snprintf(work, WORK_SIZE, "%s x %s + %s", text_count(rounds - 1, count),
                 text_count(by, step), text_count(range.length - (rounds - 1) * by, rest));
    else
        snprintf(work, WORK_SIZE, "%s x %s", text_count(rounds, count), text_count(by, step));
    return STATUS_OK;
}

static enum status count_body(struct picture *p, int loop, double times, struct error *error);

static enum status count_round(struct picture *p, int loop, int64_t round, double times,
                               struct error *error)
{
    TRY(plan_enter(p->plan, &p->env, loop, round, error));
    return count_body(p, loop, times, error);
}

static enum status count_loop(struct picture *p, int loop, double times, struct error *error)
{
    bool each = p->plan->kernel->loops[p->plan->loops[loop].text_loop].each, differs;
    struct line *line = &p->loops[loop];
    int64_t rounds;
    TRY(plan_rounds(p->plan, &p->env, loop, &rounds, &differs, error));
    if (rounds > 0 && line->runs == 0) {
        TRY(plan_enter(p->plan, &p->env, loop, 0, error));
        TRY(describe_loop(p, loop, rounds, differs, line->work, error));
    }
    line->runs += times * (double)rounds;
    for (int64_t r = 0; r < rounds; r++) {
        bool stands_for_more = !each && r == 1 && rounds > 3;
        TRY(count_round(p, loop, r, stands_for_more ? times * (double)(rounds - 2) : times, error));
        r = stands_for_more ? rounds - 2 : r;
    }
    return STATUS_OK;
}

static enum status count_body(struct picture *p, int loop, double times, struct error *error)
{
    const struct plan_loop *body = &p->plan->loops[loop];
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        const struct plan_item *item = &p->plan->items[i];
        TRY(item->is_loop ? count_loop(p, item->number, times, error)
                          : count_step(p, item->number, times, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ loops and steps */

/* The line of the text without its comment, as deep as it stands in this order of loops. */
static const char *show_line(const struct picture *p, int line, int depth, char text[TEXT_LENGTH])
{
    int length;
    const char *source =
        kernel_source_line(p->plan->kernel, p->plan->kernel->lines[line].at.line, &length);
    const char *comment = memchr(source, '#', (size_t)length);
    length = comment ? (int)(comment - source) : length;
    while (length > 0 && strchr(" \r", source[length - 1]))
        length--;
    while (length > 0 && *source == ' ') {
        source++;
        length--;
    }
    snprintf(text, TEXT_LENGTH, "%*s%.*s", 2 * depth, "", length, source);
    return text;
}

static json_t *line_json(const struct picture *p, int line, int depth, const struct line *counted,
                         int pipe)
{
    char text[TEXT_LENGTH];
    const struct kernel_text *kernel = p->plan->kernel;
    json_t *row = json_pack("{s:i, s:s, s:s, s:I}", "line", kernel->lines[line].at.line, "text",
                            show_line(p, line, depth, text), "work", counted->work, "runs",
                            (json_int_t)counted->runs);
    json_object_set_new(row, "pipe",
                        pipe < 0 ? json_null() : json_string(p->space->hw->pipes[pipe].name));
    json_object_set_new(row, "time_ns",
                        pipe < 0 ? json_null() : json_real(counted->fs / FS_PER_NS));
    return row;
}

static void add_lines(const struct picture *p, int loop, json_t *rows)
{
    const struct plan_loop *body = &p->plan->loops[loop];
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        int number = p->plan->items[i].number;
        if (!p->plan->items[i].is_loop) {
            const struct plan_step *step = &p->plan->steps[number];
            if (!step->share || p->steps[number].runs > 0)
                json_array_append_new(
                    rows, line_json(p, step->line, body->depth, &p->steps[number], step->pipe));
            continue;
        }
        int line = p->plan->kernel->loops[p->plan->loops[number].text_loop].line;
        json_array_append_new(rows, line_json(p, line, body->depth, &p->loops[number], -1));
        add_lines(p, number, rows);
    }
}

static enum status add_kernel(struct picture *p, json_t *picture, struct error *error)
{
    json_t *rows = json_array();
    enum status status = count_round(p, 0, 0, 1, error);
    program_clear(&p->program);
    add_lines(p, 0, rows);
    json_object_set_new(picture, "kernel", rows);
    return status;
}

/* ------------------------------------------------------------------ tiles and buffers */

static const char *life_of(const struct picture *p, const struct plan_tile *tile)
{
    int loop = p->plan->loops[tile->life].text_loop;
    return loop < 0 ? "the kernel" : p->plan->kernel->loops[loop].name.text;
}

static void add_tiles(const struct picture *p, const struct kernel_room *room, json_t *picture)
{
    const struct kernel_text *kernel = p->plan->kernel;
    json_t *rows = json_array();
    for (int t = 0; t < kernel->tile_count; t++) {
        const struct plan_tile *tile = &p->plan->tiles[t];
        if (!tile->is_there)
            continue;
        json_array_append_new(rows, json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:b}", "tile",
                                              kernel->tiles[t].name.text, "buffer",
                                              p->space->hw->buffers[tile->buffer].name, "offset",
                                              (json_int_t)room->offset[t], "bytes",
                                              (json_int_t)room->slot_bytes[t], "copies",
                                              (json_int_t)tile->copies, "for_a_round_of",
                                              life_of(p, tile), "kept", tile->is_kept));
    }
    json_object_set_new(picture, "tiles", rows);
}

static void add_buffers(const struct picture *p, const struct kernel_room *room, json_t *picture)
{
    const struct hardware *hw = p->space->hw;
    json_t *rows = json_array();
    for (int b = 0; b < hw->buffer_count; b++) {
        int64_t capacity = hw->buffers[b].capacity_bytes;
        if (room->needed[b] && capacity)
            json_array_append_new(
                rows, json_pack("{s:s, s:I, s:I, s:f}", "buffer", hw->buffers[b].name, "used_bytes",
                                (json_int_t)room->needed[b], "capacity_bytes", (json_int_t)capacity,
                                "share", (double)room->needed[b] / (double)capacity));
    }
    json_object_set_new(picture, "buffers", rows);
}

static void add_doubts(const struct kernel_values *values, const struct kernel_plan *plan,
                       bool is_unsure, json_t *to)
{
    json_t *rows = json_object();
    for (int s = 0; s < plan->step_count; s++) {
        const char *why = plan_doubt(values, plan, s);
        char line[TEXT_SIZE];
        snprintf(line, sizeof line, "line %d", plan->kernel->lines[plan->steps[s].line].at.line);
        if (why)
            json_object_set_new(rows, line, json_string(why));
    }
    if (is_unsure)
        json_object_set_new(rows, "content",
                            json_string("whether all that is read was written, and stored once, "
                                        "takes too long to find out"));
    if (json_object_size(rows))
        json_object_set(to, "warnings", rows);
    json_decref(rows);
}

enum status kernel_details(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, json_t *details,
                           struct error *error)
{
    struct kernel_values values;
    (void)problem;
    (void)options;
    (void)error;
    if (result->count) {
        const struct tiling *best = &result->best[0].tiling;
        const struct kernel_space *ks = kernel_space_of(space);
        const struct space_plan *found = kernel_find_plan(ks, best);
        if (found && found->is_possible && kernel_set_tiling(ks, best, &values, NULL)) {
            add_doubts(&values, &found->plan, result->unsure, details);
            kernel_add_roofline(ks, &found->plan, details);
            kernel_add_left_out(&values, &found->plan, details);
        }
    }
    return STATUS_OK;
}

static enum status draw(struct picture *p, const struct tiling *tiling, json_t *picture,
                        struct error *error)
{
    struct kernel_room room;
    bool is_legal = kernel_is_legal(p->space, tiling);
    TRY(kernel_room_find(p->plan, &p->env, &room, error));
    plan_deal_out(p->plan, &p->env);
    if (is_legal)
        TRY(add_kernel(p, picture, error));
    p->env.values.dealt = 0;
    add_doubts(&p->env.values, p->plan, kernel_space_of(p->space)->is_unsure, picture);
    add_tiles(p, &room, picture);
    add_buffers(p, &room, picture);
    if (!is_legal)
        return STATUS_OK;
    kernel_add_left_out(&p->env.values, p->plan, picture);
    TRY(picture_add_flags(p, tiling, picture, error));
    return picture_add_bounds(p, picture, error);
}

enum status kernel_picture(const struct space *space, const struct tiling *tiling, json_t *picture,
                           struct error *error)
{
    const struct kernel_space *ks = kernel_space_of(space);
    struct picture p = {
        .space = space,
        .found = kernel_find_plan(ks, tiling),
        .cores = (int)tiling->value[space->axis_count - 1],
    };
    if (!p.found || !p.found->is_possible || !kernel_set_tiling(ks, tiling, &p.env.values, NULL))
        return STATUS_OK;
    p.plan = &p.found->plan;
    return draw(&p, tiling, picture, error);
}
