/* Line by line: a line is cut into tokens, its indentation closes the loops that it is no longer
 * in, and the statement goes to the table of declarations or of the body. Rules that need the whole
 * come at the end. All memory hangs in one list, so that a kernel goes at once. */
#include "kernels/text/kernel_parser.h"

#include "core/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kernel_block {
    struct kernel_block *next;
    max_align_t bytes[];
};

void *kernel_allocate(struct kernel_text *kernel, size_t size)
{
    struct kernel_block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->next = kernel->memory;
    kernel->memory = block;
    return block->bytes;
}

void kernel_text_clear(struct kernel_text *kernel)
{
    while (kernel->memory) {
        struct kernel_block *next = kernel->memory->next;
        free(kernel->memory);
        kernel->memory = next;
    }
    free(kernel->lines);
    memset(kernel, 0, sizeof *kernel);
}

/* ------------------------------------------------------------------ lines */

static void close_loop(struct kernel_parser *parser)
{
    parser->kernel->loops[parser->open[--parser->depth]].end = parser->kernel->line_count;
}

/* In which body does a line stand that begins behind so many blanks? */
static enum status indent(struct kernel_parser *parser, int blanks, int *depth_known)
{
    struct kernel_place at = {parser->line, blanks + 1};
    while (parser->depth > 0) {
        bool is_first = *depth_known < parser->depth;
        int least =
            is_first ? parser->indents[parser->depth - 1] + 1 : parser->indents[parser->depth];
        if (blanks < least) {
            close_loop(parser);
            *depth_known = parser->depth;
            continue;
        }
        if (!is_first)
            break;
        if (blanks == least)
            return FAIL_AT(parser, at,
                           "indented by 1 blank more than its loop, expected two or more");
        parser->indents[parser->depth] = blanks;
        *depth_known = parser->depth;
    }
    if (blanks != parser->indents[parser->depth])
        return FAIL_AT(parser, at, "indented by %d, expected %d as the lines around it", blanks,
                       parser->indents[parser->depth]);
    return STATUS_OK;
}

static enum status parse_lines(struct kernel_parser *parser, const char *text, size_t length)
{
    int depth_known = 0; /* the bodies whose first line was seen */
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);
        size_t bytes = newline ? (size_t)(newline - text) : length;
        struct kernel_place at = {++parser->line, 1};
        if (parser->line > KERNEL_MAX_LINES)
            return kernel_fail(parser, STATUS_TOO_LARGE, at, "more than %d lines",
                               KERNEL_MAX_LINES);
        TRY(reader_cut(parser, text, (int)bytes));
        text += bytes + (newline != NULL);
        length -= bytes + (newline != NULL);
        if (!parser->end)
            continue;
        bool found;
        TRY(indent(parser, parser->tokens[0].column - 1, &depth_known));
        TRY(reader_declaration(parser, &found));
        if (!found)
            TRY(reader_line(parser));
    }
    while (parser->depth)
        close_loop(parser);
    struct kernel_place end = {parser->line ? parser->line : 1, 1};
    return parser->has_kernel ? STATUS_OK
                              : FAIL_AT(parser, end, "no kernel, expected 'kernel' and its name");
}

/* A copy with a 0 behind it, owned by the kernel. */
static const char *keep(struct kernel_text *kernel, const char *bytes, size_t count)
{
    char *copy = kernel_allocate(kernel, count + 1);
    return copy && count ? memcpy(copy, bytes, count) : copy;
}

static enum status parse(struct kernel_parser *parser, const char *file, const char *text,
                         size_t length)
{
    struct kernel_text *kernel = parser->kernel;
    size_t mark;
    if (length > KERNEL_MAX_BYTES)
        return error_set(parser->error, STATUS_TOO_LARGE, "%s: larger than %d bytes", file,
                         KERNEL_MAX_BYTES);
    TRY(utf8_begin(file, text, length, &mark, parser->error));
    kernel->file = keep(kernel, file, strlen(file));
    kernel->source = keep(kernel, text + mark, length - mark);
    kernel->source_bytes = length - mark;
    if (!kernel->file || !kernel->source)
        return error_memory(parser->error);
    TRY(parse_lines(parser, kernel->source, kernel->source_bytes));
    return kernel_check(parser);
}

enum status kernel_text_parse(const char *file, const char *text, size_t length,
                              struct kernel_text *kernel, struct error *error)
{
    struct kernel_parser *parser = calloc(1, sizeof *parser);
    memset(kernel, 0, sizeof *kernel);
    kernel->title = "";
    if (!parser)
        return error_memory(error);
    parser->error = error;
    parser->kernel = kernel;
    enum status status = parse(parser, file, text, length);
    free(parser);
    if (status != STATUS_OK)
        kernel_text_clear(kernel);
    return status;
}

static enum status fail_file(const char *file, struct error *error)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): kernels are read before a search has threads */
    return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
}

/* At most one byte more than a text may have; the caller frees *text. */
static enum status read_stream(FILE *stream, const char *file, char **text, size_t *length,
                               struct error *error)
{
    *text = malloc(KERNEL_MAX_BYTES + 1);
    if (!*text)
        return error_memory(error);
    *length = fread(*text, 1, KERNEL_MAX_BYTES + 1, stream);
    return ferror(stream) ? fail_file(file, error) : STATUS_OK;
}

enum status kernel_text_read(const char *file, struct kernel_text *kernel, struct error *error)
{
    bool standard = strcmp(file, "-") == 0;
    const char *shown = standard ? "(standard input)" : file;
    FILE *stream = standard ? stdin : fopen(file, "rb");
    char *text;
    size_t length;
    memset(kernel, 0, sizeof *kernel);
    if (!stream)
        return fail_file(file, error);
    enum status status = read_stream(stream, shown, &text, &length, error);
    if (!standard)
        fclose(stream);
    if (status == STATUS_OK)
        status = kernel_text_parse(shown, text, length, kernel, error);
    free(text);
    return status;
}
