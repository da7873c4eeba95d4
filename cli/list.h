/* What `list` shows, for completion too. */
#ifndef AUTOTUNE_CLI_LIST_H
#define AUTOTUNE_CLI_LIST_H

#include <jansson.h>

/* An array of {"name", "title"}; empty when no list is called by the first `length` bytes of
 * `kind`. Owned by the caller. */
json_t *list_rows(const char *kind, size_t length);

#endif
