#include "jobs/job.h"

int64_t job_cost(const struct job *job)
{
    return 1 + job->space.candidates;
}
