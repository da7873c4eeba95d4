/* The gates stand in find_gate, cheapest first: simulated time, safety, symbolic values. Two
 * programs are compared in pieces that cut the operands of both, so the first one's are taken anew
 * where a change needs finer pieces. What exceeds a limit is refused, not an error.
 *
 * What oversync finds may go together, so it is all deleted in one change, from the last line on so
 * that line numbers before it stay true. The search sees only so far into a long program; so it is
 * repeated until it finds nothing or the trial refuses.
 *
 * Symbolic values: value numbering (Cocke and Schwartz 1970), carried through the whole run: the
 * program is executed in an order that its flags allow, and every piece of memory holds a hash of
 * the operation that wrote it and of the hashes that it read. Pieces that nobody has written have a
 * hash of their address, made when it is asked for. At the end, places and values are hashed and
 * added up, which no order can change. */
#include "analysis/advice/trial.h"

#include "analysis/advice/resync.h"
#include "analysis/check/check.h"
#include "analysis/check/order.h"
#include "analysis/check/oversync.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ symbolic values */

#define SYMBOLIC_MAX_PIECES (1LL << 24) /* of all buffers together */
#define SYMBOLIC_MAX_VISITS 200000000LL /* pieces read and written by all instructions */

/* The greatest common divisor; of 0 and a number, that number. */
static int64_t grain_divisor(int64_t a, int64_t b)
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
    grain = grain_divisor(grain, region->bytes / region->rows / region->pieces);
    grain = grain_divisor(grain, region->row_stride_bytes);
    grain = grain_divisor(grain, region->piece_stride_bytes);
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        grain = grain_divisor(grain, region->loop_stride_bytes[d]);
    return grain;
}

/* The greatest number of bytes that divides every address and size of the program; at least 1. */
static int64_t grain_of(const struct program *program)
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
    int64_t per_row = operand->pieces / region->rows, per_piece = per_row / region->pieces;
    int64_t address = operand->start + piece / per_row * region->row_stride_bytes +
                      piece % per_row / per_piece * region->piece_stride_bytes;
    return &store->values[address / evaluator->grain + piece % per_piece - store->first];
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

static enum status symbolic_evaluate(const struct program *program, int64_t grain,
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

/* Where nothing leaves the chip, what stays there counts. */
static bool symbolic_equal(const struct symbolic *one, const struct symbolic *other)
{
    if (one->leaves || other->leaves)
        return one->leaves == other->leaves && one->outside == other->outside;
    return one->inside == other->inside;
}

/* ------------------------------------------------------------------ safety */

/* The first line with an operand that may lie anywhere in a buffer of the chip; 0: none. */
static int32_t find_unnamed(const struct program *program)
{
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        uint32_t named = 0, needed = 0;
        for (int r = 0; r < in->region_count; r++)
            named |= 1u << program->regions[in->first_region + r].role;
        if (in->kind == INSTRUCTION_MATRIX)
            needed = 1u << OPERAND_A | 1u << OPERAND_B | 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_VECTOR)
            needed = 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_MOVE) {
            const struct path *path = &program->hw->paths[in->what];
            const struct buffer *buffers = program->hw->buffers;
            needed |= buffers[path->source].capacity_bytes ? 1u << OPERAND_SRC : 0;
            needed |= buffers[path->destination].capacity_bytes ? 1u << OPERAND_DST : 0;
        }
        if (needed & ~named)
            return in->line;
    }
    return 0;
}

enum status safety_of(const struct program *program, struct safety *safety, struct error *error)
{
    struct check check;
    enum status status = program_check_safety(program, &check, error);
    *safety = (struct safety){.safe = status == STATUS_OK, .unnamed_line = find_unnamed(program)};
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < check.count; i++) {
        const struct finding *finding = &check.findings[i];
        if (finding->kind == FINDING_ALIGNMENT) {
            safety->misaligned++;
            continue;
        }
        if (safety->safe)
            memcpy(safety->why, finding->text, sizeof safety->why);
        safety->safe = false;
    }
    check_clear(&check);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ trials */

/* Nothing where the program is too long. */
static enum status find_superfluous(const struct program *program, struct oversync *found,
                                    struct error *error)
{
    enum status status = oversync_find(program, NULL, found, error);
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

/* Is there none in the program? So it seems, too, where it is too long to be searched. */
static enum status tidy_is(const struct program *program, bool *tidy, struct error *error)
{
    struct oversync found;
    enum status status = find_superfluous(program, &found, error);
    *tidy = found.item_count == 0;
    oversync_clear(&found);
    return status;
}

/* Its time, or -1 when it deadlocks. */
static enum status time_of(struct trial *trial, const struct program *program, int64_t *time_fs,
                           struct error *error)
{
    struct simulate_options options = {.cores = trial->cores};
    struct timeline timeline;
    TRY(simulate(trial->simulator, program, &options, &timeline, error));
    *time_fs = timeline.blocked >= 0 ? -1 : timeline.end_fs;
    return STATUS_OK;
}

enum status trial_open(struct trial *trial, const struct program *program, int cores,
                       struct error *error)
{
    *trial = (struct trial){.first = program, .cores = cores};
    if (program->executed > TRIAL_MAX_EXECUTED)
        return error_set(error, STATUS_TOO_LARGE,
                         "more than %d instructions to follow, loops unrolled", TRIAL_MAX_EXECUTED);
    trial->simulator = simulator_new();
    if (!trial->simulator)
        return error_memory(error);
    enum status status = time_of(trial, program, &trial->first_fs, error);
    if (status == STATUS_OK)
        status = safety_of(program, &trial->safety, error);
    if (status == STATUS_OK && trial->safety.safe) {
        trial->grain = grain_of(program);
        status = symbolic_evaluate(program, trial->grain, &trial->first_symbolic, error);
    }
    if (status == STATUS_OK && trial->safety.safe)
        status = tidy_is(program, &trial->tidy, error);
    if (status != STATUS_OK)
        trial_close(trial);
    return status;
}

void trial_close(struct trial *trial)
{
    simulator_free(trial->simulator);
    program_clear(&trial->best);
    trial->simulator = NULL;
}

void trial_begin(struct trial *trial)
{
    program_clear(&trial->best);
    trial->best_fs = trial->first_fs;
    trial->tries = 0;
    trial->events = 0;
    memset(trial->refused, 0, sizeof trial->refused);
}

const struct program *trial_program(const struct trial *trial)
{
    return trial->best.hw ? &trial->best : trial->first;
}

bool trial_goes_on(const struct trial *trial)
{
    return trial->tries < TRIAL_MAX_TRIES && trial->events < TRIAL_MAX_EVENTS;
}

static enum status means_the_same(struct trial *trial, const struct program *program, bool *same,
                                  struct error *error)
{
    struct symbolic first = trial->first_symbolic, changed;
    int64_t grain = grain_divisor(trial->grain, grain_of(program));
    enum status status = STATUS_OK;
    if (grain != trial->grain)
        status = symbolic_evaluate(trial->first, grain, &first, error);
    if (status == STATUS_OK)
        status = symbolic_evaluate(program, grain, &changed, error);
    *same = status == STATUS_OK && symbolic_equal(&first, &changed);
    return status;
}

/* The gate at which a program is refused; TRIAL_GATES when it passes all. */
static enum status find_gate(struct trial *trial, const struct program *program, enum trial_aim aim,
                             int64_t *time_fs, enum trial_gate *gate, struct error *error)
{
    struct safety safety;
    bool same = false;
    enum status status = time_of(trial, program, time_fs, error);
    *gate = *time_fs < 0 ? TRIAL_UNSAFE : TRIAL_SLOWER;
    int64_t most_fs[] = {[TRIAL_FASTER] = trial->best_fs - 1,
                         [TRIAL_NOT_SLOWER] = trial->best_fs,
                         [TRIAL_ANY_TIME] = INT64_MAX};
    if (status != STATUS_OK || *time_fs < 0 || *time_fs > most_fs[aim])
        return status;
    *gate = TRIAL_UNSAFE;
    trial->events += program->executed;
    status = safety_of(program, &safety, error);
    if (status != STATUS_OK || !safety.safe || safety.misaligned > trial->safety.misaligned)
        return status;
    *gate = TRIAL_DIFFERENT;
    status = means_the_same(trial, program, &same, error);
    if (same)
        *gate = TRIAL_GATES;
    return status;
}

enum status trial_try(struct trial *trial, const struct edit *edit, enum trial_aim aim, bool *taken,
                      struct error *error)
{
    struct program changed;
    enum trial_gate gate = TRIAL_UNSAFE;
    int64_t time_fs = -1;
    *taken = false;
    trial->tries++;
    enum status status = edit_program(edit, &changed, error);
    if (status == STATUS_OK)
        status = find_gate(trial, &changed, aim, &time_fs, &gate, error);
    if (status == STATUS_NO_MEMORY) {
        program_clear(&changed);
        return status;
    }
    gate = status == STATUS_OK ? gate : TRIAL_UNPROVEN;
    *taken = gate == TRIAL_GATES;
    if (!*taken) {
        trial->refused[gate]++;
        program_clear(&changed);
        return STATUS_OK;
    }
    program_clear(&trial->best);
    trial->best = changed;
    trial->best_fs = time_fs;
    return STATUS_OK;
}

enum status trial_try_synced(struct trial *trial, struct edit *edit, bool *taken,
                             struct error *error)
{
    bool better = false;
    TRY(trial_try(trial, edit, TRIAL_FASTER, taken, error));
    if (resync(edit))
        TRY(trial_try(trial, edit, TRIAL_FASTER, &better, error));
    *taken |= better;
    return STATUS_OK;
}

static enum status try_at(struct trial *trial, int32_t at, bool (*change)(struct edit *, int32_t),
                          bool *taken, struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && change(&edit, at))
        status = trial_try_synced(trial, &edit, taken, error);
    edit_close(&edit);
    return status;
}

enum status trial_moves(struct trial *trial, bool (*first)(struct edit *edit, int32_t at),
                        bool (*second)(struct edit *edit, int32_t at), struct error *error)
{
    for (int32_t at = 0; at < trial_program(trial)->count; at++) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind != INSTRUCTION_MOVE || !trial_goes_on(trial))
            continue;
        TRY(try_at(trial, at, first, &taken, error));
        if (!taken)
            TRY(try_at(trial, at, second, &taken, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ superfluous synchronisation */

static int from_last(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a < b) - (a > b);
}

/* Takes out all that may go, from the last line on. *taken: something did. */
static enum status take_out_superfluous(struct trial *trial, enum trial_aim aim, bool *taken,
                                        struct error *error)
{
    struct oversync found;
    struct edit edit;
    *taken = false;
    enum status status = find_superfluous(trial_program(trial), &found, error);
    if (status != STATUS_OK || found.item_count == 0) {
        oversync_clear(&found);
        return status;
    }
    qsort(found.items, (size_t)found.item_count, sizeof *found.items, from_last);
    status = edit_open(&edit, trial_program(trial), error);
    for (int32_t i = 0; i < found.item_count && status == STATUS_OK; i++)
        edit_delete(&edit, found.items[i], 1);
    if (status == STATUS_OK)
        status = trial_try(trial, &edit, aim, taken, error);
    edit_close(&edit);
    oversync_clear(&found);
    return status;
}

enum status tidy(struct trial *trial, enum trial_aim aim, struct error *error)
{
    enum status status;
    bool taken;
    do /* of a program too long to be searched at once, more is found each time */
        status = take_out_superfluous(trial, aim, &taken, error);
    while (status == STATUS_OK && taken);
    return status;
}

enum status tidy_change(struct trial *trial, struct error *error)
{
    bool is_tidy = true;
    enum status status = tidy(trial, TRIAL_ANY_TIME, error);
    if (status == STATUS_OK)
        status = tidy_is(trial_program(trial), &is_tidy, error);
    if (!is_tidy) {
        program_clear(&trial->best);
        trial->best_fs = trial->first_fs;
    }
    return status;
}
