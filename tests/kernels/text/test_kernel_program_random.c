/* Programs of random kernels: safe, nothing superfluous once they are tidy, and what the plain
 * evaluator says that the kernel does. */
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "core/program_text.h"
#include "hardware/load.h"
#include "kernels/text/program/kernel_program.h"
#include "tests/kernels/text/random_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct hardware hw;

struct made {
    struct kernel_plan plan;
    struct kernel_flags flags;
    struct kernel_env env;
    struct kernel_room room;
    struct program program;
    struct error error;
};

static bool make(struct made *made, const struct kernel_values *values)
{
    made->env.values = *values;
    made->program.hw = &hw;
    return kernel_plan_make(values, &made->plan, &made->error) == STATUS_OK &&
           kernel_flags_find(&made->plan, values, &made->flags, &made->error) == STATUS_OK &&
           kernel_flags_check(&made->plan, &made->flags, &made->error) == STATUS_OK &&
           kernel_room_find(&made->plan, &made->env, &made->room, &made->error) == STATUS_OK &&
           kernel_program(&made->plan, &made->flags, &made->env, &made->room, &made->program,
                          &made->error) == STATUS_OK;
}

/* Is it safe, but for operands beyond a buffer's end: whether tiles fit nobody has asked? */
static void expect_safe(const struct random_case *random, struct made *made)
{
    struct check check;
    struct error error;
    if (program_check(&made->program, &check, &error) != STATUS_OK)
        return;
    for (size_t f = 0; f < check.count; f++) {
        enum finding_kind kind = check.findings[f].kind;
        if (kind == FINDING_OVER_SYNC || kind == FINDING_CAPACITY || kind == FINDING_ALIGNMENT)
            continue;
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        program_print(&made->program, out, &error);
        fclose(out);
        cr_expect(false, "%s\n%s: %s\n%s", random->shown, finding_kind_name(kind),
                  check.findings[f].text, text);
        free(text);
        break;
    }
    check_clear(&check);
}

Test(kernel_program_random, they_are_safe_and_do_what_the_text_says)
{
    struct error error;
    unsigned long cases = random_cases(300), programs = 0, flags = 0;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
    for (unsigned long seed = 0; seed < cases; seed++) {
        struct random_case *random = random_case_open(seed, &hw);
        char why[PLAIN_TEXT_SIZE];
        if (!random)
            continue;
        struct made *made = calloc(1, sizeof *made);
        cr_assert(made);
        if (random->plain.verdict == PLAIN_FINE && make(made, &random->values)) {
            programs++;
            expect_safe(random, made);
            cr_expect(plain_play(&random->plain, &made->program, why), "%s\n%s", random->shown,
                      why);
        } else if (random->plain.verdict == PLAIN_FINE) {
            flags++;
            cr_log_info("%lu: %s\n", seed, made->error.text);
        }
        program_clear(&made->program);
        kernel_plan_clear(&made->plan);
        free(made);
        random_case_close(random);
    }
    cr_log_info("%lu programs, %lu refused\n", programs, flags);
    cr_expect_gt(programs, cases / 4);
    hardware_clear(&hw);
}
