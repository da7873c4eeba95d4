#include "cli/busy.h"

#include "cli/options.h"
#include "validate/machine_load.h"

#include <time.h>

void busy_warn(int threads, bool quiet)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    struct load_reading before, after;
    char text[256];
    if (quiet)
        return;
    load_read(NULL, &before);
    (void)nanosleep(&moment, NULL);
    load_read(NULL, &after);
    struct load load = load_between(&before, &after);
    if (!load_disturbs(&load, threads ? threads : load.processors))
        return;
    load_text(&load, text, sizeof text);
    cli_warn("the machine is not idle: %s; times may be too long", text);
}
