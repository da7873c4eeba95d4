/* A description that can be changed and written: the tree of its file with its variants' changes.
 *
 * Call order: description_read, any of description_set, description_set_fit, description_build and
 * description_write, description_clear. What is written is complete: no base, no comments of the
 * files it came from, every number with its source; and it loads as the same chip. */
#ifndef AUTOTUNE_HARDWARE_DESCRIPTION_H
#define AUTOTUNE_HARDWARE_DESCRIPTION_H

#include "core/host.h"
#include "hardware/load.h"
#include "hardware/tree.h"

#include <stdio.h>

struct description {
    struct tree tree;
    char name[64]; /* of the topmost variant; "" without one */
    char *file;    /* owned */
};

/* Reads a description as hardware_load_from does. After a failure there is nothing to clear. */
enum status description_read(const char *folders, const char *name,
                             const struct hardware_overrides *overrides,
                             struct description *description, struct error *error);
void description_clear(struct description *description);

/* The description of a processor as measured, from nothing: `source` is that of all its numbers.
 * `overlap` has a source of its own.
 * Whether it is a description that loads is for description_build to say. After a failure there is
 * nothing to clear. */
struct host_sources {
    const char *all, *overlap;
    const char *capacity[HOST_MAX_LEVELS]; /* of single levels; NULL: as all */
};
enum status description_of_host(const struct host *host, const char *name, const char *file,
                                const struct host_sources *sources, struct description *description,
                                struct error *error);

/* The reverse, with the rules of the group `host`, for a processor of `threads` threads. */
enum status build_host(const struct tree *tree, int threads, struct host *host,
                       struct error *error);

/* Checks it and fills *hw, which the caller then owns; on failure *hw is zero. */
enum status description_build(const struct description *description, struct hardware *hw,
                              struct error *error);

/* The number that a dotted key names, of what stands in cycles the one in ns, GB/s or GFLOP/s
 * (twins of schema.h); false when the description does not have it. */
bool description_get(const struct description *description, const char *key, double *value);

/* Sets a number and where it comes from; one that the description's group may have but has not is
 * added. Whether the key is allowed and the number in range is for description_build to say.
 * STATUS_INVALID when there is no such group.
 * A number that stands in cycles is given as for description_get, and is then written in as many
 * cycles as that is at the clock of this moment: set the clock first. */
enum status description_set(struct description *description, const char *key, double value,
                            const char *source, struct error *error);

/* Replaces the group `fit`. */
enum status description_set_fit(struct description *description, const struct fit *fit,
                                const char *source, struct error *error);

/* Writes it as text under `heading`: lines that each begin with '#', or "". The caller frees
 * *text. A number that --set-hw changed is written as assumed. */
enum status description_write(const struct description *description, const char *heading,
                              char **text, struct error *error);

#endif
