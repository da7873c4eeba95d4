/* Sweeps, as configuration and as table. */
#include "jobs/sweep/sweep.h"
#include "tests/fuzz/fuzz.h"

/* Jobs can be opened, and shards are all of them. */
void fuzz_read_sweep(const char *file)
{
    struct sweep_source source = {.name = file, .most_jobs = 100};
    struct sweep sweep;
    struct error error = {0};
    enum status status = sweep_read(&source, &sweep, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    fuzz_require(sweep.job_count + sweep.fault_count > 0, "a sweep has jobs");
    for (int64_t j = 0; j < sweep.job_count; j++) {
        struct job job;
        fuzz_require(sweep.jobs[j].cost > 0 && sweep.jobs[j].line > 0,
                     "a job has a line and a cost");
        fuzz_require(sweep_open_job(&sweep, j, &job, &error) == STATUS_OK, "a job opens again");
        job_close(&job);
    }
    for (int64_t f = 0; f < sweep.fault_count; f++)
        fuzz_require(sweep.faults[f].text[0], "a fault has a text");
    sweep_clear(&sweep);
}
