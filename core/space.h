/* The space of tilings of one problem on one chip: what an operator makes and a search walks.
 *
 * A space is a union of blocks; a block is the full product of its axes' value lists. A tiling is
 * one value per axis. Candidates are numbered block by block, in a block with the first axis as
 * the slowest; equal times are ordered by this index, so it is part of every answer. */
#ifndef AUTOTUNE_CORE_SPACE_H
#define AUTOTUNE_CORE_SPACE_H

#include "core/status.h"
#include "core/work.h"

enum { SPACE_MAX_AXES = 20 };

struct tiling {
    int64_t value[SPACE_MAX_AXES];
};

enum { AXIS_FREE = -1 }; /* in a tiling of which some values are still to be found */

#define AXIS_NO_VALUE "-"

struct space;

struct axis {
    const char *name;               /* the key in JSON and --set */
    const char *const *value_names; /* of an enumeration, by value; NULL: plain numbers. Where
                                       values count from 1, the first is AXIS_NO_VALUE */
    const char *unit;               /* of numbers, for people: "elements"; NULL: none */
    /* The value that a tiling has which leaves it out, from those before it; NULL: all name it. */
    int64_t (*usual)(const struct space *space, const struct tiling *tiling);
    int name_count;
    bool counts_cores; /* its values are the numbers of cores that work */
};

/* Values ascend within each axis. */
struct space_block {
    int64_t first_index;
    int count[SPACE_MAX_AXES];
    const int64_t *values[SPACE_MAX_AXES];
};

/* A part of a block: of each axis the values from number `first` to number `last`. */
struct space_box {
    int block, first[SPACE_MAX_AXES], last[SPACE_MAX_AXES];
};

struct operator_space;
struct stop; /* core/stop.h */

struct space {
    const struct operator_space *kind; /* who made it (core/operator.h) */
    const struct hardware *hw;         /* not owned */
    int axis_count;
    const struct axis *axes;
    int block_count;
    struct space_block *blocks; /* owned; of space_add_block */
    int64_t candidates;
    char empty[96]; /* why there are no candidates, where there are none: "axis 't' has no value" */
    int layout_count; /* of the work summaries */
    const struct work_layout *layouts;
    void *detail; /* the operator's own; freed by its destroy */
    /* While it is made: the values that all its tilings have, where they are not AXIS_FREE, on the
     * axes or not (operator_space.any_value); NULL: those of the axes. Not owned. */
    const struct tiling *fixed;
    /* When whoever works on this space is to end early, or NULL: set by a search in a copy of its
     * own. */
    const struct stop *stop;
};

/* Appends a block without values, all zero, and returns it; it stays where it is until the next
 * one. NULL without memory. */
struct space_block *space_add_block(struct space *space);

/* Numbers the candidates, once all blocks have their values. */
void space_number(struct space *space);

/* The block that a candidate is in. */
const struct space_block *space_block_of(const struct space *space, int64_t index);

/* The tiling with a given index, 0 <= index < space->candidates. */
void space_tiling(const struct space *space, int64_t index, struct tiling *tiling);

/* The index of a tiling, or -1 when it is no point of the space. */
int64_t space_index(const struct space *space, const struct tiling *tiling);

/* Has a block this value of an axis? */
bool block_has(const struct space_block *block, int axis, int64_t value);

/* The axis that counts cores, or -1; and on it the least number of cores above `cores`, or 0: there
 * is none. */
int space_core_axis(const struct space *space);
int64_t space_next_cores(const struct space *space, int64_t cores);

/* The axis called `name` (any case), or -1. */
int space_axis(const struct space *space, const char *name, int length);

/* A value as text: the number, or the enumeration's name (AXIS_NO_VALUE where it has none). */
const char *axis_value_text(const struct axis *axis, int64_t value, char text[24]);

/* Reads a value; false when `text` is no value of the axis's kind. */
bool axis_value_parse(const struct axis *axis, const char *text, int64_t *value);

/* "m_slice=128,k_slice=64,…", as --set takes it, cut to `size`; no kernel has a longer one than
 * TILING_TEXT_SIZE. */
enum { TILING_TEXT_SIZE = SPACE_MAX_AXES * 64 };
void tiling_text(const struct axis *axes, int axis_count, const struct tiling *tiling, char *text,
                 size_t size);

#endif
