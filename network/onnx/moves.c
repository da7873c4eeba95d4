/* Shapes of operators that move elements without changing them, as onnx.ai/onnx/operators defines
 * them. Where an operator's newer form reads a list from an input and its older one from an
 * attribute, either is taken. What a list of numbers holds is followed through them, for exporters
 * compute shapes by such nodes. */
#include "network/onnx/rules.h"

#include <string.h>

static const char *const not_held = "its sizes are computed from what the file does not tell";

/* The result holds these numbers. */
static void hold(struct onnx_value *out, const double *numbers, int64_t count)
{
    out->is_held = out->rank <= 1 && count <= VALUE_MAX_NUMBERS;
    if (out->is_held && count > 0)
        memmove(out->numbers, numbers, (size_t)count * sizeof *numbers);
}

/* The same elements in another shape. */
static enum node_state reshaped(struct onnx_node *node, int rank, const int64_t *size)
{
    const struct onnx_value *x = node->in[0];
    enum node_state state = node_set(node, 0, rank, size);
    if (state == NODE_FOUND && value_elements(&node->out[0]) != value_elements(x))
        return node_wrong(node, "its result has %lld elements, its input %lld",
                          (long long)value_elements(&node->out[0]), (long long)value_elements(x));
    if (state == NODE_FOUND && x->is_held)
        hold(&node->out[0], x->numbers, value_elements(x));
    return state;
}

enum node_state rule_reshape(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t size[VALUE_MAX_NUMBERS], known = 1;
    int open = -1, rank = node_list(node, "shape", 1, size);
    if (rank < 0)
        return node_unknown(node, not_held);
    for (int d = 0; d < rank; d++) {
        if (d < x->rank && size[d] == 0 && !node_int(node, "allowzero", 0))
            size[d] = x->size[d];
        if (size[d] < -1 || size[d] > TENSOR_MAX_BYTES || (size[d] == -1 && open >= 0))
            return node_wrong(node, "its shape has %lld, expected sizes and at most one -1",
                              (long long)size[d]);
        if (size[d] == -1)
            open = d;
        else if (size[d] > 0 && known > TENSOR_MAX_BYTES / size[d])
            return node_wrong(node, "its shape is more than %lld elements",
                              (long long)TENSOR_MAX_BYTES);
        else
            known *= size[d];
    }
    if (open >= 0)
        size[open] = known ? value_elements(x) / known : 0;
    return reshaped(node, rank, size);
}

enum node_state rule_flatten(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t axis = node_int(node, "axis", 1), size[2] = {1, 1};
    if (axis < -x->rank || axis > x->rank)
        return node_wrong(node, "axis %lld: expected %d to %d", (long long)axis, -x->rank, x->rank);
    axis += axis < 0 ? x->rank : 0;
    for (int d = 0; d < x->rank; d++)
        size[d >= axis] *= x->size[d];
    return reshaped(node, 2, size);
}

/* Which axes of a rank the list of axes names; false where one is out of it. */
static bool mark_axes(struct onnx_node *node, const int64_t *axes, int count, int rank,
                      bool *marked)
{
    memset(marked, 0, TENSOR_MAX_RANK * sizeof *marked);
    for (int i = 0; i < count; i++) {
        int axis = node_axis(axes[i], rank);
        if (axis < 0) {
            node_wrong(node, "axis %lld: expected %d to %d", (long long)axes[i], -rank, rank - 1);
            return false;
        }
        marked[axis] = true;
    }
    return true;
}

enum node_state rule_squeeze(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t axes[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK];
    bool marked[TENSOR_MAX_RANK];
    int count = node_list(node, "axes", 1, axes), rank = 0;
    if (count == NODE_NOT_HELD)
        return node_unknown(node, not_held);
    if (!mark_axes(node, axes, count > 0 ? count : 0, x->rank, marked))
        return NODE_WRONG;
    for (int d = 0; d < x->rank; d++)
        if (count <= 0 ? x->size[d] != 1 : !marked[d])
            size[rank++] = x->size[d];
    return reshaped(node, rank, size);
}

enum node_state rule_unsqueeze(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t axes[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK];
    bool marked[TENSOR_MAX_RANK];
    int count = node_list(node, "axes", 1, axes), from = 0;
    if (count < 0)
        return node_unknown(node, not_held);
    int rank = x->rank + count;
    if (rank > TENSOR_MAX_RANK)
        return node_wrong(node, "its result has %d dimensions, expected up to %d", rank,
                          TENSOR_MAX_RANK);
    if (!mark_axes(node, axes, count, rank, marked))
        return NODE_WRONG;
    for (int d = 0; d < rank; d++) {
        if (!marked[d] && from == x->rank)
            return node_wrong(node, "axes: one is named twice");
        size[d] = marked[d] ? 1 : x->size[from++];
    }
    return reshaped(node, rank, size);
}

enum node_state rule_transpose(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    const int64_t *perm;
    int64_t size[TENSOR_MAX_RANK];
    bool marked[TENSOR_MAX_RANK];
    int count = node_ints(node, "perm", &perm);
    if (count && count != x->rank)
        return node_wrong(node, "perm has %d axes, expected %d", count, x->rank);
    if (!mark_axes(node, perm, count, x->rank, marked))
        return NODE_WRONG;
    for (int d = 0; d < x->rank; d++) {
        if (count && !marked[d])
            return node_wrong(node, "perm: expected every axis once");
        size[d] = x->size[count ? node_axis(perm[d], x->rank) : x->rank - 1 - d];
    }
    return reshaped(node, x->rank, size);
}

enum node_state rule_concat(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    struct onnx_value *out = &node->out[0];
    int64_t size[TENSOR_MAX_RANK], along = 0, held = 0;
    int axis = node_axis(node_int(node, "axis", 1), x->rank);
    bool is_held = x->rank == 1;
    if (axis < 0)
        return node_wrong(node, "axis: expected %d to %d", -x->rank, x->rank - 1);
    memcpy(size, x->size, sizeof size);
    for (int i = 0; i < node->in_count; i++) {
        const struct onnx_value *in = node->in[i];
        if (!in || in->rank != x->rank)
            return node_wrong(node, "inputs of unlike ranks");
        for (int d = 0; d < x->rank; d++)
            if (d != axis && in->size[d] != x->size[d])
                return node_wrong(node, "inputs %lld and %lld long in dimension %d",
                                  (long long)x->size[d], (long long)in->size[d], d);
        if (along > TENSOR_MAX_BYTES)
            break;
        along += in->size[axis];
        out->is_map |= in->is_map;
        is_held = is_held && in->is_held && along <= VALUE_MAX_NUMBERS;
        for (int64_t n = 0; is_held && n < in->size[0]; n++)
            out->numbers[held++] = in->numbers[n];
    }
    size[axis] = along;
    out->is_held = is_held;
    return node_set(node, 0, x->rank, size);
}

enum node_state rule_split(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t parts[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK], sum = 0;
    int count = node_list(node, "split", 1, parts), all = node->out_count;
    int axis = node_axis(node_int(node, "axis", 0), x->rank);
    if (count == NODE_NOT_HELD)
        return node_unknown(node, not_held);
    if (axis < 0)
        return node_wrong(node, "axis: expected %d to %d", -x->rank, x->rank - 1);
    if (count >= 0 && count != all)
        return node_wrong(node, "split has %d sizes, expected %d", count, all);
    memcpy(size, x->size, sizeof size);
    int64_t even = (x->size[axis] + all - 1) / all;
    for (int o = 0; o < all; o++) {
        int64_t rest = x->size[axis] - sum;
        size[axis] = count >= 0 ? parts[o] : rest < even ? rest : even;
        if (size[axis] < 0 || size[axis] > rest)
            return node_wrong(node, "split: expected sizes of %lld together",
                              (long long)x->size[axis]);
        node->out[o].is_map = x->is_map;
        enum node_state state = node_set(node, o, x->rank, size);
        if (state != NODE_FOUND)
            return state;
        if (x->is_held && x->rank == 1)
            hold(&node->out[o], x->numbers + sum, size[axis]);
        sum += size[axis];
    }
    return NODE_FOUND;
}

/* A position within an axis, clamped to what steps forward or backward may begin and end at. */
static int64_t clamp(int64_t at, int64_t size, int64_t step)
{
    at += at < 0 ? size : 0;
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    return at < least ? least : at > most ? most : at;
}

enum node_state rule_slice(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    struct onnx_value *out = &node->out[0];
    int64_t starts[VALUE_MAX_NUMBERS], ends[VALUE_MAX_NUMBERS], axes[VALUE_MAX_NUMBERS],
        steps[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK], begin = 0, step = 1;
    int count = node_list(node, "starts", 1, starts), axis_count = node_list(node, "axes", 3, axes),
        step_count = node_list(node, "steps", 4, steps);
    if (count < 0 || node_list(node, "ends", 2, ends) != count || axis_count == NODE_NOT_HELD ||
        step_count == NODE_NOT_HELD)
        return node_unknown(node, not_held);
    if ((axis_count >= 0 && axis_count != count) || (step_count >= 0 && step_count != count))
        return node_wrong(node, "starts, ends, axes and steps: expected as many of each");
    memcpy(size, x->size, sizeof size);
    for (int i = 0; i < count; i++) {
        int axis = node_axis(axis_count >= 0 ? axes[i] : i, x->rank);
        step = step_count >= 0 ? steps[i] : 1;
        if (axis < 0 || step == 0 || step > INT32_MAX || step < -INT32_MAX)
            return node_wrong(node, "axes or steps: one is out of range");
        begin = clamp(starts[i], x->size[axis], step);
        int64_t way = clamp(ends[i], x->size[axis], step) - begin;
        size[axis] =
            way == 0 || (way > 0) != (step > 0) ? 0 : (way - (step > 0 ? 1 : -1)) / step + 1;
    }
    enum node_state state = node_set(node, 0, x->rank, size);
    if (state != NODE_FOUND || !x->is_held || x->rank != 1 || count > 1)
        return state;
    out->is_held = true;
    for (int64_t n = 0; n < size[0]; n++)
        out->numbers[n] = x->numbers[begin + n * step];
    return NODE_FOUND;
}

enum node_state rule_gather(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0], *places = node->in[1];
    struct onnx_value *out = &node->out[0];
    int64_t size[2 * TENSOR_MAX_RANK];
    int axis = node_axis(node_int(node, "axis", 0), x->rank), rank = 0;
    if (axis < 0)
        return node_wrong(node, "axis: expected %d to %d", -x->rank, x->rank - 1);
    for (int d = 0; d < axis; d++)
        size[rank++] = x->size[d];
    for (int d = 0; d < places->rank; d++)
        size[rank++] = places->size[d];
    for (int d = axis + 1; d < x->rank; d++)
        size[rank++] = x->size[d];
    enum node_state state = node_set(node, 0, rank, size);
    if (state != NODE_FOUND || !x->is_held || !places->is_held || x->rank != 1)
        return state;
    for (int64_t n = 0; n < value_elements(places); n++) {
        int at = node_axis(whole(places->numbers[n]), (int)x->size[0]);
        if (at < 0)
            return node_wrong(node, "index %.0f: expected one of %lld elements", places->numbers[n],
                              (long long)x->size[0]);
        out->numbers[n] = x->numbers[at];
    }
    out->is_held = true;
    return NODE_FOUND;
}

enum node_state rule_expand(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t wanted[VALUE_MAX_NUMBERS], all[VALUE_MAX_NUMBERS];
    int rank, count = node_list(node, "", 1, wanted);
    if (count < 0)
        return node_unknown(node, not_held);
    if (count > TENSOR_MAX_RANK)
        return node_wrong(node, "its result has %d dimensions, expected up to %d", count,
                          TENSOR_MAX_RANK);
    rank = x->rank;
    memcpy(all, x->size, sizeof x->size);
    enum node_state state = broadcast(node, count, wanted, &rank, all);
    return state == NODE_FOUND ? node_set(node, 0, rank, all) : state;
}

enum node_state rule_tile(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t repeats[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK];
    int count = node_list(node, "", 1, repeats);
    if (count < 0)
        return node_unknown(node, not_held);
    if (count != x->rank)
        return node_wrong(node, "repeats: %d of them, expected %d", count, x->rank);
    for (int d = 0; d < x->rank; d++) {
        if (repeats[d] < 0 || (x->size[d] && repeats[d] > TENSOR_MAX_BYTES / x->size[d]))
            return node_wrong(node, "repeats: %lld is out of range", (long long)repeats[d]);
        size[d] = x->size[d] * repeats[d];
    }
    return node_set(node, 0, x->rank, size);
}

enum node_state rule_pad(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t pads[VALUE_MAX_NUMBERS], size[TENSOR_MAX_RANK];
    int count = node_list(node, "pads", 1, pads);
    if (count < 0)
        return node_unknown(node, not_held);
    if (count != 2 * x->rank)
        return node_wrong(node, "pads: %d of them, expected %d", count, 2 * x->rank);
    for (int d = 0; d < x->rank; d++) {
        int64_t front = pads[d], back = pads[x->rank + d];
        if (front < -INT32_MAX || front > INT32_MAX || back < -INT32_MAX || back > INT32_MAX)
            return node_wrong(node, "pads: one is out of range");
        size[d] = x->size[d] + front + back;
    }
    node->out[0].is_map = x->is_map;
    return node_set(node, 0, x->rank, size);
}

enum node_state rule_resize(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0], *sizes = node_input(node, 3);
    const struct onnx_value *scales = node_input(node, node->in_count > 2 ? 2 : 1);
    int64_t size[TENSOR_MAX_RANK];
    bool by_sizes = sizes && sizes->is_held && value_elements(sizes) == x->rank;
    if (!by_sizes && !(scales && scales->is_held && value_elements(scales) == x->rank))
        return node_unknown(node, not_held);
    for (int d = 0; d < x->rank; d++)
        size[d] = whole(by_sizes ? sizes->numbers[d] : (double)x->size[d] * scales->numbers[d]);
    node->out[0].is_map = x->is_map;
    return node_set(node, 0, x->rank, size);
}

/* Blocks of b x b places become channels, or the reverse. */
static enum node_state blocks(struct onnx_node *node, bool is_to_space)
{
    const struct onnx_value *x = node->in[0];
    int64_t b = node_int(node, "blocksize", 0), area = b * b;
    if (x->rank != 4 || b < 1 || b > 1024)
        return node_wrong(node, "expected N, C, H, W and a blocksize of 1 to 1024");
    if (is_to_space ? x->size[1] % area != 0 : x->size[2] % b != 0 || x->size[3] % b != 0)
        return node_wrong(node, "blocksize %lld does not divide its input", (long long)b);
    const int64_t space[] = {x->size[0], x->size[1] / area, x->size[2] * b, x->size[3] * b};
    const int64_t depth[] = {x->size[0], x->size[1] * area, x->size[2] / b, x->size[3] / b};
    node->out[0].is_map = x->is_map;
    return node_set(node, 0, 4, is_to_space ? space : depth);
}

enum node_state rule_depth_to_space(struct onnx_node *node)
{
    return blocks(node, true);
}

enum node_state rule_space_to_depth(struct onnx_node *node)
{
    return blocks(node, false);
}
