/* Notes what does not fit, in words. Products and sums of bytes end at the largest integer, so
 * that what overflows does not fit either. A value that is off its axis is told with its
 * neighbours on it, which a user can take instead. */
#include "kernels/limits.h"
#include "kernels/slices.h"

#include <stdarg.h>
#include <stdio.h>

int64_t product_of(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

int64_t sum_of(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

int64_t capacity_of(const struct hardware *hw, int buffer)
{
    int64_t bytes = hw->buffers[buffer].capacity_bytes;
    return bytes ? bytes : INT64_MAX;
}

/* NULL where violations are only counted. */
static struct violation *add_violation(struct violation list[MAX_VIOLATIONS], int *count,
                                       const char *limit)
{
    int number = (*count)++;
    if (!list)
        return NULL;
    struct violation *violation = &list[number];
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", limit);
    return violation;
}

void add_text(struct violation list[MAX_VIOLATIONS], int *count, const char *limit,
              const char *format, ...)
{
    struct violation *violation = add_violation(list, count, limit);
    va_list arguments;
    if (!violation)
        return;
    va_start(arguments, format);
    vsnprintf(violation->text, sizeof violation->text, format, arguments);
    va_end(arguments);
}

void add_excess(struct violation list[MAX_VIOLATIONS], int *count, const char *limit,
                const char *contents, int64_t needed_bytes, int64_t available_bytes)
{
    if (needed_bytes <= available_bytes)
        return;
    struct violation *violation = add_violation(list, count, limit);
    if (!violation)
        return;
    violation->needed_bytes = needed_bytes;
    violation->available_bytes = available_bytes;
    snprintf(violation->text, sizeof violation->text, "%s: %s %lld bytes of %lld, %lld too many",
             limit, contents, (long long)needed_bytes, (long long)available_bytes,
             (long long)(needed_bytes - available_bytes));
}

bool needs_fit(const struct core_needs *needs, enum core_need last)
{
    for (int n = 0; n <= (int)last; n++)
        if (needs->bytes[n] > capacity_of(needs->hw, needs->buffer[n]))
            return false;
    return true;
}

void add_needs(struct violation list[MAX_VIOLATIONS], int *count, const struct core_needs *needs,
               const char *const contents[CORE_NEEDS])
{
    static const char *const names[CORE_NEEDS] = {"l0a", "l0b", "l0c", "ub", "l1"};
    for (int n = 0; n < CORE_NEEDS; n++)
        add_excess(list, count, names[n], contents[n], needs->bytes[n],
                   capacity_of(needs->hw, needs->buffer[n]));
}

void add_value(struct violation list[MAX_VIOLATIONS], int *count, const char *axis, int64_t value,
               const char *kind, int64_t below, int64_t above)
{
    struct violation *violation = add_violation(list, count, axis);
    if (!violation)
        return;
    int used = snprintf(violation->text, sizeof violation->text, "%s=%lld is no %s; next", axis,
                        (long long)value, kind);
    const int64_t next[] = {below, above};
    for (int i = 0; i < 2; i++)
        if (next[i])
            used += snprintf(violation->text + used, sizeof violation->text - (size_t)used, " %lld",
                             (long long)next[i]);
}

void add_word(struct violation list[MAX_VIOLATIONS], int *count, const char *axis, const char *word)
{
    add_text(list, count, axis, "%s=%s is no value of this space beside the others", axis, word);
}

bool on_axis(const struct space_block *block, int axis, int64_t value, int64_t *below,
             int64_t *above)
{
    bool found = false;
    *below = *above = 0;
    for (int i = 0; i < block->count[axis]; i++) {
        int64_t v = block->values[axis][i];
        found = found || v == value;
        *below = v < value ? v : *below;
        *above = v > value && !*above ? v : *above;
    }
    return found;
}

void add_core_count(struct violation list[MAX_VIOLATIONS], int *count, int64_t cores, int64_t units,
                    int64_t least, int64_t most)
{
    int64_t below = cores - 1 < most ? cores - 1 : most, above = cores > least ? cores + 1 : least;
    if (cores >= least && cores <= most && is_slice(units, cores, 1))
        return;
    while (below >= least && !is_slice(units, below, 1))
        below--;
    while (above <= most && !is_slice(units, above, 1))
        above++;
    add_value(list, count, "cores", cores, "number of cores that get equal work",
              below >= least ? below : 0, above <= most ? above : 0);
}

void add_length(struct violation list[MAX_VIOLATIONS], int *count, double instructions)
{
    if (!is_executable(instructions))
        add_text(list, count, "instructions",
                 "instructions: about %.2g, more than the %lld that are played", instructions,
                 PROGRAM_MAX_EXECUTED);
}
