/* Puts exported rows into a store. Each is compared with the row that the store has. Of two
 * different simulated results the proven one counts, of two that were cut off the faster; where
 * neither is better, --keep or --replace has to say. All changes are one transaction. */
#include "results/store_import.h"

#include "results/store_lines.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ import */

struct importing {
    struct store *store;
    const char *file;
    const struct store_filter *filter;
    enum store_clash clash;
    struct store_imported *counts;
    int64_t row;
};

/* What a chip is called does not matter. */
static bool is_same(const struct store_row *a, const struct store_row *b)
{
    return a->time_ns == b->time_ns && a->optimal == b->optimal && a->limit_s == b->limit_s &&
           strcmp(a->tiling, b->tiling) == 0 && strcmp(a->answer, b->answer) == 0;
}

/* Times of results that were cut off: nothing found is slower than anything. */
static double worth(const struct store_row *row)
{
    return row->time_ns > 0 ? row->time_ns : INFINITY;
}

/* Less than 0: the one in the store is better; 0: there is no telling. */
static int compare_worth(const struct store_row *old, const struct store_row *new)
{
    if (old->key.kind != STORE_SIMULATED)
        return 0;
    if (old->optimal != new->optimal)
        return new->optimal ? 1 : -1;
    if (old->optimal)
        return 0;
    if (worth(old) != worth(new))
        return worth(new) < worth(old) ? 1 : -1;
    return (new->limit_s > old->limit_s) - (new->limit_s < old->limit_s);
}

static enum status clash(const struct importing *importing, const struct store_row *old,
                         const struct store_row *new, bool *replace, struct error *error)
{
    int better = compare_worth(old, new);
    *replace =
        importing->clash == STORE_REPLACE || (importing->clash == STORE_REFUSE && better > 0);
    if (importing->clash != STORE_REFUSE || better)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s: result %lld, %s %.100s: the store has another one (%.9g ns, here %.9g "
                     "ns); --keep or --replace says which counts",
                     importing->file, (long long)importing->row, new->key.op, new->key.shape,
                     old->time_ns, new->time_ns);
}

static enum status import_row(void *context, const struct store_row *row, struct error *error)
{
    struct importing *importing = context;
    struct store_imported *counts = importing->counts;
    struct store_row old;
    bool found, replace = true;
    importing->row++;
    if (!store_filter_matches(importing->filter, row)) {
        counts->left_out++;
        return STATUS_OK;
    }
    TRY(store_get(importing->store, &row->key, &found, &old, error));
    if (found && is_same(&old, row)) {
        counts->same++;
        return STATUS_OK;
    }
    if (found)
        TRY(clash(importing, &old, row, &replace, error));
    counts->added += !found;
    counts->replaced += found && replace;
    counts->kept += found && !replace;
    return replace ? store_put(importing->store, row, error) : STATUS_OK;
}

enum status store_import(const char *file, struct store *store, const struct store_filter *filter,
                         enum store_clash clash_rule, struct store_imported *imported,
                         struct error *error)
{
    *imported = (struct store_imported){0};
    struct importing importing = {store, file, filter, clash_rule, imported, 0};
    TRY(store_lines_read(file, import_row, &importing, error));
    return store_commit(store, error);
}
