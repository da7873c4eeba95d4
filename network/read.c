/* A file is opened twice: once for its first line, and once more by the reader that knows it. What
 * can be read but once is refused.
 *
 * Columns of a table of calls are found by their names. Types are called as this program calls
 * them, or as MindSpore's kernel lists do, whose names are those of the entry one further down in
 * its enumeration (ir/dtype/type_id.h). In a profiler's table of kernels every row becomes a call;
 * then equal ones are found by sorting, and added to the first of them in the file's order. */
#include "network/read.h"

#include "core/number.h"
#include "core/utf8.h"
#include "formats/csv.h"
#include "formats/profile.h"
#include "network/problem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ lists of tensors */

/* As tables of calls write them: shapes, layouts and types, each with an entry a tensor between
 * semicolons; sizes between 'x' or commas, an empty entry for a scalar. Profilers put a list in
 * quotation marks of its own and write N/A for none. */
enum { TENSOR_WHY_SIZE = 160 };

struct tensor_lists {
    const char *shapes, *formats, *types;
    int (*find_type)(const char *name, int length); /* -1: there is no such type */
};

static const char around_entries[] = "\" \t\r\n";

static bool is_absent(const char *list)
{
    list += strspn(list, around_entries);
    size_t length = strncasecmp(list, "N/A", 3) == 0 ? 3 : 0;
    return list[length + strspn(list + length, around_entries)] == '\0';
}

static int count_entries(const char *list)
{
    int count = 1;
    for (; *list; list++)
        count += *list == ';';
    return count;
}

/* How many tensors the lists tell of; -1 where they disagree, or have more than CALL_MAX_TENSORS.
 * Without types there is none, whatever the others say: a list of one scalar is empty too. */
static int count_tensors(const struct tensor_lists *lists)
{
    if (is_absent(lists->types))
        return is_absent(lists->shapes) ? 0 : -1;
    int count = count_entries(lists->types);
    bool agree = count_entries(lists->shapes) == count && count_entries(lists->formats) == count;
    return agree && count <= CALL_MAX_TENSORS ? count : -1;
}

/* The next entry without what stands around it; the list goes on behind it. */
static const char *next_entry(const char **list, int *length)
{
    size_t all = strcspn(*list, ";");
    const char *entry = *list;
    *list += all + ((*list)[all] == ';');
    for (; all && strchr(around_entries, *entry); entry++)
        all--;
    while (all && strchr(around_entries, entry[all - 1]))
        all--;
    *length = (int)all;
    return entry;
}

/* A size: digits, of which no more are read than a tensor may have elements. */
static bool read_size(const char **at, const char *end, int64_t *size)
{
    const char *begin = *at;
    for (*size = 0; *at < end && **at >= '0' && **at <= '9' && *size <= TENSOR_MAX_BYTES; ++*at)
        *size = 10 * *size + (**at - '0');
    return *at > begin && *size <= TENSOR_MAX_BYTES;
}

static bool read_shape(const char *at, int length, struct operator_tensor *tensor)
{
    const char *end = at + length;
    for (tensor->rank = 0; at < end; tensor->rank++) {
        if (tensor->rank == TENSOR_MAX_RANK || !read_size(&at, end, &tensor->size[tensor->rank]))
            return false;
        if (at < end && ((*at != 'x' && *at != ',') || ++at == end))
            return false;
    }
    return true;
}

/* Of ge::Format (CANN's graph/types.h) and of MindSpore's kernel/format_utils. */
static const struct {
    const char *name;
    enum tensor_format format;
} formats[] = {
    {"ND", FORMAT_ND},       {"NC1HWC0", FORMAT_NC1HWC0}, {"FRACTAL_NZ", FORMAT_NZ},
    {"FRACTAL_Z", FORMAT_Z}, {"FracZ", FORMAT_Z},         {"DefaultFormat", FORMAT_ND},
    {"NCHW", FORMAT_ND},     {"NHWC", FORMAT_ND},         {"NCL", FORMAT_ND},
    {"NCDHW", FORMAT_ND},
};

static enum tensor_format find_format(const char *name, int length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((int)strlen(formats[i].name) == length &&
            strncasecmp(formats[i].name, name, (size_t)length) == 0)
            return formats[i].format;
    return FORMAT_OTHER;
}

/* Of what is quoted, so much is shown. */
static int shown_length(int length)
{
    return length < 40 ? length : 40;
}

/* Fills so many of them, or says in one line what is wrong with which and what was expected. */
static bool read_tensors(const struct tensor_lists *lists, int count,
                         struct operator_tensor *tensors, char why[TENSOR_WHY_SIZE])
{
    struct tensor_lists rest = *lists;
    for (int t = 0; t < count; t++) {
        int length, shape_length, type;
        const char *shape = next_entry(&rest.shapes, &shape_length);
        const char *text = next_entry(&rest.formats, &length);
        tensors[t].format = find_format(text, length);
        text = next_entry(&rest.types, &length);
        type = lists->find_type(text, length);
        if (type < 0) {
            snprintf(why, TENSOR_WHY_SIZE, "tensor %d: no type is called '%.*s'", t + 1,
                     shown_length(length), text);
            return false;
        }
        tensors[t].type = (enum dtype)type;
        if (!read_shape(shape, shape_length, &tensors[t]) || !tensor_measure(&tensors[t])) {
            snprintf(why, TENSOR_WHY_SIZE,
                     "tensor %d: shape '%.*s', expected up to %d sizes, and at most %lld bytes",
                     t + 1, shown_length(shape_length), shape, TENSOR_MAX_RANK,
                     (long long)TENSOR_MAX_BYTES);
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ a table of calls */

enum column {
    COLUMN_TYPE,
    COLUMN_IN_SHAPES,
    COLUMN_IN_FORMATS,
    COLUMN_IN_TYPES,
    COLUMN_OUT_SHAPES,
    COLUMN_OUT_FORMATS,
    COLUMN_OUT_TYPES,
    COLUMNS_NEEDED,
    COLUMN_NAME = COLUMNS_NEEDED,
    COLUMN_BLOCKS,
    COLUMN_COUNT,
    COLUMN_GRADIENTS,
    COLUMN_MEAN,
    COLUMN_L_KIND,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {
    [COLUMN_TYPE] = "op_type",          [COLUMN_IN_SHAPES] = "in_shapes",
    [COLUMN_IN_FORMATS] = "in_formats", [COLUMN_IN_TYPES] = "in_dtypes",
    [COLUMN_OUT_SHAPES] = "out_shapes", [COLUMN_OUT_FORMATS] = "out_formats",
    [COLUMN_OUT_TYPES] = "out_dtypes",  [COLUMN_NAME] = "name",
    [COLUMN_BLOCKS] = "block_dim",      [COLUMN_COUNT] = "count",
    [COLUMN_MEAN] = "mean_us",          [COLUMN_GRADIENTS] = "count_gradients",
    [COLUMN_L_KIND] = "l_kind",
};

struct run_reader {
    struct csv csv;
    int fields; /* of the head */
    int place[COLUMNS];
    struct error *error;
};

static int find_run_type(const char *name, int length)
{
    static const struct {
        const char *name;
        enum dtype type;
    } shifted[] = {
        {"FLOAT", DTYPE_F16}, {"FLOAT16", DTYPE_F32}, {"FLOAT32", DTYPE_F64}, {"BEGIN", DTYPE_BOOL},
        {"INT", DTYPE_I8},    {"INT8", DTYPE_I16},    {"INT16", DTYPE_I32},   {"INT32", DTYPE_I64},
        {"UINT", DTYPE_U8},   {"UINT8", DTYPE_U16},   {"UINT16", DTYPE_U32},  {"UINT32", DTYPE_U64},
    };
    for (size_t i = 0; i < sizeof shifted / sizeof *shifted; i++)
        if ((int)strlen(shifted[i].name) == length &&
            strncmp(shifted[i].name, name, (size_t)length) == 0)
            return (int)shifted[i].type;
    for (int t = 0; t < DTYPE_ALL; t++)
        if ((int)strlen(dtype_name((enum dtype)t)) == length &&
            strncmp(dtype_name((enum dtype)t), name, (size_t)length) == 0)
            return t;
    return -1;
}

/* The field of a column, "" where the file has none. */
static const char *field_of(const struct run_reader *r, enum column column)
{
    return r->place[column] < 0 ? "" : r->csv.fields[r->place[column]];
}

static enum status read_run_head(struct run_reader *r)
{
    bool found;
    TRY(csv_next(&r->csv, &found, r->error));
    if (!found)
        return error_at(r->error, r->csv.file, 1, "is empty, expected a head with op_type");
    for (int c = 0; c < COLUMNS; c++) {
        TRY(csv_find(&r->csv, column_names[c], &r->place[c], r->error));
        if (c < COLUMNS_NEEDED && r->place[c] < 0)
            return csv_wrong(&r->csv, r->error, "has no column %s, expected one", column_names[c]);
    }
    r->fields = r->csv.field_count;
    return STATUS_OK;
}

/* A whole number; where the field is empty, `none`. */
static enum status read_count(const struct run_reader *r, enum column column, int64_t none,
                              int64_t least, int64_t most, int64_t *value)
{
    const char *text = field_of(r, column);
    struct error why;
    *value = none;
    if (*text && number_count(column_names[column], text, least, most, value, &why) != STATUS_OK)
        return csv_wrong(&r->csv, r->error, "%s", why.text);
    return STATUS_OK;
}

static enum status read_numbers(const struct run_reader *r, struct operator_call *call)
{
    enum { MOST_BLOCKS = 1 << 20 };
    const double most_us = 1e12;
    int64_t blocks, l_kind;
    TRY(read_count(r, COLUMN_BLOCKS, 0, 0, MOST_BLOCKS, &blocks));
    TRY(read_count(r, COLUMN_COUNT, 1, 1, CALL_MAX_COUNT, &call->count));
    TRY(read_count(r, COLUMN_GRADIENTS, 0, 0, call->count, &call->count_gradients));
    TRY(read_count(r, COLUMN_L_KIND, network_is_l_kind(call), 0, 1, &l_kind));
    call->block_dim = (int)blocks;
    call->is_l_kind = l_kind != 0;
    const char *text = field_of(r, COLUMN_MEAN);
    double us = *text ? number_real(text) : 0;
    char copy[CSV_SHOWN_SIZE];
    if (!(us >= 0 && us <= most_us))
        return csv_wrong(&r->csv, r->error, "mean_us %s: expected microseconds from 0 to %g",
                         csv_shown(text, copy), most_us);
    call->measured_ns = us * 1e3;
    return STATUS_OK;
}

static enum status read_run_row(struct run_reader *r, struct network *network)
{
    static const char *const sides[] = {"in", "out"};
    struct tensor_lists lists[2];
    struct operator_call *call;
    char why[TENSOR_WHY_SIZE];
    int counts[2];
    if (r->csv.field_count != r->fields)
        return csv_wrong(&r->csv, r->error, "has %d fields, expected %d as the head",
                         r->csv.field_count, r->fields);
    if (!*field_of(r, COLUMN_TYPE))
        return csv_wrong(&r->csv, r->error, "op_type is empty, expected an operator's name");
    for (int s = 0; s < 2; s++) {
        int shift = s * (COLUMN_OUT_SHAPES - COLUMN_IN_SHAPES);
        lists[s] = (struct tensor_lists){field_of(r, COLUMN_IN_SHAPES + shift),
                                         field_of(r, COLUMN_IN_FORMATS + shift),
                                         field_of(r, COLUMN_IN_TYPES + shift), find_run_type};
        counts[s] = count_tensors(&lists[s]);
        if (counts[s] < 0)
            return csv_wrong(
                &r->csv, r->error,
                "%s_shapes, %s_formats and %s_dtypes: expected as many tensors in each, "
                "up to %d",
                sides[s], sides[s], sides[s], CALL_MAX_TENSORS);
    }
    TRY(network_add(network, field_of(r, COLUMN_TYPE), field_of(r, COLUMN_NAME), counts[0],
                    counts[1], &call, r->error));
    call->line = r->csv.line;
    for (int s = 0; s < 2; s++)
        if (!read_tensors(&lists[s], counts[s], s ? call->outputs : call->inputs, why))
            return csv_wrong(&r->csv, r->error, "%sputs: %s", sides[s], why);
    return read_numbers(r, call);
}

static enum status read_run_rows(struct run_reader *r, struct network *network)
{
    bool found = true;
    TRY(read_run_head(r));
    while (true) {
        TRY(csv_next(&r->csv, &found, r->error));
        if (!found)
            break;
        TRY(read_run_row(r, network));
    }
    if (network->call_count == 0)
        return error_at(r->error, r->csv.file, r->csv.next_line, "has a head only, expected rows");
    return STATUS_OK;
}

enum status run_file_read(const char *file, struct network *network, struct error *error)
{
    struct run_reader run_reader = {.error = error};
    TRY(csv_open(file, &run_reader.csv, error));
    enum status status = network_begin(run_reader.csv.file, network, error);
    if (status == STATUS_OK) {
        status = read_run_rows(&run_reader, network);
        if (status != STATUS_OK)
            network_free(network);
    }
    csv_close(&run_reader.csv);
    return status;
}

static bool is_run_head(const char *line)
{
    const char *end = line + strcspn(line, "\r\n"),
               *at = strstr(line, column_names[COLUMN_IN_SHAPES]);
    return at && at < end;
}

/* ------------------------------------------------------------------ a profiler's table */

/* An optional input that was not given is of no type and has no size: it is taken as one byte. */
static int find_profiled_type(const char *name, int length)
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

static enum status add_profile_row(const struct profile_row *row, struct network *network,
                                   struct error *error)
{
    const struct tensor_lists lists[] = {
        {row->texts[SLOT_INPUT_SHAPES], row->texts[SLOT_INPUT_FORMATS],
         row->texts[SLOT_INPUT_TYPES], find_profiled_type},
        {row->texts[SLOT_OUTPUT_SHAPES], row->texts[SLOT_OUTPUT_FORMATS],
         row->texts[SLOT_OUTPUT_TYPES], find_profiled_type},
    };
    int counts[] = {count_tensors(&lists[0]), count_tensors(&lists[1])};
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
        if (!read_tensors(&lists[s], counts[s], s ? call->outputs : call->inputs, why))
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

static enum status merge_rows(struct network *network, struct error *error)
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

static enum status read_profile_rows(struct profile *profile, struct network *network,
                                     struct error *error)
{
    struct profile_row row;
    bool found;
    while (true) {
        TRY(profile_next(profile, &row, &found, error));
        if (!found)
            break;
        TRY(add_profile_row(&row, network, error));
    }
    if (network->call_count == 0)
        return error_at(error, profile->csv.file, profile->csv.next_line,
                        "has a head only, expected rows");
    return merge_rows(network, error);
}

/* Rows of one type with the same tensors and blocks are one call, with their count, the mean of
 * their durations and the first one's line and name. Of rows of communication and of processors, of
 * those without shapes, and of those that cannot be read nothing is to be predicted. */
static enum status read_profile(const char *file, struct network *network, struct error *error)
{
    struct profile profile;
    TRY(profile_open(file, &profile, error));
    enum status status = network_begin(profile.csv.file, network, error);
    if (status == STATUS_OK) {
        status = read_profile_rows(&profile, network, error);
        if (status != STATUS_OK)
            network_free(network);
    }
    profile_close(&profile);
    return status;
}

/* ------------------------------------------------------------------ any of them */

enum { HEAD_SIZE = 4096 };

static enum status read_first_bytes(const char *file, char head[HEAD_SIZE], size_t *size,
                                    struct error *error)
{
    struct stat info;
    if (stat(file, &info) != 0)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(error, STATUS_IO, "%s: expected a regular file", file);
    FILE *stream = fopen(file, "re");
    if (!stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    *size = fread(head, 1, HEAD_SIZE - 1, stream);
    head[*size] = '\0';
    fclose(stream);
    return STATUS_OK;
}

/* Is a file that begins with these bytes, or is called so, a model of ONNX? Its first field is the
 * version of its format, a small number. */
static bool is_onnx(const char *file, const char *head, size_t size)
{
    size_t length = strlen(file);
    return (length > 5 && strcmp(file + length - 5, ".onnx") == 0) ||
           (size > 1 && head[0] == 8 && head[1] > 0 && head[1] < ' ');
}

#ifndef AUTOTUNE_ONNX
enum status onnx_file_read(const char *file, const struct network_request *request,
                           struct network *network, struct error *error)
{
    (void)request, (void)network;
    return error_set(error, STATUS_INVALID,
                     "%s: a model of ONNX, which this program was built without: install "
                     "libonnx-dev, libprotobuf-c-dev and protobuf-c-compiler, and build again",
                     file);
}
#endif

/* A batch is all that a table leaves open. */
static enum status check_sizes(const char *file, const struct sizes *sizes, struct error *error)
{
    for (int i = 0; i < sizes->count; i++)
        if (strcmp(sizes->given[i].name, "batch") != 0)
            return error_set(error, STATUS_INVALID,
                             "%s: is a table, whose sizes are known: --size %s=... is for models "
                             "of ONNX, expected batch=N alone",
                             file, sizes->given[i].name);
    return STATUS_OK;
}

static enum status read_any(const char *file, const struct network_request *request,
                            const struct sizes *sizes, struct network *network, struct error *error)
{
    char head[HEAD_SIZE];
    size_t size = 0;
    TRY(read_first_bytes(file, head, &size, error));
    if (is_onnx(file, head, size)) {
        TRY(onnx_file_read(file, request, network, error));
        network->is_model = true;
        return STATUS_OK;
    }
    TRY(check_sizes(file, sizes, error));
    if (is_run_head(head))
        return run_file_read(file, network, error);
    if (profile_is_head(head))
        return read_profile(file, network, error);
    return error_at(error, file, 1,
                    "expected the head of a table of calls (op_type, in_shapes, ...) or of a "
                    "profiler's table of kernels, or a model of ONNX");
}

enum status network_read(const char *file, const struct network_request *request,
                         struct network *network, struct error *error)
{
    struct sizes sizes;
    TRY(sizes_read(request, &sizes, error));
    TRY(read_any(file, request, &sizes, network, error));
    const struct size_given *batch = sizes_find(&sizes, "batch");
    network->batch = batch ? batch->size : 0;
    return STATUS_OK;
}

enum status network_read_at_batch(const char *file, const struct network_request *request,
                                  const struct network *network, int64_t batch,
                                  struct network *other, struct error *error)
{
    struct network_request again = *request;
    again.batch = batch;
    if (batch == network->batch || (!network->is_model && network->batch > 0))
        return network_at_batch(network, batch, other, error);
    if (network->is_model)
        return network_read(file, &again, other, error);
    return error_set(error, STATUS_INVALID,
                     "%s: is a table that does not say its batch, expected --size batch=N", file);
}
