/* The hazard check, rule by rule, on programs written by hand. Findings are compared as text:
 * "kind line,line; kind line" in the order in which they are reported. */
#include "analysis/check.h"
#include "core/program_text.h"
#include "hardware/load.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct hardware hardware;

static void enter(void)
{
    struct error error;
    cr_assert_eq(
        hardware_load(SOURCE_DIR "/configs/hardware/ascend310.cfg", NULL, &hardware, &error),
        STATUS_OK, "%s", error.text);
}

static void leave(void)
{
    hardware_clear(&hardware);
}

TestSuite(check, .init = enter, .fini = leave);

static void parse(const char *text, struct program *program)
{
    struct error error;
    cr_assert_eq(program_parse(&hardware, "test", text, strlen(text), program, &error), STATUS_OK,
                 "%s", error.text);
}

static struct check run(const char *text)
{
    struct program program;
    struct check check;
    struct error error;
    parse(text, &program);
    cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
    program_clear(&program);
    return check;
}

static void describe(const struct check *check, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < check->count && used < size; i++) {
        const struct finding *finding = &check->findings[i];
        used += (size_t)snprintf(out + used, size - used, "%s%s ", i ? "; " : "",
                                 finding_kind_name(finding->kind));
        for (int line = 0; line < finding->line_count && used < size; line++)
            used += (size_t)snprintf(out + used, size - used, "%s%d", line ? "," : "",
                                     finding->lines[line]);
    }
}

static void expect(const char *text, const char *findings)
{
    char found[1024];
    struct check check = run(text);
    describe(&check, found, sizeof found);
    cr_expect_str_eq(found, findings, "found '%s', expected '%s', in\n%s", found, findings, text);
    check_clear(&check);
}

/* The text of finding number `i`, in a buffer that the next call overwrites. */
static void expect_text(const char *text, size_t i, const char *part)
{
    struct check check = run(text);
    cr_assert_gt(check.count, i);
    cr_expect(strstr(check.findings[i].text, part), "'%s' lacks '%s'", check.findings[i].text,
              part);
    check_clear(&check);
}

static enum status status_of(const char *text, struct error *error)
{
    struct program program;
    struct check check;
    parse(text, &program);
    enum status status = program_check(&program, &check, error);
    if (status == STATUS_OK)
        check_clear(&check);
    program_clear(&program);
    return status;
}

#define LOAD(at)   "MTE2 gm->l1 bytes=8192 dst=l1:" at "\n"
#define FEED(at)   "MTE1 l1->l0a bytes=8192 src=l1:" at " dst=l0a:0\n"
#define SET(a, b)  "set " a " " b " 0\n"
#define WAIT(a, b) "wait " a " " b " 0\n"

Test(check, empty_program_is_safe)
{
    expect("", "");
    expect("loop 1000000000\nend\n", "");
    expect("loop 1000000\nloop 0\n" LOAD("0") "end\nend\n", "");
}

Test(check, read_after_write)
{
    expect(LOAD("0") FEED("0"), "hazard 1,2");
    expect(LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("0"), "");
    expect(LOAD("0") SET("MTE2", "MTE1") FEED("0") WAIT("MTE2", "MTE1"), "hazard 1,3");
    expect(SET("MTE2", "MTE1") LOAD("0") WAIT("MTE2", "MTE1") FEED("0"), "hazard 2,4");
}

Test(check, write_after_read)
{
    expect(FEED("0") LOAD("0"), "hazard 1,2");
    expect(FEED("0") SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") LOAD("0"), "");
    expect(FEED("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") LOAD("0"), "hazard 1,4");
}

Test(check, write_after_write)
{
    const char *both = "MTE2 gm->l1 bytes=64 dst=l1:0\nMTE3 ub->l1 bytes=64 dst=l1:32\n";
    expect(both, "hazard 1,2");
    expect("MTE2 gm->l1 bytes=64 dst=l1:0\nMTE3 ub->l1 bytes=64 dst=l1:64\n", "");
}

Test(check, reads_never_conflict)
{
    expect("MTE1 l1->ub bytes=64 src=l1:0 dst=ub:0\nMTE2 gm->ub bytes=64 src=l1:0 dst=ub:64\n", "");
}

Test(check, accumulation_reads_and_writes)
{
    const char *start = "M mmad m=16 k=16 n=16 type=f16 dst=l0c:0 init=0\n";
    char text[512];
    snprintf(text, sizeof text, "%sV l0c->ub bytes=1024 src=l0c:0\n", start);
    expect(text, "hazard 1,2");
    snprintf(text, sizeof text, "V l0c->ub bytes=1024 src=l0c:1020\n%s", start);
    expect(text, "hazard 1,2");
    snprintf(text, sizeof text, "V l0c->ub bytes=1024 src=l0c:1024\n%s", start);
    expect(text, "");
}

Test(check, external_memory_counts)
{
    expect("MTE3 ub->gm bytes=64 dst=gm:0\nMTE2 gm->ub bytes=64 src=gm:0\n", "hazard 1,2");
    expect("MTE3 ub->gm bytes=64 dst=gm:0\nMTE2 gm->ub bytes=64 src=gm:64\n", "");
}

Test(check, one_pipe_is_a_queue)
{
    expect(LOAD("0") LOAD("0"), "");
    expect("loop 5\n" LOAD("0") "end\n", "");
}

Test(check, order_goes_through_a_third_pipe)
{
    const char *chain =
        LOAD("0") SET("MTE2", "M") WAIT("MTE2", "M") SET("M", "MTE1") WAIT("M", "MTE1") FEED("0");
    expect(chain, "");
    const char *gap =
        LOAD("0") SET("MTE2", "M") SET("M", "MTE1") WAIT("MTE2", "M") WAIT("M", "MTE1") FEED("0");
    expect(gap, "hazard 1,6");
}

Test(check, barriers)
{
    expect(LOAD("0") "barrier\n" FEED("0"), "");
    expect(LOAD("0") "barrier MTE2\n" FEED("0"), "hazard 1,3");
    expect("barrier\n" LOAD("0") FEED("0") "barrier\n", "hazard 2,3");
    expect("loop 3\n" LOAD("0") "barrier\n" FEED("0") "end\n", "hazard 2,4");
    expect("loop 3\n" LOAD("0") "barrier\n" FEED("0") "barrier\nend\n", "");
}

Test(check, scalar_dispatch_orders_what_follows)
{
    expect(LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S") FEED("0"), "");
    expect(LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S") "S branch count=1\n" FEED("0"), "");
    /* A scalar instruction does not wait for what was dispatched before it. */
    expect(LOAD("0") "S branch count=1\n" FEED("0"), "hazard 1,3");
    /* The wait blocks what comes after it only. */
    expect(LOAD("0") SET("MTE2", "S") FEED("0") WAIT("MTE2", "S"), "hazard 1,3");
    /* What is behind in its queue when the scalar pipe runs comes after it, by way of its flag. */
    expect(WAIT("M", "MTE1") FEED("0") LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S")
               SET("M", "MTE1"),
           "");
}

Test(check, a_wait_may_stand_before_its_set)
{
    expect(WAIT("MTE2", "MTE1") FEED("0") LOAD("0") SET("MTE2", "MTE1"), "");
    expect(WAIT("MTE2", "MTE1") FEED("0") SET("MTE2", "MTE1") LOAD("0"), "hazard 2,4");
    expect("loop i 3\n" WAIT("MTE2", "MTE1") FEED("8192*i") "end\nloop i 3\n" LOAD("8192*i")
               SET("MTE2", "MTE1") "end\n",
           "double_set 2,7");
}

Test(check, rows_may_interleave)
{
#define ROWS(at, stride) "MTE2 gm->l1 bytes=64 dst=l1:" at " rows=4 stride=" stride "\n"
    const char *read = "MTE1 l1->l0a bytes=64 src=l1:16 rows=4 stride=32\n";
    char text[512];
    snprintf(text, sizeof text, "%s%s", ROWS("0", "32"), read);
    expect(text, "");
    snprintf(text, sizeof text, "%s%s", ROWS("1", "32"), read);
    expect(text, "hazard 1,2");
    snprintf(text, sizeof text, "%s%s", ROWS("64", "0"), read);
    expect(text, "");
    snprintf(text, sizeof text, "%s%s", ROWS("65", "0"), read);
    expect(text, "hazard 1,2");
    snprintf(text, sizeof text, "%s%s", ROWS("0", "16"), read);
    expect(text, "hazard 1,2");
#undef ROWS
}

/* Loads into two halves in turn; `free_set` is the flag that says a half has been read. */
static void double_buffering(char *text, size_t size, const char *free_set, const char *free_wait)
{
    snprintf(
        text, size,
        "set MTE1 MTE2 0\nset MTE1 MTE2 1\n"
        "loop i 4\n"
        "%s 0\n" LOAD("0") "set MTE2 MTE1 0\n"
                           "wait MTE2 MTE1 0\n" FEED(
                               "0") "%s 0\n"
                                    "%s 1\n" LOAD(
                                        "8192") "set MTE2 MTE1 1\n"
                                                "wait MTE2 MTE1 1\n" FEED(
                                                    "8192") "%s 1\n"
                                                            "end\n"
                                                            "wait MTE1 MTE2 0\nwait MTE1 MTE2 1\n",
        free_wait, free_set, free_wait, free_set);
}

Test(check, double_buffering)
{
    char text[1024];
    double_buffering(text, sizeof text, "set MTE1 MTE2", "wait MTE1 MTE2");
    expect(text, "");
    expect("loop i 4\n" LOAD("16384*i") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("16384*i")
               SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") "end\n",
           "");
    /* Without the way back: the next load may overwrite what is being read. */
    expect("loop i 4\n" LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("0") "end\n",
           "hazard 2,5; double_set 3,4");
}

Test(check, index_dependent_operands)
{
    /* The feed of iteration i reads what the load of iteration i - 1 wrote. */
    expect("loop i 4\n" LOAD("8192*i") FEED("8192*i+65536") "end\n", "");
    expect("loop i 9\n" LOAD("8192*i") FEED("8192*i+65536") "end\n", "hazard 2,3");
    expect("loop i 4\nloop j 4\n" LOAD("32768*i+8192*j") FEED("524288-8192*j") "end\nend\n", "");
    expect("loop i 4\nloop j 4\n" LOAD("32768*i+8192*j") FEED("524288-32768*j") "end\nend\n", "");
    expect("loop i 4\nloop j 4\n" LOAD("32768*i+8192*j") FEED("131072-8192*j") "end\nend\n",
           "hazard 3,4");
}

Test(check, double_set)
{
    const char *once = SET("MTE2", "MTE1") WAIT("MTE2", "MTE1");
    char text[512];
    snprintf(text, sizeof text, "%s%s", once, once);
    expect(text, "double_set 1,2,3");
    expect(SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") "barrier\n" SET("MTE2", "MTE1")
               WAIT("MTE2", "MTE1"),
           "");
    expect(SET("MTE2", "MTE1") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") WAIT("MTE2", "MTE1"),
           "double_set 1,2,3");
    expect(SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") SET("MTE1", "MTE2") WAIT("MTE1", "MTE2")
               SET("MTE2", "MTE1") WAIT("MTE2", "MTE1"),
           "");
    expect_text(text, 0, "MTE2 MTE1 0 is set in line 3 while its set of line 1");
}

Test(check, unmatched_flags)
{
    expect(SET("MTE2", "MTE1"), "unmatched_flag 1");
    expect(SET("MTE2", "MTE1") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1"),
           "double_set 1,2,3; unmatched_flag 2");
    expect("loop 3\n" SET("MTE2", "MTE1") "end\nloop 2\n" WAIT("MTE2", "MTE1") "end\n",
           "unmatched_flag 2; double_set 2,5");
    expect(SET("MTE2", "MTE1") "loop 0\n" WAIT("MTE2", "MTE1") "end\n", "unmatched_flag 1");
    expect_text("loop 3\n" SET("MTE2", "MTE1") "end\n", 0, "is set 3 times and waited for 0 times");
}

Test(check, surplus_lines_come_from_the_end)
{
#define ONE  SET("V", "M") "barrier\n"
#define TAKE WAIT("V", "M") "barrier\n"
    /* Sets run in the order of lines 1, (4, 7, 7), (4, 7, 7). */
    const char *sets = ONE "loop 2\n" ONE "loop 2\n" ONE "end\nend\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", sets, "loop 5\n" TAKE "end\n");
    expect(text, "double_set 1,4,12; double_set 4,7,12; unmatched_flag 7; double_set 7; "
                 "double_set 7,12");
    snprintf(text, sizeof text, "%s%s", sets, "loop 1\n" TAKE "end\n");
    expect(text, "double_set 1,4,12; unmatched_flag 4,7; double_set 4,7; double_set 7");
    expect(sets, "unmatched_flag 1,4,7; double_set 1,4; double_set 4,7; double_set 7");
    expect(SET("V", "M") SET("V", "M") SET("V", "M") SET("V", "M") SET("V", "M"),
           "double_set 1,2; unmatched_flag 2,3,4,5; double_set 2,3; double_set 3,4; "
           "double_set 4,5");
#undef ONE
#undef TAKE
}

Test(check, deadlock)
{
    expect(WAIT("MTE2", "MTE1"), "deadlock 1; unmatched_flag 1");
    expect_text(WAIT("MTE2", "MTE1"), 0, "MTE1 waits for ever at 'wait MTE2 MTE1 0' in line 1");
    /* A cycle. */
    expect(WAIT("MTE1", "MTE2") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") SET("MTE1", "MTE2"),
           "deadlock 1; deadlock 3");
    /* Its set stands behind a barrier, behind a scalar wait, behind itself. */
    expect(WAIT("MTE2", "MTE1") "barrier\n" SET("MTE2", "MTE1"), "deadlock 1");
    expect(WAIT("MTE2", "S") SET("MTE2", "S"), "deadlock 1");
    expect(WAIT("V", "V") SET("V", "V"), "deadlock 1");
    /* Only the wait is blocked: dispatch goes on. */
    expect(WAIT("MTE2", "MTE1") LOAD("0") SET("MTE2", "MTE1"), "");
}

Test(check, what_runs_before_a_deadlock_is_checked)
{
    expect(LOAD("0") FEED("0") WAIT("V", "M") "M mmad m=16 k=16 n=16 dst=l0c:0\n"
                                              "V l0c->ub bytes=64 src=l0c:0\n",
           "hazard 1,2; deadlock 3; unmatched_flag 3");
    expect(WAIT("V", "M") "barrier\n" LOAD("0") FEED("0"), "deadlock 1; unmatched_flag 1");
}

Test(check, capacity)
{
    expect("MTE2 gm->l1 bytes=8192 dst=l1:1040384\n", "");
    expect("MTE2 gm->l1 bytes=8192 dst=l1:1040385\n", "capacity 1");
    expect_text("MTE2 gm->l1 bytes=8192 dst=l1:1040385\n", 0, "1 bytes beyond its 1048576");
    expect("loop i 128\nMTE2 gm->l1 bytes=8192 dst=l1:8192*i\nend\n", "");
    expect("loop i 129\nMTE2 gm->l1 bytes=8192 dst=l1:8192*i\nend\n", "capacity 2");
    expect("loop i 2\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", "");
    expect("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", "capacity 2");
    expect_text("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", 0,
                "4096 bytes before its start");
    expect("loop i 0\nMTE2 gm->l1 bytes=64 dst=l1:99999999\nend\n", "");
    expect("MTE2 gm->l1 bytes=0 dst=l1:99999999\n", "");
    expect("MTE2 gm->l1 bytes=64 src=gm:99999999999 dst=l1:0 rows=2 stride=1048544\n", "");
    expect("MTE2 gm->l1 bytes=64 src=gm:99999999999 dst=l1:0 rows=2 stride=1048545\n",
           "capacity 1");
    expect("MTE2 gm->l1 bytes=64 src=gm:-1\n", "capacity 1");
}

Test(check, addresses_that_do_not_fit)
{
    expect("MTE2 gm->l1 bytes=64 src=gm:9223372036854775743\n", "");
    expect("MTE2 gm->l1 bytes=64 src=gm:9223372036854775744\n", "capacity 1");
    expect("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:9223372036854775807*i\nend\n", "capacity 2");
    expect("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:0-9223372036854775807*i\nend\n", "capacity 2");
    expect("MTE2 gm->l1 bytes=64 dst=l1:0 rows=64 stride=9223372036854775807\n", "capacity 1");
    expect("MTE3 ub->gm bytes=64 dst=gm:9223372036854775743\n"
           "MTE2 gm->l1 bytes=64 src=gm:9223372036854775680\n",
           "hazard 1,2");
}

Test(check, every_pair_of_lines_is_reported_once)
{
    expect("loop 50\n" LOAD("0") FEED("0") "end\n", "hazard 2,3");
    expect("loop 3\n" FEED("0") "end\n" LOAD("0") FEED("0"), "hazard 2,4; hazard 4,5");
}

Test(check, hazard_texts_name_pipes_bytes_and_lines)
{
    expect_text(LOAD("0") FEED("4096"), 0,
                "MTE1 reads l1[4096, 12288) in line 2 while MTE2 in line 1 may still write it; add "
                "set/wait MTE2->MTE1 between them");
    expect_text(FEED("0") LOAD("0"), 0, "MTE2 overwrites l1[0, 8192) in line 2 while MTE1");
}

Test(check, findings_are_bounded)
{
    enum { LINES = 3000, SIZE = LINES * 128 };
    char *text = malloc(SIZE);
    size_t used = 0;
    for (int i = 0; i < LINES; i++)
        used += (size_t)snprintf(text + used, SIZE - used, i % 2 ? LOAD("0") : FEED("0"));
    struct check check = run(text);
    cr_expect_eq(check.count, CHECK_MAX_FINDINGS);
    cr_expect(check.truncated);
    check_clear(&check);
    free(text);
}

Test(check, too_large_is_said)
{
    struct error error;
    cr_expect_eq(status_of("loop 50000000\nS nop count=1\nend\nS nop count=1\n", &error),
                 STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, "50000000 instructions"), "%s", error.text);
    const char *rows = "MTE3 ub->gm bytes=1073741824 dst=gm:0 rows=536870912 stride=4\n"
                       "MTE2 gm->l1 bytes=64 src=gm:0\n";
    cr_expect_eq(status_of(rows, &error), STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, "rows of operands"), "%s", error.text);
    const char *visits = "MTE2 gm->l1 bytes=65536 dst=l1:0 rows=32768 stride=4\n"
                         "loop 1000000\nMTE1 l1->l0a bytes=131072 src=l1:0\nend\n";
    cr_expect_eq(status_of(visits, &error), STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, "pieces"), "%s", error.text);
    const char *queued = "loop 25000000\nwait V M 0\nend\nloop 25000000\nset V M 0\nend\n";
    cr_expect_eq(status_of(queued, &error), STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, "wait for other pipes"), "%s", error.text);
}

Test(check, operands_that_nobody_shares_cost_nothing)
{
    expect("MTE3 ub->gm bytes=1073741824 dst=gm:0 rows=536870912 stride=4\n"
           "MTE2 gm->ub bytes=1073741824 src=gm:4294967296 rows=536870912 stride=4\n",
           "");
}
