/* The longest common subsequence of the printed lines, by the table of Wagner and Fischer (1974).
 * What both texts begin and end with is paired first, so that the table, whose cells are the
 * product of what is left, has most often few; where it would still be too large, lines are paired
 * by origin as long as they ascend. */
#include "analysis/advice/align.h"

#include "core/program_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS 16000000LL

enum status align_print(const struct program *program, struct align_text *text, struct error *error)
{
    size_t size;
    *text = (struct align_text){.count = program->count};
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

void align_text_clear(struct align_text *text)
{
    free(text->bytes);
    free(text->lines);
    *text = (struct align_text){0};
}

/* The lines of both texts between what both begin and what both end with. */
struct middle {
    char **before, **after;
    int32_t before_count, after_count;
    uint16_t *common; /* (before_count + 1) × (after_count + 1): lines in common from there on */
};

static bool same(const struct middle *middle, int32_t i, int32_t j)
{
    return strcmp(middle->before[i], middle->after[j]) == 0;
}

static uint16_t *common_from(const struct middle *middle, int32_t i, int32_t j)
{
    return &middle->common[(size_t)i * (size_t)(middle->after_count + 1) + (size_t)j];
}

/* The longest common subsequence of every two ends, by its recurrence. */
static void find_common(const struct middle *middle)
{
    for (int32_t i = middle->before_count - 1; i >= 0; i--)
        for (int32_t j = middle->after_count - 1; j >= 0; j--) {
            uint16_t skip_old = *common_from(middle, i + 1, j);
            uint16_t skip_new = *common_from(middle, i, j + 1);
            uint16_t best = skip_old > skip_new ? skip_old : skip_new;
            if (same(middle, i, j))
                best = (uint16_t)(*common_from(middle, i + 1, j + 1) + 1);
            *common_from(middle, i, j) = best;
        }
}

/* Old line 0 of the middle is line `first` of its text. */
static void pair_lines(const struct middle *middle, int32_t first, int32_t *partners)
{
    for (int32_t i = 0, j = 0; i < middle->before_count && j < middle->after_count;) {
        if (same(middle, i, j))
            partners[j++] = first + i++;
        else if (*common_from(middle, i + 1, j) > *common_from(middle, i, j + 1))
            i++;
        else
            j++;
    }
}

static bool is_small(const struct middle *middle)
{
    int64_t pairs = (int64_t)(middle->before_count + 1) * (middle->after_count + 1);
    return pairs <= MAX_PAIRS && middle->before_count < UINT16_MAX &&
           middle->after_count < UINT16_MAX;
}

/* Each line with what it was made of, as long as both ascend. */
static void pair_origins(const struct middle *middle, int32_t first, const int32_t *origins,
                         int32_t *partners)
{
    for (int32_t j = 0, next = 0; j < middle->after_count; j++) {
        int32_t i = origins[j] - first;
        if (i < next || i >= middle->before_count || !same(middle, i, j))
            continue;
        partners[j] = origins[j];
        next = i + 1;
    }
}

static enum status pair_most(struct middle *middle, int32_t first, int32_t *partners,
                             struct error *error)
{
    size_t rows = (size_t)middle->before_count + 1, columns = (size_t)middle->after_count + 1;
    middle->common = calloc(rows * columns, sizeof *middle->common);
    if (!middle->common)
        return error_memory(error);
    find_common(middle);
    pair_lines(middle, first, partners);
    free(middle->common);
    return STATUS_OK;
}

enum status align(const struct align_text *before, const struct align_text *after,
                  const int32_t *origins, int32_t *partners, struct error *error)
{
    int32_t olds = before->count, news = after->count, first = 0;
    for (int32_t j = 0; j < news; j++)
        partners[j] = -1;
    for (; first < olds && first < news && strcmp(before->lines[first], after->lines[first]) == 0;
         first++)
        partners[first] = first;
    for (; olds > first && news > first &&
           strcmp(before->lines[olds - 1], after->lines[news - 1]) == 0;
         olds--, news--)
        partners[news - 1] = olds - 1;
    struct middle middle = {before->lines + first, after->lines + first, olds - first, news - first,
                            NULL};
    if (is_small(&middle))
        return pair_most(&middle, first, partners + first, error);
    pair_origins(&middle, first, origins + first, partners + first);
    return STATUS_OK;
}
