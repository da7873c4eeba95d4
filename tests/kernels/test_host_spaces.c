/* Every operator's space of a processor on random processors, at sizes up to the largest that are
 * accepted: what is asked stays finite, what is typed is refused with a reason, and what memory
 * does not hold is refused before it is taken. */
#include "core/operator.h"
#include "costmodel/host_time.h"
#include "kernels/registry.h"
#include "tests/support/cases.h"
#include "validate/loops.h"
#include "validate/measure.h"
#include "validate/runner.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 120, TILINGS = 60 };

struct fixture {
    struct hardware hw;
    struct host host;
    struct problem problem;
    struct space space;
    gsl_rng *rng;
};

static double draw(struct fixture *f, double least, double most)
{
    return least * pow(most / least, gsl_rng_uniform(f->rng));
}

static int64_t draw_int(struct fixture *f, double least, double most)
{
    return (int64_t)draw(f, least, most);
}

static void draw_levels(struct fixture *f)
{
    struct host *host = &f->host;
    double bytes = 1024;
    host->level_count = 2 + (int)gsl_rng_uniform_int(f->rng, HOST_MAX_LEVELS - 1);
    for (int l = 0; l < host->level_count; l++) {
        struct host_level *level = &host->levels[l];
        bytes = (double)draw_int(f, bytes + 64, bytes * 64);
        level->capacity_bytes = l + 1 < host->level_count ? (int64_t)bytes : 0;
        level->threads = 1 + (int)gsl_rng_uniform_int(f->rng, (unsigned long)host->threads);
        level->read_gbps = draw(f, 0.1, 500);
        level->write_gbps = draw(f, 0.1, 500);
        level->stream_gbps = draw(f, 0.1, 500);
        level->line_bytes = 64;
        snprintf(level->name, sizeof level->name, "L%d", l + 1);
        host->overlap.exposed[l] = gsl_rng_uniform(f->rng);
    }
}

static void draw_machine(struct fixture *f)
{
    struct host *host = &f->host;
    memset(&f->hw, 0, sizeof f->hw);
    memset(host, 0, sizeof *host);
    snprintf(f->hw.name, sizeof f->hw.name, "random processor");
    f->hw.host = host;
    host->isa = (enum host_isa)gsl_rng_uniform_int(f->rng, HOST_ISA_COUNT);
    host->threads = gsl_rng_uniform(f->rng) < 0.5 ? 1 : (int)draw_int(f, 1, HOST_MAX_THREADS + 0.9);
    host->parallel_ns = draw(f, 1, 1e5);
    draw_levels(f);
    const struct loop_family *family;
    for (int i = 0; (family = loop_family_at(i)); i++)
        for (int l = 0; l < family->count && host->loop_count < HOST_MAX_LOOPS; l++) {
            struct host_loop *loop = &host->loops[host->loop_count++];
            snprintf(loop->name, sizeof loop->name, "%s %s", family->name, family->variant(l));
            loop->step_ns = draw(f, 0.01, 100);
            loop->call_ns = draw(f, 0.01, 1000);
        }
}

static const struct operator_space *host_space(const struct operator* op)
{
    for (int i = 0; op->spaces[i]; i++)
        if (op->spaces[i]->ask)
            return op->spaces[i];
    return NULL;
}

/* Small and the largest that its operator takes. */
static void draw_problem(struct fixture *f, const struct operator* op)
{
    struct error error;
    do {
        double most = gsl_rng_uniform(f->rng) < 0.5 ? 300 : 3e9;
        f->problem = (struct problem){.op = op, .type = DTYPE_F32};
        for (int i = 0; i < op->size_count; i++)
            f->problem.size[i] = strcmp(op->size_names[i], "batch") == 0 ? 1 : draw_int(f, 1, most);
    } while (problem_settle(&f->problem, &error) != STATUS_OK);
}

static int64_t draw_value(struct fixture *f, const struct axis *axis)
{
    static const int64_t odd[] = {1,        3, INT64_C(1) << 31, INT64_C(1) << 40, INT64_MAX / 4,
                                  INT64_MAX};
    if (axis->value_names)
        return 1 + (int64_t)gsl_rng_uniform_int(f->rng, (unsigned long)axis->name_count - 1);
    return gsl_rng_uniform(f->rng) < 0.3 ? odd[gsl_rng_uniform_int(f->rng, 6)]
                                         : draw_int(f, 1, 1e9);
}

/* A point of the space, of which some values may be others. */
static void draw_tiling(struct fixture *f, struct tiling *tiling)
{
    space_tiling(&f->space, (int64_t)(gsl_rng_uniform(f->rng) * (double)f->space.candidates),
                 tiling);
    if (gsl_rng_uniform(f->rng) < 0.5)
        return;
    for (int a = 0; a < f->space.axis_count; a++)
        if (gsl_rng_uniform(f->rng) < 0.4)
            tiling->value[a] = draw_value(f, &f->space.axes[a]);
}

static void expect_reasons(const struct violation *list, int count)
{
    cr_assert_leq(count, MAX_VIOLATIONS);
    for (int v = 0; v < count; v++) {
        cr_assert(list[v].text[0] && list[v].limit[0]);
        cr_assert_lt(strlen(list[v].text), sizeof list[v].text - 1, "cut short: %s", list[v].text);
    }
}

static bool sane(double value)
{
    return value >= 0 && value < 1e30;
}

static void expect_work(struct fixture *f, const struct tiling *tiling)
{
    struct host_work work;
    f->space.kind->ask(&f->space, tiling, &work);
    cr_assert(work.phase_count >= 1 && work.phase_count <= HOST_MAX_PHASES);
    cr_assert(work.threads >= 1 && work.threads <= f->host.threads);
    cr_assert_eq(work.threads, f->space.kind->cores_used(&f->space, tiling, 0));
    for (int p = 0; p < work.phase_count; p++) {
        const struct host_phase *phase = &work.phases[p];
        cr_assert(phase->loop >= -1 && phase->loop < f->host.loop_count);
        cr_assert(sane(phase->calls) && sane(phase->steps) && sane(phase->stream_bytes));
        for (int l = 0; l < f->host.level_count; l++)
            cr_assert(sane(phase->read_bytes[l]) && sane(phase->write_bytes[l]));
    }
    double ns = host_time_ns(&f->host, &work), roofline = f->space.kind->roofline_ns(&f->space);
    cr_assert(ns > 0 && sane(ns));
    cr_assert(sane(roofline));
    cr_assert_leq(roofline, ns * (1 + 1e-9), "%s: roofline %g ns, time %g ns", f->problem.op->name,
                  roofline, ns);
}

static void expect_tilings(struct fixture *f)
{
    for (int i = 0; i < TILINGS; i++) {
        struct tiling tiling;
        struct violation list[MAX_VIOLATIONS];
        draw_tiling(f, &tiling);
        int count = f->space.kind->violations(&f->space, &tiling, list);
        expect_reasons(list, count);
        if (space_index(&f->space, &tiling) >= 0 && f->space.kind->legal(&f->space, &tiling)) {
            cr_assert_eq(count, 0, "%s", list[0].text);
            expect_work(f, &tiling);
        }
    }
}

static void expect_refusal(struct fixture *f)
{
    const struct host_runner *runner = f->problem.op->runner;
    double bytes = 4;
    struct error error;
    void *opened = NULL;
    for (int i = 0; i < 3; i++)
        bytes *= (double)f->problem.size[i];
    if (!runner || bytes < 1e18)
        return;
    /* Three sizes of 2^20 at least: some pair of them is an operand of TiBs. */
    for (int i = 0; i < 3; i++)
        if (f->problem.size[i] < 100000)
            return;
    cr_assert_eq(runner->open(&f->space, 1, &opened, &error), STATUS_NO_MEMORY);
    cr_assert(strstr(error.text, "are available"), "%s", error.text);
    cr_assert_null(opened);
}

Test(host_spaces, what_is_asked_is_finite_and_what_is_refused_has_a_reason)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int seed = 0; seed < test_cases(SEEDS) + 5; seed++)
        for (int o = 0; operators[o]; o++) {
            struct error error;
            const struct operator_space *kind = host_space(operators[o]);
            if (!kind)
                continue;
            gsl_rng_set(f->rng, (unsigned long)seed * 10 + (unsigned long)o);
            draw_machine(f);
            draw_problem(f, operators[o]);
            cr_assert_eq(space_open(&f->problem, kind, &f->hw, f->host.threads, &f->space, &error),
                         STATUS_OK, "%s", error.text);
            expect_tilings(f);
            expect_refusal(f);
            space_close(&f->space);
        }
    gsl_rng_free(f->rng);
    free(f);
}

/* A processor whose computing, or whose moving, takes no time: 2 bytes a ns from anywhere. */
static void simplify_machine(struct fixture *f, double step_ns)
{
    struct host *host = &f->host;
    for (int l = 0; l < host->level_count; l++) {
        struct host_level *level = &host->levels[l];
        if (level->capacity_bytes)
            level->capacity_bytes = INT64_C(1024) << l;
        level->read_gbps = level->write_gbps = level->stream_gbps = step_ns > 0 ? 1e6 : 2;
    }
    for (int l = 0; l < host->loop_count; l++)
        host->loops[l].step_ns = step_ns;
    host->threads = 1;
    host->isa = HOST_AVX2;
}

static double roofline_of(struct fixture *f, const char *op, const char *shape, int64_t extra)
{
    struct error error;
    const struct operator* found = operator_find(op);
    cr_assert_eq(problem_parse(found, shape, &f->problem, &error), STATUS_OK);
    f->problem.type = DTYPE_F32;
    f->problem.size[found->shape_sizes] = extra;
    cr_assert_eq(
        space_open(&f->problem, host_space(found), &f->hw, f->host.threads, &f->space, &error),
        STATUS_OK, "%s", error.text);
    double ns = f->space.kind->roofline_ns(&f->space);
    space_close(&f->space);
    return ns;
}

Test(host_spaces, rooflines_are_those_of_computing_and_of_moving)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    draw_machine(f);
    simplify_machine(f, 0);
    cr_expect_float_eq(roofline_of(f, "matmul", "4000x2000x1000", 1),
                       (4 * 4e6 + 4 * 8e6 + 4 * 2e6) / 2, 1);
    cr_expect_float_eq(roofline_of(f, "knn", "4000x1000x2000", 10),
                       (4 * 4e6 + 4 * 2e6 + 8 * 4e4) / 2, 1);
    simplify_machine(
        f, 0.5); /* 28 vectors a step: 28x1, 14x2; k-NN has one row a step, 8 vectors wide */
    cr_expect_float_eq(roofline_of(f, "matmul", "4000x2000x1000", 1), 8e9 * 0.5 / (28 * 8), 1);
    cr_expect_float_eq(roofline_of(f, "knn", "4000x1000x2000", 10), 8e9 * 0.5 / (8 * 8), 1);
    gsl_rng_free(f->rng);
    free(f);
}

/* The largest products that are accepted: 2^31 - 1 by 2^18. */
Test(host_spaces, operands_of_pebibytes_are_refused_before_they_are_taken)
{
    static const struct {
        const char *op, *shape, *needed;
    } cases[] = {
        {"matmul", "2147483647x1x400000", "PiB"},
        {"knn", "2147483647x400000x1", "PiB"},
        {"cubefx", "2147483648", "TiB"},
    };
    struct fixture *f = calloc(1, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    draw_machine(f);
    f->host.isa = host_isa_best(); /* what it opens runs here */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct operator* op = operator_find(cases[i].op);
        struct error error;
        void *opened = NULL;
        if (!op)
            continue;
        cr_assert_eq(problem_parse(op, cases[i].shape, &f->problem, &error), STATUS_OK);
        f->problem.type = DTYPE_F32;
        for (int s = op->shape_sizes; s < op->size_count; s++)
            f->problem.size[s] = strcmp(op->size_names[s], "functions") == 0 ? 2500 : 1;
        cr_assert_eq(problem_settle(&f->problem, &error), STATUS_OK, "%s", error.text);
        cr_assert_eq(
            space_open(&f->problem, host_space(op), &f->hw, f->host.threads, &f->space, &error),
            STATUS_OK, "%s", error.text);
        cr_assert_eq(op->runner->open(&f->space, 1, &opened, &error), STATUS_NO_MEMORY, "%s: %s",
                     cases[i].op, error.text);
        cr_assert(strstr(error.text, cases[i].needed), "%s", error.text);
        cr_assert_null(opened);
        space_close(&f->space);
    }
    gsl_rng_free(f->rng);
    free(f);
}

Test(host_spaces, memory_is_counted_in_what_people_read)
{
    struct error error;
    cr_assert_eq(memory_require("tables", 0, &error), STATUS_OK);
    cr_assert_eq(memory_require("tables", INFINITY, &error), STATUS_NO_MEMORY);
    cr_assert_eq(memory_require("tables", 1e18, &error), STATUS_NO_MEMORY);
    cr_assert(strstr(error.text, "tables need 888 PiB, "), "%s", error.text);
    cr_assert_gt(memory_available(), 1e6);
}
