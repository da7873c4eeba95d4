/* Maps of a search against a brute force that simulates every tiling of the space and groups the
 * times by two values for itself. */
#include "core/stop.h"
#include "kernels/knn/knn.h"
#include "kernels/matmul/matmul.h"
#include "results/landscape_write.h"
#include "search/candidates.h"
#include "search/landscape_make.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 64 };

static void open_space(const struct hardware *hw, const struct operator* op, const char *shape,
                       const char *k, struct space *space)
{
    struct problem problem;
    struct error error;
    cr_assert_eq(problem_parse(op, shape, &problem, &error), STATUS_OK, "%s", error.text);
    if (k)
        cr_assert_eq(problem_set(&problem, "k", k, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(space_open(&problem, operator_default_space(op, hw), hw, hw->cores, space, &error),
                 STATUS_OK, "%s", error.text);
}

static struct search_result ask(const struct space *space, const char *strategy)
{
    struct search_result result, plain;
    struct error error;
    struct search_options options = {.strategy = strategy, .threads = 2, .top = 1};
    cr_assert_eq(search(space, &options, &plain, &error), STATUS_OK, "%s", error.text);
    options.keep_reached = true;
    cr_assert_eq(search(space, &options, &result, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(plain.best[0].index, result.best[0].index);
    cr_assert_eq(plain.simulated, result.simulated);
    cr_assert_eq(plain.pruned, result.pruned);
    search_result_clear(&plain);
    return result;
}

static struct landscape make(const struct space *space, const struct search_result *result,
                             const int axes[2], enum landscape_kind kind)
{
    struct landscape map, other;
    struct error error;
    cr_assert_eq(landscape_make(space, result, axes, kind, 1, &map, &error), STATUS_OK, "%s",
                 error.text);
    for (int threads = 2; threads <= 3; threads++) {
        cr_assert_eq(landscape_make(space, result, axes, kind, threads, &other, &error), STATUS_OK);
        cr_assert_eq(map.count[0], other.count[0]);
        cr_assert_eq(map.count[1], other.count[1]);
        cr_assert_arr_eq(map.cells, other.cells,
                         (size_t)map.count[0] * (size_t)map.count[1] * sizeof *map.cells);
        landscape_clear(&other);
    }
    return map;
}

/* ------------------------------------------------------------------ brute force */

/* What is true of the tilings of a cell. */
struct truth {
    int64_t points, legal;
    int64_t least_fs; /* of legal tilings, simulated one by one; 0: none */
    bool has_best;
};

static int64_t simulate_tiling(const struct space *space, const struct tiling *tiling)
{
    struct found found;
    struct error error;
    cr_assert_eq(search_simulate(space, tiling, &found, &error), STATUS_OK, "%s", error.text);
    return found.timeline.end_fs;
}

/* A tiling, and its time where it is legal, 0 where it is not. */
struct played {
    struct tiling tiling;
    int64_t fs;
};

/* All tilings by index; to be freed. */
static struct played *simulate_all(const struct space *space)
{
    struct played *all = calloc((size_t)space->candidates + 1, sizeof *all);
    for (int64_t i = 0; i < space->candidates; i++) {
        space_tiling(space, i, &all[i].tiling);
        if (space->kind->legal(space, &all[i].tiling))
            all[i].fs = simulate_tiling(space, &all[i].tiling);
    }
    return all;
}

static bool is_in(const struct space *space, const struct landscape *map, const struct tiling *best,
                  int x, int y, const struct tiling *tiling)
{
    for (int a = 0; a < space->axis_count; a++) {
        int64_t wanted = &space->axes[a] == map->axis[0]   ? map->value[0][x]
                         : &space->axes[a] == map->axis[1] ? map->value[1][y]
                         : map->kind == LANDSCAPE_SLICE    ? best->value[a]
                                                           : tiling->value[a];
        if (tiling->value[a] != wanted)
            return false;
    }
    return true;
}

static struct truth truth_of(const struct space *space, const struct played *all,
                             const struct landscape *map, const struct found *best, int x, int y)
{
    struct truth truth = {0};
    for (int64_t i = 0; i < space->candidates; i++) {
        if (!is_in(space, map, &best->tiling, x, y, &all[i].tiling))
            continue;
        truth.points++;
        truth.legal += all[i].fs != 0;
        truth.has_best = truth.has_best || i == best->index;
        if (all[i].fs && (truth.least_fs == 0 || all[i].fs < truth.least_fs))
            truth.least_fs = all[i].fs;
    }
    return truth;
}

/* Counts how often each limit is broken in a cell: is it one of the most often broken? */
static bool is_most_broken(const struct space *space, const struct played *all,
                           const struct landscape *map, const struct found *best, int x, int y,
                           const char *limit)
{
    int often[MAX_VIOLATIONS] = {0}, names = 0, of_limit = 0;
    char name[MAX_VIOLATIONS][LANDSCAPE_LIMIT_SIZE];
    struct violation list[MAX_VIOLATIONS];
    for (int64_t i = 0; i < space->candidates; i++) {
        if (!is_in(space, map, &best->tiling, x, y, &all[i].tiling))
            continue;
        int count = space->kind->violations(space, &all[i].tiling, list);
        for (int v = 0; v < count; v++) {
            int n = 0;
            while (n < names && strcmp(name[n], list[v].limit) != 0)
                n++;
            if (n == names)
                strcpy(name[names++], list[v].limit);
            often[n]++;
            of_limit += strcmp(list[v].limit, limit) == 0;
        }
    }
    for (int n = 0; n < names; n++)
        if (often[n] > of_limit)
            return false;
    return of_limit > 0 || names == 0;
}

static void expect_cell(const struct landscape_cell *cell, const struct truth *truth,
                        const struct landscape *map, const char *where)
{
    cr_assert_eq(cell->points, truth->points, "%s", where);
    cr_assert_eq(cell->legal, truth->legal, "%s", where);
    if (truth->legal == 0) {
        cr_assert_eq(cell->bound_fs, 0, "%s", where);
        return;
    }
    cr_assert(cell->time_fs || cell->bound_fs, "%s", where);
    cr_assert_eq(cell->time_fs != 0, cell->simulated > 0, "%s", where);
    cr_assert_eq(cell->bound_fs != 0, cell->simulated < cell->legal, "%s", where);
    cr_assert_leq(cell->simulated, cell->legal, "%s", where);
    if (cell->time_fs)
        cr_assert_geq(cell->time_fs, truth->least_fs, "%s", where);
    if (cell->time_fs > truth->least_fs || cell->time_fs == 0) {
        cr_assert_gt(cell->bound_fs, 0, "%s", where);
        cr_assert_leq(cell->bound_fs, truth->least_fs, "%s", where);
    }
    if (map->kind == LANDSCAPE_SLICE && cell->time_fs == 0) /* few cells: none is left out */
        cr_assert_geq(cell->bound_fs / 2, map->best_fs, "%s", where);
}

/* Returns how many legal tilings the map shows. */
static int64_t expect_map(const struct space *space, const struct played *all,
                          const struct search_result *result, const struct landscape *map)
{
    int64_t legal = 0;
    cr_assert_eq(map->best_fs, result->best[0].timeline.end_fs);
    for (int a = 0; a < 2; a++)
        for (int i = 1; i < map->count[a]; i++)
            cr_assert_lt(map->value[a][i - 1], map->value[a][i]);
    for (int y = 0; y < map->count[1]; y++)
        for (int x = 0; x < map->count[0]; x++) {
            char where[120];
            const struct landscape_cell *cell = landscape_at(map, x, y);
            struct truth truth = truth_of(space, all, map, &result->best[0], x, y);
            snprintf(where, sizeof where, "%s %s=%lld %s=%lld", map->kind ? "envelope" : "slice",
                     map->axis[0]->name, (long long)map->value[0][x], map->axis[1]->name,
                     (long long)map->value[1][y]);
            expect_cell(cell, &truth, map, where);
            cr_assert_eq(truth.has_best, x == map->best[0] && y == map->best[1], "%s", where);
            cr_assert_eq(cell->limit[0] != 0, truth.legal == 0 && truth.points && !cell->time_fs,
                         "%s: '%s'", where, cell->limit);
            if (cell->limit[0] && cell->points <= MOST_POINTS)
                cr_assert(is_most_broken(space, all, map, &result->best[0], x, y, cell->limit),
                          "%s: %s", where, cell->limit);
            legal += cell->legal;
        }
    return legal;
}

static void expect_maps(const struct space *space, const char *strategy, const int axes[2])
{
    struct search_result result = ask(space, strategy);
    struct played *all = simulate_all(space);
    cr_assert(landscape_possible(space, &result, LANDSCAPE_SLICE));
    cr_assert(landscape_possible(space, &result, LANDSCAPE_ENVELOPE));
    struct landscape slice = make(space, &result, axes, LANDSCAPE_SLICE);
    struct landscape envelope = make(space, &result, axes, LANDSCAPE_ENVELOPE);
    expect_map(space, all, &result, &slice);
    int64_t legal = expect_map(space, all, &result, &envelope);
    if (envelope.left_out[0] == 0 && envelope.left_out[1] == 0)
        cr_assert_eq(legal, result.feasible);
    int64_t simulated = 0;
    for (int i = 0; i < envelope.count[0] * envelope.count[1]; i++)
        simulated += envelope.cells[i].simulated;
    if (envelope.left_out[0] == 0 && envelope.left_out[1] == 0)
        cr_assert_eq(simulated, space->kind->ask ? result.feasible : result.simulated);
    const struct landscape_cell *best = landscape_at(&envelope, envelope.best[0], envelope.best[1]);
    cr_assert_eq(best->time_fs, envelope.best_fs);
    cr_assert_eq(landscape_at(&slice, slice.best[0], slice.best[1])->time_fs, slice.best_fs);
    landscape_clear(&slice);
    landscape_clear(&envelope);
    search_result_clear(&result);
    free(all);
}

/* ------------------------------------------------------------------ tests */

static const char *const chips[] = {
    "",
    "buffers.ub.capacity_bytes=8192",
    "buffers.l0c.capacity_bytes=4096 buffers.l1.capacity_bytes=32768",
    "buffers.l0a.capacity_bytes=1536",
};

Test(landscape, agrees_with_simulating_everything)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < test_cases(8); round++) {
        struct hardware hw;
        struct space space;
        char shape[64];
        machine_load(&hw, chips[round % 4]);
        snprintf(shape, sizeof shape, "%lux%lux%lu", 16 + gsl_rng_uniform_int(rng, 130),
                 16 + gsl_rng_uniform_int(rng, 80), 16 + gsl_rng_uniform_int(rng, 130));
        open_space(&hw, &matmul_operator, shape, NULL, &space);
        int x = (int)gsl_rng_uniform_int(rng, (unsigned long)space.axis_count);
        int y = (int)gsl_rng_uniform_int(rng, (unsigned long)space.axis_count - 1);
        int axes[2] = {round < 4 ? 0 : x, round < 4 ? 2 : y + (y >= x)};
        expect_maps(&space, round % 3 ? "bound" : "exhaustive", axes);
        space_close(&space);
        hardware_clear(&hw);
    }
    gsl_rng_free(rng);
}

Test(landscape, of_a_processor)
{
    static const int axes[][2] = {{0, 1}, {1, 2}, {2, 1}, {3, 0}};
    struct made_up made;
    made_up_open(&made);
    for (int i = 0; i < 4; i++)
        expect_maps(&made.space, "bound", axes[i]);
    made_up_close(&made);
}

Test(landscape, of_knn)
{
    static const int axes[2] = {0, 1};
    struct hardware hw;
    struct space space;
    machine_load(&hw, "buffers.ub.capacity_bytes=16384");
    open_space(&hw, &knn_operator, "33x16x60", "4", &space);
    struct search_result result = ask(&space, "bound");
    struct landscape map = make(&space, &result, axes, LANDSCAPE_ENVELOPE);
    struct played *all = simulate_all(&space);
    cr_assert_eq(expect_map(&space, all, &result, &map), result.feasible);
    cr_assert_eq(landscape_at(&map, map.best[0], map.best[1])->time_fs, map.best_fs);
    free(all);
    landscape_clear(&map);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

/* A space that cannot be listed has a slice, whose every cell can be simulated by itself. */
Test(landscape, of_a_space_that_is_too_large_to_list)
{
    struct hardware hw;
    struct space space;
    struct error error;
    struct landscape map;
    int axes[2], simulated = 0, pruned = 0;
    machine_load_named(&hw, "ascend910b3", "");
    open_space(&hw, &matmul_operator, "1024x1024x1024", NULL, &space);
    struct search_result result = ask(&space, "bound");
    cr_assert_eq(landscape_axes(&space, &result, "base_n,BASE_M", axes, &error), STATUS_OK);
    cr_assert_not(landscape_possible(&space, &result, LANDSCAPE_ENVELOPE));
    cr_assert_eq(landscape_make(&space, &result, axes, LANDSCAPE_ENVELOPE, 1, &map, &error),
                 STATUS_INVALID);
    map = make(&space, &result, axes, LANDSCAPE_SLICE);
    cr_assert_str_eq(map.axis[0]->name, "base_n");
    for (int y = 0; y < map.count[1]; y++)
        for (int x = 0; x < map.count[0]; x++) {
            const struct landscape_cell *cell = landscape_at(&map, x, y);
            struct tiling tiling = result.best[0].tiling;
            tiling.value[axes[0]] = map.value[0][x];
            tiling.value[axes[1]] = map.value[1][y];
            bool legal = space_index(&space, &tiling) >= 0 && space.kind->legal(&space, &tiling);
            cr_assert_eq(cell->legal, legal);
            if (legal || cell->time_fs) {
                int64_t fs = simulate_tiling(&space, &tiling);
                cr_assert(cell->time_fs ? cell->time_fs == fs : cell->bound_fs <= fs);
                cr_assert_geq(fs, map.best_fs);
            }
            simulated += cell->time_fs != 0;
            pruned += cell->bound_fs != 0;
        }
    cr_assert(simulated > 5 && pruned > 5, "%d simulated, %d pruned", simulated, pruned);
    landscape_clear(&map);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

/* Of more values than are shown the first, the best's and evenly spaced ones are. */
Test(landscape, thins_long_axes)
{
    static const int axes[2] = {0, 2};
    struct hardware hw;
    struct space space;
    for (int rows = 0; rows < 6; rows += 2) {
        char shape[64];
        machine_load(&hw, "buffers.l0c.capacity_bytes=16777216 buffers.l1.capacity_bytes=67108864 "
                          "buffers.ub.capacity_bytes=67108864 buffers.l0a.capacity_bytes=16777216 "
                          "buffers.l0b.capacity_bytes=16777216");
        snprintf(shape, sizeof shape, "%dx16x32", 30000 + 7000 * rows);
        open_space(&hw, &matmul_operator, shape, NULL, &space);
        struct search_result result = ask(&space, "bound");
        struct landscape map = make(&space, &result, axes, LANDSCAPE_ENVELOPE);
        cr_assert_eq(map.count[0], LANDSCAPE_MAX_VALUES);
        cr_assert_gt(map.left_out[0], 0);
        cr_assert_eq(map.value[0][0], 16);
        cr_assert_eq(map.value[0][map.best[0]], result.best[0].tiling.value[0]);
        for (int i = 1; i < map.count[0]; i++)
            cr_assert_lt(map.value[0][i - 1], map.value[0][i]);
        landscape_clear(&map);
        search_result_clear(&result);
        space_close(&space);
        hardware_clear(&hw);
    }
}

Test(landscape, axes_by_name)
{
    static const struct {
        const char *names, *message;
    } bad[] = {
        {"m_slice", "expected two names"},
        {"m_slice,", "no axis ''"},
        {",n_slice", "no axis ''"},
        {"m_slice,n", "no axis 'n'"},
        {"m_slice,n_slice,k_slice", "no axis 'n_slice,k_slice'"},
        {"m_slice,M_SLICE", "both axes are m_slice"},
    };
    struct hardware hw;
    struct space space;
    struct error error;
    int axes[2];
    machine_load(&hw, "");
    open_space(&hw, &matmul_operator, "64x64x64", NULL, &space);
    struct search_result result = ask(&space, "bound"), none = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(landscape_axes(&space, &result, bad[i].names, axes, &error), STATUS_INVALID);
        cr_assert_not_null(strstr(error.text, bad[i].message), "%s: %s", bad[i].names, error.text);
    }
    cr_assert_eq(landscape_axes(&space, &result, "n_slice,split", axes, &error), STATUS_OK);
    cr_assert(axes[0] == 2 && axes[1] == 5);
    cr_assert_eq(landscape_axes(&space, &result, NULL, axes, &error), STATUS_OK);
    cr_assert_lt(axes[0], axes[1]);
    cr_assert_null(space.axes[axes[0]].value_names);
    cr_assert_not(landscape_possible(&space, &none, LANDSCAPE_SLICE));
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

/* What could be made before it is not shown as a map. */
Test(landscape, ends_with_its_stop)
{
    static const enum landscape_kind kinds[] = {LANDSCAPE_SLICE, LANDSCAPE_ENVELOPE};
    const volatile sig_atomic_t told = 1;
    const struct stop stop = {.told = &told};
    struct hardware hw;
    struct space space;
    struct error error;
    struct landscape map;
    int axes[2];
    machine_load(&hw, "");
    open_space(&hw, &matmul_operator, "64x64x64", NULL, &space);
    struct search_result result = ask(&space, "bound");
    cr_assert_eq(landscape_axes(&space, &result, NULL, axes, &error), STATUS_OK);
    space.stop = &stop;
    for (int k = 0; k < 2; k++)
        cr_expect_eq(landscape_make(&space, &result, axes, kinds[k], 2, &map, &error),
                     STATUS_STOPPED);
    cr_expect_eq(landscape_axes(&space, &result, NULL, axes, &error), STATUS_STOPPED);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

Test(landscape, as_json)
{
    static const char *const names[] = {"-", "on"};
    struct axis axes[2] = {{.name = "m", .unit = "elements"},
                           {.name = "mode", .value_names = names, .name_count = 2}};
    struct landscape_cell cells[2] = {
        {.points = 3, .legal = 2, .simulated = 1, .time_fs = 2500000, .bound_fs = 3000000},
        {.points = 1, .limit = "l1"}};
    struct landscape map = {.kind = LANDSCAPE_ENVELOPE,
                            .axis = {&axes[0], &axes[1]},
                            .count = {2, 1},
                            .value = {{16, 32}, {1}},
                            .left_out = {4, 0},
                            .best_fs = 2500000,
                            .cells = cells};
    json_t *json = landscape_json(&map);
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    cr_assert_str_eq(text,
                     "{\"axes\":[{\"left_out\":4,\"name\":\"m\",\"unit\":\"elements\",\"values\":"
                     "[16,32]},{\"left_out\":0,\"name\":\"mode\",\"unit\":null,\"values\":[\"on\"]}"
                     "],\"best\":[0,0],\"best_ns\":2.5,\"cells\":[[{\"bound_ns\":3.0,\"legal\":2,"
                     "\"limit\":null,\"played\":1,\"points\":3,\"time_ns\":2.5},{\"bound_ns\":null,"
                     "\"legal\":0,\"limit\":\"l1\",\"played\":0,\"points\":1,\"time_ns\":null}]],"
                     "\"kind\":\"envelope\"}");
    free(text);
    json_decref(json);
}
