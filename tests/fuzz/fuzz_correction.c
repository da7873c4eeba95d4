/* Learned corrections: what was read can be applied, and is the same when it is written and read
 * again. */
#include "formats/correction_file.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void apply(const struct correction *correction)
{
    struct corrected corrected;
    struct features features = {.count = 2, .name = {"time", "other"}, .value = {1e300, -1}};
    correction_apply(correction, &features, 1000, &corrected);
    fuzz_require(corrected.low_ns <= corrected.corrected_ns &&
                     corrected.corrected_ns <= corrected.high_ns && corrected.outside >= 0,
                 "the middle lies within");
    correction_has_seen(correction, 17);
}

void fuzz_read_correction(const char *file)
{
    struct correction correction, again;
    struct error error = {0};
    char *text, *second, path[FUZZ_PATH_SIZE];
    size_t length, second_length;
    enum status status = correction_read(file, &correction, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    apply(&correction);
    fuzz_require_ok(correction_text(&correction, &text, &length, &error), &error);
    fuzz_write(fuzz_path(".again", path), text, length);
    fuzz_require_ok(correction_read(path, &again, &error), &error);
    fuzz_require_ok(correction_text(&again, &second, &second_length, &error), &error);
    fuzz_require(length == second_length && memcmp(text, second, length) == 0, "it comes back");
    unlink(path);
    free(text);
    free(second);
    correction_clear(&correction);
    correction_clear(&again);
}
