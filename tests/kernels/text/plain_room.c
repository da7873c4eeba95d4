/* What tiles need, and what a core's share of a size is. Tiles whose lives are over when others'
 * begin share room: those of loops side by side, unless they are of different stages; so a body
 * needs its own tiles and of each stage the most that one of its loops needs. And what stages ask
 * of tiles. */
#include "tests/kernels/text/plain_kernel.h"

enum { PLAIN_MAX_STAGE = 16 };

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t stage_of(const struct plain *plain, int line)
{
    const struct expression *e = plain->text->lines[line].stage;
    struct error error;
    int64_t stage = 0;
    if (e && kernel_number(&plain->values, e, &stage, &error) != STATUS_OK)
        return 0;
    return stage < PLAIN_MAX_STAGE ? stage : PLAIN_MAX_STAGE;
}

/* Bytes of a buffer in a round of the loop that stands at `place`, -1: the kernel. */
static int64_t needs(const struct plain *plain, int place, int buffer)
{
    const struct kernel_text *text = plain->text;
    int64_t most[PLAIN_MAX_STAGE + 1] = {0}, own = 0;
    for (int n = 0; n < text->loop_count; n++)
        if (kernel_loop_around(text, n) == place) {
            int64_t inner = needs(plain, n, buffer), stage = stage_of(plain, text->loops[n].line);
            most[stage] = inner > most[stage] ? inner : most[stage];
        }
    for (int t = 0; t < text->tile_count; t++) {
        const struct plain_tile *tile = &plain->tiles[t];
        int64_t bytes;
        if (!tile->is_there || tile->buffer != buffer ||
            tile->loop != (place < 0 ? -1 : plain->at[place]))
            continue;
        if (__builtin_mul_overflow(tile->slot_bytes, tile->copies, &bytes))
            bytes = INT64_MAX;
        own = add(own, bytes);
    }
    for (int stage = 0; stage <= PLAIN_MAX_STAGE; stage++)
        own = add(own, most[stage]);
    return own;
}

/* ------------------------------------------------------------------ stages */

static bool uses(const struct kernel_step *step, int tile, bool *writes)
{
    bool any = step->source_count && step->to.tile == tile;
    *writes |= any;
    for (int s = 0; s < step->source_count; s++)
        any |= step->from[s].tile == tile;
    return any;
}

/* In the body of a loop inside the tile's life, or its own: the first and the last stage of what
 * uses it there. */
static bool check_stages(struct plain *plain, int tile, int place)
{
    const struct kernel_text *text = plain->text;
    int64_t first = INT64_MAX, last = -1, stage = 0;
    bool writes = false;
    for (int line = text->loops[place].line + 1; line < text->loops[place].end; line++) {
        const struct kernel_line *l = &text->lines[line];
        if (l->around == place) {
            stage = 0;
            if (l->stage && !plain_number(plain, line, l->stage, &stage))
                return false;
        }
        if (l->kind != LINE_STEP || !plain->is_there[line] || !uses(l->step, tile, &writes))
            continue;
        first = stage < first ? stage : first;
        last = stage > last ? stage : last;
    }
    bool own = plain->tiles[tile].loop == plain->at[place];
    if (last < 0 || first == last || (own && last - first < plain->tiles[tile].copies) ||
        (!own && !writes))
        return true;
    return plain_fail(plain, PLAIN_REFUSED, text->loops[place].line,
                      own ? "too few copies between stages" : "a tile of several stages");
}

bool plain_room(struct plain *plain)
{
    for (int tile = 0; tile < plain->text->tile_count; tile++)
        for (int place = 0; plain->tiles[tile].is_there && place < plain->text->loop_count;
             place++) {
            int life = plain->tiles[tile].loop;
            if ((life == plain->at[place] ||
                 plain_inside(plain, plain->text->loops[place].line, life)) &&
                !check_stages(plain, tile, place))
                return false;
        }
    plain->fits = true;
    for (int b = 0; b < plain->hw->buffer_count; b++) {
        plain->needed_bytes[b] = needs(plain, -1, b);
        int64_t capacity = plain->hw->buffers[b].capacity_bytes;
        plain->fits &= !capacity || plain->needed_bytes[b] <= capacity;
    }
    return true;
}

/* ------------------------------------------------------------------ shares */

static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* The share of so many: whole blocks, the largest counts; how many get one. */
static bool share(struct kernel_values *values, const struct expression *what, int64_t shares,
                  int64_t *working)
{
    struct error error;
    int64_t all, pad = 1, truth = 0;
    while (what->op == EXPRESSION_IF) {
        if (kernel_number(values, what->args, &truth, &error) != STATUS_OK)
            return false;
        what = truth ? what->args->next : what->args->next->next;
    }
    if (kernel_number(values, what, &all, &error) != STATUS_OK || all < 1)
        return false;
    if (what->op == EXPRESSION_SIZE)
        pad = values->pads[what->number];
    int64_t blocks = up(all, pad), each = up(blocks, shares);
    *working = up(blocks, each);
    struct kernel_range range = {.length = each * pad < all ? each * pad : all};
    if (what->op == EXPRESSION_SIZE) {
        values->sizes[what->number] = range;
    } else {
        values->is_shared[what->number] = true;
        values->lets[what->number] = range;
    }
    return true;
}

bool plain_shares(struct kernel_values *values, int cores, int *used)
{
    int64_t left = cores, working;
    values->cores = cores;
    *used = 1;
    for (int c = 0; c < values->kernel->cores_count; c++) {
        const struct kernel_cores *of = &values->kernel->cores[c];
        struct error error;
        int64_t shares = left;
        if (of->shares && kernel_number(values, of->shares, &shares, &error) != STATUS_OK)
            return false;
        if (shares < 1 || shares > left || !share(values, of->what, shares, &working))
            return false;
        left /= shares;
        *used *= (int)working;
    }
    return true;
}
