/* Work is of all cores together, and ideal times are of the share of it that one core has. Loads
 * out of the cache and past it, and ways into several buffers, take different paths: work is then
 * at least what it takes on the fastest one, and at most what it takes on the slowest. */
#include "analysis/profile/analyse_peaks.h"

#include "analysis/profile/analyse_shapes.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

struct peaks {
    const struct profile_row *row;
    const struct hardware *hw;
    const int *places; /* of the units of the side that ran it */
    double cores;      /* that work, as fast as the description's clock */
    double bus_least_ns[HARDWARE_MAX_BUSES], bus_most_ns[HARDWARE_MAX_BUSES];
    struct diagnosis *diagnosis;
};

/* ------------------------------------------------------------------ cores */

/* How many cores ran side by side. Of vector cores that are cores of their own, a description does
 * not say how many there are. */
static double cores_at_once(const struct profile_row *row, const struct hardware *hw, int side)
{
    if (row->blocks < 1)
        return hw->cores;
    return side == SIDE_VECTOR ? row->blocks : row->blocks / ceil(row->blocks / hw->cores);
}

/* So many cores of the description's clock do as much: their cycles over the time say it, where
 * they are a clock's, and the number of cores where there are none. */
static double described_cores(const struct profile_row *row, const struct hardware *hw, int side)
{
    double cycles = row->cycles[side], core_us = row->core_us[side];
    double hz = cycles / (core_us * 1e-6 * cores_at_once(row, hw, side));
    bool known = cycles > 0 && core_us > 0 && row->blocks >= 1 && hz >= 1e8 && hz <= 1e10;
    return known ? cycles / (core_us * 1e-6 * (double)hw->clock_hz) : cores_at_once(row, hw, side);
}

/* ------------------------------------------------------------------ bytes */

enum { MAX_INNER = 3, MAX_ROUTES = 2 * MAX_INNER };

/* Bytes that a unit moves between global memory and its own buffers. */
struct traffic {
    enum profile_unit unit;
    bool store;
    const char *inner[MAX_INNER]; /* buffers; the last ones may be NULL */
    enum dtype from, to;          /* equal: not converted on the way */
    double least_bytes, most_bytes;
};

struct route {
    int bus; /* -1: none */
    double ns_per_byte;
};

/* A profile's row took place: the chip has what it ran in, priced or not. BF16 goes through the
 * same units as FP16 and takes the same time there, so it counts as that where it has no price of
 * its own (docs/profiles.md). */
static enum dtype stand_in(enum dtype type)
{
    return type == DTYPE_BF16 ? DTYPE_F16 : type;
}

/* Of a conversion that the description does not price, the path's own rate. */
static double ns_per_byte(const struct hardware *hw, int path, const struct traffic *traffic)
{
    int price = hardware_move_price(hw, path, traffic->from, traffic->to);
    if (price < 0)
        price = hardware_move_price(hw, path, traffic->from, stand_in(traffic->to));
    return peak_move_ns(hw, price < 0 ? hw->paths[path].price : price, 1);
}

static int find_routes(const struct hardware *hw, const struct traffic *traffic,
                       struct route routes[MAX_ROUTES])
{
    int outer[2] = {hardware_buffer(hw, "gm", 2), hw->cache.behind}, count = 0;
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < MAX_INNER && traffic->inner[i]; i++) {
            const char *name = traffic->inner[i];
            int inner = hardware_buffer(hw, name, (int)strlen(name));
            int path = outer[o] < 0 || inner < 0 ? -1
                       : traffic->store          ? hardware_path(hw, inner, outer[o])
                                                 : hardware_path(hw, outer[o], inner);
            if (path < 0)
                continue;
            routes[count++] = (struct route){hw->paths[path].bus, ns_per_byte(hw, path, traffic)};
        }
    return count;
}

/* What all routes take is on a bus for certain. It is at most what the unit can have moved over it
 * while it was busy. */
static void add_to_bus(struct peaks *peaks, int bus, const struct route *routes, int count,
                       double busy_ns, const struct traffic *traffic)
{
    double fastest = INFINITY;
    bool all = true;
    for (int r = 0; r < count; r++) {
        all = all && routes[r].bus == bus;
        if (routes[r].bus == bus)
            fastest = fmin(fastest, routes[r].ns_per_byte);
    }
    if (isinf(fastest))
        return;
    double most_bytes = fmin(traffic->most_bytes, busy_ns * peaks->cores / fastest);
    double least_bytes = all ? traffic->least_bytes : 0;
    peaks->bus_least_ns[bus] += peak_bus_ns(peaks->hw, bus, least_bytes);
    peaks->bus_most_ns[bus] += peak_bus_ns(peaks->hw, bus, fmax(most_bytes, least_bytes));
}

static void set_span(struct component *component, double least_ns, double most_ns)
{
    component->ideal_ns = least_ns == most_ns ? least_ns : -1;
    component->least_ns = least_ns;
    component->most_ns = most_ns < INFINITY ? most_ns : 0;
}

/* Of a unit that the row does not have only the buses know. False: there is nothing but them. */
static bool add_traffic(struct peaks *peaks, const struct traffic *traffic)
{
    struct route routes[MAX_ROUTES];
    int place = peaks->places[traffic->unit], count = find_routes(peaks->hw, traffic, routes);
    struct component *component = place < 0 ? NULL : &peaks->diagnosis->components[place];
    double fastest = INFINITY, slowest = 0;
    for (int r = 0; r < count; r++) {
        fastest = fmin(fastest, routes[r].ns_per_byte);
        slowest = fmax(slowest, routes[r].ns_per_byte);
    }
    for (int bus = 0; bus < peaks->hw->bus_count; bus++)
        add_to_bus(peaks, bus, routes, count, component ? component->busy_ns : INFINITY, traffic);
    if (!component || count == 0)
        return false;
    set_span(component, traffic->least_bytes * fastest / peaks->cores,
             traffic->most_bytes * slowest / peaks->cores);
    return true;
}

static void add_buses(struct peaks *peaks)
{
    struct diagnosis *diagnosis = peaks->diagnosis;
    for (int bus = 0; bus < peaks->hw->bus_count; bus++) {
        if (!(peaks->bus_most_ns[bus] > 0))
            continue;
        struct component *component = &diagnosis->components[diagnosis->component_count++];
        *component = (struct component){.kind = COMPONENT_INTERCONNECT, .busy_ns = -1};
        snprintf(component->name, sizeof component->name, "%s", peaks->hw->buses[bus].name);
        double least_ns = peaks->bus_least_ns[bus], most_ns = peaks->bus_most_ns[bus];
        set_span(component, least_ns,
                 isinf(most_ns) ? most_ns : fmax(least_ns, fmin(most_ns, diagnosis->time_ns)));
    }
}

/* ------------------------------------------------------------------ operators */

static double padded(double size, int block)
{
    return ceil(size / block) * block;
}

/* Σ O_p / P_p of one core; negative: the chip has no peak of this type. */
static double ideal_matmul_ns(const struct peaks *peaks, const struct matmul_work *work)
{
    const struct matrix_type *matrix = hardware_matrix_type(peaks->hw, work->type);
    if (!matrix)
        matrix = hardware_matrix_type(peaks->hw, stand_in(work->type));
    if (!matrix)
        return -1;
    double operations = 2 * work->batch * padded(work->m, matrix->block_m) *
                        padded(work->k, matrix->block_k) * padded(work->n, matrix->block_n);
    double peak = hardware_matrix_peak(peaks->hw, (enum dtype)matrix->type) * 1e-9;
    return operations / peak / peaks->cores;
}

/* Operands come into any buffer of the matrix unit; results leave by UB, or straight from L0C. */
static bool add_operands(struct peaks *peaks, const struct matmul_work *work)
{
    const struct traffic load = {.unit = UNIT_MTE2,
                                 .inner = {"l1", "l0a", "l0b"},
                                 .least_bytes = work->load_bytes,
                                 .most_bytes = INFINITY};
    enum dtype sums = dtype_accumulator(work->type);
    enum dtype result = work->result < 0 ? sums : (enum dtype)work->result;
    int result_bytes = work->result < 0 ? 0 : dtype_bytes(result);
    const struct traffic stores[] = {{.unit = UNIT_MTE3,
                                      .store = true,
                                      .inner = {"ub"},
                                      .least_bytes = work->results * result_bytes,
                                      .most_bytes = INFINITY},
                                     {.unit = UNIT_FIXPIPE,
                                      .store = true,
                                      .inner = {"l0c"},
                                      .from = sums,
                                      .to = result,
                                      .least_bytes = work->results * dtype_bytes(sums),
                                      .most_bytes = INFINITY}};
    bool loads = add_traffic(peaks, &load);
    return add_traffic(peaks, &stores[peaks->places[UNIT_FIXPIPE] >= 0]) || loads;
}

static void add_matmul(struct peaks *peaks)
{
    struct matmul_work work;
    int cube = peaks->places[UNIT_CUBE];
    bool known = shapes_matmul(peaks->row, &work);
    double ideal_ns = known ? ideal_matmul_ns(peaks, &work) : -1;
    bool bytes = known && add_operands(peaks, &work);
    if (cube >= 0 && ideal_ns >= 0)
        peaks->diagnosis->components[cube].ideal_ns = ideal_ns;
    diagnosis_note(peaks->diagnosis, !known         ? "no bytes or operations in the file"
                                     : ideal_ns < 0 ? "no operations in the file"
                                                    : "operations of Cube by the shapes");
    diagnosis_note(peaks->diagnosis,
                   bytes ? "at least the bytes of each operand and result once" : "");
    diagnosis_note(peaks->diagnosis, work.note);
    if (known && ideal_ns < 0) {
        char words[128];
        snprintf(words, sizeof words, "%s has no peak of %s", peaks->hw->name,
                 dtype_name(work.type));
        diagnosis_note(peaks->diagnosis, words);
    }
}

static bool add_tensors(struct peaks *peaks, const struct elementwise_work *work)
{
    const struct traffic load = {.unit = UNIT_MTE2,
                                 .inner = {"ub"},
                                 .least_bytes = work->load_least_bytes,
                                 .most_bytes = work->load_most_bytes};
    const struct traffic store = {.unit = UNIT_MTE3,
                                  .store = true,
                                  .inner = {"ub"},
                                  .least_bytes = work->store_bytes,
                                  .most_bytes = work->store_bytes};
    bool loads = add_traffic(peaks, &load);
    return add_traffic(peaks, &store) || loads;
}

/* Where an input is broadcast, there may be more than one instruction an element. */
static bool add_vector(struct peaks *peaks, const struct elementwise_work *work)
{
    const struct hardware *hw = peaks->hw;
    int place = peaks->places[UNIT_VECTOR];
    int operation = work->operation
                        ? hardware_operation(hw, work->operation, (int)strlen(work->operation))
                        : -1;
    if (place < 0 || operation < 0)
        return false;
    int price = hardware_operation_price(hw, operation, work->type);
    double ns = peak_vector_ns(hw, price, work->type, work->elements) / peaks->cores;
    set_span(&peaks->diagnosis->components[place], ns,
             work->load_least_bytes < work->load_most_bytes ? INFINITY : ns);
    return true;
}

static void add_elementwise(struct peaks *peaks)
{
    struct elementwise_work work;
    bool known = shapes_elementwise(peaks->row, &work);
    bool bytes = known && add_tensors(peaks, &work);
    bool operations = known && add_vector(peaks, &work);
    diagnosis_note(peaks->diagnosis,
                   bytes && operations ? "bytes and operations of Vector by the shapes"
                   : bytes             ? "bytes by the shapes, no operations in the file"
                   : operations        ? "operations of Vector by the shapes, no bytes in the file"
                                       : "no bytes or operations in the file");
    diagnosis_note(peaks->diagnosis, work.note);
    if (known && work.load_least_bytes < work.load_most_bytes)
        diagnosis_note(peaks->diagnosis, "an input is broadcast, and may be loaded more than once");
    if (bytes && peaks->hw->cache.behind >= 0)
        diagnosis_note(peaks->diagnosis, "how much of it came out of the cache is not in the file");
}

/* ------------------------------------------------------------------ all of it */

/* What takes longer at its peak than it was busy was not done in that time. */
static const struct component *find_misfit(const struct diagnosis *diagnosis, double *least_ns)
{
    for (int c = 0; c < diagnosis->component_count; c++) {
        const struct component *component = &diagnosis->components[c];
        *least_ns = component->ideal_ns >= 0 ? component->ideal_ns : component->least_ns;
        if (*least_ns > (component->busy_ns >= 0 ? component->busy_ns : diagnosis->time_ns))
            return component;
    }
    return NULL;
}

/* Another chip, or an error in the file: then nothing of the shapes is to be relied on. */
static void refuse_misfit(int component_count, struct diagnosis *diagnosis)
{
    double least_ns;
    const struct component *misfit = find_misfit(diagnosis, &least_ns);
    if (!misfit)
        return;
    snprintf(diagnosis->note, sizeof diagnosis->note,
             "no bytes or operations in the file; shapes do not fit the time: %s at its peak would "
             "take %.4g us",
             misfit->name, least_ns / 1e3);
    diagnosis->component_count = component_count;
    for (int c = 0; c < component_count; c++) {
        struct component *component = &diagnosis->components[c];
        component->ideal_ns = -1;
        component->least_ns = component->most_ns = 0;
    }
}

/* Vector cores load, compute and store by themselves where they ran. */
static int side_of_vector(const struct component_places *places)
{
    const int *vector = places->of[SIDE_VECTOR];
    return vector[UNIT_VECTOR] >= 0 || vector[UNIT_MTE2] >= 0 || vector[UNIT_MTE3] >= 0
               ? SIDE_VECTOR
               : SIDE_CUBE;
}

void peaks_by_shapes(const struct profile_row *row, const struct hardware *hw,
                     const struct component_places *places, struct diagnosis *diagnosis)
{
    bool matmul = shapes_are_matmul(row), elementwise = shapes_are_elementwise(row);
    if (!hw || (!matmul && !elementwise)) {
        diagnosis_note(diagnosis, "no bytes or operations in the file");
        diagnosis_note(diagnosis, matmul        ? "Cube's follow from the shapes with --hw"
                                  : elementwise ? "they follow from the shapes with --hw"
                                                : "");
        return;
    }
    int side = matmul ? SIDE_CUBE : side_of_vector(places), count = diagnosis->component_count;
    struct peaks peaks = {.row = row,
                          .hw = hw,
                          .places = places->of[side],
                          .cores = described_cores(row, hw, side),
                          .diagnosis = diagnosis};
    (matmul ? add_matmul : add_elementwise)(&peaks);
    add_buses(&peaks);
    refuse_misfit(count, diagnosis);
}
