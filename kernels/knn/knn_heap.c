/* Heaps of k, one for each lane, what SelB-k-NN is compared with (Tang 2024, 3.5.1).
 *
 * Scalar branches compare every distance with its lane's root. Where any lane takes its distance
 * all lanes re-heap, those that do not with their own root: level by level S gathers the two
 * children at each lane's position, V compares, S puts the larger entry into the parent's place.
 * S's addresses are computed: that is the heap's cost.
 *
 * In favour of this baseline, an entry is value and index in 4 bytes, a lane's heap is contiguous
 * and padded to a full tree with the smallest value, so that siblings are one aligned read of 8
 * bytes and no lane ever asks whether a child exists; scalar code over lanes is unrolled (no
 * branches), and V reads the gathered children as if they were four vectors. */
#include "kernels/knn/knn_emitter.h"

#include <math.h>

enum { ENTRY_BYTES = 2 * KNN_ELEMENT_BYTES, SIBLING_BYTES = 2 * ENTRY_BYTES };

struct heap {
    struct knn_emitter w; /* first */
    int depth;            /* levels below the root */
    int64_t distances, entries, lane_bytes;
    int64_t child;                /* in the heap, a value a lane */
    int64_t root[2], moving[2];   /* value, index */
    int64_t larger[2], stored[2]; /* value, index */
    int64_t siblings, right_larger;
};

static void reserve_pair(struct heap *h, int64_t pair[2])
{
    for (int a = 0; a < 2; a++)
        pair[a] = knn_reserve(&h->w, h->w.row_bytes);
}

static void plan(struct heap *h, const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct knn_emitter *w = &h->w;
    knn_start(w, machine, tile);
    for (h->depth = 0, h->lane_bytes = 2L * ENTRY_BYTES; tile->k >> h->depth > 1; h->depth++)
        h->lane_bytes = product_of(h->lane_bytes, 2);
    h->distances = knn_reserve(w, product_of(tile->columns, w->row_bytes));
    h->entries = knn_reserve(w, product_of(tile->rows, h->lane_bytes));
    h->child = knn_reserve(w, w->row_bytes);
    h->siblings = knn_reserve(w, product_of(w->lanes, SIBLING_BYTES));
    h->right_larger = knn_reserve(w, w->row_bytes);
    reserve_pair(h, h->root);
    reserve_pair(h, h->moving);
    reserve_pair(h, h->larger);
    reserve_pair(h, h->stored);
    knn_reserve_scratch(w, w->lanes);
}

static struct knn_span lanes_of(const struct heap *h)
{
    return (struct knn_span){.elements = h->w.lanes, .rows = 1};
}

/* to = x where the comparison held, y elsewhere; values and indices. */
static void select_entries(struct heap *h, const int64_t to[2], const int64_t x[2],
                           const int64_t y[2])
{
    for (int a = 0; a < 2; a++) {
        struct region dst = knn_at(&h->w, to[a]), first = knn_at(&h->w, x[a]);
        struct region second = knn_at(&h->w, y[a]);
        knn_select(&h->w, lanes_of(h), &dst, &first, &second);
    }
}

/* Does any lane take its distance? A scalar branch a lane asks, on a distance and a root that both
 * lie in UB; all are asked where none does. */
static void check_column(struct heap *h, int64_t first)
{
    struct knn_emitter *w = &h->w;
    struct region column = knn_at_in_loop(w, h->distances + first * w->row_bytes, w->row_bytes);
    knn_branch(w); /* is there another column? */
    emit_loop(&w->emit, "l", w->tile->rows);
    struct region root = knn_at_in_loop(w, h->root[0], KNN_ELEMENT_BYTES);
    column.loop_stride_bytes[w->emit.depth - 1] = KNN_ELEMENT_BYTES;
    knn_branch_on(w, &column, &root);
    emit_end(&w->emit);
}

/* child = 2·(child + which one was larger): the first child of where each lane has come to, 2 for
 * children of the root. Its half is the position itself. */
static void descend(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    struct region child = knn_at_in_loop(w, h->child, KNN_ELEMENT_BYTES);
    struct region which = knn_at_in_loop(w, h->right_larger, KNN_ELEMENT_BYTES);
    knn_assign(w, 0, &child, &which, &child);
}

/* The children of each lane's position, side by side for V. */
static void gather(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    emit_loop(&w->emit, "l", w->tile->rows);
    struct region heap = knn_at_in_loop(w, h->entries, h->lane_bytes);
    struct region siblings = knn_at_in_loop(w, h->siblings, SIBLING_BYTES);
    descend(h);
    knn_assign(w, h->lane_bytes, &heap, NULL, NULL);
    /* its other end: a store with an address of its own reach, no operation more */
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_SCALAR,
                                         .what = (int16_t)w->machine->assign,
                                         .operand_bytes = SIBLING_BYTES});
    siblings.role = OPERAND_DST;
    emit_region(&w->emit, &siblings);
    emit_end(&w->emit);
}

/* Each lane's entry into the heap, at its position. */
static void scatter(struct heap *h, const int64_t entry[2])
{
    struct knn_emitter *w = &h->w;
    struct region heap = knn_at_in_loop(w, h->entries, h->lane_bytes);
    struct region value = knn_at_in_loop(w, entry[0], KNN_ELEMENT_BYTES);
    struct region index = knn_at_in_loop(w, entry[1], KNN_ELEMENT_BYTES);
    knn_assign(w, h->lane_bytes, NULL, NULL, &heap);
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_SCALAR,
                                         .what = (int16_t)w->machine->assign,
                                         .operand_bytes = KNN_ELEMENT_BYTES});
    value.role = OPERAND_SRC;
    index.role = OPERAND_SRC2;
    emit_region(&w->emit, &value);
    emit_region(&w->emit, &index);
}

/* One level down: the larger child, if it is larger than what moves, rises to `stored`; the other
 * one moves on. */
static void sift(struct heap *h, const int64_t stored[2])
{
    struct knn_emitter *w = &h->w;
    const struct knn_machine *m = w->machine;
    int64_t left[2] = {h->siblings, h->siblings + w->row_bytes};
    int64_t right[2] = {left[1] + w->row_bytes, left[1] + 2 * w->row_bytes};
    struct region first = knn_at(w, left[0]), second = knn_at(w, right[0]);
    struct region moving = knn_at(w, h->moving[0]), larger = knn_at(w, h->larger[0]);
    int64_t yes = w->yes;
    gather(h);
    w->yes = h->right_larger;
    knn_compare_less(w, lanes_of(h), &first, &second);
    select_entries(h, h->larger, right, left);
    w->yes = yes;
    knn_compare_less(w, lanes_of(h), &moving, &larger);
    select_entries(h, stored, h->larger, h->moving);
    select_entries(h, h->moving, h->moving, h->larger);
    knn_sync(w, m->vector, m->scalar);
    emit_loop(&w->emit, "l", w->tile->rows);
    scatter(h, stored);
    emit_end(&w->emit);
}

/* All lanes of a column that some lane takes. */
static void rebuild(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    const struct knn_machine *m = w->machine;
    struct region child = knn_at(w, h->child), which = knn_at(w, h->right_larger);
    struct region column = knn_at_in_loop(w, h->distances, w->row_bytes);
    const int64_t *entry = h->depth ? h->moving : h->root; /* a heap of one is its root */
    struct region root = knn_at(w, h->root[0]), value = knn_at(w, entry[0]);
    struct region old_index = knn_at(w, h->root[1]), taken = knn_at(w, entry[1]);
    struct region index = knn_at(w, h->moving[1]);
    knn_compare_less(w, lanes_of(h), &column, &root);
    knn_vector(w, m->duplicate, DTYPE_U16, lanes_of(h), &child, NULL, NULL); /* 1 */
    knn_vector(w, m->duplicate, DTYPE_U16, lanes_of(h), &which, NULL, NULL); /* 0 */
    knn_vector(w, m->duplicate, DTYPE_U16, lanes_of(h), &index, NULL, NULL); /* this column */
    knn_select(w, lanes_of(h), &value, &column, &root);
    knn_select(w, lanes_of(h), &taken, &index, &old_index);
    knn_sync(w, m->vector, m->scalar);
    if (h->depth > 0)
        sift(h, h->root);
    if (h->depth > 1) {
        emit_loop(&w->emit, "level", h->depth - 1);
        sift(h, h->stored);
        emit_end(&w->emit);
    }
    emit_loop(&w->emit, "l", w->tile->rows);
    descend(h);
    scatter(h, entry);
    emit_end(&w->emit);
}

static void write(struct heap *h, int64_t rebuilds)
{
    struct knn_emitter *w = &h->w;
    const struct knn_machine *m = w->machine;
    int64_t columns = w->tile->columns, heaps = columns * w->row_bytes; /* where they lie in gm */
    int64_t entries = w->tile->rows * h->lane_bytes;
    struct region source = {0};
    knn_load(w, heaps, &source, h->distances);
    source.offset_bytes = heaps;
    knn_load(w, entries, &source, h->entries);
    for (int a = 0; a < 2; a++) {
        source.offset_bytes = heaps + entries + a * w->row_bytes;
        knn_load(w, w->row_bytes, &source, h->root[a]);
    }
    knn_fill_constants(w, w->lanes);
    knn_sync(w, m->mte2, m->vector);
    knn_sync(w, m->mte2, m->scalar);
    if (rebuilds) {
        emit_loop(&w->emit, "c", rebuilds);
        check_column(h, 0);
        rebuild(h);
        emit_end(&w->emit);
    }
    if (rebuilds < columns) {
        emit_loop(&w->emit, "c", columns - rebuilds);
        check_column(h, rebuilds);
        emit_end(&w->emit);
    }
    /* no flag: S wrote last, and holds up what follows */
    knn_store(w, entries, h->entries, heaps);
}

int64_t knn_heap_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct heap h = {.depth = 0};
    plan(&h, machine, tile);
    return h.w.bytes;
}

enum status knn_heap_program(const struct knn_machine *machine, const struct knn_tile *tile,
                             int64_t rebuilds, struct program *program, struct error *error)
{
    struct heap h = {.depth = 0};
    plan(&h, machine, tile);
    TRY(knn_open(&h.w, program, error));
    if (rebuilds < 0 || rebuilds > tile->columns)
        return error_set(error, STATUS_INVALID, "%lld columns re-heap, expected 0 to %lld",
                         (long long)rebuilds, (long long)tile->columns);
    write(&h, rebuilds);
    return knn_close(&h.w);
}

/* Kahan's sum: the terms shrink as 1/i over millions of columns. */
double knn_heap_rebuilds(const struct knn_tile *tile, int64_t before)
{
    double sum = 0, lost = 0;
    for (int64_t c = 1; c <= tile->columns; c++) {
        double share = (double)tile->k / ((double)before + (double)c);
        double term = share >= 1 ? 1 : -expm1((double)tile->rows * log1p(-share));
        double next = term - lost, total = sum + next;
        lost = total - sum - next;
        sum = total;
    }
    return sum;
}
