/* A file is opened twice: once for its first line, and once more by the reader that knows it
 * (network/read.h). What can be read but once is refused. */
#include "network/read.h"

#include "formats/profile.h"
#include "network/profile_file.h"
#include "network/run_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_SIZE = 4096 };

static enum status read_head(const char *file, char head[HEAD_SIZE], struct error *error)
{
    struct stat info;
    if (stat(file, &info) != 0)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, STATUS_IO, "%s: expected a regular file", file);
    FILE *stream = fopen(file, "re");
    if (!stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    head[fread(head, 1, HEAD_SIZE - 1, stream)] = '\0';
    fclose(stream);
    return STATUS_OK;
}

enum status network_read(const char *file, struct network *network, struct error *error)
{
    char head[HEAD_SIZE];
    TRY(read_head(file, head, error));
    if (run_file_is_head(head))
        return run_file_read(file, network, error);
    if (profile_is_head(head))
        return profile_file_read(file, network, error);
    return error_at(error, file, 1,
                    "expected the head of a table of calls (op_type, in_shapes, ...) or of a "
                    "profiler's table of kernels");
}
