/* Named sets: the files of configs/sweeps. */
#include "hardware/load.h"
#include "hardware/tree.h"
#include "jobs/sweep/sweep_rows.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".cfg"

enum status sweep_set_folder(char folder[PATH_MAX], struct error *error)
{
    static const char below[] = "/sweeps";
    TRY(hardware_folder(folder, PATH_MAX - sizeof below, error));
    strcat(folder, below);
    return STATUS_OK;
}

bool sweep_set_file(const char *folder, const char *name, char file[PATH_MAX])
{
    int used = snprintf(file, PATH_MAX, "%s/%s" ENDING, folder, name);
    return used < PATH_MAX && access(file, F_OK) == 0;
}

static int is_set(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* With the title that the file has, or what is wrong with it. */
static void visit_set(const char *folder, const char *name, sweep_set_visitor *visit, void *context)
{
    struct tree tree;
    struct error error;
    char file[PATH_MAX], text[sizeof error.text + 16];
    const char *title = "";
    if (!sweep_set_file(folder, name, file))
        return;
    if (tree_read(file, &tree, &error) != STATUS_OK) {
        snprintf(text, sizeof text, "broken: %s", error.text);
        visit(context, name, file, text);
        return;
    }
    config_lookup_string(tree.config, "title", &title);
    visit(context, name, file, title);
    tree_clear(&tree);
}

enum status sweep_each_set(sweep_set_visitor *visit, void *context, struct error *error)
{
    char folder[PATH_MAX];
    struct dirent **entries;
    TRY(sweep_set_folder(folder, error));
    int count = scandir(folder, &entries, is_set, by_bytes);
    if (count < 0)
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - strlen(ENDING)] = '\0';
        visit_set(folder, entries[i]->d_name, visit, context);
        free(entries[i]);
    }
    free(entries);
    return STATUS_OK;
}
