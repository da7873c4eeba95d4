/* Bitonic k-selection, what SelB-k-NN is compared with (Tang 2024, 3.5.1): sort groups of K columns
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
 * leaves them where the next chunk expects them. */
#include "kernels/knn/knn_emitter.h"

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
static void plan(struct bitonic *b, const struct knn_machine *machine, const struct knn_tile *tile)
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
static void exchange(struct bitonic *b, int64_t first_group, int64_t groups, int64_t half)
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
static void sort(struct bitonic *b, int64_t first_group, int64_t groups, int64_t block)
{
    for (; block <= b->keep; block *= 2)
        for (int64_t half = block / 2; half > 0; half /= 2)
            exchange(b, first_group, groups, half);
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
static int home(const struct bitonic *b)
{
    return b->depth * (b->depth + 1) / 2 % 2;
}

static void halve(struct bitonic *b)
{
    for (int64_t groups = b->groups + 1; groups > 1; groups -= groups / 2) {
        int64_t half = groups - groups / 2;
        int to = groups == 2 && b->depth ? bank_after(home(b), b->depth) : b->bank;
        keep_smaller(b, half, groups / 2, to);
        if (b->depth)
            sort(b, 0, half, b->keep);
    }
}

/* The carried results, k rows of K; the rest is filled with 0x7bff. */
static void load_carried(struct bitonic *b)
{
    struct knn_emitter *w = &b->w;
    int64_t kept = w->tile->k * w->row_bytes;
    int64_t chunk = 2 * b->chunks * b->groups * b->group_bytes;
    struct region source = {.offset_bytes = chunk};
    struct region rest = knn_at(w, b->values[home(b)] + kept);
    struct knn_span span = {(b->keep - w->tile->k) * w->lanes, 1, 0};
    knn_load(w, kept, &source, b->values[home(b)]);
    source.offset_bytes += kept;
    knn_load(w, kept, &source, b->indices[home(b)]);
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

static void write(struct bitonic *b)
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
    sort(b, 1, b->groups, 2);
    halve(b);
    emit_set(&w->emit, m->vector, m->mte2, KNN_FLAG);
    emit_end(&w->emit);
    emit_wait(&w->emit, m->vector, m->mte2, KNN_FLAG);
    knn_sync(w, m->vector, m->mte3);
    knn_store(w, kept, b->values[home(b)], carried);
    knn_store(w, kept, b->indices[home(b)], carried + kept);
}

int64_t knn_bitonic_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct bitonic b = {.bank = 0};
    plan(&b, machine, tile);
    return b.w.bytes;
}

enum status knn_bitonic_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                struct program *program, struct error *error)
{
    struct bitonic b = {.bank = 0};
    plan(&b, machine, tile);
    TRY(knn_open(&b.w, program, error));
    write(&b);
    return knn_close(&b.w);
}
