/* Space thesis: MatMul as Tang 2024, 2.4.2 and Alg. 3, has it, with what stays in L1 as one more
 * parameter. It is a kernel's text, kernels/library/matmul_thesis.kernel, which the build puts in
 * here (tools/embed.cmake). */
#include "core/element.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cann.h"
#include "kernels/text/limits/kernel_limits_code.h"
#include "kernels/text/space/kernel_space.h"

#include <string.h>

extern const char matmul_thesis_kernel[];

/* The kernel takes and leaves everything in one way; C in any type that it can convert to. */
static enum status check_choices(const struct problem *problem, struct error *error)
{
    for (int c = 0; c < MATMUL_CHOICES; c++) {
        const struct operator_choice *choice = &problem->op->choices[c];
        if (problem->choice[c] && c != MATMUL_OUT_TYPE)
            return error_set(error, STATUS_INVALID,
                             "--%s %s: space thesis knows --%s %s only; use --space cann on a chip "
                             "with a path l0c->gm",
                             choice->name, choice->values[problem->choice[c]], choice->name,
                             choice->values[0]);
    }
    enum dtype out = problem_choice_type(problem, MATMUL_OUT_TYPE);
    if (element_takes_scale(problem->type, out))
        return error_set(error, STATUS_INVALID,
                         "--out-type %s: space thesis has no scales to make %s of sums of %s by, "
                         "expected i32 or u32",
                         dtype_name(out), element_is_floating(out) ? "reals" : "8 bits",
                         dtype_name(problem->type));
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    TRY(check_choices(problem, error));
    return kernel_space_parse(space, "matmul_thesis.kernel", matmul_thesis_kernel, problem->size,
                              problem->type, problem_choice_type(problem, MATMUL_OUT_TYPE), cores,
                              error);
}

/* The sizes are in the text's order. */
static int64_t size_class(const struct space *space, const struct problem *problem, int size,
                          int64_t value)
{
    (void)problem;
    return kernel_size_class(space, size, value);
}

/* They are here too. */
static enum status limits_code(const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error)
{
    const struct problem *problem = asked->problem;
    struct kernel_text text;
    struct kernel_posed posed = {.type = problem->type,
                                 .result = problem_choice_type(problem, MATMUL_OUT_TYPE)};
    for (int i = 0; i < MATMUL_SIZES; i++) {
        posed.given[i] = problem->size[i];
        posed.size_of[i] = i;
    }
    TRY(kernel_text_parse("matmul_thesis.kernel", matmul_thesis_kernel,
                          strlen(matmul_thesis_kernel), &text, error));
    enum status status = kernel_limits_code(&text, &posed, asked, code, number, error);
    kernel_text_clear(&text);
    return status;
}

const struct operator_space matmul_thesis = {
    .name = "thesis",
    .title = "slices along m, k, n; one or two control flows; what stays in L1; split over cores",
    .create = create,
    .size_class = size_class,
    .limits_code = limits_code,
    KERNEL_SPACE,
    .cost = {14.791, {0.285, -0.341, 0.060}}, /* 1,000 shapes on ascend310 */
};
