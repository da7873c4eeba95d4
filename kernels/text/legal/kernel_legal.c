/* Which tilings of a kernel are legal: their values are on the axes, what the text requires holds,
 * the chip has what their structure asks, their tiles fit into its buffers, their parts fit each
 * other, and their program can be played. */
#include "kernels/limits.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/space/kernel_space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const struct space *space;
    const struct kernel_space *ks;
    const struct tiling *tiling;
    struct violation *list; /* NULL: only counted */
    int count;
    bool with_content; /* of what is in doubt (kernel_content.h): takes long */
    const struct space_plan *plan;
    struct kernel_env env;
};

static void add(struct asked *asked, const char *limit, const char *text)
{
    struct violation *violation = asked->list ? &asked->list[asked->count] : NULL;
    asked->count++;
    if (!violation)
        return;
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", limit);
    snprintf(violation->text, sizeof violation->text, "%.159s", text);
}

static bool has_room(const struct asked *asked)
{
    return asked->count < MAX_VIOLATIONS - 1;
}

/* ------------------------------------------------------------------ the text's own conditions */

/* What makes a condition false: of `a and b` the first that is. */
static const struct expression *find_false(const struct asked *asked, const struct expression *e)
{
    int64_t holds = 0;
    while (e->op == EXPRESSION_AND) {
        enum status status = kernel_number(&asked->env.values, e->args, &holds, NULL);
        e = status == STATUS_OK && holds ? e->args->next : e->args;
    }
    return e;
}

/* "; dtype is f16: --dtype i8" */
static void put_type(const struct kernel_values *values, const struct expression *e, FILE *out)
{
    int type = (int)(e->number / KERNEL_TYPES), wanted = (int)(e->number % KERNEL_TYPES);
    fprintf(out, "; %s is %s", kernel_type_name(type),
            kernel_type_name((int)kernel_type(values, type)));
    if (type == KERNEL_DTYPE || type == KERNEL_RESULT)
        fprintf(out, ": --%s %s", type == KERNEL_DTYPE ? "dtype" : "out-type",
                kernel_type_name(wanted));
}

/* "; tr = 300, keep = all", each name once. */
static void put_named(const struct kernel_values *values, const struct expression *e,
                      uint64_t put[EXPRESSION_OPS], int *count, FILE *out)
{
    const struct kernel_text *kernel = values->kernel;
    const struct kernel_axis *axis = e->op == EXPRESSION_AXIS ? &kernel->axes[e->number] : NULL;
    const char *name = axis                       ? axis->name.text
                       : e->op == EXPRESSION_SIZE ? kernel->sizes[e->number].name.text
                       : e->op == EXPRESSION_LET  ? kernel->lets[e->number].name.text
                                                  : NULL;
    int64_t value;
    if (e->op == EXPRESSION_IS_TYPE)
        put_type(values, e, out);
    if (name && !(put[e->op] >> e->number & 1)) {
        put[e->op] |= UINT64_C(1) << e->number;
        fprintf(out, "%s%s = ", (*count)++ ? ", " : "; ", name);
        if (axis && axis->cut == CUT_WORDS)
            fputs(axis->words[values->axes[e->number]], out);
        else if (kernel_number(values, e, &value, NULL) == STATUS_OK)
            fprintf(out, "%lld", (long long)value);
    }
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        put_named(values, arg, put, count, out);
}

/* "line 12: require tr <= 255; tr = 300" */
static void say_require(const struct asked *asked, const struct kernel_require *require,
                        char text[160])
{
    const struct expression *e = find_false(asked, require->truth);
    uint64_t put[EXPRESSION_OPS] = {0};
    int count = 0;
    snprintf(text, 160, "line %d: require", require->at.line);
    FILE *out = fmemopen(text, 159, "w");
    if (!out)
        return;
    fprintf(out, "line %d: require ", require->at.line);
    kernel_expression_print(asked->ks->kernel, e, out);
    put_named(&asked->env.values, e, put, &count, out);
    fclose(out);
    text[159] = 0;
}

static void check_requires(struct asked *asked)
{
    const struct kernel_text *kernel = asked->ks->kernel;
    for (int r = 0; r < kernel->require_count && has_room(asked); r++) {
        char text[160];
        struct error error = {.text = ""};
        int64_t holds = 0;
        enum status status =
            kernel_number(&asked->env.values, kernel->requires[r].truth, &holds, &error);
        if (status == STATUS_OK && holds)
            continue;
        snprintf(text, sizeof text, "%.150s", error.text);
        if (status == STATUS_OK && asked->list)
            say_require(asked, &kernel->requires[r], text);
        add(asked, "require", text);
    }
}

/* ------------------------------------------------------------------ room */

/* A tile with its copies. */
struct taker {
    const char *name;
    int64_t copies, bytes;
};

static int by_bytes(const void *left, const void *right)
{
    const struct taker *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes)
                                : strcmp(a->name, b->name);
}

/* Those that live at once where a buffer is fullest: the tile that ends there, and what lives in
 * its loop and around it. */
static int find_takers(const struct kernel_plan *plan, const struct kernel_room *room, int buffer,
                       struct taker takers[KERNEL_MAX_TILES])
{
    int innermost = 0, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < plan->kernel->tile_count; t++) {
            const struct plan_tile *tile = &plan->tiles[t];
            if (!tile->is_there || tile->buffer != buffer)
                continue;
            int64_t bytes = product_of(room->slot_bytes[t], tile->copies);
            if (pass == 0 && sum_of(room->offset[t], bytes) == room->needed[buffer])
                innermost = tile->life;
            if (pass == 1 && plan_is_within(plan, innermost, tile->life))
                takers[count++] =
                    (struct taker){plan->kernel->tiles[t].name.text, tile->copies, bytes};
        }
    qsort(takers, (size_t)count, sizeof *takers, by_bytes);
    return count;
}

enum { TAKERS_NAMED = 3, TAKERS_SIZE = 84 };

/* "acc takes", "b1 (1048576) and a1 x 2 (524288) take": the `named` largest ones, the others
 * counted. False where that is too long. */
static bool put_takers(const struct taker *takers, int count, int named, char text[TAKERS_SIZE])
{
    int used = 0;
    for (int i = 0; i < named && used < TAKERS_SIZE; i++) {
        char copies[24] = "", bytes[24] = "";
        if (takers[i].copies > 1)
            snprintf(copies, sizeof copies, " x %lld", (long long)takers[i].copies);
        if (count > 1)
            snprintf(bytes, sizeof bytes, " (%lld)", (long long)takers[i].bytes);
        used += snprintf(text + used, (size_t)(TAKERS_SIZE - used), "%s%s%s%s",
                         i == 0           ? ""
                         : i == count - 1 ? " and "
                                          : ", ",
                         takers[i].name, copies, bytes);
    }
    if (named < count && used < TAKERS_SIZE)
        used += snprintf(text + used, (size_t)(TAKERS_SIZE - used), " and %d more", count - named);
    if (used < TAKERS_SIZE)
        used += snprintf(text + used, (size_t)(TAKERS_SIZE - used), count > 1 ? " take" : " takes");
    return used < TAKERS_SIZE;
}

static void name_takers(const struct asked *asked, const struct kernel_room *room, int buffer,
                        char text[TAKERS_SIZE])
{
    struct taker takers[KERNEL_MAX_TILES] = {{NULL}};
    int count = find_takers(&asked->plan->plan, room, buffer, takers);
    int named = count < TAKERS_NAMED ? count : TAKERS_NAMED;
    while (named > 1 && !put_takers(takers, count, named, text))
        named--;
    if (named <= 1 && !put_takers(takers, count, named, text))
        snprintf(text, TAKERS_SIZE, "tiles take");
}

static void check_room(struct asked *asked, const struct kernel_room *room)
{
    const struct hardware *hw = asked->space->hw;
    for (int b = 0; b < hw->buffer_count && has_room(asked); b++) {
        char takers[TAKERS_SIZE] = "";
        if (room->needed[b] <= capacity_of(hw, b))
            continue;
        if (asked->list)
            name_takers(asked, room, b, takers);
        add_excess(asked->list, &asked->count, hw->buffers[b].name, takers, room->needed[b],
                   capacity_of(hw, b));
    }
}

/* ------------------------------------------------------------------ length */

/* Instructions that are played at most: every step as often as the loops around it run, with six
 * flags each; and lines that are written, where rounds are written out. */
static enum status count_lines(struct asked *asked, double *played, double *written,
                               struct error *error)
{
    const struct kernel_plan *plan = &asked->plan->plan;
    double runs[KERNEL_MAX_LOOPS + 1] = {1}, lines[KERNEL_MAX_LOOPS + 1] = {1};
    *played = *written = 0;
    for (int loop = 1; loop < plan->loop_count; loop++) {
        int64_t rounds;
        bool differs;
        TRY(plan_rounds(plan, &asked->env, loop, &rounds, &differs, error));
        TRY(plan_enter(plan, &asked->env, loop, 0, error));
        int around = plan->loops[loop].around;
        bool each = asked->plan->flags->written_out >> plan->loops[loop].text_loop & 1;
        runs[loop] = runs[around] * (double)rounds;
        lines[loop] = lines[around] * (each ? (double)rounds : fmin((double)rounds, 1));
    }
    for (int s = 0; s < plan->step_count; s++) {
        *played += 7 * runs[plan->steps[s].around];
        *written += 7 * lines[plan->steps[s].around];
    }
    return STATUS_OK;
}

static enum status check_length(struct asked *asked, struct error *error)
{
    double played, written;
    TRY(count_lines(asked, &played, &written, error));
    add_length(asked->list, &asked->count, played);
    if (written > PROGRAM_MAX_LINES)
        add(asked, "lines", "rounds that are written out make more than 1000000 lines");
    return STATUS_OK;
}

/* ------------------------------------------------------------------ all of it */

static enum status check_content(struct asked *asked, struct error *error)
{
    enum status status = kernel_content_check(&asked->plan->plan, &asked->plan->doubts, &asked->env,
                                              asked->space->stop, error);
    kernel_space_of(asked->space)->is_unsure = status == STATUS_TOO_LARGE;
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

static enum status check_sizes(struct asked *asked, struct error *error)
{
    struct kernel_room room;
    kernel_keep_lets(&asked->env.values);
    TRY(kernel_room_find(&asked->plan->plan, &asked->env, &room, error));
    check_room(asked, &room);
    TRY(plan_enter(&asked->plan->plan, &asked->env, 0, 0, error));
    TRY(check_length(asked, error));
    if (asked->count) /* its steps, which take longer to look at, are of no use */
        return STATUS_OK;
    TRY(kernel_steps_fit(asked->plan, &asked->env, &room, asked->space->stop, error));
    return asked->with_content ? check_content(asked, error) : STATUS_OK;
}

static void check(struct asked *asked)
{
    struct error error = {.text = ""};
    if (!kernel_set_tiling(asked->ks, asked->tiling, &asked->env.values, &error)) {
        add(asked, "cores", error.text);
        return;
    }
    check_requires(asked);
    if (asked->count)
        return;
    asked->plan = kernel_find_plan(asked->ks, asked->tiling);
    if (!asked->plan || !asked->plan->is_possible) {
        add(asked, "kernel", asked->plan ? asked->plan->reason : "no tiling of the space is so");
        return;
    }
    if (check_sizes(asked, &error) != STATUS_OK)
        add(asked, "kernel", error.text);
}

static void ask(struct asked *asked, const struct space *space, const struct tiling *tiling,
                bool with_content, struct violation *list)
{
    asked->with_content = with_content;
    asked->space = space;
    asked->ks = kernel_space_of(space);
    asked->tiling = tiling;
    asked->list = list;
    asked->count = 0;
    check(asked);
}

/* ------------------------------------------------------------------ beginnings */

/* Does what the text requires hold, as far as it asks only for these axes? */
static bool keeps_requires(const struct kernel_space *ks, const struct kernel_values *values,
                           unsigned known)
{
    struct error error;
    for (int r = 0; r < ks->kernel->require_count; r++) {
        int64_t holds;
        if (!(ks->require_axes[r] & ~known) &&
            (kernel_number(values, ks->kernel->requires[r].truth, &holds, &error) != STATUS_OK ||
             !holds))
            return false;
    }
    return true;
}

/* With the least values of what is open, and each combination of the open axes that decide by
 * words: none fits, so nothing that begins so does. A structure that cannot be with the least
 * copies may be with more. */
static bool begins(const struct kernel_space *ks, const struct tiling *tiling, unsigned open)
{
    const struct space_plan *plan;
    struct kernel_values values;
    double played;
    int axis = 0;
    while (axis < ks->kernel->axis_count && !(open & ks->word_axes & 1U << axis))
        axis++;
    if (axis == ks->kernel->axis_count) {
        plan = kernel_find_plan(ks, tiling);
        if (!plan || !plan->is_possible || !plan->fit.grows)
            return !plan || plan->is_possible || open & ks->copy_axes;
        return kernel_set_tiling(ks, tiling, &values, NULL) &&
               kernel_fits(&plan->plan, &plan->fit, &values, &played) != FIT_NOT;
    }
    struct tiling next = *tiling;
    for (; next.value[axis] < ks->axes[axis].name_count; next.value[axis]++)
        if (begins(ks, &next, open & ~(1U << axis)))
            return true;
    return false;
}

/* Words are tried one by one, the last one that is fixed with those after it, as are copies: what
 * is asked is whether any value from there on will do. */
static bool may_begin(const struct kernel_space *ks, const struct tiling *tiling, int fixed)
{
    struct tiling least = *tiling;
    unsigned open = fixed > 0 ? 1U << (fixed - 1) & (ks->word_axes | ks->copy_axes) : 0;
    for (int a = fixed; a < ks->kernel->axis_count; a++)
        if (!(ks->block_axes >> a & 1)) {
            least.value[a] = ks->least[a];
            open |= 1U << a;
        }
    for (int a = 0; a < ks->kernel->axis_count; a++)
        if (open & ks->word_axes & 1U << a && !ks->axes[a].name_count)
            return true;
    return begins(ks, &least, open);
}

/* What takes no list of reasons. */
static bool is_possible(const struct space *space, const struct tiling *tiling)
{
    const struct kernel_space *ks = kernel_space_of(space);
    const struct space_plan *plan = kernel_find_plan(ks, tiling);
    struct kernel_values values;
    double played;
    if (!plan || !plan->is_possible)
        return false;
    if (plan->fit.grows && plan->is_certain)
        return kernel_set_tiling(ks, tiling, &values, NULL) && keeps_requires(ks, &values, ~0U) &&
               kernel_fits(&plan->plan, &plan->fit, &values, &played) == FIT_YES &&
               is_executable(7 * played);
    struct asked asked;
    ask(&asked, space, tiling, false, NULL);
    return asked.count == 0;
}

bool kernel_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    return fixed < space->axis_count ? may_begin(kernel_space_of(space), tiling, fixed)
                                     : is_possible(space, tiling);
}

/* ------------------------------------------------------------------ all violations */

/* The block that agrees with a tiling in most axes. */
static const struct space_block *nearest_block(const struct space *space,
                                               const struct tiling *tiling)
{
    const struct space_block *best = NULL;
    int most = -1;
    for (int b = 0; b < space->block_count; b++) {
        int same = 0;
        for (int a = 0; a < space->axis_count; a++)
            same += block_has(&space->blocks[b], a, tiling->value[a]);
        if (same > most) {
            most = same;
            best = &space->blocks[b];
        }
    }
    return best;
}

int kernel_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    struct asked asked;
    const struct space_block *block = nearest_block(space, tiling);
    int64_t below, above;
    int count = 0;
    for (int a = 0; block && a < space->axis_count; a++)
        if (!on_axis(block, a, tiling->value[a], &below, &above)) {
            const struct axis *axis = &space->axes[a];
            int64_t value = tiling->value[a];
            if (value >= 0 && value < axis->name_count)
                add_word(list, &count, axis->name, axis->value_names[value]);
            else
                add_value(list, &count, axis->name, value, "value of this space", below, above);
        }
    if (count)
        return count;
    ask(&asked, space, tiling, true, list);
    return asked.count;
}

static bool is_agreed(const struct space *space, const struct tiling *tiling)
{
    struct tiling agreed = *tiling;
    if (space->kind->agree)
        space->kind->agree(space, &agreed);
    return memcmp(agreed.value, tiling->value, (size_t)space->axis_count * sizeof *agreed.value) ==
           0;
}

bool kernel_is_legal(const struct space *space, const struct tiling *tiling)
{
    return is_agreed(space, tiling) && kernel_violations(space, tiling, NULL) == 0;
}
