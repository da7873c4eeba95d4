/* A copy of the file is made without what the model weighs, then decoded (protobuf-c, by the schema
 * onnx.proto of Debian's libonnx-dev); a walk goes over its nodes in their order, which ONNX asks
 * to be such that whatever a node reads was made before it. Values are found by name in a balanced
 * tree.
 *
 * Nodes become the kernels that a library of CANN runs for them. Feature maps of convolutions are
 * NC1HWC0, filters FRACTAL_Z, operands and results of products FRACTAL_NZ, everything else as it is
 * (core formats of CANN's operator library). A map that an operator of another layout reads is
 * converted once, and the reverse. Products read and leave FRACTAL_NZ without a conversion of their
 * own: libraries keep that layout between them. */
#include "network/read.h"

#include "formats/text.h"
#include "network/onnx/node.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ without what it weighs */

/* A copy of the message with what shapes are found by, and of tensors' data a few elements, so that
 * a model of gigabytes is decoded from its graph alone. Graphs within nodes, functions and
 * documentation are left out too. Protobuf's wire format (protobuf.dev/programming-guides/encoding)
 * is walked by a table of the fields that are kept. A message's length is written over five bytes,
 * for it is known once its fields are copied. Numbers of fields are those of onnx.proto. */
enum {
    SKIM_MAX_DATA = 512,       /* bytes of a tensor's data that are kept */
    SKIM_MAX_BYTES = 16 << 20, /* of the copy: what decoding takes is a multiple of it */
};

struct skimmed {
    uint8_t *bytes; /* free() it */
    size_t size;
};

enum message {
    MODEL,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    VALUE,
    TYPE,
    PLAIN, /* kept as it stands */
    DATA,  /* kept up to SKIM_MAX_DATA bytes */
};
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* What is kept of a message, and as what. No message leads to itself, so nothing is deep. */
static const struct {
    enum message message;
    int field;
    enum message kept;
} fields[] = {
    {MODEL, 7, GRAPH},                             /* graph */
    {MODEL, 8, PLAIN},                             /* opset_import */
    {GRAPH, 1, NODE},                              /* node */
    {GRAPH, 5, TENSOR},                            /* initializer */
    {GRAPH, 11, VALUE},                            /* input */
    {GRAPH, 13, VALUE},                            /* value_info */
    {NODE, 1, PLAIN},      {NODE, 2, PLAIN},       /* input, output */
    {NODE, 3, PLAIN},      {NODE, 4, PLAIN},       /* name, op_type */
    {NODE, 5, ATTRIBUTE},  {NODE, 7, PLAIN},       /* attribute, domain */
    {ATTRIBUTE, 1, PLAIN}, {ATTRIBUTE, 20, PLAIN}, /* name, type */
    {ATTRIBUTE, 2, PLAIN}, {ATTRIBUTE, 3, PLAIN},  /* f, i */
    {ATTRIBUTE, 4, PLAIN}, {ATTRIBUTE, 5, TENSOR}, /* s, t */
    {ATTRIBUTE, 7, PLAIN}, {ATTRIBUTE, 8, PLAIN},  /* floats, ints */
    {TENSOR, 1, PLAIN},    {TENSOR, 2, PLAIN},     /* dims, data_type */
    {TENSOR, 8, PLAIN},    {TENSOR, 4, DATA},      /* name, float_data */
    {TENSOR, 5, DATA},     {TENSOR, 7, DATA},      /* int32_data, int64_data */
    {TENSOR, 9, DATA},     {TENSOR, 10, DATA},     /* raw_data, double_data */
    {VALUE, 1, PLAIN},     {VALUE, 2, TYPE},       /* name, type */
    {TYPE, 1, PLAIN},                              /* tensor_type */
};

enum { LENGTH_BYTES = 5 };

struct skim {
    const char *name;
    const uint8_t *bytes; /* of the whole file */
    size_t at;
    struct skimmed *out;
    size_t room;
    struct error *error;
};

static enum status byte_error(const struct skim *s, size_t at, const char *what)
{
    return error_set(s->error, STATUS_INVALID, "%s: byte %zu: %s, expected a model of ONNX",
                     s->name, at, what);
}

static enum status put_bytes(struct skim *s, const uint8_t *bytes, size_t size)
{
    struct skimmed *out = s->out;
    if (size == 0)
        return STATUS_OK;
    if (size > SKIM_MAX_BYTES - out->size)
        return error_set(s->error, STATUS_TOO_LARGE,
                         "%s: its graph takes more than %d MiB without what tensors hold", s->name,
                         SKIM_MAX_BYTES >> 20);
    if (out->size + size > s->room) {
        size_t room = 2 * (out->size + size);
        uint8_t *grown = realloc(out->bytes, room);
        if (!grown)
            return error_memory(s->error);
        out->bytes = grown;
        s->room = room;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    return STATUS_OK;
}

static bool read_varint(struct skim *s, size_t end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && s->at < end; shift += 7) {
        uint8_t byte = s->bytes[s->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool is_kept(enum message message, uint64_t field, enum message *kept)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].message == message && (uint64_t)fields[i].field == field) {
            *kept = fields[i].kept;
            return true;
        }
    return false;
}

static enum status copy_message(struct skim *s, enum message message, size_t end);

/* Copies what a message within another one keeps, after its tag. */
static enum status copy_inner(struct skim *s, enum message message, size_t end)
{
    static const uint8_t length[LENGTH_BYTES] = {0x80, 0x80, 0x80, 0x80, 0};
    TRY(put_bytes(s, length, sizeof length));
    size_t begin = s->out->size;
    TRY(copy_message(s, message, end));
    for (int i = 0; i < LENGTH_BYTES; i++)
        s->out->bytes[begin - LENGTH_BYTES + (size_t)i] |=
            (uint8_t)((s->out->size - begin) >> (7 * i) & 0x7f);
    return STATUS_OK;
}

/* A field whose tag began at `start`: where it ends, and where its bytes begin. */
static enum status find_field_end(struct skim *s, uint64_t tag, size_t start, size_t end,
                                  size_t *field_end)
{
    uint64_t length = 0;
    bool is_whole = true;
    switch (tag & 7) {
    case WIRE_VARINT:
        is_whole = read_varint(s, end, &length);
        length = 0;
        break;
    case WIRE_64:
        length = 8;
        break;
    case WIRE_32:
        length = 4;
        break;
    case WIRE_BYTES:
        is_whole = read_varint(s, end, &length);
        break;
    default:
        return byte_error(s, start, "a field of a kind that ONNX has not");
    }
    if (!is_whole || length > end - s->at)
        return byte_error(s, start, "a field that ends behind what it is in");
    *field_end = s->at + (size_t)length;
    return STATUS_OK;
}

static enum status copy_field(struct skim *s, enum message message, size_t end)
{
    size_t start = s->at, tag_end, field_end = 0;
    uint64_t tag;
    enum message kept;
    if (!read_varint(s, end, &tag) || tag >> 3 == 0)
        return byte_error(s, start, "not the tag of a field");
    tag_end = s->at;
    TRY(find_field_end(s, tag, start, end, &field_end));
    if (!is_kept(message, tag >> 3, &kept) || (kept == DATA && field_end - s->at > SKIM_MAX_DATA)) {
        s->at = field_end;
        return STATUS_OK;
    }
    if (kept == PLAIN || kept == DATA || (tag & 7) != WIRE_BYTES) {
        s->at = field_end;
        return put_bytes(s, s->bytes + start, field_end - start);
    }
    TRY(put_bytes(s, s->bytes + start, tag_end - start));
    return copy_inner(s, kept, field_end);
}

static enum status copy_message(struct skim *s, enum message message, size_t end)
{
    while (s->at < end)
        TRY(copy_field(s, message, end));
    return STATUS_OK;
}

/* STATUS_INVALID with the byte at which the file `name` is not what it should be; STATUS_TOO_LARGE
 * beyond the limits above. After a failure there is nothing to free. */
static enum status onnx_skim(const char *name, const uint8_t *bytes, size_t size,
                             struct skimmed *skimmed, struct error *error)
{
    struct skim s = {.name = name, .bytes = bytes, .out = skimmed, .error = error};
    *skimmed = (struct skimmed){0};
    enum status status = copy_message(&s, MODEL, size);
    if (status != STATUS_OK)
        free(skimmed->bytes);
    return status;
}

/* ------------------------------------------------------------------ kernels of nodes */

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
static enum status add_conversion(struct network *network, const struct onnx_node *node,
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
        TRY(add_conversion(network, node, node->in[i],
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

/* Adds what a node runs: nothing where it only makes another view, where its result is known
 * without the network's inputs, or where it is a few numbers; a TransData before it for each input
 * that is in the other layout. `number` counts nodes from 0. */
static enum status add_calls(struct network *network, struct onnx_node *node,
                             const struct onnx_operator *op, bool is_unknown, size_t number,
                             enum dtype reals, struct error *error)
{
    if (is_unknown)
        return add_uncovered(network, node, number, error);
    if (is_free(node, op)) {
        /* Another view of a map needs it as it is. */
        if (node_input(node, 0) && !op->op_type && node->in[0]->is_map && !node->out[0].is_map)
            return add_conversion(network, node, node->in[0], FORMAT_ND, number, reals, error);
        return STATUS_OK;
    }
    return add_kernel(network, node, op, number, reals, error);
}

/* ------------------------------------------------------------------ the walk */

/* What the file says of a value. */
struct told {
    const char *name;
    const Onnx__ValueInfoProto *info;
};

struct walk {
    const char *file;
    const struct network_request *request;
    const Onnx__GraphProto *graph;
    struct network *network;
    struct error *error;
    void *values; /* a tree of struct onnx_value by name */
    void *told;   /* a tree of what the file says of values */
    struct sizes sizes;
};

/* Both trees hold what begins with its name. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct onnx_value *find_value(struct walk *w, const char *name)
{
    struct onnx_value key = {.name = name}, *const *found = tfind(&key, &w->values, compare_names);
    return found ? *found : NULL;
}

static enum status add_value(struct walk *w, const struct onnx_value *value)
{
    char line[TEXT_LINE_SIZE];
    struct onnx_value *copy = malloc(sizeof *copy);
    if (!copy)
        return error_memory(w->error);
    *copy = *value;
    struct onnx_value **there = tsearch(copy, &w->values, compare_names);
    if (there && *there == copy)
        return STATUS_OK;
    free(copy);
    if (!there)
        return error_memory(w->error);
    return error_set(w->error, STATUS_INVALID, "%s: two tensors are called '%.100s'", w->file,
                     text_line(value->name, line));
}

static enum status all_used(const struct walk *w)
{
    for (int i = 0; i < w->sizes.count; i++)
        if (!w->sizes.given[i].is_used)
            return error_set(w->error, STATUS_INVALID,
                             "%s: no dimension of an input is called '%s' and has no size", w->file,
                             w->sizes.given[i].name);
    return STATUS_OK;
}

/* The size of a name, 0 where it is not given. */
static int64_t given_size(struct walk *w, const char *name)
{
    struct size_given *given = sizes_find(&w->sizes, name);
    if (!given)
        return 0;
    given->is_used = true;
    return given->size;
}

/* The sizes of an input or of what the file says of a value; false, with the dimension in *d, where
 * one of them is not known. */
static bool read_type(struct walk *w, const Onnx__ValueInfoProto *info, bool is_input,
                      struct onnx_value *value, int *d)
{
    const Onnx__TypeProto__Tensor *tensor = info->type ? info->type->tensor_type : NULL;
    *value = (struct onnx_value){.name = info->name};
    *d = -1;
    if (!tensor || !tensor->shape || tensor->shape->n_dim > TENSOR_MAX_RANK ||
        onnx_type(tensor->elem_type) < 0)
        return false;
    int64_t elements = 1;
    value->type = (enum dtype)onnx_type(tensor->elem_type);
    value->rank = (int)tensor->shape->n_dim;
    for (*d = 0; *d < value->rank; ++*d) {
        const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[*d];
        bool is_fixed = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                        dim->dim_value > 0;
        bool is_named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        int64_t size = is_fixed ? dim->dim_value : 0;
        if (is_named)
            size = given_size(w, dim->dim_param);
        if (size == 0 && is_input && *d == 0)
            size = given_size(w, "batch");
        if (size <= 0 || elements > TENSOR_MAX_BYTES / 8 / size)
            return false;
        elements *= size;
        value->size[*d] = size;
    }
    value->is_known = true;
    return true;
}

static enum status read_inputs(struct walk *w)
{
    char line[TEXT_LINE_SIZE];
    struct onnx_value value;
    int d;
    for (size_t i = 0; i < w->graph->n_input; i++) {
        const Onnx__ValueInfoProto *input = w->graph->input[i];
        if (!input->name || find_value(w, input->name))
            continue; /* a weight with a value of its own, as older files list them */
        if (!read_type(w, input, true, &value, &d) && d < 0)
            return error_set(w->error, STATUS_INVALID,
                             "%s: input '%.100s' has no shape, expected a tensor of up to %d "
                             "dimensions",
                             w->file, text_line(input->name, line), TENSOR_MAX_RANK);
        if (!value.is_known)
            return error_set(
                w->error, STATUS_INVALID,
                "%s: input '%.100s' has no size in dimension %d, expected one from the "
                "file or given (--size NAME=SIZE)",
                w->file, text_line(input->name, line), d);
        TRY(add_value(w, &value));
    }
    return STATUS_OK;
}

static enum status read_weights(struct walk *w)
{
    char line[TEXT_LINE_SIZE];
    struct onnx_value value;
    for (size_t i = 0; i < w->graph->n_initializer; i++) {
        const Onnx__TensorProto *tensor = w->graph->initializer[i];
        if (!tensor->name)
            return error_set(w->error, STATUS_INVALID, "%s: weight %zu has no name", w->file, i);
        if (!value_of_tensor(tensor, &value))
            return error_set(w->error, STATUS_INVALID,
                             "%s: weight '%.100s': expected a type that has a size, and up to %d "
                             "dimensions",
                             w->file, text_line(tensor->name, line), TENSOR_MAX_RANK);
        TRY(add_value(w, &value));
    }
    return STATUS_OK;
}

static enum status read_told(struct walk *w)
{
    for (size_t i = 0; i < w->graph->n_value_info; i++) {
        const Onnx__ValueInfoProto *info = w->graph->value_info[i];
        struct told *told = info->name ? malloc(sizeof *told) : NULL;
        if (!info->name)
            continue;
        if (!told)
            return error_memory(w->error);
        *told = (struct told){info->name, info};
        struct told **there = tsearch(told, &w->told, compare_names);
        if (!there || *there != told)
            free(told);
        if (!there)
            return error_memory(w->error);
    }
    return STATUS_OK;
}

/* What the file itself says of a result that no rule finds. */
static void use_file(struct walk *w, struct onnx_value *value)
{
    const struct told key = {value->name, NULL};
    struct told *const *found = tfind(&key, &w->told, compare_names);
    struct onnx_value known;
    int d;
    if (found && read_type(w, (*found)->info, false, &known, &d))
        *value = known;
}

static enum status node_error(const struct walk *w, size_t number, const struct onnx_node *node)
{
    char type[TEXT_LINE_SIZE], name[TEXT_LINE_SIZE];
    return error_set(w->error, STATUS_INVALID, "%s: node %zu (%.40s '%.100s'): %s", w->file, number,
                     text_line(node->proto->op_type, type), text_line(node_name(node), name),
                     node->why);
}

/* Finds what the node reads; NODE_UNKNOWN where the shape of something of it is not known. */
static enum node_state bind(struct walk *w, struct onnx_node *node, int least)
{
    enum node_state state = NODE_FOUND;
    char line[TEXT_LINE_SIZE];
    for (int i = 0; i < node->in_count; i++) {
        const char *name = node->proto->input[i];
        if (!*name)
            continue;
        node->in[i] = find_value(w, name);
        if (!node->in[i])
            return node_wrong(node, "reads '%.60s', which nothing before it makes",
                              text_line(name, line));
        if (!node->in[i]->is_known)
            state = node_unknown(node, "the shape of what it reads is not known");
    }
    for (int i = 0; i < least; i++)
        if (!node_input(node, i))
            return node_wrong(node, "has no input %d", i);
    return state;
}

static enum status infer(struct walk *w, struct onnx_node *node, size_t number)
{
    const struct onnx_operator *op = onnx_operator_find(node->proto->op_type);
    enum node_state state = bind(w, node, op ? op->least_inputs : 0);
    const struct onnx_value *first = node_input(node, 0);
    bool is_constant = node->in_count > 0;
    for (int i = 0; i < node->in_count; i++)
        is_constant &= !node->in[i] || node->in[i]->is_constant;
    for (int o = 0; o < node->out_count; o++) {
        node->out[o].name = node->proto->output[o];
        if (first)
            node->out[o].type = first->type;
    }
    if (!op && state == NODE_FOUND)
        state = node_unknown(node, "an operator that is not known here");
    else if (op && state == NODE_FOUND)
        state = op->rule(node);
    if (state == NODE_WRONG)
        return node_error(w, number, node);
    for (int o = 0; o < node->out_count; o++) {
        struct onnx_value *out = &node->out[o];
        if (state == NODE_UNKNOWN || !out->is_known) {
            *out = (struct onnx_value){.name = node->proto->output[o]};
            use_file(w, out);
        }
        out->is_map &= out->rank == 4;
        out->is_constant |= is_constant;
    }
    TRY(add_calls(w->network, node, op, state == NODE_UNKNOWN, number, w->request->reals,
                  w->error));
    for (int o = 0; o < node->out_count; o++)
        if (*node->out[o].name)
            TRY(add_value(w, &node->out[o]));
    return STATUS_OK;
}

static enum status walk_node(struct walk *w, const Onnx__NodeProto *proto, size_t number)
{
    struct onnx_node node = {.proto = proto};
    if (!proto->op_type || !*proto->op_type || proto->n_input > CALL_MAX_TENSORS ||
        proto->n_output == 0 || proto->n_output > CALL_MAX_TENSORS)
        return error_set(w->error, STATUS_INVALID,
                         "%s: node %zu: expected an operator with up to %d inputs and 1 to %d "
                         "outputs",
                         w->file, number, CALL_MAX_TENSORS, CALL_MAX_TENSORS);
    node.in_count = (int)proto->n_input;
    node.out_count = (int)proto->n_output;
    node.in = calloc(proto->n_input + 1, sizeof(struct onnx_value *));
    node.out = calloc(proto->n_output, sizeof *node.out);
    enum status status = node.in && node.out ? infer(w, &node, number) : error_memory(w->error);
    free(node.in);
    free(node.out);
    return status;
}

static enum status walk_graph(struct walk *w)
{
    TRY(sizes_read(w->request, &w->sizes, w->error));
    TRY(read_weights(w));
    TRY(read_inputs(w));
    TRY(all_used(w));
    TRY(read_told(w));
    for (size_t n = 0; n < w->graph->n_node; n++)
        TRY(walk_node(w, w->graph->node[n], n));
    if (w->network->call_count == 0)
        return error_set(w->error, STATUS_INVALID, "%s: has no nodes, expected a graph", w->file);
    return STATUS_OK;
}

static enum status read_model(const char *file, const struct skimmed *skimmed,
                              const struct network_request *request, struct network *network,
                              struct error *error)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, skimmed->size, skimmed->bytes);
    struct walk w = {.file = file, .request = request, .network = network, .error = error};
    enum status status;
    if (!model || !model->graph)
        status = error_set(error, STATUS_INVALID, "%s: cannot be decoded, expected a model of ONNX",
                           file);
    else {
        w.graph = model->graph;
        status = walk_graph(&w);
    }
    tdestroy(w.values, free);
    tdestroy(w.told, free);
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    return status;
}

static enum status map_file(const char *file, void **bytes, size_t *size, struct error *error)
{
    struct stat info;
    int handle = open(file, O_RDONLY | O_CLOEXEC);
    if (handle < 0 || fstat(handle, &info) != 0 || info.st_size == 0) {
        int number = errno;
        if (handle >= 0)
            close(handle);
        return error_set(error, STATUS_IO, "%s: %s", file,
                         handle < 0 ? strerror(number) : "is empty, expected a model of ONNX");
    }
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
    close(handle);
    if (map == MAP_FAILED)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(errno));
    *bytes = map;
    *size = (size_t)info.st_size;
    return STATUS_OK;
}

enum status onnx_file_read(const char *file, const struct network_request *request,
                           struct network *network, struct error *error)
{
    void *bytes = NULL;
    struct skimmed skimmed;
    size_t size = 0;
    TRY(map_file(file, &bytes, &size, error));
    enum status status = onnx_skim(file, bytes, size, &skimmed, error);
    munmap(bytes, size);
    if (status != STATUS_OK)
        return status;
    status = network_begin(file, network, error);
    if (status == STATUS_OK) {
        status = read_model(file, &skimmed, request, network, error);
        if (status != STATUS_OK)
            network_free(network);
    }
    free(skimmed.bytes);
    return status;
}
