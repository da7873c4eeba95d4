/* `autotune simulate`. Plays the program once, with a log for the trace where one is asked for. A
 * program that is short enough is checked beside, since times of an unsafe one mean nothing. */
#include "analysis/check/check.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/trace_file.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"

#include <stdlib.h>

struct options {
    struct common common; /* first */
    const char *trace;
    bool separately, skew, execute_fully;
};

enum { MOST_CHECKED = 2000000 }; /* instructions that a core plays: a second at most */

static const struct cli_option options_list[] = {
    {.help = "Simulation:", .group = 1},
    {"trace", "OUT.json", "write a trace that Perfetto and chrome://tracing open", 1,
     .text = offsetof(struct options, trace)},
    {"separately", NULL,
     "play every core by itself instead of one that stands for all (the time is the same)", 1,
     .flag = offsetof(struct options, separately)},
    {"skew", NULL,
     "cores start one after the other, by the description's core_skew_ns (implies --separately)", 1,
     .flag = offsetof(struct options, skew)},
    {"full", NULL, "play loops to their end even where they repeat exactly (the time is the same)",
     1, .flag = offsetof(struct options, execute_fully)},
    {0},
};

static const struct usage usage = {
    .name = "autotune simulate",
    .tables = {{options_list, 0}, {hardware_options, 0}},
    .args_doc = "FILE",
    .doc = "Plays a kernel program instruction by instruction and says how long it takes and what "
           "each pipe does. FILE - is the standard input.\v"
           "Examples:\n"
           "  autotune simulate docs/examples/kernels/cubeKer.txt\n"
           "  autotune simulate kernel.txt --cores 1 --trace timeline.json\n"
           "  autotune program --op matmul --shape 512x512x512 | autotune simulate -\n",
};

static void play(const struct options *options, const char *file, const struct program *program,
                 struct timeline *timeline)
{
    struct error error;
    struct trace_log log;
    struct simulator *simulator = cli_require_memory(simulator_new());
    trace_log_open(&log);
    struct simulate_options how = {
        .cores = cli_program_cores(&options->common, program),
        .separately = options->separately,
        .skew = options->skew,
        .execute_fully = options->execute_fully,
        .trace = options->trace ? &log.trace : NULL,
    };
    cli_require_of(file, simulate(simulator, program, &how, timeline, &error), &error);
    if (options->trace)
        cli_require(simulation_trace_write(&options->common.files, options->trace, &log, program,
                                           how.cores, !options->separately, &error),
                    &error);
    trace_log_close(&log);
    simulator_free(simulator);
}

/* How long an unsafe program takes is of no use. Only where the check is sure to take no time to
 * speak of, and without what is no error: superfluous synchronisation. */
static void warn_of_hazards(const struct common *common, const char *file,
                            const struct program *program)
{
    struct check check;
    struct error error;
    if (common->quiet)
        return;
    if (program->executed > MOST_CHECKED) {
        if (common->verbose)
            cli_warn("%s: too long to be checked beside; `autotune check` does it", file);
        return;
    }
    if (program_check_safety(program, &check, &error) != STATUS_OK)
        return;
    if (check.count) {
        char *command = cli_file_command("check", common, file);
        cli_warn("%s: unsafe, %zu finding%s%s; `%s` names them", file, check.count,
                 check.count == 1 ? "" : "s", check.truncated ? " and more" : "", command);
        free(command);
    }
    check_clear(&check);
}

int cmd_simulate(int argc, char **argv)
{
    struct options options = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct hardware hw;
    struct program program;
    struct timeline timeline;
    struct error error;
    struct answer answer;
    const char *file;
    if (cli_parse(&usage, argc, argv, &options, &file, 1) == 0)
        cli_die("simulate: a program file is missing; `autotune simulate --help` has examples");
    options.separately |= options.skew;
    cli_reads(&options.common, file);
    cli_load_chip(&options.common, &hw);
    cli_check_files(&options.common);
    cli_require(program_read(&hw, file, &program, &error), &error);
    play(&options, file, &program, &timeline);
    warn_of_hazards(&options.common, file, &program);
    struct simulation simulation = {file, &program, &timeline,
                                    cli_program_cores(&options.common, &program),
                                    !options.separately};
    cli_answer_open(&answer, &options.common);
    cli_require_of(
        file,
        (options.common.format == FORMAT_JSON ? simulation_write_json : simulation_write_table)(
            &simulation, &answer.style, answer.stream, &error),
        &error);
    cli_answer_close(&answer);
    program_clear(&program);
    hardware_clear(&hw);
    cli_close(&options.common);
    return timeline.blocked >= 0 ? EXIT_NONE : EXIT_ANSWER;
}
