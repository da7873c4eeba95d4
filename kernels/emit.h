/* Writing kernel programs: what all generators share.
 *
 * An emitter appends to a program and remembers the first error, so that a generator reads like
 * the kernel and asks once, at its end:
 *
 *   struct emitter e = {.program = program, .error = error};
 *   emit_loop(&e, "i", 16);
 *   emit_move(&e, path, bytes, DTYPE_F16, DTYPE_F16);
 *   emit_operand(&e, OPERAND_DST, buffer, offset);
 *   emit_end(&e);
 *   return emit_close(&e); */
#ifndef AUTOTUNE_KERNELS_EMIT_H
#define AUTOTUNE_KERNELS_EMIT_H

#include "core/program.h"
#include "core/status.h"
#include "core/stop.h"

struct emitter {
    struct program *program;
    struct error *error;
    enum status status;
    int depth;               /* open loops */
    const struct stop *stop; /* STATUS_STOPPED once it says so; NULL: never */
    unsigned turns;          /* between two looks at it */
};

/* Each appends one instruction; operands follow it. */
void emit(struct emitter *e, const struct instruction *in);
void emit_set(struct emitter *e, int from, int to, int reg);
void emit_wait(struct emitter *e, int from, int to, int reg);
void emit_move(struct emitter *e, int path, int64_t bytes, enum dtype from, enum dtype to);
void emit_matrix(struct emitter *e, enum dtype type, int64_t m, int64_t k, int64_t n,
                 bool accumulate);
void emit_vector(struct emitter *e, int operation, enum dtype type, int64_t elements);
void emit_loop(struct emitter *e, const char *name, int64_t count);
void emit_end(struct emitter *e);

/* Operands of the last instruction. */
void emit_region(struct emitter *e, const struct region *region);
void emit_operand(struct emitter *e, enum operand_role role, int buffer, int64_t offset);
/* …at offset + stride · (index of the innermost open loop). */
void emit_operand_in_loop(struct emitter *e, enum operand_role role, int buffer, int64_t offset,
                          int64_t stride);

/* Closes the program; the first error of all. */
enum status emit_close(struct emitter *e);

/* The places of a chip by name; STATUS_INVALID says what `who` lacks on this chip. Rows end with
 * one of zeros; a price or pipe of NULL is not wanted. */
struct chip_buffer {
    const char *name;
    int *buffer;
};
struct chip_path {
    int source, destination;
    enum dtype from, to;
    int *path, *price, *pipe;
};
enum status machine_buffers(const struct hardware *hw, const char *who,
                            const struct chip_buffer rows[], struct error *error);
enum status machine_paths(const struct hardware *hw, const char *who, const struct chip_path rows[],
                          struct error *error);
enum status machine_path(const struct hardware *hw, const char *who, int source, int destination,
                         enum dtype from, enum dtype to, int *path, int *price,
                         struct error *error);
enum status machine_operation(const struct hardware *hw, const char *who, const char *name,
                              int *operation, struct error *error);

/* What the matrix unit takes for products of this type: no entry is no price, not no unit. */
enum status machine_matrix(const struct hardware *hw, const char *who, enum dtype type,
                           const struct matrix_type **matrix, struct error *error);

/* The same where its blocks have to be square along m and n, or cubes. */
enum status machine_squares(const struct hardware *hw, const char *who, enum dtype type,
                            const struct matrix_type **matrix, struct error *error);
enum status machine_cubes(const struct hardware *hw, const char *who, enum dtype type,
                          const struct matrix_type **matrix, struct error *error);

/* `count` different pipes, which `roles` names: two roles on one would share flag registers. */
enum status machine_pipes_differ(const struct hardware *hw, const char *who, const char *roles,
                                 const int pipes[], int count, struct error *error);

#endif
