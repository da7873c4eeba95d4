/* Nodes of ONNX as the kernels that a library of CANN runs for them, with its layouts. */
#ifndef AUTOTUNE_NETWORK_ONNX_CALLS_H
#define AUTOTUNE_NETWORK_ONNX_CALLS_H

#include "network/onnx/rules.h"

/* Adds what a node runs: nothing where it only makes another view, where its result is known
 * without the network's inputs, or where it is a few numbers; a TransData before it for each input
 * that is in the other layout. `number` counts nodes from 0. */
enum status onnx_calls_add(struct network *network, struct onnx_node *node,
                           const struct onnx_operator *op, bool is_unknown, size_t number,
                           enum dtype reals, struct error *error);

#endif
