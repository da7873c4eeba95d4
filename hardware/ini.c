/* The text is cut in place, line by line, by writing zeros; sections and keys point into it. Names
 * are compared while underscores are passed over, by linear search: a file has some hundred
 * keys. */
#include "hardware/ini.h"

#include "core/utf8.h"
#include "hardware/config_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE_BYTES = 4096, MAX_SECTIONS = 64, MAX_ENTRIES = 1024, MAX_NAME_BYTES = 63 };

struct reader {
    struct ini *ini;
    const char *const *wanted;
    struct error *error;
    int line;
    bool in_section, keep; /* is there a section, and is it a wanted one */
};

static bool same_name(const char *a, const char *b)
{
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

static char *trim(char *text)
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

const struct ini_section *ini_find_section(const struct ini *ini, const char *name)
{
    for (size_t i = 0; i < ini->section_count; i++)
        if (same_name(ini->sections[i].name, name))
            return &ini->sections[i];
    return NULL;
}

static const struct ini_entry *find_in(const struct ini *ini, int section, const char *key)
{
    for (size_t i = 0; i < ini->entry_count; i++)
        if (ini->entries[i].section == section && same_name(ini->entries[i].key, key))
            return &ini->entries[i];
    return NULL;
}

const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key)
{
    const struct ini_section *found = ini_find_section(ini, section);
    return found ? find_in(ini, (int)(found - ini->sections), key) : NULL;
}

static bool is_wanted(const struct reader *reader, const char *section)
{
    for (size_t i = 0; reader->wanted[i]; i++)
        if (same_name(reader->wanted[i], section))
            return true;
    return false;
}

static enum status fault(const struct reader *reader, const char *what)
{
    return error_at(reader->error, reader->ini->file, reader->line, "%s", what);
}

static enum status read_section(struct reader *reader, char *text)
{
    struct ini *ini = reader->ini;
    char *end = strchr(text, ']');
    if (!end || end[1])
        return fault(reader, "a section without its end, expected [name] and nothing behind it");
    *end = '\0';
    const char *name = trim(text + 1);
    if (!good_name(name))
        return fault(reader, "expected the name of a section, 1 to 63 characters in [ ]");
    reader->in_section = true;
    reader->keep = is_wanted(reader, name);
    if (!reader->keep)
        return STATUS_OK;
    const struct ini_section *earlier = ini_find_section(ini, name);
    if (earlier)
        return error_at(reader->error, ini->file, reader->line,
                        "[%s]: given twice, expected once (line %d has it)", name, earlier->line);
    if (ini->section_count == MAX_SECTIONS)
        return fault(reader, "too many sections, expected at most 64");
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
    const char *key = trim(text), *value = trim(equals + 1);
    if (!good_name(key))
        return fault(reader, "expected a key of 1 to 63 characters before the =");
    if (!reader->in_section)
        return error_at(reader->error, ini->file, reader->line,
                        "%s: a key before the first section, expected [section]", key);
    if (!reader->keep)
        return STATUS_OK;
    int section = (int)ini->section_count - 1;
    const struct ini_entry *earlier = find_in(ini, section, key);
    if (earlier)
        return error_at(reader->error, ini->file, reader->line,
                        "%s: given twice, expected once (line %d has %s)", key, earlier->line,
                        earlier->key);
    if (ini->entry_count == MAX_ENTRIES)
        return fault(reader, "too many keys, expected at most 1024");
    ini->entries[ini->entry_count++] = (struct ini_entry){section, key, value, reader->line};
    return STATUS_OK;
}

static enum status read_line(struct reader *reader, char *line)
{
    if (strlen(line) > MAX_LINE_BYTES)
        return fault(reader, "a line of more than 4096 bytes, expected a shorter one");
    for (char *tab = line; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    char *text = trim(line);
    if (!*text || *text == '#' || *text == ';') /* a comment may be in any encoding */
        return STATUS_OK;
    if (!utf8_is_shown(text))
        return fault(reader, "a control character or malformed UTF-8, expected plain text");
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

enum status ini_read(const char *file, const char *const *wanted, struct ini *ini,
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

void ini_clear(struct ini *ini)
{
    free(ini->file);
    free(ini->text);
    free(ini->sections);
    free(ini->entries);
    memset(ini, 0, sizeof *ini);
}
