/* The space `tile` of a kernel's text on a chip: its axes in the order of the text, then `cores`.
 *
 * Whoever has a text makes such a space in the `create` of a struct operator_space of his own,
 * whose other functions are KERNEL_SPACE. */
#ifndef AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_SPACE_H
#define AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_SPACE_H

#include "core/operator.h"
#include "kernels/text/kernel_text.h"
#include "kernels/text/run/kernel_run.h"

/* `given`: a size for each of the kernel's, in its order. The kernel has to stay; of a text, which
 * ends with a 0, the space makes its own. */
enum status kernel_space_create(struct space *space, const struct kernel_text *kernel,
                                const int64_t given[], enum dtype type, enum dtype result_type,
                                int cores, struct error *error);

enum status kernel_space_parse(struct space *space, const char *file, const char *text,
                               const int64_t given[], enum dtype type, enum dtype result_type,
                               int cores, struct error *error);

/* size_class of struct operator_space, of a size by its number in the text. */
int64_t kernel_size_class(const struct space *space, int size, int64_t value);

/* Members of struct operator_space. kernel_space.c; kernel_legal.c */
void kernel_destroy(struct space *space);
int kernel_cores_used(const struct space *space, const struct tiling *tiling, int part);
void kernel_space_summarise(const struct space *space, const struct tiling *tiling,
                            struct work *work);
enum status kernel_content(const struct space *space, const struct tiling *tiling, bool *sure,
                           struct error *error);
enum status kernel_generate(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error);
extern const char *const kernel_parts[];

/* kernel_roofline.c: 0 where nothing is known; kernel_picture.c: of an
 * illegal tiling there are the tiles and the buffers only, and nothing where its structure cannot
 * be. */
double kernel_roofline_ns(const struct space *space);
enum status kernel_picture(const struct space *space, const struct tiling *tiling,
                           struct json_t *picture, struct error *error);

/* Warnings: steps that are allowed and hardly meant; what the roofline is, and tensors once. */
enum status kernel_details(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, struct json_t *details,
                           struct error *error);

extern const struct operator_boxes kernel_boxes;

bool kernel_possible(const struct space *space, const struct tiling *tiling, int fixed);
bool kernel_is_legal(const struct space *space, const struct tiling *tiling);
int kernel_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);

#define KERNEL_SPACE                                                                               \
    .any_value = true, .destroy = kernel_destroy, .possible = kernel_possible,                     \
    .legal = kernel_is_legal, .violations = kernel_violations, .cores_used = kernel_cores_used,    \
    .summarise = kernel_space_summarise, .parts = kernel_parts, .generate = kernel_generate,       \
    .content = kernel_content, .roofline_ns = kernel_roofline_ns, .numbers = &kernel_numbers,      \
    .picture = kernel_picture, .boxes = &kernel_boxes

/* Of an operator that is nothing but its text (kernel_operator.c). */
extern const struct operator_space kernel_space_tile;

#endif
