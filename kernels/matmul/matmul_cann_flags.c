/* Flags of a program of the space `cann`: every buffer has two that go to and fro between the pipe
 * that fills it and the pipe that empties it. */
#include "kernels/matmul/matmul_cann_writer.h"

/* Registers of a pair of pipes: the copy is added. C's pair is its own. */
enum { FLAG_A = 0, FLAG_B = 2, FLAG_BIAS = 4, FLAG_C = 0, FLAG_C_LEAVES = 2 };

static const int hold_flags[CANN_HOLDS] = {
    [HOLD_A_L1] = FLAG_A, [HOLD_B_L1] = FLAG_B, [HOLD_BIAS_L1] = FLAG_BIAS,
    [HOLD_A_L0] = FLAG_A, [HOLD_B_L0] = FLAG_B, [HOLD_BIAS_BT] = FLAG_BIAS,
    [HOLD_C] = FLAG_C,
};

/* The pipes that fill and empty a buffer. */
static void ends_of(const struct writer *w, enum cann_hold hold, int *fills, int *empties)
{
    const struct cann_machine *m = w->machine;
    bool in_l1 = hold <= HOLD_BIAS_L1;
    *fills = in_l1 ? m->mte2 : hold == HOLD_C ? m->matrix : m->mte1;
    *empties = in_l1 ? m->mte1 : hold == HOLD_C ? m->fixp : m->matrix;
}

/* Does somebody read it? A bias only where there is a bias table. */
static bool handed_on(const struct writer *w, enum cann_hold hold)
{
    return hold != HOLD_BIAS_L1 || w->plan->scope[HOLD_BIAS_BT].used;
}

void cann_full_flag(struct writer *w, enum cann_hold hold,
                    void (*act)(struct emitter *, int, int, int))
{
    int fills, empties;
    if (!handed_on(w, hold))
        return;
    ends_of(w, hold, &fills, &empties);
    act(&w->emit, fills, empties, hold_flags[hold] + w->copy[hold]);
}

void cann_free_flag(struct writer *w, enum cann_hold hold,
                    void (*act)(struct emitter *, int, int, int))
{
    int fills, empties;
    if (!handed_on(w, hold))
        return;
    ends_of(w, hold, &fills, &empties);
    act(&w->emit, empties, fills, hold_flags[hold] + w->copy[hold]);
}

/* Before all loops and after them: every copy is free. */
void cann_all_free_flags(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    for (int h = 0; h < CANN_HOLDS; h++) {
        int copy = w->copy[h];
        for (w->copy[h] = 0; w->copy[h] < w->plan->scope[h].copies; w->copy[h]++)
            if (w->plan->scope[h].used)
                cann_free_flag(w, (enum cann_hold)h, act);
        w->copy[h] = copy;
    }
}

/* The tile of C leaves through FIXP: from now on it may be overwritten behind it. */
void cann_leaves_flag(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    if (w->machine->unit_flag)
        act(&w->emit, w->machine->fixp, w->machine->matrix, FLAG_C_LEAVES + w->copy[HOLD_C]);
}

/* Before all loops and after them, as all_free_flags. */
void cann_all_leaves_flags(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    for (int copy = w->plan->scope[HOLD_C].copies; copy > 0; copy--) {
        cann_leaves_flag(w, act);
        w->copy[HOLD_C] = (w->copy[HOLD_C] + 1) % w->plan->scope[HOLD_C].copies;
    }
}
