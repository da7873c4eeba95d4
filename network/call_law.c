/* Products are read off the layouts: an NZ result (N1, M1, 16, 16) gives m and n; a filter
 * (C1·kh·kw, Cout/16, 16, 16) k and n of a convolution, whose m is the pixels of each image in
 * blocks of 16. Expected costs are fitted to training steps on an Ascend 910
 * (docs/network-times.md); on another chip bytes scale with the outer bus, elements and rows with
 * the clock, products with the matrix unit. Blocks that are not known: one for each 2 KiB of the
 * largest tensor, of products one for each block of the result, of images one for each of them,
 * up to the cores. */
#include "network/call_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CUBE = 16, MAX_BLOCKS = 4096, BYTES_A_BLOCK = 2048 };

/* The Ascend 910 that costs are of. */
static const double reference_mhz = 900, reference_gbps = 2850, reference_mflop_us = 7372.8e-3;

enum term {
    LAUNCH,
    CORES,
    TENSORS,
    MEGABYTES,
    BEYOND_CACHE,
    ELEMENTS,
    ROWS,
    ODD_ROWS,
    INDICES,
    CORE_BYTES,
    PRODUCTS,
    TRAFFIC,
    RESULT_BLOCKS,
    OPERAND_BLOCKS,
    INDEXED_BYTES
};

const struct call_term call_terms[CALL_TERMS] = {
    [LAUNCH] = {"launch", 1.43, 6},
    [CORES] = {"cores", 0.09, 0.5},
    [TENSORS] = {"further tensors", 0.1, 3},
    [MEGABYTES] = {"MB", 0.66, 3},
    [BEYOND_CACHE] = {"MB beyond 16", 0.34, 3},
    [ELEMENTS] = {"thousand elements a core", 0.03, 3},
    [ROWS] = {"thousand rows a core", 5, 2000},
    [ODD_ROWS] = {"thousand odd rows a core", 5, 2000},
    [INDICES] = {"thousand indices a core", 90, 400},
    [CORE_BYTES] = {"100 kB a core", 1, 6},
    [PRODUCTS] = {"us of products at peak", 2, 20},
    [TRAFFIC] = {"MB of operands", 0.3, 6},
    [RESULT_BLOCKS] = {"thousand blocks of results a core", 0.5, 40},
    [OPERAND_BLOCKS] = {"thousand blocks of operands a core", 0.1, 20},
    [INDEXED_BYTES] = {"100 kB by index a core", 0.5, 6},
};

static bool has(const struct operator_call *call, const char *part)
{
    return strstr(call->op_type, part) != NULL;
}

static double elements(const struct operator_tensor *t)
{
    double product = 1;
    for (int i = 0; i < t->rank; i++)
        product *= (double)t->size[i];
    return product;
}

static double blocks_of(double size)
{
    return ceil(size / CUBE);
}

/* ------------------------------------------------------------------ products */

/* Pixels of all images, each padded to blocks. */
static double pixel_blocks(const struct operator_tensor *image)
{
    return (double)image->size[0] * blocks_of((double)image->size[2] * (double)image->size[3]);
}

static struct call_product forward(const struct operator_tensor *filter,
                                   const struct operator_tensor *image)
{
    return (struct call_product){pixel_blocks(image), (double)filter->size[1],
                                 (double)filter->size[0], 1};
}

static struct call_product back_to_input(const struct operator_tensor *filter,
                                         const struct operator_tensor *image)
{
    double c1 = fmax((double)image->size[1], 1);
    double window = fmax(floor((double)filter->size[0] / c1), 1);
    return (struct call_product){pixel_blocks(image), floor((double)filter->size[0] / window),
                                 (double)filter->size[1] * window, 1};
}

/* The gradient's image is the smallest of the inputs that has the filter's channels; what is there
 * once for all images is none (statistics of FusedDbnDw). */
static struct call_product back_to_filter(const struct operator_call *call,
                                          const struct operator_tensor *filter)
{
    double least = 0;
    int64_t images = call->input_count ? call->inputs[0].size[0] : 0;
    for (int i = 0; i < call->input_count; i++) {
        const struct operator_tensor *t = &call->inputs[i];
        if (t->rank != 5 || t->size[0] != images || t->size[1] != filter->size[1])
            continue;
        double pixels = (double)t->size[0] * (double)t->size[2] * (double)t->size[3];
        least = least > 0 ? fmin(least, pixels) : pixels;
    }
    return (struct call_product){(double)filter->size[0], (double)filter->size[1], blocks_of(least),
                                 1};
}

static struct call_product convolution(const struct operator_call *call)
{
    const struct call_product none = {0, 0, 0, 0};
    if (has(call, "Conv2DBackpropFilter") || has(call, "FusedDbnDw")) {
        const struct operator_tensor *f =
            operator_tensor_find(call->outputs, call->output_count, FORMAT_Z, 4);
        return f ? back_to_filter(call, f) : none;
    }
    const struct operator_tensor *f =
        operator_tensor_find(call->inputs, call->input_count, FORMAT_Z, 4);
    const struct operator_tensor *image =
        operator_tensor_find(call->outputs, call->output_count, FORMAT_NC1HWC0, 5);
    if (!f || !image)
        return none;
    return has(call, "Conv2DBackpropInput") ? back_to_input(f, image) : forward(f, image);
}

static struct call_product matmul(const struct operator_call *call)
{
    struct call_product p = {0, 0, 0, 0};
    const struct operator_tensor *c = &call->outputs[0];
    bool tiled = call->output_count && c->rank >= 4 && c->format == FORMAT_NZ;
    int batches = call->output_count ? c->rank - (tiled ? 4 : 2) : -1;
    if (!call->input_count || batches < 0)
        return p;
    p.batch = 1;
    for (int i = 0; i < batches; i++)
        p.batch *= (double)c->size[i];
    double rows = (double)c->size[batches + (tiled ? 1 : 0)];
    double columns = (double)c->size[batches + (tiled ? 0 : 1)];
    double height = tiled ? rows * CUBE : rows;
    p.m = tiled ? rows : blocks_of(rows);
    p.n = tiled ? columns : blocks_of(columns);
    p.k = blocks_of(elements(&call->inputs[0]) / fmax(p.batch * height, 1));
    return p;
}

static struct call_product product_of(const struct operator_call *call)
{
    struct call_product p = {0, 0, 0, 0};
    if (has(call, "Conv2D") || has(call, "FusedDbnDw"))
        p = convolution(call);
    else if (has(call, "MatMul"))
        p = matmul(call);
    bool real = p.m >= 1 && p.n >= 1 && p.k >= 1 && p.batch >= 1;
    return real ? p : (struct call_product){0, 0, 0, 0};
}

/* ------------------------------------------------------------------ sizes */

static bool is_slice(const struct operator_call *call)
{
    return strcmp(call->op_type, "StridedSlice") == 0 || strcmp(call->op_type, "Slice") == 0 ||
           strcmp(call->op_type, "Split") == 0 || has(call, "Gather");
}

/* The largest of the tensors from `first` on: inputs stand before outputs. */
static void largest_of(const struct operator_call *call, int first, double *most, double *bytes,
                       double *largest_bytes)
{
    *most = *bytes = *largest_bytes = 0;
    for (int i = first; i < call->input_count + call->output_count; i++) {
        *most = fmax(*most, elements(&call->inputs[i]));
        *bytes += (double)call->inputs[i].bytes;
        *largest_bytes = fmax(*largest_bytes, (double)call->inputs[i].bytes);
    }
}

/* What the blocks of a product divide: the images of a convolution, else the outermost dimension
 * of its largest tensor; 0 of what is added up over it. */
static double outer_units(const struct operator_call *call)
{
    const struct operator_tensor *largest = NULL;
    bool images = has(call, "Conv2D");
    if (has(call, "Filter") || has(call, "FusedDbnDw"))
        return 0;
    for (int i = 0; i < call->input_count + call->output_count; i++) {
        const struct operator_tensor *t = &call->inputs[i];
        if (t->rank > 0 && (!images || t->rank == 5) &&
            (!largest || elements(t) > elements(largest)))
            largest = t;
    }
    return largest ? (double)largest->size[0] : 0;
}

/* Of the blocks, those on a core at a time that a product keeps busy: 30 blocks of 32 images take
 * as long as 16. */
static double busy_share(const struct operator_call *call, const struct call_sizes *sizes)
{
    double units = sizes->product.m > 0 ? outer_units(call) : 0;
    double waves = ceil(units / sizes->blocks);
    return units >= sizes->blocks ? sizes->share * units / (waves * sizes->blocks) : sizes->share;
}

static int estimated_blocks(const struct operator_call *call, const struct call_sizes *sizes,
                            double largest_bytes, int cores)
{
    const struct operator_tensor *first = call->inputs;
    bool images = call->input_count > 0 && first->format == FORMAT_NC1HWC0 && first->size[0] > 1;
    double blocks = sizes->product.m > 0
                        ? sizes->product.m * sizes->product.n * sizes->product.batch
                        : ceil(largest_bytes / BYTES_A_BLOCK);
    blocks = images ? (double)first->size[0] : blocks;
    return (int)fmin(fmax(blocks, 1), cores);
}

void call_measure(const struct operator_call *call, const struct hardware *hw,
                  struct call_sizes *sizes)
{
    enum { CLEANED_A_BLOCK = 48 * 1024 }; /* of AtomicAddrClean on a part of the cores */
    double largest_bytes;
    sizes->product = product_of(call);
    largest_of(call, 0, &sizes->largest, &sizes->bytes, &largest_bytes);
    sizes->blocks = call->block_dim > 0 ? (int)fmin(call->block_dim, MAX_BLOCKS)
                                        : estimated_blocks(call, sizes, largest_bytes, hw->cores);
    sizes->share = sizes->blocks / ceil((double)sizes->blocks / hw->cores);
    sizes->busy = busy_share(call, sizes);
    if (is_slice(call)) {
        largest_of(call, call->input_count, &sizes->largest, &sizes->bytes, &largest_bytes);
        sizes->bytes *= 2;
    }
    if (strcmp(call->op_type, "AtomicAddrClean") == 0) {
        if (sizes->blocks < hw->cores - 1)
            sizes->bytes = fmin(sizes->bytes, (double)sizes->blocks * CLEANED_A_BLOCK);
        sizes->largest = sizes->bytes / 4;
    }
}

/* ------------------------------------------------------------------ terms */

/* Kinds that work row by row of what lies row-major. */
static bool is_by_rows(const struct operator_call *call)
{
    static const char *const parts[] = {"Softmax", "Norm",   "Reduce", "Transpose", "Slice",
                                        "Entropy", "Concat", "Split",  "OneHot",    "Tile",
                                        "BiasAdd", "Trans",  "Pool"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has(call, parts[i]))
            return true;
    return false;
}

/* Rows of a tensor, trailing dimensions of 1 left out, and those that end within 32 bytes. */
static void add_rows(const struct operator_tensor *t, double *rows, double *odd)
{
    int rank = t->rank;
    while (rank > 1 && t->size[rank - 1] == 1)
        rank--;
    if (t->format != FORMAT_ND || rank < 2 || t->size[rank - 1] < 1)
        return;
    double count = elements(t) / (double)t->size[rank - 1];
    *rows += count;
    if (t->size[rank - 1] * dtype_bytes(t->type) % 32)
        *odd += count;
}

/* Bytes of both operands if the blocks split the result as evenly as they can, in blocks. */
static double operand_blocks(const struct call_product *p, int blocks)
{
    double least = INFINITY;
    for (int down = 1; down <= blocks; down++) {
        int across = blocks / down;
        if (across * down == blocks)
            least = fmin(least, p->m * p->k * fmin(across, p->n) + p->k * p->n * fmin(down, p->m));
    }
    return least;
}

static void fill_product(const struct call_product *p, const struct call_sizes *sizes,
                         double mflop_us, double bytes_scale, double terms[CALL_TERMS])
{
    double blocks = p->m * p->n * p->k * p->batch, flop = 2.0 * CUBE * CUBE * CUBE;
    double each = p->batch / 1e3 / sizes->share;
    terms[PRODUCTS] = blocks * flop / 1e6 / sizes->busy / mflop_us;
    terms[TRAFFIC] = operand_blocks(p, sizes->blocks) * p->batch * 2 * CUBE * CUBE / 1e6;
    terms[TRAFFIC] *= bytes_scale;
    terms[RESULT_BLOCKS] = p->m * p->n * each;
    terms[OPERAND_BLOCKS] = p->k * (p->m + p->n) * each;
}

static void fill_indices(const struct operator_call *call, const struct call_sizes *sizes,
                         double terms[CALL_TERMS])
{
    bool scatters = has(call, "Segment");
    if (call->input_count < 2 || !(scatters || has(call, "Gather")))
        return;
    double out = 0;
    for (int i = 0; i < call->output_count; i++)
        out = fmax(out, elements(&call->outputs[i]));
    if (scatters)
        out = fmax(out, elements(&call->inputs[0]));
    terms[INDICES] = elements(&call->inputs[1]) / 1e3 / sizes->share;
    terms[INDEXED_BYTES] = 4 * out / 1e5 / sizes->share;
    terms[ELEMENTS] = 0;
}

static double outer_gbps(const struct hardware *hw)
{
    double most = 0;
    for (int b = 0; b < hw->bus_count; b++)
        for (int n = 0; n < hw->buses[b].sharers; n++)
            most = fmax(most, (double)hw->buses[b].total_bytes_per_s[n] / 1e9);
    return most > 0 ? most : reference_gbps;
}

void call_fill_terms(const struct operator_call *call, const struct call_sizes *sizes,
                     const struct hardware *hw, double terms[CALL_TERMS])
{
    double rows = 0, odd = 0, clock = reference_mhz * 1e6 / (double)hw->clock_hz;
    double bytes_scale = reference_gbps / outer_gbps(hw);
    double mflop_us = hardware_matrix_peak(hw, DTYPE_F16) / 1e12;
    memset(terms, 0, CALL_TERMS * sizeof *terms);
    terms[LAUNCH] = 1;
    terms[CORES] = fmin(sizes->blocks, hw->cores);
    terms[TENSORS] = call->input_count + call->output_count - 1;
    terms[MEGABYTES] = sizes->bytes / 1e6 * bytes_scale;
    terms[BEYOND_CACHE] = fmax(sizes->bytes - 16e6, 0) / 1e6 * bytes_scale;
    terms[ELEMENTS] = sizes->largest / 1e3 / sizes->busy * clock;
    terms[CORE_BYTES] = sizes->bytes / 1e5 / sizes->busy * clock;
    if (is_by_rows(call))
        for (int i = 0; i < call->input_count + call->output_count; i++)
            add_rows(&call->inputs[i], &rows, &odd);
    terms[ROWS] = rows / 1e3 / sizes->share * clock;
    terms[ODD_ROWS] = odd / 1e3 / sizes->share * clock;
    fill_indices(call, sizes, terms);
    if (sizes->product.m > 0)
        fill_product(&sizes->product, sizes, mflop_us > 0 ? mflop_us : reference_mflop_us,
                     bytes_scale, terms);
}

/* ------------------------------------------------------------------ kinds */

void call_kinds(const struct operator_call *call, const struct call_sizes *sizes,
                char kinds[CALL_LEVELS][CALL_KIND_SIZE])
{
    static const char *const cube[] = {"Conv2DBackpropFilter", "Conv2DBackpropInput",
                                       "FusedDbnDw",           "Conv2D",
                                       "BatchMatMul",          "MatMul"};
    const char *first = call->op_type;
    if (strncmp(first, "FusionOp_", 9) == 0)
        first += 9;
    int length = (int)strcspn(first, "_");
    for (size_t i = sizeof cube / sizeof *cube; i-- > 0;)
        if (has(call, cube[i])) {
            first = cube[i];
            length = (int)strlen(first);
        }
    snprintf(kinds[0], CALL_KIND_SIZE, "%s", call->op_type);
    snprintf(kinds[1], CALL_KIND_SIZE, "~%.*s", length, first);
    snprintf(kinds[2], CALL_KIND_SIZE, sizes->product.m > 0 ? "*cube" : "*vector");
}
