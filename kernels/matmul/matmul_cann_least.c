/* What all tilings with one prefix do at least. docs/bounds.md says why. */
#include "kernels/matmul/matmul_cann_least.h"
#include "core/least.h"
#include "kernels/limits.h"

#include <math.h>
#include <string.h>

/* ---- once the steps are known --------------------------------------------------------------- */

/* Buffers that no leaf has twice. */
static unsigned single_buffers(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    const int64_t *v = l->value;
    int64_t k = v[CANN_BASE_K];
    bool slab = v[CANN_L0B_HOLDS] == HOLDS_SLAB;
    unsigned single = 0;
    if (2 * l->m * k > l->room.l0a || !cann_a_l0_turns(f, l->m, k))
        single |= SINGLE_A_L0;
    if (2 * (slab ? f->n * f->k : l->n * k) > l->room.l0b || !cann_b_l0_turns(f, l->n, k, slab))
        single |= SINGLE_B_L0;
    if (2 * l->m * l->n > l->room.l0c || !cann_c_turns(f))
        single |= SINGLE_C;
    return single;
}

static void summarise_steps(const struct least *l)
{
    static const int axes[] = {CANN_STEP_M, CANN_STEP_N, CANN_STEP_BATCH_A, CANN_STEP_BATCH_B};
    struct tiling tiling;
    struct cann_plan plan;
    memcpy(tiling.value, l->value, sizeof tiling.value);
    for (int i = 0; i < 4; i++)
        if (l->fixed <= axes[i])
            tiling.value[axes[i]] = 1;
    bool copies_given = l->fixed > CANN_L1B_BUFFERS;
    for (int a = copies_given ? CANN_L0A_BUFFERS : CANN_L1A_BUFFERS; a < CANN_AXES; a++)
        tiling.value[a] = 1;
    cann_plan_make(l->cann, &tiling, &plan);
    unsigned single = single_buffers(l);
    int64_t l1 = capacity_of(l->cann->machine.hw, l->cann->machine.l1);
    if (copies_given ? l->value[CANN_L1A_BUFFERS] == 1
                     : plan.l1_bytes > l1 - plan.scope[LIVE_A_L1].bytes)
        single |= SINGLE_A_L1;
    if (copies_given ? l->value[CANN_L1B_BUFFERS] == 1
                     : plan.l1_bytes > l1 - plan.scope[LIVE_B_L1].bytes)
        single |= SINGLE_B_L1;
    bool both_single = (single & SINGLE_A_L1) && (single & SINGLE_B_L1);
    bool copies_known = copies_given || both_single;
    single |= both_single && plan.one_set ? SINGLE_SET : 0;
    plan.scope[LIVE_A_L0].copies = single & SINGLE_A_L0 ? 1 : 2;
    plan.scope[LIVE_B_L0].copies = single & SINGLE_B_L0 ? 1 : 2;
    cann_summarise_plan(l->cann, &plan, single, copies_known, l->work);
}

/* ---- before ---------------------------------------------------------------------------------- */

static void put_feeds(const struct least *l, double steps)
{
    const struct cann_facts *f = &l->facts;
    int bytes = l->cann->machine.type_bytes;
    bool slab = least_may_be_slab(l);
    int64_t k = l->k ? l->value[CANN_BASE_K] : f->k;
    bool whole_a = l->m * k <= l->room.l0a && k >= f->k;
    bool whole_b = slab || (l->n * k <= l->room.l0b && k >= f->k);
    double a = (double)f->blocks * least_repeats(l, true, whole_a) * (double)(f->m * f->k) * bytes;
    double b = least_blocks(l, false, whole_b) * (slab ? 1 : least_repeats(l, false, whole_b)) *
               (double)(f->n * f->k) * bytes;
    least_put(l->work, FEED_A, whole_a ? 1 : l->base ? steps : 1, a);
    least_put(l->work, FEED_B, whole_b ? 1 : l->base ? steps : 1, b);
}

/* Products of tiles as large as L0 allows. */
static double least_steps(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    const struct cann_machine *m = &l->cann->machine;
    double blocks = (double)f->blocks, volume = (double)f->m * (double)f->n * (double)f->k;
    bool slab = least_may_be_slab(l);
    if (!l->base)
        return slab ? blocks
                    : least_up(blocks * volume, sqrt((double)l->room.l0a * (double)l->room.l0b *
                                                     (double)l->room.l0c));
    int64_t k = l->room.l0a / l->m;
    if (!slab && l->room.l0b / l->n < k)
        k = l->room.l0b / l->n;
    k = l->k ? l->value[CANN_BASE_K] : k / m->block_k * m->block_k;
    return blocks * (double)(f->m_tiles * f->n_tiles * divide_up(f->k, k < f->k ? k : f->k));
}

static double blocks_in(const struct least *l, int64_t m, int64_t n, int64_t k)
{
    const struct cann_machine *machine = &l->cann->machine;
    int64_t rows = m / machine->block_mn, columns = n / machine->block_mn,
            deep = k / machine->block_k;
    return (double)rows * (double)columns * (double)deep;
}

static void add_stores(const struct least *l, enum cann_line line, double times, int64_t m,
                       int64_t n)
{
    int64_t extent[CANN_DIRECTIONS] = {1, m, n, l->facts.k};
    struct cann_move move = cann_move_of(l->cann, cann_stored(l->facts.parts),
                                         m * n * l->cann->machine.accumulator_bytes, extent);
    if (m && n)
        cann_add_moves(l->cann, l->work, line, cann_store_price(l->cann, l->facts.parts), times,
                       &move);
}

/* Tiles of C: full ones, and those at the edges. */
static void put_stores(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    int64_t m_rest = f->m % l->m, n_rest = f->n % l->n;
    int64_t whole_m = f->m / l->m, whole_n = f->n / l->n;
    double blocks = (double)f->blocks, m_full = (double)whole_m, n_full = (double)whole_n;
    if (!l->n_known) {
        least_put(l->work, STORE,
                  least_up(blocks * (double)f->m * (double)f->n, (double)l->room.l0c),
                  blocks * (double)f->m * (double)f->n * l->cann->machine.accumulator_bytes);
        return;
    }
    add_stores(l, STORE, blocks * m_full * n_full, l->m, l->n);
    add_stores(l, STORE, blocks * n_full, m_rest, l->n);
    add_stores(l, STORE, blocks * m_full, l->m, n_rest);
    add_stores(l, STORE, blocks, m_rest, n_rest);
    add_stores(l, END_STORE, 1, m_rest ? m_rest : l->m, n_rest ? n_rest : l->n);
}

static void put_first_load(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    const struct cann_facts *f = &l->facts;
    const int64_t *v = l->value;
    int step = of_a ? CANN_STEP_KA : CANN_STEP_KB;
    int64_t k = !l->k ? cann->machine.block_k : v[CANN_BASE_K] * (l->fixed > step ? v[step] : 1);
    k = k < f->k ? k : f->k;
    /* longer pieces may cost less */
    struct cann_move move = {(of_a ? l->m : l->n) * k * cann->machine.type_bytes, 1, 1, 0};
    cann_add_loads(cann, l->work, START_LOAD, 1, &move);
}

static void put_ends(const struct least *l)
{
    const struct cann *cann = l->cann;
    const struct cann_facts *f = &l->facts;
    struct work *work = l->work;
    put_first_load(l, true);
    put_first_load(l, false);
    work->instructions[START_WAIT_LOAD] = 1;
    /* both are fed in each step, A first */
    if (l->k && l->value[CANN_BASE_K] < f->k && !least_may_be_slab(l)) {
        least_put(work, START_FEED_B, 1,
                  (double)(l->n * l->value[CANN_BASE_K]) * cann->machine.type_bytes);
        work->instructions[START_WAIT_B] = 1;
    }
    work->instructions[END_WAIT_MULTIPLY] = work->instructions[END_WAIT_STORE] = 1;
    int64_t m = l->base && f->m % l->m ? f->m % l->m : l->m;
    int64_t n = l->n_known && f->n % l->n ? f->n % l->n : l->n;
    int64_t block_k = cann->machine.block_k;
    int64_t k = l->k ? l->value[CANN_BASE_K] : block_k, rest = f->k % k;
    least_put(work, AFTER_FEED_MULTIPLY, 1, blocks_in(l, m, n, rest ? rest : k));
    least_put(work, AFTER_LOAD_MULTIPLY, 1, blocks_in(l, m, n, rest ? rest : k));
    double tile_steps = l->k ? (double)f->k_tiles : 1;
    least_put(work, FIRST_TILE, tile_steps, blocks_in(l, l->m, l->n, f->k));
}

/* Where each step feeds both and one copy is all that fits. */
static unsigned put_turns(const struct least *l)
{
    struct work *work = l->work;
    const struct cann_facts *f = &l->facts;
    unsigned single = 0;
    if (l->n_known && (2 * l->m * l->n > l->room.l0c || !cann_c_turns(f))) {
        single |= SINGLE_C;
        int64_t k = l->k ? l->value[CANN_BASE_K] : f->k;
        cann_put_turns_c(l->cann, l->k ? (double)f->k_tiles : 1, blocks_in(l, l->m, l->n, k), work);
    }
    if (!l->k || l->value[CANN_BASE_K] >= f->k || least_may_be_slab(l) ||
        l->fixed <= CANN_L0B_HOLDS)
        return single;
    int64_t k = l->value[CANN_BASE_K];
    double more = work->instructions[FEED_A] - 1, bytes = l->cann->machine.type_bytes;
    double a = work->units[FEED_A] - (double)(l->m * k) * bytes;
    double b = work->units[FEED_B] - (double)(l->n * k) * bytes;
    if (2 * l->m * k > l->room.l0a) {
        single |= SINGLE_A_L0;
        least_put(work, TURN_A0_FEED_A, more, a);
        least_put(work, TURN_A0_FEED_B, more, b);
        work->instructions[TURN_A0_WAIT_B] = work->instructions[TURN_A0_WAIT_MULTIPLY] = more;
    }
    if (2 * l->n * k > l->room.l0b) {
        single |= SINGLE_B_L0;
        least_put(work, TURN_B0_FEED_B, more, b);
        work->instructions[TURN_B0_WAIT_B] = work->instructions[TURN_B0_WAIT_MULTIPLY] = more;
    }
    return single;
}

static void summarise_sizes(struct least *l)
{
    const struct cann_facts *f = &l->facts;
    struct work *work = l->work;
    double steps = least_steps(l);
    memset(work->instructions, 0, CANN_LINES * sizeof *work->instructions);
    memset(work->units, 0, CANN_LINES * sizeof *work->units);
    memset(work->burst_fs, 0, CANN_LINES * sizeof *work->burst_fs);
    least_put_loads(l);
    put_feeds(l, steps);
    least_put(work, MULTIPLY, steps, (double)f->blocks * blocks_in(l, f->m, f->n, f->k));
    put_stores(l);
    put_ends(l);
    work->cores = (int)l->value[CANN_CORES];
    work->layout = (int)(put_turns(l) | cann_put_reduction(l->cann, f->parts, work->cores, work));
}

void cann_summarise_least(const struct space *space, const struct tiling *tiling, int fixed,
                          struct work *work)
{
    const struct cann *cann = cann_of(space);
    const int64_t *v = tiling->value;
    struct least l = {
        .cann = cann,
        .value = v,
        .fixed = fixed,
        .facts = cann_facts_of(cann, v, fixed),
        .base = fixed > CANN_BASE_M,
        .n_known = fixed > CANN_BASE_N,
        .k = fixed > CANN_BASE_K,
        .work = work,
    };
    l.m = l.base ? v[CANN_BASE_M] : cann->machine.block_mn;
    l.n = l.n_known ? v[CANN_BASE_N] : cann->machine.block_mn;
    l.room = cann_room_of(cann, l.n);
    if (l.base && !l.n_known)
        least_take_n(&l, false);
    bool cut = fixed > CANN_STEP_KB && !l.facts.whole_a && !l.facts.whole_b;
    if (fixed > CANN_STEP_BATCH_B || cut)
        summarise_steps(&l);
    else
        summarise_sizes(&l);
}
