/* A table of calls, a row for each operator with its shapes, layouts and types (docs/network.md).
 */
#ifndef AUTOTUNE_NETWORK_RUN_FILE_H
#define AUTOTUNE_NETWORK_RUN_FILE_H

#include "network/network.h"

/* Reads a whole file ("-": the standard input). STATUS_INVALID with "file:line: ..." for what is
 * wrong; STATUS_TOO_LARGE, STATUS_IO. After a failure there is nothing to free. */
enum status run_file_read(const char *file, struct network *network, struct error *error);

/* Does a line, the first of a file, look like the head of such a table? */
bool run_file_is_head(const char *line);

#endif
