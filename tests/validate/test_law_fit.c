/* validate/law_fit: costs that explain times, as far as there are times to say so. */
#include "validate/law_fit.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 40, TERMS = 3 };

static const double expected[TERMS] = {1, 1, 1}, most[TERMS] = {10, 10, 10};

struct made {
    double term[ROWS * TERMS], times[ROWS];
    char used[ROWS];
};

/* A launch of 2, elements at 0.5 and rows at 4. */
static void make(struct made *m)
{
    for (int r = 0; r < ROWS; r++) {
        double *term = m->term + (size_t)r * TERMS;
        term[0] = 1;
        term[1] = 1 + r * r % 17;
        term[2] = r % 5;
        m->times[r] = 2 * term[0] + 0.5 * term[1] + 4 * term[2];
        m->used[r] = 1;
    }
}

static struct law_data data_of(const struct made *m)
{
    return (struct law_data){ROWS, TERMS, m->term, m->times, m->used};
}

Test(law_fit, finds_the_costs)
{
    struct made m;
    double costs[TERMS];
    make(&m);
    m.times[7] *= 20; /* an outlier moves nothing much */
    struct law_data data = data_of(&m);
    law_fit(&data, expected, most, 0.01, costs);
    cr_expect_float_eq(costs[0], 2, 0.1);
    cr_expect_float_eq(costs[1], 0.5, 0.02);
    cr_expect_float_eq(costs[2], 4, 0.1);
    cr_expect_float_eq(law_value(m.term + 3 * TERMS, costs, TERMS), m.times[3], 0.3);
}

Test(law_fit, few_rows_stay_near_what_is_expected)
{
    struct made m;
    double none[TERMS], one[TERMS], all[TERMS];
    make(&m);
    struct law_data data = data_of(&m);
    law_fit(&data, expected, most, 3, all);
    memset(m.used, 0, sizeof m.used);
    law_fit(&data, expected, most, 3, none);
    for (int i = 0; i < TERMS; i++)
        cr_expect_eq(none[i], expected[i]);
    m.used[4] = 1; /* all of its time goes to rows */
    law_fit(&data, expected, most, 3, one);
    cr_expect_gt(one[2], 1);
    cr_expect_lt(one[2], all[2]);
}

Test(law_fit, costs_stay_in_their_range)
{
    struct made m;
    const double low[TERMS] = {10, 10, 0.25};
    double costs[TERMS];
    make(&m);
    for (int r = 0; r < ROWS; r++)
        m.times[r] = 30.0 / (1 + m.term[r * TERMS + 1]); /* falls with the elements */
    struct law_data data = data_of(&m);
    law_fit(&data, expected, low, 0.01, costs);
    cr_expect_geq(costs[1], 0);
    cr_expect_lt(costs[1], 0.2);
    cr_expect_leq(costs[0], 10);
    cr_expect_leq(costs[2], 0.25);
}
