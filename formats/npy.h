/* Arrays in NumPy's files (.npy; format 1.0 to 3.0: numpy.lib.format). Read: little-endian f2, f4,
 * f8, i1, i2, i4, i8, u1, u2, u4 and b1, in C order. */
#ifndef AUTOTUNE_FORMATS_NPY_H
#define AUTOTUNE_FORMATS_NPY_H

#include "core/dtype.h"
#include "core/status.h"

#include <stdint.h>
#include <stdio.h>

enum { NPY_MAX_DIMS = 8 };

struct npy {
    int type; /* of its elements: a row of a table of npy.c */
    int dim_count;
    int64_t extent[NPY_MAX_DIMS], count;
};

/* Reads the header. STATUS_INVALID, "file: …". */
enum status npy_read_header(FILE *in, const char *file, struct npy *npy, struct error *error);

/* Then its npy->count elements, and that nothing comes after them. */
enum status npy_read_elements(FILE *in, const char *file, const struct npy *npy, double *elements,
                              struct error *error);

/* Writes elements that are of the type; bf16, which NumPy has not, as f4. The stream remembers
 * errors. */
void npy_write(FILE *out, enum dtype type, int dim_count, const int64_t extent[],
               const double *elements);

/* "3x4", at most `size` bytes with the 0. */
void npy_shape_text(int dim_count, const int64_t extent[], char *text, int size);

#endif
