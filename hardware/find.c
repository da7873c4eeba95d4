/* Names are compared with a folder's entries, without case and blanks, folder after folder until
 * one has it; the user's folder is that of the XDG Base Directory Specification. What lists the
 * names asks the same look-up about each file, and shows those that are found. */
#include "hardware/find.h"
#include "core/suggest.h"

#include "hardware/config_text.h"
#include "hardware/load.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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
static int by_bytes(const void *a, const void *b)
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
        qsort(listing.entries, (size_t)listing.count, sizeof(struct dirent *), by_bytes);
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
static bool same_name(const struct dirent *entry, const char *name)
{
    char base[sizeof entry->d_name];
    snprintf(base, sizeof base, "%.*s", base_length(entry), entry->d_name);
    return same_words(base, name);
}

static enum status join(const char *folder, const char *name, char **file, struct error *error)
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
        if (same_name(listing.entries[i], name))
            status = join(folder, listing.entries[i]->d_name, file, error);
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

enum status find_description(const char *name, const char *beside, const char *folders, char **file,
                             struct error *error)
{
    char folder[PATH_MAX] = "";
    /* cppcheck-suppress ctuuninitvar ; filled where something fails, never read */
    struct search search = {folders, visit_to_find, name, file, NULL, NULL, error};
    enum status status = STATUS_OK;
    *file = NULL;
    if (beside)
        folder_of(beside, folder);
    if (strchr(name, '/') || ends_in(name, ".cfg") || ends_in(name, ".ini"))
        return join(*name == '/' ? "" : folder, name, file, error);
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
        status = join(folder, entry, &own, search->error);
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
