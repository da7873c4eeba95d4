/* Puts the rows of several stores into one. All stores are checked before anything is written;
 * then their rows are put one by one into a single transaction, which is committed at the end.
 * Each is compared with what the target has: a differing proof of the same question stops the
 * merge, since one of the two must be wrong. */
#include "jobs/sweep/sweep_merge.h"

#include "core/version.h"
#include "jobs/tune/job_store.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct merge {
    struct store *into;
    const char *file; /* being read */
    struct merge_counts *counts;
};

static enum status check_version(void *context, const struct store_row *row, struct error *error)
{
    const char *file = context;
    if (row->key.kind != STORE_SIMULATED || row->key.model_version == MODEL_VERSION)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s: results of model version %d, expected %d; `autotune store gc` drops them",
                     file, row->key.model_version, MODEL_VERSION);
}

static enum status check_store(const char *file, struct error *error)
{
    struct store *store;
    union {
        const char *file;
        void *context;
    } of = {file};
    enum status status = store_open(file, STORE_READ, &store, error);
    if (status != STATUS_OK)
        return status;
    status = store_each(store, check_version, of.context, error);
    store_close(store);
    return status;
}

static bool same_file(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Before anything is written. */
static enum status check_all(const char *into, const char *const files[], int count,
                             struct error *error)
{
    struct stat info;
    TRY(stat(into, &info) == 0 ? check_store(into, error) : STATUS_OK);
    for (int i = 0; i < count; i++) {
        if (same_file(into, files[i]))
            return error_set(error, STATUS_INVALID,
                             "%s: expected other stores than the one that "
                             "they are put into",
                             files[i]);
        TRY(check_store(files[i], error));
    }
    return STATUS_OK;
}

static bool is_same(const struct store_row *a, const struct store_row *b)
{
    return strcmp(a->tiling, b->tiling) == 0 && strcmp(a->answer, b->answer) == 0 &&
           a->optimal == b->optimal && a->time_ns <= b->time_ns && a->time_ns >= b->time_ns;
}

/* Two proofs of the same question say the same; two measurements hardly ever. */
static enum status merge_row(void *context, const struct store_row *row, struct error *error)
{
    struct merge *merge = context;
    struct store_row kept;
    bool found;
    merge->counts->rows++;
    TRY(store_get(merge->into, &row->key, &found, &kept, error));
    merge->counts->duplicates += found;
    merge->counts->added += !found;
    bool differs = found && !is_same(row, &kept), measured = row->key.kind == STORE_MEASURED;
    merge->counts->measured_twice += differs && measured;
    if (differs && !measured && row->optimal && kept.optimal)
        return error_set(error, STATUS_INVALID,
                         "%s: another answer to %s %s%s%s than the stores before it have",
                         merge->file, row->key.op, row->key.shape, *row->key.options ? " " : "",
                         row->key.options);
    if (found && !job_row_says_more(row, &kept))
        return STATUS_OK;
    merge->counts->better += found && !measured;
    return store_put(merge->into, row, error);
}

static enum status merge_file(struct merge *merge, const char *file, struct error *error)
{
    struct store *store;
    enum status status = store_open(file, STORE_READ, &store, error);
    if (status != STATUS_OK)
        return status;
    merge->file = file;
    status = store_each(store, merge_row, merge, error);
    store_close(store);
    return status;
}

enum status merge_stores(const char *into, const char *const files[], int count,
                         struct merge_counts *counts, struct error *error)
{
    struct merge merge = {.counts = counts};
    memset(counts, 0, sizeof *counts);
    enum status status = check_all(into, files, count, error);
    if (status == STATUS_OK)
        status = store_open(into, STORE_WRITE, &merge.into, error);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        status = merge_file(&merge, files[i], error);
    if (status == STATUS_OK)
        status = store_commit(merge.into, error);
    store_close(merge.into);
    return status;
}
