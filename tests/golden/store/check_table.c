/* A table against brute force, as C and as C++: every entry is found, and of drawn shapes the
 * nearest by the definition in the header's comment, summed as logarithms in long double. */
#include <table.h>

#include <math.h>
#include <stdio.h>

enum { DRAWS = 20000 };

static int failures;

static void fail(const int64_t *size, const char *what)
{
    if (failures++ < 10)
        printf("%lld %lld %lld %lld: %s\n", (long long)size[0], (long long)size[1],
               (long long)size[2], (long long)size[3], what);
}

static long double apart(const int64_t *a, const int64_t *b)
{
    long double sum = 0;
    int i;
    for (i = 0; i < 4; i++)
        sum += fabsl(logl((long double)a[i]) - logl((long double)b[i]));
    return sum;
}

/* Where sums of logarithms are equal but for rounding, powers of two say whether the first counts.
 */
static void check_shape(const int64_t *size, int exact_ties)
{
    const struct autotune_matmul *found =
        autotune_matmul_f16_find(size[0], size[1], size[2], size[3]);
    const struct autotune_matmul *got =
        autotune_matmul_f16_lookup(size[0], size[1], size[2], size[3]);
    const struct autotune_matmul *nearest = &autotune_matmul_f16[0];
    int i, same = 0;
    for (i = 0; i < autotune_matmul_f16_count; i++) {
        const struct autotune_matmul *entry = &autotune_matmul_f16[i];
        if (apart(size, entry->size) < apart(size, nearest->size) - 1e-12L)
            nearest = entry;
        same += apart(size, entry->size) == 0;
    }
    if ((found != NULL) != (same == 1))
        fail(size, "find is wrong");
    if (found && found != got)
        fail(size, "lookup is not find");
    if (!got || fabsl(apart(size, got->size) - apart(size, nearest->size)) > 1e-12L)
        fail(size, "lookup is not the nearest");
    if (exact_ties && got != nearest)
        fail(size, "lookup is not the first of the nearest");
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(void)
{
    static const int64_t zero[4] = {0, 64, 64, 1}, negative[4] = {64, 64, 64, -1};
    static const int64_t largest[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    uint64_t state = 88172645463325252u;
    int i, s;
    for (i = 0; i < autotune_matmul_f16_count; i++) {
        const struct autotune_matmul *entry = &autotune_matmul_f16[i];
        check_shape(entry->size, 1);
        if (autotune_matmul_f16_find(entry->size[0], entry->size[1], entry->size[2],
                                     entry->size[3]) != entry)
            fail(entry->size, "an entry is not found");
    }
    for (i = 0; i < DRAWS; i++) {
        int64_t size[4];
        for (s = 0; s < 4; s++)
            size[s] = i % 2 ? (int64_t)1 << draw(&state) % 14 : 1 + (int64_t)(draw(&state) % 9000);
        check_shape(size, i % 2);
    }
    check_shape(largest, 0);
    if (autotune_matmul_f16_lookup(zero[0], zero[1], zero[2], zero[3]))
        fail(zero, "expected nothing");
    if (autotune_matmul_f16_lookup(negative[0], negative[1], negative[2], negative[3]))
        fail(negative, "expected nothing");
    printf("%d entries, %d failures\n", (int)autotune_matmul_f16_count, failures);
    return failures != 0;
}
