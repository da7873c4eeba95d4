/* Only arranges: every number is the search's, the job's or the space's, in femtoseconds, and
 * becomes a field of the answer in nanoseconds. Where tilings were measured, the fastest of them is
 * the best, and the model's proof holds no more unless it was the model's first. In the vendor's
 * formats (jobs/tune/export.h) what they want and nobody has published is left at zero, and said.
 */
#include "cli/tune_answer.h"
#include "cli/answer.h"

#include "cli/signals.h"
#include "core/stop.h"
#include "jobs/tune/export.h"
#include "jobs/tune/report_program.h"
#include "results/landscape_write.h"
#include "results/report_tune.h"
#include "search/landscape_make.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool tune_was_cut_short(const struct search_result *result, double time_limit_s)
{
    bool late = time_limit_s > 0 && result->seconds >= time_limit_s;
    return !result->optimal && (result->count > 0 || *stop_asked() || late);
}

/* When what is shown beside an answer has to be there; 0: there is no limit. */
static int64_t end_of(const struct search_result *result, double time_limit_s, bool from_store)
{
    double left_s = time_limit_s - (from_store ? 0 : result->seconds);
    if (time_limit_s > 0 && left_s > 0)
        return stop_after_s(left_s);
    return time_limit_s > 0 || tune_was_cut_short(result, time_limit_s) ? stop_after_s(0) : 0;
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
        .end_ns = end_of(result, job->time_limit_s, find->from_store),
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

/* Beyond the limit, what can be had in so long is shown beside an answer: its maps, and the
 * program, with as few flags as can be found. */
#define MAPS_S    0.05
#define PROGRAM_S 0.15
#define TIDY_S    0.05

static struct stop stop_soon(int64_t end_ns, double s)
{
    return (struct stop){.told = stop_asked(), .deadline_ns = stop_after_least_s(end_ns, s)};
}

static void write_maps(struct report *report, const struct tune_answer *answer, const char *axes)
{
    struct error error;
    struct space space = *answer->space;
    struct stop stop = stop_soon(answer->end_ns, MAPS_S);
    space.stop = &stop;
    cli_require(report_landscapes(report, &space, answer->search, axes, answer->threads, &error),
                &error);
}

static void write_tiling(struct report *report, const struct tune_answer *answer,
                         const struct tiling *tiling)
{
    struct error error;
    struct space space = *answer->space;
    struct stop stop = stop_soon(answer->end_ns, PROGRAM_S);
    struct stop tidying = stop_soon(answer->end_ns, TIDY_S);
    space.stop = &stop;
    cli_require(report_tiling(report, &space, tiling, &tidying, &error), &error);
}

void tune_page_write(const struct page *page, const struct common *common,
                     const struct tune_answer *answer, const char *landscape_axes)
{
    struct report report;
    char title[PROBLEM_TITLE_SIZE], text[2 * PROBLEM_TITLE_SIZE], lead[192];
    const struct found *best = tune_best(answer);
    snprintf(text, sizeof text, "%s on %s", problem_title(answer->problem, title),
             answer->space->hw->name);
    write_lead(answer, lead, sizeof lead);
    page_open(page, text, lead, &report);
    report_tune(&report, answer);
    if (best) {
        write_maps(&report, answer, landscape_axes);
        write_tiling(&report, answer, &best->tiling);
    }
    report_hardware(&report, answer->space->hw);
    page_close(page, common, &report);
}

/* ---- tables of operator libraries ---- */

bool tune_is_export(const struct common *common)
{
    return formats[common->format].bank;
}

static void write_export(const struct export_source *source, const struct common *common)
{
    struct answer out;
    struct error error;
    int left_out = 0, count = source->search->count;
    const char *name = formats[common->format].name;
    cli_answer_open(&out, common);
    enum status status =
        export_write(source, &formats[common->format], out.stream, &left_out, &error);
    if (status != STATUS_OK)
        cli_die("--format %s: %s%s", name, error.text,
                left_out ? "; more of --top may have tilings that it has words for" : "");
    if (left_out && !common->quiet)
        cli_warn("%d of the %d best are left out: %s has no words for them", left_out, count, name);
    cli_answer_close(&out);
}

/* Of a header NAME.h also NAME.json, the same fields for other readers; false where there is none.
 */
static bool name_beside(const struct common *common, char name[PATH_MAX])
{
    const char *dot = common->output ? strrchr(common->output, '.') : NULL;
    if (!formats[common->format].beside || !dot ||
        (strcmp(dot, ".h") != 0 && strcmp(dot, ".hpp") != 0))
        return false;
    if (snprintf(name, PATH_MAX, "%.*s.json", (int)(dot - common->output), common->output) >=
        PATH_MAX)
        cli_die("-o %.64s: a name of more than %d bytes", common->output, PATH_MAX);
    return true;
}

void tune_export_note(struct common *common)
{
    char name[PATH_MAX];
    if (name_beside(common, name))
        files_note(&common->files, FILE_WRITTEN, "-o, beside it,", name);
}

static void write_fields_beside(const struct export_source *source, const struct common *common)
{
    struct common beside = *common;
    char name[PATH_MAX];
    if (!name_beside(common, name))
        return;
    beside.output = name;
    beside.format = (enum format_name)(format_find(formats[common->format].beside) - formats);
    write_export(source, &beside);
}

void tune_export(const struct task *task, const struct search_result *result)
{
    const struct common *common = &task->common;
    char problem[PROBLEM_TITLE_SIZE], title[PROBLEM_TITLE_SIZE + 80];
    snprintf(title, sizeof title, "%s on %.64s", problem_title(&task->job.problem, problem),
             task->job.hw->name);
    struct export_source source = {
        .problem = &task->job.problem, .space = &task->job.space, .search = result, .title = title};
    write_export(&source, common);
    write_fields_beside(&source, common);
    if (!common->quiet && formats[common->format].note)
        cli_warn("%s", formats[common->format].note);
}

/* ---- maps ---- */

/* *json is NULL where no such map can be made, or not in time. */
static enum status make_map(const struct space *space, const struct search_result *result,
                            const int axes[2], enum landscape_kind kind, int threads, json_t **json,
                            struct error *error)
{
    struct landscape map;
    *json = NULL;
    if (!landscape_possible(space, result, kind))
        return STATUS_OK;
    TRY(landscape_make(space, result, axes, kind, threads, &map, error));
    *json = landscape_json(&map);
    landscape_clear(&map);
    return *json ? STATUS_OK : error_memory(error);
}

void landscape_file_check(const struct landscape_file *file, const struct task *task)
{
    static const struct search_result none;
    struct error error;
    int axes[2];
    if (file->axes && !file->path)
        cli_die("--landscape-axes: expected --landscape, whose axes it names");
    if (file->path && landscape_axes(&task->job.space, &none, file->axes, axes, &error))
        cli_die("--landscape-axes %.100s: %s", file->axes ? file->axes : "", error.text);
}

enum status landscape_file_write(const struct landscape_file *file, const struct task *task,
                                 const struct search_result *result, int threads,
                                 struct error *error)
{
    struct space space = task->job.space;
    struct stop stop = stop_soon(end_of(result, task->job.time_limit_s, false), MAPS_S);
    json_t *slice = NULL, *envelope = NULL;
    int axes[2];
    space.stop = &stop;
    enum status status = landscape_axes(&space, result, file->axes, axes, error);
    if (status == STATUS_OK)
        status = make_map(&space, result, axes, LANDSCAPE_SLICE, threads, &slice, error);
    if (status == STATUS_OK)
        status = make_map(&space, result, axes, LANDSCAPE_ENVELOPE, threads, &envelope, error);
    if (status == STATUS_STOPPED) {
        cli_warn("--landscape: a map is left out (null): the time was up, and it would "
                 "have taken too long");
        status = STATUS_OK;
    }
    json_t *both =
        json_pack("{s:i, s:o?, s:o?}", "schema", 1, "slice", slice, "envelope", envelope);
    char *text = both ? json_dumps(both, JSON_REAL_PRECISION(15)) : NULL;
    if (status == STATUS_OK)
        status = text ? files_write(&task->common.files, file->path, text, strlen(text), error)
                      : error_memory(error);
    free(text);
    json_decref(both);
    return status;
}
