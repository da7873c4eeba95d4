/* Whether a file is a table shows in its first line; a pipe can be read but once, so its content
 * goes through a temporary file that takes the place of standard input. Rows are written as they
 * are read, for a profile may have millions, and problems told as they come, the first twenty of
 * them. */
#include "cli/analyse_profile.h"
#include "cli/answer.h"

#include "cli/signals.h"
#include "formats/text.h"
#include "results/analysis_write.h"
#include "results/report_profile.h"
#include "results/report_tune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of what is wrong with a file, so many lines are shown: the rest is the same again. */
enum { MAX_PROBLEMS = 20 };

struct problems {
    const char *file; /* "": problems name their files */
    int64_t count;
};

enum { HEAD_SIZE = 4096 };

/* Looks at what stands at an offset of an open file, without reading on. */
static bool begins_as_profile(int descriptor, off_t offset)
{
    char head[HEAD_SIZE + 1];
    ssize_t count = offset < 0 ? -1 : pread(descriptor, head, HEAD_SIZE, offset);
    head[count > 0 ? count : 0] = 0;
    return profile_is_head(head);
}

static bool file_begins_as_profile(const char *file)
{
    struct stat info;
    if (stat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    bool is_head = descriptor >= 0 && begins_as_profile(descriptor, 0);
    if (descriptor >= 0)
        close(descriptor);
    return is_head;
}

static void copy_standard_input(FILE *copy)
{
    char block[1 << 16];
    ssize_t count;
    while ((count = read(STDIN_FILENO, block, sizeof block)) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            cli_die("standard input: %s", strerror(errno));
        if (fwrite(block, 1, (size_t)count, copy) != (size_t)count)
            cli_die("a temporary file: %s", strerror(errno));
    }
    if (fflush(copy) != 0)
        cli_die("a temporary file: %s", strerror(errno));
}

/* A program and a table are told apart by the first line, and what comes from a pipe can be read
 * but once: a temporary file takes its place. */
static bool standard_input_begins_as_profile(void)
{
    off_t offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (offset < 0) {
        FILE *copy = files_temporary();
        copy_standard_input(copy);
        if (dup2(fileno(copy), STDIN_FILENO) < 0)
            cli_die("standard input: %s", strerror(errno));
        fclose(copy);
        offset = lseek(STDIN_FILENO, 0, SEEK_SET);
    }
    return begins_as_profile(STDIN_FILENO, offset);
}

bool analyse_is_folder(const char *file)
{
    struct stat info;
    return stat(file, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ------------------------------------------------------------------ files */

static void add_file(const char *name, struct profile_files *files)
{
    if (files->count == PROFILE_MAX_FILES)
        cli_die("%s: more than %d profiles", name, (int)PROFILE_MAX_FILES);
    cli_require_memory(files->names[files->count++] = strdup(name));
}

static int is_table(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcasecmp(entry->d_name + length - 4, ".csv") == 0;
}

/* Profilers write more tables than those of kernels: others are passed over. */
static void add_folder(const char *folder, struct profile_files *files)
{
    struct dirent **entries;
    char file[PATH_MAX];
    int before = files->count, count = scandir(folder, &entries, is_table, alphasort);
    if (count < 0)
        cli_die("%s: cannot open it: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        size_t length = strlen(folder);
        int used = snprintf(file, sizeof file, "%s%s%s", folder,
                            length && folder[length - 1] == '/' ? "" : "/", entries[i]->d_name);
        if (used < (int)sizeof file && file_begins_as_profile(file))
            add_file(file, files);
        free(entries[i]);
    }
    free(entries);
    if (files->count == before)
        cli_die("%s: no profile is in it, expected tables such as op_summary*.csv, "
                "kernel_details.csv or PipeUtilization.csv",
                folder);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whatever the order in which they are named. */
void profile_files_take(const char *const *words, int count, struct profile_files *files)
{
    memset(files, 0, sizeof *files);
    for (int i = 0; i < count; i++)
        if (analyse_is_folder(words[i]))
            add_folder(words[i], files);
        else if (count > 1 && strcmp(words[i], "-") == 0)
            cli_die("analyse -: several profiles are read more than once, expected files");
        else
            add_file(words[i], files);
    qsort(files->names, (size_t)files->count, sizeof *files->names, by_name);
    for (int i = 1; i < files->count; i++)
        if (strcmp(files->names[i - 1], files->names[i]) == 0)
            cli_die("%s: given twice, expected different profiles", files->names[i]);
    int used = 0;
    for (int i = 0; i < files->count && used < (int)sizeof files->title; i++)
        used += snprintf(files->title + used, sizeof files->title - (size_t)used, "%s%s",
                         i ? ", " : "", files->names[i]);
    if (count == 1)
        snprintf(files->title, sizeof files->title, "%s", words[0]);
}

void profile_files_clear(struct profile_files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->names[i]);
}

bool analyse_is_profile(const char *file)
{
    size_t length = strlen(file);
    if (strcmp(file, "-") == 0)
        return standard_input_begins_as_profile();
    return (length > 4 && strcasecmp(file + length - 4, ".csv") == 0) ||
           file_begins_as_profile(file);
}

static void show_problem(void *context, const char *text)
{
    struct problems *problems = context;
    if (problems->count++ < MAX_PROBLEMS)
        cli_warn("%s%s%s", problems->file, *problems->file ? ":" : "", text);
}

/* The description that peaks come from is the one that is named: another chip's would be wrong. */
static void load_chip(struct common *common, struct hardware *hw)
{
    if (common->cores)
        cli_die("--cores: how many cores ran is in the profile, expected a program");
    if (common->hw_name)
        cli_load_chip(common, hw);
    else if (common->override_count)
        cli_die("--set-hw: expected --hw as well, the chip that the profile is of");
}

static void analyse(const struct analyse_job *job, const struct common *common,
                    struct analyse_result *result)
{
    struct error error;
    struct answer answer;
    struct analyse_job styled = *job;
    if (job->format == ANALYSE_SUMMARY) {
        cli_require(analyse_profile(job, NULL, result, &error), &error);
        return;
    }
    cli_answer_open_long(&answer, common);
    styled.style = &answer.style;
    enum status status = analyse_profile(&styled, answer.stream, result, &error);
    if (status != STATUS_OK && ferror(answer.stream))
        cli_die("a temporary file: %s", strerror(errno));
    cli_require(status, &error);
    cli_answer_close(&answer);
}

static void write_page(const struct page *page, const struct common *common,
                       const struct analyse_job *job, json_t *summary)
{
    struct report report;
    char lead[160], time[TEXT_SIZE], rows[TEXT_SIZE];
    snprintf(lead, sizeof lead, "%s rows, %s in all",
             text_count(json_integer_value(json_object_get(summary, "rows")), rows),
             text_time(1e3 * json_real_value(json_object_get(summary, "time_us")), time));
    page_open(page, job->name, lead, &report);
    report_profile(&report, summary);
    if (job->how.hw)
        report_hardware(&report, job->how.hw);
    page_close(page, common, &report);
}

int analyse_profile_file(struct common *common, const struct diagnosis_thresholds *thresholds,
                         int top, const struct page *page, const struct profile_files *files)
{
    static const enum analyse_format forms[] = {[FORMAT_TABLE] = ANALYSE_TABLE,
                                                [FORMAT_JSON] = ANALYSE_JSON,
                                                [FORMAT_CSV] = ANALYSE_CSV,
                                                [FORMAT_HTML] = ANALYSE_SUMMARY};
    struct hardware hw = {0};
    struct analyse_result result;
    struct problems problems = {files->count == 1 ? text_file_name(files->names[0]) : "", 0};
    load_chip(common, &hw);
    cli_check_files(common);
    bool wants_page = page_is_wanted(page, common);
    json_t *summary = NULL;
    stop_open();
    struct analyse_job job = {
        .files = (const char *const *)files->names,
        .file_count = files->count,
        .name = files->title,
        .how = {common->hw_name ? &hw : NULL, *thresholds},
        .format = forms[common->format],
        .top = top,
        .stop = stop_asked(),
        .problem = show_problem,
        .context = &problems,
        .summary = wants_page ? &summary : NULL,
    };
    analyse(&job, common, &result);
    if (wants_page)
        write_page(page, common, &job, summary);
    json_decref(summary);
    if (problems.count > MAX_PROBLEMS)
        cli_warn("%s: and %lld lines more with something wrong", text_file_name(files->title),
                 (long long)(problems.count - MAX_PROBLEMS));
    hardware_clear(&hw);
    stop_close();
    return result.rows == 0 || problems.count ? EXIT_NONE : EXIT_ANSWER;
}
