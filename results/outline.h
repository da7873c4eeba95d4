/* A JSON document as text for people: what machines read, laid out.
 *
 * An object is a heading and its members, one a line; an array of objects is a table whose columns
 * are the members of the first. Keys lose their underscores; members that end in _ns or _us are
 * printed as times, shares, spreads and relative errors in percent, factors with an x, integers
 * with separators except in a tiling, and null as a dash. Long words are wrapped. */
#ifndef AUTOTUNE_RESULTS_OUTLINE_H
#define AUTOTUNE_RESULTS_OUTLINE_H

#include "formats/text.h"

#include <jansson.h>

/* Every member of `object` under its key; nothing where that is NULL. */
void outline_write(json_t *object, const struct style *style, FILE *out);

#endif
