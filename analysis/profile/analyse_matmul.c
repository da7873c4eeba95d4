/* M, N and the batch come from the output. In each operand one size has to be the output's, and the
 * other is K, whichever way round it lies; both operands have to agree on K. Formats that end in NZ
 * hold blocks (CANN's FRACTAL_NZ), and are first read as the matrix in them. */
#include "analysis/profile/analyse_shapes.h"

#include "analysis/profile/analyse_tensors.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_OPERANDS = 2, MATRICES };

bool shapes_are_matmul(const struct profile_row *row)
{
    static const char *const types[] = {"MatMul",        "MatMulV2",    "MatMulV3",
                                        "MatMulCommon",  "BatchMatMul", "BatchMatMulV2",
                                        "BatchMatMulV3", "GEMM",        "QuantBatchMatmulV3"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(row->type, types[i]) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ reading */

/* Blocks of 16x16 in memory, [.., N/16, M/16, 16, 16], as the matrix that they hold. */
static void flatten(const char *formats, int index, struct tensor *tensor)
{
    int length, n = tensor->count;
    const char *format = list_entry(formats, index, &length);
    if (n < 4 || length < 2 || strncasecmp(format + length - 2, "NZ", 2) != 0)
        return;
    double rows = tensor->size[n - 3] * tensor->size[n - 2];
    double columns = tensor->size[n - 4] * tensor->size[n - 1];
    tensor->size[n - 4] = rows;
    tensor->size[n - 3] = columns;
    tensor->count = n - 2;
}

/* A matrix, or a batch of them. */
static bool read_matrix(const char *list, const char *formats, int index, struct tensor *tensor)
{
    if (!tensor_read(list, index, tensor) || tensor->count < 2 || tensor_elements(tensor) < 1)
        return false;
    flatten(formats, index, tensor);
    return true;
}

/* ------------------------------------------------------------------ sizes */

/* Is `longer` the other number with one digit more somewhere? */
static bool has_stray_digit(double longer, double shorter)
{
    char a[32], b[32];
    int differs = 0;
    snprintf(a, sizeof a, "%.0f", longer);
    snprintf(b, sizeof b, "%.0f", shorter);
    if (strlen(a) != strlen(b) + 1)
        return false;
    while (b[differs] && a[differs] == b[differs])
        differs++;
    return strcmp(a + differs + 1, b + differs) == 0;
}

/* One of two sizes that should be equal; 0: neither can be told from the other. */
static double agreed(double a, double b, const char *what, struct matmul_work *work)
{
    double shorter = fmin(a, b), longer = fmax(a, b);
    bool stray = a != b && has_stray_digit(longer, shorter);
    if (a == b)
        return a;
    snprintf(work->note, sizeof work->note,
             stray ? "the shapes disagree on %s, %.0f and %.0f: a stray digit; %.0f is taken"
                   : "the shapes disagree on %s, %.0f and %.0f",
             what, a, b, shorter);
    return stray ? shorter : 0;
}

/* An operand has one dimension in common with the result; the other is K. Which is which is the one
 * that fits, or fits but for a stray digit. */
static bool split_operand(const struct tensor *operand, double common, const char *what,
                          struct matmul_work *work, double *k)
{
    const double *size = operand->size + operand->count - 2;
    for (int i = 0; i < 2; i++)
        if (size[i] == common) {
            *k = size[1 - i];
            return true;
        }
    for (int i = 0; i < 2; i++)
        if (agreed(size[i], common, what, work) == common) {
            *k = size[1 - i];
            return true;
        }
    snprintf(work->note, sizeof work->note, "no input has the output's %s %.0f", what, common);
    return false;
}

/* What stands before the matrix. */
static double batch_of(const struct tensor *tensor)
{
    double batch = 1;
    for (int i = 0; i + 2 < tensor->count; i++)
        batch *= tensor->size[i];
    return batch;
}

static bool read_operands(const struct profile_row *row, struct tensor operands[MAX_OPERANDS],
                          struct tensor *output)
{
    for (int i = 0; i < MAX_OPERANDS; i++)
        if (!read_matrix(row->texts[SLOT_INPUT_SHAPES], row->texts[SLOT_INPUT_FORMATS], i,
                         &operands[i]))
            return false;
    return read_matrix(row->texts[SLOT_OUTPUT_SHAPES], row->texts[SLOT_OUTPUT_FORMATS], 0, output);
}

/* Of A, B and C; -1: not said, which A's must be. */
static bool read_types(const struct profile_row *row, int types[MATRICES], struct matmul_work *work)
{
    for (int i = 0; i < MATRICES; i++) {
        const char *list = row->texts[i < MAX_OPERANDS ? SLOT_INPUT_TYPES : SLOT_OUTPUT_TYPES];
        int index = i % MAX_OPERANDS, length;
        const char *name = list_entry(list, index, &length);
        types[i] = data_type_of(list, index);
        if (types[i] < 0 && index < list_count(list)) {
            snprintf(work->note, sizeof work->note, "data type '%.*s' is not known",
                     length < 32 ? length : 32, name);
            return false;
        }
    }
    return types[0] >= 0 && types[0] < DTYPE_COUNT;
}

static int bytes_of(int type)
{
    return type < 0 ? 0 : dtype_bytes((enum dtype)type);
}

/* Every operand comes in once and every result goes out once, at least. */
static void count_least_bytes(const struct tensor *operands, const int types[MATRICES],
                              struct matmul_work *work)
{
    double batch_a = fmin(batch_of(&operands[0]), work->batch);
    double batch_b = fmin(batch_of(&operands[1]), work->batch);
    work->load_bytes =
        work->k * (batch_a * work->m * bytes_of(types[0]) + batch_b * work->n * bytes_of(types[1]));
    work->results = work->batch * work->m * work->n;
    work->result = types[2];
}

bool shapes_matmul(const struct profile_row *row, struct matmul_work *work)
{
    struct tensor operands[MAX_OPERANDS], output;
    double k[MAX_OPERANDS];
    int types[MATRICES];
    *work = (struct matmul_work){.note = ""};
    if (!read_types(row, types, work) || !read_operands(row, operands, &output)) {
        if (!work->note[0])
            snprintf(work->note, sizeof work->note, "shapes or data types are missing");
        return false;
    }
    work->type = (enum dtype)types[0];
    work->m = output.size[output.count - 2];
    work->n = output.size[output.count - 1];
    work->batch = batch_of(&output);
    /* Square sides fit either way round: the same K then follows from both. */
    if (!split_operand(&operands[0], work->m, "M", work, &k[0]) ||
        !split_operand(&operands[1], work->n, "N", work, &k[1]))
        return false;
    work->k = agreed(k[0], k[1], "K", work);
    count_least_bytes(operands, types, work);
    return work->k > 0;
}
