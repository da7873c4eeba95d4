/* Rules between the keys of a description that no single key's range can express. */
#ifndef AUTOTUNE_HARDWARE_RULES_H
#define AUTOTUNE_HARDWARE_RULES_H

#include "core/hardware.h"
#include "hardware/tree.h"

/* A bus: total non-decreasing, total / n non-increasing. Without these more sharers could be
 * faster than fewer, and the lower bounds would be none. */
enum status rule_bus(const struct tree *tree, const config_setting_t *group, const struct bus *bus,
                     struct error *error);

/* The bursts of a path: alignments are powers of two and ascend; lengths ascend and are the same in
 * all rows; a row has one number of ns more than lengths. */
enum status rule_bursts(const struct tree *tree, const config_setting_t *rows, struct error *error);

/* A buffer: either a capacity or external. */
enum status rule_buffer(const struct tree *tree, const config_setting_t *group,
                        struct error *error);

/* A path, with its ends and its pipe: all of one kind of core, or external. */
enum status rule_kind(const struct tree *tree, const config_setting_t *group,
                      const struct hardware *hw, const struct path *path, struct error *error);

/* A cache, with hw->buffers, paths and cache filled: two external buffers; whatever is loaded
 * through the first can be loaded by the same pipe from behind it; hits end before misses begin. */
enum status rule_cache(const struct tree *tree, const config_setting_t *group,
                       const struct hardware *hw, struct error *error);

/* An operation: vector with first_ns and one of repeat_ns and repeat_cycles, or scalar with
 * each_ns; a result only for vector ones. */
enum status rule_operation(const struct tree *tree, const config_setting_t *group,
                           enum operation_class class, struct error *error);

/* A pipe's or operation's name must not be a word of program text. */
enum status rule_name(const struct tree *tree, const config_setting_t *group, struct error *error);

/* All matrix entries name one pipe. */
enum status rule_matrix(const struct tree *tree, const config_setting_t *list, struct error *error);

/* Whole elements of every type in a repeat. */
enum status rule_repeat(const struct tree *tree, struct error *error);

#endif
