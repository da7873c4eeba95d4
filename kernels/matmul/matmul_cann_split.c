/* Parts of k and what adds them up. Every core computes its block over its part of k and stores the
 * sum, in the type of sums, in a workspace: parts of C one after the other, each as C is in memory.
 * When all cores have stored, the vector cores add up: each has a share of C, of which one strided
 * load brings all parts; these are added in halves, the same tree every time, so that the order of
 * additions never changes. The result is cast where C has another type, and stored.
 *
 * The kernels of operator libraries that split k do it so where they are to be deterministic. The
 * passes of a share take turns with nothing: load, additions, cast and store follow each other. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_emitter.h"
#include "kernels/matmul/matmul_cann_summary.h"

/* ---- the chip ------------------------------------------------------------------------------- */

/* On pipes of their own: they share no flags with those of the cube core. */
static bool pipes_differ(const struct cann_machine *m, const struct cann_adder *a)
{
    const int pipes[] = {m->mte2, m->mte1, m->matrix, m->fixp, a->in, a->vector, a->out};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < i; j++)
            if (pipes[i] == pipes[j])
                return false;
    return true;
}

void cann_find_adder(struct cann *cann)
{
    struct cann_machine *m = &cann->machine;
    struct cann_adder *a = &m->adder;
    const struct hardware *hw = m->hw;
    int memory = hw->paths[m->store].destination;
    bool casts = m->out != m->accumulator;
    *a = (struct cann_adder){.ub = hardware_buffer(hw, "ub", 2),
                             .add = hardware_operation(hw, "vadd", 4),
                             .cast = casts ? hardware_operation(hw, "cast", 4) : -1};
    a->load = a->ub < 0 ? -1 : hardware_path(hw, memory, a->ub);
    a->store = a->ub < 0 ? -1 : hardware_path(hw, a->ub, memory);
    if (a->load < 0 || a->store < 0 || a->add < 0 ||
        (casts && (a->cast < 0 || m->accumulator != DTYPE_F32)))
        return;
    a->load_price = hardware_move_price(hw, a->load, m->accumulator, m->accumulator);
    a->store_price = hardware_move_price(hw, a->store, m->out, m->out);
    a->part_price = hardware_move_price(hw, m->store, m->accumulator, m->accumulator);
    a->add_price = hardware_operation_price(hw, a->add, m->accumulator);
    a->cast_price = casts ? hardware_operation_price(hw, a->cast, m->accumulator) : -1;
    a->in = hw->paths[a->load].pipe;
    a->vector = hw->prices[a->add_price].pipe;
    a->out = hw->paths[a->store].pipe;
    a->exists = a->part_price >= 0 && pipes_differ(m, a);
}

/* ---- what is split -------------------------------------------------------------------------- */

enum cann_operand cann_stored(int64_t parts)
{
    return parts > 1 ? CANN_PART : CANN_C;
}

int cann_store_price(const struct cann *cann, int64_t parts)
{
    return parts > 1 ? cann->machine.adder.part_price : cann->machine.store_price;
}

static int64_t elements_of_c(const struct cann *cann)
{
    return product_of(product_of(cann->size[CANN_BATCH], cann->size[CANN_M]), cann->size[CANN_N]);
}

int64_t cann_workspace_bytes(const struct cann *cann, int64_t parts)
{
    int64_t part = product_of(elements_of_c(cann), cann->machine.accumulator_bytes);
    return parts > 1 ? product_of(part, parts) : 0;
}

/* Elements that a vector core adds up at once: in whole rows of the matrix unit's block, so that
 * moves begin where the buffer is aligned. */
static int64_t pass_of(const struct cann *cann, int64_t parts)
{
    const struct cann_machine *m = &cann->machine;
    int64_t bytes = parts * m->accumulator_bytes + (m->adder.cast >= 0 ? m->out_bytes : 0);
    return capacity_of(m->hw, m->adder.ub) / bytes / m->block_mn * m->block_mn;
}

/* In the space, by a chip that can add up so many, and no more of them than take the bytes of A and
 * B: what is stored and loaded again for them is more than the operands then. */
bool cann_is_split(const struct cann *cann, int64_t split)
{
    if (split == 1)
        return true;
    return cann->machine.adder.exists && split <= cann->most_parts &&
           cann_parts(cann, split) == split && pass_of(cann, split) > 0 &&
           (double)cann_workspace_bytes(cann, split) <= cann_operand_bytes(cann);
}

/* ---- the library's kernel ------------------------------------------------------------------- */

/* MatMulV3's kernel for `tilingEnable` 3 (Huawei's ops-nn, mat_mul_deterministic_splitk_kernel.h,
 * 2025) is what reads parts of k in a TCubeTiling. All its cores work at one block after the other;
 * its L0 tiles are its own, whatever baseM, baseN and baseK say, and it adds up rows in FP32. */
void cann_take_library_parts(struct cann *cann)
{
    const struct cann_machine *m = &cann->machine;
    if (m->accumulator != DTYPE_F32 || cann->layout[CANN_C].unit != 1 || cann->size[CANN_BATCH] > 1)
        cann->most_parts = 1;
    cann->parts_tile[CANN_M] = cann->parts_tile[CANN_N] = CANN_LIBRARY_MN;
    cann->parts_tile[CANN_K] = CANN_LIBRARY_K_BYTES / m->type_bytes;
}

bool cann_is_parts_block(const struct cann *cann, int64_t parts, int64_t m, int64_t n)
{
    return parts == 1 || !cann->tcube || (m == cann->size[CANN_M] && n == cann->size[CANN_N]);
}

bool cann_is_parts_tile(const struct cann *cann, int64_t parts, enum cann_direction direction,
                        int64_t size, int64_t base)
{
    int64_t tile = parts == 1 ? 0 : cann->parts_tile[direction];
    return tile == 0 || base == least_of(tile, size);
}

int64_t cann_laid_out(const struct cann *cann, int64_t parts, enum cann_direction direction,
                      int64_t elements, int64_t base)
{
    int64_t tile = parts == 1 ? 0 : cann->parts_tile[direction];
    return base < tile ? product_of(divide_up(elements, base), tile) : elements;
}

/* ---- adding up ------------------------------------------------------------------------------ */

static uint32_t all_pipes(const struct cann_machine *m)
{
    return 1u << m->mte2 | 1u << m->mte1 | 1u << m->matrix | 1u << m->fixp | 1u << m->adder.in |
           1u << m->adder.vector | 1u << m->adder.out;
}

struct cann_reduction cann_reduction_of(const struct cann *cann, int64_t parts, int cores)
{
    const struct cann_machine *m = &cann->machine;
    int64_t workers = product_of(cores, hardware_in_step(m->hw, all_pipes(m), m->adder.vector));
    int64_t share = round_up(divide_up(elements_of_c(cann), workers), m->block_mn);
    return (struct cann_reduction){share, least_of(share, pass_of(cann, parts))};
}

/* Pieces begin at multiples of this. */
static int64_t piece_alignment(const struct cann *cann, const struct cann_reduction *r)
{
    int64_t bits = (r->share | r->pass) * cann->machine.accumulator_bytes | 512;
    return bits & -bits;
}

static void put_vector(struct cann_emitter *w, int operation, int64_t elements, int64_t from,
                       int64_t with, int64_t to)
{
    const struct cann_machine *m = w->machine;
    bool casts = operation == m->adder.cast;
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_VECTOR,
                                         .what = (int16_t)operation,
                                         .elements = elements,
                                         .type = (uint8_t)m->accumulator,
                                         .to_type = (uint8_t)(casts ? m->out : m->accumulator)});
    emit_operand(&w->emit, OPERAND_SRC, m->adder.ub, from);
    if (!casts)
        emit_operand(&w->emit, OPERAND_SRC2, m->adder.ub, with);
    emit_operand(&w->emit, OPERAND_DST, m->adder.ub, to);
}

/* Halves: the upper half of the parts is added to the lower one, of an odd number all but the part
 * in the middle; that many are left. */
static void add_halves(struct cann_emitter *w, int64_t parts, int64_t elements)
{
    int64_t bytes = elements * w->machine->accumulator_bytes;
    for (int64_t half; parts > 1; parts -= half) {
        half = parts / 2;
        put_vector(w, w->machine->adder.add, half * elements, 0, (parts - half) * bytes, 0);
    }
}

static void add_pass(struct cann_emitter *w, const struct cann_reduction *r, int64_t elements)
{
    const struct cann_machine *m = w->machine;
    const struct cann_adder *a = &m->adder;
    int64_t parts = w->plan->parts, all = parts * elements * m->accumulator_bytes;
    emit_wait(&w->emit, a->out, a->in, 0);
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                         .what = (int16_t)a->load,
                                         .bytes = all,
                                         .bursts = parts,
                                         .align_bytes = piece_alignment(w->cann, r),
                                         .type = (uint8_t)m->accumulator,
                                         .to_type = (uint8_t)m->accumulator});
    emit_operand(&w->emit, OPERAND_SRC, m->hw->paths[a->load].source, 0);
    emit_operand(&w->emit, OPERAND_DST, a->ub, 0);
    emit_set(&w->emit, a->in, a->vector, 0);
    emit_wait(&w->emit, a->in, a->vector, 0);
    add_halves(w, parts, elements);
    if (a->cast >= 0)
        put_vector(w, a->cast, elements, 0, 0, all);
    emit_set(&w->emit, a->vector, a->out, 0);
    emit_wait(&w->emit, a->vector, a->out, 0);
    emit_move(&w->emit, a->store, elements * m->out_bytes, m->out, m->out);
    emit_operand(&w->emit, OPERAND_SRC, a->ub, a->cast >= 0 ? all : 0);
    emit_set(&w->emit, a->out, a->in, 0);
}

/* All cores' stores: cores run in step, so that each one's flag stands for those of all. */
void cann_add_parts(struct cann_emitter *w)
{
    const struct cann_adder *a = &w->machine->adder;
    struct cann_reduction r = cann_reduction_of(w->cann, w->plan->parts, w->plan->cores);
    int64_t passes = r.share / r.pass;
    emit_set(&w->emit, w->machine->fixp, a->in, 0);
    emit_wait(&w->emit, w->machine->fixp, a->in, 0);
    emit_set(&w->emit, a->out, a->in, 0);
    if (passes > 1)
        emit_loop(&w->emit, "r", passes);
    add_pass(w, &r, r.pass);
    if (passes > 1)
        emit_end(&w->emit);
    if (r.share % r.pass)
        add_pass(w, &r, r.share % r.pass);
    emit_wait(&w->emit, a->out, a->in, 0);
}

/* ---- counted -------------------------------------------------------------------------------- */

static int64_t repeats_of(const struct cann *cann, int64_t elements)
{
    const struct cann_machine *m = &cann->machine;
    return divide_up(elements * m->accumulator_bytes, m->hw->vector_repeat_bytes) - 1;
}

static void put_pass(const struct cann *cann, const struct cann_reduction *r, int64_t parts,
                     int64_t elements, double times, struct work *work)
{
    const struct cann_machine *m = &cann->machine;
    struct cann_move load = {parts * elements * m->accumulator_bytes, parts,
                             piece_alignment(cann, r), 0};
    struct cann_move store = {elements * m->out_bytes, 1, 0, 0};
    if (times == 0 || elements == 0)
        return;
    cann_add_moves(cann, work, ADD_LOAD, m->adder.load_price, times, &load);
    for (int64_t half; parts > 1; parts -= half) {
        half = parts / 2;
        work->instructions[ADD_UP] += times;
        work->units[ADD_UP] += times * (double)repeats_of(cann, half * elements);
    }
    if (m->adder.cast >= 0) {
        work->instructions[ADD_CAST] += times;
        work->units[ADD_CAST] += times * (double)repeats_of(cann, elements);
    }
    cann_add_moves(cann, work, ADD_STORE, m->adder.store_price, times, &store);
}

unsigned cann_put_reduction(const struct cann *cann, int64_t parts, int cores, struct work *work)
{
    const struct cann_machine *m = &cann->machine;
    if (parts == 1)
        return 0;
    struct cann_reduction r = cann_reduction_of(cann, parts, cores);
    int64_t passes = r.share / r.pass;
    put_pass(cann, &r, parts, r.pass, (double)passes, work);
    put_pass(cann, &r, parts, r.share % r.pass, 1, work);
    work->burst_fs[END_WAIT_STORE] = (double)hardware_flag_fs(m->hw, m->fixp, m->adder.in);
    return SPLIT_PARTS;
}
