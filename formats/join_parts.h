/* Between formats/profile_join.c, which finds out what are the same rows, and
 * formats/profile_join_rows.c, which reads them. */
#ifndef AUTOTUNE_FORMATS_JOIN_PARTS_H
#define AUTOTUNE_FORMATS_JOIN_PARTS_H

#include "formats/profile_join.h"

/* Where a row stands in a file; line 0: nowhere. */
struct place {
    int64_t at;
    int line;
};

struct join_rows {
    int file_count, key_count;
    int64_t count, room;
    int *keys;            /* by row; owned */
    struct place *places; /* by row and file; owned */
    void *tree;           /* of keys, by text */
    unsigned slots;       /* that keys are made of: bits by enum profile_slot */
};

/* Tells of a problem in a line of a file. */
void join_tell(const struct profile_join *join, const struct profile *file, int line,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

enum status join_read_at(struct profile *profile, struct place place, struct profile_row *row,
                         struct error *error);

#endif
