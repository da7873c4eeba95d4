/* What fits: every live tile, all copies counted, against the buffers of the chip. Tang 2024
 * states no limits; the chip has them. */
#include "kernels/limits.h"
#include "kernels/matmul/matmul_thesis.h"

#include <stdio.h>

static struct core_needs needs_of(const struct space *space, const struct tiling *tiling)
{
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const struct matmul_slab *slab = thesis_slab(space, tiling);
    const int64_t *v = tiling->value;
    int64_t m = v[THESIS_M], k = v[THESIS_K], n = v[THESIS_N];
    int64_t type = machine->type_bytes, copies = product_of(v[THESIS_BUFFERS], type);
    int64_t a = product_of(product_of(m, k), copies), b = product_of(product_of(k, n), copies);
    int64_t row = product_of(product_of(m, slab->k), type);
    int64_t all_b = product_of(product_of(slab->k, slab->n), type);
    return (struct core_needs){
        machine->hw,
        {machine->l0a, machine->l0b, machine->l0c, machine->ub, machine->l1},
        {[CORE_L0A] = a,
         [CORE_L0B] = b,
         [CORE_L0C] = product_of(product_of(m, n), machine->accumulator_bytes),
         [CORE_UB] = product_of(product_of(m, n), machine->out_bytes),
         [CORE_L1] = sum_of(keeps_a(v[THESIS_RESIDENT]) ? row : a,
                            keeps_b(v[THESIS_RESIDENT]) ? all_b : b)},
    };
}

/* More instructions than the program has: 17 a k-tile, 10 a tile of C, 2 a row and a product. */
static double instructions_at_most(const struct space *space, const struct tiling *tiling)
{
    const struct matmul_slab *slab = thesis_slab(space, tiling);
    double m = (double)tiles_of(slab->m, tiling->value[THESIS_M]).count;
    double k = (double)tiles_of(slab->k, tiling->value[THESIS_K]).count;
    double n = (double)tiles_of(slab->n, tiling->value[THESIS_N]).count;
    return (double)slab->batch * (m * (n * (k * 17 + 10) + 2) + 2) + 32;
}

/* With the open slices at one block and one buffer: L1 is left out, for what it needs does not
 * grow with every axis. */
bool thesis_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    struct tiling least = *tiling;
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const int64_t lowest[] = {machine->block, machine->block_k, machine->block, 1};
    for (int a = fixed; a <= THESIS_BUFFERS; a++)
        least.value[a] = lowest[a];
    struct core_needs needs = needs_of(space, &least);
    return fixed < THESIS_AXES
               ? needs_fit(&needs, CORE_UB)
               : needs_fit(&needs, CORE_L1) && is_executable(instructions_at_most(space, tiling));
}

/* The values of one split on one number of cores; NULL where that has no equal shares. */
static const struct space_block *find_block(const struct space *space, int64_t split, int64_t cores)
{
    for (int b = 0; b < space->block_count; b++)
        if (space->blocks[b].values[THESIS_SPLIT][0] == split &&
            space->blocks[b].values[THESIS_CORES][0] == cores)
            return &space->blocks[b];
    return NULL;
}

/* A number of cores that is no value, or a split that one core does not have. */
static void check_cores(const struct space *space, const struct tiling *tiling,
                        struct violation list[MAX_VIOLATIONS], int *count)
{
    const struct thesis *thesis = thesis_of(space);
    int64_t split = tiling->value[THESIS_SPLIT], block = thesis->machine.block;
    int64_t size = split == SPLIT_M ? thesis->whole.m : thesis->whole.n;
    int64_t most = thesis->shares[split][thesis->cores - 1].slab.cores_used;
    if (split == SPLIT_M || (most > 1 && tiling->value[THESIS_CORES] > 1)) {
        add_core_count(list, count, tiling->value[THESIS_CORES], size / block,
                       split == SPLIT_M ? 1 : 2, most);
        return;
    }
    if (list) {
        list[*count] = (struct violation){.limit = "split"};
        snprintf(list[*count].text, sizeof list->text, "split=%s needs more than one core%s",
                 thesis_axes[THESIS_SPLIT].value_names[split],
                 most > 1            ? "; on one, split=m is the same"
                 : thesis->cores > 1 ? ", and one block is work for one only"
                                     : "");
    }
    ++*count;
}

/* Values that no tile count gives, on any axis. */
static int off_axis(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    const int64_t *v = tiling->value;
    int64_t cores = thesis_slab(space, tiling)->cores_used, below, above;
    const struct space_block *block =
        find_block(space, cores > 1 ? v[THESIS_SPLIT] : SPLIT_M, cores);
    int count = 0;
    for (int a = 0; a < THESIS_SPLIT; a++)
        if (!on_axis(block, a, v[a], &below, &above))
            add_value(list, &count, thesis_axes[a].name, v[a],
                      a <= THESIS_N ? "equal slice of this space" : "value of this space", below,
                      above);
    check_cores(space, tiling, list, &count);
    return count;
}

int thesis_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    static const char *const contents[CORE_NEEDS] = {
        "A tiles for the matrix unit", "B tiles for the matrix unit", "accumulated tiles of C",
        "converted tiles of C", "resident and reloaded tiles"};
    int count = off_axis(space, tiling, list);
    struct core_needs needs = needs_of(space, tiling);
    add_needs(list, &count, &needs, contents);
    add_length(list, &count, instructions_at_most(space, tiling));
    return count;
}

bool thesis_legal(const struct space *space, const struct tiling *tiling)
{
    return thesis_violations(space, tiling, NULL) == 0;
}
