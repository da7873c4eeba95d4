/* Internal to jobs/sweep: groups of axes in a file (sweep_config.c), and files (sweep_files.c). */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_CONFIG_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_CONFIG_H

#include "jobs/sweep/sweep_bundles.h"

/* A group with what it inherits. */
struct scope {
    const config_setting_t *own, *outer; /* outer may be NULL */
};

/* All jobs of a group. */
enum status sweep_expand_group(struct reading *reading, struct scope scope, struct bundles *bundles,
                               struct error *error);

/* All jobs of a named set. */
enum status sweep_read_set(struct reading *reading, const char *name,
                           const config_setting_t *setting, struct bundles *bundles,
                           struct error *error);

#endif
