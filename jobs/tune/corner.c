/* Makes the chip of the worst case. Each uncertain number moves to the end of
 * its range that costs more, which the ending of its name tells (directions[]). Then the rules of
 * descriptions are restored, always to the slower side: totals of a bus, and misses against hits.
 * What has moved is appended to the user's own changes, and the description loaded anew, so that
 * the loader checks it like any other. The worst case over a box of uncertain numbers is the first
 * form of robust optimisation (Soyster 1973). */
#include "jobs/tune/corner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ directions */

static const struct {
    const char *ending; /* of the last name in the key */
    enum cost_direction direction;
} directions[] = {
    {"_ns", COST_RISES},
    {".ns", COST_RISES},
    {".repeat_cycles", COST_RISES},
    {"_gbps", COST_FALLS},
    {".gflops", COST_FALLS},
    {"clock_mhz", COST_FALLS},
    {".all_hit_bytes", COST_FALLS},
    {".all_miss_bytes", COST_FALLS},
};

/* Without the place in an array: "buses.l2.total_gbps.17". */
static size_t named_length(const char *key)
{
    size_t length = strlen(key), digits = 0;
    while (digits < length && strchr("0123456789", key[length - digits - 1]))
        digits++;
    return digits > 0 && digits < length && key[length - digits - 1] == '.' ? length - digits - 1
                                                                            : length;
}

static bool ends_in(const char *key, const char *ending)
{
    size_t length = named_length(key), end = strlen(ending);
    return end <= length && strncasecmp(key + length - end, ending, end) == 0;
}

enum cost_direction cost_direction_of(const char *key)
{
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (ends_in(key, directions[i].ending))
            return directions[i].direction;
    return COST_UNKNOWN;
}

/* ------------------------------------------------------------------ the corner */

/* The numbers of a description, on their way to the corner. */
struct moved {
    const struct hardware *hw;
    double *value; /* by fact */
    int keys;
};

/* -1: the description does not say it. */
static int find_fact(const struct hardware *hw, const char *key)
{
    for (size_t i = 0; i < hw->fact_count; i++)
        if (strcasecmp(hw->facts[i].key, key) == 0)
            return (int)i;
    return -1;
}

static enum status move_number(struct moved *moved, const struct spread *spread,
                               struct error *error)
{
    int fact = find_fact(moved->hw, spread->key);
    double share = CORNER_STANDARD_ERRORS * spread->relative_error;
    enum cost_direction direction = cost_direction_of(spread->key);
    if (fact < 0 || fact_is_override(&moved->hw->facts[fact]) || !(share > 0))
        return STATUS_OK;
    if (direction == COST_UNKNOWN)
        return error_set(error, STATUS_INVALID,
                         "%s: it is not known whether a kernel costs more with less of it",
                         spread->key);
    if (direction == COST_FALLS && share >= 1)
        return error_set(error, STATUS_INVALID,
                         "%s: known to +-%.3g %% only, so that the worst case has no end",
                         spread->key, 100 * share);
    moved->value[fact] *= direction == COST_RISES ? 1 + share : 1 - share;
    moved->keys++;
    return STATUS_OK;
}

#define BYTES_PER_GB 1e9

static void lower_to(double *value, double most)
{
    *value = fmin(*value, most);
}

/* More transfers carry no less, and each of them no more: what is certain goes down with what is
 * not. */
static void lower_totals(struct moved *moved, const struct bus *bus)
{
    char key[HARDWARE_KEY_SIZE];
    snprintf(key, sizeof key, "buses.%s.total_gbps.1", bus->name);
    int first = find_fact(moved->hw, key);
    if (first < 0)
        return;
    double *total = moved->value + first; /* the facts of an array stand together */
    for (int n = bus->sharers - 1; n >= 1; n--)
        lower_to(&total[n - 1], total[n]);
    for (int n = 1; n < bus->sharers; n++) {
        int64_t most = llround(total[n - 1] * BYTES_PER_GB) * (n + 1) / n;
        if (llround(total[n] * BYTES_PER_GB) > most)
            total[n] = (double)most / BYTES_PER_GB;
    }
}

/* The number `name` of two paths, the first of which may cost no more than the second. */
static void keep_order(struct moved *moved, const char *hit, const char *miss, const char *name)
{
    char key[HARDWARE_KEY_SIZE];
    snprintf(key, sizeof key, "paths.%s.%s", hit, name);
    int first = find_fact(moved->hw, key);
    bool rises = cost_direction_of(key) == COST_RISES;
    snprintf(key, sizeof key, "paths.%s.%s", miss, name);
    int second = find_fact(moved->hw, key);
    if (first < 0 || second < 0)
        return;
    double bound = moved->value[first], *value = &moved->value[second];
    *value = rises ? fmax(*value, bound) : fmin(*value, bound);
}

/* A move that misses the cache is nowhere faster than one that hits it. */
static void slow_misses(struct moved *moved)
{
    static const char *const names[] = {"issue_ns", "latency_ns", "bandwidth_gbps"};
    const struct hardware *hw = moved->hw;
    char hit[2 * HARDWARE_NAME_SIZE + 3], miss[2 * HARDWARE_NAME_SIZE + 3];
    int hits = find_fact(hw, "cache.all_hit_bytes"), misses = find_fact(hw, "cache.all_miss_bytes");
    if (hw->cache.behind < 0)
        return;
    lower_to(&moved->value[hits], moved->value[misses]);
    for (int p = 0; p < hw->path_count; p++) {
        int other = hardware_path(hw, hw->cache.behind, hw->paths[p].destination);
        if (hw->paths[p].source != hw->cache.buffer || other < 0)
            continue;
        hardware_path_name(hw, p, hit);
        hardware_path_name(hw, other, miss);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            keep_order(moved, hit, miss, names[i]);
    }
}

static enum status move_all(struct moved *moved, struct error *error)
{
    const struct hardware *hw = moved->hw;
    for (size_t i = 0; i < hw->fact_count; i++)
        moved->value[i] = strtod(hw->facts[i].value, NULL);
    for (int s = 0; s < hw->fit.spread_count; s++)
        TRY(move_number(moved, &hw->fit.spreads[s], error));
    if (moved->keys == 0)
        return error_set(error, STATUS_INVALID,
                         "%s says of no number how well it is known; `autotune calibrate` writes a "
                         "description that does",
                         hw->name);
    for (int b = 0; b < hw->bus_count; b++)
        lower_totals(moved, &hw->buses[b]);
    slow_misses(moved);
    return STATUS_OK;
}

/* Numbers that must be whole are written so; less is what costs more there. */
static char *change_text(const struct fact *fact, double value)
{
    bool whole = ends_in(fact->key, "_bytes");
    char *text;
    return asprintf(&text, whole ? "%s=%.0f" : "%s=%.15g", fact->key,
                    whole ? floor(value * (1 + 1e-12)) : value) < 0
               ? NULL
               : text;
}

/* Appends what has moved to the user's own changes. */
static bool list_changes(const struct moved *moved, const struct hardware_overrides *changes,
                         const char **texts, size_t *count)
{
    const struct hardware *hw = moved->hw;
    for (*count = 0; *count < changes->count; ++*count)
        texts[*count] = changes->texts[*count];
    for (size_t i = 0; i < hw->fact_count; i++) {
        if (moved->value[i] == strtod(hw->facts[i].value, NULL))
            continue;
        texts[*count] = change_text(&hw->facts[i], moved->value[i]);
        if (!texts[*count])
            return false;
        ++*count;
    }
    return true;
}

static bool has_shared_bus(const struct hardware *hw)
{
    int pipe_of[HARDWARE_MAX_BUSES];
    for (int b = 0; b < HARDWARE_MAX_BUSES; b++)
        pipe_of[b] = -1;
    for (int p = 0; p < hw->path_count; p++) {
        const struct path *path = &hw->paths[p];
        if (path->bus < 0)
            continue;
        if (pipe_of[path->bus] >= 0 && pipe_of[path->bus] != path->pipe)
            return true;
        pipe_of[path->bus] = path->pipe;
    }
    return false;
}

static enum status load_corner(const char *folders, const char *name,
                               const struct hardware_overrides *changes, const struct moved *moved,
                               struct corner *corner, struct error *error)
{
    size_t count = 0;
    const char **texts = calloc(changes->count + moved->hw->fact_count + 1, sizeof *texts);
    enum status status = STATUS_OK;
    if (!texts || !list_changes(moved, changes, texts, &count))
        status = error_memory(error);
    struct hardware_overrides all = {texts, count};
    if (status == STATUS_OK)
        status = hardware_load_from(folders, name, &all, &corner->hw, error);
    for (size_t i = changes->count; i < count; i++) {
        union {
            const char *text;
            char *owned;
        } change = {texts[i]};
        free(change.owned);
    }
    free(texts);
    corner->keys = moved->keys;
    corner->is_worst = !has_shared_bus(moved->hw);
    return status;
}

enum status corner_make(const char *folders, const char *name,
                        const struct hardware_overrides *changes, const struct hardware *hw,
                        struct corner *corner, struct error *error)
{
    struct moved moved = {hw, calloc(hw->fact_count + 1, sizeof *moved.value), 0};
    *corner = (struct corner){.keys = 0};
    if (!moved.value)
        return error_memory(error);
    enum status status = move_all(&moved, error);
    if (status == STATUS_OK)
        status = load_corner(folders, name, changes, &moved, corner, error);
    free(moved.value);
    return status;
}

/* Does a bus carry moves of several pipes in programs of this space? */
static bool space_shares_bus(const struct space *space)
{
    const struct hardware *hw = space->hw;
    int pipe_of[HARDWARE_MAX_BUSES];
    for (int b = 0; b < HARDWARE_MAX_BUSES; b++)
        pipe_of[b] = -1;
    for (int i = 0; i < space->layout_count; i++)
        for (int l = 0; l < space->layouts[i].total_count; l++) {
            const struct price *price = &hw->prices[space->layouts[i].price[l]];
            if (price->bus < 0)
                continue;
            if (pipe_of[price->bus] >= 0 && pipe_of[price->bus] != price->pipe)
                return true;
            pipe_of[price->bus] = price->pipe;
        }
    return false;
}

bool corner_is_worst_of(const struct corner *corner, const struct space *space)
{
    return corner->is_worst || !space_shares_bus(space);
}
