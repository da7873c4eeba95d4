/* Holds a TCubeTiling against the rules of the vendor's documentation. A function for each kind of
 * rule, called with the fields that it is about; breaches name their rule, so that tests and users
 * can refer to it. Products of fields saturate instead of wrapping. */
#include "kernels/tcube.h"

#include "core/element.h"
#include "kernels/emit.h"
#include "kernels/limits.h"
#include "kernels/slices.h"

#include <stdarg.h>
#include <stdio.h>

const enum bank_field tcube_fields[TCUBE_FIELDS] = {
    [TCUBE_USED_CORES] = BANK_USED_CORES, [TCUBE_SINGLE_M] = BANK_SINGLE_M,
    [TCUBE_SINGLE_N] = BANK_SINGLE_N,     [TCUBE_SINGLE_K] = BANK_SINGLE_K,
    [TCUBE_BASE_M] = BANK_BASE_M,         [TCUBE_BASE_N] = BANK_BASE_N,
    [TCUBE_BASE_K] = BANK_BASE_K,         [TCUBE_DEPTH_A1] = BANK_DEPTH_A1,
    [TCUBE_DEPTH_B1] = BANK_DEPTH_B1,     [TCUBE_STEP_M] = BANK_STEP_M,
    [TCUBE_STEP_N] = BANK_STEP_N,         [TCUBE_STEP_KA] = BANK_STEP_KA,
    [TCUBE_STEP_KB] = BANK_STEP_KB,       [TCUBE_DB_L0A] = BANK_DB_L0A,
    [TCUBE_DB_L0B] = BANK_DB_L0B,         [TCUBE_DB_L0C] = BANK_DB_L0C,
};

static const char *name_of(enum tcube_field number)
{
    return bank_field_names[tcube_fields[number]];
}

enum {
    BLOCK = 16,             /* of rows and columns, for every type */
    BIAS_BYTES = 4,         /* an element of the bias */
    BIAS_TABLE_BYTES = 1024 /* of the bias table beside L0C */
};

struct judge {
    const struct hardware *hw;
    const struct tcube *tiling;
    int l0a, l0b, l0c, l1;
    struct tcube_breach *breaches;
    int count;
};

static void __attribute__((format(printf, 4, 5)))
breach(struct judge *j, const char *rule, bool warning, const char *format, ...)
{
    if (j->count == TCUBE_MAX_BREACHES)
        return;
    struct tcube_breach *found = &j->breaches[j->count++];
    va_list arguments;
    *found = (struct tcube_breach){.rule = rule, .warning = warning};
    va_start(arguments, format);
    vsnprintf(found->text, sizeof found->text, format, arguments);
    va_end(arguments);
}

static int64_t field(const struct judge *j, enum tcube_field number)
{
    return j->tiling->field[number];
}

/* Never wraps: fields have 31 bits, and the products saturate. */
static int64_t block_bytes(const struct judge *j, enum tcube_field rows, enum tcube_field columns,
                           int64_t copies, int64_t bytes)
{
    return product_of(product_of(field(j, rows), field(j, columns)), product_of(copies, bytes));
}

static void judge_buffer(struct judge *j, const char *rule, int buffer, const char *contents,
                         int64_t needed_bytes)
{
    int64_t available = capacity_of(j->hw, buffer);
    if (needed_bytes > available)
        breach(j, rule, false, "%s: %s take %lld bytes of %lld, %lld too many", rule, contents,
               (long long)needed_bytes, (long long)available,
               (long long)(needed_bytes - available));
}

static void judge_buffers(struct judge *j)
{
    int64_t type = dtype_bytes(j->tiling->type);
    int64_t sums = dtype_bytes(dtype_accumulator(j->tiling->type));
    int64_t bias = j->tiling->bias ? field(j, TCUBE_BASE_N) * BIAS_BYTES : 0;
    judge_buffer(j, "l0a", j->l0a, "baseM x baseK in dbL0A copies",
                 block_bytes(j, TCUBE_BASE_M, TCUBE_BASE_K, field(j, TCUBE_DB_L0A), type));
    judge_buffer(j, "l0b", j->l0b, "baseK x baseN in dbL0B copies",
                 block_bytes(j, TCUBE_BASE_K, TCUBE_BASE_N, field(j, TCUBE_DB_L0B), type));
    judge_buffer(j, "l0c", j->l0c, "baseM x baseN in dbL0C copies",
                 block_bytes(j, TCUBE_BASE_M, TCUBE_BASE_N, field(j, TCUBE_DB_L0C), sums));
    int64_t a = block_bytes(j, TCUBE_BASE_M, TCUBE_BASE_K, field(j, TCUBE_DEPTH_A1), type);
    int64_t b = block_bytes(j, TCUBE_BASE_N, TCUBE_BASE_K, field(j, TCUBE_DEPTH_B1), type);
    bool scaled = element_takes_scale(j->tiling->type, j->tiling->out_type);
    int64_t rows = bias + (scaled ? field(j, TCUBE_BASE_N) * ELEMENT_SCALE_BYTES : 0);
    judge_buffer(j, "l1", j->l1, "depthA1 and depthB1 base blocks", sum_of(sum_of(a, b), rows));
    if (bias > BIAS_TABLE_BYTES)
        breach(j, "bias_table", false, "bias_table: baseN of the bias takes %lld bytes of %d",
               (long long)bias, BIAS_TABLE_BYTES);
}

static void judge_multiple(struct judge *j, const char *rule, enum tcube_field number, int unit)
{
    if (field(j, number) % unit)
        breach(j, rule, false, "%s: %s = %lld, expected a multiple of %d", rule, name_of(number),
               (long long)field(j, number), unit);
}

/* What is loaded at once, or twice that; four times occurs in tables that are in use. */
static void judge_depth(struct judge *j, const char *rule, enum tcube_field depth,
                        enum tcube_field step, enum tcube_field step_k)
{
    int64_t loaded = field(j, step) * field(j, step_k), ratio = field(j, depth) / loaded;
    bool whole = field(j, depth) % loaded == 0;
    if (whole && (ratio == 1 || ratio == 2))
        return;
    breach(j, rule, whole && ratio == 4, "%s: %s = %lld, expected %s x %s = %lld or twice that",
           rule, name_of(depth), (long long)field(j, depth), name_of(step), name_of(step_k),
           (long long)loaded);
}

/* Blocks of several rows are loaded together only where all of K is. */
static void judge_step(struct judge *j, const char *rule, enum tcube_field step,
                       enum tcube_field step_k)
{
    int64_t k = product_of(field(j, TCUBE_BASE_K), field(j, step_k));
    if (field(j, step) > 1 && k < field(j, TCUBE_SINGLE_K))
        breach(j, rule, false,
               "%s: %s = %lld, expected 1, for baseK x %s = %lld is less than "
               "singleCoreK = %lld",
               rule, name_of(step), (long long)field(j, step), name_of(step_k), (long long)k,
               (long long)field(j, TCUBE_SINGLE_K));
}

/* The chunks of K of one operand must end where some of the other's do. */
static void judge_chunks(struct judge *j)
{
    int64_t k = field(j, TCUBE_SINGLE_K), base = field(j, TCUBE_BASE_K);
    int64_t a = divide_up(k, product_of(base, field(j, TCUBE_STEP_KA)));
    int64_t b = divide_up(k, product_of(base, field(j, TCUBE_STEP_KB)));
    if (a % b && b % a)
        breach(j, "k_chunks", false,
               "k_chunks: %lld of A and %lld of B, expected one to divide the other", (long long)a,
               (long long)b);
}

enum status tcube_check(const struct hardware *hw, const struct tcube *tiling,
                        struct tcube_breach breaches[TCUBE_MAX_BREACHES], int *count,
                        struct error *error)
{
    struct judge j = {.hw = hw, .tiling = tiling, .breaches = breaches};
    const struct chip_buffer buffers[] = {
        {"l0a", &j.l0a}, {"l0b", &j.l0b}, {"l0c", &j.l0c}, {"l1", &j.l1}, {NULL, NULL}};
    TRY(machine_buffers(hw, "TCubeTiling", buffers, error));
    if (field(&j, TCUBE_USED_CORES) > hw->cores)
        breach(&j, "cores", false, "cores: usedCoreNum = %lld, and the chip has %d",
               (long long)field(&j, TCUBE_USED_CORES), hw->cores);
    judge_buffers(&j);
    judge_multiple(&j, "base_m", TCUBE_BASE_M, BLOCK);
    judge_multiple(&j, "base_n", TCUBE_BASE_N, BLOCK);
    judge_multiple(&j, "base_k", TCUBE_BASE_K, bank_block_k(tiling->type));
    judge_depth(&j, "depth_a1", TCUBE_DEPTH_A1, TCUBE_STEP_M, TCUBE_STEP_KA);
    judge_depth(&j, "depth_b1", TCUBE_DEPTH_B1, TCUBE_STEP_N, TCUBE_STEP_KB);
    judge_step(&j, "step_m", TCUBE_STEP_M, TCUBE_STEP_KA);
    judge_step(&j, "step_n", TCUBE_STEP_N, TCUBE_STEP_KB);
    judge_chunks(&j);
    *count = j.count;
    return STATUS_OK;
}
