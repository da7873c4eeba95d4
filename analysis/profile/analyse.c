/* The component roofline of Zhou et al. (2025, section 4.1) from the other end: busy times come
 * from the profiler's columns, a component for each unit that has one, and what the work takes at
 * least and at most from the row's shapes. What a profiler's mode leaves out stays a range; where
 * its upper end could still turn the verdict, the row is called open. */
#include "analysis/profile/analyse.h"

#include "analysis/profile/analyse_peaks.h"
#include "analysis/profile/analyse_tensors.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>
#include <strings.h>

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

static bool side_ran(const struct profile_row *row, int side)
{
    bool known = false, busy = false;
    for (int unit = 0; unit < PROFILE_UNITS; unit++) {
        known = known || row->busy_us[side][unit] >= 0;
        busy = busy || row->busy_us[side][unit] > 0;
    }
    return known && (busy || row->core_us[side] > 0);
}

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
        .busy_ns = 1e3 * row->busy_us[side][unit],
    };
    snprintf(c->name, sizeof c->name, "%s%s", units[unit].name,
             both && shared && side == SIDE_VECTOR ? " (Vector)" : "");
}

/* Of a side whose cores have no time in the file, the whole duration; negative: not known. */
static double side_us(const struct profile_row *row, int side)
{
    return row->core_us[side] >= 0 ? row->core_us[side] : row->duration_us;
}

/* Where a side ran for nobody knows how long, neither is the whole known. */
static void add_components(const struct profile_row *row, struct component_places *places,
                           struct diagnosis *diagnosis)
{
    bool both = side_ran(row, SIDE_CUBE) && side_ran(row, SIDE_VECTOR), known = true;
    double longest_us = 0;
    memset(places, -1, sizeof *places);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        if (!side_ran(row, side))
            continue;
        known = known && side_us(row, side) >= 0;
        longest_us = fmax(longest_us, side_us(row, side));
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (row->busy_us[side][unit] >= 0) {
                places->of[side][unit] = diagnosis->component_count;
                add_component(row, side, unit, both, diagnosis);
            }
    }
    diagnosis->time_ns = known ? 1e3 * longest_us : -1;
}

/* ------------------------------------------------------------------ verdict */

/* Of what may reach its threshold, but for what is not known of it, the one that may get furthest.
 * Whether anyone waited for a bus is not known, so the lower threshold holds of it too. */
static int find_open(const struct diagnosis *diagnosis,
                     const struct diagnosis_thresholds *thresholds)
{
    int open = -1;
    if (diagnosis->verdict == VERDICT_NONE || diagnosis->verdict == VERDICT_COMPUTE_BOUND ||
        diagnosis->verdict == VERDICT_TRANSFER_BOUND)
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

/* Kinds of tasks that something else runs: the host, the network, an engine of its own. */
static bool runs_elsewhere(const struct profile_row *row)
{
    static const char *const kinds[] = {"AI_CPU", "HCCL", "COMMUNICATION", "DSA_SQE", "DVPP"};
    int length;
    const char *kind = list_entry(row->texts[SLOT_CORE_TYPE], 0, &length);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((int)strlen(kinds[i]) == length && strncasecmp(kind, kinds[i], (size_t)length) == 0)
            return true;
    return false;
}

static int without_cores(const char *why, struct diagnosis *diagnosis)
{
    diagnosis->component_count = 0;
    diagnosis->time_ns = -1;
    diagnosis_note(diagnosis, why);
    return -1;
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
    if (diagnosis->component_count == 0 || !(diagnosis->time_ns > 0))
        return without_cores("no times of AI cores", diagnosis);
    if (runs_elsewhere(row))
        return without_cores("its task type runs on no AI core, so its times of AI cores are not "
                             "used",
                             diagnosis);
    peaks_by_shapes(row, how->hw, &places, diagnosis);
    diagnose(diagnosis, &how->thresholds);
    int open = find_open(diagnosis, &how->thresholds);
    note_open(&how->thresholds, open, diagnosis);
    diagnosis_note(diagnosis, row->note);
    return open;
}

double analyse_time_us(const struct profile_row *row, const struct diagnosis *diagnosis)
{
    return row->duration_us >= 0     ? row->duration_us
           : diagnosis->time_ns >= 0 ? diagnosis->time_ns / 1e3
                                     : -1;
}
