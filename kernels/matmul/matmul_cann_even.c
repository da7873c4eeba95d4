/* How even a tiling is. What is cut with a rest has tiles of two sizes, and the rest's moves and
 * products are short; a tile that starts inside a line of memory touches one line more in each of
 * its rows. The tunings of operator libraries keep clear of both (of 1,698 tilings that CANN's bank
 * recorded, the grid divides m in 96 %), so a model has seen little of them. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_internal.h"

enum { LINE_BYTES = 512 };

/* Lengths that a direction is cut into, from the outermost on; each cuts the one before it. */
enum { CUTS = 4 };
struct cuts {
    int count;
    int64_t length[CUTS];
};

static struct cuts cuts_of(const struct cann *cann, enum cann_direction direction,
                           const int64_t lengths[], int count)
{
    struct cuts cuts = {1, {cann->size[direction]}};
    for (int i = 0; i < count; i++, cuts.count++)
        cuts.length[cuts.count] = least_of(lengths[i], cuts.length[cuts.count - 1]);
    return cuts;
}

static bool divides(const struct cuts *cuts, int cut)
{
    return cuts->length[cut - 1] % cuts->length[cut] == 0;
}

/* Do all tiles start at a line, `unit` numbers of a direction after each other being so many bytes?
 * What is not cut starts where the operand does. */
static bool at_lines(const struct cuts *cuts, int64_t unit, int64_t unit_bytes)
{
    for (int i = 1; i < cuts->count; i++)
        if (cuts->length[i] < cuts->length[0] &&
            product_of(cuts->length[i] / unit, unit_bytes) % LINE_BYTES != 0)
            return false;
    return true;
}

static bool operand_at_lines(const struct cann *cann, enum cann_operand operand,
                             const struct cuts by[CANN_DIRECTIONS], int element_bytes)
{
    const struct cann_layout *layout = &cann->layout[operand];
    return at_lines(&by[layout->outer], layout->unit, layout->pitch_bytes) &&
           at_lines(&by[layout->inner], 1, (int64_t)layout->unit * element_bytes);
}

/* The grid along m and along n, what of k stands in L1, the L0 tiles along each, and the starts of
 * what is loaded of A and B and of the tiles of C. */
unsigned cann_even(const struct space *space, const struct tiling *tiling)
{
    const struct cann *cann = cann_of(space);
    const int64_t *v = tiling->value;
    int64_t m = v[CANN_BASE_M], n = v[CANN_BASE_N], k = v[CANN_BASE_K];
    int64_t m_l1 = product_of(v[CANN_STEP_M], m), n_l1 = product_of(v[CANN_STEP_N], n);
    int64_t ka = product_of(v[CANN_STEP_KA], k), kb = product_of(v[CANN_STEP_KB], k);
    int64_t part = cann_part_k(cann, v[CANN_SPLIT_K]);
    int64_t by_m[] = {v[CANN_SINGLE_M], m_l1, m}, by_n[] = {v[CANN_SINGLE_N], n_l1, n};
    struct cuts all_m = cuts_of(cann, CANN_M, by_m, 3), all_n = cuts_of(cann, CANN_N, by_n, 3);
    struct cuts all_ka = cuts_of(cann, CANN_K, (int64_t[]){part, ka}, 2);
    struct cuts all_kb = cuts_of(cann, CANN_K, (int64_t[]){part, kb}, 2);
    struct cuts m_l0 = cuts_of(cann, CANN_M, (int64_t[]){by_m[0], m}, 2);
    struct cuts n_l0 = cuts_of(cann, CANN_N, (int64_t[]){by_n[0], n}, 2);
    struct cuts k_l0 = cuts_of(cann, CANN_K, (int64_t[]){part, k}, 2);
    struct cuts loads_m = cuts_of(cann, CANN_M, by_m, 2), loads_n = cuts_of(cann, CANN_N, by_n, 2);
    const struct cuts a[CANN_DIRECTIONS] = {[CANN_M] = loads_m, [CANN_K] = all_ka};
    const struct cuts b[CANN_DIRECTIONS] = {[CANN_N] = loads_n, [CANN_K] = all_kb};
    const struct cuts c[CANN_DIRECTIONS] = {[CANN_M] = all_m, [CANN_N] = all_n};
    const int type_bytes = cann->machine.type_bytes;
    const bool met[CANN_EVENS] = {
        divides(&all_m, 1),
        divides(&all_n, 1),
        divides(&all_ka, 1) && divides(&all_ka, 2) && divides(&all_kb, 2),
        divides(&m_l0, 2),
        divides(&n_l0, 2),
        divides(&k_l0, 2),
        operand_at_lines(cann, CANN_A, a, type_bytes) &&
            operand_at_lines(cann, CANN_B, b, type_bytes),
        operand_at_lines(cann, CANN_C, c, cann->machine.out_bytes),
    };
    unsigned bits = 0;
    for (int i = 0; i < CANN_EVENS; i++)
        bits |= (unsigned)met[i] << i;
    return bits;
}
