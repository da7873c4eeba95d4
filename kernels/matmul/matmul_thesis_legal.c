/* What fits: every live tile, all copies counted, against the buffers of the chip. Tang 2024
 * states no limits; the chip has them. */
#include "kernels/limits.h"
#include "kernels/matmul/matmul_thesis.h"

#include <stdio.h>

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_UB, NEED_L1, NEEDS };

/* Bytes of every buffer that are alive at once, all copies counted. */
static void count_needs(const struct space *space, const struct tiling *tiling,
                        int64_t needs[NEEDS])
{
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const struct matmul_slab *slab = thesis_slab(space, tiling);
    const int64_t *v = tiling->value;
    int64_t m = v[THESIS_M], k = v[THESIS_K], n = v[THESIS_N];
    int64_t type = machine->type_bytes, copies = product_of(v[THESIS_BUFFERS], type);
    needs[NEED_L0A] = product_of(product_of(m, k), copies);
    needs[NEED_L0B] = product_of(product_of(k, n), copies);
    needs[NEED_L0C] = product_of(product_of(m, n), machine->accumulator_bytes);
    needs[NEED_UB] = product_of(product_of(m, n), machine->out_bytes);
    needs[NEED_L1] = sum_of(
        keeps_a(v[THESIS_RESIDENT]) ? product_of(product_of(m, slab->k), type) : needs[NEED_L0A],
        keeps_b(v[THESIS_RESIDENT]) ? product_of(product_of(slab->k, slab->n), type)
                                    : needs[NEED_L0B]);
}

static int64_t capacity(const struct matmul_machine *machine, enum need need)
{
    const int buffers[NEEDS] = {[NEED_L0A] = machine->l0a,
                                [NEED_L0B] = machine->l0b,
                                [NEED_L0C] = machine->l0c,
                                [NEED_UB] = machine->ub,
                                [NEED_L1] = machine->l1};
    return capacity_of(machine->hw, buffers[need]);
}

static bool fits(const struct space *space, const struct tiling *tiling, int last)
{
    int64_t needs[NEEDS];
    count_needs(space, tiling, needs);
    for (int n = 0; n <= last; n++)
        if (needs[n] > capacity(&thesis_of(space)->machine, (enum need)n))
            return false;
    return true;
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

static bool executable(const struct space *space, const struct tiling *tiling)
{
    return instructions_at_most(space, tiling) <= (double)PROGRAM_MAX_EXECUTED;
}

/* With the open slices at one block and one buffer: L1 is left out, for what it needs does not
 * grow with every axis. */
bool thesis_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    if (fixed == THESIS_AXES)
        return fits(space, tiling, NEED_L1) && executable(space, tiling);
    struct tiling least = *tiling;
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const int64_t lowest[] = {machine->block, machine->block_k, machine->block, 1};
    for (int a = fixed; a <= THESIS_BUFFERS; a++)
        least.value[a] = lowest[a];
    return fits(space, &least, NEED_UB);
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
    static const char *const names[NEEDS] = {"l0a", "l0b", "l0c", "ub", "l1"};
    static const char *const contents[NEEDS] = {
        "A tiles for the matrix unit", "B tiles for the matrix unit", "accumulated tiles of C",
        "converted tiles of C", "resident and reloaded tiles"};
    int count = off_axis(space, tiling, list);
    int64_t needs[NEEDS];
    count_needs(space, tiling, needs);
    for (int n = 0; n < NEEDS; n++)
        add_excess(list, &count, names[n], contents[n], needs[n],
                   capacity(&thesis_of(space)->machine, (enum need)n));
    add_length(list, &count, instructions_at_most(space, tiling));
    return count;
}

bool thesis_legal(const struct space *space, const struct tiling *tiling)
{
    return thesis_violations(space, tiling, NULL) == 0;
}
