/* What products of quantised operands compute, and what follows a product. */
#include "core/element.h"
#include "tests/kernels/text/references.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *of(const struct reference_data *p, const char *name)
{
    return reference_tensor(p, name);
}

/* C = A*B of the sizes M, K and N. */
static void product(const struct reference_data *p, const double *b, double *c)
{
    int64_t k = p->size[1], n = p->size[2];
    for (int64_t i = 0; i < p->size[0] * n; i++) {
        c[i] = 0;
        for (int64_t l = 0; l < k; l++)
            c[i] += of(p, "A")[i / n * k + l] * b[l * n + i % n];
    }
}

/* ------------------------------------------------------------------ weights */

/* Weights of any byte, of which two numbers of 4 bits are made by hand, and scales that keep sums
 * in f16. */
static void prepare_weights(const struct reference_data *p)
{
    int64_t k = p->size[1], n = p->size[2];
    bool in_pairs = p->size[3] == 4;
    for (int64_t j = 0; j < n; j++)
        of(p, "S")[j] = element_round(p->run->tensors[0].type, 0.03 + 0.02 * sin((double)(3 * j)));
    for (int64_t i = 0; i < k * n; i++) {
        int byte = (int)(i * 37 % 256) - 128;
        if (!in_pairs)
            of(p, "B")[i] = byte;
        else if (i < k * n / 2)
            of(p, "P")[i] = byte;
    }
}

static double weight(const struct reference_data *p, int64_t at)
{
    if (p->size[3] == 8)
        return of(p, "B")[at];
    int byte = (int)of(p, "P")[at / 2] & 255, four = at % 2 ? byte >> 4 : byte & 15;
    return four > 7 ? four - 16 : four;
}

static void weight_quant(const struct reference_data *p, double *c)
{
    int64_t k = p->size[1], n = p->size[2];
    double *b = malloc((size_t)(k * n) * sizeof *b);
    enum dtype type = p->run->tensors[0].type; /* of A, in which B is multiplied */
    for (int64_t i = 0; i < k * n; i++)
        b[i] = element_round(type, weight(p, i) * of(p, "S")[i % n]);
    product(p, b, c);
    free(b);
}

/* The scale of each column behind the sum. */
static void weight_scaled(const struct reference_data *p, double *c)
{
    int64_t n = p->size[2];
    product(p, of(p, "B"), c);
    for (int64_t i = 0; i < p->size[0] * n; i++)
        c[i] *= of(p, "S")[i % n];
}

static void fit_8_bits(int64_t size[])
{
    size[3] = 8;
}

/* 8 bits, or 4 of an even number of columns. */
static void fit_weights(int64_t size[])
{
    size[3] = size[3] == 1 ? 4 : 8;
    size[2] += size[3] == 4 && size[2] % 2;
}

/* ------------------------------------------------------------------ scales of results */

enum { QUANT_TOKENS = 3 };

/* Any i8, of which columns of one sign add up to more than the 24 bits of f32. Scales are powers of
 * two, which leave ties, numbers in between, and some with which results are infinite. */
static void prepare_scales(const struct reference_data *p)
{
    int64_t m = p->size[0], k = p->size[1], n = p->size[2];
    for (int64_t i = 0; i < m * k; i++)
        of(p, "A")[i] = i / k % 3 ? (double)(i * 37 % 256) - 128 : -128 + (double)(i % 2);
    for (int64_t i = 0; i < k * n; i++)
        of(p, "B")[i] = i % n % 3 ? (double)(i * 91 % 256) - 128 : -128 + (double)(i / n * 5 % 3);
    for (int64_t j = 0; j < n; j++)
        of(p, "S")[j] = element_round(DTYPE_F32, j % 4 ? 0.013 + 0.01 * sin((double)(3 * j))
                                                       : ldexp(1, (int)(j % 7) - 14));
    for (int64_t i = 0; p->size[QUANT_TOKENS] && i < m; i++)
        of(p, "T")[i] = element_round(DTYPE_F32, i % 5 == 4 ? 1e36
                                                 : i % 2    ? 0.07 + 0.05 * sin((double)(5 * i))
                                                            : ldexp(1, (int)(i % 4) - 3));
}

static void quant(const struct reference_data *p, double *c)
{
    int64_t n = p->size[2];
    product(p, of(p, "B"), c);
    for (int64_t i = 0; i < p->size[0] * n; i++) {
        c[i] = element_round(DTYPE_F32, element_round(DTYPE_F32, c[i]) * of(p, "S")[i % n]);
        if (p->size[QUANT_TOKENS])
            c[i] = element_round(DTYPE_F32, c[i] * of(p, "T")[i / n]);
    }
}

/* Drawn from 1 on. */
static void fit_tokens(int64_t size[])
{
    size[QUANT_TOKENS]--;
}

/* ------------------------------------------------------------------ epilogues */

enum { EPILOGUE_SCALE = 3, EPILOGUE_BIAS, EPILOGUE_ACTIVATION, EPILOGUE_RESIDUAL, EPILOGUE_8_BITS };

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void epilogue(const struct reference_data *p, double *c)
{
    int64_t n = p->size[2];
    product(p, of(p, "B"), c);
    for (int64_t i = 0; i < p->size[0] * n; i++) {
        c[i] += p->size[EPILOGUE_BIAS] ? of(p, "D")[i % n] : 0;
        c[i] *= p->size[EPILOGUE_SCALE] ? of(p, "S")[i % n] : 1;
        c[i] += p->size[EPILOGUE_RESIDUAL] ? of(p, "R")[i] : 0;
        if (p->size[EPILOGUE_ACTIVATION])
            c[i] = p->size[EPILOGUE_ACTIVATION] == 1 ? fmax(c[i], 0) : gelu(c[i]);
    }
}

/* Drawn from 1 on. */
static void fit_epilogue(int64_t size[])
{
    for (int s = EPILOGUE_SCALE; s <= EPILOGUE_8_BITS; s++)
        size[s]--;
}

/* What FIXP does all of: no GELU, no residual, a scale where results are of 8 bits. */
static void fit_fixp(int64_t size[])
{
    fit_epilogue(size);
    size[EPILOGUE_SCALE] &= size[EPILOGUE_8_BITS];
}

/* Whole numbers and quarters, of which sums, ties and what is too large for 8 bits are exact. */
static void prepare_quarters(const struct reference_data *p)
{
    static const struct {
        const char *name;
        int of, least;
        double step;
    } rows[] = {{"A", 7, -3, 1},
                {"B", 5, -2, 1},
                {"S", 3, -1, 0.25},
                {"D", 9, -4, 1},
                {"R", 23, -11, 0.25}};
    for (int t = 0; t < p->run->tensor_count; t++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if (strcmp(p->run->tensors[t].name, rows[r].name) == 0)
                for (int64_t i = 0; i < p->run->tensors[t].count; i++)
                    p->run->tensors[t].given[i] =
                        rows[r].step * (double)(i * 31 / 7 % rows[r].of + rows[r].least);
}

const struct reference quant_references[] = {
    {"split/weight_quant_matmul",
     "ascend910b2",
     {70, 200, 200, 2},
     {0},
     weight_quant,
     1e-3,
     1e-4,
     4,
     true,
     fit_weights,
     prepare_weights},
    {"split/matmul_epilogue",
     "ascend910b2",
     {70, 100, 100, 2, 2, 3, 2, 1},
     {0},
     epilogue,
     1e-3,
     1e-5,
     0.5,
     false,
     fit_epilogue,
     NULL},
    {"split/matmul_epilogue",
     "ascend910b2",
     {70, 100, 100, 2, 2, 2, 2, 2},
     {0},
     epilogue,
     0,
     0,
     4,
     false,
     fit_epilogue,
     prepare_quarters},
    {.name = "split/quant_matmul",
     .chips = "ascend910b2",
     .most = {40, 1300, 100, 2},
     .compute = quant,
     .relative = EXACT,
     .largest = 8,
     .fit = fit_tokens,
     .prepare = prepare_scales},
    {"split/matmul_epilogue",
     "ascend910b2",
     {70, 100, 100, 2, 2, 2, 1, 2},
     {0},
     epilogue,
     0,
     0,
     4,
     false,
     fit_fixp,
     prepare_quarters},
    {.name = "weight_quant_matmul",
     .chips = "ascend310 ascend910",
     .most = {70, 200, 200, 1},
     .compute = weight_scaled,
     .relative = 1e-3,
     .absolute = 1e-4,
     .largest = 4,
     .is_hostile = true,
     .fit = fit_8_bits,
     .prepare = prepare_weights},
    {.name = "matmul_epilogue",
     .chips = "ascend910",
     .most = {70, 100, 100, 2, 2, 3, 2, 1},
     .compute = epilogue,
     .relative = 1e-3,
     .absolute = 1e-5,
     .largest = 0.5,
     .fit = fit_epilogue},
    {.name = "matmul_epilogue", /* GELU by exp and ln of f16 */
     .chips = "ascend310",
     .most = {70, 100, 100, 2, 2, 3, 2, 1},
     .compute = epilogue,
     .relative = 4e-3,
     .absolute = 4e-3,
     .largest = 0.5,
     .fit = fit_epilogue},
    {.name = "matmul_epilogue",
     .chips = "ascend310 ascend910",
     .most = {70, 100, 100, 2, 2, 2, 2, 2},
     .compute = epilogue,
     .largest = 4,
     .fit = fit_epilogue,
     .prepare = prepare_quarters},
    {.name = "quant_matmul", /* sums that f32 holds */
     .chips = "ascend310 ascend910",
     .most = {40, 1000, 100, 2},
     .compute = quant,
     .relative = EXACT,
     .largest = 8,
     .fit = fit_tokens,
     .prepare = prepare_scales},
};
const int quant_reference_count = sizeof quant_references / sizeof *quant_references;
