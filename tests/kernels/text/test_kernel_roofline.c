/* No tiling of a random kernel takes less than the kernel's roofline, or of one by hand; and its
 * tensors once. */
#include "search/search.h"
#include "tests/kernels/text/odd_kernels.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/machine.h"

#include "kernels/text/space/kernel_space.h"

#include <criterion/criterion.h>
#include <jansson.h>
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

/* Each tensor once, whatever parts of it are read how often; 42 GB/s is the bus. */
Test(kernel_roofline, tensors_once)
{
    static const char text[] = "kernel k\nsize N pad 16\nsize K\ntensor X[K*N] f16, Z[N] f16\n"
                               "for i in N by 16\n  tile x: ub[i] f16\n  tile z: ub[i] f16\n"
                               "  load x <- X[i from begin(i)]\n  load z <- X[i from begin(i)]\n"
                               "  vadd z <- z, x\n  store Z <- z\n";
    static const int64_t given[] = {1600, 3};
    struct hardware hw;
    struct error error;
    struct space space = {.kind = &kernel_space_tile};
    struct search_result result;
    json_t *details = json_object();
    machine_load_named(&hw, "ascend310", "");
    space.hw = &hw;
    cr_assert_eq(kernel_space_parse(&space, "k", text, given, DTYPE_F16, DTYPE_F16, 2, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(search(&space, &(struct search_options){.threads = 1, .top = 1}, &result, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(kernel_details(NULL, &space, &result, NULL, details, &error), STATUS_OK);
    const json_t *roofline = json_object_get(details, "roofline");
    double bytes = 2 * (3 * 1600 + 1600);
    double ns = json_real_value(json_object_get(roofline, "tensors_once_ns"));
    cr_expect_eq(json_integer_value(json_object_get(roofline, "tensors_once_bytes")),
                 (json_int_t)bytes);
    cr_expect_float_eq(ns, bytes / 42, 1e-6 * ns, "%f, expected %f", ns, bytes / 42);
    json_decref(details);
    search_result_clear(&result);
    space.kind->destroy(&space);
    free(space.blocks);
    hardware_clear(&hw);
}

Test(kernel_roofline, no_tiling_beats_it)
{
    unsigned long cases = random_cases(150), rooflines = 0, simulated = 0;
    struct hardware hw;
    machine_load_named(&hw, "ascend310", "");
    random_case_chip(&hw);
    for (unsigned long seed = 1; seed <= cases; seed++) {
        struct random_case *random = random_case_open(seed, &hw);
        bool known;
        if (!random)
            continue;
        simulated += (unsigned long)compare(random, &hw, &known);
        rooflines += known;
        random_case_close(random);
    }
    for (int n = 0; odd_kernels[n]; n++) {
        struct random_case *random = random_case_of(odd_kernels[n], 1, &hw);
        bool known;
        if (!random)
            continue;
        compare(random, &hw, &known);
        random_case_close(random);
    }
    cr_expect(2 * rooflines > cases && simulated > cases, "%lu of %lu have one, %lu simulated",
              rooflines, cases, simulated);
    hardware_clear(&hw);
}
