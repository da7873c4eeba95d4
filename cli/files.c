/* Files are the same by device and inode, and where they do not exist yet by the real path of their
 * folder. Writing goes to a draft in the same folder, which is synced and renamed over the old one,
 * which POSIX does as a whole, with signals held meanwhile; devices, pipes and open descriptors are
 * written in place. */
#include "cli/files.h"

#include "cli/options.h"
#include "core/array.h"
#include "core/draft.h"
#include "core/stop.h"
#include "hardware/load.h"
#include "jobs/tune/chips.h"
#include "jobs/tune/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_entry {
    enum file_use use;
    char option[24];
    char *path; /* owned */
};

/* ------------------------------------------------------------------ noting */

static struct file_entry *find_option(const struct files *files, const char *option)
{
    for (size_t i = 0; option && i < files->count; i++)
        if (strcmp(files->entries[i].option, option) == 0)
            return &files->entries[i];
    return NULL;
}

static struct file_entry *add_entry(struct files *files)
{
    if (!array_room(&files->entries, (int64_t)files->count, sizeof *files->entries))
        cli_die("out of memory");
    struct file_entry *entry = &files->entries[files->count++];
    *entry = (struct file_entry){.path = NULL};
    return entry;
}

void files_note(struct files *files, enum file_use use, const char *option, const char *path)
{
    struct file_entry *entry = find_option(files, option);
    if (!entry)
        entry = add_entry(files);
    free(entry->path);
    if (path && use == FILE_READ && strcmp(path, "-") == 0)
        path = "/dev/stdin";
    entry->use = use;
    snprintf(entry->option, sizeof entry->option, "%s", option ? option : "");
    entry->path = path ? cli_require_memory(strdup(path)) : NULL;
}

static void files_clear(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->entries[i].path);
    free(files->entries);
    *files = (struct files){0};
}

/* ------------------------------------------------------------------ which file it is */

/* The folder of a path, "." of a name alone. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + (slash == path) : 1;
    return snprintf(folder, PATH_MAX, "%.*s", length, slash ? path : ".") < PATH_MAX;
}

/* `name` as seen from the folder of the link that says it. */
static bool from_folder(const char *link, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX], together[2 * PATH_MAX];
    if (!folder_of(link, folder))
        return false;
    bool absolute = *name == '/';
    snprintf(together, sizeof together, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/",
             name);
    return snprintf(path, PATH_MAX, "%s", together) < PATH_MAX;
}

/* A file that need not be there yet, by its folder's only name; links that lead nowhere yet are
 * followed. False where there is no such folder. */
static bool locate(const char *path, char place[PATH_MAX])
{
    enum { MAX_LINKS = 40 };
    char at[PATH_MAX], next[PATH_MAX], folder[PATH_MAX], real[PATH_MAX];
    if (realpath(path, place))
        return true;
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
        return false;
    for (int links = 0; links < MAX_LINKS; links++) {
        ssize_t length = readlink(at, next, sizeof next - 1);
        if (length < 0)
            break;
        next[length] = '\0';
        if (!from_folder(at, next, place))
            return false;
        strcpy(at, place);
    }
    const char *slash = strrchr(at, '/');
    if (!folder_of(at, folder) || !realpath(folder, real))
        return false;
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
             slash ? slash + 1 : at);
    return snprintf(place, PATH_MAX, "%s", whole) < PATH_MAX;
}

/* Devices and pipes may be named twice. */
static bool is_same(const char *a, const char *b)
{
    struct stat at_a, at_b;
    char place_a[PATH_MAX], place_b[PATH_MAX];
    bool exists_a = stat(a, &at_a) == 0, exists_b = stat(b, &at_b) == 0;
    if (exists_a && exists_b)
        return S_ISREG(at_a.st_mode) && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    return !exists_a && !exists_b && locate(a, place_a) && locate(b, place_b) &&
           strcmp(place_a, place_b) == 0;
}

/* The store's own file, and those that SQLite has beside it, where links lead. */
static bool is_of_store(const char *path, const char *store)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char place[PATH_MAX], beside[PATH_MAX + sizeof "-journal"];
    bool same = is_same(path, store);
    for (size_t e = 0; e < sizeof endings / sizeof *endings && !same && locate(store, place); e++) {
        snprintf(beside, sizeof beside, "%s%s", place, endings[e]);
        same = is_same(path, beside);
    }
    return same;
}

/* ------------------------------------------------------------------ checking */

static bool meet(const struct file_entry *written, const struct file_entry *other)
{
    if (!other->path)
        return false;
    return other->use == FILE_STORE ? is_of_store(written->path, other->path)
                                    : is_same(written->path, other->path);
}

static void die_of_meeting(const struct file_entry *written, const struct file_entry *other)
{
    static const char *const what[] = {
        [FILE_READ] = "which is read",
        [FILE_STORE] = "the store",
        [FILE_WRITTEN] = "which is that of ",
    };
    cli_die("%s %s: expected a file of its own, this is %s, %s%s", written->option, written->path,
            other->path, what[other->use], other->use == FILE_WRITTEN ? other->option : "");
}

/* Of an open file, such as /dev/fd/3, which has no folder to be replaced in. */
static bool is_open_already(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0 ||
           strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0;
}

static void require_writable(const char *path)
{
    struct stat info;
    char place[PATH_MAX], folder[PATH_MAX];
    if (!*path)
        cli_die("an empty file name to write to");
    if (is_open_already(path))
        return;
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT)
        cli_die("%s: %s", path, strerror(errno));
    if (exists && S_ISDIR(info.st_mode))
        cli_die("%s: %s", path, strerror(EISDIR));
    if (exists && access(path, W_OK) != 0)
        cli_die("%s: %s", path, strerror(errno));
    if (exists && !S_ISREG(info.st_mode))
        return;
    if (!locate(path, place))
        cli_die("%s: %s", path, strerror(errno));
    if (folder_of(place, folder) && access(folder, W_OK) != 0)
        cli_die("%s: its folder: %s", path, strerror(errno));
}

static void check_entry(const struct files *files, size_t index)
{
    const struct file_entry *written = &files->entries[index];
    require_writable(written->path);
    for (size_t i = 0; i < files->count; i++)
        if (i != index && meet(written, &files->entries[i]))
            die_of_meeting(written, &files->entries[i]);
}

/* What shows only later, such as a full disk, is for files_write to say. */
static void files_check(const struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->entries[i].use == FILE_WRITTEN && files->entries[i].path)
            check_entry(files, i);
}

/* ------------------------------------------------------------------ writing */

/* What puts a file's content out. */
struct content {
    bool (*put)(const void *context, FILE *out);
    const void *context;
};

struct memory {
    const char *text;
    size_t length;
};

static bool put_memory(const void *context, FILE *out)
{
    const struct memory *memory = context;
    return fwrite(memory->text, 1, memory->length, out) == memory->length;
}

/* Devices and pipes cannot be replaced, only written to. A reader that left has seen enough. */
static enum status write_in_place(const char *path, const struct content *content,
                                  struct error *error)
{
    FILE *file = fopen(path, "ae");
    if (!file)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    errno = 0;
    bool written = (content->put(content->context, file) && fflush(file) == 0) || errno == EPIPE;
    enum status status =
        written ? STATUS_OK : error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    fclose(file);
    return status;
}

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* By way of a temporary file beside it, whose name is never too long where its own is not. */
static enum status write_beside(const char *path, const char *place, mode_t mode,
                                const struct content *content, struct error *error)
{
    char draft[DRAFT_PATH_SIZE];
    drafts_sweep(place);
    int descriptor = draft_open(place, draft);
    if (descriptor < 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    FILE *file = fdopen(descriptor, "wb");
    bool written = file && fchmod(descriptor, mode) == 0 && content->put(content->context, file) &&
                   fflush(file) == 0 && fsync(descriptor) == 0;
    written = written && rename(draft, place) == 0;
    if (file && fclose(file) == 0 && written)
        return STATUS_OK;
    enum status status = error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    unlink(draft);
    return status;
}

/* No signal leaves the temporary file behind. */
static enum status replace(const char *path, const char *place, mode_t mode,
                           const struct content *content, struct error *error)
{
    struct stop_held held;
    stop_hold(&held);
    enum status status = write_beside(path, place, mode, content, error);
    stop_release(&held);
    return status;
}

static bool is_output(const struct file_entry *entry, const char *path)
{
    return entry->use == FILE_WRITTEN && entry->path && strcmp(entry->path, path) == 0;
}

static enum status write_content(const struct files *files, const char *path,
                                 const struct content *content, struct error *error)
{
    struct stat info;
    char place[PATH_MAX];
    size_t i = 0;
    if (memory_was_short())
        return error_memory(error);
    while (i < files->count && !is_output(&files->entries[i], path))
        i++;
    if (i == files->count)
        return error_set(error, STATUS_INVALID, "%s: was not noted as written", path);
    check_entry(files, i); /* again: it is about to be touched */
    bool exists = stat(path, &info) == 0;
    if (is_open_already(path) || (exists && !S_ISREG(info.st_mode)))
        return write_in_place(path, content, error);
    if (!locate(path, place))
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    return replace(path, place, exists ? info.st_mode & 07777 : new_file_mode(), content, error);
}

enum status files_write(const struct files *files, const char *path, const char *text,
                        size_t length, struct error *error)
{
    const struct memory memory = {text, length};
    return write_content(files, path, &(struct content){put_memory, &memory}, error);
}

enum status files_write_by(const struct files *files, const char *path,
                           bool (*put)(const void *context, FILE *out), const void *context,
                           struct error *error)
{
    return write_content(files, path, &(struct content){put, context}, error);
}

/* ------------------------------------------------------------------ temporary ones */

FILE *files_temporary(void)
{
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    int used = snprintf(path, sizeof path, "%s/autotune-XXXXXX", folder);
    int descriptor = used < (int)sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (descriptor < 0)
        cli_die("a temporary file in %s: %s", folder, strerror(errno));
    unlink(path);
    FILE *file = fdopen(descriptor, "w+b");
    if (!file)
        cli_die("a temporary file in %s: %s", folder, strerror(errno));
    return file;
}

/* ------------------------------------------------------------------ of a command */

void cli_reads(struct common *common, const char *file)
{
    files_note(&common->files, FILE_READ, NULL, file);
}

static void note_read(void *context, const char *file)
{
    cli_reads(context, file);
}

void cli_reads_hardware(struct common *common, const char *name)
{
    hardware_each_file(common->hw_folders, name, note_read, common);
}

void cli_reads_chips(struct common *common, const struct chips *chips)
{
    chips_each_file(chips, note_read, common);
}

void cli_reads_kernels(struct common *common, const struct kernels *kernels)
{
    kernels_each_file(kernels, note_read, common);
}

void cli_keeps(struct common *common, const char *store)
{
    files_note(&common->files, FILE_STORE, NULL, store);
}

void cli_check_files(struct common *common)
{
    bool prints = !common->output;
    int mode = fcntl(STDOUT_FILENO, F_GETFL);
    if (prints && (mode & O_ACCMODE) == O_RDONLY) /* so is what main opens for a closed one */
        cli_die("standard output: %s", strerror(EBADF));
    files_note(&common->files, FILE_WRITTEN, "standard output", prints ? "/dev/stdout" : NULL);
    files_check(&common->files);
}

void cli_close(struct common *common)
{
    files_clear(&common->files);
}
