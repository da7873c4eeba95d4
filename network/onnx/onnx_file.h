/* The operator calls of an ONNX model's inference, one for each node that a kernel runs
 * (docs/network.md), with shapes found from those of the graph's inputs and weights. */
#ifndef AUTOTUNE_NETWORK_ONNX_FILE_H
#define AUTOTUNE_NETWORK_ONNX_FILE_H

#include "network/network.h"

struct onnx_request {
    enum dtype reals;  /* what FP32 and FP16 of the file run as */
    const char *sizes; /* "batch=8,seq=128" for dimensions that the file names; NULL: none. `batch`
                          is also the first dimension of an input where the file says nothing */
};

/* Maps the file and decodes what onnx_skim keeps of it. A node of an operator that is not known, or
 * whose shapes cannot be found, is a call with `uncovered`, and so is what depends on its results
 * where the file has no shapes for these. STATUS_INVALID names file, node and what was expected;
 * STATUS_TOO_LARGE, STATUS_IO. After a failure there is nothing to free. */
enum status onnx_file_read(const char *file, const struct onnx_request *request,
                           struct network *network, struct error *error);

/* Is a file that begins with these bytes, or is called so, one of ONNX? */
bool onnx_file_is(const char *file, const char *head, size_t size);

#endif
