/* The simulator's rules, one by one, on timelines computed by hand for the shipped Ascend 310.
 *
 * All times are femtoseconds after the launch. The constants they are made of:
 *   issue of a move or matrix instruction       40 ns
 *   bus, 1, 2, 3, 4 and more transfers          28, 36, 40, 42 bytes/ns in all, in equal shares
 *   l1->ub, ub->l1                              87.04 bytes/ns: 8704 bytes take 100 ns
 *   a 16×16×16 block                            7936/5390.32 ns = 1472268.807… fs
 *   a cycle                                     1/0.68 ns = 1470588.235… fs */
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NS *INT64_C(1000000)

/* Most examples leave the last members out. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct example {
    const char *text;
    int64_t end_fs; /* after launch */
    int cores;      /* 0: one */
    const char *set;
};

static struct hardware hw;
static struct program program;
static struct simulator *simulator;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    simulator = simulator_new();
    cr_assert(simulator);
}

static void leave(void)
{
    simulator_free(simulator);
}

TestSuite(simulate, .init = enter, .fini = leave);

static void open_program(const char *text, const char *set)
{
    struct error error;
    const char *const sets[] = {set};
    struct hardware_overrides overrides = {sets, set ? 1 : 0};
    cr_assert_eq(hardware_load("ascend310", &overrides, &hw, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(program_parse(&hw, "test", text, strlen(text), &program, &error), STATUS_OK, "%s",
                 error.text);
}

static void close_program(void)
{
    program_clear(&program);
    hardware_clear(&hw);
}

static struct timeline play(struct simulate_options options)
{
    struct timeline timeline;
    struct error error;
    cr_assert_eq(simulate(simulator, &program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    return timeline;
}

static void ignore_event(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                         int64_t end_fs)
{
    (void)context, (void)core, (void)pipe, (void)instruction, (void)start_fs, (void)end_fs;
}

/* Every way to play gives the same timeline. */
static void expect_example(const struct example *example)
{
    static const struct trace trace = {NULL, ignore_event};
    int cores = example->cores ? example->cores : 1;
    open_program(example->text, example->set);
    const struct simulate_options ways[] = {
        {.cores = cores},
        {.cores = cores, .execute_fully = true},
        {.cores = cores, .separately = true},
        {.cores = cores, .trace = &trace},
    };
    struct timeline first = play(ways[0]);
    cr_expect_eq(first.blocked, -1, "\n%s", example->text);
    cr_expect_eq(first.end_fs - hw.launch_fs, example->end_fs, "ends at %lld, expected %lld:\n%s",
                 (long long)(first.end_fs - hw.launch_fs), (long long)example->end_fs,
                 example->text);
    for (size_t way = 1; way < sizeof ways / sizeof *ways && program.executed < 100000; way++) {
        struct timeline other = play(ways[way]);
        cr_expect_eq(memcmp(&other, &first, sizeof other), 0, "way %zu ends at %lld:\n%s", way,
                     (long long)(other.end_fs - hw.launch_fs), example->text);
    }
    close_program();
}

#define EXPECT_ALL(examples)                                                                       \
    for (size_t i = 0; i < sizeof(examples) / sizeof *(examples); i++)                             \
    expect_example(&(examples)[i])

/* ---- one instruction alone ---- */

Test(simulate, nothing_ends_at_launch)
{
    static const struct example examples[] = {
        {"", 0},
        {"# nothing\n\n", 0},
        {"barrier\nbarrier MTE1\n", 0},
        {"loop 1000\nend\n", 0},
        {"loop 0\nM mmad m=16 k=16 n=16\nbarrier\nwait M V 0\nend\n", 0},
        {"loop 9\nloop i 0\nS branch count=1\nend\nend\n", 0},
        {"set M V 0\nwait M V 0\nset M V 1\n", 0},
    };
    EXPECT_ALL(examples);
}

Test(simulate, moves)
{
    static const struct example examples[] = {
        {"MTE1 l1->l0a bytes=8192", 40 NS + 23540907},           /* 8192/347.99 ns = …906.35 fs */
        {"MTE1 l1->l0a bytes=16", 40 NS + 45979},                /* 16/347.99 ns = 45978.33 fs */
        {"MTE1 l1->l0b bytes=8192", 40 NS + 46980559},           /* 8192/174.37 ns = …558.58 fs */
        {"V l0c->ub bytes=8192", 40 NS + 47064231},              /* 8192/174.06 ns = …230.73 fs */
        {"V l0c->ub bytes=8192 cast=f32:f16", 40 NS + 47056121}, /* 174.09: …120.40 fs */
        {"MTE3 ub->l1 bytes=8192", 40 NS + 94117648},            /* 8192/87.04 ns = …647.06 fs */
        {"MTE1 l1->ub bytes=8704", 140 NS},                      /* 8704/87.04 ns = 100 ns */
        {"MTE2 gm->l1 bytes=8192", 40 NS + 292571429},           /* 8192/28 ns = …428.57 fs */
        {"MTE2 gm->ub bytes=2800", 140 NS},
        {"MTE2 gm->l0a bytes=2800", 140 NS},
        {"MTE2 gm->l0b bytes=2800", 140 NS},
        {"MTE3 ub->gm bytes=2800", 140 NS},
    };
    EXPECT_ALL(examples);
}

Test(simulate, matrix_blocks)
{
    static const struct example examples[] = {
        {"M mmad m=16 k=16 n=16", 40 NS + 1472269},       /* 1 block: …268.81 fs */
        {"M mmad m=1 k=1 n=1", 40 NS + 1472269},          /* a partial block is a whole one */
        {"M mmad m=64 k=64 n=32", 40 NS + 47112602},      /* 4·4·2 = 32 blocks: …601.85 fs */
        {"M mmad m=17 k=1 n=33", 40 NS + 8833613},        /* 2·1·3 = 6 blocks: …612.85 fs */
        {"M mmad m=160 k=160 n=160", 40 NS + 1472268808}, /* 1000 blocks: …807.79 fs */
        {"M mmad m=16 k=16 n=16 init=0", 40 NS + 1472269},
        {"M mmad m=16 k=16 n=16 type=f16 init=1", 40 NS + 1472269},
    };
    EXPECT_ALL(examples);
}

/* First repeat, and then: one cycle, two cycles for two sources and exp and ln, or 20 ns. A repeat
 * is 256 bytes: 128 elements of two bytes, 64 of four, 256 of one; in a cast the wider counts. */
Test(simulate, vector_repeats)
{
    static const struct example examples[] = {
        {"V relu elements=1", 41500000},
        {"V relu elements=128", 41500000},
        {"V relu elements=129", 41500000 + 1470589},   /* 1 cycle: …588.24 fs */
        {"V relu elements=1024", 41500000 + 10294118}, /* 7 cycles: …117.65 fs */
        {"V relu elements=64 type=f32", 41500000},
        {"V relu elements=1024 type=f32", 41500000 + 22058824}, /* 15 cycles: …823.53 fs */
        {"V relu elements=1024 type=i32", 41500000 + 22058824},
        {"V relu elements=1024 type=bf16", 41500000 + 10294118},
        {"V relu elements=1024 type=u8", 41500000 + 4411765},   /* 3 cycles: …764.71 fs */
        {"V vadd elements=1024", 41500000 + 20588236},          /* 14 cycles: …235.29 fs */
        {"V vmul elements=1024 type=f32", 41500000 + 44117648}, /* 30 cycles: …647.06 fs */
        {"V exp elements=1024", 41500000 + 20588236},
        {"V ln elements=129", 41500000 + 2941177}, /* 2 cycles: …176.47 fs */
        {"V vnot elements=1024", 41500000 + 10294118},
        {"V reduceMin elements=1024", 38400000 + 10294118},
        {"V reduceMax elements=128", 38400000},
        {"V vecDup elements=1024", 36300000 + 10294118},
        {"V vecCmp elements=1024", 78800000 + 7 * 20000000},
        {"V vecSel elements=129 type=f16", 80100000 + 20000000},
        {"V cast elements=1024 cast=f32:f16", 41500000 + 22058824},
        {"V cast elements=1024 cast=f16:f32", 41500000 + 22058824},
    };
    EXPECT_ALL(examples);
}

Test(simulate, scalars_alone)
{
    static const struct example examples[] = {
        {"S branch count=1", 61400000},
        {"S branch count=3", 184200000},
        {"S assign count=2", 78000000},
        {"S nop count=1", 40000000},
    };
    EXPECT_ALL(examples);
}

Test(simulate, zero_counts)
{
    static const struct example examples[] = {
        {"MTE1 l1->l0a bytes=0", 40 NS},
        {"MTE2 gm->l1 bytes=0", 40 NS},
        {"V l0c->ub bytes=0 cast=f32:f16", 40 NS},
        {"M mmad m=0 k=16 n=16", 40 NS},
        {"M mmad m=16 k=16 n=0", 40 NS},
        {"V relu elements=0", 41500000},
        {"V vecCmp elements=0 type=f32", 78800000},
        {"S branch count=0", 0},
    };
    EXPECT_ALL(examples);
}

/* ---- order ---- */

Test(simulate, pipes_are_queues_and_overlap)
{
    static const struct example examples[] = {
        /* rounded up once each: 2·(40 ns + 1472269 fs) */
        {"M mmad m=16 k=16 n=16\nM mmad m=16 k=16 n=16", 2 * 41472269L},
        /* a move on V between vector instructions pays the issue, they do not */
        {"V relu elements=128\nV l0c->ub bytes=0\nV relu elements=128", 123 NS},
        /* different pipes at the same time */
        {"MTE1 l1->ub bytes=8704\nM mmad m=16 k=16 n=16\nMTE3 ub->l1 bytes=17408", 240 NS},
    };
    EXPECT_ALL(examples);
}

#define LOAD_140  "MTE2 gm->l1 bytes=2800\n"
#define FEED_140  "MTE1 l1->ub bytes=8704\n"
#define FEED_240  "MTE1 l1->ub bytes=17408\n"
#define FEED_1040 "MTE1 l1->ub bytes=87040\n"

Test(simulate, a_wait_ends_at_the_later_of_set_and_pipe)
{
    static const struct example examples[] = {
        /* set at 140, pipe free at 0: feed runs 140 … 380 */
        {LOAD_140 "set MTE2 MTE1 0\nwait MTE2 MTE1 0\n" FEED_240, 380 NS},
        /* set at 140, pipe free at 240: 240 … 380 */
        {LOAD_140 "set MTE2 MTE1 0\n" FEED_240 "wait MTE2 MTE1 0\n" FEED_140, 380 NS},
        /* the wait stands before its set in program order */
        {"wait MTE2 MTE1 0\n" FEED_140 LOAD_140 "set MTE2 MTE1 0\n", 280 NS},
        /* waits for a set that came before any work */
        {"set MTE2 MTE1 7\n" LOAD_140 "wait MTE2 MTE1 7\n" FEED_140, 140 NS},
        /* registers, directions and pairs of pipes are different flags */
        {"set MTE2 MTE1 1\nset MTE1 MTE2 0\nset MTE2 M 0\n" LOAD_140
         "set MTE2 MTE1 0\nwait MTE2 MTE1 0\n" FEED_240,
         380 NS},
        /* a pipe that waits for itself waits for nothing */
        {LOAD_140 "set MTE2 MTE2 0\nwait MTE2 MTE2 0\n" LOAD_140, 280 NS},
    };
    EXPECT_ALL(examples);
}

#define THREE_SETS                                                                                 \
    LOAD_140 "set MTE2 MTE1 0\n" LOAD_140 "set MTE2 MTE1 0\n" LOAD_140 "set MTE2 MTE1 0\n"

Test(simulate, the_nth_wait_matches_the_nth_set)
{
    static const struct example examples[] = {
        /* sets at 140, 280, 420; the first wait takes the first: 140 + 1040 */
        {THREE_SETS "wait MTE2 MTE1 0\n" FEED_1040, 1180 NS},
        {THREE_SETS "wait MTE2 MTE1 0\nwait MTE2 MTE1 0\n" FEED_1040, 1320 NS},
        {THREE_SETS "loop 3\nwait MTE2 MTE1 0\nend\n" FEED_1040, 1460 NS},
        /* 140 … 280, 280 … 420, 420 … 560 */
        {THREE_SETS "loop 3\nwait MTE2 MTE1 0\n" FEED_140 "end\n", 560 NS},
        /* 240, then 240 … 380, 380 … 520, 520 … 660: no set is late any more */
        {THREE_SETS FEED_240 "loop 3\nwait MTE2 MTE1 0\n" FEED_140 "end\n", 660 NS},
        /* 20 sets outstanding; wait 20 takes set 20, at 20·140 */
        {"loop 25\n" LOAD_140 "set MTE2 MTE1 0\nend\nloop 20\nwait MTE2 MTE1 0\nend\n" FEED_1040,
         3840 NS},
    };
    EXPECT_ALL(examples);
}

Test(simulate, barriers)
{
    static const struct example examples[] = {
        /* the second load starts when the feed has ended: 240 … 380 */
        {LOAD_140 FEED_240 "barrier\n" LOAD_140, 380 NS},
        /* on one pipe a barrier changes nothing */
        {LOAD_140 FEED_240 "barrier MTE1\nbarrier MTE2\n" LOAD_140, 280 NS},
        /* a set behind a barrier is set when the barrier ends: 240, feed until 380 */
        {LOAD_140 FEED_240 "barrier\nset MTE2 M 0\nwait MTE2 M 0\nM mmad m=0 k=0 n=0\n", 280 NS},
        /* load 140, feed 240: five rounds of 240 and a last load */
        {"loop 5\n" LOAD_140 FEED_240 "barrier\nend\n" LOAD_140, 1340 NS},
        /* a pipe that comes only later has to wait too */
        {FEED_240 "barrier\nV relu elements=0", 281500000},
    };
    EXPECT_ALL(examples);
}

/* M: 64 blocks, 40 ns + 94225204 fs (…203.70). */
#define MATRIX_64 "M mmad m=64 k=64 n=64\n"

Test(simulate, scalars_block_dispatch)
{
    static const struct example examples[] = {
        {"S branch count=2\nM mmad m=16 k=16 n=16", 122800000 + 41472269},
        /* what stands before a scalar goes on beside it */
        {"M mmad m=16 k=16 n=16\nS branch count=1\nM mmad m=16 k=16 n=16", 61400000 + 41472269},
        {MATRIX_64 "S branch count=1\nM mmad m=16 k=16 n=16", 134225204 + 41472269},
        /* a wait on S holds everything behind it back */
        {MATRIX_64 "set M S 0\nwait M S 0\nV relu elements=0", 134225204 + 41500000},
        {MATRIX_64 "set M S 0\nwait M S 0\nS branch count=1\nV relu elements=0",
         134225204 + 61400000 + 41500000},
        /* a set behind a scalar is later than it */
        {"S branch count=1\nset M V 0\nwait M V 0\nV relu elements=0", 61400000 + 41500000},
        /* scalars run one behind the other: 100 of them and the last relu */
        {"loop 100\nS branch count=1\nV relu elements=0\nend", 6140000000 + 41500000},
        /* relu k starts with scalar k: the last scalar ends last */
        {"loop 100\nV relu elements=0\nS branch count=1\nend", 6140000000},
        /* the vector unit is slower than the scalars before it: one scalar, ten compares */
        {"loop 10\nS branch count=1\nV vecCmp elements=0\nend", 61400000 + 788000000},
        /* loops of other pipes behind a scalar, and a scalar loop before them */
        {"loop 5\nS branch count=1\nend\nloop 3\nV relu elements=0\nend", 307000000 + 124500000},
        {"S branch count=0\nV relu elements=0", 41500000},
        {"S branch count=1\nbarrier\nV relu elements=0", 61400000 + 41500000},
    };
    EXPECT_ALL(examples);
}

/* Instruction i (from 1, loops unrolled, flags and barriers included) starts no earlier than
 * i·dispatch; behind an instruction on S dispatch goes on when that has ended. */
Test(simulate, dispatch)
{
    static const struct example examples[] = {
        {"", 0, 1, "dispatch_ns=10"},
        {"M mmad m=0 k=0 n=0", 50 NS, 1, "dispatch_ns=10"},
        {"M mmad m=0 k=0 n=0\nV relu elements=0", 61500000, 1, "dispatch_ns=10"},
        {"M mmad m=0 k=0 n=0\nM mmad m=0 k=0 n=0", 90 NS, 1, "dispatch_ns=10"},
        {"barrier M\nbarrier M\nbarrier M\nV relu elements=0", 81500000, 1, "dispatch_ns=10"},
        {"set M V 0\nset M V 1\nwait M V 0\nV relu elements=0", 81500000, 1, "dispatch_ns=10"},
        /* busy all the time: 10 + 100·41.5 */
        {"loop 100\nV relu elements=0\nend", 4160 NS, 1, "dispatch_ns=10"},
        /* five instructions a round: the last relu starts at 500·10 */
        {"loop 100\nloop 4\nset M V 0\nend\nV relu elements=0\nend", 5041500000, 1,
         "dispatch_ns=10"},
        /* M's instruction is number 101 */
        {"loop 100\nV relu elements=0\nend\nM mmad m=0 k=0 n=0", 5090 NS, 1, "dispatch_ns=50"},
        {"MTE2 gm->l1 bytes=2800\nMTE3 ub->gm bytes=2800", 420 NS, 1, "dispatch_ns=140"},
    };
    EXPECT_ALL(examples);
}

Test(simulate, dispatch_counts_loops_that_hold_barriers_of_one_pipe_only)
{
    static const struct example examples[] = {
        {"loop 100\nbarrier M\nend\nV relu elements=0", 1051500000, 1, "dispatch_ns=10"},
    };
    EXPECT_ALL(examples);
}

Test(simulate, dispatch_stands_still_behind_scalars)
{
    static const struct example examples[] = {
        /* S 10 … 71.4; M is dispatched at 81.4, V at 91.4 */
        {"S branch count=1\nM mmad m=0 k=0 n=0\nV relu elements=0", 132900000, 1, "dispatch_ns=10"},
        /* S 10 … 71.4 and 81.4 … 142.8; V at 152.8 */
        {"S branch count=1\nS branch count=1\nV relu elements=0", 194300000, 1, "dispatch_ns=10"},
        /* M 50 … 1562.268808 (1000 blocks); S 100 … 161.4; M's second is dispatched at 211.4, its
         * third at 411.4: both follow the first at once */
        {"M mmad m=160 k=160 n=160\nS branch count=1\nM mmad m=0 k=0 n=0\n"
         "loop 3\nset M V 0\nend\nM mmad m=0 k=0 n=0\n",
         50000000 + 1512268808 + 80000000, 1, "dispatch_ns=50"},
    };
    EXPECT_ALL(examples);
}

/* ---- the bus ---- */

/* MTE2 is active from 40, MTE3 from 180 (100 ns on a private path before). */
#define STORE_AT_180(bytes) "MTE3 ub->l1 bytes=8704\nMTE3 ub->gm bytes=" bytes "\n"

Test(simulate, sharing_begins_and_ends_inside_a_transfer)
{
    static const struct example examples[] = {
        /* Tang 2024, Fig. 2.9, the other one is shorter: 140·28 = 3920 bytes alone, 9000 in 500 ns
         * at 18 each, 43080 alone in 1538571428.57 fs */
        {"MTE2 gm->l1 bytes=56000\n" STORE_AT_180("9000"), 680 NS + 1538571429},
        /* the other one is longer: 3920 alone, 7280 at 18 in 404444444.44 fs; then the other
         * one's 20000 − 7280 alone in 454285714.29 fs: 1038730158.73 in all */
        {"MTE2 gm->l1 bytes=11200\n" STORE_AT_180("20000"), 1038730159},
        /* both at once: 9000 at 18 */
        {"MTE2 gm->l1 bytes=9000\nMTE3 ub->gm bytes=9000", 540 NS},
        /* 18000 bytes at 18, then 28000 at 28 */
        {"MTE2 gm->l1 bytes=46000\nMTE3 ub->gm bytes=18000", 2040 NS},
        /* two short ones inside a long one: 1000 ns at 18 each, 40 ns of issue alone, again 1000
         * ns at 18 each, then the 11200 left in 400 ns */
        {"MTE2 gm->l1 bytes=48320\nloop 2\nMTE3 ub->gm bytes=18000\nend", 2480 NS},
        /* fluid: the order of program text does not matter */
        {"MTE3 ub->gm bytes=9000\nMTE2 gm->ub bytes=9000", 540 NS},
    };
    EXPECT_ALL(examples);
}

Test(simulate, what_does_not_share)
{
    static const struct example examples[] = {
        /* MTE2 is active 40 … 80; MTE3's issue ends at 80 and does not use the bus */
        {"MTE2 gm->l1 bytes=1120\nMTE3 ub->l1 bytes=0\nMTE3 ub->gm bytes=2800", 180 NS},
        /* nothing to move: no share */
        {"MTE2 gm->l1 bytes=2800\nloop 3\nMTE3 ub->gm bytes=0\nend", 140 NS},
        /* private paths of pipes that also use the bus */
        {"MTE2 gm->l1 bytes=2800\nMTE3 ub->l1 bytes=8704", 140 NS},
        /* a path's own limit below its share: 10 of 28; the other takes its 18, not 26 */
        {"MTE2 gm->l1 bytes=10000\nMTE3 ub->gm bytes=18000", 1040 NS, 1,
         "paths.gm->l1.bandwidth_gbps=10"},
    };
    EXPECT_ALL(examples);
}

/* n transfers a core and c cores: n·c of them; beyond the table its last total is shared. */
Test(simulate, cores_in_step_share)
{
    static const struct example examples[] = {
        {"MTE2 gm->l1 bytes=9000", 540 NS, 2},
        {"MTE2 gm->l1 bytes=10500\nMTE3 ub->gm bytes=10500", 1040 NS, 2},
        /* a share is whole bytes a second: 40000 bytes at 13333333333, not at 40/3 */
        {"MTE2 gm->l1 bytes=40000", 3040000001, 3},
        {"MTE2 gm->l1 bytes=10500", 1040 NS, 4},
        {"MTE2 gm->l1 bytes=8400", 1040 NS, 5},
        {"MTE2 gm->l1 bytes=7000\nMTE3 ub->gm bytes=7000", 1040 NS, 3},
        /* alone at 18: 2520 bytes until 180; 9000 at 10.5 in 857142857.14 fs; 44480 at 18 in
         * 2471111111.11 fs: 3508253968.25 in all */
        {"MTE2 gm->l1 bytes=56000\n" STORE_AT_180("9000"), 3508253969, 2},
        {"M mmad m=16 k=16 n=16", 41472269, 2},
    };
    EXPECT_ALL(examples);
}

/* Core 0 is active from 40, core 1 from 101, each with both pipes.
 *   40 … 101        2 transfers at 18: 1098 bytes
 *   101 … 261       4 at 10.5: 1680 bytes; core 0's store (2778) ends
 *   … + 82350001    3 at 13.333333333: the 1098 bytes left of core 1's store
 *   … + 340222223   2 at 18: the 6124 left of core 0's load
 *   … + 39214285    core 1's last 1098 bytes alone */
Test(simulate, skewed_cores_share_among_two_three_and_four)
{
    open_program("MTE2 gm->l1 bytes=10000\nMTE3 ub->gm bytes=2778", NULL);
    struct timeline skewed =
        play((struct simulate_options){.cores = 2, .separately = true, .skew = true});
    cr_expect_eq(skewed.end_fs - hw.launch_fs, 722786509, "%lld",
                 (long long)(skewed.end_fs - hw.launch_fs));
    cr_expect_eq(skewed.busy_fs[hardware_pipe(&hw, "MTE2", 4)], 683572223);
    cr_expect_eq(skewed.busy_fs[hardware_pipe(&hw, "MTE3", 4)], 282350001);
    cr_expect_eq(skewed.active_fs[0], 682786509);
    close_program();
}

Test(simulate, skew_shifts_what_is_private)
{
    open_program("M mmad m=16 k=16 n=16\n", NULL);
    struct timeline timeline =
        play((struct simulate_options){.cores = 4, .separately = true, .skew = true});
    cr_expect_eq(timeline.end_fs - hw.launch_fs, 3 * 61000000 + 41472269);
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "M", 1)], 41472269);
    close_program();
    open_program("", NULL);
    timeline = play((struct simulate_options){.cores = 2, .separately = true, .skew = true});
    cr_expect_eq(timeline.end_fs, hw.launch_fs);
    close_program();
}

Test(simulate, launch_comes_first)
{
    open_program("M mmad m=16 k=16 n=16\n", "launch_ns=100");
    cr_expect_eq(play((struct simulate_options){.cores = 1}).end_fs, 141472269);
    close_program();
    open_program("M mmad m=16 k=16 n=16\n", NULL);
    cr_expect_eq(play((struct simulate_options){.cores = 1}).end_fs, 2050000000 + 41472269);
    close_program();
}

/* The first case of Fig. 2.9 above: issue and waiting for the bus count as busy. */
Test(simulate, busy_and_active_times)
{
    open_program("MTE2 gm->l1 bytes=56000\n" STORE_AT_180("9000") "wait MTE3 V 0\n"
                                                                  "V relu elements=0\n"
                                                                  "set MTE3 V 0\nbarrier\n",
                 NULL);
    struct timeline timeline = play((struct simulate_options){.cores = 1});
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "MTE2", 4)], 2218571429);
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "MTE3", 4)], 680000000);
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "V", 1)], 41500000);
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "M", 1)], 0);
    cr_expect_eq(timeline.active_fs[0], 2178571429);
    cr_expect_eq(timeline.end_fs - hw.launch_fs, 2218571429);
    close_program();
}

/* ---- latency, bursts, the launch of each core ---- */

static struct price *price_of_path(const char *from, const char *to)
{
    int path = hardware_path(&hw, hardware_buffer(&hw, from, (int)strlen(from)),
                             hardware_buffer(&hw, to, (int)strlen(to)));
    cr_assert_geq(path, 0);
    return &hw.prices[hw.paths[path].price];
}

static void set_bursts(struct price *price, struct burst_table table)
{
    price->burst_table = (int8_t)hw.burst_table_count;
    hw.burst_tables[hw.burst_table_count++] = table;
}

/* Results of gm->l1 are there 112 ns after the move, of mmad 30 ns, of l1->ub 9 ns; a piece of
 * gm->l1 of up to 256 bytes costs 0.5 ns and a longer one 0.8 ns, 1 and 2 ns where they begin
 * at multiples of less than 512 bytes; one of l1->ub costs 5 ns; nothing else has changed. A load
 * of 2800 bytes occupies MTE2 for 140 ns. */
static void make_late(void)
{
    price_of_path("gm", "l1")->latency_fs = 112 NS;
    set_bursts(price_of_path("gm", "l1"),
               (struct burst_table){.row_count = 2,
                                    .limit_count = 1,
                                    .align_bytes = {32, 512},
                                    .up_to_bytes = {256},
                                    .fs = {{1 NS, 2 NS}, {500000, 800000}}});
    price_of_path("l1", "ub")->latency_fs = 9 NS;
    set_bursts(price_of_path("l1", "ub"), (struct burst_table){.row_count = 1,
                                                               .limit_count = 1,
                                                               .align_bytes = {1},
                                                               .up_to_bytes = {4096},
                                                               .fs = {{5 NS, 5 NS}}});
    hw.prices[hw.matrix_types[0].price].latency_fs = 30 NS;
    hw.launch_core_fs = 32 NS;
}

#define LOAD "MTE2 gm->l1 bytes=2800\n"

static void expect_late(const struct example *example)
{
    static const struct trace trace = {NULL, ignore_event};
    int cores = example->cores ? example->cores : 1;
    struct error error;
    open_program("", NULL);
    make_late();
    cr_assert_eq(program_parse(&hw, "late", example->text, strlen(example->text), &program, &error),
                 STATUS_OK, "%s", error.text);
    const struct simulate_options ways[] = {
        {.cores = cores},
        {.cores = cores, .execute_fully = true},
        {.cores = cores, .separately = true},
        {.cores = cores, .trace = &trace},
    };
    int64_t start_fs = hw.launch_fs + cores * 32 NS;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct timeline timeline = play(ways[way]);
        cr_expect_eq(timeline.end_fs - start_fs, example->end_fs,
                     "way %zu ends at %lld, expected %lld:\n%s", way,
                     (long long)(timeline.end_fs - start_fs), (long long)example->end_fs,
                     example->text);
    }
    close_program();
}

#define EXPECT_ALL_LATE(examples)                                                                  \
    for (size_t i = 0; i < sizeof(examples) / sizeof *(examples); i++)                             \
    expect_late(&(examples)[i])

Test(simulate, latency_does_not_hold_up_the_pipe)
{
    static const struct example examples[] = {
        {"", 0},
        {"", 0, 2},
        {LOAD, 252 NS},
        {LOAD LOAD, 392 NS},
        /* the second ends before the first one's result is there */
        {LOAD "MTE2 gm->l0a bytes=0\n", 252 NS},
        {"loop 10\n" LOAD "end\n", 1512 NS},
        {"M mmad m=16 k=16 n=16\n", 71472269},
        {"M mmad m=16 k=16 n=16\nM mmad m=16 k=16 n=16\n", 112944538},
    };
    EXPECT_ALL_LATE(examples);
}

Test(simulate, flags_wait_for_results)
{
    static const struct example examples[] = {
        {LOAD "set MTE2 V 0\nwait MTE2 V 0\nV relu elements=0\n", 293500000},
        /* a set covers everything before it, however short the last of it was … */
        {LOAD "MTE2 gm->l0a bytes=0\nset MTE2 V 0\nwait MTE2 V 0\nV relu elements=0\n", 293500000},
        /* … and nothing after it; it does not hold up its pipe either */
        {LOAD "set MTE2 V 0\n" LOAD "wait MTE2 V 0\nV relu elements=0\n", 392 NS},
        {LOAD "set MTE2 V 0\nset MTE2 V 1\n" LOAD
              "set MTE2 V 2\nwait MTE2 V 2\nV relu elements=0\n",
         433500000},
        /* a pipe that waits goes on at once when it has waited: its own results may be late still
         */
        {LOAD "set V MTE2 0\nwait V MTE2 0\n" LOAD, 392 NS},
        {LOAD "set MTE2 S 0\nwait MTE2 S 0\nS branch count=1\nV relu elements=0\n",
         252 NS + 61400000 + 41500000},
        /* a pipe's flag to itself */
        {LOAD "set MTE2 MTE2 0\nwait MTE2 MTE2 0\n" LOAD, 504 NS},
        {"loop 3\n" LOAD "set MTE2 MTE1 0\nwait MTE2 MTE1 0\nMTE1 l1->ub bytes=8704\n"
         "set MTE1 MTE2 0\nwait MTE1 MTE2 0\nend\n",
         3 * (252 + 149) NS},
        {"loop 300\n" LOAD "set MTE2 MTE1 0\nwait MTE2 MTE1 0\nMTE1 l1->ub bytes=8704\n"
         "set MTE1 MTE2 0\nwait MTE1 MTE2 0\nend\n",
         300 * (252 + 149) NS},
    };
    EXPECT_ALL_LATE(examples);
}

Test(simulate, barriers_wait_for_results)
{
    static const struct example examples[] = {
        {LOAD "barrier\n" LOAD, 504 NS},
        {LOAD "barrier\nV relu elements=0\n", 293500000},
        {"M mmad m=16 k=16 n=16\nbarrier\n" LOAD, 71472269 + 252 NS},
        {LOAD "barrier\n", 252 NS},
        /* on one pipe: its own results only */
        {LOAD "barrier MTE2\n" LOAD, 504 NS},
        {LOAD "barrier MTE1\n" LOAD, 392 NS},
        {LOAD "barrier MTE2\nV relu elements=0\n", 252 NS},
        {LOAD "barrier MTE2\n", 252 NS},
        {"barrier MTE2\n", 0},
        {"barrier MTE2\nbarrier\n", 0, 2},
        {LOAD "barrier MTE2\nbarrier MTE2\n" LOAD "barrier MTE2\n", 504 NS},
        {"loop 3\n" LOAD "barrier MTE2\nend\n", 756 NS},
        {"loop 3\nbarrier MTE2\n" LOAD "end\n", 756 NS},
        {"loop 3\n" LOAD LOAD "barrier MTE2\nend\n", 3 * 392 NS},
        {LOAD "loop 0\nbarrier MTE2\nend\n" LOAD, 392 NS},
        {LOAD "loop 3\nbarrier MTE2\nV relu elements=0\nend\n" LOAD, 504 NS},
        {LOAD "barrier MTE2\nloop 2\n" LOAD "end\n", 644 NS},
        {"loop 300\n" LOAD "barrier MTE2\nend\n", 300 * 252 NS},
    };
    EXPECT_ALL_LATE(examples);
}

/* On a bus only the bytes are traffic. */
Test(simulate, bursts_cost_by_length_and_alignment)
{
    static const struct example examples[] = {
        {"MTE2 gm->l1 bytes=2800 bursts=10\n", 40 NS + 16 NS + 100 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=10 align=512\n", 40 NS + 16 NS + 100 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=10 align=256\n", 40 NS + 40 NS + 100 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=20\n", 40 NS + 10 NS + 100 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=20 align=16\n", 40 NS + 20 NS + 100 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=1 align=16\n", 252 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=0\n", 252 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=10\nMTE2 gm->l1 bytes=2800 bursts=10 align=32\n",
         156 NS + 180 NS + 112 NS},
        {"MTE2 gm->l1 bytes=2800 bursts=10\nMTE2 gm->l1 bytes=5120 bursts=2\n",
         156 NS + 56 NS + 182857143 + 112 NS},
        {"MTE1 l1->ub bytes=8704 bursts=4\n", 40 NS + 20 NS + 100 NS + 9 NS},
        {"MTE1 l1->ub bytes=8704 bursts=4\nMTE1 l1->ub bytes=8704\n", 160 NS + 140 NS + 9 NS},
        /* 28 to one core, 36 to two */
        {"MTE2 gm->l1 bytes=2800 bursts=10\n", 40 NS + 16 NS + 155555556 + 112 NS, 2},
    };
    EXPECT_ALL_LATE(examples);
}

/* Busy is what occupies the pipe: issue, bursts and work, no latency. */
Test(simulate, latency_is_not_busy)
{
    struct error error;
    const char *text = "MTE2 gm->l1 bytes=2800 bursts=10\nbarrier\nM mmad m=16 k=16 n=16\n";
    open_program("", NULL);
    make_late();
    cr_assert_eq(program_parse(&hw, "late", text, strlen(text), &program, &error), STATUS_OK);
    struct timeline timeline = play((struct simulate_options){.cores = 1});
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "MTE2", 4)], 156 NS);
    cr_expect_eq(timeline.busy_fs[hardware_pipe(&hw, "M", 1)], 41472269);
    cr_expect_eq(timeline.active_fs[0], 100 NS);
    close_program();
}

/* Ten million loads, each waited for, that take a millisecond to arrive. */
Test(simulate, beyond_the_clock)
{
    static const char *const texts[] = {
        "loop 1000\nMTE2 gm->l1 bytes=0 bursts=10000000000\nend\n",
        "loop 10000000\n" LOAD "barrier\nend\n",
    };
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = 1};
    for (int i = 0; i < 2; i++) {
        open_program("", NULL);
        make_late();
        if (i == 1)
            price_of_path("gm", "l1")->latency_fs = 1000000 NS;
        cr_assert_eq(program_parse(&hw, "late", texts[i], strlen(texts[i]), &program, &error),
                     STATUS_OK);
        cr_expect_eq(simulate(simulator, &program, &options, &timeline, &error), STATUS_TOO_LARGE);
        close_program();
    }
}

/* What an instruction costs alone is INT64_MAX where it does not fit. */
Test(simulate, bursts_beyond_int64)
{
    struct error error;
    const char *text = "MTE2 gm->l1 bytes=0 bursts=10000000000\n";
    open_program("", NULL);
    make_late();
    cr_assert_eq(program_parse(&hw, "late", text, strlen(text), &program, &error), STATUS_OK);
    cr_expect_eq(instruction_issue_fs(&hw, &program.items[0]), 40 NS + 5000000000000000);
    program.items[0].burst_fs = INT64_MAX - 1;
    cr_expect_eq(instruction_issue_fs(&hw, &program.items[0]), INT64_MAX);
    cr_expect_eq(instruction_alone_fs(&hw, &program.items[0], 1), INT64_MAX);
    close_program();
}

/* ---- pipelines and long loops ---- */

#define TILE(flag)                                                                                 \
    "wait MTE1 MTE2 " flag "\n" LOAD_140 "set MTE2 MTE1 " flag "\nwait MTE2 MTE1 " flag            \
    "\n" FEED_240 "set MTE1 MTE2 " flag "\n"

#define SINGLE(count) "set MTE1 MTE2 0\nloop " count "\n" TILE("0") "end\nwait MTE1 MTE2 0\n"
#define DOUBLE(count)                                                                              \
    "set MTE1 MTE2 0\nset MTE1 MTE2 1\nloop " count "\n" TILE("0")                                 \
        TILE("1") "end\nwait MTE1 MTE2 0\nwait MTE1 MTE2 1\n"

Test(simulate, double_buffering)
{
    static const struct example examples[] = {
        {SINGLE("3"), 1140 NS}, /* (140 + 240)·3 */
        {DOUBLE("1"), 620 NS},  /* loads 0, 140; feeds 140, 380 */
        {DOUBLE("2"), 1100 NS}, /* loads 0, 140, 380, 620; feeds 140, 380, 620, 860 */
        {DOUBLE("50"), 24140 NS},
        /* without "free" flags the loads run ahead: 100 feeds behind the first load */
        {"loop 100\n" LOAD_140 "set MTE2 MTE1 0\nend\nloop 100\nwait MTE2 MTE1 0\n" FEED_240 "end",
         24140 NS},
    };
    EXPECT_ALL(examples);
}

/* Too long to be played: these are folded, and the integers are exact all the same. */
Test(simulate, long_loops)
{
    static const struct example examples[] = {
        {SINGLE("1000000001"), 380000000380 NS},
        {DOUBLE("500000000"), 240000000140 NS},
        {"loop 1000000000\n" LOAD_140 FEED_240 "barrier\nend\n" LOAD_140, 240000000140 NS},
        /* two at 18, in step: 540 ns a round */
        {"loop 1000000000\nMTE2 gm->l1 bytes=9000\nMTE3 ub->gm bytes=9000\nend", 540000000000 NS},
        {"loop 1000000000\nMTE2 gm->l1 bytes=9000\nend", 540000000000 NS, 2},
    };
    EXPECT_ALL(examples);
}

/* One pipe, or one that runs ahead of the other: nothing need be folded here. */
Test(simulate, long_loops_without_back_pressure)
{
    static const struct example examples[] = {
        {"loop 100000\nM mmad m=16 k=16 n=16\nend", 41472269 * INT64_C(100000)},
        {"loop 400\nloop 400\nM mmad m=0 k=0 n=0\nend\nend", 6400000 NS},
        {"loop 3\nloop 40\nloop 40\nloop 40\nM mmad m=16 k=16 n=16\nend\nend\nend\nend",
         41472269 * INT64_C(192000)},
        {"loop 10000\nS branch count=1\nV relu elements=0\nend",
         61400000 * INT64_C(10000) + 41500000},
    };
    EXPECT_ALL(examples);
}

/* ---- deadlock ---- */

static void expect_deadlock(const char *text, int line)
{
    open_program(text, NULL);
    const struct simulate_options ways[] = {{.cores = 1},
                                            {.cores = 2, .execute_fully = true},
                                            {.cores = 2, .separately = true, .skew = true}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct timeline timeline = play(ways[way]);
        cr_assert_geq(timeline.blocked, 0, "\n%s", text);
        cr_expect_eq(program.items[timeline.blocked].line, line, "line %d, expected %d:\n%s",
                     program.items[timeline.blocked].line, line, text);
    }
    close_program();
}

Test(simulate, deadlock_names_the_first_blocked_instruction)
{
    expect_deadlock("wait M V 0\n", 1);
    expect_deadlock("V relu elements=0\nwait M V 0\nset V M 0\nwait V M 0\n", 2);
    expect_deadlock("wait M MTE1 0\nwait M V 0\n", 1);
    expect_deadlock("wait M V 0\nwait M MTE1 0\n", 1);
    expect_deadlock("set M V 0\nwait M V 1\n", 2);
    expect_deadlock("set V M 0\nwait M V 0\n", 2);
    expect_deadlock("wait M V 0\nset V M 0\nwait V M 0\nset M V 0\n", 1);
    expect_deadlock("loop 3\nset M V 0\nend\nloop 4\nwait M V 0\nend\n", 5);
    expect_deadlock("loop 10000\nset M V 0\nend\nloop 10001\nwait M V 0\nend\n", 5);
    expect_deadlock("MTE2 gm->l1 bytes=8192\nwait M V 0\nbarrier\nMTE2 gm->l1 bytes=8192\n", 2);
    expect_deadlock("wait M S 0\nM mmad m=16 k=16 n=16\nset M S 0\n", 1);
    expect_deadlock("S branch count=1\nV relu elements=0\nwait S V 0\n", 3);
}

/* First as played: a round of a loop comes before the next one, whatever the lines. The barrier of
 * the third round waits for the second round's wait, which never gets its set. */
Test(simulate, deadlock_in_a_loop_is_first_in_order_of_play)
{
    expect_deadlock("set M V 0\nloop 3\nbarrier\nwait M V 0\nend\n", 4);
    expect_deadlock("set V M 0\nloop 9\nwait V M 0\nwait MTE1 MTE2 0\nset MTE2 V 0\n"
                    "wait MTE2 V 0\nset V M 0\nend\n",
                    4);
}

/* ---- limits ---- */

Test(simulate, a_time_beyond_the_clock_is_refused)
{
    static const struct {
        const char *text, *set;
    } cases[] = {
        {"loop 4000000000\nM mmad m=160 k=160 n=160\nend", NULL},
        {"loop 1000000000\nMTE2 gm->l1 bytes=1000000000000\nend", NULL},
        {"MTE2 gm->l1 bytes=9223372036854775806", NULL},
        {"V relu elements=9223372036854775807", NULL},
        {"S branch count=9223372036854775807", NULL},
        {"loop 9999999990\nV relu elements=0\nend\nM mmad m=0 k=0 n=0", "dispatch_ns=1000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timeline timeline;
        struct error error;
        struct simulate_options options = {.cores = 2};
        open_program(cases[i].text, cases[i].set);
        cr_expect_eq(simulate(simulator, &program, &options, &timeline, &error), STATUS_TOO_LARGE,
                     "%s", cases[i].text);
        close_program();
        expect_example(&(struct example){"M mmad m=16 k=16 n=16", 41472269});
    }
}

/* Whoever needs to know only that a program is slower than something is told so before its end. */
Test(simulate, what_is_slower_than_a_limit_ends_early)
{
    static const struct simulate_options ways[] = {
        {.cores = 2}, {.cores = 2, .execute_fully = true}, {.cores = 2, .separately = true}};
    bool any_early = false;
    open_program("loop i 40000\nMTE2 gm->l1 bytes=4096\nset MTE2 MTE1 0\nwait MTE2 MTE1 0\n"
                 "MTE1 l1->ub bytes=4096\nset MTE1 MTE3 0\nwait MTE1 MTE3 0\n"
                 "MTE3 ub->gm bytes=8192\nend\n",
                 NULL);
    int64_t end_fs = play(ways[0]).end_fs;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (int64_t limit_fs = end_fs / 7; limit_fs < 2 * end_fs; limit_fs += end_fs / 7) {
            struct simulate_options limited = ways[way];
            limited.limit_fs = limit_fs;
            struct timeline timeline = play(limited);
            cr_expect_leq(timeline.end_fs, end_fs);
            cr_expect(timeline.end_fs == end_fs || timeline.end_fs > limit_fs);
            cr_expect_eq(timeline.blocked, -1);
            any_early |= timeline.end_fs < end_fs;
            cr_expect_eq(play(limited).end_fs, timeline.end_fs, "the same again");
        }
    cr_expect(any_early);
    close_program();
}
