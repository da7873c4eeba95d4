/* The text form of a program: one instruction a line, `#` or `//` starts a comment.
 *
 *   MTE2 gm->l1 bytes=8192 dst=l1:0        a move: pipe, path, bytes counted at the source
 *   V l0c->ub bytes=8192 cast=f32:f16 …    … that converts on the way
 *   M mmad m=64 k=64 n=32 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=1
 *   V relu elements=4096 type=f16 src=ub:0 dst=ub:0
 *   S branch count=1
 *   set MTE2 MTE1 0 / wait MTE2 MTE1 0 / barrier / barrier MTE1
 *   loop 16 / loop i 16 / end
 *
 * Operands are buffer:offset with offset = constant and multiples of loop indices, as in
 * l1:0+8192*i. A move's `bursts=R` says in how many pieces its bytes lie, and `align=A` that these
 * start at multiples of A bytes. `rows=R stride=B` spreads every operand of the line over R rows
 * that start B bytes apart. The CCE spellings set_flag(PIPE_A, PIPE_B, EVENT_ID0), wait_flag(…) and
 * pipe_barrier(PIPE_ALL) are accepted; names match in any case; a trailing `;` is allowed. */
#ifndef AUTOTUNE_CORE_PROGRAM_TEXT_H
#define AUTOTUNE_CORE_PROGRAM_TEXT_H

#include "core/program.h"

#include <stddef.h>
#include <stdio.h>

/* Parses `length` bytes of text for the given hardware. On failure *program is empty and the
 * error names `file`, the line and what is wrong. */
enum status program_parse(const struct hardware *hw, const char *file, const char *text,
                          size_t length, struct program *program, struct error *error);

/* As program_parse, from a file; "-" is the standard input. */
enum status program_read(const struct hardware *hw, const char *file, struct program *program,
                         struct error *error);

/* The text that a program was read from: an instruction's `line` is its line there, from 1 on. */
struct program_source {
    char *text; /* owned: program_source_clear */
    size_t length;
};

/* As program_read, and keeps the text. On failure both are empty. */
enum status program_read_source(const struct hardware *hw, const char *file,
                                struct program *program, struct program_source *source,
                                struct error *error);
void program_source_clear(struct program_source *source);

/* Prints the program in the form above; parsing that text gives an equal program. STATUS_IO when
 * the stream fails. */
enum status program_print(const struct program *program, FILE *stream, struct error *error);

/* One instruction without indentation or newline, cut to `size`. */
void instruction_print(const struct program *program, int32_t index, char *text, size_t size);

#endif
