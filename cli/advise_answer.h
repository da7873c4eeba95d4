/* How `autotune advise` writes its answers. */
#ifndef AUTOTUNE_CLI_ADVISE_ANSWER_H
#define AUTOTUNE_CLI_ADVISE_ANSWER_H

#include "analysis/advice/advice.h"
#include "analysis/advice/diff.h"
#include "cli/options.h"
#include "formats/text.h"

#include <jansson.h>

enum { ADVICE_MAX_STEPS = 16 };

/* One strategy after another, each applied to the program that the one before left. */
struct advice_step {
    const struct advice_strategy *strategy;
    int64_t before_fs, after_fs, tidied_fs; /* advice.h */
};

struct advice_chain {
    int count;
    struct advice_step steps[ADVICE_MAX_STEPS];
};

/* What was asked. */
struct advise_question {
    const char *file;
    const struct program *program;       /* of the file */
    const struct program_source *source; /* its text */
    int cores;
};

enum status advise_write_table(const struct advise_question *question,
                               const struct advices *advices, const struct advice_chain *chain,
                               const struct style *style, FILE *out, struct error *error);
enum status advise_write_json(const struct advise_question *question, const struct advices *advices,
                              const struct advice_chain *chain, const struct style *style,
                              FILE *out, struct error *error);

/* The text of the file with a chain of changes made, and comments that say which: as it is, as an
 * answer's member, or as what is to be changed in the file. */
typedef enum status advise_changed_writer(const struct advise_question *question,
                                          const struct program *changed,
                                          const struct advice_chain *chain, FILE *out,
                                          struct error *error);
advise_changed_writer advise_write_program, advise_write_program_json, advise_write_program_diff;

#endif
