/* Limits are of a chip, and a store knows its name and fingerprint only: the description that has
 * both is the one. Without it, and where a chip cannot run the text, only exact shapes are legal.
 */
#include "jobs/table/tilings_limits.h"

#include "hardware/fingerprint.h"
#include "hardware/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the chip */

struct search {
    const struct tilings *tilings;
    struct hardware *hw;
    bool found;
};

/* With a warm cache, and with a cold one. */
static void try_chip(void *context, const char *name)
{
    static const char *const words[] = {HARDWARE_CACHE "warm", HARDWARE_CACHE "cold"};
    struct search *search = context;
    char fingerprint[FINGERPRINT_SIZE];
    struct error error;
    for (int w = 0; w < 2 && !search->found; w++) {
        const struct hardware_overrides changes = {&words[w], 1};
        if (hardware_load(name, &changes, search->hw, &error) != STATUS_OK)
            return;
        hardware_fingerprint(search->hw, fingerprint);
        search->found = strcmp(fingerprint, search->tilings->fingerprint) == 0;
        if (!search->found)
            hardware_clear(search->hw);
    }
}

/* By its name, which most have, and then among all. */
static bool find_chip(const struct tilings *tilings, struct hardware *hw)
{
    struct search search = {.tilings = tilings, .hw = hw};
    struct error error;
    char name[sizeof hw->name];
    int length = (int)strcspn(tilings->hardware, ","); /* changes, and a cold cache, follow */
    if (!strchr(tilings->hardware, '/') &&
        snprintf(name, sizeof name, "%.*s", length, tilings->hardware) > 0)
        try_chip(&search, name);
    if (!search.found && hardware_each_from(NULL, try_chip, &search, &error) != STATUS_OK)
        return false;
    return search.found;
}

/* ------------------------------------------------------------------ parts */

/* One for all entries that says nothing. */
static enum status refuse(struct table_part *part, struct part_limits *limits, const char *why,
                          struct error *error)
{
    limits->list = calloc(1, sizeof *limits->list);
    if (!limits->list)
        return error_memory(error);
    *limits->list = (struct table_limits){NULL, why};
    part->limits = limits->list;
    part->limits_count = 1;
    return STATUS_OK;
}

static enum status make_part(const struct tilings *tilings, const struct hardware *hw,
                             const char *prefix, const struct best_tiling *best,
                             struct table_part *part, struct table_entry *entries,
                             struct part_limits *limits, struct error *error)
{
    struct limits_code *code = &limits->code;
    const struct operator_space *space = operator_space_find(best->problem.op, best->space);
    for (int64_t i = 0; i < part->count; i++) {
        struct limits_asked asked = {
            &best[i].problem, hw, tilings->cores, part, &entries[i], prefix,
        };
        TRY(space->limits_code(&asked, code, &entries[i].limits, error));
    }
    limits->list = calloc((size_t)code->count + 1, sizeof *limits->list);
    if (!limits->list)
        return error_memory(error);
    for (int i = 0; i < code->count; i++)
        limits->list[i] = (struct table_limits){code->bodies[i].text, code->bodies[i].why};
    part->limits = limits->list;
    part->limits_count = code->count;
    return STATUS_OK;
}

static enum status make_parts(const struct tilings *tilings, const struct hardware *hw,
                              const char *prefix, struct table_part *parts,
                              struct table_entry *entries, struct tilings_limits *limits, char *why,
                              struct error *error)
{
    for (int p = 0; p < limits->part_count; p++) {
        int64_t first = parts[p].entries - entries;
        const struct best_tiling *best = &tilings->best[first];
        const struct operator_space *space = operator_space_find(best->problem.op, best->space);
        if (!space || !space->limits_code)
            continue;
        if (!hw)
            snprintf(why, TABLE_WHY_SIZE,
                     "no description of %.60s has fingerprint %.32s, expected one in "
                     "~/.config/autotune/hardware",
                     tilings->hardware, tilings->fingerprint);
        if (hw)
            TRY(make_part(tilings, hw, prefix, best, &parts[p], &entries[first], &limits->parts[p],
                          error));
        else
            TRY(refuse(&parts[p], &limits->parts[p], why, error));
        for (int64_t i = 0; i < parts[p].count && !hw; i++)
            entries[first + i].limits = 1;
    }
    return STATUS_OK;
}

enum status tilings_limits_make(const struct tilings *tilings, const char *prefix,
                                struct table_part *parts, int part_count,
                                struct table_entry *entries, struct tilings_limits *limits,
                                char why[TABLE_WHY_SIZE], struct error *error)
{
    struct hardware hw;
    *limits = (struct tilings_limits){0};
    *why = '\0';
    limits->parts = calloc((size_t)part_count, sizeof *limits->parts);
    if (!limits->parts)
        return error_memory(error);
    limits->part_count = part_count;
    bool found = find_chip(tilings, &hw);
    enum status status =
        make_parts(tilings, found ? &hw : NULL, prefix, parts, entries, limits, why, error);
    if (found)
        hardware_clear(&hw);
    return status;
}

void tilings_limits_clear(struct tilings_limits *limits)
{
    for (int p = 0; p < limits->part_count; p++) {
        limits_code_clear(&limits->parts[p].code);
        free(limits->parts[p].list);
    }
    free(limits->parts);
    *limits = (struct tilings_limits){0};
}
