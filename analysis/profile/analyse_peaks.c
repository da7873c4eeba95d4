/* What the work of a row takes at the peaks of the chip: first by what was counted, then, of what
 * was not, by the shapes. */
#include "analysis/profile/analyse_peaks.h"

#include "analysis/profile/analyse_counters.h"
#include "analysis/profile/analyse_shapes.h"
#include "analysis/profile/analyse_traffic.h"
#include "analysis/roofline.h"

#include <math.h>
#include <string.h>

/* BF16 counts as FP16 where it has no price of its own. */
static enum dtype stand_in(enum dtype type)
{
    return type == DTYPE_BF16 ? DTYPE_F16 : type;
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
    return operations / peak / peaks->cores[SIDE_CUBE];
}

/* Operands come into any buffer of the matrix unit; results leave by UB, or straight from L0C. */
static bool add_operands(struct peaks *peaks, const struct matmul_work *work)
{
    const struct traffic load = {.unit = UNIT_MTE2,
                                 .miss_share = -1,
                                 .inner = {"l1", "l0a", "l0b"},
                                 .least_bytes = work->load_bytes,
                                 .most_bytes = INFINITY};
    enum dtype sums = dtype_accumulator(work->type);
    enum dtype result = work->result < 0 ? sums : (enum dtype)work->result;
    int result_bytes = work->result < 0 ? 0 : dtype_bytes(result);
    const struct traffic stores[] = {{.unit = UNIT_MTE3,
                                      .store = true,
                                      .miss_share = -1,
                                      .inner = {"ub"},
                                      .least_bytes = work->results * result_bytes,
                                      .most_bytes = INFINITY},
                                     {.unit = UNIT_FIXPIPE,
                                      .store = true,
                                      .miss_share = -1,
                                      .inner = {"l0c"},
                                      .from = sums,
                                      .to = result,
                                      .least_bytes = work->results * dtype_bytes(sums),
                                      .most_bytes = INFINITY}};
    bool loads = traffic_add(peaks, &load);
    bool fixpipe = peaks->places->of[SIDE_CUBE][UNIT_FIXPIPE] >= 0;
    return traffic_add(peaks, &stores[fixpipe]) || loads;
}

/* Where bytes were counted, those of the shapes are not needed. */
static void add_matmul(struct peaks *peaks, bool counted)
{
    struct matmul_work work;
    int cube = peaks->places->of[SIDE_CUBE][UNIT_CUBE];
    bool known = shapes_matmul(peaks->row, &work);
    double ideal_ns = known ? ideal_matmul_ns(peaks, &work) : -1;
    bool bytes = known && !counted && add_operands(peaks, &work);
    if (cube >= 0 && ideal_ns >= 0)
        peaks->diagnosis->components[cube].ideal_ns = ideal_ns;
    bool quiet = counted || counters_any(peaks->row);
    diagnosis_note(peaks->diagnosis, known && ideal_ns >= 0 ? "operations of Cube by the shapes"
                                     : quiet                ? ""
                                     : !known               ? "no bytes or operations in the file"
                                                            : "no operations in the file");
    diagnosis_note(peaks->diagnosis,
                   bytes ? "at least the bytes of each operand and result once" : "");
    diagnosis_note(peaks->diagnosis, quiet && !known ? "" : work.note);
    if (known && ideal_ns < 0) {
        char words[128];
        snprintf(words, sizeof words, "%s has no peak of %s", peaks->hw->name,
                 dtype_name(work.type));
        diagnosis_note(peaks->diagnosis, words);
    }
}

static bool add_tensors(struct peaks *peaks, int side, const struct elementwise_work *work)
{
    const struct traffic load = {.side = (enum profile_side)side,
                                 .unit = UNIT_MTE2,
                                 .miss_share = -1,
                                 .inner = {"ub"},
                                 .least_bytes = work->load_least_bytes,
                                 .most_bytes = work->load_most_bytes};
    const struct traffic store = {.side = (enum profile_side)side,
                                  .unit = UNIT_MTE3,
                                  .store = true,
                                  .miss_share = -1,
                                  .inner = {"ub"},
                                  .least_bytes = work->store_bytes,
                                  .most_bytes = work->store_bytes};
    bool loads = traffic_add(peaks, &load);
    return traffic_add(peaks, &store) || loads;
}

/* Where an input is broadcast, there may be more than one instruction an element. */
static bool add_vector(struct peaks *peaks, int side, const struct elementwise_work *work)
{
    const struct hardware *hw = peaks->hw;
    int place = peaks->places->of[side][UNIT_VECTOR];
    int operation = work->operation
                        ? hardware_operation(hw, work->operation, (int)strlen(work->operation))
                        : -1;
    if (place < 0 || operation < 0)
        return false;
    int price = hardware_operation_price(hw, operation, work->type);
    double ns = peak_vector_ns(hw, price, work->type, work->elements) / peaks->cores[side];
    component_set_span(&peaks->diagnosis->components[place], ns,
                       work->load_least_bytes < work->load_most_bytes ? INFINITY : ns);
    return true;
}

/* Vector cores load, compute and store by themselves where they ran. */
static int side_of_vector(const struct component_places *places)
{
    const int *vector = places->of[SIDE_VECTOR];
    return vector[UNIT_VECTOR] >= 0 || vector[UNIT_MTE2] >= 0 || vector[UNIT_MTE3] >= 0
               ? SIDE_VECTOR
               : SIDE_CUBE;
}

static void add_elementwise(struct peaks *peaks, bool counted)
{
    struct elementwise_work work;
    int side = side_of_vector(peaks->places);
    bool known = shapes_elementwise(peaks->row, &work);
    bool bytes = known && !counted && add_tensors(peaks, side, &work);
    bool operations = known && add_vector(peaks, side, &work);
    bool neither = !bytes && !operations, quiet = counted || counters_any(peaks->row);
    diagnosis_note(peaks->diagnosis,
                   quiet && neither      ? ""
                   : counted             ? "operations of Vector by the shapes"
                   : bytes && operations ? "bytes and operations of Vector by the shapes"
                   : bytes               ? "bytes by the shapes, no operations in the file"
                   : operations ? "operations of Vector by the shapes, no bytes in the file"
                                : "no bytes or operations in the file");
    diagnosis_note(peaks->diagnosis, quiet && neither ? "" : work.note);
    if (known && work.load_least_bytes < work.load_most_bytes)
        diagnosis_note(peaks->diagnosis, "an input is broadcast, and may be loaded more than once");
    if (bytes && peaks->hw->cache.behind >= 0)
        diagnosis_note(peaks->diagnosis, "how much of it came out of the cache is not in the file");
}

/* ------------------------------------------------------------------ all of it */

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

static void clamp(double limit_ns, struct component *component)
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
        clamp(component->busy_ns >= 0 ? component->busy_ns : diagnosis->time_ns, component);
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

void peaks_of_row(const struct profile_row *row, const struct hardware *hw,
                  const struct component_places *places, struct diagnosis *diagnosis)
{
    bool matmul = shapes_are_matmul(row), elementwise = shapes_are_elementwise(row);
    bool counted = counters_any(row), bytes = counters_have_bytes(row);
    int count = diagnosis->component_count;
    struct peaks peaks;
    if (!counted && (!hw || !(matmul || elementwise)))
        diagnosis_note(diagnosis, "no bytes or operations in the file");
    if (!hw)
        note_chip(row, diagnosis);
    else {
        traffic_begin(row, hw, places, diagnosis, &peaks);
        bytes = bytes && counters_add_bytes(&peaks);
        if (matmul)
            add_matmul(&peaks, bytes);
        else if (elementwise)
            add_elementwise(&peaks, bytes);
        traffic_close(&peaks);
        counters_add_vector(&peaks);
    }
    counters_add_cube(row, places, diagnosis);
    if (counted)
        refuse_counted(diagnosis);
    else
        refuse_shapes(count, diagnosis);
}
