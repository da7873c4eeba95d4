/* The inner loops of the FP32 product, written once. No include guard: each instruction set's file
 * defines, then includes this once:
 *   LANES                      floats a vector
 *   vec                        a vector type of GNU C, aligned as float
 *   fold(x)                    a quad that has the same sum
 *   mask                       which floats of a vector count
 *   mask_of(count)             the first `count`
 *   load_some(from, mask)      the others 0, and not read
 *   store_some(to, mask, x)    the others not written
 *   store_past(to, x)          past the caches; `to` is aligned
 *   finish_stores()
 *   SGEMM_CODE                 the name of the table
 * Numbers of rows and vectors are constants after inlining, so that the sums are registers. */

/* Numbers of rows, vectors and lanes are constants below 32: their products fit int.
 * NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result) */

INLINE vec load(const float *from)
{
    return *(const vec *)from;
}

INLINE vec all(float x)
{
    return x - (vec){0};
}

/* Where the rows of A are: packed, one after the other for each k; or as they lie, `lda` apart. A
 * pointer for every four of those, as an address can add a multiple of lda by itself; the empty
 * assembler lines keep the compiler from giving each row a register of its own. */
enum { ROW_GROUP = 4, ROW_GROUPS = SGEMM_MAX_ROWS / ROW_GROUP };

struct rows {
    const float *at[ROW_GROUPS];
    int64_t lda, lda3;
};

INLINE int64_t row_offset(const struct rows *rows, int r)
{
    return r == 0 ? 0 : r == 1 ? rows->lda : r == 2 ? 2 * rows->lda : rows->lda3;
}

/* One k: number `ahead` after where `rows` stands. */
INLINE void multiply(const int R, const int V, const bool packed, const bool masked,
                     const int ahead, const struct rows *rows, const float *b, mask last,
                     vec sum[SGEMM_MAX_ROWS][SGEMM_MAX_VECTORS])
{
    vec x[SGEMM_MAX_VECTORS];
    UNROLLED
    for (int v = 0; v < V; v++)
        x[v] = masked && v == V - 1 ? load_some(b + v * LANES, last) : load(b + v * LANES);
    UNROLLED
    for (int r = 0; r < R; r++) {
        const float *at = packed
                              ? rows->at[0] + ahead * R + r
                              : rows->at[r / ROW_GROUP] + row_offset(rows, r % ROW_GROUP) + ahead;
        vec y = all(*at);
        UNROLLED
        for (int v = 0; v < V; v++)
            sum[r][v] += y * x[v];
    }
}

INLINE void advance(const int R, const bool packed, const int steps, struct rows *rows)
{
    const int groups = packed ? 1 : (R + ROW_GROUP - 1) / ROW_GROUP;
    UNROLLED
    for (int g = 0; g < groups; g++) {
        rows->at[g] += packed ? steps * R : steps;
        __asm__("" : "+r"(rows->at[g]));
    }
    if (!packed)
        __asm__("" : "+r"(rows->lda), "+r"(rows->lda3));
}

INLINE void multiply_all(const int R, const int V, const bool packed, const bool masked,
                         const int apart, const struct sgemm_step *step, const float *a,
                         const float *b, mask last, vec sum[SGEMM_MAX_ROWS][SGEMM_MAX_VECTORS])
{
    enum { UNROLL = 4 };
    vec other[UNROLL - 1][2][SGEMM_MAX_VECTORS];
    struct rows rows = {.lda = step->lda, .lda3 = 3 * step->lda};
    int64_t ldb = step->ldb, k = step->k;
    UNROLLED
    for (int g = 0; g < ROW_GROUPS; g++)
        rows.at[g] = a + g * ROW_GROUP * rows.lda;
    UNROLLED
    for (int i = 0; i < (apart - 1) * R * V; i++)
        other[i / (R * V)][i / V % R][i % V] = (vec){0};
    for (; k >= UNROLL; k -= UNROLL) {
        UNROLLED
        for (int u = 0; u < UNROLL; u++) {
            multiply(R, V, packed, masked, u, &rows, b, last,
                     u % apart ? other[u % apart - 1] : sum);
            b += ldb;
            __asm__("" : "+r"(b));
        }
        advance(R, packed, UNROLL, &rows);
    }
    for (; k > 0; k--, b += ldb) {
        multiply(R, V, packed, masked, 0, &rows, b, last, sum);
        advance(R, packed, 1, &rows);
    }
    UNROLLED
    for (int i = 0; i < (apart - 1) * R * V; i++)
        sum[i / V % R][i % V] += other[i / (R * V)][i / V % R][i % V];
}

/* How one row of sums gets into C. */
enum keeping { KEEP_STORE, KEEP_ADD, KEEP_STREAM };

INLINE void keep(const int R, const int V, const bool masked, const enum keeping how,
                 const struct sgemm_step *step, mask last, float *c,
                 vec sum[SGEMM_MAX_ROWS][SGEMM_MAX_VECTORS])
{
    UNROLLED
    for (int r = 0; r < R; r++, c += step->ldc)
        UNROLLED
    for (int v = 0; v < V; v++) {
        float *at = c + v * LANES;
        bool some = masked && v == V - 1;
        vec x = sum[r][v];
        if (how == KEEP_ADD)
            x += some ? load_some(at, last) : load(at);
        if (some)
            store_some(at, last, x);
        else if (how == KEEP_STREAM)
            store_past(at, x);
        else
            *(vec *)at = x;
    }
}

/* Every `apart`-th k goes into a sum of its own. */
INLINE void tile(const int R, const int V, const bool packed, const bool masked, const int apart,
                 const struct sgemm_step *step, const float *a, const float *b, float *c)
{
    vec sum[SGEMM_MAX_ROWS][SGEMM_MAX_VECTORS];
    mask last = mask_of(masked ? step->tail : LANES);
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        sum[r][v] = (vec){0};
    if (!step->stream)
        UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        __builtin_prefetch(c + r * step->ldc + v * LANES, 1);
    multiply_all(R, V, packed, masked, apart, step, a, b, last, sum);
    if (step->accumulate)
        keep(R, V, masked, KEEP_ADD, step, last, c, sum);
    else if (step->stream && !masked)
        keep(R, V, masked, KEEP_STREAM, step, last, c, sum);
    else
        keep(R, V, masked, KEEP_STORE, step, last, c, sum);
}

/* Elements of A that a sweep holds in registers. */
enum { SWEEP_FACTORS = LANES < 16 ? 8 : 16 };

/* R rows of C += A's columns times U rows of B, all along. */
INLINE void sweep_rows(const int R, const int U, const bool add, const struct sgemm_step *step,
                       const float *a, const float *b, float *c)
{
    vec y[SGEMM_MAX_SWEEP_ROWS][SGEMM_SWEEP_STEPS];
    int64_t j = 0, whole = step->columns - step->columns % LANES;
    mask last = mask_of((int)(step->columns - whole));
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int u = 0; u < U; u++)
        y[r][u] = all(a[r * step->lda + u]);
    for (; j < whole; j += LANES) {
        vec sum[SGEMM_MAX_SWEEP_ROWS];
        UNROLLED
        for (int r = 0; r < R; r++)
            sum[r] = add ? load(c + r * step->ldc + j) : (vec){0};
        UNROLLED
        for (int u = 0; u < U; u++) {
            vec x = load(b + u * step->ldb + j);
            UNROLLED
            for (int r = 0; r < R; r++)
                sum[r] += y[r][u] * x;
        }
        UNROLLED
        for (int r = 0; r < R; r++)
            *(vec *)(c + r * step->ldc + j) = sum[r];
    }
    if (j == step->columns)
        return;
    UNROLLED
    for (int r = 0; r < R; r++) {
        vec sum = add ? load_some(c + r * step->ldc + j, last) : (vec){0};
        UNROLLED
        for (int u = 0; u < U; u++)
            sum += y[r][u] * load_some(b + u * step->ldb + j, last);
        store_some(c + r * step->ldc + j, last, sum);
    }
}

/* Of a few rows of B at once a cache delivers as much as of one, and C is read and written once for
 * all of them. */
INLINE void sweep(const int R, const struct sgemm_step *step, const float *a, const float *b,
                  float *c)
{
    const int U = R * SGEMM_SWEEP_STEPS <= SWEEP_FACTORS ? SGEMM_SWEEP_STEPS : 2;
    int64_t k = step->k % U ? 1 : U;
    if (k == 1)
        sweep_rows(R, 1, false, step, a, b, c);
    else
        sweep_rows(R, U, false, step, a, b, c);
    for (; (step->k - k) % U; k++)
        sweep_rows(R, 1, true, step, a + k, b + k * step->ldb, c);
    for (; k < step->k; k += U)
        sweep_rows(R, U, true, step, a + k, b + k * step->ldb, c);
}

/* The sums of four vectors' floats, each folded to four. */
INLINE quad totals(const quad part[4])
{
    quad low01 = __builtin_shufflevector(part[0], part[1], 0, 4, 1, 5);
    quad high01 = __builtin_shufflevector(part[0], part[1], 2, 6, 3, 7);
    quad low23 = __builtin_shufflevector(part[2], part[3], 0, 4, 1, 5);
    quad high23 = __builtin_shufflevector(part[2], part[3], 2, 6, 3, 7);
    quad sum01 = low01 + high01, sum23 = low23 + high23;
    return __builtin_shufflevector(sum01, sum23, 0, 1, 4, 5) +
           __builtin_shufflevector(sum01, sum23, 2, 3, 6, 7);
}

/* C's elements by fours, row by row. */
INLINE void keep_totals(const int R, const int C, const struct sgemm_step *step, float *c,
                        vec sum[SGEMM_MAX_DOT_ROWS][SGEMM_MAX_DOT_COLUMNS])
{
    UNROLLED
    for (int first = 0; first < R * C; first += 4) {
        quad part[4], four;
        UNROLLED
        for (int i = 0; i < 4; i++)
            part[i] = first + i < R * C ? fold(sum[(first + i) / C][(first + i) % C]) : (quad){0};
        four = totals(part);
        if (C == 1 && first + 4 <= R && step->ldc == 1) {
            *(quad *)(c + first) = four;
            continue;
        }
        UNROLLED
        for (int i = 0; i < 4; i++)
            if (first + i < R * C)
                c[(first + i) / C * step->ldc + (first + i) % C] = four[i];
    }
}

/* Numbers k to k + LANES of every row times those of every column. */
INLINE void dot_step(const int R, const int C, const struct sgemm_step *step, const float *a,
                     const float *b, vec sum[SGEMM_MAX_DOT_ROWS][SGEMM_MAX_DOT_COLUMNS])
{
    vec x[SGEMM_MAX_DOT_COLUMNS];
    UNROLLED
    for (int j = 0; j < C; j++)
        x[j] = load(b + j * step->ldb);
    UNROLLED
    for (int r = 0; r < R; r++) {
        vec y = load(a + r * step->lda);
        UNROLLED
        for (int j = 0; j < C; j++)
            sum[r][j] += y * x[j];
    }
}

INLINE void dot(const int R, const int C, const int apart, const struct sgemm_step *step,
                const float *a, const float *b, float *c)
{
    vec sum[SGEMM_MAX_DOT_ROWS][SGEMM_MAX_DOT_COLUMNS],
        other[SGEMM_MAX_DOT_ROWS][SGEMM_MAX_DOT_COLUMNS];
    int64_t k = 0, whole = step->k - step->k % LANES;
    mask last = mask_of((int)(step->k - whole));
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int j = 0; j < C; j++)
        sum[r][j] = (vec){0};
    UNROLLED
    for (int i = 0; i < (apart - 1) * R * C; i++)
        other[i / C][i % C] = (vec){0};
    for (; k + (int64_t)(apart - 1) * LANES < whole; k += (int64_t)apart * LANES) {
        dot_step(R, C, step, a + k, b + k, sum);
        if (apart > 1)
            dot_step(R, C, step, a + k + LANES, b + k + LANES, other);
    }
    if (k < whole)
        dot_step(R, C, step, a + k, b + k, sum);
    if (whole < step->k) {
        UNROLLED
        for (int r = 0; r < R; r++)
            UNROLLED
        for (int j = 0; j < C; j++)
            sum[r][j] += load_some(a + r * step->lda + whole, last) *
                         load_some(b + j * step->ldb + whole, last);
    }
    UNROLLED
    for (int i = 0; i < (apart - 1) * R * C; i++)
        sum[i / C][i % C] += other[i / C][i % C];
    keep_totals(R, C, step, c, sum);
}

/* Four rows by four columns turned. */
INLINE void turn(const float *from, int64_t from_row, float *to, int64_t to_row)
{
    quad r0 = *(const quad *)from, r1 = *(const quad *)(from + from_row);
    quad r2 = *(const quad *)(from + 2 * from_row), r3 = *(const quad *)(from + 3 * from_row);
    quad low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
    quad low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    quad high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    quad high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    *(quad *)to = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *(quad *)(to + to_row) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *(quad *)(to + 2 * to_row) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *(quad *)(to + 3 * to_row) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/* to[column][row] = from[row][column]. The last four rows may overlap those before. */
INLINE void transpose(const float *from, int64_t from_row, int64_t rows, int64_t columns, float *to,
                      int64_t to_row)
{
    int64_t fours = rows < 4 ? 0 : columns - columns % 4;
    for (int64_t r = 0; r < rows && fours > 0; r += 4) {
        int64_t at = r < rows - 4 ? r : rows - 4;
        for (int64_t k = 0; k < fours; k += 4)
            turn(from + at * from_row + k, from_row, to + k * to_row + at, to_row);
    }
    for (int64_t k = fours; k < columns; k++)
        for (int64_t r = 0; r < rows; r++)
            to[k * to_row + r] = from[r * from_row + k];
}

static void pack_a(const float *a, int64_t lda, int64_t rows, int64_t k, float *packed)
{
    transpose(a, lda, rows, k, packed, rows);
}

static void transpose_b(const float *b, int64_t ldb, int64_t columns, int64_t k, float *packed)
{
    transpose(b, ldb, k, columns, packed, k);
}

static void pack_b(const float *b, int64_t ldb, int64_t columns, int64_t k, float *packed)
{
    int64_t whole = columns - columns % LANES;
    mask last = mask_of((int)(columns - whole));
    for (int64_t i = 0; i < k; i++, b += ldb) {
        for (int64_t j = 0; j < whole; j += LANES, packed += LANES)
            *(vec *)packed = load(b + j);
        if (whole < columns) {
            *(vec *)packed = load_some(b + whole, last);
            packed += LANES;
        }
    }
}

static void finish(void)
{
    finish_stores();
}

#define SWEEP(R)                                                                                   \
    static void sweep_##R TILE_ARGUMENTS                                                           \
    {                                                                                              \
        sweep(R, step, a, b, c);                                                                   \
    }
#define TILE_ARGUMENTS (const struct sgemm_step *step, const float *a, const float *b, float *c)
#define TILE(R, V)                                                                                 \
    static void tile_##R##x##V TILE_ARGUMENTS                                                      \
    {                                                                                              \
        tile(R, V, false, false, 1, step, a, b, c);                                                \
    }                                                                                              \
    static void tile_some_##R##x##V TILE_ARGUMENTS                                                 \
    {                                                                                              \
        tile(R, V, false, true, 1, step, a, b, c);                                                 \
    }                                                                                              \
    static void packed_##R##x##V TILE_ARGUMENTS                                                    \
    {                                                                                              \
        tile(R, V, true, false, 1, step, a, b, c);                                                 \
    }                                                                                              \
    static void packed_some_##R##x##V TILE_ARGUMENTS                                               \
    {                                                                                              \
        tile(R, V, true, true, 1, step, a, b, c);                                                  \
    }
#define DOT(R, C)                                                                                  \
    static void dot_##R##x##C TILE_ARGUMENTS                                                       \
    {                                                                                              \
        dot(R, C, 1, step, a, b, c);                                                               \
    }

#define APART(R, V)                                                                                \
    static void apart_##R##x##V TILE_ARGUMENTS                                                     \
    {                                                                                              \
        tile(R, V, false, false, 4 / ((R) * (V)), step, a, b, c);                                  \
    }                                                                                              \
    static void apart_some_##R##x##V TILE_ARGUMENTS                                                \
    {                                                                                              \
        tile(R, V, false, true, 4 / ((R) * (V)), step, a, b, c);                                   \
    }
#define DOT_APART(R)                                                                               \
    static void dot_apart_##R TILE_ARGUMENTS                                                       \
    {                                                                                              \
        dot(R, 1, 2, step, a, b, c);                                                               \
    }

EACH_TILE(TILE)
EACH_DOT(DOT)
APART(1, 1)
APART(2, 1)
APART(1, 2)
DOT_APART(1)
DOT_APART(2)
SWEEP(1)
SWEEP(2)
SWEEP(3)
SWEEP(4)

#define TILE_ROW(R, V)        [(V)-1][(R)-1] = tile_##R##x##V,
#define TILE_SOME_ROW(R, V)   [(V)-1][(R)-1] = tile_some_##R##x##V,
#define PACKED_ROW(R, V)      [(V)-1][(R)-1] = packed_##R##x##V,
#define PACKED_SOME_ROW(R, V) [(V)-1][(R)-1] = packed_some_##R##x##V,
#define DOT_ROW(R, C)         [(C)-1][(R)-1] = dot_##R##x##C,

const struct sgemm_code SGEMM_CODE = {
    .lanes = LANES,
    .tile = {{{EACH_TILE(TILE_ROW)}, {EACH_TILE(TILE_SOME_ROW)}},
             {{EACH_TILE(PACKED_ROW)}, {EACH_TILE(PACKED_SOME_ROW)}}},
    .dot = {EACH_DOT(DOT_ROW)},
    .apart = {{{apart_1x1, apart_2x1}, {apart_1x2}},
              {{apart_some_1x1, apart_some_2x1}, {apart_some_1x2}}},
    .dot_apart = {dot_apart_1, dot_apart_2},
    .sweep = {sweep_1, sweep_2, sweep_3, sweep_4},
    .pack_a = pack_a,
    .pack_b = pack_b,
    .transpose_b = transpose_b,
    .finish = finish,
};

/* NOLINTEND(bugprone-implicit-widening-of-multiplication-result) */
