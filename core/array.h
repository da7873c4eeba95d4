/* Arrays that grow as items are appended. `array` is the address of a pointer to `count` items of
 * `size` bytes, NULL at first; room doubles. False without memory: the array stays as it is. */
#ifndef AUTOTUNE_CORE_ARRAY_H
#define AUTOTUNE_CORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool array_double(void *array, int64_t *capacity, size_t size);

/* Room for one more item of an array that is filled once: it is full where its count is a power of
 * two, and nothing is kept of how much it holds. */
static inline bool array_room(void *array, int64_t count, size_t size)
{
    int64_t capacity = count;
    return (count & (count - 1)) != 0 || array_double(array, &capacity, size);
}

/* The same of an array that is emptied and filled again. */
static inline bool array_reserve(void *array, int64_t count, int64_t *capacity, size_t size)
{
    return count < *capacity || array_double(array, capacity, size);
}

#endif
