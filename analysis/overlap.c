#include "analysis/overlap.h"

#include "analysis/region.h"

#include <stdio.h>
#include <string.h>

/* A row of an operand of the present event. */
struct row {
    const struct event *event;
    uint32_t *needs;
    const struct region *region;
    bool writes;
    int64_t start, end;
};

static const char *pipe_name(const struct program *program, int32_t item)
{
    return program->hw->pipes[program->items[item].pipe].name;
}

static void add_hazard(const struct program *program, const struct row *row, int32_t other,
                       const char *others_verb, struct findings *findings)
{
    int32_t item = row->event->item;
    int32_t lines[] = {program->items[other].line, program->items[item].line};
    struct finding *finding = findings_add(findings, FINDING_HAZARD, lines, 2);
    if (!finding)
        return;
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
static bool is_ordered(const struct program *program, const struct row *row, int pipe,
                       uint32_t number, int32_t other)
{
    uint32_t seen = row->event->clock[pipe];
    if (number == 0 || interlocks(program, row, other))
        return true;
    if (row->needs[pipe] < number)
        row->needs[pipe] = number < seen ? number : seen;
    return number <= seen;
}

static void visit_piece(const struct program *program, const struct buffer_map *map,
                        struct access *last, const struct row *row, struct findings *findings)
{
    const uint32_t *clock = row->event->clock;
    int own = map->slot_of[row->event->pipe];
    for (int slot = 0; slot < map->slots; slot++) {
        const struct access *access = &last[slot];
        int pipe = map->pipe_of[slot];
        if (slot == own)
            continue;
        if (!is_ordered(program, row, pipe, access->write, access->write_item))
            add_hazard(program, row, access->write_item, "write", findings);
        if (row->writes && !is_ordered(program, row, pipe, access->read, access->read_item))
            add_hazard(program, row, access->read_item, "read", findings);
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
        visit_piece(overlap->program, map, &map->last[(size_t)piece * (size_t)map->slots], row,
                    findings);
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
    struct row row = {event, overlap->needs, region, instruction_writes(in, region->role), 0, 0};
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < rows.count && status == STATUS_OK; i++) {
        row.start = start + i * rows.stride;
        row.end = row.start + rows.bytes;
        status = visit_row(overlap, &row, findings, error);
    }
    return status;
}

enum status overlap_event(struct overlap *overlap, const struct event *event,
                          struct findings *findings, struct error *error)
{
    const struct instruction *in = &overlap->program->items[event->item];
    enum status status = STATUS_OK;
    memset(overlap->needs, 0, sizeof overlap->needs);
    if (event->pipe == PROGRAM_PIPE_ALL)
        return STATUS_OK;
    unnamed_event(&overlap->unnamed, event, overlap->needs);
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        if (overlap->watched[i] && status == STATUS_OK)
            status = visit_region(overlap, event, &overlap->program->regions[i], findings, error);
    return status;
}
