/* Which keys a description has, and the type, range and provenance of each: what can be said about
 * one group at a time. Rules between groups are build.c's. */
#ifndef AUTOTUNE_HARDWARE_SCHEMA_H
#define AUTOTUNE_HARDWARE_SCHEMA_H

#include "hardware/tree.h"

/* A whole description, or a variant (base, name, source, set). STATUS_INVALID with the first
 * broken key; afterwards every key that build.c asks for is there and has its type and range. */
enum status schema_check_description(const struct tree *tree, struct error *error);
enum status schema_check_variant(const struct tree *tree, struct error *error);

/* Is it the description of a processor as measured, which has a group `host` and no chip's keys? */
bool schema_is_processor(const struct tree *tree);

/* Members of a checked group; 0, false or NULL where the group does not have the key. Top-level
 * numbers are groups of value and source and read like the others. */
int64_t schema_count(const config_setting_t *group, const char *key);
/* One that stands in cycles (schema_twins.h) as its key says it. */
double schema_real(const config_setting_t *group, const char *key);
bool schema_flag(const config_setting_t *group, const char *key);
const char *schema_text(const config_setting_t *group, const char *key);

/* A member of a group, in either spelling of its key; NULL without it. */
const config_setting_t *schema_member(const config_setting_t *group, const char *key);

#endif
