/* Which instructions of a changed program are those of the first one: as many as possible. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ALIGN_H
#define AUTOTUNE_ANALYSIS_ADVICE_ALIGN_H

#include "core/program.h"

/* A program as it is printed: line i is instruction i, with its indentation. */
struct align_text {
    char *bytes; /* owned: align_text_clear */
    char **lines;
    int32_t count;
};

enum status align_print(const struct program *program, struct align_text *text,
                        struct error *error);
void align_text_clear(struct align_text *text);

/* partners[j]: the line of `before` that line j of `after` is, or -1; ascending, and as many as
 * there can be. Where more than 16 million pairs of lines would have to be compared, a line is only
 * what it was made of: origins[j], or -1. Both arrays have after->count elements. */
enum status align(const struct align_text *before, const struct align_text *after,
                  const int32_t *origins, int32_t *partners, struct error *error);

#endif
