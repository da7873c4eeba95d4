/* Draws tilings of a problem without listing them: of those that are visited the n-th takes the
 * place of one that is kept with probability RANKING_DRAWN / n, which makes all sets equally likely
 * (the reservoir, algorithm R: Waterman, in Knuth 1981). */
#include "jobs/evaluate/ranking.h"

#include "kernels/operator_bank.h"
#include "validate/random.h"

#include <math.h>
#include <string.h>

struct draw {
    gsl_rng *random;
    const struct space *space;
    const struct tiling *recorded; /* agreed */
    struct tiling *drawn;
    int64_t seen;
};

static void keep(void *context, const struct tiling *tiling)
{
    struct draw *draw = context;
    size_t bytes = (size_t)draw->space->axis_count * sizeof *tiling->value;
    if (memcmp(tiling->value, draw->recorded->value, bytes) == 0)
        return;
    int64_t place = draw->seen++;
    if (place >= RANKING_DRAWN)
        place = random_below(draw->random, draw->seen);
    if (place < RANKING_DRAWN)
        draw->drawn[place] = *tiling;
}

/* A step of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mixed(uint64_t hash, uint64_t value)
{
    uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t seed_of(const struct problem *problem, uint64_t seed)
{
    uint64_t hash = mixed(seed, (uint64_t)problem->type);
    for (int i = 0; i < OPERATOR_MAX_SIZES; i++)
        hash = mixed(hash, (uint64_t)problem->size[i]);
    for (int i = 0; i < OPERATOR_MAX_CHOICES; i++)
        hash = mixed(hash, (uint64_t)problem->choice[i]);
    return hash;
}

int ranking_draw_one(const struct space *space, const struct problem *problem,
                     const struct bank_row *row, const struct tiling *recorded, uint64_t seed,
                     struct tiling drawn[], int64_t *others, struct error *error)
{
    struct tiling agreed = *recorded;
    struct draw draw = {random_open(seed_of(problem, seed), error), space, &agreed, drawn, 0};
    if (!draw.random)
        return -1;
    double cores = space->kind->cores_used(space, recorded, 0);
    space->kind->agree(space, &agreed);
    space->kind->bank->even_tilings(space, row, (int64_t)ceil(RANKING_CORES * cores), keep, &draw);
    gsl_rng_free(draw.random);
    *others = draw.seen;
    return draw.seen < RANKING_DRAWN ? (int)draw.seen : RANKING_DRAWN;
}
