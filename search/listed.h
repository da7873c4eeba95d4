/* The source of candidates that lists the tilings of a space, block by block, with their bounds;
 * and what other sources and strategies use whose candidates are a list as well. */
#ifndef AUTOTUNE_SEARCH_LISTED_H
#define AUTOTUNE_SEARCH_LISTED_H

#include "search/strategy.h"

extern const struct search_source listed_source;

/* struct search_source, of what is open in run->candidates. */
int64_t list_next_fs(const struct search_run *run);
int64_t list_open_count(const struct search_run *run);
void list_take(struct search_run *run, int64_t limit_fs, struct batch *batch);
enum status list_observe(struct search_run *run, struct batch *batch, struct error *error);
void list_prove(const struct search_run *run, struct proof *proof);
enum status list_tell(struct search_run *run, struct search_result *result, struct error *error);

/* The same where no more than so many tilings are legal. */
void list_tell_among(struct search_run *run, int64_t legal, struct search_result *result);

/* Told to stop before there is any tiling it opens the first one. */
enum status list_take_first(struct search_run *run, struct error *error);

/* Hands all candidates over to the result. */
void list_keep(struct search_run *run, struct search_result *result);

#endif
