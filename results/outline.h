/* A JSON document as text for people: what machines read, laid out.
 *
 * An object is a heading and its members, one a line; an array of objects is a table whose columns
 * are the members of the first. Keys lose their underscores; members that end in _ns are printed
 * as times, those that end in _bytes and all integers with separators, and null as a dash. */
#ifndef AUTOTUNE_RESULTS_OUTLINE_H
#define AUTOTUNE_RESULTS_OUTLINE_H

#include "results/text.h"

#include <jansson.h>

/* Every member of `object` under its key. */
void outline_write(json_t *object, const struct style *style, FILE *out);

#endif
