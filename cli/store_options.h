/* Which results of a store a command is about: --op, --kernel, --shape, --kind … and the common
 * --hw, --cores. */
#ifndef AUTOTUNE_CLI_STORE_OPTIONS_H
#define AUTOTUNE_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "results/store_rows.h"

/* The place of their table is a struct store_filter; --kernel is a name until filter_open. */
extern const struct cli_option filter_options[];

/* Reads the text that --kernel names, and makes its fingerprint of the name. The filter holds
 * before the kernels are closed. */
struct kernels *filter_open(struct common *common, struct store_filter *filter);

#endif
