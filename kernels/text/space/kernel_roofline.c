/* What no tiling of a text's space beats: the least bound of the boxes that its tilings are in
 * (docs/bounds.md, "Boxes of a text's tilings"), of which the one of least bound is halved some
 * times. It is the text's: another algorithm may do better. Beside it what its tensors take if each
 * is moved once, which is no bound where a text reads a part of one. */
#include "core/stop.h"
#include "costmodel/bound.h"
#include "kernels/text/space/kernel_space_internal.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_HALVED = 1024 };

struct box {
    int root;
    struct space_box box;
    double least_fs; /* without the launch */
};

struct roofline {
    const struct space *space;
    const void *boxes;
    void *scratch;
    struct bound_plan plan; /* of so many cores, and the layout: */
    int cores, layout;
    int count;
    struct box *items; /* owned */
};

/* Keeps the box, unless nothing in it fits. */
static void add_box(struct roofline *roofline, struct box box)
{
    struct work work;
    if (kernel_boxes.fits(roofline->boxes, box.root, &box.box, roofline->scratch) == FITS_NONE)
        return;
    kernel_boxes.summarise(roofline->boxes, box.root, &box.box, roofline->scratch, &work);
    if (work.cores != roofline->cores || work.layout != roofline->layout)
        bound_plan_make(&roofline->plan, roofline->space->hw, work.cores,
                        &kernel_space_of(roofline->space)->layouts[work.layout]);
    roofline->cores = work.cores;
    roofline->layout = work.layout;
    double fs = (double)bound_fs(&roofline->plan, &work) - roofline->plan.launch_fs;
    box.least_fs = fmax(fs, box.least_fs);
    roofline->items[roofline->count++] = box;
}

/* The axis that its bound hangs on with the largest last value over the first; -1: none. */
static int widest_axis(const struct roofline *roofline, const struct box *box)
{
    unsigned asked = kernel_boxes.asked(roofline->boxes, box->root);
    double most = 1;
    int widest = -1;
    for (int a = 0; a < roofline->space->axis_count; a++) {
        const int64_t *values = roofline->space->blocks[box->box.block].values[a];
        double ratio =
            (double)values[box->box.last[a]] / fmax((double)values[box->box.first[a]], 1);
        if (asked >> a & 1 && box->box.last[a] > box->box.first[a] &&
            (ratio > most || widest < 0)) {
            most = ratio;
            widest = a;
        }
    }
    return widest;
}

static int least_box(const struct roofline *roofline)
{
    int least = 0;
    for (int i = 1; i < roofline->count; i++)
        if (roofline->items[i].least_fs < roofline->items[least].least_fs)
            least = i;
    return least;
}

static double least_of_boxes(struct roofline *roofline)
{
    int roots = kernel_boxes.root_count(roofline->boxes);
    for (int r = 0; r < roots; r++)
        add_box(roofline, (struct box){.root = r, .box = *kernel_boxes.root(roofline->boxes, r)});
    for (int h = 0; roofline->count && h < MOST_HALVED; h++) {
        int least = least_box(roofline), axis = widest_axis(roofline, &roofline->items[least]);
        struct box half = roofline->items[least];
        if (axis < 0)
            break;
        int last = half.box.last[axis], middle = (half.box.first[axis] + last) / 2;
        roofline->items[least] = roofline->items[--roofline->count];
        half.box.last[axis] = middle;
        add_box(roofline, half);
        half.box.first[axis] = middle + 1;
        half.box.last[axis] = last;
        add_box(roofline, half);
    }
    return roofline->count ? roofline->items[least_box(roofline)].least_fs : 0;
}

static double find_roofline_ns(const struct space *space)
{
    struct roofline roofline = {.space = space, .layout = -1};
    double fs = NAN;
    enum status status = kernel_boxes.open(space, &roofline.boxes, NULL);
    if (status != STATUS_OK || !roofline.boxes)
        return status == STATUS_NO_MEMORY ? NAN : 0;
    size_t most = (size_t)kernel_boxes.root_count(roofline.boxes) + MOST_HALVED;
    roofline.scratch = malloc(kernel_boxes.scratch_bytes(roofline.boxes) + 1);
    roofline.items = calloc(most + 1, sizeof *roofline.items);
    if (roofline.scratch && roofline.items)
        fs = least_of_boxes(&roofline);
    free(roofline.scratch);
    free(roofline.items);
    return fs / FS_PER_NS;
}

/* Found where it is asked for first, by any thread. NAN: no memory. */
double kernel_roofline_ns(const struct space *space)
{
    struct kernel_space *ks = kernel_space_of(space);
    double ns;
    __atomic_load(&ks->roofline_ns, &ns, __ATOMIC_RELAXED);
    if (ns == 0) {
        ns = find_roofline_ns(space);
        if (isnan(ns) || (ns == 0 && stop_due(space->stop)))
            return ns;
        ns = ns > 0 ? ns : -1;
        __atomic_store(&ks->roofline_ns, &ns, __ATOMIC_RELAXED);
    }
    return fmax(ns, 0);
}

/* ------------------------------------------------------------------ tensors */

struct once {
    const struct kernel_plan *plan;
    uint64_t moved[HARDWARE_MAX_BUSES][2]; /* tensors, bits; the first ones are read */
    double bytes, bus_bytes[HARDWARE_MAX_BUSES];
};

static double bytes_of(const struct once *once, const struct kernel_values *sizes, int number)
{
    const struct kernel_tensor *tensor = &once->plan->kernel->tensors[number];
    double bytes = dtype_bytes(kernel_type(sizes, tensor->type));
    for (const struct expression *dim = tensor->dims; dim; dim = dim->next) {
        int64_t extent;
        if (kernel_number(sizes, dim, &extent, NULL) != STATUS_OK || extent < 0)
            return 0;
        bytes *= (double)extent;
    }
    return bytes;
}

/* `share`: of it that moves over this bus. */
static void add_part(struct once *once, const struct kernel_values *sizes, int bus, int tensor,
                     bool writes, double share)
{
    if (bus < 0 || tensor < 0)
        return;
    uint64_t bit = UINT64_C(1) << tensor, before = 0;
    if (once->moved[bus][writes] & bit)
        return;
    for (int b = 0; b < once->plan->hw->bus_count; b++)
        before |= once->moved[b][writes];
    once->moved[bus][writes] |= bit;
    double bytes = bytes_of(once, sizes, tensor);
    once->bytes += before & bit ? 0 : bytes;
    once->bus_bytes[bus] += bytes * share;
}

void kernel_add_roofline(const struct kernel_space *ks, const struct kernel_plan *plan,
                         struct json_t *details)
{
    struct once once = {.plan = plan};
    double fs = 0;
    for (int s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        int bus = plan->hw->prices[step->price].bus;
        double missed = (double)step->missed_parts / MISS_PARTS;
        double share = step->share == SHARE_ALL      ? 1
                       : step->share == SHARE_MISSES ? missed
                                                     : 1 - missed;
        for (int p = 0; p < step->part_count && step->kind == INSTRUCTION_MOVE; p++)
            add_part(&once, &ks->base, bus, step->parts[p].tensor, p == 0, share);
    }
    for (int b = 0; b < plan->hw->bus_count; b++) {
        const struct bus *bus = &plan->hw->buses[b];
        double rate = (double)bus->total_bytes_per_s[bus->sharers - 1];
        fs = fmax(fs, once.bus_bytes[b] * FS_PER_S / rate);
    }
    json_object_set_new(details, "roofline",
                        json_pack("{s:s, s:I, s:f}", "of", "the tilings of this text's space",
                                  "tensors_once_bytes", (json_int_t)once.bytes, "tensors_once_ns",
                                  fs / FS_PER_NS));
}
