/* Plan and summary, each as one JSON document or a table. What a sweep may take is the sum of its
 * jobs' estimates over the threads, but for those that are measured, which run alone. */
#include "cli/sweep_answer.h"
#include "cli/answer.h"

#include "formats/json.h"
#include "formats/text.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ faults */

static json_t *faults_json(const struct sweep *sweep, const struct sweep_counts *ran)
{
    json_t *faults = json_array();
    const struct sweep_fault *lists[] = {sweep->faults, ran ? ran->faults : NULL};
    const int64_t counts[] = {sweep->fault_count, ran ? ran->fault_count : 0};
    for (int l = 0; l < 2; l++)
        for (int64_t i = 0; i < counts[l]; i++)
            json_array_append_new(faults, json_pack("{s:i, s:o}", "line", lists[l][i].line, "text",
                                                    json_text(lists[l][i].text)));
    return faults;
}

static void print(json_t *document, const struct common *common,
                  void (*write_table)(const void *what, const struct style *style, FILE *out),
                  const void *what)
{
    struct answer out;
    struct error error;
    cli_answer_open(&out, common);
    const struct style *style = &out.style;
    if (document)
        cli_require(json_write(document, out.stream, &error), &error);
    else
        write_table(what, style, out.stream);
    cli_answer_close(&out);
}

/* ------------------------------------------------------------------ the summary */

static json_t *points_json(const struct sweep_summary *summary)
{
    json_t *points = json_array();
    for (int64_t i = 0; i < summary->sweep->chip_count; i++) {
        const struct sweep_point *point = &summary->points[i];
        const struct sweep_chip *chip = &summary->sweep->chips[point->chip];
        json_array_append_new(points,
                              json_pack("{s:o, s:i, s:f, s:f, s:I, s:b, s:b}", "hardware",
                                        json_text(chip->name), "cores", chip->cores, "buffer_bytes",
                                        point->buffer_bytes, "time_ns", point->time_ns, "jobs",
                                        (json_int_t)point->jobs, "complete", point->complete,
                                        "pareto", point->best));
    }
    return points;
}

static json_t *found_json(const struct sweep_summary *summary)
{
    json_t *list = json_array();
    char title[512];
    for (int k = 0; k < STORE_KINDS; k++) {
        const struct sweep_found *found = &summary->found[k];
        if (!found->count)
            continue;
        sweep_title(summary->sweep, found->slowest, title, sizeof title);
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:f, s:{s:o, s:f}}", "kind",
                                              store_kind_name((enum store_kind)k), "rows",
                                              (json_int_t)found->count, "time_ns", found->time_ns,
                                              "median_ns", found->median_ns, "slowest", "job",
                                              json_text(title), "time_ns", found->slowest_ns));
    }
    return list;
}

static json_t *calls_json(const struct sweep_summary *summary)
{
    json_t *list = json_array();
    struct store_row kept;
    struct error error;
    bool found = false;
    char title[512];
    for (int64_t i = 0; i < summary->calls_count; i++) {
        const struct sweep_calls *calls = &summary->calls[i];
        const struct sweep_job *job = &summary->sweep->jobs[calls->job];
        sweep_title(summary->sweep, calls->job, title, sizeof title);
        json_t *row = json_pack("{s:o, s:I, s:f, s:f}", "job", json_text(title), "count",
                                (json_int_t)job->calls, "time_ns", calls->time_ns, "total_ns",
                                calls->total_ns);
        if (job->compared)
            json_object_update_new(row, json_pack("{s:f, s:f}", "baseline_ns", job->baseline_ns,
                                                  "saved_ns", calls->saved_ns));
        cli_require(store_get(summary->store, &job->key, &found, &kept, &error), &error);
        json_object_set_new(row, "tiling", found ? json_text(kept.tiling) : json_null());
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *summary_json(const struct sweep_summary *summary)
{
    const struct sweep *sweep = summary->sweep;
    const struct sweep_counts *r = summary->ran;
    json_t *document = json_pack(
        "{s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "schema", 1, "sweep",
        json_text(sweep->file), "db", json_text(summary->db), "jobs", (json_int_t)sweep->job_count,
        "duplicates", (json_int_t)sweep->duplicates, "searched", (json_int_t)r->searched,
        "measured", (json_int_t)r->measured, "from_store", (json_int_t)r->from_store, "unfinished",
        (json_int_t)r->unfinished, "infeasible", (json_int_t)r->infeasible, "cut_off",
        (json_int_t)r->cut_off, "seconds", r->seconds, "faults", faults_json(sweep, r));
    json_object_set_new(document, "found", found_json(summary));
    if (summary->points)
        json_object_set_new(document, "chips", points_json(summary));
    if (summary->calls)
        json_object_set_new(document, "calls", calls_json(summary));
    return document;
}

static void put_count(const char *what, int64_t count, const char *note, FILE *out)
{
    char text[TEXT_SIZE];
    if (count)
        fprintf(out, "  %-13s %9s%s%s\n", what, text_count(count, text), *note ? "  " : "", note);
}

/* The front, and what is behind it. */
static void put_points(const struct sweep_summary *summary, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], bytes[TEXT_SIZE];
    fprintf(out, "\n  time of all jobs, one after the other, against what the buffers hold:\n");
    fprintf(out, "    %10s  %12s  %5s  chip\n", "buffers", "time", "cores");
    for (int64_t i = 0; i < summary->sweep->chip_count; i++) {
        const struct sweep_point *point = &summary->points[i];
        const struct sweep_chip *chip = &summary->sweep->chips[point->chip];
        fprintf(out, "  %s%s %6s KiB  %12s  %5d  %s%s%s\n", point->best ? style->good : "",
                point->best ? "*" : " ", text_count((int64_t)(point->buffer_bytes / 1024), bytes),
                point->jobs ? text_time(point->time_ns, time) : "-", chip->cores, chip->name,
                point->complete ? "" : "  (not all jobs)", point->best ? style->end : "");
    }
    fprintf(out, "  * Pareto front: no other is faster with as few bytes\n");
}

enum { MOST_CALLS = 20 }; /* rows of the table */

/* A row; that of all jobs has no time of one. */
static void put_calls_row(int64_t count, const struct sweep_calls *calls, double all_ns,
                          bool compared, const char *title, FILE *out)
{
    char times[TEXT_SIZE], time[TEXT_SIZE], total[TEXT_SIZE], saved[TEXT_SIZE];
    char signed_saved[TEXT_SIZE + 1];
    snprintf(signed_saved, sizeof signed_saved, "%s%s", calls->saved_ns < 0 ? "-" : "",
             text_time(fabs(calls->saved_ns), saved));
    fprintf(out, "  %11s  %11s  %10s  %5.1f %%  %10s  %s\n", text_count(count, times),
            calls->time_ns > 0 ? text_time(calls->time_ns, time) : "",
            text_time(calls->total_ns, total), 100 * calls->total_ns / all_ns,
            compared ? signed_saved : "-", title);
}

/* What pays most. */
static void put_calls(const struct sweep_summary *summary, FILE *out)
{
    struct sweep_calls all = {.job = -1};
    int64_t count = 0, compared = 0;
    char title[512], rest[TEXT_SIZE];
    for (int64_t i = 0; i < summary->calls_count; i++) {
        const struct sweep_job *job = &summary->sweep->jobs[summary->calls[i].job];
        all.total_ns += summary->calls[i].total_ns;
        all.saved_ns += summary->calls[i].saved_ns;
        count += job->calls;
        compared += job->compared;
    }
    fprintf(out, "\n  %11s  %11s  %10s  %7s  %10s  job\n", "calls", "time of one", "all calls",
            "share", "saved");
    for (int64_t i = 0; i < summary->calls_count && i < MOST_CALLS; i++) {
        const struct sweep_calls *calls = &summary->calls[i];
        const struct sweep_job *job = &summary->sweep->jobs[calls->job];
        sweep_title(summary->sweep, calls->job, title, sizeof title);
        put_calls_row(job->calls, calls, all.total_ns, job->compared > 0, title, out);
    }
    *title = 0;
    if (summary->calls_count > MOST_CALLS)
        snprintf(title, sizeof title, ", of which %s stand above", text_count(MOST_CALLS, rest));
    char line[600];
    snprintf(line, sizeof line, "all jobs%s", title);
    put_calls_row(count, &all, all.total_ns, compared > 0, line, out);
}

static void put_found(const struct sweep_summary *summary, const struct style *style, FILE *out)
{
    char count[TEXT_SIZE], all[TEXT_SIZE], median[TEXT_SIZE], slowest[TEXT_SIZE], title[512];
    for (int k = 0; k < STORE_KINDS; k++) {
        const struct sweep_found *found = &summary->found[k];
        if (found->count) {
            sweep_title(summary->sweep, found->slowest, title, sizeof title);
            text_put_line("found", style, out, "%s tiling%s, %s: %s in all, median %s",
                          text_count(found->count, count), found->count == 1 ? "" : "s",
                          store_kind_name((enum store_kind)k), text_time(found->time_ns, all),
                          text_time(found->median_ns, median));
            text_put_line("slowest", style, out, "%s: %s", title,
                          text_time(found->slowest_ns, slowest));
        }
        if (found->infeasible >= 0) {
            sweep_title(summary->sweep, found->infeasible, title, sizeof title);
            text_put_line("no tiling", style, out, "%s%s", title,
                          summary->ran->infeasible > 1 ? " and others" : "");
        }
    }
}

static void summary_table(const void *what, const struct style *style, FILE *out)
{
    char db[TEXT_LINE_SIZE];
    char line[TEXT_LINE_SIZE];
    const struct sweep_summary *summary = what;
    const struct sweep *sweep = summary->sweep;
    const struct sweep_counts *r = summary->ran;
    char jobs[TEXT_SIZE];
    fprintf(out, "%s%s%s: %s job%s, kept in %s\n", style->bold, text_line(sweep->file, line),
            style->end, text_count(sweep->job_count, jobs), sweep->job_count == 1 ? "" : "s",
            text_line(summary->db, db));
    put_count("searched", r->searched, "", out);
    put_count("measured", r->measured, "on this machine, one after the other", out);
    put_count("from store", r->from_store, "searched before", out);
    put_count("none legal", r->infeasible, "of these: no tiling fits", out);
    put_count("cut off", r->cut_off, "of these: by the time limit, a longer run may find better",
              out);
    put_count("unfinished", r->unfinished, "started again, the sweep goes on here", out);
    put_count("bad", sweep->fault_count + r->fault_count, "rows and jobs, named above", out);
    put_count("duplicates", sweep->duplicates, "rows that ask for what another one asks for", out);
    fprintf(out, "  %-13s %9.1f  s\n", "time", r->seconds);
    put_found(summary, style, out);
    if (summary->points)
        put_points(summary, style, out);
    if (summary->calls_count)
        put_calls(summary, out);
    if (summary->next && *summary->next) {
        fputs("\n  next         ", out);
        text_put_command(summary->next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
}

void sweep_summary_write(const struct sweep_summary *summary, const struct common *common)
{
    print(common->format == FORMAT_JSON ? summary_json(summary) : NULL, common, summary_table,
          summary);
}

void sweep_summary_clear(struct sweep_summary *summary)
{
    free(summary->points);
    free(summary->calls);
}

/* ------------------------------------------------------------------ the plan */

#define US_PER_S 1e6

/* What is measured runs alone. */
static double estimate_s(const struct sweep *sweep, int threads)
{
    double us = 0;
    for (int64_t j = 0; j < sweep->job_count; j++) {
        const struct sweep_job *job = &sweep->jobs[j];
        us += (double)job->cost / (job->key.kind == STORE_MEASURED ? 1 : threads);
    }
    return us / US_PER_S;
}

static json_t *plan_json(const struct sweep_plan *plan)
{
    const struct sweep *sweep = plan->sweep;
    json_t *jobs = json_array();
    for (int64_t i = 0; i < sweep->job_count; i++) {
        const struct sweep_job *job = &sweep->jobs[i];
        json_array_append_new(
            jobs, json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:f}", "line",
                            job->line, "kind", store_kind_name(job->key.kind), "op", job->key.op,
                            "shape", job->key.shape, "options", job->key.options, "dtype",
                            job->key.dtype, "space", job->key.space, "query", job->key.query,
                            "hardware", json_text(sweep->chips[job->chip].name), "cores",
                            job->key.cores, "seconds", (double)job->cost / US_PER_S));
    }
    return json_pack("{s:i, s:o, s:f, s:i, s:I, s:I, s:o, s:o}", "schema", 1, "sweep",
                     json_text(sweep->file), "seconds", estimate_s(sweep, plan->threads), "threads",
                     plan->threads, "from_store", (json_int_t)plan->from_store, "duplicates",
                     (json_int_t)sweep->duplicates, "faults", faults_json(sweep, NULL), "jobs",
                     jobs);
}

static void plan_table(const void *what, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    const struct sweep_plan *plan = what;
    const struct sweep *sweep = plan->sweep;
    char text[512], count[TEXT_SIZE];
    fprintf(out, "%s%s%s\n   line  about, s  job\n", style->bold, text_line(sweep->file, line),
            style->end);
    for (int64_t i = 0; i < sweep->job_count; i++) {
        sweep_title(sweep, i, text, sizeof text);
        fprintf(out, "%7d %9.3f  %s, %s, space %s\n", sweep->jobs[i].line,
                (double)sweep->jobs[i].cost / US_PER_S, text, sweep->jobs[i].key.dtype,
                sweep->jobs[i].key.space);
    }
    fprintf(out, "%s job%s, about %.1f s on %d thread%s", text_count(sweep->job_count, count),
            sweep->job_count == 1 ? "" : "s", estimate_s(sweep, plan->threads), plan->threads,
            plan->threads == 1 ? "" : "s");
    if (plan->from_store)
        fprintf(out, "; %s answered in %s", text_count(plan->from_store, count),
                text_line(plan->db, line));
    if (sweep->duplicates)
        fprintf(out, "; %s duplicate%s left out", text_count(sweep->duplicates, count),
                sweep->duplicates == 1 ? "" : "s");
    fprintf(out, "\n");
}

void sweep_plan_write(const struct sweep_plan *plan, const struct common *common)
{
    print(common->format == FORMAT_JSON ? plan_json(plan) : NULL, common, plan_table, plan);
}
