/* `autotune calibrate --learn`: a correction learned from measured kernels. */
#ifndef AUTOTUNE_CLI_CMD_CALIBRATE_LEARN_H
#define AUTOTUNE_CLI_CMD_CALIBRATE_LEARN_H

#include "cli/options.h"
#include "jobs/calibrate/learn.h"

struct learn_asked {
    const char *const *from; /* banks of the chip, or runs of networks on it */
    int from_count;
    const char *const *pools; /* NAME=FILE: banks of others */
    int pool_count;
    uint64_t seed;
    int threads;
    bool keep_going; /* leaves out records that break a rule */
};

/* The rest of the command, once its options are read. Returns the exit status. */
int calibrate_learn(struct common *common, const struct learn_asked *asked);

/* Are the files runs of networks (cli/cmd_calibrate_network.c)? Ends the process where some are. */
bool calibrate_is_runs(const struct learn_asked *asked);

/* Learns from them what operators take; stop_close is the caller's. */
enum status calibrate_learn_runs(struct common *common, const struct learn_asked *asked,
                                 const struct hardware *hw, const struct learn_options *options,
                                 struct correction *learned, struct error *error);

#endif
