/* Gathers the events of a trace for drawing. An event is appended to its pipe's blocks, or joined
 * with the last of them, as it comes, so memory is that of what is drawn. How long single events
 * are shown, and how short others must be to be joined, follows from the time and the number of
 * instructions of an earlier play. Instructions are printed once each; blocks refer to them by
 * number. */
#include "results/report_timeline.h"

#include "core/array.h"
#include "core/program_text.h"
#include "formats/text.h"
#include "results/report.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ gathering */

static struct report_block *append(struct report_timeline *gathered, struct report_lane *lane)
{
    if (array_room(&lane->blocks, lane->count, sizeof *lane->blocks))
        return &lane->blocks[lane->count++];
    gathered->failed = true;
    return NULL;
}

/* Appends an event, or joins it with the block that is open. */
static void gather(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                   int64_t end_fs)
{
    struct report_timeline *gathered = context;
    struct report_lane *lane = &gathered->lanes[pipe];
    bool waits = gathered->program->items[instruction].kind == INSTRUCTION_WAIT;
    if (core != 0 || gathered->failed || end_fs <= start_fs)
        return;
    gathered->seen++;
    bool alone = end_fs <= gathered->detail_fs || end_fs - start_fs >= gathered->merge_fs;
    struct report_block *block =
        lane->is_open && !alone ? &lane->blocks[lane->count - 1] : append(gathered, lane);
    if (!block)
        return;
    if (!lane->is_open || alone)
        *block = (struct report_block){.start_fs = start_fs, .instruction = instruction};
    block->end_fs = end_fs;
    block->busy_fs += waits ? 0 : end_fs - start_fs;
    block->count++;
    lane->is_open = !alone && end_fs - block->start_fs < gathered->merge_fs;
}

/* Half of the events are for the beginning. After it a pipe has at most two blocks in every
 * merge_fs: one that was long enough, and one that a long event cut off. */
void report_timeline_open(struct report_timeline *gathered, const struct program *program,
                          int64_t end_fs, int64_t events)
{
    *gathered = (struct report_timeline){
        .trace = {.context = gathered, .event = gather}, .program = program, .end_fs = end_fs};
    if (program->executed <= events)
        return;
    gathered->detail_fs =
        (int64_t)((double)end_fs / 2 * (double)events / (double)program->executed);
    gathered->merge_fs = end_fs / (events / 4 / program->hw->pipe_count + 1) + 1;
}

void report_timeline_close(struct report_timeline *gathered)
{
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        free(gathered->lanes[p].blocks);
}

/* ------------------------------------------------------------------ the section */

static double ns(int64_t fs)
{
    return (double)fs / FS_PER_NS;
}

/* Instructions that blocks name, numbered in the order in which they are first named. */
struct names {
    const struct program *program;
    int32_t *number; /* by instruction: from 1; 0: not named yet */
    json_t *list;
};

static int32_t number_of(struct names *names, int32_t instruction)
{
    char text[128];
    int32_t *number = &names->number[instruction];
    if (*number)
        return *number - 1;
    instruction_print(names->program, instruction, text, sizeof text);
    json_array_append_new(names->list,
                          json_pack("[i, s]", names->program->items[instruction].line, text));
    return (*number = (int32_t)json_array_size(names->list)) - 1;
}

/* [start, length, instruction], and of several events their number and the time they worked; a
 * wait by itself has worked for none of it. */
static json_t *block_json(const struct report_block *block, struct names *names)
{
    json_t *item = json_pack("[f, f, i]", ns(block->start_fs), ns(block->end_fs - block->start_fs),
                             number_of(names, block->instruction));
    if (block->count > 1 || block->busy_fs < block->end_fs - block->start_fs) {
        json_array_append_new(item, json_integer(block->count));
        json_array_append_new(item, json_real(ns(block->busy_fs)));
    }
    return item;
}

static json_t *pipe_json(const struct report_timeline *gathered, const struct timeline *timeline,
                         int pipe, struct names *names)
{
    const struct report_lane *lane = &gathered->lanes[pipe];
    double time_ns = ns(timeline->end_fs);
    json_t *blocks = json_array();
    for (int64_t i = 0; i < lane->count; i++)
        json_array_append_new(blocks, block_json(&lane->blocks[i], names));
    return json_pack("{s:s, s:f, s:f, s:o}", "name", gathered->program->hw->pipes[pipe].name,
                     "busy_ns", ns(timeline->busy_fs[pipe]), "share",
                     time_ns > 0 ? ns(timeline->busy_fs[pipe]) / time_ns : 0, "blocks", blocks);
}

static json_t *section_of(const struct report_timeline *gathered, const struct timeline *timeline,
                          const char *title, struct names *names)
{
    char note[256], number[TEXT_SIZE], first[TEXT_SIZE];
    snprintf(note, sizeof note,
             "%s events; short ones after the first %s are drawn as blocks that are as dark as "
             "the pipe was busy.",
             text_count(gathered->seen, number), text_time(ns(gathered->detail_fs), first));
    json_t *section = report_section("timeline", title, gathered->merge_fs ? note : NULL);
    json_t *pipes = json_array();
    for (int p = 0; p < gathered->program->hw->pipe_count; p++)
        json_array_append_new(pipes, pipe_json(gathered, timeline, p, names));
    json_object_set_new(section, "end_ns", json_real(ns(timeline->end_fs)));
    json_object_set_new(section, "pipes", pipes);
    json_object_set(section, "instructions", names->list);
    return section;
}

json_t *report_timeline_section(const struct report_timeline *gathered,
                                const struct timeline *timeline, const char *title)
{
    struct names names = {.program = gathered->program, .list = json_array()};
    json_t *section = NULL;
    names.number = calloc((size_t)gathered->program->count + 1, sizeof *names.number);
    if (names.number && names.list && !gathered->failed)
        section = section_of(gathered, timeline, title, &names);
    json_decref(names.list);
    free(names.number);
    return section;
}
