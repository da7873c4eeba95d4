/* Elements of parts: from where they are to a row of numbers and back. */
#include "kernels/slices.h"
#include "kernels/text/run/kernel_run_internal.h"

#include "core/element.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t unwritten_bits = UINT64_C(0x7ffc0de0facade00);

double run_unwritten(void)
{
    double value;
    memcpy(&value, &unwritten_bits, sizeof value);
    return value;
}

bool run_is_unwritten(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == unwritten_bits;
}

enum status run_room(struct numbers *numbers, int64_t count, struct error *error)
{
    if (count <= numbers->capacity)
        return STATUS_OK;
    free(numbers->values);
    numbers->values = malloc((size_t)count * sizeof *numbers->values);
    numbers->capacity = numbers->values ? count : 0;
    return numbers->values ? STATUS_OK : error_memory(error);
}

/* A walk over a part, row by row. */
struct part_walk {
    const struct part_numbers *n;
    int64_t extent[KERNEL_MAX_DIMS];
    int dims;
    double *store;       /* where elements are; NULL: 0 everywhere */
    const double *given; /* what a tensor begins as, the same way */
    double *row;         /* the part's, one after the other */
    int64_t left;        /* elements to go */
    double fill;
    enum dtype type;
    bool scatters, adds;
};

static double before(const struct part_walk *w, int64_t at)
{
    assert(w->store);
    if (!run_is_unwritten(w->store[at]))
        return w->store[at];
    return w->given ? w->given[at] : 0;
}

static void take_one(struct part_walk *w, int64_t at)
{
    if (!w->scatters)
        *w->row = at < 0 ? w->fill : w->store ? w->store[at] : 0;
    else if (at >= 0 && w->store)
        w->store[at] = w->adds ? element_round(w->type, before(w, at) + *w->row) : *w->row;
    w->row++;
}

static void take_row(struct part_walk *w, int64_t base, bool is_inside, int64_t count)
{
    int d = w->dims - 1;
    int64_t begin = w->n->begin[d], by = w->n->by[d], extent = w->extent[d];
    bool is_run =
        is_inside && by == 1 && begin >= 0 && begin + count <= extent && w->store && !w->adds;
    if (is_run) {
        double *run = w->store + base * extent + begin;
        memcpy(w->scatters ? run : w->row, w->scatters ? w->row : run, (size_t)count * sizeof *run);
        w->row += count;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t at = begin + i * by;
        take_one(w, is_inside && at >= 0 && at < extent ? base * extent + at : -1);
    }
}

static void take_dim(struct part_walk *w, int d, int64_t base, bool is_inside)
{
    if (d == w->dims - 1) {
        int64_t count = w->n->extent[d] < w->left ? w->n->extent[d] : w->left;
        w->left -= count;
        take_row(w, base, is_inside, count);
        return;
    }
    for (int64_t i = 0; i < w->n->extent[d] && w->left > 0; i++) {
        int64_t at = w->n->begin[d] + i * w->n->by[d];
        bool is_in = is_inside && at >= 0 && at < w->extent[d];
        take_dim(w, d + 1, is_in ? base * w->extent[d] + at : 0, is_in);
    }
}

static enum status open_walk(struct runner *r, int step, int part, struct part_numbers *n,
                             struct part_walk *walk)
{
    const struct plan_part *p = &r->plan.steps[step].parts[part];
    for (int d = 0; d < p->dim_count; d++)
        if (p->dims[d].reach == REACH_SOME && !p->dims[d].from)
            return plan_fail(r->error, r->plan.kernel->lines[r->plan.steps[step].line].at,
                             "data decide where this part begins, which numbers cannot");
    TRY(plan_part(&r->plan, r->env, step, part, n, r->error));
    *walk = (struct part_walk){.n = n, .dims = p->dim_count, .left = n->elements};
    const int64_t *extent =
        p->tile >= 0 ? r->env->tiles[p->tile].extent : r->run->tensors[p->tensor].extent;
    memcpy(walk->extent, extent, sizeof walk->extent);
    return STATUS_OK;
}

enum status run_gather(struct runner *r, int step, int part, double fill, int64_t *count,
                       int64_t *columns)
{
    const struct plan_part *p = &r->plan.steps[step].parts[part];
    struct part_numbers n;
    struct part_walk walk;
    TRY(open_walk(r, step, part, &n, &walk));
    TRY(run_room(&r->parts[part], n.elements, r->error));
    walk.store = p->tile >= 0 ? r->tiles[p->tile][r->slots[p->tile]].values
                              : r->run->tensors[p->tensor].given;
    walk.row = r->parts[part].values;
    walk.fill = fill;
    *count = n.elements;
    *columns = n.extent[p->dim_count - 1];
    take_dim(&walk, 0, 0, true);
    return STATUS_OK;
}

enum status run_scatter(struct runner *r, int step, double *values, int64_t count, bool adds)
{
    const struct plan_part *p = &r->plan.steps[step].parts[0];
    struct part_numbers n;
    struct part_walk walk;
    TRY(open_walk(r, step, 0, &n, &walk));
    walk.scatters = true;
    walk.adds = adds;
    walk.left = count < n.elements ? count : n.elements;
    walk.type = p->tile >= 0 ? r->plan.tiles[p->tile].type : r->run->tensors[p->tensor].type;
    walk.store = p->tile >= 0 ? r->tiles[p->tile][r->slots[p->tile]].values
                              : r->run->tensors[p->tensor].left;
    walk.given = p->tile >= 0 ? NULL : r->run->tensors[p->tensor].given;
    walk.row = values;
    take_dim(&walk, 0, 0, true);
    return STATUS_OK;
}
