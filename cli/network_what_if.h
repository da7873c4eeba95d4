/* `autotune network --what-if`: every combination of what its options name.
 *
 *   what_if_take(&what_if, "batch=32,64") … what_if_load(&what_if, common, &hw)
 *   what_if_predict(&what_if, file, &request, &answer) … what_if_clear(&what_if)
 *
 * All of them end the program on an error. */
#ifndef AUTOTUNE_CLI_NETWORK_WHAT_IF_H
#define AUTOTUNE_CLI_NETWORK_WHAT_IF_H

#include "cli/options.h"
#include "results/network.h"

enum { WHAT_IF_MAX_KEYS = 8, WHAT_IF_MAX_VARIANTS = 256 };

struct what_if {
    int key_count;
    struct what_if_key {
        char *key; /* owns the text of its values */
        int count;
        const char *values[WHAT_IF_MAX_VARIANTS];
    } keys[WHAT_IF_MAX_KEYS];
    int64_t count; /* variants; 0: --what-if was not given */
    struct hardware *hw;
    struct network_variant *variants;
};

/* One option: KEY=VALUE,... */
void what_if_take(struct what_if *what_if, const char *text);

/* Loads the chips of all combinations, and notes their files; the first is the chip as it is. */
void what_if_load(struct what_if *what_if, struct common *common, const struct hardware *hw);

/* Predicts them, and gives them to the answer, which is about the step as it is. */
void what_if_predict(struct what_if *what_if, const char *file,
                     const struct network_request *request, struct network_answer *answer);

void what_if_clear(struct what_if *what_if);

#endif
