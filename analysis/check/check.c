#include "analysis/check/check.h"

#include "analysis/check/execution.h"
#include "analysis/check/oversync_search.h"
#include "analysis/check/places.h"

/* With what is superfluous, or without. */
static enum status find_all(const struct program *program, bool fully, struct check *check,
                            struct error *error)
{
    struct findings findings = {0};
    struct execution execution;
    enum status status = execution_init(&execution, program, error);
    if (status != STATUS_OK)
        return status;
    places_check(program, &execution.nest, &findings);
    status = execution_run(&execution, &findings, error);
    if (status == STATUS_OK && fully)
        status = oversync_add(&execution, &findings, error);
    if (status == STATUS_OK)
        status = findings_take(&findings, check, error);
    findings_clear(&findings);
    execution_clear(&execution);
    return status;
}

enum status program_check(const struct program *program, struct check *check, struct error *error)
{
    return find_all(program, true, check, error);
}

enum status program_check_safety(const struct program *program, struct check *check,
                                 struct error *error)
{
    return find_all(program, false, check, error);
}
