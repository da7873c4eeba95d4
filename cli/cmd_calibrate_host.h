/* `autotune calibrate --hw host`: this machine's processor, measured and described. */
#ifndef AUTOTUNE_CLI_CMD_CALIBRATE_HOST_H
#define AUTOTUNE_CLI_CMD_CALIBRATE_HOST_H

#include "cli/options.h"

/* Is --hw the host? */
bool calibrate_is_of_host(const char *hw_name);

/* The whole command; `threads` is 0 where it was not given, `of_fits` an option that only fits to
 * files have, or NULL. Returns the exit status. */
int calibrate_the_host(struct common *common, int threads, const char *of_fits);

#endif
