/* MatMul's space cann: every program is safe and multiplies the right tiles, moves what the words
 * of kernels/matmul/matmul_cann.h say, and the space holds each such kernel once. */
#include "analysis/check/check.h"
#include "core/least.h"
#include "core/program_text.h"
#include "core/work.h"
#include "costmodel/simulate.h"
#include "kernels/matmul/matmul_cann_internal.h"
#include "kernels/registry.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct hardware hw;
    struct space space;
    struct problem problem;
    struct tiling tiling;
    struct program program;
    struct simulator *simulator;
    gsl_rng *rng;
};

static void start_fixture(struct fixture *f, unsigned long seed)
{
    memset(f, 0, sizeof *f);
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(f->rng, seed);
    f->simulator = simulator_new();
}

static void open_fixture(struct fixture *f, unsigned long seed)
{
    start_fixture(f, seed);
    random_cann_hardware(f->rng, &f->hw);
}

/* The chip as it is. */
static void open_plain(struct fixture *f)
{
    start_fixture(f, 0);
    machine_load_named(&f->hw, SOURCE_DIR "/tests/support/split-chip.cfg", "");
}

static void close_fixture(struct fixture *f)
{
    program_clear(&f->program);
    simulator_free(f->simulator);
    hardware_clear(&f->hw);
    gsl_rng_free(f->rng);
}

static void open_space(struct fixture *f)
{
    random_cann_space(f->rng, &f->hw, 400, &f->problem, &f->space);
}

static const char *say_tiling(const struct fixture *f)
{
    return random_cann_text(&f->problem, &f->space, &f->tiling);
}

static void generate(struct fixture *f)
{
    struct error error;
    program_reset(&f->program, &f->hw);
    cr_assert_eq(f->space.kind->generate(&f->space, &f->tiling, 0, &f->program, &error), STATUS_OK,
                 "%s", error.text);
}

static int for_random_tilings(unsigned long first_seed, int count, void (*test)(struct fixture *f))
{
    int tested = 0;
    for (unsigned long seed = first_seed; seed < first_seed + 30; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        for (int i = 0; i < test_cases(count); i++) {
            open_space(&f);
            if (random_cann_tiling(f.rng, &f.space, &f.tiling)) {
                generate(&f);
                test(&f);
                tested++;
            }
            space_close(&f.space);
        }
        close_fixture(&f);
    }
    cr_assert_gt(tested, 20 * count / test_thinning(), "only %d tilings fit", tested);
    return tested;
}

/* ---- safety and time ------------------------------------------------------------------------ */

static void expect_safe(struct fixture *f)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(&f->program, &check, &error), STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < check.count; i++)
        cr_assert_eq(check.findings[i].kind, FINDING_OVER_SYNC, "%s: %s", check.findings[i].text,
                     say_tiling(f));
    check_clear(&check);
}

Test(matmul_cann, every_program_passes_check)
{
    for_random_tilings(100, 60, expect_safe);
}

static int64_t play(struct fixture *f, const struct program *program, bool fully)
{
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = f->space.kind->cores_used(&f->space, &f->tiling, 0),
                                       .execute_fully = fully};
    cr_assert_eq(simulate(f->simulator, program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(timeline.blocked, -1);
    return timeline.end_fs;
}

static void expect_same_time(struct fixture *f)
{
    struct program read;
    struct error error;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    program_print(&f->program, out, &error);
    fclose(out);
    cr_assert_eq(program_parse(&f->hw, "printed", text, length, &read, &error), STATUS_OK, "%s",
                 error.text);
    int64_t time = play(f, &f->program, false);
    cr_assert_eq(time, play(f, &read, false));
    cr_assert_eq(time, play(f, &f->program, true), "folding changes the time: %s", say_tiling(f));
    cr_assert_leq(f->space.kind->roofline_ns(&f->space), (double)time / 1e6 * (1 + 1e-12), "%s",
                  say_tiling(f));
    program_clear(&read);
    free(text);
}

Test(matmul_cann, printed_program_takes_the_same_time_folded_or_not)
{
    for_random_tilings(200, 40, expect_same_time);
}

/* ---- what the program computes ---------------------------------------------------------------
 *
 * The program is run in program order. What a load brings is not written in it: each block of 512
 * bytes of each load takes its meaning (a block of A or B, which has as many bytes in every type)
 * when it is first multiplied, and must keep it: no other use of that block of that load, and no
 * other block of that load, may mean something else or the same. */

enum { CELL = 512, CELLS = 2048 };

struct cell {
    int64_t load; /* number from 1, 0: nothing */
    int64_t at;   /* block within the load */
};

struct symbolic {
    int8_t operand;
    int32_t batch, across, k; /* in blocks of the matrix unit */
};

struct run {
    struct fixture *f;
    const struct cann *cann;
    const struct cann_machine *m;
    struct cell l1[CELLS], l0a[CELLS], l0b[CELLS];
    struct symbolic *meaning; /* of each block of each load, at first_block[load] + at */
    int64_t *first_block, *blocks;
    int64_t loads, capacity;
    int64_t load_bytes, last_end; /* a load may be two moves, one behind the other */
    bool load_open;
    bool one_waits;                  /* a load into a single buffer came last */
    int copy[HARDWARE_MAX_PIPES][3]; /* of each kind of full flag of the pipe that fills */
    int64_t batch, m0, n0, k0;       /* of the next product, in elements */
    int64_t sizes[CANN_DIRECTIONS];
    int64_t products, stored_bytes, stored_bursts;
    struct {
        int64_t batch, m0, n0, k;
    } in_l0c[2];
    int64_t row_bytes, row_end; /* of bias and scales, since the last store; where they end in L1 */
    int64_t bytes[CANN_OPERANDS]; /* of A and of B loaded, by their meaning */
};

static int64_t address(const struct program *program, const struct instruction *in,
                       enum operand_role role, const int64_t indices[])
{
    for (int r = 0; r < in->region_count; r++) {
        const struct region *region = &program->regions[in->first_region + r];
        if (region->role != role)
            continue;
        int64_t offset = region->offset_bytes;
        for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
            offset += region->loop_stride_bytes[d] * indices[d];
        return offset;
    }
    cr_assert_fail("operand missing");
    return 0;
}

static void run_load(struct run *r, int64_t offset, int64_t bytes, bool follows)
{
    if (!follows) {
        r->loads++;
        if (r->loads == r->capacity) {
            r->capacity *= 2;
            r->first_block = realloc(r->first_block, (size_t)r->capacity * sizeof(int64_t));
        }
        r->first_block[r->loads] = r->blocks[0];
    }
    int64_t start = r->blocks[0] - r->first_block[r->loads];
    for (int64_t c = 0; c < bytes / CELL; c++)
        r->l1[offset / CELL + c] = (struct cell){r->loads, start + c};
    r->blocks[0] += bytes / CELL;
    r->meaning = realloc(r->meaning, (size_t)r->blocks[0] * sizeof *r->meaning);
    memset(r->meaning + r->blocks[0] - bytes / CELL, 0,
           (size_t)(bytes / CELL) * sizeof *r->meaning);
}

static void expect_meaning(struct run *r, const struct cell *cell, struct symbolic wanted)
{
    cr_assert_gt(cell->load, 0, "multiplies what was never loaded: %s", say_tiling(r->f));
    struct symbolic *meaning = &r->meaning[r->first_block[cell->load] + cell->at];
    if (meaning->operand == 0) {
        int64_t last = cell->load == r->loads ? r->blocks[0] : r->first_block[cell->load + 1];
        for (int64_t b = r->first_block[cell->load]; b < last; b++)
            cr_assert(memcmp(&r->meaning[b], &wanted, sizeof wanted) != 0,
                      "a block of a load twice: %s", say_tiling(r->f));
        *meaning = wanted;
    }
    cr_assert(memcmp(meaning, &wanted, sizeof wanted) == 0, "wrong block: %s", say_tiling(r->f));
}

static void set_meaning(struct symbolic *meaning, int operand, int64_t batch, int64_t across,
                        int64_t k)
{
    memset(meaning, 0, sizeof *meaning);
    meaning->operand = (int8_t)operand;
    meaning->batch = (int32_t)batch;
    meaning->across = (int32_t)across;
    meaning->k = (int32_t)k;
}

/* The next of the nested loops' products, k fastest; their order is the nest's. */
static void next_product(struct run *r)
{
    const int64_t *v = r->f->tiling.value;
    r->products++;
    r->k0 += v[CANN_BASE_K];
    if (r->k0 < r->sizes[CANN_K])
        return;
    r->k0 = 0;
    bool n_l1 = v[CANN_OUTER] == OUTER_N, n_l0 = v[CANN_OUTER] != OUTER_M;
    int64_t *at[2] = {&r->m0, &r->n0}, size[2] = {r->sizes[CANN_M], r->sizes[CANN_N]};
    int64_t base[2] = {v[CANN_BASE_M], v[CANN_BASE_N]};
    int64_t step[2] = {base[0] * v[CANN_STEP_M], base[1] * v[CANN_STEP_N]};
    int64_t part[2] = {r->m0 / step[0] * step[0], r->n0 / step[1] * step[1]};
    const int inner_first[2][2] = {{1, 0}, {0, 1}};
    for (int i = 0; i < 2; i++) {
        int d = inner_first[n_l0][i];
        *at[d] += base[d];
        if (*at[d] < least_of(part[d] + step[d], size[d]))
            return;
        *at[d] = part[d];
    }
    for (int i = 0; i < 2; i++) {
        int d = inner_first[n_l1][i];
        *at[d] = part[d] + step[d];
        if (*at[d] < size[d])
            return;
        *at[d] = 0;
    }
    r->batch++;
}

static void run_product(struct run *r, const struct instruction *in, const int64_t indices[])
{
    const struct program *program = &r->f->program;
    const int64_t *v = r->f->tiling.value;
    int64_t m = least_of(v[CANN_BASE_M], r->sizes[CANN_M] - r->m0);
    int64_t n = least_of(v[CANN_BASE_N], r->sizes[CANN_N] - r->n0);
    int64_t k = least_of(v[CANN_BASE_K], r->sizes[CANN_K] - r->k0);
    cr_assert(in->m == m && in->k == k && in->n == n, "%d %d %d: %s", in->m, in->k, in->n,
              say_tiling(r->f));
    const struct cell *a = &r->l0a[address(program, in, OPERAND_A, indices) / CELL];
    const struct cell *b = &r->l0b[address(program, in, OPERAND_B, indices) / CELL];
    struct symbolic wanted;
    int64_t block_k = 32 / dtype_bytes(r->f->problem.type);
    for (int64_t i = 0; i < m / 16; i++)
        for (int64_t l = 0; l < k / block_k; l++, a++) {
            set_meaning(&wanted, 1, r->batch, r->m0 / 16 + i, r->k0 / block_k + l);
            expect_meaning(r, a, wanted);
        }
    struct cann_plan plan;
    cann_plan_make(r->cann, &r->f->tiling, &plan);
    for (int64_t l = 0; l < k / block_k; l++)
        for (int64_t j = 0; j < n / 16; j++, b++) {
            set_meaning(&wanted, 2, plan.one_b ? 0 : r->batch, r->n0 / 16 + j, r->k0 / block_k + l);
            expect_meaning(r, b, wanted);
        }
    int64_t c = address(program, in, OPERAND_DST, indices);
    int copy = c ? 1 : 0;
    cr_assert(c == 0 || c == least_of(v[CANN_BASE_M], r->sizes[CANN_M]) *
                                 least_of(v[CANN_BASE_N], r->sizes[CANN_N]) * 4);
    cr_assert_eq(in->accumulate, r->k0 > 0);
    if (!in->accumulate) {
        cr_assert_eq(r->in_l0c[copy].k, 0, "a tile of C was not stored: %s", say_tiling(r->f));
        r->in_l0c[copy].batch = r->batch;
        r->in_l0c[copy].m0 = r->m0;
        r->in_l0c[copy].n0 = r->n0;
    }
    cr_assert(r->in_l0c[copy].batch == r->batch && r->in_l0c[copy].m0 == r->m0 &&
              r->in_l0c[copy].n0 == r->n0 && r->in_l0c[copy].k == r->k0);
    r->in_l0c[copy].k += k;
    next_product(r);
}

/* A tile of C has rows of its own, of its columns and no others, one behind the other in L1: a bias
 * in the type of the sums or of C, and of whole numbers that leave as reals scales of 8 bytes. */
static void expect_rows(struct run *r, int64_t n)
{
    bool whole = r->f->problem.type == DTYPE_I8, scaled = whole && r->m->out != DTYPE_I32;
    int bias = whole || r->m->out == DTYPE_BF16 ? 4 : dtype_bytes(r->m->out);
    int64_t bytes = (r->f->problem.choice[MATMUL_BIAS] ? bias : 0) + (scaled ? 8 : 0);
    cr_assert_eq(r->row_bytes, n * bytes, "rows of %lld bytes, expected %lld: %s",
                 (long long)r->row_bytes, (long long)(n * bytes), say_tiling(r->f));
    r->row_bytes = 0;
}

static void run_rows(struct run *r, const struct instruction *in, int64_t to, int64_t first)
{
    cr_assert_eq(to, r->row_bytes ? r->row_end : first, "rows lie elsewhere: %s", say_tiling(r->f));
    r->row_bytes += in->bytes;
    r->row_end = to + in->bytes;
}

static void run_store(struct run *r, const struct instruction *in, const int64_t indices[])
{
    const int64_t *v = r->f->tiling.value;
    int copy = address(&r->f->program, in, OPERAND_SRC, indices) ? 1 : 0;
    cr_assert_eq(r->in_l0c[copy].k, r->sizes[CANN_K]);
    int64_t m = least_of(v[CANN_BASE_M], r->sizes[CANN_M] - r->in_l0c[copy].m0);
    int64_t n = least_of(v[CANN_BASE_N], r->sizes[CANN_N] - r->in_l0c[copy].n0);
    cr_assert_eq(in->bytes, m * n * 4);
    expect_rows(r, n);
    r->in_l0c[copy].k = 0;
    r->stored_bytes += in->bytes;
}

static void run_move(struct run *r, const struct instruction *in, const int64_t indices[])
{
    const struct program *program = &r->f->program;
    const struct cann_machine *m = r->m;
    if (in->what == m->store) {
        run_store(r, in, indices);
        return;
    }
    if (in->what == m->feed_bias || in->pipe == m->adder.in || in->pipe == m->adder.out)
        return;
    int64_t to = address(program, in, OPERAND_DST, indices);
    if (in->what == m->load || in->what == m->miss) {
        struct cann_plan plan;
        cann_plan_make(r->cann, &r->f->tiling, &plan);
        if (plan.scope[LIVE_BIAS_L1].used && to >= plan.scope[LIVE_BIAS_L1].offset_bytes) {
            run_rows(r, in, to, plan.scope[LIVE_BIAS_L1].offset_bytes);
            return;
        }
        cr_assert_eq(to % CELL, 0);
        cr_assert_eq(in->bytes % CELL, 0);
        /* the part behind the cache comes right behind the other */
        bool follows = in->what == m->miss && r->load_open && r->last_end == to;
        run_load(r, to, in->bytes, follows);
        r->load_open = in->what == m->load;
        r->last_end = to + in->bytes;
        return;
    }
    int64_t from = address(program, in, OPERAND_SRC, indices);
    struct cell *l0 = in->what == m->feed_a ? r->l0a : r->l0b;
    memcpy(&l0[to / CELL], &r->l1[from / CELL], (size_t)(in->bytes / CELL) * sizeof *l0);
}

/* Buffers of two copies take turns, from the first to the last scope. */
static void run_set(struct run *r, const struct instruction *in)
{
    const struct cann_machine *m = r->m;
    const int64_t *v = r->f->tiling.value;
    bool l1 = in->from == m->mte2, l0 = in->from == m->mte1 && in->to == m->matrix;
    int kind = in->flag / 2;
    r->load_open = false;
    if (kind == 2 || (!l1 && !l0 && in->to != m->fixp))
        return;
    int64_t copies =
        v[in->to == m->fixp ? CANN_L0C_BUFFERS : (l1 ? CANN_L1A_BUFFERS : CANN_L0A_BUFFERS) + kind];
    int *copy = &r->copy[in->from][kind];
    cr_assert_eq(in->flag % 2, *copy, "the other copy's turn: %s", say_tiling(r->f));
    *copy = (*copy + 1) % (int)copies;
    struct cann_plan plan;
    cann_plan_make(r->cann, &r->f->tiling, &plan);
    if (l1 && plan.scope[LIVE_A_L1].level == plan.scope[LIVE_B_L1].level) {
        cr_assert(!(r->one_waits && copies == 2), "a load behind one that waits: %s",
                  say_tiling(r->f));
        r->one_waits = copies == 1;
    }
}

static void run_body(struct run *r, int32_t first, int32_t last, int depth, int64_t indices[])
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &r->f->program.items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (indices[depth] = 0; indices[depth] < in->count; indices[depth]++)
                run_body(r, i + 1, in->partner, depth + 1, indices);
            indices[depth] = 0;
            i = in->partner;
        } else if (in->kind == INSTRUCTION_MATRIX) {
            run_product(r, in, indices);
        } else if (in->kind == INSTRUCTION_MOVE) {
            run_move(r, in, indices);
        }
        if (in->kind == INSTRUCTION_SET)
            run_set(r, in);
        if (in->pipe == r->m->mte1 && in->kind == INSTRUCTION_WAIT)
            r->one_waits = false;
    }
}

/* ---- how often operands are loaded ----------------------------------------------------------
 *
 * By identity: an operand is loaded when what its part in L1 holds changes from one product to the
 * next. That is less than what the nest loads only where a rest runs a loop once that runs
 * several times elsewhere. */

struct part {
    int64_t batch, across, k;
};

static struct part part_of(const struct run *r, bool of_a)
{
    const int64_t *v = r->f->tiling.value;
    int64_t across = of_a ? v[CANN_STEP_M] * v[CANN_BASE_M] : v[CANN_STEP_N] * v[CANN_BASE_N];
    int64_t ka = v[CANN_STEP_KA] * v[CANN_BASE_K], kb = v[CANN_STEP_KB] * v[CANN_BASE_K];
    int64_t wide = ka > kb ? ka : kb, own = of_a ? ka : kb;
    int64_t batch_a = v[CANN_STEP_BATCH_A], batch_b = v[CANN_STEP_BATCH_B];
    int64_t batch_wide = batch_a > batch_b ? batch_a : batch_b;
    int64_t batch_own = of_a ? batch_a : batch_b;
    struct cann_plan plan;
    cann_plan_make(r->cann, &r->f->tiling, &plan);
    int64_t batch = r->batch / batch_wide * batch_wide;
    batch += r->batch % batch_wide / batch_own * batch_own;
    return (struct part){!of_a && plan.one_b ? 0 : batch, (of_a ? r->m0 : r->n0) / across,
                         r->k0 / wide * wide + r->k0 % wide / own * own};
}

static int64_t part_bytes(const struct run *r, bool of_a, struct part part)
{
    const int64_t *v = r->f->tiling.value;
    int64_t base = v[of_a ? CANN_BASE_M : CANN_BASE_N] * v[of_a ? CANN_STEP_M : CANN_STEP_N];
    int64_t size = r->sizes[of_a ? CANN_M : CANN_N], blocks = r->sizes[CANN_BATCH];
    int64_t ka = v[CANN_STEP_KA] * v[CANN_BASE_K], kb = v[CANN_STEP_KB] * v[CANN_BASE_K];
    int64_t wide = ka > kb ? ka : kb, own = of_a ? ka : kb;
    int64_t k_end = least_of(part.k / wide * wide + wide, r->sizes[CANN_K]);
    int64_t batch_own = v[of_a ? CANN_STEP_BATCH_A : CANN_STEP_BATCH_B];
    int64_t other = v[of_a ? CANN_STEP_BATCH_B : CANN_STEP_BATCH_A];
    int64_t batch_wide = other > batch_own ? other : batch_own;
    int64_t batch_end = least_of(part.batch / batch_wide * batch_wide + batch_wide, blocks);
    struct cann_plan plan;
    cann_plan_make(r->cann, &r->f->tiling, &plan);
    int64_t batch = !of_a && plan.one_b ? 1 : least_of(batch_own, batch_end - part.batch);
    return batch * least_of(base, size - part.across * base) * least_of(own, k_end - part.k) *
           dtype_bytes(r->f->problem.type);
}

static bool same_part(struct part a, struct part b)
{
    return a.batch == b.batch && a.across == b.across && a.k == b.k;
}

static void count_loads(struct run *r, int64_t bytes[2], int64_t loads[2])
{
    const struct part none = {-1, -1, -1};
    struct part last[2] = {none, none};
    struct cann_plan plan;
    cann_plan_make(r->cann, &r->f->tiling, &plan);
    bytes[0] = bytes[1] = loads[0] = loads[1] = 0;
    for (r->batch = r->m0 = r->n0 = r->k0 = 0; r->batch < r->sizes[CANN_BATCH];) {
        for (int o = 0; o < 2; o++) {
            struct part part = part_of(r, o == 0);
            if (!same_part(part, last[o])) {
                bytes[o] += part_bytes(r, o == 0, part);
                loads[o]++;
            }
            last[o] = part;
        }
        next_product(r);
    }
    if (plan.slab)
        bytes[1] = (plan.one_b ? 1 : r->sizes[CANN_BATCH]) * r->sizes[CANN_N] * r->sizes[CANN_K] *
                   dtype_bytes(r->f->problem.type);
}

/* A rest of blocks, m or n in which a loop runs once that otherwise runs more often. */
static bool has_rests(const struct run *r)
{
    const int64_t *v = r->f->tiling.value;
    return r->sizes[CANN_M] % (v[CANN_STEP_M] * v[CANN_BASE_M]) ||
           r->sizes[CANN_N] % (v[CANN_STEP_N] * v[CANN_BASE_N]) ||
           r->sizes[CANN_BATCH] % v[CANN_STEP_BATCH_A] ||
           r->sizes[CANN_BATCH] % v[CANN_STEP_BATCH_B];
}

static void expect_loads(struct run *r)
{
    int64_t wanted[2], bytes[2] = {0}, wanted_loads[2], loads[2] = {0};
    for (int64_t b = 0; b < r->blocks[0]; b++) {
        cr_assert_gt(r->meaning[b].operand, 0, "loaded in vain: %s", say_tiling(r->f));
        bytes[r->meaning[b].operand - 1] += CELL;
    }
    for (int64_t l = 1; l <= r->loads; l++)
        loads[r->meaning[r->first_block[l]].operand - 1]++;
    count_loads(r, wanted, wanted_loads);
    for (int o = 0; o < 2; o++) {
        cr_assert_geq(bytes[o], wanted[o], "%s", say_tiling(r->f));
        if (!has_rests(r))
            cr_assert_eq(bytes[o], wanted[o], "operand %d: %lld bytes, expected %lld: %s", o,
                         (long long)bytes[o], (long long)wanted[o], say_tiling(r->f));
        if (!has_rests(r) && (o == 0 || r->f->tiling.value[CANN_L0B_HOLDS] == HOLDS_TILE))
            cr_assert_eq(loads[o], wanted_loads[o], "operand %d: %lld loads, expected %lld: %s", o,
                         (long long)loads[o], (long long)wanted_loads[o], say_tiling(r->f));
    }
}

/* From the problem: the blocks of the busiest core and the size of one. */
static void core_sizes(const struct fixture *f, int64_t sizes[CANN_DIRECTIONS])
{
    const int64_t *v = f->tiling.value, *s = f->problem.size;
    int64_t m = (s[MATMUL_M] + 15) / 16 * 16, n = (s[MATMUL_N] + 15) / 16 * 16;
    int64_t grid = (m + v[CANN_SINGLE_M] - 1) / v[CANN_SINGLE_M] *
                   ((n + v[CANN_SINGLE_N] - 1) / v[CANN_SINGLE_N]) * s[MATMUL_BATCH];
    int64_t block_k = 32 / dtype_bytes(f->problem.type);
    int64_t k = (s[MATMUL_K] + block_k - 1) / block_k;
    int64_t part = (k + v[CANN_SPLIT_K] - 1) / v[CANN_SPLIT_K];
    grid *= (k + part - 1) / part;
    sizes[CANN_BATCH] = (grid + v[CANN_CORES] - 1) / v[CANN_CORES];
    sizes[CANN_M] = least_of(v[CANN_SINGLE_M], m);
    sizes[CANN_N] = least_of(v[CANN_SINGLE_N], n);
    sizes[CANN_K] = part * block_k;
}

static void expect_product(struct fixture *f)
{
    static struct run r;
    int64_t indices[PROGRAM_MAX_DEPTH] = {0}, blocks = 0;
    memset(&r, 0, sizeof r);
    r.f = f;
    r.cann = cann_of(&f->space);
    r.m = &r.cann->machine;
    r.blocks = &blocks;
    r.capacity = 64;
    r.first_block = malloc(64 * sizeof(int64_t));
    core_sizes(f, r.sizes);
    run_body(&r, 0, f->program.count, 0, indices);
    cr_assert(r.batch == r.sizes[CANN_BATCH] && r.m0 == 0 && r.n0 == 0 && r.k0 == 0,
              "not all products: %s", say_tiling(f));
    cr_assert(r.in_l0c[0].k == 0 && r.in_l0c[1].k == 0);
    cr_assert_eq(r.stored_bytes, r.sizes[CANN_BATCH] * r.sizes[CANN_M] * r.sizes[CANN_N] * 4);
    expect_loads(&r);
    r.blocks = NULL;
    free(r.first_block);
    free(r.meaning);
}

Test(matmul_cann, every_program_multiplies_and_loads_the_right_tiles)
{
    for_random_tilings(300, 40, expect_product);
}

/* ---- contiguous pieces ---------------------------------------------------------------------- */

static void open_problem(struct fixture *f, const char *shape, const char *choices, int cores)
{
    struct error error;
    char copy[200], *state = NULL;
    cr_assert_eq(problem_parse(&matmul_operator, shape, &f->problem, &error), STATUS_OK);
    snprintf(copy, sizeof copy, "%s", choices);
    for (char *name = strtok_r(copy, " =", &state); name; name = strtok_r(NULL, " =", &state)) {
        const char *value = strtok_r(NULL, " =", &state);
        if (strcmp(name, "dtype") == 0)
            problem_set_type(&f->problem, (enum dtype)dtype_find(value, (int)strlen(value)));
        else
            cr_assert_eq(problem_set(&f->problem, name, value, &error), STATUS_OK, "%s",
                         error.text);
    }
    cr_assert_eq(space_open(&f->problem, &matmul_cann, &f->hw, cores, &f->space, &error), STATUS_OK,
                 "%s", error.text);
}

/* Bytes an element of n that the rows of bias and scales of a tile of C take in L1. */
Test(matmul_cann, rows_beside_a_tile_of_c)
{
    static const struct {
        enum dtype type;
        const char *choices;
        int64_t bytes;
    } rows[] = {
        {DTYPE_F16, "", 0},
        {DTYPE_F16, "bias=yes", 2},
        {DTYPE_F16, "bias=yes out-type=f32", 4},
        {DTYPE_F16, "bias=yes out-type=bf16", 4},
        {DTYPE_F32, "bias=yes", 4},
        {DTYPE_I8, "", 0},
        {DTYPE_I8, "bias=yes", 4},
        {DTYPE_I8, "out-type=f16", 8},
        {DTYPE_I8, "bias=yes out-type=f16", 12},
        {DTYPE_I8, "bias=yes out-type=bf16", 12},
    };
    struct fixture f;
    open_plain(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cann_plan plan;
        char choices[200];
        snprintf(choices, sizeof choices, "dtype=%s %s", dtype_name(rows[i].type), rows[i].choices);
        open_problem(&f, "128x64x96", choices, 1);
        struct tiling tiling = {.value = {128, 96, 1, 1, OUTER_M, 64, 48, 32, HOLDS_TILE, 1,
                                          1,   1,  1, 1, 1,       1,  1,  1,  1,          1}};
        cann_plan_make(cann_of(&f.space), &tiling, &plan);
        cr_expect_eq(plan.scope[LIVE_BIAS_L1].bytes, 48 * rows[i].bytes, "row %zu", i);
        space_close(&f.space);
    }
    close_fixture(&f);
}

Test(matmul_cann, pieces_follow_the_layout)
{
    /* of 1024x512x256, batch 4: a tile of m, n, k and blocks; pieces of A, B and C */
    static const struct {
        const char *choices;
        int64_t batch, m, n, k, a, b, c;
    } rows[] = {
        {"", 1, 128, 64, 32, 128, 32, 128},
        {"", 1, 128, 64, 512, 1, 512, 128},
        {"", 1, 128, 256, 32, 128, 1, 1},
        {"", 2, 1024, 256, 512, 1, 1, 1},
        {"", 2, 128, 64, 512, 2, 1024, 128},
        {"transpose=both", 1, 128, 64, 32, 32, 64, 128},
        {"transpose=both", 1, 1024, 64, 512, 1, 1, 1024},
        {"transpose=a", 1, 128, 64, 32, 32, 32, 128},
        {"transpose=b", 1, 128, 64, 32, 128, 64, 128},
        {"a-layout=nz b-layout=nz c-layout=nz", 1, 128, 64, 32, 2, 4, 4},
        {"a-layout=nz b-layout=nz c-layout=nz", 1, 1024, 64, 512, 1, 1, 1},
        {"a-layout=nz b-layout=nz transpose=both", 1, 128, 64, 32, 8, 2, 128},
        {"share-b=yes", 2, 128, 64, 512, 2, 512, 128},
    };
    struct fixture f;
    open_plain(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char choices[200];
        snprintf(choices, sizeof choices, "batch=4 %s", rows[i].choices);
        open_problem(&f, "1024x512x256", choices, 4);
        const int64_t extent[CANN_DIRECTIONS] = {
            [CANN_BATCH] = rows[i].batch,
            [CANN_M] = rows[i].m,
            [CANN_N] = rows[i].n,
            [CANN_K] = rows[i].k,
        };
        const int64_t wanted[] = {rows[i].a, rows[i].b, rows[i].c};
        for (int o = 0; o <= CANN_C; o++)
            cr_assert_eq(cann_pieces(cann_of(&f.space), (enum cann_operand)o, extent), wanted[o],
                         "row %zu, operand %d: %lld", i, o,
                         (long long)cann_pieces(cann_of(&f.space), (enum cann_operand)o, extent));
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* Rows are as long in memory as the problem says; only those that begin at multiples of 64 bytes,
 * or of C shorter ones, are one piece where the tile has them whole. C is of four bytes with f32.
 * Rows one block wide begin anywhere. */
Test(matmul_cann, rows_that_are_not_padded)
{
    static const struct {
        const char *shape, *choices;
        int64_t a, b, c, aligned_a, aligned_b, aligned_c;
    } rows[] = {
        {"1024x512x256", "", 1, 1, 1, 512, 512, 512},
        {"64x64x64", "out-type=f32", 1, 1, 1, 128, 128, 256},
        {"64x64x96", "", 1, 1, 1, 128, 64, 64},
        {"64x64x96", "out-type=f32", 1, 1, 1, 128, 64, 128},
        {"64x60x1000", "", 64, 64, 64, 8, 16, 16},
        {"50x61x63", "", 64, 64, 64, 2, 2, 2},
        {"64x64x24", "", 1, 64, 1, 128, 16, 16},
        {"48x80x64", "transpose=both", 80, 64, 1, 32, 32, 128},
        {"50x61x63", "a-layout=nz b-layout=nz c-layout=nz", 1, 1, 1, 512, 512, 512},
        {"64x16x64", "", 64, 1, 1, 16, 128, 128},
        {"16x64x32", "transpose=a", 64, 1, 1, 16, 64, 64},
        {"64x64x16", "", 1, 64, 1, 128, 16, 16},
        {"16x16x16", "a-layout=nz b-layout=nz c-layout=nz", 1, 1, 1, 512, 512, 512},
    };
    struct fixture f;
    open_plain(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_problem(&f, rows[i].shape, rows[i].choices, 1);
        const struct cann *cann = cann_of(&f.space);
        const int64_t pieces[] = {rows[i].a, rows[i].b, rows[i].c};
        const int64_t aligned[] = {rows[i].aligned_a, rows[i].aligned_b, rows[i].aligned_c};
        for (int o = 0; o <= CANN_C; o++) {
            enum cann_operand operand = (enum cann_operand)o;
            cr_expect_eq(cann_pieces(cann, operand, cann->size), pieces[o], "%zu, %d: %lld", i, o,
                         (long long)cann_pieces(cann, operand, cann->size));
            cr_expect_eq(cann_alignment(cann, operand), aligned[o], "%zu, %d: %lld", i, o,
                         (long long)cann_alignment(cann, operand));
        }
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* Pieces of what is loaded begin where the tiles cut the rows: at blocks of cores and at parts in
 * L1, but not at tiles of L0; where rows are whole, at what a row begins at. */
Test(matmul_cann, pieces_begin_where_tiles_cut_rows)
{
    static const struct {
        const char *choices;
        int64_t single_n, base_n, base_k, step_k, step_n, a, b;
    } rows[] = {
        {"", 256, 256, 512, 1, 1, 512, 512},
        {"", 256, 256, 64, 1, 1, 128, 512},
        {"", 256, 256, 64, 2, 1, 256, 512},
        {"", 256, 256, 48, 1, 1, 32, 512},
        {"", 64, 64, 64, 1, 1, 128, 128},
        {"", 160, 160, 64, 1, 1, 128, 64},
        {"", 160, 80, 64, 1, 1, 128, 32},
        {"", 160, 16, 512, 1, 2, 512, 64},
        {"", 160, 16, 512, 1, 10, 512, 64},
        {"transpose=b", 48, 48, 64, 1, 1, 128, 128},
        {"b-layout=nz", 80, 80, 64, 1, 1, 128, 512},
    };
    struct fixture f;
    open_plain(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tiling tiling = {{0}};
        struct cann_plan plan;
        for (int a = 0; a < CANN_AXES; a++)
            tiling.value[a] = 1;
        tiling.value[CANN_SINGLE_M] = tiling.value[CANN_BASE_M] = 64;
        tiling.value[CANN_SINGLE_N] = rows[i].single_n;
        tiling.value[CANN_BASE_N] = rows[i].base_n;
        tiling.value[CANN_BASE_K] = rows[i].base_k;
        tiling.value[CANN_L0B_HOLDS] = HOLDS_TILE;
        tiling.value[CANN_STEP_KA] = tiling.value[CANN_STEP_KB] = rows[i].step_k;
        tiling.value[CANN_STEP_N] = rows[i].step_n;
        open_problem(&f, "1024x512x256", rows[i].choices, 4);
        cann_plan_make(cann_of(&f.space), &tiling, &plan);
        int64_t a = cann_load_alignment(cann_of(&f.space), &plan, CANN_A);
        int64_t b = cann_load_alignment(cann_of(&f.space), &plan, CANN_B);
        cr_expect(a == rows[i].a && b == rows[i].b, "row %zu: %lld, %lld", i, (long long)a,
                  (long long)b);
        space_close(&f.space);
    }
    close_fixture(&f);
}

/* When the second product begins, and when the first tile of C has left. */
struct overlap {
    const struct program *program;
    int matrix, fixp;
    int64_t products[2], stored;
};

static void watch(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                  int64_t end_fs)
{
    struct overlap *overlap = (struct overlap *)context;
    int kind = overlap->program->items[instruction].kind;
    (void)core;
    if (kind == INSTRUCTION_MATRIX && pipe == overlap->matrix) {
        int64_t first = overlap->products[0];
        overlap->products[0] = least_of(first, start_fs);
        overlap->products[1] = least_of(overlap->products[1], start_fs > first ? start_fs : first);
    }
    if (kind == INSTRUCTION_MOVE && pipe == overlap->fixp)
        overlap->stored = least_of(overlap->stored, end_fs);
}

/* Two tiles of C in one buffer of L0C: with the unit flag, and only with it, the second one's first
 * product does not wait until the first has left. */
Test(matmul_cann, a_unit_flag_lets_products_follow_the_store)
{
    for (int unit_flag = 0; unit_flag < 2; unit_flag++) {
        struct fixture f;
        struct error error;
        struct timeline timeline;
        open_plain(&f);
        f.hw.buffers[hardware_buffer(&f.hw, "l0c", 3)].unit_flag = unit_flag;
        f.hw.buffers[hardware_buffer(&f.hw, "l0a", 3)].capacity_bytes = 65536;
        f.hw.buffers[hardware_buffer(&f.hw, "l0c", 3)].capacity_bytes = 65536;
        open_problem(&f, "256x64x128", "", 1);
        cr_assert_eq(tiling_parse(&f.space,
                                  "single_m=256,single_n=128,cores=1,outer=m,base_m=128,base_n=128,"
                                  "base_k=64,l0b_holds=tile,step_ka=1,step_kb=1,step_m=1,step_n=1,"
                                  "step_batch_a=1,step_batch_b=1,l1a_buffers=2,l1b_buffers=1,"
                                  "l0a_buffers=2,l0b_buffers=1,l0c_buffers=1",
                                  &f.tiling, &error),
                     STATUS_OK, "%s", error.text);
        generate(&f);
        expect_safe(&f);
        struct overlap overlap = {&f.program,
                                  cann_of(&f.space)->machine.matrix,
                                  cann_of(&f.space)->machine.fixp,
                                  {INT64_MAX, INT64_MAX},
                                  INT64_MAX};
        struct trace trace = {&overlap, watch};
        struct simulate_options options = {.cores = 1, .trace = &trace};
        cr_assert_eq(simulate(f.simulator, &f.program, &options, &timeline, &error), STATUS_OK);
        cr_assert(overlap.products[1] < INT64_MAX && overlap.stored < INT64_MAX);
        cr_expect_eq(overlap.products[1] < overlap.stored, unit_flag, "%lld %lld",
                     (long long)overlap.products[1], (long long)overlap.stored);
        space_close(&f.space);
        close_fixture(&f);
    }
}

Test(matmul_cann, loads_that_miss_come_from_behind_the_cache)
{
    for (int64_t share = 0; share <= 100; share += 10)
        for (int64_t bytes = 512; bytes <= 65536; bytes += 512) {
            struct cann_load load = cann_load_split((double)share / 100, bytes, bytes / 512);
            cr_assert_eq(load.hit_bytes + load.miss_bytes, bytes);
            cr_assert_leq(llabs(load.miss_bytes - bytes * share / 100), 512);
            cr_assert_eq(load.miss_bytes % 512, 0);
            cr_assert(load.hit_pieces + load.miss_pieces - bytes / 512 <= 1);
            cr_assert(load.hit_pieces + load.miss_pieces >= bytes / 512);
            cr_assert_eq(load.hit_pieces > 0, load.hit_bytes > 0);
            cr_assert_eq(load.miss_pieces > 0, load.miss_bytes > 0);
        }
}

/* What all cores load from behind the cache is what stands in memory, once, however often it is
 * loaded: with whole blocks and as many of them for each core as for the one with most, which
 * stands for all; less where small loads are rounded. */
static int64_t first_touches;

static void expect_first_touches(struct fixture *f)
{
    const struct cann *cann = cann_of(&f->space);
    const int64_t *size = cann->size;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct cann_plan plan;
    struct error error;
    if (cann->machine.miss < 0)
        return;
    cr_assert_eq(work_totals(&f->program, totals, &error), STATUS_OK);
    cann_plan_make(cann, &f->tiling, &plan);
    const struct work_total *miss = &totals[cann->machine.miss_price];
    const struct work_total *hit = &totals[cann->machine.load_price];
    int64_t grid_m = divide_up(size[CANN_M], plan.extent[CANN_M]);
    int64_t grid_n = divide_up(size[CANN_N], plan.extent[CANN_N]);
    double b = (double)(plan.extent[CANN_K] * grid_n * plan.extent[CANN_N]) *
               (cann->share_b ? 1 : (double)size[0]);
    double a = (double)(plan.extent[CANN_K] * grid_m * plan.extent[CANN_M] * size[0]);
    double part = (double)plan.extent[CANN_BATCH] / (double)(size[0] * grid_m * grid_n);
    double most = cann->miss_share * dtype_bytes(f->problem.type) * (a + b) * part,
           missed = (double)miss->units;
    cr_assert_leq(missed, most * (1 + 1e-12), "%.0f of %.0f: %s", missed, most, say_tiling(f));
    int64_t m = size[CANN_M] % plan.extent[CANN_M], n = size[CANN_N] % plan.extent[CANN_N];
    int64_t blocks = plan.cores * plan.extent[CANN_BATCH];
    if (m || n || cann->share_b ||
        blocks * plan.extent[CANN_M] * plan.extent[CANN_N] !=
            plan.parts * size[0] * size[CANN_M] * size[CANN_N])
        return;
    int64_t loads = hit->instructions + miss->instructions;
    cr_assert_geq(missed, most - 512.0 * (double)loads, "%.0f of %.0f: %s", missed, most,
                  say_tiling(f));
    first_touches += miss->units > 0;
}

Test(matmul_cann, what_is_touched_first_misses_once)
{
    for_random_tilings(400, 60, expect_first_touches);
    cr_assert_gt(first_touches, test_cases(10));
}

/* ---- the space ------------------------------------------------------------------------------ */

static int64_t tiles(int64_t size, int64_t slice)
{
    return (size + slice - 1) / slice;
}

/* Is it the smallest size that gives its number of tiles? In multiples of block. */
static bool least_slice(int64_t size, int64_t slice, int64_t block)
{
    return slice % block == 0 && slice <= size &&
           (slice == block || tiles(size, slice - block) > tiles(size, slice));
}

/* How often each buffer is filled, by the program's own flags. */
static void count_fills(const struct fixture *f, int32_t first, int32_t last, int64_t times,
                        int64_t fills[5])
{
    const struct cann_machine *m = &cann_of(&f->space)->machine;
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &f->program.items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            count_fills(f, i + 1, in->partner, times * in->count, fills);
            i = in->partner;
        }
        if (in->kind != INSTRUCTION_SET || in->flag >= 4)
            continue;
        if (in->from == m->mte2)
            fills[in->flag / 2] += times;
        else if (in->from == m->mte1 && in->to == m->matrix)
            fills[2 + in->flag / 2] += times;
        else if (in->from == m->matrix && in->to == m->fixp)
            fills[4] += times;
    }
}

/* By the rules of the vendor's documentation, one by one. */
static enum dtype out_type(const struct fixture *f)
{
    return problem_choice_type(&f->problem, MATMUL_OUT_TYPE);
}

static bool fits_by_hand(const struct fixture *f)
{
    const int64_t *v = f->tiling.value;
    int64_t core[CANN_DIRECTIONS];
    core_sizes(f, core);
    const struct hardware *hw = &f->hw;
    int64_t l1 = hw->buffers[hardware_buffer(hw, "l1", 2)].capacity_bytes;
    int64_t l0a = hw->buffers[hardware_buffer(hw, "l0a", 3)].capacity_bytes;
    int64_t l0b = hw->buffers[hardware_buffer(hw, "l0b", 3)].capacity_bytes;
    int64_t l0c = hw->buffers[hardware_buffer(hw, "l0c", 3)].capacity_bytes;
    int64_t m = least_of(v[CANN_BASE_M], core[CANN_M]), n = least_of(v[CANN_BASE_N], core[CANN_N]);
    int64_t k = least_of(v[CANN_BASE_K], core[CANN_K]);
    int64_t ka = least_of(k * v[CANN_STEP_KA], core[CANN_K]);
    int64_t kb = least_of(k * v[CANN_STEP_KB], core[CANN_K]);
    int64_t a1 = least_of(m * v[CANN_STEP_M], core[CANN_M]),
            b1 = least_of(n * v[CANN_STEP_N], core[CANN_N]);
    int64_t type = dtype_bytes(f->problem.type);
    if (f->space.kind == &matmul_tcube && v[CANN_SPLIT_K] > 1) { /* room for whole tiles */
        a1 = tiles(a1, m) * 128;
        b1 = tiles(b1, n) * 128;
        ka = tiles(ka, k) * 256 / type;
        kb = tiles(kb, k) * 256 / type;
        m = n = 128;
        k = 256 / type;
    }
    int64_t a = a1 * ka * type * least_of(v[CANN_STEP_BATCH_A], core[CANN_BATCH]);
    int64_t b_blocks = least_of(v[CANN_STEP_BATCH_B], core[CANN_BATCH]);
    bool columns = f->problem.size[MATMUL_BATCH] * tiles(f->problem.size[MATMUL_M], core[CANN_M]) >=
                   core[CANN_BATCH];
    if (f->problem.choice[MATMUL_SHARE_B] && columns)
        b_blocks = 1;
    int64_t b = b1 * kb * type * b_blocks;
    bool whole = f->problem.type == DTYPE_I8, half = out_type(f) == DTYPE_F16;
    int64_t bias = f->problem.choice[MATMUL_BIAS] ? n * (half && !whole ? 2 : 4) : 0;
    int64_t scales = whole && dtype_bytes(out_type(f)) == 2 ? n * 8 : 0;
    int64_t in_l0b = v[CANN_L0B_HOLDS] == HOLDS_SLAB ? core[CANN_N] * core[CANN_K] : n * k;
    int64_t ca = tiles(core[CANN_K], ka), cb = tiles(core[CANN_K], kb);
    bool table = hardware_buffer(hw, "bt", 2) >= 0;
    return v[CANN_CORES] <= cann_of(&f->space)->cores &&
           m * k * type * v[CANN_L0A_BUFFERS] <= l0a &&
           in_l0b * type * v[CANN_L0B_BUFFERS] <= l0b && m * n * 4 * v[CANN_L0C_BUFFERS] <= l0c &&
           a * v[CANN_L1A_BUFFERS] + b * v[CANN_L1B_BUFFERS] + bias + scales <= l1 &&
           (!table || bias <= 1024) && (ca % cb == 0 || cb % ca == 0) &&
           (ca == 1 || v[CANN_STEP_M] == 1) && (cb == 1 || v[CANN_STEP_N] == 1) &&
           (v[CANN_STEP_BATCH_A] == 1 || (ca == 1 && a1 >= core[CANN_M])) &&
           (v[CANN_STEP_BATCH_B] == 1 || (cb == 1 && b1 >= core[CANN_N]));
}

/* By docs/matmul.md: up to eight units any, beyond that equal slices and powers of two. */
static bool is_size(int64_t size, int64_t value, int64_t block)
{
    int64_t units = value / block;
    bool power = false;
    for (int64_t p = 1; p <= units; p *= 2)
        power = power || p == units;
    return value > 0 && value % block == 0 && value <= size &&
           (units <= 8 || power || least_slice(size, value, block));
}

/* Every part of k has something, and a core of its own; all of them take no more than A and B. */
static bool splits_by_hand(const struct fixture *f, int64_t blocks)
{
    const int64_t *v = f->tiling.value;
    const struct cann *cann = cann_of(&f->space);
    int type = dtype_bytes(f->problem.type);
    int64_t all = tiles(f->problem.size[MATMUL_K], 32 / type), parts = v[CANN_SPLIT_K];
    double batch = (double)cann->size[CANN_BATCH], a = batch * (double)cann->size[CANN_M];
    double b = (cann->share_b ? 1 : batch) * (double)cann->size[CANN_N];
    double workspace =
        4.0 * (double)parts * batch * (double)cann->size[CANN_M] * (double)cann->size[CANN_N];
    bool adds = f->problem.type != DTYPE_I8 || cann->machine.out == DTYPE_I32; /* not by scales */
    return adds && parts <= cann->cores && tiles(all, tiles(all, parts)) == parts &&
           v[CANN_CORES] == blocks && workspace <= type * (double)cann->size[CANN_K] * (a + b);
}

/* As MatMulV3 splits k: docs/matmul.md, of space tcube. */
static bool library_splits_by_hand(const struct fixture *f, const int64_t core[CANN_DIRECTIONS])
{
    const int64_t *v = f->tiling.value;
    return f->problem.type != DTYPE_I8 && f->problem.size[MATMUL_BATCH] == 1 &&
           f->problem.choice[MATMUL_C_LAYOUT] == 0 && v[CANN_CORES] == v[CANN_SPLIT_K] &&
           v[CANN_BASE_M] == least_of(128, core[CANN_M]) &&
           v[CANN_BASE_N] == least_of(128, core[CANN_N]) &&
           v[CANN_BASE_K] == least_of(256 / dtype_bytes(f->problem.type), core[CANN_K]);
}

/* No other values mean the same, or these are the agreed ones. */
static bool agreed_by_hand(struct fixture *f)
{
    const int64_t *v = f->tiling.value, *s = f->problem.size;
    const struct cann *cann = cann_of(&f->space);
    int64_t core[CANN_DIRECTIONS];
    core_sizes(f, core);
    int64_t blocks = tiles(s[MATMUL_M], v[CANN_SINGLE_M]) * tiles(s[MATMUL_N], v[CANN_SINGLE_N]) *
                     s[MATMUL_BATCH] * v[CANN_SPLIT_K];
    int64_t m = tiles(core[CANN_M], v[CANN_BASE_M]), n = tiles(core[CANN_N], v[CANN_BASE_N]);
    int64_t k = tiles(core[CANN_K], v[CANN_BASE_K]);
    int64_t together = s[MATMUL_BATCH] > 1 ? core[CANN_BATCH] : 1;
    bool columns = s[MATMUL_BATCH] * tiles(s[MATMUL_M], core[CANN_M]) >= core[CANN_BATCH];
    bool one_b = f->problem.choice[MATMUL_SHARE_B] && columns;
    if (v[CANN_SPLIT_K] > 1 && !splits_by_hand(f, blocks))
        return false;
    if (v[CANN_SPLIT_K] > 1 && cann->tcube && !library_splits_by_hand(f, core))
        return false;
    if (!is_size(cann->size[CANN_M], v[CANN_SINGLE_M], 16) ||
        !is_size(cann->size[CANN_N], v[CANN_SINGLE_N], 16) || v[CANN_CORES] > blocks ||
        !is_size(core[CANN_M], v[CANN_BASE_M], 16) || !is_size(core[CANN_N], v[CANN_BASE_N], 16) ||
        !is_size(core[CANN_K], v[CANN_BASE_K], 32 / dtype_bytes(f->problem.type)) ||
        !is_size(m, v[CANN_STEP_M], 1) || !is_size(n, v[CANN_STEP_N], 1) ||
        !is_size(k, v[CANN_STEP_KA], 1) || !is_size(k, v[CANN_STEP_KB], 1) ||
        !is_size(together, v[CANN_STEP_BATCH_A], 1) ||
        !is_size(one_b ? 1 : together, v[CANN_STEP_BATCH_B], 1))
        return false;
    if (cann->tcube && (v[CANN_OUTER] == OUTER_M_N || v[CANN_L0B_HOLDS] == HOLDS_SLAB ||
                        v[CANN_STEP_BATCH_A] > 1 || v[CANN_STEP_BATCH_B] > 1))
        return false;
    if (v[CANN_OUTER] == OUTER_M_N && (tiles(m, v[CANN_STEP_M]) == 1 || v[CANN_STEP_M] == 1 ||
                                       tiles(n, v[CANN_STEP_N]) == 1 || v[CANN_STEP_N] == 1))
        return false;
    if (((m == 1 || n == 1) && v[CANN_OUTER] == OUTER_N) ||
        (n * k == 1 && v[CANN_L0B_HOLDS] == HOLDS_SLAB))
        return false;
    int64_t fills[5] = {0};
    generate(f);
    count_fills(f, 0, f->program.count, 1, fills);
    for (int i = 0; i < 5; i++)
        if (v[CANN_L1A_BUFFERS + i] == 2 && fills[i] < 2)
            return false;
    return true;
}

static void expect_legality(struct fixture *f, int64_t *legal)
{
    struct violation list[MAX_VIOLATIONS];
    bool by_hand = fits_by_hand(f) && agreed_by_hand(f),
         is_legal = cann_legal(&f->space, &f->tiling);
    cr_assert_eq(is_legal, by_hand, "%d: %s", is_legal, say_tiling(f));
    *legal += is_legal;
    if (is_legal)
        cr_assert_geq(space_index(&f->space, &f->tiling), 0, "no point: %s", say_tiling(f));
    /* the tiling that stands for this one is legal where this one is said to be */
    bool clean = cann_violations(&f->space, &f->tiling, list) == 0;
    cann_agree(&f->space, &f->tiling);
    cr_assert(!clean || cann_legal(&f->space, &f->tiling), "%s", say_tiling(f));
    cr_assert(clean || !is_legal);
}

Test(matmul_cann, legality_is_the_documented_rules)
{
    int64_t legal = 0;
    for (unsigned long seed = 0; seed < 15; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        for (int s = 0; s < 20; s++) {
            open_space(&f);
            for (int i = 0; i < test_cases(3000); i++) {
                if (i % 2)
                    random_cann_values(f.rng, &f.space, &f.tiling);
                else
                    space_tiling(&f.space,
                                 (int64_t)(gsl_rng_uniform(f.rng) * (double)f.space.candidates),
                                 &f.tiling);
                expect_legality(&f, &legal);
            }
            space_close(&f.space);
        }
        close_fixture(&f);
    }
    cr_assert_gt(legal, test_cases(1000), "%lld", (long long)legal);
}

/* Shapes that libraries meet have spaces whose points can be numbered. */
Test(matmul_cann, large_shapes_have_spaces)
{
    static const char *const shapes[] = {"8192x8192x8192", "4096x4096x4096",   "12288x768x3072",
                                         "614400x32x64",   "16x4096x4096",     "1x1x1",
                                         "128x1024x30720", "65536x1024x65536", "64x1000000x64"};
    struct fixture f;
    open_plain(&f);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        open_problem(&f, shapes[i], "", 24);
        cr_assert_gt(f.space.candidates, 0);
        space_close(&f.space);
    }
    open_problem(&f, "384x384x64", "batch=1536", 24);
    space_close(&f.space);
    close_fixture(&f);
}

/* A kernel that a library's heuristic chose (8192x8192x8192 on 24 cores) is legal: its single_n
 * means a point's. One of another size could run, and is no point. */
Test(matmul_cann, recorded_tilings)
{
    struct violation list[MAX_VIOLATIONS];
    struct error error;
    struct fixture f;
    open_plain(&f);
    open_problem(&f, "8192x8192x8192", "", 24);
    cr_assert_eq(tiling_parse(&f.space,
                              "single_m=1024,single_n=2731,cores=24,outer=m,base_m=128,base_n=256,"
                              "base_k=64,l0b_holds=tile,step_ka=8,step_kb=2,step_m=1,step_n=1,"
                              "step_batch_a=1,step_batch_b=1,l1a_buffers=2,l1b_buffers=2,"
                              "l0a_buffers=2,l0b_buffers=2,l0c_buffers=1",
                              &f.tiling, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(cann_violations(&f.space, &f.tiling, list), 0, "%s", list[0].text);
    cr_assert_not(cann_legal(&f.space, &f.tiling));
    f.tiling.value[CANN_SINGLE_N] = 2700;
    cr_assert_eq(cann_violations(&f.space, &f.tiling, list), 1);
    cr_assert(list[0].outside);
    cr_assert_str_eq(list[0].text, "single_n=2704 is no size of this space; next 2048 2736");
    generate(&f);
    cr_assert_eq(f.space.kind->cores_used(&f.space, &f.tiling, 0), 24);
    space_close(&f.space);
    close_fixture(&f);
}

Test(matmul_cann, other_chips_and_spaces_say_what_they_lack)
{
    struct hardware hw;
    struct space space;
    struct error error;
    struct problem problem;
    machine_load(&hw, "");
    cr_assert_eq(problem_parse(&matmul_operator, "64x64x64", &problem, &error), STATUS_OK);
    cr_assert_eq(space_open(&problem, &matmul_cann, &hw, 1, &space, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, "l0c->gm"), "%s", error.text);
    cr_assert_eq(operator_default_space(&matmul_operator, &hw), &matmul_thesis);
    for (int c = 0; c < MATMUL_CHOICES; c++) {
        if (c == MATMUL_OUT_TYPE) /* no matter of layouts */
            continue;
        problem.choice[c] = 1;
        cr_assert_eq(space_open(&problem, &matmul_thesis, &hw, 1, &space, &error), STATUS_INVALID);
        cr_assert(strstr(error.text, "use --space cann"), "%s", error.text);
        cr_assert(strstr(error.text, matmul_operator.choices[c].name), "%s", error.text);
        problem.choice[c] = 0;
    }
    hardware_clear(&hw);
    machine_load_named(&hw, SOURCE_DIR "/tests/support/split-chip-2.cfg", "");
    cr_assert_eq(operator_default_space(&matmul_operator, &hw), &matmul_cann);
    cr_assert_eq(operator_default_space(operator_find("knn"), &hw),
                 operator_find("knn")->spaces[0]);
    hardware_clear(&hw);
}
