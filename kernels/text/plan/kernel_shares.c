/* What one of several cores has of a kernel: the largest share, in whole blocks of the pad of what
 * is divided. Each `cores` line takes some of the cores, or all that the ones above it left. */
#include "kernels/text/plan/kernel_shares.h"
#include "kernels/slices.h"

#include <string.h>

static enum status chosen_name(const struct kernel_values *values, const struct expression *e,
                               const struct expression **name, struct error *error)
{
    while (e->op == EXPRESSION_IF) {
        int64_t truth;
        TRY(kernel_number(values, e->args, &truth, error));
        e = truth ? e->args->next : e->args->next->next;
    }
    *name = e;
    return STATUS_OK;
}

/* Divides it over so many; *used of them get a share. */
static enum status divide(struct kernel_values *values, const struct expression *name,
                          int64_t cores, int64_t *used, struct error *error)
{
    bool is_size = name->op == EXPRESSION_SIZE;
    int64_t whole, pad = is_size ? values->pads[name->number] : 1;
    TRY(kernel_number(values, name, &whole, error));
    int64_t blocks = divide_up(whole, pad), share = divide_up(blocks, cores);
    struct kernel_range *range =
        is_size ? &values->sizes[name->number] : &values->lets[name->number];
    *used = share > 0 ? divide_up(blocks, share) : 1;
    *range = (struct kernel_range){.length = share * pad};
    if (!is_size)
        values->is_shared[name->number] = true;
    return STATUS_OK;
}

enum status kernel_share(struct kernel_values *values, int64_t cores, int64_t *used,
                         struct error *error)
{
    const struct kernel_text *kernel = values->kernel;
    int64_t left = cores;
    *used = 1;
    for (int c = 0; c < kernel->cores_count; c++) {
        const struct expression *name;
        int64_t shares = left, filled;
        if (kernel->cores[c].shares)
            TRY(kernel_number(values, kernel->cores[c].shares, &shares, error));
        if (shares < 1 || shares > left)
            return error_set(error, STATUS_INVALID,
                             "%d:%d: %lld shares on %lld cores, expected 1 to as many as there are",
                             kernel->cores[c].at.line, kernel->cores[c].at.column,
                             (long long)shares, (long long)left);
        TRY(chosen_name(values, kernel->cores[c].what, &name, error));
        TRY(divide(values, name, shares, &filled, error));
        *used *= filled;
        left /= shares;
    }
    return STATUS_OK;
}
