/* What the units of a chip can do, whatever it takes: where operands lie, and which types
 * operations take (docs/hardware.md, `operands` and `types`). */
#ifndef AUTOTUNE_HARDWARE_ABILITIES_H
#define AUTOTUNE_HARDWARE_ABILITIES_H

#include "core/hardware.h"
#include "core/status.h"
#include "hardware/tree.h"

/* Fills in pipes' memories and operations' results of a chip that has all the rest. STATUS_INVALID
 * with file, line, value and what was expected. */
enum status abilities_build(const struct tree *tree, struct hardware *hw, struct error *error);

/* Appends them to the facts of a chip that was built of the tree. */
enum status abilities_list(const struct tree *tree, struct hardware *hw, struct error *error);

#endif
