/* `autotune tune`, the command without a word. Search, trace, map, measurement and answer follow
 * each other, and each of them finds what those before it have left; what cannot be written is an
 * error only after the answer is out. */
#include "cli/commands.h"
#include "cli/correction.h"
#include "cli/signals.h"
#include "cli/task.h"
#include "cli/threads.h"
#include "cli/trace_file.h"
#include "cli/tune_answer.h"
#include "cli/tune_range.h"
#include "jobs/tune/export.h"
#include "kernels/details.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tune {
    struct task task; /* first */
    int threads;
    struct tune_find find;    /* --db, --fresh */
    struct host_run run;      /* of a processor */
    struct page page;         /* --report */
    struct range_asked range; /* of a shape with a range */
    const char *over;         /* a tiling at hand; NULL: none */
    struct tiling at_hand;    /* it */
    struct answer_correction correction;
    const char *trace; /* a file to write; NULL: none */
    struct search_log log;
    struct landscape_file landscape;
    bool strict; /* an answer that leaves something out is none */
};

static const struct cli_option options[] = {
    {.help = "Search:", .group = 2},
    {"strategy", "NAME", "bound (default), exhaustive or random; see `autotune list strategies`", 2,
     .take = task_take},
    {"top", "N", "report the N fastest tilings (default 1)", 2, .take = task_take},
    {"threads", "N", "threads (default: all processors); the answer is the same", 2,
     .take = task_take},
    {"robust", NULL,
     "of the tilings that may be the fastest, for all the model knows, the one whose worst case is "
     "least",
     2, .take = task_take},
    {"over", "NAME=VALUE,...",
     "with --robust: a tiling at hand, a value for every name of its space; says what gain over it "
     "is left once the model's optimism is taken off",
     2, .text = offsetof(struct tune, over)},
    {"corrected", NULL,
     "of the tilings that may be the fastest the one whose time, with what was learned of the "
     "simulator's error, is least",
     2, .flag = offsetof(struct tune, task.job.corrected)},
    {"validate", "N",
     "on this machine's processor: run the N most promising tilings and answer with the fastest "
     "(default 8, or as many as fit into 8 seconds); 0: the model alone",
     2, .take = task_take},
    {"db", "DB", "a store of answers (SQLite): answer from it what it has, and keep what is found",
     2, .text = offsetof(struct tune, find.db)},
    {"trace", "OUT.json",
     "write what each thread did to a trace that Perfetto and chrome://tracing open", 2,
     .text = offsetof(struct tune, trace)},
    {"landscape", "OUT.json", "write times, bounds and what is illegal over two tile sizes", 2,
     .text = offsetof(struct tune, landscape.path)},
    {"landscape-axes", "X,Y", "these two (default: those along which the lower bound varies most)",
     2, .text = offsetof(struct tune, landscape.axes)},
    {"fresh", NULL, "search and measure also what the store has an answer to", 2,
     .flag = offsetof(struct tune, find.fresh)},
    {"regret", "PERCENT",
     "of a range of sizes in --shape, such as 1..8192x4096x11008: the fewest tilings of which one "
     "takes at most so much longer than the fastest, at every size",
     2, .text = offsetof(struct tune, range.regret)},
    {"tilings", "N", "of a range: N tilings with the least such regret", 2,
     .count = offsetof(struct tune, range.tilings), .most = 100000},
    {.help = "What the answer adds:", .group = 3},
    {"strict", NULL,
     "exit status 1 where the description has no price for what the kernel does (left out)", 3,
     .flag = offsetof(struct tune, strict)},
    {"compare", NULL, "knn, cubefx: the times of what could be used instead", 3, .take = task_take},
    {"count", "N",
     "so many calls: their time, and of weights that lie row by row what bringing them into blocks "
     "costs once and from which call on it pays",
     3, .take = task_take},
    {"no-correction", NULL, NO_CORRECTION_HELP, 3,
     .flag = offsetof(struct tune, correction.left_out)},
    {"report", "OUT.html", PAGE_HELP, 3, .text = offsetof(struct tune, page.output)},
    {"time-limit", "SECONDS", "stop after this time with the best so far", 2, .take = task_take},
    {0},
};

static const struct usage usage = {
    .name = "autotune tune",
    .tables = {{options, 0}},
    .args_doc = "--op OP --shape SHAPE\n--kernel NAME|FILE --shape SHAPE",
    .doc = "Finds the fastest tiling of an operator on a described chip by simulation, and proves "
           "that nothing in the space is better.\v"
           "Examples:\n"
           "  autotune --op matmul --shape 512x1024x512\n"
           "  autotune --op matmul --shape 512x1024x512 --top 10 --format csv -o best.csv\n"
           "  autotune --op knn --shape 1280x128x204800 --k 16 --compare\n"
           "  autotune --kernel add_relu --shape 65536\n"
           "  autotune --op cubefx --shape 16384 --order 16 --function sin,cos,gelu\n"
           "  autotune --op matmul --shape 512x1024x512 --trace search.json\n"
           "  autotune --op matmul --shape 512x1024x512 --landscape map.json\n"
           "  autotune --op matmul --shape 4096x4096x4096 --json --set-hw issue_ns=20\n"
           "  autotune --op matmul --shape 512x1024x512 --top 20 --report best.html\n"
           "  autotune --op matmul --shape 2048x2048x2048 --hw ascend910b2 --robust\n"
           "  autotune --op matmul --shape 1..512x1024x512 --regret 10%\n",
};

/* ------------------------------------------------------------------ answering */

static void add_choice(const struct tune *tune, const struct job_result *found, json_t *details)
{
    struct robust_over over;
    struct error error;
    const struct job *job = &tune->task.job;
    const struct found *chosen = &found->search.best[0];
    if (tune->over)
        cli_require(robust_over(&job->space, &tune->at_hand, chosen, &over, &error), &error);
    json_t *choice = job->robust ? robust_json(&found->robust, &job->space, &job->corner, chosen,
                                               tune->over ? &over : NULL)
                                 : by_corrected_json(&found->robust, &job->space, chosen);
    if (tune->task.common.format == FORMAT_TABLE)
        robust_shorten(choice);
    json_object_set_new(details, job->robust ? "robust" : "by_corrected", choice);
}

/* Who wants an end does not wait for a comparison: it is dropped once the search, or it itself, has
 * been cut short. */
static json_t *make_details(const struct tune *tune, const struct job_result *found)
{
    struct error error;
    json_t *details;
    const struct job *job = &tune->task.job;
    const struct search_result *result = &found->search;
    struct details_options how = {.compare = job->compare};
    bool table = tune->task.common.format == FORMAT_TABLE;
    how.compare = how.compare && !tune_was_cut_short(result, job->time_limit_s);
    how.stop = stop_over();
    if (how.compare && job->time_limit_s > 0)
        stop_limit(fmin(fmax(job->time_limit_s - result->seconds, 0), 1e6));
    how.threads = tune->threads;
    cli_require(details_make(&job->problem, &job->space, result, &how, &details, &error), &error);
    if (details && job->compare && (!how.compare || *stop_over()))
        json_object_set_new(details, "comparison",
                            table ? json_string("left out: it was cut short") : json_null());
    if (details && table && job->space.kind->shorten)
        job->space.kind->shorten(details);
    if (job_chooses(job) && result->count) {
        details = details ? details : json_object();
        add_choice(tune, found, details);
    }
    return details;
}

/* Writes what was found; false where nothing was. */
static bool answer_with(struct tune *tune, const struct job_result *found)
{
    const struct task *task = &tune->task;
    if (tune_is_export(&task->common)) {
        if (found->search.count)
            tune_export(task, &found->search);
        return found->search.count > 0;
    }
    struct tune_answer answer = tune_answer_of(&tune->find, &found->search);
    answer.details = make_details(tune, found);
    tune_calls_add(&tune->find, &answer);
    correction_of_answer(&tune->correction, task, tune_best(&answer), &answer);
    bool any = tune_answer_write(task, &answer);
    if (tune->page.output)
        tune_page_write(&tune->page, &task->common, &answer, tune->landscape.axes);
    if (tune->strict && json_object_get(answer.details, "left_out"))
        any = false;
    json_decref(answer.details);
    return any;
}

/* An answer is not lost because its trace cannot be written: the error is for afterwards. */
static enum status write_trace(const struct tune *tune, struct error *error)
{
    char title[PROBLEM_TITLE_SIZE];
    if (!tune->trace)
        return STATUS_OK;
    return search_trace_write(&tune->task.common.files, tune->trace, &tune->log,
                              problem_title(&tune->task.job.problem, title),
                              tune->task.common.quiet, error);
}

static enum status write_landscape(const struct tune *tune, const struct job_result *result,
                                   struct error *error)
{
    return tune->landscape.path ? landscape_file_write(&tune->landscape, &tune->task,
                                                       &result->search, tune->threads, error)
                                : STATUS_OK;
}

/* The tiling at hand has to be one that can be simulated. It is given in the words of --set, of
 * which tiling_parse speaks. */
static void read_over(struct tune *tune)
{
    struct error error;
    struct violation violations[MAX_VIOLATIONS];
    const struct space *space = &tune->task.job.space;
    if (!tune->over)
        return;
    if (!tune->task.job.robust)
        cli_die("--over: expected --robust with it");
    enum status status = tiling_parse(space, tune->over, &tune->at_hand, &error);
    if (status == STATUS_INVALID)
        cli_die("--over%s", error.text + strlen("--set"));
    cli_require(status, &error);
    int count = space->kind->violations(space, &tune->at_hand, violations);
    for (int i = 0; i < count; i++)
        if (!violations[i].outside)
            cli_die("--over %s: %s", tune->over, violations[i].text);
}

/* Corrected times are asked for: they have to be known. */
static void check_corrected(const struct tune *tune)
{
    const struct job *job = &tune->task.job;
    const char *reason = tune->correction.correcting.reason;
    if (!job->corrected || job->correcting)
        return;
    if (tune->correction.left_out)
        cli_die("--corrected: expected no --no-correction with it");
    cli_die("--corrected: nothing learned of %s in the space %s on %s can be used: %s",
            job->problem.op->name, job->space.kind->name, job->hw->name,
            *reason ? reason : "there is no correction");
}

/* An option of this command that is about one size, or NULL. */
static const char *of_one_size(const struct tune *tune)
{
    const struct {
        bool is;
        const char *name;
    } given[] = {
        {tune->over, "over"},
        {tune->task.job.corrected, "corrected"},
        {tune->find.db, "db"},
        {tune->find.fresh, "fresh"},
        {tune->trace, "trace"},
        {tune->landscape.path, "landscape"},
        {tune->landscape.axes, "landscape-axes"},
        {tune->page.output, "report"},
        {tune->strict, "strict"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].is)
            return given[i].name;
    return NULL;
}

/* Before any work is done. */
static void check(struct tune *tune)
{
    struct error error;
    const struct common *common = &tune->task.common;
    const struct job *job = &tune->task.job;
    if ((job->compare || job_text(job, "count")) && common->format == FORMAT_CSV)
        cli_die("--%s: the csv has no place for it, expected --format table or json",
                job->compare ? "compare" : "count");
    if (page_is_wanted(&tune->page, common) && tune_is_export(common))
        cli_die("--report: expected --format table, json or csv with it");
    if (tune->strict && tune_is_export(common))
        cli_die("--strict: expected --format table, json or csv with it");
    if (tune_is_export(common)) {
        cli_require(export_check(&job->space, &error), &error);
        tune_export_note(&tune->task.common);
    }
    if (tune->find.fresh && !tune->find.db)
        cli_die("--fresh: expected --db, whose answers it does without");
    landscape_file_check(&tune->landscape, &tune->task);
    read_over(tune);
    host_run_check(&tune->task, &tune->run);
    correction_open(&tune->correction, &tune->task);
    check_corrected(tune);
    cli_check_files(&tune->task.common);
}

static void set_find(struct tune *tune)
{
    tune->find.task = &tune->task;
    tune->find.run = &tune->run;
    tune->find.how = (struct job_run){
        .threads = tune->threads,
        .keep_reached = tune->landscape.path || tune->page.output,
        .trace = tune->trace ? &tune->log.trace : NULL,
    };
}

/* How far a search by prefixes came, a length at a time. */
static void note_levels(const struct common *common, const struct search_result *search)
{
    for (int l = 0; common->verbose && l < search->level_count; l++)
        cli_note(
            "search, prefixes of %d values: %lld bounded, %lld split, %lld simulated, %lld open",
            search->levels[l].values, (long long)search->levels[l].bounded,
            (long long)search->levels[l].split, (long long)search->levels[l].simulated,
            (long long)search->levels[l].open);
}

int cmd_tune(int argc, char **argv)
{
    struct tune tune = {
        .task.common.formats = formats_with(format_is_answer_or_bank) | 1U << FORMAT_C,
        .page.command = cli_command_text(NULL, argc, argv),
    };
    struct job_result result = {0};
    struct error trace_error, map_error;
    search_log_open(&tune.log);
    task_parse(&usage, argc, argv, &tune.task, true);
    if (tune_is_export(&tune.task.common))
        tune.task.job.form = &formats[tune.task.common.format];
    if (range_is_asked(&tune.task, &tune.range)) {
        int exit_status =
            tune_range(&tune.task, &tune.range, of_one_size(&tune), tune.page.command);
        free(tune.page.command);
        return exit_status;
    }
    if (tune.task.common.format == FORMAT_C)
        cli_die("--format c: expected a --shape with a range of sizes, or `autotune table`");
    task_open(&tune.task);
    tune.threads = cli_threads(tune.task.job.threads);
    tune.run.question = host_job_question(&tune.task.job);
    check(&tune);
    set_find(&tune);
    tune_find_search(&tune.find, &result);
    note_levels(&tune.task.common, &result.search);
    enum status traced = write_trace(&tune, &trace_error);
    enum status mapped = write_landscape(&tune, &result, &map_error);
    tune_find_measure(&tune.find, &result);
    bool found = answer_with(&tune, &result);
    tune_find_close(&tune.find);
    cli_require(traced, &trace_error);
    cli_require(mapped, &map_error);
    search_log_close(&tune.log);
    host_run_close(&tune.run);
    correction_close(&tune.correction);
    job_result_clear(&result);
    task_close(&tune.task);
    free(tune.page.command);
    stop_close();
    return found ? EXIT_ANSWER : EXIT_NONE;
}
