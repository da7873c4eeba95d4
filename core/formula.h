/* What an operation computes of an element of each of its sources, as a description says it:
 * "a + b", "max(a, 0)", "b if a else c".
 *
 *   formula = x "if" x "else" formula | x
 *   x = sum { ("<" "<=" ">" ">=" "==" "!=") sum }      1 where it holds, else 0
 *   sum = product { ("+" "-") product }     product = sign { ("*" "/") sign }
 *   sign = "-" sign | number | "a" | "b" | "c" | "(" formula ")"
 *        | FUNCTION "(" formula { "," formula } ")"
 *
 * Functions: min and max of two, NaN where one is (IEEE 754-2019 minimum, maximum); abs, exp, ln,
 * sqrt, floor of one; and, or, not of the bits of whole numbers. */
#ifndef AUTOTUNE_CORE_FORMULA_H
#define AUTOTUNE_CORE_FORMULA_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { FORMULA_MAX_TERMS = 40, FORMULA_MAX_DEPTH = 8, FORMULA_SOURCES = 3, FORMULA_TEXT_SIZE = 80 };

/* In postfix order: after its operands. */
struct formula_term {
    double number; /* of a number */
    uint8_t op;
};

struct formula {
    uint8_t count;   /* 0: nothing is known */
    uint8_t sources; /* that it names: a, a and b, or all three */
    struct formula_term terms[FORMULA_MAX_TERMS];
};

/* STATUS_INVALID with what was expected, "column 5: …". The formula is empty then. */
enum status formula_parse(const char *text, struct formula *formula, struct error *error);

/* results[i] of a source's i-th elements, for i below `count`; sources[s] may be NULL where it is
 * not named, and may be the results. `is_single`: each intermediate result is rounded to FP32. */
void formula_apply(const struct formula *formula, const double *const sources[FORMULA_SOURCES],
                   int64_t count, bool is_single, double *results);

#endif
