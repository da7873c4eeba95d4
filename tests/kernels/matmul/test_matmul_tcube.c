/* Space tcube: it has those tilings of cann that a TCubeTiling has words for, and no other; its
 * best is the best of them; and its rows say each of them. */
#include "kernels/matmul/matmul_bank.h"
#include "search/candidates.h"
#include "search/search.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <string.h>

static bool has_words(const struct tiling *tiling)
{
    const int64_t *x = tiling->value;
    return x[CANN_OUTER] != OUTER_M_N && x[CANN_L0B_HOLDS] == HOLDS_TILE &&
           x[CANN_STEP_BATCH_A] == 1 && x[CANN_STEP_BATCH_B] == 1;
}

static void expect_row(const struct problem *problem, const struct tiling *tiling)
{
    static const enum bank_format forms[] = {BANK_RUNTIME_KB, BANK_TCUBETILING};
    for (int f = 0; f < 2; f++) {
        struct bank_row row;
        struct tiling back;
        struct error error;
        cr_assert_eq(matmul_bank_row(problem, tiling, forms[f], &row, &error), STATUS_OK, "%s",
                     error.text);
        cr_assert_eq(matmul_bank_tiling(&row, problem, &back, &error), STATUS_OK, "%s", error.text);
        cr_assert_eq(memcmp(back.value, tiling->value, CANN_AXES * sizeof *back.value), 0);
    }
}

static void find(const struct space *space, const char *strategy, struct search_result *result)
{
    const struct search_options options = {
        .strategy = strategy, .threads = 2, .top = 1, .keep_reached = true};
    struct error error;
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s", error.text);
}

Test(tcube, has_the_tilings_of_cann_with_words)
{
    static const struct {
        int64_t size[4];
        int cores;
    } cases[] = {{{32, 48, 48, 1}, 2}, {{16, 48, 32, 3}, 2}, {{48, 16, 32, 2}, 3}};
    struct hardware hw;
    struct error error;
    int with = 0, without = 0;
    machine_load_named(&hw, "ascend910b1", "");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct problem problem = {.op = &matmul_operator, .type = DTYPE_F16};
        memcpy(problem.size, cases[c].size, sizeof cases[c].size);
        struct space cann, tcube;
        struct search_result of_cann, of_tcube, proven;
        int64_t least_fs = INT64_MAX, legal = 0;
        cr_assert_eq(space_open(&problem, &matmul_cann, &hw, cases[c].cores, &cann, &error),
                     STATUS_OK, "%s", error.text);
        cr_assert_eq(space_open(&problem, &matmul_tcube, &hw, cases[c].cores, &tcube, &error),
                     STATUS_OK, "%s", error.text);
        find(&cann, "exhaustive", &of_cann);
        for (int64_t i = 0; i < of_cann.reached_count; i++) {
            struct tiling tiling;
            space_tiling(&cann, of_cann.reached[i].index, &tiling);
            bool words = has_words(&tiling);
            cr_assert_eq(matmul_tcube.legal(&tcube, &tiling), words, "%s",
                         random_cann_text(&problem, &cann, &tiling));
            with += words;
            without += !words;
            legal += words;
            if (words && of_cann.reached[i].time_fs < least_fs)
                least_fs = of_cann.reached[i].time_fs;
            if (words && i % 7 == 0)
                expect_row(&problem, &tiling);
        }
        find(&tcube, "exhaustive", &of_tcube);
        find(&tcube, "bound", &proven);
        cr_expect_eq(of_tcube.feasible, legal);
        cr_expect_eq(proven.feasible, legal);
        cr_expect(proven.optimal && of_tcube.optimal);
        cr_expect_eq(of_tcube.best[0].timeline.end_fs, least_fs);
        cr_expect_eq(proven.best[0].timeline.end_fs, least_fs);
        search_result_clear(&of_cann);
        search_result_clear(&of_tcube);
        search_result_clear(&proven);
        space_close(&cann);
        space_close(&tcube);
    }
    cr_expect(with > 1000 && without > 1000, "%d with, %d without", with, without);
    hardware_clear(&hw);
}
