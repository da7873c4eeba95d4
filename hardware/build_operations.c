/* Operations of the vector and scalar units, and what they cost. */
#include "hardware/build_parts.h"
#include "hardware/rules.h"
#include "hardware/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The member `key` as a position in `choices`; the first where the group does not have it. */
static enum status find_choice(struct builder *b, const config_setting_t *group, const char *key,
                               const char *const choices[], int count, uint8_t *choice)
{
    const char *text = schema_text(group, key);
    char expected[64];
    size_t used = 0;
    *choice = 0;
    if (!text)
        return STATUS_OK;
    for (; *choice < count; (*choice)++)
        if (strcmp(text, choices[*choice]) == 0)
            return STATUS_OK;
    *choice = 0;
    for (int i = 0; i < count && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s\"%s\"",
                                 i == 0          ? ""
                                 : i < count - 1 ? ", "
                                                 : " or ",
                                 choices[i]);
    return tree_expected(b->tree, config_setting_get_member(group, key), b->error, "%s", expected);
}

static struct price operation_price(const struct builder *b, const config_setting_t *group,
                                    bool scalar)
{
    if (scalar)
        return (struct price){
            .rate = rate_reduce(builder_fs(group, "each_ns"), 1), .bus = -1, .burst_table = -1};
    struct rate rate = config_setting_get_member(group, "repeat_cycles")
                           ? builder_cycles(b, group, "repeat_cycles")
                           : rate_reduce(builder_fs(group, "repeat_ns"), 1);
    return (struct price){
        .base_fs = builder_fs(group, "first_ns"), .rate = rate, .bus = -1, .burst_table = -1};
}

/* What folds a repeat is of two, what is spread of one, each of a pair of the source and its place.
 */
static enum status find_formula(struct builder *b, const config_setting_t *group,
                                struct operation *operation)
{
    static const int most[] = {[RESULT_ELEMENTS] = FORMULA_SOURCES,
                               [RESULT_ONE_PER_REPEAT] = 2,
                               [RESULT_SPREAD] = 1,
                               [RESULT_PAIRS] = 2};
    const char *text = schema_text(group, "value");
    const config_setting_t *member = config_setting_get_member(group, "value");
    struct formula formula;
    struct error reason;
    if (!text)
        return STATUS_OK;
    if (formula_parse(text, &formula, &reason) != STATUS_OK)
        return tree_expected(b->tree, member, b->error, "a value (%.120s)", reason.text);
    if (formula.sources > most[operation->result])
        return tree_expected(b->tree, member, b->error, "a value of at most %d sources",
                             most[operation->result]);
    snprintf(operation->value, sizeof operation->value, "%s", text);
    return STATUS_OK;
}

/* Prices of single types, on the pipe of the operation's own. */
static enum status build_types(struct builder *b, const config_setting_t *group, int8_t pipe,
                               struct operation *operation)
{
    const config_setting_t *types = config_setting_get_member(group, "types");
    for (int i = 0; types && i < config_setting_length(types); i++) {
        const config_setting_t *entry = config_setting_get_elem(types, (unsigned)i);
        struct type_price *of_type = &operation->types[operation->type_count++];
        struct price price = operation_price(b, entry, false);
        price.pipe = pipe;
        TRY(builder_find_type(b, entry, "type", &of_type->type));
        TRY(rule_operation(b->tree, entry, OPERATION_VECTOR, b->error));
        TRY(builder_add_price(b, entry, price, &of_type->price));
    }
    return STATUS_OK;
}

/* The operation that a row names stands above it. */
static enum status find_with_number(struct builder *b, const config_setting_t *group,
                                    struct operation *operation)
{
    const char *name = schema_text(group, "with_number");
    operation->with_number = -1;
    if (!name)
        return STATUS_OK;
    int found = hardware_operation(b->hw, name, (int)strlen(name));
    operation->with_number = (int8_t)found;
    if (found >= 0 && b->hw->operations[found].class == OPERATION_VECTOR &&
        &b->hw->operations[found] != operation)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, "with_number"), b->error,
                         "a vector operation that stands above it");
}

enum status builder_operation(struct builder *b, const config_setting_t *group)
{
    static const char *const classes[] = {"vector", "scalar"};
    static const char *const results[] = {"elements", "per_repeat", "spread", "pairs"};
    static const char *const inputs[] = {"src", "src src2", "src src2 src3"};
    struct operation *operation = &b->hw->operations[b->hw->operation_count++];
    snprintf(operation->name, sizeof operation->name, "%s", schema_text(group, "name"));
    TRY(rule_name(b->tree, group, b->error));
    TRY(find_choice(b, group, "class", classes, 2, &operation->class));
    TRY(find_choice(b, group, "result", results, 4, &operation->result));
    TRY(find_choice(b, group, "inputs", inputs, 3, &operation->inputs));
    operation->inputs += config_setting_get_member(group, "inputs") != NULL;
    TRY(rule_operation(b->tree, group, operation->class, b->error));
    TRY(find_formula(b, group, operation));
    TRY(find_with_number(b, group, operation));
    bool scalar = operation->class == OPERATION_SCALAR;
    struct price price = operation_price(b, group, scalar);
    TRY(builder_find_pipe(b, group, scalar, &price.pipe));
    TRY(builder_add_price(b, group, price, &operation->price));
    return build_types(b, group, price.pipe, operation);
}
