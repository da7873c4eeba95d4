/* Numbers of a structure as a straight line of operations, for many tilings at once: in intervals.
 *
 *   struct tape tape = {0};
 *   tape_begin(&tape, hw, &error)
 *   int a = tape_input(&tape, 0, 1, 4096), b = tape_apply(&tape, TAPE_CDIV, a, tape_number(&tape,
 * 16)); tape_end(&tape, outputs, count, &error)        what no output needs is left out
 *   tape_run(&tape, inputs, scratch, results)      in any thread
 *   tape_clear(&tape)
 *
 * Or for one tiling: after tape_play each operation is done as it is given, and none is written
 * down; tape_known says what came out.
 *
 * A value is a double; numbers given are whole up to 2^53 or times, and what is computed beyond
 * that lies within an interval around it. Equal operations are one, and what is known already is
 * not computed: each has the interval of all its inputs' values.
 *
 * An interval holds what the operation gives for any values of its operands' intervals, and more
 * (Moore 1966: it knows nothing of two operands that move together). An operation that cannot be
 * done, as a division by what may be 0, gives all numbers. */
#ifndef AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TAPE_H
#define AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TAPE_H

#include "core/hardware.h"
#include "core/status.h"

enum { TAPE_MAX_OPERATIONS = 1 << 14 };

enum tape_op {
    TAPE_NUMBER,
    TAPE_INPUT,
    TAPE_ADD,
    TAPE_SUBTRACT,
    TAPE_MULTIPLY,
    TAPE_DIVIDE, /* rounded down */
    TAPE_REMAINDER,
    TAPE_CDIV,
    TAPE_UP,
    TAPE_MIN,
    TAPE_MAX,
    TAPE_LOG2, /* rounded up */
    TAPE_POW2,
    TAPE_GCD,
    TAPE_EQUAL, /* 1 or 0, as the next two */
    TAPE_LESS,
    TAPE_AT_MOST,
    TAPE_CHOICE,   /* a: condition, then, else */
    TAPE_OVER,     /* a over b, both ends off by far more than a double errs */
    TAPE_AT_LEAST, /* a, known to be b or more */
    TAPE_BETWEEN,  /* any from a to b */
    TAPE_BURST,    /* fs of a piece of a bytes with alignment b, by table number `number` */
    TAPE_OPS
};

struct interval {
    double lo, hi;
};

struct tape_operation {
    enum tape_op op;
    int a, b, c; /* earlier ones; 0 where the operation has fewer */
    double number;
};

struct tape {
    const struct hardware *hw; /* not owned */
    int count, capacity;
    struct tape_operation *operations; /* owned */
    bool is_played;
    bool failed, no_memory; /* too many of them, or no memory for so many */
    /* while it is written, owned: */
    struct interval *known;
    int *slots;
    int slot_count;
    /* once it is written: */
    int output_count;
    int *outputs; /* owned */
};

enum status tape_begin(struct tape *tape, const struct hardware *hw, struct error *error);
enum status tape_play(struct tape *tape, const struct hardware *hw, struct error *error);
void tape_clear(struct tape *tape);

int tape_number(struct tape *tape, double number);
int tape_input(struct tape *tape, int number, double least, double most);
int tape_apply_any(struct tape *tape, enum tape_op op, int a, int b);
int tape_choice(struct tape *tape, int condition, int then, int otherwise);
int tape_burst(struct tape *tape, int bytes, int alignment, int table);

static inline struct interval tape_known(const struct tape *tape, int a)
{
    return tape->known[a];
}

/* Of a tape that is played: forgets all but the first `count` numbers; and one more number. */
void tape_forget(struct tape *tape, int count);
int tape_keep(struct tape *tape, struct interval number);

/* On a tape that is played the first numbers are 0, 1, 2: much is one of these. */
static inline int tape_apply(struct tape *tape, enum tape_op op, int a, int b)
{
    const double exact = 0x1p53; /* whole numbers up to it */
    double result;
    if (!tape->is_played || tape->count == tape->capacity || op > TAPE_MULTIPLY)
        return tape_apply_any(tape, op, a, b);
    const struct interval x = tape->known[a], y = tape->known[b];
    if (op == TAPE_MULTIPLY) {
        if (a <= 1)
            return a == 0 ? 0 : b;
        if (b <= 1)
            return b == 0 ? 0 : a;
        result = x.lo * y.lo;
    } else {
        if (b == 0)
            return a;
        result = op == TAPE_ADD ? x.lo + y.lo : x.lo - y.lo;
    }
    if (x.lo != x.hi || y.lo != y.hi || !(result >= -exact && result <= exact))
        return tape_apply_any(tape, op, a, b);
    tape->known[tape->count] = (struct interval){result, result};
    return tape->count++;
}

/* Keeps what the outputs need. STATUS_TOO_LARGE: more than TAPE_MAX_OPERATIONS. Or
 * STATUS_NO_MEMORY, now or before. */
enum status tape_end(struct tape *tape, const int outputs[], int count, struct error *error);

/* Numbers of the first 32 inputs, bits, that outputs hang on. */
unsigned tape_inputs(const struct tape *tape);

/* `scratch` has room for two numbers for each of tape->count, `results` for the outputs. */
void tape_run(const struct tape *tape, const struct interval inputs[], double scratch[],
              struct interval results[]);

#endif
