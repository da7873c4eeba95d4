/* formats/correction_file: a correction comes back as it was, and broken files are refused with
 * what is wrong. */
#include "formats/correction_file.h"
#include "tests/hardware_files.h"
#include "tests/support/made_up_correction.h"

#include <math.h>

TestSuite(correction_file, .init = enter, .fini = leave);

static char *made_up_text(void)
{
    struct correction correction;
    struct error error;
    char *text;
    size_t length;
    made_up_correction(&correction);
    cr_assert_eq(correction_text(&correction, &text, &length, &error), STATUS_OK);
    cr_assert_eq(strlen(text), length);
    correction_clear(&correction);
    return text;
}

Test(correction_file, comes_back)
{
    struct correction correction;
    struct error error;
    char *text = made_up_text(), *again;
    size_t length;
    write_file("a.correction.json", text);
    cr_assert_eq(correction_read(in_folder("a.correction.json"), &correction, &error), STATUS_OK,
                 "%s", error.text);
    cr_assert_eq(correction_text(&correction, &again, &length, &error), STATUS_OK);
    cr_expect_str_eq(text, again);
    cr_expect_str_eq(correction.chip, "Ascend 910B2");
    cr_expect_eq(correction.seed, 7);
    cr_expect_eq(correction.banks[0].rows, 1234);
    cr_expect(correction.banks[0].own);
    cr_expect_eq(correction.margin, 0.125);
    cr_expect_eq(correction.qualities[0].simulated[TRAINED_MEDIAN], 0.1);
    cr_expect(isnan(correction.qualities[0].corrected[TRAINED_SPEARMAN]));
    cr_expect_eq(correction.features[0].cuts[1], 3);
    cr_expect_eq(correction.problems[1], 4294967295U);
    cr_expect_eq(correction.forests[CORRECT_HIGH].start, 693147);
    cr_expect_eq(correction.forests[CORRECT_MIDDLE].trees[0].leaf[3], 1386294);
    correction_clear(&correction);
    free(text);
    free(again);
}

Test(correction_file, names)
{
    char file[64];
    cr_expect(correction_file_name("a/b.cfg", file, sizeof file));
    cr_expect_str_eq(file, "a/b.correction.json");
    cr_expect(correction_file_name("a.b/c.ini", file, sizeof file));
    cr_expect_str_eq(file, "a.b/c.correction.json");
    cr_expect(!correction_file_name("a/b.cfg", file, 19));
    cr_expect(correction_file_name("a/b.cfg", file, 20));
}

/* What is replaced, by what, and a part of the message. */
static const char *const broken[][3] = {
    {"\"schema\": 1", "\"schema\": 2", "schema: expected an integer from 1 to 1"},
    {"\"chip\": \"Ascend 910B2\",\n  \"op\"", "\"chip\": 3,\n  \"op\"",
     "chip: expected a text of 1 to 95 bytes"},
    {"\"model_version\": 1", "\"model_version\": 0", "model_version: expected"},
    {"\"clock_mhz\": 1500.5", "\"clock_mhz\": 0.5", "clock_mhz: expected a number from 1 to 1e+06"},
    {"\"margin\": 0.125", "\"margin\": 1e9", "margin: expected a number from -100 to 100"},
    {"\"rows\":1234", "\"rows\":-1", "banks[0].rows: expected"},
    {"[17,4294967295]", "[17,17]", "problems: expected integers below 2^32 that ascend"},
    {"[17,4294967295]", "[17,4294967296]", "problems: expected"},
    {"\"low\":1.0,\"high\":5.0", "\"low\":6.0,\"high\":5.0", "features[0].high: expected"},
    {"[2.0,3.0]", "[3.0,2.0]", "features[0].cuts: expected numbers that ascend"},
    {"[2.0,3.0]", "[2.0,\"3\"]", "features[0].cuts: expected"},
    {"[[0,1,1,0],", "[[0,2,1,0],", "forests[0].trees[0]: expected a feature and a cut"},
    {"[[0,1,1,0],", "[[2,1,1,0],", "forests[0].trees[0]: expected a feature and a cut"},
    {"[[0,1,1,0],", "[[0,1,1],", "forests[0].trees[0]: expected [[feature,cut,...],"},
    {"[[0,1,1,0],", "[[0,1],", "forests[0].trees[0]: expected [[feature,cut,...],"},
    {"1386294]]", "1e3]]", "forests[0].trees[0]: expected leaves that are integers"},
    {"1386294]]", "1386294123]]", "forests[0].trees[0]: expected leaves"},
    {"\"quantile\": 0.4", "\"quantile\": 4", "forests[0].quantile: expected"},
    {"\"forests\": [", "\"forests\": [], \"other\": [", "forests: expected a list of 3"},
    {"{\n  \"schema\"", "[\n  \"schema\"", "expected a learned correction as JSON"},
    {"\"op\": ", "\"chip\": ", "duplicate"},
};

Test(correction_file, broken_files_are_refused)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct correction correction;
        struct error error = {0};
        char *text = made_up_text(), *changed = replaced(text, broken[i][0], broken[i][1]);
        write_file("b.correction.json", changed);
        cr_expect_eq(correction_read(in_folder("b.correction.json"), &correction, &error),
                     STATUS_INVALID, "%s", broken[i][1]);
        cr_expect(strstr(error.text, broken[i][2]), "%s\nexpected %s", error.text, broken[i][2]);
        cr_expect(strstr(error.text, "b.correction.json:"), "%s", error.text);
        cr_expect(!correction.features && !correction.problems && !correction.forests[0].trees);
        free(text);
        free(changed);
    }
}

/* The same, with laws of two kinds. */
static char *made_up_laws(void)
{
    struct correction correction;
    struct error error;
    char *text;
    size_t length;
    made_up_correction(&correction);
    correction.laws = calloc(2, sizeof *correction.laws);
    cr_assert(correction.laws);
    correction.law_count = 2;
    correction.together = 0.625;
    correction.margin_unknown = 0.25;
    correction.laws[0] = (struct trained_law){"*cube", 12, 0.5, -0.25, 3, {1.5, 0, 0.1}};
    correction.laws[1] = (struct trained_law){"MatMul", 4, 0, 0, 1, {2}};
    cr_assert_eq(correction_text(&correction, &text, &length, &error), STATUS_OK);
    correction_clear(&correction);
    return text;
}

Test(correction_file, laws_come_back)
{
    struct correction correction;
    struct error error;
    char *text = made_up_laws(), *again;
    size_t length;
    write_file("a.network.json", text);
    cr_assert_eq(correction_read(in_folder("a.network.json"), &correction, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(correction_text(&correction, &again, &length, &error), STATUS_OK);
    cr_expect_str_eq(text, again);
    cr_expect_eq(correction.together, 0.625);
    cr_expect_eq(correction.margin_unknown, 0.25);
    cr_expect_eq(correction_law(&correction, "*cube")->term_count, 3);
    cr_expect_eq(correction_law(&correction, "*cube")->costs_us[2], 0.1);
    cr_expect_eq(correction_law(&correction, "*cube")->lean, -0.25);
    cr_expect_eq(correction_law(&correction, "MatMul")->rows, 4);
    cr_expect_null(correction_law(&correction, "Mul"));
    correction_clear(&correction);
    free(text);
    free(again);
}

Test(correction_file, broken_laws_are_refused)
{
    static const char *const changes[][3] = {
        {"\"together\": 0.625", "\"together\": -1", "together: expected a number from 0 to 100"},
        {"\"kind\":\"MatMul\"", "\"kind\":\"*cube\"", "laws[1].kind: expected a kind that no law"},
        {"[1.5,", "[-1.5,", "laws[0].costs_us: expected numbers from 0"},
        {"[1.5,", "[\"1.5\",", "laws[0].costs_us: expected numbers from 0"},
        {"[2.0]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
         "laws[1].costs_us: expected a list of at most"},
        {"\"spread\":0.5", "\"spread\":-1", "laws[0].spread: expected"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct correction correction;
        struct error error = {0};
        char *text = made_up_laws(), *changed = replaced(text, changes[i][0], changes[i][1]);
        write_file("b.network.json", changed);
        cr_expect_eq(correction_read(in_folder("b.network.json"), &correction, &error),
                     STATUS_INVALID, "%s", changes[i][1]);
        cr_expect(strstr(error.text, changes[i][2]), "%s\nexpected %s", error.text, changes[i][2]);
        cr_expect(!correction.laws && correction.law_count == 0);
        free(text);
        free(changed);
    }
}

Test(correction_file, missing)
{
    struct correction correction;
    struct error error;
    cr_expect_eq(correction_read(in_folder("none.json"), &correction, &error), STATUS_IO);
    cr_expect(strstr(error.text, "none.json"));
}
