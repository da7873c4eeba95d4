/* Happens-before (Lamport 1978) by vector clocks (Fidge 1988, Mattern 1989): a wait joins its set's
 * clock into its pipe's, a barrier joins those of all. Instructions are run as they are dispatched;
 * behind a wait without its set a pipe's instructions queue up, and drain as soon as that set has
 * run. Which of the possible orders this is does not matter to the clocks.
 *
 * Matching flags needs no search: the n-th wait of a register takes its n-th set, so counts say who
 * is matched, and a queue of the clocks of sets that still have a wait to come is all that is kept.
 * A double set is certain when the wait in between runs, or at once where there is none. Queues are
 * rings whose capacity is a power of two and doubles; they share one budget of memory. */
#include "analysis/check/order.h"

#include "analysis/check/check.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ queues */

enum { FIRST_CAPACITY = 4 };

static void *ring_place(const struct queue *queue, size_t position)
{
    /* Capacities are powers of two. */
    return queue->items + ((queue->head + position) & (queue->capacity - 1)) * queue->item_bytes;
}

static enum status grow_ring(struct queue *queue, int64_t *budget_bytes, struct error *error)
{
    size_t capacity = queue->capacity ? queue->capacity * 2 : FIRST_CAPACITY;
    int64_t more = (int64_t)((capacity - queue->capacity) * queue->item_bytes);
    if (more > *budget_bytes)
        return error_set(
            error, STATUS_TOO_LARGE,
            "the sets and instructions that wait for other pipes at one time take more "
            "than the %lld bytes allowed",
            CHECK_MAX_BYTES);
    unsigned char *items = malloc(capacity * queue->item_bytes);
    if (!items)
        return error_memory(error);
    size_t until_wrap = queue->capacity - queue->head;
    size_t straight = queue->count < until_wrap ? queue->count : until_wrap;
    if (queue->count) {
        memcpy(items, ring_place(queue, 0), straight * queue->item_bytes);
        memcpy(items + straight * queue->item_bytes, queue->items,
               (queue->count - straight) * queue->item_bytes);
    }
    free(queue->items);
    queue->items = items;
    queue->capacity = capacity;
    queue->head = 0;
    *budget_bytes -= more;
    return STATUS_OK;
}

/* Where to fill the item in: *item. Pointers to other items of the queue become invalid. */
static enum status queue_push(struct queue *queue, int64_t *budget_bytes, void **item,
                              struct error *error)
{
    if (queue->count == queue->capacity)
        TRY(grow_ring(queue, budget_bytes, error));
    *item = ring_place(queue, queue->count++);
    return STATUS_OK;
}

static void *queue_first(const struct queue *queue)
{
    return queue->count ? ring_place(queue, 0) : NULL;
}

static void *queue_last(const struct queue *queue)
{
    return queue->count ? ring_place(queue, queue->count - 1) : NULL;
}

static void *queue_item(const struct queue *queue, size_t n)
{
    return ring_place(queue, n);
}

/* The bytes of the item stay readable until the next push. */
static void queue_pop(struct queue *queue)
{
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
}

static void queue_clear(struct queue *queue)
{
    free(queue->items);
    queue->items = NULL;
    queue->capacity = queue->head = queue->count = 0;
}

/* ------------------------------------------------------------------ flags */

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

static struct flag_register *register_of(const struct flags *flags, const struct instruction *in)
{
    return &flags->registers[flags_index(flags, in)];
}

static enum status flags_init(struct flags *flags, const struct program *program,
                              const struct nest *nest, struct error *error)
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
            register_of(flags, in)->total_sets += nest->executed[i];
        else if (in->kind == INSTRUCTION_WAIT)
            register_of(flags, in)->total_waits += nest->executed[i];
    }
    return STATUS_OK;
}

static void flags_clear(struct flags *flags)
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

/* Would a wait of this register go on now? */
static bool flags_available(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = register_of(flags, in);
    return reg->sets > reg->waits;
}

/* Has the program no set for the next wait of this register? */
static bool flags_is_surplus(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = register_of(flags, in);
    return reg->waits == reg->total_sets;
}

/* Is this set, about to be the next one, known to come after the wait of the set before it? If
 * not: reported now when that wait has run or does not exist, else left with the pending set for
 * the wait to report. */
static void note_double_set(struct flag_register *reg, int32_t item, uint32_t seen_of_waiter,
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

static enum status flags_set(struct flags *flags, int32_t item, const uint32_t *clock,
                             int64_t *budget_bytes, struct double_set *twice, struct error *error)
{
    const struct instruction *in = &flags->program->items[item];
    struct flag_register *reg = register_of(flags, in);
    note_double_set(reg, item, clock[in->to], twice);
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

/* Consumes the oldest set: joins its clock into the waiting pipe's, and counts the wait as its next
 * event. */
static void flags_wait(struct flags *flags, int32_t item, uint32_t *clock, struct double_set *twice)
{
    const struct instruction *in = &flags->program->items[item];
    struct flag_register *reg = register_of(flags, in);
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

/* ------------------------------------------------------------------ order */

/* An instruction that stands in its pipe's queue, with the loop indices it was dispatched with. */
struct queued {
    int32_t item;
    int64_t index[PROGRAM_MAX_DEPTH];
    int64_t blocking; /* events of blocking pipes until then */
};

enum status order_init(struct order *order, const struct program *program, const struct nest *nest,
                       struct error *error)
{
    memset(order, 0, sizeof *order);
    order->program = program;
    order->nest = nest;
    order->budget_bytes = CHECK_MAX_BYTES;
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        order->queued[pipe].item_bytes = sizeof(struct queued);
    return flags_init(&order->flags, program, nest, error);
}

void order_clear(struct order *order)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        queue_clear(&order->queued[pipe]);
    flags_clear(&order->flags);
}

int32_t order_blocked(const struct order *order, int pipe)
{
    const struct queued *first = queue_first(&order->queued[pipe]);
    return first ? first->item : -1;
}

int32_t order_queued(const struct order *order, int pipe, size_t n, int64_t **index,
                     bool *overtaken)
{
    struct queued *queued = queue_item(&order->queued[pipe], n);
    *index = queued->index;
    *overtaken = queued->blocking != order->blocking;
    return queued->item;
}

void order_advance(struct order *order, int depth, int64_t iterations)
{
    order->index[depth] += iterations;
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        for (size_t n = 0; n < order->queued[pipe].count; n++) {
            struct queued *queued = queue_item(&order->queued[pipe], n);
            queued->index[depth] += iterations;
        }
}

static int pipe_count(const struct order *order)
{
    return order->program->hw->pipe_count;
}

static void join_clock(const struct order *order, uint32_t *clock, const uint32_t *other)
{
    for (int pipe = 0; pipe < pipe_count(order); pipe++)
        if (other[pipe] > clock[pipe])
            clock[pipe] = other[pipe];
}

/* Whatever is dispatched after an instruction of a blocking pipe happens after it. So does what
 * stands in queues now: it waits, directly or not, for a set that is still to be dispatched. */
static void publish_clock(struct order *order, int from)
{
    for (int pipe = 0; pipe < pipe_count(order); pipe++)
        join_clock(order, order->clock[pipe], order->clock[from]);
}

/* Plays one instruction that can run. */
static enum status run_instruction(struct order *order, int32_t item, const int64_t *index,
                                   struct event *event, struct error *error)
{
    const struct instruction *in = &order->program->items[item];
    uint32_t *clock = order->clock[in->pipe];
    enum status status = STATUS_OK;
    *event = (struct event){item, in->pipe, clock, index, false, {-1, -1, -1}};
    if (in->kind == INSTRUCTION_WAIT && flags_available(&order->flags, in)) {
        flags_wait(&order->flags, item, clock, &event->twice);
    } else {
        clock[in->pipe]++;
        if (in->kind == INSTRUCTION_SET) {
            status =
                flags_set(&order->flags, item, clock, &order->budget_bytes, &event->twice, error);
            order->ready |= order->queued[in->to].count ? 1u << in->to : 0;
        }
    }
    if (order->program->hw->pipes[in->pipe].blocks_dispatch) {
        publish_clock(order, in->pipe);
        order->blocking++;
    }
    return status;
}

static bool can_run(const struct order *order, int32_t item)
{
    const struct instruction *in = &order->program->items[item];
    return in->kind != INSTRUCTION_WAIT || flags_available(&order->flags, in) ||
           (order->lenient && flags_is_surplus(&order->flags, in));
}

/* Takes one step in the queue of a pipe that may have become free. */
static enum status drain_queue(struct order *order, struct event *event, struct error *error)
{
    int pipe = __builtin_ctz(order->ready);
    struct queue *queue = &order->queued[pipe];
    const struct queued *first = queue_first(queue);
    if (!first || !can_run(order, first->item)) {
        order->ready &= ~(1u << pipe);
        return STATUS_OK;
    }
    queue_pop(queue);
    bool overtaken = order->blocking != first->blocking;
    TRY(run_instruction(order, first->item, first->index, event, error));
    event->overtaken = overtaken;
    return STATUS_OK;
}

/* The instruction waits in its pipe's queue. On a blocking pipe nothing behind it is dispatched,
 * and everything dispatched already has run as far as it can: its set will never come. */
static enum status postpone(struct order *order, int32_t item, struct error *error)
{
    int pipe = order->program->items[item].pipe;
    void *place;
    TRY(queue_push(&order->queued[pipe], &order->budget_bytes, &place, error));
    struct queued *queued = place;
    queued->item = item;
    queued->blocking = order->blocking;
    memcpy(queued->index, order->index, sizeof queued->index);
    order->halted = order->program->hw->pipes[pipe].blocks_dispatch;
    return STATUS_OK;
}

/* A barrier over all: whoever is behind now is so for ever, since nothing passes the barrier. */
static void pass_barrier(struct order *order)
{
    uint32_t all[HARDWARE_MAX_PIPES] = {0};
    for (int pipe = 0; pipe < pipe_count(order); pipe++) {
        order->halted |= order->queued[pipe].count > 0;
        join_clock(order, all, order->clock[pipe]);
    }
    for (int pipe = 0; pipe < pipe_count(order); pipe++)
        memcpy(order->clock[pipe], all, sizeof all);
}

static void enter_loop(struct order *order, const struct instruction *loop)
{
    if (order->nest->executed[order->next] == 0) {
        order->next = loop->partner + 1;
        return;
    }
    order->index[order->depth++] = 0;
    order->next++;
}

static void end_loop(struct order *order, const struct instruction *end)
{
    if (++order->index[order->depth - 1] < order->program->items[end->partner].count) {
        order->next = end->partner + 1;
        if (order->back)
            order->back(order->back_context, end->partner, order->depth - 1);
        return;
    }
    order->index[--order->depth] = 0;
    order->next++;
}

static enum status dispatch_next(struct order *order, struct event *event, struct error *error)
{
    const struct instruction *in = &order->program->items[order->next];
    int32_t item = order->next;
    if (in->kind == INSTRUCTION_LOOP) {
        enter_loop(order, in);
        return STATUS_OK;
    }
    if (in->kind == INSTRUCTION_END) {
        end_loop(order, in);
        return STATUS_OK;
    }
    order->next++;
    if (in->kind == INSTRUCTION_BARRIER) {
        if (in->pipe == PROGRAM_PIPE_ALL)
            pass_barrier(order);
        if (in->pipe == PROGRAM_PIPE_ALL && !order->halted)
            *event = (struct event){item, PROGRAM_PIPE_ALL, NULL, NULL, false, {-1, -1, -1}};
        return STATUS_OK;
    }
    if (order->queued[in->pipe].count || !can_run(order, item))
        return postpone(order, item, error);
    return run_instruction(order, item, order->index, event, error);
}

enum status order_next(struct order *order, struct event *event, struct error *error)
{
    event->item = -1;
    while (event->item < 0) {
        if (order->ready)
            TRY(drain_queue(order, event, error));
        else if (!order->halted && order->next < order->program->count)
            TRY(dispatch_next(order, event, error));
        else
            break;
    }
    return STATUS_OK;
}
