#include "hardware/find.h"

#include "hardware/load.h"
#include "hardware/text.h"

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
    char own[PATH_MAX];
    executable_folder(own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(folder, size, "%s%s", own, places[i]) < (int)size && is_folder(folder))
            return STATUS_OK;
    return error_set(error, STATUS_IO,
                     "no folder of hardware descriptions beside %s, expected AUTOTUNE_CONFIGS to "
                     "name it",
                     own);
}

static bool ends_in_cfg(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ".cfg") == 0;
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".cfg") == 0;
}

/* Not alphasort: the locale must not matter. */
static int by_bytes(const void *a, const void *b)
{
    const struct dirent *const *first = a, *const *second = b;
    return strcmp((*first)->d_name, (*second)->d_name);
}

struct listing {
    int count; /* -1: the folder cannot be read */
    struct dirent **entries;
};

/* The names without ".cfg", in order. */
static struct listing list_folder(const char *folder)
{
    struct listing listing = {0, NULL};
    /* cppcheck-suppress nullPointer ; glibc then leaves the order as it is */
    listing.count = scandir(folder, &listing.entries, is_description, NULL);
    for (int i = 0; i < listing.count; i++) {
        char *name = listing.entries[i]->d_name;
        name[strlen(name) - 4] = '\0';
    }
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
    enum status status = hardware_folder(folder, PATH_MAX - sizeof "/hardware", error);
    if (status == STATUS_OK)
        strcat(folder, "/hardware");
    return status;
}

enum status hardware_each(void (*visit)(void *context, const char *name), void *context,
                          struct error *error)
{
    char folder[PATH_MAX];
    enum status status = shipped_folder(folder, error);
    if (status != STATUS_OK)
        return status;
    struct listing listing = list_folder(folder);
    if (listing.count < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < listing.count; i++)
        visit(context, listing.entries[i]->d_name);
    listing_clear(&listing);
    return STATUS_OK;
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static bool same_name(const char *a, const char *b)
{
    for (a = skip_blanks(a), b = skip_blanks(b); *a && *b;
         a = skip_blanks(a + 1), b = skip_blanks(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return !*a && !*b;
}

static enum status join(const char *folder, const char *name, const char *ending, char **file,
                        struct error *error)
{
    if (asprintf(file, "%s%s%s%s", folder, *folder ? "/" : "", name, ending) >= 0)
        return STATUS_OK;
    *file = NULL;
    return error_memory(error);
}

/* Leaves *file NULL when the folder has no such description. */
static enum status find_in(const char *folder, const char *name, char **file, struct error *error)
{
    enum status status = STATUS_OK;
    struct listing listing = list_folder(folder);
    for (int i = 0; i < listing.count && !*file && status == STATUS_OK; i++) {
        const char *entry = listing.entries[i]->d_name;
        if (same_name(entry, name))
            status = join(folder, entry, ".cfg", file, error);
    }
    listing_clear(&listing);
    return status;
}

static enum status unknown_name(const char *folder, const char *name, struct error *error)
{
    char known[256] = "";
    struct listing listing = list_folder(folder);
    for (int i = 0; i < listing.count; i++)
        text_append(known, sizeof known, listing.entries[i]->d_name);
    listing_clear(&listing);
    return error_set(
        error, STATUS_INVALID,
        "no hardware description is called \"%.100s\", expected %s or a path to a .cfg", name,
        *known ? known : "a file");
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

enum status find_description(const char *name, const char *beside, char **file, struct error *error)
{
    char folder[PATH_MAX] = "";
    enum status status = STATUS_OK;
    *file = NULL;
    if (beside)
        folder_of(beside, folder);
    if (strchr(name, '/') || ends_in_cfg(name))
        return join(*name == '/' ? "" : folder, name, "", file, error);
    if (beside)
        status = find_in(folder, name, file, error);
    if (*file || status != STATUS_OK)
        return status;
    status = shipped_folder(folder, error);
    if (status == STATUS_OK)
        status = find_in(folder, name, file, error);
    if (status == STATUS_OK && !*file)
        status = unknown_name(folder, name, error);
    return status;
}
