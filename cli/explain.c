#include "cli/commands.h"
#include "cli/verdict.h"

static const struct argp_option options[] = {
    {"set", TASK_KEY_SET, "NAME=VALUE,...", 0, "the tiling: a value for every name of its space",
     1},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = task_parse_set,
    .children = task_children,
    .args_doc = "--op OP --shape SHAPE --set NAME=VALUE,...",
    .doc = "Says whether a tiling is legal on a chip; if not, which limits it breaks, by how many "
           "bytes, and the nearest legal tiling.\v"
           "Example:\n"
           "  autotune explain --op matmul --shape 512x1024x512 \\\n"
           "    --set m_slice=256,k_slice=256,n_slice=256,buffers=2,resident=both,split=m\n",
};

int cmd_explain(int argc, char **argv)
{
    struct task task = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct tiling tiling;
    struct answer answer;
    struct error error;
    cli_parse(&argp, "autotune explain", argc, argv, &task, NULL, 0);
    task_open(&task);
    cli_check_files(&task.common);
    if (!task.set)
        cli_die("explain: --set is missing; `autotune explain --help` has an example");
    cli_require(tiling_parse(&task.job.space, task.set, &tiling, &error), &error);
    cli_answer_open(&answer, &task.common);
    verdict_write(&task, &tiling, task.common.format == FORMAT_JSON, &answer);
    cli_answer_close(&answer);
    task_close(&task);
    return EXIT_ANSWER;
}
