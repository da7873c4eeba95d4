/* `autotune store`. A second word says what is done; its row in a table has the function, the files
 * that it expects and the formats that it knows, so that all words are checked in one place. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/store_options.h"
#include "core/suggest.h"
#include "jobs/tune/kernels.h"
#include "results/store_import.h"
#include "results/store_rows.h"
#include "results/store_write.h"

#include <string.h>
#include <sys/stat.h>

struct store_command {
    struct common common; /* first */
    struct store_filter filter;
    bool dry_run, keep, replace;
};

static const struct cli_option options[] = {
    {"dry-run", NULL, "gc: say what would go, and change nothing", 3,
     .flag = offsetof(struct store_command, dry_run)},
    {"keep", NULL, "import: where both have a result for the same question, the store's counts", 3,
     .flag = offsetof(struct store_command, keep)},
    {"replace", NULL, "import: the file's counts", 3,
     .flag = offsetof(struct store_command, replace)},
    {0},
};

static const struct usage usage = {
    .name = "autotune store",
    .tables = {{options, 0},
               {filter_options, offsetof(struct store_command, filter)},
               {kernel_options, 0}},
    .args_doc = "ls|show|export|gc DB\ndiff OLD NEW\nimport DB FILE",
    .doc = "Looks into a store of results and keeps it tidy.\n"
           "  ls      the results, one a line\n"
           "  show    the whole answers\n"
           "  diff    what changed from one store to another; exit status 1 if anything\n"
           "  export  JSON lines, sorted: equal contents give equal bytes\n"
           "  import  puts what was exported into a store, made if need be\n"
           "  gc      drops simulated results of other model versions, and with a filter what it "
           "chooses; makes the file smaller\v"
           "Examples:\n"
           "  autotune store ls results.db --op matmul --shape '512x*'\n"
           "  autotune store diff before.db after.db\n"
           "  autotune store export results.db -o results.jsonl\n"
           "  autotune store import all.db results.jsonl\n"
           "  autotune store gc results.db --kind measured --dry-run\n",
};

static struct store *open_store(const char *file, enum store_mode mode)
{
    struct store *store;
    struct error error;
    cli_require(store_open(file, mode, &store, &error), &error);
    return store;
}

/* ------------------------------------------------------------------ the words */

static int write_rows(struct store_command *command, const char *const files[],
                      store_list_writer *const writers[], enum store_answers answers)
{
    struct store *store = open_store(files[0], STORE_READ);
    struct store_rows rows;
    struct answer answer;
    struct error error;
    cli_require(store_rows_read(store, &command->filter, answers, &rows, &error), &error);
    store_close(store);
    cli_answer_open(&answer, &command->common);
    cli_require(writers[command->common.format](&rows, &answer.style, answer.stream, &error),
                &error);
    cli_answer_close(&answer);
    int status = rows.count ? EXIT_ANSWER : EXIT_NONE;
    store_rows_clear(&rows);
    return status;
}

static int run_ls(struct store_command *command, const char *const files[])
{
    static store_list_writer *const writers[] = {
        [FORMAT_TABLE] = store_list_table,
        [FORMAT_JSON] = store_list_json,
        [FORMAT_CSV] = store_list_csv,
    };
    return write_rows(command, files, writers, STORE_NO_ANSWERS);
}

static int run_show(struct store_command *command, const char *const files[])
{
    static store_list_writer *const writers[] = {
        [FORMAT_TABLE] = store_show_table,
        [FORMAT_JSON] = store_show_json,
    };
    return write_rows(command, files, writers, STORE_ANSWERS);
}

static int run_diff(struct store_command *command, const char *const files[])
{
    struct store *old = open_store(files[0], STORE_READ), *new = open_store(files[1], STORE_READ);
    struct store_diff diff = {.filter = &command->filter};
    struct answer answer;
    struct error error;
    cli_answer_open(&answer, &command->common);
    cli_require(command->common.format == FORMAT_JSON
                    ? store_diff_json(old, new, &diff, answer.stream, &error)
                    : store_diff_table(old, new, &diff, &answer.style, answer.stream, &error),
                &error);
    store_close(old);
    store_close(new);
    cli_answer_close(&answer);
    int64_t changes = 0;
    for (int c = 0; c < STORE_CHANGES; c++)
        changes += c == STORE_SAME ? 0 : diff.count[c];
    return changes ? EXIT_NONE : EXIT_ANSWER;
}

struct exporting {
    const struct store_filter *filter;
    FILE *out;
};

static enum status export_row(void *context, const struct store_row *row, struct error *error)
{
    const struct exporting *exporting = context;
    if (!store_filter_matches(exporting->filter, row))
        return STATUS_OK;
    return store_export_row(row, exporting->out, error);
}

static int run_export(struct store_command *command, const char *const files[])
{
    struct store *store = open_store(files[0], STORE_READ);
    struct answer answer;
    struct error error;
    cli_answer_open(&answer, &command->common);
    answer.kind = ANSWER_JSON; /* in every format */
    struct exporting exporting = {&command->filter, answer.stream};
    cli_require(store_each(store, export_row, &exporting, &error), &error);
    store_close(store);
    cli_answer_close(&answer);
    return EXIT_ANSWER;
}

static bool can_be_read_twice(const char *file)
{
    struct stat about;
    return stat(file, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

static int run_import(struct store_command *command, const char *const files[])
{
    enum store_clash clash = command->keep      ? STORE_KEEP
                             : command->replace ? STORE_REPLACE
                                                : STORE_REFUSE;
    struct store_imported counts;
    struct answer answer;
    struct error error;
    if (command->keep && command->replace)
        cli_die("--keep, --replace: expected one of them");
    if (can_be_read_twice(files[1])) /* a bad one makes no store */
        cli_require(store_lines_check(files[1], &error), &error);
    struct store *store = open_store(files[0], STORE_WRITE);
    enum status status = store_import(files[1], store, &command->filter, clash, &counts, &error);
    store_close(store);
    cli_require(status, &error);
    cli_answer_open(&answer, &command->common);
    fprintf(answer.stream,
            command->common.format == FORMAT_JSON
                ? "{\"schema\": 1, \"added\": %lld, \"replaced\": %lld, \"kept\": %lld, \"same\": "
                  "%lld, \"left_out\": %lld}\n"
                : "%lld added, %lld replaced, %lld kept, %lld same, %lld left out\n",
            (long long)counts.added, (long long)counts.replaced, (long long)counts.kept,
            (long long)counts.same, (long long)counts.left_out);
    cli_answer_close(&answer);
    return EXIT_ANSWER;
}

static int64_t bytes_of(const char *file)
{
    struct stat about;
    return stat(file, &about) == 0 ? (int64_t)about.st_size : 0;
}

static int run_gc(struct store_command *command, const char *const files[])
{
    struct store_gc gc = {.filter = &command->filter};
    struct store_gc_counts counts = {.dry_run = command->dry_run};
    struct answer answer;
    struct error error;
    struct store *store = open_store(files[0], STORE_READ); /* does not make one */
    counts.bytes_before = bytes_of(files[0]);
    enum status status = store_gc_find(store, &gc, &error);
    store_close(store);
    cli_require(status, &error);
    if (!command->dry_run) {
        store = open_store(files[0], STORE_WRITE);
        status = store_gc_remove(store, &gc, &error);
        store_close(store);
        cli_require(status, &error);
    }
    counts.bytes_after = bytes_of(files[0]);
    cli_answer_open(&answer, &command->common);
    cli_require((command->common.format == FORMAT_JSON ? store_gc_json : store_gc_table)(
                    &gc, &counts, answer.stream, &error),
                &error);
    cli_answer_close(&answer);
    store_gc_clear(&gc);
    return EXIT_ANSWER;
}

/* ------------------------------------------------------------------ the command */

enum { ALL_FORMATS = 1 << FORMAT_TABLE | 1 << FORMAT_JSON | 1 << FORMAT_CSV };

static const struct {
    const char *word;
    int (*run)(struct store_command *command, const char *const files[]);
    const char *files; /* what is expected */
    int file_count, store_count;
    unsigned formats;
} words[] = {
    {"ls", run_ls, "a store", 1, 1, ALL_FORMATS},
    {"show", run_show, "a store", 1, 1, 1 << FORMAT_TABLE | 1 << FORMAT_JSON},
    {"diff", run_diff, "two stores", 2, 2, 1 << FORMAT_TABLE | 1 << FORMAT_JSON},
    {"export", run_export, "a store", 1, 1, 1 << FORMAT_TABLE | 1 << FORMAT_JSON},
    {"import", run_import, "a store and a file", 2, 1, 1 << FORMAT_TABLE | 1 << FORMAT_JSON},
    {"gc", run_gc, "a store", 1, 1, 1 << FORMAT_TABLE | 1 << FORMAT_JSON},
};

enum { WORDS = sizeof words / sizeof *words, MAX_FILES = 2 };

static int find_word(const char *name)
{
    char list[128] = "";
    struct suggestion like = suggest_for(name ? name : "", -1);
    for (int w = 0; w < WORDS; w++) {
        suggest_try(&like, words[w].word);
        if (name && strcmp(words[w].word, name) == 0)
            return w;
        strcat(strcat(list, !w ? "" : w == WORDS - 1 ? " or " : ", "), words[w].word);
    }
    if (!name)
        cli_die("store: expected %s", list);
    cli_die("store %.64s: expected %s%s", name, list, like.text);
}

static void check_options(const struct store_command *command, const char *word)
{
    if (command->dry_run && strcmp(word, "gc") != 0)
        cli_die("--dry-run: store %s has none", word);
    if ((command->keep || command->replace) && strcmp(word, "import") != 0)
        cli_die("%s: store %s has none", command->keep ? "--keep" : "--replace", word);
}

int cmd_store(int argc, char **argv)
{
    struct store_command command = {.common.formats = ALL_FORMATS};
    const char *given[1 + MAX_FILES] = {NULL};
    int count = cli_parse(&usage, argc, argv, &command, given, 1 + MAX_FILES);
    int w = find_word(given[0]);
    if (count != 1 + words[w].file_count)
        cli_die("store %s: expected %s", words[w].word, words[w].files);
    if (!(words[w].formats >> command.common.format & 1))
        cli_die("--format: store %s has no such format", words[w].word);
    check_options(&command, words[w].word);
    for (int f = 0; f < words[w].file_count; f++)
        (f < words[w].store_count ? cli_keeps : cli_reads)(&command.common, given[1 + f]);
    struct kernels *kernels = filter_open(&command.common, &command.filter);
    cli_check_files(&command.common);
    int status = words[w].run(&command, given + 1);
    kernels_close(kernels);
    cli_close(&command.common);
    return status;
}
