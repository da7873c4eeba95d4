/* AIS, adjust the instruction sequence: a transfer goes ahead of instructions and loops of other
 * pipes that stand before it, so that it is dispatched earlier and no scalar instruction holds it
 * up.
 *
 * It stays in its block, and behind what its own pipe does before it. It computes the same where no
 * instruction that it passes conflicts with it unordered: flags and barriers that stay behind it
 * order less, and a conflict that they ordered shows as a hazard, which is refused. */
#include "analysis/advice/advice_table.h"

/* The lines that go together: a transfer, and the flags of its pipe right around it. */
struct group {
    int32_t first, count;
    int pipe;
};

static bool is_on(const struct edit *edit, int32_t at, int pipe)
{
    const struct instruction *in = &edit->lines[at].in;
    return in->kind <= INSTRUCTION_WAIT && in->pipe == pipe;
}

static struct group find_group(const struct edit *edit, int32_t at, bool with_flags)
{
    struct group group = {at, 1, edit->lines[at].in.pipe};
    while (with_flags && group.first > 0 &&
           edit->lines[group.first - 1].in.kind == INSTRUCTION_WAIT &&
           is_on(edit, group.first - 1, group.pipe)) {
        group.first--;
        group.count++;
    }
    while (with_flags && group.first + group.count < edit->count &&
           edit->lines[group.first + group.count].in.kind == INSTRUCTION_SET &&
           is_on(edit, group.first + group.count, group.pipe))
        group.count++;
    return group;
}

/* The loop that ends before line `at`; does the pipe do anything in it? */
static int32_t pass_loop(const struct edit *edit, int32_t at, int pipe, bool *passes)
{
    int32_t loop = at - 1;
    int depth = 0;
    *passes = true;
    do {
        depth += edit->lines[loop].in.kind == INSTRUCTION_END;
        depth -= edit->lines[loop].in.kind == INSTRUCTION_LOOP;
        *passes &= !is_on(edit, loop, pipe);
    } while (depth > 0 && loop-- > 0);
    return loop;
}

/* The first line to which the group can go: behind the last work of its pipe, within its block. */
static int32_t earliest(const struct edit *edit, const struct group *group)
{
    int32_t to = group->first;
    bool passes = true;
    while (to > 0 && edit->lines[to - 1].in.kind != INSTRUCTION_LOOP &&
           !is_on(edit, to - 1, group->pipe)) {
        int32_t next = to - 1;
        if (edit->lines[next].in.kind == INSTRUCTION_END)
            next = pass_loop(edit, to, group->pipe, &passes);
        if (!passes)
            break;
        to = next;
    }
    return to;
}

static bool bring_forward(struct edit *edit, int32_t at, bool with_flags)
{
    struct group group = find_group(edit, at, with_flags);
    int32_t to = earliest(edit, &group);
    if (to < group.first)
        edit_move(edit, group.first, group.count, to);
    return to < group.first;
}

static bool with_its_flags(struct edit *edit, int32_t at)
{
    return bring_forward(edit, at, true);
}

static bool alone(struct edit *edit, int32_t at)
{
    return bring_forward(edit, at, false);
}

enum status advice_ais(struct trial *trial, struct error *error)
{
    return trial_moves(trial, with_its_flags, alone, error);
}
