/* Plans against the plain evaluator: over random kernels, sizes and tilings the same steps in the
 * same order, each with the same numbers and elements, and the same room. */
#include "hardware/load.h"
#include "kernels/text/plan/kernel_plan.h"
#include "kernels/text/plan/kernel_shares.h"
#include "tests/kernels/text/odd_kernels.h"
#include "tests/kernels/text/random_case.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
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

TestSuite(kernel_plan_plain, .init = enter, .fini = leave);

struct walk {
    const struct random_case *random;
    struct kernel_plan plan;
    struct kernel_env env;
    struct program scratch;
    int event;
};

#define EXPECT(truth, walk, ...)                                                                   \
    do {                                                                                           \
        char what_[1024];                                                                          \
        snprintf(what_, sizeof what_, __VA_ARGS__);                                                \
        cr_assert(truth, "%s\n%s", what_, (walk)->random->shown);                                  \
    } while (0)

/* The elements of a part, in order, are those of the plain one. */
static void compare_part(struct walk *walk, int step, int part, const struct plain_use *use)
{
    const struct plan_part *p = &walk->plan.steps[step].parts[part];
    struct part_numbers numbers;
    enum status status = plan_part(&walk->plan, &walk->env, step, part, &numbers, &error);
    EXPECT(status == STATUS_OK, walk, "a part: %s", error.text);
    if (p->tensor < 0 && p->tile < 0)
        return;
    const int64_t *extent = p->tile >= 0 ? walk->env.tiles[p->tile].extent
                                         : walk->random->plain.tensor_extent[p->tensor];
    EXPECT(numbers.elements >= use->count, walk, "%lld elements, expected %lld",
           (long long)numbers.elements, (long long)use->count);
    for (int64_t n = 0; n < use->count; n++) {
        int64_t at = 0, rest = n, unit = 1;
        for (int d = p->dim_count - 1; d >= 0; d--, unit = at < 0 ? 0 : unit) {
            int64_t i = numbers.begin[d] + rest % numbers.extent[d] * numbers.by[d];
            rest /= numbers.extent[d];
            at = at < 0 || i < 0 || i >= extent[d] ? -1 : at + i * unit;
            unit *= extent[d];
        }
        EXPECT(at == walk->random->plain.elements[use->first + n], walk,
               "line %d, part %d: element %lld is %lld, expected %d",
               walk->plan.kernel->lines[walk->plan.steps[step].line].at.line, part, (long long)n,
               (long long)at, walk->random->plain.elements[use->first + n]);
    }
}

static void compare(struct walk *walk, int step)
{
    const struct plain *plain = &walk->random->plain;
    const struct plan_step *s = &walk->plan.steps[step];
    struct instruction in = {0};
    bool runs = false;
    enum status status = plan_runs(&walk->plan, &walk->env, step, &runs, &error);
    EXPECT(status == STATUS_OK, walk, "%s", error.text);
    if (!runs)
        return;
    int line = walk->plan.kernel->lines[s->line].at.line;
    EXPECT(walk->event < plain->event_count, walk, "line %d runs too often", line);
    const struct plain_event *event = &plain->events[walk->event++];
    EXPECT(event->line == s->line, walk, "step %d: line %d runs, expected %d", walk->event, line,
           plain->text->lines[event->line].at.line);
    status = plan_instruction(&walk->plan, &walk->env, step, &in, &error);
    EXPECT(status == STATUS_OK, walk, "line %d: %s", line, error.text);
    program_reset(&walk->scratch, &hw);
    status = program_add(&walk->scratch, &in, &error);
    EXPECT(status == STATUS_OK, walk, "line %d: %s", line, error.text);
    struct instruction expected = event->in;
    in = walk->scratch.items[0];
    expected.accumulate = in.accumulate; /* is for who writes the program to find */
    expected.line = in.line;
    EXPECT(memcmp(&in, &expected, sizeof in) == 0, walk,
           "step %d, line %d: another instruction: %lld units, expected %lld; type %s, %s",
           walk->event, line, (long long)in.units, (long long)expected.units, dtype_name(in.type),
           dtype_name(expected.type));
    for (int part = 0; part < event->use_count; part++)
        compare_part(walk, step, part, &event->uses[part]);
}

static void walk_loop(struct walk *walk, int number)
{
    const struct plan_loop *loop = &walk->plan.loops[number];
    int64_t rounds;
    bool differs;
    enum status status = plan_rounds(&walk->plan, &walk->env, number, &rounds, &differs, &error);
    EXPECT(status == STATUS_OK, walk, "%s", error.text);
    for (int64_t turn = 0; turn < rounds + loop->last_stage; turn++)
        for (int i = loop->first_item; i < loop->first_item + loop->item_count; i++) {
            const struct plan_item *item = &walk->plan.items[i];
            int64_t round = turn - item->stage;
            if (round < 0 || round >= rounds)
                continue;
            status = plan_enter(&walk->plan, &walk->env, number, round, &error);
            EXPECT(status == STATUS_OK, walk, "%s", error.text);
            if (item->is_loop)
                walk_loop(walk, item->number);
            else
                compare(walk, item->number);
        }
}

static void compare_room(struct walk *walk)
{
    struct kernel_room *room = calloc(1, sizeof *room);
    enum status status = kernel_room_find(&walk->plan, &walk->env, room, &error);
    EXPECT(status == STATUS_OK, walk, "%s", error.text);
    for (int b = 0; b < hw.buffer_count; b++)
        EXPECT(!hw.buffers[b].capacity_bytes ||
                   room->needed[b] == walk->random->plain.needed_bytes[b],
               walk, "%lld bytes of %s, expected %lld", (long long)room->needed[b],
               hw.buffers[b].name, (long long)walk->random->plain.needed_bytes[b]);
    free(room);
}

static void compare_shares(struct walk *walk)
{
    struct kernel_values values = walk->random->values;
    int64_t used;
    for (int n = 0; n < values.kernel->size_count; n++)
        values.sizes[n] = (struct kernel_range){.length = values.wholes[n]};
    enum status status = kernel_share(&values, walk->random->cores, &used, &error);
    EXPECT(status == STATUS_OK && used == walk->random->used, walk, "other cores");
    for (int n = 0; n < values.kernel->size_count; n++)
        EXPECT(values.sizes[n].length == walk->random->values.sizes[n].length, walk, "a share");
}

static bool compare_case(struct walk *walk)
{
    const struct plain *plain = &walk->random->plain;
    enum status status = kernel_plan_make(&walk->random->values, &walk->plan, &error);
    EXPECT((status == STATUS_OK) == (plain->verdict != PLAIN_REFUSED), walk,
           "refused: %s, expected %s", status == STATUS_OK ? "no" : error.text,
           plain->verdict == PLAIN_REFUSED ? plain->why : "no");
    if (status != STATUS_OK || plain->verdict != PLAIN_FINE)
        return false;
    walk->env.values = walk->random->values;
    status = plan_enter(&walk->plan, &walk->env, 0, 0, &error);
    EXPECT(status == STATUS_OK, walk, "%s", error.text);
    walk_loop(walk, 0);
    EXPECT(walk->event == plain->event_count, walk, "%d steps, expected %d", walk->event,
           plain->event_count);
    compare_room(walk);
    compare_shares(walk);
    return true;
}

/* Were they the same, and both fine? */
static bool play_case(struct random_case *random)
{
    if (!random)
        return false;
    struct walk *walk = calloc(1, sizeof *walk);
    walk->random = random;
    bool same = compare_case(walk);
    kernel_plan_clear(&walk->plan);
    program_clear(&walk->scratch);
    free(walk);
    random_case_close(random);
    return same;
}

Test(kernel_plan_plain, plans_say_what_the_plain_evaluator_does)
{
    unsigned long same = 0, cases = random_cases(400);
    for (unsigned long seed = 1; seed <= cases; seed++)
        same += play_case(random_case_open(seed, &hw));
    cr_assert_gt(2 * same, cases);
}

ParameterizedTestParameters(kernel_plan_plain, odd_kernels_mean_what_the_page_says)
{
    static int numbers[64];
    int count = 0;
    for (; odd_kernels[count]; count++)
        numbers[count] = count;
    return cr_make_param_array(int, numbers, (size_t)count);
}

ParameterizedTest(int *number, kernel_plan_plain, odd_kernels_mean_what_the_page_says)
{
    int same = 0;
    for (unsigned long seed = 1; seed <= 20; seed++)
        same += play_case(random_case_of(odd_kernels[*number], seed, &hw));
    cr_assert(same, "never fine:\n%s", odd_kernels[*number]);
}
