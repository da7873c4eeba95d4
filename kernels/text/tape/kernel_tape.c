/* A table of operations, found again by a hash (Fibonacci hashing, Knuth 1973). */
#include "kernels/text/tape/kernel_tape.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct interval everything = {-INFINITY, INFINITY};

/* ------------------------------------------------------------------ operations on intervals */

static struct interval point(double number)
{
    return (struct interval){number, number};
}

static bool is_point(struct interval a)
{
    return a.lo == a.hi;
}

static inline double least_of(double a, double b)
{
    return a < b ? a : b;
}

static inline double most_of(double a, double b)
{
    return a > b ? a : b;
}

static double least4(double a, double b, double c, double d)
{
    return least_of(least_of(a, b), least_of(c, d));
}

static double most4(double a, double b, double c, double d)
{
    return most_of(most_of(a, b), most_of(c, d));
}

/* Beyond 2^53 a double is not the whole number itself: an interval holds both. */
static inline struct interval widen(double lo, double hi)
{
    const double exact = 0x1p53, error = 0x1p-52;
    if (lo < -exact || hi > exact)
        return (struct interval){lo - fabs(lo) * error, hi + fabs(hi) * error};
    return (struct interval){lo, hi};
}

/* 0 times infinity is 0: a factor is finite, however large. */
static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static inline struct interval multiply(struct interval a, struct interval b)
{
    if (a.lo >= 0 && b.lo >= 0)
        return widen(times(a.lo, b.lo), times(a.hi, b.hi));
    double w = times(a.lo, b.lo), x = times(a.lo, b.hi), y = times(a.hi, b.lo),
           z = times(a.hi, b.hi);
    return widen(least4(w, x, y, z), most4(w, x, y, z));
}

/* By what is above 0. */
static struct interval quotient(struct interval a, struct interval b)
{
    return (struct interval){a.lo / (a.lo >= 0 ? b.hi : b.lo), a.hi / (a.hi >= 0 ? b.lo : b.hi)};
}

static struct interval divide(struct interval a, struct interval b)
{
    if (!(b.lo > 0) || isinf(a.lo) || isinf(a.hi) || isinf(b.hi))
        return everything;
    struct interval q = quotient(a, b);
    return (struct interval){floor(q.lo), floor(q.hi)};
}

static struct interval cdiv(struct interval a, struct interval b)
{
    if (!(b.lo > 0) || isinf(a.lo) || isinf(a.hi) || isinf(b.hi))
        return everything;
    struct interval q = quotient(a, b);
    return (struct interval){ceil(q.lo), ceil(q.hi)};
}

/* The next multiple is no less, and less than b more. */
static struct interval up(struct interval a, struct interval b)
{
    struct interval counts = cdiv(a, b);
    if (isinf(counts.lo))
        return everything;
    struct interval all = multiply(counts, b);
    return (struct interval){most_of(all.lo, a.lo),
                             is_point(b) ? all.hi : least_of(all.hi, a.hi + b.hi)};
}

static struct interval remainder_of(struct interval a, struct interval b)
{
    if (!(b.lo > 0) || isinf(a.lo) || isinf(a.hi) || isinf(b.hi))
        return everything;
    if (is_point(a) && is_point(b))
        return point(a.lo - floor(a.lo / b.lo) * b.lo);
    return (struct interval){0, a.lo >= 0 ? least_of(a.hi, b.hi) : b.hi};
}

static double log2_up(double number)
{
    int power = 0;
    while (power < 62 && ldexp(1, power) < number)
        power++;
    return power;
}

static struct interval log2_of(struct interval a)
{
    return a.lo >= 1 ? (struct interval){log2_up(a.lo), log2_up(a.hi)} : everything;
}

static struct interval pow2(struct interval a)
{
    return a.lo >= 0 && a.hi <= 62 ? (struct interval){exp2(a.lo), exp2(a.hi)} : everything;
}

/* Euclid. */
static struct interval gcd(struct interval a, struct interval b)
{
    if (!(a.lo >= 1 && b.lo >= 1))
        return everything;
    if (!is_point(a) || !is_point(b))
        return (struct interval){1, least_of(a.hi, b.hi)};
    double x = a.lo, y = b.lo;
    while (y > 0) {
        double rest = fmod(x, y);
        x = y;
        y = rest;
    }
    return point(x);
}

static struct interval truth(bool never, bool always)
{
    return (struct interval){always, !never};
}

static struct interval choose(struct interval condition, struct interval then,
                              struct interval otherwise)
{
    if (condition.lo > 0 || condition.hi < 0)
        return then;
    if (condition.lo == 0 && condition.hi == 0)
        return otherwise;
    return (struct interval){least_of(then.lo, otherwise.lo), most_of(then.hi, otherwise.hi)};
}

/* 0 alignment: to everything. */
static struct interval burst(const struct tape *tape, int table, struct interval bytes,
                             struct interval alignment)
{
    const struct price price = {.burst_table = (int8_t)table};
    const double most = 0x1p62;
    if (!(bytes.lo >= 1 && bytes.lo < most))
        return (struct interval){0, INFINITY};
    int64_t lo = (int64_t)bytes.lo, hi = bytes.hi < most ? (int64_t)bytes.hi : INT64_MAX;
    if (is_point(bytes) && is_point(alignment) && alignment.lo < most)
        return point((double)hardware_burst_fs(tape->hw, &price, lo, (int64_t)alignment.lo));
    int64_t align = alignment.lo > 0 && alignment.hi < most ? (int64_t)alignment.hi : 0;
    return (struct interval){(double)hardware_least_burst_fs(tape->hw, &price, lo, hi, align),
                             INFINITY};
}

static struct interval over(struct interval a, struct interval b)
{
    const double off = 1e-12;
    if (!(a.lo >= 0 && b.lo > 0))
        return everything;
    return (struct interval){a.lo / b.hi * (1 - off), a.hi / b.lo * (1 + off)};
}

/* In its caller's body: intervals that come and go through memory would be half of a tape's time.
 */
static inline __attribute__((always_inline)) struct interval
compute(const struct tape *tape, const struct tape_operation *o, struct interval a,
        struct interval b, struct interval c)
{
    switch (o->op) {
    case TAPE_NUMBER:
        return point(o->number);
    case TAPE_ADD:
        return widen(a.lo + b.lo, a.hi + b.hi);
    case TAPE_SUBTRACT:
        return widen(a.lo - b.hi, a.hi - b.lo);
    case TAPE_MULTIPLY:
        return multiply(a, b);
    case TAPE_DIVIDE:
        return divide(a, b);
    case TAPE_REMAINDER:
        return remainder_of(a, b);
    case TAPE_CDIV:
        return cdiv(a, b);
    case TAPE_UP:
        return up(a, b);
    case TAPE_MIN:
        return (struct interval){least_of(a.lo, b.lo), least_of(a.hi, b.hi)};
    case TAPE_MAX:
        return (struct interval){most_of(a.lo, b.lo), most_of(a.hi, b.hi)};
    case TAPE_LOG2:
        return log2_of(a);
    case TAPE_POW2:
        return pow2(a);
    case TAPE_GCD:
        return gcd(a, b);
    case TAPE_EQUAL:
        return truth(a.hi < b.lo || b.hi < a.lo, is_point(a) && is_point(b) && a.lo == b.lo);
    case TAPE_LESS:
        return truth(a.lo >= b.hi, a.hi < b.lo);
    case TAPE_AT_MOST:
        return truth(a.lo > b.hi, a.hi <= b.lo);
    case TAPE_CHOICE:
        return choose(a, b, c);
    case TAPE_OVER:
        return over(a, b);
    case TAPE_AT_LEAST:
        return (struct interval){most_of(a.lo, b.lo), most_of(a.hi, b.lo)};
    case TAPE_BETWEEN:
        return (struct interval){least_of(a.lo, b.lo), most_of(a.hi, b.hi)};
    case TAPE_BURST:
        return burst(tape, (int)o->number, a, b);
    default:
        return everything;
    }
}

/* ------------------------------------------------------------------ writing */

enum { FIRST_SLOTS = 1024, PLAYED_NUMBERS = 3 }; /* a tape that is played begins with 0, 1, 2 */

static enum status enlarge(struct tape *tape);

enum status tape_begin(struct tape *tape, const struct hardware *hw, struct error *error)
{
    *tape = (struct tape){.hw = hw};
    if (enlarge(tape) == STATUS_OK)
        return STATUS_OK;
    tape_clear(tape);
    return error_memory(error);
}

enum status tape_play(struct tape *tape, const struct hardware *hw, struct error *error)
{
    *tape = (struct tape){.hw = hw, .is_played = true, .capacity = FIRST_SLOTS};
    tape->known = malloc(FIRST_SLOTS * sizeof *tape->known);
    if (!tape->known)
        return error_memory(error);
    for (; tape->count < PLAYED_NUMBERS; tape->count++)
        tape->known[tape->count] = point(tape->count);
    return STATUS_OK;
}

void tape_clear(struct tape *tape)
{
    free(tape->operations);
    free(tape->known);
    free(tape->slots);
    free(tape->outputs);
    *tape = (struct tape){.hw = NULL};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
}

/* The slot of an operation, or the empty one where it would be. */
static int find_slot(const struct tape *tape, const struct tape_operation *o)
{
    uint64_t bits, hash = mix(0, (uint64_t)o->op);
    memcpy(&bits, &o->number, sizeof bits);
    hash = mix(mix(mix(mix(hash, (uint64_t)o->a), (uint64_t)o->b), (uint64_t)o->c), bits);
    int slot = (int)(hash >> 40) & (tape->slot_count - 1);
    for (; tape->slots[slot] >= 0; slot = (slot + 1) & (tape->slot_count - 1)) {
        const struct tape_operation *other = &tape->operations[tape->slots[slot]];
        if (other->op == o->op && other->a == o->a && other->b == o->b && other->c == o->c &&
            other->number == o->number)
            break;
    }
    return slot;
}

static enum status enlarge(struct tape *tape)
{
    int capacity = tape->capacity ? 2 * tape->capacity : FIRST_SLOTS / 2;
    struct tape_operation *operations =
        realloc(tape->operations, (size_t)capacity * sizeof *operations);
    tape->operations = operations ? operations : tape->operations;
    struct interval *known = realloc(tape->known, (size_t)capacity * sizeof *known);
    tape->known = known ? known : tape->known;
    int *slots = malloc(2 * (size_t)capacity * sizeof *slots);
    if (!operations || !known || !slots) {
        free(slots);
        return STATUS_NO_MEMORY;
    }
    free(tape->slots);
    tape->slots = slots;
    tape->capacity = capacity;
    tape->slot_count = 2 * capacity;
    memset(slots, -1, (size_t)tape->slot_count * sizeof *slots);
    for (int i = 0; i < tape->count; i++)
        slots[find_slot(tape, &tape->operations[i])] = i;
    return STATUS_OK;
}

static int add(struct tape *tape, struct tape_operation o, struct interval known)
{
    int slot = find_slot(tape, &o);
    if (tape->slots[slot] >= 0)
        return tape->slots[slot];
    if (tape->count == tape->capacity) {
        tape->failed |= tape->count == TAPE_MAX_OPERATIONS;
        tape->no_memory |= !tape->failed && enlarge(tape) != STATUS_OK;
        tape->failed |= tape->no_memory;
        if (tape->failed)
            return 0;
        slot = find_slot(tape, &o);
    }
    tape->slots[slot] = tape->count;
    tape->operations[tape->count] = o;
    tape->known[tape->count] = known;
    return tape->count++;
}

int tape_keep(struct tape *tape, struct interval number)
{
    if (tape->count == tape->capacity) {
        struct interval *more = realloc(tape->known, 2 * (size_t)tape->capacity * sizeof *more);
        tape->failed |= !more;
        tape->no_memory |= !more;
        if (!more)
            return 0;
        tape->known = more;
        tape->capacity *= 2;
    }
    tape->known[tape->count] = number;
    return tape->count++;
}

void tape_forget(struct tape *tape, int count)
{
    tape->count = count;
}

int tape_number(struct tape *tape, double number)
{
    if (tape->is_played)
        return number >= 0 && number < PLAYED_NUMBERS && number == (int)number
                   ? (int)number
                   : tape_keep(tape, point(number));
    return add(tape, (struct tape_operation){.op = TAPE_NUMBER, .number = number}, point(number));
}

int tape_input(struct tape *tape, int number, double least, double most)
{
    if (least == most)
        return tape_number(tape, least);
    return add(tape, (struct tape_operation){.op = TAPE_INPUT, .number = number},
               (struct interval){least, most});
}

static bool is_number(const struct tape *tape, int a, double number)
{
    return tape->known[a].lo == number && tape->known[a].hi == number;
}

/* The operand that is the result, as it is the least or the most whatever the inputs are; -1. */
static int shorten_order(const struct tape *tape, enum tape_op op, int a, int b)
{
    struct interval x = tape->known[a], y = tape->known[b];
    if (a == b || (op == TAPE_MIN ? x.hi <= y.lo : x.lo >= y.hi))
        return a;
    if (op == TAPE_AT_LEAST)
        return -1;
    return (op == TAPE_MIN ? y.hi <= x.lo : y.lo >= x.hi) ? b : -1;
}

/* An operation whose result is one of its operands; -1: it is none. */
static int shorten(const struct tape *tape, enum tape_op op, int a, int b)
{
    switch (op) {
    case TAPE_ADD:
        if (is_number(tape, a, 0))
            return b;
        return is_number(tape, b, 0) ? a : -1;
    case TAPE_SUBTRACT:
        return is_number(tape, b, 0) ? a : -1;
    case TAPE_MULTIPLY:
        if (is_number(tape, a, 1) || is_number(tape, b, 0))
            return b;
        return is_number(tape, b, 1) || is_number(tape, a, 0) ? a : -1;
    case TAPE_CDIV:
    case TAPE_DIVIDE:
    case TAPE_UP:
        return is_number(tape, b, 1) && (tape->is_played || tape->operations[a].op != TAPE_OVER)
                   ? a
                   : -1;
    case TAPE_MIN:
    case TAPE_MAX:
    case TAPE_AT_LEAST:
        return shorten_order(tape, op, a, b);
    default:
        return -1;
    }
}

static bool has_order(enum tape_op op)
{
    return op != TAPE_ADD && op != TAPE_MULTIPLY && op != TAPE_MIN && op != TAPE_MAX &&
           op != TAPE_EQUAL && op != TAPE_GCD;
}

static int put(struct tape *tape, struct tape_operation o)
{
    struct interval known = compute(tape, &o, tape->known[o.a], tape->known[o.b], tape->known[o.c]);
    if (tape->is_played)
        return tape_keep(tape, known);
    return is_point(known) && !isinf(known.lo) ? tape_number(tape, known.lo) : add(tape, o, known);
}

int tape_apply_any(struct tape *tape, enum tape_op op, int a, int b)
{
    int same = shorten(tape, op, a, b);
    if (same >= 0)
        return same;
    bool turned = !has_order(op) && a > b;
    return put(tape, (struct tape_operation){.op = op, .a = turned ? b : a, .b = turned ? a : b});
}

int tape_choice(struct tape *tape, int condition, int then, int otherwise)
{
    struct interval known = tape->known[condition];
    if (then == otherwise || known.lo > 0 || known.hi < 0)
        return then;
    if (known.lo == 0 && known.hi == 0)
        return otherwise;
    return put(tape, (struct tape_operation){
                         .op = TAPE_CHOICE, .a = condition, .b = then, .c = otherwise});
}

int tape_burst(struct tape *tape, int bytes, int alignment, int table)
{
    return put(tape, (struct tape_operation){
                         .op = TAPE_BURST, .a = bytes, .b = alignment, .number = table});
}

/* ------------------------------------------------------------------ the end */

static int operand_count(enum tape_op op)
{
    return op <= TAPE_INPUT                     ? 0
           : op == TAPE_LOG2 || op == TAPE_POW2 ? 1
           : op == TAPE_CHOICE                  ? 3
                                                : 2;
}

/* From the end on, as operands come first; then what is needed moves together. */
static void drop(struct tape *tape, int *place)
{
    int kept = 0;
    for (int i = tape->count - 1; i >= 0; i--) {
        const struct tape_operation *o = &tape->operations[i];
        int operands = place[i] < 0 ? 0 : operand_count(o->op);
        if (operands > 0)
            place[o->a] = 0;
        if (operands > 1)
            place[o->b] = 0;
        if (operands > 2)
            place[o->c] = 0;
    }
    for (int i = 0; i < tape->count; i++) {
        if (place[i] < 0)
            continue;
        struct tape_operation o = tape->operations[i];
        int count = operand_count(o.op);
        o.a = count > 0 ? place[o.a] : 0;
        o.b = count > 1 ? place[o.b] : 0;
        o.c = count > 2 ? place[o.c] : 0;
        tape->operations[place[i] = kept++] = o;
    }
    tape->count = kept;
}

enum status tape_end(struct tape *tape, const int outputs[], int count, struct error *error)
{
    if (tape->no_memory)
        return error_memory(error);
    if (tape->failed)
        return error_set(error, STATUS_TOO_LARGE, "more than %d operations", TAPE_MAX_OPERATIONS);
    int *place = malloc((size_t)(tape->count + 1) * sizeof *place);
    tape->outputs = malloc((size_t)(count + 1) * sizeof *tape->outputs);
    if (!place || !tape->outputs) {
        free(place);
        return error_memory(error);
    }
    memset(place, -1, (size_t)tape->count * sizeof *place);
    for (int i = 0; i < count; i++)
        place[outputs[i]] = 0;
    drop(tape, place);
    for (int i = 0; i < count; i++)
        tape->outputs[i] = place[outputs[i]];
    tape->output_count = count;
    free(place);
    free(tape->known);
    free(tape->slots);
    tape->known = NULL;
    tape->slots = NULL;
    struct tape_operation *smaller =
        realloc(tape->operations, (size_t)(tape->count + 1) * sizeof *smaller);
    tape->operations = smaller ? smaller : tape->operations;
    return STATUS_OK;
}

unsigned tape_inputs(const struct tape *tape)
{
    unsigned inputs = 0;
    for (int i = 0; i < tape->count; i++)
        if (tape->operations[i].op == TAPE_INPUT && tape->operations[i].number < 32)
            inputs |= 1U << (int)tape->operations[i].number;
    return inputs;
}

void tape_run(const struct tape *tape, const struct interval inputs[], double scratch[],
              struct interval results[])
{
    double *lo = scratch, *hi = scratch + tape->count;
    for (int i = 0; i < tape->count; i++) {
        const struct tape_operation *o = &tape->operations[i];
        struct interval result;
        if (o->op == TAPE_INPUT)
            result = inputs[(int)o->number];
        else
            result = compute(tape, o, (struct interval){lo[o->a], hi[o->a]},
                             (struct interval){lo[o->b], hi[o->b]},
                             (struct interval){lo[o->c], hi[o->c]});
        lo[i] = result.lo;
        hi[i] = result.hi;
    }
    for (int i = 0; i < tape->output_count; i++)
        results[i] = (struct interval){lo[tape->outputs[i]], hi[tape->outputs[i]]};
}
