/* For tests of the hazard check on texts: what it finds, as "kind line,line; kind line" in the
 * order in which it is reported. expect_check_start loads the Ascend 310; a suite's .init and
 * .fini. */
#ifndef AUTOTUNE_TESTS_EXPECT_CHECK_H
#define AUTOTUNE_TESTS_EXPECT_CHECK_H

#include "analysis/check/check.h"

void expect_check_start(void);
void expect_check_end(void);

void expect_parse(const char *text, struct program *program);

/* The findings of a program, or of a text, are these; those of alignment and superfluous
 * synchronisation left aside. */
void expect_program(const struct program *program, const char *findings);
void expect_findings(const char *text, const char *findings);

/* All findings of a text. */
void expect_all(const char *text, const char *findings);

/* The text of finding number `i` contains `part`. */
void expect_text(const char *text, size_t i, const char *part);

/* The check refuses: STATUS_TOO_LARGE, with a message that contains `part`. */
void expect_too_large(const char *text, const char *part);

#define LOAD(at)   "MTE2 gm->l1 bytes=8192 dst=l1:" at "\n"
#define FEED(at)   "MTE1 l1->l0a bytes=8192 src=l1:" at " dst=l0a:0\n"
#define SET(a, b)  "set " a " " b " 0\n"
#define WAIT(a, b) "wait " a " " b " 0\n"

#endif
