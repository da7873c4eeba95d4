/* Kernels in numbers: random expressions against 128-bit arithmetic, before and after they are
 * printed; values of axes and rounds of loops against counting; what cannot be is told. */
#include "hardware/load.h"
#include "kernels/text/plan/kernel_eval.h"
#include "kernels/text/plan/kernel_shares.h"
#include "kernels/text/plan/kernel_structure.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct kernel_text kernel;
static struct kernel_values values;
static struct error error;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
}

static void leave(void)
{
    kernel_text_clear(&kernel);
    hardware_clear(&hw);
}

TestSuite(kernel_eval, .init = enter, .fini = leave);

/* A kernel of sizes M = 40, N = 100 (112 with its pad) and B = 7, with these declarations. */
#define BEFORE "kernel k\nsize M\nsize N pad 16\nsize B = 7\ntensor Z[M,N,B] f16\n"
#define AFTER  "for i in N by 16\n  tile z: ub[i] f16\n  vecDup z <- 0\n  store Z[1, i, 1] <- z\n"

static void read_kernel(const char *declarations)
{
    static const int64_t given[] = {40, 100, 7};
    char *text = malloc(strlen(declarations) + sizeof BEFORE + sizeof AFTER);
    cr_assert(text);
    sprintf(text, BEFORE "%s" AFTER, declarations);
    kernel_text_clear(&kernel);
    cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK, "%s\n%s",
                 error.text, text);
    cr_assert_eq(kernel_values_set(&values, &kernel, &hw, DTYPE_F16, given, &error), STATUS_OK);
    free(text);
}

/* The condition `require E == E`, whose left side it is. */
static const struct expression *read_expression(const char *expression)
{
    char text[4096];
    snprintf(text, sizeof text, "require (%s) == 0\n", expression);
    read_kernel(text);
    return kernel.requires[0].truth->args;
}

/* ---- random expressions ---- */

/* A whole number, or that it cannot be. */
struct answer {
    __int128 value;
    bool cannot_be;
};

struct maker {
    gsl_rng *rng;
    char *text;
    int length;
};

static struct answer make(struct maker *maker, int depth);

static int draw(struct maker *maker, int count)
{
    return (int)gsl_rng_uniform_int(maker->rng, (unsigned long)count);
}

static void put(struct maker *maker, const char *text)
{
    maker->length += sprintf(maker->text + maker->length, "%s", text);
}

static struct answer make_leaf(struct maker *maker)
{
    static const struct {
        const char *text;
        int64_t value;
    } leaves[] = {{"M", 40},          {"N", 112},
                  {"whole(N)", 112},  {"B", 7},
                  {"0", 0},           {"1", 1},
                  {"2", 2},           {"3", 3},
                  {"16", 16},         {"1000003", 1000003},
                  {"0", 0},           {"4611686018427387904", KERNEL_MAX_NUMBER},
                  {"lanes(f16)", 128}};
    int leaf = draw(maker, sizeof leaves / sizeof *leaves);
    put(maker, leaves[leaf].text);
    return (struct answer){leaves[leaf].value, false};
}

/* The largest number whose product with b is not beyond a. */
static __int128 floor_of(__int128 a, __int128 b)
{
    __int128 quotient = a / b + 1;
    while (b > 0 ? quotient * b > a : quotient * b < a)
        quotient--;
    return quotient;
}

static struct answer limit(__int128 value, bool cannot_be)
{
    __int128 most = KERNEL_MAX_NUMBER;
    return (struct answer){value, cannot_be || value > most || value < -most};
}

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, UP, CDIV, GCD, MIN, MAX, BINARY };
static const char *const binary_forms[BINARY][2] = {
    {"(", ")+("},     {"(", ")-("},      {"(", ") * ("},   {"(", ")/("},      {"(", ")%("},
    {"up((", "), ("}, {"cdiv((", "),("}, {"gcd((", "),("}, {"min((", "), ("}, {"max((", "), ("}};

static struct answer binary(int form, struct answer a, struct answer b)
{
    __int128 x = a.value, y = b.value;
    bool cannot_be = a.cannot_be || b.cannot_be;
    if (cannot_be)
        return (struct answer){0, true};
    switch (form) {
    case ADD:
        return limit(x + y, false);
    case SUBTRACT:
        return limit(x - y, false);
    case MULTIPLY:
        return limit(x * y, false);
    case DIVIDE:
        return y ? limit(floor_of(x, y), false) : limit(0, true);
    case REMAINDER:
        return y ? limit(x - floor_of(x, y) * y, false) : limit(0, true);
    case UP:
        return y > 0 ? limit(-floor_of(-x, y) * y, false) : limit(0, true);
    case CDIV:
        return y > 0 ? limit(-floor_of(-x, y), false) : limit(0, true);
    case GCD: /* Euclid, with rests from 1 on */
        for (int steps = 0; x > 0 && y > 0 && x != y && steps < 1 << 20; steps++)
            *(x > y ? &x : &y) = x > y ? (x - 1) % y + 1 : (y - 1) % x + 1;
        return limit(x, a.value < 1 || b.value < 1);
    case MIN:
        return limit(x < y ? x : y, false);
    default:
        return limit(x > y ? x : y, false);
    }
}

static struct answer make_binary(struct maker *maker, int depth)
{
    int form = draw(maker, BINARY);
    put(maker, binary_forms[form][0]);
    struct answer a = make(maker, depth - 1);
    put(maker, binary_forms[form][1]);
    struct answer b = make(maker, depth - 1);
    put(maker, form >= UP ? "))" : ")");
    return binary(form, a, b);
}

static struct answer make_unary(struct maker *maker, int depth)
{
    static const char *const forms[] = {"-(", "log2(", "pow2("};
    int form = draw(maker, 3);
    put(maker, forms[form]);
    struct answer a = make(maker, depth - 1);
    put(maker, ")");
    if (form == 0 || a.cannot_be)
        return (struct answer){-a.value, a.cannot_be};
    if (form == 2)
        return limit(a.value >= 0 && a.value <= 62 ? (__int128)1 << (int)a.value : 0,
                     a.value < 0 || a.value > 62);
    int log = 0;
    while (((__int128)1 << log) < a.value)
        log++;
    return limit(log, a.value < 1);
}

/* A condition: 0 or 1. What the left side of `and` and `or` decides leaves the right one alone. */
static struct answer make_truth(struct maker *maker, int depth)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    int form = draw(maker, depth > 0 ? 9 : 6);
    put(maker, form == 6 ? "not (" : "(");
    struct answer a = form < 6 ? make(maker, depth - 1) : make_truth(maker, depth - 1);
    put(maker, ")");
    if (form == 6)
        return (struct answer){!a.value, a.cannot_be};
    put(maker, form == 7 ? " and " : form == 8 ? " or " : signs[form]);
    put(maker, "(");
    struct answer b = form < 6 ? make(maker, depth - 1) : make_truth(maker, depth - 1);
    put(maker, ")");
    if (form >= 7)
        return a.cannot_be || a.value == (form == 8) ? a : b;
    bool truth[] = {a.value == b.value, a.value != b.value,
                    a.value<b.value, a.value <= b.value, a.value> b.value, a.value >= b.value};
    return (struct answer){truth[form], a.cannot_be || b.cannot_be};
}

static struct answer make_choice(struct maker *maker, int depth)
{
    put(maker, "(");
    struct answer then = make(maker, depth - 1);
    put(maker, ") if (");
    struct answer truth = make_truth(maker, depth - 1);
    put(maker, ") else (");
    struct answer otherwise = make(maker, depth - 1);
    put(maker, ")");
    return truth.cannot_be ? truth : truth.value ? then : otherwise;
}

static struct answer make(struct maker *maker, int depth)
{
    int form = draw(maker, 8);
    if (depth <= 0 || form == 0)
        return make_leaf(maker);
    return form < 5   ? make_binary(maker, depth)
           : form < 7 ? make_unary(maker, depth)
                      : make_choice(maker, depth);
}

static void expect_answer(const char *text, struct answer answer)
{
    int64_t number = 0;
    enum status status = kernel_number(&values, kernel.requires[0].truth->args, &number, &error);
    cr_expect_eq(status, answer.cannot_be ? STATUS_INVALID : STATUS_OK, "%s", text);
    if (status == STATUS_OK)
        cr_expect_eq(number, (int64_t)answer.value, "%s is %lld, expected %lld", text,
                     (long long)number, (long long)answer.value);
}

/* The kernel becomes what its printed text says. */
static void reprint(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    kernel_text_print(&kernel, out);
    cr_assert_eq(fclose(out), 0);
    kernel_text_clear(&kernel);
    cr_assert_eq(kernel_text_parse("p", text, size, &kernel, &error), STATUS_OK, "%s\n%s",
                 error.text, text);
    free(text);
}

Test(kernel_eval, random_expressions_are_what_arithmetic_says)
{
    struct maker maker = {gsl_rng_alloc(gsl_rng_mt19937), malloc(1 << 16), 0};
    int known = 0;
    for (int e = 0; e < 3000; e++) {
        maker.length = 0;
        struct answer answer = make(&maker, e % 5);
        if (maker.length > 3000)
            continue;
        read_expression(maker.text);
        expect_answer(maker.text, answer);
        reprint();
        expect_answer(maker.text, answer);
        known += !answer.cannot_be;
    }
    cr_expect_gt(known, 1000);
    gsl_rng_free(maker.rng);
    free(maker.text);
}

/* ---- what is said where there is no number ---- */

static const struct {
    const char *text, *said;
} failures[] = {
    {"4611686018427387904+1", "6:29: a number that cannot be, expected a sum within 2^62"},
    {"-4611686018427387904-1", "6:30: a number that cannot be, expected a difference within 2^62"},
    {"pow2(61)*3", "6:18: a number that cannot be, expected a product within 2^62"},
    {"1/(B-7)", "6:11: a number that cannot be, expected a divisor other than 0 within 2^62"},
    {"1%(B-7)", "6:11: a number that cannot be, expected a divisor other than 0 within 2^62"},
    {"up(1, B-7)",
     "6:10: a number that cannot be, expected a unit of at least 1 and a result within 2^62"},
    {"up(4611686018427387903, 7)",
     "6:10: a number that cannot be, expected a unit of at least 1 and a result within 2^62"},
    {"cdiv(1, -1)", "6:10: a number that cannot be, expected a unit of at least 1 within 2^62"},
    {"gcd(4, B-7)", "6:10: a number that cannot be, expected numbers of at least 1 within 2^62"},
    {"log2(0)", "6:10: a number that cannot be, expected a number of at least 1 within 2^62"},
    {"pow2(63)", "6:10: a number that cannot be, expected an exponent from 0 to 62 within 2^62"},
    {"pow2(-1)", "6:10: a number that cannot be, expected an exponent from 0 to 62 within 2^62"},
};

Test(kernel_eval, what_cannot_be_is_told_by_its_place)
{
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++) {
        int64_t number;
        const struct expression *e = read_expression(failures[f].text);
        cr_expect_eq(kernel_number(&values, e, &number, &error), STATUS_INVALID, "%s",
                     failures[f].text);
        cr_expect_str_eq(error.text, failures[f].said, "%s: %s", failures[f].text, error.text);
    }
}

Test(kernel_eval, sizes_are_1_or_more)
{
    const int64_t refused[][3] = {{0, 1, 1}, {1, -1, 1}, {1, INT64_MAX, 1}, {1, 1, INT64_MIN}};
    read_kernel("");
    for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
        cr_expect_eq(kernel_values_set(&values, &kernel, &hw, DTYPE_F16, refused[r], &error),
                     STATUS_INVALID);
}

/* ---- what else expressions ask ---- */

static const struct {
    const char *text;
    int64_t value;
} answers[] = {
    {"whole(N) - N", 0},
    {"lanes(f32)", 64},
    {"lanes(dtype)", 128},
    {"lanes(accumulator)", 64},
    {"lanes(result)", 128},
    {"lanes(i8)", 256},
    {"1 if has(vadd) else 0", 1},
    {"1 if is(dtype, f16) else 0", 1},
    {"1 if is(result, dtype) else 0", 1},
    {"1 if is(accumulator, f16) else 0", 0},
    {"1 if has(vtanh) else 0", 0},
    {"1 if has(l0c->ub) else 0", 1},
    {"1 if has(ub->l0c) else 0", 0},
    {"1 if has(ub->nowhere) else 0", 0},
    {"1 if 1.5 > 1 else 0", 1},
    {"1 if 3 in (1, 2, M-37) else 0", 1},
    {"1 if 4 in (1, 2, 1/0, 4) and 1 > 2 else 2 if 1 > 2 and 1/0 > 1 else 3", -1},
    {"-7/2", -4},
    {"-7%2", 1},
    {"7/-2", -4},
    {"2-3-4", -5},
    {"100/7/2", 7},
    {"min(3, 1, 2)*max(3, 1, 5)", 5},
};

Test(kernel_eval, chips_types_and_signs)
{
    for (size_t a = 0; a < sizeof answers / sizeof *answers; a++) {
        int64_t number = 0;
        const struct expression *e = read_expression(answers[a].text);
        enum status status = kernel_number(&values, e, &number, &error);
        cr_expect_eq(status, answers[a].value == -1 ? STATUS_INVALID : STATUS_OK, "%s: %s",
                     answers[a].text, error.text);
        cr_expect(status != STATUS_OK || number == answers[a].value, "%s is %lld", answers[a].text,
                  (long long)number);
    }
    cr_expect_eq(kernel_type(&values, KERNEL_ACCUMULATOR), DTYPE_F32);
    cr_expect_eq(kernel_type(&values, DTYPE_I8), DTYPE_I8);
    cr_expect_eq(kernel_type(&values, KERNEL_RESULT), DTYPE_F16); /* as a product's usually are */
    values.result = DTYPE_F32;
    cr_expect_eq(kernel_type(&values, KERNEL_RESULT), DTYPE_F32);
}

Test(kernel_eval, real_numbers)
{
    double real;
    read_kernel("let r = 1.0/N + min(2.5, 7) - 3*0.5\nlet s = -r if N > 2 else 1\n"
                "let q = 1.0/(N-112)\nrequire q > s\n");
    cr_assert_eq(kernel_real(&values, kernel.lets[0].value, &real, &error), STATUS_OK);
    cr_expect_float_eq(real, 1.0 / 112 + 2.5 - 1.5, 1e-12);
    cr_assert_eq(kernel_real(&values, kernel.lets[1].value, &real, &error), STATUS_OK);
    cr_expect_float_eq(real, -(1.0 / 112 + 1), 1e-12);
    cr_expect_eq(kernel_real(&values, kernel.lets[2].value, &real, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "8:12: a number that cannot be, expected a finite one");
}

Test(kernel_eval, words_are_their_numbers)
{
    int64_t truth;
    read_kernel("axis u = a, b, c\nrequire u in (b, c) and u != c\n");
    for (int word = 0; word < 3; word++) {
        values.axes[0] = word;
        cr_assert_eq(kernel_number(&values, kernel.requires[0].truth, &truth, &error), STATUS_OK);
        cr_expect_eq(truth, word == 1);
    }
}

/* ---- axes ---- */

/* The axis whose values are cut so, for a size S in units of `unit`. */
static struct kernel_list axis_of(int64_t size, int64_t unit, const char *cut)
{
    char text[512];
    struct kernel_list list;
    snprintf(text, sizeof text,
             "kernel k\nsize S pad %lld\ntensor Z[S] f16\naxis t = %s\nfor i in S by t\n"
             "  tile z: ub[i] f16\n  vecDup z <- 0\n  store Z <- z\n",
             (long long)unit, cut);
    kernel_text_clear(&kernel);
    cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(kernel_values_set(&values, &kernel, &hw, DTYPE_F16, &size, &error), STATUS_OK);
    cr_assert_eq(kernel_axis_values(&values, 0, &list, &error), STATUS_OK, "%s", error.text);
    return list;
}

/* Is `value` in the cut of a size, both whole units, by its definition? */
static bool is_slice(int64_t size, int64_t unit, int64_t value)
{
    for (int64_t parts = 1; parts <= size / unit; parts++)
        if ((size / unit + parts - 1) / parts * unit == value)
            return true;
    return false;
}

static bool is_divisor(int64_t size, int64_t unit, int64_t value)
{
    return value % unit == 0 && size % value == 0;
}

static bool is_multiple(int64_t size, int64_t unit, int64_t value)
{
    (void)unit;
    return value % 3 == 0 && value < size + 3;
}

static bool is_power(int64_t size, int64_t unit, int64_t value)
{
    (void)unit;
    return value % 2 == 0 && value <= size && (value & (value - 1)) == 0;
}

Test(kernel_eval, values_of_axes_are_what_counting_finds)
{
    static const struct {
        const char *cut;
        bool (*is_value)(int64_t size, int64_t unit, int64_t value);
    } cuts[] = {{"slices(S)", is_slice},
                {"divisors(S)", is_divisor},
                {"multiples(3, S)", is_multiple},
                {"powers(2, S)", is_power}};
    static const int64_t units[] = {1, 2, 16};
    for (int64_t given = 1; given <= 150; given += 1 + given / 20)
        for (int u = 0; u < 3; u++)
            for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
                struct kernel_list list = axis_of(given, units[u], cuts[c].cut);
                int64_t size = (given + units[u] - 1) / units[u] * units[u];
                int found = 0;
                for (int64_t v = 1; v <= size + 3; v++) {
                    bool is_listed = found < list.count && list.values[found] == v;
                    cr_expect_eq(is_listed, cuts[c].is_value(size, units[u], v), "%s of %lld: %lld",
                                 cuts[c].cut, (long long)size, (long long)v);
                    found += is_listed;
                }
                cr_expect_eq(found, list.count);
                free(list.values);
            }
}

/* An axis that cuts another one, lists and words. */
Test(kernel_eval, axes_of_axes)
{
    static const int64_t expected[][5] = {
        {16, 32, 48, -1}, {1, 3, 24, 48, -1}, {0, 1, 2, -1}, {24, 48, -1}, {16, 32, 64, -1}};
    struct kernel_list list;
    read_kernel(
        "axis t = slices(N)\naxis u = slices(t)\naxis l = t, 3, 1, t/2, 3\naxis w = a, b, c\n"
        "axis m = multiples(t/2, t)\naxis p = powers(16, up(t, 64))\n"
        "require w == a and u*l*m*p > 0\n");
    values.axes[0] = 48;
    for (int axis = 1; axis <= 5; axis++) {
        cr_assert_eq(kernel_axis_values(&values, axis, &list, &error), STATUS_OK);
        int count = 0;
        for (; expected[axis - 1][count] >= 0; count++)
            cr_expect(count < list.count && list.values[count] == expected[axis - 1][count],
                      "axis %d, value %d", axis, count);
        cr_expect_eq(list.count, count);
        free(list.values);
    }
}

Test(kernel_eval, axes_of_too_many_values_are_told)
{
    static const struct {
        const char *declarations, *said;
        enum status status;
    } cases[] = {
        {"axis u = slices(pow2(60))\n", "6:6: axis 'u' has more than 65536 values",
         STATUS_TOO_LARGE},
        {"axis u = divisors(pow2(31))\n", "6:6: axis 'u' has more than 65536 values",
         STATUS_TOO_LARGE},
        {"axis u = multiples(1, 65537)\n", "6:6: axis 'u' has more than 65536 values",
         STATUS_TOO_LARGE},
        {"axis u = slices(B-7)\n", "6:6: axis 'u' cuts 0, expected 1 or more", STATUS_INVALID},
        {"axis u = multiples(0, 2)\n", "6:6: axis 'u' cuts 0, expected 1 or more", STATUS_INVALID},
        {"axis u = powers(B-8, 2)\n", "6:6: axis 'u' cuts -1, expected 1 or more", STATUS_INVALID},
        {"axis u = 1, 1/(B-7)\n",
         "6:14: a number that cannot be, expected a divisor other than 0 within 2^62",
         STATUS_INVALID},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[256];
        struct kernel_list list;
        snprintf(text, sizeof text, "%srequire u > 0\n", cases[c].declarations);
        read_kernel(text);
        cr_expect_eq(kernel_axis_values(&values, 0, &list, &error), cases[c].status, "%s", text);
        cr_expect_str_eq(error.text, cases[c].said);
        cr_expect(!list.values && !list.count);
    }
    struct kernel_list list = axis_of(65536, 1, "multiples(1, S)");
    cr_expect_eq(list.count, KERNEL_MAX_VALUES);
    free(list.values);
    list = axis_of(1, 1, "powers(1, 4611686018427387904)");
    cr_expect_eq(list.count, 63);
    free(list.values);
    list = axis_of(1, 1, "powers(8, 4)");
    cr_expect_eq(list.count, 0);
    free(list.values);
}

/* ---- rounds ---- */

#define ROUNDS                                                                                     \
    "kernel k\nsize N\ntensor Z[N] f16\nlet W = N+1\naxis t = 1, 2\naxis u = 1, 2\ncores N, W\n"   \
    "for i in N by t\n  for j in i by u\n    tile z: ub[j] f16\n    vecDup z <- begin(j)\n"        \
    "    store Z <- z if first(j) or last(i)\n  for k in W by t\n    tile y: ub[k] f16\n"          \
    "    vecDup y <- 0\n"

/* Elements of the size from `begin` on, each in one round of both loops. */
static void expect_rounds(int64_t begin, int64_t size)
{
    int64_t next = begin, outer, inner;
    values.sizes[0] = (struct kernel_range){.begin = begin, .length = size};
    cr_assert_eq(kernel_loop_count(&values, 0, &outer, &error), STATUS_OK);
    cr_expect_eq(outer, (size + values.axes[0] - 1) / values.axes[0]);
    for (int64_t i = 0; i < outer; i++) {
        cr_assert_eq(kernel_loop_enter(&values, 0, i, &error), STATUS_OK);
        cr_assert_eq(kernel_loop_count(&values, 1, &inner, &error), STATUS_OK);
        cr_expect(values.loops[0].begin == next && values.loops[0].is_first == (i == 0) &&
                  values.loops[0].is_last == (i == outer - 1));
        for (int64_t j = 0; j < inner; j++) {
            int64_t number, stored;
            cr_assert_eq(kernel_loop_enter(&values, 1, j, &error), STATUS_OK);
            cr_expect(values.loops[1].begin == next && values.loops[1].length > 0 &&
                      values.loops[1].length <= values.axes[1]);
            cr_assert_eq(
                kernel_number(&values, kernel.lines[3].step->from[0].value, &number, &error),
                STATUS_OK);
            cr_expect_eq(number, next);
            cr_assert_eq(kernel_number(&values, kernel.lines[4].step->condition, &stored, &error),
                         STATUS_OK);
            cr_expect_eq(stored, j == 0 || i == outer - 1);
            next += values.loops[1].length;
        }
    }
    cr_expect_eq(next, begin + size, "all of it, once");
}

Test(kernel_eval, rounds_take_all_of_a_range_once)
{
    int64_t given = 100;
    cr_assert_eq(kernel_text_parse("k", ROUNDS, strlen(ROUNDS), &kernel, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(kernel_values_set(&values, &kernel, &hw, DTYPE_F16, &given, &error), STATUS_OK);
    for (int64_t size = 1; size < 40; size++)
        for (values.axes[0] = 1; values.axes[0] < 45; values.axes[0] += 3)
            for (values.axes[1] = 1; values.axes[1] < 45; values.axes[1] += 4)
                expect_rounds(size % 3 ? 0 : 64, size);
    values.axes[0] = 0;
    cr_expect_eq(kernel_loop_count(&values, 0, &given, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "8:15: loop 'i' by 0, expected 1 or more");
}

/* A core's share of a let begins where it does. */
Test(kernel_eval, lets_are_shared_too)
{
    int64_t given = 100, count;
    cr_assert_eq(kernel_text_parse("k", ROUNDS, strlen(ROUNDS), &kernel, &error), STATUS_OK);
    cr_assert_eq(kernel_values_set(&values, &kernel, &hw, DTYPE_F16, &given, &error), STATUS_OK);
    values.axes[0] = 10;
    cr_assert_eq(kernel_loop_count(&values, 2, &count, &error), STATUS_OK);
    cr_expect_eq(count, 11);
    values.is_shared[0] = true;
    values.lets[0] = (struct kernel_range){.begin = 51, .length = 25};
    cr_assert_eq(kernel_loop_count(&values, 2, &count, &error), STATUS_OK);
    cr_expect_eq(count, 3);
    cr_assert_eq(kernel_loop_enter(&values, 2, 2, &error), STATUS_OK);
    cr_expect(values.loops[2].begin == 71 && values.loops[2].length == 5 &&
              values.loops[2].is_last);
}

/* What was computed once is forgotten with the shares that it was computed from; tensors are whole.
 */
Test(kernel_eval, lets_are_kept_until_sizes_change)
{
    static const char text[] = "kernel k\nsize N\nlet m = 2*N\nlet twice = 2*m\n"
                               "let rest = 7 / (N - 100)\ntensor X[m] f16, Z[m] f16\n"
                               "cores N\nfor i in N by 10\n  let j = 2*i\n  tile x: ub[j] f16\n"
                               "  load x <- X[j from begin(i)]\n  store Z[j from begin(i)] <- x\n"
                               "  vecDup x <- 1.0 elements=twice if rest == 1\n";
    struct kernel_env *env = calloc(1, sizeof *env);
    int64_t given = 100, used, extent;
    cr_assert(env);
    kernel_text_clear(&kernel);
    cr_assert_eq(kernel_text_parse("k", text, strlen(text), &kernel, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(kernel_values_set(&env->values, &kernel, &hw, DTYPE_F16, &given, &error),
                 STATUS_OK);
    for (int64_t cores = 1; cores <= 4; cores *= 4) {
        cr_assert_eq(kernel_share(&env->values, cores, &used, &error), STATUS_OK);
        cr_expect_eq(env->values.kept, 0);
        kernel_keep_lets(&env->values);
        cr_expect_eq(env->values.kept, cores == 1 ? 0x3 : 0x7); /* 7 / 0 is no number */
        cr_expect_eq(env->values.numbers[1], 400 / cores);
        cr_assert_eq(plan_tensor_extent(env, 0, 0, &extent, &error), STATUS_OK);
        cr_expect_eq(extent, 200);
    }
    free(env);
}
