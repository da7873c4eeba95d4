#include "hardware/build.h"

#include <stdlib.h>
#include <string.h>

struct listing {
    struct hardware *hw;
    bool out_of_memory;
};

/* The array grows at powers of two, so that its capacity need not be kept. */
static struct fact *next_fact(struct hardware *hw)
{
    size_t count = hw->fact_count;
    if ((count & (count - 1)) == 0) {
        struct fact *facts = realloc(hw->facts, (count ? 2 * count : 1) * sizeof *facts);
        if (!facts)
            return NULL;
        hw->facts = facts;
    }
    return &hw->facts[hw->fact_count++];
}

static bool add_fact(void *context, config_setting_t *number)
{
    struct listing *listing = context;
    char key[TREE_KEY_SIZE], value[TREE_VALUE_SIZE];
    struct fact *fact = next_fact(listing->hw);
    tree_key(number, key);
    tree_value(number, value);
    if (fact)
        *fact = (struct fact){strdup(key), strdup(value), strdup(tree_source(number))};
    listing->out_of_memory = !fact || !fact->key || !fact->value || !fact->source;
    return !listing->out_of_memory;
}

enum status hardware_list_facts(const struct tree *tree, struct hardware *hw, struct error *error)
{
    struct listing listing = {hw, false};
    tree_each_number(config_root_setting(tree->config), add_fact, &listing);
    return listing.out_of_memory ? error_memory(error) : STATUS_OK;
}
