/* Spans: of what only grows with each argument, or only falls, the ends are at the ends of the
 * arguments' spans; what is neither gets a span that is wide enough. */
#include "kernels/text/nest/kernel_box.h"

#include "kernels/slices.h"

#include <assert.h>

#define MOST KERNEL_MAX_NUMBER

static const struct span anything = {-MOST, MOST}, nothing = {1, 0}, truths = {0, 1};

static int64_t cut(int64_t number)
{
    return number > MOST ? MOST : number < -MOST ? -MOST : number;
}

static struct span exactly(int64_t number)
{
    return (struct span){number, number};
}

/* ------------------------------------------------------------------ two numbers */

typedef int64_t on_numbers(int64_t a, int64_t b);

static int64_t add(int64_t a, int64_t b)
{
    return cut(a + b);
}

static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? MOST : -MOST;
    return cut(product);
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0);
}

static int64_t cdiv(int64_t a, int64_t b)
{
    return -divide_down(-a, b);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of a function that grows or falls with each of its arguments, the other one being whatever. */
static struct span of_corners(on_numbers *f, struct span a, struct span b)
{
    int64_t corners[4] = {f(a.least, b.least), f(a.least, b.most), f(a.most, b.least),
                          f(a.most, b.most)};
    struct span span = exactly(corners[0]);
    for (int i = 1; i < 4; i++) {
        span.least = least(span.least, corners[i]);
        span.most = most(span.most, corners[i]);
    }
    return span;
}

static int64_t log2_up(int64_t a, int64_t b)
{
    int64_t log = 0;
    (void)b;
    while (log < 62 && (int64_t)1 << log < a)
        log++;
    return log;
}

static int64_t pow2(int64_t a, int64_t b)
{
    (void)b;
    return (int64_t)1 << (a < 0 ? 0 : a > 62 ? 62 : a);
}

/* Divisors below 1 are rare: of them nothing is said. */
static struct span divided(on_numbers *f, struct span a, struct span b)
{
    if (b.most < 1)
        return f == cdiv ? nothing : anything;
    return b.least < 1 ? anything : of_corners(f, a, b);
}

static struct span rounded_up(struct span a, struct span b)
{
    if (b.most < 1)
        return nothing;
    if (b.least < 1)
        return anything;
    if (!span_is_known(b))
        return (struct span){a.least, add(a.most, b.most - 1)};
    return (struct span){multiply(cdiv(a.least, b.least), b.least),
                         multiply(cdiv(a.most, b.least), b.least)};
}

static struct span remainder_of(struct span a, struct span b)
{
    if (b.least < 1)
        return anything;
    if (span_is_known(a) && span_is_known(b))
        return exactly(a.least - divide_down(a.least, b.least) * b.least);
    return (struct span){0, b.most - 1};
}

static struct span negated(struct span a)
{
    return (struct span){-a.most, -a.least};
}

static struct span of_two(enum expression_op op, struct span a, struct span b)
{
    switch (op) {
    case EXPRESSION_ADD:
        return (struct span){add(a.least, b.least), add(a.most, b.most)};
    case EXPRESSION_SUBTRACT:
        return (struct span){add(a.least, -b.most), add(a.most, -b.least)};
    case EXPRESSION_MULTIPLY:
        return of_corners(multiply, a, b);
    case EXPRESSION_DIVIDE:
        return divided(divide_down, a, b);
    case EXPRESSION_CDIV:
        return divided(cdiv, a, b);
    case EXPRESSION_UP:
        return rounded_up(a, b);
    case EXPRESSION_REMAINDER:
        return remainder_of(a, b);
    case EXPRESSION_MIN:
        return (struct span){least(a.least, b.least), least(a.most, b.most)};
    case EXPRESSION_MAX:
        return (struct span){most(a.least, b.least), most(a.most, b.most)};
    default:
        return anything;
    }
}

/* ------------------------------------------------------------------ conditions */

static struct span truth_of(bool never, bool always)
{
    return never ? exactly(0) : always ? exactly(1) : truths;
}

static struct span compare(enum expression_op op, struct span a, struct span b)
{
    bool apart = a.most < b.least || b.most < a.least;
    bool same = span_is_known(a) && span_is_known(b) && a.least == b.least;
    switch (op) {
    case EXPRESSION_EQUAL:
    case EXPRESSION_IN:
        return truth_of(apart, same);
    case EXPRESSION_UNEQUAL:
        return truth_of(same, apart);
    case EXPRESSION_LESS:
        return truth_of(a.least >= b.most, a.most < b.least);
    case EXPRESSION_AT_MOST:
        return truth_of(a.least > b.most, a.most <= b.least);
    case EXPRESSION_MORE:
        return truth_of(a.most <= b.least, a.least > b.most);
    default:
        return truth_of(a.most < b.least, a.least >= b.most);
    }
}

static struct span comparison(const struct kernel_box *box, const struct expression *e)
{
    struct span truth = exactly(0), left;
    assert(e->args);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (arg->kind == EXPRESSION_IS_REAL)
            return truths;
    left = box_span(box, e->args);
    for (const struct expression *arg = e->args->next; arg; arg = arg->next) {
        struct span one = compare(e->op, left, box_span(box, arg));
        truth = (struct span){most(truth.least, one.least), most(truth.most, one.most)};
    }
    return truth;
}

static struct span choice(const struct kernel_box *box, const struct expression *e)
{
    struct span truth = box_span(box, e->args);
    const struct expression *yes = e->args->next, *no = yes->next;
    if (span_is_known(truth))
        return box_span(box, truth.least ? yes : no);
    struct span a = box_span(box, yes), b = box_span(box, no);
    return (struct span){least(a.least, b.least), most(a.most, b.most)};
}

static struct span truth_of_two(const struct kernel_box *box, const struct expression *e)
{
    struct span a = box_span(box, e->args), b = box_span(box, e->args->next);
    return e->op == EXPRESSION_AND ? (struct span){least(a.least, b.least), least(a.most, b.most)}
                                   : (struct span){most(a.least, b.least), most(a.most, b.most)};
}

/* ------------------------------------------------------------------ all of them */

/* The first round: as long as the step, or all that there is. */
static struct span first_round(const struct kernel_box *box, int text_loop)
{
    const struct kernel_loop *loop = &box->values->kernel->loops[text_loop];
    struct span in = box_span(box, loop->in), by = box_span(box, loop->by);
    if (in.most < 1 || by.most < 1)
        return nothing;
    return (struct span){most(1, least(in.least, by.least)), least(in.most, by.most)};
}

static struct span asked(const struct kernel_box *box, const struct expression *e)
{
    int64_t number;
    struct error error;
    if (e->kind == EXPRESSION_IS_REAL)
        return anything;
    return kernel_number(box->values, e, &number, &error) == STATUS_OK ? exactly(number) : nothing;
}

static struct span of_args(const struct kernel_box *box, const struct expression *e)
{
    assert(e->args);
    struct span span = box_span(box, e->args);
    for (const struct expression *arg = e->args->next; arg; arg = arg->next)
        span = of_two(e->op, span, box_span(box, arg));
    return span;
}

struct span box_span(const struct kernel_box *box, const struct expression *e)
{
    const struct kernel_values *values = box->values;
    switch (e->op) {
    case EXPRESSION_NUMBER:
    case EXPRESSION_WORD:
        return exactly(e->number);
    case EXPRESSION_AXIS:
        return box->axes[e->number];
    case EXPRESSION_SIZE:
        return exactly(values->sizes[e->number].length);
    case EXPRESSION_LET:
        return values->is_shared[e->number] ? exactly(values->lets[e->number].length)
                                            : box_span(box, values->kernel->lets[e->number].value);
    case EXPRESSION_LOOP:
        return first_round(box, (int)e->number);
    case EXPRESSION_FIRST:
    case EXPRESSION_LAST:
        return truths;
    case EXPRESSION_BEGIN:
        return anything;
    case EXPRESSION_LOG2:
    case EXPRESSION_POW2: {
        struct span a = box_span(box, e->args);
        return of_corners(e->op == EXPRESSION_LOG2 ? log2_up : pow2, a, a);
    }
    case EXPRESSION_IF:
        return choice(box, e);
    case EXPRESSION_NOT: {
        struct span truth = box_span(box, e->args);
        return (struct span){1 - truth.most, 1 - truth.least};
    }
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        return truth_of_two(box, e);
    case EXPRESSION_NEGATE:
        return negated(box_span(box, e->args));
    default:
        if (e->op >= EXPRESSION_EQUAL && e->op <= EXPRESSION_IN)
            return comparison(box, e);
        return e->args && e->kind == EXPRESSION_IS_WHOLE ? of_args(box, e) : asked(box, e);
    }
}

/* Is the number there whatever the axes are, within what numbers may be? */
static bool is_there(const struct kernel_box *box, const struct expression *e)
{
    struct span divisor = {1, 1}, span;
    switch (e->op) {
    case EXPRESSION_FIRST:
    case EXPRESSION_LAST:
    case EXPRESSION_BEGIN:
        return false;
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
    case EXPRESSION_UP:
    case EXPRESSION_CDIV:
        for (const struct expression *arg = e->args->next; arg; arg = arg->next)
            divisor.least = least(divisor.least, box_span(box, arg).least);
        break;
    case EXPRESSION_LOG2:
        divisor = box_span(box, e->args);
        break;
    case EXPRESSION_POW2:
        span = box_span(box, e->args);
        divisor.least = span.least >= 0 && span.most <= 62;
        break;
    default:
        break;
    }
    span = box_span(box, e);
    return divisor.least >= 1 && span.least <= span.most && span.least > -MOST && span.most < MOST;
}

bool box_is_exact(const struct kernel_box *box, const struct expression *e)
{
    if (e->kind == EXPRESSION_IS_REAL || !is_there(box, e))
        return false;
    if (e->op == EXPRESSION_LET && !box->values->is_shared[e->number] &&
        !box_is_exact(box, box->values->kernel->lets[e->number].value))
        return false;
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (!box_is_exact(box, arg))
            return false;
    return true;
}

struct span box_rounds(const struct kernel_box *box, int text_loop)
{
    const struct kernel_loop *loop = &box->values->kernel->loops[text_loop];
    struct span in = box_span(box, loop->in), by = box_span(box, loop->by);
    if (in.most < 1 || by.most < 1)
        return nothing;
    in.least = most(in.least, 1);
    by.least = most(by.least, 1);
    return (struct span){divide_up(in.least, by.most), divide_up(in.most, by.least)};
}

struct span box_bytes(const struct kernel_box *box, const struct kernel_plan *plan, int number)
{
    const struct plan_tile *tile = &plan->tiles[number];
    int64_t unit = plan->hw->buffers[tile->buffer].alignment_bytes;
    struct span bytes = exactly(dtype_bytes(tile->type));
    for (int d = 0; d < tile->dim_count; d++) {
        struct span extent = box_span(box, tile->dims[d]);
        if (extent.most < 1)
            return nothing;
        extent.least = most(extent.least, 1);
        bytes =
            (struct span){multiply(bytes.least, extent.least), multiply(bytes.most, extent.most)};
    }
    if (unit > 1)
        bytes = rounded_up(bytes, exactly(unit));
    return tile->turns ? of_corners(multiply, bytes, box_span(box, tile->turns)) : bytes;
}
