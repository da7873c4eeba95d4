#include "core/dtype.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int bytes;
} types[DTYPE_COUNT] = {
    [DTYPE_F16] = {"f16", 2}, [DTYPE_F32] = {"f32", 4}, [DTYPE_BF16] = {"bf16", 2},
    [DTYPE_I8] = {"i8", 1},   [DTYPE_U8] = {"u8", 1},   [DTYPE_I16] = {"i16", 2},
    [DTYPE_U16] = {"u16", 2}, [DTYPE_I32] = {"i32", 4}, [DTYPE_U32] = {"u32", 4},
};

const char *dtype_name(enum dtype type)
{
    return types[type].name;
}

int dtype_bytes(enum dtype type)
{
    return types[type].bytes;
}

int dtype_find(const char *name, int length)
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if ((int)strlen(types[t].name) == length &&
            strncasecmp(types[t].name, name, (size_t)length) == 0)
            return t;
    return -1;
}
