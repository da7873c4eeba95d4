/* Feature maps of convolutions are NC1HWC0, filters FRACTAL_Z, operands and results of products
 * FRACTAL_NZ, everything else as it is (core formats of CANN's operator library). A map that an
 * operator of another layout reads is converted once, and the reverse. Products read and leave
 * FRACTAL_NZ without a conversion of their own: libraries keep that layout between them. */
#include "network/onnx/calls.h"

#include "formats/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum layout { PLAIN, MAP, FILTER, NZ, LAYOUTS };

static int64_t blocks(int64_t elements)
{
    return (elements + 15) / 16;
}

static void plain(const struct onnx_value *v, struct operator_tensor *t)
{
    t->format = FORMAT_ND;
    t->rank = v->rank;
    memcpy(t->size, v->size, sizeof v->size);
}

static void map(const struct onnx_value *v, struct operator_tensor *t)
{
    const int64_t size[] = {v->size[0], blocks(v->size[1]), v->size[2], v->size[3], 16};
    t->format = FORMAT_NC1HWC0;
    t->rank = 5;
    memcpy(t->size, size, sizeof size);
}

static void filter(const struct onnx_value *v, struct operator_tensor *t)
{
    const int64_t size[] = {blocks(v->size[1]) * v->size[2] * v->size[3], blocks(v->size[0]), 16,
                            16};
    t->format = FORMAT_Z;
    t->rank = 4;
    memcpy(t->size, size, sizeof size);
}

/* The last two dimensions in blocks, those before them as they are. */
static void nz(const struct onnx_value *v, struct operator_tensor *t)
{
    int batch = v->rank - 2;
    t->format = FORMAT_NZ;
    t->rank = v->rank + 2;
    memcpy(t->size, v->size, (size_t)batch * sizeof *t->size);
    const int64_t size[] = {blocks(v->size[batch + 1]), blocks(v->size[batch]), 16, 16};
    memcpy(t->size + batch, size, sizeof size);
}

static void (*const fill[LAYOUTS])(const struct onnx_value *v, struct operator_tensor *t) = {
    [PLAIN] = plain, [MAP] = map, [FILTER] = filter, [NZ] = nz};

static bool is_real(enum dtype type)
{
    return type == DTYPE_F32 || type == DTYPE_F16 || type == DTYPE_BF16;
}

/* False where it is more than a tensor may be. */
static bool set_tensor(const struct onnx_value *v, enum layout layout, enum dtype reals,
                       struct operator_tensor *t)
{
    fill[layout](v, t);
    t->type = is_real(v->type) ? reals : v->type;
    return tensor_measure(t);
}

static enum layout layout_of(const struct onnx_node *node, const struct onnx_value *v, int input)
{
    const char *name = node->proto->op_type;
    bool is_product = strcmp(name, "MatMul") == 0 || strcmp(name, "Gemm") == 0;
    if (is_product && v->rank >= 2 && v->rank <= TENSOR_MAX_RANK - 2 && input < 2)
        return NZ;
    if (strncmp(name, "Conv", 4) == 0 && input == 1 && v->rank == 4)
        return FILTER;
    return v->is_map || (v->rank == 4 && node->out[0].is_map && !v->is_constant) ? MAP : PLAIN;
}

/* Rows of A times one matrix are one product: N, S, K becomes N*S, K. */
static void join_rows(const struct onnx_value *b, struct onnx_value *rows)
{
    if (!b || b->rank > 2 || rows->rank < 3)
        return;
    int64_t last = rows->size[rows->rank - 1];
    rows->size[0] = last ? value_elements(rows) / last : 0;
    rows->size[1] = last;
    rows->rank = 2;
}

static const char *kernel_of(const struct onnx_node *node, const struct onnx_operator *op)
{
    const struct onnx_value *x = node_input(node, 0), *b = node_input(node, 1);
    if (strcmp(op->name, "MatMul") == 0 && b->rank > 2)
        return "BatchMatMul";
    if (strcmp(op->name, "Conv") == 0 && x->rank == 4 && node_int(node, "group", 1) > 1 &&
        node_int(node, "group", 1) == x->size[1])
        return "DepthwiseConv2D";
    return op->op_type;
}

static enum status new_call(struct network *network, const struct onnx_node *node,
                            const char *op_type, int in_count, int out_count, size_t number,
                            struct operator_call **call, struct error *error)
{
    char type[TEXT_LINE_SIZE], name[TEXT_LINE_SIZE];
    TRY(network_add(network, text_line(op_type, type), text_line(node_name(node), name), in_count,
                    out_count, call, error));
    (*call)->line = (int)(number + 1);
    (*call)->window = node->window;
    return STATUS_OK;
}

static enum status too_large(const struct network *network, const struct onnx_node *node,
                             struct error *error)
{
    char line[TEXT_LINE_SIZE];
    return error_set(error, STATUS_TOO_LARGE,
                     "%s: node '%.100s' has a tensor of more than %lld bytes", network->name,
                     text_line(node_name(node), line), (long long)TENSOR_MAX_BYTES);
}

/* Brings a value into the other layout, once. */
static enum status convert(struct network *network, const struct onnx_node *node,
                           struct onnx_value *v, enum layout wanted, size_t number,
                           enum dtype reals, struct error *error)
{
    struct operator_call *call;
    if (v->is_constant || v->is_both || v->rank != 4 || (wanted == MAP) == v->is_map)
        return STATUS_OK;
    TRY(new_call(network, node, "TransData", 1, 1, number, &call, error));
    if (!set_tensor(v, v->is_map ? MAP : PLAIN, reals, call->inputs) ||
        !set_tensor(v, wanted == MAP ? MAP : PLAIN, reals, call->outputs))
        return too_large(network, node, error);
    v->is_both = true;
    return STATUS_OK;
}

static enum status add_uncovered(struct network *network, const struct onnx_node *node,
                                 size_t number, struct error *error)
{
    struct operator_call *call;
    TRY(new_call(network, node, node->proto->op_type, 0, 0, number, &call, error));
    call->uncovered = strdup(node->why);
    return call->uncovered ? STATUS_OK : error_memory(error);
}

/* Does the library run nothing for it? */
static bool is_free(const struct onnx_node *node, const struct onnx_operator *op)
{
    return !op->op_type || node->out[0].is_constant || node->out[0].is_held;
}

static enum status add_kernel(struct network *network, struct onnx_node *node,
                              const struct onnx_operator *op, size_t number, enum dtype reals,
                              struct error *error)
{
    struct operator_call *call;
    int inputs = 0, outputs = 0;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i])
            continue;
        TRY(convert(network, node, node->in[i],
                    layout_of(node, node->in[i], i) == MAP && node->out[0].is_map ? MAP : PLAIN,
                    number, reals, error));
        inputs++;
    }
    for (int o = 0; o < node->out_count; o++)
        outputs += node->out[o].is_known;
    const char *kernel = kernel_of(node, op);
    TRY(new_call(network, node, kernel, inputs, outputs, number, &call, error));
    bool is_product = strcmp(op->op_type, "MatMul") == 0, is_in_range = true;
    for (int i = 0, t = 0; i < node->in_count; i++) {
        if (!node->in[i])
            continue;
        struct onnx_value value = *node->in[i];
        if (is_product && i == 0)
            join_rows(node->in[1], &value);
        enum layout layout = layout_of(node, &value, i);
        is_in_range &= set_tensor(&value, layout == MAP && !node->out[0].is_map ? PLAIN : layout,
                                  reals, &call->inputs[t++]);
    }
    for (int o = 0, t = 0; o < node->out_count; o++) {
        struct onnx_value value = node->out[o];
        if (!value.is_known)
            continue;
        if (is_product)
            join_rows(node->in[1], &value);
        is_in_range &= set_tensor(&value, layout_of(node, &value, 0), reals, &call->outputs[t++]);
    }
    call->is_l_kind = network_is_l_kind(call);
    return is_in_range ? STATUS_OK : too_large(network, node, error);
}

enum status onnx_calls_add(struct network *network, struct onnx_node *node,
                           const struct onnx_operator *op, bool is_unknown, size_t number,
                           enum dtype reals, struct error *error)
{
    if (is_unknown)
        return add_uncovered(network, node, number, error);
    if (is_free(node, op)) {
        /* Another view of a map needs it as it is. */
        if (node_input(node, 0) && !op->op_type && node->in[0]->is_map && !node->out[0].is_map)
            return convert(network, node, node->in[0], PLAIN, number, reals, error);
        return STATUS_OK;
    }
    return add_kernel(network, node, op, number, reals, error);
}
