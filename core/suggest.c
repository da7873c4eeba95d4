/* Likeness is an edit distance that suits typing errors: two letters swapped count like one wrong,
 * and missing letters little, since people leave parts of long names out. */
#include "core/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MISSING = 1, WRONG = 3, LEAST_PART = 3 };

struct suggestion suggest_for(const char *word, int length)
{
    struct suggestion suggestion = {"", INT_MAX, ""};
    if (length < 0)
        length = (int)strlen(word);
    snprintf(suggestion.word, sizeof suggestion.word, "%.*s", length, word);
    return suggestion;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* What it takes to make `right` of `wrong`. */
static int distance(const char *wrong, const char *right)
{
    int rows[3][SUGGEST_WORD]; /* of the letter before the last, the last, this one */
    int length = (int)strlen(right);
    for (int j = 0; j <= length; j++)
        rows[0][j] = rows[1][j] = MISSING * j;
    for (int i = 1; wrong[i - 1]; i++) {
        int *before = rows[(i + 2) % 3], *last = rows[i % 3], *now = rows[(i + 1) % 3];
        now[0] = WRONG * i;
        for (int j = 1; j <= length; j++) {
            bool equal = same(wrong[i - 1], right[j - 1]);
            now[j] = least(last[j - 1] + (equal ? 0 : WRONG),
                           least(last[j] + WRONG, now[j - 1] + MISSING));
            if (i > 1 && j > 1 && same(wrong[i - 1], right[j - 2]) &&
                same(wrong[i - 2], right[j - 1]))
                now[j] = least(now[j], before[j - 2] + WRONG);
        }
    }
    return rows[((int)strlen(wrong) + 1) % 3][length];
}

/* One wrong letter in three, but not all of them; or a part of a longer name. */
static bool is_like(const char *wrong, const char *right, int cost)
{
    int length = (int)strlen(wrong);
    int most = WRONG * (length < 6 ? 1 : length / 3);
    return (cost <= most && cost < WRONG * length) ||
           (length >= LEAST_PART && strcasestr(right, wrong));
}

void suggest_try(struct suggestion *suggestion, const char *candidate)
{
    if (strlen(candidate) >= SUGGEST_WORD)
        return;
    int cost = distance(suggestion->word, candidate);
    if (cost >= suggestion->cost || !is_like(suggestion->word, candidate, cost))
        return;
    suggestion->cost = cost;
    snprintf(suggestion->text, sizeof suggestion->text, "; did you mean %s?", candidate);
}
