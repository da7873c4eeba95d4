/* The tilings and their times go to the writers of the vendor's formats (jobs/tune/export.h); what
 * those formats want and nobody has published is left at zero, and said. */
#include "cli/tune_export.h"
#include "cli/answer.h"

#include "jobs/tune/export.h"

#include <limits.h>
#include <string.h>

bool tune_is_export(const struct common *common)
{
    return formats[common->format].bank;
}

static void write_export(const struct export_source *source, const struct common *common)
{
    struct answer out;
    struct error error;
    int left_out = 0, count = source->search->count;
    const char *name = formats[common->format].name;
    cli_answer_open(&out, common);
    enum status status =
        export_write(source, &formats[common->format], out.stream, &left_out, &error);
    if (status != STATUS_OK)
        cli_die("--format %s: %s%s", name, error.text,
                left_out ? "; more of --top may have tilings that it has words for" : "");
    if (left_out && !common->quiet)
        cli_warn("%d of the %d best are left out: %s has no words for them", left_out, count, name);
    cli_answer_close(&out);
}

/* Of a header NAME.h also NAME.json, the same fields for other readers; false where there is none.
 */
static bool name_beside(const struct common *common, char name[PATH_MAX])
{
    const char *dot = common->output ? strrchr(common->output, '.') : NULL;
    if (!formats[common->format].beside || !dot ||
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
    beside.format = (enum format_name)(format_find(formats[common->format].beside) - formats);
    write_export(source, &beside);
}

void tune_export(const struct task *task, const struct search_result *result)
{
    const struct common *common = &task->common;
    char problem[PROBLEM_TITLE_SIZE], title[PROBLEM_TITLE_SIZE + 80];
    snprintf(title, sizeof title, "%s on %.64s", problem_title(&task->job.problem, problem),
             task->job.hw->name);
    struct export_source source = {
        .problem = &task->job.problem, .space = &task->job.space, .search = result, .title = title};
    write_export(&source, common);
    write_fields_beside(&source, common);
    if (!common->quiet && formats[common->format].note)
        cli_warn("%s", formats[common->format].note);
}
