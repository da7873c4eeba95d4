/* The readers of foreign files, as targets of a fuzzer: whatever a file holds, a reader answers
 * with a value that keeps its promises or with one line that names the file.
 *
 * tests/test_fuzz.c plays the committed corpus (tests/fuzz/NAME/) and changed copies of it in every
 * test run; tools/fuzz runs libFuzzer on a target for as long as asked. */
#ifndef AUTOTUNE_TESTS_SUPPORT_FUZZ_H
#define AUTOTUNE_TESTS_SUPPORT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;   /* and its folder in tests/fuzz/ */
    const char *suffix; /* of the file it reads */
    /* Reads the file; aborts when the reader breaks a promise. */
    void (*read)(const char *file);
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a row of NULL */

const struct fuzz_target *fuzz_target_find(const char *name);

/* Gives the target a file of these bytes. */
void fuzz_play(const struct fuzz_target *target, const uint8_t *bytes, size_t count);

#endif
