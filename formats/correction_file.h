/* A learned correction as a JSON file beside the description of its chip: what it is for, what it
 * was learned from, how well it does, its features and its forests, a tree a line. The same
 * correction is the same file, byte for byte, and says the same after it was read. */
#ifndef AUTOTUNE_FORMATS_CORRECTION_FILE_H
#define AUTOTUNE_FORMATS_CORRECTION_FILE_H

#include "core/correction.h"
#include "core/status.h"

/* NAME.correction.json for the description NAME.cfg or NAME.ini; false where it does not fit. */
#define CORRECTION_SUFFIX ".correction.json"
bool correction_file_name(const char *description, char *file, size_t size);

/* NAME.network.json likewise: what a network's operators take, as laws and their correction. */
#define NETWORK_SUFFIX ".network.json"
bool network_file_name(const char *description, char *file, size_t size);

/* Sets *text to the file's content, owned by the caller, *length bytes and a 0. */
enum status correction_text(const struct correction *correction, char **text, size_t *length,
                            struct error *error);

/* Reads a file; the caller clears *correction, which is empty after a failure. Everything in it is
 * checked: whatever was read can be applied. STATUS_IO, or STATUS_INVALID with the member that
 * breaks a rule, what it is and what was expected. */
enum status correction_read(const char *file, struct correction *correction, struct error *error);

#endif
