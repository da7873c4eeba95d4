/* A file is opened twice: once for its first line, and once more by the reader that knows it
 * (network/read.h). What can be read but once is refused. */
#include "network/read.h"

#include "formats/profile.h"
#include "network/onnx/onnx_file.h"
#include "network/profile_file.h"
#include "network/run_file.h"
#include "network/sizes.h"
#include "network/variant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_SIZE = 4096 };

static enum status read_head(const char *file, char head[HEAD_SIZE], size_t *size,
                             struct error *error)
{
    struct stat info;
    if (stat(file, &info) != 0)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, STATUS_IO, "%s: expected a regular file", file);
    FILE *stream = fopen(file, "re");
    if (!stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    *size = fread(head, 1, HEAD_SIZE - 1, stream);
    head[*size] = '\0';
    fclose(stream);
    return STATUS_OK;
}

/* Is a file that begins with these bytes, or is called so, a model of ONNX? Its first field is the
 * version of its format, a small number. */
static bool is_onnx(const char *file, const char *head, size_t size)
{
    size_t length = strlen(file);
    return (length > 5 && strcmp(file + length - 5, ".onnx") == 0) ||
           (size > 1 && head[0] == 8 && head[1] > 0 && head[1] < ' ');
}

#ifndef AUTOTUNE_ONNX
enum status onnx_file_read(const char *file, const struct network_request *request,
                           struct network *network, struct error *error)
{
    (void)request, (void)network;
    return error_set(error, STATUS_INVALID,
                     "%s: a model of ONNX, which this program was built without: install "
                     "libonnx-dev, libprotobuf-c-dev and protobuf-c-compiler, and build again",
                     file);
}
#endif

/* A batch is all that a table leaves open. */
static enum status check_sizes(const char *file, const struct sizes *sizes, struct error *error)
{
    for (int i = 0; i < sizes->count; i++)
        if (strcmp(sizes->given[i].name, "batch") != 0)
            return error_set(error, STATUS_INVALID,
                             "%s: is a table, whose sizes are known: --size %s=... is for models "
                             "of ONNX, expected batch=N alone",
                             file, sizes->given[i].name);
    return STATUS_OK;
}

static enum status read_any(const char *file, const struct network_request *request,
                            const struct sizes *sizes, struct network *network, struct error *error)
{
    char head[HEAD_SIZE];
    size_t size = 0;
    TRY(read_head(file, head, &size, error));
    if (is_onnx(file, head, size)) {
        TRY(onnx_file_read(file, request, network, error));
        network->is_model = true;
        return STATUS_OK;
    }
    TRY(check_sizes(file, sizes, error));
    if (run_file_is_head(head))
        return run_file_read(file, network, error);
    if (profile_is_head(head))
        return profile_file_read(file, network, error);
    return error_at(error, file, 1,
                    "expected the head of a table of calls (op_type, in_shapes, ...) or of a "
                    "profiler's table of kernels, or a model of ONNX");
}

enum status network_read(const char *file, const struct network_request *request,
                         struct network *network, struct error *error)
{
    struct sizes sizes;
    TRY(sizes_read(request, &sizes, error));
    TRY(read_any(file, request, &sizes, network, error));
    const struct size_given *batch = sizes_find(&sizes, "batch");
    network->batch = batch ? batch->size : 0;
    return STATUS_OK;
}

enum status network_read_at_batch(const char *file, const struct network_request *request,
                                  const struct network *network, int64_t batch,
                                  struct network *other, struct error *error)
{
    struct network_request again = *request;
    again.batch = batch;
    if (batch == network->batch || (!network->is_model && network->batch > 0))
        return network_at_batch(network, batch, other, error);
    if (network->is_model)
        return network_read(file, &again, other, error);
    return error_set(error, STATUS_INVALID,
                     "%s: is a table that does not say its batch, expected --size batch=N", file);
}
