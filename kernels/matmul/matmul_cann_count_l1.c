/* How many pairs of parts, one of A and one of B, L1 may hold: each is whole along k, of several L0
 * tiles or blocks, or one L0 tile's chunk of k; they fit together, and chunks divide. */
#include "core/least.h"
#include "kernels/matmul/matmul_cann_count.h"

/* All of a core's k, in tiles of the library's where parts have them. */
static int64_t laid_k(const struct counter *c)
{
    int64_t k = c->facts.k, tile = c->cann->parts_tile[CANN_K];
    return tile ? cann_laid_out(c->cann, c->facts.parts, CANN_K, k, least_of(k, tile)) : k;
}

/* Are so many copies more than one of the operand's parts open, or given? */
static bool may_have(const struct counter *c, bool of_a, int copies)
{
    int axis = of_a ? CANN_L1A_BUFFERS : CANN_L1B_BUFFERS;
    return c->fixed <= axis || c->tiling.value[axis] == copies + 1;
}

static void add_part(const struct counter *c, bool of_a, struct parts *parts, int64_t elements,
                     bool turns)
{
    for (int copies = 0; copies <= (turns ? 1 : 0); copies++)
        if (may_have(c, of_a, copies) && (copies + 1) * elements <= c->room.l1)
            parts->elements[copies][parts->count[copies]++] = (copies + 1) * elements;
}

/* One operand's axes. */
struct side {
    int step_k, step, step_batch;
    enum cann_direction direction;
    int64_t size, base, tiles, batch_blocks;
    bool one;
};

static struct side side_of(const struct counter *c, bool of_a)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    if (of_a)
        return (struct side){CANN_STEP_KA,   CANN_STEP_M, CANN_STEP_BATCH_A, CANN_M, f->m,
                             v[CANN_BASE_M], f->m_tiles,  f->batch_blocks,   false};
    return (struct side){
        CANN_STEP_KB, CANN_STEP_N,    CANN_STEP_BATCH_B, CANN_N,
        f->n,         v[CANN_BASE_N], f->n_tiles,        f->one_b ? 1 : f->batch_blocks,
        f->one_b};
}

/* Can an open or given step be 1? */
static bool may_be_one(const struct counter *c, int axis)
{
    return c->fixed <= axis || c->tiling.value[axis] == 1;
}

/* The same of the blocks of a batch. */
static int64_t next_batch(const struct counter *c, int axis, int64_t blocks, int64_t value)
{
    if (c->fixed <= axis)
        return cann_next_batch_step(c->cann, blocks, value);
    int64_t given = c->tiling.value[axis];
    return value == 0 && cann_is_batch_step(c->cann, blocks, given) ? given : 0;
}

/* Parts that are whole along k. */
static void list_whole(const struct counter *c, bool of_a, bool several, struct parts *parts)
{
    const struct cann_facts *f = &c->facts;
    struct side s = side_of(c, of_a);
    int64_t k = laid_k(c);
    parts->count[0] = parts->count[1] = 0;
    if (s.base * k > c->room.l1)
        return;
    for (int64_t step = 0; (step = cann_next_value(c, s.step, s.tiles, 1, step));) {
        int64_t size = least_of(step * s.base, s.size);
        int64_t elements = k * cann_laid_out(c->cann, f->parts, s.direction, size, s.base);
        if (elements > c->room.l1)
            return;
        if (several && (step == 1 || step >= s.tiles))
            continue;
        if (size < s.size) {
            if (may_be_one(c, s.step_batch))
                add_part(c, of_a, parts, elements, true);
            continue;
        }
        for (int64_t batch = 0; (batch = next_batch(c, s.step_batch, s.batch_blocks, batch));) {
            if (batch * elements > c->room.l1)
                break;
            add_part(c, of_a, parts, batch * elements, !s.one && batch < f->blocks);
        }
    }
}

/* Pairs of ascending numbers a[i]·a_unit + b[j]·b_unit <= room. */
static int64_t count_pairs(const int64_t a[], int a_count, int64_t a_unit, const int64_t b[],
                           int b_count, int64_t b_unit, int64_t room)
{
    int64_t count = 0;
    int j = b_count;
    for (int i = 0; i < a_count && j > 0; i++) {
        while (j > 0 && a[i] * a_unit + b[j - 1] * b_unit > room)
            j--;
        count += j;
    }
    return count;
}

static int64_t list_pairs(struct counter *c, bool several)
{
    int64_t count = 0;
    list_whole(c, true, several, c->whole_a);
    list_whole(c, false, several, c->whole_b);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            count += count_pairs(c->whole_a->elements[a], c->whole_a->count[a], 1,
                                 c->whole_b->elements[b], c->whole_b->count[b], 1, c->room.l1);
    return count;
}

void cann_list_whole_pairs(struct counter *c)
{
    c->several_pairs = list_pairs(c, true);
    c->whole_pairs = list_pairs(c, false);
}

/* The ways [first, last) to cut k for one operand that are open, or the given one. */
static void find_ways(const struct counter *c, bool of_a, int *first, int *last)
{
    struct side s = side_of(c, of_a);
    *first = 0;
    *last = may_be_one(c, s.step) && may_be_one(c, s.step_batch) ? c->chunks->count : 0;
    if (c->fixed <= s.step_k || *last == 0)
        return;
    int64_t k = c->tiling.value[s.step_k] * c->tiling.value[CANN_BASE_K];
    while (*first < *last && c->chunks->k[*first] != k)
        ++*first;
    *last = *first < *last ? *first + 1 : *first;
}

static bool may_be_whole(const struct counter *c, int step_k)
{
    return c->fixed <= step_k || c->tiling.value[step_k] == c->facts.k_tiles;
}

/* Both cut along k, into numbers of chunks that divide. */
static int64_t count_cut_pairs(const struct counter *c, const int a[2], const int b[2],
                               int64_t a_copies, int64_t b_copies)
{
    const struct cann_chunks *chunks = c->chunks;
    int64_t a_unit = a_copies * cann_laid_tile(c, CANN_M, c->tiling.value[CANN_BASE_M]), count = 0;
    int64_t b_unit = b_copies * cann_laid_tile(c, CANN_N, c->tiling.value[CANN_BASE_N]);
    int j = b[1];
    for (int i = a[0]; i < a[1] && j > b[0]; i++) {
        const int *dividing = &chunks->dividing[(ptrdiff_t)i * (chunks->count + 1)];
        while (j > b[0] && chunks->k[i] * a_unit + chunks->k[j - 1] * b_unit > c->room.l1)
            j--;
        count += dividing[j] - dividing[b[0]];
    }
    return count;
}

static int64_t count_all_cut_pairs(const struct counter *c, const int a[2], const int b[2])
{
    int64_t count = 0;
    for (int copies = 0; copies < 2; copies++)
        for (int other = 0; other < 2; other++)
            if (may_have(c, true, copies) && may_have(c, false, other))
                count += count_cut_pairs(c, a, b, copies + 1, other + 1);
    return count;
}

/* The same where all is open, looked up: it does not depend on the block. */
static int64_t look_up_cut_pairs(const struct counter *c, const int a[2], const int b[2])
{
    ptrdiff_t entry = (ptrdiff_t)c->at_m * c->cann->count[CANN_BASE_N] + c->at_n;
    int64_t *known = &c->chunks->cut_pairs[entry];
    int64_t count = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (count == 0) {
        count = 1 + count_all_cut_pairs(c, a, b);
        __atomic_store_n(known, count, __ATOMIC_RELAXED);
    }
    return count - 1;
}

int64_t cann_count_l1(const struct counter *c)
{
    const int64_t *k = c->chunks->k, room = c->room.l1;
    int64_t m = cann_laid_tile(c, CANN_M, c->tiling.value[CANN_BASE_M]);
    int64_t n = cann_laid_tile(c, CANN_N, c->tiling.value[CANN_BASE_N]);
    bool whole_a = may_be_whole(c, CANN_STEP_KA), whole_b = may_be_whole(c, CANN_STEP_KB);
    int64_t count = whole_a && whole_b ? c->whole_pairs : 0;
    int a[2], b[2];
    find_ways(c, true, &a[0], &a[1]);
    find_ways(c, false, &b[0], &b[1]);
    count += (c->fixed <= CANN_STEP_KA ? look_up_cut_pairs : count_all_cut_pairs)(c, a, b);
    for (int copies = 0; copies < 2; copies++)
        for (int other = 0; other < 2; other++) {
            bool a_may = may_have(c, true, copies), b_may = may_have(c, false, other);
            if (whole_a && b_may)
                count += count_pairs(c->whole_a->elements[copies], c->whole_a->count[copies], 1,
                                     k + b[0], b[1] - b[0], n * (other + 1), room);
            if (whole_b && a_may)
                count += count_pairs(c->whole_b->elements[other], c->whole_b->count[other], 1,
                                     k + a[0], a[1] - a[0], m * (copies + 1), room);
        }
    return count;
}

int64_t cann_count_several(const struct counter *c)
{
    bool whole = may_be_whole(c, CANN_STEP_KA) && may_be_whole(c, CANN_STEP_KB);
    bool one = may_be_one(c, CANN_STEP_BATCH_A) && may_be_one(c, CANN_STEP_BATCH_B);
    return whole && one ? c->several_pairs : 0;
}

int64_t cann_count_cut_pairs(const struct counter *c)
{
    const int all[] = {0, c->chunks->count};
    return look_up_cut_pairs(c, all, all);
}

int64_t cann_count_beside(const struct counter *c, bool of_a, int64_t elements)
{
    int64_t tile = of_a ? cann_laid_tile(c, CANN_N, c->tiling.value[CANN_BASE_N])
                        : cann_laid_tile(c, CANN_M, c->tiling.value[CANN_BASE_M]);
    return count_pairs(&elements, 1, 1, c->chunks->k, c->chunks->count, tile, c->room.l1) +
           count_pairs(&elements, 1, 1, c->chunks->k, c->chunks->count, 2 * tile, c->room.l1);
}
