/* `autotune merge`. The stores are joined in one transaction (sweep_merge.h); with --sweep the jobs
 * are made anew from its file and looked up in the result, which tells what is missing. */
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/sweep_jobs.h"
#include "formats/json.h"
#include "formats/text.h"
#include "jobs/sweep/sweep_merge.h"

#include <stdlib.h>

enum { MAX_STORES = 4097, MOST_NAMED = 20 };

struct merge_command {
    struct common common; /* first */
    const char *sweep, *time_limit;
};

static const struct cli_option options[] = {
    {.help = "Merge:", .group = 1},
    {"sweep", "FILE",
     "say which jobs of this sweep have no answer; options as for the sweep itself", 1,
     .text = offsetof(struct merge_command, sweep)},
    {"time-limit", "SECONDS", "of each job, as for the sweep itself", 1,
     .text = offsetof(struct merge_command, time_limit), .take = sweep_check_time_limit},
    {0},
};

static const struct usage usage = {
    .name = "autotune merge",
    .tables = {{options, 0}, {hardware_options, 0}, {kernel_options, 0}},
    .args_doc = "INTO STORE...",
    .doc = "Puts the results of several stores into one, all or nothing. What they have in common "
           "is kept once; results of other versions of the model are refused.\v"
           "Exit status: 0 joined; 1 joined, but jobs of --sweep have no answer; 2 not joined.\n\n"
           "Examples:\n"
           "  autotune merge all.db autotune.1-of-2.db autotune.2-of-2.db\n"
           "  autotune merge all.db part*.db --sweep shapes.csv\n",
};

/* ------------------------------------------------------------------ what is missing */

struct missing {
    struct sweep sweep; /* empty without --sweep */
    int64_t count, *jobs;
};

static void find_missing(const struct merge_command *command, const char *into,
                         struct missing *missing)
{
    struct store *store;
    struct error error;
    if (!command->sweep)
        return;
    cli_require(store_open(into, STORE_READ, &store, &error), &error);
    cli_require(sweep_missing(&missing->sweep, store, &missing->jobs, &missing->count, &error),
                &error);
    store_close(store);
}

static json_t *missing_json(const struct missing *missing)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < missing->count; i++) {
        char title[512];
        sweep_title(&missing->sweep, missing->jobs[i], title, sizeof title);
        json_array_append_new(list, json_pack("{s:i, s:o}", "line",
                                              missing->sweep.jobs[missing->jobs[i]].line, "job",
                                              json_text(title)));
    }
    return list;
}

static void put_missing(const struct missing *missing, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    char title[512], count[TEXT_SIZE], all[TEXT_SIZE];
    fprintf(out, "  missing     %9s  of %s jobs of %s\n", text_count(missing->count, count),
            text_count(missing->sweep.job_count, all), text_line(missing->sweep.file, line));
    for (int64_t i = 0; i < missing->count && i < MOST_NAMED; i++) {
        sweep_title(&missing->sweep, missing->jobs[i], title, sizeof title);
        fprintf(out, "    line %d: %s\n", missing->sweep.jobs[missing->jobs[i]].line, title);
    }
    if (missing->count > MOST_NAMED)
        fprintf(out, "    ...\n");
}

/* ------------------------------------------------------------------ the answer */

static void put_report(const struct merge_counts *counts, const char *into, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    char text[TEXT_SIZE];
    fprintf(out, "%s: %s result%s read\n", text_line(into, line), text_count(counts->rows, text),
            counts->rows == 1 ? "" : "s");
    fprintf(out, "  added       %9s\n", text_count(counts->added, text));
    fprintf(out, "  duplicates  %9s  were there already", text_count(counts->duplicates, text));
    if (counts->better)
        fprintf(out, "; %s of them said less", text_count(counts->better, text));
    fprintf(out, "\n");
    if (counts->measured_twice)
        fprintf(
            out,
            "  measured    %9s  of them twice: the one with more time is kept, then the faster\n",
            text_count(counts->measured_twice, text));
}

static void write_answer(const struct merge_command *command, const char *into,
                         const struct merge_counts *counts, const struct missing *missing)
{
    struct answer out;
    struct error error;
    cli_answer_open(&out, &command->common);
    if (command->common.format == FORMAT_JSON) {
        json_t *document = json_pack(
            "{s:i, s:o, s:I, s:I, s:I, s:I, s:I}", "schema", 1, "db", json_text(into), "rows",
            (json_int_t)counts->rows, "added", (json_int_t)counts->added, "duplicates",
            (json_int_t)counts->duplicates, "better", (json_int_t)counts->better, "measured_twice",
            (json_int_t)counts->measured_twice);
        if (command->sweep)
            json_object_set_new(document, "missing", missing_json(missing));
        cli_require(json_write(document, out.stream, &error), &error);
    } else {
        put_report(counts, into, out.stream);
        if (command->sweep)
            put_missing(missing, out.stream);
    }
    cli_answer_close(&out);
}

int cmd_merge(int argc, char **argv)
{
    struct merge_command command = {.common.formats = 1 << FORMAT_TABLE | 1 << FORMAT_JSON};
    static const char *files[MAX_STORES];
    struct missing missing = {.count = 0};
    struct merge_counts counts;
    struct error error;
    int count = cli_parse(&usage, argc, argv, &command, files, MAX_STORES);
    if (count < 2)
        cli_die("merge: expected a store to put into, and stores; `autotune merge --help` says "
                "more");
    if (command.sweep)
        sweep_jobs_read(&command.common, command.time_limit, command.sweep, &missing.sweep);
    for (int f = 0; f < count; f++)
        cli_keeps(&command.common, files[f]);
    cli_check_files(&command.common);
    cli_require(merge_stores(files[0], files + 1, count - 1, &counts, &error), &error);
    find_missing(&command, files[0], &missing);
    write_answer(&command, files[0], &counts, &missing);
    free(missing.jobs);
    sweep_clear(&missing.sweep);
    cli_close(&command.common);
    return missing.count ? EXIT_NONE : EXIT_ANSWER;
}
