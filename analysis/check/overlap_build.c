/* Before execution: which operands can conflict at all, and where they cut their buffers. */
#include "analysis/check/overlap.h"
#include "analysis/check/region.h"

#include <stdlib.h>
#include <string.h>

/* All bytes of one operand over the whole program. */
struct span {
    struct range range;
    int32_t region, item;
    int8_t buffer;
};

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->buffer != y->buffer)
        return x->buffer - y->buffer;
    if (x->range.low != y->range.low)
        return x->range.low < y->range.low ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

/* The spans of all operands that are touched; those whose addresses do not fit in 64 bits are a
 * finding of their own and left out here. */
static int32_t collect_spans(const struct overlap *overlap, struct span *spans)
{
    const struct program *program = overlap->program;
    int32_t count = 0;
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        if (overlap->nest->executed[item] == 0)
            continue;
        for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++) {
            const struct region *region = &program->regions[i];
            struct span *span = &spans[count];
            *span = (struct span){{0, 0}, i, item, region->buffer};
            count += region->bytes > 0 &&
                     region_range(program, overlap->nest, item, region, &span->range) &&
                     span->range.low > INT64_MIN;
        }
    }
    return count;
}

/* A run of spans that hang together matters when two pipes touch it and one of them writes. */
static void watch_run(struct overlap *overlap, const struct span *spans, int32_t count)
{
    const struct program *program = overlap->program;
    uint32_t pipes = 0;
    bool written = false;
    for (int32_t i = 0; i < count; i++) {
        const struct instruction *in = &program->items[spans[i].item];
        pipes |= 1u << in->pipe;
        written |= instruction_writes(in, program->regions[spans[i].region].role);
    }
    for (int32_t i = 0; i < count; i++)
        overlap->watched[spans[i].region] = written && (pipes & (pipes - 1));
}

static void watch_spans(struct overlap *overlap, const struct span *spans, int32_t count)
{
    int32_t first = 0;
    int64_t high = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (i > first && (span->buffer != spans[first].buffer || span->range.low >= high)) {
            watch_run(overlap, &spans[first], i - first);
            first = i;
        }
        if (i == first || span->range.high > high)
            high = span->range.high;
    }
    watch_run(overlap, &spans[first], count - first);
}

static enum status watch(struct overlap *overlap, struct error *error)
{
    size_t count = (size_t)overlap->program->region_count + 1;
    overlap->watched = calloc(count, sizeof *overlap->watched);
    struct span *spans = malloc(count * sizeof *spans);
    if (!overlap->watched || !spans) {
        free(spans);
        return error_memory(error);
    }
    int32_t touched = collect_spans(overlap, spans);
    qsort(spans, (size_t)touched, sizeof *spans, by_place);
    watch_spans(overlap, spans, touched);
    free(spans);
    return STATUS_OK;
}

/* The iterations that move the operand: 1 for loops whose index it ignores. */
static void moving_counts(const struct overlap *overlap, int32_t item, const struct region *region,
                          int64_t counts[PROGRAM_MAX_DEPTH])
{
    int depth = nest_counts(overlap->nest, overlap->program, item, counts);
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        if (level >= depth || region->loop_stride_bytes[level] == 0)
            counts[level] = 1;
}

static bool next_index(int64_t index[PROGRAM_MAX_DEPTH], const int64_t counts[PROGRAM_MAX_DEPTH])
{
    for (int level = PROGRAM_MAX_DEPTH - 1; level >= 0; level--) {
        if (++index[level] < counts[level])
            return true;
        index[level] = 0;
    }
    return false;
}

static enum status count_starts(struct overlap *overlap, int32_t item, const struct region *region,
                                struct error *error)
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    struct rows rows;
    region_rows(region, &rows);
    moving_counts(overlap, item, region, counts);
    int64_t starts = rows.count;
    bool overflow = false;
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        overflow |= __builtin_mul_overflow(starts, counts[level], &starts);
    overflow |= __builtin_add_overflow(overlap->starts, starts, &overlap->starts);
    if (!overflow && overlap->starts <= CHECK_MAX_STARTS)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE,
                     "rows of operands start at more than %lld places, too many to check for "
                     "hazards",
                     CHECK_MAX_STARTS);
}

static void add_slot(struct buffer_map *map, int pipe)
{
    if (map->slot_of[pipe] >= 0)
        return;
    map->pipe_of[map->slots] = (int8_t)pipe;
    map->slot_of[pipe] = (int8_t)map->slots++;
}

static enum status cut_region(struct overlap *overlap, int32_t item, const struct region *region,
                              struct error *error)
{
    struct buffer_map *map = &overlap->maps[region->buffer];
    int64_t counts[PROGRAM_MAX_DEPTH];
    int64_t index[PROGRAM_MAX_DEPTH] = {0};
    struct rows rows;
    enum status status = STATUS_OK;
    add_slot(map, overlap->program->items[item].pipe);
    region_rows(region, &rows);
    moving_counts(overlap, item, region, counts);
    do {
        int64_t start = region_start(region, &rows, index);
        for (int64_t i = 0; i < rows.count && status == STATUS_OK; i++) {
            status = boundaries_add(&map->cuts, start + i * rows.stride, error);
            if (status == STATUS_OK)
                status = boundaries_add(&map->cuts, start + i * rows.stride + rows.bytes, error);
        }
    } while (status == STATUS_OK && next_index(index, counts));
    return status;
}

/* Does one thing with each watched operand until one fails. */
static enum status each_watched(struct overlap *overlap,
                                enum status (*act)(struct overlap *, int32_t item,
                                                   const struct region *, struct error *),
                                struct error *error)
{
    const struct program *program = overlap->program;
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
            if (overlap->watched[i])
                TRY(act(overlap, item, &program->regions[i], error));
    }
    return STATUS_OK;
}

static enum status make_pieces(struct overlap *overlap, struct error *error)
{
    int64_t bytes = 0;
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++) {
        struct buffer_map *map = &overlap->maps[i];
        if (map->cuts.count == 0)
            continue;
        size_t cells = map->cuts.count * (size_t)map->slots;
        bytes += (int64_t)(cells * sizeof *map->last);
        if (bytes > CHECK_MAX_BYTES)
            return error_set(error, STATUS_TOO_LARGE,
                             "operands cut the buffers into too many pieces to check for hazards");
        map->last = calloc(cells, sizeof *map->last);
        if (!map->last)
            return error_memory(error);
        TRY(boundaries_seal(&map->cuts, error));
    }
    return STATUS_OK;
}

enum status overlap_init(struct overlap *overlap, const struct program *program,
                         const struct nest *nest, struct error *error)
{
    memset(overlap, 0, sizeof *overlap);
    overlap->program = program;
    overlap->nest = nest;
    overlap->numbered = true;
    unnamed_init(&overlap->unnamed, program);
    earlier_init(&overlap->earlier, program);
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++)
        memset(overlap->maps[i].slot_of, -1, sizeof overlap->maps[i].slot_of);
    TRY(watch(overlap, error));
    TRY(each_watched(overlap, count_starts, error));
    TRY(each_watched(overlap, cut_region, error));
    return make_pieces(overlap, error);
}

void overlap_clear(struct overlap *overlap)
{
    free(overlap->watched);
    overlap->watched = NULL;
    earlier_clear(&overlap->earlier);
    for (int i = 0; i < HARDWARE_MAX_BUFFERS; i++) {
        boundaries_clear(&overlap->maps[i].cuts);
        free(overlap->maps[i].last);
        overlap->maps[i].last = NULL;
    }
}
