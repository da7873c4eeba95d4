/* Calls in an array that grows by doubling, the tensors of each in one block. Layouts are
 * those of CANN's operator library: docs/network.md has their names, R. Wu and others (2022, Table
 * I) examples. Which kinds L sums is Table II of R. Wu and others, "Machine Learning-enabled
 * Performance Model for DNN Applications and AI Accelerator" (2022), as its published runs select
 * them. */
#include "network/network.h"

#include "core/array.h"
#include "core/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status network_begin(const char *name, struct network *network, struct error *error)
{
    *network = (struct network){.name = strdup(name)};
    return network->name ? STATUS_OK : error_memory(error);
}

void operator_call_clear(struct operator_call *call)
{
    free(call->op_type);
    free(call->name);
    free(call->uncovered);
    free(call->inputs);
}

void network_free(struct network *network)
{
    for (int64_t i = 0; i < network->call_count; i++)
        operator_call_clear(&network->calls[i]);
    free(network->calls);
    free(network->name);
    *network = (struct network){0};
}

enum status network_add(struct network *network, const char *op_type, const char *name,
                        int input_count, int output_count, struct operator_call **call,
                        struct error *error)
{
    if (network->call_count == NETWORK_MAX_CALLS)
        return error_set(error, STATUS_TOO_LARGE, "%s: more than %d calls", network->name,
                         NETWORK_MAX_CALLS);
    if (!array_room(&network->calls, network->call_count, sizeof *network->calls))
        return error_memory(error);
    size_t tensors = (size_t)input_count + (size_t)output_count;
    struct operator_call *new = &network->calls[network->call_count];
    *new = (struct operator_call){.op_type = strdup(op_type),
                                  .name = strdup(name),
                                  .input_count = input_count,
                                  .output_count = output_count,
                                  .inputs = calloc(tensors ? tensors : 1, sizeof *new->inputs),
                                  .count = 1};
    if (!new->op_type || !new->name || !new->inputs) {
        operator_call_clear(new);
        return error_memory(error);
    }
    new->outputs = new->inputs + input_count;
    network->call_count++;
    *call = new;
    return STATUS_OK;
}

int64_t operator_tensor_elements(const struct operator_tensor *tensor)
{
    int64_t elements = 1;
    for (int d = 0; d < tensor->rank; d++)
        elements *= tensor->size[d];
    return elements;
}

bool tensor_measure(struct operator_tensor *tensor)
{
    int64_t bytes = dtype_bytes(tensor->type);
    for (int d = 0; d < tensor->rank; d++) {
        if (tensor->size[d] > TENSOR_MAX_BYTES / (bytes ? bytes : 1))
            return false;
        bytes *= tensor->size[d];
    }
    tensor->bytes = bytes;
    return true;
}

const struct operator_tensor *operator_tensor_find(const struct operator_tensor *list, int count,
                                                   enum tensor_format format, int rank)
{
    for (int i = 0; i < count; i++)
        if (list[i].format == format && list[i].rank == rank)
            return &list[i];
    return NULL;
}

int64_t call_bytes(const struct operator_call *call)
{
    int64_t bytes = 0;
    for (int t = 0; t < call->input_count + call->output_count; t++)
        bytes += call->inputs[t].bytes;
    return bytes;
}

/* ------------------------------------------------------------------ layouts */

static int64_t blocks_of(int64_t elements)
{
    return (elements + 15) / 16;
}

static void lay_out_map(const int64_t *in, struct operator_tensor *t)
{
    const int64_t size[] = {in[0], blocks_of(in[1]), in[2], in[3], 16};
    t->rank = 5;
    memcpy(t->size, size, sizeof size);
}

static void lay_out_filter(const int64_t *in, struct operator_tensor *t)
{
    const int64_t size[] = {blocks_of(in[1]) * in[2] * in[3], blocks_of(in[0]), 16, 16};
    t->rank = 4;
    memcpy(t->size, size, sizeof size);
}

/* The last two dimensions in blocks, those before them as they are. */
static void lay_out_matrices(const int64_t *in, int rank, struct operator_tensor *t)
{
    int batch = rank - 2;
    const int64_t size[] = {blocks_of(in[batch + 1]), blocks_of(in[batch]), 16, 16};
    t->rank = rank + 2;
    memcpy(t->size, in, (size_t)batch * sizeof *t->size);
    memcpy(t->size + batch, size, sizeof size);
}

bool tensor_lay_out(const int64_t *size, int rank, enum tensor_format format, enum dtype type,
                    struct operator_tensor *tensor)
{
    *tensor = (struct operator_tensor){.format = format, .type = type, .rank = rank};
    if (format == FORMAT_NC1HWC0)
        lay_out_map(size, tensor);
    else if (format == FORMAT_Z)
        lay_out_filter(size, tensor);
    else if (format == FORMAT_NZ)
        lay_out_matrices(size, rank, tensor);
    else
        memcpy(tensor->size, size, (size_t)rank * sizeof *size);
    return tensor_measure(tensor);
}

/* ------------------------------------------------------------------ what L sums */

static const char *const l_kinds[][20] = {
    [3] = {"AddN", "GeLU", "GeLUGrad", "LayerNorm", "LayerNormXBackpropV2", "Mul"},
    [4] = {"GeLU", "FusionOp_MatMul_GeLU", "FusionOp_MatMul_GeLUGrad", "FusionOp_MatMul_Mul",
           "GeLUGrad", "LayerNorm", "LayerNormXBackpropV2", "MatMul", "TransData"},
    [5] = {"AddN", "BNInfer", "BNTrainingReduceGrad", "BNTrainingUpdate", "BNTrainingUpdateGrad",
           "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
           "FusionOp_BNTrainingUpdate_Add_ReLUV2", "FusionOp_BNTrainingUpdate_ReLUV2",
           "FusionOp_Conv2DBackpropInput_AddN_ReluGradV2",
           "FusionOp_Conv2DBackpropInput_ReluGradV2", "FusionOp_Conv2D_BNTrainingReduce",
           "MaxPoolGradWithArgmax", "MaxPoolWithArgmax", "Mul", "ReluGradV2", "TransData"},
};

bool network_is_l_kind(const struct operator_call *call)
{
    int rank = 0;
    for (int t = 0; t < call->input_count + call->output_count; t++)
        rank = call->inputs[t].rank > rank ? call->inputs[t].rank : rank;
    if (rank < 3 || rank > 5)
        return false;
    for (int i = 0; l_kinds[rank][i]; i++)
        if (strcmp(l_kinds[rank][i], call->op_type) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ sizes that are given */

static enum status read_size_list(const char *text, struct sizes *sizes, struct error *error)
{
    const char *at = text;
    while (at && *at) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        struct size_given *given = &sizes->given[sizes->count];
        struct error why;
        char number[32];
        if (sizes->count == SIZES_MAX || name == 0 || name >= length || name >= SIZE_NAME_SIZE ||
            length - name - 1 >= sizeof number)
            return error_set(error, STATUS_INVALID,
                             "sizes '%.100s': expected NAME=SIZE, with commas between up to %d",
                             text, SIZES_MAX);
        snprintf(given->name, sizeof given->name, "%.*s", (int)name, at);
        snprintf(number, sizeof number, "%.*s", (int)(length - name - 1), at + name + 1);
        if (number_count(given->name, number, 1, INT32_MAX, &given->size, &why) != STATUS_OK)
            return error_set(error, STATUS_INVALID, "sizes: %s", why.text);
        sizes->count++;
        at += length + (at[length] == ',');
    }
    return STATUS_OK;
}

struct size_given *sizes_find(struct sizes *sizes, const char *name)
{
    for (int i = 0; i < sizes->count; i++)
        if (strcmp(sizes->given[i].name, name) == 0)
            return &sizes->given[i];
    return NULL;
}

enum status sizes_read(const struct network_request *request, struct sizes *sizes,
                       struct error *error)
{
    *sizes = (struct sizes){0};
    TRY(read_size_list(request->sizes, sizes, error));
    struct size_given *batch = sizes_find(sizes, "batch");
    if (request->batch == 0)
        return STATUS_OK;
    if (!batch) {
        if (sizes->count == SIZES_MAX)
            return error_set(error, STATUS_INVALID, "sizes '%.100s': expected up to %d with batch",
                             request->sizes, SIZES_MAX);
        batch = &sizes->given[sizes->count++];
        strcpy(batch->name, "batch");
    }
    batch->size = request->batch;
    return STATUS_OK;
}
