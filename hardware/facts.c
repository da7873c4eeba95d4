#include "core/array.h"
#include "core/number.h"
#include "hardware/build.h"
#include "hardware/schema_twins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    struct hardware *hw;
    bool out_of_memory;
};

static struct fact *next_fact(struct hardware *hw)
{
    bool fits = array_room(&hw->facts, (int64_t)hw->fact_count, sizeof *hw->facts);
    return fits ? &hw->facts[hw->fact_count++] : NULL;
}

static bool add_fact(void *context, config_setting_t *number)
{
    struct listing *listing = context;
    char in_ns[TREE_KEY_SIZE], given[TREE_KEY_SIZE], value[TREE_VALUE_SIZE];
    const char *source = tree_source(number);
    struct number resolved;
    const struct twin *twin = twin_number(number, &resolved);
    struct fact *fact = next_fact(listing->hw);
    tree_key(number, given);
    tree_value(number, value);
    if (fact && !twin)
        *fact = (struct fact){strdup(given), strdup(value), strdup(source)};
    if (fact && twin) {
        char *text;
        if (asprintf(&text, "%s; %s=%s", source, twin->cycles, value) < 0)
            text = NULL;
        twin_other_key(given, in_ns);
        number_text(resolved.real, value);
        *fact = (struct fact){strdup(in_ns), strdup(value), text};
    }
    listing->out_of_memory = !fact || !fact->key || !fact->value || !fact->source;
    return !listing->out_of_memory;
}

enum status hardware_list_facts(const struct tree *tree, struct hardware *hw, struct error *error)
{
    struct listing listing = {hw, false};
    tree_each_number(config_root_setting(tree->config), add_fact, &listing);
    return listing.out_of_memory ? error_memory(error) : STATUS_OK;
}
