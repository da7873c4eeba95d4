/* Which calls are problems of the main command. Convolutions are made of every kernel, stride and
 * padding, laid out as a library does it, and read back: what is found has to multiply as often as
 * the one that was made, counted tap by tap, and to see the same image. */
#include "network/problem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct made {
    int64_t batch, in[2], kernel[2], stride, padding, in_blocks, out_blocks;
};

static char forward[] = "Conv2D", gradient[] = "Conv2DBackpropInput",
            fused[] = "FusionOp_Conv2DBackpropInput_ReluGradV2";

struct tensors {
    struct operator_tensor list[3];
};

static int64_t out_of(const struct made *m, int axis)
{
    return (m->in[axis] + 2 * m->padding - m->kernel[axis]) / m->stride + 1;
}

static struct operator_tensor image(int64_t batch, int64_t blocks, int64_t height, int64_t width)
{
    return (struct operator_tensor){.format = FORMAT_NC1HWC0,
                                    .type = DTYPE_F16,
                                    .rank = 5,
                                    .size = {batch, blocks, height, width, 16}};
}

/* `is_gradient`: from the result's image back to the image. */
static struct operator_call call_of(const struct made *m, bool is_gradient, struct tensors *t)
{
    struct operator_tensor small = image(m->batch, m->out_blocks, out_of(m, 0), out_of(m, 1));
    struct operator_tensor large = image(m->batch, m->in_blocks, m->in[0], m->in[1]);
    t->list[0] = is_gradient ? small : large;
    t->list[1] = (struct operator_tensor){
        .format = FORMAT_Z,
        .type = DTYPE_F16,
        .rank = 4,
        .size = {m->in_blocks * m->kernel[0] * m->kernel[1], m->out_blocks, 16, 16}};
    t->list[2] = is_gradient ? large : small;
    return (struct operator_call){.op_type = is_gradient ? gradient : forward,
                                  .input_count = 2,
                                  .output_count = 1,
                                  .inputs = t->list,
                                  .outputs = t->list + 2};
}

/* Products of one channel with one filter, along an axis: taps that find the image, not padding. */
static int64_t products(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
    int64_t count = 0;
    for (int64_t o = 0; o < out; o++)
        for (int64_t k = 0; k < kernel; k++) {
            int64_t at = o * stride - padding + k;
            count += at >= 0 && at < in;
        }
    return count;
}

static int64_t all_products(const struct made *m)
{
    return products(m->in[0], out_of(m, 0), m->kernel[0], m->stride, m->padding) *
           products(m->in[1], out_of(m, 1), m->kernel[1], m->stride, m->padding);
}

/* Of what was found, with the image as the kernel's text has it. */
static int64_t found_products(const struct convolution *c)
{
    int64_t out[] = {c->height, c->width}, count = 1;
    for (int a = 0; a < 2; a++)
        count *= products(c->stride * (out[a] - 1) + c->kernel[a] - 2 * c->padding + c->rest,
                          out[a], c->kernel[a], c->stride, c->padding);
    return count;
}

/* False where it is left open: the one that was made is among those that it may be. */
static bool check(const struct made *m, bool is_gradient, bool says_it)
{
    struct tensors tensors;
    struct operator_call call = call_of(m, is_gradient, &tensors);
    struct convolution c;
    char why[PROBLEM_WHY_SIZE] = "";
    const int64_t *in = is_gradient ? call.outputs->size : call.inputs->size;
    if (says_it)
        call.window = (struct call_window){{m->kernel[0], m->kernel[1]},
                                           {m->stride, m->stride},
                                           {1, 1},
                                           {m->padding, m->padding},
                                           1};
    if (!call_convolution(&call, is_gradient, &c, why)) {
        char way[32];
        snprintf(way, sizeof way, "%lldx%lld stride %lld", (long long)m->kernel[0],
                 (long long)m->kernel[1], (long long)m->stride);
        cr_expect(!says_it && strstr(why, way), "%lldx%lld, kernel %lld: %s", (long long)in[2],
                  (long long)in[3], (long long)m->kernel[0], why);
        return false;
    }
    cr_expect(c.kernel[0] == m->kernel[0] && c.kernel[1] == m->kernel[1]);
    cr_expect_eq(c.stride, m->stride);
    cr_expect_eq(found_products(&c), all_products(m), "%lldx%lld, kernel %lld, padding %lld",
                 (long long)in[2], (long long)in[3], (long long)m->kernel[0],
                 (long long)m->padding);
    cr_expect(c.batch == m->batch && c.in_channels == 16 * call.inputs->size[1] &&
              c.out_channels == 16 * call.outputs->size[1]);
    return true;
}

/* Half a kernel's padding, or none, of images that are large beside it. */
Test(network_problem, every_convolution)
{
    int made = 0, found = 0;
    for (int64_t kernel = 1; kernel <= 7; kernel++)
        for (int64_t stride = 1; stride <= 3; stride++)
            for (int64_t size = 20; size < 40; size++)
                for (int half = 0; half < 2; half++) {
                    struct made m = {
                        2, {size, size}, {kernel, kernel}, stride, half ? (kernel - 1) / 2 : 0, 3,
                        5};
                    if (stride == 3 && half && kernel > 2)
                        continue; /* less padding may do: the_least_padding */
                    made++;
                    found += check(&m, false, false);
                    check(&m, false, true);
                    if (stride == 1)
                        check(&m, true, false);
                }
    cr_expect(made > 600 && found > made * 9 / 10, "%d of %d", found, made);
}

/* Of the images and the filter of a call: why it is no convolution, or how its kernel lies. */
static const char *answer_of(struct operator_tensor x, int64_t taps, struct operator_tensor y,
                             bool is_gradient)
{
    static char text[PROBLEM_WHY_SIZE];
    int64_t in = is_gradient ? y.size[1] : x.size[1], out = is_gradient ? x.size[1] : y.size[1];
    struct operator_tensor list[] = {
        x, {.format = FORMAT_Z, .type = DTYPE_F16, .rank = 4, .size = {in * taps, out, 16, 16}}, y};
    struct operator_call call = {
        .input_count = 2, .output_count = 1, .inputs = list, .outputs = list + 2};
    struct convolution c;
    if (call_convolution(&call, is_gradient, &c, text))
        snprintf(text, sizeof text, "%lldx%lld stride %lld padding %lld rest %lld",
                 (long long)c.kernel[0], (long long)c.kernel[1], (long long)c.stride,
                 (long long)c.padding, (long long)c.rest);
    return text;
}

Test(network_problem, what_sizes_leave)
{
    const struct {
        int64_t in[2], taps, out[2];
        bool is_gradient;
        const char *answer;
    } rows[] = {
        {{224, 224}, 49, {112, 112}, false, "7x7 stride 2 padding 3 rest 1"},
        {{56, 56}, 1, {28, 28}, false, "1x1 stride 2 padding 0 rest 1"},
        {{227, 227}, 121, {55, 55}, false, "11x11 stride 4 padding 0 rest 0"},
        {{224, 224}, 256, {14, 14}, false, "16x16 stride 16 padding 0 rest 0"},
        {{8, 8}, 64, {1, 1}, false, "8x8 stride 8 padding 0 rest 0"},
        {{17, 17}, 7, {17, 11}, false, "1x7 stride 1 padding 0 rest 0"},
        {{147, 147}, 9, {149, 149}, true, "3x3 stride 1 padding 2 rest 0"},
        {{17, 17}, 7, {17, 17}, false, "a kernel of 7 taps may be 1x7 stride 1 or 7x1 stride 1"},
        {{4, 4},
         9,
         {2, 2},
         false,
         "a kernel of 9 taps may be 3x3 stride 1 or 3x3 stride 2 or 3x3 "
         "stride 3"},
        {{28, 28}, 9, {56, 56}, true, "the gradient of no convolution of stride 1"},
        {{28, 28}, 9, {56, 56}, false, "no kernel, stride and padding leave an image of its size"},
        {{20, 21},
         9,
         {10, 10},
         false,
         "a kernel of 3x3 moves over rows otherwise than over columns"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(answer_of(image(4, 2, rows[i].in[0], rows[i].in[1]), rows[i].taps,
                                   image(4, 3, rows[i].out[0], rows[i].out[1]),
                                   rows[i].is_gradient),
                         rows[i].answer);
}

/* Tensors that no convolution has, and what is said of them. */
Test(network_problem, broken_tensors)
{
    const struct made m = {1, {20, 20}, {3, 3}, 1, 1, 2, 3};
    for (int broken = 0; broken < 9; broken++) {
        struct tensors t;
        struct convolution c;
        char why[PROBLEM_WHY_SIZE] = "";
        struct operator_call call = call_of(&m, false, &t);
        call.window = (struct call_window){{3, 3}, {1, 1}, {1, 1}, {1, 1}, 1};
        switch (broken) {
        case 0:
            t.list[0].format = FORMAT_ND;
            break;
        case 1:
            t.list[1].rank = 5;
            break;
        case 2:
            t.list[2].size[2] = 0;
            break;
        case 3:
            t.list[1].size[0]++;
            break;
        case 4:
            t.list[1].size[1]++;
            break;
        case 5:
            t.list[2].size[0]++;
            break;
        case 6:
            t.list[1].type = DTYPE_F32;
            break;
        case 7:
            call.window.groups = 2;
            break;
        default:
            call.window.padding[0] = call.window.padding[1] = 0;
        }
        cr_expect_not(call_convolution(&call, false, &c, why), "%d", broken);
        cr_expect(*why, "%d", broken);
    }
}

static const char *setting(const struct call_problem *problem, const char *name)
{
    for (int i = 0; i < problem->setting_count; i++)
        if (strcmp(problem->settings[i].name, name) == 0)
            return problem->settings[i].text;
    return "";
}

Test(network_problem, options)
{
    struct tensors t;
    struct call_problem problem;
    struct made m = {4, {20, 20}, {3, 3}, 1, 1, 2, 3};
    struct operator_call call = call_of(&m, false, &t);
    cr_assert(call_find_problem(&call, &problem));
    cr_expect_str_eq(setting(&problem, "kernel"), "conv2d");
    cr_expect_str_eq(setting(&problem, "shape"), "20x20x3x3x32x48");
    cr_expect_str_eq(setting(&problem, "batch"), "4");
    cr_expect_str_eq(setting(&problem, "padding"), "1");
    t.list[2].type = DTYPE_F32;
    cr_assert(call_find_problem(&call, &problem));
    cr_expect_str_eq(problem.why, "from f16 to f32, expected f16");

    m = (struct made){4, {20, 10}, {1, 1}, 1, 0, 2, 3};
    call = call_of(&m, false, &t); /* each pixel is a row of A */
    cr_assert(call_find_problem(&call, &problem));
    cr_expect_str_eq(setting(&problem, "op"), "matmul");
    cr_expect_str_eq(setting(&problem, "shape"), "800x32x48");
    call = call_of(&m, true, &t);
    call.op_type = fused;
    cr_assert(call_find_problem(&call, &problem));
    cr_expect_str_eq(setting(&problem, "shape"), "800x48x32");
}

Test(network_problem, kinds)
{
    struct {
        char type[40];
        bool is;
    } kinds[] = {{"MatMul", true},
                 {"matmulv3", true},
                 {"FusionOp_MatMul_GeLU", true},
                 {"FusionOp_BatchMatMul_FusedMulAdd", true},
                 {"FusionOp_Conv2D_BNTrainingReduce", true},
                 {"Conv2DBackpropInput", true},
                 {"Conv2DBackpropFilter", false},
                 {"FusionOp_Mul_Square", false},
                 {"MatMulX", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct call_problem problem;
        struct operator_call call = {.op_type = kinds[i].type};
        cr_expect_eq(call_find_problem(&call, &problem), kinds[i].is, "%s", kinds[i].type);
        if (kinds[i].is)
            cr_expect(problem.setting_count == 0 && *problem.why, "%s", kinds[i].type);
    }
}
