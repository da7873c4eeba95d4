#include "analysis/advice/diff.h"

#include "core/program_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this many pairs of lines, all lines between the first and the last that differ do. */
#define MAX_PAIRS 16000000LL

/* A program's text, cut into lines; line i is instruction i. */
struct text {
    char *bytes;
    char **lines;
    int32_t count;
};

static void clear_text(struct text *text)
{
    free(text->bytes);
    free(text->lines);
}

static enum status print_text(const struct program *program, struct text *text, struct error *error)
{
    size_t size;
    *text = (struct text){.count = program->count};
    FILE *out = open_memstream(&text->bytes, &size);
    text->lines = calloc((size_t)program->count + 1, sizeof *text->lines);
    enum status status = out && text->lines ? program_print(program, out, error) : STATUS_OK;
    if (!out || !text->lines || fclose(out))
        return error_memory(error);
    char *next = text->bytes;
    for (int32_t i = 0; i < text->count && status == STATUS_OK; i++) {
        text->lines[i] = next;
        next = strchr(next, '\n');
        *next++ = 0;
    }
    return status;
}

/* Indentation is no difference. */
static bool same(const char *one, const char *other)
{
    return strcmp(one + strspn(one, " "), other + strspn(other, " ")) == 0;
}

struct pair {
    const struct program *program; /* before */
    struct text before, after;
    int32_t first;                /* lines that both begin with */
    int32_t old_count, new_count; /* lines between those and what both end with */
    uint16_t *common;             /* (old_count + 1) × (new_count + 1): lines in common from
                                     there on; NULL: not worth finding out */
    struct diff *diff;
    bool failed;
};

static void trim(struct pair *pair)
{
    int32_t olds = pair->before.count, news = pair->after.count,
            shorter = olds < news ? olds : news;
    while (pair->first < shorter &&
           same(pair->before.lines[pair->first], pair->after.lines[pair->first]))
        pair->first++;
    while (olds > pair->first && news > pair->first &&
           same(pair->before.lines[olds - 1], pair->after.lines[news - 1])) {
        olds--;
        news--;
    }
    pair->old_count = olds - pair->first;
    pair->new_count = news - pair->first;
}

static const char *old_line(const struct pair *pair, int32_t i)
{
    return pair->before.lines[pair->first + i];
}

static const char *new_line(const struct pair *pair, int32_t i)
{
    return pair->after.lines[pair->first + i];
}

static uint16_t *common_from(const struct pair *pair, int32_t i, int32_t j)
{
    return &pair->common[(size_t)i * (size_t)(pair->new_count + 1) + (size_t)j];
}

/* The longest common subsequence of every two ends, by its recurrence. */
static void find_common(struct pair *pair)
{
    int64_t pairs = (int64_t)(pair->old_count + 1) * (pair->new_count + 1);
    if (pairs > MAX_PAIRS || pair->old_count >= UINT16_MAX || pair->new_count >= UINT16_MAX)
        return;
    pair->common = calloc((size_t)pairs, sizeof *pair->common);
    for (int32_t i = pair->old_count - 1; pair->common && i >= 0; i--)
        for (int32_t j = pair->new_count - 1; j >= 0; j--) {
            uint16_t skip_old = *common_from(pair, i + 1, j);
            uint16_t skip_new = *common_from(pair, i, j + 1);
            uint16_t best = skip_old > skip_new ? skip_old : skip_new;
            if (same(old_line(pair, i), new_line(pair, j)))
                best = (uint16_t)(*common_from(pair, i + 1, j + 1) + 1);
            *common_from(pair, i, j) = best;
        }
}

static void add_change(struct pair *pair, int32_t at, bool begins, const char *before,
                       const char *after)
{
    struct diff *diff = pair->diff;
    struct diff_line *grown = realloc(diff->lines, (diff->count + 1) * sizeof *grown);
    if (!grown) {
        pair->failed = true;
        return;
    }
    diff->lines = grown;
    const struct program *program = pair->program;
    at += pair->first;
    int32_t line = at < program->count ? program->items[at].line
                   : program->count    ? program->items[program->count - 1].line + 1
                                       : 1;
    struct diff_line *added = &diff->lines[diff->count++];
    *added = (struct diff_line){line, begins, strdup(before), strdup(after)};
    pair->failed |= !added->before || !added->after;
}

/* Old lines [i, i_end) became new lines [j, j_end): side by side as far as both go. */
static void add_block(struct pair *pair, int32_t i, int32_t i_end, int32_t j, int32_t j_end)
{
    for (bool begins = true; i < i_end || j < j_end; begins = false) {
        const char *before = i < i_end ? old_line(pair, i) : "";
        const char *after = j < j_end ? new_line(pair, j) : "";
        add_change(pair, i, begins, before + strspn(before, " "), after + strspn(after, " "));
        i += i < i_end;
        j += j < j_end;
    }
}

static void add_changes(struct pair *pair)
{
    int32_t i = 0, j = 0;
    while (pair->common && i < pair->old_count && j < pair->new_count) {
        int32_t i_end = i, j_end = j;
        while (i_end < pair->old_count && j_end < pair->new_count &&
               !same(old_line(pair, i_end), new_line(pair, j_end))) {
            if (*common_from(pair, i_end + 1, j_end) > *common_from(pair, i_end, j_end + 1))
                i_end++;
            else
                j_end++;
        }
        if (i_end == pair->old_count || j_end == pair->new_count)
            break;
        add_block(pair, i, i_end, j, j_end);
        i = i_end + 1;
        j = j_end + 1;
    }
    add_block(pair, i, pair->old_count, j, pair->new_count);
}

enum status diff_programs(const struct program *before, const struct program *after,
                          struct diff *diff, struct error *error)
{
    struct pair pair = {.program = before, .diff = diff};
    *diff = (struct diff){0};
    enum status status = print_text(before, &pair.before, error);
    if (status == STATUS_OK)
        status = print_text(after, &pair.after, error);
    if (status == STATUS_OK) {
        trim(&pair);
        find_common(&pair);
        add_changes(&pair);
        status = pair.failed ? error_memory(error) : STATUS_OK;
    }
    clear_text(&pair.before);
    clear_text(&pair.after);
    free(pair.common);
    if (status != STATUS_OK)
        diff_clear(diff);
    return status;
}

void diff_clear(struct diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        free(diff->lines[i].before);
        free(diff->lines[i].after);
    }
    free(diff->lines);
    *diff = (struct diff){0};
}
