/* The key is looked for among the dotted keys of all numbers, and the walk collects the nearest as
 * a suggestion on its way. The number hangs on the setting as a hook; the file's own value
 * stays. One that the file gives in the other spelling (schema_twins.h) becomes what the change
 * says: ns stay ns, cycles follow the clock. */
#include "hardware/override.h"

#include "hardware/schema_twins.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A copy of `length` bytes of text without the blanks around them; false when it does not fit. */
static bool copy_trimmed(const char *text, size_t length, char *copy, size_t size)
{
    for (; length > 0 && isspace((unsigned char)*text); length--)
        text++;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= size)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return true;
}

/* Decimal only: strtod would also take hexadecimal, infinity and NaN. */
static bool read_number(const char *text, struct number *number)
{
    char *end;
    if (!*text || text[strspn(text, "+-.0123456789eE")])
        return false;
    number->real = strtod(text, &end);
    if (*end)
        return false;
    errno = 0;
    number->count = strtoll(text, &end, 10);
    number->whole = *end == '\0' && errno == 0;
    return true;
}

/* What is behind no cache is never asked for, as with a warm one. */
static enum status set_cache_word(struct tree *tree, const char *word, const struct change *change,
                                  struct error *error)
{
    static const char key[] = "default";
    config_setting_t *cache = config_lookup(tree->config, "cache");
    bool is_warm = strcmp(word, "warm") == 0;
    if (!is_warm && strcmp(word, "cold") != 0)
        return error_at(error, change->file, change->line, "%.40s: expected warm or cold", word);
    if (!cache && is_warm)
        return STATUS_OK;
    if (!cache)
        return error_at(error, change->file, change->line,
                        "%s has no `cache`, expected a description with one", tree->file);
    config_setting_remove(cache, key);
    config_setting_t *text = config_setting_add(cache, key, CONFIG_TYPE_STRING);
    return text && config_setting_set_string(text, word) ? STATUS_OK : error_memory(error);
}

enum status override_apply(struct tree *tree, const struct change *change, struct error *error)
{
    char key[TREE_KEY_SIZE], value[TREE_VALUE_SIZE];
    const char *equals = strchr(change->text, '=');
    struct override override = {{false, 0, 0}, NULL, change->line, NULL};
    if (!equals || !copy_trimmed(change->text, (size_t)(equals - change->text), key, sizeof key))
        return error_at(error, change->file, change->line,
                        "\"%.100s\", expected key=value as in cores=1", change->text);
    bool fits = copy_trimmed(equals + 1, strlen(equals + 1), value, sizeof value);
    if (fits && strcmp(key, "cache.default") == 0)
        return set_cache_word(tree, value, change, error);
    if (!fits || !read_number(value, &override.number))
        return error_at(error, change->file, change->line, "%s: \"%.40s\", expected a number", key,
                        equals + 1);
    struct suggestion like = suggest_for(key, -1);
    config_setting_t *found = tree_find_like(tree, key, &like);
    if (!found) {
        found = twin_find(tree, key);
        if (found && !twin_respell(found))
            return error_memory(error);
    }
    if (!found)
        return error_at(error, change->file, change->line,
                        "%s: unknown key, expected a number of the description%s", key, like.text);
    override.file = change->file;
    override.source = change->source;
    return tree_override(found, &override, error);
}
