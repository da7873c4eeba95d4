/* Kinds that multiply are problems of `--op matmul`, convolutions of `--kernel conv2d`, and of
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

#include <stdarg.h>
#include <stdio.h>
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

bool call_multiplies(const struct operator_call *call)
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
