/* The selection programs compute a selection: an interpreter of what V and S do with their operands
 * runs them on random distances, in all variants, and the k smallest of tile and carried results
 * must come out, each with its index and the largest first.
 *
 * Text says nothing about constants, masks and registers. The interpreter takes them from the order
 * of a program's instructions: the values that vecDup fills in, the mask of the last vecCmp for
 * vecSel, one scalar register. */
#include "core/half.h"
#include "costmodel/simulate.h"
#include "kernels/knn/knn.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

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
    int64_t step, most_updates; /* of any row */
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

/* Row tests hold in steps that update the row; the test of a step, while any row is updated. */
static bool run_branch(struct machine *m, const struct instruction *in, bool in_row)
{
    const half *src = operand(m, in, OPERAND_SRC);
    if (!src || in_row)
        return src && *src != 0;
    m->step++;
    cr_assert_eq(*src != 0, m->step > m->most_updates, "step %d of %d", (int)m->step,
                 (int)m->most_updates);
    return false;
}

static bool is(const struct machine *m, const struct instruction *in, const char *name)
{
    return in->kind == INSTRUCTION_SCALAR &&
           strcmp(m->program->hw->operations[in->what].name, name) == 0;
}

static void run(struct machine *m, int32_t first, int32_t last, int depth, int *before)
{
    bool in_row = first > 0 && m->program->items[first - 1].name[0] == 'l';
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
            run_vector(m, in, in_row);
        } else if (is(m, in, "assign")) {
            run_assign(m, in, before);
        } else if (is(m, in, "branch") && run_branch(m, in, in_row)) {
            return; /* the next row */
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
    return unit > 0 ? (value + unit - 1) / unit * unit : value;
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
    struct candidate *found = calloc((size_t)t->k, sizeof *found);
    cr_assert(found);
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

/* Values of the tile among the k smallest of a row, in the row that has most. */
static int64_t most_updates(const struct knn_tile *t, const struct candidate *all)
{
    int64_t total = t->columns + t->k, most = 0;
    struct candidate *sorted = malloc((size_t)total * sizeof *sorted);
    for (int64_t r = 0; r < t->rows; r++) {
        int64_t updates = 0;
        memcpy(sorted, &all[r * total], (size_t)total * sizeof *sorted);
        qsort(sorted, (size_t)total, sizeof *sorted, by_value);
        for (int64_t i = 0; i < t->k; i++)
            updates += sorted[i].index < t->columns;
        most = updates > most ? updates : most;
    }
    free(sorted);
    return most;
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
    m->most_updates = most_updates(tile, all);
    run(m, 0, program.count, 0, &before);
    expect_smallest(m, all);
    program_clear(&program);
    free(all);
    free(m);
}

Test(knn_values, the_k_smallest_come_out)
{
    struct hardware hw;
    struct knn_machine chip;
    struct error error;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 16);
    machine_load(&hw, "");
    cr_assert_eq(knn_machine_find(&hw, DTYPE_F16, &chip, &error), STATUS_OK);
    for (int i = 0; i < test_cases(120); i++) {
        /* now and then three levels of reductions */
        bool wide = i % 40 == 39;
        struct knn_tile tile = {.rows = 1 + (int64_t)gsl_rng_uniform_int(rng, wide ? 3 : 40),
                                .columns =
                                    1 + (int64_t)gsl_rng_uniform_int(rng, i % 4 ? 200 : 1000),
                                .k = 1 + (int64_t)gsl_rng_uniform_int(rng, wide ? 4 : 40),
                                .type = DTYPE_F16,
                                .loop = (enum knn_loop)(i & 1),
                                .compare = (enum knn_compare)(i >> 1 & 1),
                                .index = (enum knn_index)(i / 40 & 1)};
        tile.columns += wide ? 16384 : 0;
        select_and_compare(&chip, &tile, rng);
    }
    gsl_rng_free(rng);
    hardware_clear(&hw);
}

/* ---- bitonic ---- */

/* One stage of the network: columns `half` apart, or groups (half = 0); is the second operand read
 * backwards? */
struct stage {
    int64_t half;
    bool mirrored;
};

static int make_stages(struct stage *stages, int64_t keep, int64_t groups)
{
    int count = 0;
    for (int64_t block = 2; block <= keep; block *= 2)
        for (int64_t half = block / 2; half > 0; half /= 2)
            stages[count++] = (struct stage){half, half == block / 2};
    for (groups++; groups > 1; groups -= groups / 2) {
        stages[count++] = (struct stage){0, true};
        for (int64_t half = keep / 2; half > 0; half /= 2)
            stages[count++] = (struct stage){half, false};
    }
    return count;
}

/* Where element i of an operand stands, in values. */
static int64_t place(const struct instruction *in, const struct region *region, int64_t i,
                     int64_t lanes, int64_t mirror)
{
    int64_t in_row = in->elements / region->rows, row = i / in_row, column = i % in_row / lanes;
    if (mirror)
        column = column / mirror * mirror + mirror - 1 - column % mirror;
    return (region->offset_bytes + row * region->row_stride_bytes) / 2 + column * lanes + i % lanes;
}

struct network {
    struct machine *m;
    int64_t lanes, keep;
    struct stage stages[512];
    int count, next, selects; /* since the last comparison */
    half mask[MEMORY];
};

/* Operands dst, src, src2; those on the second side of the stage may be read backwards. */
static void run_stage(struct network *n, const struct instruction *in, bool comparison)
{
    struct machine *m = n->m;
    const struct region *r = &m->program->regions[in->first_region];
    if (comparison) {
        n->next++;
        n->selects = 0;
    }
    const struct stage *stage = &n->stages[(n->next - 1) % (n->count > 0 ? n->count : 1)];
    bool second = !comparison && stage->half && n->selects++ % 2;
    int64_t mirror = stage->mirrored ? (stage->half ? stage->half : n->keep) : 0;
    for (int64_t i = 0; i < in->elements; i++) {
        half a = m->ub[place(in, &r[1], i, n->lanes, second ? mirror : 0)];
        half b = m->ub[place(in, &r[2], i, n->lanes, second ? 0 : mirror)];
        if (comparison)
            n->mask[i] = half_to_float(a) < half_to_float(b);
        else
            m->ub[place(in, &r[0], i, n->lanes, second ? mirror : 0)] = n->mask[i] ? a : b;
    }
}

static void run_network(struct network *n, int32_t first, int32_t last, int depth)
{
    struct machine *m = n->m;
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &m->program->items[i];
        const char *name =
            in->kind == INSTRUCTION_VECTOR ? m->program->hw->operations[in->what].name : "";
        if (in->kind == INSTRUCTION_LOOP) {
            for (m->index[depth] = 0; m->index[depth] < in->count; m->index[depth]++)
                run_network(n, i + 1, in->partner, depth + 1);
            m->index[depth] = 0;
            i = in->partner;
        } else if (in->kind == INSTRUCTION_MOVE) {
            memmove(operand(m, in, OPERAND_DST), operand(m, in, OPERAND_SRC), (size_t)in->bytes);
        } else if (strcmp(name, "vecDup") == 0) {
            for (int64_t e = 0; e < in->elements; e++)
                operand(m, in, OPERAND_DST)[e] = HALF_LARGEST;
        } else if (in->kind == INSTRUCTION_VECTOR) {
            run_stage(n, in, strcmp(name, "vecCmp") == 0);
        }
    }
}

static int64_t count_chunks(const struct program *program)
{
    for (int32_t i = 0; i < program->count; i++)
        if (program->items[i].kind == INSTRUCTION_LOOP)
            return program->items[i].count;
    return 0;
}

static half random_value(gsl_rng *rng)
{
    return (half)(0x1000 + gsl_rng_uniform_int(rng, 0x4000));
}

static int by_half(const void *a, const void *b)
{
    return *(const half *)a - *(const half *)b;
}

/* One lane's k values are the smallest of `all` in ascending order. Equal ones may come in any
 * order, so an index is checked by its value. */
static void expect_sorted(const struct network *n, const half *values, const half *numbers,
                          const half *all, int64_t total, int64_t lane)
{
    half *sorted = malloc((size_t)total * sizeof *sorted);
    memcpy(sorted, all, (size_t)total * sizeof *sorted);
    qsort(sorted, (size_t)total, sizeof *sorted, by_half);
    for (int64_t i = 0; i < n->m->tile->k; i++) {
        half value = values[i * n->lanes + lane], number = numbers[i * n->lanes + lane];
        cr_assert_eq(value, sorted[i], "lane %d, number %d", (int)lane, (int)i);
        cr_assert_lt(number, total);
        cr_assert_eq(all[number], value, "lane %d, number %d: index %d", (int)lane, (int)i, number);
    }
    free(sorted);
}

static void sort_and_compare(const struct knn_machine *chip, const struct knn_tile *t, gsl_rng *rng)
{
    struct program program = {0};
    struct error error;
    struct network *n = calloc(1, sizeof *n);
    struct machine *m = n->m = calloc(1, sizeof *m);
    program_reset(&program, chip->hw);
    cr_assert_eq(knn_bitonic_program(chip, t, &program, &error), STATUS_OK, "%s", error.text);
    m->program = &program;
    m->tile = t;
    n->lanes = up(t->rows, BLOCK);
    for (n->keep = 1; n->keep < t->k; n->keep *= 2)
        ;
    int64_t chunks = count_chunks(&program), groups = up(t->columns, n->keep) / n->keep;
    cr_assert_gt(chunks, 0);
    groups = up(groups, chunks) / (chunks > 0 ? chunks : 1);
    n->count = make_stages(n->stages, n->keep, groups);
    int64_t columns = chunks * groups * n->keep, total = columns + t->k;
    half *all = malloc((size_t)(total * n->lanes) * sizeof *all);
    half *numbers = m->gm + columns * n->lanes, *kept = numbers + columns * n->lanes;
    half *kept_numbers = kept + t->k * n->lanes;
    for (int64_t l = 0; l < n->lanes; l++) {
        half *lane = &all[l * total];
        for (int64_t c = 0; c < total; c++)
            lane[c] = c >= t->columns && c < columns ? HALF_LARGEST : random_value(rng);
        qsort(&lane[columns], (size_t)t->k, sizeof *lane, by_half);
        for (int64_t c = 0; c < columns; c++) {
            m->gm[c * n->lanes + l] = lane[c];
            numbers[c * n->lanes + l] = (half)c;
        }
        for (int64_t i = 0; i < t->k; i++) {
            kept[i * n->lanes + l] = lane[columns + i];
            kept_numbers[i * n->lanes + l] = (half)(columns + i);
        }
    }
    run_network(n, 0, program.count, 0);
    cr_assert_eq(n->next, chunks * n->count);
    for (int64_t l = 0; l < n->lanes; l++)
        expect_sorted(n, kept, kept_numbers, &all[l * total], total, l);
    program_clear(&program);
    free(all);
    free(m);
    free(n);
}

Test(knn_values, bitonic_stages_leave_the_k_smallest)
{
    static const char *const chips[] = {"", "buffers.ub.capacity_bytes=16384"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 17);
    for (int c = 0; c < 2; c++) {
        struct hardware hw;
        struct knn_machine chip;
        struct error error;
        machine_load(&hw, chips[c]);
        cr_assert_eq(knn_machine_find(&hw, DTYPE_F16, &chip, &error), STATUS_OK);
        for (int i = 0; i < test_cases(30); i++) {
            struct knn_tile tile = {.rows = 1 + (int64_t)gsl_rng_uniform_int(rng, 24),
                                    .columns = 1 + (int64_t)gsl_rng_uniform_int(rng, 600),
                                    .k = 1 + (int64_t)gsl_rng_uniform_int(rng, 33),
                                    .type = DTYPE_F16};
            sort_and_compare(&chip, &tile, rng);
        }
        hardware_clear(&hw);
    }
    gsl_rng_free(rng);
}
