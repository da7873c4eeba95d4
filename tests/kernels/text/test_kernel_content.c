/* Is what is read written, and what is stored stored once? Random kernels with a line changed, of
 * which many do what a kernel may not, against the plain evaluator; the walk over elements where
 * nothing is certain, too. And kernels that are shipped leave nothing in doubt. */
#include "analysis/check/check.h"
#include "hardware/load.h"
#include "kernels/text/legal/kernel_content.h"
#include "kernels/text/space/kernel_space_internal.h"
#include "search/search.h"
#include "tests/kernels/text/random_case.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct error error;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
    random_case_chip(&hw);
}

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(kernel_content, .init = enter, .fini = leave);

/* ------------------------------------------------------------------ changed lines */

enum { LINES = 256, LINE_SIZE = 256 };

struct lines {
    int count, step_count;
    char text[LINES][LINE_SIZE];
    int steps[LINES];
};

static bool is_step(const char *line)
{
    static const char *const others[] = {"for ", "tile ", "let "};
    size_t blanks = strspn(line, " ");
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        if (strncmp(line + blanks, others[n], strlen(others[n])) == 0)
            return false;
    return strstr(line, "<-") != NULL;
}

static void cut(const char *text, struct lines *lines)
{
    lines->count = lines->step_count = 0;
    for (const char *line = text; *line && lines->count < LINES; line += strcspn(line, "\n") + 1) {
        snprintf(lines->text[lines->count], LINE_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
        if (is_step(lines->text[lines->count]))
            lines->steps[lines->step_count++] = lines->count;
        lines->count++;
    }
}

/* Some loop of the text. */
static const char *pick_loop(gsl_rng *rng, const struct lines *lines, char name[LINE_SIZE])
{
    int found = 0;
    name[0] = 0;
    for (int n = 0; n < lines->count; n++) {
        char loop[LINE_SIZE];
        if (sscanf(lines->text[n], " for %255s", loop) == 1 &&
            gsl_rng_uniform_int(rng, (unsigned long)++found) == 0)
            memcpy(name, loop, LINE_SIZE);
    }
    return name;
}

/* A loop by so few that parts begin anywhere. */
static void change_loop(gsl_rng *rng, struct lines *lines)
{
    for (int tries = 0; tries < 20; tries++) {
        char *line = lines->text[gsl_rng_uniform_int(rng, (unsigned long)lines->count)];
        char *by = strstr(line, " by ");
        if (strncmp(line + strspn(line, " "), "for ", 4) != 0 || !by)
            continue;
        snprintf(by, (size_t)(line + LINE_SIZE - by), " by %lu", 1 + gsl_rng_uniform_int(rng, 20));
        return;
    }
}

static void change(gsl_rng *rng, struct lines *lines)
{
    /* before and behind a loop's name */
    static const char *const conditions[][2] = {{"first(", ")"},
                                                {"last(", ")"},
                                                {"not first(", ")"},
                                                {"begin(", ") == 0"},
                                                {"not last(", ")"}};
    char loop[LINE_SIZE], condition[2 * LINE_SIZE], *line;
    if (!lines->step_count)
        return;
    line = lines->text[lines->steps[gsl_rng_uniform_int(rng, (unsigned long)lines->step_count)]];
    unsigned long what = gsl_rng_uniform_int(rng, 9);
    if (what < 5 && *pick_loop(rng, lines, loop)) {
        snprintf(condition, sizeof condition, "%s%s%s", conditions[what][0], loop,
                 conditions[what][1]);
        size_t length = strlen(line);
        snprintf(line + length, LINE_SIZE - length, "%s%.100s",
                 strstr(line, " if ") ? " and " : " if ", condition);
    } else if (what == 5) {
        line[0] = 0;
    } else if (what == 6) { /* a step twice, or in another place */
        int other = lines->steps[gsl_rng_uniform_int(rng, (unsigned long)lines->step_count)];
        size_t blanks = strspn(lines->text[other], " ");
        char moved[2 * LINE_SIZE];
        snprintf(moved, sizeof moved, "%*s%s\n%s", (int)blanks, "", line + strspn(line, " "),
                 lines->text[other]);
        if (strlen(moved) < LINE_SIZE)
            memcpy(lines->text[other], moved, strlen(moved) + 1);
        if (gsl_rng_uniform_int(rng, 2) && line != lines->text[other])
            line[0] = 0;
    } else if (what == 7) {
        change_loop(rng, lines);
    } else if (strncmp(line + strspn(line, " "), "load", 4) == 0) {
        size_t length = strlen(line);
        snprintf(line + length, LINE_SIZE - length, " if has(l0c->ub)");
    }
}

/* The text of a seed with one to three lines changed, NULL: that is none. Owned by the caller. */
static char *changed_text(unsigned long seed)
{
    struct lines *lines = malloc(sizeof *lines);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    gsl_rng_set(rng, seed);
    char *text = random_kernel_text(rng);
    cut(text, lines);
    for (unsigned long n = 1 + gsl_rng_uniform_int(rng, 3); n > 0; n--)
        change(rng, lines);
    text[0] = 0;
    char *changed = calloc(LINES, LINE_SIZE);
    size_t used = 0;
    for (int n = 0; n < lines->count; n++)
        if (lines->text[n][0])
            used += (size_t)snprintf(changed + used, (size_t)LINES * LINE_SIZE - used, "%s\n",
                                     lines->text[n]);
    struct kernel_text kernel;
    bool is_kernel = kernel_text_parse("k", changed, used, &kernel, &error) == STATUS_OK;
    if (is_kernel)
        kernel_text_clear(&kernel);
    else
        free(changed);
    gsl_rng_free(rng);
    free(text);
    free(lines);
    return is_kernel ? changed : NULL;
}

/* ------------------------------------------------------------------ against the plain evaluator */

/* What the plain evaluator does not look at. */
static bool is_of_other_kind(const char *text)
{
    return strstr(text, "flag registers") || strstr(text, "used outside its life") ||
           strstr(text, "in whole blocks");
}

static bool is_unaligned(const char *text)
{
    return strstr(text, "a part begins in tile") != NULL;
}

/* With all in doubt the walk over elements alone must find out. */
static enum status walk_all(const struct random_case *random, const struct kernel_plan *plan)
{
    struct kernel_doubts doubts = {.any = true};
    struct kernel_env *env = calloc(1, sizeof *env);
    env->values = random->values;
    for (int t = 0; t < random->kernel.tile_count; t++)
        doubts.tiles[t] = plan->tiles[t].is_there;
    memset(doubts.tensors, 1, sizeof doubts.tensors);
    enum status status = kernel_content_check(plan, &doubts, env, NULL, &error);
    free(env);
    return status;
}

static void compare_walk(const struct random_case *random, const struct space_plan *plan)
{
    const char *why = random->plain.why;
    bool is_content = strstr(why, "nothing wrote") || strstr(why, "twice") || strstr(why, "begun");
    if (random->plain.verdict != PLAIN_FINE && !is_content)
        return;
    enum status status = walk_all(random, &plan->plan);
    cr_assert_eq(status == STATUS_OK, random->plain.verdict == PLAIN_FINE,
                 "walk: %s, expected %s\n%s", status == STATUS_OK ? "fine" : error.text, why,
                 random->shown);
}

/* Does an operand of its program start where its buffer allows no start? */
static bool has_unaligned(const struct space *space, const struct tiling *tiling)
{
    struct program program = {0};
    struct check check;
    bool found = false;
    program_reset(&program, &hw);
    if (space->kind->generate(space, tiling, 0, &program, &error) == STATUS_OK &&
        program_check(&program, &check, &error) == STATUS_OK) {
        for (size_t n = 0; n < check.count; n++)
            found |= check.findings[n].kind == FINDING_ALIGNMENT;
        check_clear(&check);
    }
    program_clear(&program);
    return found;
}

struct tally {
    int fine, wrong, doubtful, unaligned;
};

static void compare(const struct random_case *random, const struct space *space,
                    struct tally *tally)
{
    struct tiling tiling = {{0}};
    struct violation list[MAX_VIOLATIONS] = {{.text = ""}};
    memcpy(tiling.value, random->values.axes, sizeof(int64_t) * (size_t)random->kernel.axis_count);
    tiling.value[random->kernel.axis_count] = random->used;
    if (random->used != random->cores)
        return;
    bool is_fine = random->plain.verdict == PLAIN_FINE && random->plain.fits;
    int count = space->kind->violations(space, &tiling, list);
    cr_assert_eq(space->kind->legal(space, &tiling), count == 0);
    if (is_of_other_kind(list[0].text))
        return;
    if (is_unaligned(list[0].text)) {
        tally->unaligned += has_unaligned(space, &tiling);
        return;
    }
    cr_assert(count > 0 || !has_unaligned(space, &tiling), "unaligned\n%s", random->shown);
    cr_assert_eq(count == 0, is_fine, "%d violations, first '%s', expected %s\n%s", count,
                 list[0].text, random->plain.why, random->shown);
    const struct space_plan *plan = kernel_find_plan(space->detail, &tiling);
    tally->fine += is_fine;
    tally->wrong += !is_fine;
    tally->doubtful += plan && plan->doubts.any;
    if (plan && plan->is_possible)
        compare_walk(random, plan);
}

static void play(struct random_case *random, struct tally *tally)
{
    if (!random)
        return;
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    enum status status = kernel_space_create(&space, &random->kernel, random->given, DTYPE_F16,
                                             DTYPE_F16, hw.cores, &error);
    if (status == STATUS_OK)
        compare(random, &space, tally);
    else
        cr_assert(random->plain.verdict != PLAIN_FINE || is_of_other_kind(error.text) ||
                      status == STATUS_TOO_LARGE,
                  "%s, expected %s\n%s", error.text, random->plain.why, random->shown);
    space_close(&space);
    random_case_close(random);
}

Test(kernel_content, changed_kernels_are_legal_where_the_plain_evaluator_lets_them)
{
    struct tally tally = {0};
    const char *first = getenv("AUTOTUNE_FIRST_SEED");
    unsigned long from = first ? strtoul(first, NULL, 10) : 1, cases = random_cases(700);
    for (unsigned long seed = from; seed < from + cases; seed++) {
        char *text = changed_text(seed);
        if (text)
            play(random_case_of(text, seed, &hw), &tally);
        free(text);
    }
    cr_log_info("%d fine, %d wrong, %d in doubt, %d unaligned", tally.fine, tally.wrong,
                tally.doubtful, tally.unaligned);
    cr_assert_gt(tally.wrong, (int)cases / 75);
    cr_assert_gt(tally.fine, (int)cases / 75);
    cr_assert_gt(tally.doubtful, (int)cases / 75);
}

/* ------------------------------------------------------------------ one each */

#define KERNEL "kernel k\nsize N pad 16\ntensor X[N] f16, Z[N] f16\n"

#define SIX       KERNEL "for i in 6 by 1\n  tile x: ub[N] f16\n"
#define UNWRITTEN "reads elements of tile 'x' that nothing wrote in its life"

static const struct {
    const char *text, *why; /* "": legal */
} kernels[] = {
    {KERNEL "for i in N by 16\n  tile x: ub[i + 2] f16\n  tile z: ub[i] f16\n"
            "  load x <- X[i + 2 from begin(i) - 1]\n  vmax z <- x[i from 0], x[i from 2]\n"
            "  store Z <- z\n",
     "8:3: a part begins in tile 'x' at byte 4, expected a multiple of 32"},
    {KERNEL "for i in N by 16\n  for r in i by 2\n    tile x: ub[r] f16 at top\n"
            "    load x <- X\n    store Z <- x\n",
     "7:5: a part begins in tile 'x' at byte 4, expected a multiple of 32"},
    /* a spread's source may begin anywhere */
    {KERNEL "tile x: ub[N] f16\ntile z: ub[N] f16\nload x <- X\nfor e in 3 by 1\n"
            "  vecDup z <- x[e]\nstore Z <- z\n",
     ""},
    /* a product of rows that are no block, in a tile without room for one */
    {KERNEL "tile a: l0a[3,N] f16\ntile b: l0b[N,16] f16\ntile c: l0c[3,16] f32\n"
            "load a <- X[3*N from 0]\nload b <- X[16*N from 0]\nmmad c <- a, b\n"
            "tile d: ub[3,16] f16\nmove d <- c\nstore Z[48 from 0] <- d\n",
     "9:1: a product takes 3072 bytes in whole blocks from byte 0 of tile 'a' on, which has"},
    {KERNEL "tile x: ub[N] f16\nload x <- X\nfor j in 3 by 1\n  store Z <- x\n",
     "7:3: stores the same elements in each round of loop 'j', expected once or add=1"},
    {KERNEL "tile x: ub[N] f16\nload x <- X\nfor j in 3 by 1\n  store Z <- x add=1\n", ""},
    {KERNEL "tile x: ub[N] f16\nload x <- X\nfor j in 3 by 1\n  store Z <- x if last(j)\n", ""},
    {KERNEL "tile x: ub[N] f16\nload x <- X\nfor j in 3 by 1\n  store Z <- x if not last(j)\n",
     "7:3: stores an element again of 'Z', expected once or add=1"},
    {KERNEL "tile x: ub[N] f16\nload x <- X\nfor j in 2 by 1\n  store Z <- x if not last(j)\n", ""},
    /* halves make a whole; one of them does not */
    {KERNEL "tile x: ub[96] f16\nload x[48 from 0] <- X[48 from 0]\n"
            "load x[48 from 48] <- X[48 from 48]\nstore Z[96 from 0] <- x\n",
     ""},
    {KERNEL "tile x: ub[96] f16\nload x[48 from 0] <- X[48 from 0]\nstore Z[96 from 0] <- x\n",
     "6:1: reads elements of tile 'x' that nothing wrote in its life, from x[48] on; line 5 writes "
     "others of it"},
    {KERNEL "for i in N by 32\n  tile x: ub[i] f16\n  load x <- X if first(i)\n  store Z <- x\n",
     "7:3: reads elements of tile 'x' that nothing wrote in its life, from x[0] on; line 6 writes "
     "others of it"},
    /* rounds do what the second does, but for one of them: by a part, a condition, a loop inside, a
     * number of elements, a part of a tensor; or but for the first, or the last */
    {SIX "  load x[16 from 16*begin(i)] <- X[16 from 0]\n"
         "  store Z[16 from 16*begin(i)] <- x[16 from 16*(begin(i) - begin(i) % 4 / 3)]\n",
     UNWRITTEN},
    {SIX "  load x[16 from 16*(begin(i) - begin(i) % 4 / 3)] <- X[16 from 0]\n"
         "  store Z[16 from 16*begin(i)] <- x[16 from 16*begin(i)]\n",
     UNWRITTEN},
    {KERNEL "for i in 6 by 1 each\n  tile x: ub[N] f16\n  load x <- X if begin(i) != 3\n"
            "  store Z[16 from 16*begin(i)] <- x[16 from 0]\n",
     UNWRITTEN},
    {KERNEL "for i in 6 by 1 each\n  tile x: ub[N] f16\n  for j in 1 - begin(i) % 4 / 3 by 1\n"
            "    load x[16 from 0] <- X[16 from 0]\n"
            "  store Z[16 from 16*begin(i)] <- x[16 from 0]\n",
     UNWRITTEN},
    {SIX "  tile y: ub[N] f16\n  load y <- X\n"
         "  vmax x <- y, y elements=(16 - begin(i) % 4 / 3)\n"
         "  store Z[16 from 16*begin(i)] <- x[16 from 0]\n",
     UNWRITTEN},
    {SIX "  load x <- X\n  store Z[16 from 16*(begin(i) - begin(i) % 4 / 3)] <- x[16 from 0]\n",
     "7:3: stores an element again of 'Z', expected once or add=1"},
    {SIX "  load x <- X if first(i) or last(i)\n  store Z[16 from 16*begin(i)] <- x[16 from 0]\n",
     UNWRITTEN},
    {SIX "  load x <- X if not last(i)\n  store Z[16 from 16*begin(i)] <- x[16 from 0]\n",
     UNWRITTEN},
    {SIX "  load x[16 from 16*begin(i)] <- X[16 from 0]\n"
         "  store Z[16 from 16*begin(i)] <- x[16 from 16*begin(i)]\n",
     ""},
    {KERNEL "tile x: ub[N] f16\nfor i in 100000 by 1\n"
            "  load x[16 from begin(i) % 2 * 16] <- X[16 from begin(i)]\nstore Z <- x\n",
     "more than 65536 rounds pick differently"},
};

Test(kernel_content, reasons)
{
    static const int64_t given[] = {90};
    const struct tiling tiling = {{1}};
    for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
        struct kernel_text kernel;
        struct violation list[MAX_VIOLATIONS] = {{.text = ""}};
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        cr_assert_eq(
            kernel_text_parse("k", kernels[n].text, strlen(kernels[n].text), &kernel, &error),
            STATUS_OK, "%zu: %s", n, error.text);
        cr_assert_eq(
            kernel_space_create(&space, &kernel, given, DTYPE_F16, DTYPE_F16, hw.cores, &error),
            STATUS_OK, "%zu: %s", n, error.text);
        int count = space.kind->violations(&space, &tiling, list);
        cr_expect_eq(count == 0, kernels[n].why[0] == 0, "%zu: '%s'", n, list[0].text);
        cr_expect(strstr(list[0].text, kernels[n].why), "%zu: '%s', expected '%s'", n, list[0].text,
                  kernels[n].why);
        space_close(&space);
        kernel_text_clear(&kernel);
    }
}

/* A loop of one round stores nothing again: a tensor too large to be looked at is not in doubt. */
Test(kernel_content, one_round_leaves_no_doubt)
{
    static const char text[] =
        "kernel k\nsize N\ntensor X[N,16] f16, Z[16,N,16] f16\nfor i in N by 64\n"
        "  tile x: ub[i,16] f16\n  load x <- X\n  for once in 1 by 1\n    for j in 16 by 1\n"
        "      store Z[j,i,16 from 0] <- x\n";
    static const int64_t given[] = {1 << 24};
    const struct tiling tiling = {{1}};
    struct kernel_text kernel;
    struct violation list[MAX_VIOLATIONS] = {{.text = ""}};
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(
        kernel_space_create(&space, &kernel, given, DTYPE_F16, DTYPE_F16, hw.cores, &error),
        STATUS_OK, "%s", error.text);
    cr_expect_eq(space.kind->violations(&space, &tiling, list), 0, "%s", list[0].text);
    cr_expect_not(kernel_space_of(&space)->plans[0]->doubts.any);
    space_close(&space);
    kernel_text_clear(&kernel);
}

/* What is shipped is certain by its structure, but for what picks by numbers. */
Test(kernel_content, shipped_kernels_leave_no_doubt)
{
    static const char *const names[] = {"add_relu",         "batched_matmul",  "conv2d",
                                        "matmul_two_level", "scale_bias_relu", "softmax_long"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char file[512];
        int64_t given[KERNEL_MAX_SIZES];
        struct kernel_text kernel;
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        snprintf(file, sizeof file, "%s/kernels/library/%s.kernel", SOURCE_DIR, names[n]);
        cr_assert_eq(kernel_text_read(file, &kernel, &error), STATUS_OK, "%s", error.text);
        for (int s = 0; s < kernel.size_count; s++)
            given[s] = 3 + 16 * s;
        cr_assert_eq(
            kernel_space_create(&space, &kernel, given, DTYPE_F16, DTYPE_F16, hw.cores, &error),
            STATUS_OK, "%s", error.text);
        const struct kernel_space *ks = kernel_space_of(&space);
        bool picks = strstr(kernel.source, " from ") != NULL;
        for (int p = 0; p < ks->plan_count; p++) {
            cr_expect(!ks->plans[p]->is_possible || !ks->plans[p]->doubts.any, "%s", names[n]);
            cr_expect(!ks->plans[p]->is_possible || picks || ks->plans[p]->is_certain, "%s",
                      names[n]);
        }
        space_close(&space);
        kernel_text_clear(&kernel);
    }
}

/* What would take too long to find out is no tiling's fault: there is an answer, that says so. */
Test(kernel_content, what_takes_too_long_is_a_warning)
{
    static const char text[] = "kernel k\nsize N\ntensor Y[N,1024] f16\ntile x: ub[1024] f16\n"
                               "for r in N by 1\n  for e in 64 by 1\n"
                               "    vecDup x[16 from 16*begin(e)] <- 1.0\n"
                               "  store Y[1 from begin(r),:] <- x\n";
    for (int is_long = 0; is_long < 2; is_long++) {
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        struct search_result result;
        json_t *details = json_object();
        int64_t given[] = {is_long ? 600000 : 600};
        cr_assert_eq(kernel_space_parse(&space, "k", text, given, DTYPE_F16, DTYPE_F16, 1, &error),
                     STATUS_OK, "%s", error.text);
        cr_assert_eq(
            search(&space, &(struct search_options){.threads = 1, .top = 1}, &result, &error),
            STATUS_OK, "%s", error.text);
        cr_assert_eq(result.count, 1);
        cr_expect(space.kind->legal(&space, &result.best[0].tiling));
        cr_assert_eq(kernel_details(NULL, &space, &result, NULL, details, &error), STATUS_OK);
        const json_t *warning = json_object_get(json_object_get(details, "warnings"), "content");
        cr_expect_eq(warning != NULL, is_long);
        json_decref(details);
        search_result_clear(&result);
        space.kind->destroy(&space);
        free(space.blocks);
    }
}

/* Of few tilings all are asked one by one how many are legal, where that hangs on more than sizes.
 */
Test(kernel_content, few_tilings_are_counted)
{
    static const char text[] = "kernel k\nsize N\ntensor X[N] f16, Z[N] f16\n"
                               "axis t = 8, 16, 24, 32, 48\nfor i in N by t\n"
                               "  tile x: ub[N] f16\n"
                               "  load x[t from begin(i)] <- X[t from begin(i)]\n"
                               "  store Z[t from begin(i)] <- x[t from begin(i)]\n";
    static const int64_t given[] = {96};
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    struct search_result result;
    cr_assert_eq(kernel_space_parse(&space, "k", text, given, DTYPE_F16, DTYPE_F16, 1, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(search(&space, &(struct search_options){.threads = 1, .top = 1}, &result, &error),
                 STATUS_OK, "%s", error.text);
    cr_expect_eq(result.candidates, 5);
    cr_expect_eq(result.feasible, 3); /* parts begin at multiples of 32 bytes */
    cr_expect_not(result.unasked);
    search_result_clear(&result);
    space_close(&space);
}
