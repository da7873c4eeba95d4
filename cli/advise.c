#include "cli/advise_answer.h"
#include "cli/commands.h"
#include "core/program_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_APPLY = 4000, KEY_CHAIN };

struct advising {
    struct common common; /* first */
    const char *apply[ADVICE_MAX_STEPS];
    int apply_count;
    int64_t chain; /* steps to look ahead */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Advice:", 1},
    {"apply", KEY_APPLY, "NAME", 0,
     "write the program as this strategy changes it, with -o to a file; several are applied in "
     "their order, and 'best' stands for the best each time until nothing helps",
     1},
    {"chain", KEY_CHAIN, "N", 0,
     "how many changes to try one after the other, the best each time (default 4)", 1},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct advising *advising = state->input;
    switch (key) {
    case KEY_APPLY:
        if (advising->apply_count == ADVICE_MAX_STEPS)
            cli_die("--apply: at most %d strategies", ADVICE_MAX_STEPS);
        advising->apply[advising->apply_count++] = argument;
        return 0;
    case KEY_CHAIN:
        advising->chain = cli_count_or_none("--chain", argument, ADVICE_MAX_STEPS);
        return 0;
    default:
        return cli_parse_child(key, argument, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = common_children,
    .args_doc = "FILE",
    .doc = "Says what to change in a kernel program to make it faster, and what that would save. "
           "Each change is made on a copy, proven safe and to compute the same, and simulated. "
           "FILE - is the standard input.\v"
           "Examples:\n"
           "  autotune advise docs/examples/kernels/softmax.txt\n"
           "  autotune advise kernel.txt --cores 1 --json\n"
           "  autotune advise kernel.txt --apply RUS --apply AIS -o faster.txt\n"
           "  autotune advise kernel.txt --apply best | autotune simulate -\n",
};

/* Takes the changed program of a piece of advice for the current one. */
static void take(struct advice *advice, int64_t before_fs, struct program *current,
                 struct advice_chain *chain)
{
    chain->steps[chain->count++] =
        (struct advice_step){advice->strategy, before_fs, advice->time_fs};
    program_clear(current);
    *current = advice->changed;
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

static void advise_or_die(const struct advising *advising, const char *file,
                          const struct program *program, const struct advice_strategy *strategy,
                          struct advices *advices)
{
    struct error error;
    int cores = (int)advising->common.cores;
    cli_require_of(file, advise(program, cores, strategy, advices, &error), &error);
}

/* The best each time, up to `steps` changes; the first look is at hand. */
static void follow_best(const struct advising *advising, const char *file, struct advices *advices,
                        int64_t steps, struct program *current, struct advice_chain *chain)
{
    while (chain->count < steps && advices->count && advices->items[0].applies) {
        take(&advices->items[0], advices->time_fs, current, chain);
        advices_clear(advices);
        if (chain->count < steps)
            advise_or_die(advising, file, current, NULL, advices);
    }
    advices_clear(advices);
}

/* STEP is one of --apply; false: it changes nothing. */
static bool apply_step(const struct advising *advising, const char *file, const char *step,
                       struct program *current, struct advice_chain *chain)
{
    struct advices advices;
    const struct advice_strategy *strategy = advice_strategy(step);
    int before = chain->count;
    if (!strategy && strcasecmp(step, "best") != 0)
        cli_die("--apply: unknown strategy '%.64s'; `autotune advise FILE` names them, and 'best' "
                "stands for the best each time",
                step);
    if (strategy && !strategy->apply)
        cli_die("--apply: %s (%s) is nothing that a program shows, expected another strategy",
                strategy->name, strategy->title);
    advise_or_die(advising, file, current, strategy, &advices);
    require_safe(file, &advices);
    if (!strategy)
        follow_best(advising, file, &advices, ADVICE_MAX_STEPS, current, chain);
    else if (advices.items[0].applies && chain->count < ADVICE_MAX_STEPS)
        take(&advices.items[0], advices.time_fs, current, chain);
    advices_clear(&advices);
    return chain->count > before;
}

static int apply(const struct advising *advising, const char *file, struct program *program)
{
    struct advise_question question = {file, program->hw, (int)advising->common.cores};
    struct advice_chain chain = {0};
    struct answer answer;
    struct error error;
    for (int i = 0; i < advising->apply_count; i++)
        if (!apply_step(advising, file, advising->apply[i], program, &chain)) {
            cli_warn("%s: %s saves nothing here; nothing is written", file, advising->apply[i]);
            return EXIT_NONE;
        }
    cli_answer_open(&answer, &advising->common);
    enum status status =
        advising->common.format == FORMAT_JSON
            ? advise_write_program_json(&question, program, &chain, answer.stream, &error)
            : advise_write_program(&question, program, &chain, answer.stream, &error);
    cli_require(status, &error);
    cli_answer_close(&answer);
    return EXIT_ANSWER;
}

/* What would be best after the best, found on copies that the answer does not keep. */
static void look_ahead(const struct advising *advising, const char *file,
                       const struct advices *advices, struct advice_chain *chain)
{
    if (advising->chain == 0 || advices->count == 0 || !advices->items[0].applies)
        return;
    const struct advice *best = &advices->items[0];
    struct advices next;
    struct program current = {0};
    chain->steps[chain->count++] =
        (struct advice_step){best->strategy, advices->time_fs, best->time_fs};
    if (advising->chain == 1)
        return;
    advise_or_die(advising, file, &best->changed, NULL, &next);
    follow_best(advising, file, &next, advising->chain, &current, chain);
    program_clear(&current);
}

static int show(const struct advising *advising, const char *file, const struct program *program)
{
    struct advise_question question = {file, program->hw, (int)advising->common.cores};
    struct advices advices;
    struct advice_chain chain = {0};
    struct answer answer;
    struct error error;
    advise_or_die(advising, file, program, NULL, &advices);
    if (advising->common.format != FORMAT_JSON)
        require_safe(file, &advices);
    look_ahead(advising, file, &advices, &chain);
    cli_answer_open(&answer, &advising->common);
    if (advising->common.format == FORMAT_JSON)
        cli_require(advise_write_json(&question, &advices, &chain, answer.stream, &error), &error);
    else
        advise_write_table(&question, &advices, &chain, answer.colour, answer.stream);
    cli_answer_close(&answer);
    advices_clear(&advices);
    return advices.safe ? EXIT_ANSWER : EXIT_NONE;
}

int cmd_advise(int argc, char **argv)
{
    struct advising advising = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON, .chain = 4};
    struct hardware hw;
    struct program program;
    struct error error;
    const char *file;
    if (cli_parse(&argp, "autotune advise", argc, argv, &advising, &file, 1) == 0)
        cli_die("advise: a program file is missing; `autotune advise --help` has examples");
    cli_load_chip(&advising.common, &hw);
    cli_require(program_read(&hw, file, &program, &error), &error);
    int status =
        advising.apply_count ? apply(&advising, file, &program) : show(&advising, file, &program);
    program_clear(&program);
    hardware_clear(&hw);
    return status;
}
