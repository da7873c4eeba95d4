#include "results/tune.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/task.h"
#include "cli/tune_answer.h"
#include "jobs/details.h"
#include "jobs/export.h"
#include "jobs/robust.h"
#include "kernels/cubefx.h"
#include "kernels/knn.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct tune {
    struct task task; /* first */
    const char *strategy;
    int64_t top, threads;
    double time_limit_s;
    bool robust_asked;
    struct corner corner; /* with --robust */
    struct robust robust; /* with --robust; its search is the caller's */
    struct host_run run;  /* of a processor */
    struct details_options details;
    bool expand;               /* --expand-at was given */
    const char *cubefx_option; /* one that only Cube-fx has; NULL: not given */
};

enum {
    KEY_STRATEGY = 3000,
    KEY_TOP,
    KEY_THREADS,
    KEY_TIME_LIMIT,
    KEY_COMPARE,
    KEY_MAC,
    KEY_TRANSFER_WEIGHT,
    KEY_EXPAND_AT,
    KEY_ROBUST,
    KEY_VALIDATE,
};
#define MAX_WEIGHT 1e9
enum { MAX_TOP = 100000, MAX_THREADS = 1024, MAX_MAC = 4096 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Search:", 2},
    {"strategy", KEY_STRATEGY, "NAME", 0,
     "bound (default) or exhaustive; see `autotune list "
     "strategies`",
     2},
    {"top", KEY_TOP, "N", 0, "report the N fastest tilings (default 1)", 2},
    {"threads", KEY_THREADS, "N", 0, "threads (default: all processors); the answer is the same",
     2},
    {"robust", KEY_ROBUST, NULL, 0,
     "the tiling whose worst case is best, over what the description's fit does not know", 2},
    {"validate", KEY_VALIDATE, "N", 0,
     "on this machine's processor: run the N most promising tilings and answer with the fastest "
     "(default 8, or as many as fit into 8 seconds); 0: the model alone",
     2},
    {NULL, 0, NULL, 0, "What the answer adds:", 3},
    {"compare", KEY_COMPARE, NULL, 0, "knn, cubefx: the times of what could be used instead", 3},
    {"mac", KEY_MAC, "S", 0, "cubefx: edge of the matrix unit in the integer program (default 16)",
     3},
    {"transfer-weight", KEY_TRANSFER_WEIGHT, "B", 0,
     "cubefx: cost of an element moved, in matrix operations (default 0)", 3},
    {"expand-at", KEY_EXPAND_AT, "P", 0,
     "cubefx: the point of the expansions of --function (default 0)", 3},
    {"time-limit", KEY_TIME_LIMIT, "SECONDS", 0, "stop after this time with the best so far", 2},
    {0},
};

/* Options of what the answer adds; false for any other. */
static bool parse_details(struct tune *tune, int key, const char *argument)
{
    struct details_options *details = &tune->details;
    switch (key) {
    case KEY_COMPARE:
        details->compare = true;
        return true;
    case KEY_MAC:
        details->mac = cli_count("--mac", argument, MAX_MAC);
        tune->cubefx_option = "--mac";
        return true;
    case KEY_TRANSFER_WEIGHT:
        details->transfer_weight = cli_number(argument);
        if (!(details->transfer_weight >= 0 && details->transfer_weight <= MAX_WEIGHT))
            cli_die("--transfer-weight %.64s: expected a number from 0 to %.0f", argument,
                    MAX_WEIGHT);
        tune->cubefx_option = "--transfer-weight";
        return true;
    case KEY_EXPAND_AT:
        details->expand_at = cli_number(argument);
        if (isnan(details->expand_at))
            cli_die("--expand-at %.64s: expected a finite number", argument);
        tune->expand = true;
        tune->cubefx_option = "--expand-at";
        return true;
    default:
        return false;
    }
}

static void die_of_strategy(const char *name)
{
    char list[256] = "";
    for (const struct search_strategy *s = search_strategies; s->name; s++)
        strcat(strcat(list, *list ? " or " : ""), s->name);
    cli_die("--strategy %.64s: expected %s", name, list);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct tune *tune = state->input;
    if (parse_details(tune, key, argument))
        return 0;
    switch (key) {
    case KEY_STRATEGY:
        if (!search_strategy_find(argument))
            die_of_strategy(argument);
        tune->strategy = argument;
        return 0;
    case KEY_TOP:
        tune->top = cli_count("--top", argument, MAX_TOP);
        return 0;
    case KEY_THREADS:
        tune->threads = cli_count("--threads", argument, MAX_THREADS);
        return 0;
    case KEY_TIME_LIMIT:
        tune->time_limit_s = cli_seconds("--time-limit", argument);
        return 0;
    case KEY_ROBUST:
        tune->robust_asked = true;
        return 0;
    case KEY_VALIDATE:
        tune->run.wanted = cli_count_or_none("--validate", argument, HOST_TUNE_MOST);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &tune->task;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&task_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "--op OP --shape SHAPE",
    .doc = "Finds the fastest tiling of an operator on a described chip by simulation, and proves "
           "that nothing in the space is better.\v"
           "Examples:\n"
           "  autotune --op matmul --shape 512x1024x512\n"
           "  autotune --op matmul --shape 512x1024x512 --top 10 --format csv -o best.csv\n"
           "  autotune --op knn --shape 1280x128x204800 --k 16 --compare\n"
           "  autotune --op cubefx --shape 16384 --order 16 --function sin,cos,gelu\n"
           "  autotune --op matmul --shape 4096x4096x4096 --json --set-hw issue_ns=20\n"
           "  autotune --op matmul --shape 2048x2048x2048 --hw fitted.cfg --robust\n",
};

/* ------------------------------------------------------------------ tables for libraries */

static bool is_export(const struct common *common)
{
    return common->format >= FORMAT_TCUBETILING;
}

static void write_export(const struct export_source *source, enum export_format format,
                         const struct common *common)
{
    struct answer out;
    struct error error;
    cli_answer_open(&out, common);
    enum status status = export_write(source, format, out.stream, &error);
    if (status != STATUS_OK)
        cli_die("--format: %s", error.text);
    cli_answer_close(&out);
}

/* Of a header NAME.h also NAME.json, the same fields for other readers. */
static void write_fields_beside(const struct export_source *source, const struct common *common)
{
    const char *dot = common->output ? strrchr(common->output, '.') : NULL;
    struct common beside = *common;
    char name[PATH_MAX];
    if (!dot || (strcmp(dot, ".h") != 0 && strcmp(dot, ".hpp") != 0))
        return;
    if (snprintf(name, sizeof name, "%.*s.json", (int)(dot - common->output), common->output) >=
        (int)sizeof name)
        cli_die("-o %.64s: a name of more than %d bytes", common->output, PATH_MAX);
    beside.output = name;
    write_export(source, EXPORT_FIELDS, &beside);
}

static void say_what_is_open(const struct common *common)
{
    if (common->quiet)
        return;
    if (common->format == FORMAT_RUNTIME_KB)
        fputs("autotune: new rows have id 0 (a hash that is not published), one L2 piece of all "
              "blocks and tilingEnable 0\n",
              stderr);
    if (common->format == FORMAT_STATIC_BANK)
        fputs("autotune: the key is 32 zeros (a hash that is not published), cost_time is "
              "simulated\n",
              stderr);
}

static void write_exports(const struct tune *tune, const struct search_result *result,
                          const struct tune_row *rows)
{
    static const enum export_format formats[FORMAT_COUNT] = {
        [FORMAT_TCUBETILING] = EXPORT_HEADER,
        [FORMAT_TCUBETILING_JSON] = EXPORT_FIELDS,
        [FORMAT_RUNTIME_KB] = EXPORT_RUNTIME_KB,
        [FORMAT_STATIC_BANK] = EXPORT_STATIC,
    };
    const struct common *common = &tune->task.common;
    char title[256];
    struct tiling *tilings = calloc((size_t)result->count, sizeof *tilings);
    double *times = calloc((size_t)result->count, sizeof *times);
    if (!tilings || !times)
        cli_die("out of memory");
    for (int i = 0; i < result->count; i++) {
        tilings[i] = rows[i].tiling;
        times[i] = rows[i].time_ns;
    }
    task_title(&tune->task, title, sizeof title - 100);
    size_t used = strlen(title);
    snprintf(title + used, sizeof title - used, " on %.64s", tune->task.hw.name);
    struct export_source source = {.problem = &tune->task.problem,
                                   .space = &tune->task.space,
                                   .tilings = tilings,
                                   .simulated_ns = times,
                                   .count = result->count,
                                   .title = title};
    write_export(&source, formats[common->format], common);
    if (common->format == FORMAT_TCUBETILING)
        write_fields_beside(&source, common);
    say_what_is_open(common);
    free(tilings);
    free(times);
}

static enum status search_robustly(struct tune *tune, const struct search_options *how,
                                   struct search_result *result, struct error *error)
{
    const struct task *task = &tune->task;
    enum status status = robust_search(&task->problem, &task->space, (int)task->common.cores,
                                       &tune->corner, how, &tune->robust, error);
    *result = tune->robust.search;
    return status;
}

static void run_search(struct tune *tune, struct search_result *result)
{
    struct progress progress;
    struct error error;
    struct search_options how = {
        .strategy = tune->strategy,
        .threads = (int)tune->threads,
        .top = (int)tune->top,
        .time_limit_s = tune->time_limit_s,
        .keep_scores = tune->run.wanted != 0,
        .tolerance = task_fit_share(&tune->task),
        .stop = stop_asked(),
        .progress = progress_draw,
        .context = &progress,
    };
    progress_open(&progress, tune->task.common.quiet);
    stop_open();
    enum status status = tune->robust_asked ? search_robustly(tune, &how, result, &error)
                                            : search(&tune->task.space, &how, result, &error);
    progress_close(&progress);
    cli_require(status, &error);
}

/* An option that says nothing about the operator at hand is a mistake. */
static void check_details(const struct tune *tune)
{
    const struct operator* op = tune->task.problem.op;
    if (tune->task.hw.host && (tune->details.compare || tune->cubefx_option))
        cli_die("%s: it is about programs of chips, and %s is a processor",
                tune->details.compare ? "--compare" : tune->cubefx_option, tune->task.hw.name);
    if (tune->details.compare && op != &knn_operator && op != &cubefx_operator)
        cli_die("--compare: %s has none", op->name);
    if (tune->cubefx_option && op != &cubefx_operator)
        cli_die("%s: %s has none", tune->cubefx_option, op->name);
    if (tune->details.compare && tune->task.common.format == FORMAT_CSV)
        cli_die("--compare: the csv has no place for it, expected --format table or json");
    if (tune->expand && !tune->task.function_names)
        cli_die("--expand-at: expected --function, whose series it is about");
}

/* The chip on which every uncertain number costs most. */
static void open_corner(struct tune *tune)
{
    struct error error;
    const struct common *common = &tune->task.common;
    struct hardware_overrides changes = {common->overrides, (size_t)common->override_count};
    if (!tune->robust_asked)
        return;
    if (tune->task.hw.host)
        cli_die("--robust: %s was measured, not fitted: expected a chip", tune->task.hw.name);
    if (!tune->task.space.kind->summarise)
        cli_die("--robust: a tiling of %s is several programs, each with a worst case of its own",
                tune->task.problem.op->name);
    if (tune->top > 1)
        cli_die("--robust: one tiling is the answer, expected no --top");
    if (robust_corner(common->hw_folders, cli_hardware_name(common), &changes, &tune->task.hw,
                      &tune->corner, &error) != STATUS_OK)
        cli_die("--robust: %s", error.text);
}

/* Who wants an end does not wait for a comparison: it is dropped once the search, or it itself, has
 * been cut short. */
static json_t *make_details(const struct tune *tune, const struct search_result *result)
{
    struct error error;
    json_t *details;
    struct details_options how = tune->details;
    bool table = tune->task.common.format == FORMAT_TABLE;
    how.compare = how.compare && !tune_was_cut_short(result, tune->time_limit_s);
    how.stop = stop_over();
    if (how.compare && tune->time_limit_s > 0)
        stop_limit(fmin(fmax(tune->time_limit_s - result->seconds, 0), 1e6));
    how.threads = (int)tune->threads;
    how.functions = tune->task.functions;
    how.function_count = tune->task.function_count;
    cli_require(
        details_make(&tune->task.problem, &tune->task.space, result, &how, &details, &error),
        &error);
    if (details && tune->details.compare && (!how.compare || *stop_over()))
        json_object_set_new(details, "comparison",
                            table ? json_string("left out: it was cut short") : json_null());
    if (details && table)
        details_shorten(details);
    if (tune->robust_asked && result->count) {
        json_t *robust = robust_json(&tune->robust, &tune->task.space, &tune->corner);
        if (table)
            robust_shorten(robust);
        details = details ? details : json_object();
        json_object_set_new(details, "robust", robust);
    }
    return details;
}

/* Writes what was found; false where nothing was. */
static bool answer_with(struct tune *tune, const struct search_result *result)
{
    struct tune_row *rows = tune_rows(&tune->task, result);
    bool found = result->count > 0;
    if (is_export(&tune->task.common)) {
        if (found)
            write_exports(tune, result, rows);
    } else {
        json_t *details = make_details(tune, result);
        struct tune_report report = {
            .task = &tune->task,
            .result = result,
            .run = &tune->run,
            .rows = rows,
            .threads = search_threads(&tune->task.space, (int)tune->threads),
            .top = (int)tune->top,
            .cut_short = tune_was_cut_short(result, tune->time_limit_s),
            .search_note = tune->robust_asked ? "tilings and times of the search are those where "
                                                "every uncertain number costs most"
                                              : NULL,
            .details = details,
        };
        found = tune_report_write(&report);
        json_decref(details);
    }
    free(rows);
    return found;
}

int cmd_tune(int argc, char **argv)
{
    struct tune tune = {
        .task.common.formats =
            ((1 << FORMAT_COUNT) - 1) & ~(1 << FORMAT_C) & ~(1 << FORMAT_MARKDOWN),
        .strategy = search_strategies[0].name,
        .top = 1,
        .threads = omp_get_num_procs(),
        .run = {.wanted = HOST_RUN_DEFAULT, .seed = 1},
    };
    struct search_result result;
    struct error error;
    cli_parse(&argp, "autotune tune", argc, argv, &tune, NULL, 0);
    task_open(&tune.task);
    check_details(&tune);
    open_corner(&tune);
    if (is_export(&tune.task.common))
        cli_require(export_check(&tune.task.space, &error), &error);
    host_run_check(&tune.task, &tune.run);
    run_search(&tune, &result);
    tune.run.time_limit_s = tune.time_limit_s;
    host_run_measure(&tune.task, &result, result.seconds, &tune.run);
    bool found = answer_with(&tune, &result);
    host_run_close(&tune.run);
    search_result_clear(&result);
    hardware_clear(&tune.corner.hw);
    task_close(&tune.task);
    stop_close();
    return found ? EXIT_ANSWER : EXIT_NONE;
}
