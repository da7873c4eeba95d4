/* core/correction: what a forest says, how far outside, and which problems it has seen. */
#include "core/correction.h"
#include "tests/support/made_up_correction.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct features *features, const char *name, double value)
{
    snprintf(features->name[features->count], FEATURE_NAME_SIZE, "%s", name);
    features->value[features->count++] = value;
}

static struct corrected apply(double time, double m, const char *other)
{
    struct correction correction;
    struct corrected corrected;
    struct features features = {0};
    made_up_correction(&correction);
    put(&features, "size m", m); /* in another order than in training */
    put(&features, "time", time);
    if (other)
        put(&features, other, 2);
    correction_apply(&correction, &features, 100, &corrected);
    correction_clear(&correction);
    return corrected;
}

static void expect(double got, double wanted)
{
    cr_expect_lt(fabs(got / wanted - 1), 1e-5, "%.9g, expected %.9g", got, wanted);
}

Test(correction, follows_its_tree)
{
    expect(apply(2, 1, NULL).corrected_ns, 200);
    expect(apply(3, 2, NULL).corrected_ns, 200);
    expect(apply(3.5, 1, NULL).corrected_ns, 100);
    expect(apply(3.5, 1.6, NULL).corrected_ns, 400);
}

/* Both ends are moved apart by the margin, and the middle lies between them. */
Test(correction, interval)
{
    struct corrected c = apply(3.5, 1, NULL);
    expect(c.low_ns, 50 * exp(-0.125));
    expect(c.high_ns, 200 * exp(0.125));
    c = apply(3.5, 2, NULL);
    expect(c.low_ns, 50 * exp(-0.125));
    expect(c.high_ns, 400);
}

Test(correction, outside)
{
    struct corrected c = apply(5, 1, NULL);
    cr_expect_eq(c.outside, 0);
    cr_expect_str_eq(c.outside_by, "");
    c = apply(7, 1, NULL);
    expect(c.outside, 0.5);
    cr_expect_str_eq(c.outside_by, "time");
    c = apply(7, 4, NULL);
    expect(c.outside, 3);
    cr_expect_str_eq(c.outside_by, "size m", "a range of one point counts in units");
    c = apply(5, 1, "bytes l1->l0a");
    expect(c.outside, 2);
    cr_expect_str_eq(c.outside_by, "bytes l1->l0a", "training had none of it");
    c = apply(5 + 1e-7, 1, NULL);
    cr_expect_eq(c.outside, 0, "ranges are kept with nine digits");
}

Test(correction, problems)
{
    struct correction correction;
    static const int64_t a[] = {16, 32, 48, 1}, b[] = {16, 48, 32, 1};
    made_up_correction(&correction);
    cr_expect(correction_has_seen(&correction, 17));
    cr_expect(correction_has_seen(&correction, 4294967295U));
    cr_expect(!correction_has_seen(&correction, 18));
    correction_clear(&correction);
    cr_expect(!correction_has_seen(&correction, 17));
    cr_expect_neq(correction_problem(a, 4), correction_problem(b, 4));
    cr_expect_eq(correction_problem(a, 4), correction_problem(a, 4));
}
