/* Shapes of tiles in a round of their life, and which elements a part of a tile or tensor picks. */
#include "tests/kernels/text/plain_kernel.h"

#include <assert.h>

/* Loops inside the life as what all their rounds make, outermost first. */
static bool widen(struct plain *plain, int line, int life, struct kernel_range saved[])
{
    int loops[KERNEL_MAX_DEPTH], count = 0;
    for (int n = 0, loop; (loop = plain_around(plain, line, n)) >= 0 && loop != life; n++)
        loops[count++] = loop;
    for (int n = 0; n < plain->text->loop_count; n++)
        saved[n] = plain->values.loops[n];
    while (count-- > 0) {
        struct kernel_range range;
        struct error error;
        if (kernel_loop_range(&plain->values, loops[count], &range, &error) != STATUS_OK)
            return plain_fail(plain, PLAIN_WRONG, line, "%s", error.text);
        plain->values.loops[loops[count]] = range;
    }
    return true;
}

static int64_t begin_of(const struct plain *plain, const struct expression *e)
{
    if (e->op == EXPRESSION_SIZE)
        return plain->values.sizes[e->number].begin;
    if (e->op == EXPRESSION_LOOP)
        return plain->values.loops[e->number].begin;
    return e->op == EXPRESSION_LET && plain->values.is_shared[e->number]
               ? plain->values.lets[e->number].begin
               : 0;
}

static bool shape(struct plain *plain, int number, struct plain_life *life)
{
    const struct kernel_tile *from = &plain->text->tiles[number];
    struct plain_tile *tile = &plain->tiles[number];
    int64_t room = dtype_bytes(tile->type);
    life->elements = 1;
    for (int d = 0; d < from->dim_count; d++) {
        const struct expression *held = tile->rooms[d];
        if (held->op == EXPRESSION_UP)
            held = held->args;
        if (!plain_number(plain, from->line, held, &life->extent[d]) ||
            !plain_number(plain, from->line, tile->rooms[d], &life->room[d]))
            return false;
        if (life->extent[d] < 1 || life->room[d] < life->extent[d])
            return plain_fail(plain, PLAIN_WRONG, from->line, "an extent of %lld",
                              (long long)life->extent[d]);
        life->begin[d] = begin_of(plain, tile->dims[d]);
        if (__builtin_mul_overflow(room, life->room[d], &room) || room > (int64_t)1 << 40)
            return plain_fail(plain, PLAIN_TOO_LONG, from->line, "a large tile");
        life->elements *= life->extent[d];
    }
    int64_t unit = plain->hw->buffers[tile->buffer].alignment_bytes;
    room = unit ? (room + unit - 1) / unit * unit : room;
    tile->slot_bytes = room > tile->slot_bytes ? room : tile->slot_bytes;
    return true;
}

static bool begin_life(struct plain *plain, int tile)
{
    struct kernel_range saved[KERNEL_MAX_LOOPS];
    if (plain->life_count == PLAIN_MAX_LIVES)
        return plain_fail(plain, PLAIN_TOO_LONG, 0, "many lives");
    struct plain_life *life = &plain->lives[plain->life_count];
    life->tile = tile;
    bool fine = widen(plain, plain->text->tiles[tile].line, plain->tiles[tile].loop, saved) &&
                shape(plain, tile, life);
    for (int n = 0; n < plain->text->loop_count; n++)
        plain->values.loops[n] = saved[n];
    if (!fine)
        return false;
    if (life->elements > PLAIN_MAX_ELEMENTS - plain->writer_count)
        return plain_fail(plain, PLAIN_TOO_LONG, 0, "many elements");
    life->first_writer = plain->writer_count;
    for (int64_t e = 0; e < life->elements; e++)
        plain->writers[plain->writer_count++] = -1;
    plain->current[tile] = plain->life_count++;
    return true;
}

bool plain_begin_lives(struct plain *plain, int loop)
{
    for (int tile = 0; tile < plain->text->tile_count; tile++)
        if (plain->tiles[tile].is_there && plain->tiles[tile].loop == loop &&
            !begin_life(plain, tile))
            return false;
    return true;
}

/* ------------------------------------------------------------------ parts */

/* In one dimension: `count` elements from `begin` on, `by` apart, of `extent`; an outside is
 * nothing where `may_end`. */
struct span {
    int64_t begin, count, by, extent, room;
};

/* `from_begin`: where the dimension begins in its size, -1: no range, parts count from 0. */
static bool pick_span(struct plain *plain, int line, const struct kernel_pick *pick,
                      const struct expression *name, int64_t from_begin, struct span *span)
{
    if (pick->kind == PICK_ALL)
        return true;
    span->room = 0;
    span->by = span->count = 1;
    if (pick->kind == PICK_INDEX)
        return plain_number(plain, line, pick->count, &span->begin);
    if (pick->kind == PICK_RANGE) {
        int loop = (int)plain_choose(plain, pick->count)->number;
        const struct kernel_range *range = &plain->values.loops[loop];
        bool inside = from_begin >= 0 && plain_is_cut_from(plain, loop, name);
        span->begin = range->begin - (inside ? from_begin : 0);
        span->count = range->length;
        return true;
    }
    if (!pick->from)
        return plain_fail(plain, PLAIN_REFUSED, line, "data decide");
    return plain_number(plain, line, pick->count, &span->count) &&
           plain_number(plain, line, pick->from, &span->begin) &&
           (!pick->by || plain_number(plain, line, pick->by, &span->by));
}

static bool find_spans(struct plain *plain, int line, const struct kernel_part *part,
                       struct span spans[], int *count)
{
    const struct kernel_text *text = plain->text;
    const struct plain_life *life =
        part->tile >= 0 ? &plain->lives[plain->current[part->tile]] : NULL;
    const struct expression *dim = life ? NULL : text->tensors[part->tensor].dims;
    const struct kernel_pick *pick = part->picks;
    *count = life ? text->tiles[part->tile].dim_count : text->tensors[part->tensor].dim_count;
    for (int d = 0; d < *count; d++, dim = dim ? dim->next : NULL) {
        const struct expression *name = life ? plain->tiles[part->tile].dims[d] : dim;
        assert(name);
        struct span *span = &spans[d];
        *span = (struct span){.by = 1};
        span->extent = life ? life->extent[d] : plain->tensor_extent[part->tensor][d];
        span->count = span->extent;
        span->room = life ? life->room[d] : 0;
        int64_t begin = life ? life->begin[d] : 0;
        int loop = pick ? -1 : plain_innermost(plain, line, name);
        if (pick && !pick_span(plain, line, pick, name, life ? begin : -1, span))
            return false;
        if (loop >= 0) {
            span->begin = plain->values.loops[loop].begin - begin;
            span->count = plain->values.loops[loop].length;
        } else if (!pick && !life && name->op == EXPRESSION_SIZE) {
            span->begin = plain->values.sizes[name->number].begin;
            span->count = plain->values.sizes[name->number].length;
        }
        if (span->room && span->count != span->extent)
            span->room = 0;
        if (!span->room)
            span->room = span->count;
        pick = pick ? pick->next : NULL;
    }
    return true;
}

int64_t plain_columns(struct plain *plain, int line, const struct kernel_part *part)
{
    struct span spans[KERNEL_MAX_DIMS];
    int count;
    return find_spans(plain, line, part, spans, &count) ? spans[count - 1].count : 0;
}

enum dtype plain_type(const struct plain *plain, const struct kernel_part *part)
{
    return part->tile >= 0 ? plain->tiles[part->tile].type
                           : kernel_type(&plain->values, plain->text->tensors[part->tensor].type);
}

/* The element where the spans' indices are, -1: outside. */
static int64_t flat(const struct span spans[], const int64_t index[], int count)
{
    int64_t at = 0;
    for (int d = 0; d < count; d++) {
        int64_t i = spans[d].begin + spans[d].by * index[d];
        if (i < 0 || i >= spans[d].extent)
            return -1;
        at = at * spans[d].extent + i;
    }
    return at;
}

static bool next(const struct span spans[], int64_t index[], int count)
{
    for (int d = count - 1; d >= 0; d--) {
        if (++index[d] < spans[d].count)
            return true;
        index[d] = 0;
    }
    return false;
}

bool plain_use(struct plain *plain, int line, const struct kernel_part *part, struct plain_use *use)
{
    struct span spans[KERNEL_MAX_DIMS] = {{0}};
    int64_t index[KERNEL_MAX_DIMS] = {0};
    int count = 0;
    *use = (struct plain_use){.tensor = part->tensor,
                              .tile = part->tile,
                              .life = -1,
                              .first = plain->element_count,
                              .room_count = 1};
    if (part->value)
        return true;
    use->life = part->tile >= 0 ? plain->current[part->tile] : -1;
    if (part->tile >= 0 && use->life < 0)
        return plain_fail(plain, PLAIN_REFUSED, line, "a tile that does not live here");
    if (!find_spans(plain, line, part, spans, &count))
        return false;
    int64_t elements = 1;
    for (int d = 0; d < count; d++) {
        if (spans[d].count < 1 || spans[d].by < 1)
            return plain_fail(plain, PLAIN_WRONG, line, "a part of %lld elements",
                              (long long)spans[d].count);
        if (spans[d].count > PLAIN_MAX_ELEMENTS / elements)
            return plain_fail(plain, PLAIN_TOO_LONG, line, "a large part");
        elements *= spans[d].count;
        use->room_count *= spans[d].room;
        use->extent[d] = spans[d].count;
        use->room[d] = spans[d].room;
        use->begin[d] = spans[d].begin;
        use->by[d] = spans[d].by;
    }
    use->dim_count = count;
    if (elements > PLAIN_MAX_ELEMENTS - plain->element_count)
        return plain_fail(plain, PLAIN_TOO_LONG, line, "many elements");
    do {
        int64_t at = flat(spans, index, count);
        if (at < 0 && part->tile >= 0)
            return plain_fail(plain, PLAIN_WRONG, line, "a part outside of its tile");
        plain->elements[plain->element_count++] = (int32_t)at;
        use->count++;
    } while (next(spans, index, count));
    return true;
}
