/* What all tilings with one beginning do at least. docs/bounds.md says why. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <math.h>
#include <string.h>

/* A beginning, and the sizes that are open at what makes them cheapest. */
struct least {
    const struct cann *cann;
    const int64_t *value;
    int fixed;
    struct cann_facts facts;
    struct cann_room room;
    bool base, k; /* are the base tile's m and n, and its k, known? */
    int64_t m, n; /* base tile; a block of the matrix unit where open */
    struct work *work;
};

/* ---- once the steps are known --------------------------------------------------------------- */

/* Buffers that no completion has twice. */
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

/* A load that is split between what hits and what misses may have shorter pieces, which may cost
 * less. */
static void forget_pieces_of_loads(struct work *work)
{
    for (int line = 0; line < CANN_LINES; line++)
        if (line != STORE && line != END_STORE)
            work->burst_fs[line] = 0;
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
                     : plan.l1_bytes > l1 - plan.scope[HOLD_A_L1].bytes)
        single |= SINGLE_A_L1;
    if (copies_given ? l->value[CANN_L1B_BUFFERS] == 1
                     : plan.l1_bytes > l1 - plan.scope[HOLD_B_L1].bytes)
        single |= SINGLE_B_L1;
    bool copies_known = copies_given || ((single & SINGLE_A_L1) && (single & SINGLE_B_L1));
    plan.scope[HOLD_A_L0].copies = single & SINGLE_A_L0 ? 1 : 2;
    plan.scope[HOLD_B_L0].copies = single & SINGLE_B_L0 ? 1 : 2;
    cann_summarise_plan(l->cann, &plan, single, copies_known, l->work);
    if (l->cann->miss_share > 0)
        forget_pieces_of_loads(l->work);
}

/* ---- before ---------------------------------------------------------------------------------- */

static double up(double value, double unit)
{
    return ceil(value / unit);
}

static void put(struct work *work, enum cann_line line, double instructions, double units)
{
    work->instructions[line] = instructions;
    work->units[line] = units;
}

/* Can the part of an operand in L1 be whole along k? */
static bool may_be_whole(const struct least *l, bool of_a)
{
    int axis = of_a ? CANN_STEP_KA : CANN_STEP_KB;
    if (l->fixed > axis)
        return of_a ? l->facts.whole_a : l->facts.whole_b;
    return (of_a ? l->m : l->n) * l->facts.k <= l->room.l1;
}

/* How often is an operand brought for the same block, at least: once for each tile of the other
 * direction unless it is whole along k where it is held, and the loops of that direction can run
 * within its scope. */
static double repeats(const struct least *l, bool of_a, bool whole)
{
    const struct cann_facts *f = &l->facts;
    int64_t own = of_a ? f->m_tiles : f->n_tiles, other = of_a ? f->n_tiles : f->m_tiles;
    if (!l->base)
        return 1;
    bool inner = l->value[CANN_OUTER] != (of_a ? OUTER_N : OUTER_M) || own == 1;
    int64_t size = of_a ? f->m : f->n;
    bool free = inner || may_be_whole(l, !of_a) || size * f->k <= l->room.l1;
    return whole && free ? 1 : (double)other;
}

/* Blocks for which an operand is brought. */
static double blocks_of(const struct least *l, bool of_a, bool whole)
{
    return !of_a && l->facts.one_b && whole ? 1 : (double)l->facts.blocks;
}

/* B's slab brings its parts itself. */
static bool may_be_slab(const struct least *l)
{
    if (l->fixed > CANN_L0B_HOLDS)
        return l->value[CANN_L0B_HOLDS] == HOLDS_SLAB;
    return l->facts.n * l->facts.k <= l->room.l0b;
}

/* What one core loads from behind the cache at most: its part of what stands in memory. */
static double most_missed_bytes(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    double across = (double)cann->size[of_a ? CANN_M : CANN_N];
    double blocks = !of_a && cann->share_b ? 1 : (double)cann->size[CANN_BATCH];
    return cann->miss_share * blocks * across * (double)cann->size[CANN_K] *
           cann->machine.type_bytes / (double)l->value[CANN_CORES];
}

/* Is the number of chunks known into which an operand is cut along k? */
static bool cut_known(const struct least *l, bool of_a)
{
    return l->fixed > (of_a ? CANN_STEP_KA : CANN_STEP_KB);
}

/* What the pieces cost at least in which a block of an operand is fetched once: its rows may be
 * cut, but never joined, unless they follow each other in memory. */
static double bursts_fs(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    const struct cann_facts *f = &l->facts;
    const struct cann_machine *m = &cann->machine;
    enum cann_operand which = of_a ? CANN_A : CANN_B;
    const struct cann_layout *layout = &cann->layout[which];
    const struct price *price = &m->hw->prices[m->load_price];
    bool deep = layout->inner == CANN_K, whole = may_be_whole(l, of_a);
    int64_t across = of_a ? f->m : f->n, base = of_a ? l->m : l->n;
    int64_t row = deep ? f->k : across, rows = deep ? across : f->k, piece = 0;
    /* a part of one row, or of units that are rows of blocks, may be one piece */
    if (layout->unit > 1 || cann->miss_share > 0)
        return 0;
    /* nor does what several blocks of a batch share take more pieces than one of them */
    if (!of_a && cann->share_b && !f->one_b && whole)
        return 0;
    bool joined = row == cann->size[layout->inner] && (whole || (!deep && base == across));
    if (joined && layout->pitch_bytes % 64 == 0)
        return 0;
    if (deep && cut_known(l, of_a))
        piece = least_of(l->value[of_a ? CANN_STEP_KA : CANN_STEP_KB] * l->value[CANN_BASE_K], row);
    else if (!deep && l->base && !whole)
        piece = base;
    int64_t bytes = row * m->type_bytes, align = cann_alignment(cann, which);
    if (!piece)
        return (double)rows * hardware_least_bursts_fs(m->hw, price, bytes, align);
    int64_t full = row / piece, rest = row % piece > 0;
    return (double)rows *
           ((double)full * (double)hardware_burst_fs(m->hw, price, piece * m->type_bytes, align) +
            (double)rest *
                (double)hardware_burst_fs(m->hw, price, row % piece * m->type_bytes, align));
}

/* How often an operand is loaded: known where it is cut along k, for then its parts are as large
 * as a base tile. */
static double least_loads(const struct least *l, bool of_a, double blocks, double bytes)
{
    const struct cann_facts *f = &l->facts;
    const int64_t *v = l->value;
    int type = l->cann->machine.type_bytes;
    if (!cut_known(l, of_a) || may_be_whole(l, of_a))
        return up(bytes, (double)l->room.l1 * type);
    double chunks = (double)divide_up(f->k_tiles, v[of_a ? CANN_STEP_KA : CANN_STEP_KB]);
    bool slab = !of_a && may_be_slab(l);
    return blocks * chunks * (double)(f->n_tiles * (slab ? 1 : f->m_tiles));
}

/* The least time of a byte at a price, with so many cores on its bus. */
static double byte_fs(const struct hardware *hw, const struct price *price, int cores)
{
    return price->bus < 0 ? (double)price->rate.fs / (double)price->rate.units
                          : 1e15 / (double)hardware_bus_share(hw, price, cores);
}

/* Of bytes that may miss, so many that take as long as all of them at least: those that do miss at
 * their own price, and those that a load's split rounds off (less than a grain each) at the price
 * of hits. A load that there may be more takes longer than what it may round off. */
static double missed_bytes(const struct least *l, double may_miss, double loads)
{
    const struct cann_machine *m = &l->cann->machine;
    int cores = (int)l->value[CANN_CORES];
    double hit_fs = byte_fs(m->hw, &m->hw->prices[m->load_price], cores);
    double miss_fs = byte_fs(m->hw, &m->hw->prices[m->miss_price], cores);
    double misses = fmax(may_miss - loads * CANN_MISS_GRAIN, 0);
    double issue_fs = fmin((double)m->hw->prices[m->load_price].base_fs,
                           (double)m->hw->prices[m->miss_price].base_fs);
    if (issue_fs < CANN_MISS_GRAIN * (miss_fs - hit_fs))
        misses = 0;
    return misses + (may_miss - misses) * fmin(hit_fs / miss_fs, 1);
}

/* What misses takes no less than what hits, but on another bus it is not in the way of what is on
 * this one. */
static void put_load(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    const struct cann_machine *m = &cann->machine;
    const struct cann_facts *f = &l->facts;
    enum cann_line line = of_a ? LOAD_A : LOAD_B;
    bool slab = !of_a && may_be_slab(l), whole = slab || may_be_whole(l, of_a);
    double blocks = blocks_of(l, of_a, whole), size = (double)(of_a ? f->m : f->n);
    double fetches = blocks * repeats(l, of_a, whole);
    double bytes = fetches * size * (double)f->k * m->type_bytes, may_miss = 0;
    double loads = least_loads(l, of_a, blocks, bytes);
    if (m->miss >= 0 && m->hw->paths[m->miss].bus != m->hw->paths[m->load].bus)
        may_miss = fmin(most_missed_bytes(l, of_a), bytes);
    put(l->work, line, loads, bytes - may_miss);
    l->work->burst_fs[line] = fetches * bursts_fs(l, of_a);
    if (may_miss > 0)
        l->work->units[LOAD_ELSEWHERE] += missed_bytes(l, may_miss, loads);
}

static void put_feeds(const struct least *l, double steps)
{
    const struct cann_facts *f = &l->facts;
    int bytes = l->cann->machine.type_bytes;
    bool slab = may_be_slab(l);
    int64_t k = l->k ? l->value[CANN_BASE_K] : f->k;
    bool whole_a = l->m * k <= l->room.l0a && k >= f->k;
    bool whole_b = slab || (l->n * k <= l->room.l0b && k >= f->k);
    double a = (double)f->blocks * repeats(l, true, whole_a) * (double)(f->m * f->k) * bytes;
    double b = blocks_of(l, false, whole_b) * (slab ? 1 : repeats(l, false, whole_b)) *
               (double)(f->n * f->k) * bytes;
    put(l->work, FEED_A, whole_a ? 1 : l->base ? steps : 1, a);
    put(l->work, FEED_B, whole_b ? 1 : l->base ? steps : 1, b);
}

/* Products of tiles as large as L0 allows. */
static double least_steps(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    const struct cann_machine *m = &l->cann->machine;
    double blocks = (double)f->blocks, volume = (double)f->m * (double)f->n * (double)f->k;
    bool slab = may_be_slab(l);
    if (!l->base)
        return slab ? blocks
                    : up(blocks * volume,
                         sqrt((double)l->room.l0a * (double)l->room.l0b * (double)l->room.l0c));
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
    struct cann_move move =
        cann_move_of(l->cann, CANN_C, m * n * l->cann->machine.accumulator_bytes, extent);
    if (m && n)
        cann_add_moves(l->cann, l->work, line, l->cann->machine.store_price, times, &move);
}

/* Tiles of C: full ones, and those at the edges. */
static void put_stores(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    int64_t m_rest = f->m % l->m, n_rest = f->n % l->n;
    int64_t whole_m = f->m / l->m, whole_n = f->n / l->n;
    double blocks = (double)f->blocks, m_full = (double)whole_m, n_full = (double)whole_n;
    if (!l->base) {
        put(l->work, STORE, up(blocks * (double)f->m * (double)f->n, (double)l->room.l0c),
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
    if (l->k && l->value[CANN_BASE_K] < f->k && !may_be_slab(l)) {
        put(work, START_FEED_B, 1,
            (double)(l->n * l->value[CANN_BASE_K]) * cann->machine.type_bytes);
        work->instructions[START_WAIT_B] = 1;
    }
    work->instructions[END_WAIT_MULTIPLY] = work->instructions[END_WAIT_STORE] = 1;
    int64_t m = l->base && f->m % l->m ? f->m % l->m : l->m;
    int64_t n = l->base && f->n % l->n ? f->n % l->n : l->n;
    int64_t block_k = cann->machine.block_k;
    int64_t k = l->k ? l->value[CANN_BASE_K] : block_k, rest = f->k % k;
    put(work, AFTER_FEED_MULTIPLY, 1, blocks_in(l, m, n, rest ? rest : k));
    put(work, AFTER_LOAD_MULTIPLY, 1, blocks_in(l, m, n, rest ? rest : k));
    double tile_steps = l->k ? (double)f->k_tiles : 1;
    put(work, FIRST_TILE, tile_steps, blocks_in(l, l->m, l->n, f->k));
}

/* Where each step feeds both and one copy is all that fits. */
static unsigned put_turns(const struct least *l)
{
    struct work *work = l->work;
    const struct cann_facts *f = &l->facts;
    unsigned single = 0;
    if (l->base && (2 * l->m * l->n > l->room.l0c || !cann_c_turns(f))) {
        single |= SINGLE_C;
        int64_t k = l->k ? l->value[CANN_BASE_K] : f->k;
        cann_put_turns_c(l->cann, l->k ? (double)f->k_tiles : 1, blocks_in(l, l->m, l->n, k), work);
    }
    if (!l->k || l->value[CANN_BASE_K] >= f->k || may_be_slab(l) || l->fixed <= CANN_L0B_HOLDS)
        return single;
    int64_t k = l->value[CANN_BASE_K];
    double more = work->instructions[FEED_A] - 1, bytes = l->cann->machine.type_bytes;
    double a = work->units[FEED_A] - (double)(l->m * k) * bytes;
    double b = work->units[FEED_B] - (double)(l->n * k) * bytes;
    if (2 * l->m * k > l->room.l0a) {
        single |= SINGLE_A_L0;
        put(work, TURN_A0_FEED_A, more, a);
        put(work, TURN_A0_FEED_B, more, b);
        work->instructions[TURN_A0_WAIT_B] = work->instructions[TURN_A0_WAIT_MULTIPLY] = more;
    }
    if (2 * l->n * k > l->room.l0b) {
        single |= SINGLE_B_L0;
        put(work, TURN_B0_FEED_B, more, b);
        work->instructions[TURN_B0_WAIT_B] = work->instructions[TURN_B0_WAIT_MULTIPLY] = more;
    }
    return single;
}

static void summarise_sizes(const struct least *l)
{
    const struct cann_facts *f = &l->facts;
    struct work *work = l->work;
    double steps = least_steps(l);
    memset(work->instructions, 0, CANN_LINES * sizeof *work->instructions);
    memset(work->units, 0, CANN_LINES * sizeof *work->units);
    memset(work->burst_fs, 0, CANN_LINES * sizeof *work->burst_fs);
    put_load(l, true);
    put_load(l, false);
    put_feeds(l, steps);
    put(work, MULTIPLY, steps, (double)f->blocks * blocks_in(l, f->m, f->n, f->k));
    put_stores(l);
    put_ends(l);
    work->cores = (int)l->value[CANN_CORES];
    work->layout = (int)put_turns(l);
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
        .base = fixed > CANN_BASE_N,
        .k = fixed > CANN_BASE_K,
        .work = work,
    };
    l.m = l.base ? v[CANN_BASE_M] : cann->machine.block_mn;
    l.n = l.base ? v[CANN_BASE_N] : cann->machine.block_mn;
    l.room = cann_room_of(cann, l.n);
    bool cut = fixed > CANN_STEP_KB && !l.facts.whole_a && !l.facts.whole_b;
    if (fixed > CANN_STEP_BATCH_B || cut)
        summarise_steps(&l);
    else
        summarise_sizes(&l);
}
