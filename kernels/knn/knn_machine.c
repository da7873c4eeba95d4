/* What a chip must have for the k-NN kernels, and what only some of their variants ask for. */
#include "kernels/emit.h"
#include "kernels/knn/knn.h"

#include <string.h>

enum need {
    NEED_ALWAYS = 1,
    NEED_HARDWARE_COMPARE = 2,
    NEED_RELU_COMPARE = 4,
    NEED_VECTOR_INDEX = 8,
};

#define PLACE(member) offsetof(struct knn_machine, member)

static const struct {
    const char *name;
    size_t place;
    uint8_t class, result, need;
} operations[] = {
    {"reduceMin", PLACE(reduce_min), OPERATION_VECTOR, RESULT_ONE_PER_REPEAT, NEED_ALWAYS},
    {"reduceMax", PLACE(reduce_max), OPERATION_VECTOR, RESULT_ONE_PER_REPEAT, NEED_VECTOR_INDEX},
    {"vecDup", PLACE(duplicate), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_ALWAYS},
    {"vecCmp", PLACE(compare), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_HARDWARE_COMPARE},
    {"vecSel", PLACE(select), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_HARDWARE_COMPARE},
    {"relu", PLACE(relu), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vsub", PLACE(subtract), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vand", PLACE(and), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vor", PLACE(or), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"vnot", PLACE(not ), OPERATION_VECTOR, RESULT_ELEMENTS, NEED_RELU_COMPARE},
    {"branch", PLACE(branch), OPERATION_SCALAR, RESULT_ELEMENTS, NEED_ALWAYS},
    {"assign", PLACE(assign), OPERATION_SCALAR, RESULT_ELEMENTS, NEED_ALWAYS},
};

enum { OPERATIONS = sizeof operations / sizeof *operations, LEAST_REPEAT_BYTES = 32 };

static int operation_of(const struct knn_machine *machine, int i)
{
    return *(const int *)((const char *)machine + operations[i].place);
}

/* -1 where the chip has none that does what its name says. */
static int find_operation(const struct hardware *hw, int i)
{
    int found = hardware_operation(hw, operations[i].name, (int)strlen(operations[i].name));
    if (found < 0 || hw->operations[found].class != operations[i].class ||
        (hw->operations[found].result == RESULT_ONE_PER_REPEAT) !=
            (operations[i].result == RESULT_ONE_PER_REPEAT))
        return -1;
    return found;
}

static int pipe_of(const struct hardware *hw, int operation)
{
    return hw->prices[hw->operations[operation].price].pipe;
}

static enum status lacks(const struct knn_machine *machine, int i, struct error *error)
{
    return error_set(error, STATUS_INVALID,
                     "k-NN needs the operation '%s'; the description of %s has none",
                     operations[i].name, machine->hw->name);
}

static enum status find_operations(struct knn_machine *machine, struct error *error)
{
    for (int i = 0; i < OPERATIONS; i++) {
        *(int *)((char *)machine + operations[i].place) = find_operation(machine->hw, i);
        if (operation_of(machine, i) < 0 && operations[i].need == NEED_ALWAYS)
            return lacks(machine, i, error);
    }
    machine->vector = pipe_of(machine->hw, machine->reduce_min);
    machine->scalar = pipe_of(machine->hw, machine->branch);
    return STATUS_OK;
}

static enum status find_paths(const struct hardware *hw, struct knn_machine *m, struct error *error)
{
    int gm;
    const struct chip_buffer buffers[] = {{"gm", &gm}, {"ub", &m->ub}, {NULL, NULL}};
    TRY(machine_buffers(hw, "k-NN", buffers, error));
    const struct chip_path paths[] = {
        {gm, m->ub, DTYPE_F16, DTYPE_F16, &m->load, NULL, &m->mte2},
        {m->ub, gm, DTYPE_F16, DTYPE_F16, &m->store, NULL, &m->mte3},
        {.path = NULL},
    };
    return machine_paths(hw, "k-NN", paths, error);
}

/* The programs' flags hold for four pipes of which S alone blocks dispatch. */
static enum status check_pipes(const struct knn_machine *machine, struct error *error)
{
    const struct hardware *hw = machine->hw;
    uint32_t pipes =
        1u << machine->mte2 | 1u << machine->vector | 1u << machine->scalar | 1u << machine->mte3;
    if (__builtin_popcount(pipes) != 4)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs four pipes for gm->ub, vectors, scalars and ub->gm; on %s "
                         "some share one",
                         hw->name);
    for (int i = 0; i < OPERATIONS; i++) {
        int operation = operation_of(machine, i);
        int wanted = operations[i].class == OPERATION_SCALAR ? machine->scalar : machine->vector;
        if (operation >= 0 && pipe_of(hw, operation) != wanted)
            return error_set(error, STATUS_INVALID,
                             "k-NN needs its operations on one pipe; on %s '%s' runs on %s",
                             hw->name, operations[i].name, hw->pipes[pipe_of(hw, operation)].name);
    }
    if (!hw->pipes[machine->scalar].blocks_dispatch)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs a scalar pipe that blocks dispatch; %s's %s does not",
                         hw->name, hw->pipes[machine->scalar].name);
    return STATUS_OK;
}

enum status knn_machine_find(const struct hardware *hw, enum dtype type,
                             struct knn_machine *machine, struct error *error)
{
    *machine = (struct knn_machine){.hw = hw};
    if (type != DTYPE_F16)
        return error_set(error, STATUS_INVALID, "k-NN selects in f16, not in %s", dtype_name(type));
    if (hw->vector_repeat_bytes < LEAST_REPEAT_BYTES)
        return error_set(error, STATUS_INVALID,
                         "k-NN needs vector repeats of %d bytes or more; %s has %d",
                         LEAST_REPEAT_BYTES, hw->name, hw->vector_repeat_bytes);
    TRY(find_paths(hw, machine, error));
    TRY(find_operations(machine, error));
    return check_pipes(machine, error);
}

enum status knn_machine_check(const struct knn_machine *machine, const struct knn_tile *tile,
                              struct error *error)
{
    unsigned needs = NEED_ALWAYS;
    needs |= tile->compare == KNN_COMPARE_RELU ? NEED_RELU_COMPARE : NEED_HARDWARE_COMPARE;
    needs |= tile->index == KNN_INDEX_VECTOR ? NEED_VECTOR_INDEX : 0;
    for (int i = 0; i < OPERATIONS; i++)
        if ((operations[i].need & needs) && operation_of(machine, i) < 0)
            return lacks(machine, i, error);
    return STATUS_OK;
}
