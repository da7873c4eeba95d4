/* Errors: where in a line of a file they are. */
#include "core/status.h"

#include <criterion/criterion.h>
#include <string.h>

#define TEN "0123456789"

static const char *show(const char *line, size_t length, size_t at, struct error *error)
{
    error_set(error, STATUS_INVALID, "f:1:%zu: wrong", at + 1);
    cr_expect_str_eq(error->excerpt, "", "there is nothing to show so far");
    error_show(error, line, length, at);
    return error->excerpt;
}

/* A caret stands below the column of the character, which is not that of its byte. */
Test(status, a_caret_stands_below_its_character)
{
    static const struct {
        const char *line;
        size_t length, at;
        const char *shown;
    } cases[] = {
        {"a b", 3, 0, "  a b\n  ^"},
        {"a b", 3, 2, "  a b\n    ^"},
        {"a b", 3, 3, "  a b\n     ^"},
        {"a b", 3, 100, "  a b\n     ^"},
        {"\ta\tb", 4, 3, "   a b\n     ^"},
        {"\303\244\342\202\254 b", 7, 6, "  \303\244\342\202\254 b\n     ^"},
        {"a\033[1m\200 b", 8, 7, "  a?[1m? b\n         ^"},
        {"a\0b", 3, 2, "  a?b\n    ^"},
        {"", 0, 0, ""},
    };
    struct error error;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        cr_expect_str_eq(show(cases[c].line, cases[c].length, cases[c].at, &error), cases[c].shown);
    error_show(NULL, "a", 1, 0);
}

/* Of a long line what is around the column, in as many columns anywhere. */
Test(status, a_long_line_is_cut_around_the_column)
{
    enum { LENGTH = 300 };
    char line[LENGTH + 1] = "", wide[2 * LENGTH + 1] = "";
    for (int i = 0; i < LENGTH / 10; i++)
        strcat(line, TEN);
    for (int i = 0; i < LENGTH; i++)
        strcat(wide, "\303\244");
    for (size_t at = 0; at <= LENGTH; at++) {
        struct error error;
        const char *shown = show(line, LENGTH, at, &error), *caret = strchr(shown, '\n');
        cr_assert(caret);
        cr_expect_eq(caret - shown, 2 + ERROR_COLUMNS, "at %zu: %s", at, shown);
        size_t column = strlen(caret) - 2;
        if (at < LENGTH)
            cr_expect_eq(shown[column], line[at], "at %zu: %s", at, shown);
        else
            cr_expect_eq(column, 2 + ERROR_COLUMNS);
        cr_expect_eq(strncmp(shown, "  ...", 5) == 0, at > ERROR_COLUMNS / 2, "at %zu", at);
        cr_expect_eq(strncmp(caret - 3, "...", 3) == 0, at < LENGTH - ERROR_COLUMNS / 2, "at %zu",
                     at);
        const char *of_wide = strchr(show(wide, sizeof wide - 1, 2 * at, &error), '\n');
        cr_assert(of_wide && strlen(of_wide) == column + 2, "at %zu: %s", at, error.excerpt);
    }
}
