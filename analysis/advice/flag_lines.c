/* Places of flags are kept as numbers of the lines that are left, which do not move until all flags
 * are put in, from the last place on. A register is chosen greedily: a free one of that pair of
 * pipes, and of those the one that stood at most of the same places before, so that little changes
 * in the text. */
#include "analysis/advice/flag_lines.h"

#include <stdlib.h>

void flag_lines_take_out(struct flag_lines *flags, struct edit *edit)
{
    int32_t kept = 0;
    *flags = (struct flag_lines){.count = 0};
    for (int32_t i = 0; i < edit->count; i++) {
        const struct instruction *in = &edit->lines[i].in;
        bool flag = in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT;
        if (flag && flags->former_count < FLAG_LINES_MAX)
            flags->formers[flags->former_count++] = (struct flag_line){
                kept, in->line, in->kind == INSTRUCTION_WAIT, in->from, in->to, in->flag};
        if (!flag && in->kind != INSTRUCTION_BARRIER)
            edit->lines[kept++] = edit->lines[i];
    }
    edit->count = kept;
}

/* At how many of the order's places did this register stand? */
static int places_of(const struct flag_lines *flags, const struct flag_order *order, int number)
{
    int places = 0;
    for (int f = 0; f < flags->former_count; f++) {
        const struct flag_line *former = &flags->formers[f];
        int32_t at = former->wait ? order->wait_before : order->set_behind + 1;
        places += former->from == order->from && former->to == order->to &&
                  former->number == number && former->at == at;
    }
    return places;
}

static int choose_register(const struct flag_lines *flags, const struct hardware *hw,
                           const struct flag_order *order)
{
    int chosen = -1, most = -1;
    uint64_t used = 0;
    for (int from = 0; from < hw->pipe_count; from++)
        for (int to = 0; to < hw->pipe_count; to++)
            used |= hardware_flags_shared(hw, order->from, order->to, from, to)
                        ? flags->used[from][to]
                        : 0;
    for (int number = 0; number < hardware_flags(hw, order->from, order->to); number++) {
        int places = places_of(flags, order, number);
        if (!(used >> number & 1) && places > most) {
            chosen = number;
            most = places;
        }
    }
    return chosen;
}

bool flag_lines_add(struct flag_lines *flags, const struct edit *edit,
                    const struct flag_order *order)
{
    int number = choose_register(flags, edit->hw, order);
    int32_t places[] = {order->set_behind + 1, order->wait_before, 0, edit->count};
    if (number < 0 || flags->count + 4 > FLAG_LINES_MAX)
        return false;
    flags->used[order->from][order->to] |= 1ULL << number;
    for (int p = 0; p < (order->carried ? 4 : 2); p++) {
        int32_t near = places[p] < edit->count ? places[p] : edit->count - 1;
        flags->items[flags->count++] =
            (struct flag_line){places[p],           edit->lines[near].in.line, p % 2 == 1,
                               (int8_t)order->from, (int8_t)order->to,         (uint8_t)number};
    }
    return true;
}

/* Later lines first, so that places stay right; at one place the waits are put in first, and end
 * up behind the sets. */
static int compare(const void *one, const void *other)
{
    const struct flag_line *a = one, *b = other;
    if (a->at != b->at)
        return a->at > b->at ? -1 : 1;
    if (a->wait != b->wait)
        return a->wait ? -1 : 1;
    if (a->from != b->from)
        return a->from > b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to > b->to ? -1 : 1;
    return a->number > b->number ? -1 : 1;
}

void flag_lines_put_in(struct flag_lines *flags, struct edit *edit)
{
    qsort(flags->items, (size_t)flags->count, sizeof *flags->items, compare);
    for (int f = 0; f < flags->count; f++) {
        const struct flag_line *flag = &flags->items[f];
        struct edit_line line = {.in = {.kind = flag->wait ? INSTRUCTION_WAIT : INSTRUCTION_SET,
                                        .from = flag->from,
                                        .to = flag->to,
                                        .flag = flag->number,
                                        .line = flag->line}};
        edit_insert(edit, flag->at, &line);
    }
}
