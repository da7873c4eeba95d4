/* The text of an answer as a store keeps it, put to questions of each kind: it is refused, or it is
 * an answer that is kept as the same text again and that every format can show. */
#include "cli/commands.h"
#include "jobs/tune/host_job.h"
#include "jobs/tune/job_store.h"
#include "kernels/registry.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OPTIONS = 8 };

struct question {
    const char *options[MOST_OPTIONS][2]; /* name and value */
    bool is_measured;
};

static const struct question questions[] = {
    {{{"op", "matmul"}, {"shape", "64x64x64"}, {"top", "2"}}, false},
    {{{"op", "knn"}, {"shape", "64x16x256"}, {"k", "2"}}, false},
    {{{"op", "cubefx"}, {"shape", "1024"}, {"order", "4"}, {"functions", "2"}}, false},
    {{{"op", "matmul"}, {"shape", "64x64x64"}, {"hw", "ascend910b1"}, {"robust", "yes"}}, false},
    {{{"op", "matmul"},
      {"shape", "64x64x64"},
      {"hw", SOURCE_DIR "/tests/support/host-loops.cfg"},
      {"cores", "1"},
      {"validate", "3"}},
     true},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static struct job *open_job(const struct question *question)
{
    struct error error;
    struct job *job = malloc(sizeof *job);
    fuzz_require(job != NULL, "memory");
    job_init(job);
    for (int i = 0; question->options[i][0]; i++)
        fuzz_require_ok(job_set(job, question->options[i][0], question->options[i][1], &error),
                        &error);
    fuzz_require_ok(job_open(job, NULL, &error), &error);
    return job;
}

/* ------------------------------------------------------------------ decoded */

static void require_record(enum status status, bool worth, struct job_record *record, char **text,
                           const struct error *error)
{
    fuzz_require_ok(status, error);
    fuzz_require(worth, "an answer is worth keeping");
    fuzz_require((record->row.time_ns > 0) == (*record->row.tiling != 0), "a tiling has a time");
    fuzz_require_json(record->answer, strlen(record->answer));
    *text = strdup(record->answer);
    job_record_clear(record);
}

/* What would be kept of the answer; NULL where it is refused. The caller frees it. */
static char *simulated_again(const struct job *job, const char *answer)
{
    struct job_record record;
    struct job_result result;
    struct error error = {0};
    bool worth;
    char *text = NULL;
    enum status status = job_decode(job, answer, &result, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return NULL;
    status = job_record(job, &result, false, &worth, &record, &error);
    if (status != STATUS_OK || worth)
        require_record(status, worth, &record, &text, &error);
    job_result_clear(&result);
    return text;
}

static char *measured_again(const struct job *job, const char *answer)
{
    const struct host_question question = host_job_question(job);
    struct job_record record;
    struct host_answer found;
    struct error error = {0};
    bool worth;
    char *text = NULL;
    enum status status = host_job_decode(job, answer, &found, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return NULL;
    status = host_job_record(job, &question, &found, &worth, &record, &error);
    if (status != STATUS_OK || worth)
        require_record(status, worth, &record, &text, &error);
    host_answer_clear(&found);
    return text;
}

/* ------------------------------------------------------------------ shown */

static void put(const struct job *job, const char *answer, const char *db)
{
    struct job_key_texts texts;
    struct store_row row = {.hardware_name = "", .tiling = "", .optimal = true, .answer = answer};
    struct store *store;
    struct error error;
    job_key(job, &texts, &row.key);
    fuzz_require_ok(store_open(db, STORE_WRITE, &store, &error), &error);
    fuzz_require_ok(store_put(store, &row, &error), &error);
    fuzz_require_ok(store_commit(store, &error), &error);
    store_close(store);
}

static void show(const struct question *question, const char *db, const char *format)
{
    char words[MOST_OPTIONS * 2 + 4][256], *list[MOST_OPTIONS * 2 + 5];
    int count = 0;
    struct fuzz_answer answer;
    strcpy(words[count++], "tune");
    for (int i = 0; question->options[i][0]; i++)
        snprintf(words[count++], sizeof *words,
                 strcmp(question->options[i][0], "robust") ? "--%s=%s" : "--%s",
                 question->options[i][0], question->options[i][1]);
    snprintf(words[count++], sizeof *words, "--db=%s", db);
    snprintf(words[count++], sizeof *words, "--format=%s", format);
    for (int i = 0; i < count; i++)
        list[i] = words[i];
    list[count] = NULL;
    fuzz_run(cmd_tune, count, list, &answer);
    fuzz_require(answer.status == EXIT_ANSWER || answer.status == EXIT_NONE,
                 "an answer that is taken is shown");
    if (strcmp(format, "json") == 0)
        fuzz_require_json(answer.out, answer.out_length);
    fuzz_require(!strstr(answer.out, "nan") && !strstr(answer.out, "inf"),
                 "an answer has no number that is none");
    fuzz_answer_clear(&answer);
}

static void show_all(const struct question *question, const struct job *job, const char *answer)
{
    static const char *const forms[] = {"json", "table", "csv"};
    char db[FUZZ_PATH_SIZE];
    put(job, answer, fuzz_path(".db", db));
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        show(question, db, forms[f]);
    unlink(db);
}

static void ask(const struct question *question, const struct job *job, const char *answer)
{
    char *(*again)(const struct job *, const char *) =
        question->is_measured ? measured_again : simulated_again;
    char *once = again(job, answer);
    if (!once)
        return;
    char *twice = again(job, once);
    fuzz_require(twice && strcmp(once, twice) == 0, "what is kept is the same answer");
    free(once);
    free(twice);
    if (!question->is_measured)
        show_all(question, job, answer);
}

/* Jobs stay open from one text to the next. */
void fuzz_read_answer(const char *file)
{
    static struct job *jobs[QUESTIONS];
    size_t length;
    char *text = fuzz_text(file, &length);
    for (int q = 0; q < QUESTIONS; q++) {
        if (!operator_find(questions[q].options[0][1]))
            continue;
        if (!jobs[q])
            jobs[q] = open_job(&questions[q]);
        ask(&questions[q], jobs[q], text);
    }
    free(text);
}
