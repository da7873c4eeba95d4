/* A chip as data: clock, cores, buffers, pipes, data paths, buses, instruction costs.
 *
 * hardware/ fills a struct hardware from a description file and guarantees every rule written
 * here; everybody else only reads it. Nothing in the program knows a pipe, a path or a buffer by
 * name except through the look-ups below.
 *
 * Units: times in femtoseconds (int64), sizes in bytes, rates in units per femtosecond as an
 * exact fraction. The integer clock makes every result independent of the order of additions. */
#ifndef AUTOTUNE_CORE_HARDWARE_H
#define AUTOTUNE_CORE_HARDWARE_H

#include "core/dtype.h"
#include "core/formula.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HARDWARE_MAX_PIPES = 16,
    HARDWARE_MAX_BUFFERS = 16,
    HARDWARE_MAX_PATHS = 48,
    HARDWARE_MAX_CASTS = 6,
    HARDWARE_MAX_TYPE_PRICES = 4, /* of a vector operation */
    HARDWARE_MAX_BUSES = 6,
    HARDWARE_MAX_SHARERS = 256,
    HARDWARE_MAX_MATRIX_TYPES = 8,
    HARDWARE_MAX_OPERATIONS = 64,
    HARDWARE_MAX_PRICES = 160,
    HARDWARE_MAX_FLAGS = 64,       /* registers per pair of pipes */
    HARDWARE_MAX_BURST_ROWS = 8,   /* of a table of bursts: alignments … */
    HARDWARE_MAX_BURST_LIMITS = 8, /* … and lengths */
    HARDWARE_MAX_SPREADS = 256,
    HARDWARE_NAME_SIZE = 32,
    HARDWARE_KEY_SIZE = 192, /* of the dotted key of a number */
    HARDWARE_LIST_SIZE = HARDWARE_MAX_BUFFERS * (HARDWARE_NAME_SIZE + 4), /* of buffers' names */
};

#define FS_PER_NS 1000000LL
#define FS_PER_S  1000000000000000LL

/* `fs` femtoseconds per `units` units of work, in lowest terms; both > 0, or fs = 0 for free. */
struct rate {
    int64_t fs;
    int64_t units;
};

/* What one instruction costs when it runs alone: base_fs and what its bursts cost, then `units` of
 * work at `rate`: so long it occupies its pipe. Its result is there latency_fs later: flags
 * set after it, barriers and the end of the program wait for that; the pipe's next instruction
 * does not. Units are bytes for a move, blocks for a matrix instruction, repeats after the first
 * for a vector instruction, and operations for a scalar one. On a bus the base (issue) and the
 * bursts occupy the pipe only, and `rate` is the path's own limit: the share of the bus may be
 * less. A path may move whole lots only: what takes time is then the next multiple of lot. */
struct price {
    int64_t base_fs;
    int64_t latency_fs;
    struct rate rate;
    int32_t lot;        /* of a move: bytes that it moves in multiples of; 0 and 1: any */
    int8_t pipe;        /* index into pipes */
    int8_t bus;         /* index into buses, or -1: private */
    int8_t burst_table; /* of a move in several pieces: index into burst_tables, or -1: free */
};

/* What each contiguous piece of a move costs that has more than one, by its length and by where
 * pieces start. Row r is for starts that are multiples of align_bytes[r], a power of two, and of no
 * later row's; the first row also for any others. Column c is for pieces of up to up_to_bytes[c],
 * and column limit_count for longer ones: so much for every stretch of the last length that they
 * begin. Both ascend strictly. */
struct burst_table {
    int row_count, limit_count; /* both >= 1 */
    int64_t align_bytes[HARDWARE_MAX_BURST_ROWS];
    int64_t up_to_bytes[HARDWARE_MAX_BURST_LIMITS];
    int64_t fs[HARDWARE_MAX_BURST_ROWS][HARDWARE_MAX_BURST_LIMITS + 1];
};

/* What an operand is to its instruction. */
enum operand_role {
    OPERAND_DST,
    OPERAND_SRC,  /* matrix: the row that sums begin with, in each row */
    OPERAND_SRC2, /* move: a row of factors, one for each column */
    OPERAND_SRC3,
    OPERAND_A,
    OPERAND_B,
    OPERAND_ROLES
};

/* "dst", "src", … as in program text and descriptions. */
const char *operand_role_name(enum operand_role role);

struct pipe {
    char name[HARDWARE_NAME_SIZE];
    bool blocks_dispatch; /* the scalar pipe: nothing later starts before its instruction ended */
    uint8_t per_core;     /* that a core has: those of a split chip's vector cores */
    uint16_t memories[OPERAND_ROLES]; /* buffers, bits, in which operands of its instructions may
                                         lie, but for the two ends of a move, which its path says;
                                         0: in any. No time depends on it */
};

struct buffer {
    char name[HARDWARE_NAME_SIZE];
    int64_t capacity_bytes;  /* 0: external memory, not limited */
    int64_t alignment_bytes; /* operands of moves, matrix and vector instructions start at multiples
                                of this; 0: anywhere */
    bool unit_flag;   /* accesses of instructions with `unit=1` interlock here, block by block */
    uint8_t per_core; /* as of the pipes that move it */
};

/* `n` transfers active over all cores move total_bytes_per_s[min(n, sharers) - 1] together, in
 * equal shares. Guaranteed: total is non-decreasing and total / n non-increasing. */
struct bus {
    char name[HARDWARE_NAME_SIZE];
    int sharers;
    int64_t total_bytes_per_s[HARDWARE_MAX_SHARERS];
};

struct cast {
    uint8_t from, to; /* enum dtype */
    bool scale;       /* elements may be multiplied by a factor of their column before it */
    int16_t price;
};

/* A cache between the cores and an external memory: what runs through `buffer` hits it, and what
 * misses is moved from `behind`, by a path of its own. In a warm cache, a kernel whose operands and
 * results take up to all_hit_bytes never misses, from all_miss_bytes on always (a cyclic walk over
 * more than an LRU cache holds), and in between in proportion. A cold one holds nothing of the
 * operands when the kernel starts: what is touched first misses, whatever they take. */
struct cache {
    int8_t buffer, behind; /* buffers, both external; behind = -1: no cache */
    bool is_cold;          /* only where there is one */
    int64_t all_hit_bytes, all_miss_bytes;
};

/* A data path source->destination, moved by one pipe, over a bus or privately. */
struct path {
    int8_t source, destination; /* buffers */
    int8_t pipe;
    int8_t bus;               /* or -1 */
    int16_t price;            /* without a cast */
    int16_t transposed_price; /* of a move that transposes its blocks on the way (`transpose=1`) */
    bool relu;                /* negative elements may become 0 on the way */
    int cast_count;
    struct cast casts[HARDWARE_MAX_CASTS]; /* conversions on the way; bytes count at the source */
};

/* The matrix unit for one element type: ceil(m/block_m)·ceil(k/block_k)·ceil(n/block_n) blocks. Of
 * one row of blocks (m <= block_m), so many along n issue at once: a last group that is not full
 * takes as long as a full one. */
struct matrix_type {
    uint8_t type;
    uint8_t accumulator; /* enum dtype of the result */
    int block_m, block_k, block_n;
    int row_blocks_at_once; /* 0 and 1: one by one */
    int16_t price;
};

enum operation_class { OPERATION_VECTOR, OPERATION_SCALAR };

/* How much of an operation's elements its destination receives: all, one a repeat, all where the
 * sources are one element each, or all where each element of the source holds two of them, the
 * first in its lower half. */
enum operation_result { RESULT_ELEMENTS, RESULT_ONE_PER_REPEAT, RESULT_SPREAD, RESULT_PAIRS };

/* What an operation costs on elements of one type, where types differ. */
struct type_price {
    uint8_t type; /* enum dtype */
    int16_t price;
};

struct operation {
    char name[HARDWARE_NAME_SIZE];
    uint8_t class;  /* enum operation_class */
    uint8_t result; /* enum operation_result */
    uint8_t inputs; /* vector: its result depends on so many sources and on nothing else; 0: perhaps
                       on a constant, a mask or a mode that a program's text does not show. No time
                       depends on it */
    int8_t with_number; /* the operation that does it where a source is a number; -1: itself */
    int16_t price;      /* of types that are not in the list; all are on its pipe */
    int type_count;
    struct type_price types[HARDWARE_MAX_TYPE_PRICES];
    uint16_t results[DTYPE_COUNT]; /* vector: the types, bits, that its result may have where its
                                      sources have this one; all 0: not said, any */
    char
        value[FORMULA_TEXT_SIZE]; /* vector: what it computes (core/formula.h), which folds a repeat
                                   where that is the result; "": not said. No time depends on it */
};

/* How well one number is known that was fitted to measurements. */
struct spread {
    char key[HARDWARE_KEY_SIZE]; /* a fact's, of any case */
    double relative_error;       /* one standard error over the value */
};

/* How well the description predicts. */
struct fit {
    double
        error; /* median |ln(predicted / measured)| of kernels it was not fitted to; 0: unknown */
    int spread_count;
    struct spread spreads[HARDWARE_MAX_SPREADS];
};

/* How much slower a tiling may look than one that is as fast: the fit's error, of logarithms. */
double fit_share(const struct fit *fit);

/* One number of the description as a user sees it, or words: where operands lie, and types. */
struct fact {
    char *key; /* dotted: "paths.gm->l1.bandwidth_gbps"; --set-hw takes the same key of a number */
    char *value;  /* as text */
    char *source; /* published in …, derived from …, assumed …, or where it was overridden */
    bool is_words;
};

/* How the source of a number begins that --set-hw has changed. */
#define FACT_OVERRIDE_SOURCE "set by --set-hw"

struct host; /* core/host.h */

struct hardware {
    char name[64];
    char file[512];
    int cores;
    int64_t clock_hz;
    int64_t launch_fs;      /* all pipes start here … */
    int64_t launch_core_fs; /* … and this later for every working core */
    int64_t core_skew_fs;   /* core c starts at launch + c·skew where skew is asked for */
    int64_t issue_fs;       /* of a move or matrix instruction, on its pipe */
    int64_t dispatch_fs;    /* per instruction, in program order */
    int64_t host_call_fs;   /* a kernel call seen from the host; never part of a kernel's time */
    int flag_registers;     /* per (source pipe, destination pipe) */
    int core_flags; /* … of two kinds of core: for all such pairs of one direction, 0: none */
    int64_t core_flag_fs; /* by which the wait for one of these sees its set later */
    int vector_repeat_bytes;

    int pipe_count, buffer_count, bus_count, path_count;
    int matrix_type_count, operation_count, price_count;
    struct pipe pipes[HARDWARE_MAX_PIPES];
    struct buffer buffers[HARDWARE_MAX_BUFFERS];
    struct bus buses[HARDWARE_MAX_BUSES];
    struct cache cache;
    struct path paths[HARDWARE_MAX_PATHS];
    int8_t matrix_pipe; /* the pipe of mmad, -1 without a matrix unit */
    struct matrix_type matrix_types[HARDWARE_MAX_MATRIX_TYPES];
    struct operation operations[HARDWARE_MAX_OPERATIONS];
    struct price prices[HARDWARE_MAX_PRICES];
    int burst_table_count;
    struct burst_table burst_tables[HARDWARE_MAX_PATHS]; /* at most one of each path */
    struct fit fit;

    struct host
        *host; /* owned; NULL: a chip that is simulated, not the processor of this machine */

    size_t fact_count;
    struct fact *facts; /* owned; hardware_clear frees them */
};

/* Frees what *hw owns and zeroes it. */
void hardware_clear(struct hardware *hw);

/* Was this number changed for the run at hand (--set-hw)? Its answers are about another chip. */
bool fact_is_override(const struct fact *fact);

/* Look-ups by name, any case, `length` characters of `name`; -1 when there is none. */
int hardware_pipe(const struct hardware *hw, const char *name, int length);
int hardware_buffer(const struct hardware *hw, const char *name, int length);
int hardware_operation(const struct hardware *hw, const char *name, int length);

/* "l1 or ub", the buffers with these bits; returns `text`. */
const char *hardware_buffer_names(const struct hardware *hw, unsigned buffers,
                                  char text[HARDWARE_LIST_SIZE]);

/* The price of an operation on elements of a type; of a cast, the type that it reads. */
int hardware_operation_price(const struct hardware *hw, int operation, enum dtype type);

/* The types, bits, that an operation's result may have where its sources have this one; all where
 * the description does not say. */
unsigned hardware_operation_results(const struct hardware *hw, int operation, enum dtype type);

/* The path between two buffers, by index; -1 when there is none. */
int hardware_path(const struct hardware *hw, int source, int destination);

/* Are cube and vector cores apart? Results then leave the matrix unit for global memory only, as
 * the vector unit with its buffer is on another core. */
bool hardware_cores_apart(const struct hardware *hw);

/* "gm->l1", for messages; returns `text`. */
const char *hardware_path_name(const struct hardware *hw, int path,
                               char text[2 * HARDWARE_NAME_SIZE + 3]);

/* The matrix unit's entry for a type, or NULL. */
const struct matrix_type *hardware_matrix_type(const struct hardware *hw, enum dtype type);

/* Additions and multiplications per second of one core's matrix unit in a type; 0 without one. */
double hardware_matrix_peak(const struct hardware *hw, enum dtype type);

/* The conversion from -> to on a path, or NULL. */
const struct cast *hardware_cast(const struct hardware *hw, int path, enum dtype from,
                                 enum dtype to);

/* The price of a move over `path` that converts from -> to (equal: no conversion), or -1 when the
 * path has no such conversion. */
int hardware_move_price(const struct hardware *hw, int path, enum dtype from, enum dtype to);

/* What one of several pieces of a move costs that are burst_bytes long each and start at multiples
 * of align_bytes, beside those bytes; align_bytes = 0: aligned to everything. */
int64_t hardware_burst_fs(const struct hardware *hw, const struct price *price, int64_t burst_bytes,
                          int64_t align_bytes);

/* The least that one costs of least_bytes to most_bytes that starts at multiples of align_bytes at
 * best: of any class up to that. */
int64_t hardware_least_burst_fs(const struct hardware *hw, const struct price *price,
                                int64_t least_bytes, int64_t most_bytes, int64_t align_bytes);

/* What the pieces cost at least into which so many bytes may be cut, however that is done, starting
 * at multiples of align_bytes at best. */
double hardware_least_bursts_fs(const struct hardware *hw, const struct price *price, int64_t bytes,
                                int64_t align_bytes);

/* How many kernels run at once that need these buffers (bits) and no others: the chip's cores, or
 * more where a core has several of each. */
int hardware_cores_with(const struct hardware *hw, unsigned buffers);

/* As many as any buffers allow. */
int hardware_most_cores(const struct hardware *hw);

/* How many of a pipe's kind work in step in one core of a program that uses these pipes (bits): 1,
 * but for a split chip's vector cores beside their cube core. */
int hardware_in_step(const struct hardware *hw, uint32_t pipes, int pipe);

/* Registers of flags from one pipe to another, numbered from 0; the most that any two have; and do
 * two pairs have the same ones, as all do that cross between the same kinds of core? */
int hardware_flags(const struct hardware *hw, int from, int to);
int hardware_most_flags(const struct hardware *hw);
bool hardware_flags_shared(const struct hardware *hw, int from, int to, int other_from,
                           int other_to);

/* By how much later a wait sees its set: 0 within one kind of core. */
int64_t hardware_flag_fs(const struct hardware *hw, int from, int to);

/* When the pipes of `cores` working cores start. */
int64_t hardware_start_fs(const struct hardware *hw, int cores);

/* The share of a kernel's first touches that miss the cache, 0 to 1, when its operands and results
 * take `bytes` together; 0 on a chip without a cache. */
double hardware_miss_share(const struct hardware *hw, double bytes);

/* The same, of a warm cache, whatever it holds when the kernel starts: of what was touched. */
double hardware_warm_miss_share(const struct hardware *hw, double bytes);

/* Do so many bytes not stay in the cache, so that results go to what is behind it? */
bool hardware_spills(const struct hardware *hw, double bytes);

/* What answers say of the cache: "warm" or "cold", "none" of a chip without one. A processor's is
 * warm: kernels run on it again and again. */
const char *hardware_cache_word(const struct hardware *hw);

/* Bytes per second of one of `n` active transfers (n >= 1) with the given price:
 * min(path's own, total[n] / n), rounded down to whole bytes per second, at least 1. */
int64_t hardware_bus_share(const struct hardware *hw, const struct price *price, int64_t n);

/* Time in fs of `units` at `rate`, fs · units / rate.units, rounded up. INT64_MAX when it does not
 * fit. */
int64_t rate_ceil_fs(struct rate rate, int64_t units);

/* Brings a rate to lowest terms. */
struct rate rate_reduce(int64_t fs, int64_t units);

#endif
