#include "results/store_schema.h"

#include <string.h>

/* The key is the table: rows are found by it, and lie in its order whoever wrote them first. */
#define VERSION_1                                                                                  \
    "CREATE TABLE result ("                                                                        \
    "  kind TEXT NOT NULL CHECK (kind IN ('simulated', 'measured', 'imported')),"                  \
    "  op TEXT NOT NULL, shape TEXT NOT NULL, options TEXT NOT NULL, dtype TEXT NOT NULL,"         \
    "  space TEXT NOT NULL, query TEXT NOT NULL, hardware TEXT NOT NULL,"                          \
    "  cores INTEGER NOT NULL CHECK (cores > 0), model_version INTEGER NOT NULL,"                  \
    "  hardware_name TEXT NOT NULL, tiling TEXT NOT NULL,"                                         \
    "  time_ns REAL NOT NULL CHECK (time_ns >= 0),"                                                \
    "  optimal INTEGER NOT NULL CHECK (optimal IN (0, 1)),"                                        \
    "  limit_s REAL NOT NULL CHECK (limit_s >= 0), answer TEXT NOT NULL,"                          \
    "  PRIMARY KEY (op, shape, options, dtype, space, hardware, cores, query, model_version,"      \
    "               kind)"                                                                         \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;"         \
    "PRAGMA application_id = 0x4154554e;"                                                          \
    "PRAGMA user_version = 1;"

const char *const store_schema_steps[] = {VERSION_1};
const int store_schema_version = sizeof store_schema_steps / sizeof *store_schema_steps;

/* A run of digits from *at on, without leading zeros; its length. */
static int digits(const char *text, int length, int *at)
{
    while (*at + 1 < length && text[*at] == '0' && text[*at + 1] >= '0' && text[*at + 1] <= '9')
        ++*at;
    int count = 0;
    while (*at + count < length && text[*at + count] >= '0' && text[*at + count] <= '9')
        count++;
    return count;
}

int store_compare_shapes(void *unused, int left_length, const void *left, int right_length,
                         const void *right)
{
    (void)unused;
    const char *a = left, *b = right;
    int i = 0, j = 0;
    while (i < left_length && j < right_length) {
        int in_a = digits(a, left_length, &i), in_b = digits(b, right_length, &j);
        if (in_a != in_b && in_a && in_b)
            return in_a < in_b ? -1 : 1;
        int count = in_a && in_b ? in_a : 1;
        int order = memcmp(a + i, b + j, (size_t)count);
        if (order)
            return order;
        i += count;
        j += count;
    }
    return (left_length - i) - (right_length - j);
}
