/* Which results of a store a command is about: --op, --shape, --kind … and the common --hw,
 * --cores.
 */
#ifndef AUTOTUNE_CLI_STORE_OPTIONS_H
#define AUTOTUNE_CLI_STORE_OPTIONS_H

#include "cli/options.h"
#include "results/store_rows.h"

/* A child parser; its input is a struct store_filter. */
extern const struct argp filter_argp;

/* Takes --hw and --cores over into the filter; death where --set-hw or --hw-path were given, which
 * say nothing here. To be called behind cli_parse. */
void filter_finish(struct store_filter *filter, const struct common *common);

#endif
