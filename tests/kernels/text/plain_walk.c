/* The order of steps: bodies as they are written, rounds one after another; what has a stage runs
 * so many rounds later, with the rounds and the tiles of its own one. */
#include "tests/kernels/text/plain_kernel.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool plain_fail(struct plain *plain, enum plain_verdict verdict, int line, const char *format, ...)
{
    char what[PLAIN_TEXT_SIZE - 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    plain->verdict = verdict;
    snprintf(plain->why, sizeof plain->why, "line %d: %s",
             plain->text->line_count ? plain->text->lines[line].at.line : 0, what);
    return false;
}

bool plain_number(struct plain *plain, int line, const struct expression *e, int64_t *number)
{
    struct error error;
    if (kernel_number(&plain->values, e, number, &error) == STATUS_OK)
        return true;
    return plain_fail(plain, PLAIN_WRONG, line, "%s", error.text);
}

static bool walk(struct plain *plain, int first, int end);

/* A loop under way: where it stands in the text, and the tiles of each of its rounds. */
struct rounds {
    int place, loop;
    int64_t count;
    int *lives; /* a row of tiles for each round */
};

static bool enter(struct plain *plain, const struct rounds *rounds, int64_t round)
{
    struct error error;
    if (kernel_loop_enter(&plain->values, rounds->loop, round, &error) == STATUS_OK)
        return true;
    return plain_fail(plain, PLAIN_WRONG, plain->text->loops[rounds->place].line, "%s", error.text);
}

static bool begin_round(struct plain *plain, const struct rounds *rounds, int64_t round)
{
    int *lives = rounds->lives + round * plain->text->tile_count;
    if (!enter(plain, rounds, round) || !plain_begin_lives(plain, rounds->loop))
        return false;
    memcpy(lives, plain->current, sizeof *lives * (size_t)plain->text->tile_count);
    return true;
}

/* The tiles that live in a round of the loop, of that round. */
static bool resume(struct plain *plain, const struct rounds *rounds, int64_t round)
{
    const int *lives = rounds->lives + round * plain->text->tile_count;
    for (int tile = 0; tile < plain->text->tile_count; tile++)
        if (plain->tiles[tile].is_there && plain->tiles[tile].loop == rounds->loop)
            plain->current[tile] = lives[tile];
    return enter(plain, rounds, round);
}

static int next_item(const struct plain *plain, int line)
{
    const struct kernel_line *l = &plain->text->lines[line];
    return l->kind == LINE_FOR ? plain->text->loops[l->number].end : line + 1;
}

static bool stage_of(struct plain *plain, int line, int64_t *stage)
{
    *stage = 0;
    const struct expression *e = plain->text->lines[line].stage;
    if (e && !plain_number(plain, line, e, stage))
        return false;
    return *stage >= 0 || plain_fail(plain, PLAIN_REFUSED, line, "a stage below 0");
}

static bool last_stage(struct plain *plain, int place, int64_t *last)
{
    const struct kernel_loop *loop = &plain->text->loops[place];
    *last = 0;
    for (int line = loop->line + 1; line < loop->end; line = next_item(plain, line)) {
        int64_t stage;
        if (!stage_of(plain, line, &stage))
            return false;
        *last = plain->is_there[line] && stage > *last ? stage : *last;
    }
    return true;
}

static bool walk_stages(struct plain *plain, const struct rounds *rounds, int64_t turn)
{
    const struct kernel_loop *loop = &plain->text->loops[rounds->place];
    if (turn < rounds->count && !begin_round(plain, rounds, turn))
        return false;
    for (int line = loop->line + 1, end; line < loop->end; line = end) {
        int64_t stage;
        end = next_item(plain, line);
        if (!stage_of(plain, line, &stage))
            return false;
        if (stage > turn || turn - stage >= rounds->count)
            continue;
        if (!resume(plain, rounds, turn - stage) || !walk(plain, line, end))
            return false;
    }
    return true;
}

static bool walk_loop(struct plain *plain, int place)
{
    struct rounds rounds = {place, plain->at[place], 0, NULL};
    struct error error;
    int64_t last;
    int line = plain->text->loops[place].line;
    if (kernel_loop_count(&plain->values, rounds.loop, &rounds.count, &error) != STATUS_OK)
        return plain_fail(plain, PLAIN_WRONG, line, "%s", error.text);
    if (!last_stage(plain, place, &last))
        return false;
    if (rounds.count > PLAIN_MAX_EVENTS)
        return plain_fail(plain, PLAIN_TOO_LONG, line, "many rounds");
    rounds.lives = calloc((size_t)(rounds.count * plain->text->tile_count + 1), sizeof(int));
    bool fine = rounds.lives != NULL;
    for (int64_t turn = 0; fine && rounds.count && turn < rounds.count + last; turn++)
        fine = walk_stages(plain, &rounds, turn);
    free(rounds.lives);
    return fine;
}

/* The lines [first, end), of one body. */
static bool walk(struct plain *plain, int first, int end)
{
    for (int line = first; line < end; line = next_item(plain, line)) {
        const struct kernel_line *l = &plain->text->lines[line];
        if (!plain->is_there[line])
            continue;
        if (l->kind == LINE_FOR && !walk_loop(plain, l->number))
            return false;
        if (l->kind == LINE_STEP && !plain_step(plain, line))
            return false;
    }
    return true;
}

bool plain_walk(struct plain *plain)
{
    return plain_begin_lives(plain, -1) && walk(plain, 0, plain->text->line_count);
}

/* ------------------------------------------------------------------ all of it */

/* Sizes in a tensor are all of it. */
static bool allocate_tensor(struct plain *plain, int tensor)
{
    struct kernel_values whole = plain->values;
    int64_t elements = 1, *extent = plain->tensor_extent[tensor];
    for (int n = 0; n < plain->text->size_count; n++)
        whole.sizes[n] = (struct kernel_range){.length = whole.wholes[n]};
    memset(whole.is_shared, 0, sizeof whole.is_shared);
    for (const struct expression *d = plain->text->tensors[tensor].dims; d; d = d->next) {
        struct error error;
        if (kernel_number(&whole, d, extent, &error) != STATUS_OK || *extent < 1 ||
            *extent > PLAIN_MAX_ELEMENTS / elements)
            return plain_fail(plain, PLAIN_TOO_LONG, 0, "a large tensor");
        elements *= *extent++;
    }
    plain->stored[tensor] = calloc((size_t)elements, sizeof **plain->stored);
    return true;
}

static bool allocate(struct plain *plain)
{
    const struct kernel_text *text = plain->text;
    plain->is_there = calloc((size_t)text->line_count + 1, sizeof *plain->is_there);
    plain->once = calloc((size_t)text->line_count + 1, sizeof *plain->once);
    plain->events = calloc(PLAIN_MAX_EVENTS, sizeof *plain->events);
    plain->lives = calloc(PLAIN_MAX_LIVES, sizeof *plain->lives);
    plain->elements = malloc(PLAIN_MAX_ELEMENTS * sizeof *plain->elements);
    plain->writers = malloc(PLAIN_MAX_ELEMENTS * sizeof *plain->writers);
    bool fine = true;
    for (int t = 0; fine && t < text->tensor_count; t++)
        fine = allocate_tensor(plain, t);
    return fine;
}

void plain_run(const struct kernel_values *values, struct plain *plain)
{
    memset(plain, 0, sizeof *plain);
    plain->text = values->kernel;
    plain->hw = values->hw;
    plain->values = *values;
    for (int tile = 0; tile < KERNEL_MAX_TILES; tile++)
        plain->current[tile] = -1;
    if (allocate(plain) && plain_nest(plain) && plain_walk(plain))
        plain_room(plain);
}

void plain_clear(struct plain *plain)
{
    free(plain->is_there);
    free(plain->once);
    free(plain->events);
    free(plain->lives);
    free(plain->elements);
    free(plain->writers);
    for (int t = 0; t < KERNEL_MAX_TENSORS; t++)
        free(plain->stored[t]);
    program_clear(&plain->scratch);
}
