/* What all tilings with one prefix load at least: how often each operand is brought, in how many
 * pieces, and how much of it misses the cache. docs/bounds.md says why. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_least.h"

#include <math.h>

/* Can the part of an operand in L1 be whole along k? There is one of the other beside it. */
static bool may_be_whole(const struct least *l, bool of_a)
{
    int axis = of_a ? CANN_STEP_KA : CANN_STEP_KB;
    if (l->fixed > axis)
        return of_a ? l->facts.whole_a : l->facts.whole_b;
    if (!of_a && l->b_is_cut)
        return false;
    int64_t own = of_a ? l->m : l->n, other = of_a ? l->n : l->m;
    int64_t k = l->k ? l->value[CANN_BASE_K] : l->cann->machine.block_k;
    return own * l->facts.k + other * k <= l->room.l1;
}

/* How often is an operand brought for the same block, at least: once for each tile of the other
 * direction unless it is whole along k where it is held, and the loops of that direction can run
 * within its scope. */
double least_repeats(const struct least *l, bool of_a, bool whole)
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

/* What one core loads from behind the cache at most: its part of what stands in memory. */
static double most_missed_bytes(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    const struct cann_facts *f = &l->facts;
    return cann->miss_share * cann_touches(cann, f->m, f->n, of_a, 0) * (double)f->blocks *
           (double)(of_a ? f->m : f->n) * (double)f->k * cann->machine.type_bytes;
}

/* All misses where no other core and no other tile loads the same. */
bool least_all_miss(const struct least *l, bool of_a)
{
    const struct cann_facts *f = &l->facts;
    int64_t size = of_a ? f->n : f->m, tiles = of_a ? f->n_tiles : f->m_tiles;
    bool known = of_a ? l->n_known : l->base;
    bool one_tile = size <= l->cann->machine.block_mn || (known && tiles == 1);
    return l->cann->miss_share >= 1 && one_tile && (of_a || !f->one_b || f->blocks == 1) &&
           cann_touches(l->cann, f->m, f->n, of_a, 0) >= 1;
}

/* Is the number of chunks known into which an operand is cut along k? */
static bool cut_known(const struct least *l, bool of_a)
{
    return l->fixed > (of_a ? CANN_STEP_KA : CANN_STEP_KB);
}

/* The price of loads that hit, and of those that miss; the same where none does. */
struct load_prices {
    const struct price *hit, *miss;
};

static struct load_prices load_prices_of(const struct cann *cann)
{
    const struct cann_machine *m = &cann->machine;
    const struct price *prices = m->hw->prices;
    return (struct load_prices){&prices[m->load_price],
                                &prices[cann->miss_share > 0 ? m->miss_price : m->load_price]};
}

static double any_row_fs(const struct least *l, bool of_a, int64_t elements)
{
    const struct hardware *hw = l->cann->machine.hw;
    struct load_prices price = load_prices_of(l->cann);
    int64_t bytes = elements * l->cann->machine.type_bytes;
    int64_t align = cann_alignment(l->cann, of_a ? CANN_A : CANN_B);
    double miss_fs = hardware_least_bursts_fs(hw, price.miss, bytes, align);
    return least_all_miss(l, of_a)
               ? miss_fs
               : fmin(hardware_least_bursts_fs(hw, price.hit, bytes, align), miss_fs);
}

/* What the pieces cost at least into which a row of so many elements is cut, however that is done.
 * Looked up where it is not too long: there are many prefixes and few lengths. */
static double cut_row_fs(const struct least *l, bool of_a, int64_t elements)
{
    const struct cann *cann = l->cann;
    int64_t place = elements / cann->machine.block_k;
    if (elements % cann->machine.block_k || place >= CANN_ROWS)
        return any_row_fs(l, of_a, elements);
    int64_t variant = 2 * of_a + least_all_miss(l, of_a);
    double *known = &cann->row_fs[variant * CANN_ROWS + place], fs;
    __atomic_load(known, &fs, __ATOMIC_RELAXED);
    if (fs == 0) {
        fs = 1 + any_row_fs(l, of_a, elements);
        __atomic_store(known, &fs, __ATOMIC_RELAXED);
    }
    return fs - 1;
}

/* What a piece of a row costs at least: itself where no load is split, else cut however that is
 * done. */
static double piece_fs(const struct least *l, bool of_a, int64_t elements)
{
    if (l->cann->miss_share > 0 && !least_all_miss(l, of_a))
        return cut_row_fs(l, of_a, elements);
    int64_t bytes = elements * l->cann->machine.type_bytes;
    return (double)hardware_least_burst_fs(l->cann->machine.hw, load_prices_of(l->cann).miss, bytes,
                                           bytes, cann_alignment(l->cann, of_a ? CANN_A : CANN_B));
}

/* … in pieces of so many elements at most. */
static double limited_row_fs(const struct least *l, bool of_a, int64_t elements, int64_t most)
{
    return (double)elements / (double)most * cut_row_fs(l, of_a, most);
}

/* Of the rows that a block of an operand has, those whose pieces count: of a load that is split one
 * less, for a move of one piece costs nothing for it. */
static double counted_rows(const struct least *l, bool of_a, bool deep)
{
    const struct cann_facts *f = &l->facts;
    const struct cann_machine *m = &l->cann->machine;
    int64_t rows = deep ? of_a ? f->m : f->n : f->k, block = deep ? m->block_mn : m->block_k;
    if (l->cann->miss_share <= 0 || least_all_miss(l, of_a))
        return (double)rows;
    int64_t loads = rows / block;
    if (deep && (of_a ? l->base : l->n_known))
        loads = of_a ? f->m_tiles : f->n_tiles;
    else if (!deep && l->k)
        loads = f->k_tiles;
    return block < 3 ? 0 : (double)(rows - loads);
}

/* What the pieces cost at least in which a block of an operand is fetched once: its rows may be
 * cut, but never joined, unless they follow each other in memory. */
static double bursts_fs(const struct least *l, bool of_a)
{
    const struct cann *cann = l->cann;
    const struct cann_facts *f = &l->facts;
    const struct cann_layout *layout = &cann->layout[of_a ? CANN_A : CANN_B];
    bool deep = layout->inner == CANN_K, whole = may_be_whole(l, of_a);
    int64_t across = of_a ? f->m : f->n, base = of_a ? l->m : l->n;
    int64_t row = deep ? f->k : across, piece;
    if (layout->unit > 1) /* rows of blocks may be one piece */
        return 0;
    /* nor does what several blocks of a batch share take more pieces than one of them */
    if (!of_a && cann->share_b && !f->one_b && whole)
        return 0;
    bool base_known = of_a ? l->base : l->n_known;
    if (!base_known && l->n_most && !deep && !whole && l->n_most < across)
        return counted_rows(l, of_a, deep) * limited_row_fs(l, of_a, row, l->n_most);
    bool joined =
        row == cann->size[layout->inner] && (whole || (!deep && (!base_known || base == across)));
    if (joined && layout->pitch_bytes % 64 == 0)
        return 0;
    if (deep && l->fixed > CANN_STEP_KB)
        piece = least_of(l->value[of_a ? CANN_STEP_KA : CANN_STEP_KB] * l->value[CANN_BASE_K], row);
    else if (deep && cut_known(l, of_a)) /* B's chunks may cut it further */
        return counted_rows(l, of_a, deep) *
               limited_row_fs(l, of_a, row,
                              least_of(l->value[CANN_STEP_KA] * l->value[CANN_BASE_K], row));
    else if (!deep && base_known && !whole)
        piece = base;
    else
        return counted_rows(l, of_a, deep) * cut_row_fs(l, of_a, row);
    int64_t pieces = row / piece;
    double fs = (double)pieces * piece_fs(l, of_a, piece);
    if (row % piece)
        fs += piece_fs(l, of_a, row % piece);
    return counted_rows(l, of_a, deep) * fs;
}

/* How often an operand is loaded: known where it is cut along k, for then its parts are as large
 * as a base tile. */
static double least_loads(const struct least *l, bool of_a, double blocks, double bytes)
{
    const struct cann_facts *f = &l->facts;
    const int64_t *v = l->value;
    int type = l->cann->machine.type_bytes;
    if (!cut_known(l, of_a) || may_be_whole(l, of_a))
        return least_up(bytes, (double)l->room.l1 * type);
    double chunks = (double)divide_up(f->k_tiles, v[of_a ? CANN_STEP_KA : CANN_STEP_KB]);
    bool slab = !of_a && least_may_be_slab(l);
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
    bool slab = !of_a && least_may_be_slab(l), whole = slab || may_be_whole(l, of_a);
    double blocks = least_blocks(l, of_a, whole), size = (double)(of_a ? f->m : f->n);
    double fetches = blocks * least_repeats(l, of_a, whole);
    double bytes = fetches * size * (double)f->k * m->type_bytes, may_miss = 0;
    double loads = least_loads(l, of_a, blocks, bytes);
    if (m->miss >= 0 && m->hw->paths[m->miss].bus != m->hw->paths[m->load].bus)
        may_miss = fmin(most_missed_bytes(l, of_a), bytes);
    least_put(l->work, line, loads, bytes - may_miss);
    l->work->burst_fs[line] = fetches * bursts_fs(l, of_a);
    if (may_miss > 0)
        l->work->units[LOAD_ELSEWHERE] += missed_bytes(l, may_miss, loads);
}

void least_take_n(struct least *l, bool whole)
{
    const struct cann_machine *m = &l->cann->machine;
    int64_t most = least_of(l->facts.n, l->room.l0c / l->m);
    bool slab = least_may_be_slab(l);
    if (!slab)
        most = least_of(most, l->room.l0b / m->block_k);
    if (!slab && whole)
        most = least_of(most, (l->room.l1 - l->m * m->block_k) / l->facts.k);
    most = most / m->block_mn * m->block_mn;
    l->b_is_cut = !slab && !whole;
    l->n_most = most > m->block_mn ? most : m->block_mn;
    l->facts.n_tiles = divide_up(l->facts.n, l->n_most);
}

/* The loads of one case, and the time that they take as if all hit. */
struct loads {
    double instructions[3], units[3], burst_fs[3], bytes, fs;
};
static const enum cann_line load_lines[] = {LOAD_A, LOAD_B, LOAD_ELSEWHERE};

static struct loads take_loads(const struct least *l)
{
    const struct hardware *hw = l->cann->machine.hw;
    struct loads loads = {.bytes = 0};
    struct work *work = l->work;
    put_load(l, true);
    put_load(l, false);
    for (int i = 0; i < 3; i++) {
        enum cann_line line = load_lines[i];
        loads.instructions[i] = work->instructions[line];
        loads.units[i] = work->units[line];
        loads.burst_fs[i] = work->burst_fs[line];
        least_put(work, line, 0, 0);
        work->burst_fs[line] = 0;
    }
    loads.bytes = loads.units[0] + loads.units[1];
    double fs = byte_fs(hw, &hw->prices[l->cann->machine.load_price], (int)l->value[CANN_CORES]);
    loads.fs = loads.bytes * fs + loads.burst_fs[0] + loads.burst_fs[1];
    return loads;
}

/* The least of both cases: of the bytes, of the time that these and their pieces take together, and
 * of what is behind the cache. */
static void put_lesser_loads(const struct least *l, const struct loads *a, const struct loads *b)
{
    const struct loads *few = a->bytes < b->bytes ? a : b;
    struct work *work = l->work;
    for (int i = 0; i < 3; i++)
        least_put(work, load_lines[i], fmin(a->instructions[i], b->instructions[i]), few->units[i]);
    work->units[LOAD_ELSEWHERE] = fmin(a->units[2], b->units[2]);
    work->burst_fs[LOAD_A] =
        fmax(fmin(a->fs, b->fs) - few->fs + few->burst_fs[0] + few->burst_fs[1], 0);
}

void least_put_loads(struct least *l)
{
    struct least whole = *l;
    if (!l->n_most || !l->b_is_cut) {
        put_load(l, true);
        put_load(l, false);
        return;
    }
    whole.b_is_cut = false;
    if (may_be_whole(&whole, false)) {
        struct loads cut = take_loads(l);
        least_take_n(&whole, true);
        struct loads of_whole = take_loads(&whole);
        put_lesser_loads(l, &cut, &of_whole);
    } else {
        put_load(l, true);
        put_load(l, false);
    }
}
