/* From a kernel's text to programs: a text that is read has a space of tilings for small sizes, or
 * a line says why not; what that calls legal can be written, prints as a text that parses as the
 * same program, is safe, ends, and is not faster than its bound. */
#include "analysis/check/check.h"
#include "core/operator.h"
#include "core/program_text.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Of what is looked at, for the search's sake. */
enum { TILINGS = 6, MOST_CANDIDATES = 200000, CHECKED_EXECUTED = 20000, CORES = 2 };

static char *print(const struct program *program)
{
    char *text = NULL;
    size_t length;
    struct error error;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    fuzz_require_ok(program_print(program, out, &error), &error);
    fuzz_require(fclose(out) == 0, "memory");
    return text;
}

static void reprint(const struct program *program)
{
    struct program again = {0};
    struct error error = {.text = ""};
    char *text = print(program);
    fuzz_require_ok(program_parse(program->hw, "printed", text, strlen(text), &again, &error),
                    &error);
    char *twice = print(&again);
    fuzz_require(strcmp(text, twice) == 0, "a program prints as a text that is the same program");
    program_clear(&again);
    free(twice);
    free(text);
}

static void play(const struct space *space, const struct tiling *tiling,
                 const struct program *program)
{
    struct simulator *simulator = simulator_new();
    struct timeline timeline;
    struct work work;
    struct bound_plan bound;
    struct error error = {.text = ""};
    int cores = space->kind->cores_used(space, tiling, 0);
    fuzz_require(cores >= 1 && cores <= CORES, "cores that are there");
    fuzz_require_ok(
        simulate(simulator, program, &(struct simulate_options){.cores = cores}, &timeline, &error),
        &error);
    fuzz_require(timeline.blocked < 0, "a program that ends");
    space->kind->summarise(space, tiling, &work);
    bound_plan_make(&bound, space->hw, cores, &space->layouts[work.layout]);
    fuzz_require(bound_fs(&bound, &work) <= timeline.end_fs, "no program is faster than its bound");
    simulator_free(simulator);
}

static void lower(const struct space *space, const struct tiling *tiling)
{
    struct program program = {0};
    struct check check;
    struct error error = {.text = ""};
    program_reset(&program, space->hw);
    fuzz_require_ok(space->kind->generate(space, tiling, 0, &program, &error), &error);
    reprint(&program);
    if (program.executed <= CHECKED_EXECUTED) {
        fuzz_require_ok(program_check_safety(&program, &check, &error), &error);
        if (!check_is_safe(&check))
            fputs(check.findings[0].text, stderr);
        fuzz_require(check_is_safe(&check), "a safe program");
        check_clear(&check);
        play(space, tiling, &program);
    }
    program_clear(&program);
}

static void try_tilings(const struct space *space)
{
    struct violation list[MAX_VIOLATIONS];
    int64_t step = space->candidates / TILINGS + 1;
    for (int64_t n = 0; n < space->candidates; n += step) {
        struct tiling tiling;
        space_tiling(space, n, &tiling);
        fuzz_require(space_index(space, &tiling) == n, "a candidate is a point of its space");
        bool legal = space->kind->legal(space, &tiling);
        fuzz_require(legal == (space->kind->violations(space, &tiling, list) == 0),
                     "what is illegal has a reason");
        if (legal)
            lower(space, &tiling);
    }
}

void fuzz_read_lowering(const char *file)
{
    static struct hardware hw;
    struct kernel_text kernel;
    int64_t given[KERNEL_MAX_SIZES];
    struct error error = {.text = ""};
    enum status status = kernel_text_read(file, &kernel, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    for (int n = 0; n < kernel.size_count; n++) /* ragged ones */
        given[n] = kernel.sizes[n].is_option && kernel.sizes[n].standard < 40
                       ? kernel.sizes[n].standard
                       : (11 + 29 * n) % 71 + 1;
    struct space space = {.kind = &kernel_space_tile, .hw = fuzz_chip("ascend310", &hw)};
    status = kernel_space_create(&space, &kernel, given, DTYPE_F16, DTYPE_F16, CORES, &error);
    fuzz_require_line(status, &error);
    if (status == STATUS_OK && space.candidates <= MOST_CANDIDATES)
        try_tilings(&space);
    space_close(&space);
    kernel_text_clear(&kernel);
}
