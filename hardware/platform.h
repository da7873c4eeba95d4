/* CANN's platform descriptions (data/platform_config/NAME.ini) as hardware descriptions.
 *
 * Such a file has structure and rates, not everything that a simulation needs. So it is laid over
 * a shipped description, configs/platform/unified.cfg or split.cfg: what the file says replaces
 * the number there, what it leaves out stays, with costs and rates scaled to the file's clock, and
 * every number's source says which of the two it was. docs/hardware.md has the table. */
#ifndef AUTOTUNE_HARDWARE_PLATFORM_H
#define AUTOTUNE_HARDWARE_PLATFORM_H

#include "hardware/tree.h"

/* Reads a platform file into a tree that schema_check_description can check and description_build
 * build, as if it came from a .cfg. On failure there is nothing to clear; the text names file and
 * line. STATUS_IO when the file, or the description below it, cannot be read. */
enum status platform_read(const char *file, struct tree *tree, struct error *error);

/* Calls visit(context, file) for the shipped descriptions that platform files are laid over. */
void platform_each_below(void (*visit)(void *context, const char *file), void *context);

#endif
