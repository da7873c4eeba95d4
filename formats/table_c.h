/* Internal to the headers of tables: names, and the functions that re-check a tiling. */
#ifndef AUTOTUNE_FORMATS_TABLE_C_H
#define AUTOTUNE_FORMATS_TABLE_C_H

#include "formats/table.h"

/* "autotune_matmul"; "autotune_matmul_f16_transpose_a"; each size behind `type`. */
void table_put_op(const struct table *table, const struct table_part *part, FILE *out);
void table_put_name(const struct table *table, const struct table_part *part, FILE *out);
void table_put_sizes(const struct table_part *part, const char *type, FILE *out);

/* table_c_limits.c: what the bodies of limits call; and of a part its limits and NAME_is_legal. */
void table_put_arithmetic(const struct table *table, FILE *out);
void table_put_limits(const struct table *table, const struct table_part *part, FILE *out);

#endif
