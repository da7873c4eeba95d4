/* Slurm's programs, started without a shell. */
#include "core/array.h"
#include "jobs/sweep/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the descriptor gives until its end; owned. */
static enum status read_all(int descriptor, char **text, struct error *error)
{
    size_t length;
    char buffer[4096];
    ssize_t got = 0;
    FILE *out = open_memstream(text, &length);
    if (!out)
        return error_memory(error);
    while ((got = read(descriptor, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            fwrite(buffer, 1, (size_t)got, out);
    if (fclose(out) == 0 && *text)
        return STATUS_OK;
    return error_memory(error);
}

static int start(char *const arguments[], int output, pid_t *child)
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
static enum status run(char *const arguments[], char **text, struct error *error)
{
    int ends[2];
    pid_t child;
    *text = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, STATUS_IO, "%s: %s", arguments[0], strerror(errno));
    int failure = start(arguments, ends[1], &child);
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

static bool knows(const struct slurm_state *state, const char *id)
{
    for (int i = 0; i < state->queued_ids; i++)
        if (strcmp(state->ids[i], id) == 0)
            return true;
    return false;
}

static enum status keep_id(struct slurm_state *state, const char *id, struct error *error)
{
    if (knows(state, id))
        return STATUS_OK;
    if (!array_room(&state->ids, state->queued_ids, sizeof *state->ids))
        return error_memory(error);
    snprintf(state->ids[state->queued_ids++], SLURM_ID_SIZE, "%s", id);
    return STATUS_OK;
}

static void take_out(struct slurm_state *state, int shard)
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
            take_out(state, (int)task - 1);
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
    enum status status = run(arguments, &text, error);
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
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "--dependency=afterany:%s", array_id);
    for (int i = 0; i < state->queued_ids; i++)
        fprintf(out, ":%s", state->ids[i]);
    return fclose(out) == 0 ? text : NULL;
}

static enum status submit(const struct slurm_plan *plan, const char *script, char *after,
                          char id[SLURM_ID_SIZE], struct error *error)
{
    char path[PATH_MAX], program[] = "sbatch", parsable[] = "--parsable", *text;
    if (snprintf(path, sizeof path, "%s%s/%s", *plan->folder == '/' ? "" : "./", plan->folder,
                 script) >= PATH_MAX)
        return error_set(error, STATUS_TOO_LARGE, "%.64s...: expected a shorter path",
                         plan->folder);
    char *const arguments[] = {program, parsable, after ? after : path, after ? path : NULL, NULL};
    enum status status = run(arguments, &text, error);
    if (status == STATUS_OK)
        status = slurm_submitted_read(text ? text : "", id, error);
    free(text);
    return status;
}

enum status slurm_submit(const struct slurm_plan *plan, const struct slurm_state *state,
                         char array_id[SLURM_ID_SIZE], char merge_id[SLURM_ID_SIZE],
                         struct error *error)
{
    enum status status = submit(plan, "array.sh", NULL, array_id, error);
    if (status != STATUS_OK)
        return status;
    char *after = dependency(state, array_id);
    status = after ? submit(plan, "merge.sh", after, merge_id, error) : error_memory(error);
    free(after);
    return status;
}
