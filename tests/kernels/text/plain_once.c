/* Loads and copies that run once: in the first round only of loops inside their tile's life that
 * change neither their parts nor their source. */
#include "tests/kernels/text/plain_kernel.h"

#include <string.h>

#define BIT(loop) ((uint64_t)1 << (loop))

/* These loops and those that change where their ranges begin or how long they are. */
static uint64_t changing(const struct plain *plain, uint64_t loops)
{
    for (uint64_t before = 0; before != loops;) {
        before = loops;
        for (int n = 0; n < plain->text->loop_count; n++)
            if (loops >> n & 1)
                loops |= plain->text->loops[n].in->loops | plain->text->loops[n].by->loops;
    }
    return loops;
}

static uint64_t loops_of_picks(const struct kernel_part *part, bool *by_data)
{
    uint64_t loops = 0;
    for (const struct kernel_pick *p = part->picks; p; p = p->next) {
        const struct expression *asked[] = {p->count, p->from, p->by};
        for (int i = 0; i < 3; i++)
            loops |= asked[i] ? asked[i]->loops : 0;
        *by_data |= p->kind == PICK_FROM && !p->from;
    }
    return loops;
}

static uint64_t loops_of(struct plain *plain, int line, const struct kernel_part *part,
                         bool *by_data)
{
    const struct kernel_text *text = plain->text;
    uint64_t loops = loops_of_picks(part, by_data);
    const struct expression *dim =
        part->tile >= 0 ? text->tiles[part->tile].dims : text->tensors[part->tensor].dims;
    for (int d = 0; dim; d++, dim = dim->next) {
        const struct expression *name = part->tile >= 0 ? plain->tiles[part->tile].dims[d] : dim;
        int loop = d < part->pick_count ? -1 : plain_innermost(plain, line, name);
        loops |= loop < 0 ? 0 : BIT(loop);
    }
    return changing(plain, loops);
}

static bool writes(const struct plain *plain, int line, int tile)
{
    const struct kernel_line *l = &plain->text->lines[line];
    return l->kind == LINE_STEP && plain->is_there[line] && l->step->source_count &&
           l->step->to.tile == tile;
}

/* Does anything in the loop write the tile, but for loads that run in its first round only? Or
 * begin a life of it. */
static bool changes_in(const struct plain *plain, int tile, int loop)
{
    int life = plain->tiles[tile].loop;
    if (life >= 0 &&
        (life == loop || plain_inside(plain, plain->text->loops[plain->place[life]].line, loop)))
        return true;
    for (int line = 0; line < plain->text->line_count; line++)
        if (writes(plain, line, tile) && plain_inside(plain, line, loop) &&
            !(plain->once[line] >> loop & 1))
            return true;
    return false;
}

static void find_once(struct plain *plain, int line)
{
    const struct kernel_step *step = plain->text->lines[line].step;
    bool by_data = false;
    uint64_t loops = loops_of(plain, line, &step->to, &by_data) |
                     loops_of(plain, line, &step->from[0], &by_data);
    uint64_t asked = step->condition ? step->condition->loops : 0;
    for (int k = 0; k < STEP_KEYS; k++)
        asked |= step->keys[k] ? step->keys[k]->loops : 0;
    loops |= step->verb == VERB_LOAD ? 0 : changing(plain, asked);
    plain->once[line] = 0;
    for (int n = 0, loop; (loop = plain_around(plain, line, n)) >= 0; n++) {
        if (loop == plain->tiles[step->to.tile].loop)
            break;
        if (!by_data && !(loops >> loop & 1) &&
            (step->from[0].tile < 0 || !changes_in(plain, step->from[0].tile, loop)))
            plain->once[line] |= BIT(loop);
    }
}

/* One tile from one other, unchanged but for its type. */
static bool copies(const struct kernel_step *step)
{
    bool by_name = step->verb == VERB_OPERATION &&
                   (strcmp(step->operation, "cast") == 0 || strcmp(step->operation, "vcopy") == 0);
    return (step->verb == VERB_MOVE || by_name) && step->source_count == 1 && step->to.tile >= 0 &&
           step->from[0].tile >= 0 && step->from[0].tile != step->to.tile;
}

static bool loads_or_copies(const struct plain *plain, int line)
{
    const struct kernel_step *step = plain->text->lines[line].step;
    return step->verb == VERB_LOAD || copies(step);
}

/* A load that any but a load or copy writes beside is refused, a copy is one as any other step. */
bool plain_once(struct plain *plain)
{
    const struct kernel_text *text = plain->text;
    for (int line = 0; line < text->line_count; line++) {
        if (text->lines[line].kind != LINE_STEP || !plain->is_there[line])
            continue;
        const struct kernel_step *step = text->lines[line].step;
        bool alone = step->source_count && step->to.tile >= 0 && loads_or_copies(plain, line);
        for (int w = 0; alone && step->verb != VERB_LOAD && w < text->line_count; w++)
            alone = !writes(plain, w, step->to.tile) || loads_or_copies(plain, w);
        if (alone)
            find_once(plain, line);
    }
    for (int line = 0; line < text->line_count; line++)
        for (int w = 0; plain->once[line] && w < text->line_count; w++)
            if (writes(plain, w, text->lines[line].step->to.tile) && !loads_or_copies(plain, w))
                return plain_fail(plain, PLAIN_REFUSED, w, "a kept tile that is written");
    return true;
}
