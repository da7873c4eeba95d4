/* The shipped description is read first, then changed: the clock, which all
 * numbers in cycles follow, then the rows of the table (platform_rows.c), the bus, the shapes of
 * the matrix unit, the name. Each change is an override whose source tells the key and line it came
 * from. */
#include "hardware/platform.h"

#include "core/hardware.h"
#include "core/utf8.h"
#include "hardware/config_text.h"
#include "hardware/ini.h"
#include "hardware/load.h"
#include "hardware/platform_parts.h"
#include "hardware/schema.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const sections[] = {"version",           "SoCInfo",  "AICoreSpec",
                                       "AICoreMemoryRates", "DtypeMKN", NULL};

/* ---- the clock ---- */

static enum status apply_clock(struct platform *p)
{
    struct number clock = {false, 0, 0};
    TRY(platform_apply_row(p, &platform_clock));
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
    TRY(platform_set(p, first, one, line, tree_source(path)));
    if (!(p->kind & ROW_CACHE))
        return STATUS_OK;
    snprintf(source, sizeof source, "%.340s, for each core", tree_source(first));
    for (int n = 2; n <= cores.count && n <= HARDWARE_MAX_SHARERS; n++) {
        config_setting_t *total =
            config_setting_set_float_elem(config_setting_parent(first), -1, n * one.real);
        TRY(total ? platform_set(p, total, platform_rounded(n * one.real, 1e9), line, source)
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
        good = part && platform_value(without_blanks(part), &elements, sizes[i]);
    }
    if (!good || rest)
        return platform_expected(p->ini, entry, "m,k,n: three whole numbers from 1 to 4096",
                                 p->error);
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
        {"block_m", "published in", platform_count(block->m)},
        {"block_k", "published in", platform_count(block->k)},
        {"block_n", "published in", platform_count(block->n)},
        {"block_flop", "derived, 2*m*k*n, from", platform_count(flop)},
        {"block_cycles", "derived, one block a cycle, from", platform_count(1)},
    };
    size_t count = sizeof members / sizeof *members;
    if (strcmp(type, dtype_name(DTYPE_F32)) == 0) /* it has cycles of its own */
        count--;
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "matrix.%s.%s", type, members[i].name);
        snprintf(source, sizeof source, "%s %s", members[i].how, block->source);
        config_setting_t *setting = tree_find(p->tree, key);
        if (setting)
            TRY(platform_set(p, setting, members[i].number, block->line, source));
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
    TRY(platform_read_entry(p, m, &elements, &block->m));
    TRY(platform_read_entry(p, k, &elements, &block->k));
    return platform_read_entry(p, n, &elements, &block->n);
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
    const struct ini_entry *entry = platform_entry(p->ini, "DtypeMKN", keys);
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
        return platform_expected(ini, combine, "split, or a list with fuse", error);
    if (cache && !buffer && *cache->value && strcmp(cache->value, "0") != 0)
        return platform_expected(ini, cache, "0 for a cache or 1 for a buffer", error);
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
        return platform_expected(p->ini, entry, "a name of at most 63 bytes", p->error);
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
            TRY(platform_apply_row(p, &platform_rows[i]));
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
