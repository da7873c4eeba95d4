/* Decodes a model (protobuf-c, by the schema onnx.proto of Debian's libonnx-dev) and walks its
 * nodes in their order, which ONNX asks to be such that whatever a node reads was made before it.
 * Values are found by name in a balanced tree. */
#include "network/onnx/onnx_file.h"

#include "formats/text.h"
#include "network/onnx/calls.h"
#include "network/onnx/rules.h"
#include "network/onnx/skim.h"
#include "network/sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum status fail(const struct walk *w, size_t number, const struct onnx_node *node)
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
        return fail(w, number, node);
    for (int o = 0; o < node->out_count; o++) {
        struct onnx_value *out = &node->out[o];
        if (state == NODE_UNKNOWN || !out->is_known) {
            *out = (struct onnx_value){.name = node->proto->output[o]};
            use_file(w, out);
        }
        out->is_map &= out->rank == 4;
        out->is_constant |= is_constant;
    }
    TRY(onnx_calls_add(w->network, node, op, state == NODE_UNKNOWN, number, w->request->reals,
                       w->error));
    for (int o = 0; o < node->out_count; o++)
        if (*node->out[o].name)
            TRY(add_value(w, &node->out[o]));
    return STATUS_OK;
}

static enum status walk_node(struct walk *w, const Onnx__NodeProto *proto, size_t number)
{
    struct onnx_node node = {.proto = proto};
    if (!proto->op_type || proto->n_input > CALL_MAX_TENSORS || proto->n_output == 0 ||
        proto->n_output > CALL_MAX_TENSORS)
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
