/* Numbers of a structure as a straight line of operations, for many tilings at once: in intervals.
 *
 *   struct tape tape = {0};
 *   tape_begin(&tape, hw, &error)
 *   int a = tape_input(&tape, 0, 1, 4096), b = tape_apply(&tape, TAPE_CDIV, a, tape_number(&tape,
 * 16)); tape_end(&tape, outputs, count, &error)        what no output needs is left out
 *   tape_run(&tape, inputs, scratch, results)      in any thread
 *   tape_clear(&tape)
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

enum { TAPE_MAX_OPERATIONS = 1 << 13 };

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
    TAPE_SHARE,    /* a over a number, not rounded but down, by far more than a double errs */
    TAPE_AT_LEAST, /* a, known to be b or more */
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
    bool failed, no_memory;            /* too many of them, or no memory for so many */
    /* while it is written, owned: */
    struct interval *known;
    int *slots;
    int slot_count;
    /* once it is written: */
    int output_count;
    int *outputs; /* owned */
};

enum status tape_begin(struct tape *tape, const struct hardware *hw, struct error *error);
void tape_clear(struct tape *tape);

int tape_number(struct tape *tape, double number);
int tape_input(struct tape *tape, int number, double least, double most);
int tape_apply(struct tape *tape, enum tape_op op, int a, int b);
int tape_choice(struct tape *tape, int condition, int then, int otherwise);
int tape_share(struct tape *tape, int a, int parts);
int tape_burst(struct tape *tape, int bytes, int alignment, int table);

static inline struct interval tape_known(const struct tape *tape, int a)
{
    return tape->known[a];
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
