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

enum status export_write_rows(const struct export_row *tilings, int count, const char *title,
                              const char *origin, const struct format *format, FILE *out,
                              struct error *error)
{
    struct bank_row *rows = calloc((size_t)count, sizeof *rows);
    double *times = calloc((size_t)count, sizeof *times);
    enum status status = rows && times ? STATUS_OK : error_memory(error);
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        times[i] = tilings[i].simulated_ns;
        status = tilings[i].bank->row(tilings[i].problem, &tilings[i].tiling, format->rows,
                                      &rows[i], error);
    }
    struct bank_export bank = {
        .rows = rows, .count = count, .simulated_ns = times, .title = title, .origin = origin};
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
    const struct operator_bank *bank = source->space->kind->bank;
    struct export_row *rows = calloc((size_t)search->count, sizeof *rows);
    enum status status = rows ? export_check(source->space, error) : error_memory(error);
    int count = 0;
    struct bank_row row;
    struct error why;
    for (int i = 0; status == STATUS_OK && i < search->count; i++)
        if (bank->row(source->problem, &search->best[i].tiling, format->rows, &row, &why) ==
            STATUS_OK)
            rows[count++] = (struct export_row){.bank = bank,
                                                .problem = source->problem,
                                                .tiling = search->best[i].tiling,
                                                .simulated_ns = found_ns(&search->best[i])};
    *left_out = search->count - count;
    if (status == STATUS_OK && !count)
        status = error_set(error, STATUS_INVALID, "%.400s", why.text);
    if (status == STATUS_OK)
        status = export_write_rows(rows, count, source->title, NULL, format, out, error);
    free(rows);
    return status;
}
