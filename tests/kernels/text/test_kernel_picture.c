/* What `explain` draws of a kernel is its program: steps run as often and as long as instructions
 * on their pipes, flags are set as often, tiles lie where there is room. */
#include "analysis/check/oversync.h"
#include "hardware/load.h"
#include "kernels/text/kernel_text.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <jansson.h>
#include <string.h>

enum { TILINGS = 40 };

/* What a program does on a pipe, and how many flags it sets. */
struct done {
    double runs[HARDWARE_MAX_PIPES], ns[HARDWARE_MAX_PIPES], sets;
};

static struct done done_by_program(const struct space *space, const struct tiling *tiling)
{
    struct repetition repetition = {.times = {1}};
    struct program program = {0};
    struct done done = {.sets = 0};
    struct error error;
    int cores = (int)tiling->value[space->axis_count - 1];
    program_reset(&program, space->hw);
    cr_assert_eq(space->kind->generate(space, tiling, 0, &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(program_tidy(&program, NULL, &error), STATUS_OK, "%s", error.text);
    for (int i = 0; i < program.count; i++) {
        const struct instruction *in = &program.items[i];
        double times = (double)repetition_step(&repetition, in);
        if (in->kind == INSTRUCTION_SET)
            done.sets += times;
        if (in->price < 0)
            continue;
        done.runs[in->pipe] += times;
        done.ns[in->pipe] += times * (double)instruction_alone_fs(space->hw, in, cores) / FS_PER_NS;
    }
    program_clear(&program);
    return done;
}

static double number_of(json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static struct done done_by_picture(const struct space *space, json_t *picture)
{
    struct done done = {.sets = 0};
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(picture, "kernel"), index, row)
    {
        const char *name = json_string_value(json_object_get(row, "pipe"));
        int pipe = name ? hardware_pipe(space->hw, name, (int)strlen(name)) : -1;
        if (!name)
            continue;
        cr_assert_geq(pipe, 0);
        done.runs[pipe] += number_of(row, "runs");
        done.ns[pipe] += number_of(row, "time_ns");
    }
    json_array_foreach(json_object_get(picture, "flags"), index, row) done.sets +=
        number_of(row, "sets");
    return done;
}

/* Each tile within what its buffer has, and the buffers within the chip's. */
static void expect_room(json_t *picture)
{
    size_t t, b;
    json_t *tile, *buffer;
    cr_expect_gt(json_array_size(json_object_get(picture, "tiles")), 0);
    json_array_foreach(json_object_get(picture, "tiles"), t, tile)
    {
        const char *name = json_string_value(json_object_get(tile, "buffer"));
        double end =
            number_of(tile, "offset") + number_of(tile, "bytes") * number_of(tile, "copies");
        json_array_foreach(json_object_get(picture, "buffers"), b, buffer)
        {
            if (strcmp(json_string_value(json_object_get(buffer, "buffer")), name) != 0)
                continue;
            cr_expect_leq(end, number_of(buffer, "used_bytes"));
            cr_expect_leq(number_of(buffer, "used_bytes"), number_of(buffer, "capacity_bytes"));
        }
    }
}

static void expect_picture(const struct space *space, const struct tiling *tiling, const char *what)
{
    struct error error;
    json_t *picture = json_object();
    cr_assert_eq(kernel_picture(space, tiling, picture, &error), STATUS_OK, "%s", error.text);
    struct done program = done_by_program(space, tiling), drawn = done_by_picture(space, picture);
    for (int p = 0; p < space->hw->pipe_count; p++) {
        cr_expect_eq(drawn.runs[p], program.runs[p], "%s: %s runs %.0f, drawn %.0f", what,
                     space->hw->pipes[p].name, program.runs[p], drawn.runs[p]);
        cr_expect_float_eq(drawn.ns[p], program.ns[p], 1e-6 * program.ns[p] + 1e-6,
                           "%s: %s takes %f, drawn %f", what, space->hw->pipes[p].name,
                           program.ns[p], drawn.ns[p]);
    }
    cr_expect_eq(drawn.sets, program.sets, "%s: %.0f sets, drawn %.0f", what, program.sets,
                 drawn.sets);
    cr_expect_gt(json_array_size(json_object_get(picture, "bounds")), 0);
    expect_room(picture);
    json_decref(picture);
}

/* Random tilings of a text of the library, legal ones and others. */
static void draw(const char *name, const int64_t sizes[], gsl_rng *rng)
{
    char path[512];
    struct kernel_text kernel;
    struct hardware hw;
    struct error error;
    int legal = 0;
    machine_load_named(&hw, "ascend310", "");
    snprintf(path, sizeof path, "%s/kernels/library/%s.kernel", SOURCE_DIR, name);
    cr_assert_eq(kernel_text_read(path, &kernel, &error), STATUS_OK, "%s", error.text);
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    cr_assert_eq(
        kernel_space_create(&space, &kernel, sizes, DTYPE_F16, DTYPE_F16, hw.cores, &error),
        STATUS_OK, "%s", error.text);
    for (int i = 0; i < 100 * TILINGS && legal < TILINGS; i++) {
        struct tiling tiling;
        space_tiling(&space, (int64_t)((double)space.candidates * gsl_rng_uniform(rng)), &tiling);
        if (space.kind->legal(&space, &tiling)) {
            legal++;
            expect_picture(&space, &tiling, name);
            continue;
        }
        json_t *picture = json_object();
        cr_expect_eq(kernel_picture(&space, &tiling, picture, &error), STATUS_OK, "%s", error.text);
        cr_expect(!json_object_get(picture, "kernel"), "no program, no steps");
        json_decref(picture);
    }
    cr_expect_geq(legal, TILINGS / 2, "%s: %d legal", name, legal);
    space.kind->destroy(&space);
    free(space.blocks);
    kernel_text_clear(&kernel);
    hardware_clear(&hw);
}

Test(kernel_picture, is_the_program)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    draw("add_relu", (const int64_t[]){50000}, rng);
    draw("matmul_thesis", (const int64_t[]){200, 300, 100, 2}, rng);
    draw("matmul_two_level", (const int64_t[]){200, 96, 100, 1}, rng);
    draw("conv2d", (const int64_t[]){14, 14, 3, 3, 64, 64, 1, 1, 2, 2, 0}, rng);
    draw("scale_bias_relu", (const int64_t[]){300, 700}, rng);
    draw("softmax_long", (const int64_t[]){3, 5000}, rng);
    gsl_rng_free(rng);
}

Test(kernel_picture, is_the_program_of_random_kernels)
{
    unsigned long cases = random_cases(120), legal = 0;
    struct hardware hw;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    machine_load_named(&hw, "ascend310", "");
    random_case_chip(&hw);
    for (unsigned long seed = 1; seed <= cases; seed++) {
        struct random_case *random = random_case_open(seed, &hw);
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        struct error error;
        if (!random)
            continue;
        enum status status = kernel_space_create(&space, &random->kernel, random->given, DTYPE_F16,
                                                 DTYPE_F16, hw.cores, &error);
        for (int t = 0; t < 20 && status == STATUS_OK; t++) {
            struct tiling tiling;
            space_tiling(&space, (int64_t)((double)space.candidates * gsl_rng_uniform(rng)),
                         &tiling);
            if (!space.kind->legal(&space, &tiling))
                continue;
            legal++;
            expect_picture(&space, &tiling, random->shown);
            break;
        }
        space.kind->destroy(&space);
        free(space.blocks);
        random_case_close(random);
    }
    cr_expect_gt(2 * legal, cases);
    gsl_rng_free(rng);
    hardware_clear(&hw);
}
