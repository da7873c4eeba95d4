/* What fits: every live tile, all copies counted, against the buffers of the chip. The thesis
 * states no limits; the chip has them. */
#include "kernels/matmul_thesis.h"

#include <stdio.h>
#include <string.h>

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_UB, NEED_L1, NEEDS };

/* a·b·c for sizes that a user may have typed: never wraps. */
static int64_t product(int64_t a, int64_t b, int64_t c)
{
    int64_t ab, abc;
    if (__builtin_mul_overflow(a, b, &ab) || __builtin_mul_overflow(ab, c, &abc))
        return INT64_MAX;
    return abc;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

/* Bytes of every buffer that are alive at once, all copies counted. */
static void count_needs(const struct space *space, const struct tiling *tiling,
                        int64_t needs[NEEDS])
{
    const struct matmul_machine *machine = &thesis_of(space)->machine;
    const struct matmul_slab *slab = thesis_slab(space, tiling);
    const int64_t *v = tiling->value;
    int64_t m = v[THESIS_M], k = v[THESIS_K], n = v[THESIS_N];
    int64_t type = machine->type_bytes, copies = product(v[THESIS_BUFFERS], type, 1);
    needs[NEED_L0A] = product(m, k, copies);
    needs[NEED_L0B] = product(k, n, copies);
    needs[NEED_L0C] = product(m, n, machine->accumulator_bytes);
    needs[NEED_UB] = product(m, n, type);
    needs[NEED_L1] =
        sum(keeps_a(v[THESIS_RESIDENT]) ? product(m, slab->k, type) : needs[NEED_L0A],
            keeps_b(v[THESIS_RESIDENT]) ? product(slab->k, slab->n, type) : needs[NEED_L0B]);
}

static int64_t capacity(const struct matmul_machine *machine, enum need need)
{
    const int buffers[NEEDS] = {[NEED_L0A] = machine->l0a,
                                [NEED_L0B] = machine->l0b,
                                [NEED_L0C] = machine->l0c,
                                [NEED_UB] = machine->ub,
                                [NEED_L1] = machine->l1};
    int64_t bytes = machine->hw->buffers[buffers[need]].capacity_bytes;
    return bytes ? bytes : INT64_MAX;
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

/* With the open slices at one block and one buffer: L1 is left out, for what it needs does not
 * grow with every axis. */
bool thesis_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    struct tiling least = *tiling;
    for (int a = fixed; a < THESIS_AXES; a++)
        least.value[a] = a <= THESIS_N ? thesis_of(space)->machine.block : a == THESIS_BUFFERS;
    return fits(space, &least, NEED_UB);
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

static bool playable(const struct space *space, const struct tiling *tiling)
{
    return instructions_at_most(space, tiling) <= (double)PROGRAM_MAX_PLAYED;
}

bool thesis_legal(const struct space *space, const struct tiling *tiling)
{
    return fits(space, tiling, NEED_L1) && playable(space, tiling);
}

static void describe_axis(const struct space *space, const struct tiling *tiling, int axis,
                          struct violation *violation)
{
    const struct space_block *block = &space->blocks[tiling->value[THESIS_SPLIT]];
    int64_t value = tiling->value[axis], below = 0, above = 0;
    for (int i = 0; i < block->count[axis]; i++) {
        int64_t v = block->values[axis][i];
        below = v < value ? v : below;
        above = v > value && !above ? v : above;
    }
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", thesis_axes[axis].name);
    int used = snprintf(violation->text, sizeof violation->text,
                        "%s=%lld is no %s of this space; next", thesis_axes[axis].name,
                        (long long)value, axis <= THESIS_N ? "equal slice" : "value");
    const int64_t next[] = {below, above};
    for (int i = 0; i < 2; i++)
        if (next[i])
            used += snprintf(violation->text + used, sizeof violation->text - (size_t)used, " %lld",
                             (long long)next[i]);
}

/* Values that no tile count gives, on any axis. */
static int off_axis(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    int count = 0;
    if (tiling->value[THESIS_SPLIT] >= space->block_count) {
        list[count] = (struct violation){.limit = "split"};
        snprintf(list[count++].text, sizeof list->text, "split=%s needs more than one core",
                 thesis_axes[THESIS_SPLIT].value_names[tiling->value[THESIS_SPLIT]]);
        return count;
    }
    const struct space_block *block = &space->blocks[tiling->value[THESIS_SPLIT]];
    for (int a = 0; a < THESIS_AXES; a++) {
        bool found = false;
        for (int i = 0; i < block->count[a] && !found; i++)
            found = block->values[a][i] == tiling->value[a];
        if (!found)
            describe_axis(space, tiling, a, &list[count++]);
    }
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
    for (int n = 0; n < NEEDS; n++) {
        int64_t available = capacity(&thesis_of(space)->machine, (enum need)n);
        if (needs[n] <= available)
            continue;
        struct violation *v = &list[count++];
        *v = (struct violation){.needed_bytes = needs[n], .available_bytes = available};
        snprintf(v->limit, sizeof v->limit, "%s", names[n]);
        snprintf(v->text, sizeof v->text, "%s: %s take %lld bytes of %lld, %lld too many", names[n],
                 contents[n], (long long)needs[n], (long long)available,
                 (long long)(needs[n] - available));
    }
    if (!playable(space, tiling)) {
        list[count] = (struct violation){.limit = "instructions"};
        snprintf(list[count++].text, sizeof list->text,
                 "instructions: about %.2g, more than the %lld that are played",
                 instructions_at_most(space, tiling), PROGRAM_MAX_PLAYED);
    }
    return count;
}
