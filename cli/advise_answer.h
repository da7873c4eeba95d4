/* How `autotune advise` writes its answers. */
#ifndef AUTOTUNE_CLI_ADVISE_ANSWER_H
#define AUTOTUNE_CLI_ADVISE_ANSWER_H

#include "analysis/advice/advice.h"
#include "cli/options.h"

enum { ADVICE_MAX_STEPS = 16 };

/* One strategy after another, each applied to the program that the one before left. */
struct advice_step {
    const struct advice_strategy *strategy;
    int64_t before_fs, after_fs;
};

struct advice_chain {
    int count;
    struct advice_step steps[ADVICE_MAX_STEPS];
};

/* What was asked. */
struct advise_question {
    const char *file;
    const struct hardware *hw;
    int cores;
};

void advise_write_table(const struct advise_question *question, const struct advices *advices,
                        const struct advice_chain *chain, bool colour, FILE *out);
enum status advise_write_json(const struct advise_question *question, const struct advices *advices,
                              const struct advice_chain *chain, FILE *out, struct error *error);

/* The program after a chain of changes. */
enum status advise_write_program(const struct advise_question *question,
                                 const struct program *program, const struct advice_chain *chain,
                                 FILE *out, struct error *error);
enum status advise_write_program_json(const struct advise_question *question,
                                      const struct program *program,
                                      const struct advice_chain *chain, FILE *out,
                                      struct error *error);

#endif
