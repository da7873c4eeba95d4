/* An address is an offset and multiples of strides, so its least and greatest value are at the ends
 * of the loops' ranges, and all starts are aligned exactly when offset and strides are. */
#include "analysis/check/places.h"

#include "analysis/check/region.h"
#include "analysis/check/witness.h"

#include <stdio.h>

static const char *role_name(int role)
{
    static const char *const names[OPERAND_ROLES] = {"dst", "src", "src2", "src3", "a", "b"};
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

static void check_capacity(const struct program *program, const struct nest *nest, int32_t item,
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
    finding->witness.access_count = 1;
    witness_of_index(&finding->witness.accesses[0], program, nest, item,
                     instruction_writes(in, region->role), NULL);
    if (fits) {
        finding->witness.buffer = region->buffer;
        finding->witness.low = range.low;
        finding->witness.high = range.high;
        capacity_text(program, in, region, &range, finding->text, sizeof finding->text);
    } else {
        snprintf(finding->text, sizeof finding->text,
                 "%s of line %d reaches addresses of %s beyond 64 bits", role_name(region->role),
                 in->line, program->hw->buffers[region->buffer].name);
    }
}

/* What the starts of an operand are sums of: its offset, and its strides where something moves. */
struct part {
    int64_t bytes;
    const char *what;
};

static int list_parts(const struct program *program, const struct nest *nest, int32_t item,
                      const struct region *region, struct part parts[PROGRAM_MAX_DEPTH + 2])
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    int depth = nest_counts(nest, program, item, counts), count = 0;
    parts[count++] = (struct part){region->offset_bytes, "its offset"};
    if (region->rows > 1)
        parts[count++] = (struct part){region->row_stride_bytes, "the stride of its rows"};
    for (int level = 0; level < depth; level++)
        if (counts[level] > 1)
            parts[count++] =
                (struct part){region->loop_stride_bytes[level], "its stride in a loop"};
    return count;
}

/* The whole of the operand. */
static void alignment_witness(const struct program *program, const struct nest *nest, int32_t item,
                              const struct region *region, struct witness *witness)
{
    struct range range;
    witness->access_count = 1;
    witness_of_index(&witness->accesses[0], program, nest, item,
                     instruction_writes(&program->items[item], region->role), NULL);
    if (!region_range(program, nest, item, region, &range))
        return;
    witness->buffer = region->buffer;
    witness->low = range.low;
    witness->high = range.high;
}

/* A scalar instruction may touch any byte; whoever moves or computes by blocks may not. All starts
 * are multiples exactly when offset and strides are: the first is the offset, and neighbours
 * differ by a stride. */
static void check_alignment(const struct program *program, const struct nest *nest, int32_t item,
                            const struct region *region, struct findings *findings)
{
    const struct instruction *in = &program->items[item];
    const struct buffer *buffer = &program->hw->buffers[region->buffer];
    struct part parts[PROGRAM_MAX_DEPTH + 2];
    if (region->bytes == 0 || buffer->alignment_bytes == 0 || in->kind == INSTRUCTION_SCALAR ||
        instruction_spreads(program->hw, in, region->role))
        return;
    int count = list_parts(program, nest, item, region, parts);
    for (int i = 0; i < count; i++) {
        if (parts[i].bytes % buffer->alignment_bytes == 0)
            continue;
        struct finding *finding = findings_add(findings, FINDING_ALIGNMENT, &in->line, 1);
        if (finding)
            alignment_witness(program, nest, item, region, &finding->witness);
        if (finding)
            snprintf(
                finding->text, sizeof finding->text,
                "%s of line %d starts where %s allows no start: %s, %lld bytes, is no multiple "
                "of %lld",
                role_name(region->role), in->line, buffer->name, parts[i].what,
                (long long)parts[i].bytes, (long long)buffer->alignment_bytes);
        return;
    }
}

void places_check(const struct program *program, const struct nest *nest, struct findings *findings)
{
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (nest->executed[item] == 0)
            continue;
        for (int32_t i = 0; i < in->region_count; i++) {
            const struct region *region = &program->regions[in->first_region + i];
            check_capacity(program, nest, item, region, findings);
            check_alignment(program, nest, item, region, findings);
        }
    }
}
