/* One function a command; each returns the exit status. And what `list` shows, for completion. */
#ifndef AUTOTUNE_CLI_COMMANDS_H
#define AUTOTUNE_CLI_COMMANDS_H

#include "cli/options.h"

#include <jansson.h>

int cmd_tune(int argc, char **argv);
int cmd_program(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_analyse(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_evaluate(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_network(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_store(int argc, char **argv);
int cmd_kernel(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_probe(int argc, char **argv);

/* An array of {"name", "title"}; empty when no list is called by the first `length` bytes of
 * `kind`. Owned by the caller. */
json_t *list_rows(const char *kind, size_t length);

#endif
