/* Entry of libFuzzer, built by tools/fuzz only: the target is named by $AUTOTUNE_FUZZ_TARGET. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fuzz_target *target;
    if (!target) {
        const char *name = getenv("AUTOTUNE_FUZZ_TARGET");
        target = fuzz_target_find(name ? name : "");
        if (!target) {
            fprintf(stderr, "AUTOTUNE_FUZZ_TARGET=%s is no target\n", name ? name : "");
            exit(2);
        }
    }
    fuzz_play(target, data, size);
    return 0;
}
