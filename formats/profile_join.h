/* Several profiles of one run, or of runs of the same model, a mode each, as one: rows of the same
 * kernel are joined, so that what one mode counts stands beside what another one does.
 *
 *   profile_join_open(files, count, &join, &error)
 *   profile_join_next(&join, &row, &found, &error) until it finds no more
 *   profile_join_close(&join)
 *
 * Rows are the same by name, type and shapes, as far as all files have them, and by their order.
 * Rows that some file does not have, that one has more often, or at another place, are told of as
 * problems; a doubled one is left out. The order in which files are named means nothing. One file
 * alone is read a row at a time; of several, files stay open and a few bytes of each row are kept.
 */
#ifndef AUTOTUNE_FORMATS_PROFILE_JOIN_H
#define AUTOTUNE_FORMATS_PROFILE_JOIN_H

#include "core/status.h"
#include "formats/profile.h"

#include <stdbool.h>

enum { PROFILE_MAX_FILES = 64 };

struct profile_join {
    int file_count;
    struct profile *files; /* by modes, then by name; owned */
    unsigned modes;        /* of all */
    const char *format;    /* of the first */
    const char *missing;   /* columns of the first that verdicts need; "" */
    /* What is wrong with the files: "12: text" of one alone, "FILE:12: text" of several. */
    void (*problem)(void *context, const char *text);
    void *context;
    int64_t missing_rows, doubled_rows, moved_rows; /* that were told of */
    /* of several files */
    char kernel[PROFILE_NAME_SIZE], type[PROFILE_NAME_SIZE]; /* of the one whose blocks these are */
    struct join_rows *rows;                                  /* owned */
    int64_t at;
};

/* STATUS_INVALID when a file is no profile, or files have nothing by which rows could be joined;
 * STATUS_IO, STATUS_NO_MEMORY. After a failure there is nothing to close. */
enum status profile_join_open(const char *const *files, int count,
                              void (*problem)(void *context, const char *text), void *context,
                              struct profile_join *join, struct error *error);

/* `lines` of the row are where it stands in each file, 0: nowhere. */
enum status profile_join_next(struct profile_join *join, struct profile_row *row, bool *found,
                              int lines[PROFILE_MAX_FILES], struct error *error);
void profile_join_close(struct profile_join *join);

/* Two lists of the same things, of which some may be missing, doubled or at another place. */
/* Which item of `a` each item of `b` is: match[i] of 0 to a_count - 1, no item twice, or -1. Things
 * are numbered from 0 to key_count - 1; what is -1 is like nothing else. Of each thing as many are
 * matched as both lists have; where one has more of them than the other, those between the same
 * neighbours. moved[i]: the item stands elsewhere than in `a`; of all choices the one with the
 * fewest. STATUS_NO_MEMORY. */
enum status list_align(const int *a, int a_count, const int *b, int b_count, int key_count,
                       int *match, bool *moved, struct error *error);

#endif
