/* Drafts: files ".autotune-draft-" and six drawn letters, beside what they become once they are
 * whole. A draft is locked (flock) as long as its maker lives, so that one whose maker was killed
 * is known, and removed by the next in that folder. */
#ifndef AUTOTUNE_CORE_DRAFT_H
#define AUTOTUNE_CORE_DRAFT_H

#include <limits.h>

enum { DRAFT_PATH_SIZE = PATH_MAX - 16 }; /* SQLite adds an ending */

/* Makes one beside `file`, whose path it fills in. Its descriptor, to be kept open until it has its
 * name or is removed, or -1 and errno. */
int draft_open(const char *file, char path[DRAFT_PATH_SIZE]);

/* Removes a draft with what SQLite has beside it, "-journal", "-wal" and "-shm". */
void draft_remove(const char *path);

/* Removes what killed makers left in the folder of `file`. */
void drafts_sweep(const char *file);

#endif
