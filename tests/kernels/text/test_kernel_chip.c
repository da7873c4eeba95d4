/* What a chip cannot do is refused: units with operands in every buffer, operations of every type,
 * conversions of all pairs, on four chips. What should be taken stands here once more, copied from
 * the chips' own platform files and references by hand. */
#include "hardware/load.h"
#include "kernels/text/space/kernel_space.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const chips[] = {"ascend310", "ascend910", "ascend910b1", "ascend910b2"};
enum { CHIPS = sizeof chips / sizeof *chips };

static struct hardware hw;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
}

TestSuite(kernel_chip, .init = enter);

static void open_chip(const char *name)
{
    struct error error;
    cr_assert_eq(hardware_load(name, NULL, &hw, &error), STATUS_OK, "%s", error.text);
}

/* Is the text a kernel that the chip can run? Else `why` has the reason. */
static bool is_taken(const char *text, struct error *why)
{
    static const int64_t sizes[] = {64, 64, 64};
    struct space space = {.hw = &hw};
    enum status status = kernel_space_parse(&space, "t", text, sizes, DTYPE_F16, DTYPE_F16, 1, why);
    kernel_destroy(&space);
    free(space.blocks);
    cr_assert(status == STATUS_OK || status == STATUS_INVALID, "%s\n%s", why->text, text);
    return status == STATUS_OK;
}

/* ------------------------------------------------------------------ buffers */

static bool has_path(const char *from, const char *to)
{
    int source = hardware_buffer(&hw, from, (int)strlen(from));
    return hardware_path(&hw, source, hardware_buffer(&hw, to, (int)strlen(to))) >= 0;
}

/* A product or a sum with one operand in `buffer`, which is loaded from global memory. */
static void put_kernel(const char *operand, const char *buffer, char text[1024])
{
    bool is_product = strchr("abc", *operand) != NULL;
    const char *a = "l0a", *b = "l0b", *c = "l0c", *x = "ub", *y = "ub";
    *(*operand == 'a'   ? &a
      : *operand == 'b' ? &b
      : *operand == 'c' ? &c
      : *operand == 'x' ? &x
                        : &y) = buffer;
    if (is_product)
        snprintf(text, 1024,
                 "kernel t\nsize M K N\ntensor A[M,K] f16, B[K,N] f16, C[M,N] f32\n"
                 "tile a: %s[M,K] f16\ntile b: %s[K,N] f16\ntile c: %s[M,N] f32\n"
                 "load a <- A\nload b <- B\nmmad c <- a, b\nstore C <- c\n",
                 a, b, c);
    else
        snprintf(text, 1024,
                 "kernel t\nsize M K\ntensor A[M,K] f16, C[M,K] f16\n"
                 "tile x: %s[M,K] f16\ntile y: %s[M,K] f16\n"
                 "load x <- A\nrelu y <- x\nstore C <- y\n",
                 x, y);
}

/* A path from global memory brings operands everywhere but to L0C; results may have none. */
static void expect_operand(const char *chip, const char *operand, const char *right,
                           const char *buffer)
{
    char text[1024], expected[128];
    struct error why = {.text = ""};
    bool is_result = *operand == 'c' || *operand == 'y';
    if (!is_result && !has_path("gm", buffer))
        return;
    put_kernel(operand, buffer, text);
    bool taken = is_taken(text, &why);
    if (strcmp(buffer, right) == 0) {
        cr_expect(taken || strstr(why.text, "'C' needs a path l0c->gm"), "%s, %s: %s", chip,
                  operand, why.text);
        return;
    }
    snprintf(expected, sizeof expected, "'%s' lies in %s, expected %s", operand, buffer, right);
    cr_expect(!taken && strstr(why.text, expected), "%s: %s\n%s", chip, why.text, text);
}

Test(kernel_chip, operands_lie_where_their_unit_reaches)
{
    static const char *const buffers[] = {"l1", "l0a", "l0b", "l0c", "ub"};
    static const struct {
        const char *operand, *right;
    } operands[] = {{"a", "l0a"}, {"b", "l0b"}, {"c", "l0c"}, {"x", "ub"}, {"y", "ub"}};
    for (int chip = 0; chip < CHIPS; chip++) {
        open_chip(chips[chip]);
        for (size_t o = 0; o < sizeof operands / sizeof *operands; o++)
            for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
                expect_operand(chips[chip], operands[o].operand, operands[o].right, buffers[b]);
        hardware_clear(&hw);
    }
}

Test(kernel_chip, says_which_lines_mend_it)
{
    static const struct {
        const char *lines, *expected;
    } cases[] = {
        {"  tile acc: l0c[i,N] f32\n  mmad acc <- a1, b0\n",
         "10:3: 'a1' lies in l1, expected l0a, from where pipe M takes it: 'tile a1_l0a: l0a[i,K] "
         "f16' and before it 'load a1_l0a <- a1'"},
        {"  tile out: ub[i,N] f32\n  tile a0: l0a[i,K] f16\n  load a0 <- a1\n"
         "  mmad out <- a0, b0\n",
         "12:3: 'out' lies in ub, expected l0c, where pipe M leaves it: 'tile out_l0c: l0c[i,N] "
         "f32', and behind it 'move out <- out_l0c'"},
        {"  tile y: l0c[i,K] f16\n  tile x: ub[i,K] f16\n  load x <- A\n  relu y <- x\n",
         "12:3: 'y' lies in l0c, expected ub, where pipe V leaves it"},
        {"  tile y: ub[16] f16\n  scalar assign y[1 from 0] <- a1[1 from 0,1 from 0]\n",
         "10:3: 'a1' lies in l1, expected gm or ub, from where pipe S takes it: 'tile a1_ub: "
         "ub[i,K] f16' and before it 'load a1_ub <- a1'"},
    };
    open_chip("ascend310");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[1024];
        struct error why = {.text = ""};
        snprintf(text, sizeof text,
                 "kernel t\nsize M K N\ntensor A[M,K] f16, B[K,N] f16, Z[M,K] f16\n"
                 "for i in M by 16\n  tile a1: l1[i,K] f16 x 2  # a comment ]\n  load a1 <- A\n"
                 "  tile b0: l0b[K,N] f16\n  load b0 <- B\n%s"
                 "  tile z: ub[i,K] f16\n  load z <- A\n  store Z <- z\n",
                 cases[c].lines);
        cr_expect(!is_taken(text, &why) && strstr(why.text, cases[c].expected), "%s\n%s", why.text,
                  text);
    }
    hardware_clear(&hw);
}

/* ------------------------------------------------------------------ types */

/* One operation of so many sources. */
static void put_operation(const char *operation, int sources, const char *from, const char *to,
                          char text[1024])
{
    static const char *const rest[] = {"", "", ", x", ", x, x"};
    snprintf(text, 1024,
             "kernel t\nsize M\ntensor A[M,512] %s, C[M,512] %s\n"
             "tile x: ub[M,512] %s\ntile y: ub[M,512] %s\nload x <- A\n%s y <- x%s\nstore C <- y\n",
             from, to, from, to, operation, rest[sources]);
}

static void expect_types(const char *chip, const char *operation, int sources, const char *types)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        char text[1024], word[16], list[64];
        struct error why = {.text = ""};
        const char *name = dtype_name((enum dtype)type);
        put_operation(operation, sources, name, name, text);
        snprintf(word, sizeof word, " %s ", name);
        snprintf(list, sizeof list, " %s ", types);
        bool taken = is_taken(text, &why), is_right = strstr(list, word) != NULL;
        cr_expect_eq(taken, is_right, "%s: %s of %s: %s", chip, operation, name, why.text);
        snprintf(text, sizeof text, "%s of %s: ", operation, name);
        cr_expect(taken || strstr(why.text, text), "%s", why.text);
    }
}

Test(kernel_chip, operations_take_their_types)
{
    static const struct {
        const char *operation;
        int sources;
        const char *types[CHIPS]; /* NULL: the chip has not got it */
    } rows[] = {
        {"relu", 1, {"f16", "f16", "f16 f32 i32", "f16 f32 i32"}},
        {"exp", 1, {"f16", "f16 f32", "f16 f32", "f16 f32"}},
        {"ln", 1, {"f16", "f16 f32", "f16 f32", "f16 f32"}},
        {"vadd", 2, {"f16 f32 i32", "f16 f32 i32", "f16 f32 i32 i16", "f16 f32 i32 i16"}},
        {"vmin", 2, {"f16 f32 i32", "f16 f32 i32", "f16 f32 i32 i16", "f16 f32 i32 i16"}},
        {"vand", 2, {"i16 u16", "i16 u16", "i16 u16", "i16 u16"}},
        {"vdiv", 2, {NULL, "f16 f32", "f16 f32", "f16 f32"}},
        {"vsqrt", 1, {NULL, "f16 f32", "f16 f32", "f16 f32"}},
        {"vecSel", 3, {"f16", "f16 f32", "f16 f32", "f16 f32"}},
        {"vecCmpEq", 2, {NULL, "f16 f32", "f16 f32 i32", "f16 f32 i32"}},
    };
    for (int chip = 0; chip < CHIPS; chip++) {
        open_chip(chips[chip]);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if (rows[r].types[chip])
                expect_types(chips[chip], rows[r].operation, rows[r].sources, rows[r].types[chip]);
        hardware_clear(&hw);
    }
}

Test(kernel_chip, casts_convert_the_pairs_that_there_are)
{
    static const char on_310[] = " f32:f16 f16:f32 f16:i32 f16:i8 f16:u8 i32:f16 i8:f16 u8:f16 ";
    static const char on_910[] =
        " f32:f16 f32:i32 f16:f32 f16:i32 f16:i8 f16:u8 i32:f32 i32:f16 i8:f16 u8:f16 ";
    static const char on_910b[] =
        " f32:f32 f32:f16 f32:bf16 f32:i16 f32:i32 f16:f32 f16:i16 f16:i32 f16:i8 f16:u8 bf16:f32 "
        "bf16:i32 "
        "i16:f16 i16:f32 i16:i8 i16:u8 i32:f16 i32:f32 i32:i16 i8:f16 u8:f16 ";
    static const char *const pairs[CHIPS] = {on_310, on_910, on_910b, on_910b};
    for (int chip = 0; chip < CHIPS; chip++) {
        open_chip(chips[chip]);
        for (int from = 0; from < DTYPE_COUNT; from++)
            for (int to = 0; to < DTYPE_COUNT; to++) {
                char text[1024], pair[32];
                struct error why = {.text = ""};
                put_operation("cast", 1, dtype_name((enum dtype)from), dtype_name((enum dtype)to),
                              text);
                snprintf(pair, sizeof pair, " %s:%s ", dtype_name((enum dtype)from),
                         dtype_name((enum dtype)to));
                bool is_right = from == to || strstr(pairs[chip], pair); /* or a copy */
                cr_expect_eq(is_taken(text, &why), is_right, "%s,%s: %s", chips[chip], pair,
                             why.text);
            }
        hardware_clear(&hw);
    }
}

Test(kernel_chip, says_which_casts_would_do)
{
    static const struct {
        const char *chip, *operation, *from, *to, *expected;
    } cases[] = {
        {"ascend310", "cast", "f32", "i8",
         "7:1: cast of f32 to i8: Ascend 310 converts f32 to f16 only; in steps, f32 -> f16 -> i8, "
         "with a tile of each type"},
        {"ascend910b2", "cast", "u8", "bf16", "in steps, u8 -> f16 -> f32 -> bf16"},
        {"ascend310", "cast", "u32", "f16", "converts u32 to nothing only"},
        {"ascend310", "exp", "u8", "u8",
         "7:1: exp of u8: Ascend 310 has it of f16 only; cast u8 -> f16 first"},
        {"ascend910b2", "vdiv", "i8", "i8",
         "vdiv of i8: Ascend 910B2 has it of f16 or f32 only; cast i8 -> f16 first"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[1024];
        struct error why = {.text = ""};
        open_chip(cases[c].chip);
        put_operation(cases[c].operation, strcmp(cases[c].operation, "vdiv") ? 1 : 2, cases[c].from,
                      cases[c].to, text);
        cr_expect(!is_taken(text, &why) && strstr(why.text, cases[c].expected), "%s", why.text);
        hardware_clear(&hw);
    }
}
