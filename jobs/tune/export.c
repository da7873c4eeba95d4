/* What the fields of a library's row mean is known to the space's operator alone, which makes them
 * (bank->row); the form only writes them. */
#include "jobs/tune/export.h"

#include "kernels/operator_bank.h"
#include "kernels/registry.h"

#include <stdlib.h>

enum status export_refuse(struct error *error, const char *what)
{
    const struct operator* op;
    const struct operator_space *space = operator_banked(&op);
    return error_set(error, STATUS_INVALID,
                     "the tables of operator libraries hold tilings of %s in the space %s, not of "
                     "%.128s",
                     op->name, space->name, what);
}

enum status export_check(const struct space *space, struct error *error)
{
    if (space->kind->bank)
        return STATUS_OK;
    return export_refuse(error, space->kind->name);
}

/* Rows of those that the form has words for; why it has none for the last of the others. */
static enum status make_rows(const struct export_row *tilings, int count,
                             const struct format *format, struct bank_export *bank,
                             struct bank_row *rows, double *times, struct error *why)
{
    for (int i = 0; i < count; i++) {
        enum status status = tilings[i].bank->row(tilings[i].problem, &tilings[i].tiling,
                                                  format->rows, &rows[bank->count], why);
        if (status != STATUS_OK && status != STATUS_INVALID)
            return status;
        times[bank->count] = tilings[i].simulated_ns;
        bank->count += status == STATUS_OK;
    }
    return bank->count ? STATUS_OK : STATUS_INVALID;
}

enum status export_write_rows(const struct export_row *tilings, int count, const char *title,
                              const char *origin, const struct format *format, FILE *out,
                              int *left_out, struct error *error)
{
    struct bank_row *rows = calloc((size_t)count, sizeof *rows);
    double *times = calloc((size_t)count, sizeof *times);
    struct bank_export bank = {
        .rows = rows, .simulated_ns = times, .title = title, .origin = origin};
    enum status status = rows && times
                             ? make_rows(tilings, count, format, &bank, rows, times, error)
                             : error_memory(error);
    *left_out = count - bank.count;
    if (status == STATUS_OK)
        status = format->bank(&bank, out, error);
    free(times);
    free(rows);
    return status;
}

enum status export_write(const struct export_source *source, const struct format *format, FILE *out,
                         int *left_out, struct error *error)
{
    const struct search_result *search = source->search;
    const int count = search->count;
    struct export_row *rows = calloc((size_t)count, sizeof *rows);
    enum status status = rows ? export_check(source->space, error) : error_memory(error);
    for (int i = 0; status == STATUS_OK && i < count; i++) {
        rows[i].bank = source->space->kind->bank;
        rows[i].problem = source->problem;
        rows[i].tiling = search->best[i].tiling;
        rows[i].simulated_ns = found_ns(&search->best[i]);
    }
    if (status == STATUS_OK)
        status = export_write_rows(rows, count, source->title, NULL, format, out, left_out, error);
    free(rows);
    return status;
}
