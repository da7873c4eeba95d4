/* What rules of shapes ask of a node (network/onnx/node.h); attributes and types as onnx.proto
 * defines them. */
#include "network/onnx/node.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum node_state node_wrong(struct onnx_node *node, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(node->why, sizeof node->why, format, list);
    va_end(list);
    return NODE_WRONG;
}

enum node_state node_unknown(struct onnx_node *node, const char *why)
{
    snprintf(node->why, sizeof node->why, "%s", why);
    return NODE_UNKNOWN;
}

int64_t value_elements(const struct onnx_value *value)
{
    int64_t elements = 1;
    for (int d = 0; d < value->rank; d++)
        elements *= value->size[d];
    return elements;
}

const char *node_name(const struct onnx_node *node)
{
    return node->proto->name ? node->proto->name : "";
}

const struct onnx_value *node_input(const struct onnx_node *node, int number)
{
    return number < node->in_count ? node->in[number] : NULL;
}

static const Onnx__AttributeProto *find(const struct onnx_node *node, const char *name)
{
    for (size_t i = 0; i < node->proto->n_attribute; i++)
        if (node->proto->attribute[i]->name && strcmp(node->proto->attribute[i]->name, name) == 0)
            return node->proto->attribute[i];
    return NULL;
}

int64_t node_int(const struct onnx_node *node, const char *name, int64_t none)
{
    const Onnx__AttributeProto *attribute = find(node, name);
    return attribute && attribute->has_i ? attribute->i : none;
}

int node_ints(const struct onnx_node *node, const char *name, const int64_t **list)
{
    const Onnx__AttributeProto *attribute = find(node, name);
    if (!attribute || attribute->n_ints > VALUE_MAX_NUMBERS)
        return 0;
    *list = attribute->ints;
    return (int)attribute->n_ints;
}

bool node_is(const struct onnx_node *node, const char *name, const char *text)
{
    const Onnx__AttributeProto *attribute = find(node, name);
    return attribute && attribute->s.len == strlen(text) &&
           memcmp(attribute->s.data, text, attribute->s.len) == 0;
}

const Onnx__TensorProto *node_tensor(const struct onnx_node *node, const char *name)
{
    const Onnx__AttributeProto *attribute = find(node, name);
    return attribute ? attribute->t : NULL;
}

int64_t whole(double number)
{
    const double most = 4611686018427387904.0;
    return isnan(number) ? 0 : (int64_t)fmax(-most, fmin(most, number));
}

int node_list(const struct onnx_node *node, const char *name, int input,
              int64_t list[VALUE_MAX_NUMBERS])
{
    const struct onnx_value *value = node_input(node, input);
    const int64_t *ints;
    int count = node_ints(node, name, &ints);
    if (count > 0) {
        memcpy(list, ints, (size_t)count * sizeof *list);
        return count;
    }
    if (!value)
        return NODE_NO_LIST;
    if (!value->is_held)
        return NODE_NOT_HELD;
    count = (int)value_elements(value);
    for (int i = 0; i < count; i++)
        list[i] = whole(value->numbers[i]);
    return count;
}

int node_axis(int64_t axis, int rank)
{
    if (axis < -rank || axis >= rank)
        return -1;
    return (int)(axis < 0 ? axis + rank : axis);
}

enum node_state node_set(struct onnx_node *node, int out, int rank, const int64_t *size)
{
    if (out >= node->out_count)
        return NODE_FOUND;
    struct onnx_value *value = &node->out[out];
    int64_t elements = 1;
    if (rank > TENSOR_MAX_RANK)
        return node_wrong(node, "its result has %d dimensions, expected up to %d", rank,
                          TENSOR_MAX_RANK);
    for (int d = 0; d < rank; d++) {
        if (size[d] < 0 || (size[d] > 0 && elements > TENSOR_MAX_BYTES / 8 / size[d]))
            return node_wrong(node, "its result has %lld in dimension %d: too much, or too little",
                              (long long)size[d], d);
        elements *= size[d] ? size[d] : 1;
        value->size[d] = size[d];
    }
    value->rank = rank;
    value->is_known = true;
    return NODE_FOUND;
}

int onnx_type(int number)
{
    static const int types[] = {
        [ONNX__TENSOR_PROTO__DATA_TYPE__UNDEFINED] = -1,
        [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = DTYPE_F32,
        [ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = DTYPE_U8,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = DTYPE_I8,
        [ONNX__TENSOR_PROTO__DATA_TYPE__UINT16] = DTYPE_U16,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = DTYPE_I16,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = DTYPE_I32,
        [ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = DTYPE_I64,
        [ONNX__TENSOR_PROTO__DATA_TYPE__STRING] = -1,
        [ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = DTYPE_BOOL,
        [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = DTYPE_F16,
        [ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = DTYPE_F64,
        [ONNX__TENSOR_PROTO__DATA_TYPE__UINT32] = DTYPE_U32,
        [ONNX__TENSOR_PROTO__DATA_TYPE__UINT64] = DTYPE_U64,
        [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64] = DTYPE_C64,
        [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128] = -1,
        [ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16] = DTYPE_BF16,
    };
    return number >= 0 && number < (int)(sizeof types / sizeof *types) ? types[number] : -1;
}

static double read_i64(const void *at)
{
    int64_t number;
    memcpy(&number, at, sizeof number);
    return (double)number;
}

static double read_i32(const void *at)
{
    int32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static double read_f32(const void *at)
{
    float number;
    memcpy(&number, at, sizeof number);
    return (double)number;
}

/* The few numbers of a tensor from the field that has them, or from its raw bytes; little-endian,
 * as ONNX asks and hosts that this runs on are. */
static bool hold(const Onnx__TensorProto *t, int64_t count, double *numbers)
{
    const struct {
        int type;
        size_t bytes, count;
        const void *list;
        double (*read)(const void *at);
    } fields[] = {
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 8, t->n_int64_data, t->int64_data, read_i64},
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 4, t->n_int32_data, t->int32_data, read_i32},
        {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, t->n_float_data, t->float_data, read_f32},
    };
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        size_t all = (size_t)count * fields[f].bytes;
        size_t there = t->has_raw_data ? t->raw_data.len : fields[f].count * fields[f].bytes;
        const char *list = t->has_raw_data ? (const char *)t->raw_data.data : fields[f].list;
        if (t->data_type != fields[f].type || there != all)
            continue;
        for (int64_t i = 0; i < count; i++)
            numbers[i] = fields[f].read(list + (size_t)i * fields[f].bytes);
        return true;
    }
    return false;
}

bool value_of_tensor(const Onnx__TensorProto *tensor, struct onnx_value *value)
{
    int type = onnx_type(tensor->has_data_type ? tensor->data_type : 0);
    int64_t elements = 1;
    *value = (struct onnx_value){.name = tensor->name, .is_constant = true};
    if (type < 0 || tensor->n_dims > TENSOR_MAX_RANK)
        return false;
    for (size_t d = 0; d < tensor->n_dims; d++) {
        int64_t size = tensor->dims[d];
        if (size < 0 || (size > 0 && elements > TENSOR_MAX_BYTES / 8 / size))
            return false;
        elements *= size ? size : 1;
        value->size[d] = size;
    }
    value->type = (enum dtype)type;
    value->rank = (int)tensor->n_dims;
    value->is_known = true;
    value->is_held = value->rank <= 1 && elements <= VALUE_MAX_NUMBERS &&
                     hold(tensor, value_elements(value), value->numbers);
    return true;
}
