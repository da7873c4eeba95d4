/* NumPy's arrays: a magic word, the length of a header, the header, which is a Python dictionary of
 * three entries, and the elements. */
#include "formats/npy.h"

#include "core/element.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 65536, ALIGNMENT = 64, BLOCK = 4096 };
static const int64_t most_elements = (int64_t)1 << 40;

static const struct {
    const char *descr;
    int bytes;
    int type; /* enum dtype, or of those that no chip computes in -1 */
} types[] = {
    {"<f2", 2, DTYPE_F16}, {"<f4", 4, DTYPE_F32}, {"<f8", 8, -1},        {"|i1", 1, DTYPE_I8},
    {"|u1", 1, DTYPE_U8},  {"|b1", 1, DTYPE_U8},  {"<i2", 2, DTYPE_I16}, {"<u2", 2, DTYPE_U16},
    {"<i4", 4, DTYPE_I32}, {"<u4", 4, DTYPE_U32}, {"<i8", 8, -1},
};
enum { TYPES = sizeof types / sizeof *types };

void npy_shape_text(int dim_count, const int64_t extent[], char *text, int size)
{
    int used = 0;
    if (size)
        *text = 0;
    for (int d = 0; d < dim_count && used < size; d++)
        used += snprintf(text + used, (size_t)(size - used), "%s%" PRId64, d ? "x" : "", extent[d]);
}

/* ------------------------------------------------------------------ the header */

struct header {
    const char *at, *file;
    struct npy *npy;
    struct error *error;
};

static enum status expected(const struct header *h, const char *what)
{
    return error_set(h->error, STATUS_INVALID, "%s: header of a NumPy array: expected %s", h->file,
                     what);
}

static void skip_blanks(struct header *h)
{
    while (isspace((unsigned char)*h->at))
        h->at++;
}

static int take(struct header *h, const char *word)
{
    skip_blanks(h);
    size_t length = strlen(word);
    if (strncmp(h->at, word, length) != 0)
        return 0;
    h->at += length;
    return 1;
}

static enum status read_descr(struct header *h)
{
    for (int t = 0; t < TYPES; t++) {
        char quoted[2][8];
        snprintf(quoted[0], sizeof quoted[0], "'%s'", types[t].descr);
        snprintf(quoted[1], sizeof quoted[1], "\"%s\"", types[t].descr);
        if (take(h, quoted[0]) || take(h, quoted[1])) {
            h->npy->type = t;
            return STATUS_OK;
        }
    }
    return expected(h, "a descr of f2, f4, f8, i1, i2, i4, i8, u1, u2, u4 or b1, little-endian");
}

static enum status read_shape(struct header *h)
{
    h->npy->count = 1;
    if (!take(h, "("))
        return expected(h, "a shape in parentheses");
    while (!take(h, ")")) {
        char *end;
        skip_blanks(h);
        if (h->npy->dim_count == NPY_MAX_DIMS)
            return expected(h, "a shape of at most 8 dimensions");
        if (!isdigit((unsigned char)*h->at))
            return expected(h, "a shape of whole numbers");
        long long extent = strtoll(h->at, &end, 10);
        if (extent < 1 || extent > most_elements / h->npy->count)
            return expected(h, "1 to 2^40 elements");
        h->at = end;
        h->npy->extent[h->npy->dim_count++] = extent;
        h->npy->count *= extent;
        skip_blanks(h);
        if (!take(h, ",") && *h->at != ')')
            return expected(h, "a comma in its shape");
    }
    return STATUS_OK;
}

static enum status read_order(struct header *h)
{
    return take(h, "False") ? STATUS_OK
                            : expected(h, "C order (fortran_order False); numpy.ascontiguousarray "
                                          "gives that");
}

static enum status read_entries(struct header *h)
{
    static const struct {
        const char *key;
        enum status (*read)(struct header *h);
    } entries[] = {
        {"'descr'", read_descr}, {"'fortran_order'", read_order}, {"'shape'", read_shape}};
    int seen = 0;
    if (!take(h, "{"))
        return expected(h, "'{'");
    while (!take(h, "}")) {
        int e = 0;
        while (e < 3 && !take(h, entries[e].key))
            e++;
        if (e == 3 || seen >> e & 1)
            return expected(h, "descr, fortran_order and shape, each once");
        seen |= 1 << e;
        if (!take(h, ":"))
            return expected(h, "':'");
        TRY(entries[e].read(h));
        skip_blanks(h);
        if (!take(h, ",") && *h->at != '}')
            return expected(h, "a comma");
    }
    return seen == 7 ? STATUS_OK : expected(h, "descr, fortran_order and shape, each once");
}

enum status npy_read_header(FILE *in, const char *file, struct npy *npy, struct error *error)
{
    unsigned char start[12];
    memset(npy, 0, sizeof *npy);
    if (fread(start, 1, 10, in) != 10 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 ||
        start[6] > 3)
        return error_set(error, STATUS_INVALID,
                         "%s: expected an array of NumPy's (.npy, format 1 to 3)", file);
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, in) != 2)
            length = MAX_HEADER;
        length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    if (length >= MAX_HEADER)
        return error_set(error, STATUS_INVALID,
                         "%s: header of a NumPy array: expected less than "
                         "64 KiB",
                         file);
    char *text = calloc(1, (size_t)length + 1);
    if (!text)
        return error_memory(error);
    struct header header = {text, file, npy, error};
    enum status status = fread(text, 1, length, in) == length
                             ? read_entries(&header)
                             : expected(&header, "more than the file has");
    free(text);
    return status;
}

/* ------------------------------------------------------------------ elements */

static double element_of(int type, const unsigned char *bytes)
{
    double real;
    int64_t whole;
    if (types[type].type >= 0)
        return element_get((enum dtype)types[type].type, bytes);
    memcpy(&whole, bytes, sizeof whole);
    memcpy(&real, bytes, sizeof real);
    return types[type].descr[1] == 'f' ? real : (double)whole;
}

enum status npy_read_elements(FILE *in, const char *file, const struct npy *npy, double *elements,
                              struct error *error)
{
    unsigned char block[BLOCK * 8];
    size_t bytes = (size_t)types[npy->type].bytes;
    for (int64_t done = 0; done < npy->count;) {
        int64_t count = npy->count - done < BLOCK ? npy->count - done : BLOCK;
        if (fread(block, bytes, (size_t)count, in) != (size_t)count)
            return error_set(error, STATUS_INVALID,
                             "%s: ends before its %" PRId64 " elements of %zu bytes", file,
                             npy->count, bytes);
        for (int64_t i = 0; i < count; i++)
            elements[done + i] = element_of(npy->type, block + (size_t)i * bytes);
        done += count;
    }
    if (fgetc(in) != EOF)
        return error_set(error, STATUS_INVALID, "%s: goes on after its %" PRId64 " elements", file,
                         npy->count);
    return STATUS_OK;
}

static const char *descr_of(enum dtype type)
{
    for (int t = 0; t < TYPES; t++)
        if (types[t].type == (int)type)
            return types[t].descr;
    return NULL;
}

void npy_write(FILE *out, enum dtype type, int dim_count, const int64_t extent[],
               const double *elements)
{
    char header[512];
    int64_t count = 1;
    type = descr_of(type) ? type : DTYPE_F32;
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        descr_of(type));
    for (int d = 0; d < dim_count; d++) {
        used += snprintf(header + used, sizeof header - (size_t)used, "%" PRId64 ",%s", extent[d],
                         d + 1 < dim_count ? " " : "");
        count *= extent[d];
    }
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    while ((used + 11) % ALIGNMENT)
        header[used++] = ' ';
    header[used++] = '\n';
    fwrite("\x93NUMPY\1\0", 1, 8, out);
    fputc(used & 0xff, out);
    fputc(used >> 8, out);
    fwrite(header, 1, (size_t)used, out);
    for (int64_t i = 0; i < count; i++) {
        unsigned char bytes[8];
        element_put(type, elements[i], bytes);
        fwrite(bytes, 1, (size_t)dtype_bytes(type), out);
    }
}
