/* Reads the best tiling of each problem out of a store. Rows that the filter lets pass are read,
 * and have to be of one chip, one number of cores and, for each operator, one space: else the
 * error lists what there is to choose from. Their texts become problems again, which are sorted by
 * operator, type, choices and sizes, the fastest first among equals; the first of each stays. */
#include "jobs/table/tilings.h"
#include "core/version.h"
#include "kernels/registry.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ rows as problems */

static enum status no_problem(const struct store_row *row, const char *why, struct error *error)
{
    return error_set(error, STATUS_INVALID, "the result %.32s %.64s %.64s %.16s: %.200s",
                     row->key.op, row->key.shape, row->key.options, row->key.dtype, why);
}

static enum status no_type(const struct store_row *row, struct error *error)
{
    char expected[DTYPE_LIST_SIZE], why[DTYPE_LIST_SIZE + 32];
    dtype_expected(row->key.dtype, -1, expected);
    snprintf(why, sizeof why, "dtype: expected %s", expected);
    return no_problem(row, why, error);
}

/* "batch=4 transpose=a" */
static enum status set_options(struct problem *problem, const char *options, struct error *error)
{
    enum status status = STATUS_OK;
    char *copy = strdup(options), *state = NULL;
    if (!copy)
        return error_memory(error);
    for (char *option = strtok_r(copy, " ", &state); option && status == STATUS_OK;
         option = strtok_r(NULL, " ", &state)) {
        char *value = strchr(option, '=');
        if (value)
            *value++ = 0;
        status = value ? problem_set(problem, option, value, error)
                       : error_set(error, STATUS_INVALID, "expected name=value in its options");
    }
    free(copy);
    return status;
}

/* A row of a kernel's text knows the text by its name and fingerprint. */
static const struct operator* find_operator(const struct store_row *row, struct kernels *kernels)
{
    const char *kernel = store_kernel(row);
    const struct operator* op;
    struct error ignored;
    if (!*kernel)
        return operator_find(row->key.op);
    for (int apart = 0; apart < 2 && !kernels_find(kernels, kernel); apart++)
        if (kernels_get(kernels, row->key.op, apart, &op, &ignored) != STATUS_OK)
            return NULL;
    return kernels_find(kernels, kernel);
}

static enum status read_problem(const struct store_row *row, struct kernels *kernels,
                                struct problem *problem, struct error *error)
{
    struct error why = {0};
    const struct operator* op = find_operator(row, kernels);
    int type = dtype_find(row->key.dtype, (int)strlen(row->key.dtype));
    if (!op && *store_kernel(row))
        return no_problem(row, "of a text that is not found by its name, expected --kernel FILE",
                          error);
    if (!op)
        return no_problem(row, "there is no such operator", error);
    if (type < 0)
        return no_type(row, error);
    enum status status = problem_parse(op, row->key.shape, problem, &why);
    problem_set_type(problem, (enum dtype)type);
    if (status == STATUS_OK)
        status = set_options(problem, row->key.options, &why);
    if (status == STATUS_OK)
        status = problem_settle(problem, &why);
    return status == STATUS_OK ? STATUS_OK : no_problem(row, why.text, error);
}

/* ------------------------------------------------------------------ order */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int rank_of(const struct operator* op)
{
    int rank = 0;
    while (operators[rank] && operators[rank] != op)
        rank++;
    return rank;
}

/* Operators as `list ops` has them, then kernels' texts by name. */
static int compare_operators(const struct operator* a, const struct operator* b)
{
    int order = compare_numbers(rank_of(a), rank_of(b));
    if (order || !a->fingerprint)
        return order;
    order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->fingerprint, b->fingerprint);
}

/* What belongs into one part of a table. */
static int compare_parts(const struct problem *a, const struct problem *b)
{
    int order = compare_operators(a->op, b->op);
    if (!order)
        order = compare_numbers(a->type, b->type);
    for (int i = 0; i < a->op->choice_count && !order; i++)
        order = compare_numbers(a->choice[i], b->choice[i]);
    return order;
}

static int compare_problems(const struct problem *a, const struct problem *b)
{
    int order = compare_parts(a, b);
    for (int i = 0; i < a->op->size_count && !order; i++)
        order = compare_numbers(a->size[i], b->size[i]);
    return order;
}

/* The best first among those of one problem. */
static int by_problem(const void *left, const void *right)
{
    const struct best_tiling *a = left, *b = right;
    int order = compare_problems(&a->problem, &b->problem);
    if (!order)
        order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
    if (!order)
        order = b->optimal - a->optimal;
    return order ? order : strcmp(a->tiling, b->tiling);
}

/* ------------------------------------------------------------------ one chip, one space */

enum { MAX_NAMED = 4 };

/* Adds " and OTHER" or so to a list of at most MAX_NAMED. */
static void name_one(char *text, size_t size, int *named, const char *name, const char *detail)
{
    size_t used = strlen(text);
    if (*named < MAX_NAMED)
        snprintf(text + used, size - used, "%s%.40s%s%.32s", *named ? ", " : "", name,
                 *detail ? " " : "", detail);
    else if (*named == MAX_NAMED)
        snprintf(text + used, size - used, ", ...");
    ++*named;
}

static int by_fingerprint(const void *left, const void *right)
{
    const struct store_row *const *a = left, *const *b = right;
    int order = strcmp((*a)->key.hardware, (*b)->key.hardware);
    return order ? order : strcmp((*a)->hardware_name, (*b)->hardware_name);
}

static int by_cores(const void *left, const void *right)
{
    const struct store_row *const *a = left, *const *b = right;
    return compare_numbers((*a)->key.cores, (*b)->key.cores);
}

/* The rows in another order, to find what there is more than one of. The caller frees it. */
static const struct store_row **order_rows(const struct store_rows *rows,
                                           int (*order)(const void *, const void *))
{
    const struct store_row **list = calloc(rows->count, sizeof(void *));
    for (size_t i = 0; list && i < rows->count; i++)
        list[i] = &rows->rows[i];
    if (list)
        qsort(list, rows->count, sizeof(void *), order);
    return list;
}

static enum status check_chips(struct tilings *tilings, struct error *error)
{
    const struct store_row **rows = order_rows(&tilings->rows, by_fingerprint);
    char text[256] = "";
    int named = 0;
    if (!rows)
        return error_memory(error);
    for (size_t i = 0; i < tilings->rows.count; i++)
        if (i == 0 || strcmp(rows[i]->key.hardware, rows[i - 1]->key.hardware) != 0)
            name_one(text, sizeof text, &named, rows[i]->hardware_name, rows[i]->key.hardware);
    tilings->hardware = rows[0]->hardware_name;
    tilings->fingerprint = rows[0]->key.hardware;
    free(rows);
    return named == 1 ? STATUS_OK
                      : error_set(error, STATUS_INVALID,
                                  "a table is of one chip, these are results of %d: %s; --hw NAME "
                                  "or FINGERPRINT says which",
                                  named, text);
}

static enum status check_cores(struct tilings *tilings, struct error *error)
{
    const struct store_row **rows = order_rows(&tilings->rows, by_cores);
    char text[256] = "", number[16];
    int named = 0;
    if (!rows)
        return error_memory(error);
    for (size_t i = 0; i < tilings->rows.count; i++) {
        snprintf(number, sizeof number, "%d", rows[i]->key.cores);
        if (i == 0 || rows[i]->key.cores != rows[i - 1]->key.cores)
            name_one(text, sizeof text, &named, number, "");
    }
    tilings->cores = rows[0]->key.cores;
    free(rows);
    return named == 1 ? STATUS_OK
                      : error_set(error, STATUS_INVALID,
                                  "a table is for one number of cores, these are results for %s; "
                                  "--cores says which",
                                  text);
}

/* Has an operator before the i-th tiling's the same name? */
static bool is_taken(const struct tilings *tilings, int64_t i)
{
    const struct operator* op = tilings->best[i].problem.op;
    bool taken = false;
    for (int64_t j = 0; j < i && !taken; j++)
        taken = tilings->best[j].problem.op != op &&
                strcmp(tilings->best[j].problem.op->name, op->name) == 0;
    return taken;
}

static enum status check_spaces(const struct tilings *tilings, struct error *error)
{
    const struct best_tiling *first = &tilings->best[0];
    for (int64_t i = 1; i < tilings->count; i++) {
        const struct best_tiling *next = &tilings->best[i];
        const struct operator* op = next->problem.op;
        if (op != first->problem.op && is_taken(tilings, i))
            return error_set(error, STATUS_INVALID,
                             "a table has one %s, these are results of several texts; --kernel "
                             "says which",
                             op->name);
        if (op != first->problem.op)
            first = next;
        else if (strcmp(first->space, next->space) != 0)
            return error_set(error, STATUS_INVALID,
                             "a table has one space of an operator, these are results of %s in "
                             "%.64s and %.64s; --space says which",
                             first->problem.op->name, first->space, next->space);
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ reading */

struct reading {
    struct store_filter filter;
    struct tilings *tilings;
};

static enum status take_row(void *context, const struct store_row *row, struct error *error)
{
    const struct reading *reading = context;
    struct tilings *tilings = reading->tilings;
    if (!store_filter_matches(&reading->filter, row))
        return STATUS_OK;
    tilings->of_kind[row->key.kind]++;
    if (row->key.kind != tilings->kind)
        return STATUS_OK;
    if (row->key.kind == STORE_SIMULATED && row->key.model_version != MODEL_VERSION) {
        tilings->outdated++;
        return STATUS_OK;
    }
    if (row->time_ns <= 0 || !*row->tiling) {
        tilings->infeasible++;
        return STATUS_OK;
    }
    return store_rows_add(&tilings->rows, row, STORE_NO_ANSWERS, error);
}

static enum status make_problems(struct tilings *tilings, struct kernels *kernels,
                                 struct error *error)
{
    tilings->best = calloc(tilings->rows.count, sizeof *tilings->best);
    if (!tilings->best)
        return error_memory(error);
    for (size_t i = 0; i < tilings->rows.count; i++) {
        const struct store_row *row = &tilings->rows.rows[i];
        struct best_tiling *best = &tilings->best[i];
        *best = (struct best_tiling){.space = row->key.space,
                                     .tiling = row->tiling,
                                     .time_ns = row->time_ns,
                                     .optimal = row->optimal};
        TRY(read_problem(row, kernels, &best->problem, error));
    }
    tilings->count = (int64_t)tilings->rows.count;
    qsort(tilings->best, tilings->rows.count, sizeof *tilings->best, by_problem);
    return STATUS_OK;
}

static void keep_the_best(struct tilings *tilings)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < tilings->count; i++)
        if (i == 0 ||
            compare_problems(&tilings->best[i].problem, &tilings->best[kept - 1].problem) != 0)
            tilings->best[kept++] = tilings->best[i];
    tilings->count = kept;
}

static enum status read_rows(const char *file, struct reading *reading, struct error *error)
{
    struct store *store;
    enum status status = store_open(file, STORE_READ, &store, error);
    if (status != STATUS_OK)
        return status;
    status = store_each(store, take_row, reading, error);
    store_close(store);
    return status;
}

enum status tilings_read(const char *file, const struct store_filter *filter,
                         struct kernels *kernels, struct tilings *tilings, struct error *error)
{
    struct reading reading = {*filter, tilings};
    struct error why = {0};
    *tilings = (struct tilings){.kind = filter->kind_given ? filter->kind : STORE_SIMULATED};
    reading.filter.kind_given = false;
    enum status status = read_rows(file, &reading, error);
    if (status != STATUS_OK || !tilings->rows.count) {
        store_rows_clear(&tilings->rows);
        return status;
    }
    status = check_chips(tilings, &why);
    if (status == STATUS_OK)
        status = check_cores(tilings, &why);
    if (status == STATUS_OK)
        status = make_problems(tilings, kernels, &why);
    if (status == STATUS_OK)
        status = check_spaces(tilings, &why);
    if (status == STATUS_OK) {
        keep_the_best(tilings);
        return STATUS_OK;
    }
    tilings_clear(tilings);
    return error_set(error, status, "%.200s: %.300s", file, why.text);
}

void tilings_clear(struct tilings *tilings)
{
    store_rows_clear(&tilings->rows);
    free(tilings->best);
    *tilings = (struct tilings){0};
}
