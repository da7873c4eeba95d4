/* Shapes and data types as a profiler's row has them: lists such as "8192,512;512,4096" and
 * FLOAT16;FLOAT16, of the inputs or of the outputs. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_TENSORS_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_TENSORS_H

#include <stdbool.h>

enum { TENSOR_MAX_DIMENSIONS = 8 };

struct tensor {
    int count; /* of dimensions; 0: a scalar */
    double size[TENSOR_MAX_DIMENSIONS];
};

/* The index-th entry of a list, without quotation marks and blanks around the list: not ended by a
 * 0 character, *length characters long. "" where there are not so many. */
const char *list_entry(const char *list, int index, int *length);

/* The number of entries; 0 of a field without any characters, or N/A. */
int list_count(const char *list);

/* False when the entry is no shape: sizes are 0 to 10^9, at most TENSOR_MAX_DIMENSIONS of them. */
bool tensor_read(const char *list, int index, struct tensor *tensor);

/* The product of the sizes, 1 of a scalar; at most 10^72. */
double tensor_elements(const struct tensor *tensor);

/* The data type of an entry, any case, with or without the DT_ that some profilers have in front:
 * an enum dtype, of DTYPE_ALL; -1: none of the known ones. */
int data_type_of(const char *list, int index);

#endif
