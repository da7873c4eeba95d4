/* Element types: the one table of what they are and of what this program and the files of CANN call
 * them. A name or a number that no row has is -1: never some usual type. */
#ifndef AUTOTUNE_CORE_DTYPE_H
#define AUTOTUNE_CORE_DTYPE_H

#include <stdint.h>

enum dtype {
    DTYPE_F16,
    DTYPE_F32,
    DTYPE_BF16,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_I16,
    DTYPE_U16,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_COUNT,
    /* Types that profiles tell of and no unit of a chip computes in: they have a size and CANN's
     * names, and nothing else. */
    DTYPE_BOOL = DTYPE_COUNT,
    DTYPE_I64,
    DTYPE_U64,
    DTYPE_F64,
    DTYPE_C64,
    DTYPE_ALL
};

/* The lower-case name, e.g. "f16". */
const char *dtype_name(enum dtype type);

/* Bytes of one element. */
int dtype_bytes(enum dtype type);

/* The type that sums of products of a type are in. What a chip's matrix unit adds up in is told by
 * its description; results are in the operands' own type or in this one, on every chip, and a chip
 * that adds up in another one needs a way to convert. */
enum dtype dtype_accumulator(enum dtype type);

/* The type of a product's results where none is asked for: the operands' own or dtype_accumulator,
 * which is what integers are left in. */
enum dtype dtype_result(enum dtype type);

/* The type called `name` (any case), or -1. `length` characters of `name` count. */
int dtype_find(const char *name, int length);

/* CANN's name in operators' files, "float16"; what ge::DataType has behind DT_, "FLOAT16", and its
 * number there. */
const char *dtype_cann_name(enum dtype type);
const char *dtype_ge_name(enum dtype type);
int dtype_cann_number(enum dtype type);

/* The type that CANN calls so, or -1: "float16", or DT_FLOAT16 and FLOAT16 as in ge::DataType and
 * profiles; any case. Of types that chips compute in, and of all in profiles. */
int dtype_find_cann(const char *name, int length);
int dtype_find_profiled(const char *name, int length);
int dtype_find_number(int64_t number);

/* What a message says was expected: "f16, f32, ... or u32", the same by CANN's names, or by its
 * numbers as "1 (f16), 0 (f32), ...". */
enum dtype_words { DTYPE_NAMES, DTYPE_CANN_NAMES, DTYPE_CANN_NUMBERS };
enum { DTYPE_LIST_SIZE = 256 };
void dtype_list(enum dtype_words words, char text[DTYPE_LIST_SIZE]);

/* The names, and which of them `name` may have meant; `length` as in suggest_for. */
void dtype_expected(const char *name, int length, char text[DTYPE_LIST_SIZE]);

#endif
