#include "cli/task.h"
#include "kernels/cubefx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_OP = 2000, KEY_SHAPE, KEY_DTYPE, KEY_SPACE, KEY_FUNCTION, KEY_OPTION };

/* Sizes and choices of operators (struct operator) that have options of their own; an operator
 * refuses those that are not its. */
static const char *const operator_options[] = {
    "batch",     "k",        "order",    "functions", "loop", "vec-compare", "index",  "steps",
    "transpose", "a-layout", "b-layout", "c-layout",  "bias", "out-type",    "share-b"};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What to tune:", 1},
    {"op", KEY_OP, "OP", 0, "operator, one of `autotune list ops`", 1},
    {"shape", KEY_SHAPE, "SHAPE", 0, "sizes, such as MxKxN for matmul", 1},
    {"batch", KEY_OPTION + 0, "B", 0, "matmul: number of products (default 1)", 1},
    {"k", KEY_OPTION + 1, "K", 0, "knn: neighbours of each point", 1},
    {"order", KEY_OPTION + 2, "K", 0, "cubefx: terms of each polynomial", 1},
    {"functions", KEY_OPTION + 3, "J", 0, "cubefx: functions of each input", 1},
    {"function", KEY_FUNCTION, "NAME,...", 0,
     "cubefx: the functions instead of their number: sin, cos, tan, tanh, sigmoid, gelu, exp, "
     "log1p, "
     "or coefficients such as 1:0:-0.5",
     1},
    {"loop", KEY_OPTION + 4, "early|full", 0,
     "knn: stop when no row is left (default), or run all row tests", 1},
    {"vec-compare", KEY_OPTION + 5, "hardware|relu", 0,
     "knn: vecCmp and vecSel (default), or bit operations and ReLU", 1},
    {"index", KEY_OPTION + 6, "hardware|vector", 0,
     "knn: the index of a minimum from reduceMin (default), or by vector operations", 1},
    {"steps", KEY_OPTION + 7, "mean|max", 0,
     "knn: loop steps of a tile as k/t (default), or as the exact expectation", 1},
    {"transpose", KEY_OPTION + 8, "none|a|b|both", 0,
     "matmul: which operands are stored transposed (default none)", 1},
    {"a-layout", KEY_OPTION + 9, "nd|nz", 0,
     "matmul: A row by row (default), or in the matrix unit's blocks", 1},
    {"b-layout", KEY_OPTION + 10, "nd|nz", 0, "matmul: likewise B", 1},
    {"c-layout", KEY_OPTION + 11, "nd|nz", 0, "matmul: likewise C", 1},
    {"bias", KEY_OPTION + 12, "no|yes", 0, "matmul: add a row to C (default no)", 1},
    {"out-type", KEY_OPTION + 13, "f16|f32", 0, "matmul: element type of C (default f16)", 1},
    {"share-b", KEY_OPTION + 14, "no|yes", 0, "matmul: one B for the whole batch (default no)", 1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "element type (default f16; f32 on a processor)", 1},
    {"space", KEY_SPACE, "NAME", 0, "which tilings, one of `autotune list spaces`", 1},
    {0},
};

/* Given twice, the last counts, as for every other option. */
static void add_option(struct task *task, const char *name, const char *text)
{
    int i = 0;
    while (i < task->option_count && strcmp(task->options[i].name, name) != 0)
        i++;
    task->options[i].name = name;
    task->options[i].text = text;
    if (i == task->option_count)
        task->option_count++;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct task *task = state->input;
    size_t option = (size_t)(key - KEY_OPTION);
    if (key >= KEY_OPTION && option < sizeof operator_options / sizeof *operator_options) {
        add_option(task, operator_options[option], argument);
        return 0;
    }
    switch (key) {
    case KEY_OP:
        task->op = argument;
        return 0;
    case KEY_SHAPE:
        task->shape = argument;
        return 0;
    case KEY_DTYPE:
        task->dtype = argument;
        return 0;
    case KEY_SPACE:
        task->space_name = argument;
        return 0;
    case KEY_FUNCTION:
        task->function_names = argument;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &task->common;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

const struct argp task_argp = {.options = options, .parser = parse, .children = children};

error_t task_parse_set(int key, char *argument, struct argp_state *state)
{
    struct task *task = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = task;
    else if (key == TASK_KEY_SET && task->set)
        cli_die("--set: given twice; one takes all values, separated by commas");
    else if (key == TASK_KEY_SET)
        task->set = argument;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct operator* find_operator(const char *name)
{
    char list[256] = "";
    const struct operator* op = name ? operator_find(name) : NULL;
    if (op)
        return op;
    for (int i = 0; operators[i]; i++)
        strcat(strcat(list, *list ? ", " : ""), operators[i]->name);
    if (!name)
        cli_die("--op is missing, expected one of %s", list);
    cli_die("--op %.64s: expected one of %s", name, list);
}

/* Without a name that of the chip, once it is known. */
static const struct operator_space *find_space(const struct operator* op, const char *name)
{
    char list[256] = "";
    const struct operator_space *space = name ? operator_space_find(op, name) : NULL;
    if (space || !name)
        return space;
    for (int i = 0; op->spaces[i]; i++)
        strcat(strcat(list, *list ? ", " : ""), op->spaces[i]->name);
    cli_die("--space %.64s: expected one of %s", name, list);
}

enum { MAX_FUNCTIONS = 64 };

/* Named functions are as many as their names. */
static void set_functions(struct task *task)
{
    struct error error;
    char count[16];
    if (task->problem.op != &cubefx_operator)
        cli_die("--function: %s has none", task->problem.op->name);
    task->functions = calloc(MAX_FUNCTIONS, sizeof *task->functions);
    if (!task->functions)
        cli_die("out of memory");
    if (cubefx_functions_parse(task->function_names, MAX_FUNCTIONS, task->functions,
                               &task->function_count, &error) != STATUS_OK)
        cli_die("--function: %s", error.text);
    snprintf(count, sizeof count, "%d", task->function_count);
    for (int i = 0; i < task->option_count; i++)
        if (strcmp(task->options[i].name, "functions") == 0 &&
            strcmp(task->options[i].text, count) != 0)
            cli_die("--functions %.64s: --function names %s", task->options[i].text, count);
    cli_require(problem_set(&task->problem, "functions", count, &error), &error);
}

static void set_options(struct task *task)
{
    struct error error;
    if (task->function_names)
        set_functions(task);
    for (int i = 0; i < task->option_count; i++)
        cli_require(
            problem_set(&task->problem, task->options[i].name, task->options[i].text, &error),
            &error);
    cli_require(problem_check(&task->problem, &error), &error);
    if (task->function_names && task->problem.size[CUBEFX_ORDER] > SERIES_MAX_TERMS)
        cli_die(
            "--order %lld: the series of --function have at most %d terms; --functions takes any",
            (long long)task->problem.size[CUBEFX_ORDER], SERIES_MAX_TERMS);
}

/* Kernels of a processor are in f32. */
static void set_type(struct task *task)
{
    int type = task->hw.host ? DTYPE_F32 : DTYPE_F16;
    if (task->dtype)
        type = dtype_find(task->dtype, (int)strlen(task->dtype));
    if (type < 0)
        cli_die("--dtype %.64s: expected an element type such as f16", task->dtype);
    if (task->hw.host && type != DTYPE_F32)
        cli_die("--dtype %.64s: expected f32, as kernels of a processor are", task->dtype);
    task->problem.type = (enum dtype)type;
}

void task_open(struct task *task)
{
    struct error error;
    const struct operator* op = find_operator(task->op);
    const struct operator_space *space = find_space(op, task->space_name);
    if (!task->shape)
        cli_die("--shape is missing, expected %s", op->shape_form);
    cli_require(problem_parse(op, task->shape, &task->problem, &error), &error);
    set_options(task);
    cli_load_hardware(&task->common, &task->hw);
    set_type(task);
    if (!space)
        space = operator_default_space(op, &task->hw);
    if (!space)
        cli_die("%s has no kernels for a processor, and %s is one", op->name, task->hw.name);
    cli_require(
        space_open(&task->problem, space, &task->hw, (int)task->common.cores, &task->space, &error),
        &error);
}

double task_fit_share(const struct task *task)
{
    return task->hw.fit.error > 0 ? expm1(task->hw.fit.error) : 0;
}

void task_close(struct task *task)
{
    space_close(&task->space);
    hardware_clear(&task->hw);
    free(task->functions);
}

void task_title(const struct task *task, char *text, size_t size)
{
    const struct problem *problem = &task->problem;
    size_t used = (size_t)snprintf(text, size, "%s ", problem->op->name);
    for (int i = 0; i < problem->op->size_count && used < size; i++)
        if (i < problem->op->shape_sizes)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "x" : "",
                                     (long long)problem->size[i]);
        else if (problem->size[i] != problem->op->size_defaults[i - problem->op->shape_sizes])
            used += (size_t)snprintf(text + used, size - used, " %s %lld",
                                     problem->op->size_names[i], (long long)problem->size[i]);
    for (int i = 0; i < problem->op->choice_count && used < size; i++) {
        const struct operator_choice *choice = &problem->op->choices[i];
        if (problem->choice[i] > 0)
            used += (size_t)snprintf(text + used, size - used, " %s %s", choice->name,
                                     choice->values[problem->choice[i]]);
    }
}
