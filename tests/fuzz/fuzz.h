/* The readers of what others write, as targets of a fuzzer: whatever a text holds, a reader answers
 * with a value that keeps its promises or with one line that names the file.
 *
 * A target is a file NAME.c here, its line below, its row in fuzz.c and its corpus in NAME/.
 * tests/whole/test_fuzz.c plays the corpora and changed copies of them in every test run;
 * tools/fuzz runs libFuzzer on a target for as long as asked. */
#ifndef AUTOTUNE_TESTS_FUZZ_FUZZ_H
#define AUTOTUNE_TESTS_FUZZ_FUZZ_H

#include "core/hardware.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the file; aborts when the reader breaks a promise. */
typedef void fuzz_reader(const char *file);

struct fuzz_target {
    const char *name;   /* and its folder in tests/fuzz/ */
    const char *suffix; /* of the file it reads */
    fuzz_reader *read;
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a row of NULL */

fuzz_reader fuzz_read_description, fuzz_read_program, fuzz_read_bank, fuzz_read_curves,
    fuzz_read_sgemm_table, fuzz_read_results, fuzz_read_sweep, fuzz_read_profile, fuzz_read_answer,
    fuzz_read_slurm, fuzz_read_command, fuzz_read_kernel, fuzz_read_lowering, fuzz_read_array,
    fuzz_read_correction, fuzz_read_network, fuzz_read_graph, fuzz_read_shape_range;

const struct fuzz_target *fuzz_target_find(const char *name);

/* Gives the target a file of these bytes. */
void fuzz_play(const struct fuzz_target *target, const uint8_t *bytes, size_t count);

/* ------------------------------------------------------------------ for the targets */

/* Aborts and says what was promised. */
void fuzz_require(bool kept, const char *what);
void fuzz_require_ok(enum status status, const struct error *error);

/* A refusal is one line, and says where. */
void fuzz_require_line(enum status status, const struct error *error);

/* It is JSON, and so has no number that is none. */
void fuzz_require_json(const char *text, size_t length);

/* It is C: comments, texts and brackets end where they should; its lines that begin an entry. */
int fuzz_require_c(const char *text);

/* The name of a scratch file of this process that ends in `suffix`; the caller removes it. */
enum { FUZZ_PATH_SIZE = 64 };
const char *fuzz_path(const char *suffix, char path[FUZZ_PATH_SIZE]);
void fuzz_write(const char *path, const void *bytes, size_t count);

/* The file as a text, to be freed; *length bytes and a 0. */
char *fuzz_text(const char *file, size_t *length);

/* A shipped description, by name; *hw is loaded by the first call and kept. */
const struct hardware *fuzz_chip(const char *name, struct hardware *hw);

/* Runs a command of cli/ in a process and an empty folder of its own. */
struct fuzz_answer {
    int status;       /* that it exits with; -1: it was stopped, as asked too much */
    char *out, *said; /* owned: standard output and error */
    size_t out_length, said_length;
};
void fuzz_run(int (*command)(int argc, char **argv), int argc, char **argv,
              struct fuzz_answer *answer);
void fuzz_answer_clear(struct fuzz_answer *answer);

#endif
