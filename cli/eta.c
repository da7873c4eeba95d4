/* Three extrapolations that go wrong in different ways: at the mean pace so far; at the pace of the
 * last third; and along a power of the share, which is fitted to when half of it was done (work
 * that is ordered by size grows or falls as one). Where they agree within a factor of two, what
 * they have in common is believed, the geometric mean of the least and the greatest; where they do
 * not, or the work comes in few large pieces, nothing is. */
#include "cli/eta.h"

#include <math.h>

#define LEAST_SHARE 0.1
#define AGREE       2.0

enum { LEAST_STEPS = 12 }; /* done, and left */

void eta_note(struct eta *eta, double share, double seconds)
{
    share = fmin(share, 1);
    while (eta->marks < (int)(share * ETA_MARKS)) {
        /* between two notes at an even pace */
        double at = (double)(eta->marks + 1) / ETA_MARKS;
        double part = share > eta->share ? (at - eta->share) / (share - eta->share) : 1;
        eta->reached_s[++eta->marks] = eta->seconds + part * (seconds - eta->seconds);
    }
    eta->steps += share > eta->share;
    eta->share = fmax(eta->share, share);
    eta->seconds = seconds;
}

/* When so much was done. */
static double reached_s(const struct eta *eta, double share)
{
    double at = share * ETA_MARKS;
    int before = (int)at;
    double next_s = before < eta->marks ? eta->reached_s[before + 1] : eta->seconds;
    return eta->reached_s[before] + (at - before) * (next_s - eta->reached_s[before]);
}

double eta_left_s(const struct eta *eta)
{
    double share = eta->share, half_s = reached_s(eta, share / 2);
    if (share < LEAST_SHARE || eta->steps < LEAST_STEPS || half_s <= 0 ||
        eta->steps * (1 - share) < LEAST_STEPS * share)
        return -1;
    double mean_s = eta->seconds * (1 - share) / share;
    double late_s = (eta->seconds - reached_s(eta, share * 2 / 3)) * (1 - share) / (share / 3);
    double power_s = eta->seconds * (pow(share, -log2(eta->seconds / half_s)) - 1);
    double least_s = fmin(mean_s, fmin(late_s, power_s));
    double most_s = fmax(mean_s, fmax(late_s, power_s));
    return most_s <= AGREE * least_s ? sqrt(least_s * most_s) : -1;
}
