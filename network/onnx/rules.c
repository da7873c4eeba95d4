/* What ONNX's operators make of their inputs' shapes, as onnx.ai/onnx/operators defines them; those
 * of windows that move over images are in windows.c. Kernels' names are those of MindSpore's and
 * CANN's operator libraries, where there is such a kernel. Where an operator's newer form reads a
 * list from an input and its older one from an attribute, either is taken. Exporters compute shapes
 * by nodes, so that what a list of few numbers holds is followed, and computed, too. */
#include "network/onnx/node.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ elements are computed */

/* The shape that two make together, by ONNX's multidirectional broadcasting. */
static enum node_state broadcast(struct onnx_node *node, int rank, const int64_t *size,
                                 int *all_rank, int64_t *all)
{
    int most = rank > *all_rank ? rank : *all_rank;
    int64_t together[TENSOR_MAX_RANK] = {0};
    for (int back = 1; back <= most; back++) {
        int64_t a = back <= *all_rank ? all[*all_rank - back] : 1;
        int64_t b = back <= rank ? size[rank - back] : 1;
        if (a != b && a != 1 && b != 1)
            return node_wrong(node, "inputs %lld and %lld long in dimension -%d", (long long)a,
                              (long long)b, back);
        together[most - back] = a == 1 ? b : a;
    }
    memcpy(all, together, (size_t)most * sizeof *all);
    *all_rank = most;
    return NODE_FOUND;
}

static double compute(const char *name, double a, double b)
{
    static const struct {
        const char *name;
        char sign;
    } signs[] = {{"Add", '+'}, {"Sub", '-'}, {"Mul", '*'},   {"Div", '/'},
                 {"Min", '<'}, {"Max", '>'}, {"Equal", '='}, {"Mod", '%'}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(signs[i].name, name) == 0)
            switch (signs[i].sign) {
            case '+':
                return a + b;
            case '-':
                return a - b;
            case '*':
                return a * b;
            case '/':
                return b == 0 ? NAN : a / b;
            case '<':
                return fmin(a, b);
            case '>':
                return fmax(a, b);
            case '=':
                return a == b;
            default:
                return b == 0 ? NAN : fmod(a, b);
            }
    return NAN;
}

/* The number of an input at a place of the result; numbers are in one dimension at most. */
static double number_at(const struct onnx_value *value, int64_t place)
{
    return value->numbers[value_elements(value) == 1 ? 0 : place];
}

/* What the result of two inputs holds; whole numbers are divided as whole ones. */
static void compute_numbers(struct onnx_node *node)
{
    struct onnx_value *out = &node->out[0];
    const struct onnx_value *a = node->in[0], *b = node->in[1];
    bool is_real = a->type == DTYPE_F32;
    if (out->rank > 1 || value_elements(out) > VALUE_MAX_NUMBERS || !a->is_held || !b->is_held)
        return;
    for (int64_t n = 0; n < value_elements(out); n++) {
        double number = compute(node->proto->op_type, number_at(a, n), number_at(b, n));
        if (isnan(number))
            return;
        out->numbers[n] = is_real ? number : trunc(number);
    }
    out->is_held = true;
}

static enum node_state rule_broadcast(struct onnx_node *node)
{
    int64_t size[TENSOR_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i])
            return node_wrong(node, "input %d is left out", i);
        enum node_state state = broadcast(node, node->in[i]->rank, node->in[i]->size, &rank, size);
        if (state != NODE_FOUND)
            return state;
        node->out[0].is_map |= node->in[i]->is_map;
    }
    enum node_state state = node_set(node, 0, rank, size);
    if (state == NODE_FOUND && node->in_count == 2)
        compute_numbers(node);
    return state;
}

static enum node_state rule_compare(struct onnx_node *node)
{
    enum node_state state = rule_broadcast(node);
    node->out[0].type = DTYPE_BOOL;
    return state;
}

static enum node_state rule_where(struct onnx_node *node)
{
    struct onnx_value *out = &node->out[0];
    const struct onnx_value *is_first = node->in[0], *a = node->in[1], *b = node->in[2];
    enum node_state state = rule_broadcast(node);
    if (state != NODE_FOUND)
        return state;
    out->type = a->type;
    out->is_held = out->rank <= 1 && value_elements(out) <= VALUE_MAX_NUMBERS &&
                   is_first->is_held && a->is_held && b->is_held;
    for (int64_t n = 0; out->is_held && n < value_elements(out); n++)
        out->numbers[n] = number_at(number_at(is_first, n) != 0 ? a : b, n);
    return state;
}

static enum node_state rule_cast(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    struct onnx_value *out = &node->out[0];
    int64_t to = node_int(node, "to", 0);
    int type = to >= 0 && to <= INT32_MAX ? onnx_type((int)to) : -1;
    if (type < 0)
        return node_unknown(node, "it converts to a type that has no size here");
    enum node_state state = node_set(node, 0, x->rank, x->size);
    out->type = (enum dtype)type;
    out->is_map = x->is_map;
    out->is_held = x->is_held;
    memcpy(out->numbers, x->numbers, sizeof x->numbers);
    for (int64_t n = 0; out->is_held && type != DTYPE_F32 && n < value_elements(out); n++)
        out->numbers[n] = trunc(out->numbers[n]);
    return state;
}

static enum node_state rule_shape(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    int64_t start = node_int(node, "start", 0), end = node_int(node, "end", x->rank), count;
    start += start < 0 ? x->rank : 0;
    end += end < 0 ? x->rank : 0;
    start = start < 0 ? 0 : start > x->rank ? x->rank : start;
    end = end < start ? start : end > x->rank ? x->rank : end;
    count = end - start;
    node->out[0].type = DTYPE_I64;
    node->out[0].is_held = true;
    for (int64_t d = 0; d < count; d++)
        node->out[0].numbers[d] = (double)x->size[start + d];
    return node_set(node, 0, 1, &count);
}

static enum node_state rule_constant(struct onnx_node *node)
{
    const Onnx__TensorProto *tensor = node_tensor(node, "value");
    const int64_t *ints;
    int64_t count = node_ints(node, "value_ints", &ints);
    struct onnx_value *out = &node->out[0];
    const char *name = out->name;
    if (tensor) {
        if (!value_of_tensor(tensor, out))
            return node_wrong(node, "its value is of a type or a shape that it cannot have");
        out->name = name;
        return NODE_FOUND;
    }
    if (count == 0)
        return node_unknown(node, "a constant that is not a tensor");
    out->type = DTYPE_I64;
    out->is_constant = out->is_held = true;
    for (int64_t i = 0; i < count; i++)
        out->numbers[i] = (double)ints[i];
    return node_set(node, 0, 1, &count);
}

static enum node_state rule_constant_of_shape(struct onnx_node *node)
{
    const Onnx__TensorProto *tensor = node_tensor(node, "value");
    struct onnx_value filling = {.type = DTYPE_F32, .is_held = true}, *out = &node->out[0];
    int64_t size[VALUE_MAX_NUMBERS];
    int rank = node_list(node, "", 0, size);
    if (rank < 0)
        return node_unknown(node, "its sizes are computed from what the file does not tell");
    if (tensor && (!value_of_tensor(tensor, &filling) || value_elements(&filling) != 1))
        return node_wrong(node, "its value: expected one element");
    enum node_state state = node_set(node, 0, rank, size);
    if (state != NODE_FOUND)
        return state;
    out->type = filling.type;
    out->is_constant = true;
    out->is_held = filling.is_held && rank <= 1 && value_elements(out) <= VALUE_MAX_NUMBERS;
    for (int64_t n = 0; out->is_held && n < value_elements(out); n++)
        out->numbers[n] = filling.numbers[0];
    return NODE_FOUND;
}

static enum node_state rule_range(struct onnx_node *node)
{
    struct onnx_value *out = &node->out[0];
    for (int i = 0; i < 3; i++)
        if (!node->in[i]->is_held || value_elements(node->in[i]) != 1)
            return node_unknown(node, "its limits are computed from what the file does not tell");
    double start = node->in[0]->numbers[0], step = node->in[2]->numbers[0];
    double steps = step == 0 ? 0 : ceil((node->in[1]->numbers[0] - start) / step);
    int64_t count = whole(fmax(0, steps));
    enum node_state state = node_set(node, 0, 1, &count);
    out->is_held = state == NODE_FOUND && count <= VALUE_MAX_NUMBERS;
    for (int64_t n = 0; out->is_held && n < count; n++)
        out->numbers[n] = start + (double)n * step;
    return state;
}

/* ------------------------------------------------------------------ elements are moved */

static const char *const not_held = "its sizes are computed from what the file does not tell";

/* The result holds these numbers. */
static void hold_numbers(struct onnx_value *out, const double *numbers, int64_t count)
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
        hold_numbers(&node->out[0], x->numbers, value_elements(x));
    return state;
}

static enum node_state rule_reshape(struct onnx_node *node)
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

static enum node_state rule_flatten(struct onnx_node *node)
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

static enum node_state rule_squeeze(struct onnx_node *node)
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

static enum node_state rule_unsqueeze(struct onnx_node *node)
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

static enum node_state rule_transpose(struct onnx_node *node)
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

static enum node_state rule_concat(struct onnx_node *node)
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

static enum node_state rule_split(struct onnx_node *node)
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
            hold_numbers(&node->out[o], x->numbers + sum, size[axis]);
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

static enum node_state rule_slice(struct onnx_node *node)
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

static enum node_state rule_gather(struct onnx_node *node)
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

static enum node_state rule_expand(struct onnx_node *node)
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

static enum node_state rule_tile(struct onnx_node *node)
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

static enum node_state rule_pad(struct onnx_node *node)
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

static enum node_state rule_resize(struct onnx_node *node)
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
static enum node_state swap_blocks(struct onnx_node *node, bool is_to_space)
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

static enum node_state rule_depth_to_space(struct onnx_node *node)
{
    return swap_blocks(node, true);
}

static enum node_state rule_space_to_depth(struct onnx_node *node)
{
    return swap_blocks(node, false);
}

/* ------------------------------------------------------------------ products, sums, the same */

static enum node_state rule_same(struct onnx_node *node)
{
    node->out[0].is_map = node->in[0]->is_map;
    return node_set(node, 0, node->in[0]->rank, node->in[0]->size);
}

static enum node_state rule_identity(struct onnx_node *node)
{
    const struct onnx_value *x = node->in[0];
    node->out[0].is_held = x->is_held;
    memcpy(node->out[0].numbers, x->numbers, sizeof x->numbers);
    return rule_same(node);
}

static enum node_state rule_gemm(struct onnx_node *node)
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
static enum node_state rule_matmul(struct onnx_node *node)
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
static enum node_state rule_reduce(struct onnx_node *node)
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

static enum node_state rule_arg(struct onnx_node *node)
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

static enum node_state rule_layer_norm(struct onnx_node *node)
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
    return rule_same(node);
}

static enum node_state rule_dropout(struct onnx_node *node)
{
    if (node->out_count > 1)
        node->out[1].type = DTYPE_BOOL;
    enum node_state state = node_set(node, 1, node->in[0]->rank, node->in[0]->size);
    return state == NODE_FOUND ? rule_same(node) : state;
}

static enum node_state rule_as_places(struct onnx_node *node)
{
    return node_set(node, 0, node->in[1]->rank, node->in[1]->size);
}

static const struct onnx_operator operators[] = {
    {"Conv", "Conv2D", 2, rule_conv},
    {"ConvTranspose", "Conv2DTranspose", 2, rule_conv_transpose},
    {"Gemm", "MatMul", 2, rule_gemm},
    {"MatMul", "MatMul", 2, rule_matmul},
    {"MaxPool", "MaxPool", 1, rule_pool},
    {"AveragePool", "AvgPool", 1, rule_pool},
    {"GlobalAveragePool", "ReduceMean", 1, rule_global_pool},
    {"GlobalMaxPool", "ReduceMax", 1, rule_global_pool},
    {"BatchNormalization", "BNInfer", 5, rule_same},
    {"LayerNormalization", "LayerNorm", 2, rule_layer_norm},
    {"InstanceNormalization", "InstanceNorm", 3, rule_same},
    {"LRN", "LRN", 1, rule_same},
    {"Softmax", "Softmax", 1, rule_same},
    {"LogSoftmax", "LogSoftmax", 1, rule_same},
    {"Relu", "ReLU", 1, rule_same},
    {"LeakyRelu", "LeakyRelu", 1, rule_same},
    {"PRelu", "PReLU", 2, rule_same},
    {"Elu", "Elu", 1, rule_same},
    {"Selu", "Selu", 1, rule_same},
    {"HardSigmoid", "HardSigmoid", 1, rule_same},
    {"HardSwish", "HSwish", 1, rule_same},
    {"Softplus", "Softplus", 1, rule_same},
    {"Mish", "Mish", 1, rule_same},
    {"Gelu", "GeLU", 1, rule_same},
    {"Sigmoid", "Sigmoid", 1, rule_same},
    {"Tanh", "Tanh", 1, rule_same},
    {"Erf", "Erf", 1, rule_same},
    {"Exp", "Exp", 1, rule_same},
    {"Log", "Log", 1, rule_same},
    {"Sqrt", "Sqrt", 1, rule_same},
    {"Reciprocal", "Reciprocal", 1, rule_same},
    {"Neg", "Neg", 1, rule_same},
    {"Abs", "Abs", 1, rule_same},
    {"Floor", "Floor", 1, rule_same},
    {"Ceil", "Ceil", 1, rule_same},
    {"Round", "Round", 1, rule_same},
    {"Sign", "Sign", 1, rule_same},
    {"Sin", "Sin", 1, rule_same},
    {"Cos", "Cos", 1, rule_same},
    {"Clip", "ClipByValue", 1, rule_same},
    {"Not", "LogicalNot", 1, rule_same},
    {"CumSum", "CumSum", 2, rule_same},
    {"ScatterND", "ScatterNd", 3, rule_same},
    {"Trilu", "Tril", 1, rule_same},
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
    {"ReduceMean", "ReduceMean", 1, rule_reduce},
    {"ReduceSum", "ReduceSum", 1, rule_reduce},
    {"ReduceMax", "ReduceMax", 1, rule_reduce},
    {"ReduceMin", "ReduceMin", 1, rule_reduce},
    {"ReduceProd", "ReduceProd", 1, rule_reduce},
    {"ReduceL2", "LpNorm", 1, rule_reduce},
    {"ReduceSumSquare", "SquareSumV2", 1, rule_reduce},
    {"ArgMax", "ArgMax", 1, rule_arg},
    {"ArgMin", "ArgMin", 1, rule_arg},
    {"Transpose", "Transpose", 1, rule_transpose},
    {"Concat", "Concat", 1, rule_concat},
    {"Split", "Split", 1, rule_split},
    {"Slice", "StridedSlice", 1, rule_slice},
    {"Gather", "Gather", 2, rule_gather},
    {"GatherElements", "GatherD", 2, rule_as_places},
    {"Expand", "BroadcastTo", 2, rule_expand},
    {"Tile", "Tile", 2, rule_tile},
    {"Pad", "Pad", 1, rule_pad},
    {"Resize", "Resize", 1, rule_resize},
    {"Upsample", "Resize", 1, rule_resize},
    {"DepthToSpace", "DepthToSpace", 1, rule_depth_to_space},
    {"SpaceToDepth", "SpaceToDepth", 1, rule_space_to_depth},
    {"Range", "Range", 3, rule_range},
    {"ConstantOfShape", "Fill", 1, rule_constant_of_shape},
    {"Identity", NULL, 1, rule_identity},
    {"Dropout", NULL, 1, rule_dropout},
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
