/* From the name of a description to its file. */
#ifndef AUTOTUNE_HARDWARE_FIND_H
#define AUTOTUNE_HARDWARE_FIND_H

#include "core/status.h"

#include <stdbool.h>

/* The file that `name` means, to be freed by the caller: a path when it contains a '/' or ends in
 * ".cfg" or ".ini", otherwise NAME.cfg in any case and spacing. With `beside` (a file's path, or
 * NULL), relative paths start at that file's folder and names are looked up there first; then comes
 * the shipped folder; the user's own; and then NAME.ini in the platform folders: those of `folders`
 * (separated by colons, or NULL) and of $ASCEND_HOME_PATH, each with CANN's usual folders below it,
 * and the shipped one. STATUS_INVALID for an unknown name (the text lists the known ones, or how to
 * calibrate the host), STATUS_IO when there is no shipped folder. A path is not checked to exist.
 */
enum status find_description(const char *name, const char *beside, const char *folders, char **file,
                             struct error *error);

/* Is it the name of a platform file? */
bool find_is_platform(const char *file);

#endif
