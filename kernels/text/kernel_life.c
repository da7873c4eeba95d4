/* What becomes of tiles: used in their life only, written before they are read, kept ones written
 * by loads alone, parts without picks that mean one thing. A tile whose `at` names a choice is
 * looked at in each of its lives. Steps with a condition may not be there and then break nothing; a
 * rule that depends on values of axes is left to whoever knows them, so that what is refused here
 * is wrong whatever they are. */
#include "kernels/text/kernel_parser.h"

/* A tile in one of its lives. */
struct life {
    struct kernel_parser *parser;
    const struct kernel_text *kernel;
    int tile, loop; /* loop: of which one round is its life, -1: the kernel */
};

static const char *tile_name(const struct life *life)
{
    return life->kernel->tiles[life->tile].name.text;
}

/* "a round of loop 'i'" */
enum { LIFE_SHOWN = KERNEL_MAX_NAME + 32 };
static const char *show_life(const struct life *life, char text[LIFE_SHOWN])
{
    if (life->loop < 0)
        snprintf(text, LIFE_SHOWN, "the kernel");
    else
        snprintf(text, LIFE_SHOWN, "a round of loop '%s'",
                 life->kernel->loops[life->loop].name.text);
    return text;
}

static const struct kernel_step *step_of(const struct kernel_text *kernel, int line)
{
    return kernel->lines[line].kind == LINE_STEP ? kernel->lines[line].step : NULL;
}

static bool writes(const struct kernel_text *kernel, int line, int tile)
{
    const struct kernel_step *step = step_of(kernel, line);
    return step && step->source_count && step->to.tile == tile;
}

/* The part that a step reads of the tile; NULL: none. */
static const struct kernel_part *reads(const struct kernel_text *kernel, int line, int tile)
{
    const struct kernel_step *step = step_of(kernel, line);
    for (int s = 0; step && s < step->source_count; s++)
        if (step->from[s].tile == tile)
            return &step->from[s];
    return NULL;
}

/* ------------------------------------------------------------------ ranges */

/* A loop and those whose ranges it is cut from, bits. */
static uint64_t chain_of(const struct kernel_text *kernel, int loop)
{
    uint64_t chain = (uint64_t)1 << loop;
    while (kernel->loops[loop].in->op == EXPRESSION_LOOP) {
        loop = (int)kernel->loops[loop].in->number;
        chain |= (uint64_t)1 << loop;
    }
    return chain;
}

/* Is the range of the loop the one that is named, or cut from it? */
static bool is_cut_from(const struct kernel_text *kernel, int loop, const struct expression *name)
{
    if (name->op == EXPRESSION_IF)
        return is_cut_from(kernel, loop, name->args->next) ||
               is_cut_from(kernel, loop, name->args->next->next);
    if (name->op == EXPRESSION_LOOP)
        return chain_of(kernel, loop) >> name->number & 1;
    while (kernel->loops[loop].in->op == EXPRESSION_LOOP)
        loop = (int)kernel->loops[loop].in->number;
    const struct expression *root = kernel->loops[loop].in;
    return (name->op == EXPRESSION_SIZE || name->op == EXPRESSION_LET) && root->op == name->op &&
           root->number == name->number;
}

/* The dimension as it is in this life: ranges of loops inside become what they are cut from. */
static const struct expression *climb(const struct kernel_text *kernel,
                                      const struct expression *dim, int life)
{
    while (dim->op == EXPRESSION_LOOP &&
           kernel_is_inside(kernel, kernel->loops[dim->number].line, life))
        dim = kernel->loops[dim->number].in;
    return dim;
}

/* The dimensions that no pick is given for. */
static const struct expression *dims_of(const struct kernel_text *kernel,
                                        const struct kernel_part *part)
{
    const struct expression *dims =
        part->tile >= 0 ? kernel->tiles[part->tile].dims : kernel->tensors[part->tensor].dims;
    for (int pick = 0; pick < part->pick_count; pick++)
        dims = dims->next;
    return dims;
}

/* A dimension that is a name takes the innermost range around that is cut from it: the ranges that
 * are have to be cut from each other. `life` is the tile's; of tensors the kernel. */
static enum status check_part(struct kernel_parser *parser, const struct kernel_part *part,
                              int line, int life)
{
    const struct kernel_text *kernel = parser->kernel;
    if (part->value)
        return STATUS_OK;
    for (const struct expression *d = dims_of(kernel, part); d; d = d->next) {
        const struct expression *dim = climb(kernel, d, life);
        int inner = -1;
        for (int loop = kernel->lines[line].around; loop >= 0;
             loop = kernel_loop_around(kernel, loop)) {
            if (dim->op == EXPRESSION_IF || !is_cut_from(kernel, loop, dim))
                continue;
            if (inner >= 0 && !(chain_of(kernel, inner) >> loop & 1))
                return FAIL_AT(parser, part->at,
                               "ranges '%s' and '%s' both fit here, expected picks that say which",
                               kernel->loops[loop].name.text, kernel->loops[inner].name.text);
            inner = inner < 0 ? loop : inner;
        }
    }
    return STATUS_OK;
}

/* The loops that change which elements a part means, or may; bits. */
static uint64_t loops_of(const struct kernel_text *kernel, const struct kernel_part *part, int line)
{
    uint64_t named = 0, all = 0;
    for (const struct kernel_pick *p = part->picks; p; p = p->next) {
        named |= p->count ? p->count->loops : 0;
        named |= p->from ? p->from->loops : 0;
        named |= p->by ? p->by->loops : 0;
        if (p->kind == PICK_FROM && !p->from) /* data decide: anew in each round */
            return ~(uint64_t)0;
    }
    for (int loop = 0; loop < kernel->loop_count; loop++)
        all |= named >> loop & 1 ? chain_of(kernel, loop) : 0;
    for (const struct expression *d = dims_of(kernel, part); d; d = d->next)
        for (int loop = kernel->lines[line].around; loop >= 0;
             loop = kernel_loop_around(kernel, loop))
            if (is_cut_from(kernel, loop, climb(kernel, d, -1)))
                all |= chain_of(kernel, loop);
    return all;
}

/* ------------------------------------------------------------------ rules */

static enum status check_inside(const struct life *life, int line)
{
    char text[LIFE_SHOWN];
    const struct kernel_step *step = step_of(life->kernel, line);
    const struct kernel_part *part = reads(life->kernel, line, life->tile);
    if (writes(life->kernel, line, life->tile))
        part = &step->to;
    if (!part || step->condition || kernel_is_inside(life->kernel, line, life->loop))
        return STATUS_OK;
    return FAIL_AT(life->parser, part->at, "tile '%s' lives in %s, expected its use inside that",
                   tile_name(life), show_life(life, text));
}

/* Is there a stage on the way from the life to the line? Its order is not the text's then. */
static bool has_stage(const struct life *life, int line)
{
    const struct kernel_text *kernel = life->kernel;
    for (;;) {
        if (kernel->lines[line].stage)
            return true;
        int loop = kernel->lines[line].around;
        if (loop == life->loop || loop < 0)
            return false;
        line = kernel->loops[loop].line;
    }
}

/* Does a loop inside the life hold both lines? */
static bool share_loop(const struct life *life, int a, int b)
{
    int loop = life->kernel->lines[a].around;
    for (; loop >= 0 && loop != life->loop; loop = kernel_loop_around(life->kernel, loop))
        if (kernel_is_inside(life->kernel, b, loop))
            return true;
    return false;
}

/* What a step reads, one above it can have written; or one in a round before, if the step need not
 * run in the first. */
static enum status check_read(const struct life *life, int line)
{
    const struct kernel_text *kernel = life->kernel;
    const struct kernel_part *part = reads(kernel, line, life->tile);
    char text[LIFE_SHOWN];
    if (!part)
        return STATUS_OK;
    for (int w = 0; w < kernel->line_count; w++)
        if (writes(kernel, w, life->tile) && kernel_is_inside(kernel, w, life->loop) &&
            (w < line || has_stage(life, w) || has_stage(life, line) ||
             (kernel->lines[line].step->condition && share_loop(life, w, line))))
            return STATUS_OK;
    return FAIL_AT(life->parser, part->at,
                   "tile '%s' is read before anything wrote it in its life, %s; expected a step "
                   "above that does",
                   tile_name(life), show_life(life, text));
}

/* A load runs in the first round only of a loop inside the life that changes neither its parts nor
 * its source: the innermost such loop, -1 without one. */
static int find_kept(const struct life *life, int line)
{
    const struct kernel_text *kernel = life->kernel;
    const struct kernel_step *step = step_of(kernel, line);
    if (step->verb != VERB_LOAD)
        return -1;
    uint64_t changing = loops_of(kernel, &step->to, line) | loops_of(kernel, &step->from[0], line);
    int loop = kernel->lines[line].around;
    for (; loop >= 0 && loop != life->loop; loop = kernel_loop_around(kernel, loop)) {
        bool changes = changing >> loop & 1;
        for (int l = kernel->loops[loop].line; l < kernel->loops[loop].end && !changes; l++)
            changes = step->from[0].tile >= 0 && (writes(kernel, l, step->from[0].tile) ||
                                                  (kernel->lines[l].kind == LINE_TILE &&
                                                   kernel->lines[l].number == step->from[0].tile));
        if (!changes)
            return loop;
    }
    return -1;
}

static enum status check_kept(const struct life *life, int line)
{
    const struct kernel_text *kernel = life->kernel;
    int kept = writes(kernel, line, life->tile) ? find_kept(life, line) : -1;
    if (kept < 0 || step_of(kernel, line)->condition)
        return STATUS_OK;
    for (int w = 0; w < kernel->line_count; w++)
        if (writes(kernel, w, life->tile) && kernel->lines[w].step->verb != VERB_LOAD &&
            !kernel->lines[w].step->condition)
            return FAIL_AT(life->parser, kernel->lines[w].step->to.at,
                           "tile '%s' is kept over the rounds of loop '%s', expected loads alone "
                           "to write it",
                           tile_name(life), kernel->loops[kept].name.text);
    return STATUS_OK;
}

static enum status check_ranges(const struct life *life, int line)
{
    const struct kernel_step *step = step_of(life->kernel, line);
    for (int s = -1; step && s < step->source_count; s++) {
        const struct kernel_part *part = s < 0 ? &step->to : &step->from[s];
        if (part->tile == life->tile)
            TRY(check_part(life->parser, part, line, life->loop));
    }
    return STATUS_OK;
}

static enum status check_life(struct kernel_parser *parser, int tile, int loop)
{
    static enum status (*const rules[])(const struct life *, int line) = {
        check_inside, check_ranges, check_read, check_kept};
    struct life life = {parser, parser->kernel, tile, loop};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int line = 0; line < parser->kernel->line_count; line++)
            TRY(rules[r](&life, line));
    return STATUS_OK;
}

/* The loops that a tile may live in, bits; bit 0 is the kernel, loop n bit n + 1 of `lives`. */
static void find_lives(const struct expression *e, bool lives[KERNEL_MAX_LOOPS + 1])
{
    if (e->op == EXPRESSION_IF) {
        find_lives(e->args->next, lives);
        find_lives(e->args->next->next, lives);
    } else {
        lives[e->op == EXPRESSION_TOP ? 0 : e->number + 1] = true;
    }
}

static enum status check_tensor_parts(struct kernel_parser *parser, int line)
{
    const struct kernel_step *step = step_of(parser->kernel, line);
    for (int s = -1; step && s < step->source_count; s++) {
        const struct kernel_part *part = s < 0 ? &step->to : &step->from[s];
        if (part->tensor >= 0)
            TRY(check_part(parser, part, line, -1));
    }
    return STATUS_OK;
}

enum status kernel_check_lives(struct kernel_parser *parser)
{
    const struct kernel_text *kernel = parser->kernel;
    for (int line = 0; line < kernel->line_count; line++)
        TRY(check_tensor_parts(parser, line));
    for (int tile = 0; tile < kernel->tile_count; tile++) {
        bool lives[KERNEL_MAX_LOOPS + 1] = {false};
        if (kernel->tiles[tile].life)
            find_lives(kernel->tiles[tile].life, lives);
        else
            lives[kernel->lines[kernel->tiles[tile].line].around + 1] = true;
        for (int loop = -1; loop < kernel->loop_count; loop++)
            if (lives[loop + 1])
                TRY(check_life(parser, tile, loop));
    }
    return STATUS_OK;
}
