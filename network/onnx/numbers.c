/* Operators that compute elements from elements at the same place, with ONNX's multidirectional
 * broadcasting, and those that make numbers of shapes: exporters compute later shapes by them, so
 * that of few numbers the values are computed too. */
#include "network/onnx/rules.h"

#include <math.h>
#include <string.h>

enum node_state broadcast(struct onnx_node *node, int rank, const int64_t *size, int *all_rank,
                          int64_t *all)
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

enum node_state rule_broadcast(struct onnx_node *node)
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

enum node_state rule_compare(struct onnx_node *node)
{
    enum node_state state = rule_broadcast(node);
    node->out[0].type = DTYPE_BOOL;
    return state;
}

enum node_state rule_where(struct onnx_node *node)
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

enum node_state rule_cast(struct onnx_node *node)
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

enum node_state rule_shape(struct onnx_node *node)
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

enum node_state rule_constant(struct onnx_node *node)
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

enum node_state rule_constant_of_shape(struct onnx_node *node)
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

enum node_state rule_range(struct onnx_node *node)
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
