/* The shipped description is read first, then changed: the clock, which all numbers in cycles
 * follow, then the rows of a table, the bus, the shapes of the matrix unit, the name. Each change
 * is an override whose source tells the key and line it came from.
 *
 * The table says section, keys in order of preference, unit, target, and for which kinds of chips.
 * Keys are those of CANN's files in data/platform_config; rates there are bytes a cycle, and stay
 * that within a core; what global memory delivers does not follow a core's clock, and is the GB/s
 * that it is at the file's.
 *
 * An INI file's line is blank, a comment (its first character is # or ;), a [section], or
 * key=value; blanks around each part and a carriage return at the end do not count, nor does a byte
 * order mark. Values are whole lines, without quotes, escapes and comments, and may be empty. Names
 * are compared without regard to case and underscores, since old files write cubeFreq for
 * cube_freq. The text is cut in place by writing zeros; sections and keys point into it, and are
 * searched linearly: a file has some hundred keys. */
#include "hardware/platform.h"

#include "core/hardware.h"
#include "core/utf8.h"
#include "hardware/load.h"
#include "hardware/schema.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the INI file ---- */

struct ini_section {
    const char *name;
    int line;
};

struct ini_entry {
    int section; /* index */
    const char *key, *value;
    int line;
};

struct ini {
    char *file, *text;            /* owned; what follows points into the text */
    struct ini_section *sections; /* owned */
    struct ini_entry *entries;    /* owned; in file order */
    size_t section_count, entry_count;
    int last_line;
};

enum { MAX_LINE_BYTES = 4096, MAX_SECTIONS = 64, MAX_ENTRIES = 1024, MAX_NAME_BYTES = 63 };

struct reader {
    struct ini *ini;
    const char *const *wanted;
    struct error *error;
    int line;
    bool in_section, keep; /* is there a section, and is it a wanted one */
};

static bool is_same_name(const char *a, const char *b)
{
    assert(a && b);
    for (;; a++, b++) {
        while (*a == '_')
            a++;
        while (*b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

static char *trim_blanks(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static bool good_name(const char *name)
{
    size_t length = strlen(name);
    return length >= 1 && length <= MAX_NAME_BYTES;
}

static const struct ini_section *ini_find_section(const struct ini *ini, const char *name)
{
    for (size_t i = 0; i < ini->section_count; i++)
        if (is_same_name(ini->sections[i].name, name))
            return &ini->sections[i];
    return NULL;
}

static const struct ini_entry *find_in_section(const struct ini *ini, int section, const char *key)
{
    for (size_t i = 0; i < ini->entry_count; i++)
        if (ini->entries[i].section == section && is_same_name(ini->entries[i].key, key))
            return &ini->entries[i];
    return NULL;
}

static const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key)
{
    const struct ini_section *found = ini_find_section(ini, section);
    return found ? find_in_section(ini, (int)(found - ini->sections), key) : NULL;
}

static bool is_wanted(const struct reader *reader, const char *section)
{
    for (size_t i = 0; reader->wanted[i]; i++)
        if (is_same_name(reader->wanted[i], section))
            return true;
    return false;
}

static enum status fault_at_line(const struct reader *reader, const char *what)
{
    return error_at(reader->error, reader->ini->file, reader->line, "%s", what);
}

static enum status read_section(struct reader *reader, char *text)
{
    struct ini *ini = reader->ini;
    char *end = strchr(text, ']');
    if (!end || end[1])
        return fault_at_line(reader,
                             "a section without its end, expected [name] and nothing behind it");
    *end = '\0';
    const char *name = trim_blanks(text + 1);
    if (!good_name(name))
        return fault_at_line(reader, "expected the name of a section, 1 to 63 characters in [ ]");
    reader->in_section = true;
    reader->keep = is_wanted(reader, name);
    if (!reader->keep)
        return STATUS_OK;
    const struct ini_section *earlier = ini_find_section(ini, name);
    if (earlier)
        return error_at(reader->error, ini->file, reader->line,
                        "[%s]: given twice, expected once (line %d has it)", name, earlier->line);
    if (ini->section_count == MAX_SECTIONS)
        return fault_at_line(reader, "too many sections, expected at most 64");
    ini->sections[ini->section_count++] = (struct ini_section){name, reader->line};
    return STATUS_OK;
}

static enum status read_entry(struct reader *reader, char *text)
{
    struct ini *ini = reader->ini;
    char *equals = strchr(text, '=');
    if (!equals)
        return error_at(reader->error, ini->file, reader->line,
                        "\"%.60s\", expected [section], key=value or a comment", text);
    *equals = '\0';
    const char *key = trim_blanks(text), *value = trim_blanks(equals + 1);
    if (!good_name(key))
        return fault_at_line(reader, "expected a key of 1 to 63 characters before the =");
    if (!reader->in_section)
        return error_at(reader->error, ini->file, reader->line,
                        "%s: a key before the first section, expected [section]", key);
    if (!reader->keep)
        return STATUS_OK;
    int section = (int)ini->section_count - 1;
    const struct ini_entry *earlier = find_in_section(ini, section, key);
    if (earlier)
        return error_at(reader->error, ini->file, reader->line,
                        "%s: given twice, expected once (line %d has %s)", key, earlier->line,
                        earlier->key);
    if (ini->entry_count == MAX_ENTRIES)
        return fault_at_line(reader, "too many keys, expected at most 1024");
    ini->entries[ini->entry_count++] = (struct ini_entry){section, key, value, reader->line};
    return STATUS_OK;
}

static enum status read_line(struct reader *reader, char *line)
{
    if (strlen(line) > MAX_LINE_BYTES)
        return fault_at_line(reader, "a line of more than 4096 bytes, expected a shorter one");
    for (char *tab = line; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    char *text = trim_blanks(line);
    if (!*text || *text == '#' || *text == ';') /* a comment may be in any encoding */
        return STATUS_OK;
    if (!utf8_is_shown(text))
        return fault_at_line(reader, "a control character or malformed UTF-8, expected plain text");
    return *text == '[' ? read_section(reader, text) : read_entry(reader, text);
}

static enum status read_lines(struct reader *reader)
{
    char *next = reader->ini->text;
    while (next && *next) {
        char *line = strsep(&next, "\n");
        reader->line++;
        TRY(read_line(reader, line));
    }
    reader->ini->last_line = reader->line;
    return STATUS_OK;
}

static void ini_clear(struct ini *ini)
{
    free(ini->file);
    free(ini->text);
    free(ini->sections);
    free(ini->entries);
    memset(ini, 0, sizeof *ini);
}

/* *ini is zero after a failure. Only sections whose names are in `wanted` (ends with NULL) are
 * kept; in them no name may occur twice. */
static enum status ini_read(const char *file, const char *const *wanted, struct ini *ini,
                            struct error *error)
{
    struct reader reader = {.ini = ini, .wanted = wanted, .error = error};
    memset(ini, 0, sizeof *ini);
    enum status status = text_read(file, &ini->text, error);
    if (status != STATUS_OK)
        return status;
    ini->file = strdup(file);
    ini->sections = calloc(MAX_SECTIONS, sizeof *ini->sections);
    ini->entries = calloc(MAX_ENTRIES, sizeof *ini->entries);
    status = ini->file && ini->sections && ini->entries ? read_lines(&reader) : error_memory(error);
    if (status != STATUS_OK)
        ini_clear(ini);
    return status;
}

/* ---- which key of the file sets which number of the description ---- */

enum {
    ROW_UNIFIED = 1, /* cores with a matrix and a vector unit */
    ROW_SPLIT = 2,   /* cube cores and vector cores */
    ROW_CACHE = 4,   /* L2 is a cache: traffic with global memory goes at its rate */
    ROW_BUFFER = 8,  /* L2 is not between the cores and global memory */
    ROW_KEYS = 4,
};

struct row_unit {
    const char *name;
    double low, high; /* inclusive */
    bool whole, fraction;
    const char *source; /* how the description's number follows from the file's */
};

struct row {
    unsigned kinds; /* the row counts where all bits of the file's kind are in it */
    bool required;
    const char *section;
    const char *keys[ROW_KEYS]; /* the first that has a value counts */
    const struct row_unit *unit;
    const char *target; /* dotted key */
};

#define ALL     (ROW_UNIFIED | ROW_SPLIT | ROW_CACHE | ROW_BUFFER)
#define UNIFIED (ROW_UNIFIED | ROW_CACHE | ROW_BUFFER)
#define SPLIT   (ROW_SPLIT | ROW_CACHE | ROW_BUFFER)
#define CACHE   (ROW_UNIFIED | ROW_SPLIT | ROW_CACHE)
#define BUFFER  (ROW_UNIFIED | ROW_SPLIT | ROW_BUFFER)

/* Ranges of sizes, counts and the clock are those of their targets in schema.c. */
static const struct row_unit in_cores = {"cores", 1, 4096, true, false, "published in"};
static const struct row_unit in_bytes = {"bytes", 1, 1099511627776.0, true, false, "published in"};
static const struct row_unit in_mhz = {"MHz", 1, 1e5, false, false, "published in"};
static const struct row_unit in_elements = {
    "elements of f16", 2, 32768, true, false, "derived, 2 bytes an element, from"};
static const struct row_unit per_cycle = {
    "bytes a cycle", 1e-3, 1e5, false, true, "derived, bytes a cycle times the clock, from"};
static const struct row_unit in_cycles = {"bytes a cycle", 1e-3, 1e5, false, true, "published in"};

static const struct row platform_clock = {ALL,           true,    "AICoreSpec",
                                          {"cube_freq"}, &in_mhz, "clock_mhz"};

#define SIZE(key, buffer)                                                                          \
    {                                                                                              \
        ALL, false, "AICoreSpec", {key}, &in_bytes, "buffers." buffer ".capacity_bytes"            \
    }
#define LOAD(kinds, path, ...)                                                                     \
    {                                                                                              \
        kinds, false, "AICoreMemoryRates", {__VA_ARGS__}, &per_cycle,                              \
            "paths." path ".bandwidth_gbps"                                                        \
    }
#define RATE(kinds, path, ...)                                                                     \
    {                                                                                              \
        kinds, false, "AICoreMemoryRates", {__VA_ARGS__}, &in_cycles,                              \
            "paths." path ".bytes_per_cycle"                                                       \
    }
#define DRAIN(kinds, ...)                                                                          \
    RATE(kinds, "l0c->gm", __VA_ARGS__), RATE(kinds, "l0c->gm.casts.f32:f16", __VA_ARGS__),        \
        RATE(kinds, "l0c->gm.casts.f32:bf16", __VA_ARGS__),                                        \
        RATE(kinds, "l0c->gm.casts.i32:f16", __VA_ARGS__),                                         \
        RATE(kinds, "l0c->gm.casts.f32:i8", __VA_ARGS__),                                          \
        RATE(kinds, "l0c->gm.casts.i32:i8", __VA_ARGS__)
#define READS_L2  "l2_read_rate", "l2_rate", "ddr_read_rate", "ddr_rate"
#define READS_DDR "ddr_read_rate", "ddr_rate", "l2_read_rate", "l2_rate"

static const struct row platform_rows[] = {
    {UNIFIED, true, "SoCInfo", {"ai_core_cnt"}, &in_cores, "cores"},
    {SPLIT, true, "SoCInfo", {"cube_core_cnt", "ai_core_cnt"}, &in_cores, "cores"},
    {ALL, false, "AICoreSpec", {"vec_calc_size"}, &in_elements, "vector_repeat_bytes"},
    SIZE("l1_size", "l1"),
    SIZE("l0_a_size", "l0a"),
    SIZE("l0_b_size", "l0b"),
    SIZE("l0_c_size", "l0c"),
    SIZE("ub_size", "ub"),
    {ALL, false, "AICoreSpec", {"ubblock_size"}, &in_bytes, "buffers.ub.alignment_bytes"},
    LOAD(CACHE, "gm->l1", READS_L2),
    LOAD(CACHE, "gm->l0a", READS_L2),
    LOAD(CACHE, "gm->l0b", READS_L2),
    LOAD(CACHE, "gm->ub", READS_L2),
    LOAD(BUFFER, "gm->l1", READS_DDR),
    LOAD(BUFFER, "gm->l0a", READS_DDR),
    LOAD(BUFFER, "gm->l0b", READS_DDR),
    LOAD(BUFFER, "gm->ub", READS_DDR),
    RATE(CACHE, "ub->gm", "ub_to_l2_rate", "l2_write_rate", "l2_rate"),
    RATE(BUFFER, "ub->gm", "ub_to_ddr_rate", "ddr_write_rate", "ddr_rate"),
    RATE(ALL, "l1->l0a", "l1_to_l0_a_rate"),
    RATE(ALL, "l1->l0b", "l1_to_l0_b_rate"),
    RATE(UNIFIED, "l0c->ub", "l0_c_to_ub_rate"),
    RATE(UNIFIED, "l0c->ub.casts.f32:f16", "l0_c_to_ub_rate"),
    RATE(UNIFIED, "ub->l1", "ub_to_l1_rate"),
    RATE(UNIFIED, "l1->ub", "l1_to_ub_rate"),
    DRAIN(ROW_SPLIT | ROW_CACHE, "l2_write_rate", "l2_rate", "ddr_write_rate"),
    DRAIN(ROW_SPLIT | ROW_BUFFER, "ddr_write_rate", "ddr_rate", "l2_write_rate"),
};
static const size_t platform_row_count = sizeof platform_rows / sizeof *platform_rows;

/* ---- values of the file as numbers of the description ---- */

enum { SOURCE_SIZE = 400, SHOWN = 40 /* bytes of a value in a message */ };

struct platform {
    const struct ini *ini;
    struct tree *tree;
    unsigned kind;    /* one of ROW_UNIFIED and ROW_SPLIT, one of ROW_CACHE and ROW_BUFFER */
    double clock_mhz; /* the file's */
    struct error *error;
};

/* "value of KEY, expected …" at the entry's place. */
static enum status entry_error(const struct ini *ini, const struct ini_entry *entry,
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
static bool read_value(const char *text, const struct row_unit *unit, double *value)
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

static enum status read_entry_value(const struct platform *p, const struct ini_entry *entry,
                                    const struct row_unit *unit, double *value)
{
    char text[128];
    if (read_value(entry->value, unit, value))
        return STATUS_OK;
    snprintf(text, sizeof text, "a %snumber from %.15g to %.15g %s%s", unit->whole ? "whole " : "",
             unit->low, unit->high, unit->name,
             unit->fraction ? ", or a fraction such as 3/2" : "");
    return entry_error(p->ini, entry, text, p->error);
}

/* The first of a row's keys that has a value; else the first that is there at all, or NULL. */
static const struct ini_entry *find_entry(const struct ini *ini, const char *section,
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

static enum status set_number(const struct platform *p, config_setting_t *setting,
                              struct number number, int line, const char *source)
{
    const struct override override = {number, p->ini->file, line, source};
    return tree_override(setting, &override, p->error);
}

/* To a byte per second or a femtosecond, the finest that the description can hold. */
static struct number rounded_number(double value, double per_unit)
{
    return (struct number){false, 0, round(value * per_unit) / per_unit};
}

static struct number whole_number(double value)
{
    return (struct number){true, (int64_t)value, value};
}

static struct number converted(const struct platform *p, const struct row_unit *unit, double value)
{
    if (unit == &in_elements)
        return whole_number(2 * value);
    if (unit == &per_cycle)
        return rounded_number(value * p->clock_mhz / 1e3, 1e9);
    if (unit == &in_mhz)
        return rounded_number(value, 1e6);
    return unit->whole ? whole_number(value) : (struct number){false, 0, value};
}

/* The row's number with the source, in the spelling of the row's target. */
static enum status set_target(const struct platform *p, const struct row *row,
                              config_setting_t *setting, struct number number, int line,
                              const char *source)
{
    if (!tree_find(p->tree, row->target) && !twin_respell(setting))
        return error_memory(p->error);
    return set_number(p, setting, number, line, source);
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

static enum status apply_row(const struct platform *p, const struct row *row)
{
    char source[SOURCE_SIZE];
    double value = 0;
    config_setting_t *setting = twin_find(p->tree, row->target);
    const struct ini_entry *entry = find_entry(p->ini, row->section, row->keys);
    if (!setting)
        return error_at(p->error, p->tree->file, 0, "has no %s", row->target);
    if (!entry || !*entry->value)
        return keep_default(p, row, entry, setting);
    TRY(read_entry_value(p, entry, row->unit, &value));
    snprintf(source, sizeof source, "%s the platform file: %s=%.*s (line %d)", row->unit->source,
             entry->key, SHOWN, entry->value, entry->line);
    return set_target(p, row, setting, converted(p, row->unit, value), entry->line, source);
}

/* ---- the clock ---- */

static enum status apply_clock(struct platform *p)
{
    struct number clock = {false, 0, 0};
    TRY(apply_row(p, &platform_clock));
    tree_number(tree_find(p->tree, platform_clock.target), &clock);
    p->clock_mhz = clock.real;
    return STATUS_OK;
}

/* ---- the bus ---- */

/* One transfer gets what its path moves. Behind a cache each core has its own way in: n transfers,
 * up to one a core, move n times what one does. A rate of the DDR is that of the whole chip (Ascend
 * 310: 67 bytes a cycle are 45.6 GB/s, and all transfers together got 42). */
static enum status set_bus(const struct platform *p)
{
    char source[SOURCE_SIZE];
    struct number one, cores;
    const config_setting_t *path = tree_find(p->tree, "paths.gm->l1.bandwidth_gbps");
    config_setting_t *first = tree_find(p->tree, "buses.l2.total_gbps.1");
    const struct override *override = config_setting_get_hook(path);
    int line = override ? override->line : 0;
    tree_number(path, &one);
    tree_number(tree_find(p->tree, "cores"), &cores);
    TRY(set_number(p, first, one, line, tree_source(path)));
    if (!(p->kind & ROW_CACHE))
        return STATUS_OK;
    snprintf(source, sizeof source, "%.340s, for each core", tree_source(first));
    for (int n = 2; n <= cores.count && n <= HARDWARE_MAX_SHARERS; n++) {
        config_setting_t *total =
            config_setting_set_float_elem(config_setting_parent(first), -1, n * one.real);
        TRY(total ? set_number(p, total, rounded_number(n * one.real, 1e9), line, source)
                  : error_memory(p->error));
    }
    return STATUS_OK;
}

/* ---- the matrix unit ---- */

struct block {
    double m, k, n;
    int line;
    char source[SOURCE_SIZE];
};

static const char *without_blanks(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
    return text;
}

/* "16,32,16": m, k, n. */
static enum status read_block(const struct platform *p, const struct ini_entry *entry,
                              struct block *block)
{
    static const struct row_unit elements = {"elements", 1, 4096, true, false, ""};
    double *const sizes[] = {&block->m, &block->k, &block->n};
    char copy[64];
    bool good = strlen(entry->value) < sizeof copy;
    snprintf(copy, sizeof copy, "%s", entry->value);
    char *rest = copy;
    for (size_t i = 0; i < 3 && good; i++) {
        char *part = strsep(&rest, ",");
        good = part && read_value(without_blanks(part), &elements, sizes[i]);
    }
    if (!good || rest)
        return entry_error(p->ini, entry, "m,k,n: three whole numbers from 1 to 4096", p->error);
    block->line = entry->line;
    snprintf(block->source, sizeof block->source, "the platform file: %s=%.*s (line %d)",
             entry->key, SHOWN, entry->value, entry->line);
    return STATUS_OK;
}

static enum status set_block(const struct platform *p, const char *type, const struct block *block)
{
    char key[64], source[SOURCE_SIZE + 64];
    double flop = 2 * block->m * block->k * block->n;
    const struct {
        const char *name, *how;
        struct number number;
    } members[] = {
        {"block_m", "published in", whole_number(block->m)},
        {"block_k", "published in", whole_number(block->k)},
        {"block_n", "published in", whole_number(block->n)},
        {"block_flop", "derived, 2*m*k*n, from", whole_number(flop)},
        {"block_cycles", "derived, one block a cycle, from", whole_number(1)},
    };
    size_t count = sizeof members / sizeof *members;
    if (strcmp(type, dtype_name(DTYPE_F32)) == 0) /* it has cycles of its own */
        count--;
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "matrix.%s.%s", type, members[i].name);
        snprintf(source, sizeof source, "%s %s", members[i].how, block->source);
        config_setting_t *setting = tree_find(p->tree, key);
        if (setting)
            TRY(set_number(p, setting, members[i].number, block->line, source));
    }
    return STATUS_OK;
}

/* Files without [DtypeMKN] have the shape for f16 and bf16 as three keys. */
static enum status read_cube_sizes(const struct platform *p, struct block *block)
{
    static const struct row_unit elements = {"elements", 1, 4096, true, false, ""};
    const struct ini_entry *m = ini_find(p->ini, "AICoreSpec", "cube_m_size");
    const struct ini_entry *k = ini_find(p->ini, "AICoreSpec", "cube_k_size");
    const struct ini_entry *n = ini_find(p->ini, "AICoreSpec", "cube_n_size");
    if (!m || !k || !n || !*m->value || !*k->value || !*n->value)
        return STATUS_OK;
    block->line = m->line;
    snprintf(block->source, sizeof block->source,
             "the platform file: cube_m_size, cube_k_size, cube_n_size (lines %d, %d, %d)", m->line,
             k->line, n->line);
    TRY(read_entry_value(p, m, &elements, &block->m));
    TRY(read_entry_value(p, k, &elements, &block->k));
    return read_entry_value(p, n, &elements, &block->n);
}

/* Of a type that the description below has a price for. */
static enum status apply_block(const struct platform *p, enum dtype type)
{
    char name[32];
    bool usual = type == DTYPE_F16 || type == DTYPE_BF16;
    const char *keys[ROW_KEYS] = {name, usual ? "Default" : NULL};
    struct block block = {.line = 0};
    enum status status = STATUS_OK;
    snprintf(name, sizeof name, "matrix.%s.block_m", dtype_name(type));
    if (!tree_find(p->tree, name))
        return STATUS_OK;
    snprintf(name, sizeof name, "DT_%s", dtype_ge_name(type));
    const struct ini_entry *entry = find_entry(p->ini, "DtypeMKN", keys);
    if (entry && *entry->value)
        status = read_block(p, entry, &block);
    else if (usual)
        status = read_cube_sizes(p, &block);
    return status == STATUS_OK && block.line ? set_block(p, dtype_name(type), &block) : status;
}

static enum status apply_blocks(const struct platform *p)
{
    for (int type = 0; type < DTYPE_COUNT; type++)
        TRY(apply_block(p, (enum dtype)type));
    return STATUS_OK;
}

/* ---- what kind of chip ---- */

/* `split` alone is split: fuse,split means that the cores can also work apart. */
static enum status find_kind(const struct ini *ini, unsigned *kind, struct error *error)
{
    const struct ini_entry *combine = ini_find(ini, "SoCInfo", "cube_vector_combine");
    const struct ini_entry *cache = ini_find(ini, "SoCInfo", "l2_type");
    bool split = combine && strcasecmp(combine->value, "split") == 0;
    bool buffer = cache && strcmp(cache->value, "1") == 0;
    *kind = (split ? ROW_SPLIT : ROW_UNIFIED) | (buffer ? ROW_BUFFER : ROW_CACHE);
    if (combine && !split && *combine->value && !strcasestr(combine->value, "fuse"))
        return entry_error(ini, combine, "split, or a list with fuse", error);
    if (cache && !buffer && *cache->value && strcmp(cache->value, "0") != 0)
        return entry_error(ini, cache, "0 for a cache or 1 for a buffer", error);
    return STATUS_OK;
}

static enum status check_sections(const struct ini *ini, struct error *error)
{
    static const char *const needed[] = {"SoCInfo", "AICoreSpec", "AICoreMemoryRates"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!ini_find_section(ini, needed[i]))
            return error_at(error, ini->file, ini->last_line > 0 ? ini->last_line : 1,
                            "ends without [%s], expected a whole CANN platform description",
                            needed[i]);
    return STATUS_OK;
}

static void file_name(const char *file, char *name, size_t size)
{
    const char *slash = strrchr(file, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : file);
    char *point = strrchr(name, '.');
    if (point && point > name)
        *point = '\0';
    if (!utf8_is_shown(name))
        snprintf(name, size, "unnamed");
}

static enum status apply_name(const struct platform *p)
{
    const struct ini_entry *entry = ini_find(p->ini, "version", "SoC_version");
    char name[64];
    if (entry && strlen(entry->value) >= sizeof name)
        return entry_error(p->ini, entry, "a name of at most 63 bytes", p->error);
    file_name(p->ini->file, name, sizeof name);
    if (entry && *entry->value)
        snprintf(name, sizeof name, "%s", entry->value);
    config_setting_t *root = config_root_setting(p->tree->config);
    config_setting_t *member = config_setting_get_member(root, "name");
    return config_setting_set_string(member, name) ? STATUS_OK : error_memory(p->error);
}

/* ---- all of it ---- */

static enum status file_below(bool split, char file[PATH_MAX], struct error *error)
{
    char folder[PATH_MAX - 32];
    TRY(hardware_folder(folder, sizeof folder, error));
    snprintf(file, PATH_MAX, "%s/platform/%s.cfg", folder, split ? "split" : "unified");
    return STATUS_OK;
}

void platform_each_below(void (*visit)(void *context, const char *file), void *context)
{
    char file[PATH_MAX];
    for (int split = 0; split < 2; split++)
        if (file_below(split, file, NULL) == STATUS_OK)
            visit(context, file);
}

static enum status read_below(unsigned kind, struct tree *tree, struct error *error)
{
    char file[PATH_MAX];
    TRY(file_below(kind & ROW_SPLIT, file, error));
    TRY(tree_read(file, tree, error));
    enum status status = schema_check_description(tree, error);
    if (status != STATUS_OK)
        tree_clear(tree);
    return status;
}

static enum status apply_all(struct platform *p)
{
    TRY(apply_clock(p));
    for (size_t i = 0; i < platform_row_count; i++)
        if ((platform_rows[i].kinds & p->kind) == p->kind)
            TRY(apply_row(p, &platform_rows[i]));
    TRY(set_bus(p));
    TRY(apply_blocks(p));
    return apply_name(p);
}

/* From here on messages speak of the platform file. */
static enum status rename_tree(struct tree *tree, const char *file, struct error *error)
{
    char *copy = strdup(file);
    if (!copy)
        return error_memory(error);
    free(tree->file);
    tree->file = copy;
    return STATUS_OK;
}

static enum status read_over(const struct ini *ini, struct tree *tree, struct error *error)
{
    struct platform platform = {.ini = ini, .tree = tree, .error = error};
    TRY(check_sections(ini, error));
    TRY(find_kind(ini, &platform.kind, error));
    TRY(read_below(platform.kind, tree, error));
    enum status status = apply_all(&platform);
    if (status == STATUS_OK)
        status = rename_tree(tree, ini->file, error);
    if (status != STATUS_OK)
        tree_clear(tree);
    return status;
}

static const char *const sections[] = {"version",           "SoCInfo",  "AICoreSpec",
                                       "AICoreMemoryRates", "DtypeMKN", NULL};

enum status platform_read(const char *file, struct tree *tree, struct error *error)
{
    struct ini ini;
    memset(tree, 0, sizeof *tree);
    enum status status = ini_read(file, sections, &ini, error);
    if (status != STATUS_OK)
        return status;
    status = read_over(&ini, tree, error);
    ini_clear(&ini);
    return status;
}
