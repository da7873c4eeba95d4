/* The headers of tables against the program: what NAME_is_legal says of an entry and another shape
 * is what kernel_violations says of the same text whose axes have the entry's values alone, so that
 * which values the shape has on its axes does not count. A yes where a limit is broken fails; a no
 * where none is must be rare. Entries are random tilings of their shapes, every second one whether
 * legal or not, so that limits are met often; of its own shape an entry is believed. */
#include "hardware/fingerprint.h"
#include "jobs/table/tilings.h"
#include "kernels/registry.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include "tests/kernels/text/random_case.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 32, SHAPES = 60 };

struct fitting {
    char name[32], chip[16];
    int64_t most[OPERATOR_MAX_SIZES]; /* of each size */
    bool is_known;                    /* else only exact shapes are legal */
};

static struct fitting fittings[] = {
    {"add_relu", "ascend310", {1000000}, true},
    {"add_relu", "ascend910b2", {1000000}, true},
    {"scale_bias_relu", "ascend310", {2000, 20000}, true},
    {"scale_bias_relu", "ascend910b2", {2000, 20000}, true},
    {"matmul_thesis", "ascend310", {3000, 3000, 1000, 3}, true},
    {"matmul_thesis", "ascend910", {1000, 1000, 1000, 60}, true},
    {"matmul_two_level", "ascend310", {600, 600, 600, 3}, true},
    {"batched_matmul", "ascend310", {40, 1500, 1500, 1500}, true},
    {"batched_matmul", "ascend910b2", {200, 1500, 1500, 1500}, true},
    {"conv2d", "ascend310", {20, 30, 4, 4, 100, 100, 2, 1, 2, 2, 1}, false},
    {"rms_norm", "ascend310", {300, 3000}, false},
    {"softmax_long", "ascend910b2", {100, 9000}, false},
};

struct setting {
    const struct fitting *fitting;
    struct hardware hw;
    char fingerprint[FINGERPRINT_SIZE], folder[64];
    const struct operator* op;
    gsl_rng *rng;
    struct best_tiling best[ENTRIES];
    char texts[ENTRIES][TILING_TEXT_SIZE];
    struct tiling tilings[ENTRIES];
    int count;
    int64_t shapes[SHAPES][OPERATOR_MAX_SIZES];
    char verdicts[SHAPES][ENTRIES + 2]; /* '0' and '1' */
};

/* ------------------------------------------------------------------ entries */

static int64_t draw_size(gsl_rng *rng, int64_t most)
{
    double part =
        gsl_rng_uniform_int(rng, 3) ? pow(gsl_rng_uniform(rng), 0.3) : gsl_rng_uniform(rng);
    double size = exp(part * log((double)most + 1));
    int64_t units[] = {1, 1, 16, 64};
    int64_t unit = units[gsl_rng_uniform_int(rng, 4)];
    return size < (double)unit ? unit : unit * (int64_t)(size / (double)unit);
}

/* One that is too large for an operator is drawn anew. */
static struct problem draw_problem(struct setting *s)
{
    struct problem problem = {.op = s->op, .type = DTYPE_F16};
    struct error error;
    problem_set_type(&problem, DTYPE_F16);
    do
        for (int i = 0; i < s->op->size_count; i++)
            problem.size[i] = draw_size(s->rng, s->fitting->most[i]);
    while (problem_settle(&problem, &error) != STATUS_OK);
    return problem;
}

/* A tiling of the problem, if one is found soon. */
static bool draw_tiling(struct setting *s, const struct problem *problem, bool any,
                        struct tiling *tiling, char text[TILING_TEXT_SIZE])
{
    struct space space;
    struct error error;
    bool found = false;
    if (space_open(problem, s->op->spaces[0], &s->hw, s->hw.cores, &space, &error) != STATUS_OK)
        return false;
    for (int i = 0; i < 3000 && !found && space.candidates > 0; i++) {
        space_tiling(&space, (int64_t)(gsl_rng_uniform(s->rng) * (double)space.candidates), tiling);
        struct violation list[MAX_VIOLATIONS];
        found = any || space.kind->violations(&space, tiling, list) == 0;
    }
    if (found)
        tiling_text(space.axes, space.axis_count, tiling, text, TILING_TEXT_SIZE);
    space_close(&space);
    return found;
}

static int by_size(const void *left, const void *right)
{
    const struct best_tiling *a = left, *b = right;
    for (int i = 0; i < a->problem.op->size_count; i++)
        if (a->problem.size[i] != b->problem.size[i])
            return a->problem.size[i] < b->problem.size[i] ? -1 : 1;
    return 0;
}

static bool draw_entries(struct setting *s)
{
    for (int tries = 0; tries < 10 * ENTRIES && s->count < ENTRIES; tries++) {
        struct best_tiling *best = &s->best[s->count];
        *best = (struct best_tiling){.problem = draw_problem(s),
                                     .space = s->op->spaces[0]->name,
                                     .tiling = s->texts[s->count],
                                     .time_ns = 1};
        bool is_new = true;
        for (int i = 0; i < s->count; i++)
            is_new &= by_size(best, &s->best[i]) != 0;
        s->count += is_new && draw_tiling(s, &best->problem, s->count % 2, &s->tilings[s->count],
                                          s->texts[s->count]);
    }
    if (s->count < 2)
        return false;
    qsort(s->best, (size_t)s->count, sizeof *s->best, by_size);
    for (int i = 0; i < s->count; i++) {
        struct space space;
        struct error error;
        cr_assert_eq(
            space_open(&s->best[i].problem, s->op->spaces[0], &s->hw, s->hw.cores, &space, &error),
            STATUS_OK);
        cr_assert_eq(tiling_parse(&space, s->best[i].tiling, &s->tilings[i], &error), STATUS_OK);
        space_close(&space);
    }
    return true;
}

/* ------------------------------------------------------------------ the header's verdicts */

static FILE *create(const struct setting *s, const char *name)
{
    char file[256];
    snprintf(file, sizeof file, "%s/%s", s->folder, name);
    FILE *out = fopen(file, "w");
    cr_assert_not_null(out);
    return out;
}

static void write_header(struct setting *s)
{
    struct tilings tilings = {.count = s->count,
                              .best = s->best,
                              .hardware = s->hw.name,
                              .fingerprint = s->fingerprint,
                              .cores = s->hw.cores};
    struct table_about about = {"0", "a test", "drawn"};
    struct table_remarks remarks;
    struct error error;
    FILE *out = create(s, "table.h");
    cr_assert_eq(tilings_write(&tilings, &about, &formats[FORMAT_C], out, &remarks, &error),
                 STATUS_OK, "%s", error.text);
    fclose(out);
    cr_expect_str_empty(remarks.unchecked);
}

static void write_program(const struct setting *s)
{
    char name[64];
    snprintf(name, sizeof name, "drawn_%s_f16", s->op->name);
    FILE *out = create(s, "ask.c");
    fprintf(out, "#include \"table.h\"\n#include <stdio.h>\nint main(void)\n{\n"
                 "    long long s[16];\n    int i;\n    for (;;) {\n");
    for (int i = 0; i < s->op->size_count; i++)
        fprintf(out, "        if (scanf(\"%%lld\", &s[%d]) != 1)\n            return 0;\n", i);
    fprintf(out,
            "        for (i = 0; i < %s_count; i++)\n            putchar('0' + %s_is_legal("
            "&%s[i]",
            name, name, name);
    for (int i = 0; i < s->op->size_count; i++)
        fprintf(out, ", s[%d]", i);
    fprintf(out, "));\n        putchar(%s_lookup(", name);
    for (int i = 0; i < s->op->size_count; i++)
        fprintf(out, "%ss[%d]", i ? ", " : "", i);
    fprintf(out, ") != NULL ? '1' : '0');\n        putchar('\\n');\n    }\n}\n");
    fclose(out);
}

static void write_shapes(const struct setting *s)
{
    FILE *out = create(s, "shapes");
    for (int n = 0; n < SHAPES; n++)
        for (int i = 0; i < s->op->size_count; i++)
            fprintf(out, "%lld%c", (long long)s->shapes[n][i],
                    i == s->op->size_count - 1 ? '\n' : ' ');
    fclose(out);
}

/* Both compilers say the same. */
static void ask_header(struct setting *s)
{
    static const char *const compilers[] = {"cc -std=c99", "c++ -std=c++11 -x c++"};
    for (int c = 0; c < 2; c++) {
        char command[512], line[ENTRIES + 8];
        snprintf(command, sizeof command,
                 "cd %s && %s -Wall -Wextra -Wpedantic -Werror ask.c -o ask && ./ask <shapes",
                 s->folder, compilers[c]);
        FILE *in = popen(command, "r");
        cr_assert_not_null(in);
        for (int n = 0; n < SHAPES; n++) {
            cr_assert_not_null(fgets(line, sizeof line, in), "%s: no answer", command);
            cr_assert_eq((int)strcspn(line, "\n"), s->count + 1);
            line[s->count + 1] = '\0';
            if (c == 0)
                memcpy(s->verdicts[n], line, (size_t)s->count + 2);
            cr_assert_str_eq(line, s->verdicts[n]);
            /* a lookup's null pointer is that of shapes without a legal entry */
            cr_expect_eq(line[s->count] == '1', memchr(line, '1', (size_t)s->count) != NULL);
        }
        cr_assert_eq(pclose(in), 0);
    }
}

/* ------------------------------------------------------------------ the program's verdicts */

/* The text with one value on each axis that is a number. */
static const struct operator* fix_axes(const struct setting *s, const struct tiling *tiling)
{
    const struct operator* op;
    struct error error;
    char *text = NULL, *source = strdup(operator_source(s->op)), *state = NULL;
    size_t length;
    int axis = 0;
    FILE *out = open_memstream(&text, &length);
    for (char *line = strtok_r(source, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        char name[64], first[64];
        bool is_axis = sscanf(line, "axis %63s = %63[^,( ]", name, first) == 2;
        bool is_word = is_axis && !strchr("0123456789", *first) && !strchr(line, '(');
        if (is_axis && !is_word)
            fprintf(out, "axis %s = %lld\n", name, (long long)tiling->value[axis]);
        else
            fprintf(out, "%s\n", line);
        axis += is_axis;
    }
    fclose(out);
    cr_assert_eq(operator_parse("fixed.kernel", text, length, &op, &error), STATUS_OK, "%s\n%s",
                 error.text, text);
    free(text);
    free(source);
    return op;
}

static bool is_legal(const struct setting *s, const struct operator* fixed, const int64_t *size,
                     const struct tiling *tiling, char why[160])
{
    struct violation list[MAX_VIOLATIONS] = {{{0}}};
    struct problem problem = {.op = fixed, .type = DTYPE_F16};
    struct error error;
    struct space space;
    problem_set_type(&problem, DTYPE_F16);
    memcpy(problem.size, size, sizeof problem.size);
    if (problem_settle(&problem, &error) != STATUS_OK ||
        space_open(&problem, fixed->spaces[0], &s->hw, s->hw.cores, &space, &error) != STATUS_OK) {
        snprintf(why, 160, "%.150s", error.text);
        return false;
    }
    bool legal = space.kind->violations(&space, tiling, list) == 0;
    snprintf(why, 160, "%.32s %.120s", list[0].limit, list[0].text);
    space_close(&space);
    return legal;
}

struct tally {
    int yes, no, wrong, timid;
};

static struct tally compare(const struct setting *s)
{
    struct tally tally = {0};
    for (int e = 0; e < s->count; e++) {
        const struct operator* fixed = fix_axes(s, &s->tilings[e]);
        for (int n = 0; n < SHAPES; n += test_thinning()) {
            char why[160];
            if (memcmp(s->shapes[n], s->best[e].problem.size, sizeof s->shapes[n]) == 0)
                continue;
            bool said = s->verdicts[n][e] == '1';
            bool legal = is_legal(s, fixed, s->shapes[n], &s->tilings[e], why);
            tally.yes += said && legal;
            tally.no += !said && !legal;
            tally.wrong += said && !legal;
            tally.timid += !said && legal;
            cr_expect(!said || legal, "%s on %s, entry %d (%s), %lldx%lldx%lldx%lld: %s",
                      s->op->name, s->hw.name, e, s->best[e].tiling, (long long)s->shapes[n][0],
                      (long long)s->shapes[n][1], (long long)s->shapes[n][2],
                      (long long)s->shapes[n][3], why);
        }
        operator_free(fixed);
    }
    return tally;
}

/* Every second one is near an entry. */
static void draw_shapes(struct setting *s)
{
    for (int n = 0; n < SHAPES; n++) {
        struct problem problem = draw_problem(s);
        memcpy(s->shapes[n], problem.size, sizeof problem.size);
        if (n % 2)
            continue;
        memcpy(s->shapes[n], s->best[n / 2 % s->count].problem.size, sizeof problem.size);
        int changed = (int)gsl_rng_uniform_int(s->rng, (unsigned long)s->op->size_count);
        if (n >= 2 * s->count)
            s->shapes[n][changed] = problem.size[changed];
    }
}

ParameterizedTestParameters(table_limits, header_and_program_agree)
{
    return cr_make_param_array(struct fitting, fittings, sizeof fittings / sizeof *fittings);
}

static void close_setting(struct setting *s)
{
    static const char *const files[] = {"table.h", "ask.c", "ask", "shapes"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char file[256];
        snprintf(file, sizeof file, "%s/%s", s->folder, files[i]);
        unlink(file);
    }
    rmdir(s->folder);
    operator_free(s->op);
    hardware_clear(&s->hw);
    gsl_rng_free(s->rng);
    free(s);
}

static struct setting *open_setting(const struct fitting *fitting, unsigned long seed)
{
    struct setting *s = calloc(1, sizeof *s);
    s->fitting = fitting;
    s->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(s->rng, seed);
    snprintf(s->folder, sizeof s->folder, "/tmp/table_limits.XXXXXX");
    cr_assert_not_null(mkdtemp(s->folder));
    machine_load_named(&s->hw, fitting->chip, "");
    hardware_fingerprint(&s->hw, s->fingerprint);
    return s;
}

static struct tally run(struct setting *s)
{
    draw_shapes(s);
    write_header(s);
    write_program(s);
    write_shapes(s);
    ask_header(s);
    return compare(s);
}

ParameterizedTest(struct fitting *fitting, table_limits, header_and_program_agree)
{
    struct setting *s = open_setting(fitting, 0);
    struct error error;
    char file[256];
    snprintf(file, sizeof file, SOURCE_DIR "/kernels/library/%s.kernel", fitting->name);
    cr_assert_eq(operator_read(file, &s->op, &error), STATUS_OK, "%s", error.text);
    cr_assert(draw_entries(s));
    struct tally tally = run(s);
    cr_log_info("%s on %s: %d yes, %d no, %d wrong, %d timid", fitting->name, fitting->chip,
                tally.yes, tally.no, tally.wrong, tally.timid);
    if (fitting->is_known) {
        cr_expect_eq(tally.timid, 0, "no, though no limit is broken: %d times", tally.timid);
        cr_expect_gt(tally.yes, 0);
        cr_expect_gt(tally.no, 0);
    }
    close_setting(s);
}

/* Texts with what is hard in them, of any form; few can be said, and those without a mistake. */
Test(table_limits, random_kernels_agree, .timeout = 600)
{
    static const struct fitting fitting = {
        "random", "ascend310", {400, 400, 400, 20, 20, 20, 20, 20}, false};
    int yes = 0;
    unsigned long first = random_first(), count = random_cases(6);
    for (unsigned long seed = first; seed < first + count; seed++) {
        struct setting *s = open_setting(&fitting, seed);
        struct error error;
        char *text = random_kernel_text(s->rng);
        cr_assert_eq(operator_parse("random.kernel", text, strlen(text), &s->op, &error), STATUS_OK,
                     "%s\n%s", error.text, text);
        if (draw_entries(s)) {
            struct tally tally = run(s);
            cr_expect_eq(tally.wrong, 0, "seed %lu:\n%s", seed, text);
            yes += tally.yes;
        }
        free(text);
        close_setting(s);
    }
    cr_expect_gt(yes, 0);
}
