/* Kinds that multiply are problems of `--op matmul`, convolutions of `--kernel conv2d`, and of
 * matmul where a filter of one tap sees every pixel once: then pixels are rows of A. What is fused
 * with them (FusionOp_KIND_...) is left out. */
#include "network/problem.h"

#include "network/convolution.h"
#include "network/product.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

__attribute__((format(printf, 3, 4))) static void set(struct call_problem *problem,
                                                      const char *name, const char *format, ...)
{
    struct problem_setting *setting = &problem->settings[problem->setting_count++];
    va_list list;
    setting->name = name;
    va_start(list, format);
    vsnprintf(setting->text, sizeof setting->text, format, list);
    va_end(list);
}

static void multiply(const struct product *p, struct call_problem *problem)
{
    static const char *const transposes[] = {"none", "a", "b", "both"};
    set(problem, "op", "matmul");
    set(problem, "shape", "%lldx%lldx%lld", (long long)p->m, (long long)p->k, (long long)p->n);
    set(problem, "batch", "%lld", (long long)p->batch);
    set(problem, "dtype", "%s", dtype_name(p->type));
    set(problem, "out-type", "%s", p->result == p->type ? "same" : dtype_name(p->result));
    set(problem, "transpose", "%s", transposes[p->transpose_a + 2 * p->transpose_b]);
    set(problem, "share-b", "%s", p->share_b ? "yes" : "no");
}

static void find_product(const struct operator_call *call, struct call_problem *problem)
{
    struct product product;
    if (call_product(call, &product))
        multiply(&product, problem);
    else
        snprintf(problem->why, sizeof problem->why, "its tensors are not those of a product");
}

/* ------------------------------------------------------------------ convolutions */

static void convolve(const struct convolution *c, struct call_problem *problem)
{
    set(problem, "kernel", "conv2d");
    set(problem, "shape", "%lldx%lldx%lldx%lldx%lldx%lld", (long long)c->height,
        (long long)c->width, (long long)c->kernel[0], (long long)c->kernel[1],
        (long long)c->in_channels, (long long)c->out_channels);
    set(problem, "stride", "%lld", (long long)c->stride);
    set(problem, "padding", "%lld", (long long)c->padding);
    set(problem, "dilation", "%lld", (long long)c->dilation);
    set(problem, "batch", "%lld", (long long)c->batch);
    set(problem, "rest", "%lld", (long long)c->rest);
}

static void find_convolution(const struct operator_call *call, bool is_gradient,
                             struct call_problem *problem)
{
    struct convolution c;
    if (!call_convolution(call, is_gradient, &c, problem->why))
        return;
    bool all_once = c.kernel[0] * c.kernel[1] == 1 && c.stride == 1 && !c.padding && !c.rest;
    if (all_once)
        multiply(&(struct product){.m = c.batch * c.height * c.width,
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
        convolve(&c, problem);
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
