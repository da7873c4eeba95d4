/* A kernel as a text: what is read prints as a text that is read as the same kernel; its axes have
 * values, its loops rounds and its expressions numbers, or a line says why not. */
#include "kernels/text/plan/kernel_eval.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static char *print(const struct kernel_text *kernel,
                   void (*put)(const struct kernel_text *kernel, FILE *out))
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    put(kernel, out);
    fuzz_require(fclose(out) == 0, "memory");
    return text;
}

/* ------------------------------------------------------------------ the tree as it is, but places
 */

static void put_tree(const struct expression *e, FILE *out)
{
    if (!e)
        fputs("- ", out);
    for (; e; e = e->next) {
        fprintf(out, "(%d %d %lld %a %s ", (int)e->op, (int)e->kind, (long long)e->number, e->real,
                e->text ? e->text : "");
        put_tree(e->args, out);
        fputs(") ", out);
    }
}

static void put_part(const struct kernel_part *part, FILE *out)
{
    fprintf(out, "[%d %d ", part->tensor, part->tile);
    put_tree(part->value, out);
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next) {
        fprintf(out, "pick %d ", (int)pick->kind);
        put_tree(pick->count, out);
        put_tree(pick->from, out);
        put_tree(pick->by, out);
    }
    fputs("] ", out);
}

static void put_step(const struct kernel_step *step, FILE *out)
{
    fprintf(out, "step %d %s ", (int)step->verb, step->operation);
    for (int s = -1; step->source_count && s < step->source_count; s++)
        put_part(s < 0 ? &step->to : &step->from[s], out);
    for (int k = 0; k < STEP_KEYS; k++)
        put_tree(step->keys[k], out);
    put_tree(step->condition, out);
}

static void put_declared(const struct kernel_text *kernel, FILE *out)
{
    for (int n = 0; n < kernel->size_count; n++) {
        fprintf(out, "size %s %d %lld ", kernel->sizes[n].name.text, kernel->sizes[n].is_option,
                (long long)kernel->sizes[n].standard);
        put_tree(kernel->sizes[n].pad, out);
    }
    for (int n = 0; n < kernel->let_count; n++) {
        fprintf(out, "let %s ", kernel->lets[n].name.text);
        put_tree(kernel->lets[n].value, out);
    }
    for (int n = 0; n < kernel->tensor_count; n++) {
        fprintf(out, "tensor %s %d ", kernel->tensors[n].name.text, kernel->tensors[n].type);
        put_tree(kernel->tensors[n].dims, out);
    }
    for (int n = 0; n < kernel->axis_count; n++) {
        fprintf(out, "axis %s %d ", kernel->axes[n].name.text, (int)kernel->axes[n].cut);
        for (int w = 0; w < kernel->axes[n].word_count; w++)
            fprintf(out, "%s ", kernel->axes[n].words[w]);
        put_tree(kernel->axes[n].values, out);
    }
    for (int n = 0; n < kernel->require_count; n++)
        put_tree(kernel->requires[n].truth, out);
    for (int n = 0; n < kernel->cores_count; n++) {
        put_tree(kernel->cores[n].what, out);
        put_tree(kernel->cores[n].shares, out);
    }
    for (int n = 0; n < kernel->order_count; n++) {
        for (int i = 0; i < kernel->orders[n].count; i++)
            fprintf(out, "%d ", kernel->orders[n].loops[i]);
        put_tree(kernel->orders[n].condition, out);
    }
}

static void put_all(const struct kernel_text *kernel, FILE *out)
{
    fprintf(out, "%s \"%s\" ", kernel->name.text, kernel->title);
    put_declared(kernel, out);
    for (int n = 0; n < kernel->loop_count; n++) {
        fprintf(out, "for %s %d ", kernel->loops[n].name.text, kernel->loops[n].each);
        put_tree(kernel->loops[n].in, out);
        put_tree(kernel->loops[n].by, out);
    }
    for (int n = 0; n < kernel->tile_count; n++) {
        const struct kernel_tile *tile = &kernel->tiles[n];
        fprintf(out, "tile %s %s %d ", tile->name.text, tile->buffer, tile->type);
        put_tree(tile->dims, out);
        put_tree(tile->copies, out);
        put_tree(tile->life, out);
    }
    for (int n = 0; n < kernel->line_count; n++) {
        const struct kernel_line *line = &kernel->lines[n];
        fprintf(out, "line %d %d %d ", (int)line->kind, line->around, line->number);
        put_tree(line->stage, out);
        if (line->kind == LINE_STEP)
            put_step(line->step, out);
    }
}

static void reprint(const struct kernel_text *kernel)
{
    struct kernel_text again;
    struct error error = {0};
    char *text = print(kernel, kernel_text_print), *tree = print(kernel, put_all);
    fuzz_require_ok(kernel_text_parse("printed", text, strlen(text), &again, &error), &error);
    char *twice = print(&again, kernel_text_print), *same = print(&again, put_all);
    fuzz_require(strcmp(text, twice) == 0, "what was printed prints the same");
    fuzz_require(strcmp(tree, same) == 0, "what is read of it is the same tree");
    kernel_text_clear(&again);
    free(same);
    free(tree);
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
