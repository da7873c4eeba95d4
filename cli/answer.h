/* Where an answer goes. A command parses (cli_parse), makes its answer in memory (cli_answer_open …
 * _close) and only then lets it out, so that an error leaves neither half an answer nor half a
 * file. */
#ifndef AUTOTUNE_CLI_ANSWER_H
#define AUTOTUNE_CLI_ANSWER_H

#include "cli/options.h"
#include "formats/text.h"

struct answer {
    FILE *stream;          /* write here */
    enum answer_kind kind; /* by the format, unless it is set before cli_answer_close */
    char *text;
    size_t length;
    const struct common *common;
    struct style style;
    bool is_long;
};

void cli_answer_open(struct answer *answer, const struct common *common);

/* The same of an answer that may be too long for memory: it is kept in a temporary file. */
void cli_answer_open_long(struct answer *answer, const struct common *common);

/* Lets the answer out: to standard output, or to the file, which is replaced as a whole. */
void cli_answer_close(struct answer *answer);

#endif
