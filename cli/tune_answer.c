/* Only arranges: every number is the search's, the job's or the space's, in femtoseconds, and
 * becomes a field of the answer in nanoseconds. Where tilings were measured, the fastest of them is
 * the best, and the model's proof holds no more unless it was the model's first. */
#include "cli/tune_answer.h"
#include "cli/answer.h"

#include "cli/signals.h"
#include "jobs/tune/report_program.h"
#include "results/report_tune.h"

#include <stdlib.h>

bool tune_was_cut_short(const struct search_result *result, double time_limit_s)
{
    bool late = time_limit_s > 0 && result->seconds >= time_limit_s;
    return !result->optimal && (result->count > 0 || *stop_asked() || late);
}

struct tune_answer tune_answer_of(const struct tune_find *find, const struct search_result *result)
{
    const struct job *job = &find->task->job;
    const struct host_run *run = find->run;
    return (struct tune_answer){
        .problem = &job->problem,
        .space = &job->space,
        .cores = job->cores,
        .threads = search_threads(&job->space, find->how.threads),
        .top = job->top,
        .search = result,
        .question = &run->question,
        .measured = run->answer.asked ? &run->answer : NULL,
        .cut_short = tune_was_cut_short(result, job->time_limit_s),
        .has_store = find->db != NULL,
        .from_store = find->from_store,
        .measured_from_store = run->from_store,
        .chosen = job->robust
                      ? "the worst case is least, within 2 %, of those that may be the fastest"
                  : job->corrected ? "the corrected time is least of those that may be the fastest"
                                   : NULL,
    };
}

bool tune_answer_write(const struct task *task, struct tune_answer *answer)
{
    struct answer out;
    struct error error;
    const struct found *best = tune_best(answer);
    char *next =
        best ? task_command(task, task->job.hw->host ? "explain" : "program", &best->tiling) : NULL;
    answer->next = next;
    cli_answer_open(&out, &task->common);
    cli_require(formats[task->common.format].tune(answer, &out.style, out.stream, &error), &error);
    cli_answer_close(&out);
    answer->next = NULL;
    free(next);
    return best != NULL;
}

static void write_lead(const struct tune_answer *answer, char *text, size_t size)
{
    char time[TEXT_SIZE];
    const struct found *best = tune_best(answer);
    if (best)
        snprintf(text, size, "%s%s", text_time(found_ns(best), time),
                 tune_is_optimal(answer) ? ", and no tiling of the space is faster" : "");
    else
        snprintf(text, size, "no tiling of this space is legal");
}

void tune_page_write(const struct page *page, const struct common *common,
                     const struct tune_answer *answer, const char *landscape_axes)
{
    struct report report;
    struct error error;
    char title[PROBLEM_TITLE_SIZE], text[2 * PROBLEM_TITLE_SIZE], lead[192];
    const struct found *best = tune_best(answer);
    snprintf(text, sizeof text, "%s on %s", problem_title(answer->problem, title),
             answer->space->hw->name);
    write_lead(answer, lead, sizeof lead);
    page_open(page, text, lead, &report);
    report_tune(&report, answer);
    if (best)
        cli_require(report_landscapes(&report, answer->space, answer->search, landscape_axes,
                                      answer->threads, &error),
                    &error);
    if (best)
        cli_require(report_tiling(&report, answer->space, &best->tiling, &error), &error);
    report_hardware(&report, answer->space->hw);
    page_close(page, common, &report);
}
