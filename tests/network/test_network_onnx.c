/* Models of ONNX as calls: ResNet-50 built layer by layer, whose kernels, shapes and operations are
 * known; how exporters compute shapes, by nodes of their own; and models that are wrong. */
#include "network/problem.h"
#include "network/read.h"
#include "tests/hardware_files.h"

#ifdef AUTOTUNE_ONNX
#include <onnx.pb-c.h>

enum { MOST = 512, MOST_PARTS = 1 << 14 };

/* All that models are made of. */
static void *parts[MOST_PARTS];
static int part_count;

static void leave_models(void)
{
    while (part_count)
        free(parts[--part_count]);
    leave();
}

TestSuite(network_onnx, .init = enter, .fini = leave_models);

/* A graph that grows; names are tN. */
struct model {
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__NodeProto *nodes[MOST];
    Onnx__TensorProto *weights[MOST];
    Onnx__ValueInfoProto *inputs[4];
    int names;
};

static void *new (size_t size)
{
    cr_assert(part_count < MOST_PARTS);
    parts[part_count] = calloc(1, size);
    cr_assert(parts[part_count]);
    return parts[part_count++];
}

static char *new_text(const char *text)
{
    return strcpy(new (strlen(text) + 1), text);
}

static char *new_name(struct model *m)
{
    char *name = new (16);
    snprintf(name, 16, "t%d", m->names++);
    return name;
}

static void begin(struct model *m)
{
    memset(m, 0, sizeof *m);
    onnx__model_proto__init(&m->model);
    onnx__graph_proto__init(&m->graph);
    m->model.has_ir_version = 1;
    m->model.ir_version = 8;
    m->model.graph = &m->graph;
    m->graph.node = m->nodes;
    m->graph.initializer = m->weights;
    m->graph.input = m->inputs;
}

static char *weight(struct model *m, int type, int rank, const int64_t *size)
{
    Onnx__TensorProto *t = new (sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = new_name(m);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = (size_t)rank;
    t->dims = new (8 * sizeof *t->dims);
    memcpy(t->dims, size, (size_t)rank * sizeof *size);
    m->weights[m->graph.n_initializer++] = t;
    return t->name;
}

static char *floats(struct model *m, int rank, const int64_t *size)
{
    return weight(m, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, size);
}

static char *numbers(struct model *m, int count, const int64_t *list)
{
    char *name = weight(m, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, (int64_t[]){count});
    Onnx__TensorProto *t = m->weights[m->graph.n_initializer - 1];
    t->n_int64_data = (size_t)count;
    t->int64_data = new ((size_t)count * sizeof *list);
    memcpy(t->int64_data, list, (size_t)count * sizeof *list);
    return name;
}

/* A size of 0 is called "batch". */
static char *input(struct model *m, int rank, const int64_t *size)
{
    Onnx__ValueInfoProto *info = new (sizeof *info);
    Onnx__TypeProto *type = new (sizeof *type);
    Onnx__TypeProto__Tensor *tensor = new (sizeof *tensor);
    Onnx__TensorShapeProto *shape = new (sizeof *shape);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = new_name(m);
    info->type = type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->shape = shape;
    shape->n_dim = (size_t)rank;
    shape->dim = new ((size_t)rank * sizeof(Onnx__TensorShapeProto__Dimension *));
    for (int d = 0; d < rank; d++) {
        Onnx__TensorShapeProto__Dimension *dim = new (sizeof *dim);
        onnx__tensor_shape_proto__dimension__init(dim);
        dim->value_case = size[d] ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
                                  : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        if (size[d])
            dim->dim_value = size[d];
        else
            dim->dim_param = new_text("batch");
        shape->dim[d] = dim;
    }
    m->inputs[m->graph.n_input++] = info;
    return info->name;
}

static char *node(struct model *m, const char *op, char *a, char *b, char *c)
{
    Onnx__NodeProto *n = new (sizeof *n);
    onnx__node_proto__init(n);
    n->op_type = new_text(op);
    n->input = new (4 * sizeof(char *));
    n->input[0] = a, n->input[1] = b, n->input[2] = c;
    n->n_input = c ? 3 : b ? 2 : a ? 1 : 0;
    n->output = new (sizeof(char *));
    n->output[0] = new_name(m);
    n->n_output = 1;
    m->nodes[m->graph.n_node++] = n;
    return n->output[0];
}

/* Gives the last node a list, or where `count` is 0 one number. */
static void attribute(struct model *m, const char *name, int count, const int64_t *list)
{
    Onnx__NodeProto *n = m->nodes[m->graph.n_node - 1];
    Onnx__AttributeProto *a = new (sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = new_text(name);
    a->has_i = count == 0;
    a->i = list[0];
    a->n_ints = (size_t)count;
    a->ints = new (8 * sizeof *a->ints);
    memcpy(a->ints, list, (size_t)count * sizeof *list);
    if (!n->attribute)
        n->attribute = new (8 * sizeof(Onnx__AttributeProto *));
    n->attribute[n->n_attribute++] = a;
}

static enum status read_model(struct model *m, const char *sizes, struct network *network,
                              struct error *error)
{
    size_t size = onnx__model_proto__get_packed_size(&m->model);
    uint8_t *bytes = new (size);
    onnx__model_proto__pack(&m->model, bytes);
    write_bytes(in_folder("m.onnx"), (const char *)bytes, size);
    return network_read(in_folder("m.onnx"), &(struct network_request){DTYPE_F16, sizes}, network,
                        error);
}

static void read_good(struct model *m, const char *sizes, struct network *network)
{
    struct error error = {0};
    cr_assert_eq(read_model(m, sizes, network, &error), STATUS_OK, "%s", error.text);
}

static void expect_refused(struct model *m, const char *sizes, const char *part)
{
    struct network network;
    struct error error = {0};
    cr_expect_eq(read_model(m, sizes, &network, &error), STATUS_INVALID, "%s", part);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
}

/* ------------------------------------------------------------------ ResNet-50 */

static char *conv(struct model *m, char *x, int64_t in, int64_t out, int64_t kernel, int64_t stride)
{
    int64_t pad = kernel / 2;
    char *filter = floats(m, 4, (int64_t[]){out, in, kernel, kernel});
    char *y = node(m, "Conv", x, filter, floats(m, 1, (int64_t[]){out}));
    attribute(m, "strides", 2, (int64_t[]){stride, stride});
    attribute(m, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    return y;
}

static char *relu(struct model *m, char *x)
{
    return node(m, "Relu", x, NULL, NULL);
}

static char *bottleneck(struct model *m, char *x, int64_t in, int64_t width, int64_t stride,
                        bool is_first)
{
    char *y = relu(m, conv(m, x, in, width, 1, 1));
    y = relu(m, conv(m, y, width, width, 3, stride));
    y = conv(m, y, width, 4 * width, 1, 1);
    return relu(m, node(m, "Add", y, is_first ? conv(m, x, in, 4 * width, 1, stride) : x, NULL));
}

static void build_resnet50(struct model *m)
{
    static const int depth[] = {3, 4, 6, 3};
    begin(m);
    char *x = relu(m, conv(m, input(m, 4, (int64_t[]){0, 3, 224, 224}), 3, 64, 7, 2));
    x = node(m, "MaxPool", x, NULL, NULL);
    attribute(m, "kernel_shape", 2, (int64_t[]){3, 3});
    attribute(m, "strides", 2, (int64_t[]){2, 2});
    attribute(m, "pads", 4, (int64_t[]){1, 1, 1, 1});
    int64_t in = 64;
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < depth[stage]; block++, in = 256L << stage)
            x = bottleneck(m, x, in, 64L << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
    x = node(m, "Flatten", node(m, "GlobalAveragePool", x, NULL, NULL), NULL, NULL);
    node(m, "Gemm", x, floats(m, 2, (int64_t[]){1000, 2048}), floats(m, 1, (int64_t[]){1000}));
    attribute(m, "transB", 0, (int64_t[]){1});
}

static int count_kind(const struct network *network, const char *kind)
{
    int count = 0;
    for (int64_t i = 0; i < network->call_count; i++)
        count += strcmp(network->calls[i].op_type, kind) == 0;
    return count;
}

/* What the model says of how a filter moves is what its images' sizes leave. */
static void check_problem(const struct operator_call *call)
{
    struct operator_call silent = *call;
    struct call_problem said, found;
    silent.window = (struct call_window){.kernel = {0}};
    cr_assert(call_find_problem(call, &said) && call_find_problem(&silent, &found));
    cr_assert(said.setting_count > 0 && said.setting_count == found.setting_count, "%s%s", said.why,
              found.why);
    for (int i = 0; i < said.setting_count; i++)
        cr_expect_str_eq(said.settings[i].text, found.settings[i].text, "%s",
                         said.settings[i].name);
}

/* 4.09 GMAC a picture (He and others 2016 give 3.8 with another stride): here by hand, from the
 * filters and the images, and by what the calls' layouts say with channels below 16 padded. */
Test(network_onnx, resnet_50)
{
    static struct model m;
    struct network network;
    double operations = 0;
    build_resnet50(&m);
    read_good(&m, "batch=8", &network);
    cr_expect_eq(count_kind(&network, "Conv2D"), 53);
    cr_expect_eq(count_kind(&network, "ReLU"), 49);
    cr_expect_eq(count_kind(&network, "Add"), 16);
    cr_expect_eq(count_kind(&network, "MaxPool"), 1);
    cr_expect_eq(count_kind(&network, "ReduceMean"), 1);
    cr_expect_eq(count_kind(&network, "MatMul"), 1);
    cr_expect_eq(count_kind(&network, "TransData"), 2); /* the picture, and what is flattened */
    cr_expect_eq(network.call_count, 123);
    for (int64_t i = 0; i < network.call_count; i++) {
        const struct operator_call *call = &network.calls[i];
        cr_expect_null(call->uncovered);
        if (strcmp(call->op_type, "Conv2D") != 0)
            continue;
        const struct operator_tensor *filter = &call->inputs[1], *out = &call->outputs[0];
        cr_assert_eq(filter->format, FORMAT_Z);
        check_problem(call);
        cr_assert_eq(out->format, FORMAT_NC1HWC0);
        operations += 16. * (double)filter->size[0] * 16 * (double)filter->size[1] *
                      (double)(out->size[0] * out->size[2] * out->size[3]);
    }
    double padded = 13. * 64 * 49 * 112 * 112; /* the first layer's 3 channels are 16 */
    cr_expect_float_eq(operations / 8 - padded, 4087136256., 1, "%.0f", operations / 8 - padded);
    const struct operator_call *last = &network.calls[network.call_count - 1];
    cr_expect_eq(last->outputs[0].size[0], 63); /* 1000 in blocks of 16 */
    cr_expect_eq(last->inputs[0].size[0], 128);
    network_free(&network);
}

/* ------------------------------------------------------------------ shapes from shapes */

/* Heads of attention: N, S, 768 to N, 12, S, 64 by sizes that nodes compute from the input. */
Test(network_onnx, shapes_are_computed)
{
    static struct model m;
    struct network network;
    begin(&m);
    char *x = input(&m, 3, (int64_t[]){0, 128, 768}), *shape = node(&m, "Shape", x, NULL, NULL);
    char *n = node(&m, "Gather", shape, numbers(&m, 1, (int64_t[]){0}), NULL);
    char *s =
        node(&m, "Slice", shape, numbers(&m, 1, (int64_t[]){1}), numbers(&m, 1, (int64_t[]){-1}));
    char *heads = node(&m, "Concat", n, s, numbers(&m, 2, (int64_t[]){12, -1}));
    attribute(&m, "axis", 0, (int64_t[]){0});
    char *q = node(&m, "MatMul", x, floats(&m, 2, (int64_t[]){768, 768}), NULL);
    q = node(&m, "Transpose", node(&m, "Reshape", q, heads, NULL), NULL, NULL);
    attribute(&m, "perm", 4, (int64_t[]){0, 2, 1, 3});
    char *k = node(&m, "Transpose", q, NULL, NULL);
    attribute(&m, "perm", 4, (int64_t[]){0, 1, 3, 2});
    node(&m, "Softmax", node(&m, "MatMul", q, k, NULL), NULL, NULL);
    read_good(&m, "batch=4", &network);
    cr_assert_eq(network.call_count, 5);
    const struct operator_call *product = &network.calls[0], *scores = &network.calls[3];
    cr_expect_str_eq(product->op_type, "MatMul");
    cr_expect_eq(product->inputs[0].rank, 4);
    cr_expect_eq(product->inputs[0].size[1], 32); /* 4 * 128 rows in blocks */
    cr_expect_str_eq(scores->op_type, "BatchMatMul");
    cr_expect_eq(scores->outputs[0].rank, 6);
    cr_expect_eq(scores->outputs[0].size[1], 12);
    cr_expect_eq(scores->outputs[0].size[2], 8);
    cr_expect_str_eq(network.calls[4].op_type, "Softmax");
    network_free(&network);
}

/* What cannot be found is said, and so is what hangs on it. */
Test(network_onnx, what_is_not_known)
{
    static struct model m;
    struct network network;
    begin(&m);
    char *x = input(&m, 2, (int64_t[]){4, 8});
    char *y = node(&m, "Whatever", x, NULL, NULL);
    relu(&m, y);
    relu(&m, x);
    read_good(&m, NULL, &network);
    cr_assert_eq(network.call_count, 3);
    cr_expect_str_eq(network.calls[0].uncovered, "an operator that is not known here");
    cr_expect_str_eq(network.calls[1].uncovered, "the shape of what it reads is not known");
    cr_expect_null(network.calls[2].uncovered);
    network_free(&network);
}

/* Read again at another batch, and its sizes scaled as those of a table are: the same. */
Test(network_onnx, another_batch)
{
    static struct model m;
    const struct network_request request = {.reals = DTYPE_F16, .sizes = "batch=8"};
    struct network networks[3];
    struct error error = {0};
    build_resnet50(&m);
    read_good(&m, request.sizes, &networks[0]);
    cr_expect_eq(networks[0].batch, 8);
    cr_assert_eq(network_read_at_batch(in_folder("m.onnx"), &request, &networks[0], 24,
                                       &networks[1], &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(network_at_batch(&networks[0], 24, &networks[2], &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(networks[1].call_count, networks[2].call_count);
    for (int64_t i = 0; i < networks[1].call_count; i++) {
        const struct operator_call *a = &networks[1].calls[i], *b = &networks[2].calls[i];
        for (int t = 0; t < a->input_count + a->output_count; t++) {
            cr_expect_eq(a->inputs[t].bytes, b->inputs[t].bytes, "%s", a->op_type);
            cr_expect_arr_eq(a->inputs[t].size, b->inputs[t].size, sizeof a->inputs[t].size);
        }
        cr_expect(strcmp(a->op_type, "Conv2D") != 0 || a->outputs[0].size[0] == 24);
    }
    for (int i = 0; i < 3; i++)
        network_free(&networks[i]);
}

Test(network_onnx, wrong_models)
{
    static struct model m;
    build_resnet50(&m);
    expect_refused(&m, NULL, "input 't0' has no size in dimension 0");
    expect_refused(&m, "batch=8,seq=4", "called 'seq'");
    expect_refused(&m, "batch", "expected NAME=SIZE");
    expect_refused(&m, "batch=0", "batch");
    m.weights[0]->dims[1] = 4;
    expect_refused(&m, "batch=1", "its filter is for 4 channels, its input has 3");
    begin(&m);
    relu(&m, (char[]){"t7"});
    expect_refused(&m, NULL, "reads 't7', which nothing before it makes");
    begin(&m);
    expect_refused(&m, NULL, "has no nodes");
}

static void expect_bytes_refused(const char *bytes, size_t size, const char *part)
{
    struct network network;
    struct error error = {0};
    write_bytes(in_folder("m.onnx"), bytes, size);
    cr_expect_eq(network_read(in_folder("m.onnx"), &(struct network_request){0}, &network, &error),
                 STATUS_INVALID);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
}

Test(network_onnx, wrong_bytes)
{
    expect_bytes_refused("\x3a\xff\xff\xff\xff\x07", 6, "byte 0: a field that ends behind");
    expect_bytes_refused("\x08", 1, "byte 0: a field that ends behind");
    expect_bytes_refused("\x0b", 1, "a field of a kind that ONNX has not");
    expect_bytes_refused("\x01\x00", 2, "not the tag of a field");
    expect_bytes_refused("\x08\x08", 2, "cannot be decoded");
}

/* Weights are skipped: the copy that is decoded has 512 bytes of them at most. */
Test(network_onnx, weights_are_not_loaded)
{
    static struct model m;
    struct network network;
    begin(&m);
    size_t size = 32 << 20;
    char *x = input(&m, 2, (int64_t[]){16, 4096});
    node(&m, "MatMul", x, floats(&m, 2, (int64_t[]){4096, 2048}), NULL);
    m.weights[0]->has_raw_data = 1;
    m.weights[0]->raw_data.len = size;
    m.weights[0]->raw_data.data = new (size);
    read_good(&m, NULL, &network);
    cr_assert_eq(network.call_count, 1);
    cr_expect_eq(network.calls[0].inputs[1].bytes, 4096L * 2048 * 2);
    network_free(&network);
}
#endif
