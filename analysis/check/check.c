/* A hash table of (kind, sorted lines) keeps each finding once, behind a memory of the last
 * question, since a loop asks the same again and again. At the end they are sorted with causes
 * before what they bring about.
 *
 * Where operands lie is found in closed form: an address is an offset and multiples of strides, so
 * its least and greatest value are at the ends of the loops' ranges, and all starts are aligned
 * exactly when offset and strides are. All else takes an execution.
 *
 * Puts what the search says may go into words: what the unit is, then why, from a table by reason,
 * with the lines of two accesses that it orders, and what orders them all the same.
 *
 * These are found in two walks over the record. The first follows what each pipe knows, in all and
 * by way of the unit, up to two accesses that are in order by way of the unit. The second, without
 * all that is superfluous, spreads from the earlier access the synchronisation by which it becomes
 * known, until the later one's pipe knows: that way is the witness. */
#include "analysis/check/check.h"

#include "analysis/check/execution.h"
#include "analysis/check/oversync_search.h"
#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ witnesses */

#define WALK_MAX_STEPS 100000000LL /* looking for witnesses, of all findings together */

/* How something is known: the synchronisation on the way, in order, which passes a pipe but once.
 */
struct way {
    bool known;
    int count;
    int32_t items[WITNESS_MAX_STEPS];
};

/* Events that are known to have happened, per pipe: in all, and by way of one unit. */
struct known {
    uint32_t all[HARDWARE_MAX_PIPES], by_unit[HARDWARE_MAX_PIPES];
};

struct oversync_walk {
    const struct record *record;
    const struct overlap *overlap;
    const struct oversync *found;
    bool *gone;    /* per instruction: superfluous */
    bool *in_unit; /* … of the unit at hand */
    struct way pipes[HARDWARE_MAX_PIPES];
    struct way *slots;   /* per slot of the record */
    struct known *known; /* the same */
    int64_t budget;      /* of steps, for all units together */
};

static void pass_on(struct way *to, const struct way *from, int32_t item)
{
    if (!from->known || to->known)
        return;
    *to = *from;
    if (to->count < WITNESS_MAX_STEPS)
        to->items[to->count++] = item;
}

static void pass_to_all(struct oversync_walk *walk, int from, int32_t item)
{
    for (int pipe = 0; pipe < walk->record->program->hw->pipe_count; pipe++)
        pass_on(&walk->pipes[pipe], &walk->pipes[from], item);
}

/* Spreads what is known over one step. */
static void spread_step(struct oversync_walk *walk, const struct record_step *step)
{
    const struct hardware *hw = walk->record->program->hw;
    if (step->kind == INSTRUCTION_SET && step->slot >= 0) {
        walk->slots[step->slot].known = false;
        if (!walk->gone[step->item])
            pass_on(&walk->slots[step->slot], &walk->pipes[step->pipe], step->item);
    } else if (step->kind == INSTRUCTION_WAIT && step->slot >= 0) {
        pass_on(&walk->pipes[step->pipe], &walk->slots[step->slot], step->item);
    } else if (step->kind == INSTRUCTION_BARRIER && !walk->gone[step->item]) {
        for (int pipe = 0; pipe < hw->pipe_count; pipe++)
            pass_to_all(walk, pipe, step->item);
    }
    if (step->pipe != PROGRAM_PIPE_ALL && hw->pipes[step->pipe].blocks_dispatch)
        pass_to_all(walk, step->pipe, step->item);
}

/* How pipe `to` knows of event `number` of pipe `from` before step `until`. */
static struct way find_way(struct oversync_walk *walk, int from, uint32_t number, int64_t until)
{
    const struct record *record = walk->record;
    int to = record->steps[until].pipe;
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        walk->pipes[pipe] = (struct way){0};
    for (int slot = 0; slot < record->slot_count; slot++)
        walk->slots[slot].known = false;
    for (int64_t i = 0; i <= until && !walk->pipes[to].known; i++, walk->budget--) {
        const struct record_step *step = &record->steps[i];
        if (step->pipe == from && step->number >= number)
            walk->pipes[from].known = true;
        spread_step(walk, step);
    }
    return walk->pipes[to];
}

/* By way of the unit goes all that passes through it, and what came through it before. */
static void learn(struct known *to, const struct known *from, bool by_unit)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++) {
        uint32_t more = by_unit ? from->all[pipe] : from->by_unit[pipe];
        if (from->all[pipe] > to->all[pipe])
            to->all[pipe] = from->all[pipe];
        if (more > to->by_unit[pipe])
            to->by_unit[pipe] = more;
    }
}

/* Two accesses in order: the later one, a step, and the event that it has to follow. */
struct ordered {
    int64_t later;
    const struct record_need *need;
};

/* What each pipe knows, step by step, and what it had to know already. */
struct tracing {
    const struct record *record;
    const bool *in_unit; /* per instruction */
    struct known pipes[HARDWARE_MAX_PIPES];
    struct known *slots; /* sets whose waits are still to come */
    struct ordered needed[HARDWARE_MAX_PIPES]
                         [HARDWARE_MAX_PIPES]; /* the last one; need NULL: none */
};

static void trace_barrier(struct tracing *tracing, bool by_unit)
{
    struct known all = {{0}, {0}};
    int pipes = tracing->record->program->hw->pipe_count;
    for (int pipe = 0; pipe < pipes; pipe++)
        learn(&all, &tracing->pipes[pipe], by_unit);
    for (int pipe = 0; pipe < pipes; pipe++)
        tracing->pipes[pipe] = all;
}

static void trace_step(struct tracing *tracing, const struct record_step *step)
{
    const struct hardware *hw = tracing->record->program->hw;
    if (step->kind == INSTRUCTION_BARRIER) {
        trace_barrier(tracing, tracing->in_unit[step->item]);
        return;
    }
    struct known *own = &tracing->pipes[step->pipe];
    own->all[step->pipe] = step->number;
    if (step->kind == INSTRUCTION_SET && step->slot >= 0)
        tracing->slots[step->slot] = *own;
    else if (step->kind == INSTRUCTION_WAIT && step->slot >= 0)
        learn(own, &tracing->slots[step->slot], tracing->in_unit[step->item]);
    if (hw->pipes[step->pipe].blocks_dispatch)
        for (int pipe = 0; pipe < hw->pipe_count; pipe++)
            learn(&tracing->pipes[pipe], own, false);
}

/* Two of which a pipe knows by way of the unit, too, where it had to follow the other pipe anyway:
 * the record leaves out what comes later and needs no more than that. */
static bool find_known_pair(const struct tracing *tracing, struct ordered *pair)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        for (int other = 0; other < HARDWARE_MAX_PIPES; other++) {
            const struct ordered *needed = &tracing->needed[pipe][other];
            if (!needed->need || !tracing->pipes[pipe].by_unit[other])
                continue;
            *pair = *needed;
            return true;
        }
    return false;
}

/* The first two accesses that are in order by way of the unit. */
static enum oversync_reason find_pair(struct oversync_walk *walk, struct ordered *pair)
{
    const struct record *record = walk->record;
    struct tracing tracing = {.record = record, .in_unit = walk->in_unit, .slots = walk->known};
    for (int64_t i = 0; i < record->count; i++) {
        const struct record_step *step = &record->steps[i];
        if (walk->budget-- <= 0)
            return OVERSYNC_UNKNOWN;
        trace_step(&tracing, step);
        for (int n = 0; n < step->need_count; n++) {
            const struct record_need *need = &record->needs[step->need + n];
            if (need->item < 0)
                continue;
            *pair = (struct ordered){i, need};
            if (tracing.pipes[step->pipe].by_unit[need->pipe] >= need->number)
                return OVERSYNC_ORDERED;
            tracing.needed[step->pipe][need->pipe] = *pair;
        }
    }
    return find_known_pair(&tracing, pair) ? OVERSYNC_ORDERED_BEFORE : OVERSYNC_NO_CONFLICT;
}

/* Which iteration it is can be said of events that have the numbers of the whole program. */
static void put_access(const struct record *record, int32_t item, int pipe, uint32_t number,
                       struct witness_access *access)
{
    if (number <= record->counted[pipe])
        witness_of_event(access, record->program, pipe, false, number);
    else
        witness_of_index(access, record->program, NULL, item, false, NULL);
}

/* The bytes that both touch; where an operand is left out, anywhere in the buffer. */
static void put_bytes(const struct oversync_walk *walk, const struct record_need *need,
                      struct witness *witness)
{
    const int64_t *sorted = walk->overlap->maps[need->buffer].cuts.sorted;
    bool whole = need->piece == PAIR_WHOLE;
    witness->buffer = need->buffer;
    witness->low = whole ? 0 : sorted[need->piece];
    witness->high = whole ? walk->record->program->hw->buffers[need->buffer].capacity_bytes
                          : sorted[need->piece + 1];
}

static enum oversync_reason find_witness(struct oversync_walk *walk, struct witness *witness)
{
    struct ordered pair;
    enum oversync_reason reason = find_pair(walk, &pair);
    if (reason != OVERSYNC_ORDERED && reason != OVERSYNC_ORDERED_BEFORE)
        return reason;
    struct way way = find_way(walk, pair.need->pipe, pair.need->number, pair.later);
    if (!way.known)
        return OVERSYNC_UNKNOWN;
    const struct record_step *later = &walk->record->steps[pair.later];
    witness->access_count = 2;
    put_access(walk->record, pair.need->item, pair.need->pipe, pair.need->number,
               &witness->accesses[0]);
    put_access(walk->record, later->item, later->pipe, later->number, &witness->accesses[1]);
    put_bytes(walk, pair.need, witness);
    for (int i = 0; i < way.count; i++)
        witness->steps[witness->step_count++] = way.items[i];
    return reason;
}

static bool is_of_one_pipe(const struct instruction *in)
{
    return in->kind == INSTRUCTION_BARRIER && in->pipe != PROGRAM_PIPE_ALL;
}

/* Fills reason, accesses and steps of an empty witness. */
static void oversync_witness(struct oversync_walk *walk, const struct oversync_unit *unit,
                             struct witness *witness)
{
    const int32_t *items = &walk->found->items[unit->first];
    if (is_of_one_pipe(&walk->record->program->items[items[0]])) {
        witness->reason = OVERSYNC_SAME_PIPE;
        return;
    }
    for (int32_t i = 0; i < unit->count; i++)
        walk->in_unit[items[i]] = true;
    witness->reason = find_witness(walk, witness);
    for (int32_t i = 0; i < unit->count; i++)
        walk->in_unit[items[i]] = false;
}

static void oversync_walk_clear(struct oversync_walk *walk)
{
    free(walk->gone);
    free(walk->in_unit);
    free(walk->slots);
    free(walk->known);
    *walk = (struct oversync_walk){0};
}

/* After a failure there is nothing to clear. */
static enum status oversync_walk_init(struct oversync_walk *walk, const struct execution *execution,
                                      const struct oversync *found, struct error *error)
{
    const struct record *record = &execution->record;
    size_t items = (size_t)record->program->count + 1, slots = (size_t)record->slot_count + 1;
    *walk = (struct oversync_walk){
        .record = record, .overlap = &execution->overlap, .found = found, .budget = WALK_MAX_STEPS};
    walk->gone = calloc(items, sizeof *walk->gone);
    walk->in_unit = calloc(items, sizeof *walk->in_unit);
    walk->slots = calloc(slots, sizeof *walk->slots);
    walk->known = calloc(slots, sizeof *walk->known);
    if (!walk->gone || !walk->in_unit || !walk->slots || !walk->known) {
        oversync_walk_clear(walk);
        return error_memory(error);
    }
    for (int32_t i = 0; i < found->item_count; i++)
        walk->gone[found->items[i]] = true;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ words */

static int say_what(const struct program *program, const struct instruction *in, char *text,
                    size_t size)
{
    const struct pipe *pipes = program->hw->pipes;
    if (in->kind == INSTRUCTION_BARRIER)
        return snprintf(text, size, "the barrier in line %d orders %s", in->line,
                        in->pipe == PROGRAM_PIPE_ALL ? "" : pipes[in->pipe].name);
    return snprintf(text, size, "flag %s %s %d of line %d orders ", pipes[in->from].name,
                    pipes[in->to].name, in->flag, in->line);
}

/* With the two accesses, where the witness has them, in the middle. */
static void say_why(const struct program *program, const struct witness *witness, char *text,
                    size_t size)
{
    static const char *const words[OVERSYNC_REASONS][2] = {
        [OVERSYNC_UNKNOWN] = {"nothing new", ""},
        [OVERSYNC_ORDERED] = {"nothing new: ", ", for one, are in order without it"},
        [OVERSYNC_ORDERED_BEFORE] =
            {"no two accesses to the same bytes that were not in order before, as ", " are"},
        [OVERSYNC_NO_CONFLICT] = {"no two accesses to the same bytes", ""},
        [OVERSYNC_SAME_PIPE] = {" only, which keeps its order anyway", ""},
    };
    char lines[64] = "";
    if (witness->access_count == 2)
        snprintf(lines, sizeof lines, "lines %d and %d",
                 program->items[witness->accesses[0].item].line,
                 program->items[witness->accesses[1].item].line);
    snprintf(text, size, "%s%s%s; remove it", words[witness->reason][0], lines,
             words[witness->reason][1]);
}

static void add_unit_finding(const struct program *program, struct oversync_walk *walk,
                             const struct oversync_unit *unit, struct findings *findings)
{
    const int32_t *items = &walk->found->items[unit->first];
    int32_t lines[FINDING_MAX_LINES];
    int count = 0;
    for (int32_t i = 0; i < unit->count && count < FINDING_MAX_LINES; i++)
        lines[count++] = program->items[items[i]].line;
    struct finding *finding = findings_add(findings, FINDING_OVER_SYNC, lines, count);
    if (!finding)
        return;
    oversync_witness(walk, unit, &finding->witness);
    int used = say_what(program, &program->items[items[0]], finding->text, sizeof finding->text);
    say_why(program, &finding->witness, finding->text + used, sizeof finding->text - (size_t)used);
}

enum status oversync_add(struct execution *execution, struct findings *findings,
                         struct error *error)
{
    struct oversync found;
    struct oversync_walk walk;
    enum status status = oversync_search(execution, &found, error);
    if (status != STATUS_OK)
        return status;
    status = oversync_walk_init(&walk, execution, &found, error);
    if (status == STATUS_OK) {
        for (int32_t i = 0; i < found.unit_count; i++)
            add_unit_finding(execution->program, &walk, &found.units[i], findings);
        oversync_walk_clear(&walk);
    }
    oversync_clear(&found);
    return status;
}

/* ------------------------------------------------------------------ findings */

enum { TABLE_SIZE = 16384 }; /* more than twice FINDING_KINDS * CHECK_MAX_FINDINGS, power of two */

const char *finding_kind_name(enum finding_kind kind)
{
    static const char *const names[FINDING_KINDS] = {
        [FINDING_HAZARD] = "hazard",
        [FINDING_DEADLOCK] = "deadlock",
        [FINDING_UNMATCHED_FLAG] = "unmatched_flag",
        [FINDING_DOUBLE_SET] = "double_set",
        [FINDING_CAPACITY] = "capacity",
        [FINDING_ALIGNMENT] = "alignment",
        [FINDING_MEMORY] = "memory",
        [FINDING_OVER_SYNC] = "over_sync",
    };
    return names[kind];
}

bool check_is_safe(const struct check *check)
{
    for (size_t i = 0; i < check->count; i++)
        if (check->findings[i].kind != FINDING_OVER_SYNC)
            return false;
    return true;
}

void check_clear(struct check *check)
{
    free(check->findings);
    *check = (struct check){0, NULL, false};
}

void findings_clear(struct findings *findings)
{
    free(findings->items);
    free(findings->table);
    memset(findings, 0, sizeof *findings);
}

/* Inserts each line at its place, once. */
static void sort_lines(struct finding *key, const int32_t *lines, int line_count)
{
    for (int i = 0; i < line_count; i++) {
        int at = key->line_count;
        while (at > 0 && key->lines[at - 1] > lines[i])
            at--;
        if ((at > 0 && key->lines[at - 1] == lines[i]) || key->line_count == FINDING_MAX_LINES)
            continue;
        memmove(&key->lines[at + 1], &key->lines[at],
                (size_t)(key->line_count - at) * sizeof *key->lines);
        key->lines[at] = lines[i];
        key->line_count++;
    }
}

static bool are_same(const struct finding *a, const struct finding *b)
{
    return a->kind == b->kind && a->line_count == b->line_count &&
           memcmp(a->lines, b->lines, sizeof a->lines) == 0;
}

static size_t table_place(const struct findings *findings, const struct finding *key)
{
    uint64_t hash = key->kind;
    for (int i = 0; i < FINDING_MAX_LINES; i++)
        hash = (hash ^ (uint32_t)key->lines[i]) * 0x9e3779b97f4a7c15u;
    size_t i = (hash >> 40) & (TABLE_SIZE - 1);
    while (findings->table[i] && !are_same(&findings->items[findings->table[i] - 1], key))
        i = (i + 1) & (TABLE_SIZE - 1);
    return i;
}

static bool make_room(struct findings *findings)
{
    if (!findings->table)
        findings->table = calloc(TABLE_SIZE, sizeof *findings->table);
    findings->no_memory |=
        !findings->table ||
        !array_room(&findings->items, (int64_t)findings->count, sizeof *findings->items);
    return !findings->no_memory;
}

/* Is it what was asked for last? Unsafe loops ask the same again and again. */
static bool is_repetition(struct findings *findings, enum finding_kind kind, const int32_t *lines,
                          int line_count)
{
    size_t bytes = (size_t)line_count * sizeof *lines;
    if (kind == findings->last_kind && line_count == findings->last_count &&
        memcmp(lines, findings->last_lines, bytes) == 0)
        return true;
    findings->last_kind = kind;
    findings->last_count = line_count;
    memcpy(findings->last_lines, lines, bytes);
    return false;
}

struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const int32_t *lines, int line_count)
{
    if (is_repetition(findings, kind, lines, line_count) || !make_room(findings))
        return NULL;
    struct finding key = {.kind = kind};
    sort_lines(&key, lines, line_count);
    size_t at = table_place(findings, &key);
    if (findings->table[at])
        return NULL;
    if (findings->of_kind[kind] == CHECK_MAX_FINDINGS) {
        findings->truncated = true;
        return NULL;
    }
    findings->of_kind[kind]++;
    key.witness.buffer = -1;
    findings->items[findings->count] = key;
    findings->table[at] = (int32_t)++findings->count;
    return &findings->items[findings->count - 1];
}

/* Causes before what they bring about: a flag without its partner shifts all pairs behind it, one
 * set twice leaves open which pair is meant; an operand in the wrong place meets what it should
 * not; of each of them waits for ever and unordered accesses may be the consequence. */
static const int rank[FINDING_KINDS] = {
    [FINDING_UNMATCHED_FLAG] = 0, [FINDING_DOUBLE_SET] = 1, [FINDING_MEMORY] = 2,
    [FINDING_CAPACITY] = 3,       [FINDING_ALIGNMENT] = 4,  [FINDING_DEADLOCK] = 5,
    [FINDING_HAZARD] = 6,         [FINDING_OVER_SYNC] = 7,
};

/* By rank, then lines; shorter lists end in zeros and come first. */
static int by_rank(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->kind != y->kind)
        return rank[x->kind] < rank[y->kind] ? -1 : 1;
    for (int i = 0; i < FINDING_MAX_LINES; i++)
        if (x->lines[i] != y->lines[i])
            return x->lines[i] < y->lines[i] ? -1 : 1;
    return 0;
}

enum status findings_take(struct findings *findings, struct check *check, struct error *error)
{
    if (findings->no_memory)
        return error_memory(error);
    if (findings->count)
        qsort(findings->items, findings->count, sizeof *findings->items, by_rank);
    *check = (struct check){findings->count, findings->items, findings->truncated};
    findings->items = NULL;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ places of operands */

static void capacity_text(const struct program *program, const struct instruction *in,
                          const struct region *region, const struct range *range, char *text,
                          size_t size)
{
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    int used = snprintf(text, size, "%s of line %d reaches %s[%lld, %lld), ",
                        operand_role_name(region->role), in->line, buffer->name,
                        (long long)range->low, (long long)range->high);
    if (range->low < 0)
        snprintf(text + used, size - (size_t)used, "%llu bytes before its start",
                 0 - (unsigned long long)range->low);
    else
        snprintf(text + used, size - (size_t)used, "%lld bytes beyond its %lld",
                 (long long)(range->high - buffer->capacity_bytes),
                 (long long)buffer->capacity_bytes);
}

static void check_capacity(const struct program *program, const struct nest *nest, int32_t item,
                           const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    int64_t capacity = program->hw->buffers[region->buffer].capacity_bytes;
    struct range range;
    if (region->bytes == 0)
        return;
    bool fits = region_range(program, nest, item, region, &range) && range.low > INT64_MIN;
    if (fits && range.low >= 0 && (capacity == 0 || range.high <= capacity))
        return;
    struct finding *finding = findings_add(findings, FINDING_CAPACITY, &in->line, 1);
    if (!finding)
        return;
    finding->witness.access_count = 1;
    witness_of_index(&finding->witness.accesses[0], program, nest, item,
                     instruction_writes(in, region->role), NULL);
    if (fits) {
        finding->witness.buffer = region->buffer;
        finding->witness.low = range.low;
        finding->witness.high = range.high;
        capacity_text(program, in, region, &range, finding->text, sizeof finding->text);
    } else {
        snprintf(finding->text, sizeof finding->text,
                 "%s of line %d reaches addresses of %s beyond 64 bits",
                 operand_role_name(region->role), in->line,
                 program->hw->buffers[region->buffer].name);
    }
}

/* What the starts of an operand are sums of: its offset, and its strides where something moves. */
struct part {
    int64_t bytes;
    const char *what;
};

static int list_parts(const struct program *program, const struct nest *nest, int32_t item,
                      const struct region *region, struct part parts[PROGRAM_MAX_DEPTH + 3])
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    int depth = nest_counts(nest, program, item, counts), count = 0;
    parts[count++] = (struct part){region->offset_bytes, "its offset"};
    if (region->rows > 1)
        parts[count++] = (struct part){region->row_stride_bytes, "the stride of its rows"};
    if (region->pieces > 1)
        parts[count++] = (struct part){region->piece_stride_bytes, "the stride of their pieces"};
    for (int level = 0; level < depth; level++)
        if (counts[level] > 1)
            parts[count++] =
                (struct part){region->loop_stride_bytes[level], "its stride in a loop"};
    return count;
}

/* The whole of the operand. */
static void place_witness(const struct program *program, const struct nest *nest, int32_t item,
                          const struct region *region, struct witness *witness)
{
    struct range range;
    witness->access_count = 1;
    witness_of_index(&witness->accesses[0], program, nest, item,
                     instruction_writes(&program->items[item], region->role), NULL);
    if (!region_range(program, nest, item, region, &range))
        return;
    witness->buffer = region->buffer;
    witness->low = range.low;
    witness->high = range.high;
}

/* A scalar instruction may touch any byte; whoever moves or computes by blocks may not. All starts
 * are multiples exactly when offset and strides are: the first is the offset, and neighbours
 * differ by a stride. */
static void check_alignment(const struct program *program, const struct nest *nest, int32_t item,
                            const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    struct part parts[PROGRAM_MAX_DEPTH + 3];
    if (region->bytes == 0 || buffer->alignment_bytes == 0 || in->kind == INSTRUCTION_SCALAR ||
        instruction_spreads(program->hw, in, region->role))
        return;
    int count = list_parts(program, nest, item, region, parts);
    for (int i = 0; i < count; i++) {
        if (parts[i].bytes % buffer->alignment_bytes == 0)
            continue;
        struct finding *finding = findings_add(findings, FINDING_ALIGNMENT, &in->line, 1);
        if (finding)
            place_witness(program, nest, item, region, &finding->witness);
        if (finding)
            snprintf(
                finding->text, sizeof finding->text,
                "%s of line %d starts where %s allows no start: %s, %lld bytes, is no multiple "
                "of %lld",
                operand_role_name(region->role), in->line, buffer->name, parts[i].what,
                (long long)parts[i].bytes, (long long)buffer->alignment_bytes);
        return;
    }
}

static void check_memory(const struct program *program, const struct nest *nest, int32_t item,
                         const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    const struct hardware *hw = program->hw;
    unsigned memories = instruction_memories(hw, in, region->role);
    char names[HARDWARE_LIST_SIZE];
    if (!memories || (memories & 1u << region->buffer))
        return;
    struct finding *finding = findings_add(findings, FINDING_MEMORY, &in->line, 1);
    if (!finding)
        return;
    place_witness(program, nest, item, region, &finding->witness);
    snprintf(finding->text, sizeof finding->text,
             "%s of line %d lies in %s, where %s does not %s; "
             "expected %.100s",
             operand_role_name(region->role), in->line, hw->buffers[region->buffer].name,
             hw->pipes[in->pipe].name, instruction_writes(in, region->role) ? "write" : "read",
             hardware_buffer_names(hw, memories, names));
}

/* Adds findings of memories, capacity and alignment. */
static void places_check(const struct program *program, const struct nest *nest,
                         struct findings *findings)
{
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (nest->executed[item] == 0)
            continue;
        for (int32_t i = 0; i < in->region_count; i++) {
            const struct region *region = &program->regions[in->first_region + i];
            check_memory(program, nest, item, region, findings);
            check_capacity(program, nest, item, region, findings);
            check_alignment(program, nest, item, region, findings);
        }
    }
}

/* ------------------------------------------------------------------ all of it */

/* With what is superfluous, or without. */
static enum status check_program(const struct program *program, bool fully, struct check *check,
                                 struct error *error)
{
    struct findings findings = {0};
    struct execution execution;
    enum status status = execution_init(&execution, program, NULL, error);
    if (status != STATUS_OK)
        return status;
    places_check(program, &execution.nest, &findings);
    status = execution_run(&execution, &findings, error);
    if (status == STATUS_OK && fully)
        status = oversync_add(&execution, &findings, error);
    if (status == STATUS_OK)
        status = findings_take(&findings, check, error);
    findings_clear(&findings);
    execution_clear(&execution);
    return status;
}

enum status program_check(const struct program *program, struct check *check, struct error *error)
{
    return check_program(program, true, check, error);
}

enum status program_check_safety(const struct program *program, struct check *check,
                                 struct error *error)
{
    return check_program(program, false, check, error);
}
