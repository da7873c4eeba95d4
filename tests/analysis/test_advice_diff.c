/* What a change makes of the file that a program came from, and the unified diff of it. */
#include "analysis/advice/advice.h"
#include "analysis/advice/diff.h"
#include "tests/support/advised.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static gsl_rng *rng;

static void start(void)
{
    machine_load(&hw, "dispatch_ns=3");
    rng = gsl_rng_alloc(gsl_rng_taus2);
}

static void end(void)
{
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

TestSuite(advice_diff, .init = start, .fini = end);

/* A diff written out: the new text, and the unified diff. */
struct written {
    char *text, *unified;
};

static struct written write_diff(const struct diff *diff)
{
    struct written written;
    struct error error;
    size_t size;
    FILE *out = open_memstream(&written.text, &size);
    cr_assert_eq(diff_write_text(diff, out, &error), STATUS_OK);
    fclose(out);
    out = open_memstream(&written.unified, &size);
    cr_assert_eq(diff_write_unified(diff, "k.txt", out, &error), STATUS_OK);
    fclose(out);
    return written;
}

static void clear_written(struct written *written)
{
    free(written->text);
    free(written->unified);
}

static struct written diff_of(char *text, const struct program *before, const struct program *after)
{
    struct program_source source = {text, strlen(text)};
    struct diff diff;
    struct error error;
    cr_assert_eq(diff_programs(&source, before, after, &diff, &error), STATUS_OK);
    struct written written = write_diff(&diff);
    diff_clear(&diff);
    return written;
}

/* Two texts of programs; the second one's instructions come from the first one's lines in
 * `origins`, 0 ending it. */
static struct written change(const char *first, const char *second, const int32_t *origins)
{
    struct program before = advised_parse(&hw, first), after = advised_parse(&hw, second);
    for (int32_t i = 0; i < after.count; i++)
        after.items[i].line = origins[i]; /* NOLINT(clang-analyzer-core*) ; as many as lines */
    char *text = strdup(first);
    struct written written = diff_of(text, &before, &after);
    free(text);
    program_clear(&before);
    program_clear(&after);
    return written;
}

static void expect_change(const char *first, const char *second, const int32_t *origins,
                          const char *text, const char *unified)
{
    struct written written = change(first, second, origins);
    cr_expect_str_eq(written.text, text, "%s", written.text);
    cr_expect_str_eq(written.unified, unified, "%s", written.unified);
    clear_written(&written);
}

Test(advice_diff, lines_that_stay_keep_comments_spelling_and_indentation)
{
    expect_change("# head\n"
                  "\n"
                  "\tset_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // mine\n"
                  "# of the wait\n"
                  "wait MTE2 V 0\n"
                  "# at the end\n",
                  "set MTE2 V 0\n"
                  "S nop count=1\n"
                  "wait MTE2 V 0\n",
                  (int32_t[]){3, 3, 5},
                  "# head\n"
                  "\n"
                  "\tset_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // mine\n"
                  "\tS    nop count=1\n"
                  "# of the wait\n"
                  "wait MTE2 V 0\n"
                  "# at the end\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,6 +1,7 @@\n"
                  " # head\n"
                  " \n"
                  " \tset_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // mine\n"
                  "+\tS    nop count=1\n"
                  " # of the wait\n"
                  " wait MTE2 V 0\n"
                  " # at the end\n");
}

/* The load goes before the loop and takes its comment with it; the nop is done twice. */
Test(advice_diff, lines_that_move_are_indented_anew)
{
    expect_change("# head\n"
                  "loop 4\n"
                  "      S nop COUNT=1 # one\n"
                  "      MTE2 gm->l1 bytes=32 # load\n"
                  "end\n",
                  "MTE2 gm->l1 bytes=32\n"
                  "loop 2\n"
                  "S nop count=1\n"
                  "S nop count=1\n"
                  "end\n",
                  (int32_t[]){4, 2, 3, 3, 5},
                  "# head\n"
                  "MTE2 gm->l1 bytes=32 # load\n"
                  "loop 2\n"
                  "      S nop COUNT=1 # one\n"
                  "      S nop COUNT=1 # one\n"
                  "end\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,5 +1,6 @@\n"
                  " # head\n"
                  "-loop 4\n"
                  "+MTE2 gm->l1 bytes=32 # load\n"
                  "+loop 2\n"
                  "+      S nop COUNT=1 # one\n"
                  "       S nop COUNT=1 # one\n"
                  "-      MTE2 gm->l1 bytes=32 # load\n"
                  " end\n");
}

Test(advice_diff, comments_at_the_top_stay_there)
{
    expect_change("# head\n\nS nop count=1\n", "S nop count=2\nS nop count=1\n", (int32_t[]){3, 3},
                  "# head\n\nS    nop count=2\nS nop count=1\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,3 +1,4 @@\n"
                  " # head\n"
                  " \n"
                  "+S    nop count=2\n"
                  " S nop count=1\n");
}

/* Deeper than the source ever goes: two blanks more than its deepest. */
Test(advice_diff, depths_that_the_source_has_not_are_indented)
{
    expect_change("\tS nop count=1", "loop 2\nloop 3\nS nop count=1\nend\nend\n",
                  (int32_t[]){1, 1, 1, 1, 1},
                  "\tloop 2\n\t  loop 3\n\t    S nop count=1\n\t  end\n\tend\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1 +1,5 @@\n"
                  "-\tS nop count=1\n"
                  "\\ No newline at end of file\n"
                  "+\tloop 2\n"
                  "+\t  loop 3\n"
                  "+\t    S nop count=1\n"
                  "+\t  end\n"
                  "+\tend\n");
}

Test(advice_diff, a_last_line_without_newline_gets_one_when_others_follow)
{
    expect_change("S nop count=1\nS nop count=2", "S nop count=1\nS nop count=2\nS nop count=3\n",
                  (int32_t[]){1, 2, 2}, "S nop count=1\nS nop count=2\nS    nop count=3\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,2 +1,3 @@\n"
                  " S nop count=1\n"
                  "-S nop count=2\n"
                  "\\ No newline at end of file\n"
                  "+S nop count=2\n"
                  "+S    nop count=3\n");
    expect_change("S nop count=1\nS nop count=2", "S nop count=2\n", (int32_t[]){2},
                  "S nop count=2",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,2 +1 @@\n"
                  "-S nop count=1\n"
                  " S nop count=2\n"
                  "\\ No newline at end of file\n");
}

Test(advice_diff, all_lines_may_go)
{
    expect_change("S nop count=1\n", "", NULL, "",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1 +0,0 @@\n"
                  "-S nop count=1\n");
}

Test(advice_diff, lines_end_as_those_of_the_source)
{
    expect_change("S nop count=1\r\nS nop count=2 # two\r\n",
                  "S nop count=2\nS nop count=1\nS nop count=3\n", (int32_t[]){2, 1, 2},
                  "S nop count=2 # two\r\nS nop count=1\r\nS    nop count=3\r\n",
                  "--- k.txt\n"
                  "+++ k.txt\n"
                  "@@ -1,2 +1,3 @@\n"
                  "+S nop count=2 # two\r\n"
                  " S nop count=1\r\n"
                  "-S nop count=2 # two\r\n"
                  "+S    nop count=3\r\n");
}

/* `count` lines, of which those in `changed` (0 ends it) say something else in the second text. */
static struct written change_lines(int count, const int *changed)
{
    char *first, *second;
    size_t size;
    FILE *one = open_memstream(&first, &size), *other = open_memstream(&second, &size);
    int32_t *origins = calloc((size_t)count, sizeof *origins);
    for (int line = 1; line <= count; line++) {
        bool changes = *changed == line;
        changed += changes;
        fprintf(one, "S nop count=%d\n", line);
        fprintf(other, "S nop count=%d\n", changes ? 1000 + line : line);
        origins[line - 1] = line;
    }
    fclose(one);
    fclose(other);
    struct written written = change(first, second, origins);
    free(first);
    free(second);
    free(origins);
    return written;
}

/* The heads of the hunks, one after the other. */
static void expect_hunks(int count, const int *changed, const char *heads)
{
    struct written written = change_lines(count, changed);
    char found[256] = "";
    for (const char *at = written.unified; (at = strstr(at, "@@ -")); at = strchr(at, '\n'))
        strncat(found, at, (size_t)(strchr(at, '\n') + 1 - at));
    cr_expect_str_eq(found, heads, "%s", found);
    clear_written(&written);
}

Test(advice_diff, hunks_are_those_of_gnu_diff)
{
    expect_hunks(20, (int[]){10, 0}, "@@ -7,7 +7,7 @@\n");
    expect_hunks(20, (int[]){1, 20, 0}, "@@ -1,4 +1,4 @@\n@@ -17,4 +17,4 @@\n");
    expect_hunks(20, (int[]){5, 12, 0}, "@@ -2,14 +2,14 @@\n"); /* six lines between them */
    expect_hunks(20, (int[]){5, 13, 0}, "@@ -2,7 +2,7 @@\n@@ -10,7 +10,7 @@\n");
    expect_hunks(2, (int[]){0}, "");
}

/* Too long for the best: what was made of a line is that line all the same. */
Test(advice_diff, long_texts_keep_what_was_not_moved)
{
    enum { LINES = 9000 };
    char *first, *second;
    size_t size, longer;
    FILE *one = open_memstream(&first, &size), *other = open_memstream(&second, &longer);
    int32_t *origins = calloc(LINES, sizeof *origins);
    for (int line = 1; line <= LINES; line++) {
        bool edge = line == 1 || line == LINES;
        fprintf(one, "S nop count=%d # %d\n", edge ? 1 : 2 + line % 3, line);
        fprintf(other, "S nop count=%d\n", edge ? 7 : 2 + line % 3);
        origins[line - 1] = line;
    }
    fclose(one);
    fclose(other);
    struct written written = change(first, second, origins);
    cr_expect(strstr(written.text, "S nop count=3 # 4000\n"));
    cr_expect(strstr(written.unified, "@@ -8997,4 +8997,4 @@\n"));
    clear_written(&written);
    free(first);
    free(second);
    free(origins);
}

/* ---- random programs ------------------------------------------------------------------------- */

/* Takes one line off a text; its length without the newline, which *ended says is there. */
static size_t take_line(const char **text, bool *ended)
{
    size_t length = strcspn(*text, "\n");
    *ended = (*text)[length] == '\n';
    *text += length + *ended;
    return length;
}

/* " -12,3": one line where no number follows. */
static void read_range(const char **text, char mark, int *line, int *count)
{
    char *next;
    cr_assert((*text)[0] == ' ' && (*text)[1] == mark, "%s", *text);
    *line = (int)strtol(*text + 2, &next, 10);
    *count = *next == ',' ? (int)strtol(next + 1, &next, 10) : 1;
    *text = next;
}

/* Applies one hunk as strictly as can be: its numbers and every line of its context must fit. */
static void apply_hunk(const char **unified, const char **old, int *old_line, FILE *out,
                       int *new_line)
{
    int at, olds, to, news;
    bool ended;
    cr_assert_eq(strncmp(*unified, "@@", 2), 0, "%s", *unified);
    *unified += 2;
    read_range(unified, '-', &at, &olds);
    read_range(unified, '+', &to, &news);
    cr_assert_eq(strncmp(*unified, " @@\n", 4), 0, "%s", *unified);
    *unified += 4;
    for (; *old_line < at + (olds == 0); ++*old_line, ++*new_line) {
        const char *line = *old;
        size_t length = take_line(old, &ended);
        fprintf(out, "%.*s\n", (int)length, line);
    }
    cr_assert_eq(*new_line, to + (news == 0));
    while (olds > 0 || news > 0) {
        char mark = **unified;
        const char *line = *unified + 1;
        size_t length = take_line(unified, &ended) - 1;
        bool unended = **unified == '\\';
        if (unended)
            take_line(unified, &ended);
        if (mark != '+') {
            const char *was = *old;
            cr_assert_eq(take_line(old, &ended), length);
            cr_assert_eq(memcmp(was, line, length), 0, "%.*s", (int)length, line);
            cr_assert_eq(ended, !unended);
            ++*old_line;
            olds--;
        }
        if (mark != '-') {
            fprintf(out, "%.*s%s", (int)length, line, unended ? "" : "\n");
            ++*new_line;
            news--;
        }
    }
}

static char *apply_unified(const char *unified, const char *old)
{
    char *text;
    size_t size;
    int old_line = 1, new_line = 1;
    static const char head[] = "--- k.txt\n+++ k.txt\n";
    FILE *out = open_memstream(&text, &size);
    if (*unified) {
        cr_assert_eq(strncmp(unified, head, strlen(head)), 0);
        unified += strlen(head);
    }
    while (*unified)
        apply_hunk(&unified, &old, &old_line, out, &new_line);
    fputs(old, out);
    fclose(out);
    return text;
}

/* Every line without an instruction is in the new text, in the same order. */
static void expect_comments(const char *before, const char *after)
{
    bool ended;
    while (*before) {
        const char *line = before;
        size_t length = take_line(&before, &ended), blank = strspn(line, " \t");
        if (blank < length && line[blank] != '#' && line[blank] != '/' && line[blank] != '\r')
            continue;
        const char *other;
        size_t other_length;
        do {
            cr_assert(*after, "lost: %.*s", (int)length, line);
            other = after;
            other_length = take_line(&after, &ended);
        } while (other_length != length || memcmp(other, line, length) != 0);
    }
}

static void expect_diff(char *text, const struct program *before, const struct program *after)
{
    struct written written = diff_of(text, before, after);
    struct program again = advised_parse(&hw, written.text);
    char *wanted = advised_print(after), *got = advised_print(&again);
    cr_assert_str_eq(got, wanted, "%s\n--- instead of\n%s--- from\n%s", written.text, wanted, text);
    expect_comments(text, written.text);
    char *applied = apply_unified(written.unified, text);
    cr_assert_str_eq(applied, written.text, "%s--- instead of\n%s--- by\n%s", applied, written.text,
                     written.unified);
    free(applied);
    free(wanted);
    free(got);
    program_clear(&again);
    clear_written(&written);
}

Test(advice_diff, random_files_keep_what_they_can)
{
    int runs = test_cases(200), changed = 0;
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 9000);
        char *tidy = advised_random(rng, true), *text = advised_untidy(rng, tidy);
        struct program program = advised_parse(&hw, text);
        struct advices advices;
        struct error error;
        cr_assert_eq(advise(&program, 1, NULL, &advices, &error), STATUS_OK, "%s", error.text);
        expect_diff(text, &program, &program);
        for (int i = 0; i < advices.count && advices.items[i].applies; i++, changed++)
            expect_diff(text, &program, &advices.items[i].changed);
        advices_clear(&advices);
        program_clear(&program);
        free(tidy);
        free(text);
    }
    cr_assert_gt(changed, runs);
}
