/* A problem and its space from texts (core/operator.h), and a problem in words: in titles, keys of
 * stores and answers alike. */
#include "core/operator.h"
#include "core/shape_range.h"
#include "core/suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Appends to a text of `size`, cut where it is full. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    va_list list;
    size_t used = strlen(text);
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

/* Blanks stand between them, and before the first where there is a text already. */
static void append_options(const struct problem *problem, char mark, char *text, size_t size)
{
    const struct operator* op = problem->op;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        if (problem->size[i] != op->options[i - op->shape_sizes].usual)
            append(text, size, "%s%s%c%lld", text[0] ? " " : "", op->size_names[i], mark,
                   (long long)problem->size[i]);
    for (int i = 0; i < op->choice_count; i++)
        if (!problem_choice_is_usual(problem, i))
            append(text, size, "%s%s%c%s", text[0] ? " " : "", op->choices[i].name, mark,
                   problem_choice_name(problem, i));
}

void problem_shape(const struct problem *problem, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < problem->op->shape_sizes; i++)
        append(text, size, "%s%lld", i ? "x" : "", (long long)problem->size[i]);
}

void problem_options(const struct problem *problem, char *text, size_t size)
{
    text[0] = 0;
    append_options(problem, '=', text, size);
}

const char *problem_title(const struct problem *problem, char text[PROBLEM_TITLE_SIZE])
{
    size_t used = (size_t)snprintf(text, PROBLEM_TITLE_SIZE, "%s ", problem->op->name);
    problem_shape(problem, text + used, PROBLEM_TITLE_SIZE - used);
    append_options(problem, ' ', text, PROBLEM_TITLE_SIZE);
    return text;
}

const struct operator_space *operator_space_find(const struct operator* op, const char *name)
{
    for (int i = 0; op->spaces[i]; i++)
        if (strcasecmp(op->spaces[i]->name, name) == 0)
            return op->spaces[i];
    return NULL;
}

const struct operator_space *operator_default_space(const struct operator* op,
                                                    const struct hardware *hw)
{
    if (!hw->host)
        return op->default_space ? op->default_space(hw) : op->spaces[0];
    for (int i = 0; op->spaces[i]; i++)
        if (op->spaces[i]->ask)
            return op->spaces[i];
    return NULL;
}

/* Digits up to `stop`; NULL when there are none, the value is 0 or does not fit. */
static const char *parse_size(const char *text, int64_t *value)
{
    *value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *text - '0', value))
            return NULL;
    return *value > 0 ? text : NULL;
}

enum status problem_parse(const struct operator* op, const char *shape, struct problem *problem,
                          struct error *error)
{
    *problem = (struct problem){.op = op, .type = op->own_type};
    const char *at = shape;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        problem->size[i] = op->options[i - op->shape_sizes].usual;
    if (op->shape_sizes == 0 && *shape)
        return error_set(error, STATUS_INVALID, "--shape %.64s: the sizes of %s have options",
                         shape, op->name);
    if (shape_has_range(shape))
        return error_set(
            error, STATUS_INVALID,
            "--shape %.64s: expected one size, a range is for `autotune tune --regret` "
            "or `--tilings`",
            shape);
    for (int i = 0; i < op->shape_sizes; i++) {
        char mark = i + 1 < op->shape_sizes ? 'x' : 0;
        at = parse_size(at, &problem->size[i]);
        if (!at || *at != mark)
            return error_set(error, STATUS_INVALID,
                             "--shape %.64s: expected %s with positive whole numbers", shape,
                             op->shape_form);
        at++;
    }
    return STATUS_OK;
}

static bool may_be_0(const struct operator* op, int size)
{
    return size >= op->shape_sizes && op->options[size - op->shape_sizes].may_be_0;
}

static enum status set_size(struct problem *problem, int size, const char *text,
                            struct error *error)
{
    bool is_0 = may_be_0(problem->op, size) && strcmp(text, "0") == 0;
    const char *end = is_0 ? text + 1 : parse_size(text, &problem->size[size]);
    if (is_0)
        problem->size[size] = 0;
    if (end && !*end && problem->size[size] <= INT32_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "--%s %.64s: expected a whole number from %d to %d",
                     problem->op->size_names[size], text, !may_be_0(problem->op, size), INT32_MAX);
}

const char *const choice_types[CHOICE_TYPES] = {"same", "accumulator", "f16", "bf16"};

/* The element type that a value of a choice comes to, or -1: the choice is not of one. */
static int type_of(const struct problem *problem, int choice, int value)
{
    if (problem->op->choices[choice].values != choice_types)
        return -1;
    const enum dtype types[CHOICE_TYPES] = {problem->type, dtype_accumulator(problem->type),
                                            DTYPE_F16, DTYPE_BF16};
    return (int)types[value];
}

enum dtype problem_choice_type(const struct problem *problem, int choice)
{
    return (enum dtype)type_of(problem, choice, problem->choice[choice]);
}

int problem_choice_of_type(const struct problem *problem, int choice, int type)
{
    int value = 0, count = problem->op->choices[choice].count;
    while (value < count && type_of(problem, choice, value) != type)
        value++;
    return value < count ? value : -1;
}

const char *problem_choice_name(const struct problem *problem, int choice)
{
    int value = problem->choice[choice], type = type_of(problem, choice, value);
    return type < 0 ? problem->op->choices[choice].values[value] : dtype_name((enum dtype)type);
}

static int usual_value(const struct problem *problem, int choice)
{
    bool of_type = type_of(problem, choice, CHOICE_SAME) >= 0;
    return of_type && dtype_result(problem->type) != problem->type ? CHOICE_ACCUMULATOR : 0;
}

bool problem_choice_is_usual(const struct problem *problem, int choice)
{
    return problem->choice[choice] == usual_value(problem, choice);
}

void problem_set_type(struct problem *problem, enum dtype type)
{
    problem->type = type;
    for (int c = 0; c < problem->op->choice_count; c++)
        if (type_of(problem, c, CHOICE_SAME) >= 0)
            problem->choice[c] = usual_value(problem, c);
}

static bool is_name(const char *name, const char *text)
{
    return strcasecmp(name, text) == 0;
}

static enum status set_choice(struct problem *problem, int number, const char *text,
                              struct error *error)
{
    const struct operator_choice *choice = &problem->op->choices[number];
    char list[128] = "";
    struct suggestion like = suggest_for(text, -1);
    for (int v = 0; v < choice->count; v++) {
        int type = type_of(problem, number, v);
        const char *name = type < 0 ? NULL : dtype_name((enum dtype)type);
        suggest_try(&like, choice->values[v]);
        if (is_name(choice->values[v], text) || (name && is_name(name, text))) {
            problem->choice[number] = type < 0 ? v : problem_choice_of_type(problem, number, type);
            return STATUS_OK;
        }
        strcat(strcat(list, v ? " or " : ""), choice->values[v]);
        if (name && !is_name(name, choice->values[v]))
            strcat(strcat(strcat(list, " ("), name), ")");
    }
    return error_set(error, STATUS_INVALID, "--%s %.64s: expected %s%s", choice->name, text, list,
                     like.text);
}

enum status problem_set(struct problem *problem, const char *name, const char *text,
                        struct error *error)
{
    const struct operator* op = problem->op;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        if (strcmp(op->size_names[i], name) == 0)
            return set_size(problem, i, text, error);
    for (int i = 0; i < op->choice_count; i++)
        if (strcmp(op->choices[i].name, name) == 0)
            return set_choice(problem, i, text, error);
    for (int i = 0; i < op->request_count; i++)
        if (strcmp(op->requests[i].name, name) == 0) {
            problem->request[i] = text;
            return STATUS_OK;
        }
    return error_set(error, STATUS_INVALID, "--%s: %s has none", name, op->name);
}

/* Is every size given? */
static enum status check_sizes(const struct problem *problem, struct error *error)
{
    const struct operator* op = problem->op;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        if (problem->size[i] <= 0 && !may_be_0(op, i))
            return error_set(error, STATUS_INVALID,
                             "--%s is missing, expected a whole number from 1 to %d",
                             op->size_names[i], INT32_MAX);
    return STATUS_OK;
}

enum status problem_settle(struct problem *problem, struct error *error)
{
    const struct operator* op = problem->op;
    TRY(op->complete ? op->complete(problem, error) : STATUS_OK);
    TRY(check_sizes(problem, error));
    return op->check(problem, error);
}

/* Spaces that say what a tiling asks of a processor are for processors, all others for chips. */
static enum status check_kind(const struct problem *problem, const struct operator_space *kind,
                              const struct hardware *hw, struct error *error)
{
    if ((hw->host != NULL) == (kind->ask != NULL))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "space %s of %s is for %s; %s is %s", kind->name,
                     problem->op->name, kind->ask ? "processors" : "chips", hw->name,
                     hw->host ? "a processor" : "a chip");
}

/* Kernels of processors compute in f32, with defaults of what has one. */
static enum status check_plain(const struct problem *problem, const struct operator_space *kind,
                               struct error *error)
{
    const struct operator* op = problem->op;
    if (problem->type != DTYPE_F32)
        return error_set(error, STATUS_INVALID, "--dtype %s: space %s knows f32 only",
                         dtype_name(problem->type), kind->name);
    for (int i = op->shape_sizes; i < op->size_count; i++) {
        int64_t plain = op->options[i - op->shape_sizes].usual;
        if (plain && problem->size[i] != plain)
            return error_set(error, STATUS_INVALID, "--%s %lld: space %s knows --%s %lld only",
                             op->size_names[i], (long long)problem->size[i], kind->name,
                             op->size_names[i], (long long)plain);
    }
    for (int c = 0; c < op->choice_count; c++) {
        const struct operator_choice *choice = &op->choices[c];
        if (problem->choice[c])
            return error_set(error, STATUS_INVALID, "--%s %s: space %s knows --%s %s only",
                             choice->name, choice->values[problem->choice[c]], kind->name,
                             choice->name, choice->values[0]);
    }
    return STATUS_OK;
}

enum status space_open_at(const struct problem *problem, const struct operator_space *kind,
                          const struct hardware *hw, int cores, const struct tiling *fixed,
                          struct space *space, struct error *error)
{
    *space = (struct space){0};
    if (check_kind(problem, kind, hw, error) != STATUS_OK ||
        (kind->ask && check_plain(problem, kind, error) != STATUS_OK))
        return STATUS_INVALID;
    *space = (struct space){.kind = kind, .hw = hw, .fixed = fixed};
    enum status status = kind->create(space, problem, cores, error);
    if (status != STATUS_OK)
        space_close(space);
    else
        space_number(space);
    return status;
}

enum status space_open(const struct problem *problem, const struct operator_space *kind,
                       const struct hardware *hw, int cores, struct space *space,
                       struct error *error)
{
    return space_open_at(problem, kind, hw, cores, NULL, space, error);
}

void space_close(struct space *space)
{
    if (space->kind)
        space->kind->destroy(space);
    free(space->blocks);
    memset(space, 0, sizeof *space);
}

static void list_axes(const struct space *space, char *text, size_t size)
{
    text[0] = 0;
    for (int a = 0; a < space->axis_count; a++) {
        size_t used = strlen(text);
        if (used + strlen(space->axes[a].name) + 3 < size) {
            strcat(text, a ? ", " : "");
            strcat(text, space->axes[a].name);
        }
    }
}

/* All of them that fit: enumerations of kernels are long. */
static void list_values(const struct axis *axis, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int v = 0; axis->value_names && v < axis->name_count && used < size; v++)
        if (strcmp(axis->value_names[v], AXIS_NO_VALUE) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     axis->value_names[v]);
}

/* Has some point of the space 0 there? Values ascend. */
static bool has_0(const struct space *space, int axis)
{
    for (int b = 0; b < space->block_count; b++)
        if (space->blocks[b].count[axis] && space->blocks[b].values[axis][0] == 0)
            return true;
    return false;
}

/* It names no axis. */
static enum status fail_setting(const struct space *space, const char *setting, struct error *error)
{
    char names[200];
    struct suggestion like = suggest_for(setting, (int)strcspn(setting, "="));
    list_axes(space, names, sizeof names);
    for (int a = 0; a < space->axis_count; a++)
        suggest_try(&like, space->axes[a].name);
    return error_set(error, STATUS_INVALID, "--set '%.64s': expected name=value with name %s%s",
                     setting, names, like.text);
}

static enum status parse_setting(const struct space *space, char *setting, unsigned *seen,
                                 struct tiling *tiling, struct error *error)
{
    char names[200];
    char *equals = strchr(setting, '=');
    int axis = equals ? space_axis(space, setting, (int)(equals - setting)) : -1;
    if (axis < 0)
        return fail_setting(space, setting, error);
    if (*seen >> axis & 1)
        return error_set(error, STATUS_INVALID, "--set: '%s' is given twice",
                         space->axes[axis].name);
    *seen |= 1u << axis;
    if (axis_value_parse(&space->axes[axis], equals + 1, &tiling->value[axis]) &&
        (space->axes[axis].value_names || tiling->value[axis] > 0 ||
         (tiling->value[axis] == 0 && has_0(space, axis))))
        return STATUS_OK;
    list_values(&space->axes[axis], names, sizeof names);
    struct suggestion like = suggest_for(equals + 1, -1);
    for (int v = 0; space->axes[axis].value_names && v < space->axes[axis].name_count; v++)
        suggest_try(&like, space->axes[axis].value_names[v]);
    return error_set(error, STATUS_INVALID, "--set %s=%.64s: expected %s%s", space->axes[axis].name,
                     equals + 1, names[0] ? names : "a positive whole number", like.text);
}

/* Of the axes that are free, all or none. */
static void fill_usual(const struct space *space, struct tiling *tiling)
{
    for (int a = 0; a < space->axis_count; a++)
        if (tiling->value[a] == AXIS_FREE && !space->axes[a].usual)
            return;
    for (int a = 0; a < space->axis_count; a++)
        if (tiling->value[a] == AXIS_FREE)
            tiling->value[a] = space->axes[a].usual(space, tiling);
}

enum status tiling_parse_part(const struct space *space, const char *text, struct tiling *tiling,
                              struct error *error)
{
    unsigned seen = 0;
    enum status status = STATUS_OK;
    char *copy = strdup(text), *state = NULL;
    if (!copy)
        return error_memory(error);
    for (int a = 0; a < space->axis_count; a++)
        tiling->value[a] = AXIS_FREE;
    for (char *setting = strtok_r(copy, ",", &state); setting && status == STATUS_OK;
         setting = strtok_r(NULL, ",", &state))
        status = parse_setting(space, setting, &seen, tiling, error);
    free(copy);
    if (status == STATUS_OK && !seen)
        status = fail_setting(space, "", error);
    if (status == STATUS_OK)
        fill_usual(space, tiling);
    return status;
}

enum status tiling_parse(const struct space *space, const char *text, struct tiling *tiling,
                         struct error *error)
{
    TRY(tiling_parse_part(space, text, tiling, error));
    for (int a = 0; a < space->axis_count; a++)
        if (tiling->value[a] == AXIS_FREE)
            return error_set(error, STATUS_INVALID,
                             "--set: '%s' is missing; all of a tiling's values are needed",
                             space->axes[a].name);
    return STATUS_OK;
}
