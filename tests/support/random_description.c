/* Every number is drawn by a row of a table for the end of its key. Where there is a cache, what is
 * behind it gets slower only and all else faster, so that misses are nowhere faster than hits. */
#include "tests/support/random_description.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>
#include <strings.h>

struct drawing {
    struct description *description;
    const struct hardware *base;
    gsl_rng *shared, *own;
};

static void set(struct drawing *d, const char *key, double value)
{
    struct error error;
    cr_assert_eq(description_set(d->description, key, value, "assumed: drawn at random", &error),
                 STATUS_OK, "%s: %s", key, error.text);
}

static bool is_behind(const struct drawing *d, const char *key)
{
    return d->base->cache.behind >= 0 &&
           strstr(key, d->base->buffers[d->base->cache.behind].name) != NULL;
}

/* 0.5 to 2, or where there is a cache the half of it that keeps its rule. */
static double factor(struct drawing *d, const char *key, bool more_is_slower)
{
    double part = gsl_rng_uniform(d->own);
    if (d->base->cache.behind < 0)
        return exp((2 * part - 1) * M_LN2);
    return exp((is_behind(d, key) == more_is_slower ? part : -part) * M_LN2);
}

static double scaled(const struct drawing *d, const char *key, double by)
{
    double value = 0;
    cr_assert(description_get(d->description, key, &value), "%s", key);
    return round(value * by * 1e4) / 1e4;
}

static void draw_time(struct drawing *d, const char *key)
{
    double value = scaled(d, key, factor(d, key, true));
    set(d, key,
        value > 0 || gsl_rng_uniform(d->own) < 0.5 || d->base->cache.behind >= 0
            ? value
            : round(30e3 * gsl_rng_uniform(d->own)) / 1e3);
}

static void draw_rate(struct drawing *d, const char *key)
{
    set(d, key, scaled(d, key, factor(d, key, false)));
}

static void draw_shared(struct drawing *d, const char *key)
{
    if (strcmp(key, "cores") == 0)
        set(d, key, 2 + (double)gsl_rng_uniform_int(d->shared, 7));
}

static void draw_repeat(struct drawing *d, const char *key)
{
    set(d, key, 4 * (double)(16 + gsl_rng_uniform_int(d->own, 80)));
}

/* Of a bus, from the first total on: a share never rises, the total never falls. */
static void draw_totals(struct drawing *d, const struct bus *bus)
{
    char key[HARDWARE_KEY_SIZE];
    double before = 0, all = 0;
    for (int n = 1; n <= bus->sharers; n++) {
        snprintf(key, sizeof key, "buses.%s.total_gbps.%d", bus->name, n);
        double most = n > 1 ? before * n / (n - 1) : 0, part = gsl_rng_uniform(d->own);
        if (n == 1)
            all = factor(d, bus->name, false);
        before = n == 1 || d->base->cache.behind >= 0 ? scaled(d, key, all)
                                                      : before + (most - before) * part;
        before = n > 1 && before > most ? most : before;
        before = floor(before * 1e4) / 1e4;
        set(d, key, before);
    }
}

static void keep(struct drawing *d, const char *key)
{
    (void)d;
    (void)key;
}

static void draw_block(struct drawing *d, const char *key)
{
    set(d, key, (double)(UINT64_C(4) << gsl_rng_uniform_int(d->own, 4)));
}

static void draw_few(struct drawing *d, const char *key)
{
    set(d, key, 1 + (double)gsl_rng_uniform_int(d->own, 4));
}

static void draw_lot(struct drawing *d, const char *key)
{
    set(d, key, (double)(UINT64_C(1) << gsl_rng_uniform_int(d->own, 12)));
}

static void draw_set(struct drawing *d, const char *key)
{
    bool hit = strstr(key, "all_hit") != NULL;
    set(d, key, round((hit ? 1e7 : 2.5e7) * (1 + gsl_rng_uniform(d->own))));
}

static void draw_cycles(struct drawing *d, const char *key)
{
    set(d, key, 1 + (double)gsl_rng_uniform_int(d->own, 8));
}

static const struct row {
    const char *ending;
    void (*draw)(struct drawing *d, const char *key);
} rows[] = {
    {"cores", draw_shared},
    {"vector_repeat_bytes", draw_repeat},
    {"row_blocks_at_once", draw_few},
    {"block_m", draw_block},
    {"block_k", draw_block},
    {"block_n", draw_block},
    {"block_flop", keep},
    {"lot_bytes", draw_lot},
    {"all_hit_bytes", draw_set},
    {"all_miss_bytes", draw_set},
    {"repeat_cycles", draw_cycles},
    {"gbps", draw_rate},
    {"gflops", draw_rate},
    {"_ns", draw_time},
};

static bool ends_in(const char *key, const char *ending)
{
    size_t length = strlen(key), wanted = strlen(ending);
    return length >= wanted && strcmp(key + length - wanted, ending) == 0;
}

static void draw(struct drawing *d, const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ends_in(key, rows[i].ending)) {
            rows[i].draw(d, key);
            return;
        }
    if (strstr(key, ".bursts.") && strstr(key, ".ns."))
        draw_time(d, key);
}

void random_description(const char *base, unsigned long structure, unsigned long seed,
                        struct description *description)
{
    struct hardware hw;
    struct error error;
    struct drawing d = {.description = description, .base = &hw};
    cr_assert_eq(description_read(NULL, base, NULL, description, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(description_build(description, &hw, &error), STATUS_OK, "%s", error.text);
    d.shared = gsl_rng_alloc(gsl_rng_taus2);
    d.own = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(d.shared, structure);
    gsl_rng_set(d.own, seed);
    for (size_t f = 0; f < hw.fact_count; f++)
        if (strncmp(hw.facts[f].key, "fit.", 4) != 0)
            draw(&d, hw.facts[f].key);
    for (int b = 0; b < hw.bus_count; b++)
        draw_totals(&d, &hw.buses[b]);
    gsl_rng_free(d.shared);
    gsl_rng_free(d.own);
    hardware_clear(&hw);
    cr_assert_eq(description_build(description, &hw, &error), STATUS_OK, "%s", error.text);
    hardware_clear(&hw);
}
