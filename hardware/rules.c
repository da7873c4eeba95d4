#include "hardware/rules.h"

#include "hardware/schema.h"

#include <string.h>
#include <strings.h>

/* Of two settings that contradict each other, the one that was overridden is to blame. */
static const config_setting_t *to_blame(const config_setting_t *first,
                                        const config_setting_t *second)
{
    bool first_only = config_setting_get_hook(first) && !config_setting_get_hook(second);
    return first_only ? first : second;
}

enum status rule_bus(const struct tree *tree, const config_setting_t *group, const struct bus *bus,
                     struct error *error)
{
    const config_setting_t *totals = config_setting_get_member(group, "total_gbps");
    for (int n = 2; n <= bus->sharers; n++) {
        int64_t fewer = bus->total_bytes_per_s[n - 2], total = bus->total_bytes_per_s[n - 1];
        const config_setting_t *blamed =
            to_blame(config_setting_get_elem(totals, (unsigned)(n - 2)),
                     config_setting_get_elem(totals, (unsigned)(n - 1)));
        if (total < fewer)
            return tree_expected(tree, blamed, error,
                                 "a total for %d transfers not below that for %d", n, n - 1);
        if (total * (n - 1) > fewer * n)
            return tree_expected(tree, blamed, error,
                                 "a share of each of %d transfers not above that of %d", n, n - 1);
    }
    return STATUS_OK;
}

enum status rule_buffer(const struct tree *tree, const config_setting_t *group, struct error *error)
{
    const config_setting_t *capacity = config_setting_get_member(group, "capacity_bytes");
    bool external = schema_flag(group, "external");
    if (capacity && external)
        return tree_expected(tree, capacity, error, "none for an external buffer");
    if (!capacity && !external)
        return tree_error(tree, group, "capacity_bytes", error,
                          "missing, expected it or external = true");
    return STATUS_OK;
}

static enum status only_one_of(const struct tree *tree, const config_setting_t *group,
                               const char *first, const char *second, struct error *error)
{
    const config_setting_t *both = config_setting_get_member(group, second);
    bool one = config_setting_get_member(group, first) != NULL;
    if (one && both)
        return tree_expected(tree, both, error, "either %s or %s, not both", first, second);
    if (!one && !both)
        return tree_error(tree, group, first, error, "missing, expected it or %s", second);
    return STATUS_OK;
}

enum status rule_operation(const struct tree *tree, const config_setting_t *group,
                           enum operation_class class, struct error *error)
{
    static const struct {
        const char *key;
        enum operation_class class;
    } keys[] = {
        {"each_ns", OPERATION_SCALAR},   {"first_ns", OPERATION_VECTOR},
        {"repeat_ns", OPERATION_VECTOR}, {"repeat_cycles", OPERATION_VECTOR},
        {"result", OPERATION_VECTOR},
    };
    static const char *const needed[] = {"first_ns", "each_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const config_setting_t *member = config_setting_get_member(group, keys[i].key);
        if (member && keys[i].class != class)
            return tree_expected(tree, member, error, "no such key for this class");
    }
    if (!config_setting_get_member(group, needed[class]))
        return tree_error(tree, group, needed[class], error, "missing, expected it here");
    if (class == OPERATION_VECTOR)
        return only_one_of(tree, group, "repeat_ns", "repeat_cycles", error);
    return STATUS_OK;
}

enum status rule_name(const struct tree *tree, const config_setting_t *group, struct error *error)
{
    static const char *const words[] = {"mmad", "set",      "wait",        "barrier",
                                        "loop", "end",      "set_flag",    "wait_flag",
                                        "all",  "pipe_all", "pipe_barrier"};
    const char *name = schema_text(group, "name");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return tree_expected(tree, config_setting_get_member(group, "name"), error,
                                 "a name that is no word of program text");
    return STATUS_OK;
}

enum status rule_matrix(const struct tree *tree, const config_setting_t *list, struct error *error)
{
    const char *first = NULL;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        const char *pipe = schema_text(group, "pipe");
        if (first && strcasecmp(first, pipe) != 0)
            return tree_expected(tree, config_setting_get_member(group, "pipe"), error,
                                 "%s as for the other types", first);
        first = pipe;
    }
    return STATUS_OK;
}

enum status rule_repeat(const struct tree *tree, struct error *error)
{
    const config_setting_t *group =
        config_setting_get_member(config_root_setting(tree->config), "vector_repeat_bytes");
    const config_setting_t *value = config_setting_get_member(group, "value");
    struct number number = {true, 0, 0};
    tree_number(value, &number);
    if (number.count % 4 == 0)
        return STATUS_OK;
    return tree_expected(tree, value, error, "a multiple of 4 bytes");
}
