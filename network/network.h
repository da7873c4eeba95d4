/* A network's step as a list of operator calls: what its readers fill and all others read.
 *
 * Call order: network_read (network/read.h), or network_begin and
 * network_add; network_free. Calls stand in the file's order. A network owns its calls, these their
 * texts and tensors. */
#ifndef AUTOTUNE_NETWORK_NETWORK_H
#define AUTOTUNE_NETWORK_NETWORK_H

#include "core/dtype.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_MAX_RANK = 8,
    CALL_MAX_TENSORS = 512, /* of inputs, and of outputs */
    NETWORK_MAX_CALLS = 1 << 20
};
/* What a tensor has at most, and calls have all together: products of them fit 64 bits. */
#define TENSOR_MAX_BYTES (INT64_C(1) << 46)
#define CALL_MAX_COUNT   (INT64_C(1) << 40)

/* How elements lie in memory; sizes are those of the layout, padding included. */
enum tensor_format {
    FORMAT_ND,      /* row-major, whatever the dimensions are called */
    FORMAT_NC1HWC0, /* N, C/16, H, W, 16 */
    FORMAT_NZ,      /* ..., N/16, M/16, 16, 16 of an M x N matrix */
    FORMAT_Z,       /* filters: C1*kh*kw, Cout/16, 16, 16 */
    FORMAT_OTHER,   /* one of its own: its sizes are what is known */
    FORMAT_COUNT
};

struct operator_tensor {
    enum tensor_format format;
    enum dtype type;
    int rank; /* 0: a scalar */
    int64_t size[TENSOR_MAX_RANK];
    int64_t bytes; /* of all elements; of a scalar those of one */
};

/* How a convolution's filter moves over the image, along its rows and its columns. */
struct call_window {
    int64_t kernel[2]; /* 0: the file does not say it */
    int64_t stride[2], dilation[2];
    int64_t padding[2]; /* before the first; behind the last it follows from the sizes */
    int64_t groups;     /* of channels that do not see each other */
};

/* Calls of one operator with the same shapes, layouts and types. */
struct operator_call {
    char *op_type; /* "MatMul" */
    char *name;    /* of the layer or kernel; "" where the file has none */
    int line;      /* of the file, of the first of them */
    int block_dim; /* launched blocks; 0: not known */
    int input_count, output_count;
    struct operator_tensor *inputs, *outputs; /* one allocation, which begins at the inputs */
    int64_t count;                            /* >= 1 */
    int64_t count_gradients;                  /* of these, in the backward pass; 0: not known */
    double measured_ns;                       /* mean of a call; 0: not measured */
    struct call_window window;
    char *uncovered; /* why nothing is predicted of it; NULL: all is known */
    bool is_l_kind;  /* one that the sum of L is about (network_is_l_kind) */
};

/* What a file of a graph leaves open. */
struct network_request {
    enum dtype reals;  /* what FP32 and FP16 of the graph run as */
    const char *sizes; /* "batch=8,seq=128" for dimensions of inputs that the file names and gives
                          no size, or NULL; `batch` is also the first one of any that has none, and
                          of a table the samples that its calls are about */
    int64_t batch;     /* in place of that of `sizes`; 0: as they say */
};

struct network {
    char *name;    /* the file's, for messages */
    int64_t batch; /* samples of a step; 0: not known */
    bool is_model; /* shapes were computed from those of a model's inputs */
    int64_t call_count;
    struct operator_call *calls;
};

/* After a failure there is nothing to free. */
enum status network_begin(const char *name, struct network *network, struct error *error);
void network_free(struct network *network);

/* Appends a call of this kind with room for its tensors, count 1, all else 0; *call is valid until
 * the next one is added. */
enum status network_add(struct network *network, const char *op_type, const char *name,
                        int input_count, int output_count, struct operator_call **call,
                        struct error *error);

/* Frees what a call owns. */
void operator_call_clear(struct operator_call *call);

/* Fills `bytes` from sizes and type; false beyond TENSOR_MAX_BYTES. Sizes are >= 0. */
bool tensor_measure(struct operator_tensor *tensor);
int64_t operator_tensor_elements(const struct operator_tensor *tensor);

/* The first of a list with this layout and rank, or NULL. */
const struct operator_tensor *operator_tensor_find(const struct operator_tensor *list, int count,
                                                   enum tensor_format format, int rank);

/* All bytes of a call's inputs and outputs. */
int64_t call_bytes(const struct operator_call *call);

/* Fills `tensor` with that of these dimensions in a format: FORMAT_NC1HWC0 of N, C, H, W;
 * FORMAT_Z of a filter, Cout, C, kh, kw; FORMAT_NZ of matrices, the last two of 2 to
 * TENSOR_MAX_RANK - 2 dimensions; else as they are. False where it is more than a tensor may be. */
bool tensor_lay_out(const int64_t *size, int rank, enum tensor_format format, enum dtype type,
                    struct operator_tensor *tensor);

/* Does the end-to-end sum of R. Wu and others (2022; L) count this call? Its largest rank is 3, 4
 * or 5, and its kind is among those that the source lists for that rank. */
bool network_is_l_kind(const struct operator_call *call);

/* Sizes that a file of a network leaves open, as they are given: "batch=8,seq=128". */
enum { SIZES_MAX = 8, SIZE_NAME_SIZE = 64 };

struct sizes {
    int count;
    struct size_given {
        char name[SIZE_NAME_SIZE];
        int64_t size; /* from 1 to INT32_MAX */
        bool is_used; /* the reader's */
    } given[SIZES_MAX];
};

/* The sizes of a request; its batch replaces the one among them. */
enum status sizes_read(const struct network_request *request, struct sizes *sizes,
                       struct error *error);

/* NULL: it is not given. */
struct size_given *sizes_find(struct sizes *sizes, const char *name);

#endif
