/* The hazard check against a brute force on small programs: all events in memory, all orderings by
 * Warshall's closure, all pairs of accesses compared. */
#include "analysis/check.h"
#include "core/program_text.h"
#include "hardware/load.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 160, MAX_ANSWERS = 8192 };

struct node {
    const struct instruction *in;
    int64_t index[PROGRAM_MAX_DEPTH];
    bool runs;
};

struct answer {
    enum finding_kind kind;
    int32_t lines[FINDING_MAX_LINES]; /* ascending, then zeros */
    int line_count;
};

struct brute {
    const struct program *program;
    int count;
    struct node nodes[MAX_NODES];
    bool before[MAX_NODES][MAX_NODES];
    int answer_count;
    struct answer answers[MAX_ANSWERS];
};

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

TestSuite(check_brute, .init = enter, .fini = leave);

static bool is_all(const struct instruction *in)
{
    return in->kind == INSTRUCTION_BARRIER && in->pipe == PROGRAM_PIPE_ALL;
}

static bool is_flag(const struct instruction *in, enum instruction_kind kind,
                    const struct instruction *like)
{
    return in->kind == kind && in->from == like->from && in->to == like->to &&
           in->flag == like->flag;
}

/* Appends items[first, last) unrolled; false when there are too many. */
static bool unroll(struct brute *brute, int32_t first, int32_t last, int64_t *index, int depth)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &brute->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (index[depth] = 0; index[depth] < in->count; index[depth]++)
                if (!unroll(brute, i + 1, in->partner, index, depth + 1))
                    return false;
            index[depth] = 0;
            i = in->partner;
            continue;
        }
        if (brute->count == MAX_NODES)
            return false;
        struct node *node = &brute->nodes[brute->count++];
        node->in = in;
        node->runs = false;
        memcpy(node->index, index, sizeof node->index);
    }
    return true;
}

/* The n-th (from 0) set or wait of a register, or -1. */
static int nth(const struct brute *brute, enum instruction_kind kind,
               const struct instruction *like, int n)
{
    for (int i = 0; i < brute->count; i++)
        if (is_flag(brute->nodes[i].in, kind, like) && n-- == 0)
            return i;
    return -1;
}

/* How many of the same kind and register stand before this one. */
static int rank(const struct brute *brute, int node)
{
    int n = 0;
    const struct instruction *in = brute->nodes[node].in;
    for (int i = 0; i < node; i++)
        n += is_flag(brute->nodes[i].in, (enum instruction_kind)in->kind, in);
    return n;
}

static bool must_precede(const struct brute *brute, int u, int v)
{
    const struct instruction *a = brute->nodes[u].in, *b = brute->nodes[v].in;
    if (is_all(a) || is_all(b))
        return true;
    if (a->kind == INSTRUCTION_BARRIER || b->kind == INSTRUCTION_BARRIER)
        return false;
    return a->pipe == b->pipe || brute->program->hw->pipes[a->pipe].blocks_dispatch;
}

static void make_edges(struct brute *brute)
{
    memset(brute->before, 0, sizeof brute->before);
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        for (int u = 0; u < v; u++)
            brute->before[u][v] = must_precede(brute, u, v);
        int set =
            in->kind == INSTRUCTION_WAIT ? nth(brute, INSTRUCTION_SET, in, rank(brute, v)) : -1;
        if (set >= 0)
            brute->before[set][v] = true;
    }
}

static bool can_run(const struct brute *brute, int v)
{
    const struct instruction *in = brute->nodes[v].in;
    for (int u = 0; u < brute->count; u++)
        if (brute->before[u][v] && !brute->nodes[u].runs)
            return false;
    return in->kind != INSTRUCTION_WAIT || nth(brute, INSTRUCTION_SET, in, rank(brute, v)) >= 0;
}

static void run_all(struct brute *brute)
{
    for (bool more = true; more;) {
        more = false;
        for (int v = 0; v < brute->count; v++)
            if (!brute->nodes[v].runs && can_run(brute, v))
                more = brute->nodes[v].runs = true;
    }
}

static void close_order(struct brute *brute)
{
    for (int via = 0; via < brute->count; via++)
        for (int u = 0; u < brute->count; u++)
            for (int v = 0; brute->before[u][via] && v < brute->count; v++)
                brute->before[u][v] |= brute->before[via][v];
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static struct answer make_answer(enum finding_kind kind, int32_t *lines, int count)
{
    struct answer answer = {.kind = kind};
    qsort(lines, (size_t)count, sizeof *lines, ascending);
    for (int i = 0; i < count; i++)
        if (i == 0 || lines[i] != lines[i - 1])
            answer.lines[answer.line_count++] = lines[i];
    return answer;
}

static bool same(const struct answer *a, enum finding_kind kind, const int32_t *lines, int count)
{
    return a->kind == kind && a->line_count == count &&
           memcmp(a->lines, lines, (size_t)count * sizeof *lines) == 0;
}

static void answer(struct brute *brute, enum finding_kind kind, int32_t *lines, int count)
{
    struct answer new = make_answer(kind, lines, count);
    for (int i = 0; i < brute->answer_count; i++)
        if (same(&brute->answers[i], kind, new.lines, new.line_count))
            return;
    cr_assert_lt(brute->answer_count, MAX_ANSWERS);
    brute->answers[brute->answer_count++] = new;
}

static int64_t start_of(const struct node *node, const struct region *region, int64_t row)
{
    int64_t start = region->offset_bytes + row * region->row_stride_bytes;
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++)
        start += node->index[depth] * region->loop_stride_bytes[depth];
    return start;
}

static bool overlaps(const struct node *a, const struct region *x, const struct node *b,
                     const struct region *y)
{
    int64_t x_bytes = x->bytes / x->rows, y_bytes = y->bytes / y->rows;
    for (int64_t i = 0; i < x->rows && x->buffer == y->buffer; i++)
        for (int64_t j = 0; j < y->rows; j++) {
            int64_t p = start_of(a, x, i), q = start_of(b, y, j);
            if (x_bytes && y_bytes && p < q + y_bytes && q < p + x_bytes)
                return true;
        }
    return false;
}

static bool conflicts(const struct brute *brute, const struct node *a, const struct node *b)
{
    const struct region *regions = brute->program->regions;
    for (int i = 0; i < a->in->region_count; i++)
        for (int j = 0; j < b->in->region_count; j++) {
            const struct region *x = &regions[a->in->first_region + i];
            const struct region *y = &regions[b->in->first_region + j];
            bool write = x->role == OPERAND_DST || y->role == OPERAND_DST;
            if (write && overlaps(a, x, b, y))
                return true;
        }
    return false;
}

static void find_hazards(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++)
        for (int u = 0; u < v; u++) {
            const struct node *a = &brute->nodes[u], *b = &brute->nodes[v];
            if (!a->runs || !b->runs || brute->before[u][v] || brute->before[v][u])
                continue;
            if (conflicts(brute, a, b))
                answer(brute, FINDING_HAZARD, (int32_t[]){a->in->line, b->in->line}, 2);
        }
}

static void find_double_sets(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        if (in->kind != INSTRUCTION_SET || !brute->nodes[v].runs || rank(brute, v) == 0)
            continue;
        int earlier = nth(brute, INSTRUCTION_SET, in, rank(brute, v) - 1);
        int wait = nth(brute, INSTRUCTION_WAIT, in, rank(brute, v) - 1);
        if (wait >= 0 && !brute->nodes[wait].runs)
            wait = -1;
        if (wait >= 0 && brute->before[wait][v])
            continue;
        int32_t lines[3] = {in->line, brute->nodes[earlier].in->line};
        if (wait >= 0)
            lines[2] = brute->nodes[wait].in->line;
        answer(brute, FINDING_DOUBLE_SET, lines, wait >= 0 ? 3 : 2);
    }
}

/* A wait is blocked itself when everything before it but its set has run. */
static void find_deadlocks(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        if (in->kind != INSTRUCTION_WAIT || brute->nodes[v].runs)
            continue;
        bool blocked = true;
        for (int u = 0; u < v; u++)
            blocked &= !must_precede(brute, u, v) || brute->nodes[u].runs;
        if (blocked)
            answer(brute, FINDING_DEADLOCK, (int32_t[]){in->line}, 1);
    }
}

static void find_capacity(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct node *node = &brute->nodes[v];
        for (int i = 0; i < node->in->region_count; i++) {
            const struct region *region = &brute->program->regions[node->in->first_region + i];
            int64_t capacity = hardware.buffers[region->buffer].capacity_bytes;
            for (int64_t row = 0; region->bytes && row < region->rows; row++) {
                int64_t start = start_of(node, region, row);
                if (start < 0 || (capacity && start + region->bytes / region->rows > capacity))
                    answer(brute, FINDING_CAPACITY, (int32_t[]){node->in->line}, 1);
            }
        }
    }
}

/* Lines of the sets and waits of v's register that have no partner. */
static void find_unmatched(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        bool set = in->kind == INSTRUCTION_SET;
        if (!set && in->kind != INSTRUCTION_WAIT)
            continue;
        enum instruction_kind kind = (enum instruction_kind)in->kind;
        enum instruction_kind other = set ? INSTRUCTION_WAIT : INSTRUCTION_SET;
        int32_t lines[MAX_NODES], count = 0;
        for (int n = 0, u; (u = nth(brute, kind, in, n)) >= 0; n++) {
            bool known = nth(brute, other, in, n) >= 0;
            for (int i = 0; i < count; i++)
                known |= lines[i] == brute->nodes[u].in->line;
            if (!known)
                lines[count++] = brute->nodes[u].in->line;
        }
        if (count > 0 && count <= FINDING_MAX_LINES)
            answer(brute, FINDING_UNMATCHED_FLAG, lines, count);
    }
}

static int count_kind(const struct brute *brute, enum finding_kind kind)
{
    int count = 0;
    for (int i = 0; i < brute->answer_count; i++)
        count += brute->answers[i].kind == kind;
    return count;
}

/* Every finding is true; of hazards at least one is found where there is one, and of every other
 * kind all (unmatched flags with more lines than fit apart). */
static void compare(const struct brute *brute, const struct check *check, const char *text)
{
    int found[FINDING_KINDS] = {0};
    for (size_t i = 0; i < check->count; i++) {
        const struct finding *finding = &check->findings[i];
        bool known =
            finding->kind == FINDING_UNMATCHED_FLAG && finding->line_count == FINDING_MAX_LINES;
        for (int j = 0; j < brute->answer_count; j++)
            known |= same(&brute->answers[j], finding->kind, finding->lines, finding->line_count);
        cr_assert(known, "%s, but not so by brute force, in\n%s", finding->text, text);
        found[finding->kind]++;
    }
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        int expected = count_kind(brute, (enum finding_kind)kind);
        const char *name = finding_kind_name((enum finding_kind)kind);
        if (kind == FINDING_HAZARD)
            cr_assert_eq(found[kind] > 0, expected > 0, "%s: %d of %d in\n%s", name, found[kind],
                         expected, text);
        else if (kind == FINDING_UNMATCHED_FLAG)
            cr_assert_geq(found[kind], expected, "%s in\n%s", name, text);
        else
            cr_assert_eq(found[kind], expected, "%s: %d of %d in\n%s", name, found[kind], expected,
                         text);
    }
}

/* Checks one text both ways; false when it is too large for the brute force. */
static bool check_text(struct brute *brute, const char *text)
{
    struct program program;
    struct check check;
    struct error error;
    int64_t index[PROGRAM_MAX_DEPTH] = {0};
    cr_assert_eq(program_parse(&hardware, "random", text, strlen(text), &program, &error),
                 STATUS_OK, "%s in\n%s", error.text, text);
    brute->program = &program;
    brute->count = brute->answer_count = 0;
    bool small = unroll(brute, 0, program.count, index, 0);
    if (small) {
        make_edges(brute);
        run_all(brute);
        close_order(brute);
        find_hazards(brute);
        find_double_sets(brute);
        find_deadlocks(brute);
        find_unmatched(brute);
        find_capacity(brute);
        cr_assert_eq(program_check(&program, &check, &error), STATUS_OK, "%s", error.text);
        compare(brute, &check, text);
        check_clear(&check);
    }
    program_clear(&program);
    return small;
}

static struct random_program draw_options(gsl_rng *rng, bool wild)
{
    return (struct random_program){
        .statements = 4 + (int)gsl_rng_uniform_int(rng, 36),
        .max_depth = (int)gsl_rng_uniform_int(rng, 3),
        .max_count = 4,
        .loop_percent = 10,
        .flag_percent = 20 + (int)gsl_rng_uniform_int(rng, 40),
        .scalar_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
        .barrier_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
        .beyond_percent = (int)gsl_rng_uniform_int(rng, 3) == 0 ? 20 : 0,
        .operands = true,
        .zero_work = true,
        .wild_flags = wild,
    };
}

/* Compares `programs` random ones and requires that each kind of finding occurred, and that many
 * programs were large enough to mean something. */
static void compare_many(unsigned long seed, int programs, bool wild)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct brute *brute = malloc(sizeof *brute);
    int seen[FINDING_KINDS] = {0}, clean = 0, compared = 0;
    gsl_rng_set(rng, seed);
    for (int i = 0; i < programs; i++) {
        struct random_program options = draw_options(rng, wild);
        char *text = random_program_text(&hardware, &options, rng);
        cr_assert_not_null(text);
        if (check_text(brute, text)) {
            compared++;
            clean += count_kind(brute, FINDING_HAZARD) == 0;
            for (int kind = 0; kind < FINDING_KINDS; kind++)
                seen[kind] += count_kind(brute, (enum finding_kind)kind) > 0;
        }
        free(text);
    }
    cr_assert_gt(compared, programs * 3 / 4);
    cr_assert_gt(clean, compared / 50, "%d of %d without a hazard", clean, compared);
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        bool possible = wild || (kind != FINDING_DEADLOCK && kind != FINDING_UNMATCHED_FLAG);
        cr_assert_eq(seen[kind] > compared / 50, possible, "%s in %d of %d programs",
                     finding_kind_name((enum finding_kind)kind), seen[kind], compared);
    }
    free(brute);
    gsl_rng_free(rng);
}

Test(check_brute, tame_flags)
{
    compare_many(1, 4000, false);
}

Test(check_brute, wild_flags)
{
    compare_many(2, 4000, true);
}
