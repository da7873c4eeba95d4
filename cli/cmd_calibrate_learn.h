/* `autotune calibrate --learn`: a correction learned from measured kernels. */
#ifndef AUTOTUNE_CLI_CMD_CALIBRATE_LEARN_H
#define AUTOTUNE_CLI_CMD_CALIBRATE_LEARN_H

#include "cli/options.h"

struct learn_asked {
    const char *const *from; /* banks of the chip */
    int from_count;
    const char *const *pools; /* NAME=FILE: banks of others */
    int pool_count;
    uint64_t seed;
    int threads;
    bool keep_going; /* leaves out records that break a rule */
};

/* The rest of the command, once its options are read. Returns the exit status. */
int calibrate_learn(struct common *common, const struct learn_asked *asked);

#endif
