/* Stretches are sorted by address and merged where they overlap, in one sweep; room is the first
 * gap between them that is large enough (first fit). What an operand touches is taken over all
 * iterations of the loops around it. */
#include "analysis/advice/tenant.h"

#include "analysis/advice/alias.h"

#include <stdlib.h>

static int compare(const void *one, const void *other)
{
    const struct tenant *a = one, *b = other;
    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

/* Every operand's stretch by itself; NULL without memory. *count is how many. */
static struct tenant *list(const struct edit *edit, int32_t first, int32_t last, int32_t *count)
{
    struct tenant *all = malloc(((size_t)(last - first) * OPERAND_ROLES + 1) * sizeof *all);
    *count = 0;
    for (int32_t i = first; all && i < last; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            const struct region *region = &edit->lines[i].regions[r];
            struct tenant *t = &all[*count];
            t->buffer = region->buffer;
            if (edit->hw->buffers[region->buffer].capacity_bytes > 0 && region->bytes > 0 &&
                alias_range(edit, i, region, &t->low, &t->high))
                ++*count;
        }
    if (all)
        qsort(all, (size_t)*count, sizeof *all, compare);
    return all;
}

/* Joins those that overlap; how many are left. */
static int32_t join(struct tenant *all, int32_t count)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        struct tenant *before = kept ? &all[kept - 1] : NULL;
        if (before && before->buffer == all[i].buffer && all[i].low < before->high)
            before->high = all[i].high > before->high ? all[i].high : before->high;
        else
            all[kept++] = all[i];
    }
    return kept;
}

int tenants_of(const struct edit *edit, int32_t first, int32_t last,
               struct tenant tenants[TENANT_MAX])
{
    int32_t count;
    struct tenant *all = list(edit, first, last, &count);
    if (!all)
        return -1;
    count = join(all, count);
    for (int32_t i = 0; i < count && count <= TENANT_MAX; i++)
        tenants[i] = all[i];
    free(all);
    return count <= TENANT_MAX ? (int)count : -1;
}

bool tenant_has(const struct edit *edit, int32_t at, const struct region *region,
                const struct tenant *tenant)
{
    int64_t low, high;
    return region->buffer == tenant->buffer && region->bytes > 0 &&
           alias_range(edit, at, region, &low, &high) && low < tenant->high && high > tenant->low;
}

bool tenant_used(const struct edit *edit, int32_t first, int32_t last, const struct tenant *tenant)
{
    for (int32_t i = first; i < last; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++)
            if (tenant_has(edit, i, &edit->lines[i].regions[r], tenant))
                return true;
    return false;
}

bool tenant_turns(const struct edit *edit, int32_t first, int32_t count,
                  const struct tenant *tenant)
{
    int depth = edit_depth(edit, first) - 1;
    bool written = false;
    for (int32_t i = first; i < first + count; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            const struct region *region = &edit->lines[i].regions[r];
            if (!tenant_has(edit, i, region, tenant))
                continue;
            if (region->loop_stride_bytes[depth] ||
                (!written && instruction_reads(&edit->lines[i].in, region->role)))
                return false;
            written |= instruction_writes(&edit->lines[i].in, region->role);
        }
    return written;
}

static int64_t align_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* The first gap between what the whole program uses. */
static int64_t first_gap(const struct tenant *all, int32_t count, int64_t capacity, int buffer,
                         int64_t bytes, int64_t align)
{
    int64_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        if (all[i].buffer != buffer)
            continue;
        if (all[i].low - at >= bytes)
            break;
        at = align_up(all[i].high > at ? all[i].high : at, align);
    }
    return capacity - at >= bytes ? at : -1;
}

int64_t tenant_room(const struct edit *edit, const struct tenant *tenant, int64_t bytes)
{
    /* 32 bytes are what buffers of this family ask for where a description does not say. */
    int64_t align = edit->hw->buffers[tenant->buffer].alignment_bytes;
    int64_t capacity = edit->hw->buffers[tenant->buffer].capacity_bytes, found;
    int32_t count;
    struct tenant *all = list(edit, 0, edit->count, &count);
    if (!all)
        return -1;
    count = join(all, count);
    found = first_gap(all, count, capacity, tenant->buffer, bytes, align > 32 ? align : 32);
    free(all);
    return found;
}

void tenant_shift(struct edit *edit, int32_t first, int32_t last, const struct tenant *tenant,
                  int64_t by_bytes)
{
    for (int32_t i = first; i < last; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++)
            if (tenant_has(edit, i, &edit->lines[i].regions[r], tenant))
                edit->lines[i].regions[r].offset_bytes += by_bytes;
}
