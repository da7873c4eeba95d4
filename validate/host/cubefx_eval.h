/* Cube-fx on the CPU: FP16 storage, FP32 accumulation, FP16 between the stages, as the matrix unit
 * does it (thesis, chapter 4), with the two things that it leaves out: the logarithm of inputs
 * <= 0 (even and odd parts of |x|) and powers beyond FP16's range (powers of x/r with coefficients
 * a_i·r^i, r a power of two). */
#ifndef AUTOTUNE_VALIDATE_HOST_CUBEFX_EVAL_H
#define AUTOTUNE_VALIDATE_HOST_CUBEFX_EVAL_H

#include "core/status.h"
#include "validate/host/half.h"

#include <stdbool.h>
#include <stdint.h>

/* Polynomials Σ_{i<terms} coefficients[f·terms + i]·(x − point)^i. */
struct cubefx_polynomials {
    int64_t functions, terms;   /* terms <= 65: powers 0 … 64 */
    const double *coefficients; /* functions × terms */
    double point;               /* of expansion */
};

struct cubefx_eval_report {
    double scale; /* r: 1 when no scaling was needed */
    bool scaled;
    int64_t clamped; /* inputs at the expansion point, whose logarithm does not exist */
};

/* results[i·functions + f] = f-th polynomial of inputs[i]. `merge` >= 1 Sequence Matrices side by
 * side on a matrix unit of edge `edge` (1 <= merge <= edge <= 64); 1 is the naive mapping.
 * NaN and ±∞ come out as they do from the plain polynomial. `report` may be NULL. */
enum status cubefx_eval(const struct cubefx_polynomials *polynomials, const half *inputs,
                        int64_t count, int edge, int merge, half *results,
                        struct cubefx_eval_report *report, struct error *error);

/* The same by Horner's rule in FP16 (each operation rounded), for comparison. */
void cubefx_horner(const struct cubefx_polynomials *polynomials, const half *inputs, int64_t count,
                   half *results);

#endif
