/* The lines lie in one array, each with its operands, so that a change is a memmove. Blocks are not
 * linked: the end of a loop and what stands around a line are found by counting brackets, since
 * programs are short and a change costs a simulation anyway. */
#include "analysis/advice/edit.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct edit *edit)
{
    bool too_many = edit->count == edit->capacity && edit->capacity > INT64_C(2) * EDIT_MAX_LINES;
    edit->failed |=
        too_many || !array_reserve(&edit->lines, edit->count, &edit->capacity, sizeof *edit->lines);
    return !edit->failed;
}

enum status edit_open(struct edit *edit, const struct program *program, struct error *error)
{
    *edit = (struct edit){.hw = program->hw};
    if (program->count > EDIT_MAX_LINES)
        return error_set(error, STATUS_TOO_LARGE,
                         "%d instructions, expected at most %d: every change is tried on all of "
                         "them; write what recurs as a loop, or ask about a part",
                         program->count, EDIT_MAX_LINES);
    edit->capacity = program->count + 16;
    edit->lines = malloc((size_t)edit->capacity * sizeof *edit->lines);
    if (!edit->lines)
        return error_memory(error);
    for (int32_t i = 0; i < program->count; i++) {
        struct edit_line *line = &edit->lines[edit->count++];
        line->in = program->items[i];
        if (line->in.region_count) /* a program without operands has no regions to point to */
            memcpy(line->regions, &program->regions[line->in.first_region],
                   line->in.region_count * sizeof *line->regions);
    }
    return STATUS_OK;
}

enum status edit_copy(struct edit *edit, const struct edit *from, struct error *error)
{
    *edit = *from;
    edit->lines = malloc((size_t)from->capacity * sizeof *edit->lines);
    if (!edit->lines)
        return error_memory(error);
    memcpy(edit->lines, from->lines, (size_t)from->count * sizeof *edit->lines);
    return STATUS_OK;
}

void edit_close(struct edit *edit)
{
    free(edit->lines);
    *edit = (struct edit){0};
}

void edit_insert(struct edit *edit, int32_t at, const struct edit_line *line)
{
    struct edit_line copy = *line; /* it may be one of ours, which make_room moves */
    if (!make_room(edit))
        return;
    memmove(&edit->lines[at + 1], &edit->lines[at],
            (size_t)(edit->count - at) * sizeof *edit->lines);
    edit->lines[at] = copy;
    edit->count++;
}

void edit_delete(struct edit *edit, int32_t at, int32_t count)
{
    memmove(&edit->lines[at], &edit->lines[at + count],
            (size_t)(edit->count - at - count) * sizeof *edit->lines);
    edit->count -= count;
}

int32_t edit_end(const struct edit *edit, int32_t loop)
{
    int depth = 0;
    for (int32_t i = loop; i < edit->count; i++) {
        depth += edit->lines[i].in.kind == INSTRUCTION_LOOP;
        depth -= edit->lines[i].in.kind == INSTRUCTION_END;
        if (depth == 0)
            return i;
    }
    return -1;
}

int32_t edit_parent(const struct edit *edit, int32_t at)
{
    int depth = 0;
    for (int32_t i = at - 1; i >= 0; i--) {
        depth += edit->lines[i].in.kind == INSTRUCTION_END;
        if (edit->lines[i].in.kind == INSTRUCTION_LOOP && depth-- == 0)
            return i;
    }
    return -1;
}

int edit_depth(const struct edit *edit, int32_t at)
{
    int depth = 0;
    while ((at = edit_parent(edit, at)) >= 0)
        depth++;
    return depth;
}

/* Puts loop number `depth` at one iteration: its stride counts no more, further loops move up. */
static void fix_index(struct region *region, int depth, int64_t index)
{
    region->offset_bytes += region->loop_stride_bytes[depth] * index;
    for (int d = depth; d + 1 < PROGRAM_MAX_DEPTH; d++)
        region->loop_stride_bytes[d] = region->loop_stride_bytes[d + 1];
    region->loop_stride_bytes[PROGRAM_MAX_DEPTH - 1] = 0;
}

int32_t edit_unroll(struct edit *edit, int32_t loop)
{
    int64_t count = edit->lines[loop].in.count;
    int32_t end = edit_end(edit, loop), body = end - loop - 1;
    int depth = edit_depth(edit, loop);
    if (count < 2)
        return -1;
    for (int32_t i = 0; i < body && count % 2; i++) {
        struct edit_line line = edit->lines[loop + 1 + i];
        for (int r = 0; r < line.in.region_count; r++)
            fix_index(&line.regions[r], depth, count - 1);
        edit_insert(edit, end + 1 + i, &line);
    }
    for (int32_t i = 0; i < body; i++) {
        struct edit_line line = edit->lines[loop + 1 + i];
        for (int r = 0; r < line.in.region_count; r++) {
            line.regions[r].offset_bytes += line.regions[r].loop_stride_bytes[depth];
            line.regions[r].loop_stride_bytes[depth] *= 2;
            if (!edit->failed)
                edit->lines[loop + 1 + i].regions[r].loop_stride_bytes[depth] *= 2;
        }
        edit_insert(edit, end + i, &line);
    }
    edit->lines[loop].in.count = count / 2;
    return end;
}

struct region *edit_operand(struct edit_line *line, enum operand_role role)
{
    for (int r = 0; r < line->in.region_count; r++)
        if (line->regions[r].role == role)
            return &line->regions[r];
    return NULL;
}

static enum status add_line(struct program *program, const struct edit_line *line,
                            struct error *error)
{
    TRY(program_add(program, &line->in, error));
    for (int r = 0; r < line->in.region_count; r++)
        TRY(program_add_region(program, &line->regions[r], error));
    return STATUS_OK;
}

enum status edit_program(const struct edit *edit, struct program *program, struct error *error)
{
    enum status status = edit->failed ? error_memory(error) : STATUS_OK;
    *program = (struct program){.hw = edit->hw};
    for (int32_t i = 0; i < edit->count && status == STATUS_OK; i++)
        status = add_line(program, &edit->lines[i], error);
    if (status == STATUS_OK)
        status = program_close(program, "changed program", error);
    if (status != STATUS_OK)
        program_clear(program);
    return status;
}
