/* Value numbering (Cocke and Schwartz 1970), carried through the whole run: the program is executed
 * in an order that its flags allow, and every piece of memory holds a hash of the operation that
 * wrote it and of the hashes that it read. Pieces that nobody has written have a hash of their
 * address, made when it is asked for. At the end, places and values are hashed and added up, which
 * no order can change. */
#include "analysis/advice/symbolic.h"

#include "analysis/check/order.h"

#include <stdlib.h>
#include <string.h>

int64_t grain_divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Does the instruction's kind have the operand, whether its text names it or not? A vector or
 * scalar operation has the sources that it names. */
static bool has_role(const struct instruction *in, enum operand_role role)
{
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_MOVE:
        return role == OPERAND_DST || role == OPERAND_SRC;
    case INSTRUCTION_MATRIX:
        return role == OPERAND_DST || role == OPERAND_A || role == OPERAND_B;
    case INSTRUCTION_VECTOR:
        return role == OPERAND_DST;
    default:
        return false;
    }
}

static int64_t region_grain(const struct region *region, int64_t grain)
{
    grain = grain_divisor(grain, region->offset_bytes);
    grain = grain_divisor(grain, region->bytes / region->rows);
    grain = grain_divisor(grain, region->row_stride_bytes);
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        grain = grain_divisor(grain, region->loop_stride_bytes[d]);
    return grain;
}

int64_t grain_of(const struct program *program)
{
    int64_t grain = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        for (int r = 0; r < in->region_count; r++)
            grain = region_grain(&program->regions[in->first_region + r], grain);
        for (enum operand_role role = 0; role < OPERAND_ROLES; role++)
            if (has_role(in, role))
                grain = grain_divisor(grain, instruction_extent_bytes(program->hw, in, role));
    }
    return grain ? grain : 1;
}

/* The values of one buffer's pieces, between the lowest and the highest that is touched. */
struct store {
    int64_t first, count; /* pieces */
    uint64_t *values;     /* 0: as at the beginning */
};

/* A line's memory for operands that it does not name. */
struct hidden {
    uint64_t read;    /* pieces so far */
    uint64_t written; /* what they were, in order */
};

struct evaluator {
    const struct program *program;
    int64_t grain, visits;
    struct store stores[HARDWARE_MAX_BUFFERS];
    struct hidden *hidden;            /* per line */
    uint64_t *scratch[OPERAND_ROLES]; /* what sources held */
    int64_t room[OPERAND_ROLES];
    struct error *error;
};

/* An operand of an instruction: `pieces` of them, from `start` where it has a region. */
struct operand {
    const struct region *region;
    int64_t start, pieces;
};

/* The finaliser of MurmurHash3 (A. Appleby), a bijection that spreads every bit. */
static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

static uint64_t join_hash(uint64_t hash, uint64_t value)
{
    return mix_bits(hash * 0x9e3779b97f4a7c15ULL + value + 1);
}

static const struct region *find_region(const struct program *program, const struct instruction *in,
                                        enum operand_role role)
{
    for (int r = 0; r < in->region_count; r++)
        if (program->regions[in->first_region + r].role == role)
            return &program->regions[in->first_region + r];
    return NULL;
}

static int64_t start_of(const struct region *region, const int64_t *index)
{
    int64_t start = region->offset_bytes;
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        start += region->loop_stride_bytes[d] * index[d];
    return start;
}

static struct operand find_operand(const struct evaluator *evaluator, const struct event *event,
                                   enum operand_role role)
{
    const struct instruction *in = &evaluator->program->items[event->item];
    struct operand operand = {.region = find_region(evaluator->program, in, role)};
    if (operand.region) {
        operand.start = start_of(operand.region, event->index);
        operand.pieces = operand.region->bytes / evaluator->grain;
    } else if (has_role(in, role)) {
        operand.pieces =
            instruction_extent_bytes(evaluator->program->hw, in, role) / evaluator->grain;
    }
    return operand;
}

/* The value of piece number `piece` of an operand with a region. */
static uint64_t *value_place(const struct evaluator *evaluator, const struct operand *operand,
                             int64_t piece)
{
    const struct region *region = operand->region;
    const struct store *store = &evaluator->stores[region->buffer];
    int64_t per_row = operand->pieces / region->rows;
    int64_t address = operand->start + piece / per_row * region->row_stride_bytes;
    return &store->values[address / evaluator->grain + piece % per_row - store->first];
}

static uint64_t first_value(int buffer, int64_t piece)
{
    uint64_t value = join_hash(join_hash(1, (uint64_t)buffer), (uint64_t)piece);
    return value ? value : 1;
}

static uint64_t read_piece(struct evaluator *evaluator, int32_t item, const struct operand *operand,
                           int64_t piece)
{
    if (!operand->region) {
        int32_t line = evaluator->program->items[item].line;
        return join_hash(join_hash(2, (uint64_t)line), evaluator->hidden[line].read++);
    }
    uint64_t *value = value_place(evaluator, operand, piece);
    const struct store *store = &evaluator->stores[operand->region->buffer];
    return *value ? *value
                  : first_value(operand->region->buffer, store->first + (value - store->values));
}

static enum status gather(struct evaluator *evaluator, int32_t item, enum operand_role role,
                          const struct operand *operand)
{
    if (operand->pieces > evaluator->room[role]) {
        uint64_t *grown =
            realloc(evaluator->scratch[role], (size_t)operand->pieces * sizeof *grown);
        if (!grown)
            return error_memory(evaluator->error);
        evaluator->scratch[role] = grown;
        evaluator->room[role] = operand->pieces;
    }
    for (int64_t p = 0; p < operand->pieces; p++)
        evaluator->scratch[role][p] = read_piece(evaluator, item, operand, p);
    return STATUS_OK;
}

/* Does its text say all that its result depends on? */
static bool says_all(const struct program *program, const struct instruction *in)
{
    int named = 0;
    for (int r = 0; r < in->region_count; r++)
        named += program->regions[in->first_region + r].role != OPERAND_DST;
    int inputs = in->kind == INSTRUCTION_VECTOR ? program->hw->operations[in->what].inputs : 0;
    return inputs > 0 && named == inputs;
}

/* What makes two instructions do the same to the same operands. */
static uint64_t hash_of_act(const struct program *program, const struct instruction *in)
{
    uint64_t hash = join_hash(join_hash(3, in->kind), (uint64_t)in->what);
    hash = join_hash(join_hash(join_hash(hash, in->type), in->to_type), in->transpose);
    if (in->kind == INSTRUCTION_MATRIX)
        return join_hash(join_hash(join_hash(hash, (uint64_t)in->m), (uint64_t)in->k),
                         (uint64_t)in->n);
    bool all = in->kind == INSTRUCTION_MOVE || says_all(program, in);
    return all ? hash : join_hash(hash, (uint64_t)in->line);
}

/* The bytes of a source that make the bytes [low, high) of the destination, of element-wise and
 * reducing instructions; phase: where within its first piece. */
struct share {
    int64_t first, last; /* pieces */
    int64_t phase;
};

static struct share share_of(const struct evaluator *evaluator, const struct instruction *in,
                             int64_t piece, int64_t pieces)
{
    const struct hardware *hw = evaluator->program->hw;
    int from = dtype_bytes(in->type), to = dtype_bytes(in->to_type);
    int64_t grain = evaluator->grain, low = piece * grain, high = low + grain, first, last;
    if (instruction_spreads(hw, in, OPERAND_SRC))
        return (struct share){0, pieces, low % to};
    bool reduces =
        in->kind == INSTRUCTION_VECTOR && hw->operations[in->what].result == RESULT_ONE_PER_REPEAT;
    if (reduces) {
        first = low / to * hw->vector_repeat_bytes;
        last = (high + to - 1) / to * hw->vector_repeat_bytes;
    } else {
        if (in->kind == INSTRUCTION_VECTOR && hw->operations[in->what].result == RESULT_PAIRS)
            to *= 2;
        first = low * from / to;
        last = (high * from + to - 1) / to;
    }
    struct share share = {first / grain, (last + grain - 1) / grain,
                          reduces ? low % to : low * from % (to * grain)};
    share.last = share.last > pieces ? pieces : share.last;
    share.first = share.first > share.last ? share.last : share.first;
    return share;
}

static bool is_plain_move(const struct instruction *in)
{
    return in->kind == INSTRUCTION_MOVE && in->type == in->to_type && !in->transpose &&
           !in->row_bytes;
}

/* Each piece of the result comes from its share of every source. */
static uint64_t value_by_element(const struct evaluator *evaluator, const struct instruction *in,
                                 const struct operand operands[OPERAND_ROLES], int64_t piece)
{
    if (is_plain_move(in))
        return evaluator->scratch[OPERAND_SRC][piece];
    uint64_t hash = hash_of_act(evaluator->program, in);
    for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++) {
        if (operands[role].pieces == 0)
            continue;
        struct share share = share_of(evaluator, in, piece, operands[role].pieces);
        hash = join_hash(join_hash(hash, role), (uint64_t)share.phase);
        for (int64_t p = share.first; p < share.last; p++)
            hash = join_hash(hash, evaluator->scratch[role][p]);
    }
    return hash;
}

/* Each piece of the result may come from everything: matrix products, moves that transpose or have
 * a row of factors, scalars,
 * which may compute where they write. */
static uint64_t value_of_all(const struct evaluator *evaluator, const struct instruction *in,
                             const struct operand operands[OPERAND_ROLES])
{
    uint64_t hash = hash_of_act(evaluator->program, in);
    for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++)
        for (int64_t p = 0; p < operands[role].pieces; p++)
            hash = join_hash(hash, evaluator->scratch[role][p]);
    return hash;
}

static void write_piece(struct evaluator *evaluator, int32_t item, const struct operand *operand,
                        int64_t piece, uint64_t value)
{
    uint64_t *hidden = &evaluator->hidden[evaluator->program->items[item].line].written;
    if (operand->region)
        *value_place(evaluator, operand, piece) = value ? value : 1;
    else
        *hidden = join_hash(*hidden, value);
}

static void write_results(struct evaluator *evaluator, int32_t item,
                          const struct operand operands[OPERAND_ROLES])
{
    const struct instruction *in = &evaluator->program->items[item];
    bool has_row = in->kind == INSTRUCTION_MOVE && in->row_bytes;
    bool whole = in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_SCALAR ||
                 in->transpose || has_row;
    const struct operand *dst = &operands[OPERAND_DST];
    uint64_t all = whole ? value_of_all(evaluator, in, operands) : 0;
    bool keeps = in->accumulate || (in->kind == INSTRUCTION_SCALAR && in->operand_bytes);
    for (int64_t p = 0; p < dst->pieces; p++) {
        uint64_t value =
            whole ? join_hash(all, (uint64_t)p) : value_by_element(evaluator, in, operands, p);
        if (keeps)
            value = join_hash(value, read_piece(evaluator, item, dst, p));
        write_piece(evaluator, item, dst, p, value);
    }
}

static enum status evaluate_event(struct evaluator *evaluator, const struct event *event)
{
    const struct instruction *in = &evaluator->program->items[event->item];
    struct operand operands[OPERAND_ROLES];
    if (in->kind > INSTRUCTION_SCALAR)
        return STATUS_OK;
    for (enum operand_role role = 0; role < OPERAND_ROLES; role++) {
        operands[role] = find_operand(evaluator, event, role);
        evaluator->visits += operands[role].pieces;
        if (role != OPERAND_DST)
            TRY(gather(evaluator, event->item, role, &operands[role]));
    }
    if (evaluator->visits > SYMBOLIC_MAX_VISITS)
        return error_set(evaluator->error, STATUS_TOO_LARGE,
                         "more than %lld pieces of %lld bytes to follow", SYMBOLIC_MAX_VISITS,
                         (long long)evaluator->grain);
    write_results(evaluator, event->item, operands);
    return STATUS_OK;
}

static enum status widen(struct evaluator *evaluator, const struct nest *nest, int32_t item,
                         const struct region *region, struct range ranges[HARDWARE_MAX_BUFFERS])
{
    struct range range, *whole = &ranges[region->buffer];
    if (!region_range(evaluator->program, nest, item, region, &range))
        return error_set(evaluator->error, STATUS_TOO_LARGE, "an address beyond 2^63");
    if (whole->low == whole->high)
        *whole = range;
    whole->low = range.low < whole->low ? range.low : whole->low;
    whole->high = range.high > whole->high ? range.high : whole->high;
    return STATUS_OK;
}

static enum status make_stores(struct evaluator *evaluator, const struct nest *nest)
{
    const struct program *program = evaluator->program;
    struct range ranges[HARDWARE_MAX_BUFFERS] = {{0}};
    int64_t left = SYMBOLIC_MAX_PIECES;
    for (int32_t i = 0; i < program->count; i++)
        for (int r = 0; r < program->items[i].region_count && nest->executed[i]; r++)
            TRY(widen(evaluator, nest, i, &program->regions[program->items[i].first_region + r],
                      ranges));
    for (int b = 0; b < program->hw->buffer_count; b++) {
        struct store *store = &evaluator->stores[b];
        store->first = ranges[b].low / evaluator->grain;
        store->count = ranges[b].high / evaluator->grain - store->first;
        left -= store->count;
        if (store->count < 0 || left < 0)
            return error_set(evaluator->error, STATUS_TOO_LARGE,
                             "operands over more than %lld pieces of %lld bytes",
                             SYMBOLIC_MAX_PIECES, (long long)evaluator->grain);
        store->values = calloc((size_t)store->count + 1, sizeof *store->values);
        if (!store->values)
            return error_memory(evaluator->error);
    }
    return STATUS_OK;
}

static enum status evaluate_all(struct evaluator *evaluator, const struct nest *nest)
{
    struct order order;
    struct event event = {.item = 0};
    enum status status = order_init(&order, evaluator->program, nest, evaluator->error);
    while (status == STATUS_OK && event.item >= 0) {
        status = order_next(&order, &event, evaluator->error);
        if (status == STATUS_OK && event.item >= 0)
            status = evaluate_event(evaluator, &event);
    }
    order_clear(&order);
    return status;
}

/* Sums, so that the order in which memory is looked through plays no part. */
static void sum_up(const struct evaluator *evaluator, int32_t lines, struct symbolic *symbolic)
{
    const struct program *program = evaluator->program;
    *symbolic = (struct symbolic){0};
    for (int b = 0; b < program->hw->buffer_count; b++) {
        const struct store *store = &evaluator->stores[b];
        bool external = program->hw->buffers[b].capacity_bytes == 0;
        uint64_t *sum = external ? &symbolic->outside : &symbolic->inside;
        for (int64_t p = 0; p < store->count; p++)
            if (store->values[p] && store->values[p] != first_value(b, store->first + p)) {
                *sum += join_hash(first_value(b, store->first + p), store->values[p]);
                symbolic->leaves |= external;
            }
    }
    for (int32_t line = 0; line < lines; line++)
        if (evaluator->hidden[line].written) {
            symbolic->outside +=
                join_hash(join_hash(4, (uint64_t)line), evaluator->hidden[line].written);
            symbolic->leaves = true;
        }
}

enum status symbolic_evaluate(const struct program *program, int64_t grain,
                              struct symbolic *symbolic, struct error *error)
{
    struct evaluator evaluator = {.program = program, .grain = grain, .error = error};
    struct nest nest;
    enum status status = nest_init(&nest, program, error);
    if (status != STATUS_OK)
        return status;
    int32_t lines = 1;
    for (int32_t i = 0; i < program->count; i++)
        lines = program->items[i].line >= lines ? program->items[i].line + 1 : lines;
    evaluator.hidden = calloc((size_t)lines, sizeof *evaluator.hidden);
    status = evaluator.hidden ? make_stores(&evaluator, &nest) : error_memory(error);
    if (status == STATUS_OK && evaluator.hidden)
        status = evaluate_all(&evaluator, &nest);
    if (status == STATUS_OK && evaluator.hidden)
        sum_up(&evaluator, lines, symbolic);
    for (int b = 0; b < HARDWARE_MAX_BUFFERS; b++)
        free(evaluator.stores[b].values);
    for (int role = 0; role < OPERAND_ROLES; role++)
        free(evaluator.scratch[role]);
    free(evaluator.hidden);
    nest_clear(&nest);
    return status;
}

bool symbolic_equal(const struct symbolic *one, const struct symbolic *other)
{
    if (one->leaves || other->leaves)
        return one->leaves == other->leaves && one->outside == other->outside;
    return one->inside == other->inside;
}
