/* A kernel program: one list of instructions that every working core runs.
 *
 * Made by a struct program_builder (generators) or by program_parse (core/program_text.h); read by
 * the simulator, the hazard check and the printer. Loops stay loops: the body stands once between
 * INSTRUCTION_LOOP and INSTRUCTION_END, and `partner` links the two.
 *
 * A program belongs to the hardware description it was made for: pipes, prices and buffers are
 * indices into it. program_clear frees what it owns. */
#ifndef AUTOTUNE_CORE_PROGRAM_H
#define AUTOTUNE_CORE_PROGRAM_H

#include "core/hardware.h"
#include "core/status.h"

enum {
    PROGRAM_MAX_DEPTH = 12,      /* nested loops */
    PROGRAM_MAX_LINES = 1000000, /* of text, and instructions of a program */
    PROGRAM_PIPE_ALL = -1,       /* a barrier over all pipes */
    LOOP_NAME_SIZE = 16,
};
#define PROGRAM_MAX_EXECUTED 10000000000LL /* instructions, loops unrolled */

enum instruction_kind {
    INSTRUCTION_MOVE,
    INSTRUCTION_MATRIX,
    INSTRUCTION_VECTOR,
    INSTRUCTION_SCALAR,
    INSTRUCTION_SET,
    INSTRUCTION_WAIT,
    INSTRUCTION_BARRIER,
    INSTRUCTION_LOOP,
    INSTRUCTION_END,
};

/* The bytes that one operand of one instruction touches:
 * buffer[offset + Σ index(depth)·stride_of_loop] … `bytes` in all, as `rows` equal rows that start
 * `row_stride_bytes` apart, each of as many `pieces` that start `piece_stride_bytes` apart (1 and
 * 1: contiguous). */
struct region {
    int8_t buffer;
    uint8_t role; /* enum operand_role */
    int64_t offset_bytes;
    int64_t loop_stride_bytes[PROGRAM_MAX_DEPTH]; /* per enclosing loop, outermost first */
    int64_t bytes;
    int64_t rows, row_stride_bytes;
    int64_t pieces, piece_stride_bytes;
};

struct instruction {
    uint8_t kind;    /* enum instruction_kind */
    int8_t pipe;     /* that runs it: source for set, destination for wait; PROGRAM_PIPE_ALL */
    int8_t from, to; /* set, wait: the pair of pipes */
    uint8_t flag;    /* set, wait: the register */
    uint8_t type, to_type; /* enum dtype; to_type differs where a move or vector cast converts */
    uint8_t accumulate;    /* matrix: reads its destination (init=0) */
    uint8_t unit;          /* move, matrix: the chip orders its accesses with those of other such
                              instructions block by block (`unit=1`, the unit flag of split cores) */
    uint8_t transpose;     /* move: transposes its blocks (`transpose=1`) */
    uint8_t region_count;
    int16_t what;         /* move: path; vector, scalar: operation */
    int16_t price;        /* into hardware->prices; -1 for flags, barriers and loops */
    int32_t line;         /* in the text; instruction number + 1 for a generated program */
    int32_t first_region; /* into program->regions */
    int32_t partner;      /* loop <-> end, indices of instructions */
    int64_t units;        /* of work at the price's rate; 0 where there is none */
    int64_t paid_units;   /* those that take time: more where the chip works in larger lots */
    int64_t bursts;       /* move: contiguous pieces in external memory; 0 and 1: one (`bursts=`) */
    int64_t align_bytes;  /* move in several: what their starts are multiples of, a power of two;
                             0: of everything (`align=`) */
    int64_t burst_fs;     /* move in several: what they cost together, beside their bytes */
    union {
        struct {
            int64_t bytes;     /* move */
            int64_t row_bytes; /* of its second source, a factor for each column; 0: it has none */
        };
        int64_t elements; /* vector */
        struct {
            int64_t count;         /* scalar: operations; loop: iterations */
            int64_t operand_bytes; /* scalar: that an operand may touch; 0: 2 for each operation */
        };
        struct {
            int32_t m, k, n; /* matrix, in elements */
        };
    };
    char name[LOOP_NAME_SIZE]; /* loop: its index's name, or "" */
};

/* What the simulator needs of an instruction, in eight bytes: a text that is written out has a
 * million lines of few kinds. */
struct brief {
    uint8_t kind; /* enum instruction_kind */
    int8_t pipe;
    bool transfer; /* over a bus */
    int32_t which; /* set, wait: into flags; loop: pipes with something to do in it, bits, and
                      BRIEF_EVERYBODY; else into costs, -1 where it has no price */
};
#define BRIEF_EVERYBODY (1u << 31) /* the loop holds a barrier over all pipes */

/* A flag register that is used. */
struct program_flag {
    int8_t from, to;
    int64_t waits; /* that are executed, loops unrolled */
};

/* What one or more instructions cost. */
struct program_cost {
    int16_t price;
    int32_t first; /* of them */
    int64_t units, paid_units, burst_fs;
    int64_t times; /* that they are executed, loops unrolled */
};

/* Closing a program fills all that stands after its regions; then its items stay as they are. */
struct program {
    const struct hardware *hw; /* not owned */
    int32_t count;
    int64_t capacity;
    struct instruction *items;
    int32_t region_count;
    int64_t region_capacity;
    struct region *regions;
    int64_t executed;     /* instructions that a core runs, loops unrolled */
    uint32_t pipes;       /* that have an instruction, bits */
    struct brief *briefs; /* of each item */
    int64_t brief_capacity, cost_capacity, flag_capacity;
    int32_t cost_count, flag_count;
    struct program_cost *costs;
    struct program_flag *flags;
};

void program_clear(struct program *program);

/* Forgets the instructions and keeps the memory, for the next program of the same hardware. */
void program_reset(struct program *program, const struct hardware *hw);

/* Appends one instruction, filling price, units and burst_fs from the hardware and the fields that
 * say what it does. The bursts of a move are taken to be equally long: bytes / bursts, rounded up.
 * Regions must be appended right after it, with program_add_region. STATUS_INVALID when the
 * hardware cannot do it (the text says what was expected); STATUS_TOO_LARGE beyond
 * PROGRAM_MAX_LINES. */
enum status program_add(struct program *program, const struct instruction *instruction,
                        struct error *error);

/* What program_add fills in: pipe, price, units and burst_fs; STATUS_INVALID as there. */
enum status instruction_price(const struct hardware *hw, struct instruction *in,
                              struct error *error);

/* Appends an operand to the last instruction; `bytes` is derived from what that does. `rows` and
 * `pieces` of 0 mean 1. */
enum status program_add_region(struct program *program, const struct region *region,
                               struct error *error);

/* Bytes that the operand in `role` of an instruction covers. */
int64_t instruction_extent_bytes(const struct hardware *hw, const struct instruction *instruction,
                                 enum operand_role role);

/* Is the operand one element, which a vector operation spreads over its results? It may begin
 * anywhere. */
bool instruction_spreads(const struct hardware *hw, const struct instruction *instruction,
                         enum operand_role role);

/* The buffers in which the operand may lie, bits; 0: in any. The two ends of a move are its path's.
 */
unsigned instruction_memories(const struct hardware *hw, const struct instruction *instruction,
                              enum operand_role role);

/* Does the operand write (destinations), read, or both (an accumulating matrix instruction)? */
bool instruction_writes(const struct instruction *instruction, enum operand_role role);

/* How long the instruction occupies its pipe before its work begins: the price's base, and what
 * its bursts cost, in fs. INT64_MAX when it does not fit; 0 for flags, barriers and loops. */
int64_t instruction_issue_fs(const struct hardware *hw, const struct instruction *instruction);

/* Time of the instruction alone with `cores` working cores in step, issue and work, in fs; on a bus
 * at the share of one of `cores` transfers. So long it occupies its pipe; its price's latency comes
 * after that and is not in it. Both the simulator's durations and the lower bounds come from here.
 * INT64_MAX when it does not fit; 0 for flags, barriers and loops. */
int64_t instruction_alone_fs(const struct hardware *hw, const struct instruction *instruction,
                             int cores);

/* Checks that loops are closed, links partners, counts program->executed (flags and barriers
 * count, loop lines do not) and writes the briefs. STATUS_TOO_LARGE beyond PROGRAM_MAX_EXECUTED;
 * STATUS_INVALID names the line of an unclosed loop. */
enum status program_close(struct program *program, const char *file, struct error *error);

/* Takes out the sets, waits and barriers that `gone` says (one bool an instruction, all others
 * false) from a closed program, and numbers lines and loops anew as in a generated one. */
void program_remove(struct program *program, const bool *gone);

#endif
