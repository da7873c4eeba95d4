/* Kernels' texts by name, each read once and made an operator: many jobs are about few kernels.
 *
 *   kernels_open(folders, &kernels, &error)
 *   kernels_get(kernels, "softmax_rows", false, &op, &error)     op stays until all are closed
 *   kernels_close(kernels)
 *
 * A name with a '/', one that ends in ".kernel", one that is a file, and "-" (the standard input)
 * say where the text is. Any other is NAME.kernel of the shipped folder, then of `folders`, then of
 * the user's own; such a kernel is called as its file is, and as no operator. For a chip whose cube
 * and vector cores are apart (`apart`, hardware_cores_apart) split/NAME.kernel of each folder is
 * looked for first; it has the sizes of the other.
 * May be used by several threads. */
#ifndef AUTOTUNE_JOBS_TUNE_KERNELS_H
#define AUTOTUNE_JOBS_TUNE_KERNELS_H

#include "core/operator.h"

struct kernels;

/* `folders`, separated by colons, or NULL; copied. */
enum status kernels_open(const char *folders, struct kernels **kernels, struct error *error);
void kernels_close(struct kernels *kernels);

/* STATUS_INVALID for a name that there is not (the text lists those there are) and for a text that
 * is no kernel, "file:line:column: …"; STATUS_IO. */
enum status kernels_get(struct kernels *kernels, const char *name, bool apart,
                        const struct operator** op, struct error *error);

/* One that was read, by its fingerprint, or NULL. */
const struct operator* kernels_find(const struct kernels *kernels, const char *fingerprint);

/* Calls visit(context, file) for every file that a kernel was read from so far. */
void kernels_each_file(const struct kernels *kernels,
                       void (*visit)(void *context, const char *file), void *context);

/* Calls visit for every kernel that a name finds, folder by folder, in the order of names; `apart`
 * is its file for chips whose cube and vector cores are apart, or NULL. */
typedef void kernel_visitor(void *context, const char *name, const char *file, const char *apart);
enum status kernels_each(const char *folders, kernel_visitor *visit, void *context,
                         struct error *error);

#endif
