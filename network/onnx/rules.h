/* What ONNX's operators make of their inputs' shapes (onnx.ai/onnx/operators), and as what kernel a
 * library of CANN runs them. */
#ifndef AUTOTUNE_NETWORK_ONNX_RULES_H
#define AUTOTUNE_NETWORK_ONNX_RULES_H

#include "network/onnx/node.h"

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

/* Rules that move elements or make them (network/onnx/moves.c). */
enum node_state rule_reshape(struct onnx_node *node);
enum node_state rule_flatten(struct onnx_node *node);
enum node_state rule_squeeze(struct onnx_node *node);
enum node_state rule_unsqueeze(struct onnx_node *node);
enum node_state rule_transpose(struct onnx_node *node);
enum node_state rule_concat(struct onnx_node *node);
enum node_state rule_split(struct onnx_node *node);
enum node_state rule_slice(struct onnx_node *node);
enum node_state rule_gather(struct onnx_node *node);
enum node_state rule_expand(struct onnx_node *node);
enum node_state rule_tile(struct onnx_node *node);
enum node_state rule_pad(struct onnx_node *node);
enum node_state rule_resize(struct onnx_node *node);
enum node_state rule_depth_to_space(struct onnx_node *node);
enum node_state rule_space_to_depth(struct onnx_node *node);

/* Rules of numbers (network/onnx/numbers.c): what is made of shapes, and shapes of them. */
enum node_state rule_shape(struct onnx_node *node);
enum node_state rule_constant(struct onnx_node *node);
enum node_state rule_constant_of_shape(struct onnx_node *node);
enum node_state rule_range(struct onnx_node *node);
enum node_state rule_cast(struct onnx_node *node);
enum node_state rule_broadcast(struct onnx_node *node);
enum node_state rule_compare(struct onnx_node *node);
enum node_state rule_where(struct onnx_node *node);

/* The shape that two make together, by ONNX's multidirectional broadcasting. */
enum node_state broadcast(struct onnx_node *node, int rank, const int64_t *size, int *all_rank,
                          int64_t *all);

#endif
