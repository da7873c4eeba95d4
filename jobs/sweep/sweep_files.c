/* Sweeps as libconfig files: a file, and the sets that it names, which are files themselves. */
#include "jobs/sweep/sweep_config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SET_DEPTH = 3 };

static enum status read_tree(struct reading *reading, const char *file, struct bundles *bundles,
                             struct error *error)
{
    enum status status = tree_read(file, &reading->tree, error);
    if (status != STATUS_OK)
        return status;
    status = sweep_expand_group(
        reading, (struct scope){config_root_setting(reading->tree.config), NULL}, bundles, error);
    tree_clear(&reading->tree);
    return status;
}

/* Errors in rows of a set are found at the line that names it. */
enum status sweep_read_set(struct reading *reading, const char *name,
                           const config_setting_t *setting, struct bundles *bundles,
                           struct error *error)
{
    struct reading inner = {.sweep = reading->sweep, .depth = reading->depth + 1};
    char folder[PATH_MAX], file[PATH_MAX];
    if (inner.depth > MAX_SET_DEPTH)
        return tree_error(&reading->tree, setting, NULL, error, "sets within sets, %d deep",
                          inner.depth);
    TRY(sweep_set_folder(folder, error));
    if (!sweep_set_file(folder, name, file))
        return tree_expected(&reading->tree, setting, error, "the name of a set, see %s", folder);
    TRY(read_tree(&inner, file, bundles, error));
    for (int64_t i = 0; i < bundles->count; i++)
        bundles->items[i].line = setting_line(setting);
    return STATUS_OK;
}

static enum status add_jobs(const struct sweep_source *source, struct sweep *sweep,
                            const struct bundles *bundles, struct error *error)
{
    for (int64_t i = 0; i < bundles->count; i++) {
        const struct bundle *bundle = &bundles->items[i];
        const struct sweep_option *row = bundle->options;
        if (source->option_count) {
            struct sweep_option *both = sweep_row(source, sweep, bundle->count);
            if (!both)
                return error_memory(error);
            memcpy(both + source->option_count, row, (size_t)bundle->count * sizeof *row);
            row = both;
        }
        TRY(sweep_add(sweep, bundle->line, row, source->option_count + bundle->count, error));
    }
    return STATUS_OK;
}

enum status sweep_read_config(const struct sweep_source *source, struct sweep *sweep,
                              struct error *error)
{
    struct reading reading = {.sweep = sweep};
    struct bundles bundles = {0};
    TRY(read_tree(&reading, source->name, &bundles, error));
    return add_jobs(source, sweep, &bundles, error);
}
