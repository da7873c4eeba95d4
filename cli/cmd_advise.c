/* `autotune advise`. One loop serves --chain and --apply: ask what helps the program as it is now,
 * take the best, or the one that was named, and ask again about what it made. Before the best is
 * taken, one look ahead tells whether another one opens the way for more (look_ahead). */
#include "analysis/advice/advice.h"
#include "cli/advise_answer.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "core/program_text.h"
#include "core/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct advising {
    struct common common; /* first */
    const char *apply[ADVICE_MAX_STEPS];
    int apply_count;
    int64_t chain; /* steps to look ahead */
};

static void take_apply(const struct cli_option *option, void *options, const char *text)
{
    struct advising *advising = options;
    if (advising->apply_count == ADVICE_MAX_STEPS)
        cli_die("--%s: at most %d strategies", option->name, ADVICE_MAX_STEPS);
    advising->apply[advising->apply_count++] = text;
}

static void take_chain(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    struct advising *advising = options;
    advising->chain = cli_count_or_none("--chain", text, ADVICE_MAX_STEPS);
}

static const struct cli_option options[] = {
    {.help = "Advice:", .group = 1},
    {"apply", "NAME",
     "write the program as this strategy changes it, with -o to a file, or with --format diff as a "
     "patch of FILE; several are applied in their order, and 'best' stands for the best each time "
     "until nothing helps",
     1, .take = take_apply},
    {"chain", "N", "how many changes to try one after the other, the best each time (default 4)", 1,
     .take = take_chain},
    {0},
};

static const struct usage usage = {
    .name = "autotune advise",
    .tables = {{options, 0}, {hardware_options, 0}},
    .args_doc = "FILE",
    .doc = "Says what to change in a kernel program to make it faster, and what that would save. "
           "Each change is made on a copy, proven safe and to compute the same, and simulated. "
           "FILE - is the standard input.\v"
           "Examples:\n"
           "  autotune advise docs/examples/kernels/softmax.txt\n"
           "  autotune advise kernel.txt --cores 1 --json\n"
           "  autotune advise kernel.txt --apply MRT --apply PP -o faster.txt\n"
           "  autotune advise kernel.txt --apply MRT --format diff | patch -p0\n"
           "  autotune advise kernel.txt --apply best | autotune simulate -\n",
};

/* One change after the other. */
struct walk {
    const struct advise_question *question;
    struct program changed; /* owned; before the first change it is empty: hw == NULL */
    struct advice_chain chain;
};

static void take(struct walk *walk, const struct advices *advices, struct advice *advice)
{
    walk->chain.steps[walk->chain.count++] = (struct advice_step){
        advice->strategy, advices->time_fs, advice->time_fs, advice->tidied_fs};
    program_clear(&walk->changed);
    walk->changed = advice->changed;
    advice->changed = (struct program){0};
}

static void require_safe(const char *file, const struct advices *advices)
{
    if (advices->safe)
        return;
    cli_warn("%s: not safe, so there is nothing to advise: %s; `autotune check` says all", file,
             advices->why);
    exit(EXIT_NONE);
}

/* About what the changes so far have made. */
static void ask(const struct walk *walk, const struct advice_strategy *only,
                struct advices *advices)
{
    struct error error;
    const struct program *now = walk->changed.hw ? &walk->changed : walk->question->program;
    cli_require_of(walk->question->file, advise(now, walk->question->cores, only, advices, &error),
                   &error);
}

/* The best each time, up to `steps` changes in all, with an eye on the one after. */
static void follow_best(struct walk *walk, int64_t steps)
{
    struct advices advices;
    struct error error;
    ask(walk, NULL, &advices);
    require_safe(walk->question->file, &advices);
    while (walk->chain.count < steps && advices.items[0].applies) {
        struct advices behind = {0};
        int first = 0;
        if (walk->chain.count + 1 < steps)
            cli_require_of(walk->question->file,
                           look_ahead(&advices, walk->question->cores, &first, &behind, &error),
                           &error);
        take(walk, &advices, &advices.items[first]);
        advices_clear(&advices);
        advices = behind;
    }
    advices_clear(&advices);
}

static void follow_one(struct walk *walk, const struct advice_strategy *strategy)
{
    struct advices advices;
    ask(walk, strategy, &advices);
    require_safe(walk->question->file, &advices);
    if (advices.items[0].applies && walk->chain.count < ADVICE_MAX_STEPS)
        take(walk, &advices, &advices.items[0]);
    advices_clear(&advices);
}

/* STEP is one of --apply; false: it changes nothing. */
static bool apply_step(struct walk *walk, const char *step)
{
    const struct advice_strategy *strategy = advice_strategy(step);
    int before = walk->chain.count;
    if (!strategy && strcasecmp(step, "best") != 0) {
        struct suggestion like = suggest_for(step, -1);
        suggest_try(&like, "best");
        for (int i = 0; advice_strategies[i].name; i++)
            suggest_try(&like, advice_strategies[i].name);
        cli_die("--apply: unknown strategy '%.64s'; `autotune advise FILE` names them, and 'best' "
                "stands for the best each time%s",
                step, like.text);
    }
    if (strategy && !strategy->apply)
        cli_die("--apply: %s (%s) is nothing that a program shows, expected another strategy",
                strategy->name, strategy->title);
    if (strategy)
        follow_one(walk, strategy);
    else
        follow_best(walk, ADVICE_MAX_STEPS);
    return walk->chain.count > before;
}

static int apply(const struct advising *advising, const struct advise_question *question)
{
    static enum status (*const writers[])(const struct advise_question *, const struct program *,
                                          const struct advice_chain *, FILE *, struct error *) = {
        [FORMAT_TABLE] = advise_write_program,
        [FORMAT_JSON] = advise_write_program_json,
        [FORMAT_DIFF] = advise_write_program_diff,
    };
    struct walk walk = {.question = question};
    struct answer answer;
    struct error error;
    for (int i = 0; i < advising->apply_count; i++)
        if (!apply_step(&walk, advising->apply[i])) {
            cli_warn("%s: %s saves nothing here; nothing is written", question->file,
                     advising->apply[i]);
            return EXIT_NONE;
        }
    cli_answer_open(&answer, &advising->common);
    if (advising->common.format == FORMAT_TABLE)
        answer.kind = ANSWER_EXACT;
    cli_require(writers[advising->common.format](question, &walk.changed, &walk.chain,
                                                 answer.stream, &error),
                &error);
    cli_answer_close(&answer);
    program_clear(&walk.changed);
    return EXIT_ANSWER;
}

static int show(const struct advising *advising, const struct advise_question *question)
{
    struct walk walk = {.question = question};
    struct advices advices;
    struct answer answer;
    struct error error;
    if (advising->common.format == FORMAT_DIFF)
        cli_die("--format diff: of which change? expected --apply NAME too");
    ask(&walk, NULL, &advices);
    if (advising->common.format != FORMAT_JSON)
        require_safe(question->file, &advices);
    if (advices.safe && advising->chain > 0)
        follow_best(&walk, advising->chain);
    cli_answer_open(&answer, &advising->common);
    enum status status = advising->common.format == FORMAT_JSON
                             ? advise_write_json(question, &advices, &walk.chain, &answer.style,
                                                 answer.stream, &error)
                             : advise_write_table(question, &advices, &walk.chain, &answer.style,
                                                  answer.stream, &error);
    cli_require(status, &error);
    cli_answer_close(&answer);
    program_clear(&walk.changed);
    advices_clear(&advices);
    return advices.safe ? EXIT_ANSWER : EXIT_NONE;
}

int cmd_advise(int argc, char **argv)
{
    struct advising advising = {
        .common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON | 1 << FORMAT_DIFF, .chain = 4};
    struct hardware hw;
    struct program program;
    struct program_source source;
    struct error error;
    const char *file;
    if (cli_parse(&usage, argc, argv, &advising, &file, 1) == 0)
        cli_die("advise: a program file is missing; `autotune advise --help` has examples");
    cli_reads(&advising.common, file);
    cli_load_chip(&advising.common, &hw);
    cli_check_files(&advising.common);
    cli_require(program_read_source(&hw, file, &program, &source, &error), &error);
    struct advise_question question = {file, &program, &source,
                                       cli_program_cores(&advising.common, &program)};
    int status = (advising.apply_count ? apply : show)(&advising, &question);
    program_source_clear(&source);
    program_clear(&program);
    hardware_clear(&hw);
    cli_close(&advising.common);
    return status;
}
