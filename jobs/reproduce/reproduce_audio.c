/* Tang 2024, 4.4.4: five features of an audio signal by Cube-fx (audio_features.kernel), windows of
 * the autocorrelation included, against Horner's rule on the vector units with the same windows.
 * One core of an Ascend 310, one cube core with two vector cores of an Ascend 910B; FP16, order 16,
 * one matrix at a time, as the thesis's integer program has it there; of tilings the fastest. */
#include "jobs/reproduce/reproduce_parts.h"
#include "jobs/reproduce/reproduce_text.h"
#include "kernels/cubefx/cubefx_figure.h"
#include "kernels/details.h"

enum { UNIFIED, APART, ROWS };
enum { ORDER = 16, SINGLE = 4, WINDOW = 16, EDGE = 16 };

#define SETTING                                                                                    \
    "theirs is a mean of three experiments that are not described, with 16M inputs; ours: "        \
    "Table 4.2's five features, order 16, windows of 16 inputs, and fewer inputs, of which times " \
    "are a multiple; "

static const struct published rows[ROWS] = {
    [UNIFIED] = {"T 4.4.4", "five features of an audio signal: Horner over Cube-fx", "x", 1.70,
                 SETTING "163840 inputs"},
    [APART] = {"T 4.4.4", "910B: the same", "x", 0.89,
               SETTING "819200 inputs; as in 4.4.2 ours does not wait for flags in global memory, "
                       "and keeps FIXP busy"},
};

static enum status compare(struct reproduction *r, const struct text_kernel *kernel,
                           const struct text_fixed fixed[], int vector_cores, int64_t inputs,
                           double *ratio, struct error *error)
{
    const struct cubefx_share share = {inputs, ORDER, SINGLE + 1, WINDOW};
    const int64_t sizes[] = {inputs / EDGE, ORDER, SINGLE, WINDOW};
    struct found found;
    double horner_ns;
    TRY(text_best(kernel, r->threads, sizes, fixed, &found, error));
    TRY(cubefx_baseline_ns(r, kernel->hw, vector_cores, &share, CUBEFX_HORNER, &horner_ns, error));
    *ratio = horner_ns / found_ns(&found);
    return STATUS_OK;
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    const struct text_fixed unified[] = {{"merge", 1}, {"copies", 2}, {"cores", 1}, {NULL, 0}};
    const struct text_fixed part[] = {
        {"merge", 1}, {"copies", 2}, {"cores", 1}, {"part", 128}, {NULL, 0}};
    struct text_kernel kernel;
    TRY(text_open(r->hw, "audio_features", &kernel, error));
    enum status status = compare(r, &kernel, unified, 1, 163840, &ours[UNIFIED], error);
    text_close(&kernel);
    struct hardware apart;
    if (status != STATUS_OK)
        return status;
    TRY(apart_chip(&apart, error));
    status = text_open(&apart, "audio_features", &kernel, error);
    if (status == STATUS_OK) {
        status = compare(r, &kernel, part, 2, 819200, &ours[APART], error);
        text_close(&kernel);
    }
    hardware_clear(&apart);
    return status;
}

const struct chapter audio_chapter = {rows, ROWS, compute};
