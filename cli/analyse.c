#include "analysis/roofline.h"
#include "cli/commands.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "results/diagnosis.h"

#include <math.h>

struct options {
    struct common common; /* first */
    struct diagnosis_thresholds thresholds;
};

enum { KEY_ACTIVE = 4000, KEY_UTILISATION, KEY_UTILISATION_CUBE };

static const struct argp_option options_list[] = {
    {NULL, 0, NULL, 0, "Thresholds, more than 0 and at most 1:", 1},
    {"active-ratio", KEY_ACTIVE, "R", 0,
     "share of the time from which on a component is active all the time (default: 0.8)", 1},
    {"utilisation", KEY_UTILISATION, "U", 0,
     "utilisation from which on a component bounds an operator without matrix work "
     "(default: 0.65)",
     1},
    {"utilisation-cube", KEY_UTILISATION_CUBE, "U", 0,
     "the same of an operator with matrix work (default: 0.8)", 1},
    {0},
};

static double share(const char *option, const char *text)
{
    double value = cli_number(text);
    if (isnan(value) || value <= 0 || value > 1)
        cli_die("%s '%.32s', expected a number more than 0 and at most 1, such as 0.8", option,
                text);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_ACTIVE:
        options->thresholds.active = share("--active-ratio", argument);
        return 0;
    case KEY_UTILISATION:
        options->thresholds.utilisation = share("--utilisation", argument);
        return 0;
    case KEY_UTILISATION_CUBE:
        options->thresholds.utilisation_matrix = share("--utilisation-cube", argument);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options_list,
    .parser = parse,
    .children = children,
    .args_doc = "FILE",
    .doc = "Says what limits a kernel program: simulates it and compares what each pipe and bus "
           "did with what it could have done. FILE - is the standard input.\v"
           "Examples:\n"
           "  autotune analyse docs/examples/kernels/cubeKer.txt\n"
           "  autotune analyse kernel.txt --hw ascend910b1 --cores 1 --json\n"
           "  autotune program --op matmul --shape 512x512x512 | autotune analyse -\n",
};

static void play(const char *file, const struct program *program, int cores,
                 struct timeline *timeline)
{
    struct error error;
    struct simulate_options how = {.cores = cores};
    struct simulator *simulator = simulator_new();
    if (!simulator)
        cli_die("out of memory");
    cli_require_of(file, simulate(simulator, program, &how, timeline, &error), &error);
    simulator_free(simulator);
}

static void write_answer(const struct options *options, const struct diagnosis_answer *diagnosed)
{
    struct error error;
    struct answer answer;
    cli_answer_open(&answer, &options->common);
    cli_require_of(diagnosed->file,
                   (options->common.format == FORMAT_JSON
                        ? diagnosis_write_json
                        : diagnosis_write_table)(diagnosed, answer.colour, answer.stream, &error),
                   &error);
    cli_answer_close(&answer);
}

static int analyse_program(struct options *options, const char *file)
{
    struct hardware hw;
    struct program program;
    struct timeline timeline;
    struct diagnosis diagnosis;
    struct error error;
    cli_load_chip(&options->common, &hw);
    cli_require(program_read(&hw, file, &program, &error), &error);
    int cores = (int)options->common.cores;
    play(file, &program, cores, &timeline);
    diagnosis_of_program(&program, &timeline, cores, &diagnosis);
    snprintf(diagnosis.name, sizeof diagnosis.name, "%s", file);
    diagnose(&diagnosis, &options->thresholds);
    write_answer(options,
                 &(struct diagnosis_answer){file, &hw, cores, &options->thresholds, &diagnosis});
    program_clear(&program);
    hardware_clear(&hw);
    return timeline.blocked >= 0 ? EXIT_NONE : EXIT_ANSWER;
}

int cmd_analyse(int argc, char **argv)
{
    struct options options = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON,
                              .thresholds = diagnosis_default_thresholds};
    const char *file;
    if (cli_parse(&argp, "autotune analyse", argc, argv, &options, &file, 1) == 0)
        cli_die("analyse: a program file is missing; `autotune analyse --help` has examples");
    return analyse_program(&options, file);
}
