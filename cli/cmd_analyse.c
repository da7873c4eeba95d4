/* `autotune analyse`. A profiler's table goes to analyse_profile.c; a program is simulated once,
 * and its diagnosis written in the format asked for, or drawn on a page. */
#include "analysis/roofline.h"
#include "cli/analyse_profile.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "formats/text.h"
#include "jobs/tune/report_program.h"
#include "results/analysis_write.h"
#include "results/diagnosis_write.h"
#include "results/report_tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct common common; /* first */
    struct diagnosis_thresholds thresholds;
    int64_t top; /* 0: not given */
    struct page page;
};

enum { DEFAULT_TOP = 10, MAX_TOP = 100000 };

static double share(const struct cli_option *option, const char *text)
{
    double value = cli_number(text);
    if (isnan(value) || value <= 0 || value > 1)
        cli_die("--%s %.32s: expected a number more than 0 and at most 1, such as 0.8",
                option->name, text);
    return value;
}

static void take_active(const struct cli_option *option, void *options, const char *text)
{
    ((struct options *)options)->thresholds.active = share(option, text);
}

static void take_utilisation(const struct cli_option *option, void *options, const char *text)
{
    ((struct options *)options)->thresholds.utilisation = share(option, text);
}

static void take_utilisation_cube(const struct cli_option *option, void *options, const char *text)
{
    ((struct options *)options)->thresholds.utilisation_matrix = share(option, text);
}

static const struct cli_option options_list[] = {
    {.help = "Thresholds, more than 0 and at most 1:", .group = 1},
    {"active-ratio", "R",
     "share of the time from which on a component is active all the time (default: 0.8)", 1,
     .take = take_active},
    {"utilisation", "U",
     "utilisation from which on a component bounds an operator without matrix work "
     "(default: 0.65)",
     1, .take = take_utilisation},
    {"utilisation-cube", "U", "the same of an operator with matrix work (default: 0.8)", 1,
     .take = take_utilisation_cube},
    {.help = "Profiles:", .group = 2},
    {"top", "N", "of a profile, list the N operators that take most of the time (default 10)", 2,
     .count = offsetof(struct options, top), .most = MAX_TOP},
    {.help = "What the answer adds:", .group = 3},
    {"report", "OUT.html", PAGE_HELP, 3, .text = offsetof(struct options, page.output)},
    {0},
};

static const struct usage usage = {
    .name = "autotune analyse",
    .tables = {{options_list, 0}, {hardware_options, 0}},
    .args_doc = "FILE...",
    .doc =
        "Says what limits a kernel program: simulates it and compares what each pipe and bus "
        "did with what it could have done. FILE - is the standard input. Of a profiler's table "
        "(op_summary, kernel_details, msopprof's tables; any mode of collection) it says that of "
        "every row, and of all together; --hw is then the chip that it was taken on. Several "
        "such tables of one run, or a folder of them, are joined.\v"
        "Examples:\n"
        "  autotune analyse docs/examples/kernels/cubeKer.txt\n"
        "  autotune analyse kernel.txt --hw ascend910b1 --cores 1 --json\n"
        "  autotune analyse kernel.txt --format html -o kernel.html\n"
        "  autotune program --op matmul --shape 512x512x512 | autotune analyse -\n"
        "  autotune analyse op_summary.csv --top 20\n"
        "  zcat op_summary.csv.gz | autotune analyse -\n"
        "  autotune analyse docs/examples/profile --hw ascend910b3\n"
        "  autotune analyse pipe.csv memory-access.csv arithmetic.csv --hw ascend910b3\n"
        "  autotune analyse kernel_details.csv --format csv -o rows.csv\n",
};

static void play(const char *file, const struct program *program, int cores,
                 struct timeline *timeline)
{
    struct error error;
    struct simulate_options how = {.cores = cores};
    struct simulator *simulator = cli_require_memory(simulator_new());
    cli_require_of(file, simulate(simulator, program, &how, timeline, &error), &error);
    simulator_free(simulator);
}

static enum status write_csv(const struct diagnosis_answer *answer, const struct style *style,
                             FILE *out, struct error *error)
{
    (void)style;
    return analyse_write_csv(answer->diagnosis, out, error);
}

static void write_answer(const struct options *options, const struct diagnosis_answer *diagnosed)
{
    static enum status (*const writers[])(const struct diagnosis_answer *, const struct style *,
                                          FILE *, struct error *) = {
        [FORMAT_TABLE] = diagnosis_write_table,
        [FORMAT_JSON] = diagnosis_write_json,
        [FORMAT_CSV] = write_csv,
    };
    struct error error;
    struct answer answer;
    cli_answer_open(&answer, &options->common);
    cli_require_of(diagnosed->file,
                   writers[options->common.format](diagnosed, &answer.style, answer.stream, &error),
                   &error);
    cli_answer_close(&answer);
}

static void write_page(const struct options *options, const struct program *program,
                       const struct timeline *timeline, const struct diagnosis *diagnosis)
{
    struct report report;
    struct error error;
    char title[DIAGNOSIS_NAME_SIZE + 80], lead[160], time[TEXT_SIZE];
    bool known = diagnosis->verdict != VERDICT_NONE && diagnosis->component >= 0;
    snprintf(title, sizeof title, "%s on %s", diagnosis->name, program->hw->name);
    snprintf(lead, sizeof lead, "%s%s%s%s%s",
             diagnosis->time_ns < 0 ? "it never ends" : text_time(diagnosis->time_ns, time),
             known ? "; " : "", known ? verdict_name(diagnosis->verdict) : "", known ? ": " : "",
             known ? diagnosis->components[diagnosis->component].name : "");
    page_open(&options->page, title, lead, &report);
    cli_require(report_program(&report, program, cli_program_cores(&options->common, program), NULL,
                               timeline, &options->thresholds, NULL, &error),
                &error);
    report_hardware(&report, program->hw);
    page_close(&options->page, &options->common, &report);
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
    cli_check_files(&options->common);
    int cores = cli_program_cores(&options->common, &program);
    play(file, &program, cores, &timeline);
    diagnosis_of_program(&program, &timeline, cores, &diagnosis);
    snprintf(diagnosis.name, sizeof diagnosis.name, "%s", text_file_name(file));
    diagnose(&diagnosis, &options->thresholds);
    if (options->common.format != FORMAT_HTML)
        write_answer(options, &(struct diagnosis_answer){file, &hw, cores, &options->thresholds,
                                                         &diagnosis});
    if (page_is_wanted(&options->page, &options->common))
        write_page(options, &program, &timeline, &diagnosis);
    program_clear(&program);
    hardware_clear(&hw);
    return timeline.blocked >= 0 ? EXIT_NONE : EXIT_ANSWER;
}

static int analyse_profiles(struct options *options, const char *const *words, int count)
{
    struct profile_files files;
    profile_files_take(words, count, &files);
    for (int i = 0; i < files.count; i++)
        cli_reads(&options->common, files.names[i]);
    int status = analyse_profile_file(&options->common, &options->thresholds,
                                      options->top ? (int)options->top : DEFAULT_TOP,
                                      &options->page, &files);
    profile_files_clear(&files);
    return status;
}

static int analyse_words(struct options *options, const char *const *words, int count)
{
    for (int i = 0; i < count && count > 1; i++)
        if (strcmp(words[i], "-") != 0 && !analyse_is_folder(words[i]) &&
            !analyse_is_profile(words[i]))
            cli_die("%s: a program, expected one alone, or profiles that are joined", words[i]);
    if (count > 1 || analyse_is_folder(words[0]) || analyse_is_profile(words[0]))
        return analyse_profiles(options, words, count);
    if (options->top)
        cli_die("--top: %s is a program, expected a profiler's table", words[0]);
    cli_reads(&options->common, words[0]);
    return analyse_program(options, words[0]);
}

int cmd_analyse(int argc, char **argv)
{
    struct options options = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON |
                                                1 << FORMAT_CSV | 1 << FORMAT_HTML,
                              .thresholds = diagnosis_default_thresholds,
                              .page.command = cli_command_text("analyse", argc, argv)};
    const char *words[PROFILE_MAX_FILES];
    int count = cli_parse(&usage, argc, argv, &options, words, PROFILE_MAX_FILES);
    if (count == 0)
        cli_die("analyse: a program file is missing, or a profile; `autotune analyse --help` has "
                "examples");
    page_is_wanted(&options.page, &options.common);
    int status = analyse_words(&options, words, count);
    free(options.page.command);
    cli_close(&options.common);
    return status;
}
