/* An instruction is priced once, when it is added: from then on its pipe, price, units and bursts
 * are numbers, and what does not fit into 64 bits has been refused. Closing matches loops with a
 * stack and multiplies their counts out.
 *
 * Briefs are written in one pass with a stack of what is open: how often a line runs, and which
 * pipes are in the loops around it. Flag registers are numbered at first sight. What instructions
 * cost is found in a small memory of those before; where that has forgotten one it gets a second
 * entry, which costs room and no more. */
#include "core/program.h"
#include "core/array.h"
#include "core/work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void program_clear(struct program *program)
{
    free(program->items);
    free(program->regions);
    free(program->briefs);
    free(program->costs);
    free(program->flags);
    memset(program, 0, sizeof *program);
}

void program_reset(struct program *program, const struct hardware *hw)
{
    program->hw = hw;
    program->count = 0;
    program->region_count = 0;
}

static int64_t ceil_div(int64_t value, int64_t unit)
{
    return value / unit + (value % unit != 0);
}

/* The next multiple of the lot; false where it does not fit. */
static bool whole_lots(int64_t value, int64_t lot, int64_t *paid)
{
    return !__builtin_mul_overflow(lot > 1 ? ceil_div(value, lot) : value, lot > 1 ? lot : 1, paid);
}

/* What the pieces of a move cost. One piece is no piece: programs that do the same are equal. */
static enum status price_bursts(const struct hardware *hw, struct instruction *in,
                                struct error *error)
{
    if (in->align_bytes < 0 || (in->align_bytes & (in->align_bytes - 1)))
        return error_set(error, STATUS_INVALID, "align=%lld, expected a power of two",
                         (long long)in->align_bytes);
    in->burst_fs = 0;
    if (in->bursts <= 1) {
        in->bursts = in->align_bytes = 0;
        return STATUS_OK;
    }
    int64_t each = hardware_burst_fs(hw, &hw->prices[in->price], ceil_div(in->bytes, in->bursts),
                                     in->align_bytes);
    if (!__builtin_mul_overflow(in->bursts, each, &in->burst_fs))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "bursts=%lld of %lld fs: more than 2^63 fs",
                     (long long)in->bursts, (long long)each);
}

static enum status price_move(const struct hardware *hw, struct instruction *in,
                              struct error *error)
{
    char path[2 * HARDWARE_NAME_SIZE + 3];
    in->pipe = hw->paths[in->what].pipe;
    in->price = (int16_t)hardware_move_price(hw, in->what, in->type, in->to_type);
    if (in->transpose && in->price == hw->paths[in->what].price)
        in->price = hw->paths[in->what].transposed_price;
    if (in->price < 0)
        return error_set(error, STATUS_INVALID, "path %s cannot cast %s to %s",
                         hardware_path_name(hw, in->what, path), dtype_name(in->type),
                         dtype_name(in->to_type));
    if (in->type == in->to_type)
        in->type = in->to_type =
            DTYPE_F16; /* bytes are bytes: programs that do the same are equal */
    else if (in->bytes % dtype_bytes(in->type))
        return error_set(error, STATUS_INVALID, "bytes=%lld is no multiple of %s's %d bytes",
                         (long long)in->bytes, dtype_name(in->type), dtype_bytes(in->type));
    in->units = in->bytes;
    if (!whole_lots(in->bytes, hw->prices[in->price].lot, &in->paid_units))
        return error_set(error, STATUS_INVALID, "bytes=%lld: more than 2^63 bytes of whole lots",
                         (long long)in->bytes);
    return price_bursts(hw, in, error);
}

static enum status price_matrix(const struct hardware *hw, struct instruction *in,
                                struct error *error)
{
    const struct matrix_type *type = hardware_matrix_type(hw, in->type);
    if (!type)
        return error_set(error, STATUS_INVALID, "the matrix unit of %s has no type %s", hw->name,
                         dtype_name(in->type));
    in->pipe = hw->matrix_pipe;
    in->price = type->price;
    in->to_type = type->accumulator;
    int64_t plane = ceil_div(in->m, type->block_m) * ceil_div(in->k, type->block_k);
    int64_t along_n = ceil_div(in->n, type->block_n), paid;
    int64_t at_once = in->m > type->block_m ? 1 : type->row_blocks_at_once;
    if (whole_lots(along_n, at_once, &paid) &&
        !__builtin_mul_overflow(plane, along_n, &in->units) &&
        !__builtin_mul_overflow(plane, paid, &in->paid_units))
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "m=%d k=%d n=%d: too many blocks", in->m, in->k, in->n);
}

/* A repeat handles vector_repeat_bytes of the wider of the two element types; the first one is
 * the price's base. */
static void price_vector(const struct hardware *hw, struct instruction *in)
{
    int from = dtype_bytes(in->type), to = dtype_bytes(in->to_type);
    int64_t per_repeat = hw->vector_repeat_bytes / (from > to ? from : to);
    int64_t repeats = ceil_div(in->elements, per_repeat);
    in->price = (int16_t)hardware_operation_price(hw, in->what, in->type);
    in->pipe = hw->prices[in->price].pipe;
    in->units = in->paid_units = repeats > 1 ? repeats - 1 : 0;
}

static void price_scalar(const struct hardware *hw, struct instruction *in)
{
    in->price = hw->operations[in->what].price;
    in->pipe = hw->prices[in->price].pipe;
    in->units = in->paid_units = in->count;
}

static enum status check_flag(const struct hardware *hw, struct instruction *in,
                              struct error *error)
{
    in->pipe = (int8_t)(in->kind == INSTRUCTION_SET ? in->from : in->to);
    int count = hardware_flags(hw, in->from, in->to);
    if (in->flag < count)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "flag register %d, expected 0 to %d", in->flag,
                     count - 1);
}

enum status instruction_price(const struct hardware *hw, struct instruction *in,
                              struct error *error)
{
    in->price = -1;
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_MOVE:
        return price_move(hw, in, error);
    case INSTRUCTION_MATRIX:
        return price_matrix(hw, in, error);
    case INSTRUCTION_VECTOR:
        price_vector(hw, in);
        return STATUS_OK;
    case INSTRUCTION_SCALAR:
        price_scalar(hw, in);
        return STATUS_OK;
    case INSTRUCTION_SET:
    case INSTRUCTION_WAIT:
        return check_flag(hw, in, error);
    case INSTRUCTION_BARRIER:
    case INSTRUCTION_LOOP:
    case INSTRUCTION_END:
        break;
    }
    return STATUS_OK;
}

static enum status check_unit(const struct hardware *hw, const struct instruction *in,
                              struct error *error)
{
    bool any = !in->unit;
    for (int b = 0; b < hw->buffer_count && !any; b++)
        any = hw->buffers[b].unit_flag;
    return any ? STATUS_OK
               : error_set(error, STATUS_INVALID, "unit=1: no buffer of %s has a unit flag",
                           hw->name);
}

enum status program_add(struct program *program, const struct instruction *instruction,
                        struct error *error)
{
    if (program->count >= PROGRAM_MAX_LINES)
        return error_set(error, STATUS_TOO_LARGE, "a program has at most %d instructions",
                         PROGRAM_MAX_LINES);
    if (!array_reserve(&program->items, program->count, &program->capacity, sizeof *program->items))
        return error_memory(error);
    struct instruction *in = &program->items[program->count];
    *in = *instruction;
    in->first_region = program->region_count;
    in->region_count = 0;
    if (in->line == 0)
        in->line = program->count + 1;
    TRY(check_unit(program->hw, in, error));
    TRY(instruction_price(program->hw, in, error));
    program->count++;
    return STATUS_OK;
}

static int64_t matrix_extent(const struct hardware *hw, const struct instruction *in,
                             enum operand_role role)
{
    const struct matrix_type *type = hardware_matrix_type(hw, in->type);
    int64_t m = ceil_div(in->m, type->block_m) * type->block_m;
    int64_t k = ceil_div(in->k, type->block_k) * type->block_k;
    int64_t n = ceil_div(in->n, type->block_n) * type->block_n;
    int64_t rows = role == OPERAND_B ? k : role == OPERAND_SRC ? 1 : m;
    int64_t columns = role == OPERAND_A ? k : n;
    int bytes = dtype_bytes(role == OPERAND_A || role == OPERAND_B ? in->type : in->to_type);
    int64_t extent;
    return __builtin_mul_overflow(rows * columns, bytes, &extent) ? INT64_MAX : extent;
}

bool instruction_spreads(const struct hardware *hw, const struct instruction *in,
                         enum operand_role role)
{
    return in->kind == INSTRUCTION_VECTOR && role != OPERAND_DST &&
           hw->operations[in->what].result == RESULT_SPREAD;
}

/* Does it lie in one piece, however the other operands' rows lie? */
static bool is_one_row(const struct hardware *hw, const struct instruction *in,
                       enum operand_role role)
{
    return in->kind == INSTRUCTION_SCALAR || instruction_spreads(hw, in, role) ||
           (in->kind == INSTRUCTION_MOVE && role == OPERAND_SRC2) ||
           (in->kind == INSTRUCTION_MATRIX && role == OPERAND_SRC);
}

static int64_t vector_extent(const struct hardware *hw, const struct instruction *in,
                             enum operand_role role)
{
    int bytes = dtype_bytes(role == OPERAND_DST ? in->to_type : in->type);
    int64_t elements = in->elements, extent;
    if (role == OPERAND_DST && hw->operations[in->what].result == RESULT_ONE_PER_REPEAT)
        elements = ceil_div(elements, hw->vector_repeat_bytes / dtype_bytes(in->type));
    if (instruction_spreads(hw, in, role) && elements > 1)
        elements = 1;
    if (role != OPERAND_DST && hw->operations[in->what].result == RESULT_PAIRS)
        elements = ceil_div(elements, 2);
    return __builtin_mul_overflow(elements, bytes, &extent) ? INT64_MAX : extent;
}

int64_t instruction_extent_bytes(const struct hardware *hw, const struct instruction *in,
                                 enum operand_role role)
{
    int64_t extent;
    switch ((enum instruction_kind)in->kind) {
    case INSTRUCTION_MOVE:
        if (role != OPERAND_DST)
            return role == OPERAND_SRC ? in->bytes : in->row_bytes;
        if (__builtin_mul_overflow(in->bytes / dtype_bytes(in->type), dtype_bytes(in->to_type),
                                   &extent))
            return INT64_MAX;
        return extent;
    case INSTRUCTION_MATRIX:
        return matrix_extent(hw, in, role);
    case INSTRUCTION_VECTOR:
        return vector_extent(hw, in, role);
    case INSTRUCTION_SCALAR:
        if (in->operand_bytes)
            return in->operand_bytes;
        return __builtin_mul_overflow(in->count, 2, &extent) ? INT64_MAX : extent;
    default:
        return 0;
    }
}

unsigned instruction_memories(const struct hardware *hw, const struct instruction *in,
                              enum operand_role role)
{
    if (in->kind == INSTRUCTION_MOVE && role != OPERAND_SRC2)
        return 0;
    return hw->pipes[in->pipe].memories[role];
}

bool instruction_writes(const struct instruction *instruction, enum operand_role role)
{
    (void)instruction;
    return role == OPERAND_DST;
}

enum status program_add_region(struct program *program, const struct region *region,
                               struct error *error)
{
    if (!array_reserve(&program->regions, program->region_count, &program->region_capacity,
                       sizeof *program->regions))
        return error_memory(error);
    struct instruction *in = &program->items[program->count - 1];
    struct region *added = &program->regions[program->region_count];
    *added = *region;
    bool is_row = is_one_row(program->hw, in, region->role);
    if (added->pieces <= 1 || is_row) {
        added->pieces = 1;
        added->piece_stride_bytes = 0;
    }
    if (added->rows <= 1 || is_row) {
        added->rows = added->pieces;
        added->row_stride_bytes = added->piece_stride_bytes;
        added->pieces = 1;
        added->piece_stride_bytes = 0;
    }
    added->bytes = instruction_extent_bytes(program->hw, in, region->role);
    if (added->bytes == 0)
        added->pieces = 1;
    if (added->bytes == INT64_MAX)
        return error_set(error, STATUS_INVALID, "an operand of more than 2^63 bytes");
    int64_t pieces;
    if (__builtin_mul_overflow(added->rows, added->pieces, &pieces))
        pieces = INT64_MAX;
    if (added->bytes % pieces)
        return error_set(error, STATUS_INVALID,
                         "rows=%lld does not divide an operand of %lld bytes", (long long)pieces,
                         (long long)added->bytes);
    program->region_count++;
    in->region_count++;
    return STATUS_OK;
}

int64_t instruction_issue_fs(const struct hardware *hw, const struct instruction *in)
{
    if (in->price < 0)
        return 0;
    int64_t bursts = in->kind == INSTRUCTION_MOVE ? in->burst_fs : 0, sum;
    return __builtin_add_overflow(hw->prices[in->price].base_fs, bursts, &sum) ? INT64_MAX : sum;
}

int64_t instruction_alone_fs(const struct hardware *hw, const struct instruction *in, int cores)
{
    if (in->price < 0)
        return 0;
    const struct price *price = &hw->prices[in->price];
    struct rate rate = price->rate;
    if (price->bus >= 0)
        rate = (struct rate){FS_PER_S, hardware_bus_share(hw, price, cores)};
    int64_t work = rate_ceil_fs(rate, in->paid_units), sum;
    return __builtin_add_overflow(instruction_issue_fs(hw, in), work, &sum) ? INT64_MAX : sum;
}

/* ------------------------------------------------------------------ briefs */

enum { KNOWN_COSTS = 64 };

struct briefer {
    struct program *program;
    struct repetition repetition;
    uint32_t open[PROGRAM_MAX_DEPTH + 1]; /* pipes in the loops around */
    int32_t known[KNOWN_COSTS];           /* into costs, -1: none */
    int16_t flags[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS]; /* the same */
};

static bool costs_as(const struct program_cost *cost, const struct instruction *in,
                     int64_t burst_fs)
{
    return cost->price == in->price && cost->units == in->units &&
           cost->paid_units == in->paid_units && cost->burst_fs == burst_fs;
}

/* The entry of what an instruction costs; -1 without memory. */
static int32_t cost_of(struct briefer *b, const struct instruction *in, int32_t index)
{
    struct program *program = b->program;
    int64_t burst_fs = in->kind == INSTRUCTION_MOVE ? in->burst_fs : 0;
    int32_t *known =
        &b->known[((uint64_t)in->units * 31 + (uint64_t)in->price) * 0x9E3779B97F4A7C15U >> 58];
    if (*known >= 0 && costs_as(&program->costs[*known], in, burst_fs))
        return *known;
    if (!array_reserve(&program->costs, program->cost_count, &program->cost_capacity,
                       sizeof *program->costs))
        return -1;
    *known = program->cost_count++;
    program->costs[*known] = (struct program_cost){.price = in->price,
                                                   .first = index,
                                                   .units = in->units,
                                                   .paid_units = in->paid_units,
                                                   .burst_fs = burst_fs};
    return *known;
}

static int32_t flag_of(struct briefer *b, const struct instruction *in, int64_t times)
{
    struct program *program = b->program;
    int16_t *known = &b->flags[in->from][in->to][in->flag];
    if (*known < 0) {
        if (!array_reserve(&program->flags, program->flag_count, &program->flag_capacity,
                           sizeof *program->flags))
            return -1;
        program->flags[program->flag_count] = (struct program_flag){in->from, in->to, 0};
        *known = (int16_t)program->flag_count++;
    }
    program->flags[*known].waits += in->kind == INSTRUCTION_WAIT ? times : 0;
    return *known;
}

/* A line of a loop; the line that opened it gets the pipes once it is closed. */
static void note_loop(struct briefer *b, const struct instruction *in)
{
    struct program *program = b->program;
    uint32_t pipes = b->open[b->repetition.depth + 1];
    if (in->kind == INSTRUCTION_LOOP) {
        b->open[b->repetition.depth] = 0;
        return;
    }
    program->briefs[in->partner].which = (int32_t)pipes;
    if (program->items[in->partner].count > 0)
        b->open[b->repetition.depth] |= pipes;
}

static uint32_t pipes_of(const struct instruction *in)
{
    if (in->kind != INSTRUCTION_BARRIER)
        return 1u << in->pipe;
    return in->pipe == PROGRAM_PIPE_ALL ? BRIEF_EVERYBODY : 0;
}

static int32_t which_of(struct briefer *b, const struct instruction *in, int32_t index,
                        int64_t times)
{
    if (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT)
        return flag_of(b, in, times);
    int32_t cost = cost_of(b, in, index);
    if (cost >= 0)
        b->program->costs[cost].times += times;
    return cost;
}

/* False without memory. */
static bool brief_one(struct briefer *b, int32_t index)
{
    struct program *program = b->program;
    const struct instruction *in = &program->items[index];
    struct brief *brief = &program->briefs[index];
    int64_t times = repetition_step(&b->repetition, in);
    *brief = (struct brief){.kind = in->kind, .pipe = in->pipe, .which = -1};
    if (in->kind == INSTRUCTION_LOOP || in->kind == INSTRUCTION_END) {
        note_loop(b, in);
        return true;
    }
    b->open[b->repetition.depth] |= pipes_of(in);
    if (in->kind == INSTRUCTION_BARRIER)
        return true;
    brief->transfer = in->price >= 0 && program->hw->prices[in->price].bus >= 0;
    brief->which = which_of(b, in, index, times);
    return brief->which >= 0;
}

/* Writes briefs, costs, flags and pipes anew, of a program whose loops are linked. STATUS_NO_MEMORY
 * is all that can fail. */
static enum status write_briefs(struct program *program, struct error *error)
{
    struct briefer b = {.program = program, .repetition = {.times = {1}}};
    for (int k = 0; k < KNOWN_COSTS; k++)
        b.known[k] = -1;
    memset(b.flags, -1, sizeof b.flags);
    program->cost_count = program->flag_count = 0;
    while (program->brief_capacity < program->count)
        if (!array_double(&program->briefs, &program->brief_capacity, sizeof *program->briefs))
            return error_memory(error);
    for (int32_t i = 0; i < program->count; i++)
        if (!brief_one(&b, i))
            return error_memory(error);
    program->pipes = b.open[0] & ~BRIEF_EVERYBODY;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ whole programs */

/* Instructions executed once through items[first, last), loops unrolled; -1 beyond the limit, which
 * *line then passes. */
static int64_t count_executed(const struct program *program, int32_t first, int32_t last, int *line)
{
    int64_t executed = 0;
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &program->items[i];
        int64_t more = in->kind != INSTRUCTION_END;
        if (in->kind == INSTRUCTION_LOOP) {
            more = in->count ? count_executed(program, i + 1, in->partner, line) : 0;
            i = in->partner;
        }
        if (more < 0 ||
            (in->kind == INSTRUCTION_LOOP && __builtin_mul_overflow(more, in->count, &more)) ||
            __builtin_add_overflow(executed, more, &executed) || executed > PROGRAM_MAX_EXECUTED) {
            *line = in->line;
            return -1;
        }
    }
    return executed;
}

enum status program_close(struct program *program, const char *file, struct error *error)
{
    int32_t open[PROGRAM_MAX_DEPTH], depth = 0;
    for (int32_t i = 0; i < program->count; i++) {
        struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            if (depth == PROGRAM_MAX_DEPTH)
                return error_at(error, file, in->line, "loops nested deeper than %d",
                                PROGRAM_MAX_DEPTH);
            open[depth++] = i;
        } else if (in->kind == INSTRUCTION_END) {
            if (depth == 0)
                return error_at(error, file, in->line, "'end' without a loop");
            in->partner = open[--depth];
            program->items[in->partner].partner = i;
        }
    }
    if (depth)
        return error_at(error, file, program->items[open[depth - 1]].line,
                        "this loop is not closed, expected 'end'");
    int line = 0;
    program->executed = count_executed(program, 0, program->count, &line);
    if (program->executed < 0)
        return error_set(error, STATUS_TOO_LARGE, "%s:%d: more than %lld instructions to play",
                         file, line, PROGRAM_MAX_EXECUTED);
    return write_briefs(program, error);
}

/* Flags and barriers have neither operands nor partners, so that only loops have to be told. */
void program_remove(struct program *program, const bool *gone)
{
    int32_t open[PROGRAM_MAX_DEPTH], depth = 0, count = 0;
    int64_t times[PROGRAM_MAX_DEPTH + 1] = {1};
    for (int32_t i = 0; i < program->count; i++) {
        struct instruction in = program->items[i];
        if (gone[i]) {
            assert(in.region_count == 0);
            program->executed -= times[depth];
            continue;
        }
        in.line = count + 1;
        if (in.kind == INSTRUCTION_LOOP) {
            times[depth + 1] = times[depth] * in.count;
            open[depth++] = count;
        } else if (in.kind == INSTRUCTION_END) {
            assert(depth > 0);
            in.partner = open[--depth];
            program->items[in.partner].partner = count;
        }
        program->items[count++] = in;
    }
    program->count = count;
    (void)write_briefs(program, NULL); /* fewer lines of the same costs: they have room */
}
