/* Axes of a sweep's file.
 *
 * A value of an axis is a bundle of options: {shape=…}, {hw=…, set-hw=…, set-hw=…}, or all options
 * of a job of a named set. So everything is one product, and products nest. Sizes of products are
 * known before any is made; all memory is the sweep's. Errors are STATUS_TOO_LARGE for more jobs
 * than a sweep may have, or name the file and line. */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_BUNDLES_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_BUNDLES_H

#include "hardware/tree.h"
#include "jobs/sweep/sweep_rows.h"

enum { MAX_AXES = 48 };

/* Options that belong together. */
struct bundle {
    int line, count;
    const struct sweep_option *options;
};

struct bundles {
    int64_t count;
    struct bundle *items; /* of the sweep's memory */
};

/* One file that is being read. */
struct reading {
    struct sweep *sweep;
    struct tree tree;
    int depth; /* of named sets within sets */
};

int setting_line(const config_setting_t *setting);

/* How many values a setting stands for, and which: a list's, or itself. */
int setting_count(const config_setting_t *setting);
const config_setting_t *setting_value(const config_setting_t *setting, int i);

/* The text of a number, a text or true and false (yes and no). */
enum status setting_text(const struct reading *reading, const config_setting_t *value,
                         char text[512], struct error *error);

/* An empty list with room for `count`. */
enum status bundles_make(struct reading *reading, int64_t count, struct bundles *bundles,
                         struct error *error);

/* A bundle of one option, behind the last. */
enum status bundles_add(struct reading *reading, const char *name, const char *text, int line,
                        struct bundles *bundles, struct error *error);

/* What a value becomes as an option's text. */
typedef enum status value_writer(const struct reading *reading, const char *name,
                                 const config_setting_t *setting, const char *value, char text[768],
                                 struct error *error);

/* As it is; and as a change of the chip. */
value_writer value_plain, value_chip_change;

/* One bundle a value of the setting, whose ranges stand for many: { from; to; step or factor; }. */
enum status bundles_of_values(struct reading *reading, const config_setting_t *setting,
                              const char *name, const char *option, value_writer *writer,
                              struct bundles *bundles, struct error *error);

/* All combinations, the last axis fastest. */
enum status bundles_multiply(struct reading *reading, const config_setting_t *setting,
                             const struct bundles axes[], int count, struct bundles *bundles,
                             struct error *error);

/* One list behind the other. */
enum status bundles_join(struct reading *reading, const config_setting_t *setting,
                         const struct bundles lists[], int count, struct bundles *bundles,
                         struct error *error);

#endif
