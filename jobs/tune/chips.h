/* Chips by name and changes, each loaded once: many jobs are about few chips.
 *
 *   chips_open(folders, &chips, &error)
 *   chips_get(chips, "ascend310", changes, count, &chip, &error) … chips_put(chips, chip)
 *   chips_close(chips)          after the last of them is put back
 *
 * May be used by several threads. */
#ifndef AUTOTUNE_JOBS_TUNE_CHIPS_H
#define AUTOTUNE_JOBS_TUNE_CHIPS_H

#include "hardware/fingerprint.h"
#include "hardware/load.h"

#define CHIP_DEFAULT "ascend310"

struct chip {
    struct hardware hw;
    char fingerprint[FINGERPRINT_SIZE];
    int users;   /* of chips.c, as what follows */
    char *asked; /* name and changes, a line each */
    struct chip *next;
};

struct chips;

/* `folders` of platform files, separated by colons, or NULL; copied. */
enum status chips_open(const char *folders, struct chips **chips, struct error *error);
const char *chips_folders(const struct chips *chips);

/* The chip stays until it is put back, and then as long as there is room. Errors as
 * hardware_load_from. */
enum status chips_get(struct chips *chips, const char *name,
                      const struct hardware_overrides *changes, const struct chip **chip,
                      struct error *error);
void chips_put(struct chips *chips, const struct chip *chip);
void chips_close(struct chips *chips);

/* Calls visit(context, file) for every file that the descriptions asked for so far come from. */
void chips_each_file(const struct chips *chips, void (*visit)(void *context, const char *file),
                     void *context);

/* How many cores work where `asked` for are, of `most`: 0 for all. STATUS_INVALID: the chip has
 * fewer. */
enum status chip_cores(const struct hardware *hw, int most, int64_t asked, int *cores,
                       struct error *error);

#endif
