/* Boxes of tilings of random kernels, and of such as do what the rule for whole ranges must not
 * take for granted; those of the library are in test_kernel_library.c. And the intervals that they
 * are made of. */
#include "hardware/load.h"
#include "kernels/text/space/kernel_space.h"
#include "kernels/text/tape/kernel_tape.h"
#include "search/search.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/cases.h"
#include "tests/support/expect_boxes.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

static struct error error;

/* ------------------------------------------------------------------ intervals */

enum { INPUTS = 4, OPERATIONS = 12 };

static const enum tape_op drawn[] = {TAPE_ADD,       TAPE_SUBTRACT, TAPE_MULTIPLY, TAPE_DIVIDE,
                                     TAPE_REMAINDER, TAPE_CDIV,     TAPE_UP,       TAPE_MIN,
                                     TAPE_MAX,       TAPE_LOG2,     TAPE_POW2,     TAPE_GCD,
                                     TAPE_EQUAL,     TAPE_LESS,     TAPE_AT_MOST};

struct whole {
    bool is_known; /* it can be */
    int64_t number;
};

/* What stands in a kernel's text for the operation, if it can be done. */
static void exact(enum tape_op op, struct whole a, struct whole b, struct whole *result)
{
    static const enum expression_op same[] = {[TAPE_ADD] = EXPRESSION_ADD,
                                              [TAPE_SUBTRACT] = EXPRESSION_SUBTRACT,
                                              [TAPE_MULTIPLY] = EXPRESSION_MULTIPLY,
                                              [TAPE_DIVIDE] = EXPRESSION_DIVIDE,
                                              [TAPE_REMAINDER] = EXPRESSION_REMAINDER,
                                              [TAPE_CDIV] = EXPRESSION_CDIV,
                                              [TAPE_UP] = EXPRESSION_UP,
                                              [TAPE_MIN] = EXPRESSION_MIN,
                                              [TAPE_MAX] = EXPRESSION_MAX,
                                              [TAPE_LOG2] = EXPRESSION_LOG2,
                                              [TAPE_POW2] = EXPRESSION_POW2,
                                              [TAPE_GCD] = EXPRESSION_GCD,
                                              [TAPE_EQUAL] = EXPRESSION_EQUAL,
                                              [TAPE_LESS] = EXPRESSION_LESS,
                                              [TAPE_AT_MOST] = EXPRESSION_AT_MOST};
    result->is_known =
        a.is_known && b.is_known && kernel_apply(same[op], a.number, b.number, &result->number);
}

/* A tape of random operations, and the same by the kernel's own arithmetic at a random point. */
static void check_tape(gsl_rng *rng, const struct hardware *hw, int *compared)
{
    struct tape tape;
    struct interval inputs[INPUTS], results[INPUTS + OPERATIONS];
    double scratch[128];
    struct whole point[INPUTS + OPERATIONS];
    int nodes[INPUTS + OPERATIONS];
    cr_assert_eq(tape_begin(&tape, hw, &error), STATUS_OK);
    for (int i = 0; i < INPUTS; i++) {
        bool is_large = gsl_rng_uniform_int(rng, 4) == 0; /* products beyond 2^53 */
        int64_t lo = (int64_t)gsl_rng_uniform_int(rng, 40) - 5;
        lo = is_large ? lo * 123456789 + 7 : lo;
        int64_t count = 1 + (int64_t)gsl_rng_uniform_int(rng, 30);
        inputs[i] = (struct interval){(double)lo, (double)(lo + count - 1)};
        point[i] =
            (struct whole){true, lo + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)count)};
        nodes[i] = tape_input(&tape, i, inputs[i].lo, inputs[i].hi);
    }
    for (int i = INPUTS; i < INPUTS + OPERATIONS; i++) {
        enum tape_op op = drawn[gsl_rng_uniform_int(rng, sizeof drawn / sizeof *drawn)];
        int a = (int)gsl_rng_uniform_int(rng, (unsigned long)i);
        int b = (int)gsl_rng_uniform_int(rng, (unsigned long)i);
        bool is_choice = gsl_rng_uniform_int(rng, 8) == 0;
        int c = (int)gsl_rng_uniform_int(rng, (unsigned long)i);
        nodes[i] = is_choice ? tape_choice(&tape, nodes[a], nodes[b], nodes[c])
                             : tape_apply(&tape, op, nodes[a], nodes[b]);
        if (is_choice)
            point[i] = !point[a].is_known ? point[a] : point[a].number != 0 ? point[b] : point[c];
        else
            exact(op, point[a], point[b], &point[i]);
    }
    cr_assert_eq(tape_end(&tape, nodes, INPUTS + OPERATIONS, &error), STATUS_OK);
    cr_assert_leq(tape.count, 64);
    tape_run(&tape, inputs, scratch, results);
    for (int i = 0; i < INPUTS + OPERATIONS; i++) {
        if (!point[i].is_known)
            continue;
        ++*compared;
        long double number = (long double)point[i].number; /* exact */
        cr_expect(results[i].lo <= number && number <= results[i].hi,
                  "number %d is %lld, in [%g, %g]", i, (long long)point[i].number, results[i].lo,
                  results[i].hi);
    }
    tape_clear(&tape);
}

Test(kernel_boxes, intervals_hold_what_operations_give)
{
    struct hardware hw;
    int compared = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    machine_load_named(&hw, "ascend310", "");
    for (int n = 0; n < test_cases(20000); n++)
        check_tape(rng, &hw, &compared);
    cr_expect_gt(compared, test_cases(100000));
    gsl_rng_free(rng);
    hardware_clear(&hw);
}

/* ------------------------------------------------------------------ kernels */

static void check_space(const struct kernel_text *kernel, const int64_t given[], int cores,
                        const struct hardware *hw, unsigned long seed, const char *what,
                        struct boxes_seen *seen)
{
    struct space space = {.kind = &kernel_space_tile, .hw = hw};
    enum status status =
        kernel_space_create(&space, kernel, given, DTYPE_F16, DTYPE_F16, cores, &error);
    if (status == STATUS_OK && space.candidates > 0 && space.candidates < 100000) {
        expect_boxes(&space, seed, 40, seen, what);
        if (space.candidates < 2000)
            expect_same_by_boxes(&space, seen, what);
    }
    space_close(&space);
}

Test(kernel_boxes, random_kernels, .timeout = 600)
{
    static const char *const chips[][2] = {
        {"ascend310", ""}, {"ascend910b2", ""}, {"ascend910b2", "cache.default=cold"}};
    struct boxes_seen seen = {0};
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
        struct hardware hw;
        machine_load_named(&hw, chips[c][0], chips[c][1]);
        random_case_chip(&hw);
        unsigned long cases = random_cases(30);
        for (unsigned long seed = random_first(); seed < random_first() + cases; seed++) {
            struct random_case *random = random_case_open(seed, &hw);
            if (!random)
                continue;
            check_space(&random->kernel, random->given, random->cores, &hw, seed, random->shown,
                        &seen);
            random_case_close(random);
        }
        hardware_clear(&hw);
    }
    cr_log_info("%d spaces, %d boxes, %d empty, %d tilings; %d of %d alone are tight; %d searches "
                "simulated %d of %d",
                seen.spaces, seen.boxes, seen.empty, seen.members, seen.tight, seen.points,
                seen.searched, seen.simulated, seen.listed);
    cr_expect_gt(seen.members, test_cases(1000));
}

/* ------------------------------------------------------------------ what breaks the rule */

#define KERNEL "kernel k\nsize N pad 16\nsize M pad 16\ntensor X[N,M] f16, Y[N,M] f16\n"

/* A length in two factors; what is rounded down, and the less of two that are rounded up; more
 * elements than a round has; a part that reaches beyond its round; a loop of which the first or the
 * last round does something else; a buffer that is full to the last byte; rounds of which each does
 * something else; several cores that deal a loop out; and stages. Then axes that are cut from
 * others, sizes that decide a structure, and a shared let. */
static const char *const odd[] = {
    KERNEL "tensor Z[N,N] f16\naxis a = slices(N)\n"
           "for i in N by a\n  tile x: l1[i,M] f16\n  load x <- X\n  for t in 1 by 1\n"
           "    tile l: l0a[i,16] f16\n    tile r: l0b[16,i] f16\n    tile c: l0c[i,i] f32\n"
           "    load l <- x[:,16 from 0]\n    load r <- x[:,16 from 0] transpose=1\n"
           "    mmad c <- l, r\n    tile y: ub[i,i] f16\n    move y <- c if has(l0c->ub)\n"
           "    store Z <- y if has(l0c->ub)\n    store Z <- c if not has(l0c->ub)\n"
           "  for u in M by 16\n    tile v: ub[i,u] f16\n    load v <- X\n    store Y <- v\n",
    KERNEL "axis a = 2, 4, 5, 8\nfor i in N by a\n  tile x: ub[i,M] f16\n  load x <- X\n"
           "  for r in 20 by 1\n    vadd x <- x, 1.0 elements=max(i / 3 * M, 16)\n"
           "  store Y <- x\n",
    KERNEL "axis a = 6, 10, 12\nfor i in N by a\n  tile x: ub[up(i,20),M] f16\n"
           "  vecDup x <- 0.0\n  load x[i from 0,:] <- X\n  for r in 200 by 1\n"
           "    vadd x <- x, 1.0 elements=min(up(i,6),up(i,10))*M\n"
           "  store Y <- x[i from 0,:]\n",
    KERNEL "axis a = slices(N)\naxis b = 1, 2, 3, 4, 8\n"
           "for i in N by a\n  tile x: ub[i,M] f16\n  load x <- X\n"
           "  for k in i by b\n    vadd x[k,:] <- x[k,:], 1.0 elements=min(M*k, 16*b)\n"
           "  store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis s = 1, 2, 3\n"
           "for i in N by a\n  tile x: ub[s*(i-1)+1,M] f16\n  tile y: ub[i,M] f16\n"
           "  vecDup x <- 0.0\n  load x[i from 0,:] <- X\n  relu y <- x[i from 0,:]\n"
           "  store Y <- y\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\n"
           "for i in N by a\n  tile t: ub[i,16] f16\n  for j in M by b\n"
           "    tile x: ub[i,j] f16 x 2\n    load x <- X\n    relu x <- x if first(j)\n"
           "    vecDup t <- 1.0 if last(j)\n    store Y <- x\n",
    KERNEL "axis a = 512, 768, 1024\nfor i in N by 16\n  tile x: ub[16,8*a] f16\n"
           "  vecDup x <- 0.0\n  load x[i from 0,16 from 0] <- X[i,16 from 0]\n"
           "  store Y[i,16 from 0] <- x[i from 0,16 from 0]\n",
    KERNEL "axis a = slices(N)\naxis f = 1, 2, 3, 4\n"
           "for i in N by a\n  tile x: ub[i,M] f16\n  load x <- X\n"
           "  for e in f by 1 each\n    relu x[1 from begin(e) % i,16 from 0] <- "
           "x[1 from begin(e) % i,16 from 0]\n  store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\naxis c = 1, 2, 3\n"
           "for i in N by a\n  @1 for j in M by b\n    tile x: ub[i,j] f16 x c\n"
           "    load x <- X\n    relu x <- x\n    store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\naxis c = 1, 2\ncores N\n"
           "for i in N by a\n  for j in M by b\n    tile x: ub[i,j] f16 x c\n"
           "    tile y: ub[i,j] f16 x c\n    load x <- X\n    @1 relu y <- x\n"
           "    @1 store Y <- y\n",
    KERNEL "axis a = slices(N)\naxis b = slices(a)\naxis c = 1, 2\ncores N\n"
           "for i in N by a\n  for k in i by b\n    tile x: ub[k,M] f16 x (c if N > 40 else 3)\n"
           "    load x <- X\n    relu x <- x\n    store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis s = 1, 2, 4\nlet all = s*a >= N\nlet two = 2*s*a >= N\n"
           "cores M\nfor i in N by s*a\n  for k in i by a\n    tile x: ub[k,M] f16 x (2 if all "
           "else 1)\n    load x <- X\n    relu x <- x if all\n    vadd x <- x, 1.0 if not two\n"
           "    store Y <- x\n",
    "kernel k\nsize N\nsize M pad 16\nlet rows = N*16\ntensor X[rows,M] f16, Y[rows,M] f16\n"
    "axis a = 1, 2, 4, 8, 16\naxis b = slices(M)\ncores rows\n"
    "for i in rows by a\n  for j in M by b\n    tile x: ub[i,j] f16 x (2 if rows > 1000 else 1)\n  "
    "  "
    "load x <- X\n"
    "    vadd x <- x, 1.0 if a*4 > 17\n    store Y <- x\n",
    "kernel k\nsize N\nsize M pad 16\nlet rows = N*16\ntensor X[rows,M] f16, Y[rows,M] f16\n"
    "axis a = 1, 2, 4, 8, 16\naxis b = slices(M)\naxis split = r, m\n"
    "cores rows if split == r else M\n"
    "for i in rows by a\n  for j in M by b\n    tile x: ub[i,j] f16 x (2 if a*100 > rows "
    "else 1)\n    load x <- X\n"
    "    vadd x <- x, 1.0 if a*4 > 17\n    store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\naxis s = 16, 32\nfor i in N by a\n"
           "  for j in M by b\n    tile x: ub[i,j] f16\n    tile t: ub[s-16,16] f16\n"
           "    load x <- X\n    vecDup t <- 0.0\n    store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\naxis s = 16, 32\nfor i in N by a\n"
           "  for j in M by b\n    tile x: ub[i,j] f16\n    load x <- X\n"
           "    for t in 32 by s-16\n      relu x <- x\n    store Y <- x\n",
    KERNEL "axis a = slices(N)\naxis b = slices(M)\naxis f = 1, 10000000\nfor i in N by a\n"
           "  for j in M by b\n    tile x: ub[i,j] f16\n    load x <- X\n"
           "    for t in 100*f by 1\n      relu x <- x\n    store Y <- x\n",
    /* more rounds that begin elsewhere than stand by themselves */
    KERNEL "axis a = 1, 2, 4, 16\naxis b = slices(M)\nfor i in N by a each\n  for j in M by b\n"
           "    tile x: ub[i,j] f16\n    load x <- X\n    for t in begin(i)+1 by 1\n"
           "      relu x <- x\n    store Y <- x\n",
    KERNEL "axis a = 1, 2, 4, 16\naxis b = slices(M)\nfor i in N by a each\n  for j in M by b\n"
           "    tile x: ub[i,j] f16\n    load x <- X\n    for t in N-begin(i) by 1\n"
           "      relu x <- x\n    store Y <- x\n",
};

Test(kernel_boxes, odd_kernels, .timeout = 300)
{
    static const char *const chips[][2] = {
        {"ascend310", ""}, {"ascend910b2", ""}, {"ascend910b2", "cache.default=cold"}};
    static const int64_t sizes[][2] = {{48, 48}, {80, 112}, {16, 4096}, {208, 32}};
    struct boxes_seen seen = {0};
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
        struct hardware hw;
        machine_load_named(&hw, chips[c][0], chips[c][1]);
        for (size_t n = 0; n < sizeof odd / sizeof *odd; n++) {
            struct kernel_text kernel;
            cr_assert_eq(kernel_text_parse("k", odd[n], strlen(odd[n]), &kernel, &error), STATUS_OK,
                         "%zu: %s", n, error.text);
            int spaces = seen.spaces;
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                check_space(&kernel, sizes[s], 2, &hw, n * 10 + s, odd[n], &seen);
            cr_expect_geq(seen.spaces, spaces + 2, "%s on %s: %s", odd[n], chips[c][0], error.text);
            kernel_text_clear(&kernel);
        }
        hardware_clear(&hw);
    }
    cr_expect_gt(seen.searched, 20);
    cr_expect_gt(seen.counted, 20);
    cr_expect_gt(seen.full, 20);
    cr_expect_gt(seen.members, test_cases(3000));
}

/* As searches do that are parts of others: in threads that are not their own. */
Test(kernel_boxes, searches_beside_each_other)
{
    static const int64_t sizes[] = {4096, 4096};
    static const char text[] = KERNEL
        "axis a = multiples(16, 4096)\naxis b = multiples(16, 4096)\naxis c = 1, 2\ncores N\n"
        "for i in N by a\n"
        "  for j in M by b\n    tile x: ub[i,j] f16 x c\n    load x <- X\n    relu x <- x\n"
        "    store Y <- x\n";
    struct hardware hw;
    struct kernel_text kernel;
    struct search_result found[4] = {0};
    enum status status[4];
    machine_load_named(&hw, "ascend310", "");
    cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK);
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    cr_assert_eq(kernel_space_create(&space, &kernel, sizes, DTYPE_F16, DTYPE_F16, 2, &error),
                 STATUS_OK);
    cr_assert_geq(space.candidates, 1 << 14);
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 4; i++) {
        const struct search_options options = {.threads = 1, .top = 1};
        struct error own;
        status[i] = search(&space, &options, &found[i], &own);
    }
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(status[i], STATUS_OK);
        cr_expect(found[i].optimal);
        cr_expect_eq(found[i].best[0].index, found[0].best[0].index);
        cr_expect_eq(found[i].simulated, found[0].simulated);
    }
    for (int i = 0; i < 4; i++)
        search_result_clear(&found[i]);
    space_close(&space);
    kernel_text_clear(&kernel);
    hardware_clear(&hw);
}
