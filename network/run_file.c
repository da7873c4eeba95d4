/* Columns are found by their names (network/run_file.h). Types are called as this program calls
 * them, or as MindSpore's kernel lists do, whose names are those of the entry one further down in
 * its enumeration (ir/dtype/type_id.h). */
#include "network/run_file.h"

#include "core/number.h"
#include "formats/csv.h"
#include "network/tensors.h"

#include <stdlib.h>
#include <string.h>

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

static const char *const names[COLUMNS] = {
    [COLUMN_TYPE] = "op_type",          [COLUMN_IN_SHAPES] = "in_shapes",
    [COLUMN_IN_FORMATS] = "in_formats", [COLUMN_IN_TYPES] = "in_dtypes",
    [COLUMN_OUT_SHAPES] = "out_shapes", [COLUMN_OUT_FORMATS] = "out_formats",
    [COLUMN_OUT_TYPES] = "out_dtypes",  [COLUMN_NAME] = "name",
    [COLUMN_BLOCKS] = "block_dim",      [COLUMN_COUNT] = "count",
    [COLUMN_MEAN] = "mean_us",          [COLUMN_GRADIENTS] = "count_gradients",
    [COLUMN_L_KIND] = "l_kind",
};

struct reader {
    struct csv csv;
    int fields; /* of the head */
    int place[COLUMNS];
    struct error *error;
};

static int find_type(const char *name, int length)
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
static const char *field(const struct reader *r, enum column column)
{
    return r->place[column] < 0 ? "" : r->csv.fields[r->place[column]];
}

static enum status read_head(struct reader *r)
{
    bool found;
    TRY(csv_next(&r->csv, &found, r->error));
    if (!found)
        return error_at(r->error, r->csv.file, 1, "is empty, expected a head with op_type");
    for (int c = 0; c < COLUMNS; c++) {
        TRY(csv_find(&r->csv, names[c], &r->place[c], r->error));
        if (c < COLUMNS_NEEDED && r->place[c] < 0)
            return csv_wrong(&r->csv, r->error, "has no column %s, expected one", names[c]);
    }
    r->fields = r->csv.field_count;
    return STATUS_OK;
}

/* A whole number; where the field is empty, `none`. */
static enum status read_count(const struct reader *r, enum column column, int64_t none,
                              int64_t least, int64_t most, int64_t *value)
{
    const char *text = field(r, column);
    struct error why;
    *value = none;
    if (*text && number_count(names[column], text, least, most, value, &why) != STATUS_OK)
        return csv_wrong(&r->csv, r->error, "%s", why.text);
    return STATUS_OK;
}

static enum status read_numbers(const struct reader *r, struct operator_call *call)
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
    const char *text = field(r, COLUMN_MEAN);
    double us = *text ? number_real(text) : 0;
    char copy[CSV_SHOWN_SIZE];
    if (!(us >= 0 && us <= most_us))
        return csv_wrong(&r->csv, r->error, "mean_us %s: expected microseconds from 0 to %g",
                         csv_shown(text, copy), most_us);
    call->measured_ns = us * 1e3;
    return STATUS_OK;
}

static enum status read_row(struct reader *r, struct network *network)
{
    static const char *const sides[] = {"in", "out"};
    struct tensor_lists lists[2];
    struct operator_call *call;
    char why[TENSOR_WHY_SIZE];
    int counts[2];
    if (r->csv.field_count != r->fields)
        return csv_wrong(&r->csv, r->error, "has %d fields, expected %d as the head",
                         r->csv.field_count, r->fields);
    if (!*field(r, COLUMN_TYPE))
        return csv_wrong(&r->csv, r->error, "op_type is empty, expected an operator's name");
    for (int s = 0; s < 2; s++) {
        int shift = s * (COLUMN_OUT_SHAPES - COLUMN_IN_SHAPES);
        lists[s] = (struct tensor_lists){field(r, COLUMN_IN_SHAPES + shift),
                                         field(r, COLUMN_IN_FORMATS + shift),
                                         field(r, COLUMN_IN_TYPES + shift), find_type};
        counts[s] = tensors_count(&lists[s]);
        if (counts[s] < 0)
            return csv_wrong(
                &r->csv, r->error,
                "%s_shapes, %s_formats and %s_dtypes: expected as many tensors in each, "
                "up to %d",
                sides[s], sides[s], sides[s], CALL_MAX_TENSORS);
    }
    TRY(network_add(network, field(r, COLUMN_TYPE), field(r, COLUMN_NAME), counts[0], counts[1],
                    &call, r->error));
    call->line = r->csv.line;
    for (int s = 0; s < 2; s++)
        if (!tensors_read(&lists[s], counts[s], s ? call->outputs : call->inputs, why))
            return csv_wrong(&r->csv, r->error, "%sputs: %s", sides[s], why);
    return read_numbers(r, call);
}

static enum status read_rows(struct reader *r, struct network *network)
{
    bool found = true;
    TRY(read_head(r));
    while (true) {
        TRY(csv_next(&r->csv, &found, r->error));
        if (!found)
            break;
        TRY(read_row(r, network));
    }
    if (network->call_count == 0)
        return error_at(r->error, r->csv.file, r->csv.next_line, "has a head only, expected rows");
    return STATUS_OK;
}

enum status run_file_read(const char *file, struct network *network, struct error *error)
{
    struct reader reader = {.error = error};
    TRY(csv_open(file, &reader.csv, error));
    enum status status = network_begin(reader.csv.file, network, error);
    if (status == STATUS_OK) {
        status = read_rows(&reader, network);
        if (status != STATUS_OK)
            network_free(network);
    }
    csv_close(&reader.csv);
    return status;
}

bool run_file_is_head(const char *line)
{
    const char *end = line + strcspn(line, "\r\n"), *at = strstr(line, names[COLUMN_IN_SHAPES]);
    return at && at < end;
}
