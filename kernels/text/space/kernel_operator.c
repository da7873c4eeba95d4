/* The tables of an operator, filled from a text. Sizes stand in the operator's order, those of
 * --shape before those that have options, and are put back into the text's for its space. Its
 * fingerprint is of the text as it is printed, by XXH3 (Collet 2019), so that comments, blanks and
 * the file's name do not count. */
#include "kernels/text/space/kernel_operator.h"

#include "core/text_stream.h"
#include "kernels/text/limits/kernel_limits_code.h"
#include "kernels/text/space/kernel_operations.h"
#include "kernels/text/space/kernel_space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    FORM_SIZE = KERNEL_MAX_SIZES * (KERNEL_MAX_NAME + 1),
    HELP_SIZE = 64,
    DIGITS = 2 * sizeof(XXH128_canonical_t),
};

/* Beyond these a kernel runs for hours: no clock of the simulator holds it. */
#define MAX_SIZE    (INT64_C(1) << 31)
#define MAX_PRODUCT 1e15

struct kernel_operator {
    struct operator op;            /* first */
    int size_of[KERNEL_MAX_SIZES]; /* of the operator's sizes, by number in the text */
    const char *size_names[KERNEL_MAX_SIZES];
    struct operator_size options[KERNEL_MAX_SIZES];
    char help[KERNEL_MAX_SIZES][HELP_SIZE];
    char form[FORM_SIZE], fingerprint[DIGITS + 1];
    struct kernel_text text;
};

static const struct operator_choice result_choice = {
    "out-type", CHOICE_TYPES, choice_types,
    "element type of results, also by name: f32 (default same; of integers accumulator)"};

/* ------------------------------------------------------------------ what an operator does */

static const struct kernel_operator *own(const struct operator* op)
{
    return (const struct kernel_operator *)op;
}

static enum status check(const struct problem *problem, struct error *error)
{
    double product = 1;
    for (int i = 0; i < problem->op->size_count; i++) {
        product *= problem->size[i] ? (double)problem->size[i] : 1;
        if (problem->size[i] >= MAX_SIZE)
            return error_set(error, STATUS_INVALID, "%s = %lld, expected less than 2^31",
                             problem->op->size_names[i], (long long)problem->size[i]);
    }
    if (product > MAX_PRODUCT)
        return error_set(error, STATUS_INVALID, "the sizes' product is %.3g, expected at most %.0g",
                         product, MAX_PRODUCT);
    return STATUS_OK;
}

/* What a problem gives the text. */
struct posed {
    int64_t given[KERNEL_MAX_SIZES];
    enum dtype result;
};

static struct posed pose(const struct problem *problem)
{
    const struct kernel_operator *made = own(problem->op);
    struct posed posed = {.result = made->op.choice_count ? problem_choice_type(problem, 0)
                                                          : problem->type};
    for (int n = 0; n < made->text.size_count; n++)
        posed.given[n] = problem->size[made->size_of[n]];
    return posed;
}

static double operations(const struct problem *problem, const struct hardware *hw)
{
    struct posed posed = pose(problem);
    return kernel_operations(&own(problem->op)->text, hw, posed.given, problem->type, posed.result);
}

/* What lies in the vector cores' own buffers alone needs no cube core. */
static int most_cores(const struct operator* op, const struct hardware *hw)
{
    const struct kernel_text *text = &own(op)->text;
    unsigned buffers = 0;
    for (int t = 0; t < text->tile_count; t++) {
        const char *name = text->tiles[t].buffer;
        int buffer = hardware_buffer(hw, name, (int)strlen(name));
        buffers |= buffer >= 0 ? 1U << buffer : 0U;
    }
    return hardware_cores_with(hw, buffers);
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    const struct kernel_text *text = &own(problem->op)->text;
    struct posed posed = pose(problem);
    enum status status =
        kernel_space_create(space, text, posed.given, problem->type, posed.result, cores, error);
    return kernel_text_locate(text, status, error);
}

static enum status limits_code(const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error)
{
    const struct kernel_operator *made = own(asked->problem->op);
    struct posed posed = pose(asked->problem);
    struct kernel_posed problem = {.type = asked->problem->type, .result = posed.result};
    memcpy(problem.given, posed.given, sizeof problem.given);
    memcpy(problem.size_of, made->size_of, sizeof problem.size_of);
    return kernel_limits_code(&made->text, &problem, asked, code, number, error);
}

static int64_t size_class(const struct space *space, const struct problem *problem, int size,
                          int64_t value)
{
    const struct kernel_operator *made = own(problem->op);
    int number = 0;
    while (made->size_of[number] != size)
        number++;
    return kernel_size_class(space, number, value);
}

const struct operator_space kernel_space_tile = {
    .name = "tile",
    .title = "the axes of a kernel's text",
    .create = create,
    .size_class = size_class,
    .limits_code = limits_code,
    .details = kernel_details,
    KERNEL_SPACE,
};
static const struct operator_space *const spaces[] = {&kernel_space_tile, NULL};

/* ------------------------------------------------------------------ making one */

static void add_size(struct kernel_operator *made, int n)
{
    const struct kernel_size *size = &made->text.sizes[n];
    int at = made->op.size_count++;
    made->size_of[n] = at;
    made->size_names[at] = size->name.text;
    if (!size->is_option)
        return;
    snprintf(made->help[n], HELP_SIZE, "a size (default %lld)", (long long)size->standard);
    made->options[at - made->op.shape_sizes] =
        (struct operator_size){"N", made->help[n], size->standard, kernel_may_be_0(size)};
}

static void add_sizes(struct kernel_operator *made)
{
    const struct kernel_text *text = &made->text;
    for (int n = 0; n < text->size_count; n++) {
        if (text->sizes[n].is_option)
            continue;
        if (made->op.shape_sizes++)
            strcat(made->form, "x");
        strcat(made->form, text->sizes[n].name.text);
        add_size(made, n);
    }
    for (int n = 0; n < text->size_count; n++)
        if (text->sizes[n].is_option)
            add_size(made, n);
}

/* Is any tensor or tile of one of the types from `first` to `last`? */
static bool uses(const struct kernel_text *text, int first, int last)
{
    bool found = false;
    for (int n = 0; n < text->tensor_count; n++)
        found = found || (text->tensors[n].type >= first && text->tensors[n].type <= last);
    for (int n = 0; n < text->tile_count; n++)
        found = found || (text->tiles[n].type >= first && text->tiles[n].type <= last);
    return found;
}

static void set_types(struct kernel_operator *made)
{
    const struct kernel_text *text = &made->text;
    if (uses(text, KERNEL_RESULT, KERNEL_RESULT)) {
        made->op.choices = &result_choice;
        made->op.choice_count = 1;
    }
    made->op.has_own_type = !uses(text, KERNEL_DTYPE, KERNEL_RESULT);
    if (made->op.has_own_type && text->tensor_count)
        made->op.own_type = (enum dtype)text->tensors[0].type;
}

/* The text, what its reader decided where it had a choice, and which edition of the language it
 * is: with another one the same text may take another time. */
enum { LANGUAGE_EDITION = 5 };

static void put_meaning(const struct kernel_text *text, FILE *out)
{
    fprintf(out, "%d\n", LANGUAGE_EDITION);
    kernel_text_print(text, out);
    for (int a = 0; a < text->axis_count; a++)
        fprintf(out, "%d %d\n", (int)text->axes[a].cut, text->axes[a].word_count);
}

static enum status set_fingerprint(struct kernel_operator *made, struct error *error)
{
    char *printed = NULL;
    size_t length;
    XXH128_canonical_t bytes;
    FILE *out = text_stream_open(&printed, &length);
    if (!out)
        return error_memory(error);
    put_meaning(&made->text, out);
    if (fclose(out) != 0) {
        free(printed);
        return error_memory(error);
    }
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(printed, length));
    for (size_t i = 0; i < sizeof bytes.digest; i++)
        snprintf(made->fingerprint + 2 * i, 3, "%02x", bytes.digest[i]);
    free(printed);
    made->op.fingerprint = made->fingerprint;
    return STATUS_OK;
}

static enum status fill(struct kernel_operator *made, struct error *error)
{
    made->op = (struct operator){
        .name = made->text.name.text,
        .title = made->text.title,
        .shape_form = made->form,
        .size_names = made->size_names,
        .options = made->options,
        .check = check,
        .most_cores = most_cores,
        .operations = operations,
        .spaces = spaces,
    };
    add_sizes(made);
    set_types(made);
    return set_fingerprint(made, error);
}

/* `text` NULL: what the file has. */
static enum status make(const char *file, const char *text, size_t length,
                        const struct operator** op, struct error *error)
{
    struct kernel_operator *made = calloc(1, sizeof *made);
    *op = NULL;
    if (!made)
        return error_memory(error);
    enum status status = text ? kernel_text_parse(file, text, length, &made->text, error)
                              : kernel_text_read(file, &made->text, error);
    if (status == STATUS_OK)
        status = fill(made, error);
    if (status == STATUS_OK)
        *op = &made->op;
    else
        kernel_operator_free(&made->op);
    return status;
}

enum status kernel_operator_read(const char *file, const struct operator** op, struct error *error)
{
    return make(file, NULL, 0, op, error);
}

enum status kernel_operator_parse(const char *file, const char *text, size_t length,
                                  const struct operator** op, struct error *error)
{
    return make(file, text, length, op, error);
}

void kernel_operator_free(const struct operator* op)
{
    union {
        const struct operator* read;
        struct kernel_operator *made;
    } owned = {op};
    if (!op)
        return;
    kernel_text_clear(&owned.made->text);
    free(owned.made);
}

const struct kernel_text *kernel_operator_text(const struct operator* op)
{
    return op->fingerprint ? &own(op)->text : NULL;
}
