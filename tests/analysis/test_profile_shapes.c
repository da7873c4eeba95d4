/* What the shapes of a profiler's row give: against counts by hand, and against the simulator. */
#include "analysis/profile/analyse.h"
#include "analysis/roofline.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct hardware hw;
static struct diagnosis diagnosis;

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(profile_shapes, .fini = leave);

/* A row of 100 us on the only kind of cores, of which Vector, MTE-GM and MTE-UB are busy for all.
 */
static struct profile_row row_of(const char *type, const char *in, const char *in_types,
                                 const char *out, const char *out_types)
{
    struct profile_row row;
    profile_row_clear(&row);
    row.duration_us = 110;
    row.blocks = 1;
    row.core_us[SIDE_CUBE] = 100;
    snprintf(row.name, sizeof row.name, "row");
    snprintf(row.type, sizeof row.type, "%s", type);
    row.texts[SLOT_INPUT_SHAPES] = in;
    row.texts[SLOT_INPUT_TYPES] = in_types;
    row.texts[SLOT_OUTPUT_SHAPES] = out;
    row.texts[SLOT_OUTPUT_TYPES] = out_types;
    row.busy_us[SIDE_CUBE][UNIT_VECTOR] = 100;
    row.busy_us[SIDE_CUBE][UNIT_MTE2] = row.busy_us[SIDE_CUBE][UNIT_MTE3] = 100;
    row.busy_us[SIDE_CUBE][UNIT_SCALAR] = row.busy_us[SIDE_CUBE][UNIT_MTE1] = 10;
    return row;
}

/* The same on vector cores of their own. */
static void move_to_vector_cores(struct profile_row *row)
{
    row->core_us[SIDE_VECTOR] = row->core_us[SIDE_CUBE];
    row->core_us[SIDE_CUBE] = -1;
    for (int unit = 0; unit < PROFILE_UNITS; unit++) {
        row->busy_us[SIDE_VECTOR][unit] = row->busy_us[SIDE_CUBE][unit];
        row->busy_us[SIDE_CUBE][unit] = -1;
    }
}

static int analyse(const char *chip, const struct profile_row *row)
{
    struct analyse_options how = {&hw, diagnosis_default_thresholds};
    hardware_clear(&hw);
    machine_load_named(&hw, chip, "");
    return analyse_row(row, &how, &diagnosis);
}

static const struct component *find(const char *name)
{
    for (int c = 0; c < diagnosis.component_count; c++)
        if (strcmp(diagnosis.components[c].name, name) == 0)
            return &diagnosis.components[c];
    return NULL;
}

#define EXPECT_NEAR(value, expected)                                                               \
    cr_expect_float_eq(value, expected, 1e-9 * fabs(expected) + 1e-15, "%.12g, expected %.12g",    \
                       value, (double)(expected))

static void expect_exact(const char *name, double utilisation)
{
    const struct component *c = find(name);
    cr_assert(c, "no %s", name);
    EXPECT_NEAR(c->utilisation, utilisation);
    EXPECT_NEAR(c->utilisation_least, utilisation);
    EXPECT_NEAR(c->utilisation_most, utilisation);
}

static void expect_between(const char *name, double least, double most)
{
    const struct component *c = find(name);
    cr_assert(c, "no %s", name);
    cr_expect_eq(c->utilisation, -1, "%s: %g", name, c->utilisation);
    EXPECT_NEAR(c->utilisation_least, least);
    EXPECT_NEAR(c->utilisation_most, most);
}

static void expect_note(const char *words)
{
    cr_expect(strstr(diagnosis.note, words), "%s\nexpected %s", diagnosis.note, words);
}

static void expect_verdict(enum verdict verdict, const char *component)
{
    cr_expect_eq(diagnosis.verdict, verdict, "%s", verdict_name(diagnosis.verdict));
    cr_assert_geq(diagnosis.component, 0);
    cr_expect_str_eq(diagnosis.components[diagnosis.component].name, component);
}

/* ---- elementwise, of a chip without a cache ---- */

/* 2^18 elements: 1 MiB in and 0.5 MiB out, in 100 us; two cycles a repeat of 128 elements. */
Test(profile_shapes, add)
{
    struct profile_row row =
        row_of("Add", "512,512;512,512", "FLOAT16;FLOAT16", "512,512", "FLOAT16");
    cr_expect_eq(analyse("ascend310", &row), -1);
    expect_exact("MTE-GM", 1048576 / 28e9 * 1e4);
    expect_exact("MTE-UB", 524288 / 28e9 * 1e4);
    expect_exact("interconnect", 1572864 / 42e9 * 1e4);
    expect_exact("Vector", 262144 / 128.0 * 2 / 680e6 * 1e4);
    expect_note("bytes and operations of Vector by the shapes");
    expect_verdict(VERDICT_INEFFICIENT_COMPUTE, "Vector");
    EXPECT_NEAR(find("MTE-GM")->efficiency, find("MTE-GM")->utilisation);
    cr_expect_eq(find("interconnect")->active_ratio, -1);
}

/* What MTE-UB stores is twice what MTE-GM loads. One core leaves the bus below its limit. */
Test(profile_shapes, bound_by_what_it_stores)
{
    struct profile_row row = row_of("Cast", "1024,512", "FLOAT16", "1024,512", "DT_FLOAT");
    row.busy_us[SIDE_CUBE][UNIT_VECTOR] = 50;
    cr_expect_eq(analyse("ascend310", &row), -1);
    expect_exact("MTE-UB", 2097152 / 28e9 * 1e4);
    expect_exact("Vector", 524288 / 64.0 / 680e6 * 1e4);
    expect_verdict(VERDICT_TRANSFER_BOUND, "MTE-UB");
}

/* Two cores: each engine moves half, and the bus all of it. */
Test(profile_shapes, bound_by_the_bus)
{
    struct profile_row row =
        row_of("Mul", "1024,640;1024,640", "FLOAT16;FLOAT16", "1024,640", "FLOAT16");
    row.blocks = 2;
    cr_expect_eq(analyse("ascend310", &row), -1);
    expect_exact("MTE-GM", 2621440 / 2.0 / 28e9 * 1e4);
    expect_exact("interconnect", 3932160 / 42e9 * 1e4);
    expect_verdict(VERDICT_TRANSFER_BOUND, "interconnect");
}

/* Below that limit it depends on whether one waited for the other, which no column says. */
Test(profile_shapes, bus_that_may_have_been_waited_for)
{
    struct profile_row row =
        row_of("Mul", "1024,480;1024,480", "FLOAT16;FLOAT16", "1024,480", "FLOAT16");
    row.blocks = 2;
    row.busy_us[SIDE_CUBE][UNIT_VECTOR] = 50;
    int open = analyse("ascend310", &row);
    expect_exact("interconnect", 2949120 / 42e9 * 1e4);
    expect_verdict(VERDICT_INEFFICIENT_TRANSFER, "MTE-GM");
    cr_assert_geq(open, 0);
    cr_expect_str_eq(diagnosis.components[open].name, "interconnect");
    expect_note("interconnect bounds it if a transfer waited for it and its utilisation is 65 %");
    row.texts[SLOT_INPUT_SHAPES] = "1024,400;1024,400";
    row.texts[SLOT_OUTPUT_SHAPES] = "1024,400";
    cr_expect_eq(analyse("ascend310", &row), -1);
}

/* Where one instruction does not do, or the unit has no such type, bytes are all that is known. */
Test(profile_shapes, operations_that_are_not_known)
{
    struct profile_row row = row_of("Gelu", "4096", "DT_FLOAT16", "4096", "DT_FLOAT16");
    analyse("ascend310", &row);
    expect_exact("MTE-GM", 8192 / 28e9 * 1e4);
    expect_between("Vector", 0, 1);
    expect_note("bytes by the shapes, no operations in the file; the shapes do not say what Gelu");
    row = row_of("add", "4096;4096", "DT_BF16;DT_BF16", "4096", "DT_BF16");
    analyse("ascend310", &row);
    expect_exact("MTE-GM", 16384 / 28e9 * 1e4);
    expect_between("Vector", 0, 1);
    expect_note("Vector computes Add in other types than these");
    row = row_of("Greater", "4096;4096", "INT64;INT64", "4096", "BOOL");
    analyse("ascend310", &row);
    expect_exact("MTE-GM", 65536 / 28e9 * 1e4);
    expect_exact("MTE-UB", 4096 / 28e9 * 1e4);
}

/* A broadcast input is loaded once, or for every result, or something between. */
Test(profile_shapes, broadcast)
{
    struct profile_row row =
        row_of("Add", "64,1,256;32,1", "FLOAT16;FLOAT16", "64,32,256", "FLOAT16");
    double results = 64 * 32 * 256, least = 2 * (64 * 256 + 32), most = 2 * 2 * results;
    analyse("ascend310", &row);
    expect_between("MTE-GM", least / 28e9 * 1e4, most / 28e9 * 1e4);
    expect_exact("MTE-UB", 2 * results / 28e9 * 1e4);
    expect_between("interconnect", (least + 2 * results) / 42e9 * 1e4,
                   fmin(1, (most + 2 * results) / 42e9 * 1e4));
    expect_between("Vector", results / 128 * 2 / 680e6 * 1e4, 1);
    expect_note("an input is broadcast, and may be loaded more than once");
    row = row_of("Mul", "8,8;", "FLOAT;FLOAT", "8,8", "FLOAT");
    analyse("ascend310", &row);
    expect_between("MTE-GM", 260 / 28e9 * 1e4, 512 / 28e9 * 1e4);
}

/* `";"` are two shapes without sizes: scalars. An empty field is no shape. */
Test(profile_shapes, scalars)
{
    struct profile_row row = row_of("Add", "\";\"", "FLOAT;FLOAT", "\"\"", "FLOAT");
    analyse("ascend310", &row);
    expect_exact("MTE-GM", 8 / 28e9 * 1e4);
    expect_exact("MTE-UB", 4 / 28e9 * 1e4);
    row.texts[SLOT_OUTPUT_SHAPES] = "";
    analyse("ascend310", &row);
    expect_between("MTE-GM", 0, 1);
    expect_note("no bytes or operations in the file; shapes or data types are missing");
}

/* ---- shapes that prove nothing ---- */

Test(profile_shapes, shapes_that_do_not_help)
{
    static const struct {
        const char *type, *in, *types, *out, *out_types, *note;
    } rows[] = {
        {"Add", "4;4", "FLOAT16;FLOAT16", "4", "", "shapes or data types are missing"},
        {"Add", "4", "FLOAT16;FLOAT16", "4", "FLOAT16", "shapes or data types are missing"},
        {"Add", "4;4;4", "FLOAT16;FLOAT16;FLOAT16", "4", "FLOAT16", "are missing"},
        {"Add", "N/A", "N/A", "N/A", "N/A", "are missing"},
        {"Relu", "-4", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "4,", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", ",4", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "4 4", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "0x4", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "4e1", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "1000000001", "FLOAT16", "1000000001", "FLOAT16", "are missing"},
        {"Relu", "99999999999999999999999999", "FLOAT16", "1", "FLOAT16", "are missing"},
        {"Relu", "1,1,1,1,1,1,1,1,4", "FLOAT16", "4", "FLOAT16", "are missing"},
        {"Relu", "4", "FLOAT16", "4", "TENSOR", "data type 'TENSOR' is not known"},
        {"Add", "4;4", "FLOAT16;", "4", "FLOAT16", "data type '' is not known"},
        {"Add", "4;5", "FLOAT16;FLOAT16", "4", "FLOAT16", "the shape of input 2 is neither"},
        {"Add", "4,4;4", "FLOAT16;FLOAT16", "4", "FLOAT16", "the shape of input 1 is neither"},
        {"Relu", "4,0", "FLOAT16", "4,0", "FLOAT16", "the shapes have no elements"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_row row =
            row_of(rows[i].type, rows[i].in, rows[i].types, rows[i].out, rows[i].out_types);
        analyse("ascend310", &row);
        expect_note("no bytes or operations in the file");
        expect_note(rows[i].note);
        cr_expect_null(find("interconnect"), "%zu", i);
        for (int c = 0; c < diagnosis.component_count; c++)
            cr_expect_eq(diagnosis.components[c].utilisation, -1, "%zu", i);
    }
}

/* Eight sizes of a billion, and what else cannot have been done in the time. */
Test(profile_shapes, shapes_that_do_not_fit)
{
    static const char huge[] = "1000000000,1000000000,1000000000,1000000000,1000000000,1000000000,"
                               "1000000000,1000000000";
    struct profile_row row = row_of("Relu", huge, "INT64", huge, "INT64");
    analyse("ascend310", &row);
    expect_note("shapes do not fit the time: MTE-GM at its peak would take");
    expect_between("MTE-UB", 0, 1);
    cr_expect_null(find("interconnect"));
    /* Each engine could have done it alone, both over the same bus could not. */
    row = row_of("Relu", "1024,1024", "FLOAT16", "1024,1024", "FLOAT16");
    row.blocks = 2;
    analyse("ascend310", &row);
    cr_expect_not_null(find("interconnect"));
    row = row_of("Relu", "1024,1280", "FLOAT16", "1024,1280", "FLOAT16");
    row.blocks = 2;
    analyse("ascend310", &row);
    expect_note("shapes do not fit the time: interconnect at its peak would take 124.8 us");
    cr_expect_null(find("interconnect"));
    expect_between("MTE-GM", 0, 1);
}

/* What a column is missing for says nothing about the unit, and the bus is still used. */
Test(profile_shapes, unit_without_a_column)
{
    struct profile_row row = row_of("Relu", "1024", "FLOAT16", "1024", "FLOAT16");
    row.busy_us[SIDE_CUBE][UNIT_MTE3] = -1;
    analyse("ascend310", &row);
    cr_expect_null(find("MTE-UB"));
    expect_exact("interconnect", 4096 / 42e9 * 1e4);
}

/* ---- caches, cores, clocks ---- */

/* 910B3: 228 GB/s out of the cache, 72.5 past it, 96 into it, 116 past it; the buses 5600, 7736 and
 * 1126. */
Test(profile_shapes, cache)
{
    struct profile_row row =
        row_of("Add", "512,2,4096;512,2,4096", "DT_FLOAT;DT_FLOAT", "512,2,4096", "DT_FLOAT");
    double in = 2 * 4 * 4194304.0, out = 4 * 4194304.0;
    move_to_vector_cores(&row);
    row.blocks = 40;
    analyse("ascend910b3", &row);
    expect_between("MTE-GM", in / 40 / 228e9 * 1e4, in / 40 / 72.5e9 * 1e4);
    expect_between("MTE-UB", out / 40 / 116e9 * 1e4, out / 40 / 96e9 * 1e4);
    expect_between("l2", 0, in / 5600e9 * 1e4);
    expect_between("vector", 0, (in + out) / 1126e9 * 1e4);
    expect_between("write", 0, out / 7736e9 * 1e4);
    expect_exact("Vector", 4194304.0 / 64 * 2 / 1500e6 / 40 * 1e4);
    expect_note("how much of it came out of the cache is not in the file");
}

/* What may be bound is open: the bus past the cache, if everything came from there. */
Test(profile_shapes, cache_leaves_a_bus_open)
{
    struct profile_row row = row_of("Relu", "1024,16,4096", "FLOAT16", "1024,16,4096", "FLOAT16");
    move_to_vector_cores(&row);
    row.blocks = 40;
    int open = analyse("ascend910b3", &row);
    expect_verdict(VERDICT_INEFFICIENT_COMPUTE, "Vector");
    cr_assert_geq(open, 0);
    cr_expect_str_eq(diagnosis.components[open].name, "vector");
    expect_note("vector bounds it if a transfer waited for it and its utilisation is 65 % or more");
}

/* Cycles say how fast the cores were, whatever their number; without them 30 blocks on 20 cores
 * take two turns. */
Test(profile_shapes, cores_and_clocks)
{
    struct profile_row row = row_of("Relu", "65536", "FLOAT16", "65536", "FLOAT16");
    double in = 131072;
    row.blocks = 2;
    row.cycles[SIDE_CUBE] = 2 * 100e-6 * 340e6;
    analyse("ascend310", &row);
    expect_exact("MTE-GM", in / 28e9 * 1e4); /* two cores at half the clock */
    expect_exact("interconnect", 2 * in / 42e9 * 1e4);
    row.cycles[SIDE_CUBE] = 1; /* no clock's */
    analyse("ascend310", &row);
    expect_exact("MTE-GM", in / 2 / 28e9 * 1e4);
    row.cycles[SIDE_CUBE] = -1;
    row.blocks = 3;
    analyse("ascend310", &row);
    expect_exact("MTE-GM", in / 1.5 / 28e9 * 1e4);
    row.cycles[SIDE_CUBE] = 3 * 100e-6 / 2 * 680e6; /* three blocks in two turns of 50 us */
    analyse("ascend310", &row);
    expect_exact("MTE-GM", in / 1.5 / 28e9 * 1e4);
    row.cycles[SIDE_CUBE] = -1;
    row.blocks = -1; /* all of the chip's */
    analyse("ascend310", &row);
    expect_exact("MTE-GM", in / 2 / 28e9 * 1e4);
}

/* ---- multiplications: what moved at least ---- */

Test(profile_shapes, matmul_moves_its_operands)
{
    struct profile_row row =
        row_of("MatMul", "16,4096;4096,128", "FLOAT16;FLOAT16", "16,128", "FLOAT16");
    row.busy_us[SIDE_CUBE][UNIT_CUBE] = 20;
    row.busy_us[SIDE_CUBE][UNIT_VECTOR] = row.busy_us[SIDE_CUBE][UNIT_MTE3] = 10;
    int open = analyse("ascend310", &row);
    double in = 2 * 4096 * (16 + 128.0), out = 2 * 16 * 128;
    expect_between("MTE-GM", in / 28e9 * 1e4, 1);
    expect_between("MTE-UB", out / 28e9 * 1e4, 0.1);
    expect_between("interconnect", (in + out) / 42e9 * 1e4, 110.0 * 28 / 4200);
    cr_expect_str_eq(diagnosis.components[open].name, "MTE-GM");
    expect_note("operations of Cube by the shapes; at least the bytes of each operand and result");
    /* Enough of it, and the least is more than the limit. */
    row = row_of("MatMul", "16,9000;9000,128", "FLOAT16;FLOAT16", "16,128", "FLOAT16");
    row.busy_us[SIDE_CUBE][UNIT_CUBE] = 50;
    cr_expect_eq(analyse("ascend310", &row), -1);
    expect_verdict(VERDICT_TRANSFER_BOUND, "MTE-GM");
    cr_expect_eq(find("MTE-GM")->utilisation, -1);
    /* More than could have moved: not even the operations are to be relied on. */
    row.texts[SLOT_INPUT_SHAPES] = "16,13000;13000,128";
    analyse("ascend310", &row);
    expect_note("shapes do not fit the time: MTE-GM");
    expect_between("Cube", 0, 0.5);
}

/* A batch that shares an operand loads that once at least. On split chips results leave L0C as
 * FP32, converted on the way. */
Test(profile_shapes, matmul_of_a_split_chip)
{
    struct profile_row row = row_of("BatchMatMul", "8,64,256;256,128", "DT_FLOAT16;DT_FLOAT16",
                                    "8,64,128", "DT_FLOAT16");
    row.busy_us[SIDE_CUBE][UNIT_CUBE] = 20;
    row.busy_us[SIDE_CUBE][UNIT_FIXPIPE] = 30;
    row.busy_us[SIDE_CUBE][UNIT_MTE3] = -1;
    analyse("ascend910b3", &row);
    EXPECT_NEAR(find("MTE-GM")->utilisation_least, 2 * 256 * (8 * 64 + 128) / 280e9 * 1e4);
    EXPECT_NEAR(find("FIXP")->utilisation_least, 4 * 8 * 64 * 128 / 386.8e9 * 1e4);
    cr_expect_eq(find("l2")->utilisation_least, 0);
}

/* ---- against the simulator ---- */

static void simulate_tiles(const char *operation, int inputs, int cores, int tiles, int elements,
                           struct diagnosis *simulated)
{
    struct error error;
    struct program program;
    struct timeline timeline;
    struct simulate_options how = {.cores = cores};
    struct simulator *simulator = simulator_new();
    char text[512];
    snprintf(text, sizeof text,
             "loop %d\nMTE2 gm->ub bytes=%d\nset MTE2 V 0\nwait MTE2 V 0\nV %s elements=%d\n"
             "set V MTE3 0\nwait V MTE3 0\nMTE3 ub->gm bytes=%d\nend\n",
             tiles, 2 * elements * inputs, operation, elements, 2 * elements);
    hardware_clear(&hw);
    machine_load(&hw, "");
    cr_assert_eq(program_parse(&hw, "test", text, strlen(text), &program, &error), STATUS_OK);
    cr_assert_eq(simulate(simulator, &program, &how, &timeline, &error), STATUS_OK);
    diagnosis_of_program(&program, &timeline, cores, simulated);
    diagnose(simulated, &diagnosis_default_thresholds);
    simulator_free(simulator);
    program_clear(&program);
}

static double busy_us_of(const struct diagnosis *d, const char *name)
{
    for (int c = 0; c < d->component_count; c++)
        if (strcmp(d->components[c].name, name) == 0)
            return d->components[c].busy_ns / 1e3;
    return -1;
}

/* A program in tiles, and the row that a profiler would have of it: the same utilisation of
 * everything, although one counts instructions and the other has shapes. */
static void expect_same(const char *type, const char *operation, int inputs, int cores, int tiles,
                        int elements)
{
    static struct diagnosis simulated;
    char shape[32], shapes[64];
    simulate_tiles(operation, inputs, cores, tiles, elements, &simulated);
    snprintf(shape, sizeof shape, "%d,%d,%d", cores, tiles, elements);
    snprintf(shapes, sizeof shapes, "%s%s%s", shape, inputs == 2 ? ";" : "",
             inputs == 2 ? shape : "");
    struct profile_row row =
        row_of(type, shapes, inputs == 2 ? "FLOAT16;FLOAT16" : "FLOAT16", shape, "FLOAT16");
    row.duration_us = row.core_us[SIDE_CUBE] = simulated.time_ns / 1e3;
    row.blocks = cores;
    row.busy_us[SIDE_CUBE][UNIT_VECTOR] = busy_us_of(&simulated, "Vector");
    row.busy_us[SIDE_CUBE][UNIT_MTE2] = busy_us_of(&simulated, "MTE-GM");
    row.busy_us[SIDE_CUBE][UNIT_MTE3] = busy_us_of(&simulated, "MTE-UB");
    analyse("ascend310", &row);
    cr_assert_eq(simulated.component_count, 4);
    for (int c = 0; c < simulated.component_count; c++) {
        const struct component *a = &simulated.components[c], *b = find(a->name);
        cr_assert(b, "no %s", a->name);
        EXPECT_NEAR(b->utilisation, a->utilisation);
        if (a->kind != COMPONENT_INTERCONNECT)
            EXPECT_NEAR(b->efficiency, a->efficiency);
    }
}

Test(profile_shapes, same_as_the_simulator)
{
    for (int cores = 1; cores <= 2; cores++)
        for (int tiles = 1; tiles <= 64; tiles *= 8)
            for (int elements = 16; elements <= 16384; elements = 5 * elements + 3) {
                expect_same("Add", "vadd", 2, cores, tiles, elements);
                expect_same("Maximum", "vmax", 2, cores, tiles, elements);
                expect_same("Relu", "relu", 1, cores, tiles, elements);
                expect_same("Cast", "cast", 1, cores, tiles, elements);
            }
}
