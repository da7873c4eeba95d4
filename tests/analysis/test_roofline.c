/* Components of small programs, against counts by hand. */
#include "analysis/roofline.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <string.h>

struct bench {
    struct hardware hw;
    struct program program;
    struct timeline timeline;
    struct diagnosis diagnosis;
};

static struct bench bench;

static void leave(void)
{
    program_clear(&bench.program);
    hardware_clear(&bench.hw);
}

TestSuite(roofline, .fini = leave);

static struct diagnosis *analyse(const char *chip, const char *overrides, int cores,
                                 const char *text)
{
    struct error error;
    struct simulate_options how = {.cores = cores};
    struct simulator *simulator = simulator_new();
    machine_load_named(&bench.hw, chip, overrides);
    cr_assert_eq(program_parse(&bench.hw, "test", text, strlen(text), &bench.program, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(simulate(simulator, &bench.program, &how, &bench.timeline, &error), STATUS_OK,
                 "%s", error.text);
    simulator_free(simulator);
    memset(&bench.diagnosis, 0xa5, sizeof bench.diagnosis);
    diagnosis_of_program(&bench.program, &bench.timeline, cores, &bench.diagnosis);
    diagnose(&bench.diagnosis, &diagnosis_default_thresholds);
    return &bench.diagnosis;
}

static int index_of(const struct diagnosis *d, const char *name)
{
    for (int c = 0; c < d->component_count; c++)
        if (strcmp(d->components[c].name, name) == 0)
            return c;
    cr_assert_fail("no component %s", name);
    return -1;
}

static const struct component *find(const struct diagnosis *d, const char *name)
{
    return &d->components[index_of(d, name)];
}

static void expect_part(const struct component *c, int part, const char *name, double amount,
                        double peak_per_ns)
{
    cr_assert_lt(part, c->part_count, "%s", c->name);
    cr_assert_str_eq(c->parts[part].name, name);
    cr_assert_float_eq(c->parts[part].amount, amount, 1e-9 * amount, "%s: %g", name,
                       c->parts[part].amount);
    cr_assert_float_eq(c->parts[part].peak_per_ns, peak_per_ns, 1e-9 * peak_per_ns, "%s: %.12g",
                       name, c->parts[part].peak_per_ns);
}

static void expect_near(double found, double expected)
{
    cr_assert_float_eq(found, expected, 1e-9 * (expected > 1 ? expected : 1),
                       "%.12g, expected %.12g", found, expected);
}

/* Each pipe of the Ascend 310 once: 2 cores, T includes the launch. */
Test(roofline, components_of_the_310)
{
    const struct diagnosis *d = analyse("ascend310", "", 2,
                                        "MTE2 gm->l1 bytes=4096\n"
                                        "MTE1 l1->l0a bytes=2048\n"
                                        "MTE1 l1->l0b bytes=1024\n"
                                        "M mmad m=17 k=16 n=16 type=f16\n"
                                        "V l0c->ub bytes=4096\n"
                                        "V relu elements=256 type=f16\n"
                                        "V relu elements=64 type=f32\n"
                                        "MTE3 ub->gm bytes=512\n"
                                        "S branch count=3\n");
    static const struct {
        const char *name;
        enum component_kind kind;
        int parts;
    } expected[] = {
        {"Cube", COMPONENT_COMPUTE, 1},
        {"Vector", COMPONENT_COMPUTE, 3},
        {"MTE-L1", COMPONENT_TRANSFER, 2},
        {"MTE-GM", COMPONENT_TRANSFER, 1},
        {"MTE-UB", COMPONENT_TRANSFER, 1},
        {"Scalar", COMPONENT_COMPUTE, 1},
        {"interconnect", COMPONENT_INTERCONNECT, 2},
    };
    cr_assert_eq(d->component_count, 7);
    for (int c = 0; c < 7; c++) {
        cr_assert_str_eq(d->components[c].name, expected[c].name);
        cr_assert_eq(d->components[c].kind, expected[c].kind, "%s", expected[c].name);
        cr_assert_eq(d->components[c].part_count, expected[c].parts, "%s", expected[c].name);
        cr_assert_eq(d->components[c].matrix, c == 0);
    }
    expect_near(d->time_ns, (double)bench.timeline.end_fs / 1e6);
    expect_near(d->launch_ns, 2050);
    cr_assert_eq(d->name[0], 0);
}

/* Two blocks, one of them for a single row: operations of whole blocks at the block's rate. */
Test(roofline, matrix_work)
{
    const struct component *cube =
        find(analyse("ascend310", "", 1, "M mmad m=17 k=16 n=16 type=f16\n"), "Cube");
    double block_ns = 7936 / 5390.32;
    expect_part(cube, 0, "f16", 2 * 8192, 8192 / block_ns);
    expect_near(cube->ideal_ns, 2 * block_ns);
    cr_assert_float_eq(cube->busy_ns, 40 + 2 * block_ns, 1e-6); /* whole femtoseconds */
    cr_assert_float_eq(cube->efficiency, 2 * block_ns / (40 + 2 * block_ns), 1e-7);
}

/* Elements against repeats of 256 bytes at their further price, 1 cycle, whatever the first one
 * costs; types and operations apart. */
Test(roofline, vector_work)
{
    const struct component *vector = find(analyse("ascend310", "", 1,
                                                  "loop 3\n"
                                                  "V relu elements=256 type=f16\n"
                                                  "end\n"
                                                  "V relu elements=16 type=f32\n"
                                                  "V vadd elements=128 type=f16\n"),
                                          "Vector");
    double cycle_ns = 1 / 0.68;
    cr_assert_eq(vector->part_count, 3);
    expect_part(vector, 0, "relu f16", 768, 128 / cycle_ns);
    expect_part(vector, 1, "relu f32", 16, 64 / cycle_ns);
    expect_part(vector, 2, "vadd f16", 128, 128 / (2 * cycle_ns));
    double repeats = 6 + 0.25 + 2;
    cr_assert_float_eq(vector->ideal_ns, repeats * cycle_ns, 1e-6);
}

/* Where a first repeat is the cheaper one, it sets the peak: nothing is more than 100 % efficient.
 * On the 910B1 the first of reduceMax costs 6.9 cycles, a further one 7. */
Test(roofline, cheap_first_repeats)
{
    const struct component *vector =
        find(analyse("ascend910b1", "operations.reduceMax.first_ns=3.72973", 1,
                     "V reduceMax elements=128 type=f16\n"),
             "Vector");
    expect_part(vector, 0, "reduceMax f16", 128, 128 / 3.72973);
    expect_near(vector->efficiency, 1);
}

Test(roofline, scalar_work)
{
    const struct component *scalar =
        find(analyse("ascend310", "", 1, "S branch count=3\nS assign count=2\nS branch count=1\n"),
             "Scalar");
    expect_part(scalar, 0, "branch", 4, 1 / 61.4);
    expect_part(scalar, 1, "assign", 2, 1 / 39.0);
    expect_near(scalar->ideal_ns, 4 * 61.4 + 2 * 39);
    expect_near(scalar->efficiency, 1);
}

/* Bandwidth alone: neither issue nor what a bus takes. */
Test(roofline, moves)
{
    const struct component *gm = find(analyse("ascend310", "", 1,
                                              "MTE2 gm->l1 bytes=2800\n"
                                              "MTE2 gm->ub bytes=1400\n"
                                              "MTE2 gm->l1 bytes=0\n"),
                                      "MTE-GM");
    expect_part(gm, 0, "gm->l1", 2800, 28);
    expect_part(gm, 1, "gm->ub", 1400, 28);
    expect_near(gm->ideal_ns, 150);
    expect_near(gm->busy_ns, 270);
    cr_assert(gm->parts[0].bytes && gm->parts[1].bytes);
    cr_assert_eq(gm->waiting_ns, 0);
}

/* What leaves L0C through the vector unit is the unit's work, at the path's bandwidth. */
Test(roofline, moves_of_the_vector_unit)
{
    const struct component *vector = find(
        analyse("ascend310", "", 1, "V l0c->ub bytes=17404\nV l0c->ub bytes=17408 cast=f32:f16\n"),
        "Vector");
    expect_part(vector, 0, "l0c->ub", 17404, 174.06);
    expect_part(vector, 1, "l0c->ub f32:f16", 17408, 174.09);
    cr_assert(vector->parts[0].bytes);
    expect_near(vector->ideal_ns, 17404 / 174.06 + 17408 / 174.09);
}

/* A conversion that is slower does not lower the peak, and is no path of its own. */
Test(roofline, slow_conversions_are_inefficient)
{
    const struct component *vector =
        find(analyse("ascend310", "paths.l0c->ub.casts.f32:f16.bandwidth_gbps=87.03", 1,
                     "V l0c->ub bytes=17408 cast=f32:f16\n"),
             "Vector");
    cr_assert_eq(vector->part_count, 1);
    expect_part(vector, 0, "l0c->ub", 17408, 174.06);
    cr_assert_float_eq(vector->efficiency, 17408 / 174.06 / (40 + 17408 / 87.03), 1e-7);
}

Test(roofline, slow_transposition_is_inefficient)
{
    const struct component *mte1 = find(analyse("ascend910b1", "", 1,
                                                "MTE1 l1->l0a bytes=47360\n"
                                                "MTE1 l1->l0a bytes=47360 transpose=1\n"),
                                        "MTE-L1");
    cr_assert_eq(mte1->part_count, 1);
    expect_part(mte1, 0, "l1->l0a", 94720, 473.6);
    cr_assert_float_eq(mte1->ideal_ns, 200, 1e-9);
    cr_assert_gt(mte1->busy_ns, 207);
}

/* Split chips: FIXP, and two engines out of global memory; what misses the cache is a path. */
Test(roofline, components_of_split_chips)
{
    const struct diagnosis *d = analyse("ascend910b1", "", 24,
                                        "MTE2 gm->l1 bytes=4096\n"
                                        "MTE2 hbm->l1 bytes=1024\n"
                                        "VMTE2 gm->ub bytes=4096\n"
                                        "FIXP l0c->gm bytes=4312 cast=f32:f16\n"
                                        "FIXP l0c->gm bytes=2156\n"
                                        "MTE3 ub->gm bytes=4096\n");
    const struct component *gm = find(d, "MTE-GM");
    expect_part(gm, 0, "gm->l1", 4096, 307.8);
    expect_part(gm, 1, "hbm->l1", 1024, 76.2);
    expect_part(find(d, "MTE-GM (Vector)"), 0, "gm->ub", 4096, 203.5);
    expect_part(find(d, "FIXP"), 0, "l0c->gm f32:f16", 4312, 431.2);
    expect_part(find(d, "FIXP"), 1, "l0c->gm", 2156, 215.6);
    cr_assert_eq(find(d, "FIXP")->kind, COMPONENT_TRANSFER);
    expect_part(find(d, "MTE-UB"), 0, "ub->gm", 4096, 118.4);
    expect_part(find(d, "l2"), 0, "gm->l1", 24 * 4096, 5000);
    expect_part(find(d, "l2"), 1, "gm->ub", 48 * 4096, 5000); /* both vector cores */
    expect_part(find(d, "hbm"), 0, "hbm->l1", 24 * 1024, 1800);
    expect_part(find(d, "write"), 0, "l0c->gm", 24 * 6468, 8914.1);
    cr_assert_eq(d->component_count, 7);
    expect_near(d->launch_ns, 617.69 + 24 * 31.511);
}

/* A bus: what all cores move, at its largest total. Two transfers get 18 GB/s each of the 36. */
Test(roofline, bus_of_two_cores)
{
    const struct diagnosis *d =
        analyse("ascend310", "launch_ns=0 issue_ns=0", 2, "MTE2 gm->l1 bytes=18000\n");
    const struct component *gm = find(d, "MTE-GM"), *bus = find(d, "interconnect");
    expect_part(bus, 0, "gm->l1", 36000, 42);
    expect_near(bus->ideal_ns, 36000.0 / 42);
    expect_near(bus->busy_ns, 1000);
    expect_near(gm->utilisation, 18.0 / 28);
    expect_near(gm->waiting_ns, 1000 - 18000 / 28.0);
    cr_assert_str_eq(d->components[gm->waits_for].name, "interconnect");
    cr_assert_eq(d->verdict, VERDICT_TRANSFER_BOUND);
    cr_assert_str_eq(d->components[d->component].name, "interconnect");
}

/* The engine is active all the time, and slow for nothing but its share of a bus that is used to
 * three quarters of what more transfers would get: no inefficient engine. */
Test(roofline, bus_below_its_threshold)
{
    const char *busy = "MTE2 gm->l1 bytes=18000\nM mmad m=16 k=16 n=16 type=f16\n";
    const struct diagnosis *d =
        analyse("ascend310", "launch_ns=0 issue_ns=0 buses.interconnect.total_gbps.4=50", 2, busy);
    cr_assert_lt(find(d, "interconnect")->utilisation, 0.8);
    cr_assert_lt(find(d, "MTE-GM")->utilisation, 0.8);
    cr_assert_eq(d->verdict, VERDICT_TRANSFER_BOUND);
    cr_assert_str_eq(d->components[d->component].name, "interconnect");
}

/* Tang 2024, Fig. 2.2 (A): load and store by turns, which a second flow would make 1.29 times as
 * fast. The bus is used to 28 of 42, more than the threshold of operators without matrix work. */
Test(roofline, one_transfer_after_the_other)
{
    const struct diagnosis *d = analyse("ascend310", "", 1,
                                        "loop 20\n"
                                        "MTE2 gm->l1 bytes=245760\n"
                                        "set MTE2 MTE3 0\nwait MTE2 MTE3 0\n"
                                        "MTE3 ub->gm bytes=245760\n"
                                        "set MTE3 MTE2 0\nwait MTE3 MTE2 0\n"
                                        "end\n");
    cr_assert_gt(find(d, "interconnect")->utilisation, 0.65);
    cr_assert_eq(d->verdict, VERDICT_INSUFFICIENT_PARALLELISM);
    cr_assert_eq(find(d, "MTE-GM")->waiting_ns, 0);
}

/* The same engine with a core to itself, and small pieces. */
Test(roofline, small_moves_are_inefficient)
{
    const struct diagnosis *d = analyse("ascend310", "launch_ns=0", 1,
                                        "M mmad m=16 k=16 n=16 type=f16\n"
                                        "loop 100\nMTE2 gm->l1 bytes=256\nend\n");
    cr_assert_eq(d->verdict, VERDICT_INEFFICIENT_TRANSFER);
    cr_assert_str_eq(d->components[d->component].name, "MTE-GM");
}

/* The AvgPool of Zhou et al. 2025: many short vector instructions. One with the same work is the
 * cure. */
Test(roofline, short_vector_instructions_are_inefficient)
{
    const struct diagnosis *d =
        analyse("ascend310", "", 1, "loop 1000\nV vadd elements=128 type=f16\nend\n");
    cr_assert_eq(d->verdict, VERDICT_INEFFICIENT_COMPUTE);
    leave();
    d = analyse("ascend310", "", 1, "V vadd elements=12800000 type=f16\n");
    cr_assert_eq(d->verdict, VERDICT_COMPUTE_BOUND);
    cr_assert_str_eq(d->components[d->component].name, "Vector");
}

/* Zhou et al. 2025, Fig. 3a, as a program: A is twice B, and MTE2 brings both. */
Test(roofline, naive_reading_of_two_paths)
{
    const struct diagnosis *d = analyse("ascend310", "launch_ns=0 issue_ns=0", 1,
                                        "M mmad m=16 k=16 n=16 type=f16\n"
                                        "MTE2 gm->l0a bytes=32768\n"
                                        "MTE2 gm->l0b bytes=16384\n");
    const struct component *gm = find(d, "MTE-GM");
    expect_near(gm->utilisation, 1);
    cr_assert_eq(d->verdict, VERDICT_TRANSFER_BOUND);
    cr_assert_eq(d->component, index_of(d, "MTE-GM"));
    cr_assert_eq(d->naive.verdict, VERDICT_NONE);
    cr_assert_str_eq(d->components[d->naive.component].parts[d->naive.part].name, "gm->l0a");
    cr_assert_float_eq(d->naive.utilisation, 2.0 / 3, 1e-9);
    cr_assert_float_eq(component_part_ns(&gm->parts[1]) / d->time_ns, 1.0 / 3, 1e-9);
}

/* Zhou et al. 2025, Fig. 3b, as a program: equal products in f16 and, twice as fast, in i8. */
Test(roofline, naive_reading_of_two_types)
{
    const struct diagnosis *d =
        analyse("ascend910b1",
                "launch_ns=0 launch_core_ns=0 issue_ns=0 matrix.f16.issue_ns=0 "
                "matrix.f16.latency_ns=0",
                1,
                "M mmad m=128 k=128 n=128 type=f16\n"
                "M mmad m=128 k=128 n=128 type=i8\n");
    const struct component *cube = find(d, "Cube");
    cr_assert_eq(cube->parts[0].amount, cube->parts[1].amount);
    cr_assert_float_eq(cube->utilisation, 1, 1e-6);
    cr_assert_eq(d->verdict, VERDICT_COMPUTE_BOUND);
    cr_assert_eq(d->naive.verdict, VERDICT_NONE);
    cr_assert_str_eq(cube->parts[d->naive.part].name, "f16");
    cr_assert_float_eq(d->naive.utilisation, 2.0 / 3, 1e-6);
}

/* Loops multiply, and bodies that never run are not there. */
Test(roofline, loops)
{
    const struct diagnosis *d = analyse("ascend310", "", 1,
                                        "loop 4\nloop 5\nMTE1 l1->l0a bytes=7\nend\n"
                                        "MTE1 l1->l0b bytes=11\nend\n"
                                        "loop 0\nMTE2 gm->l1 bytes=9\nend\n"
                                        "loop 1000000000\nloop 1000000000\nloop 1000000000\n"
                                        "end\nend\nend\n");
    cr_assert_eq(d->component_count, 1);
    expect_part(&d->components[0], 0, "l1->l0a", 140, 347.99);
    expect_part(&d->components[0], 1, "l1->l0b", 44, 174.37);
}

Test(roofline, deadlock_is_a_note)
{
    const struct diagnosis *d =
        analyse("ascend310", "", 1, "MTE2 gm->l1 bytes=64\nwait MTE2 MTE1 3\n");
    cr_assert_eq(d->verdict, VERDICT_NONE);
    cr_assert_eq(d->component, -1);
    cr_assert_lt(d->time_ns, 0);
    cr_assert_lt(d->components[0].busy_ns, 0);
    cr_assert_str_eq(d->note, "deadlock: line 2: pipe MTE1 waits for ever in 'wait MTE2 MTE1 3'");
}

Test(roofline, nothing_to_do)
{
    const struct diagnosis *d = analyse("ascend310", "", 1, "set MTE2 MTE1 0\nwait MTE2 MTE1 0\n");
    cr_assert_eq(d->component_count, 0);
    cr_assert_eq(d->verdict, VERDICT_NONE);
    cr_assert_str_eq(d->note, "the program has nothing to do");
    expect_near(d->time_ns, 2050);
}

Test(roofline, launch_is_part_of_the_time)
{
    const struct diagnosis *d = analyse("ascend310", "", 1, "MTE2 gm->l1 bytes=28000\n");
    expect_near(d->time_ns, 2050 + 40 + 1000);
    expect_near(d->components[0].utilisation, 1000 / 3090.0);
    cr_assert_eq(d->verdict, VERDICT_INSUFFICIENT_PARALLELISM);
    cr_assert(strstr(d->note, "66 % of the time"), "%s", d->note);
    leave();
    d = analyse("ascend310", "", 1, "MTE2 gm->l1 bytes=2800000\n");
    cr_assert_str_eq(d->note, "");
}

/* More kinds of work than parts: the last part takes the rest, and nothing is lost. */
Test(roofline, many_parts)
{
    static const char *const operations[] = {"relu", "vadd", "vsub", "vmul",
                                             "vmax", "vmin", "exp",  "ln"};
    static const char *const types[] = {"f16", "f32", "i16", "i32"};
    char text[4096] = "";
    for (int i = 0; i < 32; i++)
        sprintf(text + strlen(text), "V %s elements=64 type=%s\n", operations[i % 8], types[i / 8]);
    const struct component *vector = find(analyse("ascend310", "", 1, text), "Vector");
    double amount = 0, ideal_ns = 0;
    cr_assert_eq(vector->part_count, COMPONENT_MAX_PARTS);
    cr_assert_str_eq(vector->parts[COMPONENT_MAX_PARTS - 1].name, "others");
    for (int p = 0; p < vector->part_count; p++) {
        amount += vector->parts[p].amount;
        ideal_ns += component_part_ns(&vector->parts[p]);
    }
    expect_near(amount, 32 * 64);
    expect_near(ideal_ns, vector->ideal_ns);
    /* half a repeat of two bytes and a whole one of four; relu 1 cycle, the others 2 */
    cr_assert_float_eq(vector->ideal_ns, (0.5 + 1) * 2 * (1 + 7 * 2) / 0.68, 1e-6);
}

static const char all_seven[] = "MTE2 gm->l1 bytes=2048\n"
                                "MTE1 l1->l0a bytes=1024\n"
                                "M mmad m=16 k=16 n=16 type=f16\n"
                                "V l0c->ub bytes=4096\n"
                                "V relu elements=128 type=f16\n"
                                "MTE3 ub->gm bytes=512\n"
                                "S branch count=3\n";

Test(roofline, seven_pairs)
{
    static const char *const expected[][2] = {
        {"Cube", "MTE-L1"},   {"Cube", "MTE-GM"},   {"Cube", "MTE-UB"},  {"Vector", "MTE-GM"},
        {"Vector", "MTE-UB"}, {"Scalar", "MTE-GM"}, {"Scalar", "MTE-UB"}};
    const struct diagnosis *d = analyse("ascend310", "", 1, all_seven);
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    cr_assert_eq(diagnosis_pairs(d, pairs), 7);
    for (int p = 0; p < 7; p++) {
        const struct component *unit = &d->components[pairs[p].compute];
        const struct component *engine = &d->components[pairs[p].transfer];
        cr_assert_str_eq(unit->name, expected[p][0]);
        cr_assert_str_eq(engine->name, expected[p][1]);
        expect_near(pairs[p].attained_per_ns / pairs[p].ideal_per_ns, unit->utilisation);
        expect_near(pairs[p].attained_bytes_per_ns / pairs[p].ideal_bytes_per_ns,
                    engine->utilisation);
        expect_near(pairs[p].intensity * pairs[p].attained_bytes_per_ns, pairs[p].attained_per_ns);
    }
    expect_near(pairs[0].intensity, 8192 / 1024.0);
    expect_near(pairs[3].intensity, 128 / 2048.0); /* elements; L0C's bytes are none */
    expect_near(pairs[1].ideal_bytes_per_ns, 28);
}

Test(roofline, pairs_need_work_on_both_sides)
{
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    cr_assert_eq(diagnosis_pairs(analyse("ascend310", "", 1, "MTE2 gm->l1 bytes=2048\n"), pairs),
                 0);
    leave();
    cr_assert_eq(diagnosis_pairs(analyse("ascend310", "", 1,
                                         "MTE2 gm->l1 bytes=0\nV relu elements=128 type=f16\n"
                                         "MTE3 ub->gm bytes=64\n"),
                                 pairs),
                 1);
}

Test(roofline, pairs_of_split_chips)
{
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    const struct diagnosis *d = analyse("ascend910b1", "", 1,
                                        "MTE2 gm->l1 bytes=4096\n"
                                        "VMTE2 gm->ub bytes=4096\n"
                                        "M mmad m=16 k=16 n=16 type=f16\n"
                                        "FIXP l0c->gm bytes=4096\n"
                                        "MTE3 ub->gm bytes=4096\n"
                                        "V relu elements=128 type=f16\n");
    int count = diagnosis_pairs(d, pairs);
    for (int p = 0; p < count; p++) {
        const char *unit = d->components[pairs[p].compute].name;
        const char *engine = d->components[pairs[p].transfer].name;
        bool other = strcmp(engine, "MTE-GM (Vector)") == 0 || strcmp(engine, "MTE-UB") == 0;
        cr_assert_eq(strcmp(unit, "Vector") == 0, other, "%s, %s", unit, engine);
    }
    cr_assert_eq(count, 4);
}

Test(roofline, names_of_pipes)
{
    static const char *const names[][2] = {{"M", "Cube"},      {"V", "Vector"},
                                           {"S", "Scalar"},    {"MTE1", "MTE-L1"},
                                           {"MTE2", "MTE-GM"}, {"MTE3", "MTE-UB"}};
    machine_load(&bench.hw, "");
    for (int i = 0; i < 6; i++)
        cr_assert_str_eq(component_name(&bench.hw, hardware_pipe(&bench.hw, names[i][0],
                                                                 (int)strlen(names[i][0]))),
                         names[i][1]);
    strcpy(bench.hw.pipes[0].name, "mte2");
    strcpy(bench.hw.pipes[1].name, "DMA7");
    bench.hw.matrix_pipe = -1;
    cr_assert_str_eq(component_name(&bench.hw, 0), "MTE-GM");
    cr_assert_str_eq(component_name(&bench.hw, 1), "DMA7");
}
