/* `autotune evaluate`. The answer is one JSON document, made by the job; the csv and the tables are
 * views of it. How many cores a bank was tuned on stands in its file's name, as CANN writes it, and
 * becomes an override of the description. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/evaluate_answer.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "core/suggest.h"
#include "formats/bank.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/text.h"
#include "jobs/evaluate/against.h"
#include "jobs/evaluate/evaluation.h"
#include "kernels/registry.h"
#include "results/outline.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct evaluate {
    struct common common; /* first */
    int format;           /* of the bank */
    bool keep_going;
    int64_t threads, worst;
    bool against, ranking;
    bool no_correction;
    double time_limit_s; /* for each problem; 0: not given */
    int64_t seed;        /* of the ranking's draws; 0: not given */
    char cores[32];      /* "cores=25", of the bank's file name */
};

enum { MAX_THREADS = 1024, MAX_WORST = 100000, DEFAULT_WORST = 10 };
#define DEFAULT_LIMIT_S 1.0

static void take_bank_format(const struct cli_option *option, void *options, const char *name)
{
    struct evaluate *evaluate = options;
    struct suggestion like = suggest_for(name, -1);
    for (int f = 0; f < BANK_FORMATS; f++) {
        suggest_try(&like, bank_format_names[f]);
        if (strcasecmp(name, bank_format_names[f]) == 0) {
            evaluate->format = f;
            return;
        }
    }
    cli_die("--%s %.64s: expected repository, static_bank, runtime_kb or tcubetiling%s",
            option->name, name, like.text);
}

static const struct cli_option options[] = {
    {.help = "The bank:", .group = 2},
    {"bank-format", "repository|static_bank|runtime_kb|tcubetiling",
     "what FILE is (default: by its first bytes)", 2, .take = take_bank_format},
    {"keep-going", NULL, "list records that break a rule under skipped, and evaluate the rest", 2,
     .flag = offsetof(struct evaluate, keep_going)},
    {"threads", "N", "threads (default: all processors); the answer is the same", 2,
     .count = offsetof(struct evaluate, threads), .most = MAX_THREADS},
    {"worst", "N", "show the N worst rows (default 10)", 2,
     .count = offsetof(struct evaluate, worst), .most = MAX_WORST},
    {"against", NULL, "tune every problem, and compare the best tilings with the recorded ones", 2,
     .flag = offsetof(struct evaluate, against)},
    {"time-limit", "SECONDS", "of --against, for each problem (default 1)", 2,
     .seconds = offsetof(struct evaluate, time_limit_s)},
    {"ranking", NULL, "draw other tilings of every problem: how many are predicted to be faster?",
     2, .flag = offsetof(struct evaluate, ranking)},
    {"seed", "N", "of --ranking, another number draws other tilings (default 1)", 2,
     .count = offsetof(struct evaluate, seed), .most = UINT32_MAX},
    {"no-correction", NULL, "leave out what was learned of the simulator's error", 2,
     .flag = offsetof(struct evaluate, no_correction)},
    {0},
};

static const struct usage usage = {
    .name = "autotune evaluate",
    .tables = {{options, 0}, {hardware_options, 0}},
    .args_doc = "FILE",
    .doc =
        "Simulates every kernel of a bank with the tiling it was recorded with, and compares the "
        "predictions with the measured times: relative errors, rank correlation, by class, the "
        "worst rows and what bounds them. FILE - is the standard input.\v"
        "Examples:\n"
        "  autotune evaluate matmul_repository.jsonl --hw ascend910b2\n"
        "  autotune evaluate matmul_repository.jsonl --hw ascend910b2 \\\n"
        "    --keep-going --json\n"
        "  autotune evaluate bank.json --hw ascend910b1 --format csv -o rows.csv\n"
        "  autotune evaluate docs/examples/cann-heuristics.json --hw ascend910b1 \\\n"
        "    --against\n"
        "  autotune evaluate matmul_repository.jsonl --hw ascend910b2 --ranking\n",
};

static bool has_override_of_cores(const struct common *common)
{
    for (int i = 0; i < common->override_count; i++)
        if (strncmp(common->overrides[i], "cores=", strlen("cores=")) == 0)
            return true;
    return common->cores > 0;
}

/* The count in a bank's file name is what its kernels ran on: it goes before the description's,
 * but not before what the user says. */
static void load_hardware(struct evaluate *evaluate, const char *file, struct hardware *hw)
{
    struct common *common = &evaluate->common;
    int cores = has_override_of_cores(common) ? 0 : bank_cores(file);
    cli_load_chip(common, hw);
    if (cores > 0 && cores != hw->cores && common->override_count < MAX_OVERRIDES) {
        hardware_clear(hw);
        snprintf(evaluate->cores, sizeof evaluate->cores, "cores=%d", cores);
        common->overrides[common->override_count++] = evaluate->cores;
        common->cores = 0;
        cli_load_chip(common, hw);
    }
    hw->cores = cli_cores(common, hw, hw->cores);
}

/* ------------------------------------------------------------------ writers */

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static void put_csv(const json_t *value, FILE *out)
{
    if (json_is_string(value))
        csv_put(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.15g", json_real_value(value));
}

/* The columns behind those of every row are of corrected ones. */
static json_t *cell_of(const json_t *row, const char *column)
{
    const json_t *interval = json_object_get(row, "interval_ns");
    if (strcmp(column, "interval_low_ns") == 0)
        return json_array_get(interval, 0);
    if (strcmp(column, "interval_high_ns") == 0)
        return json_array_get(interval, 1);
    return json_object_get(row, column);
}

static void write_csv(json_t *answer, FILE *out)
{
    static const char *const columns[] = {"row",
                                          "shape",
                                          "transpose",
                                          "batch",
                                          "layout",
                                          "pitch_multiple_bytes",
                                          "cores",
                                          "measured_ns",
                                          "predicted_ns",
                                          "relative_error",
                                          "bottleneck",
                                          "bottleneck_share",
                                          "corrected_ns",
                                          "interval_low_ns",
                                          "interval_high_ns"};
    enum { COLUMNS = sizeof columns / sizeof *columns, OF_CORRECTED = 3 };
    bool corrected = json_is_object(json_object_get(answer, "corrected"));
    int count = corrected ? COLUMNS : COLUMNS - OF_CORRECTED;
    size_t index;
    json_t *row;
    for (int c = 0; c < count; c++)
        fprintf(out, "%s%s", columns[c], c + 1 < count ? "," : "\n");
    json_array_foreach(json_object_get(answer, "rows"), index, row) for (int c = 0; c < count; c++)
    {
        put_csv(cell_of(row, columns[c]), out);
        fputc(c + 1 < count ? ',' : '\n', out);
    }
}

/* One line of the table of accuracies. */
static json_t *accuracy_row(const char *by, const char *name, const json_t *from, const char *used)
{
    return json_pack(
        "{s:s, s:s, s:O, s:O, s:O, s:O, s:O, s:O?, s:O?, s:O}", "by", by, "rows", name, "used",
        json_object_get(from, used), "mean_relative_error", json_object_get(from, "mape"),
        "median_relative_error", json_object_get(from, "median_ape"), "bias_relative_error",
        json_object_get(from, "bias"), "mean_log_error", json_object_get(from, "mean_log_error"),
        "noise_mean", json_object_get(from, "noise_mean_log_error"), "noise_median",
        json_object_get(from, "noise_median_log_error"), "spearman",
        json_object_get(from, "spearman"));
}

static json_t *accuracy_table(const json_t *answer)
{
    json_t *table = json_array(), *row;
    size_t index;
    json_array_append_new(table, accuracy_row("", "all", answer, "measured"));
    json_array_append_new(
        table, accuracy_row("", "10 us and more", json_object_get(answer, "ge_10us"), "used"));
    json_array_append_new(
        table, accuracy_row("", "large plain", json_object_get(answer, "large_plain"), "used"));
    json_array_append_new(
        table, accuracy_row("", "clean, 10 us and more", json_object_get(answer, "clean"), "used"));
    json_array_foreach(json_object_get(answer, "classes"), index, row) json_array_append_new(
        table, accuracy_row(text_of(row, "by"), text_of(row, "class"), row, "used"));
    return table;
}

/* Rows of a list one by one: their tilings are long. */
static void spread_rows(json_t *table, const json_t *list, const char *title)
{
    size_t index;
    json_t *row;
    char key[64];
    json_array_foreach(list, index, row)
    {
        snprintf(key, sizeof key, "%s_%" JSON_INTEGER_FORMAT, title,
                 json_integer_value(json_object_get(row, "row")));
        json_object_set(table, key, row);
    }
}

static void add_against(json_t *tables, json_t *against)
{
    json_t *table = json_copy(against);
    if (!against)
        return;
    json_object_del(table, "each");
    json_object_del(table, "largest_gains");
    json_object_del(table, "losses");
    json_object_set_new(tables, "against", table);
    spread_rows(tables, json_object_get(against, "largest_gains"), "gain_in_row");
    spread_rows(tables, json_object_get(against, "losses"), "loss_in_row");
}

static void write_table(const struct hardware *hw, json_t *answer, const struct style *style,
                        FILE *out)
{
    char line[TEXT_LINE_SIZE], kernels[TEXT_SIZE], used[TEXT_SIZE];
    json_t *tables = json_object();
    fprintf(out, "%s%s%s on %s\n", style->bold, text_line(text_of(answer, "file"), line),
            style->end, hw->name);
    text_put_hardware(hw, style, out);
    fprintf(out, "%s kernels (%s), %s of them simulated\n",
            text_count(json_integer_value(json_object_get(answer, "kernels")), kernels),
            text_of(answer, "format"),
            text_count(json_integer_value(json_object_get(answer, "used")), used));
    json_object_set_new(tables, "accuracy", accuracy_table(answer));
    evaluate_correction_tables(tables, answer);
    json_object_set(tables, "same_problem", json_object_get(answer, "same_problem"));
    if (json_array_size(json_object_get(answer, "worst")))
        json_object_set(tables, "worst", json_object_get(answer, "worst"));
    if (json_array_size(json_object_get(answer, "skipped")))
        json_object_set_new(tables, "skipped",
                            evaluate_reasons(json_object_get(answer, "skipped")));
    add_against(tables, json_object_get(answer, "against"));
    evaluate_ranking_tables(tables, json_object_get(answer, "ranking"));
    outline_write(tables, style, out);
    json_decref(tables);
}

static void write_answer(const struct common *common, const struct hardware *hw, json_t *answer)
{
    struct answer out;
    struct error error;
    cli_answer_open(&out, common);
    if (common->format == FORMAT_JSON)
        cli_require(json_write(json_incref(answer), out.stream, &error), &error);
    else if (common->format == FORMAT_CSV)
        write_csv(answer, out.stream);
    else
        write_table(hw, answer, &out.style, out.stream);
    cli_answer_close(&out);
}

/* ------------------------------------------------------------------ the command */

static void tell_tuned(void *context, int64_t done, int64_t total)
{
    (void)context;
    progress_count("tuning", done, total);
}

static json_t *compare_with_best(const struct evaluate *evaluate, const struct bank *bank,
                                 const struct prediction predictions[], const struct hardware *hw)
{
    struct error error;
    json_t *answer;
    struct duel *duels = cli_require_memory(calloc(bank->count + 1, sizeof *duels));
    struct against_options how = {
        .threads = (int)evaluate->threads,
        .time_limit_s = evaluate->time_limit_s > 0 ? evaluate->time_limit_s : DEFAULT_LIMIT_S,
        .stop = stop_asked(),
        .progress = tell_tuned,
    };
    enum status status = against_tune(bank, predictions, hw, &how, duels, &error);
    progress_phase("comparing");
    cli_require(status, &error);
    cli_require(against_make(bank, predictions, hw, duels, &how, &answer, &error), &error);
    free(duels);
    return answer;
}

static json_t *evaluate_bank(const struct evaluate *evaluate, const struct bank *bank,
                             const struct hardware *hw, struct correcting *correcting)
{
    struct error error;
    json_t *answer;
    struct prediction *predictions =
        cli_require_memory(calloc(bank->count + 1, sizeof *predictions));
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    const struct evaluate_more more = {.correction = correcting_of(correcting, op, kind),
                                       .chip = correcting_chip(correcting, hw)};
    stop_open();
    cli_require(evaluate_rows_more(bank->rows, bank->count, hw, (int)evaluate->threads,
                                   stop_asked(), &more, predictions, &error),
                &error);
    cli_require(evaluation_make(bank, predictions, hw, (int)evaluate->worst, &answer, &error),
                &error);
    if (!evaluate->no_correction)
        cli_require(evaluation_add_corrected(bank, predictions, correcting, more.correction, answer,
                                             &error),
                    &error);
    if (evaluate->against)
        json_object_set_new(answer, "against", compare_with_best(evaluate, bank, predictions, hw));
    if (evaluate->ranking)
        json_object_set_new(answer, "ranking",
                            evaluate_rank(bank, predictions, hw,
                                          more.correction ? correcting : NULL,
                                          (int)evaluate->threads, evaluate->seed));
    free(predictions);
    return answer;
}

/* Options that mean something beside others only. */
static void check_options(const struct evaluate *evaluate)
{
    if (evaluate->time_limit_s > 0 && !evaluate->against)
        cli_die("--time-limit: expected --against, whose searches it is for");
    if (evaluate->seed > 0 && !evaluate->ranking)
        cli_die("--seed: expected --ranking, whose draws it is for");
    if ((evaluate->against || evaluate->ranking) && evaluate->common.format == FORMAT_CSV)
        cli_die("--%s: the csv has no place for it, expected --format table or json",
                evaluate->against ? "against" : "ranking");
}

int cmd_evaluate(int argc, char **argv)
{
    struct evaluate evaluate = {
        .common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON | 1 << FORMAT_CSV,
        .format = BANK_AUTO,
        .worst = DEFAULT_WORST,
    };
    struct hardware hw;
    struct bank bank;
    struct error error;
    struct correcting correcting;
    const char *file = NULL;
    if (cli_parse(&usage, argc, argv, &evaluate, &file, 1) == 0)
        cli_die("evaluate: a bank is missing; `autotune evaluate --help` has examples");
    check_options(&evaluate);
    evaluate.threads = cli_threads(evaluate.threads);
    cli_reads(&evaluate.common, file);
    load_hardware(&evaluate, file, &hw);
    evaluate_correction_open(&evaluate.common, evaluate.no_correction, &hw, &correcting);
    cli_check_files(&evaluate.common);
    cli_require(bank_load(file, evaluate.format, evaluate.keep_going, &bank, &error), &error);
    json_t *answer = evaluate_bank(&evaluate, &bank, &hw, &correcting);
    int status = json_integer_value(json_object_get(answer, "used")) ? EXIT_ANSWER : EXIT_NONE;
    write_answer(&evaluate.common, &hw, answer);
    json_decref(answer);
    correcting_close(&correcting);
    bank_clear(&bank);
    hardware_clear(&hw);
    cli_close(&evaluate.common);
    stop_close();
    return status;
}
