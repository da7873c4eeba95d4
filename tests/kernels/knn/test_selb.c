/* What SelB-k-NN's cost model counts, and that its two inequalities are theorems: the distribution
 * of a row's updates and the steps of a loop against enumeration, exact quotients and a simulation;
 * the inequalities against the costs themselves, in exact arithmetic. */
#include "kernels/knn/selb.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gsl_rng *rng;

static void enter(void)
{
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 7);
}

static void leave(void)
{
    gsl_rng_free(rng);
}

TestSuite(selb, .init = enter, .fini = leave);

static int64_t pick(int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least + 1));
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void expect_near(double got, double expected, double relative, const char *what)
{
    cr_assert(fabs(got - expected) <= relative * fabs(expected), "%s: %.17g, expected %.17g", what,
              got, expected);
}

/* ---- harmonic numbers ------------------------------------------------------------------------ */

Test(selb, harmonic_number_is_the_plain_sum)
{
    long double sum = 0;
    cr_assert_eq(harmonic_number(0), 0);
    for (int64_t n = 1; n <= test_cases(1000000); n++) {
        sum += 1.0L / (long double)n;
        if (n < 2000 || n % 997 == 0)
            expect_near(harmonic_number(n), (double)sum, 1e-15, "harmonic number");
    }
    /* H(10^9), from its asymptotic series in 30 digits */
    expect_near(harmonic_number(1000000000), 21.300481502347944, 1e-15, "H(10^9)");
}

/* ---- updates of a row ------------------------------------------------------------------------ */

static long double binomial(int64_t n, int64_t k)
{
    long double result = 1;
    if (k < 0 || k > n)
        return 0;
    for (int64_t i = 1; i <= k; i++)
        result = result * (long double)(n - k + i) / (long double)i;
    return result;
}

/* P(X <= updates), from the number of ways to choose the k smallest. While fewer than k values have
 * been seen, every value is one of them. */
static double exact_probability(int64_t k, int64_t columns, int64_t t, int64_t updates)
{
    int64_t all = lesser(k, t * columns);
    long double ways = 0;
    for (int64_t j = 0; j <= lesser(updates, columns); j++)
        ways += binomial(columns, j) * binomial((t - 1) * columns, all - j);
    return (double)(ways / binomial(t * columns, all));
}

Test(selb, updates_of_a_row_are_hypergeometric)
{
    for (int64_t columns = 1; columns <= 48; columns += columns < 6 ? 1 : 7)
        for (int64_t k = 1; k <= 40; k += k < 6 ? 1 : 5)
            for (int64_t t = 1; t <= 9; t++)
                for (int64_t j = 0; j <= lesser(k, columns) + 1; j++) {
                    double got = selb_update_probability(k, columns, (double)t, j);
                    double expected = exact_probability(k, columns, t, j);
                    cr_assert(fabs(got - expected) <= 1e-13,
                              "k %lld, columns %lld, t %lld, updates %lld: %.17g, expected %.17g",
                              (long long)k, (long long)columns, (long long)t, (long long)j, got,
                              expected);
                }
}

/* Large ones, where binomials overflow: the tail from term to term in long doubles. */
Test(selb, updates_of_a_row_in_large_tiles)
{
    static const int64_t cases[][3] = {{4096, 4096, 2}, {4096, 4096, 1000}, {4000, 512, 9},
                                       {4096, 16, 300}, {64, 4096, 50},     {1, 31744, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t k = cases[i][0], columns = cases[i][1], t = cases[i][2];
        int64_t before = (t - 1) * columns, least = before < k ? k - before : 0;
        long double logs = lgammal((long double)columns + 1) + lgammal((long double)before + 1) +
                           lgammal((long double)k + 1) +
                           lgammal((long double)(t * columns - k) + 1) -
                           lgammal((long double)(t * columns) + 1);
        long double reached = 0;
        for (int64_t j = least; j <= lesser(k, columns); j++) {
            long double own = lgammal((long double)j + 1) + lgammal((long double)(columns - j) + 1);
            own += lgammal((long double)(k - j) + 1) + lgammal((long double)(before - k + j) + 1);
            reached += expl(logs - own);
            double got = selb_update_probability(k, columns, (double)t, j);
            cr_assert(fabs(got - (double)reached) < 1e-10, "case %zu, updates %lld: %.17g, %.17Lg",
                      i, (long long)j, got, reached);
        }
    }
}

/* ---- steps of a tile ------------------------------------------------------------------------- */

/* Alg. 4 for one row: how many values of tile t are taken, one by one, into the k smallest so far.
 */
static int updates_of(const double *values, int k, int columns, int t)
{
    double kept[64], tile[64];
    int updates = 0;
    for (int i = 0; i < k; i++)
        kept[i] = INFINITY;
    for (int number = 0; number < t; number++) {
        memcpy(tile, values + (size_t)number * (size_t)columns, (size_t)columns * sizeof *tile);
        updates = 0;
        for (int step = 0; step < k; step++) {
            int largest = 0, least = 0;
            for (int i = 1; i < k; i++)
                largest = kept[i] > kept[largest] ? i : largest;
            for (int i = 1; i < columns; i++)
                least = tile[i] < tile[least] ? i : least;
            if (tile[least] >= kept[largest])
                break;
            kept[largest] = tile[least];
            tile[least] = INFINITY;
            updates++;
        }
    }
    return updates;
}

/* Counts the updates of all orders of the values: by Heap's algorithm. */
static void count_orders(double *values, int open, int k, int columns, int t, int64_t counts[])
{
    if (open <= 1) {
        counts[updates_of(values, k, columns, t)]++;
        return;
    }
    for (int i = 0; i < open; i++) {
        count_orders(values, open - 1, k, columns, t, counts);
        int other = open % 2 ? 0 : i;
        double moved = values[other];
        values[other] = values[open - 1];
        values[open - 1] = moved;
    }
}

/* E[max] over independent rows: every combination of rows counts alike. */
static double mean_of_largest(const int64_t counts[], int most, int rows)
{
    double all = 0, below = 0, expected = 0;
    for (int j = 0; j <= most; j++)
        all += (double)counts[j];
    for (int j = 0; j <= most; j++) {
        double before = pow(below / all, rows);
        below += (double)counts[j];
        expected += j * (pow(below / all, rows) - before);
    }
    return expected;
}

static void expect_enumerated(int k, int columns, int t)
{
    int64_t counts[16] = {0};
    double values[16];
    for (int i = 0; i < t * columns; i++)
        values[i] = i;
    count_orders(values, t * columns, k, columns, t, counts);
    for (int rows = 1; rows <= 4; rows++) {
        double got = selb_steps(k, rows, columns, t);
        double expected = mean_of_largest(counts, columns, rows);
        cr_assert(fabs(got - expected) < 1e-12,
                  "k %d, rows %d, columns %d, t %d: %.17g, expected %.17g", k, rows, columns, t,
                  got, expected);
    }
}

/* Also k above what has been seen, where every value is an update. */
Test(selb, steps_of_all_orders_of_few_values)
{
    int most = test_thinning() > 1 ? 6 : 8;
    for (int columns = 1; columns <= 4; columns++)
        for (int t = 1; t * columns <= most; t++)
            for (int k = 1; k <= most + 1; k++)
                expect_enumerated(k, columns, t);
}

Test(selb, steps_of_simulated_rows)
{
    static const int cases[][4] = {/* k, rows, columns, t */
                                   {4, 5, 8, 3},
                                   {1, 16, 16, 4},
                                   {16, 16, 32, 2},
                                   {8, 3, 16, 7},
                                   {20, 16, 16, 2}};
    int trials = test_cases(2000);
    double values[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *c = cases[i];
        double sum = 0, squares = 0;
        for (int trial = 0; trial < trials; trial++) {
            int largest = 0;
            for (int row = 0; row < c[1]; row++) {
                for (int v = 0; v < c[2] * c[3]; v++)
                    values[v] = gsl_rng_uniform(rng);
                int updates = updates_of(values, c[0], c[2], c[3]);
                largest = updates > largest ? updates : largest;
            }
            sum += largest;
            squares += (double)largest * largest;
        }
        double mean = sum / trials;
        double error = sqrt((squares / trials - mean * mean) / (trials - 1));
        double expected = selb_steps(c[0], c[1], c[2], c[3]);
        cr_assert(fabs(mean - expected) <= 4 * error + 1e-12, "case %zu: %g +- %g, expected %g", i,
                  mean, error, expected);
    }
}

/* eq. 3.8, whatever the sizes, once k values have been seen. */
Test(selb, mean_of_a_row_is_k_over_t)
{
    for (int i = 0; i < test_cases(20000); i++) {
        int64_t columns = 16 * pick(1, 300), k = pick(1, 300), t = pick(1, 400);
        if (k <= t * columns)
            expect_near(selb_steps(k, 1, columns, (double)t), (double)k / (double)t, 1e-12,
                        "steps of one row");
    }
}

Test(selb, more_rows_take_more_steps_and_later_tiles_fewer)
{
    for (int i = 0; i < test_cases(5000); i++) {
        int64_t columns = pick(1, 10) * pick(1, 100), k = pick(1, 300), rows = pick(1, 200);
        int64_t t = pick(1, 50) * pick(1, 50);
        double steps = selb_steps(k, rows, columns, (double)t), slack = 1e-11 * steps;
        cr_assert_leq(steps, selb_steps(k, rows + pick(1, 100), columns, (double)t) + slack);
        cr_assert_geq(steps, selb_steps(k, rows, columns, (double)(t + pick(1, 9))) - slack);
        cr_assert_leq(steps, (double)lesser(k, columns) + slack);
        if (k <= columns)
            cr_assert_geq(steps, (double)k / (double)t - slack);
        if (t == 1)
            cr_assert_eq(steps, (double)lesser(k, columns));
    }
}

Test(selb, first_tile_takes_all_its_columns_or_k)
{
    static const int64_t sizes[] = {1, 2, 15, 16, 17, 64, 1000, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int64_t rows = 1; rows < 300; rows += 50)
                cr_assert_eq(selb_steps(sizes[i], rows, sizes[j], 1),
                             (double)lesser(sizes[i], sizes[j]));
}

static double plain_sum(int64_t k, int64_t rows, int64_t columns, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t t = first; t <= last; t++)
        sum += selb_steps(k, rows, columns, (double)t);
    return sum;
}

Test(selb, sum_of_steps_is_the_plain_sum)
{
    static const int64_t cases[][3] = {{16, 16, 16}, {8, 64, 128}, {1, 1, 4096},
                                       {64, 16, 16}, {100, 1, 32}, {16, 1000, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t k = cases[i][0], rows = cases[i][1], columns = cases[i][2];
        static const int64_t ranges[][2] = {{1, 1},       {1, 1024},    {1, 1025},   {900, 1100},
                                            {1025, 1025}, {1025, 1026}, {1, 12800},  {1025, 12345},
                                            {3000, 7000}, {5, 4},       {1025, 1024}};
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            expect_near(selb_steps_sum(k, rows, columns, ranges[r][0], ranges[r][1]),
                        plain_sum(k, rows, columns, ranges[r][0], ranges[r][1]), 1e-7,
                        "sum of steps");
    }
}

/* Σ k/t is k·H, and one row's steps are k/t. */
Test(selb, sum_of_one_row_is_harmonic)
{
    for (int64_t tiles = 1; tiles < 1000000000; tiles = 3 * tiles + 1)
        expect_near(selb_steps_sum(8, 1, 64, 1, tiles), 8 * harmonic_number(tiles), 1e-8,
                    "sum of one row");
}

/* ---- the inequalities are theorems -----------------------------------------------------------
 *
 * Of tiles of n2 columns it is known only that g(n2) >= 0; so the least that they can cost is
 * without it. */

enum { EXACT_TILES = 36 };

/* Least common multiple of 1 … EXACT_TILES, and H(n) times it: integers. */
static __int128 common(void)
{
    __int128 result = 1;
    for (int64_t n = 2; n <= EXACT_TILES; n++) {
        int64_t a = n, b = (int64_t)(result % n);
        while (b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        result *= n / a;
    }
    return result;
}

static __int128 common_harmonic(int64_t n)
{
    __int128 all = common(), sum = 0;
    for (int64_t t = 1; t <= n; t++)
        sum += all / t;
    return sum;
}

/* What tiles of n2 columns cost more than those of n1, times common(): T2·g0(n2) + k·H(T2)·g(n2) −
 * T1·g0(n1) − k·H(T1)·g(n1), where H(T2) is H(T1) at least. */
static __int128 exact_loss(const struct selb_pair *pair, int64_t step_small_fs)
{
    __int128 idle = (__int128)pair->tiles * pair->p * pair->idle_small_fs -
                    (__int128)pair->tiles * pair->idle_large_fs;
    __int128 steps = (__int128)pair->k * (step_small_fs - pair->step_large_fs);
    return common() * idle + common_harmonic(pair->tiles) * steps;
}

static int64_t draw_cost(void)
{
    static const int64_t most[] = {0, 3, 100, 1000000, 1000000000, 100000000000};
    return (int64_t)(gsl_rng_uniform(rng) * (double)(most[pick(0, 5)] + 1));
}

/* Half of them near a tie of one of the inequalities. */
static struct selb_pair draw_pair(void)
{
    struct selb_pair pair = {.k = pick(0, 3) ? pick(1, 64) : pick(1, 4096),
                             .p = pick(0, 3) ? pick(2, 9) : pick(2, 2000),
                             .tiles = pick(0, 2) ? pick(1, EXACT_TILES) : 1,
                             .idle_small_fs = draw_cost(),
                             .idle_large_fs = draw_cost(),
                             .step_large_fs = draw_cost()};
    pair.steps_large = (double)pair.k * harmonic_number(pair.tiles);
    int form = (int)pick(0, 3);
    if (form == 0)
        pair.idle_small_fs =
            (pair.idle_large_fs + pair.k * pair.step_large_fs) / pair.p + pick(-1, 1);
    if (form == 1)
        pair.idle_small_fs = (int64_t)(((double)pair.tiles * (double)pair.idle_large_fs +
                                        pair.steps_large * (double)pair.step_large_fs) /
                                       ((double)pair.tiles * (double)pair.p)) +
                             pick(-1, 1);
    pair.idle_small_fs = pair.idle_small_fs < 0 ? 0 : pair.idle_small_fs;
    return pair;
}

static double cost_without_steps(const struct selb_pair *pair)
{
    return (double)pair->tiles * (double)pair->p * (double)pair->idle_small_fs;
}

Test(selb, what_selb_prunes_is_slower)
{
    int64_t pruned = 0, pairs = test_cases(100000);
    for (int64_t i = 0; i < pairs; i++) {
        struct selb_pair pair = draw_pair();
        bool prunes = selb_prunes(&pair);
        pruned += prunes;
        if (prunes)
            cr_assert(exact_loss(&pair, pick(0, 1) ? 0 : draw_cost()) > 0);
        /* nothing more can be pruned for every N: one distance tile, g(n2) = 0 */
        pair.tiles = 1;
        cr_assert_eq(prunes, exact_loss(&pair, 0) > 0);
    }
    cr_assert(pruned > pairs / 5 && pruned < pairs * 4 / 5, "%lld", (long long)pruned);
}

Test(selb, what_the_harmonic_inequality_prunes_is_no_faster)
{
    int64_t pruned = 0, ties = 0, pairs = test_cases(100000);
    for (int64_t i = 0; i < pairs; i++) {
        struct selb_pair pair = draw_pair();
        bool prunes = harmonic_prunes(&pair);
        __int128 loss = exact_loss(&pair, 0);
        pruned += prunes;
        ties += loss == 0 && pair.idle_small_fs;
        if (prunes)
            cr_assert(loss >= 0 && exact_loss(&pair, draw_cost()) >= 0);
        /* and all is pruned that can be, but for ties within a double's error */
        else
            cr_assert((double)loss / (double)common() <= 2e-12 * cost_without_steps(&pair));
        /* SelB is the weaker one */
        if (selb_prunes(&pair))
            cr_assert(prunes ||
                      (double)loss / (double)common() <= 2e-12 * cost_without_steps(&pair));
    }
    cr_assert(pruned > pairs / 5 && pruned < pairs * 4 / 5, "%lld", (long long)pruned);
    cr_assert_gt(ties, pairs / 1000);
}

/* A tie must stay: the smaller tile has the smaller index and is the answer. */
Test(selb, exact_ties_are_not_pruned)
{
    struct selb_pair pair = {.k = 8, .p = 2, .tiles = 1, .steps_large = 8};
    pair.idle_large_fs = 1000000000;
    pair.step_large_fs = 1000;
    pair.idle_small_fs = (pair.idle_large_fs + 8 * pair.step_large_fs) / 2;
    cr_assert_not(selb_prunes(&pair));
    cr_assert_not(harmonic_prunes(&pair));
    pair.idle_small_fs++;
    cr_assert(selb_prunes(&pair));
    cr_assert(harmonic_prunes(&pair));
}

/* Far more distance tiles than the exact arithmetic holds. */
Test(selb, many_tiles)
{
    int64_t pruned = 0, pairs = test_cases(100000);
    for (int64_t i = 0; i < pairs; i++) {
        struct selb_pair pair = draw_pair();
        pair.tiles = pick(1, 1000) * pick(1, 100000);
        long double harmonic = (long double)harmonic_number(pair.tiles);
        pair.steps_large = (double)pair.k * (double)harmonic;
        if (pick(0, 1))
            pair.idle_small_fs =
                (int64_t)(((long double)pair.idle_large_fs +
                           (long double)pair.k * harmonic / pair.tiles * pair.step_large_fs) /
                          pair.p) +
                pick(0, 2);
        long double small = (long double)pair.tiles * pair.p * pair.idle_small_fs;
        long double large = (long double)pair.tiles * pair.idle_large_fs +
                            (long double)pair.k * harmonic * pair.step_large_fs;
        bool prunes = harmonic_prunes(&pair);
        pruned += prunes;
        if (prunes)
            cr_assert(small >= large);
        if (selb_prunes(&pair))
            cr_assert(small > large * (1 - 1e-15L));
    }
    cr_assert(pruned > pairs / 10 && pruned < pairs * 9 / 10, "%lld", (long long)pruned);
}

/* With the expected largest number of updates, which n2 changes too. */
Test(selb, what_is_pruned_is_slower_with_expected_steps)
{
    int64_t pruned = 0, pairs = test_cases(20000);
    for (int64_t i = 0; i < pairs; i++) {
        struct selb_pair pair = draw_pair();
        int64_t rows = 16 * pick(1, 4), small_columns = 16 * pick(1, 4);
        pair.k = pick(1, 64);
        pair.p = pick(2, 6);
        pair.tiles = pick(1, 12);
        int64_t columns = small_columns * pair.p;
        pair.steps_large = selb_steps_sum(pair.k, rows, columns, 1, pair.tiles);
        if (pick(0, 1))
            pair.idle_small_fs =
                (int64_t)((double)pair.idle_large_fs +
                          pair.steps_large / (double)pair.tiles * (double)pair.step_large_fs) /
                    pair.p +
                pick(0, 2);
        int64_t step_small = pick(0, 1) ? 0 : draw_cost();
        long double small =
            (long double)pair.tiles * pair.p * pair.idle_small_fs +
            (long double)step_small *
                (long double)selb_steps_sum(pair.k, rows, small_columns, 1, pair.tiles * pair.p);
        long double large = (long double)pair.tiles * pair.idle_large_fs +
                            (long double)pair.steps_large * pair.step_large_fs;
        bool harmonic = harmonic_prunes(&pair), selb = selb_prunes(&pair);
        pruned += harmonic;
        cr_assert(!harmonic || small >= large);
        cr_assert(!selb || small > large);
    }
    cr_assert(pruned > pairs / 5 && pruned < pairs * 4 / 5, "%lld", (long long)pruned);
}

/* Costs that only a broken description gives must neither wrap nor prune wrongly. */
Test(selb, huge_costs_do_not_wrap)
{
    struct selb_pair pair = {.k = 4096, .p = 1 << 27, .tiles = INT64_C(1) << 27};
    pair.idle_small_fs = 1;
    pair.idle_large_fs = 1;
    pair.step_large_fs = INT64_MAX / 8;
    pair.steps_large = 4096 * harmonic_number(pair.tiles);
    cr_assert_not(selb_prunes(&pair));
    cr_assert_not(harmonic_prunes(&pair));
    pair.idle_large_fs = INT64_MAX;
    pair.step_large_fs = 1;
    cr_assert_not(selb_prunes(&pair));
    cr_assert_not(harmonic_prunes(&pair));
}
