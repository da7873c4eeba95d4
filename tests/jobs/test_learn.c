/* jobs/calibrate/learn and jobs/correct: what is learned of made-up measurements, the same with any
 * number of threads, and what a correction is not used for. */
#include "costmodel/features.h"
#include "formats/bank.h"
#include "formats/correction_file.h"
#include "hardware/load.h"
#include "jobs/calibrate/learn.h"
#include "jobs/correct/correct.h"
#include "jobs/evaluate/evaluation.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(learn, .init = enter, .fini = leave);

enum { ROWS = 120, OTHERS = 60 };

struct scene {
    struct hardware hw, other_hw;
    struct bank bank, other;
    struct learn_bank banks[2];
};

static void add_text(char *text, size_t size, int m, int n, int k, bool last)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "{\"usedCoreNum\": 1, \"M\": %d, \"N\": %d, \"Ka\": %d, \"Kb\": %d,"
             "\"singleCoreM\": %d, \"singleCoreN\": %d, \"singleCoreK\": %d,"
             "\"baseM\": 16, \"baseN\": 16, \"baseK\": 16, \"depthA1\": 1, \"depthB1\": 1,"
             "\"stepM\": 1, \"stepN\": 1, \"stepKa\": 1, \"stepKb\": 1, \"dbL0A\": 1,"
             "\"dbL0B\": 1, \"dbL0C\": 1}%s\n",
             m, n, k, k, m, n, k, last ? "]" : ",");
}

/* Kernels that take `wide` times what is simulated where n is 80 or more, else `narrow` times that,
 * within some percent. */
static void make_bank(const char *file, int count, double wide, double narrow,
                      const struct hardware *hw, struct bank *bank)
{
    struct error error;
    size_t size = (size_t)count * 400;
    char *text = malloc(size);
    strcpy(text, "[");
    for (int i = 0; i < count; i++)
        add_text(text, size, 16 * (1 + i % 8), 16 * (1 + i / 8 % 8), 32 * (1 + i % 5),
                 i + 1 == count);
    write_file(file, text);
    free(text);
    cr_assert_eq(bank_load(in_folder(file), BANK_AUTO, false, bank, &error), STATUS_OK, "%s",
                 error.text);
    struct prediction *predictions = calloc((size_t)count, sizeof *predictions);
    cr_assert_eq(evaluate_rows(bank->rows, bank->count, hw, 2, NULL, predictions, &error),
                 STATUS_OK);
    for (int i = 0; i < count; i++) {
        cr_assert_gt(predictions[i].predicted_ns, 0, "%s", predictions[i].reason);
        double noise = 0.04 * sin(37.0 * i);
        bank->rows[i].measured_ns =
            predictions[i].predicted_ns * (bank->rows[i].n >= 80 ? wide : narrow) * exp(noise);
    }
    free(predictions);
}

static void open_scene(struct scene *s)
{
    load_ok("ascend910b2", NULL, &s->hw);
    load_ok("ascend910b1", NULL, &s->other_hw);
    make_bank("own.json", ROWS, 1.5, 0.9, &s->hw, &s->bank);
    make_bank("other.json", OTHERS, 3, 3, &s->other_hw, &s->other);
    s->banks[0] =
        (struct learn_bank){"x/own.json", s->bank.rows, s->bank.count, &s->hw, NULL, true};
    s->banks[1] =
        (struct learn_bank){"other.json", s->other.rows, s->other.count, &s->other_hw, NULL, false};
}

static void close_scene(struct scene *s)
{
    bank_clear(&s->bank);
    bank_clear(&s->other);
    hardware_clear(&s->hw);
    hardware_clear(&s->other_hw);
}

static struct correction learned(const struct scene *s, int banks, uint64_t seed, int threads)
{
    struct correction correction;
    struct error error;
    const struct learn_options options = {.seed = seed, .threads = threads};
    cr_assert_eq(learn(s->banks, banks, &options, &correction, &error), STATUS_OK, "%s",
                 error.text);
    return correction;
}

static char *text_of(const struct correction *correction)
{
    struct error error;
    char *text;
    size_t length;
    cr_assert_eq(correction_text(correction, &text, &length, &error), STATUS_OK);
    return text;
}

Test(learn, what_was_made_up)
{
    struct scene s;
    open_scene(&s);
    struct correction c = learned(&s, 1, 1, 2);
    const struct trained_quality *all = &c.qualities[0];
    cr_expect_eq(all->used, ROWS);
    cr_expect_gt(all->simulated[TRAINED_MEAN], 0.2);
    cr_expect_lt(all->corrected[TRAINED_MEAN], 0.06, "%g", all->corrected[TRAINED_MEAN]);
    cr_expect(all->covers > 0.7 && all->covers < 0.9, "%g", all->covers);
    cr_expect_str_eq(c.chip, "Ascend 910B2");
    cr_expect_str_eq(c.op, "matmul");
    cr_expect_eq(c.bank_count, 1);
    cr_expect_str_eq(c.banks[0].file, "own.json");
    cr_expect_eq(c.banks[0].rows, ROWS);
    cr_expect_gt(c.problem_count, 30);
    correction_clear(&c);
    close_scene(&s);
}

/* Rows of another chip help as far as they are alike, and their flag tells them apart. */
Test(learn, pooled_rows_are_told_apart)
{
    struct scene s;
    open_scene(&s);
    struct correction c = learned(&s, 2, 1, 2);
    cr_expect_eq(c.bank_count, 2);
    cr_expect(!c.banks[1].own);
    cr_expect_eq(c.qualities[0].used, ROWS, "others are not judged");
    cr_expect_lt(c.qualities[0].corrected[TRAINED_MEAN], 0.12, "%g",
                 c.qualities[0].corrected[TRAINED_MEAN]);
    cr_assert(c.features);
    cr_expect_str_eq(c.features[0].name, FEATURE_OWN_CHIP);
    cr_expect_eq(c.features[0].cut_count, 1);
    correction_clear(&c);
    close_scene(&s);
}

Test(learn, same_by_any_threads_and_other_by_seed)
{
    struct scene s;
    open_scene(&s);
    struct correction a = learned(&s, 2, 1, 1), b = learned(&s, 2, 1, 3), c = learned(&s, 2, 2, 3);
    char *x = text_of(&a), *y = text_of(&b), *z = text_of(&c);
    cr_expect_str_eq(x, y);
    cr_expect_str_neq(x, z);
    free(x);
    free(y);
    free(z);
    correction_clear(&a);
    correction_clear(&b);
    correction_clear(&c);
    close_scene(&s);
}

Test(learn, few_rows_and_stops)
{
    struct scene s;
    struct correction correction;
    struct error error;
    volatile sig_atomic_t stop = 1;
    struct learn_options options = {.seed = 1, .threads = 2};
    open_scene(&s);
    s.banks[0].count = LEARN_LEAST - 1;
    cr_expect_eq(learn(s.banks, 2, &options, &correction, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "expected at least 40"), "%s", error.text);
    cr_expect_null(correction.features);
    s.banks[0].count = ROWS;
    options.stop = &stop;
    cr_expect_eq(learn(s.banks, 2, &options, &correction, &error), STATUS_STOPPED);
    cr_expect_null(correction.features);
    close_scene(&s);
}

/* Each has a name of its own and is finite, and there is room for more. */
Test(learn, features)
{
    struct scene s;
    struct error error;
    struct prediction predictions[ROWS];
    struct features *features = calloc(ROWS, sizeof *features);
    open_scene(&s);
    const struct evaluate_more more = {.features = features};
    cr_assert_eq(evaluate_rows_more(s.bank.rows, ROWS, &s.hw, 2, NULL, &more, predictions, &error),
                 STATUS_OK);
    const struct features *one = &features[77];
    cr_expect(one->count > 60 && one->count < FEATURES_MAX * 3 / 4, "%d", one->count);
    for (int i = 0; i < one->count; i++) {
        cr_expect(isfinite(one->value[i]), "%s", one->name[i]);
        for (int k = 0; k < i; k++)
            cr_expect_str_neq(one->name[i], one->name[k]);
        if (strcmp(one->name[i], "size n") == 0)
            cr_expect_eq(one->value[i], log((double)s.bank.rows[77].n));
        if (strcmp(one->name[i], "time") == 0)
            cr_expect_eq(one->value[i], log(predictions[77].predicted_ns));
    }
    free(features);
    close_scene(&s);
}

/* ------------------------------------------------------------------ what it is used for */

/* A description of the test's own, with a correction beside it. */
static void write_beside(const struct scene *s, int version)
{
    struct correction c = learned(s, 1, 1, 2);
    c.model_version += version;
    char *text = text_of(&c), *cfg = read_file(s->hw.file);
    write_file("mine.cfg", cfg);
    write_file("mine.correction.json", text);
    free(text);
    free(cfg);
    correction_clear(&c);
}

static void expect_use(const char *set, const char *reason)
{
    struct hardware hw;
    struct error error;
    struct correcting correcting;
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    load_ok(in_folder("mine.cfg"), set, &hw);
    cr_assert_eq(correcting_open(&hw, &correcting, &error), STATUS_OK, "%s", error.text);
    const struct correction *used = correcting_of(&correcting, op, kind);
    cr_expect_eq(used == NULL, *reason != '\0', "%s: %s", set ? set : "", correcting.reason);
    cr_expect(strstr(correcting.reason, reason), "%s, expected %s", correcting.reason, reason);
    correcting_close(&correcting);
    hardware_clear(&hw);
}

Test(learn, used_only_for_what_it_was_learned_for)
{
    struct scene s;
    open_scene(&s);
    write_beside(&s, 0);
    expect_use(NULL, "");
    expect_use("cores=12", "");
    expect_use("launch_ns=5", "other numbers");
    write_beside(&s, 1);
    expect_use(NULL, "version");
    close_scene(&s);
}

Test(learn, not_for_other_operators_and_spaces)
{
    struct scene s;
    struct error error;
    struct correcting correcting;
    struct hardware hw;
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    open_scene(&s);
    write_beside(&s, 0);
    load_ok(in_folder("mine.cfg"), NULL, &hw);
    cr_assert_eq(correcting_open(&hw, &correcting, &error), STATUS_OK);
    cr_expect_null(correcting_of(&correcting, op, operator_space_find(op, "thesis")));
    cr_expect(strstr(correcting.reason, "learned for the space cann"));
    correcting_close(&correcting);
    cr_assert_eq(correcting_open(&hw, &correcting, &error), STATUS_OK);
    cr_expect_null(correcting_of(&correcting, operator_find("knn"), kind));
    cr_expect_str_eq(correcting.reason, "");
    correcting_close(&correcting);
    hardware_clear(&hw);
    close_scene(&s);
}

/* Every row is corrected as correct_tiling says, and answers add up what the rows say. */
Test(learn, evaluation)
{
    struct scene s;
    struct error error;
    struct prediction predictions[ROWS];
    open_scene(&s);
    struct correcting correcting = {.file = "mine.correction.json",
                                    .correction = learned(&s, 1, 1, 2)};
    const struct correction *c = &correcting.correction;
    const struct evaluate_more more = {.correction = c};
    cr_assert_eq(evaluate_rows_more(s.bank.rows, ROWS, &s.hw, 2, NULL, &more, predictions, &error),
                 STATUS_OK);
    json_t *answer = json_object();
    cr_assert_eq(evaluation_add_corrected(&s.bank, predictions, &correcting, c, answer, &error),
                 STATUS_OK);
    int held = 0;
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        const struct corrected *row = &predictions[i].corrected;
        double measured = s.bank.rows[i].measured_ns;
        held += measured >= row->low_ns && measured <= row->high_ns;
        sum += fabs(row->corrected_ns / measured - 1);
        cr_expect_eq(row->outside, 0, "%s", row->outside_by);
        cr_expect(correction_has_seen(c, predictions[i].problem));
    }
    const json_t *corrected = json_object_get(answer, "corrected");
    cr_expect_lt(fabs(json_number_value(json_object_get(corrected, "mape")) - sum / ROWS), 1e-12);
    cr_expect_lt(fabs(json_number_value(json_object_get(corrected, "interval_covers")) -
                      (double)held / ROWS),
                 1e-12);
    cr_expect_eq(json_integer_value(
                     json_object_get(json_object_get(answer, "correction"), "rows_learned_from")),
                 ROWS);
    json_decref(answer);
    correcting_close(&correcting);
    close_scene(&s);
}

Test(learn, a_tiling_is_corrected_as_its_row)
{
    struct scene s;
    struct error error;
    struct prediction prediction;
    struct problem problem;
    struct tiling tiling;
    struct space space;
    struct corrected corrected;
    const struct operator* op;
    open_scene(&s);
    struct correction c = learned(&s, 1, 1, 2);
    const struct evaluate_more more = {.correction = &c};
    const struct bank_row *row = &s.bank.rows[77];
    const struct operator_space *kind = operator_banked(&op);
    kind = kind->bank->spaces[row->format];
    cr_assert_eq(evaluate_rows_more(row, 1, &s.hw, 1, NULL, &more, &prediction, &error), STATUS_OK);
    cr_assert_eq(kind->bank->problem(row, &problem, &error), STATUS_OK);
    cr_assert_eq(kind->bank->tiling(row, &problem, &tiling, &error), STATUS_OK);
    cr_assert_eq(space_open(&problem, kind, &s.hw, s.hw.cores, &space, &error), STATUS_OK);
    const struct correcting correcting = {.correction = c};
    cr_assert_eq(correct_tiling(&correcting, &problem, &space, &tiling, &corrected, &error),
                 STATUS_OK);
    cr_expect_eq(corrected.corrected_ns, prediction.corrected.corrected_ns);
    cr_expect_eq(corrected.low_ns, prediction.corrected.low_ns);
    space_close(&space);
    correction_clear(&c);
    close_scene(&s);
}

static void expect_clock(const char *ran_at, double expected)
{
    char change[32];
    struct hardware hw, there;
    struct error error;
    struct bank bank;
    double mhz;
    const struct learn_options options = {.seed = 1, .threads = 2};
    load_ok("ascend910b1", NULL, &hw);
    snprintf(change, sizeof change, "clock_mhz=%s", ran_at);
    cr_assert_eq(hardware_reload(&hw, change, &there, &error), STATUS_OK, "%s", error.text);
    make_bank("campaign.json", ROWS, 1, 1, &there, &bank);
    const struct learn_bank banks[] = {{"campaign.json", bank.rows, bank.count, &hw, NULL, true}};
    cr_assert_eq(learn_clock(banks, 1, &options, &mhz, &error), STATUS_OK, "%s", error.text);
    cr_expect_float_eq(mhz, expected, 30, "%g, expected %g", mhz, expected);
    bank_clear(&bank);
    hardware_clear(&there);
    hardware_clear(&hw);
}

/* The clock that kernels were measured at is found; one near the description's is the
 * description's. */
Test(learn, the_clock_of_a_campaign)
{
    expect_clock("1500", 1500);
    expect_clock("1570", 1570);
    expect_clock("1800", 1850);
}

/* What is corrected is simulated at the clock of the campaign, with the run's other changes. */
Test(learn, corrected_at_the_clock_of_the_campaign)
{
    struct hardware hw, there;
    struct error error;
    struct learn_bank bank;
    struct bank rows;
    struct correction c;
    struct prediction own = {0}, other = {0};
    const struct learn_options options = {.seed = 1, .threads = 2};
    load_ok("ascend910b1", "launch_ns=900", &hw);
    cr_assert_eq(hardware_reload(&hw, "clock_mhz=1500", &there, &error), STATUS_OK);
    cr_expect_eq(there.launch_fs, hw.launch_fs);
    make_bank("campaign.json", ROWS, 1.2, 1.2, &there, &rows);
    bank = (struct learn_bank){"campaign.json", rows.rows, rows.count, &hw, &there, true};
    cr_assert_eq(learn(&bank, 1, &options, &c, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(c.clock_mhz, 1500);
    const struct evaluate_more there_more = {.chip = &there, .correction = &c};
    const struct evaluate_more here_more = {.correction = &c};
    cr_assert_eq(evaluate_rows_more(rows.rows, 1, &hw, 1, NULL, &there_more, &own, &error),
                 STATUS_OK);
    cr_assert_eq(evaluate_rows_more(rows.rows, 1, &there, 1, NULL, &here_more, &other, &error),
                 STATUS_OK);
    cr_expect_lt(own.predicted_ns, other.predicted_ns);
    cr_expect_eq(own.corrected.corrected_ns, other.corrected.corrected_ns);
    cr_expect_eq(own.campaign_ns, other.predicted_ns);
    correction_clear(&c);
    bank_clear(&rows);
    hardware_clear(&there);
    hardware_clear(&hw);
}
