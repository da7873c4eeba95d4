/* Rows of profilers' tables to verdicts, and to what they make together. */
#include "analysis/roofline.h"
#include "results/analysis_summary.h"
#include "results/analysis_write.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(profile_analyse, .init = enter, .fini = leave);

static char problems[4096];

static void keep_problem(void *context, const char *text)
{
    (void)context;
    strncat(problems, text, sizeof problems - strlen(problems) - 2);
    strcat(problems, "\n");
}

static char *answer_of(const char *file, const struct hardware *hw, enum analyse_format format,
                       int top)
{
    struct error error = {0};
    struct analyse_result result;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct analyse_job job = {.files = &file,
                              .file_count = 1,
                              .name = file,
                              .how = {hw, diagnosis_default_thresholds},
                              .format = format,
                              .top = top,
                              .problem = keep_problem};
    problems[0] = 0;
    cr_assert_eq(analyse_profile(&job, out, &result, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    return text;
}

static json_t *answer_json(const char *file, const struct hardware *hw, int top)
{
    json_error_t why;
    char *text = answer_of(file, hw, ANALYSE_JSON, top);
    json_t *answer = json_loads(text, 0, &why);
    cr_assert(answer, "%s\n%s", why.text, text);
    free(text);
    return answer;
}

static json_t *answer_to(const char *text, const struct hardware *hw)
{
    write_file("p.csv", text);
    return answer_json(in_folder("p.csv"), hw, 10);
}

static json_t *operator_of(json_t *answer, size_t index)
{
    return json_array_get(json_object_get(answer, "operators"), index);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "null";
}

static json_t *component_of(json_t *operator, const char * name)
{
    json_t *components = json_object_get(operator, "components"), *component;
    size_t index;
    json_array_foreach(components, index, component) if (strcmp(text_of(component, "name"), name) ==
                                                         0) return component;
    return NULL;
}

static double number_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? -1 : json_number_value(value);
}

#define EXPECT_NEAR(value, expected) cr_expect_float_eq(value, expected, 1e-9, "%.12g", value)

static void expect_verdict(json_t *operator, const char * verdict, const char *component,
                           const char *open, const char *note)
{
    cr_expect_str_eq(text_of(operator, "verdict"), verdict);
    cr_expect_str_eq(text_of(operator, "component"), component);
    cr_expect_str_eq(text_of(operator, "may_be_bound_by"), open);
    cr_expect(strstr(text_of(operator, "note"), note), "%s\nexpected %s", text_of(operator, "note"),
              note);
}

/* ---- verdicts ---- */

#define UNIFIED                                                                                    \
    "Op Name,OP Type,Task Type,Task Duration(us),aicore_time(us),vec_time(us),vec_ratio,"          \
    "mac_ratio,mte2_ratio,mte3_ratio\n"

/* The active ratios of the cases of Zhou et al. 2025: without bytes and operations, what is below
 * the threshold of active ratios is certain where it is below that of utilisation too. */
Test(profile_analyse, verdicts)
{
    json_t *answer = answer_to(UNIFIED "add_relu,Add,AI_CORE,98.7,98,30,0.306,0,0.5868,0.3\n"
                                       "add_relu2,Add,AI_CORE,66,65,30,0.462,0,0.5,0.8514\n"
                                       "avgpool,Pool,AI_CORE,70,69,57.946,0.8398,0,0.1,0.1\n"
                                       "between,Add,AI_CORE,70,69,6.9,0.1,0,0.70,0.1\n"
                                       "matrix,X,AI_CORE,70,69,6.9,0.1,0.2,0.79,0.1\n",
                               NULL);
    expect_verdict(operator_of(answer, 0), "Insufficient Parallelism", "MTE-GM", "null",
                   "no bytes or operations in the file");
    expect_verdict(operator_of(answer, 1), "Inefficient MTE", "MTE-UB", "MTE-UB",
                   "MTE-UB bounds it if its utilisation is 65 % or more");
    expect_verdict(operator_of(answer, 2), "Inefficient Compute", "Vector", "Vector", "65 %");
    expect_verdict(operator_of(answer, 3), "Insufficient Parallelism", "MTE-GM", "MTE-GM", "65 %");
    expect_verdict(operator_of(answer, 4), "Insufficient Parallelism", "MTE-GM", "null",
                   "no bytes");
    EXPECT_NEAR(number_of(operator_of(answer, 0), "time_us"), 98.7);
    EXPECT_NEAR(number_of(operator_of(answer, 0), "core_time_us"), 98);
    EXPECT_NEAR(number_of(component_of(operator_of(answer, 0), "MTE-GM"), "active_ratio"), 0.5868);
    EXPECT_NEAR(number_of(component_of(operator_of(answer, 0), "MTE-GM"), "utilisation"), -1);
    EXPECT_NEAR(number_of(component_of(operator_of(answer, 0), "MTE-GM"), "efficiency"), -1);
    cr_expect_str_eq(problems, "");
    json_decref(answer);
}

Test(profile_analyse, rows_without_cores)
{
    json_t *answer = answer_to(UNIFIED "hcom,AllReduce,HCCL,500,N/A,N/A,N/A,N/A,N/A,N/A\n"
                                       "cpu,Where,AI_CPU,20,0,0,0,0,0,0\n"
                                       "random,DSA,DSA_SQE,3,,,,,,\n"
                                       "idle,X,AI_CORE,5,4,0,0,0,0,0\n",
                               NULL);
    for (size_t i = 0; i < 3; i++) {
        expect_verdict(operator_of(answer, i), "null", "null", "null", "no times of AI cores");
        cr_expect_eq(json_array_size(json_object_get(operator_of(answer, i), "components")), 0);
        EXPECT_NEAR(number_of(operator_of(answer, i), "core_time_us"), -1);
    }
    EXPECT_NEAR(number_of(operator_of(answer, 0), "time_us"), 500);
    cr_expect_str_eq(text_of(operator_of(answer, 3), "verdict"), "Insufficient Parallelism");
    json_decref(answer);
}

/* Tasks of other engines have no verdict, whatever their columns of AI cores say. */
Test(profile_analyse, tasks_of_other_engines)
{
    static const char *const kinds[] = {"HCCL", "AI_CPU", "DSA_SQE", "COMMUNICATION", "dvpp"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[512];
        snprintf(text, sizeof text, UNIFIED "a,Add,%s,100,90,80,0.9,0,0.9,0.3\n", kinds[i]);
        json_t *answer = answer_to(text, NULL);
        expect_verdict(operator_of(answer, 0), "null", "null", "null",
                       "its task type runs on no AI core, so its times of AI cores are not used");
        cr_expect_eq(json_array_size(json_object_get(operator_of(answer, 0), "components")), 0);
        EXPECT_NEAR(number_of(operator_of(answer, 0), "time_us"), 100);
        EXPECT_NEAR(number_of(operator_of(answer, 0), "core_time_us"), -1);
        EXPECT_NEAR(number_of(json_object_get(answer, "summary"), "without_core_times"), 1);
        cr_expect_str_eq(problems, "");
        json_decref(answer);
    }
    json_t *answer = answer_to(UNIFIED "a,Add,MIX_AIC,100,90,80,0.9,0,0.9,0.3\n"
                                       "b,Add,,100,90,80,0.9,0,0.9,0.3\n",
                               NULL);
    cr_expect_str_eq(text_of(operator_of(answer, 0), "verdict"), "Inefficient MTE");
    cr_expect_str_eq(text_of(operator_of(answer, 1), "verdict"), "Inefficient MTE");
    json_decref(answer);
}

/* Cores that ran for longer than the task are named, and the row is analysed all the same. */
Test(profile_analyse, cores_longer_than_the_task)
{
    json_t *answer = answer_to(UNIFIED "a,Add,AI_CORE,100,120,12,0.1,0,0.5,0.9\n"
                                       "b,Add,AI_CORE,100,101,12,0.119,0,0.5,0.9\n"
                                       "\xff,Add,AI_CORE,1,2,1,0.5,0,0.5,0.9\n",
                               NULL);
    expect_verdict(operator_of(answer, 0), "Inefficient MTE", "MTE-UB", "MTE-UB",
                   "aicore_time(us) is 120, longer than the 100 of Task Duration(us)");
    EXPECT_NEAR(number_of(operator_of(answer, 0), "core_time_us"), 120);
    EXPECT_NEAR(number_of(operator_of(answer, 0), "time_us"), 100);
    EXPECT_NEAR(number_of(json_object_get(answer, "summary"), "broken"), 0);
    cr_expect_null(strstr(text_of(operator_of(answer, 1), "note"), "longer"));
    cr_expect(strstr(text_of(operator_of(answer, 2), "note"), "longer than the 1 of"));
    cr_expect_str_eq(problems,
                     "2: column aicore_time(us): 120 is longer than Task Duration(us), 100\n"
                     "4: column Op Name: not UTF-8: such bytes are shown as ?\n");
    json_decref(answer);
}

/* Both kinds of cores ran: the longer time is the operator's, and what both have is told apart. */
Test(profile_analyse, mixed_kernels)
{
    json_t *answer =
        answer_to("Name,Duration(us),aicore_time(us),aic_mac_ratio,aic_mte2_ratio,aic_scalar_ratio,"
                  "aiv_time(us),aiv_vec_ratio,aiv_mte2_ratio,aiv_scalar_ratio\n"
                  "mix,210,100,0.5,0.9,0.1,200,0.85,0.4,0.2\n"
                  "vector,210,0,0,0,0,200,0.5,0.9,0.2\n",
                  NULL);
    json_t *mix = operator_of(answer, 0), *vector = operator_of(answer, 1);
    EXPECT_NEAR(number_of(mix, "core_time_us"), 200);
    EXPECT_NEAR(number_of(component_of(mix, "MTE-GM"), "active_ratio"), 0.45);
    EXPECT_NEAR(number_of(component_of(mix, "MTE-GM (Vector)"), "active_ratio"), 0.4);
    EXPECT_NEAR(number_of(component_of(mix, "Scalar (Vector)"), "busy_us"), 40);
    expect_verdict(mix, "Inefficient Compute", "Vector", "Vector", "80 %");
    expect_verdict(vector, "Inefficient MTE", "MTE-GM", "MTE-GM", "65 %");
    cr_expect_null(component_of(vector, "Cube"));
    cr_expect_eq(json_array_size(json_object_get(vector, "components")), 3);
    json_decref(answer);
}

/* How long one kind of cores ran is not in the file: the other's time says nothing about it. */
Test(profile_analyse, cores_of_unknown_time)
{
    json_t *answer = answer_to("Name,aic_mac_time(us),aiv_time(us),aiv_vec_time(us)\n"
                               "mix,39,38,10\n"
                               "vector,N/A,38,10\n",
                               NULL);
    expect_verdict(operator_of(answer, 0), "null", "null", "null",
                   "how long all of its AI cores ran is not in the file");
    expect_verdict(operator_of(answer, 1), "Insufficient Parallelism", "Vector", "null", "");
    json_decref(answer);
}

/* A missing column is a problem of the file, a note of each row, and hides no verdict. */
Test(profile_analyse, missing_columns_are_named)
{
    json_t *answer = answer_to("Op Name,Task Duration(us),aicore_time(us),mac_ratio,vec_ratio,"
                               "scalar_ratio,mte1_ratio,mte3_ratio\na,10,9,0,0.2,0,0,0.9\n",
                               NULL);
    expect_verdict(operator_of(answer, 0), "Inefficient MTE", "MTE-UB", "MTE-UB",
                   "no column mte2_time(us) or mte2_ratio");
    cr_expect_str_eq(problems, "1: no column mte2_time(us) or mte2_ratio\n");
    json_decref(answer);
}

Test(profile_analyse, broken_rows_are_rows)
{
    json_t *answer = answer_to(UNIFIED "a,t,AI_CORE,10,9,1,0.1,0.1,0.1,1.5\n"
                                       "\"b,t,AI_CORE,10,9,1,0.1,0.1,0.1,0.5\n"
                                       "c,t,AI_CORE,10,9,1,0.1,0.1,0.1,0.5\n",
                               NULL);
    expect_verdict(operator_of(answer, 0), "null", "null", "null", "column mte3_ratio: '1.5'");
    expect_verdict(operator_of(answer, 1), "null", "null", "null", "a quotation mark without");
    expect_verdict(operator_of(answer, 2), "Insufficient Parallelism", "MTE-UB", "null", "");
    cr_expect_str_eq(problems, "2: column mte3_ratio: '1.5': expected a share, 0 to 1\n"
                               "3: a quotation mark without its partner, expected one more\n");
    EXPECT_NEAR(number_of(json_object_get(answer, "summary"), "broken"), 2);
    EXPECT_NEAR(number_of(json_object_get(answer, "summary"), "rows"), 3);
    json_decref(answer);
}

/* ---- operations by the shapes ---- */

#define SHAPED                                                                                     \
    "Name,Type,Duration(us),Block Dim,aicore_time(us),aic_total_cycles,aic_mac_time(us),"          \
    "aic_mte2_time(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Formats\n"

static struct hardware *chip(void)
{
    static struct hardware hw;
    if (hw.cores == 0)
        load_ok("ascend910b3", NULL, &hw);
    return &hw;
}

/* One row of a MatMul that takes 100 us on 20 cores; U of Cube, or -1. */
static double utilisation_of(const char *type, const char *in, const char *types,
                             const char *format, const char *out, double cycles, const char *note)
{
    char text[2048];
    snprintf(text, sizeof text,
             SHAPED "mm,%s,100,20,100,%.0f,90,50,\"\"\"%s\"\"\",%s,%s,\"%s\",%s\n", type, cycles,
             in, types, format, out, format);
    json_t *answer = answer_to(text, chip());
    json_t *operator= operator_of(answer, 0);
    double u = number_of(component_of(operator, "Cube"), "utilisation");
    cr_expect(strstr(text_of(operator, "note"), note), "%s\nexpected %s", text_of(operator, "note"),
              note);
    cr_expect(u <= 1);
    if (u >= 0)
        EXPECT_NEAR(number_of(component_of(operator, "Cube"), "efficiency") * 0.9, u);
    json_decref(answer);
    return u;
}

/* Operations need a peak, and that is a chip's. */
Test(profile_analyse, shapes_without_a_chip)
{
    json_t *answer =
        answer_to(SHAPED "mm,MatMulV2,100,20,100,0,90,20,\"64,64;64,64\",FLOAT16;FLOAT16,"
                         "ND;ND,\"64,64\",ND\nx,Pool,100,20,100,0,90,20,,,,,\n"
                         "y,Add,100,20,100,0,90,20,,,,,\n",
                  NULL);
    expect_verdict(operator_of(answer, 0), "Inefficient Compute", "Cube", "Cube",
                   "no bytes or operations in the file; Cube's follow from the shapes with --hw");
    cr_expect_null(strstr(text_of(operator_of(answer, 1), "note"), "--hw"));
    cr_expect(strstr(text_of(operator_of(answer, 2), "note"), "they follow from the shapes with"));
    EXPECT_NEAR(number_of(component_of(operator_of(answer, 0), "Cube"), "utilisation"), -1);
    json_decref(answer);
}

/* 2·1024³ operations over 20 cores of 8192 a cycle, at 1500 MHz unless the cycles say more. */
Test(profile_analyse, cube_by_the_shapes)
{
    static const char f16[] = "DT_BF16;DT_BF16", nd[] = "ND;ND";
    double u = 2.0 * 1024 * 1024 * 1024 / 20 / 8192 / 1500 / 100, cycles = 20 * 100 * 1500;
    EXPECT_NEAR(
        utilisation_of("MatMulV2", "1024,1024;1024,1024", f16, nd, "1024,1024", 0, "by the"), u);
    EXPECT_NEAR(utilisation_of("MatMulV3", "1024,512;1024,2048", f16, nd, "512,2048", cycles, ""),
                u);
    EXPECT_NEAR(utilisation_of("MatMul", "512,1024;2048,1024", "FLOAT16;FLOAT16", nd, "512,2048",
                               1.2 * cycles, "operations of Cube by the shapes"),
                u / 1.2);
    EXPECT_NEAR(utilisation_of("BatchMatMulV2", "4,2,512,256;4,2,256,1024", f16, nd, "4,2,512,1024",
                               cycles, ""),
                u);
    EXPECT_NEAR(
        utilisation_of("MatMulV2", "1024,1024;1024,1024", "INT8;INT8", nd, "1024,1024", cycles, ""),
        u / 2);
    EXPECT_NEAR(utilisation_of("MatMulV2", "64,64,16,16;64,64,16,16", f16, "FRACTAL_NZ;FRACTAL_NZ",
                               "64,64,16,16", cycles, ""),
                u);
    EXPECT_NEAR(utilisation_of("MatMulV2", "32,64,16,16;128,32,16,16", f16, "FRACTAL_NZ;FRACTAL_NZ",
                               "128,64,16,16", cycles, "operations of Cube by the shapes"),
                u);
    /* Blocks are whole. */
    EXPECT_NEAR(utilisation_of("MatMulV2", "1009,1020;1020,1023", f16, nd, "1009,1023", cycles, ""),
                u);
}

Test(profile_analyse, shapes_with_a_stray_digit)
{
    static const char f16[] = "DT_BF16;DT_BF16", nd[] = "ND;ND";
    double u = 2.0 * 1024 * 1024 * 1024 / 20 / 8192 / 1500 / 100;
    EXPECT_NEAR(utilisation_of("MatMulV2", "10240,512;1024,2048", f16, nd, "512,2048", 0,
                               "disagree on K, 10240 and 1024: a stray digit; 1024 is taken"),
                u);
    EXPECT_NEAR(utilisation_of("MatMulV2", "1024,5125;1024,2048", f16, nd, "512,2048", 0,
                               "disagree on M, 5125 and 512: a stray digit; 512 is taken"),
                u);
    EXPECT_NEAR(utilisation_of("MatMulV2", "1024,512;1024,27048", f16, nd, "512,2704", 0, "on N"),
                u * 2704 / 2048);
    EXPECT_NEAR(utilisation_of("MatMulV2", "2000,512;1024,2048", f16, nd, "512,2048", 0,
                               "the shapes disagree on K, 2000 and 1024"),
                -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", "1024,77;1024,2048", f16, nd, "512,2048", 0,
                               "no input has the output's M 512"),
                -1);
}

Test(profile_analyse, shapes_that_do_not_help)
{
    static const char f16[] = "DT_BF16;DT_BF16", nd[] = "ND;ND", none[] = "shapes or data types";
    EXPECT_NEAR(utilisation_of("MatMulV2", "8192,8192;8192,8192", f16, nd, "8192,8192", 0,
                               "shapes do not fit the time: Cube at its peak would take 4474 us"),
                -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", "1024,1024;1024,1024", "INT16;INT16", nd, "1024,1024", 0,
                               "has no peak of i16"),
                -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", "N/A", f16, nd, "1024,1024", 0, none), -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", "1e999,2;3,4", f16, nd, "1,4", 0, none), -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", "-4,2;2,4", f16, nd, "4,4", 0, none), -1);
    EXPECT_NEAR(utilisation_of("MatMulV2", ";", f16, nd, "", 0, none), -1);
    EXPECT_NEAR(
        utilisation_of("Conv2D", "1024,1024;1024,1024", f16, nd, "1024,1024", 0, "no bytes"), -1);
}

/* A Cube that does 85 % of its peak bounds its operator, whatever else is not known. */
Test(profile_analyse, cube_that_binds)
{
    json_t *answer =
        answer_to(SHAPED "mm,MatMulV3,4474,20,5263,0,5000,5200,\"8192,8192;8192,8192\","
                         "DT_BF16;DT_BF16,ND;ND,\"8192,8192\",ND\n",
                  chip());
    expect_verdict(operator_of(answer, 0), "Compute Bound", "Cube", "null",
                   "operations of Cube by the shapes; at least the bytes of each operand");
    json_decref(answer);
}

/* What is known to stay below its threshold is inefficient, and that is certain. */
Test(profile_analyse, cube_that_does_not_bind)
{
    json_t *answer =
        answer_to(SHAPED "mm,MatMulV3,6000,20,6000,0,5000,2000,\"8192,8192;8192,8192\","
                         "DT_BF16;DT_BF16,ND;ND,\"8192,8192\",ND\n",
                  chip());
    expect_verdict(operator_of(answer, 0), "Inefficient Compute", "Cube", "null", "of Cube");
    json_decref(answer);
}

/* ---- all rows together ---- */

static json_t *member(json_t *answer, const char *list, size_t index)
{
    return json_array_get(json_object_get(json_object_get(answer, "summary"), list), index);
}

Test(profile_analyse, summary)
{
    json_t *answer = answer_to(UNIFIED "a,Add,AI_CORE,10,8,0.8,0.1,0,0.5,0.1\n"
                                       "b,Add,AI_CORE,30,20,2,0.1,0,0.9,0.1\n"
                                       "b,Add,AI_CORE,20,10,1,0.1,0,0.9,0.1\n"
                                       "c,Mul,AI_CORE,40,30,27,0.9,0,0.1,0.1\n"
                                       "hcom,AllReduce,HCCL,100,N/A,N/A,N/A,N/A,N/A,N/A\n",
                               NULL);
    json_t *summary = json_object_get(answer, "summary"), *types;
    EXPECT_NEAR(number_of(summary, "rows"), 5);
    EXPECT_NEAR(number_of(summary, "diagnosed"), 4);
    EXPECT_NEAR(number_of(summary, "open"), 3);
    EXPECT_NEAR(number_of(summary, "without_core_times"), 1);
    EXPECT_NEAR(number_of(summary, "time_us"), 200);
    EXPECT_NEAR(number_of(summary, "diagnosed_time_us"), 100);
    EXPECT_NEAR(number_of(summary, "without_core_times_us"), 100);
    cr_expect_eq(json_array_size(json_object_get(summary, "causes")), 5);
    cr_expect_str_eq(text_of(member(answer, "causes", 0), "verdict"), "Compute Bound");
    EXPECT_NEAR(number_of(member(answer, "causes", 0), "count"), 0);
    EXPECT_NEAR(number_of(member(answer, "causes", 2), "count_share"), 0.25);
    EXPECT_NEAR(number_of(member(answer, "causes", 2), "time_share"), 0.1);
    EXPECT_NEAR(number_of(member(answer, "causes", 3), "count"), 2);
    EXPECT_NEAR(number_of(member(answer, "causes", 3), "time_share"), 0.5);
    EXPECT_NEAR(number_of(member(answer, "causes", 4), "time_us"), 40);
    cr_expect_str_eq(text_of(member(answer, "components", 0), "component"), "MTE-GM");
    EXPECT_NEAR(number_of(member(answer, "components", 0), "time_us"), 60);
    types = json_object_get(summary, "types");
    cr_expect_eq(json_array_size(types), 3);
    cr_expect_str_eq(text_of(json_array_get(types, 2), "type"), "AllReduce");
    cr_expect_str_eq(text_of(json_array_get(types, 2), "verdict"), "null");
    cr_expect_str_eq(text_of(json_array_get(types, 0), "type"), "Add");
    cr_expect_str_eq(text_of(json_array_get(types, 0), "verdict"), "Inefficient MTE");
    EXPECT_NEAR(number_of(json_array_get(types, 0), "time_share"), 0.3);
    EXPECT_NEAR(number_of(json_array_get(types, 0), "verdict_time_share"), 50.0 / 60);
    EXPECT_NEAR(number_of(json_array_get(types, 0), "overlap_us"), 4 + 2 + 1);
    cr_expect_str_eq(text_of(member(answer, "names", 0), "name"), "b");
    EXPECT_NEAR(number_of(member(answer, "names", 0), "count"), 2);
    json_decref(answer);
}

/* Groups are many, not endless, and none is lost. */
Test(profile_analyse, more_names_than_places)
{
    enum { NAMES = 17000, PLACES = 16384 };
    FILE *out = fopen(in_folder("many.csv"), "w");
    double time_us = 0;
    size_t index;
    json_t *row;
    cr_assert(out);
    fputs("Name,Duration(us),mac_ratio\n", out);
    for (int i = 0; i < NAMES; i++)
        fprintf(out, "n%d,%d,0.5\n", i, 1 + i % 7);
    fclose(out);
    json_t *answer = answer_json(in_folder("many.csv"), NULL, NAMES);
    json_t *names = json_object_get(json_object_get(answer, "summary"), "names");
    cr_assert_eq(json_array_size(names), PLACES + 1);
    cr_expect_str_eq(text_of(json_array_get(names, PLACES), "name"), "(others)");
    EXPECT_NEAR(number_of(json_array_get(names, PLACES), "count"), NAMES - PLACES);
    json_array_foreach(names, index, row) time_us += number_of(row, "time_us");
    EXPECT_NEAR(time_us, number_of(json_object_get(answer, "summary"), "time_us"));
    json_decref(answer);
}

/* Names from a file are no formulas, and stay in their cell. */
Test(profile_analyse, csv)
{
    write_file("p.csv", "Name,Type,Duration(us),aicore_time(us),mac_ratio,vec_ratio,scalar_ratio,"
                        "mte1_ratio,mte2_ratio,mte3_ratio\n"
                        "\"=HYPERLINK(\"\"x\"\",1)\",+t,1,1,0.5,0,0,0,0,0\n"
                        "\"a,b\",t,2,2,0.9,0,0,0,0,0\n"
                        "@x,-t,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n");
    char *text = answer_of(in_folder("p.csv"), NULL, ANALYSE_CSV, 1);
    cr_expect_str_eq(
        text,
        "line,name,type,time_us,core_time_us,verdict,component,utilisation,efficiency,active_ratio,"
        "may_be_bound_by,note,utilisation_at_least,utilisation_at_most,try,collect_next\n"
        "2,\"'=HYPERLINK(\"\"x\"\",1)\",\"'+t\",1,1,Insufficient Parallelism,Cube,,,0.5,,no bytes "
        "or operations in the file,,0.5,AIS PP RSD RUS,\n"
        "3,\"a,b\",t,2,2,Inefficient Compute,Cube,,,0.9,Cube,no bytes or operations in the file; "
        "Cube bounds it if its utilisation is 80 % or more,,0.9,AIP,ArithmeticUtilization\n"
        "4,\"'@x\",\"'-t\",,,,,,,,,no times of AI cores,,,,\n");
    free(text);
}

/* ---- modes ---- */

/* What a row of one mode decides, what stays open, and what to collect next. */
Test(profile_analyse, rows_of_each_mode)
{
    static const struct {
        const char *columns, *values, *verdict, *component, *note, *next;
    } rows[] = {
        {"aic_mac_fp16_ratio,aic_mac_int8_ratio", "0.5,0.4", "Compute Bound", "Cube",
         "utilisation exact of Cube", "null"},
        {"aic_mac_fp16_ratio,aic_mac_int8_ratio", "0.5,0.1", "null", "null", "open: active ratios",
         "PipeUtilization"},
        {"aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_mac_ratio,aic_mte1_ratio,aic_mte2_ratio",
         "0.5,0.1,0.9,0.1,0.1", "Inefficient Compute", "Cube", "exact of Cube", "null"},
        {"aic_GM_to_L1_datas(KB),aic_L0C_to_GM_datas(KB),aic_L0C_to_L1_datas(KB)", "3000,0,0",
         "null", "null", "bytes as counted", "PipeUtilization"},
        {"aic_main_mem_read_bw(GB/s),aic_l2_read_bw(GB/s)", "10,20", "null", "null",
         "between bounds of MTE-GM", "PipeUtilization"},
        {"aic_l0a_write_bw(GB/s),aic_l0b_write_bw(GB/s)", "50,50", "null", "null",
         "between bounds of MTE-L1", "PipeUtilization"},
        {"aic_l0a_write_bw(GB/s),aic_l0b_write_bw(GB/s)", "230,10", "MTE Bound", "MTE-L1",
         "between bounds of MTE-L1", "null"},
        {"aic_l0a_write_bw(GB/s),aic_l0b_write_bw(GB/s)", "0,50", "null", "null",
         "between bounds of MTE-L1", "PipeUtilization"}, /* A stayed where it was */
        {"r0_read_cache_hit,r0_read_cache_miss_allocate", "1,9", "null", "null",
         "the L2 cache is cold: 10 % of the reads hit it", "PipeUtilization"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "Name,Type,Duration(us),Block Dim,aicore_time(us),aic_total_cycles,%s\n"
                 "k,X,11,1,10,15000,%s\n",
                 rows[i].columns, rows[i].values);
        json_t *answer = answer_to(text, chip()), *row = operator_of(answer, 0);
        cr_expect_str_eq(text_of(row, "verdict"), rows[i].verdict, "%s", rows[i].columns);
        cr_expect_str_eq(text_of(row, "component"), rows[i].component, "%s", rows[i].columns);
        cr_expect_str_eq(text_of(row, "collect_next"), rows[i].next, "%s", rows[i].columns);
        cr_expect(strstr(text_of(row, "note"), rows[i].note), "%s\nexpected %s",
                  text_of(row, "note"), rows[i].note);
        cr_expect_null(strstr(text_of(row, "note"), "no times of AI cores"));
        cr_expect_eq(number_of(json_object_get(answer, "summary"), "undecided"),
                     strcmp(rows[i].verdict, "null") == 0);
        json_decref(answer);
    }
}

/* Vector is inefficient, and the conflicts of another mode would say why. */
Test(profile_analyse, conflicts_explain_vector)
{
    static const char head[] = "Name,Type,Duration(us),aiv_time(us),aiv_vec_ratio,aiv_scalar_ratio,"
                               "aiv_mte2_ratio,aiv_mte3_ratio";
    char text[1024];
    snprintf(text, sizeof text,
             "%s,vec_bank_cflt_ratio,vec_resc_cflt_ratio\nk,X,11,10,.9,0,.1,.1,.3,.1\n", head);
    json_t *answer = answer_to(text, NULL);
    cr_expect_str_eq(text_of(operator_of(answer, 0), "verdict"), "Inefficient Compute");
    cr_expect(strstr(text_of(operator_of(answer, 0), "note"),
                     "Vector waits for banks and resources of UB 40 % of the time"));
    EXPECT_NEAR(number_of(operator_of(answer, 0), "vector_conflict_share"), 0.4);
    json_decref(answer);
}

/* A profile of real kernels, where $AUTOTUNE_PROFILE names one. */
Test(profile_analyse, real_kernels)
{
    const char *file = getenv("AUTOTUNE_PROFILE");
    json_t *operator, * component;
    size_t index, c;
    if (!file)
        cr_skip_test("AUTOTUNE_PROFILE names no profile");
    json_t *answer = answer_json(file, chip(), 10);
    json_t *rows = json_object_get(answer, "operators");
    cr_expect_str_eq(problems, "");
    cr_expect(json_array_size(rows) > 0);
    json_array_foreach(rows, index, operator)
    {
        cr_expect(json_is_string(json_object_get(operator, "verdict")));
        json_array_foreach(json_object_get(operator, "components"), c, component) cr_expect(
            number_of(component, "utilisation") <= 1 && number_of(component, "active_ratio") >= 0 &&
            number_of(component, "active_ratio") <= 1);
    }
    json_decref(answer);
}
