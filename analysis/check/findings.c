/* A hash table of (kind, sorted lines) keeps each finding once, behind a memory of the last
 * question, since a loop asks the same again and again. At the end they are sorted with causes
 * before what they bring about. */
#include "analysis/check/findings.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

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

static bool same(const struct finding *a, const struct finding *b)
{
    return a->kind == b->kind && a->line_count == b->line_count &&
           memcmp(a->lines, b->lines, sizeof a->lines) == 0;
}

static size_t place(const struct findings *findings, const struct finding *key)
{
    uint64_t hash = key->kind;
    for (int i = 0; i < FINDING_MAX_LINES; i++)
        hash = (hash ^ (uint32_t)key->lines[i]) * 0x9e3779b97f4a7c15u;
    size_t i = (hash >> 40) & (TABLE_SIZE - 1);
    while (findings->table[i] && !same(&findings->items[findings->table[i] - 1], key))
        i = (i + 1) & (TABLE_SIZE - 1);
    return i;
}

static bool reserve(struct findings *findings)
{
    if (!findings->table)
        findings->table = calloc(TABLE_SIZE, sizeof *findings->table);
    findings->no_memory |=
        !findings->table ||
        !array_room(&findings->items, (int64_t)findings->count, sizeof *findings->items);
    return !findings->no_memory;
}

/* Is it what was asked for last? Unsafe loops ask the same again and again. */
static bool repeats(struct findings *findings, enum finding_kind kind, const int32_t *lines,
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
    if (repeats(findings, kind, lines, line_count) || !reserve(findings))
        return NULL;
    struct finding key = {.kind = kind};
    sort_lines(&key, lines, line_count);
    size_t at = place(findings, &key);
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
static int compare(const void *a, const void *b)
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
        qsort(findings->items, findings->count, sizeof *findings->items, compare);
    *check = (struct check){findings->count, findings->items, findings->truncated};
    findings->items = NULL;
    return STATUS_OK;
}
