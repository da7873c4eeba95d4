/* Which tilings of Cube-fx exist. */
#include "kernels/cubefx/cubefx_segments.h"

#include <stdlib.h>

/* All that get work. */
static int64_t usual_cores(const struct space *space, const struct tiling *tiling)
{
    (void)tiling;
    return cubefx_of(space)->parts[cubefx_of(space)->cores - 1].cores_used;
}

const struct axis cubefx_axes[CUBEFX_AXES] = {
    [CUBEFX_MERGE] = {.name = "merge", .unit = "matrices"},
    [CUBEFX_TILE] = {.name = "tile", .unit = "inputs"},
    [CUBEFX_SEGMENTS] = {.name = "segments"},
    [CUBEFX_CORES] = {.name = "cores", .counts_cores = true, .usual = usual_cores},
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t clamp(int64_t value, int64_t most)
{
    return value < 1 ? 1 : value > most ? most : value;
}

void cubefx_plan(const struct cubefx_machine *machine, const struct cubefx_share *share,
                 const struct tiling *tiling, struct cubefx_plan *plan)
{
    int64_t s = machine->block, merge = clamp(tiling->value[CUBEFX_MERGE], s);
    int64_t steps = ceil_div(s, merge), segments = clamp(tiling->value[CUBEFX_SEGMENTS], steps);
    int64_t l0b = machine->hw->buffers[machine->l0b].capacity_bytes;
    *plan = (struct cubefx_plan){
        .tiles = tiles_of(share->inputs, tiling->value[CUBEFX_TILE]),
        .groups = tiles_of(steps, ceil_div(steps, segments)),
        .powers = round_up(share->order * merge, s),
        .outputs = round_up(share->functions * merge, s),
        .steps = steps,
    };
    plan->rows = plan->tiles.slice / s;
    plan->last_rows = plan->tiles.last / s;
    plan->sequence_bytes = s * plan->powers * machine->type_bytes;
    plan->coefficient_bytes = plan->powers * plan->outputs * machine->type_bytes;
    plan->sequences_stay = 2 * plan->groups.slice >= steps || !l0b ||
                           steps * plan->sequence_bytes + plan->coefficient_bytes <= l0b;
    plan->copies = plan->tiles.count * plan->groups.count > 1 ? 2 : 1;
    /* Groups take the copies in turn: with two groups in all, or two a tile, the second copy only
     * ever holds the smaller one. */
    plan->second_rows =
        plan->groups.count == 1 && plan->tiles.count == 2 ? plan->last_rows : plan->rows;
    plan->second_steps = plan->groups.count == 2 ? plan->groups.last : plan->groups.slice;
}

static void destroy(struct space *space)
{
    struct cubefx_space *cubefx = space->detail;
    for (int c = 0; cubefx && cubefx->parts && c < cubefx->cores; c++)
        free(cubefx->parts[c].slices);
    if (cubefx)
        free(cubefx->parts);
    free(cubefx);
}

/* Numbers of groups into which `steps` can be cut, as equal as they get, each once. */
static int list_segments(int64_t steps, int64_t values[])
{
    int count = 0;
    for (int64_t segments = 1; segments <= steps; segments++)
        if (tiles_of(steps, ceil_div(steps, segments)).count == segments)
            values[count++] = segments;
    return count;
}

/* A block for all values of merge that give the same number of steps: these have the same
 * segments. */
static enum status add_blocks(struct space *space, struct cubefx_space *cubefx,
                              const struct cubefx_part *part, struct error *error)
{
    int64_t s = cubefx->machine.block, steps = 0;
    struct space_block *block = NULL;
    for (int64_t merge = 1; merge <= s; merge++) {
        cubefx->numbers[merge - 1] = merge;
        if (ceil_div(s, merge) != steps) {
            block = space_add_block(space);
            if (!block)
                return error_memory(error);
            steps = ceil_div(s, merge);
            block->values[CUBEFX_MERGE] = &cubefx->numbers[merge - 1];
            block->values[CUBEFX_TILE] = part->slices;
            block->count[CUBEFX_TILE] = part->slice_count;
            block->values[CUBEFX_SEGMENTS] = cubefx->segments[steps];
            block->count[CUBEFX_SEGMENTS] = list_segments(steps, cubefx->segments[steps]);
            block->values[CUBEFX_CORES] = &part->cores;
            block->count[CUBEFX_CORES] = 1;
        }
        block->count[CUBEFX_MERGE]++;
    }
    return STATUS_OK;
}

/* The blocks of each number of cores that has equal shares. */
static enum status add_parts(struct space *space, struct cubefx_space *cubefx,
                             const struct problem *problem, struct error *error)
{
    int64_t square = (int64_t)cubefx->machine.block * cubefx->machine.block;
    cubefx->parts = calloc((size_t)cubefx->cores, sizeof *cubefx->parts);
    if (!cubefx->parts)
        return error_memory(error);
    for (int c = 1; c <= cubefx->cores; c++) {
        struct cubefx_part *part = &cubefx->parts[c - 1];
        part->cores = c;
        part->share = (struct cubefx_share){
            .inputs = slab_of(cubefx->padded_inputs, c, square, &part->cores_used),
            .order = problem->size[CUBEFX_ORDER],
            .functions = problem->size[CUBEFX_FUNCTIONS],
        };
        if (part->cores_used != c)
            continue;
        part->slices = slices_of(part->share.inputs, square, &part->slice_count);
        TRY(part->slices ? add_blocks(space, cubefx, part, error) : error_memory(error));
    }
    return STATUS_OK;
}

static enum status check_machine(const struct cubefx_machine *machine, struct error *error)
{
    if (machine->block > CUBEFX_MAX_BLOCK)
        return error_set(error, STATUS_INVALID,
                         "space segments needs matrix blocks of at most %d; %s has %d",
                         CUBEFX_MAX_BLOCK, machine->hw->name, machine->block);
    if (machine->hw->flag_registers < 5)
        return error_set(error, STATUS_INVALID,
                         "space segments needs 5 flag registers a pair of pipes; %s has %d",
                         machine->hw->name, machine->hw->flag_registers);
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct cubefx_space *cubefx = calloc(1, sizeof *cubefx);
    if (!cubefx)
        return error_memory(error);
    space->detail = cubefx;
    space->axis_count = CUBEFX_AXES;
    space->axes = cubefx_axes;
    TRY(cubefx_machine_find(space->hw, problem->type, &cubefx->machine, error));
    TRY(check_machine(&cubefx->machine, error));
    int64_t square = (int64_t)cubefx->machine.block * cubefx->machine.block;
    cubefx->cores = cores;
    cubefx->padded_inputs = round_up(problem->size[CUBEFX_N], square);
    cubefx_make_layouts(cubefx);
    space->layout_count = CUBEFX_LAYOUTS;
    space->layouts = cubefx->layouts;
    return add_parts(space, cubefx, problem, error);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    return cubefx_part_of(space, tiling)->cores_used;
}

static enum status generate(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error)
{
    (void)part;
    return cubefx_program(&cubefx_of(space)->machine, &cubefx_part_of(space, tiling)->share, tiling,
                          program, error);
}

/* Inputs are padded to whole squares, and nothing else sees how many there are. */
static int64_t size_class(const struct space *space, const struct problem *problem, int size,
                          int64_t value)
{
    int64_t block = cubefx_of(space)->machine.block;
    (void)problem;
    return size == CUBEFX_N ? round_up(value, block * block) : value;
}

static const char *const parts[] = {"kernel", NULL};

const struct operator_space cubefx_segments = {
    .name = "segments",
    .title = "Sequence Matrices side by side; inputs a tile; groups of steps in the pipeline",
    .create = create,
    .destroy = destroy,
    .size_class = size_class,
    .possible = cubefx_possible,
    .legal = cubefx_legal,
    .violations = cubefx_violations,
    .cores_used = cores_used,
    .summarise = cubefx_summarise,
    .parts = parts,
    .generate = generate,
    .roofline_ns = cubefx_roofline_ns,
    .cost = {8.086, {0.225}},
    .details = cubefx_details,
    .compares = true,
    .shorten = cubefx_shorten,
};
