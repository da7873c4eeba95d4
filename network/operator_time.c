/* A call takes what the law of its kind says, times what trees say of such calls
 * (core/correction.h). Both are learned and stand in NAME.network.json beside the chip's
 * description; without that file, or where it is another chip's, the law has the expected costs and
 * the interval is a factor of two to either side. Errors of one network's calls go together, but
 * not in step: of the sum of their intervals it has the share that holds four fifths of the runs
 * that were left out of training.
 *
 * The law's products are read off the layouts: an NZ result (N1, M1, 16, 16) gives m and n; a
 * filter (C1·kh·kw, Cout/16, 16, 16) k and n of a convolution, whose m is the pixels of each image
 * in blocks of 16. Expected costs are fitted to training steps on an Ascend 910
 * (docs/network-times.md); on another chip bytes scale with the outer bus, elements and rows with
 * the clock, products with the matrix unit. Blocks that are not known: one for each 2 KiB of the
 * largest tensor, of products one for each block of the result, of images one for each of them,
 * up to the cores.
 *
 * Sizes among the trees' features are base-2 logarithms of one more than they are. The kind goes in
 * as what its law says of it and by a few parts of its name, never as a column a kind, so that a
 * kind which was not learned has a place among those that were. */
#include "network/operator_time.h"

#include "formats/correction_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static bool name_has(const struct operator_call *call, const char *part)
{
    return strstr(call->op_type, part) != NULL;
}

static double elements_of(const struct operator_tensor *t)
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

static struct call_product forward_product(const struct operator_tensor *filter,
                                           const struct operator_tensor *image)
{
    return (struct call_product){pixel_blocks(image), (double)filter->size[1],
                                 (double)filter->size[0], 1};
}

static struct call_product input_gradient(const struct operator_tensor *filter,
                                          const struct operator_tensor *image)
{
    double c1 = fmax((double)image->size[1], 1);
    double window = fmax(floor((double)filter->size[0] / c1), 1);
    return (struct call_product){pixel_blocks(image), floor((double)filter->size[0] / window),
                                 (double)filter->size[1] * window, 1};
}

/* The gradient's image is the smallest of the inputs that has the filter's channels; what is there
 * once for all images is none (statistics of FusedDbnDw). */
static struct call_product filter_gradient(const struct operator_call *call,
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

static struct call_product convolution_product(const struct operator_call *call)
{
    const struct call_product none = {0, 0, 0, 0};
    if (name_has(call, "Conv2DBackpropFilter") || name_has(call, "FusedDbnDw")) {
        const struct operator_tensor *f =
            operator_tensor_find(call->outputs, call->output_count, FORMAT_Z, 4);
        return f ? filter_gradient(call, f) : none;
    }
    const struct operator_tensor *f =
        operator_tensor_find(call->inputs, call->input_count, FORMAT_Z, 4);
    const struct operator_tensor *image =
        operator_tensor_find(call->outputs, call->output_count, FORMAT_NC1HWC0, 5);
    if (!f || !image)
        return none;
    return name_has(call, "Conv2DBackpropInput") ? input_gradient(f, image)
                                                 : forward_product(f, image);
}

static struct call_product matmul_product(const struct operator_call *call)
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
    p.k = blocks_of(elements_of(&call->inputs[0]) / fmax(p.batch * height, 1));
    return p;
}

static struct call_product product_of(const struct operator_call *call)
{
    struct call_product p = {0, 0, 0, 0};
    if (name_has(call, "Conv2D") || name_has(call, "FusedDbnDw"))
        p = convolution_product(call);
    else if (name_has(call, "MatMul"))
        p = matmul_product(call);
    bool real = p.m >= 1 && p.n >= 1 && p.k >= 1 && p.batch >= 1;
    return real ? p : (struct call_product){0, 0, 0, 0};
}

/* ------------------------------------------------------------------ sizes */

static bool is_slice(const struct operator_call *call)
{
    return strcmp(call->op_type, "StridedSlice") == 0 || strcmp(call->op_type, "Slice") == 0 ||
           strcmp(call->op_type, "Split") == 0 || name_has(call, "Gather");
}

/* The largest of the tensors from `first` on: inputs stand before outputs. */
static void largest_of(const struct operator_call *call, int first, double *most, double *bytes,
                       double *largest_bytes)
{
    *most = *bytes = *largest_bytes = 0;
    for (int i = first; i < call->input_count + call->output_count; i++) {
        *most = fmax(*most, elements_of(&call->inputs[i]));
        *bytes += (double)call->inputs[i].bytes;
        *largest_bytes = fmax(*largest_bytes, (double)call->inputs[i].bytes);
    }
}

/* What the blocks of a product divide: the images of a convolution, else the outermost dimension
 * of its largest tensor; 0 of what is added up over it. */
static double outer_units(const struct operator_call *call)
{
    const struct operator_tensor *largest = NULL;
    bool images = name_has(call, "Conv2D");
    if (name_has(call, "Filter") || name_has(call, "FusedDbnDw"))
        return 0;
    for (int i = 0; i < call->input_count + call->output_count; i++) {
        const struct operator_tensor *t = &call->inputs[i];
        if (t->rank > 0 && (!images || t->rank == 5) &&
            (!largest || elements_of(t) > elements_of(largest)))
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
        if (name_has(call, parts[i]))
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
    double count = elements_of(t) / (double)t->size[rank - 1];
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
    bool scatters = name_has(call, "Segment");
    if (call->input_count < 2 || !(scatters || name_has(call, "Gather")))
        return;
    double out = 0;
    for (int i = 0; i < call->output_count; i++)
        out = fmax(out, elements_of(&call->outputs[i]));
    if (scatters)
        out = fmax(out, elements_of(&call->inputs[0]));
    terms[INDICES] = elements_of(&call->inputs[1]) / 1e3 / sizes->share;
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
        if (name_has(call, cube[i])) {
            first = cube[i];
            length = (int)strlen(first);
        }
    snprintf(kinds[0], CALL_KIND_SIZE, "%s", call->op_type);
    snprintf(kinds[1], CALL_KIND_SIZE, "~%.*s", length, first);
    snprintf(kinds[2], CALL_KIND_SIZE, sizes->product.m > 0 ? "*cube" : "*vector");
}

/* ------------------------------------------------------------------ features of tensors */

static void put_feature(struct features *f, const char *name, double value)
{
    if (f->count < FEATURES_MAX) {
        snprintf(f->name[f->count], FEATURE_NAME_SIZE, "%s", name);
        f->value[f->count++] = value;
    }
}

static double logarithm(double size)
{
    return log2(1 + fmax(size, 0));
}

static double last_size(const struct operator_tensor *t)
{
    return t->rank > 0 ? (double)t->size[t->rank - 1] : 0;
}

/* Elements beneath the outermost dimension, which a batch does not change. */
static double inner_elements(const struct operator_tensor *t)
{
    return t->rank > 0 && t->size[0] > 0 ? elements_of(t) / (double)t->size[0] : 1;
}

static double pixels_of(const struct operator_tensor *t)
{
    return t->format == FORMAT_NC1HWC0 && t->rank == 5 ? (double)t->size[2] * (double)t->size[3]
                                                       : 0;
}

struct summary {
    int count, big, scalars, formats[FORMAT_COUNT];
    double bytes_in, bytes_out, most_in, most_out, least_last;
    const struct operator_tensor *largest;
};

static void summarise(const struct operator_call *call, struct summary *s)
{
    *s = (struct summary){.count = call->input_count + call->output_count};
    for (int i = 0; i < s->count; i++) {
        const struct operator_tensor *t = &call->inputs[i];
        double all = elements_of(t);
        bool in = i < call->input_count;
        *(in ? &s->bytes_in : &s->bytes_out) += (double)t->bytes;
        *(in ? &s->most_in : &s->most_out) = fmax(in ? s->most_in : s->most_out, all);
        if (!s->largest || all > elements_of(s->largest))
            s->largest = t;
        if (all > 64 && (s->least_last <= 0 || last_size(t) < s->least_last))
            s->least_last = last_size(t);
        s->scalars += all <= 1;
        s->formats[t->format]++;
    }
    for (int i = 0; i < s->count; i++)
        s->big += elements_of(&call->inputs[i]) > elements_of(s->largest) / 4;
    if (s->least_last <= 0 && s->largest)
        s->least_last = last_size(s->largest);
}

static void put_tensors(const struct operator_call *call, const struct call_sizes *sizes,
                        struct features *f)
{
    static const char *const dimensions[] = {"largest 0", "largest 1", "largest 2", "largest 3"};
    struct summary s;
    summarise(call, &s);
    put_feature(f, "bytes", logarithm(s.bytes_in + s.bytes_out));
    put_feature(f, "bytes in", logarithm(s.bytes_in));
    put_feature(f, "bytes out", logarithm(s.bytes_out));
    put_feature(f, "elements", logarithm(sizes->largest));
    put_feature(f, "elements a block", logarithm(sizes->largest / sizes->blocks));
    put_feature(f, "bytes an element",
                logarithm(s.bytes_in + s.bytes_out) - logarithm(sizes->largest));
    put_feature(f, "out over in", log2((s.most_out + 1) / (s.most_in + 1)));
    put_feature(f, "tensors", s.count);
    put_feature(f, "inputs", call->input_count);
    put_feature(f, "big tensors", s.big);
    put_feature(f, "scalars", s.scalars);
    put_feature(f, "least last", logarithm(s.least_last));
    put_feature(f, "least last of 16", fmod(s.least_last, 16));
    for (int i = 0; i < 4; i++)
        put_feature(f, dimensions[i],
                    s.largest && i < s.largest->rank ? logarithm((double)s.largest->size[i]) : 0);
    put_feature(f, "inner elements", s.largest ? logarithm(inner_elements(s.largest)) : 0);
    put_feature(f, "pixels", s.largest ? pixels_of(s.largest) : 0);
    put_feature(f, "pixels of 16", s.largest ? fmod(pixels_of(s.largest), 16) : 0);
    put_feature(f, "rank", s.largest ? s.largest->rank : 0);
    put_feature(f, "element bytes", s.largest ? dtype_bytes(s.largest->type) : 0);
    put_feature(f, "nz", (double)s.formats[FORMAT_NZ] / fmax(s.count, 1));
    put_feature(f, "nc1hwc0", (double)s.formats[FORMAT_NC1HWC0] / fmax(s.count, 1));
    put_feature(f, "z", (double)s.formats[FORMAT_Z] / fmax(s.count, 1));
}

/* The first two inputs and the first output. */
static void put_first(const struct operator_call *call, struct features *f)
{
    const struct operator_tensor none = {.format = FORMAT_ND};
    const struct operator_tensor *a = call->input_count > 0 ? &call->inputs[0] : &none;
    const struct operator_tensor *b = call->input_count > 1 ? &call->inputs[1] : &none;
    const struct operator_tensor *c = call->output_count > 0 ? &call->outputs[0] : &none;
    put_feature(f, "first input", logarithm(elements_of(a)));
    put_feature(f, "second input", b == &none ? 0 : logarithm(elements_of(b)));
    put_feature(f, "input bytes", a == &none ? 0 : dtype_bytes(a->type));
    put_feature(f, "output bytes", c == &none ? 0 : dtype_bytes(c->type));
    put_feature(f, "input last", logarithm(last_size(a)));
    put_feature(f, "output last", logarithm(last_size(c)));
    put_feature(f, "input turned",
                a->rank >= 4 && c->rank >= 4 && a->size[a->rank - 3] != c->size[c->rank - 3]);
    put_feature(f, "second turned",
                b->rank >= 4 && c->rank >= 4 && b->size[b->rank - 4] != c->size[c->rank - 4]);
}

/* ------------------------------------------------------------------ features of products */

/* How often 2 divides a count of blocks, up to 10. */
static int twos(double count)
{
    int power = 0;
    while (power < 10 && count >= 1 && fmod(count, 2) == 0) {
        count /= 2;
        power++;
    }
    return power;
}

/* The share of a last round of blocks that is empty. */
static double idle_share(double count, int blocks)
{
    double left = fmod(count, blocks);
    return left > 0 ? (blocks - left) / blocks : 0;
}

static void put_product(const struct call_sizes *sizes, struct features *f)
{
    const struct call_product *p = &sizes->product;
    double all = p->m * p->n * p->k * p->batch;
    put_feature(f, "m", logarithm(p->m));
    put_feature(f, "n", logarithm(p->n));
    put_feature(f, "k", logarithm(p->k));
    put_feature(f, "batch", logarithm(p->batch));
    put_feature(f, "twos of m", twos(p->m));
    put_feature(f, "twos of n", twos(p->n));
    put_feature(f, "twos of k", twos(p->k));
    put_feature(f, "idle by m", idle_share(p->m, sizes->blocks));
    put_feature(f, "idle by n", idle_share(p->n, sizes->blocks));
    put_feature(f, "products", logarithm(all));
    put_feature(f, "products a block", logarithm(all / sizes->blocks));
    put_feature(f, "results a block", logarithm(p->m * p->n / sizes->blocks));
    put_feature(f, "products a byte", log2((all + 1) / (sizes->bytes + 1)));
}

/* ------------------------------------------------------------------ all features */

static void put_kind(const struct operator_call *call, const struct trained_law *known,
                     struct features *f)
{
    static const char *const parts[] = {"Grad",     "Backprop", "Filter", "Conv2D", "MatMul",
                                        "FusionOp", "AddN",     "Re",     "GeLU",   "Softmax"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_feature(f, parts[i], strstr(call->op_type, parts[i]) != NULL);
    put_feature(f, "law's rows", known ? (double)known->rows : 0);
    put_feature(f, "law's spread", known ? known->spread : 0);
    put_feature(f, "law's lean", known ? known->lean : 0);
}

void call_features(const struct operator_call *call, const struct call_sizes *sizes,
                   const double terms[CALL_TERMS], double law_us, const struct trained_law *known,
                   struct features *features)
{
    char name[FEATURE_NAME_SIZE];
    features->count = 0;
    put_feature(features, "law", log(law_us));
    put_feature(features, "blocks", sizes->blocks);
    put_feature(features, "share", sizes->share);
    put_feature(features, "busy", sizes->busy / sizes->share);
    for (int t = 1; t < CALL_TERMS; t++) {
        snprintf(name, sizeof name, "%s of law", call_terms[t].name);
        put_feature(features, name, log(terms[t] / law_us + 1e-4));
    }
    put_tensors(call, sizes, features);
    put_first(call, features);
    put_product(sizes, features);
    put_kind(call, known, features);
}

/* ------------------------------------------------------------------ times */

enum { NS_PER_US = 1000 };

double call_law_us(const struct operator_call *call, const struct call_sizes *sizes,
                   const struct correction *learned, const double terms[CALL_TERMS],
                   const struct trained_law **known)
{
    char kinds[CALL_LEVELS][CALL_KIND_SIZE];
    double us = 0;
    *known = NULL;
    call_kinds(call, sizes, kinds);
    for (int level = 0; learned && level < CALL_LEVELS && !*known; level++)
        *known = correction_law(learned, kinds[level]);
    for (int t = 0; t < CALL_TERMS; t++)
        us += terms[t] * (*known ? (*known)->costs_us[t] : call_terms[t].expected_us);
    return fmax(us, CALL_LEAST_US);
}

/* Moves both ends of an interval apart, or together, by so much of ln, but not past the middle. */
static void corrected_widen(struct corrected *corrected, double margin)
{
    corrected->low_ns = fmin(corrected->low_ns * exp(-margin), corrected->corrected_ns);
    corrected->high_ns = fmax(corrected->high_ns * exp(margin), corrected->corrected_ns);
}

static struct operator_time time_of(const struct operator_call *call, const struct hardware *hw,
                                    const struct correction *learned)
{
    struct call_sizes sizes;
    struct features features;
    struct corrected corrected;
    const struct trained_law *known;
    double terms[CALL_TERMS];
    call_measure(call, hw, &sizes);
    call_fill_terms(call, &sizes, hw, terms);
    double us = call_law_us(call, &sizes, learned, terms, &known), ns = us * NS_PER_US;
    if (!known)
        return (struct operator_time){ns, ns / 2, ns * 2, 1, false};
    call_features(call, &sizes, terms, us, known, &features);
    correction_apply(learned, &features, ns, &corrected);
    if (strcmp(known->kind, call->op_type) != 0)
        corrected_widen(&corrected, learned->margin_unknown - learned->margin);
    return (struct operator_time){corrected.corrected_ns, corrected.low_ns, corrected.high_ns,
                                  learned->together, true};
}

static enum status check_costs(const char *file, const struct correction *learned,
                               struct error *error)
{
    for (int i = 0; i < learned->law_count; i++)
        if (learned->laws[i].term_count != CALL_TERMS)
            return error_at(error, file, 0, "laws[%d].costs_us: expected %d costs", i, CALL_TERMS);
    return STATUS_OK;
}

enum status operator_times_open(const struct hardware *hw, struct correction *learned,
                                struct error *error)
{
    char file[sizeof hw->file + sizeof NETWORK_SUFFIX];
    *learned = (struct correction){0};
    if (!network_file_name(hw->file, file, sizeof file) || access(file, F_OK) != 0)
        return STATUS_OK;
    TRY(correction_read(file, learned, error));
    enum status status = check_costs(file, learned, error);
    if (status != STATUS_OK || strcmp(learned->chip, hw->name) != 0)
        correction_clear(learned);
    return status;
}

enum status operator_times(const struct network *network, const struct hardware *hw,
                           struct operator_time *times, struct error *error)
{
    struct correction learned;
    TRY(operator_times_open(hw, &learned, error));
    memset(times, 0, (size_t)network->call_count * sizeof *times);
    for (int64_t i = 0; i < network->call_count; i++)
        if (!network->calls[i].uncovered)
            times[i] = time_of(&network->calls[i], hw, &learned);
    correction_clear(&learned);
    return STATUS_OK;
}

struct operator_time network_interval(const struct network *network,
                                      const struct operator_time *times)
{
    struct operator_time sum = {.together = 1};
    double below = 0, above = 0;
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_time *t = &times[i];
        double count = (double)network->calls[i].count;
        sum.is_learned |= t->is_learned;
        sum.predicted_ns += count * t->predicted_ns;
        below += count * t->together * (t->predicted_ns - t->low_ns);
        above += count * t->together * (t->high_ns - t->predicted_ns);
    }
    sum.low_ns = fmax(sum.predicted_ns - below, 0);
    sum.high_ns = sum.predicted_ns + above;
    return sum;
}
