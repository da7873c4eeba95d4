/* The reader of kernels: every message with its line and column, the spellings that mean the same,
 * limits, and that what is printed reads back: the texts of the library and random ones. */
#include "kernels/text/kernel_text.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

/* Four lines of declarations, and what makes a kernel of them. */
#define HEAD            "kernel k\nsize N pad 16\ntensor X[N] f16, Z[N] f16\naxis t = slices(N)\n"
#define LOAD            "for i in N by t\n  tile x: ub[i] f16\n  load x <- X\n"
#define STORE           "  store Z <- x\n"
#define DECLARED(lines) HEAD lines LOAD STORE
#define WITHIN(lines)   HEAD LOAD lines STORE

static enum status parse(const char *text, struct kernel_text *kernel, struct error *error)
{
    *error = (struct error){0};
    memset(kernel, 0xa5, sizeof *kernel);
    return kernel_text_parse("k", text, strlen(text), kernel, error);
}

static char *print(const struct kernel_text *kernel)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    kernel_text_print(kernel, out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

/* ---- what is refused ---- */

static const struct {
    const char *text, *said;
} refusals[] = {
    /* tokens */
    {DECLARED("\tsize M\n"), "5:1: a tab, expected blanks"},
    {DECLARED("let w = N $ 2\n"), "5:11: character '$', expected a word, a number or a mark"},
    {DECLARED("let w = 2w\n"), "5:9: '2w', expected a number or a name"},
    {DECLARED("let w = 9999999999999999999\n"),
     "5:9: '9999999999999999999', expected a number up to 2^62"},
    {DECLARED("let w = 4611686018427387905\n"),
     "5:9: '4611686018427387905', expected a number up to 2^62"},
    {"kernel k\ntitle \"a\n", "2:7: a text without its second \""},
    {"kernel k\ntitle \"a\001\"\n", "2:9: a character that cannot be shown, expected UTF-8 text"},
    {"kernel k\ntitle a\n", "2:7: 'a', expected a text in quotes"},
    {DECLARED("let w = \344\n"), "5:9: character '?', expected a word, a number or a mark"},
    {DECLARED("let w = 1.2.3\n"), "5:12: character '.', expected a word, a number or a mark"},
    {DECLARED("let w = 1111111111111111111111111111111111111111111111111111111111111111111111\n"),
     "5:9: a number of 70 digits, expected 64"},
    /* lines */
    {"", "1:1: no kernel, expected 'kernel' and its name"},
    {"# nothing\n", "1:1: no kernel, expected 'kernel' and its name"},
    {"size N\n", "1:1: 'size', expected 'kernel' and its name"},
    {HEAD "  for i in N by t\n  tile x: ub[i] f16\n  load x <- X\n  store Z <- x\n",
     "5:3: indented by 2, expected 0 as the lines around it"},
    {HEAD "for i in N by t\n tile x: ub[i] f16\n",
     "6:2: indented by 1 blank more than its loop, expected two or more"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n   load x <- X\n",
     "7:4: indented by 3, expected 2 as the lines around it"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n load x <- X\n",
     "7:2: indented by 1, expected 0 as the lines around it"},
    {HEAD "for i in N by t\n\tload x <- X\n", "6:1: a tab, expected blanks"},
    {"kernel k\nkernel l\n", "2:8: a second kernel, expected one a text"},
    {DECLARED("title \"a\"\ntitle \"b\"\n"), "6:7: a second title, expected one a kernel"},
    {DECLARED("cores N\ncores N\n"), "6:7: a second line of 'cores', expected one a kernel"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  load x <- X\n  store Z <- x\nsize M\n",
     "9:1: 'size' behind the first loop, tile or step, expected above it"},
    {HEAD "for i in N by t each 3\n", "5:22: '3', expected the end of the line"},
    {DECLARED("for i in N by t\n"),
     "6:5: 'i' is declared twice: line 5 has a loop of that name, expected another one"},
    {HEAD "for i in N by t\nfor j in N by t\n  tile x: ub[j] f16\n",
     "5:1: loop 'i' has no steps, expected one or more in its body"},
    /* names */
    {DECLARED("size for\n"), "5:6: 'for' is a word of the language, expected a name"},
    {DECLARED("size f16\n"), "5:6: 'f16' is a type, expected a name"},
    {DECLARED("size bursts\n"), "5:6: 'bursts' is a word of the language, expected a name"},
    {DECLARED("size t\n"),
     "5:6: 't' is declared twice: line 4 has an axis of that name, expected another one"},
    {DECLARED("let N = 2\n"),
     "5:5: 'N' is declared twice: line 2 has a size of that name, expected another one"},
    {DECLARED("size abcdefghijklmnopqrstuvwxyz123456\n"),
     "5:6: a name of 32 characters, expected at most 31"},
    {DECLARED("size 3\n"), "5:6: '3', expected a name"},
    {DECLARED("let w = M\n"), "5:9: unknown name 'M', expected a number, size, let, axis or range"},
    {DECLARED("let w = n+1\n"),
     "5:9: unknown name 'n', expected a number, size, let, axis or range; did you mean N?"},
    {DECLARED("let w = w+1\n"), "5:9: 'w' uses itself, expected what is declared above it"},
    {DECLARED("axis u = slices(u)\n"), "5:17: 'u' uses itself, expected what is declared above it"},
    {DECLARED("let w = X\n"), "5:9: 'X' is a tensor, expected a number, size, let, axis or range"},
    {DECLARED("let w = i\n"), "5:9: unknown name 'i', expected a number, size, let, axis or range"},
    {WITHIN("  load x <- Y\n"), "8:13: unknown name 'Y', expected a tile or tensor"},
    {WITHIN("  load X2 <- X\n"),
     "8:8: unknown name 'X2', expected a tile or tensor; did you mean X?"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  load x <- X\n  store Z <- x\nfor j in i by 1\n  "
          "load x <- X\n",
     "9:10: 'i' of line 5 is known within its loop only, expected a number, size, let, axis or "
     "range"},
    {HEAD "for i in N by t\n  let w = 2\n  tile x: ub[w*i] f16\n  load x <- X\n  store Z <- x\nfor "
          "j in w by 1\n  load x <- X\n",
     "10:10: 'w' of line 6 is known within its loop only, expected a number, size, let, axis or "
     "range"},
    {"kernel mmad\n", "1:8: 'mmad' is a word of the language, expected a name"},
    {"kernel dtype\n", "1:8: 'dtype' is a word of the language, expected a name"},
    {DECLARED("size M pad 0\n"), "5:12: 0, expected 1 or more"},
    {DECLARED("size M pad N\n"),
     "5:12: a pad that asks for sizes or axes, expected numbers and lanes(TYPE)"},
    {DECLARED("size M = 0\naxis u = slices(M)\n"),
     "6:17: size 'M' may be 0, expected it as a part of a number only"},
    {DECLARED("size M = x\n"), "5:10: 'x', expected a whole number"},
    {DECLARED("axis u = a, b, a\n"), "5:16: 'a' is listed twice, expected another word"},
    {DECLARED("tensor Y[N] f17\n"),
     "5:13: 'f17', expected a type: dtype, accumulator, result, f16, f32, "
     "bf16, i8, u8, i16, u16, i32 or u32"},
    {DECLARED("tensor Y[] f16\n"), "5:10: ']', expected a number, size, let, axis or range"},
    {DECLARED("tensor Y f16\n"), "5:10: 'f16', expected '['"},
    {"kernel k\norder i\n", "2:7: an order of one loop, expected two or more"},
    {DECLARED("order i, j\n"), "5:10: unknown loop 'j', expected one of the body"},
    {DECLARED("order i, i\n"), "5:10: 'i' stands twice in an order, expected once"},
    /* expressions */
    {DECLARED("let w =\n"),
     "5:8: the end of the line, expected a number, size, let, axis or range"},
    {DECLARED("let w = 2 +\n"),
     "5:12: the end of the line, expected a number, size, let, axis or range"},
    {DECLARED("let w = (2\n"), "5:11: the end of the line, expected ')'"},
    {DECLARED("let w = 1 < 2 < 3\n"),
     "5:15: '<' behind a comparison, expected 'and' or parentheses"},
    {DECLARED("let w = up(2)\n"), "5:12: 1 argument, expected 2"},
    {DECLARED("let w = min(2)\n"), "5:13: 1 argument, expected 2 or more"},
    {DECLARED("let w = log2(2, 3)\n"), "5:14: 2 arguments, expected 1"},
    {DECLARED("let w = lg2(2)\n"), "5:9: unknown function 'lg2'; did you mean log2?"},
    {DECLARED("let w = upp(2, 3)\n"), "5:9: unknown function 'upp'; did you mean up?"},
    {DECLARED("let w = lanes(N)\n"),
     "5:15: 'N', expected a type: dtype, accumulator, result, f16, f32, "
     "bf16, i8, u8, i16, u16, i32 or u32"},
    {DECLARED("let w = whole(t)\n"), "5:15: 't' is an axis, expected a size"},
    {DECLARED("let w = begin(N)\n"), "5:15: 'N' is a size, expected the range of a loop around"},
    {DECLARED("let w = has(2)\n"), "5:13: '2', expected an operation or a path, as in l1->l0a"},
    {DECLARED("let w = is(f16)\n"), "5:15: ')', expected ','"},
    {DECLARED("let w = is(f16, half)\n"), "5:17: 'half', expected a type: dtype, accumulator, "
                                          "result, f16, f32, bf16, i8, u8, i16, u16, i32 or u32"},
    {DECLARED("let w = has(l0c->)\n"), "5:18: ')', expected a buffer"},
    {DECLARED("let w = 2 if N\n"), "5:11: 'if', expected the end of the line"},
    {DECLARED("let w = 2 if N else 3\n"), "5:14: a whole number, expected a condition"},
    {DECLARED("let w = 2 if N > 1 else N > 2\n"), "5:27: a condition, expected a whole number"},
    {DECLARED("let w = not N\n"), "5:13: a whole number, expected a condition for 'not'"},
    {DECLARED("let w = N and t\n"), "5:9: a whole number, expected a condition for 'and'"},
    {DECLARED("let w = 1 + (N > 2)\n"), "5:16: a condition, expected a number for '+'"},
    {DECLARED("let w = 1.5 % 2\n"), "5:9: a real number, expected a whole number for '%'"},
    {DECLARED("let w = up(1.5, 2)\n"), "5:12: a real number, expected a whole number for 'up'"},
    {DECLARED("let w = 2 3\n"), "5:11: '3', expected the end of the line"},
    {DECLARED("let w = "
              "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))"
              ")))))))))))))))))))))))))))))))))))))))))))))))))))))))))\n"),
     "5:73: an expression that nests deeper than 64"},
    {DECLARED("let w = ----------------------------------------------------------------------1\n"),
     "5:73: an expression that nests deeper than 64"},
    {DECLARED("let w = "
              "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
              "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n"),
     "5:136: an expression that nests deeper than 64, its lets written out"},
    {DECLARED("let a0 = N+N\nlet a1 = a0+a0\nlet a2 = a1+a1\nlet a3 = a2+a2\nlet a4 = a3+a3\nlet "
              "a5 = a4+a4\nlet a6 = a5+a5\nlet a7 = a6+a6\nlet a8 = a7+a7\nlet a9 = a8+a8\nlet a10 "
              "= a9+a9\nlet a11 = a10+a10\nlet a12 = a11+a11\nlet a13 = a12+a12\n"),
     "15:13: an expression of more than 4096 terms, its lets written out"},
    {DECLARED("let w = N in 2\n"), "5:14: '2', expected '('"},
    {DECLARED("let w = if\n"), "5:9: 'if', expected a number, size, let, axis or range"},
    {DECLARED("require N\n"), "5:9: a whole number, expected a condition"},
    {DECLARED("require 1.0\n"), "5:9: a real number, expected a condition"},
    {DECLARED("cores N+1\n"), "5:8: cores share a size or a let, expected its name or a choice"},
    {DECLARED("cores 4\n"), "5:7: cores share a size or a let, expected its name or a choice"},
    {DECLARED("cores cores by 2\n"), "5:7: 'cores', expected a number, size, let, axis or range"},
    {DECLARED("cores N by N > 2\n"), "5:14: a condition, expected a whole number"},
    {DECLARED("let w = N if t == 2 else N else 3\n"), "5:28: 'else', expected the end of the line"},
    /* words */
    {DECLARED("axis u = a, b\nlet w = u\n"),
     "6:9: 'u' has words, which are compared only, expected a number or a condition"},
    {DECLARED("axis u = a, b\nlet w = u + 1\n"),
     "6:9: 'u' has words, which are compared only, expected a number for '+'"},
    {DECLARED("axis u = a, b\nrequire u == c\n"), "6:14: 'c', expected a word of 'u'"},
    {DECLARED("axis u = both, none\nrequire u in (both, non)\n"),
     "6:21: 'non', expected a word of 'u'; did you mean none?"},
    {DECLARED("axis u = a, b\nrequire u < a\n"),
     "6:13: unknown name 'a', expected a number, size, let, axis or range"},
    {DECLARED("axis u = a, b\nrequire u == 1\n"), "6:14: '1', expected a word of 'u'"},
    {DECLARED("axis u = a, b\nlet w = u if N > 2 else u\n"),
     "6:9: 'u' has words, which are compared only, expected a number or a condition"},
    {DECLARED("axis u = a, b\nlet w = min(u, 2)\n"),
     "6:13: 'u' has words, which are compared only, expected a number for 'min'"},
    {DECLARED("axis u = a, 2\n"),
     "5:10: unknown name 'a', expected a number, size, let, axis or range"},
    {DECLARED("axis u = a, top\n"), "5:13: 'top' is a word of the language, expected a name"},
    {DECLARED("axis u = slices(N, 2)\n"), "5:10: 'slices' of 2, expected 1"},
    {DECLARED("axis u = multiples(N)\n"), "5:10: 'multiples' of 1, expected 2"},
    {DECLARED("axis u = 1.5, 2\n"), "5:10: a real number, expected a whole number"},
    {DECLARED("axis u = 2 > 1\n"), "5:12: a condition, expected a whole number"},
    {DECLARED("axis u = 1,\n"),
     "5:12: the end of the line, expected a number, size, let, axis or range"},
    /* rounds */
    {HEAD "for i in N by t\n  tile x: ub[begin(i)] f16\n",
     "6:14: where a round begins, expected in picks and numbers only, or inside a loop with "
     "'each'"},
    {HEAD "for i in N by t\n  let b = begin(i)\n  for j in i by b\n",
     "7:17: where a round begins, expected in picks and numbers only, or inside a loop with "
     "'each'"},
    {WITHIN("  load x <- X if i > 2\n"), "8:18: the length of a round, expected sizes and axes"},
    {WITHIN("  load x <- X if begin(i) > 2\n"), "8:18: where a round begins, expected in picks and "
                                                "numbers only, or inside a loop with 'each'"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 x2\n", "6:21: 'x2', expected 'x 2' for copies"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 x i\n",
     "6:23: the length of a round, expected sizes and axes"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 x first(i)\n",
     "6:23: a condition, expected a whole number"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 at top if first(i) else i\n",
     "6:31: which round it is, expected sizes and axes"},
    {HEAD "for i in N by 1.5\n", "5:15: a real number, expected a whole number"},
    {HEAD "for i in N by t\n  tile x: ub[i*1.5] f16\n",
     "6:15: a real number, expected a whole number"},
    {WITHIN("  load x <- X bursts=1.5\n"), "8:22: a real number, expected a whole number"},
    {WITHIN("  load x <- X bursts=N > 2\n"),
     "8:24: '>', expected a key, 'if' or the end of the line"},
    {HEAD "for i in N by t\n  @i load x <- X\n",
     "6:4: the length of a round, expected sizes and axes"},
    {HEAD "@1 for i in N by t\n", "5:1: '@' outside of any loop, expected inside one"},
    {HEAD "for i in N by t\n  @1 tile x: ub[i] f16\n",
     "6:6: 'tile', expected 'for' or a step behind '@'"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 at N\n",
     "6:24: 'N' is a size, expected a loop around or 'top'"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 at j\n",
     "6:24: unknown name 'j', expected a loop around or 'top'"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 at 3\n",
     "6:24: '3', expected a loop around or 'top'"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 x 2+ 1\n",
     "6:26: a blank, expected a number, size, let, axis or range"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 x\n",
     "6:22: the end of the line, expected a number, size, let, axis or range"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16 y 2\n", "6:21: 'y', expected the end of the line"},
    {HEAD "for i in N\n", "5:11: the end of the line, expected 'by'"},
    {HEAD "for i of N\n", "5:7: 'of', expected 'in'"},
    {HEAD "tile x ub[N] f16\n", "5:8: 'ub', expected ':'"},
    {HEAD "tile x: 3[N] f16\n", "5:9: '3', expected a buffer"},
    /* steps */
    {WITHIN("  load x <- x, x\n"), "8:16: another source, expected at most 1"},
    {WITHIN("  load x\n"), "8:9: the end of the line, expected '<-'"},
    {WITHIN("  load x <-\n"), "8:12: the end of the line, expected a tile or tensor"},
    {WITHIN("  load x X\n"), "8:10: 'X', expected '<-'"},
    {WITHIN("  mmad x <- x\n"), "8:8: 1 source, expected 2"},
    {WITHIN("  mmad x <- x, x, x, x\n"), "8:22: another source, expected at most 3"},
    {WITHIN("  store Z <- x, x, x\n"), "8:20: another source, expected at most 2"},
    {WITHIN("  store Z <- x relu=2\n"), "8:21: relu=2, expected 0 or 1"},
    {WITHIN("  load x <- X relu=1\n"), "8:15: unknown key 'relu' of 'load'"},
    {WITHIN("  vsel x <- x, x, x, x\n"), "8:22: another source, expected at most 3"},
    {WITHIN("  scalar assign x <- x, x\n"), "8:25: another source, expected at most 1"},
    {WITHIN("  load X <- x\n"), "8:8: 'X' is a tensor, expected a tile on the chip for 'load'"},
    {WITHIN("  store x <- x\n"),
     "8:9: 'x' is a tile on the chip, expected a tensor or a tile in gm for 'store'"},
    {WITHIN("  store Z <- X\n"), "8:14: 'X' is a tensor, expected a tile on the chip for 'store'"},
    {WITHIN("  move x <- X\n"), "8:13: 'X' is a tensor, expected a tile on the chip for 'move'"},
    {WITHIN("  laod x <- X\n"),
     "8:13: 'X' is a tensor, expected a tile on the chip for 'laod'; did you mean load?"},
    {WITHIN("  mmad Z <- x, x\n"), "8:8: 'Z' is a tensor, expected a tile on the chip for 'mmad'"},
    {WITHIN("  load x <- 2\n"), "8:13: '2', expected a tile or tensor"},
    {WITHIN("  mmad x <- x, 2\n"), "8:16: '2', expected a tile or tensor"},
    {WITHIN("  tile g: gm[i] f16\n  load g <- x\n"),
     "9:8: 'g' is a tile in gm, expected a tile on the chip for 'load'"},
    {WITHIN("  tile g: gm[i] f16\n  move g <- x\n"),
     "9:8: 'g' is a tile in gm, expected a tile on the chip for 'move'"},
    {WITHIN("  load x <- X[i, 2]\n"), "8:18: another pick, expected at most one a dimension: 1"},
    {WITHIN("  load x[i, :, 1] <- X\n"), "8:13: another pick, expected at most one a dimension: 1"},
    {WITHIN("  load x <- X[i\n"), "8:16: the end of the line, expected ']'"},
    {WITHIN("  load x <- X[]\n"), "8:15: ']', expected a number, size, let, axis or range"},
    {WITHIN("  load x <- X[i from]\n"), "8:21: ']', expected a number, size, let, axis or range"},
    {WITHIN("  load x <- X[i from 0 by]\n"),
     "8:26: ']', expected a number, size, let, axis or range"},
    {WITHIN("  load x <- X[1.5]\n"), "8:15: a real number, expected a whole number"},
    {WITHIN("  load x <- X[N > 2]\n"), "8:17: a condition, expected a whole number"},
    {WITHIN("  load x <- X burst=2\n"),
     "8:15: unknown key 'burst' of 'load'; did you mean bursts?"},
    {WITHIN("  load x <- X add=1\n"), "8:15: unknown key 'add' of 'load'"},
    {WITHIN("  load x <- X fill=1 fill=2\n"), "8:22: key 'fill' is given twice"},
    {WITHIN("  load x <- X fill\n"), "8:19: the end of the line, expected '='"},
    {WITHIN("  load x <- X unit=2\n"), "8:20: unit=2, expected 0 or 1"},
    {WITHIN("  load x <- X, if N > 2\n"), "8:16: another source, expected at most 1"},
    {WITHIN("  load x <- X if\n"),
     "8:17: the end of the line, expected a number, size, let, axis or range"},
    {WITHIN("  load x <- X 3\n"), "8:15: '3', expected a key, 'if' or the end of the line"},
    {WITHIN("  relu x <- x elements=i bursts=2\n"), "8:26: unknown key 'bursts' of 'relu'"},
    {WITHIN("  relu\n"), "8:7: the end of the line, expected a tile or tensor"},
    {WITHIN("  + x <- x\n"), "8:3: '+', expected 'for', 'let', 'tile' or a step"},
    {WITHIN("  by x <- x\n"), "8:3: 'by', expected 'for', 'let', 'tile' or a step"},
    {WITHIN("  scalar 3\n"), "8:10: '3', expected an operation"},
    {WITHIN("  relu x <- N > 2\n"), "8:15: a condition, expected a number"},
    {WITHIN("  relu x <- y\n"),
     "8:13: unknown name 'y', expected a tile, number, size, let, axis or range"},
    /* rules */
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n",
     "5:1: loop 'i' has no steps, expected one or more in its body"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  load x <- X\n  relu x <- x\n",
     "1:8: kernel 'k' stores nothing, expected a step 'store TENSOR <- TILE'"},
    {DECLARED("size M\n"), "5:6: size 'M' changes nothing, expected a use of it"},
    {DECLARED("axis u = 1, 2\n"), "5:6: axis 'u' changes nothing, expected a use of it"},
    {DECLARED("let w = 2\n"), "5:5: let 'w' changes nothing, expected a use of it"},
    {DECLARED("tensor Y[N] f16\n"),
     "5:8: tensor 'Y' is used by no step, expected one that loads or stores it"},
    {WITHIN("  tile y: ub[i] f16\n"),
     "8:8: tile 'y' is used by no step, expected one that writes or reads it"},
    {DECLARED("order i, j\n"), "5:10: unknown loop 'j', expected one of the body"},
    {HEAD "order i, j\nfor i in N by t\n  tile x: ub[i] f16\n  for j in N by t\n    load x <- X\n  "
          "store Z <- x\n",
     "5:7: an order of 'i' and 'j', expected loops of which one is all that the other's body "
     "holds"},
    {HEAD "order i, j\nfor i in N by t\n  for j in i by 1\n    tile x: ub[j] f16\n    load x <- "
          "X\n    store Z <- x\n",
     "5:7: 'j' runs in the rounds of a loop that the order names with it, expected loops that do "
     "not"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  relu x <- x\n  store Z <- x\n",
     "7:13: tile 'x' is read before anything wrote it in its life, a round of loop 'i'; expected a "
     "step above that does"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  store Z <- x\n  load x <- X\n",
     "7:14: tile 'x' is read before anything wrote it in its life, a round of loop 'i'; expected a "
     "step above that does"},
    {HEAD "for i in N by t\n  for j in i by 16\n    tile x: ub[j] f16\n    load x <- X\n  store Z "
          "<- x\n",
     "9:14: tile 'x' lives in a round of loop 'j', expected its use inside that"},
    {HEAD "for i in N by t\n  for j in i by 16\n    tile x: ub[j] f16 at top if t > 2 else j\n    "
          "load x <- X\n  store Z <- x\n",
     "9:14: tile 'x' lives in a round of loop 'j', expected its use inside that"},
    {HEAD "for i in N by t\n  tile x: ub[i] f16\n  for j in i by 16\n    load x[:] <- X[i]\n    "
          "relu x <- x\n  store Z <- x\n",
     "9:10: tile 'x' is kept over the rounds of loop 'j', expected loads alone to write it"},
    {HEAD "for i in N by t\n  for j in N by t\n    tile x: ub[i] f16\n    load x <- X\n    store "
          "Z[i] <- x\n",
     "8:15: ranges 'i' and 'j' both fit here, expected picks that say which"},
    {HEAD "for i in N by t\n  for j in N by t\n    tile x: ub[t] f16\n    load x <- X[i]\n    "
          "store Z <- x\n",
     "9:11: ranges 'i' and 'j' both fit here, expected picks that say which"},
    {HEAD "for i in N by t\n  for j in N by t\n    tile x: ub[i] f16 at top\n    load x <- X[i]\n  "
          "  store Z[i] <- x\n",
     "8:10: ranges 'i' and 'j' both fit here, expected picks that say which"},
};

Test(kernel_text, what_breaks_a_rule_is_refused_by_line_and_column)
{
    for (size_t r = 0; r < sizeof refusals / sizeof *refusals; r++) {
        struct kernel_text kernel;
        struct error error;
        char said[512];
        snprintf(said, sizeof said, "k:%s", refusals[r].said);
        enum status status = parse(refusals[r].text, &kernel, &error);
        bool is_limit =
            strstr(said, "more than") || strstr(said, "deeper than") || strstr(said, "a number of");
        cr_expect_eq(status,
                     is_limit && !strstr(said, "blank more than") ? STATUS_TOO_LARGE
                                                                  : STATUS_INVALID,
                     "%s", refusals[r].text);
        cr_expect_eq(error.status, status);
        cr_expect_str_eq(error.text, said, "\n%s\ninstead of\n%s\nof\n%s", error.text, said,
                         refusals[r].text);
        cr_expect(!kernel.memory && !kernel.lines && !kernel.size_count, "it is empty");
        kernel_text_clear(&kernel);
    }
}

/* ---- limits ---- */

/* `count` times a piece of text, in which %d is which, within two others. */
/* The line itself stands below, blanks and comments with it, and what is found at the end of a text
 * or in its numbers has a line too. */
Test(kernel_text, what_is_refused_is_shown)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {DECLARED("let w = N $ 2  # \303\244\n"), "  let w = N $ 2  # \303\244\n            ^"},
        {"kernel k\r\nsize N pad 0\r\n", "  size N pad 0\n             ^"},
        {"kernel k\ntitle \"\303\244\n", "  title \"\303\244\n        ^"},
        {"\357\273\277kernel 3\n", "  kernel 3\n         ^"},
        {DECLARED("\tsize M\n"), "   size M\n  ^"},
        {HEAD "for i in N by t\n  tile x: ub[i] f16\n  store Z <- x",
         "    store Z <- x\n               ^"},
        {"", ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct kernel_text kernel;
        struct error error;
        cr_assert_neq(parse(cases[c].text, &kernel, &error), STATUS_OK, "%s", cases[c].text);
        cr_expect_str_eq(error.excerpt, cases[c].shown, "%s", error.text);
    }
}

/* What is found in a kernel's numbers has no file; whoever knows the kernel puts it there. */
Test(kernel_text, numbers_errors_are_located)
{
    struct kernel_text kernel;
    struct error error;
    cr_assert_eq(parse(DECLARED("require N > 1\n"), &kernel, &error), STATUS_OK, "%s", error.text);
    error_set(&error, STATUS_INVALID, "5:9: no number");
    cr_expect_eq(kernel_text_locate(&kernel, STATUS_INVALID, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "k:5:9: no number");
    cr_expect_str_eq(error.excerpt, "  require N > 1\n          ^");
    static const char *const others[] = {"out of memory", "5: no", "5:9", "-5:9: no", "f:5:9: no"};
    for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        error_set(&error, STATUS_INVALID, "%s", others[o]);
        kernel_text_locate(&kernel, STATUS_INVALID, &error);
        cr_expect_str_eq(error.text, others[o]);
        cr_expect_str_eq(error.excerpt, "");
    }
    error_set(&error, STATUS_INVALID, "4000:4000: beyond the text");
    kernel_text_locate(&kernel, STATUS_INVALID, &error);
    cr_expect_str_eq(error.excerpt, "");
    cr_expect_eq(kernel_text_locate(&kernel, STATUS_OK, &error), STATUS_OK);
    kernel_text_clear(&kernel);
}

static enum status parse_many(const char *before, const char *piece, int count, const char *after,
                              struct error *error)
{
    char *text;
    size_t size;
    struct kernel_text kernel;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    fputs(before, out);
    for (int i = 0; i < count; i++) {
        const char *mark = strstr(piece, "%d");
        if (mark)
            fprintf(out, "%.*s%d%s", (int)(mark - piece), piece, i, mark + 2);
        else
            fputs(piece, out);
    }
    fputs(after, out);
    cr_assert_eq(fclose(out), 0);
    enum status status = parse(text, &kernel, error);
    kernel_text_clear(&kernel);
    free(text);
    return status;
}

/* A limit is what there may be; one more is told so. */
static const struct {
    const char *before, *piece, *after;
    int most;
} limits[] = {
    {"kernel k\nsize N\ntensor X[N] f16, Z[N] f16\naxis t = slices(N)\n", "#\n", LOAD STORE,
     KERNEL_MAX_LINES - 8},
    {HEAD "axis u = 1", ", 2", "\nrequire u > 1\n" LOAD STORE, KERNEL_MAX_WORDS - 1},
    {HEAD "axis u = w", ", w%d", "\nrequire u == w\n" LOAD STORE, KERNEL_MAX_WORDS - 1},
    {HEAD, "require N > 1\n", LOAD STORE, KERNEL_MAX_REQUIRES},
    {HEAD "cores N", ", N", "\n" LOAD STORE, KERNEL_MAX_CORES - 1},
    {HEAD "tensor Y[N", ", N", "] f16\n" LOAD "  load x <- Y[i, 1]\n" STORE, KERNEL_MAX_DIMS - 1},
    {HEAD "require N", "+1", " > 2\n" LOAD STORE, KERNEL_MAX_NESTING - 2},
    {HEAD "size m", " m%d", "\n" LOAD STORE, KERNEL_MAX_SIZES - 2},
    {HEAD, "let l%d = N\n", LOAD STORE, KERNEL_MAX_LETS},
    {HEAD, "tensor T%d[N] f16\n", LOAD STORE, KERNEL_MAX_TENSORS - 2},
    {HEAD, "axis a%d = 1, 2\n", LOAD STORE, KERNEL_MAX_AXES - 1},
    {HEAD LOAD, "  for r%d in N by t\n    load x <- X[i]\n", STORE, KERNEL_MAX_LOOPS - 1},
    {HEAD LOAD, "  tile y%d: ub[i] f16\n", STORE, KERNEL_MAX_TILES - 1},
    {HEAD, "order i, j\n", LOAD STORE, KERNEL_MAX_ORDERS},
};

Test(kernel_text, limits_are_what_there_may_be)
{
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        struct error error;
        cr_expect_neq(
            parse_many(limits[l].before, limits[l].piece, limits[l].most, limits[l].after, &error),
            STATUS_TOO_LARGE, "%s %s", limits[l].piece, error.text);
        cr_expect_eq(parse_many(limits[l].before, limits[l].piece, limits[l].most + 1,
                                limits[l].after, &error),
                     STATUS_TOO_LARGE, "%s %s", limits[l].piece, error.text);
    }
}

/* Loops, each in the one before. */
static enum status parse_loops(int depth, struct error *error)
{
    char text[8192];
    struct kernel_text kernel;
    int length = sprintf(text, HEAD);
    for (int d = 0; d < depth; d++)
        length += sprintf(text + length, "%*sfor r%d in N by t\n", 2 * d, "", d);
    const char *const lines[] = {"tile x: ub[r0] f16", "load x <- X[r0]", "store Z[r0] <- x[r0]"};
    for (int l = 0; l < 3; l++)
        length += sprintf(text + length, "%*s%s\n", 2 * depth, "", lines[l]);
    enum status status = parse(text, &kernel, error);
    kernel_text_clear(&kernel);
    return status;
}

Test(kernel_text, loops_nest_so_deep)
{
    struct error error;
    cr_expect_eq(parse_loops(KERNEL_MAX_DEPTH, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(parse_loops(KERNEL_MAX_DEPTH + 1, &error), STATUS_TOO_LARGE, "%s", error.text);
}

Test(kernel_text, a_text_is_as_large_as_this)
{
    struct kernel_text kernel;
    struct error error;
    char *text = malloc(KERNEL_MAX_BYTES + 1);
    memset(text, ' ', KERNEL_MAX_BYTES + 1);
    memcpy(text, WITHIN(""), strlen(WITHIN("")));
    cr_expect_eq(kernel_text_parse("k", text, KERNEL_MAX_BYTES, &kernel, &error), STATUS_OK);
    kernel_text_clear(&kernel);
    cr_expect_eq(kernel_text_parse("k", text, KERNEL_MAX_BYTES + 1, &kernel, &error),
                 STATUS_TOO_LARGE);
    cr_expect_str_eq(error.text, "k: larger than 1048576 bytes");
    free(text);
}

Test(kernel_text, a_file_that_is_not_there)
{
    struct kernel_text kernel;
    struct error error;
    cr_expect_eq(kernel_text_read("/nonexistent/k", &kernel, &error), STATUS_IO);
    cr_expect_str_eq(error.text, "/nonexistent/k: No such file or directory");
}

/* ---- what is accepted, and how it is printed ---- */

static const struct {
    const char *text, *printed;
} spellings[] = {
    {WITHIN(""), WITHIN("")},
    {"\xef\xbb\xbf" WITHIN("\r\n   # a comment\n\n"), WITHIN("")},
    {"kernel k #\ntitle \"a # b\"#\nsize N\ntensor X[N] f16,Z[ N ]f16\naxis t=slices( N )\n" LOAD
         STORE,
     "kernel k\ntitle \"a # b\"\nsize N\ntensor X[N] f16, Z[N] f16\naxis t = slices(N)\n" LOAD
         STORE},
    {DECLARED("size B = 3\nlet w = (1+2)*3-(4-5)-6\nrequire (w > B) and (not (t > 2 or w < 9))\n"),
     DECLARED("size B = 3\nlet w = (1+2)*3-(4-5)-6\nrequire w > B and not (t > 2 or w < 9)\n")},
    {DECLARED("let w = (1 if N>2 else 2) if (N > 3 if t == 1 else N > 4) else (3 if N > 5 else 4)\n"
              "require -(w+1)%2 != --w/pow2(log2(N))\n"),
     DECLARED("let w = (1 if N > 2 else 2) if (N > 3 if t == 1 else N > 4) else 3 if N > 5 else 4\n"
              "require -(w+1)%2 != --w/pow2(log2(N))\n")},
    {DECLARED("axis u = a, t, N\naxis v = multiples(16, N)\naxis p = powers(1, v)\n"
              "axis d=divisors(N)\naxis l = 1, p, 2*d\n"
              "cores N if u == N else N by gcd(N,cores), N\nrequire u in (a,t) and u!=N or has(l0c "
              "-> ub)\n"
              "require l in (1, 2) or not has(vdiv) or is(dtype,f32)\n"),
     DECLARED("axis u = a, t, N\naxis v = multiples(16, N)\naxis p = powers(1, v)\n"
              "axis d = divisors(N)\naxis l = 1, p, 2*d\n"
              "cores N if u == N else N by gcd(N, cores), N\n"
              "require u in (a, t) and u != N or has(l0c->ub)\n"
              "require l in (1, 2) or not has(vdiv) or is(dtype, f32)\n")},
    {WITHIN("  let w = begin(i)/16\n  relu x <- x, 1.0/N, -2 elements=i if first(i) or last(i)\n"
            "  load x[:] <- X[i from ?] bursts=(i if t > 2 else 3) fill=-1.50\n"
            "  load x <- X[i from begin(i)+w by 2] align=up(i, 2) unit=1\n"
            "  scalar branch count=2\n  scalar nop\n  @t/2 scalar assign x[0] <- x[1]\n"
            "  @(t - 1) for j in i by 2 each\n    tile y: ub[begin(j)] dtype x (t + 1) at i\n"
            "    cast y <- x\n    relu x <- y\n"),
     WITHIN("  let w = begin(i)/16\n  relu x <- x, 1.0/N, -2 elements=i if first(i) or last(i)\n"
            "  load x[:] <- X[i from ?] bursts=(i if t > 2 else 3) fill=-1.50\n"
            "  load x <- X[i from begin(i)+w by 2] align=up(i, 2) unit=1\n"
            "  scalar branch count=2\n  scalar nop\n  @t/2 scalar assign x[0] <- x[1]\n"
            "  @t-1 for j in i by 2 each\n    tile y: ub[begin(j)] dtype x t+1 at i\n"
            "    cast y <- x\n    relu x <- y\n")},
    {WITHIN("  relu x <- x, (2 if N>1 else 3) if first(i)\n"
            "  relu x <- x, 2 if (first(i) if t > 1 else last(i))\n"),
     WITHIN("  relu x <- x, 2 if N > 1 else 3 if first(i)\n"
            "  relu x <- x, 2 if first(i) if t > 1 else last(i)\n")},
    {HEAD "axis u = a, b\norder j, i if u == a\nfor i in N by t\n  for j in whole(N) by "
          "lanes(accumulator)\n"
          "    tile x: ub[j] result at (top if u == a else i) if u == b else j\n"
          "    load x <- X[j]\n    store Z[j] <- x[j] add=1\n",
     HEAD "axis u = a, b\norder j, i if u == a\nfor i in N by t\n  for j in whole(N) by "
          "lanes(accumulator)\n"
          "    tile x: ub[j] result at (top if u == a else i) if u == b else j\n"
          "    load x <- X[j]\n    store Z[j] <- x[j] add=1\n"},
};

Test(kernel_text, spellings_that_mean_the_same_print_the_same)
{
    for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
        struct kernel_text kernel;
        struct error error;
        cr_assert_eq(parse(spellings[s].text, &kernel, &error), STATUS_OK, "%s\n%s", error.text,
                     spellings[s].text);
        char *printed = print(&kernel);
        cr_expect_str_eq(printed, spellings[s].printed, "\n%s\nexpected\n%s", printed,
                         spellings[s].printed);
        free(printed);
        kernel_text_clear(&kernel);
    }
}

/* ---- the library, and damaged copies of it ---- */

static const char *const library[] = {"matmul_thesis", "add_relu", "conv2d", "softmax_rows"};
enum { LIBRARY = sizeof library / sizeof *library, DAMAGED = 4000 };

static void read_from(const char *folder, const char *name, struct kernel_text *kernel)
{
    char path[512];
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s/%s.kernel", SOURCE_DIR, folder, name);
    cr_assert_eq(kernel_text_read(path, kernel, &error), STATUS_OK, "%s", error.text);
    cr_expect_str_eq(kernel->name.text, name);
}

static void read_library(const char *name, struct kernel_text *kernel)
{
    read_from("kernels/library", name, kernel);
}

/* What was printed reads back and prints the same. */
static void expect_round_trip(const struct kernel_text *kernel)
{
    struct kernel_text again;
    struct error error;
    char *printed = print(kernel);
    cr_assert_eq(parse(printed, &again, &error), STATUS_OK, "%s\n%s", error.text, printed);
    char *twice = print(&again);
    cr_expect_str_eq(printed, twice);
    cr_expect(kernel->line_count == again.line_count && kernel->size_count == again.size_count &&
              kernel->axis_count == again.axis_count && kernel->let_count == again.let_count &&
              kernel->tensor_count == again.tensor_count && kernel->tile_count == again.tile_count);
    free(twice);
    free(printed);
    kernel_text_clear(&again);
}

Test(kernel_text, the_library_is_read)
{
    for (int k = 0; k < LIBRARY; k++) {
        struct kernel_text kernel;
        read_library(library[k], &kernel);
        expect_round_trip(&kernel);
        kernel_text_clear(&kernel);
    }
}

Test(kernel_text, a_kernel_is_what_its_text_says)
{
    struct kernel_text kernel;
    read_from("tests/fuzz/kernel", "matmul", &kernel);
    cr_expect_str_eq(kernel.title, "C = A*B: panels in L1, tiles in L0");
    cr_expect(kernel.size_count == 4 && kernel.sizes[0].pad->number == 16 &&
              kernel.sizes[3].is_option && kernel.sizes[3].standard == 1);
    cr_expect(kernel.axis_count == 6 && kernel.axes[4].cut == CUT_WORDS &&
              kernel.axes[4].word_count == 4 && strcmp(kernel.axes[4].words[3], "none") == 0);
    cr_expect(kernel.loop_count == 4 && kernel.tile_count == 6 && kernel.line_count == 17);
    for (int loop = 0; loop < 4; loop++)
        cr_expect(kernel.loops[loop].line == (loop < 3 ? loop : 5) &&
                  kernel.loops[loop].end == (loop < 3 ? 17 : 15) &&
                  kernel_loop_around(&kernel, loop) == loop - 1);
    const struct kernel_step *mmad = kernel.lines[14].step;
    cr_expect(mmad->verb == VERB_MMAD && mmad->source_count == 2 && mmad->to.tile == 0 &&
              mmad->from[1].tile == 5 && mmad->to.tensor < 0);
    cr_expect(kernel.lines[10].step->from[0].tensor == 0 &&
              kernel.tiles[3].life->op == EXPRESSION_IF);
    kernel_text_clear(&kernel);
}

/* Words of the texts change places, go or come twice. */
static char *damage(gsl_rng *rng, const char *text)
{
    size_t length = strlen(text), from = gsl_rng_uniform_int(rng, length);
    size_t to = gsl_rng_uniform_int(rng, length), count = strcspn(text + from, " ,\n()[]") + 1;
    size_t cut = gsl_rng_uniform_int(rng, 2) ? strcspn(text + to, " ,\n()[]") + 1 : 0;
    char *changed = calloc(1, 2 * length + 2);
    cr_assert(changed);
    count = from + count > length ? length - from : count;
    cut = to + cut > length ? length - to : cut;
    snprintf(changed, 2 * length + 2, "%.*s%.*s%s", (int)to, text, (int)count, text + from,
             text + to + cut);
    return changed;
}

Test(kernel_text, damaged_kernels_are_read_or_refused_in_one_line)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int read = 0;
    for (int d = 0; d < test_cases(DAMAGED); d++) {
        struct kernel_text kernel;
        struct error error;
        read_library(library[d % LIBRARY], &kernel);
        char *text = print(&kernel);
        kernel_text_clear(&kernel);
        for (unsigned long c = 1 + gsl_rng_uniform_int(rng, 3); c > 0; c--) {
            char *changed = damage(rng, text);
            free(text);
            text = changed;
        }
        if (parse(text, &kernel, &error) == STATUS_OK) {
            read++;
            expect_round_trip(&kernel);
        } else {
            char *end;
            cr_expect(strncmp(error.text, "k:", 2) == 0 && strtol(error.text + 2, &end, 10) > 0 &&
                          *end == ':' && strtol(end + 1, &end, 10) > 0 && *end == ':',
                      "%s", error.text);
            cr_expect(!strchr(error.text, '\n') && strlen(error.text) + 1 < sizeof error.text);
        }
        kernel_text_clear(&kernel);
        free(text);
    }
    cr_expect_gt(read, 10 / test_thinning());
    gsl_rng_free(rng);
}
