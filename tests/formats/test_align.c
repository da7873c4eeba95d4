/* Lists aligned, against what is promised, checked by counting and by trying every order. */
#include "formats/profile_join.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static int match[MOST];
static bool moved[MOST];

static void run(const char *a, const char *b)
{
    int x[MOST], y[MOST], n = (int)strlen(a), m = (int)strlen(b);
    struct error error = {0};
    for (int i = 0; i < n; i++)
        x[i] = a[i] == '.' ? -1 : a[i] - 'a';
    for (int i = 0; i < m; i++)
        y[i] = b[i] == '.' ? -1 : b[i] - 'a';
    cr_assert_eq(list_align(x, n, y, m, 26, match, moved, &error), STATUS_OK);
}

static void expect(const char *a, const char *b, const char *matches, const char *moves)
{
    run(a, b);
    for (int i = 0; b[i]; i++) {
        cr_expect_eq(match[i], matches[i] == '-' ? -1 : matches[i] - '0', "%s %s: %d is %d", a, b,
                     i, match[i]);
        cr_expect_eq(moved[i], moves[i] == 'm', "%s %s: %d moved %d", a, b, i, moved[i]);
    }
}

Test(align, by_hand)
{
    expect("", "", "", "");
    expect("abc", "abc", "012", "...");
    expect("abc", "ac", "02", "..");
    expect("ac", "abc", "0-1", "...");
    expect("abc", "acb", "021", ".m.");
    /* One of three equal ones is missing, between b and c. */
    expect("xbxcx", "xbcx", "0134", "....");
    expect("xbxcx", "bxcx", "1234", "....");
    /* One is doubled. */
    expect("abc", "abbc", "01-2", "....");
    expect("abab", "ababb", "0123-", ".....");
    /* What has no key is like nothing. */
    expect("a.b", "a.b", "0-2", "...");
    expect("abc", "def", "---", "...");
}

/* From 0 to below count. */
static int draw(gsl_rng *rng, int count)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)count);
}

/* How many of the matched items have to move at least: all orders of what stays are tried. */
static int fewest_moves(const int *places, int count)
{
    int most = 0;
    for (unsigned kept = 0; kept < 1u << count; kept++) {
        int last = -1, size = 0;
        for (int i = 0; i < count && size >= 0; i++)
            if (kept >> i & 1) {
                size = places[i] > last ? size + 1 : -MOST;
                last = places[i];
            }
        most = size > most ? size : most;
    }
    return count - most;
}

Test(align, promises_on_random_lists)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    for (int round = 0; round < 3000; round++) {
        char a[16] = "", b[16] = "";
        int keys = 1 + draw(rng, 6), n = draw(rng, 11), m = draw(rng, 11);
        int in_a[26] = {0}, in_b[26] = {0}, places[MOST], matched = 0, moves = 0;
        bool taken[MOST] = {0};
        for (int i = 0; i < n; i++)
            in_a[(a[i] = (char)('a' + draw(rng, keys))) - 'a']++;
        for (int i = 0; i < m; i++)
            b[i] = (char)('a' + draw(rng, keys));
        run(a, b);
        for (int i = 0; i < m; i++) {
            if (match[i] < 0)
                continue;
            cr_assert(match[i] < n && !taken[match[i]] && a[match[i]] == b[i], "%s %s", a, b);
            taken[match[i]] = true;
            places[matched++] = match[i];
            moves += moved[i];
        }
        cr_assert_eq(moves, fewest_moves(places, matched), "%s %s", a, b);
        for (int i = 0; i < m; i++)
            in_b[b[i] - 'a']++;
        for (int k = 0, all = 0; k < 26; k++) {
            all += in_a[k] < in_b[k] ? in_a[k] : in_b[k];
            if (k == 25)
                cr_assert_eq(matched, all, "%s %s", a, b);
        }
    }
    gsl_rng_free(rng);
}

/* A list of which one item is left out is matched but for that one, where its neighbours tell. */
Test(align, a_missing_item_between_known_neighbours)
{
    for (int out = 0; out < 24; out++) {
        char a[MOST] = "", b[MOST] = "";
        for (int i = 0; i < 24; i++)
            a[i] = (char)(i % 2 ? 'a' + i / 2 : 'x');
        strcpy(b, a);
        memmove(b + out, b + out + 1, strlen(b + out));
        run(a, b);
        for (int i = 0; b[i]; i++)
            cr_assert(match[i] == i + (i >= out) && !moved[i], "%d: %d is %d", out, i, match[i]);
    }
}
