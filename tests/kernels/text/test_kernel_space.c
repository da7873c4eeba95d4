/* A kernel's space: MatMul as a text has the candidates and the legal tilings of the space that is
 * written by hand, and their room. */
#include "hardware/find.h"
#include "kernels/matmul/matmul.h"
#include "kernels/text/kernel_space_internal.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void open_text(const char *file, const struct hardware *hw, const int64_t given[], int cores,
                      struct kernel_text *kernel, struct space *space)
{
    struct error error;
    *space = (struct space){.kind = &kernel_space_tile, .hw = hw};
    cr_assert_eq(kernel_text_read(file, kernel, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(kernel_space_create(space, kernel, given, DTYPE_F16, DTYPE_F16, cores, &error),
                 STATUS_OK, "%s", error.text);
}

static void close_text(struct kernel_text *kernel, struct space *space)
{
    space->kind->destroy(space);
    free(space->blocks);
    kernel_text_clear(kernel);
}

Test(kernel_space, matmul_has_the_tilings_of_the_hand_written_space)
{
    static const int64_t shapes[][4] = {
        {512, 1024, 512, 1}, {200, 300, 700, 1}, {128, 2048, 128, 1}, {100, 64, 40, 3}};
    struct hardware hw;
    struct error error;
    machine_load_named(&hw, "ascend310", "");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct problem problem = {.op = &matmul_operator, .type = DTYPE_F16};
        struct kernel_text kernel;
        struct space thesis, tile;
        struct tiling tiling;
        int64_t legal = 0;
        memcpy(problem.size, shapes[s], sizeof shapes[s]);
        cr_assert_eq(space_open(&problem, &matmul_thesis, &hw, hw.cores, &thesis, &error),
                     STATUS_OK, "%s", error.text);
        open_text("kernels/library/matmul.kernel", &hw, shapes[s], hw.cores, &kernel, &tile);
        cr_expect_eq(tile.candidates, thesis.candidates, "%lld and %lld candidates",
                     (long long)tile.candidates, (long long)thesis.candidates);
        for (int64_t i = 0; i < thesis.candidates; i++) {
            space_tiling(&thesis, i, &tiling);
            bool is_legal = thesis.kind->possible(&thesis, &tiling, thesis.axis_count);
            legal += is_legal;
            cr_expect_eq(space_index(&tile, &tiling), i);
            cr_expect_eq(tile.kind->possible(&tile, &tiling, tile.axis_count), is_legal);
            if (i % 97 == 0)
                cr_expect_eq(tile.kind->legal(&tile, &tiling), is_legal);
            for (int fixed = 0; is_legal && fixed < tile.axis_count; fixed++)
                cr_expect(tile.kind->possible(&tile, &tiling, fixed), "%d", fixed);
        }
        cr_expect_gt(legal, 100);
        close_text(&kernel, &tile);
        space_close(&thesis);
    }
    hardware_clear(&hw);
}
