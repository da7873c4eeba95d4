/* MatMul's thesis space: every program is safe, does what the product needs, takes the time that
 * was promised and not less than its bound. */
#include "analysis/check/check.h"
#include "core/program_text.h"
#include "core/work.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "kernels/matmul/matmul.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

/* Machines on which the space must hold: the chip, and chips that stress single limits. */
static const char *const machines[] = {
    "",
    "buffers.l1.capacity_bytes=65536",
    "cores=9 buffers.l0a.capacity_bytes=8192 buffers.l0c.capacity_bytes=16384",
    "cores=3 issue_ns=500 buffers.ub.capacity_bytes=4096",
    "issue_ns=0 launch_ns=0 paths.l1->l0b.bandwidth_gbps=20",
    "paths.ub->gm.bandwidth_gbps=3 matrix.f16.gflops=300",
};

struct fixture {
    struct hardware hw;
    struct space space;
    struct problem problem;
    struct tiling tiling;
    struct program program;
    struct simulator *simulator;
    gsl_rng *rng;
};

static int64_t pick(struct fixture *f, int64_t most)
{
    return 1 + (int64_t)gsl_rng_uniform_int(f->rng, (unsigned long)most);
}

static void open_fixture(struct fixture *f, unsigned long seed)
{
    memset(f, 0, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(f->rng, seed);
    f->simulator = simulator_new();
    machine_load(&f->hw, machines[seed % (sizeof machines / sizeof *machines)]);
}

static void close_fixture(struct fixture *f)
{
    program_clear(&f->program);
    simulator_free(f->simulator);
    hardware_clear(&f->hw);
    gsl_rng_free(f->rng);
}

/* A random shape, ragged as often as not, with a random number of cores. */
static int open_space(struct fixture *f)
{
    struct error error;
    int64_t most = 1 + pick(f, 300);
    int cores = (int)pick(f, f->hw.cores);
    f->problem = (struct problem){.op = &matmul_operator,
                                  .type = DTYPE_F16,
                                  .size = {pick(f, most), pick(f, 300), pick(f, most), 1}};
    if (pick(f, 3) == 1)
        f->problem.size[MATMUL_BATCH] = pick(f, 8);
    cr_assert_eq(space_open(&f->problem, &matmul_thesis, &f->hw, cores, &f->space, &error),
                 STATUS_OK, "%s", error.text);
    return cores;
}

/* A random legal tiling; false when a few hundred draws find none. */
static bool draw_tiling(struct fixture *f)
{
    for (int i = 0; i < 300; i++) {
        space_tiling(&f->space,
                     (int64_t)gsl_rng_uniform_int(f->rng, (unsigned long)f->space.candidates),
                     &f->tiling);
        if (f->space.kind->legal(&f->space, &f->tiling))
            return true;
    }
    return false;
}

static void generate(struct fixture *f)
{
    struct error error;
    program_reset(&f->program, &f->hw);
    cr_assert_eq(f->space.kind->generate(&f->space, &f->tiling, 0, &f->program, &error), STATUS_OK,
                 "%s", error.text);
}

enum { TILINGS = 3 }; /* of each space: opening one takes longer than most tests of a tiling */

/* Runs `test` on random tilings of `count` random shapes on each machine, twice. */
static void for_random_tilings(unsigned long first_seed, int count, void (*test)(struct fixture *f))
{
    for (unsigned long seed = first_seed; seed < first_seed + 12; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        for (int i = 0; i < test_cases(count); i++) {
            open_space(&f);
            for (int t = 0; t < TILINGS && draw_tiling(&f); t++) {
                generate(&f);
                test(&f);
            }
            space_close(&f.space);
        }
        close_fixture(&f);
    }
}

static int64_t play(struct fixture *f, const struct program *program, int cores, bool fully)
{
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = cores, .execute_fully = fully};
    cr_assert_eq(simulate(f->simulator, program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(timeline.blocked, -1);
    return timeline.end_fs;
}

static void expect_safe(struct fixture *f)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(&f->program, &check, &error), STATUS_OK, "%s", error.text);
    cr_assert(check_is_safe(&check), "%s in line %d", check.count ? check.findings[0].text : "",
              check.count ? check.findings[0].lines[0] : 0);
    check_clear(&check);
}

Test(matmul, every_program_passes_check)
{
    for_random_tilings(100, 6, expect_safe);
}

static void expect_same_time(struct fixture *f)
{
    struct program read;
    struct error error;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int cores = f->space.kind->cores_used(&f->space, &f->tiling, 0);
    program_print(&f->program, out, &error);
    fclose(out);
    cr_assert_eq(program_parse(&f->hw, "printed", text, length, &read, &error), STATUS_OK, "%s",
                 error.text);
    int64_t time = play(f, &f->program, cores, false);
    cr_assert_eq(time, play(f, &read, cores, false));
    cr_assert_eq(time, play(f, &f->program, cores, true), "folding changes the time");
    program_clear(&read);
    free(text);
}

Test(matmul, printed_program_takes_the_same_time_folded_or_not)
{
    for_random_tilings(200, 5, expect_same_time);
}

static void expect_bound(struct fixture *f)
{
    struct work work;
    struct bound_plan plan;
    f->space.kind->summarise(&f->space, &f->tiling, &work);
    bound_plan_make(&plan, &f->hw, work.cores, &f->space.layouts[work.layout]);
    int64_t bound = bound_fs(&plan, &work), time = play(f, &f->program, work.cores, false);
    cr_assert_leq(bound, time, "bound %lld fs, time %lld fs", (long long)bound, (long long)time);
    cr_assert_gt(bound, time / 5, "a bound that says nothing");
    cr_assert_leq(f->space.kind->roofline_ns(&f->space), (double)time / 1e6);
}

Test(matmul, bound_and_roofline_are_below_the_time)
{
    for_random_tilings(300, 12, expect_bound);
}

static void expect_totals(struct fixture *f)
{
    struct work work;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    double instructions[HARDWARE_MAX_PRICES] = {0}, units[HARDWARE_MAX_PRICES] = {0};
    f->space.kind->summarise(&f->space, &f->tiling, &work);
    cr_assert_eq(work_totals(&f->program, totals, &error), STATUS_OK);
    const struct work_layout *layout = &f->space.layouts[work.layout];
    for (int l = 0; l < layout->total_count; l++) {
        instructions[layout->price[l]] += work.instructions[l];
        units[layout->price[l]] += work.units[l];
    }
    for (int p = 0; p < f->hw.price_count; p++) {
        cr_assert_eq(instructions[p], (double)totals[p].instructions);
        cr_assert_eq(units[p], (double)totals[p].units);
    }
}

Test(matmul, summary_counts_what_the_program_does)
{
    for_random_tilings(400, 9, expect_totals);
}

/* ---- what the program computes ---------------------------------------------------------------
 *
 * The program is run in program order on tags instead of data. Loads carry no address in global
 * memory, so the order of Algorithm 3 says which tile each one brings; everything after that is
 * read from the program's own operands. */

enum { BYTES_A_TAG = 512 }; /* tiles start at multiples of a block */

struct tag {
    int kind; /* 1: A(i,l), 2: B(l,j), 0: nothing */
    int64_t i, j, l;
};

struct machine_state {
    struct tag l1[1 << 12], l0a[1 << 8], l0b[1 << 8];
    int64_t products; /* k-tiles accumulated in L0C */
    int64_t row, column;
};

struct order {
    int64_t m_tiles, k_tiles, n_tiles;
    bool a_resident, b_resident;
    struct tag *loads;
    int64_t load_count, next_load, next_product, tiles_stored;
};

static void list_loads(struct order *o, int64_t batch)
{
    o->loads = calloc((size_t)(2 * batch * o->m_tiles * o->k_tiles * o->n_tiles), sizeof *o->loads);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < o->m_tiles; i++)
            for (int64_t j = 0; j < o->n_tiles; j++)
                for (int64_t l = 0; l < o->k_tiles; l++) {
                    if (!o->a_resident || j == 0)
                        o->loads[o->load_count++] = (struct tag){1, i, 0, l};
                    if (!o->b_resident || i == 0)
                        o->loads[o->load_count++] = (struct tag){2, 0, j, l};
                }
}

static int64_t address(const struct program *program, const struct instruction *in,
                       enum operand_role role, const int64_t indices[])
{
    for (int r = 0; r < in->region_count; r++) {
        const struct region *region = &program->regions[in->first_region + r];
        if (region->role != role)
            continue;
        int64_t offset = region->offset_bytes;
        for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
            offset += region->loop_stride_bytes[d] * indices[d];
        cr_assert_eq(offset % BYTES_A_TAG, 0);
        return offset / BYTES_A_TAG;
    }
    cr_assert_fail("operand missing");
    return 0;
}

static void run_product(struct order *o, struct machine_state *s, const struct program *program,
                        const struct instruction *in, const int64_t indices[])
{
    int64_t p = o->next_product++, l = p % o->k_tiles, j = p / o->k_tiles % o->n_tiles,
            i = p / o->k_tiles / o->n_tiles % o->m_tiles;
    const struct tag *a = &s->l0a[address(program, in, OPERAND_A, indices)];
    const struct tag *b = &s->l0b[address(program, in, OPERAND_B, indices)];
    cr_assert(a->kind == 1 && a->i == i && a->l == l, "wrong tile of A");
    cr_assert(b->kind == 2 && b->j == j && b->l == l, "wrong tile of B");
    cr_assert_eq(in->accumulate, l > 0, "accumulates from the second k-tile on");
    s->products = in->accumulate ? s->products + 1 : 1;
}

static void run_move(struct order *o, struct machine_state *s, const struct matmul_machine *m,
                     const struct program *program, const struct instruction *in,
                     const int64_t indices[])
{
    if (in->what == m->load)
        s->l1[address(program, in, OPERAND_DST, indices)] = o->loads[o->next_load++];
    else if (in->what == m->feed_a)
        s->l0a[address(program, in, OPERAND_DST, indices)] =
            s->l1[address(program, in, OPERAND_SRC, indices)];
    else if (in->what == m->feed_b)
        s->l0b[address(program, in, OPERAND_DST, indices)] =
            s->l1[address(program, in, OPERAND_SRC, indices)];
    else if (in->what == m->drain)
        cr_assert_eq(s->products, o->k_tiles, "drained before all k-tiles were added");
    else
        o->tiles_stored++;
}

static void run_body(struct order *o, struct machine_state *s, const struct matmul_machine *m,
                     const struct program *program, int32_t first, int32_t last, int depth,
                     int64_t indices[])
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (indices[depth] = 0; indices[depth] < in->count; indices[depth]++)
                run_body(o, s, m, program, i + 1, in->partner, depth + 1, indices);
            indices[depth] = 0;
            i = in->partner;
        } else if (in->kind == INSTRUCTION_MATRIX) {
            run_product(o, s, program, in, indices);
        } else if (in->kind == INSTRUCTION_MOVE) {
            run_move(o, s, m, program, in, indices);
        }
    }
}

/* ---- what a core has -------------------------------------------------------------------------
 */

struct core_share {
    int64_t blocks[3], batch; /* the most that one core has of m, k and n and of the products */
    bool any;                 /* all of so many cores have some, as no other split gives it */
};

static int64_t largest_of(int64_t whole, int64_t shares)
{
    return (whole + shares - 1) / shares;
}

static struct core_share share_of(const struct problem *problem, int split, int64_t cores)
{
    struct core_share share = {.batch = problem->size[MATMUL_BATCH],
                               .any = cores > 1 || split == 0};
    int64_t groups = 1, filled;
    int axis = split == SPLIT_M || split == SPLIT_BATCH_M ? MATMUL_M : MATMUL_N;
    for (int a = 0; a < 3; a++)
        share.blocks[a] = largest_of(problem->size[a], 16);
    if (split == SPLIT_BATCH)
        groups = cores;
    for (int64_t g = 2; split > SPLIT_BATCH && g <= cores; g++)
        if (cores % g == 0 && share.batch % g == 0)
            groups = g;
    share.any &= split <= SPLIT_BATCH || (groups > 1 && groups < cores);
    int64_t each = largest_of(share.batch, groups);
    int64_t slab = largest_of(share.blocks[axis], cores / groups);
    filled = largest_of(share.batch, each) * largest_of(share.blocks[axis], slab);
    share.any &= filled == cores;
    share.blocks[axis] = slab;
    share.batch = each;
    return share;
}

static void expect_product(struct fixture *f)
{
    static struct machine_state state;
    struct matmul_machine m;
    struct error error;
    int64_t indices[PROGRAM_MAX_DEPTH] = {0};
    const int64_t *v = f->tiling.value;
    memset(&state, 0, sizeof state);
    cr_assert_eq(matmul_machine_find(&f->hw, DTYPE_F16, DTYPE_F16, &m, &error), STATUS_OK);
    struct order order = {.a_resident = v[THESIS_RESIDENT] <= RESIDENT_A,
                          .b_resident = v[THESIS_RESIDENT] % 2 == 0};
    struct core_share share = share_of(&f->problem, (int)v[THESIS_SPLIT], v[THESIS_CORES]);
    const int64_t *sizes = share.blocks;
    cr_assert(share.any);
    order.m_tiles = (sizes[MATMUL_M] * 16 + v[THESIS_M] - 1) / v[THESIS_M];
    order.k_tiles = (sizes[MATMUL_K] * 16 + v[THESIS_K] - 1) / v[THESIS_K];
    order.n_tiles = (sizes[MATMUL_N] * 16 + v[THESIS_N] - 1) / v[THESIS_N];
    list_loads(&order, share.batch);
    run_body(&order, &state, &m, &f->program, 0, f->program.count, 0, indices);
    cr_assert_eq(order.next_load, order.load_count);
    cr_assert_eq(order.tiles_stored, share.batch * order.m_tiles * order.n_tiles);
    cr_assert_eq(order.next_product, order.tiles_stored * order.k_tiles);
    free(order.loads);
}

Test(matmul, every_program_multiplies_the_right_tiles)
{
    for_random_tilings(500, 9, expect_product);
}

/* ---- the space ------------------------------------------------------------------------------- */

/* From the definition: all tile counts up to the number of blocks, each slice once. */
static int64_t count_slices(int64_t size)
{
    int64_t blocks = (size + 15) / 16, distinct = 0, previous = -1;
    for (int64_t t = blocks; t >= 1; t--) {
        int64_t slice = ((size + t - 1) / t + 15) / 16;
        distinct += slice != previous;
        previous = slice;
    }
    return distinct;
}

Test(matmul, space_has_each_distinct_slice_once)
{
    struct fixture f;
    open_fixture(&f, 0);
    for (int i = 0; i < test_cases(100); i++) {
        int cores = open_space(&f);
        int64_t expected = 0;
        const struct space *s = &f.space;
        for (int split = 0; split < SPLIT_KINDS; split++)
            for (int used = 1; used <= cores; used++) {
                struct core_share share = share_of(&f.problem, split, used);
                if (share.any)
                    expected += 8 * count_slices(16 * share.blocks[0]) *
                                count_slices(16 * share.blocks[1]) *
                                count_slices(16 * share.blocks[2]);
            }
        cr_assert_eq(s->candidates, expected, "%lldx%lldx%lld", (long long)f.problem.size[0],
                     (long long)f.problem.size[1], (long long)f.problem.size[2]);
        space_close(&f.space);
    }
    close_fixture(&f);
}

Test(matmul, index_and_tiling_are_inverse)
{
    struct fixture f;
    open_fixture(&f, 1);
    open_space(&f);
    for (int64_t i = 0; i < f.space.candidates; i++) {
        struct tiling tiling;
        space_tiling(&f.space, i, &tiling);
        cr_assert_eq(space_index(&f.space, &tiling), i);
        struct violation list[MAX_VIOLATIONS];
        cr_assert_eq(f.space.kind->legal(&f.space, &tiling),
                     f.space.kind->violations(&f.space, &tiling, list) == 0);
    }
    space_close(&f.space);
    close_fixture(&f);
}

Test(matmul, impossible_stays_impossible)
{
    struct fixture f;
    open_fixture(&f, 2);
    for (int n = 0; n < test_cases(40); n++) {
        open_space(&f);
        for (int i = 0; i < 200; i++) {
            struct tiling tiling;
            space_tiling(&f.space,
                         (int64_t)gsl_rng_uniform_int(f.rng, (unsigned long)f.space.candidates),
                         &tiling);
            if (f.space.kind->legal(&f.space, &tiling))
                for (int fixed = 1; fixed <= f.space.axis_count; fixed++)
                    cr_assert(f.space.kind->possible(&f.space, &tiling, fixed));
        }
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* One tile of everything: 2050 launch, two loads at 28 GB/s, A and B to L0, 64 blocks, drain,
 * store. By hand from the constants of the description. */
Test(matmul, one_tile_by_hand)
{
    struct fixture f;
    struct error error;
    open_fixture(&f, 0);
    f.problem =
        (struct problem){.op = &matmul_operator, .type = DTYPE_F16, .size = {64, 64, 64, 1}};
    cr_assert_eq(space_open(&f.problem, &matmul_thesis, &f.hw, 1, &f.space, &error), STATUS_OK);
    f.tiling = (struct tiling){{64, 64, 64, 1, RESIDENT_BOTH, SPLIT_M, 1}};
    generate(&f);
    double load = 40 + 8192 / 28.0, feed_b = 40 + 8192 / 174.37, cube = 40 + 64 * 7936 / 5390.32,
           drain = 40 + 16384 / 174.09, store = 40 + 8192 / 28.0;
    double expected = 2050 + 2 * load + feed_b + cube + drain + store;
    cr_assert_float_eq((double)play(&f, &f.program, 1, false) / 1e6, expected, 1e-4);
    space_close(&f.space);
    close_fixture(&f);
}

Test(matmul, shapes_are_checked)
{
    static const char *const bad[] = {"",
                                      "0x1x1",
                                      "1x1",
                                      "1x1x1x1",
                                      "-1x1x1",
                                      "1x 1x1",
                                      "1e3x1x1",
                                      "1x1x1 ",
                                      "+1x1x1",
                                      "axbxc",
                                      "1x1x",
                                      "xxx",
                                      "9223372036854775808x1x1",
                                      "2147483648x1x1",
                                      "2000000x2000000x2000000"};
    struct problem problem;
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(problem_parse(&matmul_operator, bad[i], &problem, &error) != STATUS_OK ||
                      problem_settle(&problem, &error) != STATUS_OK,
                  "%s", bad[i]);
    cr_assert_eq(problem_parse(&matmul_operator, "1x2x3", &problem, &error), STATUS_OK);
    cr_assert_eq(problem_settle(&problem, &error), STATUS_OK);
    cr_assert_eq(problem.size[MATMUL_K], 2);
    cr_assert_eq(problem.size[MATMUL_BATCH], 1);
}
