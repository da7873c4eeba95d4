#include "cli/analyse_profile.h"

#include "cli/stop.h"
#include "jobs/analyse_write.h"
#include "results/report_profile.h"
#include "results/report_tune.h"
#include "results/text.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Of what is wrong with a file, so many lines are shown: the rest is the same again. */
enum { MAX_PROBLEMS = 20 };

struct problems {
    const char *file;
    int64_t count;
};

static bool begins_as_profile(const char *file)
{
    char line[4096] = "";
    struct stat info;
    if (stat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    FILE *stream = fopen(file, "re");
    bool is_head = stream && fgets(line, sizeof line, stream) && profile_is_head(line);
    if (stream)
        fclose(stream);
    return is_head;
}

bool analyse_is_profile(const char *file)
{
    size_t length = strlen(file);
    return (length > 4 && strcasecmp(file + length - 4, ".csv") == 0) || begins_as_profile(file);
}

static void show_problem(void *context, const char *text)
{
    struct problems *problems = context;
    if (problems->count++ < MAX_PROBLEMS)
        cli_warn("%s:%s", problems->file, text);
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
    struct analyse_job coloured = *job;
    if (job->format == ANALYSE_SUMMARY) {
        cli_require(analyse_profile(job, NULL, result, &error), &error);
        return;
    }
    cli_answer_open_long(&answer, common);
    coloured.colour = answer.colour;
    cli_require(analyse_profile(&coloured, answer.stream, result, &error), &error);
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
    page_open(page, job->file, lead, &report);
    report_profile(&report, summary);
    if (job->how.hw)
        report_hardware(&report, job->how.hw);
    page_close(page, common, &report);
}

int analyse_profile_file(struct common *common, const struct diagnosis_thresholds *thresholds,
                         int top, const struct page *page, const char *file)
{
    static const enum analyse_format formats[FORMAT_COUNT] = {[FORMAT_TABLE] = ANALYSE_TABLE,
                                                              [FORMAT_JSON] = ANALYSE_JSON,
                                                              [FORMAT_CSV] = ANALYSE_CSV,
                                                              [FORMAT_HTML] = ANALYSE_SUMMARY};
    struct hardware hw = {0};
    struct analyse_result result;
    struct problems problems = {file, 0};
    load_chip(common, &hw);
    bool wants_page = page_is_wanted(page, common);
    json_t *summary = NULL;
    stop_open();
    struct analyse_job job = {
        .file = file,
        .how = {common->hw_name ? &hw : NULL, *thresholds},
        .format = formats[common->format],
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
        cli_warn("%s: and %lld lines more with something wrong", file,
                 (long long)(problems.count - MAX_PROBLEMS));
    hardware_clear(&hw);
    stop_close();
    return result.rows == 0 || problems.count ? EXIT_NONE : EXIT_ANSWER;
}
