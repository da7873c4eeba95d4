/* The edges of the hazard check: buffers' ends, 64-bit addresses, work limits, many findings. */
#include "tests/support/expect_check.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(check_limits, .init = expect_check_start, .fini = expect_check_end);

Test(check_limits, capacity)
{
    expect_findings("MTE2 gm->l1 bytes=8192 dst=l1:1040384\n", "");
    expect_findings("MTE2 gm->l1 bytes=8192 dst=l1:1040385\n", "capacity 1");
    expect_text("MTE2 gm->l1 bytes=8192 dst=l1:1040385\n", 0, "1 bytes beyond its 1048576");
    expect_findings("loop i 128\nMTE2 gm->l1 bytes=8192 dst=l1:8192*i\nend\n", "");
    expect_findings("loop i 129\nMTE2 gm->l1 bytes=8192 dst=l1:8192*i\nend\n", "capacity 2");
    expect_findings("loop i 2\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", "");
    expect_findings("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", "capacity 2");
    expect_text("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:4096-4096*i\nend\n", 0,
                "4096 bytes before its start");
    expect_findings("loop i 0\nMTE2 gm->l1 bytes=64 dst=l1:99999999\nend\n", "");
    expect_findings("MTE2 gm->l1 bytes=0 dst=l1:99999999\n", "");
    expect_findings("MTE2 gm->l1 bytes=64 src=gm:99999999999 dst=l1:0 rows=2 stride=1048544\n", "");
    expect_findings("MTE2 gm->l1 bytes=64 src=gm:99999999999 dst=l1:0 rows=2 stride=1048545\n",
                    "capacity 1");
    expect_findings("MTE2 gm->l1 bytes=64 src=gm:-1\n", "capacity 1");
}

Test(check_limits, addresses_that_do_not_fit)
{
    expect_findings("MTE2 gm->l1 bytes=64 src=gm:9223372036854775743\n", "");
    expect_findings("MTE2 gm->l1 bytes=64 src=gm:9223372036854775744\n", "capacity 1");
    expect_findings("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:9223372036854775807*i\nend\n",
                    "capacity 2");
    expect_findings("loop i 3\nMTE2 gm->l1 bytes=64 dst=l1:0-9223372036854775807*i\nend\n",
                    "capacity 2");
    expect_findings("MTE2 gm->l1 bytes=64 dst=l1:0 rows=64 stride=9223372036854775807\n",
                    "capacity 1");
    expect_findings("MTE3 ub->gm bytes=64 dst=gm:9223372036854775743\n"
                    "MTE2 gm->l1 bytes=64 src=gm:9223372036854775680\n",
                    "hazard 1,2");
}

Test(check_limits, findings_are_bounded)
{
    enum { LINES = 3000, SIZE = LINES * 128 };
    char *text = malloc(SIZE);
    size_t used = 0;
    for (int i = 0; i < LINES; i++)
        used += (size_t)snprintf(text + used, SIZE - used, i % 2 ? LOAD("0") : FEED("0"));
    struct program program;
    struct check check;
    struct error error;
    expect_parse(text, &program);
    cr_assert_eq(program_check(&program, &check, &error), STATUS_OK);
    cr_expect_eq(check.count, CHECK_MAX_FINDINGS);
    cr_expect(check.truncated);
    check_clear(&check);
    program_clear(&program);
    free(text);
}

Test(check_limits, too_large_is_said)
{
    /* V moves through UB with the loop, and MTE3 does too: no two iterations are alike. */
    expect_too_large("loop i 1000000\nloop 30\nMTE3 ub->gm bytes=0 src=ub:0 dst=gm:0\nend\n"
                     "V relu elements=64 src=ub:0+0*i dst=ub:0\nloop 30\nS nop count=1\nend\n"
                     "MTE2 gm->ub bytes=32 src=gm:0+32*i dst=ub:64\n"
                     "MTE3 ub->gm bytes=32 src=ub:128 dst=gm:0+32*i\nend\n",
                     "50000000 instructions");
    expect_too_large("MTE3 ub->gm bytes=1073741824 dst=gm:0 rows=536870912 stride=4\n"
                     "MTE2 gm->l1 bytes=64 src=gm:0\n",
                     "rows of operands");
    expect_too_large("MTE2 gm->l1 bytes=65536 dst=l1:0 rows=32768 stride=4\n"
                     "loop i 20000\nMTE1 l1->l0a bytes=65536 src=l1:0+4*i\nend\n",
                     "pieces of buffers");
    expect_too_large("loop 25000000\nwait V M 0\nend\nloop 25000000\nset V M 0\nend\n",
                     "wait for other pipes");
}

Test(check_limits, operands_that_nobody_shares_cost_nothing)
{
    expect_findings("MTE3 ub->gm bytes=1073741824 dst=gm:0 rows=536870912 stride=4\n"
                    "MTE2 gm->ub bytes=1073741824 src=gm:4294967296 rows=536870912 stride=4\n",
                    "");
}

/* The text form has no negative strides; the types do. */
Test(check_limits, rows_may_go_backwards)
{
    struct program program;
    expect_parse("MTE2 gm->l1 bytes=64 dst=l1:64 rows=2 stride=64\n"
                 "MTE1 l1->l0a bytes=32 src=l1:0\n",
                 &program);
    expect_program(&program, "");
    program.regions[0].row_stride_bytes = -64;
    expect_program(&program, "hazard 1,2");
    program.regions[0].row_stride_bytes = -128;
    expect_program(&program, "capacity 1");
    program.regions[0].row_stride_bytes = INT64_MIN;
    expect_program(&program, "capacity 1");
    program.regions[0].rows = 3;
    program.regions[0].bytes = 96;
    program.regions[0].row_stride_bytes = INT64_MIN / 2;
    expect_program(&program, "capacity 1");
    program_clear(&program);
}
