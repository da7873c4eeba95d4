/* Which sizes hold the batch is not written in a table of calls. What tells:
 *
 * - Weights: what optimisers work on, the second operand of a product and its bias, and the results
 *   of a product whose first operand is transposed, which is a weight's gradient. A tensor of the
 *   layout and sizes of a weight stays as it is, and so does a filter.
 * - Products: the rows of the first operand and of what is laid out as the result scale; of a
 *   weight's gradient the rows of both operands.
 * - All others: a first size that is the batch; rows of matrices and lengths of vectors that are
 *   among the batch's row counts: the batch, rows of products, and of N x S x H tensors N times S.
 *   Vectors of a bit for each element of another tensor of the call (masks) scale with it.
 *
 * Rows in blocks of 16 hold the batch where it, or a multiple of it, fills them but for padding.
 * How well this does on published runs is in docs/network.md. */
#include "network/variant.h"

#include "network/operator_time.h"
#include "network/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, BITS = 8, MOST_BLOCKS = 1 << 20 };

struct rule {
    int64_t batch, to;
    const struct operator_tensor **weights; /* sorted */
    int64_t *rows;                          /* sorted */
    int64_t weight_count, row_count;
    int64_t exact; /* sizes that were scaled and are without padding */
};

/* ------------------------------------------------------------------ sorted lists */

static int compare_tensors(const void *left, const void *right)
{
    const struct operator_tensor *a = *(const struct operator_tensor *const *)left,
                                 *b = *(const struct operator_tensor *const *)right;
    if (a->format != b->format)
        return a->format < b->format ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank - b->rank;
    for (int d = 0; d < a->rank; d++)
        if (a->size[d] != b->size[d])
            return a->size[d] < b->size[d] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool is_weight(const struct rule *rule, const struct operator_tensor *tensor)
{
    return bsearch(&tensor, rule->weights, (size_t)rule->weight_count, sizeof(const void *),
                   compare_tensors) != NULL;
}

static bool has_rows(const struct rule *rule, int64_t rows)
{
    return bsearch(&rows, rule->rows, (size_t)rule->row_count, sizeof rows, compare_rows) != NULL;
}

/* ------------------------------------------------------------------ what calls tell */

static bool is_optimiser(const struct operator_call *call)
{
    static const char *const parts[] = {"Apply", "Assign", "Adam", "Lamb", "Momentum", "SGD"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call->op_type, parts[i]))
            return true;
    return false;
}

/* A product of which all samples are in one matrix. */
static bool is_matrix_product(const struct operator_call *call, struct product *product)
{
    return call_multiplies(call) && call_product(call, product) && product->batch == 1;
}

/* Where a matrix has its rows; negative: it is none. */
static int row_place(const struct operator_tensor *tensor)
{
    if (tensor->format == FORMAT_NZ)
        return tensor->rank - 3;
    return tensor->format == FORMAT_ND && tensor->rank > 1 ? tensor->rank - 2 : -1;
}

static int64_t row_count(const struct operator_tensor *tensor)
{
    int place = row_place(tensor);
    return place < 0 ? 0 : tensor->size[place] * (tensor->format == FORMAT_NZ ? BLOCK : 1);
}

static void add_weights(struct rule *rule, const struct operator_tensor *tensors, int count)
{
    for (int t = 0; t < count; t++)
        rule->weights[rule->weight_count++] = &tensors[t];
}

static void learn_product(struct rule *rule, const struct operator_call *call,
                          const struct product *product)
{
    rule->rows[rule->row_count++] = row_count(&call->inputs[0]);
    if (product->transpose_a) {
        add_weights(rule, call->outputs, call->output_count);
        return;
    }
    add_weights(rule, &call->inputs[1], 1);
    for (int t = 2; t < call->input_count; t++)
        add_weights(rule, &call->inputs[t], call->inputs[t].rank == 1);
}

static void learn_call(struct rule *rule, const struct operator_call *call)
{
    struct product product;
    if (is_optimiser(call))
        add_weights(rule, call->inputs, call->input_count + call->output_count);
    else if (is_matrix_product(call, &product))
        learn_product(rule, call, &product);
    for (int t = 0; t < call->input_count + call->output_count; t++) {
        const struct operator_tensor *tensor = &call->inputs[t];
        if (tensor->format == FORMAT_ND && tensor->rank == 3 && tensor->size[0] == rule->batch)
            rule->rows[rule->row_count++] = tensor->size[0] * tensor->size[1];
    }
}

static enum status learn(struct rule *rule, const struct network *network, struct error *error)
{
    size_t most = 1;
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_call *call = &network->calls[i];
        most += (size_t)call->input_count + (size_t)call->output_count;
    }
    rule->weights = malloc(most * sizeof(const void *));
    rule->rows = malloc(most * sizeof *rule->rows);
    if (!rule->weights || !rule->rows)
        return error_memory(error);
    rule->rows[rule->row_count++] = rule->batch;
    for (int64_t i = 0; i < network->call_count; i++)
        learn_call(rule, &network->calls[i]);
    qsort(rule->weights, (size_t)rule->weight_count, sizeof(const void *), compare_tensors);
    qsort(rule->rows, (size_t)rule->row_count, sizeof *rule->rows, compare_rows);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ sizes */

/* A size in units of `unit`, which holds one of these a sample and padding, or so many a sample
 * that there is no padding; any other stays. One that grows beyond all tensors becomes larger than
 * any. */
static void scale(struct rule *rule, int64_t *size, int64_t unit)
{
    bool is_one = (rule->batch + unit - 1) / unit == *size;
    int64_t each = is_one ? 1 : *size * unit / rule->batch;
    if (each == 0 || (each * rule->batch + unit - 1) / unit != *size)
        return;
    rule->exact += *size * unit % rule->batch == 0;
    *size = each > TENSOR_MAX_BYTES / rule->to ? TENSOR_MAX_BYTES + 1
                                               : (each * rule->to + unit - 1) / unit;
}

static void scale_rows(struct rule *rule, struct operator_tensor *tensor)
{
    scale(rule, &tensor->size[row_place(tensor)], tensor->format == FORMAT_NZ ? BLOCK : 1);
}

static void scale_product(struct rule *rule, struct operator_call *call,
                          const struct product *product)
{
    int64_t rows = row_count(&call->outputs[0]);
    scale_rows(rule, &call->inputs[0]);
    if (product->transpose_a)
        scale_rows(rule, &call->inputs[1]);
    for (int t = 2; t < call->input_count + call->output_count && !product->transpose_a; t++)
        if (row_place(&call->inputs[t]) >= 0 && row_count(&call->inputs[t]) == rows)
            scale_rows(rule, &call->inputs[t]);
}

static bool is_mask(const struct operator_call *call, const struct operator_tensor *tensor)
{
    for (int t = 0; t < call->input_count + call->output_count; t++)
        if (tensor->rank == 1 && call->inputs[t].rank > 1 &&
            operator_tensor_elements(&call->inputs[t]) == BITS * tensor->size[0])
            return true;
    return false;
}

/* `call` still has the sizes of before, `tensor` is one of its copy's. */
static void scale_tensor(struct rule *rule, const struct operator_call *call,
                         struct operator_tensor *tensor)
{
    int rank = tensor->rank;
    if (rank == 0 || tensor->format == FORMAT_Z || tensor->format == FORMAT_OTHER ||
        is_weight(rule, tensor))
        return;
    if (tensor->format == FORMAT_NZ && rank == 4) {
        if (has_rows(rule, row_count(tensor)))
            scale_rows(rule, tensor);
    } else if (tensor->size[0] == rule->batch || (tensor->format == FORMAT_NZ && rank > 4) ||
               (rank <= 2 && has_rows(rule, tensor->size[0])) || is_mask(call, tensor)) {
        scale(rule, &tensor->size[0], 1);
    }
}

static void scale_call(struct rule *rule, const struct operator_call *call,
                       struct operator_call *copy)
{
    struct product product;
    if (is_optimiser(call))
        return;
    if (is_matrix_product(call, &product)) {
        scale_product(rule, copy, &product);
        return;
    }
    for (int t = 0; t < call->input_count + call->output_count; t++)
        scale_tensor(rule, call, &copy->inputs[t]);
}

/* ------------------------------------------------------------------ copies */

static enum status copy_call(struct rule *rule, const struct operator_call *call,
                             struct network *other, struct error *error)
{
    struct operator_call *copy;
    int tensors = call->input_count + call->output_count;
    TRY(network_add(other, call->op_type, call->name, call->input_count, call->output_count, &copy,
                    error));
    memcpy(copy->inputs, call->inputs, (size_t)tensors * sizeof *copy->inputs);
    copy->line = call->line;
    copy->block_dim = call->block_dim;
    copy->count = call->count;
    copy->count_gradients = call->count_gradients;
    copy->measured_ns = rule->to == rule->batch ? call->measured_ns : 0;
    copy->is_l_kind = call->is_l_kind;
    if (call->uncovered && !(copy->uncovered = strdup(call->uncovered)))
        return error_memory(error);
    if (rule->to == rule->batch)
        return STATUS_OK;
    scale_call(rule, call, copy);
    for (int t = 0; t < tensors; t++)
        if (!tensor_measure(&copy->inputs[t]))
            return error_set(error, STATUS_TOO_LARGE,
                             "%s: line %d: tensor %d has more than %lld bytes at batch %lld",
                             other->name, call->line, t + 1, (long long)TENSOR_MAX_BYTES,
                             (long long)rule->to);
    return STATUS_OK;
}

static enum status copy_calls(struct rule *rule, const struct network *network,
                              struct network *other, struct error *error)
{
    if (rule->to != rule->batch && rule->batch < 2)
        return error_set(error, STATUS_INVALID,
                         "%s: a batch of %lld does not tell which sizes hold it, expected a table "
                         "of 2 or more samples",
                         network->name, (long long)rule->batch);
    if (rule->to != rule->batch)
        TRY(learn(rule, network, error));
    for (int64_t i = 0; i < network->call_count; i++)
        TRY(copy_call(rule, &network->calls[i], other, error));
    if (rule->to != rule->batch && rule->exact == 0)
        return error_set(error, STATUS_INVALID,
                         "%s: no size holds a batch of %lld, expected the batch that the table is "
                         "of",
                         network->name, (long long)rule->batch);
    return STATUS_OK;
}

enum status network_at_batch(const struct network *network, int64_t batch, struct network *other,
                             struct error *error)
{
    struct rule rule = {.batch = network->batch, .to = batch};
    TRY(network_begin(network->name, other, error));
    other->batch = batch;
    enum status status = copy_calls(&rule, network, other, error);
    free(rule.weights);
    free(rule.rows);
    if (status != STATUS_OK)
        network_free(other);
    return status;
}

/* ------------------------------------------------------------------ launches */

/* As many as are taken where none are known. */
static double estimated(const struct operator_call *call, const struct hardware *hw)
{
    struct call_sizes sizes;
    struct operator_call unknown = *call;
    unknown.block_dim = 0;
    call_measure(&unknown, hw, &sizes);
    return sizes.blocks;
}

void network_relaunch(struct network *other, const struct hardware *to,
                      const struct network *network, const struct hardware *from)
{
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_call *call = &network->calls[i];
        struct operator_call *copy = &other->calls[i];
        double blocks = call->block_dim * estimated(copy, to) / estimated(call, from);
        if (call->block_dim > 0)
            copy->block_dim = (int)fmin(fmax(round(blocks), 1), MOST_BLOCKS);
    }
}
