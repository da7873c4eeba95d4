/* Names are folded (case, blanks) and looked up: first whole, in the table of the profilers' names,
 * then as side, unit and quantity put together. What a head lacks is found by asking for each
 * column that its kind of cores should have. */
#include "formats/profile_parts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ names of columns
 * From the profilers' own documentation: msprof's op_summary (both generations), torch_npu's
 * kernel_details, msopprof's PipeUtilization. Lower case, blanks as underscores. */

struct column_name {
    const char *name;
    int slot;
};

static const struct column_name column_names[] = {
    {"op_name", SLOT_NAME},
    {"name", SLOT_NAME},
    {"op_type", SLOT_TYPE},
    {"type", SLOT_TYPE},
    {"task_type", SLOT_CORE_TYPE},
    {"accelerator_core", SLOT_CORE_TYPE},
    {"block_id", SLOT_BLOCK},
    {"sub_block_id", SLOT_SUB_BLOCK},
    {"input_shapes", SLOT_INPUT_SHAPES},
    {"input_data_types", SLOT_INPUT_TYPES},
    {"input_formats", SLOT_INPUT_FORMATS},
    {"output_shapes", SLOT_OUTPUT_SHAPES},
    {"output_data_types", SLOT_OUTPUT_TYPES},
    {"output_formats", SLOT_OUTPUT_FORMATS},
    {"block_dim", SLOT_BLOCKS},
    {"block_num", SLOT_BLOCKS},
    {"task_duration(us)", SLOT_DURATION},
    {"duration(us)", SLOT_DURATION},
    {"aicore_time(us)", SLOT_CORE_TIME + SIDE_CUBE},
    {"aic_time(us)", SLOT_CORE_TIME + SIDE_CUBE},
    {"aiv_time(us)", SLOT_CORE_TIME + SIDE_VECTOR},
    {"total_cycles", SLOT_CYCLES + SIDE_CUBE},
    {"aic_total_cycles", SLOT_CYCLES + SIDE_CUBE},
    {"aiv_total_cycles", SLOT_CYCLES + SIDE_VECTOR},
};

/* A unit's columns are a side, a unit and a quantity: aic_ mac _time(us). */
static const struct column_name side_names[] = {
    {"aic_", SIDE_CUBE}, {"aiv_", SIDE_VECTOR}, {"", SIDE_CUBE}};
static const struct column_name unit_names[] = {
    {"mac", UNIT_CUBE},  {"cube", UNIT_CUBE}, {"vec", UNIT_VECTOR}, {"scalar", UNIT_SCALAR},
    {"mte1", UNIT_MTE1}, {"mte2", UNIT_MTE2}, {"mte3", UNIT_MTE3},  {"fixpipe", UNIT_FIXPIPE},
};
static const struct column_name quantity_names[] = {
    {"_time(us)", SLOT_TIME}, {"_exe_time(us)", SLOT_TIME}, {"_time_extra(us)", SLOT_TIME},
    {"_ratio", SLOT_RATIO},   {"_exe_ratio", SLOT_RATIO},   {"_ratio_extra", SLOT_RATIO},
};

enum { COUNT_OF_NAMES = sizeof column_names / sizeof *column_names };
enum { COUNT_OF_SIDES = sizeof side_names / sizeof *side_names };
enum { COUNT_OF_UNITS = sizeof unit_names / sizeof *unit_names };
enum { COUNT_OF_QUANTITIES = sizeof quantity_names / sizeof *quantity_names };

/* The row whose name the text begins with, as a whole or not; -1. */
static int begins(const struct column_name *names, int count, const char *text, bool whole)
{
    for (int i = 0; i < count; i++)
        if (strncmp(text, names[i].name, strlen(names[i].name)) == 0 &&
            (!whole || !text[strlen(names[i].name)]))
            return i;
    return -1;
}

static int unit_slot(const char *name)
{
    int side = begins(side_names, COUNT_OF_SIDES, name, false);
    name += strlen(side_names[side].name);
    int unit = begins(unit_names, COUNT_OF_UNITS, name, false);
    if (unit < 0)
        return -1;
    name += strlen(unit_names[unit].name);
    int quantity = begins(quantity_names, COUNT_OF_QUANTITIES, name, true);
    return quantity < 0 ? -1
                        : quantity_names[quantity].slot + side_names[side].slot * PROFILE_UNITS +
                              unit_names[unit].slot;
}

static int slot_of(const char *name)
{
    int row = begins(column_names, COUNT_OF_NAMES, name, true);
    return row >= 0 ? column_names[row].slot : unit_slot(name);
}

const char *profile_trimmed(const char *field, int *length)
{
    size_t count = strlen(field);
    while (count && strchr(" \t\r\n\"", field[count - 1]))
        count--;
    size_t skip = strspn(field, " \t\r\n\"");
    *length = skip < count ? (int)(count - skip) : 0;
    return skip < count ? field + skip : "";
}

/* "Task Duration(us)" as in the tables above; false when it is too long to be there. */
static bool normalise(const char *field, char *name, size_t size)
{
    int length;
    const char *text = profile_trimmed(field, &length);
    if ((size_t)length >= size)
        return false;
    for (int i = 0; i < length; i++)
        name[i] = (char)(text[i] == ' ' ? '_' : tolower((unsigned char)text[i]));
    name[length] = 0;
    return true;
}

/* ------------------------------------------------------------------ the head */

static bool has(const struct profile *profile, int slot)
{
    return profile->columns[slot] >= 0;
}

static bool has_any(const struct profile *profile, int from, int to)
{
    for (int slot = from; slot < to; slot++)
        if (has(profile, slot))
            return true;
    return false;
}

/* The first of two columns of a name is taken. */
static void find_columns(struct profile *profile)
{
    char name[48];
    for (int slot = 0; slot < PROFILE_SLOTS; slot++)
        profile->columns[slot] = -1;
    profile->column_count = profile->csv.field_count;
    for (int c = 0; c < profile->csv.field_count; c++) {
        int slot = normalise(profile->csv.fields[c], name, sizeof name) ? slot_of(name) : -1,
            length;
        const char *text = profile_trimmed(profile->csv.fields[c], &length);
        if (slot < 0 || has(profile, slot))
            continue;
        profile->columns[slot] = c;
        snprintf(profile->names[slot], sizeof profile->names[slot], "%.*s", length, text);
    }
    while (profile->column_count && !profile->csv.fields[profile->column_count - 1][0])
        profile->column_count--;
}

/* ------------------------------------------------------------------ what the head lacks */

/* Which units a profiler writes of each kind of core, by the prefix of their columns. What brings
 * data, computes and stores is what verdicts need; without the others a row says that they are not
 * known. Matrix cores have more in some versions, fixpipe and mte3. */
static const struct core_columns {
    const char *prefix, *core_time;
    int side;
    int units[PROFILE_UNITS]; /* indices of unit_names, -1 ends them */
} core_columns[] = {
    {"aic_", "aicore_time(us)", SIDE_CUBE, {0, 3, 4, 5, -1}},
    {"aiv_", "aiv_time(us)", SIDE_VECTOR, {2, 3, 5, 6, -1}},
    {"", "aicore_time(us)", SIDE_CUBE, {0, 2, 3, 4, 5, 6, -1}},
};
enum { COUNT_OF_CORES = sizeof core_columns / sizeof *core_columns };

static void add_to(char list[PROFILE_MISSING_SIZE], const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, PROFILE_MISSING_SIZE - used, "%s%s", used ? ", " : "", name);
}

static void add_missing(struct profile *profile, bool needed, const char *name)
{
    add_to(profile->lacking, name);
    if (needed)
        add_to(profile->missing, name);
}

/* The kind of cores of a side that has columns of units; NULL: it has none. */
static const struct core_columns *cores_of(const struct profile *profile, int side)
{
    for (int u = 0; u < 2 * PROFILE_UNITS; u++) {
        int slot =
            (u < PROFILE_UNITS ? SLOT_TIME : SLOT_RATIO) + side * PROFILE_UNITS + u % PROFILE_UNITS;
        for (int i = 0; has(profile, slot) && i < COUNT_OF_CORES; i++)
            if (core_columns[i].side == side &&
                strncasecmp(profile->names[slot], core_columns[i].prefix,
                            strlen(core_columns[i].prefix)) == 0)
                return &core_columns[i];
    }
    return NULL;
}

static void note_missing_of(struct profile *profile, const struct core_columns *cores)
{
    char name[64];
    if (!has(profile, SLOT_CORE_TIME + cores->side))
        add_missing(profile, true, cores->core_time);
    for (int i = 0; cores->units[i] >= 0; i++) {
        const struct column_name *unit = &unit_names[cores->units[i]];
        int slot = cores->side * PROFILE_UNITS + unit->slot;
        bool needed = unit->slot != UNIT_SCALAR && unit->slot != UNIT_MTE1;
        snprintf(name, sizeof name, "%s%s_time(us) or %s%s_ratio", cores->prefix, unit->name,
                 cores->prefix, unit->name);
        if (!has(profile, SLOT_TIME + slot) && !has(profile, SLOT_RATIO + slot))
            add_missing(profile, needed, name);
    }
}

/* A block's table has neither names of kernels nor their durations. */
static void note_missing(struct profile *profile, bool pipes)
{
    bool blocks = has(profile, SLOT_BLOCK);
    profile->missing[0] = profile->lacking[0] = 0;
    if (!blocks && !has(profile, SLOT_NAME))
        add_missing(profile, true, "Op Name or Name");
    if (!blocks && !has(profile, SLOT_DURATION))
        add_missing(profile, true, "Task Duration(us) or Duration(us)");
    if (!pipes)
        add_missing(profile, true, "aic_mac_time(us), mac_ratio or the like of any pipe");
    for (int side = 0; side < PROFILE_SIDES; side++) {
        const struct core_columns *cores = cores_of(profile, side);
        if (cores)
            note_missing_of(profile, cores);
    }
}

static enum status require_profile(struct profile *profile, struct error *error)
{
    bool timed = has_any(profile, SLOT_DURATION, SLOT_CYCLES);
    bool named = has(profile, SLOT_NAME) || has(profile, SLOT_TYPE) || has(profile, SLOT_BLOCK);
    bool pipes = has_any(profile, SLOT_TIME, PROFILE_SLOTS);
    if (!timed || !(named || pipes))
        return csv_wrong(&profile->csv, error,
                         "no profile: expected columns Op Name or Name or block_id, %s, and times "
                         "of pipes such as aic_mac_time(us), mac_ratio or aic_cube_ratio",
                         timed ? "which are missing"
                               : "Task Duration(us) or Duration(us) or aicore_time(us) or "
                                 "aic_time(us)");
    profile->format = has(profile, SLOT_BLOCK)                          ? "PipeUtilization"
                      : strncasecmp(profile->names[SLOT_NAME], "op", 2) ? "kernel_details"
                                                                        : "op_summary";
    note_missing(profile, pipes);
    return STATUS_OK;
}

enum status profile_find_columns(struct profile *profile, struct error *error)
{
    find_columns(profile);
    return require_profile(profile, error);
}

bool profile_is_head(const char *line)
{
    char name[48];
    int known = 0;
    while (*line) {
        size_t length = strcspn(line, ",\r\n");
        char field[64];
        snprintf(field, sizeof field, "%.*s", (int)(length < sizeof field ? length : 0), line);
        known += normalise(field, name, sizeof name) && slot_of(name) >= 0;
        line += length + (line[length] == ',');
        if (line[0] == '\n' || line[0] == '\r')
            break;
    }
    return known >= 2;
}
