#include "jobs/analyse_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DIMENSIONS = 8, MAX_OPERANDS = 2 };

struct tensor {
    int count;
    double size[MAX_DIMENSIONS];
};

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

/* The part of "a;b;c" with an index, without what stands around the list. */
static const char *part_of(const char *list, int index, int *length)
{
    static const char around[] = "\" \t;";
    list += strspn(list, "\" \t");
    for (; index > 0 && *list; index--)
        list += strcspn(list, ";") + (strchr(list, ';') != NULL);
    *length = (int)strcspn(list, ";");
    while (*length && strchr(around, list[*length - 1]))
        --*length;
    return list;
}

/* "8192,512" */
static bool read_tensor(const char *list, int index, struct tensor *tensor)
{
    int length;
    const char *at = part_of(list, index, &length), *end = at + length;
    tensor->count = 0;
    while (at < end && tensor->count < MAX_DIMENSIONS) {
        char *next;
        double size = strtod(at, &next);
        if (next == at || next > end || !(size >= 1 && size <= 1e9) || size != floor(size))
            return false;
        tensor->size[tensor->count++] = size;
        at = next + (next < end && *next == ',');
        if (next < end && *next != ',')
            return false;
    }
    return at == end && tensor->count >= 2;
}

/* Blocks of 16x16 in memory, [.., N/16, M/16, 16, 16], as the matrix that they hold. */
static void flatten(const char *formats, int index, struct tensor *tensor)
{
    int length, n = tensor->count;
    const char *format = part_of(formats, index, &length);
    if (n < 4 || length < 2 || strncasecmp(format + length - 2, "NZ", 2) != 0)
        return;
    double rows = tensor->size[n - 3] * tensor->size[n - 2];
    double columns = tensor->size[n - 4] * tensor->size[n - 1];
    tensor->size[n - 4] = rows;
    tensor->size[n - 3] = columns;
    tensor->count = n - 2;
}

static int type_of(const char *types)
{
    static const struct {
        const char *name;
        enum dtype type;
    } names[] = {{"FLOAT16", DTYPE_F16}, {"BF16", DTYPE_BF16},   {"BFLOAT16", DTYPE_BF16},
                 {"FLOAT", DTYPE_F32},   {"FLOAT32", DTYPE_F32}, {"INT8", DTYPE_I8}};
    int length;
    const char *text = part_of(types, 0, &length);
    if (length > 3 && strncasecmp(text, "DT_", 3) == 0)
        text += 3, length -= 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((int)strlen(names[i].name) == length &&
            strncasecmp(text, names[i].name, (size_t)length) == 0)
            return (int)names[i].type;
    return -1;
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
    for (int i = 0; i < MAX_OPERANDS; i++) {
        if (!read_tensor(row->texts[SLOT_INPUT_SHAPES], i, &operands[i]))
            return false;
        flatten(row->texts[SLOT_INPUT_FORMATS], i, &operands[i]);
    }
    if (!read_tensor(row->texts[SLOT_OUTPUT_SHAPES], 0, output))
        return false;
    flatten(row->texts[SLOT_OUTPUT_FORMATS], 0, output);
    return true;
}

bool shapes_matmul(const struct profile_row *row, struct matmul_work *work)
{
    struct tensor operands[MAX_OPERANDS], output;
    double k[MAX_OPERANDS];
    int type = type_of(row->texts[SLOT_INPUT_TYPES]);
    *work = (struct matmul_work){.type = type < 0 ? DTYPE_F16 : (enum dtype)type};
    if (type < 0 || !read_operands(row, operands, &output)) {
        snprintf(work->note, sizeof work->note, "shapes or data types are missing");
        return false;
    }
    work->m = output.size[output.count - 2];
    work->n = output.size[output.count - 1];
    work->batch = batch_of(&output);
    /* Square sides fit either way round: the same K then follows from both. */
    if (!split_operand(&operands[0], work->m, "M", work, &k[0]) ||
        !split_operand(&operands[1], work->n, "N", work, &k[1]))
        return false;
    work->k = agreed(k[0], k[1], "K", work);
    return work->k > 0;
}
