/* What the whole program of a tiling does: how often tiles of each size occur, and what is loaded,
 * fed, multiplied and stored for them. */
#include "kernels/matmul/matmul_cann_parts.h"

#include <string.h>

/* ---- tiles ---------------------------------------------------------------------------------- */

/* The sizes that one direction's tiles have in the bodies of a level, and how often in all. */
enum { MAX_SIZES = 8 };
struct cuts {
    int count;
    int64_t size[MAX_SIZES];
    double times[MAX_SIZES];
};

static void cuts_add(struct cuts *cuts, int64_t size, double times)
{
    int i = 0;
    if (size == 0 || times == 0)
        return;
    while (i < cuts->count && cuts->size[i] != size)
        i++;
    if (i == cuts->count) {
        cuts->size[cuts->count++] = size;
        cuts->times[i] = 0;
    }
    cuts->times[i] += times;
}

/* Cuts what is there by the levels first … last. */
static void cuts_cut(const struct cann_plan *plan, enum cann_direction direction, int first,
                     int last, struct cuts *cuts)
{
    for (int l = first; l <= last; l++) {
        struct cuts whole = *cuts;
        int64_t slice = plan->level[l].slice;
        if (plan->level[l].direction != direction || slice >= plan->level[l].parent)
            continue;
        cuts->count = 0;
        for (int i = 0; i < whole.count; i++) {
            int64_t full = whole.size[i] / slice;
            cuts_add(cuts, slice, whole.times[i] * (double)full);
            cuts_add(cuts, whole.size[i] - full * slice, whole.times[i]);
        }
    }
}

static struct cuts cuts_of(const struct cann_plan *plan, enum cann_direction direction, int level)
{
    struct cuts cuts = {1, {plan->extent[direction]}, {1}};
    cuts_cut(plan, direction, 0, level < CANN_LEVELS ? level : LEVEL_BLOCK, &cuts);
    if (level >= SLAB_N_L1)
        cuts_cut(plan, direction, SLAB_N_L1, level, &cuts);
    return cuts;
}

static double cuts_times(const struct cuts *cuts)
{
    double times = 0;
    for (int i = 0; i < cuts->count; i++)
        times += cuts->times[i];
    return times;
}

void cann_add_products(const struct cann *cann, const struct cann_plan *plan, struct work *work,
                       enum cann_line line, int level, const int64_t extent[CANN_DIRECTIONS])
{
    double count = 1;
    for (int d = 0; d < CANN_DIRECTIONS; d++)
        count *= (double)cann_bodies(plan, (enum cann_direction)d, level, LEVEL_STEP, extent[d]);
    work->instructions[line] += count;
    work->units[line] += cann_blocks_of(cann, extent);
}

/* ---- one operand ---------------------------------------------------------------------------- */

/* How often the scopes of a live range begin because of directions that the operand does not have.
 */
static double repeats(const struct cann_plan *plan, const struct cann_side *o, int level)
{
    enum cann_direction other = o->which == CANN_A ? CANN_N : CANN_M;
    struct cuts cuts = cuts_of(plan, other, level < CANN_LEVELS ? level : SCOPE_PROGRAM);
    double times = cuts_times(&cuts);
    if (o->one) {
        cuts = cuts_of(plan, CANN_BATCH, level < CANN_LEVELS ? level : SCOPE_PROGRAM);
        times *= cuts_times(&cuts);
    }
    return times;
}

/* B's parts for a slab are loaded as often as the slab is. */
static double slab_repeats(const struct cann_plan *plan)
{
    int level = plan->scope[LIVE_B_L0].level;
    struct cuts cuts = cuts_of(plan, CANN_BATCH, level);
    return cuts_times(&cuts);
}

static void sum_loads(const struct cann *cann, const struct cann_plan *plan,
                      const struct cann_side *o, struct work *work)
{
    bool in_slab = o->level_l1 >= SLAB_N_L1;
    struct cuts across = cuts_of(plan, o->across, o->level_l1);
    struct cuts k = cuts_of(plan, CANN_K, o->level_l1);
    struct cuts batch =
        cuts_of(plan, CANN_BATCH, in_slab ? plan->scope[LIVE_B_L0].level : o->level_l1);
    double times = in_slab ? 1 : repeats(plan, o, o->level_l1);
    if (o->one) /* `times` knows how often */
        batch = (struct cuts){1, {1}, {in_slab ? cuts_times(&batch) : 1}};
    for (int b = 0; b < batch.count; b++)
        for (int x = 0; x < across.count; x++)
            for (int i = 0; i < k.count; i++) {
                int64_t extent[CANN_DIRECTIONS];
                memcpy(extent, plan->extent, sizeof extent);
                extent[CANN_BATCH] = batch.size[b];
                extent[o->across] = across.size[x];
                extent[CANN_K] = k.size[i];
                struct cann_move move =
                    cann_load_of(cann, plan, o->which, cann_part_bytes(cann, o, extent), extent);
                cann_add_loads(cann, work, o->load,
                               times * batch.times[b] * across.times[x] * k.times[i], &move);
            }
}

static void sum_feeds(const struct cann *cann, const struct cann_plan *plan,
                      const struct cann_side *o, struct work *work)
{
    double times;
    if (o->l0 == LIVE_B_L0 && plan->slab) {
        struct cuts n = cuts_of(plan, CANN_N, SLAB_TILE);
        struct cuts k = cuts_of(plan, CANN_K, SLAB_TILE);
        times = slab_repeats(plan);
        work->instructions[o->feed] = times * cuts_times(&n) * cuts_times(&k);
    } else {
        work->instructions[o->feed] =
            (double)cann_openings(plan, o->l0, SCOPE_PROGRAM, plan->extent);
        times = repeats(plan, o, o->level_l0) * (o->one ? 1 : (double)plan->extent[CANN_BATCH]);
    }
    work->units[o->feed] =
        times * (double)(plan->extent[o->across] * plan->extent[CANN_K] * cann->machine.type_bytes);
}

/* ---- the whole program ---------------------------------------------------------------------- */

static void sum_tiles(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    const struct cann_machine *machine = &cann->machine;
    struct cuts m = cuts_of(plan, CANN_M, LEVEL_TILE), n = cuts_of(plan, CANN_N, LEVEL_TILE);
    double blocks = (double)plan->extent[CANN_BATCH];
    for (int i = 0; i < m.count; i++)
        for (int j = 0; j < n.count; j++) {
            int64_t extent[CANN_DIRECTIONS] = {1, m.size[i], n.size[j], plan->extent[CANN_K]};
            struct cann_move move =
                cann_move_of(cann, cann_stored(plan->parts),
                             m.size[i] * n.size[j] * machine->accumulator_bytes, extent);
            cann_add_moves(cann, work, STORE, cann_store_price(cann, plan->parts),
                           blocks * m.times[i] * n.times[j], &move);
        }
    double rows = blocks * cuts_times(&m);
    const int row_bytes[] = {cann->bias_bytes, cann->scale_bytes};
    for (size_t i = 0; i < sizeof row_bytes / sizeof *row_bytes; i++)
        for (int j = 0; j < n.count && row_bytes[i]; j++)
            cann_add_loads(cann, work, LOAD_BIAS, rows * n.times[j],
                           &(struct cann_move){n.size[j] * row_bytes[i], 1, 1, 0});
    if (!cann->bias_bytes || machine->feed_bias < 0)
        return;
    work->instructions[FEED_BIAS] = rows * cuts_times(&n);
    work->units[FEED_BIAS] = rows * (double)plan->extent[CANN_N] * cann->bias_bytes;
}

void cann_sum_totals(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct cann_side a = cann_side_of(plan, CANN_A), b = cann_side_of(plan, CANN_B);
    sum_loads(cann, plan, &a, work);
    sum_loads(cann, plan, &b, work);
    sum_feeds(cann, plan, &a, work);
    sum_feeds(cann, plan, &b, work);
    sum_tiles(cann, plan, work);
    cann_add_products(cann, plan, work, MULTIPLY, SCOPE_PROGRAM, plan->extent);
}
