/* `autotune network`. The calls are read and predicted, the graph cut down to the operators that
 * are asked for; with --tune products and convolutions are searched, biggest first
 * (jobs/network/network_tune.h). */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/network_what_if.h"
#include "cli/progress.h"
#include "cli/report_file.h"
#include "cli/signals.h"
#include "cli/sweep_jobs.h"
#include "cli/threads.h"
#include "core/text_stream.h"
#include "jobs/network/network_tune.h"
#include "jobs/table/tilings.h"
#include "network/read.h"
#include "results/network.h"
#include "results/report_network.h"
#include "results/report_tune.h"

#include <stdlib.h>
#include <string.h>

struct network_command {
    struct common common; /* first */
    struct page page;     /* --report */
    const char *graph, *subset, *dot, *sizes;
    int64_t top; /* 0: not given */
    bool tune;
    const char *db, *time_limit, *runtime_kb;
    int64_t threads;
    struct what_if what_if;
};

enum { DEFAULT_TOP = 10, MAX_TOP = 100000 };

static void take_what_if(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    what_if_take(&((struct network_command *)options)->what_if, text);
}

static const struct cli_option options[] = {
    {.help = "Graph:", .group = 1},
    {"size", "NAME=N,...",
     "sizes of dimensions that a model of ONNX names only; batch is the first dimension of any "
     "input that has no size, or the samples that a table is about",
     1, .text = offsetof(struct network_command, sizes)},
    {"graph", "FILE",
     "the graph that the calls are of: says the longest path beside the sum of all", 1,
     .text = offsetof(struct network_command, graph)},
    {"subset", "NAME,...",
     "of the graph only operators of these kinds, or with l those that the file itself lists, each "
     "with the nearest of them that it depends on",
     1, .text = offsetof(struct network_command, subset)},
    {"dot", "OUT.dot", "write that graph for Graphviz", 1,
     .text = offsetof(struct network_command, dot)},
    {.help = "Tilings:", .group = 2},
    {"tune", NULL,
     "search the best tilings of products of matrices and convolutions, in a cold cache, from what "
     "takes most on: what they would save",
     2, .flag = offsetof(struct network_command, tune)},
    {"db", "DB", "the store that tilings are kept in (default autotune.db)", 2,
     .text = offsetof(struct network_command, db)},
    {"runtime-kb", "OUT.json",
     "search among the tilings that CANN's MatMulV3 has words for (space tcube), and write those "
     "of "
     "the store for this chip as the JSON lines that it loads",
     2, .text = offsetof(struct network_command, runtime_kb)},
    {"threads", "N", "threads (default: all processors); the answer is the same", 2,
     .count = offsetof(struct network_command, threads), .most = JOB_MAX_THREADS},
    {"time-limit", "SECONDS", "of all searches together", 2,
     .text = offsetof(struct network_command, time_limit), .take = sweep_check_time_limit},
    {.help = "Answer:", .group = 3},
    {"what-if", "KEY=VALUE,...",
     "what the step would take with each of these values: of batch, of hw (chips), or of any key "
     "of --set-hw (clock_mhz, cores); may be repeated, for every combination",
     3, .take = take_what_if},
    {"top", "N", "rows of each list of the table (default 10)", 3,
     .count = offsetof(struct network_command, top), .most = MAX_TOP},
    {"report", "OUT.html", PAGE_HELP, 3, .text = offsetof(struct network_command, page.output)},
    {0},
};

static const struct usage usage = {
    .name = "autotune network",
    .tables = {{options, 0}, {hardware_options, 0}},
    .args_doc = "FILE",
    .doc =
        "Says what a network's step takes: predicts every operator of a table of calls, of a "
        "profiler's table of kernels (kernel_details, op_summary) or of a model of ONNX, compares "
        "it with what was measured, and ranks what takes most.\v"
        "Exit status: 0 answered; 1 nothing in the file can be predicted; 2 a file is wrong.\n\n"
        "Examples:\n"
        "  autotune network docs/examples/network.csv --hw ascend910\n"
        "  autotune network run.csv --hw ascend910 --graph run.txt --subset l --json\n"
        "  autotune network run.csv --graph run.txt --subset MatMul --dot matmul.dot\n"
        "  autotune network model.onnx --hw ascend910\n"
        "  autotune network kernel_details.csv --hw ascend910b3 --top 20\n"
        "  autotune network kernel_details.csv --hw ascend910b3 --tune --db results.db\n"
        "  autotune network kernel_details.csv --hw ascend910b3 --report step.html\n"
        "  autotune network run.csv --what-if hw=ascend910b3 --what-if cores=16,20\n"
        "  autotune network run.csv --size batch=8 --what-if batch=16,32\n",
};

/* ------------------------------------------------------------------ the graph */

/* A node's time is its row's; of one that names no row the mean of its kind's calls, and where only
 * L's are asked for, of those. */
static double node_time(const struct network_answer *answer, const struct graph_node *node,
                        bool l_kinds)
{
    const struct network *network = answer->network;
    double sum_ns = 0, count = 0;
    if (node->row >= 0)
        return answer->times[node->row].predicted_ns;
    for (int64_t i = 0; i < network->call_count; i++)
        if (strcmp(network->calls[i].op_type, node->kind) == 0 &&
            (!l_kinds || network->calls[i].is_l_kind)) {
            sum_ns += answer->times[i].predicted_ns * (double)network->calls[i].count;
            count += (double)network->calls[i].count;
        }
    return count > 0 ? sum_ns / count : 0;
}

static bool put_dot(const void *context, FILE *out)
{
    subgraph_write_dot(context, out);
    return true;
}

static void read_graph(const struct network_command *command, struct graph *graph,
                       struct subgraph *subgraph, const struct network *network)
{
    struct error error;
    cli_require(graph_read(command->graph, graph, &error), &error);
    for (int64_t n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].row >= network->call_count)
            cli_die("%s: node %lld is of row %lld, expected one from 0 to %lld", graph->file,
                    (long long)graph->nodes[n].id, (long long)graph->nodes[n].row,
                    (long long)network->call_count - 1);
    cli_require(graph_select(graph, command->subset, &error), &error);
    cli_require(subgraph_extract(graph, subgraph, &error), &error);
}

static void time_graph(const struct network_command *command, struct network_answer *answer)
{
    struct error error;
    const struct subgraph *subgraph = answer->subgraph;
    bool l_kinds = command->subset && strcmp(command->subset, "l") == 0;
    double *times_ns =
        cli_require_memory(malloc(((size_t)subgraph->node_count + 1) * sizeof *times_ns));
    for (int64_t n = 0; n < subgraph->node_count; n++)
        times_ns[n] = node_time(answer, &subgraph->graph->nodes[subgraph->nodes[n]], l_kinds);
    cli_require(subgraph_times(subgraph, times_ns, &answer->graph, &error), &error);
    free(times_ns);
}

/* ------------------------------------------------------------------ tilings */

static void say_tuned(const struct network_tuned *tuned)
{
    if (tuned->left)
        cli_warn("%lld of %lld operators were not searched for lack of time",
                 (long long)tuned->left, (long long)tuned->searched);
    if (tuned->cut_off)
        cli_warn("the time limit cut off %lld of the searches: a longer run may find better",
                 (long long)tuned->cut_off);
}

/* All of its tilings have words in the rows that CANN loads. */
static const char loadable_space[] = "tcube";

static void write_runtime_kb(const struct network_command *command, const char *fingerprint)
{
    char *text = NULL;
    size_t length = 0;
    struct error error;
    struct tilings tilings;
    struct table_remarks remarks;
    struct kernels *kernels;
    const struct store_filter filter = {
        .op = "matmul", .space = loadable_space, .hardware = fingerprint};
    const struct table_about about = {AUTOTUNE_VERSION, "autotune network", "autotune"};
    cli_require(kernels_open("", &kernels, &error), &error);
    cli_require(tilings_read(command->db, &filter, kernels, &tilings, &error), &error);
    if (tilings.count == 0)
        cli_die("--runtime-kb: %s has no tilings for this chip, expected some", command->db);
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    cli_require_of(
        "--runtime-kb",
        tilings_write(&tilings, &about, format_find("runtime_kb"), out, &remarks, &error), &error);
    cli_close_text(out);
    cli_require(files_write(&command->common.files, command->runtime_kb, text, length, &error),
                &error);
    free(text);
    tilings_clear(&tilings);
    kernels_close(kernels);
}

/* Returns what was found, a call each; to be freed. */
static void tell(void *context, int64_t done, int64_t total)
{
    (void)context;
    progress_count("tuning", done, total);
}

static struct call_tuned *tune_calls(const struct network_command *command,
                                     struct network_answer *answer)
{
    struct error error;
    struct network_tuned tuned;
    int64_t *order, count;
    struct call_tuned *found =
        cli_require_memory(calloc((size_t)answer->network->call_count, sizeof *found));
    const struct common *common = &command->common;
    struct network_tune tune = {
        .hw_name = cli_hardware_name(common),
        .overrides = common->overrides,
        .override_count = common->override_count,
        .space = command->runtime_kb ? loadable_space : NULL,
        .hw = answer->hw,
        .time_limit_s = command->time_limit ? cli_seconds("--time-limit", command->time_limit) : 0,
        .threads = cli_threads(command->threads),
        .stop = stop_asked(),
        .progress = tell};
    cli_require(network_order(answer, &order, &count, &error), &error);
    cli_require(chips_open(common->hw_folders, &tune.chips, &error), &error);
    cli_require(store_open(command->db, STORE_WRITE, &tune.store, &error), &error);
    stop_open();
    cli_require(network_tune(&tune, answer->network, order, count, found, &tuned, &error), &error);
    store_close(tune.store);
    chips_close(tune.chips);
    free(order);
    progress_phase("answering");
    if (!common->quiet)
        say_tuned(&tuned);
    if (command->runtime_kb)
        write_runtime_kb(command, tuned.fingerprint);
    answer->tuned = found;
    return found;
}

/* ------------------------------------------------------------------ the answer */

static void predict(struct network_answer *answer, struct operator_time *times)
{
    struct error error;
    cli_require(operator_times(answer->network, answer->hw, times, &error), &error);
    answer->times = times;
    answer->total = network_interval(answer->network, times);
}

static void write_answer(const struct common *common, const struct network_answer *answered)
{
    static enum status (*const writers[])(const struct network_answer *, const struct style *,
                                          FILE *, struct error *) = {
        [FORMAT_TABLE] = network_write_table,
        [FORMAT_JSON] = network_write_json,
        [FORMAT_CSV] = network_write_csv,
    };
    struct error error;
    struct answer answer;
    cli_answer_open_long(&answer, common);
    cli_require_of(answered->file,
                   writers[common->format](answered, &answer.style, answer.stream, &error), &error);
    cli_answer_close(&answer);
}

static void write_page(const struct network_command *command, const struct network_answer *answer)
{
    struct report report;
    struct error error;
    char title[TEXT_LINE_SIZE], lead[NETWORK_LEAD_SIZE];
    const char *slash = strrchr(answer->file, '/');
    snprintf(title, sizeof title, "%s on %s", slash ? slash + 1 : text_file_name(answer->file),
             answer->hw->name);
    page_open(&command->page, title, network_lead(answer, lead), &report);
    cli_require(report_network(&report, answer, &error), &error);
    report_hardware(&report, answer->hw);
    page_close(&command->page, &command->common, &report);
}

static int answer_file(struct network_command *command, const char *file)
{
    struct error error;
    struct hardware hw;
    struct network network;
    struct graph graph = {0};
    struct subgraph subgraph = {0};
    const struct network_request request = {DTYPE_F16, command->sizes, 0};
    cli_load_chip(&command->common, &hw);
    what_if_load(&command->what_if, &command->common, &hw);
    cli_require(network_read(file, &request, &network, &error), &error);
    if (command->graph)
        read_graph(command, &graph, &subgraph, &network);
    cli_check_files(&command->common);
    struct operator_time *times =
        cli_require_memory(calloc((size_t)network.call_count, sizeof *times));
    struct network_answer answer = {.file = file,
                                    .network = &network,
                                    .hw = &hw,
                                    .subgraph = command->graph ? &subgraph : NULL,
                                    .top = command->top ? (int)command->top : DEFAULT_TOP};
    predict(&answer, times);
    what_if_predict(&command->what_if, file, &request, &answer);
    if (command->graph)
        time_graph(command, &answer);
    struct call_tuned *tuned = command->tune ? tune_calls(command, &answer) : NULL;
    write_answer(&command->common, &answer);
    if (page_is_wanted(&command->page, &command->common))
        write_page(command, &answer);
    if (command->dot)
        cli_require(
            files_write_by(&command->common.files, command->dot, put_dot, &subgraph, &error),
            &error);
    int status = network_sum_of(&answer, PART_COVERED).rows ? EXIT_ANSWER : EXIT_NONE;
    free(times);
    for (int64_t i = 0; tuned && i < network.call_count; i++)
        free(tuned[i].why);
    free(tuned);
    subgraph_clear(&subgraph);
    graph_clear(&graph);
    network_free(&network);
    what_if_clear(&command->what_if);
    hardware_clear(&hw);
    return status;
}

int cmd_network(int argc, char **argv)
{
    struct network_command command = {.common.formats =
                                          1 << FORMAT_TABLE | 1 << FORMAT_JSON | 1 << FORMAT_CSV,
                                      .page.command = cli_command_text("network", argc, argv)};
    const char *file;
    if (cli_parse(&usage, argc, argv, &command, &file, 1) == 0)
        cli_die("network: a table of calls is missing, or a profile; `autotune network --help` has "
                "examples");
    if (!command.graph && (command.subset || command.dot))
        cli_die("--subset and --dot: expected --graph with them");
    if (command.common.cores)
        cli_die("--cores: expected the chip's own; --set-hw cores=N describes another one");
    if (!command.tune &&
        (command.db || command.time_limit || command.threads || command.runtime_kb))
        cli_die("--db, --runtime-kb, --threads and --time-limit: expected --tune with them");
    if (command.tune && command.what_if.key_count)
        cli_die("--what-if: expected no --tune with it");
    page_is_wanted(&command.page,
                   &command.common); /* dies of a name that is none, before any work */
    if (!command.db)
        command.db = "autotune.db";
    cli_reads(&command.common, file);
    if (command.tune)
        cli_keeps(&command.common, command.db);
    int status = answer_file(&command, file);
    cli_close(&command.common);
    stop_close();
    free(command.page.command);
    return status;
}
