/* See random_case.h. */
#include "tests/kernels/text/random_case.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

unsigned long random_cases(unsigned long usual)
{
    const char *text = getenv("AUTOTUNE_RANDOM_KERNELS");
    return text ? strtoul(text, NULL, 10) : (unsigned long)test_cases((int)usual);
}

static bool fill(struct random_case *random, gsl_rng *rng, const struct hardware *hw,
                 const char *given, enum dtype type, const int64_t *sizes)
{
    char tiling[RANDOM_TILING_SIZE];
    struct error error;
    gsl_rng_set(rng, random->seed);
    random->text = given ? strdup(given) : random_kernel_text(rng);
    cr_assert_eq(
        kernel_text_parse("random", random->text, strlen(random->text), &random->kernel, &error),
        STATUS_OK, "seed %lu: %s\n%s", random->seed, error.text, random->text);
    if (sizes)
        memcpy(random->given, sizes, sizeof random->given);
    else
        random_kernel_sizes(rng, &random->kernel, random->given);
    cr_assert_eq(
        kernel_values_set(&random->values, &random->kernel, hw, type, random->given, &error),
        STATUS_OK, "%s", error.text);
    random->cores = 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)hw->cores);
    if (!random_kernel_tiling(rng, random->cores, &random->values, &random->used))
        return false;
    snprintf(random->shown, sizeof random->shown, "seed %lu, %d cores, %s\n%s", random->seed,
             random->cores, random_kernel_show(&random->values, random->given, tiling),
             random->text);
    plain_run(&random->values, &random->plain);
    return random->plain.verdict != PLAIN_TOO_LONG;
}

void random_case_chip(struct hardware *hw)
{
    for (int p = 0; p < hw->pipe_count; p++)
        memset(hw->pipes[p].memories, 0, sizeof hw->pipes[p].memories);
    for (int o = 0; o < hw->operation_count; o++)
        memset(hw->operations[o].results, 0, sizeof hw->operations[o].results);
    for (int p = 0; p < hw->path_count; p++) {
        hw->paths[p].relu = true;
        for (int c = 0; c < hw->paths[p].cast_count; c++)
            hw->paths[p].casts[c].scale = true;
    }
}

void random_case_cache(struct hardware *hw, int64_t all_hit_bytes, int64_t all_miss_bytes)
{
    int gm = hardware_buffer(hw, "gm", 2), behind = hw->buffer_count++;
    hw->buffers[behind] = hw->buffers[gm];
    snprintf(hw->buffers[behind].name, sizeof hw->buffers[behind].name, "hbm");
    for (int p = 0, count = hw->path_count; p < count; p++) {
        struct path path = hw->paths[p];
        if (path.source != gm && path.destination != gm)
            continue;
        path.source = (int8_t)(path.source == gm ? behind : path.source);
        path.destination = (int8_t)(path.destination == gm ? behind : path.destination);
        cr_assert(hw->path_count < HARDWARE_MAX_PATHS && hw->price_count < HARDWARE_MAX_PRICES);
        hw->prices[hw->price_count] = hw->prices[path.price];
        hw->prices[hw->price_count].base_fs *= 2;
        path.price = (int16_t)hw->price_count++;
        hw->paths[hw->path_count++] = path;
    }
    hw->cache = (struct cache){.buffer = (int8_t)gm,
                               .behind = (int8_t)behind,
                               .is_cold = all_miss_bytes == 0,
                               .all_hit_bytes = all_miss_bytes ? all_hit_bytes : INT64_MAX,
                               .all_miss_bytes = all_miss_bytes ? all_miss_bytes : INT64_MAX};
}

struct random_case *random_case_sized(const char *text, enum dtype type, const int64_t *sizes,
                                      unsigned long seed, const struct hardware *hw)
{
    struct random_case *random = calloc(1, sizeof *random);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    random->seed = seed;
    bool is_whole = fill(random, rng, hw, text, type, sizes);
    gsl_rng_free(rng);
    if (is_whole)
        return random;
    random_case_close(random);
    return NULL;
}

struct random_case *random_case_of(const char *text, unsigned long seed, const struct hardware *hw)
{
    return random_case_sized(text, DTYPE_F16, NULL, seed, hw);
}

struct random_case *random_case_open(unsigned long seed, const struct hardware *hw)
{
    return random_case_of(NULL, seed, hw);
}

void random_case_close(struct random_case *random)
{
    plain_clear(&random->plain);
    kernel_text_clear(&random->kernel);
    free(random->text);
    free(random);
}

unsigned long random_first(void)
{
    const char *text = getenv("AUTOTUNE_RANDOM_FIRST");
    return text ? strtoul(text, NULL, 10) : 1;
}
