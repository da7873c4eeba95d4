#include "cli/task.h"

#include "cli/command_text.h"
#include "results/tune.h"

#include <stdio.h>
#include <string.h>

/* Options of a job; a key is KEY_OPTION and the position here. An operator refuses sizes and
 * choices (struct operator) that are not its. */
static const char *const job_options[] = {
    "op",       "shape",       "batch",    "k",       "order",     "functions", "function",
    "loop",     "vec-compare", "index",    "steps",   "transpose", "a-layout",  "b-layout",
    "c-layout", "bias",        "out-type", "share-b", "dtype",     "space"};
enum { KEY_OPTION = 2000, JOB_OPTIONS = sizeof job_options / sizeof *job_options };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What to tune:", 1},
    {"op", KEY_OPTION + 0, "OP", 0, "operator, one of `autotune list ops`", 1},
    {"shape", KEY_OPTION + 1, "SHAPE", 0, "sizes, such as MxKxN for matmul", 1},
    {"batch", KEY_OPTION + 2, "B", 0, "matmul: number of products (default 1)", 1},
    {"k", KEY_OPTION + 3, "K", 0, "knn: neighbours of each point", 1},
    {"order", KEY_OPTION + 4, "K", 0, "cubefx: terms of each polynomial", 1},
    {"functions", KEY_OPTION + 5, "J", 0, "cubefx: functions of each input", 1},
    {"function", KEY_OPTION + 6, "NAME,...", 0,
     "cubefx: the functions instead of their number: sin, cos, tan, tanh, sigmoid, gelu, exp, "
     "log1p, "
     "or coefficients such as 1:0:-0.5",
     1},
    {"loop", KEY_OPTION + 7, "early|full", 0,
     "knn: stop when no row is left (default), or run all row tests", 1},
    {"vec-compare", KEY_OPTION + 8, "hardware|relu", 0,
     "knn: vecCmp and vecSel (default), or bit operations and ReLU", 1},
    {"index", KEY_OPTION + 9, "hardware|vector", 0,
     "knn: the index of a minimum from reduceMin (default), or by vector operations", 1},
    {"steps", KEY_OPTION + 10, "mean|max", 0,
     "knn: loop steps of a tile as k/t (default), or as the exact expectation", 1},
    {"transpose", KEY_OPTION + 11, "none|a|b|both", 0,
     "matmul: which operands are stored transposed (default none)", 1},
    {"a-layout", KEY_OPTION + 12, "nd|nz", 0,
     "matmul: A row by row (default), or in the matrix unit's blocks", 1},
    {"b-layout", KEY_OPTION + 13, "nd|nz", 0, "matmul: likewise B", 1},
    {"c-layout", KEY_OPTION + 14, "nd|nz", 0, "matmul: likewise C", 1},
    {"bias", KEY_OPTION + 15, "no|yes", 0, "matmul: add a row to C (default no)", 1},
    {"out-type", KEY_OPTION + 16, "f16|f32", 0, "matmul: element type of C (default f16)", 1},
    {"share-b", KEY_OPTION + 17, "no|yes", 0, "matmul: one B for the whole batch (default no)", 1},
    {"dtype", KEY_OPTION + 18, "TYPE", 0, "element type (default f16; f32 on a processor)", 1},
    {"space", KEY_OPTION + 19, "NAME", 0, "which tilings, one of `autotune list spaces`", 1},
    {0},
};

void task_set(struct task *task, const char *name, const char *text)
{
    struct error error;
    cli_require(job_set(&task->job, name, text, &error), &error);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct task *task = state->input;
    if (key >= KEY_OPTION && key < KEY_OPTION + JOB_OPTIONS) {
        task_set(task, job_options[key - KEY_OPTION], argument);
        return 0;
    }
    return cli_parse_child(key, argument, state);
}

const struct argp task_argp = {.options = options, .parser = parse, .children = common_children};
const struct argp_child task_children[] = {{&task_argp, 0, NULL, 0}, {0}};

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
    bool known = strcmp(name, "hw") == 0 || strcmp(name, "cores") == 0;
    for (int i = 0; i < JOB_OPTIONS && !known; i++)
        known = strcmp(job_options[i], name) == 0;
    return known;
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
