/* Cube-fx on the CPU as the matrix unit does it (Y. Tang, thesis, chapter 4), with what the thesis
 * leaves out: inputs at and below the expansion point, and the range of FP16.
 *
 * Precision. Operands are FP16, products and sums FP32 in ascending order of the powers, and every
 * stage hands FP16 to the next: v = (x − p)/r, rounded once; ln |v|; the Sequence Matrix' products
 * i·ln |v|; their exponentials, the powers; the coefficients a_i·r^i. What leaves the second
 * product stays FP32 while the odd part is added or subtracted and the constant a_0 is added (L0C →
 * UB without a cast), and is rounded to FP16 once, as the result. With r = 1 this gives the errors
 * of Cube-fx in thesis, Table 4.1, most to the printed digit, its departures from Horner's rule
 * included (tanh at 2.08, order 8: 595.3 % where Horner's has 597.3 %); FP32 between the stages
 * would give 597.3 %. The price: the roundings of ln |v| and of i·ln |v| are relative errors of the
 * i-th power, together up to i·|ln |v||·2^-10: some 0.1 % for a few powers of v near 1, some per
 * cent of a 64th power.
 *
 * Signs. ln |v| has none: even and odd powers are summed apart, in two columns of the coefficient
 * matrix a function, and the odd sum takes the sign of v. ln 0 is −∞, and 0·∞ in the product would
 * spoil a whole row: it becomes −1000, whose 64-fold fits FP16 and whose exponential is 0.
 *
 * Range. Where FP16 has not room for the powers (2.08^16 > 65504) or the coefficients (1/11! is 0),
 * r is the power of two, 2^-24 … 2^17, that loses least; otherwise it is 1. One r holds for a call,
 * chosen for the largest |x − p| whose results are not all beyond FP16. An input whose powers
 * overflow in spite of it never enters a product: its results are the polynomials' in double.
 *
 * NaN gives NaN. ±∞ gives the sum of the terms whose coefficient is not 0, from the lowest power
 * on: ∞ − ∞ is NaN, a constant stays what it is, for the terms that pad a shorter polynomial mean
 * nothing. (Horner's rule would give ∞ for x − x² + x³, and 0·∞ = NaN for padding.) */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_EVAL_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_EVAL_H

#include "core/half.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#define CUBEFX_MAX_TERMS    65    /* powers 0 … 64 */
#define CUBEFX_MIN_EXPONENT (-24) /* of scales: FP16 values are 2^-24 to 2^16 */
#define CUBEFX_MAX_EXPONENT 17
#define CUBEFX_MAX_EDGE     64

/* Polynomials Σ_{i<terms} coefficients[f·terms + i]·(x − point)^i. */
struct cubefx_polynomials {
    int64_t functions, terms;   /* 1 <= terms <= CUBEFX_MAX_TERMS */
    const double *coefficients; /* functions × terms, finite */
    double point;               /* of expansion, finite */
    double scale; /* r: 2^CUBEFX_MIN_EXPONENT … 2^CUBEFX_MAX_EXPONENT, or 0: choose */
};

struct cubefx_eval_summary {
    double scale;    /* r: 1 when no scaling was needed */
    bool scaled;     /* r is not 1 */
    int64_t clamped; /* inputs at the expansion point (or so near that v is 0 in FP16) */
    int64_t beyond;  /* finite inputs whose powers overflow FP16 in spite of r */
};

/* results[i·functions + f] = f-th polynomial of inputs[i]; i < count, functions >= 1. `merge`
 * Sequence Matrices stand side by side on a matrix unit of edge `edge` (1 <= merge <= edge <=
 * CUBEFX_MAX_EDGE); 1 is the naive mapping. The results are the same bit for bit whatever the edge
 * and the merge: what they add to a sum are zeros. `summary` may be NULL. Errors: STATUS_INVALID
 * with what was expected, STATUS_TOO_LARGE where sizes overflow, STATUS_NO_MEMORY. */
enum status cubefx_eval(const struct cubefx_polynomials *polynomials, const half *inputs,
                        int64_t count, int edge, int merge, half *results,
                        struct cubefx_eval_summary *summary, struct error *error);

/* The same by Horner's rule in FP16 (x − p, the coefficients and each operation rounded), for
 * comparison. What cubefx_eval would refuse is not checked. */
void cubefx_horner(const struct cubefx_polynomials *polynomials, const half *inputs, int64_t count,
                   half *results);

#endif
