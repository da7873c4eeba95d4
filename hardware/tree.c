/* libconfig's own tree, with overrides hung on its settings as hooks. A dotted key is put together
 * on the way from the root, so a key is found by making that of every number: slow, but some
 * hundred numbers are looked at a few dozen times.
 *
 * libconfig gets some things wrong without a word, so a text is scanned first, with as much of the
 * grammar as is needed to find numbers: strings, comments and names are skipped. Files are opened
 * without blocking and must be regular, since a FIFO would hang the program. */
#include "hardware/tree.h"

#include "core/utf8.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the text ---- */

enum {
    TEXT_MAX_BYTES = 256 * 1024,
    TEXT_MAX_LINES = 65535, /* libconfig keeps line numbers in an unsigned short */
};

static enum status read_all(int fd, const char *file, size_t size, char **text, struct error *error)
{
    char *bytes = malloc(size + 1);
    if (!bytes)
        return error_memory(error);
    size_t length = 0;
    ssize_t got = 1;
    while (length < size && (got = read(fd, bytes + length, size - length)) > 0)
        length += (size_t)got;
    bytes[length] = '\0';
    *text = bytes;
    int reason = errno, line = 1;
    size_t mark = 0;
    enum status status = got >= 0 ? utf8_begin(file, bytes, length, &mark, error) : STATUS_OK;
    if (status != STATUS_OK) {
        free(bytes);
        *text = NULL;
        return status;
    }
    if (got >= 0 && strlen(bytes) == length) {
        memmove(bytes, bytes + mark, length - mark + 1);
        return STATUS_OK;
    }
    for (const char *at = bytes; *at; at++)
        line += *at == '\n';
    free(bytes);
    *text = NULL;
    if (got < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(reason));
    return error_at(error, file, line, "holds a byte of 0, expected text");
}

static enum status read_open(int fd, const char *file, char **text, struct error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, STATUS_IO, "%s: cannot be read, expected a regular file", file);
    if (info.st_size > TEXT_MAX_BYTES)
        return error_set(error, STATUS_TOO_LARGE, "%s: %lld bytes, expected at most %d", file,
                         (long long)info.st_size, TEXT_MAX_BYTES);
    return read_all(fd, file, (size_t)info.st_size, text, error);
}

enum status text_read(const char *file, char **text, struct error *error)
{
    *text = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", file, strerror(errno));
    enum status status = read_open(fd, file, text, error);
    close(fd);
    return status;
}

struct scan {
    const char *file;
    const char *at;
    int line;
    struct error *error;
};

static void advance(struct scan *scan, size_t count)
{
    for (; count > 0 && *scan->at; count--)
        scan->line += *scan->at++ == '\n';
}

/* Past the `end` of a string or comment; a backslash hides the next character. */
static bool skip_until(struct scan *scan, const char *end, bool escapes)
{
    size_t length = strlen(end);
    while (*scan->at && strncmp(scan->at, end, length) != 0)
        advance(scan, escapes && *scan->at == '\\' ? 2 : 1);
    bool found = *scan->at != '\0';
    advance(scan, length);
    return found;
}

static const struct span {
    const char *start, *end;
    bool escapes, may_end_the_file;
} spans[] = {
    {"#", "\n", false, true},
    {"//", "\n", false, true},
    {"/*", "*/", false, false},
    {"\"", "\"", true, false},
};

/* The string or comment that starts here, or NULL. */
static const struct span *span_at(const char *at)
{
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (strncmp(at, spans[i].start, strlen(spans[i].start)) == 0)
            return &spans[i];
    return NULL;
}

static enum status skip_span(struct scan *scan, const struct span *span)
{
    int line = scan->line;
    advance(scan, strlen(span->start));
    if (skip_until(scan, span->end, span->escapes) || span->may_end_the_file)
        return STATUS_OK;
    return error_at(scan->error, scan->file, line, "%s is never closed, expected %s", span->start,
                    span->end);
}

static void skip_name(struct scan *scan)
{
    while (isalnum((unsigned char)*scan->at) || (*scan->at && strchr("_-*", *scan->at)))
        scan->at++;
}

/* A whole number must fit the type that libconfig gives it: int, or int64 with the suffix L. */
static enum status check_whole_number(struct scan *scan)
{
    char *end;
    bool hex = scan->at[0] == '0' && (scan->at[1] == 'x' || scan->at[1] == 'X');
    errno = 0;
    long long value = strtoll(scan->at, &end, hex ? 16 : 10);
    const char *start = scan->at;
    scan->at = end;
    if (!hex && *end && strchr(".eE", *end)) {
        scan->at += strspn(end, ".0123456789eE+-");
        return STATUS_OK;
    }
    bool wide = *end == 'L';
    if (errno == 0 && (wide || value <= INT32_MAX))
        return STATUS_OK;
    return error_at(scan->error, scan->file, scan->line, "%.*s does not fit %d bits, expected %s",
                    (int)(end - start > 40 ? 40 : end - start), start, wide ? 64 : 32,
                    wide || errno ? "a smaller number" : "it with the suffix L");
}

static enum status check_line_start(const struct scan *scan)
{
    const char *at = scan->at + strspn(scan->at, " \t");
    if (strncmp(at, "@include", 8) == 0)
        return error_at(scan->error, scan->file, scan->line,
                        "@include, expected one whole file (a variant names its `base`)");
    if (scan->line > TEXT_MAX_LINES)
        return error_at(scan->error, scan->file, 0, "more than %d lines", TEXT_MAX_LINES);
    return STATUS_OK;
}

/* Refuses whole numbers that libconfig 1.5 would cut to 32 bits without a word, @include (which
 * ends the process when the file is a folder), strings without an end (it leaks them) and more
 * lines than it can count. */
static enum status text_check(const char *file, const char *text, struct error *error)
{
    struct scan scan = {file, text, 1, error};
    for (; *scan.at; advance(&scan, strcspn(scan.at, "\n") + 1))
        TRY(check_line_start(&scan));
    scan = (struct scan){file, text, 1, error};
    while (*scan.at) {
        const struct span *span = span_at(scan.at);
        if (span)
            TRY(skip_span(&scan, span));
        else if (isdigit((unsigned char)*scan.at))
            TRY(check_whole_number(&scan));
        else if (isalpha((unsigned char)*scan.at) || *scan.at == '*')
            skip_name(&scan);
        else if (*scan.at == '.') /* .5 is a float: no whole number starts behind the point */
            scan.at += strspn(scan.at, ".0123456789");
        else
            advance(&scan, 1);
    }
    return STATUS_OK;
}

void text_append(char *list, size_t size, const char *part)
{
    size_t length = strlen(list);
    if (length + strlen(part) + 3 <= size)
        sprintf(list + length, "%s%s", length ? ", " : "", part);
}

/* ---- the tree ---- */

/* The texts of a hook stand in its own memory, so that libconfig can free it by itself. */
static struct override *copy_override(const struct override *override)
{
    size_t file_size = strlen(override->file) + 1, source_size = strlen(override->source) + 1;
    struct override *copy = malloc(sizeof *copy + file_size + source_size);
    if (!copy)
        return NULL;
    char *texts = (char *)(copy + 1);
    *copy = *override;
    copy->file = memcpy(texts, override->file, file_size);
    copy->source = memcpy(texts + file_size, override->source, source_size);
    return copy;
}

/* libconfig goes on without what it has no memory for: the names of settings are missing then. */
static enum status read_config(struct tree *tree, const char *text, struct error *error)
{
    errno = 0;
    bool good = config_read_string(tree->config, text);
    if (errno == ENOMEM)
        return error_memory(error);
    return good ? STATUS_OK
                : error_at(error, tree->file, config_error_line(tree->config),
                           "%s, expected libconfig syntax", config_error_text(tree->config));
}

static enum status parse_text(struct tree *tree, const char *file, const char *text,
                              struct error *error)
{
    tree->config = calloc(1, sizeof *tree->config);
    tree->file = strdup(file);
    enum status status = STATUS_OK;
    if (tree->config)
        config_init(tree->config);
    if (!tree->config || !tree->file)
        status = error_memory(error);
    else
        status = read_config(tree, text, error);
    if (status != STATUS_OK)
        tree_clear(tree);
    else
        config_set_destructor(tree->config, free);
    return status;
}

enum status tree_read(const char *file, struct tree *tree, struct error *error)
{
    memset(tree, 0, sizeof *tree);
    char *text;
    enum status status = text_read(file, &text, error);
    assert(status != STATUS_OK || text);
    if (status == STATUS_OK)
        status = text_check(file, text, error);
    if (status == STATUS_OK)
        status = parse_text(tree, file, text, error);
    free(text);
    return status;
}

void tree_clear(struct tree *tree)
{
    if (tree->config)
        config_destroy(tree->config);
    free(tree->config);
    free(tree->file);
    memset(tree, 0, sizeof *tree);
}

bool tree_number(const config_setting_t *setting, struct number *number)
{
    const struct override *override = config_setting_get_hook(setting);
    int type = config_setting_type(setting);
    if (!config_setting_is_number(setting))
        return false;
    number->whole = type != CONFIG_TYPE_FLOAT;
    number->count = number->whole ? config_setting_get_int64(setting) : 0;
    number->real = number->whole ? (double)number->count : config_setting_get_float(setting);
    if (override)
        *number = override->number;
    return true;
}

const char *tree_source(const config_setting_t *number)
{
    const struct override *override = config_setting_get_hook(number);
    if (override)
        return override->source;
    const char *source = NULL;
    for (const config_setting_t *group = number; group && !source;
         group = config_setting_parent(group))
        if (config_setting_is_group(group))
            config_setting_lookup_string(group, "source", &source);
    return source ? source : "";
}

enum status tree_override(config_setting_t *number, const struct override *override,
                          struct error *error)
{
    struct override *copy = copy_override(override);
    if (!copy)
        return error_memory(error);
    free(config_setting_get_hook(number));
    config_setting_set_hook(number, copy);
    return STATUS_OK;
}

/* A whole number of a group as the file has it, bare or with a source of its own. */
static bool file_count(const config_setting_t *group, const char *key, long long *count)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (member && config_setting_is_group(member))
        member = config_setting_get_member(member, "value");
    if (!member || !config_setting_is_number(member) ||
        config_setting_type(member) == CONFIG_TYPE_FLOAT)
        return false;
    *count = config_setting_get_int64(member);
    return true;
}

const char *tree_label(const config_setting_t *element, char digits[TREE_VALUE_SIZE])
{
    static const char *const labels[] = {"name", "path", "cast", "type", "pipe"};
    const char *label = NULL;
    long long count;
    if (!config_setting_is_group(element))
        return NULL;
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !label; i++)
        config_setting_lookup_string(element, labels[i], &label);
    if (label || !file_count(element, "align_bytes", &count))
        return label;
    snprintf(digits, TREE_VALUE_SIZE, "%lld", count);
    return digits;
}

/* Appends one part to a key; what does not fit is cut, which only broken files can bring about. */
static void append_part(char key[TREE_KEY_SIZE], const char *part)
{
    size_t length = strlen(key);
    snprintf(key + length, TREE_KEY_SIZE - length, "%s%s", length ? "." : "", part);
}

static void append_setting(const config_setting_t *setting, char key[TREE_KEY_SIZE])
{
    const char *name = config_setting_name(setting);
    char position[16], digits[TREE_VALUE_SIZE];
    const char *label = name ? NULL : tree_label(setting, digits);
    snprintf(position, sizeof position, "%d", config_setting_index(setting) + 1);
    if (!name)
        append_part(key, label ? label : position);
    else if (strcmp(name, "value") != 0)
        append_part(key, name);
}

void tree_key(const config_setting_t *setting, char key[TREE_KEY_SIZE])
{
    const config_setting_t *parent = config_setting_parent(setting);
    key[0] = '\0';
    if (!parent)
        return;
    tree_key(parent, key);
    append_setting(setting, key);
}

static void number_value(const struct number *number, char value[TREE_VALUE_SIZE])
{
    if (number->whole) {
        snprintf(value, TREE_VALUE_SIZE, "%lld", (long long)number->count);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(value, TREE_VALUE_SIZE, "%.*g", digits, number->real);
        if (strtod(value, NULL) == number->real)
            return;
    }
}

static void string_value(const char *text, char value[TREE_VALUE_SIZE])
{
    size_t length = strlen(text), most = TREE_VALUE_SIZE - 8;
    bool cut = length > most;
    if (cut)
        length = utf8_start(text, most);
    if (utf8_is_shown(text))
        snprintf(value, TREE_VALUE_SIZE, "\"%.*s%s\"", (int)length, text, cut ? "..." : "");
    else
        strcpy(value, "a text with unprintable characters");
}

void tree_value(const config_setting_t *setting, char value[TREE_VALUE_SIZE])
{
    struct number number;
    int type = config_setting_type(setting);
    if (tree_number(setting, &number) && isfinite(number.real))
        number_value(&number, value);
    else if (config_setting_is_number(setting))
        strcpy(value, "a number beyond all bounds");
    else if (type == CONFIG_TYPE_STRING)
        string_value(config_setting_get_string(setting), value);
    else if (type == CONFIG_TYPE_BOOL)
        strcpy(value, config_setting_get_bool(setting) ? "true" : "false");
    else
        strcpy(value, type == CONFIG_TYPE_GROUP ? "a group" : "a list");
}

bool tree_each_number(config_setting_t *setting,
                      bool (*visit)(void *context, config_setting_t *number), void *context)
{
    if (config_setting_is_number(setting))
        return visit(context, setting);
    int count = config_setting_is_aggregate(setting) ? config_setting_length(setting) : 0;
    for (int i = 0; i < count; i++)
        if (!tree_each_number(config_setting_get_elem(setting, (unsigned)i), visit, context))
            return false;
    return true;
}

/* What is left of a dotted key behind this setting's part of it; NULL: it is another's. */
static const char *rest_behind(const config_setting_t *setting, const char *key)
{
    char part[TREE_KEY_SIZE] = "";
    append_setting(setting, part);
    size_t length = strlen(part);
    if (length == 0)
        return key;
    if (strncasecmp(key, part, length) != 0 || (key[length] == '.' && !key[length + 1]))
        return NULL;
    return key[length] == '.' ? key + length + 1 : key[length] ? NULL : key + length;
}

/* The first number, or the first aggregate, whose key below this setting it is. */
static config_setting_t *find_below(config_setting_t *setting, const char *key, bool number)
{
    bool aggregate = config_setting_is_aggregate(setting);
    if (!*key && (number ? config_setting_is_number(setting) : aggregate))
        return setting;
    config_setting_t *found = NULL;
    int count = aggregate ? config_setting_length(setting) : 0;
    for (int i = 0; i < count && !found; i++) {
        config_setting_t *element = config_setting_get_elem(setting, (unsigned)i);
        const char *rest = rest_behind(element, key);
        found = rest ? find_below(element, rest, number) : NULL;
    }
    return found;
}

config_setting_t *tree_find(const struct tree *tree, const char *key)
{
    return find_below(config_root_setting(tree->config), key, true);
}

config_setting_t *tree_find_group(const struct tree *tree, const char *key)
{
    return find_below(config_root_setting(tree->config), key, false);
}

static bool suggest_key(void *context, config_setting_t *number)
{
    char key[TREE_KEY_SIZE];
    tree_key(number, key);
    suggest_try(context, key);
    return true;
}

config_setting_t *tree_find_like(const struct tree *tree, const char *key, struct suggestion *like)
{
    config_setting_t *found = tree_find(tree, key);
    if (!found)
        tree_each_number(config_root_setting(tree->config), suggest_key, like);
    return found;
}

/* "key: TEXT" at the setting's place, or at the place of what overrides it. */
static enum status error_for(const struct tree *tree, const config_setting_t *setting,
                             const char *name, const char *text, struct error *error)
{
    const struct override *override = config_setting_get_hook(setting);
    char key[TREE_KEY_SIZE];
    tree_key(setting, key);
    if (name)
        append_part(key, name);
    return error_at(error, override ? override->file : tree->file,
                    override ? override->line : (int)config_setting_source_line(setting), "%s: %s",
                    key, text);
}

enum status tree_expected(const struct tree *tree, const config_setting_t *setting,
                          struct error *error, const char *format, ...)
{
    char value[TREE_VALUE_SIZE], expected[256], text[TREE_VALUE_SIZE + 280];
    va_list list;
    va_start(list, format);
    vsnprintf(expected, sizeof expected, format, list);
    va_end(list);
    tree_value(setting, value);
    snprintf(text, sizeof text, "%s, expected %s", value, expected);
    return error_for(tree, setting, NULL, text, error);
}

enum status tree_error(const struct tree *tree, const config_setting_t *setting, const char *name,
                       struct error *error, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return error_for(tree, setting, name, text, error);
}
