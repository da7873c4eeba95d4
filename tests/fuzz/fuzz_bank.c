/* Banks of tilings in every format, strictly and with what breaks a rule passed over. */
#include "formats/bank.h"
#include "kernels/matmul/matmul_bank.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

/* Also what a row means: no number of a bank may make the mapping overflow or divide by zero. */
static enum status take_row(void *context, const struct bank_row *row, struct error *error)
{
    struct problem problem;
    struct tiling tiling;
    struct bank_row back;
    fuzz_require(row->record > *(int *)context, "rows come in order");
    fuzz_require(row->text[row->text_length] == 0 && row->measured_ns >= 0, "a row is whole");
    *(int *)context = row->record;
    if (matmul_bank_problem(row, &problem, error) != STATUS_OK ||
        matmul_bank_tiling(row, &problem, &tiling, error) != STATUS_OK)
        return STATUS_OK;
    for (int a = 0; a < CANN_AXES; a++)
        fuzz_require(tiling.value[a] > 0 || a == CANN_OUTER || a == CANN_L0B_HOLDS,
                     "sizes are positive");
    for (int f = 0; f < BANK_FORMATS; f++)
        matmul_bank_row(&problem, &tiling, (enum bank_format)f, &back, error);
    return STATUS_OK;
}

static enum status pass_over(void *context, int record, int line, const struct error *why)
{
    (void)context;
    fuzz_require(record >= 0 && line > 0, "a bad record has a place");
    fuzz_require_line(STATUS_INVALID, why);
    return STATUS_OK;
}

void fuzz_read_bank(const char *file)
{
    struct error error = {0};
    for (int format = 0; format <= BANK_AUTO; format++) {
        int last = 0;
        struct bank_reader reader = {
            .row = take_row, .context = &last, .tilings_only = format == BANK_RUNTIME_KB};
        fuzz_require_line(bank_read(file, format, &reader, NULL, &error), &error);
        last = 0;
        reader.bad = pass_over;
        reader.tilings_only = false;
        fuzz_require(bank_read(file, format, &reader, NULL, &error) == STATUS_OK ||
                         format == BANK_AUTO || strstr(error.text, ", expected text in UTF-8"),
                     "goes on after a bad record");
    }
}
