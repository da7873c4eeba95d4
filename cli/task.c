/* One table of options is made for argp at run time: those of every job, then those that the
 * operators declare; each is handed to the job by its name, as a row of a sweep's table is. The
 * same names make the command that an answer ends with. */
#include "cli/task.h"

#include "core/text_stream.h"
#include "kernels/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of every job; those of operators follow (operator_option_at). */
static const struct cli_option options[] = {
    {.help = "What to tune:", .group = 1},
    {"op", "OP", "operator, one of `autotune list ops`", 1, .take = task_take},
    {"kernel", "NAME|FILE",
     "instead of an operator a kernel's text: a file, or one of `autotune list kernels`", 1,
     .take = task_take},
    {"shape", "SHAPE", "sizes, such as MxKxN for matmul", 1, .take = task_take},
    {"dtype", "TYPE", "element type (default f16; f32 on a processor)", 1, .take = task_take},
    {"space", "NAME", "which tilings, one of `autotune list spaces`", 1, .take = task_take},
};
enum {
    PATH_OPTION = sizeof options / sizeof *options, /* --kernel-path */
    OPTIONS,
    MAX_OPTIONS = 256,
    GROUP = 1,
    ANSWER_GROUP = 3, /* of the main job's "What the answer adds" */
    HELP_SIZE = 256,
};

/* The options of a command about a job. */
struct option_table {
    int count;
    struct operator_option own[MAX_OPTIONS]; /* of operators, behind those of every job */
    char help[MAX_OPTIONS][HELP_SIZE];
    struct cli_option rows[MAX_OPTIONS];
};

static void add_option(struct option_table *table, const struct operator_option *own)
{
    int i = table->count++;
    table->own[i] = *own;
    snprintf(table->help[i], HELP_SIZE, "%s: %s", own->op->name, own->help);
    table->rows[i] = (struct cli_option){.name = own->name,
                                         .value = table->own[i].value,
                                         .help = table->help[i],
                                         .group = own->of_answers ? ANSWER_GROUP : GROUP,
                                         .take = task_take};
}

static bool has_option(const struct option_table *table, const char *name)
{
    for (int i = OPTIONS; i < table->count; i++)
        if (strcmp(table->own[i].name, name) == 0)
            return true;
    return false;
}

/* With `answers`, those of the main job too; of a kernel those that no operator has. */
static void fill_options(struct option_table *table, const struct operator* kernel, bool answers)
{
    struct operator_option own;
    memcpy(table->rows, options, sizeof options);
    table->rows[PATH_OPTION] = kernel_options[0];
    table->count = OPTIONS;
    for (int i = 0; operator_option_at(i, &own); i++)
        if (!own.of_answers || answers)
            add_option(table, &own);
    for (int i = 0; kernel && operator_own_option_at(kernel, i, &own); i++)
        if (!has_option(table, own.name))
            add_option(table, &own);
}

/* The value of an option on a command line that has yet to be read, from word *at on; NULL: it is
 * not there. */
static const char *peek(const char *name, int argc, char **argv, int *at)
{
    size_t length = strlen(name);
    for (int i = *at; i < argc; i++) {
        if (strncmp(argv[i], name, length) != 0 || (argv[i][length] && argv[i][length] != '='))
            continue;
        *at = i + 2 - (argv[i][length] == '=');
        return argv[i][length] ? argv[i] + length + 1 : i + 1 < argc ? argv[i + 1] : NULL;
    }
    return NULL;
}

/* A kernel's sizes are options, so its text is read before the command line is. */
static const struct operator* read_kernel(struct task *task, int argc, char **argv)
{
    char folders[MAX_FOLDERS] = "";
    const char *name = NULL, *text;
    const struct operator* op = NULL;
    struct error error;
    for (int at = 1; (text = peek("--kernel-path", argc, argv, &at));) {
        size_t used = strlen(folders);
        snprintf(folders + used, sizeof folders - used, "%s%s", used ? ":" : "", text);
    }
    for (int at = 1; (text = peek("--kernel", argc, argv, &at));)
        name = text;
    cli_require(kernels_open(folders, &task->kernels, &error), &error);
    task->job.kernels = task->kernels;
    if (!name)
        return NULL;
    if (kernels_get(task->kernels, name, false, &op, &error) != STATUS_OK &&
        strcmp(argv[0], COMPLETE_WORD) != 0)
        cli_require(error.status, &error);
    task_set(task, "kernel", name);
    return op;
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
    fill_options(table, read_kernel(task, argc, argv), answers);
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
    cli_reads_kernels(&task->common, task->kernels);
    if (task->common.verbose)
        cli_note("hardware: %s from %s", task->job.hw->name, task->job.hw->file);
}

/* Does every command about a job have it? */
static bool is_task_option(const struct operator* op, const char *name)
{
    struct operator_option own;
    for (int i = 1; i < PATH_OPTION; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    for (int i = 0; operator_own_option_at(op, i, &own); i++)
        if (strcmp(own.name, name) == 0)
            return !own.of_answers;
    return strcmp(name, "hw") == 0 || strcmp(name, "cores") == 0;
}

char *task_command(const struct task *task, const char *word, const struct tiling *tiling)
{
    const struct job *job = &task->job;
    char *text = NULL, set[TILING_TEXT_SIZE];
    size_t length;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    fprintf(out, "autotune%s%s", word ? " " : "", word ? word : "");
    for (int i = 0; i < job->option_count; i++)
        if (is_task_option(job->problem.op, job->options[i].name))
            cli_put_option(job->options[i].name, job->options[i].text, out);
    if (*task->common.kernel_folders)
        cli_put_option("kernel-path", task->common.kernel_folders, out);
    if (*task->common.hw_folders)
        cli_put_option("hw-path", task->common.hw_folders, out);
    for (int i = 0; i < job->override_count; i++)
        cli_put_change(job->overrides[i], out);
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
    space_close(&task->whole);
    chips_close(task->chips);
    kernels_close(task->kernels);
    cli_close(&task->common);
}
