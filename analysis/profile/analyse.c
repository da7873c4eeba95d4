/* The component roofline of Zhou et al. (2025, section 4.1) from the other end: busy times come
 * from the profiler's columns, a component for each unit that has one, and what the work takes at
 * least and at most from the row's counters and shapes, by the peaks of the chip. What a profiler's
 * mode leaves out stays a range; where its upper end could still turn the verdict, the row is
 * called open.
 *
 * Bytes of MemoryAccess are what a unit moved, by path; those of bandwidths (Memory, MemoryL0,
 * MemoryUB) are per core and of 10^9 or 2^30 a "GB", as profilers do not say which: both ends are
 * kept. Loads hit or miss the L2 cache by the counts of L2Cache, where there are any. */
#include "analysis/profile/analyse.h"

#include "analysis/profile/analyse_shapes.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

/* What GB may be more than 10^9 bytes. */
#define GB_MOST 1.073741824

/* A rest of this share of the bytes is rounding. */
#define ROUNDING 0.01

/* ------------------------------------------------------------------ what was counted */

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

static double counter_of(const struct profile_row *row, int side, int which)
{
    return row->counters[side][which];
}

/* What writes to memory: FIXP of the matrix cores of a split chip, MTE-UB of all others. */
static bool is_writer(const struct profile_row *row, int side, int unit)
{
    bool split = row->core_us[SIDE_VECTOR] >= 0;
    return unit == (side == SIDE_CUBE && split ? UNIT_FIXPIPE : UNIT_MTE3);
}

static bool may_have(const struct profile_row *row, int side, int unit, int which)
{
    if (which == COUNTER_MAIN_WRITE || which == COUNTER_L2_WRITE)
        return is_writer(row, side, unit);
    return side == SIDE_CUBE || unit == UNIT_VECTOR || unit == UNIT_MTE2 || unit == UNIT_MTE3;
}

/* Does the row count operations, bytes or activity of this unit; of any; does it count bytes? */
static bool counters_have(const struct profile_row *row, int side, int unit)
{
    for (int i = 0; counters_of[unit][i] != END; i++)
        if (may_have(row, side, unit, counters_of[unit][i]) &&
            counter_of(row, side, counters_of[unit][i]) >= 0)
            return true;
    return false;
}

static bool counters_any(const struct profile_row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (counters_have(row, side, unit))
                return true;
    return false;
}

static bool counters_have_bytes(const struct profile_row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int c = COUNTER_UB_READ; c <= COUNTER_UB_TO_GM; c++)
            if (counter_of(row, side, c) >= 0)
                return true;
    return false;
}

/* ------------------------------------------------------------------ shares of the time */

/* Cycles of the matrix unit by type are its ideal time, on any chip. */
static void counters_add_cube(const struct profile_row *row, const struct component_places *places,
                              struct diagnosis *diagnosis)
{
    int place = places->of[SIDE_CUBE][UNIT_CUBE];
    double fp16_us = counter_of(row, SIDE_CUBE, COUNTER_MAC_FP16);
    double int8_us = counter_of(row, SIDE_CUBE, COUNTER_MAC_INT8);
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

/* How long the vector unit was active at least, by its types; negative: not counted. */
static double counters_vector_us(const struct profile_row *row, int side)
{
    double sum_us = -1;
    for (int c = COUNTER_VEC_FP32; c <= COUNTER_VEC_MISC; c++)
        if (counter_of(row, side, c) >= 0)
            sum_us = fmax(sum_us, 0) + counter_of(row, side, c);
    return sum_us >= 0 ? fmin(sum_us, row->core_us[side] >= 0 ? row->core_us[side] : sum_us) : -1;
}

static double sum_known(const struct profile_row *row, int first, int second)
{
    double sum = -1;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        double a = counter_of(row, side, first),
               b = second < 0 ? -1 : counter_of(row, side, second);
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
            if (counter_of(row, side, c) >= 0)
                sum = fmax(sum, 0) + counter_of(row, side, c);
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
            counter_of(peaks->row, side, flows[f].counter) >= 0)
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
    double bytes = counter_of(peaks->row, side, flow->counter);
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
    double main =
        counter_of(peaks->row, side, store ? COUNTER_MAIN_WRITE : COUNTER_MAIN_READ) * cores;
    double l2 = counter_of(peaks->row, side, store ? COUNTER_L2_WRITE : COUNTER_L2_READ) * cores;
    bool cached = hw->cache.behind >= 0;
    bool fixpipe = store && is_writer(peaks->row, side, UNIT_FIXPIPE);
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
    double bytes = counter_of(peaks->row, SIDE_CUBE, COUNTER_L0C_TO_L1);
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

/* What moved between memories; between traffic_begin and traffic_close. False: nothing of it is of
 * units that the chip has. */
static bool counters_add_bytes(struct peaks *peaks)
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

/* What the vector unit reads and writes takes so many repeats at least; after traffic_close. An
 * operation reads two operands at most, and writes one. */
static void counters_add_vector(struct peaks *peaks)
{
    enum { OPERANDS = 2 };
    double byte_ns = least_byte_ns(peaks->hw);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        int place = peaks->places->of[side][UNIT_VECTOR];
        double reads = counter_of(peaks->row, side, COUNTER_UB_READ_VECTOR);
        double writes = counter_of(peaks->row, side, COUNTER_UB_WRITE_VECTOR);
        double least_ns = fmax(reads / OPERANDS, writes) * byte_ns;
        if (place < 0 || !(fmax(reads, writes) >= 0) || isinf(byte_ns))
            continue;
        struct component *vector = &peaks->diagnosis->components[place];
        if (vector->ideal_ns < 0)
            vector->least_ns = fmax(vector->least_ns, least_ns);
        diagnosis_note(peaks->diagnosis, "at least what Vector reads and writes");
    }
}

/* ------------------------------------------------------------------ components */

static const struct {
    const char *name;
    enum component_kind kind;
} units[PROFILE_UNITS] = {
    [UNIT_CUBE] = {"Cube", COMPONENT_COMPUTE},     [UNIT_VECTOR] = {"Vector", COMPONENT_COMPUTE},
    [UNIT_SCALAR] = {"Scalar", COMPONENT_COMPUTE}, [UNIT_MTE1] = {"MTE-L1", COMPONENT_TRANSFER},
    [UNIT_MTE2] = {"MTE-GM", COMPONENT_TRANSFER},  [UNIT_MTE3] = {"MTE-UB", COMPONENT_TRANSFER},
    [UNIT_FIXPIPE] = {"FIXP", COMPONENT_TRANSFER},
};

/* Vector cores' own transfers and scalars are named apart where both kinds of cores ran. */
static void add_component(const struct profile_row *row, int side, int unit, bool both,
                          struct diagnosis *diagnosis)
{
    struct component *c = &diagnosis->components[diagnosis->component_count++];
    bool shared = unit == UNIT_SCALAR || unit == UNIT_MTE2 || unit == UNIT_MTE3;
    *c = (struct component){
        .kind = units[unit].kind,
        .matrix = unit == UNIT_CUBE,
        .ideal_ns = -1,
        .busy_ns = row->busy_us[side][unit] >= 0 ? 1e3 * row->busy_us[side][unit] : -1,
    };
    snprintf(c->name, sizeof c->name, "%s%s", units[unit].name,
             both && shared && side == SIDE_VECTOR ? " (Vector)" : "");
}

/* Of a side whose cores have no time in the file, the whole duration; negative: not known. */
static double side_us(const struct profile_row *row, int side)
{
    return row->core_us[side] >= 0 ? row->core_us[side] : row->duration_us;
}

/* In a file without active ratios what brings the data and what computes with it may have done
 * anything, also where nothing says so, unless the operator by its type leaves Cube nothing. */
static bool is_component(const struct profile_row *row, int side, int unit)
{
    if (row->busy_us[side][unit] >= 0 || counters_have(row, side, unit))
        return true;
    if (!row->modes || row->modes & 1u << MODE_PIPE)
        return false;
    bool cube = side == SIDE_CUBE && unit == UNIT_CUBE && !shapes_are_elementwise(row);
    return cube || unit == UNIT_MTE2;
}

/* Where a side ran for nobody knows how long, neither is the whole known. */
static void add_components(const struct profile_row *row, struct component_places *places,
                           struct diagnosis *diagnosis)
{
    bool ran[] = {profile_side_ran(row, SIDE_CUBE), profile_side_ran(row, SIDE_VECTOR)};
    bool both = ran[SIDE_CUBE] && ran[SIDE_VECTOR], known = ran[SIDE_CUBE] || ran[SIDE_VECTOR];
    double longest_us = 0;
    memset(places, -1, sizeof *places);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        if (!ran[side])
            continue;
        known = known && side_us(row, side) >= 0;
        longest_us = fmax(longest_us, side_us(row, side));
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (is_component(row, side, unit)) {
                places->of[side][unit] = diagnosis->component_count;
                add_component(row, side, unit, both, diagnosis);
            }
    }
    diagnosis->time_ns = known ? 1e3 * longest_us : -1;
}

/* ------------------------------------------------------------------ peaks */

/* What takes longer at its peak than it was busy was not done in that time. What was counted may do
 * so by a rounding, and by what two runs differ. */
#define COUNTED_SLACK 0.03

static struct component *find_misfit(struct diagnosis *diagnosis, double slack, double *least_ns)
{
    for (int c = 0; c < diagnosis->component_count; c++) {
        struct component *component = &diagnosis->components[c];
        *least_ns = component->ideal_ns >= 0 ? component->ideal_ns : component->least_ns;
        if (*least_ns >
            (1 + slack) * (component->busy_ns >= 0 ? component->busy_ns : diagnosis->time_ns))
            return component;
    }
    return NULL;
}

/* Another chip, or an error in the file: then nothing that the shapes say is to be relied on. */
static void refuse_shapes(int component_count, struct diagnosis *diagnosis)
{
    double least_ns;
    const struct component *misfit = find_misfit(diagnosis, 0, &least_ns);
    if (!misfit)
        return;
    snprintf(diagnosis->note, sizeof diagnosis->note,
             "no bytes or operations in the file; shapes do not fit the time: %s at its peak would "
             "take %.4g us",
             misfit->name, least_ns / 1e3);
    diagnosis->component_count = component_count;
    for (int c = 0; c < component_count; c++)
        component_set_span(&diagnosis->components[c], 0, INFINITY);
}

static void clamp_span(double limit_ns, struct component *component)
{
    component->ideal_ns = fmin(component->ideal_ns, limit_ns);
    component->least_ns = fmin(component->least_ns, limit_ns);
    component->most_ns = fmin(component->most_ns, limit_ns);
}

/* What was counted of one component says nothing against another's. */
static void refuse_counted(struct diagnosis *diagnosis)
{
    double least_ns;
    char words[128];
    for (struct component *misfit;
         (misfit = find_misfit(diagnosis, COUNTED_SLACK, &least_ns)) != NULL;) {
        snprintf(words, sizeof words,
                 "what is counted of %s does not fit the time: at its peak it would take %.4g us",
                 misfit->name, least_ns / 1e3);
        diagnosis_note(diagnosis, words);
        component_set_span(misfit, 0, INFINITY);
    }
    for (int c = 0; c < diagnosis->component_count; c++) {
        struct component *component = &diagnosis->components[c];
        clamp_span(component->busy_ns >= 0 ? component->busy_ns : diagnosis->time_ns, component);
    }
}

static void note_chip(const struct profile_row *row, struct diagnosis *diagnosis)
{
    diagnosis_note(diagnosis, counters_have_bytes(row)
                                  ? "how much the bytes are of what could move follows with --hw"
                              : counters_any(row)      ? ""
                              : shapes_are_matmul(row) ? "Cube's follow from the shapes with --hw"
                              : shapes_are_elementwise(row)
                                  ? "they follow from the shapes with --hw"
                                  : "");
}

/* Fills ideal_ns, or least_ns and most_ns, of the components, which have busy_ns, and adds those of
 * buses: first by what was counted, then, of what was not, by the shapes. Notes what is known, and
 * why not more. hw NULL: no chip is known, and nothing but what is counted as a share of the time.
 */
static void add_peaks(const struct profile_row *row, const struct hardware *hw,
                      const struct component_places *places, struct diagnosis *diagnosis)
{
    bool counted = counters_any(row), bytes = counters_have_bytes(row);
    int count = diagnosis->component_count;
    struct peaks peaks;
    if (!counted && (!hw || !(shapes_are_matmul(row) || shapes_are_elementwise(row))))
        diagnosis_note(diagnosis, "no bytes or operations in the file");
    if (!hw)
        note_chip(row, diagnosis);
    else {
        traffic_begin(row, hw, places, diagnosis, &peaks);
        bytes = bytes && counters_add_bytes(&peaks);
        shapes_add(&peaks, bytes, counted);
        traffic_close(&peaks);
        counters_add_vector(&peaks);
    }
    counters_add_cube(row, places, diagnosis);
    if (counted)
        refuse_counted(diagnosis);
    else
        refuse_shapes(count, diagnosis);
}

/* ------------------------------------------------------------------ verdict */

/* Of what may reach its threshold, but for what is not known of it, the one that may get furthest.
 * Whether anyone waited for a bus is not known, so the lower threshold holds of it too. */
static int find_open(const struct diagnosis *diagnosis,
                     const struct diagnosis_thresholds *thresholds)
{
    int open = -1;
    if (diagnosis->verdict == VERDICT_COMPUTE_BOUND || diagnosis->verdict == VERDICT_TRANSFER_BOUND)
        return -1;
    for (int c = 0; c < diagnosis->component_count; c++) {
        const struct component *component = &diagnosis->components[c];
        if (component->utilisation_most >= diagnosis_bound_from(diagnosis, thresholds) &&
            (open < 0 ||
             component->utilisation_most > diagnosis->components[open].utilisation_most))
            open = c;
    }
    return open;
}

static void note_open(const struct diagnosis_thresholds *thresholds, int open,
                      struct diagnosis *diagnosis)
{
    char words[DIAGNOSIS_NOTE_SIZE];
    if (open < 0)
        return;
    double from = diagnosis_bound_from(diagnosis, thresholds);
    bool waited = from < component_bound_from(diagnosis, thresholds, open);
    snprintf(words, sizeof words, "%s bounds it if %sits utilisation is %.0f %% or more",
             diagnosis->components[open].name, waited ? "a transfer waited for it and " : "",
             100 * from);
    diagnosis_note(diagnosis, words);
}

static int without_cores(const char *why, struct diagnosis *diagnosis)
{
    diagnosis->component_count = 0;
    diagnosis->time_ns = -1;
    diagnosis_note(diagnosis, why);
    return -1;
}

/* The components whose utilisation is exact, or only between bounds, by name. */
static void note_known(const char *words, bool exact, struct diagnosis *diagnosis)
{
    char list[DIAGNOSIS_NOTE_SIZE];
    int used = snprintf(list, sizeof list, "%s", words), first = used;
    for (int c = 0; c < diagnosis->component_count && used < (int)sizeof list; c++) {
        const struct component *component = &diagnosis->components[c];
        bool bounds = component->utilisation < 0 && component->utilisation_least > 0;
        if (exact ? component->utilisation >= 0 : bounds)
            used += snprintf(list + used, sizeof list - (size_t)used, "%s %s",
                             used > first ? "," : "", component->name);
    }
    if (used > first)
        diagnosis_note(diagnosis, list);
}

/* What was counted decides so much, and beside the roofline says so much more. */
static void note_counters(const struct profile_row *row, const struct component_places *places,
                          struct diagnosis *diagnosis)
{
    char words[DIAGNOSIS_NOTE_SIZE];
    double miss = counters_miss_share(row, false), conflicts = counters_conflicts(row);
    if (counters_any(row)) {
        note_known("utilisation exact of", true, diagnosis);
        note_known("between bounds of", false, diagnosis);
    }
    for (int side = 0; side < PROFILE_SIDES; side++) {
        int place = places->of[side][UNIT_VECTOR];
        double active_us =
            place >= 0 && row->busy_us[side][UNIT_VECTOR] < 0 ? counters_vector_us(row, side) : -1;
        if (active_us < 0)
            continue;
        snprintf(words, sizeof words, "Vector is active for at least %.3g %% of the time",
                 1e5 * active_us / diagnosis->time_ns);
        diagnosis_note(diagnosis, words);
    }
    if (miss >= 0) {
        snprintf(words, sizeof words, "the L2 cache is %s: %.3g %% of the reads hit it",
                 miss <= 0.2   ? "warm"
                 : miss >= 0.8 ? "cold"
                               : "partly warm",
                 100 * (1 - miss));
        diagnosis_note(diagnosis, words);
    }
    if (conflicts >= 0) {
        snprintf(words, sizeof words,
                 "Vector waits for banks and resources of UB %.3g %% of the "
                 "time",
                 100 * conflicts);
        diagnosis_note(diagnosis, words);
    }
    if (diagnosis->verdict == VERDICT_NONE)
        diagnosis_note(diagnosis, "open: active ratios and with them the verdict");
}

/* Do times of some cores stand in the row? */
static bool profile_has_core_times(const struct profile_row *row)
{
    return row->core_us[SIDE_CUBE] > 0 || row->core_us[SIDE_VECTOR] > 0;
}

/* Times of other cores than these are not known, or nothing says that any of them ran. */
static const char *why_without(const struct profile_row *row)
{
    if (profile_has_core_times(row))
        return "how long all of its AI cores ran is not in the file";
    return !row->modes && row->duration_us >= 0 ? "no times of AI cores: level0 has durations only"
                                                : "no times of AI cores";
}

int analyse_row(const struct profile_row *row, const struct analyse_options *how,
                struct diagnosis *diagnosis)
{
    struct component_places places;
    memset(diagnosis, 0, offsetof(struct diagnosis, components));
    diagnosis->note[0] = 0;
    diagnosis->component = -1;
    diagnosis->time_ns = -1;
    diagnosis->naive = (struct naive_reading){VERDICT_NONE, -1, -1, -1};
    snprintf(diagnosis->name, sizeof diagnosis->name, "%s", row->name);
    if (row->broken) {
        diagnosis_note(diagnosis, row->problem);
        return -1;
    }
    add_components(row, &places, diagnosis);
    if (!(diagnosis->time_ns > 0))
        return without_cores(why_without(row), diagnosis);
    if (profile_runs_elsewhere(row))
        return without_cores("its task type runs on no AI core, so its times of AI cores are not "
                             "used",
                             diagnosis);
    add_peaks(row, how->hw, &places, diagnosis);
    diagnose(diagnosis, &how->thresholds);
    note_counters(row, &places, diagnosis);
    int open = find_open(diagnosis, &how->thresholds);
    note_open(&how->thresholds, open, diagnosis);
    diagnosis_note(diagnosis, row->note);
    return open;
}

/* ------------------------------------------------------------------ what to collect next */

static const struct next {
    const char *name;
    enum component_kind kind;
    int mode;
} nexts[] = {
    {"Cube", COMPONENT_COMPUTE, MODE_ARITHMETIC}, {"Vector", COMPONENT_COMPUTE, MODE_UB},
    {"MTE-L1", COMPONENT_TRANSFER, MODE_L0},      {NULL, COMPONENT_TRANSFER, MODE_ACCESS},
    {NULL, COMPONENT_INTERCONNECT, MODE_ACCESS},
};

/* The mode that has what is open of a component; -1: none does. */
static int mode_for(const struct component *component)
{
    for (size_t i = 0; i < sizeof nexts / sizeof *nexts; i++)
        if (nexts[i].kind == component->kind &&
            (!nexts[i].name || strcmp(nexts[i].name, component->name) == 0))
            return nexts[i].mode;
    return -1;
}

static int mode_for_open(const struct profile_row *row, const struct hardware *hw,
                         const struct component *component)
{
    int mode = mode_for(component);
    if (component->utilisation >= 0)
        return -1; /* only who waited for it is open, which no mode counts */
    if (mode < 0 || !(row->modes >> mode & 1))
        return mode;
    if (!hw && counters_have_bytes(row))
        return NEXT_CHIP;
    bool cached = hw && hw->cache.behind >= 0 && !(row->modes >> MODE_L2 & 1);
    return cached && mode == MODE_ACCESS ? MODE_L2 : -1;
}

int analyse_next(const struct profile_row *row, const struct hardware *hw,
                 const struct diagnosis *d, int open)
{
    if (row->broken || profile_runs_elsewhere(row))
        return -1;
    if (d->verdict == VERDICT_NONE) {
        bool ran = d->time_ns > 0 || !row->modes;
        return ran && !(row->modes >> MODE_PIPE & 1) ? MODE_PIPE : -1;
    }
    if (open >= 0)
        return mode_for_open(row, hw, &d->components[open]);
    bool conflicts = d->verdict == VERDICT_INEFFICIENT_COMPUTE &&
                     strcmp(d->components[d->component].name, "Vector") == 0 &&
                     !(row->modes >> MODE_CONFLICT & 1);
    return conflicts ? MODE_CONFLICT : -1;
}

const char *analyse_next_name(int next)
{
    return next == NEXT_CHIP ? "--hw" : next < 0 ? NULL : profile_mode_name(next);
}

const char *analyse_next_reason(int next)
{
    static const char *const reasons[NEXTS] = {
        [MODE_PIPE] = "how long each unit was busy",
        [MODE_ARITHMETIC] = "what Cube computed",
        [MODE_MEMORY] = "what the buses moved",
        [MODE_ACCESS] = "the bytes that MTE-GM, MTE-UB and FIXP moved",
        [MODE_L0] = "the bytes that MTE-L1 moved",
        [MODE_UB] = "what Vector read and wrote at least",
        [MODE_CONFLICT] = "why Vector is inefficient",
        [MODE_L2] = "what came out of the cache",
        [NEXT_CHIP] = "the peaks of the chip that the bytes are compared with",
    };
    return reasons[next];
}

double analyse_time_us(const struct profile_row *row, const struct diagnosis *diagnosis)
{
    return row->duration_us >= 0     ? row->duration_us
           : diagnosis->time_ns >= 0 ? diagnosis->time_ns / 1e3
                                     : -1;
}
