/* Drafts: files under a name of six drawn letters, "PREFIX" and those, that get their own name once
 * they are whole. A draft is locked (flock) as long as its maker lives, so that one whose maker was
 * killed is known, and removed by the next. */
#ifndef AUTOTUNE_CORE_DRAFT_H
#define AUTOTUNE_CORE_DRAFT_H

#include <stdbool.h>

/* Makes a file named by `path`, which ends with XXXXXX as for mkstemp. Its descriptor, to be kept
 * open until it has its name or is removed, or -1 and errno. */
int draft_open(char *path);

/* Removes a draft with what SQLite has beside it, "-journal", "-wal" and "-shm". */
void draft_remove(const char *path);

/* Removes what killed makers left of drafts whose names begin as this one, which ends with XXXXXX.
 */
void drafts_sweep(const char *path);

#endif
