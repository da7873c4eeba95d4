/* C as far as it tells what is a comment, a text and code: by that nothing of a text ends what it
 * stands in. */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 127;
}

/* Behind the comment that begins here. */
static const char *pass_comment(const char *at)
{
    for (at += 2; *at && strncmp(at, "*/", 2) != 0; at++)
        fuzz_require((is_plain(*at) || *at == '\n') && strncmp(at, "/*", 2) != 0 &&
                         strncmp(at, "\\\n", 2) != 0 && strncmp(at, "?\?/", 3) != 0,
                     "a comment holds lines of text, and no other comment");
    fuzz_require(*at, "a comment ends");
    return at + 2;
}

static const char *pass_escape(const char *at)
{
    size_t digits = strspn(at + 1, "01234567");
    fuzz_require(digits >= 3 || (at[1] && strchr("\"\\?", at[1])), "an escape that C has");
    return at + (digits >= 3 ? 4 : 2);
}

/* Behind the text that begins here. */
static const char *pass_text(const char *at)
{
    for (at++; *at && *at != '"';) {
        fuzz_require(is_plain(*at) && strncmp(at, "?\?", 2) != 0, "a text is one line");
        at = *at == '\\' ? pass_escape(at) : at + 1;
    }
    fuzz_require(*at, "a text ends");
    return at + 1;
}

int fuzz_require_c(const char *text)
{
    char open[64];
    int depth = 0, rows = 0;
    for (const char *at = text; *at;) {
        rows += strncmp(at, "\n    {{", 7) == 0;
        if (strncmp(at, "/*", 2) == 0) {
            at = pass_comment(at);
            continue;
        }
        if (*at == '"') {
            at = pass_text(at);
            continue;
        }
        fuzz_require((is_plain(*at) && !strchr("\\`@$'", *at)) || *at == '\n', "code is plain");
        if (strchr("({[", *at)) {
            fuzz_require(depth < (int)sizeof open, "code is not deep");
            open[depth++] = *at;
        }
        if (strchr(")}]", *at))
            fuzz_require(depth > 0 && strchr("()[]{}", open[--depth])[1] == *at,
                         "brackets are in pairs");
        at++;
    }
    fuzz_require(depth == 0, "brackets are closed");
    return rows;
}
