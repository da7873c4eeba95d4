/* A table of types tells which operators these are. Inputs are counted by their own shapes and,
 * where they are broadcast, once more by the output's, which gives the two ends of what is
 * loaded. */
#include "analysis/profile/analyse_shapes.h"

#include "analysis/profile/analyse_tensors.h"

#include <string.h>
#include <strings.h>

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

bool shapes_elementwise(const struct profile_row *row, struct elementwise_work *work)
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
