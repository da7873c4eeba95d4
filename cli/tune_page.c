#include "cli/tune_page.h"

#include "jobs/tune/report_program.h"
#include "jobs/tune/report_search.h"
#include "results/report_tune.h"

static void write_lead(const struct tune_answer *answer, char *text, size_t size)
{
    char time[TEXT_SIZE];
    const struct found *best = tune_best(answer);
    if (best)
        snprintf(text, size, "%s%s", text_time(found_ns(best), time),
                 tune_is_optimal(answer) ? ", and no tiling of the space is faster" : "");
    else
        snprintf(text, size, "no tiling of this space is legal");
}

void tune_page_write(const struct page *page, const struct common *common,
                     const struct tune_answer *answer, const char *landscape_axes)
{
    struct report report;
    struct error error;
    char title[PROBLEM_TITLE_SIZE], text[2 * PROBLEM_TITLE_SIZE], lead[192];
    const struct found *best = tune_best(answer);
    snprintf(text, sizeof text, "%s on %s", problem_title(answer->problem, title),
             answer->space->hw->name);
    write_lead(answer, lead, sizeof lead);
    page_open(page, text, lead, &report);
    report_tune(&report, answer);
    if (best)
        cli_require(report_landscapes(&report, answer->space, answer->search, landscape_axes,
                                      answer->threads, &error),
                    &error);
    if (best)
        cli_require(report_tiling(&report, answer->space, &best->tiling, &error), &error);
    report_hardware(&report, answer->space->hw);
    page_close(page, common, &report);
}
