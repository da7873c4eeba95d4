/* Changing single numbers of a description: --set-hw and the `set` of a variant. */
#ifndef AUTOTUNE_HARDWARE_OVERRIDE_H
#define AUTOTUNE_HARDWARE_OVERRIDE_H

#include "hardware/tree.h"

/* Where a change stands and what the facts say about the number it sets. */
struct change {
    const char *text; /* "key=value" */
    const char *file; /* or what to say instead of it, with line 0 */
    int line;
    const char *source;
};

/* Hangs the change on the number that its key names. Ranges and rules are checked afterwards, with
 * the others. STATUS_INVALID for an unknown key (the text names the nearest) or no number. */
enum status override_apply(struct tree *tree, const struct change *change, struct error *error);

#endif
