/* Bits by words; a part is runs of its last dimension. */
#include "kernels/text/legal/kernel_elements.h"

#include <stdlib.h>
#include <string.h>

struct touch {
    struct elements *elements;
    const struct element_part *part;
    enum element_act act;
    int64_t left; /* elements to go */
    int64_t most_work, *work;
    bool all;
};

bool elements_begin(struct elements *elements, int64_t count)
{
    size_t words = (size_t)(count / ELEMENTS_OF_WORD + 1);
    if (count <= elements->count) {
        memset(elements->words, 0, words * sizeof *elements->words);
        return true;
    }
    free(elements->words);
    elements->words = calloc(words, sizeof *elements->words);
    elements->count = elements->words ? count : 0;
    return elements->words != NULL;
}

static void touch_run(struct touch *t, int64_t from, int64_t count)
{
    for (int64_t at = from, end = from + count; at < end;) {
        int64_t first = at % ELEMENTS_OF_WORD, taken = ELEMENTS_OF_WORD - first;
        taken = end - at < taken ? end - at : taken;
        uint64_t *word = &t->elements->words[at / ELEMENTS_OF_WORD];
        uint64_t ones = taken == ELEMENTS_OF_WORD ? ~UINT64_C(0) : (UINT64_C(1) << taken) - 1;
        uint64_t mask = ones << first;
        uint64_t others = (t->act == ACT_IS_FREE ? *word : ~*word) & mask;
        if (others && t->all)
            t->elements->other = at - first + __builtin_ctzll(others);
        t->all &= !others;
        if (t->act == ACT_WRITE)
            *word |= mask;
        at += taken;
    }
    *t->work += 1 + count / ELEMENTS_OF_WORD;
}

static void touch_row(struct touch *t, int64_t base, int64_t count)
{
    int d = t->part->dims - 1;
    int64_t begin = t->part->begin[d], by = t->part->by[d], extent = t->part->extent[d];
    if (by == 1) {
        int64_t end = begin + count < extent ? begin + count : extent;
        begin = begin > 0 ? begin : 0;
        if (begin < end)
            touch_run(t, base + begin, end - begin);
        return;
    }
    for (int64_t i = 0; i < count && *t->work <= t->most_work; i++)
        if (begin + i * by >= 0 && begin + i * by < extent)
            touch_run(t, base + begin + i * by, 1);
}

/* `base`: elements before the slice in which the dimensions before d are. */
static void touch_dim(struct touch *t, int d, int64_t base, bool is_inside)
{
    const struct element_part *part = t->part;
    if (d == part->dims - 1) {
        int64_t count = part->count[d] < t->left ? part->count[d] : t->left;
        t->left -= count;
        if (is_inside)
            touch_row(t, base * part->extent[d], count);
        return;
    }
    for (int64_t i = 0; i < part->count[d] && t->left > 0 && *t->work <= t->most_work; i++) {
        ++*t->work;
        int64_t at = part->begin[d] + i * part->by[d];
        bool is_in = is_inside && at >= 0 && at < part->extent[d];
        touch_dim(t, d + 1, is_in ? base * part->extent[d] + at : 0, is_in);
    }
}

/* The same elements in fewer dimensions: rows that are taken whole, one after the other, are one
 * row. */
static struct element_part without_whole_rows(const struct element_part *part,
                                              int64_t numbers[4][ELEMENTS_MAX_DIMS])
{
    int last = part->dims - 1;
    int64_t row = 1;
    while (last > 0 && part->begin[last] == 0 && part->count[last] == part->extent[last] &&
           part->by[last] == 1 && part->by[last - 1] == 1)
        row *= part->extent[last--];
    for (int d = 0; d <= last; d++) {
        int64_t length = d < last ? 1 : row;
        numbers[0][d] = part->extent[d] * length;
        numbers[1][d] = part->begin[d] * length;
        numbers[2][d] = part->count[d] * length;
        numbers[3][d] = part->by[d];
    }
    return (struct element_part){numbers[0], numbers[1], numbers[2],
                                 numbers[3], last + 1,   part->most};
}

bool elements_touch(struct elements *elements, const struct element_part *part,
                    enum element_act act, int64_t most_work, int64_t *work)
{
    int64_t numbers[4][ELEMENTS_MAX_DIMS] = {{0}};
    const struct element_part rows = without_whole_rows(part, numbers);
    struct touch touch = {elements, &rows, act, rows.most, most_work, work, true};
    touch_dim(&touch, 0, 0, true);
    return touch.all;
}
