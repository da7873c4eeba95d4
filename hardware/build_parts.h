/* Internal to hardware/: a description while it becomes a struct hardware (build.c). */
#ifndef AUTOTUNE_HARDWARE_BUILD_PARTS_H
#define AUTOTUNE_HARDWARE_BUILD_PARTS_H

#include "hardware/build.h"
#include "hardware/schema.h"

#include <math.h>

struct builder {
    const struct tree *tree;
    struct hardware *hw;
    struct error *error;
};

/* Ranges are schema.c's: none of these conversions can overflow. */
static inline int64_t builder_fs(const config_setting_t *group, const char *key)
{
    return llround(schema_real(group, key) * (double)FS_PER_NS);
}

enum { BUILDER_MOST_CYCLES = 1000 };

/* A unit of work in so many cycles of the clock, to a millionth; at most BUILDER_MOST_CYCLES. */
static inline struct rate builder_cycles(const struct builder *b, const config_setting_t *group,
                                         const char *key)
{
    const int64_t parts = 1000000;
    return rate_reduce(llround(schema_real(group, key) * (double)parts) * (FS_PER_S / parts),
                       b->hw->clock_hz);
}

enum status builder_add_price(struct builder *b, const config_setting_t *group, struct price price,
                              int16_t *index);

/* Only scalar operations run on a pipe that blocks dispatch, and they run on no other. */
enum status builder_find_pipe(struct builder *b, const config_setting_t *group, bool blocking,
                              int8_t *pipe);

/* The member `key` as an element type. */
enum status builder_find_type(struct builder *b, const config_setting_t *group, const char *key,
                              uint8_t *type);

/* One row of `operations`. */
enum status builder_operation(struct builder *b, const config_setting_t *group);

#endif
