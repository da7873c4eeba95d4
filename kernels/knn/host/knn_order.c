/* Orders entries. In a heap the new entry sinks from the root (Williams 1964). Selecting and
 * sorting are by partition (Hoare 1961), about the median of three (Singleton 1969), in Lomuto's
 * form without branches; short pieces are sorted by insertion (Sedgewick 1978). */
#include "kernels/knn/host/knn_order.h"

/* Shorter pieces are sorted by insertion. */
enum { SHORT_PIECE = 16 };

void heap_replace(uint64_t *heap, int64_t n, uint64_t entry)
{
    int64_t at = 0;
    for (int64_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] > heap[child];
        if (heap[child] <= entry)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void sort_short(uint64_t *entries, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t entry = entries[i];
        int64_t at = i;
        for (; at > 0 && entries[at - 1] > entry; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t entry = *a;
    *a = *b;
    *b = entry;
}

/* Puts the entry at `pivot` where it belongs, smaller ones before it, and returns its place.
 * Without branches: a comparison of random entries is a coin toss. */
static int64_t partition(uint64_t *entries, int64_t n, int64_t pivot)
{
    int64_t less = 1;
    swap(&entries[0], &entries[pivot]);
    uint64_t limit = entries[0];
    for (int64_t i = 1; i < n; i++) {
        uint64_t entry = entries[i];
        entries[i] = entries[less];
        entries[less] = entry;
        less += entry < limit;
    }
    swap(&entries[0], &entries[less - 1]);
    return less - 1;
}

static int64_t median_of_three(const uint64_t *entries, int64_t a, int64_t b, int64_t c)
{
    if (entries[a] < entries[b]) {
        if (entries[b] < entries[c])
            return b;
        return entries[a] < entries[c] ? c : a;
    }
    if (entries[a] < entries[c])
        return a;
    return entries[b] < entries[c] ? c : b;
}

void entries_select(uint64_t *entries, int64_t n, int64_t k)
{
    while (n > SHORT_PIECE) {
        int64_t at = partition(entries, n, median_of_three(entries, 0, n / 2, n - 1));
        if (at == k - 1)
            return;
        if (at >= k) {
            n = at;
        } else {
            entries += at + 1;
            n -= at + 1;
            k -= at + 1;
        }
    }
    sort_short(entries, n);
}

void entries_sort(uint64_t *entries, int64_t n)
{
    while (n > SHORT_PIECE) {
        int64_t at = partition(entries, n, median_of_three(entries, 0, n / 2, n - 1));
        int64_t right = n - at - 1;
        if (at < right) { /* the shorter piece first: the depth is logarithmic */
            entries_sort(entries, at);
            entries += at + 1;
            n = right;
        } else {
            entries_sort(entries + at + 1, right);
            n = at;
        }
    }
    sort_short(entries, n);
}
