/* Programs of kernels against the plain evaluator: the same work pipe by pipe, at the addresses
 * where the right step wrote it; safe; nothing superfluous once tidied; not faster than bounds. */
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "core/program_text.h"
#include "costmodel/bound.h"
#include "hardware/load.h"
#include "kernels/text/bounds/kernel_work.h"
#include "kernels/text/program/kernel_program.h"
#include "tests/kernels/text/odd_kernels.h"
#include "tests/kernels/text/random_case.h"
#include "tests/kernels/text/references.h"
#include "tests/support/cases.h"
#include "tests/support/expect_clean.h"
#include "tests/support/library.h"
#include "tests/support/random_hardware.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct error error;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
    random_case_chip(&hw);
}

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(kernel_program_plain, .init = enter, .fini = leave);

struct made {
    struct random_case *random;
    struct kernel_plan plan;
    struct kernel_flags flags;
    struct kernel_env env;
    struct kernel_room room;
    struct program program;
};

/* The program's text, in which a finding's lines are those that it names. */
static const char *show(const struct program *program)
{
    static char text[1 << 18];
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out || program_print(program, out, &error) != STATUS_OK || fclose(out) != 0)
        return "(too long)";
    return text;
}

static void expect_safe(const struct made *made)
{
    struct check check;
    enum status status = program_check(&made->program, &check, &error);
    cr_assert_eq(status, STATUS_OK, "%s\n%s", error.text, made->random->shown);
    cr_assert(check_is_safe(&check), "%s: %s\n%s\n%s", finding_kind_name(check.findings[0].kind),
              check.findings[0].text, made->random->shown, show(&made->program));
    check_clear(&check);
}

static void expect_tidy(struct made *made)
{
    struct oversync found;
    cr_assert_eq(program_tidy(&made->program, NULL, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(oversync_find(&made->program, NULL, &found, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(found.unit_count, 0, "superfluous after tidying\n%s", made->random->shown);
    oversync_clear(&found);
    expect_safe(made);
}

static void expect_bounds(const struct made *made, double fs)
{
    struct kernel_work *summary;
    struct work work;
    struct bound_plan bound;
    cr_assert_eq(kernel_work_make(&made->plan, &summary, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(
        kernel_summarise(summary, &made->random->values, made->random->used, &work, &error),
        STATUS_OK, "%s", error.text);
    bound_plan_make(&bound, made->random->values.hw, made->random->used,
                    kernel_work_layout(summary, (enum work_variant)work.layout));
    double least = (double)bound_fs(&bound, &work);
    cr_assert(least <= fs, "a bound of %.0f fs on a program of %.0f fs\n%s\n%s", least, fs,
              made->random->shown, show(&made->program));
    kernel_work_free(summary);
    cr_assert(plain_least_fs(&made->random->plain, made->random->used) <= fs, "%s",
              made->random->shown);
}

/* ---- the cache ---- */

/* Bytes that the program loads from behind the cache. */
static double missed_bytes(const struct program *program, int32_t first, int32_t end)
{
    const struct hardware *chip = program->hw;
    double bytes = 0;
    for (int32_t i = first; i < end; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_MOVE && chip->paths[in->what].source == chip->cache.behind)
            bytes += (double)in->bytes;
        if (in->kind != INSTRUCTION_LOOP)
            continue;
        bytes += (double)in->count * missed_bytes(program, i + 1, in->partner);
        i = in->partner;
    }
    return bytes;
}

struct touched {
    double bytes;       /* of all tensors that are touched */
    double first_bytes; /* that one core loads and did not touch before */
    int loads;
    bool *seen[KERNEL_MAX_TENSORS];
};

static int64_t elements_of(const struct plain *plain, int tensor)
{
    int64_t elements = 1;
    for (int d = 0; d < plain->text->tensors[tensor].dim_count; d++)
        elements *= plain->tensor_extent[tensor][d];
    return elements;
}

/* An operand of one step in one round, elements of so many bytes each. */
static void touch_use(const struct plain *plain, const struct plain_use *use, bool loads, int size,
                      struct touched *touched)
{
    bool *seen = touched->seen[use->tensor];
    touched->bytes += seen[0] ? 0 : (double)elements_of(plain, use->tensor) * size;
    seen[0] = true; /* the tensor; behind it its elements */
    touched->loads += loads;
    for (int64_t n = 0; n < use->count; n++) {
        int32_t element = plain->elements[use->first + n];
        if (element < 0)
            continue;
        touched->first_bytes += loads && !seen[1 + element] ? size : 0;
        seen[1 + element] = true;
    }
}

/* Bytes in the order in which the plain evaluator touches them. */
static void touch(const struct plain *plain, struct touched *touched)
{
    for (int t = 0; t < plain->text->tensor_count; t++)
        touched->seen[t] = calloc((size_t)elements_of(plain, t) + 1, 1);
    for (int e = 0; e < plain->event_count; e++) {
        const struct plain_event *event = &plain->events[e];
        for (int u = event->use_count - 1; u >= 0; u--)
            if (event->uses[u].tensor >= 0)
                touch_use(plain, &event->uses[u], u > 0,
                          (int)(event->in.bytes / event->uses[u].count), touched);
    }
}

struct rule {
    int cases, exact;
};

/* Of first touches, that misses where tensors take so many bytes. */
static double share_of(const struct cache *cache, double bytes)
{
    double all_hit = (double)cache->all_hit_bytes, all_miss = (double)cache->all_miss_bytes;
    if (cache->is_cold || bytes > all_miss)
        return 1;
    return bytes > all_hit ? (bytes - all_hit) / (all_miss - all_hit) : 0;
}

/* No fewer bytes miss than are touched for the first time, of which cores that load the same may
 * each load a part; but for what is less than a grain of each load. */
static void expect_misses(const struct made *made, struct rule *rule)
{
    struct touched touched = {0};
    touch(&made->random->plain, &touched);
    double missed = missed_bytes(&made->program, 0, made->program.count);
    double share = share_of(&made->program.hw->cache, touched.bytes);
    double first = touched.first_bytes * share, grains = (double)MISS_GRAIN * touched.loads;
    cr_assert_geq(missed * made->random->used + grains * made->random->used, first,
                  "%.0f bytes miss on each of %d cores, one touches %.0f first\n%s", missed,
                  made->random->used, first, made->random->shown);
    rule->cases++;
    rule->exact += made->random->used == 1 && missed <= first * (1 + 1e-3) + grains;
    for (int t = 0; t < KERNEL_MAX_TENSORS; t++)
        free(touched.seen[t]);
}

static bool make(struct made *made)
{
    struct random_case *random = made->random;
    if (random->plain.verdict != PLAIN_FINE || !random->plain.fits ||
        kernel_plan_make(&random->values, &made->plan, &error) != STATUS_OK ||
        kernel_flags_find(&made->plan, &random->values, &made->flags, &error) != STATUS_OK ||
        kernel_flags_check(&made->plan, &made->flags, &error) != STATUS_OK)
        return false;
    made->env.values = random->values;
    cr_assert_eq(kernel_room_find(&made->plan, &made->env, &made->room, &error), STATUS_OK,
                 "%s\n%s", error.text, random->shown);
    program_reset(&made->program, random->values.hw);
    enum status status = kernel_program(&made->plan, &made->flags, &made->env, &made->room, NULL,
                                        &made->program, &error);
    if (status == STATUS_INVALID && strstr(error.text, " pieces of "))
        return false; /* no instruction takes such a part */
    cr_assert_eq(status, STATUS_OK, "%s\n%s", error.text, random->shown);
    return true;
}

static bool play_case(struct random_case *random, struct rule *rule)
{
    struct made *made = calloc(1, sizeof *made);
    char why[PLAIN_TEXT_SIZE];
    made->random = random;
    bool fine = random && make(made);
    if (fine) {
        bool same = plain_play(&random->plain, &made->program, why);
        cr_assert(same, "%s\n%s\n%s", why, random->shown, show(&made->program));
        if (rule)
            expect_misses(made, rule);
        expect_safe(made);
        expect_bounds(made, play_fs(&made->program, random->used));
        expect_tidy(made);
        expect_bounds(made, play_fs(&made->program, random->used));
    }
    program_clear(&made->program);
    kernel_plan_clear(&made->plan);
    free(made);
    if (random)
        random_case_close(random);
    return fine;
}

/* The chip itself for every other seed; else one with other pipes and prices. */
static const struct hardware *chip_of(unsigned long seed, struct hardware *other)
{
    if (seed % 2)
        return &hw;
    struct random_hardware options = {seed % 4 == 0, seed % 8 < 4, seed % 16 < 8};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    gsl_rng_set(rng, seed);
    random_hardware(&hw, &options, rng, other);
    gsl_rng_free(rng);
    for (int p = 0; p < other->pipe_count; p++) /* else each plays a part (test_kernel_deal.c) */
        other->pipes[p].per_core = 1;
    return other;
}

Test(kernel_program_plain, programs_do_what_the_plain_evaluator_does)
{
    static struct hardware other;
    unsigned long fine = 0, cases = random_cases(120), first = random_first();
    for (unsigned long seed = first; seed < first + cases; seed++)
        fine += play_case(random_case_open(seed, chip_of(seed, &other)), NULL);
    cr_assert_gt(2 * fine, cases);
}

/* Of what is touched first all misses a cold cache, and a share misses a warm one, whose size
 * differs; in most cases nothing else does. */
Test(kernel_program_plain, what_is_touched_first_misses)
{
    struct rule rule = {0};
    unsigned long cases = random_cases(120), first = random_first();
    for (unsigned long seed = first; seed < first + cases; seed++) {
        struct hardware cached = hw;
        random_case_cache(&cached, (int64_t)(seed / 2 % 5 * 1000), seed % 2 ? 0 : 30000);
        play_case(random_case_open(seed, &cached), &rule);
    }
    cr_expect_gt(2 * rule.cases, (int)cases);
    cr_expect_gt(4 * rule.exact, rule.cases, "%d of %d", rule.exact, rule.cases);
}

/* ---- the library ---- */

static char *read_text(const char *name)
{
    static char text[1 << 14];
    char path[512];
    snprintf(path, sizeof path, "%s/%s.kernel", LIBRARY, name);
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

enum { PROGRAMS = 2, TRIES = 20, SMALLER_AFTER = 5 }; /* what is too long to play is halved */

/* Programs on the chip, of random tilings of random sizes on some cores; how many there were. */
static int play_on(const struct reference *row, enum dtype type, const struct hardware *chip)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    const char *text = read_text(row->name);
    int fine = 0, wanted = test_cases(PROGRAMS);
    for (unsigned long seed = 1; seed <= TRIES && fine < wanted; seed++) {
        int64_t size[KERNEL_MAX_SIZES] = {0};
        gsl_rng_set(rng, seed);
        for (int s = 0; s < KERNEL_MAX_SIZES && row->most[s]; s++) {
            int64_t least = row->least[s] ? row->least[s] : 1;
            int64_t more = (row->most[s] - least) >> (seed / SMALLER_AFTER);
            size[s] = least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(more + 1));
        }
        if (row->fit)
            row->fit(size);
        fine += play_case(random_case_sized(text, type, size, seed, chip), NULL);
    }
    gsl_rng_free(rng);
    return fine;
}

static void play_rows(const struct reference *rows, int count, enum dtype type)
{
    static const char *const chips[] = {"ascend310", "ascend910", "ascend910b1", "ascend910b2"};
    for (int r = 0; r < count; r++) {
        int fine = 0;
        for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
            struct hardware chip;
            cr_assert_eq(hardware_load(chips[c], NULL, &chip, &error), STATUS_OK, "%s", error.text);
            for (int p = 0; p < chip.pipe_count; p++) /* else each plays a part */
                chip.pipes[p].per_core = 1;
            chip.flag_registers *= 4; /* of two vector cores at least */
            chip.core_flags *= 4;
            fine += play_on(&rows[r], type, &chip);
            hardware_clear(&chip);
        }
        cr_expect(fine > 0, "no program of %s: %s", rows[r].name, error.text);
    }
}

/* The library's texts on all chips that can run them. */
Test(kernel_program_plain, of_the_library)
{
    play_rows(references, reference_count, DTYPE_F16);
    play_rows(quant_references, quant_reference_count, DTYPE_F16);
}

Test(kernel_program_plain, of_odd_kernels)
{
    for (int n = 0; odd_kernels[n]; n++) {
        int fine = 0;
        for (int seed = 1; seed <= (fine ? test_cases(8) : 20); seed++)
            fine += play_case(random_case_of(odd_kernels[n], (unsigned long)seed, &hw), NULL);
        cr_assert_gt(fine, 0, "no program: %s\n%s", error.text, odd_kernels[n]);
    }
}
