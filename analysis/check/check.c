/* A hash table of (kind, sorted lines) keeps each finding once, behind a memory of the last
 * question, since a loop asks the same again and again. At the end they are sorted with causes
 * before what they bring about.
 *
 * Where operands lie is found in closed form: an address is an offset and multiples of strides, so
 * its least and greatest value are at the ends of the loops' ranges, and all starts are aligned
 * exactly when offset and strides are. All else takes an execution. */
#include "analysis/check/check.h"

#include "analysis/check/execution.h"
#include "analysis/check/oversync_search.h"
#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        [FINDING_OVER_SYNC] = "over_sync",
    };
    return names[kind];
}

const char *oversync_reason_name(enum oversync_reason reason)
{
    static const char *const names[OVERSYNC_REASONS] = {
        [OVERSYNC_UNKNOWN] = "unknown",
        [OVERSYNC_ORDERED] = "ordered",
        [OVERSYNC_ORDERED_BEFORE] = "ordered_before",
        [OVERSYNC_NO_CONFLICT] = "no_conflict",
        [OVERSYNC_SAME_PIPE] = "same_pipe",
    };
    return names[reason];
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
    [FINDING_UNMATCHED_FLAG] = 0, [FINDING_DOUBLE_SET] = 1, [FINDING_CAPACITY] = 2,
    [FINDING_ALIGNMENT] = 3,      [FINDING_DEADLOCK] = 4,   [FINDING_HAZARD] = 5,
    [FINDING_OVER_SYNC] = 6,
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

static const char *role_name(int role)
{
    static const char *const names[OPERAND_ROLES] = {"dst", "src", "src2", "src3", "a", "b"};
    return names[role];
}

static void capacity_text(const struct program *program, const struct instruction *in,
                          const struct region *region, const struct range *range, char *text,
                          size_t size)
{
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    int used =
        snprintf(text, size, "%s of line %d reaches %s[%lld, %lld), ", role_name(region->role),
                 in->line, buffer->name, (long long)range->low, (long long)range->high);
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
                 "%s of line %d reaches addresses of %s beyond 64 bits", role_name(region->role),
                 in->line, program->hw->buffers[region->buffer].name);
    }
}

/* What the starts of an operand are sums of: its offset, and its strides where something moves. */
struct part {
    int64_t bytes;
    const char *what;
};

static int list_parts(const struct program *program, const struct nest *nest, int32_t item,
                      const struct region *region, struct part parts[PROGRAM_MAX_DEPTH + 2])
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    int depth = nest_counts(nest, program, item, counts), count = 0;
    parts[count++] = (struct part){region->offset_bytes, "its offset"};
    if (region->rows > 1)
        parts[count++] = (struct part){region->row_stride_bytes, "the stride of its rows"};
    for (int level = 0; level < depth; level++)
        if (counts[level] > 1)
            parts[count++] =
                (struct part){region->loop_stride_bytes[level], "its stride in a loop"};
    return count;
}

/* The whole of the operand. */
static void alignment_witness(const struct program *program, const struct nest *nest, int32_t item,
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
    struct part parts[PROGRAM_MAX_DEPTH + 2];
    if (region->bytes == 0 || buffer->alignment_bytes == 0 || in->kind == INSTRUCTION_SCALAR ||
        instruction_spreads(program->hw, in, region->role))
        return;
    int count = list_parts(program, nest, item, region, parts);
    for (int i = 0; i < count; i++) {
        if (parts[i].bytes % buffer->alignment_bytes == 0)
            continue;
        struct finding *finding = findings_add(findings, FINDING_ALIGNMENT, &in->line, 1);
        if (finding)
            alignment_witness(program, nest, item, region, &finding->witness);
        if (finding)
            snprintf(
                finding->text, sizeof finding->text,
                "%s of line %d starts where %s allows no start: %s, %lld bytes, is no multiple "
                "of %lld",
                role_name(region->role), in->line, buffer->name, parts[i].what,
                (long long)parts[i].bytes, (long long)buffer->alignment_bytes);
        return;
    }
}

/* Adds findings of capacity and alignment. */
static void places_check(const struct program *program, const struct nest *nest,
                         struct findings *findings)
{
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (nest->executed[item] == 0)
            continue;
        for (int32_t i = 0; i < in->region_count; i++) {
            const struct region *region = &program->regions[in->first_region + i];
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
    enum status status = execution_init(&execution, program, error);
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
