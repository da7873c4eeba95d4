/* Records of tuned kernels as CANN's tables have them (docs/banks.md): every member is asked for by
 * name and range. Shapes are stored as blocks of 16, times in microseconds but for an old form,
 * which shows by its missing batch_type and its size. The tiling is a list of numbers, or AscendC's
 * TCubeTiling: in tables that MatMulV3 loads, and alone. */
#include "formats/bank_parse.h"
#include "core/utf8.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Did not run: what the repository writes for a kernel that failed. */
#define FAILED_COST    1e16
#define MAX_NS         1e15
#define NS_PER_US      1e3
#define OLD_COST_IS_US 1000.0

enum { MAX_EXTENT = INT32_MAX, FRACTAL = 16, FRACTAL_MOST = 32 };

/* STATUS_INVALID with "file:line: " before the text. */
static __attribute__((format(printf, 2, 3))) enum status record_error(const struct record *r,
                                                                      const char *format, ...)
{
    char text[384], number[32] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r->numbered)
        snprintf(number, sizeof number, "record %d: ", r->number);
    return error_at(r->error, r->file, r->line, "%s%s", number, text);
}

/* A member that must be there. `where` is the parent's name, for the text. */
static enum status record_member(const struct record *r, const json_t *parent, const char *where,
                                 const char *name, const json_t **value)
{
    *value = json_object_get(parent, name);
    return *value ? STATUS_OK : record_error(r, "%s has no member '%s'", where, name);
}

static enum status record_integer(const struct record *r, const json_t *parent, const char *where,
                                  const char *name, int64_t low, int64_t high, int64_t *value)
{
    const json_t *member;
    TRY(record_member(r, parent, where, name, &member));
    *value = json_is_integer(member) ? (int64_t)json_integer_value(member) : low - 1;
    if (*value < low || *value > high)
        return record_error(r, "%s.%s: expected a whole number from %lld to %lld", where, name,
                            (long long)low, (long long)high);
    return STATUS_OK;
}

static enum status record_bool(const struct record *r, const json_t *parent, const char *where,
                               const char *name, bool *value)
{
    const json_t *member;
    TRY(record_member(r, parent, where, name, &member));
    if (!json_is_boolean(member))
        return record_error(r, "%s.%s: expected true or false", where, name);
    *value = json_is_true(member);
    return STATUS_OK;
}

/* The first `count` entries of a list of extents, each >= 1. */
static enum status parse_extents(const struct record *r, const json_t *shape, const char *where,
                                 const char *name, int count, int64_t *extents)
{
    const json_t *list;
    TRY(record_member(r, shape, where, name, &list));
    if (json_array_size(list) != (size_t)count)
        return record_error(r, "%s.%s: expected a list of %d whole numbers", where, name, count);
    for (int i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        extents[i] = json_is_integer(entry) ? (int64_t)json_integer_value(entry) : 0;
        if (extents[i] < 1 || extents[i] > MAX_EXTENT)
            return record_error(r, "%s.%s: expected whole numbers from 1 to %d", where, name,
                                MAX_EXTENT);
    }
    return STATUS_OK;
}

/* An element type by CANN's name, or by its number. */
static enum status record_type(const struct record *r, const json_t *parent, const char *where,
                               const char *name, enum dtype_words words, enum dtype *type)
{
    const json_t *value;
    char list[DTYPE_LIST_SIZE], given[40] = "another value";
    TRY(record_member(r, parent, where, name, &value));
    const char *text = json_string_value(value);
    int found = -1;
    if (text && words == DTYPE_CANN_NAMES)
        found = dtype_find_cann(text, (int)strlen(text));
    if (json_is_integer(value) && words == DTYPE_CANN_NUMBERS)
        found = dtype_find_number(json_integer_value(value));
    *type = (enum dtype)found;
    if (found >= 0)
        return STATUS_OK;
    if (text && utf8_is_shown(text))
        snprintf(given, sizeof given, "\"%.32s\"", text);
    if (json_is_integer(value))
        snprintf(given, sizeof given, "%lld", (long long)json_integer_value(value));
    dtype_list(words, list);
    return record_error(r, "%s.%s: %s, expected %s", where, name, given, list);
}

/* Likewise of a type that follows from another: B's is A's. */
static enum status record_type_is(const struct record *r, const json_t *parent, const char *where,
                                  const char *name, enum dtype_words words, enum dtype expected)
{
    enum dtype type;
    TRY(record_type(r, parent, where, name, words, &type));
    if (type != expected)
        return record_error(r, "%s.%s: %s, expected %s", where, name, dtype_name(type),
                            dtype_name(expected));
    return STATUS_OK;
}

/* A_shape = [batch, k / 16, m / 16, 16, 16], B_shape = [k, n / 16, 1, 1, 16], whichever way the
 * operands are stored. */
static enum status parse_extents_of_both(const struct record *r, const json_t *shape,
                                         const char *where, struct bank_row *row)
{
    int64_t a[5] = {0}, b[5] = {0};
    TRY(parse_extents(r, shape, where, "A_shape", 5, a));
    TRY(parse_extents(r, shape, where, "B_shape", 5, b));
    row->batch = a[0];
    if (a[3] > FRACTAL || a[4] > FRACTAL_MOST || b[4] > FRACTAL_MOST)
        return record_error(r, "%s: expected blocks of 16 by 16 at the end of A_shape and B_shape",
                            where);
    row->m = a[2] * a[3];
    row->k = a[1] * a[4];
    row->n = b[1] * b[4];
    if (row->m > MAX_EXTENT || row->k > MAX_EXTENT || row->n > MAX_EXTENT)
        return record_error(r, "%s: expected m, k and n below 2^31", where);
    return STATUS_OK;
}

/* Layouts are told by what the kernel's name says was fused into it: `trans_data` converts a
 * row-by-row operand while loading, `fix_pipe` writes the result row by row. Not
 * so results in FP32 of operands in blocks: their measured times know no price of rows. */
static enum status parse_layouts(const struct record *r, const json_t *shape, const char *where,
                                 struct bank_row *row)
{
    const json_t *value = json_object_get(shape, "kernel_name");
    if (value && !json_is_string(value))
        return record_error(r, "%s.kernel_name: expected a text", where);
    const char *name = value ? json_string_value(value) : "";
    const char *first = strstr(name, "trans_data");
    row->nz_a = !first;
    row->nz_b = !first || !strstr(first + 1, "trans_data");
    row->nz_c = !strstr(name, "fix_pipe") || (row->out_type == DTYPE_F32 && !first);
    return STATUS_OK;
}

/* What CANN fused into the kernel behind the product runs on the vector cores: 1 to 2 us that no
 * tiling says anything about. The kernel's name has its name. */
static const char *why_fused(const json_t *shape)
{
    static const struct {
        const char *in_name, *why;
    } operations[] = {
        {"_tanh_", "a fused operation: tanh"},    {"_sigmoid_", "a fused operation: sigmoid"},
        {"_add_", "a fused operation: add"},      {"mul_mul_", "a fused operation: mul"},
        {"v2_mul_", "a fused operation: mul"},    {"pipe_mul_", "a fused operation: mul"},
        {"", "a fused operation without a name"},
    };
    const char *name = json_string_value(json_object_get(shape, "kernel_name"));
    size_t i = 0;
    if (!(json_number_value(json_object_get(shape, "fused_double_operand_num")) > 0))
        return NULL;
    while (!strstr(name ? name : "", operations[i].in_name))
        i++;
    return operations[i].why;
}

/* Of `shape` and of a static bank's `info_dict`. */
static enum status parse_shape(const struct record *r, const json_t *shape, const char *where,
                               struct bank_row *row)
{
    int64_t variant = 1, batch_type = -1;
    if (!json_is_object(shape))
        return record_error(r, "%s: expected an object", where);
    TRY(parse_extents_of_both(r, shape, where, row));
    TRY(record_type(r, shape, where, "A_dtype", DTYPE_CANN_NAMES, &row->type));
    TRY(record_type_is(r, shape, where, "B_dtype", DTYPE_CANN_NAMES, row->type));
    TRY(record_type(r, shape, where, "C_dtype", DTYPE_CANN_NAMES, &row->out_type));
    if (json_object_get(shape, "mad_dtype"))
        TRY(record_type_is(r, shape, where, "mad_dtype", DTYPE_CANN_NAMES,
                           dtype_accumulator(row->type)));
    TRY(record_integer(r, shape, where, "dilationH", 1, 4, &variant));
    TRY(record_bool(r, shape, where, "bias_flag", &row->bias));
    if (json_object_get(shape, "batch_type"))
        TRY(record_integer(r, shape, where, "batch_type", 0, 255, &batch_type));
    row->transpose_a = variant == 2 || variant == 4;
    row->transpose_b = variant == 3 || variant == 4;
    row->batch_type = (int)batch_type;
    row->share_b = batch_type == 2;
    row->unfit = why_fused(shape);
    return parse_layouts(r, shape, where, row);
}

/* cost_time, once the shape is known. */
static enum status parse_cost(const struct record *r, const json_t *record, struct bank_row *row)
{
    const json_t *value;
    TRY(record_member(r, record, "the row", "cost_time", &value));
    double cost = json_number_value(value); /* 0 of what is no number */
    const char *source = json_string_value(json_object_get(record, "cost_source"));
    if (!(cost > 0))
        return record_error(r, "cost_time: expected a number above 0");
    if (source && strcmp(source, "simulated") == 0) /* our own exports: no measurement */
        return STATUS_OK;
    if (cost >= FAILED_COST) {
        row->unfit = "cost_time 1e16 or more: the kernel did not run";
        return STATUS_OK;
    }
    bool nanoseconds = row->batch_type < 0 && cost > OLD_COST_IS_US;
    row->measured_ns = nanoseconds ? cost : cost * NS_PER_US;
    if (row->measured_ns > MAX_NS)
        return record_error(r, "cost_time: expected at most %g us, or 1e16 of a kernel that failed",
                            MAX_NS / NS_PER_US);
    return STATUS_OK;
}

/* A number, a flag, `[]` or null. */
static bool parse_number(const json_t *value, int32_t *number)
{
    json_int_t integer = json_is_integer(value) ? json_integer_value(value) : json_is_true(value);
    bool whole = json_is_array(value) && json_array_size(value) == 0;
    *number = whole ? BANK_WHOLE : json_is_null(value) ? BANK_ABSENT : (int32_t)integer;
    return whole || json_is_null(value) || json_is_boolean(value) ||
           (json_is_integer(value) && integer >= 0 && integer <= INT32_MAX);
}

static enum status parse_repository(const struct record *r, const json_t *object,
                                    struct bank_row *row)
{
    const json_t *shape, *tiling;
    TRY(record_member(r, object, "the row", "shape", &shape));
    TRY(record_member(r, object, "the row", "tiling", &tiling));
    TRY(parse_shape(r, shape, "shape", row));
    if (json_array_size(tiling) != BANK_NUMBERS)
        return record_error(r, "tiling: expected a list of %d numbers", BANK_NUMBERS);
    for (int i = 0; i < BANK_NUMBERS; i++)
        if (!parse_number(json_array_get(tiling, (size_t)i), &row->number[i]))
            return record_error(r,
                                "tiling[%d]: expected a whole number from 0 to %d, true, false, "
                                "[] or null",
                                i, INT32_MAX);
    return parse_cost(r, object, row);
}

/* Which entries of a static bank's lists are which numbers; `[]` is written to the first. */
struct named_list {
    const char *name;
    bool optional; /* may be null */
    int count;
    struct {
        int8_t entry;
        int8_t number; /* enum bank_number */
    } entries[4];
};

static const struct named_list shape_lists[] = {
    {"block_dim",
     false,
     4,
     {{0, BANK_BATCH_DIM}, {1, BANK_N_DIM}, {2, BANK_M_DIM}, {3, BANK_GROUP_DIM}}},
    {"AL1_shape",
     true,
     4,
     {{0, BANK_AL1_K}, {1, BANK_AL1_M}, {2, BANK_AL1_BATCH}, {3, BANK_AL1_GROUP}}},
    {"BL1_shape",
     true,
     4,
     {{0, BANK_BL1_K}, {1, BANK_BL1_N}, {2, BANK_BL1_BATCH}, {3, BANK_BL1_GROUP}}},
    {"AL0_matrix",
     false,
     4,
     {{1, BANK_AL0_K}, {0, BANK_AL0_M}, {4, BANK_AL0_BATCH}, {5, BANK_AL0_GROUP}}},
    {"BL0_matrix",
     false,
     4,
     {{0, BANK_BL0_K}, {1, BANK_BL0_N}, {4, BANK_BL0_BATCH}, {5, BANK_BL0_GROUP}}},
    {"CL0_matrix",
     false,
     4,
     {{1, BANK_CL0_M}, {0, BANK_CL0_N}, {4, BANK_CL0_BATCH}, {5, BANK_CL0_GROUP}}},
};

static const struct {
    const char *name;
    int number;
} buffers[] = {
    {"AL1_pbuffer", BANK_AL1_BUFFERS}, {"BL1_pbuffer", BANK_BL1_BUFFERS},
    {"AL0_pbuffer", BANK_AL0_BUFFERS}, {"BL0_pbuffer", BANK_BL0_BUFFERS},
    {"CL0_pbuffer", BANK_CL0_BUFFERS},
};

static enum status parse_list(const struct record *r, const json_t *knowledge,
                              const struct named_list *list, struct bank_row *row)
{
    const json_t *value;
    TRY(record_member(r, knowledge, "knowledge", list->name, &value));
    bool absent = json_is_null(value) && list->optional;
    bool whole = json_is_array(value) && json_array_size(value) == 0;
    for (int i = 0; i < list->count; i++) {
        int32_t *number = &row->number[list->entries[i].number];
        *number = 1;
        if (absent || whole)
            *number = i > 0 ? 1 : absent ? BANK_ABSENT : BANK_WHOLE;
        else if (!parse_number(json_array_get(value, (size_t)list->entries[i].entry), number))
            return record_error(r, "knowledge.%s: expected a list of whole numbers or []",
                                list->name);
    }
    return STATUS_OK;
}

static enum status parse_static(const struct record *r, const json_t *object, struct bank_row *row)
{
    const json_t *info = NULL, *knowledge = NULL, *pingpong = NULL;
    TRY(record_member(r, object, "the kernel", "info_dict", &info));
    TRY(record_member(r, object, "the kernel", "knowledge", &knowledge));
    TRY(parse_shape(r, info, "info_dict", row));
    for (size_t i = 0; i < sizeof shape_lists / sizeof *shape_lists; i++)
        TRY(parse_list(r, knowledge, &shape_lists[i], row));
    TRY(record_member(r, knowledge, "knowledge", "manual_pingpong_buffer", &pingpong));
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        int64_t depth = 0;
        TRY(record_integer(r, pingpong, "manual_pingpong_buffer", buffers[i].name, 1, 2, &depth));
        row->number[buffers[i].number] = (int32_t)depth;
    }
    return parse_cost(r, object, row);
}

/* Without these nothing can be said about a tiling. */
static const int needed_fields[] = {
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
    for (size_t i = 0; i < sizeof needed_fields / sizeof *needed_fields; i++)
        TRY(parse_field(r, fields, where, needed_fields[i], 1, row));
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

static enum status parse_runtime_kb(const struct record *r, const json_t *object,
                                    struct bank_row *row)
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

#define MOST_US 1e12

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
static enum status parse_tcubetiling(const struct record *r, const json_t *object,
                                     struct bank_row *row)
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

enum status bank_parse(struct record *r, const char *text, size_t length, struct bank_row *row)
{
    static enum status (*const parsers[BANK_FORMATS])(const struct record *, const json_t *,
                                                      struct bank_row *) = {
        [BANK_REPOSITORY] = parse_repository,
        [BANK_STATIC] = parse_static,
        [BANK_RUNTIME_KB] = parse_runtime_kb,
        [BANK_TCUBETILING] = parse_tcubetiling,
    };
    json_error_t problem;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!object) {
        r->line += problem.line > 0 ? problem.line - 1 : 0;
        for (char *c = problem.text; *c; c++)
            if (*c == '\n' || *c == '\r')
                *c = ' ';
        return record_error(r, "%.150s (column %d), expected a JSON object", problem.text,
                            problem.column);
    }
    enum status status = json_is_object(object) ? parsers[row->format](r, object, row)
                                                : record_error(r, "expected a JSON object");
    json_decref(object);
    return status;
}
