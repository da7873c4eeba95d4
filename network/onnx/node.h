/* A node of an ONNX graph while its results' shapes are found: the values that it reads, those that
 * it makes, and its attributes. */
#ifndef AUTOTUNE_NETWORK_ONNX_NODE_H
#define AUTOTUNE_NETWORK_ONNX_NODE_H

#include "network/network.h"
#include <onnx.pb-c.h>

enum { VALUE_MAX_NUMBERS = 16, NODE_WHY_SIZE = 160 };

/* A tensor between nodes. Of a few values what they hold is known too, for shapes are made of them:
 * they are whole numbers and factors, up to one dimension. */
struct onnx_value {
    const char *name; /* in the decoded file */
    bool is_known;    /* its type, rank and sizes are */
    bool is_constant; /* a weight, or made of weights alone */
    bool is_map;      /* N, C, H, W of convolutions, which the library keeps as NC1HWC0 */
    bool is_both;     /* the library has it in both layouts by now */
    bool is_held;     /* `numbers` are what it holds */
    enum dtype type;
    int rank;
    int64_t size[TENSOR_MAX_RANK];
    double numbers[VALUE_MAX_NUMBERS];
};

int64_t value_elements(const struct onnx_value *value);

/* Did a rule find shapes? NODE_UNKNOWN: they depend on what the file does not tell, as in `why`;
 * NODE_WRONG: the graph breaks a rule of ONNX. */
enum node_state { NODE_FOUND, NODE_UNKNOWN, NODE_WRONG };

struct onnx_node {
    const Onnx__NodeProto *proto;
    int64_t opset;
    int in_count, out_count;
    struct onnx_value **in;    /* NULL: left out; rules only read them */
    struct onnx_value *out;    /* at first unknown, with the first input's type */
    struct call_window window; /* of a convolution over rows and columns */
    char why[NODE_WHY_SIZE];
};

enum node_state node_wrong(struct onnx_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum node_state node_unknown(struct onnx_node *node, const char *why);

/* What the file calls it, "" where it has no name. */
const char *node_name(const struct onnx_node *node);

/* The input of this number, or NULL where it is left out. */
const struct onnx_value *node_input(const struct onnx_node *node, int number);

/* Attributes: whether there is one, its whole number or `none`, its list (count 0: none), and
 * whether its text is this one. */
int64_t node_int(const struct onnx_node *node, const char *name, int64_t none);
int node_ints(const struct onnx_node *node, const char *name, const int64_t **list);
bool node_is(const struct onnx_node *node, const char *name, const char *text);
const Onnx__TensorProto *node_tensor(const struct onnx_node *node, const char *name);

/* Whole numbers that an attribute or, in newer graphs, an input holds; -1 where neither does, and
 * -2 where an input does whose numbers are not known. */
enum { NODE_NO_LIST = -1, NODE_NOT_HELD = -2 };
int node_list(const struct onnx_node *node, const char *name, int input,
              int64_t list[VALUE_MAX_NUMBERS]);

/* A number as a whole one, the nearest that 62 bits hold. */
int64_t whole(double number);

/* An axis counted from the front, or -1 where a tensor of this rank has none such. */
int node_axis(int64_t axis, int rank);

/* Sets a result's shape; NODE_WRONG for more dimensions, or sizes, than there may be. */
enum node_state node_set(struct onnx_node *node, int out, int rank, const int64_t *size);

/* Makes a constant's value of a tensor that the file holds. */
bool value_of_tensor(const Onnx__TensorProto *tensor, struct onnx_value *value);

/* The project's type of ONNX's number, or -1. */
int onnx_type(int number);

/* What a library of CANN runs an operator as. */
struct onnx_operator {
    const char *name; /* ONNX's */
    const char
        *op_type; /* the library's; NULL: another view of the same bytes, which takes no time */
    int least_inputs;
    enum node_state (*rule)(struct onnx_node *node);
};

/* The operator of this name, or NULL. Rules are called with inputs that are known, and with so many
 * of them at least; they fill the outputs' shapes, and what these hold where that is known. */
const struct onnx_operator *onnx_operator_find(const char *name);

/* Rules of windows that move over N, C, H, W (network/onnx/windows.c). */
enum node_state rule_conv(struct onnx_node *node);
enum node_state rule_conv_transpose(struct onnx_node *node);
enum node_state rule_pool(struct onnx_node *node);
enum node_state rule_global_pool(struct onnx_node *node);

#endif
