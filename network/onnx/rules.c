/* The table of operators, sorted by nothing but their kind, and the rules that need no file of
 * their own: products, sums along axes, and what leaves a shape as it is. Kernels' names are those
 * of MindSpore's and CANN's operator libraries, where there is such a kernel. */
#include "network/onnx/rules.h"

#include <string.h>

static enum node_state same(struct onnx_node *node)
{
    node->out[0].is_map = node->in[0]->is_map;
    return node_set(node, 0, node->in[0]->rank, node->in[0]->size);
}

static enum node_state identity(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    node->out[0].is_held = x->is_held;
    memcpy(node->out[0].numbers, x->numbers, sizeof x->numbers);
    return same(node);
}

static enum node_state gemm(struct onnx_node *node)
{
    const struct onnx_value *a = node->in[0], *b = node->in[1];
    bool a_t = node_int(node, "transA", 0) != 0, b_t = node_int(node, "transB", 0) != 0;
    if (a->rank != 2 || b->rank != 2)
        return node_wrong(node, "inputs have %d and %d dimensions, expected 2", a->rank, b->rank);
    if (a->size[!a_t] != b->size[b_t])
        return node_wrong(node, "A has %lld columns, B %lld rows", (long long)a->size[!a_t],
                          (long long)b->size[b_t]);
    return node_set(node, 0, 2, (int64_t[]){a->size[a_t], b->size[!b_t]});
}

/* ONNX's MatMul is numpy's: vectors get a dimension of 1, which the result loses again. */
static enum node_state matmul(struct onnx_node *node)
{
    const struct onnx_value *a = node->in[0], *b = node->in[1];
    if (a->rank == 0 || b->rank == 0)
        return node_wrong(node, "an input is a scalar");
    int64_t m = a->rank > 1 ? a->size[a->rank - 2] : 1, k = a->size[a->rank - 1];
    int64_t n = b->rank > 1 ? b->size[b->rank - 1] : 1, size[TENSOR_MAX_RANK + 2];
    int rank = a->rank > 2 ? a->rank - 2 : 0;
    memcpy(size, a->size, (size_t)rank * sizeof *size);
    if (k != b->size[b->rank > 1 ? b->rank - 2 : 0])
        return node_wrong(node, "A has %lld columns, B %lld rows", (long long)k,
                          (long long)b->size[b->rank > 1 ? b->rank - 2 : 0]);
    enum node_state state = broadcast(node, b->rank > 2 ? b->rank - 2 : 0, b->size, &rank, size);
    if (a->rank > 1)
        size[rank++] = m;
    if (b->rank > 1)
        size[rank++] = n;
    return state == NODE_FOUND ? node_set(node, 0, rank, size) : state;
}

/* Along the axes of an attribute or an input, all where neither names any. */
static enum node_state reduce(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t axes[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK];
    bool gone[TENSOR_MAX_RANK] = {false}, keeps = node_int(node, "keepdims", 1) != 0;
    int count = node_list(node, "axes", 1, axes), rank = 0;
    if (count == NODE_NOT_HELD)
        return node_unknown(node, "its axes are computed from what the file does not tell");
    for (int i = 0; i < count; i++) {
        int axis = node_axis(axes[i], x->rank);
        if (axis < 0)
            return node_wrong(node, "axis %lld: expected %d to %d", (long long)axes[i], -x->rank,
                              x->rank - 1);
        gone[axis] = true;
    }
    for (int d = 0; d < x->rank; d++)
        if (keeps || !(gone[d] || count <= 0))
            size[rank++] = gone[d] || count <= 0 ? 1 : x->size[d];
    node->out[0].is_map = x->is_map && keeps && count > 0 && !gone[0] && !gone[1];
    return node_set(node, 0, rank, size);
}

static enum node_state arg(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int axis = node_axis(node_int(node, "axis", 0), x->rank), rank = 0;
    bool keeps = node_int(node, "keepdims", 1) != 0;
    int64_t size[TENSOR_MAX_RANK];
    if (axis < 0)
        return node_wrong(node, "axis: expected %d to %d", -x->rank, x->rank - 1);
    for (int d = 0; d < x->rank; d++)
        if (d != axis || keeps)
            size[rank++] = d == axis ? 1 : x->size[d];
    node->out[0].type = DTYPE_I64;
    return node_set(node, 0, rank, size);
}

static enum node_state layer_norm(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int axis = node_axis(node_int(node, "axis", -1), x->rank);
    int64_t size[TENSOR_MAX_RANK];
    if (axis < 0)
        return node_wrong(node, "axis: expected %d to %d", -x->rank, x->rank - 1);
    for (int d = 0; d < x->rank; d++)
        size[d] = d < axis ? x->size[d] : 1;
    for (int o = 1; o < node->out_count; o++) {
        enum node_state state = node_set(node, o, x->rank, size);
        if (state != NODE_FOUND)
            return state;
    }
    return same(node);
}

static enum node_state dropout(struct onnx_node *node)
{
    if (node->out_count > 1)
        node->out[1].type = DTYPE_BOOL;
    enum node_state state = node_set(node, 1, node->in[0]->rank, node->in[0]->size);
    return state == NODE_FOUND ? same(node) : state;
}

static enum node_state as_places(struct onnx_node *node)
{
    return node_set(node, 0, node->in[1]->rank, node->in[1]->size);
}

static const struct onnx_operator operators[] = {
    {"Conv", "Conv2D", 2, rule_conv},
    {"ConvTranspose", "Conv2DTranspose", 2, rule_conv_transpose},
    {"Gemm", "MatMul", 2, gemm},
    {"MatMul", "MatMul", 2, matmul},
    {"MaxPool", "MaxPool", 1, rule_pool},
    {"AveragePool", "AvgPool", 1, rule_pool},
    {"GlobalAveragePool", "ReduceMean", 1, rule_global_pool},
    {"GlobalMaxPool", "ReduceMax", 1, rule_global_pool},
    {"BatchNormalization", "BNInfer", 5, same},
    {"LayerNormalization", "LayerNorm", 2, layer_norm},
    {"InstanceNormalization", "InstanceNorm", 3, same},
    {"LRN", "LRN", 1, same},
    {"Softmax", "Softmax", 1, same},
    {"LogSoftmax", "LogSoftmax", 1, same},
    {"Relu", "ReLU", 1, same},
    {"LeakyRelu", "LeakyRelu", 1, same},
    {"PRelu", "PReLU", 2, same},
    {"Elu", "Elu", 1, same},
    {"Selu", "Selu", 1, same},
    {"HardSigmoid", "HardSigmoid", 1, same},
    {"HardSwish", "HSwish", 1, same},
    {"Softplus", "Softplus", 1, same},
    {"Mish", "Mish", 1, same},
    {"Gelu", "GeLU", 1, same},
    {"Sigmoid", "Sigmoid", 1, same},
    {"Tanh", "Tanh", 1, same},
    {"Erf", "Erf", 1, same},
    {"Exp", "Exp", 1, same},
    {"Log", "Log", 1, same},
    {"Sqrt", "Sqrt", 1, same},
    {"Reciprocal", "Reciprocal", 1, same},
    {"Neg", "Neg", 1, same},
    {"Abs", "Abs", 1, same},
    {"Floor", "Floor", 1, same},
    {"Ceil", "Ceil", 1, same},
    {"Round", "Round", 1, same},
    {"Sign", "Sign", 1, same},
    {"Sin", "Sin", 1, same},
    {"Cos", "Cos", 1, same},
    {"Clip", "ClipByValue", 1, same},
    {"Not", "LogicalNot", 1, same},
    {"CumSum", "CumSum", 2, same},
    {"ScatterND", "ScatterNd", 3, same},
    {"Trilu", "Tril", 1, same},
    {"Add", "Add", 2, rule_broadcast},
    {"Sub", "Sub", 2, rule_broadcast},
    {"Mul", "Mul", 2, rule_broadcast},
    {"Div", "RealDiv", 2, rule_broadcast},
    {"Pow", "Pow", 2, rule_broadcast},
    {"Mod", "Mod", 2, rule_broadcast},
    {"Min", "Minimum", 1, rule_broadcast},
    {"Max", "Maximum", 1, rule_broadcast},
    {"Sum", "AddN", 1, rule_broadcast},
    {"Equal", "Equal", 2, rule_compare},
    {"Less", "Less", 2, rule_compare},
    {"LessOrEqual", "LessEqual", 2, rule_compare},
    {"Greater", "Greater", 2, rule_compare},
    {"GreaterOrEqual", "GreaterEqual", 2, rule_compare},
    {"And", "LogicalAnd", 2, rule_compare},
    {"Or", "LogicalOr", 2, rule_compare},
    {"Where", "Select", 3, rule_where},
    {"Cast", "Cast", 1, rule_cast},
    {"ReduceMean", "ReduceMean", 1, reduce},
    {"ReduceSum", "ReduceSum", 1, reduce},
    {"ReduceMax", "ReduceMax", 1, reduce},
    {"ReduceMin", "ReduceMin", 1, reduce},
    {"ReduceProd", "ReduceProd", 1, reduce},
    {"ReduceL2", "LpNorm", 1, reduce},
    {"ReduceSumSquare", "SquareSumV2", 1, reduce},
    {"ArgMax", "ArgMax", 1, arg},
    {"ArgMin", "ArgMin", 1, arg},
    {"Transpose", "Transpose", 1, rule_transpose},
    {"Concat", "Concat", 1, rule_concat},
    {"Split", "Split", 1, rule_split},
    {"Slice", "StridedSlice", 1, rule_slice},
    {"Gather", "Gather", 2, rule_gather},
    {"GatherElements", "GatherD", 2, as_places},
    {"Expand", "BroadcastTo", 2, rule_expand},
    {"Tile", "Tile", 2, rule_tile},
    {"Pad", "Pad", 1, rule_pad},
    {"Resize", "Resize", 1, rule_resize},
    {"Upsample", "Resize", 1, rule_resize},
    {"DepthToSpace", "DepthToSpace", 1, rule_depth_to_space},
    {"SpaceToDepth", "SpaceToDepth", 1, rule_space_to_depth},
    {"Range", "Range", 3, rule_range},
    {"ConstantOfShape", "Fill", 1, rule_constant_of_shape},
    {"Identity", NULL, 1, identity},
    {"Dropout", NULL, 1, dropout},
    {"Reshape", NULL, 1, rule_reshape},
    {"Flatten", NULL, 1, rule_flatten},
    {"Squeeze", NULL, 1, rule_squeeze},
    {"Unsqueeze", NULL, 1, rule_unsqueeze},
    {"Shape", NULL, 1, rule_shape},
    {"Constant", NULL, 0, rule_constant},
};

const struct onnx_operator *onnx_operator_find(const char *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, name) == 0)
            return &operators[i];
    return NULL;
}
