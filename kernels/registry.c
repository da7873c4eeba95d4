/* Operators by name: one row each. */
#include "kernels/registry.h"

#include "kernels/cubefx/cubefx.h"
#include "kernels/knn/knn.h"
#include "kernels/matmul/matmul.h"
#include "kernels/text/space/kernel_operator.h"

#include "validate/loops.h"

#include <stdio.h>
#include <strings.h>

const struct operator* const operators[] = {
    &matmul_operator,
    &knn_operator,
    &cubefx_operator,
    NULL,
};

const struct operator* operator_find(const char *name)
{
    for (int i = 0; operators[i]; i++)
        if (strcasecmp(operators[i]->name, name) == 0)
            return operators[i];
    return NULL;
}

enum status operator_read(const char *file, const struct operator** op, struct error *error)
{
    return kernel_operator_read(file, op, error);
}

enum status operator_parse(const char *file, const char *text, size_t length,
                           const struct operator** op, struct error *error)
{
    return kernel_operator_parse(file, text, length, op, error);
}

void operator_free(const struct operator* op)
{
    kernel_operator_free(op);
}

const char *operator_source(const struct operator* op)
{
    return kernel_operator_text(op)->source;
}

static void put_values(const struct operator_choice *choice, char *text, size_t size)
{
    size_t used = 0;
    for (int v = 0; v < choice->count && used < size; v++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", v ? "|" : "", choice->values[v]);
}

/* Sizes, then requests, then choices. */
bool operator_own_option_at(const struct operator* op, int number, struct operator_option *option)
{
    int sizes = op->size_count - op->shape_sizes;
    if (number >= sizes + op->request_count + op->choice_count)
        return false;
    *option = (struct operator_option){.op = op};
    if (number < sizes) {
        option->name = op->size_names[op->shape_sizes + number];
        option->help = op->options[number].help;
        snprintf(option->value, sizeof option->value, "%s", op->options[number].value);
    } else if (number < sizes + op->request_count) {
        const struct operator_request *request = &op->requests[number - sizes];
        option->name = request->name;
        option->help = request->help;
        option->of_answers = request->of_answers;
        snprintf(option->value, sizeof option->value, "%s", request->value);
    } else {
        const struct operator_choice *choice = &op->choices[number - sizes - op->request_count];
        option->name = choice->name;
        option->help = choice->help;
        put_values(choice, option->value, sizeof option->value);
    }
    return true;
}

bool operator_option_at(int number, struct operator_option *option)
{
    for (int o = 0; operators[o]; o++) {
        if (operator_own_option_at(operators[o], number, option))
            return true;
        number -= operators[o]->size_count - operators[o]->shape_sizes +
                  operators[o]->request_count + operators[o]->choice_count;
    }
    return false;
}

const struct loop_family *loop_family_at(int number)
{
    for (int o = 0; operators[o]; o++)
        for (int f = 0; operators[o]->loops && operators[o]->loops[f]; f++)
            if (number-- == 0)
                return operators[o]->loops[f];
    return NULL;
}

const struct operator_space *operator_banked(const struct operator** op)
{
    for (int o = 0; operators[o]; o++)
        for (int s = 0; operators[o]->spaces[s]; s++)
            if (operators[o]->spaces[s]->bank) {
                *op = operators[o];
                return operators[o]->spaces[s];
            }
    return NULL;
}
