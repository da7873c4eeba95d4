#include "cli/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder that a file is in, or would be made in, and its name there. */
static bool find_folder(const char *path, struct stat *folder, const char **name)
{
    char text[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    int used = snprintf(text, sizeof text, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                        slash ? path : ".");
    return used < (int)sizeof text && stat(text, folder) == 0;
}

/* Devices may be named twice. */
static bool names_same_file(const char *a, const char *b)
{
    struct stat at_a, at_b;
    const char *name_a, *name_b;
    bool exists_a = stat(a, &at_a) == 0, exists_b = stat(b, &at_b) == 0;
    if (exists_a || exists_b)
        return exists_a && exists_b && S_ISREG(at_a.st_mode) && is_same(&at_a, &at_b);
    return find_folder(a, &at_a, &name_a) && find_folder(b, &at_b, &name_b) &&
           is_same(&at_a, &at_b) && strcmp(name_a, name_b) == 0;
}

void page_require_apart(const struct page *page, const char *what, const char *file)
{
    if (page->output && file && names_same_file(page->output, file))
        cli_die("--report %s: expected a file of its own, this is %s", page->output, what);
}

bool page_is_wanted(const struct page *page, const struct common *common)
{
    bool is_answer = common->format == FORMAT_HTML;
    if (page->output && strcmp(page->output, "-") == 0)
        cli_die("--report -: expected the name of a file");
    if (page->output)
        cli_require_writable(page->output);
    page_require_apart(page, "the answer's", common->output);
    page_require_apart(page, "the description of --hw", common->hw_name);
    return page->output || is_answer;
}

void page_open(const struct page *page, const char *title, const char *lead, struct report *report)
{
    *report = (struct report){
        .title = title,
        .lead = lead,
        .command = page->command,
        .version = AUTOTUNE_VERSION,
        .sections = json_array(),
    };
}

static void write_answer(const struct common *common, const char *text, size_t length)
{
    struct answer answer;
    cli_answer_open(&answer, common);
    fwrite(text, 1, length, answer.stream);
    cli_answer_close(&answer);
}

void page_close(const struct page *page, const struct common *common, struct report *report)
{
    struct error error;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        cli_die("out of memory");
    cli_require_of("--report", report_write(report, out, &error), &error);
    if (fclose(out))
        cli_die("out of memory");
    report_clear(report);
    if (page->output)
        cli_require(cli_write_file(page->output, text, length, &error), &error);
    if (common->format == FORMAT_HTML)
        write_answer(common, text, length);
    free(text);
}
