/* `autotune program`. Without --set the space is searched first. The program is generated anew from
 * the tiling and printed below comments that say what it is; an illegal tiling gets the answer of
 * `explain` instead. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/tiling_verdict.h"
#include "core/program_text.h"
#include "core/suggest.h"
#include "core/text_stream.h"
#include "formats/json.h"
#include "jobs/tune/report_program.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct printing {
    struct task task;      /* first */
    const char *part_name; /* NULL: the first */
    int part;
};

static const struct cli_option options[] = {
    {"part", "distance|idle|step|full", "knn: which program of a tiling, which consists of several",
     1, .text = offsetof(struct printing, part_name)},
    {"set", "NAME=VALUE,...",
     "the tiling: a value for every name of its space (default: the best one)", 1,
     .text = offsetof(struct task, set), .take = task_check_set},
    {0},
};

static const struct usage usage = {
    .name = "autotune program",
    .tables = {{options, 0}},
    .args_doc = "--op OP --shape SHAPE\n--kernel NAME|FILE --shape SHAPE",
    .doc =
        "Prints the kernel program of a tiling. With several cores it is the program of the core "
        "with most work, which all working cores run in step.\v"
        "Examples:\n"
        "  autotune program --op matmul --shape 512x1024x512\n"
        "  autotune program --op matmul --shape 64x64x64 --cores 1 \\\n"
        "    --set m_slice=64,k_slice=32,n_slice=64,buffers=2,resident=both,split=m\n",
};

static int find_part(const struct operator_space *kind, const char *name)
{
    char list[128] = "";
    struct suggestion like = suggest_for(name ? name : "", -1);
    for (int i = 0; kind->parts[i]; i++) {
        suggest_try(&like, kind->parts[i]);
        if (!name || strcasecmp(kind->parts[i], name) == 0)
            return i;
        strcat(strcat(list, i ? ", " : ""), kind->parts[i]);
    }
    cli_die("--part %.64s: expected %s%s", name, list, like.text);
}

/* A tiling that was given has yet to choose the values that it does not show (k-NN's distance
 * tile). */
static void complete(const struct task *task, struct tiling *tiling)
{
    struct error error;
    struct found found;
    cli_require(search_simulate(&task->job.space, tiling, &found, &error), &error);
    *tiling = found.tiling;
}

static void write_text(const struct printing *printing, const struct tiling *tiling, FILE *out)
{
    const struct task *task = &printing->task;
    const struct space *space = &task->job.space;
    struct program program = {0};
    struct error error;
    char title[PROBLEM_TITLE_SIZE], text[TILING_TEXT_SIZE];
    int cores = space->kind->cores_used(space, tiling, printing->part);
    bool sure = true;
    if (space->kind->content)
        cli_require(space->kind->content(space, tiling, &sure, &error), &error);
    program_reset(&program, task->job.hw);
    cli_require(generate_program(space, tiling, printing->part, NULL, &program, &error), &error);
    tiling_text(space->axes, space->axis_count, tiling, text, sizeof text);
    fprintf(out, "# %s on %s: ", problem_title(&task->job.problem, title), task->job.hw->name);
    if (cores == 1)
        fprintf(out, "one core\n# %s\n", text);
    else
        fprintf(out, "each of %d cores in step\n# %s\n", cores, text);
    if (space->kind->parts[1])
        fprintf(out, "# part %s\n", space->kind->parts[printing->part]);
    if (!sure)
        fputs(
            "# whether all that is read was written, and stored once, takes too long to find out\n",
            out);
    cli_require(program_print(&program, out, &error), &error);
    program_clear(&program);
}

static void write_json(const struct printing *printing, const struct tiling *tiling, FILE *out)
{
    const struct task *task = &printing->task;
    const struct space *space = &task->job.space;
    struct error error;
    char *text = NULL;
    size_t length;
    FILE *program = cli_require_memory(text_stream_open(&text, &length));
    write_text(printing, tiling, program);
    cli_close_text(program);
    json_t *document = json_pack("{s:i, s:o, s:i, s:s, s:s}", "schema", 1, "tiling",
                                 tiling_json(space->axes, space->axis_count, tiling), "cores_used",
                                 space->kind->cores_used(space, tiling, printing->part), "part",
                                 space->kind->parts[printing->part], "program", text);
    cli_require(json_write(document, out, &error), &error);
    free(text);
}

int cmd_program(int argc, char **argv)
{
    struct printing printing = {.task.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct task *task = &printing.task;
    struct tiling tiling;
    struct answer answer;
    task_parse(&usage, argc, argv, task, false);
    task_open(task);
    cli_require_chip(task->job.hw);
    cli_check_files(&task->common);
    printing.part = find_part(task->job.space.kind, printing.part_name);
    bool json = task->common.format == FORMAT_JSON;
    bool found = verdict_choose(task, &tiling);
    bool legal = found && verdict_is_legal(task, &tiling);
    if (legal && task->set)
        complete(task, &tiling);
    cli_answer_open(&answer, &task->common);
    if (legal && !json)
        answer.kind = ANSWER_EXACT;
    if (legal)
        (json ? write_json : write_text)(&printing, &tiling, answer.stream);
    else if (found)
        verdict_write(task, &tiling, json, &answer);
    else
        verdict_write_none(&task->job.space, json, answer.stream);
    cli_answer_close(&answer);
    task_close(task);
    return legal ? EXIT_ANSWER : EXIT_NONE;
}
