/* Shapes of convolutions and pools: floor((in + pads - reach) / stride) + 1 along each axis behind
 * N and C, as onnx.ai/onnx/operators defines them with auto_pad, dilations and ceil_mode. */
#include "network/onnx/node.h"

#include <string.h>

struct window {
    int axes;
    int64_t kernel[TENSOR_MAX_RANK], stride[TENSOR_MAX_RANK], dilation[TENSOR_MAX_RANK],
        pads[2 * TENSOR_MAX_RANK], extra[TENSOR_MAX_RANK];
};

/* An attribute's list of `count` numbers from `least` to 2^31, or as many of `none`. */
static bool read_list(const struct onnx_node *node, const char *name, int count, int64_t least,
                      int64_t none, int64_t *list)
{
    const int64_t *ints;
    int given = node_ints(node, name, &ints);
    for (int i = 0; i < count; i++)
        list[i] = given ? ints[i < given ? i : 0] : none;
    for (int i = 0; i < count; i++)
        if (list[i] < least || list[i] > INT32_MAX)
            return false;
    return given == 0 || given == count;
}

static enum node_state read_window(struct onnx_node *node, const struct onnx_value *x,
                                   struct window *w)
{
    w->axes = x->rank - 2;
    if (w->axes < 1)
        return node_wrong(node, "its input has %d dimensions, expected 3 or more", x->rank);
    if (!read_list(node, "strides", w->axes, 1, 1, w->stride) ||
        !read_list(node, "dilations", w->axes, 1, 1, w->dilation) ||
        !read_list(node, "pads", 2 * w->axes, 0, 0, w->pads) ||
        !read_list(node, "output_padding", w->axes, 0, 0, w->extra))
        return node_wrong(node, "strides, dilations or pads: expected %d sizes (pads: %d)", w->axes,
                          2 * w->axes);
    return NODE_FOUND;
}

/* How many places a window has along an axis. */
static enum node_state places(struct onnx_node *node, const struct window *w, int axis, int64_t in,
                              int64_t *out)
{
    int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1, stride = w->stride[axis];
    if (node_is(node, "auto_pad", "SAME_UPPER") || node_is(node, "auto_pad", "SAME_LOWER")) {
        *out = (in + stride - 1) / stride;
        return NODE_FOUND;
    }
    int64_t room = in + w->pads[axis] + w->pads[w->axes + axis] - reach;
    if (room < 0)
        return node_wrong(node, "a window of %lld does not fit %lld elements with their padding",
                          (long long)reach, (long long)in);
    bool is_ceil = node_int(node, "ceil_mode", 0) != 0;
    *out = (room + (is_ceil ? stride - 1 : 0)) / stride + 1;
    if (is_ceil && (*out - 1) * stride >= in + w->pads[axis])
        --*out; /* the last window would begin in the padding behind */
    return NODE_FOUND;
}

/* What stands before the first element; of SAME_LOWER and SAME_UPPER half of what `out` takes. */
static int64_t padding_before(const struct onnx_node *node, const struct window *w, int axis,
                              int64_t in, int64_t out)
{
    int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1;
    int64_t beyond = (out - 1) * w->stride[axis] + reach - in;
    bool is_lower = node_is(node, "auto_pad", "SAME_LOWER");
    if (!is_lower && !node_is(node, "auto_pad", "SAME_UPPER"))
        return w->pads[axis];
    return beyond > 0 ? (beyond + is_lower) / 2 : 0;
}

/* How a filter moves over an image: what calls say of a convolution. */
static void keep_window(struct onnx_node *node, const struct window *w, int64_t groups)
{
    const struct onnx_value *x = node->in[0];
    for (int a = 0; a < 2 && x->rank == 4; a++) {
        node->window.kernel[a] = w->kernel[a];
        node->window.stride[a] = w->stride[a];
        node->window.dilation[a] = w->dilation[a];
        node->window.padding[a] =
            padding_before(node, w, a, x->size[2 + a], node->out[0].size[2 + a]);
    }
    node->window.groups = groups;
}

static enum node_state slide(struct onnx_node *node, const struct window *w, int64_t channels)
{
    const struct onnx_value *x = node->in[0];
    int64_t size[TENSOR_MAX_RANK] = {x->size[0], channels};
    for (int a = 0; a < w->axes; a++) {
        enum node_state state = places(node, w, a, x->size[2 + a], &size[2 + a]);
        if (state != NODE_FOUND)
            return state;
    }
    for (int o = 0; o < node->out_count; o++) {
        node->out[o].is_map = x->rank == 4;
        enum node_state state = node_set(node, o, x->rank, size);
        if (state != NODE_FOUND)
            return state;
    }
    return NODE_FOUND;
}

/* The filter's sizes, against those of the input: C of it are `channels`. */
static enum node_state read_filter(struct onnx_node *node, struct window *w, int64_t channels)
{
    const struct onnx_value *x = node->in[0], *filter = node->in[1];
    if (filter->rank != x->rank)
        return node_wrong(node, "its filter has %d dimensions, expected %d as its input",
                          filter->rank, x->rank);
    if (channels != x->size[1])
        return node_wrong(node, "its filter is for %lld channels, its input has %lld",
                          (long long)channels, (long long)x->size[1]);
    for (int a = 0; a < w->axes; a++) {
        w->kernel[a] = filter->size[2 + a];
        if (w->kernel[a] < 1 || w->kernel[a] > INT32_MAX)
            return node_wrong(node, "its filter is %lld long, expected 1 or more",
                              (long long)w->kernel[a]);
    }
    return NODE_FOUND;
}

static int64_t groups(const struct onnx_node *node)
{
    int64_t group = node_int(node, "group", 1);
    return group >= 1 && group <= INT32_MAX ? group : 0;
}

enum node_state rule_conv(struct onnx_node *node)
{
    struct window w = {0};
    int64_t group = groups(node);
    enum node_state state = read_window(node, node->in[0], &w);
    if (state == NODE_FOUND &&
        (group == 0 || node->in[1]->rank < 2 || node->in[1]->size[1] > TENSOR_MAX_BYTES / group))
        state = node_wrong(node, "group: expected 1 or more, and a filter for it");
    if (state == NODE_FOUND)
        state = read_filter(node, &w, node->in[1]->size[1] * group);
    if (state == NODE_FOUND)
        state = slide(node, &w, node->in[1]->size[0]);
    if (state == NODE_FOUND)
        keep_window(node, &w, group);
    return state;
}

enum node_state rule_conv_transpose(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0], *filter = node->in[1];
    struct window w = {0};
    int64_t size[TENSOR_MAX_RANK] = {x->size[0]}, group = groups(node);
    enum node_state state = read_window(node, x, &w);
    if (state == NODE_FOUND &&
        (group == 0 || filter->rank < 2 || filter->size[1] > TENSOR_MAX_BYTES / group))
        state = node_wrong(node, "group: expected 1 or more, and a filter for it");
    if (state == NODE_FOUND)
        state = read_filter(node, &w, filter->size[0]);
    if (state != NODE_FOUND)
        return state;
    size[1] = filter->size[1] * group;
    for (int a = 0; a < w.axes; a++) {
        if (x->size[2 + a] > INT32_MAX)
            return node_wrong(node, "its input is %lld long, expected up to %d",
                              (long long)x->size[2 + a], INT32_MAX);
        size[2 + a] = (x->size[2 + a] - 1) * w.stride[a] + w.extra[a] +
                      (w.kernel[a] - 1) * w.dilation[a] + 1 - w.pads[a] - w.pads[w.axes + a];
    }
    node->out[0].is_map = x->rank == 4;
    return node_set(node, 0, x->rank, size);
}

enum node_state rule_pool(struct onnx_node *node)
{
    struct window w = {0};
    enum node_state state = read_window(node, node->in[0], &w);
    if (state != NODE_FOUND)
        return state;
    if (!read_list(node, "kernel_shape", w.axes, 1, 0, w.kernel))
        return node_wrong(node, "kernel_shape: expected %d sizes of 1 or more", w.axes);
    return slide(node, &w, node->in[0]->size[1]);
}

enum node_state rule_global_pool(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t size[TENSOR_MAX_RANK];
    if (x->rank < 3)
        return node_wrong(node, "its input has %d dimensions, expected 3 or more", x->rank);
    for (int d = 0; d < x->rank; d++)
        size[d] = d < 2 ? x->size[d] : 1;
    node->out[0].is_map = x->rank == 4;
    return node_set(node, 0, x->rank, size);
}
