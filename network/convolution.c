/* A filter in blocks says how many taps it has, kh*kw, not how they lie, and a table of calls says
 * no stride. Both are what the images' sizes leave: a kernel that is square where one fits, with
 * the least padding, of at most half a kernel, or in a gradient of less than a kernel; where
 * kernels side by side cover an image (patches), these. What then is not the only way is left open.
 * Files that say how the filter moves are taken at their word. Kernels and strides are searched up
 * to what the loads of these chips have (LOAD3D: 255, 63). */
#include "network/convolution.h"

#include <stdio.h>
#include <string.h>

enum { CUBE = 16, MAX_KERNEL = 255, MAX_STRIDE = 63, AXES = 2 };

struct sides {
    int64_t in[AXES], out[AXES]; /* rows and columns of both images */
};

static bool fail(char why[PROBLEM_WHY_SIZE], const char *text)
{
    snprintf(why, PROBLEM_WHY_SIZE, "%s", text);
    return false;
}

/* ------------------------------------------------------------------ tensors */

static bool read_tensors(const struct operator_call *call, bool is_gradient, struct convolution *c,
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
        return fail(why, "its tensors are not images NC1HWC0 and a filter FRACTAL_Z");
    int64_t c1 = is_gradient ? y->size[1] : x->size[1];
    if (f->size[0] % c1 || f->size[1] != (is_gradient ? x->size[1] : y->size[1]) ||
        f->size[2] != CUBE || f->size[3] != CUBE || x->size[4] != CUBE || y->size[4] != CUBE ||
        x->size[0] != y->size[0] || x->type != f->type)
        return fail(why, "its filter is not that of its images' channels, in one group");
    *taps = f->size[0] / c1;
    memcpy(sides->in, &x->size[2], sizeof sides->in);
    memcpy(sides->out, &y->size[2], sizeof sides->out);
    *c = (struct convolution){.batch = x->size[0],
                              .height = y->size[2],
                              .width = y->size[3],
                              .in_channels = CUBE * x->size[1],
                              .out_channels = CUBE * y->size[1],
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
static bool fits(const struct sides *sides, bool is_gradient, int64_t stride,
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
        if (!fits(sides, is_gradient, stride, &window) || (is_point && ways->count))
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
        return fail(why, is_gradient ? "the gradient of no convolution of stride 1"
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
    if (!read_tensors(call, is_gradient, c, &sides, &taps, why))
        return false;
    if (w.kernel[0] == 0 && !find_window(&sides, is_gradient, taps, &w, why))
        return false;
    if (w.kernel[0] * w.kernel[1] != taps || w.groups > 1)
        return fail(why, "its filter is not that of its images' channels, in one group");
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
    return c->rest >= 0 || fail(why, "more padding behind an image than before it");
}
