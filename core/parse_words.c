/* Words are spans of the text, which is never copied. A comment goes first, then blanks cut; a line
 * with a parenthesis is a call of CCE, Huawei's C for kernels, and becomes the words of the plain
 * form before anybody looks at it. */
#include "core/parser.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool span_is(struct span span, const char *word)
{
    return (int)strlen(word) == span.length &&
           strncasecmp(span.text, word, (size_t)span.length) == 0;
}

/* Cuts a prefix off in any case; false when it is not there. */
bool span_cut(struct span *span, const char *prefix)
{
    int length = (int)strlen(prefix);
    if (span->length < length || strncasecmp(span->text, prefix, (size_t)length) != 0)
        return false;
    *span = (struct span){span->text + length, span->length - length};
    return true;
}

struct span span_before(struct span span, char mark, struct span *rest)
{
    const char *found = memchr(span.text, mark, (size_t)span.length);
    if (!found) {
        *rest = (struct span){span.text + span.length, 0};
        return span;
    }
    int length = (int)(found - span.text);
    *rest = (struct span){found + 1, span.length - length - 1};
    return (struct span){span.text, length};
}

/* Digits only: no sign, blank or exponent. */
bool span_count(struct span span, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < span.length; i++) {
        if (!isdigit((unsigned char)span.text[i]) || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, span.text[i] - '0', value))
            return false;
    }
    return span.length > 0;
}

/* The line without its comment, trailing blanks and one trailing semicolon. */
static struct span strip(const char *text, size_t length)
{
    size_t end = 0;
    while (end < length && text[end] != '#' &&
           !(text[end] == '/' && end + 1 < length && text[end + 1] == '/'))
        end++;
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    if (end > 0 && text[end - 1] == ';')
        end--;
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    return (struct span){text, (int)end};
}

/* Words are separated by blanks, and by ( , ) where a line is a call. */
static enum status cut_words(struct parser *parser, struct span line)
{
    const char *call = memchr(line.text, '(', (size_t)line.length);
    const char *separators = call ? " \t\r\v\f(,)" : " \t\r\v\f";
    parser->word_count = 0;
    for (int i = 0; i < line.length;) {
        if (strchr(separators, line.text[i]) && line.text[i]) {
            i++;
            continue;
        }
        int start = i;
        while (i < line.length && (!line.text[i] || !strchr(separators, line.text[i])))
            i++;
        if (parser->word_count == PARSER_MAX_WORDS)
            return FAIL(parser, "more than %d words in one line", PARSER_MAX_WORDS);
        parser->words[parser->word_count++] = (struct span){line.text + start, i - start};
    }
    return STATUS_OK;
}

/* CCE spellings: NAME(PIPE_X, PIPE_Y, EVENT_IDn) becomes the words of the plain one. */
static const struct {
    const char *cce, *plain;
} spellings[] = {{"set_flag", "set"}, {"wait_flag", "wait"}, {"pipe_barrier", "barrier"}};

static enum status translate_cce(struct parser *parser)
{
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
        if (!span_is(parser->words[0], spellings[s].cce))
            continue;
        parser->words[0] = (struct span){spellings[s].plain, (int)strlen(spellings[s].plain)};
        for (int w = 1; w < parser->word_count; w++) {
            const char *prefix = w == 3 ? "EVENT_ID" : "PIPE_";
            if (!span_cut(&parser->words[w], prefix))
                return FAIL(parser, "'%.*s' in %s(…), expected %s…", SPAN(parser->words[w]),
                            spellings[s].cce, prefix);
        }
    }
    return STATUS_OK;
}

enum status parser_split(struct parser *parser, const char *text, size_t length)
{
    enum status status = cut_words(parser, strip(text, length));
    return status == STATUS_OK && parser->word_count ? translate_cce(parser) : status;
}
