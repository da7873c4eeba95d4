/* Matching needs no search: the n-th wait of a register takes its n-th set, so counts say who is
 * matched, and a queue of the clocks of sets that still have a wait to come is all that is kept. A
 * double set is certain when the wait in between runs, or at once where there is none. */
#include "analysis/check/flags.h"

#include <stdlib.h>
#include <string.h>

struct pending_set {
    int32_t item;
    int32_t set_again; /* the set that came too early after this one, or -1 */
    uint32_t clock[];  /* per pipe */
};

size_t flags_count(const struct flags *flags)
{
    return (size_t)flags->pipes * (size_t)flags->pipes * (size_t)flags->per_pair;
}

size_t flags_index(const struct flags *flags, const struct instruction *in)
{
    return ((size_t)in->from * (size_t)flags->pipes + (size_t)in->to) * (size_t)flags->per_pair +
           (size_t)in->flag;
}

static struct flag_register *find(const struct flags *flags, const struct instruction *in)
{
    return &flags->registers[flags_index(flags, in)];
}

enum status flags_init(struct flags *flags, const struct program *program, const struct nest *nest,
                       struct error *error)
{
    flags->program = program;
    flags->pipes = program->hw->pipe_count;
    flags->per_pair = hardware_most_flags(program->hw);
    flags->registers = calloc(flags_count(flags) + 1, sizeof *flags->registers);
    if (!flags->registers)
        return error_memory(error);
    for (size_t i = 0; i < flags_count(flags); i++)
        flags->registers[i].pending.item_bytes =
            sizeof(struct pending_set) + (size_t)flags->pipes * sizeof(uint32_t);
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_SET)
            find(flags, in)->total_sets += nest->executed[i];
        else if (in->kind == INSTRUCTION_WAIT)
            find(flags, in)->total_waits += nest->executed[i];
    }
    return STATUS_OK;
}

void flags_clear(struct flags *flags)
{
    for (size_t i = 0; flags->registers && i < flags_count(flags); i++)
        queue_clear(&flags->registers[i].pending);
    free(flags->registers);
    flags->registers = NULL;
}

struct pending_view flags_pending(const struct flag_register *reg, size_t n)
{
    const struct pending_set *set = queue_item(&reg->pending, n);
    return (struct pending_view){set->item, set->set_again, set->clock};
}

bool flags_available(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = find(flags, in);
    return reg->sets > reg->waits;
}

bool flags_is_surplus(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = find(flags, in);
    return reg->waits == reg->total_sets;
}

bool flags_finished(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = find(flags, in);
    int64_t matched = reg->total_sets < reg->total_waits ? reg->total_sets : reg->total_waits;
    return reg->sets == reg->total_sets && reg->waits == matched;
}

/* Is this set, about to be the next one, known to come after the wait of the set before it? If
 * not: reported now when that wait has run or does not exist, else left with the pending set for
 * the wait to report. */
static void check_double(struct flag_register *reg, int32_t item, uint32_t seen_of_waiter,
                         struct double_set *twice)
{
    if (reg->sets == 0)
        return;
    bool waited = reg->waits == reg->sets;
    if (waited && seen_of_waiter >= reg->wait_number)
        return;
    if (!waited && reg->sets <= reg->total_waits) {
        struct pending_set *before = queue_last(&reg->pending);
        before->set_again = item;
        return;
    }
    *twice = (struct double_set){item, reg->set_item, waited ? reg->wait_item : -1};
}

enum status flags_set(struct flags *flags, int32_t item, const uint32_t *clock,
                      int64_t *budget_bytes, struct double_set *twice, struct error *error)
{
    const struct instruction *in = &flags->program->items[item];
    struct flag_register *reg = find(flags, in);
    check_double(reg, item, clock[in->to], twice);
    reg->sets++;
    reg->set_item = item;
    if (reg->sets > reg->total_waits)
        return STATUS_OK; /* nobody will fetch it */
    void *place;
    TRY(queue_push(&reg->pending, budget_bytes, &place, error));
    struct pending_set *set = place;
    set->item = item;
    set->set_again = -1;
    memcpy(set->clock, clock, (size_t)flags->pipes * sizeof *clock);
    return STATUS_OK;
}

void flags_wait(struct flags *flags, int32_t item, uint32_t *clock, struct double_set *twice)
{
    const struct instruction *in = &flags->program->items[item];
    struct flag_register *reg = find(flags, in);
    const struct pending_set *set = queue_first(&reg->pending);
    for (int pipe = 0; pipe < flags->pipes; pipe++)
        if (set->clock[pipe] > clock[pipe])
            clock[pipe] = set->clock[pipe];
    reg->wait_number = ++clock[in->to];
    reg->wait_item = item;
    reg->waits++;
    if (set->set_again >= 0)
        *twice = (struct double_set){set->set_again, set->item, item};
    queue_pop(&reg->pending);
}

bool flags_leftover(const struct flag_register *reg, size_t n, struct double_set *twice)
{
    const struct pending_set *set = queue_item(&reg->pending, n);
    *twice = (struct double_set){set->set_again, set->item, -1};
    return set->set_again >= 0;
}

/* Backwards through the text, knowing for each line how many sets (or waits) of the register come
 * after its last run: those with fewer than the surplus are surplus themselves. */
int flags_surplus(const struct flags *flags, const struct nest *nest, size_t index, int32_t *items,
                  int max_items)
{
    const struct program *program = flags->program;
    const struct flag_register *reg = &flags->registers[index];
    int64_t surplus = reg->total_sets - reg->total_waits;
    enum instruction_kind kind = surplus > 0 ? INSTRUCTION_SET : INSTRUCTION_WAIT;
    surplus = surplus > 0 ? surplus : -surplus;

    int64_t after = 0, outside[PROGRAM_MAX_DEPTH] = {0};
    int count = 0, depth = 0;
    for (int32_t i = program->count - 1; i >= 0 && after < surplus && count < max_items; i--) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_END) {
            if (nest->executed[i] == 0)
                i = in->partner;
            else
                outside[depth++] = after;
        } else if (in->kind == INSTRUCTION_LOOP) {
            int64_t before = outside[--depth];
            after = before + (after - before) * in->count;
        } else if (in->kind == kind && flags_index(flags, in) == index) {
            items[count++] = i;
            after++;
        }
    }
    return count;
}
