/* A name is compared with a folder's entries, without case and blanks, folder after folder until
 * one has it; the user's folder is that of the XDG Base Directory Specification. What lists the
 * names asks the same look-up about each file, and shows those that are found.
 *
 * A variant is read from the top down and applied from the bottom up: its base first, recursively,
 * then its changes, then those of --set-hw, each as an override on a number of the one tree. The
 * chain of files being read, kept on the stack, shows a base that leads back to itself.
 *
 * The key of a change is looked for among the dotted keys of all numbers, and the walk collects the
 * nearest as a suggestion on its way. The number hangs on the setting as a hook; the file's own
 * value stays. One that the file gives in the other spelling (twins of schema.h) becomes what the
 * change says: ns stay ns, cycles follow the clock. */
#include "hardware/load.h"

#include "core/suggest.h"
#include "hardware/description.h"
#include "hardware/platform.h"
#include "hardware/schema.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- from a name to a file ---- */

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The path of our own executable's folder, without the last '/'; "" when the system hides it. */
static void executable_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

enum status hardware_folder(char *folder, size_t size, struct error *error)
{
    static const char *const places[] = {"/../configs", "/../share/autotune/configs"};
    const char *set = getenv("AUTOTUNE_CONFIGS");
    if (set && *set) {
        if (is_folder(set) && snprintf(folder, size, "%s", set) < (int)size)
            return STATUS_OK;
        return error_set(error, STATUS_IO, "AUTOTUNE_CONFIGS: %s, expected a folder", set);
    }
    char own[PATH_MAX], place[PATH_MAX + sizeof "/../share/autotune/configs"], real[PATH_MAX];
    executable_folder(own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(place, sizeof place, "%s%s", own, places[i]);
        if (is_folder(place) && realpath(place, real) &&
            snprintf(folder, size, "%s", real) < (int)size)
            return STATUS_OK;
    }
    return error_set(error, STATUS_IO,
                     "no folder of hardware descriptions beside %s, expected AUTOTUNE_CONFIGS to "
                     "name it",
                     own);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ending) == 0;
}

bool find_is_platform(const char *file)
{
    return ends_in(file, ".ini");
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".cfg") == 0;
}

static int is_platform(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && find_is_platform(entry->d_name);
}

/* Its length without ".cfg" or ".ini". */
static int base_length(const struct dirent *entry)
{
    return (int)strlen(entry->d_name) - 4;
}

/* Not alphasort: the locale must not matter. */
static int compare_bytes(const void *a, const void *b)
{
    const struct dirent *const *first = a, *const *second = b;
    int one = base_length(*first), other = base_length(*second);
    int order = strncmp((*first)->d_name, (*second)->d_name, (size_t)(one < other ? one : other));
    return order ? order : one - other;
}

struct listing {
    int count; /* -1: the folder cannot be read */
    struct dirent **entries;
};

/* The names of one kind in order. */
static struct listing list_folder(const char *folder, int (*filter)(const struct dirent *entry))
{
    struct listing listing = {0, NULL};
    /* cppcheck-suppress nullPointer ; glibc then leaves the order as it is */
    listing.count = scandir(folder, &listing.entries, filter, NULL);
    if (listing.count > 0)
        qsort(listing.entries, (size_t)listing.count, sizeof(struct dirent *), compare_bytes);
    return listing;
}

static void listing_clear(struct listing *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->entries[i]);
    free(listing->entries);
}

static enum status shipped_folder(char folder[PATH_MAX], struct error *error)
{
    TRY(hardware_folder(folder, PATH_MAX - sizeof "/hardware", error));
    strcat(folder, "/hardware");
    return STATUS_OK;
}

enum status config_user_folder(const char *kind, char *folder, size_t size, struct error *error)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool set = config && *config == '/'; /* the standard has relative ones ignored */
    if (!set && !(home && *home == '/'))
        return error_set(error, STATUS_IO,
                         "no folder of your own descriptions, expected HOME or XDG_CONFIG_HOME to "
                         "be set");
    int used = snprintf(folder, size, "%s%s/autotune/%s", set ? config : home,
                        set ? "" : "/.config", kind);
    if (used > 0 && used < (int)size)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE, "%s: the name is too long",
                     set ? "XDG_CONFIG_HOME" : "HOME");
}

/* The same, "" without one. */
static void user_folder(char folder[PATH_MAX])
{
    struct error ignored;
    folder[0] = '\0';
    if (config_user_folder("hardware", folder, PATH_MAX, &ignored) != STATUS_OK)
        folder[0] = '\0';
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Equal but for case and blanks? */
static bool same_words(const char *a, const char *b)
{
    a = skip_blanks(a);
    b = skip_blanks(b);
    for (; *a && *b; a = skip_blanks(a + 1), b = skip_blanks(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return !*a && !*b;
}

/* Is it the entry's name without its ending, whatever the case and the blanks? */
static bool is_called(const struct dirent *entry, const char *name)
{
    char base[sizeof entry->d_name];
    snprintf(base, sizeof base, "%.*s", base_length(entry), entry->d_name);
    return same_words(base, name);
}

static enum status join_path(const char *folder, const char *name, char **file, struct error *error)
{
    if (asprintf(file, "%s%s%s", folder, *folder ? "/" : "", name) >= 0)
        return STATUS_OK;
    *file = NULL;
    return error_memory(error);
}

/* Leaves *file NULL when the folder has no such description. */
static enum status find_in(const char *folder, int (*filter)(const struct dirent *entry),
                           const char *name, char **file, struct error *error)
{
    enum status status = STATUS_OK;
    struct listing listing = list_folder(folder, filter);
    for (int i = 0; i < listing.count && !*file && status == STATUS_OK; i++)
        if (is_called(listing.entries[i], name))
            status = join_path(folder, listing.entries[i]->d_name, file, error);
    listing_clear(&listing);
    return status;
}

static enum status unknown_name(const char *folder, const char *name, struct error *error)
{
    char known[256] = "";
    if (same_words(name, HARDWARE_HOST_NAME))
        return error_set(
            error, STATUS_INVALID,
            "--hw " HARDWARE_HOST_NAME ": this processor has not been calibrated, "
            "expected a description made by `autotune calibrate --hw " HARDWARE_HOST_NAME "`");
    struct listing listing = list_folder(folder, is_description);
    struct suggestion like = suggest_for(name, -1);
    suggest_try(&like, HARDWARE_HOST_NAME);
    for (int i = 0; i < listing.count; i++) {
        listing.entries[i]->d_name[base_length(listing.entries[i])] = '\0';
        text_append(known, sizeof known, listing.entries[i]->d_name);
        suggest_try(&like, listing.entries[i]->d_name);
    }
    listing_clear(&listing);
    return error_set(error, STATUS_INVALID,
                     "no hardware description is called \"%.100s\", expected %s or a path to a "
                     ".cfg or .ini%s",
                     name, *known ? known : "a file", like.text);
}

static void folder_of(const char *file, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder ? 1 : 0] = '\0';
    else
        strcpy(folder, ".");
}

/* Where platform files lie. */
struct search {
    const char *folders; /* separated by colons */
    enum status (*visit)(struct search *search, const char *folder);
    const char *name; /* looked up */
    char **file;      /* found */
    void (*each)(void *context, const char *name);
    void *context;
    struct error *error;
};

/* A folder of platform files, or one of a CANN installation that has them below it. */
static enum status search_below(struct search *search, const char *folder, size_t length)
{
    static const char *const below[] = {
        "/data/platform_config",
        "/compiler/data/platform_config",
        "/x86_64-linux/data/platform_config",
        "/aarch64-linux/data/platform_config",
        "/arm64-linux/data/platform_config",
        "",
    };
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        char path[PATH_MAX];
        int used = snprintf(path, sizeof path, "%.*s%s", (int)length, folder, below[i]);
        if (used > 0 && used < (int)sizeof path && length < PATH_MAX)
            TRY(search->visit(search, path));
    }
    return STATUS_OK;
}

static enum status search_list(struct search *search, const char *folders)
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        if (length > 0)
            TRY(search_below(search, folders, length));
        folders += length + (folders[length] == ':');
    }
    return STATUS_OK;
}

static enum status search_platforms(struct search *search)
{
    char shipped[PATH_MAX];
    TRY(search_list(search, search->folders));
    TRY(search_list(search, getenv("ASCEND_HOME_PATH")));
    TRY(shipped_folder(shipped, search->error));
    return search->visit(search, shipped);
}

static enum status visit_to_find(struct search *search, const char *folder)
{
    if (*search->file)
        return STATUS_OK;
    return find_in(folder, is_platform, search->name, search->file, search->error);
}

/* NAME.cfg among the shipped descriptions, whose folder this tells, then among the user's own. */
static enum status find_named(const char *name, char shipped[PATH_MAX], char **file,
                              struct error *error)
{
    char own[PATH_MAX];
    enum status status = shipped_folder(shipped, error);
    if (status == STATUS_OK)
        status = find_in(shipped, is_description, name, file, error);
    user_folder(own);
    if (status == STATUS_OK && !*file && *own)
        status = find_in(own, is_description, name, file, error);
    return status;
}

static enum status find_description(const char *name, const char *beside, const char *folders,
                                    char **file, struct error *error)
{
    char folder[PATH_MAX] = "";
    /* cppcheck-suppress ctuuninitvar ; filled where something fails, never read */
    struct search search = {folders, visit_to_find, name, file, NULL, NULL, error};
    enum status status = STATUS_OK;
    *file = NULL;
    if (beside)
        folder_of(beside, folder);
    if (strchr(name, '/') || ends_in(name, ".cfg") || ends_in(name, ".ini"))
        return join_path(*name == '/' ? "" : folder, name, file, error);
    if (beside)
        status = find_in(folder, is_description, name, file, error);
    if (*file || status != STATUS_OK)
        return status;
    status = find_named(name, folder, file, error);
    if (status == STATUS_OK && !*file)
        status = search_platforms(&search);
    if (status == STATUS_OK && !*file)
        status = unknown_name(folder, name, error);
    return status;
}

/* Does the look-up of a file's name lead to this file? */
static enum status is_found(const struct search *search, const char *folder, const char *entry,
                            const char *name, bool *found)
{
    char *file, *own = NULL;
    enum status status = find_description(name, NULL, search->folders, &file, search->error);
    if (status == STATUS_OK)
        status = join_path(folder, entry, &own, search->error);
    *found = file && own && strcmp(file, own) == 0;
    free(own);
    free(file);
    return status;
}

static enum status visit_found(struct search *search, const char *folder,
                               int (*filter)(const struct dirent *entry))
{
    struct listing listing = list_folder(folder, filter);
    enum status status = STATUS_OK;
    for (int i = 0; i < listing.count && status == STATUS_OK; i++) {
        const struct dirent *entry = listing.entries[i];
        char name[sizeof entry->d_name];
        bool found = false;
        snprintf(name, sizeof name, "%.*s", base_length(entry), entry->d_name);
        status = is_found(search, folder, entry->d_name, name, &found);
        if (status == STATUS_OK && found)
            search->each(search->context, name);
    }
    listing_clear(&listing);
    return status;
}

static enum status visit_each(struct search *search, const char *folder)
{
    return visit_found(search, folder, is_platform);
}

enum status hardware_each(void (*visit)(void *context, const char *name), void *context,
                          struct error *error)
{
    char folder[PATH_MAX];
    TRY(shipped_folder(folder, error));
    struct listing listing = list_folder(folder, is_description);
    if (listing.count < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < listing.count; i++) {
        listing.entries[i]->d_name[base_length(listing.entries[i])] = '\0';
        visit(context, listing.entries[i]->d_name);
    }
    listing_clear(&listing);
    return STATUS_OK;
}

enum status hardware_each_from(const char *folders, void (*visit)(void *context, const char *name),
                               void *context, struct error *error)
{
    /* cppcheck-suppress ctuuninitvar ; as above */
    struct search search = {folders, visit_each, NULL, NULL, visit, context, error};
    char own[PATH_MAX];
    enum status status = hardware_each(visit, context, error);
    user_folder(own);
    if (status == STATUS_OK && *own)
        status = visit_found(&search, own, is_description);
    return status == STATUS_OK ? search_platforms(&search) : status;
}

/* ---- changes of single numbers ---- */

/* Where a change stands and what the facts say about the number it sets. */
struct change {
    const char *text; /* "key=value" */
    const char *file; /* or what to say instead of it, with line 0 */
    int line;
    const char *source;
};

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

/* Ranges and rules are checked afterwards, with the others. */
static enum status apply_change(struct tree *tree, const struct change *change, struct error *error)
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

/* ---- files and their bases ---- */

enum { MAX_VARIANTS = 16 }; /* on top of each other */

/* The files being read, from the one asked for down to the latest base. */
struct chain {
    const struct chain *above;
    const char *real;    /* path */
    const char *folders; /* of platform files */
    int depth;
};

static enum status read_description(const char *file, const char *folders,
                                    const struct chain *above, struct description *description,
                                    struct error *error);

static enum status apply_set(const struct tree *variant, struct tree *tree, struct error *error)
{
    const config_setting_t *root = config_root_setting(variant->config);
    const config_setting_t *set = config_setting_get_member(root, "set");
    const char *slash = strrchr(variant->file, '/');
    enum status status = STATUS_OK;
    for (int i = 0; i < config_setting_length(set) && status == STATUS_OK; i++) {
        const config_setting_t *entry = config_setting_get_elem(set, (unsigned)i);
        int line = (int)config_setting_source_line(entry);
        char *source;
        if (asprintf(&source, "%s (set in %s:%d)", schema_text(root, "source"),
                     slash ? slash + 1 : variant->file, line) < 0)
            return error_memory(error);
        const struct change change = {config_setting_get_string(entry), variant->file, line,
                                      source};
        status = apply_change(tree, &change, error);
        free(source);
    }
    return status;
}

static enum status read_base(const struct tree *variant, const struct chain *chain,
                             struct description *description, struct error *error)
{
    const config_setting_t *root = config_root_setting(variant->config);
    const config_setting_t *base = config_setting_get_member(root, "base");
    char *file;
    struct error found;
    enum status status = find_description(config_setting_get_string(base), chain->real,
                                          chain->folders, &file, &found);
    if (status != STATUS_OK)
        return error_set(error, status, "%s:%u: base: %s", variant->file,
                         (unsigned)config_setting_source_line(base), found.text);
    for (const struct chain *c = chain; c && status == STATUS_OK; c = c->above) {
        char *real = realpath(file, NULL);
        if (c->depth > MAX_VARIANTS || (real && strcmp(real, c->real) == 0))
            status = tree_expected(variant, base, error,
                                   "a description that does not lead back here, at most %d deep",
                                   MAX_VARIANTS);
        free(real);
    }
    if (status == STATUS_OK)
        status = read_description(file, chain->folders, chain, description, error);
    free(file);
    return status;
}

static enum status read_variant(const struct tree *variant, const struct chain *chain,
                                struct description *description, struct error *error)
{
    TRY(schema_check_variant(variant, error));
    TRY(read_base(variant, chain, description, error));
    snprintf(description->name, sizeof description->name, "%s",
             schema_text(config_root_setting(variant->config), "name"));
    enum status status = apply_set(variant, &description->tree, error);
    if (status != STATUS_OK)
        tree_clear(&description->tree);
    return status;
}

/* On failure there is nothing to clear. */
static enum status read_description(const char *file, const char *folders,
                                    const struct chain *above, struct description *description,
                                    struct error *error)
{
    struct tree tree;
    enum status status =
        find_is_platform(file) ? platform_read(file, &tree, error) : tree_read(file, &tree, error);
    if (status != STATUS_OK)
        return status;
    const config_setting_t *root = config_root_setting(tree.config);
    if (!config_setting_get_member(root, "base")) {
        status = schema_check_description(&tree, error);
        if (status == STATUS_OK) {
            description->tree = tree;
            return STATUS_OK;
        }
    } else {
        char *real = realpath(file, NULL);
        const struct chain chain = {above, real, folders, above ? above->depth + 1 : 1};
        status = real ? read_variant(&tree, &chain, description, error)
                      : error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
        free(real);
    }
    tree_clear(&tree);
    return status;
}

static enum status apply_overrides(const struct hardware_overrides *overrides, struct tree *tree,
                                   struct error *error)
{
    for (size_t i = 0; overrides && i < overrides->count; i++) {
        char place[160];
        const char *text = overrides->texts[i];
        size_t key = strlen(HARDWARE_CACHE);
        bool is_cache = strncmp(text, HARDWARE_CACHE, key) == 0;
        snprintf(place, sizeof place, "--%s %.140s", is_cache ? "cache" : "set-hw",
                 text + (is_cache ? key : 0));
        const struct change change = {text, place, 0, FACT_OVERRIDE_SOURCE};
        TRY(apply_change(tree, &change, error));
    }
    return STATUS_OK;
}

/* The tree's file: the one asked for, where links lead; not that of its base. */
static enum status set_file(const char *file, struct description *description, struct error *error)
{
    description->file = realpath(file, NULL);
    if (!description->file)
        return error_set(error, STATUS_IO, "%s: %s", file, strerror(errno));
    if (strlen(description->file) < sizeof((struct hardware *)0)->file)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE, "%.100s…: a path of %zu bytes, expected %zu at most",
                     file, strlen(description->file), sizeof((struct hardware *)0)->file - 1);
}

enum status description_read(const char *folders, const char *name,
                             const struct hardware_overrides *overrides,
                             struct description *description, struct error *error)
{
    char *file;
    memset(description, 0, sizeof *description);
    enum status status = find_description(name, NULL, folders, &file, error);
    if (status != STATUS_OK)
        return status;
    status = read_description(file, folders, NULL, description, error);
    if (status == STATUS_OK) {
        status = set_file(file, description, error);
        if (status == STATUS_OK)
            status = apply_overrides(overrides, &description->tree, error);
        if (status != STATUS_OK)
            description_clear(description);
    }
    free(file);
    return status;
}

void description_clear(struct description *description)
{
    tree_clear(&description->tree);
    free(description->file);
    memset(description, 0, sizeof *description);
}

enum status hardware_load_from(const char *folders, const char *name,
                               const struct hardware_overrides *overrides, struct hardware *hw,
                               struct error *error)
{
    struct description description;
    memset(hw, 0, sizeof *hw);
    enum status status = description_read(folders, name, overrides, &description, error);
    if (status != STATUS_OK)
        return status;
    status = description_build(&description, hw, error);
    description_clear(&description);
    return status;
}

enum status hardware_load(const char *name, const struct hardware_overrides *overrides,
                          struct hardware *hw, struct error *error)
{
    return hardware_load_from(NULL, name, overrides, hw, error);
}

/* The facts that were changed, as texts, which the caller frees. */
static size_t list_changes(const struct hardware *hw, char *texts[])
{
    size_t count = 0;
    for (size_t i = 0; i < hw->fact_count; i++)
        if (fact_is_override(&hw->facts[i]) &&
            asprintf(&texts[count], "%s=%s", hw->facts[i].key, hw->facts[i].value) >= 0)
            count++;
    return count;
}

enum status hardware_reload(const struct hardware *hw, const char *change, struct hardware *other,
                            struct error *error)
{
    char **texts = calloc(hw->fact_count + 1, sizeof *texts);
    const char **all = calloc(hw->fact_count + 1, sizeof *all);
    memset(other, 0, sizeof *other);
    size_t count = texts && all ? list_changes(hw, texts) : 0;
    for (size_t i = 0; i < count; i++)
        all[i] = texts[i];
    enum status status = texts && all ? STATUS_OK : error_memory(error);
    if (status == STATUS_OK) {
        all[count] = change;
        const struct hardware_overrides overrides = {all, count + 1};
        status = hardware_load(hw->file, &overrides, other, error);
    }
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(all);
    if (status == STATUS_OK)
        other->cores = hw->cores;
    return status;
}

static void visit_files(const char *name, const char *beside, const char *folders, int depth,
                        void (*visit)(void *context, const char *file), void *context)
{
    char *file;
    struct tree tree;
    if (find_description(name, beside, folders, &file, NULL) != STATUS_OK || !file)
        return;
    visit(context, file);
    if (find_is_platform(file)) {
        platform_each_below(visit, context);
    } else if (depth < MAX_VARIANTS && tree_read(file, &tree, NULL) == STATUS_OK) {
        const char *base = NULL;
        char *real = realpath(file, NULL);
        if (config_lookup_string(tree.config, "base", &base) && real)
            visit_files(base, real, folders, depth + 1, visit, context);
        free(real);
        tree_clear(&tree);
    }
    free(file);
}

void hardware_each_file(const char *folders, const char *name,
                        void (*visit)(void *context, const char *file), void *context)
{
    visit_files(name, NULL, folders, 0, visit, context);
}
