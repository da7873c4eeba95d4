#include "cli/report.h"

#include "cli/options.h"

#include <stdlib.h>

void page_check(const struct page *page)
{
    if (page->output && !report_is_built_in())
        cli_die("--report: pages were left out of this build (AUTOTUNE_REPORT=OFF)");
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

void page_close(const struct page *page, struct report *report)
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
    cli_require(cli_write_file(page->output, text, length, &error), &error);
    free(text);
    report_clear(report);
}
