/* Names and numbers between commas (network/sizes.h). */
#include "network/sizes.h"

#include "core/number.h"

#include <stdio.h>
#include <string.h>

static enum status read_list(const char *text, struct sizes *sizes, struct error *error)
{
    const char *at = text;
    while (at && *at) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        struct size_given *given = &sizes->given[sizes->count];
        struct error why;
        char number[32];
        if (sizes->count == SIZES_MAX || name == 0 || name >= length || name >= SIZE_NAME_SIZE ||
            length - name - 1 >= sizeof number)
            return error_set(error, STATUS_INVALID,
                             "sizes '%.100s': expected NAME=SIZE, with commas between up to %d",
                             text, SIZES_MAX);
        snprintf(given->name, sizeof given->name, "%.*s", (int)name, at);
        snprintf(number, sizeof number, "%.*s", (int)(length - name - 1), at + name + 1);
        if (number_count(given->name, number, 1, INT32_MAX, &given->size, &why) != STATUS_OK)
            return error_set(error, STATUS_INVALID, "sizes: %s", why.text);
        sizes->count++;
        at += length + (at[length] == ',');
    }
    return STATUS_OK;
}

struct size_given *sizes_find(struct sizes *sizes, const char *name)
{
    for (int i = 0; i < sizes->count; i++)
        if (strcmp(sizes->given[i].name, name) == 0)
            return &sizes->given[i];
    return NULL;
}

enum status sizes_read(const struct network_request *request, struct sizes *sizes,
                       struct error *error)
{
    *sizes = (struct sizes){0};
    TRY(read_list(request->sizes, sizes, error));
    struct size_given *batch = sizes_find(sizes, "batch");
    if (request->batch == 0)
        return STATUS_OK;
    if (!batch) {
        if (sizes->count == SIZES_MAX)
            return error_set(error, STATUS_INVALID, "sizes '%.100s': expected up to %d with batch",
                             request->sizes, SIZES_MAX);
        batch = &sizes->given[sizes->count++];
        strcpy(batch->name, "batch");
    }
    batch->size = request->batch;
    return STATUS_OK;
}
