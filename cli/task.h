/* An operator, a shape, a chip and a space from the command line: what tune, program and explain
 * start from. */
#ifndef AUTOTUNE_CLI_TASK_H
#define AUTOTUNE_CLI_TASK_H

#include "cli/options.h"
#include "kernels/operator.h"
#include "validate/host/cubefx_functions.h"

struct task {
    struct common common; /* first: cli_parse fills it */
    const char *op, *shape, *space_name, *dtype;
    int option_count; /* the operator's own: --batch, --k … */
    struct {
        const char *name, *text;
    } options[OPERATOR_MAX_SIZES + OPERATOR_MAX_CHOICES];
    const char *set;
    const char *function_names; /* cubefx: "sin,1:0:-0.5"; NULL: not given */
    int function_count;         /* after task_open: what they are */
    struct cubefx_function *functions;
    /* after task_open */
    struct hardware hw;
    struct problem problem;
    struct space space;
};

/* --op, --shape, the operators' own options, --dtype, --space; the common options are its child. */
extern const struct argp task_argp;

/* The parser of commands whose only option is --set, key TASK_KEY_SET; task_argp is its child. */
enum { TASK_KEY_SET = 2500 };
error_t task_parse_set(int key, char *argument, struct argp_state *state);

/* Everything from chip to space, or death. */
void task_open(struct task *task);
/* How much slower a tiling may look than one that is as fast: the fit's error, of logarithms. */
double task_fit_share(const struct task *task);
void task_close(struct task *task);

/* "matmul 512x1024x512", with the batch if there is one, and choices that are not the default. */
void task_title(const struct task *task, char *text, size_t size);

#endif
