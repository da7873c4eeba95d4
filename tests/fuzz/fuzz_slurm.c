/* What squeue and sbatch print: tasks that are named in the queue, and no others, are taken out of
 * what is to be submitted. */
#include "jobs/sweep/slurm.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { TASKS = 12 };

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* Is there a line whose second number is this? */
static bool is_named(const char *text, int task)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        text += strspn(text, " \t");
        text += strspn(text, "0123456789");
        if (strtol(text, NULL, 10) == task)
            return true;
    }
    return false;
}

static void read_queue(const char *text)
{
    struct error error = {0};
    bool again[TASKS];
    struct slurm_state state = {.again = again};
    int left = 0;
    for (int i = 0; i < TASKS; i++)
        state.shards_again += again[i] = i % 3 != 0;
    enum status status = slurm_queued_read(text, TASKS, &state, &error);
    fuzz_require_line(status, &error);
    for (int i = 0; i < TASKS; i++) {
        left += again[i];
        if (status == STATUS_OK)
            fuzz_require(again[i] == (i % 3 != 0 && !is_named(text, i + 1)),
                         "what is in the queue is not submitted again, and all else is");
    }
    fuzz_require(left == state.shards_again, "counts are of what is left");
    fuzz_require(state.shards_queued <= TASKS, "a task is in the queue once");
    for (int i = 0; i < state.queued_ids; i++)
        fuzz_require(is_number(state.ids[i]) && strstr(text, state.ids[i]),
                     "an array is a number of the text");
    free(state.ids);
}

static void read_submitted(const char *text)
{
    struct error error = {0};
    char id[SLURM_ID_SIZE];
    enum status status = slurm_submitted_read(text, id, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    fuzz_require(is_number(id) && strspn(text, "0123456789") == strlen(id), "a job is a number");
    fuzz_require(strncmp(text, id, strlen(id)) == 0, "that sbatch has printed");
}

void fuzz_read_slurm(const char *file)
{
    size_t length;
    char *text = fuzz_text(file, &length);
    read_queue(text);
    read_submitted(text);
    free(text);
}
