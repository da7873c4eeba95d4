#include "cli/tune_page.h"

#include "jobs/tune/report_program.h"
#include "jobs/tune/report_search.h"
#include "results/report_tune.h"

static void write_lead(const struct tune_answer *answer, char *text, size_t size)
{
    char time[TEXT_SIZE];
    if (answer->best)
        snprintf(text, size, "%s%s", text_time(answer->best->time_ns, time),
                 answer->optimal ? ", and no tiling of the space is faster" : "");
    else
        snprintf(text, size, "no tiling of this space is legal");
}

void tune_page_write(const struct tune_report *from, const struct tune_answer *answer,
                     const char *title)
{
    const struct task *task = from->task;
    struct report report;
    struct error error;
    char text[256], lead[192];
    snprintf(text, sizeof text, "%s on %s", title, answer->hw->name);
    write_lead(answer, lead, sizeof lead);
    page_open(from->page, text, lead, &report);
    report_tune(&report, answer);
    if (answer->best)
        cli_require(report_landscapes(&report, &task->job.space, from->result, from->landscape_axes,
                                      from->threads, &error),
                    &error);
    if (answer->best)
        cli_require(report_tiling(&report, &task->job.space, &answer->best->tiling, &error),
                    &error);
    report_hardware(&report, answer->hw);
    page_close(from->page, &task->common, &report);
}
