/* NumPy's arrays: what is written reads back, headers as NumPy writes them, and what is refused. */
#include "formats/npy.h"

#include "core/element.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static FILE *file_of(const void *bytes, size_t count)
{
    FILE *file = tmpfile();
    cr_assert(file);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    rewind(file);
    return file;
}

Test(npy, reads_what_it_writes)
{
    static const enum dtype types[] = {DTYPE_F16, DTYPE_F32, DTYPE_BF16, DTYPE_I8, DTYPE_U8,
                                       DTYPE_I16, DTYPE_U16, DTYPE_I32,  DTYPE_U32};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int dims = 1; dims <= NPY_MAX_DIMS; dims++) {
            int64_t extent[NPY_MAX_DIMS] = {3, 2, 1, 2, 3, 1, 2, 2}, count = 1;
            double out[144], in[144];
            struct npy npy;
            struct error error;
            FILE *file = tmpfile();
            for (int d = 0; d < dims; d++)
                count *= extent[d];
            for (int i = 0; i < count; i++)
                out[i] = element_round(types[t], 1.37 * i - 20);
            npy_write(file, types[t], dims, extent, out);
            cr_assert_eq(ftell(file) % 64,
                         (count * (types[t] == DTYPE_BF16 ? 4 : dtype_bytes(types[t]))) % 64);
            rewind(file);
            cr_assert_eq(npy_read_header(file, "x.npy", &npy, &error), STATUS_OK, "%s", error.text);
            cr_assert(npy.dim_count == dims && npy.count == count &&
                      memcmp(npy.extent, extent, (size_t)dims * sizeof *extent) == 0);
            cr_assert_eq(npy_read_elements(file, "x.npy", &npy, in, &error), STATUS_OK, "%s",
                         error.text);
            cr_expect_arr_eq(in, out, (size_t)count * sizeof *in, "%s", dtype_name(types[t]));
            fclose(file);
        }
}

/* A file of format 1.0 with this header and 8 bytes of elements. */
static enum status read_header(const char *header, struct npy *npy, double elements[8],
                               struct error *error)
{
    char bytes[1200] = "\x93NUMPY\1";
    size_t length = strlen(header);
    bytes[8] = (char)(length & 0xff);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, header, length);
    memcpy(bytes + 10 + length, "\0\0\0\0\0\0\xf0\x3f", 8); /* 1.0 as f8 */
    FILE *file = file_of(bytes, 18 + length);
    enum status status = npy_read_header(file, "x.npy", npy, error);
    if (status == STATUS_OK && npy->count <= 8)
        status = npy_read_elements(file, "x.npy", npy, elements, error);
    fclose(file);
    return status;
}

Test(npy, headers_of_others)
{
    struct npy npy = {0};
    struct error error;
    double x[8] = {0};
    cr_assert_eq(read_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }    \n",
                             &npy, x, &error),
                 STATUS_OK, "%s", error.text);
    cr_expect_eq(x[0], 1);
    cr_assert_eq(
        read_header("{'shape':(), 'descr':\"<f8\" ,'fortran_order':False}", &npy, x, &error),
        STATUS_OK, "%s", error.text);
    cr_expect(npy.dim_count == 0 && npy.count == 1);
    cr_assert_eq(
        read_header("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4)}", &npy, x, &error),
        STATUS_OK, "%s", error.text);
    cr_expect(x[6] == 0xf0 && x[7] == 0x3f);
}

Test(npy, refusals)
{
    static const struct {
        const char *header, *expected;
    } rows[] = {
        {"", "expected '{'"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}", "little-endian"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}", "C order"},
        {"{'descr': '<f8', 'fortran_order': False}", "each once"},
        {"{'descr': '<f8', 'descr': '<f8'}", "each once"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}", "1 to 2^40"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "whole numbers"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 2)}", "1 to 2^40"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2)}",
         "1 to 2^40"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "8 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1", "comma"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "ends before"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "goes on"},
        {"{'descr': 'O', 'fortran_order': False, 'shape': (1,)}", "a descr"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct npy npy;
        struct error error;
        double x[8];
        cr_expect_eq(read_header(rows[i].header, &npy, x, &error), STATUS_INVALID, "%s",
                     rows[i].header);
        cr_expect(strstr(error.text, rows[i].expected) && strstr(error.text, "x.npy: "), "%s: %s",
                  rows[i].header, error.text);
    }
    struct npy npy;
    struct error error;
    FILE *file = file_of("\x93NUMPY\1\0\xff\xff{", 11);
    cr_expect_eq(npy_read_header(file, "x.npy", &npy, &error), STATUS_INVALID);
    fclose(file);
    file = file_of("\x93NUMPX\1\0\1\0{", 11);
    cr_expect_eq(npy_read_header(file, "x.npy", &npy, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "expected an array"), "%s", error.text);
    fclose(file);
}
