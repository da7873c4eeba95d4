/* A program as lines that can be changed: the text of a kernel in an editor.
 *
 *   edit_open(&edit, &program);
 *   edit_insert, edit_delete, or write into edit.lines[i]
 *   edit_program(&edit, &changed, &error);       prices and checks everything anew
 *   edit_close(&edit);
 *
 * A line that stays keeps its number in the text, and one that is put in takes that of the line it
 * comes from, so what is found in a changed program is told in lines of the first one. Lines own
 * no memory. Out of memory is remembered in `failed`: edit_program reports it. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_EDIT_H
#define AUTOTUNE_ANALYSIS_ADVICE_EDIT_H

#include "core/program.h"

enum { EDIT_MAX_LINES = 10000 }; /* each of some hundred changes is tried on all: seconds */

struct edit_line {
    struct instruction in; /* first_region is not used */
    struct region regions[OPERAND_ROLES];
};

struct edit {
    const struct hardware *hw;
    int32_t count;
    int64_t capacity;
    struct edit_line *lines;
    bool failed;
};

/* Takes the lines of a program of at most EDIT_MAX_LINES of them: STATUS_TOO_LARGE. */
enum status edit_open(struct edit *edit, const struct program *program, struct error *error);

/* Another one with the same lines. */
enum status edit_copy(struct edit *edit, const struct edit *from, struct error *error);

void edit_close(struct edit *edit);

/* Puts a line before line `at`. */
void edit_insert(struct edit *edit, int32_t at, const struct edit_line *line);
void edit_delete(struct edit *edit, int32_t at, int32_t count);

/* The line of 'end' that closes the loop of line `loop`; the loop that stands around a line, or
 * -1; how many loops do. */
int32_t edit_end(const struct edit *edit, int32_t loop);
int32_t edit_parent(const struct edit *edit, int32_t at);
int edit_depth(const struct edit *edit, int32_t at);

/* Writes a loop's body twice and halves its count: the second copy does the odd iterations. An
 * iteration that is left over follows the loop. Returns the first line of the second copy; -1 for
 * a loop of fewer than 2. */
int32_t edit_unroll(struct edit *edit, int32_t loop);

/* The operand in a role; NULL when the line has none. */
struct region *edit_operand(struct edit_line *line, enum operand_role role);

/* A closed program of the lines as they are now, which the caller frees (program_clear). On failure
 * *program is empty. */
enum status edit_program(const struct edit *edit, struct program *program, struct error *error);

#endif
