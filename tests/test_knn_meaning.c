/* The selection programs compute a selection: an interpreter of what V and S do with their operands
 * runs them on random distances, in all variants, and the k smallest of tile and carried results
 * must come out, each with its index and the largest first.
 *
 * Text says nothing about constants, masks and registers. The interpreter takes them from the order
 * of a program's instructions: the values that vecDup fills in, the mask of the last vecCmp for
 * vecSel, one scalar register. */
#include "costmodel/simulate.h"
#include "kernels/knn.h"
#include "tests/support/machine.h"
#include "validate/host/half.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 19, REPEAT = 128, BLOCK = 16 };

struct machine {
    const struct program *program;
    const struct knn_tile *tile;
    half gm[MEMORY], ub[MEMORY];
    int index_of[MEMORY]; /* beside a value that a reduction left */
    const half *compared; /* mask of the last vecCmp */
    int duplicates, reg;
    int64_t index[PROGRAM_MAX_DEPTH];
};

static half *operand(struct machine *m, const struct instruction *in, enum operand_role role)
{
    for (int r = 0; r < in->region_count; r++) {
        const struct region *region = &m->program->regions[in->first_region + r];
        int64_t at = region->offset_bytes;
        if (region->role != role)
            continue;
        for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
            at += region->loop_stride_bytes[d] * m->index[d];
        bool external = m->program->hw->buffers[region->buffer].capacity_bytes == 0;
        cr_assert(at >= 0 && at % 2 == 0 && (at + region->bytes) / 2 <= MEMORY);
        return (external ? m->gm : m->ub) + at / 2;
    }
    return NULL;
}

/* mask, ones, 0x8000 and 1 (Alg. 5), 0xfc00 (Alg. 6); then the minimum of a row. */
static half duplicated(struct machine *m)
{
    half fills[6];
    int count = 0;
    fills[count++] = 0;
    fills[count++] = 1;
    if (m->tile->compare == KNN_COMPARE_RELU) {
        fills[count++] = 0x8000;
        fills[count++] = 1;
    }
    if (m->tile->index == KNN_INDEX_VECTOR)
        fills[count++] = HALF_MINUS_INF;
    return m->duplicates < count ? fills[m->duplicates++] : (half)m->reg;
}

static half subtract(half a, half b, bool integer)
{
    return integer ? (half)(a - b) : half_from_float(half_to_float(a) - half_to_float(b));
}

static void reduce(struct machine *m, const half *src, half *dst, int64_t elements, bool most)
{
    for (int64_t first = 0; first < elements; first += REPEAT) {
        int best = 0;
        for (int i = 1; i < REPEAT && first + i < elements; i++) {
            float value = half_to_float(src[first + i]), so_far = half_to_float(src[first + best]);
            best = most ? (value > so_far ? i : best) : (value < so_far ? i : best);
        }
        m->index_of[&dst[first / REPEAT] - m->ub] = best;
        dst[first / REPEAT] = src[first + best];
    }
}

static void elementwise(struct machine *m, const char *name, const struct instruction *in,
                        half *dst, const half *a, const half *b)
{
    for (int64_t i = 0; i < in->elements; i++) {
        if (strcmp(name, "vecSel") == 0)
            dst[i] = m->compared[i] ? a[i] : b[i];
        else if (strcmp(name, "relu") == 0)
            dst[i] = a[i] & 0x8000 ? 0 : a[i];
        else if (strcmp(name, "vsub") == 0)
            dst[i] = subtract(a[i], b[i], in->type == DTYPE_I16);
        else if (strcmp(name, "vand") == 0)
            dst[i] = a[i] & b[i];
        else if (strcmp(name, "vor") == 0)
            dst[i] = a[i] | b[i];
        else if (strcmp(name, "vnot") == 0)
            dst[i] = (half)~a[i];
        else
            cr_assert_fail("%s", name);
    }
}

/* The comparison of Alg. 6 asks for equality; it stands in the loop over rows. */
static void compare(struct machine *m, const struct instruction *in, half *dst, const half *a,
                    const half *b, bool equality)
{
    for (int64_t i = 0; i < in->elements; i++)
        dst[i] = equality ? a[i] == b[i] : half_to_float(a[i]) < half_to_float(b[i]);
    m->compared = dst;
}

static void run_vector(struct machine *m, const struct instruction *in, bool in_row)
{
    const char *name = m->program->hw->operations[in->what].name;
    half *dst = operand(m, in, OPERAND_DST);
    const half *a = operand(m, in, OPERAND_SRC), *b = operand(m, in, OPERAND_SRC2);
    if (strcmp(name, "vecDup") == 0) {
        half value = duplicated(m);
        for (int64_t i = 0; i < in->elements; i++)
            dst[i] = value;
    } else if (strncmp(name, "reduce", 6) == 0) {
        reduce(m, a, dst, in->elements, strcmp(name, "reduceMax") == 0);
    } else if (strcmp(name, "vecCmp") == 0) {
        compare(m, in, dst, a, b, in_row);
    } else {
        elementwise(m, name, in, dst, a, b);
    }
}

/* By the operands: a copy; an index; its combination with the one before; a store of the index, or
 * of the largest value at the index. */
static void run_assign(struct machine *m, const struct instruction *in, int *before)
{
    half *dst = operand(m, in, OPERAND_DST);
    const half *src = operand(m, in, OPERAND_SRC);
    if (src && dst) {
        m->reg = *dst = *src;
        *before = 0;
    } else if (src) {
        *before = m->reg;
        m->reg = m->index_of[src - m->ub + (in->operand_bytes > 4 ? *before : 0)];
    } else if (!dst) {
        m->reg += *before * REPEAT;
    } else if (in->operand_bytes == 0) {
        *dst = (half)m->reg;
    } else {
        cr_assert_lt(m->reg, in->operand_bytes / 2);
        dst[m->reg] = HALF_LARGEST;
    }
}

static void run(struct machine *m, int32_t first, int32_t last, int depth, int *before)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &m->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (m->index[depth] = 0; m->index[depth] < in->count; m->index[depth]++)
                run(m, i + 1, in->partner, depth + 1, before);
            m->index[depth] = 0;
            i = in->partner;
        } else if (in->kind == INSTRUCTION_MOVE) {
            memmove(operand(m, in, OPERAND_DST), operand(m, in, OPERAND_SRC), (size_t)in->bytes);
        } else if (in->kind == INSTRUCTION_VECTOR) {
            bool in_row = first > 0 && m->program->items[first - 1].name[0] == 'l';
            run_vector(m, in, in_row);
        } else if (in->kind == INSTRUCTION_SCALAR &&
                   strcmp(m->program->hw->operations[in->what].name, "assign") == 0) {
            run_assign(m, in, before);
        }
    }
}

struct candidate {
    float value;
    int index;
};

static int by_value(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->index - y->index;
}

static int64_t up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Distances that differ within a row, carried results with the largest first. */
static void fill(struct machine *m, gsl_rng *rng, struct candidate *all)
{
    const struct knn_tile *t = m->tile;
    int64_t pitch = up(t->columns, BLOCK), lanes = up(t->rows, BLOCK), total = t->columns + t->k;
    half *k = m->gm + t->rows * pitch, *index = k + t->k * lanes;
    for (int64_t r = 0; r < t->rows; r++) {
        half *values = malloc((size_t)total * sizeof *values);
        for (int64_t i = 0; i < total; i++)
            values[i] = (half)(0x0400 + i);
        for (int64_t i = total - 1; i > 0; i--) {
            int64_t j = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)i + 1);
            half value = values[i];
            values[i] = values[j];
            values[j] = value;
        }
        int64_t largest = t->columns;
        for (int64_t i = t->columns; i < total; i++)
            largest = values[i] > values[largest] ? i : largest;
        half value = values[largest];
        values[largest] = values[t->columns];
        values[t->columns] = value;
        for (int64_t i = 0; i < total; i++) {
            int number = (int)(i < t->columns ? i : 19000 + i - t->columns);
            all[r * total + i] = (struct candidate){half_to_float(values[i]), number};
            if (i < t->columns)
                m->gm[r * pitch + i] = values[i];
            else
                k[(i - t->columns) * lanes + r] = values[i];
            if (i >= t->columns)
                index[(i - t->columns) * lanes + r] = (half)number;
        }
        free(values);
    }
    for (int64_t i = 0; i < pitch; i++) /* idxMap */
        index[t->k * lanes + i] = (half)i;
}

static void expect_smallest(struct machine *m, struct candidate *all)
{
    const struct knn_tile *t = m->tile;
    int64_t pitch = up(t->columns, BLOCK), lanes = up(t->rows, BLOCK), total = t->columns + t->k;
    const half *k = m->gm + t->rows * pitch, *index = k + t->k * lanes;
    struct candidate *found = malloc((size_t)t->k * sizeof *found);
    for (int64_t r = 0; r < t->rows; r++) {
        for (int64_t i = 0; i < t->k; i++)
            found[i] = (struct candidate){half_to_float(k[i * lanes + r]), index[i * lanes + r]};
        float first = found[0].value;
        qsort(found, (size_t)t->k, sizeof *found, by_value);
        qsort(&all[r * total], (size_t)total, sizeof *all, by_value);
        cr_assert_eq(first, found[t->k - 1].value, "row 0 is not the largest");
        for (int64_t i = 0; i < t->k; i++) {
            cr_assert_eq(found[i].value, all[r * total + i].value,
                         "row %d, number %d of %dx%d k=%d", (int)r, (int)i, (int)t->rows,
                         (int)t->columns, (int)t->k);
            cr_assert_eq(found[i].index, all[r * total + i].index, "row %d, number %d: %d, not %d",
                         (int)r, (int)i, found[i].index, all[r * total + i].index);
        }
    }
    free(found);
}

static void select_and_compare(const struct knn_machine *chip, const struct knn_tile *tile,
                               gsl_rng *rng)
{
    struct program program = {0};
    struct error error;
    struct machine *m = calloc(1, sizeof *m);
    struct candidate *all = malloc((size_t)(tile->rows * (tile->columns + tile->k)) * sizeof *all);
    int before = 0;
    program_reset(&program, chip->hw);
    cr_assert_eq(knn_selection_program(chip, tile, tile->k, false, &program, &error), STATUS_OK,
                 "%s", error.text);
    m->program = &program;
    m->tile = tile;
    fill(m, rng, all);
    run(m, 0, program.count, 0, &before);
    expect_smallest(m, all);
    program_clear(&program);
    free(all);
    free(m);
}

Test(knn_meaning, the_k_smallest_come_out)
{
    struct hardware hw;
    struct knn_machine chip;
    struct error error;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 16);
    machine_load(&hw, "");
    cr_assert_eq(knn_machine_find(&hw, DTYPE_F16, &chip, &error), STATUS_OK);
    for (int i = 0; i < 160 / test_thinning(); i++) {
        /* now and then three levels of reductions */
        bool wide = i % 20 == 19;
        struct knn_tile tile = {.rows = 1 + (int64_t)gsl_rng_uniform_int(rng, wide ? 3 : 40),
                                .columns =
                                    1 + (int64_t)gsl_rng_uniform_int(rng, i % 4 ? 300 : 3000),
                                .k = 1 + (int64_t)gsl_rng_uniform_int(rng, wide ? 4 : 40),
                                .type = DTYPE_F16,
                                .loop = (enum knn_loop)(i & 1),
                                .compare = (enum knn_compare)(i >> 1 & 1),
                                .index = (enum knn_index)(i / 20 & 1)};
        tile.columns += wide ? 16384 : 0;
        select_and_compare(&chip, &tile, rng);
    }
    gsl_rng_free(rng);
    hardware_clear(&hw);
}
