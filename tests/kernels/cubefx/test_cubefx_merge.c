/* The integer program of Cube-fx against brute construction: the matrices are built, cut into
 * blocks, multiplied by a unit that counts, and the products must be those of the naive mapping. */
#include "kernels/cubefx/cubefx_merge.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A matrix unit of edge s that counts its products and the elements that it was fed. */
struct unit {
    int64_t s, products, elements;
};

struct matrix {
    int64_t rows, columns; /* multiples of s */
    int64_t *at;
};

static int64_t whole(int64_t n, int64_t s)
{
    while (n % s)
        n++;
    return n;
}

static struct matrix matrix_new(int64_t rows, int64_t columns, int64_t s)
{
    struct matrix m = {whole(rows, s), whole(columns, s), NULL};
    m.at = calloc((size_t)(m.rows * m.columns), sizeof *m.at);
    cr_assert(m.at);
    return m;
}

static struct matrix product(struct unit *unit, const struct matrix *a, const struct matrix *b)
{
    int64_t s = unit->s;
    struct matrix c = matrix_new(a->rows, b->columns, s);
    cr_assert_eq(a->columns, b->rows);
    for (int64_t i = 0; i < a->rows; i += s)
        for (int64_t j = 0; j < b->columns; j += s)
            for (int64_t l = 0; l < b->rows; l += s) {
                unit->products++;
                for (int64_t x = 0; x < s * s * s; x++) {
                    int64_t row = i + x / s / s, column = j + x / s % s, inner = l + x % s;
                    c.at[row * c.columns + column] +=
                        a->at[row * a->columns + inner] * b->at[inner * b->columns + column];
                }
            }
    return c;
}

/* Thesis, Fig. 4.7: the Sequence Matrices of inputs first … first + t − 1 of a row side by side. */
static struct matrix sequence(int64_t s, int64_t k, int64_t t, int64_t first)
{
    struct matrix m = matrix_new(s, k * t, s);
    for (int64_t u = 0; u < t && first + u < s; u++)
        for (int64_t i = 0; i < k; i++)
            m.at[(first + u) * m.columns + u * k + i] = i + 1;
    return m;
}

static int64_t coefficient(int64_t i, int64_t f)
{
    return 1 + 3 * i - 7 * f;
}

static struct matrix diagonal(int64_t s, int64_t k, int64_t j, int64_t t, int64_t inner)
{
    struct matrix m = matrix_new(inner, j * t, s);
    for (int64_t u = 0; u < t; u++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t f = 0; f < j; f++)
                m.at[(u * k + i) * m.columns + u * j + f] = coefficient(i, f);
    return m;
}

/* Σ_i a_i·(i + 1)·x: what the two products give without the exponential between them. */
static int64_t expected_sum(int64_t x, int64_t k, int64_t f)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += coefficient(i, f) * (i + 1) * x;
    return sum;
}

static void check_step(const struct matrix *inputs, const struct matrix *sums, int64_t k, int64_t j,
                       int64_t t, int64_t first)
{
    int64_t s = inputs->rows;
    for (int64_t row = 0; row < s; row++)
        for (int64_t u = 0; u < t && first + u < s; u++)
            for (int64_t f = 0; f < j; f++)
                cr_assert_eq(sums->at[row * sums->columns + u * j + f],
                             expected_sum(inputs->at[row * s + first + u], k, f),
                             "s %ld k %ld j %ld t %ld", s, k, j, t);
}

/* Runs s·s inputs through the unit with t merged matrices. */
static struct unit construct(int64_t s, int64_t k, int64_t j, int64_t t)
{
    struct unit unit = {.s = s, .elements = s * s};
    struct matrix inputs = matrix_new(s, s, s);
    for (int64_t i = 0; i < s * s; i++)
        inputs.at[i] = i - 5;
    for (int64_t first = 0; first < s; first += t) {
        struct matrix left = sequence(s, k, t, first);
        struct matrix powers = product(&unit, &inputs, &left);
        struct matrix right = diagonal(s, k, j, t, powers.columns);
        struct matrix sums = product(&unit, &powers, &right);
        unit.elements += left.rows * left.columns + right.rows * right.columns;
        check_step(&inputs, &sums, k, j, t, first);
        free(left.at);
        free(powers.at);
        free(right.at);
        free(sums.at);
    }
    free(inputs.at);
    return unit;
}

static struct merge_plan plan_of(int64_t s, int64_t k, int64_t j, double b, int64_t t)
{
    struct merge_problem problem = {s, k, j, b};
    struct merge_plan plan;
    struct error error;
    cr_assert_eq(merge_evaluate(&problem, t, &plan, &error), STATUS_OK, "%s", error.text);
    return plan;
}

Test(cubefx_merge, counts_are_those_of_the_built_matrices)
{
    int64_t most = test_thinning() > 1 ? 4 : 6;
    for (int64_t s = 1; s <= most; s++)
        for (int64_t k = 1; k <= 9; k++)
            for (int64_t j = 1; j <= 9; j += 1 + (k > 4))
                for (int64_t t = 1; t <= s; t++) {
                    struct unit unit = construct(s, k, j, t);
                    struct merge_plan plan = plan_of(s, k, j, 0.25, t);
                    cr_expect_eq(plan.mac_count, unit.products,
                                 "s %ld k %ld j %ld t %ld: %ld, not %ld", s, k, j, t,
                                 plan.mac_count, unit.products);
                    cr_expect_eq(plan.transfer_elements, unit.elements);
                    cr_expect_eq(plan.transfer_elements, s * s * (1 + plan.mac_count));
                    cr_expect_eq(plan.cost, (double)plan.mac_count + 0.25 * (double)unit.elements);
                }
}

static struct merge_choice choose(int64_t s, int64_t k, int64_t j, double b)
{
    struct merge_problem problem = {s, k, j, b};
    struct merge_choice choice;
    struct error error;
    cr_assert_eq(merge_choose(&problem, &choice, &error), STATUS_OK, "%s", error.text);
    return choice;
}

/* Thesis, Fig. 4.4 to 4.6. */
Test(cubefx_merge, examples_of_the_thesis)
{
    cr_expect_eq(plan_of(4, 2, 2, 0, 1).mac_count, 8);
    cr_expect_eq(plan_of(4, 2, 2, 0, 2).mac_count, 4);
    cr_expect_eq(plan_of(4, 2, 2, 0, 2).steps, 2);
    cr_expect_eq(plan_of(4, 3, 2, 0, 1).mac_count, 8);
    cr_expect_eq(plan_of(4, 3, 2, 0, 4).mac_count, 9);
    struct merge_choice choice = choose(4, 2, 2, 0);
    cr_expect_eq(choice.merge, 2);
    cr_expect_eq(choice.optimal_count, 1);
    merge_choice_clear(&choice);
    choice = choose(4, 3, 2, 0);
    cr_expect_eq(choice.merge, 1);
    merge_choice_clear(&choice);
    choice = choose(16, 16, 9, 0); /* a full unit: one matrix a step, 16·1·2 products */
    cr_expect_eq(choice.plans[0].mac_count, 32);
    cr_expect_eq(choice.merge, 1);
    merge_choice_clear(&choice);
}

/* s=4, k=1, j=1: t=1 takes 4·1·2, t=2 2·1·2, t=3 2·1·2, t=4 1·1·2; with j=2, t=4 takes 1·1·3 and
 * t=2 2·1·2. s=2, k=2, j=3: t=1 2·1·3 = 6, t=2 1·2·4 = 8. s=4, k=4, j=4: 4·1·2 = 8, 2·2·3, 2·3·4,
 * 4·5. s=6, k=3, j=3: 6·1·2 = 12, 3·1·2 = 6, 2·2·3 = 12, … */
Test(cubefx_merge, optima_by_hand)
{
    static const struct {
        int64_t s, k, j, merge, count;
    } cases[] = {
        {4, 1, 1, 4, 2}, {4, 1, 2, 4, 3}, {2, 2, 3, 1, 6}, {4, 4, 4, 1, 8}, {6, 3, 3, 2, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct merge_choice choice = choose(cases[i].s, cases[i].k, cases[i].j, 1);
        cr_expect_eq(choice.merge, cases[i].merge);
        cr_expect_eq(choice.plans[choice.merge - 1].mac_count, cases[i].count);
        merge_choice_clear(&choice);
    }
}

/* The optimal set is by the built counts, ascending, and the same for every b. */
Test(cubefx_merge, all_optima_whatever_b)
{
    static const double weights[] = {0, 1e-300, 1e-9, 0.3, 1, 1e6, 1e300};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int ties = 0, rounds = test_cases(400);
    for (int round = 0; round < rounds; round++) {
        int64_t s = 1 + (int64_t)gsl_rng_uniform_int(rng, 64);
        int64_t k = 1 + (int64_t)gsl_rng_uniform_int(rng, 80);
        int64_t j = 1 + (int64_t)gsl_rng_uniform_int(rng, 80);
        for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
            struct merge_choice choice = choose(s, k, j, weights[w]);
            int64_t least = INT64_MAX, next = 0;
            for (int64_t t = 1; t <= s; t++)
                if (choice.plans[t - 1].mac_count < least)
                    least = choice.plans[t - 1].mac_count;
            for (int64_t t = 1; t <= s; t++)
                if (choice.plans[t - 1].mac_count == least)
                    cr_expect(next < choice.optimal_count && choice.optimal[next++] == t);
            cr_expect_eq(next, choice.optimal_count);
            cr_expect_eq(choice.merge, choice.optimal[0]);
            for (int64_t t = 1; t <= s; t++)
                cr_expect(choice.plans[t - 1].cost >= choice.plans[choice.merge - 1].cost);
            ties += choice.optimal_count > 1;
            merge_choice_clear(&choice);
        }
    }
    cr_expect_gt(ties, rounds / 4);
    gsl_rng_free(rng);
}

static void expect_refused(struct merge_problem problem, int64_t merge, enum status status,
                           const char *text)
{
    struct merge_plan plan = {.mac_count = -77};
    struct merge_choice choice = {.merge = -77};
    struct error error = {0};
    cr_expect_eq(merge_evaluate(&problem, merge, &plan, &error), status);
    cr_expect(strstr(error.text, text), "'%s' lacks '%s'", error.text, text);
    cr_expect_eq(plan.mac_count, -77);
    if (merge != 1)
        return;
    cr_expect_eq(merge_choose(&problem, &choice, &error), status);
    cr_expect(strstr(error.text, text), "'%s' lacks '%s'", error.text, text);
    cr_expect_eq(choice.merge, -77);
}

Test(cubefx_merge, refusals)
{
    expect_refused((struct merge_problem){0, 2, 2, 0}, 1, STATUS_INVALID, "edge 0: expected 1 to");
    expect_refused((struct merge_problem){MERGE_MAX_EDGE + 1, 2, 2, 0}, 1, STATUS_INVALID, "edge");
    expect_refused((struct merge_problem){4, 0, 2, 0}, 1, STATUS_INVALID, "order 0: expected 1");
    expect_refused((struct merge_problem){4, 2, -3, 0}, 1, STATUS_INVALID, "-3 functions");
    expect_refused((struct merge_problem){4, 2, 2, -1}, 1, STATUS_INVALID, "weight -1");
    expect_refused((struct merge_problem){4, 2, 2, NAN}, 1, STATUS_INVALID, "weight");
    expect_refused((struct merge_problem){4, 2, 2, INFINITY}, 1, STATUS_INVALID, "weight");
    expect_refused((struct merge_problem){4, 2, 2, 0}, 0, STATUS_INVALID,
                   "merge 0: expected 1 to 4");
    expect_refused((struct merge_problem){4, 2, 2, 0}, 5, STATUS_INVALID, "merge 5");
    expect_refused((struct merge_problem){16, INT64_MAX, 1, 0}, 1, STATUS_TOO_LARGE, "63 bits");
    expect_refused((struct merge_problem){16, 1, INT64_MAX, 0}, 2, STATUS_TOO_LARGE, "63 bits");
    expect_refused((struct merge_problem){1, 1, INT64_MAX, 0}, 1, STATUS_TOO_LARGE, "63 bits");
    expect_refused((struct merge_problem){16, INT64_C(1) << 40, INT64_C(1) << 40, 0}, 1,
                   STATUS_TOO_LARGE, "63 bits");
    /* the largest that fits: M = K·(1 + 1), S_z = 1 + M = 2^63 − 1 */
    cr_expect_eq(plan_of(1, (INT64_MAX - 1) / 2, 1, 0, 1).transfer_elements, INT64_MAX);
}
