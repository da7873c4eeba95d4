/* Walks an expression; its kinds were checked when it was read, and how deep it goes with its lets
 * is limited there. Whole numbers are kept within ±2^62, so that the sum of any two fits into 64
 * bits and overflow is an answer. `/` and `%` round down, as the pieces of a range below 0 would.
 */
#include "kernels/text/plan/kernel_eval.h"

#include <math.h>
#include <string.h>

/* One of both, as the expression's kind says. */
union value {
    int64_t whole;
    double real;
};

struct walk {
    const struct kernel_values *values;
    struct error *error;
};

static enum status evaluate(const struct walk *walk, const struct expression *e,
                            union value *value);

static enum status fail(const struct walk *walk, struct kernel_place at, const char *text)
{
    error_set(walk->error, STATUS_INVALID, "%d:%d: %s", at.line, at.column, text);
    return STATUS_INVALID;
}

enum dtype kernel_type(const struct kernel_values *values, int type)
{
    switch (type) {
    case KERNEL_DTYPE:
        return values->dtype;
    case KERNEL_ACCUMULATOR:
        return dtype_accumulator(values->dtype);
    case KERNEL_RESULT:
        return values->result;
    default:
        return (enum dtype)type;
    }
}

/* ------------------------------------------------------------------ whole numbers */

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Each says whether there is a result that fits. */
typedef bool whole_function(int64_t a, int64_t b, int64_t *result);

static bool add(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static bool subtract(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_sub_overflow(a, b, result);
}

static bool multiply(int64_t a, int64_t b, int64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

static bool divide(int64_t a, int64_t b, int64_t *result)
{
    *result = b ? divide_down(a, b) : 0;
    return b != 0;
}

static bool remainder_of(int64_t a, int64_t b, int64_t *result)
{
    *result = b ? a - divide_down(a, b) * b : 0;
    return b != 0;
}

static bool cdiv(int64_t a, int64_t b, int64_t *result)
{
    *result = b > 0 ? -divide_down(-a, b) : 0;
    return b > 0;
}

static bool up(int64_t a, int64_t b, int64_t *result)
{
    return cdiv(a, b, result) && multiply(*result, b, result);
}

static bool log2_up(int64_t a, int64_t b, int64_t *result)
{
    (void)b;
    *result = 0;
    while (*result < 62 && (int64_t)1 << *result < a)
        ++*result;
    return a >= 1;
}

static bool pow2(int64_t a, int64_t b, int64_t *result)
{
    (void)b;
    bool fits = a >= 0 && a <= 62;
    *result = fits ? (int64_t)1 << a : 0;
    return fits;
}

/* Euclid. */
static bool gcd(int64_t a, int64_t b, int64_t *result)
{
    bool fits = a >= 1 && b >= 1;
    *result = a;
    for (int64_t rest = b; fits && rest;) {
        int64_t next = *result % rest;
        *result = rest;
        rest = next;
    }
    return fits;
}

static bool negate(int64_t a, int64_t b, int64_t *result)
{
    (void)b;
    *result = -a;
    return true;
}

static bool min(int64_t a, int64_t b, int64_t *result)
{
    *result = a < b ? a : b;
    return true;
}

static bool max(int64_t a, int64_t b, int64_t *result)
{
    *result = a > b ? a : b;
    return true;
}

static const struct {
    whole_function *function;
    const char *expected;
} wholes[EXPRESSION_OPS] = {
    [EXPRESSION_ADD] = {add, "a sum"},
    [EXPRESSION_SUBTRACT] = {subtract, "a difference"},
    [EXPRESSION_MULTIPLY] = {multiply, "a product"},
    [EXPRESSION_DIVIDE] = {divide, "a divisor other than 0"},
    [EXPRESSION_REMAINDER] = {remainder_of, "a divisor other than 0"},
    [EXPRESSION_NEGATE] = {negate, "a number"},
    [EXPRESSION_UP] = {up, "a unit of at least 1 and a result"},
    [EXPRESSION_CDIV] = {cdiv, "a unit of at least 1"},
    [EXPRESSION_LOG2] = {log2_up, "a number of at least 1"},
    [EXPRESSION_POW2] = {pow2, "an exponent from 0 to 62"},
    [EXPRESSION_GCD] = {gcd, "numbers of at least 1"},
    [EXPRESSION_MIN] = {min, "a number"},
    [EXPRESSION_MAX] = {max, "a number"},
};

/* What each comparison says of a left side that is less, equal, more. */
static const bool comparisons[EXPRESSION_OPS][3] = {
    [EXPRESSION_EQUAL] = {false, true, false},   [EXPRESSION_IN] = {false, true, false},
    [EXPRESSION_UNEQUAL] = {true, false, true},  [EXPRESSION_LESS] = {true, false, false},
    [EXPRESSION_AT_MOST] = {true, true, false},  [EXPRESSION_MORE] = {false, false, true},
    [EXPRESSION_AT_LEAST] = {false, true, true},
};

bool kernel_apply(enum expression_op op, int64_t a, int64_t b, int64_t *result)
{
    if (!wholes[op].function) {
        *result = comparisons[op][1 + (a > b) - (a < b)];
        return true;
    }
    return wholes[op].function(a, b, result) && *result <= KERNEL_MAX_NUMBER &&
           *result >= -KERNEL_MAX_NUMBER;
}

/* Of two arguments or more from left to right; of one it stands for both. */
static enum status walk_whole(const struct walk *walk, const struct expression *e,
                              union value *value)
{
    TRY(evaluate(walk, e->args, value));
    const struct expression *next = e->args->next;
    do {
        union value right = {.whole = 0};
        if (next)
            TRY(evaluate(walk, next, &right));
        if (!kernel_apply(e->op, value->whole, right.whole, &value->whole)) {
            char text[128];
            snprintf(text, sizeof text, "a number that cannot be, expected %s within 2^62",
                     wholes[e->op].expected);
            return fail(walk, e->at, text);
        }
        next = next ? next->next : NULL;
    } while (next);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ real numbers */

static enum status walk_as_real(const struct walk *walk, const struct expression *e, double *real)
{
    union value value = {.whole = 0};
    TRY(evaluate(walk, e, &value));
    *real = e->kind == EXPRESSION_IS_REAL ? value.real : (double)value.whole;
    return STATUS_OK;
}

static double add_real(double a, double b)
{
    return a + b;
}

static double subtract_real(double a, double b)
{
    return a - b;
}

static double multiply_real(double a, double b)
{
    return a * b;
}

static double divide_real(double a, double b)
{
    return a / b;
}

static double negate_real(double a, double b)
{
    (void)b;
    return -a;
}

static double (*const reals[EXPRESSION_OPS])(double a, double b) = {
    [EXPRESSION_ADD] = add_real,
    [EXPRESSION_SUBTRACT] = subtract_real,
    [EXPRESSION_MULTIPLY] = multiply_real,
    [EXPRESSION_DIVIDE] = divide_real,
    [EXPRESSION_NEGATE] = negate_real,
    [EXPRESSION_MIN] = fmin,
    [EXPRESSION_MAX] = fmax,
};

static enum status walk_real(const struct walk *walk, const struct expression *e,
                             union value *value)
{
    double left = 0;
    TRY(walk_as_real(walk, e->args, &left));
    const struct expression *next = e->args->next;
    do {
        double right = 0;
        if (next)
            TRY(walk_as_real(walk, next, &right));
        left = reals[e->op](left, right);
        if (!isfinite(left))
            return fail(walk, e->at, "a number that cannot be, expected a finite one");
        next = next ? next->next : NULL;
    } while (next);
    value->real = left;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ conditions */

/* 0, 1 or 2 as the first one is less, equal or more. */
static enum status order_of(const struct walk *walk, const struct expression *a,
                            const struct expression *b, int *order)
{
    union value left = {.whole = 0}, right = {.whole = 0};
    double real_left = 0, real_right = 0;
    if (a->kind == EXPRESSION_IS_REAL || b->kind == EXPRESSION_IS_REAL) {
        TRY(walk_as_real(walk, a, &real_left));
        TRY(walk_as_real(walk, b, &real_right));
        *order = 1 + (real_left > real_right) - (real_left < real_right);
        return STATUS_OK;
    }
    TRY(evaluate(walk, a, &left));
    TRY(evaluate(walk, b, &right));
    *order = 1 + (left.whole > right.whole) - (left.whole < right.whole);
    return STATUS_OK;
}

static enum status walk_comparison(const struct walk *walk, const struct expression *e,
                                   union value *value)
{
    value->whole = 0;
    for (const struct expression *b = e->args->next; b && !value->whole; b = b->next) {
        int order;
        TRY(order_of(walk, e->args, b, &order));
        value->whole = comparisons[e->op][order];
    }
    return STATUS_OK;
}

/* What is decided by the left side leaves the right one alone. */
static enum status walk_truth(const struct walk *walk, const struct expression *e,
                              union value *value)
{
    TRY(evaluate(walk, e->args, value));
    if (e->op == EXPRESSION_NOT)
        value->whole = !value->whole;
    else if (value->whole == (e->op == EXPRESSION_AND))
        return evaluate(walk, e->args->next, value);
    return STATUS_OK;
}

static enum status walk_choice(const struct walk *walk, const struct expression *e,
                               union value *value)
{
    TRY(evaluate(walk, e->args, value));
    const struct expression *chosen = value->whole ? e->args->next : e->args->next->next;
    if (e->kind == EXPRESSION_IS_REAL)
        return walk_as_real(walk, chosen, &value->real);
    return evaluate(walk, chosen, value);
}

/* ------------------------------------------------------------------ what stands for itself */

static bool has(const struct kernel_values *values, const struct expression *e)
{
    const struct hardware *hw = values->hw;
    const char *arrow = strstr(e->text, "->");
    if (!arrow) {
        int operation = hardware_operation(hw, e->text, (int)strlen(e->text));
        return operation >= 0 &&
               (!e->number ||
                hardware_operation_results(hw, operation, kernel_type(values, (int)e->number - 1)));
    }
    int from = hardware_buffer(hw, e->text, (int)(arrow - e->text));
    int to = hardware_buffer(hw, arrow + 2, (int)strlen(arrow + 2));
    return from >= 0 && to >= 0 && hardware_path(hw, from, to) >= 0;
}

static enum status walk_let(const struct walk *walk, const struct expression *e, union value *value)
{
    const struct kernel_values *values = walk->values;
    if (values->kept >> e->number & 1)
        value->whole = values->numbers[e->number];
    else if (values->is_shared[e->number])
        value->whole = values->lets[e->number].length;
    else
        return evaluate(walk, values->kernel->lets[e->number].value, value);
    return STATUS_OK;
}

#define VALUE(member, field)                                                                       \
    {                                                                                              \
        offsetof(struct kernel_values, member) + (field),                                          \
            sizeof(((struct kernel_values *)0)->member[0])                                         \
    }

/* Where the numbers are that were given, for the first one of each kind, and the bytes to the next.
 */
static const struct {
    size_t first, stride;
} givens[EXPRESSION_OPS] = {
    [EXPRESSION_SIZE] = VALUE(sizes, offsetof(struct kernel_range, length)),
    [EXPRESSION_WHOLE] = VALUE(wholes, 0),
    [EXPRESSION_AXIS] = VALUE(axes, 0),
    [EXPRESSION_LOOP] = VALUE(loops, offsetof(struct kernel_range, length)),
    [EXPRESSION_BEGIN] = VALUE(loops, offsetof(struct kernel_range, begin)),
};

static void walk_atom(const struct kernel_values *values, const struct expression *e,
                      union value *value)
{
    value->whole = e->number; /* of a number, a word or a place */
    if (givens[e->op].stride)
        memcpy(&value->whole,
               (const char *)values + givens[e->op].first +
                   (size_t)e->number * givens[e->op].stride,
               sizeof value->whole);
    else if (e->op == EXPRESSION_REAL)
        value->real = e->real;
    else if (e->op == EXPRESSION_CORES)
        value->whole = values->cores;
    else if (e->op == EXPRESSION_FIRST)
        value->whole = values->loops[e->number].is_first;
    else if (e->op == EXPRESSION_LAST)
        value->whole = values->loops[e->number].is_last;
    else if (e->op == EXPRESSION_LANES)
        value->whole =
            values->hw->vector_repeat_bytes / dtype_bytes(kernel_type(values, (int)e->number));
    else if (e->op == EXPRESSION_IS_TYPE)
        value->whole = kernel_type(values, (int)(e->number / KERNEL_TYPES)) ==
                       kernel_type(values, (int)(e->number % KERNEL_TYPES));
    else if (e->op == EXPRESSION_HAS_OPERATION || e->op == EXPRESSION_HAS_PATH)
        value->whole = has(values, e);
}

static enum status evaluate(const struct walk *walk, const struct expression *e, union value *value)
{
    if (e->op == EXPRESSION_LET)
        return walk_let(walk, e, value);
    if (!e->args) {
        walk_atom(walk->values, e, value);
        return STATUS_OK;
    }
    if (e->op == EXPRESSION_IF)
        return walk_choice(walk, e, value);
    if (e->op == EXPRESSION_OR || e->op == EXPRESSION_AND || e->op == EXPRESSION_NOT)
        return walk_truth(walk, e, value);
    if (e->kind == EXPRESSION_IS_TRUTH)
        return walk_comparison(walk, e, value);
    return e->kind == EXPRESSION_IS_REAL ? walk_real(walk, e, value) : walk_whole(walk, e, value);
}

enum status kernel_number(const struct kernel_values *values, const struct expression *e,
                          int64_t *number, struct error *error)
{
    struct walk walk = {values, error};
    union value value = {.whole = 0};
    TRY(evaluate(&walk, e, &value));
    *number = value.whole;
    return STATUS_OK;
}

void kernel_keep_lets(struct kernel_values *values)
{
    values->kept = 0;
    for (int l = 0; l < values->kernel->let_count; l++) {
        const struct expression *e = values->kernel->lets[l].value;
        bool is_kept = !e->loops && e->kind != EXPRESSION_IS_REAL && !values->is_shared[l] &&
                       kernel_number(values, e, &values->numbers[l], NULL) == STATUS_OK;
        values->kept |= (uint64_t)is_kept << l;
    }
}

enum status kernel_real(const struct kernel_values *values, const struct expression *e,
                        double *number, struct error *error)
{
    struct walk walk = {values, error};
    return walk_as_real(&walk, e, number);
}
