/* The hazard check, rule by rule, on programs written by hand. */
#include "tests/support/expect_check.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(check, .init = expect_check_start, .fini = expect_check_end);

Test(check, empty_program_is_safe)
{
    expect_findings("", "");
    expect_findings("loop 1000000000\nend\n", "");
    expect_findings("loop 1000000\nloop 0\n" LOAD("0") "end\nend\n", "");
}

Test(check, read_after_write)
{
    expect_findings(LOAD("0") FEED("0"), "hazard 1,2");
    expect_findings(LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("0"), "");
    expect_findings(LOAD("0") SET("MTE2", "MTE1") FEED("0") WAIT("MTE2", "MTE1"), "hazard 1,3");
    expect_findings(SET("MTE2", "MTE1") LOAD("0") WAIT("MTE2", "MTE1") FEED("0"), "hazard 2,4");
}

Test(check, write_after_read)
{
    expect_findings(FEED("0") LOAD("0"), "hazard 1,2");
    expect_findings(FEED("0") SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") LOAD("0"), "");
    expect_findings(FEED("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") LOAD("0"), "hazard 1,4");
}

Test(check, write_after_write)
{
    const char *both = "MTE2 gm->l1 bytes=64 dst=l1:0\nMTE3 ub->l1 bytes=64 dst=l1:32\n";
    expect_findings(both, "hazard 1,2");
    expect_findings("MTE2 gm->l1 bytes=64 dst=l1:0\nMTE3 ub->l1 bytes=64 dst=l1:64\n", "");
}

Test(check, reads_never_conflict)
{
    expect_findings(
        "MTE1 l1->ub bytes=64 src=l1:0 dst=ub:0\nMTE2 gm->ub bytes=64 src=l1:0 dst=ub:64\n", "");
}

Test(check, accumulation_reads_and_writes)
{
    const char *start = "M mmad m=16 k=16 n=16 type=f16 dst=l0c:0 init=0\n";
    char text[512];
    snprintf(text, sizeof text, "%sV l0c->ub bytes=1024 src=l0c:0\n", start);
    expect_findings(text, "hazard 1,2");
    snprintf(text, sizeof text, "V l0c->ub bytes=1024 src=l0c:1020\n%s", start);
    expect_findings(text, "hazard 1,2");
    snprintf(text, sizeof text, "V l0c->ub bytes=1024 src=l0c:1024\n%s", start);
    expect_findings(text, "");
}

Test(check, external_memory_counts)
{
    expect_findings("MTE3 ub->gm bytes=64 dst=gm:0\nMTE2 gm->ub bytes=64 src=gm:0\n", "hazard 1,2");
    expect_findings("MTE3 ub->gm bytes=64 dst=gm:0\nMTE2 gm->ub bytes=64 src=gm:64\n", "");
}

Test(check, one_pipe_is_a_queue)
{
    expect_findings(LOAD("0") LOAD("0"), "");
    expect_findings("loop 5\n" LOAD("0") "end\n", "");
}

Test(check, order_goes_through_a_third_pipe)
{
    const char *chain =
        LOAD("0") SET("MTE2", "M") WAIT("MTE2", "M") SET("M", "MTE1") WAIT("M", "MTE1") FEED("0");
    expect_findings(chain, "");
    const char *gap =
        LOAD("0") SET("MTE2", "M") SET("M", "MTE1") WAIT("MTE2", "M") WAIT("M", "MTE1") FEED("0");
    expect_findings(gap, "hazard 1,6");
}

Test(check, barriers)
{
    expect_findings(LOAD("0") "barrier\n" FEED("0"), "");
    expect_findings(LOAD("0") "barrier MTE2\n" FEED("0"), "hazard 1,3");
    expect_findings("barrier\n" LOAD("0") FEED("0") "barrier\n", "hazard 2,3");
    expect_findings("loop 3\n" LOAD("0") "barrier\n" FEED("0") "end\n", "hazard 2,4");
    expect_findings("loop 3\n" LOAD("0") "barrier\n" FEED("0") "barrier\nend\n", "");
}

Test(check, scalar_dispatch_orders_what_follows)
{
    expect_findings(LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S") FEED("0"), "");
    expect_findings(LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S") "S branch count=1\n" FEED("0"),
                    "");
    /* A scalar instruction does not wait for what was dispatched before it. */
    expect_findings(LOAD("0") "S branch count=1\n" FEED("0"), "hazard 1,3");
    /* The wait blocks what comes after it only. */
    expect_findings(LOAD("0") SET("MTE2", "S") FEED("0") WAIT("MTE2", "S"), "hazard 1,3");
    /* What is behind in its queue when the scalar pipe runs comes after it, by way of its flag. */
    expect_findings(WAIT("M", "MTE1") FEED("0") LOAD("0") SET("MTE2", "S") WAIT("MTE2", "S")
                        SET("M", "MTE1"),
                    "");
}

#define REDUCE  "V reduceMin elements=256 src=ub:0 dst=ub:512\n"
#define READ(b) "S assign count=1 " b "\n"

/* What S touches is seen; nothing after it needs a flag. */
Test(check, scalar_operands)
{
    expect_findings(REDUCE READ("src=ub:512"), "hazard 1,2");
    expect_findings(REDUCE READ("src=ub:516"), "");
    expect_findings(REDUCE READ("src=ub:508 bytes=6"), "hazard 1,2");
    expect_findings(REDUCE READ("src=ub:508"), "");
    expect_findings(REDUCE READ("dst=ub:0 bytes=512"), "hazard 1,2");
    expect_findings(REDUCE READ("src=ub:0 bytes=512"), "");
    expect_findings(REDUCE SET("V", "S") WAIT("V", "S") READ("src=ub:512 dst=ub:0"), "");
    expect_findings(READ("src=ub:512 dst=ub:0") REDUCE, "");
    expect_findings(
        "loop i 4\n" REDUCE SET("V", "S") WAIT("V", "S") READ("src=ub:512 dst=ub:2*i") "end\n", "");
    expect_findings("loop i 4\n" REDUCE READ("src2=ub:512+4*i") "end\n", "hazard 2,3");
    expect_findings(READ("dst=ub:253950 bytes=2"), "");
    expect_findings(READ("dst=ub:253950 bytes=4"), "capacity 1");
}

Test(check, a_wait_may_stand_before_its_set)
{
    expect_findings(WAIT("MTE2", "MTE1") FEED("0") LOAD("0") SET("MTE2", "MTE1"), "");
    expect_findings(WAIT("MTE2", "MTE1") FEED("0") SET("MTE2", "MTE1") LOAD("0"), "hazard 2,4");
    expect_findings("loop i 3\n" WAIT("MTE2", "MTE1")
                        FEED("8192*i") "end\nloop i 3\n" LOAD("8192*i") SET("MTE2", "MTE1") "end\n",
                    "double_set 2,7");
}

Test(check, what_waits_in_a_queue_keeps_its_indices)
{
    expect_findings("loop i 3\n" WAIT("MTE2", "MTE1")
                        FEED("8192*i") "end\n"
                                       "loop 3\n" SET("MTE2", "MTE1") "end\n" LOAD("16384"),
                    "double_set 2,6; hazard 3,8");
    expect_findings("loop i 3\n" WAIT("MTE2", "MTE1")
                        FEED("8192*i") "end\n"
                                       "loop 3\n" SET("MTE2", "MTE1") "end\n" LOAD("24576"),
                    "double_set 2,6");
}

Test(check, rows_may_interleave)
{
#define ROWS(at, stride) "MTE2 gm->l1 bytes=64 dst=l1:" at " rows=4 stride=" stride "\n"
    const char *read = "MTE1 l1->l0a bytes=64 src=l1:16 rows=4 stride=32\n";
    char text[512];
    snprintf(text, sizeof text, "%s%s", ROWS("0", "32"), read);
    expect_findings(text, "");
    snprintf(text, sizeof text, "%s%s", ROWS("1", "32"), read);
    expect_findings(text, "hazard 1,2");
    snprintf(text, sizeof text, "%s%s", ROWS("64", "0"), read);
    expect_findings(text, "");
    snprintf(text, sizeof text, "%s%s", ROWS("65", "0"), read);
    expect_findings(text, "hazard 1,2");
    snprintf(text, sizeof text, "%s%s", ROWS("0", "16"), read);
    expect_findings(text, "hazard 1,2");
#undef ROWS
}

/* Gaps inside a row count as touched, those between rows do not. */
Test(check, rows_of_pieces)
{
    static const struct {
        const char *read, *expected;
    } cases[] = {
        {"l1:96+512*[2]", "hazard 1,2"},  /* behind the first piece */
        {"l1:128+512*[2]", ""},           /* behind the row, */
        {"l1:128+320*[2]", ""},           /* and before the next one, */
        {"l1:128+384*[2]", "hazard 1,2"}, /* and in it */
        {"l1:608+512*[2]", "hazard 1,2"}, /* its last piece */
        {"l1:0+1024*[2]", "hazard 1,2"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[256];
        snprintf(text, sizeof text,
                 "MTE2 gm->l1 bytes=128 dst=l1:0+512*[2]+96*[2]\nMTE1 l1->l0a bytes=64 src=%s\n",
                 cases[c].read);
        expect_findings(text, cases[c].expected);
    }
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
    expect_findings(text, "");
    expect_findings("loop i 4\n" LOAD("16384*i") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                        FEED("16384*i") SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") "end\n",
                    "");
    /* Without the way back: the next load may overwrite what is being read. */
    expect_findings("loop i 4\n" LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                        FEED("0") "end\n",
                    "double_set 3,4; hazard 2,5");
}

Test(check, index_dependent_operands)
{
    /* The feed of iteration i reads what the load of iteration i - 1 wrote. */
    expect_findings("loop i 4\n" LOAD("8192*i") FEED("8192*i+65536") "end\n", "");
    expect_findings("loop i 9\n" LOAD("8192*i") FEED("8192*i+65536") "end\n", "hazard 2,3");
    expect_findings(
        "loop i 4\nloop j 4\n" LOAD("32768*i+8192*j") FEED("524288-8192*j") "end\nend\n", "");
    expect_findings(
        "loop i 4\nloop j 4\n" LOAD("32768*i+8192*j") FEED("524288-32768*j") "end\nend\n", "");
    expect_findings("loop i 4\nloop j 4\n" LOAD("32768*i+8192*j")
                        FEED("131072-8192*j") "end\nend\n",
                    "hazard 3,4");
}

Test(check, double_set)
{
    const char *once = SET("MTE2", "MTE1") WAIT("MTE2", "MTE1");
    char text[512];
    snprintf(text, sizeof text, "%s%s", once, once);
    expect_findings(text, "double_set 1,2,3");
    expect_findings(SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") "barrier\n" SET("MTE2", "MTE1")
                        WAIT("MTE2", "MTE1"),
                    "");
    expect_findings(SET("MTE2", "MTE1") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                        WAIT("MTE2", "MTE1"),
                    "double_set 1,2,3");
    expect_findings(SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") SET("MTE1", "MTE2")
                        WAIT("MTE1", "MTE2") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1"),
                    "");
    expect_text(text, 0, "MTE2 MTE1 0 is set in line 3 while its set of line 1");
}

Test(check, unmatched_flags)
{
    expect_findings(SET("MTE2", "MTE1"), "unmatched_flag 1");
    expect_findings(SET("MTE2", "MTE1") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1"),
                    "unmatched_flag 2; double_set 1,2,3");
    expect_findings("loop 3\n" SET("MTE2", "MTE1") "end\nloop 2\n" WAIT("MTE2", "MTE1") "end\n",
                    "unmatched_flag 2; double_set 2,5");
    expect_findings(SET("MTE2", "MTE1") "loop 0\n" WAIT("MTE2", "MTE1") "end\n",
                    "unmatched_flag 1");
    expect_text("loop 3\n" SET("MTE2", "MTE1") "end\n", 0,
                "sets and waits of flag MTE2 MTE1 0: 3 and 0");
}

Test(check, surplus_lines_come_from_the_end)
{
#define ONE  SET("V", "M") "barrier\n"
#define TAKE WAIT("V", "M") "barrier\n"
    /* Sets run in the order of lines 1, (4, 7, 7), (4, 7, 7). */
    const char *sets = ONE "loop 2\n" ONE "loop 2\n" ONE "end\nend\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", sets, "loop 5\n" TAKE "end\n");
    expect_findings(
        text,
        "unmatched_flag 7; double_set 1,4,12; double_set 4,7,12; double_set 7; double_set 7,12");
    snprintf(text, sizeof text, "%s%s", sets, "loop 1\n" TAKE "end\n");
    expect_findings(text, "unmatched_flag 4,7; double_set 1,4,12; double_set 4,7; double_set 7");
    expect_findings(sets, "unmatched_flag 1,4,7; double_set 1,4; double_set 4,7; double_set 7");
    expect_findings(SET("V", "M") SET("V", "M") SET("V", "M") SET("V", "M") SET("V", "M"),
                    "unmatched_flag 1,2,3,4,5; double_set 1,2; double_set 2,3; double_set 3,4; "
                    "double_set 4,5");
#undef ONE
#undef TAKE
}

Test(check, deadlock)
{
    expect_findings(WAIT("MTE2", "MTE1"), "unmatched_flag 1; deadlock 1");
    expect_text(WAIT("MTE2", "MTE1"), 1, "MTE1 waits for ever at 'wait MTE2 MTE1 0' in line 1");
    expect_text(WAIT("MTE2", "MTE1"), 1, "it needs set number 1 and the program has 0");
    expect_text(WAIT("MTE2", "MTE1") "barrier\n" SET("MTE2", "MTE1"), 0, "behind something");
    /* A cycle. */
    expect_findings(WAIT("MTE1", "MTE2") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                        SET("MTE1", "MTE2"),
                    "deadlock 1; deadlock 3");
    /* Its set stands behind a barrier, behind a scalar wait, behind itself. */
    expect_findings(WAIT("MTE2", "MTE1") "barrier\n" SET("MTE2", "MTE1"), "deadlock 1");
    expect_findings(WAIT("MTE2", "S") SET("MTE2", "S"), "deadlock 1");
    expect_findings(WAIT("V", "V") SET("V", "V"), "deadlock 1");
    /* Only the wait is blocked: dispatch goes on. */
    expect_findings(WAIT("MTE2", "MTE1") LOAD("0") SET("MTE2", "MTE1"), "");
}

Test(check, what_runs_before_a_deadlock_is_checked)
{
    expect_findings(LOAD("0") FEED("0") WAIT("V", "M") "M mmad m=16 k=16 n=16 dst=l0c:0\n"
                                                       "V l0c->ub bytes=64 src=l0c:0\n",
                    "unmatched_flag 3; deadlock 3; hazard 1,2");
    expect_findings(WAIT("V", "M") "barrier\n" LOAD("0") FEED("0"), "unmatched_flag 1; deadlock 1");
}

Test(check, every_pair_of_lines_is_reported_once)
{
    expect_findings("loop 50\n" LOAD("0") FEED("0") "end\n", "hazard 2,3");
    expect_findings("loop 3\n" FEED("0") "end\n" LOAD("0") FEED("0"), "hazard 2,4; hazard 4,5");
}

Test(check, hazard_texts_name_pipes_bytes_and_lines)
{
    expect_text(LOAD("0") FEED("4096"), 0,
                "MTE1 reads l1[4096, 12288) in line 2 while MTE2 in line 1 may still write it; add "
                "set/wait MTE2->MTE1 between them");
    expect_text(FEED("0") LOAD("0"), 0, "MTE2 overwrites l1[0, 8192) in line 2 while MTE1");
}
