/* Lists are walked in place, entry by entry, without a copy: rows come by the million. Numbers are
 * doubles, since a product of eight sizes is beyond 64 bits.
 *
 * Products of matrices: M, N and the batch come from the output. In each operand one size has to be
 * the output's, and the other is K, whichever way round it lies; both operands have to agree on K.
 * Formats that end in NZ hold blocks (CANN's FRACTAL_NZ), and are first read as the matrix in them.
 *
 * A table of types tells which operators are elementwise. Inputs are counted by their own shapes
 * and, where they are broadcast, once more by the output's, which gives the two ends of what is
 * loaded. */
#include "analysis/profile/analyse_shapes.h"

#include "analysis/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ lists */

enum { TENSOR_MAX_DIMENSIONS = 8 };

struct tensor {
    int count; /* of dimensions; 0: a scalar */
    double size[TENSOR_MAX_DIMENSIONS];
};

static const char around[] = "\" \t\r\n";

static bool is_absent(const char *list)
{
    list += strspn(list, around);
    return strncasecmp(list, "N/A", 3) == 0 && list[3 + strspn(list + 3, around)] == 0;
}

/* 0 of a field without any characters, or N/A. */
static int list_count(const char *list)
{
    int count = 1;
    if (!*list || is_absent(list))
        return 0;
    for (; *list; list++)
        count += *list == ';';
    return count;
}

/* The index-th entry of a list, without quotation marks and blanks around the list: not ended by a
 * 0 character, *length characters long. "" where there are not so many. */
static const char *list_entry(const char *list, int index, int *length)
{
    for (; index > 0 && *list; index--)
        list += strcspn(list, ";") + (strchr(list, ';') != NULL);
    list += strspn(list, around);
    *length = (int)strcspn(list, ";");
    while (*length && strchr(around, list[*length - 1]))
        --*length;
    return list;
}

/* A size: digits, and not so many that it exceeds a billion. */
static bool read_size(const char **at, const char *end, double *size)
{
    const char *begin = *at;
    *size = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *size <= 1e9)
        *size = 10 * *size + (*(*at)++ - '0');
    return *at > begin && *size <= 1e9;
}

/* False when the entry is no shape: sizes are 0 to 10^9, at most TENSOR_MAX_DIMENSIONS of them. */
static bool tensor_read(const char *list, int index, struct tensor *tensor)
{
    int length;
    const char *at = list_entry(list, index, &length), *end = at + length;
    tensor->count = 0;
    if (index >= list_count(list))
        return false;
    while (at < end) {
        if (tensor->count == TENSOR_MAX_DIMENSIONS ||
            !read_size(&at, end, &tensor->size[tensor->count++]))
            return false;
        if (at < end && (*at++ != ',' || at == end))
            return false;
    }
    return true;
}

static double tensor_elements(const struct tensor *tensor)
{
    double elements = 1;
    for (int i = 0; i < tensor->count; i++)
        elements *= tensor->size[i];
    return elements;
}

int data_type_of(const char *list, int index)
{
    int length;
    const char *text = list_entry(list, index, &length);
    return dtype_find_profiled(text, length);
}

/* ------------------------------------------------------------------ products of matrices */

/* Of multiplications of matrices the shapes give the operations, and the bytes that they move at
 * least. */
struct matmul_work {
    double m, k, n, batch;
    enum dtype type;   /* of the operands */
    double load_bytes; /* of both operands, each once */
    double results;    /* elements of the output … */
    int result;        /* … of this enum dtype; -1: not known */
    char note[160];    /* what had to be assumed; "" */
};

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

/* Blocks of 16x16 in memory, [.., N/16, M/16, 16, 16], as the matrix that they hold. */
static void flatten_blocks(const char *formats, int index, struct tensor *tensor)
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
    flatten_blocks(formats, index, tensor);
    return true;
}

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
static double agreed_size(double a, double b, const char *what, struct matmul_work *work)
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
        if (agreed_size(size[i], common, what, work) == common) {
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

/* False when the shapes do not say, or contradict each other: work->note says why. Where two sizes
 * that should be equal differ by one digit too many, which is a way in which such files are
 * damaged, the shorter one is taken, and the note says so. */
static bool read_matmul(const struct profile_row *row, struct matmul_work *work)
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
    work->k = agreed_size(k[0], k[1], "K", work);
    count_least_bytes(operands, types, work);
    return work->k > 0;
}

/* BF16 counts as FP16 where it has no price of its own. */
static enum dtype stand_in_type(enum dtype type)
{
    return type == DTYPE_BF16 ? DTYPE_F16 : type;
}

static double padded_size(double size, int block)
{
    return ceil(size / block) * block;
}

/* Σ O_p / P_p of one core; negative: the chip has no peak of this type. */
static double ideal_matmul_ns(const struct peaks *peaks, const struct matmul_work *work)
{
    const struct matrix_type *matrix = hardware_matrix_type(peaks->hw, work->type);
    if (!matrix)
        matrix = hardware_matrix_type(peaks->hw, stand_in_type(work->type));
    if (!matrix)
        return -1;
    double operations = 2 * work->batch * padded_size(work->m, matrix->block_m) *
                        padded_size(work->k, matrix->block_k) *
                        padded_size(work->n, matrix->block_n);
    double peak = hardware_matrix_peak(peaks->hw, (enum dtype)matrix->type) * 1e-9;
    return operations / peak / peaks->cores[SIDE_CUBE];
}

/* Operands come into any buffer of the matrix unit; results leave by UB, or straight from L0C. */
static bool add_operands(struct peaks *peaks, const struct matmul_work *work)
{
    const struct traffic load = {.unit = UNIT_MTE2,
                                 .miss_share = -1,
                                 .inner = {"l1", "l0a", "l0b"},
                                 .least_bytes = work->load_bytes,
                                 .most_bytes = INFINITY};
    enum dtype sums = dtype_accumulator(work->type);
    enum dtype result = work->result < 0 ? sums : (enum dtype)work->result;
    int result_bytes = work->result < 0 ? 0 : dtype_bytes(result);
    const struct traffic stores[] = {{.unit = UNIT_MTE3,
                                      .store = true,
                                      .miss_share = -1,
                                      .inner = {"ub"},
                                      .least_bytes = work->results * result_bytes,
                                      .most_bytes = INFINITY},
                                     {.unit = UNIT_FIXPIPE,
                                      .store = true,
                                      .miss_share = -1,
                                      .inner = {"l0c"},
                                      .from = sums,
                                      .to = result,
                                      .least_bytes = work->results * dtype_bytes(sums),
                                      .most_bytes = INFINITY}};
    bool loads = traffic_add(peaks, &load);
    bool fixpipe = peaks->places->of[SIDE_CUBE][UNIT_FIXPIPE] >= 0;
    return traffic_add(peaks, &stores[fixpipe]) || loads;
}

/* Where bytes were counted, those of the shapes are not needed. */
static void add_matmul(struct peaks *peaks, bool counted, bool quiet)
{
    struct matmul_work work;
    int cube = peaks->places->of[SIDE_CUBE][UNIT_CUBE];
    bool known = read_matmul(peaks->row, &work);
    double ideal_ns = known ? ideal_matmul_ns(peaks, &work) : -1;
    bool bytes = known && !counted && add_operands(peaks, &work);
    if (cube >= 0 && ideal_ns >= 0)
        peaks->diagnosis->components[cube].ideal_ns = ideal_ns;
    diagnosis_note(peaks->diagnosis, known && ideal_ns >= 0 ? "operations of Cube by the shapes"
                                     : quiet                ? ""
                                     : !known               ? "no bytes or operations in the file"
                                                            : "no operations in the file");
    diagnosis_note(peaks->diagnosis,
                   bytes ? "at least the bytes of each operand and result once" : "");
    diagnosis_note(peaks->diagnosis, quiet && !known ? "" : work.note);
    if (known && ideal_ns < 0) {
        char words[128];
        snprintf(words, sizeof words, "%s has no peak of %s", peaks->hw->name,
                 dtype_name(work.type));
        diagnosis_note(peaks->diagnosis, words);
    }
}

/* ------------------------------------------------------------------ elementwise operators */

/* Elementwise operators load every input and store every result once. What they move follows from
 * the shapes then, and where the vector unit has an instruction for them, what they compute too. */
struct elementwise_work {
    double load_least_bytes; /* of all inputs, each once */
    double load_most_bytes;  /* where one is broadcast: it may be loaded again for every result */
    double store_bytes;
    double elements;       /* of the output */
    const char *operation; /* of the vector unit, one an element of the output; NULL: the shapes do
                              not say */
    enum dtype type;       /* that it computes in */
    char note[160];        /* why something is not known; "" */
};

enum {
    NUMBERS = 1 << DTYPE_F16 | 1 << DTYPE_F32 | 1 << DTYPE_I32,
    REALS = 1 << DTYPE_F16 | 1 << DTYPE_F32,
    BITS = 1 << DTYPE_I16 | 1 << DTYPE_U16,
};

/* Names are those of CANN's operator list, which says of each that a result is a function of the
 * elements at its place; inputs of fewer elements are broadcast. The operation is the vector unit's
 * where one instruction does it, in the types that it computes in itself (Zhou et al. 2025,
 * section 2.1: FP16, FP32 and INT32; its logic is of 16 bits). Of the others the library decides
 * how many it takes. */
struct elementwise {
    const char *type;
    const char *operation; /* NULL: more than one, or none that is described */
    int inputs;
    unsigned types; /* of the operation: bit by enum dtype */
};

static const struct elementwise operators[] = {
    {"Add", "vadd", 2, NUMBERS},
    {"BiasAdd", "vadd", 2, NUMBERS},
    {"Sub", "vsub", 2, NUMBERS},
    {"Mul", "vmul", 2, NUMBERS},
    {"Maximum", "vmax", 2, NUMBERS},
    {"Minimum", "vmin", 2, NUMBERS},
    {"BitwiseAnd", "vand", 2, BITS},
    {"BitwiseOr", "vor", 2, BITS},
    {"Invert", "vnot", 1, BITS},
    {"Relu", "relu", 1, REALS},
    {"Cast", "cast", 1, REALS},
    /* moved only */
    {"Identity", NULL, 1, 0},
    {"TensorMove", NULL, 1, 0},
    /* functions of one element */
    {"Abs", NULL, 1, 0},
    {"Adds", NULL, 1, 0},
    {"Ceil", NULL, 1, 0},
    {"Cos", NULL, 1, 0},
    {"Elu", NULL, 1, 0},
    {"Erf", NULL, 1, 0},
    {"Exp", NULL, 1, 0},
    {"Expm1", NULL, 1, 0},
    {"FastGelu", NULL, 1, 0},
    {"Floor", NULL, 1, 0},
    {"Gelu", NULL, 1, 0},
    {"HardSigmoid", NULL, 1, 0},
    {"HardSwish", NULL, 1, 0},
    {"LeakyRelu", NULL, 1, 0},
    {"Log", NULL, 1, 0},
    {"Log1p", NULL, 1, 0},
    {"LogicalNot", NULL, 1, 0},
    {"Mish", NULL, 1, 0},
    {"Muls", NULL, 1, 0},
    {"Neg", NULL, 1, 0},
    {"Reciprocal", NULL, 1, 0},
    {"Relu6", NULL, 1, 0},
    {"Rint", NULL, 1, 0},
    {"Round", NULL, 1, 0},
    {"Rsqrt", NULL, 1, 0},
    {"Sigmoid", NULL, 1, 0},
    {"Sign", NULL, 1, 0},
    {"Sin", NULL, 1, 0},
    {"Softplus", NULL, 1, 0},
    {"Sqrt", NULL, 1, 0},
    {"Square", NULL, 1, 0},
    {"Swish", NULL, 1, 0},
    {"Tanh", NULL, 1, 0},
    /* functions of two */
    {"Div", NULL, 2, 0},
    {"Equal", NULL, 2, 0},
    {"FastGeluGrad", NULL, 2, 0},
    {"FloorDiv", NULL, 2, 0},
    {"FloorMod", NULL, 2, 0},
    {"Greater", NULL, 2, 0},
    {"GreaterEqual", NULL, 2, 0},
    {"Less", NULL, 2, 0},
    {"LessEqual", NULL, 2, 0},
    {"LogicalAnd", NULL, 2, 0},
    {"LogicalOr", NULL, 2, 0},
    {"NotEqual", NULL, 2, 0},
    {"Pow", NULL, 2, 0},
    {"RealDiv", NULL, 2, 0},
    {"ReluGrad", NULL, 2, 0},
    {"SigmoidGrad", NULL, 2, 0},
    {"SquaredDifference", NULL, 2, 0},
    {"TanhGrad", NULL, 2, 0},
    /* functions of three */
    {"ClipByValue", NULL, 3, 0},
    {"GeluGrad", NULL, 3, 0},
    {"Select", NULL, 3, 0},
    {"SelectV2", NULL, 3, 0},
};

static const struct elementwise *operator_of(const struct profile_row *row)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcasecmp(row->type, operators[i].type) == 0)
            return &operators[i];
    return NULL;
}

bool shapes_are_elementwise(const struct profile_row *row)
{
    return operator_of(row) != NULL;
}

/* Sizes are compared from the last on; 1, or none, stands for all of the output's. */
static bool broadcasts(const struct tensor *input, const struct tensor *output)
{
    if (input->count > output->count)
        return false;
    for (int i = 1; i <= input->count; i++) {
        double size = input->size[input->count - i];
        if (size != 1 && size != output->size[output->count - i])
            return false;
    }
    return true;
}

/* A tensor of the row: entry `index` of shapes and data types, of `count` that there have to be. */
static bool read_operand(const char *shapes, const char *types, int index, int count,
                         struct tensor *tensor, int *type, struct elementwise_work *work)
{
    int length;
    const char *name = list_entry(types, index, &length);
    *type = data_type_of(types, index);
    if (list_count(shapes) != count || list_count(types) != count ||
        !tensor_read(shapes, index, tensor))
        snprintf(work->note, sizeof work->note, "shapes or data types are missing");
    else if (*type < 0)
        snprintf(work->note, sizeof work->note, "data type '%.*s' is not known",
                 length < 32 ? length : 32, name);
    else
        return true;
    return false;
}

static bool add_input(const struct profile_row *row, int index, int count,
                      const struct tensor *output, unsigned *types, struct elementwise_work *work)
{
    struct tensor input;
    int type;
    if (!read_operand(row->texts[SLOT_INPUT_SHAPES], row->texts[SLOT_INPUT_TYPES], index, count,
                      &input, &type, work))
        return false;
    if (!broadcasts(&input, output)) {
        snprintf(work->note, sizeof work->note,
                 "the shape of input %d is neither the output's nor broadcast to it", index + 1);
        return false;
    }
    *types |= 1u << type;
    work->load_least_bytes += dtype_bytes((enum dtype)type) * tensor_elements(&input);
    work->load_most_bytes += dtype_bytes((enum dtype)type) * work->elements;
    return true;
}

/* One instruction an element, where the unit computes in all of the types: a repeat holds as many
 * as there are of the widest. */
static void find_operation(const struct elementwise *operator, unsigned types,
                           struct elementwise_work *work)
{
    if (!operator->operation) {
        snprintf(work->note, sizeof work->note,
                 "the shapes do not say what %s takes of Vector", operator->type);
        return;
    }
    if (types & ~operator->types) {
        snprintf(work->note, sizeof work->note,
                 "Vector computes %s in other types than these", operator->type);
        return;
    }
    work->operation = operator->operation;
    for (int type = DTYPE_COUNT - 1; type >= 0; type--)
        if ((types >> type & 1) &&
            (work->type == DTYPE_COUNT || dtype_bytes((enum dtype)type) > dtype_bytes(work->type)))
            work->type = (enum dtype)type;
}

/* False when the shapes do not say, or contradict each other: work->note says why. */
static bool read_elementwise(const struct profile_row *row, struct elementwise_work *work)
{
    const struct elementwise *operator= operator_of(row);
    struct tensor output;
    int type;
    *work = (struct elementwise_work){.type = DTYPE_COUNT};
    if (!operator|| !read_operand(row->texts[SLOT_OUTPUT_SHAPES], row->texts[SLOT_OUTPUT_TYPES], 0,
                                  1, &output, &type, work))
        return false;
    work->elements = tensor_elements(&output);
    work->store_bytes = work->elements * dtype_bytes((enum dtype)type);
    unsigned types = 1u << type;
    for (int i = 0; i < operator->inputs; i++)
        if (!add_input(row, i, operator->inputs, &output, &types, work))
            return false;
    if (work->elements < 1) {
        snprintf(work->note, sizeof work->note, "the shapes have no elements");
        return false;
    }
    find_operation(operator, types, work);
    return true;
}

static bool add_tensors(struct peaks *peaks, int side, const struct elementwise_work *work)
{
    const struct traffic load = {.side = (enum profile_side)side,
                                 .unit = UNIT_MTE2,
                                 .miss_share = -1,
                                 .inner = {"ub"},
                                 .least_bytes = work->load_least_bytes,
                                 .most_bytes = work->load_most_bytes};
    const struct traffic store = {.side = (enum profile_side)side,
                                  .unit = UNIT_MTE3,
                                  .store = true,
                                  .miss_share = -1,
                                  .inner = {"ub"},
                                  .least_bytes = work->store_bytes,
                                  .most_bytes = work->store_bytes};
    bool loads = traffic_add(peaks, &load);
    return traffic_add(peaks, &store) || loads;
}

/* Where an input is broadcast, there may be more than one instruction an element. */
static bool add_vector(struct peaks *peaks, int side, const struct elementwise_work *work)
{
    const struct hardware *hw = peaks->hw;
    int place = peaks->places->of[side][UNIT_VECTOR];
    int operation = work->operation
                        ? hardware_operation(hw, work->operation, (int)strlen(work->operation))
                        : -1;
    if (place < 0 || operation < 0)
        return false;
    int price = hardware_operation_price(hw, operation, work->type);
    double ns = peak_vector_ns(hw, price, work->type, work->elements) / peaks->cores[side];
    component_set_span(&peaks->diagnosis->components[place], ns,
                       work->load_least_bytes < work->load_most_bytes ? INFINITY : ns);
    return true;
}

/* Vector cores load, compute and store by themselves where they ran. */
static int side_of_vector(const struct component_places *places)
{
    const int *vector = places->of[SIDE_VECTOR];
    return vector[UNIT_VECTOR] >= 0 || vector[UNIT_MTE2] >= 0 || vector[UNIT_MTE3] >= 0
               ? SIDE_VECTOR
               : SIDE_CUBE;
}

static void add_elementwise(struct peaks *peaks, bool counted, bool quiet)
{
    struct elementwise_work work;
    int side = side_of_vector(peaks->places);
    bool known = read_elementwise(peaks->row, &work);
    bool bytes = known && !counted && add_tensors(peaks, side, &work);
    bool operations = known && add_vector(peaks, side, &work);
    bool neither = !bytes && !operations;
    diagnosis_note(peaks->diagnosis,
                   quiet && neither      ? ""
                   : counted             ? "operations of Vector by the shapes"
                   : bytes && operations ? "bytes and operations of Vector by the shapes"
                   : bytes               ? "bytes by the shapes, no operations in the file"
                   : operations ? "operations of Vector by the shapes, no bytes in the file"
                                : "no bytes or operations in the file");
    diagnosis_note(peaks->diagnosis, quiet && neither ? "" : work.note);
    if (known && work.load_least_bytes < work.load_most_bytes)
        diagnosis_note(peaks->diagnosis, "an input is broadcast, and may be loaded more than once");
    if (bytes && peaks->hw->cache.behind >= 0)
        diagnosis_note(peaks->diagnosis, "how much of it came out of the cache is not in the file");
}

void shapes_add(struct peaks *peaks, bool bytes_counted, bool counted)
{
    bool quiet = bytes_counted || counted;
    if (shapes_are_matmul(peaks->row))
        add_matmul(peaks, bytes_counted, quiet);
    else if (shapes_are_elementwise(peaks->row))
        add_elementwise(peaks, bytes_counted, quiet);
}
