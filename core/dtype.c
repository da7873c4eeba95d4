/* Element types (core/dtype.h). Source of CANN's names and numbers: graph/types.h of its headers,
 * enum ge::DataType. */
#include "core/dtype.h"

#include "core/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct row {
    const char *name;
    const char *cann; /* in operators' files; in any case also elsewhere */
    const char *ge;   /* behind DT_ */
    int bytes;
    enum dtype accumulator, result; /* of products */
    int number;                     /* of ge::DataType */
} types[DTYPE_ALL] = {
    [DTYPE_F16] = {"f16", "float16", "FLOAT16", 2, DTYPE_F32, DTYPE_F16, 1},
    [DTYPE_F32] = {"f32", "float32", "FLOAT", 4, DTYPE_F32, DTYPE_F32, 0},
    [DTYPE_BF16] = {"bf16", "bfloat16", "BF16", 2, DTYPE_F32, DTYPE_BF16, 27},
    [DTYPE_I8] = {"i8", "int8", "INT8", 1, DTYPE_I32, DTYPE_I32, 2},
    [DTYPE_U8] = {"u8", "uint8", "UINT8", 1, DTYPE_I32, DTYPE_I32, 4},
    [DTYPE_I16] = {"i16", "int16", "INT16", 2, DTYPE_I32, DTYPE_I32, 6},
    [DTYPE_U16] = {"u16", "uint16", "UINT16", 2, DTYPE_U32, DTYPE_U32, 7},
    [DTYPE_I32] = {"i32", "int32", "INT32", 4, DTYPE_I32, DTYPE_I32, 3},
    [DTYPE_U32] = {"u32", "uint32", "UINT32", 4, DTYPE_U32, DTYPE_U32, 8},
    [DTYPE_BOOL] = {"bool", "bool", "BOOL", 1, DTYPE_BOOL, DTYPE_BOOL, 12},
    [DTYPE_I64] = {"i64", "int64", "INT64", 8, DTYPE_I64, DTYPE_I64, 9},
    [DTYPE_U64] = {"u64", "uint64", "UINT64", 8, DTYPE_U64, DTYPE_U64, 10},
    [DTYPE_F64] = {"f64", "float64", "DOUBLE", 8, DTYPE_F64, DTYPE_F64, 11},
    [DTYPE_C64] = {"c64", "complex64", "COMPLEX64", 8, DTYPE_C64, DTYPE_C64, 16},
};

const char *dtype_name(enum dtype type)
{
    return types[type].name;
}

int dtype_bytes(enum dtype type)
{
    return types[type].bytes;
}

enum dtype dtype_accumulator(enum dtype type)
{
    return types[type].accumulator;
}

enum dtype dtype_result(enum dtype type)
{
    return types[type].result;
}

const char *dtype_cann_name(enum dtype type)
{
    return types[type].cann;
}

const char *dtype_ge_name(enum dtype type)
{
    return types[type].ge;
}

int dtype_cann_number(enum dtype type)
{
    return types[type].number;
}

static bool is_called(const char *name, const char *text, int length)
{
    return (int)strlen(name) == length && strncasecmp(name, text, (size_t)length) == 0;
}

int dtype_find(const char *name, int length)
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (is_called(types[t].name, name, length))
            return t;
    return -1;
}

int dtype_find_profiled(const char *name, int length)
{
    int mark = length > 3 && strncasecmp(name, "DT_", 3) == 0 ? 3 : 0;
    for (int t = 0; t < DTYPE_ALL; t++)
        if (is_called(types[t].cann, name + mark, length - mark) ||
            is_called(types[t].ge, name + mark, length - mark))
            return t;
    return -1;
}

int dtype_find_cann(const char *name, int length)
{
    int type = dtype_find_profiled(name, length);
    return type < DTYPE_COUNT ? type : -1;
}

int dtype_find_number(int64_t number)
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (types[t].number == number)
            return t;
    return -1;
}

void dtype_list(enum dtype_words words, char text[DTYPE_LIST_SIZE])
{
    int used = 0;
    for (int t = 0; t < DTYPE_COUNT && used < DTYPE_LIST_SIZE; t++) {
        const char *mark = t == 0 ? "" : t + 1 < DTYPE_COUNT ? ", " : " or ";
        const char *name = words == DTYPE_CANN_NAMES ? types[t].cann : types[t].name;
        size_t room = (size_t)(DTYPE_LIST_SIZE - used);
        used += words == DTYPE_CANN_NUMBERS
                    ? snprintf(text + used, room, "%s%d (%s)", mark, types[t].number, name)
                    : snprintf(text + used, room, "%s%s", mark, name);
    }
}

void dtype_expected(const char *name, int length, char text[DTYPE_LIST_SIZE])
{
    struct suggestion like = suggest_for(name, length);
    for (int t = 0; t < DTYPE_COUNT; t++)
        suggest_try(&like, types[t].name);
    dtype_list(DTYPE_NAMES, text);
    strncat(text, like.text, DTYPE_LIST_SIZE - 1 - strlen(text));
}
