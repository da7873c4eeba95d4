/* What an operator has to compute and to move by the shapes in a profiler's row, since profilers
 * count no operations and no bytes, and how long that takes a chip. Shapes and data types are lists
 * such as "8192,512;512,4096" and FLOAT16;FLOAT16, of the inputs or of the outputs. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_SHAPES_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_SHAPES_H

#include "analysis/profile/analyse_traffic.h"

/* Is the row's operator a multiplication of matrices, or an elementwise one, by its type? */
bool shapes_are_matmul(const struct profile_row *row);
bool shapes_are_elementwise(const struct profile_row *row);

/* Between traffic_begin and traffic_close, of such operators: operations, and bytes unless those
 * were counted. Notes what is known, and why not more, unless something else was counted. */
void shapes_add(struct peaks *peaks, bool bytes_counted, bool counted);

/* The data type of an entry, any case, with or without the DT_ that some profilers have in front:
 * an enum dtype, of DTYPE_ALL; -1: none of the known ones. */
int data_type_of(const char *list, int index);

#endif
