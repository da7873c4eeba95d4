/* What is measured, in a store: keys, what comes back, what is refused, which of two counts. With a
 * meter that makes times up, so that nothing here depends on a clock or a machine. */
#include "core/version.h"
#include "jobs/sweep/sweep_merge.h"
#include "jobs/table/tilings.h"
#include "jobs/tune/host_job.h"
#include "results/store_rows.h"
#include "tests/hardware_files.h"

#include <jansson.h>
#include <math.h>

TestSuite(host_job, .init = enter, .fini = leave);

/* ------------------------------------------------------------------ a job and a meter */

static void set(struct job *job, const char *name, const char *text)
{
    struct error error;
    cr_assert_eq(job_set(job, name, text, &error), STATUS_OK, "%s", error.text);
}

static void open_job(struct job *job, const char *name, const char *text)
{
    struct error error;
    job_init(job);
    set(job, "op", "matmul");
    set(job, "shape", "64x64x64");
    set(job, "hw", SOURCE_DIR "/tests/support/host-loops.cfg");
    set(job, "cores", "1");
    if (name)
        set(job, name, text);
    cr_assert_eq(job_open(job, NULL, &error), STATUS_OK, "%s", error.text);
}

static double slowness = 1.1; /* of the first, by the model's word */
static bool all_fail;

static enum status quiet(struct timing_noise *noise, struct error *error)
{
    (void)error;
    *noise = (struct timing_noise){0.002, 0.01};
    return STATUS_OK;
}

/* The third is the fastest, the second computes wrongly. */
static enum status made_up(const struct host_runner *runner, const struct space *space,
                           const struct tiling *tilings, const double *predicted_ns, int count,
                           const struct measure_options *options, struct measured *results,
                           struct error *error)
{
    (void)runner, (void)space, (void)tilings, (void)options, (void)error;
    for (int i = 0; i < count; i++) {
        bool fails = all_fail || i == 1;
        results[i] = (struct measured){.allowed_error = 1e-6, .max_error = 1e-7 / 3};
        results[i].timing =
            (struct timing){.median_ns = (i == 2 ? 0.5 : slowness) * predicted_ns[i],
                            .spread = 0.01 / 7,
                            .samples = 31 + i,
                            .dropped = i,
                            .fell_out = i == 3};
        results[i].sampled = i == 0;
        if (fails) {
            results[i].timing = (struct timing){0};
            results[i].allowed_error = 0;
            strcpy(results[i].quarantine, "wrong results");
        }
    }
    return STATUS_OK;
}

static const struct host_meter meter = {made_up, quiet};
static const struct host_question usual = {.wanted = 5, .seed = 1};

static void measure_it(const struct job *job, const struct host_question *question,
                       struct host_answer *answer)
{
    struct error error;
    const struct host_control control = {.meter = &meter};
    cr_assert_eq(host_job_measure(job, question, NULL, &control, answer, &error), STATUS_OK, "%s",
                 error.text);
}

/* ------------------------------------------------------------------ the store */

static struct store *open_store(const char *name, enum store_mode mode)
{
    struct store *store;
    struct error error;
    cr_assert_eq(store_open(in_folder(name), mode, &store, &error), STATUS_OK, "%s", error.text);
    return store;
}

static void keep(const struct job *job, const struct host_question *question,
                 const struct host_answer *answer, struct store *store, bool fresh)
{
    struct error error;
    struct job_record record;
    bool worth;
    cr_assert_eq(host_job_record(job, question, answer, &worth, &record, &error), STATUS_OK);
    cr_assert(worth);
    cr_assert_eq(job_record_put(store, &record, fresh, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(store_commit(store, &error), STATUS_OK);
    job_record_clear(&record);
}

/* Measures with the slowness, and keeps it. */
static void measure_into(const struct job *job, const struct host_question *question, double slower,
                         struct store *store, bool fresh)
{
    struct host_answer answer;
    slowness = slower;
    measure_it(job, question, &answer);
    keep(job, question, &answer, store, fresh);
    host_answer_clear(&answer);
}

static bool recalls(const struct job *job, const struct host_question *question,
                    struct store *store, struct host_answer *answer)
{
    struct error error;
    bool found;
    cr_assert_eq(host_job_recall(job, question, store, &found, answer, &error), STATUS_OK, "%s",
                 error.text);
    return found;
}

/* By which the measurements of these tests differ: the model's first. */
static double kept_slowness(const struct job *job, const struct host_question *question,
                            struct store *store)
{
    struct host_answer answer;
    double slower = 0;
    cr_assert(recalls(job, question, store, &answer));
    for (int i = 0; i < answer.tune.count; i++)
        if (answer.tune.items[i].rank == 1)
            slower = answer.tune.items[i].measured.timing.median_ns /
                     found_ns(&answer.tune.items[i].model);
    host_answer_clear(&answer);
    return slower;
}

/* ------------------------------------------------------------------ tests */

Test(host_job, keys_are_what_decides_what_is_measured)
{
    static const struct {
        struct host_question question;
        const char *name, *text;
        bool other;
    } cases[] = {
        {{.wanted = 5, .seed = 1, .time_limit_s = 3}, NULL, NULL, false},
        {{.wanted = 5, .seed = 1}, "top", "7", false},
        {{.wanted = 5, .seed = 1}, "strategy", "exhaustive", false},
        {{.wanted = 5, .seed = 1}, "threads", "2", false},
        {{.wanted = 5, .seed = 1}, "time-limit", "9", false},
        {{.wanted = 6, .seed = 1}, NULL, NULL, true},
        {{.wanted = JOB_VALIDATE_DEFAULT, .seed = 1}, NULL, NULL, true},
        {{.wanted = 5, .seed = 1, .is_sample = true}, NULL, NULL, true},
        {{.wanted = 5, .seed = 1}, "cores", "2", true},
        {{.wanted = 5, .seed = 1}, "shape", "64x64x65", true},
        {{.wanted = 5, .seed = 1}, "set-hw", "host.peak_gflops=1", true},
    };
    struct job plain;
    struct job_key_texts texts, other_texts, more_texts;
    struct store_key key, other, more;
    open_job(&plain, NULL, NULL);
    host_job_key(&plain, &usual, &texts, &key);
    cr_expect_eq(key.kind, STORE_MEASURED);
    cr_expect_str_eq(key.query, "validate=5");
    cr_expect_eq(key.model_version, MODEL_VERSION);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job;
        open_job(&job, cases[i].name, cases[i].text);
        host_job_key(&job, &cases[i].question, &other_texts, &other);
        cr_expect_eq(store_compare(&key, &other) != 0, cases[i].other, "case %zu", i);
        job_close(&job);
    }
    const struct host_question sample = {.wanted = 5, .seed = 1, .is_sample = true};
    const struct host_question reseeded = {.wanted = 5, .seed = 2, .is_sample = true};
    host_job_key(&plain, &sample, &other_texts, &other);
    host_job_key(&plain, &reseeded, &more_texts, &more);
    cr_expect_neq(store_compare(&other, &more), 0);
    job_close(&plain);
}

/* Every number comes back, and what follows from them is the same. */
Test(host_job, an_answer_comes_back)
{
    struct job job;
    struct host_answer answer, kept;
    open_job(&job, NULL, NULL);
    struct store *store = open_store("s.db", STORE_WRITE);
    cr_expect_not(recalls(&job, &usual, store, &kept));
    measure_it(&job, &usual, &answer);
    keep(&job, &usual, &answer, store, false);
    cr_assert(recalls(&job, &usual, store, &kept));
    cr_expect_eq(kept.asked, 5);
    cr_expect_eq(kept.seconds, answer.seconds);
    cr_expect_eq(kept.tune.count, 5);
    cr_expect_eq(kept.tune.measured, 4);
    cr_expect_eq(kept.tune.left_out, 0);
    cr_expect_eq(kept.tune.noise.spread, answer.tune.noise.spread);
    cr_expect_eq(kept.tune.noise.dropped, answer.tune.noise.dropped);
    cr_expect_arr_eq(&kept.tune.quality, &answer.tune.quality, sizeof kept.tune.quality);
    for (int i = 0; i < answer.tune.count; i++) {
        const struct host_candidate *a = &answer.tune.items[i], *b = &kept.tune.items[i];
        cr_expect_eq(a->rank, b->rank);
        cr_expect_eq(a->model.index, b->model.index);
        cr_expect_eq(a->model.timeline.end_fs, b->model.timeline.end_fs);
        cr_expect_arr_eq(&a->model.tiling, &b->model.tiling, sizeof a->model.tiling);
        const struct measured *x = &a->measured, *y = &b->measured;
        cr_expect_eq(x->timing.median_ns, y->timing.median_ns);
        cr_expect_eq(x->timing.spread, y->timing.spread);
        cr_expect_eq(x->timing.samples, y->timing.samples);
        cr_expect_eq(x->timing.dropped, y->timing.dropped);
        cr_expect_eq(x->timing.fell_out, y->timing.fell_out);
        cr_expect_eq(x->allowed_error, y->allowed_error);
        cr_expect(x->allowed_error <= 0 || x->max_error == y->max_error);
        cr_expect_eq(x->sampled, y->sampled);
        cr_expect_str_eq(x->quarantine, y->quarantine);
    }
    host_answer_clear(&answer);
    host_answer_clear(&kept);
    store_close(store);
    job_close(&job);
}

static void read_row(const struct job *job, const struct host_question *question,
                     struct store *store, struct store_row *row)
{
    struct job_key_texts texts;
    struct store_key key;
    struct error error;
    bool found;
    host_job_key(job, question, &texts, &key);
    cr_assert_eq(store_get(store, &key, &found, row, &error), STATUS_OK);
    cr_assert(found);
}

Test(host_job, the_row_is_of_the_fastest)
{
    struct job job;
    struct host_answer answer;
    struct store_row row;
    char tiling[512];
    open_job(&job, NULL, NULL);
    struct store *store = open_store("s.db", STORE_WRITE);
    measure_it(&job, &usual, &answer);
    keep(&job, &usual, &answer, store, false);
    read_row(&job, &usual, store, &row);
    const struct host_candidate *best = &answer.tune.items[0];
    tiling_text(job.space.axes, job.space.axis_count, &best->model.tiling, tiling, sizeof tiling);
    cr_expect_eq(best->measured.timing.median_ns, 0.5 * found_ns(&best->model));
    cr_expect_eq(row.time_ns, best->measured.timing.median_ns);
    cr_expect_str_eq(row.tiling, tiling);
    cr_expect_str_eq(row.hardware_name, "Test host");
    cr_expect_not(row.optimal);
    cr_expect_eq(row.limit_s, 0);
    host_answer_clear(&answer);
    store_close(store);
    job_close(&job);
}

/* Where an answer of the store stands in for the search the same tilings are picked. */
Test(host_job, scores_are_made_where_there_are_none)
{
    struct job job;
    struct error error;
    struct host_answer one, two;
    struct search_result scored;
    const struct search_options how = {
        .strategy = "bound", .threads = 1, .top = 1, .keep_scores = true};
    const struct host_control control = {.meter = &meter};
    open_job(&job, NULL, NULL);
    cr_assert_eq(search(&job.space, &how, &scored, &error), STATUS_OK);
    cr_assert_gt(scored.score_count, 100);
    cr_assert_eq(host_job_measure(&job, &usual, &scored, &control, &one, &error), STATUS_OK);
    measure_it(&job, &usual, &two);
    cr_assert_eq(one.tune.count, two.tune.count);
    for (int i = 0; i < one.tune.count; i++)
        cr_expect_eq(one.tune.items[i].model.index, two.tune.items[i].model.index);
    host_answer_clear(&one);
    host_answer_clear(&two);
    search_result_clear(&scored);
    job_close(&job);
}

Test(host_job, what_could_not_be_measured_is_not_kept)
{
    struct job job;
    struct error error;
    struct host_answer answer;
    struct job_record record;
    bool worth = true;
    open_job(&job, NULL, NULL);
    all_fail = true;
    measure_it(&job, &usual, &answer);
    cr_assert_eq(host_job_record(&job, &usual, &answer, &worth, &record, &error), STATUS_OK);
    cr_expect_not(worth);
    host_answer_clear(&answer);
    job_close(&job);
}

/* No tiling is legal: proven, so that a sweep does not come back to it. */
Test(host_job, nothing_legal_is_an_answer)
{
    struct job job;
    struct host_answer answer = {0};
    struct store_row row;
    const struct host_question limited = {.wanted = 5, .seed = 1, .time_limit_s = 2};
    open_job(&job, NULL, NULL);
    struct store *store = open_store("s.db", STORE_WRITE);
    keep(&job, &limited, &answer, store, false);
    read_row(&job, &limited, store, &row);
    cr_expect(row.optimal);
    cr_expect_eq(row.time_ns, 0);
    cr_expect_str_eq(row.tiling, "");
    cr_assert(recalls(&job, &usual, store, &answer));
    cr_expect_eq(answer.asked, 0);
    cr_expect_eq(answer.tune.count, 0);
    host_answer_clear(&answer);
    store_close(store);
    job_close(&job);
}

/* The time limit is no part of the question: what was allowed as much answers it. */
Test(host_job, less_time_does_not_answer)
{
    static const struct {
        double kept_s, asked_s;
        bool answers;
    } cases[] = {{0, 0, true}, {0, 5, true},  {5, 5, true},
                 {5, 4, true}, {5, 6, false}, {5, 0, false}};
    struct job job;
    open_job(&job, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        struct host_answer answer;
        const struct host_question kept = {.wanted = 5, .seed = 1, .time_limit_s = cases[i].kept_s};
        const struct host_question asked = {
            .wanted = 5, .seed = 1, .time_limit_s = cases[i].asked_s};
        snprintf(name, sizeof name, "%zu.db", i);
        struct store *store = open_store(name, STORE_WRITE);
        measure_into(&job, &kept, 1.1, store, false);
        cr_expect_eq(recalls(&job, &asked, store, &answer), cases[i].answers, "case %zu", i);
        host_answer_clear(&answer);
        store_close(store);
    }
    job_close(&job);
}

/* Two measurements of a question: which is kept. Slowness tells them apart; the fastest tiling is
 * the same in both unless `slower` is below 0.5. */
Test(host_job, fresh_ones_count_and_others_by_time)
{
    static const struct {
        double first_s, second_s, first, second;
        bool fresh;
        double kept;
    } cases[] = {
        {0, 0, 0.4, 0.3, false, 0.3},                              /* the faster */
        {0, 0, 0.3, 0.4, false, 0.3}, {0, 0, 0.3, 0.4, true, 0.4}, /* asked for */
        {5, 0, 0.3, 0.4, false, 0.4},                              /* more time */
        {5, 7, 0.3, 0.4, false, 0.4}, {7, 5, 0.4, 0.3, false, 0.4},
        {0, 5, 0.4, 0.3, true, 0.4}, /* less time says less, whoever asks */
        {5, 5, 0.3, 0.4, true, 0.4},
    };
    struct job job;
    open_job(&job, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16];
        const struct host_question first = {
            .wanted = 5, .seed = 1, .time_limit_s = cases[i].first_s};
        const struct host_question second = {
            .wanted = 5, .seed = 1, .time_limit_s = cases[i].second_s};
        const struct host_question any = {.wanted = 5, .seed = 1, .time_limit_s = 1e-3};
        snprintf(name, sizeof name, "%zu.db", i);
        struct store *store = open_store(name, STORE_WRITE);
        measure_into(&job, &first, cases[i].first, store, false);
        measure_into(&job, &second, cases[i].second, store, cases[i].fresh);
        cr_expect_float_eq(kept_slowness(&job, &any, store), cases[i].kept, 1e-9, "case %zu", i);
        store_close(store);
    }
    job_close(&job);
}

static char *export_of(const char *name)
{
    static char *texts[2];
    static int at;
    at = 1 - at;
    free(texts[at]);
    texts[at] = NULL;
    size_t size;
    FILE *out = open_memstream(&texts[at], &size);
    struct store *store = open_store(name, STORE_READ);
    struct store_walk *walk;
    struct store_row row;
    struct error error;
    bool found = true;
    cr_assert_eq(store_walk_open(store, &walk, &error), STATUS_OK);
    while (found) {
        cr_assert_eq(store_walk_next(walk, &found, &row, &error), STATUS_OK);
        if (found)
            fprintf(out, "%d %s %s %.17g %g %s\n", (int)row.key.kind, row.key.query, row.tiling,
                    row.time_ns, row.limit_s, row.answer);
    }
    store_walk_close(walk);
    store_close(store);
    cr_assert_eq(fclose(out), 0);
    return texts[at];
}

static void merge_into(const char *name, const char *first, const char *second,
                       struct merge_counts *report)
{
    char into[256], one[256], two[256];
    struct error error;
    snprintf(into, sizeof into, "%s", in_folder(name));
    snprintf(one, sizeof one, "%s", in_folder(first));
    snprintf(two, sizeof two, "%s", in_folder(second));
    const char *const files[] = {one, two};
    cr_assert_eq(merge_stores(into, files, 2, report, &error), STATUS_OK, "%s", error.text);
}

/* What is merged does not depend on the order, and what was measured twice is counted. */
Test(host_job, merging_keeps_one_whatever_the_order)
{
    static const struct {
        double one, one_s, two, two_s;
        double kept;
        int64_t twice;
    } cases[] = {
        {0.4, 0, 0.3, 0, 0.3, 1},
        {0.4, 0, 0.3, 5, 0.4, 1},
        {0.4, 5, 0.3, 5, 0.3, 1},
        {1.1, 0, 1.2, 0, 1.1, 1}, /* as fast: the texts decide */
    };
    struct job job;
    open_job(&job, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct host_question one = {.wanted = 5, .seed = 1, .time_limit_s = cases[i].one_s};
        const struct host_question two = {.wanted = 5, .seed = 1, .time_limit_s = cases[i].two_s};
        const struct host_question any = {.wanted = 5, .seed = 1, .time_limit_s = 1e-3};
        struct merge_counts report;
        struct store *store = open_store("one.db", STORE_WRITE);
        measure_into(&job, &one, cases[i].one, store, false);
        store_close(store);
        store = open_store("two.db", STORE_WRITE);
        measure_into(&job, &two, cases[i].two, store, false);
        store_close(store);
        merge_into("onetwo.db", "one.db", "two.db", &report);
        cr_expect_eq(report.added, 1);
        cr_expect_eq(report.duplicates, 1);
        cr_expect_eq(report.measured_twice, cases[i].twice, "case %zu", i);
        cr_expect_eq(report.better, 0);
        merge_into("twoone.db", "two.db", "one.db", &report);
        cr_expect_eq(report.measured_twice, cases[i].twice);
        cr_expect_str_eq(export_of("onetwo.db"), export_of("twoone.db"), "case %zu", i);
        store = open_store("onetwo.db", STORE_READ);
        cr_expect_float_eq(kept_slowness(&job, &any, store), cases[i].kept, 1e-9, "case %zu", i);
        store_close(store);
        merge_into("onetwo.db", "one.db", "two.db", &report); /* again */
        cr_expect_eq(report.measured_twice, 1, "case %zu: %d", i, (int)report.measured_twice);
        cr_expect_eq(report.added, 0);
        for (const char *const *name =
                 (const char *const[]){"one.db", "two.db", "onetwo.db", "twoone.db", NULL};
             *name; name++)
            unlink(in_folder(*name));
    }
    job_close(&job);
}

/* Which tilings are picked is the model's word: another version's measurement answers nothing, but
 * stays what it is. */
Test(host_job, of_another_model_version_it_answers_nothing_and_stays)
{
    struct job job;
    struct error error;
    struct host_answer answer;
    struct store_row row;
    open_job(&job, NULL, NULL);
    struct store *store = open_store("s.db", STORE_WRITE);
    measure_into(&job, &usual, 1.1, store, false);
    read_row(&job, &usual, store, &row);
    struct store_rows rows = {0};
    cr_assert_eq(store_rows_add(&rows, &row, STORE_ANSWERS, &error), STATUS_OK);
    cr_assert_eq(store_remove(store, &rows.rows[0].key, &error), STATUS_OK);
    rows.rows[0].key.model_version = MODEL_VERSION + 1;
    cr_assert_eq(store_put(store, &rows.rows[0], &error), STATUS_OK);
    cr_assert_eq(store_commit(store, &error), STATUS_OK);
    cr_expect_not(recalls(&job, &usual, store, &answer));
    const struct store_filter all = {0};
    struct store_gc gc = {.filter = &all};
    cr_assert_eq(store_gc_find(store, &gc, &error), STATUS_OK);
    cr_expect_eq(gc.removed, 0);
    cr_expect_eq(gc.kept, 1);
    store_gc_clear(&gc);
    store_rows_clear(&rows);
    store_close(store);
    struct merge_counts report;
    store_close(open_store("t.db", STORE_WRITE));
    merge_into("u.db", "s.db", "t.db", &report);
    cr_expect_eq(report.added, 1);
    const struct store_filter measured = {.kind_given = true, .kind = STORE_MEASURED};
    struct tilings tilings;
    cr_assert_eq(tilings_read(in_folder("s.db"), &measured, NULL, &tilings, &error), STATUS_OK);
    cr_expect_eq(tilings.count, 1);
    cr_expect_eq(tilings.outdated, 0);
    tilings_clear(&tilings);
    job_close(&job);
}

/* ------------------------------------------------------------------ damage */

static enum status recall_text(const struct job *job, struct store *store, const char *answer,
                               bool *found)
{
    struct store_row row;
    struct error error;
    struct host_answer kept;
    struct job_key_texts texts;
    struct store_key key;
    host_job_key(job, &usual, &texts, &key);
    row = (struct store_row){
        .key = key, .hardware_name = "x", .tiling = "a=1", .time_ns = 1, .answer = answer};
    cr_assert_eq(store_put(store, &row, &error), STATUS_OK);
    enum status status = host_job_recall(job, &usual, store, found, &kept, &error);
    host_answer_clear(&kept);
    return status;
}

static void expect_refused(const struct job *job, struct store *store, const json_t *answer,
                           const char *what)
{
    bool found;
    char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(17));
    cr_expect_eq(recall_text(job, store, text, &found), STATUS_INVALID, "%s: %s", what, text);
    free(text);
}

static const struct {
    const char *name, *json;
    int item; /* 0: the fastest, 4: in quarantine */
} wrong_members[] = {
    {"index", "-1", 0},
    {"index", "1", 0},
    {"index", "999999999", 0},
    {"rank", "0", 0},
    {"rank", "99999999", 0},
    {"predicted_ns", "0", 0},
    {"predicted_ns", "-1.5", 0},
    {"time_ns", "null", 0},
    {"time_ns", "-3.0", 0},
    {"time_ns", "0", 0},
    {"quarantined", "\"why\"", 0},
    {"quarantined", "null", 4},
    {"quarantined", "\"\"", 0},
    {"quarantined", "\"\"", 4},
    {"quarantined", "\"a \\u001b[31m b\"", 4},
    {"quarantined", "7", 4},
    {"time_ns", "3.5", 4},
    {"samples", "-1", 0},
    {"samples", "99999999999", 0},
    {"spread", "\"x\"", 0},
    {"tiling", "{\"kernel\":\"6x4\"}", 0},
};

/* Each member of a tiling's row, gone. */
static void refuse_without_members(const struct job *job, struct store *store, const char *good)
{
    static const char *const members[] = {"index",        "tiling",  "rank",      "predicted_ns",
                                          "time_ns",      "spread",  "max_error", "allowed_error",
                                          "samples",      "dropped", "fell_out",  "quarantined",
                                          "error_sampled"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *answer = json_loads(good, 0, NULL);
        json_t *first = json_array_get(json_object_get(answer, "measured"), 0);
        cr_assert(json_object_get(first, members[i]), "%s", members[i]);
        json_object_del(first, members[i]);
        expect_refused(job, store, answer, members[i]);
        json_decref(answer);
    }
}

static void refuse_wrong_members(const struct job *job, struct store *store, const char *good)
{
    for (size_t i = 0; i < sizeof wrong_members / sizeof *wrong_members; i++) {
        json_t *answer = json_loads(good, 0, NULL);
        json_t *list = json_object_get(answer, "measured");
        json_t *value = json_loads(wrong_members[i].json, JSON_DECODE_ANY, NULL);
        cr_assert(value, "%s", wrong_members[i].json);
        json_object_set_new(json_array_get(list, (size_t)wrong_members[i].item),
                            wrong_members[i].name, value);
        expect_refused(job, store, answer, wrong_members[i].name);
        json_decref(answer);
    }
}

/* What is said of all of them, gone or negative. */
static void refuse_wrong_facts(const struct job *job, struct store *store, const char *good)
{
    static const char *const facts[] = {"asked", "left_out", "noise", "noise_dropped", "seconds"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        for (int gone = 0; gone < 2; gone++) {
            json_t *answer = json_loads(good, 0, NULL);
            json_t *validation = json_object_get(answer, "validation");
            cr_assert(json_object_get(validation, facts[i]));
            if (gone)
                json_object_del(validation, facts[i]);
            else
                json_object_set_new(validation, facts[i], json_integer(-1));
            expect_refused(job, store, answer, facts[i]);
            json_decref(answer);
        }
}

Test(host_job, damaged_answers_are_refused)
{
    static const char half[] = "{\"measured\":[],\"validation\":{\"asked\":5,\"left_out\":4,"
                               "\"noise\":0,\"noise_dropped\":0,\"seconds\":1}}";
    static const char *const texts[] = {
        "", "x", "[]", "{}", "7", "{\"measured\":[],\"validation\":{}}", half};
    struct job job;
    struct store_row row;
    bool found;
    open_job(&job, NULL, NULL);
    struct store *store = open_store("s.db", STORE_WRITE);
    measure_into(&job, &usual, 1.1, store, false);
    read_row(&job, &usual, store, &row);
    char *good = strdup(row.answer);
    cr_assert_eq(recall_text(&job, store, good, &found), STATUS_OK);
    cr_assert(found);
    refuse_without_members(&job, store, good);
    refuse_wrong_members(&job, store, good);
    refuse_wrong_facts(&job, store, good);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_eq(recall_text(&job, store, texts[i], &found), STATUS_INVALID, "%s", texts[i]);
    free(good);
    store_close(store);
    job_close(&job);
}

/* Options that measure are checked with the others. */
Test(host_job, only_a_processor_is_measured)
{
    static const struct {
        const char *hw, *validate, *expected;
    } cases[] = {
        {"ascend310", "2", "--validate: expected --hw host: only this machine can be measured"},
        {SOURCE_DIR "/tests/support/host-loops.cfg", "-1",
         "--validate -1: expected a whole number"},
        {SOURCE_DIR "/tests/support/host-loops.cfg", "10001", "from 0 to 10000"},
        {SOURCE_DIR "/tests/support/host-loops.cfg", "7", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job;
        struct error error = {0};
        job_init(&job);
        set(&job, "op", "matmul");
        set(&job, "shape", "64x64x64");
        set(&job, "hw", cases[i].hw);
        set(&job, "validate", cases[i].validate);
        enum status status = job_open(&job, NULL, &error);
        cr_expect_eq(status, *cases[i].expected ? STATUS_INVALID : STATUS_OK);
        cr_expect(strstr(error.text, cases[i].expected), "%s", error.text);
        if (status == STATUS_OK)
            cr_expect_eq(host_job_question(&job).wanted, 7);
        job_close(&job);
    }
    struct job job;
    struct error error;
    open_job(&job, NULL, NULL);
    cr_expect_eq(host_job_question(&job).wanted, JOB_VALIDATE_DEFAULT);
    cr_expect_eq(host_job_check(&job, &usual, &error), STATUS_INVALID, "it is nobody's processor");
    job_close(&job);
}
