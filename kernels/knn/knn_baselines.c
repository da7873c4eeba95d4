/* What SelB-k-NN is compared with (Tang 2024, 3.5.1): bitonic k-selection and heaps.
 *
 * Bitonic k-selection: sort groups of K columns
 * (K the power of two at or above k), then halve the groups, keeping the smaller half of each pair,
 * until one is left.
 *
 * Distances lie transposed, a row of lanes for each column, so that every stage is one comparison
 * of all lanes and column pairs at once: 1 compare and 4 selects (both values, both indices) of
 * half of the columns. The network is the normalised one: the first stage of a merge pairs a column
 * with its mirror image in the block (one operand is read backwards), and so every comparison has
 * the same direction. That one instruction can reach all pairs of a stage is assumed in favour of
 * this baseline.
 *
 * A stage reads one bank and writes the other. Halving keeps no losers, so 2 selects in place do.
 * The carried results stand as one more group before those of each chunk, and its last halving
 * leaves them where the next chunk expects them.
 *
 * Heaps of k, one for each lane: scalar branches compare every distance with its lane's root. Where
 * any lane takes its distance all lanes re-heap, those that do not with their own root: level by
 * level S gathers the two children at each lane's position, V compares, S puts the larger entry
 * into the parent's place. S's addresses are computed: that is the heap's cost.
 *
 * In favour of this baseline, an entry is value and index in 4 bytes, a lane's heap is contiguous
 * and padded to a full tree with the smallest value, so that siblings are one aligned read of 8
 * bytes and no lane ever asks whether a child exists; scalar code over lanes is unrolled (no
 * branches), and V reads the gathered children as if they were four vectors. */
#include "kernels/knn/knn_emitter.h"

#include <math.h>

/* ---- bitonic --------------------------------------------------------------------------------- */

struct bitonic {
    struct knn_emitter w; /* first */
    int64_t keep;         /* K, columns of a group */
    int depth;            /* log2 K */
    int64_t group_bytes, groups, chunks;
    int64_t values[2], indices[2];
    int bank;
};

/* With `groups` groups a chunk: UB in w.bytes. */
static void reserve(struct bitonic *b, const struct knn_machine *machine,
                    const struct knn_tile *tile, int64_t groups)
{
    knn_start(&b->w, machine, tile);
    b->groups = groups;
    b->group_bytes = product_of(b->keep, b->w.row_bytes);
    int64_t data = product_of(sum_of(groups, 1), b->group_bytes);
    knn_reserve_scratch(&b->w, product_of(groups, product_of(b->keep, b->w.lanes)));
    for (int bank = 0; bank < (b->depth ? 2 : 1); bank++) {
        b->values[bank] = knn_reserve(&b->w, data);
        b->indices[bank] = knn_reserve(&b->w, data);
    }
}

/* As few chunks as fit, all of the same size; one group where nothing does. */
static void plan_bitonic(struct bitonic *b, const struct knn_machine *machine,
                         const struct knn_tile *tile)
{
    int64_t capacity = machine->hw->buffers[machine->ub].capacity_bytes;
    for (b->keep = 1, b->depth = 0; b->keep < tile->k && b->depth < 62; b->depth++)
        b->keep *= 2;
    int64_t groups = (tile->columns - 1) / b->keep + 1, low = 1, high = groups;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        reserve(b, machine, tile, middle);
        bool fits = b->w.bytes < INT64_MAX && (capacity == 0 || b->w.bytes <= capacity);
        low = fits ? middle : low;
        high = fits ? high : middle - 1;
    }
    b->chunks = (groups - 1) / low + 1;
    reserve(b, machine, tile, (groups - 1) / b->chunks + 1);
}

/* All pairs of columns `half` apart in blocks of 2·half, over whole groups. */
static void exchange_pairs(struct bitonic *b, int64_t first_group, int64_t groups, int64_t half)
{
    struct knn_emitter *w = &b->w;
    int64_t pairs = groups * b->keep / 2, at = first_group * b->group_bytes;
    struct knn_span span = {pairs * w->lanes, pairs / half, 2 * half * w->row_bytes};
    const int64_t *arrays[] = {b->values, b->indices};
    int to = !b->bank;
    struct region low = knn_at(w, b->values[b->bank] + at);
    struct region high = knn_at(w, low.offset_bytes + half * w->row_bytes);
    knn_compare_less(w, span, &low, &high);
    for (int a = 0; a < 2; a++) {
        struct region x = knn_at(w, arrays[a][b->bank] + at), first = knn_at(w, arrays[a][to] + at);
        struct region y = knn_at(w, x.offset_bytes + half * w->row_bytes);
        struct region second = knn_at(w, first.offset_bytes + half * w->row_bytes);
        knn_select(w, span, &first, &x, &y);
        knn_select(w, span, &second, &y, &x);
    }
    b->bank = to;
}

/* Sorts groups that are sorted in blocks of `block` already; a bitonic group is one such block. */
static void sort_groups(struct bitonic *b, int64_t first_group, int64_t groups, int64_t block)
{
    for (; block <= b->keep; block *= 2)
        for (int64_t half = block / 2; half > 0; half /= 2)
            exchange_pairs(b, first_group, groups, half);
}

/* Groups [half, half + pairs), each read backwards, against [0, pairs): the smaller of a pair,
 * together the smallest K of both groups, as a bitonic sequence. */
static void keep_smaller(struct bitonic *b, int64_t half, int64_t pairs, int to)
{
    struct knn_emitter *w = &b->w;
    struct knn_span span = {.elements = pairs * b->keep * w->lanes, .rows = 1};
    const int64_t *arrays[] = {b->values, b->indices};
    struct region first = knn_at(w, b->values[b->bank]);
    struct region second = knn_at(w, first.offset_bytes + half * b->group_bytes);
    knn_compare_less(w, span, &first, &second);
    for (int a = 0; a < 2; a++) {
        struct region x = knn_at(w, arrays[a][b->bank]), kept = knn_at(w, arrays[a][to]);
        struct region y = knn_at(w, x.offset_bytes + half * b->group_bytes);
        knn_select(w, span, &kept, &x, &y);
    }
    b->bank = to;
}

static int bank_after(int bank, int stages)
{
    return (bank + stages) % 2;
}

/* The bank in which sorted groups lie, and the carried results with them. */
static int home_bank(const struct bitonic *b)
{
    return b->depth * (b->depth + 1) / 2 % 2;
}

static void halve_groups(struct bitonic *b)
{
    for (int64_t groups = b->groups + 1; groups > 1; groups -= groups / 2) {
        int64_t half = groups - groups / 2;
        int to = groups == 2 && b->depth ? bank_after(home_bank(b), b->depth) : b->bank;
        keep_smaller(b, half, groups / 2, to);
        if (b->depth)
            sort_groups(b, 0, half, b->keep);
    }
}

/* The carried results, k rows of K; the rest is filled with 0x7bff. */
static void load_carried(struct bitonic *b)
{
    struct knn_emitter *w = &b->w;
    int64_t kept = w->tile->k * w->row_bytes;
    int64_t chunk = 2 * b->chunks * b->groups * b->group_bytes;
    struct region source = {.offset_bytes = chunk};
    struct region rest = knn_at(w, b->values[home_bank(b)] + kept);
    struct knn_span span = {(b->keep - w->tile->k) * w->lanes, 1, 0};
    knn_load(w, kept, &source, b->values[home_bank(b)]);
    source.offset_bytes += kept;
    knn_load(w, kept, &source, b->indices[home_bank(b)]);
    if (span.elements)
        knn_vector(w, w->machine->duplicate, DTYPE_F16, span, &rest, NULL, NULL);
}

/* Distances and their columns' numbers, which differ from chunk to chunk. */
static void load_chunk(struct bitonic *b)
{
    struct knn_emitter *w = &b->w;
    int64_t bytes = b->groups * b->group_bytes;
    struct region source = knn_at_in_loop(w, 0, bytes);
    knn_load(w, bytes, &source, b->values[0] + b->group_bytes);
    source.offset_bytes = b->chunks * bytes;
    knn_load(w, bytes, &source, b->indices[0] + b->group_bytes);
}

static void write_bitonic(struct bitonic *b)
{
    struct knn_emitter *w = &b->w;
    const struct knn_machine *m = w->machine;
    int64_t kept = w->tile->k * w->row_bytes;
    int64_t carried = 2 * b->chunks * b->groups * b->group_bytes;
    load_carried(b);
    knn_fill_constants(w, b->groups * b->keep * w->lanes);
    emit_set(&w->emit, m->vector, m->mte2, KNN_FLAG);
    emit_loop(&w->emit, "chunk", b->chunks);
    emit_wait(&w->emit, m->vector, m->mte2, KNN_FLAG);
    load_chunk(b);
    knn_sync(w, m->mte2, m->vector);
    b->bank = 0;
    sort_groups(b, 1, b->groups, 2);
    halve_groups(b);
    emit_set(&w->emit, m->vector, m->mte2, KNN_FLAG);
    emit_end(&w->emit);
    emit_wait(&w->emit, m->vector, m->mte2, KNN_FLAG);
    knn_sync(w, m->vector, m->mte3);
    knn_store(w, kept, b->values[home_bank(b)], carried);
    knn_store(w, kept, b->indices[home_bank(b)], carried + kept);
}

int64_t knn_bitonic_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct bitonic b = {.bank = 0};
    plan_bitonic(&b, machine, tile);
    return b.w.bytes;
}

enum status knn_bitonic_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                struct program *program, struct error *error)
{
    struct bitonic b = {.bank = 0};
    plan_bitonic(&b, machine, tile);
    TRY(knn_open(&b.w, program, error));
    write_bitonic(&b);
    return knn_close(&b.w);
}

/* ---- heaps ----------------------------------------------------------------------------------- */

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

static void plan_heap(struct heap *h, const struct knn_machine *machine,
                      const struct knn_tile *tile)
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

static struct knn_span heap_lanes(const struct heap *h)
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
        knn_select(&h->w, heap_lanes(h), &dst, &first, &second);
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
static void descend_level(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    struct region child = knn_at_in_loop(w, h->child, KNN_ELEMENT_BYTES);
    struct region which = knn_at_in_loop(w, h->right_larger, KNN_ELEMENT_BYTES);
    knn_assign(w, 0, &child, &which, &child);
}

/* The children of each lane's position, side by side for V. */
static void gather_children(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    emit_loop(&w->emit, "l", w->tile->rows);
    struct region heap = knn_at_in_loop(w, h->entries, h->lane_bytes);
    struct region siblings = knn_at_in_loop(w, h->siblings, SIBLING_BYTES);
    descend_level(h);
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
static void scatter_entries(struct heap *h, const int64_t entry[2])
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
static void sift_level(struct heap *h, const int64_t stored[2])
{
    struct knn_emitter *w = &h->w;
    const struct knn_machine *m = w->machine;
    int64_t left[2] = {h->siblings, h->siblings + w->row_bytes};
    int64_t right[2] = {left[1] + w->row_bytes, left[1] + 2 * w->row_bytes};
    struct region first = knn_at(w, left[0]), second = knn_at(w, right[0]);
    struct region moving = knn_at(w, h->moving[0]), larger = knn_at(w, h->larger[0]);
    int64_t yes = w->yes;
    gather_children(h);
    w->yes = h->right_larger;
    knn_compare_less(w, heap_lanes(h), &first, &second);
    select_entries(h, h->larger, right, left);
    w->yes = yes;
    knn_compare_less(w, heap_lanes(h), &moving, &larger);
    select_entries(h, stored, h->larger, h->moving);
    select_entries(h, h->moving, h->moving, h->larger);
    knn_sync(w, m->vector, m->scalar);
    emit_loop(&w->emit, "l", w->tile->rows);
    scatter_entries(h, stored);
    emit_end(&w->emit);
}

/* All lanes of a column that some lane takes. */
static void rebuild_heaps(struct heap *h)
{
    struct knn_emitter *w = &h->w;
    const struct knn_machine *m = w->machine;
    struct region child = knn_at(w, h->child), which = knn_at(w, h->right_larger);
    struct region column = knn_at_in_loop(w, h->distances, w->row_bytes);
    const int64_t *entry = h->depth ? h->moving : h->root; /* a heap of one is its root */
    struct region root = knn_at(w, h->root[0]), value = knn_at(w, entry[0]);
    struct region old_index = knn_at(w, h->root[1]), taken = knn_at(w, entry[1]);
    struct region index = knn_at(w, h->moving[1]);
    knn_compare_less(w, heap_lanes(h), &column, &root);
    knn_vector(w, m->duplicate, DTYPE_U16, heap_lanes(h), &child, NULL, NULL); /* 1 */
    knn_vector(w, m->duplicate, DTYPE_U16, heap_lanes(h), &which, NULL, NULL); /* 0 */
    knn_vector(w, m->duplicate, DTYPE_U16, heap_lanes(h), &index, NULL, NULL); /* this column */
    knn_select(w, heap_lanes(h), &value, &column, &root);
    knn_select(w, heap_lanes(h), &taken, &index, &old_index);
    knn_sync(w, m->vector, m->scalar);
    if (h->depth > 0)
        sift_level(h, h->root);
    if (h->depth > 1) {
        emit_loop(&w->emit, "level", h->depth - 1);
        sift_level(h, h->stored);
        emit_end(&w->emit);
    }
    emit_loop(&w->emit, "l", w->tile->rows);
    descend_level(h);
    scatter_entries(h, entry);
    emit_end(&w->emit);
}

static void write_heap(struct heap *h, int64_t rebuilds)
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
        rebuild_heaps(h);
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
    plan_heap(&h, machine, tile);
    return h.w.bytes;
}

enum status knn_heap_program(const struct knn_machine *machine, const struct knn_tile *tile,
                             int64_t rebuilds, struct program *program, struct error *error)
{
    struct heap h = {.depth = 0};
    plan_heap(&h, machine, tile);
    TRY(knn_open(&h.w, program, error));
    if (rebuilds < 0 || rebuilds > tile->columns)
        return error_set(error, STATUS_INVALID, "%lld columns re-heap, expected 0 to %lld",
                         (long long)rebuilds, (long long)tile->columns);
    write_heap(&h, rebuilds);
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
