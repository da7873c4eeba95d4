#include "cli/commands.h"
int cmd_table(int argc, char **argv) { (void)argc, (void)argv; return 2; }
