/* The tree of a description file, its numbers and their dotted keys.
 *
 * A number is named by a dotted key: names of groups, labels of list elements (name, path, cast or
 * type, whichever the element has) and 1-based positions in arrays, as in
 * "paths.l0c->ub.casts.f32:f16.bandwidth_gbps". The same keys stand in messages, in facts and in
 * overrides. Call order: tree_read, any of the others, tree_clear. */
#ifndef AUTOTUNE_HARDWARE_TREE_H
#define AUTOTUNE_HARDWARE_TREE_H

#include "core/status.h"
#include "core/suggest.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_KEY_SIZE = 192, TREE_VALUE_SIZE = 72 };

struct tree {
    config_t *config; /* on the heap: its settings point back to it */
    char *file;       /* as the user wrote it, for messages; owned */
};

struct number {
    bool whole;    /* written without point or exponent */
    int64_t count; /* where whole */
    double real;   /* always */
};

/* What an override hangs on a number's setting; the file's own value stays untouched below it. */
struct override {
    struct number number;
    const char *file; /* or "--set-hw TEXT", with line 0 */
    int line;
    const char *source;
};

/* Reads a whole file, a byte order mark left out; the caller frees *text. STATUS_INVALID for what
 * is no UTF-8 by its first bytes, STATUS_IO for what is missing, unreadable or no
 * regular file, STATUS_TOO_LARGE beyond 256 KiB. */
enum status text_read(const char *file, char **text, struct error *error);

/* Appends ", part" (or "part" to an empty list) as far as `size` allows. */
void text_append(char *list, size_t size, const char *part);

/* Reads and parses a file. STATUS_IO when it cannot be read or is no regular file,
 * STATUS_TOO_LARGE when it is unreasonably long, STATUS_INVALID with file:line for its syntax. On
 * failure there is nothing to clear. */
enum status tree_read(const char *file, struct tree *tree, struct error *error);
void tree_clear(struct tree *tree);

/* The value of a number, with its override if it has one; false for anything else. */
bool tree_number(const config_setting_t *setting, struct number *number);

/* Where a number comes from: its override's source or that of the nearest group around it that has
 * one; "" without. */
const char *tree_source(const config_setting_t *number);

/* Hangs an override on a number's setting; both texts are copied. */
enum status tree_override(config_setting_t *number, const struct override *override,
                          struct error *error);

/* What tells the elements of a list apart: name, path, cast or type, or the number align_bytes as
 * the file has it, whatever overrides it: keys stay what they are. NULL without one; a number's
 * digits stand in `digits`. */
const char *tree_label(const config_setting_t *element, char digits[TREE_VALUE_SIZE]);

void tree_key(const config_setting_t *setting, char key[TREE_KEY_SIZE]);
/* The value as a message or a fact shows it: the shortest text that reads back as the same. */
void tree_value(const config_setting_t *setting, char value[TREE_VALUE_SIZE]);

/* Calls visit for every number below `setting` in file order until it returns false. */
bool tree_each_number(config_setting_t *setting,
                      bool (*visit)(void *context, config_setting_t *number), void *context);

/* The number that a dotted key names, in any case; NULL without one. `like`, or NULL, is tried with
 * all keys before it. */
config_setting_t *tree_find_like(const struct tree *tree, const char *key, struct suggestion *like);
config_setting_t *tree_find(const struct tree *tree, const char *key);

/* The group or list that a dotted key names, in any case; NULL without one. */
config_setting_t *tree_find_group(const struct tree *tree, const char *key);

/* "file:line: key: value, expected …", at the override's place where the setting has one. */
enum status tree_expected(const struct tree *tree, const config_setting_t *setting,
                          struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "file:line: key: …", or "file:line: key.name: …" for a member that the group lacks. */
enum status tree_error(const struct tree *tree, const config_setting_t *setting, const char *name,
                       struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
