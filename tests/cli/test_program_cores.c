/* On how many cores a program runs where none are asked for: on all that have what it uses. */
#include "cli/options.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MOST_BUFFERS = 3 };

/* Of a chip whose cores have two vector cores each. Behind a program's regions stands one of no
 * buffer, which is not the program's. */
Test(program_cores, all_that_have_what_a_program_uses)
{
    static const struct {
        const char *buffers[MOST_BUFFERS];
        int cores;
    } cases[] = {
        {{NULL}, 24}, {{"ub"}, 48},       {{"l1"}, 24},       {{"gm", "ub"}, 48},
        {{"gm"}, 24}, {{"ub", "l1"}, 24}, {{"l1", "ub"}, 24}, {{"gm", "l1", "ub"}, 24},
    };
    struct hardware hw;
    machine_load_named(&hw, "ascend910b2", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct common common = {.cores = 0};
        struct region regions[MOST_BUFFERS + 1] = {0};
        struct program program = {.hw = &hw, .regions = regions};
        const char *const *name = cases[i].buffers;
        for (int r = 0; r < MOST_BUFFERS && name[r]; r++, program.region_count++)
            regions[r].buffer = (int8_t)hardware_buffer(&hw, name[r], (int)strlen(name[r]));
        regions[program.region_count].buffer = -1;
        cr_expect_eq(cli_program_cores(&common, &program), cases[i].cores, "%zu", i);
        common.cores = 7;
        cr_expect_eq(cli_program_cores(&common, &program), 7);
    }
    hardware_clear(&hw);
}
