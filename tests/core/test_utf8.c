/* What of a text is shown, and how files begin. */
#include "core/utf8.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* These texts are shown to none. NOLINTBEGIN(misc-misleading-bidirectional) */

static void check_shown(const char *text, const char *expected)
{
    char copy[64];
    strcpy(copy, text);
    utf8_show(copy);
    cr_expect_str_eq(copy, expected);
    cr_expect_eq(utf8_is_shown(text), strcmp(text, expected) == 0);
}

Test(utf8, one_line_of_what_is_shown)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"Ascend 310, 5 \xc2\xb5s \xe2\x80\xa6 \xe4\xb8\xad \xf0\x9f\x98\x80",
         "Ascend 310, 5 \xc2\xb5s \xe2\x80\xa6 \xe4\xb8\xad \xf0\x9f\x98\x80"},
        {"a\nb\tc\rd\033e\177f", "a?b?c?d?e?f"},
        {"\xc2\x9b"
         "31m",
         "?31m"},                                    /* C1 */
        {"\xe2\x80\xaa\xe2\x80\xae", "??"},          /* U+202A, U+202E */
        {"\xe2\x81\xa6\xe2\x81\xa9", "??"},          /* U+2066, U+2069 */
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"}, /* U+200E, U+200F, U+061C */
        {"\xe2\x80\x8b\xef\xbb\xbf\xc2\xad", "???"}, /* not seen */
        {"\xf3\xa0\x80\x81", "?"},                   /* a tag */
        {"\xff"
         "a\xc3",
         "?a?"},                                               /* no UTF-8 */
        {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "?????????"}, /* overlong, surrogate, beyond */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_shown(cases[i].text, cases[i].shown);
}

/* An answer in pieces of `size` bytes. */
static char *put(const char *text, size_t size, enum utf8_way way)
{
    char *out = NULL, held[64];
    size_t length = 0, count = 0, taken;
    FILE *stream = open_memstream(&out, &length);
    for (size_t left = strlen(text); left;) {
        size_t piece = left < size ? left : size;
        memcpy(held + count, text, piece);
        text += piece;
        left -= piece;
        count += piece;
        taken = utf8_put(held, count, left == 0, way, stream);
        memmove(held, held + taken, count -= taken);
    }
    fclose(stream);
    return out;
}

Test(utf8, answers_in_any_pieces)
{
    static const char text[] =
        "a\n\033[1mb\033[0m\033]0;x\a \xe4\xb8\xad\xe2\x80\xae\xf3\xa0\x80\x81\xe2\x80";
    static const char *const expected[] = {
        [UTF8_TEXT] = "a\n?[1mb?[0m?]0;x? \xe4\xb8\xad????",
        [UTF8_COLOUR] = "a\n\033[1mb\033[0m?]0;x? \xe4\xb8\xad????",
        [UTF8_JSON] = "a\n\\u001b[1mb\\u001b[0m\\u001b]0;x\\u0007 \xe4\xb8\xad\\u202e\\udb40\\udc01"
                      "\\ufffd\\ufffd",
    };
    for (int way = UTF8_TEXT; way <= UTF8_JSON; way++)
        for (size_t size = 1; size <= 9; size++) {
            char *out = put(text, size, (enum utf8_way)way);
            cr_expect_str_eq(out, expected[way], "way %d, pieces of %zu", way, size);
            free(out);
        }
}

Test(utf8, how_files_begin)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *what; /* NULL: text */
        size_t mark;
    } cases[] = {
        {"", 0, NULL, 0},
        {"abcd", 4, NULL, 0},
        {"\xef\xbb\xbf", 3, NULL, 3},
        {"\xef\xbb\xbf"
         "a",
         4, NULL, 3},
        {"\xef\xbc\x81", 3, NULL, 0}, /* another character */
        {"\xef\xbb", 2, "half a byte order mark", 0},
        {"\xff\xfe{\0", 4, "UTF-16", 0},
        {"\xfe\xff\0{", 4, "UTF-16", 0},
        {"\xff\xfe\0\0", 4, "UTF-32", 0},
        {"\x1f\x8b", 2, "compressed", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        size_t mark;
        enum status status = utf8_begin("f", cases[i].bytes, cases[i].count, &mark, &error);
        cr_expect_eq(status == STATUS_OK, cases[i].what == NULL, "%zu: %s", i, error.text);
        cr_expect_eq(mark, cases[i].mark, "%zu", i);
        cr_expect(!cases[i].what || strstr(error.text, cases[i].what), "%s", error.text);
    }
}
/* NOLINTEND(misc-misleading-bidirectional) */

Test(utf8, a_character_begins)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    static const size_t starts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
    for (size_t at = 0; at < sizeof starts / sizeof *starts; at++)
        cr_expect_eq(utf8_start(text, at), starts[at], "%zu", at);
}
