/* Nothing is remembered between calls: which shards are done shows in their stores, which are under
 * way in the queue, and the rest is what the array is written for anew. Once no job is missing the
 * stores are merged here instead. */
#include "cli/sweep_slurm.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "core/text_stream.h"
#include "formats/json.h"
#include "formats/text.h"
#include "jobs/sweep/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEFAULT_TASKS = 8, /* without --nodes; with it some tasks a node, so that a lost one is small */
    TASKS_PER_NODE = 4,
    MAX_ARGUMENTS = 2 * (MAX_OVERRIDES + 5),
};

/* A plan and the texts that it is made of. */
struct setting {
    struct slurm_plan plan;
    char program[PATH_MAX], work_folder[PATH_MAX], folder[PATH_MAX], cores[24];
    const char *arguments[MAX_ARGUMENTS];
};

struct outcome {
    const struct sweep *sweep;
    const struct slurm_plan *plan;
    struct slurm_state state;
    char array_id[SLURM_ID_SIZE], merge_id[SLURM_ID_SIZE]; /* "": not submitted */
};

static void add_option(struct setting *setting, const char *option, const char *text)
{
    if (!text)
        return;
    setting->arguments[setting->plan.argument_count++] = option;
    setting->arguments[setting->plan.argument_count++] = text;
}

/* What `sweep` and `merge` of the scripts have to be told as well, so that their jobs are ours. */
static void set_arguments(const struct slurm_options *options, struct setting *setting)
{
    const struct common *common = options->common;
    snprintf(setting->cores, sizeof setting->cores, "%lld", (long long)common->cores);
    add_option(setting, "--hw-path", *common->hw_folders ? common->hw_folders : NULL);
    add_option(setting, "--kernel-path", *common->kernel_folders ? common->kernel_folders : NULL);
    add_option(setting, "--hw", common->hw_name);
    add_option(setting, "--cores", common->cores ? setting->cores : NULL);
    add_option(setting, "--time-limit", options->time_limit);
    for (int i = 0; i < common->override_count; i++)
        add_option(setting, "--set-hw", common->overrides[i]);
    setting->plan.arguments = setting->arguments;
}

static void set_paths(const struct slurm_options *options, struct setting *setting)
{
    ssize_t length = readlink("/proc/self/exe", setting->program, PATH_MAX - 1);
    if (length < 0)
        cli_die("/proc/self/exe: %s", strerror(errno));
    setting->program[length] = '\0';
    if (!getcwd(setting->work_folder, PATH_MAX))
        cli_die("the folder of work: %s", strerror(errno));
    if (snprintf(setting->folder, PATH_MAX, "%s.slurm", options->db) >= PATH_MAX)
        cli_die("--db %.64s...: expected a shorter path", options->db);
    if (mkdir(setting->folder, 0777) != 0 && errno != EEXIST)
        cli_die("%s: %s", setting->folder, strerror(errno));
}

/* The same on every call with the same options: by it the stores of shards are found again. */
static int task_count(const struct slurm_options *options, const struct sweep *sweep)
{
    int64_t tasks = options->tasks   ? options->tasks
                    : options->nodes ? options->nodes * TASKS_PER_NODE
                                     : DEFAULT_TASKS;
    if (tasks > SLURM_MAX_TASKS)
        tasks = SLURM_MAX_TASKS;
    if (!options->tasks && tasks > sweep->job_count)
        tasks = sweep->job_count;
    return tasks ? (int)tasks : 1;
}

static void set_plan(const struct slurm_options *options, const struct sweep *sweep,
                     struct setting *setting)
{
    struct error error;
    memset(setting, 0, sizeof *setting);
    cli_require(slurm_partition_check(options->partition, &error), &error);
    set_paths(options, setting);
    set_arguments(options, setting);
    setting->plan.program = setting->program;
    setting->plan.work_folder = setting->work_folder;
    setting->plan.folder = setting->folder;
    setting->plan.file = sweep->file;
    setting->plan.db = options->db;
    setting->plan.partition = options->partition;
    setting->plan.nodes = (int)options->nodes;
    setting->plan.tasks = task_count(options, sweep);
    setting->plan.threads = options->threads;
}

/* ------------------------------------------------------------------ scripts */

static void script_path(const struct slurm_plan *plan, bool merge, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s.sh", plan->folder, merge ? "merge" : "array") >= PATH_MAX)
        cli_die("--db %.64s...: expected a shorter path", plan->db);
}

static void note_files(const struct slurm_plan *plan, struct common *common)
{
    char path[PATH_MAX];
    struct error error;
    for (int merge = 0; merge < 2; merge++) {
        script_path(plan, merge, path);
        files_note(&common->files, FILE_WRITTEN, merge ? "--slurm: merge.sh" : "--slurm: array.sh",
                   path);
    }
    for (int shard = 1; shard <= plan->tasks; shard++) {
        cli_require(slurm_store_path(plan, shard, path, &error), &error);
        cli_keeps(common, path);
    }
    cli_check_files(common);
}

static void write_script(const struct outcome *outcome, const struct files *files, bool merge)
{
    char path[PATH_MAX], *text = NULL;
    size_t length;
    struct error error;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    if (merge)
        slurm_merge_write(outcome->plan, out);
    else
        slurm_array_write(outcome->plan, outcome->state.again, out);
    cli_close_text(out);
    script_path(outcome->plan, merge, path);
    cli_require(files_write(files, path, text, length, &error), &error);
    free(text);
}

/* What is missing and nobody is at. */
static void go_on(const struct slurm_options *options, struct outcome *outcome)
{
    struct error error;
    if (options->submit)
        cli_require(slurm_queued(outcome->plan, &outcome->state, &error), &error);
    if (!outcome->state.shards_again)
        return;
    write_script(outcome, &options->common->files, false);
    write_script(outcome, &options->common->files, true);
    if (options->submit)
        cli_require(slurm_submit(outcome->plan, &outcome->state, outcome->array_id,
                                 outcome->merge_id, &error),
                    &error);
}

/* ------------------------------------------------------------------ the answer */

static json_t *outcome_json(const struct outcome *outcome)
{
    const struct slurm_state *state = &outcome->state;
    json_t *document =
        json_pack("{s:i, s:o, s:o, s:I, s:I, s:i, s:i, s:i, s:i, s:o}", "schema", 1, "sweep",
                  json_text(outcome->sweep->file), "db", json_text(outcome->plan->db), "jobs",
                  (json_int_t)outcome->sweep->job_count, "missing", (json_int_t)state->jobs_missing,
                  "tasks", outcome->plan->tasks, "tasks_missing", state->shards_missing,
                  "tasks_queued", state->shards_queued, "tasks_again", state->shards_again,
                  "folder", json_text(outcome->plan->folder));
    if (*outcome->array_id)
        json_object_set_new(
            document, "submitted",
            json_pack("{s:s, s:s}", "array", outcome->array_id, "merge", outcome->merge_id));
    return document;
}

static void put_again(const struct outcome *outcome, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    const struct slurm_plan *plan = outcome->plan;
    fprintf(out, *outcome->array_id ? "  submitted" : "  to submit");
    fprintf(out, "    tasks ");
    slurm_ranges(outcome->state.again, plan->tasks, out);
    if (*outcome->array_id)
        fprintf(out, " as job %s; job %s merges\n", outcome->array_id, outcome->merge_id);
    else
        fprintf(out, ": %s/array.sh, then merge.sh; or with --submit\n",
                text_line(plan->folder, line));
}

static void put_outcome(const struct outcome *outcome, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    const struct slurm_state *state = &outcome->state;
    char jobs[TEXT_SIZE], missing[TEXT_SIZE];
    fprintf(out, "%s: %s jobs in %d tasks\n", text_line(outcome->sweep->file, line),
            text_count(outcome->sweep->job_count, jobs), outcome->plan->tasks);
    if (!state->jobs_missing) {
        fprintf(out, "  complete     in %s\n", text_line(outcome->plan->db, line));
        return;
    }
    fprintf(out, "  missing      %s jobs of %d tasks\n", text_count(state->jobs_missing, missing),
            state->shards_missing);
    if (state->shards_queued)
        fprintf(out, "  in the queue %d tasks\n", state->shards_queued);
    if (state->shards_again)
        put_again(outcome, out);
}

static void write_answer(const struct outcome *outcome, const struct common *common)
{
    struct answer out;
    struct error error;
    cli_answer_open(&out, common);
    if (common->format == FORMAT_JSON)
        cli_require(json_write(outcome_json(outcome), out.stream, &error), &error);
    else
        put_outcome(outcome, out.stream);
    cli_answer_close(&out);
}

int sweep_slurm(const struct slurm_options *options, const struct sweep *sweep)
{
    struct setting setting;
    struct error error;
    struct outcome outcome = {.sweep = sweep, .plan = &setting.plan};
    set_plan(options, sweep, &setting);
    note_files(&setting.plan, options->common);
    cli_require(slurm_look(&setting.plan, sweep, &outcome.state, &error), &error);
    bool complete = outcome.state.jobs_missing == 0;
    if (complete)
        cli_require(slurm_merge(&setting.plan, &error), &error);
    else
        go_on(options, &outcome);
    write_answer(&outcome, options->common);
    slurm_state_clear(&outcome.state);
    return complete ? EXIT_ANSWER : EXIT_NONE;
}
