/* Which results of a store a command is about: --op, --shape, --kind … and the common --hw,
 * --cores.
 */
#ifndef AUTOTUNE_CLI_STORE_OPTIONS_H
#define AUTOTUNE_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "results/store_rows.h"

/* A child parser; its input is a struct store_filter. */
extern const struct argp filter_argp;

#endif
