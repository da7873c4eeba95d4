/* A kernel as a text: its loops, tiles and steps, and which of its numbers are free.
 *
 *   kernel_text_read(file, &kernel, &error);     or kernel_text_parse
 *   …                                            kernels/text/plan/kernel_eval.h gives it numbers
 *   kernel_text_clear(&kernel);
 *
 * What is declared (sizes, lets, tensors, axes) and what its lines bring (loops, tiles, lets) is
 * kept in arrays, one a kind, and is known by its number there; an expression names it by that.
 * Lines stand in the order of the text; the body of a loop is the lines behind its own up to `end`.
 * Expressions, parts and picks hang in lists by `next` and belong to the kernel.
 *
 * A kernel that was parsed keeps every rule that needs neither a chip nor sizes (kernel_rules.c).
 * What does not is refused with one line: "file:line:column: what, and what was expected",
 * and shows the line of the text; STATUS_INVALID, or STATUS_TOO_LARGE beyond one of the limits
 * below. */
#ifndef AUTOTUNE_KERNELS_TEXT_KERNEL_TEXT_H
#define AUTOTUNE_KERNELS_TEXT_KERNEL_TEXT_H

#include "core/dtype.h"
#include "core/program.h"
#include "core/space.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    KERNEL_MAX_BYTES = 1 << 20,           /* of a text */
    KERNEL_MAX_LINES = 4096,              /* of a text */
    KERNEL_MAX_TOKENS = 1000,             /* words, numbers and marks of a line */
    KERNEL_MAX_DIGITS = 64,               /* of a number, with its point */
    KERNEL_MAX_NAME = 31,                 /* characters of a name */
    KERNEL_MAX_DEPTH = PROGRAM_MAX_DEPTH, /* of loops in loops */
    KERNEL_MAX_NESTING = 64,              /* of an expression, with its lets written out */
    KERNEL_MAX_TERMS = 4096,              /* of an expression, with its lets written out */
    KERNEL_MAX_DIMS = 8,                  /* of a tensor or tile */
    KERNEL_MAX_SOURCES = 3,               /* of a step */
    KERNEL_MAX_WORDS = 64,                /* values that an axis lists */
    KERNEL_MAX_SIZES = 16,                /* and so many of each kind: */
    KERNEL_MAX_LETS = 64,
    KERNEL_MAX_TENSORS = 32,
    KERNEL_MAX_AXES = SPACE_MAX_AXES - 1, /* the cores are one more */
    KERNEL_MAX_REQUIRES = 32,
    KERNEL_MAX_CORES = 4,
    KERNEL_MAX_ORDERS = 16,
    KERNEL_MAX_LOOPS = 64, /* bits of a mask */
    KERNEL_MAX_TILES = 128,
};

/* The largest number that a text or a value may have. */
#define KERNEL_MAX_NUMBER ((int64_t)1 << 62)

/* Where something stands in the text, both from 1. Columns count bytes. */
struct kernel_place {
    int line, column;
};

struct kernel_name {
    char text[KERNEL_MAX_NAME + 1];
    struct kernel_place at;
    bool is_used; /* something else than its declaration names it */
};

/* ------------------------------------------------------------------ expressions */

enum expression_op {
    /* what stands for itself */
    EXPRESSION_NUMBER, /* number */
    EXPRESSION_REAL,   /* real */
    EXPRESSION_SIZE,   /* number: which */
    EXPRESSION_LET,
    EXPRESSION_AXIS,
    EXPRESSION_LOOP, /* the range of a loop: its length */
    EXPRESSION_WORD, /* number: which of the words of the axis it is compared with */
    EXPRESSION_TOP,  /* the kernel, where a tile may live */
    /* by the number of a range or size */
    EXPRESSION_BEGIN,
    EXPRESSION_FIRST,
    EXPRESSION_LAST,
    EXPRESSION_WHOLE,
    EXPRESSION_CORES, /* that work; known where they share something only */
    /* of the chip */
    EXPRESSION_LANES,         /* number: a type */
    EXPRESSION_IS_TYPE,       /* number: one type, times KERNEL_TYPES, and another */
    EXPRESSION_HAS_OPERATION, /* text; number: 0, or 1 + a type that it takes */
    EXPRESSION_HAS_PATH,      /* text: "from->to" */
    /* of args, in their order */
    EXPRESSION_IF, /* condition, then, else */
    EXPRESSION_OR,
    EXPRESSION_AND,
    EXPRESSION_NOT,
    EXPRESSION_EQUAL,
    EXPRESSION_UNEQUAL,
    EXPRESSION_LESS,
    EXPRESSION_AT_MOST,
    EXPRESSION_MORE,
    EXPRESSION_AT_LEAST,
    EXPRESSION_IN, /* what, and what it may be */
    EXPRESSION_ADD,
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,
    EXPRESSION_REMAINDER,
    EXPRESSION_NEGATE,
    EXPRESSION_UP,
    EXPRESSION_CDIV,
    EXPRESSION_LOG2,
    EXPRESSION_POW2,
    EXPRESSION_GCD,
    EXPRESSION_MIN,
    EXPRESSION_MAX,
    EXPRESSION_OPS
};

/* What an expression is. */
enum expression_kind {
    EXPRESSION_IS_WHOLE,
    EXPRESSION_IS_REAL,
    EXPRESSION_IS_TRUTH,
    EXPRESSION_IS_WORD, /* of an axis that lists words, and those: they are compared only */
    EXPRESSION_IS_PLACE /* of a tile's life: a loop or the top */
};

/* What of rounds it asks, bits: lengths of ranges; which round it is, first(i) and last(i); where a
 * range begins, unless its rounds are written out. */
enum { ASKS_LENGTH = 1, ASKS_ROUND = 2, ASKS_BEGIN = 4 };

struct expression {
    enum expression_op op;
    enum expression_kind kind;
    unsigned asks;
    uint64_t loops;         /* bits: that it names, its lets written out */
    struct kernel_place at; /* of an operation: its sign or word */
    int terms, depth;       /* with its lets written out */
    int64_t number;
    double real;
    const char *text;        /* of a real: as it was written */
    struct expression *args; /* the first of them */
    struct expression *next; /* of the list that it stands in */
};

/* A type: an enum dtype, or one of these. */
enum { KERNEL_DTYPE = DTYPE_ALL, KERNEL_ACCUMULATOR, KERNEL_RESULT, KERNEL_TYPES };

const char *kernel_type_name(int type);

/* ------------------------------------------------------------------ declarations */

struct kernel_size {
    struct kernel_name name;
    struct expression *pad; /* of numbers and lanes alone; NULL: 1 */
    bool is_option;         /* has an option of its own, and so a value without being given: */
    int64_t standard;       /* that; where it is 0 the size may be 0 */
};

/* May a size be 0? Then it is no range, extent or share of its own (kernel_rules.c). */
static inline bool kernel_may_be_0(const struct kernel_size *size)
{
    return size->is_option && size->standard == 0;
}

struct kernel_let {
    struct kernel_name name;
    int line; /* the number of its line, -1: among the declarations */
    struct expression *value;
};

struct kernel_tensor {
    struct kernel_name name;
    int dim_count, type;
    struct expression *dims;
};

/* How an axis gets its values. */
enum kernel_cut { CUT_LIST, CUT_WORDS, CUT_SLICES, CUT_DIVISORS, CUT_MULTIPLES, CUT_POWERS, CUTS };

struct kernel_axis {
    struct kernel_name name;
    enum kernel_cut cut;
    int word_count;
    char (*words)[KERNEL_MAX_NAME + 1]; /* of CUT_WORDS */
    struct expression *values;          /* of the others: what is listed, or the cut's arguments */
};

struct kernel_require {
    struct kernel_place at;
    struct expression *truth;
};

/* What the cores share: a size or let, or a choice between such; `shares` of it, NULL: as many as
 * cores are left. */
struct kernel_cores {
    struct kernel_place at;
    struct expression *what, *shares;
};

/* Loops in this order, outermost first, where `condition` holds; NULL: always. */
struct kernel_order {
    struct kernel_place at;
    int count;
    struct kernel_name names[KERNEL_MAX_DEPTH];
    int loops[KERNEL_MAX_DEPTH]; /* and their numbers */
    struct expression *condition;
};

/* ------------------------------------------------------------------ lines */

struct kernel_loop {
    struct kernel_name name;
    int line, end; /* numbers of its line, and of the first one behind its body */
    struct expression *in, *by;
    bool each;
};

struct kernel_tile {
    struct kernel_name name;
    int line;
    char buffer[KERNEL_MAX_NAME + 1];
    int dim_count, type;
    struct expression *dims;
    struct expression *copies; /* NULL: 1 */
    struct expression *life;   /* EXPRESSION_IS_PLACE; NULL: the loop it stands in */
};

enum kernel_pick_kind {
    PICK_ALL,
    PICK_RANGE, /* count: the range of a loop, or a choice between such */
    PICK_INDEX, /* count: which */
    PICK_FROM,  /* count elements from `from` (NULL: data decide) on, `by` (NULL: 1) apart */
};

struct kernel_pick {
    enum kernel_pick_kind kind;
    struct expression *count, *from, *by;
    struct kernel_pick *next;
};

/* Of a tensor or tile; or a number. */
struct kernel_part {
    struct kernel_place at;
    int tensor, tile;         /* -1: none */
    struct expression *value; /* where both are none */
    int pick_count;           /* of the first dimensions; the others go by ranges around */
    struct kernel_pick *picks;
};

enum kernel_verb {
    VERB_LOAD,
    VERB_STORE,
    VERB_MOVE,
    VERB_MMAD,
    VERB_OPERATION, /* of the vector unit, `operation` */
    VERB_SCALAR,    /* of the scalar unit */
    VERBS
};

enum kernel_key {
    STEP_BURSTS,
    STEP_ALIGN,
    STEP_UNIT,
    STEP_TRANSPOSE,
    STEP_FILL,
    STEP_ADD,
    STEP_ELEMENTS,
    STEP_COUNT,
    STEP_RELU,
    STEP_KEYS
};

struct kernel_step {
    enum kernel_verb verb;
    char operation[KERNEL_MAX_NAME + 1];
    int source_count; /* 0: no parts at all */
    struct kernel_part to, from[KERNEL_MAX_SOURCES];
    struct expression *keys[STEP_KEYS]; /* NULL: not given */
    struct expression *condition;       /* NULL: always */
};

enum kernel_line_kind { LINE_FOR, LINE_LET, LINE_TILE, LINE_STEP };

struct kernel_line {
    enum kernel_line_kind kind;
    struct kernel_place at;
    int around;               /* the number of the loop around it, -1: none */
    int number;               /* of its loop, let or tile */
    struct kernel_step *step; /* of LINE_STEP */
    struct expression *stage; /* rounds of its loop that it is later; NULL: none */
};

struct kernel_block; /* of memory */

struct kernel_text {
    const char *file;   /* for messages */
    const char *source; /* as it was read, comments with it */
    size_t source_bytes;
    struct kernel_name name;
    const char *title; /* "" without one */
    int size_count, let_count, tensor_count, axis_count, loop_count, tile_count;
    int require_count, cores_count, order_count, line_count;
    struct kernel_size sizes[KERNEL_MAX_SIZES];
    struct kernel_let lets[KERNEL_MAX_LETS];
    struct kernel_tensor tensors[KERNEL_MAX_TENSORS];
    struct kernel_axis axes[KERNEL_MAX_AXES];
    struct kernel_require requires[KERNEL_MAX_REQUIRES];
    struct kernel_cores cores[KERNEL_MAX_CORES];
    struct kernel_order orders[KERNEL_MAX_ORDERS];
    struct kernel_loop loops[KERNEL_MAX_LOOPS];
    struct kernel_tile tiles[KERNEL_MAX_TILES];
    struct kernel_line *lines;
    struct kernel_block *memory; /* all that the pointers above lead to but `lines` */
};

/* Reads a file, "-": the standard input. After a failure the kernel is empty. */
enum status kernel_text_read(const char *file, struct kernel_text *kernel, struct error *error);

/* The same of `length` bytes, which need no 0 behind them and may go, as may `file`, which is for
 * messages. */
enum status kernel_text_parse(const char *file, const char *text, size_t length,
                              struct kernel_text *kernel, struct error *error);

void kernel_text_clear(struct kernel_text *kernel);

/* A line as it was read, without its end; empty where there is none. */
const char *kernel_source_line(const struct kernel_text *kernel, int number, int *length);

/* Puts the kernel's file before an error "line:column: …" that was found in its numbers
 * (kernel_eval.h, kernel_plan.h), and shows the line; leaves any other as it is. Returns the
 * status. */
enum status kernel_text_locate(const struct kernel_text *kernel, enum status status,
                               struct error *error);

/* Writes a text that parses as the same kernel, unless blanks make it larger than a text may be;
 * comments are gone. The stream remembers errors. */
void kernel_text_print(const struct kernel_text *kernel, FILE *out);
void kernel_expression_print(const struct kernel_text *kernel, const struct expression *e,
                             FILE *out);

/* Is the line inside the loop, which may be -1: the kernel? */
static inline bool kernel_is_inside(const struct kernel_text *kernel, int line, int loop)
{
    return loop < 0 || (line > kernel->loops[loop].line && line < kernel->loops[loop].end);
}

/* The loop around a loop, -1: none. */
static inline int kernel_loop_around(const struct kernel_text *kernel, int loop)
{
    return kernel->lines[kernel->loops[loop].line].around;
}

#endif
