/* The answer is collected in memory, or where it may be long in a file without a name, and let out
 * in one go at the end. On the way every character that a terminal may not get is replaced, block
 * by block: what a block's end cuts through is held back for the next. */
#include "cli/answer.h"

#include "cli/progress.h"
#include "core/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_answer_open(struct answer *answer, const struct common *common)
{
    *answer = (struct answer){.common = common, .kind = formats[common->format].kind};
    const char *plain = getenv("NO_COLOR");
    bool colour = !common->output && cli_is_terminal(STDOUT_FILENO) && !(plain && *plain);
    answer->style = text_style(colour, common->output ? TEXT_WIDTH : cli_width(STDOUT_FILENO));
    answer->stream = cli_require_memory(open_memstream(&answer->text, &answer->length));
}

void cli_answer_open_long(struct answer *answer, const struct common *common)
{
    cli_answer_open(answer, common);
    fclose(answer->stream);
    free(answer->text);
    answer->text = NULL;
    answer->is_long = true;
    answer->stream = files_temporary();
}

/* How the answer is let out to a stream: an answer is a terminal's, or a file's or pipe's. */
struct way_out {
    const struct answer *answer;
    bool terminal;
};

static bool put_block(const struct way_out *way, const char *text, size_t length, bool is_last,
                      size_t *taken, FILE *out)
{
    static const enum utf8_way ways[] = {UTF8_TEXT, UTF8_JSON, UTF8_TEXT};
    enum answer_kind kind = way->answer->kind;
    if (kind == ANSWER_EXACT && !way->terminal)
        *taken = fwrite(text, 1, length, out);
    else
        *taken = utf8_put(
            text, length, is_last,
            kind == ANSWER_LINES && *way->answer->style.bold ? UTF8_COLOUR : ways[kind], out);
    return !ferror(out);
}

/* False where it cannot be written, or read back. */
static bool put_answer(const void *context, FILE *out)
{
    const struct way_out *way = context;
    const struct answer *answer = way->answer;
    char block[1 << 16];
    size_t held = 0, count, taken;
    if (!answer->is_long)
        return put_block(way, answer->text, answer->length, true, &taken, out);
    rewind(answer->stream);
    while ((count = fread(block + held, 1, sizeof block - held, answer->stream)) > 0) {
        held += count;
        if (!put_block(way, block, held, false, &taken, out))
            return false;
        held -= taken;
        memmove(block, block + taken, held);
    }
    return !ferror(answer->stream) && put_block(way, block, held, true, &taken, out);
}

void cli_answer_close(struct answer *answer)
{
    struct error error;
    const char *output = answer->common->output;
    struct way_out way = {answer, !output && isatty(STDOUT_FILENO)};
    progress_close();
    if (answer->is_long ? ferror(answer->stream) || fflush(answer->stream) : fclose(answer->stream))
        cli_die("%s: %s", answer->is_long ? "a temporary file" : "the answer", strerror(errno));
    if (output)
        cli_require(files_write_by(&answer->common->files, output, put_answer, &way, &error),
                    &error);
    else if (!put_answer(&way, stdout) && answer->is_long && ferror(answer->stream))
        cli_die("a temporary file: %s", strerror(errno));
    if (!cli_flushed(stdout))
        cli_die("standard output: %s", strerror(errno));
    if (answer->is_long)
        fclose(answer->stream);
    free(answer->text);
}
