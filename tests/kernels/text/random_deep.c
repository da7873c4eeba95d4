/* Random phases that are deeper: ranges cut from ranges, tiles at every level, parts in other
 * pieces than they were written in, scratch in external memory, rounds that are written out. */
#include "tests/kernels/text/random_kernel.h"

#include <stdio.h>

static const char *const ops[] = {"vadd", "vsub", "vmul", "vmax"};

static const char *copies(struct random_kernel *kernel)
{
    static const char *const some[] = {"", "", " x 2", " x 3"};
    return random_of(kernel, 4, some);
}

/* One dimension in three levels: through L1 into UB, with a choice of lives. */
static void levels(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char i[8], j[8], k[8];
    snprintf(i, sizeof i, "i%d", p);
    snprintf(j, sizeof j, "j%d", p);
    snprintf(k, sizeof k, "k%d", p);
    random_declare(kernel, "tensor X%d[%sN] f16, Y%d[N] f16, Z%d[%sN] f16\n", p, kernel->outer, p,
                   p, kernel->outer);
    random_loop(kernel, i, random_size(kernel, SIZE_N), SIZE_N);
    random_line(kernel, "tile x1%d: l1[%s] f16%s", p, i, copies(kernel));
    random_line(kernel, "load x1%d <- X%d", p, p);
    random_loop(kernel, j, i, SIZE_N);
    random_way(kernel);
    random_line(kernel, "tile x%d: ub[%s] f16%s at %s if way == near else %s", p, j, copies(kernel),
                i, j);
    random_line(kernel, "load x%d <- x1%d", p, p);
    random_line(kernel, "tile y%d: ub[%s] f16 at top if way == far else %s", p, j, j);
    random_line(kernel, "load y%d <- Y%d", p, p);
    random_line(kernel, "tile z%d: ub[%s] f16%s", p, j, copies(kernel));
    random_loop(kernel, k, j, SIZE_N);
    random_line(kernel, "%s z%d <- x%d, y%d", random_of(kernel, 4, ops), p, p, p);
    if (random_chance(kernel, 50))
        random_line(kernel, "relu z%d <- z%d if %s(%s)", p, p,
                    random_chance(kernel, 50) ? "first" : "last",
                    random_chance(kernel, 50) ? j : k);
    kernel->depth--;
    if (random_chance(kernel, 30))
        random_line(kernel, "%s z%d <- z%d, x%d if not first(%s)", random_of(kernel, 4, ops), p, p,
                    p, j);
    random_line(kernel, "store Z%d <- z%d", p, p);
}

/* Sums over an outer loop, results in other pieces. */
static void outer_sums(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char j[8], l[8], i[8], o[8];
    kernel->pad[SIZE_M] = 16;
    snprintf(j, sizeof j, "j%d", p);
    snprintf(l, sizeof l, "l%d", p);
    snprintf(i, sizeof i, "i%d", p);
    snprintf(o, sizeof o, "o%d", p);
    random_declare(kernel, "tensor A%d[%sM,K] f16, B%d[K,N] f16, C%d[%sM,N] f16\n", p,
                   kernel->outer, p, p, kernel->outer);
    random_loop(kernel, j, random_size(kernel, SIZE_N), SIZE_N);
    random_loop(kernel, l, random_size(kernel, SIZE_K), SIZE_K);
    if (random_chance(kernel, 50))
        random_line(kernel, "tile b1%d: l1[%s,%s] f16%s", p, l, j, copies(kernel));
    else
        random_line(kernel, "tile b1%d: l1[%s,%s] f16 at %s", p, l, j, j);
    random_line(kernel, "load b1%d <- B%d", p, p);
    random_loop(kernel, i, random_size(kernel, SIZE_M), SIZE_M);
    random_line(kernel, "tile acc%d: l0c[%s,%s] f32 at %s", p, i, j, j);
    random_line(kernel, "tile a%d: l0a[%s,%s] f16%s", p, i, l, copies(kernel));
    random_line(kernel, "tile b%d: l0b[%s,%s] f16%s", p, l, j, copies(kernel));
    random_line(kernel, "load a%d <- A%d", p, p);
    random_line(kernel, "load b%d <- b1%d", p, p);
    random_line(kernel, "mmad acc%d <- a%d, b%d", p, p, p);
    kernel->depth -= 2;
    random_loop(kernel, o, "M", SIZE_M);
    random_line(kernel, "tile c%d: ub[%s,%s] f16%s", p, o, j, copies(kernel));
    random_line(kernel, "move c%d <- acc%d", p, p);
    random_line(kernel, "store C%d <- c%d", p, p);
    kernel->depth -= 2;
}

/* Two levels of all three dimensions. */
static void two_levels(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char name[6][8];
    static const char letters[] = "ijluvw";
    for (int n = 0; n < 6; n++)
        snprintf(name[n], sizeof name[n], "%c%d", letters[n], p);
    kernel->pad[SIZE_M] = 16;
    random_declare(kernel, "tensor A%d[%sM,K] f16, B%d[K,N] f16, C%d[%sM,N] f16\n", p,
                   kernel->outer, p, p, kernel->outer);
    random_loop(kernel, name[0], random_size(kernel, SIZE_M), SIZE_M);
    random_loop(kernel, name[1], random_size(kernel, SIZE_N), SIZE_N);
    random_line(kernel, "tile acc%d: l0c[i%d,j%d] f32%s", p, p, p, copies(kernel));
    random_line(kernel, "tile c%d: ub[i%d,j%d] f16%s", p, p, p, copies(kernel));
    random_loop(kernel, name[2], random_size(kernel, SIZE_K), SIZE_K);
    random_line(kernel, "tile a1%d: l1[i%d,l%d] f16%s", p, p, p, copies(kernel));
    random_line(kernel, "tile b1%d: l1[l%d,j%d] f16%s", p, p, p, copies(kernel));
    random_line(kernel, "load a1%d <- A%d", p, p);
    random_line(kernel, "load b1%d <- B%d", p, p);
    bool swapped = random_chance(kernel, 50);
    random_loop(kernel, name[swapped ? 4 : 3], name[swapped ? 1 : 0], swapped ? SIZE_N : SIZE_M);
    random_loop(kernel, name[swapped ? 3 : 4], name[swapped ? 0 : 1], swapped ? SIZE_M : SIZE_N);
    random_loop(kernel, name[5], name[2], SIZE_K);
    if (random_chance(kernel, 50)) {
        random_way(kernel);
        random_declare(kernel, "order w%d, %s, %s if way == far\n", p, name[swapped ? 3 : 4],
                       name[swapped ? 4 : 3]);
    }
    random_way(kernel);
    random_line(kernel, "tile a0%d: l0a[u%d,w%d] f16%s at %s if way == near else %s", p, p, p,
                copies(kernel), name[2], name[5]);
    random_line(kernel, "tile b0%d: l0b[w%d,v%d] f16%s", p, p, p, copies(kernel));
    random_line(kernel, "load a0%d <- a1%d", p, p);
    random_line(kernel, "load b0%d <- b1%d", p, p);
    random_line(kernel, "mmad acc%d <- a0%d, b0%d", p, p, p);
    kernel->depth -= 4;
    random_line(kernel, "move c%d <- acc%d", p, p);
    random_line(kernel, "store C%d <- c%d", p, p);
}

/* From one loop to another by way of external memory. */
static void scratch(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char i[8], j[8];
    snprintf(i, sizeof i, "i%d", p);
    snprintf(j, sizeof j, "j%d", p);
    random_declare(kernel, "tensor X%d[%sN] f16, Z%d[%sN] f16\n", p, kernel->outer, p,
                   kernel->outer);
    random_line(kernel, "tile g%d: gm[%s] f16", p, random_size(kernel, SIZE_N));
    random_loop(kernel, i, "N", SIZE_N);
    random_line(kernel, "tile x%d: ub[%s] f16%s", p, i, copies(kernel));
    random_line(kernel, "load x%d <- X%d", p, p);
    random_line(kernel, "store g%d <- x%d", p, p);
    kernel->depth--;
    random_loop(kernel, j, "N", SIZE_N);
    random_line(kernel, "tile y%d: ub[%s] f16%s", p, j, copies(kernel));
    random_line(kernel, "load y%d <- g%d", p, p);
    random_line(kernel, "exp y%d <- y%d", p, p);
    random_line(kernel, "store Z%d <- y%d", p, p);
}

/* Rounds that are written out, stages around a loop, numbers from the scalar unit. */
static void written_out(struct random_kernel *kernel)
{
    int p = kernel->phase;
    char j[8];
    bool staged = random_chance(kernel, 50);
    snprintf(j, sizeof j, "j%d", p);
    random_declare(kernel, "tensor X%d[%sB,N] f16, Z%d[%sB,N] f16\n", p, kernel->outer, p,
                   kernel->outer);
    random_line(kernel, "for e%d in %s by 1%s", p, random_size(kernel, SIZE_B),
                staged ? "" : " each");
    kernel->depth++;
    random_line(kernel, "tile x%d: ub[%s] f16 x 2", p, random_size(kernel, SIZE_N));
    random_line(kernel, "tile z%d: ub[N] f16 x %d", p, 2 + random_draw(kernel, 2));
    bool numbers = !staged && random_chance(kernel, 50);
    if (numbers)
        random_line(kernel, "tile s%d: ub[16] f16", p);
    random_line(kernel, "load x%d <- X%d", p, p);
    char range[16];
    snprintf(range, sizeof range, "%sfor %s", staged ? "@1 " : "", j);
    random_line(kernel, "%s in N by %d", range, 16 * (1 + random_draw(kernel, 3)));
    kernel->depth++;
    random_line(kernel, "relu z%d <- x%d", p, p);
    if (!staged)
        random_line(kernel, "vmax z%d <- z%d, x%d if begin(e%d) %% 2 == %d", p, p, p, p,
                    random_draw(kernel, 2));
    kernel->depth--;
    if (numbers) {
        random_line(kernel, "vecDup s%d <- 0", p);
        random_line(kernel, "scalar assign s%d[0] <- x%d[%d]", p, p, random_draw(kernel, 16));
        random_line(kernel, "vadd z%d <- s%d, s%d elements=16", p, p, p);
    }
    random_line(kernel, "%sstore Z%d <- z%d", staged ? "@2 " : "", p, p);
}

void random_deep(struct random_kernel *kernel)
{
    static void (*const phases[])(struct random_kernel *) = {levels,  levels,     outer_sums,
                                                             scratch, two_levels, written_out};
    phases[random_draw(kernel, sizeof phases / sizeof *phases)](kernel);
}
