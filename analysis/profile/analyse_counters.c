/* Bytes of MemoryAccess are what a unit moved, by path; those of bandwidths (Memory, MemoryL0,
 * MemoryUB) are per core and of 10^9 or 2^30 a "GB", as profilers do not say which: both ends are
 * kept. Loads hit or miss the L2 cache by the counts of L2Cache, where there are any. */
#include "analysis/profile/analyse_counters.h"

#include "analysis/profile/analyse_shapes.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

/* What GB may be more than 10^9 bytes. */
#define GB_MOST 1.073741824

/* A rest of this share of the bytes is rounding. */
#define ROUNDING 0.01

/* ------------------------------------------------------------------ what there is */

enum { MOST_OF_UNIT = 8, END = -1 };

static const int counters_of[PROFILE_UNITS][MOST_OF_UNIT] = {
    [UNIT_CUBE] = {COUNTER_MAC_FP16, COUNTER_MAC_INT8, END},
    [UNIT_VECTOR] = {COUNTER_VEC_FP32, COUNTER_VEC_FP16, COUNTER_VEC_INT32, COUNTER_VEC_MISC,
                     COUNTER_UB_READ_VECTOR, COUNTER_UB_WRITE_VECTOR, END},
    [UNIT_SCALAR] = {END},
    [UNIT_MTE1] = {COUNTER_L1_READ, COUNTER_L0A_WRITE, COUNTER_L0B_WRITE, END},
    [UNIT_MTE2] = {COUNTER_GM_TO_L1, COUNTER_GM_TO_UB, COUNTER_MAIN_READ, COUNTER_L2_READ,
                   COUNTER_MAIN_READ_BYTES, END},
    [UNIT_MTE3] = {COUNTER_UB_TO_GM, COUNTER_MAIN_WRITE, COUNTER_L2_WRITE, END},
    [UNIT_FIXPIPE] = {COUNTER_L0C_TO_GM, COUNTER_L0C_TO_L1, COUNTER_MAIN_WRITE, COUNTER_L2_WRITE,
                      END},
};

static double counter(const struct profile_row *row, int side, int which)
{
    return row->counters[side][which];
}

/* What writes to memory: FIXP of the matrix cores of a split chip, MTE-UB of all others. */
static bool writes(const struct profile_row *row, int side, int unit)
{
    bool split = row->core_us[SIDE_VECTOR] >= 0;
    return unit == (side == SIDE_CUBE && split ? UNIT_FIXPIPE : UNIT_MTE3);
}

static bool may_have(const struct profile_row *row, int side, int unit, int which)
{
    if (which == COUNTER_MAIN_WRITE || which == COUNTER_L2_WRITE)
        return writes(row, side, unit);
    return side == SIDE_CUBE || unit == UNIT_VECTOR || unit == UNIT_MTE2 || unit == UNIT_MTE3;
}

bool counters_have(const struct profile_row *row, int side, int unit)
{
    for (int i = 0; counters_of[unit][i] != END; i++)
        if (may_have(row, side, unit, counters_of[unit][i]) &&
            counter(row, side, counters_of[unit][i]) >= 0)
            return true;
    return false;
}

bool counters_any(const struct profile_row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (counters_have(row, side, unit))
                return true;
    return false;
}

bool counters_have_bytes(const struct profile_row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int c = COUNTER_UB_READ; c <= COUNTER_UB_TO_GM; c++)
            if (counter(row, side, c) >= 0)
                return true;
    return false;
}

/* ------------------------------------------------------------------ shares of the time */

void counters_add_cube(const struct profile_row *row, const struct component_places *places,
                       struct diagnosis *diagnosis)
{
    int place = places->of[SIDE_CUBE][UNIT_CUBE];
    double fp16_us = counter(row, SIDE_CUBE, COUNTER_MAC_FP16);
    double int8_us = counter(row, SIDE_CUBE, COUNTER_MAC_INT8);
    double sum_us = fmax(fp16_us, 0) + fmax(int8_us, 0);
    if (place < 0 || (fp16_us < 0 && int8_us < 0))
        return;
    struct component *cube = &diagnosis->components[place];
    bool other_types = sum_us == 0 && (cube->busy_ns > 0 || shapes_are_matmul(row));
    if (other_types) {
        diagnosis_note(diagnosis, "Cube's types are neither FP16 nor INT8, which are not counted");
        return;
    }
    double sum_ns = 1e3 * sum_us;
    if (fp16_us >= 0 && int8_us >= 0)
        component_set_span(cube, sum_ns, sum_ns);
    else if (cube->ideal_ns < 0)
        component_set_span(cube, sum_ns, INFINITY);
    diagnosis_note(diagnosis, "operations of Cube as counted");
}

double counters_vector_us(const struct profile_row *row, int side)
{
    double sum_us = -1;
    for (int c = COUNTER_VEC_FP32; c <= COUNTER_VEC_MISC; c++)
        if (counter(row, side, c) >= 0)
            sum_us = fmax(sum_us, 0) + counter(row, side, c);
    return sum_us >= 0 ? fmin(sum_us, row->core_us[side] >= 0 ? row->core_us[side] : sum_us) : -1;
}

static double sum_known(const struct profile_row *row, int first, int second)
{
    double sum = -1;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double a = counter(row, side, first), b = second < 0 ? -1 : counter(row, side, second);
        if (a >= 0 || b >= 0)
            sum = fmax(sum, 0) + fmax(a, 0) + fmax(b, 0);
    }
    return sum;
}

double counters_miss_share(const struct profile_row *row, bool writes)
{
    double hits = writes ? sum_known(row, COUNTER_WRITE_HIT, -1)
                         : sum_known(row, COUNTER_R0_HIT, COUNTER_R1_HIT);
    double misses = writes ? sum_known(row, COUNTER_WRITE_MISS, -1)
                           : sum_known(row, COUNTER_R0_MISS, COUNTER_R1_MISS);
    return hits >= 0 && misses >= 0 && hits + misses > 0 ? misses / (hits + misses) : -1;
}

double counters_conflicts(const struct profile_row *row)
{
    double most = -1;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double sum = -1;
        for (int c = COUNTER_BANKGROUP_CONFLICT; c <= COUNTER_RESOURCE_CONFLICT; c++)
            if (counter(row, side, c) >= 0)
                sum = fmax(sum, 0) + counter(row, side, c);
        most = fmax(most, sum);
    }
    return most;
}

/* ------------------------------------------------------------------ bytes that were counted */

static const struct flow {
    int counter;
    enum profile_unit unit;
    bool store;
    const char *inner;
} flows[] = {
    {COUNTER_GM_TO_L1, UNIT_MTE2, false, "l1"},
    {COUNTER_GM_TO_UB, UNIT_MTE2, false, "ub"},
    {COUNTER_UB_TO_GM, UNIT_MTE3, true, "ub"},
    {COUNTER_L0C_TO_GM, UNIT_FIXPIPE, true, "l0c"},
};
enum { FLOWS = sizeof flows / sizeof *flows };

/* The unified buffer is the vector cores' where there are such. */
static int side_of(const struct peaks *peaks, const struct flow *flow)
{
    const int *vector = peaks->places->of[SIDE_VECTOR];
    bool apart = hardware_cores_apart(peaks->hw) || vector[UNIT_VECTOR] >= 0 ||
                 vector[UNIT_MTE2] >= 0 || vector[UNIT_MTE3] >= 0;
    return strcmp(flow->inner, "ub") == 0 && apart ? SIDE_VECTOR : SIDE_CUBE;
}

static int path_of(const struct hardware *hw, const char *from, const char *to)
{
    int source = hardware_buffer(hw, from, (int)strlen(from));
    int destination = hardware_buffer(hw, to, (int)strlen(to));
    return source < 0 || destination < 0 ? -1 : hardware_path(hw, source, destination);
}

/* Of 0: there is no such path. */
static double path_ns(const struct hardware *hw, const char *from, const char *to)
{
    int path = path_of(hw, from, to);
    return path < 0 ? 0 : peak_move_ns(hw, hw->paths[path].price, 1);
}

static bool unit_is_counted(const struct peaks *peaks, int side, int unit)
{
    for (int f = 0; f < FLOWS; f++)
        if ((int)flows[f].unit == unit && side_of(peaks, &flows[f]) == side &&
            counter(peaks->row, side, flows[f].counter) >= 0)
            return true;
    return false;
}

/* Results leave L0C in the type of the output, of sums in FP32 or INT32. */
static void set_types(const struct peaks *peaks, const struct flow *flow, struct traffic *traffic)
{
    int to = data_type_of(peaks->row->texts[SLOT_OUTPUT_TYPES], 0);
    if (strcmp(flow->inner, "l0c") != 0 || to < 0 || to == DTYPE_I32)
        return;
    traffic->from = DTYPE_F32;
    traffic->to = (enum dtype)to;
}

/* A column that is not there may hold anything, where its unit is counted otherwise. */
static bool add_flow(struct peaks *peaks, const struct flow *flow)
{
    int side = side_of(peaks, flow);
    double bytes = counter(peaks->row, side, flow->counter);
    struct traffic traffic = {.side = (enum profile_side)side,
                              .unit = flow->unit,
                              .store = flow->store,
                              .inner = {flow->inner},
                              .least_bytes = fmax(bytes, 0),
                              .most_bytes = bytes < 0 ? INFINITY : bytes,
                              .miss_share = counters_miss_share(peaks->row, flow->store)};
    if (!unit_is_counted(peaks, side, (int)flow->unit))
        return false;
    set_types(peaks, flow, &traffic);
    traffic_add(peaks, &traffic);
    return true;
}

/* Without a cache, what was read of the memory and went neither to L1 nor to UB went straight to
 * L0A or L0B. Of one core, in bytes. */
static double direct_bytes(const struct peaks *peaks)
{
    const double *counters = peaks->row->counters[SIDE_CUBE];
    double all = counters[COUNTER_MAIN_READ_BYTES];
    double rest = all - counters[COUNTER_GM_TO_L1] - fmax(counters[COUNTER_GM_TO_UB], 0);
    bool known = all >= 0 && counters[COUNTER_GM_TO_L1] >= 0 && peaks->hw->cache.behind < 0;
    return known && rest > ROUNDING * all ? rest / peaks->cores[SIDE_CUBE] : 0;
}

static void add_direct(struct peaks *peaks, double bytes)
{
    struct traffic traffic = {.unit = UNIT_MTE2,
                              .inner = {"l0a", "l0b"},
                              .least_bytes = bytes * peaks->cores[SIDE_CUBE],
                              .most_bytes = bytes * peaks->cores[SIDE_CUBE],
                              .miss_share = -1};
    if (bytes > 0)
        traffic_add(peaks, &traffic);
}

/* ------------------------------------------------------------------ bandwidths */

static void add_span(struct peaks *peaks, const struct traffic *way, double miss_share,
                     double least_bytes, double most_bytes)
{
    struct traffic traffic = *way;
    traffic.miss_share = miss_share;
    traffic.least_bytes = least_bytes;
    traffic.most_bytes = GB_MOST * most_bytes;
    traffic_add(peaks, &traffic);
}

/* Without a cache there is one memory. With one, what main memory moves is past it, and of what L2
 * moves that may be a part. */
static bool add_memory(struct peaks *peaks, int side, bool store)
{
    const struct hardware *hw = peaks->hw;
    double cores = peaks->cores[side];
    double main = counter(peaks->row, side, store ? COUNTER_MAIN_WRITE : COUNTER_MAIN_READ) * cores;
    double l2 = counter(peaks->row, side, store ? COUNTER_L2_WRITE : COUNTER_L2_READ) * cores;
    bool cached = hw->cache.behind >= 0;
    bool fixpipe = store && writes(peaks->row, side, UNIT_FIXPIPE);
    struct traffic way = {.side = (enum profile_side)side,
                          .unit = !store    ? UNIT_MTE2
                                  : fixpipe ? UNIT_FIXPIPE
                                            : UNIT_MTE3,
                          .store = store,
                          .inner = {fixpipe ? "l0c" : "ub"}};
    if (main < 0 && (l2 < 0 || !cached))
        return false;
    if (side == SIDE_CUBE && !store)
        way.inner[hardware_cores_apart(hw) ? 0 : 1] = "l1";
    if (fixpipe)
        set_types(peaks, &flows[FLOWS - 1], &way);
    if (!cached)
        add_span(peaks, &way, -1, main, main);
    else if (main < 0)
        add_span(peaks, &way, -1, l2, l2);
    else {
        add_span(peaks, &way, 1, main, main);
        add_span(peaks, &way, 0, fmax(l2 - main, 0), l2 < 0 ? INFINITY : l2);
    }
    return true;
}

static bool add_bandwidths(struct peaks *peaks, int side)
{
    bool loads = !unit_is_counted(peaks, side, UNIT_MTE2) && add_memory(peaks, side, false);
    bool stored =
        unit_is_counted(peaks, side, UNIT_MTE3) || unit_is_counted(peaks, side, UNIT_FIXPIPE);
    return (!stored && add_memory(peaks, side, true)) || loads;
}

/* ------------------------------------------------------------------ between buffers of a core */

/* What L0A and L0B receive comes from L1, but for what comes straight from memory. What L1 gives
 * goes to either. */
static bool add_mte1(struct peaks *peaks, double direct)
{
    const double *counters = peaks->row->counters[SIDE_CUBE];
    double a = counters[COUNTER_L0A_WRITE], b = counters[COUNTER_L0B_WRITE];
    double all = counters[COUNTER_L1_READ];
    double a_ns = path_ns(peaks->hw, "l1", "l0a"), b_ns = path_ns(peaks->hw, "l1", "l0b");
    double least_ns = 0, most_ns = INFINITY;
    if (peaks->places->of[SIDE_CUBE][UNIT_MTE1] < 0 || !(a_ns > 0) || !(b_ns > 0))
        return false;
    if (a >= 0 && b >= 0) {
        least_ns = fmax(0, a * a_ns + b * b_ns - direct * fmax(a_ns, b_ns));
        most_ns = GB_MOST * (a * a_ns + b * b_ns);
    }
    if (all >= 0) {
        least_ns = fmax(least_ns, all * fmin(a_ns, b_ns));
        most_ns = fmin(most_ns, GB_MOST * all * fmax(a_ns, b_ns));
    }
    if (isinf(most_ns) || least_ns > most_ns)
        return false;
    traffic_add_unit(peaks, SIDE_CUBE, UNIT_MTE1, least_ns, most_ns);
    return true;
}

/* L0C -> L1 beside what leaves for memory. */
static bool add_fixpipe(struct peaks *peaks)
{
    double bytes = counter(peaks->row, SIDE_CUBE, COUNTER_L0C_TO_L1);
    double per_byte = path_ns(peaks->hw, "l0c", "l1");
    bool place = peaks->places->of[SIDE_CUBE][UNIT_FIXPIPE] >= 0;
    bool counted = unit_is_counted(peaks, SIDE_CUBE, UNIT_FIXPIPE);
    if (!place || !(bytes > 0 || (bytes < 0 && counted && per_byte > 0)))
        return false;
    double ns = bytes * per_byte / peaks->cores[SIDE_CUBE];
    bool known = bytes > 0 && per_byte > 0;
    traffic_add_unit(peaks, SIDE_CUBE, UNIT_FIXPIPE, known ? ns : 0, known ? ns : INFINITY);
    return true;
}

bool counters_add_bytes(struct peaks *peaks)
{
    bool any = false;
    double direct = direct_bytes(peaks);
    for (int f = 0; f < FLOWS; f++)
        any = add_flow(peaks, &flows[f]) || any;
    add_direct(peaks, direct);
    for (int side = 0; side < PROFILE_SIDES; side++)
        any = add_bandwidths(peaks, side) || any;
    any = add_mte1(peaks, direct) || any;
    any = add_fixpipe(peaks) || any;
    if (any)
        diagnosis_note(peaks->diagnosis, "bytes as counted");
    return any;
}

/* ------------------------------------------------------------------ the vector unit */

/* The least time of a repeat's bytes, of any operation in any type. */
static double least_byte_ns(const struct hardware *hw)
{
    double least_ns = INFINITY;
    for (int o = 0; o < hw->operation_count; o++) {
        const struct operation *operation = &hw->operations[o];
        if (operation->class != OPERATION_VECTOR)
            continue;
        least_ns = fmin(least_ns, peak_vector_ns(hw, operation->price, DTYPE_U8, 1));
        for (int t = 0; t < operation->type_count; t++)
            least_ns = fmin(least_ns, peak_vector_ns(hw, operation->types[t].price, DTYPE_U8, 1));
    }
    return least_ns;
}

/* An operation reads two operands at most, and writes one. */
void counters_add_vector(struct peaks *peaks)
{
    enum { OPERANDS = 2 };
    double byte_ns = least_byte_ns(peaks->hw);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        int place = peaks->places->of[side][UNIT_VECTOR];
        double reads = counter(peaks->row, side, COUNTER_UB_READ_VECTOR);
        double writes = counter(peaks->row, side, COUNTER_UB_WRITE_VECTOR);
        double least_ns = fmax(reads / OPERANDS, writes) * byte_ns;
        if (place < 0 || !(fmax(reads, writes) >= 0) || isinf(byte_ns))
            continue;
        struct component *vector = &peaks->diagnosis->components[place];
        if (vector->ideal_ns < 0)
            vector->least_ns = fmax(vector->least_ns, least_ns);
        diagnosis_note(peaks->diagnosis, "at least what Vector reads and writes");
    }
}
