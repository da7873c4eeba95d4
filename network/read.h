/* The calls of a network, from any file that a reader knows. */
#ifndef AUTOTUNE_NETWORK_READ_H
#define AUTOTUNE_NETWORK_READ_H

#include "network/network.h"

/* Reads a table of calls, a profiler's table of kernels or a model of ONNX (where the program is
 * built with that), told apart by their heads; a regular file. STATUS_INVALID, STATUS_TOO_LARGE or
 * STATUS_IO as the readers, or for another file; then there is nothing to free. */
enum status network_read(const char *file, const struct network_request *request,
                         struct network *network, struct error *error);

#endif
