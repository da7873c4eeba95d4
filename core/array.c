/* Growing an array of any type: the pointer to it is copied as bytes, for it is of another type
 * than void *. */
#include "core/array.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

bool array_double(void *array, int64_t *capacity, size_t size)
{
    void *items;
    size_t wanted = *capacity > 0 ? 2 * (size_t)*capacity : 1, bytes;
    if (__builtin_mul_overflow(wanted, size, &bytes))
        return false;
    memcpy(&items, array, sizeof items);
    void *grown = realloc(items, bytes);
    if (!grown) {
        memory_note_short();
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = (int64_t)wanted;
    /* cppcheck-suppress memleak ; *array owns it */
    return true;
}
