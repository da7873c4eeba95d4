/* Where the kernel finds its places on a chip: four paths by way of buffers with fixed names, and
 * what only some chips have (a way in past the cache, a table of biases, a flag on L0C). L0A wants
 * rows of blocks and L0B columns, so an operand that lies the other way is fed at the transposed
 * price. */
#include "kernels/emit.h"
#include "kernels/matmul/matmul_cann_internal.h"

#define WHO "MatMul in space cann"

static enum status find_buffers(const struct hardware *hw, struct cann_machine *m,
                                struct error *error)
{
    const struct {
        const char *name;
        int *buffer;
    } buffers[] = {
        {"gm", &m->gm}, {"l1", &m->l1}, {"l0a", &m->l0a}, {"l0b", &m->l0b}, {"l0c", &m->l0c}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        TRY(machine_buffer(hw, WHO, buffers[i].name, buffers[i].buffer, error));
    return STATUS_OK;
}

static enum status find_paths(const struct hardware *hw, struct cann_machine *m,
                              struct error *error)
{
    enum dtype t = m->type;
    const struct {
        int source, destination;
        enum dtype from, to;
        int *path, *price;
    } paths[] = {
        {m->gm, m->l1, t, t, &m->load, &m->load_price},
        {m->l1, m->l0a, t, t, &m->feed_a, &m->feed_a_price},
        {m->l1, m->l0b, t, t, &m->feed_b, &m->feed_b_price},
        {m->l0c, m->gm, m->accumulator, m->out, &m->store, &m->store_price},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        TRY(machine_path(hw, WHO, paths[i].source, paths[i].destination, paths[i].from, paths[i].to,
                         paths[i].path, paths[i].price, error));
    return STATUS_OK;
}

/* A path from behind the cache, where there is a cache. */
static enum status find_miss(const struct hardware *hw, struct cann_machine *m, struct error *error)
{
    m->miss = m->miss_price = m->store_behind = m->store_behind_price = -1;
    if (hw->cache.behind < 0 || hw->cache.buffer != m->gm || hw->cache.all_miss_bytes == 0)
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
static enum status find_pipes(const struct hardware *hw, struct cann_machine *m,
                              struct error *error)
{
    m->mte2 = hw->paths[m->load].pipe;
    m->mte1 = hw->paths[m->feed_a].pipe;
    m->matrix = hw->matrix_pipe;
    m->fixp = hw->paths[m->store].pipe;
    unsigned seen = 1u << m->mte2 | 1u << m->mte1 | 1u << m->matrix | 1u << m->fixp;
    if (__builtin_popcount(seen) != 4)
        return error_set(error, STATUS_INVALID,
                         WHO " needs different pipes to load, feed, multiply and store; on %s "
                             "some of them share one",
                         hw->name);
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
                              struct cann_machine *machine, struct error *error)
{
    const struct matrix_type *matrix;
    if (machine_squares(hw, "MatMul", problem->type, &matrix, error) != STATUS_OK)
        return STATUS_INVALID;
    enum dtype accumulator = matrix->accumulator;
    enum dtype out = problem_choice_type(problem, MATMUL_OUT_TYPE);
    *machine = (struct cann_machine){
        .hw = hw,
        .type = problem->type,
        .accumulator = accumulator,
        .out = out,
        .type_bytes = dtype_bytes(problem->type),
        .accumulator_bytes = dtype_bytes(accumulator),
        .out_bytes = dtype_bytes(out),
        .block_mn = matrix->block_m,
        .block_k = matrix->block_k,
        .matrix_price = matrix->price,
    };
    enum status status = find_buffers(hw, machine, error);
    if (status == STATUS_OK)
        status = find_paths(hw, machine, error);
    if (status == STATUS_OK)
        status = find_miss(hw, machine, error);
    /* L0A wants rows and L0B columns of blocks */
    int transposed = problem->choice[MATMUL_TRANSPOSE];
    machine->transpose_a = transposed == 1 || transposed == 3;
    machine->transpose_b = transposed == 0 || transposed == 1;
    if (status == STATUS_OK && machine->transpose_a)
        machine->feed_a_price = hw->paths[machine->feed_a].transposed_price;
    if (status == STATUS_OK && machine->transpose_b)
        machine->feed_b_price = hw->paths[machine->feed_b].transposed_price;
    find_bias(hw, machine);
    if (status == STATUS_OK)
        machine->unit_flag = hw->buffers[machine->l0c].unit_flag;
    if (status == STATUS_OK)
        status = find_pipes(hw, machine, error);
    if (status == STATUS_OK && hw->flag_registers < 5)
        return error_set(error, STATUS_INVALID,
                         "space cann needs 5 flag registers a pair of pipes; %s has %d", hw->name,
                         hw->flag_registers);
    return status;
}
