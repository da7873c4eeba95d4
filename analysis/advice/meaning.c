#include "analysis/advice/meaning.h"

#include "analysis/advice/grain.h"
#include "analysis/check/order.h"
#include "analysis/check/region.h"

#include <stdlib.h>
#include <string.h>

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

struct player {
    const struct program *program;
    int64_t grain, visits;
    struct store stores[HARDWARE_MAX_BUFFERS];
    struct hidden *hidden;            /* per line */
    uint64_t *scratch[OPERAND_ROLES]; /* what sources held */
    int64_t room[OPERAND_ROLES];
    struct error *error;
};

/* An operand in an instruction's play: `pieces` of them, from `start` where it has a region. */
struct operand {
    const struct region *region;
    int64_t start, pieces;
};

/* The finaliser of MurmurHash3 (A. Appleby), a bijection that spreads every bit. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

static uint64_t join(uint64_t hash, uint64_t value)
{
    return mix(hash * 0x9e3779b97f4a7c15ULL + value + 1);
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

static struct operand find_operand(const struct player *player, const struct event *event,
                                   enum operand_role role)
{
    const struct instruction *in = &player->program->items[event->item];
    struct operand operand = {.region = find_region(player->program, in, role)};
    if (operand.region) {
        operand.start = start_of(operand.region, event->index);
        operand.pieces = operand.region->bytes / player->grain;
    } else if (grain_has_role(in, role)) {
        operand.pieces = instruction_extent_bytes(player->program->hw, in, role) / player->grain;
    }
    return operand;
}

/* The value of piece number `piece` of an operand with a region. */
static uint64_t *place(const struct player *player, const struct operand *operand, int64_t piece)
{
    const struct region *region = operand->region;
    const struct store *store = &player->stores[region->buffer];
    int64_t per_row = operand->pieces / region->rows;
    int64_t address = operand->start + piece / per_row * region->row_stride_bytes;
    return &store->values[address / player->grain + piece % per_row - store->first];
}

static uint64_t first_value(int buffer, int64_t piece)
{
    uint64_t value = join(join(1, (uint64_t)buffer), (uint64_t)piece);
    return value ? value : 1;
}

static uint64_t read_piece(struct player *player, int32_t item, const struct operand *operand,
                           int64_t piece)
{
    if (!operand->region) {
        int32_t line = player->program->items[item].line;
        return join(join(2, (uint64_t)line), player->hidden[line].read++);
    }
    uint64_t *value = place(player, operand, piece);
    const struct store *store = &player->stores[operand->region->buffer];
    return *value ? *value
                  : first_value(operand->region->buffer, store->first + (value - store->values));
}

static enum status gather(struct player *player, int32_t item, enum operand_role role,
                          const struct operand *operand)
{
    if (operand->pieces > player->room[role]) {
        uint64_t *grown = realloc(player->scratch[role], (size_t)operand->pieces * sizeof *grown);
        if (!grown)
            return error_memory(player->error);
        player->scratch[role] = grown;
        player->room[role] = operand->pieces;
    }
    for (int64_t p = 0; p < operand->pieces; p++)
        player->scratch[role][p] = read_piece(player, item, operand, p);
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
static uint64_t act(const struct program *program, const struct instruction *in)
{
    uint64_t hash = join(join(3, in->kind), (uint64_t)in->what);
    hash = join(join(join(hash, in->type), in->to_type), in->transpose);
    if (in->kind == INSTRUCTION_MATRIX)
        return join(join(join(hash, (uint64_t)in->m), (uint64_t)in->k), (uint64_t)in->n);
    bool all = in->kind == INSTRUCTION_MOVE || says_all(program, in);
    return all ? hash : join(hash, (uint64_t)in->line);
}

/* The bytes of a source that make the bytes [low, high) of the destination, of element-wise and
 * reducing instructions; phase: where within its first piece. */
struct share {
    int64_t first, last; /* pieces */
    int64_t phase;
};

static struct share share_of(const struct player *player, const struct instruction *in,
                             int64_t piece, int64_t pieces)
{
    const struct hardware *hw = player->program->hw;
    int from = dtype_bytes(in->type), to = dtype_bytes(in->to_type);
    int64_t grain = player->grain, low = piece * grain, high = low + grain, first, last;
    bool reduces =
        in->kind == INSTRUCTION_VECTOR && hw->operations[in->what].result == RESULT_ONE_PER_REPEAT;
    if (reduces) {
        first = low / to * hw->vector_repeat_bytes;
        last = (high + to - 1) / to * hw->vector_repeat_bytes;
    } else {
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
    return in->kind == INSTRUCTION_MOVE && in->type == in->to_type && !in->transpose;
}

/* Each piece of the result comes from its share of every source. */
static uint64_t value_by_element(const struct player *player, const struct instruction *in,
                                 const struct operand operands[OPERAND_ROLES], int64_t piece)
{
    if (is_plain_move(in))
        return player->scratch[OPERAND_SRC][piece];
    uint64_t hash = act(player->program, in);
    for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++) {
        if (operands[role].pieces == 0)
            continue;
        struct share share = share_of(player, in, piece, operands[role].pieces);
        hash = join(join(hash, role), (uint64_t)share.phase);
        for (int64_t p = share.first; p < share.last; p++)
            hash = join(hash, player->scratch[role][p]);
    }
    return hash;
}

/* Each piece of the result may come from everything: matrix products, transposing moves, scalars,
 * which may compute where they write. */
static uint64_t value_of_all(const struct player *player, const struct instruction *in,
                             const struct operand operands[OPERAND_ROLES])
{
    uint64_t hash = act(player->program, in);
    for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++)
        for (int64_t p = 0; p < operands[role].pieces; p++)
            hash = join(hash, player->scratch[role][p]);
    return hash;
}

static void write_piece(struct player *player, int32_t item, const struct operand *operand,
                        int64_t piece, uint64_t value)
{
    uint64_t *hidden = &player->hidden[player->program->items[item].line].written;
    if (operand->region)
        *place(player, operand, piece) = value ? value : 1;
    else
        *hidden = join(*hidden, value);
}

static void write_results(struct player *player, int32_t item,
                          const struct operand operands[OPERAND_ROLES])
{
    const struct instruction *in = &player->program->items[item];
    bool whole = in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_SCALAR || in->transpose;
    const struct operand *dst = &operands[OPERAND_DST];
    uint64_t all = whole ? value_of_all(player, in, operands) : 0;
    bool keeps = in->accumulate || (in->kind == INSTRUCTION_SCALAR && in->operand_bytes);
    for (int64_t p = 0; p < dst->pieces; p++) {
        uint64_t value = whole ? join(all, (uint64_t)p) : value_by_element(player, in, operands, p);
        if (keeps)
            value = join(value, read_piece(player, item, dst, p));
        write_piece(player, item, dst, p, value);
    }
}

static enum status play(struct player *player, const struct event *event)
{
    const struct instruction *in = &player->program->items[event->item];
    struct operand operands[OPERAND_ROLES];
    enum status status = STATUS_OK;
    if (in->kind > INSTRUCTION_SCALAR)
        return STATUS_OK;
    for (enum operand_role role = 0; role < OPERAND_ROLES; role++) {
        operands[role] = find_operand(player, event, role);
        player->visits += operands[role].pieces;
        if (role != OPERAND_DST && status == STATUS_OK)
            status = gather(player, event->item, role, &operands[role]);
    }
    if (status == STATUS_OK && player->visits > MEANING_MAX_VISITS)
        status = error_set(player->error, STATUS_TOO_LARGE,
                           "more than %lld pieces of %lld bytes to follow", MEANING_MAX_VISITS,
                           (long long)player->grain);
    if (status == STATUS_OK)
        write_results(player, event->item, operands);
    return status;
}

static enum status widen(struct player *player, const struct nest *nest, int32_t item,
                         const struct region *region, struct range ranges[HARDWARE_MAX_BUFFERS])
{
    struct range range, *whole = &ranges[region->buffer];
    if (!region_range(player->program, nest, item, region, &range))
        return error_set(player->error, STATUS_TOO_LARGE, "an address beyond 2^63");
    if (whole->low == whole->high)
        *whole = range;
    whole->low = range.low < whole->low ? range.low : whole->low;
    whole->high = range.high > whole->high ? range.high : whole->high;
    return STATUS_OK;
}

static enum status make_stores(struct player *player, const struct nest *nest)
{
    const struct program *program = player->program;
    struct range ranges[HARDWARE_MAX_BUFFERS] = {{0}};
    enum status status = STATUS_OK;
    int64_t left = MEANING_MAX_PIECES;
    for (int32_t i = 0; i < program->count && status == STATUS_OK; i++)
        for (int r = 0; r < program->items[i].region_count && nest->played[i]; r++)
            if (status == STATUS_OK)
                status = widen(player, nest, i,
                               &program->regions[program->items[i].first_region + r], ranges);
    for (int b = 0; b < program->hw->buffer_count && status == STATUS_OK; b++) {
        struct store *store = &player->stores[b];
        store->first = ranges[b].low / player->grain;
        store->count = ranges[b].high / player->grain - store->first;
        left -= store->count;
        if (store->count < 0 || left < 0)
            return error_set(player->error, STATUS_TOO_LARGE,
                             "operands over more than %lld pieces of %lld bytes",
                             MEANING_MAX_PIECES, (long long)player->grain);
        store->values = calloc((size_t)store->count + 1, sizeof *store->values);
        if (!store->values)
            status = error_memory(player->error);
    }
    return status;
}

static enum status play_all(struct player *player, const struct nest *nest)
{
    struct order order;
    struct event event = {.item = 0};
    enum status status = order_init(&order, player->program, nest, player->error);
    while (status == STATUS_OK && event.item >= 0) {
        status = order_next(&order, &event, player->error);
        if (status == STATUS_OK && event.item >= 0)
            status = play(player, &event);
    }
    order_clear(&order);
    return status;
}

/* Sums, so that the order in which memory is looked through plays no part. */
static void sum_up(const struct player *player, int32_t lines, struct meaning *meaning)
{
    const struct program *program = player->program;
    *meaning = (struct meaning){0};
    for (int b = 0; b < program->hw->buffer_count; b++) {
        const struct store *store = &player->stores[b];
        bool external = program->hw->buffers[b].capacity_bytes == 0;
        uint64_t *sum = external ? &meaning->outside : &meaning->inside;
        for (int64_t p = 0; p < store->count; p++)
            if (store->values[p] && store->values[p] != first_value(b, store->first + p)) {
                *sum += join(first_value(b, store->first + p), store->values[p]);
                meaning->leaves |= external;
            }
    }
    for (int32_t line = 0; line < lines; line++)
        if (player->hidden[line].written) {
            meaning->outside += join(join(4, (uint64_t)line), player->hidden[line].written);
            meaning->leaves = true;
        }
}

enum status meaning_of(const struct program *program, int64_t grain, struct meaning *meaning,
                       struct error *error)
{
    struct player player = {.program = program, .grain = grain, .error = error};
    struct nest nest;
    enum status status = nest_init(&nest, program, error);
    if (status != STATUS_OK)
        return status;
    int32_t lines = 1;
    for (int32_t i = 0; i < program->count; i++)
        lines = program->items[i].line >= lines ? program->items[i].line + 1 : lines;
    player.hidden = calloc((size_t)lines, sizeof *player.hidden);
    status = player.hidden ? make_stores(&player, &nest) : error_memory(error);
    if (status == STATUS_OK && player.hidden)
        status = play_all(&player, &nest);
    if (status == STATUS_OK && player.hidden)
        sum_up(&player, lines, meaning);
    for (int b = 0; b < HARDWARE_MAX_BUFFERS; b++)
        free(player.stores[b].values);
    for (int role = 0; role < OPERAND_ROLES; role++)
        free(player.scratch[role]);
    free(player.hidden);
    nest_clear(&nest);
    return status;
}

bool meaning_equal(const struct meaning *one, const struct meaning *other)
{
    if (one->leaves || other->leaves)
        return one->leaves == other->leaves && one->outside == other->outside;
    return one->inside == other->inside;
}
