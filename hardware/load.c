/* A variant is read from the top down and applied from the bottom up: its base first, recursively,
 * then its changes, then those of --set-hw, each as an override on a number of the one tree. The
 * chain of files being read, kept on the stack, shows a base that leads back to itself. */
#include "hardware/load.h"

#include "hardware/build.h"
#include "hardware/description.h"
#include "hardware/find.h"
#include "hardware/override.h"
#include "hardware/platform.h"
#include "hardware/schema.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIANTS = 16 }; /* on top of each other */

/* The files being read, from the one asked for down to the latest base. */
struct chain {
    const struct chain *above;
    const char *real;    /* path */
    const char *folders; /* of platform files */
    int depth;
};

static enum status read_description(const char *file, const char *folders,
                                    const struct chain *above, struct description *description,
                                    struct error *error);

static enum status apply_set(const struct tree *variant, struct tree *tree, struct error *error)
{
    const config_setting_t *root = config_root_setting(variant->config);
    const config_setting_t *set = config_setting_get_member(root, "set");
    const char *slash = strrchr(variant->file, '/');
    enum status status = STATUS_OK;
    for (int i = 0; i < config_setting_length(set) && status == STATUS_OK; i++) {
        const config_setting_t *entry = config_setting_get_elem(set, (unsigned)i);
        int line = (int)config_setting_source_line(entry);
        char *source;
        if (asprintf(&source, "%s (set in %s:%d)", schema_text(root, "source"),
                     slash ? slash + 1 : variant->file, line) < 0)
            return error_memory(error);
        const struct change change = {config_setting_get_string(entry), variant->file, line,
                                      source};
        status = override_apply(tree, &change, error);
        free(source);
    }
    return status;
}

static enum status read_base(const struct tree *variant, const struct chain *chain,
                             struct description *description, struct error *error)
{
    const config_setting_t *root = config_root_setting(variant->config);
    const config_setting_t *base = config_setting_get_member(root, "base");
    char *file;
    struct error found;
    enum status status = find_description(config_setting_get_string(base), chain->real,
                                          chain->folders, &file, &found);
    if (status != STATUS_OK)
        return error_set(error, status, "%s:%u: base: %s", variant->file,
                         (unsigned)config_setting_source_line(base), found.text);
    for (const struct chain *c = chain; c && status == STATUS_OK; c = c->above) {
        char *real = realpath(file, NULL);
        if (c->depth > MAX_VARIANTS || (real && strcmp(real, c->real) == 0))
            status = tree_expected(variant, base, error,
                                   "a description that does not lead back here, at most %d deep",
                                   MAX_VARIANTS);
        free(real);
    }
    if (status == STATUS_OK)
        status = read_description(file, chain->folders, chain, description, error);
    free(file);
    return status;
}

static enum status read_variant(const struct tree *variant, const struct chain *chain,
                                struct description *description, struct error *error)
{
    TRY(schema_check_variant(variant, error));
    TRY(read_base(variant, chain, description, error));
    snprintf(description->name, sizeof description->name, "%s",
             schema_text(config_root_setting(variant->config), "name"));
    enum status status = apply_set(variant, &description->tree, error);
    if (status != STATUS_OK)
        tree_clear(&description->tree);
    return status;
}

/* On failure there is nothing to clear. */
static enum status read_description(const char *file, const char *folders,
                                    const struct chain *above, struct description *description,
                                    struct error *error)
{
    struct tree tree;
    enum status status =
        find_is_platform(file) ? platform_read(file, &tree, error) : tree_read(file, &tree, error);
    if (status != STATUS_OK)
        return status;
    const config_setting_t *root = config_root_setting(tree.config);
    if (!config_setting_get_member(root, "base")) {
        status = schema_check_description(&tree, error);
        if (status == STATUS_OK) {
            description->tree = tree;
            return STATUS_OK;
        }
    } else {
        char *real = realpath(file, NULL);
        const struct chain chain = {above, real, folders, above ? above->depth + 1 : 1};
        status = real ? read_variant(&tree, &chain, description, error)
                      : error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
        free(real);
    }
    tree_clear(&tree);
    return status;
}

static enum status apply_overrides(const struct hardware_overrides *overrides, struct tree *tree,
                                   struct error *error)
{
    for (size_t i = 0; overrides && i < overrides->count; i++) {
        char place[160];
        const char *text = overrides->texts[i];
        size_t key = strlen(HARDWARE_CACHE);
        bool is_cache = strncmp(text, HARDWARE_CACHE, key) == 0;
        snprintf(place, sizeof place, "--%s %.140s", is_cache ? "cache" : "set-hw",
                 text + (is_cache ? key : 0));
        const struct change change = {text, place, 0, FACT_OVERRIDE_SOURCE};
        TRY(override_apply(tree, &change, error));
    }
    return STATUS_OK;
}

/* The tree's file: the one asked for, where links lead; not that of its base. */
static enum status set_file(const char *file, struct description *description, struct error *error)
{
    description->file = realpath(file, NULL);
    if (!description->file)
        return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
    if (strlen(description->file) < sizeof((struct hardware *)0)->file)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE, "%.100s…: a path of %zu bytes, expected %zu at most",
                     file, strlen(description->file), sizeof((struct hardware *)0)->file - 1);
}

enum status description_read(const char *folders, const char *name,
                             const struct hardware_overrides *overrides,
                             struct description *description, struct error *error)
{
    char *file;
    memset(description, 0, sizeof *description);
    enum status status = find_description(name, NULL, folders, &file, error);
    if (status != STATUS_OK)
        return status;
    status = read_description(file, folders, NULL, description, error);
    if (status == STATUS_OK) {
        status = set_file(file, description, error);
        if (status == STATUS_OK)
            status = apply_overrides(overrides, &description->tree, error);
        if (status != STATUS_OK)
            description_clear(description);
    }
    free(file);
    return status;
}

void description_clear(struct description *description)
{
    tree_clear(&description->tree);
    free(description->file);
    memset(description, 0, sizeof *description);
}

enum status description_build(const struct description *description, struct hardware *hw,
                              struct error *error)
{
    const struct tree *tree = &description->tree;
    memset(hw, 0, sizeof *hw);
    enum status status = schema_check_description(tree, error); /* again: numbers have changed */
    if (status == STATUS_OK)
        status = hardware_build(tree, hw, error);
    if (status == STATUS_OK)
        status = hardware_list_facts(tree, hw, error);
    if (description->name[0])
        memcpy(hw->name, description->name, sizeof hw->name);
    memcpy(hw->file, description->file, strlen(description->file) + 1);
    if (status != STATUS_OK)
        hardware_clear(hw);
    return status;
}

enum status hardware_load_from(const char *folders, const char *name,
                               const struct hardware_overrides *overrides, struct hardware *hw,
                               struct error *error)
{
    struct description description;
    memset(hw, 0, sizeof *hw);
    enum status status = description_read(folders, name, overrides, &description, error);
    if (status != STATUS_OK)
        return status;
    status = description_build(&description, hw, error);
    description_clear(&description);
    return status;
}

enum status hardware_load(const char *name, const struct hardware_overrides *overrides,
                          struct hardware *hw, struct error *error)
{
    return hardware_load_from(NULL, name, overrides, hw, error);
}

/* The facts that were changed, as texts, which the caller frees. */
static size_t list_changes(const struct hardware *hw, char *texts[])
{
    size_t count = 0;
    for (size_t i = 0; i < hw->fact_count; i++)
        if (fact_is_override(&hw->facts[i]) &&
            asprintf(&texts[count], "%s=%s", hw->facts[i].key, hw->facts[i].value) >= 0)
            count++;
    return count;
}

enum status hardware_reload(const struct hardware *hw, const char *change, struct hardware *other,
                            struct error *error)
{
    char **texts = calloc(hw->fact_count + 1, sizeof *texts);
    const char **all = calloc(hw->fact_count + 1, sizeof *all);
    memset(other, 0, sizeof *other);
    size_t count = texts && all ? list_changes(hw, texts) : 0;
    for (size_t i = 0; i < count; i++)
        all[i] = texts[i];
    enum status status = error_memory(error);
    if (texts && all) {
        all[count] = change;
        const struct hardware_overrides overrides = {all, count + 1};
        status = hardware_load(hw->file, &overrides, other, error);
    }
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(all);
    if (status == STATUS_OK)
        other->cores = hw->cores;
    return status;
}

static void visit_files(const char *name, const char *beside, const char *folders, int depth,
                        void (*visit)(void *context, const char *file), void *context)
{
    char *file;
    struct tree tree;
    if (find_description(name, beside, folders, &file, NULL) != STATUS_OK)
        return;
    visit(context, file);
    if (find_is_platform(file)) {
        platform_each_below(visit, context);
    } else if (depth < MAX_VARIANTS && tree_read(file, &tree, NULL) == STATUS_OK) {
        const char *base = NULL;
        char *real = realpath(file, NULL);
        if (config_lookup_string(tree.config, "base", &base) && real)
            visit_files(base, real, folders, depth + 1, visit, context);
        free(real);
        tree_clear(&tree);
    }
    free(file);
}

void hardware_each_file(const char *folders, const char *name,
                        void (*visit)(void *context, const char *file), void *context)
{
    visit_files(name, NULL, folders, 0, visit, context);
}
