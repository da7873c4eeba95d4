/* Reads a sweep and puts its jobs in order. Texts of a sweep lie in large blocks that are freed
 * together; jobs and faults in arrays that double. Once all is read, jobs are sorted by key, which
 * brings those together that ask for the same, and then by cost: the quick ones first, and what is
 * measured last. Position in the file decides between equals, so the order is that of the file
 * alone. */
#include "jobs/sweep/sweep.h"

#include "core/array.h"
#include "jobs/sweep/sweep_rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ------------------------------------------------------------------ memory */

enum { BLOCK_SIZE = 1 << 20 };

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

void *sweep_allocate(struct sweep *sweep, size_t size)
{
    struct sweep_memory *memory = sweep->memory;
    struct block *block = memory->blocks;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!block || block->size - block->used < size) {
        size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = malloc(sizeof *block + capacity);
        if (!block)
            return NULL;
        *block = (struct block){.next = memory->blocks, .size = capacity};
        memory->blocks = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

const char *sweep_copy(struct sweep *sweep, const char *text)
{
    char *copy = sweep_allocate(sweep, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

void sweep_clear(struct sweep *sweep)
{
    while (sweep->memory && sweep->memory->blocks) {
        struct block *next = sweep->memory->blocks->next;
        free(sweep->memory->blocks);
        sweep->memory->blocks = next;
    }
    free(sweep->memory);
    free(sweep->jobs);
    free(sweep->faults);
    free(sweep->chips);
    chips_close(sweep->loaded);
    kernels_close(sweep->kernels);
    memset(sweep, 0, sizeof *sweep);
}

/* ------------------------------------------------------------------ rows */

enum status sweep_add_fault(struct sweep *sweep, int line, const char *text, struct error *error)
{
    if (sweep->fault_count >= sweep->most_jobs)
        return error_set(error, STATUS_TOO_LARGE, "%s: more than %lld bad rows", sweep->file,
                         (long long)sweep->most_jobs);
    if (!array_room(&sweep->faults, sweep->fault_count, sizeof *sweep->faults))
        return error_memory(error);
    struct sweep_fault *fault = &sweep->faults[sweep->fault_count++];
    fault->line = line;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return STATUS_OK;
}

struct sweep_option *sweep_row(const struct sweep_source *source, struct sweep *sweep, int count)
{
    size_t total = (size_t)source->option_count + (size_t)count;
    struct sweep_option *row = sweep_allocate(sweep, (total + 1) * sizeof *row);
    if (row && source->option_count)
        memcpy(row, source->options, (size_t)source->option_count * sizeof *row);
    return row;
}

/* ------------------------------------------------------------------ order */

static int by_number(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_key(const void *left, const void *right)
{
    const struct sweep_job *a = left, *b = right;
    int order = store_compare(&a->key, &b->key);
    return order ? order : by_number(a->position, b->position);
}

/* What is measured comes last, when nothing else runs. */
static int by_cost(const void *left, const void *right)
{
    const struct sweep_job *a = left, *b = right;
    int order = by_number(a->key.kind, b->key.kind);
    order = order ? order : by_number(a->cost, b->cost);
    return order ? order : by_number(a->position, b->position);
}

static int by_line(const void *left, const void *right)
{
    const struct sweep_fault *a = left, *b = right;
    int order = by_number(a->line, b->line);
    return order ? order : strcmp(a->text, b->text);
}

/* Calls of two that ask for the same add up. */
static void add_calls(struct sweep_job *to, const struct sweep_job *job)
{
    to->calls += job->calls;
    to->compared += job->compared;
    to->baseline_ns += job->baseline_ns;
}

/* Of two that ask for the same the longer time limit counts, 0 being without. */
static bool takes_longer(double limit_s, double than_s)
{
    return than_s > 0 && (limit_s <= 0 || limit_s > than_s);
}

static void drop_duplicates(struct sweep *sweep)
{
    int64_t kept = 0;
    qsort(sweep->jobs, (size_t)sweep->job_count, sizeof *sweep->jobs, by_key);
    for (int64_t i = 0; i < sweep->job_count; i++) {
        struct sweep_job *job = &sweep->jobs[i];
        struct sweep_job *last = kept ? &sweep->jobs[kept - 1] : NULL;
        if (!last || store_compare(&last->key, &job->key) != 0) {
            sweep->jobs[kept++] = *job;
            continue;
        }
        if (takes_longer(job->time_limit_s, last->time_limit_s)) {
            struct sweep_job shorter = *last;
            *last = *job;
            *job = shorter;
        }
        add_calls(last, job);
    }
    sweep->duplicates = sweep->job_count - kept;
    sweep->job_count = kept;
}

static void add_up(struct sweep *sweep)
{
    sweep->total_cost = 0;
    for (int64_t i = 0; i < sweep->job_count; i++)
        sweep->total_cost += sweep->jobs[i].cost;
}

/* Chips stand in an array that has stopped moving only now. */
static void finish(struct sweep *sweep)
{
    for (int64_t i = 0; i < sweep->job_count; i++)
        sweep->jobs[i].key.hardware = sweep->chips[sweep->jobs[i].chip].fingerprint;
    if (sweep->job_count) {
        drop_duplicates(sweep);
        qsort(sweep->jobs, (size_t)sweep->job_count, sizeof *sweep->jobs, by_cost);
    }
    if (sweep->fault_count)
        qsort(sweep->faults, (size_t)sweep->fault_count, sizeof *sweep->faults, by_line);
    add_up(sweep);
}

/* ------------------------------------------------------------------ reading */

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), most = strlen(ending);
    return length >= most && strcasecmp(name + length - most, ending) == 0;
}

static void try_set(void *context, const char *name, const char *file, const char *title)
{
    (void)title, (void)file;
    suggest_try(context, name);
}

/* What has neither a '/' nor a '.' is the name of a set, unless there is such a file. */
static enum status find_file(const char *name, char file[PATH_MAX], struct error *error)
{
    char folder[PATH_MAX];
    snprintf(file, PATH_MAX, "%s", name);
    if (strpbrk(name, "/.") || access(name, F_OK) == 0)
        return STATUS_OK;
    enum status status = sweep_set_folder(folder, error);
    if (status != STATUS_OK || sweep_set_file(folder, name, file))
        return status;
    struct suggestion like = suggest_for(name, -1);
    status = sweep_each_set(try_set, &like, error);
    if (status != STATUS_OK)
        return status;
    return error_set(error, STATUS_INVALID,
                     "%.64s: expected a file, or a set of %.200s without its .cfg%s", name, folder,
                     like.text);
}

/* What the caller gives for every job need not live as long as the sweep. */
static enum status copy_options(struct sweep_source *source, struct sweep *sweep,
                                struct error *error)
{
    struct sweep_option *copies =
        sweep_allocate(sweep, ((size_t)source->option_count + 1) * sizeof *copies);
    bool copied = copies != NULL;
    for (int i = 0; i < source->option_count && copied; i++) {
        copies[i] = (struct sweep_option){sweep_copy(sweep, source->options[i].name),
                                          sweep_copy(sweep, source->options[i].text)};
        copied = copies[i].name && copies[i].text;
    }
    source->options = copies;
    return copied ? STATUS_OK : error_memory(error);
}

static enum status read_file(const struct sweep_source *source, struct sweep *sweep,
                             struct error *error)
{
    char file[PATH_MAX];
    struct sweep_source found = *source;
    sweep->memory = calloc(1, sizeof *sweep->memory);
    TRY(sweep->memory ? STATUS_OK : error_memory(error));
    TRY(find_file(source->name, file, error));
    TRY(chips_open(source->hw_folders, &sweep->loaded, error));
    TRY(kernels_open(source->kernel_folders, &sweep->kernels, error));
    sweep->file = sweep_copy(sweep, file);
    if (!sweep->file)
        return error_memory(error);
    found.name = sweep->file;
    TRY(copy_options(&found, sweep, error));
    return ends_in(file, ".csv") ? sweep_read_csv(&found, sweep, error)
                                 : sweep_read_config(&found, sweep, error);
}

enum status sweep_read(const struct sweep_source *source, struct sweep *sweep, struct error *error)
{
    memset(sweep, 0, sizeof *sweep);
    sweep->most_jobs = source->most_jobs ? source->most_jobs : SWEEP_MAX_JOBS;
    enum status status = read_file(source, sweep, error);
    if (status == STATUS_OK && sweep->job_count + sweep->fault_count == 0)
        status =
            error_set(error, STATUS_INVALID, "%s: no jobs, expected at least one", sweep->file);
    if (status == STATUS_OK)
        finish(sweep);
    else
        sweep_clear(sweep);
    return status;
}

void sweep_title(const struct sweep *sweep, int64_t index, char *text, size_t size)
{
    const struct store_key *key = &sweep->jobs[index].key;
    snprintf(text, size, "%s %s%s%s on %s%s", key->op, key->shape, *key->options ? " " : "",
             key->options, sweep->chips[sweep->jobs[index].chip].name,
             key->kind == STORE_MEASURED ? ", measured" : "");
}
