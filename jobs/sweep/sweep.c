/* Reads a sweep and puts its jobs in order. Texts of a sweep lie in large blocks that are freed
 * together; jobs and faults in arrays that double. A table has a header of options and a job a row;
 * named sets are the files of configs/sweeps. Once all is read, jobs are sorted by key, which
 * brings those together that ask for the same, and then by cost: the quick ones first, and what is
 * measured last. Position in the file decides between equals, so the order is that of the file
 * alone.
 *
 * How long a search takes, about: a power of each size for every space, fitted to searches of
 * random shapes on one core (docs/sweeps.md says how well; bench/bench_sweep.sh measures it). Only
 * additions, products and comparisons, which are exact or rounded alike on every machine: shards
 * are cut by these numbers, on each machine for itself. */
#include "jobs/sweep/sweep_rows.h"

#include "core/array.h"
#include "formats/csv.h"
#include "hardware/load.h"
#include "hardware/tree.h"
#include "jobs/tune/host_job.h"
#include "search/strategy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ memory */

/* Texts of jobs that many have in common. */
enum { SWEEP_OPTIONS, SWEEP_SHAPE, SWEEP_SIMULATED_QUERY, SWEEP_MEASURED_QUERY, SWEEP_TEXTS };

struct sweep_memory {
    struct block *blocks;
    const char *last_text[SWEEP_TEXTS]; /* of the last job: most are alike */
};

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

/* ------------------------------------------------------------------ what readers hand in */

static enum status add_fault(struct sweep *sweep, int line, const char *text, struct error *error)
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

/* ------------------------------------------------------------------ costs */

#define LEAST_US 100
#define MOST_US  1e12 /* a million of them can be added up */

/* What one tiling costs to simulate, and to score on a processor. */
#define SIMULATE_US 20.0
#define SCORE_US    0.5

/* A tiling to trust takes two searches, each for many tilings. */
#define ROBUST_SEARCHES 4

/* What one tiling costs to measure, about: docs/host.md has eight in a second. */
enum { MEASURE_US = 125000 };

double log2_by_lines(double x)
{
    int exponent;
    double share = frexp(x, &exponent); /* x = share · 2^exponent, 1/2 <= share < 1 */
    return exponent - 1 + 2 * share - 1;
}

double exp2_by_lines(double x)
{
    double whole = floor(x);
    return ldexp(1 + x - whole, (int)whole);
}

/* 0 where nothing is known of the space. */
static double fitted_us(const struct job *job)
{
    const struct problem *problem = &job->problem;
    const struct operator_cost *cost = &job->space.kind->cost;
    double log = cost->base;
    if (log == 0)
        return 0;
    for (int i = 0; i < problem->op->size_count; i++)
        log += cost->power[i] * log2_by_lines((double)problem->size[i]);
    return exp2_by_lines(log < 40 ? log : 40);
}

static int64_t measuring_cost(int64_t tilings)
{
    return MEASURE_US * tilings;
}

/* An estimate of the work of a job's search, > 0, about microseconds of one core; the same on every
 * machine. By it sweeps go smallest first and are cut into shards. */
static int64_t job_cost(const struct job *job)
{
    double all = (double)job->space.candidates;
    double us = fitted_us(job);
    if (us <= 0 || job->space.kind->ask)
        us = SCORE_US * all;
    double simulates = (double)search_strategy_find(job->strategy)->simulates;
    if (simulates > 0 && !job->space.kind->ask)
        us = SIMULATE_US * (simulates < all ? simulates : all);
    if (job_chooses(job))
        us *= ROBUST_SEARCHES;
    us = us > LEAST_US ? us : LEAST_US;
    return (int64_t)(us < MOST_US ? us : MOST_US);
}

/* ------------------------------------------------------------------ from a row to its jobs */

/* The kernel first: it says which others there are. */
static enum status set_options(const struct sweep_option *options, int count, struct job *job,
                               struct error *error)
{
    for (int i = 0; i < 2 * count; i++) {
        const struct sweep_option *option = &options[i % count];
        if ((strcmp(option->name, "kernel") == 0) == (i < count))
            TRY(job_set(job, option->name, option->text, error));
    }
    return STATUS_OK;
}

static enum status open_row(const struct sweep *sweep, const struct sweep_option *options,
                            int count, struct job *job, struct error *error)
{
    job_init(job);
    job->kernels = sweep->kernels;
    job->validate = 0; /* the model alone, unless the row says otherwise */
    enum status status = set_options(options, count, job, error);
    if (status == STATUS_OK)
        status = job_open(job, sweep->loaded, error);
    if (status != STATUS_OK)
        job_close(job);
    return status;
}

enum status sweep_open_job(const struct sweep *sweep, int64_t index, struct job *job,
                           struct error *error)
{
    const struct sweep_job *row = &sweep->jobs[index];
    return open_row(sweep, row->options, row->option_count, job, error);
}

/* What the chip keeps its data in on the way, all cores together: its limited buffers. */
static double chip_buffer_bytes(const struct hardware *hw)
{
    double bytes = 0;
    for (int b = 0; b < hw->buffer_count; b++)
        bytes += (double)hw->buffers[b].capacity_bytes;
    return bytes * hw->cores;
}

/* The chip's number; added where it is new. -1 without memory. */
static int find_chip(struct sweep *sweep, const struct job *job)
{
    for (int64_t i = sweep->chip_count - 1; i >= 0; i--)
        if (sweep->chips[i].cores == job->cores &&
            strcmp(sweep->chips[i].fingerprint, job->chip->fingerprint) == 0)
            return (int)i;
    if (!array_room(&sweep->chips, sweep->chip_count, sizeof *sweep->chips))
        return -1;
    struct sweep_chip *chip = &sweep->chips[sweep->chip_count++];
    strcpy(chip->fingerprint, job->chip->fingerprint);
    job_hardware_name(job->hw, chip->name, sizeof chip->name);
    chip->cores = job->cores;
    chip->buffer_bytes = chip_buffer_bytes(job->hw);
    return (int)sweep->chip_count - 1;
}

/* A copy of the text, or that of the last job where it is the same. */
static const char *keep_text(struct sweep *sweep, int slot, const char *text)
{
    const char **last = &sweep->memory->last_text[slot];
    if (!*last || strcmp(*last, text) != 0)
        *last = sweep_copy(sweep, text);
    return *last;
}

static enum status check_room(const struct sweep *sweep, int line, struct error *error)
{
    return sweep->job_count < sweep->most_jobs
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE, "%s:%d: expected at most %lld jobs",
                           sweep->file, line, (long long)sweep->most_jobs);
}

/* Adds a row's job; texts of its key are copied. */
static enum status add_job(struct sweep *sweep, const struct job *job, struct sweep_job row,
                           struct error *error)
{
    bool measured = row.key.kind == STORE_MEASURED;
    TRY(check_room(sweep, row.line, error));
    if (!array_room(&sweep->jobs, sweep->job_count, sizeof *sweep->jobs))
        return error_memory(error);
    row.position = sweep->job_count;
    row.chip = find_chip(sweep, job);
    row.time_limit_s = job->time_limit_s;
    row.calls = job->calls;
    row.compared = job->baseline_ns > 0 ? job->calls : 0;
    row.baseline_ns = job->baseline_ns * (double)job->calls;
    sweep->has_calls |= job->calls > 1 || row.compared;
    row.key.options = keep_text(sweep, SWEEP_OPTIONS, row.key.options);
    row.key.shape = keep_text(sweep, SWEEP_SHAPE, row.key.shape);
    row.key.query =
        keep_text(sweep, measured ? SWEEP_MEASURED_QUERY : SWEEP_SIMULATED_QUERY, row.key.query);
    if (row.chip < 0 || !row.key.options || !row.key.query || !row.key.shape)
        return error_memory(error);
    sweep->jobs[sweep->job_count++] = row;
    return STATUS_OK;
}

/* What is asked of the model, and then of this machine. */
static enum status add_jobs(struct sweep *sweep, const struct job *job, struct sweep_job row,
                            struct error *error)
{
    struct job_key_texts texts;
    const struct host_question question = host_job_question(job);
    job_key(job, &texts, &row.key);
    row.cost = job_cost(job);
    enum status status = add_job(sweep, job, row, error);
    if (status != STATUS_OK || question.wanted <= 0)
        return status;
    host_job_key(job, &question, &texts, &row.key);
    row.cost = measuring_cost(question.wanted);
    return add_job(sweep, job, row, error);
}

enum status sweep_add(struct sweep *sweep, int line, const struct sweep_option *options, int count,
                      struct error *error)
{
    struct job job;
    struct error why;
    enum status status = check_room(sweep, line, error);
    if (status != STATUS_OK)
        return status;
    status = open_row(sweep, options, count, &job, &why);
    if (status == STATUS_NO_MEMORY)
        return error_memory(error);
    if (status != STATUS_OK)
        return add_fault(sweep, line, why.text, error);
    status = add_jobs(sweep, &job,
                      (struct sweep_job){.line = line, .option_count = count, .options = options},
                      error);
    job_close(&job);
    return status;
}

/* ------------------------------------------------------------------ named sets */

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

/* ------------------------------------------------------------------ tables */

struct table {
    const struct sweep_source *source;
    struct sweep *sweep;
    struct csv csv;
    int column_count;
    bool has_kernels;
    const char *columns[CSV_MAX_FIELDS];
};

static bool has_column(const struct table *table, const char *name)
{
    for (int i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], name) == 0)
            return true;
    return false;
}

/* Beside kernels any column may be a size of theirs. */
static enum status add_column(struct table *table, const char *name, struct error *error)
{
    const char *file = table->csv.file;
    int line = table->csv.line;
    if (!job_has_option(name) && !table->has_kernels)
        return error_at(error, file, line,
                        "column '%.64s': expected op, shape, or another long option that says what "
                        "to search%s",
                        name, job_option_like(name).text);
    if (strcmp(name, "set-hw") != 0 && has_column(table, name))
        return error_at(error, file, line, "column '%.64s' is there twice", name);
    const char *copy = sweep_copy(table->sweep, name);
    if (!copy)
        return error_memory(error);
    table->columns[table->column_count++] = copy;
    return STATUS_OK;
}

static enum status read_header(struct table *table, struct error *error)
{
    bool found;
    TRY(csv_next(&table->csv, &found, error));
    if (!found)
        return error_at(error, table->csv.file, 0, "empty, expected a header that names op,shape");
    for (int i = 0; i < table->csv.field_count; i++)
        table->has_kernels = table->has_kernels || strcmp(table->csv.fields[i], "kernel") == 0;
    for (int i = 0; i < table->csv.field_count; i++)
        TRY(add_column(table, table->csv.fields[i], error));
    if (!((has_column(table, "op") || table->has_kernels) && has_column(table, "shape")))
        return error_at(error, table->csv.file, table->csv.line,
                        "expected a header that names op,shape and other options");
    return STATUS_OK;
}

/* An empty field says nothing. */
static enum status add_table_row(struct table *table, struct error *error)
{
    struct sweep *sweep = table->sweep;
    const struct csv *csv = &table->csv;
    char text[SWEEP_FAULT_SIZE];
    if (csv->field_count != table->column_count) {
        snprintf(text, sizeof text, "%d fields, expected %d as in the header", csv->field_count,
                 table->column_count);
        return add_fault(sweep, csv->line, text, error);
    }
    int count = table->source->option_count;
    struct sweep_option *row = sweep_row(table->source, sweep, csv->field_count);
    for (int i = 0; row && i < csv->field_count; i++) {
        if (!csv->fields[i][0])
            continue;
        row[count] = (struct sweep_option){table->columns[i], sweep_copy(sweep, csv->fields[i])};
        if (!row[count++].text)
            row = NULL;
    }
    return row ? sweep_add(sweep, csv->line, row, count, error) : error_memory(error);
}

/* Counting rows takes a hundredth of what making jobs of them takes, so too many are refused before
 * any is made. What cannot be read twice, and a broken row, are left to the reading. */
static enum status check_count(const struct sweep_source *source, const struct sweep *sweep,
                               struct error *error)
{
    struct csv csv;
    struct stat about;
    struct error broken;
    bool found = true;
    int64_t rows = -1; /* the header is none */
    if (stat(source->name, &about) != 0 || !S_ISREG(about.st_mode))
        return STATUS_OK;
    enum status status = csv_open(source->name, &csv, error);
    if (status != STATUS_OK)
        return status;
    while (found && rows <= sweep->most_jobs && csv_next(&csv, &found, &broken) == STATUS_OK)
        rows += found;
    if (rows > sweep->most_jobs)
        status = error_set(error, STATUS_TOO_LARGE, "%s:%d: expected at most %lld rows", csv.file,
                           csv.line, (long long)sweep->most_jobs);
    csv_close(&csv);
    return status;
}

static enum status read_table(const struct sweep_source *source, struct sweep *sweep,
                              struct error *error)
{
    struct table *table = calloc(1, sizeof *table);
    bool found = true;
    if (!table)
        return error_memory(error);
    table->source = source;
    table->sweep = sweep;
    enum status status = check_count(source, sweep, error);
    if (status == STATUS_OK)
        status = csv_open(source->name, &table->csv, error);
    if (status == STATUS_OK) {
        status = read_header(table, error);
        while (status == STATUS_OK && found) {
            status = csv_next(&table->csv, &found, error);
            if (status == STATUS_OK && found)
                status = add_table_row(table, error);
        }
        csv_close(&table->csv);
    }
    free(table);
    return status;
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

static void add_up_costs(struct sweep *sweep)
{
    sweep->total_cost = 0;
    for (int64_t i = 0; i < sweep->job_count; i++)
        sweep->total_cost += sweep->jobs[i].cost;
}

/* Chips stand in an array that has stopped moving only now. */
static void finish_sweep(struct sweep *sweep)
{
    for (int64_t i = 0; i < sweep->job_count; i++)
        sweep->jobs[i].key.hardware = sweep->chips[sweep->jobs[i].chip].fingerprint;
    if (sweep->job_count) {
        drop_duplicates(sweep);
        qsort(sweep->jobs, (size_t)sweep->job_count, sizeof *sweep->jobs, by_cost);
    }
    if (sweep->fault_count)
        qsort(sweep->faults, (size_t)sweep->fault_count, sizeof *sweep->faults, by_line);
    add_up_costs(sweep);
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
    return ends_in(file, ".csv") ? read_table(&found, sweep, error)
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
        finish_sweep(sweep);
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
