/* Where the kernel finds its places on a chip: four paths by way of buffers with fixed names, and
 * what only some chips have (a way in past the cache, a table of biases, a flag on L0C). L0A wants
 * rows of blocks and L0B columns, so an operand that lies the other way is fed at the transposed
 * price. */
#include "kernels/emit.h"
#include "kernels/matmul/matmul_cann_internal.h"

#define WHO "MatMul in space cann"

/* A path from behind the cache, where there is a cache. */
static enum status find_miss(const struct hardware *hw, struct cann_machine *m, struct error *error)
{
    m->miss = m->miss_price = m->store_behind = m->store_behind_price = -1;
    if (hw->cache.behind < 0 || hw->cache.buffer != m->gm ||
        (hw->cache.all_miss_bytes == 0 && !hw->cache.is_cold))
        return STATUS_OK;
    m->store_behind = hardware_path(hw, m->l0c, hw->cache.behind);
    m->store_behind_price =
        m->store_behind < 0 ? -1 : hardware_move_price(hw, m->store_behind, m->accumulator, m->out);
    return machine_path(hw, WHO, hw->cache.behind, m->l1, m->type, m->type, &m->miss,
                        &m->miss_price, error);
}

/* The table of biases beside the matrix unit; without one the bias stops in L1. */
static void find_bias(const struct hardware *hw, struct cann_machine *m)
{
    m->bt = hardware_buffer(hw, "bt", 2);
    m->feed_bias = m->bt < 0 ? -1 : hardware_path(hw, m->l1, m->bt);
    if (m->feed_bias < 0)
        m->bt = -1;
    m->feed_bias_price = m->bt < 0 ? -1 : hw->paths[m->feed_bias].price;
}

/* One pipe a role: two roles on one would share flag registers, one on two would need more. */
static enum status check_pipes(const struct hardware *hw, const struct cann_machine *m,
                               struct error *error)
{
    const int pipes[] = {m->mte2, m->mte1, m->matrix, m->fixp};
    TRY(machine_pipes_differ(hw, WHO, "load, feed, multiply and store", pipes, 4, error));
    if (hw->paths[m->feed_b].pipe != m->mte1 ||
        (m->feed_bias >= 0 && hw->paths[m->feed_bias].pipe != m->mte1))
        return error_set(error, STATUS_INVALID,
                         WHO " needs all moves out of l1 on one pipe; %s "
                             "has two",
                         hw->name);
    if (m->miss >= 0 && hw->paths[m->miss].pipe != m->mte2)
        return error_set(error, STATUS_INVALID,
                         WHO " needs all moves into l1 on one pipe; %s has "
                             "two",
                         hw->name);
    return STATUS_OK;
}

enum status cann_machine_find(const struct hardware *hw, const struct problem *problem,
                              struct cann_machine *m, struct error *error)
{
    const struct matrix_type *matrix;
    if (machine_squares(hw, "MatMul", problem->type, &matrix, error) != STATUS_OK)
        return STATUS_INVALID;
    enum dtype type = problem->type, accumulator = matrix->accumulator;
    enum dtype out = problem_choice_type(problem, MATMUL_OUT_TYPE);
    *m = (struct cann_machine){
        .hw = hw,
        .type = type,
        .accumulator = accumulator,
        .out = out,
        .type_bytes = dtype_bytes(type),
        .accumulator_bytes = dtype_bytes(accumulator),
        .out_bytes = dtype_bytes(out),
        .block_mn = matrix->block_m,
        .block_k = matrix->block_k,
        .matrix = hw->matrix_pipe,
        .matrix_price = matrix->price,
    };
    const struct chip_buffer buffers[] = {{"gm", &m->gm},   {"l1", &m->l1},   {"l0a", &m->l0a},
                                          {"l0b", &m->l0b}, {"l0c", &m->l0c}, {NULL, NULL}};
    TRY(machine_buffers(hw, WHO, buffers, error));
    const struct chip_path paths[] = {
        {m->gm, m->l1, type, type, &m->load, &m->load_price, &m->mte2},
        {m->l1, m->l0a, type, type, &m->feed_a, &m->feed_a_price, &m->mte1},
        {m->l1, m->l0b, type, type, &m->feed_b, &m->feed_b_price, NULL},
        {m->l0c, m->gm, accumulator, out, &m->store, &m->store_price, &m->fixp},
        {.path = NULL},
    };
    TRY(machine_paths(hw, WHO, paths, error));
    TRY(find_miss(hw, m, error));
    /* L0A wants rows and L0B columns of blocks */
    int transposed = problem->choice[MATMUL_TRANSPOSE];
    m->transpose_a = transposed == 1 || transposed == 3;
    m->transpose_b = transposed == 0 || transposed == 1;
    if (m->transpose_a)
        m->feed_a_price = hw->paths[m->feed_a].transposed_price;
    if (m->transpose_b)
        m->feed_b_price = hw->paths[m->feed_b].transposed_price;
    find_bias(hw, m);
    m->unit_flag = hw->buffers[m->l0c].unit_flag;
    TRY(check_pipes(hw, m, error));
    if (hw->flag_registers < 5)
        return error_set(error, STATUS_INVALID,
                         "space cann needs 5 flag registers a pair of pipes; %s has %d", hw->name,
                         hw->flag_registers);
    return STATUS_OK;
}
