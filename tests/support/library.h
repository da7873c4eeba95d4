/* The texts that the tool ships. */
#ifndef AUTOTUNE_TESTS_LIBRARY_H
#define AUTOTUNE_TESTS_LIBRARY_H

#define LIBRARY SOURCE_DIR "/kernels/library"

/* Calls visit for the name of each text, that of its file below LIBRARY without its ending: "exp",
 * "split/flash_attention". Returns how many there are. */
int library_each(void (*visit)(const char *name));

/* What the kernel is called there. */
const char *library_kernel(const char *name);

#endif
