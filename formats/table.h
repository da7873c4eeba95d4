/* Tables of the best tiling of each shape, as files that other programs load.
 *
 * A table is of one chip and one number of cores. It has a part for each operator, element type and
 * way to write the kernel; a part's entries ascend by their sizes, and no two have the same. The
 * text of a table depends on nothing else: no date, no path but those in the command. */
#ifndef AUTOTUNE_FORMATS_TABLE_H
#define AUTOTUNE_FORMATS_TABLE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TABLE_MAX_SIZES = 16, TABLE_MAX_AXES = 20, TABLE_MAX_CHOICES = 8 };

/* A value of a tiling: a number, or a word such as "both". */
struct table_value {
    const char *word; /* NULL: it is the number */
    int64_t number;
};

struct table_entry {
    int64_t size[TABLE_MAX_SIZES];
    struct table_value value[TABLE_MAX_AXES];
    double time_ns;
    bool optimal;
    int limits; /* the number of its own among the part's, from 1 */
};

/* Whether a tiling breaks a limit for another shape, as the body of a function in C
 * (kernels/limits_code.h); or why that cannot be said. */
struct table_limits {
    const char *text, *why; /* text NULL: it cannot */
};

struct table_part {
    const char *op, *type, *space;
    const char *kernel; /* fingerprint of the text that it comes from; NULL: an operator in C */
    int size_count, axis_count, choice_count;
    const char *const *size_names;
    const char *axis_names[TABLE_MAX_AXES];
    bool axis_is_word[TABLE_MAX_AXES];
    const char *choice_names[TABLE_MAX_CHOICES]; /* those that are not the default */
    const char *choices[TABLE_MAX_CHOICES];
    int64_t count; /* >= 1 */
    const struct table_entry *entries;
    int limits_count; /* 0: nothing is known of limits, and nothing re-checked; of all parts of an
                         operator or of none */
    const struct table_limits *limits;
};

struct table {
    const char *version; /* of the program */
    const char *command;
    const char *hardware, *fingerprint;
    int cores, model_version;
    const char *kind;   /* "simulated": what the times are */
    const char *prefix; /* of names in C: "autotune" */
    int part_count;
    const struct table_part *parts; /* ascending; parts of one operator have the same axes */
};

typedef enum status table_writer(const struct table *table, FILE *out, struct error *error);

/* A header for C99 and C++11: the entries and a lookup with a fallback, explained in it. */
table_writer table_write_c;
table_writer table_write_json, table_write_csv, table_write_markdown;

/* A name of a member in C; one that C or C++ takes for itself gets a line behind it. */
void table_put_member(const char *name, FILE *out);

/* Can names in C begin with it? */
bool table_is_prefix(const char *text);

#endif
