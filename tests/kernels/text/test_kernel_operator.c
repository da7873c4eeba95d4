/* An operator made of a text: its sizes, options and types, and what its fingerprint is of. */
#include "kernels/registry.h"
#include "kernels/text/space/kernel_operator.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define BODY                                                                                       \
    "axis t = slices(N)\ncores N\nfor i in N by t\n  tile x: ub[i] f16\n  load x <- X\n"           \
    "  store Z <- x\n"
#define PLAIN "kernel plain\nsize N pad 16\ntensor X[N] f16, Z[N] f16\n" BODY

static const struct operator* make(const char *text)
{
    struct error error = {0};
    const struct operator* op;
    cr_assert_eq(operator_parse("made.kernel", text, strlen(text), &op, &error), STATUS_OK, "%s",
                 error.text);
    return op;
}

static struct problem pose(const struct operator* op, const char *shape)
{
    struct error error = {0};
    struct problem problem;
    cr_assert_eq(problem_parse(op, shape, &problem, &error), STATUS_OK, "%s", error.text);
    problem_set_type(&problem, problem.type);
    return problem;
}

Test(kernel_operator, sizes_without_defaults_are_the_shape)
{
    struct error error = {0};
    const struct operator* op = make(
        "kernel several\ntitle \"one of each\"\nsize heads = 3\nsize M N pad 16\nsize B = 7\nsize "
        "K\ntensor X[B,heads,M,N,K] f16, Z[B,heads,M,N,K] f16\naxis t = slices(N)\nfor b in B by "
        "1\n  for h in heads by 1\n    for m in M by 1\n      for n in N by t\n        tile x: "
        "ub[n,K] f16\n        load x <- X\n        store Z <- x\n");
    static const char *const names[] = {"M", "N", "K", "heads", "B"};
    cr_expect_str_eq(op->name, "several");
    cr_expect_str_eq(op->title, "one of each");
    cr_expect_str_eq(op->shape_form, "MxNxK");
    cr_expect_eq(op->shape_sizes, 3);
    cr_expect_eq(op->size_count, 5);
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(op->size_names[i], names[i]);
    struct problem problem = pose(op, "1x20x4");
    cr_expect_eq(problem.size[3], 3);
    cr_expect_eq(problem.size[4], 7);
    cr_assert_eq(problem_set(&problem, "B", "2", &error), STATUS_OK, "%s", error.text);
    char text[64];
    problem_options(&problem, text, sizeof text);
    cr_expect_str_eq(text, "B=2");
    operator_free(op);
}

/* The space gets them in the order of the text: N is 48, and its slices tell. */
Test(kernel_operator, spaces_have_the_sizes_of_the_text)
{
    struct hardware hw;
    struct error error = {0};
    struct space space;
    machine_load_named(&hw, "ascend310", "");
    const struct operator* op =
        make("kernel swapped\nsize B = 5\nsize N pad 16\ntensor X[B,N] f16, Z[B,N] f16\naxis t = "
             "slices(N)\naxis s = slices(B)\nfor b in B by s\n  for i in N by t\n    tile x: "
             "ub[b,i] f16\n    load x <- X\n    store Z <- x\n");
    struct problem problem = pose(op, "48");
    cr_assert_eq(space_open(&problem, op->spaces[0], &hw, 1, &space, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_str_eq(space.kind->name, "tile");
    cr_expect_eq(space.candidates, 3 * 4); /* 16, 32, 48; 1, 2, 3, 5 */
    space_close(&space);
    operator_free(op);
    hardware_clear(&hw);
}

Test(kernel_operator, types_are_its_own_or_asked_for)
{
    const struct operator* plain = make(PLAIN);
    cr_expect(plain->has_own_type);
    cr_expect_eq(plain->choice_count, 0);
    cr_expect_eq(pose(plain, "4").type, DTYPE_F16);
    operator_free(plain);
    const struct operator* wide = make("kernel wide\nsize N\ntensor X[N] f32, Z[N] f32\naxis t = "
                                       "slices(N)\nfor i in N by t\n  tile x: ub[i] f32\n  load x "
                                       "<- X\n  store Z <- x\n");
    cr_expect(wide->has_own_type);
    cr_expect_eq(pose(wide, "4").type, DTYPE_F32);
    operator_free(wide);
    const struct operator* typed =
        make("kernel typed\nsize N\ntensor X[N] dtype, Z[N] result\naxis t = slices(N)\nfor i in N "
             "by t\n  tile x: ub[i] dtype\n  tile z: ub[i] result\n  load x <- X\n  cast z <- x\n  "
             "store Z <- z\n");
    cr_expect(!typed->has_own_type);
    cr_assert_eq(typed->choice_count, 1);
    struct problem problem = pose(typed, "4");
    cr_expect_eq(problem_choice_type(&problem, 0), DTYPE_F16);
    problem_set_type(&problem, DTYPE_I8);
    cr_expect_eq(problem_choice_type(&problem, 0), DTYPE_I32);
    operator_free(typed);
}

Test(kernel_operator, sizes_have_limits)
{
    struct error error = {0};
    const struct operator* op = make(PLAIN);
    struct problem problem = pose(op, "2147483647");
    cr_expect_eq(problem_settle(&problem, &error), STATUS_OK, "%s", error.text);
    problem = pose(op, "2147483648");
    cr_expect_eq(problem_settle(&problem, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "N = 2147483648, expected less than 2^31");
    operator_free(op);
}

/* All sizes have options: there is nothing for --shape to say. */
Test(kernel_operator, a_shape_may_be_empty)
{
    struct error error = {0};
    struct problem problem;
    const struct operator* op = make("kernel fixed\nsize N = 64\ntensor X[N] f16, Z[N] f16\n" BODY);
    cr_expect_str_eq(op->shape_form, "");
    cr_expect_eq(pose(op, "").size[0], 64);
    cr_expect_eq(problem_parse(op, "64", &problem, &error), STATUS_INVALID);
    operator_free(op);
}

static const struct {
    const char *what, *text;
    bool same;
} contents[] = {
    {"comments and blanks",
     "# why\n\nkernel  plain # so\nsize N   pad 16\ntensor X[N] f16 ,Z[N] f16\n" BODY, true},
    {"what is asked", "kernel plain\nsize N pad 32\ntensor X[N] f16, Z[N] f16\n" BODY, false},
    {"the name", "kernel plane\nsize N pad 16\ntensor X[N] f16, Z[N] f16\n" BODY, false},
    {"a type", "kernel plain\nsize N pad 16\ntensor X[N] f16, Z[N] dtype\n" BODY, false},
};

Test(kernel_operator, a_fingerprint_is_of_what_a_text_says)
{
    const struct operator* plain = make(PLAIN);
    cr_expect_eq(strlen(plain->fingerprint), 32u);
    cr_expect_eq(strspn(plain->fingerprint, "0123456789abcdef"), 32u);
    for (size_t c = 0; c < sizeof contents / sizeof *contents; c++) {
        const struct operator* other = make(contents[c].text);
        cr_expect_eq(strcmp(plain->fingerprint, other->fingerprint) == 0, contents[c].same, "%s",
                     contents[c].what);
        operator_free(other);
    }
    cr_expect_null(kernel_operator_text(operators[0]));
    cr_expect_str_eq(kernel_operator_text(plain)->name.text, "plain");
    operator_free(plain);
}

/* Sizes as they are given: pads and rests cost time, and are no operations. */
static const struct {
    const char *file, *shape;
    double operations;
} counted[] = {
    {"matmul_thesis", "512x1024x512", 2.0 * 512 * 1024 * 512},
    {"matmul_thesis", "100x50x30", 2.0 * 100 * 50 * 30},
    {"conv2d", "14x13x3x5x60x64", 2.0 * 14 * 13 * 3 * 5 * 60 * 64},
    {"add_relu", "1000", 2.0 * 1000},
};

Test(kernel_operator, operations_are_those_that_are_asked_for)
{
    struct hardware hw;
    struct error error = {0};
    machine_load_named(&hw, "ascend310", "");
    for (size_t c = 0; c < sizeof counted / sizeof *counted; c++) {
        const struct operator* op;
        char file[256];
        snprintf(file, sizeof file, SOURCE_DIR "/kernels/library/%s.kernel", counted[c].file);
        cr_assert_eq(operator_read(file, &op, &error), STATUS_OK, "%s", error.text);
        struct problem problem = pose(op, counted[c].shape);
        cr_expect_float_eq(op->operations(&problem, &hw), counted[c].operations,
                           1e-9 * counted[c].operations, "%s", counted[c].file);
        operator_free(op);
    }
    hardware_clear(&hw);
}
