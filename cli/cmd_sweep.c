/* `autotune sweep`. Rows become jobs first, and bad rows faults that do not stop the others; then
 * one of three: the plan (--dry-run), the scripts of a cluster (--slurm), or the jobs themselves,
 * each answer on disk as soon as it is there. */
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/report_file.h"
#include "cli/signals.h"
#include "cli/sweep_answer.h"
#include "cli/sweep_jobs.h"
#include "cli/sweep_slurm.h"
#include "cli/threads.h"
#include "core/text_stream.h"
#include "formats/text.h"
#include "jobs/sweep/slurm.h"
#include "jobs/sweep/sweep.h"
#include "validate/calibrate/topology.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SHARDS = 4096 };

struct sweep_command {
    struct common common; /* first */
    const char *db;
    int64_t threads;
    const char *time_limit;
    int shard, shards; /* 0: not given */
    bool dry_run, fresh, pareto;
    int64_t nodes, tasks; /* of --slurm; 0: not given */
    const char *partition;
    bool slurm, submit;
    struct page page; /* --report */
};

static void take_shard(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    struct sweep_command *command = options;
    char first[16];
    const char *slash = strchr(text, '/');
    if (!slash || slash - text >= (int)sizeof first)
        cli_die("--shard %.64s: expected I/N, such as 2/8", text);
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    command->shards = (int)cli_count("--shard I/N: N =", slash + 1, MAX_SHARDS);
    command->shard = (int)cli_count("--shard I/N: I =", first, command->shards);
}

static const struct cli_option options[] = {
    {.help = "Sweep:", .group = 1},
    {"db", "DB",
     "the store that answers are kept in (default autotune.db; of a shard autotune.I-of-N.db)", 1,
     .text = offsetof(struct sweep_command, db)},
    {"dry-run", NULL, "say what the jobs are and about how long they take", 1,
     .flag = offsetof(struct sweep_command, dry_run)},
    {"shard", "I/N",
     "only the jobs of part I of N, parts being of similar cost; `autotune merge` joins their "
     "stores",
     1, .take = take_shard},
    {"fresh", NULL, "search and measure also what the store has an answer to", 1,
     .flag = offsetof(struct sweep_command, fresh)},
    {"pareto", NULL, "the chips' times against their buffers' bytes, also where there is one chip",
     1, .flag = offsetof(struct sweep_command, pareto)},
    {"threads", "N", "threads (default: all processors); what is kept is the same", 1,
     .count = offsetof(struct sweep_command, threads), .most = JOB_MAX_THREADS},
    {"time-limit", "SECONDS",
     "of each job that says nothing else: keep the best so far after this time", 1,
     .text = offsetof(struct sweep_command, time_limit), .take = sweep_check_time_limit},
    {"report", "OUT.html", PAGE_HELP, 1, .text = offsetof(struct sweep_command, page.output)},
    {.help = "On a Slurm cluster:", .group = 2},
    {"slurm", NULL,
     "write a job array of shards and a job that merges them into DB.slurm, of the shards whose "
     "stores lack answers; once none does, merge them into DB",
     2, .flag = offsetof(struct sweep_command, slurm)},
    {"submit", NULL, "hand them to sbatch, but what is in the queue", 2,
     .flag = offsetof(struct sweep_command, submit)},
    {"tasks", "N",
     "shards (default: 4 for each of --nodes, or 8); the same when it is started again", 2,
     .count = offsetof(struct sweep_command, tasks), .most = SLURM_MAX_TASKS},
    {"nodes", "N", "work on N nodes at a time, each for one task (default: all)", 2,
     .count = offsetof(struct sweep_command, nodes), .most = SLURM_MAX_NODES},
    {"partition", "NAME", "Slurm's partition (default: the cluster's)", 2,
     .text = offsetof(struct sweep_command, partition)},
    {0},
};

static const struct usage usage = {
    .name = "autotune sweep",
    .tables = {{options, 0}, {hardware_options, 0}, {kernel_options, 0}},
    .args_doc = "FILE.csv|FILE.cfg|SET",
    .doc = "Tunes many shapes and chips: jobs from a table with a header (op or kernel, shape and "
           "other "
           "long options of `autotune tune`), from a file of products, or of a named set "
           "(`autotune list sweeps`). Each answer is "
           "on disk as soon as it is found; started again, a sweep goes on where it ended.\v"
           "Exit status: 0 all jobs are answered; 1 some have no legal tiling; 2 some rows or jobs "
           "are bad, the rest is done. With --slurm: 1 while jobs have no answer.\n\n"
           "Examples:\n"
           "  autotune sweep shapes.csv --db results.db\n"
           "  autotune sweep llama-2-7b-prefill --dry-run\n"
           "  autotune sweep chips.cfg --db chips.db --pareto --report chips.html\n"
           "  autotune sweep shapes.csv --shard 2/8 --db part2.db\n"
           "  autotune sweep shapes.csv --db results.db --slurm --nodes 4 --submit\n",
};

/* One line each, on standard error. */
static void tell_faults(const struct sweep *sweep, const struct sweep_fault *faults, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        cli_warn("%s:%d: %s", sweep->file, faults[i].line, faults[i].text);
}

/* Has it times to take that the store does not have? Measured jobs are the last ones. */
static bool measures(const struct sweep_command *command, const struct sweep *sweep,
                     struct store *store)
{
    struct error error;
    int64_t *missing, count = sweep->job_count;
    bool any = false;
    if (count == 0 || sweep->jobs[count - 1].key.kind != STORE_MEASURED)
        return false;
    if (!command->fresh)
        cli_require(sweep_missing(sweep, store, &missing, &count, &error), &error);
    for (int64_t i = 0; i < count && !any; i++)
        any = sweep->jobs[command->fresh ? i : missing[i]].key.kind == STORE_MEASURED;
    if (!command->fresh)
        free(missing);
    return any;
}

static void run(const struct sweep_command *command, const struct sweep *sweep, struct store *store,
                struct sweep_counts *ran)
{
    struct error error;
    struct sweep_options how = {
        .threads = cli_threads(command->threads),
        .fresh = command->fresh,
        .stop = stop_asked(),
        .progress = progress_sweep,
    };
    if (measures(command, sweep, store))
        busy_warn(0, command->common.quiet);
    stop_open();
    enum status status = sweep_run(sweep, store, &how, ran, &error);
    progress_phase("answering");
    cli_require(status, &error);
    if (command->common.verbose)
        cli_note("searches: %.3f s of %d x %.3f s; store and progress: %.3f s", ran->search_s,
                 how.threads, ran->seconds, ran->keep_s);
}

static void write_page(const struct sweep_command *command, const struct sweep_summary *summary)
{
    struct report report;
    struct error error;
    char lead[64], jobs[32];
    const struct sweep *sweep = summary->sweep;
    snprintf(lead, sizeof lead, "%s job%s", text_count(sweep->job_count, jobs),
             sweep->job_count == 1 ? "" : "s");
    const char *slash = strrchr(sweep->file, '/');
    page_open(&command->page, slash ? slash + 1 : sweep->file, lead, &report);
    cli_require(report_sweep(&report, sweep, summary->store, summary->ran, summary->points, &error),
                &error);
    page_close(&command->page, &command->common, &report);
}

/* Its text may be one that no name finds. */
static void put_kernel(const struct common *common, const struct sweep_job *job, FILE *out)
{
    for (int i = 0; i < job->option_count; i++)
        if (strcmp(job->options[i].name, "kernel") == 0) {
            cli_put_option("kernel", job->options[i].text, out);
            if (*common->kernel_folders)
                cli_put_option("kernel-path", common->kernel_folders, out);
        }
}

/* The same again where some are missing, else a table of the chip that the slowest is of: the store
 * may hold answers for others. */
static char *next_command(const struct sweep_command *command, const struct sweep_summary *summary)
{
    const struct sweep *sweep = summary->sweep;
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    int64_t job = -1;
    for (int k = 0; k < STORE_KINDS && job < 0; k++)
        job = summary->found[k].count ? summary->found[k].slowest : -1;
    if (summary->ran->unfinished) {
        fputs(command->page.command, out);
    } else if (job >= 0) {
        const struct store_key *key = &sweep->jobs[job].key;
        char cores[24];
        snprintf(cores, sizeof cores, "%d", key->cores);
        fputs("autotune table", out);
        cli_put_option("db", command->db, out);
        put_kernel(&command->common, &sweep->jobs[job], out);
        cli_put_option("hw", key->hardware, out);
        cli_put_option("cores", cores, out);
        if (key->kind != STORE_SIMULATED)
            cli_put_option("kind", store_kind_name(key->kind), out);
    }
    cli_close_text(out);
    return text;
}

static int sweep_files(const struct sweep_command *command, const struct sweep *sweep)
{
    struct error error;
    struct sweep_counts ran;
    struct sweep_summary summary = {.sweep = sweep, .ran = &ran, .db = command->db};
    struct store *store;
    cli_require(store_open(command->db, STORE_WRITE, &store, &error), &error);
    run(command, sweep, store, &ran);
    tell_faults(sweep, ran.faults, ran.fault_count);
    summary.store = store;
    summary.stopped = *stop_asked() != 0;
    if (command->pareto || sweep->chip_count > 1)
        cli_require(sweep_pareto(sweep, store, &summary.points, &error), &error);
    if (sweep->has_calls)
        cli_require(sweep_calls(sweep, store, &summary.calls, &summary.calls_count, &error),
                    &error);
    for (int k = 0; k < STORE_KINDS; k++)
        cli_require(sweep_found(sweep, store, (enum store_kind)k, &summary.found[k], &error),
                    &error);
    char *next = next_command(command, &summary);
    summary.next = next;
    sweep_summary_write(&summary, &command->common);
    free(next);
    if (page_is_wanted(&command->page, &command->common))
        write_page(command, &summary);
    bool bad = sweep->fault_count + ran.fault_count > 0, none = ran.infeasible > 0;
    sweep_summary_clear(&summary);
    sweep_counts_clear(&ran);
    store_close(store);
    return bad ? EXIT_BAD : none ? EXIT_NONE : EXIT_ANSWER;
}

static void check_options(const struct sweep_command *command)
{
    if (!command->slurm &&
        (command->submit || command->tasks || command->nodes || command->partition))
        cli_die("--submit, --tasks, --nodes and --partition: expected --slurm with them");
    if (command->slurm && (command->shards || command->fresh || command->pareto))
        cli_die("--slurm: expected neither --shard nor --fresh nor --pareto with it");
    if (page_is_wanted(&command->page, &command->common) && (command->slurm || command->dry_run))
        cli_die("--report: expected neither --slurm nor --dry-run with it");
}

static int sweep_cluster(struct sweep_command *command, const struct sweep *sweep)
{
    const struct slurm_options how = {
        .common = &command->common,
        .db = command->db,
        .time_limit = command->time_limit,
        .partition = command->partition,
        .nodes = command->nodes,
        .tasks = command->tasks,
        .threads = (int)command->threads,
        .submit = command->submit,
    };
    int status = sweep_slurm(&how, sweep);
    return sweep->fault_count ? EXIT_BAD : status;
}

static void plan(const struct sweep_command *command, struct sweep *sweep)
{
    struct error error;
    struct store *store = NULL;
    int64_t stored = 0;
    if (!command->fresh && access(command->db, F_OK) == 0)
        cli_require(store_open(command->db, STORE_READ, &store, &error), &error);
    if (store)
        cli_require(sweep_drop_answered(sweep, store, &stored, &error), &error);
    store_close(store);
    sweep_plan_write(
        &(struct sweep_plan){sweep, command->db, stored,
                             command->threads ? (int)command->threads : topology_processors(NULL)},
        &command->common);
}

/* The store that is taken without --db. */
static const char *default_db(const struct sweep_command *command, char name[64])
{
    snprintf(name, 64, "autotune.db");
    if (command->shards)
        snprintf(name, 64, "autotune.%d-of-%d.db", command->shard, command->shards);
    return name;
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep_command command = {
        .common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON,
        .page.command = cli_command_text("sweep", argc, argv),
    };
    const char *files[1];
    char db[64];
    struct sweep sweep;
    struct error error;
    if (cli_parse(&usage, argc, argv, &command, files, 1) != 1)
        cli_die("sweep: expected a file or the name of a set; `autotune sweep --help` says more");
    if (!command.db)
        command.db = default_db(&command, db);
    check_options(&command);
    cli_keeps(&command.common, command.db);
    sweep_jobs_read(&command.common, command.time_limit, files[0], &sweep);
    bool none = sweep.job_count == 0;
    if (command.shards)
        cli_require(sweep_shard(&sweep, command.shard, command.shards, &error), &error);
    cli_check_files(&command.common);
    tell_faults(&sweep, sweep.faults, sweep.fault_count);
    if (none)
        cli_die("%s: none of its rows is a job, nothing was done", sweep.file);
    int status = sweep.fault_count ? EXIT_BAD : EXIT_ANSWER;
    if (command.dry_run)
        plan(&command, &sweep);
    else if (command.slurm)
        status = sweep_cluster(&command, &sweep);
    else
        status = sweep_files(&command, &sweep);
    sweep_clear(&sweep);
    free(command.page.command);
    cli_close(&command.common);
    stop_close();
    return status;
}
