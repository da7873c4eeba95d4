/* Elements of each type as numbers: what of a number a type keeps. */
#ifndef AUTOTUNE_CORE_ELEMENT_H
#define AUTOTUNE_CORE_ELEMENT_H

#include "core/dtype.h"

/* The nearest number of a type that chips compute in, ties to even: floating ones go to ±∞ beyond
 * their largest, whole ones to their least or largest, and NaN to 0. Every element of such a type
 * is a double exactly. */
double element_round(enum dtype type, double x);

/* Is it a floating type? */
int element_is_floating(enum dtype type);

/* Integers become reals, or numbers of 8 bits, by a scale: of a column of sums, in the 8 bytes that
 * the path out of the matrix unit reads it in. */
enum { ELEMENT_SCALE_BYTES = 8 };
static inline int element_takes_scale(enum dtype from, enum dtype to)
{
    return !element_is_floating(from) && (element_is_floating(to) || dtype_bytes(to) == 1);
}

/* An element's bytes, in this machine's order, as a number and back; the number is of the type. */
double element_get(enum dtype type, const void *bytes);
void element_put(enum dtype type, double number, void *bytes);

#endif
