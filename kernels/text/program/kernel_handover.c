/* Handing tiles on that are loaded in first rounds alone. A new load overwrites what readers of the
 * round before have read, and mostly is behind them without further ado: loads and reads go in turn
 * because of the tokens of other tiles and rounds. Where that is not enough, because few rounds lie
 * between or nothing is loaded in the meantime, a token goes from the last reader to the first
 * load; anywhere else it would order nothing new and hold loads back.
 *
 * It is played, at the beginning and the end of neighbouring rounds of a loop: the loads of the new
 * round until the loading pipe has waited for something that the reading one did in that round, and
 * backwards the reads of the old round until what those loads waited for. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_program_internal.h"

#include <string.h>

enum { MAX_LOADS = 16, MAX_HELPERS = 8, MAX_PLAYED = 4096 };

/* A load that comes before the loading pipe has caught up. */
struct early_load {
    int64_t low, high;      /* bytes */
    int waits[MAX_HELPERS]; /* of each helping token, until it */
    bool is_ordered;
};

struct handover {
    struct program_writer *writer;
    const struct kernel_token *token;
    int helper_count, helpers[MAX_HELPERS]; /* tokens that order the same pair of pipes, too */
    int counts[MAX_HELPERS];                /* waits or sets of each so far */
    int load_count, played;
    struct early_load loads[MAX_LOADS];
    bool is_over, is_needed;
    enum status status;
};

static void end(struct handover *h, bool is_needed)
{
    h->is_over = true;
    h->is_needed |= is_needed;
}

static void keep(struct handover *h, enum status status)
{
    if (status == STATUS_OK || h->status != STATUS_OK)
        return;
    h->status = status;
    end(h, true);
}

/* From the first byte of the tile that a step touches to the last one, if it does on this pipe in
 * the current rounds. */
static bool touched(struct handover *h, int number, int pipe, int64_t *low, int64_t *high)
{
    const struct program_writer *w = h->writer;
    const struct plan_step *step = &w->plan->steps[number];
    struct instruction in;
    bool runs = false;
    for (int p = 0; p < step->part_count && step->pipe == pipe; p++) {
        struct region region;
        if (step->parts[p].tile != h->token->tile)
            continue;
        keep(h, plan_runs(w->plan, w->env, number, &runs, w->emit.error));
        if (!runs || h->is_over)
            return false;
        keep(h, plan_instruction(w->plan, w->env, number, &in, w->emit.error));
        if (step->share && in.bytes == 0)
            return false;
        keep(h, writer_region(w, number, p, &in, &region));
        int64_t bytes = instruction_extent_bytes(w->plan->hw, &in, step->parts[p].role);
        *low = region.offset_bytes;
        *high = *low + bytes / region.rows / region.pieces +
                (region.rows - 1) * region.row_stride_bytes +
                (region.pieces - 1) * region.piece_stride_bytes;
        return true;
    }
    return false;
}

static int helper_of(const struct handover *h, int token)
{
    for (int i = 0; i < h->helper_count; i++)
        if (h->helpers[i] == token)
            return i;
    return -1;
}

/* ------------------------------------------------------------------ the new round */

static void see_waits(struct handover *h, int item)
{
    const struct kernel_flags *flags = h->writer->flags;
    for (int n = flags->waits[item]; n >= 0; n = flags->tokens[n].next_wait) {
        int helper = helper_of(h, n);
        if (helper >= 0 && writer_holds(h->writer, &flags->tokens[n].wait) &&
            ++h->counts[helper] > flags->tokens[n].count)
            end(h, false); /* for something of the new round */
    }
}

static void see_load(struct handover *h, int step)
{
    int64_t low, high;
    if (!touched(h, step, h->token->to, &low, &high))
        return;
    if (h->load_count == MAX_LOADS) {
        end(h, true);
        return;
    }
    struct early_load *load = &h->loads[h->load_count++];
    *load = (struct early_load){.low = low, .high = high};
    memcpy(load->waits, h->counts, sizeof load->waits);
}

/* ------------------------------------------------------------------ the old round */

/* The n-th wait of a token with r registers is for the (r - n + 1)-th last set, the 0-th being the
 * last one of the old round. */
static void see_sets(struct handover *h, int item, bool paces)
{
    const struct kernel_flags *flags = h->writer->flags;
    bool all = true;
    for (int n = flags->sets[item]; n >= 0; n = flags->tokens[n].next_set) {
        int helper = helper_of(h, n);
        if (helper < 0 || flags->tokens[n].is_pace != paces ||
            !writer_holds(h->writer, &flags->tokens[n].set))
            continue;
        h->counts[helper]++;
        for (int l = 0; l < h->load_count; l++)
            if (h->counts[helper] > flags->tokens[n].count - h->loads[l].waits[helper])
                h->loads[l].is_ordered = true;
    }
    for (int l = 0; l < h->load_count; l++)
        all &= h->loads[l].is_ordered;
    if (all)
        end(h, false);
}

static void see_read(struct handover *h, int step)
{
    int64_t low, high;
    if (!touched(h, step, h->token->from, &low, &high))
        return;
    for (int l = 0; l < h->load_count; l++)
        if (!h->loads[l].is_ordered && h->loads[l].low < high && low < h->loads[l].high)
            end(h, true);
}

/* ------------------------------------------------------------------ playing */

static void play_body(struct handover *h, int loop, bool is_forward);

static void play_loop(struct handover *h, int loop, bool is_forward)
{
    const struct program_writer *w = h->writer;
    int64_t rounds = 0;
    bool last_differs;
    keep(h, plan_rounds(w->plan, w->env, loop, &rounds, &last_differs, w->emit.error));
    for (int64_t r = 0; r < rounds && !h->is_over; r++) {
        int64_t round = is_forward ? r : rounds - 1 - r;
        keep(h, plan_enter(w->plan, w->env, loop, round, w->emit.error));
        play_body(h, loop, is_forward);
    }
}

static void play_item(struct handover *h, int item, bool is_forward)
{
    const struct plan_item *i = &h->writer->plan->items[item];
    if (++h->played > MAX_PLAYED)
        end(h, true);
    if (is_forward)
        see_waits(h, item);
    else
        see_sets(h, item, false);
    if (h->is_over)
        return;
    if (i->is_loop)
        play_loop(h, i->number, is_forward);
    else if (is_forward)
        see_load(h, i->number);
    else
        see_read(h, i->number);
    if (!is_forward && !h->is_over)
        see_sets(h, item, true);
}

static void play_body(struct handover *h, int loop, bool is_forward)
{
    const struct plan_loop *body = &h->writer->plan->loops[loop];
    for (int i = 0; i < body->item_count && !h->is_over; i++)
        play_item(h, body->first_item + (is_forward ? i : body->item_count - 1 - i), is_forward);
}

/* Between this round of the token's loop and the next. */
static void play_rounds(struct handover *h, int64_t round)
{
    const struct program_writer *w = h->writer;
    h->load_count = h->played = 0;
    h->is_over = false;
    memset(h->counts, 0, sizeof h->counts);
    keep(h, plan_enter(w->plan, w->env, h->token->level, round + 1, w->emit.error));
    play_body(h, h->token->level, true);
    if (h->is_needed || h->load_count == 0)
        return;
    h->is_over = false;
    memset(h->counts, 0, sizeof h->counts);
    keep(h, plan_enter(w->plan, w->env, h->token->level, round, w->emit.error));
    play_body(h, h->token->level, false);
    h->is_needed |= !h->is_over; /* nothing of the round orders them */
}

/* In first, second and last rounds of the loops around, between first, middle and last rounds. */
static void play_around(struct handover *h, int loop)
{
    const struct program_writer *w = h->writer;
    const struct kernel_plan *plan = w->plan;
    int next = h->token->level; /* on the way from `loop` to the token's */
    int64_t rounds = 0;
    bool last_differs;
    while (plan->loops[next].around != loop)
        next = plan->loops[next].around;
    keep(h, plan_rounds(plan, w->env, next, &rounds, &last_differs, w->emit.error));
    bool is_level = next == h->token->level;
    const int64_t picks[] = {0, 1, is_level ? rounds - 2 : rounds - 1};
    for (int i = 0; i < 3 && !h->is_needed; i++) {
        if (picks[i] < i || picks[i] >= rounds - is_level)
            continue;
        if (is_level) {
            play_rounds(h, picks[i]);
            continue;
        }
        keep(h, plan_enter(plan, w->env, next, picks[i], w->emit.error));
        play_around(h, next);
    }
}

/* ------------------------------------------------------------------ tokens */

static bool has_stages(const struct kernel_plan *plan, int loop)
{
    for (int inner = loop; inner < plan->loop_count; inner++)
        if (plan->loops[inner].last_stage > 0 && plan_is_within(plan, inner, loop))
            return true;
    return false;
}

static void find_helpers(struct handover *h)
{
    const struct program_writer *w = h->writer;
    for (int n = 0; n < w->flags->token_count && h->helper_count < MAX_HELPERS; n++) {
        const struct kernel_token *t = &w->flags->tokens[n];
        bool turns = !t->by_slot || t->level == w->plan->tiles[t->tile].life;
        if (t->from == h->token->from && t->to == h->token->to && t->distance > 0 && turns &&
            !t->is_optional && plan_is_within(w->plan, t->level, h->token->level))
            h->helpers[h->helper_count++] = n;
    }
}

static enum status is_needed(struct program_writer *writer, const struct kernel_token *token,
                             bool *needed)
{
    struct handover h = {.writer = writer, .token = token};
    *needed = true;
    if (has_stages(writer->plan, token->level))
        return STATUS_OK;
    find_helpers(&h);
    TRY(plan_enter(writer->plan, writer->env, 0, 0, writer->emit.error));
    play_around(&h, 0);
    *needed = h.is_needed;
    return h.status;
}

/* One further in does for those further out. */
static bool is_done_inside(const struct program_writer *writer, const struct kernel_token *token)
{
    for (int n = 0; n < writer->flags->token_count; n++) {
        const struct kernel_token *t = &writer->flags->tokens[n];
        if (t->is_optional && writer->is_on[n] && t->tile == token->tile &&
            t->from == token->from && t->to == token->to && t->level > token->level)
            return true;
    }
    return false;
}

enum status writer_find_handovers(struct program_writer *writer)
{
    const struct kernel_flags *flags = writer->flags;
    for (int n = 0; n < flags->token_count; n++)
        writer->is_on[n] = !flags->tokens[n].is_optional;
    for (int level = writer->plan->loop_count - 1; level > 0; level--)
        for (int n = 0; n < flags->token_count; n++)
            if (flags->tokens[n].is_optional && flags->tokens[n].level == level &&
                !is_done_inside(writer, &flags->tokens[n]))
                TRY(is_needed(writer, &flags->tokens[n], &writer->is_on[n]));
    return STATUS_OK;
}
