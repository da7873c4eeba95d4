/* Which tilings of polynomials may run on a processor, and which rules others break. */
#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/host/cubefx_host_space.h"
#include "kernels/limits.h"

#include <stdarg.h>
#include <stdio.h>

struct check {
    const struct space *space;
    const struct cubefx_host *host;
    const int64_t *value;
    struct violation *list; /* NULL: only counted */
    int count;
};

static void refuse(struct check *check, enum cubefx_host_axis axis, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct check *check, enum cubefx_host_axis axis, const char *format, ...)
{
    int number = check->count++;
    if (!check->list)
        return;
    struct violation *violation = &check->list[number];
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", cubefx_host_axes[axis].name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(violation->text, sizeof violation->text, format, arguments);
    va_end(arguments);
}

static void check_loop(struct check *check)
{
    char name[HOST_NAME_SIZE];
    poly_loop_name((enum cubefx_host_algorithm)check->value[CUBEFX_HOST_ALGORITHM],
                   (int)check->value[CUBEFX_HOST_FUNCTIONS], (int)check->value[CUBEFX_HOST_VECTORS],
                   name);
    if (host_loop(check->space->hw->host, name) < 0)
        refuse(check, CUBEFX_HOST_VECTORS, "%s has no times of the loop '%s'",
               check->space->hw->name, name);
}

static void check_tile_of_registers(struct check *check)
{
    int64_t algorithm = check->value[CUBEFX_HOST_ALGORITHM];
    int64_t functions = check->value[CUBEFX_HOST_FUNCTIONS];
    int64_t vectors = check->value[CUBEFX_HOST_VECTORS];
    if (algorithm == CUBEFX_HOST_SWEEP && functions != 1)
        refuse(check, CUBEFX_HOST_FUNCTIONS,
               "function_tile=%lld: a sweep computes one function at a time", (long long)functions);
    else if (!poly_tile_exists((enum cubefx_host_algorithm)algorithm, functions, vectors))
        refuse(check, CUBEFX_HOST_VECTORS,
               "%s has no register tile of %lld functions x %lld vectors",
               cubefx_host_axes[CUBEFX_HOST_ALGORITHM].value_names[algorithm], (long long)functions,
               (long long)vectors);
    else
        check_loop(check);
    if (functions > check->host->functions)
        refuse(check, CUBEFX_HOST_FUNCTIONS, "function_tile=%lld is more than the %lld functions",
               (long long)functions, (long long)check->host->functions);
    if (vectors > 1 && product_of(vectors, check->host->lanes) > check->value[CUBEFX_HOST_TILE])
        refuse(check, CUBEFX_HOST_VECTORS,
               "vector_tile=%lld: vectors of %d inputs, more than the tile's %lld",
               (long long)vectors, check->host->lanes, (long long)check->value[CUBEFX_HOST_TILE]);
}

static void check_input_tile(struct check *check)
{
    const struct cubefx_host *host = check->host;
    int64_t tile = check->value[CUBEFX_HOST_TILE], below, above;
    int64_t unit = product_of(check->value[CUBEFX_HOST_VECTORS], host->lanes);
    bool whole = tile == host->slab;
    bool horner = check->value[CUBEFX_HOST_ALGORITHM] == CUBEFX_HOST_HORNER;
    if (!on_axis(check->space->blocks, CUBEFX_HOST_TILE, tile, &below, &above)) {
        if (check->list)
            add_value(check->list, &check->count, cubefx_host_axes[CUBEFX_HOST_TILE].name, tile,
                      "tile of this space", below, above);
        else
            check->count++;
    } else if (!whole && tile % unit) {
        refuse(check, CUBEFX_HOST_TILE,
               "input_tile=%lld is no multiple of a register tile's %lld inputs", (long long)tile,
               (long long)unit);
    }
    if (!whole && check->value[CUBEFX_HOST_ALGORITHM] == CUBEFX_HOST_SWEEP)
        refuse(check, CUBEFX_HOST_TILE, "input_tile=%lld: a sweep takes all %lld inputs",
               (long long)tile, (long long)host->slab);
    if (!whole && horner && check->value[CUBEFX_HOST_FUNCTIONS] >= host->functions)
        refuse(check, CUBEFX_HOST_TILE,
               "input_tile=%lld: all functions are in one register tile, which is the same as a "
               "tile of all %lld inputs",
               (long long)tile, (long long)host->slab);
    if (whole && horner && check->value[CUBEFX_HOST_FUNCTIONS] == 1)
        refuse(check, CUBEFX_HOST_ALGORITHM,
               "horner with function_tile=1 over all inputs is the same as a sweep");
}

static void check_powers(struct check *check)
{
    const struct cubefx_host *host = check->host;
    if (check->value[CUBEFX_HOST_ALGORITHM] != CUBEFX_HOST_MATRIX ||
        check->value[CUBEFX_HOST_TILE] > host->slab)
        return;
    if (host->terms < 2)
        refuse(check, CUBEFX_HOST_ALGORITHM, "matrix: constants have no powers of the inputs");
    int64_t bytes = cubefx_host_powers_bytes(host, check->value[CUBEFX_HOST_TILE]);
    if (bytes <= host->powers_bytes)
        return;
    if (check->list)
        add_excess(check->list, &check->count, "powers", "a tile's powers take", bytes,
                   host->powers_bytes);
    else
        check->count++;
}

static void check_store(struct check *check)
{
    const struct cubefx_host *host = check->host;
    if (check->value[CUBEFX_HOST_STORE] != CUBEFX_HOST_STREAM)
        return;
    if (host->isa == HOST_PORTABLE)
        refuse(check, CUBEFX_HOST_STORE, "store=stream: the portable kernels have no such stores");
    if (host->slab < host->lanes)
        refuse(check, CUBEFX_HOST_STORE, "store=stream: there is no whole vector of %d results",
               host->lanes);
    if (host->functions > 1 && host->inputs % LINE_FLOATS)
        refuse(check, CUBEFX_HOST_STORE,
               "store=stream: rows of %lld results do not start at cache lines, expected a "
               "multiple of %d",
               (long long)host->inputs, LINE_FLOATS);
}

int cubefx_host_violations(const struct space *space, const struct tiling *tiling,
                           struct violation list[MAX_VIOLATIONS])
{
    struct check check = {
        .space = space, .host = cubefx_host_of(space), .value = tiling->value, .list = list};
    check_tile_of_registers(&check);
    check_input_tile(&check);
    check_powers(&check);
    check_store(&check);
    return check.count;
}

bool cubefx_host_legal(const struct space *space, const struct tiling *tiling)
{
    return cubefx_host_violations(space, tiling, NULL) == 0;
}

bool cubefx_host_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    return fixed < CUBEFX_HOST_AXES ||
           cubefx_host_legal(space, tiling); /* the whole space is small */
}
