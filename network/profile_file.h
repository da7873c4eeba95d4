/* The calls of a profiler's table of kernels (formats/profile.h; docs/profiles.md). */
#ifndef AUTOTUNE_NETWORK_PROFILE_FILE_H
#define AUTOTUNE_NETWORK_PROFILE_FILE_H

#include "network/network.h"

/* Rows of one type with the same tensors and blocks are one call, with their count, the mean of
 * their durations and the first one's line and name. Of rows of communication and of processors,
 * of those without shapes, and of those that cannot be read nothing is to be predicted
 * (`uncovered` says why). STATUS_INVALID with
 * "file:line: ..."; STATUS_TOO_LARGE, STATUS_IO. After a failure there is nothing to free. */
enum status profile_file_read(const char *file, struct network *network, struct error *error);

#endif
