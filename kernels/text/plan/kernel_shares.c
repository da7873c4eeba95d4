/* What one of several cores has of a kernel: the largest share, in whole blocks of the pad of what
 * is divided. Each `cores` line takes some of the cores, or all that the ones above it left. */
#include "kernels/text/plan/kernel_shares.h"
#include "kernels/slices.h"

#include <assert.h>
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

/* What a line of `cores` divides, over how many, and how many of them get a share of that length.
 */
struct share {
    const struct expression *name;
    int64_t whole, shares, length, filled;
};

static struct kernel_range *range_of(struct kernel_values *values, const struct expression *name)
{
    assert(name);
    return name->op == EXPRESSION_SIZE ? &values->sizes[name->number] : &values->lets[name->number];
}

static enum status find_share(struct kernel_values *values, const struct kernel_cores *line,
                              int64_t left, struct share *share, struct error *error)
{
    share->shares = left;
    if (line->shares)
        TRY(kernel_number(values, line->shares, &share->shares, error));
    if (share->shares < 1 || share->shares > left)
        return error_set(error, STATUS_INVALID,
                         "%d:%d: %lld shares on %lld cores, expected 1 to as many as there are",
                         line->at.line, line->at.column, (long long)share->shares, (long long)left);
    TRY(chosen_name(values, line->what, &share->name, error));
    assert(share->name);
    int64_t pad = share->name->op == EXPRESSION_SIZE ? values->pads[share->name->number] : 1;
    TRY(kernel_number(values, share->name, &share->whole, error));
    int64_t blocks = divide_up(share->whole, pad), each = divide_up(blocks, share->shares);
    share->filled = each > 0 ? divide_up(blocks, each) : 1;
    share->length = each * pad;
    return STATUS_OK;
}

static enum status share_out(struct kernel_values *values, int64_t cores,
                             struct share shares[KERNEL_MAX_CORES], struct error *error)
{
    values->cores = cores;
    values->kept = 0;
    for (int c = 0; c < values->kernel->cores_count; c++) {
        struct share *share = &shares[c];
        TRY(find_share(values, &values->kernel->cores[c], cores, share, error));
        *range_of(values, share->name) = (struct kernel_range){.length = share->length};
        if (share->name->op != EXPRESSION_SIZE)
            values->is_shared[share->name->number] = true;
        cores /= share->shares;
    }
    return STATUS_OK;
}

enum status kernel_share(struct kernel_values *values, int64_t cores, int64_t *used,
                         struct error *error)
{
    struct share shares[KERNEL_MAX_CORES] = {{NULL}};
    TRY(share_out(values, cores, shares, error));
    *used = 1;
    for (int c = 0; c < values->kernel->cores_count; c++)
        *used *= shares[c].filled;
    return STATUS_OK;
}

enum status kernel_share_given(struct kernel_values *values, int64_t cores, int64_t core,
                               const int64_t given[], bool *any, struct error *error)
{
    const struct kernel_text *kernel = values->kernel;
    struct share shares[KERNEL_MAX_CORES] = {{NULL}};
    for (int s = 0; s < kernel->size_count; s++)
        values->sizes[s] = (struct kernel_range){.length = values->wholes[s]};
    memset(values->is_shared, 0, sizeof values->is_shared);
    TRY(share_out(values, cores, shares, error));
    for (int s = 0; s < kernel->size_count; s++) {
        values->wholes[s] = given[s];
        values->sizes[s] = (struct kernel_range){.length = given[s]};
    }
    for (int c = 0; c < kernel->cores_count; c++) {
        const struct expression *name = shares[c].name;
        assert(name);
        TRY(kernel_number(values,
                          name->op == EXPRESSION_SIZE ? name : kernel->lets[name->number].value,
                          &shares[c].whole, error));
    }
    *any = true;
    for (int c = kernel->cores_count - 1; c >= 0; c--) {
        struct kernel_range *range = range_of(values, shares[c].name);
        range->begin = core % shares[c].filled * shares[c].length;
        int64_t rest = shares[c].whole - range->begin;
        range->length = rest < shares[c].length ? rest : shares[c].length;
        *any &= range->length > 0;
        core /= shares[c].filled;
    }
    return STATUS_OK;
}
