/* Which results of a store a command is about: --op, --shape, --kind … and the common --hw,
 * --cores.
 */
#ifndef AUTOTUNE_CLI_STORE_OPTIONS_H
#define AUTOTUNE_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "results/store_rows.h"

/* The place of their table is a struct store_filter. */
extern const struct cli_option filter_options[];

#endif
