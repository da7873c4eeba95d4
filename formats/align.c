/* Things that both lists have equally often are matched by their order. Those among them that stand
 * in order in both, a longest increasing subsequence (Fredman 1975, by patience sorting), divide
 * the lists into stretches; things that one list has more often are then matched stretch by
 * stretch, and at last, whatever is left over, wherever it stands. */
#include "formats/align.h"

#include <stdlib.h>
#include <string.h>

/* Items of each thing as lists in order: next[i] is the item behind i of the same thing; -1. */
struct chains {
    int *first, *count; /* by thing */
    int *next;          /* by item */
};

struct work {
    const int *a, *b;
    int a_count, b_count, key_count;
    struct chains of_a, of_b;
    int *taken;             /* by item of a: the item of b that it is; -1 */
    int *a_place, *b_place; /* the stretch that an item is in */
    int *tails, *before;    /* of the subsequence, by length and by item of b */
    int *match;
    bool *moved;
};

static bool chains_make(const int *keys, int count, int key_count, struct chains *chains)
{
    chains->first = malloc((size_t)(key_count + 1) * sizeof *chains->first);
    chains->count = calloc((size_t)key_count + 1, sizeof *chains->count);
    chains->next = malloc((size_t)(count + 1) * sizeof *chains->next);
    if (!chains->first || !chains->count || !chains->next)
        return false;
    memset(chains->first, -1, (size_t)(key_count + 1) * sizeof *chains->first);
    for (int i = count - 1; i >= 0; i--)
        if (keys[i] >= 0) {
            chains->next[i] = chains->first[keys[i]];
            chains->first[keys[i]] = i;
            chains->count[keys[i]]++;
        }
    return true;
}

static void chains_free(struct chains *chains)
{
    free(chains->first);
    free(chains->count);
    free(chains->next);
}

static void take(struct work *w, int a, int b)
{
    w->match[b] = a;
    w->taken[a] = b;
}

static void match_equal_counts(struct work *w)
{
    for (int key = 0; key < w->key_count; key++) {
        int a = w->of_a.first[key], b = w->of_b.first[key];
        if (w->of_a.count[key] != w->of_b.count[key])
            continue;
        for (; a >= 0; a = w->of_a.next[a], b = w->of_b.next[b])
            take(w, a, b);
    }
}

/* The shortest subsequence so far that ends at `place` or behind it. */
static int length_before(const struct work *w, int length, int place)
{
    int low = 0;
    while (low < length) {
        int middle = low + (length - low) / 2;
        if (w->match[w->tails[middle]] < place)
            low = middle + 1;
        else
            length = middle;
    }
    return low;
}

/* All that is matched has moved, but for a longest subsequence in order. */
static void find_moved(struct work *w)
{
    int length = 0;
    for (int b = 0; b < w->b_count; b++) {
        w->moved[b] = w->match[b] >= 0;
        if (!w->moved[b])
            continue;
        int at = length_before(w, length, w->match[b]);
        w->before[b] = at ? w->tails[at - 1] : -1;
        w->tails[at] = b;
        length = at == length ? length + 1 : length;
    }
    for (int b = length ? w->tails[length - 1] : -1; b >= 0; b = w->before[b])
        w->moved[b] = false;
}

/* Items behind the same item in order are in one stretch, which has that item's number. */
static void find_stretches(struct work *w)
{
    int place = -1;
    for (int b = 0; b < w->b_count; b++) {
        if (w->match[b] >= 0 && !w->moved[b])
            place = w->match[b];
        w->b_place[b] = place;
    }
    place = -1;
    for (int a = 0; a < w->a_count; a++) {
        if (w->taken[a] >= 0 && !w->moved[w->taken[a]])
            place = a;
        w->a_place[a] = place;
    }
}

/* What is left of a thing, those in one stretch, or all the same. */
static void match_left(struct work *w, int key, bool stretches)
{
    int a = w->of_a.first[key], b = w->of_b.first[key];
    while (a >= 0 && b >= 0) {
        int difference = stretches ? w->a_place[a] - w->b_place[b] : 0;
        if (w->taken[a] >= 0 || (w->match[b] < 0 && difference < 0))
            a = w->of_a.next[a];
        else if (w->match[b] >= 0 || difference > 0)
            b = w->of_b.next[b];
        else {
            take(w, a, b);
            a = w->of_a.next[a];
            b = w->of_b.next[b];
        }
    }
}

static bool work_make(struct work *w)
{
    size_t a = (size_t)w->a_count + 1, b = (size_t)w->b_count + 1;
    w->taken = malloc(a * sizeof *w->taken);
    w->a_place = malloc(a * sizeof *w->a_place);
    w->b_place = malloc(b * sizeof *w->b_place);
    w->tails = malloc(b * sizeof *w->tails);
    w->before = malloc(b * sizeof *w->before);
    bool made = chains_make(w->a, w->a_count, w->key_count, &w->of_a);
    made = chains_make(w->b, w->b_count, w->key_count, &w->of_b) && made;
    if (!made || !w->taken || !w->a_place || !w->b_place || !w->tails || !w->before)
        return false;
    memset(w->taken, -1, a * sizeof *w->taken);
    for (int i = 0; i < w->b_count; i++)
        w->match[i] = -1;
    return true;
}

static void work_free(struct work *w)
{
    chains_free(&w->of_a);
    chains_free(&w->of_b);
    free(w->taken);
    free(w->a_place);
    free(w->b_place);
    free(w->tails);
    free(w->before);
}

enum status list_align(const int *a, int a_count, const int *b, int b_count, int key_count,
                       int *match, bool *moved, struct error *error)
{
    struct work w = {.a = a,
                     .b = b,
                     .a_count = a_count,
                     .b_count = b_count,
                     .key_count = key_count,
                     .match = match,
                     .moved = moved};
    bool made = work_make(&w);
    if (made) {
        match_equal_counts(&w);
        find_moved(&w);
        find_stretches(&w);
        for (int key = 0; key < key_count; key++)
            match_left(&w, key, true);
        for (int key = 0; key < key_count; key++)
            match_left(&w, key, false);
        find_moved(&w);
    }
    work_free(&w);
    return made ? STATUS_OK : error_memory(error);
}
