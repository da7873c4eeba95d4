/* How the library lays tensors out: the examples that Wu et al. 2022 print in Table I, and what
 * holds of any dimensions. */
#include "network/network.h"

#include <criterion/criterion.h>

static void expect_sizes(const struct operator_tensor *t, int rank, const int64_t *size)
{
    cr_assert_eq(t->rank, rank);
    for (int d = 0; d < rank; d++)
        cr_expect_eq(t->size[d], size[d], "size %d: %lld, expected %lld", d, (long long)t->size[d],
                     (long long)size[d]);
}

/* The second operand of its products is printed the other way round, as a transposed one lies. */
Test(layout, table_1)
{
    const struct {
        int64_t channels, blocks;
    } printed[] = {{3, 1}, {16, 1}, {18, 2}, {32, 2}};
    struct operator_tensor t;
    for (int i = 0; i < 4; i++) {
        const int64_t map[] = {32, printed[i].channels, 224, 224};
        const int64_t map_blocks[] = {32, printed[i].blocks, 224, 224, 16};
        const int64_t b[] = {printed[i].channels, 768},
                      b_blocks[] = {48, printed[i].blocks, 16, 16};
        cr_assert(tensor_lay_out(map, 4, FORMAT_NC1HWC0, DTYPE_F32, &t));
        expect_sizes(&t, 5, map_blocks);
        cr_expect_eq(t.bytes, 32 * printed[i].blocks * 224 * 224 * 16 * 4);
        cr_assert(tensor_lay_out(b, 2, FORMAT_NZ, DTYPE_F16, &t));
        expect_sizes(&t, 4, b_blocks);
    }
    const int64_t a[] = {5120, 768}, a_blocks[] = {48, 320, 16, 16};
    cr_assert(tensor_lay_out(a, 2, FORMAT_NZ, DTYPE_F16, &t));
    expect_sizes(&t, 4, a_blocks);
}

/* Every element has a place, and padding is below 16 in each padded dimension. */
Test(layout, any_dimensions)
{
    struct operator_tensor t;
    for (int64_t i = 0; i < 40 * 40; i++) {
        const int64_t p = 1 + i / 40, q = 1 + i % 40;
        const int64_t size[] = {3, 5, p, q}, filter[] = {p, q, 3, 2}, map[] = {2, p, q, 7};
        const int64_t p16 = p + (16 - p % 16) % 16, q16 = q + (16 - q % 16) % 16;
        cr_assert(tensor_lay_out(size, 4, FORMAT_NZ, DTYPE_I8, &t));
        cr_expect(t.rank == 6 && t.bytes == 15 * p16 * q16);
        cr_assert(tensor_lay_out(filter, 4, FORMAT_Z, DTYPE_I8, &t));
        cr_expect(t.rank == 4 && t.bytes == 6 * p16 * q16);
        cr_assert(tensor_lay_out(map, 4, FORMAT_NC1HWC0, DTYPE_I8, &t));
        cr_expect(t.rank == 5 && t.bytes == 14 * p16 * q);
        cr_assert(tensor_lay_out(size, 4, FORMAT_ND, DTYPE_I8, &t));
        expect_sizes(&t, 4, size);
    }
}

Test(layout, too_large)
{
    struct operator_tensor t;
    const int64_t size[] = {INT64_C(1) << 30, INT64_C(1) << 30};
    cr_expect_not(tensor_lay_out(size, 2, FORMAT_NZ, DTYPE_F16, &t));
    cr_expect_not(tensor_lay_out(size, 2, FORMAT_ND, DTYPE_F16, &t));
}
