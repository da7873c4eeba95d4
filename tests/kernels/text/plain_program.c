/* Does a program do what the plain evaluator's steps do? It is executed in its own order. What a
 * pipe runs has to be that pipe's next step, flags and loops aside. Elements are moved by the
 * program's addresses: every byte of every buffer remembers which element of which round of a tile
 * lies there, so that an operand that reads another tile's element, another round's, or the right
 * ones in another order is seen, wherever the program put its tiles. */
#include "core/program_text.h"
#include "tests/kernels/text/plain_kernel.h"

#include <stdlib.h>
#include <string.h>

struct tag {
    int32_t life, element; /* + 1; 0: nothing was written here */
};

struct memory {
    struct tag *tags;
    int64_t size;
};

struct play {
    struct plain *plain;
    const struct program *program;
    char *why;
    int next[HARDWARE_MAX_PIPES];      /* the first event that may still be to come */
    int64_t begun[HARDWARE_MAX_PIPES]; /* bytes of it that have been loaded, where that is in two */
    int64_t index[PROGRAM_MAX_DEPTH];
    struct memory memories[HARDWARE_MAX_BUFFERS];
};

static bool differ(struct play *play, int32_t item, const struct plain_event *event,
                   const char *what)
{
    char line[256];
    instruction_print(play->program, item, line, sizeof line);
    snprintf(play->why, PLAIN_TEXT_SIZE, "instruction %d, %.120s: %s, expected step %d, line %d",
             item + 1, line, what, event ? (int)(event - play->plain->events) : -1,
             event ? play->plain->text->lines[event->line].at.line : -1);
    return false;
}

/* ------------------------------------------------------------------ bytes */

/* An operand at work. */
struct operand {
    struct play *play;
    int32_t item;
    const struct plain_event *event;
    const struct plain_use *use;
    const struct region *region;
    int depth;
    int64_t skipped; /* bytes of the part before the region, of a load in two */
};

/* The tag of the n-th byte, NULL: no address. */
static struct tag *tag_of(const struct operand *operand, int64_t n)
{
    const struct region *region = operand->region;
    struct memory *memory = &operand->play->memories[region->buffer];
    int64_t row = region->bytes / region->rows, piece = row / region->pieces;
    int64_t at = region->offset_bytes + n / row * region->row_stride_bytes +
                 n % row / piece * region->piece_stride_bytes + n % piece;
    for (int d = 0; d < operand->depth; d++)
        at += operand->play->index[d] * region->loop_stride_bytes[d];
    if (at < 0 || at > (int64_t)1 << 26)
        return NULL;
    if (at >= memory->size) {
        int64_t size = at * 2 + 4096;
        memory->tags = realloc(memory->tags, (size_t)size * sizeof *memory->tags);
        memset(memory->tags + memory->size, 0,
               (size_t)(size - memory->size) * sizeof *memory->tags);
        memory->size = size;
    }
    return &memory->tags[at];
}

/* As what of the operand the instruction takes the part's n-th element: products take whole blocks,
 * moves with their bytes what rows have room for, too. */
static int64_t place_of(const struct operand *operand, int64_t n)
{
    const struct plain_use *use = operand->use;
    const struct plain *plain = operand->play->plain;
    const struct instruction *in = &operand->event->in;
    int64_t columns = use->extent[use->dim_count - 1], place = 0, rest = use->count;
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(plain->hw, in->type);
        int unit = operand->region->role == OPERAND_A ? type->block_k : type->block_n;
        return n / columns * ((columns + unit - 1) / unit * unit) + n % columns;
    }
    int64_t elements = operand->region->bytes / dtype_bytes(plain->tiles[use->tile].type);
    if (in->kind != INSTRUCTION_MOVE || elements != use->room_count)
        return n;
    for (int d = 0; d < use->dim_count; d++) {
        rest /= use->extent[d];
        place = place * use->room[d] + n / rest;
        n %= rest;
    }
    return place;
}

/* Of each element that the instruction takes: is its tag `mine`? Or make it so. */
static bool visit(const struct operand *operand, bool writes)
{
    const struct plain *plain = operand->play->plain;
    int size = dtype_bytes(plain->tiles[operand->use->tile].type);
    for (int64_t n = 0; n < operand->use->count; n++) {
        int64_t at = place_of(operand, n) * size - operand->skipped;
        struct tag mine = {operand->use->life + 1, plain->elements[operand->use->first + n] + 1};
        for (int64_t b = at; b < at + size && b < operand->region->bytes; b++) {
            if (b < 0)
                continue;
            struct tag *tag = tag_of(operand, b);
            if (!tag)
                return differ(operand->play, operand->item, operand->event, "an address");
            if (writes)
                *tag = mine;
            else if (tag->life != mine.life || tag->element != mine.element)
                return differ(operand->play, operand->item, operand->event,
                              "reads another element than its step");
        }
    }
    return true;
}

/* What it writes beside its elements is nothing that may be read. */
static bool write(const struct operand *operand)
{
    for (int64_t n = 0; n < operand->region->bytes; n++) {
        struct tag *tag = tag_of(operand, n);
        if (!tag)
            return differ(operand->play, operand->item, operand->event, "an address");
        *tag = (struct tag){0, 0};
    }
    return visit(operand, true);
}

/* ------------------------------------------------------------------ instructions */

static const struct region *region_of(const struct program *program, const struct instruction *in,
                                      int use)
{
    static const int others[OPERAND_ROLES] = {[OPERAND_SRC] = 1, [OPERAND_SRC2] = 2};
    static const int products[OPERAND_ROLES] = {
        [OPERAND_A] = 1, [OPERAND_B] = 2, [OPERAND_SRC] = 3};
    const int *uses = in->kind == INSTRUCTION_MATRIX ? products : others;
    for (int r = 0; r < in->region_count; r++)
        if (uses[program->regions[in->first_region + r].role] == use)
            return &program->regions[in->first_region + r];
    return NULL;
}

/* Only of scratch in external memory, of time alone, of a spread's source, and of a row that sums
 * have begun with nothing is said. */
static bool may_be_left_out(const struct plain *plain, const struct plain_event *event,
                            const struct plain_use *use)
{
    return use->tile < 0 || !plain->hw->buffers[plain->tiles[use->tile].buffer].capacity_bytes ||
           event->in.kind == INSTRUCTION_SCALAR || event->uses[1].tile < 0 ||
           (event->in.accumulate && use == &event->uses[3]) || event->uses[1].count == 1;
}

static bool do_operands(struct play *play, int32_t item, const struct plain_event *event, int depth,
                        int64_t begun)
{
    const struct instruction *in = &play->program->items[item];
    int64_t skipped = begun ? begun / dtype_bytes(in->type) * dtype_bytes(in->to_type) : 0;
    for (int u = event->use_count - 1; u >= 0; u--) { /* sources first */
        struct operand operand = {
            play,  item,           event, &event->uses[u], region_of(play->program, in, u),
            depth, u ? 0 : skipped};
        if (!operand.region && !may_be_left_out(play->plain, event, operand.use))
            return differ(play, item, event, "an operand is missing");
        if (!operand.region || operand.use->tile < 0)
            continue;
        if (operand.region->buffer != play->plain->tiles[operand.use->tile].buffer)
            return differ(play, item, event, "another buffer");
        if ((u || in->accumulate) && !visit(&operand, false))
            return false;
        if (!u && !write(&operand))
            return false;
    }
    return true;
}

static bool is_same(const struct instruction *in, const struct instruction *expected)
{
    struct instruction a = *in, b = *expected;
    a.line = b.line;
    a.first_region = b.first_region;
    a.region_count = b.region_count;
    a.partner = b.partner;
    if (a.kind == INSTRUCTION_SCALAR)
        a.operand_bytes = b.operand_bytes;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Does it, or does it do a share of it, from behind the cache perhaps? What its pieces are known to
 * begin at multiples of may be less than they do. */
static bool is_share(const struct plain *plain, const struct instruction *found,
                     const struct plain_event *event)
{
    const struct hardware *hw = plain->hw;
    const struct instruction *expected = &event->in;
    struct instruction moved = *found;
    const struct instruction *in = &moved;
    if (event->has_starts && found->bursts > 1 && found->align_bytes > 0 &&
        expected->align_bytes % found->align_bytes == 0) {
        moved.align_bytes = expected->align_bytes;
        moved.burst_fs = expected->burst_fs;
    }
    if (in->kind != INSTRUCTION_MOVE || expected->kind != INSTRUCTION_MOVE || hw->cache.behind < 0)
        return is_same(in, expected);
    const struct path *path = &hw->paths[in->what], *other = &hw->paths[expected->what];
    bool misses = path->source == hw->cache.behind || path->destination == hw->cache.behind;
    int source = misses && path->source == hw->cache.behind ? hw->cache.buffer : path->source;
    int destination =
        misses && path->destination == hw->cache.behind ? hw->cache.buffer : path->destination;
    struct instruction a = *in;
    a.what = expected->what;
    a.price = expected->price;
    a.units = expected->units;
    a.paid_units = expected->paid_units;
    a.bytes = expected->bytes;
    a.bursts = expected->bursts;
    a.align_bytes = expected->align_bytes;
    a.burst_fs = expected->burst_fs;
    return source == other->source && destination == other->destination && is_same(&a, expected);
}

static bool do_instruction(struct play *play, int32_t item, int depth)
{
    const struct instruction *in = &play->program->items[item];
    struct plain *plain = play->plain;
    int *next = &play->next[in->pipe];
    while (*next < plain->event_count && plain->events[*next].in.pipe != in->pipe)
        ++*next;
    if (*next == plain->event_count)
        return differ(play, item, NULL, "one too many on its pipe");
    const struct plain_event *event = &plain->events[*next];
    int64_t *begun = &play->begun[in->pipe], before = *begun;
    if (!is_share(plain, in, event))
        return differ(play, item, event, "another instruction");
    if (in->kind == INSTRUCTION_MOVE && (*begun += in->bytes) > event->in.bytes)
        return differ(play, item, event, "more bytes");
    *next += in->kind != INSTRUCTION_MOVE || *begun == event->in.bytes;
    *begun = in->kind == INSTRUCTION_MOVE && *begun < event->in.bytes ? *begun : 0;
    return do_operands(play, item, event, depth, before);
}

static bool run(struct play *play, int32_t first, int32_t end, int depth)
{
    for (int32_t i = first; i < end; i++) {
        const struct instruction *in = &play->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (int64_t n = 0; n < in->count; n++) {
                play->index[depth] = n;
                if (!run(play, i + 1, in->partner, depth + 1))
                    return false;
            }
            i = in->partner;
        } else if (in->kind <= INSTRUCTION_SCALAR && !do_instruction(play, i, depth)) {
            return false;
        }
    }
    return true;
}

static bool is_done(struct play *play)
{
    for (int e = 0; e < play->plain->event_count; e++)
        if (e >= play->next[play->plain->events[e].in.pipe]) {
            snprintf(play->why, PLAIN_TEXT_SIZE, "step %d, line %d, is missing", e,
                     play->plain->text->lines[play->plain->events[e].line].at.line);
            return false;
        }
    return true;
}

bool plain_play(struct plain *plain, const struct program *program, char why[PLAIN_TEXT_SIZE])
{
    struct play play = {.plain = plain, .program = program, .why = why};
    bool same = run(&play, 0, program->count, 0) && is_done(&play);
    for (int b = 0; b < HARDWARE_MAX_BUFFERS; b++)
        free(play.memories[b].tags);
    return same;
}

double plain_least_fs(const struct plain *plain, int cores)
{
    double busy[HARDWARE_MAX_PIPES] = {0}, most = 0;
    for (int e = 0; e < plain->event_count; e++) {
        struct instruction in = plain->events[e].in;
        in.burst_fs = plain->events[e].has_starts ? 0 : in.burst_fs;
        busy[in.pipe] += (double)instruction_alone_fs(plain->hw, &in, cores);
    }
    for (int p = 0; p < plain->hw->pipe_count; p++)
        most = busy[p] > most ? busy[p] : most;
    return most;
}
