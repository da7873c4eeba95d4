/* A file of ONNX without what it weighs: a copy of the message with what shapes are found by, and
 * of tensors' data a few elements, so that a model of gigabytes is decoded from its graph alone.
 * Graphs within nodes, functions and documentation are left out too. */
#ifndef AUTOTUNE_NETWORK_ONNX_SKIM_H
#define AUTOTUNE_NETWORK_ONNX_SKIM_H

#include "core/status.h"

#include <stdint.h>

enum {
    SKIM_MAX_DATA = 512,       /* bytes of a tensor's data that are kept */
    SKIM_MAX_BYTES = 16 << 20, /* of the copy: what decoding takes is a multiple of it */
};

struct skimmed {
    uint8_t *bytes; /* free() it */
    size_t size;
};

/* Copies a ModelProto of `size` bytes. STATUS_INVALID with the byte at which the file `name` is not
 * what it should be; STATUS_TOO_LARGE beyond the limits above, STATUS_NO_MEMORY. After a failure
 * there is nothing to free. */
enum status onnx_skim(const char *name, const uint8_t *bytes, size_t size, struct skimmed *skimmed,
                      struct error *error);

#endif
