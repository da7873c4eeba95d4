/* A kernel's program for one core.
 *
 *   kernel_flags_find(plan, values, &flags, &error);        once a plan
 *   env->values = values; kernel_room_find(plan, env, &room, &error);
 *   kernel_program(plan, &flags, env, &room, NULL, &program, &error);
 *
 * Loops stay loops: rounds are written out only where they differ (a shorter last one; first ones
 * that load, set a sum or hold a flag; what a stage fills and drains), and as many of them stand in
 * a loop's body as copies and registers need to come round. Flags that order nothing new are
 * removed where they may cost time, of programs that are not long; whoever shows a program takes
 * out others, as far as its moment for that goes (analysis/check/oversync.h). */
#ifndef AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_PROGRAM_H
#define AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_PROGRAM_H

#include "kernels/text/program/kernel_flags.h"

/* Appends to the program and closes it; env's values are a core's, its rounds are left anywhere.
 * STATUS_TOO_LARGE beyond what a program may have; STATUS_STOPPED once `stop` says so. */
enum status kernel_program(const struct kernel_plan *plan, const struct kernel_flags *flags,
                           struct kernel_env *env, const struct kernel_room *room,
                           const struct stop *stop, struct program *program, struct error *error);

#endif
