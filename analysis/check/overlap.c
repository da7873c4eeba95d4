/* Every buffer is cut at each address where some operand starts or ends; a piece remembers, per
 * pipe, the last write and the last read. Since events arrive in an order that respects
 * happens-before, an earlier access is unordered exactly when the later one's clock does not know
 * it: data race detection with vector clocks, of which one number an access is enough (Flanagan and
 * Freund 2009). Where the last access is not in order, an earlier one may be: each pipe's last
 * events lie in a ring by number, which is searched backwards from the last one that the clock
 * knows of until operands meet, row by row; a budget for the whole check bounds the work. Of
 * operands that a line leaves out two numbers per buffer and pipe suffice: the last event that may
 * have touched any byte, which conflicts with all that comes later, and the last that touched some.
 */
#include "analysis/check/overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 1024 }; /* operands, or iterations of one, between two looks at the time */

/* ------------------------------------------------------------------ operands that are left out */

/* Keeps the later one. */
static void pair_raise(struct pair *pair, uint32_t number, int32_t item, int buffer, int32_t piece)
{
    if (number > pair->number)
        *pair = (struct pair){number, item, piece, (int8_t)buffer};
}

static bool names_role(const struct program *program, const struct instruction *in, int role)
{
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        if (program->regions[i].role == role)
            return true;
    return false;
}

/* The buffers of which this instruction may touch any byte, as bits. */
static uint32_t left_out_buffers(const struct program *program, const struct instruction *in)
{
    const struct hardware *hw = program->hw;
    uint32_t buffers = 0;
    if (in->kind == INSTRUCTION_MOVE) {
        const struct path *path = &hw->paths[in->what];
        if (!names_role(program, in, OPERAND_SRC))
            buffers |= 1u << path->source;
        if (!names_role(program, in, OPERAND_DST))
            buffers |= 1u << path->destination;
    } else if ((in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_VECTOR) &&
               in->region_count == 0) {
        buffers = (1u << hw->buffer_count) - 1;
    }
    for (int b = 0; b < hw->buffer_count; b++)
        if (hw->buffers[b].capacity_bytes == 0)
            buffers &= ~(1u << b);
    return buffers;
}

static void unnamed_init(struct unnamed *unnamed, const struct program *program)
{
    memset(unnamed, 0, sizeof *unnamed);
    unnamed->program = program;
    for (int32_t i = 0; i < program->count; i++)
        unnamed->any |= left_out_buffers(program, &program->items[i]) != 0;
}

/* The buffers of which it touches anything, the whole of which may be included. */
static uint32_t touched_buffers(const struct program *program, const struct instruction *in)
{
    uint32_t buffers = left_out_buffers(program, in);
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        buffers |= 1u << program->regions[i].buffer;
    return buffers;
}

/* May the two instructions conflict on account of what they leave out? The buffer, or -1. */
static int unnamed_buffer(const struct program *program, int32_t item, int32_t other)
{
    const struct instruction *a = &program->items[item], *b = &program->items[other];
    uint32_t buffers = (left_out_buffers(program, a) & touched_buffers(program, b)) |
                       (left_out_buffers(program, b) & touched_buffers(program, a));
    return buffers ? __builtin_ctz(buffers) : -1;
}

/* Where this event comes after the last one of a pipe, they are a pair; else that order is open. */
static void pair_with_last(const struct event *event, int buffer, const uint32_t *last,
                           const int32_t *items, struct pair *pairs, uint32_t *unordered)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++) {
        if (pipe == event->pipe || last[pipe] == 0)
            continue;
        if (last[pipe] <= event->clock[pipe])
            pair_raise(&pairs[pipe], last[pipe], items[pipe], buffer, PAIR_WHOLE);
        else
            *unordered |= 1u << pipe;
    }
}

/* Raises pairs[q] to the last event of pipe q that this one may conflict with on that account, and
 * records this one. Where it does not come after that event, the bit of q is set in *unordered
 * instead. */
static void unnamed_event(struct unnamed *unnamed, const struct event *event, struct pair *pairs,
                          uint32_t *unordered)
{
    if (!unnamed->any)
        return;
    const struct program *program = unnamed->program;
    const struct instruction *in = &program->items[event->item];
    uint32_t whole = left_out_buffers(program, in), some = touched_buffers(program, in);
    uint32_t number = event->clock[event->pipe];
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1)
            pair_with_last(event, b, unnamed->whole[b], unnamed->whole_item[b], pairs, unordered);
        if (whole >> b & 1)
            pair_with_last(event, b, unnamed->some[b], unnamed->some_item[b], pairs, unordered);
    }
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1) {
            unnamed->some[b][event->pipe] = number;
            unnamed->some_item[b][event->pipe] = event->item;
        }
        if (whole >> b & 1) {
            unnamed->whole[b][event->pipe] = number;
            unnamed->whole_item[b][event->pipe] = event->item;
        }
    }
}

/* ------------------------------------------------------------------ earlier events */

#define EARLIER_MAX_LOOKS 100000000LL
enum { FIRST_EVENTS = 64, EARLIER_MAX = 1 << 16 }; /* events kept, a pipe */

struct earlier_event {
    uint32_t number;
    int32_t item;
    int64_t index[PROGRAM_MAX_DEPTH];
};

static struct earlier_event *kept_event(const struct earlier *earlier, int pipe, size_t n)
{
    return &earlier->pipes[pipe].events[n & (earlier->pipes[pipe].capacity - 1)];
}

/* A ring that was never full lies in order. */
static enum status make_event_room(struct earlier *earlier, int pipe, struct error *error)
{
    size_t capacity = earlier->pipes[pipe].capacity;
    if (earlier->pipes[pipe].count < capacity || capacity == EARLIER_MAX)
        return STATUS_OK;
    capacity = capacity ? 2 * capacity : FIRST_EVENTS;
    struct earlier_event *grown = realloc(earlier->pipes[pipe].events, capacity * sizeof *grown);
    if (!grown)
        return error_memory(error);
    earlier->pipes[pipe].events = grown;
    earlier->pipes[pipe].capacity = capacity;
    return STATUS_OK;
}

static enum status earlier_add(struct earlier *earlier, const struct event *event,
                               struct error *error)
{
    TRY(make_event_room(earlier, event->pipe, error));
    struct earlier_event *kept =
        kept_event(earlier, event->pipe, earlier->pipes[event->pipe].count++);
    kept->number = event->clock[event->pipe];
    kept->item = event->item;
    memcpy(kept->index, event->index, sizeof kept->index);
    return STATUS_OK;
}

/* How many of the kept events from `oldest` on have numbers up to `last`. */
static size_t count_events_until(const struct earlier *earlier, int pipe, size_t oldest,
                                 uint32_t last)
{
    size_t low = oldest, high = earlier->pipes[pipe].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kept_event(earlier, pipe, middle)->number <= last)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Do rows of two operands meet? The first address where they do. */
static bool rows_meet(const struct rows *a, int64_t a_start, const struct rows *b, int64_t b_start,
                      int64_t *address)
{
    for (int64_t i = 0; i < a->count; i++) {
        int64_t start = a_start + i * a->stride, before;
        if (__builtin_sub_overflow(start, b_start + b->bytes, &before))
            continue; /* that far apart */
        int64_t row = before < 0 ? 0 : b->count > 1 ? before / b->stride + 1 : b->count;
        int64_t other = b_start + row * (b->count > 1 ? b->stride : 0);
        if (row >= b->count || other >= start + a->bytes)
            continue;
        *address = other > start ? other : start;
        return true;
    }
    return false;
}

static bool regions_meet(const struct region *a, const int64_t *a_index, const struct region *b,
                         const int64_t *b_index, int64_t *address)
{
    struct rows a_rows, b_rows;
    region_rows(a, &a_rows);
    region_rows(b, &b_rows);
    return rows_meet(&a_rows, region_start(a, &a_rows, a_index), &b_rows,
                     region_start(b, &b_rows, b_index), address);
}

/* The buffer in which both touch the same bytes, one of them writing; -1: none. */
static int conflicting_buffer(const struct earlier *earlier, const struct event *event,
                              const struct earlier_event *before, const bool *watched,
                              int64_t *address)
{
    const struct program *program = earlier->program;
    const struct instruction *a = &program->items[event->item];
    const struct instruction *b = &program->items[before->item];
    for (int32_t i = a->first_region; i < a->first_region + a->region_count; i++)
        for (int32_t j = b->first_region; j < b->first_region + b->region_count; j++) {
            const struct region *x = &program->regions[i], *y = &program->regions[j];
            bool writes = instruction_writes(a, x->role) || instruction_writes(b, y->role);
            if (watched[i] && watched[j] && writes && x->buffer == y->buffer &&
                regions_meet(x, event->index, y, before->index, address))
                return x->buffer;
        }
    return -1;
}

/* Of the events of `pipe` with numbers in (after, last]: the last one that conflicts with this
 * event, on operands that are `watched`, into *found; where both touch, into *address. Returns the
 * number up to which nothing can be said, because it is too long ago; 0: all was looked at. */
static uint32_t earlier_find(struct earlier *earlier, const struct event *event, int pipe,
                             uint32_t after, const bool *watched, struct pair *found,
                             int64_t *address)
{
    size_t count = earlier->pipes[pipe].count, kept = earlier->pipes[pipe].capacity;
    size_t oldest = count > kept ? count - kept : 0;
    size_t n = count_events_until(earlier, pipe, oldest, event->clock[pipe]);
    for (; n > oldest && earlier->budget > 0; n--, earlier->budget--) {
        const struct earlier_event *before = kept_event(earlier, pipe, n - 1);
        if (before->number <= after)
            return 0;
        int piece = 0;
        int buffer = conflicting_buffer(earlier, event, before, watched, address);
        if (buffer < 0) {
            buffer = unnamed_buffer(earlier->program, event->item, before->item);
            piece = PAIR_WHOLE;
        }
        if (buffer < 0)
            continue;
        pair_raise(found, before->number, before->item, buffer, piece);
        return 0;
    }
    if (n > oldest)
        return kept_event(earlier, pipe, n - 1)->number;
    return oldest ? kept_event(earlier, pipe, oldest)->number - 1 : 0;
}

/* ------------------------------------------------------------------ before execution */

/* All bytes of one operand over the whole program. */
struct span {
    struct range range;
    int32_t region, item;
    int8_t buffer;
};

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->buffer != y->buffer)
        return x->buffer - y->buffer;
    if (x->range.low != y->range.low)
        return x->range.low < y->range.low ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

/* The spans of all operands that are touched; those whose addresses do not fit in 64 bits are a
 * finding of their own and left out here. */
static int32_t collect_spans(const struct overlap *overlap, struct span *spans)
{
    const struct program *program = overlap->program;
    int32_t count = 0;
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (overlap->nest->executed[item] == 0)
            continue;
        for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++) {
            const struct region *region = &program->regions[i];
            struct span *span = &spans[count];
            *span = (struct span){{0, 0}, i, item, region->buffer};
            count += region->bytes > 0 &&
                     region_range(program, overlap->nest, item, region, &span->range) &&
                     span->range.low > INT64_MIN;
        }
    }
    return count;
}

/* A run of spans that hang together matters when two pipes touch it and one of them writes. */
static void watch_run(struct overlap *overlap, const struct span *spans, int32_t count)
{
    const struct program *program = overlap->program;
    uint32_t pipes = 0;
    bool written = false;
    for (int32_t i = 0; i < count; i++) {
        const struct instruction *in = &program->items[spans[i].item];
        pipes |= 1u << in->pipe;
        written |= instruction_writes(in, program->regions[spans[i].region].role);
    }
    for (int32_t i = 0; i < count; i++)
        overlap->watched[spans[i].region] = written && (pipes & (pipes - 1));
}

static void watch_spans(struct overlap *overlap, const struct span *spans, int32_t count)
{
    int32_t first = 0;
    int64_t high = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (i > first && (span->buffer != spans[first].buffer || span->range.low >= high)) {
            watch_run(overlap, &spans[first], i - first);
            first = i;
        }
        if (i == first || span->range.high > high)
            high = span->range.high;
    }
    watch_run(overlap, &spans[first], count - first);
}

static enum status watch_conflicts(struct overlap *overlap, struct error *error)
{
    size_t count = (size_t)overlap->program->region_count + 1;
    overlap->watched = calloc(count, sizeof *overlap->watched);
    struct span *spans = malloc(count * sizeof *spans);
    if (!overlap->watched || !spans) {
        free(spans);
        return error_memory(error);
    }
    int32_t touched = collect_spans(overlap, spans);
    qsort(spans, (size_t)touched, sizeof *spans, by_place);
    watch_spans(overlap, spans, touched);
    free(spans);
    return STATUS_OK;
}

/* The iterations that move the operand: 1 for loops whose index it ignores. */
static void moving_counts(const struct overlap *overlap, int32_t item, const struct region *region,
                          int64_t counts[PROGRAM_MAX_DEPTH])
{
    int depth = nest_counts(overlap->nest, overlap->program, item, counts);
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        if (level >= depth || region->loop_stride_bytes[level] == 0)
            counts[level] = 1;
}

static bool next_index(int64_t index[PROGRAM_MAX_DEPTH], const int64_t counts[PROGRAM_MAX_DEPTH])
{
    for (int level = PROGRAM_MAX_DEPTH - 1; level >= 0; level--) {
        if (++index[level] < counts[level])
            return true;
        index[level] = 0;
    }
    return false;
}

static enum status count_starts(struct overlap *overlap, int32_t item, const struct region *region,
                                struct error *error)
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    struct rows rows;
    region_rows(region, &rows);
    moving_counts(overlap, item, region, counts);
    int64_t starts = rows.count;
    bool overflow = false;
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        overflow |= __builtin_mul_overflow(starts, counts[level], &starts);
    overflow |= __builtin_add_overflow(overlap->starts, starts, &overlap->starts);
    if (!overflow && overlap->starts <= CHECK_MAX_STARTS)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE,
                     "rows of operands start at more than %lld places, too many to check for "
                     "hazards",
                     CHECK_MAX_STARTS);
}

static void add_slot(struct buffer_map *map, int pipe)
{
    if (map->slot_of[pipe] >= 0)
        return;
    map->pipe_of[map->slots] = (int8_t)pipe;
    map->slot_of[pipe] = (int8_t)map->slots++;
}

static enum status look(const struct overlap *overlap, struct error *error)
{
    return stop_due(overlap->stop) ? error_set(error, STATUS_STOPPED, "stopped") : STATUS_OK;
}

static enum status cut_region(struct overlap *overlap, int32_t item, const struct region *region,
                              struct error *error)
{
    struct buffer_map *map = &overlap->maps[region->buffer];
    int64_t counts[PROGRAM_MAX_DEPTH];
    int64_t index[PROGRAM_MAX_DEPTH] = {0};
    struct rows rows;
    int looks = 0;
    enum status status = STATUS_OK;
    add_slot(map, overlap->program->items[item].pipe);
    region_rows(region, &rows);
    moving_counts(overlap, item, region, counts);
    do {
        int64_t start = region_start(region, &rows, index);
        if (++looks % LOOK_EVERY == 0)
            TRY(look(overlap, error));
        for (int64_t i = 0; i < rows.count && status == STATUS_OK; i++) {
            status = boundaries_add(&map->cuts, start + i * rows.stride, error);
            if (status == STATUS_OK)
                status = boundaries_add(&map->cuts, start + i * rows.stride + rows.bytes, error);
        }
    } while (status == STATUS_OK && next_index(index, counts));
    return status;
}

/* Does one thing with each watched operand until one fails. */
static enum status each_watched(struct overlap *overlap,
                                enum status (*act)(struct overlap *, int32_t item,
                                                   const struct region *, struct error *),
                                struct error *error)
{
    const struct program *program = overlap->program;
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (item % LOOK_EVERY == 0)
            TRY(look(overlap, error));
        for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
            if (overlap->watched[i])
                TRY(act(overlap, item, &program->regions[i], error));
    }
    return STATUS_OK;
}

static enum status make_pieces(struct overlap *overlap, struct error *error)
{
    int64_t bytes = 0;
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++) {
        struct buffer_map *map = &overlap->maps[i];
        if (map->cuts.count == 0)
            continue;
        size_t cells = map->cuts.count * (size_t)map->slots;
        bytes += (int64_t)(cells * sizeof *map->last);
        if (bytes > CHECK_MAX_BYTES)
            return error_set(error, STATUS_TOO_LARGE,
                             "operands cut the buffers into too many pieces to check for hazards");
        map->last = calloc(cells, sizeof *map->last);
        if (!map->last)
            return error_memory(error);
        TRY(boundaries_seal(&map->cuts, error));
    }
    return STATUS_OK;
}

enum status overlap_init(struct overlap *overlap, const struct program *program,
                         const struct nest *nest, const struct stop *stop, struct error *error)
{
    memset(overlap, 0, sizeof *overlap);
    overlap->program = program;
    overlap->nest = nest;
    overlap->stop = stop;
    overlap->numbered = true;
    unnamed_init(&overlap->unnamed, program);
    overlap->earlier = (struct earlier){.program = program, .budget = EARLIER_MAX_LOOKS};
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++)
        memset(overlap->maps[i].slot_of, -1, sizeof overlap->maps[i].slot_of);
    TRY(watch_conflicts(overlap, error));
    TRY(each_watched(overlap, count_starts, error));
    TRY(each_watched(overlap, cut_region, error));
    return make_pieces(overlap, error);
}

void overlap_clear(struct overlap *overlap)
{
    free(overlap->watched);
    overlap->watched = NULL;
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        free(overlap->earlier.pipes[pipe].events);
    overlap->earlier = (struct earlier){0};
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++) {
        boundaries_clear(&overlap->maps[i].cuts);
        free(overlap->maps[i].last);
        overlap->maps[i] = (struct buffer_map){0};
    }
}

/* ------------------------------------------------------------------ events */

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
static bool is_interlocked(const struct program *program, const struct row *row, int32_t other)
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
    if (!is_interlocked(overlap->program, row, other))
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
            int64_t address = 0;
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
