/* Makes the space `thesis`. One block of the space for each split and each number of cores with
 * equal shares, because slices along the split are those of a share; along the other directions
 * all blocks have the same. Parameters are those of Tang 2024, 2.4.2 and Alg. 3, with what stays
 * in L1 as one more. */
#include "kernels/matmul/matmul_thesis.h"
#include "kernels/matmul/matmul_cann.h"

#include <stdlib.h>

static const char *const resident_names[RESIDENT_KINDS] = {"both", "a", "b", "none"};
static const char *const split_names[SPLIT_KINDS] = {"m", "n"};

/* All that get work. */
static int64_t usual_cores(const struct space *space, const struct tiling *tiling)
{
    const struct thesis *thesis = thesis_of(space);
    return thesis->shares[tiling->value[THESIS_SPLIT]][thesis->cores - 1].slab.cores_used;
}

const struct axis thesis_axes[THESIS_AXES] = {
    [THESIS_M] = {.name = "m_slice", .unit = "elements"},
    [THESIS_K] = {.name = "k_slice", .unit = "elements"},
    [THESIS_N] = {.name = "n_slice", .unit = "elements"},
    [THESIS_BUFFERS] = {.name = "buffers"},
    [THESIS_RESIDENT] = {.name = "resident",
                         .value_names = resident_names,
                         .name_count = RESIDENT_KINDS},
    [THESIS_SPLIT] = {.name = "split", .value_names = split_names, .name_count = SPLIT_KINDS},
    [THESIS_CORES] = {.name = "cores", .counts_cores = true, .usual = usual_cores},
};

static const int64_t buffer_values[] = {1, 2};
static const int64_t resident_values[] = {RESIDENT_BOTH, RESIDENT_A, RESIDENT_B, RESIDENT_NONE};
static const int64_t split_values[] = {SPLIT_M, SPLIT_N};

static struct matmul_slab make_slab(const struct problem *problem, enum thesis_split split,
                                    int cores, const struct matmul_machine *machine)
{
    int64_t block = machine->block;
    struct matmul_slab slab = {
        .m = round_up(problem->size[MATMUL_M], block),
        .k = round_up(problem->size[MATMUL_K], machine->block_k),
        .n = round_up(problem->size[MATMUL_N], block),
        .batch = problem->size[MATMUL_BATCH],
    };
    if (split == SPLIT_M)
        slab.m = slab_of(slab.m, cores, block, &slab.cores_used);
    else
        slab.n = slab_of(slab.n, cores, block, &slab.cores_used);
    return slab;
}

static void destroy(struct space *space)
{
    struct thesis *thesis = space->detail;
    for (int s = 0; thesis && s < SPLIT_KINDS; s++) {
        for (int c = 0; thesis->shares[s] && c < thesis->cores; c++)
            free(thesis->shares[s][c].slices);
        free(thesis->shares[s]);
    }
    for (int a = 0; thesis && a < 3; a++)
        free(thesis->slices[a]);
    free(thesis);
}

/* The tilings of one split over one number of cores. */
static enum status add_block(struct space *space, struct thesis *thesis, enum thesis_split split,
                             struct thesis_share *share, struct error *error)
{
    int along = split == SPLIT_M ? THESIS_M : THESIS_N;
    struct space_block *block = space_add_block(space);
    if (!block)
        return error_memory(error);
    for (int a = 0; a < 3; a++) {
        block->values[a] = thesis->slices[a];
        block->count[a] = thesis->slice_count[a];
    }
    share->slices = slices_of(split == SPLIT_M ? share->slab.m : share->slab.n,
                              thesis->machine.block, &block->count[along]);
    if (!share->slices)
        return error_memory(error);
    block->values[along] = share->slices;
    block->count[THESIS_BUFFERS] = 2;
    block->values[THESIS_BUFFERS] = buffer_values;
    block->count[THESIS_RESIDENT] = RESIDENT_KINDS;
    block->values[THESIS_RESIDENT] = resident_values;
    block->count[THESIS_SPLIT] = 1;
    block->values[THESIS_SPLIT] = &split_values[split];
    block->count[THESIS_CORES] = 1;
    block->values[THESIS_CORES] = &share->cores;
    return STATUS_OK;
}

/* A block for each number of cores that has equal shares. On one core both splits are the same
 * program, which is split=m's. */
static enum status add_split(struct space *space, struct thesis *thesis,
                             const struct problem *problem, enum thesis_split split,
                             struct error *error)
{
    struct thesis_share *shares = calloc((size_t)thesis->cores, sizeof *shares);
    thesis->shares[split] = shares;
    if (!shares)
        return error_memory(error);
    for (int c = 1; c <= thesis->cores; c++) {
        struct thesis_share *share = &shares[c - 1];
        *share = (struct thesis_share){make_slab(problem, split, c, &thesis->machine), c, 0};
        if (share->slab.cores_used == c && (c > 1 || split == SPLIT_M))
            TRY(add_block(space, thesis, split, share, error));
    }
    return STATUS_OK;
}

static enum status add_blocks(struct space *space, struct thesis *thesis,
                              const struct problem *problem, struct error *error)
{
    const int64_t sizes[3] = {thesis->whole.m, thesis->whole.k, thesis->whole.n};
    for (int a = 0; a < 3; a++) {
        int block = a == THESIS_K ? thesis->machine.block_k : thesis->machine.block;
        thesis->slices[a] = slices_of(sizes[a], block, &thesis->slice_count[a]);
        TRY(thesis->slices[a] ? STATUS_OK : error_memory(error));
    }
    for (int s = 0; s < SPLIT_KINDS; s++)
        TRY(add_split(space, thesis, problem, (enum thesis_split)s, error));
    return STATUS_OK;
}

/* The thesis's kernel takes and leaves everything in one way; C in any type that it can convert
 * to. */
static enum status check_choices(const struct problem *problem, struct error *error)
{
    for (int c = 0; c < MATMUL_CHOICES; c++) {
        const struct operator_choice *choice = &problem->op->choices[c];
        if (problem->choice[c] && c != MATMUL_OUT_TYPE)
            return error_set(
                error, STATUS_INVALID, "--%s %s: space thesis knows --%s %s only; use --space cann",
                choice->name, choice->values[problem->choice[c]], choice->name, choice->values[0]);
    }
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct thesis *thesis = calloc(1, sizeof *thesis);
    if (!thesis)
        return error_memory(error);
    space->detail = thesis;
    space->axis_count = THESIS_AXES;
    space->axes = thesis_axes;
    thesis->cores = cores;
    TRY(check_choices(problem, error));
    TRY(matmul_machine_find(space->hw, problem->type, problem_choice_type(problem, MATMUL_OUT_TYPE),
                            &thesis->machine, error));
    if (space->hw->flag_registers < 6)
        return error_set(error, STATUS_INVALID,
                         "space thesis needs 6 flag registers a pair of pipes; %s has %d",
                         space->hw->name, space->hw->flag_registers);
    thesis_make_layouts(thesis);
    space->layout_count = THESIS_LAYOUTS;
    space->layouts = thesis->layouts;
    thesis->whole = make_slab(problem, SPLIT_M, 1, &thesis->machine);
    return add_blocks(space, thesis, problem, error);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    return thesis_slab(space, tiling)->cores_used;
}

static enum status generate(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error)
{
    (void)part;
    return matmul_thesis_program(&thesis_of(space)->machine, thesis_slab(space, tiling), tiling,
                                 program, error);
}

static const char *const parts[] = {"kernel", NULL};

const struct operator_space matmul_thesis = {
    .name = "thesis",
    .title = "slices along m, k, n; one or two control flows; what stays in L1; split over cores",
    .create = create,
    .destroy = destroy,
    .possible = thesis_possible,
    .legal = thesis_legal,
    .violations = thesis_violations,
    .cores_used = cores_used,
    .summarise = thesis_summarise,
    .least = thesis_least,
    .parts = parts,
    .generate = generate,
    .roofline_ns = thesis_roofline_ns,
    .cost = {14.791, {0.285, -0.341, 0.060}}, /* 1,000 shapes on ascend310 */
};
