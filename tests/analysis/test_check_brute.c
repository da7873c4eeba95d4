/* The hazard check against a brute force on thousands of small random programs. */
#include "core/program_text.h"
#include "hardware/load.h"
#include "tests/support/brute_check.h"
#include "tests/support/cases.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hardware;

static void enter(void)
{
    struct error error;
    cr_assert_eq(
        hardware_load(SOURCE_DIR "/configs/hardware/ascend310.cfg", NULL, &hardware, &error),
        STATUS_OK, "%s", error.text);
    hardware.buffers[hardware_buffer(&hardware, "l0c", 3)].unit_flag = true;
    hardware.buffers[hardware_buffer(&hardware, "l1", 2)].unit_flag = true;
    for (int p = 0; p < hardware.pipe_count; p++)
        memset(hardware.pipes[p].memories, 0, sizeof hardware.pipes[p].memories);
    uint16_t *memories = hardware.pipes[hardware_pipe(&hardware, "V", 1)].memories;
    memories[OPERAND_DST] = (uint16_t)(1u << hardware_buffer(&hardware, "l1", 2));
}

static void leave(void)
{
    hardware_clear(&hardware);
}

TestSuite(check_brute, .init = enter, .fini = leave);

/* The witness of an unmatched flag has the sets, or waits, of the lines. */
static void expect_unmatched(const struct program *program, const struct finding *finding,
                             const char *text)
{
    const struct witness *witness = &finding->witness;
    const struct instruction *first = &program->items[witness->steps[0]];
    bool sets = witness->sets > witness->waits;
    cr_assert_eq(witness->step_count, finding->line_count, "%s", text);
    for (int i = 0; i < witness->step_count; i++) {
        const struct instruction *in = &program->items[witness->steps[i]];
        cr_assert_eq(in->line, finding->lines[i], "%s", text);
        cr_assert_eq(in->kind, sets ? INSTRUCTION_SET : INSTRUCTION_WAIT, "%s", text);
        cr_assert(in->from == first->from && in->to == first->to && in->flag == first->flag, "%s",
                  text);
    }
}

/* Every finding is true; of hazards at least one is found where there is one, and of every other
 * kind all (unmatched flags with more lines than fit apart). */
static void compare(const struct brute *brute, const struct check *check, const char *text)
{
    int found[FINDING_KINDS] = {0};
    for (size_t i = 0; i < check->count; i++) {
        const struct finding *finding = &check->findings[i];
        if (finding->kind == FINDING_OVER_SYNC)
            continue; /* test_oversync */
        if (finding->kind == FINDING_UNMATCHED_FLAG)
            expect_unmatched(brute->program, finding, text);
        bool known =
            finding->kind == FINDING_UNMATCHED_FLAG && finding->line_count == FINDING_MAX_LINES;
        for (int j = 0; j < brute->answer_count; j++)
            known |=
                answer_is(&brute->answers[j], finding->kind, finding->lines, finding->line_count);
        cr_assert(known, "%s, but not so by brute force, in\n%s", finding->text, text);
        found[finding->kind]++;
    }
    for (int kind = 0; kind < FINDING_OVER_SYNC; kind++) {
        int expected = brute_count(brute, (enum finding_kind)kind);
        const char *name = finding_kind_name((enum finding_kind)kind);
        if (kind == FINDING_HAZARD)
            cr_assert_eq(found[kind] > 0, brute->hazards > 0, "%s: %d of %d in\n%s", name,
                         found[kind], brute->hazards, text);
        else if (kind == FINDING_UNMATCHED_FLAG)
            cr_assert_geq(found[kind], expected, "%s in\n%s", name, text);
        else
            cr_assert_eq(found[kind], expected, "%s: %d of %d in\n%s", name, found[kind], expected,
                         text);
    }
}

/* Checks one text both ways; false when it is too large for the brute force. */
static bool check_text(struct brute *brute, const char *text)
{
    struct program program;
    struct check check;
    struct error error;
    cr_assert_eq(program_parse(&hardware, "random", text, strlen(text), &program, &error),
                 STATUS_OK, "%s in\n%s", error.text, text);
    bool small = brute_check(brute, &program);
    if (small) {
        cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
        compare(brute, &check, text);
        check_clear(&check);
    }
    program_clear(&program);
    return small;
}

static struct random_program draw_options(gsl_rng *rng, bool wild)
{
    return (struct random_program){
        .statements = 4 + (int)gsl_rng_uniform_int(rng, 36),
        .max_depth = (int)gsl_rng_uniform_int(rng, 3),
        .max_count = 4,
        .loop_percent = 10,
        .flag_percent = 20 + (int)gsl_rng_uniform_int(rng, 40),
        .scalar_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
        .barrier_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
        .beyond_percent = (int)gsl_rng_uniform_int(rng, 3) == 0 ? 20 : 0,
        .operands = true,
        .zero_work = true,
        .wild_flags = wild,
    };
}

/* Compares `programs` random ones and requires that each kind of finding occurred, and that many
 * programs were large enough to mean something. */
static void compare_many(unsigned long seed, int programs, bool wild)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct brute *brute = malloc(sizeof *brute);
    int seen[FINDING_KINDS] = {0}, clean = 0, compared = 0;
    gsl_rng_set(rng, seed);
    for (int i = 0; i < programs; i++) {
        struct random_program options = draw_options(rng, wild);
        char *text = random_program_text(&hardware, &options, rng);
        cr_assert_not_null(text);
        if (check_text(brute, text)) {
            compared++;
            clean += brute->hazards == 0;
            for (int kind = 0; kind < FINDING_KINDS; kind++)
                seen[kind] += brute_count(brute, (enum finding_kind)kind) > 0;
        }
        free(text);
    }
    cr_assert_gt(compared, programs * 3 / 4);
    cr_assert_gt(clean, compared / 50, "%d of %d without a hazard", clean, compared);
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        if (kind == FINDING_OVER_SYNC)
            continue;
        bool possible = wild || (kind != FINDING_DEADLOCK && kind != FINDING_UNMATCHED_FLAG);
        cr_assert_eq(seen[kind] > compared / 50, possible, "%s in %d of %d programs",
                     finding_kind_name((enum finding_kind)kind), seen[kind], compared);
    }
    free(brute);
    gsl_rng_free(rng);
}

Test(check_brute, tame_flags)
{
    compare_many(1, test_cases(1500), false);
}

Test(check_brute, wild_flags)
{
    compare_many(2, test_cases(1500), true);
}

/* What is kept from the last access of a pipe is kept from those before. */
Test(check_brute, interlocked_behind_a_later_read)
{
    struct brute *brute = malloc(sizeof *brute);
    cr_assert(check_text(brute, "MTE1 l1->l0a bytes=192 src=l1:192 dst=l0a:0\n"
                                "MTE1 l1->l0a bytes=256 src=l1:128 dst=l0a:0 unit=1\n"
                                "MTE3 ub->l1 bytes=64 src=ub:0 dst=l1:192 unit=1\n"));
    cr_expect_eq(brute->hazards, 0);
    cr_assert(check_text(brute, "MTE1 l1->l0a bytes=192 src=l1:192 dst=l0a:0\n"
                                "MTE1 l1->l0a bytes=96 src=l1:128 dst=l0a:0 unit=1\n"
                                "MTE3 ub->l1 bytes=64 src=ub:0 dst=l1:192 unit=1\n"));
    cr_expect_eq(brute->hazards, 1);
    free(brute);
}
