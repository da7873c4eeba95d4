/* Components of random programs on random machines: against a count that unrolls every loop and
 * knows nothing of prices' arithmetic, and what must hold between the ratios. */
#include "analysis/roofline.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"
#include "tests/support/random_hardware.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    gsl_rng *rng;
    struct hardware base, hw;
    struct simulator *simulator;
    char *text;
    struct program program;
    struct timeline timeline;
    int cores;
    struct diagnosis diagnosis;
};

static struct bench bench;

static void enter(void)
{
    machine_load(&bench.base, "");
    bench.rng = gsl_rng_alloc(gsl_rng_mt19937);
    bench.simulator = simulator_new();
}

static void leave(void)
{
    hardware_clear(&bench.base);
    simulator_free(bench.simulator);
    gsl_rng_free(bench.rng);
}

TestSuite(roofline_properties, .init = enter, .fini = leave);

static int below(int limit)
{
    return (int)gsl_rng_uniform_int(bench.rng, (unsigned long)limit);
}

/* Least times of one core's pipes and of the buses, in ns, and the work behind them. */
struct count {
    bool pipe_used[HARDWARE_MAX_PIPES], bus_used[HARDWARE_MAX_BUSES];
    double pipe_ns[HARDWARE_MAX_PIPES], pipe_amount[HARDWARE_MAX_PIPES];
    double bus_bytes[HARDWARE_MAX_BUSES];
    int64_t own_fs[HARDWARE_MAX_PIPES]; /* of instructions that share no bus with others */
    bool pipe_shares[HARDWARE_MAX_PIPES];
};

static double ns_each(const struct price *price)
{
    return (double)price->rate.fs / 1e6 / (double)price->rate.units;
}

static int64_t blocks(int64_t size, int64_t block)
{
    return (size + block - 1) / block;
}

static void count_move(const struct instruction *in, struct count *count)
{
    const struct path *path = &bench.hw.paths[in->what];
    double plain = ns_each(&bench.hw.prices[path->price]), own = plain;
    for (int c = 0; c < path->cast_count; c++)
        if (in->type != in->to_type && path->casts[c].from == in->type &&
            path->casts[c].to == in->to_type)
            own = ns_each(&bench.hw.prices[path->casts[c].price]);
    if (in->transpose)
        own = ns_each(&bench.hw.prices[path->transposed_price]);
    count->pipe_ns[in->pipe] += (double)in->bytes * fmin(plain, own);
    count->pipe_amount[in->pipe] += (double)in->bytes;
    if (path->bus >= 0) {
        count->bus_used[path->bus] = true;
        count->pipe_shares[in->pipe] = true;
        count->bus_bytes[path->bus] +=
            (double)in->bytes * hardware_in_step(&bench.hw, bench.program.pipes, in->pipe);
    }
}

static void count_matrix(const struct instruction *in, struct count *count)
{
    const struct matrix_type *type = hardware_matrix_type(&bench.hw, in->type);
    double number = (double)(blocks(in->m, type->block_m) * blocks(in->k, type->block_k) *
                             blocks(in->n, type->block_n));
    count->pipe_ns[in->pipe] += number * ns_each(&bench.hw.prices[type->price]);
    count->pipe_amount[in->pipe] += number * type->block_m * type->block_k * type->block_n * 2;
}

static void count_operation(const struct instruction *in, struct count *count)
{
    const struct price *price = &bench.hw.prices[bench.hw.operations[in->what].price];
    double amount = in->kind == INSTRUCTION_SCALAR ? (double)in->count : (double)in->elements;
    double each_ns = ns_each(price);
    if (in->kind == INSTRUCTION_VECTOR)
        each_ns = fmin(each_ns, (double)price->base_fs / 1e6) * dtype_bytes(in->type) /
                  bench.hw.vector_repeat_bytes;
    count->pipe_ns[in->pipe] += amount * each_ns;
    count->pipe_amount[in->pipe] += amount;
}

static void count_instruction(const struct instruction *in, struct count *count)
{
    static void (*const counters[])(const struct instruction *, struct count *) = {
        [INSTRUCTION_MOVE] = count_move,
        [INSTRUCTION_MATRIX] = count_matrix,
        [INSTRUCTION_VECTOR] = count_operation,
        [INSTRUCTION_SCALAR] = count_operation,
    };
    if (in->kind > INSTRUCTION_SCALAR)
        return;
    count->pipe_used[in->pipe] = true;
    count->own_fs[in->pipe] += instruction_issue_fs(&bench.hw, in) +
                               rate_ceil_fs(bench.hw.prices[in->price].rate, in->paid_units);
    counters[in->kind](in, count);
}

/* Plays items[first, last), every iteration by itself. */
static void unroll(int32_t first, int32_t last, struct count *count)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &bench.program.items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (int64_t n = 0; n < in->count && in->partner > i + 1; n++)
                unroll(i + 1, in->partner, count);
            i = in->partner;
        } else {
            count_instruction(in, count);
        }
    }
}

static void expect_near(double found, double expected, const char *what, const char *name)
{
    cr_assert_float_eq(found, expected, 1e-9 * (fabs(expected) + 1e-3),
                       "%s of %s: %.12g, %.12g in\n%s", what, name, found, expected, bench.text);
}

static double sum_parts(const struct component *c, bool amounts)
{
    double sum = 0;
    for (int p = 0; p < c->part_count; p++)
        sum += amounts ? c->parts[p].amount : component_part_ns(&c->parts[p]);
    return sum;
}

static void expect_counts(void)
{
    static struct count count;
    const struct component *c = bench.diagnosis.components;
    memset(&count, 0, sizeof count);
    unroll(0, bench.program.count, &count);
    for (int p = 0; p < bench.hw.pipe_count; p++) {
        if (!count.pipe_used[p])
            continue;
        cr_assert_str_eq(c->name, component_name(&bench.hw, p));
        expect_near(c->ideal_ns, count.pipe_ns[p], "ideal time", c->name);
        expect_near(sum_parts(c, false), count.pipe_ns[p], "parts' time", c->name);
        expect_near(sum_parts(c, true), count.pipe_amount[p], "amount", c->name);
        int64_t waiting_fs = bench.timeline.busy_fs[p] - count.own_fs[p];
        cr_assert(count.pipe_shares[p] ? waiting_fs >= 0 : waiting_fs == 0, "%s: %lld in\n%s",
                  c->name, (long long)waiting_fs, bench.text);
        expect_near(c->waiting_ns, (double)waiting_fs / 1e6, "waiting", c->name);
        c++;
    }
    for (int b = 0; b < bench.hw.bus_count; b++) {
        const struct bus *bus = &bench.hw.buses[b];
        if (!count.bus_used[b])
            continue;
        double bytes = count.bus_bytes[b] * bench.cores;
        cr_assert_str_eq(c->name, bus->name);
        expect_near(c->ideal_ns, bytes * 1e9 / (double)bus->total_bytes_per_s[bus->sharers - 1],
                    "ideal time", c->name);
        expect_near(sum_parts(c, true), bytes, "amount", c->name);
        c++;
    }
    cr_assert_eq(c - bench.diagnosis.components, bench.diagnosis.component_count);
}

/* A ratio that is known lies between 0 and 1. */
static void expect_ratio(double ratio, const char *what, const char *name)
{
    cr_assert(ratio == -1 || (ratio >= 0 && ratio <= 1 + 1e-9), "%s of %s: %.12g in\n%s", what,
              name, ratio, bench.text);
}

static void expect_ratios(const struct component *c, double time_ns)
{
    expect_ratio(c->efficiency, "efficiency", c->name);
    expect_ratio(c->active_ratio, "active ratio", c->name);
    expect_ratio(c->utilisation, "utilisation", c->name);
    cr_assert_eq(c->efficiency < 0, c->busy_ns <= 0);
    cr_assert_eq(c->utilisation < 0, time_ns <= 0);
    cr_assert_eq(c->active_ratio < 0, time_ns <= 0);
    if (c->efficiency >= 0 && time_ns > 0)
        expect_near(c->efficiency * c->active_ratio, c->utilisation, "U = E R", c->name);
    cr_assert(c->waiting_ns >= 0 && c->waiting_ns <= c->busy_ns, "%s in\n%s", c->name, bench.text);
    cr_assert_leq(c->ideal_ns, (c->busy_ns - c->waiting_ns) * (1 + 1e-9) + 1e-9, "%s in\n%s",
                  c->name, bench.text);
    if (c->waiting_ns > 0)
        cr_assert_eq(bench.diagnosis.components[c->waits_for].kind, COMPONENT_INTERCONNECT);
}

/* The verdict follows from the ratios, by the words of Zhou et al. 2025, 4.2. */
static void expect_verdict(void)
{
    const struct diagnosis *d = &bench.diagnosis;
    const struct component *named = d->component < 0 ? NULL : &d->components[d->component];
    double utilisation = -1, active = -1;
    for (int c = 0; c < d->component_count; c++) {
        if (d->components[c].utilisation >=
            component_bound_from(d, &diagnosis_default_thresholds, c))
            utilisation = fmax(utilisation, d->components[c].utilisation);
        if (d->components[c].kind != COMPONENT_INTERCONNECT)
            active = fmax(active, d->components[c].active_ratio);
    }
    cr_assert_eq(d->verdict == VERDICT_NONE, named == NULL);
    if (!named)
        return;
    bool bound = d->verdict == VERDICT_COMPUTE_BOUND || d->verdict == VERDICT_TRANSFER_BOUND;
    if (utilisation >= 0)
        cr_assert(bound && named->utilisation == utilisation);
    else if (active < 0.8)
        cr_assert(d->verdict == VERDICT_INSUFFICIENT_PARALLELISM && named->active_ratio == active);
    else if (bound)
        cr_assert_eq(named->kind, COMPONENT_INTERCONNECT);
    else
        cr_assert(named->active_ratio == active && named->efficiency < 1);
}

static void expect_naive(void)
{
    const struct diagnosis *d = &bench.diagnosis;
    expect_ratio(d->naive.utilisation, "naive utilisation", "the largest part");
    for (int c = 0; c < d->component_count; c++)
        if (d->components[c].kind != COMPONENT_INTERCONNECT && d->time_ns > 0)
            for (int p = 0; p < d->components[c].part_count; p++)
                cr_assert_geq(d->naive.utilisation,
                              component_part_ns(&d->components[c].parts[p]) / d->time_ns);
}

static void diagnose_program(void)
{
    struct error error;
    struct simulate_options how = {.cores = bench.cores};
    cr_assert_eq(simulate(bench.simulator, &bench.program, &how, &bench.timeline, &error),
                 STATUS_OK, "%s", error.text);
    diagnosis_of_program(&bench.program, &bench.timeline, bench.cores, &bench.diagnosis);
    diagnose(&bench.diagnosis, &diagnosis_default_thresholds);
}

static void analyse(void)
{
    struct error error;
    cr_assert_not_null(bench.text);
    cr_assert_eq(
        program_parse(&bench.hw, "random", bench.text, strlen(bench.text), &bench.program, &error),
        STATUS_OK, "%s in\n%s", error.text, bench.text);
    diagnose_program();
}

static void expect_everything(void)
{
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    expect_counts();
    expect_verdict();
    expect_naive();
    for (int c = 0; c < bench.diagnosis.component_count; c++)
        expect_ratios(&bench.diagnosis.components[c], bench.diagnosis.time_ns);
    int count = diagnosis_pairs(&bench.diagnosis, pairs);
    for (int p = 0; p < count; p++)
        cr_assert(isfinite(pairs[p].intensity) && isfinite(pairs[p].attained_per_ns) &&
                  isfinite(pairs[p].ideal_per_ns) && isfinite(pairs[p].ideal_bytes_per_ns));
}

static void draw_machine(unsigned long seed)
{
    struct random_hardware options = {
        .two_bus_pipes = below(2), .dispatch = below(2), .prompt = below(2)};
    gsl_rng_set(bench.rng, seed);
    bench.cores = 1 + below(4);
    random_hardware(&bench.base, &options, bench.rng, &bench.hw);
}

static bool waits_for_unsaturated_bus(void)
{
    const struct diagnosis *d = &bench.diagnosis;
    return d->verdict == VERDICT_TRANSFER_BOUND &&
           d->components[d->component].kind == COMPONENT_INTERCONNECT &&
           d->components[d->component].utilisation <
               component_bound_from(d, &diagnosis_default_thresholds, d->component);
}

Test(roofline_properties, random_programs)
{
    int verdicts[VERDICTS] = {0}, unsaturated = 0;
    for (unsigned long seed = 1; seed <= (unsigned long)test_cases(2400); seed++) {
        draw_machine(seed);
        struct random_program options = {.statements = 1 + below(40),
                                         .max_depth = below(4),
                                         .max_count = 1 + below(6),
                                         .loop_percent = 5 + below(20),
                                         .flag_percent = below(40),
                                         .scalar_percent = below(3) ? 0 : below(20),
                                         .barrier_percent = below(10),
                                         .zero_work = below(2)};
        bench.text = random_program_text(&bench.hw, &options, bench.rng);
        analyse();
        expect_everything();
        verdicts[bench.diagnosis.verdict]++;
        unsaturated += waits_for_unsaturated_bus();
        program_clear(&bench.program);
        free(bench.text);
    }
    for (int v = 1; v < VERDICTS; v++)
        cr_assert_gt(verdicts[v], test_cases(20), "%s: %d programs", verdict_name((enum verdict)v),
                     verdicts[v]);
}

Test(roofline_properties, random_pipelines)
{
    for (unsigned long seed = 1; seed <= (unsigned long)test_cases(600); seed++) {
        draw_machine(seed);
        struct random_pipeline options = {.executed = 200 + below(5000),
                                          .max_depth = 1 + below(4),
                                          .scalar_percent = below(2) ? 0 : 10,
                                          .barrier_percent = below(2) ? 0 : 10,
                                          .run_ahead = below(2)};
        bench.text = random_pipeline_text(&bench.hw, &options, bench.rng);
        analyse();
        expect_everything();
        program_clear(&bench.program);
        free(bench.text);
    }
}

/* Loops that are folded, on shipped split chips: transposing moves, bursts, latencies, caches. */
Test(roofline_properties, split_chips)
{
    for (unsigned long seed = 1; seed <= (unsigned long)test_cases(120); seed++) {
        gsl_rng_set(bench.rng, seed);
        random_cann_hardware(bench.rng, &bench.hw);
        bench.cores = 1 + below(bench.hw.cores);
        struct random_pipeline options = {.executed = 2000, .max_depth = 3, .run_ahead = below(2)};
        bench.text = random_pipeline_text(&bench.hw, &options, bench.rng);
        analyse();
        expect_everything();
        program_clear(&bench.program);
        free(bench.text);
        hardware_clear(&bench.hw);
    }
}

/* Real kernels: transposing moves, moves in pieces, results in f16, operands that miss a cache. */
Test(roofline_properties, kernels)
{
    int tested = 0;
    for (unsigned long seed = 1; seed <= (unsigned long)test_cases(200); seed++) {
        struct problem problem;
        struct space space;
        struct tiling tiling;
        struct error error;
        gsl_rng_set(bench.rng, seed);
        random_cann_hardware(bench.rng, &bench.hw);
        random_cann_space(bench.rng, &bench.hw, 200, &problem, &space);
        for (int i = 0; i < 3; i++) {
            if (!random_cann_tiling(bench.rng, &space, &tiling))
                continue;
            memset(&bench.program, 0, sizeof bench.program);
            program_reset(&bench.program, &bench.hw);
            cr_assert_eq(space.kind->generate(&space, &tiling, 0, &bench.program, &error),
                         STATUS_OK, "%s", error.text);
            bench.cores = space.kind->cores_used(&space, &tiling, 0);
            bench.text = strdup(random_cann_text(&problem, &space, &tiling));
            diagnose_program();
            expect_everything();
            tested++;
            free(bench.text);
            program_clear(&bench.program);
        }
        space_close(&space);
        hardware_clear(&bench.hw);
    }
    cr_assert_gt(tested, test_cases(80));
}
