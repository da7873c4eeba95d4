/* One table of options is made for argp at run time: those of every job, then those that the
 * operators declare; each is handed to the job by its name, as a row of a sweep's table is. The
 * same names make the command that an answer ends with. */
#include "cli/task.h"

#include "cli/command_text.h"
#include "kernels/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options of every job; those of operators follow (operator_option_at). A key is KEY_OPTION and the
 * position. */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What to tune:", 1},
    {"op", 0, "OP", 0, "operator, one of `autotune list ops`", 1},
    {"shape", 0, "SHAPE", 0, "sizes, such as MxKxN for matmul", 1},
    {"dtype", 0, "TYPE", 0, "element type (default f16; f32 on a processor)", 1},
    {"space", 0, "NAME", 0, "which tilings, one of `autotune list spaces`", 1},
};
enum {
    KEY_OPTION = 2000,
    OPTIONS = sizeof options / sizeof *options,
    MAX_OPTIONS = 256,
    GROUP = 1,
    ANSWER_GROUP = 3, /* of the main job's "What the answer adds" */
    HELP_SIZE = 256,
};

/* The options of a command about a job, as argp wants them. */
struct option_table {
    struct operator_option own[MAX_OPTIONS]; /* of operators, in order */
    char help[MAX_OPTIONS][HELP_SIZE];
    struct argp_option rows[MAX_OPTIONS];
};

static const char *option_name(int number, struct operator_option *own)
{
    if (number < OPTIONS)
        return options[number].name;
    return operator_option_at(number - OPTIONS, own) ? own->name : NULL;
}

/* With `answers`, those of the main job too. */
static void fill_options(struct option_table *table, bool answers)
{
    int count = OPTIONS;
    memcpy(table->rows, options, sizeof options);
    for (int i = 0; i < OPTIONS; i++)
        table->rows[i].key = options[i].name ? KEY_OPTION + i : 0;
    for (int i = 0; operator_option_at(i, &table->own[i]); i++) {
        const struct operator_option *own = &table->own[i];
        if (own->of_answers && !answers)
            continue;
        snprintf(table->help[i], HELP_SIZE, "%s: %s", own->op->name, own->help);
        table->rows[count++] =
            (struct argp_option){.name = own->name,
                                 .key = KEY_OPTION + OPTIONS + i,
                                 .arg = own->value,
                                 .doc = table->help[i],
                                 .group = own->of_answers ? ANSWER_GROUP : GROUP};
    }
}

void task_set(struct task *task, const char *name, const char *text)
{
    struct error error;
    cli_require(job_set(&task->job, name, text, &error), &error);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct operator_option own;
    const char *name = key >= KEY_OPTION && key < KEY_OPTION + MAX_OPTIONS
                           ? option_name(key - KEY_OPTION, &own)
                           : NULL;
    if (!name)
        return cli_parse_child(key, argument, state);
    task_set(state->input, name, argument);
    return 0;
}

void task_parse(const struct argp *argp, const char *name, int argc, char **argv, struct task *task,
                bool answers)
{
    struct option_table *table = calloc(1, sizeof *table);
    if (!table)
        cli_die("out of memory");
    fill_options(table, answers);
    const struct argp own = {.options = table->rows, .parser = parse, .children = common_children};
    const struct argp_child children[] = {{&own, 0, NULL, 0}, {0}};
    struct argp whole = *argp;
    whole.children = children;
    cli_parse(&whole, name, argc, argv, task, NULL, 0);
    free(table);
}

error_t task_parse_set(int key, char *argument, struct argp_state *state)
{
    struct task *task = state->input;
    if (key != TASK_KEY_SET)
        return cli_parse_child(key, argument, state);
    if (task->set)
        cli_die("--set: given twice; one takes all values, separated by commas");
    task->set = argument;
    return 0;
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
    const char *known;
    for (int i = 0; (known = option_name(i, &own)) || i < OPTIONS; i++)
        if (known && strcmp(known, name) == 0)
            return i < OPTIONS || !own.of_answers;
    return strcmp(name, "hw") == 0 || strcmp(name, "cores") == 0;
}

char *task_command(const struct task *task, const char *word, const struct tiling *tiling)
{
    const struct job *job = &task->job;
    char *text = NULL, set[512];
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        cli_die("out of memory");
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
    if (fclose(out))
        cli_die("out of memory");
    return text;
}

void task_close(struct task *task)
{
    job_close(&task->job);
    chips_close(task->chips);
    cli_close(&task->common);
}
