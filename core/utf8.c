/* The table of well-formed sequences of RFC 3629 (by first byte, with the narrower range of the
 * second) finds characters; a table of ranges from Unicode 15 says which of them are not shown. */
#include "core/utf8.h"

#include <stdint.h>
#include <string.h>

/* ------------------------------------------------------------------ beginnings */

enum status utf8_begin(const char *file, const void *bytes, size_t count, size_t *mark,
                       struct error *error)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *what;
    } beginnings[] = {
        {"\xff\xfe\0\0", 4, "UTF-32"},
        {"\0\0\xfe\xff", 4, "UTF-32"},
        {"\xff\xfe", 2, "UTF-16"},
        {"\xfe\xff", 2, "UTF-16"},
        {"PK\3\4", 4, "a workbook or archive"},
        {"\x1f\x8b", 2, "compressed data"},
    };
    *mark = 0;
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++)
        if (count >= beginnings[b].count &&
            memcmp(bytes, beginnings[b].bytes, beginnings[b].count) == 0)
            return error_at(error, file, 1, "%s, expected text in UTF-8", beginnings[b].what);
    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        *mark = 3;
    else if (count > 0 && memcmp(bytes, "\xef", 1) == 0 &&
             (count < 3 || memcmp(bytes, "\xef\xbb", 2) == 0))
        return error_at(error, file, 1, "half a byte order mark, expected text in UTF-8");
    return STATUS_OK;
}

/* ------------------------------------------------------------------ characters */

static const struct form {
    unsigned char low, high, second_low, second_high;
    unsigned char length;
} forms[] = {
    {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct form *find_form(unsigned char first)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (first >= forms[i].low && first <= forms[i].high)
            return &forms[i];
    return NULL;
}

/* The bytes that fit the form, of those that are there. */
static size_t fitting(const struct form *form, const unsigned char *text, size_t length)
{
    size_t most = length < form->length ? length : form->length, count = 1;
    if (most > 1 && (text[1] < form->second_low || text[1] > form->second_high))
        return count;
    while (count < most && (text[count] & 0xc0) == 0x80)
        count++;
    return count;
}

size_t utf8_character(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const struct form *form = length ? find_form(bytes[0]) : NULL;
    return form && fitting(form, bytes, length) == form->length ? form->length : 0;
}

size_t utf8_start(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static uint32_t code_of(const unsigned char *bytes, size_t length)
{
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3fU);
    return code;
}

/* Of Unicode 15: controls (Cc), format characters (Cf), separators of lines and paragraphs, what is
 * blank without being a space, variation selectors, and no characters at all. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},    {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x0600, 0x0605},   {0x061c, 0x061c},    {0x06dd, 0x06dd},   {0x070f, 0x070f},
    {0x0890, 0x0891},   {0x08e2, 0x08e2},    {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},    {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x2800, 0x2800},   {0x3164, 0x3164},    {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},    {0xfff0, 0xfffb},   {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd},  {0x13430, 0x1345f}, {0x1bca0, 0x1bcaf},
    {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && hidden[i].first <= code; i++)
        if (code <= hidden[i].last)
            return true;
    return false;
}

size_t utf8_shown(const char *text, size_t length)
{
    size_t count = utf8_character(text, length);
    return count && !is_hidden(code_of((const unsigned char *)text, count)) ? count : 0;
}

/* What one question mark stands for: a character, or a byte that begins none. */
static size_t step(const char *text, size_t length)
{
    size_t count = utf8_character(text, length);
    return count ? count : 1;
}

bool utf8_is_shown(const char *text)
{
    size_t left = strlen(text), count = 1;
    for (; left && count; text += count, left -= count)
        count = utf8_shown(text, left);
    return count != 0;
}

void utf8_show(char *text)
{
    char *to = text;
    for (size_t left = strlen(text), count; left; text += count, left -= count) {
        count = step(text, left);
        if (utf8_shown(text, left)) {
            memmove(to, text, count);
            to += count;
        } else {
            *to++ = '?';
        }
    }
    *to = '\0';
}

int utf8_put_line(const char *text, size_t length, FILE *out)
{
    int columns = 0;
    for (size_t count; length; text += count, length -= count, columns++) {
        count = step(text, length);
        if (out && utf8_shown(text, length))
            fwrite(text, 1, count, out);
        else if (out)
            fputc('?', out);
    }
    return columns;
}

/* ------------------------------------------------------------------ answers */

/* The length of an escape sequence as text_style has them; 0: it is none. */
static size_t style_length(const char *text, size_t length)
{
    static const char *const styles[] = {"\033[1m", "\033[2m", "\033[0m", "\033[32m", "\033[33m"};
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++)
        if (length >= strlen(styles[s]) && memcmp(text, styles[s], strlen(styles[s])) == 0)
            return strlen(styles[s]);
    return 0;
}

static void put_hidden(const char *text, size_t length, enum utf8_way way, FILE *out)
{
    uint32_t code = length ? code_of((const unsigned char *)text, length) : 0xfffd;
    if (way != UTF8_JSON)
        fputc('?', out);
    else if (code < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd800U + ((code - 0x10000) >> 10),
                0xdc00U + ((code - 0x10000) & 0x3ff));
}

/* Might what stands at the end go on behind it? */
static bool is_cut(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const struct form *form = find_form(bytes[0]);
    return length < 5 && (bytes[0] == '\033' || (form && length < form->length &&
                                                 fitting(form, bytes, length) == length));
}

size_t utf8_put(const char *text, size_t length, bool is_last, enum utf8_way way, FILE *out)
{
    size_t at = 0;
    while (at < length && (is_last || !is_cut(text + at, length - at))) {
        size_t left = length - at, count = utf8_shown(text + at, left);
        if (!count && (text[at] == '\n' || text[at] == '\t'))
            count = 1;
        if (!count && way == UTF8_COLOUR)
            count = style_length(text + at, left);
        if (count)
            fwrite(text + at, 1, count, out);
        else
            put_hidden(text + at, utf8_character(text + at, left), way, out);
        at += count ? count : step(text + at, left);
    }
    return at;
}
