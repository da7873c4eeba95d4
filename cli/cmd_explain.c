/* `autotune explain`. Takes one tiling of the space of its job, the best one where none is given,
 * and leaves the rest to tiling_verdict.c. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/correction.h"
#include "cli/tiling_verdict.h"

struct explaining {
    struct task task; /* first */
    bool strict;
    struct answer_correction correction;
};

static const struct cli_option options[] = {
    {"set", "NAME=VALUE,...",
     "the tiling: a value for every name of its space (default: the best one)", 1,
     .text = offsetof(struct task, set), .take = task_check_set},
    {"strict", NULL, "exit status 1 where the tiling is illegal", 1,
     .flag = offsetof(struct explaining, strict)},
    {"no-correction", NULL, NO_CORRECTION_HELP, 1,
     .flag = offsetof(struct explaining, correction.left_out)},
    {0},
};

static const struct usage usage = {
    .name = "autotune explain",
    .tables = {{options, 0}},
    .args_doc = "--op OP --shape SHAPE\n--kernel NAME|FILE --shape SHAPE",
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
    task_parse(&usage, argc, argv, task, false);
    task->job.validate = 0; /* asks the model alone */
    task_open(task);
    task->correction = &explaining.correction;
    correction_open(task->correction, task);
    cli_check_files(&task->common);
    bool json = task->common.format == FORMAT_JSON, legal = false;
    bool found = verdict_choose(task, &tiling);
    cli_answer_open(&answer, &task->common);
    if (found)
        legal = verdict_write(task, &tiling, json, &answer);
    else
        verdict_write_none(&task->job.space, json, answer.stream);
    cli_answer_close(&answer);
    correction_close(task->correction);
    task_close(task);
    return legal || (found && !explaining.strict) ? EXIT_ANSWER : EXIT_NONE;
}
