/* What an operation computes of an element of each of its sources, as a description says it:
 * "a + b", "max(a, 0)", "b if a else c".
 *
 *   value = x "if" x "else" value | x
 *   x = sum { ("<" "<=" ">" ">=" "==" "!=") sum }      1 where it holds, else 0
 *   sum = product { ("+" "-") product }     product = sign { ("*" "/") sign }
 *   sign = "-" sign | number | "a" | "b" | "c" | FUNCTION "(" value { "," value } ")" | "(" value
 * ")"
 *
 * Functions: min and max of two, NaN where one is (IEEE 754-2019 minimum, maximum); abs, exp, ln,
 * sqrt, floor of one; and, or, not of the bits of whole numbers. */
#ifndef AUTOTUNE_CORE_VALUE_H
#define AUTOTUNE_CORE_VALUE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { VALUE_MAX_TERMS = 40, VALUE_MAX_DEPTH = 8, VALUE_SOURCES = 3, VALUE_TEXT_SIZE = 80 };

/* In postfix order: after its operands. */
struct value_term {
    double number; /* of a number */
    uint8_t op;
};

struct value {
    uint8_t count;   /* 0: nothing is known */
    uint8_t sources; /* that it names: a, a and b, or all three */
    struct value_term terms[VALUE_MAX_TERMS];
};

/* STATUS_INVALID with what was expected, "column 5: …". The value is empty then. */
enum status value_parse(const char *text, struct value *value, struct error *error);

/* results[i] of a source's i-th elements, for i below `count`; sources[s] may be NULL where it is
 * not named, and may be the results. `is_single`: each intermediate result is rounded to FP32. */
void value_apply(const struct value *value, const double *const sources[VALUE_SOURCES],
                 int64_t count, bool is_single, double *results);

#endif
