/* Cube-fx's space: every program is safe, computes every function of every input, takes the time
 * that was promised and not less than its bound; what fits is what the hazard check lets pass. */
#include "analysis/check/check.h"
#include "core/program_text.h"
#include "core/work.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "kernels/cubefx/cubefx.h"
#include "search/search.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_hardware.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The chip, and chips that stress single limits. Every other machine of a test has random prices,
 * paths and buses on top. */
static const char *const machines[] = {
    "",
    "buffers.l0b.capacity_bytes=8192",
    "cores=4 buffers.l0a.capacity_bytes=8192 buffers.l0c.capacity_bytes=65536",
    "cores=3 issue_ns=500 buffers.ub.capacity_bytes=32768 buffers.l0b.capacity_bytes=4096",
    "issue_ns=0 launch_ns=0 paths.l1->l0b.bandwidth_gbps=20 buffers.l1.capacity_bytes=65536",
    "paths.ub->gm.bandwidth_gbps=3 matrix.f16.gflops=300 buffers.l0b.capacity_bytes=16384",
};
static const int edges[] = {16, 16, 16, 8, 4, 5};

struct fixture {
    struct hardware base, hw; /* hw: base with other numbers, owns nothing */
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

static void set_edge(struct hardware *hw, int edge)
{
    struct matrix_type *type = &hw->matrix_types[0];
    type->block_m = type->block_k = type->block_n = edge;
}

/* Random machines on which some role is missing are drawn again. */
static void draw_machine(struct fixture *f)
{
    struct cubefx_machine machine;
    struct error error;
    do {
        struct random_hardware options = {
            .two_bus_pipes = pick(f, 2) == 1, .dispatch = pick(f, 2) == 1, .prompt = true};
        random_hardware(&f->base, &options, f->rng, &f->hw);
    } while (cubefx_machine_find(&f->hw, DTYPE_F16, &machine, &error) != STATUS_OK);
    f->hw.flag_registers = 8;
}

static void open_fixture(struct fixture *f, unsigned long seed)
{
    size_t machine = seed % (sizeof machines / sizeof *machines);
    memset(f, 0, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(f->rng, seed);
    f->simulator = simulator_new();
    machine_load(&f->base, machines[machine]);
    f->hw = f->base;
    if (seed / (sizeof machines / sizeof *machines) % 2)
        draw_machine(f);
    set_edge(&f->hw, edges[seed % (sizeof edges / sizeof *edges)]);
}

static void close_fixture(struct fixture *f)
{
    program_clear(&f->program);
    simulator_free(f->simulator);
    hardware_clear(&f->base);
    gsl_rng_free(f->rng);
}

static void open_problem(struct fixture *f, int64_t n, int64_t order, int64_t functions, int cores)
{
    struct error error;
    f->problem =
        (struct problem){.op = &cubefx_operator, .type = DTYPE_F16, .size = {n, order, functions}};
    cr_assert_eq(space_open(&f->problem, &cubefx_segments, &f->hw, cores, &f->space, &error),
                 STATUS_OK, "%s", error.text);
}

/* A random problem with a random number of cores, one to a dozen tiles of least size a core. */
static void open_space(struct fixture *f)
{
    int64_t edge = f->hw.matrix_types[0].block_m;
    int cores = (int)pick(f, f->hw.cores);
    int64_t most = 1 + pick(f, 12) * cores * edge * edge;
    open_problem(f, pick(f, most), pick(f, 2 + edge * 2), pick(f, 2 + edge * 2), cores);
}

static void draw_any(struct fixture *f)
{
    space_tiling(&f->space,
                 (int64_t)gsl_rng_uniform_int(f->rng, (unsigned long)f->space.candidates),
                 &f->tiling);
}

/* A random legal tiling; false when a few hundred draws find none. */
static bool draw_legal(struct fixture *f)
{
    for (int i = 0; i < 300; i++) {
        draw_any(f);
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

/* Runs `test` on random tilings of random problems on all machines; all legal or any. */
static void for_tilings(unsigned long first_seed, int count, bool legal,
                        void (*test)(struct fixture *f))
{
    for (unsigned long seed = first_seed; seed < first_seed + 24; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        for (int i = 0; i < test_cases(count); i++) {
            bool found = true;
            open_space(&f);
            if (legal)
                found = draw_legal(&f);
            else
                draw_any(&f);
            if (found) {
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

static void expect_safe_program(const struct program *program)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s", error.text);
    /* Blocks of other sizes than the shipped ones' do not keep L0C's alignment. */
    for (size_t i = 0; i < check.count; i++)
        cr_assert(check.findings[i].kind >= FINDING_ALIGNMENT, "%s", check.findings[i].text);
    check_clear(&check);
}

static void expect_safe(struct fixture *f)
{
    expect_safe_program(&f->program);
}

Test(cubefx, every_program_passes_check)
{
    for_tilings(100, 6, true, expect_safe);
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

Test(cubefx, printed_program_takes_the_same_time_folded_or_not)
{
    for_tilings(200, 12, true, expect_same_time);
}

static void expect_bound(struct fixture *f)
{
    struct work work;
    struct bound_plan plan;
    f->space.kind->summarise(&f->space, &f->tiling, &work);
    bound_plan_make(&plan, &f->hw, work.cores, &f->space.layouts[work.layout]);
    int64_t bound = bound_fs(&plan, &work), time = play(f, &f->program, work.cores, false);
    cr_assert_leq(bound, time, "bound %lld fs, time %lld fs", (long long)bound, (long long)time);
    cr_assert_gt(bound, time / 6, "a bound that says nothing");
    cr_assert_leq(f->space.kind->roofline_ns(&f->space), (double)time / 1e6 * (1 + 1e-12));
}

Test(cubefx, bound_and_roofline_are_below_the_time)
{
    for_tilings(300, 30, true, expect_bound);
}

/* Two prices of the program take all the time: what a chain wrongly claims not to overlap is seen.
 */
static void make_two_prices_dominate(struct fixture *f)
{
    const struct work_layout *layout = &f->space.layouts[0];
    for (int b = 0; b < f->hw.bus_count; b++)
        for (int n = 0; n < f->hw.buses[b].sharers; n++)
            f->hw.buses[b].total_bytes_per_s[n] = INT64_C(100000000000000);
    for (int p = 0; p < f->hw.price_count; p++) {
        f->hw.prices[p].base_fs = 1;
        f->hw.prices[p].rate = (struct rate){1, 1000};
    }
    for (int i = 0; i < 2; i++) {
        struct price *price = &f->hw.prices[layout->price[pick(f, layout->total_count) - 1]];
        price->base_fs = pick(f, 3) * FS_PER_NS * 1000;
    }
}

Test(cubefx, chains_hold_whatever_dominates)
{
    for (unsigned long seed = 1300; seed < 1312; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        f.hw = f.base; /* its paths are where they should be */
        for (int i = 0; i < test_cases(80); i++) {
            open_space(&f);
            if (draw_legal(&f)) {
                make_two_prices_dominate(&f);
                generate(&f);
                expect_bound(&f);
            }
            space_close(&f.space);
        }
        close_fixture(&f);
    }
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
        cr_assert_float_eq(units[p], (double)totals[p].units, 1e-12 * units[p]);
    }
}

Test(cubefx, summary_counts_what_the_program_does)
{
    for_tilings(400, 50, true, expect_totals);
}

/* ---- eq. 4.9 --------------------------------------------------------------------------------- */

/* Products of s×s×s blocks for s² inputs, from the thesis's formula. */
static int64_t matrix_count(int64_t s, int64_t k, int64_t j, int64_t t)
{
    int64_t steps = (s + t - 1) / t, powers = (k * t + s - 1) / s, outputs = (j * t + s - 1) / s;
    return steps * powers * (1 + outputs);
}

static int64_t program_blocks(const struct fixture *f)
{
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    cr_assert_eq(work_totals(&f->program, totals, &error), STATUS_OK);
    return totals[f->hw.matrix_types[0].price].units;
}

static int64_t share_of_core(const struct fixture *f)
{
    /* the largest tile is the whole share */
    const struct space_block *block = space_block_of(&f->space, space_index(&f->space, &f->tiling));
    return block->values[CUBEFX_TILE][block->count[CUBEFX_TILE] - 1];
}

static void expect_matrix_count(struct fixture *f)
{
    int64_t s = f->hw.matrix_types[0].block_m;
    int64_t count = matrix_count(s, f->problem.size[CUBEFX_ORDER],
                                 f->problem.size[CUBEFX_FUNCTIONS], f->tiling.value[CUBEFX_MERGE]);
    cr_assert_eq(program_blocks(f), count * (share_of_core(f) / (s * s)));
}

Test(cubefx, programs_multiply_as_many_blocks_as_equation_4_9)
{
    for_tilings(500, 30, true, expect_matrix_count);
}

/* The thesis's Figures 4.4 to 4.6. */
Test(cubefx, blocks_of_the_published_examples)
{
    static const struct {
        int64_t k, j, merge, blocks;
    } examples[] = {{2, 2, 1, 8}, {2, 2, 2, 4}, {3, 2, 1, 8}, {3, 2, 4, 9}};
    struct fixture f;
    open_fixture(&f, 0);
    set_edge(&f.hw, 4);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        open_problem(&f, 16, examples[i].k, examples[i].j, 1);
        f.tiling = (struct tiling){{examples[i].merge, 16, 1}};
        generate(&f);
        cr_assert_eq(program_blocks(&f), examples[i].blocks);
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* ---- what the program computes ---------------------------------------------------------------
 *
 * The program is run in program order on real numbers, from its own operands. Moves carry no
 * address in global memory: inputs come in order, then the two constant matrices, and results leave
 * as cubefx.h says. */

struct arrays {
    double *places[HARDWARE_MAX_BUFFERS]; /* by element of the buffer's type */
    const struct cubefx_machine *machine;
    double *inputs, *constants[2], *results;
    int64_t next_input, next_constant, next_result, result_count;
};

static double *operand(struct arrays *a, const struct program *program,
                       const struct instruction *in, enum operand_role role,
                       const int64_t indices[])
{
    for (int r = 0; r < in->region_count; r++) {
        const struct region *region = &program->regions[in->first_region + r];
        if (region->role != role)
            continue;
        int64_t offset = region->offset_bytes;
        for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
            offset += region->loop_stride_bytes[d] * indices[d];
        int bytes = region->buffer == a->machine->l0c ? a->machine->accumulator_bytes
                                                      : a->machine->type_bytes;
        cr_assert_eq(offset % bytes, 0);
        cr_assert_leq(offset + region->bytes, program->hw->buffers[region->buffer].capacity_bytes);
        return a->places[region->buffer] + offset / bytes;
    }
    cr_assert_fail("operand missing");
    return NULL;
}

static void run_product(struct arrays *a, const struct program *program,
                        const struct instruction *in, const int64_t indices[])
{
    const double *left = operand(a, program, in, OPERAND_A, indices);
    const double *right = operand(a, program, in, OPERAND_B, indices);
    double *target = operand(a, program, in, OPERAND_DST, indices);
    cr_assert(!in->accumulate);
    for (int i = 0; i < in->m; i++)
        for (int j = 0; j < in->n; j++) {
            double sum = 0;
            for (int l = 0; l < in->k; l++)
                sum += left[i * in->k + l] * right[l * in->n + j];
            target[i * in->n + j] = sum;
        }
}

static void run_move(struct arrays *a, const struct program *program, const struct instruction *in,
                     const int64_t indices[])
{
    const struct cubefx_machine *m = a->machine;
    bool drain = in->what == m->path[CUBEFX_DRAIN];
    size_t size =
        (size_t)(in->bytes / (drain ? m->accumulator_bytes : m->type_bytes)) * sizeof(double);
    int64_t count = (int64_t)(size / sizeof(double));
    if (in->what == m->path[CUBEFX_LOAD]) {
        memcpy(operand(a, program, in, OPERAND_DST, indices), a->inputs + a->next_input, size);
        a->next_input += count;
    } else if (in->what == m->path[CUBEFX_LOAD_B]) {
        cr_assert_lt(a->next_constant, 2);
        memcpy(operand(a, program, in, OPERAND_DST, indices), a->constants[a->next_constant++],
               size);
    } else if (in->what == m->path[CUBEFX_STORE]) {
        cr_assert_leq(a->next_result + count, a->result_count);
        memcpy(a->results + a->next_result, operand(a, program, in, OPERAND_SRC, indices), size);
        a->next_result += count;
    } else {
        memcpy(operand(a, program, in, OPERAND_DST, indices),
               operand(a, program, in, OPERAND_SRC, indices), size);
    }
}

static void run_vector(struct arrays *a, const struct program *program,
                       const struct instruction *in, const int64_t indices[])
{
    const double *source = operand(a, program, in, OPERAND_SRC, indices);
    double *target = operand(a, program, in, OPERAND_DST, indices);
    for (int64_t i = 0; i < in->elements; i++)
        target[i] = in->what == a->machine->ln ? log(source[i]) : exp(source[i]);
}

static void run_body(struct arrays *a, const struct program *program, int32_t first, int32_t last,
                     int depth, int64_t indices[])
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (indices[depth] = 0; indices[depth] < in->count; indices[depth]++)
                run_body(a, program, i + 1, in->partner, depth + 1, indices);
            indices[depth] = 0;
            i = in->partner;
        } else if (in->kind == INSTRUCTION_MATRIX) {
            run_product(a, program, in, indices);
        } else if (in->kind == INSTRUCTION_MOVE) {
            run_move(a, program, in, indices);
        } else if (in->kind == INSTRUCTION_VECTOR) {
            run_vector(a, program, in, indices);
        }
    }
}

/* Sizes of one problem and tiling, from the thesis's definitions. */
struct sizes {
    int64_t s, inputs, order, functions, merge, steps, powers, outputs;
};

static void find_sizes(const struct fixture *f, struct sizes *z)
{
    z->s = f->hw.matrix_types[0].block_m;
    z->inputs = share_of_core(f);
    z->order = f->problem.size[CUBEFX_ORDER];
    z->functions = f->problem.size[CUBEFX_FUNCTIONS];
    z->merge = f->tiling.value[CUBEFX_MERGE];
    z->steps = (z->s + z->merge - 1) / z->merge;
    z->powers = (z->order * z->merge + z->s - 1) / z->s * z->s;
    z->outputs = (z->functions * z->merge + z->s - 1) / z->s * z->s;
}

static double coefficient(int64_t function, int64_t power)
{
    return 1.0 / (double)(1 + (7 * function + 3 * power) % 11);
}

/* Sequence Matrices of all steps: row i of the s×s matrix unit has 0, 1, … K − 1 in the columns of
 * its place among the `merge` of its step. Coefficients: block-diagonal. */
static void fill_constants(const struct sizes *z, struct arrays *a)
{
    a->constants[0] = calloc((size_t)(z->steps * z->s * z->powers), sizeof(double));
    a->constants[1] = calloc((size_t)(z->powers * z->outputs), sizeof(double));
    for (int64_t i = 0; i < z->s; i++)
        for (int64_t p = 0; p < z->order; p++)
            a->constants[0][(i / z->merge * z->s + i) * z->powers + i % z->merge * z->order + p] =
                (double)p;
    for (int64_t c = 0; c < z->merge; c++)
        for (int64_t p = 0; p < z->order; p++)
            for (int64_t j = 0; j < z->functions; j++)
                a->constants[1][(c * z->order + p) * z->outputs + c * z->functions + j] =
                    coefficient(j, p);
}

static void open_arrays(struct fixture *f, const struct sizes *z, struct arrays *a)
{
    for (int b = 0; b < f->hw.buffer_count; b++) {
        size_t size = (size_t)f->hw.buffers[b].capacity_bytes / 2 * sizeof(double);
        a->places[b] = size ? malloc(size) : NULL;
        if (a->places[b])
            memset(a->places[b], 0xff, size); /* NaN */
    }
    a->inputs = calloc((size_t)z->inputs, sizeof(double));
    for (int64_t i = 0; i < z->inputs; i++)
        a->inputs[i] = 0.3 + gsl_rng_uniform(f->rng);
    a->result_count = z->inputs / z->s * z->steps * z->outputs;
    a->results = calloc((size_t)a->result_count, sizeof(double));
    fill_constants(z, a);
}

static void close_arrays(struct fixture *f, struct arrays *a)
{
    for (int b = 0; b < f->hw.buffer_count; b++)
        free(a->places[b]);
    free(a->inputs);
    free(a->results);
    free(a->constants[0]);
    free(a->constants[1]);
}

static double polynomial(double x, int64_t order, int64_t function)
{
    double sum = 0;
    for (int64_t p = order - 1; p >= 0; p--)
        sum = sum * x + coefficient(function, p);
    return sum;
}

static void expect_results(const struct sizes *z, const struct arrays *a, int64_t tile)
{
    for (int64_t i = 0; i < z->inputs; i++) {
        int64_t first = i / tile * tile, rows = tile < z->inputs - first ? tile : z->inputs - first;
        int64_t row = (i - first) / z->s, column = (i - first) % z->s;
        rows /= z->s;
        const double *result = a->results + first / z->s * z->steps * z->outputs +
                               (column / z->merge * rows + row) * z->outputs +
                               column % z->merge * z->functions;
        for (int64_t j = 0; j < z->functions; j++) {
            double expected = polynomial(a->inputs[i], z->order, j);
            cr_assert_float_eq(result[j], expected, 1e-9 * (1 + expected),
                               "input %lld, function %lld", (long long)i, (long long)j);
        }
    }
}

static void expect_functions(struct fixture *f)
{
    struct cubefx_machine machine;
    struct sizes sizes;
    struct error error;
    struct arrays arrays = {.machine = &machine};
    int64_t indices[PROGRAM_MAX_DEPTH] = {0};
    cr_assert_eq(cubefx_machine_find(&f->hw, DTYPE_F16, &machine, &error), STATUS_OK);
    find_sizes(f, &sizes);
    open_arrays(f, &sizes, &arrays);
    run_body(&arrays, &f->program, 0, f->program.count, 0, indices);
    cr_assert_eq(arrays.next_input, sizes.inputs);
    cr_assert_eq(arrays.next_constant, 2);
    cr_assert_eq(arrays.next_result, arrays.result_count);
    expect_results(&sizes, &arrays, f->tiling.value[CUBEFX_TILE]);
    close_arrays(f, &arrays);
}

Test(cubefx, every_program_computes_its_functions)
{
    for_tilings(600, 5, true, expect_functions);
}

/* Every number of merged matrices, with tiles that do not divide the inputs. */
Test(cubefx, every_merge_computes_its_functions)
{
    struct fixture f;
    open_fixture(&f, 0);
    for (int64_t merge = 1; merge <= 16; merge++) {
        open_problem(&f, 256 * 7 - 100, 1 + merge % 5, 1 + merge % 3, 1);
        int64_t tile = merge % 2 ? 512 : 1024, steps = (16 + merge - 1) / merge;
        f.tiling = (struct tiling){{merge, tile, steps, 1}};
        cr_assert(f.space.kind->legal(&f.space, &f.tiling));
        generate(&f);
        expect_functions(&f);
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* ---- the space ------------------------------------------------------------------------------- */

static void expect_capacity(struct fixture *f)
{
    struct check check;
    struct error error;
    struct violation list[MAX_VIOLATIONS];
    bool overflow = false, legal = f->space.kind->legal(&f->space, &f->tiling);
    int count = f->space.kind->violations(&f->space, &f->tiling, list);
    cr_assert_eq(legal, count == 0);
    cr_assert_eq(program_check(&f->program, &check, &error), STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < check.count; i++)
        overflow = overflow || check.findings[i].kind == FINDING_CAPACITY;
    cr_assert_eq(legal, !overflow, "merge=%lld tile=%lld segments=%lld",
                 (long long)f->tiling.value[0], (long long)f->tiling.value[1],
                 (long long)f->tiling.value[2]);
    for (int i = 0; i < count; i++) {
        cr_assert_gt(list[i].needed_bytes, list[i].available_bytes);
        cr_assert(strstr(list[i].text, "bytes"));
    }
    check_clear(&check);
}

Test(cubefx, legal_is_what_the_check_lets_pass)
{
    for_tilings(700, 7, false, expect_capacity);
}

static bool overflows(struct fixture *f)
{
    struct check check;
    struct error error;
    bool overflow = false;
    generate(f);
    cr_assert_eq(program_check(&f->program, &check, &error), STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < check.count; i++)
        overflow = overflow || check.findings[i].kind == FINDING_CAPACITY;
    check_clear(&check);
    return overflow;
}

/* Buffers of exactly the bytes that are asked for: legal, and the program stays within. A byte less
 * in one of them: illegal, and the program goes beyond. */
static void expect_exact_bytes(struct fixture *f, int tight)
{
    static const char *const names[] = {"l0a", "l0b", "l0c", "ub", "l1"};
    struct violation list[MAX_VIOLATIONS];
    struct buffer *buffers[5];
    for (int n = 0; n < 5; n++) {
        buffers[n] = &f->hw.buffers[hardware_buffer(&f->hw, names[n], (int)strlen(names[n]))];
        buffers[n]->capacity_bytes = 1;
    }
    cr_assert_eq(f->space.kind->violations(&f->space, &f->tiling, list), 5);
    for (int n = 0; n < 5; n++) {
        cr_assert_str_eq(list[n].limit, names[n]);
        buffers[n]->capacity_bytes = list[n].needed_bytes;
    }
    cr_assert(f->space.kind->legal(&f->space, &f->tiling));
    cr_assert(!overflows(f));
    buffers[tight]->capacity_bytes--;
    cr_assert_eq(f->space.kind->violations(&f->space, &f->tiling, list), 1);
    cr_assert_str_eq(list[0].limit, names[tight]);
    cr_assert(overflows(f), "%s: a byte less is enough", names[tight]);
}

Test(cubefx, bytes_of_a_violation_are_exact)
{
    for (unsigned long seed = 800; seed < 800 + (unsigned long)test_cases(48); seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        open_space(&f);
        for (int tight = 0; tight < 5; tight++) {
            draw_any(&f);
            expect_exact_bytes(&f, tight);
        }
        space_close(&f.space);
        close_fixture(&f);
    }
}

static void expect_needs(const char *overrides, const int64_t needs[5])
{
    struct fixture f;
    struct violation list[MAX_VIOLATIONS];
    static const char *const names[] = {"l0a", "l0b", "l0c", "ub", "l1"};
    open_fixture(&f, 0);
    hardware_clear(&f.base);
    machine_load(&f.base, overrides);
    f.hw = f.base;
    open_problem(&f, 16384, 16, 9, 1);
    f.tiling = (struct tiling){{1, 16384, 16, 1}};
    for (int n = 0; n < 5; n++)
        if (n != 1)
            f.hw.buffers[hardware_buffer(&f.hw, names[n], (int)strlen(names[n]))].capacity_bytes =
                1;
    int64_t *l0b = &f.hw.buffers[hardware_buffer(&f.hw, "l0b", 3)].capacity_bytes;
    cr_assert_leq(needs[1], *l0b);
    cr_assert_eq(f.space.kind->violations(&f.space, &f.tiling, list), 4);
    for (int n = 0, v = 0; n < 5; n++)
        if (n != 1)
            cr_assert_eq(list[v++].needed_bytes, needs[n], "%s", names[n]);
    *l0b = needs[1] - 1;
    cr_assert_eq(f.space.kind->violations(&f.space, &f.tiling, list), 5);
    space_close(&f.space);
    close_fixture(&f);
}

/* 1024 rows and 16 steps of 16 powers and 16 outputs, one step a group. By hand: one place for
 * logarithms, two for what alternates. */
Test(cubefx, bytes_by_hand)
{
    const int64_t ln = 1024 * 16 * 2, sequence = 16 * 16 * 2, coefficients = 16 * 16 * 2;
    const int64_t constants = 16 * sequence + coefficients;
    expect_needs("", (int64_t[]){2 * ln, 2 * sequence + coefficients, 4 * 2 * ln, ln + 4 * ln,
                                 constants + ln + 2 * ln});
    expect_needs("buffers.l0b.capacity_bytes=8192",
                 (int64_t[]){2 * ln, 2 * sequence + coefficients, 4 * 2 * ln, ln + 4 * ln,
                             constants + ln + 2 * ln});
}

Test(cubefx, index_and_tiling_are_inverse_and_legal_is_possible)
{
    for (unsigned long seed = 900; seed < 924; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        open_space(&f);
        for (int64_t i = 0; i < f.space.candidates; i++) {
            struct tiling tiling;
            struct violation list[MAX_VIOLATIONS];
            space_tiling(&f.space, i, &tiling);
            cr_assert_eq(space_index(&f.space, &tiling), i);
            bool legal = f.space.kind->legal(&f.space, &tiling);
            cr_assert_eq(legal, f.space.kind->violations(&f.space, &tiling, list) == 0);
            for (int fixed = 1; legal && fixed <= CUBEFX_AXES; fixed++)
                cr_assert(f.space.kind->possible(&f.space, &tiling, fixed));
        }
        space_close(&f.space);
        close_fixture(&f);
    }
}

/* Larger values never make the impossible possible. */
Test(cubefx, impossible_stays_impossible)
{
    for (unsigned long seed = 1000; seed < 1024; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        open_space(&f);
        for (int b = 0; b < f.space.block_count; b++)
            for (int axis = 0; axis < CUBEFX_AXES; axis++) {
                const struct space_block *block = &f.space.blocks[b];
                struct tiling tiling;
                bool possible = true;
                for (int a = 0; a < CUBEFX_AXES; a++)
                    tiling.value[a] = block->values[a][pick(&f, block->count[a]) - 1];
                for (int v = 0; v < block->count[axis]; v++) {
                    tiling.value[axis] = block->values[axis][v];
                    bool now = f.space.kind->possible(&f.space, &tiling, axis + 1);
                    cr_assert(possible || !now);
                    possible = now;
                }
            }
        space_close(&f.space);
        close_fixture(&f);
    }
}

/* Cutting s/t steps into g groups of ⌈steps/g⌉ gives these numbers of groups, and no others. */
static int64_t count_segments(int64_t steps)
{
    int64_t count = 0, previous = 0;
    for (int64_t g = 1; g <= steps; g++) {
        int64_t groups = divide_up(steps, divide_up(steps, g));
        count += groups != previous;
        previous = groups;
    }
    return count;
}

Test(cubefx, space_has_each_distinct_grouping_once)
{
    struct fixture f;
    open_fixture(&f, 0);
    for (int edge = 1; edge <= 64; edge++) {
        int64_t expected = 0;
        set_edge(&f.hw, edge);
        open_problem(&f, (int64_t)edge * edge * 3, 3, 3, 1);
        for (int64_t merge = 1; merge <= edge; merge++)
            expected += count_segments((edge + merge - 1) / merge);
        cr_assert_eq(f.space.candidates, 3 * expected); /* tiles of 1, 2 and 3 squares */
        space_close(&f.space);
    }
    close_fixture(&f);
}

Test(cubefx, off_axis_values_are_named)
{
    struct fixture f;
    struct violation list[MAX_VIOLATIONS];
    open_fixture(&f, 0);
    open_problem(&f, 4096, 16, 9, 1);
    static const struct {
        struct tiling tiling;
        const char *limit, *text;
    } cases[] = {
        {{{17, 256, 1, 1}}, "merge", "at most 16"},
        {{{INT64_MAX, INT64_MAX, INT64_MAX}}, "merge", "at most 16"},
        {{{1, 300, 16, 1}}, "tile", "next 256 512"},
        {{{1, INT64_MAX, 16, 1}}, "tile", "next 4096"},
        {{{1, 256, 7, 1}}, "segments", "next 6 8"},
        {{{3, 256, 5, 1}}, "segments", "with merge=3; next 3 6"},
        {{{1, 256, 16, 2}}, "cores", "cores=2 is no number of cores that get equal work; next 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_gt(f.space.kind->violations(&f.space, &cases[i].tiling, list), 0);
        cr_assert_str_eq(list[0].limit, cases[i].limit);
        cr_assert(strstr(list[0].text, cases[i].text), "%s", list[0].text);
    }
    space_close(&f.space);
    close_fixture(&f);
}

static void ask(const struct space *space, const char *strategy, struct search_result *result)
{
    struct error error;
    struct search_options options = {.strategy = strategy, .threads = 2, .top = 3};
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s", error.text);
}

Test(cubefx, search_by_bounds_finds_what_the_exhaustive_one_finds)
{
    for (unsigned long seed = 1100; seed < 1112; seed++) {
        struct fixture f;
        struct search_result bound, all;
        open_fixture(&f, seed);
        open_space(&f);
        ask(&f.space, "bound", &bound);
        ask(&f.space, "exhaustive", &all);
        cr_assert_eq(bound.feasible, all.feasible);
        cr_assert_eq(bound.within_1_percent.surely, all.within_1_percent.surely);
        cr_assert_eq(bound.count, all.count);
        for (int i = 0; i < all.count; i++) {
            cr_assert_eq(bound.best[i].index, all.best[i].index);
            cr_assert_eq(bound.best[i].timeline.end_fs, all.best[i].timeline.end_fs);
        }
        search_result_clear(&bound);
        search_result_clear(&all);
        space_close(&f.space);
        close_fixture(&f);
    }
}

/* One tile, one segment: everything in turn. From the constants of the description. */
Test(cubefx, one_tile_by_hand)
{
    struct fixture f;
    open_fixture(&f, 0);
    open_problem(&f, 256, 16, 16, 1);
    f.tiling = (struct tiling){{1, 256, 1}};
    generate(&f);
    /* the constants are loaded and fed behind the inputs; feeding them ends after the logarithms
     * have come to L1 */
    double load = 40 + 512 / 28.0, sequences = 40 + 8192 / 28.0, coefficients = 40 + 512 / 28.0;
    double feed_b = 40 + 512 / 174.37, feed_ln = 40 + 512 / 347.99;
    double fed = load + sequences + fmax(coefficients, 40 + 8192 / 174.37) + feed_b + feed_ln;
    double products = 16 * (40 + 7936 / 5390.32), drain = 40 + 16 * 1024 / 174.09;
    double exps = 41.5 + 31 * 2 / 0.68, to_l1 = 40 + 16 * 512 / 87.04;
    double feed = 40 + 16 * 512 / 347.99, store = 40 + 16 * 512 / 28.0;
    double expected =
        2050 + fed + products + drain + exps + to_l1 + feed + products + drain + store;
    cr_assert_float_eq((double)play(&f, &f.program, 1, false) / 1e6, expected, 1e-4);
    space_close(&f.space);
    close_fixture(&f);
}

/* A long input is played in little time because its loops stay loops. */
Test(cubefx, program_of_a_long_input_is_short)
{
    struct fixture f;
    open_fixture(&f, 0);
    for (int64_t merge = 1; merge <= 3; merge++) {
        open_problem(&f, INT64_C(1) << 31, 16, 9, 2);
        f.tiling = (struct tiling){{merge, 1024, 6}};
        generate(&f);
        cr_assert_lt(f.program.count, 1500);
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* ---- chips and problems that are refused ------------------------------------------------------
 */

static void expect_refused(const struct hardware *hw, const char *part)
{
    struct space space;
    struct error error;
    struct problem problem = {.op = &cubefx_operator, .type = DTYPE_F16, .size = {256, 4, 4}};
    cr_assert_eq(space_open(&problem, &cubefx_segments, hw, 1, &space, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, part), "%s", error.text);
}

Test(cubefx, names_what_a_chip_lacks)
{
    struct fixture f;
    open_fixture(&f, 0);
    struct hardware hw = f.base;
    hw.flag_registers = 4;
    expect_refused(&hw, "5 flag registers");
    hw = f.base;
    hw.matrix_types[0].block_k = 32;
    expect_refused(&hw, "cubic blocks");
    hw = f.base;
    set_edge(&hw, 65);
    expect_refused(&hw, "at most 64");
    hw = f.base;
    strcpy(hw.operations[hardware_operation(&hw, "ln", 2)].name, "log");
    expect_refused(&hw, "the operation 'ln'");
    hw = f.base;
    hw.operations[hardware_operation(&hw, "exp", 3)].class = OPERATION_SCALAR;
    expect_refused(&hw, "'exp' as a vector operation");
    hw = f.base;
    strcpy(hw.buffers[hardware_buffer(&hw, "l0c", 3)].name, "acc");
    expect_refused(&hw, "a buffer 'l0c'");
    hw = f.base;
    int ub = hardware_buffer(&hw, "ub", 2), l1 = hardware_buffer(&hw, "l1", 2);
    hw.paths[hardware_path(&hw, ub, l1)].destination = (int8_t)ub;
    expect_refused(&hw, "a path ub->l1");
    hw = f.base;
    hw.paths[hardware_path(&hw, ub, l1)].pipe = (int8_t)hardware_pipe(&hw, "MTE1", 4);
    expect_refused(&hw, "on pipe");
    hw = f.base;
    hw.matrix_pipe = (int8_t)hardware_pipe(&hw, "V", 1);
    expect_refused(&hw, "different pipes");
    close_fixture(&f);
}

static bool accepted(const char *shape, const char *order, const char *functions)
{
    struct problem problem;
    struct error error;
    return problem_parse(&cubefx_operator, shape, &problem, &error) == STATUS_OK &&
           (!order || problem_set(&problem, "order", order, &error) == STATUS_OK) &&
           (!functions || problem_set(&problem, "functions", functions, &error) == STATUS_OK) &&
           problem_settle(&problem, &error) == STATUS_OK;
}

Test(cubefx, sizes_are_checked)
{
    cr_assert(accepted("1", "1", "1"));
    cr_assert(accepted("2147483648", "16", "16"));
    cr_assert(accepted("90000000", "256", "4096"));
    cr_assert(!accepted("100000000", "256", "4096"));
    cr_assert(!accepted("2147483649", "1", "1"));
    cr_assert(!accepted("1", "257", "1"));
    cr_assert(accepted("1", "256", "4096"));
    cr_assert(!accepted("1", "1", "4097"));
    cr_assert(!accepted("1", NULL, "1"));
    cr_assert(!accepted("1", "1", NULL));
    cr_assert(!accepted("1x2", "1", "1"));
    cr_assert(!accepted("0", "1", "1"));
    struct problem problem = {.op = &cubefx_operator, .size = {10, 3, 5}};
    cr_assert_eq(cubefx_operator.operations(&problem, NULL), 300.0);
}
