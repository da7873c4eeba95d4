/* Synchronisation that orders nothing new: by hand, and against a brute force that closes the order
 * of small random programs with and without it. */
#include "analysis/check/oversync.h"
#include "core/program_text.h"
#include "tests/support/brute_check.h"
#include "tests/support/cases.h"
#include "tests/support/expect_check.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(oversync, .init = expect_check_start, .fini = expect_check_end);

/* The case of Zhou et al. 2025: a barrier over all pipes between moves that have nothing to do with
 * each other. */
Test(oversync, barrier_between_moves_of_different_buffers)
{
    expect_all("loop 16\n"
               "MTE1 l1->l0a bytes=8192 src=l1:0 dst=l0a:0\n"
               "barrier\n"
               "MTE3 ub->gm bytes=8192 src=ub:0 dst=gm:0\n"
               "end\n",
               "over_sync 3");
    expect_all("MTE2 gm->ub bytes=8192 src=gm:0 dst=ub:0\nbarrier\n"
               "MTE3 ub->gm bytes=8192 src=ub:0 dst=gm:8192\n",
               "");
}

Test(oversync, what_a_flag_orders_needs_no_barrier)
{
    expect_all(LOAD("0") SET("MTE2", "MTE1") "barrier\n" WAIT("MTE2", "MTE1") FEED("0"),
               "over_sync 3");
    expect_all(LOAD("0") "barrier\nbarrier\n" FEED("0"), "over_sync 2");
    expect_all(LOAD("0") "barrier\nbarrier MTE1\n" FEED("0"), "over_sync 3");
}

Test(oversync, pairs_of_a_register)
{
    const char *twice = LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") SET("MTE2", "MTE1")
        WAIT("MTE2", "MTE1") FEED("0");
    expect_all(twice, "double_set 2,3,4; over_sync 2,3");
    expect_all(
        LOAD("0") "set MTE2 MTE1 0\nset MTE2 MTE1 1\nwait MTE2 MTE1 0\nwait MTE2 MTE1 1\n" FEED(
            "0"),
        "over_sync 2,4");
    expect_all(LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("8192"), "over_sync 2,3");
    /* Through a third pipe. */
    expect_all(LOAD("0") SET("MTE2", "M") WAIT("MTE2", "M") SET("M", "MTE1") SET("MTE2", "MTE1")
                   WAIT("M", "MTE1") WAIT("MTE2", "MTE1") FEED("0"),
               "over_sync 2,3; over_sync 4,6");
}

/* The flag back orders no access (each tile has its own bytes), but keeps the flag forth single. */
Test(oversync, a_flag_that_keeps_another_single_stays)
{
    const char *paced =
        "loop i 4\n"
        "MTE2 gm->l1 bytes=64 dst=l1:0+64*i\n" SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
            SET("MTE1", "MTE2")
                WAIT("MTE1", "MTE2") "MTE1 l1->l0a bytes=64 src=l1:0+64*i dst=l0a:0\nend\n";
    expect_all(paced, "");
}

Test(oversync, trailing_waits)
{
    expect_all(LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1"), "over_sync 2,3");
    const char *ring =
        SET("MTE1", "MTE2") "loop 3\n" WAIT("MTE1", "MTE2") LOAD("0") SET("MTE2", "MTE1")
            WAIT("MTE2", "MTE1") FEED("0") SET("MTE1", "MTE2") "end\n" WAIT("MTE1", "MTE2");
    expect_all(ring, "");
}

/* Without operands any order of work may matter, but not one that others give. */
Test(oversync, left_out_operands_may_be_anything)
{
    const char *from = "MTE2 gm->l1 bytes=64\n", *to = "MTE1 l1->l0a bytes=64\n";
    char text[256];
    snprintf(text, sizeof text, "%sbarrier\n%s", from, to);
    expect_all(text, "");
    snprintf(text, sizeof text, "%sbarrier\nset MTE2 MTE1 0\nwait MTE2 MTE1 0\n%s", from, to);
    expect_all(text, "over_sync 2");
    expect_all("MTE1 l1->l0a bytes=64\nbarrier\nMTE3 ub->gm bytes=64\n", "over_sync 2");
    expect_all("V relu elements=64\nbarrier\nMTE3 ub->gm bytes=64\n", "");
}

/* A wait without a set is passed over; where waits wait for each other, what has run is judged, and
 * keeps the order that it has for whatever would come next. */
Test(oversync, behind_a_deadlock)
{
    expect_all("barrier MTE1\nwait V M 0\n", "unmatched_flag 2; deadlock 2; over_sync 1");
    expect_all(LOAD("0") "wait V MTE1 0\nbarrier\nbarrier\n" FEED("0"),
               "unmatched_flag 2; deadlock 2; over_sync 3");
    const char *circle = "wait M MTE1 0\nset MTE1 M 0\nwait MTE1 M 0\nset M MTE1 0\n";
    char text[1024];
    snprintf(text, sizeof text, LOAD("0") "barrier\nbarrier\n%s" FEED("0"), circle);
    expect_all(text, "deadlock 4; deadlock 6; over_sync 2");
    snprintf(text, sizeof text, LOAD("0") "%sbarrier\nbarrier\n" FEED("0"), circle);
    expect_all(text, "deadlock 2; deadlock 4");
}

/* Whatever else is wrong, the same flag is superfluous. */
Test(oversync, other_findings_hide_nothing)
{
    static const char *const wrong[][3] = {
        {"", "", ""},
        {"MTE2 gm->l1 bytes=64 dst=l1:65536\nMTE1 l1->l0a bytes=64 src=l1:65536 dst=l0a:16384\n",
         "hazard 7,8; ", ""},
        {"MTE2 gm->l1 bytes=64 dst=l1:1048544\n", "capacity 7; ", ""},
        {"MTE2 gm->l1 bytes=64 dst=l1:65537\n", "alignment 7; ", ""},
        {"set MTE1 MTE2 0\n", "unmatched_flag 7; ", ""},
        {"set MTE1 MTE2 0\nset MTE1 MTE2 0\nwait MTE1 MTE2 0\nwait MTE1 MTE2 0\n",
         "double_set 7,8,9; ", "; over_sync 7,9; over_sync 8,10"},
        {"wait MTE1 MTE2 0\n", "unmatched_flag 7; deadlock 7; ", ""},
        {"wait MTE1 V 0\nbarrier\n" LOAD("0"), "unmatched_flag 7; deadlock 7; ", ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024], findings[128];
        snprintf(text, sizeof text,
                 LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                     FEED("0") "set MTE2 MTE1 1\nwait MTE2 MTE1 1\n%s",
                 wrong[i][0]);
        snprintf(findings, sizeof findings, "%sover_sync 5,6%s", wrong[i][1], wrong[i][2]);
        expect_all(text, findings);
    }
}

/* The record of a long loop counts its events differently, and witnesses say none the wrong name:
 * flags stand where the numbers of the whole program would point to. */
Test(oversync, witnesses_behind_a_long_loop_are_accesses)
{
    struct program program;
    struct check check;
    struct error error;
    expect_parse("loop i 1000\n" LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("0")
                     SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") "end\n" LOAD(
                         "8192") "barrier\nbarrier\n" FEED("8192"),
                 &program);
    cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(check.count, 1);
    const struct witness *witness = &check.findings[0].witness;
    cr_assert_eq(witness->access_count, 2);
    cr_expect_eq(program.items[witness->accesses[0].item].line, 9);
    cr_expect_eq(program.items[witness->accesses[1].item].line, 12);
    cr_expect_eq(witness->accesses[0].index_count, -1);
    cr_expect_eq(witness->low, 8192);
    cr_expect_eq(witness->high, 16384);
    check_clear(&check);
    program_clear(&program);
}

Test(oversync, long_loops)
{
    const char *const texts[][2] = {
        {"", ""},
        {"barrier\n", "over_sync 7"},
        {"set M S 0\nwait M S 0\n", "over_sync 7,8"},
    };
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 SET("MTE1", "MTE2") "loop i 500000000\n" WAIT("MTE1", "MTE2") LOAD("0")
                     SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") "%s" FEED("0")
                         SET("MTE1", "MTE2") "end\n" WAIT("MTE1", "MTE2"),
                 texts[i][0]);
        expect_all(text, texts[i][1]);
    }
}

static int count_of(const struct program *program, enum instruction_kind kind)
{
    int count = 0;
    for (int32_t i = 0; i < program->count; i++)
        count += program->items[i].kind == kind;
    return count;
}

/* Of long programs a few rounds of each loop tell what can go. A barrier that orders rounds which
 * lie further apart than these stays. */
Test(oversync, long_programs_are_tidied_by_a_few_rounds)
{
    static const struct {
        const char *written;
        int barriers, flags;
    } cases[] = {{"32*i", 1, 1}, {"192+32*i", 1, 0}, {"384000+32*i", 1, 0}, {"1000000", 0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[512];
        struct program program;
        struct check check;
        struct error error;
        snprintf(text, sizeof text,
                 "loop i 20000\nMTE2 gm->l1 bytes=32 dst=l1:%s\nbarrier\n" SET("MTE2", "MTE1")
                     WAIT("MTE2", "MTE1") "MTE1 l1->l0a bytes=32 src=l1:32*i dst=l0a:0\n"
                                          "barrier\nend\n",
                 cases[c].written);
        expect_parse(text, &program);
        cr_assert_eq(program_tidy(&program, NULL, &error), STATUS_OK, "%s", error.text);
        cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
        cr_expect(check_is_safe(&check), "%s", cases[c].written);
        cr_expect_eq(count_of(&program, INSTRUCTION_BARRIER), cases[c].barriers, "%s: %d",
                     cases[c].written, count_of(&program, INSTRUCTION_BARRIER));
        cr_expect_eq(count_of(&program, INSTRUCTION_SET), cases[c].flags, "%s", cases[c].written);
        check_clear(&check);
        program_clear(&program);
    }
}

/* ---- brute force ------------------------------------------------------------------------------
 */

static uint32_t on_chip(const struct brute *brute)
{
    uint32_t buffers = 0;
    for (int b = 0; b < brute->program->hw->buffer_count; b++)
        if (brute->program->hw->buffers[b].capacity_bytes)
            buffers |= 1u << b;
    return buffers;
}

static uint32_t named(const struct brute *brute, const struct instruction *in, bool dst)
{
    uint32_t buffers = 0;
    for (int i = 0; i < in->region_count; i++) {
        const struct region *region = &brute->program->regions[in->first_region + i];
        if ((region->role == OPERAND_DST) == dst)
            buffers |= 1u << region->buffer;
    }
    return buffers;
}

static uint32_t anywhere(const struct brute *brute, const struct instruction *in)
{
    uint32_t dst = named(brute, in, true), src = named(brute, in, false);
    if (in->kind == INSTRUCTION_MOVE) {
        const struct path *path = &brute->program->hw->paths[in->what];
        return ((dst ? 0 : 1u << path->destination) | (src ? 0 : 1u << path->source)) &
               on_chip(brute);
    }
    bool work = in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_VECTOR;
    return work && !dst && !src ? on_chip(brute) : 0;
}

static bool may_conflict(const struct brute *brute, int u, int v)
{
    const struct instruction *a = brute->nodes[u].in, *b = brute->nodes[v].in;
    uint32_t any_a = anywhere(brute, a), any_b = anywhere(brute, b);
    uint32_t all_a = any_a | named(brute, a, true) | named(brute, a, false);
    uint32_t all_b = any_b | named(brute, b, true) | named(brute, b, false);
    return (any_a & all_b) || (any_b & all_a) ||
           brute_conflict(brute, &brute->nodes[u], &brute->nodes[v]);
}

static bool is_gone(const struct brute *brute, const bool *gone, int node)
{
    return gone[brute->nodes[node].in - brute->program->items];
}

static int partner(const struct brute *brute, int wait)
{
    return brute_nth(brute, INSTRUCTION_SET, brute->nodes[wait].in, brute_rank(brute, wait));
}

/* The order without what is gone, into `before`. A wait that no set is there for orders nothing. */
static void order_without(const struct brute *brute, const bool *gone,
                          bool before[MAX_NODES][MAX_NODES])
{
    memset(before, 0, sizeof(bool[MAX_NODES][MAX_NODES]));
    for (int v = 0; v < brute->count; v++) {
        if (is_gone(brute, gone, v))
            continue;
        for (int u = 0; u < v; u++)
            before[u][v] = !is_gone(brute, gone, u) && brute_must_precede(brute, u, v);
        if (brute->nodes[v].in->kind == INSTRUCTION_WAIT && partner(brute, v) >= 0)
            before[partner(brute, v)][v] = true;
    }
    for (int via = 0; via < brute->count; via++)
        for (int u = 0; u < brute->count; u++)
            for (int v = 0; before[u][via] && v < brute->count; v++)
                before[u][v] |= before[via][v];
}

static bool before_all[MAX_NODES][MAX_NODES], before_some[MAX_NODES][MAX_NODES];

/* Is each set that is left still after the wait of the set before it that is left, where it is in
 * the whole program? */
static bool sets_stay_single(const struct brute *brute, const bool *gone)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        if (in->kind != INSTRUCTION_SET || is_gone(brute, gone, v))
            continue;
        for (int n = brute_rank(brute, v) - 1; n >= 0; n--) {
            int wait = brute_nth(brute, INSTRUCTION_WAIT, in, n);
            if (is_gone(brute, gone, brute_nth(brute, INSTRUCTION_SET, in, n)))
                continue;
            if (wait >= 0 && before_all[wait][v] && !before_some[wait][v])
                return false;
            break;
        }
    }
    return true;
}

/* Do accesses and flags keep every order that they have? */
static bool keeps_order(const struct brute *brute, const bool *gone)
{
    order_without(brute, gone, before_some);
    for (int v = 0; v < brute->count; v++)
        for (int u = 0; u < v; u++)
            if (((before_all[u][v] && !before_some[u][v]) ||
                 (before_all[v][u] && !before_some[v][u])) &&
                may_conflict(brute, u, v))
                return false;
    return sets_stay_single(brute, gone);
}

/* Does everything come before itself that waits for itself, however indirectly? Then what its
 * order would be is not defined. */
static bool goes_in_circles(const struct brute *brute)
{
    for (int v = 0; v < brute->count; v++)
        if (before_all[v][v])
            return true;
    return false;
}

static bool is_sync(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

/* Adds everything that goes together with `item`. */
static void add_unit(const struct brute *brute, int32_t item, bool *gone)
{
    const struct instruction *items = brute->program->items;
    gone[item] = true;
    for (bool more = items[item].kind != INSTRUCTION_BARRIER; more;) {
        more = false;
        for (int v = 0; v < brute->count; v++) {
            if (brute->nodes[v].in->kind != INSTRUCTION_WAIT)
                continue;
            if (partner(brute, v) < 0)
                continue;
            bool *set = &gone[brute->nodes[partner(brute, v)].in - items];
            bool *wait = &gone[brute->nodes[v].in - items];
            more |= *set != *wait;
            *set = *wait = *set || *wait;
        }
    }
}

/* Can it be taken out at all? Flags that match nothing are a finding of their own, and a wait that
 * something of a blocking pipe overtook is not looked at. */
static bool is_unit(const struct brute *brute, const bool *unit)
{
    const struct hardware *hw = brute->program->hw;
    bool matched = false;
    for (int v = 0; v < brute->count; v++) {
        if (!is_gone(brute, unit, v) || brute->nodes[v].in->kind == INSTRUCTION_SET)
            continue;
        matched |= brute->nodes[v].in->kind == INSTRUCTION_BARRIER || partner(brute, v) >= 0;
        if (brute->nodes[v].in->kind == INSTRUCTION_BARRIER)
            continue;
        for (int u = v + 1; u < brute->count; u++)
            if (brute->nodes[u].in->pipe != PROGRAM_PIPE_ALL &&
                hw->pipes[brute->nodes[u].in->pipe].blocks_dispatch && before_all[u][v])
                return false;
    }
    return matched;
}

/* What was found can go together, and of the rest nothing can, whatever else is wrong with the
 * program. */
static void compare(const struct brute *brute, const struct oversync *found, const char *text)
{
    const struct program *program = brute->program;
    size_t items = (size_t)program->count + 1;
    bool *gone = calloc(items, sizeof *gone);
    for (int i = 0; i < found->item_count; i++)
        gone[found->items[i]] = true;
    cr_assert(keeps_order(brute, gone), "breaks an order in\n%s", text);
    for (int v = 0; v < brute->count; v++) {
        int32_t item = (int32_t)(brute->nodes[v].in - program->items);
        bool *unit = calloc(items, sizeof *unit);
        if (is_sync(&program->items[item]) && !gone[item])
            add_unit(brute, item, unit);
        bool tried = is_unit(brute, unit);
        for (size_t i = 0; i < items; i++)
            unit[i] |= gone[i];
        cr_assert(!tried || !keeps_order(brute, unit), "line %d can go too in\n%s",
                  program->items[item].line, text);
        free(unit);
    }
    free(gone);
}

/* ---- witnesses --------------------------------------------------------------------------------
 */

/* Every node of a unit that lets through what comes before it: a set, or a barrier. `out` is the
 * node behind which that is in order: its wait, or the same barrier. */
static int gate(const struct brute *brute, const bool *unit, int node, int *out)
{
    const struct instruction *in = brute->nodes[node].in;
    *out = node;
    if (!is_gone(brute, unit, node) || in->kind == INSTRUCTION_WAIT)
        return false;
    if (in->kind == INSTRUCTION_SET)
        *out = brute_nth(brute, INSTRUCTION_WAIT, in, brute_rank(brute, node));
    return *out >= 0;
}

/* Are they in order by way of the unit, in the whole program? */
static bool through(const struct brute *brute, const bool *unit, int u, int v)
{
    int out;
    for (int node = 0; node < brute->count; node++)
        if (gate(brute, unit, node, &out) && before_all[u][node] && before_all[out][v])
            return true;
    return false;
}

static bool is_work(const struct instruction *in)
{
    return !is_sync(in) && in->kind != INSTRUCTION_LOOP && in->kind != INSTRUCTION_END;
}

/* Lines that lead from one pipe to the other: a set and its wait, a barrier, an instruction that
 * holds up all later ones. */
static void expect_path(const struct program *program, const struct witness *witness,
                        const bool *gone, const char *text)
{
    const struct instruction *items = program->items;
    int pipe = items[witness->accesses[0].item].pipe, to = items[witness->accesses[1].item].pipe;
    cr_assert_gt(witness->step_count, 0, "%s", text);
    for (int i = 0; i < witness->step_count; i++) {
        const struct instruction *in = &items[witness->steps[i]];
        cr_assert(!gone[witness->steps[i]], "line %d is superfluous itself in\n%s", in->line, text);
        if (in->kind == INSTRUCTION_SET) {
            cr_assert(in->pipe == pipe && i + 1 < witness->step_count, "%s", text);
            const struct instruction *wait = &items[witness->steps[++i]];
            cr_assert(wait->kind == INSTRUCTION_WAIT && wait->from == in->from &&
                          wait->to == in->to && wait->flag == in->flag,
                      "lines %d and %d do not match in\n%s", in->line, wait->line, text);
            pipe = wait->pipe;
            continue;
        }
        bool barrier = in->kind == INSTRUCTION_BARRIER && in->pipe == PROGRAM_PIPE_ALL;
        cr_assert(barrier || (in->pipe == pipe && program->hw->pipes[pipe].blocks_dispatch),
                  "line %d leads nowhere in\n%s", in->line, text);
        const struct instruction *next =
            i + 1 < witness->step_count ? &items[witness->steps[i + 1]] : NULL;
        pipe = !next ? to : next->kind == INSTRUCTION_BARRIER ? pipe : next->pipe;
    }
    cr_assert_eq(pipe, to, "the path ends elsewhere in\n%s", text);
}

static int node_of(const struct brute *brute, const struct witness_access *access)
{
    for (int v = 0; v < brute->count; v++)
        if (brute->nodes[v].in == &brute->program->items[access->item] &&
            memcmp(brute->nodes[v].index, access->index,
                   (size_t)access->index_count * sizeof *access->index) == 0)
            return v;
    return -1;
}

/* Does the node touch every byte of the range? */
static bool touches(const struct brute *brute, int v, const struct witness *witness, bool *writes)
{
    const struct node *node = &brute->nodes[v];
    bool all = true;
    *writes = false;
    for (int64_t byte = witness->low; byte < witness->high && all; byte++) {
        all = false;
        for (int i = 0; i < node->in->region_count; i++) {
            const struct region *region = &brute->program->regions[node->in->first_region + i];
            bool has = region->buffer == witness->buffer && brute_touches(node, region, byte);
            all |= has;
            *writes |= has && instruction_writes(node->in, region->role);
        }
    }
    return all;
}

/* Both touch all the bytes that are named, one of them writing; where one leaves an operand out,
 * which may be anywhere, the whole buffer is named. */
static void expect_bytes(const struct brute *brute, int u, int v, const struct witness *witness,
                         const char *text)
{
    const struct instruction *a = brute->nodes[u].in, *b = brute->nodes[v].in;
    bool u_writes, v_writes;
    cr_assert(witness->buffer >= 0 && witness->low < witness->high, "no bytes in\n%s", text);
    if (witness->low == 0 &&
        witness->high == brute->program->hw->buffers[witness->buffer].capacity_bytes)
        cr_assert((anywhere(brute, a) | anywhere(brute, b)) >> witness->buffer & 1, "%s", text);
    else
        cr_assert(touches(brute, u, witness, &u_writes) && touches(brute, v, witness, &v_writes) &&
                      (u_writes || v_writes),
                  "lines %d and %d, but not [%lld, %lld), in\n%s", a->line, b->line,
                  (long long)witness->low, (long long)witness->high, text);
}

/* The pair is one that may conflict, in order without what is gone, on the bytes that are named. */
static void expect_pair(const struct brute *brute, const struct finding *finding, const bool *unit,
                        const char *text)
{
    const struct witness *witness = &finding->witness;
    int u = node_of(brute, &witness->accesses[0]);
    int v = node_of(brute, &witness->accesses[1]);
    cr_assert(u >= 0 && v >= 0, "no such access in\n%s", text);
    cr_assert(before_some[u][v] && may_conflict(brute, u, v) &&
                  (witness->reason != OVERSYNC_ORDERED || through(brute, unit, u, v)),
              "%s\nin\n%s", finding->text, text);
    expect_bytes(brute, u, v, witness, text);
}

static void expect_no_conflict(const struct brute *brute, const bool *unit, const char *text)
{
    for (int v = 0; v < brute->count; v++)
        for (int u = 0; u < brute->count; u++) {
            const struct instruction *a = brute->nodes[u].in, *b = brute->nodes[v].in;
            if (is_work(a) && is_work(b) && a->pipe != b->pipe && through(brute, unit, u, v))
                cr_assert(!may_conflict(brute, u, v), "lines %d and %d conflict in\n%s", a->line,
                          b->line, text);
        }
}

static void expect_witness(const struct brute *brute, const struct finding *finding,
                           const bool *gone, const char *text)
{
    const struct program *program = brute->program;
    bool *unit = calloc((size_t)program->count + 1, sizeof *unit);
    int32_t item = 0;
    while (program->items[item].line != finding->lines[0])
        item++;
    add_unit(brute, item, unit);
    if (finding->witness.reason == OVERSYNC_NO_CONFLICT)
        expect_no_conflict(brute, unit, text);
    if (finding->witness.access_count) {
        expect_path(program, &finding->witness, gone, text);
        expect_pair(brute, finding, unit, text);
    }
    free(unit);
}

/* Of a sound program; before_all is filled. Counts the reasons. */
static void expect_witnesses(const struct brute *brute, const struct oversync *found,
                             const char *text, int reasons[OVERSYNC_REASONS])
{
    struct check check;
    struct error error;
    bool *gone = calloc((size_t)brute->program->count + 1, sizeof *gone);
    cr_assert_eq(program_check(brute->program, &check, &error), STATUS_OK);
    for (int i = 0; i < found->item_count; i++)
        gone[found->items[i]] = true;
    order_without(brute, gone, before_some);
    for (size_t i = 0; i < check.count; i++)
        if (check.findings[i].kind == FINDING_OVER_SYNC) {
            reasons[check.findings[i].witness.reason]++;
            expect_witness(brute, &check.findings[i], gone, text);
        }
    free(gone);
    check_clear(&check);
}

/* What else was found, as bits of kinds. */
static uint32_t kinds_of(const struct brute *brute)
{
    uint32_t kinds = 0;
    for (int i = 0; i < brute->answer_count; i++)
        kinds |= 1u << brute->answers[i].kind;
    return kinds;
}

static struct random_program draw_options(gsl_rng *rng)
{
    return (struct random_program){
        .statements = 4 + (int)gsl_rng_uniform_int(rng, 14),
        .max_depth = (int)gsl_rng_uniform_int(rng, 3),
        .max_count = 4,
        .loop_percent = 10,
        .flag_percent = 30 + (int)gsl_rng_uniform_int(rng, 40),
        .scalar_percent = (int)gsl_rng_uniform_int(rng, 2) * 10,
        .barrier_percent = (int)gsl_rng_uniform_int(rng, 3) * 12,
        .beyond_percent = (int)gsl_rng_uniform_int(rng, 3) == 0 ? 20 : 0,
        .operands = true,
        .wild_flags = gsl_rng_uniform_int(rng, 3) == 0,
    };
}

struct tally {
    int safe, units;
    int of_kind[FINDING_KINDS]; /* units in programs that have such findings too */
    int reasons[OVERSYNC_REASONS];
};

static void check_one(struct brute *brute, const struct program *program, const char *text,
                      struct tally *tally)
{
    static const bool none[PROGRAM_MAX_LINES / 1000];
    struct oversync found;
    struct error error;
    if (!brute_check(brute, program))
        return;
    order_without(brute, none, before_all);
    if (goes_in_circles(brute))
        return;
    cr_assert_eq(oversync_find(program, NULL, &found, &error), STATUS_OK, "%s", error.text);
    cr_assert(found.complete);
    compare(brute, &found, text);
    expect_witnesses(brute, &found, text, tally->reasons);
    uint32_t kinds = kinds_of(brute);
    tally->safe += kinds == 0;
    tally->units += kinds == 0 ? found.unit_count : 0;
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        tally->of_kind[kind] += kinds >> kind & 1 ? found.unit_count : 0;
    oversync_clear(&found);
}

Test(oversync, agrees_with_brute_force)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct brute *brute = malloc(sizeof *brute);
    struct tally tally = {0};
    int cases = test_cases(3600);
    for (int i = 0; i < cases; i++) {
        struct program program;
        struct random_program options = draw_options(rng);
        expect_parse("", &program);
        char *text = random_program_text(program.hw, &options, rng);
        program_clear(&program);
        expect_parse(text, &program);
        check_one(brute, &program, text, &tally);
        program_clear(&program);
        free(text);
    }
    cr_expect_gt(tally.safe, cases / 18, "%d", tally.safe);
    cr_expect_gt(tally.units, cases / 9, "%d", tally.units);
    for (int kind = 0; kind < FINDING_MEMORY; kind++)
        cr_expect_gt(tally.of_kind[kind], cases / 30, "%s: %d",
                     finding_kind_name((enum finding_kind)kind), tally.of_kind[kind]);
    cr_expect_eq(tally.reasons[OVERSYNC_UNKNOWN], 0);
    for (int reason = OVERSYNC_ORDERED; reason < OVERSYNC_REASONS; reason++)
        cr_expect_gt(tally.reasons[reason], cases / 180, "reason %d: %d", reason,
                     tally.reasons[reason]);
    free(brute);
    gsl_rng_free(rng);
}

/* What is told to stop leaves the program as it was. Of a program of few events it is heard before
 * the first of them. */
Test(oversync, stops_when_it_is_told)
{
    static const int rounds[] = {3000, 3};
    const struct stop at_once = {.deadline_ns = 1};
    for (int r = 0; r < 2; r++) {
        char text[512];
        struct program program;
        struct oversync found;
        struct error error;
        snprintf(text, sizeof text,
                 "loop i %d\n" LOAD("8192*i") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                     FEED("8192*i") "barrier\nbarrier\nend\n",
                 rounds[r]);
        expect_parse(text, &program);
        int32_t count = program.count;
        cr_expect_eq(oversync_find(&program, &at_once, &found, &error), STATUS_STOPPED);
        cr_expect_eq(program_tidy(&program, &at_once, &error), STATUS_STOPPED);
        cr_expect_eq(program.count, count);
        cr_expect_eq(program_tidy(&program, NULL, &error), STATUS_OK);
        cr_expect_lt(program.count, count);
        program_clear(&program);
    }
}
