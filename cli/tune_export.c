#include "cli/tune_export.h"
#include "cli/answer.h"

#include "jobs/tune/export.h"

#include <limits.h>
#include <string.h>

bool tune_is_export(const struct common *common)
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

/* Of a header NAME.h also NAME.json, the same fields for other readers; false where there is none.
 */
static bool name_beside(const struct common *common, char name[PATH_MAX])
{
    const char *dot = common->output ? strrchr(common->output, '.') : NULL;
    if (common->format != FORMAT_TCUBETILING || !dot ||
        (strcmp(dot, ".h") != 0 && strcmp(dot, ".hpp") != 0))
        return false;
    if (snprintf(name, PATH_MAX, "%.*s.json", (int)(dot - common->output), common->output) >=
        PATH_MAX)
        cli_die("-o %.64s: a name of more than %d bytes", common->output, PATH_MAX);
    return true;
}

void tune_export_note(struct common *common)
{
    char name[PATH_MAX];
    if (name_beside(common, name))
        files_note(&common->files, FILE_WRITTEN, "-o, beside it,", name);
}

static void write_fields_beside(const struct export_source *source, const struct common *common)
{
    struct common beside = *common;
    char name[PATH_MAX];
    if (!name_beside(common, name))
        return;
    beside.output = name;
    write_export(source, EXPORT_FIELDS, &beside);
}

static void say_what_is_open(const struct common *common)
{
    if (common->quiet)
        return;
    if (common->format == FORMAT_RUNTIME_KB)
        cli_warn("new rows have id 0 (a hash that is not published), one L2 piece of all "
                 "blocks and tilingEnable 0");
    if (common->format == FORMAT_STATIC_BANK)
        cli_warn("the key is 32 zeros (a hash that is not published), cost_time is "
                 "simulated");
}

void tune_export(const struct task *task, const struct search_result *result)
{
    static const enum export_format formats[FORMAT_COUNT] = {
        [FORMAT_TCUBETILING] = EXPORT_HEADER,
        [FORMAT_TCUBETILING_JSON] = EXPORT_FIELDS,
        [FORMAT_RUNTIME_KB] = EXPORT_RUNTIME_KB,
        [FORMAT_STATIC_BANK] = EXPORT_STATIC,
    };
    const struct common *common = &task->common;
    char problem[PROBLEM_TITLE_SIZE], title[PROBLEM_TITLE_SIZE + 80];
    snprintf(title, sizeof title, "%s on %.64s", problem_title(&task->job.problem, problem),
             task->job.hw->name);
    struct export_source source = {
        .problem = &task->job.problem, .space = &task->job.space, .search = result, .title = title};
    write_export(&source, formats[common->format], common);
    write_fields_beside(&source, common);
    say_what_is_open(common);
}
