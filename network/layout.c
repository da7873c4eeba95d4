/* The layouts of CANN's operator library: docs/network.md has their names, R. Wu and others (2022,
 * Table I) examples. */
#include "network/layout.h"

#include <string.h>

static int64_t blocks(int64_t elements)
{
    return (elements + 15) / 16;
}

static void map(const int64_t *in, struct operator_tensor *t)
{
    const int64_t size[] = {in[0], blocks(in[1]), in[2], in[3], 16};
    t->rank = 5;
    memcpy(t->size, size, sizeof size);
}

static void filter(const int64_t *in, struct operator_tensor *t)
{
    const int64_t size[] = {blocks(in[1]) * in[2] * in[3], blocks(in[0]), 16, 16};
    t->rank = 4;
    memcpy(t->size, size, sizeof size);
}

/* The last two dimensions in blocks, those before them as they are. */
static void matrices(const int64_t *in, int rank, struct operator_tensor *t)
{
    int batch = rank - 2;
    const int64_t size[] = {blocks(in[batch + 1]), blocks(in[batch]), 16, 16};
    t->rank = rank + 2;
    memcpy(t->size, in, (size_t)batch * sizeof *t->size);
    memcpy(t->size + batch, size, sizeof size);
}

bool tensor_lay_out(const int64_t *size, int rank, enum tensor_format format, enum dtype type,
                    struct operator_tensor *tensor)
{
    *tensor = (struct operator_tensor){.format = format, .type = type, .rank = rank};
    if (format == FORMAT_NC1HWC0)
        map(size, tensor);
    else if (format == FORMAT_Z)
        filter(size, tensor);
    else if (format == FORMAT_NZ)
        matrices(size, rank, tensor);
    else
        memcpy(tensor->size, size, (size_t)rank * sizeof *size);
    return tensor_measure(tensor);
}
