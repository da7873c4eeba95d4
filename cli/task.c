/* One table of options is made for argp at run time: those of every job, then those that the
 * operators declare; each is handed to the job by its name, as a row of a sweep's table is. The
 * same names make the command that an answer ends with. */
#include "cli/task.h"

#include "cli/command_text.h"
#include "kernels/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of every job; those of operators follow (operator_option_at). */
static const struct cli_option options[] = {
    {.help = "What to tune:", .group = 1},
    {"op", "OP", "operator, one of `autotune list ops`", 1, .take = task_take},
    {"shape", "SHAPE", "sizes, such as MxKxN for matmul", 1, .take = task_take},
    {"dtype", "TYPE", "element type (default f16; f32 on a processor)", 1, .take = task_take},
    {"space", "NAME", "which tilings, one of `autotune list spaces`", 1, .take = task_take},
};
enum {
    OPTIONS = sizeof options / sizeof *options,
    MAX_OPTIONS = 256,
    GROUP = 1,
    ANSWER_GROUP = 3, /* of the main job's "What the answer adds" */
    HELP_SIZE = 256,
};

/* The options of a command about a job. */
struct option_table {
    struct operator_option own[MAX_OPTIONS]; /* of operators, in order */
    char help[MAX_OPTIONS][HELP_SIZE];
    struct cli_option rows[MAX_OPTIONS];
};

/* With `answers`, those of the main job too. */
static void fill_options(struct option_table *table, bool answers)
{
    int count = OPTIONS;
    memcpy(table->rows, options, sizeof options);
    for (int i = 0; operator_option_at(i, &table->own[i]); i++) {
        const struct operator_option *own = &table->own[i];
        if (own->of_answers && !answers)
            continue;
        snprintf(table->help[i], HELP_SIZE, "%s: %s", own->op->name, own->help);
        table->rows[count++] = (struct cli_option){.name = own->name,
                                                   .value = own->value,
                                                   .help = table->help[i],
                                                   .group = own->of_answers ? ANSWER_GROUP : GROUP,
                                                   .take = task_take};
    }
}

void task_set(struct task *task, const char *name, const char *text)
{
    struct error error;
    cli_require(job_set(&task->job, name, text, &error), &error);
}

void task_take(const struct cli_option *option, void *task, const char *text)
{
    task_set(task, option->name, text ? text : "yes");
}

void task_check_set(const struct cli_option *option, void *task, const char *text)
{
    (void)text;
    if (((struct task *)task)->set)
        cli_die("--%s: given twice; one takes all values, separated by commas", option->name);
}

void task_parse(const struct usage *usage, int argc, char **argv, struct task *task, bool answers)
{
    struct option_table *table = cli_require_memory(calloc(1, sizeof *table));
    struct usage whole = *usage;
    fill_options(table, answers);
    whole.tables[1].options = table->rows;
    whole.tables[2].options = hardware_options;
    cli_parse(&whole, argc, argv, task, NULL, 0);
    free(table);
}

/* What the options of every command say of the chip. */
static void take_common(struct task *task)
{
    const struct common *common = &task->common;
    char cores[24];
    if (common->hw_name)
        task_set(task, "hw", common->hw_name);
    for (int i = 0; i < common->override_count; i++)
        task_set(task, "set-hw", common->overrides[i]);
    if (common->cores == 0)
        return;
    snprintf(cores, sizeof cores, "%lld", (long long)common->cores);
    task_set(task, "cores", cores);
}

void task_open(struct task *task)
{
    struct error error;
    take_common(task);
    cli_require(chips_open(task->common.hw_folders, &task->chips, &error), &error);
    cli_require(job_open(&task->job, task->chips, &error), &error);
    cli_reads_chips(&task->common, task->chips);
    if (task->common.verbose)
        cli_note("hardware: %s from %s", task->job.hw->name, task->job.hw->file);
}

/* Does every command about a job have it? */
static bool is_task_option(const char *name)
{
    struct operator_option own;
    for (int i = 1; i < OPTIONS; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    for (int i = 0; operator_option_at(i, &own); i++)
        if (strcmp(own.name, name) == 0)
            return !own.of_answers;
    return strcmp(name, "hw") == 0 || strcmp(name, "cores") == 0;
}

char *task_command(const struct task *task, const char *word, const struct tiling *tiling)
{
    const struct job *job = &task->job;
    char *text = NULL, set[512];
    size_t length;
    FILE *out = cli_require_memory(open_memstream(&text, &length));
    fprintf(out, "autotune%s%s", word ? " " : "", word ? word : "");
    for (int i = 0; i < job->option_count; i++)
        if (is_task_option(job->options[i].name))
            cli_put_option(job->options[i].name, job->options[i].text, out);
    if (*task->common.hw_folders)
        cli_put_option("hw-path", task->common.hw_folders, out);
    for (int i = 0; i < job->override_count; i++)
        cli_put_option("set-hw", job->overrides[i], out);
    if (tiling) {
        tiling_text(job->space.axes, job->space.axis_count, tiling, set, sizeof set);
        cli_put_option("set", set, out);
    }
    cli_close_text(out);
    return text;
}

void task_close(struct task *task)
{
    job_close(&task->job);
    chips_close(task->chips);
    cli_close(&task->common);
}
