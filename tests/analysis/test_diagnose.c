/* Ratios and verdicts, from times alone: every verdict that is printed in R (Y. Zhou et al.,
 * "Squeezing Operator Performance Potential for the Ascend Architecture", ASPLOS 2025), thresholds,
 * what is not known, and what the naive roofline says. */
#include "analysis/roofline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { CUBE, VECTOR, MTE_GM, MTE_UB, MTE_L1, BUS };

/* Adds a component by its utilisation and active ratio in percent of a time of 100 ns; negative:
 * not known. */
static struct component *add(struct diagnosis *d, int which, double utilisation, double active)
{
    static const struct {
        const char *name;
        enum component_kind kind;
    } known[] = {{"Cube", COMPONENT_COMPUTE},    {"Vector", COMPONENT_COMPUTE},
                 {"MTE-GM", COMPONENT_TRANSFER}, {"MTE-UB", COMPONENT_TRANSFER},
                 {"MTE-L1", COMPONENT_TRANSFER}, {"bus", COMPONENT_INTERCONNECT}};
    struct component *c = &d->components[d->component_count++];
    strcpy(c->name, known[which].name);
    c->kind = known[which].kind;
    c->matrix = which == CUBE;
    c->ideal_ns = utilisation;
    c->busy_ns = active;
    return c;
}

static void begin(struct diagnosis *d)
{
    memset(d, 0, sizeof *d);
    d->time_ns = 100;
}

static void expect(struct diagnosis *d, const struct diagnosis_thresholds *thresholds,
                   enum verdict verdict, const char *component)
{
    diagnose(d, thresholds);
    const char *found = d->component < 0 ? "none" : d->components[d->component].name;
    cr_assert_eq(d->verdict, verdict, "%s of %s",
                 d->verdict ? verdict_name(d->verdict) : "no verdict", found);
    cr_assert_str_eq(found, component);
}

/* The operators of Zhou et al. 2025, 5: the largest utilisation, the component of the largest
 * active ratio. */
static const struct printed {
    const char *name;
    double utilisation, active_ratio;
    const char *component;
    int utilised, active;
    enum verdict verdict;
    bool matrix;
} printed[] = {
    {"Add_ReLU", 38.42, 58.68, "MTE-GM", MTE_UB, MTE_GM, VERDICT_INSUFFICIENT_PARALLELISM, false},
    {"Add_ReLU, RSD", 66.24, 85.14, "MTE-UB", MTE_UB, MTE_UB, VERDICT_TRANSFER_BOUND, false},
    {"Add_ReLU, MRT", 70.52, 85.14, "MTE-UB", MTE_UB, MTE_UB, VERDICT_TRANSFER_BOUND, false},
    {"Depthwise", 35.45, 46.66, "MTE-GM", MTE_GM, MTE_GM, VERDICT_INSUFFICIENT_PARALLELISM, true},
    {"Depthwise, AIS", 42.72, 71.69, "MTE-L1", MTE_GM, MTE_L1, VERDICT_INSUFFICIENT_PARALLELISM,
     true},
    {"Depthwise, RUS", 60.35, 77.69, "MTE-L1", MTE_GM, MTE_L1, VERDICT_INSUFFICIENT_PARALLELISM,
     true},
    {"Depthwise, PP", 71.56, 94.18, "MTE-GM", MTE_GM, MTE_GM, VERDICT_INEFFICIENT_TRANSFER, true},
    {"Depthwise, ITG", 93.54, 94.18, "MTE-GM", MTE_GM, MTE_GM, VERDICT_TRANSFER_BOUND, true},
    {"AvgPool", 13.54, 83.98, "Vector", VECTOR, VECTOR, VERDICT_INEFFICIENT_COMPUTE, false},
};

/* The one of the largest utilisation is active for as long as it must be, or a little longer. */
static void fill_printed(const struct printed *row, struct diagnosis *d)
{
    begin(d);
    if (row->matrix)
        add(d, CUBE, 10, 20);
    if (row->utilised != row->active)
        add(d, row->utilised, row->utilisation,
            row->utilisation + 1 < row->active_ratio ? row->utilisation + 1 : row->active_ratio);
    add(d, row->active, row->utilised == row->active ? row->utilisation : row->utilisation / 2,
        row->active_ratio);
}

/* AvgPool after its change: R gives 59.07 %, and does not call it bound. */
static bool is_bound(double utilisation, const struct diagnosis_thresholds *thresholds)
{
    static struct diagnosis d;
    begin(&d);
    add(&d, VECTOR, utilisation, 99);
    diagnose(&d, thresholds);
    return d.verdict == VERDICT_COMPUTE_BOUND;
}

static int disagreements(const struct diagnosis_thresholds *thresholds)
{
    static struct diagnosis d;
    int count = is_bound(59.07, thresholds);
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        fill_printed(&printed[i], &d);
        diagnose(&d, thresholds);
        count += d.verdict != printed[i].verdict ||
                 strcmp(d.components[d.component].name, printed[i].component) != 0;
    }
    return count;
}

Test(diagnose, agrees_with_every_printed_verdict)
{
    static struct diagnosis d;
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        fill_printed(&printed[i], &d);
        expect(&d, &diagnosis_default_thresholds, printed[i].verdict, printed[i].component);
    }
    cr_assert_not(is_bound(59.07, &diagnosis_default_thresholds));
}

/* Between which thresholds that is so, and nowhere beyond. */
Test(diagnose, admissible_thresholds)
{
    static const struct diagnosis_thresholds inside[] = {
        {0.777, 0.591, 0.716}, {0.839, 0.662, 0.935}, {0.777, 0.662, 0.716}, {0.839, 0.591, 0.935}};
    static const struct diagnosis_thresholds outside[] = {{0.7768, 0.65, 0.8}, {0.8399, 0.65, 0.8},
                                                          {0.8, 0.5906, 0.8},  {0.8, 0.6625, 0.8},
                                                          {0.8, 0.65, 0.7155}, {0.8, 0.65, 0.9355}};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        cr_assert_eq(disagreements(&inside[i]), 0, "thresholds %zu", i);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        cr_assert_eq(disagreements(&outside[i]), 1, "thresholds %zu", i);
}

Test(diagnose, ratios)
{
    static struct diagnosis d;
    begin(&d);
    d.time_ns = 40;
    add(&d, MTE_GM, 10, 25);
    diagnose(&d, &diagnosis_default_thresholds);
    cr_assert_float_eq(d.components[0].efficiency, 0.4, 1e-15);
    cr_assert_float_eq(d.components[0].active_ratio, 0.625, 1e-15);
    cr_assert_float_eq(d.components[0].utilisation, 0.25, 1e-15);
}

/* A threshold is reached by what equals it. */
Test(diagnose, thresholds_are_inclusive)
{
    static struct diagnosis d;
    static const struct diagnosis_thresholds half = {0.5, 0.25, 0.75};
    begin(&d);
    add(&d, MTE_GM, 25, 30);
    expect(&d, &half, VERDICT_TRANSFER_BOUND, "MTE-GM");
    begin(&d);
    add(&d, MTE_GM, 24, 50);
    expect(&d, &half, VERDICT_INEFFICIENT_TRANSFER, "MTE-GM");
}

/* ---- what the rules make of components ---- */

enum { ALL_OF_THEM = 3 };

/* Of each component its utilisation and active ratio in percent, -1: not known. */
static const struct scenario {
    const char *what;
    struct given {
        int which;
        double utilisation, active;
        double waiting; /* of active, for the last component */
        double least;   /* where utilisation is not known */
    } given[ALL_OF_THEM];
    enum verdict verdict;
    const char *component;
} scenarios[] = {
    {"the largest utilisation bounds",
     {{MTE_GM, 70, 99}, {VECTOR, 80, 81}, {MTE_UB, 75, 99}},
     VERDICT_COMPUTE_BOUND,
     "Vector"},
    {"the first of equal utilisations",
     {{MTE_UB, 70, 99}, {MTE_GM, 70, 99}},
     VERDICT_TRANSFER_BOUND,
     "MTE-UB"},
    {"the first of equal active ratios",
     {{MTE_GM, 10, 50}, {MTE_UB, 20, 50}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "MTE-GM"},
    /* The threshold of operators with matrix work holds for all of their components. */
    {"matrix work raises the threshold",
     {{CUBE, 1, 2}, {MTE_GM, 70, 75}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "MTE-GM"},
    {"no matrix work does not", {{CUBE, 0, 2}, {MTE_GM, 70, 75}}, VERDICT_TRANSFER_BOUND, "MTE-GM"},
    {"matrix work of unknown amount does",
     {{CUBE, -1, 2}, {MTE_GM, 70, 75}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "MTE-GM"},
    {"a saturated bus is the bound, and engines that wait for it are not inefficient",
     {{CUBE, 30, 40}, {MTE_GM, 47.8, 95}, {BUS, 85, 96}},
     VERDICT_TRANSFER_BOUND,
     "bus"},
    /* Nobody waits for the bus, as one transfer follows the other. Were it used to its limit all
     * the same, it would bound. */
    {"a bus that nobody waits for",
     {{MTE_GM, 49, 50}, {MTE_UB, 48, 49}, {BUS, 66.7, 100}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "MTE-GM"},
    {"a bus that somebody waits for",
     {{MTE_GM, 49, 50}, {MTE_UB, 48, 49, .waiting = 1}, {BUS, 66.7, 100}},
     VERDICT_TRANSFER_BOUND,
     "bus"},
    {"a bus at its limit that nobody waits for",
     {{MTE_GM, 49, 50}, {MTE_UB, 48, 49}, {BUS, 80, 100}},
     VERDICT_TRANSFER_BOUND,
     "bus"},
    {"a bus below its threshold hides nothing",
     {{MTE_GM, 66, 90}, {BUS, 70, 100}},
     VERDICT_TRANSFER_BOUND,
     "MTE-GM"},
    /* A bus that gives few transfers less than its largest total may stay below the threshold. What
     * the engine loses by it is still no inefficiency, unless it loses more by itself. */
    {"an engine that loses most by waiting",
     {{CUBE, 30, 40}, {MTE_GM, 50, 90, .waiting = 20.1}, {BUS, 70, 95}},
     VERDICT_TRANSFER_BOUND,
     "bus"},
    {"an engine that loses most by itself",
     {{CUBE, 30, 40}, {MTE_GM, 50, 90, .waiting = 19.9}, {BUS, 70, 95}},
     VERDICT_INEFFICIENT_TRANSFER,
     "MTE-GM"},
    /* One transfer after the other keeps a bus active and uses it badly: engines do not overlap. */
    {"an active bus is no parallelism",
     {{MTE_GM, 32, 50}, {MTE_UB, 32, 50}, {BUS, 64, 100}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "MTE-GM"},
    /* Times of a profiler that gives no amounts: nothing shows that a component that is always
     * active reaches its threshold, so the rule makes it inefficient. The caller's note says that
     * it is open. */
    {"unknown utilisation",
     {{CUBE, -1, 90}, {MTE_GM, -1, 50}},
     VERDICT_INEFFICIENT_COMPUTE,
     "Cube"},
    {"unknown utilisation of what is less active",
     {{CUBE, -1, 70}, {MTE_GM, -1, 50}},
     VERDICT_INSUFFICIENT_PARALLELISM,
     "Cube"},
    {"nothing known of one", {{CUBE, -1, 70}, {MTE_GM, -1, -1}}, VERDICT_NONE, "none"},
    {"nothing known of one beside what binds",
     {{CUBE, 85, 90}, {MTE_GM, -1, -1}},
     VERDICT_COMPUTE_BOUND,
     "Cube"},
    {"known amounts of what is less active",
     {{VECTOR, 30, 85}, {MTE_GM, -1, 90}},
     VERDICT_INEFFICIENT_TRANSFER,
     "MTE-GM"},
    {"known amounts that bind",
     {{VECTOR, 70, 85}, {MTE_GM, -1, 90}},
     VERDICT_COMPUTE_BOUND,
     "Vector"},
    {"what it is at least does not bind",
     {{VECTOR, 30, 85}, {MTE_GM, -1, 90, .least = 64.9}},
     VERDICT_INEFFICIENT_TRANSFER,
     "MTE-GM"},
    {"what it is at least binds",
     {{VECTOR, 30, 95}, {MTE_GM, -1, 90, .least = 65}},
     VERDICT_TRANSFER_BOUND,
     "MTE-GM"},
    {"what a bus is at least binds",
     {{MTE_GM, -1, 95}, {BUS, -1, -1, .least = 80}},
     VERDICT_TRANSFER_BOUND,
     "bus"},
};

Test(diagnose, scenarios)
{
    static struct diagnosis d;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const struct scenario *row = &scenarios[i];
        int last = 0;
        begin(&d);
        for (int c = 0; c < ALL_OF_THEM && (c == 0 || row->given[c].active); c++) {
            last = c;
            const struct given *given = &row->given[c];
            struct component *component = add(&d, given->which, given->utilisation, given->active);
            component->waiting_ns = given->waiting;
            component->least_ns = given->least;
        }
        for (int c = 0; c < d.component_count; c++)
            d.components[c].waits_for = last;
        diagnose(&d, &diagnosis_default_thresholds);
        const char *component = d.component < 0 ? "none" : d.components[d.component].name;
        cr_expect(d.verdict == row->verdict && strcmp(component, row->component) == 0,
                  "%s: %s of %s", row->what, d.verdict ? verdict_name(d.verdict) : "no verdict",
                  component);
    }
}

/* U, or between what it lies: R is the most of what is not known, and of a bus nothing is. */
Test(diagnose, bounds_of_utilisation)
{
    static const struct {
        int which;
        double ideal, busy, least, most, at_least, at_most;
    } rows[] = {
        {MTE_GM, 40, 90, 0, 0, 0.4, 0.4},   {MTE_GM, -1, 90, 0, 0, 0, 0.9},
        {MTE_GM, -1, 90, 30, 50, 0.3, 0.5}, {MTE_GM, -1, 90, 30, 95, 0.3, 0.9},
        {BUS, -1, -1, 30, 95, 0.3, 0.95},   {BUS, -1, -1, 30, 0, 0.3, -1},
    };
    static struct diagnosis d;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&d);
        struct component *c = add(&d, rows[i].which, rows[i].ideal, rows[i].busy);
        c->least_ns = rows[i].least;
        c->most_ns = rows[i].most;
        diagnose(&d, &diagnosis_default_thresholds);
        cr_expect_float_eq(c->utilisation, rows[i].ideal < 0 ? -1 : 0.4, 1e-12, "row %zu", i);
        cr_expect_float_eq(c->efficiency, rows[i].ideal < 0 ? -1 : 40.0 / 90, 1e-12, "row %zu", i);
        cr_expect_float_eq(c->utilisation_least, rows[i].at_least, 1e-12, "row %zu", i);
        cr_expect_float_eq(c->utilisation_most, rows[i].at_most, 1e-12, "row %zu", i);
    }
}

static void expect_finite(const struct diagnosis *d)
{
    for (int c = 0; c < d->component_count; c++) {
        const struct component *component = &d->components[c];
        cr_assert(isfinite(component->efficiency) && isfinite(component->active_ratio) &&
                  isfinite(component->utilisation));
    }
    cr_assert(isfinite(d->naive.utilisation));
}

Test(diagnose, nothing_known_is_no_verdict)
{
    static struct diagnosis d;
    begin(&d);
    expect(&d, &diagnosis_default_thresholds, VERDICT_NONE, "none");
    add(&d, MTE_GM, -1, -1);
    expect(&d, &diagnosis_default_thresholds, VERDICT_NONE, "none");
    d.components[0].busy_ns = 90;
    d.components[0].ideal_ns = 90;
    d.time_ns = -1;
    expect(&d, &diagnosis_default_thresholds, VERDICT_NONE, "none");
    cr_assert_eq(d.components[0].utilisation, -1);
    cr_assert_eq(d.components[0].active_ratio, -1);
    cr_assert_eq(d.components[0].efficiency, 1);
    expect_finite(&d);
}

Test(diagnose, zero_times)
{
    static struct diagnosis d;
    begin(&d);
    d.time_ns = 0;
    add(&d, MTE_GM, 0, 0)->part_count = 1;
    expect(&d, &diagnosis_default_thresholds, VERDICT_NONE, "none");
    expect_finite(&d);
    d.time_ns = 5;
    expect(&d, &diagnosis_default_thresholds, VERDICT_INSUFFICIENT_PARALLELISM, "MTE-GM");
    cr_assert_eq(d.components[0].efficiency, -1);
    expect_finite(&d);
}

static void add_part(struct component *c, const char *name, double amount, double peak)
{
    struct component_part *part = &c->parts[c->part_count++];
    strcpy(part->name, name);
    part->amount = amount;
    part->peak_per_ns = peak;
    c->ideal_ns += component_part_ns(part);
}

/* Zhou et al. 2025, Fig. 3a: A is twice B, and one engine brings both. */
Test(diagnose, naive_reading_of_two_paths)
{
    static struct diagnosis d;
    begin(&d);
    add(&d, CUBE, 20, 20);
    struct component *engine = add(&d, MTE_GM, 0, 100);
    add_part(engine, "gm->l0a", 2000, 30);
    add_part(engine, "gm->l0b", 1000, 30);
    expect(&d, &diagnosis_default_thresholds, VERDICT_TRANSFER_BOUND, "MTE-GM");
    cr_assert_float_eq(engine->utilisation, 1, 1e-12);
    cr_assert_eq(d.naive.verdict, VERDICT_NONE);
    cr_assert_eq(d.naive.component, 1);
    cr_assert_eq(d.naive.part, 0);
    cr_assert_float_eq(d.naive.utilisation, 2.0 / 3, 1e-12);
    cr_assert_float_eq(component_part_ns(&engine->parts[1]) / d.time_ns, 1.0 / 3, 1e-12);
}

/* Zhou et al. 2025, Fig. 3b: as many operations in f16 as in i8, which is twice as fast. */
Test(diagnose, naive_reading_of_two_types)
{
    static struct diagnosis d;
    begin(&d);
    struct component *cube = add(&d, CUBE, 0, 100);
    add_part(cube, "i8", 1000, 30);
    add_part(cube, "f16", 1000, 15);
    expect(&d, &diagnosis_default_thresholds, VERDICT_COMPUTE_BOUND, "Cube");
    cr_assert_float_eq(cube->utilisation, 1, 1e-12);
    cr_assert_eq(d.naive.verdict, VERDICT_NONE);
    cr_assert_eq(d.naive.part, 1);
    cr_assert_float_eq(d.naive.utilisation, 2.0 / 3, 1e-12);
}

Test(diagnose, naive_reading_may_be_bound_too)
{
    static struct diagnosis d;
    begin(&d);
    add_part(add(&d, BUS, 0, 100), "gm->ub", 1000, 10); /* of buses it knows nothing */
    add_part(add(&d, MTE_GM, 0, 100), "gm->ub", 650, 10);
    add_part(add(&d, VECTOR, 0, 100), "relu f16", 400, 10);
    expect(&d, &diagnosis_default_thresholds, VERDICT_TRANSFER_BOUND, "bus");
    cr_assert_eq(d.naive.verdict, VERDICT_TRANSFER_BOUND);
    cr_assert_eq(d.naive.component, 1);
    d.components[2].parts[0].amount = 1000;
    diagnose(&d, &diagnosis_default_thresholds);
    cr_assert_eq(d.naive.verdict, VERDICT_COMPUTE_BOUND);
    d.time_ns = -1;
    diagnose(&d, &diagnosis_default_thresholds);
    cr_assert_eq(d.naive.component, -1);
}

Test(diagnose, names_of_verdicts)
{
    static const char *const names[VERDICTS] = {
        NULL,
        "Compute Bound",
        "MTE Bound",
        "Insufficient Parallelism",
        "Inefficient MTE",
        "Inefficient Compute",
    };
    cr_assert_null(verdict_name(VERDICT_NONE));
    for (int v = 1; v < VERDICTS; v++)
        cr_assert_str_eq(verdict_name((enum verdict)v), names[v]);
}
