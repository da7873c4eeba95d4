/* How operands of the FP32 product are packed, written once: a part of sgemm_template.h, which each
 * instruction set's file includes. No include guard. */
/* Four rows by four columns turned. */
ALWAYS_INLINE void turn(const float *from, int64_t from_row, float *to, int64_t to_row)
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
ALWAYS_INLINE void transpose(const float *from, int64_t from_row, int64_t rows, int64_t columns,
                             float *to, int64_t to_row)
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
