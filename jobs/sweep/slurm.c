/* A sweep on a cluster. Scripts: texts from outside are quoted; what Slurm reads itself (#SBATCH)
 * is checked before. What is lost: the stores of shards against the jobs of the sweep. Slurm's
 * programs are started without a shell. */
#include "jobs/sweep/slurm.h"

#include "core/array.h"
#include "core/text_stream.h"
#include "formats/shell.h"
#include "jobs/sweep/sweep_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ scripts */

enum status slurm_partition_check(const char *partition, struct error *error)
{
    static const char known[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,";
    if (!partition || (*partition && partition[strspn(partition, known)] == '\0'))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "--partition %.64s: expected names of letters, digits, '_', '-' and '.', "
                     "separated by commas",
                     partition);
}

void slurm_ranges(const bool wanted[], int count, FILE *out)
{
    const char *comma = "";
    for (int first = 0, last; first < count; first = last + 1) {
        last = first;
        if (!wanted[first])
            continue;
        while (last + 1 < count && wanted[last + 1])
            last++;
        fprintf(out, "%s%d", comma, first + 1);
        if (last > first)
            fprintf(out, "-%d", last + 1);
        comma = ",";
    }
}

/* FNV-1a, 64 bits. */
static uint64_t hash_text(uint64_t value, const char *text)
{
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

void slurm_name(const struct slurm_plan *plan, char name[SLURM_ID_SIZE])
{
    uint64_t value = hash_text(UINT64_C(0xcbf29ce484222325), plan->work_folder);
    value = hash_text(hash_text(value, "/"), plan->folder);
    snprintf(name, SLURM_ID_SIZE, "autotune-%016" PRIx64, value);
}

enum status slurm_store_path(const struct slurm_plan *plan, int shard, char path[PATH_MAX],
                             struct error *error)
{
    int length = snprintf(path, PATH_MAX, "%s/shard-%d-of-%d.db", plan->folder, shard, plan->tasks);
    if (length < PATH_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE, "%.64s...: expected a shorter path", plan->folder);
}

/* ------------------------------------------------------------------ scripts */

static void write_head(const struct slurm_plan *plan, const char *suffix, FILE *out)
{
    char name[SLURM_ID_SIZE];
    slurm_name(plan, name);
    fprintf(out, "#!/bin/sh\n#SBATCH --job-name=%s%s\n", name, suffix);
    fprintf(out, "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --output=/dev/null\n");
    if (plan->partition)
        fprintf(out, "#SBATCH --partition=%s\n", plan->partition);
}

/* Into the folder, where what is printed goes to a file of its own. */
static void write_start(const struct slurm_plan *plan, const char *log, FILE *out)
{
    fputs("cd ", out);
    shell_quote(plan->work_folder, out);
    fputs(" || exit 2\nfolder=", out);
    shell_quote(plan->folder, out);
    fprintf(out, "\nexec >>\"$folder/%s.log\" 2>&1\n", log);
}

static void write_arguments(const struct slurm_plan *plan, FILE *out)
{
    for (int i = 0; i < plan->argument_count; i++) {
        fputc(' ', out);
        shell_quote(plan->arguments[i], out);
    }
}

/* A node of its own for each task, so that its threads disturb nobody. A node that is lost: Slurm
 * may start the task anew, and it goes on where its store ends. */
void slurm_array_write(const struct slurm_plan *plan, const bool wanted[], FILE *out)
{
    write_head(plan, "", out);
    fputs("#SBATCH --exclusive\n#SBATCH --requeue\n#SBATCH --array=", out);
    slurm_ranges(wanted, plan->tasks, out);
    if (plan->nodes)
        fprintf(out, "%%%d", plan->nodes);
    fputc('\n', out);
    write_start(plan, "task-$SLURM_ARRAY_TASK_ID", out);
    fputs("exec ", out);
    shell_quote(plan->program, out);
    fprintf(out, " sweep --quiet --shard \"$SLURM_ARRAY_TASK_ID/%d\"", plan->tasks);
    fprintf(out, " --db \"$folder/shard-$SLURM_ARRAY_TASK_ID-of-%d.db\"", plan->tasks);
    if (plan->threads)
        fprintf(out, " --threads %" PRId64, plan->threads);
    write_arguments(plan, out);
    fputs(" -- ", out);
    shell_quote(plan->file, out);
    fputc('\n', out);
}

void slurm_merge_write(const struct slurm_plan *plan, FILE *out)
{
    write_head(plan, "-merge", out);
    write_start(plan, "merge", out);
    fprintf(out,
            "set --\nfor store in \"$folder\"/shard-*-of-%d.db; do\n"
            "    if [ -s \"$store\" ]; then set -- \"$@\" \"$store\"; fi\ndone\n"
            "if [ $# -eq 0 ]; then echo 'no shard has a store'; exit 1; fi\nexec ",
            plan->tasks);
    shell_quote(plan->program, out);
    fputs(" merge --sweep ", out);
    shell_quote(plan->file, out);
    write_arguments(plan, out);
    fputs(" -- ", out);
    shell_quote(plan->db, out);
    fputs(" \"$@\"\n", out);
}

/* ------------------------------------------------------------------ what is lost */

void slurm_state_clear(struct slurm_state *state)
{
    free(state->missing);
    free(state->again);
    free(state->ids);
    memset(state, 0, sizeof *state);
}

static bool has_content(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

/* Keeps the jobs that a store has no answer to. One that cannot be read has none: a task that is
 * killed early leaves such a file, and the task that runs again says what is wrong with it. */
static enum status drop_answered(struct sweep *part, const char *path, struct error *error)
{
    struct store *store;
    int64_t *missing, count;
    if (!part->job_count || !has_content(path))
        return STATUS_OK;
    enum status status = store_open(path, STORE_READ, &store, error);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    status = sweep_missing(part, store, &missing, &count, error);
    store_close(store);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    for (int64_t i = 0; i < count; i++)
        part->jobs[i] = part->jobs[missing[i]];
    part->job_count = count;
    free(missing);
    return STATUS_OK;
}

static enum status look_at(const struct slurm_plan *plan, struct sweep *part, int shard,
                           struct slurm_state *state, struct error *error)
{
    char path[PATH_MAX];
    TRY(slurm_store_path(plan, shard + 1, path, error));
    TRY(drop_answered(part, plan->db, error));
    TRY(drop_answered(part, path, error));
    state->missing[shard] = part->job_count;
    state->jobs_missing += part->job_count;
    state->again[shard] = part->job_count > 0;
    state->shards_missing += part->job_count > 0;
    return STATUS_OK;
}

/* The jobs of each shard in turn. */
static enum status look_at_all(const struct slurm_plan *plan, const struct sweep *sweep,
                               const int shard_of[], struct slurm_state *state, struct error *error)
{
    struct sweep part = *sweep;
    enum status status = STATUS_OK;
    part.jobs = calloc((size_t)sweep->job_count + 1, sizeof *part.jobs);
    if (!part.jobs)
        return error_memory(error);
    for (int shard = 0; shard < plan->tasks && status == STATUS_OK; shard++) {
        part.job_count = 0;
        for (int64_t j = 0; j < sweep->job_count; j++)
            if (shard_of[j] == shard)
                part.jobs[part.job_count++] = sweep->jobs[j];
        status = look_at(plan, &part, shard, state, error);
    }
    free(part.jobs);
    return status;
}

static enum status look_at_shards(const struct slurm_plan *plan, const struct sweep *sweep,
                                  int shard_of[], struct slurm_state *state, struct error *error)
{
    if (!shard_of || !state->missing || !state->again)
        return error_memory(error);
    TRY(sweep_shards(sweep, plan->tasks, shard_of, error));
    return look_at_all(plan, sweep, shard_of, state, error);
}

enum status slurm_look(const struct slurm_plan *plan, const struct sweep *sweep,
                       struct slurm_state *state, struct error *error)
{
    int *shard_of = calloc((size_t)sweep->job_count + 1, sizeof *shard_of);
    memset(state, 0, sizeof *state);
    state->missing = calloc((size_t)plan->tasks, sizeof *state->missing);
    state->again = calloc((size_t)plan->tasks, sizeof *state->again);
    enum status status = look_at_shards(plan, sweep, shard_of, state, error);
    free(shard_of);
    state->shards_again = state->shards_missing;
    if (status != STATUS_OK)
        slurm_state_clear(state);
    return status;
}

static enum status merge_shards(const struct slurm_plan *plan, char paths[][PATH_MAX],
                                const char *files[], struct error *error)
{
    struct merge_counts counts;
    int count = 0;
    if (!paths || !files)
        return error_memory(error);
    for (int shard = 1; shard <= plan->tasks; shard++) {
        TRY(slurm_store_path(plan, shard, paths[count], error));
        files[count] = paths[count];
        count += has_content(paths[count]);
    }
    return count ? merge_stores(plan->db, files, count, &counts, error) : STATUS_OK;
}

enum status slurm_merge(const struct slurm_plan *plan, struct error *error)
{
    char(*paths)[PATH_MAX] = calloc((size_t)plan->tasks, sizeof *paths);
    const char **files = calloc((size_t)plan->tasks, sizeof *files);
    enum status status = merge_shards(plan, paths, files, error);
    free(files);
    free(paths);
    return status;
}

/* ------------------------------------------------------------------ Slurm's programs */

/* What the descriptor gives until its end; owned. */
static enum status read_all(int descriptor, char **text, struct error *error)
{
    size_t length;
    char buffer[4096];
    ssize_t got = 0;
    FILE *out = text_stream_open(text, &length);
    if (!out)
        return error_memory(error);
    while ((got = read(descriptor, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            fwrite(buffer, 1, (size_t)got, out);
    if (fclose(out) == 0 && *text)
        return STATUS_OK;
    return error_memory(error);
}

static int start_program(char *const arguments[], int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failure)
        failure =
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure)
        failure = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Runs it to its end; *text is what it printed, owned. Its messages go where ours go. */
static enum status run_program(char *const arguments[], char **text, struct error *error)
{
    int ends[2];
    pid_t child;
    *text = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, STATUS_IO, "%s: %s", arguments[0], strerror(errno));
    int failure = start_program(arguments, ends[1], &child);
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        return error_set(error, STATUS_IO, "%s: %s; --slurm --submit takes Slurm's programs",
                         arguments[0], strerror(failure));
    }
    enum status status = read_all(ends[0], text, error);
    close(ends[0]);
    int ended = wait_for(child);
    if (status == STATUS_OK && ended != 0)
        status = error_set(error, STATUS_IO, "%s failed; nothing more is submitted", arguments[0]);
    return status;
}

/* ------------------------------------------------------------------ the queue */

static bool knows_id(const struct slurm_state *state, const char *id)
{
    for (int i = 0; i < state->queued_ids; i++)
        if (strcmp(state->ids[i], id) == 0)
            return true;
    return false;
}

static enum status keep_id(struct slurm_state *state, const char *id, struct error *error)
{
    if (knows_id(state, id))
        return STATUS_OK;
    if (!array_room(&state->ids, state->queued_ids, sizeof *state->ids))
        return error_memory(error);
    snprintf(state->ids[state->queued_ids++], SLURM_ID_SIZE, "%s", id);
    return STATUS_OK;
}

static void take_from_again(struct slurm_state *state, int shard)
{
    state->shards_again -= state->again[shard];
    state->shards_queued++;
    state->again[shard] = false;
}

/* Slurm's numbers have at most ten digits. Leaves *at behind it. */
static bool read_number(const char **at, char number[SLURM_ID_SIZE])
{
    size_t length = strspn(*at, "0123456789");
    if (length == 0 || length >= SLURM_ID_SIZE)
        return false;
    memcpy(number, *at, length);
    number[length] = '\0';
    *at += length;
    return true;
}

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \t");
}

/* Of what stands in a message: at most a line. */
static int shown_length(const char *text)
{
    int length = (int)strcspn(text, "\n");
    return length < 40 ? length : 40;
}

/* "ARRAY TASK" and nothing else on the line, which *at is left behind. */
static bool read_task(const char **at, char id[SLURM_ID_SIZE], long *task)
{
    char number[SLURM_ID_SIZE];
    skip_blanks(at);
    bool good = read_number(at, id) && (**at == ' ' || **at == '\t');
    skip_blanks(at);
    good = good && read_number(at, number);
    skip_blanks(at);
    *task = good ? strtol(number, NULL, 10) : 0;
    good = *task >= 1 && (**at == '\n' || !**at);
    *at += **at == '\n';
    return good;
}

/* A task that waits in two arrays is one. */
enum status slurm_queued_read(const char *text, int tasks, struct slurm_state *state,
                              struct error *error)
{
    bool queued[SLURM_MAX_TASKS] = {false};
    while (*text) {
        const char *line = text;
        char id[SLURM_ID_SIZE];
        long task;
        if (!read_task(&text, id, &task))
            return error_set(error, STATUS_IO,
                             "squeue: expected the numbers of a job and a task, found %.*s",
                             shown_length(line), line);
        if (task <= tasks && !queued[task - 1]) {
            queued[task - 1] = true;
            take_from_again(state, (int)task - 1);
        }
        TRY(keep_id(state, id, error));
    }
    return STATUS_OK;
}

enum status slurm_submitted_read(const char *text, char id[SLURM_ID_SIZE], struct error *error)
{
    const char *at = text;
    if (read_number(&at, id) && (!*at || *at == '\n' || *at == ';'))
        return STATUS_OK;
    return error_set(error, STATUS_IO, "sbatch: expected the number of a job, found %.*s",
                     shown_length(text), text);
}

enum status slurm_queued(const struct slurm_plan *plan, struct slurm_state *state,
                         struct error *error)
{
    char name[SLURM_ID_SIZE], by_name[SLURM_ID_SIZE + 16], *text;
    slurm_name(plan, name);
    snprintf(by_name, sizeof by_name, "--name=%s", name);
    char program[] = "squeue", mine[] = "--me", plain[] = "--noheader", tasks[] = "--array",
         format[] = "--format=%F %K";
    char *const arguments[] = {program, mine, plain, tasks, format, by_name, NULL};
    enum status status = run_program(arguments, &text, error);
    if (status == STATUS_OK && text)
        status = slurm_queued_read(text, plan->tasks, state, error);
    free(text);
    return status;
}

/* ------------------------------------------------------------------ submission */

/* "--dependency=afterany:1:2"; owned. */
static char *dependency(const struct slurm_state *state, const char *array_id)
{
    char *text = NULL;
    size_t length;
    FILE *out = text_stream_open(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "--dependency=afterany:%s", array_id);
    for (int i = 0; i < state->queued_ids; i++)
        fprintf(out, ":%s", state->ids[i]);
    return fclose(out) == 0 ? text : NULL;
}

static enum status submit_script(const struct slurm_plan *plan, const char *script, char *after,
                                 char id[SLURM_ID_SIZE], struct error *error)
{
    char path[PATH_MAX], program[] = "sbatch", parsable[] = "--parsable", *text;
    if (snprintf(path, sizeof path, "%s%s/%s", *plan->folder == '/' ? "" : "./", plan->folder,
                 script) >= PATH_MAX)
        return error_set(error, STATUS_TOO_LARGE, "%.64s...: expected a shorter path",
                         plan->folder);
    char *const arguments[] = {program, parsable, after ? after : path, after ? path : NULL, NULL};
    enum status status = run_program(arguments, &text, error);
    if (status == STATUS_OK)
        status = slurm_submitted_read(text ? text : "", id, error);
    free(text);
    return status;
}

enum status slurm_submit(const struct slurm_plan *plan, const struct slurm_state *state,
                         char array_id[SLURM_ID_SIZE], char merge_id[SLURM_ID_SIZE],
                         struct error *error)
{
    enum status status = submit_script(plan, "array.sh", NULL, array_id, error);
    if (status != STATUS_OK)
        return status;
    char *after = dependency(state, array_id);
    status = after ? submit_script(plan, "merge.sh", after, merge_id, error) : error_memory(error);
    free(after);
    return status;
}
