/* The operator calls of an ONNX model's inference, one for each node that a kernel runs
 * (docs/network.md), with shapes found from those of the graph's inputs and weights. */
#ifndef AUTOTUNE_NETWORK_ONNX_FILE_H
#define AUTOTUNE_NETWORK_ONNX_FILE_H

#include "network/network.h"

/* Maps the file and decodes what onnx_skim keeps of it. A node of an operator that is not known, or
 * whose shapes cannot be found, is a call with `uncovered`, and so is what depends on its results
 * where the file has no shapes for these. STATUS_INVALID names file, node and what was expected;
 * STATUS_TOO_LARGE, STATUS_IO. After a failure there is nothing to free. */
enum status onnx_file_read(const char *file, const struct network_request *request,
                           struct network *network, struct error *error);

#endif
