/* Feature maps of convolutions are NC1HWC0, filters FRACTAL_Z, operands and results of products
 * FRACTAL_NZ, everything else as it is (core formats of CANN's operator library). A map that an
 * operator of another layout reads is converted once, and the reverse. Products read and leave
 * FRACTAL_NZ without a conversion of their own: libraries keep that layout between them. */
#include "network/onnx/calls.h"

#include "formats/text.h"
#include "network/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_real(enum dtype type)
{
    return type == DTYPE_F32 || type == DTYPE_F16 || type == DTYPE_BF16;
}

/* False where it is more than a tensor may be. */
static bool set_tensor(const struct onnx_value *v, enum tensor_format format, enum dtype reals,
                       struct operator_tensor *t)
{
    return tensor_lay_out(v->size, v->rank, format, is_real(v->type) ? reals : v->type, t);
}

static enum tensor_format format_of(const struct onnx_node *node, const struct onnx_value *v,
                                    int input)
{
    const char *name = node->proto->op_type;
    bool is_product = strcmp(name, "MatMul") == 0 || strcmp(name, "Gemm") == 0;
    if (is_product && v->rank >= 2 && v->rank <= TENSOR_MAX_RANK - 2 && input < 2)
        return FORMAT_NZ;
    if (strncmp(name, "Conv", 4) == 0 && input == 1 && v->rank == 4)
        return FORMAT_Z;
    return v->is_map || (v->rank == 4 && node->out[0].is_map && !v->is_constant) ? FORMAT_NC1HWC0
                                                                                 : FORMAT_ND;
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
                           struct onnx_value *v, enum tensor_format wanted, size_t number,
                           enum dtype reals, struct error *error)
{
    struct operator_call *call;
    if (v->is_constant || v->is_both || v->rank != 4 || (wanted == FORMAT_NC1HWC0) == v->is_map)
        return STATUS_OK;
    TRY(new_call(network, node, "TransData", 1, 1, number, &call, error));
    if (!set_tensor(v, v->is_map ? FORMAT_NC1HWC0 : FORMAT_ND, reals, call->inputs) ||
        !set_tensor(v, wanted == FORMAT_NC1HWC0 ? FORMAT_NC1HWC0 : FORMAT_ND, reals, call->outputs))
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
                    format_of(node, node->in[i], i) == FORMAT_NC1HWC0 && node->out[0].is_map
                        ? FORMAT_NC1HWC0
                        : FORMAT_ND,
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
        enum tensor_format format = format_of(node, &value, i);
        is_in_range &= set_tensor(
            &value, format == FORMAT_NC1HWC0 && !node->out[0].is_map ? FORMAT_ND : format, reals,
            &call->inputs[t++]);
    }
    for (int o = 0, t = 0; o < node->out_count; o++) {
        struct onnx_value value = node->out[o];
        if (!value.is_known)
            continue;
        if (is_product)
            join_rows(node->in[1], &value);
        is_in_range &= set_tensor(&value, format_of(node, &value, 0), reals, &call->outputs[t++]);
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
            return convert(network, node, node->in[0], FORMAT_ND, number, reals, error);
        return STATUS_OK;
    }
    return add_kernel(network, node, op, number, reals, error);
}
