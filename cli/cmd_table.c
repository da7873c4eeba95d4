/* `autotune table`. Results of the store that pass the filter are put in order and handed to the
 * writer of the format; what is left out, and why, is said beside. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/store_options.h"
#include "jobs/table/tilings.h"

#include <stdlib.h>
#include <string.h>

struct table_command {
    struct common common; /* first */
    struct store_filter filter;
    const char *store, *prefix;
};

static void check_prefix(const struct cli_option *option, void *options, const char *text)
{
    (void)options;
    if (!table_is_prefix(text))
        cli_die("--%s %.64s: expected a letter, then letters, digits and _", option->name, text);
}

static const struct cli_option options[] = {
    {"db", "DB", "the store", 1, .text = offsetof(struct table_command, store)},
    {"prefix", "NAME",
     "of format c: what names begin with (default autotune), so that tables of several chips go "
     "together",
     1, .text = offsetof(struct table_command, prefix), .take = check_prefix},
    {0},
};

static const struct usage usage = {
    .name = "autotune table",
    .tables = {{options, 0},
               {filter_options, offsetof(struct table_command, filter)},
               {kernel_options, 0}},
    .args_doc = "--db DB",
    .doc = "Writes the best tiling of each shape in a store as a table that a library loads or "
           "people read. The same store and command give the same bytes.\v"
           "Examples:\n"
           "  autotune table --db results.db\n"
           "  autotune table --db results.db --op matmul --format c -o tilings.h\n"
           "  autotune table --db results.db --hw ascend910b1 --format runtime_kb\n",
};

/* Where there are results of another kind, how to get them. */
static void say_that_there_is_none(const char *store, const struct tilings *tilings)
{
    char others[STORE_KINDS * 64] = "";
    for (int kind = 0; kind < STORE_KINDS; kind++)
        if (kind != (int)tilings->kind && tilings->of_kind[kind])
            sprintf(others + strlen(others), "--kind %s has %lld; ",
                    store_kind_name((enum store_kind)kind), (long long)tilings->of_kind[kind]);
    cli_warn("%s: no %s result to make a table of; %s`autotune store ls` lists what there is",
             store, store_kind_name(tilings->kind), others);
}

static void say_what_is_left_out(const struct table_command *command, const struct tilings *tilings)
{
    if (command->common.quiet)
        return;
    if (tilings->outdated)
        cli_warn("left out as of other model versions: %lld", (long long)tilings->outdated);
    if (tilings->infeasible && command->common.verbose)
        cli_warn("left out as without a legal tiling: %lld", (long long)tilings->infeasible);
    if (tilings->count && formats[command->common.format].note)
        cli_warn("%s", formats[command->common.format].note);
    if (!tilings->count)
        say_that_there_is_none(command->store, tilings);
}

static void write_table(const struct table_command *command, const struct tilings *tilings,
                        const char *text)
{
    struct table_about about = {AUTOTUNE_VERSION, text, command->prefix};
    struct answer answer;
    struct error error;
    const struct format *format = &formats[command->common.format];
    struct table_remarks remarks;
    cli_answer_open(&answer, &command->common);
    cli_require_of(command->store,
                   tilings_write(tilings, &about, format, answer.stream, &remarks, &error), &error);
    if (remarks.left_out && !command->common.quiet)
        cli_warn(
            "%d of %lld shapes are left out: %s has no words for their tilings; expected those "
            "of the space tcube or static, as in sweep's column `space`",
            remarks.left_out, (long long)tilings->count, format->name);
    if (*remarks.unchecked && !command->common.quiet)
        cli_warn("lookups of kernels' texts find exact shapes only: %s", remarks.unchecked);
    cli_answer_close(&answer);
}

int cmd_table(int argc, char **argv)
{
    struct table_command command = {
        .common.format = FORMAT_MARKDOWN,
        .common.formats = formats_with(format_is_table),
        .prefix = "autotune",
    };
    char *text = cli_command_text("table", argc, argv);
    struct tilings tilings;
    struct error error;
    cli_parse(&usage, argc, argv, &command, NULL, 0);
    if (!command.store)
        cli_die("--db is missing, expected a store");
    struct kernels *kernels = filter_open(&command.common, &command.filter);
    cli_check_files(&command.common);
    cli_require(tilings_read(command.store, &command.filter, kernels, &tilings, &error), &error);
    say_what_is_left_out(&command, &tilings);
    if (tilings.count)
        write_table(&command, &tilings, text);
    int exit_status = tilings.count ? EXIT_ANSWER : EXIT_NONE;
    tilings_clear(&tilings);
    kernels_close(kernels);
    cli_close(&command.common);
    free(text);
    return exit_status;
}
