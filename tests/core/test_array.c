/* Arrays that grow: what is in them stays, filled once or again and again. */
#include "core/array.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1000 };

Test(array, filled_once)
{
    int64_t *items = NULL;
    for (int64_t i = 0; i < ITEMS; i++) {
        cr_assert(array_room(&items, i, sizeof *items));
        items[i] = i;
    }
    for (int64_t i = 0; i < ITEMS; i++)
        cr_assert_eq(items[i], i);
    free(items);
}

Test(array, filled_again_it_keeps_its_room)
{
    char(*items)[24] = NULL;
    int64_t capacity = 0;
    for (int round = 0; round < 3; round++)
        for (int64_t i = 0; i < ITEMS; i++) {
            cr_assert(array_reserve(&items, i, &capacity, sizeof *items));
            cr_assert_lt(i, capacity);
            snprintf(items[i], sizeof items[i], "%lld", (long long)i);
        }
    cr_assert_eq(capacity, 1024);
    for (int64_t i = 0; i < ITEMS; i++)
        cr_assert_eq(strtoll(items[i], NULL, 10), i);
    free(items);
}

Test(array, without_memory_it_stays)
{
    int64_t *items = NULL, capacity = 0;
    cr_assert(array_reserve(&items, 0, &capacity, sizeof *items));
    items[0] = 7;
    capacity = INT64_C(1) << 62;
    cr_assert_not(array_double(&items, &capacity, sizeof *items));
    cr_assert_eq(capacity, INT64_C(1) << 62);
    cr_assert_eq(items[0], 7);
    free(items);
}
