/* Descriptions of chips, of ours and of CANN: one that is taken is whole. */
#include "hardware/load.h"
#include "tests/fuzz/fuzz.h"

void fuzz_read_description(const char *file)
{
    struct hardware hw;
    struct error error = {0};
    enum status status = hardware_load(file, NULL, &hw, &error);
    fuzz_require_line(status, &error);
    fuzz_require(status == STATUS_OK || !hw.facts, "a refused description holds nothing");
    fuzz_require(status != STATUS_OK || (hw.cores >= 1 && (hw.host || hw.path_count >= 1)),
                 "a description is whole");
    hardware_clear(&hw);
}
