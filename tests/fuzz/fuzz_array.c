/* NumPy's arrays: whatever a file holds, it is as many elements as its shape says, or one line. */
#include "tests/fuzz/fuzz.h"

#include "formats/npy.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_read_array(const char *name)
{
    enum { MOST = 1 << 20 };
    struct npy npy;
    struct error error;
    FILE *file = fopen(name, "rb");
    fuzz_require(file != NULL, "a file");
    enum status status = npy_read_header(file, name, &npy, &error);
    if (status == STATUS_OK && npy.count <= MOST) {
        int64_t count = 1;
        for (int d = 0; d < npy.dim_count; d++)
            count *= npy.extent[d];
        fuzz_require(count == npy.count && count > 0, "a count of the shape");
        double *elements = malloc((size_t)count * sizeof *elements);
        fuzz_require(elements != NULL, "memory");
        status = npy_read_elements(file, name, &npy, elements, &error);
        free(elements);
    }
    if (status != STATUS_OK)
        fuzz_require_line(status, &error);
    fclose(file);
}
