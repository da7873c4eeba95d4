/* Each function fills the tensor that its text stores first. Sums of products include what lies
 * outside a tensor, as 0: infinite weights make NaN of it there too. */
#include "tests/kernels/text/references.h"

#include "core/element.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double *reference_tensor(const struct reference_data *p, const char *name)
{
    for (int t = 0; t < p->run->tensor_count; t++)
        if (strcmp(p->run->tensors[t].name, name) == 0)
            return p->run->tensors[t].given;
    cr_assert_fail("no tensor %s", name);
    return NULL;
}

static double *of(const struct reference_data *p, const char *name)
{
    return reference_tensor(p, name);
}

static double positive(double x)
{
    return x < 0 ? 0 : x; /* NaN stays */
}

static void add_relu(const struct reference_data *p, double *z)
{
    for (int64_t i = 0; i < p->size[0]; i++)
        z[i] = positive(of(p, "X")[i] + of(p, "Y")[i]);
}

static void scale_bias_relu(const struct reference_data *p, double *z)
{
    int64_t columns = p->size[1];
    for (int64_t i = 0; i < p->size[0] * columns; i++)
        z[i] = positive(element_round(DTYPE_F16, of(p, "X")[i] * of(p, "S")[i % columns]) +
                        of(p, "B")[i % columns]);
}

static void product(const double *a, const double *b, int64_t m, int64_t k, int64_t n, double *c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
}

static void products(const struct reference_data *p, int64_t batch, const int64_t mkn[], double *c)
{
    for (int64_t z = 0; z < batch; z++)
        product(of(p, "A") + z * mkn[0] * mkn[1], of(p, "B") + z * mkn[1] * mkn[2], mkn[0], mkn[1],
                mkn[2], c + z * mkn[0] * mkn[2]);
}

static void batch_last(const struct reference_data *p, double *c)
{
    products(p, p->size[3], p->size, c);
}

static void batch_first(const struct reference_data *p, double *c)
{
    products(p, p->size[0], p->size + 1, c);
}

static void softmax(const struct reference_data *p, double *y)
{
    int64_t columns = p->size[1];
    for (int64_t r = 0; r < p->size[0]; r++) {
        const double *x = of(p, "X") + r * columns;
        double most = x[0], sum = 0;
        for (int64_t i = 0; i < columns; i++)
            most = isnan(most) || most > x[i] ? most : x[i];
        for (int64_t i = 0; i < columns; i++)
            sum += exp(x[i] - most);
        for (int64_t i = 0; i < columns; i++)
            y[r * columns + i] = exp(x[i] - most) / sum;
    }
}

static void rms_norm(const struct reference_data *p, double *y)
{
    int64_t columns = p->size[1];
    for (int64_t r = 0; r < p->size[0]; r++) {
        const double *x = of(p, "X") + r * columns;
        double sum = 0;
        for (int64_t i = 0; i < columns; i++)
            sum += x[i] * x[i];
        for (int64_t i = 0; i < columns; i++)
            y[r * columns + i] = x[i] * of(p, "G")[i] / sqrt(sum / (double)columns + 0.00001);
    }
}

/* ------------------------------------------------------------------ element by element */

static void each(const struct reference_data *p, double (*of_x)(double x), double *y)
{
    for (int64_t i = 0; i < p->size[0]; i++)
        y[i] = of_x(of(p, "X")[i]);
}

static double gelu_of(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double sigmoid_of(double x)
{
    return 1 / (1 + exp(-x));
}

static double mish_of(double x)
{
    return x * tanh(log1p(exp(x)));
}

static void gelu(const struct reference_data *p, double *y)
{
    each(p, gelu_of, y);
}

static void sigmoid(const struct reference_data *p, double *y)
{
    each(p, sigmoid_of, y);
}

static void mish(const struct reference_data *p, double *y)
{
    each(p, mish_of, y);
}

static void exponential(const struct reference_data *p, double *y)
{
    each(p, exp, y);
}

static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static void maximum(const struct reference_data *p, double *z)
{
    for (int64_t i = 0; i < p->size[0]; i++)
        z[i] = larger(of(p, "X")[i], of(p, "Y")[i]);
}

static void swiglu(const struct reference_data *p, double *y)
{
    int64_t columns = p->size[1];
    for (int64_t i = 0; i < p->size[0] * columns; i++) {
        const double *row = of(p, "X") + i / columns * 2 * columns;
        y[i] = row[i % columns] * sigmoid_of(row[i % columns]) * row[columns + i % columns];
    }
}

static void layernorm(const struct reference_data *p, double *y)
{
    int64_t columns = p->size[1];
    for (int64_t r = 0; r < p->size[0]; r++) {
        const double *x = of(p, "X") + r * columns;
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < columns; i++)
            mean += x[i] / (double)columns;
        for (int64_t i = 0; i < columns; i++)
            variance += (x[i] - mean) * (x[i] - mean) / (double)columns;
        for (int64_t i = 0; i < columns; i++)
            y[r * columns + i] =
                (x[i] - mean) / sqrt(variance + 0.00001) * of(p, "G")[i] + of(p, "B")[i];
    }
}

/* The text begins with the least number of the type. */
static void row_max(const struct reference_data *p, double *y)
{
    for (int64_t r = 0; r < p->size[0]; r++) {
        y[r] = -65504;
        for (int64_t c = 0; c < p->size[1]; c++)
            y[r] = larger(y[r], of(p, "X")[r * p->size[1] + c]);
    }
}

static void column_max(const struct reference_data *p, double *y)
{
    for (int64_t c = 0; c < p->size[1]; c++) {
        y[c] = -65504;
        for (int64_t r = 0; r < p->size[0]; r++)
            y[c] = larger(y[c], of(p, "X")[r * p->size[1] + c]);
    }
}

static void row_sum(const struct reference_data *p, double *y)
{
    for (int64_t r = 0; r < p->size[0]; r++) {
        y[r] = 0;
        for (int64_t c = 0; c < p->size[1]; c++)
            y[r] += of(p, "X")[r * p->size[1] + c];
    }
}

static void column_sum(const struct reference_data *p, double *y)
{
    for (int64_t c = 0; c < p->size[1]; c++) {
        y[c] = 0;
        for (int64_t r = 0; r < p->size[0]; r++)
            y[c] += of(p, "X")[r * p->size[1] + c];
    }
}

static void transpose(const struct reference_data *p, double *y)
{
    for (int64_t r = 0; r < p->size[0]; r++)
        for (int64_t c = 0; c < p->size[1]; c++)
            y[c * p->size[0] + r] = of(p, "X")[r * p->size[1] + c];
}

/* Columns of 16 elements; what is behind the last one of a row belongs to nobody. */
static void to_blocks(const struct reference_data *p, double *y)
{
    const int64_t rows = p->size[0], columns = p->size[1], width = 16;
    for (int64_t i = 0; i < (columns + width - 1) / width * rows * width; i++) {
        int64_t r = i / width % rows, c = i / width / rows * width + i % width;
        y[i] = c < columns ? of(p, "X")[r * columns + c] : NOT_STORED;
    }
}

static void unit_matrix(const struct reference_data *p)
{
    int64_t n = 1;
    for (int t = 0; t < p->run->tensor_count; t++)
        if (strcmp(p->run->tensors[t].name, "E") == 0)
            n = p->run->tensors[t].extent[0];
    for (int64_t i = 0; i < n * n; i++)
        of(p, "E")[i] = i % (n + 1) == 0;
}

static void gemv(const struct reference_data *p, double *y)
{
    for (int64_t z = 0; z < p->size[0]; z++)
        product(of(p, "A") + z * p->size[1] * p->size[2], of(p, "X") + z * p->size[2], p->size[1],
                p->size[2], 1, y + z * p->size[1]);
}

static void rotary(const struct reference_data *p, double *y)
{
    int64_t half = p->size[2] / 2;
    for (int64_t i = 0; i < p->size[0] * p->size[1]; i++)
        for (int64_t d = 0; d < half; d++) {
            double c = of(p, "C")[i % p->size[1] * half + d],
                   s = of(p, "N")[i % p->size[1] * half + d];
            double a = of(p, "X")[i * 2 * half + d], b = of(p, "X")[(i * 2 + 1) * half + d];
            y[i * 2 * half + d] = a * c - b * s;
            y[(i * 2 + 1) * half + d] = b * c + a * s;
        }
}

static void even_last(int64_t size[])
{
    size[2] += size[2] % 2;
}

/* ------------------------------------------------------------------ windows */

/* X of H x W pixels of `depth` channels; 0 outside, or `fill`. */
static double pixel(const double *x, int64_t h, int64_t w, int64_t row, int64_t column,
                    int64_t depth, int64_t channel, double fill)
{
    bool is_inside = row >= 0 && row < h && column >= 0 && column < w;
    return is_inside ? x[(row * w + column) * depth + channel] : fill;
}

static void convolve(const struct reference_data *p, double *y)
{
    const int64_t oh = p->size[0], ow = p->size[1], kh = p->size[2], kw = p->size[3];
    const int64_t ci = p->size[4], co = p->size[5], stride = p->size[6], padding = p->size[7];
    const int64_t dilation = p->size[8], batch = p->size[9], rest = p->size[10];
    const int64_t h = stride * (oh - 1) + dilation * (kh - 1) + 1 - 2 * padding + rest;
    const int64_t w = stride * (ow - 1) + dilation * (kw - 1) + 1 - 2 * padding + rest;
    for (int64_t i = 0; i < batch * oh * ow * co; i++) {
        const double *image = of(p, "X") + i / co / ow / oh * h * w * ci;
        y[i] = 0;
        for (int64_t tap = 0; tap < kh * kw * ci; tap++) {
            int64_t c = tap % ci, k = tap / ci;
            y[i] += pixel(image, h, w, i / co / ow % oh * stride - padding + k / kw * dilation,
                          i / co % ow * stride - padding + k % kw * dilation, ci, c, 0) *
                    of(p, "F")[tap * co + i % co];
        }
    }
}

enum pooling { POOL_MEAN, POOL_MOST, POOL_FILTER };

/* Blocks of 16 channels; sizes C1 OH OW KH KW stride padding. */
static void pool(const struct reference_data *p, enum pooling how, double *y)
{
    const int64_t oh = p->size[1], ow = p->size[2], kh = p->size[3], kw = p->size[4];
    const int64_t stride = p->size[5], padding = p->size[6];
    const int64_t h = stride * (oh - 1) + kh - 2 * padding,
                  w = stride * (ow - 1) + kw - 2 * padding;
    for (int64_t i = 0; i < p->size[0] * oh * ow * 16; i++) {
        int64_t channel = i % 16, pixels = i / 16, block = pixels / (oh * ow);
        double sum = 0, most = -65504;
        for (int64_t k = 0; k < kh * kw; k++) {
            double x = pixel(of(p, "X") + block * h * w * 16, h, w,
                             pixels / ow % oh * stride - padding + k / kw,
                             pixels % ow * stride - padding + k % kw, 16, channel,
                             how == POOL_MOST ? -65504 : 0);
            most = larger(most, x);
            sum += how == POOL_FILTER ? x * of(p, "F")[(block * kh * kw + k) * 16 + channel] : x;
        }
        y[i] = how == POOL_MOST ? most : how == POOL_MEAN ? sum / (double)(kh * kw) : sum;
    }
}

static void mean_pool(const struct reference_data *p, double *y)
{
    pool(p, POOL_MEAN, y);
}

static void most_pool(const struct reference_data *p, double *y)
{
    pool(p, POOL_MOST, y);
}

static void depthwise(const struct reference_data *p, double *y)
{
    pool(p, POOL_FILTER, y);
}

/* Padding is less than a window, and leaves some of X. */
static void fit_window(int64_t size[], int kh, int padding)
{
    int64_t least = size[kh] < size[kh + 1] ? size[kh] : size[kh + 1];
    if (2 * size[padding] >= least)
        size[padding] = (least - 1) / 2;
}

static void fit_convolution(int64_t size[])
{
    size[7]--;
    size[10]--;
    fit_window(size, 2, 7);
}

static void fit_pool(int64_t size[])
{
    size[6]--;
    fit_window(size, 3, 6);
}

/* ------------------------------------------------------------------ attention */

static void attend(const struct reference_data *p, bool is_causal, double *o)
{
    int64_t s = p->size[1], d = p->size[2];
    double *score = malloc((size_t)s * sizeof *score);
    for (int64_t row = 0; row < p->size[0] * s; row++) {
        const int64_t head = row / s * s * d, seen = is_causal ? row % s + 1 : s;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < seen; j++) {
            score[j] = 0;
            for (int64_t l = 0; l < d; l++)
                score[j] += of(p, "Q")[row * d + l] * of(p, "K")[head + j * d + l];
            score[j] /= sqrt((double)d);
            most = larger(most, score[j]);
        }
        for (int64_t j = 0; j < seen; j++)
            sum += score[j] = exp(score[j] - most);
        for (int64_t l = 0; l < d; l++) {
            o[row * d + l] = 0;
            for (int64_t j = 0; j < seen; j++)
                o[row * d + l] += score[j] * of(p, "V")[head + j * d + l] / sum;
        }
    }
    free(score);
}

static void attention(const struct reference_data *p, double *o)
{
    attend(p, false, o);
}

static void causal(const struct reference_data *p, double *o)
{
    attend(p, true, o);
}

/* T[r,c] hides what comes after S + r. */
static void prepare_causal(const struct reference_data *p)
{
    unit_matrix(p);
    for (int64_t i = 0; i < 128 * 2 * p->size[1]; i++)
        of(p, "T")[i] = i % (2 * p->size[1]) > p->size[1] + i / (2 * p->size[1]) ? -60000 : 0;
}

/* ------------------------------------------------------------------ Fourier */

static int64_t reversed(int64_t k, int64_t n)
{
    int64_t other = 0;
    for (int64_t bit = 1; bit < n; bit *= 2)
        other = other * 2 + (k & bit ? 1 : 0);
    return other;
}

/* The real part, which is stored first; of groups of size[2] signals. */
static void fourier(const struct reference_data *p, double *y)
{
    int64_t n = p->size[1], w = p->size[2];
    for (int64_t i = 0; i < p->size[0] * n * w; i++) {
        int64_t signal = i / (n * w) * n * w + i % w, k = reversed(i / w % n, n);
        y[i] = 0;
        for (int64_t t = 0; t < n; t++) {
            double angle = -2 * M_PI * (double)(k * t % n) / (double)n;
            y[i] +=
                of(p, "A")[signal + t * w] * cos(angle) - of(p, "B")[signal + t * w] * sin(angle);
        }
    }
}

static void prepare_fourier(const struct reference_data *p)
{
    int64_t all = p->size[1], w = p->size[2];
    for (int64_t n = all; n > 1; n /= 2)
        for (int64_t i = 0; i < n / 2 * w; i++) {
            int64_t turn = i / w;
            double angle = -2 * M_PI * (double)turn / (double)n;
            of(p, "C")[(all - n) * w + i] = element_round(DTYPE_F16, cos(angle));
            of(p, "S")[(all - n) * w + i] = element_round(DTYPE_F16, sin(angle));
        }
}

static void fit_passes(int64_t size[])
{
    int64_t n = 4;
    while (2 * n <= size[1])
        n *= 2;
    size[1] = n;
}

static void fit_fourier(int64_t size[])
{
    fit_passes(size);
    size[2] = 16; /* the text has no other */
}

/* ------------------------------------------------------------------ all of them */

/* ------------------------------------------------------------------ Cube-fx */

/* Exponents and coefficients where the text wants them. The latter are between -1 and 1, inputs
 * between 0.5 and 1.25. */
static void prepare_cubefx(const struct reference_data *p)
{
    int64_t inputs = p->size[0] * 16, terms = p->size[1], functions = p->size[2];
    double *x = of(p, "X"), *e = of(p, "E"), *b = of(p, "B");
    for (int64_t i = 0; i < inputs; i++)
        x[i] = element_round(DTYPE_F16, 0.875 + 0.375 * sin((double)(7 * i)));
    memset(e, 0, (size_t)(16 * terms * 16) * sizeof *e);
    memset(b, 0, (size_t)(16 * terms * 16 * functions) * sizeof *b);
    for (int64_t row = 0; row < 16 * terms; row++) {
        int64_t column = row / terms, term = row % terms;
        e[row * 16 + column] = (double)term;
        for (int64_t f = 0; f < functions; f++)
            b[(row * 16 + column) * functions + f] =
                element_round(DTYPE_F16, cos((double)(5 * term + 3 * f)));
    }
}

/* Function `f` of x from the first `terms` of its terms. */
static double polynomial(const struct reference_data *p, int64_t f, double x, int64_t terms)
{
    double sum = 0;
    for (int64_t i = terms < p->size[1] ? terms : p->size[1]; i-- > 0;)
        sum = sum * x + element_round(DTYPE_F16, cos((double)(5 * i + 3 * f)));
    return sum;
}

/* What pads the columns has the terms that are in the padded rows; behind the inputs there are 1s,
 * which have exponents 0. */
static void cubefx(const struct reference_data *p, double *y)
{
    int64_t rows = p->size[0], terms = p->size[1], functions = p->size[2], merge = p->tiling[0];
    int64_t columns = 16 * functions, steps = (16 + merge - 1) / merge;
    int64_t width = (terms * merge + 15) / 16 * 16, depth = (functions * merge + 15) / 16 * 16;
    for (int64_t i = 0; i < 16 * rows * columns; i++) {
        int64_t step = i / columns / rows, row = i / columns % rows, column = i % columns;
        int64_t input = step * merge + column / functions;
        double x = input < 16 ? of(p, "X")[row * 16 + input] : 1;
        y[i] = step < steps && column < depth
                   ? polynomial(p, column % functions, x, width - column / functions * terms)
                   : NOT_STORED;
    }
}

/* What is summed over windows is one more function. */
static void prepare_audio(const struct reference_data *p)
{
    int64_t terms = p->size[1];
    prepare_cubefx(p);
    for (int64_t i = 0; i < 16 * terms * 16; i++)
        of(p, "D")[i] =
            i % 16 == i / 16 / terms
                ? element_round(DTYPE_F16, cos((double)(5 * (i / 16 % terms) + 3 * p->size[2])))
                : 0;
}

static void audio(const struct reference_data *p, double *v)
{
    int64_t inputs = p->size[0] * 16;
    for (int64_t i = 0; i < inputs; i++) {
        v[i] = 0;
        for (int64_t at = i; at < inputs && at < i + 16 * p->size[3]; at += 16)
            v[i] += polynomial(p, p->size[2], of(p, "X")[at], p->size[1]);
    }
}

/* Windows are powers of two. */
static void fit_audio(int64_t size[])
{
    size[3] = INT64_C(1) << size[3];
}

const struct reference references[] = {
    {"add_relu", "ascend310", {3000}, {0}, add_relu, 0, 0, 65504, true, NULL, NULL},
    {"scale_bias_relu",
     "ascend310",
     {30, 300},
     {0},
     scale_bias_relu,
     0,
     0,
     65504,
     true,
     NULL,
     NULL},
    {"batched_matmul",
     "ascend310 ascend910b2",
     {4, 70, 70, 70},
     {0},
     batch_first,
     1e-3,
     1e-4,
     4,
     true,
     NULL,
     NULL},
    {"cubefx_pipeline",
     "ascend310",
     {70, 7, 5},
     {0},
     cubefx,
     0.01,
     0.02,
     2,
     false,
     NULL,
     prepare_cubefx},
    {"audio_features",
     "ascend310 ascend910",
     {100, 7, 5, 3},
     {0},
     audio,
     0.02,
     0.1,
     2,
     false,
     fit_audio,
     prepare_audio},
    {"split/audio_features",
     "ascend910b1",
     {300, 7, 5, 3},
     {0},
     audio,
     0.02,
     0.1,
     2,
     false,
     fit_audio,
     prepare_audio},
    {"split/cubefx_pipeline",
     "ascend910b1 ascend910b2",
     {200, 7, 5},
     {0},
     cubefx,
     0.01,
     0.02,
     2,
     false,
     NULL,
     prepare_cubefx},
    {"matmul_thesis",
     "ascend310",
     {100, 100, 100, 3},
     {0},
     batch_last,
     1e-3,
     1e-4,
     4,
     true,
     NULL,
     NULL},
    {"matmul_thesis",
     "ascend910",
     {40, 50, 60, 10},
     {0},
     batch_last,
     1e-3,
     1e-4,
     4,
     true,
     NULL,
     NULL},
    {"matmul_two_level",
     "ascend310",
     {70, 70, 70, 2},
     {0},
     batch_last,
     1e-3,
     1e-4,
     4,
     true,
     NULL,
     NULL},
    {"softmax_long", "ascend310", {4, 3000}, {0}, softmax, 0.02, 1e-4, 8, true, NULL, NULL},
    {"rms_norm", "ascend310", {40, 300}, {0}, rms_norm, 0.02, 1e-3, 30, true, NULL, NULL},
    {"row_max", "ascend310", {50, 500}, {0}, row_max, 0, 0, 65504, true, NULL, NULL},
    {"column_max", "ascend310", {300, 90}, {0}, column_max, 0, 0, 65504, true, NULL, NULL},
    {"row_sum", "ascend310", {60, 500}, {0}, row_sum, 1e-6, 1e-4, 8, true, NULL, NULL},
    {"column_sum", "ascend310", {500, 60}, {0}, column_sum, 1e-6, 1e-4, 8, true, NULL, NULL},
    {"split/row_sum", "ascend910b2", {60, 500}, {0}, row_sum, 1e-6, 1e-4, 8, true, NULL, NULL},
    {"split/column_sum",
     "ascend910b2",
     {500, 60},
     {0},
     column_sum,
     1e-6,
     1e-4,
     8,
     true,
     NULL,
     NULL},
    {"nd_to_nz", "ascend310 ascend910b2", {300, 90}, {0}, to_blocks, 0, 0, 65504, true, NULL, NULL},
    {"transpose_2d",
     "ascend310 ascend910b2",
     {100, 90},
     {0},
     transpose,
     0,
     0,
     65504,
     false,
     NULL,
     unit_matrix},
    {"batched_gemv", "ascend310", {5, 70, 90}, {0}, gemv, 1e-3, 1e-4, 4, true, NULL, NULL},
    {"rotary", "ascend310", {4, 50, 70}, {0}, rotary, 2e-3, 0.03, 4, true, even_last, NULL},
    {"conv2d",
     "ascend310 ascend910b2",
     {9, 9, 4, 4, 20, 20, 3, 3, 2, 3, 3},
     {0},
     convolve,
     1e-3,
     1e-4,
     4,
     true,
     fit_convolution,
     NULL},
    {"average_pool",
     "ascend310",
     {3, 9, 9, 4, 4, 3, 3},
     {1, 1, 1, 2, 2, 1, 1},
     mean_pool,
     4e-3,
     4e-3,
     8,
     true,
     fit_pool,
     NULL},
    {"max_pool",
     "ascend310",
     {3, 9, 9, 4, 4, 3, 3},
     {1, 1, 1, 2, 2, 1, 1},
     most_pool,
     0,
     0,
     65504,
     true,
     fit_pool,
     NULL},
    {"depthwise_conv2d",
     "ascend310",
     {3, 9, 9, 4, 4, 3, 3},
     {0},
     depthwise,
     1e-2,
     5e-2,
     4,
     true,
     fit_pool,
     NULL},
    {"flash_attention",
     "ascend310",
     {2, 600, 70},
     {0},
     attention,
     0.02,
     0.01,
     2,
     false,
     NULL,
     NULL},
    {"split/flash_attention",
     "ascend910b2",
     {2, 600, 70},
     {0},
     attention,
     0.02,
     0.01,
     2,
     false,
     NULL,
     NULL},
    {"causal_attention",
     "ascend310",
     {2, 600, 70},
     {0},
     causal,
     0.02,
     0.01,
     2,
     false,
     NULL,
     prepare_causal},
    {"fft",
     "ascend310",
     {2, 256},
     {1, 4},
     fourier,
     0.02,
     0.3,
     2,
     false,
     fit_fourier,
     prepare_fourier},
    {"fft_passes",
     "ascend310 ascend910",
     {3, 128, 50},
     {1, 4},
     fourier,
     0.02,
     0.3,
     2,
     false,
     fit_passes,
     prepare_fourier},
    {"gelu", "ascend910b2 ascend310", {3000}, {0}, gelu, 4e-3, 4e-3, 8, false, NULL, NULL},
    {"sigmoid", "ascend910b2", {3000}, {0}, sigmoid, 3e-3, 1e-4, 8, true, NULL, NULL},
    {"exp", "ascend310", {3000}, {0}, exponential, 0, 0, 8, true, NULL, NULL},
    {"mish", "ascend910b2", {3000}, {0}, mish, 1e-2, 4e-3, 4, false, NULL, NULL},
    {"maximum", "ascend310", {3000}, {0}, maximum, 0, 0, 65504, true, NULL, NULL},
    {"swiglu", "ascend910b2", {30, 300}, {0}, swiglu, 5e-3, 4e-3, 4, false, NULL, NULL},
    {"softmax", "ascend910b2", {30, 600}, {0}, softmax, 5e-3, 1e-5, 8, true, NULL, NULL},
    {"softmax_rows", "ascend910b2", {30, 600}, {0}, softmax, 0.02, 1e-4, 8, true, NULL, NULL},
    {"rms_norm_rows", "ascend910b2", {30, 600}, {0}, rms_norm, 5e-3, 1e-3, 30, true, NULL, NULL},
    {"rms_norm_long", "ascend910b2", {4, 3000}, {0}, rms_norm, 5e-3, 1e-3, 30, true, NULL, NULL},
    {"layernorm", "ascend910b2", {30, 600}, {0}, layernorm, 5e-3, 0.02, 8, true, NULL, NULL},
    {"layernorm_matrix",
     "ascend310 ascend910",
     {50, 600},
     {0},
     layernorm,
     5e-3,
     0.02,
     8,
     false,
     NULL,
     NULL},
    {"layernorm_long", "ascend910b2", {4, 3000}, {0}, layernorm, 5e-3, 0.02, 8, true, NULL, NULL},
};
const int reference_count = sizeof references / sizeof *references;
