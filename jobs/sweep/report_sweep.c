/* Makes the sections of a sweep's page. All jobs are looked up in the store once for their times
 * alone, and sorted; only the rows that a page shows are looked up again, with their texts. So the
 * times of a million jobs take 16 MB. */
#include "jobs/sweep/report_sweep.h"

#include "formats/json.h"
#include "formats/text.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ jobs */

struct timed {
    double time_ns; /* 0: nothing is legal; negative: no answer */
    int64_t job;
};

struct counts {
    int64_t answered, none, cut_off, left;
};

/* The longest first, then the order of the file. */
static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns)
                                    : (a->job > b->job) - (a->job < b->job);
}

static enum status look_up(const struct sweep *sweep, struct store *store, struct timed *timed,
                           struct counts *counts, struct error *error)
{
    for (int64_t j = 0; j < sweep->job_count; j++) {
        struct store_row row;
        bool found = false;
        TRY(store_get(store, &sweep->jobs[j].key, &found, &row, error));
        timed[j] = (struct timed){found ? row.time_ns : -1, j};
        counts->left += !found;
        counts->none += found && row.time_ns <= 0;
        counts->answered += found && row.time_ns > 0;
        counts->cut_off += found && row.time_ns > 0 && !row.optimal;
    }
    qsort(timed, (size_t)sweep->job_count, sizeof *timed, by_time);
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
    json_array_append_new(cells, json_boolean(found && row.optimal));
    json_array_append_new(cells, json_text(!found               ? "no answer"
                                           : timed->time_ns > 0 ? row.tiling
                                                                : "none is legal"));
    return STATUS_OK;
}

static enum status add_jobs(struct report *report, const struct sweep *sweep, struct store *store,
                            const struct timed *timed, struct error *error)
{
    static const char *const columns[][2] = {{"job", NULL},    {"kind", NULL},  {"cores", NULL},
                                             {"type", NULL},   {"space", NULL}, {"time", "ns"},
                                             {"proven", NULL}, {"tiling", NULL}};
    int64_t shown = sweep->job_count < REPORT_SWEEP_ROWS ? sweep->job_count : REPORT_SWEEP_ROWS;
    char note[96];
    snprintf(note, sizeof note, "The first %d; `autotune table` has all.", REPORT_SWEEP_ROWS);
    json_t *table = report_table("Jobs by time", shown < sweep->job_count ? note : NULL);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        report_column(table, columns[i][0], columns[i][1]);
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
