/* Flags of a program of the space `cann`: every buffer has two that go to and fro between the pipe
 * that fills it and the pipe that empties it. */
#include "kernels/matmul/matmul_cann_emitter.h"

/* Registers of a pair of pipes: the copy is added. C's pair is its own. */
enum { FLAG_A = 0, FLAG_B = 2, FLAG_BIAS = 4, FLAG_C = 0, FLAG_C_LEAVES = 2 };

static const int range_flags[CANN_LIVE_RANGES] = {
    [LIVE_A_L1] = FLAG_A, [LIVE_B_L1] = FLAG_B, [LIVE_BIAS_L1] = FLAG_BIAS,
    [LIVE_A_L0] = FLAG_A, [LIVE_B_L0] = FLAG_B, [LIVE_BIAS_BT] = FLAG_BIAS,
    [LIVE_C] = FLAG_C,
};

/* The pipes that fill and empty a buffer. */
static void ends_of(const struct cann_emitter *w, enum cann_live_range range, int *fills,
                    int *empties)
{
    const struct cann_machine *m = w->machine;
    bool in_l1 = range <= LIVE_BIAS_L1;
    *fills = in_l1 ? m->mte2 : range == LIVE_C ? m->matrix : m->mte1;
    *empties = in_l1 ? m->mte1 : range == LIVE_C ? m->fixp : m->matrix;
}

/* Does somebody read it? Of rows a bias where there is a bias table: what FIXP and the matrix unit
 * read of the others has no price. */
static bool handed_on(const struct cann_emitter *w, enum cann_live_range range)
{
    return range != LIVE_BIAS_L1 || w->plan->scope[LIVE_BIAS_BT].used;
}

static void act_on(struct cann_emitter *w, enum cann_live_range range, bool full,
                   void (*act)(struct emitter *, int, int, int))
{
    int fills, empties, flag = range_flags[range] + w->copy[range];
    if (!handed_on(w, range))
        return;
    ends_of(w, range, &fills, &empties);
    act(&w->emit, full ? fills : empties, full ? empties : fills, flag);
}

void cann_full_flag(struct cann_emitter *w, enum cann_live_range range,
                    void (*act)(struct emitter *, int, int, int))
{
    act_on(w, range, true, act);
}

void cann_free_flag(struct cann_emitter *w, enum cann_live_range range,
                    void (*act)(struct emitter *, int, int, int))
{
    act_on(w, range, false, act);
}

/* Before all loops and after them: every copy is free. */
void cann_all_free_flags(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int))
{
    for (int h = 0; h < CANN_LIVE_RANGES; h++) {
        int copy = w->copy[h];
        for (w->copy[h] = 0; w->copy[h] < w->plan->scope[h].copies; w->copy[h]++)
            if (w->plan->scope[h].used)
                cann_free_flag(w, (enum cann_live_range)h, act);
        w->copy[h] = copy;
    }
}

/* The tile of C leaves through FIXP: from now on it may be overwritten behind it. */
void cann_leaves_flag(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int))
{
    if (w->machine->unit_flag)
        act(&w->emit, w->machine->fixp, w->machine->matrix, FLAG_C_LEAVES + w->copy[LIVE_C]);
}

/* Before all loops and after them, as all_free_flags. */
void cann_all_leaves_flags(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int))
{
    for (int copy = w->plan->scope[LIVE_C].copies; copy > 0; copy--) {
        cann_leaves_flag(w, act);
        w->copy[LIVE_C] = (w->copy[LIVE_C] + 1) % w->plan->scope[LIVE_C].copies;
    }
}
