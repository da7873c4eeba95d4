/* Growing an array of any type: the pointer to it is copied as bytes, for it is of another type
 * than void *. */
#include "core/array.h"

#include <stdlib.h>
#include <string.h>

bool array_double(void *array, int64_t *capacity, size_t size)
{
    void *items;
    memcpy(&items, array, sizeof items);
    int64_t wanted = *capacity > 0 ? 2 * *capacity : 1;
    void *grown = realloc(items, (size_t)wanted * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
