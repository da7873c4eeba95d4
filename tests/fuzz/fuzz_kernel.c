/* A kernel as a text: what is read prints as a text that is read as the same kernel; its axes have
 * values, its loops rounds and its expressions numbers, or a line says why not. */
#include "kernels/text/plan/kernel_eval.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static char *print(const struct kernel_text *kernel)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    kernel_text_print(kernel, out);
    fuzz_require(fclose(out) == 0, "memory");
    return text;
}

static void require_same(const struct kernel_text *a, const struct kernel_text *b)
{
    fuzz_require(a->size_count == b->size_count && a->let_count == b->let_count &&
                     a->tensor_count == b->tensor_count && a->axis_count == b->axis_count &&
                     a->loop_count == b->loop_count && a->tile_count == b->tile_count &&
                     a->order_count == b->order_count && a->cores_count == b->cores_count,
                 "a printed kernel has as much of all");
    for (int l = 0; l < a->line_count && l < b->line_count; l++)
        fuzz_require(a->lines[l].kind == b->lines[l].kind &&
                         a->lines[l].around == b->lines[l].around &&
                         a->lines[l].number == b->lines[l].number,
                     "and the same lines");
    fuzz_require(a->line_count == b->line_count, "as many of them");
}

static void reprint(const struct kernel_text *kernel)
{
    struct kernel_text again;
    struct error error = {0};
    char *text = print(kernel);
    fuzz_require_ok(kernel_text_parse("printed", text, strlen(text), &again, &error), &error);
    char *twice = print(&again);
    fuzz_require(strcmp(text, twice) == 0, "what was printed prints the same");
    require_same(kernel, &again);
    kernel_text_clear(&again);
    free(twice);
    free(text);
}

static void answer(const struct kernel_values *values, const struct expression *e)
{
    int64_t number;
    double real;
    struct error error = {0};
    if (e->kind == EXPRESSION_IS_REAL)
        fuzz_require_line(kernel_real(values, e, &real, &error), &error);
    else
        fuzz_require_line(kernel_number(values, e, &number, &error), &error);
}

/* The first value of an axis, 1 without one. */
static int64_t choose(const struct kernel_values *values, int axis)
{
    struct kernel_list list;
    struct error error = {0};
    enum status status = kernel_axis_values(values, axis, &list, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK) {
        fuzz_require(!list.values && !list.count, "no values without success");
        return 1;
    }
    fuzz_require(list.count <= KERNEL_MAX_VALUES, "an axis is limited");
    for (int v = 1; v < list.count; v++)
        fuzz_require(list.values[v - 1] < list.values[v], "values ascend");
    int64_t value = list.count ? list.values[list.count / 2] : 1;
    free(list.values);
    return value;
}

/* A round of each loop, for loops number in the order of the text. */
static void enter(struct kernel_values *values, int loop)
{
    int64_t count;
    struct error error = {0};
    enum status status = kernel_loop_count(values, loop, &count, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK || count < 1)
        return;
    fuzz_require_ok(kernel_loop_enter(values, loop, count - 1, &error), &error);
    fuzz_require(values->loops[loop].is_last && values->loops[loop].length > 0,
                 "the last round is one");
}

static void give_numbers(const struct kernel_text *kernel)
{
    static struct hardware hw;
    static struct kernel_values values;
    struct error error = {0};
    int64_t given[KERNEL_MAX_SIZES];
    for (int n = 0; n < kernel->size_count; n++)
        given[n] = kernel->sizes[n].is_option ? kernel->sizes[n].standard : 37 + 5 * n;
    enum status status =
        kernel_values_set(&values, kernel, fuzz_chip("ascend310", &hw), DTYPE_F16, given, &error);
    fuzz_require_line(status, &error);
    for (int axis = 0; status == STATUS_OK && axis < kernel->axis_count; axis++)
        values.axes[axis] = choose(&values, axis);
    for (int loop = 0; status == STATUS_OK && loop < kernel->loop_count; loop++)
        enter(&values, loop);
    for (int n = 0; status == STATUS_OK && n < kernel->let_count; n++)
        answer(&values, kernel->lets[n].value);
    for (int n = 0; status == STATUS_OK && n < kernel->require_count; n++)
        answer(&values, kernel->requires[n].truth);
}

void fuzz_read_kernel(const char *file)
{
    struct kernel_text kernel;
    struct error error = {0};
    enum status status = kernel_text_read(file, &kernel, &error);
    fuzz_require_line(status, &error);
    fuzz_require(status == STATUS_OK || (!kernel.memory && !kernel.lines && !kernel.line_count),
                 "a refused kernel is empty");
    if (status != STATUS_OK)
        return;
    reprint(&kernel);
    give_numbers(&kernel);
    kernel_text_clear(&kernel);
}
