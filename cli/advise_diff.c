/* How `autotune advise` shows what a change is to the file. */
#include "cli/advise_answer.h"

#include "formats/json.h"
#include "formats/text.h"

#include <stdlib.h>
#include <string.h>

void advise_put_printable(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc((c < ' ' && c != '\t') || c == 127 ? '?' : c, out);
    }
}

/* The unified diff as text, which the caller frees. */
static enum status print_unified(const struct diff *diff, const char *file, char **text,
                                 size_t *size, struct error *error)
{
    FILE *stream = open_memstream(text, size);
    if (!stream)
        return error_memory(error);
    TRY(diff_write_unified(diff, file, stream, error));
    if (fclose(stream))
        return error_memory(error);
    return STATUS_OK;
}

static const char *style_of(const struct style *style, char mark)
{
    return mark == '-' ? style->warn : mark == '+' ? style->good : mark == '@' ? style->dim : "";
}

enum status advise_put_diff(const struct advise_question *question, const struct program *changed,
                            const struct style *style, FILE *out, struct error *error)
{
    struct diff diff;
    char *text = NULL;
    size_t size = 0;
    enum status status = diff_programs(question->source, question->program, changed, &diff, error);
    if (status == STATUS_OK)
        status = print_unified(&diff, question->file, &text, &size, error);
    for (char *at = text, *end; status == STATUS_OK && at < text + size; at = end + 1) {
        end = rawmemchr(at, '\n');
        fputs(style_of(style, *at), out);
        advise_put_printable(at, (size_t)(end - at), out);
        fprintf(out, "%s\n", *style_of(style, *at) ? style->end : "");
    }
    free(text);
    diff_clear(&diff);
    return status;
}

/* A line without its indentation; null for none. */
static json_t *line_json(const struct diff_line *line)
{
    if (!line)
        return json_null();
    char *text = strndup(line->text, line->length);
    json_t *value = text ? json_text(text + strspn(text, " \t")) : NULL;
    free(text);
    return value;
}

/* Lines that go and lines that come in their place, side by side as far as both are. */
json_t *advise_changes_json(const struct diff *diff)
{
    json_t *changes = json_array();
    int line = 1;
    for (size_t i = 0; i < diff->count;) {
        size_t gone = i, come;
        while (gone < diff->count && diff->lines[gone].side == DIFF_BEFORE)
            gone++;
        for (come = gone; come < diff->count && diff->lines[come].side == DIFF_AFTER;)
            come++;
        size_t gone_count = gone - i, come_count = come - gone;
        for (size_t k = 0; k < gone_count || k < come_count; k++) {
            bool both = k < gone_count;
            json_array_append_new(
                changes, json_pack("{s:i, s:o, s:o}", "line", line, "before",
                                   line_json(both ? &diff->lines[i + k] : NULL), "after",
                                   line_json(k < come_count ? &diff->lines[gone + k] : NULL)));
            line += both;
        }
        i = come;
        if (i < diff->count && diff->lines[i].side == DIFF_BOTH) {
            i++;
            line++;
        }
    }
    return changes;
}

json_t *advise_diff_json(const struct diff *diff, const char *file)
{
    char *text = NULL;
    size_t size;
    struct error error;
    json_t *value = NULL;
    if (print_unified(diff, file, &text, &size, &error) == STATUS_OK)
        value = json_text(text);
    free(text);
    return value;
}
