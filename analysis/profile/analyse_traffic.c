/* Work is of all cores together, and ideal times are of the share of it that one core has. Loads
 * out of the cache and past it, and ways into several buffers, take different paths: work is then
 * at least what it takes on the fastest one, and at most what it takes on the slowest. */
#include "analysis/profile/analyse_traffic.h"

#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

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

void traffic_begin(const struct profile_row *row, const struct hardware *hw,
                   const struct component_places *places, struct diagnosis *diagnosis,
                   struct peaks *peaks)
{
    memset(peaks, 0, sizeof *peaks);
    peaks->row = row;
    peaks->hw = hw;
    peaks->places = places;
    peaks->diagnosis = diagnosis;
    for (int side = 0; side < PROFILE_SIDES; side++)
        peaks->cores[side] = described_cores(row, hw, side);
}

/* ------------------------------------------------------------------ routes */

enum { MAX_ROUTES = 2 * MAX_INNER };

struct route {
    int bus;   /* -1: none */
    bool miss; /* past the cache */
    double ns_per_byte;
};

/* A profile's row took place: the chip has what it ran in, priced or not. BF16 goes through the
 * same units as FP16 and takes the same time there, so it counts as that where it has no price of
 * its own (docs/profiles.md). Of a conversion that the description does not price, the path's own
 * rate. */
static double ns_per_byte(const struct hardware *hw, int path, const struct traffic *traffic)
{
    int price = hardware_move_price(hw, path, traffic->from, traffic->to);
    if (price < 0)
        price = hardware_move_price(hw, path, traffic->from,
                                    traffic->to == DTYPE_BF16 ? DTYPE_F16 : traffic->to);
    double plain = peak_move_ns(hw, hw->paths[path].price, 1);
    return price < 0 ? plain : fmin(plain, peak_move_ns(hw, price, 1));
}

/* Those that a miss share of nothing or all rules out are left out. */
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
            bool ruled_out = traffic->miss_share == (o == 1 ? 0 : 1);
            if (path >= 0 && !(ruled_out && hw->cache.behind >= 0))
                routes[count++] =
                    (struct route){hw->paths[path].bus, o == 1, ns_per_byte(hw, path, traffic)};
        }
    return count;
}

void traffic_add_unit(struct peaks *peaks, int side, int unit, double least_ns, double most_ns)
{
    struct time_span *span = &peaks->units[side][unit];
    span->known = true;
    span->least_ns += least_ns;
    span->most_ns += most_ns;
}

static void add_bus_bytes(struct peaks *peaks, int bus, double least_bytes, double most_bytes)
{
    struct time_span *span = &peaks->buses[bus];
    span->known = true;
    span->least_ns += peak_bus_ns(peaks->hw, bus, least_bytes);
    span->most_ns += isinf(most_bytes) ? INFINITY : peak_bus_ns(peaks->hw, bus, most_bytes);
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
    double most_bytes = fmin(traffic->most_bytes, busy_ns * peaks->cores[traffic->side] / fastest);
    double least_bytes = all ? traffic->least_bytes : 0;
    add_bus_bytes(peaks, bus, least_bytes, fmax(most_bytes, least_bytes));
}

/* How much of it misses the cache is known: two ways, each with its part. */
static bool add_divided(struct peaks *peaks, const struct traffic *traffic)
{
    double share = traffic->miss_share;
    struct traffic hit = *traffic, miss = *traffic;
    if (!(share > 0 && share < 1) || peaks->hw->cache.behind < 0)
        return false;
    hit.miss_share = 0;
    hit.least_bytes *= 1 - share;
    hit.most_bytes *= 1 - share;
    miss.miss_share = 1;
    miss.least_bytes *= share;
    miss.most_bytes *= share;
    bool hits = traffic_add(peaks, &hit);
    return traffic_add(peaks, &miss) || hits;
}

bool traffic_add(struct peaks *peaks, const struct traffic *traffic)
{
    struct route routes[MAX_ROUTES];
    int place = peaks->places->of[traffic->side][traffic->unit];
    double busy_ns = place >= 0 ? peaks->diagnosis->components[place].busy_ns : -1;
    double fastest = INFINITY, slowest = 0;
    if (add_divided(peaks, traffic))
        return place >= 0;
    int count = find_routes(peaks->hw, traffic, routes);
    for (int r = 0; r < count; r++) {
        fastest = fmin(fastest, routes[r].ns_per_byte);
        slowest = fmax(slowest, routes[r].ns_per_byte);
    }
    for (int bus = 0; bus < peaks->hw->bus_count; bus++)
        add_to_bus(peaks, bus, routes, count, busy_ns >= 0 ? busy_ns : INFINITY, traffic);
    if (place < 0 || count == 0)
        return false;
    double cores = peaks->cores[traffic->side];
    traffic_add_unit(peaks, traffic->side, traffic->unit, traffic->least_bytes * fastest / cores,
                     traffic->most_bytes * slowest / cores);
    return true;
}

/* ------------------------------------------------------------------ components */

void component_set_span(struct component *component, double least_ns, double most_ns)
{
    component->ideal_ns = least_ns == most_ns ? least_ns : -1;
    component->least_ns = least_ns;
    component->most_ns = most_ns < INFINITY ? most_ns : 0;
}

/* What one core moved says nothing of what a bus did for all of them. */
static void add_buses(struct peaks *peaks)
{
    struct diagnosis *diagnosis = peaks->diagnosis;
    for (int bus = 0; bus < peaks->hw->bus_count && !peaks->row->is_block; bus++) {
        const struct time_span *span = &peaks->buses[bus];
        if (!(span->most_ns > 0))
            continue;
        struct component *component = &diagnosis->components[diagnosis->component_count++];
        *component = (struct component){.kind = COMPONENT_INTERCONNECT, .busy_ns = -1};
        snprintf(component->name, sizeof component->name, "%s", peaks->hw->buses[bus].name);
        double most_ns = isinf(span->most_ns)
                             ? span->most_ns
                             : fmax(span->least_ns, fmin(span->most_ns, diagnosis->time_ns));
        component_set_span(component, span->least_ns, most_ns);
    }
}

void traffic_close(struct peaks *peaks)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int unit = 0; unit < PROFILE_UNITS; unit++) {
            int place = peaks->places->of[side][unit];
            const struct time_span *span = &peaks->units[side][unit];
            if (place >= 0 && span->known)
                component_set_span(&peaks->diagnosis->components[place], span->least_ns,
                                   span->most_ns);
        }
    add_buses(peaks);
}
