/* From the name of a description to its file. */
#ifndef AUTOTUNE_HARDWARE_FIND_H
#define AUTOTUNE_HARDWARE_FIND_H

#include "core/status.h"

/* The file that `name` means, to be freed by the caller: a path when it contains a '/' or ends in
 * ".cfg", otherwise NAME.cfg in any case and spacing. With `beside` (a file's path), relative
 * paths start at that file's folder and names are looked up there first; then comes the shipped
 * folder. STATUS_INVALID for an unknown name (the text lists the known ones), STATUS_IO when
 * there is no shipped folder. A path is not checked to exist. */
enum status find_description(const char *name, const char *beside, char **file,
                             struct error *error);

#endif
