/* The phases of random kernels: chains of vector operations, two passes over one tile, folds,
 * stages, scratch in external memory, products and convolutions. */
#include "tests/kernels/text/random_kernel.h"

#include <stdio.h>
#include <string.h>

static const char *const unary[] = {"relu", "exp", "ln", "vnot"};
static const char *const binary[] = {"vadd", "vsub", "vmul", "vmax", "vmin", "vand"};

/* The loops of a phase and where a tile in the innermost body may live. */
struct nest {
    struct random_kernel *kernel;
    int p;
    bool has_rounds;  /* a loop h in B */
    const char *rows; /* "M", or NULL: none */
    const char *columns;
    char i[8], j[8], h[8];
    char dims[64]; /* of tensors */
    char tile[32]; /* of tiles: "i1,j1" */
};

/* " at …" with one of the loops around, or nothing. */
static const char *at(struct nest *nest, char text[64])
{
    struct random_kernel *kernel = nest->kernel;
    const char *lives[] = {"top", nest->j, nest->rows ? nest->i : "top",
                           nest->has_rounds ? nest->h : nest->j};
    if (random_chance(kernel, 40))
        return "";
    if (random_chance(kernel, 50)) {
        snprintf(text, 64, " at %s", random_of(kernel, 4, lives));
        return text;
    }
    random_way(kernel);
    snprintf(text, 64, " at %s if way %s else %s", random_of(kernel, 4, lives),
             random_of(kernel, 3, (const char *const[]){"== near", "in (near, far)", "!= other"}),
             random_of(kernel, 4, lives));
    return text;
}

static void tile(struct nest *nest, const char *name, bool moves)
{
    char copies[64] = "", life[64] = "";
    const char *x = random_copies(nest->kernel, copies);
    random_line(nest->kernel, "tile %s%d: ub[%s] f16%s%s", name, nest->p, nest->tile, x,
                moves ? at(nest, life) : "");
}

/* The loops around a phase's body, in any order, of which an order may say another one. */
static void open_loops(struct nest *nest)
{
    struct random_kernel *kernel = nest->kernel;
    const char *names[3];
    int count = 0, first = random_draw(kernel, 3);
    for (int n = 0; n < 3; n++) {
        int loop = (first + n) % 3;
        if (loop == 0 && nest->has_rounds) {
            random_loop(kernel, nest->h, random_size(kernel, SIZE_B), SIZE_B);
            names[count++] = nest->h;
        } else if (loop == 1 && nest->rows) {
            random_loop(kernel, nest->i, nest->rows, SIZE_M);
            names[count++] = nest->i;
        } else if (loop == 2) {
            random_loop(kernel, nest->j, nest->columns, nest->columns[0] == 'N' ? SIZE_N : SIZE_K);
            names[count++] = nest->j;
        }
    }
    if (count < 2 || random_chance(kernel, 50))
        return;
    random_way(kernel);
    random_declare(kernel, "order %s, %s if way == far\n", names[1], names[0]);
}

static struct nest begin(struct random_kernel *kernel, bool rows)
{
    struct nest nest = {.kernel = kernel, .p = kernel->phase};
    nest.has_rounds = random_chance(kernel, 30);
    nest.rows = rows || random_chance(kernel, 60) ? random_size(kernel, SIZE_M) : NULL;
    nest.columns = random_size(kernel, random_chance(kernel, 70) ? SIZE_N : SIZE_K);
    snprintf(nest.i, sizeof nest.i, "i%d", nest.p);
    snprintf(nest.j, sizeof nest.j, "j%d", nest.p);
    snprintf(nest.h, sizeof nest.h, "h%d", nest.p);
    snprintf(nest.dims, sizeof nest.dims, "%s%s%s%s%s", kernel->outer, nest.has_rounds ? "B," : "",
             nest.rows ? nest.rows : "", nest.rows ? "," : "", nest.columns);
    snprintf(nest.tile, sizeof nest.tile, "%s%s%s", nest.rows ? nest.i : "", nest.rows ? "," : "",
             nest.j);
    return nest;
}

/* Operations on tiles that were written, some in inner loops, some not in all rounds. */
static void operations(struct nest *nest, const char *z, const char *const from[], int count)
{
    struct random_kernel *kernel = nest->kernel;
    int depth = kernel->depth, p = nest->p;
    if (random_chance(kernel, 30)) {
        bool by_rows = nest->rows && random_chance(kernel, 60);
        random_line(kernel, "for s%d in %s by %d", p, by_rows ? nest->i : nest->j,
                    by_rows ? 1 + random_draw(kernel, 3) : 16 * (1 + random_draw(kernel, 2)));
        kernel->depth++;
    }
    random_line(kernel, "%s %s%d <- %s%d, %s%d", random_of(kernel, 6, binary), z, p, from[0], p,
                from[count - 1], p);
    for (int n = random_draw(kernel, 4); n > 0; n--) {
        static const char *const conditions[] = {"",     "",          "",        "first",
                                                 "last", "not first", "not last"};
        const char *condition = random_of(kernel, 7, conditions);
        char text[64] = "";
        if (condition[0])
            snprintf(text, sizeof text, " if %s(%s)", condition,
                     random_chance(kernel, 50) && nest->rows ? nest->i : nest->j);
        if (random_chance(kernel, 40))
            random_line(kernel, "%s %s%d <- %s%d%s", random_of(kernel, 4, unary), z, p, z, p, text);
        else
            random_line(kernel, "%s %s%d <- %s%d, %s%d%s", random_of(kernel, 6, binary), z, p, z, p,
                        random_of(kernel, count, from), p, text);
    }
    kernel->depth = depth;
    if (random_chance(kernel, 15))
        random_line(kernel, "scalar branch count=%d", 1 + random_draw(kernel, 3));
}

static void chain(struct random_kernel *kernel)
{
    struct nest nest = begin(kernel, false);
    int p = nest.p;
    bool kept = nest.has_rounds && random_chance(kernel, 70);
    const char *plane = nest.dims + (kept ? 2 + strlen(kernel->outer) : 0);
    random_declare(kernel, "tensor X%d[%s] f16, Y%d[%s] f16, Z%d[%s] f16\n", p, nest.dims, p, plane,
                   p, nest.dims);
    open_loops(&nest);
    tile(&nest, "x", true);
    tile(&nest, "y", true);
    tile(&nest, "z", random_chance(kernel, 20));
    random_line(kernel, "load x%d <- X%d", p, p);
    random_line(kernel, "load y%d <- Y%d", p, p);
    operations(&nest, "z", (const char *const[]){"x", "y"}, 2);
    random_line(kernel, "store Z%d <- z%d", p, p);
}

/* A tile that the rounds of one loop write and those of another one read, in other pieces. */
static void passes(struct random_kernel *kernel)
{
    struct nest nest = begin(kernel, true);
    char second[8];
    int p = nest.p, size = nest.columns[0] == 'N' ? SIZE_N : SIZE_K;
    snprintf(second, sizeof second, "k%d", p);
    snprintf(nest.dims, sizeof nest.dims, "%s%s,%s", kernel->outer, nest.rows, nest.columns);
    nest.has_rounds = false;
    random_declare(kernel, "tensor X%d[%s] f16, Z%d[%s] f16\n", p, nest.dims, p, nest.dims);
    random_loop(kernel, nest.i, nest.rows, SIZE_M);
    random_line(kernel, "tile s%d: ub[%s,%s] f16%s", p, nest.i, nest.columns,
                random_chance(kernel, 50) ? " x 2" : "");
    random_loop(kernel, nest.j, nest.columns, size);
    tile(&nest, "x", false);
    random_line(kernel, "load x%d <- X%d", p, p);
    random_line(kernel, "%s s%d <- x%d", random_of(kernel, 4, unary), p, p);
    if (random_chance(kernel, 40))
        random_line(kernel, "%s s%d <- s%d, x%d", random_of(kernel, 6, binary), p, p, p);
    kernel->depth--;
    random_loop(kernel, second, nest.columns, size);
    random_line(kernel, "tile o%d: ub[%s,%s] f16%s", p, nest.i, second,
                random_chance(kernel, 50) ? " x 2" : "");
    random_line(kernel, "%s o%d <- s%d", random_of(kernel, 4, unary), p, p);
    random_line(kernel, "store Z%d <- o%d", p, p);
}

/* A tile that loads fill in pieces and others read in such pieces or in others, all rows at once or
 * one by one. */
static void reads(struct random_kernel *kernel)
{
    struct nest nest = begin(kernel, true);
    int p = nest.p, size = nest.columns[0] == 'N' ? SIZE_N : SIZE_K;
    char written[16], read[16];
    const char *rows = nest.i;
    snprintf(written, sizeof written, "tj%d", p);
    snprintf(read, sizeof read, "tk%d", p);
    random_axis(kernel, written, size);
    if (random_chance(kernel, 40))
        random_axis(kernel, read, size);
    else
        snprintf(read, sizeof read, "%s", written);
    random_declare(kernel, "tensor X%d[%s%s,%s] f16, Z%d[%s%s,%s] f16\n", p, kernel->outer,
                   nest.rows, nest.columns, p, kernel->outer, nest.rows, nest.columns);
    random_loop(kernel, nest.i, nest.rows, SIZE_M);
    random_line(kernel, "for j%d in %s by %s", p, nest.columns, written);
    kernel->depth++;
    random_line(kernel, "tile q%d: ub[%s,j%d] f16 at %s", p, nest.i, p, nest.i);
    random_line(kernel, "load q%d <- X%d", p, p);
    kernel->depth--;
    random_line(kernel, "for k%d in %s by %s", p, nest.columns, read);
    kernel->depth++;
    if (random_chance(kernel, 60)) {
        random_line(kernel, "for z%d in %s by 1", p, nest.i);
        kernel->depth++;
        rows = "z";
    }
    if (rows == nest.i)
        random_line(kernel, "tile y%d: ub[%s,k%d] f16", p, nest.i, p);
    else
        random_line(kernel, "tile y%d: ub[z%d,k%d] f16", p, p, p);
    random_line(kernel, "vadd y%d <- q%d, 1.0", p, p);
    random_line(kernel, "store Z%d <- y%d", p, p);
}

/* Folds and spreads of rows. */
static void folds(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char copies[64];
    random_declare(kernel, "tensor X%d[%sM,N] f16, Z%d[%sM,N] f16\n", p, kernel->outer, p,
                   kernel->outer);
    random_size(kernel, SIZE_N);
    char i[8];
    snprintf(i, sizeof i, "i%d", p);
    random_loop(kernel, i, random_size(kernel, SIZE_M), SIZE_M);
    random_line(kernel, "tile x%d: ub[i%d,N] f16%s", p, p, random_copies(kernel, copies));
    random_line(kernel, "tile y%d: ub[i%d,N] f16%s", p, p, random_copies(kernel, copies));
    random_line(kernel, "load x%d <- X%d", p, p);
    random_line(kernel, "for r%d in i%d by 1", p, p);
    kernel->depth++;
    random_line(kernel, "tile p%d: ub[up(cdiv(N, 128), 16)] f16", p);
    random_line(kernel, "tile o%d: ub[16] f16%s", p, random_copies(kernel, copies));
    random_line(kernel, "tile b%d: ub[N] f16%s", p, random_copies(kernel, copies));
    random_line(kernel, "reduceMax p%d <- x%d", p, p);
    random_line(kernel, "reduceMax o%d <- p%d", p, p);
    random_line(kernel, "vecDup b%d <- o%d", p, p);
    random_line(kernel, "%s y%d <- x%d, b%d", random_of(kernel, 6, binary), p, p, p);
    if (random_chance(kernel, 50))
        random_line(kernel, "exp y%d <- y%d", p, p);
    kernel->depth--;
    random_line(kernel, "store Z%d <- y%d", p, p);
}

/* Loads, work and stores of rounds one after another at the same time. */
static void stages(struct random_kernel *kernel)
{
    struct nest nest = begin(kernel, random_chance(kernel, 50));
    int p = nest.p, one = random_draw(kernel, 2), two = one + random_draw(kernel, 2);
    nest.has_rounds = false;
    snprintf(nest.dims, sizeof nest.dims, "%s%s%s%s", kernel->outer, nest.rows ? nest.rows : "",
             nest.rows ? "," : "", nest.columns);
    random_declare(kernel, "tensor X%d[%s] f16, Z%d[%s] f16\n", p, nest.dims, p, nest.dims);
    open_loops(&nest);
    random_line(kernel, "tile x%d: ub[%s] f16 x %d", p, nest.tile,
                one + 1 + random_draw(kernel, 2));
    random_line(kernel, "tile z%d: ub[%s] f16 x %d", p, nest.tile,
                two - one + 1 + random_draw(kernel, 2));
    random_line(kernel, "load x%d <- X%d", p, p);
    random_line(kernel, "@%d relu z%d <- x%d", one, p, p);
    if (random_chance(kernel, 50))
        random_line(kernel, "@%d vadd z%d <- z%d, x%d", one, p, p, p);
    random_line(kernel, "@%d store Z%d <- z%d", two, p, p);
}

/* Sums of rounds, in external memory. */
static void sums(struct random_kernel *kernel)
{
    struct nest nest = begin(kernel, false);
    int p = nest.p;
    nest.has_rounds = true;
    snprintf(nest.dims, sizeof nest.dims, "%s%s%s", nest.rows ? nest.rows : "",
             nest.rows ? "," : "", nest.columns);
    random_size(kernel, SIZE_B);
    random_declare(kernel, "tensor X%d[%sB,%s] f16, Z%d[%s%s] f16\n", p, kernel->outer, nest.dims,
                   p, kernel->outer, nest.dims);
    open_loops(&nest);
    tile(&nest, "x", false);
    random_line(kernel, "load x%d <- X%d", p, p);
    if (random_chance(kernel, 50))
        random_line(kernel, "relu x%d <- x%d", p, p);
    random_line(kernel, "store Z%d <- x%d add=1", p, p);
}

void random_phase(struct random_kernel *kernel)
{
    static void (*const phases[])(struct random_kernel *) = {chain,          chain,
                                                             chain,          passes,
                                                             reads,          folds,
                                                             stages,         sums,
                                                             random_product, random_product,
                                                             random_product, passes,
                                                             random_product, random_convolution,
                                                             random_deep,    random_deep,
                                                             random_deep,    random_deep,
                                                             random_deep,    random_deep};
    phases[random_draw(kernel, sizeof phases / sizeof *phases)](kernel);
}
