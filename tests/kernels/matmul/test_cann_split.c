/* Parts of k of MatMul's space cann: what the vector cores do is played with numbers, and every
 * element of a share is the sum of all parts, once. */
#include "kernels/limits.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct vector_core {
    const struct cann *cann;
    const struct program *program;
    int64_t parts, loaded, stored; /* elements of C so far */
    double *ub;                    /* a number at every byte that one may begin at */
    int64_t ub_bytes;
};

/* Of an element of C in a part, exact in a double as are all sums. */
static double number_of(int64_t part, int64_t element)
{
    return (double)((part + 1) * (part + 1) * 65536 + element * (part + 2));
}

static int64_t offset_of(const struct vector_core *core, const struct instruction *in,
                         enum operand_role role)
{
    for (int r = 0; r < in->region_count; r++)
        if (core->program->regions[in->first_region + r].role == role)
            return core->program->regions[in->first_region + r].offset_bytes;
    cr_assert_fail("operand missing");
    return 0;
}

static void load(struct vector_core *core, const struct instruction *in)
{
    int64_t to = offset_of(core, in, OPERAND_DST), bytes = core->cann->machine.accumulator_bytes;
    int64_t elements = in->bytes / bytes / core->parts;
    cr_assert_eq(in->bursts, core->parts);
    cr_assert_eq(in->bytes, core->parts * elements * bytes);
    cr_assert_leq(to + in->bytes, core->ub_bytes);
    for (int64_t p = 0; p < core->parts; p++)
        for (int64_t e = 0; e < elements; e++)
            core->ub[to + (p * elements + e) * bytes] = number_of(p, core->loaded + e);
    core->loaded += elements;
}

static void compute(struct vector_core *core, const struct instruction *in)
{
    bool casts = in->what == core->cann->machine.adder.cast;
    int64_t from = offset_of(core, in, OPERAND_SRC), to = offset_of(core, in, OPERAND_DST);
    int64_t in_bytes = dtype_bytes(in->type), out_bytes = dtype_bytes(in->to_type);
    cr_assert(casts || in->what == core->cann->machine.adder.add);
    cr_assert_leq(to + in->elements * out_bytes, core->ub_bytes);
    for (int64_t e = 0; e < in->elements; e++) {
        double sum = core->ub[from + e * in_bytes];
        if (!casts)
            sum += core->ub[offset_of(core, in, OPERAND_SRC2) + e * in_bytes];
        core->ub[to + e * out_bytes] = sum;
    }
}

static void store(struct vector_core *core, const struct instruction *in)
{
    int64_t from = offset_of(core, in, OPERAND_SRC), bytes = core->cann->machine.out_bytes;
    for (int64_t e = 0; e < in->bytes / bytes; e++) {
        double sum = 0;
        for (int64_t p = 0; p < core->parts; p++)
            sum += number_of(p, core->stored + e);
        cr_assert_eq(core->ub[from + e * bytes], sum, "element %lld of %lld parts",
                     (long long)(core->stored + e), (long long)core->parts);
    }
    core->stored += in->bytes / bytes;
}

static void play(struct vector_core *core, int32_t first, int32_t last)
{
    const struct cann_adder *adder = &core->cann->machine.adder;
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &core->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (int64_t n = 0; n < in->count; n++)
                play(core, i + 1, in->partner);
            i = in->partner;
        } else if (in->kind == INSTRUCTION_VECTOR) {
            compute(core, in);
        } else if (in->kind == INSTRUCTION_MOVE && in->what == adder->load) {
            load(core, in);
        } else if (in->kind == INSTRUCTION_MOVE && in->what == adder->store) {
            store(core, in);
        }
    }
}

/* All workers together have at least all of C, and none of them more than one block of 16 that it
 * need not have. */
static void expect_sums(const struct space *space, const struct tiling *tiling,
                        const struct program *program)
{
    const struct cann *cann = cann_of(space);
    struct cann_plan plan;
    cann_plan_make(cann, tiling, &plan);
    struct vector_core core = {.cann = cann,
                               .program = program,
                               .parts = plan.parts,
                               .ub_bytes = capacity_of(space->hw, cann->machine.adder.ub)};
    core.ub = calloc((size_t)core.ub_bytes, sizeof *core.ub);
    play(&core, 0, program->count);
    int64_t all = cann->size[CANN_BATCH] * cann->size[CANN_M] * cann->size[CANN_N];
    int64_t workers = plan.cores * (space->hw->core_flags ? 2 : 1);
    cr_assert_eq(core.loaded, core.stored);
    cr_assert_geq(core.stored * workers, all);
    cr_assert_lt((core.stored - 16) * workers, all);
    free(core.ub);
}

static int play_random_tilings(const char *chip, const char *settings, unsigned long seed)
{
    struct hardware hw;
    struct program program = {0};
    struct error error;
    int played = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    machine_load_named(&hw, chip, settings);
    for (int i = 0; i < 1000; i++) {
        struct problem problem;
        struct space space;
        struct tiling tiling;
        random_cann_space(rng, &hw, 200, &problem, &space);
        if (random_cann_tiling(rng, &space, &tiling) && tiling.value[CANN_SPLIT_K] > 1) {
            program_reset(&program, &hw);
            cr_assert_eq(space.kind->generate(&space, &tiling, 0, &program, &error), STATUS_OK);
            expect_sums(&space, &tiling, &program);
            played++;
        }
        space_close(&space);
    }
    program_clear(&program);
    hardware_clear(&hw);
    gsl_rng_free(rng);
    return played;
}

Test(cann_split, vector_cores_add_up_all_parts)
{
    cr_expect_gt(play_random_tilings("ascend910b1", "", 1), 20);
    cr_expect_gt(play_random_tilings(SOURCE_DIR "/tests/support/split-chip.cfg", "", 2), 20);
    /* several passes of a share */
    cr_expect_gt(play_random_tilings("ascend910b1", "buffers.ub.capacity_bytes=2048", 3), 20);
}

static void open_space(const struct hardware *hw, const char *shape, const char *out, int cores,
                       const struct operator_space *kind, struct space *space)
{
    struct problem problem;
    struct error error;
    cr_assert_eq(problem_parse(&matmul_operator, shape, &problem, &error), STATUS_OK);
    cr_assert_eq(problem_set(&problem, "out-type", out, &error), STATUS_OK);
    cr_assert_eq(space_open(&problem, kind, hw, cores, space, &error), STATUS_OK, "%s", error.text);
}

/* Parts that all have something, of no more than there are cores: 5 blocks of 16 in parts of 1, 2,
 * 3 or 5 and never in 4; and only where they can be added up. */
Test(cann_split, parts_of_the_space)
{
    static const struct {
        const char *settings, *out, *shape;
        int cores, count;
        int64_t values[4];
    } cases[] = {
        {"", "same", "16x80x16", 24, 4, {1, 2, 3, 5}},
        {"", "f32", "16x80x16", 24, 4, {1, 2, 3, 5}},
        {"", "same", "16x80x16", 3, 3, {1, 2, 3}},
        /* 16 elements of two parts in f32 and the result take 160 bytes, of three 224 */
        {"buffers.ub.capacity_bytes=160", "same", "16x80x16", 24, 2, {1, 2}},
        /* A and B take 10240 bytes, each part 4096 */
        {"", "same", "32x80x32", 24, 2, {1, 2}},
    };
    struct hardware hw;
    struct space space;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        machine_load_named(&hw, "ascend910b1", cases[c].settings);
        open_space(&hw, cases[c].shape, cases[c].out, cases[c].cores, &matmul_cann, &space);
        const struct cann *cann = cann_of(&space);
        cr_assert_eq(cann->count[CANN_SPLIT_K], cases[c].count, "%zu: %d", c,
                     cann->count[CANN_SPLIT_K]);
        cr_assert_arr_eq(cann->values[CANN_SPLIT_K], cases[c].values,
                         (size_t)cases[c].count * sizeof cases[c].values[0]);
        space_close(&space);
        hardware_clear(&hw);
    }
}

/* A static bank has no word for parts. MatMulV3's kernel has them of one block of sums in FP32 that
 * lie row by row. */
Test(cann_split, parts_in_the_words_of_libraries)
{
    static const struct {
        const struct operator_space *kind;
        const char *out, *shape, *batch, *layout;
        enum dtype type;
        int count;
    } cases[] = {
        {&matmul_static, "same", "16x80x16", "1", "nd", DTYPE_F16, 1},
        {&matmul_tcube, "same", "16x80x16", "1", "nd", DTYPE_F16, 4},
        {&matmul_tcube, "f32", "16x80x16", "1", "nd", DTYPE_F16, 4},
        {&matmul_tcube, "same", "16x80x16", "2", "nd", DTYPE_F16, 1},
        {&matmul_tcube, "same", "16x80x16", "1", "nz", DTYPE_F16, 1},
        {&matmul_tcube, "accumulator", "16x160x16", "1", "nd", DTYPE_I8, 1},
    };
    struct hardware hw;
    struct space space;
    machine_load_named(&hw, "ascend910b1", "");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct problem problem;
        struct error error;
        cr_assert_eq(problem_parse(&matmul_operator, cases[c].shape, &problem, &error), STATUS_OK);
        problem_set_type(&problem, cases[c].type);
        cr_assert_eq(problem_set(&problem, "out-type", cases[c].out, &error), STATUS_OK);
        cr_assert_eq(problem_set(&problem, "batch", cases[c].batch, &error), STATUS_OK);
        cr_assert_eq(problem_set(&problem, "c-layout", cases[c].layout, &error), STATUS_OK);
        cr_assert_eq(space_open(&problem, cases[c].kind, &hw, 24, &space, &error), STATUS_OK);
        cr_expect_eq(cann_of(&space)->count[CANN_SPLIT_K], cases[c].count, "%zu: %d", c,
                     cann_of(&space)->count[CANN_SPLIT_K]);
        space_close(&space);
    }
    hardware_clear(&hw);
}
