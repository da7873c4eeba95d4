/* How even a tiling of space `cann` is: every tile's start is looked at, one by one. */
#include "kernels/matmul/matmul_cann.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>

enum { STARTS_AB = 6, STARTS_C = 7 }; /* bits */

/* Where a number of an operand lies; `columns` as they are, `rows` in whole blocks. In blocks of
 * `block` columns; 0: row by row. */
static int64_t address(int block, int64_t row, int64_t column, int64_t rows, int64_t columns,
                       int bytes)
{
    return block ? (column / block * rows * block + row * block + column % block) * bytes
                 : (row * columns + column) * bytes;
}

/* The starts that up to three lengths, each cutting the one before, give in `size`. */
static int starts_of(int64_t size, const int64_t lengths[], int count, int64_t starts[], int found,
                     int64_t from)
{
    if (count == 0) {
        starts[found] = from;
        return found + 1;
    }
    for (int64_t at = 0; at < size; at += lengths[0]) {
        int64_t rest = size - at < lengths[0] ? size - at : lengths[0];
        found = starts_of(rest, lengths + 1, count - 1, starts, found, from + at);
    }
    return found;
}

struct side {
    int64_t given, size; /* as asked for, and in whole blocks */
    int block, count;
    int64_t starts[4096];
};

static void cut(struct side *side, int64_t given, int block, const int64_t lengths[], int count)
{
    side->given = given;
    side->block = block;
    side->size = (given + block - 1) / block * block;
    side->count = starts_of(side->size, lengths, count, side->starts, 0, 0);
}

static bool at_lines(const struct problem *problem, int operand, const struct side *rows,
                     const struct side *columns, int bytes)
{
    static const int layouts[] = {MATMUL_A_LAYOUT, MATMUL_B_LAYOUT, MATMUL_C_LAYOUT};
    bool blocks = problem->choice[layouts[operand]] == 1;
    if (problem->choice[MATMUL_TRANSPOSE] >> operand & 1) {
        const struct side *swap = rows;
        rows = columns;
        columns = swap;
    }
    for (int r = 0; r < rows->count; r++)
        for (int c = 0; c < columns->count; c++)
            if (address(blocks ? columns->block : 0, rows->starts[r], columns->starts[c],
                        rows->size, columns->given, bytes) %
                512)
                return false;
    return true;
}

static unsigned expected(const struct problem *problem, const struct space *space,
                         const struct tiling *tiling)
{
    static struct side m, n, ka, kb;
    const int64_t *v = tiling->value, *size = problem->size;
    const struct cann_machine *machine = &cann_of(space)->machine;
    int block_k = 32 / dtype_bytes(problem->type);
    int64_t by_m[] = {v[CANN_SINGLE_M], v[CANN_STEP_M] * v[CANN_BASE_M], v[CANN_BASE_M]};
    int64_t by_n[] = {v[CANN_SINGLE_N], v[CANN_STEP_N] * v[CANN_BASE_N], v[CANN_BASE_N]};
    int64_t blocks = (size[MATMUL_K] + block_k - 1) / block_k;
    int64_t part = (blocks + v[CANN_SPLIT_K] - 1) / v[CANN_SPLIT_K] * block_k;
    int64_t by_ka[] = {part, v[CANN_STEP_KA] * v[CANN_BASE_K]};
    int64_t by_kb[] = {part, v[CANN_STEP_KB] * v[CANN_BASE_K]};
    cut(&ka, size[MATMUL_K], block_k, by_ka, 2);
    cut(&kb, size[MATMUL_K], block_k, by_kb, 2);
    cut(&m, size[MATMUL_M], 16, by_m, 2);
    cut(&n, size[MATMUL_N], 16, by_n, 2);
    int64_t whole_ka = by_ka[1] < part ? by_ka[1] : part;
    int64_t whole_kb = by_kb[1] < part ? by_kb[1] : part;
    unsigned bits = (unsigned)(m.size % v[CANN_SINGLE_M] == 0) |
                    (unsigned)(n.size % v[CANN_SINGLE_N] == 0) << 1 |
                    (unsigned)(ka.size % part == 0 && part % whole_ka == 0 && part % whole_kb == 0)
                        << 2 |
                    (unsigned)(v[CANN_SINGLE_M] % v[CANN_BASE_M] == 0) << 3 |
                    (unsigned)(v[CANN_SINGLE_N] % v[CANN_BASE_N] == 0) << 4 |
                    (unsigned)(part % v[CANN_BASE_K] == 0) << 5;
    bits |= (unsigned)(at_lines(problem, 0, &m, &ka, machine->type_bytes) &&
                       at_lines(problem, 1, &kb, &n, machine->type_bytes))
            << STARTS_AB;
    cut(&m, size[MATMUL_M], 16, by_m, 3);
    cut(&n, size[MATMUL_N], 16, by_n, 3);
    return bits | (unsigned)at_lines(problem, 2, &m, &n, machine->out_bytes) << STARTS_C;
}

Test(matmul_cann_even, every_start_is_counted)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    int met[CANN_EVENS] = {0}, drawn = 0;
    for (int round = 0; round < 400; round++) {
        struct hardware hw;
        struct problem problem;
        struct space space;
        struct tiling tiling;
        random_cann_hardware(rng, &hw);
        random_cann_space(rng, &hw, round % 2 ? 512 : 1024, &problem, &space);
        for (int i = 0; i < 10 && random_cann_tiling(rng, &space, &tiling); i++, drawn++) {
            unsigned even = cann_even(&space, &tiling);
            cr_assert_eq(even, expected(&problem, &space, &tiling), "%x, not %x: %s", even,
                         expected(&problem, &space, &tiling),
                         random_cann_text(&problem, &space, &tiling));
            for (int e = 0; e < CANN_EVENS; e++)
                met[e] += (even >> e & 1) != 0;
        }
        space_close(&space);
        hardware_clear(&hw);
    }
    cr_expect_geq(drawn, 2000);
    for (int e = 0; e < CANN_EVENS; e++) /* each is met now and then, and not always */
        cr_expect(met[e] > drawn / 50 && met[e] < drawn, "%d: %d of %d", e, met[e], drawn);
    gsl_rng_free(rng);
}
