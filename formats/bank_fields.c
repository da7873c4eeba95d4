/* Rows whose tiling is AscendC's TCubeTiling: tables that MatMulV3 loads, and TCubeTiling alone. */
#include "formats/bank_parse.h"

/* Without these nothing can be said about a tiling. */
static const int needed[] = {
    BANK_USED_CORES, BANK_SINGLE_M, BANK_SINGLE_N, BANK_SINGLE_K, BANK_BASE_M, BANK_BASE_N,
    BANK_BASE_K,     BANK_DEPTH_A1, BANK_DEPTH_B1, BANK_STEP_M,   BANK_STEP_N, BANK_STEP_KA,
    BANK_STEP_KB,    BANK_DB_L0A,   BANK_DB_L0B,   BANK_DB_L0C,
};

static enum status parse_field(const struct record *r, const json_t *fields, const char *where,
                               int field, int64_t low, struct bank_row *row)
{
    int64_t value = 0;
    TRY(record_integer(r, fields, where, bank_field_names[field], low, INT32_MAX, &value));
    row->number[field] = (int32_t)value;
    return STATUS_OK;
}

static enum status parse_fields(const struct record *r, const json_t *fields, const char *where,
                                int count, struct bank_row *row)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        TRY(parse_field(r, fields, where, needed[i], 1, row));
    for (int f = 0; f < count; f++)
        if (row->number[f] == 0 && json_object_get(fields, bank_field_names[f]))
            TRY(parse_field(r, fields, where, f, 0, row));
    return STATUS_OK;
}

/* The runtime's numbers of layouts. */
static enum status parse_format(const struct record *r, const json_t *info, const char *name,
                                bool *nz)
{
    enum { ND = 2, NZ = 29 };
    const json_t *value = json_object_get(info, name);
    *nz = value && json_integer_value(value) == NZ;
    if (!value || *nz || (json_is_integer(value) && json_integer_value(value) == ND))
        return STATUS_OK;
    return record_error(r, "info_dict.%s: expected 2 (ND) or 29 (NZ)", name);
}

/* The product of four extents, "batch_a1" to "batch_a4"; 1 where they are not said. */
static enum status parse_batch(const struct record *r, const json_t *info, char operand,
                               int64_t *batch)
{
    *batch = 1;
    for (int i = 1; i <= 4; i++) {
        char name[] = {'b', 'a', 't', 'c', 'h', '_', operand, (char)('0' + i), 0};
        int64_t extent = 1;
        if (!json_object_get(info, name))
            continue;
        TRY(record_integer(r, info, "info_dict", name, 1, INT32_MAX, &extent));
        if (extent > INT32_MAX / *batch)
            return record_error(r, "info_dict.%s: expected a batch below 2^31", name);
        *batch *= extent;
    }
    return STATUS_OK;
}

static enum status parse_problem(const struct record *r, const json_t *info, struct bank_row *row)
{
    const struct {
        const char *name;
        int64_t *size;
    } sizes[] = {{"m", &row->m}, {"k", &row->k}, {"n", &row->n}};
    int64_t batch_b = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        TRY(record_integer(r, info, "info_dict", sizes[i].name, 1, INT32_MAX, sizes[i].size));
    TRY(record_type(r, info, "info_dict", "out_dtype", DTYPE_CANN_NUMBERS, &row->out_type));
    TRY(record_bool(r, info, "info_dict", "trans_a_flag", &row->transpose_a));
    TRY(record_bool(r, info, "info_dict", "trans_b_flag", &row->transpose_b));
    TRY(parse_format(r, info, "a_format", &row->nz_a));
    TRY(parse_format(r, info, "b_format", &row->nz_b));
    TRY(parse_format(r, info, "out_format", &row->nz_c));
    TRY(parse_batch(r, info, 'a', &row->batch));
    TRY(parse_batch(r, info, 'b', &batch_b));
    if (batch_b != 1 && batch_b != row->batch)
        return record_error(r, "info_dict: expected as many B as A, or one B");
    row->share_b = batch_b == 1 && row->batch > 1;
    return STATUS_OK;
}

enum status parse_runtime_kb(const struct record *r, const json_t *object, struct bank_row *row)
{
    const json_t *info, *knowledge;
    TRY(record_member(r, object, "the row", "info_dict", &info));
    TRY(record_member(r, object, "the row", "knowledge", &knowledge));
    TRY(record_type(r, info, "info_dict", "a_dtype", DTYPE_CANN_NUMBERS, &row->type));
    if (!r->tilings_only || json_object_get(info, "b_dtype"))
        TRY(record_type_is(r, info, "info_dict", "b_dtype", DTYPE_CANN_NUMBERS, row->type));
    TRY(record_bool(r, info, "info_dict", "bias_flag", &row->bias));
    TRY(parse_fields(r, knowledge, "knowledge", BANK_FIELDS, row));
    row->out_type = dtype_result(row->type);
    if (!r->tilings_only)
        TRY(parse_problem(r, info, row));
    else if (json_object_get(info, "out_dtype"))
        TRY(record_type(r, info, "info_dict", "out_dtype", DTYPE_CANN_NUMBERS, &row->out_type));
    row->batch_type = -1;
    return STATUS_OK;
}

#define NS_PER_US 1e3
#define MOST_US   1e12

/* A member of ours: nothing else in a TCubeTiling says how long it took. */
static enum status parse_measured(const struct record *r, const json_t *object,
                                  struct bank_row *row)
{
    const json_t *value = json_object_get(object, "measured_us");
    double us = json_number_value(value); /* 0 of what is no number */
    if (!value)
        return STATUS_OK;
    if (!(us > 0 && us <= MOST_US))
        return record_error(r, "measured_us: expected microseconds, more than 0 and at most %g",
                            MOST_US);
    row->measured_ns = us * NS_PER_US;
    return STATUS_OK;
}

/* Members of ours, of operands and results that are not in FP16. */
static enum status parse_types(const struct record *r, const json_t *object, struct bank_row *row)
{
    const struct {
        const char *name;
        enum dtype *type;
    } types[] = {{BANK_TYPE_MEMBER, &row->type}, {BANK_OUT_TYPE_MEMBER, &row->out_type}};
    row->type = row->out_type = DTYPE_F16;
    if (!json_object_get(object, BANK_TYPE_MEMBER) &&
        !json_object_get(object, BANK_OUT_TYPE_MEMBER))
        return STATUS_OK;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        TRY(record_type(r, object, "the tiling", types[i].name, DTYPE_CANN_NAMES, types[i].type));
    return STATUS_OK;
}

/* Members of ours, where an operand is stored transposed. */
static enum status parse_transposes(const struct record *r, const json_t *object,
                                    struct bank_row *row)
{
    const struct {
        const char *name;
        bool *transpose;
    } operands[] = {{BANK_TRANSPOSE_A_MEMBER, &row->transpose_a},
                    {BANK_TRANSPOSE_B_MEMBER, &row->transpose_b}};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (json_object_get(object, operands[i].name))
            TRY(record_bool(r, object, "the tiling", operands[i].name, operands[i].transpose));
    return STATUS_OK;
}

/* Layouts are not in a TCubeTiling: row by row. */
enum status parse_tcubetiling(const struct record *r, const json_t *object, struct bank_row *row)
{
    static const int sizes[] = {BANK_M, BANK_N, BANK_KA, BANK_KB};
    TRY(parse_fields(r, object, "the tiling", BANK_TCUBE_FIELDS, row));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        TRY(parse_field(r, object, "the tiling", sizes[i], 1, row));
    if (row->number[BANK_KA] != row->number[BANK_KB])
        return record_error(r, "the tiling: expected Ka = Kb");
    TRY(parse_types(r, object, row));
    TRY(parse_transposes(r, object, row));
    TRY(parse_measured(r, object, row));
    row->m = row->number[BANK_M];
    row->n = row->number[BANK_N];
    row->k = row->number[BANK_KA];
    row->batch = row->number[BANK_BATCH_COUNT] > 1 ? row->number[BANK_BATCH_COUNT] : 1;
    row->bias = row->number[BANK_IS_BIAS] != 0;
    row->batch_type = -1;
    return STATUS_OK;
}
