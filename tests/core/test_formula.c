/* Formulas of operations: what they compute, on all lengths of rows, and what is refused where. */
#include "core/formula.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* The value for one element of each source. */
static double value_of(const char *text, double a, double b, double c)
{
    struct formula formula;
    struct error error;
    double result = 0;
    cr_assert_eq(formula_parse(text, &formula, &error), STATUS_OK, "%s: %s", text, error.text);
    formula_apply(&formula, (const double *[]){&a, &b, &c}, 1, false, &result);
    return result;
}

Test(formula, computes)
{
    static const struct {
        const char *text;
        double a, b, c, expected;
    } rows[] = {
        {"a + b", 1, 2, 0, 3},
        {"a - b - c", 10, 3, 2, 5},
        {"a / b * c", 12, 3, 2, 8},
        {"a+b*c", 1, 2, 3, 7},
        {"(a+b)*c", 1, 2, 3, 9},
        {"--a - -b", 1, 2, 0, 3},
        {"max(a, 0)", -4, 0, 0, 0},
        {"min(a, max(b, c))", 9, 2, 5, 5},
        {"1 if a < b else 0", 1, 2, 0, 1},
        {"1 if a < b else 0", 2, 2, 0, 0},
        {"b if a else c", 0, 5, 6, 6},
        {"b if a else c", -1, 5, 6, 5},
        {"a if a > b else b if b > c else c", 1, 2, 3, 3},
        {"a if a > b else b if b > c else c", 1, 4, 3, 4},
        {"(a <= b) + (a >= b) + (a == b) + (a != b)", 2, 2, 0, 3},
        {"exp(ln(a)) + sqrt(b) + abs(c) + floor(1.5)", 1, 4, -3, 7},
        {"and(a, b) + or(a, b)", 12, 10, 0, 22},
        {"not(a)", 5, 0, 0, -6},
        {"2.5e1*a", 2, 0, 0, 50},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(value_of(rows[i].text, rows[i].a, rows[i].b, rows[i].c),
                           rows[i].expected, 1e-12, "%s", rows[i].text);
}

Test(formula, numbers_that_are_none_stay)
{
    cr_expect(isnan(value_of("max(a, b)", NAN, 1, 0)) && isnan(value_of("max(a, b)", 1, NAN, 0)));
    cr_expect(isnan(value_of("min(a, b)", NAN, 1, 0)) && isnan(value_of("min(a, b)", 1, NAN, 0)));
    cr_expect_eq(value_of("ln(a)", 0, 0, 0), -INFINITY);
    cr_expect_eq(value_of("1 / a", 0, 0, 0), INFINITY);
    cr_expect_eq(value_of("and(a, 1)", INFINITY, 0, 0), 0);
}

Test(formula, rows_of_any_length_and_in_place)
{
    struct formula formula;
    struct error error;
    double a[1000], b[1000];
    cr_assert_eq(formula_parse("a*b - max(a, b) if a < b else a", &formula, &error), STATUS_OK);
    cr_expect_eq(formula.sources, 2);
    for (int count = 0; count <= 1000; count += 37) {
        for (int i = 0; i < 1000; i++) {
            a[i] = i % 17;
            b[i] = i % 5;
        }
        formula_apply(&formula, (const double *[]){a, b, NULL}, count, false, a);
        for (int i = 0; i < 1000; i++) {
            double x = i % 17, y = i % 5;
            cr_assert_eq(a[i], i < count && x < y ? x * y - y : x, "%d of %d", i, count);
        }
    }
}

Test(formula, each_result_is_single)
{
    struct formula formula;
    struct error error;
    double a = 16777216, b = 1, result;
    cr_assert_eq(formula_parse("a + b - a", &formula, &error), STATUS_OK);
    formula_apply(&formula, (const double *[]){&a, &b, NULL}, 1, true, &result);
    cr_expect_eq(result, 0);
    formula_apply(&formula, (const double *[]){&a, &b, NULL}, 1, false, &result);
    cr_expect_eq(result, 1);
}

Test(formula, refusals)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", "column 1: expected a number"},
        {"a +", "column 4: expected a number"},
        {"a b", "column 3: expected its end"},
        {"d", "column 1: expected a number"},
        {"max(a)", "column 6: expected ','"},
        {"(a", "column 3: expected ')'"},
        {"a if b", "column 7: expected 'else'"},
        {"1e999", "column 1: expected a finite"},
        {"0x10", "column 1: expected a finite"},
        {"maxa(b, c)", "column 1: expected a number"},
        {"a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a", "expected fewer terms"},
        {"a+(a+(a+(a+(a+(a+(a+(a+(a+a))))))))", "expected less nesting"},
        {"------------------------------------------a", "expected"},
        {"((((((((((((((((((((((((((((((((((((((((((a", "expected less nesting"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct formula formula;
        struct error error;
        cr_expect_eq(formula_parse(rows[i].text, &formula, &error), STATUS_INVALID, "%s",
                     rows[i].text);
        cr_expect(strstr(error.text, rows[i].expected), "%s: %s", rows[i].text, error.text);
        cr_expect_eq(formula.count, 0);
    }
}
