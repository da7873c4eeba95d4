/* The component roofline of Zhou et al. (2025, section 4.1) from the other end: busy times come
 * from the profiler's columns, a component for each unit that has one, and what the work takes at
 * least and at most from the row's counters and shapes, by the peaks of the chip. What a profiler's
 * mode leaves out stays a range; where its upper end could still turn the verdict, the row is
 * called open. */
#include "analysis/profile/analyse.h"

#include "analysis/profile/analyse_counters.h"
#include "analysis/profile/analyse_shapes.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

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
