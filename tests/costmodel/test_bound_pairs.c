/* The contention term of the lower bound under attack: two pipes on one bus, on machines whose bus
 * tables and path limits go to the ends of what the load-time rules allow, with programs whose
 * chains reach over several pipes, in bursts and with latencies that a chain may or may not count.
 * No play may end before the bound, and now and then the bound
 * must be the play. */
#include "core/program_text.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

/* What the programs consist of. The first six are the whole program; the last two stand for the
 * part of the loads and stores that must come before or after the other pipe's. */
enum line {
    LOAD,
    STORE,
    LOAD_PAUSE,
    STORE_PAUSE,
    VECTOR,
    FEED,
    TOTALS,
    HEAD = TOTALS,
    TAIL,
    LINES
};

#define LINE(line) (UINT64_C(1) << (line))

enum {
    LOADS = LINE(LOAD) | LINE(LOAD_PAUSE),
    STORES = LINE(STORE) | LINE(STORE_PAUSE),
};

static const struct {
    const char *words, *unit;
    int64_t largest;
} instructions[TOTALS] = {
    [LOAD] = {"MTE2 gm->l1", "bytes", 200000},
    [STORE] = {"MTE3 ub->gm", "bytes", 200000},
    [LOAD_PAUSE] = {"MTE2 gm->l0a", "bytes", 60000},
    [STORE_PAUSE] = {"MTE3 ub->l1", "bytes", 60000},
    [VECTOR] = {"V relu", "elements", 60000},
    [FEED] = {"MTE1 l1->l0a", "bytes", 60000},
};

struct bench {
    gsl_rng *rng;
    struct hardware base, hw;
    int cores;
    struct simulator *simulator;
    /* the program at hand */
    char *text;
    size_t length;
    FILE *out;
    struct work work;
    struct work_layout layout;
    /* over all cases */
    double tightest;     /* bound over time where the contention term decided */
    int64_t contentions; /* cases in which it did */
};

static struct bench bench;

static int below(int limit)
{
    return (int)gsl_rng_uniform_int(bench.rng, (unsigned long)limit);
}

static int64_t below_wide(double limit)
{
    return (int64_t)(gsl_rng_uniform(bench.rng) * limit);
}

static void enter(void)
{
    machine_load(&bench.base, "");
    bench.rng = gsl_rng_alloc(gsl_rng_mt19937);
    bench.simulator = simulator_new();
    cr_assert(bench.rng && bench.simulator);
}

static void leave(void)
{
    hardware_clear(&bench.base);
    simulator_free(bench.simulator);
    gsl_rng_free(bench.rng);
}

TestSuite(bound_pairs, .init = enter, .fini = leave);

/* ---- machines -------------------------------------------------------------------------------- */

static int find_path(const char *from, const char *to)
{
    const struct hardware *hw = &bench.hw;
    int path = hardware_path(hw, hardware_buffer(hw, from, (int)strlen(from)),
                             hardware_buffer(hw, to, (int)strlen(to)));
    cr_assert_geq(path, 0);
    return path;
}

static void set_path(const char *from, const char *to, int bus, int64_t bytes_per_s)
{
    struct path *path = &bench.hw.paths[find_path(from, to)];
    struct price *price = &bench.hw.prices[path->price];
    path->bus = price->bus = (int8_t)bus;
    price->base_fs = bench.hw.issue_fs;
    price->rate = rate_reduce(FS_PER_S, bytes_per_s);
}

/* Fast, or so slow that whole bytes a second are coarse. */
static int64_t draw_bytes_per_s(void)
{
    switch (below(4)) {
    case 0:
        return 1000000 + below(1000);
    case 1:
        return INT64_C(1000000000) << below(6);
    default:
        return 1000000 + below_wide(below(2) ? 1e11 : 1e8);
    }
}

/* The total for n transfers, given that for n - 1: constant, in proportion, or between. */
static int64_t draw_total(int kind, int n, int64_t fewer)
{
    int64_t most = (int64_t)((__int128)fewer * n / (n - 1));
    switch (kind) {
    case 0:
        return fewer;
    case 1:
        return most;
    case 2:
        return below(2) ? fewer : most;
    default:
        return fewer + below_wide((double)(most - fewer));
    }
}

static void draw_bus(void)
{
    struct bus *bus = &bench.hw.buses[0];
    int kind = below(4);
    bus->sharers = 1 + below(12);
    bus->total_bytes_per_s[0] = draw_bytes_per_s();
    for (int n = 2; n <= bus->sharers; n++)
        bus->total_bytes_per_s[n - 1] = draw_total(kind, n, bus->total_bytes_per_s[n - 2]);
}

/* Far above what the bus gives, what it gives one, between its shares, or below them all. */
static int64_t draw_limit(void)
{
    const struct bus *bus = &bench.hw.buses[0];
    int64_t first = bus->total_bytes_per_s[0], last = bus->total_bytes_per_s[bus->sharers - 1];
    int64_t limits[] = {last * 10, first, last / (2 * bench.cores) + 1,
                        last / (3 * bench.cores) + 1, 1 + below_wide((double)last)};
    return limits[below(5)];
}

static int price_of(enum line line)
{
    struct program program;
    struct error error;
    char text[80];
    int length =
        snprintf(text, sizeof text, "%s %s=0", instructions[line].words, instructions[line].unit);
    cr_assert_eq(program_parse(&bench.hw, "line", text, (size_t)length, &program, &error),
                 STATUS_OK, "%s", error.text);
    int price = program.items[0].price;
    program_clear(&program);
    return price;
}

static int8_t draw_table(void)
{
    struct hardware *hw = &bench.hw;
    struct burst_table *table = &hw->burst_tables[hw->burst_table_count];
    *table = (struct burst_table){.row_count = 1 + below(3), .limit_count = 1 + below(3)};
    for (int r = 0; r < table->row_count; r++)
        table->align_bytes[r] = 32 << r;
    for (int c = 0; c < table->limit_count; c++)
        table->up_to_bytes[c] = 100 * (c + 1);
    for (int r = 0; r < table->row_count; r++)
        for (int c = 0; c <= table->limit_count; c++)
            table->fs[r][c] = below_wide(1e7);
    return (int8_t)hw->burst_table_count++;
}

/* What a move of the machine costs beside its bandwidth, and how late its result is. */
static void set_lateness(enum line line)
{
    struct price *price = &bench.hw.prices[price_of(line)];
    price->latency_fs = below(3) ? below_wide(below(2) ? 1e8 : 1e10) : 0;
    if (line == VECTOR)
        return;
    if (below(2))
        price->burst_table = draw_table();
}

static void draw_machine(void)
{
    static const int many[] = {1, 1, 1, 2, 3, 4, 7, 47};
    struct hardware *hw = &bench.hw;
    *hw = bench.base;
    bench.cores = many[below(8)];
    hw->launch_fs = below(2) ? 0 : below_wide(3e9);
    hw->issue_fs = below(2) ? 0 : below_wide(1e8);
    draw_bus();
    set_path("gm", "l1", 0, draw_limit());
    set_path("ub", "gm", 0, draw_limit());
    set_path("gm", "l0a", -1, draw_bytes_per_s());
    set_path("ub", "l1", -1, draw_bytes_per_s());
    set_path("l1", "l0a", -1, draw_bytes_per_s());
    hw->launch_core_fs = below(2) ? 0 : below_wide(1e8);
    for (int line = 0; line < TOTALS && below(TOTALS); line++)
        set_lateness((enum line)line);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* In how many pieces an instruction of `size` moves it: any rule will do. */
static int64_t bursts_of(enum line line, int64_t size)
{
    return bench.layout.price[line] == bench.layout.price[VECTOR] ? 0 : size / 2 % 7;
}

/* Where these begin: any rule will do here too. */
static int64_t align_of(int64_t size)
{
    return 16 << size / 2 % 5;
}

/* Adds `times` instructions of `size` to the summary. */
static void count(enum line line, int64_t size, int64_t times)
{
    const struct price *price = &bench.hw.prices[bench.layout.price[line]];
    int64_t units = size, bursts = bursts_of(line, size);
    if (line == VECTOR) /* repeats of 128 f16 after the first */
        units = size > 128 ? (size + 127) / 128 - 1 : 0;
    else if (bursts > 1)
        bench.work.burst_fs[line] +=
            (double)(times * bursts *
                     hardware_burst_fs(&bench.hw, price, (size + bursts - 1) / bursts,
                                       align_of(size)));
    bench.work.instructions[line] += (double)times;
    bench.work.units[line] += (double)(units * times);
}

static int64_t draw_size(enum line line)
{
    int kind = below(8);
    if (kind == 0)
        return 0;
    return 2 * below_wide((double)instructions[line].largest / (kind < 4 ? 100 : 2));
}

/* One instruction of `size`, which loops around it run `times` times. */
static void work_of(enum line line, int64_t size, int64_t times)
{
    fprintf(bench.out, "%s %s=%lld", instructions[line].words, instructions[line].unit,
            (long long)size);
    if (bursts_of(line, size))
        fprintf(bench.out, " bursts=%lld align=%lld", (long long)bursts_of(line, size),
                (long long)align_of(size));
    fputc('\n', bench.out);
    count(line, size, times);
}

static void order(const char *from, const char *to, int flag)
{
    fprintf(bench.out, "set %s %s %d\nwait %s %s %d\n", from, to, flag, from, to, flag);
}

static void add_chain(uint64_t lines)
{
    bench.layout.chains[bench.layout.chain_count++] = lines;
}

/* A pipe's transfers with pauses between them: private moves of its own and, serialised by flags,
 * another pipe's work. */
static void side(enum line transfer, const char *pipe, enum line partner, const char *partner_pipe)
{
    enum line pause = transfer == LOAD ? LOAD_PAUSE : STORE_PAUSE;
    int own = below(3), foreign = below(3), pieces = 1 + below(12);
    for (int i = 0; i < pieces; i++) {
        if (below(3) < own)
            work_of(pause, draw_size(pause), 1);
        if (below(3) < foreign) {
            order(pipe, partner_pipe, 0);
            work_of(partner, draw_size(partner), 1);
            order(partner_pipe, pipe, 0);
        }
        work_of(transfer, draw_size(transfer), 1);
    }
}

/* Both pipes on their own, each with its partner. `first` transfers of one pipe come before all of
 * the other's, `last` ones after them. */
static void write_sides(void)
{
    bool loads_first = below(2);
    enum line end = loads_first ? LOAD : STORE;
    const char *ahead = loads_first ? "MTE2" : "MTE3", *behind = loads_first ? "MTE3" : "MTE2";
    uint64_t mine = loads_first ? STORES | LINE(FEED) : LOADS | LINE(VECTOR);
    uint64_t ends = 0;
    bench.layout.price[HEAD] = bench.layout.price[TAIL] = bench.layout.price[end];
    if (below(2)) {
        int64_t size = draw_size(end);
        work_of(end, size, 1);
        count(HEAD, size, 1);
        order(ahead, behind, 1);
        ends |= LINE(HEAD);
    }
    side(LOAD, "MTE2", VECTOR, "V");
    side(STORE, "MTE3", FEED, "MTE1");
    if (below(2)) {
        int64_t size = draw_size(end);
        order(behind, ahead, 1);
        work_of(end, size, 1);
        count(TAIL, size, 1);
        ends |= LINE(TAIL);
    }
    /* What hands over to another pipe and is waited for, and what comes last, lasts until its
     * result is there. */
    bench.layout.late_lines = ends | LINE(VECTOR) | LINE(FEED);
    add_chain(mine | ends);
    add_chain(loads_first ? LOADS | LINE(VECTOR) : STORES | LINE(FEED));
}

/* One after the other, so that nothing is ever shared: the case in which a bound that moves bytes
 * out of the pauses must not ask for more than their time alone. */
static void write_serial(void)
{
    for (int i = 0; i < 1 + below(3); i++) {
        work_of(STORE, draw_size(STORE), 1);
        order("MTE3", "MTE2", 0);
        work_of(LOAD, draw_size(LOAD), 1);
        order("MTE2", "MTE3", 0);
    }
    bench.layout.late_lines = LINE(LOAD) | LINE(STORE);
    add_chain(LOADS);
    add_chain(STORES);
    if (below(2))
        add_chain(LOADS | STORES);
}

static void free_flags(const char *word, int buffers)
{
    for (int b = 0; b < buffers; b++)
        fprintf(bench.out, "%s V MTE2 %d\n%s MTE3 V %d\n", word, b, word, b);
}

/* Load, compute, store through one or two buffers; with one, each two neighbours take turns. */
static void write_pipeline(void)
{
    int buffers = 1 + below(2), times = 1 + below(12);
    int64_t load = draw_size(LOAD), vector = draw_size(VECTOR), store = draw_size(STORE);
    free_flags("set", buffers);
    fprintf(bench.out, "loop %d\n", times);
    for (int b = 0; b < buffers; b++) {
        fprintf(bench.out, "wait V MTE2 %d\n", b);
        work_of(LOAD, load, times);
        order("MTE2", "V", b);
        fprintf(bench.out, "wait MTE3 V %d\n", b);
        work_of(VECTOR, vector, times);
        fprintf(bench.out, "set V MTE2 %d\n", b);
        order("V", "MTE3", b);
        work_of(STORE, store, times);
        fprintf(bench.out, "set MTE3 V %d\n", b);
    }
    fprintf(bench.out, "end\n");
    free_flags("wait", buffers);
    bench.layout.price[HEAD] = bench.layout.price[LOAD];
    bench.layout.price[TAIL] = bench.layout.price[STORE];
    count(HEAD, load, 1);
    count(TAIL, store, 1);
    bench.layout.late_lines = LINE(HEAD) | LINE(TAIL);
    if (buffers == 1) /* nobody goes on before the other is done */
        bench.layout.late_lines |= LINE(LOAD) | LINE(VECTOR) | LINE(STORE);
    add_chain(LINE(LOAD) | LINE(TAIL) | (buffers == 1 ? LINE(VECTOR) : 0));
    add_chain(LINE(HEAD) | LINE(STORE) | (buffers == 1 ? LINE(VECTOR) : 0));
    add_chain(LINE(HEAD) | LINE(VECTOR) | LINE(TAIL));
}

static void write_program(void (*write)(void))
{
    memset(&bench.work, 0, sizeof bench.work);
    bench.work.cores = bench.cores;
    bench.layout = (struct work_layout){.total_count = TOTALS, .line_count = LINES};
    for (int line = 0; line < TOTALS; line++)
        bench.layout.price[line] = price_of((enum line)line);
    bench.out = open_memstream(&bench.text, &bench.length);
    cr_assert_not_null(bench.out);
    write();
    fclose(bench.out);
}

/* ---- bound and play -------------------------------------------------------------------------- */

static int64_t bound_without_pairs(const struct bound_plan *plan, const struct work *work)
{
    struct bound_plan plain = *plan;
    plain.pair_count = 0;
    return bound_fs(&plain, work);
}

static void expect_below(const struct work *work, const struct work_layout *layout, int64_t time_fs)
{
    struct bound_plan plan;
    bound_plan_make(&plan, &bench.hw, bench.cores, layout);
    int64_t bound = bound_fs(&plan, work), plain = bound_without_pairs(&plan, work);
    cr_assert_leq(bound, time_fs,
                  "%d cores, bound %lld, time %lld (%lld without contention) in\n%s", bench.cores,
                  (long long)bound, (long long)time_fs, (long long)plain, bench.text);
    cr_assert_geq(bound, plain);
    if (bound == plain || time_fs == 0)
        return;
    double ratio = (double)bound / (double)time_fs;
    bench.contentions++;
    bench.tightest = ratio > bench.tightest ? ratio : bench.tightest;
}

static void try_program(void)
{
    struct program program;
    struct error error;
    struct timeline timeline;
    struct work work;
    struct work_layout layout;
    struct simulate_options options = {.cores = bench.cores};
    cr_assert_eq(program_parse(&bench.hw, "case", bench.text, bench.length, &program, &error),
                 STATUS_OK, "%s in\n%s", error.text, bench.text);
    enum status status = simulate(bench.simulator, &program, &options, &timeline, &error);
    cr_assert(status == STATUS_OK || status == STATUS_TOO_LARGE, "%s", error.text);
    if (status == STATUS_OK) { /* a time that a clock of 2^62 fs holds */
        cr_assert_lt(timeline.blocked, 0, "a deadlock in\n%s", bench.text);
        expect_below(&bench.work, &bench.layout, timeline.end_fs);
        cr_assert_eq(work_of_program(&program, bench.cores, &work, &layout, &error), STATUS_OK);
        expect_below(&work, &layout, timeline.end_fs);
    }
    program_clear(&program);
}

/* `cases` programs of one kind, each on a machine of its own. Enough of them must be decided by the
 * contention term, and it must get within `near` of the truth: else this would test nothing. */
static void attack(void (*write)(void), unsigned long seed, int cases, double near)
{
    cases = test_cases(cases);
    bench.tightest = 0;
    bench.contentions = 0;
    gsl_rng_set(bench.rng, seed);
    for (int i = 0; i < cases; i++) {
        draw_machine();
        write_program(write);
        try_program();
        free(bench.text);
    }
    cr_assert_gt(bench.contentions, cases / 20);
    cr_assert_gt(bench.tightest, near);
}

Test(bound_pairs, two_pipes_with_pauses)
{
    attack(write_sides, 1, 6000, 1 - 1e-6);
}

Test(bound_pairs, one_after_the_other)
{
    attack(write_serial, 2, 4000, 1 - 1e-6);
}

Test(bound_pairs, pipelines)
{
    attack(write_pipeline, 3, 4000, 1 - 1e-3);
}

/* ---- single cases ---------------------------------------------------------------------------- */

static void expect_text_below(const char *overrides, const char *text)
{
    struct work work;
    struct work_layout layout;
    struct program program;
    struct error error;
    struct timeline timeline;
    machine_load(&bench.hw, overrides);
    bench.cores = bench.hw.cores;
    bench.text = strdup(text);
    struct simulate_options options = {.cores = bench.cores};
    cr_assert_eq(program_parse(&bench.hw, "case", text, strlen(text), &program, &error), STATUS_OK,
                 "%s", error.text);
    cr_assert_eq(simulate(bench.simulator, &program, &options, &timeline, &error), STATUS_OK);
    cr_assert_eq(work_of_program(&program, bench.cores, &work, &layout, &error), STATUS_OK);
    expect_below(&work, &layout, timeline.end_fs);
    program_clear(&program);
    hardware_clear(&bench.hw);
    free(bench.text);
}

/* Where one instruction follows another there is nothing to lose: the bound is the play, to the
 * rounding. Issue 40 ns, 10 pieces of 280 bytes for 0.8 ns a stretch of 256, 112 ns until the data
 * is there, twice. */
Test(bound_pairs, bursts_latency_and_launch_are_all_there)
{
    struct work work;
    struct work_layout layout;
    struct program program;
    struct error error;
    struct timeline timeline;
    struct bound_plan plan;
    const char *text =
        "MTE2 gm->l1 bytes=2800 bursts=10\nbarrier\nMTE2 gm->l1 bytes=2800 bursts=10";
    machine_load(&bench.hw, "");
    struct price *price = &bench.hw.prices[bench.hw.paths[find_path("gm", "l1")].price];
    price->burst_table = 0;
    bench.hw.burst_tables[0] = (struct burst_table){.row_count = 1,
                                                    .limit_count = 1,
                                                    .align_bytes = {32},
                                                    .up_to_bytes = {256},
                                                    .fs = {{500000, 800000}}};
    price->latency_fs = 112000000;
    bench.hw.launch_core_fs = 32000000;
    struct simulate_options options = {.cores = 2};
    cr_assert_eq(program_parse(&bench.hw, "case", text, strlen(text), &program, &error), STATUS_OK);
    cr_assert_eq(simulate(bench.simulator, &program, &options, &timeline, &error), STATUS_OK);
    cr_assert_eq(work_of_program(&program, 2, &work, &layout, &error), STATUS_OK);
    bound_plan_make(&plan, &bench.hw, 2, &layout);
    int64_t start_fs = bench.hw.launch_fs + 64000000, busy_fs = 2 * INT64_C(211555556);
    cr_expect_eq(timeline.end_fs, start_fs + busy_fs + 224000000);
    cr_expect_float_eq((double)bound_fs(&plan, &work), (double)(start_fs + busy_fs), 10);
    layout.late_lines = 1;
    bound_plan_make(&plan, &bench.hw, 2, &layout);
    cr_expect_float_eq((double)bound_fs(&plan, &work), (double)timeline.end_fs, 10);
    cr_expect_leq(bound_fs(&plan, &work), timeline.end_fs);
    program_clear(&program);
    hardware_clear(&bench.hw);
}

/* Shares are whole bytes a second: of a constant total of 1000001 one transfer gets 1000001 and
 * each of two 500000, a little less than half. */
Test(bound_pairs, a_share_rounded_below_one_half)
{
    expect_text_below("cores=1 buses.interconnect.total_gbps.1=0.001000001 "
                      "buses.interconnect.total_gbps.2=0.001000001 "
                      "buses.interconnect.total_gbps.3=0.001000001 "
                      "buses.interconnect.total_gbps.4=0.001000001",
                      "MTE3 ub->gm bytes=200000\nset MTE3 MTE2 0\nwait MTE3 MTE2 0\n"
                      "MTE2 gm->l1 bytes=16\n");
}

Test(bound_pairs, many_cores_of_the_shipped_chip)
{
    expect_text_below("cores=47", "MTE3 ub->gm bytes=200000000000\nset MTE3 MTE2 0\n"
                                  "wait MTE3 MTE2 0\nMTE2 gm->l1 bytes=1000000\n");
}
