/* Steps that fit only for some sizes (kernel_steps_fit.c). */
#include "kernels/text/limits/kernel_code.h"

void code_put_steps(struct code_writer *w)
{
    const struct kernel_plan *plan = &w->plan->plan;
    for (int s = 0; s < plan->step_count; s++)
        if (!plan->steps[s].is_certain)
            code_refuse(w, w->kernel->lines[plan->steps[s].line].at,
                        "whether it fits depends on the sizes");
}
