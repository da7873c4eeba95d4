/* Says how many loop steps a selection tile takes, and what that rules out. The updates of a row
 * in the t-th tile are those of the k smallest of t·n2 values that lie among the last n2:
 * hypergeometric. The largest number over the rows of a tile has that distribution's power. Sums
 * over tiles are term by term at first, then integrals over octaves of t by Gauss's rule of five
 * points; harmonic numbers end in their asymptotic series. Inequalities: Tang 2024, eq. 3.12 and
 * 3.14, proved in docs/knn.md. */
#include "kernels/knn/selb.h"
#include "core/least.h"
#include "kernels/knn/knn.h"

#include <math.h>
#include <stdlib.h>

/* Summed up to here; beyond, the asymptotic series, whose next term is below 1e-16 of the sum. */
enum { SUMMED = 64 };

double harmonic_number(int64_t n)
{
    double sum = 0, x = (double)n;
    if (n > SUMMED)
        return log(x) + 0.57721566490153286061 + 1 / (2 * x) - 1 / (12 * x * x) +
               1 / (120 * x * x * x * x) - 1 / (252 * x * x * x * x * x * x);
    for (int64_t t = n; t >= 1; t--)
        sum += 1 / (double)t;
    return sum;
}

/* The distribution of a row's updates: P(X <= first + i) = cumulative[i] for i < count, then 1. */
struct updates {
    int64_t first;
    int count;
    double cumulative[KNN_MAX_K + 1];
};

/* P(X = j + 1) / P(X = j) of the hypergeometric distribution; `before` values lie in earlier
 * tiles. */
static double ratio(int64_t k, int64_t columns, double before, int64_t j)
{
    return (double)(columns - j) * (double)(k - j) /
           ((double)(j + 1) * (before - (double)(k - j - 1)));
}

/* From the mode outwards, where the terms are largest, until they no longer count; then normalised:
 * no term underflows that matters. */
static void distribute(int64_t k, int64_t columns, double t, struct updates *u)
{
    const double negligible = 1e-20;
    double before = (t - 1) * (double)columns;
    int64_t most = least_of(k, columns);
    /* while fewer than k values have been seen, every value is taken */
    int64_t least = before >= (double)k ? 0 : least_of(k - (int64_t)before, most);
    int64_t mode =
        (int64_t)((double)(k + 1) * (double)(columns + 1) / (before + (double)columns + 2));
    mode = mode < least ? least : least_of(mode, most);
    int64_t low = mode, high = mode;
    double *p = u->cumulative, sum = 1; /* p[j − least] */
    p[mode - least] = 1;
    for (; low > least && p[low - least] > negligible; low--)
        sum += p[low - 1 - least] = p[low - least] / ratio(k, columns, before, low - 1);
    for (; high < most && p[high - least] > negligible; high++)
        sum += p[high + 1 - least] = p[high - least] * ratio(k, columns, before, high);
    double reached = 0;
    for (int64_t j = low; j <= high; j++) {
        reached += p[j - least];
        u->cumulative[j - low] = reached / sum;
    }
    u->first = low;
    u->count = (int)(high - low);
}

double selb_update_probability(int64_t k, int64_t columns, double t, int64_t updates)
{
    struct updates u;
    distribute(k, columns, t, &u);
    if (updates < u.first)
        return 0;
    return updates - u.first < u.count ? u.cumulative[updates - u.first] : 1;
}

/* E[max] = Σ_{j>=0} P(max > j), and P(max > j) = 1 − P(X <= j)^rows. */
double selb_steps(int64_t k, int64_t rows, int64_t columns, double t)
{
    struct updates u;
    distribute(k, columns, t, &u);
    double expected = (double)u.first;
    for (int i = 0; i < u.count; i++)
        expected += 1 - pow(u.cumulative[i], (double)rows);
    return expected;
}

/* ∫ of the steps over t in [low, high], high <= 2·low: Gauss-Legendre in log t, in which the steps
 * are smooth. */
static double octave(int64_t k, int64_t rows, int64_t columns, double low, double high)
{
    static const double nodes[] = {0, 0.5384693101056831, 0.9061798459386640};
    static const double weights[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double middle = (log(low) + log(high)) / 2, half = (log(high) - log(low)) / 2, sum = 0;
    for (int i = -2; i <= 2; i++) {
        double t = exp(middle + half * (i < 0 ? -nodes[-i] : nodes[i]));
        sum += weights[abs(i)] * t * selb_steps(k, rows, columns, t);
    }
    return half * sum;
}

double selb_steps_sum(int64_t k, int64_t rows, int64_t columns, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t t = first; t <= last && t <= SELB_SUMMED; t++)
        sum += selb_steps(k, rows, columns, (double)t);
    double low = (double)(first > SELB_SUMMED ? first : SELB_SUMMED + 1) - 0.5;
    double end = (double)last + 0.5;
    while (low < end) {
        double high = 2 * low < end ? 2 * low : end;
        sum += octave(k, rows, columns, low, high);
        low = high;
    }
    return sum;
}

bool selb_prunes(const struct selb_pair *pair)
{
    int64_t small, large;
    return !__builtin_mul_overflow(pair->p, pair->idle_small_fs, &small) &&
           !__builtin_mul_overflow(pair->k, pair->step_large_fs, &large) &&
           !__builtin_add_overflow(large, pair->idle_large_fs, &large) && small > large;
}

/* Rounded so that a tie within a double's error is not pruned. */
bool harmonic_prunes(const struct selb_pair *pair)
{
    double small = (double)pair->tiles * (double)pair->p * (double)pair->idle_small_fs;
    double large = (double)pair->tiles * (double)pair->idle_large_fs +
                   pair->steps_large * (double)pair->step_large_fs;
    return small >= large * (1 + 1e-12);
}
