/* The operator as tables (sizes, requests, spaces, loops) with its limits, and the search for its
 * places on a chip: buffers, paths and operations are looked up by name. Moves that the pipeline
 * of Tang 2024, 4.3, has on one pipe must be on one there too, and its five stages on five: the
 * flags that the program sets rest on it. */
#include "kernels/cubefx/cubefx.h"
#include "kernels/chapter.h"
#include "kernels/cubefx/cubefx_requests.h"
#include "kernels/cubefx/host/cubefx_host.h"
#include "kernels/cubefx/host/poly.h"
#include "kernels/emit.h"

static const char *const size_names[CUBEFX_SIZES] = {"n", "order", "functions"};
static const struct operator_size options[] = {{"K", "terms of each polynomial", 0, false},
                                               {"J", "functions of each input", 0, false}};
static const int64_t largest[CUBEFX_SIZES] = {INT64_C(1) << 31, 256, 4096};

/* Sizes are padded, here as if to blocks of 16, and merging can cost up to 16 times as many: beyond
 * this a kernel runs for hours and no clock of the simulator holds it. */
#define MAX_PRODUCT 1e14

/* Named functions are as many as their names. */
static enum status complete(struct problem *problem, struct error *error)
{
    struct cubefx_requests requests;
    int64_t *functions = &problem->size[CUBEFX_FUNCTIONS];
    enum status status = cubefx_requests_read(problem, &requests, error);
    if (status != STATUS_OK || requests.function_count == 0)
        return status;
    if (*functions && *functions != requests.function_count)
        return error_set(error, STATUS_INVALID, "--functions %lld: --function names %d",
                         (long long)*functions, requests.function_count);
    *functions = requests.function_count;
    return STATUS_OK;
}

static enum status check(const struct problem *problem, struct error *error)
{
    double product = 1;
    for (int i = 0; i < CUBEFX_SIZES; i++) {
        if (problem->size[i] > largest[i])
            return error_set(error, STATUS_INVALID, "%s = %lld, expected at most %lld",
                             size_names[i], (long long)problem->size[i], (long long)largest[i]);
        product *= (double)round_up(problem->size[i], 16);
    }
    if (product > MAX_PRODUCT)
        return error_set(error, STATUS_INVALID,
                         "n·order·functions, padded to 16, = %.3g multiplications, expected at "
                         "most %.0g",
                         product, MAX_PRODUCT);
    if (problem->request[CUBEFX_FUNCTION] && problem->size[CUBEFX_ORDER] > SERIES_MAX_TERMS)
        return error_set(error, STATUS_INVALID,
                         "--order %lld: the series of --function have at most %d terms; "
                         "--functions takes any",
                         (long long)problem->size[CUBEFX_ORDER], SERIES_MAX_TERMS);
    return STATUS_OK;
}

static double operations(const struct problem *problem, const struct hardware *hw)
{
    (void)hw;
    double product = 2;
    for (int i = 0; i < CUBEFX_SIZES; i++)
        product *= (double)problem->size[i];
    return product;
}

static const struct loop_family *const loops[] = {&poly_loops, NULL};
static const struct chapter *const chapters[] = {&cubefx_chapter, &precision_chapter, NULL};

static const struct operator_space *const spaces[] = {&cubefx_segments, &cubefx_host_space, NULL};

const struct operator cubefx_operator = {
    .name = "cubefx",
    .title = "J polynomials of K terms of every input, on the matrix unit",
    .shape_form = "N",
    .shape_sizes = 1,
    .size_count = CUBEFX_SIZES,
    .size_names = size_names,
    .options = options,
    .request_count = CUBEFX_REQUESTS,
    .requests = cubefx_request_rows,
    .complete = complete,
    .check = check,
    .operations = operations,
    .spaces = spaces,
    .runner = &poly_runner,
    .loops = loops,
    .chapters = chapters,
};

/* Finds the paths; loads share a pipe, feeds share one, and so do the two moves out of UB. */
static enum status find_paths(const struct hardware *hw, struct cubefx_machine *m, int gm,
                              struct error *error)
{
    enum dtype t = m->type, acc = m->accumulator;
    int drain_pipe = -1;
    const struct {
        int source, destination;
        enum dtype from;
        int *pipe;
    } paths[CUBEFX_MOVES] = {
        [CUBEFX_LOAD] = {gm, m->ub, t, &m->mte2},
        [CUBEFX_LOAD_B] = {gm, m->l1, t, &m->mte2},
        [CUBEFX_TO_L1] = {m->ub, m->l1, t, &m->mte3},
        [CUBEFX_FEED_A] = {m->l1, m->l0a, t, &m->mte1},
        [CUBEFX_FEED_B] = {m->l1, m->l0b, t, &m->mte1},
        [CUBEFX_DRAIN] = {m->l0c, m->ub, acc, &drain_pipe},
        [CUBEFX_STORE] = {m->ub, gm, t, &m->mte3},
    };
    for (int i = 0; i < CUBEFX_MOVES; i++)
        TRY(machine_path(hw, "Cube-fx", paths[i].source, paths[i].destination, paths[i].from, t,
                         &m->path[i], &m->price[i], error));
    for (int i = 0; i < CUBEFX_MOVES; i++) {
        int pipe = hw->paths[m->path[i]].pipe;
        if (*paths[i].pipe >= 0 && *paths[i].pipe != pipe)
            return error_set(
                error, STATUS_INVALID, "Cube-fx needs %s->%s on pipe %s; on %s it is on %s",
                hw->buffers[paths[i].source].name, hw->buffers[paths[i].destination].name,
                hw->pipes[*paths[i].pipe].name, hw->name, hw->pipes[pipe].name);
        *paths[i].pipe = pipe;
    }
    m->vector = drain_pipe;
    return STATUS_OK;
}

static enum status find_operations(const struct hardware *hw, struct cubefx_machine *m,
                                   struct error *error)
{
    const struct {
        const char *name;
        int *operation;
    } operations[] = {{"ln", &m->ln}, {"exp", &m->exp}};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        TRY(machine_operation(hw, "Cube-fx", operations[i].name, operations[i].operation, error));
        const struct operation *found = &hw->operations[*operations[i].operation];
        if (found->class != OPERATION_VECTOR || found->result != RESULT_ELEMENTS ||
            hw->prices[found->price].pipe != m->vector)
            return error_set(error, STATUS_INVALID,
                             "Cube-fx needs '%s' as a vector operation on the pipe of l0c->ub; on "
                             "%s it is none",
                             operations[i].name, hw->name);
    }
    return STATUS_OK;
}

enum status cubefx_machine_find(const struct hardware *hw, enum dtype type,
                                struct cubefx_machine *m, struct error *error)
{
    const struct matrix_type *matrix;
    int gm;
    if (machine_cubes(hw, "Cube-fx", type, &matrix, error) != STATUS_OK)
        return STATUS_INVALID;
    *m = (struct cubefx_machine){
        .hw = hw,
        .type = type,
        .accumulator = matrix->accumulator,
        .type_bytes = dtype_bytes(type),
        .accumulator_bytes = dtype_bytes(matrix->accumulator),
        .block = matrix->block_m,
        .matrix = hw->matrix_pipe,
        .matrix_price = matrix->price,
        .mte1 = -1,
        .mte2 = -1,
        .mte3 = -1,
    };
    const struct chip_buffer buffers[] = {{"gm", &gm},      {"l1", &m->l1},   {"l0a", &m->l0a},
                                          {"l0b", &m->l0b}, {"l0c", &m->l0c}, {"ub", &m->ub},
                                          {NULL, NULL}};
    TRY(machine_buffers(hw, "Cube-fx", buffers, error));
    TRY(find_paths(hw, m, gm, error));
    const int pipes[] = {m->mte2, m->mte1, m->matrix, m->vector, m->mte3};
    TRY(machine_pipes_differ(hw, "Cube-fx", "load, feed, multiply, compute vectors and store",
                             pipes, 5, error));
    return find_operations(hw, m, error);
}
