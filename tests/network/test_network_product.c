/* Which calls are products, of which sizes: every way that operands can lie is read back. */
#include "network/problem.h"

#include <criterion/criterion.h>

/* A matrix of these rows and columns, in rows or in blocks. */
static struct operator_tensor matrix(int64_t batch, int64_t rows, int64_t columns, bool blocks)
{
    struct operator_tensor tensor = {.format = blocks ? FORMAT_NZ : FORMAT_ND, .type = DTYPE_F16};
    if (batch > 1)
        tensor.size[tensor.rank++] = batch;
    const int64_t sizes[] = {blocks ? columns / 16 : rows, blocks ? rows / 16 : columns, 16, 16};
    for (int d = 0; d < (blocks ? 4 : 2); d++)
        tensor.size[tensor.rank++] = sizes[d];
    return tensor;
}

static struct operator_call call_of(char *type, struct operator_tensor tensors[3])
{
    return (struct operator_call){.op_type = type,
                                  .input_count = 2,
                                  .output_count = 1,
                                  .inputs = tensors,
                                  .outputs = tensors + 2};
}

Test(network_product, every_way)
{
    for (int way = 0; way < 32; way++) {
        bool ta = way & 1, tb = way & 2, blocks = way & 4, share = way & 8;
        int64_t m = 32, k = 48, n = 64, batch = way & 16 ? 6 : 1;
        struct operator_tensor tensors[] = {
            ta ? matrix(batch, k, m, blocks) : matrix(batch, m, k, blocks),
            tb ? matrix(share ? 1 : batch, n, k, blocks) : matrix(share ? 1 : batch, k, n, blocks),
            matrix(batch, m, n, blocks)};
        char type[] = "BatchMatMul";
        struct operator_call call = call_of(type, tensors);
        struct product p;
        cr_assert(call_product(&call, &p), "way %d", way);
        cr_expect(p.m == m && p.k == k && p.n == n && p.batch == batch, "way %d", way);
        cr_expect(p.transpose_a == ta && p.transpose_b == tb, "way %d", way);
        cr_expect_eq(p.share_b, share && batch > 1, "way %d", way);
    }
}

Test(network_product, not_one)
{
    struct operator_tensor good[] = {matrix(1, 32, 48, false), matrix(1, 48, 64, false),
                                     matrix(1, 32, 64, false)};
    for (int broken = 0; broken < 5; broken++) {
        struct operator_tensor tensors[3] = {good[0], good[1], good[2]};
        struct product p;
        if (broken == 0)
            tensors[1].size[0] = 49;
        else if (broken == 1)
            tensors[1].type = DTYPE_F32;
        else if (broken == 2)
            tensors[0].rank = 1;
        else if (broken == 3)
            tensors[2].format = FORMAT_NC1HWC0;
        else
            tensors[0].size[0] = 0;
        char type[] = "MatMul";
        struct operator_call call = call_of(type, tensors);
        cr_expect_not(call_product(&call, &p), "%d", broken);
    }
}
