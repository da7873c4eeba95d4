#include "analysis/places.h"

#include "analysis/region.h"

#include <stdio.h>

static const char *role_name(int role)
{
    static const char *const names[OPERAND_ROLES] = {"dst", "src", "src2", "a", "b"};
    return names[role];
}

static void capacity_text(const struct program *program, const struct instruction *in,
                          const struct region *region, const struct range *range, char *text,
                          size_t size)
{
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    int used =
        snprintf(text, size, "%s of line %d reaches %s[%lld, %lld), ", role_name(region->role),
                 in->line, buffer->name, (long long)range->low, (long long)range->high);
    if (range->low < 0)
        snprintf(text + used, size - (size_t)used, "%llu bytes before its start",
                 0 - (unsigned long long)range->low);
    else
        snprintf(text + used, size - (size_t)used, "%lld bytes beyond its %lld",
                 (long long)(range->high - buffer->capacity_bytes),
                 (long long)buffer->capacity_bytes);
}

static void check_region(const struct program *program, const struct nest *nest, int32_t item,
                         const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    int64_t capacity = program->hw->buffers[region->buffer].capacity_bytes;
    struct range range;
    if (region->bytes == 0)
        return;
    bool fits = region_range(program, nest, item, region, &range) && range.low > INT64_MIN;
    if (fits && range.low >= 0 && (capacity == 0 || range.high <= capacity))
        return;
    struct finding *finding = findings_add(findings, FINDING_CAPACITY, &in->line, 1);
    if (!finding)
        return;
    if (fits)
        capacity_text(program, in, region, &range, finding->text, sizeof finding->text);
    else
        snprintf(finding->text, sizeof finding->text,
                 "%s of line %d reaches addresses of %s beyond 64 bits", role_name(region->role),
                 in->line, program->hw->buffers[region->buffer].name);
}

/* In closed form: an affine address is smallest and largest at ends of the index ranges. */
void places_check(const struct program *program, const struct nest *nest,
                           struct findings *findings)
{
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (nest->played[item] == 0)
            continue;
        for (int32_t i = 0; i < in->region_count; i++)
            check_region(program, nest, item, &program->regions[in->first_region + i], findings);
    }
}
