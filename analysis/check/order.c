/* Happens-before (Lamport 1978) by vector clocks (Fidge 1988, Mattern 1989): a wait joins its set's
 * clock into its pipe's, a barrier joins those of all. Instructions are run as they are dispatched;
 * behind a wait without its set a pipe's instructions queue up, and drain as soon as that set has
 * run. Which of the possible orders this is does not matter to the clocks. */
#include "analysis/check/order.h"

#include "analysis/check/check.h"

#include <string.h>

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

static void join(const struct order *order, uint32_t *clock, const uint32_t *other)
{
    for (int pipe = 0; pipe < pipe_count(order); pipe++)
        if (other[pipe] > clock[pipe])
            clock[pipe] = other[pipe];
}

/* Whatever is dispatched after an instruction of a blocking pipe happens after it. So does what
 * stands in queues now: it waits, directly or not, for a set that is still to be dispatched. */
static void publish(struct order *order, int from)
{
    for (int pipe = 0; pipe < pipe_count(order); pipe++)
        join(order, order->clock[pipe], order->clock[from]);
}

/* Plays one instruction that can run. */
static enum status run(struct order *order, int32_t item, const int64_t *index, struct event *event,
                       struct error *error)
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
        publish(order, in->pipe);
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
static enum status drain(struct order *order, struct event *event, struct error *error)
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
    TRY(run(order, first->item, first->index, event, error));
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
static void barrier(struct order *order)
{
    uint32_t all[HARDWARE_MAX_PIPES] = {0};
    for (int pipe = 0; pipe < pipe_count(order); pipe++) {
        order->halted |= order->queued[pipe].count > 0;
        join(order, all, order->clock[pipe]);
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

static enum status dispatch(struct order *order, struct event *event, struct error *error)
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
            barrier(order);
        if (in->pipe == PROGRAM_PIPE_ALL && !order->halted)
            *event = (struct event){item, PROGRAM_PIPE_ALL, NULL, NULL, false, {-1, -1, -1}};
        return STATUS_OK;
    }
    if (order->queued[in->pipe].count || !can_run(order, item))
        return postpone(order, item, error);
    return run(order, item, order->index, event, error);
}

enum status order_next(struct order *order, struct event *event, struct error *error)
{
    event->item = -1;
    while (event->item < 0) {
        if (order->ready)
            TRY(drain(order, event, error));
        else if (!order->halted && order->next < order->program->count)
            TRY(dispatch(order, event, error));
        else
            break;
    }
    return STATUS_OK;
}
