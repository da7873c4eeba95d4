/* The calls of a network, from any file that a reader knows. */
#ifndef AUTOTUNE_NETWORK_READ_H
#define AUTOTUNE_NETWORK_READ_H

#include "network/network.h"

/* Reads a table of calls, a profiler's table of kernels or a model of ONNX (where the program is
 * built with that), told apart by their heads; a regular file. STATUS_INVALID, STATUS_TOO_LARGE or
 * STATUS_IO as the readers, or for another file; then there is nothing to free. */
enum status network_read(const char *file, const struct network_request *request,
                         struct network *network, struct error *error);

/* A table of calls alone, a row for each operator with its shapes, layouts and types ("-": the
 * standard input). */
enum status run_file_read(const char *file, struct network *network, struct error *error);

/* The operator calls of an ONNX model's inference, one for each node that a kernel runs
 * (docs/network.md), with shapes found from those of the graph's inputs and weights. A node of an
 * operator that is not known, or whose shapes cannot be found, is a call with `uncovered`, and so
 * is what depends on its results where the file has no shapes for these. STATUS_INVALID names file,
 * node and what was expected; STATUS_TOO_LARGE, STATUS_IO. After a failure there is nothing to
 * free. */
enum status onnx_file_read(const char *file, const struct network_request *request,
                           struct network *network, struct error *error);

/* The same file as it would be with another batch, from `network`, which was read from it with this
 * request: a model is read again, a table's sizes are scaled (network/problem.h). */
enum status network_read_at_batch(const char *file, const struct network_request *request,
                                  const struct network *network, int64_t batch,
                                  struct network *other, struct error *error);

#endif
