/* What a profiler's row moves, on a chip: how long that takes its units and buses at their peaks,
 * or between which times that lies.
 *
 *   traffic_begin(row, hw, places, diagnosis, &peaks);
 *   traffic_add(&peaks, &traffic);      of every way that bytes take, by shapes or by counters
 *   traffic_close(&peaks);              fills components, and adds those of buses */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_TRAFFIC_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_TRAFFIC_H

#include "core/diagnosis.h"
#include "core/hardware.h"
#include "formats/profile.h"

/* Which component of a diagnosis is a unit of the row; -1: none. */
struct component_places {
    int of[PROFILE_SIDES][PROFILE_UNITS];
};

struct time_span {
    bool known;
    double least_ns, most_ns; /* INFINITY: not known */
};

struct peaks {
    const struct profile_row *row;
    const struct hardware *hw;
    const struct component_places *places;
    double cores[PROFILE_SIDES]; /* that work, as fast as the description's clock */
    struct time_span units[PROFILE_SIDES][PROFILE_UNITS], buses[HARDWARE_MAX_BUSES];
    struct diagnosis *diagnosis;
};

enum { MAX_INNER = 3 };

/* Bytes that a unit moves between global memory and its cores' own buffers. */
struct traffic {
    enum profile_side side;
    enum profile_unit unit;
    bool store;
    const char *inner[MAX_INNER];   /* buffers; the last ones may be NULL */
    enum dtype from, to;            /* equal: not converted on the way */
    double least_bytes, most_bytes; /* of all cores */
    double miss_share;              /* of the cache; negative: not known */
};

void traffic_begin(const struct profile_row *row, const struct hardware *hw,
                   const struct component_places *places, struct diagnosis *diagnosis,
                   struct peaks *peaks);

/* Of a unit that the row does not have only the buses know. False: there is nothing but them. */
bool traffic_add(struct peaks *peaks, const struct traffic *traffic);

/* Adds to what a unit takes: times of one core. */
void traffic_add_unit(struct peaks *peaks, int side, int unit, double least_ns, double most_ns);

void traffic_close(struct peaks *peaks);

/* What a component's work takes lies between these. */
void component_set_span(struct component *component, double least_ns, double most_ns);

#endif
