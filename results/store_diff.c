/* Finds what changed between two stores, by a merge join. Both stores are walked in the order of
 * their keys, rows of one problem at a time. Within it keys are merged, what is left is sorted by
 * the chip's name and paired where that leaves no doubt, and all is put back into the order of
 * keys. */
#include "results/store_diff.h"

#include <stdlib.h>
#include <string.h>

static const char *const change_names[STORE_CHANGES] = {"same",  "better", "worse",
                                                        "other", "added",  "removed"};

const char *store_change_name(enum store_change change)
{
    return change_names[change];
}

/* One store on the way: the row that comes next. */
struct side {
    struct store_walk *walk;
    const struct store_filter *filter;
    bool found;
    struct store_row row;
    struct store_rows group; /* rows about one problem */
};

static enum status advance(struct side *side, struct error *error)
{
    enum status status;
    do
        status = store_walk_next(side->walk, &side->found, &side->row, error);
    while (status == STATUS_OK && side->found && !store_filter_matches(side->filter, &side->row));
    return status;
}

static enum status side_open(struct side *side, struct store *store,
                             const struct store_filter *filter, struct error *error)
{
    *side = (struct side){.filter = filter};
    TRY(store_walk_open(store, &side->walk, error));
    return advance(side, error);
}

static void side_close(struct side *side)
{
    store_rows_clear(&side->group);
    store_walk_close(side->walk);
}

/* ------------------------------------------------------------------ groups */

/* What a group has in common: the members that a key is ordered by first. */
static struct store_key problem_of(const struct store_key *key)
{
    struct store_key problem = *key;
    problem.hardware = problem.query = "";
    problem.cores = problem.model_version = 0;
    problem.kind = STORE_SIMULATED;
    return problem;
}

static int compare_problems(const struct store_key *a, const struct store_key *b)
{
    struct store_key left = problem_of(a), right = problem_of(b);
    return store_compare(&left, &right);
}

static bool same_but_version(const struct store_key *a, const struct store_key *b)
{
    struct store_key left = *a, right = *b;
    left.model_version = right.model_version = 0;
    return store_compare(&left, &right) == 0;
}

/* Takes the side's rows about `problem`; of several versions, which are neighbours, the last. */
static enum status take_group(struct side *side, const struct store_key *problem,
                              struct error *error)
{
    while (side->found && compare_problems(&side->row.key, problem) == 0) {
        struct store_rows *group = &side->group;
        struct store_row *last = group->count ? &group->rows[group->count - 1] : NULL;
        if (last && same_but_version(&last->key, &side->row.key))
            store_rows_drop_last(group);
        TRY(store_rows_add(group, &side->row, STORE_ANSWERS, error));
        TRY(advance(side, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ pairs */

struct pair {
    const struct store_row *old, *new;
};

/* Less than 0: a comes first. By what identifies a chip's row when its fingerprint does not. */
static int compare_names(const struct store_row *a, const struct store_row *b)
{
    struct store_key left = a->key, right = b->key;
    left.model_version = right.model_version = 0;
    left.hardware = a->hardware_name;
    right.hardware = b->hardware_name;
    return store_compare(&left, &right);
}

static const struct store_row *row_of(const struct pair *pair)
{
    return pair->new ? pair->new : pair->old;
}

/* Pairs by name, what was there before first. */
static int by_name(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int order = compare_names(row_of(a), row_of(b));
    return order ? order : (a->new != NULL) - (b->new != NULL);
}

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int order = store_compare(&row_of(a)->key, &row_of(b)->key);
    return order ? order : (a->new != NULL) - (b->new != NULL);
}

/* Merges two groups; *single counts the pairs without a partner, which come first. */
static size_t pair_keys(const struct store_rows *old, const struct store_rows *new,
                        struct pair *pairs, size_t *single)
{
    size_t total = old->count + new->count, i = 0, j = 0, both = total;
    *single = 0;
    while (i < old->count || j < new->count) {
        int order = (i == old->count) - (j == new->count);
        struct store_key left, right;
        if (order == 0) {
            left = old->rows[i].key;
            right = new->rows[j].key;
            left.model_version = right.model_version = 0;
            order = store_compare(&left, &right);
        }
        if (order == 0)
            pairs[--both] = (struct pair){&old->rows[i], &new->rows[j]};
        else
            pairs[(*single)++] =
                (struct pair){order < 0 ? &old->rows[i] : NULL, order > 0 ? &new->rows[j] : NULL};
        i += order <= 0;
        j += order >= 0;
    }
    memmove(pairs + *single, pairs + both, (total - both) * sizeof *pairs);
    return *single + total - both;
}

/* Joins one old and one new row of the same name where there is no other. Returns how many pairs
 * are left of `count`. */
static size_t pair_names(struct pair *pairs, size_t count)
{
    size_t kept = 0, next;
    qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t first = 0; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (compare_names(row_of(&pairs[first]), row_of(&pairs[next])) != 0)
                break;
        if (next - first == 2 && !pairs[first].new &&pairs[first + 1].new)
            pairs[kept++] = (struct pair){pairs[first].old, pairs[first + 1].new};
        else
            for (size_t i = first; i < next; i++)
                pairs[kept++] = pairs[i];
    }
    return kept;
}

/* A result without a legal tiling, time 0, is worse than any with one. */
static enum store_change judge(const struct pair *pair)
{
    const struct store_row *old = pair->old, *new = pair->new;
    if (!old)
        return STORE_ADDED;
    if (!new)
        return STORE_REMOVED;
    if (old->time_ns != new->time_ns)
        return old->time_ns == 0 || (new->time_ns > 0 && new->time_ns < old->time_ns) ? STORE_BETTER
                                                                                      : STORE_WORSE;
    bool same = old->optimal == new->optimal &&
                old->limit_s == new->limit_s &&strcmp(old->tiling, new->tiling) == 0 &&
                strcmp(old->key.hardware, new->key.hardware) == 0 &&
                strcmp(old->answer, new->answer) == 0;
    return same ? STORE_SAME : STORE_OTHER;
}

static enum status diff_group(struct side *old, struct side *new, struct store_diff *diff,
                              struct error *error)
{
    size_t total = old->group.count + new->group.count, single;
    struct pair *pairs = calloc(total, sizeof *pairs);
    if (!pairs)
        return error_memory(error);
    enum status status = STATUS_OK;
    size_t count = pair_keys(&old->group, &new->group, pairs, &single);
    size_t left = pair_names(pairs, single);
    memmove(pairs + left, pairs + single, (count - single) * sizeof *pairs);
    count -= single - left;
    qsort(pairs, count, sizeof *pairs, by_key);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        enum store_change change = judge(&pairs[i]);
        diff->count[change]++;
        if (change != STORE_SAME && diff->visit)
            status = diff->visit(diff->context, change, pairs[i].old, pairs[i].new, error);
    }
    free(pairs);
    return status;
}

static enum status diff_sides(struct side *old, struct side *new, struct store_diff *diff,
                              struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (old->found || new->found)) {
        const struct side *first = !new->found                                           ? old
                                   : !old->found                                         ? new
                                   : compare_problems(&old->row.key, &new->row.key) <= 0 ? old
                                                                                         : new;
        struct store_rows head = {0}; /* the rows' texts go with the walk */
        status = store_rows_add(&head, &first->row, STORE_NO_ANSWERS, error);
        if (status == STATUS_OK)
            status = take_group(old, &head.rows[0].key, error);
        if (status == STATUS_OK)
            status = take_group(new, &head.rows[0].key, error);
        if (status == STATUS_OK)
            status = diff_group(old, new, diff, error);
        store_rows_clear(&head);
        store_rows_clear(&old->group);
        store_rows_clear(&new->group);
    }
    return status;
}

enum status store_diff(struct store *old, struct store *new, struct store_diff *diff,
                       struct error *error)
{
    struct side left, right = {0};
    memset(diff->count, 0, sizeof diff->count);
    enum status status = side_open(&left, old, diff->filter, error);
    if (status == STATUS_OK)
        status = side_open(&right, new, diff->filter, error);
    if (status == STATUS_OK)
        status = diff_sides(&left, &right, diff, error);
    side_close(&left);
    side_close(&right);
    return status;
}
