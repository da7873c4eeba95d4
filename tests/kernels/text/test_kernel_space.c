/* A kernel's space: MatMul as a text. */
#include "hardware/load.h"
#include "kernels/text/space/kernel_space_internal.h"
#include "search/search.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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

/* Candidates and legal tilings as the space had them that was written by hand, and what a search
 * may simulate: a tenth more than it did there. */
Test(kernel_space, matmul_has_the_tilings_that_it_had_in_c)
{
    static const struct {
        int64_t size[4], candidates, legal, simulated;
    } cases[] = {{{512, 1024, 512, 1}, 33000, 12346, 559},
                 {{200, 300, 700, 1}, 14016, 10712, 413},
                 {{1024, 64, 1024, 1}, 13320, 11128, 1680},
                 {{128, 2048, 128, 1}, 9680, 7180, 243},
                 {{784, 576, 128, 1}, 13112, 9120, 418}};
    struct hardware hw;
    struct error error;
    machine_load_named(&hw, "ascend310", "");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct search_options options = {.threads = 2, .top = 1};
        struct kernel_text kernel;
        struct space space;
        struct tiling tiling;
        struct search_result result;
        int64_t legal = 0;
        open_text(SOURCE_DIR "/kernels/library/matmul_thesis.kernel", &hw, cases[c].size, hw.cores,
                  &kernel, &space);
        cr_expect_eq(space.candidates, cases[c].candidates, "%lld", (long long)space.candidates);
        for (int64_t i = 0; i < space.candidates; i++) {
            space_tiling(&space, i, &tiling);
            bool is_legal = space.kind->possible(&space, &tiling, space.axis_count);
            legal += is_legal;
            cr_expect_eq(space_index(&space, &tiling), i);
            if (i % 97 == 0)
                cr_expect_eq(space.kind->legal(&space, &tiling), is_legal);
            for (int fixed = 0; is_legal && fixed < space.axis_count; fixed++)
                cr_expect(space.kind->possible(&space, &tiling, fixed), "%d", fixed);
        }
        cr_expect_eq(legal, cases[c].legal, "%lld", (long long)legal);
        cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK, "%s", error.text);
        cr_expect_leq(10 * result.simulated, 11 * cases[c].simulated, "%lld",
                      (long long)result.simulated);
        search_result_clear(&result);
        close_text(&kernel, &space);
    }
    hardware_clear(&hw);
}

/* A number of copies that cannot be rules out no larger one. */
Test(kernel_space, no_copies_are_not_too_many)
{
    static const char text[] = "kernel k\nsize N pad 16\ntensor X[N] f16, Z[N] f16\n"
                               "axis t = slices(N)\naxis copies = 0, 1, 2\nfor i in N by t\n"
                               "  tile x: ub[i] f16 x copies\n  load x <- X\n  store Z <- x\n";
    const struct search_options options = {.threads = 1, .top = 1};
    const int64_t size = 800;
    struct kernel_text kernel;
    struct hardware hw;
    struct search_result result;
    struct error error;
    machine_load_named(&hw, "ascend310", "");
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    cr_assert_eq(kernel_text_parse("k", text, sizeof text - 1, &kernel, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(kernel_space_create(&space, &kernel, &size, DTYPE_F16, DTYPE_F16, 1, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK, "%s", error.text);
    cr_expect(result.optimal);
    cr_expect_eq(3 * result.feasible, 2 * space.candidates, "%lld of %lld",
                 (long long)result.feasible, (long long)space.candidates);
    search_result_clear(&result);
    close_text(&kernel, &space);
    hardware_clear(&hw);
}
