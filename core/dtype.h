/* Element types: their names in program text and command lines, and their sizes in bytes. */
#ifndef AUTOTUNE_CORE_DTYPE_H
#define AUTOTUNE_CORE_DTYPE_H

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
    DTYPE_COUNT
};

/* The lower-case name, e.g. "f16". */
const char *dtype_name(enum dtype type);

/* Bytes of one element. */
int dtype_bytes(enum dtype type);

/* The type called `name` (any case), or -1. `length` characters of `name` count. */
int dtype_find(const char *name, int length);

#endif
