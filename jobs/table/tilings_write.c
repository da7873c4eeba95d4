/* Lays tilings out as plain data for the writers of tables. A store's tilings are texts,
 * "name=value,…": each is copied and cut up in place into axes and values, which the table points
 * to. Tilings come sorted, so that a part (one operator, type and set of choices) is a stretch of
 * them and only neighbours need comparing. A writer gets plain data then. The vendor's tables go
 * by way of banks' rows instead (jobs/tune/export.h).
 *
 * Limits let the header of a table re-check its tilings for other shapes. They are of a chip, and a
 * store knows its name and fingerprint only: the description that has both is the one. Without it,
 * and where a chip cannot run the text, only exact shapes are legal. */
#include "jobs/table/tilings.h"

#include "core/utf8.h"
#include "core/version.h"
#include "hardware/fingerprint.h"
#include "hardware/load.h"
#include "kernels/limits_code.h"
#include "kernels/operator_bank.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ limits */

/* Of all parts of a table, by their number. */
struct tilings_limits {
    int part_count;
    struct part_limits {
        struct limits_code code;
        struct table_limits *list;
    } * parts;
};

/* ------------------------------------------------------------------ the chip */

struct chip_search {
    const struct tilings *tilings;
    struct hardware *hw;
    bool found;
};

/* With a warm cache, and with a cold one. */
static void try_chip(void *context, const char *name)
{
    static const char *const words[] = {HARDWARE_CACHE "warm", HARDWARE_CACHE "cold"};
    struct chip_search *search = context;
    char fingerprint[FINGERPRINT_SIZE];
    struct error error;
    for (int w = 0; w < 2 && !search->found; w++) {
        const struct hardware_overrides changes = {&words[w], 1};
        if (hardware_load(name, &changes, search->hw, &error) != STATUS_OK)
            return;
        hardware_fingerprint(search->hw, fingerprint);
        search->found = strcmp(fingerprint, search->tilings->fingerprint) == 0;
        if (!search->found)
            hardware_clear(search->hw);
    }
}

/* By its name, which most have, and then among all. */
static bool find_chip(const struct tilings *tilings, struct hardware *hw)
{
    struct chip_search search = {.tilings = tilings, .hw = hw};
    struct error error;
    char name[sizeof hw->name];
    int length = (int)strcspn(tilings->hardware, ","); /* changes, and a cold cache, follow */
    if (!strchr(tilings->hardware, '/') &&
        snprintf(name, sizeof name, "%.*s", length, tilings->hardware) > 0)
        try_chip(&search, name);
    if (!search.found && hardware_each_from(NULL, try_chip, &search, &error) != STATUS_OK)
        return false;
    return search.found;
}

/* ------------------------------------------------------------------ parts */

/* One for all entries that says nothing. */
static enum status refuse_checks(struct table_part *part, struct part_limits *limits,
                                 const char *why, struct error *error)
{
    limits->list = calloc(1, sizeof *limits->list);
    if (!limits->list)
        return error_memory(error);
    *limits->list = (struct table_limits){NULL, why};
    part->limits = limits->list;
    part->limits_count = 1;
    return STATUS_OK;
}

static enum status make_part(const struct tilings *tilings, const struct hardware *hw,
                             const char *prefix, const struct best_tiling *best,
                             struct table_part *part, struct table_entry *entries,
                             struct part_limits *limits, struct error *error)
{
    struct limits_code *code = &limits->code;
    const struct operator_space *space = operator_space_find(best->problem.op, best->space);
    for (int64_t i = 0; i < part->count; i++) {
        struct limits_asked asked = {
            &best[i].problem, hw, tilings->cores, part, &entries[i], prefix,
        };
        TRY(space->limits_code(&asked, code, &entries[i].limits, error));
    }
    limits->list = calloc((size_t)code->count + 1, sizeof *limits->list);
    if (!limits->list)
        return error_memory(error);
    for (int i = 0; i < code->count; i++)
        limits->list[i] = (struct table_limits){code->bodies[i].text, code->bodies[i].why};
    part->limits = limits->list;
    part->limits_count = code->count;
    return STATUS_OK;
}

static enum status make_parts(const struct tilings *tilings, const struct hardware *hw,
                              const char *prefix, struct table_part *parts,
                              struct table_entry *entries, struct tilings_limits *limits, char *why,
                              struct error *error)
{
    for (int p = 0; p < limits->part_count; p++) {
        int64_t first = parts[p].entries - entries;
        const struct best_tiling *best = &tilings->best[first];
        const struct operator_space *space = operator_space_find(best->problem.op, best->space);
        if (!space || !space->limits_code)
            continue;
        if (!hw)
            snprintf(why, TABLE_WHY_SIZE,
                     "no description of %.60s has fingerprint %.32s, expected one in "
                     "~/.config/autotune/hardware",
                     tilings->hardware, tilings->fingerprint);
        if (hw)
            TRY(make_part(tilings, hw, prefix, best, &parts[p], &entries[first], &limits->parts[p],
                          error));
        else
            TRY(refuse_checks(&parts[p], &limits->parts[p], why, error));
        for (int64_t i = 0; i < parts[p].count && !hw; i++)
            entries[first + i].limits = 1;
    }
    return STATUS_OK;
}

/* Fills the parts' limits and the entries'. `parts` and `entries` are those of the tilings, in
 * their order. `why` says why none of a kernel's text can be checked, "" where they can.
 * *limits is cleared after the table is written, whatever the status. */
static enum status tilings_limits_make(const struct tilings *tilings, const char *prefix,
                                       struct table_part *parts, int part_count,
                                       struct table_entry *entries, struct tilings_limits *limits,
                                       char why[TABLE_WHY_SIZE], struct error *error)
{
    struct hardware hw;
    *limits = (struct tilings_limits){0};
    *why = '\0';
    limits->parts = calloc((size_t)part_count + 1, sizeof *limits->parts);
    if (!limits->parts)
        return error_memory(error);
    limits->part_count = part_count;
    bool found = find_chip(tilings, &hw);
    enum status status =
        make_parts(tilings, found ? &hw : NULL, prefix, parts, entries, limits, why, error);
    if (found)
        hardware_clear(&hw);
    return status;
}

static void tilings_limits_clear(struct tilings_limits *limits)
{
    for (int p = 0; p < limits->part_count; p++) {
        limits_code_clear(&limits->parts[p].code);
        free(limits->parts[p].list);
    }
    free(limits->parts);
    *limits = (struct tilings_limits){0};
}

/* ------------------------------------------------------------------ tables */

/* All that a struct table points to. */
struct scratch {
    struct table_part *parts;
    struct table_entry *entries;
    char **texts; /* of each tiling, cut into pieces */
    int64_t count;
};

static void scratch_clear(struct scratch *scratch)
{
    for (int64_t i = 0; scratch->texts && i < scratch->count; i++)
        free(scratch->texts[i]);
    free(scratch->texts);
    free(scratch->entries);
    free(scratch->parts);
}

static enum status scratch_open(const struct tilings *tilings, struct scratch *scratch,
                                struct error *error)
{
    size_t count = (size_t)tilings->count;
    *scratch = (struct scratch){.parts = calloc(count, sizeof *scratch->parts),
                                .entries = calloc(count, sizeof *scratch->entries),
                                .texts = calloc(count, sizeof *scratch->texts),
                                .count = tilings->count};
    if (scratch->parts && scratch->entries && scratch->texts)
        return STATUS_OK;
    scratch_clear(scratch);
    return error_memory(error);
}

/* ------------------------------------------------------------------ tilings */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* A name of C; one that ends with a line is kept for those that C takes itself. */
static bool is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < 64 && strspn(text, letters) == length &&
           isalpha((unsigned char)*text) && text[length - 1] != '_';
}

/* "dot 8x2" */
static bool is_words(const char *text)
{
    for (;; text++) {
        size_t length = strspn(text, letters);
        text += length;
        if (length == 0 || *text != ' ')
            return length > 0 && !*text;
    }
}

static bool read_value(const char *text, struct table_value *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end == 0 && end != text && errno == 0 && number >= -INT64_MAX &&
        (*text == '-' || isdigit((unsigned char)*text))) {
        *value = (struct table_value){NULL, number};
        return true;
    }
    *value = (struct table_value){text, 0};
    return is_words(text);
}

struct fields {
    int count;
    const char *names[TABLE_MAX_AXES];
};

/* Cuts "name=value,…" up in place. */
static bool cut_tiling(char *text, struct fields *fields, struct table_entry *entry)
{
    char *state = NULL;
    fields->count = 0;
    for (char *field = strtok_r(text, ",", &state); field; field = strtok_r(NULL, ",", &state)) {
        char *value = strchr(field, '=');
        if (!value || fields->count == TABLE_MAX_AXES)
            return false;
        *value++ = 0;
        if (!is_name(field) || !read_value(value, &entry->value[fields->count]))
            return false;
        for (int i = 0; i < fields->count; i++)
            if (strcmp(fields->names[i], field) == 0)
                return false;
        fields->names[fields->count++] = field;
    }
    return fields->count > 0;
}

static bool has_axes(const struct table_part *part, const struct fields *fields)
{
    bool same = part->axis_count == fields->count;
    for (int a = 0; a < fields->count && same; a++)
        same = strcmp(part->axis_names[a], fields->names[a]) == 0;
    return same;
}

static void set_axes(struct table_part *part, const struct fields *fields)
{
    part->axis_count = fields->count;
    memcpy(part->axis_names, fields->names, sizeof part->axis_names);
}

/* ------------------------------------------------------------------ parts */

static bool same_part(const struct problem *a, const struct problem *b)
{
    return a->op == b->op && a->type == b->type &&
           memcmp(a->choice, b->choice, (size_t)a->op->choice_count * sizeof *a->choice) == 0;
}

static void begin_part(const struct best_tiling *best, struct table_part *part)
{
    const struct operator* op = best->problem.op;
    *part = (struct table_part){.op = op->name,
                                .kernel = op->fingerprint,
                                .type = dtype_name(best->problem.type),
                                .space = best->space,
                                .size_count = op->size_count,
                                .size_names = op->size_names};
    for (int i = 0; i < op->choice_count; i++) {
        if (problem_choice_is_usual(&best->problem, i))
            continue;
        part->choice_names[part->choice_count] = op->choices[i].name;
        part->choices[part->choice_count++] = problem_choice_name(&best->problem, i);
    }
}

static enum status bad_tiling(const struct best_tiling *best, const char *expected,
                              struct error *error)
{
    return error_set(error, STATUS_INVALID, "the tiling of a %s, %.150s: expected %s",
                     best->problem.op->name, best->tiling, expected);
}

/* The part that the i-th tiling belongs to, with its axes; those of one operator have the same. */
static enum status find_part(const struct tilings *tilings, int64_t i, const struct fields *fields,
                             struct scratch *scratch, int *count, struct error *error)
{
    const struct best_tiling *best = &tilings->best[i];
    bool same_op = i > 0 && best->problem.op == best[-1].problem.op;
    if (same_op && !has_axes(&scratch->parts[*count - 1], fields))
        return bad_tiling(best, "the names that others of this space have", error);
    if (i == 0 || !same_part(&best->problem, &best[-1].problem)) {
        struct table_part *part = &scratch->parts[(*count)++];
        begin_part(best, part);
        set_axes(part, fields);
        part->entries = &scratch->entries[i];
    }
    return STATUS_OK;
}

static enum status add_entry(const struct tilings *tilings, int64_t i, struct scratch *scratch,
                             int *count, struct error *error)
{
    const struct best_tiling *best = &tilings->best[i];
    struct table_entry *entry = &scratch->entries[i];
    struct fields fields;
    scratch->texts[i] = strdup(best->tiling);
    if (!scratch->texts[i])
        return error_memory(error);
    if (!cut_tiling(scratch->texts[i], &fields, entry))
        return bad_tiling(best, "name=value,name=value,...", error);
    memcpy(entry->size, best->problem.size,
           (size_t)best->problem.op->size_count * sizeof *entry->size);
    entry->time_ns = best->time_ns;
    entry->optimal = best->optimal;
    TRY(find_part(tilings, i, &fields, scratch, count, error));
    scratch->parts[*count - 1].count++;
    return STATUS_OK;
}

/* An axis is of words where any of an operator's tilings has a word; all must. */
static enum status find_words(const struct tilings *tilings, struct scratch *scratch, int count,
                              struct error *error)
{
    for (int p = 0; p < count; p++) {
        struct table_part *part = &scratch->parts[p];
        bool same_op = p > 0 && part->op == part[-1].op;
        for (int a = 0; a < part->axis_count; a++) {
            part->axis_is_word[a] =
                same_op ? part[-1].axis_is_word[a] : part->entries[0].value[a].word != NULL;
            for (int64_t i = 0; i < part->count; i++)
                if ((part->entries[i].value[a].word != NULL) != part->axis_is_word[a])
                    return bad_tiling(&tilings->best[part->entries - scratch->entries + i],
                                      "numbers where others of this space have numbers", error);
        }
    }
    return STATUS_OK;
}

static struct table describe_table(const struct tilings *tilings, const struct table_about *about)
{
    return (struct table){.version = about->version,
                          .command = about->command,
                          .prefix = about->prefix,
                          .hardware = tilings->hardware,
                          .fingerprint = tilings->fingerprint,
                          .cores = tilings->cores,
                          .model_version = MODEL_VERSION,
                          .kind = store_kind_name(tilings->kind)};
}

/* Only a header has functions that re-check. */
static enum status write_parts(const struct tilings *tilings, struct table *table,
                               struct scratch *scratch, table_writer *write, FILE *out,
                               struct table_remarks *remarks, struct error *error)
{
    struct tilings_limits limits = {0};
    enum status status = STATUS_OK;
    if (write == table_write_c)
        status = tilings_limits_make(tilings, table->prefix, scratch->parts, table->part_count,
                                     scratch->entries, &limits, remarks->unchecked, error);
    table->parts = scratch->parts;
    if (status == STATUS_OK)
        status = write(table, out, error);
    tilings_limits_clear(&limits);
    return status;
}

static enum status write_table(const struct tilings *tilings, const struct table_about *about,
                               table_writer *write, FILE *out, struct table_remarks *remarks,
                               struct error *error)
{
    struct table table = describe_table(tilings, about);
    struct scratch scratch;
    enum status status = scratch_open(tilings, &scratch, error);
    if (status != STATUS_OK)
        return status;
    for (int64_t i = 0; i < tilings->count && status == STATUS_OK; i++)
        status = add_entry(tilings, i, &scratch, &table.part_count, error);
    if (status == STATUS_OK)
        status = find_words(tilings, &scratch, table.part_count, error);
    if (status == STATUS_OK)
        status = write_parts(tilings, &table, &scratch, write, out, remarks, error);
    scratch_clear(&scratch);
    return status;
}

/* ------------------------------------------------------------------ tables of the vendor */

static enum status export_row(const struct best_tiling *best, struct export_row *row,
                              struct error *error)
{
    struct error why;
    const struct operator_space *space = operator_space_find(best->problem.op, best->space);
    char what[128];
    snprintf(what, sizeof what, "%s in %.64s", best->problem.op->name, best->space);
    if (!space || !space->bank)
        return export_refuse(error, what);
    *row = (struct export_row){
        .bank = space->bank, .problem = &best->problem, .simulated_ns = best->time_ns};
    return space->bank->parse(best->tiling, &row->tiling, &why) == STATUS_OK
               ? STATUS_OK
               : bad_tiling(best, "all values of the space cann", error);
}

/* One line without control characters that says where a table is from: for formats in which
 * nothing but a text has room. Returns `text`. */
static const char *table_origin(const struct table *table, char *text, size_t size)
{
    snprintf(text, size, "autotune %s, model version %d; %s, %d core%s, fingerprint %s; %s; %s",
             table->version, table->model_version, table->hardware, table->cores,
             table->cores == 1 ? "" : "s", table->fingerprint, table->kind, table->command);
    utf8_show(text);
    return text;
}

static enum status write_rows(const struct tilings *tilings, const struct table_about *about,
                              const struct format *format, FILE *out, int *left_out,
                              struct error *error)
{
    struct table table = describe_table(tilings, about);
    char origin[4096];
    struct export_row *rows = calloc((size_t)tilings->count, sizeof *rows);
    enum status status = rows ? STATUS_OK : error_memory(error);
    for (int64_t i = 0; i < tilings->count && status == STATUS_OK; i++)
        status = export_row(&tilings->best[i], &rows[i], error);
    if (status == STATUS_OK)
        status = export_write_rows(rows, (int)tilings->count, NULL,
                                   table_origin(&table, origin, sizeof origin), format, out,
                                   left_out, error);
    free(rows);
    return status;
}

enum status tilings_write(const struct tilings *tilings, const struct table_about *about,
                          const struct format *format, FILE *out, struct table_remarks *remarks,
                          struct error *error)
{
    *remarks = (struct table_remarks){.left_out = 0};
    return format->table ? write_table(tilings, about, format->table, out, remarks, error)
                         : write_rows(tilings, about, format, out, &remarks->left_out, error);
}
