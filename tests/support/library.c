#include "tests/support/library.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int each_in(const char *below, void (*visit)(const char *name))
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", LIBRARY, below);
    DIR *folder = opendir(path);
    int count = 0;
    cr_assert(folder, "%s", path);
    /* cppcheck-suppress readdirCalled ; nobody else reads this folder */
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char file[256], name[320];
        if (sscanf(entry->d_name, "%250[^.].kernel", file) != 1)
            continue;
        if (entry->d_type == DT_DIR) {
            snprintf(name, sizeof name, "%s/", file);
            count += each_in(name, visit);
            continue;
        }
        snprintf(name, sizeof name, "%s%s", below, file);
        visit(name);
        count++;
    }
    closedir(folder);
    return count;
}

int library_each(void (*visit)(const char *name))
{
    return each_in("", visit);
}

const char *library_kernel(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}
