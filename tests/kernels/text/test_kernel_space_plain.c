/* A kernel's space against the plain evaluator: which tilings it has, which of them are legal, and
 * how many bytes those that are not take too many. */
#include "hardware/load.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/kernels/text/odd_kernels.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
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

enum { MANY_POINTS = 100000 };

TestSuite(kernel_space_plain, .init = enter, .fini = leave);

/* Points that have the axes before `axis` as they are in `values`: lists first, which cores may ask
 * for, then the cores' shares, then what cuts those. */
static int64_t count(struct kernel_values *values, int axis, int cores, bool lists)
{
    struct kernel_list list;
    int64_t points = 0;
    int used;
    if (axis == values->kernel->axis_count && !lists)
        return 1;
    if (axis == values->kernel->axis_count) {
        struct kernel_values shared = *values;
        return plain_shares(&shared, cores, &used) && used == cores
                   ? count(&shared, 0, cores, false)
                   : 0;
    }
    if ((values->kernel->axes[axis].cut <= CUT_WORDS) != lists)
        return count(values, axis + 1, cores, lists);
    cr_assert_eq(kernel_axis_values(values, axis, &list, &error), STATUS_OK);
    for (int v = 0; v < list.count && points < MANY_POINTS; v++) {
        values->axes[axis] = list.values[v];
        points += count(values, axis + 1, cores, lists);
    }
    free(list.values);
    return points;
}

static bool cores_ask_axes(const struct kernel_text *kernel)
{
    bool any = false;
    for (int c = 0; c < kernel->cores_count; c++)
        any |= kernel->cores[c].shares || kernel->cores[c].what->op == EXPRESSION_IF;
    return any;
}

/* Every number of cores that all have work; -1: on one core, what only cores ask for has one value.
 */
static int64_t count_all(const struct random_case *random)
{
    int64_t points = 0;
    if (cores_ask_axes(&random->kernel))
        return -1;
    for (int cores = 1; cores <= hw.cores; cores++) {
        struct kernel_values values;
        cr_assert_eq(kernel_values_set(&values, &random->kernel, random->values.hw, DTYPE_F16,
                                       random->given, &error),
                     STATUS_OK);
        points += count(&values, 0, cores, true);
    }
    return points;
}

static bool requires_hold(const struct random_case *random)
{
    for (int r = 0; r < random->kernel.require_count; r++) {
        int64_t holds;
        if (kernel_number(&random->values, random->kernel.requires[r].truth, &holds, &error) !=
                STATUS_OK ||
            !holds)
            return false;
    }
    return true;
}

static void compare_violations(const struct random_case *random, const struct space *space,
                               const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    int found = space->kind->violations(space, tiling, list);
    for (int v = 0; v < found; v++) {
        int b = hardware_buffer(&hw, list[v].limit, (int)strlen(list[v].limit));
        if (b < 0)
            continue;
        cr_assert_eq(list[v].needed_bytes, random->plain.needed_bytes[b], "%s: %lld bytes\n%s",
                     list[v].limit, (long long)list[v].needed_bytes, random->shown);
        cr_assert_gt(list[v].needed_bytes, space->hw->buffers[b].capacity_bytes);
    }
}

/* How many flags a program needs is not for the plain evaluator to say. */
static bool lacks_registers(const char *text)
{
    return strstr(text, "flag registers") != NULL;
}

/* Whether it was legal. */
static bool compare(const struct random_case *random, const struct space *space)
{
    struct tiling tiling = {{0}};
    memcpy(tiling.value, random->values.axes, sizeof(int64_t) * (size_t)random->kernel.axis_count);
    tiling.value[random->kernel.axis_count] = random->used;
    bool legal = space->kind->legal(space, &tiling);
    bool is_point =
        random->used == random->cores && (random->used > 1 || !cores_ask_axes(&random->kernel));
    bool expected = is_point && random->plain.verdict == PLAIN_FINE && random->plain.fits &&
                    requires_hold(random);
    struct violation list[MAX_VIOLATIONS] = {{.text = ""}};
    space->kind->violations(space, &tiling, list);
    cr_assert(!is_point || space_index(space, &tiling) >= 0, "no point\n%s", random->shown);
    cr_assert(!is_point || legal == expected || (!legal && lacks_registers(list[0].text)),
              "legal %d, expected %d: %s %s: %s\n%s", legal, expected, list[0].limit, list[0].text,
              random->plain.why, random->shown);
    if (is_point && random->plain.verdict == PLAIN_FINE)
        compare_violations(random, space, &tiling);
    return legal;
}

/* Whether its tiling is legal, as it should be; the small chip has a 64th of the room. */
static bool play_case(struct random_case *random)
{
    if (!random)
        return false;
    struct space space = {.kind = &kernel_space_tile, .hw = random->values.hw};
    enum status status = kernel_space_create(&space, &random->kernel, random->given, DTYPE_F16,
                                             DTYPE_F16, hw.cores, &error);
    cr_assert(status == STATUS_OK
                  ? random->plain.verdict != PLAIN_REFUSED
                  : random->plain.verdict == PLAIN_REFUSED || lacks_registers(error.text),
              "%s, expected %s\n%s", error.text, random->plain.why, random->shown);
    bool legal = status == STATUS_OK && compare(random, &space);
    int64_t points = status == STATUS_OK ? count_all(random) : -1;
    cr_assert(points < 0 || points >= MANY_POINTS || points == space.candidates,
              "%lld points, expected %lld\n%s", (long long)space.candidates, (long long)points,
              random->shown);
    space_close(&space);
    random_case_close(random);
    return legal;
}

Test(kernel_space_plain, tilings_are_legal_where_the_plain_evaluator_has_room)
{
    unsigned long legal = 0, cases = random_cases(200);
    struct hardware small = hw;
    for (int b = 0; b < small.buffer_count; b++)
        small.buffers[b].capacity_bytes /= 64;
    for (unsigned long seed = 1; seed <= cases; seed++)
        legal += play_case(random_case_open(seed, seed % 3 ? &hw : &small));
    cr_assert_gt(2 * legal, cases);
    cr_assert_lt(legal, cases * 9 / 10);
}

static void play_all(const char *const texts[])
{
    for (int n = 0; texts[n]; n++)
        for (int seed = 1; seed <= test_cases(8); seed++)
            play_case(random_case_of(texts[n], (unsigned long)seed, &hw));
}

Test(kernel_space_plain, odd_and_wrong_kernels)
{
    play_all(odd_kernels);
    play_all(wrong_kernels);
}
