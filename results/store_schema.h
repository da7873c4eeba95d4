/* What a store's file looks like, version by version. */
#ifndef AUTOTUNE_RESULTS_STORE_SCHEMA_H
#define AUTOTUNE_RESULTS_STORE_SCHEMA_H

/* Marks the file as a store ("ATUN"). */
#define STORE_APPLICATION 0x4154554e

/* store_schema_steps[v] makes version v + 1 of version v; each sets user_version. To change the
 * schema, add a step, and to tests/results/test_store.c a store of the version before. */
extern const char *const store_schema_steps[];
extern const int store_schema_version;

/* A collation: texts in which runs of digits compare as numbers, "64x8" before "512x8". */
int store_compare_shapes(void *unused, int left_length, const void *left, int right_length,
                         const void *right);

#endif
