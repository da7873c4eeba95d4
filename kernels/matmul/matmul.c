/* The operator as tables: sizes with their limits, how operands may lie, spaces and loops. Its
 * space thesis: MatMul as Tang 2024, 2.4.2 and Alg. 3, has it, with what stays in L1 as one more
 * parameter. That is a kernel's text, kernels/library/matmul_thesis.kernel, which the build puts in
 * here (tools/embed.cmake). And where that kernel has its places on a chip: buffers and paths by
 * name, each stage on a pipe of its own, since flags between pipes are what orders them. */
#include "kernels/matmul/matmul.h"
#include "core/element.h"
#include "kernels/emit.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/matmul_cann.h"
#include "kernels/text/limits/kernel_limits_code.h"
#include "kernels/text/space/kernel_space.h"

#include <math.h>
#include <string.h>

/* ---- the space thesis ------------------------------------------------------------------------ */

extern const char matmul_thesis_kernel[];

/* The kernel takes and leaves everything in one way; C in any type that it can convert to. */
static enum status check_choices(const struct problem *problem, struct error *error)
{
    for (int c = 0; c < MATMUL_CHOICES; c++) {
        const struct operator_choice *choice = &problem->op->choices[c];
        if (problem->choice[c] && c != MATMUL_OUT_TYPE)
            return error_set(error, STATUS_INVALID,
                             "--%s %s: space thesis knows --%s %s only; use --space cann on a chip "
                             "with a path l0c->gm",
                             choice->name, choice->values[problem->choice[c]], choice->name,
                             choice->values[0]);
    }
    enum dtype out = problem_choice_type(problem, MATMUL_OUT_TYPE);
    if (element_takes_scale(problem->type, out))
        return error_set(error, STATUS_INVALID,
                         "--out-type %s: space thesis has no scales to make %s of sums of %s by, "
                         "expected i32 or u32",
                         dtype_name(out), element_is_floating(out) ? "reals" : "8 bits",
                         dtype_name(problem->type));
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    TRY(check_choices(problem, error));
    return kernel_space_parse(space, "matmul_thesis.kernel", matmul_thesis_kernel, problem->size,
                              problem->type, problem_choice_type(problem, MATMUL_OUT_TYPE), cores,
                              error);
}

/* The sizes are in the text's order. */
static int64_t size_class(const struct space *space, const struct problem *problem, int size,
                          int64_t value)
{
    (void)problem;
    return kernel_size_class(space, size, value);
}

/* They are here too. */
static enum status limits_code(const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error)
{
    const struct problem *problem = asked->problem;
    struct kernel_text text;
    struct kernel_posed posed = {.type = problem->type,
                                 .result = problem_choice_type(problem, MATMUL_OUT_TYPE)};
    for (int i = 0; i < MATMUL_SIZES; i++) {
        posed.given[i] = problem->size[i];
        posed.size_of[i] = i;
    }
    TRY(kernel_text_parse("matmul_thesis.kernel", matmul_thesis_kernel,
                          strlen(matmul_thesis_kernel), &text, error));
    enum status status = kernel_limits_code(&text, &posed, asked, code, number, error);
    kernel_text_clear(&text);
    return status;
}

const struct operator_space matmul_thesis = {
    .name = "thesis",
    .title = "slices along m, k, n; one or two control flows; what stays in L1; split over cores",
    .create = create,
    .size_class = size_class,
    .limits_code = limits_code,
    KERNEL_SPACE,
    .cost = {14.791, {0.285, -0.341, 0.060}}, /* 1,000 shapes on ascend310 */
};

/* ---- the operator ---------------------------------------------------------------------------- */

static const char *const size_names[MATMUL_SIZES] = {"m", "k", "n", "batch"};
static const struct operator_size options[] = {{"B", "number of products (default 1)", 1, false}};

/* Beyond this a kernel runs for hours: no clock of the simulator holds it. */
#define MAX_SIZE    (INT64_C(1) << 31)
#define MAX_PRODUCT 1e15

static enum status check_sizes(const struct problem *problem, struct error *error)
{
    double product = 1;
    for (int i = 0; i < MATMUL_SIZES; i++) {
        product *= (double)problem->size[i];
        if (problem->size[i] >= MAX_SIZE)
            return error_set(error, STATUS_INVALID, "%s = %lld, expected less than 2^31",
                             size_names[i], (long long)problem->size[i]);
    }
    if (product > MAX_PRODUCT)
        return error_set(error, STATUS_INVALID,
                         "m·k·n·batch = %.3g multiplications, expected at most %.0g", product,
                         MAX_PRODUCT);
    return STATUS_OK;
}

static double count_operations(const struct problem *problem, const struct hardware *hw)
{
    (void)hw;
    double product = 2;
    for (int i = 0; i < MATMUL_SIZES; i++)
        product *= (double)problem->size[i];
    return product;
}

static const char *const transposes[] = {"none", "a", "b", "both"};
static const char *const layouts[] = {"nd", "nz"};
static const char *const answers[] = {"no", "yes"};

static const struct operator_choice choices[MATMUL_CHOICES] = {
    [MATMUL_TRANSPOSE] = {"transpose", 4, transposes,
                          "which operands are stored transposed (default none)"},
    [MATMUL_A_LAYOUT] = {"a-layout", 2, layouts,
                         "A row by row (default), or in the matrix unit's blocks"},
    [MATMUL_B_LAYOUT] = {"b-layout", 2, layouts, "likewise B"},
    [MATMUL_C_LAYOUT] = {"c-layout", 2, layouts, "likewise C"},
    [MATMUL_BIAS] = {"bias", 2, answers, "add a row to C (default no)"},
    [MATMUL_OUT_TYPE] =
        {"out-type", CHOICE_TYPES, choice_types,
         "element type of C, also by name: f32 (default same; of integers accumulator)"},
    [MATMUL_SHARE_B] = {"share-b", 2, answers, "one B for the whole batch (default no)"},
};

/* B is of K rows, transposed of N. */
static bool shape_of_b(const struct problem *problem, int64_t rows_columns[2])
{
    int is_transposed = problem->choice[MATMUL_TRANSPOSE] >> 1 & 1; /* none, a, b, both: bits */
    rows_columns[is_transposed] = problem->size[MATMUL_K];
    rows_columns[!is_transposed] = problem->size[MATMUL_N];
    return problem->size[MATMUL_BATCH] == 1 || problem->choice[MATMUL_SHARE_B];
}

static const struct operator_weights weights = {MATMUL_B_LAYOUT, "nd_to_nz", shape_of_b};

static const struct loop_family *const loops[] = {&sgemm_loops, &pack_loops, NULL};

static const struct operator_space *const spaces[] = {
    &matmul_thesis, &matmul_cann, &matmul_static, &matmul_tcube, &matmul_host_space, NULL};

/* Where results leave the matrix unit for global memory only, there is no vector unit to convert
 * them on the way, as the thesis's kernels do. */
static const struct operator_space *default_space(const struct hardware *hw)
{
    if (hw->host)
        return &matmul_host_space;
    int l0c = hardware_buffer(hw, "l0c", 3), ub = hardware_buffer(hw, "ub", 2);
    int gm = hardware_buffer(hw, "gm", 2);
    bool split = hardware_path(hw, l0c, gm) >= 0 && hardware_path(hw, l0c, ub) < 0;
    return split ? &matmul_cann : &matmul_thesis;
}

const struct operator matmul_operator = {
    .name = "matmul",
    .title = "matrix product C = A·B, batched",
    .shape_form = "MxKxN",
    .shape_sizes = 3,
    .size_count = MATMUL_SIZES,
    .size_names = size_names,
    .options = options,
    .choice_count = MATMUL_CHOICES,
    .choices = choices,
    .weights = &weights,
    .check = check_sizes,
    .operations = count_operations,
    .spaces = spaces,
    .default_space = default_space,
    .runner = &sgemm_runner,
    .loops = loops,
};

enum status matmul_machine_find(const struct hardware *hw, enum dtype type, enum dtype out,
                                struct matmul_machine *m, struct error *error)
{
    const struct matrix_type *matrix;
    int gm;
    if (machine_squares(hw, "MatMul", type, &matrix, error) != STATUS_OK)
        return STATUS_INVALID;
    *m = (struct matmul_machine){
        .hw = hw,
        .type = type,
        .accumulator = matrix->accumulator,
        .out = out,
        .type_bytes = dtype_bytes(type),
        .accumulator_bytes = dtype_bytes(matrix->accumulator),
        .out_bytes = dtype_bytes(out),
        .block = matrix->block_m,
        .block_k = matrix->block_k,
        .matrix = hw->matrix_pipe,
        .matrix_price = matrix->price,
    };
    const struct chip_buffer buffers[] = {{"gm", &gm},      {"l1", &m->l1},   {"l0a", &m->l0a},
                                          {"l0b", &m->l0b}, {"l0c", &m->l0c}, {"ub", &m->ub},
                                          {NULL, NULL}};
    TRY(machine_buffers(hw, "MatMul", buffers, error));
    const struct chip_path paths[] = {
        {gm, m->l1, type, type, &m->load, &m->load_price, &m->mte2},
        {m->l1, m->l0b, type, type, &m->feed_b, &m->feed_b_price, &m->mte1},
        {m->l1, m->l0a, type, type, &m->feed_a, &m->feed_a_price, &m->mte1},
        {m->l0c, m->ub, m->accumulator, out, &m->drain, &m->drain_price, &m->vector},
        {m->ub, gm, out, out, &m->store, &m->store_price, &m->mte3},
        {.path = NULL},
    };
    TRY(machine_paths(hw, "MatMul in space thesis", paths, error));
    if (hw->paths[m->feed_b].pipe != m->mte1)
        return error_set(error, STATUS_INVALID,
                         "MatMul needs l1->l0a and l1->l0b on one pipe; %s has two", hw->name);
    const int pipes[] = {m->mte2, m->mte1, m->matrix, m->vector, m->mte3};
    return machine_pipes_differ(hw, "MatMul", "load, feed, multiply, drain and store", pipes, 5,
                                error);
}

/* Loads and stores on one bus share it. */
double matmul_roofline_ns(const struct matmul_machine *machine, int64_t m, int64_t k, int64_t n,
                          int cores)
{
    const struct price *prices = machine->hw->prices, *matrix = &prices[machine->matrix_price];
    const struct price *load = &prices[machine->load_price], *store = &prices[machine->store_price];
    double rows = (double)m, depth = (double)k, columns = (double)n, block = machine->block;
    double load_fs = price_least_fs(machine->hw, load, cores,
                                    (rows * depth + depth * columns) * machine->type_bytes);
    double store_fs =
        price_least_fs(machine->hw, store, cores, rows * columns * machine->out_bytes);
    double memory_fs =
        load->bus >= 0 && load->bus == store->bus ? load_fs + store_fs : fmax(load_fs, store_fs);
    double compute_fs = rows * depth * columns / (block * block * machine->block_k) / cores *
                        (double)matrix->rate.fs / (double)matrix->rate.units;
    return fmax(compute_fs, memory_fs) / 1e6;
}
