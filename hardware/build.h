/* From a checked tree to a struct hardware, with the rules between groups. */
#ifndef AUTOTUNE_HARDWARE_BUILD_H
#define AUTOTUNE_HARDWARE_BUILD_H

#include "core/hardware.h"
#include "hardware/tree.h"

/* Fills *hw (zeroed by the caller) but its file from a tree that schema_check_description accepts.
 * On failure the caller clears *hw. */
enum status hardware_build(const struct tree *tree, struct hardware *hw, struct error *error);

/* The group `host` of a processor of `threads` threads, with its rules. */
enum status build_host(const struct tree *tree, int threads, struct host *host,
                       struct error *error);

/* Every number of the tree as a fact, in file order; hw->facts is theirs. On failure the caller
 * clears *hw. */
enum status hardware_list_facts(const struct tree *tree, struct hardware *hw, struct error *error);

#endif
