/* What a text's best tiling does and the description has no price for: pieces shorter than rows on
 * a path without a table of them, elements that are picked by data, blocks that are transposed on
 * a path that does so at its usual price. Times may be too short by that. */
#include "kernels/text/picture/kernel_picture_internal.h"
#include "kernels/text/plan/kernel_structure.h"

#include <stdlib.h>

enum { SHORT_BYTES = 1024 };

struct left_out {
    const struct kernel_plan *plan;
    struct kernel_env *env;
    json_t *rows;
};

/* In the first rounds of the loops around a plan loop. */
static enum status enter(const struct left_out *l, int loop, struct error *error)
{
    int path[KERNEL_MAX_LOOPS + 1], depth = 0;
    for (; loop > 0; loop = l->plan->loops[loop].around)
        path[depth++] = loop;
    TRY(plan_enter(l->plan, l->env, 0, 0, error));
    while (depth > 0)
        TRY(plan_enter(l->plan, l->env, path[--depth], 0, error));
    return STATUS_OK;
}

static void say(const struct left_out *l, int step, const char *what, const char *why)
{
    char path[2 * HARDWARE_NAME_SIZE + 3], key[sizeof path + 32];
    snprintf(key, sizeof key, "%s%s%s",
             hardware_path_name(l->plan->hw, l->plan->steps[step].what, path), *what ? " " : "",
             what);
    if (!json_object_get(l->rows, key))
        json_object_set_new(l->rows, key, json_string(why));
}

/* How many bytes the pieces have in which a step's part lies in its tensor; 0: it is one. */
static int64_t piece_bytes(const struct left_out *l, int step)
{
    struct instruction in;
    struct error error;
    int64_t pieces = 1;
    bool runs = false;
    if (enter(l, l->plan->steps[step].around, &error) != STATUS_OK ||
        plan_runs(l->plan, l->env, step, &runs, &error) != STATUS_OK || !runs ||
        plan_instruction(l->plan, l->env, step, &in, &error) != STATUS_OK ||
        plan_count_pieces(l->plan, l->env, step, &pieces, &error) != STATUS_OK)
        return 0;
    return pieces > 1 ? in.bytes / pieces : 0;
}

static void look_at(const struct left_out *l, int step)
{
    const struct plan_step *s = &l->plan->steps[step];
    const struct hardware *hw = l->plan->hw;
    const struct path *path = &hw->paths[s->what];
    const struct plan_part *tensor = &s->parts[s->parts[0].tensor < 0];
    if (s->text->keys[STEP_TRANSPOSE] && path->transposed_price == path->price)
        say(l, step, "transposed", "no price of its own: as without; the time may be too short");
    if (tensor->tensor < 0)
        return;
    if (plan_is_gathered(tensor))
        say(l, step, "gathered",
            "no price for elements that data pick: as if they lay together; the time may be too "
            "short");
    int64_t bytes = hw->prices[s->price].burst_table < 0 ? piece_bytes(l, step) : 0;
    if (bytes > 0 && bytes < SHORT_BYTES) {
        char why[128];
        snprintf(why, sizeof why,
                 "no price for short pieces, here of %lld bytes: as if they were one; the time may "
                 "be too short",
                 (long long)bytes);
        say(l, step, "", why);
    }
}

void kernel_add_left_out(const struct kernel_values *values, const struct kernel_plan *plan,
                         json_t *details)
{
    struct left_out l = {plan, calloc(1, sizeof *l.env), json_object()};
    if (l.env) {
        l.env->values = *values;
        for (int s = 0; s < plan->step_count; s++)
            if (plan->steps[s].kind == INSTRUCTION_MOVE)
                look_at(&l, s);
    }
    free(l.env);
    if (json_object_size(l.rows))
        json_object_set(details, "left_out", l.rows);
    json_decref(l.rows);
}
