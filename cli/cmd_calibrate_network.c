/* Runs of networks are tables of calls with a measured time (network/read.h). */
#include "cli/cmd_calibrate_learn.h"
#include "cli/signals.h"
#include "jobs/calibrate/learn.h"
#include "network/read.h"

#include <stdlib.h>
#include <string.h>

bool calibrate_is_runs(const struct learn_asked *asked)
{
    int runs = 0;
    for (int i = 0; i < asked->from_count; i++) {
        const char *dot = strrchr(asked->from[i], '.');
        runs += dot && strcmp(dot, ".csv") == 0;
    }
    if (runs > 0 && runs < asked->from_count)
        cli_die("--from: expected runs of networks (.csv) or banks of kernels, not both");
    if (runs > 0 && asked->pool_count > 0)
        cli_die("--pool: it is for banks of kernels, not for runs of networks");
    return runs > 0;
}

static void load_runs(struct common *common, const struct learn_asked *asked, struct network runs[])
{
    struct error error;
    for (int i = 0; i < asked->from_count; i++) {
        cli_reads(common, asked->from[i]);
        cli_require(run_file_read(asked->from[i], &runs[i], &error), &error);
    }
}

enum status calibrate_learn_runs(struct common *common, const struct learn_asked *asked,
                                 const struct hardware *hw, const struct learn_options *options,
                                 struct correction *learned, struct error *error)
{
    int count = asked->from_count;
    struct network *runs = cli_require_memory(calloc((size_t)count, sizeof *runs));
    load_runs(common, asked, runs);
    cli_check_files(common);
    stop_open();
    enum status status = learn_network(runs, count, hw, options, learned, error);
    for (int i = 0; i < count; i++)
        network_free(&runs[i]);
    free(runs);
    return status;
}
