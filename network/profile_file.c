/* Every row becomes a call; then equal ones are found by sorting, and added to the first of them in
 * the file's order (network/profile_file.h). */
#include "network/profile_file.h"

#include "core/utf8.h"
#include "formats/profile.h"
#include "network/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An optional input that was not given is of no type and has no size: it is taken as one byte. */
static int find_type(const char *name, int length)
{
    int mark = length > 3 && strncasecmp(name, "DT_", 3) == 0 ? 3 : 0;
    bool is_none = length - mark == 9 && strncasecmp(name + mark, "UNDEFINED", 9) == 0;
    return is_none ? (int)DTYPE_U8 : dtype_find_profiled(name, length);
}

/* Does it run on the chip's cores? A profile that does not say is believed to be of these. */
static bool runs_on_cores(const char *core)
{
    return !*core || (strncasecmp(core, "AI_", 3) == 0 && strcasecmp(core, "AI_CPU") != 0) ||
           strncasecmp(core, "MIX_", 4) == 0;
}

/* Of tensors that cannot be read it has none, rather than some. */
static enum status leave_out(struct operator_call *call, const char *why, struct error *error)
{
    call->input_count = call->output_count = 0;
    call->uncovered = strdup(why);
    if (!call->uncovered)
        return error_memory(error);
    utf8_show(call->uncovered);
    return STATUS_OK;
}

static enum status add_row(const struct profile_row *row, struct network *network,
                           struct error *error)
{
    const struct tensor_lists lists[] = {
        {row->texts[SLOT_INPUT_SHAPES], row->texts[SLOT_INPUT_FORMATS],
         row->texts[SLOT_INPUT_TYPES], find_type},
        {row->texts[SLOT_OUTPUT_SHAPES], row->texts[SLOT_OUTPUT_FORMATS],
         row->texts[SLOT_OUTPUT_TYPES], find_type},
    };
    int counts[] = {tensors_count(&lists[0]), tensors_count(&lists[1])};
    bool agree = counts[0] >= 0 && counts[1] >= 0;
    char why[TENSOR_WHY_SIZE];
    struct operator_call *call;
    const char *type = *row->type ? row->type : *row->name ? row->name : "-";
    TRY(network_add(network, type, row->name, agree ? counts[0] : 0, agree ? counts[1] : 0, &call,
                    error));
    call->line = row->line;
    call->block_dim = row->blocks > 0 ? (int)row->blocks : 0;
    call->measured_ns = row->duration_us > 0 ? row->duration_us * 1e3 : 0;
    if (row->broken)
        return leave_out(call, row->problem, error);
    for (int s = 0; s < 2 && agree; s++)
        if (!tensors_read(&lists[s], counts[s], s ? call->outputs : call->inputs, why))
            return leave_out(call, why, error);
    call->is_l_kind = network_is_l_kind(call);
    if (!runs_on_cores(row->texts[SLOT_CORE_TYPE]))
        return leave_out(call, "it does not run on the chip's cores", error);
    if (!agree)
        return leave_out(call, "its shapes, formats and data types are not as many", error);
    return counts[0] + counts[1] > 0 ? STATUS_OK : leave_out(call, "it has no shapes", error);
}

/* ------------------------------------------------------------------ equal rows */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_tensors(const struct operator_tensor *a, const struct operator_tensor *b)
{
    int difference = a->format != b->format ? compare_numbers(a->format, b->format)
                     : a->type != b->type   ? compare_numbers(a->type, b->type)
                                            : compare_numbers(a->rank, b->rank);
    for (int d = 0; d < a->rank && !difference; d++)
        difference = compare_numbers(a->size[d], b->size[d]);
    return difference;
}

/* By what makes them one call. */
static int compare_calls(const struct operator_call *a, const struct operator_call *b)
{
    int difference = strcmp(a->op_type, b->op_type);
    if (!difference)
        difference = compare_numbers(a->block_dim, b->block_dim);
    if (!difference)
        difference = compare_numbers(!a->uncovered, !b->uncovered);
    if (!difference && a->uncovered)
        difference = strcmp(a->uncovered, b->uncovered);
    if (!difference)
        difference = compare_numbers(a->input_count, b->input_count);
    if (!difference)
        difference = compare_numbers(a->output_count, b->output_count);
    for (int t = 0; t < a->input_count + a->output_count && !difference; t++)
        difference = compare_tensors(&a->inputs[t], &b->inputs[t]);
    return difference;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct operator_call *calls = context;
    const int64_t *a = left, *b = right;
    int difference = compare_calls(&calls[*a], &calls[*b]);
    return difference ? difference : compare_numbers(*a, *b);
}

/* Adds the rows from order[0] on that are one call to the first; returns how many they are. */
static int64_t merge_equal(struct operator_call *calls, const int64_t *order, int64_t count)
{
    struct operator_call *first = &calls[order[0]];
    double sum_ns = first->measured_ns;
    int64_t measured = first->measured_ns > 0, i = 1;
    for (; i < count && compare_calls(first, &calls[order[i]]) == 0; i++) {
        struct operator_call *other = &calls[order[i]];
        sum_ns += other->measured_ns;
        measured += other->measured_ns > 0;
        first->count++;
        other->count = 0;
    }
    first->measured_ns = measured ? sum_ns / (double)measured : 0;
    return i;
}

static enum status merge(struct network *network, struct error *error)
{
    int64_t *order = malloc((size_t)network->call_count * sizeof *order), kept = 0;
    if (!order)
        return error_memory(error);
    for (int64_t i = 0; i < network->call_count; i++)
        order[i] = i;
    qsort_r(order, (size_t)network->call_count, sizeof *order, compare_rows, network->calls);
    for (int64_t at = 0; at < network->call_count;)
        at += merge_equal(network->calls, order + at, network->call_count - at);
    free(order);
    for (int64_t i = 0; i < network->call_count; i++)
        if (network->calls[i].count)
            network->calls[kept++] = network->calls[i];
        else
            operator_call_clear(&network->calls[i]);
    network->call_count = kept;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the file */

static enum status read_rows(struct profile *profile, struct network *network, struct error *error)
{
    struct profile_row row;
    bool found;
    while (true) {
        TRY(profile_next(profile, &row, &found, error));
        if (!found)
            break;
        TRY(add_row(&row, network, error));
    }
    if (network->call_count == 0)
        return error_at(error, profile->csv.file, profile->csv.next_line,
                        "has a head only, expected rows");
    return merge(network, error);
}

enum status profile_file_read(const char *file, struct network *network, struct error *error)
{
    struct profile profile;
    TRY(profile_open(file, &profile, error));
    enum status status = network_begin(profile.csv.file, network, error);
    if (status == STATUS_OK) {
        status = read_rows(&profile, network, error);
        if (status != STATUS_OK)
            network_free(network);
    }
    profile_close(&profile);
    return status;
}
