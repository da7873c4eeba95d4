/* `autotune explain`. Parses one tiling in the space of its job and leaves the rest to
 * tiling_verdict.c. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/tiling_verdict.h"

enum { KEY_STRICT = 3600 };

struct explaining {
    struct task task; /* first */
    bool strict;
};

static const struct argp_option options[] = {
    {"set", TASK_KEY_SET, "NAME=VALUE,...", 0, "the tiling: a value for every name of its space",
     1},
    {"strict", KEY_STRICT, NULL, 0, "exit status 1 where the tiling is illegal", 1},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct explaining *explaining = state->input;
    if (key != KEY_STRICT)
        return task_parse_set(key, argument, state);
    explaining->strict = true;
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "--op OP --shape SHAPE --set NAME=VALUE,...",
    .doc =
        "Says of one tiling whether it is legal on a chip; if so, how long it takes, what limits "
        "it, and how much there is to gain at most; if not, which limits it breaks, by how many "
        "bytes, and the nearest legal tiling.\v"
        "Examples:\n"
        "  autotune explain --op matmul --shape 512x1024x512 \\\n"
        "    --set m_slice=256,k_slice=64,n_slice=256,buffers=2,resident=a,split=m\n"
        "  autotune explain --op matmul --shape 512x1024x512 \\\n"
        "    --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m\n",
};

int cmd_explain(int argc, char **argv)
{
    struct explaining explaining = {.task.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct task *task = &explaining.task;
    struct tiling tiling;
    struct answer answer;
    struct error error;
    task_parse(&argp, "autotune explain", argc, argv, &explaining.task, false);
    task->job.validate = 0; /* asks the model alone */
    task_open(task);
    cli_check_files(&task->common);
    if (!task->set)
        cli_die("explain: --set is missing; `autotune explain --help` has an example");
    cli_require(tiling_parse(&task->job.space, task->set, &tiling, &error), &error);
    cli_answer_open(&answer, &task->common);
    bool legal = verdict_write(task, &tiling, task->common.format == FORMAT_JSON, &answer);
    cli_answer_close(&answer);
    task_close(task);
    return legal || !explaining.strict ? EXIT_ANSWER : EXIT_NONE;
}
