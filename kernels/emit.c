/* Appends instructions to programs. All instructions pass emit(), which does nothing after the
 * first error. Below it stand the look-ups that kernels share: what a description lacks is said in
 * one sentence, with the kernel that needs it. */
#include "kernels/emit.h"

#include <string.h>

enum { LOOK_EVERY = 1024 }; /* instructions, between two looks at the time; a power of two */

void emit(struct emitter *e, const struct instruction *in)
{
    if (e->status == STATUS_OK && (++e->turns & (LOOK_EVERY - 1)) == 0 && stop_due(e->stop))
        e->status = error_set(e->error, STATUS_STOPPED, "stopped");
    if (e->status == STATUS_OK)
        e->status = program_add(e->program, in, e->error);
}

static void emit_flag(struct emitter *e, enum instruction_kind kind, int from, int to, int reg)
{
    emit(e,
         &(struct instruction){
             .kind = (uint8_t)kind, .from = (int8_t)from, .to = (int8_t)to, .flag = (uint8_t)reg});
}

void emit_set(struct emitter *e, int from, int to, int reg)
{
    emit_flag(e, INSTRUCTION_SET, from, to, reg);
}

void emit_wait(struct emitter *e, int from, int to, int reg)
{
    emit_flag(e, INSTRUCTION_WAIT, from, to, reg);
}

void emit_move(struct emitter *e, int path, int64_t bytes, enum dtype from, enum dtype to)
{
    emit(e, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                  .what = (int16_t)path,
                                  .bytes = bytes,
                                  .type = (uint8_t)from,
                                  .to_type = (uint8_t)to});
}

void emit_matrix(struct emitter *e, enum dtype type, int64_t m, int64_t k, int64_t n,
                 bool accumulate)
{
    emit(e, &(struct instruction){.kind = INSTRUCTION_MATRIX,
                                  .type = (uint8_t)type,
                                  .m = (int32_t)m,
                                  .k = (int32_t)k,
                                  .n = (int32_t)n,
                                  .accumulate = accumulate});
}

void emit_vector(struct emitter *e, int operation, enum dtype type, int64_t elements)
{
    emit(e, &(struct instruction){.kind = INSTRUCTION_VECTOR,
                                  .what = (int16_t)operation,
                                  .type = (uint8_t)type,
                                  .to_type = (uint8_t)type,
                                  .elements = elements});
}

void emit_loop(struct emitter *e, const char *name, int64_t count)
{
    struct instruction in = {.kind = INSTRUCTION_LOOP, .count = count};
    strncpy(in.name, name, sizeof in.name - 1);
    emit(e, &in);
    e->depth++;
}

void emit_end(struct emitter *e)
{
    e->depth--;
    emit(e, &(struct instruction){.kind = INSTRUCTION_END});
}

void emit_region(struct emitter *e, const struct region *region)
{
    if (e->status == STATUS_OK)
        e->status = program_add_region(e->program, region, e->error);
}

void emit_operand(struct emitter *e, enum operand_role role, int buffer, int64_t offset)
{
    emit_region(e, &(struct region){
                       .role = (uint8_t)role, .buffer = (int8_t)buffer, .offset_bytes = offset});
}

void emit_operand_in_loop(struct emitter *e, enum operand_role role, int buffer, int64_t offset,
                          int64_t stride)
{
    struct region region = {
        .role = (uint8_t)role, .buffer = (int8_t)buffer, .offset_bytes = offset};
    if (e->depth > 0)
        region.loop_stride_bytes[e->depth - 1] = stride;
    emit_region(e, &region);
}

enum status emit_close(struct emitter *e)
{
    return e->status == STATUS_OK ? program_close(e->program, "(generated program)", e->error)
                                  : e->status;
}

enum status machine_buffers(const struct hardware *hw, const char *who,
                            const struct chip_buffer rows[], struct error *error)
{
    for (; rows->name; rows++) {
        *rows->buffer = hardware_buffer(hw, rows->name, (int)strlen(rows->name));
        if (*rows->buffer < 0)
            return error_set(error, STATUS_INVALID,
                             "%s needs a buffer '%s'; the description of %s has none", who,
                             rows->name, hw->name);
    }
    return STATUS_OK;
}

/* Is it a path between the two sides of a chip whose cube and vector cores are apart? */
static bool joins_cores(const struct hardware *hw, int source, int destination)
{
    int ub = hardware_buffer(hw, "ub", 2);
    int other = source == ub ? destination : source;
    return (source == ub || destination == ub) && hw->buffers[other].capacity_bytes > 0 &&
           hardware_cores_apart(hw);
}

enum status machine_path(const struct hardware *hw, const char *who, int source, int destination,
                         enum dtype from, enum dtype to, int *path, int *price, struct error *error)
{
    *path = hardware_path(hw, source, destination);
    *price = *path < 0 ? -1 : hardware_move_price(hw, *path, from, to);
    if (*price >= 0)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "%s needs a path %s->%s%s%s%s%s; %s has %s", who,
                     hw->buffers[source].name, hw->buffers[destination].name,
                     from != to ? " with cast " : "", from != to ? dtype_name(from) : "",
                     from != to ? ":" : "", from != to ? dtype_name(to) : "", hw->name,
                     *path >= 0 ? "the path, but its description lacks the price of this, an entry "
                                  "of the path's `casts`"
                     : joins_cores(hw, source, destination)
                         ? "cube and vector cores apart, and none between their buffers"
                         : "none");
}

enum status machine_paths(const struct hardware *hw, const char *who, const struct chip_path rows[],
                          struct error *error)
{
    for (int unwanted; rows->path; rows++) {
        TRY(machine_path(hw, who, rows->source, rows->destination, rows->from, rows->to, rows->path,
                         rows->price ? rows->price : &unwanted, error));
        *(rows->pipe ? rows->pipe : &unwanted) = hw->paths[*rows->path].pipe;
    }
    return STATUS_OK;
}

enum status machine_operation(const struct hardware *hw, const char *who, const char *name,
                              int *operation, struct error *error)
{
    *operation = hardware_operation(hw, name, (int)strlen(name));
    if (*operation >= 0)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s needs the operation '%s'; the description of %s has none", who, name,
                     hw->name);
}

enum status machine_matrix(const struct hardware *hw, const char *who, enum dtype type,
                           const struct matrix_type **matrix, struct error *error)
{
    *matrix = hardware_matrix_type(hw, type);
    if (*matrix)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s in %s: the description of %s lacks the price of this type, an entry of "
                     "`matrix` with type = \"%s\"; add one to a copy of %.200s, docs/hardware.md "
                     "says how",
                     who, dtype_name(type), hw->name, dtype_name(type), hw->file);
}

enum status machine_squares(const struct hardware *hw, const char *who, enum dtype type,
                            const struct matrix_type **matrix, struct error *error)
{
    enum status status = machine_matrix(hw, who, type, matrix, error);
    const struct matrix_type *m = *matrix;
    if (status != STATUS_OK || !m || m->block_m == m->block_n)
        return status;
    return error_set(error, STATUS_INVALID,
                     "%s needs square blocks of C; those of %s in %s are %dx%d", who, hw->name,
                     dtype_name(type), m->block_m, m->block_n);
}

enum status machine_cubes(const struct hardware *hw, const char *who, enum dtype type,
                          const struct matrix_type **matrix, struct error *error)
{
    enum status status = machine_matrix(hw, who, type, matrix, error);
    const struct matrix_type *m = *matrix;
    if (status != STATUS_OK || !m)
        return status;
    if (m->block_m == m->block_n && m->block_m == m->block_k)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s needs cubic blocks of the matrix unit; those of %s in %s are %dx%dx%d",
                     who, hw->name, dtype_name(type), m->block_m, m->block_k, m->block_n);
}

enum status machine_pipes_differ(const struct hardware *hw, const char *who, const char *roles,
                                 const int pipes[], int count, struct error *error)
{
    unsigned seen = 0;
    for (int i = 0; i < count; i++)
        seen |= 1u << pipes[i];
    if (__builtin_popcount(seen) == count)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s needs different pipes to %s; on %s some of them share one", who, roles,
                     hw->name);
}
