#include "jobs/analyse.h"

#include "analysis/roofline.h"
#include "jobs/analyse_shapes.h"

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
static void add_components(const struct profile_row *row, struct diagnosis *diagnosis)
{
    bool both = side_ran(row, SIDE_CUBE) && side_ran(row, SIDE_VECTOR), known = true;
    double longest_us = 0;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        if (!side_ran(row, side))
            continue;
        known = known && side_us(row, side) >= 0;
        longest_us = fmax(longest_us, side_us(row, side));
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (row->busy_us[side][unit] >= 0)
                add_component(row, side, unit, both, diagnosis);
    }
    diagnosis->time_ns = known ? 1e3 * longest_us : -1;
}

/* ------------------------------------------------------------------ what the shapes give */

/* How many times faster the cores ran than the description says; 1: not known. */
static double clock_factor(const struct profile_row *row, const struct hardware *hw)
{
    double hz = row->cycles[SIDE_CUBE] / (row->core_us[SIDE_CUBE] * 1e-6 * row->blocks);
    bool known = row->cycles[SIDE_CUBE] > 0 && row->core_us[SIDE_CUBE] > 0 && row->blocks >= 1;
    return known && hz >= 1e8 && hz <= 1e10 ? hz / (double)hw->clock_hz : 1;
}

static double padded(double size, int block)
{
    return ceil(size / block) * block;
}

/* Σ O_p / P_p of one core: blocks are whole, and as many cores work as the row says. */
static double ideal_matmul_ns(const struct profile_row *row, const struct matmul_work *work,
                              const struct hardware *hw, struct component *cube)
{
    const struct matrix_type *matrix = hardware_matrix_type(hw, work->type);
    double cores = row->blocks >= 1 && row->blocks < hw->cores ? row->blocks : hw->cores;
    if (!matrix && work->type == DTYPE_BF16)
        matrix = hardware_matrix_type(hw, DTYPE_F16);
    if (!matrix)
        return -1;
    struct component_part *part = &cube->parts[0];
    snprintf(part->name, sizeof part->name, "%s", dtype_name(work->type));
    part->amount = 2 * work->batch * padded(work->m, matrix->block_m) *
                   padded(work->k, matrix->block_k) * padded(work->n, matrix->block_n) / cores;
    part->peak_per_ns =
        hardware_matrix_peak(hw, (enum dtype)matrix->type) * 1e-9 * clock_factor(row, hw);
    cube->part_count = 1;
    return part->amount / part->peak_per_ns;
}

/* Gives Cube its operations. What is more than it could have done in the time is an error in the
 * file, or another chip: it is refused. */
static void add_operations(const struct profile_row *row, const struct hardware *hw,
                           struct diagnosis *diagnosis, char *note, size_t size)
{
    struct matmul_work work;
    struct component *cube = NULL;
    for (int c = 0; c < diagnosis->component_count; c++)
        if (diagnosis->components[c].matrix)
            cube = &diagnosis->components[c];
    note[0] = 0;
    if (!cube || !shapes_are_matmul(row))
        return;
    bool known = shapes_matmul(row, &work);
    snprintf(note, size, "%s", work.note);
    double ideal_ns = known ? ideal_matmul_ns(row, &work, hw, cube) : -1;
    if (known && ideal_ns < 0)
        snprintf(note, size, "%s has no peak of %s", hw->name, dtype_name(work.type));
    if (ideal_ns > diagnosis->time_ns || ideal_ns > cube->busy_ns) {
        snprintf(note, size, "shapes do not fit the time: Cube at its peak would take %.4g us",
                 ideal_ns / 1e3);
        ideal_ns = -1;
        cube->part_count = 0;
    }
    cube->ideal_ns = ideal_ns;
}

/* ------------------------------------------------------------------ verdict */

/* U is at most R: a component that is busy for less than the threshold cannot bind. */
static int find_open(const struct diagnosis *diagnosis,
                     const struct diagnosis_thresholds *thresholds)
{
    int open = -1;
    double largest = diagnosis_bound_from(diagnosis, thresholds);
    if (diagnosis->verdict == VERDICT_NONE || diagnosis->verdict == VERDICT_COMPUTE_BOUND ||
        diagnosis->verdict == VERDICT_TRANSFER_BOUND)
        return -1;
    for (int c = 0; c < diagnosis->component_count; c++) {
        const struct component *component = &diagnosis->components[c];
        if (component->ideal_ns >= 0 || component->busy_ns < largest * diagnosis->time_ns)
            continue;
        open = c;
        largest = component->busy_ns / diagnosis->time_ns;
    }
    return open;
}

static void put_note(char note[DIAGNOSIS_NOTE_SIZE], const char *words)
{
    size_t used = strlen(note);
    if (*words)
        snprintf(note + used, DIAGNOSIS_NOTE_SIZE - used, "%s%s", used ? "; " : "", words);
}

static void explain(const struct profile_row *row, const struct diagnosis_thresholds *thresholds,
                    int open, const char *of_shapes, struct diagnosis *diagnosis)
{
    char words[DIAGNOSIS_NOTE_SIZE];
    bool any = false;
    for (int c = 0; c < diagnosis->component_count; c++)
        any = any || diagnosis->components[c].ideal_ns >= 0;
    put_note(diagnosis->note, any ? "operations of Cube by the shapes, no bytes in the file"
                                  : "no bytes or operations in the file");
    put_note(diagnosis->note, of_shapes);
    if (open >= 0) {
        snprintf(words, sizeof words, "%s bounds it if its utilisation is %.0f %% or more",
                 diagnosis->components[open].name,
                 100 * diagnosis_bound_from(diagnosis, thresholds));
        put_note(diagnosis->note, words);
    }
    put_note(diagnosis->note, row->note);
}

int analyse_row(const struct profile_row *row, const struct analyse_options *how,
                struct diagnosis *diagnosis)
{
    char of_shapes[DIAGNOSIS_NOTE_SIZE] = "";
    memset(diagnosis, 0, offsetof(struct diagnosis, components));
    diagnosis->note[0] = 0;
    diagnosis->component = -1;
    diagnosis->time_ns = -1;
    diagnosis->naive = (struct naive_reading){VERDICT_NONE, -1, -1, -1};
    snprintf(diagnosis->name, sizeof diagnosis->name, "%s", row->name);
    if (row->broken) {
        put_note(diagnosis->note, row->problem);
        return -1;
    }
    add_components(row, diagnosis);
    if (diagnosis->component_count == 0 || !(diagnosis->time_ns > 0)) {
        diagnosis->component_count = 0;
        diagnosis->time_ns = -1;
        put_note(diagnosis->note, "no times of AI cores");
        return -1;
    }
    if (how->hw)
        add_operations(row, how->hw, diagnosis, of_shapes, sizeof of_shapes);
    else if (shapes_are_matmul(row))
        snprintf(of_shapes, sizeof of_shapes, "Cube's follow from the shapes with --hw");
    diagnose(diagnosis, &how->thresholds);
    int open = find_open(diagnosis, &how->thresholds);
    explain(row, &how->thresholds, open, of_shapes, diagnosis);
    return open;
}

double analyse_time_us(const struct profile_row *row, const struct diagnosis *diagnosis)
{
    return row->duration_us >= 0     ? row->duration_us
           : diagnosis->time_ns >= 0 ? diagnosis->time_ns / 1e3
                                     : -1;
}
