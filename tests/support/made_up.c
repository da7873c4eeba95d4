/* The smallest space that has everything: named and numbered axes, a condition between two of
 * them, work on two levels. One loop of 1 ns a step on a host of two threads and two levels, so
 * that times can be worked out by hand. */
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"-", "plain", "two", "three", "four", "five"};
static const char *const stores[] = {"-", "cached", "stream"};
static const struct axis axes[] = {
    {.name = "kind", .value_names = kinds, .name_count = MADE_UP_KINDS + 1},
    {.name = "width", .unit = "elements"},
    {.name = "depth", .unit = "elements"},
    {.name = "store", .value_names = stores, .name_count = 3},
};
static const int64_t kind_values[] = {1, 2, 3, 4, 5};
static const int64_t widths[] = {6, 7, 8, 12, 16, 24, 32, 36, 48, 60, 64, 96};
static const int64_t depths[] = {1, 2, 3, 4, 5, 6, 8};
static const int64_t store_values[] = {1, 2};

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    (void)problem;
    (void)cores;
    struct space_block *block = space_add_block(space);
    if (!block)
        return error_memory(error);
    space->axes = axes;
    space->axis_count = 4;
    *block = (struct space_block){.count = {5, 12, 7, 2},
                                  .values = {kind_values, widths, depths, store_values}};
    return STATUS_OK;
}

static void destroy(struct space *space)
{
    (void)space;
}

static bool legal(const struct space *space, const struct tiling *tiling)
{
    (void)space;
    return tiling->value[1] % tiling->value[2] == 0;
}

static bool possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    return fixed < 4 || legal(space, tiling);
}

static int violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    list[0] = (struct violation){.limit = "width", .text = "no multiple of the depth"};
    return !legal(space, tiling);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)tiling, (void)part;
    return space->hw->cores;
}

static void ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    const int64_t *v = tiling->value;
    *work = (struct host_work){.threads = space->hw->cores, .phase_count = 1};
    work->phases[0].steps = (double)(v[1] * v[2] * MADE_UP_STEPS) / (double)v[0];
    work->phases[0].calls = (double)v[1];
    if (v[3] == 2)
        work->phases[0].stream_bytes = 1000;
}

static double roofline_ns(const struct space *space)
{
    (void)space;
    return 1;
}

static const char *const no_parts[] = {NULL};
static const struct operator_space made_up_space = {
    .name = "made-up",
    .title = "for tests",
    .create = create,
    .destroy = destroy,
    .possible = possible,
    .legal = legal,
    .violations = violations,
    .cores_used = cores_used,
    .parts = no_parts,
    .ask = ask,
    .roofline_ns = roofline_ns,
};

void made_up_open(struct made_up *made)
{
    struct error error;
    static const struct operator made_up_operator = {.name = "made up"};
    struct problem problem = {.op = &made_up_operator, .type = DTYPE_F32};
    memset(made, 0, sizeof *made);
    struct host *host = calloc(1, sizeof *host);
    cr_assert_not_null(host);
    *host = (struct host){.cpu = "made up", .threads = 2, .level_count = 2, .loop_count = 1};
    host->levels[0] = (struct host_level){
        .name = "L1", .capacity_bytes = 32768, .threads = 1, .read_gbps = 100, .write_gbps = 50};
    host->levels[1] = (struct host_level){
        .name = "memory", .threads = 2, .read_gbps = 10, .write_gbps = 5, .stream_gbps = 8};
    host->loops[0] = (struct host_loop){.name = "made up", .step_ns = 1, .call_ns = 10};
    host->overlap.exposed[1] = 0.5;
    made->hw = (struct hardware){.name = "made up", .cores = 2, .host = host};
    made->hw.pipe_count = host_component_count(host);
    for (int p = 0; p < made->hw.pipe_count; p++)
        snprintf(made->hw.pipes[p].name, sizeof made->hw.pipes[p].name, "%s",
                 host_component_name(host, p));
    cr_assert_eq(space_open(&problem, &made_up_space, &made->hw, 2, &made->space, &error),
                 STATUS_OK, "%s", error.text);
}

void made_up_close(struct made_up *made)
{
    space_close(&made->space);
    hardware_clear(&made->hw);
}
