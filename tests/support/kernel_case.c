#include "tests/support/kernel_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_case *kernel_case_open(const struct hardware *hw, const char *text)
{
    struct kernel_case *c = calloc(1, sizeof *c);
    cr_assert(c);
    c->hw = hw;
    enum status status = strncmp(text, "kernel ", 7) == 0
                             ? kernel_text_parse("k", text, strlen(text), &c->kernel, &c->error)
                             : kernel_text_read(text, &c->kernel, &c->error);
    cr_assert_eq(status, STATUS_OK, "%s", c->error.text);
    return c;
}

void kernel_case_close(struct kernel_case *c)
{
    kernel_plan_clear(&c->plan);
    kernel_text_clear(&c->kernel);
    program_clear(&c->program);
    free(c);
}

bool kernel_case_set(struct kernel_case *c, const int64_t sizes[], const int *nth, gsl_rng *rng)
{
    if (kernel_values_set(&c->values, &c->kernel, c->hw, DTYPE_F16, sizes, &c->error) != STATUS_OK)
        return false;
    for (int axis = 0; axis < c->kernel.axis_count; axis++) {
        struct kernel_list list;
        if (kernel_axis_values(&c->values, axis, &list, &c->error) != STATUS_OK)
            return false;
        int count = list.count;
        if (count)
            c->values.axes[axis] =
                list.values[nth ? nth[axis] % count
                                : (int)gsl_rng_uniform_int(rng, (unsigned long)count)];
        free(list.values);
        if (!count)
            return false;
    }
    return true;
}

static bool is_allowed(struct kernel_case *c)
{
    for (int r = 0; r < c->kernel.require_count; r++) {
        int64_t truth;
        if (kernel_number(&c->values, c->kernel.requires[r].truth, &truth, &c->error) != STATUS_OK)
            return false;
        if (!truth)
            return false;
    }
    return true;
}

static bool has_room(const struct kernel_case *c)
{
    for (int b = 0; b < c->hw->buffer_count; b++)
        if (c->hw->buffers[b].capacity_bytes &&
            c->room.needed[b] > c->hw->buffers[b].capacity_bytes)
            return false;
    return true;
}

bool kernel_case_make(struct kernel_case *c)
{
    kernel_plan_clear(&c->plan);
    c->error = (struct error){.status = STATUS_OK};
    if (!is_allowed(c) || kernel_plan_make(&c->values, &c->plan, &c->error) != STATUS_OK)
        return false;
    c->env.values = c->values;
    program_reset(&c->program, c->hw);
    return kernel_flags_find(&c->plan, &c->values, &c->flags, &c->error) == STATUS_OK &&
           kernel_flags_check(&c->plan, &c->flags, &c->error) == STATUS_OK &&
           kernel_room_find(&c->plan, &c->env, &c->room, &c->error) == STATUS_OK && has_room(c) &&
           kernel_program(&c->plan, &c->flags, &c->env, &c->room, NULL, &c->program, &c->error) ==
               STATUS_OK;
}

const char *kernel_case_text(const struct kernel_case *c)
{
    static char text[2048];
    int used = snprintf(text, sizeof text, "%s", c->kernel.name.text);
    for (int s = 0; s < c->kernel.size_count; s++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%lld",
                         c->kernel.sizes[s].name.text, (long long)c->values.sizes[s].length);
    for (int a = 0; a < c->kernel.axis_count; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%lld",
                         c->kernel.axes[a].name.text, (long long)c->values.axes[a]);
    snprintf(text + used, sizeof text - (size_t)used, " (%s)", c->error.text);
    return text;
}
