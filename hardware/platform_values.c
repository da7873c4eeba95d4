/* Values of a platform file as numbers of a description: read in their units, rounded to what a
 * description holds, and put where a row says. */
#include "core/utf8.h"
#include "hardware/platform_parts.h"
#include "hardware/schema_twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ---- */

/* "value of KEY, expected …" at the entry's place. */
enum status platform_expected(const struct ini *ini, const struct ini_entry *entry,
                              const char *expectation, struct error *error)
{
    return error_at(error, ini->file, entry->line, "%s: \"%.*s\", expected %s", entry->key, SHOWN,
                    entry->value, expectation);
}

/* Digits, perhaps with a point between them: strtod alone would take far more. */
static bool read_plain(const char **text, double *value)
{
    const char *at = *text;
    size_t before = strspn(at, "0123456789");
    at += before;
    size_t after = *at == '.' ? strspn(at + 1, "0123456789") : 1;
    if (before == 0 || after == 0)
        return false;
    at += *at == '.' ? after + 1 : 0;
    *value = strtod(*text, NULL);
    *text = at;
    return true;
}

/* A number, or a quotient as in 21474836480/680000000: bytes per second over cycles per second. */
bool platform_value(const char *text, const struct row_unit *unit, double *value)
{
    double divisor = 1;
    if (!read_plain(&text, value))
        return false;
    if (unit->fraction && *text == '/') {
        text++;
        if (!read_plain(&text, &divisor) || divisor == 0)
            return false;
    }
    *value /= divisor;
    return !*text && *value >= unit->low && *value <= unit->high &&
           (!unit->whole || *value == floor(*value));
}

enum status platform_read_entry(const struct platform *p, const struct ini_entry *entry,
                                const struct row_unit *unit, double *value)
{
    char text[128];
    if (platform_value(entry->value, unit, value))
        return STATUS_OK;
    snprintf(text, sizeof text, "a %snumber from %.15g to %.15g %s%s", unit->whole ? "whole " : "",
             unit->low, unit->high, unit->name,
             unit->fraction ? ", or a fraction such as 3/2" : "");
    return platform_expected(p->ini, entry, text, p->error);
}

/* The first of a row's keys that has a value; else the first that is there at all, or NULL. */
const struct ini_entry *platform_entry(const struct ini *ini, const char *section,
                                       const char *const keys[ROW_KEYS])
{
    const struct ini_entry *empty = NULL;
    for (int i = 0; i < ROW_KEYS && keys[i]; i++) {
        const struct ini_entry *entry = ini_find(ini, section, keys[i]);
        if (entry && *entry->value)
            return entry;
        empty = empty ? empty : entry;
    }
    return empty;
}

/* ---- numbers of the description ---- */

enum status platform_set(const struct platform *p, config_setting_t *setting, struct number number,
                         int line, const char *source)
{
    const struct override override = {number, p->ini->file, line, source};
    return tree_override(setting, &override, p->error);
}

/* To a byte per second or a femtosecond, the finest that the description can hold. */
struct number platform_rounded(double value, double per_unit)
{
    return (struct number){false, 0, round(value * per_unit) / per_unit};
}

struct number platform_count(double value)
{
    return (struct number){true, (int64_t)value, value};
}

static struct number converted(const struct platform *p, const struct row_unit *unit, double value)
{
    if (unit == &row_unit_elements)
        return platform_count(2 * value);
    if (unit == &row_unit_per_cycle)
        return platform_rounded(value * p->clock_mhz / 1e3, 1e9);
    if (unit == &row_unit_mhz)
        return platform_rounded(value, 1e6);
    return unit->whole ? platform_count(value) : (struct number){false, 0, value};
}

/* The row's number with the source, in the spelling of the row's target. */
static enum status set_target(const struct platform *p, const struct row *row,
                              config_setting_t *setting, struct number number, int line,
                              const char *source)
{
    if (!tree_find(p->tree, row->target) && !twin_respell(setting))
        return error_memory(p->error);
    return platform_set(p, setting, number, line, source);
}

/* What stays from the description below says so, and why. */
static enum status keep_default(const struct platform *p, const struct row *row,
                                const struct ini_entry *entry, config_setting_t *setting)
{
    char source[SOURCE_SIZE];
    struct number number;
    const struct ini_section *section = ini_find_section(p->ini, row->section);
    int line = entry ? entry->line : section ? section->line : 0;
    if (row->required)
        return error_at(p->error, p->ini->file, line, "%s.%s: %s, expected it in %s", row->section,
                        row->keys[0], entry ? "empty" : "missing", row->unit->name);
    if (tree_find(p->tree, row->target))
        tree_number(setting, &number);
    else
        twin_number(setting, &number);
    snprintf(source, sizeof source, "%s; the platform file %s %s", tree_source(setting),
             entry ? "has an empty" : "has no", row->keys[0]);
    return set_target(p, row, setting, number, line, source);
}

enum status platform_apply_row(const struct platform *p, const struct row *row)
{
    char source[SOURCE_SIZE];
    double value = 0;
    config_setting_t *setting = twin_find(p->tree, row->target);
    const struct ini_entry *entry = platform_entry(p->ini, row->section, row->keys);
    if (!setting)
        return error_at(p->error, p->tree->file, 0, "has no %s", row->target);
    if (!entry || !*entry->value)
        return keep_default(p, row, entry, setting);
    TRY(platform_read_entry(p, entry, row->unit, &value));
    snprintf(source, sizeof source, "%s the platform file: %s=%.*s (line %d)", row->unit->source,
             entry->key, SHOWN, entry->value, entry->line);
    return set_target(p, row, setting, converted(p, row->unit, value), entry->line, source);
}
