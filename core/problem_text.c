/* A problem in words, in titles, keys of stores and answers alike. */
#include "core/operator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
