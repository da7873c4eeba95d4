/* The text form of programs: every spelling that is accepted, every mistake that is refused with
 * its line, and thousands of damaged texts that must not do harm. */
#include "core/program_text.h"
#include "core/work.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hardware hw;

static void enter(void)
{
    struct error error;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
}

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(program_text, .init = enter, .fini = leave);

static enum status parse(const char *text, size_t length, struct program *program,
                         struct error *error)
{
    *error = (struct error){0};
    memset(program, 0xa5, sizeof *program);
    return program_parse(&hw, "test", text, length, program, error);
}

static void parse_ok(const char *text, struct program *program)
{
    struct error error;
    cr_assert_eq(parse(text, strlen(text), program, &error), STATUS_OK, "%s\n%s", error.text, text);
}

/* To be freed by the caller. */
static char *print(const struct program *program)
{
    char *text;
    size_t size;
    struct error error;
    FILE *stream = open_memstream(&text, &size);
    cr_assert(stream);
    cr_assert_eq(program_print(program, stream, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(fclose(stream), 0);
    return text;
}

/* ---- what is accepted ---- */

struct spelling {
    const char *text, *printed;
};

static void expect_printed(const struct spelling *spelling)
{
    struct program program;
    parse_ok(spelling->text, &program);
    char *printed = print(&program);
    cr_expect_str_eq(printed, spelling->printed, "\n%s\nfrom\n%s\nexpected\n%s", printed,
                     spelling->text, spelling->printed);
    free(printed);
    program_clear(&program);
}

#define EXPECT_PRINTED(spellings)                                                                  \
    for (size_t i = 0; i < sizeof(spellings) / sizeof *(spellings); i++)                           \
    expect_printed(&(spellings)[i])

static const char spec_text[] =
    "MTE2 gm->l1    bytes=8192 dst=l1:0\n"
    "MTE1 l1->l0a   bytes=8192 src=l1:0 dst=l0a:0\n"
    "MTE1 l1->l0b   bytes=4096 src=l1:8192 dst=l0b:0\n"
    "M    mmad      m=64 k=64 n=32 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=1\n"
    "V    l0c->ub   bytes=8192 cast=f32:f16 src=l0c:0 dst=ub:0\n"
    "V    relu      elements=4096 type=f16 src=ub:0 dst=ub:0\n"
    "MTE3 ub->gm    bytes=4096 src=ub:0\n"
    "S    branch    count=1\n"
    "set  MTE2 MTE1 0\n"
    "wait MTE2 MTE1 0\n"
    "barrier                                # all pipes; 'barrier MTE1' for one\n"
    "loop 16\n"
    "end\n"
    "loop i 16                              # i counts 0…15\n"
    "  MTE1 l1->l0a bytes=8192 src=l1:0+8192*i dst=l0a:0\n"
    "end\n";

static const char spec_printed[] =
    "MTE2 gm->l1 bytes=8192 dst=l1:0\n"
    "MTE1 l1->l0a bytes=8192 src=l1:0 dst=l0a:0\n"
    "MTE1 l1->l0b bytes=4096 src=l1:8192 dst=l0b:0\n"
    "M    mmad m=64 k=64 n=32 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=1\n"
    "V    l0c->ub bytes=8192 cast=f32:f16 src=l0c:0 dst=ub:0\n"
    "V    relu elements=4096 type=f16 src=ub:0 dst=ub:0\n"
    "MTE3 ub->gm bytes=4096 src=ub:0\n"
    "S    branch count=1\n"
    "set  MTE2 MTE1 0\n"
    "wait MTE2 MTE1 0\n"
    "barrier\n"
    "loop 16\n"
    "end\n"
    "loop i 16\n"
    "  MTE1 l1->l0a bytes=8192 src=l1:0+8192*i dst=l0a:0\n"
    "end\n";

Test(program_text, the_example_of_the_specification)
{
    expect_printed(&(struct spelling){spec_text, spec_printed});
}

/* What the simulator and the hazard check read, not only what is printed again. */
Test(program_text, instructions_of_the_example)
{
    static const struct {
        enum instruction_kind kind;
        const char *pipe;
        int64_t units;
        int regions, line;
    } expected[] = {
        {INSTRUCTION_MOVE, "MTE2", 8192, 1, 1}, {INSTRUCTION_MOVE, "MTE1", 8192, 2, 2},
        {INSTRUCTION_MOVE, "MTE1", 4096, 2, 3}, {INSTRUCTION_MATRIX, "M", 32, 3, 4},
        {INSTRUCTION_MOVE, "V", 8192, 2, 5},    {INSTRUCTION_VECTOR, "V", 31, 2, 6},
        {INSTRUCTION_MOVE, "MTE3", 4096, 1, 7}, {INSTRUCTION_SCALAR, "S", 1, 0, 8},
        {INSTRUCTION_SET, "MTE2", 0, 0, 9},     {INSTRUCTION_WAIT, "MTE1", 0, 0, 10},
    };
    struct program program;
    parse_ok(spec_text, &program);
    cr_assert_eq(program.count, 16);
    cr_expect_eq(program.executed, 11 + 16);
    for (int i = 0; i < 10; i++) {
        const struct instruction *in = &program.items[i];
        cr_expect_eq(in->kind, expected[i].kind, "%d", i);
        cr_expect_str_eq(hw.pipes[in->pipe].name, expected[i].pipe);
        cr_expect_eq(in->units, expected[i].units, "%d", i);
        cr_expect_eq(in->region_count, expected[i].regions, "%d", i);
        cr_expect_eq(in->line, expected[i].line);
    }
    cr_expect_eq(program.items[10].pipe, PROGRAM_PIPE_ALL);
    cr_expect_eq(program.items[13].partner, 15);
    cr_expect_eq(program.items[15].partner, 13);
    cr_expect_eq(program.items[13].count, 16);
    program_clear(&program);
}

/* The extents: accumulators 4 bytes, a cast's destination in its own type, whole blocks. */
Test(program_text, extents_of_operands)
{
    static const struct {
        const char *text;
        int64_t bytes[4]; /* in the order dst, src, … as regions are stored */
    } cases[] = {
        {"M mmad m=64 k=48 n=32 a=l0a:0 b=l0b:0 dst=l0c:0",
         {64 * 32 * 4, 64 * 48 * 2, 48 * 32 * 2}},
        {"M mmad m=1 k=17 n=1 a=l0a:0 b=l0b:0 dst=l0c:0", {16 * 16 * 4, 16 * 32 * 2, 32 * 16 * 2}},
        {"V l0c->ub bytes=8192 cast=f32:f16 src=l0c:0 dst=ub:0", {4096, 8192}},
        {"V l0c->ub bytes=8192 src=l0c:0 dst=ub:0", {8192, 8192}},
        {"V vadd elements=100 type=f32 src=ub:0 src2=ub:400 dst=ub:800", {400, 400, 400}},
        {"V cast elements=100 cast=f16:f32 src=ub:0 dst=ub:800", {400, 200}},
        {"V reduceMin elements=1024 src=ub:0 dst=ub:4096", {16, 2048}},
        {"V relu elements=100 type=u8 src=ub:0 dst=ub:0", {100, 100}},
        {"S assign count=1 src=ub:0 dst=ub:2", {2, 2}},
        {"V vecSel elements=32 src=ub:0 src2=ub:64 src3=ub:128 dst=ub:192", {64, 64, 64, 64}},
        {"V vecDup elements=100 src=ub:2 dst=ub:32", {200, 2}},
        {"V vecDup elements=0 src=ub:2 dst=ub:32", {0, 0}},
        {"S assign count=3 src=ub:0 src2=ub:6", {6, 6}},
        {"S assign count=1 bytes=8192 src=ub:0 dst=ub:0", {8192, 8192}},
        {"S assign count=5 bytes=0 src=ub:0", {10}},
        {"S branch count=0 src=ub:0", {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program program;
        parse_ok(cases[i].text, &program);
        for (int r = 0; r < program.region_count; r++)
            cr_expect_eq(program.regions[r].bytes, cases[i].bytes[r], "%s: operand %d: %lld",
                         cases[i].text, r, (long long)program.regions[r].bytes);
        program_clear(&program);
    }
}

/* Two in each element of the source, one where one is over. */
Test(program_text, extents_of_pairs)
{
    static const struct {
        const char *text;
        int64_t bytes[2];
    } cases[] = {{"V cast elements=100 cast=i8:f16 src=ub:0 dst=ub:800", {200, 50}},
                 {"V cast elements=7 cast=i8:f16 src=ub:0 dst=ub:800", {14, 4}}};
    hw.operations[hardware_operation(&hw, "cast", 4)].result = RESULT_PAIRS;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program program;
        parse_ok(cases[i].text, &program);
        for (int r = 0; r < 2; r++)
            cr_expect_eq(program.regions[r].bytes, cases[i].bytes[r], "%s: %lld", cases[i].text,
                         (long long)program.regions[r].bytes);
        program_clear(&program);
    }
}

Test(program_text, blanks_comments_and_case)
{
    static const struct spelling spellings[] = {
        {"", ""},
        {"\n \n\t\n# nothing\n// nothing\n;\n   ; # nothing\n", ""},
        {"barrier", "barrier\n"},
        {"barrier;", "barrier\n"},
        {"barrier ; // all", "barrier\n"},
        {"barrier;#;", "barrier\n"},
        {"\t BARRIER \t mte1 \t;\r\n", "barrier MTE1\n"},
        {"barrier all\n", "barrier\n"},
        {"mte2 GM->L1 BYTES=16 DST=L1:0\r\n", "MTE2 gm->l1 bytes=16 dst=l1:0\n"},
        {"m MMAD N=1 K=2 M=3 TYPE=F16", "M    mmad m=3 k=2 n=1 type=f16 init=1\n"},
        {"v VECDUP elements=1", "V    vecDup elements=1 type=f16\n"},
        {"v reducemin elements=1 type=F32", "V    reduceMin elements=1 type=f32\n"},
        {"s Branch Count=007", "S    branch count=7\n"},
        {"SET m v 7\nWait M V 7", "set  M V 7\nwait M V 7\n"},
        {"LOOP 3\nEND", "loop 3\nend\n"},
        {"Loop Row 0\nend", "loop Row 0\nend\n"},
        {"MTE2 gm->l1 bytes=16 # dst=l1:0", "MTE2 gm->l1 bytes=16\n"},
        {"MTE2 gm->l1 bytes=16//dst=l1:0", "MTE2 gm->l1 bytes=16\n"},
    };
    EXPECT_PRINTED(spellings);
}

Test(program_text, cce_spellings)
{
    static const struct spelling spellings[] = {
        {"set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);", "set  MTE2 MTE1 0\n"},
        {"wait_flag(PIPE_MTE2,PIPE_MTE1,EVENT_ID7);", "wait MTE2 MTE1 7\n"},
        {"  wait_flag ( PIPE_M , PIPE_V , EVENT_ID3 ) ; // comment", "wait M V 3\n"},
        {"Set_Flag(pipe_s, pipe_v, event_id1)", "set  S V 1\n"},
        {"pipe_barrier(PIPE_ALL);", "barrier\n"},
        {"pipe_barrier( PIPE_MTE3 );", "barrier MTE3\n"},
    };
    EXPECT_PRINTED(spellings);
}

Test(program_text, keys_and_defaults)
{
    static const struct spelling spellings[] = {
        {"M mmad m=0 k=0 n=0 init=0", "M    mmad m=0 k=0 n=0 type=f16 init=0\n"},
        {"V cast elements=5 cast=f32:f16", "V    cast elements=5 type=f32 cast=f32:f16\n"},
        {"V cast elements=5 type=f32 cast=f32:f16", "V    cast elements=5 type=f32 cast=f32:f16\n"},
        {"V cast elements=5 cast=i8:i32", "V    cast elements=5 type=i8 cast=i8:i32\n"},
        {"V vecSel elements=5 src3=ub:30 dst=ub:40 src2=ub:10 src=ub:0",
         "V    vecSel elements=5 type=f16 src=ub:0 src2=ub:10 src3=ub:30 dst=ub:40\n"},
        {"V vadd elements=5 dst=ub:20 src2=ub:10 src=ub:0",
         "V    vadd elements=5 type=f16 src=ub:0 src2=ub:10 dst=ub:20\n"},
        {"MTE2 gm->l1 stride=128 rows=4 bytes=256 dst=l1:0",
         "MTE2 gm->l1 bytes=256 dst=l1:0+128*[4]\n"},
        {"MTE2 gm->l1 bytes=256 dst=l1:64*[2]+8+16*[8]",
         "MTE2 gm->l1 bytes=256 dst=l1:8+64*[2]+16*[8]\n"},
        {"MTE1 l1->l0a bytes=256 rows=2 stride=512 src=l1:0+16*[1]+64*[4] dst=l0a:0",
         "MTE1 l1->l0a bytes=256 src=l1:0+64*[4] dst=l0a:0+512*[2]\n"},
        {"M mmad m=16 k=16 n=16 dst=l0c:0 rows=2 stride=4096 init=0",
         "M    mmad m=16 k=16 n=16 type=f16 dst=l0c:0+4096*[2] init=0\n"},
        {"MTE2 gm->l1 bursts=16 bytes=256 dst=l1:0", "MTE2 gm->l1 bytes=256 bursts=16 dst=l1:0\n"},
        {"MTE2 gm->l1 bytes=256 bursts=1", "MTE2 gm->l1 bytes=256\n"},
        {"MTE2 gm->l1 bytes=256 bursts=0", "MTE2 gm->l1 bytes=256\n"},
        {"MTE2 gm->l1 bytes=1 bursts=9223372036854775807",
         "MTE2 gm->l1 bytes=1 bursts=9223372036854775807\n"},
        {"MTE2 gm->l1 align=64 bytes=256 bursts=4 dst=l1:0",
         "MTE2 gm->l1 bytes=256 bursts=4 align=64 dst=l1:0\n"},
        {"MTE2 gm->l1 bytes=256 bursts=4 align=0", "MTE2 gm->l1 bytes=256 bursts=4\n"},
        {"MTE2 gm->l1 bytes=256 bursts=1 align=64", "MTE2 gm->l1 bytes=256\n"},
        {"MTE2 gm->l1 bytes=256 align=64", "MTE2 gm->l1 bytes=256\n"},
        {"V l0c->ub bytes=64 cast=f32:f16 bursts=2 rows=2 stride=64 src=l0c:0",
         "V    l0c->ub bytes=64 cast=f32:f16 bursts=2 src=l0c:0+64*[2]\n"},
        {"MTE2 gm->l1 bytes=9223372036854775806", "MTE2 gm->l1 bytes=9223372036854775806\n"},
        {"V relu elements=0", "V    relu elements=0 type=f16\n"},
        {"MTE2 gm->l1 bytes=0 dst=l1:0", "MTE2 gm->l1 bytes=0 dst=l1:0\n"},
        {"loop 9223372036854775807\nend", "loop 9223372036854775807\nend\n"},
        {"S assign dst=ub:4 src=ub:0 count=1", "S    assign count=1 src=ub:0 dst=ub:4\n"},
        {"S assign count=1 bytes=64 src=ub:0", "S    assign count=1 bytes=64 src=ub:0\n"},
        {"S assign count=1 bytes=0 src=ub:0", "S    assign count=1 src=ub:0\n"},
        {"S branch count=9223372036854775807", "S    branch count=9223372036854775807\n"},
        {"set MTE1 MTE1 0", "set  MTE1 MTE1 0\n"},
    };
    EXPECT_PRINTED(spellings);
}

/* Gives every path one table of bursts. */
static void set_bursts(void)
{
    hw.burst_table_count = 1;
    hw.burst_tables[0] = (struct burst_table){.row_count = 2,
                                              .limit_count = 2,
                                              .align_bytes = {32, 128},
                                              .up_to_bytes = {64, 256},
                                              .fs = {{7, 5, 3}, {4, 2, 1}}};
    for (int p = 0; p < hw.path_count; p++)
        hw.prices[hw.paths[p].price].burst_table = 0;
}

#define MANY "2305843009213693951" /* times 4: 2^63 - 4 */

Test(program_text, times_of_bursts)
{
    static const struct {
        const char *text;
        int64_t burst_fs, bursts, align_bytes;
    } cases[] = {
        {"MTE2 gm->l1 bytes=1000", 0, 0, 0},
        {"MTE2 gm->l1 bytes=1000 bursts=1 align=64", 0, 0, 0},
        {"MTE2 gm->l1 bytes=1000 bursts=0 align=64", 0, 0, 0},
        {"MTE2 gm->l1 bytes=1000 bursts=10", 20, 10, 0},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=0", 20, 10, 0},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=1", 50, 10, 1},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=32", 50, 10, 32},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=64", 50, 10, 64},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=128", 20, 10, 128},
        {"MTE2 gm->l1 bytes=1000 bursts=10 align=4611686018427387904", 20, 10, INT64_C(1) << 62},
        {"MTE2 gm->l1 bytes=0 bursts=10", 40, 10, 0},
        {"MTE2 gm->l1 bytes=640 bursts=10", 40, 10, 0},
        {"MTE2 gm->l1 bytes=641 bursts=10", 20, 10, 0},
        {"MTE2 gm->l1 bytes=2560 bursts=10 align=32", 50, 10, 32},
        {"MTE2 gm->l1 bytes=2561 bursts=10 align=32", 60, 10, 32},
        {"MTE2 gm->l1 bytes=9223372036854775807 bursts=2", INT64_C(1) << 55, 2, 0},
        {"MTE2 gm->l1 bytes=1 bursts=" MANY, INT64_MAX - 3, INT64_C(2305843009213693951), 0},
    };
    set_bursts();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program program;
        parse_ok(cases[i].text, &program);
        const struct instruction *in = &program.items[0];
        cr_expect_eq(in->burst_fs, cases[i].burst_fs, "%s: %lld", cases[i].text,
                     (long long)in->burst_fs);
        cr_expect_eq(in->bursts, cases[i].bursts, "%s", cases[i].text);
        cr_expect_eq(in->align_bytes, cases[i].align_bytes, "%s", cases[i].text);
        cr_expect_eq(in->units, in->bytes, "%s", cases[i].text);
        program_clear(&program);
    }
}

Test(program_text, bursts_are_free_without_a_table)
{
    struct program program;
    parse_ok("MTE2 gm->l1 bytes=1000 bursts=10 align=32", &program);
    cr_expect_eq(program.items[0].burst_fs, 0);
    cr_expect_eq(program.items[0].bursts, 10);
    program_clear(&program);
}

Test(program_text, totals_of_bursts)
{
    struct program program;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    set_bursts();
    parse_ok("MTE2 gm->l1 bytes=1000 bursts=10\nMTE2 gm->l1 bytes=100\nloop 3\nloop 5\n"
             "MTE2 gm->l1 bytes=1000 bursts=2\nend\nend\nloop 0\nMTE2 gm->l1 bytes=9 bursts=9\nend",
             &program);
    cr_assert_eq(work_totals(&program, totals, &error), STATUS_OK);
    const struct work_total *total = &totals[program.items[0].price];
    cr_expect_eq(total->instructions, 17);
    cr_expect_eq(total->units, 1000 + 100 + 15 * 1000);
    cr_expect_eq(total->burst_fs, 10 * 2 + 15 * 2 * 2);
    program_clear(&program);
    parse_ok("loop 10000\nMTE2 gm->l1 bytes=0 bursts=1000000000000000\nend", &program);
    cr_expect_eq(work_totals(&program, totals, &error), STATUS_TOO_LARGE);
    program_clear(&program);
}

/* Where some buffer has a unit flag, what says so is printed as it was read. */
Test(program_text, unit_flags)
{
    static const struct spelling spellings[] = {
        {"M mmad m=16 k=16 n=16 unit=1 init=0",
         "M    mmad m=16 k=16 n=16 type=f16 init=0 unit=1\n"},
        {"M mmad m=16 k=16 n=16 unit=0", "M    mmad m=16 k=16 n=16 type=f16 init=1\n"},
        {"V l0c->ub unit=1 bytes=64 src=l0c:0", "V    l0c->ub bytes=64 src=l0c:0 unit=1\n"},
    };
    hw.buffers[hardware_buffer(&hw, "l0c", 3)].unit_flag = true;
    EXPECT_PRINTED(spellings);
}

/* A move that transposes is printed as it was read, and has its path's price for that; with a cast
 * the cast's. */
Test(program_text, moves_that_transpose)
{
    static const struct spelling spellings[] = {
        {"MTE1 l1->l0b transpose=1 bytes=64 src=l1:0",
         "MTE1 l1->l0b bytes=64 src=l1:0 transpose=1\n"},
        {"MTE1 l1->l0b bytes=64 transpose=0", "MTE1 l1->l0b bytes=64\n"},
    };
    struct program program;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    int l1 = hardware_buffer(&hw, "l1", 2), l0b = hardware_buffer(&hw, "l0b", 3);
    struct path *path = &hw.paths[hardware_path(&hw, l1, l0b)];
    EXPECT_PRINTED(spellings);
    path->transposed_price = (int16_t)hw.price_count++;
    hw.prices[path->transposed_price] = hw.prices[path->price];
    hw.prices[path->transposed_price].rate = rate_reduce(10000, 1);
    EXPECT_PRINTED(spellings);
    parse_ok("MTE1 l1->l0b bytes=64 transpose=1\nMTE1 l1->l0b bytes=16\n"
             "V l0c->ub bytes=64 cast=f32:f16 transpose=1",
             &program);
    cr_expect_eq(program.items[0].price, path->transposed_price);
    cr_expect_eq(program.items[1].price, path->price);
    cr_expect_eq(program.items[2].price,
                 hardware_move_price(&hw, program.items[2].what, DTYPE_F32, DTYPE_F16));
    cr_expect_eq(instruction_alone_fs(&hw, &program.items[0], 1),
                 instruction_issue_fs(&hw, &program.items[0]) + 640000);
    cr_assert_eq(work_totals(&program, totals, &error), STATUS_OK);
    cr_expect_eq(totals[path->transposed_price].units, 64);
    cr_expect_eq(totals[path->price].units, 16);
    program_clear(&program);
}

#define IN_LOOPS(offset) "loop i 2\nloop j 3\nMTE2 gm->l1 bytes=64 dst=l1:" offset "\nend\nend\n"
#define OUT_LOOPS(offset)                                                                          \
    "loop i 2\n  loop j 3\n    MTE2 gm->l1 bytes=64 dst=l1:" offset "\n  end\nend\n"

Test(program_text, offsets)
{
    static const struct spelling spellings[] = {
        {IN_LOOPS("0"), OUT_LOOPS("0")},
        {IN_LOOPS("64+128*i"), OUT_LOOPS("64+128*i")},
        {IN_LOOPS("64+i*128"), OUT_LOOPS("64+128*i")},
        {IN_LOOPS("128*i+64"), OUT_LOOPS("64+128*i")},
        {IN_LOOPS("j*2+i"), OUT_LOOPS("0+1*i+2*j")},
        {IN_LOOPS("1000-64*i-32*j"), OUT_LOOPS("1000-64*i-32*j")},
        {IN_LOOPS("-64+32*j"), OUT_LOOPS("-64+32*j")},
        {IN_LOOPS("-i+10"), OUT_LOOPS("10-1*i")},
        {IN_LOOPS("1+2-3+4*i-4*i"), OUT_LOOPS("0")},
        {IN_LOOPS("I+J"), OUT_LOOPS("0+1*i+1*j")},
        {IN_LOOPS("9223372036854775807"), OUT_LOOPS("9223372036854775807")},
        {IN_LOOPS("9223372036854775807*j"), OUT_LOOPS("0+9223372036854775807*j")},
        {IN_LOOPS("-9223372036854775807"), OUT_LOOPS("-9223372036854775807")},
        {"loop i 2\nend\nloop a_1 2\nMTE2 gm->l1 bytes=64 dst=l1:8*A_1\nend",
         "loop i 2\nend\nloop a_1 2\n  MTE2 gm->l1 bytes=64 dst=l1:0+8*a_1\nend\n"},
        {"loop 2\nloop i 3\nloop 4\nMTE2 gm->l1 bytes=64 dst=l1:8*i\nend\nend\nend",
         "loop 2\n  loop i 3\n    loop 4\n      MTE2 gm->l1 bytes=64 dst=l1:0+8*i\n"
         "    end\n  end\nend\n"},
        {"loop fifteen_letters 2\nMTE2 gm->l1 bytes=64 dst=l1:fifteen_letters\nend",
         "loop fifteen_letters 2\n  MTE2 gm->l1 bytes=64 dst=l1:0+1*fifteen_letters\nend\n"},
    };
    EXPECT_PRINTED(spellings);
}

/* Whatever is accepted is printed so that the same is read again. */
static void expect_round_trip(const char *text, size_t length)
{
    struct program program, again;
    struct error error;
    if (parse(text, length, &program, &error) != STATUS_OK)
        return;
    char *once = print(&program);
    parse_ok(once, &again);
    char *twice = print(&again);
    cr_assert_str_eq(twice, once, "\n%s\nafter\n%s\nfrom\n%.*s", twice, once, (int)length, text);
    cr_assert_eq(again.count, program.count);
    cr_assert_eq(again.executed, program.executed);
    for (int32_t i = 0; i < program.count; i++) {
        program.items[i].line = again.items[i].line;
        cr_assert_eq(memcmp(&program.items[i], &again.items[i], sizeof *program.items), 0,
                     "instruction %d of\n%s\nfrom\n%.*s", i, once, (int)length, text);
    }
    cr_assert_eq(again.region_count, program.region_count);
    for (int32_t r = 0; r < program.region_count; r++)
        cr_assert_eq(memcmp(&program.regions[r], &again.regions[r], sizeof *program.regions), 0,
                     "operand %d of\n%s\nfrom\n%.*s", r, once, (int)length, text);
    free(once);
    free(twice);
    program_clear(&program);
    program_clear(&again);
}

Test(program_text, extremes_survive_a_round_trip)
{
    static const char *const texts[] = {
        "MTE2 gm->l1 bytes=64 dst=l1:0 rows=1 stride=128",
        "MTE2 gm->l1 bytes=64 dst=l1:0 rows=1",
        "MTE2 gm->l1 bytes=64 rows=2 stride=128",
        "MTE2 gm->l1 bytes=0 dst=l1:0 rows=3 stride=0",
        "V l0c->ub bytes=64 cast=f32:f32 src=l0c:0 dst=ub:0",
        "V l0c->ub bytes=64 cast=f16:f16 src=l0c:0 dst=ub:0",
        "V relu elements=64 cast=f16:f16",
        "MTE2 gm->l1 bytes=64 dst=l1:-9223372036854775807-1",
        "loop i 2\nMTE2 gm->l1 bytes=64 dst=l1:-9223372036854775807*i-i\nend",
        "loop i 2\nMTE2 gm->l1 bytes=64 dst=l1:0 rows=2 stride=9223372036854775807\nend",
        "M mmad m=2147483647 k=0 n=2147483647",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_round_trip(texts[i], strlen(texts[i]));
}

Test(program_text, limits_are_inclusive)
{
    struct program program;
    parse_ok("loop 10000000000\nbarrier\nend", &program);
    cr_expect_eq(program.executed, 10000000000);
    program_clear(&program);
    parse_ok("loop 9223372036854775807\nloop 9223372036854775807\nloop 9223372036854775807\n"
             "end\nend\nend\n",
             &program);
    cr_expect_eq(program.executed, 0);
    program_clear(&program);
    parse_ok("loop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nbarrier\n"
             "end\nend\nend\nend\nend\nend\nend\nend\n",
             &program);
    cr_expect_eq(program.executed, 1);
    program_clear(&program);
}

/* What never runs does not count, however often. */
Test(program_text, loops_that_never_run)
{
    struct program program;
    parse_ok("loop 0\nloop 9223372036854775807\nbarrier\nend\nend", &program);
    cr_expect_eq(program.executed, 0);
    program_clear(&program);
}

/* ---- what is refused ---- */

static void expect_error(const char *text, size_t length, int line, const char *part)
{
    struct program program;
    struct error error;
    char start[32];
    enum status status = parse(text, length, &program, &error);
    snprintf(start, sizeof start, line ? "test:%d: " : "test: ", line);
    cr_expect(status == STATUS_INVALID || status == STATUS_TOO_LARGE, "status %d for\n%.200s",
              (int)status, text);
    cr_expect_eq(error.status, status, "%s", error.text);
    cr_expect_eq(strncmp(error.text, start, strlen(start)), 0, "'%s', expected line %d of\n%.200s",
                 error.text, line, text);
    cr_expect(strstr(error.text, part), "'%s' lacks '%s' for\n%.200s", error.text, part, text);
    cr_expect_null(strchr(error.text, '\n'));
    cr_expect(!program.items && !program.regions && program.count == 0 && program.region_count == 0,
              "something is left of\n%.200s", text);
    if (status == STATUS_OK)
        program_clear(&program);
}

struct mistake {
    const char *text;
    int line;
    const char *part;
};

#define EXPECT_ERRORS(mistakes)                                                                    \
    for (size_t i = 0; i < sizeof(mistakes) / sizeof *(mistakes); i++)                             \
    expect_error((mistakes)[i].text, strlen((mistakes)[i].text), (mistakes)[i].line,               \
                 (mistakes)[i].part)

Test(program_text, unknown_names)
{
    static const struct mistake mistakes[] = {
        {"MTE4 gm->l1 bytes=2", 1, "unknown pipe 'MTE4' of Ascend 310"},
        {"\n# c\nfoo", 3, "unknown pipe 'foo'"},
        {"mmad m=1 k=1 n=1", 1, "unknown pipe 'mmad'"},
        {"set MTE2 X 0", 1, "unknown pipe 'X'"},
        {"wait Y MTE2 0", 1, "unknown pipe 'Y'"},
        {"barrier Z", 1, "unknown pipe 'Z'"},
        {"set_flag(PIPE_A, PIPE_M, EVENT_ID0);", 1, "unknown pipe 'A'"},
        {";;", 1, "unknown pipe ';'"},
        {"MTE2 gm->l0c bytes=2", 1, "unknown path 'gm->l0c' of Ascend 310"},
        {"MTE2 gm->dram bytes=2", 1, "unknown path 'gm->dram'"},
        {"MTE2 -> bytes=2", 1, "unknown path"},
        {"MTE2 gm-> bytes=2", 1, "unknown path"},
        {"MTE2 ->l1 bytes=2", 1, "unknown path"},
        {"MTE2 gm -> l1 bytes=2", 1, "'gm'"},
        {"V gelu elements=2", 1, "unknown path or operation 'gelu'"},
        {"V bytes=2", 1, "unknown path or operation 'bytes=2'"},
        {"M", 1, "expected a path or an operation after 'M'"},
        {"MTE2 gm->l1 bytes=2 size=2", 1, "unknown key 'size' here"},
        {"MTE2 gm->l1 bytes=2 elements=2", 1, "unknown key 'elements' here"},
        {"MTE2 gm->l1 bytes=2 type=f16", 1, "unknown key 'type' here"},
        {"M mmad m=1 k=1 n=1 cast=f16:f32", 1, "unknown key 'cast' here"},
        {"M mmad m=1 k=1 n=1 src2=l0a:0", 1, "unknown key 'src2' here"},
        {"M mmad m=1 k=1 n=1 src=l1:0 init=0", 1, "src= with init=0, expected it where sums begin"},
        {"MTE2 gm->l1 bytes=2 src2=l1:0", 1, "expected src2= and row_bytes="},
        {"MTE2 gm->l1 bytes=2 row_bytes=4", 1, "expected src2= and row_bytes="},
        {"MTE2 gm->l1 bytes=2 row_bytes=0 src2=l1:0", 1, "expected src2= and row_bytes="},
        {"V relu elements=1 a=ub:0", 1, "unknown key 'a' here"},
        {"V relu elements=1 init=1", 1, "unknown key 'init' here"},
        {"S branch count=1 a=l0a:0", 1, "unknown key 'a' here"},
        {"S branch count=1 type=f16", 1, "unknown key 'type' here"},
        {"S branch count=1 src=ub:0 rows=1", 1, "unknown key 'rows' here"},
        {"S branch count=1 =1", 1, "unknown key '' here"},
        {"V relu elements=1 f16", 1, "unknown key 'f16' here"},
        {"V relu elements=1 type=f64", 1, "unknown type 'f64'"},
        {"V relu elements=1 type=", 1, "unknown type ''"},
        {"V relu elements=1 cast=f16", 1, "unknown type ''"},
        {"V relu elements=1 cast=f16:x", 1, "unknown type 'x'"},
        {"M mmad m=1 k=1 n=1 type=i8", 1, "has no type i8"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, bad_numbers)
{
    static const struct mistake mistakes[] = {
        {"MTE2 gm->l1", 1, "missing key 'bytes='"},
        {"M mmad m=1 k=1", 1, "missing key 'n='"},
        {"V relu", 1, "missing key 'elements='"},
        {"S branch", 1, "missing key 'count='"},
        {"MTE2 gm->l1 bytes=-2", 1, "bytes=-2, expected a whole number"},
        {"MTE2 gm->l1 bytes=+2", 1, "bytes=+2"},
        {"MTE2 gm->l1 bytes=", 1, "bytes=, expected"},
        {"MTE2 gm->l1 bytes", 1, "bytes=, expected"},
        {"MTE2 gm->l1 bytes=0x10", 1, "bytes=0x10"},
        {"MTE2 gm->l1 bytes=1e3", 1, "bytes=1e3"},
        {"MTE2 gm->l1 bytes=2.0", 1, "bytes=2.0"},
        {"MTE2 gm->l1 bytes=2 2", 1, "unknown key '2'"},
        {"MTE2 gm->l1 bytes=9223372036854775808", 1, "bytes=9223372036854775808"},
        {"MTE2 gm->l1 bytes=99999999999999999999999", 1,
         "expected a whole number from 0 to 2^63-1"},
        {"V relu elements=-1", 1, "elements=-1"},
        {"S branch count=-1", 1, "count=-1"},
        {"M mmad m=-1 k=1 n=1", 1, "m=-1"},
        {"M mmad m=1 k=2147483648 n=1", 1, "k=2147483648, expected at most 2^31-1"},
        {"M mmad m=2147483647 k=2147483647 n=2147483647", 1, "too many blocks"},
        {"M mmad m=1 k=1 n=1 init=2", 1, "init=2, expected 0 or 1"},
        {"M mmad m=1 k=1 n=1 init=-1", 1, "init=-1"},
        {"loop", 1, "expected 'loop COUNT'"},
        {"loop -1\nend", 1, "loop=-1"},
        {"loop x\nend", 1, "loop=x"},
        {"loop 9223372036854775808\nend", 1, "loop=9223372036854775808"},
        {"loop i\nend", 1, "loop=i"},
        {"loop i j\nend", 1, "loop=j"},
        {"MTE2 gm->l1 bytes=4 bytes=4", 1, "key 'bytes' is given twice"},
        {"MTE2 gm->l1 bytes=4 BYTES=4", 1, "key 'bytes' is given twice"},
        {"MTE2 gm->l1 bytes=4 dst=l1:0 dst=l1:0", 1, "key 'dst' is given twice"},
        {"M mmad m=1 m=1 k=1 n=1", 1, "key 'm' is given twice"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, wrong_pipes_casts_and_flags)
{
    static const struct mistake mistakes[] = {
        {"MTE1 gm->l1 bytes=2", 1, "'gm->l1' runs on pipe MTE2, not on MTE1"},
        {"V mmad m=1 k=1 n=1", 1, "'mmad' runs on pipe M, not on V"},
        {"M relu elements=1", 1, "'relu' runs on pipe V, not on M"},
        {"V branch count=1", 1, "'branch' runs on pipe S, not on V"},
        {"V l0c->ub bytes=4 cast=f16:f32", 1, "path l0c->ub cannot cast f16 to f32"},
        {"MTE2 gm->l1 bytes=4 cast=f32:f16", 1, "path gm->l1 cannot cast f32 to f16"},
        {"V l0c->ub bytes=6 cast=f32:f16", 1, "bytes=6 is no multiple of f32's 4 bytes"},
        {"V cast elements=1 type=f16 cast=f32:f16", 1, "type=f16, expected the source of cast"},
        {"set MTE2 MTE1 8", 1, "flag register '8', expected 0 to 7"},
        {"wait MTE2 MTE1 256", 1, "flag register '256'"},
        {"set MTE2 MTE1 99999999999999999999", 1, "flag register '99999999999999999999'"},
        {"set MTE2 MTE1 -1", 1, "flag register '-1'"},
        {"set MTE2 MTE1 x", 1, "flag register 'x'"},
        {"set MTE2 MTE1", 1, "expected 'set PIPE PIPE REGISTER'"},
        {"wait MTE2 MTE1 0 0", 1, "expected 'wait PIPE PIPE REGISTER'"},
        {"set", 1, "expected 'set PIPE PIPE REGISTER'"},
        {"set_flag(PIPE_M, PIPE_V, EVENT_ID8);", 1, "flag register '8'"},
        {"set_flag(PIPE_M, PIPE_V, EVENT_ID);", 1, "flag register ''"},
        {"set_flag(M, PIPE_V, EVENT_ID0);", 1, "'M' in set_flag(…), expected PIPE_…"},
        {"wait_flag(PIPE_M, PIPE_V, 0);", 1, "'0' in wait_flag(…), expected EVENT_ID…"},
        {"set_flag(PIPE_M, PIPE_V);", 1, "expected 'set PIPE PIPE REGISTER'"},
        {"pipe_barrier(PIPE_M, PIPE_V);", 1, "expected 'barrier' or 'barrier PIPE'"},
        {"pipe_barrier(M);", 1, "'M' in pipe_barrier(…)"},
        {"barrier M V", 1, "expected 'barrier' or 'barrier PIPE'"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, broken_bursts)
{
    static const struct mistake mistakes[] = {
        {"MTE2 gm->l1 bursts=4", 1, "missing key 'bytes='"},
        {"MTE2 gm->l1 bytes=4 bursts=-1", 1, "bursts=-1, expected a whole number from 0 to 2^63-1"},
        {"MTE2 gm->l1 bytes=4 bursts=", 1, "bursts=, expected a whole number"},
        {"MTE2 gm->l1 bytes=4 bursts=9223372036854775808", 1, "bursts=9223372036854775808, expec"},
        {"MTE2 gm->l1 bytes=4 bursts=2 bursts=2", 1, "key 'bursts' is given twice"},
        {"M mmad m=1 k=1 n=1 bursts=2", 1, "unknown key 'bursts' here"},
        {"V relu elements=1 bursts=2", 1, "unknown key 'bursts' here"},
        {"S branch count=1 bursts=2", 1, "unknown key 'bursts' here"},
        {"\nMTE2 gm->l1 bytes=1 bursts=2305843009213693952", 2,
         "bursts=2305843009213693952 of 4 fs: more than 2^63 fs"},
        {"MTE2 gm->l1 bytes=9 bursts=2 align=3", 1, "align=3, expected a power of two"},
        {"MTE2 gm->l1 bytes=9 align=96", 1, "align=96, expected a power of two"},
        {"MTE2 gm->l1 bytes=9 align=9223372036854775807", 1, "expected a power of two"},
        {"MTE2 gm->l1 bytes=9 align=-1", 1, "align=-1, expected a whole number"},
        {"MTE2 gm->l1 bytes=9 align=1 align=1", 1, "key 'align' is given twice"},
        {"M mmad m=1 k=1 n=1 align=2", 1, "unknown key 'align' here"},
        {"V relu elements=1 align=2", 1, "unknown key 'align' here"},
        {"S branch count=1 align=2", 1, "unknown key 'align' here"},
    };
    set_bursts();
    EXPECT_ERRORS(mistakes);
}

Test(program_text, broken_unit_flags)
{
    static const struct mistake none[] = {
        {"M mmad m=1 k=1 n=1 unit=1", 1, "unit=1: no buffer of "},
    };
    static const struct mistake mistakes[] = {
        {"M mmad m=1 k=1 n=1 unit=2", 1, "unit=2, expected 0 or 1"},
        {"M mmad m=1 k=1 n=1 unit=", 1, "unit=, expected a whole number"},
        {"V relu elements=1 unit=1", 1, "unknown key 'unit' here"},
        {"S branch count=1 unit=1", 1, "unknown key 'unit' here"},
    };
    EXPECT_ERRORS(none);
    hw.buffers[hardware_buffer(&hw, "l0c", 3)].unit_flag = true;
    EXPECT_ERRORS(mistakes);
}

Test(program_text, broken_transposes)
{
    static const struct mistake mistakes[] = {
        {"MTE1 l1->l0b bytes=64 transpose=2", 1, "transpose=2, expected 0 or 1"},
        {"MTE1 l1->l0b bytes=64 transpose=", 1, "transpose=, expected a whole number"},
        {"M mmad m=1 k=1 n=1 transpose=1", 1, "unknown key 'transpose' here"},
        {"V relu elements=1 transpose=1", 1, "unknown key 'transpose' here"},
        {"S branch count=1 transpose=1", 1, "unknown key 'transpose' here"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, broken_loops)
{
    static const struct mistake mistakes[] = {
        {"loop 4\nbarrier\n", 1, "not closed"},
        {"barrier\nloop 4\nloop 5\nend\n", 2, "not closed"},
        {"loop 4\nend\nloop 0\n", 3, "not closed"},
        {"end", 1, "'end' without a loop"},
        {"loop 4\nend\n\nend\n", 4, "'end' without a loop"},
        {"loop 4\nend 4\n", 2, "nothing may follow 'end'"},
        {"loop i 4 5\nend", 1, "expected 'loop COUNT' or 'loop INDEX COUNT'"},
        {"loop 4i 4\nend", 1, "loop index '4i', expected a name"},
        {"loop i-j 4\nend", 1, "loop index 'i-j'"},
        {"loop sixteen_letters_ 4\nend", 1, "at most 15 letters"},
        {"loop i 4\nloop I 4\nend\nend", 2, "in use by a loop around"},
        {"loop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\nloop 1\n"
         "loop 1\nloop 1\nend\nend\nend\nend\nend\nend\nend\nend\nend\nend\nend\nend\nend\n",
         13, "loops nested deeper than 12"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, bad_operands)
{
    static const struct mistake mistakes[] = {
        {"MTE2 gm->l1 bytes=2 dst=l9:0", 1, "unknown buffer 'l9' of Ascend 310"},
        {"MTE2 gm->l1 bytes=2 dst=", 1, "unknown buffer ''"},
        {"MTE2 gm->l1 bytes=2 dst=l1", 1, "operand 'l1', expected buffer:offset"},
        {"MTE2 gm->l1 bytes=2 dst=l1:", 1, "expected buffer:offset"},
        {"MTE2 gm->l1 bytes=2 dst=l1:-", 1, "no index of a loop"},
        {"MTE2 gm->l1 bytes=2 dst=l1:1+", 1, "no index of a loop"},
        {"MTE2 gm->l1 bytes=2 dst=l1:--1", 1, "no index of a loop"},
        {"MTE2 gm->l1 bytes=2 dst=l1:0+8*i", 1, "'i' is no index of a loop around this line"},
        {"loop i 2\nend\nMTE2 gm->l1 bytes=2 dst=l1:i", 3, "'i' is no index"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:8*j\nend", 2, "'j' is no index"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:8*\nend", 2, "'' is no index"},
        {"loop 2\nMTE2 gm->l1 bytes=2 dst=l1:8*\nend", 2, "'' is no index"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:*8\nend", 2, "is no index"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:i*i\nend", 2, "offset term 'i*i'"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:2*3*i\nend", 2, "no index"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:2*3\nend", 2, "no index"},
        {"MTE2 gm->l1 bytes=2 dst=l1:9223372036854775808", 1, "9223372036854775808"},
        {"MTE2 gm->l1 bytes=2 dst=l1:9223372036854775807+1", 1, "beyond 2^63"},
        {"MTE2 gm->l1 bytes=2 dst=l1:-9223372036854775807-2", 1, "beyond 2^63"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:9223372036854775807*i+i\nend", 2, "beyond 2^63"},
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:9223372036854775808*i\nend", 2,
         "9223372036854775808"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0 stride=64", 1, "stride= without rows="},
        {"MTE2 gm->l1 bytes=64 dst=l1:0 rows=2", 1, "rows= without stride="},
        {"MTE2 gm->l1 bytes=64 dst=l1:0 rows=0 stride=64", 1, "rows=0, expected 1 or more"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0 rows=3 stride=64", 1, "rows=3 does not divide"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+64*[2]+8*[3]", 1, "rows=6 does not divide"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+64*[0]", 1, "'[0]', expected a number of rows, 1 or more"},
        {"MTE2 gm->l1 bytes=64 dst=l1:128-64*[2]", 1, "rows -64 bytes apart, expected 0 or more"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+64*[i]", 1, "'[i]', expected a number of rows"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+1*[2]+1*[2]+1*[2]", 1, "expected two of such at most"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+1*[9223372036854775807]+1*[2]", 1, "does not divide"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+[2]", 1, "'[2]' is no index of a loop"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0+64*[2", 1, "'[2' is no index of a loop"},
        {"V vecDup elements=64 src=ub:0+32*[2] dst=ub:64", 1,
         "rows of 'ub:0+32*[2]', expected one piece"},
        {"S assign count=1 src=ub:0+2*[2] dst=ub:64", 1,
         "rows of 'ub:0+2*[2]', expected one piece"},
        {"MTE2 gm->l1 bytes=64 dst=l1:0 rows=-1 stride=64", 1, "rows=-1"},
        {"V relu elements=9223372036854775807 src=ub:0", 1, "more than 2^63 bytes"},
        {"S assign count=4611686018427387904 src=ub:0", 1, "more than 2^63 bytes"},
        {"S assign count=1 bytes=9223372036854775807 src=ub:0", 1, "more than 2^63 bytes"},
    };
    EXPECT_ERRORS(mistakes);
}

/* A factor is missing: "8*" is refused, so is "i*". */
Test(program_text, an_index_times_nothing)
{
    static const struct mistake mistakes[] = {
        {"loop i 2\nMTE2 gm->l1 bytes=2 dst=l1:i*\nend", 2, "offset term 'i*'"},
    };
    EXPECT_ERRORS(mistakes);
}

Test(program_text, too_much_to_play)
{
    static const struct mistake mistakes[] = {
        {"loop 10000000001\nbarrier\nend", 1, "more than 10000000000 instructions"},
        {"loop 10000000000\nbarrier\nend\nbarrier", 4, "more than 10000000000 instructions"},
        {"loop 100000\nloop 100001\nset M V 0\nend\nend", 1, "more than 10000000000"},
        {"loop 9223372036854775807\nloop 9223372036854775807\nset M V 0\nend\nend", 1,
         "more than 10000000000"},
        {"loop 4294967296\nloop 4294967296\nbarrier\nend\nend", 1, "more than 10000000000"},
    };
    EXPECT_ERRORS(mistakes);
}

/* `count` copies of `piece` and then `last`; to be freed by the caller. */
static char *repeated(const char *piece, size_t count, const char *last)
{
    size_t size = strlen(piece);
    char *text = malloc(size * count + strlen(last) + 1);
    cr_assert(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * size, piece, size);
    strcpy(text + size * count, last);
    return text;
}

Test(program_text, a_million_lines)
{
    struct program program;
    char *text = repeated("#\n", 999999, "barrier");
    parse_ok(text, &program);
    cr_expect_eq(program.items[0].line, 1000000);
    program_clear(&program);
    free(text);
    text = repeated("set M V 0\n", 1000000, "");
    parse_ok(text, &program);
    cr_expect_eq(program.count, 1000000);
    program_clear(&program);
    free(text);
    text = repeated("\n", 1000000, "barrier");
    expect_error(text, strlen(text), 1000001, "more than 1000000 lines");
    free(text);
}

Test(program_text, long_lines)
{
    struct program program;
    char *text = repeated("x", 1000000, "");
    expect_error(text, strlen(text), 1, "unknown pipe 'xxx");
    free(text);
    text = repeated(" ", 1000000, "barrier");
    parse_ok(text, &program);
    program_clear(&program);
    free(text);
    text = repeated("#", 1000000, "\nbarrier");
    parse_ok(text, &program);
    program_clear(&program);
    free(text);
    text = repeated("M ", 1000000, "");
    expect_error(text, strlen(text), 1, "more than 24 words");
    free(text);
    text = repeated("1+", 1000000, "1");
    char *line = repeated("MTE2 gm->l1 bytes=2 dst=l1:", 1, text);
    parse_ok(line, &program);
    cr_expect_eq(program.regions[0].offset_bytes, 1000001);
    program_clear(&program);
    free(line);
    free(text);
}

Test(program_text, nul_bytes)
{
    static const struct {
        const char text[40];
        size_t length;
        const char *part;
    } cases[] = {
        {"set\0 M V 0", 10, "unknown pipe 'set"},
        {"set M\0 V 0", 10, "unknown pipe 'M"},
        {"set M V 0\0", 10, "flag register '0"},
        {"\0", 1, "unknown pipe '"},
        {"MTE2 gm->l1\0 bytes=2", 20, "unknown path 'gm->l1"},
        {"MTE2 gm->l1 bytes=2\0", 20, "bytes=2"},
        {"MTE2 gm->l1 bytes\0=2", 20, "unknown key 'bytes"},
        {"MTE2 gm->l1 bytes=2 dst=l1\0:0", 29, "unknown buffer 'l1"},
        {"MTE2 gm->l1 bytes=2 dst=l1:0\0", 29, "no index"},
        {"loop i\0 2\nend", 13, "loop index 'i"},
        {"barrier\0all", 11, "unknown pipe 'barrier"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, cases[i].length, 1, cases[i].part);
    struct program program;
    struct error error;
    cr_expect_eq(parse("barrier #\0\0", 11, &program, &error), STATUS_OK, "%s", error.text);
    program_clear(&program);
}

Test(program_text, nobody_need_listen_to_the_error)
{
    struct program program;
    cr_expect_eq(program_parse(&hw, "test", "x", 1, &program, NULL), STATUS_INVALID);
    cr_expect_eq(program_parse(&hw, "test", "loop 10000000001\nbarrier\nend", 28, &program, NULL),
                 STATUS_TOO_LARGE);
}

/* ---- files and streams ---- */

Test(program_text, files)
{
    char name[] = "/tmp/autotune-program-XXXXXX";
    int file = mkstemp(name);
    struct program program;
    struct error error;
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, "barrier\nset M V 9\n", 18), 18);
    cr_expect_eq(program_read(&hw, name, &program, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, name) && strstr(error.text, ":2: flag register"), "%s",
              error.text);
    cr_assert_eq(ftruncate(file, 8), 0);
    cr_expect_eq(program_read(&hw, name, &program, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(program.count, 1);
    program_clear(&program);
    close(file);
    unlink(name);
    cr_expect_eq(program_read(&hw, name, &program, &error), STATUS_IO);
    cr_expect(strstr(error.text, "No such file"), "%s", error.text);
    cr_expect_eq(program_read(&hw, "/tmp", &program, &error), STATUS_IO);
    cr_expect(strstr(error.text, "/tmp"), "%s", error.text);
    cr_expect_eq(program_read(&hw, "/dev/null", &program, &error), STATUS_OK);
    cr_expect_eq(program.count, 0);
    program_clear(&program);
}

Test(program_text, a_full_disk_is_an_error)
{
    struct program program;
    struct error error;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        cr_skip_test("there is no /dev/full");
    parse_ok(spec_text, &program);
    cr_expect_eq(program_print(&program, full, &error), STATUS_IO);
    fclose(full);
    program_clear(&program);
}

/* One instruction alone, for messages, in as little room as there is. */
Test(program_text, single_instructions_are_cut_to_size)
{
    struct program program;
    parse_ok(spec_text, &program);
    for (int32_t i = 0; i < program.count; i++) {
        char whole[256], part[64];
        instruction_print(&program, i, whole, sizeof whole);
        cr_expect_gt(strlen(whole), 2);
        for (size_t size = 1; size <= sizeof part; size++) {
            instruction_print(&program, i, part, size);
            cr_expect_eq(strncmp(part, whole, size - 1), 0, "'%s' of '%s', %zu", part, whole, size);
            cr_expect_leq(strlen(part), size - 1);
        }
    }
    char text[256];
    instruction_print(&program, 14, text, sizeof text);
    cr_expect_str_eq(text, "MTE1 l1->l0a bytes=8192 src=l1:0+8192*i dst=l0a:0");
    program_clear(&program);
}

/* ---- damaged texts ---- */

enum { DAMAGED = 5000, ROOM = 4096, MAX_EXECUTED = 20000 };

static const char *const seeds[] = {
    spec_text,
    "set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);\nwait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);\n"
    "pipe_barrier(PIPE_ALL);\nV vadd elements=300 type=f32 src=ub:0 src2=ub:1200 dst=ub:0;\n",
    "loop i 3\nloop j 4\nMTE2 gm->l1 bytes=256 dst=l1:8*i-4*j rows=4 stride=128\n"
    "set MTE2 MTE1 0\nwait MTE2 MTE1 0\nMTE1 l1->l0a bytes=256 src=l1:8*i-4*j\nend\n"
    "S branch count=2\nS assign count=1 bytes=64 src=ub:32*i dst=ub:8*j\nbarrier M\nend\n",
    "V vecCmp elements=77\nV cast elements=9 cast=f16:f32\nM mmad m=17 k=1 n=99 init=0\n"
    "MTE3 ub->gm bytes=64 src=ub:64\nset M S 1\nwait M S 1\nS nop count=0\n",
};

static const char *const pieces[] = {
    "set ",
    "wait ",
    "barrier\n",
    "loop ",
    "loop i 7\n",
    "end\n",
    "M ",
    "V ",
    "MTE2 ",
    "S ",
    " bytes=",
    " type=f32",
    " cast=f32:f16",
    " dst=ub:",
    " rows=2 stride=64",
    "#",
    "//",
    ";",
    "\n",
    "=",
    "*i",
    "+",
    "-",
    "->",
    "(",
    ",",
    "0",
    "99999",
    "9223372036854775807",
    "18446744073709551616",
    "EVENT_ID",
    "PIPE_",
    "\r",
    "\x80",
    "%s%n",
};

static size_t below(gsl_rng *rng, size_t limit)
{
    return limit ? gsl_rng_uniform_int(rng, limit) : 0;
}

/* Replaces `cut` bytes at `at` by `length` bytes of `piece`, as far as there is room. */
static size_t splice(char *text, size_t size, size_t at, size_t cut, const char *piece,
                     size_t length)
{
    if (size - cut + length > ROOM)
        return size;
    char copy[ROOM];
    memcpy(copy, piece, length);
    memmove(text + at + length, text + at + cut, size - at - cut);
    memcpy(text + at, copy, length);
    return size - cut + length;
}

static size_t damage(gsl_rng *rng, char *text, size_t size)
{
    size_t at = below(rng, size + 1), cut = below(rng, size - at + 1), from = below(rng, size);
    const char *piece = pieces[below(rng, sizeof pieces / sizeof *pieces)];
    char byte = (char)below(rng, 256), digit = (char)('0' + below(rng, 10));
    switch (below(rng, 6)) {
    case 0:
        return splice(text, size, at, at < size, &byte, 1);
    case 1:
        return splice(text, size, at, at < size, &digit, 1);
    case 2:
        return splice(text, size, at, cut < 12 ? cut : below(rng, 12) % (cut + 1), "", 0);
    case 3: /* a stretch of the text once more */
        return splice(text, size, at, 0, text + from, below(rng, size - from + 1));
    default:
        return splice(text, size, at, 0, piece, strlen(piece));
    }
}

static void play(struct simulator *simulator, const char *text, size_t length)
{
    struct program program;
    struct timeline timeline;
    struct error error;
    struct simulate_options options = {.cores = 2};
    if (parse(text, length, &program, &error) != STATUS_OK)
        return;
    if (program.executed <= MAX_EXECUTED) {
        enum status status = simulate(simulator, &program, &options, &timeline, &error);
        cr_assert(
            status == STATUS_TOO_LARGE ||
                (status == STATUS_OK && (timeline.blocked >= 0 || timeline.end_fs >= hw.launch_fs)),
            "%s for\n%.*s", error.text, (int)length, text);
    }
    program_clear(&program);
}

Test(program_text, damaged_texts_do_no_harm)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct simulator *simulator = simulator_new();
    cr_assert(rng && simulator);
    gsl_rng_set(rng, 310);
    for (int i = 0; i < test_cases(DAMAGED); i++) {
        char text[ROOM];
        const char *seed = seeds[below(rng, sizeof seeds / sizeof *seeds)];
        size_t size = strlen(seed);
        memcpy(text, seed, size);
        for (size_t hits = 1 + below(rng, 4); hits > 0; hits--)
            size = damage(rng, text, size);
        /* A copy of its very size: reading beyond the end is an error for the sanitizer. */
        char *exact = malloc(size ? size : 1);
        cr_assert(exact);
        memcpy(exact, text, size);
        expect_round_trip(exact, size);
        play(simulator, exact, size);
        free(exact);
    }
    simulator_free(simulator);
    gsl_rng_free(rng);
}
