/* Tables of tuned tilings that CANN's MatMulV3 loads at run time: a JSON object a line, with the
 * problem in `info_dict` and the tiling in `knowledge`. Reading only; what a row has beside the
 * fields below is left alone. */
#ifndef AUTOTUNE_RESULTS_RUNTIME_KB_H
#define AUTOTUNE_RESULTS_RUNTIME_KB_H

#include "core/dtype.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* One row: `field[i]` is the member of `knowledge` called names[i]. */
struct runtime_kb_row {
    int line; /* from 1 */
    enum dtype type;
    bool bias;
    int32_t *field;
};

enum { RUNTIME_KB_MAX_BYTES = 1 << 28 };

/* Reads the whole file and calls visit for each row, in order; blank lines are skipped. The row is
 * valid during the call. Ends with the first status that is not STATUS_OK. STATUS_INVALID says
 * "file:line: what was expected"; STATUS_IO when the file cannot be read. */
typedef enum status runtime_kb_visitor(void *context, const struct runtime_kb_row *row,
                                       struct error *error);
enum status runtime_kb_read(const char *file, const char *const *names, int name_count,
                            runtime_kb_visitor *visit, void *context, struct error *error);

#endif
