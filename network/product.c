/* M, N and the batch are the result's; K is what both operands agree on, whichever way round they
 * lie, as they stand first (network/product.h). A matrix in blocks, [.., N/16, M/16, 16, 16], is
 * read as the matrix that it holds. */
#include "network/product.h"

struct matrix {
    int64_t batch, rows, columns;
};

static bool read_matrix(const struct operator_tensor *tensor, struct matrix *matrix)
{
    const int64_t *size = tensor->size;
    bool blocks = tensor->format == FORMAT_NZ;
    int rank = tensor->rank, own = blocks ? 4 : 2;
    if ((!blocks && tensor->format != FORMAT_ND) || rank < own ||
        operator_tensor_elements(tensor) == 0)
        return false;
    *matrix = (struct matrix){1, blocks ? size[rank - 3] * size[rank - 2] : size[rank - 2],
                              blocks ? size[rank - 4] * size[rank - 1] : size[rank - 1]};
    for (int d = 0; d < rank - own; d++)
        matrix->batch *= size[d];
    return true;
}

bool call_product(const struct operator_call *call, struct product *product)
{
    struct matrix a, b, c;
    if (call->input_count < 2 || call->output_count < 1 || !read_matrix(&call->inputs[0], &a) ||
        !read_matrix(&call->inputs[1], &b) || !read_matrix(&call->outputs[0], &c) ||
        call->inputs[0].type != call->inputs[1].type || a.batch != c.batch ||
        (b.batch != c.batch && b.batch != 1))
        return false;
    for (int way = 0; way < 4; way++) {
        bool ta = way & 1, tb = way & 2;
        int64_t k = ta ? a.rows : a.columns;
        if ((ta ? a.columns : a.rows) != c.rows || (tb ? b.rows : b.columns) != c.columns ||
            (tb ? b.columns : b.rows) != k)
            continue;
        *product = (struct product){.m = c.rows,
                                    .k = k,
                                    .n = c.columns,
                                    .batch = c.batch,
                                    .transpose_a = ta,
                                    .transpose_b = tb,
                                    .share_b = b.batch == 1 && c.batch > 1,
                                    .type = call->inputs[0].type,
                                    .result = call->outputs[0].type};
        return true;
    }
    return false;
}
