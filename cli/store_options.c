/* Fills a filter, which the store's readers apply row by row; names are checked here only where
 * there is a fixed set of them. */
#include "cli/store_options.h"

#include "core/dtype.h"
#include "core/suggest.h"

#include <string.h>

enum { KEY_OP = 4000, KEY_SHAPE, KEY_OPTIONS, KEY_DTYPE, KEY_SPACE, KEY_HW, KEY_CORES, KEY_KIND };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which results (all that are given must hold):", 2},
    {"op", KEY_OP, "OP", 0, "of this operator, one of `autotune list ops`", 2},
    {"shape", KEY_SHAPE, "PATTERN", 0, "of these sizes, such as 512x1024x512 or '512x*'", 2},
    {"options", KEY_OPTIONS, "PATTERN", 0, "with these options, such as batch=4; '' for none", 2},
    {"dtype", KEY_DTYPE, "TYPE", 0, "of this element type", 2},
    {"space", KEY_SPACE, "NAME", 0, "from this space of tilings, one of `autotune list spaces`", 2},
    {"hw", KEY_HW, "NAME", 0,
     "of this chip, by the name that its description has or by 6 or more digits of its fingerprint",
     2},
    {"cores", KEY_CORES, "N", 0, "for this number of cores", 2},
    {"kind", KEY_KIND, "simulated|measured|imported", 0, "of this kind", 2},
    {0},
};

static void set_kind(struct store_filter *filter, const char *name)
{
    int kind = store_kind_find(name);
    if (kind < 0) {
        struct suggestion like = suggest_for(name, -1);
        for (int k = 0; k < STORE_KINDS; k++)
            suggest_try(&like, store_kind_name((enum store_kind)k));
        cli_die("--kind %.64s: expected simulated, measured or imported%s", name, like.text);
    }
    filter->kind_given = true;
    filter->kind = (enum store_kind)kind;
}

static const char *known_type(const char *name)
{
    char expected[DTYPE_LIST_SIZE];
    if (dtype_find(name, (int)strlen(name)) >= 0)
        return name;
    dtype_expected(name, -1, expected);
    cli_die("--dtype %.64s: expected %s", name, expected);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct store_filter *filter = state->input;
    switch (key) {
    case KEY_OP:
        filter->op = argument;
        return 0;
    case KEY_SHAPE:
        filter->shape = argument;
        return 0;
    case KEY_OPTIONS:
        filter->options = argument;
        return 0;
    case KEY_DTYPE:
        filter->dtype = known_type(argument);
        return 0;
    case KEY_SPACE:
        filter->space = argument;
        return 0;
    case KEY_HW:
        filter->hardware = argument;
        return 0;
    case KEY_CORES:
        filter->cores = (int)cli_count("--cores", argument, INT32_MAX);
        return 0;
    case KEY_KIND:
        set_kind(filter, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp filter_argp = {.options = options, .parser = parse};
