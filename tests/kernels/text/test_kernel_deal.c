/* Which loops' rounds the vector cores beside a cube core deal out, and what programs and bounds
 * make of it. */
#include "analysis/check/check.h"
#include "core/work.h"
#include "costmodel/simulate.h"
#include "tests/support/kernel_case.h"
#include "tests/support/machine.h"
#include "tests/support/reference_simulator.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct hardware hw;

/* Products whose results go by way of gm to vector steps, which stand in the place of "%s". */
static const char frame[] = "kernel k\n"
                            "size M K N pad 16\n"
                            "tensor A[M,K] f16, B[K,N] f16, C[M,N] f16\n"
                            "axis rows = 16, 32\n"
                            "cores M\n"
                            "for i in M by 64\n"
                            "  for j in N by 64\n"
                            "    tile acc: l0c[i,j] f32\n"
                            "    tile g: gm[i,j] f16\n"
                            "    tile a1: l1[i,K] f16\n"
                            "    tile b1: l1[K,j] f16\n"
                            "    tile a0: l0a[i,K] f16\n"
                            "    tile b0: l0b[K,j] f16\n"
                            "    load a1 <- A\n"
                            "    load b1 <- B\n"
                            "    load a0 <- a1\n"
                            "    load b0 <- b1\n"
                            "    mmad acc <- a0, b0\n"
                            "    store g <- acc\n"
                            "%s";

static const struct {
    const char *what, *steps, *dealt; /* names of loops */
} cases[] = {
    {"rounds of their own",
     "    for r in i by rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      relu x <- x\n"
     "      store C <- x\n",
     "r"},
    {"the outermost of two",
     "    for r in i by 2*rows\n"
     "      for q in r by 16\n"
     "        tile x: ub[q,j] f16\n"
     "        load x <- g\n"
     "        store C <- x\n",
     "r"},
    {"a tile that outlives rounds, by parts",
     "    tile wide: ub[i,j] f16\n"
     "    for r in i by rows\n"
     "      load wide[r,j] <- g\n"
     "    for q in i by rows\n"
     "      relu wide[q,j] <- wide[q,j]\n"
     "      store C <- wide[q,j]\n",
     "r q"},
    {"its parts cut otherwise",
     "    tile wide: ub[i,j] f16\n"
     "    for r in i by rows\n"
     "      load wide[r,j] <- g\n"
     "    for q in i by 64\n"
     "      relu wide[q,j] <- wide[q,j]\n"
     "      store C <- wide[q,j]\n",
     ""},
    {"its parts read by a step that all play",
     "    tile wide: ub[i,j] f16\n"
     "    for r in i by rows\n"
     "      load wide[r,j] <- g\n"
     "    store C <- wide\n",
     ""},
    {"one that all have",
     "    tile d: ub[j] f16\n"
     "    load d <- B[0,j]\n"
     "    for r in i by rows\n"
     "      for q in r by 1\n"
     "        tile x: ub[q,j] f16\n"
     "        load x <- g\n"
     "        vadd x <- x, d\n"
     "        store C <- x\n",
     "r"},
    {"one that is loaded in the first round",
     "    tile d: ub[j] f16\n"
     "    for r in i by rows\n"
     "      for q in r by 1\n"
     "        tile x: ub[q,j] f16\n"
     "        load d <- B[0,j]\n"
     "        load x <- g\n"
     "        vadd x <- x, d\n"
     "        store C <- x\n",
     "r"},
    {"a sum over rounds",
     "    tile s: ub[16,j] f16\n"
     "    vecDup s <- 0.0\n"
     "    for r in i by 16*rows/rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      vadd s <- s, x\n"
     "    store C[16 from begin(i),j] <- s\n",
     ""},
    {"scratch between vector cores, by parts",
     "    tile h: gm[i,j] f16\n"
     "    for r in i by rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      store h <- x\n"
     "    for q in i by rows\n"
     "      tile y: ub[q,j] f16\n"
     "      load y <- h\n"
     "      store C <- y\n",
     "r q"},
    {"scratch between vector cores that cuts it otherwise",
     "    tile h: gm[i,j] f16\n"
     "    for r in i by rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      store h <- x\n"
     "    for q in j by rows\n"
     "      tile y: ub[i,q] f16\n"
     "      load y <- h\n"
     "      store C <- y\n",
     ""},
    {"scratch that a step stores that is not dealt",
     "    tile h: gm[i,j] f16\n"
     "    tile y: ub[i,j] f16\n"
     "    load y <- g\n"
     "    relu y <- y\n"
     "    store h <- y\n"
     "    for r in i by rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- h\n"
     "      store C <- x\n",
     ""},
    {"a step that asks which round it is",
     "    for r in i by rows\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      relu x <- x if last(r)\n"
     "      store C <- x\n",
     ""},
    {"rounds that are written out",
     "    for r in i by rows each\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      store C <- x\n",
     ""},
    {"written by rows, read by columns",
     "    tile wide: ub[64,64] f16\n"
     "    for r in 64 by rows\n"
     "      load wide[r,:] <- B[r,64 from 0]\n"
     "    for q in 64 by rows\n"
     "      tile x: ub[64,q] f16\n"
     "      for z in 64 by 1\n"
     "        vcopy x[z,:] <- wide[z,q]\n"
     "      store C[64 from begin(i),rows from begin(j) + begin(q)] <- x add=1\n",
     "q"},
    {"loaded once, in fewer rounds than others are",
     "    tile d: ub[j] f16\n"
     "    for r in i by 64*rows/rows\n"
     "      for q in r by 1\n"
     "        tile x: ub[q,j] f16\n"
     "        load d <- B[0,j]\n"
     "        load x <- g\n"
     "        vadd x <- x, d\n"
     "        store C <- x add=1\n"
     "    for s in i by 16\n"
     "      for t in s by 1\n"
     "        store C <- d add=1\n",
     "s"},
    {"loaded once, for the whole kernel",
     "    for r in i by rows\n"
     "      tile d: ub[N] f16 at top\n"
     "      load d <- B[0]\n"
     "      tile x: ub[r,j] f16\n"
     "      load x <- g\n"
     "      for q in r by 1\n"
     "        vadd x <- x, d[j]\n"
     "      store C <- x\n",
     "r"},
    {"parts read by the scalar unit in all rounds",
     "    tile wide: ub[i,j] f16\n"
     "    tile o: ub[16] f16\n"
     "    vecDup o <- 0.0\n"
     "    for r in i by rows\n"
     "      load wide[r,j] <- g\n"
     "    scalar assign o[0] <- wide[1,1]\n"
     "    store C[1 from begin(i),16 from begin(j)] <- o add=1\n",
     ""},
    {"later rounds have more to do",
     "    for r in i by 32*rows/rows\n"
     "      for q in r by 16 each\n"
     "        for z in begin(q) + 16 by 16\n"
     "          tile x: ub[q,16] f16\n"
     "          load x <- g[q,16 from 0]\n"
     "          store C[q,16 from begin(z)] <- x add=1\n",
     "z"},
};

static struct kernel_case *open_case(const char *steps)
{
    char text[4096];
    snprintf(text, sizeof text, frame, steps);
    return kernel_case_open(&hw, text);
}

static const char *dealt_loops(const struct kernel_case *c)
{
    static char names[256];
    names[0] = 0;
    for (int l = 0; l < c->kernel.loop_count; l++)
        if (c->plan.dealt >> l & 1)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     names[0] ? " " : "", c->kernel.loops[l].name.text);
    return names;
}

static void expect_safe(const struct kernel_case *c, const char *what)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(&c->program, &check, &error), STATUS_OK, "%s", error.text);
    for (size_t f = 0; f < check.count; f++)
        cr_expect_eq(check.findings[f].kind, FINDING_OVER_SYNC, "%s: %s", what,
                     check.findings[f].text);
    check_clear(&check);
}

static void play(const struct kernel_case *c, int cores)
{
    struct simulator *simulator = simulator_new();
    struct simulate_options options = {.cores = cores};
    struct timeline timeline, again;
    struct error error;
    cr_assert_eq(simulate(simulator, &c->program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    simulator_free(simulator);
    cr_assert_eq(timeline.blocked, -1);
    if (reference_simulate(&c->program, cores, false, &again))
        cr_expect_eq(timeline.end_fs, again.end_fs, "%s", kernel_case_text(c));
}

Test(kernel_deal, loops_whose_rounds_are_their_own)
{
    const int64_t sizes[] = {200, 64, 96};
    machine_load_named(&hw, "ascend910b2", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_case *c = open_case(cases[i].steps);
        for (int rows = 0; rows < 2; rows++) {
            cr_assert(kernel_case_set(c, sizes, &rows, NULL));
            cr_assert(kernel_case_make(c), "%s: %s", cases[i].what, c->error.text);
            cr_expect_str_eq(dealt_loops(c), cases[i].dealt, "%s: %s", cases[i].what,
                             dealt_loops(c));
            expect_safe(c, cases[i].what);
            play(c, 3);
        }
        kernel_case_close(c);
    }
    hardware_clear(&hw);
}

/* One block of 64 rows: 16 rows at a time are 4 rounds, of which each core plays 2; 48 rows are 3
 * rounds, of which the first plays 2. A chip with one vector core a cube core plays all. */
Test(kernel_deal, each_core_plays_its_part)
{
    static const struct {
        int64_t rows;
        int per_core;
        long long played; /* rounds of 16 rows */
    } expected[] = {{64, 2, 2}, {48, 2, 2}, {16, 2, 1}, {64, 1, 4}, {64, 3, 2}};
    machine_load_named(&hw, "ascend910b2", "");
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        const int64_t sizes[] = {expected[e].rows, 64, 64};
        const int rows = 0;
        for (int p = 0; p < hw.pipe_count; p++)
            if (strstr("V VMTE2 MTE3", hw.pipes[p].name))
                hw.pipes[p].per_core = (uint8_t)expected[e].per_core;
        struct kernel_case *c = open_case(cases[0].steps);
        cr_assert(kernel_case_set(c, sizes, &rows, NULL));
        cr_assert(kernel_case_make(c), "%s", c->error.text);
        struct work_total totals[HARDWARE_MAX_PRICES];
        cr_assert_eq(work_totals(&c->program, totals, &c->error), STATUS_OK);
        int path = hardware_path(&hw, hardware_buffer(&hw, "ub", 2), hardware_buffer(&hw, "gm", 2));
        cr_expect_eq(totals[hw.paths[path].price].units, expected[e].played * 16 * 64 * 2,
                     "%zu: %lld bytes", e, (long long)totals[hw.paths[path].price].units);
        kernel_case_close(c);
    }
    hardware_clear(&hw);
}
