/* No tiling of a random kernel takes less than the kernel's roofline. */
#include "search/search.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/machine.h"

#include "kernels/text/space/kernel_space.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { TRIES = 20, SIMULATED = 4 };

/* How many tilings of the kernel were simulated; *known: has it a roofline? */
static int compare(const struct random_case *random, const struct hardware *hw, bool *known)
{
    struct space space = {.kind = &kernel_space_tile, .hw = hw};
    struct error error;
    int simulated = 0;
    enum status status = kernel_space_create(&space, &random->kernel, random->given, DTYPE_F16,
                                             DTYPE_F16, hw->cores, &error);
    double roofline_ns = status == STATUS_OK ? kernel_roofline_ns(&space) : 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    gsl_rng_set(rng, random->seed);
    for (int t = 0; status == STATUS_OK && t < TRIES && simulated < SIMULATED; t++) {
        struct tiling tiling;
        struct found found;
        space_tiling(&space, (int64_t)((double)space.candidates * gsl_rng_uniform(rng)), &tiling);
        if (!space.kind->legal(&space, &tiling) ||
            search_simulate(&space, &tiling, &found, &error) != STATUS_OK)
            continue;
        simulated++;
        cr_expect_leq(roofline_ns + (double)hardware_start_fs(hw, 1) / FS_PER_NS,
                      found_ns(&found) * (1 + 1e-12), "%s", random->shown);
    }
    *known = roofline_ns > 0;
    gsl_rng_free(rng);
    space.kind->destroy(&space);
    free(space.blocks);
    return simulated;
}

Test(kernel_roofline, no_tiling_beats_it)
{
    unsigned long cases = random_cases(400), rooflines = 0, simulated = 0;
    struct hardware hw;
    machine_load_named(&hw, "ascend310", "");
    for (unsigned long seed = 1; seed <= cases; seed++) {
        struct random_case *random = random_case_open(seed, &hw);
        bool known;
        if (!random)
            continue;
        simulated += (unsigned long)compare(random, &hw, &known);
        rooflines += known;
        random_case_close(random);
    }
    cr_expect(2 * rooflines > cases && simulated > cases, "%lu of %lu have one, %lu simulated",
              rooflines, cases, simulated);
    hardware_clear(&hw);
}
