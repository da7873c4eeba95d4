#include "jobs/tune/report_search.h"

#include "results/report_landscape.h"
#include "search/landscape_make.h"

static enum status add_map(struct report *report, const struct space *space,
                           const struct search_result *result, const int axes[2],
                           enum landscape_kind kind, int threads, struct error *error)
{
    struct landscape map;
    if (!landscape_possible(space, result, kind))
        return STATUS_OK;
    TRY(landscape_make(space, result, axes, kind, threads, &map, error));
    report_landscape(report, &map);
    landscape_clear(&map);
    return STATUS_OK;
}

enum status report_landscapes(struct report *report, const struct space *space,
                              const struct search_result *result, const char *axes, int threads,
                              struct error *error)
{
    int chosen[2];
    enum status status = landscape_axes(space, result, axes, chosen, error);
    if (status != STATUS_OK)
        return axes || status != STATUS_INVALID ? status : STATUS_OK;
    status = add_map(report, space, result, chosen, LANDSCAPE_ENVELOPE, threads, error);
    return status == STATUS_OK
               ? add_map(report, space, result, chosen, LANDSCAPE_SLICE, threads, error)
               : status;
}
