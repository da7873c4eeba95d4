/* Tang 2024, Fig. 2.16: what better products save whole networks. Theirs needs CANN's times of
 * every layer; ours is what the library of the Ascend 910 is predicted to take for the networks'
 * products over what their best tilings take there by simulation. A convolution is the product of
 * its windows and its filters, as theirs is. The chip is described from its L2 inwards: no best
 * time is below that of operands and result from memory once, at the 1.2 TB/s that H. Liao and
 * others (2021) print. */
#include "jobs/reproduce/reproduce_parts.h"
#include "network/operator_time.h"

#include <math.h>
#include <stdlib.h>

enum { ALEXNET, RESNET, BERT, MEAN, YOLO, ROWS };
enum { BATCH = 16, MAX_LAYERS = 24 };
#define MEMORY_BYTES_PER_NS 1200.0

static const char layers[] =
    "theirs: whole networks on an Ascend 310; to recompute it one needs CANN's times of each "
    "layer and the matrix unit's share in them, which are not published. Ours: the products alone, "
    "of 16 images or sequences of 128, on the Ascend 910, whose library's times are learned: as "
    "predicted over the best tilings, none faster than memory at 1.2 TB/s";

static const struct published rows[ROWS] = {
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

static const struct layer networks[MEAN][MAX_LAYERS] = {
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

static enum status best_ns(const struct reproduction *r, const struct hardware *hw,
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

static enum status library_ns(const struct hardware *hw, const struct layer *list, double *sum_ns,
                              struct error *error)
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

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    struct hardware hw;
    double library, best, sum = 0;
    TRY(learned_chip(&hw, error));
    enum status status = STATUS_OK;
    for (int i = 0; i < MEAN && status == STATUS_OK; i++) {
        status = library_ns(&hw, networks[i], &library, error);
        if (status == STATUS_OK)
            status = best_ns(r, &hw, networks[i], &best, error);
        if (status == STATUS_OK)
            sum += ours[i] = library / best;
    }
    if (status == STATUS_OK)
        ours[MEAN] = sum / MEAN;
    hardware_clear(&hw);
    return status;
}

const struct chapter layers_chapter = {rows, ROWS, compute};
