/* What a tiling of polynomials asks of the processor: register tiles and their terms, counted
 * exactly for the thread that has a whole slab, and what moves between the levels. */
#include "kernels/cubefx/host/cubefx_host.h"
#include "kernels/slices.h"

/* Of a cache that holds what is used again while other lines stream through it. */
#define FILL 0.75

struct count {
    const struct host *host;
    const struct poly_plan *plan;
    struct host_work *work;
    int64_t groups;  /* of functions */
    int input_level; /* of inputs where a tile meets them first, and of results */
    int tile_level;  /* of a tile's inputs, or powers, for the groups after the first */
    int coefficient_level;
};

/* Levels that hold what a thread has, with as much for every other one. */
static int level_of(const struct count *count, double floats)
{
    return host_level_of(count->host, 4 * floats, count->plan->threads, FILL);
}

/* The phase of a loop; a new one where there is none yet. */
static struct host_phase *phase_of(struct count *count, const char *name)
{
    struct host_work *work = count->work;
    int loop = host_loop(count->host, name);
    for (int i = 0; i < work->phase_count; i++)
        if (work->phases[i].loop == loop)
            return &work->phases[i];
    struct host_phase *phase = &work->phases[work->phase_count++];
    *phase = (struct host_phase){.loop = loop};
    return phase;
}

/* Results that go past the caches. Where they lie in one, from the last time, each line has to
 * leave it first: measured, 16 to 50 ns a line instead of 3. */
static double streamed_bytes(const struct count *count, double bytes)
{
    enum { LEAVING = 8 };
    return count->input_level < count->host->level_count - 1 ? LEAVING * bytes : bytes;
}

/* `tiles` register tiles of `functions` × `vectors` in `strips`. */
static void add_tiles(struct count *count, int functions, int vectors, double tiles, double strips)
{
    char name[HOST_NAME_SIZE];
    const struct poly_plan *plan = count->plan;
    double inputs = tiles * vectors * plan->lanes, terms = (double)plan->terms;
    double first = 1.0 / (double)count->groups;
    struct host_phase *phase =
        phase_of(count, poly_loop_name(plan->algorithm, functions, vectors, name));
    phase->calls += tiles;
    phase->steps += tiles * terms;
    if (plan->algorithm == CUBEFX_HOST_MATRIX) {
        phase->read_bytes[count->tile_level] += 4 * inputs * (terms - 1);
    } else {
        phase->read_bytes[count->input_level] += 4 * inputs * first;
        phase->read_bytes[count->tile_level] += 4 * inputs * (1 - first);
    }
    phase->read_bytes[count->coefficient_level] += 4 * strips * functions * terms;
    if (plan->stream)
        phase->stream_bytes += streamed_bytes(count, 4 * inputs * functions);
    else
        phase->write_bytes[count->input_level] += 4 * inputs * functions;
    phase_of(count, POLY_STRIP_LOOP)->calls += strips;
}

static void add_powers(struct count *count, int vectors, double panels)
{
    char name[HOST_NAME_SIZE];
    double inputs = panels * vectors * count->plan->lanes;
    double powers = (double)(count->plan->terms - 1);
    struct host_phase *phase = phase_of(count, poly_powers_loop_name(vectors, name));
    phase->calls += panels;
    phase->steps += panels * powers;
    phase->read_bytes[count->input_level] += 4 * inputs;
    phase->write_bytes[count->tile_level] += 4 * inputs * powers;
}

/* `times` tiles of `inputs` inputs. */
static void add_input_tiles(struct count *count, int64_t inputs, double times)
{
    const struct poly_plan *plan = count->plan;
    struct poly_part parts[POLY_MAX_PARTS];
    int partial, part_count = poly_cut(plan, inputs, parts, &partial);
    for (int v = 0; v < part_count; v++) {
        double tiles = times * (double)parts[v].count;
        if (plan->algorithm == CUBEFX_HOST_MATRIX)
            add_powers(count, parts[v].size, tiles);
        for (int g = 0; g < plan->group_parts; g++)
            add_tiles(count, plan->groups[g].size, parts[v].size,
                      tiles * (double)plan->groups[g].count, times * (double)plan->groups[g].count);
    }
}

/* Where things lie when a kernel runs again and again: what comes back only after all of a slab is
 * in the level that holds all of it. */
static void find_levels(struct count *count)
{
    const struct poly_plan *plan = count->plan;
    double tile = (double)plan->tile, coefficients = (double)(plan->terms * plan->functions);
    double group = (double)plan->function_tile;
    double seen = plan->algorithm == CUBEFX_HOST_MATRIX ? (double)plan->powers_bytes / 4 : tile;
    count->groups = 0;
    for (int g = 0; g < plan->group_parts; g++)
        count->groups += plan->groups[g].count;
    count->input_level =
        level_of(count, (double)plan->slab * (double)(1 + plan->functions) + coefficients);
    count->tile_level = level_of(count, seen + group * (tile + (double)plan->terms));
    count->coefficient_level =
        level_of(count, coefficients + seen + tile * (double)plan->functions);
}

void cubefx_host_ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    struct poly_plan plan;
    struct count count = {.host = space->hw->host, .plan = &plan, .work = work};
    cubefx_host_plan(space, tiling, &plan);
    *work = (struct host_work){.threads = plan.threads, .parallel_regions = plan.threads > 1};
    find_levels(&count);
    struct host_phase *pack = phase_of(&count, POLY_PACK_LOOP);
    pack->calls = 1;
    pack->steps = (double)(plan.terms * plan.functions);
    int64_t full = plan.slab / plan.tile;
    add_input_tiles(&count, plan.tile, (double)full);
    if (plan.slab % plan.tile)
        add_input_tiles(&count, plan.slab % plan.tile, 1);
}

/* Products and sums of one vector a ns, at the best of all register tiles. */
static double best_rate(const struct host *host, int64_t terms)
{
    double best = 0;
    for (int a = CUBEFX_HOST_HORNER; a <= CUBEFX_HOST_MATRIX; a += 2)
        for (int f = 0; f < POLY_SIZES; f++)
            for (int v = 0; v < POLY_SIZES; v++) {
                char name[HOST_NAME_SIZE];
                enum cubefx_host_algorithm algorithm = (enum cubefx_host_algorithm)a;
                if (!poly_tile_exists(algorithm, poly_functions[f], poly_vectors[v]))
                    continue;
                int loop = host_loop(
                    host, poly_loop_name(algorithm, poly_functions[f], poly_vectors[v], name));
                if (loop < 0)
                    continue;
                double ns = host->loops[loop].call_ns + (double)terms * host->loops[loop].step_ns;
                double rate = ns > 0 ? poly_functions[f] * poly_vectors[v] * (double)terms / ns : 0;
                best = rate > best ? rate : best;
            }
    return best;
}

double cubefx_host_roofline_ns(const struct space *space)
{
    struct poly_plan plan;
    struct tiling first;
    const struct host *host = space->hw->host;
    space_tiling(space, 0, &first);
    cubefx_host_plan(space, &first, &plan);
    int64_t vectors = divide_up(plan.slab, plan.lanes);
    double rate = best_rate(host, plan.terms);
    return rate > 0 ? (double)vectors * (double)plan.functions * (double)plan.terms / rate : 0;
}
