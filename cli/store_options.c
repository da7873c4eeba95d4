/* Fills a filter, which the store's readers apply row by row; names are checked here only where
 * there is a fixed set of them. */
#include "cli/store_options.h"

#include "core/dtype.h"
#include "core/suggest.h"
#include "jobs/tune/kernels.h"

#include <string.h>

static void take_kind(const struct cli_option *option, void *options, const char *name)
{
    struct store_filter *filter = options;
    int kind = store_kind_find(name);
    if (kind < 0) {
        struct suggestion like = suggest_for(name, -1);
        for (int k = 0; k < STORE_KINDS; k++)
            suggest_try(&like, store_kind_name((enum store_kind)k));
        cli_die("--%s %.64s: expected simulated, measured or imported%s", option->name, name,
                like.text);
    }
    filter->kind_given = true;
    filter->kind = (enum store_kind)kind;
}

static void check_type(const struct cli_option *option, void *options, const char *name)
{
    (void)options;
    char expected[DTYPE_LIST_SIZE];
    if (dtype_find(name, (int)strlen(name)) >= 0)
        return;
    dtype_expected(name, -1, expected);
    cli_die("--%s %.64s: expected %s", option->name, name, expected);
}

_Static_assert(offsetof(struct store_filter, kind_given) == 0, "place 0 is nowhere");

const struct cli_option filter_options[] = {
    {.help = "Which results (all that are given must hold):", .group = 2},
    {"op", "OP", "of this operator, one of `autotune list ops`", 2,
     .text = offsetof(struct store_filter, op)},
    {"kernel", "NAME|FILE", "of this text, a file or one of `autotune list kernels`", 2,
     .text = offsetof(struct store_filter, kernel)},
    {"shape", "PATTERN", "of these sizes, such as 512x1024x512 or '512x*'", 2,
     .text = offsetof(struct store_filter, shape)},
    {"options", "PATTERN", "with these options, such as batch=4; '' for none", 2,
     .text = offsetof(struct store_filter, options)},
    {"dtype", "TYPE", "of this element type", 2, .text = offsetof(struct store_filter, dtype),
     .take = check_type},
    {"space", "NAME", "from this space of tilings, one of `autotune list spaces`", 2,
     .text = offsetof(struct store_filter, space)},
    {"hw", "NAME",
     "of this chip, by the name that its description has or by 6 or more digits of its fingerprint",
     2, .text = offsetof(struct store_filter, hardware)},
    {"cores", "N", "for this number of cores", 2, .count = offsetof(struct store_filter, cores),
     .most = INT32_MAX},
    {"kind", "simulated|measured|imported", "of this kind", 2, .take = take_kind},
    {0},
};

struct kernels *filter_open(struct common *common, struct store_filter *filter)
{
    struct kernels *kernels;
    struct error error;
    const struct operator* op;
    cli_require(kernels_open(common->kernel_folders, &kernels, &error), &error);
    if (!filter->kernel)
        return kernels;
    const char *name = filter->kernel;
    cli_require(kernels_get(kernels, name, false, &op, &error), &error);
    filter->kernel = op->fingerprint;
    cli_require(kernels_get(kernels, name, true, &op, &error), &error);
    filter->kernel2 = op->fingerprint;
    cli_reads_kernels(common, kernels);
    return kernels;
}
