/* Random phases with the matrix unit: products with one or two levels of tiles, several sums into
 * one accumulator, work on the results; convolutions by windows. */
#include "tests/kernels/text/random_kernel.h"

#include <stdio.h>

static const char *life(struct random_kernel *kernel, const char *range, char text[64])
{
    int p = kernel->phase;
    if (random_chance(kernel, 40))
        return "";
    random_way(kernel);
    snprintf(text, 64, " at %s if way in (near, %s) else l%d", range,
             random_chance(kernel, 50) ? "far" : "other", p);
    return text;
}

/* Panels of A and B in L1, tiles in L0, a product of each. */
static void panels(struct random_kernel *kernel, const char *a, const char *b)
{
    char text[64], at[64];
    int p = kernel->phase;
    char range[8];
    snprintf(range, sizeof range, "i%d", p);
    const char *copies = random_copies(kernel, text);
    random_line(kernel, "tile a1%s: l1[i%d,l%d] f16%s%s", a, p, p, copies, life(kernel, range, at));
    copies = random_copies(kernel, text);
    random_line(kernel, "tile b1%s: l1[l%d,j%d] f16%s%s", a, p, p, copies, life(kernel, "top", at));
    random_line(kernel, "load a1%s <- A%s", a, a);
    random_line(kernel, "load b1%s <- B%s", a, b);
    bool inner = random_chance(kernel, 40);
    char in[8], within[8];
    snprintf(in, sizeof in, inner ? "q%d" : "l%d", p);
    snprintf(within, sizeof within, "l%d", p);
    if (inner)
        random_loop(kernel, in, within, SIZE_K);
    random_line(kernel, "tile a0%s: l0a[i%d,%s] f16%s", a, p, in, random_copies(kernel, text));
    random_line(kernel, "tile b0%s: l0b[%s,j%d] f16%s", a, in, p, random_copies(kernel, text));
    random_line(kernel, "load a0%s <- a1%s", a, a);
    random_line(kernel, "load b0%s <- b1%s", a, a);
    char with[16] = "";
    if (kernel->begins)
        snprintf(with, sizeof with, ", d%d", p);
    random_line(kernel, "mmad acc%d <- a0%s, b0%s%s", p, a, a, with);
    kernel->depth -= inner;
}

/* A row of N in L1, which sums begin with or are multiplied by. */
static bool row(struct random_kernel *kernel, char name)
{
    char text[64];
    int p = kernel->phase;
    if (random_chance(kernel, 70))
        return false;
    random_declare(kernel, "tensor %c%d[N] f32\n", name - 'a' + 'A', p);
    random_line(kernel, "tile %c%d: l1[j%d] f32%s", name, p, p, random_copies(kernel, text));
    random_line(kernel, "load %c%d <- %c%d", name, p, name - 'a' + 'A', p);
    return true;
}

static void tensors(struct random_kernel *kernel, int p, bool twice)
{
    random_declare(kernel, "tensor A%d[%sM,K] f16, B%d[K,N] f16, C%d[%sM,N] f16\n", p,
                   kernel->outer, p, p, kernel->outer);
    if (twice)
        random_declare(kernel, "tensor A%ds[M,K] f16, B%ds[%sK,N] f16\n", p, p, kernel->outer);
    for (int size = SIZE_M; size <= SIZE_K; size++)
        random_size(kernel, size);
}

void random_product(struct random_kernel *kernel)
{
    int p = kernel->phase;
    bool twice = random_chance(kernel, 25), j_first = random_chance(kernel, 30);
    char name[8], text[64], i[8], j[8], l[8], second[8];
    kernel->pad[SIZE_M] = 16; /* later phases keep to it */
    tensors(kernel, p, twice);
    snprintf(name, sizeof name, "%d", p);
    snprintf(second, sizeof second, "%ds", p);
    snprintf(i, sizeof i, "i%d", p);
    snprintf(j, sizeof j, "j%d", p);
    snprintf(l, sizeof l, "l%d", p);
    random_loop(kernel, j_first ? j : i, j_first ? "N" : "M", j_first ? SIZE_N : SIZE_M);
    random_loop(kernel, j_first ? i : j, j_first ? "M" : "N", j_first ? SIZE_M : SIZE_N);
    if (random_chance(kernel, 15)) {
        random_way(kernel);
        random_line(kernel, "scalar nop count=2 if way == other");
    }
    random_line(kernel, "tile acc%d: l0c[i%d,j%d] f32%s", p, p, p,
                random_chance(kernel, 30) ? " x 2" : "");
    random_line(kernel, "tile c%d: ub[i%d,j%d] f16%s", p, p, p, random_copies(kernel, text));
    kernel->begins = row(kernel, 'd');
    bool scales = row(kernel, 'f');
    int depth = kernel->depth;
    random_loop(kernel, l, "K", SIZE_K);
    panels(kernel, name, name);
    kernel->depth = depth;
    if (twice) {
        random_line(kernel, "for l%ds in K by 16", p);
        kernel->depth++;
        random_line(kernel, "tile a0%s: l0a[i%d,l%s] f16%s", second, p, second,
                    random_copies(kernel, text));
        random_line(kernel, "tile b0%s: l0b[l%s,j%d] f16", second, second, p);
        random_line(kernel, "load a0%s <- A%s", second, second);
        random_line(kernel, "load b0%s <- B%s", second, second);
        random_line(kernel, "mmad acc%d <- a0%s, b0%s", p, second, second);
        kernel->depth = depth;
    }
    const char *relu = random_chance(kernel, 20) ? " relu=1" : "";
    if (scales)
        random_line(kernel, "move c%d <- acc%d, f%d%s", p, p, p, relu);
    else
        random_line(kernel, "move c%d <- acc%d%s", p, p, relu);
    if (random_chance(kernel, 40))
        random_line(kernel, "relu c%d <- c%d", p, p);
    random_line(kernel, "store C%d <- c%d", p, p);
}

/* Rows of a picture by windows of KH by KW; the window's place picks what L1's part is. */
void random_convolution(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char y[8], text[64];
    kernel->pad[SIZE_M] = 1;
    snprintf(y, sizeof y, "y%d", p);
    if (kernel->phase > 1) { /* its rows are not padded */
        random_product(kernel);
        return;
    }
    random_size(kernel, SIZE_M);
    random_declare(kernel,
                   "let H = whole(M)\nlet W = H + 16\n"
                   "tensor X%d[M+2,W,K] f16, F%d[3,2,K,N] f16, Y%d[%sM,H,N] f16\n",
                   p, p, p, kernel->outer);
    random_size(kernel, SIZE_K);
    random_size(kernel, SIZE_N);
    random_loop(kernel, y, "M", SIZE_M);
    random_line(kernel, "for n%d in N by 16", p);
    kernel->depth++;
    random_line(kernel, "tile acc%d: l0c[up(y%d*H, 16), n%d] f32", p, p, p);
    random_line(kernel, "tile out%d: ub[up(y%d*H, 16), n%d] f16", p, p, p);
    random_line(kernel, "for c%d in K by 16", p);
    kernel->depth++;
    random_way(kernel);
    random_line(kernel, "tile x%d: l1[y%d+2, W, c%d] f16%s at y%d if way == near else c%d", p, p, p,
                random_copies(kernel, text), p, p);
    random_line(kernel, "load x%d <- X%d[y%d+2 from begin(y%d)] bursts=y%d+2", p, p, p, p, p);
    random_line(kernel, "for kh%d in 3 by 1", p);
    kernel->depth++;
    random_line(kernel, "for kw%d in 2 by 1", p);
    kernel->depth++;
    random_line(kernel, "tile w%d: l1[c%d,n%d] f16%s", p, p, p, random_copies(kernel, text));
    random_line(kernel, "tile a0%d: l0a[up(y%d*H, 16), c%d] f16%s", p, p, p,
                random_copies(kernel, text));
    random_line(kernel, "tile b0%d: l0b[c%d,n%d] f16", p, p, p);
    random_line(kernel, "load w%d <- F%d[begin(kh%d), begin(kw%d)]", p, p, p, p);
    random_line(kernel, "load a0%d <- x%d[y%d from begin(kh%d), H from begin(kw%d)]", p, p, p, p,
                p);
    random_line(kernel, "load b0%d <- w%d", p, p);
    random_line(kernel, "mmad acc%d <- a0%d, b0%d", p, p, p);
    kernel->depth -= 3;
    random_line(kernel, "move out%d <- acc%d", p, p);
    random_line(kernel, "store Y%d%s <- out%d", p, kernel->outer[0] ? "[z, y1, :]" : "[y1, :]", p);
}
