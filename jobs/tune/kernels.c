/* A list under one lock; whoever finds nothing reads the text with the lock held. Names are looked
 * up in one list of folders, which is also what lists them: a name that an earlier folder has is
 * left out. Texts for chips whose cube and vector cores are apart lie in a folder of that folder.
 */
#include "jobs/tune/kernels.h"

#include "core/suggest.h"
#include "hardware/load.h"
#include "kernels/registry.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".kernel"
#define APART  "split/"

struct kernel {
    struct kernel *next;
    char *file; /* as found */
    const struct operator* op;
};

struct kernels {
    pthread_mutex_t lock;
    char *folders;
    struct kernel *first;
};

enum status kernels_open(const char *folders, struct kernels **kernels, struct error *error)
{
    struct kernels *made = calloc(1, sizeof *made);
    *kernels = made;
    if (!made)
        return error_memory(error);
    made->folders = strdup(folders ? folders : "");
    if (!made->folders) {
        free(made);
        *kernels = NULL;
        return error_memory(error);
    }
    pthread_mutex_init(&made->lock, NULL);
    return STATUS_OK;
}

static void kernel_free(struct kernel *kernel)
{
    operator_free(kernel->op);
    free(kernel->file);
    free(kernel);
}

void kernels_close(struct kernels *kernels)
{
    if (!kernels)
        return;
    while (kernels->first) {
        struct kernel *next = kernels->first->next;
        kernel_free(kernels->first);
        kernels->first = next;
    }
    pthread_mutex_destroy(&kernels->lock);
    free(kernels->folders);
    free(kernels);
}

const struct operator* kernels_find(const struct kernels *kernels, const char *fingerprint)
{
    const struct kernel *kernel = kernels->first;
    while (kernel && strcmp(kernel->op->fingerprint, fingerprint) != 0)
        kernel = kernel->next;
    return kernel ? kernel->op : NULL;
}

void kernels_each_file(const struct kernels *kernels,
                       void (*visit)(void *context, const char *file), void *context)
{
    for (const struct kernel *kernel = kernels->first; kernel; kernel = kernel->next)
        visit(context, kernel->file);
}

/* ------------------------------------------------------------------ folders */

/* The shipped folder stands beside that of descriptions. */
static enum status shipped_folder(char folder[PATH_MAX], struct error *error)
{
    static const char beside[] = "/../kernels/library";
    char path[PATH_MAX];
    TRY(hardware_folder(path, PATH_MAX - sizeof beside, error));
    strcat(path, beside);
    if (!realpath(path, folder))
        folder[0] = '\0';
    return STATUS_OK;
}

/* Calls visit for the folders in order until it returns true. */
typedef bool folder_visitor(void *context, const char *folder);

static enum status visit_folders(const char *folders, folder_visitor *visit, void *context,
                                 struct error *error)
{
    char folder[PATH_MAX];
    struct error ignored;
    TRY(shipped_folder(folder, error));
    if (*folder && visit(context, folder))
        return STATUS_OK;
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, folders);
        if (*folder && visit(context, folder))
            return STATUS_OK;
        folders += length + (folders[length] == ':');
    }
    if (config_user_folder("kernels", folder, sizeof folder, &ignored) == STATUS_OK)
        visit(context, folder);
    return STATUS_OK;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* "FOLDER/NAME.kernel", or with `apart` "FOLDER/split/NAME.kernel". */
static bool join(const char *folder, bool apart, const char *name, char file[PATH_MAX])
{
    int used = snprintf(file, PATH_MAX, "%s/%s%s" ENDING, folder, apart ? APART : "", name);
    return used > 0 && used < PATH_MAX;
}

static bool is_in(const char *folder, bool apart, const char *name, char file[PATH_MAX])
{
    return join(folder, apart, name, file) && is_file(file);
}

struct finding {
    const char *name;
    bool apart; /* for a chip whose cube and vector cores are apart */
    char file[PATH_MAX];
};

static bool find_in(void *context, const char *folder)
{
    struct finding *finding = context;
    bool found = (finding->apart && is_in(folder, true, finding->name, finding->file)) ||
                 is_in(folder, false, finding->name, finding->file);
    if (!found)
        finding->file[0] = '\0';
    return found;
}

/* ------------------------------------------------------------------ listing */

struct listing {
    const char *folders;
    kernel_visitor *visit;
    void *context;
    struct error *error;
    enum status status;
};

static int is_kernel(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return entry->d_name[0] != '.' && length > ending &&
           strcmp(entry->d_name + length - ending, ENDING) == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Unless the name finds another file. */
static void list_one(struct listing *listing, const char *folder, char *name)
{
    struct finding finding = {.name = name};
    char file[PATH_MAX], other[PATH_MAX];
    name[strlen(name) - strlen(ENDING)] = '\0';
    enum status status = visit_folders(listing->folders, find_in, &finding, listing->error);
    if (status != STATUS_OK)
        listing->status = status;
    else if (join(folder, false, name, file) && strcmp(file, finding.file) == 0)
        listing->visit(listing->context, name, file,
                       is_in(folder, true, name, other) ? other : NULL);
}

static bool list_folder(void *context, const char *folder)
{
    struct listing *listing = context;
    struct dirent **entries;
    int count = scandir(folder, &entries, is_kernel, by_bytes);
    for (int i = 0; i < count; i++) {
        if (listing->status == STATUS_OK)
            list_one(listing, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return listing->status != STATUS_OK;
}

enum status kernels_each(const char *folders, kernel_visitor *visit, void *context,
                         struct error *error)
{
    /* cppcheck-suppress ctuuninitvar ; filled where something fails, never read */
    struct listing listing = {folders, visit, context, error, STATUS_OK};
    TRY(visit_folders(folders, list_folder, &listing, error));
    return listing.status;
}

/* ------------------------------------------------------------------ by name */

struct known {
    char list[256];
    struct suggestion like;
};

static void add_known(void *context, const char *name, const char *file, const char *apart)
{
    struct known *known = context;
    size_t used = strlen(known->list);
    (void)file;
    (void)apart;
    if (operator_find(name))
        return;
    snprintf(known->list + used, sizeof known->list - used, "%s%s", used ? ", " : "", name);
    suggest_try(&known->like, name);
}

static enum status find_named(const struct kernels *kernels, struct finding *finding,
                              struct error *error)
{
    const char *name = finding->name;
    struct known known = {.like = suggest_for(name, -1)};
    if (operator_find(name))
        return error_set(error, STATUS_INVALID,
                         "--kernel %.64s: an operator has this name, expected --op %s or a "
                         "kernel's file",
                         name, operator_find(name)->name);
    TRY(visit_folders(kernels->folders, find_in, finding, error));
    if (*finding->file)
        return STATUS_OK;
    TRY(kernels_each(kernels->folders, add_known, &known, error));
    return error_set(error, STATUS_INVALID, "--kernel %.64s: expected a file%s%s%s", name,
                     *known.list ? ", or one of " : "", known.list, known.like.text);
}

static bool says_where(const char *name)
{
    size_t length = strlen(name), ending = strlen(ENDING);
    return strcmp(name, "-") == 0 || strchr(name, '/') || is_file(name) ||
           (length >= ending && strcmp(name + length - ending, ENDING) == 0);
}

static enum status find(const struct kernels *kernels, struct finding *finding, struct error *error)
{
    const char *name = finding->name;
    if (!says_where(name))
        return find_named(kernels, finding, error);
    if (snprintf(finding->file, PATH_MAX, "%s", name) >= PATH_MAX)
        return error_set(error, STATUS_TOO_LARGE, "--kernel %.64s...: the name is too long", name);
    return STATUS_OK;
}

static enum status load(struct kernels *kernels, const char *file, const struct kernel **kernel,
                        struct error *error)
{
    struct kernel *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->file = strdup(file);
    enum status status = made->file ? operator_read(file, &made->op, error) : error_memory(error);
    if (status != STATUS_OK) {
        kernel_free(made);
        return status;
    }
    made->next = kernels->first;
    kernels->first = made;
    *kernel = made;
    return STATUS_OK;
}

static enum status get(struct kernels *kernels, struct finding *finding, const struct operator** op,
                       struct error *error)
{
    TRY(find(kernels, finding, error));
    const struct kernel *kernel = kernels->first;
    while (kernel && strcmp(kernel->file, finding->file) != 0)
        kernel = kernel->next;
    if (!kernel)
        TRY(load(kernels, finding->file, &kernel, error));
    if (!says_where(finding->name) && strcmp(kernel->op->name, finding->name) != 0)
        return error_set(error, STATUS_INVALID,
                         "%.300s: it has kernel %s, expected %.64s as its file", kernel->file,
                         kernel->op->name, finding->name);
    *op = kernel->op;
    return STATUS_OK;
}

enum status kernels_get(struct kernels *kernels, const char *name, bool apart,
                        const struct operator** op, struct error *error)
{
    struct finding finding = {.name = name, .apart = apart};
    *op = NULL;
    pthread_mutex_lock(&kernels->lock);
    enum status status = get(kernels, &finding, op, error);
    pthread_mutex_unlock(&kernels->lock);
    return status;
}
