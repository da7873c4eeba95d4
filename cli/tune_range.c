/* The task is opened for the first size of the range; what is about one size only is refused. */
#include "cli/tune_range.h"

#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "core/number.h"
#include "jobs/range/range.h"
#include "jobs/tune/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options of the job that are about one size. */
static const char *const of_one_size[] = {"strategy", "top",   "robust", "validate",
                                          "compare",  "count", NULL};

/* "5%" */
static double read_regret(const char *text)
{
    size_t length = strlen(text);
    char number[32] = "";
    double percent = NAN;
    if (length > 1 && length <= sizeof number && text[length - 1] == '%') {
        memcpy(number, text, length - 1);
        percent = cli_number(number);
    }
    if (!(percent >= 0 && percent <= 1000))
        cli_die("--regret %.64s: expected a percentage from 0%% to 1000%%, such as 5%%", text);
    return percent / 100;
}

bool range_is_asked(const struct task *task, const struct range_asked *asked)
{
    const char *shape = job_text(&task->job, "shape");
    bool is_range = shape && shape_has_range(shape);
    if (!is_range && (asked->tilings || asked->regret))
        cli_die("--%s: expected a --shape with a range of sizes, such as 1..8192x4096x11008",
                asked->regret ? "regret" : "tilings");
    return is_range;
}

static void check_options(const struct task *task, const struct range_asked *asked,
                          const char *other)
{
    enum format_name format = task->common.format;
    for (int i = 0; of_one_size[i] && !other; i++)
        if (job_text(&task->job, of_one_size[i]))
            other = of_one_size[i];
    if (other)
        cli_die("--%s: it is about one size, expected none with a range", other);
    if (!asked->tilings && !asked->regret)
        cli_die("--shape %.64s: expected --regret or --tilings with a range",
                job_text(&task->job, "shape"));
    if (asked->tilings && asked->regret)
        cli_die("--tilings: expected it or --regret, not both");
    if (format != FORMAT_TABLE && format != FORMAT_JSON && format != FORMAT_C &&
        !formats[format].many)
        cli_die("--format %s: expected table, json, c, runtime_kb or tcubetiling for a range",
                formats[format].name);
}

static void write_rows(const struct range_question *question, const struct range_answer *answer,
                       const struct common *common, const char *command, FILE *out)
{
    char origin[4096];
    int left_out = 0;
    struct error error;
    const struct format *format = &formats[common->format];
    snprintf(origin, sizeof origin, "autotune %s, %.64s, %s", AUTOTUNE_VERSION,
             question->job->hw->name, command);
    enum status status = range_write_rows(question, answer, origin, format, out, &left_out, &error);
    if (status != STATUS_OK)
        cli_die("--format %s: %s", format->name, error.text);
    if (left_out)
        cli_die("--format %s: it has no words for the tilings of %d sizes", format->name, left_out);
    if (!common->quiet && format->note)
        cli_warn("%s", format->note);
}

static void write_answer(const struct task *task, const struct range_question *question,
                         const struct range_answer *answer, const char *command)
{
    struct answer out;
    struct error error;
    enum status status = STATUS_OK;
    char *next =
        answer->part_count
            ? task_command(task, "program", &answer->transfer.tiling[answer->parts[0].tiling])
            : NULL;
    cli_answer_open(&out, &task->common);
    if (task->common.format == FORMAT_JSON)
        status = range_write_json(question, answer, out.stream, &error);
    else if (task->common.format == FORMAT_TABLE)
        status = range_write_table(question, answer, next, &out.style, out.stream, &error);
    else if (answer->part_count && task->common.format == FORMAT_C)
        status = range_write_c(question, answer, AUTOTUNE_VERSION, command, out.stream, &error);
    else if (answer->part_count)
        write_rows(question, answer, &task->common, command, out.stream);
    cli_require(status, &error);
    cli_answer_close(&out);
    free(next);
}

/* Opens the task for the first size. */
static void open_first(struct task *task, struct range_question *question)
{
    struct error error;
    cli_require(shape_range_parse(job_text(&task->job, "shape"), &question->range, &error), &error);
    task_set(task, "shape", question->range.first);
    task_open(task);
    cli_require(range_check(question, &error), &error);
    if (formats[task->common.format].bank)
        cli_require(export_check(&task->job.space, &error), &error);
    cli_check_files(&task->common);
}

int tune_range(struct task *task, const struct range_asked *asked, const char *other,
               const char *command)
{
    struct range_answer answer;
    struct error error;
    struct range_question question = {.job = &task->job,
                                      .tilings = asked->tilings,
                                      .stop = stop_asked(),
                                      .progress = progress_search};
    check_options(task, asked, other);
    question.regret = asked->regret ? read_regret(asked->regret) : 0;
    open_first(task, &question);
    question.threads = cli_threads(task->job.threads);
    enum status status = range_find(&question, &answer, &error);
    cli_require(status, &error);
    bool found = answer.part_count > 0;
    if (!found && !task->common.quiet)
        cli_warn(answer.cut_short ? "cut short before there was a tiling for size %lld of the range"
                                  : "no tiling is legal at size %lld of the range",
                 (long long)answer.without);
    write_answer(task, &question, &answer, command);
    range_clear(&answer);
    task_close(task);
    stop_close();
    return found ? EXIT_ANSWER : EXIT_NONE;
}
