/* Members stand in the order of CANN's own files, built with jansson and dumped record by record.
 * New rows get those values of unpublished fields that the vendor's tables have where they are
 * unused. */
#include "formats/bank_write.h"
#include "formats/json.h"
#include "formats/text.h"

#include <jansson.h>
#include <string.h>

#define NS_PER_US 1e3
#define NO_KEY    "00000000000000000000000000000000"

enum { FRACTAL = 16, ALIGNED = 64 };

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the bank") : STATUS_OK;
}

/* One record, and frees it. */
static enum status put_record(json_t *record, size_t flags, FILE *out, struct error *error)
{
    if (!record)
        return error_memory(error);
    int failed = json_dumpf(record, out, flags | JSON_REAL_PRECISION(15));
    json_decref(record);
    return failed ? error_set(error, STATUS_IO, "cannot write the bank") : STATUS_OK;
}

/* ------------------------------------------------------------------ runtime_kb */

static int runtime_format(bool nz)
{
    return nz ? 29 : 2;
}

static void put_batch(json_t *info, char operand, int64_t batch)
{
    for (int i = 1; i <= 4; i++) {
        char name[] = {'b', 'a', 't', 'c', 'h', '_', operand, (char)('0' + i), 0};
        json_object_set_new(info, name, json_integer(i == 1 ? batch : 1));
    }
}

/* In the order of the vendor's tables. Sizes are aligned where 64 divides them: what the flags of
 * those tables agree with. */
static json_t *runtime_info(const struct bank_row *row)
{
    json_t *info =
        json_pack("{s:i, s:i, s:f, s:i, s:i}", "a_dtype", dtype_cann_number(row->type), "a_format",
                  runtime_format(row->nz_a), "aub_double_num", 1.0, "b_dtype",
                  dtype_cann_number(row->type), "b_format", runtime_format(row->nz_b));
    put_batch(info, 'a', row->batch);
    put_batch(info, 'b', row->share_b ? 1 : row->batch);
    json_t *rest = json_pack(
        "{s:b, s:f, s:f, s:I, s:b, s:f, s:I, s:b, s:I, s:b, s:i, s:i, s:b}", "bias_flag", row->bias,
        "bub_double_num", 1.0, "fused_double_operand_num", 0.0, "k", (json_int_t)row->k,
        "k_align_flag", row->k % ALIGNED == 0, "l1_fused_num", 0.0, "m", (json_int_t)row->m,
        "m_align_flag", row->m % ALIGNED == 0, "n", (json_int_t)row->n, "n_align_flag",
        row->n % ALIGNED == 0, "out_dtype", dtype_cann_number(row->out_type), "out_format",
        runtime_format(row->nz_c), "reserved_bool", 0);
    json_object_update(info, rest);
    json_decref(rest);
    for (int i = 1; i <= 6; i++) {
        char name[] = "reserved_params0";
        name[sizeof name - 2] = (char)('0' + i);
        json_object_set_new(info, name, json_integer(0));
    }
    json_object_set_new(info, "trans_a_flag", json_boolean(row->transpose_a));
    json_object_set_new(info, "trans_b_flag", json_boolean(row->transpose_b));
    return info;
}

/* The members of `knowledge`, in the order of the vendor's tables. */
static const int knowledge_fields[] = {
    BANK_USED_CORES,  BANK_SINGLE_M,      BANK_SINGLE_N,      BANK_SINGLE_K,   BANK_BASE_M,
    BANK_BASE_N,      BANK_BASE_K,        BANK_DEPTH_A1,      BANK_DEPTH_B1,   BANK_STEP_M,
    BANK_STEP_N,      BANK_ITERATE_ORDER, BANK_STEP_KA,       BANK_STEP_KB,    BANK_DB_L0A,
    BANK_DB_L0B,      BANK_DB_L0C,        BANK_L2_M_TILES,    BANK_L2_N_TILES, BANK_L2_M_BLOCKS,
    BANK_L2_N_BLOCKS, BANK_L2_ORDER,      BANK_TILING_ENABLE,
};

static void put_field(json_t *object, const struct bank_row *row, int field)
{
    json_object_set_new(object, bank_field_names[field], json_integer(row->number[field]));
}

static json_t *runtime_row(const struct bank_row *row, const char *origin)
{
    json_t *knowledge = json_object();
    for (size_t i = 0; i < sizeof knowledge_fields / sizeof *knowledge_fields; i++)
        put_field(knowledge, row, knowledge_fields[i]);
    json_t *record = json_pack("{s:i, s:o, s:o, s:s, s:i}", "id", 0, "info_dict", runtime_info(row),
                               "knowledge", knowledge, "op", "MatMulV3", "version", 0);
    if (origin)
        json_object_set_new(record, "autotune", json_text(origin));
    return record;
}

enum status bank_write_runtime_kb(const struct bank_export *bank, FILE *out, struct error *error)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < bank->count && status == STATUS_OK; i++) {
        const struct bank_row *row = &bank->rows[i];
        if (row->text)
            fwrite(row->text, 1, row->text_length, out);
        else
            status = put_record(runtime_row(row, bank->origin), JSON_COMPACT, out, error);
        fputc('\n', out);
    }
    return status == STATUS_OK ? written(out, error) : status;
}

/* ------------------------------------------------------------------ static_bank */

static json_t *number_list(const int64_t *numbers, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(numbers[i]));
    return list;
}

/* [k, multiple, batch, group, 0], [] or null. */
static json_t *l1_shape(const struct bank_row *row, int first)
{
    const int32_t *v = &row->number[first];
    return v[0] == BANK_ABSENT  ? json_null()
           : v[0] == BANK_WHOLE ? json_array()
                                : number_list((int64_t[]){v[0], v[1], v[2], v[3], 0}, 5);
}

/* `columns`: of a block, FRACTAL or those of k. */
static json_t *l0_matrix(int32_t first, int32_t second, int columns, int32_t batch, int32_t group)
{
    return first == BANK_WHOLE || second == BANK_WHOLE
               ? json_array()
               : number_list((int64_t[]){first, second, FRACTAL, columns, batch, group, 0}, 7);
}

static json_t *pingpong(const int32_t *v)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "AUB_pbuffer",
                     1, "BUB_pbuffer", 1, "AL1_pbuffer", v[BANK_AL1_BUFFERS], "BL1_pbuffer",
                     v[BANK_BL1_BUFFERS], "AL0_pbuffer", v[BANK_AL0_BUFFERS], "BL0_pbuffer",
                     v[BANK_BL0_BUFFERS], "CL0_pbuffer", v[BANK_CL0_BUFFERS], "L0C_OUTPUT_pbuffer",
                     1, "UBG_pbuffer", 1, "INPUT_L1_FB_pbuffer", 1, "INPUT_L1_eltwise_pbuffer", 1,
                     "INPUT_L1_BT_pbuffer", 1);
}

static json_t *static_knowledge(const struct bank_row *row)
{
    const int32_t *v = row->number;
    const int block_k = bank_block_k(row->type);
    return json_pack(
        "{s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:[n,n,b], s:o, s:n, s:n, s:n, s:o, "
        "s:i}",
        "AUB_shape", "BUB_shape", "AL1_shape", l1_shape(row, BANK_AL1_K), "BL1_shape",
        l1_shape(row, BANK_BL1_K), "AL0_matrix",
        l0_matrix(v[BANK_AL0_M], v[BANK_AL0_K], block_k, v[BANK_AL0_BATCH], v[BANK_AL0_GROUP]),
        "BL0_matrix",
        l0_matrix(v[BANK_BL0_K], v[BANK_BL0_N], block_k, v[BANK_BL0_BATCH], v[BANK_BL0_GROUP]),
        "CL0_matrix",
        l0_matrix(v[BANK_CL0_N], v[BANK_CL0_M], FRACTAL, v[BANK_CL0_BATCH], v[BANK_CL0_GROUP]),
        "block_dim",
        number_list(
            (int64_t[]){v[BANK_BATCH_DIM], v[BANK_N_DIM], v[BANK_M_DIM], v[BANK_GROUP_DIM], 0}, 5),
        "control_reorder_flag", 0, "special_optimize_flag", 0, "UB_channel_wise_input", 0,
        "manual_pingpong_buffer", pingpong(v), "INPUT_L1_BT_param", "INPUT_L1_FB_param",
        "INPUT_L1_eltwise_param", "L0C_OUTPUT_matrix",
        number_list((int64_t[]){v[BANK_CUB_N], v[BANK_CUB_M], FRACTAL, FRACTAL, v[BANK_CUB_BATCH],
                                v[BANK_CUB_GROUP]},
                    6),
        "vector_block_num", 0);
}

static int64_t blocks_of(int64_t size, int64_t block)
{
    return (size + block - 1) / block;
}

static json_t *static_info(const struct bank_row *row)
{
    const int block_k = bank_block_k(row->type);
    const int64_t m = blocks_of(row->m, FRACTAL), n = blocks_of(row->n, FRACTAL);
    const int64_t k = blocks_of(row->k, block_k);
    json_t *info = json_pack(
        "{s:s, s:o, s:o, s:[i,i,i,i,i], s:s, s:s, s:s, s:s}", "op_type", "matmul", "A_shape",
        number_list((int64_t[]){row->batch, k, m, FRACTAL, block_k}, 5), "B_shape",
        number_list((int64_t[]){k * block_k, n, 1, 1, FRACTAL}, 5), "C_shape", 0, 0, 0, 0, 0,
        "A_dtype", dtype_cann_name(row->type), "B_dtype", dtype_cann_name(row->type), "C_dtype",
        dtype_cann_name(row->out_type), "mad_dtype", dtype_cann_name(dtype_accumulator(row->type)));
    json_t *rest = json_pack(
        "{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:i, s:i, s:i, s:i, "
        "s:i}",
        "padl", 0, "padr", 0, "padu", 0, "padd", 0, "strideH", 1, "strideW", 1, "strideH_expand", 1,
        "strideW_expand", 1, "dilationH", 1 + row->transpose_a + 2 * row->transpose_b, "dilationW",
        1, "group", 1, "bias_flag", row->bias, "fused_double_operand_num", 0, "shape_a_align",
        row->m % FRACTAL == 0 && row->k % block_k == 0, "shape_b_align",
        row->k % block_k == 0 && row->n % FRACTAL == 0, "scalar_size", 0, "batch_type",
        row->batch_type < 0 ? 0 : row->batch_type, "reduce_fusion", 0);
    json_object_update(info, rest);
    json_decref(rest);
    return info;
}

static enum status put_kernel(const struct bank_export *bank, int i, FILE *out, struct error *error)
{
    const struct bank_row *row = &bank->rows[i];
    bool simulated = bank->simulated_ns != NULL;
    if (row->text) {
        fwrite(row->text, 1, row->text_length, out);
        return STATUS_OK;
    }
    json_t *kernel = json_pack("{s:o, s:o, s:f}", "knowledge", static_knowledge(row), "info_dict",
                               static_info(row), "cost_time",
                               (simulated ? bank->simulated_ns[i] : row->measured_ns) / NS_PER_US);
    if (kernel && simulated)
        json_object_set_new(kernel, "cost_source", json_string("simulated"));
    return put_record(kernel, 0, out, error);
}

static const char *key_of(const struct bank_row *row)
{
    return row->key ? row->key : NO_KEY;
}

enum status bank_write_static(const struct bank_export *bank, FILE *out, struct error *error)
{
    enum status status = STATUS_OK;
    fputc('{', out);
    for (int i = 0; i < bank->count && status == STATUS_OK; i++) {
        bool same = i > 0 && strcmp(key_of(&bank->rows[i]), key_of(&bank->rows[i - 1])) == 0;
        if (same)
            fputs(", ", out);
        else {
            json_t *key = json_string(key_of(&bank->rows[i]));
            fputs(i > 0 ? "], " : "", out);
            status = put_record(key, JSON_ENCODE_ANY, out, error);
            fputs(": [", out);
        }
        if (status == STATUS_OK)
            status = put_kernel(bank, i, out, error);
    }
    fputs(bank->count ? "]}" : "}", out);
    return status == STATUS_OK ? written(out, error) : status;
}

/* ------------------------------------------------------------------ tcubetiling */

static bool is_f16(const struct bank_row *row)
{
    return row->type == DTYPE_F16 && row->out_type == DTYPE_F16;
}

static json_t *tcube_fields(const struct bank_row *row)
{
    json_t *fields = json_object();
    for (int f = 0; f < BANK_TCUBE_FIELDS; f++)
        put_field(fields, row, f);
    if (!is_f16(row)) {
        json_object_set_new(fields, BANK_TYPE_MEMBER, json_string(dtype_cann_name(row->type)));
        json_object_set_new(fields, BANK_OUT_TYPE_MEMBER,
                            json_string(dtype_cann_name(row->out_type)));
    }
    if (row->transpose_a)
        json_object_set_new(fields, BANK_TRANSPOSE_A_MEMBER, json_true());
    if (row->transpose_b)
        json_object_set_new(fields, BANK_TRANSPOSE_B_MEMBER, json_true());
    return fields;
}

enum status bank_write_tcubetiling_json(const struct bank_export *bank, FILE *out,
                                        struct error *error)
{
    json_t *list = json_array();
    for (int i = 0; i < bank->count; i++)
        json_array_append_new(list, tcube_fields(&bank->rows[i]));
    if (bank->count == 1) {
        json_t *only = json_incref(json_array_get(list, 0));
        json_decref(list);
        list = only;
    }
    enum status status = put_record(list, JSON_INDENT(2), out, error);
    fputc('\n', out);
    return status == STATUS_OK ? written(out, error) : status;
}

static void put_struct(FILE *out)
{
    fputs("struct autotune_tcubetiling {\n", out);
    for (int f = 0; f < BANK_TCUBE_FIELDS; f++)
        fprintf(out, "    int32_t %s;\n", bank_field_names[f]);
    fputs("};\n", out);
}

static void put_tiling(const struct bank_row *row, FILE *out)
{
    fputs("    {", out);
    if (!is_f16(row))
        fprintf(out, " /* operands in %s, results in %s */", dtype_name(row->type),
                dtype_name(row->out_type));
    if (row->number[BANK_SINGLE_K] < row->k)
        fputs(" /* parts of k: timed as if stored apart and added up in a fixed order; a kernel\n"
              "             that adds them up atomically gives other last bits each time */",
              out);
    fputc('\n', out);
    for (int f = 0; f < BANK_TCUBE_FIELDS; f++)
        fprintf(out, "        %d, /* %s */\n", row->number[f], bank_field_names[f]);
    fputs("    },\n", out);
}

/* A line of the comment at the head. */
static void put_comment(const char *text, FILE *out)
{
    if (!text)
        return;
    fputs(" * ", out);
    text_put_comment(text, out);
    fputc('\n', out);
}

enum status bank_write_tcubetiling_header(const struct bank_export *bank, FILE *out,
                                          struct error *error)
{
    fprintf(out, "/* Tilings as AscendC's TCubeTiling holds them: 50 int32 in its order, %s.\n",
            bank->origin ? "one a product" : "best first");
    put_comment(bank->title, out);
    put_comment(bank->origin, out);
    fputs(" * A field that the search says nothing about is 0. */\n"
          "#ifndef AUTOTUNE_TCUBETILING_H\n#define AUTOTUNE_TCUBETILING_H\n\n"
          "#include <stdint.h>\n\n",
          out);
    put_struct(out);
    fprintf(out,
            "\ntypedef char autotune_tcubetiling_is_whole"
            "[sizeof(struct autotune_tcubetiling) == %d ? 1 : -1];\n",
            BANK_TCUBE_FIELDS * 4);
    fprintf(out, "\nenum { autotune_tiling_count = %d };\n", bank->count);
    fputs("static const struct autotune_tcubetiling autotune_tilings[autotune_tiling_count] = {\n",
          out);
    for (int i = 0; i < bank->count; i++)
        put_tiling(&bank->rows[i], out);
    fputs("};\n\n#endif\n", out);
    return written(out, error);
}
