/* Makes random programs, and compares what they compute. Random lines are moves and vector
 * operations on few places, so that they often depend on each other, in loops up to two deep. That
 * a change computes the same is shown by several runs of an interpreter that takes any legal order
 * (interpret.h), and that it is safe by the hazard check. */
#include "tests/support/advised.h"

#include "analysis/advice/resync.h"
#include "analysis/check/check.h"
#include "tests/support/interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program advised_parse(const struct hardware *hw, const char *text)
{
    struct program program;
    struct error error;
    enum status status = program_parse(hw, "test", text, strlen(text), &program, &error);
    cr_assert_eq(status, STATUS_OK, "%s in:\n%s", error.text, text);
    return program;
}

char *advised_print(const struct program *program)
{
    char *text;
    size_t size;
    struct error error;
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(program_print(program, out, &error), STATUS_OK);
    fclose(out);
    return text;
}

static int below(gsl_rng *rng, int limit)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)limit);
}

/* A few places in each buffer, so that lines often share one. */
static int place(gsl_rng *rng)
{
    return 512 * below(rng, 6);
}

/* A stride of a whole piece, or none. */
static const char *stride(gsl_rng *rng, int depth, int bytes, char text[32])
{
    text[0] = 0;
    if (depth > 0 && below(rng, 3))
        snprintf(text, 32, "+%d*%c", bytes, 'i' + below(rng, depth));
    return text;
}

static void put_line(gsl_rng *rng, FILE *out, int depth, bool barriers)
{
    int kind = below(rng, 8), bytes = 512;
    char text[32];
    /* stores go where loads do not come from */
    int outside = kind == 4 || kind == 5 ? 65536 + 512 * below(rng, 64) : 512 * below(rng, 8);
    int amount = kind == 2 || kind == 3 ? bytes / 2 : bytes;
    if (kind == 4 || kind == 5)
        fprintf(out, "MTE3 ub->gm bytes=%d src=ub:%d%s dst=gm:%d%s\n", amount, place(rng),
                stride(rng, depth, bytes, text), outside, text);
    else if (kind == 2)
        fprintf(out, "V relu elements=%d src=ub:%d%s dst=ub:%d%s\n", amount, place(rng),
                stride(rng, depth, bytes, text), place(rng), text);
    else if (kind == 3)
        fprintf(out, "V vadd elements=%d src=ub:%d src2=ub:%d dst=ub:%d\n", amount, place(rng),
                place(rng), place(rng));
    else if (kind < 2)
        fprintf(out, "MTE2 gm->ub bytes=%d src=gm:%d%s dst=ub:%d\n", amount, outside,
                stride(rng, depth, bytes, text), place(rng));
    else if (kind == 6)
        fprintf(out, "MTE2 gm->l1 bytes=%d src=gm:%d%s dst=l1:%d\n", amount, outside,
                stride(rng, depth, bytes, text), place(rng));
    else
        fprintf(out, "MTE1 l1->l0a bytes=%d src=l1:%d dst=l0a:%d\n", amount, place(rng),
                place(rng));
    if (barriers)
        fputs("barrier\n", out);
    if (below(rng, 12) == 0)
        fputs("S branch count=1\n", out);
}

static void put_block(gsl_rng *rng, FILE *out, int depth, int count, bool barriers)
{
    for (int l = 0; l < count; l++) {
        if (depth < 2 && below(rng, 4) == 0) {
            fprintf(out, "loop %c %d\n", 'i' + depth, 1 + below(rng, 6));
            put_block(rng, out, depth + 1, 1 + below(rng, 4), barriers);
            fputs("end\n", out);
        } else {
            put_line(rng, out, depth, barriers);
        }
    }
}

char *advised_random(gsl_rng *rng, bool barriers)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    put_block(rng, out, 0, 2 + below(rng, 5), barriers);
    fclose(out);
    return text;
}

static void put_comment(gsl_rng *rng, FILE *out)
{
    static const char *const comments[] = {"# a", "// b; c", "#", "  # barrier", ""};
    for (int lines = below(rng, 3); lines > 0; lines--)
        fprintf(out, "%s\n", comments[below(rng, 5)]);
}

char *advised_untidy(gsl_rng *rng, const char *text)
{
    static const char *const indents[] = {"", "\t", "   ", " \t "};
    static const char *const endings[] = {"", ";", "  ; ", " # here", "// there"};
    const char *newline;
    char *untidy;
    size_t size;
    FILE *out = open_memstream(&untidy, &size);
    const char *end = below(rng, 4) ? "\n" : "\r\n";
    for (; *text; text = newline + 1) {
        newline = strchr(text, '\n');
        put_comment(rng, out);
        fprintf(out, "%s%.*s%s", indents[below(rng, 4)], (int)(newline - text), text,
                endings[below(rng, 5)]);
        if (newline[1] || below(rng, 2))
            fputs(end, out);
    }
    fclose(out);
    return untidy;
}

bool advised_resync(const struct program *program, struct program *made)
{
    struct edit edit;
    struct error error;
    cr_assert_eq(edit_open(&edit, program, &error), STATUS_OK);
    bool fits = resync(&edit);
    if (fits)
        cr_assert_eq(edit_program(&edit, made, &error), STATUS_OK);
    edit_close(&edit);
    return fits;
}

static size_t count_findings(const struct program *program, bool superfluous)
{
    struct check check;
    struct error error;
    size_t count = 0;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK);
    for (size_t i = 0; i < check.count; i++)
        count += (check.findings[i].kind == FINDING_OVER_SYNC) == superfluous &&
                 check.findings[i].kind != FINDING_ALIGNMENT;
    check_clear(&check);
    return count;
}

size_t advised_faults(const struct program *program)
{
    return count_findings(program, false);
}

size_t advised_superfluous(const struct program *program)
{
    return count_findings(program, true);
}

void advised_expect_same(const struct program *before, const struct program *after,
                         const char *what, gsl_rng *rng)
{
    char *one = advised_print(before), *other = advised_print(after);
    cr_assert_eq(advised_faults(after), 0, "%s is not safe:\n%s--- made of\n%s", what, other, one);
    uint64_t sum = interpret(before, rng);
    for (int run = 0; run < 3; run++)
        cr_assert_eq(interpret(after, rng), sum, "%s computes something else:\n%s--- than\n%s",
                     what, other, one);
    free(one);
    free(other);
}
