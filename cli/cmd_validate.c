/* `autotune validate`: tune on this machine's processor, but for the tilings that run, which are
 * drawn at random so that they say something of the whole space. */
#include "cli/commands.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "cli/tune_answer.h"

enum { SAMPLE = 32, MAX_THREADS = 1024 };

/* The model's first ones, which always run. */
#define TOP "3"
_Static_assert(MODEL_QUALITY_TOP == 3, "TOP");

struct validate {
    struct task task; /* first */
    int64_t threads;
    struct tune_find find; /* --db, --fresh */
    struct host_run run;
};

static void take_seed(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    struct validate *validate = options;
    validate->run.question.seed = (uint64_t)cli_count_or_none("--seed", text, UINT32_MAX);
}

static const struct cli_option options[] = {
    {.help = "What is measured:", .group = 2},
    {"sample", "N",
     "run N tilings drawn at random from all legal ones (default 32), and the model's first 3", 2,
     .count = offsetof(struct validate, run.question.wanted), .most = HOST_TUNE_MOST},
    {"seed", "S", "another number draws other tilings and inputs (default 1)", 2,
     .take = take_seed},
    {"time-limit", "SECONDS",
     "measure for about so long (default 60), less of each tiling or fewer of them", 2,
     .seconds = offsetof(struct validate, run.question.time_limit_s)},
    {"threads", "N", "threads that search; a processor's space takes one", 2,
     .count = offsetof(struct validate, threads), .most = MAX_THREADS},
    {"db", "DB",
     "a store of answers (SQLite): answer from it what it has, and keep what is measured", 2,
     .text = offsetof(struct validate, find.db)},
    {"fresh", NULL, "measure also what the store has", 2,
     .flag = offsetof(struct validate, find.fresh)},
    {0},
};

static const struct usage usage = {
    .name = "autotune validate",
    .tables = {{options, 0}},
    .args_doc = "--op OP --shape SHAPE --hw host",
    .doc = "Says how far the model of this machine's processor can be trusted: runs tilings drawn "
           "at random, and the model's first ones, and compares predicted and measured times. "
           "Every result is checked against a reference.\v"
           "Examples:\n"
           "  autotune calibrate --hw host\n"
           "  autotune validate --op matmul --shape 512x1024x512 --hw host\n"
           "  autotune validate --op knn --shape 1280x128x20480 --k 16 --hw host \\\n"
           "    --cores 1 --json\n"
           "  autotune validate --op cubefx --shape 16384 --order 16 --functions 3 \\\n"
           "    --hw host --sample 100 --seed 7 --format csv -o sample.csv\n",
};

static void check(struct validate *validate)
{
    if (!validate->task.job.hw->host)
        cli_die("validate: expected --hw host: only this machine can be measured");
    if (validate->find.fresh && !validate->find.db)
        cli_die("--fresh: expected --db, whose answers it does without");
    host_run_check(&validate->task, &validate->run);
    cli_check_files(&validate->task.common);
}

int cmd_validate(int argc, char **argv)
{
    struct validate validate = {
        .task.common.formats = formats_with(format_is_answer),
        .run.question = {.wanted = SAMPLE, .is_sample = true, .seed = 1, .time_limit_s = 60},
    };
    struct job_result result = {0};
    task_parse(&usage, argc, argv, &validate.task, false);
    task_set(&validate.task, "top", TOP);
    task_open(&validate.task);
    check(&validate);
    validate.find.task = &validate.task;
    validate.find.run = &validate.run;
    validate.find.how.threads = cli_threads(validate.threads);
    tune_find_search(&validate.find, &result);
    tune_find_measure(&validate.find, &result);
    struct tune_answer answer = tune_answer_of(&validate.find, &result.search);
    bool found = tune_answer_write(&validate.task, &answer);
    tune_find_close(&validate.find);
    host_run_close(&validate.run);
    job_result_clear(&result);
    task_close(&validate.task);
    stop_close();
    return found ? EXIT_ANSWER : EXIT_NONE;
}
