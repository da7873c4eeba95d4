/* Curves of single instructions, and times of small programs, as measured on a chip: a CSV with the
 * columns kind, name, chip, x, value, unit_x and unit_value, in any order, others being left alone.
 *
 * A curve is the records with one kind, name and chip. What x and value mean is said by their
 * units; a record whose x, value or unit nobody can use is a rejected point, not an error: files of
 * measurements have such records, and the report says how many and the first line of them. */
#ifndef AUTOTUNE_FORMATS_CURVES_H
#define AUTOTUNE_FORMATS_CURVES_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

enum curve_kind {
    CURVE_MOVE,   /* one move of `size` bytes */
    CURVE_REPEAT, /* `size` moves of one size in a row */
    CURVE_MMAD,   /* one matrix instruction: `size` m, k and n in elements */
    /* The time of a whole program (jobs/probe/subject.h): */
    CURVE_START,    /* without an instruction: cores */
    CURVE_SKEW,     /* one instruction, cores starting one after the other: cores */
    CURVE_ORDER,    /* barriers before one instruction: how many */
    CURVE_MOVES,    /* cores, moves in a row, bytes of each */
    CURVE_PAIR,     /* two moves at once on each core: cores, bytes of the first and the second */
    CURVE_PIECES,   /* one move: pieces, bytes together, alignment of their starts */
    CURVE_PRODUCTS, /* matrix instructions in a row, m, k, n */
    CURVE_VECTORS,  /* one vector instruction: elements */
    CURVE_SCALARS,  /* one scalar instruction: operations */
    CURVE_FLAG,     /* 1: a flag before a move, 2: and one after it */
    CURVE_WORKING_SET, /* loads of so many bytes, as many missing the cache as a kernel's would */
    CURVE_OTHER,       /* counted only */
    CURVE_KIND_COUNT,
};

enum {
    CURVES_MAX_POINTS = 1 << 20,
    CURVES_MAX_COUNT = 1024,
    CURVE_NAME_SIZE = 128,
    CURVE_CHIP_SIZE = 16,
    CURVE_MAX_SIZES = 4,
};

struct curve_point {
    int64_t size[CURVE_MAX_SIZES]; /* as the kind says, those beyond it 0; bytes or repeats of a
                                      move, m, k, n of mmad */
    double rate; /* bytes per second, or for mmad operand-bytes × multiplications per cycle; of
                    programs 0 */
    double ns;   /* of a program, its launch included; else 0 */
    int line;
};

/* How a kind of program says its sizes: unit_x of its records, "CORESxMOVESxBYTES". NULL: it is
 * none. */
const char *curve_program_kind(enum curve_kind kind, const char **unit_x);

struct curve {
    enum curve_kind kind;
    char name[CURVE_NAME_SIZE]; /* as in the file */
    char chip[CURVE_CHIP_SIZE];
    int point_count;
    struct curve_point *points; /* in order of size, each size once */
};

struct curves {
    int curve_count;
    struct curve *curves; /* in order of first occurrence */
    int rejected;         /* points that are nonsense: not a number, not positive, twice the same */
    int first_rejected_line;
    char first_reason[96];
};

/* Reads the whole file. STATUS_INVALID with "file:line: …" for a missing column, a record of
 * another length than the header, a name that is no identifier, or a file without a single point;
 * STATUS_TOO_LARGE beyond the limits above. The caller owns *curves (curves_clear). */
enum status curves_read(const char *file, struct curves *curves, struct error *error);
void curves_clear(struct curves *curves);

/* The curve of a kind, name (any case, without its chip) and chip, or NULL: "GM_TO_L1" and "910b1"
 * find "GM_TO_L1_910b1". */
const struct curve *curves_find(const struct curves *curves, enum curve_kind kind, const char *name,
                                const char *chip);

#endif
