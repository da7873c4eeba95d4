#include "cli/sweep_jobs.h"

enum { MAX_GIVEN = MAX_OVERRIDES + 3 };

struct given {
    int count;
    struct sweep_option options[MAX_GIVEN];
};

static void give_option(struct given *given, const char *name, const char *text)
{
    if (text)
        given->options[given->count++] = (struct sweep_option){name, text};
}

void sweep_jobs_read(struct common *common, const char *time_limit, const char *file,
                     struct sweep *sweep)
{
    struct given given = {0};
    struct error error;
    char cores[24];
    snprintf(cores, sizeof cores, "%lld", (long long)common->cores);
    give_option(&given, "hw", common->hw_name);
    give_option(&given, "time-limit", time_limit);
    give_option(&given, "cores", common->cores ? cores : NULL);
    for (int i = 0; i < common->override_count; i++)
        give_option(&given, "set-hw", common->overrides[i]);
    struct sweep_source source = {.name = file,
                                  .hw_folders = common->hw_folders,
                                  .kernel_folders = common->kernel_folders,
                                  .option_count = given.count,
                                  .options = given.options};
    cli_require(sweep_read(&source, sweep, &error), &error);
    cli_reads(common, sweep->file);
    cli_reads_chips(common, sweep->loaded);
    cli_reads_kernels(common, sweep->kernels);
}

void sweep_check_time_limit(const struct cli_option *option, void *options, const char *text)
{
    (void)option;
    (void)options;
    cli_seconds("--time-limit", text);
}
