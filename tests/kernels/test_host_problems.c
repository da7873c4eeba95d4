/* What no space of a processor knows is refused by all of them alike. */
#include "core/operator.h"
#include "kernels/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A problem with every size given, in f32, all else by default. */
static struct problem plain_problem(const struct operator* op)
{
    struct problem problem = {.op = op, .type = DTYPE_F32};
    for (int i = 0; i < op->size_count; i++)
        problem.size[i] = 8;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        if (op->options[i - op->shape_sizes].usual)
            problem.size[i] = op->options[i - op->shape_sizes].usual;
    return problem;
}

static void expect_refused(const struct problem *problem, const struct operator_space *kind,
                           const char *why)
{
    struct host no_loops = {.isa = HOST_AVX2};
    struct hardware hw = {.name = "Loopless", .host = &no_loops};
    struct space space;
    struct error error;
    cr_assert_eq(space_open(problem, kind, &hw, 1, &space, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, why), "%s, not of '%s'", error.text, why);
}

static int check_space(const struct operator* op, const struct operator_space *kind)
{
    char why[64];
    int checks = 2;
    expect_refused(&(struct problem){.op = op, .type = DTYPE_F16}, kind, "--dtype f16");
    struct problem problem = plain_problem(op);
    expect_refused(&problem, kind, "calibrate"); /* nothing but the lack of loops is wrong */
    for (int i = op->shape_sizes; i < op->size_count; i++) {
        if (!op->options[i - op->shape_sizes].usual)
            continue;
        problem = plain_problem(op);
        problem.size[i]++;
        snprintf(why, sizeof why, "--%s %lld", op->size_names[i], (long long)problem.size[i]);
        expect_refused(&problem, kind, why);
        checks++;
    }
    for (int c = 0; c < op->choice_count; c++) {
        problem = plain_problem(op);
        problem.choice[c] = 1;
        snprintf(why, sizeof why, "--%s %s", op->choices[c].name, op->choices[c].values[1]);
        expect_refused(&problem, kind, why);
        checks++;
    }
    return checks;
}

Test(host_problems, other_types_sizes_and_choices_are_refused_by_every_space)
{
    int checks = 0;
    for (int o = 0; operators[o]; o++)
        for (int s = 0; operators[o]->spaces[s]; s++)
            if (operators[o]->spaces[s]->ask)
                checks += check_space(operators[o], operators[o]->spaces[s]);
    cr_assert_geq(checks, 10);
}
