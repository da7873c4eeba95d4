/* Texts by hand; tests give them random sizes and tilings. */
#include "tests/kernels/text/odd_kernels.h"

#include <stddef.h>

#define K  "kernel k\n"
#define N  "size N pad 16\n"
#define M  "size M\n"
#define MN "size M\nsize N pad 16\n"
#define XZ "tensor X[N] f16, Z[N] f16\n"
/* A product with a row of a type, which sums of a type begin with, or are multiplied by. */
#define PRODUCT(row, sum, begin, factors)                                                          \
    K N "tensor A[16,N] f16, B[N,N] f16, R[N] " row ", C[16,N] " sum "\n"                          \
        "tile s: l0c[16,N] f32\ntile a: l0a[16,N] f16\ntile b: l0b[N,N] f16\n"                     \
        "tile c: ub[16,N] " sum "\ntile r: l1[N] " row "\nload r <- R\nload a <- A\n"              \
        "load b <- B\nmmad s <- a, b" begin "\nmove c <- s" factors "\nstore C <- c\n"

const char *const odd_kernels[] = {
    /* a loop cut from an expression, its tile moved out */
    K N XZ "axis t = slices(N)\nfor i in N + 16 by t\n  tile x: ub[i] f16 at top\n"
           "  load x <- X[i]\n  store Z[i] <- x\n",
    /* more room than is held, and a cut of what is held */
    K M "tensor X[M] f16, Z[M] f16\naxis t = slices(M)\nfor i in M by t\n"
        "  tile x: ub[up(i, 16)] f16\n  load x <- X\n  for r in i by 3\n    relu x <- x\n"
        "  store Z <- x\n",
    K M "tensor X[M] f16, Z[M] f16\naxis t = slices(M)\nfor i in M by t\n"
        "  tile x: ub[up(i, 16)] f16\n  load x <- X\n  for r in i by 16\n    relu x[r] <- x[r]\n"
        "  store Z <- x\n",
    /* rounds that another loop's length decides */
    K MN "tensor X[M,N] f16, Z[M,N] f16\naxis t = slices(M)\nfor i in M by t\n"
         "  tile x: ub[i,N] f16\n  load x <- X\n  for r in N by 16 * i\n    relu x <- x\n"
         "  store Z <- x\n",
    /* a kept tile, loaded by parts whose range hangs on another loop */
    K "size M N pad 16\ntensor X[M] f16, Z[N,M] f16\naxis t = slices(M)\nfor j in N by 16\n  for i "
      "in M by t\n"
      "    for r in i by 16\n      tile x: ub[r] f16 at top\n      load x <- X\n"
      "      tile z: ub[j,r] f16\n      vecDup z <- 0\n      store Z <- z\n"
      "      scalar nop count=1\n      relu z <- z\n",
    /* the same tile kept at two levels */
    K MN "tensor X[N] f16, Z[M,N] f16\naxis t = slices(N)\naxis way = a, b\nfor i in M by 1\n"
         "  for j in N by t\n    tile x1: l1[j] f16 at top if way == a else i\n"
         "    tile x0: ub[j] f16 at i\n    load x1 <- X\n    load x0 <- x1\n"
         "    tile z: ub[1,j] f16\n    relu z <- x0\n    store Z[begin(i), j] <- z[:, :]\n",
    /* lets: as a range, and of a loop */
    K N "let W = N + 2\ntensor X[W] f16, Z[W] f16\naxis t = 16, 32\nfor w in W by t\n"
        "  let half = w\n  tile x: ub[half] f16\n  load x <- X\n  store Z <- x\n",
    /* stored by each core where its share begins, or added by all of them */
    K MN "tensor X[N] f16, Z[2 * M] f16\ncores M\nfor i in M by 1\n  tile x: ub[1] f16\n"
         "  load x <- X[1 from 0]\n  store Z[1 from 1 + 2 * begin(i)] <- x\n",
    K MN "tensor X[M,N] f16, Z[N] f16\ncores M\nfor i in M by 1\n  tile x: ub[i,N] f16\n"
         "  load x <- X\n  store Z <- x add=1\n",
    /* beyond the ends of a tensor */
    K N XZ
    "axis t = slices(N)\nfor i in N by t\n  tile x: ub[i + 16] f16\n  tile z: ub[i] f16\n"
    "  load x <- X[i + 16 from begin(i) - 1] fill=1.0\n  vmax z <- x[i from 0], x[i from 16]\n"
    "  store Z <- z\n",
    /* elements apart */
    K N "tensor X[2*N] f16, Z[N] f16\naxis t = slices(N)\nfor i in N by t\n  tile x: ub[i] f16\n"
        "  load x <- X[i from 2*begin(i) by 2] bursts=i\n  store Z <- x\n",
    /* scratch in external memory */
    K N XZ "axis t = slices(N)\ntile g: gm[N] f16\nfor i in N by t\n  tile x: ub[i] f16\n"
           "  load x <- X\n  store g <- x\nfor j in N by 32\n  tile y: ub[j] f16\n  load y <- g\n"
           "  store Z <- y\n",
    /* shares of two sizes, one of which a choice names */
    K MN "tensor X[M,N] f16, Z[M,N] f16\naxis t = slices(N)\naxis split = m, n\n"
         "cores M if split == m else N\nfor i in M by 2\n  for j in N by t\n"
         "    tile x: ub[i,j] f16\n    load x <- X\n    store Z <- x\n",
    K MN "tensor X[M,N] f16, Z[M,N] f16\naxis t = slices(N)\naxis g = 1, 2\ncores M by g, N\n"
         "for i in M by 2\n  for j in N by t\n    tile x: ub[i,j] f16\n    load x <- X\n"
         "    store Z <- x\n",
    /* a dimension of a tensor that no loop runs over: a core's share */
    K MN "tensor X[M,N] f16, Z[M,N] f16\ncores M\naxis t = slices(N)\nfor j in N by t\n"
         "  tile x: ub[M,j] f16\n  load x <- X\n  store Z <- x\n",
    /* no rounds */
    K N XZ "for i in N by 16\n  tile x: ub[i] f16\n  load x <- X\n  for r in i - 16 by 4\n"
           "    relu x <- x\n  store Z <- x\n",
    /* tiles that nobody uses for some axes */
    K N XZ "axis b = 1, 2\naxis way = a, b\nfor i in N by 16\n  tile x: ub[i] f16 x b\n"
           "  tile y: ub[i] f16 x b\n  load x <- X\n  relu y <- x if way == a\n"
           "  relu x <- y if way == a\n  store Z <- x\n",
    /* three loops in an order, a tile of each life */
    K "size M N K pad 16\ntensor X[M,N,K] f16, Y[N] f16, Z[M,N,K] f16\naxis way = a, b, c\n"
      "order k, i, j if way == a\norder j, k, i if way == b\nfor i in M by 16\n  for j in N by 32\n"
      "    for k in K by 48\n      tile x: ub[i,j,k] f16 at k if way == c else j\n"
      "      tile y: ub[j] f16 at i\n      load x <- X\n      load y <- Y\n"
      "      vadd x <- x, y elements=16 if way == c and has(nothing)\n"
      "      tile z: ub[i,j,k] f16\n      relu z <- x\n      relu y <- y if has(nothing)\n"
      "      vmax z <- y, y elements=j\n      store Z <- z\n",
    /* a loop without rounds that reads what is loaded once */
    K MN "tensor X[M,N] f16, S[N] f16, Z[M,N] f16\naxis t = slices(M)\ntile s: ub[N] f16\n"
         "load s <- S\nfor i in M by t\n  tile x: ub[i,N] f16 x 2\n  tile z: ub[i,N] f16 x 2\n"
         "  load x <- X\n  for r in i - 8 by 1\n    vmul z <- x, s elements=N\n  relu z <- x\n"
         "  store Z <- z\n",
    /* stages around loops, and a tile of both */
    K MN
    "tensor X[M,N] f16, Z[M,N] f16\naxis t = slices(N)\nfor i in M by 3\n"
    "  tile x: ub[i,N] f16 x 2\n  tile z: ub[i,N] f16 x 3\n  for j in N by t\n    load x <- X\n"
    "  @1 for k in N by 16\n    relu z <- x\n  @3 store Z <- z\n",
    /* accumulators over two loops, and in the kernel's life */
    K "size M N K pad 16\ntensor A[M,K] f16, B[K,N] f16, C[M,N] f16\naxis t = slices(K)\n"
      "for l in K by t\n  for i in M by 32\n    tile acc: l0c[i,N] f32 at top\n"
      "    for q in l by 16\n      tile a: l0a[i,q] f16 x 2\n      tile b: l0b[q,N] f16\n"
      "      load a <- A\n      load b <- B\n      mmad acc <- a, b\n"
      "tile acc2: l0c[M,N] f32\ntile a2: l0a[M,16] f16\ntile b2: l0b[16,N] f16\n"
      "load a2 <- A[:, 16 from 0]\nload b2 <- B[16 from 0]\nmmad acc2 <- a2, b2\n"
      "tile c: ub[M,N] f16\nmove c <- acc2\nstore C <- c\n",
    /* rounds that are written out */
    K MN "tensor X[M,N] f16, Z[M,N] f16\nfor i in M by 1 each\n  tile x: ub[i,N] f16\n"
         "  load x <- X\n  scalar branch count=begin(i)+1\n  relu x <- x if begin(i) % 2 == 0\n"
         "  store Z <- x\n",
    /* folds of a part, results in a part */
    K MN "tensor X[M,N] f16, Z[M,16] f16\nfor i in M by 4\n  tile x: ub[i,N] f16\n"
         "  tile s: ub[i,16] f16\n  load x <- X\n  for r in i by 1\n    vecDup s <- 0\n"
         "    reduceMax s <- x elements=min(N, 128)\n  store Z <- s\n",
    /* a first load that a condition leaves to the first round */
    K MN "tensor X[N] f16, Z[M,N] f16\naxis t = slices(N)\nfor i in M by 1\n  for j in N by t\n"
         "    tile x: ub[j] f16 at top\n    load x <- X if first(i)\n    store Z <- x\n",
    /* room that is shared with a loop beside, whose last reader is there in first rounds alone */
    "kernel r\nsize N pad 16\ntensor X1[N] f16, Y1[N] f16, Z1[N] f16\naxis t1 = slices(N)\n"
    "axis buf1 = 1, 2\naxis buf0 = 1, 2, 3\naxis way = near, far, other\n"
    "tensor X2[N] f16, Y2[N] f16, Z2[N] f16\naxis t2 = powers(16, 64)\naxis t3 = divisors(N)\n"
    "for i in N by t1\n  tile x1: ub[i] f16\n  tile y1: ub[i] f16 x buf0\n"
    "  tile z1: ub[i] f16 x buf1 at i if way != other else top\n  load x1 <- X1\n"
    "  load y1 <- Y1\n  vsub z1 <- x1, y1\n  vsub z1 <- z1, x1 if first(i)\n  ln z1 <- z1\n"
    "  store Z1 <- z1\nfor j in N by t2\n  tile x12: l1[j] f16\n  load x12 <- X2\n"
    "  for k in j by t3\n    tile x2: ub[k] f16\n    load x2 <- x12\n    tile y2: ub[k] f16\n"
    "    load y2 <- Y2\n    tile z2: ub[k] f16\n    vmul z2 <- x2, y2\n    store Z2 <- z2\n",
    /* a tile that is read in all rounds of a loop, and behind that in the first of another */
    K MN "tensor X[N] f16, Z[M,N] f16, W[M,N] f16\naxis t = slices(N)\nfor i in M by 1\n"
         "  tile x: ub[N] f16\n  load x <- X\n  for j in N by t\n    tile w: ub[N] f16\n"
         "    for r in 3 by 1\n      tile z: ub[N] f16\n      relu z <- x\n"
         "      relu w <- z\n    relu w <- x if first(j)\n"
         "    store W[begin(i), 16 from 0] <- w[16 from 0] if first(j)\n  store Z <- x\n",
    /* four loops beside each other, with scratch in between: few flags are left */
    K N "tensor X[N] f16, Z[N] f16, W[N] f16\naxis t = slices(N)\ntile g1: gm[N] f16\n"
        "for i in N by t\n  tile x1: ub[i] f16\n  load x1 <- X\n  store g1 <- x1\n"
        "for j in N by t\n  tile y1: ub[j] f16 x 2\n  load y1 <- g1\n  exp y1 <- y1\n"
        "  store Z <- y1\ntile g2: gm[N] f16\n"
        "for k in N by t\n  tile x2: ub[k] f16\n  load x2 <- X\n  store g2 <- x2\n"
        "for l in N by t\n  tile y2: ub[l] f16 x 2\n  load y2 <- g2\n  exp y2 <- y2\n"
        "  store W <- y2\n",
    /* two sums into one tile, the first one only behind the first round; two of halves */
    "kernel k\nsize M N K pad 16\ntensor A[M,K] f16, B[K,N] f16, C[M,N] f16\n"
    "axis t = slices(K)\nfor j in N by 16\n  tile acc: l0c[M,j] f32\n"
    "  for l in K by t\n    tile a: l0a[M,l] f16\n    tile b: l0b[l,j] f16\n    load a <- A\n"
    "    load b <- B\n    mmad acc <- a, b if not first(j)\n"
    "  for q in K by 16\n    tile a2: l0a[M,q] f16\n    tile b2: l0b[q,j] f16\n"
    "    load a2 <- A\n    load b2 <- B\n    mmad acc <- a2, b2\n"
    "  tile c: ub[M,j] f16\n  move c <- acc\n  store C <- c\n",
    "kernel k\nsize M N K pad 16\ntensor A[M,K] f16, B[K,N] f16, C[M,N] f16\n"
    "axis t = slices(K)\nfor i in M by 16\n  tile acc: l0c[i,N] f32\n"
    "  for l in K by t\n    tile a: l0a[i,l] f16\n    tile b: l0b[l,N] f16\n    load a <- A\n"
    "    load b <- B\n    mmad acc <- a, b if not first(l)\n"
    "  tile a2: l0a[i,16] f16\n  tile b2: l0b[16,N] f16\n"
    "  load a2 <- A[i, 16 from 0]\n  load b2 <- B[16 from 0]\n  mmad acc <- a2, b2\n"
    "  tile c: ub[i,N] f16\n  move c <- acc\n  store C <- c\n",
    "kernel k\nsize N K pad 16\ntensor A[32,K] f16, B[K,N] f16, C[32,N] f16\n"
    "axis t = slices(K)\nfor j in N by 16\n  tile acc: l0c[32,j] f32\n"
    "  for l in K by t\n    tile a: l0a[32,l] f16\n    tile b: l0b[l,j] f16\n    load a <- A\n"
    "    load b <- B\n    mmad acc[16 from 0, j] <- a[16 from 0, l], b\n"
    "    mmad acc[16 from 16, j] <- a[16 from 16, l], b\n"
    "  tile c: ub[32,j] f16\n  move c <- acc\n  store C <- c\n",
    /* tiles in turn, at the top */
    K N XZ "axis b = 1, 2, 3\ntile x: ub[N] f16 x b\nload x <- X\nstore Z <- x\n",
    /* types */
    K N "tensor X[N] f16, Y[N] f32, Z[N] f32\naxis t = slices(N)\nfor i in N by t\n"
        "  tile x: ub[i] f16\n  tile y: ub[i] f32 x 2\n  load x <- X\n  load y <- Y\n"
        "  tile w: ub[i] f32\n  cast w <- x\n  vadd w <- w, y\n  store Z <- w\n",
    NULL,
};

const char *const wrong_kernels[] = {
    /* what a middle round alone does not fit */
    K N XZ "for i in N by 16 each\n  tile x: ub[32] f16\n  load x[16 from 0] <- X\n"
           "  load x[16 from 16] <- X\n"
           "  relu x[16 from 32] <- x[16 from 0] if begin(i) == 16\n"
           "  store Z <- x[16 from 0]\n",
    /* a part that leaves its tile as rounds go on, but for the first and the last one */
    K N XZ
    "tile x: ub[48] f16\nfor i in N by 16\n  load x[16 from min(begin(i), 48 * (1 - begin(i) "
    "/ (N - 16)))] <- X\n  store Z <- x[16 from 0]\n",
    /* a part that leaves its tile */
    K M "tensor X[M] f16, Z[M] f16\naxis t = slices(M)\nfor i in M by t\n"
        "  tile x: ub[up(i, 16)] f16\n  load x <- X\n  for r in i by 16\n    relu x[r] <- x[r]\n"
        "  store Z <- x\n",
    /* read before it was written, but in the first round */
    K N XZ "for i in N by 16\n  tile x: ub[i] f16\n  load x <- X if first(i)\n  store Z <- x\n",
    /* half of it */
    K N XZ "tile x: ub[N] f16\nload x[16 from 0] <- X[16 from 0]\nstore Z <- x\n",
    /* stored twice */
    K MN "tensor X[N] f16, Z[N] f16\nfor j in M by 1\n  for i in N by 16\n    tile x: ub[i] f16\n"
         "    load x <- X\n    store Z <- x\n",
    /* stored by all cores */
    K MN "tensor X[M,N] f16, Z[N] f16\ncores M\nfor i in M by 1\n  tile x: ub[i,N] f16\n"
         "  load x <- X\n  store Z <- x if last(i)\n",
    K MN "tensor X[M,N] f16, Z[M,N] f16\naxis split = m, n\ncores M if split == m else N\n"
         "for j in N by 16\n  tile x: ub[2,j] f16\n  load x <- X[2 from 0]\n"
         "  store Z[2 from 0, 16 from 0] <- x[:, 16 from 0] if first(j)\n",
    K MN "tensor X[M,N] f16, Z[M] f16\ncores M by 1, N\nfor i in M by 16\n"
         "  tile x: ub[i] f16\n  load x <- X[i, 0]\n  store Z <- x\n",
    K M "let H = M + 2\ntensor X[M] f16, Z[M + 2] f16\ncores M\nfor i in H by 16\n"
        "  tile x: ub[i] f16\n  load x <- X[i]\n  store Z[i] <- x\n",
    /* half a product begun */
    K "size M N K pad 16\ntensor A[M,K] f16, B[K,N] f16, C[M,N] f16\n"
      "tile acc: l0c[M,N] f32\ntile c: ub[M,N] f16\ntile a: l0a[M,K] f16\ntile b: l0b[K,N] f16\n"
      "load a <- A\nload b <- B\nmmad acc[:, 16 from 0] <- a, b[:, 16 from 0]\n"
      "mmad acc <- a, b\nmove c <- acc\nstore C <- c\n",
    /* more results than room */
    K N
    "tensor X[N] f16, Z[1] f16\ntile x: ub[N * 16] f16\ntile s: ub[1] f16\nload x[N from 0] <- X\n"
    "vecDup x <- 0\nreduceMax s <- x\nstore Z <- s\n",
    /* elements that are not there */
    K N XZ "tile x: ub[N] f16\nload x <- X\nrelu x <- x elements=N+1\nstore Z <- x\n",
    K N XZ "tile x: ub[N] f16\nload x <- X\nrelu x <- x elements=N-N\nstore Z <- x\n",
    /* what is spread, and what the scalar unit moves, lies in its tile; the latter is one element
     */
    K N XZ "tile x: ub[N] f16\nload x <- X\nvecDup x <- x[1 from N]\nstore Z <- x\n",
    K N XZ "tile x: ub[N] f16\nload x <- X\nscalar assign x[0] <- x[N]\nstore Z <- x\n",
    K N XZ "tile x: ub[N] f16\nload x <- X\nscalar assign x[N] <- x[0]\nstore Z <- x\n",
    K N XZ "tile x: ub[N] f16\nload x <- X\nscalar assign x[0] <- x[2 from 0]\nstore Z <- x\n",
    /* types that do not go together, paths that are not there */
    K N "tensor X[N] f16, Z[N] f32\ntile x: ub[N] f16\nload x <- X\nstore Z <- x\n",
    K N "tensor X[N] f16, Z[N] f16\ntile x: ub[N] f16\ntile y: ub[N] f32\nload x <- X\n"
        "vadd y <- x, x\ntile z: ub[N] f16\ncast z <- y\nstore Z <- z\n",
    /* rows beside sums that have another length or type, and a path without conversion */
    PRODUCT("f32", "f16", ", r[8 from 0]", ""),
    PRODUCT("f32", "f16", "", ", r[8 from 0]"),
    PRODUCT("f16", "f16", ", r", ""),
    PRODUCT("f16", "f16", "", ", r"),
    PRODUCT("f32", "f32", "", ", r"),
    /* two stages of a tile that lives longer */
    K MN "tensor X[M,N] f16, Z[M,N] f16\nfor i in M by 3\n  tile x: ub[i,N] f16 x 3\n"
         "  for j in N by 16\n    load x <- X\n    @1 relu x <- x\n  store Z <- x\n",
    NULL,
};
