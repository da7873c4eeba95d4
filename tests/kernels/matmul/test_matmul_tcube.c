/* Space tcube: it has those tilings of cann that a TCubeTiling has words for, and no other; they
 * take as long as in cann, but for one set in L1, which is loaded or fed, never both; its rows say
 * each of them. */
#include "core/least.h"
#include "kernels/matmul/matmul_bank.h"
#include "kernels/tcube.h"
#include "search/candidates.h"
#include "search/search.h"
#include "search/tiling_simulator.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Parts of k are those of a row that the vendor's rules call legal. */
static bool parts_have_words(const struct hardware *hw, const struct problem *problem,
                             const struct tiling *tiling)
{
    struct bank_row row;
    struct error error;
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    struct tcube fields = {.type = problem->type, .out_type = problem->type};
    int count = 0;
    if (tiling->value[CANN_SPLIT_K] == 1)
        return true;
    if (matmul_bank_row(problem, tiling, BANK_RUNTIME_KB, &row, &error) != STATUS_OK)
        return false;
    for (int f = 0; f < TCUBE_FIELDS; f++)
        fields.field[f] = row.number[tcube_fields[f]];
    cr_assert_eq(tcube_check(hw, &fields, breaches, &count, &error), STATUS_OK);
    return count == 0;
}

static bool has_words(const struct hardware *hw, const struct problem *problem,
                      const struct tiling *tiling)
{
    const int64_t *x = tiling->value;
    return x[CANN_OUTER] != OUTER_M_N && x[CANN_L0B_HOLDS] == HOLDS_TILE &&
           x[CANN_STEP_BATCH_A] == 1 && x[CANN_STEP_BATCH_B] == 1 &&
           parts_have_words(hw, problem, tiling);
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

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* The times of what was reached, by tiling: as long as in cann or, where both buffers of L1 are
 * single, perhaps longer. */
static int compare_with_cann(const struct space *tcube, const struct search_result *of_tcube,
                             const struct space *cann, const struct search_result *of_cann)
{
    int longer = 0;
    size_t count = (size_t)of_cann->reached_count;
    qsort(of_cann->reached, count, sizeof *of_cann->reached, by_index);
    for (int64_t i = 0; i < of_tcube->reached_count; i += 7) {
        struct tiling tiling;
        space_tiling(tcube, of_tcube->reached[i].index, &tiling);
        const struct candidate wanted = {.index = space_index(cann, &tiling)};
        const struct candidate *same =
            bsearch(&wanted, of_cann->reached, count, sizeof wanted, by_index);
        cr_assert_not_null(same);
        int64_t more = of_tcube->reached[i].time_fs - same->time_fs;
        const int64_t *x = tiling.value;
        bool single = x[CANN_L1A_BUFFERS] == 1 && x[CANN_L1B_BUFFERS] == 1;
        cr_assert(single ? more >= 0 : more == 0);
        longer += more > 0;
    }
    return longer;
}

Test(matmul_tcube, has_the_tilings_of_cann_with_words)
{
    static const struct {
        int64_t size[4];
        int cores;
        const char *settings;
    } cases[] = {{{32, 32, 48, 1}, 2, ""},
                 {{16, 48, 16, 3}, 2, ""},
                 {{48, 16, 16, 2}, 3, ""},
                 {{16, 512, 16, 1}, 2, "buffers.l1.capacity_bytes=98304"},
                 {{16, 176, 16, 1}, 2, "buffers.l0b.capacity_bytes=32768"}};
    struct hardware hw;
    struct error error;
    int with = 0, without = 0, longer = 0, split = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct problem problem = {.op = &matmul_operator, .type = DTYPE_F16};
        memcpy(problem.size, cases[c].size, sizeof cases[c].size);
        machine_load_named(&hw, "ascend910b1", cases[c].settings);
        struct space cann, tcube;
        struct search_result of_cann, of_tcube, proven;
        int64_t legal = 0;
        cr_assert_eq(space_open(&problem, &matmul_cann, &hw, cases[c].cores, &cann, &error),
                     STATUS_OK, "%s", error.text);
        cr_assert_eq(space_open(&problem, &matmul_tcube, &hw, cases[c].cores, &tcube, &error),
                     STATUS_OK, "%s", error.text);
        find(&cann, "exhaustive", &of_cann);
        for (int64_t i = 0; i < of_cann.reached_count; i++) {
            struct tiling tiling;
            space_tiling(&cann, of_cann.reached[i].index, &tiling);
            bool words = has_words(&hw, &problem, &tiling);
            cr_assert_eq(matmul_tcube.legal(&tcube, &tiling), words, "%s",
                         random_cann_text(&problem, &cann, &tiling));
            with += words;
            split += words && tiling.value[CANN_SPLIT_K] > 1;
            without += !words;
            legal += words;
            if (words && (i % 7 == 0 || tiling.value[CANN_SPLIT_K] > 1))
                expect_row(&problem, &tiling);
        }
        find(&tcube, "exhaustive", &of_tcube);
        find(&tcube, "bound", &proven);
        fprintf(stderr, "REACHED %lld %lld split %d with %d longer %d\n",
                (long long)of_cann.reached_count, (long long)of_tcube.reached_count, split, with,
                longer);
        cr_expect_eq(of_tcube.feasible, legal);
        cr_expect_eq(proven.feasible, legal);
        cr_expect(proven.optimal && of_tcube.optimal);
        cr_expect_eq(proven.best[0].timeline.end_fs, of_tcube.best[0].timeline.end_fs);
        longer += compare_with_cann(&tcube, &of_tcube, &cann, &of_cann);
        search_result_clear(&of_cann);
        search_result_clear(&of_tcube);
        search_result_clear(&proven);
        space_close(&cann);
        space_close(&tcube);
        hardware_clear(&hw);
    }
    cr_expect_gt(split, 15, "%d", split);
    cr_expect(with > 1000 && without > 1000, "%d with, %d without", with, without);
    cr_expect_gt(longer, 20, "%d", longer);
}

/* When two pipes were moving. */
enum { MOST_SPANS = 256 };
struct overlap {
    const struct program *program;
    int pipe[2], count[2];
    int64_t start_fs[2][MOST_SPANS], end_fs[2][MOST_SPANS];
};

static void watch(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                  int64_t end_fs)
{
    struct overlap *o = context;
    (void)core;
    for (int p = 0; p < 2; p++)
        if (pipe == o->pipe[p] && o->program->items[instruction].kind == INSTRUCTION_MOVE) {
            cr_assert_lt(o->count[p], MOST_SPANS);
            o->start_fs[p][o->count[p]] = start_fs;
            o->end_fs[p][o->count[p]++] = end_fs;
        }
}

static int64_t both_fs(const struct overlap *o)
{
    int64_t both = 0;
    for (int i = 0; i < o->count[0]; i++)
        for (int j = 0; j < o->count[1]; j++) {
            int64_t first = o->start_fs[0][i], second = o->start_fs[1][j];
            int64_t until = least_of(o->end_fs[0][i], o->end_fs[1][j]);
            int64_t from = first > second ? first : second;
            both += until > from ? until - from : 0;
        }
    return both;
}

/* Of a product of 128x512x128 on one core, with parts of 64 of k in L1. */
static int64_t overlap_of(const struct hardware *hw, const struct operator_space *kind,
                          const char *buffers)
{
    struct problem problem = {
        .op = &matmul_operator, .type = DTYPE_F16, .size = {128, 512, 128, 1}};
    struct tiling_simulator simulator;
    struct timeline timeline;
    struct tiling tiling;
    struct space space;
    struct error error;
    char text[300];
    cr_assert_eq(space_open(&problem, kind, hw, 1, &space, &error), STATUS_OK, "%s", error.text);
    snprintf(
        text, sizeof text,
        "single_m=128,single_n=128,cores=1,outer=n,base_m=64,base_n=64,base_k=32,"
        "l0b_holds=tile,step_ka=2,step_kb=2,step_m=1,step_n=1,step_batch_a=1,step_batch_b=1,%s,"
        "l0a_buffers=2,l0b_buffers=2,l0c_buffers=1",
        buffers);
    cr_assert_eq(tiling_parse(&space, text, &tiling, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(tiling_simulator_open(&simulator, &error), STATUS_OK);
    program_reset(&simulator.program, hw);
    cr_assert_eq(kind->generate(&space, &tiling, 0, &simulator.program, &error), STATUS_OK);
    const struct cann_machine *machine = &cann_of(&space)->machine;
    struct overlap overlap = {.program = &simulator.program,
                              .pipe = {machine->mte2, machine->mte1}};
    struct trace trace = {&overlap, watch};
    struct simulate_options options = {.cores = 1, .trace = &trace};
    cr_assert_eq(simulate(simulator.model, &simulator.program, &options, &timeline, &error),
                 STATUS_OK, "%s", error.text);
    tiling_simulator_close(&simulator);
    space_close(&space);
    cr_assert(overlap.count[0] > 8 && overlap.count[1] > 8);
    return both_fs(&overlap);
}

Test(matmul_tcube, one_set_is_loaded_or_fed)
{
    struct hardware hw;
    machine_load_named(&hw, "ascend910b1", "");
    cr_expect_eq(overlap_of(&hw, &matmul_tcube, "l1a_buffers=1,l1b_buffers=1"), 0);
    cr_expect_gt(overlap_of(&hw, &matmul_cann, "l1a_buffers=1,l1b_buffers=1"), 0);
    cr_expect_gt(overlap_of(&hw, &matmul_tcube, "l1a_buffers=2,l1b_buffers=1"), 0);
    cr_expect_gt(overlap_of(&hw, &matmul_tcube, "l1a_buffers=1,l1b_buffers=2"), 0);
    hardware_clear(&hw);
}
