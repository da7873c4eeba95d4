/* A description hidden behind the simulator is found by probes alone: four machines drawn at
 * random are probed, and a description of the same parts with other numbers is fitted to the times.
 * Every number then is the hidden one's within 2 %, or it is named, and then another number in its
 * place leaves every time as it is. */
#include "jobs/calibrate/calibrate.h"
#include "jobs/probe/subject.h"
#include "tests/hardware_files.h"
#include "tests/support/cases.h"
#include "tests/support/random_description.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

TestSuite(closed_loop, .init = enter, .fini = leave);

#define HEADER "kind,name,chip,x,value,unit_x,unit_value\n"

/* All probes of a description as a file of curves; the caller frees it. */
static char *probe(const struct description *description, size_t *size)
{
    struct hardware hw;
    struct error error;
    char *text = NULL;
    cr_assert_eq(description_build(description, &hw, &error), STATUS_OK, "%s", error.text);
    FILE *out = open_memstream(&text, size);
    fputs(HEADER, out);
    cr_assert_eq(subject_write_curves(&hw, "c", out, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    hardware_clear(&hw);
    return text;
}

static void write_description(const struct description *description, const char *file)
{
    struct error error;
    char *text;
    cr_assert_eq(description_write(description, "", &text, &error), STATUS_OK, "%s", error.text);
    write_file(file, text);
    free(text);
}

/* Does some other number in its place leave every time as it is? One that no description may have
 * says nothing. */
static bool is_silent(struct description *hidden, const char *key, double value, const char *before)
{
    static const double factors[] = {1.02, 0.98, 1.0005, 0.9995};
    bool silent = false, legal = false;
    for (size_t i = 0; i < sizeof factors / sizeof *factors && !silent; i++) {
        struct hardware hw;
        struct error error;
        size_t size;
        cr_assert_eq(description_set(hidden, key, value * factors[i], "assumed: other", &error),
                     STATUS_OK);
        if (description_build(hidden, &hw, &error) != STATUS_OK)
            continue;
        hardware_clear(&hw);
        char *after = probe(hidden, &size);
        legal = true;
        silent = strcmp(before, after) == 0;
        free(after);
    }
    struct error error;
    description_set(hidden, key, value, "assumed: drawn at random", &error);
    return silent || !legal;
}

static const char *why_unknown(const struct calibration *calibration, const char *key)
{
    for (int i = 0; i < calibration->unknown_count; i++)
        if (strcasecmp(calibration->unknowns[i].key, key) == 0)
            return calibration->unknowns[i].why;
    return NULL;
}

/* What both descriptions share, or what only shows together with another number. */
static bool is_given(const char *key)
{
    static const char *const words[] = {"clock_mhz",   "cores",       "per_core",
                                        "align_bytes", "up_to_bytes", "block_flop"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(key, words[i]))
            return true;
    return false;
}

/* Totals of a bus are alike: one of five is enough. */
static bool is_looked_at(const char *key)
{
    const char *total = strstr(key, ".total_gbps.");
    return !total || (int)strtol(total + strlen(".total_gbps."), NULL, 10) % 5 == 1;
}

struct tally {
    int told, named, close;
};

static void compare(struct description *hidden, const struct calibration *fitted,
                    const char *before, struct tally *tally)
{
    struct hardware hw;
    struct error error;
    cr_assert_eq(description_build(hidden, &hw, &error), STATUS_OK);
    for (size_t f = 0; f < hw.fact_count; f++) {
        const char *key = hw.facts[f].key, *why = why_unknown(fitted, key);
        double value = 0, found = NAN;
        if (hw.facts[f].is_words || strncmp(key, "fit.", 4) == 0 || is_given(key))
            continue;
        description_get(hidden, key, &value);
        description_get(&fitted->description, key, &found);
        bool near = fabs(found - value) <= 0.02 * fabs(value);
        tally->told += !why;
        tally->named += why != NULL;
        tally->close += near;
        if (!near && !why)
            cr_expect(near, "%s: found %.6g, hidden %.6g", key, found, value);
        else if (!near && is_looked_at(key))
            cr_expect(is_silent(hidden, key, value, before), "%s: found %.6g, hidden %.6g: %s", key,
                      found, value, why);
    }
    hardware_clear(&hw);
}

static void expect_exact(const struct calibration *fitted)
{
    for (int i = 0; i < fitted->curve_count; i++)
        cr_expect(fitted->curves[i].max_error < 0.001, "%s: %.3g of its times",
                  fitted->curves[i].name, fitted->curves[i].max_error);
}

static void find(const char *base, unsigned long seed, struct tally *tally)
{
    struct description hidden, start;
    struct calibration fitted;
    struct error error;
    size_t size;
    random_description(base, seed, 2 * seed, &hidden);
    random_description(base, seed, 2 * seed + 1, &start);
    write_description(&start, "start.cfg");
    char *curves = probe(&hidden, &size);
    write_file("curves.csv", curves);
    cr_assert_eq(calibration_open(NULL, in_folder("start.cfg"), NULL, "c", &fitted, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(calibrate_curves(&fitted, in_folder("curves.csv"), &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(fitted.rejected_points, 0, "%s", fitted.first_rejected_reason);
    compare(&hidden, &fitted, curves, tally);
    expect_exact(&fitted);
    calibration_close(&fitted);
    description_clear(&hidden);
    description_clear(&start);
    free(curves);
}

Test(closed_loop, four_random_machines)
{
    static const char *const bases[] = {"ascend310", "ascend910", "ascend910b1"};
    struct tally tally = {0};
    int machines = test_cases(4);
    for (unsigned long seed = 1; seed <= (unsigned long)machines; seed++)
        find(bases[seed % 3], seed, &tally);
    cr_expect_gt(tally.told, 20 * tally.named / 10, "%d told, %d named, %d close", tally.told,
                 tally.named, tally.close);
    cr_expect_gt(tally.told, 100 * machines);
}
