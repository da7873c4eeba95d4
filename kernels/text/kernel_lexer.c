/* Cuts a line into tokens: words, numbers, a text in quotes and marks; a comment ends it. A token
 * is a stretch of the line, which is never copied. Of each is kept whether a blank stands before
 * it: some values end there. */
#include "kernels/text/kernel_parser.h"

#include "core/utf8.h"

#include <ctype.h>
#include <string.h>

/* Longer ones first. */
static const char *const marks[] = {"<-", "->", "==", "!=", "<=", ">=", "-", "+", "*", "/", "%",
                                    "(",  ")",  "<",  ">",  ",",  ":",  "[", "]", "?", "@", "="};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int length_of_name(const char *text, int length)
{
    int count = 0;
    while (count < length && is_name(text[count]))
        count++;
    return count;
}

/* Digits, and a point with digits for a real. */
static enum status cut_number(struct kernel_parser *parser, struct token *token, int rest)
{
    struct kernel_place at = {parser->line, token->column};
    int count = 0;
    token->kind = TOKEN_NUMBER;
    while (count < rest && (isdigit((unsigned char)token->text[count]) ||
                            (token->text[count] == '.' && token->kind == TOKEN_NUMBER)))
        if (token->text[count++] == '.')
            token->kind = TOKEN_REAL;
    token->length = count;
    int all = count + length_of_name(token->text + count, rest - count);
    if (all > count)
        return FAIL_AT(parser, at, "'%.*s', expected a number or a name", all, token->text);
    if (count > KERNEL_MAX_DIGITS)
        return kernel_fail(parser, STATUS_TOO_LARGE, at, "a number of %d digits, expected %d",
                           count, KERNEL_MAX_DIGITS);
    return STATUS_OK;
}

static enum status cut_text(struct kernel_parser *parser, struct token *token, int rest)
{
    struct kernel_place at = {parser->line, token->column};
    const char *end = memchr(token->text + 1, '"', (size_t)rest - 1);
    if (!end)
        return FAIL_AT(parser, at, "a text without its second \"");
    token->kind = TOKEN_TEXT;
    token->length = (int)(end - token->text) + 1;
    for (const char *c = token->text + 1; c < end; c += utf8_shown(c, (size_t)(end - c))) {
        at.column = token->column + (int)(c - token->text);
        if (!utf8_shown(c, (size_t)(end - c)))
            return FAIL_AT(parser, at, "a character that cannot be shown, expected UTF-8 text");
    }
    return STATUS_OK;
}

static enum status cut_mark(struct kernel_parser *parser, struct token *token, int rest)
{
    struct kernel_place at = {parser->line, token->column};
    token->kind = TOKEN_MARK;
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        token->length = (int)strlen(marks[m]);
        if (token->length <= rest && memcmp(token->text, marks[m], (size_t)token->length) == 0)
            return STATUS_OK;
    }
    if (*token->text == '\t')
        return FAIL_AT(parser, at, "a tab, expected blanks");
    int shown = (int)utf8_shown(token->text, (size_t)rest);
    return FAIL_AT(parser, at, "character '%.*s', expected a word, a number or a mark",
                   shown ? shown : 1, shown ? token->text : "?");
}

static enum status cut_token(struct kernel_parser *parser, struct token *token, int rest)
{
    if (isdigit((unsigned char)*token->text))
        return cut_number(parser, token, rest);
    if (*token->text == '"')
        return cut_text(parser, token, rest);
    if (!isalpha((unsigned char)*token->text))
        return cut_mark(parser, token, rest);
    token->kind = TOKEN_WORD;
    token->length = length_of_name(token->text, rest);
    return STATUS_OK;
}

enum status reader_cut(struct kernel_parser *parser, const char *line, int length)
{
    int at = 0, count = 0;
    bool spaced = true;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    while (at < length && line[at] != '#') {
        struct token *token = &parser->tokens[count];
        if (line[at] == ' ') {
            spaced = true;
            at++;
            continue;
        }
        struct kernel_place place = {parser->line, at + 1};
        if (count == KERNEL_MAX_TOKENS)
            return kernel_fail(parser, STATUS_TOO_LARGE, place, "more than %d words in a line",
                               KERNEL_MAX_TOKENS);
        *token = (struct token){.text = line + at, .column = at + 1, .is_spaced = spaced};
        TRY(cut_token(parser, token, length - at));
        at += token->length;
        spaced = false;
        count++;
    }
    parser->at = 0;
    parser->end = count;
    parser->stop = (struct token){.text = "the end of the line", .column = at + 1};
    parser->tokens[count] = parser->stop;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ tokens */

const struct token *reader_peek(const struct kernel_parser *parser)
{
    return parser->at < parser->end ? &parser->tokens[parser->at] : &parser->stop;
}

struct kernel_place reader_place(const struct kernel_parser *parser)
{
    return (struct kernel_place){parser->line, reader_peek(parser)->column};
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_MARK) &&
           (int)strlen(text) == token->length &&
           memcmp(token->text, text, (size_t)token->length) == 0;
}

bool reader_take(struct kernel_parser *parser, const char *text)
{
    if (!token_is(reader_peek(parser), text))
        return false;
    parser->at++;
    return true;
}

const char *token_show(const struct token *token, char text[TOKEN_SHOWN])
{
    int most = TOKEN_SHOWN - 10;
    if (token->kind == TOKEN_END)
        snprintf(text, TOKEN_SHOWN, "%s", token->text);
    else if (token->kind == TOKEN_TEXT)
        snprintf(text, TOKEN_SHOWN, "a text");
    else
        snprintf(text, TOKEN_SHOWN, "'%.*s%s'", token->length > most ? most : token->length,
                 token->text, token->length > most ? "..." : "");
    return text;
}

enum status reader_fail_expected(struct kernel_parser *parser, const char *expected)
{
    char text[TOKEN_SHOWN];
    return FAIL(parser, "%s, expected %s", token_show(reader_peek(parser), text), expected);
}

enum status reader_expect(struct kernel_parser *parser, const char *text)
{
    char expected[TOKEN_SHOWN];
    if (reader_take(parser, text))
        return STATUS_OK;
    snprintf(expected, sizeof expected, "'%s'", text);
    return reader_fail_expected(parser, expected);
}

enum status reader_expect_end(struct kernel_parser *parser)
{
    return reader_peek(parser)->kind == TOKEN_END
               ? STATUS_OK
               : reader_fail_expected(parser, "the end of the line");
}

enum status reader_number(struct kernel_parser *parser, int64_t *number)
{
    const struct token *token = reader_peek(parser);
    if (token->kind != TOKEN_NUMBER)
        return reader_fail_expected(parser, "a whole number");
    *number = 0;
    for (int i = 0; i < token->length; i++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, token->text[i] - '0', number) ||
            *number > KERNEL_MAX_NUMBER)
            return FAIL(parser, "'%.*s', expected a number up to 2^62", token->length, token->text);
    parser->at++;
    return STATUS_OK;
}
