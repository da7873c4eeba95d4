/* What each step is on the chip: the path between two buffers, the matrix unit's type, a vector or
 * scalar operation; and what the chip lacks, named. */
#include "core/suggest.h"
#include "kernels/emit.h"
#include "kernels/text/plan/kernel_structure.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct binding {
    const struct kernel_values *values;
    const struct hardware *hw;
    const struct kernel_text *kernel;
    struct plan_step *step;
    const struct kernel_plan *plan;
    struct error *error;
};

static struct kernel_place place_of(const struct binding *b)
{
    return b->kernel->lines[b->step->line].at;
}

/* Of a tensor, or a tile: the buffer and the type. Tensors lie in gm. */
static int buffer_of(const struct binding *b, const struct plan_part *part)
{
    return part->tile >= 0 ? b->plan->tiles[part->tile].buffer : hardware_buffer(b->hw, "gm", 2);
}

static enum dtype type_of(const struct binding *b, const struct plan_part *part)
{
    return part->tile >= 0 ? b->plan->tiles[part->tile].type
                           : kernel_type(b->values, b->kernel->tensors[part->tensor].type);
}

static const char *name_of(const struct binding *b, const struct plan_part *part)
{
    return part->tile >= 0 ? b->kernel->tiles[part->tile].name.text
                           : b->kernel->tensors[part->tensor].name.text;
}

/* ------------------------------------------------------------------ where operands lie */

/* "l0a[i,k] f16" of "tile a: l1[i,k] f16 x 2", for a tile that brings another there; "" where its
 * line is not so plain. */
static void same_in(const struct binding *b, int tile, const char *buffer, char *text, size_t size)
{
    int length, depth = 0, at = 0;
    const char *line = kernel_source_line(
        b->kernel, b->kernel->lines[b->kernel->tiles[tile].line].at.line, &length);
    const char *dims = memchr(line, '[', (size_t)length);
    text[0] = '\0';
    if (!dims)
        return;
    length -= (int)(dims - line);
    do
        depth += dims[at] == '[' ? 1 : dims[at] == ']' ? -1 : 0;
    while (++at < length && depth > 0);
    while (at < length && dims[at] == ' ')
        at++;
    while (at < length && isalnum((unsigned char)dims[at]))
        at++;
    if (depth == 0 && at < 80)
        snprintf(text, size, "%s%.*s", buffer, at, dims);
}

/* What brings an operand to where the unit takes it, or a result from there, if one path does: two
 * lines to write. */
static void say_way(const struct binding *b, const struct plan_part *part, unsigned memories,
                    bool is_result, char *text, size_t size)
{
    char as[128], other[KERNEL_MAX_NAME + HARDWARE_NAME_SIZE + 2];
    int here = buffer_of(b, part);
    text[0] = '\0';
    for (int m = 0; part->tile >= 0 && m < b->hw->buffer_count; m++) {
        int path = is_result ? hardware_path(b->hw, m, here) : hardware_path(b->hw, here, m);
        if (!(memories & 1u << m) || path < 0)
            continue;
        const char *name = name_of(b, part), *buffer = b->hw->buffers[m].name;
        same_in(b, part->tile, buffer, as, sizeof as);
        snprintf(other, sizeof other, "%s_%s", name, buffer);
        if (*as && is_result)
            snprintf(text, size, ": 'tile %s: %s', and behind it 'move %s <- %s'", other, as, name,
                     other);
        else if (*as)
            snprintf(text, size, ": 'tile %s: %s' and before it 'load %s <- %s'", other, as, other,
                     name);
        return;
    }
}

static const enum operand_role sources[PLAN_MAX_PARTS] = {OPERAND_DST, OPERAND_SRC, OPERAND_SRC2,
                                                          OPERAND_SRC3};

/* Every operand and result where the pipe takes it from or leaves it. */
static enum status check_memories(const struct binding *b, const enum operand_role roles[])
{
    const struct plan_step *step = b->step;
    const struct instruction in = {.kind = (uint8_t)step->kind, .pipe = (int8_t)step->pipe};
    char names[HARDWARE_LIST_SIZE], way[320];
    for (int p = 0; p < step->part_count; p++) {
        const struct plan_part *part = &step->parts[p];
        unsigned memories = instruction_memories(b->hw, &in, roles[p]);
        int buffer = part->value ? -1 : buffer_of(b, part);
        if (!memories || buffer < 0 || (memories & 1u << buffer))
            continue;
        say_way(b, part, memories, p == 0, way, sizeof way);
        return plan_fail(b->error, place_of(b), "'%s' lies in %s, expected %.100s, %s pipe %s %s%s",
                         name_of(b, part), b->hw->buffers[buffer].name,
                         hardware_buffer_names(b->hw, memories, names),
                         p == 0 ? "where" : "from where", b->hw->pipes[step->pipe].name,
                         p == 0 ? "leaves it" : "takes it", way);
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ moves */

/* What machine_path says, and where there is no path at all, those that go from there. */
static enum status find_path(const struct binding *b, int from, int to)
{
    struct plan_step *step = b->step;
    char who[KERNEL_MAX_NAME + 3], path[2 * HARDWARE_NAME_SIZE + 3], others[160] = "";
    size_t used = 0;
    struct error lacks;
    snprintf(who, sizeof who, "'%s'", name_of(b, &step->parts[0]));
    if (machine_path(b->hw, who, from, to, step->type, step->to_type, &step->what, &step->price,
                     &lacks) == STATUS_OK)
        return STATUS_OK;
    for (int p = 0; step->what < 0 && p < b->hw->path_count; p++)
        if (b->hw->paths[p].source == from && used < sizeof others)
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s",
                                     used ? ", " : ", but ", hardware_path_name(b->hw, p, path));
    return plan_fail(b->error, place_of(b), "%s%s", lacks.text, others);
}

static enum status is_on(const struct binding *b, enum kernel_key key, bool *on)
{
    int64_t number = 0;
    if (b->step->text->keys[key])
        TRY(kernel_number(b->values, b->step->text->keys[key], &number, b->error));
    *on = number != 0;
    return STATUS_OK;
}

/* What the path does to elements on their way: ReLU, and a factor of each column. */
static enum status check_on_way(const struct binding *b)
{
    const struct plan_step *step = b->step;
    const struct path *path = &b->hw->paths[step->what];
    char name[2 * HARDWARE_NAME_SIZE + 3];
    bool relu;
    TRY(is_on(b, STEP_RELU, &relu));
    if (relu && !path->relu)
        return plan_fail(b->error, place_of(b), "relu=1: %s has no ReLU on its way %s", b->hw->name,
                         hardware_path_name(b->hw, step->what, name));
    if (step->part_count < 3)
        return STATUS_OK;
    const struct cast *cast = hardware_cast(b->hw, step->what, step->type, step->to_type);
    if (!cast || !cast->scale)
        return plan_fail(b->error, place_of(b),
                         "%s takes no factors '%s' on its way %s from %s to %s", b->hw->name,
                         name_of(b, &step->parts[2]), hardware_path_name(b->hw, step->what, name),
                         dtype_name(step->type), dtype_name(step->to_type));
    if (type_of(b, &step->parts[2]) != DTYPE_F32)
        return plan_fail(b->error, place_of(b), "factors '%s' are %s, expected f32",
                         name_of(b, &step->parts[2]), dtype_name(type_of(b, &step->parts[2])));
    return STATUS_OK;
}

static enum status bind_move(struct binding *b)
{
    struct plan_step *step = b->step;
    int from = buffer_of(b, &step->parts[1]), to = buffer_of(b, &step->parts[0]);
    bool transposes;
    if (from < 0 || to < 0)
        return plan_fail(b->error, place_of(b), "%s has no buffer 'gm', where tensors lie",
                         b->hw->name);
    step->kind = INSTRUCTION_MOVE;
    step->type = type_of(b, &step->parts[1]);
    step->to_type = type_of(b, &step->parts[0]);
    TRY(find_path(b, from, to));
    TRY(check_on_way(b));
    step->pipe = b->hw->paths[step->what].pipe;
    TRY(check_memories(b, sources));
    TRY(is_on(b, STEP_TRANSPOSE, &transposes));
    if (transposes)
        step->price = b->hw->paths[step->what].transposed_price;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ products */

static enum status bind_matrix(struct binding *b)
{
    static const enum operand_role roles[PLAN_MAX_PARTS] = {OPERAND_DST, OPERAND_A, OPERAND_B,
                                                            OPERAND_SRC};
    struct plan_step *step = b->step;
    const struct plan_part *to = &step->parts[0], *left = &step->parts[1], *right = &step->parts[2];
    const struct matrix_type *matrix;
    struct error lacks;
    step->kind = INSTRUCTION_MATRIX;
    step->type = type_of(b, left);
    step->pipe = b->hw->matrix_pipe;
    if (step->pipe >= 0)
        TRY(check_memories(b, roles));
    if (machine_matrix(b->hw, "a product", step->type, &matrix, &lacks) != STATUS_OK)
        return plan_fail(b->error, place_of(b), "%s", lacks.text);
    step->to_type = (enum dtype)matrix->accumulator;
    step->price = matrix->price;
    if (type_of(b, right) != step->type)
        return plan_fail(b->error, place_of(b), "'%s' is %s and '%s' is %s, expected one type",
                         name_of(b, left), dtype_name(step->type), name_of(b, right),
                         dtype_name(type_of(b, right)));
    for (int p = 0; p < step->part_count; p += 3) /* sums, and the row that they begin with */
        if (type_of(b, to + p) != step->to_type)
            return plan_fail(b->error, place_of(b),
                             "'%s' is %s, expected %s, in which %s adds up products of %s",
                             name_of(b, to + p), dtype_name(type_of(b, to + p)),
                             dtype_name(step->to_type), b->hw->name, dtype_name(step->type));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ operations */

static enum status find_operation(const struct binding *b, enum operation_class class)
{
    static const char *const names[] = {
        [OPERATION_VECTOR] = "vector", [OPERATION_SCALAR] = "scalar"};
    const char *name = b->step->text->operation;
    struct suggestion like = suggest_for(name, -1);
    b->step->what = hardware_operation(b->hw, name, (int)strlen(name));
    if (b->step->what >= 0 && b->hw->operations[b->step->what].class == class) {
        b->step->price = b->hw->operations[b->step->what].price;
        b->step->pipe = b->hw->prices[b->step->price].pipe;
        return STATUS_OK;
    }
    for (int o = 0; o < b->hw->operation_count; o++)
        if (b->hw->operations[o].class == class)
            suggest_try(&like, b->hw->operations[o].name);
    return plan_fail(b->error, place_of(b), "%s has no %s operation '%s'%s", b->hw->name,
                     names[class], name, like.text);
}

/* "f16 or f32" */
static const char *type_names(unsigned types, char text[DTYPE_LIST_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (types & 1u << t)
            used += (size_t)snprintf(text + used, DTYPE_LIST_SIZE - used, "%s%s",
                                     used ? " or " : "", dtype_name((enum dtype)t));
    return text;
}

/* The fewest conversions by `cast` from a type to one of those wanted, "f32 -> f16 -> i8"; "" where
 * none lead there. Breadth first. */
static const char *cast_way(const struct binding *b, int from, unsigned wanted,
                            char text[DTYPE_LIST_SIZE])
{
    int cast = hardware_operation(b->hw, "cast", 4), before[DTYPE_COUNT], queue[DTYPE_COUNT];
    int way[DTYPE_COUNT], count = 0, length = 0;
    size_t used = 0;
    unsigned seen = 1u << from;
    text[0] = '\0';
    queue[count++] = from;
    before[from] = -1;
    for (int q = 0; cast >= 0 && q < count && !length; q++) {
        unsigned results = hardware_operation_results(b->hw, cast, (enum dtype)queue[q]);
        for (int t = queue[q]; wanted & 1u << queue[q] && t >= 0; t = before[t])
            way[length++] = t;
        for (int to = 0; to < DTYPE_COUNT; to++)
            if (results & ~seen & 1u << to) {
                seen |= 1u << to;
                before[to] = queue[q];
                queue[count++] = to;
            }
    }
    while (length-- > 0)
        used += (size_t)snprintf(text + used, DTYPE_LIST_SIZE - used, "%s%s", used ? " -> " : "",
                                 dtype_name((enum dtype)way[length]));
    return text;
}

/* Does the operation take this type, or make that one of it? Else what would do instead. A cast to
 * the same type is a copy. */
static enum status check_types(const struct binding *b, bool is_cast)
{
    const struct plan_step *step = b->step;
    const char *operation = b->hw->operations[step->what].name;
    char expected[DTYPE_LIST_SIZE], way[DTYPE_LIST_SIZE];
    unsigned takes = 0;
    if (hardware_operation_results(b->hw, step->what, step->type) & 1u << step->to_type ||
        (is_cast && step->type == step->to_type))
        return STATUS_OK;
    for (int t = 0; t < DTYPE_COUNT; t++)
        takes |= hardware_operation_results(b->hw, step->what, (enum dtype)t) ? 1u << t : 0;
    if (!is_cast) {
        cast_way(b, step->type, takes, way);
        return plan_fail(b->error, place_of(b), "%s of %s: %s has it of %s only%s%s%s", operation,
                         dtype_name(step->type), b->hw->name, type_names(takes, expected),
                         *way ? "; cast " : "", way, *way ? " first" : "");
    }
    cast_way(b, step->type, 1u << step->to_type, way);
    takes = hardware_operation_results(b->hw, step->what, step->type);
    return plan_fail(b->error, place_of(b), "%s of %s to %s: %s converts %s to %s only%s%s%s",
                     operation, dtype_name(step->type), dtype_name(step->to_type), b->hw->name,
                     dtype_name(step->type), takes ? type_names(takes, expected) : "nothing",
                     *way ? "; in steps, " : "", way, *way ? ", with a tile of each type" : "");
}

static enum status bind_vector(struct binding *b)
{
    struct plan_step *step = b->step;
    step->kind = INSTRUCTION_VECTOR;
    TRY(find_operation(b, OPERATION_VECTOR));
    TRY(check_memories(b, sources));
    bool is_cast = strcmp(step->text->operation, "cast") == 0 ||
                   b->hw->operations[step->what].result == RESULT_PAIRS;
    for (int p = 1; p < step->part_count; p++)
        if (step->parts[p].value && b->hw->operations[step->what].with_number >= 0)
            step->what = b->hw->operations[step->what].with_number;
    step->to_type = type_of(b, &step->parts[0]);
    step->type = is_cast ? type_of(b, &step->parts[1]) : step->to_type;
    step->price = hardware_operation_price(b->hw, step->what, (enum dtype)step->type);
    for (int p = 1; p < step->part_count; p++)
        if (!step->parts[p].value && type_of(b, &step->parts[p]) != step->type)
            return plan_fail(b->error, place_of(b), "'%s' is %s and '%s' is %s, expected one type",
                             name_of(b, &step->parts[0]), dtype_name(step->to_type),
                             name_of(b, &step->parts[p]), dtype_name(type_of(b, &step->parts[p])));
    return check_types(b, is_cast);
}

static enum status bind_scalar(struct binding *b)
{
    b->step->kind = INSTRUCTION_SCALAR;
    TRY(find_operation(b, OPERATION_SCALAR));
    return check_memories(b, sources);
}

enum status plan_bind(const struct kernel_values *values, struct kernel_plan *plan, int number,
                      struct error *error)
{
    static enum status (*const binds[VERBS])(struct binding *) = {
        [VERB_LOAD] = bind_move,   [VERB_STORE] = bind_move,       [VERB_MOVE] = bind_move,
        [VERB_MMAD] = bind_matrix, [VERB_OPERATION] = bind_vector, [VERB_SCALAR] = bind_scalar,
    };
    struct binding binding = {values, values->hw, values->kernel, &plan->steps[number],
                              plan,   error};
    return binds[binding.step->text->verb](&binding);
}
