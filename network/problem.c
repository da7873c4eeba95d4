/* Which sizes hold the batch is not written in a table of calls. What tells:
 *
 * - Weights: what optimisers work on, the second operand of a product and its bias, and the results
 *   of a product whose first operand is transposed, which is a weight's gradient. A tensor of the
 *   layout and sizes of a weight stays as it is, and so does a filter.
 * - Products: the rows of the first operand and of what is laid out as the result scale; of a
 *   weight's gradient the rows of both operands.
 * - All others: a first size that is the batch; rows of matrices and lengths of vectors that are
 *   among the batch's row counts: the batch, rows of products, and of N x S x H tensors N times S.
 *   Vectors of a bit for each element of another tensor of the call (masks) scale with it.
 *
 * Rows in blocks of 16 hold the batch where it, or a multiple of it, fills them but for padding.
 * How well this does on published runs is in docs/network.md.
 *
 * Kinds that multiply are problems of `--op matmul`, convolutions of `--kernel conv2d`, and of
 * matmul where a filter of one tap sees every pixel once: then pixels are rows of A. What is fused
 * with them (FusionOp_KIND_...) is left out.
 *
 * Of a product, M, N and the batch are the result's; K is what both operands agree on, whichever
 * way round they lie, as they stand first. A matrix in blocks, [.., N/16, M/16, 16, 16], is read as
 * the matrix that it holds.
 *
 * A filter in blocks says how many taps it has, kh*kw, not how they lie, and a table of calls says
 * no stride. Both are what the images' sizes leave: a kernel that is square where one fits, with
 * the least padding, of at most half a kernel, or in a gradient of less than a kernel; where
 * kernels side by side cover an image (patches), these. What then is not the only way is left open.
 * Files that say how the filter moves are taken at their word. Kernels and strides are searched up
 * to what the loads of these chips have (LOAD3D: 255, 63). */
#include "network/problem.h"

#include "network/network.h"
#include "network/operator_time.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ products */

struct matrix {
    int64_t batch, rows, columns;
};

static bool read_matrix(const struct operator_tensor *tensor, struct matrix *matrix)
{
    const int64_t *size = tensor->size;
    bool blocks = tensor->format == FORMAT_NZ;
    int rank = tensor->rank, own = blocks ? 4 : 2;
    if ((!blocks && tensor->format != FORMAT_ND) || rank < own ||
        operator_tensor_elements(tensor) == 0)
        return false;
    *matrix = (struct matrix){1, blocks ? size[rank - 3] * size[rank - 2] : size[rank - 2],
                              blocks ? size[rank - 4] * size[rank - 1] : size[rank - 1]};
    for (int d = 0; d < rank - own; d++)
        matrix->batch *= size[d];
    return true;
}

bool call_product(const struct operator_call *call, struct product *product)
{
    struct matrix a, b, c;
    if (call->input_count < 2 || call->output_count < 1 || !read_matrix(&call->inputs[0], &a) ||
        !read_matrix(&call->inputs[1], &b) || !read_matrix(&call->outputs[0], &c) ||
        call->inputs[0].type != call->inputs[1].type || a.batch != c.batch ||
        (b.batch != c.batch && b.batch != 1))
        return false;
    for (int way = 0; way < 4; way++) {
        bool ta = way & 1, tb = way & 2;
        int64_t k = ta ? a.rows : a.columns;
        if ((ta ? a.columns : a.rows) != c.rows || (tb ? b.rows : b.columns) != c.columns ||
            (tb ? b.columns : b.rows) != k)
            continue;
        *product = (struct product){.m = c.rows,
                                    .k = k,
                                    .n = c.columns,
                                    .batch = c.batch,
                                    .transpose_a = ta,
                                    .transpose_b = tb,
                                    .share_b = b.batch == 1 && c.batch > 1,
                                    .type = call->inputs[0].type,
                                    .result = call->outputs[0].type};
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ convolutions */

enum { BLOCK = 16, MAX_KERNEL = 255, MAX_STRIDE = 63, AXES = 2 };

struct sides {
    int64_t in[AXES], out[AXES]; /* rows and columns of both images */
};

static bool leave_open(char why[PROBLEM_WHY_SIZE], const char *text)
{
    snprintf(why, PROBLEM_WHY_SIZE, "%s", text);
    return false;
}

static bool read_images(const struct operator_call *call, bool is_gradient, struct convolution *c,
                        struct sides *sides, int64_t *taps, char why[PROBLEM_WHY_SIZE])
{
    const struct operator_tensor *f =
        operator_tensor_find(call->inputs, call->input_count, FORMAT_Z, 4);
    const struct operator_tensor *x =
        operator_tensor_find(call->inputs, call->input_count, FORMAT_NC1HWC0, 5);
    const struct operator_tensor *y =
        operator_tensor_find(call->outputs, call->output_count, FORMAT_NC1HWC0, 5);
    if (!f || !x || !y || operator_tensor_elements(f) == 0 || operator_tensor_elements(x) == 0 ||
        operator_tensor_elements(y) == 0)
        return leave_open(why, "its tensors are not images NC1HWC0 and a filter FRACTAL_Z");
    int64_t c1 = is_gradient ? y->size[1] : x->size[1];
    if (f->size[0] % c1 || f->size[1] != (is_gradient ? x->size[1] : y->size[1]) ||
        f->size[2] != BLOCK || f->size[3] != BLOCK || x->size[4] != BLOCK || y->size[4] != BLOCK ||
        x->size[0] != y->size[0] || x->type != f->type)
        return leave_open(why, "its filter is not that of its images' channels, in one group");
    *taps = f->size[0] / c1;
    memcpy(sides->in, &x->size[2], sizeof sides->in);
    memcpy(sides->out, &y->size[2], sizeof sides->out);
    *c = (struct convolution){.batch = x->size[0],
                              .height = y->size[2],
                              .width = y->size[3],
                              .in_channels = BLOCK * x->size[1],
                              .out_channels = BLOCK * y->size[1],
                              .type = x->type,
                              .result = y->type};
    return true;
}

/* ------------------------------------------------------------------ how the filter moves */

/* The least padding with which a kernel of this stride fits along an axis; -1: none does. */
static int64_t padding_of(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t most)
{
    int64_t beyond = stride * (out - 1) + kernel - in, padding = beyond > 0 ? (beyond + 1) / 2 : 0;
    return padding <= most && 2 * padding - beyond < stride ? padding : -1;
}

/* Fills the padding of both axes. */
static bool fits_both_axes(const struct sides *sides, bool is_gradient, int64_t stride,
                           struct call_window *window)
{
    for (int a = 0; a < AXES; a++) {
        int64_t kernel = window->kernel[a], most = is_gradient ? kernel - 1 : kernel / 2;
        window->stride[a] = stride;
        window->dilation[a] = 1;
        window->padding[a] = padding_of(sides->in[a], sides->out[a], kernel, stride, most);
        if (window->padding[a] < 0)
            return false;
    }
    return true;
}

struct ways {
    struct call_window window; /* the first way */
    int count;
    char text[96]; /* "1x7 stride 1 or 7x1 stride 1" */
};

static void try_kernel(const struct sides *sides, bool is_gradient, int64_t high, int64_t wide,
                       struct ways *ways)
{
    bool is_point = sides->out[0] == 1 && sides->out[1] == 1; /* of any stride */
    bool is_patch = high == wide && high <= MAX_STRIDE && sides->out[0] * high == sides->in[0] &&
                    sides->out[1] * wide == sides->in[1];
    int64_t first = is_patch && !is_gradient ? high : 1;
    int64_t last = is_gradient ? 1 : is_patch ? high : MAX_STRIDE;
    for (int64_t stride = first; stride <= last; stride++) {
        struct call_window window = {.kernel = {high, wide}};
        if (!fits_both_axes(sides, is_gradient, stride, &window) || (is_point && ways->count))
            continue;
        if (ways->count++ == 0)
            ways->window = window;
        size_t used = strlen(ways->text);
        snprintf(ways->text + used, sizeof ways->text - used, "%s%lldx%lld stride %lld",
                 used ? " or " : "", (long long)high, (long long)wide, (long long)stride);
    }
}

static bool find_window(const struct sides *sides, bool is_gradient, int64_t taps,
                        struct call_window *window, char why[PROBLEM_WHY_SIZE])
{
    struct ways ways = {0};
    for (int64_t k = 1; k <= MAX_KERNEL; k++)
        if (k * k == taps)
            try_kernel(sides, is_gradient, k, k, &ways);
    for (int64_t k = 1; k <= MAX_KERNEL && ways.count == 0; k++)
        if (taps % k == 0 && k * k < taps && taps / k <= MAX_KERNEL) {
            try_kernel(sides, is_gradient, k, taps / k, &ways);
            try_kernel(sides, is_gradient, taps / k, k, &ways);
        }
    *window = ways.window;
    if (ways.count == 1)
        return true;
    if (ways.count == 0)
        return leave_open(why, is_gradient
                                   ? "the gradient of no convolution of stride 1"
                                   : "no kernel, stride and padding leave an image of its size");
    snprintf(why, PROBLEM_WHY_SIZE, "a kernel of %lld taps may be %s", (long long)taps, ways.text);
    return false;
}

/* ------------------------------------------------------------------ as conv2d says it */

static int64_t rest_of(const struct sides *sides, const struct call_window *w, int axis)
{
    int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1;
    return sides->in[axis] + 2 * w->padding[axis] - reach -
           w->stride[axis] * (sides->out[axis] - 1);
}

bool call_convolution(const struct operator_call *call, bool is_gradient, struct convolution *c,
                      char why[PROBLEM_WHY_SIZE])
{
    struct sides sides;
    struct call_window w = call->window;
    int64_t taps;
    if (!read_images(call, is_gradient, c, &sides, &taps, why))
        return false;
    if (w.kernel[0] == 0 && !find_window(&sides, is_gradient, taps, &w, why))
        return false;
    if (w.kernel[0] * w.kernel[1] != taps || w.groups > 1)
        return leave_open(why, "its filter is not that of its images' channels, in one group");
    if (w.stride[0] != w.stride[1] || w.dilation[0] != w.dilation[1] ||
        w.padding[0] != w.padding[1] || rest_of(&sides, &w, 0) != rest_of(&sides, &w, 1)) {
        snprintf(why, PROBLEM_WHY_SIZE,
                 "a kernel of %lldx%lld moves over rows otherwise than over columns",
                 (long long)w.kernel[0], (long long)w.kernel[1]);
        return false;
    }
    memcpy(c->kernel, w.kernel, sizeof c->kernel);
    c->stride = w.stride[0];
    c->dilation = w.dilation[0];
    c->padding = w.padding[0];
    c->rest = rest_of(&sides, &w, 0);
    return c->rest >= 0 || leave_open(why, "more padding behind an image than before it");
}

/* ------------------------------------------------------------------ problems */

__attribute__((format(printf, 3, 4))) static void
add_setting(struct call_problem *problem, const char *name, const char *format, ...)
{
    struct problem_setting *setting = &problem->settings[problem->setting_count++];
    va_list list;
    setting->name = name;
    va_start(list, format);
    vsnprintf(setting->text, sizeof setting->text, format, list);
    va_end(list);
}

static void describe_product(const struct product *p, struct call_problem *problem)
{
    static const char *const transposes[] = {"none", "a", "b", "both"};
    add_setting(problem, "op", "matmul");
    add_setting(problem, "shape", "%lldx%lldx%lld", (long long)p->m, (long long)p->k,
                (long long)p->n);
    add_setting(problem, "batch", "%lld", (long long)p->batch);
    add_setting(problem, "dtype", "%s", dtype_name(p->type));
    add_setting(problem, "out-type", "%s", p->result == p->type ? "same" : dtype_name(p->result));
    add_setting(problem, "transpose", "%s", transposes[p->transpose_a + 2 * p->transpose_b]);
    add_setting(problem, "share-b", "%s", p->share_b ? "yes" : "no");
}

static void find_product(const struct operator_call *call, struct call_problem *problem)
{
    struct product product;
    if (call_product(call, &product))
        describe_product(&product, problem);
    else
        snprintf(problem->why, sizeof problem->why, "its tensors are not those of a product");
}

static void describe_convolution(const struct convolution *c, struct call_problem *problem)
{
    add_setting(problem, "kernel", "conv2d");
    add_setting(problem, "shape", "%lldx%lldx%lldx%lldx%lldx%lld", (long long)c->height,
                (long long)c->width, (long long)c->kernel[0], (long long)c->kernel[1],
                (long long)c->in_channels, (long long)c->out_channels);
    add_setting(problem, "stride", "%lld", (long long)c->stride);
    add_setting(problem, "padding", "%lld", (long long)c->padding);
    add_setting(problem, "dilation", "%lld", (long long)c->dilation);
    add_setting(problem, "batch", "%lld", (long long)c->batch);
    add_setting(problem, "rest", "%lld", (long long)c->rest);
}

static void find_convolution(const struct operator_call *call, bool is_gradient,
                             struct call_problem *problem)
{
    struct convolution c;
    if (!call_convolution(call, is_gradient, &c, problem->why))
        return;
    bool all_once = c.kernel[0] * c.kernel[1] == 1 && c.stride == 1 && !c.padding && !c.rest;
    if (all_once)
        describe_product(&(struct product){.m = c.batch * c.height * c.width,
                                           .k = c.in_channels,
                                           .n = c.out_channels,
                                           .batch = 1,
                                           .type = c.type,
                                           .result = c.result},
                         problem);
    else if (c.type != DTYPE_F16 || c.result != DTYPE_F16)
        snprintf(problem->why, sizeof problem->why, "from %s to %s, expected f16",
                 dtype_name(c.type), dtype_name(c.result));
    else
        describe_convolution(&c, problem);
}

static void find_forward(const struct operator_call *call, struct call_problem *problem)
{
    find_convolution(call, false, problem);
}

static void find_gradient(const struct operator_call *call, struct call_problem *problem)
{
    find_convolution(call, true, problem);
}

/* ------------------------------------------------------------------ kinds */

static const struct kind {
    const char *op_type;
    void (*find)(const struct operator_call *call, struct call_problem *problem);
} kinds[] = {
    {"MatMul", find_product},
    {"MatMulV2", find_product},
    {"MatMulV3", find_product},
    {"MatMulCommon", find_product},
    {"BatchMatMul", find_product},
    {"BatchMatMulV2", find_product},
    {"BatchMatMulV3", find_product},
    {"GEMM", find_product},
    {"Conv2D", find_forward},
    {"Conv2DBackpropInput", find_gradient},
    {"Conv2DBackpropInputD", find_gradient},
};

static const struct kind *find_kind(const char *type)
{
    static const char *const fused = "FusionOp_";
    bool is_fused = strncmp(type, fused, strlen(fused)) == 0;
    type += is_fused ? strlen(fused) : 0;
    size_t length = is_fused ? strcspn(type, "_") : strlen(type);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].op_type) == length && strncasecmp(kinds[i].op_type, type, length) == 0)
            return &kinds[i];
    return NULL;
}

static bool call_multiplies(const struct operator_call *call)
{
    const struct kind *kind = find_kind(call->op_type);
    return kind && kind->find == find_product;
}

bool call_find_problem(const struct operator_call *call, struct call_problem *problem)
{
    const struct kind *kind = find_kind(call->op_type);
    if (!kind)
        return false;
    *problem = (struct call_problem){0};
    kind->find(call, problem);
    return true;
}

enum { BITS = 8, MOST_BLOCKS = 1 << 20 };

struct rule {
    int64_t batch, to;
    const struct operator_tensor **weights; /* sorted */
    int64_t *rows;                          /* sorted */
    int64_t weight_count, row_count;
    int64_t exact; /* sizes that were scaled and are without padding */
};

/* ------------------------------------------------------------------ sorted lists */

static int compare_tensors(const void *left, const void *right)
{
    const struct operator_tensor *a = *(const struct operator_tensor *const *)left,
                                 *b = *(const struct operator_tensor *const *)right;
    if (a->format != b->format)
        return a->format < b->format ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank - b->rank;
    for (int d = 0; d < a->rank; d++)
        if (a->size[d] != b->size[d])
            return a->size[d] < b->size[d] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool is_weight(const struct rule *rule, const struct operator_tensor *tensor)
{
    return bsearch(&tensor, rule->weights, (size_t)rule->weight_count, sizeof(const void *),
                   compare_tensors) != NULL;
}

static bool has_rows(const struct rule *rule, int64_t rows)
{
    return bsearch(&rows, rule->rows, (size_t)rule->row_count, sizeof rows, compare_rows) != NULL;
}

/* ------------------------------------------------------------------ what calls tell */

static bool is_optimiser(const struct operator_call *call)
{
    static const char *const parts[] = {"Apply", "Assign", "Adam", "Lamb", "Momentum", "SGD"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call->op_type, parts[i]))
            return true;
    return false;
}

/* A product of which all samples are in one matrix. */
static bool is_matrix_product(const struct operator_call *call, struct product *product)
{
    return call_multiplies(call) && call_product(call, product) && product->batch == 1;
}

/* Where a matrix has its rows; negative: it is none. */
static int row_place(const struct operator_tensor *tensor)
{
    if (tensor->format == FORMAT_NZ)
        return tensor->rank - 3;
    return tensor->format == FORMAT_ND && tensor->rank > 1 ? tensor->rank - 2 : -1;
}

static int64_t row_count(const struct operator_tensor *tensor)
{
    int place = row_place(tensor);
    return place < 0 ? 0 : tensor->size[place] * (tensor->format == FORMAT_NZ ? BLOCK : 1);
}

static void add_weights(struct rule *rule, const struct operator_tensor *tensors, int count)
{
    for (int t = 0; t < count; t++)
        rule->weights[rule->weight_count++] = &tensors[t];
}

static void learn_product(struct rule *rule, const struct operator_call *call,
                          const struct product *product)
{
    rule->rows[rule->row_count++] = row_count(&call->inputs[0]);
    if (product->transpose_a) {
        add_weights(rule, call->outputs, call->output_count);
        return;
    }
    add_weights(rule, &call->inputs[1], 1);
    for (int t = 2; t < call->input_count; t++)
        add_weights(rule, &call->inputs[t], call->inputs[t].rank == 1);
}

static void learn_call(struct rule *rule, const struct operator_call *call)
{
    struct product product;
    if (is_optimiser(call))
        add_weights(rule, call->inputs, call->input_count + call->output_count);
    else if (is_matrix_product(call, &product))
        learn_product(rule, call, &product);
    for (int t = 0; t < call->input_count + call->output_count; t++) {
        const struct operator_tensor *tensor = &call->inputs[t];
        if (tensor->format == FORMAT_ND && tensor->rank == 3 && tensor->size[0] == rule->batch)
            rule->rows[rule->row_count++] = tensor->size[0] * tensor->size[1];
    }
}

static enum status learn(struct rule *rule, const struct network *network, struct error *error)
{
    size_t most = 1;
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_call *call = &network->calls[i];
        most += (size_t)call->input_count + (size_t)call->output_count;
    }
    rule->weights = malloc(most * sizeof(const void *));
    rule->rows = malloc(most * sizeof *rule->rows);
    if (!rule->weights || !rule->rows)
        return error_memory(error);
    rule->rows[rule->row_count++] = rule->batch;
    for (int64_t i = 0; i < network->call_count; i++)
        learn_call(rule, &network->calls[i]);
    qsort(rule->weights, (size_t)rule->weight_count, sizeof(const void *), compare_tensors);
    qsort(rule->rows, (size_t)rule->row_count, sizeof *rule->rows, compare_rows);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ sizes */

/* A size in units of `unit`, which holds one of these a sample and padding, or so many a sample
 * that there is no padding; any other stays. One that grows beyond all tensors becomes larger than
 * any. */
static void scale(struct rule *rule, int64_t *size, int64_t unit)
{
    bool is_one = (rule->batch + unit - 1) / unit == *size;
    int64_t each = is_one ? 1 : *size * unit / rule->batch;
    if (each == 0 || (each * rule->batch + unit - 1) / unit != *size)
        return;
    rule->exact += *size * unit % rule->batch == 0;
    *size = each > TENSOR_MAX_BYTES / rule->to ? TENSOR_MAX_BYTES + 1
                                               : (each * rule->to + unit - 1) / unit;
}

static void scale_rows(struct rule *rule, struct operator_tensor *tensor)
{
    scale(rule, &tensor->size[row_place(tensor)], tensor->format == FORMAT_NZ ? BLOCK : 1);
}

static void scale_product(struct rule *rule, struct operator_call *call,
                          const struct product *product)
{
    int64_t rows = row_count(&call->outputs[0]);
    scale_rows(rule, &call->inputs[0]);
    if (product->transpose_a)
        scale_rows(rule, &call->inputs[1]);
    for (int t = 2; t < call->input_count + call->output_count && !product->transpose_a; t++)
        if (row_place(&call->inputs[t]) >= 0 && row_count(&call->inputs[t]) == rows)
            scale_rows(rule, &call->inputs[t]);
}

static bool is_mask(const struct operator_call *call, const struct operator_tensor *tensor)
{
    for (int t = 0; t < call->input_count + call->output_count; t++)
        if (tensor->rank == 1 && call->inputs[t].rank > 1 &&
            operator_tensor_elements(&call->inputs[t]) == BITS * tensor->size[0])
            return true;
    return false;
}

/* `call` still has the sizes of before, `tensor` is one of its copy's. */
static void scale_tensor(struct rule *rule, const struct operator_call *call,
                         struct operator_tensor *tensor)
{
    int rank = tensor->rank;
    if (rank == 0 || tensor->format == FORMAT_Z || tensor->format == FORMAT_OTHER ||
        is_weight(rule, tensor))
        return;
    if (tensor->format == FORMAT_NZ && rank == 4) {
        if (has_rows(rule, row_count(tensor)))
            scale_rows(rule, tensor);
    } else if (tensor->size[0] == rule->batch || (tensor->format == FORMAT_NZ && rank > 4) ||
               (rank <= 2 && has_rows(rule, tensor->size[0])) || is_mask(call, tensor)) {
        scale(rule, &tensor->size[0], 1);
    }
}

static void scale_call(struct rule *rule, const struct operator_call *call,
                       struct operator_call *copy)
{
    struct product product;
    if (is_optimiser(call))
        return;
    if (is_matrix_product(call, &product)) {
        scale_product(rule, copy, &product);
        return;
    }
    for (int t = 0; t < call->input_count + call->output_count; t++)
        scale_tensor(rule, call, &copy->inputs[t]);
}

/* ------------------------------------------------------------------ copies */

static enum status copy_call(struct rule *rule, const struct operator_call *call,
                             struct network *other, struct error *error)
{
    struct operator_call *copy;
    int tensors = call->input_count + call->output_count;
    TRY(network_add(other, call->op_type, call->name, call->input_count, call->output_count, &copy,
                    error));
    memcpy(copy->inputs, call->inputs, (size_t)tensors * sizeof *copy->inputs);
    copy->line = call->line;
    copy->block_dim = call->block_dim;
    copy->count = call->count;
    copy->count_gradients = call->count_gradients;
    copy->measured_ns = rule->to == rule->batch ? call->measured_ns : 0;
    copy->is_l_kind = call->is_l_kind;
    if (call->uncovered && !(copy->uncovered = strdup(call->uncovered)))
        return error_memory(error);
    if (rule->to == rule->batch)
        return STATUS_OK;
    scale_call(rule, call, copy);
    for (int t = 0; t < tensors; t++)
        if (!tensor_measure(&copy->inputs[t]))
            return error_set(error, STATUS_TOO_LARGE,
                             "%s: line %d: tensor %d has more than %lld bytes at batch %lld",
                             other->name, call->line, t + 1, (long long)TENSOR_MAX_BYTES,
                             (long long)rule->to);
    return STATUS_OK;
}

static enum status copy_calls(struct rule *rule, const struct network *network,
                              struct network *other, struct error *error)
{
    if (rule->to != rule->batch && rule->batch < 2)
        return error_set(error, STATUS_INVALID,
                         "%s: a batch of %lld does not tell which sizes hold it, expected a table "
                         "of 2 or more samples",
                         network->name, (long long)rule->batch);
    if (rule->to != rule->batch)
        TRY(learn(rule, network, error));
    for (int64_t i = 0; i < network->call_count; i++)
        TRY(copy_call(rule, &network->calls[i], other, error));
    if (rule->to != rule->batch && rule->exact == 0)
        return error_set(error, STATUS_INVALID,
                         "%s: no size holds a batch of %lld, expected the batch that the table is "
                         "of",
                         network->name, (long long)rule->batch);
    return STATUS_OK;
}

enum status network_at_batch(const struct network *network, int64_t batch, struct network *other,
                             struct error *error)
{
    struct rule rule = {.batch = network->batch, .to = batch};
    TRY(network_begin(network->name, other, error));
    other->batch = batch;
    enum status status = copy_calls(&rule, network, other, error);
    free(rule.weights);
    free(rule.rows);
    if (status != STATUS_OK)
        network_free(other);
    return status;
}

/* ------------------------------------------------------------------ launches */

/* As many as are taken where none are known. */
static double estimated(const struct operator_call *call, const struct hardware *hw)
{
    struct call_sizes sizes;
    struct operator_call unknown = *call;
    unknown.block_dim = 0;
    call_measure(&unknown, hw, &sizes);
    return sizes.blocks;
}

void network_relaunch(struct network *other, const struct hardware *to,
                      const struct network *network, const struct hardware *from)
{
    for (int64_t i = 0; i < network->call_count; i++) {
        const struct operator_call *call = &network->calls[i];
        struct operator_call *copy = &other->calls[i];
        double blocks = call->block_dim * estimated(copy, to) / estimated(call, from);
        if (call->block_dim > 0)
            copy->block_dim = (int)fmin(fmax(round(blocks), 1), MOST_BLOCKS);
    }
}
