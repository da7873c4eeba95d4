/* `autotune list`. Each kind has a function that adds its rows to a JSON array, from the tables
 * that the program itself works with; --json prints the array, the table wraps it, and completion
 * asks for it too. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "core/host.h"
#include "core/operator.h"
#include "core/suggest.h"
#include "formats/json.h"
#include "formats/text.h"
#include "hardware/load.h"
#include "jobs/correct/correct.h"
#include "jobs/sweep/sweep.h"
#include "jobs/tune/kernels.h"
#include "kernels/registry.h"
#include "search/search.h"
#include "search/strategy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct usage usage = {
    .name = "autotune list",
    .tables = {{hardware_options, 0}, {kernel_options, 0}},
    .args_doc = "ops|kernels|hw|spaces|strategies|formats|sweeps [NAME]",
    .doc =
        "Lists what there is. `list hw NAME` shows every number of a description with where it "
        "comes from; the keys are those of --set-hw. `list kernels` says on which chips a kernel "
        "cannot run, and what is missing there; `list kernels NAME` prints its text, with --hw the "
        "one for that chip.\v"
        "Examples:\n"
        "  autotune list ops\n"
        "  autotune list hw ascend310\n"
        "  autotune list kernels add_relu\n"
        "  autotune list sweeps\n",
};

/* The chips that are described, by the names of their descriptions. */
enum { MOST_CHIPS = 64 };
struct listed_chip {
    char name[64];
    struct hardware hw;
};

/* A list of rows with a name and a title, for both formats. */
struct listing {
    json_t *rows;
    const char *only; /* NULL: all */
    struct common *common;
    bool asks_chips; /* which kernels run on which: takes a while */
    int chip_count;
    struct listed_chip *chips; /* owned */
};

static void add_row(struct listing *listing, const char *name, const char *title)
{
    if (!listing->only || strcasecmp(listing->only, name) == 0)
        json_array_append_new(listing->rows, json_pack("{s:o, s:o}", "name", json_text(name),
                                                       "title", json_text(title)));
}

/* What it is, and its sizes. */
static void put_op(const struct operator* op, char *title, size_t size)
{
    size_t used = (size_t)snprintf(title, size, "%s%s", op->title, *op->title ? "; " : "");
    if (op->shape_sizes && used < size)
        used += (size_t)snprintf(title + used, size - used, "--shape %s", op->shape_form);
    for (int s = op->shape_sizes; s < op->size_count && used < size; s++)
        used += (size_t)snprintf(title + used, size - used,
                                 op->options[s - op->shape_sizes].usual ||
                                         op->options[s - op->shape_sizes].may_be_0
                                     ? " [--%s]"
                                     : " --%s",
                                 op->size_names[s]);
}

static void list_ops(struct listing *listing)
{
    char title[256];
    for (int i = 0; operators[i]; i++) {
        put_op(operators[i], title, sizeof title);
        add_row(listing, operators[i]->name, title);
    }
}

static void add_chip(void *context, const char *name)
{
    struct listing *listing = context;
    struct error error;
    if (listing->chip_count == MOST_CHIPS)
        return;
    struct listed_chip *chip = &listing->chips[listing->chip_count];
    cli_reads_hardware(listing->common, name);
    if (hardware_load_from(listing->common->hw_folders, name, NULL, &chip->hw, &error) != STATUS_OK)
        return;
    snprintf(chip->name, sizeof chip->name, "%.63s", name);
    if (chip->hw.host)
        hardware_clear(&chip->hw);
    else
        listing->chip_count++;
}

/* Can a chip run a kernel at all, whatever the sizes are? Else "44:5: Ascend 310 has no …". */
static bool runs_on(const struct operator* op, const struct listed_chip *chip, char reason[256])
{
    enum { ANY_SIZE = 256 };
    struct problem problem;
    struct space space;
    struct error error;
    char shape[256] = "";
    for (int s = 0; s < op->shape_sizes; s++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%d", s ? "x" : "",
                 ANY_SIZE);
    if (problem_parse(op, shape, &problem, &error) != STATUS_OK ||
        problem_settle(&problem, &error) != STATUS_OK)
        return true;
    enum status status =
        space_open(&problem, op->spaces[0], &chip->hw, chip->hw.cores, &space, &error);
    if (status == STATUS_OK)
        space_close(&space);
    if (status != STATUS_INVALID)
        return true;
    const char *text = strstr(error.text, ".kernel:");
    snprintf(reason, 256, "%.255s", text ? text + strlen(".kernel:") : error.text);
    char *end = strstr(reason, "; did you mean");
    if (end)
        *end = 0;
    return false;
}

/* Appends "; not on ascend310, r-inference: 44:5: Ascend 310 has no …": chips that fail at the same
 * place together, with the reason of the first. */
static void put_chips(const struct listing *listing, const struct operator* op,
                      const struct operator* apart, char *title, size_t size)
{
    char reasons[MOST_CHIPS][256];
    bool is_said[MOST_CHIPS];
    size_t used = strlen(title);
    for (int c = 0; c < listing->chip_count; c++) {
        const struct listed_chip *chip = &listing->chips[c];
        bool is_apart = apart && hardware_cores_apart(&chip->hw);
        is_said[c] = runs_on(is_apart ? apart : op, chip, reasons[c]);
    }
    for (int c = 0; c < listing->chip_count; c++) {
        size_t place = strcspn(reasons[c], " ");
        if (is_said[c])
            continue;
        for (int other = c; other < listing->chip_count && used < size; other++)
            if (!is_said[other] && strncmp(reasons[other], reasons[c], place) == 0) {
                used +=
                    (size_t)snprintf(title + used, size - used, "%s%s",
                                     other == c ? "; not on " : ", ", listing->chips[other].name);
                is_said[other] = true;
            }
        if (used < size)
            used += (size_t)snprintf(title + used, size - used, ": %s", reasons[c]);
    }
}

static void add_kernel(void *context, const char *name, const char *file, const char *apart)
{
    struct listing *listing = context;
    const struct operator* op, *other = NULL;
    struct error error;
    char sizes[1024], title[8192 + (size_t)2 * PATH_MAX];
    cli_reads(listing->common, file);
    if (apart)
        cli_reads(listing->common, apart);
    if (operator_read(file, &op, &error) == STATUS_OK &&
        (!apart || operator_read(apart, &other, &error) == STATUS_OK)) {
        put_op(op, sizes, sizeof sizes);
        snprintf(title, sizeof title, "%s; %s%s%s", sizes, file,
                 apart ? "; where cube and vector cores are apart " : "", apart ? apart : "");
        put_chips(listing, op, other, title, sizeof title);
    } else {
        snprintf(title, sizeof title, "broken: %.400s", error.text);
    }
    operator_free(op);
    operator_free(other);
    add_row(listing, name, title);
}

static void list_kernels(struct listing *listing)
{
    struct error error;
    if (listing->asks_chips) {
        listing->chips = cli_require_memory(calloc(MOST_CHIPS, sizeof *listing->chips));
        cli_require(hardware_each_from(listing->common->hw_folders, add_chip, listing, &error),
                    &error);
    }
    cli_require(kernels_each(listing->common->kernel_folders, add_kernel, listing, &error), &error);
    for (int c = 0; c < listing->chip_count; c++)
        hardware_clear(&listing->chips[c].hw);
    free(listing->chips);
    listing->chips = NULL;
    listing->chip_count = 0;
}

static void list_spaces(struct listing *listing)
{
    char title[256];
    for (int i = 0; operators[i]; i++)
        for (int s = 0; operators[i]->spaces[s]; s++) {
            snprintf(title, sizeof title, "%s: %s", operators[i]->name,
                     operators[i]->spaces[s]->title);
            add_row(listing, operators[i]->spaces[s]->name, title);
        }
}

static void list_strategies(struct listing *listing)
{
    for (const struct search_strategy *const *s = search_strategies; *s; s++)
        add_row(listing, (*s)->name, (*s)->title);
}

static void list_formats(struct listing *listing)
{
    for (const struct format *format = formats; format->name; format++)
        add_row(listing, format->name, format->title);
}

/* "; corrected: learned from …", or why that is not so; nothing of a chip without a correction. */
enum { LEARNED_SIZE = 320 };
static const char *learned_text(struct common *common, const struct hardware *hw,
                                char text[LEARNED_SIZE])
{
    char summary[LEARNED_SIZE / 2];
    struct correcting correcting;
    struct error error;
    *text = '\0';
    if (correcting_open(hw, &correcting, &error) != STATUS_OK) {
        snprintf(text, LEARNED_SIZE, "; correction broken: %.200s", error.text);
        return text;
    }
    if (!*correcting.file)
        return text;
    cli_reads(common, correcting.file);
    if (*correcting.reason)
        snprintf(text, LEARNED_SIZE, "; not corrected: %s", correcting.reason);
    else
        snprintf(text, LEARNED_SIZE, "; corrected for %.60s, %s", correcting.correction.op,
                 correcting_summary(&correcting.correction, summary, sizeof summary));
    correcting_close(&correcting);
    return text;
}

static void add_hardware(void *context, const char *name)
{
    struct listing *listing = context;
    struct hardware hw;
    struct error error;
    char title[512 + LEARNED_SIZE], learned[LEARNED_SIZE];
    cli_reads_hardware(listing->common, name);
    if (hardware_load_from(listing->common->hw_folders, name, NULL, &hw, &error) == STATUS_OK) {
        if (hw.host)
            snprintf(title, sizeof title, "%s: %d thread%s, %s, measured on %s", hw.name, hw.cores,
                     hw.cores == 1 ? "" : "s", host_isa_name(hw.host->isa), hw.host->date);
        else
            snprintf(title, sizeof title, "%s: %d core%s, %.0f MHz%s", hw.name, hw.cores,
                     hw.cores == 1 ? "" : "s", (double)hw.clock_hz / 1e6,
                     learned_text(listing->common, &hw, learned));
        hardware_clear(&hw);
    } else {
        snprintf(title, sizeof title, "broken: %.400s", error.text);
    }
    add_row(listing, name, title);
}

static void list_hw(struct listing *listing)
{
    struct error error;
    cli_require(hardware_each_from(listing->common->hw_folders, add_hardware, listing, &error),
                &error);
}

static void add_set(void *context, const char *name, const char *file, const char *title)
{
    struct listing *listing = context;
    cli_reads(listing->common, file);
    add_row(listing, name, title);
}

static void list_sweeps(struct listing *listing)
{
    struct error error;
    cli_require(sweep_each_set(add_set, listing, &error), &error);
}

static const struct list {
    const char *word;
    void (*list)(struct listing *listing);
} lists[] = {
    {"ops", list_ops},       {"kernels", list_kernels},       {"hw", list_hw},
    {"spaces", list_spaces}, {"strategies", list_strategies}, {"formats", list_formats},
    {"sweeps", list_sweeps},
};

/* Rows are wrapped on a terminal; elsewhere each is a line, for grep and diff. */
static struct style row_style(const struct answer *answer)
{
    struct style style = answer->style;
    if (answer->common->output || !isatty(STDOUT_FILENO))
        style.width = INT_MAX;
    return style;
}

/* NULL: there is none of this name. */
static const struct list *find_list(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strlen(lists[i].word) == length && strncmp(lists[i].word, word, length) == 0)
            return &lists[i];
    return NULL;
}

/* For completion (commands.h), which may ask for what is no list. */
json_t *list_rows(const char *kind, size_t length)
{
    struct common common = {0};
    struct listing listing = {.rows = json_array(), .common = &common};
    const struct list *list = find_list(kind, length);
    if (list)
        list->list(&listing);
    return listing.rows;
}

static void write_listing(json_t *rows, struct answer *answer)
{
    struct style style = row_style(answer);
    char line[TEXT_LINE_SIZE];
    struct error error;
    size_t index;
    json_t *row;
    int width = 18;
    if (answer->common->format == FORMAT_JSON) {
        cli_require(json_write(rows, answer->stream, &error), &error);
        return;
    }
    json_array_foreach(rows, index, row)
    {
        int length = (int)json_string_length(json_object_get(row, "name"));
        width = length > width ? length : width;
    }
    json_array_foreach(rows, index, row)
    {
        fprintf(answer->stream, "%-*s ", width,
                text_line(json_string_value(json_object_get(row, "name")), line));
        text_put_wrapped(json_string_value(json_object_get(row, "title")), width + 1, &style,
                         answer->stream);
        fputc('\n', answer->stream);
    }
    json_decref(rows);
}

static void describe_json(const struct hardware *hw, struct answer *answer)
{
    struct error error;
    json_t *facts = json_array();
    for (size_t i = 0; i < hw->fact_count; i++)
        json_array_append_new(facts, json_pack("{s:s, s:s, s:o}", "key", hw->facts[i].key, "value",
                                               hw->facts[i].value, "source",
                                               json_text(hw->facts[i].source)));
    cli_require(
        json_write(json_pack("{s:i, s:o, s:o, s:o}", "schema", 1, "name", json_text(hw->name),
                             "file", json_text(hw->file), "facts", facts),
                   answer->stream, &error),
        &error);
}

/* Numbers to the right, or words to the left. */
static void put_facts(const struct hardware *hw, bool words, struct answer *answer)
{
    struct style style = row_style(answer);
    size_t key = 0, value = 0;
    for (size_t i = 0; i < hw->fact_count; i++) {
        size_t length = strlen(hw->facts[i].key);
        if (hw->facts[i].is_words != words)
            continue;
        key = length > key ? length : key;
        length = strlen(hw->facts[i].value);
        value = length > value ? length : value;
    }
    if (key)
        fputc('\n', answer->stream);
    for (size_t i = 0; i < hw->fact_count; i++) {
        if (hw->facts[i].is_words != words)
            continue;
        fprintf(answer->stream, words ? "%-*s  %-*s  " : "%-*s  %*s  ", (int)key, hw->facts[i].key,
                (int)value, hw->facts[i].value);
        text_put_wrapped(hw->facts[i].source, (int)(key + value) + 4, &style, answer->stream);
        fputc('\n', answer->stream);
    }
}

static void describe_table(const struct hardware *hw, struct answer *answer)
{
    char line[TEXT_LINE_SIZE];
    fprintf(answer->stream, "%s\n%s\n", hw->name, text_line(hw->file, line));
    put_facts(hw, false, answer);
    put_facts(hw, true, answer);
}

static void describe_hardware(struct common *common, const char *name, struct answer *answer)
{
    struct hardware hw;
    common->hw_name = name;
    cli_load_hardware(common, &hw);
    if (common->format == FORMAT_JSON)
        describe_json(&hw, answer);
    else
        describe_table(&hw, answer);
    hardware_clear(&hw);
}

/* Its text as it stands in the file; with --hw that for this chip. */
static void print_kernel(struct common *common, const char *name, struct answer *answer)
{
    struct kernels *kernels;
    const struct operator* op;
    struct error error;
    struct hardware hw = {0};
    if (common->hw_name)
        cli_load_hardware(common, &hw);
    cli_require(kernels_open(common->kernel_folders, &kernels, &error), &error);
    cli_require(kernels_get(kernels, name, hardware_cores_apart(&hw), &op, &error), &error);
    hardware_clear(&hw);
    cli_reads_kernels(common, kernels);
    if (common->format == FORMAT_JSON)
        cli_require(
            json_write(json_pack("{s:i, s:s, s:s, s:o}", "schema", 1, "name", op->name, "kernel",
                                 op->fingerprint, "text", json_text(operator_source(op))),
                       answer->stream, &error),
            &error);
    else
        fputs(operator_source(op), answer->stream);
    answer->kind = common->format == FORMAT_JSON ? answer->kind : ANSWER_EXACT;
    kernels_close(kernels);
}

static _Noreturn void die_of_kind(const char *word)
{
    struct suggestion like = suggest_for(word, -1);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        suggest_try(&like, lists[i].word);
    cli_die("list %.64s: expected ops, kernels, hw, spaces, strategies, formats or sweeps%s", word,
            like.text);
}

/* Nothing has this name. */
static _Noreturn void die_of_name(const struct listing *all, const char *kind, const char *name)
{
    size_t index;
    json_t *row;
    struct suggestion like = suggest_for(name, -1);
    json_array_foreach(all->rows, index, row)
        suggest_try(&like, json_string_value(json_object_get(row, "name")));
    cli_die("list %s %.64s: there is none; `autotune list %s` shows all%s", kind, name, kind,
            like.text);
}

int cmd_list(int argc, char **argv)
{
    struct common common = {.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    struct answer answer;
    const char *words[2] = {NULL, NULL};
    int count = cli_parse(&usage, argc, argv, &common, words, 2);
    if (count == 0)
        cli_die("list: expected ops, kernels, hw, spaces, strategies, formats or sweeps");
    const struct list *list = find_list(words[0], strlen(words[0]));
    if (!list)
        die_of_kind(words[0]);
    cli_answer_open(&answer, &common);
    if (words[1] && list->list == list_hw) {
        describe_hardware(&common, words[1], &answer);
    } else if (words[1] && list->list == list_kernels) {
        print_kernel(&common, words[1], &answer);
    } else {
        struct listing listing = {
            .rows = json_array(), .only = words[1], .common = &common, .asks_chips = true};
        list->list(&listing);
        if (words[1] && json_array_size(listing.rows) == 0) {
            listing.only = NULL;
            list->list(&listing);
            die_of_name(&listing, words[0], words[1]);
        }
        write_listing(listing.rows, &answer);
    }
    cli_check_files(&common);
    cli_answer_close(&answer);
    cli_close(&common);
    return EXIT_ANSWER;
}
