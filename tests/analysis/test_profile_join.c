/* Joined profiles against the truth: a program is simulated, what each mode would have counted of
 * it is written into a table of its own, and the joined answer has to be that of the program. */
#include "analysis/roofline.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "formats/profile_join.h"
#include "results/analysis_write.h"
#include "tests/hardware_files.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

TestSuite(profile_join, .init = enter, .fini = leave);

enum { MODES = 5 };
static const char *const names[MODES] = {"pipe.csv", "arithmetic.csv", "access.csv", "l0.csv",
                                         "l2.csv"};

struct sizes {
    int tiles, load, l0a, l0b, m, results, store; /* bytes, but for tiles and m */
};

struct chip_case {
    const char *chip;
    void (*print)(const struct sizes *sizes, char *text, size_t size);
    const char *pipe_head;
};

static struct hardware hw;
static struct diagnosis simulated;
static char problems[8192];

static void keep_problem(void *context, const char *text)
{
    (void)context;
    strncat(problems, text, sizeof problems - strlen(problems) - 2);
    strcat(problems, "\n");
}

static char *answer_of(const char *const *files, int count, const struct hardware *chip)
{
    struct error error = {0};
    struct analyse_result result;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct analyse_job job = {.files = files,
                              .file_count = count,
                              .name = "joined",
                              .how = {chip, diagnosis_default_thresholds},
                              .format = ANALYSE_JSON,
                              .top = 10,
                              .problem = keep_problem};
    problems[0] = 0;
    cr_assert_eq(analyse_profile(&job, out, &result, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    return text;
}

static json_t *json_of(const char *const *files, int count, const struct hardware *chip)
{
    char *text = answer_of(files, count, chip);
    json_t *answer = json_loads(text, 0, NULL);
    cr_assert(answer, "%s", text);
    free(text);
    return answer;
}

static json_t *row_of(json_t *answer, size_t index)
{
    return json_array_get(json_object_get(answer, "operators"), index);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "null";
}

static double number_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static json_t *component_of(json_t *row, const char *name)
{
    json_t *component;
    size_t index;
    json_array_foreach(json_object_get(row, "components"), index,
                       component) if (strcmp(text_of(component, "name"), name) ==
                                      0) return component;
    return NULL;
}

/* ---- a program's counters ---- */

static void simulate_text(const char *chip, const char *text, int cores)
{
    struct error error = {0};
    struct program program;
    struct timeline timeline;
    struct simulate_options how = {.cores = cores};
    struct simulator *simulator = simulator_new();
    hardware_clear(&hw);
    machine_load_named(&hw, chip, "");
    cr_assert_eq(program_parse(&hw, "test", text, strlen(text), &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(simulate(simulator, &program, &how, &timeline, &error), STATUS_OK);
    diagnosis_of_program(&program, &timeline, cores, &simulated);
    diagnose(&simulated, &diagnosis_default_thresholds);
    simulator_free(simulator);
    program_clear(&program);
}

static const struct component *find(const char *name)
{
    for (int c = 0; c < simulated.component_count; c++)
        if (strcmp(simulated.components[c].name, name) == 0)
            return &simulated.components[c];
    return NULL;
}

static double busy_us(const char *name)
{
    const struct component *c = find(name);
    return c ? c->busy_ns / 1e3 : 0;
}

/* Bytes of one core on a path. */
static double moved(const char *name, const char *path)
{
    const struct component *c = find(name);
    for (int p = 0; c && p < c->part_count; p++)
        if (strcmp(c->parts[p].name, path) == 0)
            return c->parts[p].amount;
    return 0;
}

static void write_modes(const struct chip_case *chip, int cores)
{
    char text[2048];
    double us = simulated.time_ns / 1e3, cycles = us * 1e-6 * (double)hw.clock_hz * cores;
    double fp16 = find("Cube")->ideal_ns / simulated.time_ns;
    snprintf(text, sizeof text,
             "%s\nmm,X,%.17g,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
             chip->pipe_head, us, cores, us, cycles, busy_us("Cube"), busy_us("Vector"),
             busy_us("Scalar"), busy_us("MTE-L1"), busy_us("MTE-GM"), busy_us("MTE-UB"),
             busy_us("FIXP"));
    write_file("pipe.csv", text);
    snprintf(text, sizeof text,
             "Name,Type,Duration(us),aicore_time(us),aic_total_cycles,aic_mac_fp16_ratio,"
             "aic_mac_int8_ratio,aic_cube_fops\nmm,X,%.17g,%.17g,%.17g,%.17g,0,%.17g\n",
             us, us, cycles, fp16, 8192 * fp16 * cycles);
    write_file("arithmetic.csv", text);
    double l1 = moved("MTE-GM", "gm->l1") * cores / 1024,
           ub = moved("MTE-GM", "gm->ub") * cores / 1024;
    snprintf(text, sizeof text,
             "Name,Type,Duration(us),aicore_time(us),read_main_memory_datas(KB),"
             "GM_to_L1_datas(KB),GM_to_UB_datas(KB),UB_to_GM_datas(KB),L0C_to_GM_datas(KB),"
             "L0C_to_L1_datas(KB)\nmm,X,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,0\n",
             us, us, l1 + ub, l1, ub, moved("MTE-UB", "ub->gm") * cores / 1024,
             moved("FIXP", "l0c->gm") * cores / 1024);
    write_file("access.csv", text);
    snprintf(text, sizeof text,
             "Name,Type,Duration(us),aicore_time(us),aic_l0a_write_bw(GB/s),"
             "aic_l0b_write_bw(GB/s)\nmm,X,%.17g,%.17g,%.17g,%.17g\n",
             us, us, moved("MTE-L1", "l1->l0a") / us / 1e3, moved("MTE-L1", "l1->l0b") / us / 1e3);
    write_file("l0.csv", text);
    write_file("l2.csv", "Name,Type,Duration(us),write_cache_hit,write_cache_miss_allocate,"
                         "r0_read_cache_hit,r0_read_cache_miss_allocate,r1_read_cache_hit,"
                         "r1_read_cache_miss_allocate\nmm,X,1,100,0,70,0,30,0\n");
}

#define EXPECT_NEAR(value, expected)                                                               \
    cr_assert_float_eq(value, expected, 1e-9 * fabs(expected) + 1e-12, "%.12g, expected %.12g",    \
                       value, (double)(expected))

/* Exactly, but for what no mode counts exactly: MTE-L1 by bandwidths, Vector's operations. */
static void expect_component(json_t *row, const struct component *c)
{
    json_t *joined = component_of(row, c->name);
    cr_assert(joined, "no %s", c->name);
    cr_assert_leq(number_of(joined, "utilisation_at_least"), c->utilisation * (1 + 1e-9) + 1e-12);
    cr_assert_geq(number_of(joined, "utilisation_at_most"), c->utilisation * (1 - 1e-9) - 1e-12);
    if (c->kind != COMPONENT_INTERCONNECT)
        EXPECT_NEAR(number_of(joined, "active_ratio"), c->active_ratio);
    if (strcmp(c->name, "Vector") == 0)
        return;
    if (strcmp(c->name, "MTE-L1") == 0) {
        cr_assert_leq(number_of(joined, "utilisation_at_most"), 1.08 * c->utilisation + 1e-12);
        return;
    }
    EXPECT_NEAR(number_of(joined, "utilisation"), c->utilisation);
    if (c->kind != COMPONENT_INTERCONNECT)
        EXPECT_NEAR(number_of(joined, "efficiency"), c->efficiency);
}

/* A profile does not say who waited for a bus. */
static void forget_waiting(void)
{
    for (int c = 0; c < simulated.component_count; c++)
        simulated.components[c].waiting_ns = 0;
    diagnose(&simulated, &diagnosis_default_thresholds);
}

static bool expect_same(const struct chip_case *chip, int cores)
{
    const char *files[MODES];
    char paths[MODES][512];
    write_modes(chip, cores);
    for (int f = 0; f < MODES; f++) {
        snprintf(paths[f], sizeof paths[f], "%s", in_folder(names[f]));
        files[f] = paths[f];
    }
    json_t *answer = json_of(files, MODES, &hw), *row = row_of(answer, 0);
    cr_expect_str_eq(problems, "");
    for (int c = 0; c < simulated.component_count; c++)
        expect_component(row, &simulated.components[c]);
    bool certain = json_is_null(json_object_get(row, "may_be_bound_by"));
    forget_waiting();
    if (certain) {
        cr_assert_str_eq(text_of(row, "verdict"), verdict_name(simulated.verdict));
        cr_assert_str_eq(text_of(row, "component"), simulated.components[simulated.component].name);
    }
    json_decref(answer);
    return certain;
}

static void print_unified(const struct sizes *s, char *text, size_t size)
{
    snprintf(text, size,
             "loop %d\nMTE2 gm->l1 bytes=%d\nset MTE2 MTE1 0\nwait MTE2 MTE1 0\n"
             "MTE1 l1->l0a bytes=%d\nMTE1 l1->l0b bytes=%d\nset MTE1 M 0\nwait MTE1 M 0\n"
             "M mmad m=%d k=64 n=64\nset M V 0\nwait M V 0\nV l0c->ub bytes=%d\nset V MTE3 0\n"
             "wait V MTE3 0\nMTE3 ub->gm bytes=%d\nend\n",
             s->tiles, s->load, s->l0a, s->l0b, s->m, s->results, s->store);
}

static void print_split(const struct sizes *s, char *text, size_t size)
{
    snprintf(text, size,
             "loop %d\nMTE2 gm->l1 bytes=%d\nset MTE2 MTE1 0\nwait MTE2 MTE1 0\n"
             "MTE1 l1->l0a bytes=%d\nMTE1 l1->l0b bytes=%d\nset MTE1 M 0\nwait MTE1 M 0\n"
             "M mmad m=%d k=64 n=64\nset M FIXP 0\nwait M FIXP 0\nFIXP l0c->gm bytes=%d\nend\n",
             s->tiles, s->load, s->l0a, s->l0b, s->m, s->results);
}

/* From 0 to below count. */
static int draw(gsl_rng *rng, int count)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)count);
}

static const struct chip_case cases[] = {
    {"ascend310", print_unified,
     "Name,Type,Duration(us),Block Dim,aicore_time(us),total_cycles,mac_time(us),vec_time(us),"
     "scalar_time(us),mte1_time(us),mte2_time(us),mte3_time(us),fixpipe_time(us)"},
    {"ascend910b1", print_split,
     "Name,Type,Duration(us),Block Dim,aicore_time(us),aic_total_cycles,aic_mac_time(us),"
     "aic_vec_time(us),aic_scalar_time(us),aic_mte1_time(us),aic_mte2_time(us),aic_mte3_time(us),"
     "aic_fixpipe_time(us)"},
};

Test(profile_join, what_is_joined_is_what_the_program_is)
{
    int certain = 0, all = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int round = 0; round < test_cases(30); round++) {
            char text[1024];
            int scale = 1 << draw(rng, 5);
            struct sizes sizes = {1 + draw(rng, 30),  64 << draw(rng, 11), 512 * scale,
                                  1024 * scale,       16 << draw(rng, 6),  64 << draw(rng, 9),
                                  32 << draw(rng, 10)};
            cases[i].print(&sizes, text, sizeof text);
            int cores = i ? 20 : 1 + draw(rng, 2);
            simulate_text(cases[i].chip, text, cores);
            certain += expect_same(&cases[i], cores);
            all++;
        }
    cr_expect_geq(certain, all / 2, "%d of %d are certain", certain, all);
    gsl_rng_free(rng);
}

/* ---- rows by hand ---- */

#define PIPE                                                                                       \
    "Name,Type,Duration(us),Block "                                                                \
    "Dim,aicore_time(us),mac_ratio,vec_ratio,scalar_ratio,mte1_ratio,"                             \
    "mte2_ratio,mte3_ratio,Input Shapes\n"
#define ACCESS                                                                                     \
    "Name,Type,Duration(us),aicore_time(us),GM_to_L1_datas(KB),GM_to_UB_datas(KB),Input Shapes\n"

static const char *paths_of(int count, const char *files[], char paths[][512])
{
    static const char *const letters[] = {"a.csv", "b.csv", "c.csv"};
    for (int f = 0; f < count; f++) {
        snprintf(paths[f], 512, "%s", in_folder(letters[f]));
        files[f] = paths[f];
    }
    return paths[0];
}

static void expect_names(json_t *answer, const char *expected)
{
    char all[256] = "";
    json_t *row;
    size_t index;
    json_array_foreach(json_object_get(answer, "operators"), index, row)
        strcat(all, text_of(row, "name"));
    cr_expect_str_eq(all, expected);
}

static void expect_problem(const char *part)
{
    cr_expect(strstr(problems, part), "%s\nexpected %s", problems, part);
}

/* Rows that one file lacks, has twice or elsewhere: told of, and the others joined. */
Test(profile_join, missing_doubled_and_reordered_rows)
{
    const char *files[2], *turned[2];
    char paths[2][512];
    paths_of(2, files, paths);
    write_file("a.csv", PIPE "a,T,10,1,10,.5,0,0,0,.5,0,1\nb,T,10,1,10,.5,0,0,0,.5,0,1\n"
                             "c,T,10,1,10,.5,0,0,0,.5,0,1\nd,T,10,1,10,.5,0,0,0,.5,0,1\n"
                             "f,T,10,1,10,.5,0,0,0,.5,0,1\n");
    write_file("b.csv", ACCESS "a,T,10,10,1,0,1\na,T,10,10,1,0,1\nd,T,10,10,4,0,1\n"
                               "c,T,10,10,3,0,1\ne,T,10,10,5,0,1\nf,T,10,10,6,0,1\n");
    char *text = answer_of(files, 2, NULL);
    expect_problem("a.csv:3: 'b' is not in ");
    expect_problem("b.csv:3: 'a' is doubled");
    expect_problem("b.csv:6: 'e' is not in ");
    expect_problem("stands at another place than in ");
    json_t *answer = json_loads(text, 0, NULL);
    expect_names(answer, "abcedf");
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(row_of(answer, 4), "lines"), 1)),
                 4);
    cr_expect(json_is_null(json_array_get(json_object_get(row_of(answer, 1), "lines"), 1)));
    json_decref(answer);
    /* The order of the files does not matter. */
    turned[0] = files[1];
    turned[1] = files[0];
    char *other = answer_of(turned, 2, NULL);
    cr_expect_str_eq(other, text);
    free(other);
    free(text);
}

/* The k-th of equal rows is the k-th; rows of other shapes are others. */
Test(profile_join, equal_names)
{
    const char *files[2];
    char paths[2][512];
    paths_of(2, files, paths);
    simulate_text("ascend310", "MTE2 gm->l1 bytes=64\n", 1);
    write_file("a.csv", PIPE "m,T,10,1,10,.5,0,0,0,.5,0,1\nm,T,10,1,10,.5,0,0,0,.5,0,2\n"
                             "m,T,10,1,10,.5,0,0,0,.5,0,1\n");
    write_file("b.csv", ACCESS "m,T,10,10,20,0,2\nm,T,10,10,10,0,1\nm,T,10,10,30,0,1\n");
    json_t *answer = json_of(files, 2, &hw);
    static const double kb[] = {10, 20, 30};
    for (size_t i = 0; i < 3; i++)
        EXPECT_NEAR(number_of(component_of(row_of(answer, i), "MTE-GM"), "utilisation"),
                    kb[i] * 1024 / 28e9 * 1e6 / 10);
    json_decref(answer);
}

Test(profile_join, nothing_to_tell_rows_apart)
{
    const char *files[2];
    char paths[2][512];
    struct error error = {0};
    struct profile_join join;
    paths_of(2, files, paths);
    write_file("a.csv", PIPE "m,N/A,10,1,10,.5,0,0,0,.5,0,1\n");
    write_file("b.csv", "Type,Duration(us),aicore_time(us),GM_to_UB(KB)\nT,10,10,5\n");
    cr_expect_eq(profile_join_open(files, 2, keep_problem, NULL, &join, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "no column that both have tells rows apart"), "%s", error.text);
}

/* Tables of blocks, and the kernel whose blocks they are. */
Test(profile_join, blocks_of_a_kernel)
{
    const char *files[3];
    char paths[3][512];
    paths_of(3, files, paths);
    write_file("a.csv", "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_ratio,"
                        "aic_mte2_ratio\n0,cube0,10,18500,0.5,0.9\n1,cube0,10,18500,0.5,0.9\n");
    write_file("b.csv", "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_fp16_ratio,"
                        "aic_cube_int8_ratio\n1,cube0,10,18500,0.4,0\n0,cube0,10,18500,0.45,0\n");
    write_file("c.csv", "Op Name,Op Type,Task Duration(us),Block Dim\nmm_kernel,MatMul,12,2\n");
    json_t *answer = json_of(files, 3, NULL);
    cr_expect_str_eq(text_of(row_of(answer, 0), "name"), "mm_kernel block 0 cube0");
    cr_expect_str_eq(text_of(row_of(answer, 0), "type"), "MatMul");
    EXPECT_NEAR(number_of(component_of(row_of(answer, 0), "Cube"), "utilisation"), 0.45);
    EXPECT_NEAR(number_of(component_of(row_of(answer, 1), "Cube"), "utilisation"), 0.4);
    json_decref(answer);
}
