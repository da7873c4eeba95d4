/* Calls in an array that grows by doubling, the tensors of each in one block (network/network.h).
 * Layouts are those of ge::Format (CANN's graph/types.h) and of MindSpore's kernel/format_utils;
 * which kinds L sums is Table II of R. Wu and others, "Machine Learning-enabled Performance Model
 * for DNN Applications and AI Accelerator" (2022), as its published runs select them. */
#include "network/network.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static const struct {
    const char *name;
    enum tensor_format format;
} formats[] = {
    {"ND", FORMAT_ND},
    {"NC1HWC0", FORMAT_NC1HWC0},
    {"FRACTAL_NZ", FORMAT_NZ},
    {"FRACTAL_Z", FORMAT_Z},
    {"OTHER", FORMAT_OTHER},
    {"FracZ", FORMAT_Z},
    {"DefaultFormat", FORMAT_ND},
    {"NCHW", FORMAT_ND},
    {"NHWC", FORMAT_ND},
    {"NCL", FORMAT_ND},
    {"NCDHW", FORMAT_ND},
};

enum tensor_format tensor_format_find(const char *name, int length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((int)strlen(formats[i].name) == length &&
            strncasecmp(formats[i].name, name, (size_t)length) == 0)
            return formats[i].format;
    return FORMAT_OTHER;
}

const char *tensor_format_name(enum tensor_format format)
{
    return formats[format].name;
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
