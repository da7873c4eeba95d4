/* A name is folded (lower case, no blanks, underscores or brackets) and cut into a unit and the
 * rest, which is looked up: first whole, then as a side and what it counts, or a side, a unit of
 * the core and a quantity. Names are from the profilers' own documentation: msprof's op_summary
 * (both generations), torch_npu's kernel_details, msopprof's tables of blocks. Modes are known by
 * their columns, and what a head lacks by asking for each column that its kind of cores should
 * have. */
#include "formats/profile_columns.h"

#include <ctype.h>
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

bool profile_is_absent(const char *text, int length)
{
    static const char *const absent[] = {"", "N/A", "NA", "-", "--", "null", "none"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (length == (int)strlen(absent[i]) && strncasecmp(text, absent[i], (size_t)length) == 0)
            return true;
    return false;
}

/* What the values of a column are, and so which units they may be in. */
enum kind { KIND_TEXT, KIND_NUMBER, KIND_TIME, KIND_CYCLES, KIND_SHARE, KIND_BYTES, KIND_RATE };

struct column_name {
    const char *name;
    int slot;
    enum kind kind;
    int mode; /* enum profile_mode; -1: of every one */
};

static const struct column_name column_names[] = {
    {"op_name", SLOT_NAME, KIND_TEXT, -1},
    {"name", SLOT_NAME, KIND_TEXT, -1},
    {"kernel_name", SLOT_NAME, KIND_TEXT, -1},
    {"op_type", SLOT_TYPE, KIND_TEXT, -1},
    {"type", SLOT_TYPE, KIND_TEXT, -1},
    {"task_type", SLOT_CORE_TYPE, KIND_TEXT, -1},
    {"accelerator_core", SLOT_CORE_TYPE, KIND_TEXT, -1},
    {"block_id", SLOT_BLOCK, KIND_TEXT, -1},
    {"sub_block_id", SLOT_SUB_BLOCK, KIND_TEXT, -1},
    {"input_shapes", SLOT_INPUT_SHAPES, KIND_TEXT, -1},
    {"input_data_types", SLOT_INPUT_TYPES, KIND_TEXT, -1},
    {"input_formats", SLOT_INPUT_FORMATS, KIND_TEXT, -1},
    {"output_shapes", SLOT_OUTPUT_SHAPES, KIND_TEXT, -1},
    {"output_data_types", SLOT_OUTPUT_TYPES, KIND_TEXT, -1},
    {"output_formats", SLOT_OUTPUT_FORMATS, KIND_TEXT, -1},
    {"block_dim", SLOT_BLOCKS, KIND_NUMBER, -1},
    {"block_num", SLOT_BLOCKS, KIND_NUMBER, -1},
    {"task_duration", SLOT_DURATION, KIND_TIME, -1},
    {"duration", SLOT_DURATION, KIND_TIME, -1},
    {"aicore_time", SLOT_CORE_TIME + SIDE_CUBE, KIND_TIME, -1},
    {"ai_core_time", SLOT_CORE_TIME + SIDE_CUBE, KIND_TIME, -1},
    {"aic_time", SLOT_CORE_TIME + SIDE_CUBE, KIND_TIME, -1},
    {"aiv_time", SLOT_CORE_TIME + SIDE_VECTOR, KIND_TIME, -1},
    {"total_cycles", SLOT_CYCLES + SIDE_CUBE, KIND_CYCLES, -1},
    {"aicore_total_cycles", SLOT_CYCLES + SIDE_CUBE, KIND_CYCLES, -1},
    {"aic_total_cycles", SLOT_CYCLES + SIDE_CUBE, KIND_CYCLES, -1},
    {"aiv_total_cycles", SLOT_CYCLES + SIDE_VECTOR, KIND_CYCLES, -1},
};

/* What the cores of a side are counted by. */
static const struct column_name counter_names[] = {
    {"mac_fp16_ratio", COUNTER_MAC_FP16, KIND_SHARE, MODE_ARITHMETIC},
    {"cube_fp16_ratio", COUNTER_MAC_FP16, KIND_SHARE, MODE_ARITHMETIC},
    {"mac_int8_ratio", COUNTER_MAC_INT8, KIND_SHARE, MODE_ARITHMETIC},
    {"cube_int8_ratio", COUNTER_MAC_INT8, KIND_SHARE, MODE_ARITHMETIC},
    {"vec_fp32_ratio", COUNTER_VEC_FP32, KIND_SHARE, MODE_ARITHMETIC},
    {"vec_fp16_ratio", COUNTER_VEC_FP16, KIND_SHARE, MODE_ARITHMETIC},
    {"vec_int32_ratio", COUNTER_VEC_INT32, KIND_SHARE, MODE_ARITHMETIC},
    {"vec_int16_ratio", COUNTER_VEC_INT16, KIND_SHARE, MODE_ARITHMETIC},
    {"vec_misc_ratio", COUNTER_VEC_MISC, KIND_SHARE, MODE_ARITHMETIC},
    {"cube_fops", COUNTER_CUBE_FOPS, KIND_NUMBER, MODE_ARITHMETIC},
    {"mac_fops", COUNTER_CUBE_FOPS, KIND_NUMBER, MODE_ARITHMETIC},
    {"vector_fops", COUNTER_VECTOR_FOPS, KIND_NUMBER, MODE_ARITHMETIC},
    {"vec_fops", COUNTER_VECTOR_FOPS, KIND_NUMBER, MODE_ARITHMETIC},
    {"ub_read_bw", COUNTER_UB_READ, KIND_RATE, MODE_MEMORY},
    {"ub_write_bw", COUNTER_UB_WRITE, KIND_RATE, MODE_MEMORY},
    {"l1_read_bw", COUNTER_L1_READ, KIND_RATE, MODE_MEMORY},
    {"l1_write_bw", COUNTER_L1_WRITE, KIND_RATE, MODE_MEMORY},
    {"l2_read_bw", COUNTER_L2_READ, KIND_RATE, MODE_MEMORY},
    {"l2_write_bw", COUNTER_L2_WRITE, KIND_RATE, MODE_MEMORY},
    {"main_mem_read_bw", COUNTER_MAIN_READ, KIND_RATE, MODE_MEMORY},
    {"main_mem_write_bw", COUNTER_MAIN_WRITE, KIND_RATE, MODE_MEMORY},
    {"main_memory_read_bw", COUNTER_MAIN_READ, KIND_RATE, MODE_MEMORY},
    {"main_memory_write_bw", COUNTER_MAIN_WRITE, KIND_RATE, MODE_MEMORY},
    {"l0a_read_bw", COUNTER_L0A_READ, KIND_RATE, MODE_L0},
    {"l0a_write_bw", COUNTER_L0A_WRITE, KIND_RATE, MODE_L0},
    {"l0b_read_bw", COUNTER_L0B_READ, KIND_RATE, MODE_L0},
    {"l0b_write_bw", COUNTER_L0B_WRITE, KIND_RATE, MODE_L0},
    {"l0c_read_bw", COUNTER_L0C_READ, KIND_RATE, MODE_L0},
    {"l0c_read_bw_cube", COUNTER_L0C_READ, KIND_RATE, MODE_L0},
    {"l0c_write_bw", COUNTER_L0C_WRITE, KIND_RATE, MODE_L0},
    {"l0c_write_bw_cube", COUNTER_L0C_WRITE, KIND_RATE, MODE_L0},
    {"ub_read_bw_vector", COUNTER_UB_READ_VECTOR, KIND_RATE, MODE_UB},
    {"ub_write_bw_vector", COUNTER_UB_WRITE_VECTOR, KIND_RATE, MODE_UB},
    {"ub_read_bw_scalar", COUNTER_UB_READ_SCALAR, KIND_RATE, MODE_UB},
    {"ub_write_bw_scalar", COUNTER_UB_WRITE_SCALAR, KIND_RATE, MODE_UB},
    {"read_main_memory", COUNTER_MAIN_READ_BYTES, KIND_BYTES, MODE_ACCESS},
    {"main_memory_read", COUNTER_MAIN_READ_BYTES, KIND_BYTES, MODE_ACCESS},
    {"main_mem_read", COUNTER_MAIN_READ_BYTES, KIND_BYTES, MODE_ACCESS},
    {"write_main_memory", COUNTER_MAIN_WRITE_BYTES, KIND_BYTES, MODE_ACCESS},
    {"main_memory_write", COUNTER_MAIN_WRITE_BYTES, KIND_BYTES, MODE_ACCESS},
    {"main_mem_write", COUNTER_MAIN_WRITE_BYTES, KIND_BYTES, MODE_ACCESS},
    {"gm_to_l1", COUNTER_GM_TO_L1, KIND_BYTES, MODE_ACCESS},
    {"l0c_to_l1", COUNTER_L0C_TO_L1, KIND_BYTES, MODE_ACCESS},
    {"l0c_to_gm", COUNTER_L0C_TO_GM, KIND_BYTES, MODE_ACCESS},
    {"gm_to_ub", COUNTER_GM_TO_UB, KIND_BYTES, MODE_ACCESS},
    {"ub_to_gm", COUNTER_UB_TO_GM, KIND_BYTES, MODE_ACCESS},
    {"vec_bankgroup_cflt_ratio", COUNTER_BANKGROUP_CONFLICT, KIND_SHARE, MODE_CONFLICT},
    {"vec_bank_cflt_ratio", COUNTER_BANK_CONFLICT, KIND_SHARE, MODE_CONFLICT},
    {"vec_resc_cflt_ratio", COUNTER_RESOURCE_CONFLICT, KIND_SHARE, MODE_CONFLICT},
    {"write_cache_hit", COUNTER_WRITE_HIT, KIND_NUMBER, MODE_L2},
    {"write_hit", COUNTER_WRITE_HIT, KIND_NUMBER, MODE_L2},
    {"write_cache_miss_allocate", COUNTER_WRITE_MISS, KIND_NUMBER, MODE_L2},
    {"write_miss_allocate", COUNTER_WRITE_MISS, KIND_NUMBER, MODE_L2},
    {"r0_read_cache_hit", COUNTER_R0_HIT, KIND_NUMBER, MODE_L2},
    {"r0_read_hit", COUNTER_R0_HIT, KIND_NUMBER, MODE_L2},
    {"r0_hit", COUNTER_R0_HIT, KIND_NUMBER, MODE_L2},
    {"r0_read_cache_miss_allocate", COUNTER_R0_MISS, KIND_NUMBER, MODE_L2},
    {"r0_read_miss_allocate", COUNTER_R0_MISS, KIND_NUMBER, MODE_L2},
    {"r0_miss_allocate", COUNTER_R0_MISS, KIND_NUMBER, MODE_L2},
    {"r1_read_cache_hit", COUNTER_R1_HIT, KIND_NUMBER, MODE_L2},
    {"r1_read_hit", COUNTER_R1_HIT, KIND_NUMBER, MODE_L2},
    {"r1_hit", COUNTER_R1_HIT, KIND_NUMBER, MODE_L2},
    {"r1_read_cache_miss_allocate", COUNTER_R1_MISS, KIND_NUMBER, MODE_L2},
    {"r1_read_miss_allocate", COUNTER_R1_MISS, KIND_NUMBER, MODE_L2},
    {"r1_miss_allocate", COUNTER_R1_MISS, KIND_NUMBER, MODE_L2},
};

/* A unit's columns are a side, a unit and a quantity: aic_ mac _time(us). */
static const struct column_name side_names[] = {{"aic_", SIDE_CUBE, KIND_TEXT, -1},
                                                {"aiv_", SIDE_VECTOR, KIND_TEXT, -1},
                                                {"aicore_", SIDE_CUBE, KIND_TEXT, -1},
                                                {"", SIDE_CUBE, KIND_TEXT, -1}};
static const struct column_name unit_names[] = {
    {"mac", UNIT_CUBE, KIND_TEXT, -1},   {"cube", UNIT_CUBE, KIND_TEXT, -1},
    {"vec", UNIT_VECTOR, KIND_TEXT, -1}, {"scalar", UNIT_SCALAR, KIND_TEXT, -1},
    {"mte1", UNIT_MTE1, KIND_TEXT, -1},  {"mte2", UNIT_MTE2, KIND_TEXT, -1},
    {"mte3", UNIT_MTE3, KIND_TEXT, -1},  {"fixpipe", UNIT_FIXPIPE, KIND_TEXT, -1},
};
static const struct column_name quantity_names[] = {
    {"_time", SLOT_TIME, KIND_TIME, MODE_PIPE},
    {"_ratio", SLOT_RATIO, KIND_SHARE, MODE_PIPE},
    {"_cycles", SLOT_UNIT_CYCLES, KIND_CYCLES, MODE_PIPE},
};

static const struct unit {
    const char *name;
    enum kind kind;
    double scale; /* to what a column of the kind is kept in */
} units[] = {
    /* what ends as another one does stands behind it */
    {"us", KIND_TIME, 1},        {"ns", KIND_TIME, 1e-3},        {"ms", KIND_TIME, 1e3},
    {"cycles", KIND_CYCLES, 1},  {"cycle", KIND_CYCLES, 1},      {"gb/s", KIND_RATE, 1},
    {"mb/s", KIND_RATE, 1e-3},   {"tb/s", KIND_RATE, 1e3},       {"bytes", KIND_BYTES, 1},
    {"byte", KIND_BYTES, 1},     {"kb", KIND_BYTES, 1024},       {"kib", KIND_BYTES, 1024},
    {"mb", KIND_BYTES, 1048576}, {"gb", KIND_BYTES, 1073741824}, {"%", KIND_SHARE, 0.01},
    {"b", KIND_BYTES, 1},        {"s", KIND_TIME, 1e6},
};

/* Without a unit: microseconds and KB, as in every file that has been seen. */
static double scale_without_unit(enum kind kind)
{
    return kind == KIND_BYTES ? 1024 : 1;
}

enum { COUNT_OF_NAMES = sizeof column_names / sizeof *column_names };
enum { COUNT_OF_COUNTERS = sizeof counter_names / sizeof *counter_names };
enum { COUNT_OF_SIDES = sizeof side_names / sizeof *side_names };
enum { COUNT_OF_UNITS = sizeof unit_names / sizeof *unit_names };
enum { COUNT_OF_QUANTITIES = sizeof quantity_names / sizeof *quantity_names };

/* Behind the name where the text begins with it, whatever its underscores; NULL. */
static const char *behind_name(const char *name, const char *text)
{
    for (; *name; name++)
        if (*name != '_' && *name != *text++)
            return NULL;
    return text;
}

/* The row whose name the text begins with, as a whole or not, and where the text goes on; NULL. */
static const struct column_name *row_it_begins_with(const struct column_name *names, int count,
                                                    bool whole, const char **text)
{
    for (int i = 0; i < count; i++) {
        const char *rest = behind_name(names[i].name, *text);
        if (rest && (!whole || !*rest)) {
            *text = rest;
            return &names[i];
        }
    }
    return NULL;
}

static bool find_unit_column(const char *text, int side, struct column_name *found)
{
    const struct column_name *unit = row_it_begins_with(unit_names, COUNT_OF_UNITS, false, &text);
    const struct column_name *quantity =
        unit ? row_it_begins_with(quantity_names, COUNT_OF_QUANTITIES, true, &text) : NULL;
    if (!quantity)
        return false;
    *found = *quantity;
    found->slot += side * PROFILE_UNITS + unit->slot;
    return true;
}

static bool find_of_side(const char *text, int side, struct column_name *found)
{
    const struct column_name *counter =
        row_it_begins_with(counter_names, COUNT_OF_COUNTERS, true, &text);
    if (!counter)
        return find_unit_column(text, side, found);
    *found = *counter;
    found->slot += SLOT_COUNTER + side * PROFILE_COUNTERS;
    return true;
}

static bool find_name(const char *text, struct column_name *found)
{
    const char *rest = text;
    const struct column_name *whole = row_it_begins_with(column_names, COUNT_OF_NAMES, true, &rest);
    if (whole) {
        *found = *whole;
        return true;
    }
    for (int s = 0; s < COUNT_OF_SIDES; s++) {
        rest = behind_name(side_names[s].name, text);
        if (rest && find_of_side(rest, side_names[s].slot, found))
            return true;
    }
    return false;
}

/* Times may be counted in cycles: then they stand in other slots. False: not in this unit. */
static bool take_unit(const struct unit *unit, struct column_name *found, double *scale)
{
    *scale = unit->scale;
    if (unit->kind == found->kind)
        return true;
    if (unit->kind != KIND_CYCLES || found->kind != KIND_TIME)
        return false;
    if (found->slot >= SLOT_TIME)
        found->slot += SLOT_UNIT_CYCLES - SLOT_TIME;
    else if (found->slot >= SLOT_CORE_TIME)
        found->slot += SLOT_CYCLES - SLOT_CORE_TIME;
    else
        return false;
    return true;
}

/* The unit that the name ends with, cut off; NULL. */
static const struct unit *cut_unit(char *name, const char *end)
{
    size_t length = (size_t)(end - name);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t own = strlen(units[u].name);
        if (length > own && strncmp(end - own, units[u].name, own) == 0) {
            name[length - own] = 0;
            return &units[u];
        }
    }
    return NULL;
}

static void cut_out(char *text, const char *part)
{
    char *at = strstr(text, part);
    if (at)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* "Task Duration (us)" is "taskdurationus", and *bracket where its unit begins; false when it is
 * too long to be of the tables above. */
static bool fold_name(const char *field, char *name, size_t size, bool *bracket)
{
    int length;
    const char *text = profile_trimmed(field, &length);
    size_t used = 0;
    *bracket = false;
    for (int i = 0; i < length; i++) {
        *bracket = *bracket || strchr("([", text[i]);
        if (strchr(" \t_-()[]", text[i]))
            continue;
        if (used + 1 >= size)
            return false;
        name[used++] = (char)tolower((unsigned char)text[i]);
    }
    name[used] = 0;
    cut_out(name, "exe");
    cut_out(name, "extra");
    cut_out(name, "datas");
    return used > 0;
}

/* What a column's name says. */
struct profile_column {
    int slot;     /* enum profile_slot */
    int mode;     /* enum profile_mode; -1: of every one */
    double scale; /* of its values */
};

/* False: the name is of no column that is looked for. */
static bool find_column(const char *field, struct profile_column *column)
{
    char name[64];
    bool bracket;
    struct column_name found;
    double scale = 1;
    if (!fold_name(field, name, sizeof name, &bracket))
        return false;
    bool is_found = !bracket && find_name(name, &found);
    if (is_found)
        scale = scale_without_unit(found.kind);
    else {
        const struct unit *unit = cut_unit(name, name + strlen(name));
        is_found = unit && find_name(name, &found) && take_unit(unit, &found, &scale);
    }
    if (!is_found)
        return false;
    *column = (struct profile_column){found.slot, found.mode, scale};
    return true;
}

/* ------------------------------------------------------------------ the head */

static bool has_column(const struct profile *profile, int slot)
{
    return profile->columns[slot] >= 0;
}

static bool has_any_column(const struct profile *profile, int from, int to)
{
    for (int slot = from; slot < to; slot++)
        if (has_column(profile, slot))
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
        if (!find_column(profile->csv.fields[c], &column) || has_column(profile, column.slot))
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

static void append_name(char list[PROFILE_MISSING_SIZE], const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, PROFILE_MISSING_SIZE - used, "%s%s", used ? ", " : "", name);
}

static void add_missing(struct profile *profile, bool needed, const char *name)
{
    append_name(profile->lacking, name);
    if (needed)
        append_name(profile->missing, name);
}

/* A unit's column of times, of ratios or of cycles; -1. */
static int slot_of_unit(const struct profile *profile, int place)
{
    static const int quantities[] = {SLOT_TIME, SLOT_RATIO, SLOT_UNIT_CYCLES};
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++)
        if (has_column(profile, quantities[q] + place))
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
    if (!has_column(profile, SLOT_CORE_TIME + cores->side))
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
    bool blocks = has_column(profile, SLOT_BLOCK);
    profile->missing[0] = profile->lacking[0] = 0;
    if (!blocks && !has_column(profile, SLOT_NAME))
        add_missing(profile, true, "Op Name or Name");
    if (!blocks && !has_column(profile, SLOT_DURATION))
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
    if (!has_column(profile, SLOT_BLOCK))
        return strncasecmp(profile->names[SLOT_NAME], "op", 2) ? "kernel_details" : "op_summary";
    while (mode < PROFILE_MODES && !(profile->modes >> mode & 1))
        mode++;
    return profile_mode_name(mode);
}

static enum status require_profile(struct profile *profile, struct error *error)
{
    bool timed = has_any_column(profile, SLOT_DURATION, SLOT_TIME);
    bool named = has_column(profile, SLOT_NAME) || has_column(profile, SLOT_TYPE) ||
                 has_column(profile, SLOT_BLOCK);
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
        known += find_column(field, &column);
        line += length + (line[length] == ',');
        if (line[0] == '\n' || line[0] == '\r')
            break;
    }
    return known >= 2;
}
