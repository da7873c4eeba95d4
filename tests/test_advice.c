/* Advice keeps what a program computes and tells the time that it would take.
 *
 * tests/support/interpret.h runs programs before and after on bytes, in random legal orders; it
 * shares no code with the proof that the strategies go through. */
#include "analysis/advice/advice.h"
#include "analysis/advice/depend.h"
#include "analysis/advice/resync.h"
#include "analysis/check/check.h"
#include "core/program_text.h"
#include "tests/support/interpret.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
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

static struct program parse(const char *text)
{
    struct program program;
    struct error error;
    enum status status = program_parse(&hw, "test", text, strlen(text), &program, &error);
    cr_assert_eq(status, STATUS_OK, "%s in:\n%s", error.text, text);
    return program;
}

static char *text_of(const struct program *program)
{
    char *text;
    size_t size;
    struct error error;
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(program_print(program, out, &error), STATUS_OK);
    fclose(out);
    return text;
}

static int64_t time_of(const struct program *program)
{
    struct simulator *simulator = simulator_new();
    struct simulate_options options = {.cores = 1};
    struct timeline timeline;
    struct error error;
    cr_assert_eq(simulate(simulator, program, &options, &timeline, &error), STATUS_OK);
    cr_assert_eq(timeline.blocked, -1);
    simulator_free(simulator);
    return timeline.end_fs;
}

static bool is_safe(const struct program *program)
{
    struct check check;
    struct error error;
    bool safe = true;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK);
    for (size_t i = 0; i < check.count; i++)
        safe &= check.findings[i].kind > FINDING_CAPACITY;
    check_clear(&check);
    return safe;
}

static int below(int limit)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)limit);
}

/* A few places in each buffer, so that lines often share one. */
static int place(void)
{
    return 512 * below(6);
}

/* A stride of a whole piece, or none. */
static const char *stride(int depth, int bytes, char text[32])
{
    text[0] = 0;
    if (depth > 0 && below(3))
        snprintf(text, 32, "+%d*%c", bytes, 'i' + below(depth));
    return text;
}

static void put_line(FILE *out, int depth, bool barriers)
{
    int kind = below(8), bytes = 512;
    char text[32];
    /* stores go where loads do not come from */
    int outside = kind == 4 || kind == 5 ? 65536 + 512 * below(64) : 512 * below(8);
    int amount = kind == 2 || kind == 3 ? bytes / 2 : bytes;
    if (kind == 4 || kind == 5)
        fprintf(out, "MTE3 ub->gm bytes=%d src=ub:%d%s dst=gm:%d%s\n", amount, place(),
                stride(depth, bytes, text), outside, text);
    else if (kind == 2)
        fprintf(out, "V relu elements=%d src=ub:%d%s dst=ub:%d%s\n", amount, place(),
                stride(depth, bytes, text), place(), text);
    else if (kind == 3)
        fprintf(out, "V vadd elements=%d src=ub:%d src2=ub:%d dst=ub:%d\n", amount, place(),
                place(), place());
    else if (kind < 2)
        fprintf(out, "MTE2 gm->ub bytes=%d src=gm:%d%s dst=ub:%d\n", amount, outside,
                stride(depth, bytes, text), place());
    else if (kind == 6)
        fprintf(out, "MTE2 gm->l1 bytes=%d src=gm:%d%s dst=l1:%d\n", amount, outside,
                stride(depth, bytes, text), place());
    else
        fprintf(out, "MTE1 l1->l0a bytes=%d src=l1:%d dst=l0a:%d\n", amount, place(), place());
    if (barriers)
        fputs("barrier\n", out);
    if (below(12) == 0)
        fputs("S branch count=1\n", out);
}

static void put_block(FILE *out, int depth, int count, bool barriers)
{
    for (int l = 0; l < count; l++) {
        if (depth < 2 && below(4) == 0) {
            fprintf(out, "loop %c %d\n", 'i' + depth, 1 + below(6));
            put_block(out, depth + 1, 1 + below(4), barriers);
            fputs("end\n", out);
        } else {
            put_line(out, depth, barriers);
        }
    }
}

/* With barriers, one behind every line: safe, and slow. */
static char *random_text(bool barriers)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    put_block(out, 0, 2 + below(5), barriers);
    fclose(out);
    return text;
}

static void expect_same(const struct program *before, const struct program *after, const char *what)
{
    char *one = text_of(before), *other = text_of(after);
    cr_assert(is_safe(after), "%s is not safe:\n%s--- made of\n%s", what, other, one);
    uint64_t sum = interpret(before, rng);
    for (int run = 0; run < 3; run++)
        cr_assert_eq(interpret(after, rng), sum, "%s computes something else:\n%s--- than\n%s",
                     what, other, one);
    free(one);
    free(other);
}

/* The program with its flags written anew; false where that does not fit. */
static bool make_flags(const struct program *program, struct program *made)
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

Test(advice, flags_written_anew_keep_every_order)
{
    int fitted = 0, runs = 1500 / test_thinning();
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 1);
        char *text = random_text(true);
        struct program program = parse(text), made;
        if (make_flags(&program, &made)) {
            fitted++;
            expect_same(&program, &made, "the program with flags");
            program_clear(&made);
        }
        program_clear(&program);
        free(text);
    }
    cr_assert_gt(fitted, runs / 2, "only %d of %d programs fit", fitted, runs);
}

Test(advice, every_strategy_keeps_what_random_programs_compute)
{
    int applied[ADVICE_MAX] = {0}, runs = 600 / test_thinning();
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 5000);
        char *text = random_text(true);
        struct program program = parse(text), flags = {0};
        const struct program *start = run % 2 && make_flags(&program, &flags) ? &flags : &program;
        struct advices advices;
        struct error error;
        cr_assert_eq(advise(start, 1, NULL, &advices, &error), STATUS_OK, "%s", error.text);
        cr_assert(advices.safe);
        cr_assert_eq(advices.time_fs, time_of(start));
        for (int i = 0; i < advices.count; i++) {
            const struct advice *advice = &advices.items[i];
            if (!advice->applies)
                continue;
            applied[advice->strategy - advice_strategies]++;
            cr_assert_eq(advice->time_fs, time_of(&advice->changed));
            cr_assert_lt(advice->time_fs, advices.time_fs);
            expect_same(start, &advice->changed, advice->strategy->name);
        }
        advices_clear(&advices);
        program_clear(&flags);
        program_clear(&program);
        free(text);
    }
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (s->apply && test_thinning() == 1)
            cr_expect_gt(applied[s - advice_strategies], 0, "%s never applied", s->name);
}

/* Applies one strategy to a text; the changed program, or one without lines. */
static struct program apply(const char *name, const char *text)
{
    struct program program = parse(text), changed = {0};
    struct advices advices;
    struct error error;
    cr_assert_eq(advise(&program, 1, advice_strategy(name), &advices, &error), STATUS_OK);
    cr_assert(advices.safe, "%s", advices.why);
    cr_assert_eq(advices.count, 1);
    if (advices.items[0].applies) {
        changed = advices.items[0].changed;
        advices.items[0].changed = (struct program){0};
        expect_same(&program, &changed, name);
    }
    advices_clear(&advices);
    program_clear(&program);
    return changed;
}

static void expect_text(const char *name, const char *before, const char *after)
{
    struct program changed = apply(name, before);
    char *text = text_of(&changed);
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
                "  barrier\n"
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

Test(advice, unsafe_programs_get_none)
{
    struct program program = parse("MTE2 gm->ub bytes=4096 src=gm:0 dst=ub:0\n"
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
    struct program program = parse("loop i 4\n"
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
    struct program program = parse(in_place);
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

Test(advice, diff_shows_only_what_changed)
{
    struct program before = parse("S nop count=1\n"
                                  "S nop count=2\n"
                                  "S nop count=3\n"
                                  "S nop count=4\n"),
                   after = parse("S nop count=1\n"
                                 "S nop count=5\n"
                                 "S nop count=3\n"
                                 "S nop count=6\n"
                                 "S nop count=4\n");
    struct diff diff;
    struct error error;
    cr_assert_eq(diff_programs(&before, &after, &diff, &error), STATUS_OK);
    cr_assert_eq(diff.count, 2);
    cr_expect_eq(diff.lines[0].line, 2);
    cr_expect_str_eq(diff.lines[0].before, "S    nop count=2");
    cr_expect_str_eq(diff.lines[0].after, "S    nop count=5");
    cr_expect_eq(diff.lines[1].line, 4);
    cr_expect_str_eq(diff.lines[1].before, "");
    cr_expect_str_eq(diff.lines[1].after, "S    nop count=6");
    diff_clear(&diff);
    program_clear(&before);
    program_clear(&after);
}
