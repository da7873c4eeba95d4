/* `autotune probe`: without a name the procedures that there are, with one its points and what it
 * concludes, with --all what each concludes. All are answered before any is written. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/report_file.h"
#include "core/suggest.h"
#include "formats/json.h"
#include "jobs/calibrate/calibrate.h"
#include "jobs/probe/probe.h"
#include "jobs/probe/subject.h"
#include "results/report_tune.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PROBES = 64 };

struct probe_command {
    struct common common; /* first */
    struct page page;     /* --report */
    bool all;
};

/* What was run, on which chip. */
struct probed {
    struct hardware hw;
    bool all;
    int count;
    struct probe_answer answers[MAX_PROBES];
};

static const struct cli_option options[] = {
    {.help = "Procedures:", .group = 1},
    {"all", NULL, "all procedures, in the order of the paper", 1,
     .flag = offsetof(struct probe_command, all)},
    {"report", "OUT.html", PAGE_HELP, 1, .text = offsetof(struct probe_command, page.output)},
    {0},
};

static const struct usage usage = {
    .name = "autotune probe",
    .tables = {{options, 0}, {hardware_options, 0}},
    .args_doc = "[NAME]",
    .doc = "Finds out what a chip does as AIBench does: small programs whose one size grows, "
           "simulated, and what their times say of widths, cycles, bandwidths and cores, beside "
           "what the description has and what was published of the Ascend 910. On --hw host, this "
           "computer, it measures those that mean something there. Without a name it lists the "
           "procedures.\v"
           "An answer that is written to a file NAME.csv is its curves, as `autotune calibrate "
           "--from` reads them.\n\n"
           "Exit status: 0 answered; 1 the chip has not what the procedure needs; 2 an error.\n\n"
           "Examples:\n"
           "  autotune probe\n"
           "  autotune probe vector-mask --hw ascend910\n"
           "  autotune probe --all --hw ascend910 --report probes.html\n"
           "  autotune probe --all --hw ascend910b1 -o curves.csv\n"
           "  autotune probe working-set --hw host\n",
};

/* ------------------------------------------------------------------ the list */

static int list_probes(struct common *common)
{
    struct error error;
    struct answer answer;
    json_t *rows = json_array();
    cli_check_files(common);
    cli_answer_open(&answer, common);
    for (int p = 0; probes[p]; p++)
        if (common->format == FORMAT_JSON)
            json_array_append_new(rows,
                                  json_pack("{s:s, s:s, s:s}", "name", probes[p]->name, "figure",
                                            probes[p]->figure, "title", probes[p]->title));
        else
            fprintf(answer.stream, "%-15s %-14s %s\n", probes[p]->name, probes[p]->figure,
                    probes[p]->title);
    if (common->format == FORMAT_JSON)
        cli_require(json_write(rows, answer.stream, &error), &error);
    else
        json_decref(rows);
    cli_answer_close(&answer);
    return EXIT_ANSWER;
}

/* ------------------------------------------------------------------ answers */

static const char *how(const struct hardware *hw)
{
    return hw->host ? "measured" : "simulated";
}

static void write_text(const struct probed *probed, struct answer *answer)
{
    fprintf(answer->stream, "probes of %s, %s\n", probed->hw.name, how(&probed->hw));
    text_put_hardware_lines(&probed->hw, &answer->style, answer->stream);
    fprintf(answer->stream, "%sA: AIBench, which measured an Ascend 910%s\n", answer->style.dim,
            answer->style.end);
    for (int i = 0; i < probed->count; i++)
        probe_write_text(&probed->answers[i], probed->count == 1, &answer->style, answer->stream);
}

static void write_curves(const struct probed *probed, struct answer *answer)
{
    char chip[CALIBRATION_CHIP_SIZE];
    struct error error;
    calibration_chip(probed->hw.name, chip);
    probe_write_curves_header(answer->stream);
    for (int i = 0; i < probed->count; i++)
        probe_write_curves(&probed->answers[i], chip, answer->stream);
    if (probed->all)
        cli_require(subject_write_curves(&probed->hw, chip, answer->stream, &error), &error);
}

static void write_json(const struct probed *probed, struct answer *answer)
{
    struct error error;
    json_t *list = json_array();
    for (int i = 0; i < probed->count; i++)
        json_array_append_new(list, probe_json(&probed->answers[i]));
    cli_require(json_write(json_pack("{s:i, s:o, s:o, s:o, s:o}", "schema", 1, "hardware",
                                     json_text(probed->hw.name), "hardware_file",
                                     json_text(probed->hw.file), "hardware_changes",
                                     overrides_json(&probed->hw), "procedures", list),
                           answer->stream, &error),
                &error);
}

static void write_answer(const struct probe_command *command, const struct probed *probed)
{
    static void (*const writers[])(const struct probed *, struct answer *) = {
        [FORMAT_TABLE] = write_text, [FORMAT_JSON] = write_json, [FORMAT_CSV] = write_curves};
    struct answer answer;
    cli_answer_open(&answer, &command->common);
    writers[command->common.format](probed, &answer);
    cli_answer_close(&answer);
}

static void write_page(const struct probe_command *command, const struct probed *probed)
{
    struct report report;
    char title[128];
    snprintf(title, sizeof title, "Probes of %s, %s", probed->hw.name, how(&probed->hw));
    page_open(
        &command->page, title,
        "Programs whose one size grows, and what their times say of the chip, beside what AIBench "
        "(A) measured on an Ascend 910.",
        &report);
    for (int i = 0; i < probed->count; i++)
        probe_report(&report, &probed->answers[i]);
    report_hardware(&report, &probed->hw);
    page_close(&command->page, &command->common, &report);
}

/* ------------------------------------------------------------------ the command */

static const struct probe *find_probe(const char *name)
{
    const struct probe *probe = probe_find(name);
    struct suggestion like = suggest_for(name, -1);
    for (int p = 0; !probe && probes[p]; p++)
        suggest_try(&like, probes[p]->name);
    if (!probe)
        cli_die("probe %.64s: expected a name that `autotune probe` lists%s", name, like.text);
    return probe;
}

static void run_probe(struct probed *probed, const struct probe *probe)
{
    struct error error;
    cli_require(probe_run(probe, &probed->hw, &probed->answers[probed->count++], &error), &error);
}

static int answer_probes(struct probe_command *command, const char *name)
{
    const struct probe *probe = name ? find_probe(name) : NULL;
    struct hardware hw;
    int answered = 0;
    cli_load_hardware(&command->common, &hw);
    if (hw.host && command->common.format == FORMAT_CSV)
        cli_die("probe --hw %s: expected a chip with curves; this computer's are not fitted, "
                "`autotune calibrate --hw host` measures it",
                cli_hardware_name(&command->common));
    cli_check_files(&command->common);
    struct probed *probed = cli_require_memory(calloc(1, sizeof *probed));
    probed->hw = hw;
    probed->all = command->all;
    for (int p = 0; probes[p]; p++)
        if (!probe || probe == probes[p])
            run_probe(probed, probes[p]);
    write_answer(command, probed);
    if (command->page.output)
        write_page(command, probed);
    for (int i = 0; i < probed->count; i++) {
        answered += !probe_why(&probed->answers[i]);
        probe_answer_clear(&probed->answers[i]);
    }
    hardware_clear(&probed->hw);
    free(probed);
    return answered ? EXIT_ANSWER : EXIT_NONE;
}

/* The form of a file follows from its name where it is one of curves. */
static void choose_format(struct common *common)
{
    size_t length = common->output ? strlen(common->output) : 0;
    if (common->format == FORMAT_TABLE && length > 4 &&
        strcmp(common->output + length - 4, ".csv") == 0)
        common->format = FORMAT_CSV;
}

int cmd_probe(int argc, char **argv)
{
    struct probe_command command = {.common.formats =
                                        1 << FORMAT_TABLE | 1 << FORMAT_JSON | 1 << FORMAT_CSV,
                                    .page.command = cli_command_text("probe", argc, argv)};
    const char *name = NULL;
    int names = cli_parse(&usage, argc, argv, &command, &name, 1);
    if (names && command.all)
        cli_die("probe %.64s --all: expected one of them", name);
    if (command.common.cores)
        cli_die("--cores: expected the chip's own; --set-hw cores=N describes another one");
    page_is_wanted(&command.page, &command.common); /* dies of a name that is none */
    choose_format(&command.common);
    bool is_list = !names && !command.all;
    if (is_list && (command.page.output || command.common.format == FORMAT_CSV))
        cli_die("probe: expected the name of a procedure, or --all; `autotune probe` lists them");
    int status = is_list ? list_probes(&command.common) : answer_probes(&command, name);
    cli_close(&command.common);
    free(command.page.command);
    return status;
}
