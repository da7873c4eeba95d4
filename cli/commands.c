/* The commands, in the order in which `autotune --help` lists them. */
#include "cli/commands.h"

const struct command commands[] = {
    {"tune", "find the fastest tiling (the main job: the word may be left out)", cmd_tune},
    {"program", "print the kernel program of a tiling", cmd_program},
    {"run", "run a kernel's text on numbers", cmd_run},
    {"simulate", "play a program and say how long it takes", cmd_simulate},
    {"check", "find hazards, double sets, deadlocks and overflows in a program", cmd_check},
    {"analyse", "say what limits a program, or the kernels of a profile", cmd_analyse},
    {"advise", "say what to change in a program, and what that would save", cmd_advise},
    {"explain", "say why a tiling is illegal, and the nearest legal one", cmd_explain},
    {"evaluate", "predict a bank of measured kernels and compare", cmd_evaluate},
    {"reproduce", "recompute the papers' numbers, side by side", cmd_reproduce},
    {"calibrate", "measure this machine, or fit a description to measurements", cmd_calibrate},
    {"probe", "find out what a chip does from the times of small programs", cmd_probe},
    {"validate", "run tilings on this machine and compare with the model", cmd_validate},
    {"sweep", "tune many shapes and chips from a file, and keep what is found", cmd_sweep},
    {"merge", "join the stores of a sweep's shards", cmd_merge},
    {"network", "predict the operators of a network's step, and rank what takes most", cmd_network},
    {"table", "write the best tilings of a store as a table that a library loads", cmd_table},
    {"store", "look into a store of results, compare, export, import, tidy up", cmd_store},
    {"kernel", "write a kernel's text to begin with", cmd_kernel},
    {"list", "list operators, kernels, hardware, spaces, strategies, formats", cmd_list},
    {NULL, NULL, NULL},
};
