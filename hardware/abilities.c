/* Rows of words: names of buffers, of operations, of types, with blanks between. */
#include "hardware/abilities.h"

#include "core/array.h"
#include "hardware/schema.h"

#include <stdio.h>
#include <string.h>

struct builder {
    const struct tree *tree;
    struct hardware *hw;
    struct error *error;
};

/* The next of the words of a text; false behind the last one. */
static bool next_word(const char **text, const char **word, int *length)
{
    *word = *text + strspn(*text, " ");
    *length = (int)strcspn(*word, " ");
    *text = *word + *length;
    return *length > 0;
}

static enum status find_memories(const struct builder *b, const config_setting_t *group,
                                 const char *key, uint16_t *memories)
{
    const char *text = schema_text(group, key), *word;
    int length;
    for (*memories = 0; text && next_word(&text, &word, &length);) {
        int buffer = hardware_buffer(b->hw, word, length);
        if (buffer < 0)
            return tree_expected(b->tree, config_setting_get_member(group, key), b->error,
                                 "names of buffers that `buffers` declares, with blanks between");
        *memories |= (uint16_t)(1u << buffer);
    }
    return STATUS_OK;
}

static enum status build_operands(const struct builder *b, const config_setting_t *group)
{
    const char *name = schema_text(group, "pipe");
    int found = hardware_pipe(b->hw, name, (int)strlen(name));
    if (found < 0)
        return tree_expected(b->tree, config_setting_get_member(group, "pipe"), b->error,
                             "a pipe that `pipes` declares");
    for (int role = 0; role < OPERAND_ROLES; role++) {
        uint16_t *memories = &b->hw->pipes[found].memories[role];
        if (*memories)
            return tree_expected(b->tree, config_setting_get_member(group, "pipe"), b->error,
                                 "one row of each pipe");
        TRY(find_memories(b, group, operand_role_name((enum operand_role)role), memories));
    }
    uint16_t *memories = b->hw->pipes[found].memories;
    if (!memories[OPERAND_SRC2])
        memories[OPERAND_SRC2] = memories[OPERAND_SRC];
    if (!memories[OPERAND_SRC3])
        memories[OPERAND_SRC3] = memories[OPERAND_SRC2];
    return STATUS_OK;
}

/* "f16 f32", or pairs "f16:f32 f32:f16". */
static enum status find_results(const struct builder *b, const config_setting_t *group,
                                const char *key, uint16_t results[DTYPE_COUNT])
{
    const char *text = schema_text(group, key), *word;
    bool converts = strcmp(key, "converts") == 0, any = false;
    int length;
    while (next_word(&text, &word, &length)) {
        const char *colon = memchr(word, ':', (size_t)length);
        int first = colon ? (int)(colon - word) : length;
        int from = dtype_find(word, first);
        int to = colon ? dtype_find(colon + 1, length - first - 1) : from;
        if (from < 0 || to < 0 || (colon != NULL) != converts)
            break;
        results[from] |= (uint16_t)(1u << to);
        any = true;
    }
    if (any && !length)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, key), b->error,
                         converts ? "pairs of types with blanks between, as in \"f16:f32 f32:f16\""
                                  : "types with blanks between, as in \"f16 f32\"");
}

/* One row of each operation at most. */
static enum status build_types_taken(const struct builder *b, const config_setting_t *group)
{
    uint16_t results[DTYPE_COUNT] = {0};
    const char *names = schema_text(group, "operations"), *word;
    int length;
    const config_setting_t *takes = config_setting_get_member(group, "takes");
    const config_setting_t *converts = config_setting_get_member(group, "converts");
    if (!takes == !converts)
        return tree_expected(b->tree, group, b->error, "either takes or converts");
    TRY(find_results(b, group, takes ? "takes" : "converts", results));
    while (next_word(&names, &word, &length)) {
        int found = hardware_operation(b->hw, word, length);
        struct operation *operation = &b->hw->operations[found < 0 ? 0 : found];
        static const uint16_t none[DTYPE_COUNT];
        if (found < 0 || operation->class != OPERATION_VECTOR ||
            memcmp(operation->results, none, sizeof none) != 0)
            return tree_expected(b->tree, config_setting_get_member(group, "operations"), b->error,
                                 "vector operations that `operations` declares, each in one row; "
                                 "'%.*s' is not",
                                 length, word);
        memcpy(operation->results, results, sizeof results);
    }
    return STATUS_OK;
}

/* ---- as a user sees them ---- */

static enum status add_fact(struct hardware *hw, const char *key, const char *value,
                            const char *source, struct error *error)
{
    if (!array_room(&hw->facts, (int64_t)hw->fact_count, sizeof *hw->facts))
        return error_memory(error);
    struct fact *fact = &hw->facts[hw->fact_count++];
    *fact = (struct fact){strdup(key), strdup(value), strdup(source), true};
    return fact->key && fact->value && fact->source ? STATUS_OK : error_memory(error);
}

/* "operands.M.a" is "l0a". */
static enum status list_operands(struct hardware *hw, const config_setting_t *group,
                                 struct error *error)
{
    char key[HARDWARE_KEY_SIZE];
    for (int role = 0; role < OPERAND_ROLES; role++) {
        const char *buffers = schema_text(group, operand_role_name(role));
        if (!buffers)
            continue;
        snprintf(key, sizeof key, "operands.%s.%s", schema_text(group, "pipe"),
                 operand_role_name(role));
        TRY(add_fact(hw, key, buffers, schema_text(group, "source"), error));
    }
    return STATUS_OK;
}

static enum status list_types_of(struct hardware *hw, const struct operation *operation,
                                 bool converts, const char *source, struct error *error)
{
    char key[HARDWARE_KEY_SIZE], types[DTYPE_LIST_SIZE] = "";
    size_t used = 0;
    for (int from = 0; from < DTYPE_COUNT; from++) {
        for (int to = 0; to < DTYPE_COUNT; to++)
            if (operation->results[from] & 1u << to)
                used += (size_t)snprintf(types + used, sizeof types - used, "%s%s", used ? " " : "",
                                         dtype_name((enum dtype)to));
        if (!used || (!converts && from < DTYPE_COUNT - 1))
            continue;
        snprintf(key, sizeof key, "types.%s%s%s", operation->name, converts ? "." : "",
                 converts ? dtype_name((enum dtype)from) : "");
        TRY(add_fact(hw, key, types, source, error));
        used = 0;
    }
    return STATUS_OK;
}

/* "types.exp" is "f16 f32", and "types.cast.f32" what is converted to. */
static enum status list_types(struct hardware *hw, const config_setting_t *group,
                              struct error *error)
{
    const char *names = schema_text(group, "operations"), *word;
    int length;
    while (next_word(&names, &word, &length))
        TRY(list_types_of(hw, &hw->operations[hardware_operation(hw, word, length)],
                          config_setting_get_member(group, "converts") != NULL,
                          schema_text(group, "source"), error));
    return STATUS_OK;
}

/* ---- both lists ---- */

static const char *const keys[] = {"operands", "types"};

enum status abilities_build(const struct tree *tree, struct hardware *hw, struct error *error)
{
    static enum status (*const builds[])(const struct builder *, const config_setting_t *) = {
        build_operands, build_types_taken};
    const struct builder b = {tree, hw, error};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const config_setting_t *list =
            config_setting_get_member(config_root_setting(tree->config), keys[k]);
        for (int i = 0; list && i < config_setting_length(list); i++)
            TRY(builds[k](&b, config_setting_get_elem(list, (unsigned)i)));
    }
    return STATUS_OK;
}

enum status abilities_list(const struct tree *tree, struct hardware *hw, struct error *error)
{
    static enum status (*const lists[])(struct hardware *, const config_setting_t *,
                                        struct error *) = {list_operands, list_types};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const config_setting_t *list =
            config_setting_get_member(config_root_setting(tree->config), keys[k]);
        for (int i = 0; list && i < config_setting_length(list); i++)
            TRY(lists[k](hw, config_setting_get_elem(list, (unsigned)i), error));
    }
    return STATUS_OK;
}
