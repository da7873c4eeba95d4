/* Tables of the runtime library. */
#include "kernels/matmul/host/matmul_host.h"
#include "runtime/autotune_sgemm.h"
#include "runtime/sgemm_table.h"
#include "tests/fuzz/fuzz.h"

/* Also that a shape gets a tiling from whatever is in it. */
void fuzz_read_sgemm_table(const char *file)
{
    struct table table;
    struct error error = {0};
    enum status status = table_read(file, matmul_host_axes, HOST_MATMUL_AXES, &table, &error);
    fuzz_require_line(status, &error);
    fuzz_require((status == STATUS_OK) == (table.count > 0), "a table has entries");
    for (int64_t i = 0; i < table.count; i++) {
        const struct table_entry *e = &table.entries[i];
        fuzz_require(e->m >= 1 && e->k >= 1 && e->n >= 1 && e->line > 1, "an entry is whole");
        for (int a = 0; a < HOST_MATMUL_AXES; a++)
            fuzz_require(e->tiling.value[a] >= 1, "values of tilings count from 1");
    }
    table_clear(&table);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(file, 1, NULL, 0);
    fuzz_require((sgemm != NULL) == (status == STATUS_OK), "a readable table opens");
    fuzz_require(!sgemm || autotune_sgemm_explain(sgemm, 3, 5, 7, NULL) == AUTOTUNE_SGEMM_OK,
                 "every shape gets a tiling");
    autotune_sgemm_close(sgemm);
}
