/* R. Wu and others, "Machine Learning-enabled Performance Model for DNN Applications and AI
 * Accelerator" (2022; L). Table I: what its calls take by our prediction, from their dimensions
 * alone, which the layout pads. Table II and Fig. 10: how well our prediction did when it was
 * learned, as the file of what was learned says; the measurements are not needed here.
 *
 * Tang 2024, Fig. 2.16: what better products save whole networks. Theirs needs CANN's times of
 * every layer; ours is what the library of the Ascend 910 is predicted to take for the networks'
 * products over what their best tilings take there by simulation. A convolution is the product of
 * its windows and its filters, as theirs is. The chip is described from its L2 inwards: no best
 * time is below that of operands and result from memory once, at the 1.2 TB/s that H. Liao and
 * others (2021) print. */
#include "jobs/reproduce/reproduce_parts.h"

#include "hardware/load.h"
#include "network/network.h"
#include "network/operator_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RELU,
    MATMUL = RELU + 4,
    CONVOLUTIONS_RUN = MATMUL + 4,
    CONVOLUTIONS_NETWORK,
    PRODUCTS_RUN,
    PRODUCTS_NETWORK,
    OTHERS_RUN,
    OTHERS_NETWORK,
    ALL_RUN,
    ALL_NETWORK,
    MATMUL_ALONE,
    STEPS_RUN,
    STEPS_NETWORK,
    FIRST_STEP,
    NETWORK_ROWS = FIRST_STEP + 6
};

static const char relu[] = "predicted of the Ascend 910's library; the type is not given, ours: "
                           "f32, for in f16 they would move 0.5 TB/s",
                  matmul[] = "predicted of the Ascend 910's library, f16; the best tiling is "
                             "faster: autotune --op matmul --shape 5120x768x16 --hw ascend910",
                  kinds[] = "theirs: a random tenth of all rows, so that calls of the same shape "
                            "are learned from; ours: as recorded when it was learned, all calls of "
                            "runs or networks that were not learned from",
                  groups[] = "no kind by itself is in the record",
                  steps[] = "theirs: three batch sizes each of six networks, ours twelve runs of "
                            "five, L's kinds of operators; docs/network-times.md has the sum of "
                            "rows' errors beside it",
                  networks[] = "no network by itself is in the record, and no run of YOLO v5";

/* Means of L's kinds: it prints their mean error too, 8.88 %. */
#define CONVOLUTIONS ((7.64 + 11.3 + 10.6 + 7.55 + 10.2 + 10.1) / 6)
#define PRODUCTS     ((15.9 + 4.67 + 2.48 + 10.7) / 4)
#define OTHERS                                                                                     \
    ((8.50 + 4.91 + 7.23 + 9.20 + 14.6 + 15.1 + 17.9 + 5.28 + 0.51 + 1.91 + 7.50 + 16.8 + 16.2 +   \
      4.19 + 4.60 + 5.31) /                                                                        \
     16)

static const struct published network_rows[NETWORK_ROWS] = {
    [RELU] = {"L Table I", "ReLU of 32x3x224x224", "ms", 0.20967, relu},
    {"L Table I", "ReLU of 32x16x224x224, the same blocks", "ms", 0.20755, relu},
    {"L Table I", "ReLU of 32x18x224x224", "ms", 0.41262, relu},
    {"L Table I", "ReLU of 32x32x224x224, the same blocks", "ms", 0.41033, relu},
    [MATMUL] = {"L Table I", "MatMul 5120x768x3", "ms", 0.01057, matmul},
    {"L Table I", "MatMul 5120x768x16, the same blocks", "ms", 0.01007, matmul},
    {"L Table I", "MatMul 5120x768x18", "ms", 0.02188, matmul},
    {"L Table I", "MatMul 5120x768x32, the same blocks", "ms", 0.02162, matmul},
    [CONVOLUTIONS_RUN] = {"L Table II", "convolutions, mean of 6 kinds; ours: run left out",
                          "% error", CONVOLUTIONS, kinds},
    [CONVOLUTIONS_NETWORK] = {"L Table II", "convolutions; ours: network left out", "% error",
                              CONVOLUTIONS, kinds},
    [PRODUCTS_RUN] = {"L Table II", "MatMul and fused with it, mean of 4 kinds; run left out",
                      "% error", PRODUCTS, kinds},
    [PRODUCTS_NETWORK] = {"L Table II", "MatMul and fused with it; network left out", "% error",
                          PRODUCTS, kinds},
    [OTHERS_RUN] = {"L Table II", "all others, mean of 16 kinds; run left out", "% error", OTHERS,
                    kinds},
    [OTHERS_NETWORK] = {"L Table II", "all others; network left out", "% error", OTHERS, kinds},
    [ALL_RUN] = {"L Table II", "all kinds; run left out", "% error", 8.88, kinds},
    [ALL_NETWORK] = {"L Table II", "all kinds; network left out", "% error", 8.88, kinds},
    [MATMUL_ALONE] = {"L Table II", "of these MatMul alone", "% error", 15.9, groups},
    [STEPS_RUN] = {"L Fig. 10", "whole steps; ours: run left out", "% error", 15.4, steps},
    [STEPS_NETWORK] = {"L Fig. 10", "whole steps; ours: network left out", "% error", 15.4, steps},
    [FIRST_STEP] = {"L Fig. 10", "of which ResNet-50", "% error", 14.3, networks},
    {"L Fig. 10", "of which Inception v3", "% error", 19.1, networks},
    {"L Fig. 10", "of which ViT", "% error", 16.5, networks},
    {"L Fig. 10", "of which YOLO v5", "% error", 15.8, networks},
    {"L Fig. 10", "of which BERT", "% error", 12.8, networks},
    {"L Fig. 10", "of which DeepFM", "% error", 13.8, networks},
};

/* Rows of the record of what was learned. */
static const struct {
    int row;
    const char *recorded;
} recorded[] = {
    {CONVOLUTIONS_RUN, "Conv2D, run left out"}, {CONVOLUTIONS_NETWORK, "Conv2D, network left out"},
    {PRODUCTS_RUN, "MatMul, run left out"},     {PRODUCTS_NETWORK, "MatMul, network left out"},
    {OTHERS_RUN, "others, run left out"},       {OTHERS_NETWORK, "others, network left out"},
    {ALL_RUN, "calls, run left out"},           {ALL_NETWORK, "calls, network left out"},
    {STEPS_RUN, "L's sums, run left out"},      {STEPS_NETWORK, "L's sums, network left out"},
};

enum status learned_chip(struct hardware *hw, struct error *error)
{
    return hardware_load(REPRODUCE_NETWORK_CHIP, NULL, hw, error);
}

static enum status lay_out(const int64_t *size, int rank, enum tensor_format format,
                           enum dtype type, struct operator_tensor *tensor, struct error *error)
{
    if (!tensor_lay_out(size, rank, format, type, tensor))
        return error_set(error, STATUS_TOO_LARGE, "a layer has a tensor of more than %lld bytes",
                         (long long)TENSOR_MAX_BYTES);
    return STATUS_OK;
}

/* Appends a MatMul of m x k x n in f16, as the library keeps its operands. */
static enum status add_product(struct network *network, int64_t m, int64_t k, int64_t n,
                               int64_t count, struct error *error)
{
    struct operator_call *call;
    const int64_t a[] = {m, k}, b[] = {k, n}, c[] = {m, n};
    TRY(network_add(network, "MatMul", "", 2, 1, &call, error));
    call->count = count;
    TRY(lay_out(a, 2, FORMAT_NZ, DTYPE_F16, &call->inputs[0], error));
    TRY(lay_out(b, 2, FORMAT_NZ, DTYPE_F16, &call->inputs[1], error));
    return lay_out(c, 2, FORMAT_NZ, DTYPE_F16, call->outputs, error);
}

static enum status add_relu(struct network *network, int64_t channels, struct error *error)
{
    struct operator_call *call;
    const int64_t size[] = {32, channels, 224, 224};
    TRY(network_add(network, "ReLU", "", 1, 1, &call, error));
    TRY(lay_out(size, 4, FORMAT_NC1HWC0, DTYPE_F32, call->inputs, error));
    return lay_out(size, 4, FORMAT_NC1HWC0, DTYPE_F32, call->outputs, error);
}

static enum status time_table_1(const struct hardware *hw, double *ours, struct error *error)
{
    static const int64_t last[] = {3, 16, 18, 32};
    enum { CALLS = 8 };
    struct network network;
    struct operator_time times[CALLS];
    TRY(network_begin("L Table I", &network, error));
    enum status status = STATUS_OK;
    for (int i = 0; i < 4 && status == STATUS_OK; i++)
        status = add_relu(&network, last[i], error);
    for (int i = 0; i < 4 && status == STATUS_OK; i++)
        status = add_product(&network, 5120, 768, last[i], 1, error);
    if (status == STATUS_OK)
        status = operator_times(&network, hw, times, error);
    for (int i = 0; i < CALLS && status == STATUS_OK; i++)
        ours[RELU + i] = times[i].predicted_ns / 1e6;
    network_free(&network);
    return status;
}

/* What the record does not have stays unknown. */
static enum status quote_record(const struct hardware *hw, double *ours, struct error *error)
{
    struct correction learned;
    TRY(operator_times_open(hw, &learned, error));
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        for (int q = 0; q < learned.quality_count; q++)
            if (strcmp(learned.qualities[q].rows, recorded[i].recorded) == 0)
                ours[recorded[i].row] = 100 * learned.qualities[q].corrected[TRAINED_MEAN];
    correction_clear(&learned);
    return STATUS_OK;
}

static enum status compute_network(struct reproduction *r, double *ours, struct error *error)
{
    (void)r;
    struct hardware hw;
    TRY(learned_chip(&hw, error));
    enum status status = time_table_1(&hw, ours, error);
    if (status == STATUS_OK)
        status = quote_record(&hw, ours, error);
    hardware_clear(&hw);
    return status;
}

const struct chapter network_chapter = {network_rows, NETWORK_ROWS, compute_network};

/* ------------------------------------------------------------------ whole networks by better
 * products */

enum { ALEXNET, RESNET, BERT, MEAN, YOLO, LAYERS_ROWS };
enum { BATCH = 16, MAX_LAYERS = 24 };
#define MEMORY_BYTES_PER_NS 1200.0

static const char layers[] =
    "theirs: whole networks on an Ascend 310; to recompute it one needs CANN's times of each "
    "layer and the matrix unit's share in them, which are not published. Ours: the products alone, "
    "of 16 images or sequences of 128, on the Ascend 910, whose library's times are learned: as "
    "predicted over the best tilings, none faster than memory at 1.2 TB/s";

static const struct published layers_rows[LAYERS_ROWS] = {
    [ALEXNET] = {"T Fig. 2.16", "AlexNet: CANN's operators over best tilings", "x", 2.18, layers},
    [RESNET] = {"T Fig. 2.16", "ResNet (50 layers), whose bar has no number", "x", NAN, layers},
    [BERT] = {"T Fig. 2.16", "BERT base without attention's products, no number either", "x", NAN,
              layers},
    [MEAN] = {"T Fig. 2.16", "mean of their networks, ours of these three", "x", 1.53, layers},
    [YOLO] = {"T Fig. 2.16", "YOLO v4", "x", 1.15, "none of ours: its layers are not listed here"},
};

/* Products of m rows an image, k x n, so many times; m = 0 ends a list. */
struct layer {
    int64_t m, k, n, count;
};

static const struct layer layers_of[MEAN][MAX_LAYERS] = {
    /* Krizhevsky 2012, layers 2, 4 and 5 in two groups: 724 million multiply-adds an image. */
    [ALEXNET] = {{3025, 363, 96, 1},
                 {729, 1200, 128, 2},
                 {169, 2304, 384, 1},
                 {169, 1728, 192, 2},
                 {169, 1728, 128, 2},
                 {1, 9216, 4096, 1},
                 {1, 4096, 4096, 1},
                 {1, 4096, 1000, 1}},
    /* He et al. 2016, Table 1, a stage's first convolution halves the image: 3.86 billion. */
    [RESNET] = {{12544, 147, 64, 1}, {3136, 64, 64, 1},   {3136, 256, 64, 2},  {3136, 576, 64, 3},
                {3136, 64, 256, 4},  {784, 256, 128, 1},  {784, 512, 128, 3},  {784, 1152, 128, 4},
                {784, 128, 512, 4},  {784, 256, 512, 1},  {196, 512, 256, 1},  {196, 1024, 256, 5},
                {196, 2304, 256, 6}, {196, 256, 1024, 6}, {196, 512, 1024, 1}, {49, 1024, 512, 1},
                {49, 2048, 512, 2},  {49, 4608, 512, 3},  {49, 512, 2048, 3},  {49, 1024, 2048, 1},
                {1, 2048, 1000, 1}},
    /* Devlin et al. 2019: twelve layers of 768, and of 3072 between: 10.9 billion. */
    [BERT] = {{128, 768, 768, 48}, {128, 768, 3072, 12}, {128, 3072, 768, 12}},
};

static double memory_ns(int64_t m, int64_t k, int64_t n)
{
    return 2 * (double)(m * k + k * n + m * n) / MEMORY_BYTES_PER_NS;
}

static enum status sum_best_ns(const struct reproduction *r, const struct hardware *hw,
                               const struct layer *list, double *sum_ns, struct error *error)
{
    *sum_ns = 0;
    for (const struct layer *l = list; l->m; l++) {
        double ns;
        TRY(best_product_ns(r, hw, BATCH * l->m, l->k, l->n, &ns, error));
        double least_ns = memory_ns(BATCH * l->m, l->k, l->n);
        *sum_ns += (ns < least_ns ? least_ns : ns) * (double)l->count;
    }
    return STATUS_OK;
}

static enum status sum_library_ns(const struct hardware *hw, const struct layer *list,
                                  double *sum_ns, struct error *error)
{
    struct network network;
    struct operator_time times[MAX_LAYERS];
    enum status status = STATUS_OK;
    TRY(network_begin("T Fig. 2.16", &network, error));
    for (const struct layer *l = list; l->m && status == STATUS_OK; l++)
        status = add_product(&network, BATCH * l->m, l->k, l->n, l->count, error);
    if (status == STATUS_OK)
        status = operator_times(&network, hw, times, error);
    if (status == STATUS_OK)
        *sum_ns = network_interval(&network, times).predicted_ns;
    network_free(&network);
    return status;
}

static enum status compute_layers(struct reproduction *r, double *ours, struct error *error)
{
    struct hardware hw;
    double library, best, sum = 0;
    TRY(learned_chip(&hw, error));
    enum status status = STATUS_OK;
    for (int i = 0; i < MEAN && status == STATUS_OK; i++) {
        status = sum_library_ns(&hw, layers_of[i], &library, error);
        if (status == STATUS_OK)
            status = sum_best_ns(r, &hw, layers_of[i], &best, error);
        if (status == STATUS_OK)
            sum += ours[i] = library / best;
    }
    if (status == STATUS_OK)
        ours[MEAN] = sum / MEAN;
    hardware_clear(&hw);
    return status;
}

const struct chapter layers_chapter = {layers_rows, LAYERS_ROWS, compute_layers};
