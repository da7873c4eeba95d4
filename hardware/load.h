/* Hardware descriptions from files: finding, reading, overriding and checking them.
 *
 * A description is a libconfig file (configs/hardware/NAME.cfg). Every number has its unit in its
 * key and a provenance beside it; hardware_load checks keys, types, ranges and the cross rules of
 * core/hardware.h, so that what it returns needs no further check. A variant names its `base` and
 * lists `set = ["key=value", …]`; --set-hw uses the same keys. A platform description of CANN
 * (NAME.ini) is read as one, see hardware/platform.h. */
#ifndef AUTOTUNE_HARDWARE_LOAD_H
#define AUTOTUNE_HARDWARE_LOAD_H

#include "core/hardware.h"
#include "core/status.h"

/* How the change begins that sets the word of a chip's cache. */
#define HARDWARE_CACHE "cache.default="

/* "key=value" texts that change single numbers, or that word, applied in order. */
struct hardware_overrides {
    const char *const *texts;
    size_t count;
};

/* Loads the description called `name`, in any case and spacing, or stored in the file `name`:
 * anything that contains a '/' or ends in ".cfg" or ".ini". A name is looked up beside the file
 * whose `base` it is; in the shipped folder; in the user's own; and then as NAME.ini in the
 * platform folders: those of `folders` (separated by colons) and of $ASCEND_HOME_PATH, each with
 * CANN's usual folders below it, and the shipped one. STATUS_INVALID for an unknown name (the text
 * lists the known ones, or how to calibrate the host), STATUS_IO when there is no shipped folder.
 * On success the caller owns *hw (hardware_clear). On failure *hw is zero and the error names file,
 * line, value and what was expected. */
enum status hardware_load(const char *name, const struct hardware_overrides *overrides,
                          struct hardware *hw, struct error *error);

/* The same with folders in which platform files are looked up first. */
enum status hardware_load_from(const char *folders, const char *name,
                               const struct hardware_overrides *overrides, struct hardware *hw,
                               struct error *error);

/* Loads what *hw was loaded from once more, with all that was changed for it and one more change;
 * it has as many cores as *hw has now. The caller owns *other. */
enum status hardware_reload(const struct hardware *hw, const char *change, struct hardware *other,
                            struct error *error);

/* Is it the name of a platform file? */
bool find_is_platform(const char *file);

/* The folder of shipped descriptions: $AUTOTUNE_CONFIGS, or configs/ beside the executable's
 * parent, or ../share/autotune/configs. STATUS_IO when there is none. */
enum status hardware_folder(char *folder, size_t size, struct error *error);

/* The folder of the user's own files of a kind, such as "hardware", which need not exist:
 * $XDG_CONFIG_HOME/autotune/KIND, or ~/.config/autotune/KIND. STATUS_IO when neither variable says
 * where. */
enum status config_user_folder(const char *kind, char *folder, size_t size, struct error *error);

/* What the description of this machine's processor is called there. */
#define HARDWARE_HOST_NAME "host"

/* Calls visit(context, name) for every shipped description in alphabetical order;
 * hardware_each_from then also for the user's own and for the platform files that
 * hardware_load_from finds by name, folder by folder. */
enum status hardware_each(void (*visit)(void *context, const char *name), void *context,
                          struct error *error);
enum status hardware_each_from(const char *folders, void (*visit)(void *context, const char *name),
                               void *context, struct error *error);

/* Calls visit(context, file) for every file that the description called `name` is read from: its
 * own, those of its bases, and what platform files are laid over. Stops where one is missing. */
void hardware_each_file(const char *folders, const char *name,
                        void (*visit)(void *context, const char *file), void *context);

#endif
