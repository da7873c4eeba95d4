/* A maker locks the file that it made and then looks whether it still has a name: a sweep may have
 * locked and removed it in between, and another is made. Where a file system knows no locks,
 * nothing is swept. */
#include "core/draft.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTERS = 6, MOST_TRIES = 100 };
static const char prefix[] = ".autotune-draft-";

/* The folder of a file with a slash behind it, "" for that of a name alone. */
static int folder_length(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (int)(slash - file) + 1 : 0;
}

int draft_open(const char *file, char path[DRAFT_PATH_SIZE])
{
    struct stat info;
    for (int try = 0; try < MOST_TRIES; try++) {
        int used =
            snprintf(path, DRAFT_PATH_SIZE, "%.*s%sXXXXXX", folder_length(file), file, prefix);
        errno = ENAMETOOLONG;
        int descriptor = used < DRAFT_PATH_SIZE ? mkostemp(path, O_CLOEXEC) : -1;
        if (descriptor < 0)
            return -1;
        bool swept = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!swept && fstat(descriptor, &info) == 0 && info.st_nlink > 0)
            return descriptor;
        close(descriptor);
    }
    errno = EEXIST;
    return -1;
}

void draft_remove(const char *path)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm", ""};
    char name[PATH_MAX + NAME_MAX + 16];
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        snprintf(name, sizeof name, "%s%s", path, endings[e]);
        unlink(name);
    }
}

static bool is_draft(const char *name)
{
    size_t length = sizeof prefix - 1;
    if (strncmp(name, prefix, length) != 0 || strlen(name) != length + LETTERS)
        return false;
    for (const char *c = name + length; *c; c++)
        if (!isalnum((unsigned char)*c))
            return false;
    return true;
}

/* Unless its maker lives. Nothing but a file is opened: a pipe would wait. */
static void remove_left(const char *path)
{
    struct stat info;
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        draft_remove(path);
    close(descriptor);
}

void drafts_sweep(const char *file)
{
    char folder[PATH_MAX], left[PATH_MAX + NAME_MAX + 2];
    int length = folder_length(file);
    if (snprintf(folder, sizeof folder, "%.*s", length, file) >= (int)sizeof folder)
        return;
    DIR *open_folder = opendir(length ? folder : ".");
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled ; nobody else reads this folder */
    while (open_folder && (entry = readdir(open_folder))) {
        if (!is_draft(entry->d_name))
            continue;
        snprintf(left, sizeof left, "%s%s", folder, entry->d_name);
        remove_left(left);
    }
    if (open_folder)
        closedir(open_folder);
}
