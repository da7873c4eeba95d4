/* Columns are known by their names (profile_names.c), and modes by their columns. What a head lacks
 * is found by asking for each column that its kind of cores should have. */
#include "formats/profile_parts.h"

#include <string.h>
#include <strings.h>

const char *profile_trimmed(const char *field, int *length)
{
    size_t count = strlen(field);
    while (count && strchr(" \t\r\n\"", field[count - 1]))
        count--;
    size_t skip = strspn(field, " \t\r\n\"");
    *length = skip < count ? (int)(count - skip) : 0;
    return skip < count ? field + skip : "";
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
    for (int slot = 0; slot < PROFILE_SLOTS; slot++)
        profile->columns[slot] = -1;
    profile->column_count = profile->csv.field_count;
    for (int c = 0; c < profile->csv.field_count; c++) {
        struct profile_column column;
        int length;
        const char *text = profile_trimmed(profile->csv.fields[c], &length);
        if (!profile_find_column(profile->csv.fields[c], &column) || has(profile, column.slot))
            continue;
        profile->columns[column.slot] = c;
        profile->scales[column.slot] = column.scale;
        if (column.mode >= 0)
            profile->modes |= 1u << column.mode;
        snprintf(profile->names[column.slot], sizeof profile->names[column.slot], "%.*s", length,
                 text);
    }
    while (profile->column_count && !profile->csv.fields[profile->column_count - 1][0])
        profile->column_count--;
}

const char *profile_mode_name(int mode)
{
    static const char *const names[PROFILE_MODES + 1] = {
        [MODE_PIPE] = "PipeUtilization",
        [MODE_ARITHMETIC] = "ArithmeticUtilization",
        [MODE_MEMORY] = "Memory",
        [MODE_ACCESS] = "MemoryAccess",
        [MODE_L0] = "MemoryL0",
        [MODE_UB] = "MemoryUB",
        [MODE_CONFLICT] = "ResourceConflictRatio",
        [MODE_L2] = "L2Cache",
        [PROFILE_MODES] = "level0",
    };
    return names[mode];
}

/* ------------------------------------------------------------------ what the head lacks */

/* Which units a profiler writes of each kind of core, by the prefix of their columns. What brings
 * data, computes and stores is what verdicts need; without the others a row says that they are not
 * known. Matrix cores have more in some versions, fixpipe and mte3. */
static const struct core_columns {
    const char *prefix, *core_time;
    int side;
    int units[PROFILE_UNITS]; /* -1 ends them */
} core_columns[] = {
    {"aic_", "aicore_time(us)", SIDE_CUBE, {UNIT_CUBE, UNIT_SCALAR, UNIT_MTE1, UNIT_MTE2, -1}},
    {"aiv_", "aiv_time(us)", SIDE_VECTOR, {UNIT_VECTOR, UNIT_SCALAR, UNIT_MTE2, UNIT_MTE3, -1}},
    {"",
     "aicore_time(us)",
     SIDE_CUBE,
     {UNIT_CUBE, UNIT_VECTOR, UNIT_SCALAR, UNIT_MTE1, UNIT_MTE2, UNIT_MTE3, -1}},
};
static const char *const unit_columns[PROFILE_UNITS] = {
    [UNIT_CUBE] = "mac",  [UNIT_VECTOR] = "vec", [UNIT_SCALAR] = "scalar",   [UNIT_MTE1] = "mte1",
    [UNIT_MTE2] = "mte2", [UNIT_MTE3] = "mte3",  [UNIT_FIXPIPE] = "fixpipe",
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

/* A unit's column of times, of ratios or of cycles; -1. */
static int slot_of_unit(const struct profile *profile, int place)
{
    static const int quantities[] = {SLOT_TIME, SLOT_RATIO, SLOT_UNIT_CYCLES};
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++)
        if (has(profile, quantities[q] + place))
            return quantities[q] + place;
    return -1;
}

/* The kind of cores of a side that has columns of units; NULL: it has none. */
static const struct core_columns *cores_of(const struct profile *profile, int side)
{
    for (int unit = 0; unit < PROFILE_UNITS; unit++) {
        int slot = slot_of_unit(profile, side * PROFILE_UNITS + unit);
        for (int i = 0; slot >= 0 && i < COUNT_OF_CORES; i++)
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
        int unit = cores->units[i];
        bool needed = unit != UNIT_SCALAR && unit != UNIT_MTE1;
        snprintf(name, sizeof name, "%s%s_time(us) or %s%s_ratio", cores->prefix,
                 unit_columns[unit], cores->prefix, unit_columns[unit]);
        if (slot_of_unit(profile, cores->side * PROFILE_UNITS + unit) < 0)
            add_missing(profile, needed, name);
    }
}

/* Tables of other modes have times of some units too, those that they are about: they are no
 * PipeUtilization, and what they lack of it is no gap. */
static void settle_modes(struct profile *profile)
{
    bool computes = false, loads = false;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        int first = side * PROFILE_UNITS;
        computes = computes || slot_of_unit(profile, first + UNIT_CUBE) >= 0 ||
                   slot_of_unit(profile, first + UNIT_VECTOR) >= 0;
        loads = loads || slot_of_unit(profile, first + UNIT_MTE2) >= 0;
    }
    if (profile->modes & ~(1u << MODE_PIPE) && !(computes && loads))
        profile->modes &= ~(1u << MODE_PIPE);
}

/* A block's table has neither names of kernels nor their durations. Where other things were
 * counted than times of pipes, those are no gap of the file: another mode has them. */
static void note_missing(struct profile *profile)
{
    bool blocks = has(profile, SLOT_BLOCK);
    profile->missing[0] = profile->lacking[0] = 0;
    if (!blocks && !has(profile, SLOT_NAME))
        add_missing(profile, true, "Op Name or Name");
    if (!blocks && !has(profile, SLOT_DURATION))
        add_missing(profile, true, "Task Duration(us) or Duration(us)");
    if (!profile->modes)
        add_missing(profile, true, "aic_mac_time(us), mac_ratio or the like of any pipe");
    for (int side = 0; side < PROFILE_SIDES && profile->modes & 1u << MODE_PIPE; side++) {
        const struct core_columns *cores = cores_of(profile, side);
        if (cores)
            note_missing_of(profile, cores);
    }
}

/* The mode that a table of blocks is of, the first of several: msopprof writes one a file. */
static const char *format_of(const struct profile *profile)
{
    int mode = 0;
    if (!has(profile, SLOT_BLOCK))
        return strncasecmp(profile->names[SLOT_NAME], "op", 2) ? "kernel_details" : "op_summary";
    while (mode < PROFILE_MODES && !(profile->modes >> mode & 1))
        mode++;
    return profile_mode_name(mode);
}

static enum status require_profile(struct profile *profile, struct error *error)
{
    bool timed = has_any(profile, SLOT_DURATION, SLOT_TIME);
    bool named = has(profile, SLOT_NAME) || has(profile, SLOT_TYPE) || has(profile, SLOT_BLOCK);
    if (!timed || !(named || profile->modes))
        return csv_wrong(&profile->csv, error,
                         "no profile: expected columns Op Name or Name or block_id, %s, and times "
                         "of pipes such as aic_mac_time(us), mac_ratio or aic_cube_ratio",
                         timed ? "which are missing"
                               : "Task Duration(us) or Duration(us) or aicore_time(us) or "
                                 "aic_time(us)");
    profile->format = format_of(profile);
    note_missing(profile);
    return STATUS_OK;
}

enum status profile_find_columns(struct profile *profile, struct error *error)
{
    find_columns(profile);
    settle_modes(profile);
    return require_profile(profile, error);
}

bool profile_is_head(const char *line)
{
    struct profile_column column;
    int known = 0;
    while (*line) {
        size_t length = strcspn(line, ",\r\n");
        char field[96];
        snprintf(field, sizeof field, "%.*s", (int)(length < sizeof field ? length : 0), line);
        known += profile_find_column(field, &column);
        line += length + (line[length] == ',');
        if (line[0] == '\n' || line[0] == '\r')
            break;
    }
    return known >= 2;
}
