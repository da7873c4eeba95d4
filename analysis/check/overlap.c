/* Every buffer is cut at each address where some operand starts or ends; a piece remembers, per
 * pipe, the last write and the last read. Since events arrive in an order that respects
 * happens-before, an earlier access is unordered exactly when the later one's clock does not know
 * it: data race detection with vector clocks, of which one number an access is enough (Flanagan and
 * Freund 2009). */
#include "analysis/check/overlap.h"

#include "analysis/check/region.h"
#include "analysis/check/witness.h"

#include <stdio.h>
#include <string.h>

/* A row of an operand of the present event. */
struct row {
    struct overlap *overlap;
    const struct event *event;
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

static void at_least(uint32_t *number, uint32_t to)
{
    if (*number < to)
        *number = to;
}

/* Notes that this event comes after the other pipe's conflicting access, or that it does not. An
 * interlocked access may still be going on beside this one, so this event stays behind whatever it
 * knows of that pipe, and what comes next on its pipe behind that access, as far as it is. So flags
 * that say when interlocked instructions may begin and that they have ended are not called
 * superfluous. */
static bool is_ordered(const struct row *row, int pipe, uint32_t number, int32_t other,
                       int32_t piece)
{
    struct overlap *overlap = row->overlap;
    uint32_t seen = row->event->clock[pipe];
    if (number <= seen) {
        pair_raise(&overlap->pairs[pipe], number, other, row->region->buffer, piece);
        return true;
    }
    overlap->unordered |= 1u << pipe;
    if (!interlocks(overlap->program, row, other))
        return false;
    at_least(&overlap->bounds[pipe], seen);
    at_least(&overlap->carried[row->event->pipe][pipe], number);
    overlap->interlocked = true;
    return true;
}

/* One piece: `last` holds a slot for each pipe that touches the buffer. An accumulating write
 * counts as a write only: whoever conflicts with its read conflicts with its write. */
static void visit_piece(const struct row *row, int32_t piece, struct findings *findings)
{
    const struct buffer_map *map = &row->overlap->maps[row->region->buffer];
    struct access *last = &map->last[(size_t)piece * (size_t)map->slots];
    const uint32_t *clock = row->event->clock;
    int own = map->slot_of[row->event->pipe];
    for (int slot = 0; slot < map->slots; slot++) {
        const struct access *access = &last[slot];
        int pipe = map->pipe_of[slot];
        if (slot == own)
            continue;
        if (!is_ordered(row, pipe, access->write, access->write_item, piece))
            add_hazard(row, access, true, piece, findings);
        if (row->writes && !is_ordered(row, pipe, access->read, access->read_item, piece))
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
        .region = region,
        .writes = instruction_writes(in, region->role),
    };
    for (int64_t i = 0; i < rows.count; i++) {
        row.start = start + i * rows.stride;
        row.end = row.start + rows.bytes;
        TRY(visit_row(overlap, &row, findings, error));
    }
    return STATUS_OK;
}

/* Orders that interlocked accesses left behind bind this event as far as its clock knows them. */
static void carry_on(struct overlap *overlap, const struct event *event)
{
    for (int pipe = 0; pipe < overlap->program->hw->pipe_count; pipe++) {
        uint32_t *carried = &overlap->carried[event->pipe][pipe], seen = event->clock[pipe];
        at_least(&overlap->bounds[pipe], *carried < seen ? *carried : seen);
        if (*carried <= seen)
            *carried = 0;
    }
}

/* Where the last conflicting access of a pipe is not in order with this event, an earlier one may
 * be. A pair that is not later than those of events before this one is no news: it is left out. */
static void look_back(struct overlap *overlap, const struct event *event)
{
    for (int pipe = 0; pipe < overlap->program->hw->pipe_count; pipe++) {
        struct pair *pair = &overlap->pairs[pipe];
        uint32_t *settled = &overlap->settled[event->pipe][pipe];
        if (overlap->unordered >> pipe & 1) {
            uint32_t after = pair->number > *settled ? pair->number : *settled;
            int64_t address;
            at_least(&overlap->bounds[pipe], earlier_find(&overlap->earlier, event, pipe, after,
                                                          overlap->watched, pair, &address));
            if (pair->number > after && pair->piece != PAIR_WHOLE)
                pair->piece = boundaries_piece(&overlap->maps[pair->buffer].cuts, address);
        }
        if (pair->number <= *settled)
            pair->number = 0;
        at_least(settled, pair->number);
    }
}

static bool touches_memory(const struct instruction *in)
{
    return in->kind == INSTRUCTION_MOVE || in->kind == INSTRUCTION_MATRIX ||
           in->kind == INSTRUCTION_VECTOR || in->region_count > 0;
}

static enum status visit_operands(struct overlap *overlap, const struct event *event,
                                  struct findings *findings, struct error *error)
{
    const struct instruction *in = &overlap->program->items[event->item];
    enum status status = STATUS_OK;
    memset(overlap->pairs, 0, sizeof overlap->pairs);
    memset(overlap->bounds, 0, sizeof overlap->bounds);
    overlap->unordered = 0;
    carry_on(overlap, event);
    unnamed_event(&overlap->unnamed, event, overlap->pairs, &overlap->unordered);
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        if (overlap->watched[i] && status == STATUS_OK)
            status = visit_region(overlap, event, &overlap->program->regions[i], findings, error);
    look_back(overlap, event);
    return status;
}

enum status overlap_event(struct overlap *overlap, const struct event *event,
                          struct findings *findings, struct error *error)
{
    const struct instruction *in = &overlap->program->items[event->item];
    overlap->of_interest = event->pipe != PROGRAM_PIPE_ALL &&
                           (in->region_count > 0 || overlap->unnamed.any || overlap->interlocked);
    if (overlap->of_interest)
        TRY(visit_operands(overlap, event, findings, error));
    return event->pipe != PROGRAM_PIPE_ALL && touches_memory(in)
               ? earlier_add(&overlap->earlier, event, error)
               : STATUS_OK;
}
