/* What one step does in the current rounds: its instruction, and that it may. Elements are read
 * before they are written. */
#include "tests/kernels/text/plain_kernel.h"

#include <string.h>

/* A step at work. */
struct doing {
    struct plain *plain;
    const struct kernel_step *step;
    int line;
    struct plain_event event;
};

#define WRONG(doing, ...)   plain_fail((doing)->plain, PLAIN_WRONG, (doing)->line, __VA_ARGS__)
#define REFUSED(doing, ...) plain_fail((doing)->plain, PLAIN_REFUSED, (doing)->line, __VA_ARGS__)

static bool key(struct doing *doing, enum kernel_key which, int64_t *number)
{
    const struct expression *e = doing->step->keys[which];
    return !e || plain_number(doing->plain, doing->line, e, number);
}

/* ------------------------------------------------------------------ elements */

static int32_t *writer(struct plain *plain, const struct plain_use *use, int64_t n)
{
    int32_t element = plain->elements[use->first + n];
    return &plain->writers[plain->lives[use->life].first_writer + element];
}

static bool read(struct doing *doing, int u, int64_t count)
{
    struct plain_use *use = &doing->event.uses[u];
    use->count = count;
    for (int64_t n = 0; use->tile >= 0 && n < count; n++)
        if (*writer(doing->plain, use, n) < 0)
            return WRONG(doing, "reads what nothing wrote");
    return true;
}

static bool write_tensor(struct doing *doing, const struct plain_use *use)
{
    struct plain *plain = doing->plain;
    int64_t add = 0;
    if (!key(doing, STEP_ADD, &add))
        return false;
    for (int64_t n = 0; n < use->count; n++) {
        int32_t element = plain->elements[use->first + n];
        if (element < 0)
            continue;
        int32_t *stored = &plain->stored[use->tensor][element];
        if (*stored && !(add && *stored == 2))
            return WRONG(doing, "an element is stored twice");
        *stored = add ? 2 : 1;
    }
    return true;
}

static bool write(struct doing *doing, int64_t count)
{
    struct plain_use *use = &doing->event.uses[0];
    use->count = count;
    if (use->tensor >= 0)
        return write_tensor(doing, use);
    for (int64_t n = 0; n < count; n++)
        *writer(doing->plain, use, n) = doing->plain->event_count;
    return true;
}

/* ------------------------------------------------------------------ verbs */

static int buffer_of(const struct plain *plain, const struct kernel_part *part)
{
    return part->tile >= 0 ? plain->tiles[part->tile].buffer : hardware_buffer(plain->hw, "gm", 2);
}

/* What a move does on its way: the path has ReLU, its cast takes factors of f32, one a column. */
static bool do_on_way(struct doing *doing, bool relu)
{
    struct plain *plain = doing->plain;
    struct instruction *in = &doing->event.in;
    const struct path *path = &plain->hw->paths[in->what];
    bool scales = false;
    if (relu && !path->relu)
        return REFUSED(doing, "no ReLU");
    if (doing->step->source_count < 2)
        return true;
    for (int c = 0; c < path->cast_count; c++)
        scales |= path->casts[c].scale && path->casts[c].from == in->type &&
                  path->casts[c].to == in->to_type;
    if (!scales || plain_type(plain, &doing->step->from[1]) != DTYPE_F32)
        return REFUSED(doing, "no factors");
    if (doing->event.uses[2].count != plain_columns(plain, doing->line, &doing->step->from[0]))
        return WRONG(doing, "not one factor a column");
    in->row_bytes = 4 * doing->event.uses[2].count;
    return read(doing, 2, doing->event.uses[2].count);
}

/* Where the n-th element of the part lies in a tensor of these extents, or would outside of it. */
static int64_t place_in_tensor(const int64_t extent[], const struct plain_use *use, int64_t n)
{
    int64_t place = 0, rest = use->count;
    for (int d = 0; d < use->dim_count; d++) {
        rest /= use->extent[d];
        place = place * extent[d] + use->begin[d] + n / rest * use->by[d];
        n %= rest;
    }
    return place;
}

/* Of a tensor without the pads of sizes. */
static bool memory_extents(struct plain *plain, int tensor, int64_t extent[])
{
    struct kernel_values values = plain->values;
    const struct expression *dim = plain->text->tensors[tensor].dims;
    for (int s = 0; s < plain->text->size_count; s++) {
        values.wholes[s] = values.given[s];
        values.sizes[s] = (struct kernel_range){.length = values.given[s]};
    }
    for (int d = 0; dim; dim = dim->next)
        if (kernel_number(&values, dim, &extent[d++], NULL) != STATUS_OK)
            return false;
    return true;
}

/* Pieces of the part, pads and all, and the largest power of two up to 512 bytes that they all
 * begin at multiples of in memory. */
static bool find_pieces(struct doing *doing, const struct plain_use *use, int bytes)
{
    struct instruction *in = &doing->event.in;
    int64_t extent[KERNEL_MAX_DIMS], before = -2;
    if (!memory_extents(doing->plain, use->tensor, extent))
        return WRONG(doing, "a tensor without extents");
    in->bursts = 0;
    in->align_bytes = 512;
    for (int64_t n = 0; n < use->count; n++) {
        int64_t place = place_in_tensor(doing->plain->tensor_extent[use->tensor], use, n);
        int64_t start = place_in_tensor(extent, use, n) * bytes;
        in->bursts += place != before + 1;
        while (place != before + 1 && start % in->align_bytes)
            in->align_bytes /= 2;
        before = place;
    }
    doing->event.has_starts = true;
    return true;
}

static bool do_move(struct doing *doing)
{
    struct plain *plain = doing->plain;
    struct instruction *in = &doing->event.in;
    const struct plain_use *uses = doing->event.uses;
    int from = buffer_of(plain, &doing->step->from[0]), to = buffer_of(plain, &doing->step->to);
    int64_t number[STEP_KEYS] = {0};
    in->kind = INSTRUCTION_MOVE;
    in->what = (int16_t)hardware_path(plain->hw, from, to);
    if (in->what < 0)
        return REFUSED(doing, "no path");
    in->type = (uint8_t)plain_type(plain, &doing->step->from[0]);
    in->to_type = (uint8_t)plain_type(plain, &doing->step->to);
    if (uses[0].count != uses[1].count)
        return WRONG(doing, "%lld elements into %lld", (long long)uses[1].count,
                     (long long)uses[0].count);
    bool outside =
        !plain->hw->buffers[from].capacity_bytes || !plain->hw->buffers[to].capacity_bytes;
    int64_t room =
        uses[0].room_count < uses[1].room_count ? uses[0].room_count : uses[1].room_count;
    in->bytes = (outside ? uses[0].count : room) * dtype_bytes(in->type);
    for (int k = 0; k < STEP_KEYS; k++)
        if (!key(doing, (enum kernel_key)k, &number[k]))
            return false;
    in->bursts = number[STEP_BURSTS];
    in->align_bytes = number[STEP_ALIGN];
    const struct plain_use *tensor = uses[0].tensor >= 0 ? &uses[0] : &uses[1];
    bool is_told = doing->step->keys[STEP_BURSTS] || doing->step->keys[STEP_ALIGN];
    int price = hardware_move_price(plain->hw, in->what, in->type, in->to_type);
    if (!is_told && tensor->tensor >= 0 && price >= 0 &&
        plain->hw->prices[price].burst_table >= 0 &&
        !find_pieces(doing, tensor, dtype_bytes(tensor == uses ? in->to_type : in->type)))
        return false;
    in->unit = number[STEP_UNIT] != 0;
    in->transpose = number[STEP_TRANSPOSE] != 0;
    return do_on_way(doing, number[STEP_RELU] != 0) && read(doing, 1, uses[1].count) &&
           write(doing, uses[0].count);
}

static bool do_mmad(struct doing *doing)
{
    struct plain *plain = doing->plain;
    const struct kernel_step *step = doing->step;
    struct instruction *in = &doing->event.in;
    const struct plain_use *uses = doing->event.uses;
    int64_t n = plain_columns(plain, doing->line, &step->to), unit = 0;
    int64_t k = plain_columns(plain, doing->line, &step->from[0]);
    int64_t n2 = plain_columns(plain, doing->line, &step->from[1]);
    int64_t m = uses[0].count / n;
    if (uses[1].count != m * k || n2 != n || uses[2].count != k * n)
        return WRONG(doing, "a product whose parts do not fit");
    const struct matrix_type *type =
        hardware_matrix_type(plain->hw, plain_type(plain, &step->from[0]));
    if (!type || plain_type(plain, &step->from[1]) != type->type ||
        plain_type(plain, &step->to) != type->accumulator)
        return REFUSED(doing, "no product of these types");
    bool begins = step->source_count > 2;
    if (begins && plain_type(plain, &step->from[2]) != type->accumulator)
        return REFUSED(doing, "sums of another type");
    if (begins && uses[3].count != n)
        return WRONG(doing, "a row of another length");
    if (!key(doing, STEP_UNIT, &unit))
        return false;
    int64_t begun = 0;
    for (int64_t e = 0; e < uses[0].count; e++)
        begun += *writer(plain, &uses[0], e) >= 0;
    if (begun && begun != uses[0].count)
        return WRONG(doing, "a part that is half begun");
    in->kind = INSTRUCTION_MATRIX;
    in->type = type->type;
    in->m = (int32_t)m;
    in->k = (int32_t)k;
    in->n = (int32_t)n;
    in->accumulate = begun != 0;
    in->unit = unit != 0;
    return read(doing, 1, uses[1].count) && read(doing, 2, uses[2].count) &&
           (!begins || read(doing, 3, uses[3].count)) && write(doing, uses[0].count);
}

enum form { EACH, FOLD, SPREAD };

static enum form form_of(const struct operation *operation)
{
    if (operation->result == RESULT_ONE_PER_REPEAT)
        return FOLD;
    return strcmp(operation->name, "vecDup") == 0 ? SPREAD : EACH;
}

static bool check_types(struct doing *doing)
{
    const struct kernel_step *step = doing->step;
    enum dtype to = plain_type(doing->plain, &step->to), from = to;
    for (int s = 0; s < step->source_count; s++) {
        if (step->from[s].value)
            continue;
        from = plain_type(doing->plain, &step->from[s]);
        if (from != to && strcmp(step->operation, "cast") != 0)
            return REFUSED(doing, "types differ");
    }
    doing->event.in.type = (uint8_t)from;
    doing->event.in.to_type = (uint8_t)to;
    return true;
}

static bool do_vector(struct doing *doing)
{
    struct plain *plain = doing->plain;
    struct instruction *in = &doing->event.in;
    struct plain_use *uses = doing->event.uses;
    int what =
        hardware_operation(plain->hw, doing->step->operation, (int)strlen(doing->step->operation));
    if (what < 0)
        return REFUSED(doing, "no operation %s", doing->step->operation);
    enum form form = form_of(&plain->hw->operations[what]);
    in->kind = INSTRUCTION_VECTOR;
    in->what = (int16_t)what;
    in->elements = form == FOLD ? uses[1].count : uses[0].count;
    if (!check_types(doing) || !key(doing, STEP_ELEMENTS, &in->elements))
        return false;
    if (in->elements < 1)
        return WRONG(doing, "elements=%lld", (long long)in->elements);
    int64_t lanes = plain->hw->vector_repeat_bytes / dtype_bytes(in->type);
    int64_t results = form == FOLD ? (in->elements + lanes - 1) / lanes : in->elements;
    if (results > uses[0].count)
        return WRONG(doing, "%lld results into %lld", (long long)results, (long long)uses[0].count);
    for (int u = 1; u < doing->event.use_count; u++) {
        if (doing->step->from[u - 1].value && plain->hw->operations[what].with_number >= 0)
            in->what = plain->hw->operations[what].with_number;
        if (uses[u].tile < 0)
            continue;
        int64_t asked = form == SPREAD ? 1 : in->elements;
        bool equal = form != EACH || doing->step->keys[STEP_ELEMENTS];
        if (asked > uses[u].count || (!equal && asked != uses[u].count))
            return WRONG(doing, "%lld elements of %lld", (long long)asked,
                         (long long)uses[u].count);
        if (!read(doing, u, asked))
            return false;
    }
    return write(doing, results);
}

static bool do_scalar(struct doing *doing)
{
    struct plain *plain = doing->plain;
    struct instruction *in = &doing->event.in;
    const char *name = doing->step->operation;
    in->kind = INSTRUCTION_SCALAR;
    in->what = (int16_t)hardware_operation(plain->hw, name, (int)strlen(name));
    if (in->what < 0)
        return REFUSED(doing, "no operation %s", name);
    in->count = 1;
    if (!key(doing, STEP_COUNT, &in->count))
        return false;
    if (in->count < 1)
        return WRONG(doing, "count=%lld", (long long)in->count);
    if (!doing->event.use_count)
        return true;
    if (doing->event.uses[0].count != 1 || doing->event.uses[1].count != 1)
        return WRONG(doing, "more than one element");
    return read(doing, 1, 1) && write(doing, 1);
}

/* ------------------------------------------------------------------ */

static bool runs(struct plain *plain, int line, bool *answer)
{
    int64_t holds = 1;
    const struct kernel_step *step = plain->text->lines[line].step;
    for (int n = 0; n < plain->text->loop_count; n++)
        if (plain->once[line] >> n & 1 && !plain->values.loops[n].is_first)
            holds = 0;
    if (holds && step->condition && !plain_number(plain, line, step->condition, &holds))
        return false;
    *answer = holds;
    return true;
}

bool plain_step(struct plain *plain, int line)
{
    static bool (*const verbs[VERBS])(struct doing *) = {do_move, do_move,   do_move,
                                                         do_mmad, do_vector, do_scalar};
    struct doing doing = {plain, plain->text->lines[line].step, line, {.line = line}};
    struct error error;
    bool goes = false;
    if (!runs(plain, line, &goes))
        return false;
    if (!goes)
        return true;
    if (plain->event_count == PLAIN_MAX_EVENTS)
        return plain_fail(plain, PLAIN_TOO_LONG, line, "many steps");
    doing.event.use_count = doing.step->source_count ? 1 + doing.step->source_count : 0;
    for (int u = 0; u < doing.event.use_count; u++)
        if (!plain_use(plain, line, u ? &doing.step->from[u - 1] : &doing.step->to,
                       &doing.event.uses[u]))
            return false;
    if (!verbs[doing.step->verb](&doing))
        return false;
    program_reset(&plain->scratch, plain->hw);
    if (program_add(&plain->scratch, &doing.event.in, &error) != STATUS_OK)
        return REFUSED(&doing, "%s", error.text);
    doing.event.in = plain->scratch.items[0];
    if (!plain_lay(plain, &doing.event))
        return false;
    plain->events[plain->event_count++] = doing.event;
    return true;
}
