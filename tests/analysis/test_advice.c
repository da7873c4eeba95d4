/* What each strategy of advice makes of small programs, and when it leaves them alone. */
#include "analysis/advice/advice.h"
#include "tests/support/advised.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <stdio.h>
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

TestSuite(advice, .init = start, .fini = end);

/* Applies one strategy to a text; the changed program, or one without lines. */
static struct program apply(const char *name, const char *text)
{
    struct program program = advised_parse(&hw, text), changed = {0};
    struct advices advices;
    struct error error;
    cr_assert_eq(advise(&program, 1, advice_strategy(name), &advices, &error), STATUS_OK);
    cr_assert(advices.safe, "%s", advices.why);
    cr_assert_eq(advices.count, 1);
    if (advices.items[0].applies) {
        changed = advices.items[0].changed;
        advices.items[0].changed = (struct program){0};
        advised_expect_same(&program, &changed, name, rng);
    }
    advices_clear(&advices);
    program_clear(&program);
    return changed;
}

static void expect_text(const char *name, const char *before, const char *after)
{
    struct program changed = apply(name, before);
    char *text = advised_print(&changed);
    cr_expect_str_eq(text, after, "%s gives\n%s", name, text);
    free(text);
    program_clear(&changed);
}

Test(advice, rus_removes_what_orders_nothing)
{
    expect_text("RUS",
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "barrier\n"
                "MTE2 gm->l1 bytes=4096 src=gm:4096 dst=l1:0\n"
                "barrier\n"
                "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536\n",
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "set  MTE2 MTE3 0\n"
                "MTE2 gm->l1 bytes=4096 src=gm:4096 dst=l1:0\n"
                "wait MTE2 MTE3 0\n"
                "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536\n");
}

Test(advice, ais_passes_what_has_nothing_to_do_with_it)
{
    expect_text("AIS",
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "loop 50\n"
                "V relu elements=128 type=f16 src=ub:8192 dst=ub:8192\n"
                "S branch count=1\n"
                "end\n"
                "MTE2 gm->ub bytes=4096 src=gm:4096 dst=ub:4096\n"
                "barrier\n"
                "MTE3 ub->gm bytes=8448 src=ub:0 dst=gm:65536\n",
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "MTE2 gm->ub bytes=4096 src=gm:4096 dst=ub:4096\n"
                "loop 50\n"
                "  V    relu elements=128 type=f16 src=ub:8192 dst=ub:8192\n"
                "  S    branch count=1\n"
                "end\n"
                "barrier\n"
                "MTE3 ub->gm bytes=8448 src=ub:0 dst=gm:65536\n");
}

Test(advice, ais_does_not_pass_what_it_needs)
{
    struct program changed = apply("AIS", "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                                          "barrier\n"
                                          "V relu elements=2048 src=ub:0 dst=ub:0\n"
                                          "barrier\n"
                                          "MTE2 gm->ub bytes=4096 src=gm:4096 dst=ub:0\n"
                                          "barrier\n"
                                          "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536\n");
    cr_assert_eq(changed.count, 0);
}

Test(advice, mrt_moves_once_what_stays)
{
    expect_text("MRT",
                "loop i 4\n"
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "barrier\n"
                "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536+4096*i\n"
                "barrier\n"
                "end\n",
                "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                "loop i 4\n"
                "  barrier\n"
                "  MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536+4096*i\n"
                "end\n");
}

Test(advice, aip_writes_a_loop_as_one_instruction)
{
    expect_text("AIP",
                "loop r 98\n"
                "V vadd elements=128 src=ub:0+256*r src2=ub:32768+256*r dst=ub:65536+256*r\n"
                "end\n"
                "barrier\n"
                "MTE3 ub->gm bytes=25088 src=ub:65536 dst=gm:0\n",
                "V    vadd elements=12544 type=f16 src=ub:0 src2=ub:32768 dst=ub:65536\n"
                "barrier\n"
                "MTE3 ub->gm bytes=25088 src=ub:65536 dst=gm:0\n");
}

/* Lines of one block, whatever stands between them that has nothing to do with them. */
Test(advice, aip_makes_one_instruction_of_lines_side_by_side)
{
    expect_text("AIP",
                "MTE2 gm->ub bytes=1024 src=gm:0 dst=ub:0\n"
                "barrier\n"
                "V relu elements=128 src=ub:0 dst=ub:0\n"
                "V relu elements=128 src=ub:256 dst=ub:256\n"
                "V relu elements=256 src=ub:512 dst=ub:512\n"
                "barrier\n"
                "MTE3 ub->gm bytes=1024 src=ub:0 dst=gm:65536\n",
                "MTE2 gm->ub bytes=1024 src=gm:0 dst=ub:0\n"
                "barrier\n"
                "V    relu elements=512 type=f16 src=ub:0 dst=ub:0\n"
                "barrier\n"
                "MTE3 ub->gm bytes=1024 src=ub:0 dst=gm:65536\n");
    expect_text("AIP",
                "V relu elements=128 src=ub:0 dst=ub:65536\n"
                "V vadd elements=128 src=ub:65536 src2=ub:0 dst=ub:98304\n"
                "V relu elements=128 src=ub:256 dst=ub:65792\n"
                "V vadd elements=128 src=ub:65792 src2=ub:256 dst=ub:98560\n"
                "barrier\n"
                "MTE3 ub->gm bytes=512 src=ub:98304 dst=gm:65536\n",
                "V    relu elements=256 type=f16 src=ub:0 dst=ub:65536\n"
                "V    vadd elements=256 type=f16 src=ub:65536 src2=ub:0 dst=ub:98304\n"
                "barrier\n"
                "MTE3 ub->gm bytes=512 src=ub:98304 dst=gm:65536\n");
}

/* In any order and however many, pieces that lie side by side are one. */
Test(advice, aip_makes_one_instruction_of_pieces_in_any_order)
{
    for (int run = 0; run < 40; run++) {
        int pieces[64], count = 2 + (int)gsl_rng_uniform_int(rng, 40);
        for (int i = 0; i < count; i++)
            pieces[i] = i;
        gsl_ran_shuffle(rng, pieces, (size_t)count, sizeof *pieces);
        char *text, *line;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        for (int i = 0; i < count; i++)
            fprintf(out, "V vmul elements=128 src=ub:%d src2=ub:%d dst=ub:%d\n", 256 * pieces[i],
                    32768 + 256 * pieces[i], 65536 + 256 * pieces[i]);
        fprintf(out, "barrier\nMTE3 ub->gm bytes=%d src=ub:65536 dst=gm:0\n", 256 * count);
        fclose(out);
        struct program changed = apply("AIP", text);
        cr_expect_eq(changed.count, 3, "%d lines of\n%s", changed.count, text);
        line = advised_print(&changed);
        cr_expect(strstr(line, "src=ub:0 src2=ub:32768 dst=ub:65536"), "%s", line);
        free(line);
        free(text);
        program_clear(&changed);
    }
}

/* What they read is made in between, or their texts do not say all that they do: a constant to fill
 * in, an input that is left out. */
Test(advice, aip_leaves_lines_that_may_do_something_else)
{
    static const char *const texts[] = {
        "V relu elements=128 src=ub:0 dst=ub:256\nV relu elements=128 src=ub:256 dst=ub:512\n",
        "V vecDup elements=128 dst=ub:0\nV vecDup elements=128 dst=ub:256\n",
        "V vadd elements=128 src=ub:4096 dst=ub:0\nV vadd elements=128 src=ub:4352 dst=ub:256\n",
        "V relu elements=128 src=ub:4096 dst=ub:0\nV vnot elements=128 src=ub:4352 dst=ub:256\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[512];
        snprintf(text, sizeof text, "%sbarrier\nMTE3 ub->gm bytes=768 src=ub:0 dst=gm:0\n",
                 texts[i]);
        struct program changed = apply("AIP", text);
        cr_expect_eq(changed.count, 0, "%s", text);
        program_clear(&changed);
    }
}

/* A running sum: each iteration reads what the one before wrote. */
Test(advice, aip_leaves_chains)
{
    struct program changed =
        apply("AIP", "loop r 20\n"
                     "V vadd elements=128 src=ub:0+256*r src2=ub:256+256*r dst=ub:256+256*r\n"
                     "end\n"
                     "barrier\n"
                     "MTE3 ub->gm bytes=5376 src=ub:0 dst=gm:0\n");
    cr_assert_eq(changed.count, 0);
}

Test(advice, aip_leaves_what_may_take_a_scalar)
{
    struct program changed = apply("AIP", "loop r 20\n"
                                          "S assign count=1 src=ub:65536\n"
                                          "V vecDup elements=128 dst=ub:0+256*r\n"
                                          "end\n"
                                          "barrier\n"
                                          "MTE3 ub->gm bytes=5120 src=ub:0 dst=gm:0\n");
    cr_assert_eq(changed.count, 0);
}

Test(advice, itg_makes_one_move_of_many)
{
    expect_text("ITG",
                "loop i 16\n"
                "MTE3 ub->gm bytes=256 src=ub:0+256*i dst=gm:0+256*i\n"
                "end\n",
                "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:0\n");
    expect_text("ITG",
                "MTE3 ub->gm bytes=256 src=ub:0 dst=gm:0\n"
                "MTE3 ub->gm bytes=768 src=ub:256 dst=gm:256\n",
                "MTE3 ub->gm bytes=1024 src=ub:0 dst=gm:0\n");
}

Test(advice, itg_does_two_iterations_at_a_time)
{
    struct program changed = apply("ITG", "loop i 8\n"
                                          "MTE2 gm->ub bytes=512 src=gm:0+512*i dst=ub:0\n"
                                          "barrier\n"
                                          "V relu elements=256 src=ub:0 dst=ub:0\n"
                                          "barrier\n"
                                          "MTE3 ub->gm bytes=512 src=ub:0 dst=gm:65536+512*i\n"
                                          "barrier\n"
                                          "end\n");
    int64_t largest = 0;
    for (int32_t i = 0; i < changed.count; i++)
        if (changed.items[i].kind == INSTRUCTION_MOVE && changed.items[i].bytes > largest)
            largest = changed.items[i].bytes;
    cr_assert_eq(largest, 4096);
    program_clear(&changed);
}

static const char in_place[] = "set MTE3 MTE2 0\n"
                               "loop i 15\n"
                               "wait MTE3 MTE2 0\n"
                               "MTE2 gm->ub bytes=4096 src=gm:0+4096*i dst=ub:0\n"
                               "set MTE2 V 0\n"
                               "wait MTE2 V 0\n"
                               "V relu elements=2048 src=ub:0 dst=ub:0\n"
                               "set V MTE3 0\n"
                               "wait V MTE3 0\n"
                               "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536+4096*i\n"
                               "set MTE3 MTE2 0\n"
                               "end\n"
                               "wait MTE3 MTE2 0\n";

/* Places in UB that moves of a pipe touch. */
static int places_of(const struct program *program, const char *pipe)
{
    int64_t seen[16];
    int count = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        bool known = in->kind != INSTRUCTION_MOVE || strcmp(hw.pipes[in->pipe].name, pipe) != 0;
        for (int r = 0; r < in->region_count && !known; r++) {
            const struct region *region = &program->regions[in->first_region + r];
            if (hw.buffers[region->buffer].capacity_bytes == 0)
                continue;
            for (int s = 0; s < count; s++)
                known |= seen[s] == region->offset_bytes;
            if (!known)
                seen[count++] = region->offset_bytes;
        }
    }
    return count;
}

Test(advice, pp_gives_a_buffer_a_second_half)
{
    struct program changed = apply("PP", in_place);
    cr_assert_eq(places_of(&changed, "MTE2"), 2); /* 15 iterations: seven pairs and one */
    program_clear(&changed);
}

Test(advice, pp_leaves_what_passes_from_one_iteration_to_the_next)
{
    struct program changed = apply("PP", "MTE2 gm->ub bytes=4096 src=gm:65536 dst=ub:0\n"
                                         "barrier\n"
                                         "loop i 8\n"
                                         "V vadd elements=2048 src=ub:0 src2=ub:0 dst=ub:0\n"
                                         "barrier\n"
                                         "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:0+4096*i\n"
                                         "barrier\n"
                                         "end\n");
    cr_assert_eq(places_of(&changed, "MTE3"), 0);
}

Test(advice, rsd_gives_a_result_its_own_place)
{
    struct program changed = apply("RSD", in_place);
    cr_assert_eq(places_of(&changed, "MTE2"), 1);
    cr_assert_eq(places_of(&changed, "MTE3"), 1);
    cr_assert_gt(changed.count, 0);
    program_clear(&changed);
}

/* Nothing at all may be left. */
Test(advice, changes_may_empty_a_program)
{
    struct program changed = apply("MRT", "MTE2 gm->ub bytes=0 src=gm:0 dst=ub:0\n");
    cr_expect_eq(changed.hw, &hw);
    cr_expect_eq(changed.count, 0);
    program_clear(&changed);
    changed = apply("RUS", "barrier\n");
    cr_expect_null(changed.hw); /* it costs nothing */
}

Test(advice, unsafe_programs_get_none)
{
    struct program program = advised_parse(&hw, "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                                                "V relu elements=2048 src=ub:0 dst=ub:0\n");
    struct advices advices;
    struct error error;
    cr_assert_eq(advise(&program, 1, NULL, &advices, &error), STATUS_OK);
    cr_assert_not(advices.safe);
    cr_assert_eq(advices.count, 0);
    cr_assert(strstr(advices.why, "ub[0, 4096)"), "%s", advices.why);
    program_clear(&program);
}

/* Where the second load goes is not said: it may be anything's place. */
Test(advice, operands_that_are_left_out_bar_all_but_rus)
{
    struct program program =
        advised_parse(&hw, "loop i 4\n"
                           "MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
                           "MTE2 gm->ub bytes=4096 src=gm:4096\n"
                           "barrier\n"
                           "MTE3 ub->gm bytes=4096 src=ub:0 dst=gm:65536+4096*i\n"
                           "barrier\n"
                           "end\n");
    struct advices advices;
    struct error error;
    cr_assert_eq(advise(&program, 1, NULL, &advices, &error), STATUS_OK);
    for (int i = 0; i < advices.count; i++)
        cr_expect_not(advices.items[i].applies, "%s", advices.items[i].strategy->name);
    advices_clear(&advices);
    program_clear(&program);
}

Test(advice, what_applies_comes_first_by_time)
{
    struct program program = advised_parse(&hw, in_place);
    struct advices advices;
    struct error error;
    cr_assert_eq(advise(&program, 1, NULL, &advices, &error), STATUS_OK);
    cr_assert_eq(advices.count, 12);
    cr_assert(advices.items[0].applies);
    for (int i = 1; i < advices.count; i++) {
        const struct advice *one = &advices.items[i - 1], *other = &advices.items[i];
        cr_expect(one->applies || !other->applies);
        cr_expect(!other->applies || one->time_fs <= other->time_fs);
        cr_expect(one->applies != other->applies ||
                  (one->applies && one->time_fs < other->time_fs) ||
                  strcmp(one->strategy->name, other->strategy->name) < 0);
        cr_expect_eq(other->applies, *other->condition == 0, "%s", other->strategy->name);
    }
    advices_clear(&advices);
    program_clear(&program);
}
