/* Lists the legal tilings of k-NN with what they cost. Tilings of one m1 are walked by n1, m2 and
 * n2; a branch ends where not even its smallest tiling fits. Sizes of tiles jump from one number
 * of slices to the next (slice_below). A tiling is priced from the tables of knn_costs.h: distance
 * tiles, and tiles times steps of the selection. The inequalities of Tang 2024, eq. 3.14, and the
 * harmonic one (docs/knn.md) judge it before its steps are summed. Sums stop at KNN_FAR_FS instead
 * of overflowing. */
#include "kernels/knn/knn_choices.h"

#include "core/array.h"
#include "kernels/knn/selb.h"
#include "kernels/slices.h"

#include <math.h>
#include <stdlib.h>

bool choices_push(struct choices *choices, const struct choice *choice)
{
    if (!array_reserve(&choices->items, choices->count, &choices->capacity, sizeof *choices->items))
        return false;
    choices->items[choices->count++] = *choice;
    return true;
}

static int by_bound(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void choices_sort(struct choices *choices)
{
    if (choices->count)
        qsort(choices->items, (size_t)choices->count, sizeof *choices->items, by_bound);
}

static int64_t times(int64_t count, int64_t fs)
{
    int64_t product;
    return __builtin_mul_overflow(count, fs, &product) || product > KNN_FAR_FS ? KNN_FAR_FS
                                                                               : product;
}

static int64_t plus(int64_t a, int64_t b)
{
    return a + b > KNN_FAR_FS ? KNN_FAR_FS : a + b;
}

int64_t choice_time_fs(const struct knn_costs *costs, const struct choice *choice)
{
    return plus(times(choice->products, costs->products[choice->product].time_fs),
                choice->selection_fs);
}

struct selection_sum selection_sum_of(const struct knn_costs *costs, const struct tiling *tiling)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int64_t *v = tiling->value;
    struct selection_sum sum = {
        .tiles = divide_up(knn->columns, v[KNN_N1]) * divide_up(v[KNN_N1], v[KNN_N2]),
        .row_tiles = divide_up(costs->share->rows, v[KNN_M1]) * divide_up(v[KNN_M1], v[KNN_M2]),
        .m2 = (int)(v[KNN_M2] / knn->block) - 1,
        .n2 = (int)(v[KNN_N2] / knn->block) - 1,
    };
    int64_t columns = costs->block->count[KNN_N2];
    sum.cost = &costs->selections[sum.m2 * columns + sum.n2];
    return sum;
}

double selection_sum_steps(const struct knn_costs *costs, const struct selection_sum *sum)
{
    return knn_costs_steps(costs, sum->m2, sum->n2, sum->tiles);
}

int64_t selection_sum_fs(const struct selection_sum *sum, double steps)
{
    double steps_fs = steps * (double)sum->cost->step_fs;
    int64_t fs = steps_fs < (double)KNN_FAR_FS ? llround(steps_fs) : KNN_FAR_FS;
    return times(sum->row_tiles, plus(times(sum->tiles, sum->cost->idle_fs), fs));
}

/* A tiling by values and, of m1 and n1, numbers on their axes. */
struct place {
    int m1, n1;
    struct tiling tiling;
    bool whole; /* n2 = n1 is feasible: the inequalities may be asked */
};

/* The price of a tiling; of one that is ruled out without its steps, which bounds it. */
static struct choice choose(const struct knn_costs *costs, const struct place *place,
                            enum fate fate)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int *count = costs->block->count;
    const int64_t *v = place->tiling.value;
    struct selection_sum sum = selection_sum_of(costs, &place->tiling);
    double steps = fate == FATE_LIVES ? selection_sum_steps(costs, &sum) : 0;
    int64_t row = ((int64_t)place->m1 * count[KNN_N1] + place->n1) * count[KNN_M2] + sum.m2;
    struct choice choice = {
        .index = costs->block->first_index + row * count[KNN_N2] + sum.n2,
        .product = (int64_t)place->m1 * costs->n1_count + place->n1,
        .products = divide_up(costs->share->rows, v[KNN_M1]) * divide_up(knn->columns, v[KNN_N1]),
        .selection_fs = selection_sum_fs(&sum, steps),
        .fate = fate,
    };
    choice.bound_fs = choice_time_fs(costs, &choice);
    return choice;
}

/* The number of a value on an axis that ascends. */
static int number_of(const struct space_block *block, int axis, int64_t value)
{
    int low = 0, high = block->count[axis] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (block->values[axis][middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct place place_of(const struct knn_costs *costs, const struct tiling *tiling)
{
    return (struct place){
        .m1 = number_of(costs->block, KNN_M1, tiling->value[KNN_M1]),
        .n1 = number_of(costs->block, KNN_N1, tiling->value[KNN_N1]),
        .tiling = *tiling,
    };
}

struct choice choice_of(const struct knn_costs *costs, const struct tiling *tiling)
{
    struct place place = place_of(costs, tiling);
    return choose(costs, &place, FATE_LIVES);
}

/* The inequalities compare tiles of n2 with whole columns of the distance tile; where those do not
 * fit, nothing follows. */
static enum fate judge(const struct knn_costs *costs, const struct place *place)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int64_t *v = place->tiling.value;
    if (!place->whole || v[KNN_N2] == v[KNN_N1])
        return FATE_LIVES;
    struct tiling whole = place->tiling;
    whole.value[KNN_N2] = v[KNN_N1];
    struct selection_sum small = selection_sum_of(costs, &place->tiling);
    struct selection_sum large = selection_sum_of(costs, &whole);
    struct selb_pair pair = {
        .k = knn->tile.k,
        .p = divide_up(v[KNN_N1], v[KNN_N2]),
        .idle_small_fs = small.cost->idle_fs,
        .idle_large_fs = large.cost->idle_fs,
        .step_large_fs = large.cost->step_fs,
        .tiles = large.tiles,
    };
    if (selb_prunes(&pair))
        return FATE_SELB;
    pair.steps_large = selection_sum_steps(costs, &large);
    return harmonic_prunes(&pair) ? FATE_HARMONIC : FATE_LIVES;
}

static bool fits(const struct knn_costs *costs, const struct place *place, int64_t columns)
{
    struct tiling tiling = place->tiling;
    tiling.value[KNN_N2] = columns;
    return costs->space->kind->possible(costs->space, &tiling, KNN_CORES);
}

enum fate choice_fate(const struct knn_costs *costs, const struct tiling *tiling)
{
    struct place place = place_of(costs, tiling);
    place.whole = fits(costs, &place, tiling->value[KNN_N1]);
    return judge(costs, &place);
}

/* The largest slice of `whole` below `slice`, or 0. */
static int64_t slice_below(int64_t whole, int64_t slice, int64_t block)
{
    if (slice <= block)
        return 0;
    return round_up(divide_up(whole, divide_up(whole, slice - block)), block);
}

/* What is done with a place whose n2 is set; false ends the walk. */
struct walker {
    const struct knn_costs *costs;
    bool (*meet)(const struct walker *walker, const struct place *place);
    bool prune;
    choice_visitor *visit;
    void *context;
};

static bool meet_choice(const struct walker *walker, const struct place *place)
{
    enum fate fate = walker->prune ? judge(walker->costs, place) : FATE_LIVES;
    struct choice choice = choose(walker->costs, place, fate);
    return walker->visit(walker->context, &choice);
}

static bool meet_count(const struct walker *walker, const struct place *place)
{
    (void)place;
    ++*(int64_t *)walker->context;
    return true;
}

static bool walk_columns(const struct walker *walker, struct place *place)
{
    const struct knn_costs *costs = walker->costs;
    int64_t block = knn_space_of(costs->space)->block, n1 = place->tiling.value[KNN_N1];
    bool going = true;
    place->whole = fits(costs, place, n1);
    for (int64_t n2 = n1; n2 > 0 && going; n2 = slice_below(n1, n2, block)) {
        place->tiling.value[KNN_N2] = n2;
        if (fits(costs, place, n2))
            going = walker->meet(walker, place);
    }
    return going;
}

/* All legal tilings of one m1. */
static void walk_places(const struct walker *walker, int m1)
{
    const struct knn_costs *costs = walker->costs;
    const struct space_block *axes = costs->block;
    int64_t block = knn_space_of(costs->space)->block, rows = axes->values[KNN_M1][m1];
    struct place place = {.m1 = m1, .tiling.value[KNN_M1] = rows};
    bool going = true;
    for (place.n1 = 0; place.n1 < costs->n1_count && going; place.n1++) {
        place.tiling.value[KNN_N1] = axes->values[KNN_N1][place.n1];
        for (int64_t m2 = rows; m2 > 0 && going; m2 = slice_below(rows, m2, block)) {
            place.tiling.value[KNN_M2] = m2;
            if (fits(costs, &place, block))
                going = walk_columns(walker, &place);
        }
    }
}

void choices_visit(const struct knn_costs *costs, int m1, bool prune, choice_visitor *visit,
                   void *context)
{
    walk_places(&(struct walker){costs, meet_choice, prune, visit, context}, m1);
}

int64_t choices_count(const struct knn_costs *costs, int m1)
{
    int64_t count = 0;
    walk_places(&(struct walker){.costs = costs, .meet = meet_count, .context = &count}, m1);
    return count;
}
