#include "analysis/check/overlap.h"

#include "analysis/check/region.h"
#include "analysis/check/witness.h"

#include <stdio.h>
#include <string.h>

/* A row of an operand of the present event. */
struct row {
    const struct overlap *overlap;
    const struct event *event;
    uint32_t *needs, *carried;
    const struct region *region;
    bool writes;
    int64_t start, end;
};

static const char *pipe_name(const struct program *program, int32_t item)
{
    return program->hw->pipes[program->items[item].pipe].name;
}

static void add_witness(const struct row *row, const struct access *access, bool other_writes,
                        int32_t piece, struct witness *witness)
{
    const struct overlap *overlap = row->overlap;
    const struct buffer_map *map = &overlap->maps[row->region->buffer];
    int32_t other = other_writes ? access->write_item : access->read_item;
    uint32_t number = other_writes ? access->write : access->read;
    witness->access_count = 2;
    if (overlap->numbered)
        witness_of_event(&witness->accesses[0], overlap->program,
                         overlap->program->items[other].pipe, other_writes, number);
    else
        witness_of_index(&witness->accesses[0], overlap->program, overlap->nest, other,
                         other_writes, NULL);
    witness_of_index(&witness->accesses[1], overlap->program, overlap->nest, row->event->item,
                     row->writes, row->event->index);
    witness->buffer = row->region->buffer;
    witness->low = map->cuts.sorted[piece];
    witness->high = map->cuts.sorted[piece + 1];
    witness->edge = true;
}

static void add_hazard(const struct row *row, const struct access *access, bool other_writes,
                       int32_t piece, struct findings *findings)
{
    const struct program *program = row->overlap->program;
    int32_t other = other_writes ? access->write_item : access->read_item;
    const char *others_verb = other_writes ? "write" : "read";
    int32_t item = row->event->item;
    int32_t lines[] = {program->items[other].line, program->items[item].line};
    struct finding *finding = findings_add(findings, FINDING_HAZARD, lines, 2);
    if (!finding)
        return;
    add_witness(row, access, other_writes, piece, &finding->witness);
    const char *before = pipe_name(program, other), *after = pipe_name(program, item);
    snprintf(finding->text, sizeof finding->text,
             "%s %s %s[%lld, %lld) in line %d while %s in line %d may still %s it; add set/wait "
             "%s->%s between them",
             after, row->writes ? "overwrites" : "reads",
             program->hw->buffers[row->region->buffer].name, (long long)row->start,
             (long long)row->end, lines[1], before, lines[0], others_verb, before, after);
}

/* Has the chip ordered this access after that of an instruction of another pipe, which was
 * dispatched earlier? What that pipe did before is then ordered too: pipes are FIFOs. */
static bool interlocks(const struct program *program, const struct row *row, int32_t other)
{
    return program->items[row->event->item].unit && program->items[other].unit &&
           program->hw->buffers[row->region->buffer].unit_flag;
}

/* One piece: `last` holds a slot for each pipe that touches the buffer. An accumulating write
 * counts as a write only: whoever conflicts with its read conflicts with its write. */
static void follow(uint32_t *needs, uint32_t number, uint32_t seen)
{
    if (*needs < number)
        *needs = number < seen ? number : seen;
}

/* Notes how far this event has to follow the other pipe, as far as it does: up to its conflicting
 * access, or, where that is unordered or interlocked, up to whatever it knows of what came before
 * it. An interlocked access may still be going on beside this one, so what comes next on this pipe
 * has to follow it too, as far as it does. So flags that say when interlocked instructions may
 * begin and that they have ended are not called superfluous. */
static bool is_ordered(const struct program *program, const struct row *row, int pipe,
                       uint32_t number, int32_t other)
{
    uint32_t seen = row->event->clock[pipe];
    follow(&row->needs[pipe], number, seen);
    if (number <= seen)
        return true;
    if (!interlocks(program, row, other))
        return false;
    if (row->carried[pipe] < number)
        row->carried[pipe] = number;
    return true;
}

static void visit_piece(const struct row *row, int32_t piece, struct findings *findings)
{
    const struct program *program = row->overlap->program;
    const struct buffer_map *map = &row->overlap->maps[row->region->buffer];
    struct access *last = &map->last[(size_t)piece * (size_t)map->slots];
    const uint32_t *clock = row->event->clock;
    int own = map->slot_of[row->event->pipe];
    for (int slot = 0; slot < map->slots; slot++) {
        const struct access *access = &last[slot];
        int pipe = map->pipe_of[slot];
        if (slot == own)
            continue;
        if (!is_ordered(program, row, pipe, access->write, access->write_item))
            add_hazard(row, access, true, piece, findings);
        if (row->writes && !is_ordered(program, row, pipe, access->read, access->read_item))
            add_hazard(row, access, false, piece, findings);
    }
    if (row->writes) {
        last[own].write = clock[row->event->pipe];
        last[own].write_item = row->event->item;
    } else {
        last[own].read = clock[row->event->pipe];
        last[own].read_item = row->event->item;
    }
}

static enum status visit_row(struct overlap *overlap, const struct row *row,
                             struct findings *findings, struct error *error)
{
    const struct buffer_map *map = &overlap->maps[row->region->buffer];
    int32_t first = boundaries_piece(&map->cuts, row->start), piece = first;
    for (; map->cuts.sorted[piece] < row->end; piece++)
        visit_piece(row, piece, findings);
    overlap->visits += piece - first;
    if (overlap->visits <= CHECK_MAX_VISITS)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE,
                     "operands touch more than %lld pieces of buffers, too many to check for "
                     "hazards",
                     CHECK_MAX_VISITS);
}

static enum status visit_region(struct overlap *overlap, const struct event *event,
                                const struct region *region, struct findings *findings,
                                struct error *error)
{
    const struct instruction *in = &overlap->program->items[event->item];
    struct rows rows;
    region_rows(region, &rows);
    int64_t start = region_start(region, &rows, event->index);
    struct row row = {
        .overlap = overlap,
        .event = event,
        .needs = overlap->needs,
        .carried = overlap->carried[event->pipe],
        .region = region,
        .writes = instruction_writes(in, region->role),
    };
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < rows.count && status == STATUS_OK; i++) {
        row.start = start + i * rows.stride;
        row.end = row.start + rows.bytes;
        status = visit_row(overlap, &row, findings, error);
    }
    return status;
}

static void carry_on(struct overlap *overlap, const struct event *event)
{
    for (int pipe = 0; pipe < overlap->program->hw->pipe_count; pipe++) {
        uint32_t *carried = &overlap->carried[event->pipe][pipe];
        follow(&overlap->needs[pipe], *carried, event->clock[pipe]);
        if (*carried <= event->clock[pipe])
            *carried = 0;
    }
}

enum status overlap_event(struct overlap *overlap, const struct event *event,
                          struct findings *findings, struct error *error)
{
    const struct instruction *in = &overlap->program->items[event->item];
    enum status status = STATUS_OK;
    memset(overlap->needs, 0, sizeof overlap->needs);
    if (event->pipe == PROGRAM_PIPE_ALL)
        return STATUS_OK;
    carry_on(overlap, event);
    unnamed_event(&overlap->unnamed, event, overlap->needs);
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        if (overlap->watched[i] && status == STATUS_OK)
            status = visit_region(overlap, event, &overlap->program->regions[i], findings, error);
    return status;
}
