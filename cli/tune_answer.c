#include "cli/tune_answer.h"
#include "cli/answer.h"

#include "cli/signals.h"
#include "cli/tune_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tune_fill_row(const struct task *task, const struct found *found, struct tune_row *row)
{
    const struct hardware *hw = task->job.hw;
    const struct operator_space *kind = task->job.space.kind;
    *row = (struct tune_row){
        .tiling = found->tiling,
        .cores_used = found->cores_used,
        .time_ns = (double)found->timeline.end_fs / FS_PER_NS,
        .lower_bound_ns = (double)found->bound_fs / FS_PER_NS,
        .launches = kind->costs ? 0 : 1,
        .operations = task->job.problem.op->operations(&task->job.problem),
    };
    for (int c = 0; c < kind->costs; c++)
        row->launches += kind->launches >> c & 1 ? found->part_weight[c] : 0;
    row->launch_ns = row->launches * (double)hardware_start_fs(hw, found->cores_used) / FS_PER_NS;
    for (int p = 0; p < hw->pipe_count; p++)
        row->busy_ns[p] = (double)found->timeline.busy_fs[p] / FS_PER_NS;
    for (int b = 0; b < hw->bus_count; b++)
        row->bus_ns[b] = (double)found->bus_bytes[b] * 1e9 /
                         (double)hw->buses[b].total_bytes_per_s[hw->buses[b].sharers - 1];
}

struct tune_row *tune_rows(const struct task *task, const struct search_result *result)
{
    struct tune_row *rows = calloc((size_t)result->count + 1, sizeof *rows);
    if (!rows)
        cli_die("out of memory");
    for (int i = 0; i < result->count; i++)
        tune_fill_row(task, &result->best[i], &rows[i]);
    return rows;
}

bool tune_was_cut_short(const struct search_result *result, double time_limit_s)
{
    bool late = time_limit_s > 0 && result->seconds >= time_limit_s;
    return !result->optimal && (result->count > 0 || *stop_asked() || late);
}

/* Why even the first tiling of the space, whose values are the smallest, is illegal. */
static const char *find_reason(const struct tune_report *report, char *text, size_t size)
{
    const struct space *space = &report->task->job.space;
    struct violation violations[MAX_VIOLATIONS];
    struct tiling tiling;
    if (report->result->count || report->cut_short || space->candidates == 0)
        return NULL;
    space_tiling(space, 0, &tiling);
    if (space->kind->violations(space, &tiling, violations) == 0)
        return NULL;
    snprintf(text, size, "%s", violations[0].text);
    return text;
}

static void list_choices(const struct problem *problem, const char *names[], const char *values[])
{
    for (int i = 0; i < problem->op->choice_count; i++) {
        names[i] = problem->op->choices[i].name;
        values[i] = problem->op->choices[i].values[problem->choice[i]];
    }
}

static void print_answer(const struct tune_answer *answer, const struct common *common)
{
    static tune_writer *const writers[FORMAT_COUNT] = {
        [FORMAT_TABLE] = tune_write_table,
        [FORMAT_JSON] = tune_write_json,
        [FORMAT_CSV] = tune_write_csv,
    };
    struct answer out;
    struct error error;
    cli_answer_open(&out, common);
    cli_require(writers[common->format](answer, &out.style, out.stream, &error), &error);
    cli_answer_close(&out);
}

static void fill_search(const struct search_result *result, struct tune_answer *answer)
{
    answer->candidates = result->candidates;
    answer->feasible = result->feasible;
    answer->pruned = result->pruned;
    answer->simulated = result->simulated;
    answer->within_1_percent = result->within_1_percent.surely;
    answer->within_1_percent_at_most = result->within_1_percent.at_most;
    answer->within_fit_error = result->within_tolerance.surely;
    answer->within_fit_error_at_most = result->within_tolerance.at_most;
    answer->optimal = result->optimal;
    answer->lower_bound_ns = (double)result->lower_bound_fs / FS_PER_NS;
    answer->gap = result->gap;
    answer->seconds = result->seconds;
}

/* Where something was measured the fastest of it is the best, and the model's proof is of the
 * model's first only. */
static void fill_processor(const struct tune_report *report, struct tune_answer *answer)
{
    const struct host_run *run = report->run;
    const struct host *host = report->task->job.hw->host;
    answer->on_processor = true;
    answer->peak_gflops = host->peak_gflops * answer->cores;
    if (!run || !run->answer.asked)
        return;
    const struct host_tune *tune = &run->answer.tune;
    answer->measured = run->rows;
    answer->measured_count = tune->count;
    answer->validation = &run->validation;
    if (tune->measured)
        answer->best = &run->rows[0].row;
    else if (tune->count && !tune->left_out)
        answer->best = NULL;
    if (!tune->measured || run->rows[0].rank > 1)
        answer->optimal = false;
    if (answer->best)
        answer->gap = (answer->best->time_ns - answer->lower_bound_ns) / answer->best->time_ns;
}

void tune_fill_problem(const struct task *task, struct tune_answer *answer)
{
    answer->op = task->job.problem.op->name;
    answer->space = task->job.space.kind->name;
    answer->size_count = task->job.problem.op->size_count;
    answer->size_names = task->job.problem.op->size_names;
    answer->sizes = task->job.problem.size;
    answer->choice_count =
        task->job.hw->host ? 0 : task->job.problem.op->choice_count; /* of programs */
    answer->type = task->job.problem.type;
    answer->hw = task->job.hw;
    answer->cores = task->job.cores;
    answer->axes = task->job.space.axes;
    answer->axis_count = task->job.space.axis_count;
    answer->roofline_ns = task->job.space.kind->roofline_ns(&task->job.space);
}

bool tune_report_write(const struct tune_report *report)
{
    const struct task *task = report->task;
    const struct search_result *result = report->result;
    char title[128], reason[512];
    job_title(&task->job, title, sizeof title);
    struct tune_discarded discarded[SEARCH_MAX_RULES];
    const struct operator_rule *rules = task->job.space.kind->rules;
    int rule_count = 0;
    for (; rules && rules[rule_count].key; rule_count++)
        discarded[rule_count] = (struct tune_discarded){
            rules[rule_count].key, rules[rule_count].title, result->pruned_by[rule_count]};
    const char *choice_names[OPERATOR_MAX_CHOICES], *choices[OPERATOR_MAX_CHOICES];
    list_choices(&task->job.problem, choice_names, choices);
    struct tune_answer answer = {
        .shape_text = title + strlen(task->job.problem.op->name) + 1,
        .choice_names = choice_names,
        .choices = choices,
        .fit_error = job_fit_share(&task->job),
        .cut_short = report->cut_short,
        .has_store = report->has_store,
        .from_store = report->from_store,
        .threads = report->threads,
        .top = report->top,
        .count = result->count,
        .rows = report->rows,
        .best = result->count ? report->rows : NULL,
        .discarded_count = rule_count,
        .discarded = discarded,
        .details = report->details,
        .reason = find_reason(report, reason, sizeof reason),
        .search_note = report->search_note,
    };
    int64_t *core_counts;
    if (!space_core_counts(&task->job.space, &core_counts, &answer.core_count_count))
        cli_die("out of memory");
    answer.core_counts = core_counts;
    tune_fill_problem(task, &answer);
    fill_search(result, &answer);
    if (task->job.hw->host)
        fill_processor(report, &answer);
    char *next = answer.best ? task_command(task, task->job.hw->host ? "explain" : "program",
                                            &answer.best->tiling)
                             : NULL;
    answer.next = next;
    print_answer(&answer, &task->common);
    free(next);
    if (report->page && report->page->output)
        tune_page_write(report, &answer, title);
    free(core_counts);
    return answer.best != NULL;
}
