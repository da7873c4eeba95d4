/* Counts what the plan of one tiling does, that of the largest values, which has the fewest rounds:
 * a tiling changes how work is cut and not how much there is. A loop's rounds are gone through
 * where the step's work depends on them, and are multiplied otherwise. */
#include "kernels/text/space/kernel_operations.h"

#include "kernels/text/plan/kernel_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 100000 };

/* Too large for a stack. */
struct counting {
    struct kernel_plan plan;
    struct kernel_env env;
    int64_t rounds; /* gone through so far */
    struct error error;
};

/* In the current rounds. A product of m·k and k·n elements to m·n is m·k·n of them. */
static enum status count_once(struct counting *c, int step, double *count)
{
    const struct plan_step *s = &c->plan.steps[step];
    double product = 1, most = 0;
    bool runs;
    TRY(plan_runs(&c->plan, &c->env, step, &runs, &c->error));
    int parts = s->kind == INSTRUCTION_MATRIX ? 3 : s->part_count;
    for (int p = 0; runs && p < parts; p++) {
        struct part_numbers part;
        if (s->parts[p].tile < 0)
            continue;
        TRY(plan_part(&c->plan, &c->env, step, p, &part, &c->error));
        product *= (double)part.elements;
        most = fmax(most, (double)part.elements);
    }
    *count = !runs ? 0 : s->kind == INSTRUCTION_MATRIX ? 2 * sqrt(product) : most;
    return STATUS_OK;
}

/* From a loop of path[0 … depth) on, outermost first. */
static enum status count_inside(struct counting *c, int step, const int path[], int depth,
                                double *count)
{
    int64_t rounds, walked;
    bool differs;
    *count = 0;
    if (depth == 0)
        return count_once(c, step, count);
    TRY(plan_rounds(&c->plan, &c->env, path[0], &rounds, &differs, &c->error));
    bool matters = c->plan.matters[step] >> c->plan.loops[path[0]].text_loop & 1;
    walked = matters || rounds == 0 ? rounds : 1;
    for (int64_t round = 0; round < walked; round++) {
        double inside;
        if (++c->rounds > MOST_ROUNDS)
            return STATUS_TOO_LARGE;
        TRY(plan_enter(&c->plan, &c->env, path[0], round, &c->error));
        TRY(count_inside(c, step, path + 1, depth - 1, &inside));
        *count += inside;
    }
    *count *= walked ? (double)rounds / (double)walked : 1;
    return STATUS_OK;
}

static enum status count_step(struct counting *c, int step, double *count)
{
    int path[KERNEL_MAX_DEPTH], depth = 0;
    for (int loop = c->plan.steps[step].around; loop > 0; loop = c->plan.loops[loop].around)
        depth++;
    int at = depth;
    for (int loop = c->plan.steps[step].around; loop > 0; loop = c->plan.loops[loop].around)
        path[--at] = loop;
    TRY(plan_enter(&c->plan, &c->env, 0, 0, &c->error));
    return count_inside(c, step, path, depth, count);
}

/* The last value of each axis, the first word. */
static enum status set_axes(struct kernel_values *values, struct error *error)
{
    for (int a = 0; a < values->kernel->axis_count; a++) {
        struct kernel_list list;
        bool words = values->kernel->axes[a].cut == CUT_WORDS;
        TRY(kernel_axis_values(values, a, &list, error));
        values->axes[a] = list.count ? list.values[words ? 0 : list.count - 1] : 0;
        free(list.values);
        if (!list.count)
            return STATUS_INVALID;
    }
    return STATUS_OK;
}

static enum status count_all(struct counting *c, const int64_t given[], double *count)
{
    struct kernel_values *values = &c->env.values;
    TRY(set_axes(values, &c->error));
    for (int n = 0; n < values->kernel->size_count; n++) {
        values->wholes[n] = given[n];
        values->sizes[n].length = given[n];
    }
    TRY(kernel_plan_make(values, &c->plan, &c->error));
    for (int s = 0; s < c->plan.step_count; s++) {
        double more = 0;
        enum instruction_kind kind = c->plan.steps[s].kind;
        if (kind == INSTRUCTION_MATRIX || kind == INSTRUCTION_VECTOR)
            TRY(count_step(c, s, &more));
        *count += more;
    }
    return STATUS_OK;
}

double kernel_operations(const struct kernel_text *kernel, const struct hardware *hw,
                         const int64_t given[], enum dtype type, enum dtype result_type)
{
    struct counting *c = calloc(1, sizeof *c);
    double count = 0;
    if (!c)
        return 0;
    enum status status = kernel_values_set(&c->env.values, kernel, hw, type, given, &c->error);
    c->env.values.result = result_type;
    if (status == STATUS_OK)
        status = count_all(c, given, &count);
    kernel_plan_clear(&c->plan);
    free(c);
    return status == STATUS_OK ? count : 0;
}
