/* How many cases a property test tries: all of them, or where AUTOTUNE_SLOW asks for less work
 * (sanitizers, emulators) a twentieth. */
#ifndef AUTOTUNE_TESTS_CASES_H
#define AUTOTUNE_TESTS_CASES_H

/* 1 or 20. */
int test_thinning(void);

/* `all` or a twentieth of them, and at least one. */
int test_cases(int all);

#endif
