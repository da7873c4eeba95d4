/* What random kernels are made of; see random_kernel.h. */
#include "tests/kernels/text/random_kernel.h"

#include "tests/kernels/text/plain_kernel.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const sizes[] = {"M", "N", "K", "B", "D"};

bool random_chance(struct random_kernel *kernel, int percent)
{
    return (int)gsl_rng_uniform_int(kernel->rng, 100) < percent;
}

int random_draw(struct random_kernel *kernel, int count)
{
    return (int)gsl_rng_uniform_int(kernel->rng, (unsigned long)count);
}

const char *random_of(struct random_kernel *kernel, int count, const char *const list[])
{
    return list[random_draw(kernel, count)];
}

const char *random_size(struct random_kernel *kernel, int size)
{
    kernel->is_used[size] = true;
    return sizes[size];
}

void random_declare(struct random_kernel *kernel, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    kernel->declared += vsnprintf(kernel->declarations + kernel->declared,
                                  (size_t)(RANDOM_TEXT_SIZE - kernel->declared), format, arguments);
    va_end(arguments);
}

void random_line(struct random_kernel *kernel, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    kernel->length +=
        snprintf(kernel->body + kernel->length, (size_t)(RANDOM_TEXT_SIZE - kernel->length),
                 "%*s%s\n", 2 * kernel->depth, "", line);
}

void random_axis(struct random_kernel *kernel, const char *name, int size)
{
    int unit = kernel->pad[size];
    switch (random_draw(kernel, 6)) {
    case 0:
        random_declare(kernel, "axis %s = divisors(%s)\n", name, random_size(kernel, size));
        break;
    case 1:
        random_declare(kernel, "axis %s = multiples(%d, %s)\n", name, unit,
                       random_size(kernel, size));
        break;
    case 2:
        random_declare(kernel, "axis %s = powers(%d, 64)\n", name, unit);
        break;
    case 3:
        random_declare(kernel, "axis %s = %d, %d, %d\n", name, unit, 2 * unit, 3 * unit);
        break;
    default:
        random_declare(kernel, "axis %s = slices(%s)\n", name, random_size(kernel, size));
    }
}

void random_loop(struct random_kernel *kernel, const char *name, const char *range, int size)
{
    if (random_chance(kernel, 20) && size < SIZE_B) {
        random_line(kernel, "for %s in %s by %d", name, range,
                    kernel->pad[size] * (1 + random_draw(kernel, 2)));
    } else if (size >= SIZE_B) {
        random_line(kernel, "for %s in %s by 1", name, range);
    } else {
        char axis[32];
        snprintf(axis, sizeof axis, "t%s", name);
        random_axis(kernel, axis, size);
        random_line(kernel, "for %s in %s by %s", name, range, axis);
    }
    kernel->depth++;
}

const char *random_copies(struct random_kernel *kernel, char text[64])
{
    if (random_chance(kernel, 25))
        return "";
    if (random_chance(kernel, 30)) {
        snprintf(text, 64, " x %d", 1 + random_draw(kernel, 3));
        return text;
    }
    int axis = random_draw(kernel, 2); /* two at most: each choice of theirs is a structure */
    if (!(kernel->copies >> axis & 1))
        random_declare(kernel, "axis buf%d = %s\n", axis,
                       random_of(kernel, 4, (const char *const[]){"1, 2", "2, 3", "1, 2, 3", "2"}));
    kernel->copies |= 1U << axis;
    snprintf(text, 64, " x buf%d", axis);
    return text;
}

void random_way(struct random_kernel *kernel)
{
    if (!kernel->has_words)
        random_declare(kernel, "axis way = near, far, other\n");
    kernel->has_words = true;
}

char *random_kernel_text(gsl_rng *rng)
{
    struct random_kernel *kernel = calloc(1, sizeof *kernel);
    char *text = malloc(3 * RANDOM_TEXT_SIZE);
    kernel->rng = rng;
    for (int s = 0; s < SIZES; s++)
        kernel->pad[s] = 16;
    kernel->pad[SIZE_M] = random_chance(kernel, 50) ? 16 : 1;
    kernel->pad[SIZE_B] = kernel->pad[SIZE_D] = 1;
    kernel->outer = "";
    bool around = random_chance(kernel, 15);
    if (around) {
        random_line(kernel, "for z in %s by 1", random_size(kernel, SIZE_D));
        kernel->outer = "D,";
        kernel->depth++;
    }
    for (int phases = 1 + random_draw(kernel, 10) / 5; phases > 0; phases--) {
        kernel->phase++;
        int depth = kernel->depth;
        random_phase(kernel);
        kernel->depth = depth;
    }
    int length = sprintf(text, "kernel r\n");
    for (int s = 0; s < SIZES; s++)
        if (kernel->is_used[s] && kernel->pad[s] > 1)
            length += sprintf(text + length, "size %s pad %d\n", sizes[s], kernel->pad[s]);
        else if (kernel->is_used[s])
            length += sprintf(text + length, "size %s\n", sizes[s]);
    length += sprintf(text + length, "%s", kernel->declarations);
    if (kernel->is_used[SIZE_M] && kernel->phase == 1 && random_chance(kernel, 50))
        length += sprintf(text + length, "cores M\n");
    sprintf(text + length, "%s", kernel->body);
    free(kernel);
    return text;
}

void random_kernel_sizes(gsl_rng *rng, const struct kernel_text *kernel, int64_t given[])
{
    static const int some[] = {1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 40, 48, 64, 80, 96, 100};
    for (int n = 0; n < kernel->size_count; n++)
        if (!kernel->sizes[n].pad && kernel->sizes[n].name.text[0] != 'M')
            given[n] = 1 + (int64_t)gsl_rng_uniform_int(rng, 3);
        else
            given[n] = some[gsl_rng_uniform_int(rng, sizeof some / sizeof *some)];
}

static bool asks_axis(const struct expression *e, int axis)
{
    bool asks = e && e->op == EXPRESSION_AXIS && e->number == axis;
    for (const struct expression *arg = e ? e->args : NULL; arg && !asks; arg = arg->next)
        asks = asks_axis(arg, axis);
    return asks;
}

/* Lists are the same for every share, as is what says how many there are; others are not. */
static bool comes_first(const struct kernel_text *kernel, int axis)
{
    bool is_first = kernel->axes[axis].cut <= CUT_WORDS;
    for (int c = 0; c < kernel->cores_count; c++)
        is_first |= asks_axis(kernel->cores[c].shares, axis);
    return is_first;
}

static bool draw_axes(gsl_rng *rng, struct kernel_values *values, bool first)
{
    struct kernel_list list;
    struct error error;
    for (int axis = 0; axis < values->kernel->axis_count; axis++) {
        if (comes_first(values->kernel, axis) != first)
            continue;
        if (kernel_axis_values(values, axis, &list, &error) != STATUS_OK)
            return false;
        if (list.count)
            values->axes[axis] = list.values[gsl_rng_uniform_int(rng, (unsigned long)list.count)];
        free(list.values);
        if (!list.count)
            return false;
    }
    return true;
}

bool random_kernel_tiling(gsl_rng *rng, int cores, struct kernel_values *values, int *used)
{
    return draw_axes(rng, values, true) && plain_shares(values, cores, used) &&
           draw_axes(rng, values, false);
}

const char *random_kernel_show(const struct kernel_values *values, const int64_t given[],
                               char text[RANDOM_TILING_SIZE])
{
    int length = 0;
    for (int n = 0; n < values->kernel->size_count; n++)
        length += snprintf(text + length, (size_t)(RANDOM_TILING_SIZE - length), "%s=%lld ",
                           values->kernel->sizes[n].name.text, (long long)given[n]);
    length += snprintf(text + length, (size_t)(RANDOM_TILING_SIZE - length), ":");
    for (int a = 0; a < values->kernel->axis_count && length < RANDOM_TILING_SIZE; a++) {
        const struct kernel_axis *axis = &values->kernel->axes[a];
        if (axis->cut == CUT_WORDS)
            length += snprintf(text + length, (size_t)(RANDOM_TILING_SIZE - length), " %s=%s",
                               axis->name.text, axis->words[values->axes[a]]);
        else
            length += snprintf(text + length, (size_t)(RANDOM_TILING_SIZE - length), " %s=%lld",
                               axis->name.text, (long long)values->axes[a]);
    }
    return text;
}
