#include "tests/support/machine.h"

#include "hardware/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_load(struct hardware *hw, const char *overrides)
{
    machine_load_named(hw, "ascend310", overrides);
}

void machine_load_named(struct hardware *hw, const char *name, const char *overrides)
{
    struct error error;
    const char *texts[32];
    struct hardware_overrides list = {.texts = texts};
    char *copy = strdup(overrides), *state = NULL;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    for (char *text = strtok_r(copy, " ", &state); text && list.count < 32;
         text = strtok_r(NULL, " ", &state))
        texts[list.count++] = text;
    if (hardware_load(name, &list, hw, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    free(copy);
}
