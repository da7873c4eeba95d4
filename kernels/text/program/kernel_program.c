/* Writing a core's program: a walk over the plan's loops. A stretch of rounds that are alike
 * becomes a loop; its body holds one round after the other until copies and registers have come
 * round, and what is left over stands behind it. */
#include "analysis/check/oversync.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_program_internal.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ flags */

static bool holds_in(const struct program_writer *w, uint64_t first, uint64_t last)
{
    const struct kernel_range *loops = w->env->values.loops;
    for (uint64_t rest = first; rest; rest &= rest - 1)
        if (!loops[__builtin_ctzll(rest)].is_first)
            return false;
    for (uint64_t rest = last; rest; rest &= rest - 1)
        if (!loops[__builtin_ctzll(rest)].is_last)
            return false;
    return true;
}

bool writer_holds(const struct program_writer *w, const struct flag_place *place)
{
    return holds_in(w, place->first, place->last);
}

static int register_of(struct program_writer *w, const struct kernel_token *token, uint8_t *turn)
{
    int at = *turn;
    if (token->by_slot) {
        int copies = token->count;
        at = (w->turns.lives[token->tile] - w->stages[w->plan->tiles[token->tile].life]) % copies;
        at = (at + copies) % copies;
    } else {
        *turn = (uint8_t)((at + 1) % token->count);
    }
    return token->first + at;
}

static void put_set(struct program_writer *w, int number)
{
    const struct kernel_token *t = &w->flags->tokens[number];
    if (w->is_on[number] && writer_holds(w, &t->set))
        emit_set(&w->emit, t->from, t->to, register_of(w, t, &w->turns.sets[number]));
}

static void put_wait(struct program_writer *w, int number)
{
    const struct kernel_token *t = &w->flags->tokens[number];
    if (w->is_on[number] && writer_holds(w, &t->wait))
        emit_wait(&w->emit, t->from, t->to, register_of(w, t, &w->turns.waits[number]));
}

/* Waits of an item; what paces a token is set as soon as that has been waited for. */
static void put_waits(struct program_writer *w, int item)
{
    for (int n = w->flags->waits[item]; n >= 0; n = w->flags->tokens[n].next_wait)
        put_wait(w, n);
    for (int n = w->flags->sets[item]; n >= 0; n = w->flags->tokens[n].next_set)
        if (w->flags->tokens[n].is_pace)
            put_set(w, n);
}

static void put_sets(struct program_writer *w, int item)
{
    for (int n = w->flags->sets[item]; n >= 0; n = w->flags->tokens[n].next_set)
        if (!w->flags->tokens[n].is_pace)
            put_set(w, n);
}

/* Registers that are free at first, and again at last; loops may share them. */
static void put_free(struct program_writer *w, void (*put)(struct emitter *, int, int, int))
{
    uint64_t done[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES] = {{0}};
    for (int n = 0; n < w->flags->token_count; n++) {
        const struct kernel_token *t = &w->flags->tokens[n];
        for (int r = t->first; w->is_on[n] && t->distance > 0 && r < t->first + t->count; r++) {
            if (!(done[t->from][t->to] >> r & 1))
                put(&w->emit, t->from, t->to, r);
            done[t->from][t->to] |= (uint64_t)1 << r;
        }
    }
}

/* ------------------------------------------------------------------ loops that are written */

static bool is_outer_name(const struct program_writer *w, const char *name)
{
    for (int depth = 0; depth < w->emit.depth; depth++) {
        int text_loop = w->plan->loops[w->rolled[depth].loop].text_loop;
        if (strncmp(w->plan->kernel->loops[text_loop].name.text, name, LOOP_NAME_SIZE - 1) == 0)
            return true;
    }
    return false;
}

static void open_loop(struct program_writer *w, int loop, int64_t rounds)
{
    int text_loop = w->plan->loops[loop].text_loop;
    const char *name = w->plan->kernel->loops[text_loop].name.text;
    char other[LOOP_NAME_SIZE];
    snprintf(other, sizeof other, "%.9s_%d", name, text_loop);
    w->rolled[w->emit.depth] = (struct rolled){loop, 0, rounds};
    emit_loop(&w->emit, is_outer_name(w, name) ? other : name, rounds);
}

/* The loop turns out to hold its body once: the line goes, and with it its index. */
static void unroll(struct program *program, int32_t at, int32_t first_region, int depth)
{
    program->count--;
    memmove(&program->items[at], &program->items[at + 1],
            (size_t)(program->count - at) * sizeof *program->items);
    for (int32_t i = at; i < program->count; i++)
        program->items[i].line = i + 1;
    for (int32_t r = first_region; r < program->region_count; r++) {
        int64_t *strides = program->regions[r].loop_stride_bytes;
        memmove(&strides[depth], &strides[depth + 1],
                (size_t)(PROGRAM_MAX_DEPTH - depth - 1) * sizeof *strides);
        strides[PROGRAM_MAX_DEPTH - 1] = 0;
    }
}

/* Its body holds `turn` rounds. */
static void close_loop(struct program_writer *w, int32_t at, int32_t first_region, int64_t rounds,
                       int64_t turn)
{
    struct program *program = w->emit.program;
    int depth = w->emit.depth - 1;
    program->items[at].count = rounds / turn;
    for (int32_t r = first_region; r < program->region_count; r++)
        program->regions[r].loop_stride_bytes[depth] *= turn;
    emit_end(&w->emit);
}

/* ------------------------------------------------------------------ the walk */

static void put_loop(struct program_writer *w, int loop);

static void put_item(struct program_writer *w, int item)
{
    const struct plan_item *i = &w->plan->items[item];
    put_waits(w, item);
    if (i->is_loop)
        put_loop(w, i->number);
    else
        writer_keep(w, writer_step(w, i->number));
    put_sets(w, item);
}

static void turn_lives(struct program_writer *w, int loop, int by)
{
    for (int t = 0; t < w->plan->kernel->tile_count; t++) {
        const struct plan_tile *tile = &w->plan->tiles[t];
        if (tile->is_there && tile->life == loop && tile->copies > 1)
            w->turns.lives[t] =
                (uint8_t)((w->turns.lives[t] + by + tile->copies * KERNEL_MAX_STAGE) %
                          tile->copies);
    }
}

/* Iteration n of a loop of T rounds: each item works on the round that its stage is behind. */
static void put_iteration(struct program_writer *w, int loop, int64_t n, int64_t rounds)
{
    const struct plan_loop *body = &w->plan->loops[loop];
    int64_t entered = -1;
    for (int i = body->first_item; i < body->first_item + body->item_count && writer_is_ok(w);
         i++) {
        int stage = w->plan->items[i].stage;
        if (n - stage < 0 || n - stage >= rounds)
            continue;
        if (entered != n - stage)
            writer_keep(w, plan_enter(w->plan, w->env, loop, n - stage, w->emit.error));
        entered = n - stage;
        w->stages[loop] = stage;
        if (w->emit.depth && w->rolled[w->emit.depth - 1].loop == loop)
            w->rolled[w->emit.depth - 1].length =
                w->env->values.loops[w->plan->loops[loop].text_loop].length;
        put_item(w, i);
    }
    w->stages[loop] = 0;
    turn_lives(w, loop, 1);
}

/* Iterations [from, from + count), which are alike. */
static void put_stretch(struct program_writer *w, int loop, int64_t from, int64_t count,
                        int64_t rounds)
{
    int64_t turn = 0;
    if (count > 1) {
        struct program *program = w->emit.program;
        struct turns before = w->turns;
        int32_t at = program->count, first_region = program->region_count;
        open_loop(w, loop, count);
        do {
            w->rolled[w->emit.depth - 1].rounds = count - turn;
            put_iteration(w, loop, from + turn++, rounds);
        } while (writer_is_ok(w) && turn < count && memcmp(&before, &w->turns, sizeof before) != 0);
        if (!writer_is_ok(w))
            return;
        if (count / turn >= 2) {
            close_loop(w, at, first_region, count, turn);
            turn *= count / turn;
        } else {
            unroll(program, at, first_region, --w->emit.depth);
        }
    }
    for (; turn < count && writer_is_ok(w); turn++)
        put_iteration(w, loop, from + turn, rounds);
}

/* Where iterations differ from those before them. */
enum { MAX_CUTS = 5 * (KERNEL_MAX_STAGE + 1) + 2 };

static int find_cuts(const struct program_writer *w, int loop, int64_t rounds, bool last_differs,
                     int64_t cuts[MAX_CUTS])
{
    const struct plan_loop *body = &w->plan->loops[loop];
    uint64_t bit = (uint64_t)1 << body->text_loop;
    int64_t end = rounds + body->last_stage, wanted[MAX_CUTS];
    int count = 0, kept = 0;
    for (int stage = 0; stage <= body->last_stage; stage++) {
        wanted[count++] = stage;
        wanted[count++] = stage + rounds;
        if (w->peel_first & bit)
            wanted[count++] = stage + 1;
        if (w->flags->ask_second & bit)
            wanted[count++] = stage + 2;
        if (w->peel_last & bit || last_differs)
            wanted[count++] = stage + rounds - 1;
    }
    for (int64_t at = 0;; at = cuts[kept - 1]) {
        int64_t next = kept ? end : 0;
        for (int i = 0; i < count && kept; i++)
            if (wanted[i] > at && wanted[i] < next)
                next = wanted[i];
        cuts[kept++] = next;
        if (next == end)
            return kept;
    }
}

/* What stands inside a loop without rounds, in its first and last ones, stands all the same; what
 * belongs to its rounds does not. */
static void put_flags(struct program_writer *w, int loop, int empty)
{
    const struct kernel_flags *flags = w->flags;
    const struct plan_loop *body = &w->plan->loops[loop];
    struct kernel_range *round = &w->env->values.loops[body->text_loop];
    round->is_first = round->is_last = true;
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        for (int n = flags->waits[i]; n >= 0; n = flags->tokens[n].next_wait)
            if (!plan_is_within(w->plan, flags->tokens[n].level, empty))
                put_wait(w, n);
        if (w->plan->items[i].is_loop)
            put_flags(w, w->plan->items[i].number, empty);
        for (int n = flags->sets[i]; n >= 0; n = flags->tokens[n].next_set)
            if (!plan_is_within(w->plan, flags->tokens[n].level, empty))
                put_set(w, n);
    }
}

static void put_loop(struct program_writer *w, int loop)
{
    const struct plan_loop *body = &w->plan->loops[loop];
    int64_t rounds = 0, cuts[MAX_CUTS];
    bool last_differs, is_out = w->flags->written_out >> body->text_loop & 1;
    writer_keep(w, plan_rounds(w->plan, w->env, loop, &rounds, &last_differs, w->emit.error));
    if (!writer_is_ok(w))
        return;
    if (rounds == 0) {
        put_flags(w, loop, loop);
        return;
    }
    int count = find_cuts(w, loop, rounds, last_differs, cuts);
    for (int c = 0; c + 1 < count && writer_is_ok(w); c++) {
        if (!is_out)
            put_stretch(w, loop, cuts[c], cuts[c + 1] - cuts[c], rounds);
        for (int64_t n = cuts[c]; is_out && n < cuts[c + 1] && writer_is_ok(w); n++)
            put_stretch(w, loop, n, 1, rounds);
    }
    if (body->last_stage)
        turn_lives(w, loop, -body->last_stage);
}

/* ------------------------------------------------------------------ all of it */

static void find_peels(struct program_writer *w)
{
    w->peel_first = w->flags->ask_first;
    w->peel_last = w->flags->ask_last;
    for (int t = 0; t < w->flags->token_count; t++)
        if (w->is_on[t]) {
            const struct kernel_token *token = &w->flags->tokens[t];
            w->peel_first |= token->set.first | token->wait.first;
            w->peel_last |= token->set.last | token->wait.last;
        }
}

enum { TIDY_MOST = 32768 }; /* instructions that a core runs */

/* Most flags that order nothing new hold nothing back, either: whoever shows the program removes
 * them. Those of tiles that share room stand in all rounds as soon as some need them, and may hold
 * back the others: without them it is the kernel's program, unless looking for them would take far
 * longer than playing it. */
static bool may_hold_back(const struct program_writer *w)
{
    bool shares_room = false;
    for (int t = 0; t < w->flags->token_count; t++)
        shares_room |= w->flags->tokens[t].tile < 0;
    return shares_room && w->emit.program->executed <= TIDY_MOST;
}

static enum status write_program(struct program_writer *w)
{
    TRY(plan_enter(w->plan, w->env, 0, 0, w->emit.error));
    TRY(writer_find_handovers(w));
    TRY(plan_enter(w->plan, w->env, 0, 0, w->emit.error));
    find_peels(w);
    put_free(w, emit_set);
    put_iteration(w, 0, 0, 1);
    put_free(w, emit_wait);
    TRY(emit_close(&w->emit));
    TRY(writer_drop_idle(w));
    return may_hold_back(w) ? program_tidy(w->emit.program, w->emit.stop, w->emit.error)
                            : STATUS_OK;
}

enum status kernel_program(const struct kernel_plan *plan, const struct kernel_flags *flags,
                           struct kernel_env *env, const struct kernel_room *room,
                           const struct stop *stop, struct program *program, struct error *error)
{
    struct program_writer w = {.emit = {.program = program, .error = error, .stop = stop},
                               .plan = plan,
                               .flags = flags,
                               .room = room,
                               .env = env};
    plan_deal_out(plan, env);
    enum status status = write_program(&w);
    env->values.dealt = 0;
    return status;
}
