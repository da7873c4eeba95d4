#include "cli/report_file.h"
#include "cli/answer.h"
#include "core/text_stream.h"

#include <stdlib.h>
#include <string.h>

bool page_is_wanted(const struct page *page, const struct common *common)
{
    bool is_answer = common->format == FORMAT_HTML;
    if (page->output && strcmp(page->output, "-") == 0)
        cli_die("--report -: expected the name of a file");
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
    FILE *out = cli_require_memory(text_stream_open(&text, &length));
    cli_require_of("--report", report_write(report, out, &error), &error);
    cli_close_text(out);
    report_clear(report);
    if (page->output)
        cli_require(files_write(&common->files, page->output, text, length, &error), &error);
    if (common->format == FORMAT_HTML)
        write_answer(common, text, length);
    free(text);
}
