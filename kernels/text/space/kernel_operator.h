/* An operator made of a kernel's text: its sizes are the text's, those with defaults have options,
 * and its one space is `tile`. */
#ifndef AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_OPERATOR_H
#define AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_OPERATOR_H

#include "core/operator.h"
#include "kernels/text/kernel_text.h"

/* Of a file ("-": the standard input) or of a text; errors as kernel_text_read and _parse. The
 * caller frees *op, after all problems and spaces of it. */
enum status kernel_operator_read(const char *file, const struct operator** op, struct error *error);
enum status kernel_operator_parse(const char *file, const char *text, size_t length,
                                  const struct operator** op, struct error *error);
void kernel_operator_free(const struct operator* op);

/* The text that it was made of; NULL of an operator in C. */
const struct kernel_text *kernel_operator_text(const struct operator* op);

#endif
