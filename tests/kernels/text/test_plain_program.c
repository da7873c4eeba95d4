/* The plain evaluator on programs written by hand: it accepts the right one and tells what is wrong
 * with others, so that tests which rely on it can fail. */
#include "core/program_text.h"
#include "hardware/load.h"
#include "tests/kernels/text/plain_kernel.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct error error;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
}

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(plain_program, .init = enter, .fini = leave);

static const char kernel_text[] = "kernel k\n"
                                  "size N pad 16\n"
                                  "tensor X[N] f16, Z[N] f16\n"
                                  "for i in N by 64\n"
                                  "  tile x: ub[i] f16 x 2\n"
                                  "  tile z: ub[i] f16\n"
                                  "  load x <- X\n"
                                  "  exp z <- x\n"
                                  "  vadd z <- z, x\n"
                                  "  store Z <- z\n";

/* 160 elements: two rounds of 64 and one of 32. */
#define ROUND(bytes, elements, x)                                                                  \
    "MTE2 gm->ub bytes=" bytes " dst=ub:" x "\n"                                                   \
    "V exp elements=" elements " type=f16 src=ub:" x " dst=ub:256\n"                               \
    "V vadd elements=" elements " type=f16 src=ub:256 src2=ub:" x " dst=ub:256\n"
#define STORE(bytes, z) "MTE3 ub->gm bytes=" bytes " src=ub:" z "\n"
#define LOOP                                                                                       \
    "loop i 2\n"                                                                                   \
    "MTE2 gm->ub bytes=128 dst=ub:0+128*i\n"                                                       \
    "V exp elements=64 type=f16 src=ub:0+128*i dst=ub:256\n"                                       \
    "V vadd elements=64 type=f16 src=ub:256 src2=ub:0+128*i dst=ub:256\n" STORE("128",             \
                                                                                "256") "end\n"

static const struct {
    const char *program, *why; /* NULL: right */
} programs[] = {
    {LOOP ROUND("64", "32", "0") STORE("64", "256"), NULL},
    {ROUND("128", "64", "512") STORE("128", "256") ROUND("128", "64", "0") STORE("128", "256")
         ROUND("64", "32", "0") STORE("64", "256"),
     NULL},
    {LOOP ROUND("64", "32", "0"), "is missing"},
    {LOOP ROUND("64", "32", "0") STORE("64", "256") STORE("64", "256"), "one too many"},
    {LOOP ROUND("64", "32", "0") STORE("32", "256"), "another instruction"},
    {LOOP ROUND("64", "32", "0") STORE("64", "0"), "reads another element"},
    {LOOP ROUND("64", "32", "224") STORE("64", "256"), "reads another element"},
    {LOOP ROUND("64", "32", "0") STORE("64", "384"), "reads another element"},
    {LOOP ROUND("64", "32", "0") "MTE3 ub->gm bytes=64\n", "an operand is missing"},
};

Test(plain_program, what_is_wrong_with_a_program_is_told)
{
    static const int64_t given[] = {150};
    struct kernel_text kernel;
    struct kernel_values *values = calloc(1, sizeof *values);
    struct plain *plain = calloc(1, sizeof *plain);
    char why[PLAIN_TEXT_SIZE];
    cr_assert_eq(kernel_text_parse("k", kernel_text, strlen(kernel_text), &kernel, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(kernel_values_set(values, &kernel, &hw, DTYPE_F16, given, &error), STATUS_OK);
    plain_run(values, plain);
    cr_assert_eq(plain->verdict, PLAIN_FINE, "%s", plain->why);
    cr_assert_eq(plain->needed_bytes[hardware_buffer(&hw, "ub", 2)], 3 * 128);
    for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) {
        struct program program = {0};
        if (program_parse(&hw, "p", programs[n].program, strlen(programs[n].program), &program,
                          &error) != STATUS_OK)
            continue;
        bool same = plain_play(plain, &program, why);
        cr_assert_eq(same, programs[n].why == NULL, "program %zu: %s", n, same ? "right" : why);
        if (programs[n].why)
            cr_assert(strstr(why, programs[n].why), "program %zu: %s", n, why);
        program_clear(&program);
    }
    plain_clear(plain);
    kernel_text_clear(&kernel);
    free(plain);
    free(values);
}

/* ---- what a kernel may not do ---- */

static const struct {
    const char *body, *why;
    enum plain_verdict verdict;
} kernels[] = {
    {"for i in N by 64\n  tile x: ub[i] f16\n  load x <- X\n  store Z <- x\n", "", PLAIN_FINE},
    {"for i in N by 64\n  tile x: ub[i] f16\n  load x <- X if first(i)\n  store Z <- x\n",
     "nothing wrote", PLAIN_WRONG},
    {"for i in N by 64\n  tile x: ub[32] f16\n  load x <- X\n  store Z <- x\n", "elements into",
     PLAIN_WRONG},
    {"for i in N by 64\n  tile x: ub[i] f16\n  load x <- X\n  store Z[i from 0] <- x\n",
     "stored twice", PLAIN_WRONG},
    {"for i in N by 64\n  tile x: ub[i] f16\n  load x <- X\n  store Z[i from 0] <- x add=1\n", "",
     PLAIN_FINE},
    {"for i in N by 64\n  tile x: ub[i] f16\n  load x[i from 16] <- X\n  store Z <- x\n",
     "outside of its tile", PLAIN_WRONG},
    {"for i in N by 64\n  tile x: l1[i] f16\n  load x <- X\n  store Z <- x\n", "no path",
     PLAIN_REFUSED},
    {"for i in N by 64\n  tile x: ub[i] f16 x 2\n  load x <- X\n  @2 store Z <- x\n",
     "too few copies", PLAIN_REFUSED},
    {"for i in N by 64\n  tile x: ub[i] f16 x 3\n  load x <- X\n  @2 store Z <- x\n", "",
     PLAIN_FINE},
};

Test(plain_program, what_a_kernel_may_not_do_is_told)
{
    static const int64_t given[] = {150};
    for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
        char text[512];
        struct kernel_text kernel;
        struct kernel_values *values = calloc(1, sizeof *values);
        struct plain *plain = calloc(1, sizeof *plain);
        snprintf(text, sizeof text, "kernel k\nsize N pad 16\ntensor X[N] f16, Z[N] f16\n%s",
                 kernels[n].body);
        cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK, "%s",
                     error.text);
        cr_assert_eq(kernel_values_set(values, &kernel, &hw, DTYPE_F16, given, &error), STATUS_OK);
        plain_run(values, plain);
        cr_assert_eq(plain->verdict, kernels[n].verdict, "kernel %zu: %s", n, plain->why);
        cr_assert(strstr(plain->why, kernels[n].why), "kernel %zu: %s", n, plain->why);
        plain_clear(plain);
        kernel_text_clear(&kernel);
        free(plain);
        free(values);
    }
}
