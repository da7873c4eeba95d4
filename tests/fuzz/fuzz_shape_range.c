/* Ranges in shapes: what is read is written the same again, and no shape without one is taken. */
#include "core/shape_range.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require_same(const char *shape, const struct shape_range *range)
{
    char bounds[64], again[SHAPE_TEXT_SIZE + 64];
    const char *at = range->first;
    fuzz_require(1 <= range->from && range->from <= range->to, "a range ascends");
    for (int i = 0; i < range->size && at; i++) {
        at = strchr(at, 'x');
        at += at != NULL;
    }
    fuzz_require(at != NULL, "the size is one of the shape");
    if (!at)
        return;
    fuzz_require(strtoll(at, NULL, 10) == range->from, "the first shape has the first size");
    snprintf(bounds, sizeof bounds, "..%lld", (long long)range->to);
    size_t head = (size_t)(strstr(shape, "..") - shape);
    fuzz_require(strncmp(shape, range->first, head) == 0, "what stands before stays");
    snprintf(again, sizeof again, "%.*s%s%s", (int)head, range->first, bounds, range->first + head);
    fuzz_require(strlen(again) <= strlen(shape), "nothing is added but leading zeros less");
    fuzz_require(!shape_has_range(range->first), "the first shape has no range");
}

void fuzz_read_shape_range(const char *file)
{
    size_t length;
    char *shape = fuzz_text(file, &length);
    struct shape_range range;
    struct error error = {0};
    shape[strcspn(shape, "\n")] = 0;
    enum status status = shape_range_parse(shape, &range, &error);
    fuzz_require(status == STATUS_OK || strncmp(error.text, "--shape ", 8) == 0,
                 "a refusal names the option");
    if (status == STATUS_OK)
        require_same(shape, &range);
    else
        fuzz_require(status == STATUS_INVALID, "a refusal is of the text");
    free(shape);
}
