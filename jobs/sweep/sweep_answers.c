/* What the answers of a sweep come to, and its page.
 *
 * How many there are, how long they take, which is slowest. What tuning is worth: a job's time by
 * how often it is called, against what these calls take now; rows that ask for the same add up.
 * Which chips no other one beats in both bytes of buffers and time (the Pareto front): the times of
 * each chip's jobs are added; chips that lack answers which others have are not compared. In
 * ascending order of bytes a chip is on the front where it is faster than all before it: one pass.
 *
 * For the page all jobs are looked up in the store once for their times alone, and sorted; only the
 * rows that a page shows are looked up again, with their texts. So the times of a million jobs take
 * 32 MB. */
#include "jobs/sweep/sweep.h"

#include "formats/json.h"
#include "formats/text.h"
#include "jobs/tune/job_store.h"
#include "results/report.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

enum { REPORT_SWEEP_ROWS = 1000 };

/* ------------------------------------------------------------------ how many, how long */

static void add_answer(struct sweep_found *found, double *times, int64_t job, double time_ns)
{
    if (found->count == 0 || time_ns > found->slowest_ns) {
        found->slowest = job;
        found->slowest_ns = time_ns;
    }
    times[found->count++] = time_ns;
    found->time_ns += time_ns;
}

enum status sweep_found(const struct sweep *sweep, struct store *store, enum store_kind kind,
                        struct sweep_found *found, struct error *error)
{
    enum status status = STATUS_OK;
    double *times = malloc(((size_t)sweep->job_count + 1) * sizeof *times);
    *found = (struct sweep_found){.infeasible = -1};
    if (!times)
        return error_memory(error);
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        struct store_row row;
        bool there = false;
        if (sweep->jobs[j].key.kind != kind)
            continue;
        status = store_get(store, &sweep->jobs[j].key, &there, &row, error);
        if (status != STATUS_OK || !there)
            continue;
        if (row.time_ns > 0)
            add_answer(found, times, j, row.time_ns);
        else if (found->infeasible < 0)
            found->infeasible = j;
    }
    if (found->count)
        found->median_ns = gsl_stats_median(times, 1, (size_t)found->count);
    free(times);
    return status;
}

/* ------------------------------------------------------------------ worth */

static int falling(double a, double b)
{
    return (a < b) - (a > b);
}

static int by_calls_worth(const void *left, const void *right)
{
    const struct sweep_calls *a = left, *b = right;
    int by = falling(a->saved_ns, b->saved_ns);
    by = by ? by : falling(a->total_ns, b->total_ns);
    return by ? by : (a->job > b->job) - (a->job < b->job);
}

/* What all calls of a job save where one takes so long; 0 where no row says what they take now. */
static double saved_ns(const struct sweep_job *job, double time_ns)
{
    return job->baseline_ns - (double)job->compared * time_ns;
}

enum status sweep_calls(const struct sweep *sweep, struct store *store, struct sweep_calls **calls,
                        int64_t *count, struct error *error)
{
    enum status status = STATUS_OK;
    struct sweep_calls *list = malloc(((size_t)sweep->job_count + 1) * sizeof *list);
    *count = 0;
    if (!list)
        return error_memory(error);
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        const struct sweep_job *job = &sweep->jobs[j];
        struct store_row row;
        bool found = false;
        if (job->key.kind != STORE_SIMULATED)
            continue;
        status = store_get(store, &job->key, &found, &row, error);
        if (status == STATUS_OK && found && row.time_ns > 0)
            list[(*count)++] = (struct sweep_calls){
                .job = j,
                .time_ns = row.time_ns,
                .total_ns = (double)job->calls * row.time_ns,
                .saved_ns = saved_ns(job, row.time_ns),
            };
    }
    if (status == STATUS_OK) {
        qsort(list, (size_t)*count, sizeof *list, by_calls_worth);
        *calls = list;
    } else {
        free(list);
    }
    return status;
}

/* ------------------------------------------------------------------ chips */

/* Complete ones first, by bytes, time and place in the file. */
static int by_buffer_bytes(const void *left, const void *right)
{
    const struct sweep_point *a = left, *b = right;
    if (a->complete != b->complete)
        return a->complete ? -1 : 1;
    int by = falling(b->buffer_bytes, a->buffer_bytes);
    by = by ? by : falling(b->time_ns, a->time_ns);
    return by ? by : a->chip - b->chip;
}

static enum status add_up_points(const struct sweep *sweep, struct store *store,
                                 struct sweep_point *points, int64_t *most, struct error *error)
{
    enum status status = STATUS_OK;
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        struct sweep_point *point = &points[sweep->jobs[j].chip];
        struct store_row row;
        bool found;
        if (sweep->jobs[j].key.kind != STORE_SIMULATED)
            continue;
        status = store_get(store, &sweep->jobs[j].key, &found, &row, error);
        if (status != STATUS_OK || !found || row.time_ns <= 0)
            continue;
        point->jobs++;
        point->time_ns += row.time_ns;
        *most = point->jobs > *most ? point->jobs : *most;
    }
    return status;
}

enum status sweep_pareto(const struct sweep *sweep, struct store *store,
                         struct sweep_point **points, struct error *error)
{
    int64_t most = 0;
    double least_ns = 0;
    struct sweep_point *made = calloc((size_t)sweep->chip_count + 1, sizeof *made);
    if (!made)
        return error_memory(error);
    enum status status = add_up_points(sweep, store, made, &most, error);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    for (int64_t c = 0; c < sweep->chip_count; c++) {
        made[c].chip = (int)c;
        made[c].buffer_bytes = sweep->chips[c].buffer_bytes;
        made[c].complete = most > 0 && made[c].jobs == most;
    }
    if (sweep->chip_count)
        qsort(made, (size_t)sweep->chip_count, sizeof *made, by_buffer_bytes);
    for (int64_t c = 0; c < sweep->chip_count && made[c].complete; c++) {
        made[c].best = c == 0 || made[c].time_ns < least_ns;
        least_ns = made[c].best ? made[c].time_ns : least_ns;
    }
    *points = made;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ a page */

/* ------------------------------------------------------------------ jobs */

struct timed {
    double time_ns;            /* 0: nothing is legal; negative: no answer */
    double total_ns, saved_ns; /* of all calls, one where no row says how many */
    int64_t job;
};

struct counts {
    int64_t answered, none, cut_off, left;
};

/* What saves most first, then what takes most, then the order of the file. */
static int by_worth(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    int order = falling(a->saved_ns, b->saved_ns);
    order = order ? order : falling(a->total_ns, b->total_ns);
    return order ? order : (a->job > b->job) - (a->job < b->job);
}

static struct timed time_job(const struct sweep *sweep, int64_t j, double time_ns)
{
    const struct sweep_job *job = &sweep->jobs[j];
    bool is_saving = time_ns > 0 && job->key.kind == STORE_SIMULATED;
    return (struct timed){.time_ns = time_ns,
                          .total_ns = time_ns > 0 ? (double)job->calls * time_ns : time_ns,
                          .saved_ns = is_saving ? saved_ns(job, time_ns) : 0,
                          .job = j};
}

static enum status look_up(const struct sweep *sweep, struct store *store, struct timed *timed,
                           struct counts *counts, struct error *error)
{
    for (int64_t j = 0; j < sweep->job_count; j++) {
        struct store_row row;
        bool found = false;
        TRY(store_get(store, &sweep->jobs[j].key, &found, &row, error));
        timed[j] = time_job(sweep, j, found ? row.time_ns : -1);
        counts->left += !found;
        counts->none += found && row.time_ns <= 0;
        counts->answered += found && row.time_ns > 0;
        counts->cut_off += found && row.time_ns > 0 && !row.optimal;
    }
    qsort(timed, (size_t)sweep->job_count, sizeof *timed, by_worth);
    return STATUS_OK;
}

static void add_counts(struct report *report, const struct sweep *sweep,
                       const struct sweep_counts *ran, const struct counts *counts)
{
    char text[TEXT_SIZE];
    json_t *facts = report_facts("Jobs");
    report_fact(facts, "jobs", "%s", text_count(sweep->job_count, text));
    report_fact(facts, "with a tiling", "%s", text_count(counts->answered, text));
    report_fact(facts, "of them not proven", "%s", text_count(counts->cut_off, text));
    report_fact(facts, "without a legal one", "%s", text_count(counts->none, text));
    report_fact(facts, "without an answer", "%s", text_count(counts->left, text));
    report_fact(facts, "bad rows and jobs", "%s",
                text_count(sweep->fault_count + ran->fault_count, text));
    report_add(report, facts);
}

static enum status add_row(json_t *table, const struct sweep *sweep, struct store *store,
                           const struct timed *timed, struct error *error)
{
    char title[512];
    struct store_row row = {0};
    bool found = false;
    const struct sweep_job *job = &sweep->jobs[timed->job];
    TRY(store_get(store, &job->key, &found, &row, error));
    sweep_title(sweep, timed->job, title, sizeof title);
    json_t *cells = report_row(table);
    json_array_append_new(cells, json_text(title));
    json_array_append_new(cells, json_string(store_kind_name(job->key.kind)));
    json_array_append_new(cells, json_integer(job->key.cores));
    json_array_append_new(cells, json_string(job->key.dtype));
    json_array_append_new(cells, json_string(job->key.space));
    json_array_append_new(cells, json_number_above_0(timed->time_ns));
    if (sweep->has_calls) {
        json_array_append_new(cells, json_integer(job->calls));
        json_array_append_new(cells, json_number_above_0(timed->total_ns));
        json_array_append_new(cells, job->compared ? json_number(timed->saved_ns) : json_null());
    }
    json_array_append_new(cells, json_boolean(found && row.optimal));
    json_array_append_new(cells, json_text(!found               ? "no answer"
                                           : timed->time_ns > 0 ? row.tiling
                                                                : "none is legal"));
    return STATUS_OK;
}

static enum status add_jobs(struct report *report, const struct sweep *sweep, struct store *store,
                            const struct timed *timed, struct error *error)
{
    static const struct {
        const char *name, *unit;
        bool of_calls;
    } columns[] = {{"job", NULL, false},     {"kind", NULL, false},     {"cores", NULL, false},
                   {"type", NULL, false},    {"space", NULL, false},    {"time", "ns", false},
                   {"calls", "count", true}, {"all calls", "ns", true}, {"saved", "ns", true},
                   {"proven", NULL, false},  {"tiling", NULL, false}};
    int64_t shown = sweep->job_count < REPORT_SWEEP_ROWS ? sweep->job_count : REPORT_SWEEP_ROWS;
    char note[96];
    snprintf(note, sizeof note, "The first %d; `autotune table` has all.", REPORT_SWEEP_ROWS);
    json_t *table = report_table(sweep->has_calls ? "Jobs by what they save" : "Jobs by time",
                                 shown < sweep->job_count ? note : NULL);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (sweep->has_calls || !columns[i].of_calls)
            report_column(table, columns[i].name, columns[i].unit);
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < shown && status == STATUS_OK; i++)
        status = add_row(table, sweep, store, &timed[i], error);
    report_add(report, table);
    return status;
}

/* ------------------------------------------------------------------ chips and faults */

static void add_chips(struct report *report, const struct sweep *sweep,
                      const struct sweep_point *points)
{
    json_t *section = report_section("chips", "Chips: time against buffers",
                                     "The time of all jobs, one after the other, against what the "
                                     "buffers hold; on the line no other chip is "
                                     "faster with as few bytes.");
    json_t *list = json_array();
    for (int64_t i = 0; i < sweep->chip_count; i++) {
        const struct sweep_chip *chip = &sweep->chips[points[i].chip];
        json_array_append_new(list, json_pack("{s:o, s:i, s:f, s:f, s:I, s:b, s:b}", "name",
                                              json_text(chip->name), "cores", chip->cores, "bytes",
                                              points[i].buffer_bytes, "time_ns", points[i].time_ns,
                                              "jobs", (json_int_t)points[i].jobs, "complete",
                                              points[i].complete, "best", points[i].best));
    }
    json_object_set_new(section, "points", list);
    report_add(report, section);
}

static void add_faults(struct report *report, const struct sweep *sweep,
                       const struct sweep_counts *ran)
{
    const struct sweep_fault *lists[] = {sweep->faults, ran->faults};
    const int64_t counts[] = {sweep->fault_count, ran->fault_count};
    if (counts[0] + counts[1] == 0)
        return;
    json_t *table = report_table("Bad rows and jobs", NULL);
    report_column(table, "line", NULL);
    report_column(table, "what is wrong", NULL);
    for (int l = 0; l < 2; l++)
        for (int64_t i = 0; i < counts[l] && i < REPORT_SWEEP_ROWS; i++) {
            json_t *cells = report_row(table);
            json_array_append_new(cells, json_integer(lists[l][i].line));
            json_array_append_new(cells, json_text(lists[l][i].text));
        }
    report_add(report, table);
}

enum status report_sweep(struct report *report, const struct sweep *sweep, struct store *store,
                         const struct sweep_counts *ran, const struct sweep_point *points,
                         struct error *error)
{
    struct counts counts = {0};
    struct timed *timed = calloc((size_t)sweep->job_count + 1, sizeof *timed);
    enum status status = timed ? look_up(sweep, store, timed, &counts, error) : error_memory(error);
    if (status == STATUS_OK) {
        add_counts(report, sweep, ran, &counts);
        if (points)
            add_chips(report, sweep, points);
        status = add_jobs(report, sweep, store, timed, error);
        add_faults(report, sweep, ran);
    }
    free(timed);
    return status;
}
