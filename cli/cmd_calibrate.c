/* `autotune calibrate`. Measurements are told apart by their names: curves (.csv) are fitted first,
 * since kernels are then fitted with what the curves have settled. The description goes to -o as a
 * whole, and the answer says what was fitted; the host, which is measured, has a file of its
 * own. */
#include "cli/answer.h"
#include "cli/cmd_calibrate_host.h"
#include "cli/cmd_calibrate_learn.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "formats/bank.h"
#include "formats/json.h"
#include "formats/text.h"
#include "jobs/calibrate/calibrate.h"
#include "jobs/evaluate/evaluation.h"
#include "results/outline.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { MAX_FILES = 16, MAX_THREADS = 1024, MAX_ROUNDS = 1000 };

struct calibrate {
    struct common common; /* first */
    const char *files[MAX_FILES];
    int file_count;
    const char *chip, *output;
    bool keep_going;
    const char *of_fits; /* an option that only fits have, or NULL */
    int64_t threads;     /* 0: not given */
    struct kernel_options kernels;
    bool learns;
    const char *pools[MAX_FILES]; /* NAME=FILE */
    int pool_count;
    int64_t seed; /* 0: not given */
};

static double parse_between(const struct cli_option *option, const char *text, double low,
                            double high, const char *expected)
{
    char *end;
    double number = strtod(text, &end);
    bool plain = *text && !text[strspn(text, "+-.0123456789eE")] && !*end;
    if (!plain || !(number >= low && number <= high))
        cli_die("--%s %.64s: expected %s", option->name, text, expected);
    return number;
}

/* The first option given that the host does not have. */
static void note_fit(const struct cli_option *option, void *options, const char *text)
{
    (void)text;
    struct calibrate *calibrate = options;
    if (!calibrate->of_fits)
        calibrate->of_fits = option->name;
}

static void take_file(const struct cli_option *option, void *options, const char *file)
{
    struct calibrate *calibrate = options;
    note_fit(option, calibrate, file);
    if (calibrate->file_count == MAX_FILES)
        cli_die("--%s: expected at most %d files", option->name, MAX_FILES);
    calibrate->files[calibrate->file_count++] = file;
}

static void take_pool(const struct cli_option *option, void *options, const char *text)
{
    struct calibrate *calibrate = options;
    const char *equals = strchr(text, '=');
    note_fit(option, calibrate, text);
    if (!equals || equals == text || !equals[1])
        cli_die("--%s %.64s: expected NAME=FILE, a description and a bank", option->name, text);
    if (calibrate->pool_count == MAX_FILES)
        cli_die("--%s: expected at most %d", option->name, MAX_FILES);
    calibrate->pools[calibrate->pool_count++] = text;
}

static void take_held_out(const struct cli_option *option, void *options, const char *text)
{
    struct calibrate *calibrate = options;
    note_fit(option, calibrate, text);
    calibrate->kernels.held_out =
        parse_between(option, text, 0, 0.9, "a share of the shapes, from 0 to 0.9");
}

static void take_time_limit(const struct cli_option *option, void *options, const char *text)
{
    struct calibrate *calibrate = options;
    note_fit(option, calibrate, text);
    calibrate->kernels.time_limit_s =
        parse_between(option, text, 1e-9, 1e9, "seconds, more than 0");
}

static const struct cli_option options[] = {
    {.help = "Measurements:", .group = 2},
    {"from", "FILE",
     "measurements: a .csv of instruction curves or of times of programs (`probe --all`), or a "
     "bank of measured kernels; may be repeated",
     2, .take = take_file},
    {"chip", "NAME", "whose curves apply (default: the description's, as in 910b1)", 2,
     .text = offsetof(struct calibrate, chip), .take = note_fit},
    {"keep-going", NULL, "leave out records of a bank that break a rule", 2,
     .flag = offsetof(struct calibrate, keep_going), .take = note_fit},
    {.help = "The fit to kernels:", .group = 3},
    {"fit", "KEY,KEY,...", "the numbers to fit (default: all in docs/calibrate.md)", 3,
     .text = offsetof(struct calibrate, kernels.keys), .take = note_fit},
    {"holdout", "SHARE",
     "share of the shapes that the fit does not see and is judged by (default 0.5)", 3,
     .take = take_held_out},
    {"rounds", "N", "begin the search anew at most N times (default 6)", 3,
     .count = offsetof(struct calibrate, kernels.rounds), .most = MAX_ROUNDS, .take = note_fit},
    {"time-limit", "SECONDS", "stop after this time with the best so far", 3,
     .take = take_time_limit},
    {.help = "A learned correction:", .group = 4},
    {"learn", NULL,
     "learn from the kernels of the banks how far off the simulator is, or from runs of networks "
     "(.csv) what operators take, and write that with -o",
     4, .flag = offsetof(struct calibrate, learns), .take = note_fit},
    {"pool", "NAME=FILE", "also from a bank of another chip; may be repeated", 4,
     .take = take_pool},
    {"seed", "N", "of what is drawn at random (default 1)", 4,
     .count = offsetof(struct calibrate, seed), .most = INT32_MAX, .take = note_fit},
    {.help = "All:", .group = 5},
    {"threads", "N",
     "threads (default: all processors); the answer is the same. Of the host: those that are "
     "measured (default: one a core)",
     5, .count = offsetof(struct calibrate, threads), .most = MAX_THREADS},
    {0},
};

static const struct usage usage = {
    .name = "autotune calibrate",
    .tables = {{options, 0}, {hardware_options, 0}},
    .doc =
        "Fits a description to measurements and writes it, complete, with -o: moves and the "
        "matrix unit to curves of single instructions, the rest to whole kernels, or all that a "
        "time depends on to times of programs, which `autotune probe --all` writes. Prints what "
        "was fitted to what, how well, and how well both halves of the kernels are predicted "
        "before and after. Without -o nothing is written but the table.\n"
        "With --learn it learns from whole kernels what is left of the simulator's error, and "
        "writes that as a correction, which answers show when it stands beside its description as "
        "NAME.correction.json; from runs of networks (tables of measured calls, .csv) what their "
        "operators take, which `autotune network` uses as NAME.network.json.\n"
        "With --hw host it measures the processor of this machine instead, in some fifteen seconds "
        "in which it should do nothing else, and writes its description to where --hw host is "
        "looked up, or to FILE with -o.\v"
        "Examples:\n"
        "  autotune calibrate --hw host\n"
        "  autotune calibrate --hw ascend910b1 --from instruction-curves.csv \\\n"
        "    -o my910b1.cfg\n"
        "  autotune calibrate --hw my910b2.cfg --from probes.csv -o probed.cfg\n"
        "  autotune calibrate --hw my910b2.cfg --from repository.jsonl \\\n"
        "    --time-limit 600 -o fitted.cfg\n"
        "  autotune calibrate --hw ascend910b2 --chip 910b1 --from curves.csv --json\n"
        "  autotune calibrate --hw my910b2.cfg --learn --from repository.jsonl \\\n"
        "    -o my910b2.correction.json\n"
        "  autotune calibrate --hw ascend910 --learn --from bert_32.csv \\\n"
        "    --from resnet50_16.csv -o ascend910.network.json\n",
};

/* ---- stop and progress ---- */

static void tell(void *context, int64_t trials, double first, double best)
{
    char note[96];
    (void)context;
    snprintf(note, sizeof note, " trials  mean |ln(predicted / measured)| %.4f, was %.4f", best,
             first);
    progress_tell(&(struct progress_now){.phase = "fitting", .done = trials, .note = note});
}

/* ---- files ---- */

static bool is_csv(const char *file)
{
    size_t length = strlen(file);
    return length > 4 && strcasecmp(file + length - 4, ".csv") == 0;
}

/* The rows of all banks behind each other; the texts that they point to stay with their banks. */
struct rows {
    struct bank banks[MAX_FILES];
    int bank_count;
    struct bank_row *rows;
    size_t count;
    char from[96];
};

static void load_rows(const struct calibrate *calibrate, struct rows *rows)
{
    struct error error;
    memset(rows, 0, sizeof *rows);
    for (int f = 0; f < calibrate->file_count; f++) {
        if (is_csv(calibrate->files[f]))
            continue;
        struct bank *bank = &rows->banks[rows->bank_count++];
        const char *slash = strrchr(calibrate->files[f], '/');
        cli_require(bank_load(calibrate->files[f], BANK_AUTO, calibrate->keep_going, bank, &error),
                    &error);
        rows->rows = cli_require_memory(
            realloc(rows->rows, (rows->count + bank->count + 1) * sizeof *rows->rows));
        memcpy(rows->rows + rows->count, bank->rows, bank->count * sizeof *rows->rows);
        rows->count += bank->count;
        snprintf(rows->from + strlen(rows->from), sizeof rows->from - strlen(rows->from), "%s%.60s",
                 rows->from[0] ? ", " : "", slash ? slash + 1 : calibrate->files[f]);
    }
}

static void clear_rows(struct rows *rows)
{
    for (int b = 0; b < rows->bank_count; b++)
        bank_clear(&rows->banks[b]);
    free(rows->rows);
}

/* ---- the answer ---- */

static void put_text(const struct calibration *calibration, const char *output,
                     struct answer *answer)
{
    char line[TEXT_LINE_SIZE];
    const struct style *style = &answer->style;
    json_t *tables = calibration_json(calibration), *value;
    void *next;
    const char *key;
    fprintf(answer->stream, "%s%s%s, fitted to measurements on %s\n", style->bold,
            calibration->hw.name, style->end, calibration->chip);
    text_put_hardware(&calibration->hw, style, answer->stream);
    if (output)
        fprintf(answer->stream, "written to %s\n", text_line(output, line));
    if (calibration->rejected_points)
        fprintf(answer->stream, "%d points rejected, the first in %s:%d (%s)\n",
                calibration->rejected_points, text_line(calibration->first_rejected_file, line),
                calibration->first_rejected_line, calibration->first_rejected_reason);
    if (calibration->ended)
        fprintf(answer->stream, "kernels: %lld trials, %s\n", (long long)calibration->kernel_trials,
                calibration->ended);
    json_object_foreach_safe(tables, next, key, value) if (!json_array_size(value))
        json_object_del(tables, key);
    outline_write(tables, style, answer->stream);
    json_decref(tables);
}

static void write_json(const struct calibration *calibration, const char *output,
                       struct answer *answer)
{
    struct error error;
    json_t *document = json_pack(
        "{s:i, s:o, s:o, s:o, s:s, s:o}", "schema", 1, "hardware", json_text(calibration->hw.name),
        "hardware_file", json_text(calibration->hw.file), "hardware_changes",
        overrides_json(&calibration->hw), "cache", hardware_cache_word(&calibration->hw), "written",
        output ? json_text(output) : json_null());
    if (json_object_update_new(document, calibration_json(calibration)) < 0)
        cli_die("out of memory");
    cli_require(json_write(document, answer->stream, &error), &error);
}

static void write_answer(struct calibrate *calibrate, const struct calibration *calibration)
{
    struct answer answer;
    calibrate->common.output = NULL; /* it holds the description */
    cli_answer_open(&answer, &calibrate->common);
    if (calibrate->common.format == FORMAT_JSON)
        write_json(calibration, calibrate->output, &answer);
    else
        put_text(calibration, calibrate->output, &answer);
    cli_answer_close(&answer);
}

static void fit_kernels(struct calibrate *calibrate, const struct rows *rows,
                        struct calibration *calibration)
{
    struct error error;
    calibrate->kernels.from = rows->from;
    calibrate->kernels.stop = stop_asked();
    calibrate->kernels.progress = tell;
    stop_open();
    enum status status =
        calibrate_kernels(calibration, rows->rows, rows->count, &calibrate->kernels, &error);
    progress_phase("answering");
    if (status == STATUS_STOPPED) /* before there was anything to write */
        stop_close();
    cli_require(status, &error);
}

/* The fitted description, to where -o says; it is one that loads. On the standard output it stands
 * alone: false, and the table is not printed. */
static bool write_description(struct calibrate *calibrate, struct calibration *calibration)
{
    struct error error;
    char *text;
    bool alone = calibrate->common.standard_output;
    calibrate->output = calibrate->common.output;
    cli_require(calibration_text(calibration, &text, &error), &error);
    if (alone) {
        struct answer answer;
        cli_answer_open(&answer, &calibrate->common);
        answer.kind = ANSWER_EXACT;
        fputs(text, answer.stream);
        cli_answer_close(&answer);
    } else if (calibrate->output) {
        cli_require(
            files_write(&calibrate->common.files, calibrate->output, text, strlen(text), &error),
            &error);
    }
    free(text);
    return !alone;
}

static int learn_as_asked(struct calibrate *calibrate)
{
    const struct learn_asked asked = {.from = calibrate->files,
                                      .from_count = calibrate->file_count,
                                      .pools = calibrate->pools,
                                      .pool_count = calibrate->pool_count,
                                      .seed = calibrate->seed > 0 ? (uint64_t)calibrate->seed : 1,
                                      .threads = calibrate->kernels.threads,
                                      .keep_going = calibrate->keep_going};
    if (calibrate->kernels.keys || calibrate->chip)
        cli_die("--%s: it is for a fit, which --learn does not make",
                calibrate->chip ? "chip" : "fit");
    return calibrate_learn(&calibrate->common, &asked);
}

int cmd_calibrate(int argc, char **argv)
{
    struct calibrate calibrate = {
        .common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON,
        .kernels = {.held_out = 0.5, .rounds = 6},
    };
    struct calibration calibration;
    struct rows rows;
    struct error error;
    cli_parse(&usage, argc, argv, &calibrate, NULL, 0);
    const struct common *common = &calibrate.common;
    const struct hardware_overrides overrides = {common->overrides, (size_t)common->override_count};
    if (calibrate_is_of_host(common->hw_name))
        return calibrate_the_host(&calibrate.common, (int)calibrate.threads, calibrate.of_fits);
    calibrate.kernels.threads = cli_threads(calibrate.threads);
    if (!calibrate.file_count)
        cli_die("calibrate: --from FILE is missing; `autotune calibrate --help` has examples");
    if (!common->hw_name)
        cli_die("calibrate: --hw NAME is missing, expected the description to start from");
    if (calibrate.learns)
        return learn_as_asked(&calibrate);
    if (calibrate.pool_count || calibrate.seed)
        cli_die("--%s: expected --learn, which it is for", calibrate.pool_count ? "pool" : "seed");
    if (common->cores)
        cli_die("--cores: expected nothing of it here; kernels use the cores of their rows");
    cli_reads_hardware(&calibrate.common, common->hw_name);
    cli_check_files(&calibrate.common);
    cli_require(calibration_open(common->hw_folders, common->hw_name, &overrides, calibrate.chip,
                                 &calibration, &error),
                &error);
    load_rows(&calibrate, &rows);
    for (int f = 0; f < calibrate.file_count; f++)
        if (is_csv(calibrate.files[f]))
            cli_require(calibrate_curves(&calibration, calibrate.files[f], &error), &error);
    if (rows.bank_count)
        fit_kernels(&calibrate, &rows, &calibration);
    if (write_description(&calibrate, &calibration))
        write_answer(&calibrate, &calibration);
    clear_rows(&rows);
    calibration_close(&calibration);
    cli_close(&calibrate.common);
    stop_close();
    return EXIT_ANSWER;
}
