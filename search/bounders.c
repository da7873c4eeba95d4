/* The first space of each kind of layouts stands for it. */
#include "search/bounders.h"

#include <stdlib.h>
#include <string.h>

static bool same_layouts(const struct space *a, const struct space *b)
{
    return a->layout_count == b->layout_count &&
           memcmp(a->layouts, b->layouts, (size_t)a->layout_count * sizeof *a->layouts) == 0;
}

static enum status add(struct bounders *bounders, const struct space *const spaces[], int number,
                       int first[], struct error *error)
{
    int b = 0;
    while (b < bounders->count && !same_layouts(spaces[first[b]], spaces[number]))
        b++;
    bounders->of[number] = b;
    if (b < bounders->count)
        return STATUS_OK;
    first[bounders->count++] = number;
    return bounder_open(&bounders->items[b], spaces[number], error);
}

enum status bounders_open(struct bounders *bounders, const struct space *const spaces[], int count,
                          struct error *error)
{
    size_t room = (size_t)count + 1;
    int *first = calloc(room, sizeof *first);
    *bounders = (struct bounders){.items = calloc(room, sizeof *bounders->items),
                                  .of = calloc(room, sizeof *bounders->of)};
    enum status status = first && bounders->items && bounders->of ? STATUS_OK : error_memory(error);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        status = add(bounders, spaces, i, first, error);
    free(first);
    return status;
}

void bounders_close(struct bounders *bounders)
{
    for (int b = 0; b < bounders->count; b++)
        bounder_close(&bounders->items[b]);
    free(bounders->items);
    free(bounders->of);
}
