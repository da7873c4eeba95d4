/* Algorithm 4 of Tang 2024 as a program for one core. A reduction goes level by level, since one
 * repeat of the vector unit yields one value.
 *
 * UB holds the distances row by row, and K and I twice, in two banks: a step reads one bank and
 * leaves its results in the other. In the bitonic 1-selection every row but the first loses exactly
 * once and moves to the other bank then; the last winner follows. So no select overwrites what the
 * next one still reads, and nothing is copied.
 *
 * S blocks dispatch: what V reads from S needs no flag, what S reads from V does. A scalar
 * operation is charged for each test (branch) and each move or computation of one value (assign),
 * with its address. Indices count from the tile's first column. */
#include "kernels/knn/knn_emitter.h"

/* reduceMin over a vector, again and again until one value is left. Each level leaves a value for
 * each repeat and, on hardware with indices, its index inside the repeat beside it. */
enum { MAX_LEVELS = 20 };
struct levels {
    int count;
    int64_t elements[MAX_LEVELS]; /* that the level reads */
    int64_t at[MAX_LEVELS];       /* what it leaves: 4 bytes a repeat */
};

static void reserve_levels(struct knn_emitter *w, int64_t elements, struct levels *levels)
{
    int64_t per_repeat = w->machine->hw->vector_repeat_bytes / KNN_ELEMENT_BYTES;
    levels->count = 0;
    do {
        int64_t repeats = elements / per_repeat + (elements % per_repeat != 0);
        levels->elements[levels->count] = elements;
        levels->at[levels->count++] = knn_reserve(w, product_of(repeats, 2L * KNN_ELEMENT_BYTES));
        elements = repeats;
    } while (elements > 1 && levels->count < MAX_LEVELS);
}

static void reduce(struct knn_emitter *w, int operation, enum dtype type,
                   const struct levels *levels, const struct region *src)
{
    struct region from = *src;
    for (int level = 0; level < levels->count; level++) {
        struct region to = knn_at(w, levels->at[level]);
        struct knn_span span = {.elements = levels->elements[level], .rows = 1};
        knn_vector(w, operation, type, span, &to, &from, NULL);
        from = to;
    }
}

/* FP16 reads indices from 0x7c01 on as NaN (Alg. 6). */
struct selection {
    struct knn_emitter w; /* first */
    int64_t steps;
    int64_t pitch;                 /* bytes of a row of distances */
    int64_t distances, k[2], i[2]; /* banks */
    int64_t least, where;          /* res_min and idx_min, a value a lane */
    int64_t mask, ones;
    int64_t index_map, none, found; /* Alg. 6: 0 … n-1; 0xfc00; idxArray, before that vArray */
    int64_t compared;               /* elements of the longest comparison */
    struct levels row, lane;        /* reductions over a row, and over the mask */
};

static void plan_selection(struct selection *s, const struct knn_machine *machine,
                           const struct knn_tile *tile)
{
    struct knn_emitter *w = &s->w;
    knn_start(w, machine, tile);
    s->pitch = knn_row_bytes(tile->columns);
    s->distances = knn_reserve(w, product_of(tile->rows, s->pitch));
    for (int bank = 0; bank < (tile->k > 1 ? 2 : 1); bank++) {
        s->k[bank] = knn_reserve(w, product_of(tile->k, w->row_bytes));
        s->i[bank] = knn_reserve(w, product_of(tile->k, w->row_bytes));
    }
    s->least = knn_reserve(w, w->row_bytes);
    s->where = knn_reserve(w, w->row_bytes);
    s->mask = knn_reserve(w, w->row_bytes);
    s->ones = knn_reserve(w, w->row_bytes);
    s->compared = product_of(tile->k > 3 ? tile->k / 2 : 1, w->lanes);
    if (tile->index == KNN_INDEX_VECTOR) {
        s->index_map = knn_reserve(w, s->pitch);
        s->none = knn_reserve(w, s->pitch);
        s->found = knn_reserve(w, s->pitch);
        s->compared = tile->columns > s->compared ? tile->columns : s->compared;
    }
    knn_reserve_scratch(w, s->compared);
    reserve_levels(w, tile->columns, &s->row);
    reserve_levels(w, tile->rows, &s->lane);
}

static struct knn_span lanes_of(const struct selection *s)
{
    return (struct knn_span){.elements = s->w.lanes, .rows = 1};
}

static void load_tile(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    int64_t distances = w->tile->rows * s->pitch, results = w->tile->k * w->row_bytes;
    struct region source = {0};
    knn_load(w, distances, &source, s->distances);
    source.offset_bytes = distances;
    knn_load(w, results, &source, s->k[0]);
    source.offset_bytes += results;
    knn_load(w, results, &source, s->i[0]);
    source.offset_bytes += results;
    if (w->tile->index == KNN_INDEX_VECTOR)
        knn_load(w, s->pitch, &source, s->index_map);
}

static void write_constants(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    int duplicate = w->machine->duplicate;
    struct region mask = knn_at(w, s->mask), ones = knn_at(w, s->ones), none = knn_at(w, s->none);
    struct knn_span row = {.elements = w->tile->columns, .rows = 1};
    knn_vector(w, duplicate, DTYPE_F16, lanes_of(s), &mask, NULL, NULL);
    knn_vector(w, duplicate, DTYPE_F16, lanes_of(s), &ones, NULL, NULL);
    knn_fill_constants(w, s->compared);
    if (w->tile->index == KNN_INDEX_VECTOR)
        knn_vector(w, duplicate, DTYPE_U16, row, &none, NULL, NULL);
    knn_sync(w, w->machine->mte2, w->machine->vector);
    knn_sync(w, w->machine->vector, w->machine->scalar);
}

/* The tests of one row: is there another one, and is it masked? */
static void test_row(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    struct region mask = knn_at_in_loop(w, s->mask, KNN_ELEMENT_BYTES);
    knn_branch(w);
    knn_branch_on(w, &mask, NULL);
}

/* The hardware's index of a minimum: which repeat won the last reduction, which one inside it the
 * one before, and so on. */
static void combine_indices(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct levels *row = &s->row;
    for (int level = row->count - 1; level >= 0; level--) {
        bool last = level == row->count - 1;
        int64_t repeats = last ? 1 : row->elements[level + 1];
        struct region left = knn_at(w, row->at[level]);
        /* the index inside the winning repeat; beyond the last level at a computed address */
        knn_assign(w, 2L * KNN_ELEMENT_BYTES * repeats, &left, NULL, NULL);
        if (!last) /* index = index · 128 + what was read */
            knn_assign(w, 0, NULL, NULL, NULL);
    }
}

/* Alg. 6: the largest index of those whose value is the minimum. */
static void search_index(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct knn_span span = {.elements = w->tile->columns, .rows = 1};
    struct region found = knn_at(w, s->found), map = knn_at(w, s->index_map);
    struct region none = knn_at(w, s->none);
    struct region row = knn_at_in_loop(w, s->distances, s->pitch);
    knn_vector(w, m->duplicate, DTYPE_F16, span, &found, NULL, NULL);
    knn_compare_equal(w, span, &found, &row);
    knn_select(w, span, &found, &map, &none);
    reduce(w, m->reduce_max, DTYPE_F16, &s->row, &found);
    knn_sync(w, m->vector, m->scalar);
}

/* Alg. 4, lines 4 to 7, for one row. */
static void take_minimum(struct selection *s)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct region row = knn_at_in_loop(w, s->distances, s->pitch);
    struct region least = knn_at_in_loop(w, s->least, KNN_ELEMENT_BYTES);
    struct region where = knn_at_in_loop(w, s->where, KNN_ELEMENT_BYTES);
    struct region result = knn_at(w, s->row.at[s->row.count - 1]);
    test_row(s);
    reduce(w, m->reduce_min, DTYPE_F16, &s->row, &row);
    knn_sync(w, m->vector, m->scalar);
    /* res_min[l] = the minimum, which vecDup takes from here as well */
    knn_assign(w, 0, &result, NULL, &least);
    if (w->tile->index == KNN_INDEX_VECTOR) {
        search_index(s);
        knn_assign(w, 0, &result, NULL, &where); /* idx_min[l] = what reduceMax found */
    } else {
        combine_indices(s);
        knn_assign(w, 0, NULL, NULL, &where); /* idx_min[l] = index */
    }
    /* D[l][index] = 0x7bff */
    knn_assign(w, w->tile->columns * KNN_ELEMENT_BYTES, NULL, NULL, &row);
}

/* Alg. 4, lines 3 to 11. */
static void test_step(struct selection *s, int bank)
{
    struct knn_emitter *w = &s->w;
    const struct knn_machine *m = w->machine;
    struct region least = knn_at(w, s->least), largest = knn_at(w, s->k[bank]);
    struct region mask = knn_at(w, s->mask), ones = knn_at(w, s->ones);
    struct region result = knn_at(w, s->lane.at[s->lane.count - 1]);
    emit_loop(&w->emit, "l", w->tile->rows);
    take_minimum(s);
    emit_end(&w->emit);
    knn_compare_less(w, lanes_of(s), &least, &largest);
    knn_select(w, lanes_of(s), &mask, &mask, &ones);
    reduce(w, m->reduce_min, DTYPE_F16, &s->lane, &mask);
    knn_sync(w, m->vector, m->scalar);
    knn_branch_on(w, &result, NULL);
}

/* One halving of the bitonic 1-selection: rows [0, pairs) against rows [half, half + pairs); the
 * larger goes on, the smaller one's place is final. */
static void keep_larger(struct selection *s, int bank, int64_t half, int64_t pairs)
{
    struct knn_emitter *w = &s->w;
    struct knn_span span = {.elements = pairs * w->lanes, .rows = 1};
    const int64_t *arrays[] = {s->k, s->i};
    int64_t below = half * w->row_bytes;
    int winners = half == 1 ? !bank : bank;
    struct region first = knn_at(w, s->k[bank]), second = knn_at(w, s->k[bank] + below);
    knn_compare_less(w, span, &first, &second);
    for (int a = 0; a < 2; a++) {
        struct region top = knn_at(w, arrays[a][bank]), low = knn_at(w, arrays[a][bank] + below);
        struct region loser = knn_at(w, arrays[a][!bank] + below);
        struct region winner = knn_at(w, arrays[a][winners]);
        knn_select(w, span, &loser, &top, &low);
        knn_select(w, span, &winner, &low, &top);
    }
}

/* Alg. 4, lines 13 to 15, and the test of the loop over steps. */
static void update(struct selection *s, int bank)
{
    struct knn_emitter *w = &s->w;
    struct region least = knn_at(w, s->least), largest = knn_at(w, s->k[bank]);
    struct region where = knn_at(w, s->where), index = knn_at(w, s->i[bank]);
    knn_select(w, lanes_of(s), &largest, &least, &largest);
    knn_select(w, lanes_of(s), &index, &where, &index);
    for (int64_t size = w->tile->k; size > 1; size -= size / 2)
        keep_larger(s, bank, size - size / 2, size / 2);
    knn_branch(w);
}

static void step(struct selection *s, int bank)
{
    test_step(s, bank);
    update(s, bank);
}

/* Steps in pairs, so that each begins in the first bank again. */
static void run_steps(struct selection *s)
{
    if (s->steps > 1) {
        emit_loop(&s->w.emit, "pair", s->steps / 2);
        step(s, 0);
        step(s, 1);
        emit_end(&s->w.emit);
    }
    if (s->steps % 2)
        step(s, 0);
}

/* With every row masked: the tests, and nothing else. */
static void run_masked(struct selection *s, int64_t count)
{
    if (count == 0)
        return;
    emit_loop(&s->w.emit, "masked", count);
    emit_loop(&s->w.emit, "l", s->w.tile->rows);
    test_row(s);
    emit_end(&s->w.emit);
    knn_branch(&s->w);
    emit_end(&s->w.emit);
}

/* S waits for V in every test, and what is dispatched after S waits for S: only an update that no
 * test follows needs a flag. */
static void store_results(struct selection *s, int bank, bool updated_last)
{
    struct knn_emitter *w = &s->w;
    int64_t distances = w->tile->rows * s->pitch, results = w->tile->k * w->row_bytes;
    if (updated_last)
        knn_sync(w, w->machine->vector, w->machine->mte3);
    knn_store(w, results, s->k[bank], distances);
    knn_store(w, results, s->i[bank], distances + results);
}

int64_t knn_selection_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile)
{
    struct selection s = {.steps = 0};
    plan_selection(&s, machine, tile);
    return s.w.bytes;
}

static enum status check(const struct knn_tile *tile, int64_t steps, struct error *error)
{
    if (steps < 0 || steps > tile->k)
        return error_set(error, STATUS_INVALID, "%lld steps of a selection, expected 0 to k = %lld",
                         (long long)steps, (long long)tile->k);
    if (tile->index == KNN_INDEX_VECTOR && tile->columns > KNN_MAX_VECTOR_INDEX)
        return error_set(error, STATUS_INVALID,
                         "%lld columns, but vector instructions find at most %d indices in f16",
                         (long long)tile->columns, KNN_MAX_VECTOR_INDEX);
    return STATUS_OK;
}

enum status knn_selection_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                  int64_t steps, bool failing, struct program *program,
                                  struct error *error)
{
    struct selection s = {.steps = steps};
    plan_selection(&s, machine, tile);
    TRY(knn_open(&s.w, program, error));
    TRY(check(tile, steps, error));
    int bank = tile->k > 1 ? (int)(steps % 2) : 0;
    failing = failing && steps < tile->k;
    load_tile(&s);
    write_constants(&s);
    run_steps(&s);
    if (failing)
        test_step(&s, bank);
    if (tile->loop == KNN_LOOP_FULL) {
        if (failing)
            knn_branch(&s.w);
        run_masked(&s, tile->k - steps - failing);
    }
    store_results(&s, bank, steps > 0 && !failing);
    return knn_close(&s.w);
}
